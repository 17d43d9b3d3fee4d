/* SPDX-License-Identifier: MIT
 *
 * sections.c - the order of sections: how they are read, whose turn it is, and the member's CRC.
 * See sections.h.
 *
 * Numbers of sections only grow, over all members. A section below the number that has the turn is
 * not needed any more: so a member's end, and the run's, void all that were handed out.
 */
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "codec/codec.h"
#include "codec/crc32.h"
#include "codec/section_decoder.h"

/* Where this many sections, one after the other, did not begin where the one before ended, only one
 * of SEARCH_AGAIN looks for a beginning: the data may have none. */
#define NFAILURES_MAX 3
#define SEARCH_AGAIN 16

struct sections {
	/* Under the caller's lock. */
	struct feed *feed;
	struct section_pool pool; /* has a lock of its own */
	struct section *ahead;    /* read, but not handed out; NULL: none */
	size_t section_nbytes;

	atomic_uint_least64_t turn; /* the number of the section that has it */
	atomic_int nfailures;       /* changed in the turn only */

	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t changed;
	uint64_t ncut;      /* the number of the section that is handed out next */
	bool open, stopped; /* a member has begun and not ended; sections_stop() was called */
	int nusers;         /* threads that have a section and have not decoded it */
	struct section_decoder *waiting, *idle; /* for their turns; lent to nobody */
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
	section_pool_init(&s->pool);
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
	section_pool_free(&s->pool);
	while ((d = s->idle)) {
		s->idle = d->next;
		section_decoder_close(d);
	}
	pthread_mutex_destroy(&s->lock);
	pthread_cond_destroy(&s->changed);
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
	section = section_pool_get(&s->pool);
	if (!section)
		return false;
	feed_take(s->feed, section->data, nunused, &section->part.end, &section->fault);
	feed_give_back_part(s->feed, &section->part);
	return true;
}

/* NULL: out of memory. */
static struct section *read_section(struct sections *s)
{
	struct section *section = section_pool_get(&s->pool);
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
	section_hand_in_totals(d, &s->totals);
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
	bool open;

	pthread_mutex_lock(&s->lock);
	open = s->open;
	pthread_mutex_unlock(&s->lock);
	return open;
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

/* Under the lock: gives the turn to a section, and calls all that it concerns. */
static void set_turn(struct sections *s, uint64_t number)
{
	struct section_decoder **at = &s->waiting;

	atomic_store_explicit(&s->turn, number, memory_order_release);
	while (*at) {
		struct section_decoder *d = *at;
		if (d->section->number <= number) {
			*at = d->next;
			pthread_cond_signal(&d->called);
		} else
			at = &d->next;
	}
}

/* Returns whether the section is still needed when its turn has come. */
static bool wait_for_turn(struct sections *s, struct section_decoder *d)
{
	uint64_t number = d->section->number, turn;

	pthread_mutex_lock(&s->lock);
	if (s->turn < number) {
		d->next = s->waiting;
		s->waiting = d;
	}
	while ((turn = s->turn) < number)
		pthread_cond_wait(&d->called, &s->lock);
	pthread_mutex_unlock(&s->lock);
	return turn == number;
}

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

static bool may_guess(const struct sections *s, const struct section *section)
{
	return s->nfailures < NFAILURES_MAX || section->number % SEARCH_AGAIN == 0;
}

/* Decodes until the section's turn. False: it is not needed. */
static bool begin_section(struct sections *s, struct section_decoder *d)
{
	double begin_s;
	bool right;

	if (may_guess(s, d->section) && s->turn < d->section->number)
		section_guess(d, &s->turn);
	begin_s = clock_s();
	if (!wait_for_turn(s, d))
		return false;
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
		s->crc = crc32_join(s->crc, section->crc, section->text_nbytes);
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
	pthread_mutex_lock(&s->lock);
	if (s->turn == d->section->number)
		set_turn(s, d->section->number + 1);
	pthread_mutex_unlock(&s->lock);
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
	double begin_s = clock_s();

	section_copy(d, d->nread, to, nbytes);
	d->crc = crc32_continue(d->crc, to, nbytes);
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
	while (s->unchecked != d->section && s->turn == d->section->number)
		pthread_cond_wait(&s->changed, &s->lock);
	*crc = crc32_join(s->crc, d->crc, d->text_nbytes);
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
	set_turn(s, s->ncut);
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
	set_turn(s, UINT64_MAX);
	pthread_cond_broadcast(&s->changed);
	pthread_mutex_unlock(&s->lock);
}
