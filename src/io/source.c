/* SPDX-License-Identifier: MIT
 *
 * source.c - one file of the input: see source.h. First how a compressed file is decoded ahead of its reader, and how its data
 * is cut for other threads to decode. Then reading and peeking, and what stands before the first record. Then opening and
 * closing, and files of which only some is read.
 */
#include "io/source.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "base/fd.h"
#include "base/thread.h"
#include "codec/gzip.h"
#include "codec/codec.h"
#include "csv/rows.h"
#include "csv/record.h"

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
	return fault_set_file(fault, status, error_number, source_name(s));
}

/* Names the file in a fault that another module has filled. */
static enum status name_fault(const struct source *s, enum status status, struct fault *fault)
{
	if (status != STATUS_OK)
		fault->file = source_name(s);
	return status;
}

/* ---- a compressed file, decoded by a thread ahead of its reader ----
 *
 * Where a gzip member ends is known only when it has been decoded. One thread therefore decodes all members in order, into a
 * ring of slots. A file that ends within the first slot starts no thread. Nor do blocks and sections: they are cut for other
 * threads to decode.
 *
 * The thread publishes a slot when it is full, and earlier where input would have to be waited for, so that all text received
 * so far is available while a pipe is silent. An error is stored in its slot, behind the text before it.
 *
 * The reader is usually faster than the decoder. Waking a sleeping thread takes 30 us of the decoder's time on a virtual machine
 * (2026-11-21), a tenth of what it takes to fill a slot. The reader is therefore woken for half a ring, or when no more will
 * come without waiting.
 */

#define NSLOTS 8 /* 2 MiB: half of them are filled while the other half is read */
#define AHEAD_BATCH_NBYTES ((size_t)8 << 20)  /* of text that a batch has room for */
#define AHEAD_RANGE_NBYTES ((off_t)16 << 20) /* 1000 blocks of logs: 0.6 ms, and 0.2 for what seems to be the first one */

struct packed {
	/* Used by the decoding thread only; before it is started, by the caller. */
	struct feed feed;
	const struct codec *codec;
	void *state; /* the codec's */
	size_t piece_nbytes; /* the longest piece */
	struct block_ahead *ahead; /* NULL if it was not asked for, or could not be begun */
	bool ahead_asked;
	bool cut; /* blocks or sections were cut since the last slot was filled: there may be more, or the end */

	uint64_t nread; /* the reader's: slots read */
	size_t offset;  /* ... and bytes of the next one */

	struct piece slots[NSLOTS];
	struct ordered_queue queue; /* of slots */
	bool threaded;              /* a thread was started */
	pthread_t thread;           /* not joined where an error ends the process */
	int wake[2];                /* a pipe; closing its end wakes the decoder where it waits for input */
};

static size_t piece_nbytes(void)
{
	const char *text = getenv(CHUNK_VARIABLE);
	unsigned long long number = text ? strtoull(text, NULL, 10) : 0;

	return number > 0 && number < CODEC_PIECE_NBYTES ? (size_t)number : CODEC_PIECE_NBYTES;
}

static void packed_close(struct packed *p)
{
	if (!p)
		return;
	if (p->threaded) {
		ordered_queue_stop(&p->queue);
		close(p->wake[1]);
		pthread_join(p->thread, NULL);
		close(p->wake[0]);
	}
	block_ahead_close(p->ahead);
	if (p->state)
		p->codec->close(p->state);
	feed_free(&p->feed);
	for (size_t i = 0; i < NSLOTS; i++)
		free(p->slots[i].data);
	ordered_queue_destroy(&p->queue);
	free(p);
}

/* Starts on the compressed stream that fd delivers. prefix: bytes already read from fd, at most FEED_NBYTES; copied. Memory: 2.5
 * MiB. Errors: STATUS_NO_MEMORY, the codec's open. */
static enum status packed_open(struct source *s, const void *prefix, size_t nbytes, struct fault *fault)
{
	struct packed *p = calloc(1, sizeof *p);
	enum status status;

	if (!p)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	ordered_queue_init(&p->queue, NSLOTS, UINT64_MAX, true);
	p->codec = s->codec;
	p->piece_nbytes = piece_nbytes();
	feed_init(&p->feed, s->fd, prefix, nbytes);
	status = s->codec->open(&p->state, s->codec, s->nthreads, fault);
	if (status == STATUS_OK)
		s->packed = p;
	else
		packed_close(p);
	return status;
}

/* ---- filling a slot: one thread at a time ---- */

/* Whether the stream ends behind the piece, complete or with an error. */
static bool piece_is_last(const struct piece *p)
{
	return p->last || p->status != STATUS_OK;
}

/* Reads more, unless the piece has text and input would have to be waited for: then *full. */
static enum status feed_piece(struct feed *feed, struct piece *to, bool *full)
{
	enum status status;

	*full = to->nbytes && !feed_is_ready(feed);
	if (*full)
		return STATUS_OK;
	status = feed_more(feed, &to->fault);
	to->last = feed->stopped;
	return status;
}

static enum block_next next_block(const struct packed *p)
{
	struct block_length ignored;

	return p->codec == &codec_gzip ? bgzf_next(p->state, &p->feed, &ignored) : BLOCK_NONE;
}

/* Appends the text of the blocks that are next. *full: the piece has no room for another. */
static enum status decode_blocks(struct packed *p, struct piece *to, bool *full)
{
	struct block_decoder *b = block_decoder_open(CODEC_PIECE_NBYTES - to->nbytes);
	enum status status;

	if (!b)
		return fault_set(&to->fault, STATUS_NO_MEMORY, 0, NULL);
	*full = bgzf_cut(p->state, &p->feed, &b->batch) == BLOCK_WHOLE;
	status = bgzf_decode(&b->deflate, &b->batch, to->data + to->nbytes, &to->fault);
	to->nbytes += b->batch.text_nbytes;
	free(b);
	return status;
}

/* Fills the piece with text. It ends early where input would have to be waited for, and before a block for which it has no
 * room. */
static enum status fill_piece(struct packed *p, struct piece *to)
{
	enum status status = STATUS_OK;
	bool full = false;

	if (!to->data && !(to->data = malloc(CODEC_PIECE_NBYTES)))
		return fault_set(&to->fault, STATUS_NO_MEMORY, 0, NULL);
	while (status == STATUS_OK && !full && !to->last) {
		enum block_next next = next_block(p);
		enum decode_step step = DECODE_GOES_ON;
		if (next == BLOCK_WHOLE)
			status = decode_blocks(p, to, &full);
		else if (next == BLOCK_STARVES)
			step = DECODE_STARVES;
		else
			status = p->codec->step(p->state, &p->feed, to, &step);
		full = full || to->nbytes >= to->room_nbytes;
		to->last = step == DECODE_ENDED;
		if (status == STATUS_OK && step == DECODE_STARVES)
			status = feed_piece(&p->feed, to, &full);
	}
	return status;
}

static struct piece *slot_of(struct packed *p, uint64_t index)
{
	return &p->slots[index % NSLOTS];
}

/* Fills the next slot. Returns false if none is free, all are filled, or the file is no longer wanted. waits: for a free one. */
static bool fill_slot(struct packed *p, bool waits)
{
	struct piece *to;
	uint64_t index;

	if (!ordered_queue_take(&p->queue, waits, &index))
		return false;
	to = slot_of(p, index);
	to->nbytes = 0;
	to->room_nbytes = p->piece_nbytes;
	to->last = to->padded = false;
	to->status = fill_piece(p, to);
	if (piece_is_last(to))
		ordered_queue_end(&p->queue);
	ordered_queue_finish(&p->queue, index, STATUS_OK, NULL);
	return true;
}

/* ---- the decoding thread ---- */

static void note_wait(void *argument, bool waits)
{
	struct packed *p = argument;

	ordered_queue_pause(&p->queue, waits);
}

static void *decode_ahead(void *argument)
{
	while (fill_slot(argument, true))
		;
	return NULL;
}

/* False: the system has no thread or no pipe left. */
static bool start_thread(struct packed *p)
{
	if (pipe2(p->wake, O_CLOEXEC))
		return false;
	p->feed.wake = p->wake[0];
	p->feed.note_wait = note_wait;
	p->feed.note_argument = p;
	p->threaded = thread_start(&p->thread, decode_ahead, p);
	if (p->threaded)
		return true;
	p->feed.wake = -1;
	close(p->wake[0]);
	close(p->wake[1]);
	return false;
}

bool source_has_thread(const struct source *s)
{
	return s->packed && s->packed->threaded;
}

/* ---- reading what it decodes ---- */

/* Whether all slots have been read and no thread fills another. */
static bool is_drained(const struct packed *p)
{
	return !p->threaded && p->nread == p->queue.turn;
}

/* Whether the readers decode what can be decoded in sections; otherwise the thread does. */
static bool is_shared(const struct source *s)
{
	return s->shared && (s->is_plain || !s->prompt);
}

/* Whether sections can go on behind what has been decoded. */
static bool has_sections(const struct source *s)
{
	return is_shared(s) && s->codec == &codec_gzip && gzip_is_in_data(s->packed->state);
}

/* Returns the slot to be read next. Fills it in the calling thread, starts a thread, or waits. Filling the next slot shows if a
 * thread is needed: behind the first slot of the file, and behind the first after blocks, there may be blocks or the end. */
static struct piece *next_slot(struct source *s)
{
	struct packed *p = s->packed;

	if (is_drained(p) && (p->queue.turn == 0 || p->cut || has_sections(s) || !start_thread(p))) {
		p->cut = false;
		fill_slot(p, false);
	}
	ordered_queue_await(&p->queue, p->nread + 1, p->nread + NSLOTS / 2);
	return slot_of(p, p->nread);
}

/* Waits only while no byte is decoded. *nbytes 0: the stream is complete. Errors: STATUS_READ, STATUS_NO_MEMORY, the codec's
 * step. They stay. */
static enum status read_packed(struct source *s, char *to, size_t capacity, size_t *nbytes, struct fault *fault)
{
	struct packed *p = s->packed;

	do {
		const struct piece *slot = next_slot(s);
		size_t left = slot->nbytes - p->offset;
		if (left == 0 && slot->status != STATUS_OK)
			*fault = slot->fault;
		s->padded = left == 0 && slot->last && slot->padded;
		if (left == 0 && piece_is_last(slot))
			return slot->status;
		*nbytes = left < capacity ? left : capacity;
		memcpy(to, slot->data + p->offset, *nbytes);
		p->offset += *nbytes;
		/* The last slot stays: its status is asked for again. */
		if (p->offset == slot->nbytes && !piece_is_last(slot)) {
			ordered_queue_release(&p->queue, ++p->nread);
			p->offset = 0;
		}
	} while (*nbytes == 0);
	return STATUS_OK;
}

/* ---- reading ---- */

static enum status read_fd(struct source *s, char *to, size_t capacity, size_t *nbytes,
			   struct fault *fault)
{
	ssize_t n = fd_read(s->fd, to, capacity);

	if (n < 0)
		return fault_set(fault, STATUS_READ, errno, NULL);
	if (!s->is_raw)
		fd_note_read(n);
	*nbytes = (size_t)n;
	return STATUS_OK;
}

/* The place behind the last block has been reached: moves up to capacity bytes of what is read of the next one. Errors:
 * STATUS_TRAILING where zero bytes stood before it. */
static enum status read_tail(struct source *s, char *to, size_t capacity, size_t *nbytes, struct fault *fault)
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

enum status source_read(struct source *s, char *to, size_t capacity, size_t *nbytes,
			struct fault *fault)
{
	enum status status;

	*nbytes = 0;
	if (s->at_end || capacity == 0)
		return STATUS_OK;
	status = s->packed ? read_packed(s, to, capacity, nbytes, fault) : read_fd(s, to, capacity, nbytes, fault);
	s->at_end = status == STATUS_OK && *nbytes == 0;
	if (s->at_end && s->cut.is_made && s->cut.end < UINT64_MAX)
		status = read_tail(s, to, capacity, nbytes, fault);
	return name_fault(s, status, fault);
}

bool source_is_ready(struct source *s)
{
	struct pollfd p = {.fd = s->fd, .events = POLLIN};

	return s->packed ? s->packed->nread < s->packed->queue.turn : poll(&p, 1, 0) != 0;
}

/* ---- blocks, which any thread can decode ---- */

bool source_has_blocks(const struct source *s)
{
	return s->packed && !s->at_end && s->begin == s->end && is_drained(s->packed) && s->packed->nread &&
	       next_block(s->packed) != BLOCK_NONE;
}

bool source_leaves_blocks(const struct source *s)
{
	return s->is_plain && s->packed && !s->at_end && !s->packed->threaded && next_block(s->packed) != BLOCK_NONE;
}

/* Has blocks looked for ahead of large batches, which are a GPU's: while one is measured, all others wait. */
static struct block_ahead *ahead_of(struct packed *p, const struct block_batch *batch, off_t position)
{
	if (!p->ahead_asked && batch->text_room_nbytes >= AHEAD_BATCH_NBYTES) {
		p->ahead_asked = true;
		p->ahead = block_ahead_open(batch->fd, position, feed_end(&p->feed), AHEAD_RANGE_NBYTES);
	}
	return p->ahead;
}

/* Measures blocks of a plain file, batch->fd, and leaves them there: the feed goes on behind them. There may
 * be none. Errors: STATUS_READ, if the batch is empty. */
static enum status walk_blocks(struct packed *p, struct block_batch *batch, struct fault *fault)
{
	off_t position = feed_tell(&p->feed);
	bool readable = true;

	batch->position = position;
	if (position >= 0) {
		bool full = block_ahead_walk(ahead_of(p, batch, position), &position, feed_end(&p->feed), batch);
		readable = full || bgzf_walk(batch->fd, &position, feed_end(&p->feed), batch);
	}
	if (batch->nbytes)
		feed_seek(&p->feed, position);
	else if (!readable)
		return fault_set(fault, STATUS_READ, errno, NULL);
	return STATUS_OK;
}

/* Like source_cut, without the file's name. */
static enum status cut_blocks(struct packed *p, struct block_batch *batch, bool prompt, bool *ended, struct fault *fault)
{
	enum status status = STATUS_OK;
	enum block_next next;
	size_t have;

	*ended = false;
	if (batch->fd >= 0 && next_block(p) != BLOCK_NONE)
		status = walk_blocks(p, batch, fault);
	if (batch->nbytes)
		return STATUS_OK;
	batch->fd = -1;
	TRY(status);
	while ((next = bgzf_cut(p->state, &p->feed, batch)) == BLOCK_STARVES && status == STATUS_OK) {
		if (prompt && batch->nbytes && !feed_is_ready(&p->feed))
			break;
		status = feed_more(&p->feed, fault);
	}
	feed_data(&p->feed, &have);
	*ended = next == BLOCK_NONE && p->feed.at_end && have == 0;
	return batch->nbytes ? STATUS_OK : status;
}

enum status source_cut(struct source *s, struct block_batch *batch, bool prompt, struct fault *fault)
{
	enum status status;

	batch->fd = s->is_plain ? s->fd : -1;
	status = cut_blocks(s->packed, batch, prompt, &s->at_end, fault);
	s->packed->cut = s->packed->cut || batch->nbytes;
	s->at_end = s->at_end && !s->cut.tail;
	if (batch->fd >= 0)
		atomic_fetch_add(&s->nusers, 1);
	return name_fault(s, status, fault);
}

/* ---- sections, and members that a device decodes ---- */

bool source_splits(const struct source *s)
{
	return s->packed && !s->at_end && s->begin == s->end && is_drained(s->packed) && s->packed->nread && has_sections(s);
}

bool source_has_sections(const struct source *s)
{
	return s->packed && is_shared(s) && s->codec == &codec_gzip;
}

bool source_split(struct source *s, struct sections *sections, size_t section_nbytes)
{
	return gzip_split(s->packed->state, &s->packed->feed, sections, section_nbytes);
}

void source_join(struct source *s, uint32_t crc, uint64_t text_nbytes)
{
	gzip_end_data(s->packed->state, crc, text_nbytes);
	s->packed->cut = true;
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
	return gzip_began(s->packed->state, &place, &nread) && ops->begin(device, s->fd, &place, nread);
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

	fd_note_read(-(ssize_t)s->device_nbytes); /* feed_seek notes them */
	if (!ops->end(device, &place, &ended))
		return false; /* the decoder still stands where the device was to go on */
	feed_seek(&s->packed->feed, place.position + (ended && place.bit > 0));
	if (ended)
		gzip_end_data(s->packed->state, place.crc, place.text_nbytes);
	else
		gzip_resume(s->packed->state, &place);
	s->packed->cut = true;
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

enum status source_take(struct source *s, char *to, size_t capacity, size_t *nbytes, struct fault *fault)
{
	size_t have = s->end - s->begin;

	if (have == 0)
		return source_read(s, to, capacity, nbytes, fault);
	*nbytes = have < capacity ? have : capacity;
	memcpy(to, s->data + s->begin, *nbytes);
	s->begin += *nbytes;
	return STATUS_OK;
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

/* ---- what stands before the first record ---- */

/* The length of the line end at the peeked byte at: LF or CRLF, where the file's end stands for LF.
 * 0 if it is another byte, or the file has ended. */
static size_t line_end(struct source *s, size_t at, enum status *status, struct fault *fault)
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

/* Drops the first nlines lines, which need not fit into memory. Errors: STATUS_FEW_LINES where a file
 * that is not empty has fewer, STATUS_CR_LINES where it has CR and no LF. */
static enum status skip_lines(struct source *s, uint64_t nlines, struct fault *fault)
{
	uint64_t before = s->nskipped, nfound = 0;
	bool has_cr = false; /* one that no LF follows, and no line ends before it */
	char last = '\n';
	size_t nbytes;

	while (nfound < nlines) {
		enum status status = source_peek(s, 1, fault);
		const char *data = source_peeked(s, 0, &nbytes);
		TRY(status);
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

/* How far the first line's end is looked for. A longer line that has a CR in it is taken to have
 * line ends of that kind. */
#define PATIENCE_NBYTES ((size_t)1 << 20)

/* ---- line ends ---- */

/* Looks for the first LF outside of quotes. */
struct line_search {
	size_t at; /* bytes looked at */
	enum csv_state state;
	bool after_cr; /* outside of quotes; for quotes and comments it ends a line */
	bool cr_ends;  /* a CR outside of quotes had another byte than LF behind it */
};

/* Looks on in data[0 .. nbytes). Returns whether an LF ends the first line. */
static bool finds_lf(struct line_search *l, const char *data, size_t nbytes, const struct csv_dialect *d)
{
	for (; l->at < nbytes; l->at++) {
		char c = data[l->at];
		bool is_data = csv_in_quotes(l->state) || l->state == CSV_ESCAPED;
		if (l->after_cr)
			l->state = CSV_RECORD_START;
		l->state = csv_full_step(l->state, csv_dialect_classify(d, c));
		if (c == '\n' && l->state == CSV_RECORD_START)
			return true;
		l->cr_ends |= l->after_cr;
		l->after_cr = c == '\r' && !is_data;
	}
	return false;
}

/* Reads until the first line's end is known. */
static enum status check_line_ends(struct source *s, const struct csv_dialect *dialect,
				   struct fault *fault)
{
	struct csv_dialect d = *dialect;
	struct line_search search = {.state = CSV_RECORD_START};
	size_t nbytes = 0;

	if (d.whitespace)
		d.quote = '\0';
	do {
		enum status status = source_peek(s, nbytes + 1, fault);
		const char *data = source_peeked(s, 0, &nbytes);
		TRY(status);
		/* How much has been read by now is up to the kind of input. */
		if (finds_lf(&search, data, nbytes < PATIENCE_NBYTES ? nbytes : PATIENCE_NBYTES, &d))
			return STATUS_OK;
	} while (!s->at_end && nbytes < PATIENCE_NBYTES);
	return search.cr_ends ? source_fail(s, fault, STATUS_CR_LINES, 0) : STATUS_OK;
}

/* ---- sep= ---- */

/* Whether sep=C with this byte is more likely a delimiter than a name. */
static bool can_delimit(char c, const struct csv_dialect *d)
{
	return !strchr("\r\n\"0123456789", c) && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') &&
	       c != d->quote && c != d->escape && c != d->comment;
}

/* Sets the delimiter by the line sep=C at offset 0, or compares it with the first file's. */
static enum status set_delimiter(struct preamble *p, const struct source *s, const char *line,
				 struct fault *fault)
{
	char c = line[strlen("sep=")];

	if (!p->is_settled)
		p->dialect->delimiter = c; /* before any thread reads it */
	p->is_settled = true;
	if (c == p->dialect->delimiter)
		return STATUS_OK;
	fault_set_value(fault, STATUS_DELIMITER_DIFFERS, line, strlen("sep=") + 1);
	fault->file = source_name(s);
	fault->line = s->line;
	return STATUS_DELIMITER_DIFFERS;
}

/* Takes a first line sep=C out of the file. */
static enum status skip_delimiter(struct preamble *p, struct source *s, struct fault *fault)
{
	enum status status = STATUS_OK;
	const size_t nbytes = strlen("sep=") + 1;
	size_t have, end;
	const char *data;

	if (!p->seeks_delimiter || !matches(s, 0, "sep=", strlen("sep="), &status, fault))
		return status;
	status = source_peek(s, nbytes, fault);
	data = source_peeked(s, 0, &have);
	if (status != STATUS_OK || have < nbytes || !can_delimit(data[nbytes - 1], p->dialect))
		return status;
	end = line_end(s, nbytes, &status, fault);
	data = source_peeked(s, 0, &have);
	if (status != STATUS_OK || (end == 0 && have > nbytes))
		return status;
	status = set_delimiter(p, s, data, fault);
	if (status == STATUS_OK)
		source_skip(s, nbytes + end);
	return status;
}

enum status preamble_skip(struct preamble *p, struct source *s, struct fault *fault)
{
	enum status status = skip_lines(s, p->nlines, fault);
	size_t nbytes;

	THEN(status, skip_delimiter(p, s, fault));
	THEN(status, check_line_ends(s, p->dialect, fault));
	source_peeked(s, 0, &nbytes);
	p->is_settled |= nbytes > 0;
	return status;
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
	if (match == CODEC_PERHAPS && !s->is_raw && !is_printable(data, nbytes))
		return name_fault(s, codec_fault(fault, STATUS_TRUNCATED, codec, NULL), fault);
	if (match != CODEC_BEGINS)
		return STATUS_OK;
	s->codec = codec;
	status = packed_open(s, data, nbytes, fault);
	s->begin = s->end = 0;
	s->at_end = false;
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
	status = foreign_refuse(fault, foreign, is_stdin(s) ? "" : s->path, s->codec);
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
	if (!s->is_raw && is_output(&st))
		return source_fail(s, fault, STATUS_IS_OUTPUT, 0);
	s->is_plain = is_plain(&st);
	s->size = st.st_size;
	s->start = is_stdin(s) ? lseek(s->fd, 0, SEEK_CUR) : 0;
	if (S_ISFIFO(st.st_mode))
		fd_widen_pipe(s->fd);
	status = begin_decoding(s, fault);
	if (s->is_raw)
		return status;
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
	packed_close(s->packed);
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

void source_make_ranged(struct source *s, bool needs_ranges)
{
	if (s->state != SOURCE_OPEN || s->packed || !s->is_plain)
		return;
	if (!needs_ranges && s->start + (off_t)(s->nskipped + s->end - s->begin) == s->size) {
		s->at_end = true; /* a short file: all of it has been peeked at */
		return;
	}
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
	THEN(status, bgzf_text_next(&t, &is_there, fault));
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

	packed_close(s->packed);
	s->packed = NULL;
	if (lseek(s->fd, block, SEEK_SET) < 0)
		return fault_set(fault, STATUS_READ, 0, NULL);
	TRY(packed_open(s, "", 0, fault));
	if (cut->end < UINT64_MAX)
		feed_end_at(&s->packed->feed, BGZF_PLACE_BLOCK(cut->end));
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
	THEN(status, reopen(s, fault));
	THEN(status, drop_beginning(s, fault));
	return name_fault(s, status, fault);
}
