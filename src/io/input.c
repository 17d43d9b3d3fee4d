/* SPDX-License-Identifier: MIT
 *
 * input.c - files and standard input as one stream of chunks: see input.h. First what is done before the first chunk is
 * read (opening files, peeking at them, skipping what is no record); then ranges of a file; then chunks.
 *
 * Each file is a source, opened when it is peeked at or reached. The current one is read in one of
 * two ways. Ranged, a plain file: a chunk's offset and length are handed out under the lock, and
 * read outside of it. The file's size is taken when it is opened; what is appended later
 * is ignored, and a file that turns out shorter is an error. Streamed, all others: chunks are read
 * in order under the lock. So are blocks cut, but not decoded.
 */
#include "io/input.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec/gzip.h"
#include "codec/codec.h"
#include "csv/record.h"
#include "io/file_text.h"
#include "io/source.h"

struct input {
	struct source *sources; /* one for each path */
	int nsources;

	struct input_setup setup;

	pthread_mutex_t lock;  /* guards all below */
	int file;              /* the current one; nsources: all were read */
	bool begun;            /* a chunk of it was handed out */
	uint64_t offset_bytes; /* of the next byte in the whole input, decompressed */
	uint64_t index;        /* of the next chunk */
	atomic_bool stopped;    /* set without the lock: its holder may wait for a pipe */

	struct sections *sections; /* of the current file; NULL: threads do not share the decoding */

	struct device_inflate *device; /* NULL: not opened yet */
	bool on_device;       /* it decodes a member of the current file */
	uint64_t device_nbytes; /* of text, which it has decoded */
	int device_gave_up;   /* the file that it left to the CPUs; -1: none */

	bool has_slice; /* only this of all files is read */
	struct input_slice slice;
	bool begins_quoted; /* the slice begins inside quotes */
	int nread;      /* files up to the slice's last */

	struct preamble preamble; /* to skip in each file, once it has a dialect */

	struct input_headers headers; /* find and place may be NULL */
	const struct plan *plan;      /* of the current file's chunks; NULL: the run's */
};

int input_nfiles(const struct input *in)
{
	return in->nsources;
}

struct source *input_source(const struct input *in, int file)
{
	return &in->sources[file];
}

struct source *input_next(const struct input *in)
{
	static struct source none;

	return in->file < in->nsources ? &in->sources[in->file] : &none;
}

const char *input_name(const struct input *in, int file)
{
	return source_name(&in->sources[file]);
}

/* ---- opening ---- */

static enum status skip_header(struct input *in, struct source *s, struct fault *fault)
{
	size_t nbytes = 0;

	if (in->headers.find)
		TRY(in->headers.find(in->headers.context, in, (int)(s - in->sources), &nbytes, fault));
	source_skip(s, nbytes);
	return STATUS_OK;
}

/* Opens the source unless it has been opened. Under the lock once chunks are read. */
static enum status open_source(struct input *in, struct source *s, struct fault *fault)
{
	if (s->state != SOURCE_UNOPENED)
		return STATUS_OK;
	TRY(source_open(s, fault));
	if (in->preamble.dialect)
		TRY(preamble_skip(&in->preamble, s, fault));
	return skip_header(in, s, fault);
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
	in->nsources = in->nread = npaths;
	for (int i = 0; i < npaths; i++) {
		in->sources[i].path = paths[i];
		in->sources[i].nthreads = nthreads;
		source_look(&in->sources[i]);
	}
	pthread_mutex_init(&in->lock, NULL);
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
	sections_close(in->sections);
	if (in->device)
		in->setup.device_ops->close(in->device);
	free(in->sources);
	free(in);
}

/* ---- before the first chunk ---- */

enum status input_skip_preamble(struct input *in, uint64_t nlines, bool seeks_delimiter, struct csv_dialect *dialect,
				struct fault *fault)
{
	in->preamble = (struct preamble){.nlines = nlines, .seeks_delimiter = seeks_delimiter, .dialect = dialect};
	return preamble_skip(&in->preamble, &in->sources[0], fault);
}

enum status input_peek(struct input *in, int file, const char **data, size_t *nbytes,
		       bool *at_end, struct fault *fault)
{
	struct source *s = &in->sources[file];
	enum status status = open_source(in, s, fault);

	if (file > in->file)
		source_settle(s - 1);
	THEN(status, source_peek(s, *nbytes + 1, fault));
	*data = source_peeked(s, 0, nbytes);
	*at_end = s->at_end;
	return status;
}

void input_begin_with(struct input *in, int file)
{
	for (; in->file < file; in->file++) {
		struct source *s = &in->sources[in->file];
		in->offset_bytes += s->nskipped + (s->end - s->begin);
		source_close(s);
	}
}

void input_begin_at(struct input *in, uint64_t nbytes)
{
	in->offset_bytes += nbytes;
}

void input_expect_headers(struct input *in, const struct input_headers *headers)
{
	in->headers = *headers;
}

enum status input_share_decoding(struct input *in)
{
	in->sections = sections_open();
	NEED(in->sections);
	for (int i = 0; i < in->nsources; i++)
		in->sources[i].shared = true;
	return STATUS_OK;
}

void input_set_up(struct input *in, const struct input_setup *setup)
{
	in->setup = *setup;
	in->device_gave_up = -1;
	for (int i = 0; i < in->nsources; i++) {
		in->sources[i].shared &= !setup->decodes_alone;
		in->sources[i].prompt = setup->is_prompt;
	}
}

uint64_t input_device_nbytes(const struct input *in)
{
	return in->device_nbytes;
}

void input_count_slice_from(struct input *in, uint64_t nlines_before)
{
	in->slice.nlines_before = nlines_before;
}

void input_use_slice(struct input *in, const struct input_slice *slice)
{
	input_begin_with(in, slice->first);
	if (slice->first > 0 || slice->begin > 0)
		in->offset_bytes = 0;
	in->has_slice = true;
	in->slice = *slice;
	in->nread = slice->last + 1;
}

uint64_t input_slice_end(const struct input *in)
{
	const struct source *s = &in->sources[in->slice.last];
	uint64_t end = in->slice.end;

	if (s->cut.is_made)
		return s->cut.end;
	return end > s->nskipped ? end : s->nskipped;
}

/* How much of a file's nbytes the slice leaves out. */
static uint64_t nbytes_outside(const struct input *in, int file, uint64_t nbytes)
{
	const struct input_slice *s = &in->slice;
	uint64_t out = 0;

	if (in->has_slice && file == s->first)
		out += s->begin;
	if (in->has_slice && file == s->last && s->end < nbytes)
		out += nbytes - s->end;
	return out < nbytes ? out : nbytes;
}

uint64_t input_nbytes_left(const struct input *in)
{
	uint64_t total = 0;

	for (int i = in->file; i < in->nread; i++) {
		uint64_t nbytes = source_nbytes(&in->sources[i]);
		if (nbytes == UINT64_MAX)
			return UINT64_MAX;
		total += nbytes - nbytes_outside(in, i, nbytes);
	}
	return total;
}

uint64_t input_nbytes_stored(const struct input *in)
{
	uint64_t total = 0;

	for (int i = 0; i < in->nsources; i++) {
		uint64_t nbytes = source_nbytes_stored(&in->sources[i]);
		if (nbytes == UINT64_MAX)
			return UINT64_MAX;
		total += nbytes;
	}
	return total;
}

bool input_is_repeatable(const struct input *in)
{
	for (int i = 0; i < in->nsources; i++)
		if (!in->sources[i].is_plain)
			return false;
	return true;
}

void input_watch_sections(struct input *in, section_watcher *watcher)
{
	if (in->sections)
		sections_watch(in->sections, watcher);
}

struct section_totals input_sections(struct input *in)
{
	struct section_totals totals = {0};

	if (in->sections)
		sections_sum_up(in->sections, &totals);
	return totals;
}

/* ---- a range of a plain or a BGZF file ---- */

/* Where the text of the first file ends, as a place; 0: the file is no plain one, and its blocks do not lead to its end. */
static uint64_t find_end(const struct source *s, bool has_blocks)
{
	uint64_t last;

	if (!has_blocks)
		return s->size - s->start > (off_t)s->nskipped ? (uint64_t)(s->size - s->start) : s->nskipped;
	if (!s->packed || !s->is_plain || s->fd == STDIN_FILENO || s->state != SOURCE_OPEN || s->codec != &codec_gzip)
		return 0;
	return bgzf_walk_blocks(s->fd, 0, (uint64_t)s->size, &last) && last == (uint64_t)s->size ? BGZF_PLACE(last, 0) : 0;
}

/* The k-th of n borders in the records, which begin at first; 0 and n are their ends. */
static enum status cut_border(const struct source *s, const struct input_range *of, uint64_t first, uint64_t k, uint64_t n,
			      const struct csv_dialect *dialect, uint64_t *border, struct fault *fault)
{
	uint64_t begin = of->has_blocks ? (uint64_t)BGZF_PLACE_BLOCK(first) : first;
	struct text_cut cut = {.fd = s->fd, .has_blocks = of->has_blocks, .walks = true, .least = first,
			       .start = of->has_blocks ? 0 : (uint64_t)s->start,
			       .size = of->has_blocks ? (uint64_t)s->size : of->size};

	*border = k == 0 ? first : of->size;
	if (k == 0 || k == n)
		return STATUS_OK;
	cut.offset = begin + (uint64_t)((uint128)(cut.size - begin) * k / n);
	fault->status = STATUS_OK;
	if (!file_text_cut(&cut, dialect, border, fault))
		*border = of->size;
	if (fault->status != STATUS_OK)
		fault->file = source_name(s);
	return fault->status;
}

enum status input_cut_range(struct input *in, uint64_t k, uint64_t n, bool is_quoted, const struct csv_dialect *dialect,
			    struct input_range *out, struct fault *fault)
{
	struct source *s = &in->sources[0];
	uint64_t first = s->nskipped;

	in->begins_quoted = is_quoted;
	if (!s->packed && s->at_end && s->begin == s->end) { /* it has no records */
		*out = (struct input_range){.begin = first, .end = first, .size = first};
		return STATUS_OK;
	}
	*out = (struct input_range){.has_blocks = s->packed || !s->is_plain || s->state != SOURCE_OPEN};
	out->size = find_end(s, out->has_blocks);
	if (out->size == 0)
		return source_fail(s, fault, STATUS_NOT_PLAIN, 0);
	if (out->has_blocks && !bgzf_find_text(s->fd, s->nskipped, &first))
		return source_fail(s, fault, STATUS_READ, errno);
	TRY(cut_border(s, out, first, k - 1, n, dialect, &out->begin, fault));
	TRY(cut_border(s, out, first, k, n, dialect, &out->end, fault));
	in->has_slice = true;
	in->slice = (struct input_slice){.begin = k == 1 ? 0 : out->begin, .end = out->end == out->size ? UINT64_MAX : out->end};
	return STATUS_OK;
}

enum status input_count_before(const struct input *in, struct input_range *range, struct fault *fault)
{
	const struct source *s = &in->sources[0];
	uint64_t start = range->has_blocks ? 0 : (uint64_t)s->start;
	struct file_text text; /* the file may be closed already */

	range->nlines_before = 0;
	if (file_text_open(&text, s->path, range->has_blocks, start, start + range->begin) == STATUS_OK)
		while (file_text_next(&text))
			range->nlines_before += count_lines(text.data, text.nbytes);
	file_text_close(&text);
	return text.fault.status == STATUS_OK ? STATUS_OK : source_fail(s, fault, text.fault.status, 0);
}

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
	enum status status = STATUS_OK;
	size_t n;

	while (status == STATUS_OK && chunk->nbytes < capacity && (s->begin < s->end || !s->at_end)) {
		if (chunk->nbytes && (source_has_blocks(s) || source_splits(s) ||
				      (prompt && !source_is_ready(s))))
			break;
		status = source_take(s, chunk->data + chunk->nbytes, capacity - chunk->nbytes, &n, fault);
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
	struct block_decoder *d = block_decoder_open(capacity);
	enum status status;

	if (!d)
		return source_fail(s, fault, STATUS_NO_MEMORY, 0);
	status = source_cut(s, &d->batch, in->setup.is_prompt, fault);
	chunk->nbytes = d->batch.text_nbytes;
	chunk->last_of_file = s->at_end;
	if (d->batch.nbytes)
		*decoder = d;
	else
		free(d);
	return status;
}

/* Under the lock: has a device decode what comes next, if it can. */
static void begin_on_device(struct input *in, size_t chunk_nbytes)
{
	struct source *s = &in->sources[in->file];

	if (!in->setup.device_ops || in->on_device || !in->begun || in->device_gave_up == in->file || !s->is_plain ||
	    !source_splits(s))
		return;
	if (!in->device)
		in->device = in->setup.device_ops->open(in->setup.device, chunk_nbytes, s->size);
	in->on_device = in->device && source_begin_on_device(s, in->setup.device_ops, in->device);
	if (!in->on_device)
		in->device_gave_up = in->file;
}

/* Cuts a chunk of the text on the device. Returns false if there is no more: CPUs go on. */
static bool cut_on_device(struct input *in, struct chunk *chunk, size_t capacity, struct device_text *text)
{
	if (source_cut_on_device(&in->sources[in->file], in->setup.device_ops, in->device, capacity, text)) {
		chunk->nbytes = text->nbytes;
		in->device_nbytes += text->nbytes;
		return true;
	}
	*text = (struct device_text){0};
	in->on_device = false;
	if (!source_end_on_device(&in->sources[in->file], in->setup.device_ops, in->device))
		in->device_gave_up = in->file;
	return false;
}

/* Takes the text from the device, to the worker's or to the host. */
static enum status read_device_text(struct input *in, const struct device_text *text, const struct chunk *chunk,
				    const struct reader *reader, struct fault *fault)
{
	enum status status = STATUS_OK;

	if (!reader->read_text || !reader->read_text(reader->worker, text, chunk))
		status = in->setup.device_ops->copy(text, chunk->data, fault);
	in->setup.device_ops->give_back(text);
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
	return fill_streamed(s, chunk, streamed_capacity(s, capacity), in->setup.is_prompt, fault);
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
		free(deferred->blocks);
	}
	if (status != STATUS_OK)
		fault->file = source_name(s);
	return status;
}

/* Narrows a file to what the input's slice has of it. Offsets of a file of blocks then are counted from the place where the
 * slice begins. */
static enum status use_slice(struct input *in, struct source *s, struct fault *fault)
{
	const struct input_slice *slice = &in->slice;
	uint64_t first = in->file == slice->first ? slice->begin : 0;
	uint64_t last = in->file == slice->last ? slice->end : UINT64_MAX;
	off_t begin = s->position, end = s->size;

	if (!s->ranged && first == 0 && last == UINT64_MAX)
		return STATUS_OK;
	if (first > 0)
		s->line = 1 + slice->nlines_before;
	if (!s->ranged) {
		TRY(source_cut_text(s, first, last, fault));
		if (first > 0)
			in->offset_bytes += s->cut.begin - s->nskipped;
		return STATUS_OK;
	}
	if (first > 0 && s->start + (off_t)first > begin)
		begin = s->start + (off_t)first;
	if (last < (uint64_t)(end - s->start))
		end = s->start + (off_t)last;
	in->offset_bytes += (uint64_t)(begin - s->position);
	s->position = begin < s->size ? begin : s->size;
	s->size = end > s->position ? end : s->position;
	return STATUS_OK;
}

/* Opens the current file, whose first chunk is next. */
static enum status begin_file(struct input *in, struct source *s, struct fault *fault)
{
	in->plan = NULL;
	TRY(open_source(in, s, fault));
	if (in->headers.place)
		TRY(in->headers.place(in->headers.context, in, in->file, &in->plan, fault));
	source_make_ranged(s, in->has_slice);
	return in->has_slice ? use_slice(in, s, fault) : STATUS_OK;
}

/* Gives the chunk its place in the order. Opens its file if it is the file's first. */
static enum status begin_chunk(struct input *in, char *buffer, struct chunk *chunk,
			       struct fault *fault)
{
	struct source *s = &in->sources[in->file];
	bool first = !in->begun;
	enum status status = first ? begin_file(in, s, fault) : STATUS_OK;

	in->offset_bytes += first ? s->nskipped : 0;
	in->begun = true;
	*chunk = (struct chunk){.data = buffer, .index = in->index++, .file = in->file,
				.offset_bytes = in->offset_bytes,
				.first_of_file = first && !in->begins_quoted,
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

void input_end(struct input *in)
{
	input_stop(in);
	pthread_mutex_lock(&in->lock);
	for (int i = 0; i < in->nsources; i++)
		source_close(&in->sources[i]);
	pthread_mutex_unlock(&in->lock);
}

/* ---- sections ---- */

/* Text is usually two to eight times as long as its gzip data. */
static size_t section_nbytes(const struct input *in, const struct reader *reader)
{
	size_t nbytes = in->setup.is_ordered ? reader->nbytes / 4 : 2 * reader->nbytes;

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
	/* numbers the chunks in which the reader will read nbytes of text */
	r->next = (struct chunk){.index = in->index, .file = in->file, .plan = in->plan,
				 .offset_bytes = in->offset_bytes,
				 .first_line = in->sources[in->file].line};
	in->index += (nbytes + reader->nbytes - 1) / reader->nbytes;
	in->index += r->result == SECTION_FAILED; /* the chunk that reports it */
	in->offset_bytes += nbytes;
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
			/* reports what ends the text */
			*chunk = r->next;
			*fault = r->fault;
			fault->file = input_name(in, chunk->file);
			*status = fault->status;
			input_stop(in);
			r->finished = true;
		} else if (r->result == SECTION_ENDED)
			end_sections(in, r);
		else
			decode_section(in, reader);
	}
	return has_chunk;
}

/* ---- reading ---- */

/* Under the lock, which is released: reads a chunk of what does not come in sections. */
static void read_chunk(struct input *in, const struct reader *reader, struct chunk *chunk,
		       enum status *status, struct fault *fault)
{
	struct deferred deferred = {0};

	*status = begin_chunk(in, reader->buffer, chunk, fault);
	THEN(*status, begin_reading(in, chunk, reader->nbytes, &deferred, fault));
	if (*status != STATUS_OK)
		input_stop(in);
	end_chunk(in, chunk);
	if (in->has_slice && chunk->file == in->slice.last && in->slice.end < UINT64_MAX)
		chunk->last_of_file = false; /* a record may go on in the next slice */
	pthread_mutex_unlock(&in->lock);
	THEN(*status, finish_reading(in, &deferred, chunk, reader, fault));
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
		/* a section for the reader; where all have been taken, it waits for their end */
		reader->section->decoder = sections_cut(in->sections);
		pthread_mutex_unlock(&in->lock);
		if (reader->section->decoder)
			decode_section(in, reader);
		else
			sections_wait(in->sections);
	}
	return true;
}
