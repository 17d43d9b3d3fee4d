/* SPDX-License-Identifier: MIT
 *
 * test_sections.c - deflate data that threads decode in sections gives zlib's text, and where zlib
 * finds damage, zlib's words behind zlib's text: for many ways to deflate, any number of threads,
 * sections of a thousand bytes and more. argv[1]: the number of streams, half of which are damaged;
 * argv[2]: the seed.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "codec/sections.c" /* for its parts */
#include "tap.h"

#define TEXT_NBYTES ((size_t)1 << 21) /* the longest */
#define NTHREADS_MAX 8
#define PAUSE_NBYTES 10000 /* longer streams take long enough without */
#define PAUSE_US 150
#define NALL 10000 /* from so many damaged streams on, every bit of a small one is flipped, not every fifth */

static uint64_t random_state;

static uint32_t draw(uint32_t below)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (uint32_t)(random_state >> 32) % below;
}

/* ---- what is decoded ---- */

/* All of a stream's text, or the text before damage and zlib's words for it. */
struct verdict {
	unsigned char text[TEXT_NBYTES];
	size_t nbytes;
	enum status status;
	char words[64];
	size_t rest_nbytes; /* of the input, behind the stream's end */
	uint32_t crc;       /* of all text */
};

static void ask_zlib(struct verdict *v, const unsigned char *data, size_t nbytes)
{
	z_stream z = {.next_in = (unsigned char *)data, .avail_in = (uInt)nbytes};
	int result;

	inflateInit2(&z, -15);
	z.next_out = v->text;
	z.avail_out = TEXT_NBYTES;
	result = inflate(&z, Z_SYNC_FLUSH);
	v->nbytes = TEXT_NBYTES - z.avail_out;
	v->rest_nbytes = z.avail_in;
	v->status = result == Z_STREAM_END ? STATUS_OK
		  : result == Z_DATA_ERROR ? STATUS_DAMAGED : STATUS_TRUNCATED;
	snprintf(v->words, sizeof v->words, "%s", z.msg ? z.msg : "");
	v->crc = (uint32_t)crc32(0, v->text, (uInt)v->nbytes);
	inflateEnd(&z);
}

/* A run of threads over one stream; what input.c does, without chunks of other kinds. */
struct run {
	struct sections *sections;
	struct feed feed;
	pthread_mutex_t lock; /* guards the order of sections and text */
	size_t piece_nbytes;
	unsigned pause_us; /* before a turn is passed on, for others to decode ahead of theirs */
	struct verdict *verdict;
};

/* Reads the text that is decoded to its place. */
static void read_text(struct run *r, struct section_decoder *d, size_t at)
{
	size_t left;

	while ((left = section_nbytes_left(d)) > 0) {
		size_t n = left < r->piece_nbytes ? left : r->piece_nbytes;
		if (at + n > TEXT_NBYTES)
			bail("a text of more than %zu bytes", TEXT_NBYTES);
		section_read(r->sections, d, r->verdict->text + at, n);
		at += n;
	}
}

static void end(struct run *r, struct section_decoder *d)
{
	uint64_t text_nbytes;
	size_t nbytes;

	sections_check(r->sections, d, &r->verdict->crc, &text_nbytes);
	if (text_nbytes != r->verdict->nbytes)
		bail("the sections miscount");
	pthread_mutex_lock(&r->lock);
	sections_end(r->sections, d);
	r->verdict->rest_nbytes = 0;
	do {
		unsigned char rest[1000];
		struct fault fault;
		feed_take(&r->feed, rest, sizeof rest, &nbytes, &fault);
		r->verdict->rest_nbytes += nbytes;
	} while (nbytes > 0);
	pthread_mutex_unlock(&r->lock);
}

/* Decodes a section to its end. */
static void finish(struct run *r, struct section_decoder *d)
{
	bool finished = false;

	while (!finished) {
		struct fault fault = {0};
		size_t nbytes, at;
		enum section_result result = section_decode(r->sections, d, &nbytes, &fault);
		if (result == SECTION_VOID) {
			if (section_nbytes_left(d))
				bail("a void section has text");
			return;
		}
		pthread_mutex_lock(&r->lock);
		at = r->verdict->nbytes;
		r->verdict->nbytes += nbytes;
		pthread_mutex_unlock(&r->lock);
		if (result == SECTION_DECODED && r->pause_us)
			usleep(r->pause_us);
		if (result == SECTION_DECODED)
			finished = section_pass(r->sections, d);
		read_text(r, d, at);
		if (result == SECTION_ENDED)
			end(r, d);
		if (result == SECTION_FAILED) {
			r->verdict->status = fault.status;
			snprintf(r->verdict->words, sizeof r->verdict->words, "%.*s", 60, fault.detail);
			sections_stop(r->sections);
		}
		finished = finished || result != SECTION_DECODED;
	}
}

static void *decode(void *argument)
{
	struct run *r = argument;

	for (;;) {
		struct section_decoder *d;
		pthread_mutex_lock(&r->lock);
		if (!sections_are_open(r->sections)) {
			pthread_mutex_unlock(&r->lock);
			return NULL;
		}
		d = sections_cut(r->sections);
		pthread_mutex_unlock(&r->lock);
		if (d) {
			finish(r, d);
			sections_take_back(r->sections, d);
		} else
			sections_wait(r->sections);
	}
}

static int file_with(const unsigned char *data, size_t nbytes)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("test", 0);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, nbytes, 0) != (ssize_t)nbytes)
		bail("no memory file");
	lseek(fd, 0, SEEK_SET);
	return fd;
}

static void ask_sections(struct verdict *v, const unsigned char *data, size_t nbytes, int nthreads,
			 size_t section_nbytes, size_t piece_nbytes)
{
	static struct run r;
	static struct deflate_trunk trunk;
	pthread_t threads[NTHREADS_MAX];

	r = (struct run){.sections = sections_open(), .piece_nbytes = piece_nbytes,
			 .pause_us = nthreads > 1 && nbytes < PAUSE_NBYTES && draw(2) ? PAUSE_US : 0,
			 .verdict = v};
	v->nbytes = 0;
	v->status = STATUS_OK;
	v->words[0] = '\0';
	pthread_mutex_init(&r.lock, NULL);
	feed_init(&r.feed, file_with(data, nbytes), "", 0);
	deflate_begin(&trunk.deflate, data, 0, 0);
	trunk.text_nbytes = trunk.nunread = 0;
	if (!sections_begin(r.sections, &r.feed, &trunk, 0, 0, section_nbytes))
		bail("no memory");
	for (int i = 0; i < nthreads; i++)
		pthread_create(&threads[i], NULL, decode, &r);
	for (int i = 0; i < nthreads; i++)
		pthread_join(threads[i], NULL);
	feed_free(&r.feed);
	sections_close(r.sections);
	pthread_mutex_destroy(&r.lock);
}

/* ---- comparing ---- */

static struct verdict wanted, seen;

static bool agree(void)
{
	return wanted.status == seen.status && wanted.nbytes == seen.nbytes &&
	       memcmp(wanted.text, seen.text, wanted.nbytes) == 0 &&
	       (wanted.status != STATUS_DAMAGED || strstr(seen.words, wanted.words)) &&
	       (wanted.status != STATUS_OK || (wanted.rest_nbytes == seen.rest_nbytes && wanted.crc == seen.crc));
}

static void tell(int nthreads, size_t section_nbytes)
{
	size_t same = 0;

	while (same < wanted.nbytes && same < seen.nbytes && wanted.text[same] == seen.text[same])
		same++;
	diag("%d threads, sections of %zu: zlib: %d '%s', %zu bytes, rest %zu; sections: %d '%s', "
	     "%zu bytes, rest %zu; the first %zu are the same", nthreads, section_nbytes,
	     wanted.status, wanted.words, wanted.nbytes, wanted.rest_nbytes, seen.status,
	     seen.words, seen.nbytes, seen.rest_nbytes, same);
}

static bool check(const unsigned char *data, size_t nbytes, int nthreads, size_t section_nbytes)
{
	bool right;

	ask_sections(&seen, data, nbytes, nthreads, section_nbytes, 1 + draw(5000));
	right = agree();
	if (!right)
		tell(nthreads, section_nbytes);
	return right;
}

/* ---- streams ---- */

struct stream {
	unsigned char data[TEXT_NBYTES + 100000];
	size_t nbytes;
};

/* How zlib deflates: level, strategy, memory (1: blocks of 128 symbols), and after how many bytes it
 * flushes, and how. */
struct manner {
	const char *name;
	int level, strategy, memory;
	size_t flush_nbytes;
	int flush;
};

static const struct manner manners[] = {
	{"level 6, small blocks", 6, Z_DEFAULT_STRATEGY, 1, 0, 0},
	{"level 1, small blocks", 1, Z_DEFAULT_STRATEGY, 2, 0, 0},
	{"level 9", 9, Z_DEFAULT_STRATEGY, 9, 0, 0},
	{"stored", 0, Z_DEFAULT_STRATEGY, 8, 0, 0},
	{"fixed codes", 6, Z_FIXED, 8, 0, 0},
	{"Huffman codes only", 6, Z_HUFFMAN_ONLY, 1, 0, 0},
	{"runs", 6, Z_RLE, 3, 0, 0},
	{"full flushes", 6, Z_DEFAULT_STRATEGY, 4, 3001, Z_FULL_FLUSH},
	{"sync flushes", 6, Z_DEFAULT_STRATEGY, 4, 777, Z_SYNC_FLUSH},
	{"partial flushes", 6, Z_DEFAULT_STRATEGY, 4, 1999, Z_PARTIAL_FLUSH},
	{"blocks", 6, Z_DEFAULT_STRATEGY, 4, 5003, Z_BLOCK},
};
#define NMANNERS (sizeof manners / sizeof manners[0])

static void deflate_text(struct stream *s, const unsigned char *text, size_t nbytes,
			 const struct manner *m)
{
	z_stream z = {0};
	size_t step = m->flush_nbytes ? m->flush_nbytes : nbytes + 1;

	deflateInit2(&z, m->level, Z_DEFLATED, -15, m->memory, m->strategy);
	z.next_out = s->data;
	z.avail_out = sizeof s->data;
	for (size_t at = 0; at <= nbytes; at += step) {
		z.next_in = (unsigned char *)text + at;
		z.avail_in = (uInt)(nbytes - at < step ? nbytes - at : step);
		deflate(&z, nbytes - at < step ? Z_FINISH : m->flush);
	}
	s->nbytes = sizeof s->data - z.avail_out;
	deflateEnd(&z);
}

/* Records with repetitions near and far. */
static size_t make_text(unsigned char *text, size_t nbytes)
{
	size_t n = 0;

	while (n + 100 < nbytes)
		n += (size_t)snprintf((char *)text + n, 100, "%u,%u.%02u,\"name %u\",%s\n",
				      draw(1000000), draw(100000), draw(100), draw(500),
				      draw(3) ? "a text that is the same" : "another one");
	return n;
}

static unsigned char text[TEXT_NBYTES];
static struct stream stream, damaged;

static void check_manner(const struct manner *m)
{
	static const size_t lengths[] = {0, 1, 100, 32768, 33000, 70000, 400000};
	bool right = true;

	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		size_t nbytes = lengths[i] ? make_text(text, lengths[i] + 100) : 0;
		deflate_text(&stream, text, nbytes < lengths[i] ? nbytes : lengths[i], m);
		memcpy(stream.data + stream.nbytes, "behind it", 9);
		ask_zlib(&wanted, stream.data, stream.nbytes + 9);
		for (int nthreads = 1; nthreads <= 4; nthreads++)
			right &= check(stream.data, stream.nbytes + 9, nthreads,
				       SECTION_NBYTES_MIN + draw(draw(2) ? 300 : 50000));
	}
	ok(right, "%s", m->name);
}

/* A stream whose stored text is deflate data: blocks that are none. */
static void check_false_starts(void)
{
	size_t nbytes = make_text(text, 200000);
	bool right = true;

	deflate_text(&stream, text, nbytes, &manners[0]);
	memcpy(text, stream.data, stream.nbytes);
	deflate_text(&stream, text, stream.nbytes, &manners[3]);
	ask_zlib(&wanted, stream.data, stream.nbytes);
	for (int i = 0; i < 20; i++)
		right &= check(stream.data, stream.nbytes, 1 + i % 5, SECTION_NBYTES_MIN + draw(5000));
	ok(right, "deflate data in stored blocks");
}

static void check_long_runs(void)
{
	bool right = true;

	memset(text, 'x', TEXT_NBYTES);
	deflate_text(&stream, text, TEXT_NBYTES - 1, &manners[0]);
	ask_zlib(&wanted, stream.data, stream.nbytes);
	for (int i = 0; i < 6; i++)
		right &= check(stream.data, stream.nbytes, 1 + i % 4, SECTION_NBYTES_MIN + draw(1000));
	ok(right, "a thousand times as much text as data");
}

#define SHORT_RUN_NBYTES 0 /* less than a window: distances may reach too far back */
#define LONG_RUN_NBYTES 36000  /* more: what is guessed can be right */

/* A run of nbytes, then records in short blocks, just enough for two sections. */
static void make_small_stream(size_t nbytes)
{
	memset(text, '7', nbytes);
	for (stream.nbytes = 0; stream.nbytes < 2 * SECTION_NBYTES_MIN + 20;) {
		nbytes += make_text(text + nbytes, 200);
		deflate_text(&stream, text, nbytes, &manners[0]);
	}
}

static void check_every_cut(void)
{
	bool right = true;

	make_small_stream(LONG_RUN_NBYTES);
	for (size_t n = 0; n <= stream.nbytes && right; n++) {
		ask_zlib(&wanted, stream.data, n);
		right = check(stream.data, n, 2 + (int)(n % 2), SECTION_NBYTES_MIN);
	}
	ok(right, "a stream of %zu bytes, cut at every byte", stream.nbytes);
}

static void check_every_bit(size_t run_nbytes, size_t step)
{
	bool right = true;

	make_small_stream(run_nbytes);
	for (size_t bit = 0; bit < stream.nbytes * 8 && right; bit += step) {
		stream.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
		ask_zlib(&wanted, stream.data, stream.nbytes);
		right = check(stream.data, stream.nbytes, 2 + (int)(bit / 8 % 2), SECTION_NBYTES_MIN);
		stream.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
		if (!right)
			diag("bit %zu", bit);
	}
	ok(right, "a stream of %zu bytes, every bit flipped, in steps of %zu", stream.nbytes, step);
}

/* A stop may come between a thread's decision to begin with sections and sections_begin(). */
static void check_stop(void)
{
	static struct deflate_trunk trunk;
	static struct feed feed;
	struct sections *s = sections_open();
	struct section_decoder *d;
	struct fault fault = {0};
	size_t nbytes;

	make_small_stream(LONG_RUN_NBYTES);
	feed_init(&feed, file_with(stream.data, stream.nbytes), "", 0);
	deflate_begin(&trunk.deflate, stream.data, 0, 0);
	sections_stop(s);
	if (!sections_begin(s, &feed, &trunk, 0, 0, SECTION_NBYTES_MIN) || !(d = sections_cut(s)))
		bail("no memory");
	sections_wait(s);
	ok(!sections_are_open(s) && section_decode(s, d, &nbytes, &fault) == SECTION_VOID,
	   "what begins after a stop is void, and nobody waits for it");
	sections_take_back(s, d);
	feed_free(&feed);
	sections_close(s);
}

static void damage(void)
{
	damaged.nbytes = stream.nbytes;
	memcpy(damaged.data, stream.data, stream.nbytes);
	if (draw(4) == 0)
		damaged.nbytes = draw((uint32_t)stream.nbytes + 1);
	for (uint32_t n = draw(4); n > 0 && damaged.nbytes > 0; n--) {
		unsigned char *at = &damaged.data[draw((uint32_t)damaged.nbytes)];
		*at = draw(2) ? (unsigned char)draw(256) : *at ^ (unsigned char)(1u << draw(8));
	}
}

static void check_damage(unsigned long ncases)
{
	unsigned long nwrong = 0, ndamaged = 0;

	for (unsigned long i = 0; i < ncases && nwrong < 10; i++) {
		if (i % 8 == 0) {
			size_t nbytes = make_text(text, 200 + draw(i % 3 ? 5000 : 120000));
			deflate_text(&stream, text, nbytes, &manners[draw(NMANNERS)]);
		}
		damage();
		ask_zlib(&wanted, damaged.data, damaged.nbytes);
		if (wanted.nbytes + 300 > TEXT_NBYTES)
			continue;
		ndamaged += wanted.status != STATUS_OK;
		nwrong += !check(damaged.data, damaged.nbytes, 1 + (int)draw(4),
				 SECTION_NBYTES_MIN + draw(draw(2) ? 200 : 20000));
	}
	ok(nwrong == 0 && ndamaged >= ncases / 4, "%lu streams, %lu of them damaged", ncases, ndamaged);
}

/* A guess counts only at the trunk's own bit, between blocks, behind a whole window. */
static bool settles(uint64_t later, bool in_block, uint64_t text_nbytes)
{
	static struct deflate_trunk trunk;
	const _Atomic uint64_t turn = 0;
	struct section_decoder *d = section_decoder_open();
	struct section *section = section_new();
	bool right;

	section->nbytes = stream.nbytes;
	memcpy(section->data, stream.data, stream.nbytes);
	section->number = 1;
	section_assign(d, section);
	section_guess(d, &turn);
	trunk.text_nbytes = text_nbytes;
	right = section_settle(d, &trunk, d->start + later, in_block);
	if (right != (d->nsymbols > 0) || d->start == UINT64_MAX)
		bail("text without a right guess, or no guess");
	section_release(section);
	free(d);
	return right;
}

static void check_settling(void)
{
	deflate_text(&stream, text, make_text(text, 100000), &manners[0]);
	ok(settles(0, false, DEFLATE_WINDOW_NBYTES), "a right guess counts");
	ok(!settles(1, false, DEFLATE_WINDOW_NBYTES) &&
	   !settles((uint64_t)-1, false, DEFLATE_WINDOW_NBYTES), "not one bit beside the trunk");
	ok(!settles(0, true, DEFLATE_WINDOW_NBYTES), "nor in the midst of a block");
	ok(!settles(0, false, DEFLATE_WINDOW_NBYTES - 1), "nor without a whole window");
}

int main(int argc, char **argv)
{
	unsigned long ncases = argc > 1 ? strtoul(argv[1], NULL, 10) : 1500;

	random_state = 88172645463325252u + (argc > 2 ? strtoull(argv[2], NULL, 10) : 0) * 7919;
	plan(NMANNERS + 7 + 4);
	for (size_t i = 0; i < NMANNERS; i++)
		check_manner(&manners[i]);
	check_settling();
	check_false_starts();
	check_long_runs();
	check_stop();
	check_every_cut();
	check_every_bit(SHORT_RUN_NBYTES, ncases < NALL ? 5 : 1);
	check_every_bit(LONG_RUN_NBYTES, ncases < NALL ? 5 : 1);
	check_damage(ncases);
	return done();
}
