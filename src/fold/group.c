/* SPDX-License-Identifier: MIT
 *
 * group.c - see group.h.
 */
#include "fold/group.h"

#include <assert.h>
#include <stdalign.h>
#include <stdlib.h>
#include <string.h>

#include "fold/group_lists.h"
#include "fold/window.h"
#include "fold/pair.h"
#include "fold/texts.h"
#include "number/decimal_text.h"

/* ---- cells ---- */

static_assert(MOMENT_CUBES == MOMENT_SQUARES << 1 && MOMENT_FOURTHS == MOMENT_SQUARES << 2 && CELL_CUBES == CELL_SQUARES + 1 &&
	      CELL_FOURTHS == CELL_SQUARES + 2, "powers are numbered");

/* The scale of a power of numbers. */
static int power_scale(int i, int scale)
{
	return (i + 2) * scale;
}

void group_cell_read(const struct group_cell *cell, unsigned needs, struct group_sums *out)
{
	const int scale = (int)group_cell_scale(cell);

	if (group_cell_is_long(cell)) {
		*out = *cell->sums;
		return;
	}
	out->numbers = (struct number_sums){.count = group_cell_count(cell), .scale = scale, .sum = {.value = cell->sum, .scale = scale}};
	if (needs & MOMENT_EXTREMES) {
		out->numbers.min = (struct exact){.value = cell->extremes[0], .scale = scale};
		out->numbers.max = (struct exact){.value = cell->extremes[1], .scale = scale};
	}
	for (int i = 0; i < GROUP_NPOWERS; i++)
		if (needs & group_power_moment(i))
			out->powers[i] = (struct exact){.value = (int128)group_joined(cell->powers[i]), .scale = power_scale(i, scale)};
}

static bool to_int64(const struct exact *x, int scale, int64_t *out)
{
	int128 value;
	bool fits = exact_to_int128(x, scale, &value) && value == (int64_t)value;

	*out = (int64_t)value;
	return fits;
}

/* Makes a cell's numbers x. Returns false, and changes nothing, where they do not fit. */
static bool set_cell(struct group_cell *cell, unsigned needs, const struct group_sums *x)
{
	const int scale = x->numbers.scale;
	struct group_cell made = {.count_scale = x->numbers.count | (uint64_t)scale << GROUP_COUNT_BITS};
	int128 power;

	if (scale >= DECIMAL_NSCALES || !to_int64(&x->numbers.sum, scale, &made.sum))
		return false;
	if (needs & MOMENT_EXTREMES &&
	    !(to_int64(&x->numbers.min, scale, &made.extremes[0]) && to_int64(&x->numbers.max, scale, &made.extremes[1])))
		return false;
	for (int i = 0; i < GROUP_NPOWERS; i++)
		if (needs & group_power_moment(i)) {
			/* numbers of a part without a partner have a scale of 0, whatever that of their squares is */
			if (x->powers[i].scale > power_scale(i, scale) ||
			    !exact_to_int128(&x->powers[i], power_scale(i, scale), &power))
				return false;
			group_split(made.powers[i], (uint128)power);
		}
	memcpy(cell, &made, group_sums_nbytes(needs));
	return true;
}

/* *sum = x + y: no sum is rounded. Its limbs are in the room. */
static void add_exact(struct exact *sum, struct exact x, struct exact y, struct integer *room)
{
	x.is_rounded = y.is_rounded = false;
	*sum = exact_sum(&x, &y, room);
}

/* Makes x, whose limbs lie in an arena, what y is. Each memory is at least twice as long as the one before. */
static enum status keep_exact(struct exact *x, const struct exact *y, struct key_arena *arena)
{
	const int32_t room = x->is_long ? x->capacity : 0;
	unsigned long *limb = room ? x->limb : NULL;
	void *memory = limb;

	if (y->is_long && y->nlimbs > room)
		TRY(key_arena_take_zeros(arena, 2 * (size_t)y->nlimbs * sizeof *limb, &memory));
	if (y->is_long)
		memmove(memory, y->limb, (size_t)y->nlimbs * sizeof *limb);
	*x = *y;
	if (y->is_long) {
		x->limb = memory;
		x->capacity = memory == limb ? room : 2 * y->nlimbs;
	}
	return STATUS_OK;
}

enum status group_exact_add(struct exact *x, const struct exact *y, struct key_arena *arena)
{
	struct integer room;
	struct exact sum;

	add_exact(&sum, *x, *y, &room);
	return keep_exact(x, &sum, arena);
}

/* Makes a cell long, unless it is, and its sums x. */
static enum status keep_sums(struct group_cell *cell, unsigned needs, const struct group_sums *x, struct key_arena *arena)
{
	struct group_sums *to = cell->sums;
	void *memory;

	if (!group_cell_is_long(cell)) {
		TRY(key_arena_take_zeros(arena, sizeof *to, &memory));
		to = memory;
	}
	TRY(keep_exact(&to->numbers.sum, &x->numbers.sum, arena));
	TRY(keep_exact(&to->numbers.min, &x->numbers.min, arena));
	TRY(keep_exact(&to->numbers.max, &x->numbers.max, arena));
	for (int i = 0; i < GROUP_NPOWERS; i++)
		if (needs & group_power_moment(i))
			TRY(keep_exact(&to->powers[i], &x->powers[i], arena));
	to->numbers.count = x->numbers.count;
	to->numbers.scale = x->numbers.scale;
	cell->count_scale = x->numbers.count | (uint64_t)GROUP_SCALE_LONG << GROUP_COUNT_BITS;
	cell->sums = to;
	return STATUS_OK;
}

void group_sums_add(struct group_sums *sums, const struct group_sums *later, unsigned needs, struct integer *rooms)
{
	struct number_sums *x = &sums->numbers;
	const struct number_sums *y = &later->numbers;
	const bool is_first = x->count == 0;

	x->count += y->count;
	x->scale = y->scale > x->scale ? y->scale : x->scale;
	add_exact(&x->sum, x->sum, y->sum, rooms++);
	if (is_first || exact_compare(&y->min, &x->min) < 0)
		x->min = y->min;
	if (is_first || exact_compare(&y->max, &x->max) > 0)
		x->max = y->max;
	for (int i = 0; i < GROUP_NPOWERS; i++)
		if (needs & group_power_moment(i))
			add_exact(&sums->powers[i], sums->powers[i], later->powers[i], rooms++);
}

enum status group_cell_add(struct group_cell *cell, unsigned needs, const struct group_sums *later, struct key_arena *arena)
{
	struct integer rooms[1 + GROUP_NPOWERS];
	struct group_sums sums;

	if (later->numbers.count == 0 || (group_cell_count(cell) == 0 && set_cell(cell, needs, later)))
		return STATUS_OK;
	group_cell_read(cell, needs, &sums);
	group_sums_add(&sums, later, needs, rooms);
	if (!group_cell_is_long(cell) && set_cell(cell, needs, &sums))
		return STATUS_OK;
	return keep_sums(cell, needs, &sums, arena);
}

enum status group_cell_own(struct group_cell *cell, unsigned needs, struct key_arena *arena)
{
	const struct group_sums *sums = cell->sums;

	if (!group_cell_is_long(cell))
		return STATUS_OK;
	cell->count_scale = 0;
	return keep_sums(cell, needs, sums, arena);
}

enum status group_cell_add_number(struct group_cell *cell, unsigned needs, struct decimal number, struct key_arena *arena)
{
	const struct exact x = {.value = number.significand, .scale = number.scale};
	struct group_sums one = {.numbers = {.count = 1, .scale = number.scale, .sum = x, .min = x, .max = x}};
	struct integer rooms[GROUP_NPOWERS];

	for (int i = 0; i < GROUP_NPOWERS && needs & (MOMENT_SQUARES | MOMENT_CUBES | MOMENT_FOURTHS); i++)
		one.powers[i] = exact_product(i ? &one.powers[i - 1] : &x, &x, &rooms[i]);
	return group_cell_add(cell, needs, &one, arena);
}

/* Adds the numbers of y, which is not long, to x. Returns false where they do not fit as they are; x then
 * holds the same numbers. Inline, for needs that the caller's loop knows. */
static inline __attribute__((always_inline)) bool add_cell(struct group_cell *x, const struct group_cell *y, unsigned needs)
{
	int128 power[GROUP_NPOWERS] = {0};
	int64_t sum;

	if (group_cell_scale(x) != group_cell_scale(y)) {
		if (group_cell_count(x) > 0)
			return false;
		x->count_scale = (uint64_t)group_cell_scale(y) << GROUP_COUNT_BITS; /* of no numbers: all else is 0 */
	}
	if (__builtin_add_overflow(x->sum, y->sum, &sum))
		return false;
#pragma GCC unroll 3
	for (int i = 0; i < GROUP_NPOWERS; i++)
		if (needs & group_power_moment(i) &&
		    __builtin_add_overflow((int128)group_joined(x->powers[i]), (int128)group_joined(y->powers[i]), &power[i]))
			return false;
	if (needs & MOMENT_EXTREMES) {
		const bool is_first = group_cell_count(x) == 0;
		x->extremes[0] = is_first || y->extremes[0] < x->extremes[0] ? y->extremes[0] : x->extremes[0];
		x->extremes[1] = is_first || y->extremes[1] > x->extremes[1] ? y->extremes[1] : x->extremes[1];
	}
#pragma GCC unroll 3
	for (int i = 0; i < GROUP_NPOWERS; i++)
		if (needs & group_power_moment(i))
			group_split(x->powers[i], (uint128)power[i]);
	x->sum = sum;
	x->count_scale += group_cell_count(y);
	return true;
}

/* Makes a cell that of one number. Returns false where it does not fit. Inline, as above. */
static inline __attribute__((always_inline)) bool set_one(struct group_cell *cell, unsigned needs, int64_t significand, unsigned scale)
{
	const int128 square = (int128)significand * significand;
	int128 cube = 0, fourth = 0;

	if ((needs & MOMENT_CUBES && __builtin_mul_overflow(square, (int128)significand, &cube)) ||
	    (needs & MOMENT_FOURTHS && __builtin_mul_overflow(square, square, &fourth)))
		return false;
	cell->count_scale = 1 | (uint64_t)scale << GROUP_COUNT_BITS;
	cell->sum = cell->extremes[0] = cell->extremes[1] = significand;
	group_split(cell->powers[0], (uint128)square);
	group_split(cell->powers[1], (uint128)cube);
	group_split(cell->powers[2], (uint128)fourth);
	return true;
}

/* Inline, so that each set of moments has a loop of its own. */
static inline __attribute__((always_inline)) enum status
add_rows(struct groups *g, struct group *const *groups, size_t c, const struct simd_numbers *x, uint64_t rows, unsigned needs)
{
	const struct plan_column *column = &g->plan->columns[c];

	for (; rows; rows &= rows - 1) {
		unsigned row = (unsigned)__builtin_ctzll(rows);
		struct group_cell *cell = group_cell(groups[row], column), one;
		if (!set_one(&one, needs, x->significand[row], x->scale[row]) || !add_cell(cell, &one, needs))
			TRY(group_cell_add_number(cell, needs, (struct decimal){x->significand[row], x->scale[row]}, &g->texts));
	}
	return STATUS_OK;
}

/* Adds the numbers of a cell, and counts texts that are none. */
static enum status update_numbers(struct groups *g, struct group *const *groups, size_t c, const struct group_vector *v)
{
	const struct plan_column *column = &g->plan->columns[c];
	const unsigned needs = column->needs & GROUP_CELL_MOMENTS & ~(unsigned)(MOMENT_COUNT | MOMENT_SUM);

	for (uint64_t rows = column->parses ? 0 : v->present; rows; rows &= rows - 1)
		group_cell(groups[__builtin_ctzll(rows)], column)->count_scale++;
	for (uint64_t rows = group_has_texts(column) ? v->present & ~(v->numbers | v->quotients) : 0; rows; rows &= rows - 1)
		++*group_text_count(groups[__builtin_ctzll(rows)], column);
	switch (needs) {
	case 0:
		return add_rows(g, groups, c, v->x, v->numbers, 0);
	case MOMENT_EXTREMES:
		return add_rows(g, groups, c, v->x, v->numbers, MOMENT_EXTREMES);
	default:
		return add_rows(g, groups, c, v->x, v->numbers, needs);
	}
}

enum status group_cell_combine(struct group_cell *x, const struct group_cell *y, unsigned needs, struct key_arena *arena)
{
	struct group_sums sums;

	if (group_cell_count(y) == 0 || (!group_cell_is_long(y) && add_cell(x, y, needs)))
		return STATUS_OK;
	group_cell_read(y, needs, &sums);
	return group_cell_add(x, needs, &sums, arena);
}

/* ---- columns ---- */

void group_sums_of(const struct column_partial *column, struct group_sums *out)
{
	*out = (struct group_sums){.numbers = {.count = 0}};
	numbers_get(&column->numbers, &out->numbers);
	for (int i = 0; i < GROUP_NPOWERS; i++)
		if (moments_cell(&column->moments, CELL_SQUARES + i))
			out->powers[i] = *(const struct exact *)moments_cell(&column->moments, CELL_SQUARES + i);
}

/* Adds numbers to a column. Errors: STATUS_NO_MEMORY. */
static enum status add_to_column(const struct group_sums *x, unsigned needs, struct column_partial *to)
{
	if (x->numbers.count == 0)
		return STATUS_OK;
	for (int i = 0; i < GROUP_NPOWERS; i++)
		if (needs & group_power_moment(i)) {
			struct exact *sum = moments_need(&to->moments, CELL_SQUARES + i);
			NEED(sum);
			TRY(exact_add(sum, &x->powers[i]));
		}
	return numbers_add_sums(&to->numbers, &x->numbers);
}

static enum status add_numbers_to_column(struct group *g, const struct plan *plan, const struct plan_column *column,
					 struct column_partial *to)
{
	struct group_sums x;

	(void)plan;
	to->ninvalid += group_has_texts(column) ? *group_text_count(g, column) : 0;
	group_cell_read(group_cell(g, column), column->needs, &x);
	if (column->parses)
		return add_to_column(&x, column->needs, to);
	to->numbers.count += x.numbers.count;
	return STATUS_OK;
}

static enum status take_numbers(struct groups *to, struct group *g, size_t c, const struct column_partial *later)
{
	const struct plan_column *column = &to->plan->columns[c];
	struct group_sums x;

	if (!column->parses) {
		group_cell(g, column)->count_scale += later->numbers.count;
		return STATUS_OK;
	}
	if (group_has_texts(column))
		*group_text_count(g, column) += later->ninvalid - later->nnuls;
	group_sums_of(later, &x);
	return group_cell_add(group_cell(g, column), column->needs, &x, &to->texts);
}

static enum status combine_numbers(struct groups *to, struct group *g, struct group *later, size_t c)
{
	const struct plan_column *column = &to->plan->columns[c];

	if (group_has_texts(column))
		*group_text_count(g, column) += *group_text_count(later, column);
	return group_cell_combine(group_cell(g, column), group_cell(later, column), column->needs, &to->texts);
}

/* ---- ends ---- */

/* The ends that a group has of a column: those of numbers only if they may be others. Every other one is a last one. */
static const enum end ends_kept[NENDS] = {END_FIRST, END_LAST, END_FIRST_NUMBER, END_LAST_NUMBER};

static int count_ends(const struct plan_column *column)
{
	return (int)(group_ends_nbytes(column) / sizeof(struct kept_text));
}

/* Whether a value at that place is nearer to the i-th end than its value. */
static inline bool is_nearer(const struct kept_text *e, int i, uint64_t place)
{
	return i & 1 ? place >= e->place : e->place == 0 || place < e->place;
}

/* Makes a value the i-th end, if it is. */
static enum status add_end(struct kept_text *e, int i, const struct kept_text *later, struct key_arena *texts)
{
	return later->place && is_nearer(e, i, later->place) ? kept_text_copy(e, later, texts) : STATUS_OK;
}

static enum status take_ends(struct groups *to, struct group *g, size_t c, const struct column_partial *later)
{
	const struct plan_column *column = &to->plan->columns[c];
	const struct ends *ends = moments_cell(&later->moments, CELL_ENDS);
	struct column_end x;
	struct kept_text e;

	for (int i = 0; ends && i < count_ends(column); i++)
		if (ends_get(ends, ends_kept[i], &x)) {
			kept_text_set(&e, (x.place + 1) << 1 | x.is_number, x.text, x.nbytes, false);
			TRY(add_end(&group_ends(g, column)[i], i, &e, &to->texts));
		}
	return STATUS_OK;
}

/* Makes a row's value the i-th end, if it is. is_gone: its text will be, with its block of rows. */
static inline enum status offer_end(struct groups *g, struct kept_text *e, int i, uint64_t place, const struct group_vector_text *x,
				    bool is_gone)
{
	struct kept_text one;

	if (!is_nearer(e, i, place))
		return STATUS_OK;
	if (!is_gone || x->nbytes <= KEPT_NBYTES) {
		kept_text_set(e, place, x->text, x->nbytes, true);
		return STATUS_OK;
	}
	kept_text_set(&one, place, x->text, x->nbytes, true);
	return kept_text_copy(e, &one, &g->texts);
}

/* Makes values the first or last ones of their groups, if they are. */
static enum status update_ends(struct groups *g, struct group *const *groups, size_t c, const struct group_vector *v)
{
	const struct plan_column *column = &g->plan->columns[c];
	const size_t offset = column->cell_offset + group_state_offset(column, GROUP_ENDS);
	const bool is_gone = column->let != NULL;

	for (uint64_t rows = v->present; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		struct kept_text *ends = (struct kept_text *)((char *)groups[row] + offset);
		const bool is_number = v->numbers >> row & 1;
		const uint64_t place = (v->texts[row].place + 1) << 1 | is_number;
		TRY(offer_end(g, &ends[0], 0, place, &v->texts[row], is_gone));
		TRY(offer_end(g, &ends[1], 1, place, &v->texts[row], is_gone));
		for (int i = 2; column->if_numeric && is_number && i < NENDS; i++)
			TRY(offer_end(g, &ends[i], i, place, &v->texts[row], is_gone));
	}
	return STATUS_OK;
}

static enum status combine_ends(struct groups *to, struct group *g, struct group *later, size_t c)
{
	const struct plan_column *column = &to->plan->columns[c];

	for (int i = 0; i < count_ends(column); i++)
		TRY(add_end(&group_ends(g, column)[i], i, &group_ends(later, column)[i], &to->texts));
	return STATUS_OK;
}

static enum status add_ends_to_column(struct group *g, const struct plan *plan, const struct plan_column *column,
				      struct column_partial *to)
{
	const struct kept_text *from = group_ends(g, column);
	struct ends *ends = from->place ? moments_need(&to->moments, CELL_ENDS) : NULL;
	struct scratch scratch = {.data = NULL};
	enum status status = STATUS_OK;

	if (!ends)
		return from->place ? STATUS_NO_MEMORY : STATUS_OK;
	for (int i = 0; i < count_ends(column) && status == STATUS_OK; i++) {
		struct column_end x = {.place = (from[i].place >> 1) - 1, .is_number = from[i].place & 1};
		x.text = kept_text_bytes(&from[i], &x.nbytes);
		if (from[i].place)
			status = ends_put(ends, ends_kept[i], plan, &x, &scratch);
	}
	free(scratch.data);
	return status;
}

/* ---- quotients ---- */

static enum status add_quotients(struct groups *to, struct group *g, size_t c, const struct quotient_fold *x)
{
	const struct plan_column *column = &to->plan->columns[c];
	struct integer words[QUOTIENT_NSUMS];
	struct group_sums sums = {.numbers = {.count = 0}};

	if (quotient_fold_add(group_quotients(g, column), x))
		return STATUS_OK;
	sums.numbers = quotient_fold_sums(x, words);
	return group_cell_add(group_cell(g, column), column->needs, &sums, &to->texts);
}

static enum status update_quotients(struct groups *g, struct group *const *groups, size_t c, const struct group_vector *v)
{
	for (uint64_t rows = v->quotients; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		struct quotient_fold one;
		if (quotient_fold_add_one(group_quotients(groups[row], &g->plan->columns[c]), &v->rounded[row]))
			continue;
		one = quotient_fold_of(&v->rounded[row]);
		TRY(add_quotients(g, groups[row], c, &one));
	}
	return STATUS_OK;
}

/* ---- texts ---- */

static enum status update_texts(struct groups *g, struct group *const *groups, size_t c, const struct group_vector *v)
{
	const struct plan_column *column = &g->plan->columns[c];

	for (uint64_t rows = v->present; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		const struct group_vector_text *x = &v->texts[row];
		struct text_run run;
		text_run_begin(&run, group_texts(groups[row], column));
		text_run_take(&run, &(struct text_at){x->text, x->nbytes, text_key(x->text, x->nbytes)});
		TRY(text_run_end(&run, group_texts(groups[row], column), &g->texts, column->let != NULL));
	}
	return STATUS_OK;
}

static void read_texts(struct group *g, const struct plan_column *column, void *cell)
{
	*(struct texts *)cell = *group_texts(g, column);
}

static enum status add_texts(struct groups *to, struct group *g, size_t c, const void *cell)
{
	const struct plan_column *column = &to->plan->columns[c];
	struct text_run run, later;

	text_run_begin(&run, group_texts(g, column));
	text_run_begin(&later, cell);
	text_run_combine(&run, &later);
	return text_run_end(&run, group_texts(g, column), &to->texts, true);
}

/* ---- states ---- */

static enum status add_quotients_to_column(struct group *g, const struct plan *plan, const struct plan_column *column,
					   struct column_partial *to)
{
	const struct quotient_fold *x = group_quotients(g, column);

	(void)plan;
	return x->count ? numbers_add_quotients(&to->numbers, x) : STATUS_OK;
}

static enum status combine_quotients(struct groups *to, struct group *g, struct group *later, size_t c)
{
	return add_quotients(to, g, c, group_quotients(later, &to->plan->columns[c]));
}

const struct group_state_ops group_state_cell = {
	.update = update_numbers,
	.combine = combine_numbers,
	.add_to = add_numbers_to_column,
	.take = take_numbers,
};
const struct group_state_ops group_state_ends = {
	.update = update_ends,
	.combine = combine_ends,
	.add_to = add_ends_to_column,
	.take = take_ends,
};
const struct group_state_ops group_state_text_count = {.update = NULL}; /* that of numbers does it */
const struct group_state_ops group_state_texts = {
	.update = update_texts,
	.cell = CELL_TEXTS,
	.read = read_texts,
	.add = add_texts,
};
static_assert(sizeof(struct texts) <= GROUP_READ_NBYTES, "cells can be read");
const struct group_state_ops group_state_quotients = {
	.update = update_quotients,
	.combine = combine_quotients,
	.add_to = add_quotients_to_column,
};

const struct group_state_ops *const group_states[GROUP_NSTATES] = {
#define STATE(id, name, type, nbytes, is_needed) [GROUP_##id] = &group_state_##name,
	GROUP_STATES(STATE)
#undef STATE
};

enum status group_add_vector(struct groups *g, struct group *const *groups, size_t c, const struct group_vector *v)
{
	for (unsigned left = g->plan->columns[c].states; left; left &= left - 1)
		if (group_states[__builtin_ctz(left)]->update)
			TRY(group_states[__builtin_ctz(left)]->update(g, groups, c, v));
	return STATUS_OK;
}

enum status group_add_column(struct groups *to, struct group *g, size_t c, const struct column_partial *later)
{
	for (unsigned left = to->plan->columns[c].states; left; left &= left - 1) {
		const struct group_state_ops *ops = group_states[__builtin_ctz(left)];
		if (ops->take)
			TRY(ops->take(to, g, c, later));
		else if (ops->add && moments_cell(&later->moments, ops->cell))
			TRY(ops->add(to, g, c, moments_cell(&later->moments, ops->cell)));
	}
	return STATUS_OK;
}

static enum status combine_column(struct groups *to, struct group *g, struct group *later, size_t c)
{
	alignas(16) unsigned char cell[GROUP_READ_NBYTES];

	for (unsigned left = to->plan->columns[c].states; left; left &= left - 1) {
		const struct group_state_ops *ops = group_states[__builtin_ctz(left)];
		if (ops->combine)
			TRY(ops->combine(to, g, later, c));
		if (!ops->read)
			continue;
		ops->read(later, &to->plan->columns[c], cell);
		TRY(ops->add(to, g, c, cell));
	}
	return STATUS_OK;
}

static enum status add_to_cells(struct group *g, const struct plan *plan, const struct plan_column *column, struct column_partial *to)
{
	alignas(16) unsigned char cell[GROUP_READ_NBYTES];

	for (unsigned left = column->states; left; left &= left - 1) {
		const struct group_state_ops *ops = group_states[__builtin_ctz(left)];
		if (ops->add_to)
			TRY(ops->add_to(g, plan, column, to));
		if (!ops->read)
			continue;
		ops->read(g, column, cell);
		if (moment_table[ops->cell]->is_empty(cell))
			continue;
		NEED(moments_need(&to->moments, ops->cell));
		TRY(moment_table[ops->cell]->combine(moments_cell(&to->moments, ops->cell), cell));
	}
	return STATUS_OK;
}

/* ---- groups ---- */

/* Whether a group has states outside of its record: one that is copied as it is has them with the other group. */
static bool has_more(struct group *g, const struct plan *plan)
{
	for (const struct plan_column *column = plan->columns; column < plan->columns + plan->ncolumns; column++)
		if (column->states && (group_cell_is_long(group_cell(g, column)) ||
				       (column->needs & MOMENT_RECIPROCALS && group_reciprocals(g, column)->longer)))
			return true;
	for (size_t i = 0; i < plan->npairs; i++)
		if (group_pair(g, &plan->pairs[i])->products.is_long || group_pair(g, &plan->pairs[i])->alone)
			return true;
	for (size_t i = 0; i < plan->nwindows; i++)
		if (group_window(g, &plan->windows[i])->n == GROUP_WINDOW_ELSEWHERE)
			return true;
	return false;
}

enum status group_combine(struct groups *to, struct group *g, struct group *later)
{
	const struct plan *plan = to->plan;

	if (g->nrecords == 0 && plan->nlists == 0 && !plan->groups_keep_ends && !has_more(later, plan)) {
		memcpy(&g->first, &later->first, plan->group_nbytes - offsetof(struct group, first));
		return STATUS_OK;
	}
	g->first = g->nrecords == 0 || later->first < g->first ? later->first : g->first;
	g->nrecords += later->nrecords;
	for (size_t i = 0; group_nmatched(g, plan) && i < plan->npredicates; i++)
		group_nmatched(g, plan)[i] += group_nmatched(later, plan)[i];
	for (size_t c = 0; c < plan->ncolumns; c++)
		TRY(combine_column(to, g, later, c));
	for (size_t i = 0; i < plan->npairs; i++)
		TRY(pair_combine(group_pair(g, &plan->pairs[i]), group_pair(later, &plan->pairs[i]), &to->texts));
	for (size_t i = 0; i < plan->nwindows; i++)
		TRY(group_window_combine(&(struct window_place){&to->windows, &plan->windows[i],
								group_window(g, &plan->windows[i])},
					 group_window(later, &plan->windows[i])));
	return STATUS_OK;
}

/* Whether the numbers of both are counts and sums in cells that can be added as they are. */
static bool are_plain(struct group *g, struct group *later, const struct plan *plan)
{
	if (plan->group_nmatched_offset || plan->npairs || plan->nwindows)
		return false;
	for (size_t c = 0; c < plan->ncolumns; c++) {
		const struct plan_column *column = &plan->columns[c];
		const struct group_cell *x = group_cell(g, column), *y = group_cell(later, column);
		int64_t sum;
		if (!column->states)
			continue;
		if (column->needs & ~(unsigned)(MOMENT_COUNT | MOMENT_SUM) || group_cell_is_long(y))
			return false;
		if (group_cell_count(x) && (group_cell_scale(x) != group_cell_scale(y) ||
					    __builtin_add_overflow(x->sum, y->sum, &sum)))
			return false;
	}
	return true;
}

/* Exchanges groups that are plain. */
static void exchange_plain(struct group *g, struct group *later, const struct plan *plan)
{
	uint64_t nrecords = g->nrecords;

	g->nrecords += later->nrecords;
	later->nrecords = nrecords;
	for (size_t c = 0; c < plan->ncolumns; c++) {
		struct group_cell *x = group_cell(g, &plan->columns[c]);
		struct group_cell *y = group_cell(later, &plan->columns[c]);
		uint64_t count_scale = x->count_scale;
		int64_t sum = x->sum;
		if (!plan->columns[c].states)
			continue;
		x->count_scale = group_cell_count(x) + y->count_scale;
		x->sum += y->sum;
		y->count_scale = count_scale;
		y->sum = sum;
	}
}

enum status group_exchange(struct groups *to, struct group *g, struct groups *chunk, struct group *later, struct group *spare)
{
	const struct plan *plan = to->plan;

	if (are_plain(g, later, plan)) {
		exchange_plain(g, later, plan);
	} else {
		memset(&spare->first, 0, plan->group_nbytes - offsetof(struct group, first));
		TRY(group_combine(chunk, spare, g));
		TRY(group_combine(to, g, later));
		memcpy(&later->first, &spare->first, plan->group_nbytes - offsetof(struct group, first));
	}
	later->state = 0;
	return STATUS_OK;
}

enum status group_add_to(struct group *g, const struct plan *plan, struct partial *p)
{
	for (size_t c = 0; c < plan->ncolumns; c++)
		TRY(add_to_cells(g, plan, &plan->columns[c], &p->columns[c]));
	for (size_t i = 0; i < plan->npairs; i++)
		p->pairs[i] = *group_pair(g, &plan->pairs[i]);
	for (size_t i = 0; i < plan->nwindows; i++)
		TRY(group_window_add_to(group_window(g, &plan->windows[i]), &p->windows[i]));
	p->nrecords = g->nrecords;
	for (size_t i = 0; i < plan->npredicates; i++)
		p->nmatched[i] = g->nrecords;
	return STATUS_OK;
}
