/* SPDX-License-Identifier: MIT
 *
 * test_member.cu - long deflate streams of every kind, made by zlib, decoded in sections on the GPU; and damaged
 * ones, beside what zlib makes of them.
 *
 * What is decoded must be the beginning of zlib's text, and all of it where the stream's end is reported. A good
 * stream must be decoded to its end, but for one whose blocks are longer than a batch.
 *
 * An argument, any, makes it quick, for the sanitizers.
 */
#include <zlib.h>

#include "kernel_test.cuh"
#include "kernels/codec/member.cuh"

#define TEXT_NBYTES ((size_t)1 << 20)
#define CAPACITY_NBYTES ((uint32_t)192 << 10)
#define TEXT_ROOM_NBYTES (8 * (size_t)CAPACITY_NBYTES)

static bool is_quick;
static struct member member;
static char *device_text;

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

/* Copies of what is up to 32 KiB before: windows go through many sections. */
static void text_far(char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t back = 1 + random_below(32768), length = 3 + random_below(300);
		if (i < back || random_below(4) == 0)
			text[i++] = (char)random_next();
		else
			for (size_t j = 0; j < length && i < n; j++, i++)
				text[i] = text[i - back];
	}
}

/* Digits, and now and then a run of one of them, packed a thousand times better. */
static void text_runs(char *text, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t length = random_below(3) ? 1 + random_below(3000) : 50000;
		char digit = (char)('0' + random_below(10));
		for (size_t j = 0; j < length && i < n; j++, i++)
			text[i] = length == 50000 ? digit : (char)('0' + random_below(10));
	}
}

/* ---- streams ---- */

struct stream {
	char *text;
	unsigned char *data;
	size_t text_nbytes, nbytes;
};

static void stream_free(struct stream *s)
{
	free(s->text);
	free(s->data);
}

/* Packs a text of n bytes, flushed so every flush_nbytes. */
static struct stream stream_make(void (*fill)(char *text, size_t n), size_t n, int level, int memory, int strategy,
				 size_t flush_nbytes, int flush)
{
	struct stream s = {(char *)malloc(n + 1), NULL, n, 0};
	size_t room = n + n / 8 + n / flush_nbytes * 64 + 1024;
	z_stream z = {};

	s.data = (unsigned char *)calloc(1, room);
	if (!s.text || !s.data || deflateInit2(&z, level, Z_DEFLATED, -15, memory, strategy) != Z_OK)
		bail("no stream");
	fill(s.text, n);
	z.next_in = (unsigned char *)s.text;
	z.next_out = s.data;
	z.avail_out = (uInt)room;
	for (size_t at = 0; at < n; at += flush_nbytes) {
		z.avail_in = (uInt)(n - at < flush_nbytes ? n - at : flush_nbytes);
		if (deflate(&z, flush) != Z_OK || z.avail_in)
			bail("zlib does not pack");
	}
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		bail("zlib does not end");
	s.nbytes = z.total_out;
	deflateEnd(&z);
	return s;
}

/* What zlib makes of the data. Returns whether the stream ends; *text: freed by free. */
static bool zlib_decode(const unsigned char *data, size_t nbytes, char **text, size_t *text_nbytes)
{
	size_t room = 4 * TEXT_NBYTES;
	z_stream z = {};

	*text = (char *)malloc(room);
	if (!*text || inflateInit2(&z, -15) != Z_OK)
		bail("zlib does not begin");
	z.next_in = (unsigned char *)data;
	z.avail_in = (uInt)nbytes;
	z.next_out = (unsigned char *)*text;
	z.avail_out = (uInt)room;
	int result = inflate(&z, Z_SYNC_FLUSH);
	*text_nbytes = z.total_out;
	inflateEnd(&z);
	return result == Z_STREAM_END;
}

/* ---- the GPU ---- */

struct outcome {
	char *text;
	size_t nbytes;
	uint64_t end; /* bit of the stream */
	enum member_end how;
	unsigned nbatches;
};

/* Decodes up to the stream's end, or as far as the GPU can. In batches of up to most bytes. */
static struct outcome gpu_decode(const unsigned char *data, size_t nbytes, uint32_t most)
{
	unsigned char *packed = device_filled<unsigned char>(most + 64, POISON);
	struct outcome o = {(char *)malloc(8 * TEXT_NBYTES), 0, 0, MEMBER_GOES_ON, 0};
	struct member_batch b = {};

	member_begin(&member);
	while (o.how == MEMBER_GOES_ON && o.nbatches++ < 10000) {
		size_t first = o.end / 8, n = nbytes - first < most ? nbytes - first : most;
		must(cudaMemcpy(packed, data + first, n, cudaMemcpyHostToDevice), "copy up");
		b.data = {packed, (uint32_t)n};
		b.begin = o.end % 8;
		b.text = device_text;
		b.text_room_nbytes = TEXT_ROOM_NBYTES;
		must(cudaMemset(device_text, POISON, TEXT_ROOM_NBYTES + 64), "poison");
		must(member_decode(&member, &b), "decode");
		if (o.nbytes + b.text_nbytes > 8 * TEXT_NBYTES)
			bail("too much text");
		must(cudaMemcpy(o.text + o.nbytes, device_text, b.text_nbytes, cudaMemcpyDeviceToHost), "copy");
		o.nbytes += b.text_nbytes;
		o.end += b.end - b.begin;
		o.how = b.how;
	}
	device_free(packed);
	return o;
}

/* ---- tests ---- */

static void test_stream(const char *name, struct stream s, bool decodes)
{
	struct outcome o = gpu_decode(s.data, s.nbytes, CAPACITY_NBYTES);
	size_t at = 0;

	while (at < o.nbytes && at < s.text_nbytes && o.text[at] == s.text[at])
		at++;
	if (decodes) {
		ok(o.how == MEMBER_ENDED && at == s.text_nbytes && at == o.nbytes && o.end > s.nbytes * 8 - 8,
		   "%s: %zu bytes of %zu in %u batches", name, s.nbytes, s.text_nbytes, o.nbatches);
		if (o.how != MEMBER_ENDED || at != s.text_nbytes)
			diag("end %d, %zu bytes of text, wrong from %zu on, bit %llu of %zu", o.how, o.nbytes, at,
			     (unsigned long long)o.end, s.nbytes * 8);
	} else {
		ok(o.how == MEMBER_FAILED && at == o.nbytes, "%s: left to the CPU after %zu bytes", name, at);
	}
	ok(member.text_nbytes == o.nbytes &&
		   member.crc == crc32(0, (const unsigned char *)s.text, (uInt)(at == o.nbytes ? at : 0)),
	   "... and its CRC");
	if (at == o.nbytes && at > 0) {
		unsigned char window[SECTION_WINDOW_NBYTES];
		size_t n = at < sizeof window ? at : sizeof window;
		must(member_window(&member, window), "window");
		ok(!memcmp(window + sizeof window - n, s.text + at - n, n), "... and the window behind it");
	}
	free(o.text);
	stream_free(&s);
}

static void test_kinds(void)
{
	static const struct {
		const char *name;
		void (*fill)(char *text, size_t n);
	} texts[] = {{"csv", text_csv}, {"far matches", text_far}, {"runs", text_runs}};
	static const int levels[] = {1, 6, 9};
	size_t n = is_quick ? TEXT_NBYTES / 8 : TEXT_NBYTES;
	char name[80];

	for (const auto &text : texts)
		for (int level : levels) {
			snprintf(name, sizeof name, "%s, level %d", text.name, level);
			test_stream(name, stream_make(text.fill, n, level, 8, Z_DEFAULT_STRATEGY, n, Z_NO_FLUSH),
				    true);
		}
	/* Blocks of 127 symbols: more of them than sections. */
	test_stream("short blocks", stream_make(text_csv, n, 6, 1, Z_DEFAULT_STRATEGY, n, Z_NO_FLUSH), true);
	test_stream("long blocks", stream_make(text_csv, n, 6, 9, Z_DEFAULT_STRATEGY, n, Z_NO_FLUSH), true);
	test_stream("flushed", stream_make(text_csv, n, 6, 8, Z_DEFAULT_STRATEGY, n / 9, Z_SYNC_FLUSH), true);
	test_stream("partly flushed", stream_make(text_csv, n, 6, 8, Z_DEFAULT_STRATEGY, 5000, Z_PARTIAL_FLUSH),
		    true);
	test_stream("reset", stream_make(text_csv, n, 6, 8, Z_DEFAULT_STRATEGY, n / 9, Z_FULL_FLUSH), true);
	test_stream("no matches", stream_make(text_csv, n, 6, 8, Z_HUFFMAN_ONLY, n, Z_NO_FLUSH), true);
	test_stream("fixed codes", stream_make(text_csv, n / 4, 6, 8, Z_FIXED, n, Z_NO_FLUSH), true);
	test_stream("stored", stream_make(text_random, CAPACITY_NBYTES / 2, 6, 8, Z_DEFAULT_STRATEGY, n, Z_NO_FLUSH),
		    true);
	/* No beginning, and longer than a batch. */
	test_stream("fixed, long", stream_make(text_csv, 2 * TEXT_NBYTES, 6, 8, Z_FIXED, 2 * TEXT_NBYTES, Z_NO_FLUSH),
		    true);
}

static void test_lengths(void)
{
	static const size_t lengths[] = {0, 1, 2, 31, 32, 33, 300, 32767, 32768, 32769, 70000};
	char name[80];

	for (size_t n : lengths) {
		snprintf(name, sizeof name, "%zu bytes", n);
		test_stream(name, stream_make(text_csv, n, 6, 8, Z_DEFAULT_STRATEGY, TEXT_NBYTES, Z_NO_FLUSH), true);
		test_stream(name, stream_make(text_random, n, 9, 8, Z_DEFAULT_STRATEGY, TEXT_NBYTES, Z_NO_FLUSH),
			    true);
	}
}

/* Batches of any length give the same text: borders fall anywhere. */
static void test_batches(void)
{
	struct stream s = stream_make(text_csv, TEXT_NBYTES / 2, 6, 4, Z_DEFAULT_STRATEGY, TEXT_NBYTES, Z_NO_FLUSH);

	for (int round = 0; round < (is_quick ? 2 : 12); round++) {
		uint32_t most = 20000 + random_below(CAPACITY_NBYTES - 20000);
		struct outcome o = gpu_decode(s.data, s.nbytes, most);
		ok(o.how == MEMBER_ENDED && o.nbytes == s.text_nbytes && !memcmp(o.text, s.text, o.nbytes),
		   "batches of %u bytes: %u", most, o.nbatches);
		free(o.text);
	}
	struct outcome o = gpu_decode(s.data, s.nbytes / 2, CAPACITY_NBYTES);
	ok(o.how == MEMBER_STARVES && !memcmp(o.text, s.text, o.nbytes), "a stream that is cut off starves");
	free(o.text);
	stream_free(&s);
}

/* A stream that goes on as if there were text before it. */
static void test_text_before(void)
{
	struct stream s = stream_make(text_csv, 100000, 6, 1, Z_DEFAULT_STRATEGY, 100000, Z_NO_FLUSH);
	unsigned char *dictionary = (unsigned char *)malloc(32768);
	z_stream z = {};

	memcpy(dictionary, s.text, 32768);
	if (deflateInit2(&z, 6, Z_DEFLATED, -15, 1, Z_DEFAULT_STRATEGY) != Z_OK ||
	    deflateSetDictionary(&z, dictionary, 32768) != Z_OK)
		bail("zlib does not begin");
	z.next_in = (unsigned char *)s.text;
	z.avail_in = 100000;
	z.next_out = s.data;
	z.avail_out = 100000;
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		bail("zlib does not pack");
	struct outcome o = gpu_decode(s.data, z.total_out, CAPACITY_NBYTES);
	ok(o.how == MEMBER_FAILED && o.nbytes == 0, "distances before the stream's beginning are damage");
	deflateEnd(&z);
	free(o.text);
	free(dictionary);
	stream_free(&s);
}

static void test_damage(void)
{
	unsigned nwrong = 0, nended = 0, nrounds = asked("GPUSTAT_TEST_CASES", is_quick ? 4 : 150);

	for (unsigned round = 0; round < nrounds; round++) {
		struct stream s = stream_make(round % 3 ? text_csv : text_far, 60000 + random_below(200000), 6,
					      1 + (int)random_below(8), Z_DEFAULT_STRATEGY, TEXT_NBYTES, Z_NO_FLUSH);
		size_t text_nbytes;
		char *text;
		s.data[random_below((uint32_t)s.nbytes)] ^= (unsigned char)(1 << random_below(8));
		bool ends = zlib_decode(s.data, s.nbytes, &text, &text_nbytes);
		struct outcome o = gpu_decode(s.data, s.nbytes, CAPACITY_NBYTES);
		bool right = o.nbytes <= text_nbytes && !memcmp(o.text, text, o.nbytes);
		if (o.how == MEMBER_ENDED)
			right = right && ends && o.nbytes == text_nbytes;
		else
			right = right && o.how != MEMBER_GOES_ON;
		if (!right)
			diag("round %u: end %d, zlib's %d, %zu bytes, zlib's %zu", round, o.how, ends, o.nbytes,
			     text_nbytes);
		nwrong += !right;
		nended += o.how == MEMBER_ENDED;
		free(o.text);
		free(text);
		stream_free(&s);
	}
	ok(nwrong == 0, "a bit flipped, %u times: what is decoded is what zlib decodes, %u to an end", nrounds, nended);
}

int main(int argc, char **argv)
{
	int ndevices = 0;

	(void)argv;
	if (cudaGetDeviceCount(&ndevices) != cudaSuccess || ndevices == 0)
		skip_all("no CUDA device");
	is_quick = argc > 1;
	random_state += asked("GPUSTAT_TEST_SEED", 0);
	must(member_open(&member, CAPACITY_NBYTES, 0), "open");
	device_text = device_filled<char>(TEXT_ROOM_NBYTES + 64, POISON);
	test_lengths();
	test_kinds();
	test_batches();
	test_text_before();
	test_damage();
	device_free(device_text);
	member_close(&member);
	return done();
}
