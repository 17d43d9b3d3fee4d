/* SPDX-License-Identifier: MIT
 *
 * gzip.h - members of a gzip file (RFC 1952): their headers and trailers, and places in their data.
 */
#ifndef GPUSTAT_GZIP_H
#define GPUSTAT_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "codec/codec.h"
#include "codec/deflate.h"

#define GZIP_TRAILER_NBYTES 8

struct gzip;

struct gzip_header {
	size_t nbytes;
	uint32_t block_nbytes; /* the whole member, by its BGZF subfield; 0 if it has no such subfield */
};

enum gzip_parse {
	GZIP_PARSED,
	GZIP_INCOMPLETE, /* the header goes on behind nbytes */
	GZIP_OTHER,      /* no magic number */
	GZIP_DAMAGED,
};

/* Parses the header that begins at data, of which nbytes are there, and checks its CRC if it has
 * one. *words: at GZIP_DAMAGED, what is wrong. */
enum gzip_parse gzip_parse_header(struct gzip_header *header, const unsigned char *data,
				  size_t nbytes, const char **words);

/* The CRC and the length in a trailer. */
uint32_t gzip_trailer_crc(const unsigned char *trailer);
uint32_t gzip_trailer_nbytes(const unsigned char *trailer);

/* Whether the stream stands between two members. */
bool gzip_is_between(const struct gzip *g);

/* Whether the stream stands in a member's data, and all text before has been delivered: sections.h can go on there. */
bool gzip_is_in_data(const struct gzip *g);

/* Begins with sections, which go on from the feed's first unused byte. False: out of memory. */
struct sections;
bool gzip_split(const struct gzip *g, struct feed *feed, struct sections *sections, size_t section_nbytes);

/* The data has ended: the feed stands behind it. crc, text_nbytes: of the whole member. */
void gzip_end_data(struct gzip *g, uint32_t crc, uint64_t text_nbytes);

/* A place in a member's data at which a decoder can begin: between two blocks, with the text before it. Who decodes
 * elsewhere, as on a GPU, tells by it where a CPU goes on. */
struct member_place {
	off_t position; /* in the file, of the byte that has the next bit ... */
	unsigned bit;   /* ... which is this one of it, 0 to 7 */
	uint64_t text_nbytes; /* of the member before it */
	uint32_t crc;         /* of that text */
	unsigned char window[DEFLATE_WINDOW_NBYTES]; /* its last bytes, at the end */
};

/* Where the data began in the plain file, without text before it; all but the window. Returns false if there is no telling.
 * *text_nbytes: what has been delivered since. */
bool gzip_began(const struct gzip *g, struct member_place *place, uint64_t *text_nbytes);

/* Goes on at a place, where the feed stands. */
void gzip_resume(struct gzip *g, const struct member_place *place);

/* Decodes nbytes of the text, from skip bytes behind the place on, of a plain file's member: what has been decoded
 * before and is wanted again. Any thread. Errors: STATUS_NO_MEMORY; STATUS_READ; STATUS_DAMAGED, if the file has
 * changed. */
enum status member_place_read(const struct member_place *p, int fd, uint64_t skip, void *to, size_t nbytes,
			      struct fault *fault);

#endif
