/* SPDX-License-Identifier: MIT
 *
 * test_worker_gpu.cu - the GPU worker as the engine uses it, against the CPU's fold of
 * the same chunk, member by member.
 *
 * An argument, any, makes it quick: each plan has one policy for ragged records, not every one. For
 * the sanitizers.
 */
#include "kernels/worker/worker.cuh"
#include "worker_test.cuh"

/* ---- tests ---- */

/* Cuts text into random chunks and folds each. The chunks before it determine its entry. */
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
		if (!difference)
			difference = both_fold_early(b, text + at, length, entry, at == 0);
		for (size_t end = at + length; at < end; at++) {
			enum csv_class c = class_of(&b->plan->dialect, text[at]);
			entry.inside_record = c != CSV_NEWLINE || !csv_outside_quotes(entry.state);
			entry.state = csv_step(entry.state, c);
		}
	}
	ok(!difference, "%s, cut at random", name);
	if (difference)
		diag("%s differs before byte %zu", difference, at);
}

/* The text, with faults and without. Without them the device must fold most of it, unless numbers are kept:
 * random ones of many scales may have no 64 bits in common. */
static void test_text(struct both *b, char *text, size_t nbytes, const char *name)
{
	unsigned before = nfolded_on_device;

	test_cuts(b, text, nbytes, name);
	text_faults_remove(&b->plan->dialect, text, nbytes);
	unsigned between = nfolded_on_device;
	test_cuts(b, text, nbytes, "... without NULs and stray text");
	ok(nfolded_on_device > between + 4 || plan_needs(b->plan, MOMENT_VALUES | MOMENT_KEYS),
	   "... %u chunks folded by the device, %u with faults",
	   nfolded_on_device - between, between - before);
}

/* Random texts of both kinds under a plan. */
static void test_policy(const struct plan *plan, const char *name)
{
	char quote = plan->dialect.quote, delimiter = plan->dialect.delimiter;
	size_t nbytes = 4 * CHUNK_NBYTES;
	char *text = (char *)malloc(nbytes);
	struct both b;

	both_open(&b, plan, CHUNK_NBYTES);
	random_records(text, nbytes, plan->ragged.nfields, delimiter);
	for (size_t i = 0; quote && i < nbytes; i++)
		text[i] = text[i] == '"' ? quote : text[i];
	test_text(&b, text, nbytes, name);
	/* Of more columns, the short lines of hostile text do not fit in the table: the CPU folds them, and
	 * the kernels do not see the faults that are tested for. */
	if (plan->ncolumns <= FOLDED_NCOLUMNS_MAX) {
		random_hostile(text, nbytes, delimiter, quote ? quote : '"');
		test_text(&b, text, nbytes, "hostile text");
	}
	both_close(&b);
	free(text);
}

static unsigned npolicies = 4; /* for each plan */

/* Asks for the sums of squares of some columns, if a GPU keeps them. */
static bool ask_squares(struct plan *plan)
{
	for (size_t c = 0; plan_folds_columns(plan) && c < plan->ncolumns; c++)
		if (plan->columns[c].parses && random_below(4))
			plan->columns[c].needs |= MOMENT_SQUARES;
	return plan_folds_columns(plan);
}

/* Asks that the numbers of some columns be kept. */
static bool ask_values(struct plan *plan)
{
	for (size_t c = 0; c < plan->ncolumns && c < 4; c++)
		if (plan->columns[c].parses && random_below(4))
			plan->columns[c].needs |= MOMENT_VALUES;
	return plan_needs(plan, MOMENT_VALUES | MOMENT_KEYS);
}

static void test_plan(struct plan *plan, const char *name)
{
	static const char *const policies[] = {"error", "extra", "allow", "count"};
	static unsigned policy;
	char title[120];

	for (unsigned i = 0; i < npolicies; i++, policy = (policy + 1) % 4) {
		plan->ragged.policy = (enum ragged_policy)policy;
		plan->ragged.last_is_empty = random_below(2);
		for (size_t c = 0; c < plan->ncolumns; c++)
			plan->columns[c].needs = MOMENTS_FUSED;
		bool squares = random_below(2) && ask_squares(plan);
		bool values = !squares && random_below(2) && ask_values(plan);
		snprintf(title, sizeof title, "%s, ragged %s%s%s%s", name, policies[policy],
			 plan->ragged.last_is_empty ? ", the last may lack" : "",
			 squares ? ", squares" : "", values ? ", numbers kept" : "");
		test_policy(plan, title);
	}
	free(plan->columns);
}

static void test_plans(void)
{
	struct plan p = plan_make(9, 4, 1, 2, ';');
	p.nmissing = 3;
	p.missing = spellings;
	test_plan(&p, "four columns of nine, three missing spellings");
	p = plan_make(9, 4, 2, 2, ';');
	p.dialect.quote = '\'';
	test_plan(&p, "four columns of nine, the last as well, another quote");
	p = plan_make(4, 2, 1, 2, ',');
	p.dialect.quote = 0;
	test_plan(&p, "two columns of four, no quotes");
	p = plan_make(1, 1, 0, 1, '\t');
	test_plan(&p, "one column, alone");
	p = plan_make(4, 1, 2, 1, ',');
	test_plan(&p, "the third column of four");
	p = plan_make(3, 0, 0, 1, ',');
	test_plan(&p, "no column");
	p = plan_make(300, 300, 0, 1, ',');
	test_plan(&p, "300 columns");
	p = plan_make(FOLDED_NCOLUMNS_MAX + 1, FOLDED_NCOLUMNS_MAX + 1, 0, 1, ',');
	test_plan(&p, "more columns than are folded from the text");
	p = plan_make(WINDOW_NTHREADS, WINDOW_NTHREADS, 0, 1, ',');
	test_plan(&p, "as many columns as a block has threads");
	p = plan_make(WINDOW_NTHREADS / 2 + 2, WINDOW_NTHREADS / 2 + 1, 0, 1, ',');
	test_plan(&p, "half as many, and one more");
	p = plan_make(50, 50, 0, 1, ';');
	test_plan(&p, "50 columns");
}

/* Fills text with two columns of numbers, of which some are not written plainly, and few are texts. */
static void random_numbers(char *text, size_t nbytes)
{
	static const char *const odd[] = {"+7", ".5", "1e3", "-0", "\"12\"", "007", "5.", "NA", "", "1e30",
					  "123456789012345678901234567890", "288230376151711744", "-0.0"};
	size_t at = 0;

	while (at < nbytes) {
		char line[100];
		int n = random_below(40) ? sprintf(line, "%d", (int)random_below(3000) - 1000)
					 : sprintf(line, "%s", odd[random_below(sizeof odd / sizeof *odd)]);
		n += sprintf(line + n, ",%s%u.%02u\n", random_below(2) ? "-" : "", random_below(30), random_below(30));
		size_t length = (size_t)n < nbytes - at ? (size_t)n : nbytes - at;
		memcpy(text + at, line, length);
		at += length;
	}
}

/* Different texts are counted: of columns of numbers, by the device. */
static void test_keys(void)
{
	struct plan p = plan_make(2, 2, 0, 1, ',');
	size_t nbytes = 4 * CHUNK_NBYTES;
	char *text = (char *)malloc(nbytes);
	struct both b;

	p.nmissing = 1;
	p.missing = spellings;
	p.columns[0].needs = MOMENT_COUNT | MOMENT_KEYS;
	p.columns[0].parses = false;
	p.columns[1].needs |= MOMENT_KEYS | MOMENT_VALUES;
	p.columns[1].counts_text = true;
	for (unsigned i = 0; i < 3; i++) {
		unsigned before = nfolded_on_device;
		random_numbers(text, nbytes);
		both_open(&b, &p, CHUNK_NBYTES);
		test_cuts(&b, text, nbytes, "keys");
		both_close(&b);
		ok(nfolded_on_device > before + 4, "... %u chunks folded by the device",
		   nfolded_on_device - before);
	}
	random_records(text, nbytes, 2, ',');
	both_open(&b, &p, CHUNK_NBYTES);
	test_cuts(&b, text, nbytes, "keys that are texts");
	both_close(&b);
	free(text);
	free(p.columns);
}

/* A text that is one record, or none, in every state. */
static void test_small(void)
{
	static const char *const texts[] = {"",    "\n",     "\r\n", "\r",    "1",        "\"",
					    "1\n", "1\r\n",  "\"\n", "1\n2",  "\n1\n\n2\n", ",\n",
					    "x\n", "\"\"\n", "5\"\n", "1e99\n", "\"1\n\"\n", "\n\n",
					    "1,2\n", "1,\r\n", "1,\"\"\n", "\"1\"2\n", "1,2,3\n",
					    "\"1\"\r\n", "\"1\"\r", "\"1\"\r\r\n", "1,,\n"};
	struct plan p = plan_make(2, 1, 0, 1, ',');
	struct both b;

	both_open(&b, &p, 64);
	for (const char *text : texts) {
		const char *difference = NULL;
		for (int state = 0; state < CSV_NSTATES && !difference; state++)
			difference = both_fold(&b, text, strlen(text),
					       {(enum csv_state)state, true, false});
		if (!difference)
			difference = both_fold(&b, text, strlen(text), {CSV_FIELD_START, false, false});
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
	const char *difference = both_fold(&b, text, nbytes, {CSV_FIELD_START, false, false});
	ok(!difference, "%s", name);
	if (difference)
		diag("%s differs", difference);
	/* The worker must still fold a plain chunk. */
	difference = both_fold(&b, "1,2,3\n4,5", 9, {CSV_FIELD_START, false, false});
	ok(!difference, "... and a plain chunk after that");
	both_close(&b);
	free(text);
	free(plan->columns);
}

static void test_limits(void)
{
	struct plan p = plan_make(1, 1, 0, 1, ',');
	test_repeated(&p, "\"1\"\"\"\n", 1 << 19, "more exceptions than the list holds");
	p = plan_make(FOLDED_NCOLUMNS_MAX + 1, FOLDED_NCOLUMNS_MAX + 1, 0, 1, ',');
	test_repeated(&p, "\n", 1 << 19, "more blank lines than the table holds");
	p = plan_make(2, 2, 0, 1, ',');
	test_repeated(&p, "7", 1 << 19, "no line at all");
	p = plan_make(2, 2, 0, 1, ',');
	test_repeated(&p, "\n", 1 << 19, "blank lines only");
	p = plan_make(3, 2, 0, 1, ',');
	test_repeated(&p, "1,2,3\n4,5,6\n", (1 << 23) - 1, "8 MiB of short lines");
	p = plan_make(3, 2, 0, 2, ',');
	test_repeated(&p, "1,2\n4,5,6,7\n", (1 << 20) - 1, "as many records too long as too short");
	p = plan_make(3, 2, 0, 2, ',');
	p.ragged.policy = RAGGED_ALLOW;
	test_repeated(&p, "1,2\n4,5,6,7\n", (1 << 20) - 1, "... and all allowed");
	p = plan_make(3, 2, 0, 2, ',');
	test_repeated(&p, "1,2,3,\n4,5,6\r\n7,8,9,\r\n", 1 << 20, "delimiters at line ends");
	p = plan_make(3, 2, 0, 2, ',');
	p.ragged.last_is_empty = true;
	test_repeated(&p, "1,2,3\n4,5\n7,8,\n", 1 << 20, "a last field that may lack");
}

static void test_faults(void)
{
	const struct worker_setup setup = {64, 1000, false, false, 0, 0};
	struct plan p = plan_make(1, 1, 0, 1, ',');
	struct worker *w;
	struct fault fault = {};
	char text[300];

	ok(worker_gpu.open(&w, &p, &setup, &fault) == STATUS_NO_GPU, "no 1000th GPU");
	ok(fault.status == STATUS_NO_GPU && fault.detail[0], "and the fault says so");
	ok(gpu_name(1000, text, sizeof text) == text && text[0], "its name is a text");
	diag("%s", gpu_name(0, text, sizeof text));
	diag("%s", gpu_versions(text, sizeof text));
	free(p.columns);
}

/* Chunks of a file with other columns, between others: the CPU folds them, by the file's plan. */
static void test_file_plan(void)
{
	struct plan p = plan_make(4, 2, 0, 2, ','), other = plan_make(5, 2, 1, 2, ',');
	const char *text = "1,2,3,4\n5,6,7,8\n1,2,3,4,5\n6,7,8,9,10\n", *difference = NULL;
	bool right_device = true;
	struct both b;

	for (unsigned emits = 0; emits < 2 && !difference; emits++) {
		p.emits = other.emits = emits; /* without column_fold */
		both_open(&b, &p, 64);
		for (unsigned i = 0; i < 5 && !difference; i++) {
			b.file_plan = i % 2 ? &other : NULL;
			difference = both_fold(&b, text, strlen(text), {CSV_FIELD_START, false, false});
			right_device = right_device && b.worker->on_device == (i % 2 == 0) &&
				       b.gpu.nrecords == 2;
		}
		both_close(&b);
	}
	ok(!difference && right_device, "chunks of a file with other columns");
	if (difference)
		diag("%s differs", difference);
	free(p.columns);
	free(other.columns);
}

/* ---- packed text ---- */

/* Checks the text on the device, and on the host after gpu_load_text(). Returns what differs. */
static const char *arrives(struct both *b, const char *text, size_t nbytes)
{
	const struct chunk_entry entry = {CSV_FIELD_START, false, false};
	const char *difference = both_fold(b, text, nbytes, entry);
	char *up = host_copy(b->worker->text, nbytes);
	bool same = !memcmp(up, text, nbytes);

	free(up);
	if (difference || !same)
		return difference ? difference : "the text on the device";
	bool loaded = b->worker->packing.loaded;
	gpu_load_text(b->worker);
	b->worker->packing.loaded = loaded; /* undoes the effect of the call */
	return memcmp(worker_buffer(b->worker), text, nbytes) ? "the text on the host" : NULL;
}

static void number_text(char *text, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		text[i] = "0123456789,,..-\n/"[random_below(17)];
}

/* Texts of numbers, as long as a few pieces and a little more or less. */
static void test_packed_lengths(struct both *b, char *text)
{
	size_t piece = b->worker->packing.piece_nbytes, wrong = 0;
	unsigned npacked = 0;

	for (size_t npieces = 0; npieces <= CHUNK_NBYTES / piece; npieces++)
		for (size_t more = npieces ? 0 : 1; more <= 130 && !wrong; more += 1 + more / 9) {
			size_t nbytes = npieces * piece + more - (npieces ? 65 : 0);
			if (nbytes > CHUNK_NBYTES)
				continue;
			number_text(text, nbytes);
			const char *difference = arrives(b, text, nbytes);
			npacked += b->worker->packing.packs;
			wrong = difference ? nbytes : 0;
			if (difference)
				diag("%s differs: %zu bytes", difference, nbytes);
		}
	ok(!wrong && npacked > 100, "%u packed texts, some of many pieces", npacked);
}

/* One byte that cannot be packed, anywhere: first, last, and at the borders of pieces. */
static void test_packed_foreign(const struct plan *plan, char *text)
{
	const size_t nbytes = CHUNK_NBYTES - 77;
	const char *difference = NULL;

	for (size_t k = 0; k < 60 && !difference; k++) {
		struct both b;
		both_open(&b, plan, CHUNK_NBYTES);
		size_t piece = b.worker->packing.piece_nbytes;
		size_t at = k < 40 ? k / 2 * piece - k % 2 : random_below(nbytes);
		number_text(text, nbytes);
		text[at < nbytes ? at : nbytes - 1] = "xX\"\r +e"[k % 7];
		difference = arrives(&b, text, nbytes);
		if (difference)
			diag("%s differs: %c at %zu", difference, text[at], at);
		both_close(&b);
	}
	ok(!difference, "a byte that cannot be packed, in any piece");
}

/* The worker gives up packing for a while, and begins again. */
static void test_packed_pauses(struct both *b, char *text)
{
	unsigned npacked = 0;
	const char *difference = NULL;

	for (unsigned i = 0; i < 30 && !difference; i++) {
		number_text(text, CHUNK_NBYTES);
		if (i < 3)
			text[random_below(CHUNK_NBYTES)] = 'x';
		difference = arrives(b, text, CHUNK_NBYTES);
		npacked += b->worker->packing.packs;
	}
	ok(!difference && npacked > 15 && npacked < 28, "%u of 30 texts packed after three that "
	   "cannot be", npacked);
	if (difference)
		diag("%s differs", difference);
}

static void test_packed(void)
{
	struct plan p = plan_make(5, 3, 0, 2, ',');
	char *text = (char *)malloc(CHUNK_NBYTES);
	struct both b;

	both_open(&b, &p, CHUNK_NBYTES);
	test_packed_lengths(&b, text);
	test_packed_pauses(&b, text);
	both_close(&b);
	test_packed_foreign(&p, text);
	free(text);
	free(p.columns);
}

/* Pinned memory holds what is copied there and back, from its first byte to its last. */
static void test_pinned(size_t nbytes, const char *name)
{
	struct pinned_buffer a = {}, b = {};
	char *device = NULL;
	bool same = false;

	pinned_buffer_reserve(&a, nbytes);
	pinned_buffer_reserve(&b, nbytes);
	if (pinned_buffer_pin(&a) == cudaSuccess && pinned_buffer_pin(&b) == cudaSuccess &&
	    cudaMalloc(&device, nbytes) == cudaSuccess) {
		for (size_t i = 0; i < nbytes; i++)
			a.data[i] = (char)random_below(256);
		same = cudaMemcpy(device, a.data, nbytes, cudaMemcpyDefault) == cudaSuccess &&
		       cudaMemcpy(b.data, device, nbytes, cudaMemcpyDefault) == cudaSuccess &&
		       !memcmp(a.data, b.data, nbytes);
	}
	ok(same, "%s of pinned memory", name);
	diag("it is %s", a.registered ? "registered" : "cudaMallocHost's");
	(void)cudaFree(device);
	ok(pinned_buffer_free(&a) == cudaSuccess && pinned_buffer_free(&b) == cudaSuccess &&
	   !a.data && !a.nbytes, "and none left");
	pinned_buffer_reserve(&a, nbytes);
	ok(pinned_buffer_free(&a) == cudaSuccess && !a.data, "nor if it never was pinned");
}

int main(int argc, char **argv)
{
	(void)argv;
	if (gpu_count() == 0)
		skip_all("no CUDA device");
	if (argc > 1)
		npolicies = 1;
	plan_lazy();
	test_small();
	test_plans();
	test_keys();
	test_limits();
	test_file_plan();
	test_packed();
	test_faults();
	test_pinned(1, "a byte");
	test_pinned(((size_t)3 << 20) + 1, "3 MiB and a byte");
	return done();
}
