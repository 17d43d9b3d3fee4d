/* SPDX-License-Identifier: MIT
 *
 * test_worker_gpu.cu - the GPU worker as the engine uses it, against the CPU's fold of
 * the same chunk, member by member.
 */
#include "kernel_test.cuh"

extern "C" {
#include "record.h"
#include "worker.h"
extern const struct worker_ops worker_gpu;
}

#include "column_fold.cuh"
#include "gpu.h"

#define CHUNK_NBYTES ((size_t)1 << 17)

/* ---- plans ---- */

static const char *const spellings[] = {"NA", "null", "-999"};

/* Makes a plan for every stride-th field, beginning with the first_field-th. Columns are
 * freed by the caller. */
static struct plan plan_make(size_t ncolumns, uint32_t first_field, uint32_t stride,
			     char delimiter)
{
	struct plan p = {};

	p.delimiter = delimiter;
	p.where = PREDICATE_NONE;
	p.ncolumns = ncolumns;
	p.short_record = INVALID_SKIP;
	p.where = PREDICATE_NONE;
	p.columns = (struct plan_column *)calloc(ncolumns + 1, sizeof *p.columns);
	for (size_t c = 0; c < ncolumns; c++) {
		p.columns[c].field = first_field + (uint32_t)c * stride;
		p.columns[c].folds = true;
		p.columns[c].parses = c % 4 != 3;
	}
	return p;
}

/* ---- comparing ---- */

static bool wide_equal(const struct column_partial *a, const struct column_partial *b)
{
	uint64_t na = a->wide ? a->wide->count : 0, nb = b->wide ? b->wide->count : 0;

	if (na != nb || na == 0)
		return na == nb;
	return a->wide->scale == b->wide->scale &&
	       memcmp(&a->wide->sum, &b->wide->sum, sizeof a->wide->sum) == 0 &&
	       memcmp(&a->wide->min, &b->wide->min, sizeof a->wide->min) == 0 &&
	       memcmp(&a->wide->max, &b->wide->max, sizeof a->wide->max) == 0;
}

static bool fast_equal(const struct decimal_fold *a, const struct decimal_fold *b)
{
	for (int s = 0; s < DECIMAL_NSCALES; s++)
		if (a->scales >> s & b->scales >> s & 1 &&
		    memcmp(&a->bin[s], &b->bin[s], sizeof a->bin[s]) != 0)
			return false;
	return a->count == b->count && a->scales == b->scales;
}

/* The GPU may name the record's start for the first number; which of the two offsets
 * comes first must not change by that. */
static bool first_equal(const struct column_partial *gpu, const struct column_partial *cpu)
{
	return gpu->first_invalid_offset == cpu->first_invalid_offset &&
	       (gpu->first_number_offset == OFFSET_NONE) ==
		       (cpu->first_number_offset == OFFSET_NONE) &&
	       gpu->first_number_offset <= cpu->first_number_offset &&
	       column_kind(gpu) == column_kind(cpu);
}

/* The first member that differs, or NULL. */
static const char *partial_difference(const struct partial *gpu, const struct partial *cpu)
{
	if (gpu->head_ends != cpu->head_ends || gpu->head_nbytes != cpu->head_nbytes)
		return "head";
	if (gpu->tail_offset != cpu->tail_offset)
		return "tail_offset";
	if (gpu->nshort != cpu->nshort || gpu->first_short_offset != cpu->first_short_offset)
		return "short records";
	for (size_t c = 0; c < cpu->ncolumns; c++) {
		const struct column_partial *a = &gpu->columns[c], *b = &cpu->columns[c];
		if (!fast_equal(&a->fast, &b->fast))
			return "fast";
		if (!wide_equal(a, b))
			return "wide";
		if (a->nmissing != b->nmissing || a->ninvalid != b->ninvalid)
			return "nmissing or ninvalid";
		if (!first_equal(a, b))
			return "first offsets";
	}
	return NULL;
}

/* ---- one chunk through both ---- */

struct both {
	const struct plan *plan;
	struct worker *worker;
	struct record_memory memory; /* the CPU's */
	struct partial gpu, cpu;
};

static void both_open(struct both *b, const struct plan *plan, size_t chunk_nbytes)
{
	struct fault fault;

	b->plan = plan;
	if (worker_gpu.open(&b->worker, plan, chunk_nbytes, 0, &fault) != STATUS_OK)
		bail("open: %s", fault.detail);
	if (partial_init(&b->gpu, plan) || partial_init(&b->cpu, plan) ||
	    record_memory_init(&b->memory, plan))
		bail("out of memory");
}

static void both_close(struct both *b)
{
	worker_gpu.close(b->worker);
	partial_free(&b->gpu);
	partial_free(&b->cpu);
	record_memory_free(&b->memory);
}

/* Folds text, entered so, with both. The first difference, or NULL. */
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
		map = csv_map_compose(
			map, csv_map_of(csv_classify((unsigned char)text[i],
						     (unsigned char)b->plan->delimiter)));
	}
	chunk.data = worker_gpu.buffer(b->worker);
	chunk.nbytes = nbytes;
	memcpy(chunk.data, text, nbytes);
	partial_clear(&b->gpu);
	partial_clear(&b->cpu);
	if (worker_gpu.map(b->worker, &chunk, &seen, &fault) != STATUS_OK ||
	    worker_gpu.fold(b->worker, &chunk, entry, &b->gpu, &fault) != STATUS_OK)
		bail("worker: %s", fault.detail);
	if (seen.map != map)
		return "map";
	if (seen.nlines != nlines)
		return "nlines";
	if (records_fold(b->plan, text, nbytes, entry, false, &b->memory, &b->cpu) !=
	    STATUS_OK)
		bail("out of memory");
	return partial_difference(&b->gpu, &b->cpu);
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

/* Fills text with records of about nfields fields; the last may be cut anywhere. */
static void random_records(char *text, size_t nbytes, unsigned nfields, char delimiter)
{
	static char line[65536];
	size_t at = 0;

	while (at < nbytes) {
		unsigned r = random_below(50), n = r == 0 ? random_below(nfields) : nfields;
		size_t length = 0;
		for (unsigned f = 0; r != 1 && f < n; f++) {
			if (f > 0)
				line[length++] = delimiter;
			length += random_field(line + length);
		}
		if (random_below(5) == 0)
			line[length++] = '\r';
		line[length++] = '\n';
		length = length < nbytes - at ? length : nbytes - at;
		memcpy(text + at, line, length);
		at += length;
	}
}

/* ---- tests ---- */

/* Folds every chunk of a random cut of text, each entered as those before say. */
static void test_cuts(struct both *b, const char *text, size_t nbytes, const char *name)
{
	struct chunk_entry entry = {CSV_FIELD_START, false, false};
	const char *difference = NULL;
	size_t at = 0;

	while (at < nbytes && !difference) {
		size_t most = random_below(3) ? 100 : CHUNK_NBYTES;
		size_t length = random_below((unsigned)most + 1);
		length = length < nbytes - at ? length : nbytes - at;
		difference = both_fold(b, text + at, length, entry);
		for (size_t end = at + length; at < end; at++) {
			enum csv_class c = csv_classify((unsigned char)text[at],
							(unsigned char)b->plan->delimiter);
			entry.inside_record = c != CSV_NEWLINE || !csv_outside_quotes(entry.state);
			entry.state = csv_step(entry.state, c);
		}
	}
	ok(!difference, "%s, cut at random", name);
	if (difference)
		diag("%s differs before byte %zu", difference, at);
}

/* Random texts of both kinds under a plan. */
static void test_plan(const struct plan *plan, unsigned nfields, const char *name)
{
	size_t nbytes = 4 * CHUNK_NBYTES;
	char *text = (char *)malloc(nbytes);
	struct both b;

	both_open(&b, plan, CHUNK_NBYTES);
	random_records(text, nbytes, nfields, plan->delimiter);
	test_cuts(&b, text, nbytes, name);
	random_hostile(text, nbytes, plan->delimiter);
	test_cuts(&b, text, nbytes, "hostile text");
	both_close(&b);
	free(text);
	free(plan->columns);
}

static void test_plans(void)
{
	struct plan p = plan_make(4, 1, 2, ';');
	p.nmissing = 3;
	p.missing = spellings;
	test_plan(&p, 9, "four columns of nine, three missing spellings");
	p = plan_make(1, 0, 1, '\t');
	p.one_column = true;
	test_plan(&p, 1, "one column, alone");
	p = plan_make(1, 2, 1, ',');
	test_plan(&p, 4, "the third column of four");
	p = plan_make(0, 0, 1, ',');
	test_plan(&p, 3, "no column");
	p = plan_make(300, 0, 1, ',');
	test_plan(&p, 300, "300 columns");
	p = plan_make(COLUMN_FOLD_NCOLUMNS_MAX, 0, 1, ',');
	test_plan(&p, COLUMN_FOLD_NCOLUMNS_MAX, "as many columns as a block has threads");
	p = plan_make(COLUMN_FOLD_NCOLUMNS_MAX / 2 + 1, 0, 1, ',');
	test_plan(&p, COLUMN_FOLD_NCOLUMNS_MAX / 2 + 2, "half as many, and one more");
	p = plan_make(50, 0, 1, ';');
	test_plan(&p, 50, "50 columns");
}

/* A text that is one record, or none, in every state. */
static void test_small(void)
{
	static const char *const texts[] = {"",    "\n",     "\r\n", "\r",    "1",        "\"",
					    "1\n", "1\r\n",  "\"\n", "1\n2",  "\n1\n\n2\n", ",\n",
					    "x\n", "\"\"\n", "5\"\n", "1e99\n", "\"1\n\"\n", "\n\n"};
	struct plan p = plan_make(1, 0, 1, ',');
	struct both b;

	both_open(&b, &p, 64);
	for (const char *text : texts) {
		const char *difference = NULL;
		for (int state = 0; state < CSV_NSTATES && !difference; state++)
			difference = both_fold(&b, text, strlen(text),
					       {(enum csv_state)state, true});
		if (!difference)
			difference = both_fold(&b, text, strlen(text), {CSV_FIELD_START, false});
		ok(!difference, "%zu bytes, entered in every way", strlen(text));
		if (difference)
			diag("%s differs", difference);
	}
	both_close(&b);
	free(p.columns);
}

/* Repeats the pattern over a whole chunk of its own size. */
static void test_repeated(const struct plan *plan, const char *pattern, size_t nbytes,
			  const char *name)
{
	char *text = (char *)malloc(nbytes);
	struct both b;

	for (size_t i = 0; i < nbytes; i++)
		text[i] = pattern[i % strlen(pattern)];
	both_open(&b, plan, nbytes);
	const char *difference = both_fold(&b, text, nbytes, {CSV_FIELD_START, false});
	ok(!difference, "%s", name);
	if (difference)
		diag("%s differs", difference);
	/* And the worker is as good as new. */
	difference = both_fold(&b, "1,2,3\n4,5", 9, {CSV_FIELD_START, false});
	ok(!difference, "... and a plain chunk after that");
	both_close(&b);
	free(text);
	free(plan->columns);
}

/* ---- tiles: what a chunk is cut into on the device ---- */

#ifndef TEST_NBORDERS
#define TEST_NBORDERS 400 /* chunks of sizes about a tile's and a window's */
#endif

/* Folds text[0 .. nbytes), entered between records. */
static const char *fold_whole(struct both *b, const char *text, size_t nbytes)
{
	return both_fold(b, text, nbytes, {CSV_FIELD_START, false});
}

static void test_sizes(struct both *b, const char *text, const char *name)
{
	const size_t around[] = {0, RECORDS_TILE_NBYTES, WINDOW_NBYTES, 2 * RECORDS_TILE_NBYTES,
				 RECORDS_TILE_NBYTES + WINDOW_NBYTES};
	const char *difference = NULL;
	size_t nbytes = 0;

	for (unsigned i = 0; i < TEST_NBORDERS && !difference; i++) {
		size_t middle = around[i % 5], off = i / 5;
		nbytes = off <= middle && off % 2 ? middle - off / 2 : middle + off / 2;
		difference = fold_whole(b, text, nbytes);
	}
	ok(!difference, "%s: chunks of sizes about a tile's", name);
	if (difference)
		diag("%s differs in %zu bytes", difference, nbytes);
}

/* The text behind 0 to TEST_NBORDERS / 2 bytes of a first field: so each of its bytes
 * about the tile's end comes to lie there. */
static void test_shifts(struct both *b, const char *text, const char *name)
{
	size_t nbytes = 3 * RECORDS_TILE_NBYTES, shift = 0;
	char *shifted = (char *)malloc(2 * nbytes);
	const char *difference = NULL;

	for (; shift < TEST_NBORDERS / 2 && !difference; shift++) {
		memset(shifted, 'x', shift);
		memcpy(shifted + shift, text, nbytes);
		difference = fold_whole(b, shifted, nbytes + shift);
	}
	ok(!difference, "%s: every byte on a tile's border", name);
	if (difference)
		diag("%s differs, shifted by %zu", difference, shift - 1);
	free(shifted);
}

static void test_tiles_of(const struct plan *plan, const char *text, const char *name)
{
	struct both b;

	both_open(&b, plan, CHUNK_NBYTES);
	test_sizes(&b, text, name);
	test_shifts(&b, text, name);
	both_close(&b);
}

/* Records with a field of `length` bytes, quoted: with LFs and delimiters in it. */
static void long_records(char *text, size_t nbytes, size_t length, const char *end)
{
	size_t at = 0;

	while (at < nbytes) {
		static char line[CHUNK_NBYTES];
		size_t n = (size_t)sprintf(line, "%u,\"", random_below(1000));
		for (size_t i = 0; i < length; i++)
			line[n++] = ",\nab"[random_below(4)];
		n += (size_t)sprintf(line + n, "\",%u.%02u%s", random_below(1000), random_below(100), end);
		n = n < nbytes - at ? n : nbytes - at;
		memcpy(text + at, line, n);
		at += n;
	}
}

static void test_tiles(void)
{
	const size_t nbytes = 4 * RECORDS_TILE_NBYTES;
	char *text = (char *)malloc(nbytes);
	struct plan p = plan_make(2, 0, 2, ',');

	random_records(text, nbytes, 4, ',');
	test_tiles_of(&p, text, "records of all kinds");
	long_records(text, nbytes, 30, "\n");
	test_tiles_of(&p, text, "quoted fields");
	long_records(text, nbytes, 700, "\r\n");
	test_tiles_of(&p, text, "records of 700 bytes, CRLF");
	long_records(text, nbytes, 3000, "\n");
	test_tiles_of(&p, text, "records longer than what follows a tile");
	long_records(text, nbytes, 10000, "\r\n");
	test_tiles_of(&p, text, "records longer than a tile");
	free(p.columns);
	p = plan_make(3, 0, 1, ',');
	test_tiles_of(&p, text, "all fields of such records");
	free(p.columns);
	p = plan_make(250, 0, 1, ',');
	random_records(text, nbytes, 250, ',');
	test_tiles_of(&p, text, "records of 250 fields");
	free(p.columns);
	p = plan_make(2, 0, 1, ',');
	memset(text, '\n', nbytes);
	test_tiles_of(&p, text, "blank lines");
	p.one_column = true;
	p.ncolumns = 1;
	test_tiles_of(&p, text, "blank lines that are values");
	memset(text, ',', nbytes);
	test_tiles_of(&p, text, "nothing but delimiters");
	free(text);
	free(p.columns);
}

static void test_limits(void)
{
	struct plan p = plan_make(1, 0, 1, ',');
	test_repeated(&p, "\"1\"\"\"\n", 1 << 19, "more exceptions than the list holds");
	p = plan_make(500, 0, 1, ',');
	test_repeated(&p, "\n", 1 << 19, "more blank lines than the table holds");
	p = plan_make(2, 0, 1, ',');
	test_repeated(&p, "7", 1 << 19, "no line at all");
	p = plan_make(2, 0, 1, ',');
	test_repeated(&p, "\n", 1 << 19, "blank lines only");
	p = plan_make(2, 0, 1, ',');
	test_repeated(&p, "1,2,3\n4,5,6\n", (1 << 23) - 1, "8 MiB of short lines");
}

static void test_faults(void)
{
	struct plan p = plan_make(1, 0, 1, ',');
	struct worker *w;
	struct fault fault = {};
	char text[300];

	ok(worker_gpu.open(&w, &p, 64, 1000, &fault) == STATUS_NO_GPU, "no 1000th GPU");
	ok(fault.status == STATUS_NO_GPU && fault.detail[0], "and the fault says so");
	ok(gpu_name(1000, text, sizeof text) == text && text[0], "its name is a text");
	diag("%s", gpu_name(0, text, sizeof text));
	diag("%s", gpu_versions(text, sizeof text));
	free(p.columns);
}

int main(void)
{
	if (gpu_count() == 0)
		skip_all("no CUDA device");
	plan_lazy();
	test_small();
	test_plans();
	test_tiles();
	test_limits();
	test_faults();
	return done();
}
