/* SPDX-License-Identifier: MIT
 *
 * values_text.c - kept numbers as text: see values.h, and `write` and `read` of moment.h.
 *
 * The text is a list of blocks: [scale,"1 2 3"] of integers at one scale, or ["1e9",...] of wide numbers in
 * units of their lowest limb. They are sorted, so the bytes depend on the numbers alone; the copies that are sorted,
 * 8 bytes for each number, count towards --memory.
 */
#include <stdlib.h>
#include <string.h>

#include "base/memory_limit.h"
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

static void begin_list(struct json_writer *to, bool *is_open)
{
	if (json_is_long(to)) {
		json_break(to, "]}", ":[");
		*is_open = false;
	}
	json_put(to, *is_open ? ",[" : "[");
	*is_open = true;
}

static void write_integers(const int64_t *x, size_t n, int scale, struct json_writer *to, bool *is_open)
{
	for (size_t i = 0; i < n; i++) {
		if (i % LIST_NVALUES == 0) {
			begin_list(to, is_open);
			json_put_number(to, (uint64_t)scale);
			json_put(to, ",\"");
		}
		exact_put_int64(to, x[i]);
		json_put(to, (i + 1) % LIST_NVALUES == 0 || i + 1 == n ? "\"]" : " ");
	}
}

static void write_wide(const unsigned char *const *packed, size_t n, struct json_writer *to, bool *is_open)
{
	struct wide x;

	for (size_t i = 0; i < n; i++) {
		if (i % LIST_NVALUES == 0)
			begin_list(to, is_open);
		values_unpack_wide(packed[i], &x);
		exact_put_limbs(to, x.limb, WIDE_NLIMBS);
		json_put(to, (i + 1) % LIST_NVALUES == 0 || i + 1 == n ? "]" : ",");
	}
}

static void write_sorted(const void *cell, struct sorted *sorted, int64_t *x, const unsigned char **wide,
			 struct json_writer *to)
{
	bool is_open = false;
	int64_t *at = x;

	for (int scale = 0; scale < DECIMAL_NSCALES; at += sorted->n[scale++])
		sorted->next[scale] = at;
	sorted->next_wide = wide;
	values_each_block(cell, store_block, sorted);
	json_put(to, "[");
	for (int scale = 0; scale < DECIMAL_NSCALES; x += sorted->n[scale++]) {
		qsort(x, sorted->n[scale], sizeof *x, compare_numbers);
		write_integers(x, sorted->n[scale], scale, to, &is_open);
	}
	qsort(wide, sorted->nwide, sizeof *wide, compare_wide);
	write_wide(wide, sorted->nwide, to, &is_open);
	json_put(to, "]");
}

void values_write(const void *cell, struct json_writer *to)
{
	struct sorted sorted = {.nwide = 0};
	size_t n = 1, nbytes;
	int64_t *x;

	values_each_block(cell, count_block, &sorted);
	for (int scale = 0; scale < DECIMAL_NSCALES; scale++)
		n += sorted.n[scale];
	nbytes = n * sizeof *x + sorted.nwide * sizeof(char *);
	if (!memory_take(nbytes)) {
		to->status = STATUS_NO_MEMORY;
		return;
	}
	x = malloc(nbytes);
	if (x)
		write_sorted(cell, &sorted, x, (const unsigned char **)(x + n), to);
	else
		to->status = STATUS_NO_MEMORY;
	free(x);
	memory_give(nbytes);
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
		if (b->from->status == STATUS_OK && b->ops->add_wide(b->cell, &x, 0) != STATUS_OK)
			json_fail(b->from, STATUS_NO_MEMORY);
	} while (json_try(b->from, ","));
}

void values_read(void *cell, const struct moment_source *from)
{
	struct json_reader *r = from->json;
	struct batch batch = {.ops = moment_table[CELL_VALUES], .cell = cell, .from = r};

	if (!values_have_any(cell)) /* it was cleared: its scale is that of another group's numbers */
		values_forget_scale(cell);
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
