/* SPDX-License-Identifier: MIT
 *
 * section_decoder.c - see section_decoder.h.
 */
#include "codec/section_decoder.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"

#define ROOM_NSYMBOLS ((size_t)6 << 20) /* a section's text is longer where it is packed to a sixth */
#define LAST_NBYTES ((size_t)512 << 10)  /* at least so many bytes have room behind all symbols */
#define POLL_NSYMBOLS ((size_t)64 << 10) /* 50 us of decoding */
#define POLL_NBITS ((uint64_t)512 << 10) /* 400 us of searching */

#define MEMORY_NBYTES                                                                         \
	((DEFLATE_WINDOW_NBYTES + ROOM_NSYMBOLS + DEFLATE_SLACK) * sizeof(uint16_t) +          \
	 DEFLATE_WINDOW_NBYTES + LAST_NBYTES + DEFLATE_SLACK)

struct section_decoder *section_decoder_open(void)
{
	struct section_decoder *d = calloc(1, sizeof *d);

	if (!d)
		return NULL;
	pthread_cond_init(&d->called, NULL);
	d->symbols = malloc(MEMORY_NBYTES);
	if (d->symbols)
		return d;
	section_decoder_close(d);
	return NULL;
}

void section_decoder_close(struct section_decoder *d)
{
	if (!d)
		return;
	pthread_cond_destroy(&d->called);
	free(d->symbols);
	free(d);
}

void section_assign(struct section_decoder *d, struct section *section)
{
	d->section = section;
	d->has_turn = d->guessed = d->redoes = false;
	d->result = DEFLATE_FULL;
	d->stop_bit = section->last ? UINT64_MAX : (uint64_t)section->nbytes * 8;
	d->nsymbols = d->nbytes = d->nread = 0;
	d->crc = 0;
	d->text_nbytes = 0;
}

void section_spend(struct section_decoder *d, enum section_stage stage, size_t text_nbytes,
		   double *begin_s)
{
	double now_s = clock_s();

	d->totals.stage_s[stage] += now_s - *begin_s;
	if (d->watcher)
		d->watcher(stage, text_nbytes, *begin_s, now_s);
	*begin_s = now_s;
}

void section_hand_in_totals(struct section_decoder *d, struct section_totals *to)
{
	to->nsections += d->totals.nsections;
	to->nright += d->totals.nright;
	for (int i = 0; i < SECTION_NSTAGES; i++)
		to->stage_s[i] += d->totals.stage_s[i];
	d->totals = (struct section_totals){0};
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

static bool has_turn(const struct section_decoder *d, const atomic_uint_least64_t *turn)
{
	return atomic_load_explicit(turn, memory_order_acquire) >= d->section->number;
}

static uint64_t find_start(const struct section_decoder *d, const atomic_uint_least64_t *turn)
{
	const struct section *section = d->section;
	uint64_t end = (uint64_t)section->nbytes * 8, bit = UINT64_MAX;

	for (uint64_t from = 0; from < end && bit == UINT64_MAX && !has_turn(d, turn);
	     from += POLL_NBITS)
		bit = deflate_find(section->data, readable_nbytes(section), from,
				   from + POLL_NBITS < end ? from + POLL_NBITS : end);
	return bit;
}

static void set_markers(uint16_t *symbols)
{
	for (unsigned i = 0; i < DEFLATE_WINDOW_NBYTES; i++)
		symbols[i] = (uint16_t)(0x8000 | i);
}

void section_guess(struct section_decoder *d, const atomic_uint_least64_t *turn)
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
	set_markers(d->symbols);
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

bool section_settle(struct section_decoder *d, const struct deflate_trunk *trunk, uint64_t bit,
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

void section_tail(const struct section_decoder *d, unsigned char *to)
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

void section_go_on(struct section_decoder *d)
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

void section_reuse(struct section_decoder *d)
{
	unsigned char tail[DEFLATE_WINDOW_NBYTES];
	size_t n = d->nsymbols + d->nbytes;

	section_tail(d, tail);
	memcpy(d->window, tail, sizeof tail);
	d->window_nbytes = min_size(d->window_nbytes + n, DEFLATE_WINDOW_NBYTES);
	d->nsymbols = d->nbytes = d->nread = 0;
}

/* ---- the text ---- */

void section_copy(const struct section_decoder *d, size_t at, unsigned char *to, size_t nbytes)
{
	size_t n = at < d->nsymbols ? min_size(nbytes, d->nsymbols - at) : 0;

	if (n)
		deflate_resolve(to, d->symbols + DEFLATE_WINDOW_NBYTES + at, n, d->window);
	if (n < nbytes)
		memcpy(to + n, d->bytes + (at + n - d->nsymbols), nbytes - n);
}
