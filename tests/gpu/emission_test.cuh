/* SPDX-License-Identifier: MIT
 *
 * emission_test.cuh - one plan's chunks through the GPU worker and through cpu_folder_fold()
 * and cpu_folder_emit(), and text to send: what test_emission.cu is made of.
 */
#pragma once

#include "text_faults.cuh"

extern "C" {
#include "fold/groups.h"
#include "lang/program.h"
}

#define CHUNK_NBYTES ((size_t)1 << 17)
#define NFIELDS 5
#define NSCANS_MAX 10

static const char *const spellings[] = {"NA", "null"};

/* ---- plans ---- */

struct trial {
	struct plan plan;
	struct plan_column columns[NFIELDS];
	struct new_column scans[NSCANS_MAX];
	size_t keys[2];
	const struct program *predicates[3];
	struct program programs[3];
	struct worker *worker;
	struct partial gpu, cpu, before;
	struct cpu_folder on_cpu;
	char *padded; /* room for a text of chunk_nbytes, padded for the CPU */
	unsigned nprinted, nchunks; /* chunks printed by the device; chunks with an LF */
};

/* A plan for all of NFIELDS columns, the fourth of text, without scans or conditions. */
static void trial_begin(struct trial *t)
{
	memset(t, 0, sizeof *t);
	t->plan.dialect.delimiter = ',';
	t->plan.dialect.quote = '"';
	t->plan.notation.decimal = '.';
	t->plan.ragged.nfields = NFIELDS;
	t->plan.counts_records = true;
	t->plan.bad_record = INVALID_SKIP;
	t->plan.ncolumns = NFIELDS;
	t->plan.columns = t->columns;
	t->plan.new_columns = t->scans;
	t->plan.keys = t->keys;
	t->plan.predicates = t->predicates;
	t->plan.where = PREDICATE_NONE;
	t->plan.emits = true;
	t->plan.nmissing = 2;
	t->plan.missing = spellings;
	for (uint32_t c = 0; c < NFIELDS; c++) {
		t->columns[c] = {};
		t->columns[c].field = c;
		t->columns[c].name = "";
		t->columns[c].needs = MOMENTS_FUSED;
		t->columns[c].parses = c != 3;
		t->columns[c].invalid = INVALID_SKIP;
	}
}

static void trial_scan(struct trial *t, enum new_column_kind kind, size_t column, size_t predicate)
{
	struct new_column *n = &t->scans[t->plan.nnew_columns++];

	*n = {};
	n->kind = kind;
	n->column = column;
	n->predicate = predicate;
}

static void trial_key(struct trial *t, size_t column)
{
	t->keys[t->plan.nkeys++] = column;
	t->columns[column].is_key = true;
}

static void trial_condition(struct trial *t, const char *text)
{
	static char *const names[] = {(char *)"a", (char *)"b", (char *)"c", (char *)"d",
				      (char *)"e"};
	const struct program_context context = {NULL, &t->plan.dialect, '.', NULL, NULL};
	struct program *p = &t->programs[t->plan.npredicates];
	struct fault fault;

	if (program_compile(p, "where", text, &context, &fault) != STATUS_OK ||
	    program_resolve(p, names, NFIELDS, &fault) != STATUS_OK)
		bail("%s: %s", text, fault.detail);
	memcpy(p->columns, p->fields, p->names.nselectors * sizeof *p->fields);
	t->predicates[t->plan.npredicates++] = p;
}

static void trial_open(struct trial *t, size_t chunk_nbytes)
{
	const struct worker_setup setup = {chunk_nbytes, 0, false, false, 0, 0};
	struct fault fault;

	if (groups_plan(&t->plan, 0) != STATUS_OK)
		bail("out of memory");
	if (worker_gpu.open(&t->worker, &t->plan, &setup, &fault) != STATUS_OK)
		bail("open: %s", fault.detail);
	if (partial_init(&t->gpu, &t->plan) || partial_init(&t->cpu, &t->plan) ||
	    partial_init(&t->before, &t->plan) || cpu_folder_init(&t->on_cpu, &t->plan) ||
	    !(t->padded = (char *)calloc(1, chunk_nbytes + 2 * SIMD_PAD_NBYTES)))
		bail("out of memory");
}

static void trial_close(struct trial *t)
{
	worker_gpu.close(t->worker);
	partial_free(&t->gpu);
	partial_free(&t->cpu);
	partial_free(&t->before);
	cpu_folder_free(&t->on_cpu);
	free(t->padded);
	for (size_t p = 0; p < t->plan.npredicates; p++)
		program_free(&t->programs[p]);
	group_store_free(t->plan.groups);
}

/* ---- comparing ---- */

static bool numbers_equal(const struct column_partial *a, const struct column_partial *b)
{
	struct number_sums x, y;

	numbers_get(&a->numbers, &x);
	numbers_get(&b->numbers, &y);
	return x.count == y.count &&
	       (x.count == 0 || (x.scale == y.scale && exact_compare(&x.sum, &y.sum) == 0 &&
				 exact_compare(&x.min, &y.min) == 0 &&
				 exact_compare(&x.max, &y.max) == 0));
}

/* The first member that differs, or NULL. test_worker_gpu.cu looks closer, but knows no
 * conditions. */
static const char *partial_difference(const struct partial *gpu, const struct partial *cpu)
{
	if (gpu->head_nbytes != cpu->head_nbytes || gpu->tail_offset != cpu->tail_offset)
		return "head or tail";
	if (gpu->nragged != cpu->nragged || gpu->first_ragged_offset != cpu->first_ragged_offset)
		return "ragged records";
	if (gpu->nrecords != cpu->nrecords)
		return "nrecords";
	if (gpu->nundecided != cpu->nundecided ||
	    gpu->first_undecided_offset != cpu->first_undecided_offset)
		return "undecided records";
	for (size_t p = 0; p < cpu->npredicates; p++)
		if (gpu->nmatched[p] != cpu->nmatched[p])
			return "nmatched";
	for (size_t c = 0; c < cpu->ncolumns; c++) {
		const struct column_partial *a = &gpu->columns[c], *b = &cpu->columns[c];
		if (!numbers_equal(a, b) || a->nmissing != b->nmissing ||
		    a->ninvalid != b->ninvalid ||
		    a->first_invalid_offset != b->first_invalid_offset)
			return "a column";
	}
	return NULL;
}

/* The CPU's groups, and how many of the GPU's differ from them. */
struct group_comparison {
	struct groups *others;
	unsigned ndifferent;
};

/* Whether a group has sums outside of its cells. */
static bool has_long_cell(struct group *group, const struct plan *plan)
{
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan->columns[c].states && group_cell_is_long(group_cell(group, &plan->columns[c])))
			return true;
	return false;
}

/* Compares records, first record and cells; the key with the search. */
static enum status compare_group(void *context, struct group *group)
{
	struct group_comparison *c = (struct group_comparison *)context;
	const struct plan *plan = c->others->plan;
	struct group *other = groups_seek(c->others, &group->key, group_hash(group, key_seed_get()));

	if (!other || other->nrecords != group->nrecords || other->first != group->first ||
	    (!has_long_cell(group, plan) && !has_long_cell(other, plan) && memcmp(group + 1, other + 1, plan->group_nbytes - sizeof *group)))
		c->ndifferent++;
	return STATUS_OK;
}

static bool groups_equal(struct groups *gpu, struct groups *cpu)
{
	struct group_comparison c = {cpu, 0};

	if (!gpu || !cpu || gpu->ngroups == 0 || cpu->ngroups == 0)
		return (gpu ? gpu->ngroups : 0) == (cpu ? cpu->ngroups : 0);
	if (groups_index(cpu) != STATUS_OK || groups_each(gpu, compare_group, &c) != STATUS_OK)
		bail("out of memory");
	return gpu->ngroups == cpu->ngroups && c.ndifferent == 0;
}

/* Makes the GPU's groups those before the chunk, which both print with. */
static void trial_exchange(struct trial *t)
{
	if (t->gpu.groups && groups_exchange(t->gpu.groups) != STATUS_OK)
		bail("out of memory");
	t->before.groups = t->gpu.groups;
}

/* Adds the CPU's fold to what came before, but for its groups: the store has the GPU's. */
static void trial_add(struct trial *t)
{
	struct groups *groups = t->cpu.groups;

	t->before.groups = t->cpu.groups = NULL;
	if (partial_combine(&t->before, &t->cpu) != STATUS_OK)
		bail("out of memory");
	t->cpu.groups = groups;
}

static bool text_equal(const struct text_buffer *a, const struct text_buffer *b)
{
	return a->nbytes == b->nbytes && (a->nbytes == 0 || !memcmp(a->data, b->data, a->nbytes));
}

/* Prints where two texts first differ. */
static void text_diag(const struct text_buffer *gpu, const struct text_buffer *cpu)
{
	size_t i = 0, from;

	while (i < gpu->nbytes && i < cpu->nbytes && gpu->data[i] == cpu->data[i])
		i++;
	from = i < 30 ? 0 : i - 30;
	diag("%zu and %zu bytes, the same up to %zu", gpu->nbytes, cpu->nbytes, i);
	diag("gpu: ...%.*s", (int)(gpu->nbytes - from < 60 ? gpu->nbytes - from : 60),
	     gpu->data + from);
	diag("cpu: ...%.*s", (int)(cpu->nbytes - from < 60 ? cpu->nbytes - from : 60),
	     cpu->data + from);
}

/* Runs a chunk with this entry on the GPU and the CPU. Returns the first difference, or NULL. */
static const char *trial_chunk(struct trial *t, const char *data, size_t nbytes, uint64_t offset,
			       struct chunk_entry entry)
{
	const char *difference = NULL, *other;
	struct text_buffer *gpu, cpu = {};
	struct chunk chunk = {};
	struct chunk_map map;
	struct fault fault;

	chunk.data = worker_gpu.buffer(t->worker);
	chunk.nbytes = nbytes;
	chunk.offset_bytes = offset;
	memcpy(chunk.data, data, nbytes);
	partial_clear(&t->gpu);
	partial_clear(&t->cpu);
	if (worker_gpu.map(t->worker, &chunk, &map, &fault) != STATUS_OK ||
	    worker_gpu.fold(t->worker, &chunk, entry, &t->gpu, &fault) != STATUS_OK)
		bail("worker: %s", fault.detail);
	char *text = t->padded + SIMD_PAD_NBYTES;
	memcpy(text, data, nbytes);
	t->cpu.offset_bytes = offset;
	if (cpu_folder_fold(&t->on_cpu, text, nbytes, entry, &t->cpu) != STATUS_OK)
		bail("out of memory");
	if (!groups_equal(t->gpu.groups, t->cpu.groups))
		difference = "a group";
	trial_exchange(t);
	if (worker_gpu.emit(t->worker, &chunk, entry, &t->before, &gpu, &fault) != STATUS_OK)
		bail("worker: %s", fault.detail);
	if (cpu_folder_emit(&t->on_cpu, text, nbytes, entry, &t->before, offset, &cpu) != STATUS_OK)
		bail("out of memory");
	other = text_faults_difference(t->worker, text, nbytes, 0, entry.state);
	difference = difference ? difference : other ? other : partial_difference(&t->gpu, &t->cpu);
	if (!difference && !text_equal(gpu, &cpu)) {
		difference = "the output";
		text_diag(gpu, &cpu);
	}
	t->nprinted += t->worker->printed;
	t->nchunks += map.nlines > 0;
	text_free(&cpu);
	trial_add(t);
	return difference;
}

/* Sends text, cut at random into chunks of up to most bytes. The first difference. */
static const char *trial_text(struct trial *t, const char *text, size_t nbytes, unsigned most)
{
	struct chunk_entry entry = {CSV_FIELD_START, false, false};
	const char *difference = NULL;
	size_t at = 0;

	while (at < nbytes && !difference) {
		size_t length = random_below(most + 1);
		length = length < nbytes - at ? length : nbytes - at;
		difference = trial_chunk(t, text + at, length, 1000000007u + at, entry);
		for (size_t end = at + length; at < end; at++) {
			enum csv_class c = class_of(&t->plan.dialect, text[at]);
			entry.inside_record = c != CSV_NEWLINE || !csv_outside_quotes(entry.state);
			entry.state = csv_step(entry.state, c);
		}
	}
	if (difference)
		diag("%s differs before byte %zu", difference, at);
	return difference;
}

/* ---- texts ---- */

enum trouble { PLAIN, ODD, WIDE, EVEN }; /* EVEN: no more than two digits behind the point */

static size_t random_number(char *to, enum trouble trouble)
{
	long value = (long)(random_next() % 2000000) - 1000000;

	switch (random_below(trouble == WIDE ? 12 : trouble == EVEN ? 2 : 8)) {
	case 0:
		return (size_t)sprintf(to, "%ld", value);
	case 1:
		return (size_t)sprintf(to, "%ld.%02u", value, random_below(100));
	case 2:
		return (size_t)sprintf(to, "\"%ld.%0*u\"", value, 1 + random_below(9), random_below(10));
	case 3:
		return (size_t)sprintf(to, "0.%0*u", 1 + random_below(12), random_below(10));
	case 4:
		return (size_t)sprintf(to, " %u ", random_below(3));
	case 5:
		return (size_t)sprintf(to, "-%lde-%u", value < 0 ? -value : value, random_below(9));
	case 6:
		return (size_t)sprintf(to, "%llu", (unsigned long long)(random_next() % 1000000000));
	case 7:
		return 0;
	case 8:
		return (size_t)sprintf(to, "1e-%u", random_below(32));
	case 9:
		return (size_t)sprintf(to, "-9%017llu",
				       (unsigned long long)(random_next() % 100000000000000000u));
	default:
		return (size_t)sprintf(to, "%ld", value);
	}
}

static size_t random_field(char *to, enum trouble trouble, unsigned column)
{
	static const char *const odd[] = {"NA",  "\"null\"", "abc", "nan", "\"\"", "\"1\"\"2\"", "5\"",
					  "1e300", "-1e-200", "123456789012345678901234567890.5",
					  "\"a,b\"", "\"a\nb\"", "1e999", "-0", "\r", "x\r"};
	const char *text = odd[random_below(sizeof odd / sizeof *odd)];

	if (column == 3)
		return (size_t)sprintf(to, "%s", random_below(3) ? "GET" : "\"PO,ST\n\"");
	if (trouble != ODD || random_below(40))
		return random_number(to, trouble);
	return (size_t)sprintf(to, "%s", text);
}

/* Fills text with records of nfields fields; the last may be cut anywhere. ragged: some have more or fewer fields, and
 * some lines are blank. */
static void random_records(char *text, size_t nbytes, enum trouble trouble, unsigned nfields, bool ragged)
{
	char line[1024];

	for (size_t at = 0; at < nbytes;) {
		unsigned r = ragged ? random_below(50) : 4, n = r == 0 ? random_below(nfields) : nfields + (r == 2);
		size_t length = 0;
		for (unsigned f = 0; r != 1 && f < n; f++) {
			if (f > 0)
				line[length++] = ',';
			length += random_field(line + length, trouble, f);
		}
		if (r == 3)
			line[length++] = ',';
		if (random_below(5) == 0)
			line[length++] = '\r';
		line[length++] = '\n';
		length = length < nbytes - at ? length : nbytes - at;
		memcpy(text + at, line, length);
		at += length;
	}
}
