/* SPDX-License-Identifier: MIT
 *
 * member_place.c - see member_place.h.
 */
#include "codec/member_place.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec/codec.h"
#include "codec/inflate.h"

#define PACKED_NBYTES ((size_t)256 << 10)

/* A decoder that reads. */
struct place_reader {
	void *state; /* of inflate_own */
	int fd;
	off_t position; /* of what is read next */
	unsigned char *packed;
	struct inflate_span span;
};

/* Reads more packed bytes behind those that are left, as of a header that was cut. Errors: STATUS_READ;
 * STATUS_DAMAGED if the file ends first. */
static enum status read_more(struct place_reader *r, struct fault *fault)
{
	size_t nleft = r->span.in_nbytes;
	ssize_t n;

	if (nleft > 0)
		memmove(r->packed, r->span.in, nleft);
	do
		n = pread(r->fd, r->packed + nleft, PACKED_NBYTES - nleft, r->position);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fault_set(fault, STATUS_READ, errno, NULL);
	if (n == 0)
		return codec_fault(fault, STATUS_DAMAGED, &codec_gzip, "the file has changed");
	r->span.in = r->packed;
	r->span.in_nbytes = nleft + (size_t)n;
	r->position += n;
	return STATUS_OK;
}

/* Decodes the next nbytes to `to`. */
static enum status read_text(struct place_reader *r, unsigned char *to, size_t nbytes, struct fault *fault)
{
	enum status status = STATUS_OK;

	r->span.out = to;
	r->span.out_nbytes = nbytes;
	while (status == STATUS_OK && r->span.out_nbytes > 0) {
		enum inflate_result result = inflate_own.run(r->state, &r->span);
		if (r->span.out_nbytes > 0 && result != INFLATE_GOES_ON)
			return codec_fault(fault, STATUS_DAMAGED, &codec_gzip, "the file has changed");
		if (r->span.out_nbytes > 0)
			status = read_more(r, fault);
	}
	return status;
}

/* Decodes what is skipped to the same memory again and again. */
static enum status skip_text(struct place_reader *r, uint64_t skip, unsigned char *to, size_t room, struct fault *fault)
{
	enum status status = STATUS_OK;

	while (status == STATUS_OK && skip > 0) {
		size_t n = skip < room ? (size_t)skip : room;
		status = read_text(r, to, n, fault);
		skip -= n;
	}
	return status;
}

enum status member_place_read(const struct member_place *p, int fd, uint64_t skip, void *to, size_t nbytes,
			      struct fault *fault)
{
	struct place_reader r = {.fd = fd, .position = p->position};
	enum status status = STATUS_NO_MEMORY;

	if (nbytes == 0)
		return STATUS_OK;
	r.state = inflate_own.open();
	r.packed = malloc(PACKED_NBYTES + FEED_PAD_NBYTES);
	if (r.state && r.packed) {
		inflate_own_resume(r.state, p);
		status = skip_text(&r, skip, to, nbytes, fault);
		if (status == STATUS_OK)
			status = read_text(&r, to, nbytes, fault);
	} else
		fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (r.state)
		inflate_own.close(r.state);
	free(r.packed);
	return status;
}
