/* SPDX-License-Identifier: MIT
 *
 * gzip.h - a stream of gzip members (RFC 1952), every one checked.
 */
#ifndef GPUSTAT_GZIP_H
#define GPUSTAT_GZIP_H

#include <stdbool.h>
#include <stddef.h>

#include "status.h"

struct gzip;

/* Whether data, the first nbytes of a file, begins a gzip member. */
bool gzip_is_magic(const unsigned char *data, size_t nbytes);

/* Makes a reader of the gzip stream that fd delivers. prefix: bytes already read from
 * fd, copied. fd stays the caller's. Errors: STATUS_NO_MEMORY. */
enum status gzip_open(struct gzip **out, int fd, const unsigned char *prefix, size_t prefix_nbytes);

/* Inflates up to capacity bytes into to; *nbytes of them. 0 bytes: the stream has ended,
 * and its last member's CRC and length were right. May return fewer bytes than there
 * are; never waits for input once it has some output.
 * Errors: STATUS_READ, STATUS_NO_MEMORY, STATUS_GZIP_DATA (damage, wrong CRC or length),
 * STATUS_GZIP_TRUNCATED, STATUS_GZIP_TRAILING (bytes that begin no further member). */
enum status gzip_read(struct gzip *g, char *to, size_t capacity, size_t *nbytes,
		      struct fault *fault);

void gzip_close(struct gzip *g);

#endif
