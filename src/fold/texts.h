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
#include "fold/key_memory.h"
#include "lang/time.h"

#define KEPT_NBYTES 23 /* in line */
#define KEPT_LONG 255

/* A value that is kept: in line, or a longer one elsewhere. Zeroed: none. */
struct kept_text {
	union {
		uint64_t key;   /* text_key, of a smallest or largest text */
		uint64_t place; /* of a first or last value: twice (its offset in the input, in bytes, + 1), and 1 if it is a number; 0: none */
	};
	union {
		struct {
			uint8_t nbytes; /* or KEPT_LONG */
			char text[KEPT_NBYTES];
		};
		struct {
			uint8_t mark;
			uint32_t room_nbytes; /* where it lies; 0: in the text that is folded, until groups are combined */
			uint64_t long_nbytes;
			char *at; /* in an arena, owned, or in the text that is folded */
		};
	};
};

/* Zeroed: of no values, which is the identity. Lengths are bytes. */
struct texts {
	uint64_t count : 62;
	uint64_t has_other : 1; /* a value that is no date */
	uint64_t has_time : 1;  /* a date with a time of day */
	uint32_t shortest, longest; /* if count > 0, as are these: */
	struct kept_text least, greatest;
};

static inline const char *kept_text_bytes(const struct kept_text *k, size_t *nbytes)
{
	*nbytes = k->nbytes == KEPT_LONG ? k->long_nbytes : k->nbytes;
	return k->nbytes == KEPT_LONG ? k->at : k->text;
}

/* Makes k a value; a long one stays where it is. is_padded: KEPT_NBYTES may be read from text on. */
static inline __attribute__((always_inline)) void kept_text_set(struct kept_text *k, uint64_t place_or_key, const char *text, size_t nbytes,
								bool is_padded)
{
	k->place = place_or_key;
	if (nbytes <= KEPT_NBYTES) {
		k->nbytes = (uint8_t)nbytes;
		memcpy(k->text, text, is_padded ? KEPT_NBYTES : nbytes);
	} else {
		k->mark = KEPT_LONG;
		k->room_nbytes = 0;
		k->long_nbytes = nbytes;
		k->at = (char *)text;
	}
}

/* Makes `to` what `from` is. A long value goes where to's was, if that has room, or else to the arena; NULL: it is owned. Errors:
 * STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status kept_text_copy(struct kept_text *to, const struct kept_text *from, struct key_arena *arena);

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

/* What is kept, as a value of a run. */
static inline struct text_at kept_text_at(const struct kept_text *k)
{
	size_t nbytes;
	const char *text = kept_text_bytes(k, &nbytes);

	return (struct text_at){text, (uint32_t)nbytes, k->key};
}

/* Begins a run with what is in t. */
static inline void text_run_begin(struct text_run *run, const struct texts *t)
{
	*run = (struct text_run){.count = t->count, .shortest = UINT32_MAX, .longest = 0, .least = {NULL, 0, UINT64_MAX},
				 .greatest = {NULL, 0, 0}, .has_other = t->has_other != 0, .has_time = t->has_time != 0};
	if (t->count == 0)
		return;
	run->shortest = t->shortest;
	run->longest = t->longest;
	run->least = kept_text_at(&t->least);
	run->greatest = kept_text_at(&t->greatest);
}

/* Ends it: t becomes the texts before and those of the run. arena, errors: as of kept_text_copy. copies: else long values stay where they
 * are. */
enum status text_run_end(const struct text_run *run, struct texts *t, struct key_arena *arena, bool copies);

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
