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

/* ---- numbers ---- */

#define MANY_A_GROUP 64 /* where each group has so many numbers, partials hold them in less memory */
#define SHARE_SHIFT 2 /* of --memory, lists may have 1 / 2^this before that counts */

/* Numbers are listed by column and scale where they fit in 32 bits, if there are few such lists; all others in one list. Groups
 * are known by the ordinals that their cells have. */
#define NARROW_NSCALES 8
#define NARROW_NCOLUMNS_MAX 8

struct narrow_value {
	uint32_t ordinal;
	int32_t significand;
};
struct wide_value {
	uint32_t ordinal;
	uint16_t list; /* cell_list of its column */
	uint16_t scale;
	int64_t significand;
};
static_assert(GROUP_LISTS_MAX <= 1 << 16, "a list's number fits");

/* The settled numbers of a part's groups. */
struct settled_values {
	size_t nbytes;
	int64_t x[];
};

static size_t nlists(const struct plan *plan)
{
	return plan->nlists > NARROW_NCOLUMNS_MAX ? 1 : plan->nlists * NARROW_NSCALES + 1;
}

/* The list for a number: the last one is the wide one. */
static size_t list_of(const struct plan *plan, const struct plan_column *column, int64_t significand, unsigned scale)
{
	if (plan->nlists > NARROW_NCOLUMNS_MAX || scale >= NARROW_NSCALES || significand != (int32_t)significand)
		return nlists(plan) - 1;
	return column->cell_list * NARROW_NSCALES + scale;
}

static enum status add_number(struct groups *g, struct group *group, const struct plan_column *column, int64_t significand, unsigned scale)
{
	struct group_values *v = group_values(group, column);
	const size_t list = list_of(g->plan, column, significand, scale);
	const bool is_wide = list == nlists(g->plan) - 1;
	const unsigned had = group_scale_of(v->count_scale);
	void *at;

	if (!g->lists)
		g->lists = calloc(nlists(g->plan), sizeof *g->lists);
	NEED(g->lists);
	TRY(key_arena_take(&g->lists[list], is_wide ? sizeof(struct wide_value) : sizeof(struct narrow_value), &at));
	if (group_count_of(v->count_scale) == 0) {
		if (g->nordinals == UINT32_MAX)
			return STATUS_NO_MEMORY;
		v->ordinal = g->nordinals++;
	}
	v->count_scale += 1 + (scale > had ? (uint64_t)(scale - had) << GROUP_COUNT_BITS : 0);
	if (is_wide)
		*(struct wide_value *)at = (struct wide_value){(uint32_t)v->ordinal, (uint16_t)column->cell_list, (uint16_t)scale, significand};
	else
		*(struct narrow_value *)at = (struct narrow_value){(uint32_t)v->ordinal, (int32_t)significand};
	g->nlisted++;
	return STATUS_OK;
}

/* Adds a number to its group's partial. */
static enum status add_number_to_partial(struct group *group, const struct plan *plan, size_t c, int64_t significand, unsigned scale)
{
	const uint8_t scales = (uint8_t)scale;

	TRY(group_need_rest(group, plan));
	return moments_add(&group->rest->columns[c].moments, MOMENT_VALUES, &significand, &scales, 1);
}

enum status group_values_update(struct groups *g, struct group *const *groups, size_t c, const struct group_vector *v)
{
	for (uint64_t rows = v->numbers; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		TRY(g->is_part ? add_number(g, groups[row], &g->plan->columns[c], v->x->significand[row], v->x->scale[row])
			       : add_number_to_partial(groups[row], g->plan, c, v->x->significand[row], v->x->scale[row]));
	}
	return STATUS_OK;
}

static void free_lists(struct groups *g)
{
	for (size_t list = 0; g->lists && list < nlists(g->plan); list++)
		key_arena_free(&g->lists[list]);
	free(g->lists);
	g->lists = NULL;
	g->nlisted = g->nordinals = 0;
}

/* Where the numbers of a group's column go, by its ordinal. */
struct place {
	struct group *group;
	uint32_t column;
	uint32_t scale; /* of all of them */
	int64_t *next;  /* NULL: to the group's partial */
};

struct settling {
	struct groups *g;
	struct place *places;
	int64_t *at; /* the next group's; NULL: all numbers go to partials */
};

/* Gives a group's cells their places, one after the other. */
static enum status place_group(void *context, struct group *group)
{
	struct settling *s = context;
	const struct plan *plan = s->g->plan;

	for (size_t c = 0; c < plan->ncolumns; c++) {
		const struct plan_column *column = &plan->columns[c];
		struct group_values *v = group_values(group, column);
		uint64_t n, ordinal;
		if (!plan_column_has_cell_of(column, MOMENT_VALUES) || group_count_of(v->count_scale) == 0)
			continue;
		ordinal = v->ordinal;
		n = group_count_of(v->count_scale);
		s->places[ordinal] = (struct place){group, (uint32_t)c, group_scale_of(v->count_scale), s->at};
		v->at = s->at;
		if (s->at)
			s->at += n;
		else
			v->count_scale = 0;
	}
	return STATUS_OK;
}

/* Writes a number at its group's place, or adds it to the partial if it does not fit at the group's scale. */
static inline enum status put(const struct plan *plan, struct place *place, int64_t significand, unsigned scale)
{
	unsigned nzeros = place->scale - scale;
	int64_t x = significand;

	if (place->next &&
	    (nzeros == 0 || (nzeros <= DECIMAL_NDIGITS && !__builtin_mul_overflow(x, (int64_t)decimal_powers[nzeros], &x)))) {
		*place->next++ = x;
		return STATUS_OK;
	}
	if (place->next)
		group_values(place->group, &plan->columns[place->column])->count_scale--;
	return add_number_to_partial(place->group, plan, place->column, significand, scale);
}

static enum status put_list(const struct groups *g, size_t list, struct place *places)
{
	const bool is_wide = list == nlists(g->plan) - 1;
	const unsigned scale = list % NARROW_NSCALES;

	for (const struct key_arena_block *b = g->lists[list].first; b; b = b->next) {
		const struct narrow_value *narrow = (const void *)b->taken;
		const struct wide_value *wide = (const void *)b->taken;
		for (size_t i = 0; is_wide && i < b->nused / sizeof *wide; i++)
			TRY(put(g->plan, &places[wide[i].ordinal], wide[i].significand, wide[i].scale));
		for (size_t i = 0; !is_wide && i < b->nused / sizeof *narrow; i++)
			TRY(put(g->plan, &places[narrow[i].ordinal], narrow[i].significand, scale));
	}
	return STATUS_OK;
}

/* Moves all that g has listed to its groups: to their settled numbers, which `at` has room for, or, if it is NULL, to their
 * partials. */
static enum status put_all(struct groups *g, int64_t *at)
{
	struct settling s = {.g = g, .at = at};
	const size_t nbytes = g->nordinals * sizeof *s.places;
	void *memory;
	enum status status = STATUS_OK;

	TRY(key_memory_new(nbytes, &memory));
	s.places = memory;
	groups_each(g, place_group, &s);
	for (size_t list = 0; list < nlists(g->plan) && status == STATUS_OK; list++)
		status = put_list(g, list, s.places);
	key_memory_free(memory, nbytes);
	free_lists(g);
	return status;
}

enum status group_lists_limit(struct groups *g)
{
	if (g->nlisted * sizeof(struct narrow_value) <= memory_limit_nbytes() >> (GROUPS_PART_BITS + SHARE_SHIFT) ||
	    g->nlisted / MANY_A_GROUP <= g->ngroups)
		return STATUS_OK;
	return put_all(g, NULL);
}

static enum status settle_numbers(struct groups *g)
{
	size_t nbytes = sizeof *g->settled + g->nlisted * sizeof *g->settled->x;
	void *memory;

	if (g->nlisted == 0)
		return STATUS_OK;
	TRY(key_memory_new(nbytes, &memory));
	g->settled = memory;
	g->settled->nbytes = nbytes;
	return put_all(g, g->settled->x);
}

enum status group_values_add_to(struct group *g, const struct plan *plan, const struct plan_column *column, struct column_partial *to)
{
	const struct group_values *v = group_values(g, column);
	const uint64_t count = group_count_of(v->count_scale);
	struct values *values = count ? moments_need(&to->moments, CELL_VALUES) : NULL;
	uint8_t scales[SIMD_NUMBERS_NROWS];

	(void)plan;
	TRY(values || count == 0 ? STATUS_OK : STATUS_NO_MEMORY);
	if (values && !values_have_any(values))
		values_forget_scale(values);
	memset(scales, (int)group_scale_of(v->count_scale), sizeof scales);
	for (uint64_t i = 0, n; i < count; i += n) {
		n = count - i < SIMD_NUMBERS_NROWS ? count - i : SIMD_NUMBERS_NROWS;
		TRY(moments_add(&to->moments, MOMENT_VALUES, v->at + i, scales, ~UINT64_C(0) >> (SIMD_NUMBERS_NROWS - n)));
	}
	return STATUS_OK;
}

/* ---- distinct values ---- */

#define ADDRESS_NBYTES ((size_t)GROUPS_ADDRESS_BITS / 8) /* of a group, before its text */

/* The table of column c, of the part in which a group with that hash is. */
static struct key_table *table_of(const struct groups *part, size_t c)
{
	return &part->keys[part->plan->columns[c].cell_list];
}

/* Calls visit for each column whose keys are in cells. */
typedef enum status column_visitor(struct groups *part, size_t c);
static enum status each_column(struct groups *part, column_visitor *visit)
{
	for (size_t c = 0; part->keys && c < part->plan->ncolumns; c++)
		if (plan_column_has_cell_of(&part->plan->columns[c], MOMENT_KEYS))
			TRY(visit(part, c));
	return STATUS_OK;
}

static enum status make_tables(struct groups *part)
{
	const struct plan *plan = part->plan;

	part->keys = calloc(plan->ncolumns, sizeof *part->keys);
	NEED(part->keys);
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan_column_has_cell_of(&plan->columns[c], MOMENT_KEY_COUNTS))
			table_of(part, c)->value_nbytes = sizeof(struct key_count);
	return STATUS_OK;
}

static enum status add_to_partial(struct group *group, const struct plan *plan, size_t c, const char *text, size_t nbytes,
				  struct key_count times)
{
	struct keys *keys = moments_need(&group->rest->columns[c].moments, CELL_KEYS);

	return keys ? keys_add_times(keys, keys_wanted_of(&plan->columns[c]), text, nbytes, times) : STATUS_NO_MEMORY;
}

/* Writes a group's address and a text one after the other, to `to`. */
static char *join(char *to, const struct group *group, const struct group_vector_text *x)
{
	memcpy(to, &group, ADDRESS_NBYTES);
	memcpy(to + ADDRESS_NBYTES, x->text, x->nbytes);
	return to;
}

/* Makes room for the keys of all texts. Errors: STATUS_NO_MEMORY. */
static enum status reserve_texts(struct groups *part, const struct group_vector *v)
{
	size_t nbytes = 0;

	for (uint64_t rows = v->present; rows; rows &= rows - 1)
		nbytes += v->texts[__builtin_ctzll(rows)].nbytes + ADDRESS_NBYTES + KEY_INLINE_NBYTES + 1;
	part->key_text.nbytes = 0;
	return text_reserve(&part->key_text, nbytes);
}

static enum status add_key(struct groups *part, size_t c, struct group *group, uint64_t first, const struct key *key, uint64_t hash)
{
	struct key_table *table = table_of(part, c);
	size_t nkeys = table->nkeys, slot;

	TRY(key_table_add(table, key, hash, key_seed_get(), &slot));
	group_keys(group, &part->plan->columns[c])->n += table->nkeys > nkeys;
	if (table->value_nbytes)
		key_count_add(key_table_value(table, slot), (struct key_count){1, first});
	return STATUS_OK;
}

enum status group_keys_update(struct groups *part, struct group *const *groups, size_t c, const struct group_vector *v)
{
	const struct key_seed seed = key_seed_get();
	struct key keys[SIMD_NUMBERS_NROWS];
	uint64_t hashes[SIMD_NUMBERS_NROWS];
	char *to;

	TRY(part->keys ? STATUS_OK : make_tables(part));
	TRY(reserve_texts(part, v));
	to = part->key_text.data;
	for (uint64_t rows = v->present; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		const struct group_vector_text *x = &v->texts[row];
		hashes[row] = key_make(join(to, groups[row], x), ADDRESS_NBYTES + x->nbytes, true, seed, &keys[row]);
		key_table_prefetch(table_of(part, c), hashes[row]);
		to += ADDRESS_NBYTES + x->nbytes + KEY_INLINE_NBYTES + 1;
	}
	for (uint64_t rows = v->present; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		const struct group_vector_text *x = &v->texts[row];
		const uint64_t first = x->place + x->nbefore;
		TRY(groups[row]->rest ? add_to_partial(groups[row], part->plan, c, x->text, x->nbytes, (struct key_count){1, first})
				      : add_key(part, c, groups[row], first, &keys[row], hashes[row]));
	}
	return STATUS_OK;
}

/* What a slot of a table has. */
struct pair {
	struct group *group;
	const char *text;
	size_t nbytes;
	struct key_count *times; /* NULL: they are not counted */
};

static bool read_pair(const struct key_table *table, size_t slot, struct pair *out)
{
	const struct key *key = &table->keys[slot];
	const char *joined = key_text(key);

	if (!key->high)
		return false;
	out->group = NULL;
	memcpy(&out->group, joined, ADDRESS_NBYTES);
	out->text = joined + ADDRESS_NBYTES;
	out->nbytes = key_nbytes(key) - ADDRESS_NBYTES;
	out->times = table->value_nbytes ? key_table_value(table, slot) : NULL;
	return !out->times || out->times->count > 0;
}

/* Moves a pair to its group's partial. */
static enum status move_pair(const struct groups *part, size_t c, const struct pair *pair)
{
	enum status status = add_to_partial(pair->group, part->plan, c, pair->text, pair->nbytes,
					    pair->times ? *pair->times : (struct key_count){1, 0});

	if (pair->times)
		pair->times->count = 0; /* without counts, a key that is added again changes nothing */
	return status;
}

/* Whether a pair comes before another one in that order. slot: 1 + the other's; 0: no other has been found yet. */
static bool comes_before(const struct key_table *table, const struct pair *pair, uint32_t slot, enum keys_order order)
{
	const struct key_count *a = pair->times, *b = slot ? key_table_value(table, slot - 1) : NULL;

	if (!b || a->count != b->count)
		return !b || (order == KEYS_MOST_FREQUENT ? a->count > b->count : a->count < b->count);
	return a->first < b->first;
}

static void add_logarithm(struct group_key_logs *logs, uint64_t count)
{
	struct logarithm_sum sum = group_logs_get(&logs->sum);

	logarithm_add_count(&sum, count);
	group_logs_set(&logs->sum, &sum);
	logs->n += count;
}

static enum status settle_table(struct groups *part, size_t c)
{
	const struct plan_column *column = &part->plan->columns[c];
	const struct key_table *table = table_of(part, c);
	struct pair pair;

	if (!table->value_nbytes && !group_rests_exist())
		return STATUS_OK;
	for (size_t slot = 0; slot < table->nslots; slot++) {
		struct group_keys *keys;
		if (!read_pair(table, slot, &pair))
			continue;
		keys = group_keys(pair.group, column);
		if (pair.group->rest)
			TRY(move_pair(part, c, &pair));
		for (int i = 0; pair.times && pair.times->count > 0 && i < KEYS_NORDERS; i++)
			if (comes_before(table, &pair, keys->found[i], (enum keys_order)i))
				keys->found[i] = (uint32_t)slot + 1;
		if (column->needs & MOMENT_KEY_LOGS && pair.times->count > 0)
			add_logarithm(group_key_logs(pair.group, column), pair.times->count);
	}
	return STATUS_OK;
}

static enum status fold_table(struct groups *part, size_t c)
{
	const struct key_table *table = table_of(part, c);
	struct pair pair;

	for (size_t slot = 0; slot < table->nslots; slot++) {
		if (!read_pair(table, slot, &pair))
			continue;
		TRY(group_need_rest(pair.group, part->plan));
		TRY(move_pair(part, c, &pair));
	}
	return STATUS_OK;
}

enum status group_keys_fold(struct groups *part)
{
	return each_column(part, fold_table);
}

bool group_keys_find(struct group *group, const struct plan *plan, size_t c, enum keys_order order, const char **text,
		     size_t *nbytes)
{
	const struct groups *part = group_store_part(plan->groups, (size_t)(group_hash(group, key_seed_get()) >> (64 - GROUPS_PART_BITS)));
	uint32_t slot = group_keys(group, &plan->columns[c])->found[order];
	struct pair pair;

	*text = "";
	*nbytes = 0;
	if (!slot || !read_pair(table_of(part, c), slot - 1, &pair))
		return false;
	*text = pair.text;
	*nbytes = pair.nbytes;
	return true;
}

/* ---- both ---- */

enum status group_lists_settle(struct groups *part)
{
	TRY(settle_numbers(part));
	return each_column(part, settle_table);
}

static enum status visit_settle(void *context, struct groups *part)
{
	(void)context;
	return group_lists_settle(part);
}

enum status group_store_settle(struct group_store *store, size_t nthreads)
{
	return group_store_visit(store, nthreads, visit_settle, NULL);
}

void group_lists_free(struct groups *g)
{
	free_lists(g);
	if (g->settled)
		key_memory_free(g->settled, g->settled->nbytes);
	g->settled = NULL;
	for (size_t c = 0; g->keys && c < g->plan->ncolumns; c++)
		key_table_free(&g->keys[c]);
	free(g->keys);
	g->keys = NULL;
	text_free(&g->key_text);
}
