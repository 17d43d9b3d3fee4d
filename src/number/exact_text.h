/* SPDX-License-Identifier: MIT
 *
 * exact_text.h - the integers that moments are made of as strings of JSON (base/json_text.h), digit for
 * digit: two's complements of 64-bit words, wide numbers and long ones. Functions write or read, as json_number does.
 *
 * Reading fails with STATUS_DAMAGED where the text is no such integer, or does not fit.
 */
#ifndef GPUSTAT_EXACT_TEXT_H
#define GPUSTAT_EXACT_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_text.h"
#include "number/big_decimal.h"
#include "number/by_scale.h"
#include "number/wide.h"

#define EXACT_NWORDS_MAX 5

/* A two's complement of nwords words, the least significant first, as "-123". */
void exact_words(struct json_text *j, uint64_t *word, int nwords);
void exact_int128(struct json_text *j, int128 *x);
void exact_sum192(struct json_text *j, struct sum192 *sum);

/* A significand without the quotes: as a member of a list of integers in a string. */
void exact_put_int64(struct json_text *j, int64_t x);
int64_t exact_get_int64(struct json_text *j);

/* In units of the lowest limb's last digit: "-123", or "-123e18" for one whose limbs below 10^18 are 0. */
void exact_wide(struct json_text *j, struct wide *x);

/* x x 10^nplaces, an integer, in that form; one that is read is not negative, and has up to ndigits_max digits. */
void exact_big(struct json_text *j, struct big_decimal *x, int nplaces, int ndigits_max);

/* A scale below nscales. */
void exact_scale(struct json_text *j, int *scale, int nscales);

/* Sums at several scales that are added up: which scales there are depends on how the input was cut, and the
 * total does not. So that is what is written, in one form: an integer x 10^-(power scale) without zeros at its end
 * while scale > 0, and nothing for 0. One that does not fit in nwords is cut into pieces, at fixed scales. */
#define EXACT_NPIECES_MAX 4
struct exact_piece {
	int scale;
	size_t ndigits;
	const char *digits; /* in the sum's */
};

struct exact_sum {
	struct integer sum; /* x 10^-(power scale) */
	int power, scale;   /* the largest scale */
	int npieces;        /* from here on: after exact_sum_end */
	struct exact_piece pieces[EXACT_NPIECES_MAX]; /* in ascending order of their scales */
	char digits[INTEGER_NDIGITS];
};

/* Begins a sum of integers x 10^-(power s), s <= scale. */
void exact_sum_begin(struct exact_sum *s, int power, int scale);

/* Adds a two's complement of at most EXACT_NWORDS_MAX words. */
void exact_sum_add(struct exact_sum *s, const uint64_t *word, int nwords, int scale);

/* Adds sums by scale, of which the first scale is `first`. */
void exact_sum_add_scales(struct exact_sum *s, const struct by_scale *sums, int first);

/* Makes the pieces. nwords: that they are read to: 2, 3, or EXACT_NWORDS_MAX. */
void exact_sum_end(struct exact_sum *s, int nwords);

/* Writes a piece as "-123"; those of scales first ... end - 1 as [[scale - first,"-123"],...]. */
void exact_put_piece(struct json_text *j, const struct exact_sum *s, const struct exact_piece *piece);
void exact_put_pieces(struct json_text *j, const struct exact_sum *s, int first, int end);

/* Reads such a list, and calls add for each piece, of which STATUS_NO_MEMORY is an error. */
typedef enum status (*exact_add)(void *to, int scale, struct sum192 sum);
void exact_get_pieces(struct json_text *j, exact_add add, void *to);

/* Both: the total of sums by scale, as such a list. */
void exact_sums(struct json_text *j, const struct by_scale *sums, int power, exact_add add, void *to);

#endif
