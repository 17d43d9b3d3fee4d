/* SPDX-License-Identifier: MIT
 *
 * row_folder.c - what a thread folds rows with, which rows are folded, and which are printed. See rows_fold.h.
 */
#include "fold/rows_fold.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "fold/row_keys.h"

enum status row_folder_init(struct row_folder *f, const struct plan *plan)
{
	memset(f, 0, sizeof *f);
	f->plan = plan;
	if (row_block_init(&f->block, plan) != STATUS_OK ||
	    text_folder_init(&f->texts, plan) != STATUS_OK ||
	    pair_block_init(&f->pairs, plan) != STATUS_OK)
		return STATUS_NO_MEMORY;
	if (plan->nlets > 0) {
		TRY(let_block_init(&f->lets, plan));
		f->block.lets = &f->lets;
	}
	row_keys_init(f);
	return row_filter_init(&f->filter, plan);
}

void row_folder_free(struct row_folder *f)
{
	row_block_free(&f->block);
	if (f->plan && f->plan->nlets > 0)
		let_block_free(&f->lets);
	row_filter_free(&f->filter);
	text_folder_free(&f->texts);
	pair_block_free(&f->pairs);
	row_groups_free(&f->groups);
	free(f->scratch.data);
	free(f->kept);
	memset(f, 0, sizeof *f);
}

/* Whether the last field of a row of `stride` fields has no byte. */
static bool ends_empty(const struct csv_dialect *dialect, const char *text, const uint32_t *ends,
		       size_t stride)
{
	struct field_span last = row_field(text, ends + stride - 1, true);
	size_t nbytes = last.end - last.begin;

	if (nbytes > 0 && csv_dialect_trims(dialect))
		field_trim(dialect, text + last.begin, &nbytes);
	return nbytes == 0;
}

/* The row's first byte. */
static inline unsigned char first_byte(const char *text, const uint32_t *ends)
{
	return (unsigned char)text[(uint32_t)(ends[-1] + 1)];
}

/* Whether a row is the header again. */
static bool is_header(const struct plan *plan, const char *text, const uint32_t *ends, size_t stride)
{
	uint32_t begin = ends[-1] + 1, end = ends[stride - 1];

	end -= (uint32_t)field_cr_nbytes(text, begin, end, plan->dialect.escape);
	return header_is_repeated(&plan->sought, &plan->dialect, text + begin, end - begin);
}

/* Returns the first byte of a header by which spellings of it do not differ, or 0. */
static char first_sought_byte(const struct sought_header *h)
{
	for (uint32_t i = 0; i < h->nbytes; i++)
		if (!sought_header_ignores(h, h->text[i]))
			return h->text[i];
	return '\0';
}

/* Returns how many rows come before the first that is the header again. Every record passes here: four at a time
 * are looked at by their first bytes. */
static size_t nrows_before_header(const struct plan *plan, const char *text, const struct row_run *rows)
{
	const struct sought_header *h = &plan->sought;
	const char sought = first_sought_byte(h);
	bool begins[256] = {0}; /* a header may begin with the byte, and so may what follows one that is not sought */
	const size_t stride = rows->stride;
	const uint32_t *ends = rows->ends;
	size_t row = 0;

	for (const char *c = " \t\r" BYTE_ORDER_MARK; *c; c++)
		begins[(unsigned char)*c] = true;
	begins[(unsigned char)h->quote] = begins[(unsigned char)h->escape] = true;
	begins[(unsigned char)sought] = true;
	while (row < rows->nrows) {
		size_t n = rows->nrows - row < 4 ? 1 : 4;
		if (n == 4 && !(begins[first_byte(text, ends)] | begins[first_byte(text, ends + stride)] |
				begins[first_byte(text, ends + 2 * stride)] | begins[first_byte(text, ends + 3 * stride)])) {
			row += n;
			ends += n * stride;
			continue;
		}
		for (; n > 0; n--, row++, ends += stride) {
			const char *record = text + (uint32_t)(ends[-1] + 1);
			if (begins[(unsigned char)record[0]] &&
			    (record[0] == sought || begins[(unsigned char)record[1]]) &&
			    is_header(plan, text, ends, stride))
				return row;
		}
	}
	return row;
}

/* Cuts a part of rows that are not ragged before one that is the header again, or leaves that row alone in it. */
static void part_seek_header(struct row_part *part, const struct plan *plan, const char *text)
{
	size_t n = nrows_before_header(plan, text, &part->rows);

	part->is_header = n == 0;
	part->is_taken = n > 0;
	part->rows.nrows = n ? n : 1;
}

struct row_part row_run_part(const struct plan *plan, const char *text, const struct row_run *run, size_t first,
			     bool seeks_header)
{
	const struct ragged_rule *rule = &plan->ragged;
	uint32_t n = (uint32_t)run->stride;
	const uint32_t *ends = run->ends + first * run->stride;
	struct row_part part = {.rows = {ends, run->stride, run->nrows - first}};
	bool looks = n == rule->nfields + 1; /* at each row's last field: it decides */
	size_t nrows = 1;

	part.is_ragged = n != rule->nfields &&
			 ragged_is(rule, n, looks && ends_empty(&plan->dialect, text, ends, n));
	part.is_taken = !part.is_ragged || ragged_is_taken(rule, n);
	if (looks) {
		while (nrows < part.rows.nrows &&
		       ends_empty(&plan->dialect, text, ends + nrows * n, n) == !part.is_ragged)
			nrows++;
		part.rows.nrows = nrows;
	}
	if (seeks_header && plan->sought.nbytes && !part.is_ragged && n + 1 >= rule->nfields)
		part_seek_header(&part, plan, text);
	return part;
}

/* Appends a range to the kept ones, or lengthens the last. */
static enum status keep_range(struct row_folder *f, struct row_range range)
{
	struct row_range *last = f->nkept > 0 ? &f->kept[f->nkept - 1] : NULL;

	if (last && last->end == range.begin && last->ndelimiters == 0) {
		last->end = range.end;
		last->ndelimiters = range.ndelimiters;
		return STATUS_OK;
	}
	TRY(ARRAY_GROW(f->kept, f->kept_capacity, f->nkept + 1));
	f->kept[f->nkept++] = range;
	return STATUS_OK;
}

/* Keeps a row of another number of fields than the first record's. */
static enum status keep_uneven(struct row_folder *f, unsigned row)
{
	const struct row_block *b = &f->block;
	struct row_record r = row_record_at(b->text, row_block_ends(b, row), b->stride, row_block_nfields(b),
					    f->plan->dialect.escape);

	TRY(keep_range(f, (struct row_range){r.begin, r.end, r.nlacking}));
	return keep_range(f, (struct row_range){r.line_end, r.next, 0});
}

enum status row_folder_keep(struct row_folder *f)
{
	const struct row_block *b = &f->block;
	bool is_even = b->stride == f->plan->ragged.nfields;
	enum status status = STATUS_OK;

	for (uint64_t rows = f->filter.kept; rows && status == STATUS_OK;) {
		unsigned first = (unsigned)__builtin_ctzll(rows);
		uint64_t behind = rows + (rows & -rows); /* without the first row's neighbours */
		unsigned last = behind ? (unsigned)__builtin_ctzll(behind) - 1
				       : ROW_BLOCK_NROWS - 1;
		if (is_even)
			status = keep_range(f, (struct row_range){row_block_ends(b, first)[-1] + 1,
								  row_block_ends(b, last)[b->stride - 1] + 1, 0});
		for (unsigned row = first; !is_even && row <= last && status == STATUS_OK; row++)
			status = keep_uneven(f, row);
		rows &= behind;
	}
	return status;
}
