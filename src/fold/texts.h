/* SPDX-License-Identifier: MIT
 *
 * texts.h - what is kept of a column's values as text: their number, the shortest and longest
 * length, the smallest and largest value bytewise, and whether all are dates.
 *
 * It is a moment (moment.h) of values rather than of numbers: the caller adds each value that is not
 * missing, number or not. A value with a NUL is neither and is not added. Most values are compared by
 * their first 8 bytes alone, as one big-endian word.
 */
#pragma once

#include <string.h>

#include "base/status.h"
#include "lang/time.h"

#define KEPT_NBYTES_INSIDE 16

/* A copy of a value. */
struct kept_text {
	uint32_t nbytes, capacity; /* capacity of far; 0: the bytes are inside */
	union {
		char inside[KEPT_NBYTES_INSIDE];
		char *far; /* owned */
	};
};

/* Zeroed: of no values, which is the identity. Lengths are bytes. */
struct texts {
	uint64_t count;
	uint32_t shortest, longest; /* if count > 0, as are these: */
	struct kept_text least, greatest;
	bool has_other; /* a value that is no date */
	bool has_time;  /* a date with a time of day */
};

static inline const char *kept_text_bytes(const struct kept_text *k)
{
	return k->capacity ? k->far : k->inside;
}

/* One value of a run; its first 8 bytes as a big-endian word, zeros after its end. */
struct text_at {
	const char *text; /* NULL: none */
	uint32_t nbytes;
	uint64_t key;
};

/* A run of values that is folded into a struct texts. The values stay in place: smallest and largest
 * point to them, or into the texts. */
struct text_run {
	uint64_t count;
	uint32_t shortest, longest;
	struct text_at least, greatest;
	bool has_other, has_time;
};

/* Begins a run with what is in t. */
void text_run_begin(struct text_run *run, const struct texts *t);

/* Ends it: t becomes the texts before and those of the run. Errors: STATUS_NO_MEMORY. */
enum status text_run_end(const struct text_run *run, struct texts *t);

/* Make x the smallest or largest of the run if it is. */
void text_run_lower(struct text_run *run, const struct text_at *x);
void text_run_raise(struct text_run *run, const struct text_at *x);

/* Adds all of a later run. */
void text_run_combine(struct text_run *run, const struct text_run *later);

/* Adds a value, and notes whether it is a date, unless some value is not. */
void text_run_take(struct text_run *run, const struct text_at *x);

/* Adds to t a value of 0 < nbytes < 2^32 without a NUL. Errors: STATUS_NO_MEMORY. */
enum status texts_add(struct texts *t, const char *text, size_t nbytes);

/* The key of a value of 1 byte or more; 8 bytes from text[0] on are readable. */
static inline uint64_t text_key(const char *text, uint32_t nbytes)
{
	uint64_t word;

	memcpy(&word, text, sizeof word);
#if __BYTE_ORDER__ != __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return nbytes < 8 ? word & ~(~UINT64_C(0) >> 8 * nbytes) : word;
}

/* Notes what kind of value came, for the column's type. */
static inline void text_run_note_date(struct text_run *run, enum time_form form)
{
	run->has_other |= form == TIME_NONE;
	run->has_time |= form == TIME_DATETIME;
}

/* Adds a value as texts_add does, but for its kind. 8 bytes from text[0] on are readable; the text
 * outlives the run. */
static inline void text_run_add(struct text_run *run, const char *text, uint32_t nbytes)
{
	const struct text_at x = {text, nbytes, text_key(text, nbytes)};

	run->count++;
	run->shortest = nbytes < run->shortest ? nbytes : run->shortest;
	run->longest = nbytes > run->longest ? nbytes : run->longest;
	if (x.key <= run->least.key)
		text_run_lower(run, &x);
	if (x.key >= run->greatest.key)
		text_run_raise(run, &x);
}
