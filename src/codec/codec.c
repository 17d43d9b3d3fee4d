/* SPDX-License-Identifier: MIT
 *
 * codec.c - see codec.h: the table of formats, and feeds.
 */
#include "codec/codec.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

const struct codec *const codecs[] = {&codec_gzip, &codec_zstd, &codec_bzip2, &codec_xz, NULL};

enum codec_match codec_find(const unsigned char *data, size_t nbytes, const struct codec **codec)
{
	enum codec_match found = CODEC_OTHER;

	*codec = NULL;
	for (const struct codec *const *c = codecs; *c && found != CODEC_BEGINS; c++) {
		/* Codecs that are not built in are left to foreign.c, which says what to do; except zstd. */
		bool is_known = (*c)->version || *c == &codec_zstd;
		enum codec_match match = is_known ? (*c)->begins(data, nbytes) : CODEC_OTHER;
		if (match > found) {
			found = match;
			*codec = *c;
		}
	}
	return found;
}

enum codec_match codec_match_magic(const unsigned char *data, size_t nbytes, const char *magic,
				   size_t magic_nbytes)
{
	if (memcmp(data, magic, nbytes < magic_nbytes ? nbytes : magic_nbytes))
		return CODEC_OTHER;
	return nbytes < magic_nbytes ? CODEC_PERHAPS : CODEC_BEGINS;
}

enum status codec_fault(struct fault *fault, enum status status, const struct codec *codec,
			const char *words)
{
	char detail[FAULT_DETAIL_NBYTES];

	snprintf(detail, sizeof detail, "%s data%s%s", codec->name, words ? ": " : "",
		 words ? words : "");
	return fault_set(fault, status, 0, detail);
}

enum status codec_starve(const struct codec *codec, const struct feed *feed, bool inside, enum decode_step *step,
			 struct fault *fault)
{
	*step = feed->at_end ? DECODE_ENDED : DECODE_STARVES;
	return feed->at_end && inside ? codec_fault(fault, STATUS_TRUNCATED, codec, NULL) : STATUS_OK;
}

/* ---- feeds ---- */

void feed_init(struct feed *f, int fd, const void *prefix, size_t nbytes)
{
	f->fd = fd;
	f->wake = -1;
	f->position = -1;
	f->parts = NULL;
	f->stopped = f->at_end = false;
	f->fd_end = -1;
	f->begin = 0;
	f->end = nbytes;
	memset(f->data + sizeof f->data - FEED_PAD_NBYTES, 0, FEED_PAD_NBYTES);
	memcpy(f->data + f->begin, prefix, nbytes);
}

void feed_init_at(struct feed *f, int fd, off_t position)
{
	feed_init(f, fd, "", 0);
	f->position = position;
}

static void drop_part(struct feed *f)
{
	struct feed_part *part = f->parts;

	f->parts = part->next;
	part->release(part);
}

void feed_free(struct feed *f)
{
	while (f->parts)
		drop_part(f);
}

const unsigned char *feed_data(const struct feed *f, size_t *nbytes)
{
	*nbytes = f->end - f->begin;
	return f->data + f->begin;
}

void feed_use(struct feed *f, size_t nbytes)
{
	f->begin += nbytes;
}

void feed_unuse(struct feed *f, size_t nbytes)
{
	f->begin -= nbytes;
}

bool feed_is_full(const struct feed *f)
{
	return f->end - f->begin == FEED_NBYTES;
}

bool feed_is_ready(const struct feed *f)
{
	struct pollfd p = {.fd = f->fd, .events = POLLIN};

	return f->parts || poll(&p, 1, 0) != 0;
}

static int poll_again(struct pollfd *p, nfds_t nfds, int timeout_ms)
{
	int n;

	do
		n = poll(p, nfds, timeout_ms);
	while (n < 0 && errno == EINTR);
	return n;
}

/* Waits for a byte or for wake. A plain file is always ready. */
static void wait_for_byte(struct feed *f)
{
	struct pollfd p[2] = {{.fd = f->fd, .events = POLLIN}, {.fd = f->wake, .events = POLLIN}};

	if (poll_again(p, 2, 0) == 0) {
		f->note_wait(f->note_argument, true);
		poll_again(p, 2, -1);
		f->note_wait(f->note_argument, false);
	}
	f->stopped = p[1].revents != 0;
}

/* Copies bytes of the first part. Returns how many; 0: there is no part. */
static size_t read_part(struct feed *f, void *to, size_t capacity)
{
	struct feed_part *part = f->parts;
	size_t n;

	if (!part)
		return 0;
	n = part->end - part->begin;
	n = n < capacity ? n : capacity;
	memcpy(to, part->data + part->begin, n);
	part->begin += n;
	if (part->begin == part->end)
		drop_part(f);
	return n;
}

/* Reads what is next. *nbytes is 0 at the end, and if wake was readable. */
static enum status read_next(struct feed *f, void *to, size_t capacity, size_t *nbytes,
			     struct fault *fault)
{
	off_t left = f->fd_end < 0 ? INT64_MAX : f->fd_end - lseek(f->fd, 0, SEEK_CUR); /* before the feed's end */
	ssize_t n;

	*nbytes = read_part(f, to, capacity);
	if (*nbytes)
		return STATUS_OK;
	if (left < (off_t)capacity)
		capacity = left > 0 ? (size_t)left : 0;
	do {
		if (f->wake >= 0)
			wait_for_byte(f);
		if (f->stopped)
			return STATUS_OK;
		n = f->position >= 0 ? fd_read_at(f->fd, to, capacity, f->position)
				     : read(f->fd, to, capacity);
		/* With EAGAIN and wake, another reader of the pipe was faster: wait for a byte or wake. */
	} while (n < 0 && f->position < 0 && ((f->wake >= 0 && errno == EAGAIN) || fd_may_retry(f->fd, POLLIN)));
	if (n < 0)
		return fault_set(fault, STATUS_READ, errno, NULL);
	if (f->position >= 0)
		f->position += n;
	else
		fd_note_read(n);
	*nbytes = (size_t)n;
	f->at_end = n == 0;
	return STATUS_OK;
}

enum status feed_more(struct feed *f, struct fault *fault)
{
	size_t n;
	enum status status;

	memmove(f->data, f->data + f->begin, f->end - f->begin);
	f->end -= f->begin;
	f->begin = 0;
	status = read_next(f, f->data + f->end, FEED_NBYTES - f->end, &n, fault);
	f->end += n;
	return status;
}

enum status feed_take(struct feed *f, void *to, size_t capacity, size_t *nbytes,
		      struct fault *fault)
{
	size_t have = f->end - f->begin;

	if (have == 0)
		return read_next(f, to, capacity, nbytes, fault);
	*nbytes = have < capacity ? have : capacity;
	memcpy(to, f->data + f->begin, *nbytes);
	f->begin += *nbytes;
	return STATUS_OK;
}

void feed_give_back_part(struct feed *f, struct feed_part *part)
{
	f->at_end = false;
	part->next = f->parts;
	f->parts = part;
	if (part->begin == part->end)
		drop_part(f);
}

off_t feed_tell(const struct feed *f)
{
	off_t now = f->parts ? -1 : lseek(f->fd, 0, SEEK_CUR);

	return now < 0 ? -1 : now - (off_t)(f->end - f->begin);
}

void feed_end_at(struct feed *f, off_t position)
{
	f->fd_end = position;
}

off_t feed_end(const struct feed *f)
{
	return f->fd_end < 0 ? INT64_MAX : f->fd_end;
}

void feed_seek(struct feed *f, off_t position)
{
	off_t before = lseek(f->fd, 0, SEEK_CUR);

	fd_note_read((ssize_t)(lseek(f->fd, position, SEEK_SET) - before));
	f->begin = f->end = 0;
	f->at_end = false;
}
