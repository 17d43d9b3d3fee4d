/* SPDX-License-Identifier: MIT
 *
 * word_set.h - different words (key_word of key.h), and how often each came.
 *
 * A word is appended. Where the room is full, words that came again are taken out, with a table of slots that is then thrown away; if
 * most are left, the room is doubled. So a word takes about 11 bytes, where a table that is half empty takes 17, and it is
 * written after the last one instead of where its hash says.
 */
#pragma once

#include "base/status.h"
#include "fold/key.h"

/* What is held for a key, if more is asked than how many there are. */
struct key_count {
	uint64_t count;
	uint64_t first; /* offset in the input, in bytes */
};

static inline void key_count_add(struct key_count *to, struct key_count times)
{
	if (to->count == 0 || times.first < to->first)
		to->first = times.first;
	to->count += times.count;
}

/* Zeroed: no words. All owned; rooms count towards --memory. */
struct word_set {
	uint64_t *words;         /* n, of which the first nsettled differ from each other */
	struct key_count *times; /* of each, where they are counted */
	uint32_t n, nsettled, room;
};

/* Makes room for one more at least. counts: the set counts; the same in each call. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status word_set_make_room(struct word_set *s, bool counts);

/* Adds a word that is not 0. Errors: as above. */
static inline enum status word_set_add(struct word_set *s, bool counts, uint64_t word, struct key_count times)
{
	enum status status = s->n < s->room ? STATUS_OK : word_set_make_room(s, counts);

	TRY(status);
	s->words[s->n] = word;
	if (counts)
		s->times[s->n] = times;
	s->n++;
	return STATUS_OK;
}

/* Adds all of `from`. Errors: as above. */
enum status word_set_add_all(struct word_set *s, bool counts, const struct word_set *from);

/* Takes out what came again: nsettled becomes n. */
void word_set_settle(struct word_set *s);

/* What word_set_settle does where there is no memory for a table: slower, by sorting. */
void word_set_settle_in_place(struct word_set *s);

/* Removes all words. Keeps the room. */
static inline void word_set_clear(struct word_set *s)
{
	s->n = s->nsettled = 0;
}

void word_set_free(struct word_set *s);
