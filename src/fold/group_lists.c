/* SPDX-License-Identifier: MIT
 *
 * group_lists.c - see group_lists.h.
 */
#include "fold/group_lists.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "fold/group_order.h"
#include "fold/values.h"
#include "number/decimal_text.h"

/* ---- numbers ---- */

/* A block of a group's numbers. Its format is that of the number for which it was made, but neither narrower nor of a smaller scale
 * than the block before. So nearly all numbers of a group find room in its last block. A long number has a block of its own. */
struct value_block {
	struct value_block *before; /* NULL: it is the first */
	uint16_t n, room;
	uint8_t scale;
	uint8_t form;   /* enum values_form */
	int64_t wide[]; /* or, where they fit, an array of int32_t: narrow_of; or a record as of values.h */
};
#define BLOCK_NBYTES_MIN ((size_t)32)
#define BLOCK_NBYTES_MAX ((size_t)4096)

static int32_t *narrow_of(const struct value_block *b)
{
	return (int32_t *)(uintptr_t)b->wide;
}

static size_t block_nbytes(const struct value_block *b)
{
	return offsetof(struct value_block, wide) + b->room * (b->form == VALUES_INT32 ? sizeof(int32_t) : sizeof(int64_t));
}

/* Makes a block for a number, the last one of v from now on. Each is twice as long as the one before. */
static enum status add_block(struct groups *g, struct group_values *v, int64_t significand, unsigned scale)
{
	const size_t wanted = v->last ? 2 * block_nbytes(v->last) : BLOCK_NBYTES_MIN;
	const size_t nbytes = wanted < BLOCK_NBYTES_MAX ? wanted : BLOCK_NBYTES_MAX, room = nbytes - offsetof(struct value_block, wide);
	struct value_block *b;
	int64_t x = significand;
	void *memory;

	TRY(key_arena_take(&g->values, nbytes, &memory));
	b = memory;
	*b = (struct value_block){.before = v->last, .scale = (uint8_t)scale};
	if (v->last && v->last->scale > scale && decimal_lengthen_64(&x, v->last->scale - scale))
		b->scale = v->last->scale;
	b->form = x != (int32_t)x || (v->last && v->last->form == VALUES_INT64) ? VALUES_INT64 : VALUES_INT32;
	b->room = (uint16_t)(room / (b->form == VALUES_INT64 ? sizeof(int64_t) : sizeof(int32_t)));
	v->last = b;
	return STATUS_OK;
}

static enum status add_number(struct groups *g, struct group_values *v, int64_t significand, unsigned scale)
{
	struct value_block *b = v->last;
	int64_t x = significand;

	if (!b || b->n == b->room || (scale != b->scale && (scale > b->scale || !decimal_lengthen_64(&x, b->scale - scale))) ||
	    (b->form == VALUES_INT32 && x != (int32_t)x)) {
		TRY(add_block(g, v, significand, scale));
		b = v->last;
		x = significand;
		decimal_lengthen_64(&x, b->scale - scale);
	}
	if (b->form == VALUES_INT64)
		b->wide[b->n++] = x;
	else
		narrow_of(b)[b->n++] = (int32_t)x;
	return STATUS_OK;
}

/* Adds a number beyond the fast path. */
static enum status add_long(struct groups *g, struct group_values *v, const struct exact *x)
{
	struct value_block *b;
	void *memory;

	TRY(key_arena_take(&g->values, offsetof(struct value_block, wide) + values_record_nbytes(x), &memory));
	b = memory;
	*b = (struct value_block){.before = v->last, .n = 1, .room = 1, .form = VALUES_EXACT};
	values_record_put(b->wide, x, false);
	v->last = b;
	return STATUS_OK;
}

static enum status values_update(struct groups *g, struct group *const *groups, size_t c, const struct group_vector *v)
{
	const struct plan_column *column = &g->plan->columns[c];
	const size_t offset = column->cell_offset + group_state_offset(column, GROUP_VALUES);
	struct group_values *values[SIMD_NUMBERS_NROWS];

	for (uint64_t rows = v->numbers; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		values[row] = (struct group_values *)((char *)groups[row] + offset);
		__builtin_prefetch(values[row]->last, 1);
	}
	for (uint64_t rows = v->numbers; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		TRY(add_number(g, values[row], v->x->significand[row], v->x->scale[row]));
	}
	return STATUS_OK;
}

/* What is added to a group. */
struct adding {
	struct groups *to;
	struct group *group;
	struct group_values *values;
	size_t column;
	bool counts, is_text;
	enum status status;
};

/* Copies a block's numbers. */
static void get_numbers(const struct value_block *b, int64_t *to)
{
	for (unsigned i = 0; i < b->n; i++)
		to[i] = b->form == VALUES_INT64 ? b->wide[i] : narrow_of(b)[i];
}

/* Copies numbers of `from`, from number i on, to the last block as far as it has room, if the format is the same. Returns how many. */
static unsigned copy_alike(struct group_values *v, const struct value_block *from, unsigned i)
{
	const unsigned left = from->n - i, room = v->last->room - v->last->n, n = left < room ? left : room;
	struct value_block *to = v->last;

	if (to->scale != from->scale || to->form != from->form)
		return 0;
	if (to->form == VALUES_INT64)
		memcpy(to->wide + to->n, from->wide + i, n * sizeof *to->wide);
	else
		memcpy(narrow_of(to) + to->n, narrow_of(from) + i, n * sizeof(int32_t));
	to->n = (uint16_t)(to->n + n);
	return n;
}

static enum status values_combine(struct groups *to, struct group *g, struct group *later, size_t c)
{
	const struct plan_column *column = &to->plan->columns[c];
	struct group_values *v = group_values(g, column);
	int64_t x[BLOCK_NBYTES_MAX / sizeof(int32_t)];

	for (const struct value_block *b = group_values(later, column)->last; b; b = b->before) {
		if (b->form == VALUES_EXACT) {
			const struct exact number = values_record_get(b->wide);
			TRY(add_long(to, v, &number));
			continue;
		}
		get_numbers(b, x);
		for (unsigned i = 0; i < b->n; i++) {
			TRY(add_number(to, v, x[i], b->scale));
			i += copy_alike(v, b, i + 1);
		}
	}
	return STATUS_OK;
}

/* Adds the numbers of a block of a column. */
static void add_values(void *context, const struct values_block *block)
{
	struct adding *a = context;
	struct values_cursor at = {.block = block};
	int64_t x[VALUES_BATCH];
	struct exact number;
	size_t n;

	for (bool is_fast; a->status == STATUS_OK && block->form == VALUES_EXACT;) {
		is_fast = values_next_is_fast(&at);
		if (!values_next_exact(&at, &number))
			return;
		a->status = is_fast ? add_number(a->to, a->values, (int64_t)number.value, (unsigned)number.scale)
				    : add_long(a->to, a->values, &number);
	}
	while (a->status == STATUS_OK && (n = values_next64(&at, block->scale, x)) > 0)
		for (size_t i = 0; i < n && a->status == STATUS_OK; i++)
			a->status = add_number(a->to, a->values, x[i], block->scale);
}

static enum status values_take(struct groups *to, struct group *g, size_t c, const struct column_partial *later)
{
	const struct values *values = moments_cell(&later->moments, CELL_VALUES);
	struct adding a = {.to = to, .values = group_values(g, &to->plan->columns[c]), .status = STATUS_OK};

	if (values)
		values_each_block(values, add_values, &a);
	return a.status;
}

static enum status values_add_to(struct group *g, const struct plan *plan, const struct plan_column *column, struct column_partial *to)
{
	const struct group_values *v = group_values(g, column);
	struct values *values = v->last ? moments_need(&to->moments, CELL_VALUES) : NULL;
	int64_t x[BLOCK_NBYTES_MAX / sizeof(int32_t)];
	uint8_t scales[SIMD_NUMBERS_NROWS];

	(void)plan;
	TRY(values || !v->last ? STATUS_OK : STATUS_NO_MEMORY);
	if (values && !values_have_any(values))
		values_forget_scale(values);
	for (const struct value_block *b = v->last; b; b = b->before) {
		if (b->form == VALUES_EXACT) {
			const struct exact number = values_record_get(b->wide);
			TRY(moments_add_long(&to->moments, MOMENT_VALUES, &number));
			continue;
		}
		get_numbers(b, x);
		memset(scales, b->scale, sizeof scales);
		for (unsigned i = 0, n; i < b->n; i += n) {
			n = b->n - i < SIMD_NUMBERS_NROWS ? b->n - i : SIMD_NUMBERS_NROWS;
			TRY(moments_add(&to->moments, MOMENT_VALUES, x + i, scales, ~UINT64_C(0) >> (SIMD_NUMBERS_NROWS - n)));
		}
	}
	return STATUS_OK;
}

bool group_values_get(const struct group_values *v, unsigned scale, int64_t *to)
{
	bool fits = true;

	for (const struct value_block *b = v->last; b; to += b->n, b = b->before) {
		if (b->form == VALUES_EXACT)
			return false;
		get_numbers(b, to);
		for (unsigned i = 0; i < b->n && b->scale < scale; i++)
			fits = decimal_lengthen_64(&to[i], scale - b->scale) && fits;
	}
	return fits;
}

void group_values_prefetch(struct group *g, const struct plan *plan)
{
	for (size_t c = 0; plan->nlists && c < plan->ncolumns; c++)
		if (plan->columns[c].needs & MOMENT_VALUES)
			__builtin_prefetch(group_values(g, &plan->columns[c])->last);
}

/* ---- distinct values ---- */

#define ADDRESS_NBYTES ((size_t)GROUPS_ADDRESS_BITS / 8) /* of a group, before its text */

/* A column has two tables where the distinct texts are kept apart from the numbers. */
static bool has_text_keys(const struct plan_column *column)
{
	return column->states >> GROUP_TEXT_KEYS & 1;
}

static struct key_table *table_of(const struct groups *g, size_t c, bool is_text)
{
	return &g->keys[g->plan->columns[c].cell_list + is_text];
}

static struct group_keys *keys_of(struct group *group, const struct plan_column *column, bool is_text)
{
	return is_text ? group_text_keys(group, column) : group_keys(group, column);
}

static enum status need_tables(struct groups *g)
{
	const struct plan *plan = g->plan;

	if (g->keys)
		return STATUS_OK;
	g->keys = calloc(plan->nlists, sizeof *g->keys);
	NEED(g->keys);
	for (size_t c = 0; c < plan->ncolumns; c++)
		for (int i = 0; plan->columns[c].needs & MOMENT_KEY_COUNTS && i <= has_text_keys(&plan->columns[c]); i++)
			table_of(g, c, i)->value_nbytes = sizeof(struct key_count);
	return STATUS_OK;
}

/* Makes the key of a group's address and a text, of which KEPT_NBYTES may be read, and returns its hash. That of a long one lies at
 * `to`. */
static inline uint64_t make_key(char *to, const struct group *group, const char *text, size_t nbytes, struct key_seed seed, struct key *key)
{
	const uint64_t address = (uint64_t)(uintptr_t)group & (((uint64_t)1 << GROUPS_ADDRESS_BITS) - 1);
	uint64_t words[2];

	if (nbytes > KEY_INLINE_NBYTES - ADDRESS_NBYTES) {
		memcpy(to, &group, ADDRESS_NBYTES);
		memcpy(to + ADDRESS_NBYTES, text, nbytes);
		return key_make(to, ADDRESS_NBYTES + nbytes, true, seed, key);
	}
	simd_first_bytes(text, nbytes, words);
	key->low = address | words[0] << GROUPS_ADDRESS_BITS;
	key->high = words[0] >> (64 - GROUPS_ADDRESS_BITS) | words[1] << GROUPS_ADDRESS_BITS | (uint64_t)(ADDRESS_NBYTES + nbytes + 1) << 56;
	return key_hash_inline(key, seed);
}

/* Makes room for the keys of texts. Errors: STATUS_NO_MEMORY. */
static enum status reserve_texts(struct groups *g, const struct group_vector *v, uint64_t rows)
{
	size_t nbytes = 0;

	for (; rows; rows &= rows - 1)
		nbytes += v->texts[__builtin_ctzll(rows)].nbytes + ADDRESS_NBYTES + KEY_INLINE_NBYTES + 1;
	g->key_text.nbytes = 0;
	return text_reserve(&g->key_text, nbytes);
}

static inline __attribute__((always_inline)) enum status
add_key(struct groups *g, size_t c, bool is_text, struct group *group, struct key_count times, const struct key *key, uint64_t hash,
	struct key_seed seed)
{
	struct key_table *table = table_of(g, c, is_text);
	size_t slot = key_table_find(table, key, hash);

	if (slot == SIZE_MAX) {
		TRY(key_table_insert(table, key, hash, seed, false, &slot));
		keys_of(group, &g->plan->columns[c], is_text)->n++;
	}
	if (table->value_nbytes)
		key_count_add(key_table_value(table, slot), times);
	return STATUS_OK;
}

/* Adds a value to the table. */
static enum status add_value(struct groups *g, struct group *group, size_t c, bool is_text, const struct key *value,
			     struct key_count times)
{
	const struct key_seed seed = key_seed_get();
	const size_t nbytes = key_nbytes(value);
	struct key key;
	uint64_t hash;
	char *to;

	g->key_text.nbytes = 0;
	TRY(text_reserve(&g->key_text, 2 * (nbytes + KEY_INLINE_NBYTES + 1)));
	to = g->key_text.data;
	memcpy(to, key_text(value), nbytes); /* so that more may be read */
	hash = make_key(to + nbytes + KEY_INLINE_NBYTES + 1, group, to, nbytes, seed, &key);
	return add_key(g, c, is_text, group, times, &key, hash, seed);
}

/* ---- few distinct values ---- */

/* All values of a group, while they are few, and words. Then all of them are in the table. */
struct few_keys {
	uint32_t n, room;
	uint64_t words[]; /* room. Where they are counted, as many of few_times follow */
};
#define FEW_NKEYS 5 /* has a block at first, */
#define FEW_NKEYS_MAX 16 /* ... and then */
static struct few_keys few_moved; /* zeroed: that of groups whose values are in the table */
#define FEW_COUNT_BITS 16
#define FEW_COUNT_MAX (((uint64_t)1 << FEW_COUNT_BITS) - 1)

/* A place, and how often the value came, in the lowest FEW_COUNT_BITS bits. */
static uint64_t *few_times(struct few_keys *few)
{
	return few->words + few->room;
}

static struct key_count few_count(uint64_t times)
{
	return (struct key_count){times & FEW_COUNT_MAX, times >> FEW_COUNT_BITS};
}

/* Makes room for more. */
static enum status grow_few(struct groups *g, struct group_keys *keys, bool counts)
{
	const uint32_t room = keys->few ? FEW_NKEYS_MAX : FEW_NKEYS;
	struct few_keys *few, *old = keys->few;
	void *memory;

	TRY(key_arena_take(&g->values, sizeof *few + room * sizeof *few->words * (counts ? 2 : 1), &memory));
	few = memory;
	*few = (struct few_keys){.n = old ? old->n : 0, .room = room};
	for (unsigned i = 0; i < few->n; i++) {
		few->words[i] = old->words[i];
		if (counts)
			few_times(few)[i] = few_times(old)[i];
	}
	keys->few = few;
	return STATUS_OK;
}

/* Moves a group's values to the table. */
static enum status move_few(struct groups *g, size_t c, bool is_text, struct group *group)
{
	struct group_keys *keys = keys_of(group, &g->plan->columns[c], is_text);
	const bool counts = table_of(g, c, is_text)->value_nbytes > 0;
	struct few_keys *few = keys->few;

	keys->few = &few_moved;
	for (unsigned i = 0; few && i < few->n; i++) {
		const struct key value = key_of_word(few->words[i]);
		keys->n--;
		g->nfew_keys--;
		TRY(add_value(g, group, c, is_text, &value, counts ? few_count(few_times(few)[i]) : (struct key_count){1, 0}));
	}
	return STATUS_OK;
}

/* Adds a value that came so often to a group's, which have not been moved, or moves them. *is_added: false where the table must take
 * it. */
static inline enum status add_few(struct groups *g, struct group *group, size_t c, bool is_text, struct group_keys *keys, bool counts,
				  uint64_t word, struct key_count times, bool *is_added)
{
	struct few_keys *few = keys->few;
	const unsigned n = few ? few->n : 0;
	unsigned i = 0;

	*is_added = false;
	while (i < n && few->words[i] != word)
		i++;
	if (counts && i < n)
		key_count_add(&times, few_count(few_times(few)[i]));
	if (i == FEW_NKEYS_MAX || word == 0 || (counts && (times.count > FEW_COUNT_MAX || times.first >> (64 - FEW_COUNT_BITS))))
		return move_few(g, c, is_text, group);
	if (i == n) {
		if (!few || n == few->room)
			TRY(grow_few(g, keys, counts));
		few = keys->few;
		few->words[few->n++] = word;
		keys->n++;
		g->nfew_keys++;
	}
	if (counts)
		few_times(few)[i] = times.first << FEW_COUNT_BITS | times.count;
	*is_added = true;
	return STATUS_OK;
}

/* Reads the i-th of few values. */
static void read_few(struct few_keys *few, unsigned i, bool counts, struct group_key *out)
{
	out->value = key_of_word(few->words[i]);
	out->times = counts ? few_count(few_times(few)[i]) : (struct key_count){1, 0};
	out->slot = SIZE_MAX;
}

static unsigned few_n(const struct group_keys *keys)
{
	return keys->few ? keys->few->n : 0;
}

/* Returns the word of a text, of which KEPT_NBYTES may be read, or 0 where a word cannot hold it. */
static inline uint64_t word_of(const char *text, size_t nbytes)
{
	uint64_t bytes[2];

	if (nbytes > KEY_DIGITS_NBYTES)
		return 0;
	simd_first_bytes(text, nbytes, bytes);
	return key_word(&(struct key){.low = bytes[0], .high = bytes[1] | (uint64_t)(nbytes + 1) << 56});
}

/* ---- both ---- */

/* Adds values of some rows to the table. */
static enum status add_to_table(struct groups *g, struct group *const *groups, size_t c, const struct group_vector *v, uint64_t left)
{
	const struct key_seed seed = key_seed_get();
	struct key keys[SIMD_NUMBERS_NROWS];
	uint64_t hashes[SIMD_NUMBERS_NROWS];
	char *to;

	TRY(reserve_texts(g, v, left));
	to = g->key_text.data;
	for (uint64_t rows = left; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		const struct group_vector_text *x = &v->texts[row];
		hashes[row] = make_key(to, groups[row], x->text, x->nbytes, seed, &keys[row]);
		key_table_prefetch(table_of(g, c, false), hashes[row]);
		to += ADDRESS_NBYTES + x->nbytes + KEY_INLINE_NBYTES + 1;
	}
	for (uint64_t rows = left; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		const struct group_vector_text *x = &v->texts[row];
		TRY(add_key(g, c, false, groups[row], (struct key_count){1, x->place + x->nbefore}, &keys[row], hashes[row], seed));
	}
	return STATUS_OK;
}

static enum status keys_update(struct groups *g, struct group *const *groups, size_t c, const struct group_vector *v)
{
	const struct plan_column *column = &g->plan->columns[c];
	const size_t offset = column->cell_offset + group_state_offset(column, GROUP_KEYS);
	struct group_keys *keys[SIMD_NUMBERS_NROWS];
	uint64_t few = 0, left = v->present;
	bool counts;

	TRY(need_tables(g));
	counts = table_of(g, c, false)->value_nbytes > 0;
	for (uint64_t rows = v->present; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		keys[row] = (struct group_keys *)((char *)groups[row] + offset);
		if (keys[row]->few == &few_moved)
			continue;
		few |= rows & -rows;
		__builtin_prefetch(keys[row]->few, 1);
		__builtin_prefetch((char *)keys[row]->few + 64, 1);
	}
	for (; few; few &= few - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(few);
		const struct group_vector_text *x = &v->texts[row];
		bool is_added;
		if (keys[row]->few == &few_moved) /* by a row before */
			continue;
		TRY(add_few(g, groups[row], c, false, keys[row], counts, word_of(x->text, x->nbytes),
			    (struct key_count){1, x->place + x->nbefore}, &is_added));
		left &= is_added ? ~(few & -few) : ~UINT64_C(0);
	}
	return left ? add_to_table(g, groups, c, v, left) : STATUS_OK;
}

enum status group_keys_add(struct groups *g, struct group *group, size_t c, bool is_text, const struct key *value,
			   struct key_count times)
{
	struct group_keys *keys = keys_of(group, &g->plan->columns[c], is_text);
	bool is_added = false;

	TRY(need_tables(g));
	if (keys->few != &few_moved)
		TRY(add_few(g, group, c, is_text, keys, table_of(g, c, is_text)->value_nbytes > 0,
			    key_nbytes(value) <= KEY_DIGITS_NBYTES ? key_word(value) : 0, times, &is_added));
	return is_added ? STATUS_OK : add_value(g, group, c, is_text, value, times);
}

static void add_found(void *context, const struct key_found *found)
{
	const struct key_count once = {1, 0};
	struct adding *a = context;

	if (a->status == STATUS_OK)
		a->status = group_keys_add(a->to, a->group, a->column, a->is_text, &found->key, a->counts ? found->times : once);
}

static enum status add_keys(struct groups *to, struct group *g, size_t c, const struct column_partial *later, bool is_text)
{
	const struct keys *keys = moments_cell(&later->moments, is_text ? CELL_TEXT_KEYS : CELL_KEYS);
	struct adding a = {.to = to, .group = g, .column = c, .is_text = is_text, .status = STATUS_OK};

	if (keys) {
		a.counts = keys->counts;
		keys_each(keys, add_found, &a);
	}
	return a.status;
}

static enum status keys_take(struct groups *to, struct group *g, size_t c, const struct column_partial *later)
{
	return add_keys(to, g, c, later, false);
}

static enum status text_keys_take(struct groups *to, struct group *g, size_t c, const struct column_partial *later)
{
	return add_keys(to, g, c, later, true);
}

/* Reads what a slot has, if it has any. */
static bool read_key(const struct groups *g, size_t c, bool is_text, size_t slot, struct group_key *out)
{
	const struct key_table *table = table_of(g, c, is_text);
	const struct key *key = &table->keys[slot];
	const size_t nbytes = key_nbytes(key) - ADDRESS_NBYTES;

	if (!key->high)
		return false;
	out->group = NULL;
	memcpy(&out->group, key_text(key), ADDRESS_NBYTES);
	out->value = (struct key){.low = 0, .high = (uint64_t)(nbytes + 1) << 56};
	if (!key_is_long(key)) { /* make_key, the other way */
		out->value.low = key->low >> GROUPS_ADDRESS_BITS | key->high << (64 - GROUPS_ADDRESS_BITS);
		out->value.high |= key->high >> GROUPS_ADDRESS_BITS & 0xff;
	} else if (nbytes <= KEY_INLINE_NBYTES) {
		memcpy(&out->value, key->text + ADDRESS_NBYTES, nbytes);
	} else {
		out->value = (struct key){.text = key->text + ADDRESS_NBYTES, .high = (uint64_t)KEY_LONG << 56 | nbytes};
	}
	out->times = table->value_nbytes ? *(const struct key_count *)key_table_value(table, slot) : (struct key_count){1, 0};
	out->slot = slot;
	out->is_text = is_text;
	return true;
}

size_t group_keys_count(const struct groups *g)
{
	size_t n = g->nfew_keys;

	for (uint32_t i = 0; g->keys && i < g->plan->nlists; i++)
		n += g->keys[i].nkeys;
	return n;
}

#define AHEAD_NKEYS 16

/* Fetches the group of a slot's key into the cache; the text if it is a long key's. */
static void prefetch_group(const struct groups *g, const struct key_table *table, size_t slot)
{
	const uint64_t low = table->keys[slot & (table->nslots - 1)].low;

	group_prefetch(groups_at(low), g->plan);
}

static enum status each_of_tables(const struct groups *g, group_keys_visitor visit, void *context)
{
	for (size_t c = 0; g->keys && c < g->plan->ncolumns; c++)
		for (int i = 0; g->plan->columns[c].needs & MOMENT_KEYS && i <= has_text_keys(&g->plan->columns[c]); i++)
			for (size_t slot = 0; slot < table_of(g, c, i)->nslots; slot++) {
				struct group_key key;
				prefetch_group(g, table_of(g, c, i), slot + AHEAD_NKEYS);
				if (read_key(g, c, i, slot, &key))
					TRY(visit(context, c, &key));
			}
	return STATUS_OK;
}

/* A visit of the values that are in no table. */
struct visit_few {
	const struct groups *g;
	group_keys_visitor visit;
	void *context;
};

static enum status each_few(void *context, struct group *group)
{
	const struct visit_few *v = context;

	for (size_t c = 0; c < v->g->plan->ncolumns; c++) {
		const struct plan_column *column = &v->g->plan->columns[c];
		for (int i = 0; column->needs & MOMENT_KEYS && i <= has_text_keys(column); i++) {
			const struct group_keys *keys = keys_of(group, column, i);
			struct group_key key = {.group = group, .is_text = i};
			for (unsigned k = 0; k < few_n(keys); k++) {
				read_few(keys->few, k, table_of(v->g, c, i)->value_nbytes > 0, &key);
				TRY(v->visit(v->context, c, &key));
			}
		}
	}
	return STATUS_OK;
}

enum status group_keys_each(const struct groups *g, group_keys_visitor visit, void *context)
{
	struct visit_few few = {g, visit, context};

	TRY(each_of_tables(g, visit, context));
	return g->nfew_keys ? groups_each(g, each_few, &few) : STATUS_OK;
}

/* Whether a came before b in that order; NULL: it never did. */
static bool comes_before(const struct key_count *a, const struct key_count *b, enum keys_order order)
{
	if (!a || !b || a->count != b->count)
		return a && (!b || (order == KEYS_MOST_FREQUENT ? a->count > b->count : a->count < b->count));
	return a->first < b->first;
}

static void add_logarithm(struct group_key_logs *logs, uint64_t count)
{
	struct logarithm_sum sum = group_logs_get(&logs->sum);

	logarithm_add_count(&sum, count);
	group_logs_set(&logs->sum, &sum);
	logs->n += count;
}

/* Takes out of a group's cell what settling, or listing, has put there. */
static enum status forget_group(void *context, struct group *group)
{
	const struct groups *part = context;

	for (size_t c = 0; c < part->plan->ncolumns; c++) {
		const struct plan_column *column = &part->plan->columns[c];
		for (int i = 0; column->needs & MOMENT_KEYS && i <= has_text_keys(column); i++)
			memset(keys_of(group, column, i)->found, 0, sizeof keys_of(group, column, i)->found);
		if (column->needs & MOMENT_KEY_LOGS)
			memset(group_key_logs(group, column), 0, group_key_logs_nbytes(column));
	}
	return STATUS_OK;
}

/* Before the cells are filled: they may have been for an earlier reader. */
static enum status begin_filling(struct groups *part)
{
	if (part->is_filled)
		TRY(groups_each(part, forget_group, part));
	part->is_filled = true;
	return STATUS_OK;
}

static enum status settle_key(void *context, size_t c, const struct group_key *key)
{
	struct groups *part = context;
	const struct plan_column *column = &part->plan->columns[c];
	struct group_keys *keys = keys_of(key->group, column, key->is_text);
	const struct key_table *table = table_of(part, c, key->is_text);

	for (int i = 0; table->value_nbytes && key->slot != SIZE_MAX && i < KEYS_NORDERS; i++)
		if (comes_before(&key->times, keys->found[i] ? key_table_value(table, keys->found[i] - 1) : NULL, (enum keys_order)i))
			keys->found[i] = (uint32_t)key->slot + 1;
	if (column->needs & MOMENT_KEY_LOGS)
		add_logarithm(&group_key_logs(key->group, column)[key->is_text], key->times.count);
	return STATUS_OK;
}

/* The part of the store in which a group is. */
static const struct groups *part_of(const struct group *group, const struct plan *plan)
{
	return group_store_part(plan->groups, (size_t)(group_hash(group, key_seed_get()) >> (64 - GROUPS_PART_BITS)));
}

bool group_keys_find(struct group *group, const struct plan *plan, size_t c, enum keys_order order, bool has_texts, struct key *value)
{
	const struct groups *part = part_of(group, plan);
	struct group_key key;
	struct key_count best;
	bool is_found = false;

	*value = (struct key){.high = (uint64_t)1 << 56};
	for (int i = 0; i <= (has_texts && has_text_keys(&plan->columns[c])); i++) {
		const struct group_keys *keys = keys_of(group, &plan->columns[c], i);
		const unsigned n = keys->found[order] ? 1 : few_n(keys);
		for (unsigned k = 0; k < n; k++) {
			if (keys->found[order])
				read_key(part, c, i, keys->found[order] - 1, &key);
			else
				read_few(keys->few, k, true, &key);
			if (!comes_before(&key.times, is_found ? &best : NULL, order))
				continue;
			is_found = true;
			best = key.times;
			*value = key.value;
		}
	}
	return is_found;
}

/* ---- distinct values of one group after the other ---- */

static enum status chain_key(void *context, size_t c, const struct group_key *key)
{
	struct groups *part = context;
	struct group_keys *keys = keys_of(key->group, &part->plan->columns[c], key->is_text);

	part->chains[part->plan->columns[c].cell_list + key->is_text][key->slot] = keys->found[0];
	keys->found[0] = (uint32_t)key->slot + 1;
	return STATUS_OK;
}

enum status group_keys_chain(struct groups *part)
{
	void *memory;

	if (!part->keys)
		return STATUS_OK;
	TRY(begin_filling(part));
	NEED(part->chains = calloc(part->plan->nlists, sizeof *part->chains));
	for (uint32_t i = 0; i < part->plan->nlists; i++)
		if (part->keys[i].nslots) {
			TRY(key_memory_new(part->keys[i].nslots * sizeof **part->chains, &memory));
			part->chains[i] = memory;
		}
	return each_of_tables(part, chain_key, part);
}

static void free_chains(struct groups *g)
{
	for (uint32_t i = 0; g->chains && i < g->plan->nlists; i++)
		key_memory_free(g->chains[i], g->keys[i].nslots * sizeof **g->chains);
	free(g->chains);
	g->chains = NULL;
}

static enum status add_one_to(const struct plan_column *column, const struct group_key *key, bool is_text, struct column_partial *to)
{
	struct keys *keys = moments_need(&to->moments, is_text ? CELL_TEXT_KEYS : CELL_KEYS);

	NEED(keys);
	return keys_add_times(keys, keys_wanted_of(column), key_text(&key->value), key_nbytes(&key->value), key->times);
}

enum status group_keys_add_to(struct group *group, const struct plan *plan, size_t c, struct column_partial *to)
{
	const struct plan_column *column = &plan->columns[c];
	const struct groups *part = part_of(group, plan);
	struct group_key key;

	for (int i = 0; part->chains && i <= has_text_keys(column); i++) {
		const struct group_keys *keys = keys_of(group, column, i);
		for (unsigned k = 0; k < few_n(keys); k++) {
			read_few(keys->few, k, table_of(part, c, i)->value_nbytes > 0, &key);
			TRY(add_one_to(column, &key, i, to));
		}
		for (uint32_t slot = keys->found[0]; slot; slot = part->chains[column->cell_list + (uint32_t)i][slot - 1])
			if (read_key(part, c, i, slot - 1, &key))
				TRY(add_one_to(column, &key, i, to));
	}
	return STATUS_OK;
}

/* ---- numbers and distinct values ---- */

const struct group_state_ops group_state_values = {
	.update = values_update,
	.combine = values_combine,
	.add_to = values_add_to,
	.take = values_take,
};

/* Entries of tables move when their groups are combined (groups.c). */
const struct group_state_ops group_state_keys = {.update = keys_update, .take = keys_take};
const struct group_state_ops group_state_text_keys = {.take = text_keys_take};
const struct group_state_ops group_state_key_logs = {.update = NULL}; /* settle_key fills it */

enum status group_lists_settle(struct groups *part)
{
	bool is_needed = false, has_logs = false;

	for (uint32_t i = 0; part->keys && i < part->plan->nlists; i++)
		is_needed |= part->keys[i].value_nbytes > 0;
	if (!is_needed)
		return STATUS_OK;
	TRY(begin_filling(part));
	for (size_t c = 0; c < part->plan->ncolumns; c++)
		has_logs |= (part->plan->columns[c].needs & MOMENT_KEY_LOGS) != 0;
	return (has_logs ? group_keys_each : each_of_tables)(part, settle_key, part);
}

static enum status visit_settle(void *context, struct groups *part)
{
	(void)context;
	return group_lists_settle(part);
}

enum status group_store_settle(struct group_store *store, size_t nthreads)
{
	return group_store_visit(store, group_store_count(store) < GROUP_LIST_FEW ? 1 : nthreads, visit_settle, NULL);
}

void group_lists_clear(struct groups *g)
{
	free_chains(g);
	g->is_filled = false;
	g->nfew_keys = 0;
	key_arena_clear(&g->values);
	for (uint32_t i = 0; g->keys && i < g->plan->nlists; i++)
		key_table_clear(&g->keys[i]);
}

void group_lists_free(struct groups *g)
{
	free_chains(g);
	key_arena_free(&g->values);
	for (uint32_t i = 0; g->keys && i < g->plan->nlists; i++)
		key_table_free(&g->keys[i]);
	free(g->keys);
	g->keys = NULL;
	text_free(&g->key_text);
}
