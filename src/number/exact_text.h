/* SPDX-License-Identifier: MIT
 *
 * exact_text.h - the integers that moments are made of as strings of JSON (base/json_text.h), digit for
 * digit: two's complements of 64-bit words, and limbs in base 10^9.
 *
 * A reader fails with STATUS_DAMAGED where the text is no such integer, or does not fit.
 */
#ifndef GPUSTAT_EXACT_TEXT_H
#define GPUSTAT_EXACT_TEXT_H

#include <stdint.h>

#include "base/json_text.h"
#include "number/by_scale.h"
#include "number/natural.h"
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

void exact_put_natural(struct json_writer *w, const struct natural *n);
void exact_natural(struct json_reader *r, struct natural *n, int nlimbs_max);

/* The sums of scales, as [[scale,"sum"],...]. add is called for each that is read; false: no memory. */
void exact_put_sums(struct json_writer *w, const struct by_scale *sums);
void exact_sums(struct json_reader *r, enum status (*add)(void *to, int scale, struct sum192 sum), void *to);

/* A scale below nscales. */
int exact_scale(struct json_reader *r, int nscales);

#endif
