/* SPDX-License-Identifier: MIT
 *
 * gzip.h - a stream of gzip members (RFC 1952), every one checked.
 *
 * It takes compressed bytes from a feed and never reads: whoever calls it decides whether
 * to wait. One thread at a time.
 */
#ifndef GPUSTAT_GZIP_H
#define GPUSTAT_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/feed.h"
#include "codec/inflate.h"
#include "base/status.h"

struct gzip;

/* A member's header, as far as anyone wants to know. */
struct gzip_header {
	size_t nbytes;
	uint32_t block_nbytes; /* of the whole member, as a BGZF block says it; 0: not said */
};

enum gzip_parse { GZIP_PARSED, GZIP_INCOMPLETE, GZIP_DAMAGED };

#define GZIP_TRAILER_NBYTES 8

/* Whether data, the first nbytes of a file, begins a gzip member. */
bool gzip_is_magic(const unsigned char *data, size_t nbytes);

/* Reads the header of a member that begins with data, nbytes of it being there; its CRC,
 * if it has one, is checked with ops. *words: what is damaged. */
enum gzip_parse gzip_parse_header(struct gzip_header *header, const unsigned char *data,
				  size_t nbytes, const struct inflate_ops *ops,
				  const char **words);

/* The trailer's CRC and length. */
uint32_t gzip_trailer_crc(const unsigned char *trailer);
uint32_t gzip_trailer_nbytes(const unsigned char *trailer);

/* NULL: no memory. */
struct gzip *gzip_open(void);
void gzip_close(struct gzip *g);

/* Whether the next byte of the feed begins a member, if there is one. */
bool gzip_is_between(const struct gzip *g);

/* Inflates up to capacity bytes into to; *nbytes of them, also where it fails. Returns at
 * the end of each member, whose CRC and length were right.
 * Errors: STATUS_NO_MEMORY, STATUS_GZIP_DATA (damage, wrong CRC or length),
 * STATUS_GZIP_TRUNCATED, STATUS_GZIP_TRAILING (bytes that begin no further member). */
enum status gzip_step(struct gzip *g, struct feed *feed, unsigned char *to, size_t capacity,
		      size_t *nbytes, enum step *step, struct fault *fault);

#endif
