/* SPDX-License-Identifier: MIT
 *
 * sections.c - see gzip.h, "sections". First sections' memory and one section's decoding, then their order: how they are read,
 * whose turn it is, and the member's CRC.
 *
 * Sections are items of an ordered queue, whose numbers only grow, over all members. A section before the one that has the
 * turn is not needed any more: so a member's end, and the run's, void all that were handed out.
 */
#include "codec/gzip.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/clock.h"
#include "base/thread.h"
#include "simd/simd.h"

/* ---- compressed bytes ---- */

#define SECTION_AHEAD_NBYTES (SECTION_NBYTES / 4)

/* Compressed bytes. They are followed by the first ones of the next section, because the last block
 * that begins in a section ends behind it. */
struct section {
	struct feed_part part; /* its own bytes, when they are given back to the feed */
	size_t nbytes, ahead_nbytes;
	bool last;          /* nothing follows, because ... */
	enum status status; /* ... the file ends (STATUS_OK), or cannot be read */
	struct fault fault;
	uint64_t number;
	struct section *next; /* in the stream */
	atomic_int nusers; /* the thread that decodes it; and the list of sections, or the feed */
	bool checked;
	uint32_t crc; /* of its text, once it is checked */
	uint64_t text_nbytes;
	unsigned char data[SECTION_NBYTES + SECTION_AHEAD_NBYTES + DEFLATE_PAD_NBYTES];
};

/* Frees the section when its last user calls this. Any thread. */
static void section_release(struct section *section)
{
	if (atomic_fetch_sub(&section->nusers, 1) == 1)
		free(section);
}

/* The part is the section's first member. */
static void release_part(struct feed_part *part)
{
	section_release((struct section *)part);
}

/* Returns an empty section with one user; NULL: out of memory. */
static struct section *section_new(void)
{
	struct section *section = malloc(sizeof *section);

	if (!section)
		return NULL;
	memset(section, 0, offsetof(struct section, data));
	section->nusers = 1;
	section->part = (struct feed_part){.data = section->data, .release = release_part};
	return section;
}

/* ---- one section ---- */

/* Symbols: a window of markers, then those of the text. Bytes: a window of text, then more text,
 * behind the symbols in the same memory. */
struct section_decoder {
	struct section *section;
	bool has_turn;
	bool guessed;        /* decoding began at bit start, where a block may begin */
	bool redoes;         /* ... and that was wrong */
	uint64_t start;
	uint64_t stop_bit;   /* decoding ends at the first believable block at or behind it */
	struct deflate deflate;
	enum deflate_result result; /* the last; DEFLATE_FULL: the section goes on */
	size_t nsymbols, nbytes; /* of the text: symbols, then bytes */
	size_t nread;            /* of the text */
	size_t nunread;          /* the last bytes of the window are the first of the text */
	const unsigned char *bytes;
	uint32_t crc;         /* of the section's text, as far as it has been read */
	uint64_t text_nbytes; /* ... and its length */
	size_t window_nbytes; /* how much of the window there is */
	unsigned char window[DEFLATE_WINDOW_NBYTES + DEFLATE_PAD_NBYTES]; /* the text before */

	struct section_totals totals; /* since it was lent */
	section_watcher *watcher;     /* NULL: none */
	struct section_decoder *next; /* that waits, or is idle */

	uint16_t symbols[]; /* MEMORY_NBYTES */
};

#define ROOM_NSYMBOLS ((size_t)6 << 20) /* a section's text is longer where it is packed to a sixth */
#define LAST_NBYTES ((size_t)512 << 10)  /* at least so many bytes have room behind all symbols */
#define POLL_NSYMBOLS ((size_t)64 << 10) /* 50 us of decoding */
#define POLL_NBITS ((uint64_t)512 << 10) /* 400 us of searching */

#define MEMORY_NBYTES                                                                         \
	((DEFLATE_WINDOW_NBYTES + ROOM_NSYMBOLS + DEFLATE_SLACK) * sizeof(uint16_t) +          \
	 DEFLATE_WINDOW_NBYTES + LAST_NBYTES + DEFLATE_SLACK)

/* NULL: out of memory. To be freed. */
static struct section_decoder *section_decoder_open(void)
{
	struct section_decoder *d = malloc(sizeof *d + MEMORY_NBYTES);

	if (d)
		memset(d, 0, sizeof *d);
	return d;
}

/* Gives the decoder a section, of which nothing is decoded. */
static void section_assign(struct section_decoder *d, struct section *section)
{
	d->section = section;
	d->has_turn = d->guessed = d->redoes = false;
	d->result = DEFLATE_FULL;
	d->stop_bit = section->last ? UINT64_MAX : (uint64_t)section->nbytes * 8;
	d->nsymbols = d->nbytes = d->nread = 0;
	d->crc = 0;
	d->text_nbytes = 0;
}

/* Adds the time since *begin_s to a stage, tells the watcher, and sets *begin_s to now. text_nbytes:
 * what has been made of text. */
static void section_spend(struct section_decoder *d, enum section_stage stage, size_t text_nbytes,
		   double *begin_s)
{
	double now_s = clock_s();

	d->totals.stage_s[stage] += now_s - *begin_s;
	if (d->watcher)
		d->watcher(stage, text_nbytes, *begin_s, now_s);
	*begin_s = now_s;
}

static size_t readable_nbytes(const struct section *section)
{
	return section->nbytes + section->ahead_nbytes;
}

/* Whether the next section begins here too: at the first believable block behind its first bit.
 * If not, decoding goes on to the next block. */
static bool ends_here(struct section_decoder *d)
{
	const struct section *section = d->section;
	uint64_t bit = deflate_bit(&d->deflate);

	if (deflate_find(section->data, readable_nbytes(section), bit, bit + 1) == bit)
		return true;
	d->stop_bit = bit + 1;
	return false;
}

/* ---- to symbols ---- */

static bool has_turn(const struct section_decoder *d, const _Atomic uint64_t *turn)
{
	return atomic_load_explicit(turn, memory_order_acquire) >= d->section->number;
}

static uint64_t find_start(const struct section_decoder *d, const _Atomic uint64_t *turn)
{
	const struct section *section = d->section;
	uint64_t end = (uint64_t)section->nbytes * 8, bit = UINT64_MAX;

	for (uint64_t from = 0; from < end && bit == UINT64_MAX && !has_turn(d, turn);
	     from += POLL_NBITS)
		bit = deflate_find(section->data, readable_nbytes(section), from,
				   from + POLL_NBITS < end ? from + POLL_NBITS : end);
	return bit;
}

/* Decodes to symbols from the first believable block on, until the section ends, memory is full or
 * the turn is the section's. turn: the number of the section that has it. */
static void section_guess(struct section_decoder *d, const _Atomic uint64_t *turn)
{
	uint16_t *text = d->symbols + DEFLATE_WINDOW_NBYTES, *out = text;
	uint16_t *end = text + ROOM_NSYMBOLS;
	double begin_s = clock_s();

	d->start = find_start(d, turn);
	section_spend(d, SECTION_FIND, 0, &begin_s);
	if (d->start == UINT64_MAX)
		return;
	d->guessed = true;
	deflate_begin(&d->deflate, d->section->data, readable_nbytes(d->section), d->start);
	for (unsigned i = 0; i < DEFLATE_WINDOW_NBYTES; i++)
		d->symbols[i] = (uint16_t)(DEFLATE_MARKER | i);
	do {
		uint16_t *limit = (size_t)(end - out) < POLL_NSYMBOLS ? end : out + POLL_NSYMBOLS;
		d->result = deflate_symbols(&d->deflate, &out, limit, d->symbols, d->stop_bit);
		if (d->result == DEFLATE_BOUNDARY && !ends_here(d))
			d->result = DEFLATE_FULL;
	} while (d->result == DEFLATE_FULL && out < end && !has_turn(d, turn));
	d->nsymbols = (size_t)(out - text);
	section_spend(d, SECTION_GUESS, d->nsymbols, &begin_s);
}

/* ---- in the turn ---- */

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Makes what was guessed the text if the trunk stands where it began, at a block's beginning; else
 * drops it. bit: of the trunk, counted from the section's first byte. Returns whether it was right. */
static bool section_settle(struct section_decoder *d, const struct deflate_trunk *trunk, uint64_t bit,
		    bool in_block)
{
	const struct section *section = d->section;
	bool right = d->guessed && d->start == bit && !in_block &&
		     trunk->text_nbytes >= DEFLATE_WINDOW_NBYTES && d->result != DEFLATE_DAMAGED;

	memcpy(d->window, trunk->window, sizeof trunk->window);
	d->nunread = trunk->nunread;
	d->window_nbytes = trunk->text_nbytes + d->nunread < DEFLATE_WINDOW_NBYTES
				   ? (size_t)trunk->text_nbytes + d->nunread
				   : DEFLATE_WINDOW_NBYTES;
	if (right)
		return true;
	d->redoes = d->guessed;
	d->nsymbols = 0;
	d->result = DEFLATE_FULL;
	d->stop_bit = section->last ? UINT64_MAX : (uint64_t)section->nbytes * 8;
	if (in_block) {
		d->deflate = trunk->deflate;
		deflate_continue(&d->deflate, section->data, readable_nbytes(section), bit);
	} else
		deflate_begin(&d->deflate, section->data, readable_nbytes(section), bit);
	return false;
}

/* Stores the window behind the text at to. */
static void section_tail(const struct section_decoder *d, unsigned char *to)
{
	size_t n = min_size(d->nsymbols, DEFLATE_WINDOW_NBYTES);
	const uint16_t *text = d->symbols + DEFLATE_WINDOW_NBYTES;

	if (d->nbytes) {
		memcpy(to, d->bytes + d->nbytes - DEFLATE_WINDOW_NBYTES, DEFLATE_WINDOW_NBYTES);
		return;
	}
	memcpy(to, d->window + n, DEFLATE_WINDOW_NBYTES - n);
	deflate_resolve(to + DEFLATE_WINDOW_NBYTES - n, text + d->nsymbols - n, n, d->window);
}

/* Decodes to bytes as far as memory allows, if the section goes on. */
static void section_go_on(struct section_decoder *d)
{
	unsigned char *window = (unsigned char *)(d->symbols + DEFLATE_WINDOW_NBYTES + d->nsymbols);
	unsigned char *text = window + DEFLATE_WINDOW_NBYTES, *out = text;
	unsigned char *end = (unsigned char *)d->symbols + MEMORY_NBYTES - DEFLATE_SLACK;
	size_t before = min_size(d->window_nbytes + d->nsymbols, DEFLATE_WINDOW_NBYTES);
	double begin_s = clock_s();

	if (d->result != DEFLATE_FULL)
		return;
	section_tail(d, window);
	do
		d->result = deflate_bytes(&d->deflate, &out, end, text - before, d->stop_bit);
	while (d->result == DEFLATE_BOUNDARY && !ends_here(d));
	d->bytes = text - d->nunread;
	d->nbytes = (size_t)(out - d->bytes);
	d->nunread = 0;
	section_spend(d, d->redoes ? SECTION_REDO : SECTION_GO_ON, d->nbytes, &begin_s);
}

/* Makes room by dropping text that has been read. */
static void section_reuse(struct section_decoder *d)
{
	unsigned char tail[DEFLATE_WINDOW_NBYTES];
	size_t n = d->nsymbols + d->nbytes;

	section_tail(d, tail);
	memcpy(d->window, tail, sizeof tail);
	d->window_nbytes = min_size(d->window_nbytes + n, DEFLATE_WINDOW_NBYTES);
	d->nsymbols = d->nbytes = d->nread = 0;
}

/* ---- all sections ---- */

/* Where this many sections, one after the other, did not begin where the one before ended, only one
 * of SEARCH_AGAIN looks for a beginning: the data may have none. */
#define NFAILURES_MAX 3
#define SEARCH_AGAIN 16

struct sections {
	/* Under the caller's lock. */
	struct feed *feed;
	struct section *ahead;    /* read, but not handed out; NULL: none */
	size_t section_nbytes;

	struct ordered_queue queue; /* of sections: their turns */
	atomic_int nfailures;       /* changed in the turn only */

	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t changed;
	uint64_t ncut;      /* the number of the section that is handed out next */
	atomic_bool open;   /* a member has begun and not ended */
	bool stopped;       /* sections_stop() was called */
	int nusers;         /* threads that have a section and have not decoded it */
	struct section_decoder *idle; /* lent to nobody */
	struct section *unchecked, *newest;     /* the list of those whose text is not in the CRC */
	uint32_t crc;                           /* of the text before unchecked */
	uint64_t text_nbytes;                   /* likewise */
	struct section_totals totals;
	section_watcher *watcher; /* NULL: none */

	/* Guarded by the turn. */
	struct deflate_trunk trunk;
	uint64_t bit;  /* of the trunk, counted from the section's first byte */
	bool in_block; /* the trunk does not stand at a block's beginning */
};

struct sections *sections_open(void)
{
	struct sections *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->changed, NULL);
	ordered_queue_init(&s->queue, ORDERED_QUEUE_MOST, UINT64_MAX, false);
	return s;
}

void sections_close(struct sections *s)
{
	struct section_decoder *d;
	struct section *section;

	if (!s)
		return;
	sections_stop(s);
	pthread_mutex_lock(&s->lock);
	while (s->nusers > 0)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
	while ((section = s->unchecked)) {
		s->unchecked = section->next;
		section_release(section);
	}
	if (s->ahead)
		section_release(s->ahead);
	while ((d = s->idle)) {
		s->idle = d->next;
		free(d);
	}
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
	ordered_queue_destroy(&s->queue);
	free(s);
}

/* ---- reading: under the caller's lock ---- */

/* Leaves the feed without unused bytes once the first section is read, so that sections can be given
 * back to it: what is too much for that section becomes a part. Returns false: out of memory. */
static bool set_aside(struct sections *s)
{
	struct section *section;
	size_t nunused;

	feed_data(s->feed, &nunused);
	if (nunused <= s->section_nbytes)
		return true;
	section = section_new();
	if (!section)
		return false;
	feed_take(s->feed, section->data, nunused, &section->part.end, &section->fault);
	feed_give_back_part(s->feed, &section->part);
	return true;
}

/* NULL: out of memory. */
static struct section *read_section(struct sections *s)
{
	struct section *section = section_new();
	size_t capacity = s->section_nbytes, n = 1;

	if (!section)
		return NULL;
	while (section->status == STATUS_OK && n > 0 && section->nbytes < capacity) {
		section->status = feed_take(s->feed, section->data + section->nbytes,
					    capacity - section->nbytes, &n, &section->fault);
		section->nbytes += n;
	}
	section->last = section->status != STATUS_OK || n == 0;
	return section;
}

/* Returns an idle decoder, or a new one; NULL: out of memory. */
static struct section_decoder *lend_decoder(struct sections *s)
{
	struct section_decoder *d;

	pthread_mutex_lock(&s->lock);
	d = s->idle;
	if (d)
		s->idle = d->next;
	pthread_mutex_unlock(&s->lock);
	if (d)
		return d;
	d = section_decoder_open();
	if (d)
		d->watcher = s->watcher;
	return d;
}

void sections_watch(struct sections *s, section_watcher *watcher)
{
	s->watcher = watcher;
}

void sections_sum_up(struct sections *s, struct section_totals *totals)
{
	pthread_mutex_lock(&s->lock);
	*totals = s->totals;
	pthread_mutex_unlock(&s->lock);
}

void sections_take_back(struct sections *s, struct section_decoder *d)
{
	if (d->section) /* it has failed */
		section_release(d->section);
	d->section = NULL;
	pthread_mutex_lock(&s->lock);
	s->totals.nsections += d->totals.nsections;
	s->totals.nright += d->totals.nright;
	for (int i = 0; i < SECTION_NSTAGES; i++)
		s->totals.stage_s[i] += d->totals.stage_s[i];
	d->totals = (struct section_totals){0};
	d->next = s->idle;
	s->idle = d;
	pthread_mutex_unlock(&s->lock);
}

bool sections_begin(struct sections *s, struct feed *feed, const struct deflate_trunk *trunk,
		    uint64_t bit, uint32_t crc, size_t section_nbytes)
{
	struct section_decoder *d = lend_decoder(s); /* for the first section */

	if (!d)
		return false;
	sections_take_back(s, d);
	s->feed = feed;
	s->section_nbytes = section_nbytes;
	s->ahead = set_aside(s) ? read_section(s) : NULL;
	if (!s->ahead)
		return false;
	pthread_mutex_lock(&s->lock);
	s->trunk = *trunk;
	s->bit = bit;
	s->in_block = true;
	s->crc = crc;
	s->text_nbytes = trunk->text_nbytes;
	s->nfailures = 0;
	s->open = !s->stopped;
	pthread_mutex_unlock(&s->lock);
	return true;
}

bool sections_are_open(struct sections *s)
{
	return s->open;
}

/* Joins the last section, which was read ahead and is short, to the one before it: a header that
 * does not fit into a section is left to the next one, which must not begin behind it. */
static void join_last(struct sections *s, struct section *section)
{
	struct section *last = s->ahead;

	section->nbytes += section->ahead_nbytes;
	section->ahead_nbytes = 0;
	section->last = true;
	section->status = last->status;
	section->fault = last->fault;
	s->ahead = NULL;
	section_release(last);
}

/* Reads the section behind this one, and copies its first bytes. */
static void read_ahead(struct sections *s, struct section *section)
{
	s->ahead = NULL;
	if (section->last)
		return;
	s->ahead = read_section(s);
	section->last = !s->ahead;
	if (!s->ahead) {
		section->status = fault_set(&section->fault, STATUS_NO_MEMORY, 0, NULL);
		return;
	}
	section->ahead_nbytes = s->ahead->nbytes < SECTION_AHEAD_NBYTES ? s->ahead->nbytes
									: SECTION_AHEAD_NBYTES;
	memcpy(section->data + section->nbytes, s->ahead->data, section->ahead_nbytes);
	if (s->ahead->nbytes < SECTION_NBYTES_MIN)
		join_last(s, section);
}

struct section_decoder *sections_cut(struct sections *s)
{
	struct section *section = s->ahead;
	struct section_decoder *d = section ? lend_decoder(s) : NULL;

	if (!d)
		return NULL;
	read_ahead(s, section);
	pthread_mutex_lock(&s->lock);
	section->number = s->ncut++;
	section->nusers = 2; /* the thread, and the list */
	*(s->unchecked ? &s->newest->next : &s->unchecked) = section;
	s->newest = section;
	s->nusers++;
	pthread_mutex_unlock(&s->lock);
	section_assign(d, section);
	return d;
}

void sections_wait(struct sections *s)
{
	pthread_mutex_lock(&s->lock);
	while (s->open)
		pthread_cond_wait(&s->changed, &s->lock);
	pthread_mutex_unlock(&s->lock);
}

/* ---- turns ---- */

/* The thread is done with decoding; with `gone`, with the section as well. */
static void leave(struct sections *s, struct section_decoder *d, bool gone)
{
	pthread_mutex_lock(&s->lock);
	if (gone) {
		section_release(d->section);
		d->section = NULL;
	}
	if (--s->nusers == 0)
		pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}

/* Decodes until the section's turn. False: it is not needed. */
static bool begin_section(struct sections *s, struct section_decoder *d)
{
	bool may_guess = s->nfailures < NFAILURES_MAX || d->section->number % SEARCH_AGAIN == 0, right;
	double begin_s;

	if (may_guess && s->queue.turn < d->section->number)
		section_guess(d, &s->queue.turn);
	begin_s = clock_s();
	if (!ordered_queue_await(&s->queue, d->section->number, d->section->number) || s->queue.turn > d->section->number)
		return false; /* the section is not needed any more */
	section_spend(d, SECTION_WAIT, 0, &begin_s);
	right = section_settle(d, &s->trunk, s->bit, s->in_block);
	s->nfailures = right ? 0 : s->nfailures + 1;
	d->totals.nsections++;
	d->totals.nright += right;
	d->has_turn = true;
	return true;
}

static enum section_result fail(struct sections *s, struct section_decoder *d, struct fault *fault)
{
	if (d->result == DEFLATE_DAMAGED)
		codec_fault(fault, STATUS_DAMAGED, &codec_gzip, d->deflate.words);
	else if (d->section->status != STATUS_OK)
		*fault = d->section->fault;
	else
		codec_fault(fault, STATUS_TRUNCATED, &codec_gzip, NULL);
	leave(s, d, false);
	return SECTION_FAILED;
}

enum section_result section_decode(struct sections *s, struct section_decoder *d,
				   size_t *text_nbytes, struct fault *fault)
{
	if (d->has_turn)
		section_reuse(d);
	else if (!begin_section(s, d)) {
		leave(s, d, true);
		d->nsymbols = 0;
		return SECTION_VOID;
	}
	section_go_on(d);
	*text_nbytes = d->nsymbols + d->nbytes;
	if (d->result == DEFLATE_ENDED)
		return SECTION_ENDED;
	if (d->result == DEFLATE_DAMAGED || (d->result == DEFLATE_STARVES && d->section->last))
		return fail(s, d, fault);
	return SECTION_DECODED;
}

/* Under the lock: adds the CRCs of the sections whose text has been read to the member's. */
static void add_crcs(struct sections *s)
{
	struct section *section;

	while ((section = s->unchecked) && section->checked) {
		s->crc = (uint32_t)crc32_combine(s->crc, section->crc, (z_off_t)section->text_nbytes);
		s->text_nbytes += section->text_nbytes;
		s->unchecked = section->next;
		section_release(section);
	}
	pthread_cond_broadcast(&s->changed);
}

/* All text of the section has been read. */
static void check_section(struct sections *s, struct section_decoder *d)
{
	struct section *section = d->section;

	pthread_mutex_lock(&s->lock);
	section->crc = d->crc;
	section->text_nbytes = d->text_nbytes;
	section->checked = true;
	add_crcs(s);
	section_release(section);
	pthread_mutex_unlock(&s->lock);
	d->section = NULL;
}

bool section_pass(struct sections *s, struct section_decoder *d)
{
	if (d->result == DEFLATE_FULL)
		return false;
	section_tail(d, s->trunk.window);
	s->trunk.text_nbytes += d->text_nbytes + d->nsymbols + d->nbytes;
	s->bit = deflate_bit(&d->deflate) - (uint64_t)d->section->nbytes * 8;
	s->trunk.nunread = 0;
	s->in_block = d->result == DEFLATE_STARVES;
	if (s->in_block)
		s->trunk.deflate = d->deflate;
	d->has_turn = false;
	ordered_queue_finish(&s->queue, d->section->number, STATUS_OK, NULL);
	leave(s, d, false);
	if (section_nbytes_left(d) == 0)
		check_section(s, d);
	return true;
}

size_t section_nbytes_left(const struct section_decoder *d)
{
	return d->nsymbols + d->nbytes - d->nread;
}

void section_read(struct sections *s, struct section_decoder *d, void *to, size_t nbytes)
{
	size_t at = d->nread, n = at < d->nsymbols ? min_size(nbytes, d->nsymbols - at) : 0;
	double begin_s = clock_s();

	if (n)
		deflate_resolve(to, d->symbols + DEFLATE_WINDOW_NBYTES + at, n, d->window);
	if (n < nbytes)
		memcpy((unsigned char *)to + n, d->bytes + (at + n - d->nsymbols), nbytes - n);
	d->crc = simd()->crc(d->crc, to, nbytes);
	section_spend(d, SECTION_RESOLVE, nbytes, &begin_s);
	d->nread += nbytes;
	d->text_nbytes += nbytes;
	if (!d->has_turn && section_nbytes_left(d) == 0)
		check_section(s, d);
}

/* ---- the end ---- */

void sections_check(struct sections *s, struct section_decoder *d, uint32_t *crc,
		    uint64_t *text_nbytes)
{
	pthread_mutex_lock(&s->lock);
	while (s->unchecked != d->section && s->queue.turn == d->section->number)
		pthread_cond_wait(&s->changed, &s->lock);
	*crc = (uint32_t)crc32_combine(s->crc, d->crc, (z_off_t)d->text_nbytes);
	*text_nbytes = s->text_nbytes + d->text_nbytes;
	pthread_mutex_unlock(&s->lock);
}

/* Gives the bytes of the sections back to the feed, in their order, from the one at `begin` on. */
static void give_back(struct sections *s, struct section *section, size_t begin)
{
	size_t n = section->nbytes < begin ? section->nbytes : begin;

	if (section->next)
		give_back(s, section->next, begin - n);
	section->part.begin = n;
	section->part.end = section->nbytes;
	feed_give_back_part(s->feed, &section->part);
}

void sections_end(struct sections *s, struct section_decoder *d)
{
	struct section *section;

	pthread_mutex_lock(&s->lock);
	section = s->unchecked; /* the decoder's; sections_check has waited for it */
	s->newest->next = s->ahead;
	s->unchecked = s->ahead = NULL;
	pthread_mutex_unlock(&s->lock);
	give_back(s, section, (size_t)((deflate_bit(&d->deflate) + 7) / 8));
	pthread_mutex_lock(&s->lock);
	s->open = false;
	ordered_queue_skip(&s->queue, s->ncut);
	pthread_cond_broadcast(&s->changed);
	section_release(d->section);
	s->nusers--;
	pthread_mutex_unlock(&s->lock);
	d->section = NULL;
}

void sections_stop(struct sections *s)
{
	pthread_mutex_lock(&s->lock);
	s->open = false;
	s->stopped = true;
	ordered_queue_skip(&s->queue, UINT64_MAX);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}
