/* SPDX-License-Identifier: MIT
 *
 * input_chunks.c - the input, chunk by chunk. See input.h.
 *
 * Each file is a source, opened when it is peeked at or reached. The current one is read in one of
 * two ways. Ranged, a plain file: a chunk's offset and length are handed out under the lock, and
 * read outside of it. The file's size is taken when it is opened; what is appended later
 * is ignored, and a file that turns out shorter is an error. Streamed, all others: chunks are read
 * in order under the lock. So are blocks cut, but not decoded.
 */
#include <string.h>

#include "io/input_state.h"

/* A chunk read from a pipe, or a quarter of what the worker has room for if that is more: as much
 * as cat writes at once. The kernel locks the pipe while it copies, so long reads keep the writer
 * waiting. 200 MB of logs took 1.24 times as long as reading alone with chunks of 512 KiB, 1.03 to
 * 1.09 with these, 1.3 with half of these (two cores, 2026-11-21). */
#define PIPE_CHUNK_NBYTES ((size_t)128 << 10)

/* ---- chunks ---- */

/* The work left for a chunk once the lock is released: a range, blocks, or nothing. */
struct deferred {
	bool ranged; /* to read, from position on */
	off_t position;
	struct block_decoder *blocks; /* to decode */
	struct device_text text; /* to copy; of NULL: none */
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
		if (chunk->nbytes && (source_has_blocks(s) || source_splits(s) ||
				      (prompt && !source_is_ready(s))))
			break;
		status = source_read(s, chunk->data + chunk->nbytes, capacity - chunk->nbytes, &n,
				     fault);
		chunk->nbytes += n;
	}
	chunk->last_of_file = s->at_end && s->begin == s->end;
	if (s->packed && chunk->nbytes)
		return STATUS_OK; /* the text before damage; the next call finds the damage again */
	return status;
}

/* How much to read of a stream into room for capacity bytes. */
static size_t streamed_capacity(const struct source *s, size_t capacity)
{
	if (s->packed || capacity <= PIPE_CHUNK_NBYTES)
		return capacity;
	return capacity / 4 > PIPE_CHUNK_NBYTES ? capacity / 4 : PIPE_CHUNK_NBYTES;
}

/* Cuts blocks for the worker thread to decode. *decoder: NULL if no block is left. */
static enum status cut_blocks(struct input *in, struct chunk *chunk, size_t capacity, struct block_decoder **decoder,
			      struct fault *fault)
{
	struct source *s = &in->sources[in->file];
	struct block_decoder *d = block_pool_get(&in->pool, capacity);
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

/* Under the lock: has a device decode what comes next, if it can. */
static void begin_on_device(struct input *in, size_t chunk_nbytes)
{
	struct source *s = &in->sources[in->file];

	if (!in->device_ops || in->on_device || !in->begun || in->device_gave_up == in->file || !s->is_plain ||
	    !source_splits(s))
		return;
	if (!in->device)
		in->device = in->device_ops->open(in->device_number, chunk_nbytes, s->size);
	in->on_device = in->device && source_begin_on_device(s, in->device_ops, in->device);
	if (!in->on_device)
		in->device_gave_up = in->file;
}

/* Cuts a chunk of the text on the device. Returns false if there is no more: CPUs go on. */
static bool cut_on_device(struct input *in, struct chunk *chunk, size_t capacity, struct device_text *text)
{
	if (source_cut_on_device(&in->sources[in->file], in->device_ops, in->device, capacity, text)) {
		chunk->nbytes = text->nbytes;
		in->device_nbytes += text->nbytes;
		return true;
	}
	*text = (struct device_text){0};
	in->on_device = false;
	if (!source_end_on_device(&in->sources[in->file], in->device_ops, in->device))
		in->device_gave_up = in->file;
	return false;
}

/* Takes the text from the device, to the worker's or to the host. */
static enum status read_device_text(struct input *in, const struct device_text *text, const struct chunk *chunk,
				    const struct reader *reader, struct fault *fault)
{
	enum status status = STATUS_OK;

	if (!reader->read_text || !reader->read_text(reader->worker, text, chunk))
		status = in->device_ops->copy(text, chunk->data, fault);
	in->device_ops->give_back(text);
	return status;
}

/* Under the lock: what must be done in order. */
static enum status begin_reading(struct input *in, struct chunk *chunk, size_t capacity,
				 struct deferred *deferred, struct fault *fault)
{
	struct source *s = &in->sources[in->file];
	enum status status = STATUS_OK;

	if (s->ranged) {
		deferred->ranged = true;
		chunk->nbytes = source_cut_range(s, capacity, &deferred->position);
		chunk->last_of_file = s->at_end;
		return STATUS_OK;
	}
	if (in->on_device && cut_on_device(in, chunk, capacity, &deferred->text))
		return STATUS_OK;
	if (source_has_blocks(s))
		status = cut_blocks(in, chunk, capacity, &deferred->blocks, fault);
	if (status != STATUS_OK || deferred->blocks || chunk->last_of_file)
		return status;
	return fill_streamed(s, chunk, streamed_capacity(s, capacity), in->prompt, fault);
}

/* Reads blocks that were left in a file, and decodes them. */
static enum status read_blocks(struct source *s, struct block_decoder *d, const struct chunk *chunk,
			       const struct reader *reader, struct fault *fault)
{
	bool is_left = d->batch.fd >= 0, decoded = false;
	enum status status = STATUS_OK;

	if (is_left && reader->read_blocks)
		status = reader->read_blocks(reader->worker, &d->batch, chunk, &decoded, fault);
	if (status == STATUS_OK && !decoded && is_left)
		status = file_read_range(d->batch.fd, d->batch.position, (char *)d->batch.data,
					 d->batch.nbytes, fault);
	if (is_left)
		source_release(s);
	if (status != STATUS_OK || decoded)
		return status;
	return bgzf_decode(&d->deflate, &d->batch, (unsigned char *)chunk->data, fault);
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
	if (deferred->text.of)
		status = read_device_text(in, &deferred->text, chunk, reader, fault);
	if (deferred->blocks) {
		status = read_blocks(s, deferred->blocks, chunk, reader, fault);
		block_pool_put(&in->pool, deferred->blocks);
	}
	if (status != STATUS_OK)
		fault->file = source_name(s);
	return status;
}

/* Narrows a file of blocks to the input's range. Behind its first record, offsets are counted from the place where it
 * begins, and lines from 1 on. */
static enum status use_range_of_blocks(struct input *in, struct source *s, struct fault *fault)
{
	enum status status = source_cut_text(s, in->range.begin, in->range.end, fault);

	if (status == STATUS_OK && s->cut.begin > s->cut.first) {
		in->offset_bytes += s->cut.begin - s->nskipped;
		s->line = 1;
	}
	return status;
}

/* Narrows the file, which is read in ranges, to the input's range. */
static enum status use_range(struct input *in, struct source *s, struct fault *fault)
{
	if (in->range.has_blocks)
		return use_range_of_blocks(in, s, fault);
	in->offset_bytes += in->range.begin - (uint64_t)(s->position - s->start);
	s->position = s->start + (off_t)in->range.begin;
	s->size = s->start + (off_t)in->range.end;
	s->line = in->range.begin > s->nskipped ? 1 : s->line; /* lines before it are not counted */
	return STATUS_OK;
}

/* Narrows a file that is read in ranges to what the input's slice has of it. */
static void use_slice(struct input *in, struct source *s)
{
	const struct input_slice *slice = &in->slice;
	off_t begin = s->position, end = s->size;

	if (!s->ranged)
		return;
	if (in->file == slice->first && slice->begin > 0) {
		begin = s->start + (off_t)slice->begin;
		s->line = 1 + slice->nlines_before;
	}
	if (in->file == slice->last && slice->end < (uint64_t)(end - s->start))
		end = s->start + (off_t)slice->end;
	begin = begin > s->position ? begin : s->position;
	in->offset_bytes += (uint64_t)(begin - s->position);
	s->position = begin < s->size ? begin : s->size;
	s->size = end > s->position ? end : s->position;
}

/* The same of a file of blocks. Offsets then are counted from the place where the slice begins. */
static enum status cut_slice(struct input *in, struct source *s, struct fault *fault)
{
	const struct input_slice *slice = &in->slice;
	uint64_t begin = in->file == slice->first ? slice->begin : 0;
	uint64_t end = in->file == slice->last ? slice->end : UINT64_MAX;
	enum status status;

	if (s->ranged || (begin == 0 && end == UINT64_MAX))
		return STATUS_OK;
	status = source_cut_text(s, begin, end, fault);
	if (begin > 0) {
		in->offset_bytes += s->cut.begin - s->nskipped;
		s->line = 1 + slice->nlines_before;
	}
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
		status = input_open_source(in, s, fault);
	if (first) {
		in->plan = NULL;
		if (status == STATUS_OK && in->headers.place)
			status = in->headers.place(in->headers.context, in, in->file, &in->plan,
						   fault);
		if (status == STATUS_OK)
			source_make_ranged(s);
		if (status == STATUS_OK && in->has_range)
			status = use_range(in, s, fault);
		if (status == STATUS_OK && in->has_slice)
			use_slice(in, s);
		if (status == STATUS_OK && in->has_slice)
			status = cut_slice(in, s, fault);
	}
	in->offset_bytes += first ? s->nskipped : 0;
	in->begun = true;
	*chunk = (struct chunk){.data = buffer, .index = in->index++, .file = in->file,
				.offset_bytes = in->offset_bytes,
				.first_of_file = first && !in->range.is_quoted,
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
	return in->stopped || in->file >= in->nread;
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
	if (in->sections)
		sections_stop(in->sections);
}

/* ---- sections ---- */

/* Text is usually two to eight times as long as its gzip data. */
static size_t section_nbytes(const struct input *in, const struct reader *reader)
{
	size_t nbytes = in->in_order ? reader->nbytes / 4 : 2 * reader->nbytes;

	nbytes = nbytes > SECTION_NBYTES_MIN ? nbytes : SECTION_NBYTES_MIN;
	return nbytes < SECTION_NBYTES ? nbytes : SECTION_NBYTES;
}

/* Under the lock: begins with sections if they can go on from here. Where there is no memory for
 * them, one thread decodes. */
static bool begin_sections(struct input *in, const struct reader *reader)
{
	struct source *s = &in->sources[in->file];

	return in->sections && in->begun && source_splits(s) &&
	       source_split(s, in->sections, section_nbytes(in, reader));
}

/* Under the lock: numbers the chunks in which the reader will read nbytes of text. */
static void place_chunks(struct input *in, const struct reader *reader, size_t nbytes)
{
	struct section_reader *r = reader->section;

	r->next = (struct chunk){.index = in->index, .file = in->file, .plan = in->plan,
				 .offset_bytes = in->offset_bytes,
				 .first_line = in->sources[in->file].line};
	in->index += (nbytes + reader->nbytes - 1) / reader->nbytes;
	in->index += r->result == SECTION_FAILED; /* the chunk that reports it */
	in->offset_bytes += nbytes;
}

/* Decodes the reader's section as far as its memory allows. */
static void decode_section(struct input *in, const struct reader *reader)
{
	struct section_reader *r = reader->section;
	size_t nbytes;

	r->result = (int)section_decode(in->sections, r->decoder, &nbytes, &r->fault);
	r->finished = r->result == SECTION_VOID;
	if (r->finished)
		return;
	pthread_mutex_lock(&in->lock);
	place_chunks(in, reader, nbytes);
	pthread_mutex_unlock(&in->lock);
	if (r->result == SECTION_DECODED)
		r->finished = section_pass(in->sections, r->decoder);
}

/* The text up to the member's end has been read. */
static void end_sections(struct input *in, struct section_reader *r)
{
	uint64_t text_nbytes;
	uint32_t crc;

	sections_check(in->sections, r->decoder, &crc, &text_nbytes);
	pthread_mutex_lock(&in->lock);
	sections_end(in->sections, r->decoder);
	source_join(&in->sources[in->file], crc, text_nbytes);
	pthread_mutex_unlock(&in->lock);
	r->finished = true;
}

/* Reads the next chunk of the text, of which there is some. */
static void read_section(struct input *in, const struct reader *reader, struct chunk *chunk)
{
	struct section_reader *r = reader->section;
	size_t left = section_nbytes_left(r->decoder);

	*chunk = r->next;
	chunk->data = reader->buffer;
	chunk->nbytes = left < reader->nbytes ? left : reader->nbytes;
	section_read(in->sections, r->decoder, chunk->data, chunk->nbytes);
	r->next.index++;
	r->next.offset_bytes += chunk->nbytes;
}

/* Reports what ends the text. */
static void fail_section(struct input *in, struct section_reader *r, struct chunk *chunk,
			 enum status *status, struct fault *fault)
{
	*chunk = r->next;
	*fault = r->fault;
	fault->file = input_name(in, chunk->file);
	*status = fault->status;
	input_stop(in);
	r->finished = true;
}

/* Goes on with the reader's section, if it has one. Returns whether there is a chunk. */
static bool continue_section(struct input *in, const struct reader *reader, struct chunk *chunk,
			     enum status *status, struct fault *fault)
{
	struct section_reader *r = reader->section;
	bool has_chunk = false;

	*status = STATUS_OK;
	while (r && r->decoder && !has_chunk) {
		has_chunk = section_nbytes_left(r->decoder) > 0;
		if (has_chunk)
			read_section(in, reader, chunk);
		else if (r->finished) {
			sections_take_back(in->sections, r->decoder);
			r->decoder = NULL;
		} else if (r->result == SECTION_FAILED) {
			has_chunk = true;
			fail_section(in, r, chunk, status, fault);
		} else if (r->result == SECTION_ENDED)
			end_sections(in, r);
		else
			decode_section(in, reader);
	}
	return has_chunk;
}

/* Under the lock, which is released: takes a section for the reader and decodes it, or waits for the
 * end of the sections if all have been taken. */
static void take_section(struct input *in, const struct reader *reader)
{
	reader->section->decoder = sections_cut(in->sections);
	pthread_mutex_unlock(&in->lock);
	if (reader->section->decoder)
		decode_section(in, reader);
	else
		sections_wait(in->sections);
}

/* ---- reading ---- */

/* Under the lock, which is released: reads a chunk of what does not come in sections. */
static void read_chunk(struct input *in, const struct reader *reader, struct chunk *chunk,
		       enum status *status, struct fault *fault)
{
	struct deferred deferred = {0};

	*status = begin_chunk(in, reader->buffer, chunk, fault);
	if (*status == STATUS_OK)
		*status = begin_reading(in, chunk, reader->nbytes, &deferred, fault);
	if (*status != STATUS_OK)
		input_stop(in);
	end_chunk(in, chunk);
	if ((in->has_range && in->range.end < in->range.size) ||
	    (in->has_slice && chunk->file == in->slice.last && in->slice.end < UINT64_MAX))
		chunk->last_of_file = false; /* a record may go on in the next range */
	pthread_mutex_unlock(&in->lock);
	if (*status == STATUS_OK)
		*status = finish_reading(in, &deferred, chunk, reader, fault);
	if (*status != STATUS_OK)
		input_stop(in);
}

bool input_read_chunk(struct input *in, const struct reader *reader, struct chunk *chunk,
		      enum status *status, struct fault *fault)
{
	while (!continue_section(in, reader, chunk, status, fault)) {
		bool open;
		pthread_mutex_lock(&in->lock);
		/* Asked before is_over: input_stop closes sections, which must not begin anew. */
		open = in->sections && sections_are_open(in->sections);
		if (is_over(in)) {
			pthread_mutex_unlock(&in->lock);
			return false;
		}
		if (!open)
			begin_on_device(in, reader->nbytes);
		if (in->on_device || (!open && !begin_sections(in, reader))) {
			read_chunk(in, reader, chunk, status, fault);
			return true;
		}
		take_section(in, reader);
	}
	return true;
}
