/* SPDX-License-Identifier: MIT
 *
 * test_emission.cu - the GPU worker's output and its partials under plans with new columns
 * and conditions, byte for byte against cpu_folder_emit() and cpu_folder_fold(). And, since the
 * worker may leave any chunk to the CPU: that it did not where it should not.
 * GPUSTAT_TEST_CASES says how many random plans are tried, GPUSTAT_TEST_TEXTS with how many hostile texts each,
 * GPUSTAT_TEST_SEED other ones. An argument: only plans with groups.
 */
#include "emission_test.cuh"

#include "kernels/worker/gpu.h"
#include "kernels/csv/number_text.cuh"

#define NPLANS 60 /* unless there is GPUSTAT_TEST_CASES */
#define NTEXTS 9  /* hostile ones, for each plan */

static bool groups_alone; /* only plans with groups */

static void test_lengths(void)
{
	char text[DECIMAL_TEXT_NBYTES];
	unsigned ndifferent = 0;
	int128 x = 1;

	for (int power = 0; power < 39; power++, x *= power < 39 ? 10 : 1)
		for (int d = -1; d <= 1; d++)
			for (int scale = 0; scale < 60; scale++)
				ndifferent += number_text_nbytes(x + d, scale) !=
						      decimal_format(x + d, scale, text) ||
					      number_text_nbytes(-x + d, scale) !=
						      decimal_format(-x + d, scale, text);
	ok(ndifferent == 0, "lengths of numbers around all powers of ten");
}

static void trial_every_scan(struct trial *t)
{
	trial_scan(t, NEW_SUM, 0, 0);
	trial_scan(t, NEW_MIN, 0, 0);
	trial_scan(t, NEW_MAX, 1, 0);
	trial_scan(t, NEW_COUNT, 2, 0);
	trial_scan(t, NEW_COUNT, 3, 0);
	trial_scan(t, NEW_BYTE_OFFSET, 0, 0);
}

/* Random scans; the columns that none of them wants fold nothing. */
static void trial_random_scans(struct trial *t)
{
	static const enum new_column_kind kinds[] = {NEW_SUM, NEW_MIN, NEW_MAX, NEW_COUNT};
	bool wanted[NFIELDS] = {};

	for (unsigned n = random_below(6); n > 0; n--) {
		unsigned column = random_below(NFIELDS);
		enum new_column_kind kind = column == 3 ? NEW_COUNT : kinds[random_below(4)];
		trial_scan(t, kind, column, 0);
		wanted[column] = true;
	}
	/* Records are printed for a new column or a condition. */
	if (random_below(2) || t->plan.nnew_columns + t->plan.npredicates == 0)
		trial_scan(t, NEW_BYTE_OFFSET, 0, 0);
	for (unsigned p = 0; p < t->plan.npredicates; p++)
		if (p != t->plan.where && !groups_alone && random_below(4))
			trial_scan(t, NEW_OFFSET, 0, p);
	for (unsigned c = 0; c < NFIELDS && t->plan.npredicates; c++)
		t->columns[c].needs = wanted[c] ? MOMENTS_FUSED : 0;
	t->plan.ragged.policy = (enum ragged_policy)random_below(4);
	t->plan.ragged.last_is_empty = random_below(2);
	t->plan.only = random_below(2) && t->plan.nnew_columns;
	t->plan.exclusive = random_below(2);
}

/* Sends random text of one kind; says how much of it the device printed. must_print: it prints all chunks, of which none
 * has a record with another number of fields than the first, since the CPU cuts or fills up those. */
static void trial_run(struct trial *t, enum trouble trouble, size_t nbytes, unsigned most,
		      bool must_print, const char *name)
{
	char *text = (char *)malloc(nbytes);

	random_records(text, nbytes, trouble, NFIELDS, !must_print);
	ok(!trial_text(t, text, nbytes, most), "%s", name);
	if (must_print)
		ok(t->nprinted == t->nchunks, "... %u of %u chunks printed by the device",
		   t->nprinted, t->nchunks);
	free(text);
}

static void test_every_scan(void)
{
	static const char *const names[] = {"every scan", "only them", "exclusive", "only, exclusive"};

	for (unsigned i = 0; i < 4; i++) {
		struct trial t;
		trial_begin(&t);
		trial_every_scan(&t);
		t.plan.only = i & 1;
		t.plan.exclusive = i & 2;
		trial_open(&t, CHUNK_NBYTES);
		trial_run(&t, PLAIN, 3 * CHUNK_NBYTES, CHUNK_NBYTES, true, names[i]);
		trial_run(&t, PLAIN, 5000, 200, true, "... in small chunks");
		trial_run(&t, WIDE, 30000, 5000, false, "... totals up to 128 bits");
		trial_run(&t, ODD, 30000, 1000, false, "... odd fields");
		ok(t.worker->nagain > 0, "... some for the second time: there was too little room");
		trial_close(&t);
	}
}

/* Conditions: each with whether the device is to judge it. */
static void test_conditions(void)
{
	static const char *const texts[] = {
		"a > 0", "a < 0 or b >= 0.5", "d = 'GET' and not (a < b)", "d = 'PO,ST\n'",
		"c is missing", "a > 1e40 or b > -1e-40", "a > 0 and a < 0", "a >= b or a is missing"};

	for (const char *text : texts) {
		struct trial t;
		trial_begin(&t);
		trial_condition(&t, text);
		trial_condition(&t, "b > 0");
		t.plan.where = 0;
		for (struct plan_column &c : t.columns)
			c.needs = 0;
		t.columns[0].needs = t.columns[2].needs = MOMENTS_FUSED;
		trial_scan(&t, NEW_SUM, 0, 0);
		trial_scan(&t, NEW_OFFSET, 0, 1);
		trial_scan(&t, NEW_COUNT, 2, 0);
		trial_open(&t, CHUNK_NBYTES);
		trial_run(&t, PLAIN, CHUNK_NBYTES, CHUNK_NBYTES, true, text);
		trial_run(&t, PLAIN, 3000, 100, true, "... in small chunks");
		trial_run(&t, ODD, 30000, 1000, false, "... odd fields");
		trial_close(&t);
	}
}

static void trial_random_conditions(struct trial *t)
{
	static const char *const texts[] = {"a > 0", "b < c", "d == 'GET'", "e is missing",
					    "not (a >= 10.5 && b != 0)", "a = 1 or c > 1 or e < 0"};

	for (unsigned n = random_below(4); n > 0; n--)
		trial_condition(t, texts[random_below(6)]);
	if (t->plan.npredicates && random_below(2))
		t->plan.where = 0; /* several are beyond GPUs: run/beyond_gpus.c */
}

/* How many of ntexts, of random lengths in chunks of random sizes, make a difference. */
static unsigned nwrong_hostile(struct trial *t, unsigned ntexts)
{
	char text[5000];
	unsigned nwrong = 0;

	for (unsigned i = 0; i < ntexts; i++) {
		size_t nbytes = 1 + random_below(sizeof text);
		random_hostile(text, nbytes, ',', '"');
		if (i % 3)
			text_faults_remove(&t->plan.dialect, text, nbytes);
		nwrong += trial_text(t, text, nbytes, 50 + random_below(2000)) != NULL;
	}
	return nwrong;
}

/* Keys for every other plan, but where records are numbered, which no GPU does by group. */
static void trial_random_keys(struct trial *t)
{
	unsigned nkeys = groups_alone ? 1 + random_below(2) : random_below(4);

	for (size_t i = 0; i < t->plan.nnew_columns; i++)
		if (t->scans[i].kind == NEW_OFFSET)
			return;
	for (unsigned k = 0; k < nkeys && nkeys < 3; k++)
		trial_key(t, random_below(2) ? 3 : random_below(NFIELDS));
}

static void test_random_plans(unsigned nplans, unsigned ntexts)
{
	for (unsigned i = 0; i < nplans; i++) {
		struct trial t;
		char name[80];
		trial_begin(&t);
		trial_random_conditions(&t);
		trial_random_scans(&t);
		trial_random_keys(&t);
		trial_open(&t, 20000);
		snprintf(name, sizeof name, "plan %u: %zu scans, %zu conditions, %zu keys", i, t.plan.nnew_columns,
			 t.plan.npredicates, t.plan.nkeys);
		trial_run(&t, (enum trouble)random_below(4), 40000, random_below(2) ? 20000 : 500,
			  false, name);
		ok(nwrong_hostile(&t, ntexts) == 0, "... %u hostile texts", ntexts);
		trial_close(&t);
	}
}

/* Totals by group: of a text with two values, of numbers, which nearly all differ, of both. Up to ncases of them. */
static void test_by_group(unsigned ncases)
{
	static const struct {
		const char *name;
		size_t nkeys, keys[2];
	} cases[] = {{"by a text", 1, {3}}, {"by a number", 1, {2}}, {"by both", 2, {4, 3}}};

	for (const auto &by : cases)
		for (unsigned i = 0; i < 4 && ncases > 0; i++, ncases--) {
			struct trial t;
			trial_begin(&t);
			trial_every_scan(&t);
			trial_scan(&t, NEW_SUM, 1, 0);
			trial_scan(&t, NEW_MIN, 1, 0);
			for (size_t k = 0; k < by.nkeys; k++)
				trial_key(&t, by.keys[k]);
			t.plan.only = i & 1;
			t.plan.exclusive = i & 2;
			trial_open(&t, CHUNK_NBYTES);
			trial_run(&t, EVEN, 3 * CHUNK_NBYTES, CHUNK_NBYTES, true, by.name);
			trial_run(&t, EVEN, 5000, 200, true, "... in small chunks");
			trial_run(&t, PLAIN, 30000, 5000, false, "... numbers that may not fit a group's cells");
			trial_run(&t, WIDE, 30000, 5000, false, "... totals up to 128 bits");
			trial_run(&t, ODD, 30000, 1000, false, "... odd fields");
			diag("%u of %u chunks printed by the device", t.nprinted, t.nchunks);
			trial_close(&t);
		}
}

/* What a chunk meets that is not first: totals of any scale, and wider than 128 bits. */
static void test_before(void)
{
	static const char *const numbers[] = {"1", "-0.5", "1e-31", "1e-60", "1e25", "-1e30", "-1e37", "1e38",
					      "170141183460469231731687303715884105727",
					      "-170141183460469231731687303715884105728", "1e200"};

	for (const char *number : numbers) {
		struct trial t;
		struct scratch scratch = {};
		trial_begin(&t);
		trial_every_scan(&t);
		trial_scan(&t, NEW_MIN, 1, 0);
		trial_scan(&t, NEW_SUM, 1, 0);
		trial_open(&t, 4096);
		for (size_t c = 0; c < 3; c++)
			column_add_field(&t.plan, &t.before, c, number, strlen(number), 0, &scratch);
		ok(!trial_text(&t, "2,2,2,,\n-3.25,3,,,\n,,,,\n4,-1,0.001,x,\n", 43, 100),
		   "after a total of %s", number);
		diag("%u of %u chunks printed by the device", t.nprinted, t.nchunks);
		trial_run(&t, WIDE, 4000, 1000, false, "... and wide numbers");
		free(scratch.data);
		trial_close(&t);
	}
}

/* Plans without columns or with one, and records of one byte. */
static void test_narrow(void)
{
	static const char *const texts[] = {"",   "\n",     "\r\n",  "\r",        "1",   "1\n", "1\r\n",
					    "\"\n", "\n\n1\n\n", "1\n2\n3", "\"\"\n\r\n", "1e99\n", ",\n",
					    "1,\n2,3\n", "1,\r\n4,5,\n,,\n6\n", "\"1\"2\n3\n"};

	for (unsigned n = 0; n < 24; n++) {
		unsigned kind = n % 6;
		struct trial t;
		trial_begin(&t);
		t.plan.ncolumns = kind / 2 == 1 ? 0 : 1;
		t.plan.ragged.nfields = kind % 2 ? 1 : 2;
		t.plan.ragged.policy = (enum ragged_policy)(n / 6);
		t.plan.dialect.one_column = kind % 2;
		if (kind / 2 != 1)
			trial_scan(&t, NEW_SUM, 0, 0);
		if (kind / 2 != 0)
			trial_scan(&t, NEW_BYTE_OFFSET, 0, 0);
		trial_open(&t, CHUNK_NBYTES);
		for (const char *text : texts)
			for (int state = 0; state <= CSV_NSTATES; state++) {
				bool inside = state < CSV_NSTATES;
				const char *difference = trial_chunk(
					&t, text, strlen(text), 0,
					{inside ? (enum csv_state)state : CSV_FIELD_START, inside,
					 false});
				if (difference)
					ok(false, "%s differs, %zu bytes entered in %d", difference,
					   strlen(text), state);
			}
		char *lines = (char *)malloc(CHUNK_NBYTES);
		for (size_t i = 0; i < CHUNK_NBYTES; i++)
			lines[i] = i % 4 == 2 ? '7' : '\n';
		ok(!trial_chunk(&t, lines, CHUNK_NBYTES, 0, {CSV_FIELD_START, false, false}),
		   "short and blank lines, kind %u", n);
		memset(lines, 'x', CHUNK_NBYTES);
		lines[CHUNK_NBYTES - 1] = '\n';
		ok(!trial_chunk(&t, lines, CHUNK_NBYTES, 0, {CSV_FIELD_START, false, false}),
		   "a chunk that is one record");
		free(lines);
		trial_close(&t);
	}
}

/* Numbers that hold the delimiter are quoted. */
static void test_delimiters(void)
{
	const char *lines = "2-3\n4\n-5\n.5\n7\n";

	for (char delimiter : {'-', '.', '1', ';'}) {
		struct trial t;
		trial_begin(&t);
		t.plan.dialect.delimiter = delimiter;
		t.plan.ragged.nfields = 1;
		t.plan.ragged.policy = RAGGED_ALLOW;
		t.plan.dialect.one_column = true;
		t.plan.ncolumns = 1;
		trial_scan(&t, NEW_SUM, 0, 0);
		trial_scan(&t, NEW_BYTE_OFFSET, 0, 0);
		trial_open(&t, 100);
		ok(!trial_chunk(&t, lines, strlen(lines), 0, {CSV_FIELD_START, false, false}),
		   "delimiter %c", delimiter);
		trial_close(&t);
	}
}

int main(int argc, char **argv)
{
	(void)argv;
	groups_alone = argc > 1;
	if (gpu_count() == 0)
		skip_all("no CUDA device");
	random_state += asked("GPUSTAT_TEST_SEED", 0);
	plan_lazy();
	if (!groups_alone) {
		test_lengths();
		test_narrow();
		test_delimiters();
		test_before();
		test_every_scan();
		test_conditions();
	}
	test_by_group(asked("GPUSTAT_TEST_CASES", NPLANS));
	test_random_plans(asked("GPUSTAT_TEST_CASES", NPLANS), asked("GPUSTAT_TEST_TEXTS", NTEXTS));
	return done();
}
