/* SPDX-License-Identifier: MIT
 *
 * moment_values.c - keeping a column's numbers. See values.h, and moment.h.
 *
 * Blocks grow from 256 bytes to 16 KiB, so that 100,000 columns of a few numbers take little memory.
 * Large ones are so small that a chunk's fold makes several: combining takes over the full ones and
 * copies the rest, half a block in the mean. All memory is taken of --memory (base/machine.h).
 */
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "fold/values.h"
#include "fold/values_select.h"

#define BLOCK_LEAST_NBYTES 256
#define BLOCK_GROWTH 4

/* ---- blocks ---- */

static void block_free(struct values_block *b)
{
	if (b && b->is_counted)
		memory_give(sizeof *b + b->capacity_nbytes);
	free(b);
}

static void free_full(struct values *v)
{
	for (struct values_block *b = v->first, *next; b; b = next) {
		next = b->next;
		block_free(b);
	}
	v->first = v->last = NULL;
}

static void free_all(struct values *v)
{
	device_runs_release(&v->runs);
	free_full(v);
	for (int i = 0; i < VALUES_NFORMS; i++) {
		block_free(v->open[i]);
		v->open[i] = NULL;
	}
}

static struct values_block *block_new(struct values *v, enum values_form form, uint32_t least_nbytes)
{
	uint32_t nbytes = v->next_nbytes ? v->next_nbytes : BLOCK_LEAST_NBYTES;
	struct values_block *b;

	const bool is_counted = !values_are_searched(); /* what is searched is freed when it is combined */

	nbytes = nbytes < least_nbytes ? least_nbytes : nbytes;
	if (is_counted && !memory_take(sizeof *b + nbytes)) {
		values_note_refusal();
		return NULL;
	}
	b = malloc(sizeof *b + nbytes);
	if (!b) {
		memory_give(is_counted ? sizeof *b + nbytes : 0);
		return NULL;
	}
	*b = (struct values_block){.capacity_nbytes = nbytes, .form = (uint8_t)form, .scale = v->scale, .is_counted = is_counted};
	v->next_nbytes = nbytes * BLOCK_GROWTH < VALUES_BLOCK_NBYTES ? nbytes * BLOCK_GROWTH
								      : VALUES_BLOCK_NBYTES;
	return b;
}

/* Moves the open block of a form to the full ones. */
static void close_block(struct values *v, enum values_form form)
{
	struct values_block *b = v->open[form];

	v->open[form] = NULL;
	b->next = NULL;
	*(v->last ? &v->last->next : &v->first) = b;
	v->last = b;
}

/* Makes the open block of a form have room for nbytes. NULL: no memory. */
static struct values_block *need_room(struct values *v, enum values_form form, uint32_t nbytes)
{
	struct values_block *b = v->open[form];

	if (b && b->capacity_nbytes - b->nbytes >= nbytes)
		return b;
	if (b)
		close_block(v, form);
	return v->open[form] = block_new(v, form, nbytes);
}

/* ---- numbers of the fast path ---- */

/* Makes scale that of new blocks. */
static void raise_scale(struct values *v, uint8_t scale)
{
	static const enum values_form forms[] = {VALUES_INT32, VALUES_INT64};

	for (int i = 0; i < 2; i++) {
		struct values_block *b = v->open[forms[i]];
		if (b && b->nvalues > 0)
			close_block(v, forms[i]);
		else if (b)
			b->scale = scale;
	}
	v->scale = scale;
}

static enum status add_int32(struct values *v, const int64_t *x, uint32_t n)
{
	while (n > 0) {
		struct values_block *b = need_room(v, VALUES_INT32, sizeof(int32_t));
		uint32_t room, now;
		int32_t *to;
		NEED(b);
		to = (int32_t *)(void *)(b->data + b->nbytes);
		room = (b->capacity_nbytes - b->nbytes) / (uint32_t)sizeof *to;
		now = n < room ? n : room;
		for (uint32_t i = 0; i < now; i++)
			to[i] = (int32_t)x[i];
		b->nbytes += now * (uint32_t)sizeof *to;
		b->nvalues += now;
		x += now;
		n -= now;
	}
	return STATUS_OK;
}

static enum status add_int64(struct values *v, const int64_t *x, uint32_t n)
{
	while (n > 0) {
		struct values_block *b = need_room(v, VALUES_INT64, sizeof *x);
		uint32_t room, now;
		NEED(b);
		room = (b->capacity_nbytes - b->nbytes) / (uint32_t)sizeof *x;
		now = n < room ? n : room;
		memcpy(b->data + b->nbytes, x, now * sizeof *x);
		b->nbytes += now * (uint32_t)sizeof *x;
		b->nvalues += now;
		x += now;
		n -= now;
	}
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

size_t values_record_nbytes(const struct exact *x)
{
	return sizeof(struct values_record) + count_limbs(x) * sizeof(unsigned long);
}

void values_record_put(void *to, const struct exact *x, bool is_fast)
{
	const unsigned long halves[] = {(unsigned long)x->value, (unsigned long)(x->value >> 64)};
	const unsigned nlimbs = count_limbs(x);
	struct values_record *record = to;

	*record = (struct values_record){(int16_t)x->scale, (uint16_t)nlimbs, is_fast, x->is_long, x->negative, x->is_rounded};
	memcpy(record->limb, x->is_long ? x->limb : halves, nlimbs * sizeof *halves);
}

struct exact values_record_get(const void *from)
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

static enum status add_exact(struct values *v, const struct exact *x, bool is_fast)
{
	const uint32_t nbytes = (uint32_t)values_record_nbytes(x);
	struct values_block *b = need_room(v, VALUES_EXACT, nbytes);

	NEED(b);
	values_record_put(b->data + b->nbytes, x, is_fast);
	b->nbytes += nbytes;
	b->nvalues++;
	return STATUS_OK;
}

/* Whether every number fits in 32 bits. */
static bool all_narrow(const int64_t *x, uint32_t n)
{
	uint64_t beyond = 0;

	for (uint32_t i = 0; i < n; i++)
		beyond |= ((uint64_t)x[i] + 0x80000000u) >> 32;
	return beyond == 0;
}

/* Adds numbers at the scale of new blocks. */
static enum status add_all(struct values *v, const int64_t *x, uint32_t n)
{
	return all_narrow(x, n) ? add_int32(v, x, n) : add_int64(v, x, n);
}

static enum status add_one(struct values *v, int64_t significand, uint8_t scale)
{
	int64_t lifted = significand;

	if (scale > v->scale)
		raise_scale(v, scale);
	for (int i = scale; i < v->scale && lifted; i++)
		if (__builtin_mul_overflow(lifted, 10, &lifted))
			return add_exact(v, &(struct exact){.value = significand, .scale = scale}, true);
	return add_all(v, &lifted, 1);
}

static bool have_scale(const uint8_t *scale, uint32_t n, uint8_t wanted)
{
	unsigned others = 0;

	for (uint32_t i = 0; i < n; i++)
		others |= scale[i] ^ wanted;
	return others == 0;
}

static enum status add_dense(struct values *v, const int64_t *significand, const uint8_t *scale,
			     uint32_t n)
{
	if (have_scale(scale, n, v->scale))
		return add_all(v, significand, n);
	for (uint32_t i = 0; i < n; i++)
		TRY(add_one(v, significand[i], scale[i]));
	return STATUS_OK;
}

/* What became of numbers that there was no memory for. */
static enum status drop_refused(struct values *v, enum status status)
{
	if (!values_are_dropped())
		return status;
	free_all(v);
	return STATUS_OK;
}

static enum status values_add(void *cell, const int64_t *significand, const uint8_t *scale,
			      uint64_t rows)
{
	int64_t kept[SIMD_NUMBERS_NROWS];
	uint8_t kept_scale[SIMD_NUMBERS_NROWS];
	uint32_t n = 0;

	if (values_are_dropped())
		return drop_refused(cell, STATUS_OK);
	if (rows == ~UINT64_C(0))
		return drop_refused(cell, add_dense(cell, significand, scale, SIMD_NUMBERS_NROWS));
	for (; rows; rows &= rows - 1, n++) {
		kept[n] = significand[__builtin_ctzll(rows)];
		kept_scale[n] = scale[__builtin_ctzll(rows)];
	}
	return drop_refused(cell, add_dense(cell, kept, kept_scale, n));
}

static enum status values_add_long(void *cell, const struct exact *x)
{
	return drop_refused(cell, values_are_dropped() ? STATUS_OK : add_exact(cell, x, false));
}

/* ---- cells ---- */

static void values_clear(void *cell)
{
	struct values *v = cell;

	device_runs_release(&v->runs);
	free_full(v);
	for (int i = 0; i < VALUES_NFORMS; i++)
		if (v->open[i])
			v->open[i]->nbytes = v->open[i]->nvalues = 0;
	if (v->open[VALUES_INT32])
		v->open[VALUES_INT32]->scale = v->scale;
	if (v->open[VALUES_INT64])
		v->open[VALUES_INT64]->scale = v->scale;
}

static void values_free(void *cell)
{
	free_all(cell);
}

/* Appends later's full blocks. */
static void splice(struct values *v, struct values *later)
{
	if (!later->first)
		return;
	*(v->last ? &v->last->next : &v->first) = later->first;
	v->last = later->last;
	later->first = later->last = NULL;
}

/* Adds copies of the numbers of a block. */
static enum status copy_block(struct values *v, const struct values_block *b)
{
	struct values_cursor at = {.block = b};
	int64_t x[VALUES_BATCH];
	struct exact number;
	size_t n;

	if (b->form != VALUES_EXACT) {
		while ((n = values_next64(&at, b->scale, x)) > 0) {
			if (b->scale == v->scale)
				TRY(add_all(v, x, (uint32_t)n));
			for (size_t i = 0; i < n && b->scale != v->scale; i++)
				TRY(add_one(v, x[i], b->scale));
		}
		return STATUS_OK;
	}
	for (bool is_fast; (is_fast = values_next_is_fast(&at)), values_next_exact(&at, &number);)
		TRY(add_exact(v, &number, is_fast));
	return STATUS_OK;
}

bool values_have_any(const struct values *v)
{
	for (int i = 0; i < VALUES_NFORMS; i++)
		if (v->open[i] && v->open[i]->nvalues > 0)
			return true;
	return v->first != NULL || v->runs != NULL;
}

void values_forget_scale(struct values *v)
{
	v->scale = 0;
	for (int i = VALUES_INT32; i <= VALUES_INT64; i++)
		if (v->open[i])
			v->open[i]->scale = 0;
}

static bool values_is_empty(const void *cell)
{
	return !values_have_any(cell);
}

/* Has the full blocks go through the pass of a search. */
static void search_full(struct values *v)
{
	for (const struct values_block *b = v->first; b; b = b->next)
		values_search_block(b);
	free_full(v);
}

/* Takes over full blocks; copies from open ones, which later needs again. */
static enum status values_combine(void *cell, void *later_cell)
{
	struct values *v = cell, *later = later_cell;
	enum status status = STATUS_OK;

	if (values_are_dropped()) {
		free_all(later);
		free_all(v);
		return status;
	}
	if (!values_have_any(later))
		return status; /* its scale is that of numbers before it was cleared */
	splice(v, later);
	device_runs_take(&v->runs, &later->runs);
	if (later->scale > v->scale)
		raise_scale(v, later->scale);
	for (int i = 0; i < VALUES_NFORMS && status == STATUS_OK; i++)
		if (later->open[i])
			status = copy_block(v, later->open[i]);
	if (status == STATUS_OK && values_are_searched())
		search_full(v);
	return drop_refused(v, status);
}

void values_each_block(const struct values *v,
		       void (*visit)(void *context, const struct values_block *block),
		       void *context)
{
	for (const struct values_block *b = v->first; b; b = b->next)
		visit(context, b);
	for (int i = 0; i < VALUES_NFORMS; i++)
		if (v->open[i] && v->open[i]->nvalues > 0)
			visit(context, v->open[i]);
}

/* ---- reading ---- */

static const struct values_record *record_at(const struct values_cursor *at)
{
	return (const struct values_record *)(const void *)(at->block->data + at->offset_bytes);
}

/* Reads the record at the cursor. */
static struct exact read_record(struct values_cursor *at)
{
	const struct values_record *record = record_at(at);

	at->offset_bytes += (uint32_t)(sizeof *record + record->nlimbs * sizeof *record->limb);
	return values_record_get(record);
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
		*out = (struct exact){.value = b->form == VALUES_INT32 ? ((const int32_t *)(const void *)b->data)[at->nread]
								       : ((const int64_t *)(const void *)b->data)[at->nread],
				      .scale = b->scale};
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
