/* SPDX-License-Identifier: MIT
 *
 * word_set.c - see word_set.h.
 */
#include "fold/word_set.h"

#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "fold/key_memory.h"

#define ROOM_MIN 16
#define ROOM_SMALL 1024 /* there a settlement costs more than room for a few rounds */
#define FEW_NWORDS 16 /* are compared with each other */
#define AHEAD_NWORDS 16 /* whose slots are on their way into the cache */

/* ---- room ---- */

static void free_room(struct word_set *s)
{
	key_memory_free(s->words, s->room * sizeof *s->words);
	key_memory_free(s->times, s->times ? s->room * sizeof *s->times : 0);
}

void word_set_free(struct word_set *s)
{
	free_room(s);
	*s = (struct word_set){NULL, NULL, 0, 0, 0};
}

static enum status widen(struct word_set *s, bool counts, uint32_t room)
{
	struct word_set wider = {.n = s->n, .nsettled = s->nsettled, .room = room};
	void *words, *times;

	TRY(key_memory_new_two(room * sizeof *s->words, &words, counts ? room * sizeof *s->times : 0, &times));
	wider.words = words;
	wider.times = times;
	if (s->n > 0)
		memcpy(wider.words, s->words, s->n * sizeof *s->words);
	if (s->n > 0 && counts)
		memcpy(wider.times, s->times, s->n * sizeof *s->times);
	free_room(s);
	*s = wider;
	return STATUS_OK;
}

enum status word_set_make_room(struct word_set *s, bool counts)
{
	if (s->room == 0)
		return widen(s, counts, ROOM_MIN);
	word_set_settle(s);
	if (s->n <= (s->room < ROOM_SMALL ? s->room / 4 : s->room / 4 * 3))
		return STATUS_OK;
	return s->room > UINT32_MAX / 2 ? STATUS_MANY_KEYS : widen(s, counts, 2 * s->room);
}

enum status word_set_add_all(struct word_set *s, bool counts, const struct word_set *from)
{
	enum status status = STATUS_OK;

	for (uint32_t i = 0; i < from->n && status == STATUS_OK; i++)
		status = word_set_add(s, counts, from->words[i], counts ? from->times[i] : (struct key_count){0, 0});
	return status;
}

/* ---- settling ---- */

/* Moves word `from` after the first *n, which differ, unless it is the one with the number `same`. */
static inline void keep(struct word_set *s, uint32_t from, uint32_t same, uint32_t *n)
{
	if (same < *n) {
		if (s->times)
			key_count_add(&s->times[same], s->times[from]);
		return;
	}
	s->words[*n] = s->words[from];
	if (s->times)
		s->times[*n] = s->times[from];
	++*n;
}

static void settle_few(struct word_set *s)
{
	uint32_t n = s->nsettled;

	for (uint32_t i = n, j; i < s->n; i++) {
		for (j = 0; j < n && s->words[j] != s->words[i]; j++)
			continue;
		keep(s, i, j, &n);
	}
	s->n = s->nsettled = n;
}

/* slots: 1 << nbits of them, 0: the number of a word, and 1. */
static void settle_by_table(struct word_set *s, uint32_t *slots, int nbits)
{
	const struct key_seed seed = key_seed_get();
	const uint32_t mask = ((uint32_t)1 << nbits) - 1;
	uint32_t ahead[AHEAD_NWORDS], n = 0;

	for (uint32_t i = 0; i < s->n + AHEAD_NWORDS; i++) {
		uint32_t *at = &ahead[i % AHEAD_NWORDS], slot = *at;
		if (i < s->n) {
			*at = (uint32_t)(key_word_hash(s->words[i], seed) >> (64 - nbits));
			__builtin_prefetch(&slots[*at], 1);
		}
		if (i < AHEAD_NWORDS)
			continue;
		while (slots[slot] && s->words[slots[slot] - 1] != s->words[i - AHEAD_NWORDS])
			slot = (slot + 1) & mask;
		if (!slots[slot]) {
			slots[slot] = n + 1;
			keep(s, i - AHEAD_NWORDS, n, &n);
		} else {
			keep(s, i - AHEAD_NWORDS, slots[slot] - 1, &n);
		}
	}
	s->n = s->nsettled = n;
}

static void swap(void *set, size_t i, size_t j)
{
	struct word_set *s = set;
	uint64_t word = s->words[i];

	s->words[i] = s->words[j];
	s->words[j] = word;
	if (s->times) {
		struct key_count times = s->times[i];
		s->times[i] = s->times[j];
		s->times[j] = times;
	}
}

static bool is_greater(const void *set, size_t i, size_t j)
{
	const struct word_set *s = set;

	return s->words[i] > s->words[j];
}

void word_set_settle_in_place(struct word_set *s)
{
	uint32_t n = 0;

	heap_sort(s, s->n, is_greater, swap);
	for (uint32_t i = 0; i < s->n; i++)
		keep(s, i, n > 0 && s->words[n - 1] == s->words[i] ? n - 1 : n, &n);
	s->n = s->nsettled = n;
}

void word_set_settle(struct word_set *s)
{
	int nbits = 1;
	uint32_t *slots;

	if (s->n == s->nsettled)
		return;
	if (s->n <= FEW_NWORDS) {
		settle_few(s);
		return;
	}
	while (nbits < 32 && (uint64_t)1 << nbits < 2 * (uint64_t)s->n)
		nbits++;
	slots = nbits < 32 ? calloc((size_t)1 << nbits, sizeof *slots) : NULL;
	if (slots)
		settle_by_table(s, slots, nbits);
	else
		word_set_settle_in_place(s);
	free(slots);
}
