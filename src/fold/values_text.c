/* SPDX-License-Identifier: MIT
 *
 * values_text.c - kept numbers as text: see values.h, and `text` of moment.h.
 *
 * The text is a list of blocks: [scale,"1 2 3"] of integers at one scale, or ["1e9",...] of wide numbers in
 * units of their lowest limb. They are sorted, so the bytes depend on the numbers alone; the copies that are sorted,
 * 8 bytes for each number, count towards --memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "fold/values.h"
#include "number/exact_text.h"

/* ---- writing ---- */

/* The numbers of a cell in an order that depends on nothing but the numbers: not on chunks and threads. */
struct sorted {
	size_t n[DECIMAL_NSCALES];     /* of the numbers of each scale */
	int64_t *next[DECIMAL_NSCALES]; /* where the next of them goes */
	size_t nwide;
	const unsigned char **next_wide; /* packed, in their blocks */
};

static void visit_trimmed(void (*visit)(struct sorted *to, int64_t x, int scale), struct sorted *to, int64_t x,
			  int scale)
{
	for (; scale > 0 && x % 10 == 0; scale--)
		x /= 10;
	visit(to, x, scale);
}

/* Calls visit for each number of a block that is not wide, with no zeros at the end of its fraction. */
static void each_number(const struct values_block *b, void (*visit)(struct sorted *to, int64_t x, int scale),
			struct sorted *to)
{
	struct values_cursor at = {.block = b};
	int64_t x[VALUES_BATCH];
	size_t n;

	if (b->form == VALUES_DECIMAL) {
		for (uint32_t i = 0; i < b->nbytes; i += VALUES_DECIMAL_NBYTES) {
			memcpy(x, b->data + i, sizeof *x);
			visit_trimmed(visit, to, x[0], b->data[i + sizeof *x]);
		}
		return;
	}
	while ((n = values_next64(&at, b->scale, x)) > 0)
		for (size_t i = 0; i < n; i++)
			visit_trimmed(visit, to, x[i], b->scale);
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

	if (b->form == VALUES_WIDE)
		to->nwide += b->nvalues;
	else
		each_number(b, count_number, to);
}

static void store_block(void *context, const struct values_block *b)
{
	struct sorted *to = context;
	struct wide wide;

	if (b->form != VALUES_WIDE)
		each_number(b, store_number, to);
	else
		for (uint32_t i = 0; i < b->nbytes; i += values_unpack_wide(b->data + i, &wide))
			*to->next_wide++ = b->data + i;
}

static int compare_numbers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int compare_wide(const void *a, const void *b)
{
	struct wide x, y;

	values_unpack_wide(*(const unsigned char *const *)a, &x);
	values_unpack_wide(*(const unsigned char *const *)b, &y);
	for (int i = WIDE_NLIMBS - 1; i >= 0; i--)
		if (x.limb[i] != y.limb[i])
			return x.limb[i] > y.limb[i] ? 1 : -1;
	return 0;
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
			json_break(j, "]}", ":[");
			json_put(json_next(j), "[");
			json_put_number(j, (uint64_t)scale);
			json_put(j, ",\"");
		}
		exact_put_int64(j, x[i]);
		end_item(j, i, n, "\"]", " ");
	}
}

static void put_wide(struct json_text *j, const unsigned char *const *packed, size_t n)
{
	struct integer room;
	struct exact number;
	struct wide x;

	for (size_t i = 0; i < n; i++) {
		if (i % LIST_NVALUES == 0) {
			json_break(j, "]}", ":[");
			json_put(json_next(j), "[");
		}
		values_unpack_wide(packed[i], &x);
		wide_to_integer(&x, EXACT_NPLACES_MAX, &room);
		number = exact_view(&room, EXACT_NPLACES_MAX);
		exact_put(j, &number);
		end_item(j, i, n, "]", ",");
	}
}

static void put_sorted(struct json_text *j, const void *cell, struct sorted *sorted, int64_t *x, const unsigned char **wide)
{
	int64_t *at = x;

	for (int scale = 0; scale < DECIMAL_NSCALES; at += sorted->n[scale++])
		sorted->next[scale] = at;
	sorted->next_wide = wide;
	values_each_block(cell, store_block, sorted);
	for (int scale = 0; scale < DECIMAL_NSCALES; x += sorted->n[scale++]) {
		qsort(x, sorted->n[scale], sizeof *x, compare_numbers);
		put_integers(j, x, sorted->n[scale], scale);
	}
	qsort(wide, sorted->nwide, sizeof *wide, compare_wide);
	put_wide(j, wide, sorted->nwide);
}

static void put_values(struct json_text *j, const void *cell)
{
	struct sorted sorted = {.nwide = 0};
	size_t n = 1, nbytes;
	int64_t *x;

	values_each_block(cell, count_block, &sorted);
	for (int scale = 0; scale < DECIMAL_NSCALES; scale++)
		n += sorted.n[scale];
	nbytes = n * sizeof *x + sorted.nwide * sizeof(char *);
	if (!memory_take(nbytes)) {
		json_fail(j, STATUS_NO_MEMORY);
		return;
	}
	x = malloc(nbytes);
	if (x)
		put_sorted(j, cell, &sorted, x, (const unsigned char **)(x + n));
	else
		json_fail(j, STATUS_NO_MEMORY);
	free(x);
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

static void get_wide(struct json_text *j, struct batch *b)
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
	else if (!values_have_any(cell)) /* it was cleared: its scale is that of another group's numbers */
		values_forget_scale(cell);
	while (j->reads && json_item(j, true)) {
		json_mark(j, "[");
		if (j->at < j->end && *j->at == '"')
			get_wide(j, &batch);
		else
			get_integers(j, &batch);
		json_mark(j, "]");
	}
	empty(&batch, j);
	json_mark(j, "]");
}
