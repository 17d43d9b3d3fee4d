/* SPDX-License-Identifier: MIT
 *
 * worker_test.cuh - one chunk through the GPU worker and through cpu_folder_fold(), compared
 * member by member, and texts to send.
 */
#pragma once

#include "text_faults.cuh"

extern "C" {
#include "emit/cpu_folder.h"
#include "engine/worker.h"
#include "fold/keys.h"
#include "fold/values.h"
extern const struct worker_ops worker_gpu;
}

#include "kernels/fold/column_fold.cuh"
#include "kernels/worker/gpu.h"

#define CHUNK_NBYTES ((size_t)1 << 17)

/* ---- plans ---- */

__attribute__((unused)) static const char *const spellings[] = {"NA", "null", "-999"};

/* Makes a plan for every stride-th field of nfields, beginning with the first_field-th. Columns are
 * freed by the caller. */
static struct plan plan_make(uint32_t nfields, size_t ncolumns, uint32_t first_field,
			     uint32_t stride, char delimiter)
{
	struct plan p = {};

	p.dialect.delimiter = delimiter;
	p.dialect.quote = '"';
	p.dialect.one_column = nfields == 1;
	p.notation.decimal = '.';
	p.ragged.nfields = nfields;
	p.counts_records = true;
	p.where = PREDICATE_NONE;
	p.ncolumns = ncolumns;
	p.bad_record = INVALID_SKIP;
	p.where = PREDICATE_NONE;
	p.columns = (struct plan_column *)calloc(ncolumns + 1, sizeof *p.columns);
	for (size_t c = 0; c < ncolumns; c++) {
		p.columns[c].field = first_field + (uint32_t)c * stride;
		p.columns[c].needs = MOMENTS_FUSED;
		p.columns[c].parses = c % 4 != 3;
	}
	return p;
}

/* ---- comparing ---- */

static bool fused_equal(const struct numbers *a, const struct numbers *b)
{
	struct number_sums x, y;

	numbers_get(a, &x);
	numbers_get(b, &y);
	return x.count == y.count && x.scale == y.scale && exact_compare(&x.sum, &y.sum) == 0 && exact_compare(&x.min, &y.min) == 0 &&
	       exact_compare(&x.max, &y.max) == 0;
}

static bool squares_equal(const struct column_partial *gpu, const struct column_partial *cpu)
{
	static const struct exact none = {};
	const struct exact *x = (const struct exact *)moments_cell(&gpu->moments, CELL_SQUARES);
	const struct exact *y = (const struct exact *)moments_cell(&cpu->moments, CELL_SQUARES);

	return exact_compare(x ? x : &none, y ? y : &none) == 0;
}

/* All numbers that a column has kept. */
struct kept_list {
	struct exact *x; /* owned, but for their limbs, which are the column's */
	size_t n;
};

static void list_block(void *context, const struct values_block *block)
{
	struct kept_list *list = (struct kept_list *)context;
	struct values_cursor at = {block, 0, 0};

	list->x = (struct exact *)realloc(list->x, (list->n + block->nvalues) * sizeof *list->x);
	if (!list->x)
		bail("out of memory");
	while (values_next_exact(&at, &list->x[list->n]))
		list->n++;
}

static int compare_kept(const void *a, const void *b)
{
	return exact_compare((const struct exact *)a, (const struct exact *)b);
}

/* Lists a column's numbers in order, those on the device as well. */
static struct kept_list kept_of(const struct column_partial *column)
{
	struct values *v = (struct values *)moments_cell(&column->moments, CELL_VALUES);
	struct kept_list list = {};

	if (values_bring_down(v) != STATUS_OK)
		bail("no numbers come down");
	if (v)
		values_each_block(v, list_block, &list);
	if (list.n > 0)
		qsort(list.x, list.n, sizeof *list.x, compare_kept);
	return list;
}

static bool kept_equal(const struct column_partial *gpu, const struct column_partial *cpu)
{
	struct kept_list a = kept_of(gpu), b = kept_of(cpu);
	bool equal = a.n == b.n;

	for (size_t i = 0; i < a.n && equal; i++)
		equal = exact_compare(&a.x[i], &b.x[i]) == 0;
	free(a.x);
	free(b.x);
	return equal;
}

/* The number of different texts, those on the device as well. */
static uint64_t count_keys(const struct plan_column *column, const struct column_partial *partial)
{
	struct keys *k = (struct keys *)moments_cell(&partial->moments, CELL_KEYS);
	struct keys_wanted wanted = keys_wanted_of(column);
	struct keys *all[] = {k};

	if (k && (keys_join_begin(all, 1) != STATUS_OK || keys_settle(k, &wanted) != STATUS_OK))
		bail("no keys come down");
	return keys_count(k);
}

/* The GPU may report the start of the record as the offset of its first number. The order of
 * the first number and the first invalid field must stay the same. */
static bool first_equal(const struct column_partial *gpu, const struct column_partial *cpu)
{
	return gpu->first_invalid_offset == cpu->first_invalid_offset &&
	       (gpu->first_number_offset == OFFSET_NONE) ==
		       (cpu->first_number_offset == OFFSET_NONE) &&
	       gpu->first_number_offset <= cpu->first_number_offset &&
	       column_kind(gpu) == column_kind(cpu);
}

/* The first member that differs, or NULL. The GPU's has squares where the plan needs them, the CPU's has
 * more. */
static const char *partial_difference(const struct plan *plan, const struct partial *gpu,
				      const struct partial *cpu)
{
	if (gpu->head_ends != cpu->head_ends || gpu->head_nbytes != cpu->head_nbytes)
		return "head";
	if (gpu->tail_offset != cpu->tail_offset)
		return "tail_offset";
	if (gpu->nragged != cpu->nragged || gpu->first_ragged_offset != cpu->first_ragged_offset)
		return "ragged records";
	if (gpu->nrecords != cpu->nrecords)
		return "nrecords";
	for (size_t c = 0; c < cpu->ncolumns; c++) {
		const struct column_partial *a = &gpu->columns[c], *b = &cpu->columns[c];
		if (!fused_equal(&a->numbers, &b->numbers))
			return "numbers";
		if (a->nmissing != b->nmissing || a->ninvalid != b->ninvalid)
			return "nmissing or ninvalid";
		if (plan->columns[c].needs & MOMENT_SQUARES && !squares_equal(a, b))
			return "squares";
		if (plan->columns[c].needs & MOMENT_VALUES && !kept_equal(a, b))
			return "kept numbers";
		if (plan->columns[c].needs & MOMENT_KEYS &&
		    count_keys(&plan->columns[c], a) != count_keys(&plan->columns[c], b))
			return "number of keys";
		if (!first_equal(a, b))
			return "first offsets";
	}
	return NULL;
}

/* ---- one chunk through both ---- */

struct both {
	const struct plan *plan;
	/* The CPU's plan. A moment that is not fused makes it record exact offsets. */
	struct plan exact;
	struct worker *worker;
	struct cpu_folder on_cpu;
	char *padded; /* room for a text of chunk_nbytes, padded for the CPU */
	struct partial gpu, cpu;
	const struct plan *file_plan; /* of the chunks; NULL: plan */
};

/* Opens the worker for 100 readers, so that it packs text where it can. */
static void both_open(struct both *b, const struct plan *plan, size_t chunk_nbytes)
{
	const struct worker_setup setup = {chunk_nbytes, 0, true, false, 0, 0};
	struct fault fault;

	b->plan = plan;
	b->file_plan = NULL;
	b->exact = *plan;
	b->exact.columns = (struct plan_column *)calloc(plan->ncolumns + 1, sizeof *plan->columns);
	if (!b->exact.columns)
		bail("out of memory");
	for (size_t c = 0; c < plan->ncolumns; c++) {
		b->exact.columns[c] = plan->columns[c];
		b->exact.columns[c].needs |= plan->columns[c].needs ? MOMENT_SQUARES : 0;
	}
	if (worker_gpu.open(&b->worker, plan, &setup, &fault) != STATUS_OK)
		bail("open: %s", fault.detail);
	if (partial_init(&b->gpu, plan) || partial_init(&b->cpu, &b->exact) ||
	    cpu_folder_init(&b->on_cpu, &b->exact) ||
	    !(b->padded = (char *)calloc(1, chunk_nbytes + 2 * SIMD_PAD_NBYTES)))
		bail("out of memory");
}

static void both_close(struct both *b)
{
	worker_gpu.close(b->worker);
	partial_free(&b->gpu);
	partial_free(&b->cpu);
	cpu_folder_free(&b->on_cpu);
	free(b->exact.columns);
	free(b->padded);
}

/* Folds text, entered so, with the CPU. */
static void cpu_fold(struct both *b, const char *text, size_t nbytes, struct chunk_entry entry)
{
	cpu_folder_use(&b->on_cpu, b->file_plan ? b->file_plan : &b->exact);
	memcpy(b->padded + SIMD_PAD_NBYTES, text, nbytes);
	if (cpu_folder_fold(&b->on_cpu, b->padded + SIMD_PAD_NBYTES, nbytes, entry, &b->cpu) !=
	    STATUS_OK)
		bail("out of memory");
}

/* Makes the worker read text as a chunk of a plain file. */
static void read_text(struct worker *w, struct chunk *chunk, const char *text, size_t nbytes)
{
	static FILE *file;
	struct fault fault;

	if (!file && !(file = tmpfile()))
		bail("no file can be made");
	rewind(file);
	if (fwrite(text, 1, nbytes, file) != nbytes || fflush(file))
		bail("no file can be written");
	chunk->data = worker_gpu.buffer(w);
	chunk->nbytes = nbytes;
	if (worker_gpu.read(w, fileno(file), 0, chunk, &fault) != STATUS_OK)
		bail("read: %s", fault.detail);
}

/* Folds text with this entry on the GPU and the CPU. Returns the first difference, or NULL. */
static const char *both_fold(struct both *b, const char *text, size_t nbytes,
			     struct chunk_entry entry)
{
	struct chunk chunk = {};
	struct chunk_map seen;
	struct fault fault;
	csv_map map = CSV_MAP_IDENTITY;
	uint64_t nlines = 0;

	for (size_t i = 0; i < nbytes; i++) {
		nlines += text[i] == '\n';
		map = csv_map_compose(map, csv_map_of(class_of(&b->plan->dialect, text[i])));
	}
	chunk.plan = b->file_plan;
	read_text(b->worker, &chunk, text, nbytes);
	partial_clear(&b->gpu);
	partial_clear(&b->cpu);
	if (worker_gpu.map(b->worker, &chunk, &seen, &fault) != STATUS_OK ||
	    worker_gpu.fold(b->worker, &chunk, entry, &b->gpu, &fault) != STATUS_OK)
		bail("worker: %s", fault.detail);
	csv_full_map full = nbytes ? csv_full_map_of(map) : csv_full_map_identity();
	if (seen.map.exits != full.exits)
		return "map";
	if (seen.nlines != nlines)
		return "nlines";
	const char *difference = NULL;
	/* An early fold that was valid has not looked at the head: the CPU folds it. */
	size_t begin = b->worker->early.launched ? b->worker->early.head_nbytes : 0;
	if (!b->file_plan)
		difference = text_faults_difference(b->worker, text, nbytes, begin,
						    begin ? CSV_FIELD_START : entry.state);
	if (difference)
		return difference;
	cpu_fold(b, text, nbytes, entry);
	return partial_difference(b->plan, &b->gpu, &b->cpu);
}

/* ---- folding before the entry is known ---- */

static unsigned nearly; /* chunks that were folded early */

/* Whether a record ends with byte nbytes - 1 of a text that is entered so. */
static bool record_ends(const struct both *b, const char *text, size_t nbytes,
			enum csv_state state)
{
	bool ends = false;

	for (size_t i = 0; i < nbytes; i++) {
		enum csv_class c = class_of(&b->plan->dialect, text[i]);
		ends = c == CSV_NEWLINE && csv_outside_quotes(state);
		state = csv_step(state, c);
	}
	return ends;
}

static void shift(size_t *offset, size_t nbytes)
{
	*offset += *offset == OFFSET_NONE ? 0 : nbytes;
}

/* Folds text on the GPU before its entry is known. Folds the text after the GPU's head on the CPU.
 * Returns the first difference, or NULL. */
static const char *both_fold_early(struct both *b, const char *text, size_t nbytes,
				   struct chunk_entry entry, bool first_of_file)
{
	struct chunk chunk = {};
	struct chunk_map map;
	struct fault fault;

	chunk.first_of_file = first_of_file;
	read_text(b->worker, &chunk, text, nbytes);
	partial_clear(&b->gpu);
	partial_clear(&b->cpu);
	if (worker_gpu.map(b->worker, &chunk, &map, &fault) != STATUS_OK)
		bail("worker: %s", fault.detail);
	if (map.dependence == CHUNK_DEPENDS ||
	    (map.dependence == CHUNK_GUESSES && entry.state == CSV_QUOTED))
		return NULL;
	if (worker_gpu.fold(b->worker, &chunk, {CSV_UNQUOTED, true, true}, &b->gpu, &fault) !=
	    STATUS_OK)
		bail("worker: %s", fault.detail);
	const char *difference = text_faults_difference(b->worker, text, nbytes,
							 b->worker->early.head_nbytes,
							 CSV_FIELD_START);
	if (difference || b->gpu.needs_entry)
		return difference;
	nearly++;
	size_t head = b->gpu.head_nbytes;
	if (map.nlines > 0 && !(head == 0 ? first_of_file : record_ends(b, text, head, entry.state)))
		return "where the head ends";
	cpu_fold(b, text + head, nbytes - head, {CSV_FIELD_START, false, false});
	b->cpu.head_ends = map.nlines > 0 && head > 0;
	b->cpu.head_nbytes = head;
	b->cpu.tail_offset += head;
	shift(&b->cpu.first_ragged_offset, head);
	for (size_t c = 0; c < b->cpu.ncolumns; c++) {
		shift(&b->cpu.columns[c].first_number_offset, head);
		shift(&b->cpu.columns[c].first_invalid_offset, head);
	}
	return partial_difference(b->plan, &b->gpu, &b->cpu);
}

/* ---- texts ---- */

static size_t random_field(char *to)
{
	static const char *const odd[] = {
		"", " ", "NA", "\"NA\"", "null", "-999", " -999 ", "-9990", "abc", "1,234", "0x10",
		"nan", "\"\"", "\" 5 \"", "\"1\"\"2\"", "\"12\"3", "5\"", "\"a\nb\"", "\"1\" ",
		"1e300", "-1e-200", "123456789012345678901234567890.5", ".5", "5.", "-", ".", "+7",
		"1e3", "1.5e-2", "999999999999999999", "-999999999999999999", "1e999", "-0", "\r"};
	unsigned r = random_below(100);

	if (r < 25) {
		const char *text = odd[random_below(sizeof odd / sizeof *odd)];
		memcpy(to, text, strlen(text));
		return strlen(text);
	}
	long value = (long)(random_next() % 2000000) - 1000000;
	if (r < 60)
		return (size_t)sprintf(to, "%ld", value);
	if (r < 90)
		return (size_t)sprintf(to, "%ld.%02u", value, random_below(100));
	return (size_t)sprintf(to, "\"%ld.%0*u\"", value, 1 + random_below(12), random_below(10));
}

/* The number of fields of a record. Most have nfields. */
static unsigned random_nfields(unsigned nfields)
{
	switch (random_below(50)) {
	case 0:
		return random_below(nfields) + 1;
	case 1:
		return nfields - 1;
	case 2:
		return nfields + 1;
	case 3:
		return nfields + 1 + random_below(4);
	default:
		return nfields;
	}
}

/* Fills text with records of about nfields fields, with and without a delimiter at the line's end;
 * the last may be cut anywhere. */
static void random_records(char *text, size_t nbytes, unsigned nfields, char delimiter)
{
	static char line[1 << 17]; /* 2049 fields of 33 bytes fit */
	size_t at = 0;

	while (at < nbytes) {
		unsigned n = random_below(50) ? random_nfields(nfields) : 0;
		size_t length = 0;
		for (unsigned f = 0; f < n; f++) {
			if (f > 0)
				line[length++] = delimiter;
			length += random_field(line + length);
		}
		if (random_below(30) == 0)
			line[length++] = delimiter;
		if (random_below(5) == 0)
			line[length++] = '\r';
		line[length++] = '\n';
		length = length < nbytes - at ? length : nbytes - at;
		memcpy(text + at, line, length);
		at += length;
	}
}
