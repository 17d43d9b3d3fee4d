/* SPDX-License-Identifier: MIT
 *
 * exact_text.h - the integers that moments are made of as strings of JSON (base/json_text.h), digit for
 * digit: two's complements of 64-bit words, and limbs in base 10^9.
 *
 * A reader fails with STATUS_DAMAGED where the text is no such integer, or does not fit.
 */
#ifndef GPUSTAT_EXACT_TEXT_H
#define GPUSTAT_EXACT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_text.h"
#include "number/by_scale.h"
#include "number/integer.h"
#include "number/wide.h"

#define EXACT_NWORDS_MAX 5

/* A two's complement of nwords words, the least significant first, as "-123". */
void exact_put_words(struct json_writer *w, const uint64_t *word, int nwords);
void exact_words(struct json_reader *r, uint64_t *word, int nwords);

void exact_put_int128(struct json_writer *w, int128 x);
int128 exact_int128(struct json_reader *r);

/* For a significand, without the quotes: as a member of a list of integers in a string. */
void exact_put_int64(struct json_writer *w, int64_t x);
int64_t exact_int64(struct json_reader *r);

/* A two's complement of 192 bits. */
void exact_put_sum192(struct json_writer *w, const struct sum192 *sum);
struct sum192 exact_sum192(struct json_reader *r);

/* The sum of limb[i] x 10^(9 i), i < nlimbs, canonical as struct wide is: "-123", or "-123e18" for one
 * whose limbs below 10^18 are 0. */
void exact_put_limbs(struct json_writer *w, const int64_t *limb, int nlimbs);
void exact_limbs(struct json_reader *r, int64_t *limb, int nlimbs);

/* Whether any limb is not 0. limb: NULL: 0. */
bool exact_has_limbs(const int64_t *limb, int nlimbs);

/* x x 10^nmore, as the limbs above are written; one that is read is not negative, and has up to nlimbs_max <= 4 WIDE_NLIMBS + 3 of those. */
void exact_put_integer(struct json_writer *w, const struct integer *x, int nmore);
void exact_integer(struct json_reader *r, struct integer *x, int nlimbs_max);

/* Sums at several scales that are added up: which scales there are depends on how the input was cut, and the
 * total does not. So that is what is written, in one form: an integer x 10^-(power scale) without zeros at its end
 * while scale > 0, and nothing for 0. One that does not fit in nwords is cut into pieces, at fixed scales. */
#define EXACT_NPIECES_MAX 4
#define EXACT_SUM_NDIGITS 256
struct exact_piece {
	int scale;
	size_t ndigits;
	const char *digits; /* in the sum's */
};

struct exact_sum {
	struct integer sum;
	int power, scale;       /* the largest scale */
	int npieces; /* from here on: after exact_sum_end */
	struct exact_piece pieces[EXACT_NPIECES_MAX]; /* in ascending order of their scales */
	char digits[EXACT_SUM_NDIGITS];
};

/* Begins a sum of integers x 10^-(power s), s <= scale. */
void exact_sum_begin(struct exact_sum *s, int power, int scale);

/* Adds a two's complement. nwords: 2, 3, or EXACT_NWORDS_MAX; so many for all calls for a sum. */
void exact_sum_add(struct exact_sum *s, const uint64_t *word, int nwords, int scale);

/* Adds sums by scale, of which the first scale is `first`. */
void exact_sum_add_scales(struct exact_sum *s, const struct by_scale *sums, int first);

/* Makes the pieces. */
void exact_sum_end(struct exact_sum *s, int nwords);

/* Whether a two's complement, where it is all of a sum, is the only piece as it is: it has 128 bits, and no zeros that would
 * be taken away. Saves most sums the way by integers of any length. */
bool exact_is_final(const uint64_t *word, int nwords, int scale, int power);

/* Writes a piece as "-123"; those of scales first ... end - 1 as [scale - first,"-123"],... */
void exact_put_piece(struct json_writer *w, const struct exact_sum *s, const struct exact_piece *piece);
void exact_put_pieces(struct json_writer *w, const struct exact_sum *s, int first, int end);

/* The total of sums by scale, as [[scale,"sum"],...], usually of one item. add is called for each that is read;
 * false: no memory. */
void exact_put_sums(struct json_writer *w, const struct by_scale *sums, int power);
void exact_sums(struct json_reader *r, enum status (*add)(void *to, int scale, struct sum192 sum), void *to);

/* A scale below nscales. */
int exact_scale(struct json_reader *r, int nscales);

#endif
