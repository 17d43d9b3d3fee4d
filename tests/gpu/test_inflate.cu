/* SPDX-License-Identifier: MIT
 *
 * test_inflate.cu - deflate streams of every kind, made by zlib, decoded on the GPU; and damaged ones, beside
 * what zlib says of them.
 *
 * A stream that zlib refuses must be found damaged. One that zlib takes may be refused as well, for the CPU
 * then decodes it; but only if its codes are incomplete, so hardly ever.
 *
 * The rungs of the ladder are tested alike.
 *
 * An argument, any, makes it quick, for the sanitizers.
 */
#include <zlib.h>

#include "kernel_test.cuh"
#include "kernels/ladder/inflate_rung.cuh"

#define NSTREAMS 600
#define TEXT_NBYTES_MAX 65536

static const struct inflate_rung shipped = {"shipped", "", inflate_launch};
static const struct inflate_rung *rung; /* that is tested */
static bool is_quick;

struct streams {
	unsigned char *data;
	char *text; /* as it was packed */
	size_t data_nbytes, text_nbytes;
	struct inflate_stream all[NSTREAMS];
	uint32_t n;
};

static struct streams streams_make(void)
{
	struct streams s = {};

	s.data = (unsigned char *)calloc(NSTREAMS, 2 * TEXT_NBYTES_MAX);
	s.text = (char *)calloc(NSTREAMS, TEXT_NBYTES_MAX);
	if (!s.data || !s.text)
		bail("out of memory");
	return s;
}

static void streams_free(struct streams *s)
{
	free(s->data);
	free(s->text);
}

/* ---- texts ---- */

static void text_random(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text[i] = (char)random_next();
}

static void text_csv(char *text, size_t n)
{
	char line[64];

	for (size_t i = 0; i < n;) {
		int length = snprintf(line, sizeof line, "10.%u.7.%u,GET,\"/item/%u\",%u\n", random_below(256),
				      random_below(256), random_below(1000), random_below(100000));
		for (int j = 0; j < length && i < n; j++)
			text[i++] = line[j];
	}
}

/* Runs of every short period: matches that overlap themselves. */
static void text_runs(char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		unsigned period = 1 + random_below(20), length = 1 + random_below(600);
		size_t begin = i;
		for (unsigned j = 0; j < length && i < n; j++, i++)
			text[i] = i - begin < period ? (char)random_next() : text[i - period];
	}
}

/* Codes of many lengths: byte k is half as likely as byte k - 1. */
static void text_skewed(char *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		text[i] = (char)__builtin_ctzll(random_next() | UINT64_C(1) << 40);
}

static void (*const texts[])(char *text, size_t n) = {text_random, text_csv, text_runs, text_skewed};

static size_t random_length(void)
{
	switch (random_below(4)) {
	case 0:
		return random_below(4);
	case 1:
		return random_below(300);
	case 2:
		return TEXT_NBYTES_MAX;
	default:
		return random_below(TEXT_NBYTES_MAX);
	}
}

/* ---- streams ---- */

/* Packs n bytes of text, flushed now and then, behind what is there. */
static void streams_pack(struct streams *s, const char *text, size_t n, int level, int strategy)
{
	struct inflate_stream *stream = &s->all[s->n++];
	size_t half = random_below(2) ? n / 2 : n;
	z_stream z = {};

	s->data_nbytes += random_below(4); /* streams begin anywhere */
	*stream = {s->data_nbytes, s->text_nbytes, 0, (uint32_t)n,
		   (uint32_t)crc32(0, (const unsigned char *)text, (uInt)n)};
	if (deflateInit2(&z, level, Z_DEFLATED, -15, 1 + (int)random_below(9), strategy) != Z_OK)
		bail("zlib does not begin");
	z.next_out = s->data + s->data_nbytes;
	z.avail_out = 2 * TEXT_NBYTES_MAX;
	z.next_in = (unsigned char *)text;
	z.avail_in = (uInt)half;
	if (half < n && deflate(&z, random_below(2) ? Z_FULL_FLUSH : Z_PARTIAL_FLUSH) != Z_OK)
		bail("zlib does not pack");
	z.avail_in = (uInt)(n - (half < n ? half : 0));
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		bail("zlib does not end");
	stream->nbytes = (uint32_t)z.total_out;
	s->data_nbytes += z.total_out;
	memcpy(s->text + s->text_nbytes, text, n);
	s->text_nbytes += n;
	deflateEnd(&z);
}

static void streams_fill(struct streams *s, int level, int strategy)
{
	static char text[TEXT_NBYTES_MAX];

	for (unsigned i = 0; i < 25; i++) {
		size_t n = random_length();
		texts[i % 4](text, n);
		streams_pack(s, text, n, level, strategy);
	}
}

/* ---- the GPU ---- */

/* Streams on the device. */
static struct inflate_job job_make(const struct streams *s)
{
	struct inflate_job job = {};

	job.data = device_copy(s->data, s->data_nbytes + INFLATE_PAD_NBYTES);
	job.streams = device_copy(s->all, s->n);
	job.nstreams = s->n;
	job.text = device_filled<char>(s->text_nbytes + 64, POISON);
	job.ndamaged = device_filled<uint32_t>(1, 0);
	job.ticket = device_filled<uint32_t>(1, 0);
	return job;
}

static void job_free(struct inflate_job job)
{
	device_free((void *)job.data);
	device_free((void *)job.streams);
	device_free(job.text);
	device_free(job.ndamaged);
	device_free(job.ticket);
}

/* Decodes n streams from the i-th on. Returns how many are damaged; *nwrong: how many have another CRC. */
static uint32_t inflate_some(struct inflate_job job, uint32_t i, uint32_t n, uint32_t *nwrong)
{
	uint32_t ndamaged;

	job.streams += i;
	job.nstreams = n;
	must(cudaMemset(job.ticket, 0, sizeof *job.ticket), "clear");
	must(cudaMemset(job.ndamaged, 0, sizeof *job.ndamaged), "clear");
	must(rung->launch(job, 0), "launch inflate");
	must(cudaMemcpy(&ndamaged, job.ndamaged, sizeof ndamaged, cudaMemcpyDeviceToHost), "inflate");
	must(cudaMemset(job.ndamaged, 0, sizeof *job.ndamaged), "clear");
	must(inflate_check_launch(job, 0), "launch check");
	must(cudaMemcpy(nwrong, job.ndamaged, sizeof *nwrong, cudaMemcpyDeviceToHost), "check");
	return ndamaged;
}

static void test_streams(struct streams *s, const char *name)
{
	struct inflate_job job = job_make(s);
	uint32_t nwrong, ndamaged = inflate_some(job, 0, s->n, &nwrong);
	char *text = host_copy(job.text, s->text_nbytes + 64);
	size_t at = 0;

	while (at < s->text_nbytes && text[at] == s->text[at])
		at++;
	ok(at == s->text_nbytes && ndamaged == 0, "%s, %s: %u streams", rung->name, name, s->n);
	if (at < s->text_nbytes || ndamaged)
		diag("%u are damaged; the text differs at byte %zu of %zu", ndamaged, at, s->text_nbytes);
	ok(nwrong == 0, "... and their CRCs");
	bool beyond = false;
	for (int i = 0; i < 64; i++)
		beyond |= text[s->text_nbytes + i] != (char)POISON;
	ok(!beyond, "... nothing is written behind the text");
	free(text);
	job_free(job);
}

static void test_kinds(void)
{
	static const struct {
		const char *name;
		int level, strategy;
	} kinds[] = {{"stored", 0, Z_DEFAULT_STRATEGY}, {"level 1", 1, Z_DEFAULT_STRATEGY},
		     {"level 6", 6, Z_DEFAULT_STRATEGY}, {"level 9", 9, Z_DEFAULT_STRATEGY},
		     {"fixed codes", 6, Z_FIXED}, {"no matches", 6, Z_HUFFMAN_ONLY}, {"runs", 6, Z_RLE}};

	for (const auto &kind : kinds) {
		struct streams s = streams_make();
		for (int i = 0; i < (is_quick ? 1 : 8); i++)
			streams_fill(&s, kind.level, kind.strategy);
		test_streams(&s, kind.name);
		streams_free(&s);
	}
}

/* ---- damage ---- */

/* Whether zlib decodes the stream to a text of its length and CRC. */
static bool zlib_takes(const struct streams *s, const struct inflate_stream &stream)
{
	static unsigned char text[TEXT_NBYTES_MAX + 1];
	z_stream z = {};

	if (inflateInit2(&z, -15) != Z_OK)
		bail("zlib does not begin");
	z.next_in = s->data + stream.data_offset;
	z.avail_in = stream.nbytes;
	z.next_out = text;
	z.avail_out = sizeof text;
	int result = inflate(&z, Z_FINISH);
	bool takes = result == Z_STREAM_END && z.total_out == stream.text_nbytes &&
		     crc32(0, text, (uInt)z.total_out) == stream.crc;
	inflateEnd(&z);
	return takes;
}

/* Damages each stream somewhere: a bit, a byte, its length, its text's length. */
static void streams_damage(struct streams *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct inflate_stream *stream = &s->all[i];
		unsigned char *at = s->data + stream->data_offset + random_below(stream->nbytes);
		switch (random_below(5)) {
		case 0:
			*at ^= (unsigned char)(1 << random_below(8));
			break;
		case 1:
			*at = (unsigned char)random_next();
			break;
		case 2:
			stream->nbytes = random_below(stream->nbytes + 1);
			break;
		case 3:
			s->data[stream->data_offset] ^= (unsigned char)(1 << random_below(3));
			break;
		default:
			if (stream->text_nbytes > 0)
				stream->text_nbytes--;
		}
	}
}

/* Each stream is good or damaged for both; together with others it changes nothing of their text. */
static void test_damage(void)
{
	for (unsigned round = 0; round < (is_quick ? 1 : asked("GPUSTAT_TEST_CASES", 4)); round++) { /* of 200 streams */
		struct streams s = streams_make();
		uint32_t nwrong, ndiffer = 0, nrefused = 0;
		for (int i = 0; i < (is_quick ? 1 : 8); i++)
			streams_fill(&s, (int)random_below(10), i % 2 ? Z_DEFAULT_STRATEGY : (int)random_below(5));
		streams_damage(&s);
		struct inflate_job job = job_make(&s);
		bool all_damaged = inflate_some(job, 0, s.n, &nwrong) > 0;
		for (uint32_t i = 0; i < s.n; i++) {
			bool takes = inflate_some(job, i, 1, &nwrong) == 0 && nwrong == 0;
			ndiffer += takes != zlib_takes(&s, s.all[i]);
			nrefused += !takes;
		}
		ok(ndiffer == 0 && nrefused > s.n / 2 && all_damaged, "%s, damage: %u of %u are refused, as by zlib",
		   rung->name, nrefused, s.n);
		if (ndiffer)
			diag("%u are refused by one only", ndiffer);
		job_free(job);
		streams_free(&s);
	}
}

int main(int argc, char **argv)
{
	int ndevices = 0;

	(void)argv;
	if (cudaGetDeviceCount(&ndevices) != cudaSuccess || ndevices == 0)
		skip_all("no CUDA device");
	is_quick = argc > 1;
	random_state += asked("GPUSTAT_TEST_SEED", 0);
	for (const struct inflate_rung *r : {&shipped, &inflate_simple, &inflate_lookup, &inflate_shared}) {
		rung = r;
		test_kinds();
		test_damage();
		is_quick = true;
	}
	return done();
}
