/* SPDX-License-Identifier: MIT
 *
 * group.c - see group.h.
 */
#include "fold/group.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "fold/group_lists.h"
#include "fold/window.h"
#include "fold/pair.h"
#include "fold/texts.h"
#include "number/decimal_text.h"

/* ---- the partial ---- */

static atomic_size_t nrests; /* partials that groups have */

static size_t rest_nbytes(const struct plan *plan)
{
	return sizeof(struct partial) + partial_nbytes(plan);
}

enum status group_need_rest(struct group *g, const struct plan *plan)
{
	if (g->rest)
		return STATUS_OK;
	if (!memory_take(rest_nbytes(plan)))
		return STATUS_MANY_KEYS;
	g->rest = malloc(sizeof *g->rest);
	if (g->rest && partial_init(g->rest, plan) == STATUS_OK) {
		atomic_fetch_add_explicit(&nrests, 1, memory_order_relaxed);
		return STATUS_OK;
	}
	free(g->rest);
	g->rest = NULL;
	memory_give(rest_nbytes(plan));
	return STATUS_NO_MEMORY;
}

void group_free(struct group *g, const struct plan *plan)
{
	if (!g->rest)
		return;
	partial_free(g->rest);
	free(g->rest);
	g->rest = NULL;
	atomic_fetch_sub_explicit(&nrests, 1, memory_order_relaxed);
	memory_give(rest_nbytes(plan));
}

bool group_rests_exist(void)
{
	return atomic_load_explicit(&nrests, memory_order_relaxed) > 0;
}

/* ---- cells ---- */

static struct group_numbers numbers_of(struct group *g, const struct plan_column *column)
{
	const struct group_cell *cell = group_cell(g, column);
	const unsigned needs = column->needs;
	struct group_numbers x = {.count = group_cell_count(cell), .scale = group_cell_scale(cell), .bin = {.sum = cell->sum}};

	if (needs & MOMENT_EXTREMES) {
		x.bin.min = cell->extremes[0];
		x.bin.max = cell->extremes[1];
	}
	if (needs & MOMENT_SQUARES)
		x.squares = group_joined(cell->squares);
	if (needs & MOMENT_CUBES)
		x.cubes = (int128)group_joined(cell->cubes);
	if (needs & MOMENT_FOURTHS)
		x.fourths = (int128)group_joined(cell->fourths);
	return x;
}

/* Makes a cell's numbers x. Returns false, and changes nothing, where they do not fit. */
static bool set_cell(struct group *g, const struct plan_column *column, const struct group_numbers *x)
{
	struct group_cell *cell = group_cell(g, column);
	const unsigned needs = column->needs;

	if (x->bin.sum != (int64_t)x->bin.sum || x->squares_high)
		return false;
	cell->count_scale = x->count | (uint64_t)x->scale << GROUP_COUNT_BITS;
	cell->sum = (int64_t)x->bin.sum;
	if (needs & MOMENT_EXTREMES) {
		cell->extremes[0] = x->bin.min;
		cell->extremes[1] = x->bin.max;
	}
	if (needs & MOMENT_SQUARES)
		group_split(cell->squares, x->squares);
	if (needs & MOMENT_CUBES)
		group_split(cell->cubes, (uint128)x->cubes);
	if (needs & MOMENT_FOURTHS)
		group_split(cell->fourths, (uint128)x->fourths);
	return true;
}

/* Writes numbers with a larger scale. Returns false where they do not fit: x is then undefined. */
static bool set_scale(struct group_numbers *x, unsigned scale)
{
	unsigned nzeros = scale - x->scale;

	if (!decimal_rescale(&x->bin.sum, (int)nzeros) || !decimal_lengthen_64(&x->bin.min, nzeros) || !decimal_lengthen_64(&x->bin.max, nzeros))
		return false;
	for (unsigned i = 0; i < 2 * nzeros; i++)
		if (__builtin_mul_overflow(x->squares, (uint128)10, &x->squares))
			return false;
	x->scale = scale;
	return decimal_rescale(&x->cubes, (int)(3 * nzeros)) && decimal_rescale(&x->fourths, (int)(4 * nzeros));
}

/* x becomes the numbers of x and y, of which both have some. Returns false where they do not fit: x is then
 * undefined. */
static bool add_numbers(struct group_numbers *x, const struct group_numbers *y)
{
	struct group_numbers other = *y;

	if (y->squares_high || (x->scale < y->scale && !set_scale(x, y->scale)) ||
	    (y->scale < x->scale && !set_scale(&other, x->scale)))
		return false;
	x->count += other.count;
	x->bin.min = other.bin.min < x->bin.min ? other.bin.min : x->bin.min;
	x->bin.max = other.bin.max > x->bin.max ? other.bin.max : x->bin.max;
	return !__builtin_add_overflow(x->bin.sum, other.bin.sum, &x->bin.sum) &&
	       !__builtin_add_overflow(x->squares, other.squares, &x->squares) &&
	       !__builtin_add_overflow(x->cubes, other.cubes, &x->cubes) &&
	       !__builtin_add_overflow(x->fourths, other.fourths, &x->fourths);
}

/* Adds a sum of powers to a column's. Errors: STATUS_NO_MEMORY. */
static enum status add_powers(struct moment_cells *m, int cell, int128 sum, int scale)
{
	NEED(moments_need(m, cell));
	return exact_add_scaled(moments_cell(m, cell), sum, scale);
}

/* Adds numbers to a column. Errors: STATUS_NO_MEMORY. */
static enum status add_to_column(const struct group_numbers *x, unsigned needs, struct column_partial *column)
{
	struct moment_cells *m = &column->moments;
	const unsigned long squares[] = {(unsigned long)x->squares, (unsigned long)(x->squares >> 64), x->squares_high};
	const int scale = (int)x->scale;

	if (x->count == 0)
		return STATUS_OK;
	if (needs & MOMENT_SQUARES) {
		NEED(moments_need(m, CELL_SQUARES));
		TRY(exact_add_limbs(moments_cell(m, CELL_SQUARES), squares, 3, false, 2 * scale));
	}
	if (needs & MOMENT_CUBES)
		TRY(add_powers(m, CELL_CUBES, x->cubes, 3 * scale));
	if (needs & MOMENT_FOURTHS)
		TRY(add_powers(m, CELL_FOURTHS, x->fourths, 4 * scale));
	column->numbers.count += x->count;
	return numbers_add_bin(&column->numbers, scale, &x->bin);
}

enum status group_add_numbers(struct group *g, const struct plan *plan, size_t c, const struct group_numbers *x)
{
	const struct plan_column *column = &plan->columns[c];
	struct group_numbers sum;

	if (group_cell_count(group_cell(g, column)) == 0 && set_cell(g, column, x))
		return STATUS_OK;
	sum = numbers_of(g, column);
	if (sum.count && add_numbers(&sum, x) && set_cell(g, column, &sum))
		return STATUS_OK;
	TRY(group_need_rest(g, plan));
	return add_to_column(x, column->needs, &g->rest->columns[c]);
}

enum status group_add(struct group *g, const struct plan *plan, size_t c, struct decimal number)
{
	const unsigned needs = plan->columns[c].needs;
	const int64_t x = number.significand;
	const int128 square = (int128)x * x;
	struct group_numbers one = {.count = 1, .scale = (unsigned)number.scale, .bin = {x, x, x}, .squares = (uint128)square};

	if (!(needs & MOMENT_CUBES && __builtin_mul_overflow(square, (int128)x, &one.cubes)) &&
	    !(needs & MOMENT_FOURTHS && __builtin_mul_overflow(square, square, &one.fourths)))
		return group_add_numbers(g, plan, c, &one);
	TRY(group_need_rest(g, plan));
	return column_add_number(&g->rest->columns[c], needs & GROUP_CELL_MOMENTS,
						       &(struct value){.kind = DECIMAL_NUMBER, .number = number});
}

/* Adds the numbers of y to x. Returns false where they do not fit as they are; x then
 * holds the same numbers. Inline, for needs that the caller's loop knows. */
static inline __attribute__((always_inline)) bool add_cell(struct group_cell *x, const struct group_cell *y, unsigned needs)
{
	uint128 squares = 0;
	int128 cubes = 0, fourths = 0;
	int64_t sum;

	if (group_cell_scale(x) != group_cell_scale(y)) {
		if (group_cell_count(x) > 0)
			return false;
		x->count_scale = (uint64_t)group_cell_scale(y) << GROUP_COUNT_BITS; /* of no numbers: all else is 0 */
	}
	if (__builtin_add_overflow(x->sum, y->sum, &sum))
		return false;
	if (needs & MOMENT_SQUARES && __builtin_add_overflow(group_joined(x->squares), group_joined(y->squares), &squares))
		return false;
	if (needs & MOMENT_CUBES && __builtin_add_overflow((int128)group_joined(x->cubes), (int128)group_joined(y->cubes), &cubes))
		return false;
	if (needs & MOMENT_FOURTHS &&
	    __builtin_add_overflow((int128)group_joined(x->fourths), (int128)group_joined(y->fourths), &fourths))
		return false;
	if (needs & MOMENT_EXTREMES) {
		const bool is_first = group_cell_count(x) == 0;
		x->extremes[0] = is_first || y->extremes[0] < x->extremes[0] ? y->extremes[0] : x->extremes[0];
		x->extremes[1] = is_first || y->extremes[1] > x->extremes[1] ? y->extremes[1] : x->extremes[1];
	}
	if (needs & MOMENT_SQUARES)
		group_split(x->squares, squares);
	if (needs & MOMENT_CUBES)
		group_split(x->cubes, (uint128)cubes);
	if (needs & MOMENT_FOURTHS)
		group_split(x->fourths, (uint128)fourths);
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
	group_split(cell->squares, (uint128)square);
	group_split(cell->cubes, (uint128)cube);
	group_split(cell->fourths, (uint128)fourth);
	return true;
}

/* Inline, so that each set of moments has a loop of its own. */
static inline __attribute__((always_inline)) enum status
add_rows(struct group *const *groups, const struct plan *plan, size_t c, const struct simd_numbers *x, uint64_t rows,
	 unsigned needs)
{
	const struct plan_column *column = &plan->columns[c];

	for (; rows; rows &= rows - 1) {
		unsigned row = (unsigned)__builtin_ctzll(rows);
		struct group_cell one;
		if (!set_one(&one, needs, x->significand[row], x->scale[row]) || !add_cell(group_cell(groups[row], column), &one, needs))
			TRY(group_add(groups[row], plan, c, (struct decimal){x->significand[row], x->scale[row]}));
	}
	return STATUS_OK;
}

/* Adds the numbers of a cell. Errors: as in group_add. */
static enum status update_numbers(struct groups *g, struct group *const *groups, size_t c, const struct group_vector *v)
{
	const struct plan_column *column = &g->plan->columns[c];
	const unsigned needs = column->needs & GROUP_CELL_MOMENTS & ~(unsigned)(MOMENT_COUNT | MOMENT_SUM);

	for (uint64_t rows = column->parses ? 0 : v->present; rows; rows &= rows - 1)
		group_cell(groups[__builtin_ctzll(rows)], column)->count_scale++;
	switch (needs) {
	case 0:
		return add_rows(groups, g->plan, c, v->x, v->numbers, 0);
	case MOMENT_EXTREMES:
		return add_rows(groups, g->plan, c, v->x, v->numbers, MOMENT_EXTREMES);
	default:
		return add_rows(groups, g->plan, c, v->x, v->numbers, needs);
	}
}

/* ---- pairs ---- */

/* Adds products to a cell. Returns false, and changes nothing, where their sum does not fit. */
static bool add_products(struct group_pair *cell, unsigned scale, int128 products)
{
	int128 sum = group_pair_products(cell);
	unsigned of_sum = sum ? (unsigned)cell->scale : scale, larger = of_sum > scale ? of_sum : scale;

	if (!decimal_rescale(&sum, (int)(larger - of_sum)) || !decimal_rescale(&products, (int)(larger - scale)) ||
	    __builtin_add_overflow(sum, products, &sum))
		return false;
	group_split(cell->products, (uint128)sum);
	cell->scale = larger;
	return true;
}

enum status group_add_products(struct group *g, const struct plan *plan, size_t i, unsigned scale, int128 products)
{
	if (add_products(group_pair(g, &plan->pairs[i]), scale, products))
		return STATUS_OK;
	TRY(group_need_rest(g, plan));
	return exact_add_scaled(&g->rest->pairs[i].products, products, (int)scale);
}

enum status group_add_alone(struct group *g, const struct plan *plan, size_t i, int side, struct decimal number)
{
	const uint8_t scale = (uint8_t)number.scale;

	TRY(group_need_rest(g, plan));
	return pair_add_alone(&g->rest->pairs[i], side, plan->pairs[i].needs, &number.significand, &scale, 1);
}

/* Adds a cell's products to a pair. Errors: STATUS_NO_MEMORY. */
static enum status add_to_pair(const struct group_pair *cell, struct pair_partial *to)
{
	int128 sum = group_pair_products(cell);

	return sum ? exact_add_scaled(&to->products, sum, (int)cell->scale) : STATUS_OK;
}

/* ---- ends ---- */

/* is_padded: GROUP_END_NBYTES may be read from text on. A long value stays where it is. */
static inline __attribute__((always_inline)) void set_end(struct group_end *e, uint64_t place_or_key, const char *text, size_t nbytes, bool is_padded)
{
	e->place = place_or_key;
	if (nbytes <= GROUP_END_NBYTES) {
		e->nbytes = (uint8_t)nbytes;
		memcpy(e->text, text, is_padded ? GROUP_END_NBYTES : nbytes);
	} else {
		e->mark = GROUP_END_LONG;
		e->room_nbytes = 0;
		e->long_nbytes = nbytes;
		e->at = (char *)text;
	}
}

/* Makes `to` what `from` is. A long value goes where to's was, if that has room. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
static enum status copy_end(struct group_end *to, const struct group_end *from, struct key_arena *texts)
{
	uint32_t room = to->nbytes == GROUP_END_LONG ? to->room_nbytes : 0;
	void *at = room ? to->at : NULL;

	*to = *from;
	if (from->nbytes != GROUP_END_LONG)
		return STATUS_OK;
	if (room < from->long_nbytes) {
		for (room = 2 * GROUP_END_NBYTES; room < from->long_nbytes; room *= 2)
			continue; /* so that what is left of places that became too short is never more than what is used */
		TRY(key_arena_take(texts, room, &at));
	}
	to->room_nbytes = room;
	to->at = memcpy(at, from->at, from->long_nbytes);
	return STATUS_OK;
}

static enum status add_ends(struct group_ends *e, const struct group_ends *later, struct key_arena *texts)
{
	enum status status = STATUS_OK;

	e->ntexts += later->ntexts;
	if (later->first.place && (e->first.place == 0 || later->first.place < e->first.place))
		status = copy_end(&e->first, &later->first, texts);
	if (status == STATUS_OK && later->last.place && later->last.place >= e->last.place)
		status = copy_end(&e->last, &later->last, texts);
	return status;
}

/* Adds a column's ends to a cell's. Errors: as above. */
static enum status add_ends_of_column(struct group_ends *to, const struct column_partial *column, struct key_arena *texts)
{
	const struct ends *ends = moments_cell(&column->moments, CELL_ENDS);
	struct group_ends later = {.ntexts = column->ninvalid};
	struct column_end x;

	if (ends && ends_get(ends, END_FIRST, &x))
		set_end(&later.first, (x.place + 1) << 1 | x.is_number, x.text, x.nbytes, false);
	if (ends && ends_get(ends, END_LAST, &x))
		set_end(&later.last, (x.place + 1) << 1 | x.is_number, x.text, x.nbytes, false);
	return add_ends(to, &later, texts);
}

static enum status put_end(struct ends *to, enum end end, const struct plan *plan, const struct group_end *from,
			   struct scratch *scratch)
{
	struct column_end x = {.place = (from->place >> 1) - 1, .is_number = from->place & 1};

	x.text = group_end_text(from, &x.nbytes);
	return from->place ? ends_put(to, end, plan, &x, scratch) : STATUS_OK;
}

/* Makes values the first or last ones of their groups, if they are. */
static enum status update_ends(struct groups *g, struct group *const *groups, size_t c, const struct group_vector *v)
{
	const struct plan_column *column = &g->plan->columns[c];
	const size_t offset = column->cell_offset + group_state_offset(column, GROUP_ENDS);

	for (uint64_t rows = v->present; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		const struct group_vector_text *x = &v->texts[row];
		struct group_ends *ends = (struct group_ends *)((char *)groups[row] + offset);
		const uint64_t place = (x->place + 1) << 1 | (v->numbers >> row & 1);
		if (column->let && x->nbytes > GROUP_END_NBYTES) { /* it will be gone with its block of rows */
			struct group_ends one = {.ntexts = 0};
			set_end(&one.first, place, x->text, x->nbytes, true);
			one.last = one.first;
			TRY(add_ends(ends, &one, &g->texts));
			continue;
		}
		if (ends->first.place == 0 || place < ends->first.place)
			set_end(&ends->first, place, x->text, x->nbytes, true);
		if (place >= ends->last.place)
			set_end(&ends->last, place, x->text, x->nbytes, true);
	}
	for (uint64_t rows = v->present & ~v->numbers; rows; rows &= rows - 1)
		group_ends(groups[__builtin_ctzll(rows)], column)->ntexts++;
	return STATUS_OK;
}

/* ---- quotients ---- */

static enum status add_quotients_to_group(struct group *g, const struct plan *plan, size_t c, const struct quotient_fold *x)
{
	if (quotient_fold_add(group_quotients(g, &plan->columns[c]), x))
		return STATUS_OK;
	TRY(group_need_rest(g, plan));
	return numbers_add_quotients(&g->rest->columns[c].numbers, x);
}

static enum status update_quotients(struct groups *g, struct group *const *groups, size_t c, const struct group_vector *v)
{
	for (uint64_t rows = v->quotients; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		struct quotient_fold one;
		if (quotient_fold_add_one(group_quotients(groups[row], &g->plan->columns[c]), &v->rounded[row]))
			continue;
		one = quotient_fold_of(&v->rounded[row]);
		TRY(add_quotients_to_group(groups[row], g->plan, c, &one));
	}
	return STATUS_OK;
}

/* ---- texts ---- */

/* A column's texts: with a count of 0 if there are none, else that of the cell. */
static struct text_run texts_run(struct group *g, const struct plan_column *column)
{
	const struct group_texts *t = group_texts(g, column);
	struct text_run run = {.count = group_cell_count(group_cell(g, column)), .shortest = t->shortest, .longest = t->longest,
			       .has_other = t->has_other, .has_time = t->has_time};
	size_t nbytes;

	if (t->least.key == 0)
		return (struct text_run){.shortest = UINT32_MAX};
	run.least.text = group_end_text(&t->least, &nbytes);
	run.least.nbytes = (uint32_t)nbytes;
	run.least.key = t->least.key;
	run.greatest.text = group_end_text(&t->greatest, &nbytes);
	run.greatest.nbytes = (uint32_t)nbytes;
	run.greatest.key = t->greatest.key;
	return run;
}

/* Makes an end a text, unless it is that already. texts: where it is copied to; NULL: a long text stays where it is. */
static enum status set_text(struct group_end *e, const struct text_at *x, struct key_arena *texts)
{
	struct group_end end;
	size_t nbytes;

	if (x->text == group_end_text(e, &nbytes))
		return STATUS_OK;
	set_end(&end, x->key, x->text, x->nbytes, false);
	if (texts)
		return copy_end(e, &end, texts);
	*e = end;
	return STATUS_OK;
}

/* Makes a cell's texts those of a run, but for their count. texts, errors: as above. */
static enum status set_texts(struct group_texts *t, const struct text_run *run, struct key_arena *texts)
{
	TRY(set_text(&t->least, &run->least, texts));
	t->shortest = run->shortest;
	t->longest = run->longest;
	t->has_other = run->has_other;
	t->has_time = run->has_time;
	return set_text(&t->greatest, &run->greatest, texts);
}

static enum status update_texts(struct groups *g, struct group *const *groups, size_t c, const struct group_vector *v)
{
	const struct plan_column *column = &g->plan->columns[c];

	for (uint64_t rows = v->present; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		const struct group_vector_text *x = &v->texts[row];
		struct text_run run = texts_run(groups[row], column);
		text_run_take(&run, &(struct text_at){x->text, x->nbytes, text_key(x->text, x->nbytes)});
		TRY(set_texts(group_texts(groups[row], column), &run, column->let ? &g->texts : NULL));
	}
	return STATUS_OK;
}

/* Adds the texts of a run to a cell's, but for their count. Errors: as above. */
static enum status add_texts(struct group *g, const struct plan_column *column, const struct text_run *later,
			     struct key_arena *texts)
{
	struct text_run run = texts_run(g, column);

	text_run_combine(&run, later);
	return run.count ? set_texts(group_texts(g, column), &run, texts) : STATUS_OK;
}

/* ---- columns ---- */

/* Sets *x to a column's numbers. Returns false where a cell cannot hold them. */
static bool numbers_of_column(const struct column_partial *column, const struct plan_column *plan, struct group_numbers *x)
{
	const struct moment_cells *m = &column->moments;
	const unsigned needs = plan->needs;
	const struct numbers *numbers = &column->numbers;
	int128 squares = 0;

	*x = (struct group_numbers){.count = plan->parses ? 0 : column->numbers.count};
	if (numbers->form == NUMBERS_LONG || column->nmissing || column->nnuls || (column->ninvalid && !(needs & MOMENT_ENDS)))
		return false;
	if (!plan->parses || (column->numbers.count == 0 && needs & MOMENT_ENDS))
		return true;
	if (numbers->form != NUMBERS_BIN)
		return numbers->form == NUMBERS_NONE;
	*x = (struct group_numbers){.count = numbers->count, .scale = (unsigned)numbers->scale, .bin = numbers->bin};
	if (!exact_to_int128(moments_cell(m, CELL_SQUARES), 2 * numbers->scale, &squares) || squares < 0)
		return false;
	x->squares = (uint128)squares;
	return exact_to_int128(moments_cell(m, CELL_CUBES), 3 * numbers->scale, &x->cubes) &&
	       exact_to_int128(moments_cell(m, CELL_FOURTHS), 4 * numbers->scale, &x->fourths);
}

enum status group_add_column(struct groups *to, struct group *g, size_t c, const struct column_partial *later)
{
	const struct plan_column *column = &to->plan->columns[c];
	bool fits = plan_column_has_cell(column);

	for (unsigned left = column->states; left; left &= left - 1) {
		const struct group_state_ops *ops = group_states[__builtin_ctz(left)];
		fits = fits && (!ops->fits || ops->fits(later, column));
	}
	if (!fits) {
		TRY(group_need_rest(g, to->plan));
		return column_combine(&g->rest->columns[c], later);
	}
	for (unsigned left = column->states; left; left &= left - 1)
		if (group_states[__builtin_ctz(left)]->take)
			TRY(group_states[__builtin_ctz(left)]->take(to, g, c, later));
	return STATUS_OK;
}

/* ---- states ---- */

static enum status add_numbers_to_column(struct group *g, const struct plan *plan, const struct plan_column *column,
					 struct column_partial *to)
{
	const struct group_numbers x = numbers_of(g, column);

	(void)plan;
	if (column->parses)
		return add_to_column(&x, column->needs, to);
	to->numbers.count += x.count;
	return STATUS_OK;
}

static bool fits_numbers(const struct column_partial *later, const struct plan_column *column)
{
	struct group_numbers x;

	return numbers_of_column(later, column, &x);
}

static enum status take_numbers(struct groups *to, struct group *g, size_t c, const struct column_partial *later)
{
	struct group_numbers x;

	numbers_of_column(later, &to->plan->columns[c], &x);
	return x.count ? group_add_numbers(g, to->plan, c, &x) : STATUS_OK;
}

static enum status take_ends(struct groups *to, struct group *g, size_t c, const struct column_partial *later)
{
	return add_ends_of_column(group_ends(g, &to->plan->columns[c]), later, &to->texts);
}

static enum status take_texts(struct groups *to, struct group *g, size_t c, const struct column_partial *later)
{
	const struct texts *texts = moments_cell(&later->moments, CELL_TEXTS);
	struct text_run run;

	if (!texts)
		return STATUS_OK;
	text_run_begin(&run, texts);
	return add_texts(g, &to->plan->columns[c], &run, &to->texts);
}

static enum status add_ends_to_column(struct group *g, const struct plan *plan, const struct plan_column *column,
				      struct column_partial *to)
{
	const struct group_ends *from = group_ends(g, column);
	struct ends *ends = from->first.place ? moments_need(&to->moments, CELL_ENDS) : NULL;
	struct scratch scratch = {.data = NULL};
	enum status status = STATUS_OK;

	to->ninvalid += from->ntexts;
	if (from->first.place == 0)
		return status;
	status = ends ? put_end(ends, END_FIRST, plan, &from->first, &scratch) : STATUS_NO_MEMORY;
	if (status == STATUS_OK)
		status = put_end(ends, END_LAST, plan, &from->last, &scratch);
	free(scratch.data);
	return status;
}

static enum status add_texts_to_column(struct group *g, const struct plan *plan, const struct plan_column *column,
				       struct column_partial *to)
{
	const struct text_run later = texts_run(g, column);
	struct texts *texts = later.count ? moments_need(&to->moments, CELL_TEXTS) : NULL;
	struct text_run run;

	(void)plan;
	if (!texts)
		return later.count ? STATUS_NO_MEMORY : STATUS_OK;
	text_run_begin(&run, texts);
	text_run_combine(&run, &later);
	return text_run_end(&run, texts);
}

static enum status add_quotients_to_column(struct group *g, const struct plan *plan, const struct plan_column *column,
					   struct column_partial *to)
{
	const struct quotient_fold *x = group_quotients(g, column);

	(void)plan;
	return x->count ? numbers_add_quotients(&to->numbers, x) : STATUS_OK;
}

static enum status combine_numbers(struct groups *to, struct group *g, struct group *later, size_t c)
{
	const struct plan_column *column = &to->plan->columns[c];
	const struct group_cell *cell = group_cell(later, column);
	struct group_numbers x;

	if (group_cell_count(cell) == 0 || add_cell(group_cell(g, column), cell, column->needs))
		return STATUS_OK;
	x = numbers_of(later, column);
	return group_add_numbers(g, to->plan, c, &x);
}

static enum status combine_ends(struct groups *to, struct group *g, struct group *later, size_t c)
{
	const struct plan_column *column = &to->plan->columns[c];

	return add_ends(group_ends(g, column), group_ends(later, column), &to->texts);
}

static enum status combine_texts(struct groups *to, struct group *g, struct group *later, size_t c)
{
	const struct text_run run = texts_run(later, &to->plan->columns[c]);

	return add_texts(g, &to->plan->columns[c], &run, &to->texts);
}

static enum status combine_quotients(struct groups *to, struct group *g, struct group *later, size_t c)
{
	return add_quotients_to_group(g, to->plan, c, group_quotients(later, &to->plan->columns[c]));
}

const struct group_state_ops group_state_cell = {
	.update = update_numbers,
	.combine = combine_numbers,
	.add_to = add_numbers_to_column,
	.fits = fits_numbers,
	.take = take_numbers,
};
const struct group_state_ops group_state_ends = {
	.update = update_ends,
	.combine = combine_ends,
	.add_to = add_ends_to_column,
	.take = take_ends,
};
const struct group_state_ops group_state_texts = {
	.update = update_texts,
	.combine = combine_texts,
	.add_to = add_texts_to_column,
	.take = take_texts,
};
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

/* ---- groups ---- */

/* Gives g what later has in its partial. */
static enum status combine_rest(struct group *g, struct group *later)
{
	if (!g->rest) {
		g->rest = later->rest;
		later->rest = NULL;
		return STATUS_OK;
	}
	return partial_combine(g->rest, later->rest);
}

enum status group_combine(struct groups *to, struct group *g, struct group *later)
{
	const struct plan *plan = to->plan;

	if (g->nrecords == 0 && plan->nlists == 0 && !plan->groups_keep_ends) {
		memcpy(&g->first, &later->first, plan->group_nbytes - offsetof(struct group, first));
		later->rest = NULL;
		later->moved = g;
		return STATUS_OK;
	}
	g->first = g->nrecords == 0 || later->first < g->first ? later->first : g->first;
	g->nrecords += later->nrecords;
	if (plan->nwindows)
		TRY(group_windows_combine(g, later, plan));
	if (later->rest)
		TRY(combine_rest(g, later));
	for (size_t i = 0; group_nmatched(g, plan) && i < plan->npredicates; i++)
		group_nmatched(g, plan)[i] += group_nmatched(later, plan)[i];
	for (size_t c = 0; c < plan->ncolumns; c++)
		for (unsigned left = plan->columns[c].states; left; left &= left - 1)
			if (group_states[__builtin_ctz(left)]->combine)
				TRY(group_states[__builtin_ctz(left)]->combine(to, g, later, c));
	for (size_t i = 0; i < plan->npairs; i++) {
		const struct group_pair *pair = group_pair(later, &plan->pairs[i]);
		if (plan->pairs[i].cell_offset && group_pair_products(pair))
			TRY(group_add_products(g, plan, i, (unsigned)pair->scale, group_pair_products(pair)));
	}
	later->moved = g;
	return STATUS_OK;
}

/* Gives `to` a copy of all that g holds. A partial that `to` has is empty; it stays if g has no partial. */
static enum status copy(struct group *to, const struct group *g, const struct plan *plan)
{
	struct partial *rest = to->rest;
	enum status status;

	memcpy(&to->first, &g->first, plan->group_nbytes - offsetof(struct group, first));
	to->rest = rest;
	status = g->rest ? group_need_rest(to, plan) : STATUS_OK;
	return status == STATUS_OK && g->rest ? partial_combine(to->rest, g->rest) : status;
}

/* Makes `to`, whose fold is not needed any more, what `from` is. with_rest: also its partial, for which from gets to's,
 * emptied; otherwise from keeps its own, and to has none. */
static void move(struct group *to, struct group *from, bool with_rest, const struct plan *plan)
{
	struct partial *rest = to->rest;

	memcpy(&to->first, &from->first, plan->group_nbytes - offsetof(struct group, first));
	if (with_rest) {
		from->rest = rest;
		if (rest)
			partial_clear(rest);
	} else {
		to->rest = rest;
		group_free(to, plan);
	}
}

/* Whether the numbers of both are counts and sums in cells that can be added as they are. */
static bool are_plain(struct group *g, struct group *later, const struct plan *plan)
{
	if (g->rest || later->rest || plan->group_nmatched_offset || plan->npairs || plan->nwindows)
		return false;
	for (size_t c = 0; c < plan->ncolumns; c++) {
		const struct plan_column *column = &plan->columns[c];
		const struct group_cell *x = group_cell(g, column), *y = group_cell(later, column);
		int64_t sum;
		if (!plan_column_has_cell(column))
			continue;
		if (column->needs & ~(unsigned)(MOMENT_COUNT | MOMENT_SUM))
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
		if (!plan_column_has_cell(&plan->columns[c]))
			continue;
		x->count_scale = group_cell_count(x) + y->count_scale;
		x->sum += y->sum;
		y->count_scale = count_scale;
		y->sum = sum;
	}
}

enum status group_exchange(struct groups *to, struct group *g, struct group *later, struct group *spare)
{
	const struct plan *plan = to->plan;
	bool has_rest = g->rest != NULL;
	enum status status;

	if (are_plain(g, later, plan)) {
		exchange_plain(g, later, plan);
		later->state = 0;
		return STATUS_OK;
	}
	status = copy(spare, g, plan);
	if (status == STATUS_OK)
		status = group_combine(to, g, later);
	move(later, spare, has_rest, plan);
	later->state = 0;
	return status;
}

struct partial *group_partial(struct group *g, const struct plan *plan, struct partial *p)
{
	enum status status = STATUS_OK;

	p = g->rest ? g->rest : p;
	for (size_t c = 0; c < plan->ncolumns; c++) {
		const struct plan_column *column = &plan->columns[c];
		for (unsigned left = column->states; left && status == STATUS_OK; left &= left - 1)
			if (group_states[__builtin_ctz(left)]->add_to)
				status = group_states[__builtin_ctz(left)]->add_to(g, plan, column, &p->columns[c]);
		if (p == g->rest)
			memset(group_cell(g, column), 0, group_state_offset(column, GROUP_NSTATES));
	}
	for (size_t i = 0; i < plan->npairs && status == STATUS_OK; i++) {
		struct group_pair *pair = group_pair(g, &plan->pairs[i]);
		if (!plan->pairs[i].cell_offset)
			continue;
		status = add_to_pair(pair, &p->pairs[i]);
		if (p == g->rest)
			memset(pair, 0, sizeof *pair);
	}
	for (size_t i = 0; i < plan->nwindows && status == STATUS_OK; i++) {
		struct group_window *window = group_window(g, &plan->windows[i]);
		status = group_window_copy(window, &p->windows[i]);
		if (p == g->rest)
			window->n = GROUP_WINDOW_ELSEWHERE;
	}
	p->nrecords = g->nrecords;
	for (size_t i = 0; i < plan->npredicates; i++)
		p->nmatched[i] = g->nrecords;
	return status == STATUS_OK ? p : NULL;
}
