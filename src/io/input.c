/* SPDX-License-Identifier: MIT
 *
 * input.c - see input.h.
 *
 * Each file is a source, opened when it is peeked at or reached. The current one is read in one of
 * two ways. Ranged, a plain file: a chunk's offset and length are handed out under the lock, and
 * read outside of it. The file's size is taken when it is opened; what is appended later
 * is ignored, and a file that turns out shorter is an error. Streamed, all others: chunks are read
 * in order under the lock. So are blocks cut, but not decoded.
 */
#include "io/input.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "codec/block_pool.h"
#include "io/source.h"

/* A chunk read from a pipe, or a quarter of what the worker has room for if that is more: as much
 * as cat writes at once. The kernel locks the pipe while it copies, so long reads keep the writer
 * waiting. 200 MB of logs took 1.24 times as long as reading alone with chunks of 512 KiB, 1.03 to
 * 1.09 with these, 1.3 with half of these (two cores, 2026-11-21). */
#define PIPE_CHUNK_NBYTES ((size_t)128 << 10)

struct input {
	struct source *sources; /* one for each path */
	int nsources;

	pthread_mutex_t lock;  /* guards all below */
	int file;              /* the current one; nsources: all were read */
	bool begun;            /* a chunk of it was handed out */
	uint64_t offset_bytes; /* of the next byte in the whole input, decompressed */
	uint64_t index;        /* of the next chunk */
	bool prompt;
	atomic_bool stopped;    /* set without the lock: its holder may wait for a pipe */
	struct block_pool pool; /* has a lock of its own for the same reason */

	struct preamble preamble; /* to skip in each file */
	bool has_preamble;

	struct input_headers headers; /* find and place may be NULL */
	const struct plan *plan;      /* of the current file's chunks; NULL: the run's */
};

int input_nfiles(const struct input *in)
{
	return in->nsources;
}

const char *input_name(const struct input *in, int file)
{
	return source_name(&in->sources[file]);
}

bool input_is_padded(const struct input *in, int file)
{
	return in->sources[file].padded;
}

/* ---- opening ---- */

static enum status skip_header(struct input *in, struct source *s, struct fault *fault)
{
	size_t nbytes = 0;
	enum status status = STATUS_OK;

	if (in->headers.find)
		status = in->headers.find(in->headers.context, in, (int)(s - in->sources), &nbytes,
					  fault);
	if (status == STATUS_OK)
		source_skip(s, nbytes);
	return status;
}

/* Opens the source unless it has been opened. */
static enum status open_source(struct input *in, struct source *s, struct fault *fault)
{
	enum status status;

	if (s->state != SOURCE_UNOPENED)
		return STATUS_OK;
	status = source_open(s, fault);
	if (status == STATUS_OK && in->has_preamble)
		status = preamble_skip(&in->preamble, s, fault);
	return status == STATUS_OK ? skip_header(in, s, fault) : status;
}

enum status input_open(struct input **out, const char *const *paths, int npaths, int nthreads,
		       struct fault *fault)
{
	struct input *in = calloc(1, sizeof *in);
	enum status status;

	if (in)
		in->sources = calloc((size_t)npaths, sizeof *in->sources);
	if (!in || !in->sources) {
		free(in);
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	}
	in->nsources = npaths;
	for (int i = 0; i < npaths; i++) {
		in->sources[i].path = paths[i];
		in->sources[i].nthreads = nthreads;
	}
	pthread_mutex_init(&in->lock, NULL);
	block_pool_init(&in->pool);
	status = open_source(in, &in->sources[0], fault);
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
	for (int i = 0; i < in->nsources; i++)
		source_close(&in->sources[i]);
	pthread_mutex_destroy(&in->lock);
	block_pool_free(&in->pool);
	free(in->sources);
	free(in);
}

/* ---- before the first chunk ---- */

enum status input_skip_preamble(struct input *in, const struct preamble *preamble,
				struct fault *fault)
{
	in->preamble = *preamble;
	in->has_preamble = true;
	return preamble_skip(&in->preamble, &in->sources[0], fault);
}

uint64_t input_line(const struct input *in, int file)
{
	return in->sources[file].line;
}

enum status input_peek(struct input *in, int file, const char **data, size_t *nbytes,
		       bool *at_end, struct fault *fault)
{
	struct source *s = &in->sources[file];
	enum status status = open_source(in, s, fault);

	if (file > in->file)
		source_settle(s - 1);
	if (status == STATUS_OK)
		status = source_peek(s, *nbytes + 1, fault);
	*data = source_peeked(s, 0, nbytes);
	*at_end = s->at_end;
	return status;
}

const char *input_peeked(const struct input *in, size_t *nbytes)
{
	return source_peeked(&in->sources[in->file], 0, nbytes);
}

void input_begin_with(struct input *in, int file)
{
	for (; in->file < file; in->file++) {
		struct source *s = &in->sources[in->file];
		in->offset_bytes += s->nskipped + (s->end - s->begin);
		source_close(s);
	}
}

void input_skip(struct input *in, size_t nbytes)
{
	source_skip(&in->sources[in->file], nbytes);
}

void input_expect_headers(struct input *in, const struct input_headers *headers)
{
	in->headers = *headers;
}

void input_set_prompt(struct input *in)
{
	in->prompt = true;
}

uint64_t input_nbytes_left(const struct input *in)
{
	uint64_t total = 0;

	for (int i = in->file; i < in->nsources; i++) {
		uint64_t nbytes = source_nbytes(&in->sources[i]);
		if (nbytes == UINT64_MAX)
			return UINT64_MAX;
		total += nbytes;
	}
	return total;
}

bool input_has_thread(const struct input *in)
{
	const struct source *s = &in->sources[in->file];

	return s->packed && read_ahead_has_thread(s->packed);
}

/* ---- chunks ---- */

/* The work left for a chunk once the lock is released: a range, blocks, or nothing. */
struct deferred {
	bool ranged; /* to read, from position on */
	off_t position;
	struct block_decoder *blocks; /* to decode */
};

/* Copies what was peeked at, then reads until the chunk is full, the file ends, blocks are next, or
 * (prompt) the next byte would have to be waited for. */
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
		if (chunk->nbytes && (source_blocks(s) || (prompt && !source_is_ready(s))))
			break;
		status = source_read(s, chunk->data + chunk->nbytes, capacity - chunk->nbytes, &n,
				     fault);
		chunk->nbytes += n;
	}
	chunk->last_of_file = s->at_end && s->begin == s->end;
	return status;
}

/* How much to read of a stream into room for capacity bytes. */
static size_t streamed_capacity(const struct source *s, size_t capacity)
{
	if (s->packed || capacity <= PIPE_CHUNK_NBYTES)
		return capacity;
	return capacity / 4 > PIPE_CHUNK_NBYTES ? capacity / 4 : PIPE_CHUNK_NBYTES;
}

/* Cuts blocks for the worker thread to decode. *decoder: NULL if there are none. */
static enum status cut_blocks(struct input *in, const struct codec_blocks *blocks,
			      struct chunk *chunk, size_t capacity,
			      struct block_decoder **decoder, struct fault *fault)
{
	struct source *s = &in->sources[in->file];
	struct block_decoder *d = block_pool_get(&in->pool, blocks, capacity);
	enum status status;

	if (!d)
		return source_fail(s, fault, STATUS_NO_MEMORY, 0);
	status = source_cut(s, &d->batch, in->prompt, fault);
	chunk->nbytes = d->batch.text_nbytes;
	chunk->last_of_file = s->at_end;
	if (d->batch.nbytes)
		*decoder = d;
	else
		block_pool_put(&in->pool, d);
	return status;
}

/* Under the lock: what must be done in order. */
static enum status begin_reading(struct input *in, struct chunk *chunk, size_t capacity,
				 struct deferred *deferred, struct fault *fault)
{
	struct source *s = &in->sources[in->file];
	const struct codec_blocks *blocks = source_blocks(s);
	enum status status = STATUS_OK;

	if (s->ranged) {
		deferred->ranged = true;
		chunk->nbytes = source_cut_range(s, capacity, &deferred->position);
		chunk->last_of_file = s->at_end;
		return STATUS_OK;
	}
	if (blocks)
		status = cut_blocks(in, blocks, chunk, capacity, &deferred->blocks, fault);
	if (status != STATUS_OK || deferred->blocks || chunk->last_of_file)
		return status;
	return fill_streamed(s, chunk, streamed_capacity(s, capacity), in->prompt, fault);
}

/* Without the lock: the rest. */
static enum status finish_reading(struct input *in, const struct deferred *deferred,
				  const struct chunk *chunk, const struct reader *reader,
				  struct fault *fault)
{
	struct source *s = &in->sources[chunk->file];
	enum status status = STATUS_OK;

	if (deferred->ranged)
		return source_read_range(s, deferred->position, chunk, reader, fault);
	if (deferred->blocks) {
		status = block_decoder_run(deferred->blocks, chunk->data, fault);
		block_pool_put(&in->pool, deferred->blocks);
	}
	if (status != STATUS_OK)
		fault->file = source_name(s);
	return status;
}

/* Gives the chunk its place in the order. Opens its file if it is the file's first. */
static enum status begin_chunk(struct input *in, char *buffer, struct chunk *chunk,
			       struct fault *fault)
{
	struct source *s = &in->sources[in->file];
	enum status status = STATUS_OK;
	bool first = !in->begun;

	if (first)
		status = open_source(in, s, fault);
	if (first) {
		in->plan = NULL;
		if (status == STATUS_OK && in->headers.place)
			status = in->headers.place(in->headers.context, in, in->file, &in->plan,
						   fault);
		if (status == STATUS_OK)
			source_make_ranged(s);
	}
	in->offset_bytes += first ? s->nskipped : 0;
	in->begun = true;
	*chunk = (struct chunk){.data = buffer, .index = in->index++, .file = in->file,
				.offset_bytes = in->offset_bytes, .first_of_file = first,
				.first_line = s->line, .plan = in->plan};
	return status;
}

/* Goes on to the next file if this was the last chunk of its file. */
static void end_chunk(struct input *in, const struct chunk *chunk)
{
	in->offset_bytes += chunk->nbytes;
	if (!chunk->last_of_file)
		return;
	source_close(&in->sources[in->file++]);
	in->begun = false;
}

/* Under the lock. */
static bool is_over(const struct input *in)
{
	return in->stopped || in->file == in->nsources;
}

bool input_is_over(struct input *in)
{
	bool over;

	pthread_mutex_lock(&in->lock);
	over = is_over(in);
	pthread_mutex_unlock(&in->lock);
	return over;
}

void input_stop(struct input *in)
{
	in->stopped = true;
}

bool input_read_chunk(struct input *in, const struct reader *reader, struct chunk *chunk,
		      enum status *status, struct fault *fault)
{
	struct deferred deferred = {0};

	pthread_mutex_lock(&in->lock);
	if (is_over(in)) {
		pthread_mutex_unlock(&in->lock);
		return false;
	}
	*status = begin_chunk(in, reader->buffer, chunk, fault);
	if (*status == STATUS_OK)
		*status = begin_reading(in, chunk, reader->nbytes, &deferred, fault);
	if (*status != STATUS_OK)
		input_stop(in);
	end_chunk(in, chunk);
	pthread_mutex_unlock(&in->lock);
	if (*status == STATUS_OK)
		*status = finish_reading(in, &deferred, chunk, reader, fault);
	if (*status != STATUS_OK)
		input_stop(in);
	return true;
}
