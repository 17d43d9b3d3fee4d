/* SPDX-License-Identifier: MIT
 *
 * group_lists.c - see group_lists.h.
 */
#include "fold/group_lists.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "fold/values.h"
#include "number/decimal_text.h"

/* What is added to a group. */
struct adding {
	struct groups *to;
	struct group_keys *keys;
	bool counts;
	enum status status;
};

void group_values_prefetch(struct group *g, const struct plan *plan)
{
	for (size_t c = 0; plan->nlists && c < plan->ncolumns; c++) {
		if (plan->columns[c].needs & MOMENT_VALUES)
			__builtin_prefetch(group_values(g, &plan->columns[c])->last);
		if (plan->columns[c].needs & MOMENT_KEY_COUNTS)
			__builtin_prefetch(group_keys(g, &plan->columns[c])->set);
	}
}

/* ---- distinct values ---- */

/* A set. Up to SET_NLISTED values lie one after the other, more of them where their hashes say:
 * linear probes. While all are words (key_word), and none came often, a value takes 8 bytes, and 8
 * more if it is counted; then the set is made a wide one, of struct key and struct key_count. A
 * place without a value is 0. */
struct key_set {
	uint32_t nslots; /* SET_NLISTED, or one less than a power of two, which fills its memory */
	bool is_wide;
	bool has_memory;  /* of its own: what it leaves when it grows, others can use */
	uint64_t words[]; /* nslots, or as many of struct key; then as many counts */
};
#define SET_NLISTED	 5
#define SET_NHASHED_MIN	 15
#define SET_LARGE_NBYTES 4000 /* from there on a set has memory of its own */
#define SET_COUNT_BITS	 16   /* of a word's count, the others are of its place */
#define SET_COUNT_MAX	 (((uint64_t)1 << SET_COUNT_BITS) - 1)

static uint64_t *narrow_times(struct key_set *s)
{
	return s->words + s->nslots;
}

static struct key_count narrow_count(struct key_set *s, uint32_t i)
{
	const uint64_t times = narrow_times(s)[i];

	return (struct key_count){times & SET_COUNT_MAX, times >> SET_COUNT_BITS};
}

static struct key *wide_keys(struct key_set *s)
{
	return (struct key *)s->words;
}

static struct key_count *wide_times(struct key_set *s)
{
	return (struct key_count *)(wide_keys(s) + s->nslots);
}

static size_t set_nbytes(uint32_t nslots, bool is_wide, bool counts)
{
	return offsetof(struct key_set, words) + (nslots * sizeof(uint64_t) << is_wide << counts);
}

/* How many values may be in so many places. */
static uint64_t most_values(uint32_t nslots)
{
	return nslots == SET_NLISTED ? nslots : (uint64_t)nslots * 11 / 16;
}

/* Where a value with that hash is looked for first. */
static inline uint32_t place_of(const struct key_set *s, uint64_t hash)
{
	return (uint32_t)((hash << KEY_PART_BITS >> 32) * s->nslots >> 32);
}

static inline bool is_list(const struct key_set *s)
{
	return s->nslots == SET_NLISTED;
}

/* These return the place of a value, or that where it goes; nslots: a list is full. */
static inline uint32_t find_word(const struct key_set *s, uint64_t word, struct key_seed seed)
{
	uint32_t i = is_list(s) ? 0 : place_of(s, key_word_hash(word, seed));

	for (uint32_t left = s->nslots; left > 0; left--, i = i + 1 == s->nslots ? 0 : i + 1)
		if (s->words[i] == word || s->words[i] == 0)
			return i;
	return s->nslots;
}

static inline uint32_t find_key(struct key_set *s, const struct key *key, struct key_seed seed)
{
	const struct key *keys = wide_keys(s);
	uint32_t i = is_list(s) ? 0 : place_of(s, key_held_hash(key, seed));

	for (uint32_t left = s->nslots; left > 0; left--, i = i + 1 == s->nslots ? 0 : i + 1)
		if (keys[i].high == 0 || key_equals(&keys[i], key))
			return i;
	return s->nslots;
}

/* Reads what is at a place. Returns false where no value is. */
static inline bool read_slot(struct key_set *s, bool counts, uint32_t i, struct key_found *out)
{
	out->times = (struct key_count){1, 0};
	if (!s->is_wide && s->words[i] == 0)
		return false;
	if (s->is_wide) {
		out->key = wide_keys(s)[i];
		if (counts)
			out->times = wide_times(s)[i];
	} else {
		out->key = key_of_word(s->words[i]);
		if (counts)
			out->times = narrow_count(s, i);
	}
	return out->key.high != 0;
}

static enum status new_set(struct groups *g, uint32_t nslots, bool is_wide, bool counts,
			   struct key_set **out)
{
	const size_t nbytes = set_nbytes(nslots, is_wide, counts);
	void *memory;

	if (nbytes < SET_LARGE_NBYTES) {
		TRY(key_arena_take(&g->values, nbytes, &memory));
		memset(memory, 0, nbytes);
	} else {
		TRY(key_memory_new(nbytes, &memory));
		g->nlarge_sets++;
	}
	*out = memory;
	(*out)->nslots = nslots;
	(*out)->is_wide = is_wide;
	(*out)->has_memory = nbytes >= SET_LARGE_NBYTES;
	return STATUS_OK;
}

static void free_set(struct groups *g, struct key_set *s, bool counts)
{
	if (!s || !s->has_memory)
		return;
	key_memory_free(s, set_nbytes(s->nslots, s->is_wide, counts));
	g->nlarge_sets--;
}

/* Gives a group's values a set of some form with room for n. */
static __attribute__((noinline)) enum status remake(struct groups *g, struct group_keys *keys,
						    uint64_t n, bool is_wide, bool counts)
{
	struct key_set *old = keys->set, *made;
	uint32_t nslots = SET_NLISTED;
	struct key_found found;
	struct key_seed seed;

	while (most_values(nslots) < n)
		nslots = nslots == SET_NLISTED ? SET_NHASHED_MIN : 2 * nslots + 1;
	TRY(new_set(g, nslots, is_wide, counts, &made));
	keys->set = made;
	if (!old)
		return STATUS_OK;
	seed = key_seed_get();
	for (uint32_t i = 0; i < old->nslots; i++)
		if (is_wide) {
			if (!read_slot(old, counts, i, &found))
				continue;
			const uint32_t at = find_key(made, &found.key, seed);
			wide_keys(made)[at] = found.key;
			if (counts)
				wide_times(made)[at] = found.times;
		} else if (old->words[i]) {
			const uint32_t at = find_word(made, old->words[i], seed);
			made->words[at] = old->words[i];
			if (counts)
				narrow_times(made)[at] = narrow_times(old)[i];
		}
	free_set(g, old, counts);
	return STATUS_OK;
}

/* Whether a new value at that place needs a larger set. */
static inline bool is_full(const struct group_keys *keys, uint32_t at)
{
	return at == keys->set->nslots || keys->n >= most_values(keys->set->nslots);
}

static enum status add_wide(struct groups *g, struct group_keys *keys, bool counts,
			    const struct key *value, struct key_count times, struct key_seed seed)
{
	uint32_t at = find_key(keys->set, value, seed);
	struct key *to;
	void *text;

	if (at == keys->set->nslots || wide_keys(keys->set)[at].high == 0) {
		if (is_full(keys, at)) {
			TRY(remake(g, keys, keys->n + 1, true, counts));
			at = find_key(keys->set, value, seed);
		}
		to = &wide_keys(keys->set)[at];
		if (key_is_long(value))
			TRY(key_arena_take(&g->texts, key_nbytes(value), &text));
		*to = *value;
		if (key_is_long(value))
			to->text = memcpy(text, value->text, key_nbytes(value));
		keys->n++;
		g->nkeys++;
	}
	if (counts)
		key_count_add(&wide_times(keys->set)[at], times);
	return STATUS_OK;
}

/* Adds a value that came so often. word: its word, or 0. */
static inline __attribute__((always_inline)) enum status
add_value(struct groups *g, struct group_keys *keys, bool counts, const struct key *value,
	  uint64_t word, struct key_count times, struct key_seed seed)
{
	struct key_count all = times;
	uint32_t at;

	if (!keys->set || (word == 0 && !keys->set->is_wide))
		TRY(remake(g, keys, keys->n + 1, word == 0, counts));
	if (keys->set->is_wide)
		return add_wide(g, keys, counts, value, times, seed);
	at = find_word(keys->set, word, seed);
	if (at == keys->set->nslots || keys->set->words[at] == 0) {
		if (is_full(keys, at)) {
			TRY(remake(g, keys, keys->n + 1, false, counts));
			at = find_word(keys->set, word, seed);
		}
	} else if (!counts) {
		return STATUS_OK;
	} else {
		key_count_add(&all, narrow_count(keys->set, at));
	}
	if (counts && (all.count > SET_COUNT_MAX || all.first >> (64 - SET_COUNT_BITS))) {
		TRY(remake(g, keys, keys->n + 1, true, counts));
		return add_wide(g, keys, counts, value, times, seed);
	}
	if (keys->set->words[at] == 0) {
		keys->n++;
		g->nkeys++;
	}
	keys->set->words[at] = word;
	if (counts)
		narrow_times(keys->set)[at] = all.first << SET_COUNT_BITS | all.count;
	return STATUS_OK;
}

static bool counts_keys(const struct plan_column *column)
{
	return (column->needs & MOMENT_KEY_COUNTS) != 0;
}

/* Fetches the places that are looked at first for rows' values. */
static inline __attribute__((always_inline)) void
prefetch_place(const struct key_set *s, bool counts, const struct key *value, uint64_t word,
	       struct key_seed seed)
{
	uint32_t at;

	if (!s || is_list(s))
		return;
	at = place_of(s, s->is_wide ? key_held_hash(value, seed) : key_word_hash(word, seed));
	__builtin_prefetch(s->words + ((size_t)at << s->is_wide), 1);
	if (counts)
		__builtin_prefetch(s->words + ((size_t)(s->nslots + at) << s->is_wide), 1);
}

static enum status keys_update(struct groups *g, struct group *const *groups, size_t c,
			       const struct group_vector *v)
{
	const struct plan_column *column = &g->plan->columns[c];
	const size_t offset = column->cell_offset + group_state_offset(column, GROUP_KEYS);
	const struct key_seed seed = key_seed_get();
	const bool counts = counts_keys(column);
	struct group_keys *keys[SIMD_NUMBERS_NROWS];
	struct key values[SIMD_NUMBERS_NROWS];
	uint64_t words[SIMD_NUMBERS_NROWS];

	for (uint64_t rows = v->present; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		keys[row] = (struct group_keys *)((char *)groups[row] + offset);
		__builtin_prefetch(keys[row]->set, 1);
		__builtin_prefetch((const char *)keys[row]->set + 64, 1);
	}
	for (uint64_t rows = v->present; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		key_make(v->texts[row].text, v->texts[row].nbytes, true, seed, &values[row]);
		words[row] = key_word(&values[row]);
		prefetch_place(keys[row]->set, counts, &values[row], words[row], seed);
	}
	for (uint64_t rows = v->present; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		const struct key_count once = {1, v->texts[row].place + v->texts[row].nbefore};
		TRY(add_value(g, keys[row], counts, &values[row], words[row], once, seed));
	}
	return STATUS_OK;
}

static struct group_keys *keys_of(struct group *group, const struct plan_column *column,
				  bool is_text)
{
	return is_text ? group_text_keys(group, column) : group_keys(group, column);
}

static void add_found(void *context, const struct key_found *found)
{
	struct adding *a = context;
	const struct key_count once = {1, 0};

	if (a->status == STATUS_OK)
		a->status = add_value(a->to, a->keys, a->counts, &found->key, key_word(&found->key),
				      a->counts ? found->times : once, key_seed_get());
}

static void each_of(const struct group_keys *keys, bool counts, keys_visitor visit, void *context)
{
	struct key_found found;

	for (uint32_t i = 0; keys->set && i < keys->set->nslots; i++)
		if (read_slot(keys->set, counts, i, &found))
			visit(context, &found);
}

static enum status combine_keys(struct groups *to, struct group *g, struct group *later, size_t c,
				bool is_text)
{
	const struct plan_column *column = &to->plan->columns[c];
	const struct group_keys *from = keys_of(later, column, is_text);
	struct adding a = {.to = to,
			   .keys = keys_of(g, column, is_text),
			   .counts = counts_keys(column),
			   .status = STATUS_OK};
	const struct key_set *set = a.keys->set;

	if (from->n > a.keys->n &&
	    (!set || most_values(set->nslots) < from->n)) /* places are in the order of hashes */
		TRY(remake(to, a.keys, from->n, from->set->is_wide || (set && set->is_wide),
			   a.counts));
	each_of(from, a.counts, add_found, &a);
	return a.status;
}

static enum status keys_combine(struct groups *to, struct group *g, struct group *later, size_t c)
{
	return combine_keys(to, g, later, c, false);
}

static enum status text_keys_combine(struct groups *to, struct group *g, struct group *later,
				     size_t c)
{
	return combine_keys(to, g, later, c, true);
}

static enum status add_keys(struct groups *to, struct group *g, size_t c,
			    const struct column_partial *later, bool is_text)
{
	const struct plan_column *column = &to->plan->columns[c];
	const struct keys *keys =
		moments_cell(&later->moments, is_text ? CELL_TEXT_KEYS : CELL_KEYS);
	struct adding a = {.to = to,
			   .keys = keys_of(g, column, is_text),
			   .counts = counts_keys(column),
			   .status = STATUS_OK};

	if (keys)
		keys_each(keys, add_found, &a);
	return a.status;
}

static enum status keys_take(struct groups *to, struct group *g, size_t c,
			     const struct column_partial *later)
{
	return add_keys(to, g, c, later, false);
}

static enum status text_keys_take(struct groups *to, struct group *g, size_t c,
				  const struct column_partial *later)
{
	return add_keys(to, g, c, later, true);
}

/* ---- reading them ---- */

/* Whether the distinct texts are kept apart from the numbers. */
static bool has_text_keys(const struct plan_column *column)
{
	return column->states >> GROUP_TEXT_KEYS & 1;
}

void group_keys_each(struct group *group, const struct plan_column *column, bool has_texts,
		     keys_visitor visit, void *context)
{
	for (int i = 0; i <= (has_texts && has_text_keys(column)); i++)
		each_of(keys_of(group, column, i), counts_keys(column), visit, context);
}

bool group_keys_find(struct group *group, const struct plan_column *column, bool has_texts,
		     enum keys_order order, struct key *value)
{
	struct keys_search s = {.order = order, .best.key.high = (uint64_t)1 << 56};

	group_keys_each(group, column, has_texts, keys_search_visit, &s);
	*value = s.best.key;
	return s.best.times.count > 0;
}

/* A column's keys, to which a group's are added. */
struct key_target {
	struct keys *keys;
	struct keys_wanted wanted;
	enum status status;
};

static void add_to_target(void *context, const struct key_found *found)
{
	struct key_target *t = context;

	if (t->status == STATUS_OK)
		t->status = keys_add_times(t->keys, t->wanted, key_text(&found->key),
					   key_nbytes(&found->key), found->times);
}

enum status group_keys_add_to(struct group *group, const struct plan_column *column,
			      struct column_partial *to)
{
	for (int i = 0; i <= has_text_keys(column); i++) {
		const struct group_keys *from = keys_of(group, column, i);
		struct key_target t = {.wanted = keys_wanted_of(column), .status = STATUS_OK};
		if (from->n == 0)
			continue;
		NEED(t.keys = moments_need(&to->moments, i ? CELL_TEXT_KEYS : CELL_KEYS));
		each_of(from, counts_keys(column), add_to_target, &t);
		TRY(t.status);
	}
	return STATUS_OK;
}

/* ---- numbers and distinct values ---- */

const struct group_state_ops group_state_keys = {
	.update = keys_update, .combine = keys_combine, .take = keys_take};
const struct group_state_ops group_state_text_keys = {.combine = text_keys_combine,
						      .take = text_keys_take};

static enum status free_large(void *context, struct group *group)
{
	struct groups *g = context;

	for (const struct plan_column *column = g->plan->columns;
	     column < g->plan->columns + g->plan->ncolumns; column++)
		for (int i = 0; column->needs & MOMENT_KEYS && i <= has_text_keys(column); i++)
			free_set(g, keys_of(group, column, i)->set, counts_keys(column));
	return STATUS_OK;
}

void group_lists_clear(struct groups *g)
{
	if (g->nlarge_sets > 0)
		groups_each(g, free_large, g);
	g->nkeys = 0;
	key_arena_clear(&g->values);
}
