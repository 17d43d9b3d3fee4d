/* SPDX-License-Identifier: MIT
 *
 * test_member_place.c - the text behind any block's end, decoded again from there on, is zlib's.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "codec/gzip.h"
#include "unit/tap.h"

#define TEXT_NBYTES ((size_t)6 << 20)
#define FRONT_NBYTES 13 /* before the data, in the file */

static unsigned char text[TEXT_NBYTES], packed[FRONT_NBYTES + TEXT_NBYTES], again[TEXT_NBYTES];

static void fill_text(void)
{
	uint64_t state = 1;

	for (size_t i = 0; i < TEXT_NBYTES;) {
		char line[64];
		state = state * 6364136223846793005u + 1442695040888963407u;
		int n = snprintf(line, sizeof line, "10.%u.7.%u,GET,%u\n", (unsigned)(state >> 60), (unsigned)(state >> 56 & 255),
				 (unsigned)(state >> 33));
		for (int j = 0; j < n && i < TEXT_NBYTES; j++)
			text[i++] = (unsigned char)line[j];
	}
}

static size_t pack(void)
{
	z_stream z = {0};

	if (deflateInit2(&z, 6, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		bail("zlib does not begin");
	z.next_in = text;
	z.avail_in = TEXT_NBYTES;
	z.next_out = packed + FRONT_NBYTES;
	z.avail_out = TEXT_NBYTES;
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		bail("zlib does not pack");
	deflateEnd(&z);
	return FRONT_NBYTES + z.total_out;
}

/* The place behind a block of z, which has stopped there. */
static void place_at(struct member_place *p, const z_stream *z)
{
	unsigned nunused = (unsigned)z->data_type & 7; /* bits of the last byte that was taken */
	size_t n;

	memset(p, 0xa5, sizeof *p);
	p->position = (off_t)(FRONT_NBYTES + z->total_in - (nunused > 0));
	p->bit = nunused ? 8 - nunused : 0;
	p->text_nbytes = z->total_out;
	n = p->text_nbytes < DEFLATE_WINDOW_NBYTES ? (size_t)p->text_nbytes : DEFLATE_WINDOW_NBYTES;
	memcpy(p->window + DEFLATE_WINDOW_NBYTES - n, text + z->total_out - n, n);
}

static bool reads(const struct member_place *p, int fd, size_t skip, size_t nbytes)
{
	struct fault fault;

	memset(again, 0xa5, nbytes);
	return member_place_read(p, fd, skip, again, nbytes, &fault) == STATUS_OK &&
	       !memcmp(again, text + p->text_nbytes + skip, nbytes);
}

/* From every block's end: some bytes, all up to the end, and some of the middle. */
static void test_places(int fd, size_t packed_nbytes)
{
	unsigned nplaces = 0, nwrong = 0;
	z_stream z = {0};

	if (inflateInit2(&z, -15) != Z_OK)
		bail("zlib does not begin");
	z.next_in = packed + FRONT_NBYTES;
	z.avail_in = (unsigned)(packed_nbytes - FRONT_NBYTES);
	z.next_out = again;
	z.avail_out = TEXT_NBYTES;
	while (inflate(&z, Z_BLOCK) == Z_OK) {
		struct member_place p;
		size_t left = TEXT_NBYTES - z.total_out;
		unsigned char *next = z.next_out;
		if (!(z.data_type & 128) || z.data_type & 64 || left < 1000)
			continue;
		place_at(&p, &z);
		nwrong += !reads(&p, fd, 0, 1000) || !reads(&p, fd, left - 1000, 1000) ||
			  !reads(&p, fd, left / 3, left / 3) || (nplaces % 16 == 0 && !reads(&p, fd, 0, left));
		nplaces++;
		memcpy(again, text, z.total_out); /* zlib's window */
		z.next_out = next;
	}
	inflateEnd(&z);
	ok(nplaces > 40 && nwrong == 0, "from %u places in %zu packed bytes", nplaces, packed_nbytes);
}

static void test_faults(int fd)
{
	struct member_place p = {.position = FRONT_NBYTES};
	struct fault fault;

	ok(reads(&p, fd, 0, 0), "no bytes");
	ok(reads(&p, fd, 0, TEXT_NBYTES), "all bytes");
	is_int(STATUS_DAMAGED, member_place_read(&p, fd, TEXT_NBYTES - 5, again, 6, &fault),
	       "more than there are: the file has changed");
	is_int(STATUS_READ, member_place_read(&p, -1, 0, again, 1, &fault), "no file");
	if (ftruncate(fd, 5000))
		bail("no file");
	is_int(STATUS_DAMAGED, member_place_read(&p, fd, 0, again, TEXT_NBYTES, &fault), "a file that has become shorter");
}

int main(void)
{
	FILE *f = tmpfile();
	size_t packed_nbytes;

	fill_text();
	packed_nbytes = pack();
	if (!f || fwrite(packed, 1, packed_nbytes, f) != packed_nbytes || fflush(f))
		bail("no file");
	test_places(fileno(f), packed_nbytes);
	test_faults(fileno(f));
	fclose(f);
	return done();
}
