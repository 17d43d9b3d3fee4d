/* SPDX-License-Identifier: MIT
 *
 * moment_keys.c - see keys.h.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "fold/key_memory.h"
#include "fold/keys.h"
#include "fold/partial_text.h"
#include "simd/simd.h"

#define FLIGHT_NKEYS 32 /* places that are fetched into the cache before they are needed */
#define KEYS_BETWEEN_CHECKS 64 /* of the limit */

static_assert(SIMD_PAD_NBYTES >= sizeof(struct key), "a key is read whole, whatever its length");

/* Makes the cell keep what is wanted. While it is the identity, it wants nothing. All cells of a column
 * want the same. */
static void keys_want(struct keys *k, struct keys_wanted wanted)
{
	k->nmost = wanted.nmost ? wanted.nmost : k->nmost;
	k->counts = k->counts || wanted.counts;
	k->is_small = k->is_small || wanted.is_small;
}

/* The number of parts that the cell has, or is to have. */
static size_t count_wanted(const struct keys *k)
{
	return k->is_small ? 1 : KEYS_NPARTS;
}

/* Makes the parts unless they are there. */
static enum status need_parts(struct keys *k)
{
	void *memory;

	if (k->parts)
		return STATUS_OK;
	TRY(key_memory_new(count_wanted(k) * sizeof *k->parts, &memory));
	k->parts = memory;
	for (size_t i = 0; i < count_wanted(k); i++)
		k->parts[i].others.value_nbytes = k->counts ? sizeof(struct key_count) : 0;
	return STATUS_OK;
}

/* The number of parts that the cell has. */
static size_t count_parts(const struct keys *k)
{
	return k && k->parts ? count_wanted(k) : 0;
}

/* How many keys certainly differ. */
static uint64_t count_known(const struct keys *k)
{
	uint64_t n = k ? k->nsettled : 0;

	for (size_t i = 0; i < count_parts(k); i++)
		n += k->parts[i].words.nsettled + k->parts[i].others.nkeys;
	return n;
}

uint64_t keys_count_at_most(const struct keys *k)
{
	uint64_t n = k ? k->nsettled : 0;

	for (size_t i = 0; i < count_parts(k); i++)
		n += k->parts[i].words.n + k->parts[i].others.nkeys;
	return n;
}

/* Words that came again are no part of what a cell is, so a reader may take them out. */
static void settle(const struct keys *k)
{
	for (size_t i = 0; i < count_parts(k); i++)
		word_set_settle(&k->parts[i].words);
}

uint64_t keys_count(const struct keys *k)
{
	settle(k);
	return count_known(k);
}

/* Drops all keys if more than are wanted are known to differ. */
static void check_known(struct keys *k)
{
	if (k->nmost == 0 || (!k->is_over && count_known(k) <= k->nmost))
		return;
	k->is_over = true;
	for (size_t i = 0; i < count_parts(k); i++) {
		word_set_free(&k->parts[i].words);
		key_table_free(&k->parts[i].others);
	}
}

/* Drops all keys if there are more than wanted. */
static void check_limit(struct keys *k)
{
	if (k->nmost > 0)
		settle(k);
	check_known(k);
}

/* ---- adding ---- */

static inline struct key_part *part_of(const struct keys *k, uint64_t hash)
{
	return &k->parts[k->is_small ? 0 : hash >> (64 - KEY_PART_BITS)];
}

/* Adds a key that is no word with its times. adopts: the table owns its bytes already. Inline: each caller's loop does
 * little else. */
static inline __attribute__((always_inline)) enum status
add_other(struct key_table *t, const struct key *key, uint64_t hash, struct key_seed seed,
	  struct key_count times, bool adopts)
{
	size_t slot = key_table_find(t, key, hash);

	if (slot == SIZE_MAX)
		TRY(key_table_insert(t, key, hash, seed, adopts, &slot));
	if (t->value_nbytes)
		key_count_add(key_table_value(t, slot), times);
	return STATUS_OK;
}

/* Adds a key, whose bytes are copied, with its times. */
static inline __attribute__((always_inline)) enum status
add_key(const struct keys *k, const struct key *key, uint64_t hash, struct key_seed seed, struct key_count times)
{
	struct key_part *part = part_of(k, hash);
	uint64_t word = key_word(key);

	return word ? word_set_add(&part->words, k->counts, word, times) : add_other(&part->others, key, hash, seed, times, false);
}

/* Adds a text, which is copied, as often as times says. */
enum status keys_add_times(struct keys *k, struct keys_wanted wanted, const char *text, size_t nbytes, struct key_count times)
{
	struct key_seed seed = key_seed_get();
	struct key key;
	uint64_t hash = key_make(text, nbytes, false, seed, &key);

	keys_want(k, wanted);
	if (k->is_over)
		return STATUS_OK;
	TRY(need_parts(k));
	TRY(add_key(k, &key, hash, seed, times));
	check_known(k);
	return STATUS_OK;
}

enum status keys_add(struct keys *k, struct keys_wanted wanted, const char *text, size_t nbytes,
		     uint64_t first)
{
	return keys_add_times(k, wanted, text, nbytes, (struct key_count){1, first});
}

/* Keys whose places are on their way into the cache. */
struct flight {
	struct key keys[2 * FLIGHT_NKEYS];
	uint64_t hashes[2 * FLIGHT_NKEYS];
};

static inline void flight_begin(struct flight *f, struct keys *k, const struct key_log *log,
				size_t i, struct key_seed seed)
{
	const struct key_span *span = &log->spans[i];
	size_t at = i % (2 * FLIGHT_NKEYS);

	f->hashes[at] = key_make(log->text + span->begin, span->end - span->begin, true, seed,
				 &f->keys[at]);
	if (!key_word(&f->keys[at]))
		key_table_prefetch(&part_of(k, f->hashes[at])->others, f->hashes[at]);
}

static inline enum status flight_end(const struct flight *f, struct keys *k,
				     const struct key_log *log, size_t i, struct key_seed seed)
{
	size_t at = i % (2 * FLIGHT_NKEYS);
	struct key_count times = {1, log->offset_bytes + log->spans[i].begin};

	return add_key(k, &f->keys[at], f->hashes[at], seed, times);
}

/* Looks up all that is noted in log, which may be k's own. */
static enum status add_log(struct keys *k, const struct key_log *log)
{
	struct key_seed seed = key_seed_get();
	size_t n = log->nspans, nahead = n < FLIGHT_NKEYS ? n : FLIGHT_NKEYS;
	enum status status = n ? need_parts(k) : STATUS_OK;
	struct flight flight;

	if (status != STATUS_OK)
		return status;
	for (size_t i = 0; i < nahead; i++)
		flight_begin(&flight, k, log, i, seed);
	for (size_t i = 0; i < n && status == STATUS_OK && !k->is_over; i++) {
		if (i + nahead < n)
			flight_begin(&flight, k, log, i + nahead, seed);
		status = flight_end(&flight, k, log, i, seed);
		if (k->nmost && i % KEYS_BETWEEN_CHECKS == 0)
			check_known(k);
	}
	return status;
}

static enum status add_own_log(struct keys *k)
{
	enum status status = add_log(k, &k->log);

	k->log.nspans = 0; /* also after an error: their text goes */
	return status;
}

struct key_span *keys_note(struct keys *k, struct keys_wanted wanted, const char *text,
			   uint64_t offset_bytes, size_t nspans)
{
	struct key_log *log = &k->log;

	keys_want(k, wanted);
	if (ARRAY_GROW(log->spans, log->capacity, log->nspans + nspans) != STATUS_OK)
		return NULL;
	log->text = text; /* a cell is cleared before another text is folded into it */
	log->offset_bytes = offset_bytes;
	return log->spans + log->nspans;
}

/* ---- combining ---- */

/* Adds the keys of `from`, which belongs to another cell. adopts: t owns their bytes already. Both are
 * in the order of hashes: without room for all, the keys would crowd at t's beginning. */
static enum status add_table(struct key_table *t, const struct key_table *from, bool adopts,
			     struct key_seed seed)
{
	if (from->nkeys > 0)
		TRY(key_table_reserve(t, t->nkeys + from->nkeys, seed));
	for (size_t i = 0; i < from->nslots; i++) {
		const struct key *key = &from->keys[i];
		struct key_count times = {0, 0};
		if (!key->high)
			continue;
		if (from->value_nbytes)
			times = *(const struct key_count *)key_table_value(from, i);
		TRY(add_other(t, key, key_held_hash(key, seed), seed, times, adopts));
	}
	return STATUS_OK;
}

static enum status keys_combine(void *cell, void *later_cell)
{
	struct keys *k = cell;
	struct keys *later = later_cell;
	struct key_seed seed = key_seed_get();

	keys_want(k, (struct keys_wanted){later->counts, later->is_small, later->nmost});
	k->is_over = k->is_over || later->is_over;
	device_runs_take(&k->runs, &later->runs);
	TRY(add_own_log(k));
	if (later->parts)
		TRY(need_parts(k));
	for (size_t i = 0; i < count_parts(later) && !k->is_over; i++) {
		TRY(word_set_add_all(&k->parts[i].words, k->counts, &later->parts[i].words));
		if (later->parts[i].others.nkeys > 0)
			TRY(add_table(&k->parts[i].others, &later->parts[i].others, false, seed));
	}
	TRY(add_log(k, &later->log));
	check_limit(k);
	return STATUS_OK;
}

static void keys_clear(void *cell)
{
	struct keys *k = cell;

	for (size_t i = 0; i < count_parts(k); i++) {
		word_set_clear(&k->parts[i].words);
		key_table_clear(&k->parts[i].others);
	}
	device_runs_release(&k->runs);
	k->nsettled = 0;
	k->log.nspans = 0;
	k->is_over = false;
}

static void keys_free(void *cell)
{
	struct keys *k = cell;

	for (size_t i = 0; i < count_parts(k); i++) {
		word_set_free(&k->parts[i].words);
		key_table_free(&k->parts[i].others);
	}
	key_memory_free(k->parts, count_wanted(k) * sizeof *k->parts);
	device_runs_release(&k->runs);
	free(k->log.spans);
}

/* ---- joining ---- */

enum status keys_join_begin(struct keys *const *all, size_t nall)
{
	for (size_t i = 0; i < nall; i++) {
		keys_want(all[0], (struct keys_wanted){all[i]->counts, all[i]->is_small, all[i]->nmost});
		all[0]->is_over = all[0]->is_over || all[i]->is_over;
	}
	for (size_t i = 0; i < nall; i++) {
		if (i > 0)
			device_runs_take(&all[0]->runs, &all[i]->runs);
		keys_want(all[i], (struct keys_wanted){all[0]->counts, all[0]->is_small, all[0]->nmost});
		TRY(need_parts(all[i]));
		TRY(add_own_log(all[i]));
	}
	check_limit(all[0]);
	return STATUS_OK;
}

/* Moves the keys of `from` to `to`. is_over: drops them instead. */
static enum status join_tables(struct key_table *to, struct key_table *from, bool is_over)
{
	enum status status = STATUS_OK;

	if (from->nkeys > to->nkeys) {
		struct key_table larger = *from;
		*from = *to;
		*to = larger;
	}
	key_arena_join(&to->texts, &from->texts); /* so that `to` may insert these keys without a copy */
	if (!is_over)
		status = add_table(to, from, true, key_seed_get());
	key_table_free(from);
	return status;
}

/* Moves the words of `from` to `to`. is_over: drops them instead. */
static enum status join_words(struct word_set *to, struct word_set *from, bool counts, bool is_over)
{
	enum status status = STATUS_OK;

	if (from->n > to->n) {
		struct word_set larger = *from;
		*from = *to;
		*to = larger;
	}
	if (!is_over)
		status = word_set_add_all(to, counts, from);
	word_set_free(from);
	return status;
}

enum status keys_join_part(struct keys *const *all, size_t nall, size_t part)
{
	struct key_part *to = &all[0]->parts[part];

	if (part >= count_parts(all[0]))
		return STATUS_OK;
	for (size_t i = 1; i < nall; i++) {
		struct key_part *from = &all[i]->parts[part];
		TRY(join_words(&to->words, &from->words, all[0]->counts, all[0]->is_over));
		TRY(join_tables(&to->others, &from->others, all[0]->is_over));
	}
	word_set_settle(&to->words);
	return STATUS_OK;
}

void keys_join_end(struct keys *all0)
{
	check_limit(all0);
}

/* ---- reading ---- */

static void each_of_words(const struct word_set *s, keys_visitor visit, void *context)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct key_found found = {.key = key_of_word(s->words[i])};
		if (s->times)
			found.times = s->times[i];
		visit(context, &found);
	}
}

static void each_of_table(const struct key_table *t, keys_visitor visit, void *context)
{
	for (size_t i = 0; i < t->nslots; i++) {
		struct key_found found = {.key = t->keys[i]};
		if (!found.key.high)
			continue;
		if (t->value_nbytes)
			found.times = *(const struct key_count *)key_table_value(t, i);
		visit(context, &found);
	}
}

void keys_each(const struct keys *k, keys_visitor visit, void *context)
{
	settle(k);
	for (size_t i = 0; i < count_parts(k); i++) {
		each_of_words(&k->parts[i].words, visit, context);
		each_of_table(&k->parts[i].others, visit, context);
	}
}

void keys_search_visit(void *search, const struct key_found *found)
{
	struct keys_search *s = search;
	struct key_count a = found->times, b = s->best.times;
	bool beyond = s->order == KEYS_MOST_FREQUENT ? a.count > b.count : a.count < b.count;

	if (b.count == 0 || beyond || (a.count == b.count && a.first < b.first))
		s->best = *found;
}

bool keys_find(const struct keys *k, const struct keys *other, enum keys_order order,
	       struct key_found *out)
{
	struct keys_search s = {.order = order};

	keys_each(k, keys_search_visit, &s);
	keys_each(other, keys_search_visit, &s);
	*out = s.best;
	return s.best.times.count > 0;
}

/* ---- text: a list of [text,count,first], or of texts where no counts are kept; null where there were too
 * many ---- */

static void put_key(struct json_text *j, const struct key_found *key, bool has_count)
{
	json_break(j, "]}", "[");
	json_next(j);
	json_put(j, has_count ? "[" : "");
	json_put_string(j, key_text(&key->key), key_nbytes(&key->key));
	if (has_count) {
		json_put_number(json_next(j), key->times.count);
		json_put_number(json_next(j), key->times.first);
		json_put(j, "]");
	}
}

/* All keys, to be sorted. */
struct key_array {
	struct key_found *at;
	size_t n;
};

static void take_key(void *context, const struct key_found *key)
{
	struct key_array *a = context;

	a->at[a->n++] = *key;
}

static int compare_keys(const void *a, const void *b)
{
	const struct key_found *x = a, *y = b;

	return key_order(&x->key, &y->key);
}

/* Writes the keys in the order of their bytes: where they lie in the tables is random. */
static void put_keys(struct json_text *j, const struct keys *keys)
{
	struct key_array all = {NULL, 0};
	size_t nbytes = (size_t)keys_count(keys) * sizeof *all.at + 1;
	void *memory;
	enum status status = key_memory_new(nbytes, &memory);

	if (status != STATUS_OK) {
		json_fail(j, status);
		return;
	}
	all.at = memory;
	keys_each(keys, take_key, &all);
	qsort(all.at, all.n, sizeof *all.at, compare_keys);
	for (size_t i = 0; i < all.n; i++)
		put_key(j, &all.at[i], keys->counts);
	key_memory_free(memory, nbytes);
}

static bool keys_is_empty(const void *cell)
{
	const struct keys *k = cell;

	return !k->is_over && keys_count_at_most(k) == 0;
}

static void get_key(struct json_text *j, struct keys *k, const struct moment_source *source)
{
	struct keys_wanted wanted = keys_wanted_of(source->column);
	struct key_count times = {1, 0};
	size_t nbytes;
	const char *text;
	enum status status;

	json_mark(j, wanted.counts ? "[" : "");
	text = json_get_string(j, &nbytes);
	if (wanted.counts) {
		times.count = json_get_number(json_next(j));
		times.first = json_get_number(json_next(j)) + source->offset_bytes;
		json_mark(j, "]");
	}
	if (nbytes > KEY_MAX_NBYTES || times.count == 0 || times.first > OFFSET_BYTES_MAX)
		json_fail(j, STATUS_DAMAGED);
	if (j->status != STATUS_OK)
		return;
	status = keys_add_times(k, wanted, text, nbytes, times);
	if (status != STATUS_OK)
		json_fail(j, status);
}

static void keys_text(void *cell, struct json_text *j, const struct moment_source *source)
{
	struct keys *k = cell;

	if (j->reads)
		keys_want(k, keys_wanted_of(source->column));
	if (json_option(j, k->is_over, "null")) {
		k->is_over = true;
		if (j->reads)
			check_limit(k);
		return;
	}
	json_mark(j, "[");
	if (!j->reads)
		put_keys(j, k);
	else
		while (json_item(j, true))
			get_key(j, k, source);
	json_mark(j, "]");
}

const struct moment_ops moment_keys = {
	.moment = MOMENT_KEYS,
	.cell_nbytes = sizeof(struct keys),
	.clear = keys_clear,
	.combine = keys_combine,
	.free = keys_free,
	.is_empty = keys_is_empty,
	.text = keys_text,
};
