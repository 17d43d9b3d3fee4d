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
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "codec/bgzf.h"
#include "codec/codec.h"
#include "codec/foreign.h"
#include "csv/repeated_header.h"

#define PEEK_NBYTES (64 * 1024)

static bool is_stdin(const struct source *s)
{
	return !strcmp(s->path, "-");
}

const char *source_name(const struct source *s)
{
	if (is_stdin(s))
		return STDIN_NAME;
	return *s->path ? s->path : "''";
}

enum status source_fail(const struct source *s, struct fault *fault, enum status status,
			int error_number)
{
	fault_set(fault, status, error_number, NULL);
	fault->file = source_name(s);
	return status;
}

/* Names the file in a fault that another module has filled. */
static enum status name_fault(const struct source *s, enum status status, struct fault *fault)
{
	if (status != STATUS_OK)
		fault->file = source_name(s);
	return status;
}

/* ---- reading ---- */

static enum status read_fd(struct source *s, char *to, size_t capacity, size_t *nbytes,
			   struct fault *fault)
{
	ssize_t n = fd_read(s->fd, to, capacity);

	if (n < 0)
		return fault_set(fault, STATUS_READ, errno, NULL);
	fd_note_read(n);
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
	status = s->packed ? read_ahead_read(s->packed, to, capacity, nbytes, fault)
			   : read_fd(s, to, capacity, nbytes, fault);
	s->at_end = status == STATUS_OK && *nbytes == 0;
	s->padded = s->at_end && s->packed && read_ahead_is_padded(s->packed);
	if (s->at_end && s->cut.is_made && s->cut.end < UINT64_MAX)
		status = source_read_tail(s, to, capacity, nbytes, fault);
	return name_fault(s, status, fault);
}

bool source_is_ready(struct source *s)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};

	return s->packed ? read_ahead_is_ready(s->packed) : poll(&p, 1, 0) != 0;
}

bool source_has_blocks(const struct source *s)
{
	return s->packed && !s->at_end && s->begin == s->end && read_ahead_has_blocks(s->packed);
}

bool source_leaves_blocks(const struct source *s)
{
	return s->is_plain && s->packed && !s->at_end && read_ahead_expects_blocks(s->packed);
}

enum status source_cut(struct source *s, struct block_batch *batch, bool prompt,
		       struct fault *fault)
{
	enum status status;

	batch->fd = s->is_plain ? s->fd : -1;
	status = read_ahead_cut(s->packed, batch, prompt, &s->at_end, fault);
	s->at_end = s->at_end && !s->cut.tail;
	if (batch->fd >= 0)
		atomic_fetch_add(&s->nusers, 1);
	return name_fault(s, status, fault);
}

bool source_splits(const struct source *s)
{
	return s->packed && !s->at_end && s->begin == s->end && read_ahead_has_sections(s->packed);
}

static bool is_shared(const struct source *s)
{
	return s->shared && (s->is_plain || !s->prompt);
}

static void update_sharing(struct source *s)
{
	if (s->packed)
		read_ahead_share(s->packed, is_shared(s));
}

bool source_has_sections(const struct source *s)
{
	return s->packed && is_shared(s) && s->codec == &codec_gzip;
}

void source_share(struct source *s, bool shared)
{
	s->shared = shared;
	update_sharing(s);
}

void source_set_prompt(struct source *s)
{
	s->prompt = true;
	update_sharing(s);
}

bool source_split(struct source *s, struct sections *sections, size_t section_nbytes)
{
	return read_ahead_split(s->packed, sections, section_nbytes);
}

void source_join(struct source *s, uint32_t crc, uint64_t text_nbytes)
{
	read_ahead_join(s->packed, crc, text_nbytes);
}

bool source_has_long_member(const struct source *s)
{
	return s->is_plain && source_has_sections(s) && !source_leaves_blocks(s);
}

bool source_begin_on_device(struct source *s, const struct device_inflate_ops *ops, struct device_inflate *device)
{
	struct member_place place;
	uint64_t nread;

	s->device_nbytes = 0;
	return read_ahead_began(s->packed, &place, &nread) && ops->begin(device, s->fd, &place, nread);
}

bool source_cut_on_device(struct source *s, const struct device_inflate_ops *ops, struct device_inflate *device,
			  size_t nbytes, struct device_text *text)
{
	if (!ops->cut(device, nbytes, text))
		return false;
	fd_note_read((ssize_t)(text->place->position - s->start - s->device_nbytes));
	s->device_nbytes = text->place->position - s->start;
	return true;
}

bool source_end_on_device(struct source *s, const struct device_inflate_ops *ops, struct device_inflate *device)
{
	struct member_place place;
	bool ended;

	fd_note_read(-(ssize_t)s->device_nbytes); /* read_ahead_resume notes them */
	if (!ops->end(device, &place, &ended))
		return false; /* the decoder still stands where the device was to go on */
	read_ahead_resume(s->packed, &place, ended);
	return ended;
}

/* ---- peeking ---- */

static enum status peek_more(struct source *s, struct fault *fault)
{
	size_t n;
	enum status status;

	if (ARRAY_GROW(s->data, s->capacity, s->end + PEEK_NBYTES) != STATUS_OK)
		return source_fail(s, fault, STATUS_NO_MEMORY, 0);
	status = source_read(s, s->data + s->end, s->capacity - s->end, &n, fault);
	s->end += n;
	return status;
}

const char *source_peeked(const struct source *s, size_t at, size_t *nbytes)
{
	*nbytes = s->end - s->begin - at;
	return s->data ? s->data + s->begin + at : NULL;
}

enum status source_peek(struct source *s, size_t nbytes, struct fault *fault)
{
	enum status status = STATUS_OK;

	while (status == STATUS_OK && s->end - s->begin < nbytes && !s->at_end)
		status = peek_more(s, fault);
	return status;
}

void source_skip(struct source *s, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		s->line += s->data[s->begin + i] == '\n';
	s->begin += nbytes;
	s->nskipped += nbytes;
}

/* Whether the bytes from the one at on are wanted[0 .. nbytes). Reads on only while what is there
 * agrees with it. */
static bool matches(struct source *s, size_t at, const char *wanted, size_t nbytes,
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

/* Whether the file ends before the byte at. Waits for that byte. */
static bool ends(struct source *s, size_t at, enum status *status, struct fault *fault)
{
	*status = source_peek(s, at + 1, fault);
	return *status == STATUS_OK && s->end - s->begin <= at;
}

bool source_begins_with(struct source *s, size_t at, const char *text, enum status *status,
			struct fault *fault)
{
	return matches(s, at, text, strlen(text), status, fault);
}

size_t source_line_end(struct source *s, size_t at, enum status *status, struct fault *fault)
{
	if (matches(s, at, "\n", 1, status, fault))
		return 1;
	if (*status != STATUS_OK || !matches(s, at, "\r", 1, status, fault))
		return 0;
	if (matches(s, at + 1, "\n", 1, status, fault))
		return 2;
	return *status == STATUS_OK && ends(s, at + 1, status, fault);
}

/* Skips all that was peeked at, up to the nlines-th LF at most. Returns the number of LFs. */
static uint64_t skip_peeked_lines(struct source *s, uint64_t nlines)
{
	uint64_t before = s->line;
	size_t nbytes, n = 0;
	const char *data = source_peeked(s, 0, &nbytes);

	for (uint64_t nfound = 0; nfound < nlines && n < nbytes; nfound++) {
		const char *lf = memchr(data + n, '\n', nbytes - n);
		n = lf ? (size_t)(lf - data) + 1 : nbytes;
	}
	source_skip(s, n);
	if (s->begin == s->end)
		s->begin = s->end = 0;
	return s->line - before;
}

enum status source_skip_lines(struct source *s, uint64_t nlines, struct fault *fault)
{
	uint64_t before = s->nskipped, nfound = 0;
	bool has_cr = false; /* one that no LF follows, and no line ends before it */
	char last = '\n';
	size_t nbytes;

	while (nfound < nlines) {
		enum status status = source_peek(s, 1, fault);
		const char *data = source_peeked(s, 0, &nbytes);
		if (status != STATUS_OK)
			return status;
		if (nbytes == 0)
			break;
		has_cr = has_cr || last == '\r' || memchr(data, '\r', nbytes - 1);
		last = data[nbytes - 1];
		nfound += skip_peeked_lines(s, nlines - nfound);
	}
	if (nfound == 0 && has_cr)
		return source_fail(s, fault, STATUS_CR_LINES, 0);
	if (nfound + (last != '\n') < nlines && s->nskipped > before)
		return source_fail(s, fault, STATUS_FEW_LINES, 0);
	return STATUS_OK;
}

/* ---- opening and closing ---- */

/* Whether a short file, which is the beginning of a magic number, is text as well. */
static bool is_printable(const unsigned char *data, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		if (data[i] < ' ' || data[i] > '~')
			return false;
	return true;
}

/* Peeks at more than *nbytes bytes, unless the file ends; *data: all of them. */
static enum status peek_further(struct source *s, const unsigned char **data, size_t *nbytes,
				struct fault *fault)
{
	enum status status = source_peek(s, *nbytes + 1, fault);

	*data = (const unsigned char *)source_peeked(s, 0, nbytes);
	return status;
}

/* Finds the codec and has it decode from the first byte on. */
static enum status begin_decoding(struct source *s, struct fault *fault)
{
	const struct codec *codec;
	const unsigned char *data;
	enum codec_match match;
	enum status status;
	size_t nbytes = 0;

	do {
		TRY(peek_further(s, &data, &nbytes, fault));
		match = codec_find(data, nbytes, &codec);
	} while (match == CODEC_PERHAPS && !s->at_end);
	if (match == CODEC_PERHAPS && !is_printable(data, nbytes))
		return name_fault(s, codec_fault(fault, STATUS_TRUNCATED, codec, NULL), fault);
	if (match != CODEC_BEGINS)
		return STATUS_OK;
	s->codec = codec;
	status = read_ahead_open(&s->packed, codec, s->fd, data, nbytes, s->nthreads, fault);
	s->begin = s->end = 0;
	s->at_end = false;
	if (status == STATUS_OK)
		update_sharing(s);
	return name_fault(s, status, fault);
}

/* Refuses what is no text. */
static enum status refuse_foreign(struct source *s, struct fault *fault)
{
	const struct foreign *foreign;
	const unsigned char *data;
	enum codec_match match;
	enum status status;
	size_t nbytes = 0;

	do {
		TRY(peek_further(s, &data, &nbytes, fault));
		match = foreign_find(data, nbytes, s->at_end, &foreign);
	} while (match == CODEC_PERHAPS);
	if (match != CODEC_BEGINS)
		return STATUS_OK;
	status = foreign_fault(fault, foreign, is_stdin(s) ? "" : s->path, s->codec);
	return name_fault(s, status, fault);
}

/* Whether a file's size can be trusted: /proc and /sys have files with a false one, and no blocks. */
static bool is_plain(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_size > 0 && st->st_blocks > 0;
}

/* Whether the file is what standard output goes to: it would be read as it is written. For one thread at a time. */
static bool is_output(const struct stat *in)
{
	static struct stat out;
	static bool is_known;

	if (!is_known && fstat(STDOUT_FILENO, &out))
		return false;
	is_known = true;
	return S_ISREG(in->st_mode) && in->st_dev == out.st_dev && in->st_ino == out.st_ino;
}

/* Whether a regular file has no byte. Those of /proc have the size 0 as well: only a byte that cannot be read tells, and
 * none is read of one without an end to go back from, where it would be gone. */
static bool has_no_byte(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	char byte;
	bool has_none = fd >= 0 && lseek(fd, 0, SEEK_END) == 0 && pread(fd, &byte, 1, 0) == 0;

	if (fd >= 0)
		close(fd);
	return has_none;
}

void source_look(struct source *s)
{
	struct stat st;
	bool is_there = !is_stdin(s) && stat(s->path, &st) == 0;

	s->is_plain = is_there && is_plain(&st);
	s->is_empty = is_there && S_ISREG(st.st_mode) && st.st_size == 0 && has_no_byte(s->path);
	s->size = s->is_plain ? st.st_size : 0;
}

enum status source_open(struct source *s, struct fault *fault)
{
	enum status status;
	struct stat st;

	s->fd = is_stdin(s) ? STDIN_FILENO : open(s->path, O_RDONLY | O_CLOEXEC);
	if (s->fd < 0)
		return source_fail(s, fault, STATUS_OPEN, errno);
	s->state = SOURCE_OPEN;
	s->line = 1;
	s->nusers = 1;
	if (fstat(s->fd, &st))
		return source_fail(s, fault, STATUS_OPEN, errno);
	if (is_output(&st))
		return source_fail(s, fault, STATUS_IS_OUTPUT, 0);
	s->is_plain = is_plain(&st);
	s->size = st.st_size;
	s->start = is_stdin(s) ? lseek(s->fd, 0, SEEK_CUR) : 0;
	if (S_ISFIFO(st.st_mode))
		fd_widen_pipe(s->fd);
	status = begin_decoding(s, fault);
	if (status == STATUS_OK && matches(s, 0, BYTE_ORDER_MARK, BYTE_ORDER_MARK_NBYTES, &status, fault))
		source_skip(s, BYTE_ORDER_MARK_NBYTES);
	s->is_empty = status == STATUS_OK && !s->codec && s->at_end && s->end == 0;
	return status == STATUS_OK ? refuse_foreign(s, fault) : status;
}

void source_release(struct source *s)
{
	if (atomic_fetch_sub(&s->nusers, 1) == 1 && s->fd > STDIN_FILENO)
		close(s->fd);
}

static void close_file(struct source *s)
{
	read_ahead_close(s->packed);
	s->packed = NULL;
	if (s->state == SOURCE_OPEN)
		source_release(s);
	s->state = SOURCE_CLOSED;
}

void source_close(struct source *s)
{
	close_file(s);
	free(s->data);
	s->data = NULL;
	s->begin = s->end = 0;
	free(s->cut.tail);
	s->cut.tail = NULL;
}

void source_settle(struct source *s)
{
	char *shrunk;

	close_file(s);
	shrunk = realloc(s->data, s->end + 1);
	if (shrunk)
		s->data = shrunk;
}

uint64_t source_nbytes(const struct source *s)
{
	if (s->is_empty)
		return 0;
	return s->state == SOURCE_CLOSED || s->packed || !s->is_plain ? UINT64_MAX : (uint64_t)s->size;
}

uint64_t source_nbytes_stored(const struct source *s)
{
	if (!s->is_plain)
		return s->is_empty ? 0 : UINT64_MAX;
	return (uint64_t)(s->size > s->start ? s->size - s->start : 0);
}

/* ---- a plain file, handed out in ranges, which any thread reads ---- */

void source_make_ranged(struct source *s)
{
	if (s->state != SOURCE_OPEN || s->packed || !s->is_plain)
		return;
	s->ranged = true;
	s->position = s->start + (off_t)s->nskipped; /* all that has been taken of it */
	s->size = s->size > s->position ? s->size : s->position;
	fd_note_read(-(ssize_t)(s->end - s->begin)); /* it is read again */
	s->begin = s->end = 0;
	if (s->fd == STDIN_FILENO)
		lseek(s->fd, s->size, SEEK_SET);
}

size_t source_cut_range(struct source *s, size_t capacity, off_t *position)
{
	off_t left = s->size - s->position;
	size_t nbytes = left < (off_t)capacity ? (size_t)left : capacity;

	*position = s->position;
	s->position += (off_t)nbytes;
	s->at_end = s->position == s->size;
	fd_note_read((ssize_t)nbytes);
	atomic_fetch_add(&s->nusers, 1);
	return nbytes;
}

enum status file_read_range(int fd, off_t position, char *data, size_t nbytes, struct fault *fault)
{
	ssize_t n = fd_read_at(fd, data, nbytes, position);

	if (n < 0)
		return fault_set(fault, STATUS_READ, errno, NULL);
	return (size_t)n < nbytes ? fault_set(fault, STATUS_SHRANK, 0, NULL) : STATUS_OK;
}

enum status source_read_range(struct source *s, off_t position, const struct chunk *chunk,
			      const struct reader *reader, struct fault *fault)
{
	enum status status =
		reader->read ? reader->read(reader->worker, s->fd, position, chunk, fault)
			     : file_read_range(s->fd, position, chunk->data, chunk->nbytes, fault);

	source_release(s);
	return name_fault(s, status, fault);
}

/* ---- a file of blocks, of which only some is read ---- */

/* The stream begins anew with the block in which the cut begins, and ends before the one in which it ends, as if the file
 * ended there. So it is an error if no block ends there: the place was no block's beginning, or the bytes before are no
 * blocks. What is read of the last block is kept. */

/* Keeps what is read of the block in which the cut ends. */
static enum status keep_tail(struct source *s, struct fault *fault)
{
	struct source_cut *cut = &s->cut;
	size_t nbytes = BGZF_PLACE_OFFSET(cut->end);
	struct bgzf_text t;
	bool is_there = false;
	enum status status;

	if (nbytes == 0)
		return STATUS_OK;
	status = bgzf_text_open(&t, s->fd, cut->end - nbytes, fault);
	if (status == STATUS_OK)
		status = bgzf_text_next(&t, &is_there, fault);
	if (status == STATUS_OK && (!is_there || t.nbytes < nbytes))
		status = codec_fault(fault, STATUS_DAMAGED, s->codec, NULL);
	cut->tail = status == STATUS_OK ? malloc(nbytes) : NULL;
	if (cut->tail)
		memcpy(cut->tail, t.data, nbytes);
	else if (status == STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	cut->tail_end = nbytes;
	bgzf_text_close(&t);
	return status;
}

/* Begins decoding with the cut's first block. */
static enum status reopen(struct source *s, struct fault *fault)
{
	const struct source_cut *cut = &s->cut;
	off_t block = BGZF_PLACE_BLOCK(cut->begin);

	read_ahead_close(s->packed);
	s->packed = NULL;
	if (lseek(s->fd, block, SEEK_SET) < 0)
		return fault_set(fault, STATUS_READ, 0, NULL);
	TRY(read_ahead_open(&s->packed, s->codec, s->fd, "", 0, s->nthreads, fault));
	if (cut->end < UINT64_MAX)
		read_ahead_end_at(s->packed, BGZF_PLACE_BLOCK(cut->end));
	source_share(s, s->shared);
	s->begin = s->end = 0;
	s->at_end = s->padded = false;
	return STATUS_OK;
}

/* Leaves out what the first block has before the cut. */
static enum status drop_beginning(struct source *s, struct fault *fault)
{
	size_t nbytes = BGZF_PLACE_OFFSET(s->cut.begin);
	enum status status = source_peek(s, nbytes, fault);

	if (status == STATUS_OK && s->end - s->begin < nbytes)
		status = codec_fault(fault, STATUS_DAMAGED, s->codec, NULL);
	s->begin += status == STATUS_OK ? nbytes : 0;
	return status;
}

enum status source_cut_text(struct source *s, uint64_t begin, uint64_t end, struct fault *fault)
{
	uint64_t first; /* of the first record */
	enum status status;

	if (!bgzf_find_text(s->fd, s->nskipped, &first))
		return name_fault(s, codec_fault(fault, STATUS_DAMAGED, s->codec, NULL), fault);
	begin = begin > first ? begin : first;
	end = end > begin ? end : begin;
	s->cut = (struct source_cut){.is_made = true, .first = first, .begin = begin, .end = end};
	status = end < UINT64_MAX ? keep_tail(s, fault) : STATUS_OK;
	if (status == STATUS_OK)
		status = reopen(s, fault);
	if (status == STATUS_OK)
		status = drop_beginning(s, fault);
	return name_fault(s, status, fault);
}

enum status source_read_tail(struct source *s, char *to, size_t capacity, size_t *nbytes, struct fault *fault)
{
	struct source_cut *cut = &s->cut;

	if (s->padded)
		return codec_fault(fault, STATUS_TRAILING, s->codec, NULL);
	if (!cut->tail)
		return STATUS_OK;
	*nbytes = cut->tail_end - cut->tail_begin < capacity ? cut->tail_end - cut->tail_begin : capacity;
	memcpy(to, cut->tail + cut->tail_begin, *nbytes);
	cut->tail_begin += *nbytes;
	s->at_end = false;
	if (cut->tail_begin == cut->tail_end) {
		free(cut->tail);
		cut->tail = NULL;
	}
	return STATUS_OK;
}
