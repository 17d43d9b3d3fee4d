/* SPDX-License-Identifier: MIT
 *
 * values_text.c - kept numbers as text: see values.h, and `text` of moment.h.
 *
 * The text is a list of blocks: [scale,"1 2 3"] of integers at one scale, or ["1e30",...] of longer
 * numbers. They are sorted, so the bytes depend on the numbers alone; the copies that are sorted,
 * 8 bytes for each number of the fast path, count towards --memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/machine.h"
#include "fold/values.h"
#include "number/exact_text.h"

/* ---- writing ---- */

/* The numbers of a cell in an order that depends on nothing but the numbers: not on chunks and threads. */
struct sorted {
	size_t n[DECIMAL_NSCALES];     /* of the numbers of each scale */
	int64_t *next[DECIMAL_NSCALES]; /* where the next of them goes */
	size_t nlong;
	struct exact *next_long; /* their limbs are their blocks' */
};

static void visit_trimmed(void (*visit)(struct sorted *to, int64_t x, int scale), struct sorted *to, int64_t x,
			  int scale)
{
	for (; scale > 0 && x % 10 == 0; scale--)
		x /= 10;
	visit(to, x, scale);
}

/* Calls visit for each number of the fast path in a block, with no zeros at the end of its fraction. Copies the others to `longer`,
 * unless it is NULL. Returns how many others there are. */
static size_t each_number(const struct values_block *b, void (*visit)(struct sorted *to, int64_t x, int scale), struct sorted *to,
			  struct exact *longer)
{
	struct values_cursor at = {.block = b};
	struct exact x;
	size_t nlong = 0;

	while (at.nread < b->nvalues) {
		const bool is_fast = b->form != VALUES_EXACT || values_next_is_fast(&at);
		values_next_exact(&at, &x);
		if (is_fast)
			visit_trimmed(visit, to, (int64_t)x.value, x.scale);
		else if (longer)
			longer[nlong++] = x;
		else
			nlong++;
	}
	return nlong;
}

static void count_number(struct sorted *to, int64_t x, int scale)
{
	(void)x;
	to->n[scale]++;
}

static void store_number(struct sorted *to, int64_t x, int scale)
{
	*to->next[scale]++ = x;
}

static void count_block(void *context, const struct values_block *b)
{
	struct sorted *to = context;

	to->nlong += each_number(b, count_number, to, NULL);
}

static void store_block(void *context, const struct values_block *b)
{
	struct sorted *to = context;

	to->next_long += each_number(b, store_number, to, to->next_long);
}

#define LIST_NVALUES 1024 /* in one list of the text */

/* Ends an item of a list of n; `end` follows the list's last. */
static void end_item(struct json_text *j, size_t i, size_t n, const char *end, const char *separator)
{
	json_put(j, (i + 1) % LIST_NVALUES == 0 || i + 1 == n ? end : separator);
}

static void put_integers(struct json_text *j, const int64_t *x, size_t n, int scale)
{
	for (size_t i = 0; i < n; i++) {
		if (i % LIST_NVALUES == 0) {
			json_break(j, "]}", "[");
			json_put(json_next(j), "[");
			json_put_number(j, (uint64_t)scale);
			json_put(j, ",\"");
		}
		exact_put_int64(j, x[i]);
		end_item(j, i, n, "\"]", " ");
	}
}

static void put_long(struct json_text *j, const struct exact *x, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (i % LIST_NVALUES == 0) {
			json_break(j, "]}", "[");
			json_put(json_next(j), "[");
		}
		exact_put(j, &x[i]);
		end_item(j, i, n, "]", ",");
	}
}

static void put_sorted(struct json_text *j, const void *cell, struct sorted *sorted, int64_t *x, struct exact *longer)
{
	int64_t *at = x;

	for (int scale = 0; scale < DECIMAL_NSCALES; at += sorted->n[scale++])
		sorted->next[scale] = at;
	sorted->next_long = longer;
	values_each_block(cell, store_block, sorted);
	for (int scale = 0; scale < DECIMAL_NSCALES; x += sorted->n[scale++]) {
		qsort(x, sorted->n[scale], sizeof *x, compare_int64);
		put_integers(j, x, sorted->n[scale], scale);
	}
	qsort(longer, sorted->nlong, sizeof *longer, exact_order);
	put_long(j, longer, sorted->nlong);
}

static void put_values(struct json_text *j, const void *cell)
{
	struct sorted sorted = {.nlong = 0};
	size_t n = 0, nbytes;
	struct exact *longer;

	values_each_block(cell, count_block, &sorted);
	for (int scale = 0; scale < DECIMAL_NSCALES; scale++)
		n += sorted.n[scale];
	nbytes = (sorted.nlong + 1) * sizeof *longer + n * sizeof(int64_t);
	if (!memory_take(nbytes)) {
		json_fail(j, STATUS_NO_MEMORY);
		return;
	}
	longer = malloc(nbytes);
	if (longer)
		put_sorted(j, cell, &sorted, (int64_t *)(void *)(longer + sorted.nlong + 1), longer);
	else
		json_fail(j, STATUS_NO_MEMORY);
	free(longer);
	memory_give(nbytes);
}

/* ---- reading ---- */

/* Numbers on their way into a cell. */
struct batch {
	const struct moment_ops *ops;
	void *cell;
	uint32_t n;
	int64_t significand[SIMD_NUMBERS_NROWS];
	uint8_t scale[SIMD_NUMBERS_NROWS];
};

/* Adds what the batch holds. */
static void empty(struct batch *b, struct json_text *j)
{
	uint64_t rows = b->n < 64 ? ((uint64_t)1 << b->n) - 1 : ~(uint64_t)0;

	if (b->n > 0 && j->status == STATUS_OK && b->ops->add(b->cell, b->significand, b->scale, rows) != STATUS_OK)
		json_fail(j, STATUS_NO_MEMORY);
	b->n = 0;
}

static void get_integers(struct json_text *j, struct batch *b)
{
	int scale = 0;

	exact_scale(j, &scale, DECIMAL_NSCALES);
	json_mark(j, ",\"");
	do {
		b->significand[b->n] = exact_get_int64(j);
		b->scale[b->n++] = (uint8_t)scale;
		if (b->n == SIMD_NUMBERS_NROWS)
			empty(b, j);
	} while (json_try(j, " "));
	json_mark(j, "\"");
}

static void get_long(struct json_text *j, struct batch *b)
{
	do {
		struct exact x = {.scale = 0};
		exact_get(j, &x, 1);
		if (j->status == STATUS_OK && b->ops->add_long(b->cell, &x) != STATUS_OK)
			json_fail(j, STATUS_NO_MEMORY);
		exact_free(&x);
	} while (json_try(j, ","));
}

void values_text(void *cell, struct json_text *j, const struct moment_source *source)
{
	struct batch batch = {.ops = moment_table[CELL_VALUES], .cell = cell};

	(void)source;
	json_mark(j, "[");
	if (!j->reads)
		put_values(j, cell);
	while (j->reads && json_item(j, true)) {
		json_mark(j, "[");
		if (j->at < j->end && *j->at == '"')
			get_long(j, &batch);
		else
			get_integers(j, &batch);
		json_mark(j, "]");
	}
	empty(&batch, j);
	json_mark(j, "]");
}
