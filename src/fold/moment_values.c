/* SPDX-License-Identifier: MIT
 *
 * moment_values.c - keeping a column's numbers, and a group's. See values.h, moment.h and group.h.
 *
 * A block is twice as long as the one before, so that 100,000 columns of a few numbers take little
 * memory; up to 16 KiB of a column, so that a chunk's fold makes several: combining takes over the
 * full ones and copies the rest. That memory is taken of --memory (base/machine.h), as arenas' is.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "fold/group_lists.h"
#include "fold/values.h"
#include "fold/values_select.h"
#include "number/decimal_text.h"

#define COLUMN_ORDER_MIN 8 /* blocks of a column have 2^8 to 2^14 bytes, */
#define COLUMN_ORDER_MAX 14
#define GROUP_ORDER_MIN 5 /* and those of a group, in its arena, 2^5 to 2^12 */
#define GROUP_ORDER_MAX 12

/* ---- blocks ---- */

static size_t data_nbytes(const struct values_block *b)
{
	return ((size_t)1 << b->order) - sizeof *b;
}

/* How much of the block's data is used. */
static size_t used_nbytes(const struct values_block *b)
{
	if (b->form == VALUES_EXACT)
		return data_nbytes(b) - b->nleft * sizeof(uint64_t);
	return b->nvalues * (b->form == VALUES_INT32 ? sizeof(int32_t) : sizeof(int64_t));
}

static void block_free(struct values_block *b)
{
	if (b && b->is_counted)
		memory_give((size_t)1 << b->order);
	free(b);
}

/* Makes the block empty, and of a form. */
static void block_begin(struct values_block *b, enum values_form form, unsigned scale)
{
	const size_t nbytes = data_nbytes(b);

	b->form = (uint8_t)form;
	b->scale = (uint8_t)scale;
	b->nvalues = 0;
	b->nleft = (uint16_t)(nbytes / (form == VALUES_INT32 ? sizeof(int32_t) : sizeof(int64_t)));
}

/* Makes a block of memory of its own. NULL: no memory. */
static struct values_block *block_new(unsigned order)
{
	const size_t nbytes = (size_t)1 << order;
	const bool is_counted = !values_are_searched(); /* what is searched is freed when combined */
	struct values_block *b;

	if (is_counted && !memory_take(nbytes)) {
		values_note_refusal();
		return NULL;
	}
	b = malloc(nbytes);
	if (b)
		*b = (struct values_block){.order = (uint8_t)order, .is_counted = is_counted};
	else
		memory_give(is_counted ? nbytes : 0);
	return b;
}

/* ---- lists ----
 *
 * The last two blocks are open, one for integers and one for other numbers, the one that took the
 * last number first. A block of integers is neither narrower nor of a smaller scale than the one
 * before, so nearly all numbers find room in one of the two. */

/* Makes the open block of integers, or of other numbers, the last one. NULL: there is none. */
static struct values_block *open_block(struct values_list *l, bool is_exact)
{
	struct values_block *last = l->last, *other = last ? last->before : NULL;

	if (!last || (last->form == VALUES_EXACT) == is_exact)
		return last;
	if (!other || (other->form == VALUES_EXACT) != is_exact)
		return NULL;
	last->before = other->before;
	other->before = last;
	return l->last = other;
}

/* Adds a block with room for nbytes, the last one from now on. arena: it lies there; NULL: it has
 * memory of its own. */
static enum status add_block(struct values_list *l, enum values_form form, unsigned scale,
			     size_t nbytes, struct key_arena *arena)
{
	const struct values_block *open = open_block(l, form == VALUES_EXACT);
	unsigned order = arena ? GROUP_ORDER_MIN : COLUMN_ORDER_MIN;
	const unsigned most = arena ? GROUP_ORDER_MAX : COLUMN_ORDER_MAX;
	struct values_block *b;
	void *memory;

	if (open)
		order = open->order < most ? open->order + 1u : most;
	while (((size_t)1 << order) - sizeof *b < nbytes)
		order++;
	if (arena) {
		TRY(key_arena_take(arena, (size_t)1 << order, &memory));
		b = memory;
		*b = (struct values_block){.order = (uint8_t)order, .is_in_arena = true};
	} else {
		NEED(b = block_new(order));
	}
	open_block(l, form != VALUES_EXACT); /* which stays open */
	b->before = l->last;
	l->last = b;
	block_begin(b, form, scale);
	return STATUS_OK;
}

/* A number of VALUES_EXACT. */
struct values_record {
	int16_t scale;
	uint16_t nlimbs; /* of one that is not long 1 or 2: a two's complement */
	bool is_fast;    /* one of the fast path */
	bool is_long, negative, is_rounded; /* as in struct exact */
	unsigned long limb[];
};

static unsigned count_limbs(const struct exact *x)
{
	return x->is_long ? (unsigned)x->nlimbs : x->value == (int64_t)x->value ? 1 : 2;
}

static size_t record_nbytes(const struct exact *x)
{
	return sizeof(struct values_record) + count_limbs(x) * sizeof(unsigned long);
}

static void record_put(void *to, const struct exact *x, bool is_fast)
{
	const unsigned long halves[] = {(unsigned long)x->value, (unsigned long)(x->value >> 64)};
	const unsigned nlimbs = count_limbs(x);
	struct values_record *record = to;

	*record = (struct values_record){(int16_t)x->scale, (uint16_t)nlimbs, is_fast, x->is_long, x->negative, x->is_rounded};
	memcpy(record->limb, x->is_long ? x->limb : halves, nlimbs * sizeof *halves);
}

static struct exact record_get(const void *from)
{
	const struct values_record *record = from;
	struct exact x = {.scale = record->scale, .is_long = record->is_long, .negative = record->negative,
			  .is_rounded = record->is_rounded};

	if (x.is_long) {
		x.limb = (unsigned long *)record->limb;
		x.nlimbs = record->nlimbs;
	} else if (record->nlimbs == 1) {
		x.value = (int64_t)record->limb[0];
	} else {
		x.value = (int128)((uint128)record->limb[1] << 64 | record->limb[0]);
	}
	return x;
}

/* Adds any number. is_fast: it is one of the fast path. */
static enum status add_exact(struct values_list *l, const struct exact *x, bool is_fast,
			     struct key_arena *arena)
{
	const size_t nbytes = record_nbytes(x);
	struct values_block *b = open_block(l, true);

	if (!b || b->nleft * sizeof(uint64_t) < nbytes)
		TRY(add_block(l, VALUES_EXACT, 0, nbytes, arena));
	b = l->last;
	record_put(b->data + used_nbytes(b), x, is_fast);
	b->nleft = (uint16_t)(b->nleft - nbytes / sizeof(uint64_t));
	b->nvalues++;
	return STATUS_OK;
}

static inline void put_integer(struct values_block *b, int64_t x)
{
	if (b->form == VALUES_INT64)
		((int64_t *)(void *)b->data)[b->nvalues++] = x;
	else
		((int32_t *)(void *)b->data)[b->nvalues++] = (int32_t)x;
	b->nleft--;
}

static inline bool takes(const struct values_block *b, int64_t x, unsigned scale)
{
	return b && b->nleft > 0 && b->scale == scale &&
	       (b->form == VALUES_INT64 || (b->form == VALUES_INT32 && x == (int32_t)x));
}

/* Adds a number of the fast path that the last block does not take as it is. */
static __attribute__((noinline)) enum status add_other(struct values_list *l, int64_t x, unsigned scale,
						       struct key_arena *arena)
{
	struct values_block *b = open_block(l, false);
	const struct exact as_it_is = {.value = x, .scale = (int)scale};
	enum values_form form = x == (int32_t)x ? VALUES_INT32 : VALUES_INT64;

	if (b && b->nvalues > 0 && scale < b->scale) {
		if (!decimal_lengthen_64(&x, b->scale - scale))
			return add_exact(l, &as_it_is, true, arena);
		scale = b->scale;
		form = x == (int32_t)x ? VALUES_INT32 : VALUES_INT64;
	}
	if (b && b->nvalues == 0)
		block_begin(b, form, scale);
	else if (!takes(b, x, scale))
		TRY(add_block(l, b && b->form == VALUES_INT64 ? VALUES_INT64 : form, scale, 0, arena));
	put_integer(l->last, x);
	return STATUS_OK;
}

/* Adds a number of the fast path. */
static inline enum status add_number(struct values_list *l, int64_t x, unsigned scale,
				     struct key_arena *arena)
{
	if (!takes(l->last, x, scale))
		return add_other(l, x, scale, arena);
	put_integer(l->last, x);
	return STATUS_OK;
}

/* Whether every number fits in 32 bits. */
static bool all_narrow(const int64_t *x, size_t n)
{
	uint64_t beyond = 0;

	for (size_t i = 0; i < n; i++)
		beyond |= ((uint64_t)x[i] + 0x80000000u) >> 32;
	return beyond == 0;
}

/* Adds n numbers of one scale: most of them as they are, to the block that has taken the first. */
static enum status add_alike(struct values_list *l, const int64_t *x, size_t n, unsigned scale,
			     struct key_arena *arena)
{
	while (n > 0) {
		struct values_block *b;
		size_t now;
		TRY(add_number(l, *x++, scale, arena));
		n--;
		b = l->last;
		now = b->nleft < n ? b->nleft : n;
		if (b->form == VALUES_EXACT || b->scale != scale ||
		    (b->form == VALUES_INT32 && !all_narrow(x, now)))
			continue;
		if (b->form == VALUES_INT64)
			memcpy(b->data + used_nbytes(b), x, now * sizeof *x);
		for (size_t i = 0; b->form == VALUES_INT32 && i < now; i++)
			((int32_t *)(void *)b->data)[b->nvalues + i] = (int32_t)x[i];
		b->nvalues = (uint16_t)(b->nvalues + now);
		b->nleft = (uint16_t)(b->nleft - now);
		x += now;
		n -= now;
	}
	return STATUS_OK;
}

/* Adds copies of the numbers of a block. */
static enum status copy_block(struct values_list *l, const struct values_block *b,
			      struct key_arena *arena)
{
	struct values_cursor at = {.block = b};
	int64_t x[VALUES_BATCH];
	struct exact number;
	size_t n;

	if (b->form != VALUES_EXACT) {
		while ((n = values_next64(&at, b->scale, x)) > 0)
			TRY(add_alike(l, x, n, b->scale, arena));
		return STATUS_OK;
	}
	for (bool is_fast; (is_fast = values_next_is_fast(&at)), values_next_exact(&at, &number);)
		TRY(add_exact(l, &number, is_fast, arena));
	return STATUS_OK;
}

static enum status copy_list(struct values_list *l, const struct values_list *from,
			     struct key_arena *arena)
{
	for (const struct values_block *b = from->last; b; b = b->before)
		TRY(copy_block(l, b, arena));
	return STATUS_OK;
}

/* ---- a column's ---- */

static void free_blocks(struct values_block *b)
{
	for (struct values_block *before; b; b = before) {
		before = b->before;
		block_free(b);
	}
}

/* Leaves a list its last block, without numbers. */
static void make_empty(struct values_list *l)
{
	if (!l->last)
		return;
	block_begin(l->last, VALUES_INT32, 0);
	l->last->before = NULL;
	l->last->nleft = 0; /* the first number begins it anew */
}

static void values_free(void *cell)
{
	struct values *v = cell;

	device_runs_release(&v->runs);
	free_blocks(v->list.last);
	v->list.last = NULL;
}

static void values_clear(void *cell)
{
	struct values *v = cell;

	device_runs_release(&v->runs);
	if (v->list.last)
		free_blocks(v->list.last->before);
	make_empty(&v->list);
}

/* What became of numbers that there was no memory for. */
static enum status drop_refused(struct values *v, enum status status)
{
	if (!values_are_dropped())
		return status;
	values_free(v);
	return STATUS_OK;
}

static enum status values_add(void *cell, const int64_t *significand, const uint8_t *scale,
			      uint64_t rows)
{
	struct values *v = cell;
	enum status status = STATUS_OK;

	if (values_are_dropped())
		return drop_refused(v, status);
	if (rows == ~UINT64_C(0) && simd_scales_alike(scale))
		return drop_refused(v, add_alike(&v->list, significand, SIMD_NUMBERS_NROWS, scale[0], NULL));
	for (; rows && status == STATUS_OK; rows &= rows - 1)
		status = add_number(&v->list, significand[__builtin_ctzll(rows)],
				    scale[__builtin_ctzll(rows)], NULL);
	return drop_refused(v, status);
}

static enum status values_add_long(void *cell, const struct exact *x)
{
	struct values *v = cell;

	return drop_refused(v, values_are_dropped() ? STATUS_OK : add_exact(&v->list, x, false, NULL));
}

bool values_have_any(const struct values *v)
{
	return (v->list.last && (v->list.last->nvalues > 0 || v->list.last->before)) || v->runs;
}

static bool values_is_empty(const void *cell)
{
	return !values_have_any(cell);
}

/* Takes over a block, after the open ones. */
static void take_block(struct values_list *l, struct values_block *b)
{
	struct values_block **at = &l->last;

	for (int i = 0; i < 2 && *at; i++)
		at = &(*at)->before;
	b->before = *at;
	*at = b;
}

/* Takes over what is more than half full; copies other blocks, of which later has the largest again.
 * Those in arenas stay. */
static enum status move_blocks(struct values_list *l, struct values_list *later)
{
	struct values_block *before, *kept = NULL;
	enum status status = STATUS_OK;

	for (struct values_block *b = later->last; b; b = before) {
		before = b->before;
		if (!b->is_in_arena && used_nbytes(b) > data_nbytes(b) / 2) {
			take_block(l, b);
			continue;
		}
		THEN(status, copy_block(l, b, NULL));
		if (b->is_in_arena)
			continue;
		if (kept && kept->order >= b->order) {
			block_free(b);
		} else {
			block_free(kept);
			kept = b;
		}
	}
	later->last = kept;
	make_empty(later);
	return status;
}

static void search_block(void *context, const struct values_block *block)
{
	(void)context;
	values_search_block(block);
}

static enum status values_combine(void *cell, void *later_cell)
{
	struct values *v = cell, *later = later_cell;

	if (values_are_dropped()) {
		values_free(later);
		values_free(v);
		return STATUS_OK;
	}
	device_runs_take(&v->runs, &later->runs);
	if (!values_are_searched())
		return drop_refused(v, move_blocks(&v->list, &later->list));
	values_each_block(later, search_block, NULL);
	values_clear(later);
	return STATUS_OK;
}

void values_each_block(const struct values *v,
		       void (*visit)(void *context, const struct values_block *block),
		       void *context)
{
	for (const struct values_block *b = v->list.last; b; b = b->before)
		if (b->nvalues > 0)
			visit(context, b);
}

/* ---- reading ---- */

static inline int64_t integer_at(const struct values_block *b, size_t i)
{
	return b->form == VALUES_INT32 ? ((const int32_t *)(const void *)b->data)[i]
				       : ((const int64_t *)(const void *)b->data)[i];
}

static const struct values_record *record_at(const struct values_cursor *at)
{
	return (const struct values_record *)(const void *)(at->block->data + at->offset_bytes);
}

/* Reads the record at the cursor. */
static struct exact read_record(struct values_cursor *at)
{
	const struct values_record *record = record_at(at);

	at->offset_bytes += (uint32_t)(sizeof *record + record->nlimbs * sizeof *record->limb);
	return record_get(record);
}

/* Reads it as an integer. */
static int128 read_integer(struct values_cursor *at, int scale)
{
	const struct exact x = read_record(at);
	int128 integer;

	exact_to_int128(&x, scale, &integer);
	return integer;
}

bool values_next_is_fast(const struct values_cursor *at)
{
	return at->nread < at->block->nvalues && record_at(at)->is_fast;
}

bool values_next_exact(struct values_cursor *at, struct exact *out)
{
	const struct values_block *b = at->block;

	if (at->nread == b->nvalues)
		return false;
	if (b->form == VALUES_EXACT)
		*out = read_record(at);
	else
		*out = (struct exact){.value = integer_at(b, at->nread), .scale = b->scale};
	at->nread++;
	return true;
}

/* How many numbers the next batch has; moves the cursor past them. */
static size_t take_batch(struct values_cursor *at)
{
	uint32_t left = at->block->nvalues - at->nread;
	uint32_t n = left < VALUES_BATCH ? left : VALUES_BATCH;

	at->nread += n;
	return n;
}

size_t values_next64(struct values_cursor *at, int scale, int64_t *out)
{
	const struct values_block *b = at->block;
	uint32_t first = at->nread;
	size_t n = take_batch(at);
	const int nplaces = scale - b->scale; /* where it is large, the only number that still fits is 0 */
	const int64_t unit = nplaces <= DECIMAL_NDIGITS ? (int64_t)decimal_powers[nplaces] : 0;

	if (b->form == VALUES_EXACT) {
		for (size_t i = 0; i < n; i++)
			out[i] = (int64_t)read_integer(at, scale);
		return n;
	}
	if (b->form == VALUES_INT32)
		for (size_t i = 0; i < n; i++)
			out[i] = ((const int32_t *)(const void *)b->data)[first + i];
	else
		memcpy(out, b->data + first * sizeof *out, n * sizeof *out);
	for (size_t i = 0; i < n && unit != 1; i++)
		out[i] *= unit;
	return n;
}

size_t values_next128(struct values_cursor *at, int scale, int128 *out)
{
	const struct values_block *b = at->block;
	int64_t x[VALUES_BATCH];
	int128 unit = 1;
	size_t n;

	if (b->form == VALUES_EXACT) {
		n = take_batch(at);
		for (size_t i = 0; i < n; i++)
			out[i] = read_integer(at, scale);
		return n;
	}
	n = values_next64(at, b->scale, x);
	if (!decimal_lengthen(&unit, scale - b->scale))
		unit = 0; /* the only number that still fits is 0 */
	for (size_t i = 0; i < n; i++)
		out[i] = x[i] * unit;
	return n;
}

bool values_list_get(const struct values_list *l, unsigned scale, int64_t *to)
{
	for (const struct values_block *b = l->last; b; to += b->nvalues, b = b->before) {
		if (b->form == VALUES_EXACT)
			return false;
		for (unsigned i = 0; i < b->nvalues; i++)
			to[i] = integer_at(b, i);
		for (unsigned i = 0; i < b->nvalues && b->scale < scale; i++)
			if (!decimal_lengthen_64(&to[i], scale - b->scale))
				return false;
	}
	return true;
}

const struct moment_ops moment_values = {
	.moment = MOMENT_VALUES,
	.cell_nbytes = sizeof(struct values),
	.clear = values_clear,
	.add = values_add,
	.add_long = values_add_long,
	.combine = values_combine,
	.free = values_free,
	.is_empty = values_is_empty,
	.text = values_text,
};

/* ---- a group's ---- */

static enum status update_values(struct groups *g, struct group *const *groups, size_t c,
				 const struct group_vector *v)
{
	const struct plan_column *column = &g->plan->columns[c];
	const size_t offset = column->cell_offset + group_state_offset(column, GROUP_VALUES);
	struct values_list *lists[SIMD_NUMBERS_NROWS];

	for (uint64_t rows = v->numbers; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		lists[row] = (struct values_list *)((char *)groups[row] + offset);
		__builtin_prefetch(lists[row]->last, 1);
	}
	for (uint64_t rows = v->numbers; rows; rows &= rows - 1) {
		const unsigned row = (unsigned)__builtin_ctzll(rows);
		TRY(add_number(lists[row], v->x->significand[row], v->x->scale[row], &g->values));
	}
	return STATUS_OK;
}

static void read_values(struct group *g, const struct plan_column *column, void *cell)
{
	*(struct values *)cell = (struct values){.list = *group_values(g, column)};
}

static enum status add_values(struct groups *to, struct group *g, size_t c, const void *cell)
{
	const struct values *v = cell;

	return copy_list(group_values(g, &to->plan->columns[c]), &v->list, &to->values);
}

const struct group_state_ops group_state_values = {
	.update = update_values,
	.cell = CELL_VALUES,
	.read = read_values,
	.add = add_values,
};
