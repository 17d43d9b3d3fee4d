/* SPDX-License-Identifier: MIT
 *
 * group_tuples.c - see group_tuples.h.
 */
#include "fold/group_tuples.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "fold/group_lists.h"
#include "fold/groups.h"
#include "fold/key_memory.h"
#include "fold/pair.h"
#include "fold/texts.h"
#include "simd/simd.h"

#define FLIGHT_NTUPLES SIMD_NUMBERS_NROWS
#define NTUPLES_MIN 16
#define NWAITING_FEW 512 /* in a part with few groups */
/* Of a part: in all 64 MiB, but not more than a fourth of --memory. Half of it with lists, whose
 * tables are larger than a cache in any case. */
#define WAITING_NBYTES_MAX ((size_t)256 << 10)
#define WAITING_LISTS_NBYTES_MAX ((size_t)128 << 10)

/* The code of a number is its scale; that of a value of a column that does not parse is 0. */
#define TUPLE_MISSING 255 /* or no value */
#define TUPLE_TEXT 254    /* where texts are no error */
#define TUPLE_QUOTIENT 253 /* a number that was rounded */

/* A value as a text. */
struct tuple_text {
	struct key key;           /* as that of the tuple */
	uint64_t place_nbefore;   /* the two of struct group_vector_text share a word */
};
static_assert(sizeof(struct tuple_text) >= KEPT_NBYTES, "KEPT_NBYTES of a short text may be read");
#define TUPLE_NBEFORE_MAX ((1u << (64 - TUPLE_PLACE_BITS)) - 1)

/* A significand, or a number that was rounded. */
struct tuple_quotient {
	union {
		int64_t significand;
		int32_t scale;
	};
	uint64_t value[2]; /* the low half first */
};

static struct group_tuple *tuple_at(const struct group_tuples *t, const struct plan *plan, size_t i)
{
	return (struct group_tuple *)(t->data + i * plan->tuple_nbytes);
}

static uint8_t *code_of(struct group_tuple *t, const struct plan_column *column)
{
	return &t->bytes[TUPLE_PLACE_BITS / 8 + column->tuple_code];
}

static int64_t *number_of(struct group_tuple *t, const struct plan_column *column)
{
	return (int64_t *)((char *)t + column->tuple_offset);
}

static struct tuple_quotient *quotient_of(struct group_tuple *t, const struct plan_column *column)
{
	return (struct tuple_quotient *)((char *)t + column->tuple_offset);
}

static struct tuple_text *text_of(struct group_tuple *t, const struct plan_column *column)
{
	return (struct tuple_text *)((char *)t + column->tuple_offset + (column->parses ? sizeof(int64_t) : 0));
}

/* ---- the plan ---- */

static bool can_be_tuples(const struct plan *plan)
{
	if (plan->emits || plan->nwindows || plan->group_nmatched_offset)
		return false;
	for (size_t i = 0; i < plan->npairs; i++)
		if (group_keeps_quotients(&plan->columns[plan->pairs[i].x]) || group_keeps_quotients(&plan->columns[plan->pairs[i].y]))
			return false;
	return true;
}

void group_tuples_plan(struct plan *plan)
{
	size_t ncodes = 0, end;

	if (!can_be_tuples(plan))
		return;
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan->columns[c].needs)
			plan->columns[c].tuple_code = (uint32_t)ncodes++;
	end = (offsetof(struct group_tuple, bytes) + TUPLE_PLACE_BITS / 8 + ncodes + 7) / 8 * 8;
	end = end < sizeof(struct group_tuple) ? sizeof(struct group_tuple) : end;
	for (size_t c = 0; c < plan->ncolumns; c++) {
		struct plan_column *column = &plan->columns[c];
		column->tuple_offset = (uint32_t)end;
		if (group_keeps_quotients(column))
			end += sizeof(struct tuple_quotient);
		else if (column->needs && column->parses)
			end += sizeof(int64_t);
		end += group_wants_texts(column) ? sizeof(struct tuple_text) : 0;
	}
	plan->tuple_nbytes = end;
}

/* ---- memory ---- */

enum status group_tuples_reserve(struct group_tuples *t, const struct plan *plan, size_t n)
{
	size_t room = t->room ? t->room : NTUPLES_MIN;
	char *data;
	uint8_t *parts;

	while (room < t->n + n)
		room *= 2;
	if (room == t->room)
		return STATUS_OK;
	data = realloc(t->data, room * plan->tuple_nbytes);
	t->data = data ? data : t->data;
	parts = data ? realloc(t->parts, room) : NULL;
	NEED(parts);
	t->parts = parts;
	t->room = room;
	return STATUS_OK;
}

void group_tuples_free(struct group_tuples *t, const struct plan *plan)
{
	if (t->parts)
		free(t->data);
	else
		key_memory_free(t->data, t->room * plan->tuple_nbytes);
	free(t->parts);
	key_arena_free(&t->texts);
	memset(t, 0, sizeof *t);
}

/* The most tuples that may wait with a part. */
static size_t nwaiting_max(const struct plan *plan)
{
	uint64_t share = memory_limit_nbytes() >> (GROUPS_PART_BITS + 2);
	size_t most = plan->nlists ? WAITING_LISTS_NBYTES_MAX : WAITING_NBYTES_MAX;
	size_t n = (share < most ? (size_t)share : most) / plan->tuple_nbytes;

	return n < NTUPLES_MIN ? NTUPLES_MIN : n;
}

/* Doubles the room of those that wait. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
static enum status widen(struct group_tuples *t, const struct plan *plan, size_t most)
{
	size_t nbytes = t->room * plan->tuple_nbytes, to = nbytes ? 2 * nbytes : NTUPLES_MIN * plan->tuple_nbytes;
	size_t room = key_memory_nbytes(to) / plan->tuple_nbytes;
	void *data = t->data;
	enum status status;

	room = room < most ? room : most;
	status = key_memory_widen(&data, nbytes, room * plan->tuple_nbytes);
	t->data = data;
	t->room = status == STATUS_OK ? room : t->room;
	return status;
}

/* Makes room for one more at least: more room, or none that wait. A part's tuples bring its table into the cache once a fold,
 * which pays for about as many tuples as it has groups; more of them only touch more memory. Values and keys of the groups lie in
 * larger tables, which take as many as may wait. */
static enum status need_room(struct groups *part, size_t most)
{
	const size_t enough = part->ngroups > NWAITING_FEW ? part->ngroups : NWAITING_FEW;
	struct group_tuples *t = &part->tuples;
	enum status status = STATUS_OK;

	most = enough < most && part->plan->nlists == 0 ? enough : most;
	if (t->n < t->room)
		return status;
	if (t->room < most)
		status = widen(t, part->plan, most);
	return t->n == t->room && t->room ? group_tuples_fold(part, t) : status;
}

/* Gives a long key its own bytes, of which as many may be read as of a short one. */
static enum status copy_key(struct group_tuples *t, struct key *key)
{
	void *text;

	TRY(key_arena_take(&t->texts, key_nbytes(key) + KEPT_NBYTES - KEY_INLINE_NBYTES, &text));
	key->text = memcpy(text, key->text, key_nbytes(key));
	return STATUS_OK;
}

/* Gives a tuple that has been copied its own bytes of what it points to. */
static enum status copy_texts(struct group_tuples *t, const struct plan *plan, struct group_tuple *tuple)
{
	TRY(key_is_long(&tuple->key) ? copy_key(t, &tuple->key) : STATUS_OK);
	for (size_t c = 0; (plan->groups_keep_keys || plan->groups_keep_ends) && c < plan->ncolumns; c++) {
		const struct plan_column *column = &plan->columns[c];
		if (group_wants_texts(column) && *code_of(tuple, column) != TUPLE_MISSING && key_is_long(&text_of(tuple, column)->key))
			TRY(copy_key(t, &text_of(tuple, column)->key));
	}
	return STATUS_OK;
}

/* ---- rows and tuples ---- */

enum status group_tuples_add(struct group_tuples *t, const struct plan *plan, const struct key *key, uint64_t hash, uint64_t place,
			     bool copies)
{
	struct group_tuple *tuple = tuple_at(t, plan, t->n);

	tuple->key = *key;
	tuple->place = place;
	t->parts[t->n] = (uint8_t)(hash >> (64 - GROUPS_PART_BITS));
	TRY(copies && key_is_long(key) ? copy_key(t, &tuple->key) : STATUS_OK);
	t->n++;
	return STATUS_OK;
}

uint64_t group_tuples_fit(const struct plan_column *column, const struct group_vector *v, uint64_t rows)
{
	const uint32_t most = column->needs & (MOMENT_ENDS | MOMENT_TEXTS) ? KEPT_NBYTES : UINT32_MAX;

	for (uint64_t left = group_wants_texts(column) ? rows & v->present : 0; left; left &= left - 1) {
		const struct group_vector_text *x = &v->texts[__builtin_ctzll(left)];
		rows &= x->nbytes > most || x->nbefore > TUPLE_NBEFORE_MAX ? ~(left & -left) : ~UINT64_C(0);
	}
	return rows;
}

enum status group_tuples_put(struct group_tuples *t, const struct plan *plan, const struct plan_column *column,
			     const struct group_vector *v, uint64_t rows, size_t first)
{
	const struct key_seed seed = key_seed_get();

	for (; rows; rows &= rows - 1, first++) {
		struct group_tuple *tuple = tuple_at(t, plan, first);
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		const bool is_present = v->present >> row & 1, is_number = v->numbers >> row & 1, is_quotient = v->quotients >> row & 1;
		*code_of(tuple, column) = !is_present	   ? TUPLE_MISSING
					  : is_number	   ? v->x->scale[row]
					  : is_quotient	   ? TUPLE_QUOTIENT
					  : column->parses ? TUPLE_TEXT
							   : 0;
		if (is_quotient) {
			const struct exact *q = &v->rounded[row];
			quotient_of(tuple, column)->scale = q->scale;
			group_split(quotient_of(tuple, column)->value, (uint128)q->value);
		} else if (column->parses) {
			*number_of(tuple, column) = is_number ? v->x->significand[row] : 0;
		}
		if (is_present && group_wants_texts(column)) {
			const struct group_vector_text *x = &v->texts[row];
			key_make(x->text, x->nbytes, true, seed, &text_of(tuple, column)->key);
			text_of(tuple, column)->place_nbefore = x->place | (uint64_t)x->nbefore << TUPLE_PLACE_BITS;
			if (column->let && x->nbytes > KEY_INLINE_NBYTES)
				TRY(copy_key(t, &text_of(tuple, column)->key));
		}
	}
	return STATUS_OK;
}

/* The values of a column of n tuples. numbers, quotients: for their numbers. */
static void get_values(struct group_tuple *const *tuples, unsigned n, const struct plan_column *column, struct simd_numbers *numbers,
		       struct exact *quotients, struct group_vector *v)
{
	v->present = v->numbers = v->quotients = 0;
	v->x = numbers;
	v->rounded = quotients;
	for (unsigned i = 0; i < n; i++) {
		const unsigned code = *code_of(tuples[i], column);
		v->present |= (uint64_t)(code != TUPLE_MISSING) << i;
		if (column->parses) {
			numbers->significand[i] = *number_of(tuples[i], column);
			numbers->scale[i] = (uint8_t)code;
			v->numbers |= (uint64_t)(code < TUPLE_QUOTIENT) << i;
		}
		if (code == TUPLE_QUOTIENT) {
			const struct tuple_quotient *q = quotient_of(tuples[i], column);
			v->quotients |= (uint64_t)1 << i;
			quotients[i] = (struct exact){.value = (int128)group_joined(q->value), .scale = q->scale, .is_rounded = true};
		}
		if (group_wants_texts(column)) {
			const struct tuple_text *x = text_of(tuples[i], column);
			if (code != TUPLE_MISSING)
				v->texts[i] = (struct group_vector_text){key_text(&x->key), (uint32_t)key_nbytes(&x->key),
									 (uint32_t)(x->place_nbefore >> TUPLE_PLACE_BITS),
									 x->place_nbefore & (TUPLE_PLACES - 1)};
		}
	}
}

/* ---- waiting ---- */

enum status group_tuples_wait(struct groups *part, const struct group_tuples *from, const uint32_t *at, size_t n)
{
	const size_t nbytes = part->plan->tuple_nbytes, most = nwaiting_max(part->plan);
	struct group_tuples *to = &part->tuples;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < n && status == STATUS_OK;) {
		status = need_room(part, most);
		for (; i < n && to->n < to->room && status == STATUS_OK; i++) {
			struct group_tuple *t = tuple_at(to, part->plan, to->n);
			memcpy(t, from->data + at[i] * nbytes, nbytes);
			status = copy_texts(to, part->plan, t);
			to->n += status == STATUS_OK;
		}
	}
	return status;
}

/* ---- folding ---- */

/* Finds the groups of n tuples, and counts these. parts: of each; NULL: all are of the part that `to` is. */
static enum status find(struct groups *to, const uint8_t *parts, struct group_tuple *const *tuples, unsigned n,
			struct group **groups)
{
	const struct key_seed seed = key_seed_get();
	const struct key *keys[FLIGHT_NTUPLES];
	uint64_t hashes[FLIGHT_NTUPLES];

	for (unsigned i = 0; i < n; i++) {
		const uint64_t part = parts ? parts[i] : to->part;
		keys[i] = &tuples[i]->key;
		hashes[i] = key_held_hash(keys[i], seed) | part << (64 - GROUPS_PART_BITS);
	}
	TRY(groups_find_flight(to, keys, hashes, n, groups));
	for (unsigned i = 0; i < n; i++) {
		uint64_t place = tuples[i]->place & (TUPLE_PLACES - 1);
		if (groups[i]->nrecords++ == 0 || place < groups[i]->first)
			groups[i]->first = place;
	}
	return STATUS_OK;
}

/* Folds the products of the plan's pair i. */
static enum status fold_pair(struct groups *to, size_t i, struct group **groups, struct group_tuple *const *tuples, unsigned n)
{
	const struct plan *plan = to->plan;
	const struct plan_column *sides[PAIR_NSIDES] = {&plan->columns[plan->pairs[i].x], &plan->columns[plan->pairs[i].y]};

	for (unsigned t = 0; t < n; t++) {
		struct pair *pair = group_pair(groups[t], &plan->pairs[i]);
		int64_t x[PAIR_NSIDES];
		uint8_t scale[PAIR_NSIDES];
		bool has[PAIR_NSIDES];
		for (int side = 0; side < PAIR_NSIDES; side++) {
			scale[side] = *code_of(tuples[t], sides[side]);
			x[side] = *number_of(tuples[t], sides[side]);
			has[side] = scale[side] < TUPLE_TEXT;
		}
		if (has[PAIR_X] && has[PAIR_Y])
			TRY(pair_add_products(pair, (int128)x[PAIR_X] * x[PAIR_Y], scale[PAIR_X] + scale[PAIR_Y], &to->texts));
		for (int side = 0; side < PAIR_NSIDES && has[PAIR_X] != has[PAIR_Y]; side++)
			TRY(pair_add_alone(pair, side, &x[side], &scale[side], has[side], &to->texts));
	}
	return STATUS_OK;
}

enum status group_tuples_fold(struct groups *to, struct group_tuples *t)
{
	const struct plan *plan = to->plan;
	struct group_tuple *tuples[FLIGHT_NTUPLES];
	struct group *groups[FLIGHT_NTUPLES];
	struct simd_numbers numbers;
	struct group_vector v;
	struct exact quotients[SIMD_NUMBERS_NROWS];
	enum status status = STATUS_OK;

	for (size_t i = 0; i < t->n && status == STATUS_OK; i += FLIGHT_NTUPLES) {
		unsigned n = (unsigned)(t->n - i < FLIGHT_NTUPLES ? t->n - i : FLIGHT_NTUPLES);
		for (unsigned j = 0; j < n; j++)
			tuples[j] = tuple_at(t, plan, i + j);
		status = find(to, t->parts ? t->parts + i : NULL, tuples, n, groups);
		for (size_t c = 0; c < plan->ncolumns && status == STATUS_OK; c++) {
			if (!plan->columns[c].needs)
				continue;
			get_values(tuples, n, &plan->columns[c], &numbers, quotients, &v);
			status = group_add_vector(to, groups, c, &v);
		}
		for (size_t k = 0; k < plan->npairs && status == STATUS_OK; k++)
			status = fold_pair(to, k, groups, tuples, n);
	}
	t->n = 0;
	key_arena_free(&t->texts);
	return status;
}
