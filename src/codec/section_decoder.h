/* SPDX-License-Identifier: MIT
 *
 * section_decoder.h - one thread's memory for decoding a section of a gzip member's data.
 * Included by sections.c, section_decoder.c and their test only; sections.h tells how it all works.
 */
#ifndef GPUSTAT_SECTION_DECODER_H
#define GPUSTAT_SECTION_DECODER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "codec/deflate.h"
#include "codec/feed.h"
#include "codec/section_pool.h"
#include "codec/sections.h"

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
	uint16_t *symbols;
	size_t nsymbols, nbytes; /* of the text: symbols, then bytes */
	size_t nread;            /* of the text */
	size_t nunread;          /* the last bytes of the window are the first of the text */
	const unsigned char *bytes;
	uint32_t crc;         /* of the section's text, as far as it has been read */
	uint64_t text_nbytes; /* ... and its length */
	size_t window_nbytes; /* how much of the window there is */
	unsigned char window[DEFLATE_WINDOW_NBYTES + DEFLATE_PAD_NBYTES]; /* the text before */

	pthread_cond_t called; /* the turn has come; with the lock of struct sections */
	struct section_totals totals; /* since it was lent */
	section_watcher *watcher;     /* NULL: none */
	struct section_decoder *next; /* that waits, or is idle */
};

/* NULL: out of memory. */
struct section_decoder *section_decoder_open(void);
void section_decoder_close(struct section_decoder *d);

/* Gives the decoder a section, of which nothing is decoded. */
void section_assign(struct section_decoder *d, struct section *section);

/* Adds the time since *begin_s to a stage, tells the watcher, and sets *begin_s to now. text_nbytes:
 * what has been made of text. */
void section_spend(struct section_decoder *d, enum section_stage stage, size_t text_nbytes,
		   double *begin_s);

/* Adds the decoder's totals to *to, and clears them. */
void section_hand_in_totals(struct section_decoder *d, struct section_totals *to);

/* Decodes to symbols from the first believable block on, until the section ends, memory is full or
 * the turn is the section's. turn: the number of the section that has it. */
void section_guess(struct section_decoder *d, const atomic_uint_least64_t *turn);

/* Makes what was guessed the text if the trunk stands where it began, at a block's beginning; else
 * drops it. bit: of the trunk, counted from the section's first byte. Returns whether it was right. */
bool section_settle(struct section_decoder *d, const struct deflate_trunk *trunk, uint64_t bit,
		    bool in_block);

/* Decodes to bytes as far as memory allows, if the section goes on. */
void section_go_on(struct section_decoder *d);

/* Makes room by dropping text that has been read. */
void section_reuse(struct section_decoder *d);

/* Stores the window behind the text at to. */
void section_tail(const struct section_decoder *d, unsigned char *to);

/* Copies text[at .. at + nbytes). */
void section_copy(const struct section_decoder *d, size_t at, unsigned char *to, size_t nbytes);

#endif
