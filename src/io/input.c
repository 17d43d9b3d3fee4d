/* SPDX-License-Identifier: MIT
 *
 * input.c - see input.h.
 *
 * A file in hand is in one of two modes. Ranged: a plain regular file; a chunk is an
 * offset and a length, handed out under the lock and read with pread outside it. Its
 * size is taken when it is opened; what is appended later is not read, and a file that
 * turns out shorter is an error. Streamed: everything else; reading happens under the
 * lock, in order, and so does cutting blocks of BGZF, but not inflating them.
 */
#include "io/input.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/passed.h"
#include "io/shared_file.h"
#include "io/source.h"
#include "codec/unpacker.h"

/* A chunk read from a pipe, or a quarter of what the worker has room for, if that is more: as
 * much as cat writes at once. The kernel locks the pipe while it copies, so long reads keep the
 * writer waiting; 200 MB of logs took 1.24 times as long as reading alone with chunks of 512
 * KiB, 1.03 to 1.09 with these, 1.3 with half of these (two cores, 2026-11-21). */
#define PIPE_CHUNK_NBYTES ((size_t)128 << 10)

struct input {
	const char *const *paths;
	int npaths;

	pthread_mutex_t lock;  /* guards all below */
	int file;              /* the one in hand; npaths: all done */
	bool open;             /* it was opened, and its end was not taken */
	struct source source;
	struct passed passed;
	struct ranged *ranged; /* NULL: streamed. Its users: this, and each worker that reads. */
	off_t position, end;   /* ranged: next byte to hand out, and the file's end */
	bool fresh;            /* no chunk of this file was taken yet */
	uint64_t offset_bytes; /* of the next byte in the whole input, decompressed */
	uint64_t line;         /* of the file's first byte that is not skipped */
	uint64_t index;        /* of the next chunk */
	bool prompt;           /* wait for no byte while there are others to work on */
	atomic_bool stopped;   /* set without the lock: its holder may wait for a pipe */
	struct unpackers unpackers; /* with a lock of their own, for the same reason */

	char *header; /* what later files may repeat; NULL: nothing */
	size_t header_nbytes;
	bool header_required;
};

const char *input_name(const struct input *in, int file)
{
	return strcmp(in->paths[file], "-") ? in->paths[file] : "<stdin>";
}

int input_file(const struct input *in)
{
	return in->file;
}

static enum status fail(const struct input *in, struct fault *fault, enum status status)
{
	fault_set(fault, status, 0, NULL);
	fault->file = input_name(in, in->file);
	return status;
}

/* ---- a repeated header ---- */

/* Takes nbytes peeked bytes out of the stream. */
static void skip(struct input *in, size_t nbytes)
{
	const char *data = in->source.data + in->source.begin;

	for (size_t i = 0; i < nbytes; i++)
		in->line += data[i] == '\n';
	in->source.begin += nbytes;
	in->offset_bytes += nbytes;
}

static enum status skip_repeated_header(struct input *in, struct fault *fault)
{
	enum status status = STATUS_OK;
	size_t nbytes;
	bool blank;

	if (!in->header)
		return STATUS_OK;
	nbytes = source_find_line(&in->source, in->header, in->header_nbytes, &blank, &status,
				  fault);
	if (status == STATUS_OK && nbytes == 0 && !blank && in->header_required) {
		fail(in, fault, STATUS_HEADER_DIFFERS);
		fault->line = 1;
		return STATUS_HEADER_DIFFERS;
	}
	if (status == STATUS_OK)
		skip(in, nbytes);
	return status;
}

/* ---- opening ---- */

/* Opens in->file. It stays streamed until the header has been seen: the first input_read_chunk
 * makes it ranged if it can be. */
static enum status open_file(struct input *in, struct fault *fault)
{
	size_t nskipped;
	enum status status;

	in->fresh = in->open = true;
	in->line = 1;
	if (passed_take(&in->passed, in->file, &in->source, &in->offset_bytes))
		return STATUS_OK;
	status = source_open(&in->source, in->paths[in->file], &nskipped, fault);
	in->offset_bytes += nskipped;
	return status == STATUS_OK ? skip_repeated_header(in, fault) : status;
}

/* Whether a file's size can be trusted: files of /proc and /sys have a false one, and no blocks. */
static bool has_ranges(const struct stat *st)
{
	return S_ISREG(st->st_mode) && st->st_size > 0 && st->st_blocks > 0;
}

/* Drops what was peeked at and makes the file ranged, if it is one that can be. Standard input is
 * left at its end, as if it were read: if it is named again, or somebody else's next, nothing of it
 * is there twice. */
static enum status become_ranged(struct input *in, struct fault *fault)
{
	struct source *s = &in->source;
	struct stat st;
	off_t now = lseek(s->fd, 0, SEEK_CUR);

	if (s->packed || now < 0 || fstat(s->fd, &st) || !has_ranges(&st))
		return STATUS_OK;
	in->ranged = ranged_make(s->fd);
	if (!in->ranged)
		return fail(in, fault, STATUS_NO_MEMORY);
	in->position = now - (off_t)(s->end - s->begin);
	in->end = st.st_size > in->position ? st.st_size : in->position;
	if (s->fd == STDIN_FILENO)
		lseek(s->fd, in->end, SEEK_SET);
	s->begin = s->end = 0;
	return STATUS_OK;
}

static void close_file(struct input *in)
{
	if (in->ranged) {
		ranged_release(in->ranged);
		in->source.fd = -1; /* whoever uses the range last closes it */
	}
	in->ranged = NULL;
	source_close(&in->source);
	in->open = false;
}

enum status input_open(struct input **out, const char *const *paths, int npaths,
		       struct fault *fault)
{
	struct input *in = calloc(1, sizeof *in);
	enum status status;

	if (!in)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	in->paths = paths;
	in->npaths = npaths;
	in->source.fd = -1;
	pthread_mutex_init(&in->lock, NULL);
	unpackers_init(&in->unpackers);
	status = open_file(in, fault);
	if (status == STATUS_OK)
		*out = in;
	else
		input_close(in);
	return status;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	close_file(in);
	source_free(&in->source);
	passed_free(&in->passed);
	pthread_mutex_destroy(&in->lock);
	unpackers_free(&in->unpackers);
	free(in->header);
	free(in);
}

/* ---- the first record ---- */

enum status input_peek(struct input *in, const char **data, size_t *nbytes, bool *at_end,
		       struct fault *fault)
{
	enum status status = source_peek(&in->source, *nbytes + 1, fault);

	*data = source_peeked(&in->source, 0, nbytes);
	while (status == STATUS_OK && *nbytes == 0 && input_has_more_files(in)) {
		status = input_pass(in, fault); /* empty: the stream begins in the next one */
		if (status == STATUS_OK)
			status = source_peek(&in->source, 1, fault);
		*data = source_peeked(&in->source, 0, nbytes);
	}
	*at_end = in->source.at_end;
	return status;
}

const char *input_peeked(const struct input *in, size_t *nbytes)
{
	return source_peeked(&in->source, 0, nbytes);
}

bool input_has_more_files(const struct input *in)
{
	return in->file + 1 < in->npaths;
}

enum status input_pass(struct input *in, struct fault *fault)
{
	size_t nbytes = in->source.end - in->source.begin;
	enum status status = passed_keep(&in->passed, in->file, &in->source, in->offset_bytes, fault);

	if (status != STATUS_OK)
		return status;
	in->offset_bytes += nbytes;
	in->file++;
	return open_file(in, fault);
}

enum status input_go_back(struct input *in, struct fault *fault)
{
	int file = in->file;

	if (in->passed.nfiles == 0)
		return STATUS_OK;
	in->file = in->passed.first;
	in->open = false;
	return passed_keep(&in->passed, file, &in->source, in->offset_bytes, fault);
}

void input_forget(struct input *in)
{
	passed_free(&in->passed);
}

void input_skip(struct input *in, size_t nbytes)
{
	skip(in, nbytes);
}

enum status input_expect_header(struct input *in, const char *header, size_t nbytes,
				bool required)
{
	in->header = malloc(nbytes + 1);
	if (!in->header)
		return STATUS_NO_MEMORY;
	memcpy(in->header, header, nbytes);
	in->header_nbytes = nbytes;
	in->header_required = required;
	return STATUS_OK;
}

uint64_t input_nbytes_left(const struct input *in)
{
	uint64_t total = 0;
	struct stat st;

	if (in->source.packed)
		return UINT64_MAX;
	for (int i = in->file; i < in->npaths; i++) {
		bool in_hand = i == in->file, later_stdin = !in_hand && !strcmp(in->paths[i], "-");
		int failed = in_hand ? fstat(in->source.fd, &st) : stat(in->paths[i], &st);
		if (failed || later_stdin || !has_ranges(&st))
			return UINT64_MAX;
		total += (uint64_t)st.st_size;
	}
	return total;
}

bool input_has_thread(const struct input *in)
{
	return in->source.packed && ahead_has_thread(in->source.packed);
}

/* ---- chunks ---- */

void input_stop(struct input *in)
{
	in->stopped = true;
}

void input_be_prompt(struct input *in)
{
	in->prompt = true;
}

/* What remains to be done for a chunk without the lock: one of the two at most. */
struct errand {
	struct ranged *ranged; /* to be read at position */
	off_t position;
	struct unpacker *unpacker; /* to be inflated */
};

/* Takes what was peeked at, then reads until the chunk is full, the file ends, blocks come that
 * the next chunk's worker inflates, or (prompt) the next byte would have to be waited for. */
static enum status fill_streamed(struct source *s, struct chunk *chunk, size_t capacity,
				 bool prompt, struct fault *fault)
{
	size_t n;
	const char *peeked = source_peeked(s, 0, &n);
	enum status status = STATUS_OK;

	chunk->nbytes = n < capacity ? n : capacity;
	if (chunk->nbytes)
		memcpy(chunk->data, peeked, chunk->nbytes);
	s->begin += chunk->nbytes;
	while (status == STATUS_OK && chunk->nbytes < capacity && !s->at_end) {
		if (chunk->nbytes && (source_has_blocks(s) || (prompt && !source_is_ready(s))))
			break;
		status = source_read(s, chunk->data + chunk->nbytes, capacity - chunk->nbytes, &n,
				     fault);
		chunk->nbytes += n;
	}
	chunk->last_of_file = s->at_end && s->begin == s->end;
	return status;
}

/* Takes blocks, if such are next, for the worker to inflate; a file that has them says how much
 * text they are. Otherwise *unpacker is NULL. */
static enum status take_blocks(struct input *in, struct chunk *chunk, size_t capacity,
			       struct unpacker **unpacker, struct fault *fault)
{
	struct source *s = &in->source;
	struct unpacker *u;
	enum status status;

	*unpacker = NULL;
	if (!source_has_blocks(s))
		return STATUS_OK;
	u = unpacker_take(&in->unpackers, capacity);
	if (!u)
		return fail(in, fault, STATUS_NO_MEMORY);
	status = source_cut(s, &u->batch, in->prompt, fault);
	chunk->nbytes = u->batch.inflated_nbytes;
	chunk->last_of_file = s->at_end;
	if (u->batch.nbytes)
		*unpacker = u;
	else
		unpacker_give_back(&in->unpackers, u);
	return status;
}

/* Inflates the blocks that were taken. Holds no lock. */
static enum status unpack(struct input *in, struct unpacker *u, const struct chunk *chunk,
			  struct fault *fault)
{
	enum status status = unpacker_run(u, chunk->data, fault);

	unpacker_give_back(&in->unpackers, u);
	if (status != STATUS_OK)
		fault->file = input_name(in, chunk->file);
	return status;
}

/* Hands out the next range; returns where in the file it is. */
static off_t take_range(struct input *in, struct chunk *chunk, size_t capacity)
{
	off_t position = in->position, left = in->end - position;

	chunk->nbytes = left < (off_t)capacity ? (size_t)left : capacity;
	in->position += (off_t)chunk->nbytes;
	chunk->last_of_file = in->position == in->end;
	ranged_add_user(in->ranged);
	return position;
}

/* Reads a range that was handed out. Holds no lock. */
static enum status read_range(const struct input *in, const struct errand *errand,
			      const struct chunk *chunk, const struct reader *reader,
			      struct fault *fault)
{
	enum status status = ranged_read(errand->ranged, errand->position, chunk, reader, fault);

	ranged_release(errand->ranged);
	if (status != STATUS_OK)
		fault->file = input_name(in, chunk->file);
	return status;
}

/* Gives the chunk its place in the order, and opens what must be opened for it. */
static enum status begin_chunk(struct input *in, char *buffer, struct chunk *chunk,
			       struct fault *fault)
{
	enum status status = !in->open ? open_file(in, fault) : STATUS_OK;

	*chunk = (struct chunk){.data = buffer, .index = in->index++, .file = in->file,
				.offset_bytes = in->offset_bytes, .first_of_file = in->fresh,
				.first_line = in->line};
	if (status == STATUS_OK && in->fresh)
		status = become_ranged(in, fault);
	in->fresh = false;
	return status;
}

/* Moves on from the file in hand if the chunk took the last of it. */
static void end_chunk(struct input *in, const struct chunk *chunk)
{
	in->offset_bytes += chunk->nbytes;
	if (!chunk->last_of_file)
		return;
	close_file(in);
	in->file++;
}

/* How long a chunk should become where up to capacity fit. */
static size_t streamed_capacity(const struct source *s, size_t capacity)
{
	if (s->packed || capacity <= PIPE_CHUNK_NBYTES)
		return capacity;
	return capacity / 4 > PIPE_CHUNK_NBYTES ? capacity / 4 : PIPE_CHUNK_NBYTES;
}

/* Under the lock: the part of the chunk's making that must be done in order. */
static enum status take_in_order(struct input *in, struct chunk *chunk, size_t capacity,
				 struct errand *errand, struct fault *fault)
{
	enum status status;

	if (in->ranged) {
		errand->ranged = in->ranged;
		errand->position = take_range(in, chunk, capacity);
		return STATUS_OK;
	}
	status = take_blocks(in, chunk, capacity, &errand->unpacker, fault);
	if (status != STATUS_OK || errand->unpacker || chunk->last_of_file)
		return status;
	return fill_streamed(&in->source, chunk, streamed_capacity(&in->source, capacity),
			     in->prompt, fault);
}

/* The rest of it, beside other workers. */
static enum status finish_chunk(struct input *in, const struct errand *errand,
				const struct chunk *chunk, const struct reader *reader,
				struct fault *fault)
{
	if (errand->ranged)
		return read_range(in, errand, chunk, reader, fault);
	return errand->unpacker ? unpack(in, errand->unpacker, chunk, fault) : STATUS_OK;
}

/* Under the lock. */
static bool is_over(const struct input *in)
{
	return in->stopped || in->file == in->npaths;
}

bool input_is_over(struct input *in)
{
	bool over;

	pthread_mutex_lock(&in->lock);
	over = is_over(in);
	pthread_mutex_unlock(&in->lock);
	return over;
}

bool input_read_chunk(struct input *in, const struct reader *reader, struct chunk *chunk,
		enum status *status, struct fault *fault)
{
	struct errand errand = {0};

	pthread_mutex_lock(&in->lock);
	if (is_over(in)) {
		pthread_mutex_unlock(&in->lock);
		return false;
	}
	*status = begin_chunk(in, reader->buffer.data, chunk, fault);
	if (*status == STATUS_OK)
		*status = take_in_order(in, chunk, reader->buffer.nbytes, &errand, fault);
	if (*status != STATUS_OK)
		input_stop(in);
	end_chunk(in, chunk);
	pthread_mutex_unlock(&in->lock);
	if (*status == STATUS_OK)
		*status = finish_chunk(in, &errand, chunk, reader, fault);
	if (*status != STATUS_OK)
		input_stop(in);
	return true;
}
