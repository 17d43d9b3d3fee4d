/* SPDX-License-Identifier: MIT
 *
 * source.c - see source.h.
 */
#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PEEK_NBYTES (64 * 1024)
#define PIPE_NBYTES (1024 * 1024) /* as much as an ordinary user may ask for */

static enum status fail(const struct source *s, struct fault *fault, enum status status,
			int error_number)
{
	fault_set(fault, status, error_number, NULL);
	fault->file = s->name;
	return status;
}

/* ---- reading ---- */

static enum status read_fd(struct source *s, char *to, size_t capacity, size_t *nbytes,
			   struct fault *fault)
{
	ssize_t n;

	do
		n = read(s->fd, to, capacity);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return fail(s, fault, STATUS_READ, errno);
	*nbytes = (size_t)n;
	return STATUS_OK;
}

enum status source_read(struct source *s, char *to, size_t capacity, size_t *nbytes,
			struct fault *fault)
{
	enum status status;

	*nbytes = 0;
	if (s->at_end || capacity == 0)
		return STATUS_OK;
	status = s->packed ? ahead_read(s->packed, to, capacity, nbytes, fault)
			 : read_fd(s, to, capacity, nbytes, fault);
	if (status != STATUS_OK)
		fault->file = s->name;
	s->at_end = status == STATUS_OK && *nbytes == 0;
	return status;
}

bool source_has_blocks(const struct source *s)
{
	return s->packed && !s->at_end && s->begin == s->end && ahead_has_blocks(s->packed);
}

enum status source_cut(struct source *s, struct bgzf_batch *batch, bool prompt,
		       struct fault *fault)
{
	enum status status = ahead_cut(s->packed, batch, prompt, &s->at_end, fault);

	if (status != STATUS_OK)
		fault->file = s->name;
	return status;
}

bool source_is_ready(const struct source *s)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};

	if (s->packed)
		return ahead_is_ready(s->packed);
	return poll(&p, 1, 0) != 0;
}

/* ---- peeking ---- */

static enum status peek_more(struct source *s, struct fault *fault)
{
	size_t n;
	enum status status;

	if (s->capacity - s->end < PEEK_NBYTES) {
		size_t capacity = 2 * s->capacity + PEEK_NBYTES;
		char *grown = realloc(s->data, capacity);
		if (!grown)
			return fail(s, fault, STATUS_NO_MEMORY, 0);
		s->data = grown;
		s->capacity = capacity;
	}
	status = source_read(s, s->data + s->end, s->capacity - s->end, &n, fault);
	s->end += n;
	return status;
}

const char *source_peeked(const struct source *s, size_t at, size_t *nbytes)
{
	*nbytes = s->end - s->begin - at;
	return s->data ? s->data + s->begin + at : NULL; /* nothing has been peeked at yet */
}

enum status source_peek(struct source *s, size_t nbytes, struct fault *fault)
{
	enum status status = STATUS_OK;

	while (status == STATUS_OK && s->end - s->begin < nbytes && !s->at_end)
		status = peek_more(s, fault);
	return status;
}

bool source_matches(struct source *s, size_t at, const char *wanted, size_t nbytes,
		    enum status *status, struct fault *fault)
{
	for (;;) {
		size_t have;
		const char *data = source_peeked(s, at, &have);
		if (have && memcmp(data, wanted, have < nbytes ? have : nbytes))
			return false;
		if (have >= nbytes)
			return true;
		if (s->at_end)
			return false;
		*status = source_peek(s, at + have + 1, fault);
		if (*status != STATUS_OK)
			return false;
	}
}

bool source_ends(struct source *s, size_t at, enum status *status, struct fault *fault)
{
	*status = source_peek(s, at + 1, fault);
	return *status == STATUS_OK && s->end - s->begin <= at;
}

/* The length of the line end at the peeked byte at: LF or CRLF, where the file's end
 * stands for LF. 0: another byte, or none. */
static size_t line_end(struct source *s, size_t at, enum status *status, struct fault *fault)
{
	if (source_matches(s, at, "\n", 1, status, fault))
		return 1;
	if (*status != STATUS_OK || !source_matches(s, at, "\r", 1, status, fault))
		return 0;
	if (source_matches(s, at + 1, "\n", 1, status, fault))
		return 2;
	return *status == STATUS_OK && source_ends(s, at + 1, status, fault);
}

size_t source_find_line(struct source *s, const char *wanted, size_t wanted_nbytes, bool *blank,
			enum status *status, struct fault *fault)
{
	size_t at = 0, nbytes;

	do {
		nbytes = line_end(s, at, status, fault);
		at += nbytes;
	} while (nbytes && *status == STATUS_OK);
	*blank = *status == STATUS_OK && source_ends(s, at, status, fault);
	if (*status != STATUS_OK || *blank ||
	    !source_matches(s, at, wanted, wanted_nbytes, status, fault))
		return 0;
	at += wanted_nbytes;
	nbytes = line_end(s, at, status, fault);
	if (nbytes == 0 && *status == STATUS_OK && !source_ends(s, at, status, fault))
		return 0;
	return at + nbytes;
}

/* ---- opening ---- */

/* What was peeked at is compressed: gives it to a reader of that format. */
static enum status begin_ahead(struct source *s, enum decoder_format format, struct fault *fault)
{
	enum status status = ahead_open(&s->packed, format, s->fd, s->data + s->begin,
					s->end - s->begin, fault);

	s->begin = s->end = 0;
	s->at_end = false;
	if (status != STATUS_OK)
		fault->file = s->name;
	return status;
}

/* Whether a frame of zstd is next, or one of those that it skips (RFC 8878, 3.1.1, 3.1.2).
 * No text begins so. */
static bool begins_zstd(struct source *s, enum status *status, struct fault *fault)
{
	if (source_matches(s, 0, "\x28\xb5\x2f\xfd", 4, status, fault))
		return true;
	return *status == STATUS_OK && s->end > s->begin && (s->data[s->begin] & 0xf0) == 0x50 &&
	       source_matches(s, 1, "\x2a\x4d\x18", 3, status, fault);
}

/* What compressed files begin with, for those that are damaged there: taken for text they would be
 * answered. No text is known to begin with any of these but for one bit, nor to be no more than
 * the first `least` bytes of one. Of gzip with its only method. */
static const struct magic {
	const char *bytes;
	size_t nbytes, least;
	enum status damaged, cut;
	const char *damaged_words, *cut_words;
} magics[] = {
	{"\x1f\x8b\x08", 3, 1, STATUS_GZIP_DATA, STATUS_GZIP_TRUNCATED, "damaged magic number", NULL},
	{"\x28\xb5\x2f\xfd", 4, 2, STATUS_READ, STATUS_READ, "corrupt zstd data: damaged magic number",
	 "truncated zstd data"},
};

static bool begins_damaged(struct source *s, const struct magic *m, enum status *status,
			   struct fault *fault)
{
	char like[sizeof "\x28\xb5\x2f\xfd"];

	for (size_t bit = 0; bit < 8 * m->nbytes && *status == STATUS_OK; bit++) {
		memcpy(like, m->bytes, m->nbytes);
		like[bit / 8] ^= (char)(1 << bit % 8);
		if (source_matches(s, 0, like, m->nbytes, status, fault))
			return true;
	}
	return false;
}

/* Whether a beginning of it is all there is. */
static bool is_cut(struct source *s, const struct magic *m, enum status *status,
		   struct fault *fault)
{
	size_t nbytes;

	if (!source_matches(s, 0, m->bytes, m->least, status, fault) || !s->at_end)
		return false;
	nbytes = s->end - s->begin;
	return nbytes < m->nbytes && !memcmp(s->data + s->begin, m->bytes, nbytes);
}

/* The file is not compressed, unless damage says so. */
static enum status refuse_damaged(struct source *s, struct fault *fault)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; status == STATUS_OK && i < sizeof magics / sizeof *magics; i++) {
		const struct magic *m = &magics[i];
		if (begins_damaged(s, m, &status, fault))
			status = fault_set(fault, m->damaged, 0, m->damaged_words);
		else if (status == STATUS_OK && is_cut(s, m, &status, fault))
			status = fault_set(fault, m->cut, 0, m->cut_words);
	}
	if (status != STATUS_OK)
		fault->file = s->name;
	return status;
}

static enum status begin_if_compressed(struct source *s, struct fault *fault)
{
	enum status status = STATUS_OK;

	if (source_matches(s, 0, "\x1f\x8b", 2, &status, fault))
		return begin_ahead(s, DECODER_GZIP, fault);
	if (status == STATUS_OK && begins_zstd(s, &status, fault))
		return begin_ahead(s, DECODER_ZSTD, fault);
	return status == STATUS_OK ? refuse_damaged(s, fault) : status;
}

enum status source_open(struct source *s, const char *path, size_t *nskipped, struct fault *fault)
{
	enum status status;
	bool is_file = strcmp(path, "-") != 0;

	s->name = is_file ? path : "<stdin>";
	s->at_end = false;
	s->begin = s->end = *nskipped = 0;
	s->fd = is_file ? open(path, O_RDONLY | O_CLOEXEC) : STDIN_FILENO;
	if (s->fd < 0)
		return fail(s, fault, STATUS_OPEN, errno);
	fcntl(s->fd, F_SETPIPE_SZ, PIPE_NBYTES); /* fails harmlessly on what is no pipe */
	status = begin_if_compressed(s, fault);
	if (status == STATUS_OK && source_matches(s, 0, "\xef\xbb\xbf", 3, &status, fault))
		s->begin = *nskipped = 3;
	return status;
}

void source_close(struct source *s)
{
	ahead_close(s->packed);
	s->packed = NULL;
	if (s->fd > STDIN_FILENO)
		close(s->fd);
	s->fd = -1;
}

void source_free(struct source *s)
{
	source_close(s);
	free(s->data);
	s->data = NULL;
}
