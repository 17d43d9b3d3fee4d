/* SPDX-License-Identifier: MIT
 *
 * test_records.cu - the kernels that find records (kernels/csv/records.cu) against the automaton,
 * byte by byte: transition map, record ends, numbers of fields, NUL bytes, stray text.
 */
#include "text_faults.cuh"

struct record_test {
	struct csv_dialect dialect;
	char *text; /* host memory; the rest on the device */
	struct text_view view;
	struct grid_domino domino;
	csv_map *tile_prefix;
	uint32_t *ends, *nfields;
	uint16_t *nseparators, *tile_nseparators;
	struct chunk_summary *summary;
};

/* beyond: what memory past the end is filled with. */
static void record_test_open(struct record_test *t, size_t nbytes, int beyond)
{
	char *data = device_filled<char>(nbytes + 2 * LANE_NBYTES, beyond);
	uint32_t ntiles = records_ntiles(nbytes);

	must(cudaMemcpy(data, t->text, nbytes, cudaMemcpyHostToDevice), "copy up");
	t->view = {data, nbytes, t->dialect.delimiter,
		   t->dialect.quote ? t->dialect.quote : t->dialect.delimiter};
	t->domino = {device_filled<uint64_t>(ntiles, 0), device_filled<uint32_t>(1, 0), ntiles, 0};
	t->tile_prefix = device_filled<csv_map>(ntiles, POISON);
	t->ends = device_filled<uint32_t>(nbytes, POISON);
	t->nfields = device_filled<uint32_t>(nbytes, POISON);
	t->nseparators = device_filled<uint16_t>(nbytes, POISON);
	t->tile_nseparators = device_filled<uint16_t>(ntiles, POISON);
	t->summary = device_filled<struct chunk_summary>(1, 0);
	must(grid_domino_advance(&t->domino, 0), "advance");
	must(records_map_launch(t->view, t->domino, t->tile_prefix, t->summary, 0),
	     "launch records_map");
}

static void record_test_close(struct record_test *t)
{
	void *owned[] = {(void *)t->view.data, t->domino.slots, t->domino.ticket, t->tile_prefix,
			 t->ends, t->nfields, t->nseparators, t->tile_nseparators, t->summary};

	for (void *memory : owned)
		device_free(memory);
}

/* ---- record ends and numbers of fields ---- */

/* What the automaton says of the text, entered in state: the ends, and how many fields end at each
 * or since the one before. Returns the number of ends. */
static uint32_t automaton_run(const struct record_test *t, enum csv_state *state, uint32_t *ends,
			      uint32_t *nfields)
{
	uint32_t nends = 0, n = 0;

	for (size_t i = 0; i < t->view.nbytes; i++) {
		enum csv_class c = class_of(&t->dialect, t->text[i]);
		n += csv_outside_quotes(*state) && (c == CSV_NEWLINE || c == CSV_DELIMITER);
		if (c == CSV_NEWLINE && csv_outside_quotes(*state)) {
			ends[nends] = (uint32_t)i + 1;
			nfields[nends++] = n;
			n = 0;
		}
		*state = csv_step(*state, c);
	}
	return nends;
}

__global__ static void count_fields(struct record_table records, uint32_t *nfields)
{
	for (uint32_t r = threadIdx.x; r < *records.nrecords; r += blockDim.x)
		nfields[r] = record_nfields(records, r);
}

/* Launches records_ends, as entered in state, and what counts fields. */
static void ends_launch(struct record_test *t, enum csv_state state, uint32_t nheads)
{
	size_t nbytes = t->view.nbytes;
	struct record_table records = {t->ends, t->nseparators, t->tile_nseparators,
				       &t->summary->nrecords, nheads, (uint32_t)nbytes};

	must(cudaMemset(t->ends, POISON, nbytes * sizeof *t->ends), "poison");
	must(cudaMemset(t->nseparators, POISON, nbytes * sizeof *t->nseparators), "poison");
	must(cudaMemset(&t->summary->has_stray, 0, sizeof t->summary->has_stray), "clear");
	must(grid_domino_advance(&t->domino, 0), "advance");
	must(records_ends_launch(t->view, t->domino, t->tile_prefix, state, nheads, t->ends,
				 t->nseparators, t->tile_nseparators, t->summary, 0),
	     "launch records_ends");
	count_fields<<<1, 256>>>(records, t->nfields);
	must(cudaGetLastError(), "launch count_fields");
}

/* Finds the ends as entered in state, and compares. */
static bool ends_are_right(struct record_test *t, enum csv_state state, uint32_t nheads,
			   csv_map map)
{
	size_t nbytes = t->view.nbytes;
	uint32_t *wanted = (uint32_t *)malloc((nbytes + 1) * sizeof *wanted);
	uint32_t *wanted_nfields = (uint32_t *)malloc((nbytes + 1) * sizeof *wanted);
	enum csv_state left_in = state;
	uint32_t nends = automaton_run(t, &left_in, wanted, wanted_nfields);
	uint32_t nrecords = nends > nheads ? nends - nheads : 0;
	struct text_faults faults = text_faults_find(&t->dialect, t->text, nbytes, 0, state);

	ends_launch(t, state, nheads);
	uint32_t *seen = host_copy(t->ends, nbytes), *nfields = host_copy(t->nfields, nbytes);
	struct chunk_summary *summary = host_copy(t->summary, 1);
	bool right = summary->nends == nends && csv_map_apply(map, state) == left_in &&
		     summary->nrecords == nrecords && summary->nragged == 0 &&
		     summary->nomitted == 0 && summary->nexceptions == 0 &&
		     summary->first_ragged == UINT32_MAX &&
		     summary->has_stray == (faults.first_stray != SIZE_MAX) &&
		     memcmp(seen, wanted, nends * sizeof *seen) == 0 &&
		     memcmp(nfields, wanted_nfields + nheads, nrecords * sizeof *nfields) == 0 &&
		     device_untouched(t->ends + nends, nbytes - nends) &&
		     device_untouched(t->nseparators + nends, nbytes - nends);
	void *owned[] = {wanted, wanted_nfields, seen, nfields, summary};
	for (void *memory : owned)
		free(memory);
	return right;
}

/* A hostile text of nbytes. calm: without NULs and stray text. */
static void test_records_of(size_t nbytes, char quote, bool calm)
{
	struct record_test t = {};
	uint32_t nlines = 0;

	t.dialect.delimiter = ';';
	t.dialect.quote = quote;
	t.text = (char *)malloc(nbytes);
	random_hostile(t.text, nbytes, ';', quote ? quote : '"');
	if (calm)
		text_faults_remove(&t.dialect, t.text, nbytes);
	for (size_t i = 0; i < nbytes; i++)
		nlines += t.text[i] == '\n';
	/* '\n' is the byte that would do most harm past the end. */
	record_test_open(&t, nbytes, '\n');
	struct chunk_summary *summary = host_copy(t.summary, 1);
	bool right = summary->nlines == nlines &&
		     summary->has_nul == (memchr(t.text, 0, nbytes) != NULL) &&
		     summary->has_quotes == (quote && memchr(t.text, quote, nbytes));
	for (unsigned state = 0; state < CSV_NSTATES; state++)
		right = ends_are_right(&t, (enum csv_state)state, state != CSV_FIELD_START,
				       (csv_map)summary->map) && right;
	ok(right, "records in %zu bytes, from every state, quote %d%s", nbytes, quote,
	   calm ? ", without faults" : "");
	record_test_close(&t);
	free(summary);
	free(t.text);
}

static void test_records(void)
{
	const size_t tile = RECORDS_TILE_NBYTES;
	const size_t sizes[] = {1, 2, 15, 16, 17, 31, 32, 33, 63, 64, 65, tile - 1, tile, tile + 1,
				tile + 17, 2 * tile, 32 * tile, 33 * tile + 5, 70 * tile - 1};

	for (size_t nbytes : sizes) {
		for (unsigned again = 0; again < 3; again++)
			test_records_of(nbytes, '"', again == 1);
		test_records_of(nbytes, '\'', true);
		test_records_of(nbytes, 0, false);
	}
}

/* ---- one fault ---- */

/* Whether records_map and records_ends see `fault` at each place of a text of `filler`, and nothing
 * where it is not. */
static bool fault_is_seen(size_t nbytes, const char *fault, const char *filler, bool nul,
			  bool stray)
{
	struct record_test t = {};
	size_t length = strlen(fault) + nul;
	bool right = true;

	t.text = (char *)malloc(nbytes);
	t.dialect.delimiter = ';';
	t.dialect.quote = '"';
	for (size_t at = 0; at + length <= nbytes && right; at += nbytes < 200 ? 1 : 97) {
		for (size_t i = 0; i < nbytes; i++)
			t.text[i] = filler[i % strlen(filler)];
		memcpy(t.text + at, fault, length);
		record_test_open(&t, nbytes, 0);
		ends_launch(&t, CSV_FIELD_START, 0);
		struct chunk_summary *summary = host_copy(t.summary, 1);
		right = summary->has_nul == nul && summary->has_stray == stray;
		if (!right)
			diag("at %zu", at);
		free(summary);
		record_test_close(&t);
	}
	free(t.text);
	return right;
}

static void test_faults(void)
{
	for (size_t nbytes : {70, 96, 2 * RECORDS_TILE_NBYTES + 33}) {
		ok(fault_is_seen(nbytes, "", "x\n", true, false), "NUL in %zu bytes", nbytes);
		ok(fault_is_seen(nbytes, "\1\200\201", "x\n", false, false),
		   "no NUL in %zu bytes", nbytes);
		ok(fault_is_seen(nbytes, "\n\"a\"x", ";\n", false, true), "stray in %zu bytes",
		   nbytes);
		ok(fault_is_seen(nbytes, "\n\"a\"\rx", ";\n", false, true),
		   "stray CR in %zu bytes", nbytes);
		ok(fault_is_seen(nbytes, "\n\"\"\"\"\r\n\"\";\"\n;\"\n", ";\n", false, false),
		   "none in %zu bytes", nbytes);
	}
}

int main(void)
{
	int ndevices = 0;

	if (cudaGetDeviceCount(&ndevices) != cudaSuccess || ndevices == 0)
		skip_all("no CUDA device");
	plan_lazy();
	test_records();
	test_faults();
	return done();
}
