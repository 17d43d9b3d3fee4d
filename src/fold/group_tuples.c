/* SPDX-License-Identifier: MIT
 *
 * group_tuples.c - see group_tuples.h.
 */
#include "fold/group_tuples.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/memory_limit.h"
#include "fold/group_keys.h"
#include "fold/group_values.h"
#include "fold/groups.h"
#include "fold/key_memory.h"
#include "fold/pair.h"
#include "fold/texts.h"
#include "simd/simd.h"

#define FLIGHT_NTUPLES SIMD_NUMBERS_NROWS
static_assert(FLIGHT_NTUPLES <= GROUP_KEYS_FLIGHT, "a flight of tuples is one of keys");
#define NTUPLES_MIN 16
#define NWAITING_FEW 512 /* in a part with few groups */
#define WAITING_NBYTES_MAX ((size_t)128 << 10) /* of a part; in all 32 MiB, but not more than a fourth of --memory */

/* ---- the plan ---- */

static bool can_be_tuples(const struct plan *plan)
{
	if (plan->emits || plan->nwindows || plan->group_nmatched_offset)
		return false;
	for (size_t i = 0; i < plan->npairs; i++)
		if (!plan->pairs[i].cell_offset || group_keeps_quotients(&plan->columns[plan->pairs[i].x]) ||
		    group_keeps_quotients(&plan->columns[plan->pairs[i].y]))
			return false;
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan->columns[c].needs && !plan_column_has_cell(&plan->columns[c]))
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
		end += column->needs & (MOMENT_ENDS | MOMENT_TEXTS) ? sizeof(struct group_end) : 0;
		end += column->needs & MOMENT_KEYS ? sizeof(struct tuple_text) : 0;
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
	text_arena_free(&t->key_texts);
	memset(t, 0, sizeof *t);
}

/* The most tuples that may wait with a part. */
static size_t nwaiting_max(const struct plan *plan)
{
	uint64_t share = memory_limit_nbytes() >> (GROUPS_PART_BITS + 2);
	size_t n = (size_t)(share < WAITING_NBYTES_MAX ? share : WAITING_NBYTES_MAX) / plan->tuple_nbytes;

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
static enum status need_room(struct groups *part, size_t number, size_t most)
{
	const size_t enough = part->ngroups > NWAITING_FEW ? part->ngroups : NWAITING_FEW;
	struct group_tuples *t = &part->tuples;
	enum status status = STATUS_OK;

	most = enough < most && part->plan->nlists == 0 ? enough : most;
	if (t->n < t->room)
		return status;
	if (t->room < most)
		status = widen(t, part->plan, most);
	return t->n == t->room && t->room ? group_tuples_fold(part, number) : status;
}

enum status group_tuples_copy_key(struct group_tuples *t, struct key *key)
{
	char *text;

	TRY(text_arena_take(&t->key_texts, key_nbytes(key), &text));
	key->text = memcpy(text, key->text, key_nbytes(key));
	return STATUS_OK;
}

/* Gives a tuple that has been copied its own bytes of what it points to. */
static enum status copy_texts(struct group_tuples *t, const struct plan *plan, struct group_tuple *tuple)
{
	TRY(key_is_long(&tuple->key) ? group_tuples_copy_key(t, &tuple->key) : STATUS_OK);
	for (size_t c = 0; plan->groups_keep_keys && c < plan->ncolumns; c++) {
		const struct plan_column *column = &plan->columns[c];
		if (column->needs & MOMENT_KEYS && group_tuple_codes(tuple)[column->tuple_code] != TUPLE_MISSING &&
		    key_is_long(&group_tuple_text(tuple, column)->key))
			TRY(group_tuples_copy_key(t, &group_tuple_text(tuple, column)->key));
	}
	return STATUS_OK;
}

enum status group_tuples_wait(struct groups *part, size_t number, const struct group_tuples *from, const uint32_t *at, size_t n)
{
	const size_t nbytes = part->plan->tuple_nbytes, most = nwaiting_max(part->plan);
	struct group_tuples *to = &part->tuples;
	enum status status = STATUS_OK;

	for (size_t i = 0; i < n && status == STATUS_OK;) {
		status = need_room(part, number, most);
		for (; i < n && to->n < to->room && status == STATUS_OK; i++) {
			struct group_tuple *t = group_tuple_at(to, part->plan, to->n);
			memcpy(t, from->data + at[i] * nbytes, nbytes);
			status = copy_texts(to, part->plan, t);
			to->n += status == STATUS_OK;
		}
	}
	return status;
}

/* ---- folding ---- */

/* Finds the groups of n tuples, and counts these. */
static enum status find(struct groups *part, size_t number, struct group_tuple *const *tuples, unsigned n, struct group **groups)
{
	const struct key_seed seed = key_seed_get();
	uint64_t hashes[FLIGHT_NTUPLES];

	for (unsigned i = 0; i < n; i++) {
		hashes[i] = key_held_hash(&tuples[i]->key, seed) | (uint64_t)number << (64 - GROUPS_PART_BITS);
		groups_prefetch(part, hashes[i]);
	}
	for (unsigned i = 0; i < n; i++) {
		TRY(groups_find(part, &tuples[i]->key, hashes[i], &groups[i]));
		group_prefetch(groups[i]);
	}
	for (unsigned i = 0; i < n; i++) {
		uint64_t place = tuples[i]->place & (TUPLE_PLACES - 1);
		if (groups[i]->nrecords++ == 0 || place < groups[i]->first)
			groups[i]->first = place;
	}
	return STATUS_OK;
}

/* Folds the values of a column that are more than numbers. */
static enum status fold_others(struct groups *part, size_t c, struct group **groups, struct group_tuple *const *tuples, unsigned n)
{
	const struct plan_column *column = &part->plan->columns[c];
	struct group_key keys[FLIGHT_NTUPLES];
	enum status status = STATUS_OK;
	size_t nkeys = 0;

	for (unsigned i = 0; i < n && status == STATUS_OK; i++) {
		const unsigned code = group_tuple_codes(tuples[i])[column->tuple_code];
		if (code == TUPLE_MISSING)
			continue;
		if (column->needs & MOMENT_ENDS) {
			group_ends_take(group_ends(groups[i], column), group_tuple_end(tuples[i], column));
			group_ends(groups[i], column)->ntexts += code == TUPLE_TEXT;
		}
		if (column->needs & MOMENT_TEXTS) {
			const struct group_end *text = group_tuple_end(tuples[i], column);
			group_add_text(groups[i], column, &(struct text_at){text->text, text->nbytes, text->key});
		}
		if (column->needs & MOMENT_VALUES)
			status = group_values_add(part, groups[i], c, *group_tuple_number(tuples[i], column), code);
		if (column->needs & MOMENT_KEYS) {
			const struct tuple_text *text = group_tuple_text(tuples[i], column);
			keys[nkeys++] = (struct group_key){groups[i], key_text(&text->key), key_nbytes(&text->key), text->first};
		}
	}
	return status == STATUS_OK && nkeys > 0 ? group_keys_add(part, c, keys, nkeys) : status;
}

static enum status fold_quotient(struct groups *part, size_t c, struct group *group, const struct tuple_quotient *x)
{
	const struct quotient q = {.negative = x->negative, .is_rounded = true, .scale = x->scale, .magnitude = group_joined(x->magnitude)};
	const struct quotient_fold one = quotient_fold_of(&q);

	return group_add_quotients(group, part->plan, c, &one);
}

static enum status fold_column(struct groups *part, size_t c, struct group **groups, struct group_tuple *const *tuples, unsigned n)
{
	const struct plan_column *column = &part->plan->columns[c];
	struct simd_numbers x;

	x.numbers = 0;
	for (unsigned i = 0; i < n; i++) {
		unsigned code = group_tuple_codes(tuples[i])[column->tuple_code];
		if (!column->parses) {
			group_cell(groups[i], column)->count_scale += code != TUPLE_MISSING;
			continue;
		}
		x.significand[i] = *group_tuple_number(tuples[i], column);
		x.scale[i] = (uint8_t)code;
		x.numbers |= (uint64_t)(code < TUPLE_QUOTIENT) << i;
		if (code == TUPLE_QUOTIENT)
			TRY(fold_quotient(part, c, groups[i], group_tuple_quotient(tuples[i], column)));
	}
	if (x.numbers)
		TRY(group_add_rows(groups, part->plan, c, &x, x.numbers));
	if (column->needs & (MOMENT_ENDS | MOMENT_TEXTS | MOMENT_VALUES | MOMENT_KEYS))
		TRY(fold_others(part, c, groups, tuples, n));
	return STATUS_OK;
}

/* Folds the products of the plan's pair i. */
static enum status fold_pair(struct groups *part, size_t i, struct group **groups, struct group_tuple *const *tuples, unsigned n)
{
	const struct plan *plan = part->plan;
	const struct plan_column *sides[PAIR_NSIDES] = {&plan->columns[plan->pairs[i].x], &plan->columns[plan->pairs[i].y]};

	for (unsigned t = 0; t < n; t++) {
		struct decimal x[PAIR_NSIDES];
		bool has[PAIR_NSIDES];
		for (int side = 0; side < PAIR_NSIDES; side++) {
			x[side].scale = group_tuple_codes(tuples[t])[sides[side]->tuple_code];
			x[side].significand = *group_tuple_number(tuples[t], sides[side]);
			has[side] = x[side].scale < TUPLE_TEXT;
		}
		if (has[PAIR_X] && has[PAIR_Y])
			TRY(group_add_products(groups[t], plan, i,
					       (unsigned)(x[PAIR_X].scale + x[PAIR_Y].scale),
					       (int128)x[PAIR_X].significand * x[PAIR_Y].significand));
		else if (has[PAIR_X] || has[PAIR_Y])
			TRY(group_add_alone(groups[t], plan, i, has[PAIR_X] ? PAIR_X : PAIR_Y, x[has[PAIR_X] ? PAIR_X : PAIR_Y]));
	}
	return STATUS_OK;
}

enum status group_tuples_fold(struct groups *part, size_t number)
{
	struct group_tuples *t = &part->tuples;
	struct group_tuple *tuples[FLIGHT_NTUPLES];
	struct group *groups[FLIGHT_NTUPLES];
	enum status status = STATUS_OK;

	for (size_t i = 0; i < t->n && status == STATUS_OK; i += FLIGHT_NTUPLES) {
		unsigned n = (unsigned)(t->n - i < FLIGHT_NTUPLES ? t->n - i : FLIGHT_NTUPLES);
		for (unsigned j = 0; j < n; j++)
			tuples[j] = group_tuple_at(t, part->plan, i + j);
		status = find(part, number, tuples, n, groups);
		for (size_t c = 0; c < part->plan->ncolumns && status == STATUS_OK; c++)
			if (part->plan->columns[c].needs)
				status = fold_column(part, c, groups, tuples, n);
		for (size_t k = 0; k < part->plan->npairs && status == STATUS_OK; k++)
			status = fold_pair(part, k, groups, tuples, n);
	}
	t->n = 0;
	text_arena_free(&t->key_texts);
	return status == STATUS_OK && part->plan->nlists ? group_values_limit(part) : status;
}
