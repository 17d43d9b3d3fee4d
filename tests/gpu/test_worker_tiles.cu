/* SPDX-License-Identifier: MIT
 *
 * test_worker_tiles.cu - the GPU worker where column_fold cuts text: every byte on a tile's
 * border, and chunks that are folded before it is known how they are entered.
 *
 * An argument, any, makes it quick: a tenth of the borders, and fewer policies for ragged records.
 * For the sanitizers.
 */
#include "worker_test.cuh"

/* ---- tiles ---- */

#ifndef TEST_NBORDERS
#define TEST_NBORDERS 400 /* chunks of sizes about a tile's and a window's */
#endif
static unsigned nborders = TEST_NBORDERS;
static unsigned step = 1; /* through policies */

/* Folds text[0 .. nbytes), entered between records. */
static const char *fold_whole(struct both *b, const char *text, size_t nbytes)
{
	return both_fold(b, text, nbytes, {CSV_FIELD_START, false, false});
}

static void test_sizes(struct both *b, const char *text, const char *name)
{
	const size_t around[] = {0, RECORDS_TILE_NBYTES, WINDOW_NBYTES, 2 * RECORDS_TILE_NBYTES,
				 RECORDS_TILE_NBYTES + WINDOW_NBYTES};
	const char *difference = NULL;
	size_t nbytes = 0;

	for (unsigned i = 0; i < nborders && !difference; i++) {
		size_t middle = around[i % 5], off = i / 5;
		nbytes = off <= middle && off % 2 ? middle - off / 2 : middle + off / 2;
		difference = fold_whole(b, text, nbytes);
	}
	ok(!difference, "%s: chunks of sizes about a tile's", name);
	if (difference)
		diag("%s differs in %zu bytes", difference, nbytes);
}

/* Puts 0 to nborders / 2 bytes before the text, so that each byte near the end of a tile
 * lies on the border once. */
static void test_shifts(struct both *b, const char *text, const char *name)
{
	size_t nbytes = 3 * RECORDS_TILE_NBYTES, shift = 0;
	char *shifted = (char *)malloc(2 * nbytes);
	const char *difference = NULL;

	for (; shift < nborders / 2 && !difference; shift++) {
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

/* Long records, of which some have more or fewer fields than the plan. */
static void test_ragged_tiles(struct plan *p, char *text, size_t nbytes)
{
	static const char *const ends[] = {"\n", ",\n", ",\r\n", ",7\n"};

	for (unsigned i = 0; i < 8; i += step) {
		p->ragged.policy = (enum ragged_policy)(i % 4);
		p->ragged.nfields = i < 4 ? 3 : 4;
		p->ragged.last_is_empty = i > 4;
		long_records(text, nbytes, i % 3 ? 3000 : 10000, ends[i / 2]);
		test_tiles_of(p, text, "long records of other numbers of fields");
	}
}

static void test_tiles(void)
{
	const size_t nbytes = 4 * RECORDS_TILE_NBYTES;
	char *text = (char *)malloc(nbytes);
	struct plan p = plan_make(4, 2, 0, 2, ',');

	for (unsigned policy = RAGGED_ERROR; policy <= RAGGED_COUNT; policy += step) {
		p.ragged.policy = (enum ragged_policy)policy;
		random_records(text, nbytes, 4, ',');
		test_tiles_of(&p, text, "records of all kinds");
		text_faults_remove(&p.dialect, text, nbytes);
		test_tiles_of(&p, text, "... without NULs and stray text");
	}
	free(p.columns);
	p = plan_make(3, 2, 0, 2, ',');
	long_records(text, nbytes, 30, "\n");
	test_tiles_of(&p, text, "quoted fields");
	long_records(text, nbytes, 700, "\r\n");
	test_tiles_of(&p, text, "records of 700 bytes, CRLF");
	long_records(text, nbytes, 3000, "\n");
	test_tiles_of(&p, text, "records longer than what follows a tile");
	long_records(text, nbytes, 10000, "\r\n");
	test_tiles_of(&p, text, "records longer than a tile");
	free(p.columns);
	p = plan_make(3, 3, 0, 1, ',');
	test_tiles_of(&p, text, "all fields of such records");
	test_ragged_tiles(&p, text, nbytes);
	free(p.columns);
	p = plan_make(250, 250, 0, 1, ',');
	random_records(text, nbytes, 250, ',');
	text_faults_remove(&p.dialect, text, nbytes);
	test_tiles_of(&p, text, "records of 250 fields");
	free(p.columns);
	p = plan_make(2, 2, 0, 1, ',');
	memset(text, '\n', nbytes);
	test_tiles_of(&p, text, "blank lines");
	p.dialect.one_column = true;
	p.ragged.nfields = 1;
	p.ncolumns = 1;
	test_tiles_of(&p, text, "blank lines that are values");
	memset(text, ',', nbytes);
	test_tiles_of(&p, text, "nothing but delimiters");
	free(text);
	free(p.columns);
}

/* ---- folding before the entry is known ---- */

/* Quoted text, plain text, and plain before quoted text, so that guesses are right and wrong. */
static void test_early(void)
{
	struct plan p = plan_make(3, 2, 0, 2, ',');
	const size_t nbytes = 3 * RECORDS_TILE_NBYTES;
	char *text = (char *)malloc(nbytes);
	const char *difference = NULL;
	struct both b;

	both_open(&b, &p, nbytes);
	for (unsigned i = 0; i < 40 && !difference; i++) {
		long_records(text, nbytes, i % 4 ? 40 : 6000, "\n");
		size_t nplain = i % 4 == 3 ? nbytes : i % 2 ? 10000 : 0;
		for (size_t k = 0; k < nplain; k++)
			text[k] = k % 10 == 9 ? '\n' : k % 3 ? '5' : ',';
		for (int state = 0; state < CSV_NSTATES && !difference; state++) {
			difference = both_fold_early(&b, text, nbytes,
						     {(enum csv_state)state, true, false}, false);
			if (!difference)
				difference = both_fold(&b, text, nbytes,
						       {(enum csv_state)state, true, false});
		}
	}
	ok(!difference, "entered in every way, known or not");
	if (difference)
		diag("%s differs", difference);
	ok(nearly > 60, "%u chunks were folded early", nearly);
	both_close(&b);
	free(text);
	free(p.columns);
}

int main(int argc, char **argv)
{
	(void)argv;
	if (gpu_count() == 0)
		skip_all("no CUDA device");
	if (argc > 1) {
		nborders /= 10;
		step = 3;
	}
	plan_lazy();
	test_tiles();
	test_early();
	ok(nfolded_on_device > nborders * 10, "%u chunks were folded by the device, %u have faults",
	   nfolded_on_device, nfaulty);
	return done();
}
