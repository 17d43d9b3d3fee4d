/* SPDX-License-Identifier: MIT
 *
 * values_text.c - kept numbers as text: see values.h, and `write` and `read` of moment.h.
 *
 * The text is a list of blocks: [scale,"1 2 3"] of integers at one scale, or ["1e9",...] of wide numbers in
 * units of their lowest limb.
 */
#include <string.h>

#include "fold/values.h"
#include "number/exact_text.h"

/* ---- writing ---- */

static void write_integers(const struct values_block *b, struct json_writer *to)
{
	struct values_cursor at = {.block = b};
	int64_t x[VALUES_BATCH];
	bool first = true;
	size_t n;

	json_put(to, "[");
	json_put_number(to, b->scale);
	json_put(to, ",\"");
	while ((n = values_next64(&at, b->scale, x)) > 0)
		for (size_t i = 0; i < n; i++, first = false) {
			json_put(to, first ? "" : " ");
			exact_put_int64(to, x[i]);
		}
	json_put(to, "\"]");
}

/* Significands of one scale each, as blocks of one. */
static void write_decimals(const struct values_block *b, struct json_writer *to)
{
	int64_t x;

	for (uint32_t i = 0; i < b->nbytes; i += VALUES_DECIMAL_NBYTES) {
		memcpy(&x, b->data + i, sizeof x);
		json_put(to, i ? ",[" : "[");
		json_put_number(to, b->data[i + sizeof x]);
		json_put(to, ",\"");
		exact_put_int64(to, x);
		json_put(to, "\"]");
	}
}

static void write_wide(const struct values_block *b, struct json_writer *to)
{
	struct wide x;

	json_put(to, "[");
	for (uint32_t i = 0; i < b->nbytes;) {
		json_put(to, i ? "," : "");
		i += values_unpack_wide(b->data + i, &x);
		exact_put_limbs(to, x.limb, WIDE_NLIMBS);
	}
	json_put(to, "]");
}

struct block_list {
	struct json_writer *to;
	bool is_open; /* the list has a block in this line */
};

static void write_block(void *context, const struct values_block *b)
{
	struct block_list *l = context;

	if (json_is_long(l->to)) {
		json_break(l->to, "]}", ":[");
		l->is_open = false;
	}
	json_put(l->to, l->is_open ? "," : "");
	l->is_open = true;
	if (b->form == VALUES_WIDE)
		write_wide(b, l->to);
	else if (b->form == VALUES_DECIMAL)
		write_decimals(b, l->to);
	else
		write_integers(b, l->to);
}

void values_write(const void *cell, struct json_writer *to)
{
	struct block_list list = {to, false};

	json_put(to, "[");
	values_each_block(cell, write_block, &list);
	json_put(to, "]");
}

/* ---- reading ---- */

/* Numbers on their way into a cell. */
struct batch {
	const struct moment_ops *ops;
	void *cell;
	struct json_reader *from;
	uint32_t n;
	int64_t significand[SIMD_NUMBERS_NROWS];
	uint8_t scale[SIMD_NUMBERS_NROWS];
};

/* Adds what the batch holds. */
static void empty(struct batch *b)
{
	uint64_t rows = b->n < 64 ? ((uint64_t)1 << b->n) - 1 : ~(uint64_t)0;

	if (b->n > 0 && b->from->status == STATUS_OK &&
	    b->ops->add(b->cell, b->significand, b->scale, rows) != STATUS_OK)
		json_fail(b->from, STATUS_NO_MEMORY);
	b->n = 0;
}

static void read_integers(struct batch *b)
{
	uint8_t scale = (uint8_t)exact_scale(b->from, DECIMAL_NSCALES);

	json_expect(b->from, ",\"");
	do {
		b->significand[b->n] = exact_int64(b->from);
		b->scale[b->n++] = scale;
		if (b->n == SIMD_NUMBERS_NROWS)
			empty(b);
	} while (json_try(b->from, " "));
	json_expect(b->from, "\"");
}

static void read_wide(struct batch *b)
{
	do {
		struct wide x;
		exact_limbs(b->from, x.limb, WIDE_NLIMBS);
		if (b->from->status == STATUS_OK && b->ops->add_wide(b->cell, &x) != STATUS_OK)
			json_fail(b->from, STATUS_NO_MEMORY);
	} while (json_try(b->from, ","));
}

/* No number may have more digits behind the point than its column's largest scale. A cell that was cleared has
 * the scale of numbers before, perhaps of another group. */
static void forget_scale(struct values *v)
{
	if (values_have_any(v))
		return;
	v->scale = 0;
	for (int i = 0; i < VALUES_NFORMS; i++)
		if (v->open[i])
			v->open[i]->scale = 0;
}

void values_read(void *cell, const struct moment_source *from)
{
	struct json_reader *r = from->json;
	struct batch batch = {.ops = moment_table[CELL_VALUES], .cell = cell, .from = r};

	forget_scale(cell);
	json_expect(r, "[");
	if (json_try(r, "]"))
		return;
	do {
		json_expect(r, "[");
		if (r->at < r->end && *r->at == '"')
			read_wide(&batch);
		else
			read_integers(&batch);
		json_expect(r, "]");
	} while (json_try(r, ","));
	empty(&batch);
	json_expect(r, "]");
}
