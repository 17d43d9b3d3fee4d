/* SPDX-License-Identifier: MIT
 *
 * gzip.h - what gzip.c and bgzf.c share: headers and trailers of members (RFC 1952).
 */
#ifndef GPUSTAT_GZIP_H
#define GPUSTAT_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/codec.h"

#define GZIP_TRAILER_NBYTES 8
#define BGZF_BLOCK_NBYTES 65536 /* the longest block, and its longest text */

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

extern const struct codec_blocks bgzf_blocks;

/* A BGZF block, where it lies. */
struct bgzf_block {
	const unsigned char *data, *trailer; /* deflate data, up to the trailer */
	uint32_t text_nbytes;
};

/* Parses the block that begins at data, of which nbytes are there. Returns its length; 0: there is no whole
 * block. */
size_t bgzf_parse(const unsigned char *data, size_t nbytes, struct bgzf_block *block);

#endif
