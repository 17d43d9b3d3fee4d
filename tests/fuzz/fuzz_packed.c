/* SPDX-License-Identifier: MIT
 *
 * fuzz_packed.c - compressed files: gzip, BGZF, zstd, bzip2 and xz as source.h reads them, with each decoder
 * that inflates, against zlib's own reading of gzip. All must give the same text, or all an error.
 * Then as input.h hands it to several threads that share the decoding, in short chunks and
 * sections: the same text, and the same words for what ends it.
 *
 * Input: a byte, then the file's bytes. If the byte is 'd', the rest is deflate data, and a header
 * and a trailer that fits are put around it, so that damage is not always found by the CRC.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "codec/codec.h"
#include "fuzz.h"
#include "io/input.h"
#include "io/source.h"

#define MAX_FILE_NBYTES (1 << 17)
#define MAX_TEXT_NBYTES ((size_t)1 << 21) /* no more is read, and compared */

#define BOM_NBYTES 3


/* A file's text, or its first MAX_TEXT_NBYTES, and what ends it. */
struct reading {
	unsigned char text[MAX_TEXT_NBYTES + BOM_NBYTES];
	size_t nbytes;
	enum status status;
	char words[FAULT_DETAIL_NBYTES];
	bool packed;
};

static struct reading alone, shared;
static unsigned char expected[MAX_TEXT_NBYTES];

static int file_with(const uint8_t *data, size_t nbytes)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0);
	FUZZ_CHECK(pwrite(fd, data, nbytes, 0) == (ssize_t)nbytes);
	return fd;
}

static void keep_status(struct reading *r, enum status status, const struct fault *fault)
{
	FUZZ_CHECK(status == STATUS_OK || fault->status == status);
	r->status = status;
	r->words[0] = '\0';
	if (status != STATUS_OK)
		memcpy(r->words, fault->detail, sizeof r->words);
}

/* Appends what was peeked at, and all that source_read() gives. */
static enum status read_on(struct source *s, struct reading *r, struct fault *fault)
{
	enum status status = STATUS_OK;
	size_t n;
	const char *peeked = source_peeked(s, 0, &n);

	r->nbytes = n < MAX_TEXT_NBYTES ? n : MAX_TEXT_NBYTES;
	if (r->nbytes)
		memcpy(r->text, peeked, r->nbytes);
	while (status == STATUS_OK && n > 0 && r->nbytes < MAX_TEXT_NBYTES) {
		status = source_read(s, (char *)r->text + r->nbytes, MAX_TEXT_NBYTES - r->nbytes, &n,
				     fault);
		r->nbytes += n;
	}
	return status;
}

static void read_alone(int fd, struct reading *r)
{
	char path[64];
	struct source s = {.path = path};
	struct fault fault = {0};
	enum status status;

	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	r->nbytes = 0;
	status = source_open(&s, &fault);
	r->packed = s.packed != NULL;
	if (status == STATUS_OK)
		status = read_on(&s, r, &fault);
	keep_status(r, status, &fault);
	source_close(&s);
}

/* ---- by several threads ---- */

#define NTHREADS 3
#define MAX_NCHUNKS (1 << 18)

struct sharing {
	struct input *in;
	size_t chunk_nbytes;
	pthread_mutex_t lock; /* guards all below, and struct reading shared */
	size_t nchunks;
	struct kept {
		bool read, failed;
		uint64_t begin, end; /* in the text */
	} chunks[MAX_NCHUNKS]; /* by their index */
};

static struct sharing sharing;

static void keep_chunk(const struct chunk *chunk, enum status status, const struct fault *fault)
{
	struct kept *kept = &sharing.chunks[chunk->index];
	uint64_t begin = chunk->offset_bytes, end = begin + chunk->nbytes;

	FUZZ_CHECK(chunk->index < MAX_NCHUNKS && !kept->read);
	*kept = (struct kept){true, status != STATUS_OK, begin, end};
	sharing.nchunks++;
	if (status != STATUS_OK) {
		FUZZ_CHECK(shared.status == STATUS_OK);
		keep_status(&shared, status, fault);
		return;
	}
	if (end > sizeof shared.text) {
		input_stop(sharing.in);
		end = sizeof shared.text;
	}
	if (begin < end)
		memcpy(shared.text + begin, chunk->data, end - begin);
}

static void *read_chunks(void *unused)
{
	struct section_reader section = {0};
	const struct reader reader = {.buffer = malloc(sharing.chunk_nbytes),
				      .nbytes = sharing.chunk_nbytes, .section = &section};
	struct fault fault = {0};
	struct chunk chunk;
	enum status status;

	FUZZ_CHECK(reader.buffer);
	while (input_read_chunk(sharing.in, &reader, &chunk, &status, &fault)) {
		pthread_mutex_lock(&sharing.lock);
		keep_chunk(&chunk, status, &fault);
		pthread_mutex_unlock(&sharing.lock);
	}
	free(reader.buffer);
	return unused;
}

/* The chunks up to the first that failed must have been read, and follow each other. */
static void join_chunks(void)
{
	uint64_t begin = sharing.chunks[0].begin, end = begin;
	size_t n = 0;

	for (; sharing.chunks[n].read && !sharing.chunks[n].failed; n++) {
		FUZZ_CHECK(sharing.chunks[n].begin == end);
		end = sharing.chunks[n].end;
	}
	shared.nbytes = end - begin < MAX_TEXT_NBYTES ? (size_t)(end - begin) : MAX_TEXT_NBYTES;
	FUZZ_CHECK(n == sharing.nchunks || sharing.chunks[n].failed || shared.nbytes == MAX_TEXT_NBYTES);
	memmove(shared.text, shared.text + begin, shared.nbytes);
}

static void run_threads(void)
{
	pthread_t threads[NTHREADS];

	memset(sharing.chunks, 0, sharing.nchunks * sizeof *sharing.chunks);
	sharing.nchunks = 0;
	pthread_mutex_init(&sharing.lock, NULL);
	for (int i = 0; i < NTHREADS; i++)
		FUZZ_CHECK(pthread_create(&threads[i], NULL, read_chunks, NULL) == 0);
	for (int i = 0; i < NTHREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_mutex_destroy(&sharing.lock);
	join_chunks();
}

/* chosen: any number, which chooses the length of chunks and sections, and of the text before. */
static void read_shared(int fd, uint32_t chosen)
{
	char path[64], number[20];
	const char *paths[] = {path};
	struct fault fault = {0};
	enum status status;

	snprintf(number, sizeof number, "%u", 64 + chosen % 3000);
	setenv(CHUNK_VARIABLE, number, 1);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	shared.nbytes = 0;
	status = input_open(&sharing.in, paths, 1, NTHREADS, &fault);
	unsetenv(CHUNK_VARIABLE);
	keep_status(&shared, status, &fault);
	if (status != STATUS_OK)
		return;
	FUZZ_CHECK(input_share_decoding(sharing.in) == STATUS_OK);
	sharing.chunk_nbytes = 64 + chosen / 3000 % 2000;
	run_threads();
	input_close(sharing.in);
}

static bool is_same_text(const struct reading *a, const struct reading *b)
{
	return a->nbytes == b->nbytes && !memcmp(a->text, b->text, a->nbytes);
}

static void check_shared(int fd, const uint8_t *file, size_t nbytes)
{
	const struct reading *one = &alone;

	read_shared(fd, (uint32_t)crc32(0, file, (uInt)nbytes));
	FUZZ_CHECK(is_same_text(&shared, one));
	if (one->nbytes < MAX_TEXT_NBYTES)
		FUZZ_CHECK(shared.status == one->status && !strcmp(shared.words, one->words));
}

/* ---- against zlib ---- */

/* Whether nothing is left, or zeros behind a member. */
static bool is_padding(const unsigned char *data, size_t nbytes)
{
	size_t n = 0;

	while (n < nbytes && data[n] == '\0')
		n++;
	return n == nbytes;
}

/* Inflates gzip members one after the other with zlib alone. */
static bool read_plainly(const uint8_t *data, size_t nbytes, unsigned char *text, size_t *ntext)
{
	z_stream z = {0};
	int result = Z_STREAM_END;

	FUZZ_CHECK(inflateInit2(&z, 15 + 16) == Z_OK);
	z.next_in = (unsigned char *)data;
	z.avail_in = (unsigned)nbytes;
	z.next_out = text;
	z.avail_out = MAX_TEXT_NBYTES;
	while (result == Z_STREAM_END && !is_padding(z.next_in, z.avail_in)) {
		inflateReset(&z);
		result = inflate(&z, Z_FINISH);
	}
	*ntext = MAX_TEXT_NBYTES - z.avail_out;
	inflateEnd(&z);
	if (*ntext >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) /* which source_open passes over */
		memmove(text, text + 3, *ntext -= 3);
	return result == Z_STREAM_END || (result == Z_BUF_ERROR && z.avail_out == 0);
}

/* Puts a gzip header before and a trailer behind deflate data; returns the length. */
static size_t wrap(const uint8_t *data, size_t nbytes, uint8_t *file)
{
	static const uint8_t header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
	z_stream z = {0};
	uint32_t crc, length;

	FUZZ_CHECK(inflateInit2(&z, -15) == Z_OK);
	z.next_in = (unsigned char *)data;
	z.avail_in = (unsigned)nbytes;
	z.next_out = expected;
	z.avail_out = MAX_TEXT_NBYTES;
	inflate(&z, Z_FINISH);
	nbytes -= z.avail_in;
	length = (uint32_t)(MAX_TEXT_NBYTES - z.avail_out);
	crc = (uint32_t)crc32(0, expected, length);
	inflateEnd(&z);
	memcpy(file, header, sizeof header);
	memcpy(file + 10, data, nbytes);
	memcpy(file + 10 + nbytes, &crc, 4);
	memcpy(file + 14 + nbytes, &length, 4);
	return nbytes + 18;
}

static void check_zlib(const uint8_t *file, size_t nbytes)
{
	const struct reading *r = &alone;
	bool right = r->status == STATUS_OK;
	size_t nexpected;
	bool plainly = read_plainly(file, nbytes, expected, &nexpected);

	/* A block of BGZF can lie about its length, which zlib does not look at. */
	FUZZ_CHECK(plainly || !right);
	FUZZ_CHECK(!right || (nexpected >= r->nbytes && !memcmp(expected, r->text, r->nbytes)));
	if (!memmem(file, nbytes, "BC\2", 3))
		FUZZ_CHECK(plainly == right);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	static uint8_t file[MAX_FILE_NBYTES + 18];
	int fd;

	if (nbytes < 3 || nbytes > MAX_FILE_NBYTES)
		return 0;
	memcpy(file, data + 1, nbytes - 1);
	nbytes = *data == 'd' ? wrap(data + 1, nbytes - 1, file) : nbytes - 1;
	fd = file_with(file, nbytes);
	read_alone(fd, &alone);
	check_shared(fd, file, nbytes);
	if (alone.packed && file[0] == 0x1f && alone.status != STATUS_FOREIGN)
		check_zlib(file, nbytes);
	return 0;
}
