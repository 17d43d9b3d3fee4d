/* SPDX-License-Identifier: MIT
 *
 * test_block_ahead.c - blocks that threads find ahead are those that a walk from the first one finds, also where the text
 * of blocks has what looks like blocks.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec/gzip.c" /* for PROOF_NBLOCKS */
#include "unit/tap.h"

#define FILE_NBYTES_MAX ((size_t)4 << 20)
#define STORED_NBYTES 31 /* of a block, besides its text: header, stored block's header, trailer */
#define NEXT_NBYTES 100  /* of text: make_hostile_text */

static unsigned char file[FILE_NBYTES_MAX], text[BGZF_BLOCK_NBYTES];
static size_t file_nbytes;
static unsigned nfull; /* batches that were full without a walk from block to block */
static uint64_t state = 1;
static const unsigned char header[18] = {31, 139, 8, 4, 0, 0, 0, 0, 0, 255, 6, 0, 'B', 'C', 2, 0, 0, 0};

static unsigned below(unsigned n)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(state >> 33) % n;
}

static void put(unsigned char *to, uint32_t x, int nbytes)
{
	for (int i = 0; i < nbytes; i++)
		to[i] = (unsigned char)(x >> 8 * i);
}

/* Writes a block whose text is stored as it is; returns its length. */
static size_t put_block(unsigned char *to, const unsigned char *data, size_t nbytes)
{
	memcpy(to, header, sizeof header);
	put(to + 16, (uint32_t)(nbytes + STORED_NBYTES - 1), 2);
	to[18] = 1;
	put(to + 19, (uint32_t)nbytes, 2);
	put(to + 21, ~(uint32_t)nbytes, 2);
	memcpy(to + 23, data, nbytes);
	put(to + 23 + nbytes, simd()->crc(0, data, nbytes), 4);
	put(to + 27 + nbytes, (uint32_t)nbytes, 4);
	return nbytes + STORED_NBYTES;
}

/* A text of numbers. */
static size_t make_text(void)
{
	size_t n = 1 + below(below(4) ? 9000 : 60);

	for (size_t i = 0; i < n; i++)
		text[i] = (unsigned char)('0' + below(10));
	return n;
}

/* A text of blocks, as many as are decoded before one is believed to begin, or more. The last one goes on to the end
 * of the next block of the file, which has NEXT_NBYTES of text: behind it all is well again. */
static size_t make_hostile_text(void)
{
	size_t used = 0;

	for (unsigned n = 3 + below(9); n > 0; n--)
		used += put_block(text + used, (const unsigned char *)"0,1,2\n3,4,5\n", below(13));
	memcpy(text + used, header, sizeof header);
	put(text + used + 16, sizeof header + GZIP_TRAILER_NBYTES + NEXT_NBYTES + STORED_NBYTES - 1, 2);
	return used + sizeof header;
}

static void add_block(size_t text_nbytes)
{
	file_nbytes += put_block(file + file_nbytes, text, text_nbytes);
}

static int make_file(bool hostile)
{
	char path[] = "/tmp/test_block_ahead.XXXXXX";
	int fd = mkstemp(path);

	for (file_nbytes = 0; file_nbytes < FILE_NBYTES_MAX / 2; add_block(make_text()))
		if (hostile && below(2)) {
			add_block(make_hostile_text());
			add_block(NEXT_NBYTES);
		}
	if (fd < 0 || unlink(path) != 0 || write(fd, file, file_nbytes) != (ssize_t)file_nbytes)
		bail("no temporary file");
	return fd;
}

static struct block_batch batch_of(size_t text_nbytes)
{
	return (struct block_batch){.room_nbytes = 2 * BGZF_BLOCK_NBYTES + text_nbytes, .text_room_nbytes = text_nbytes};
}

/* Waits until the threads have listed every range that they may take now. What a walk then finds depends on the file alone. */
static void settle(struct block_ahead *a)
{
	uint64_t n = a->queue.nreleased + NSLOTS;

	n = n < a->queue.nput ? n : a->queue.nput;
	ordered_queue_await(&a->queue, n, n);
}

/* Walks a batch ahead's way, and the rest of it block by block. Returns the bytes found ahead. */
static off_t walk_ahead(struct block_ahead *a, int fd, off_t *position, off_t end, struct block_batch *batch)
{
	off_t begin = *position, found;
	bool full = block_ahead_walk(a, position, end, batch);

	found = *position - begin;
	nfull += full;
	if (!full && !bgzf_walk(fd, position, end, batch))
		bail("the file cannot be read");
	return found;
}

/* Compares all batches of a file; returns the bytes that were found ahead, or -1. settles: each batch waits for the threads;
 * otherwise the walk and the threads race, and nothing is said of how much is found. */
static off_t compare(int fd, off_t end, off_t range_nbytes, unsigned room_nbytes, bool settles)
{
	struct block_ahead *a = block_ahead_open(fd, 0, end, range_nbytes);
	off_t position = 0, before = -1, wanted = 0, nfound = 0;
	bool same = a != NULL;

	while (same && position != before) {
		size_t room = BGZF_BLOCK_NBYTES + below(room_nbytes);
		struct block_batch seen = batch_of(room), want = batch_of(room);
		before = position;
		if (settles)
			settle(a);
		nfound += walk_ahead(a, fd, &position, end, &seen);
		same = bgzf_walk(fd, &wanted, end, &want) && position == wanted && seen.nbytes == want.nbytes &&
		       seen.text_nbytes == want.text_nbytes;
	}
	block_ahead_close(a);
	return same && position <= end && (end != (off_t)file_nbytes || position == end) ? nfound : -1;
}

static void test_file(bool hostile)
{
	static const off_t ranges[] = {3001, 70000, 262144};
	int fd = make_file(hostile);

	for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
		for (unsigned room = 1; room < 1000000; room *= 30) {
			off_t nfound = compare(fd, (off_t)file_nbytes, ranges[i], room, true);
			ok(nfound >= 0, "%s, ranges of %d, %u: the same blocks", hostile ? "hostile" : "plain", (int)ranges[i],
			   room);
			ok(compare(fd, (off_t)file_nbytes, ranges[i], room, false) >= 0, "and without a wait");
			ok(hostile || i == 0 || nfound > (off_t)file_nbytes / 4, "found ahead, if blocks are short for their range");
		}
	ok(compare(fd, (off_t)file_nbytes - 1234567, 50000, 300000, below(2)) >= 0, "up to the midst of a block");
	if (ftruncate(fd, (off_t)file_nbytes / 2) != 0)
		bail("cannot truncate");
	file_nbytes /= 2;
	ok(compare(fd, INT64_MAX, 50000, 300000, below(2)) >= 0, "a file that is shorter than was said");
	close(fd);
}

/* Ends at once, whatever the threads are at. */
static void test_close(void)
{
	int fd = make_file(false);

	for (int i = 0; i < 100; i++)
		block_ahead_close(block_ahead_open(fd, 0, INT64_MAX, 20000 + i));
	ok(block_ahead_open(fd, 0, 100000, 60000) == NULL, "not for few ranges");
	block_ahead_close(NULL);
	close(fd);
}

int main(void)
{
	plan_lazy();
	test_file(false);
	test_file(true);
	ok(nfull > 0, "%u batches were full without a walk from block to block", nfull);
	test_close();
	return done();
}
