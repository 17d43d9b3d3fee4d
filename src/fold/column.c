/* SPDX-License-Identifier: MIT
 *
 * column.c - folding fields into columns. See column.h.
 */
#include "fold/column.h"

#include <assert.h>
#include <inttypes.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/machine.h"
#include "fold/groups.h"
#include "fold/keys.h"
#include "fold/pair.h"
#include "fold/texts.h"
#include "fold/window.h"
#include "query/value.h"

/* The bytes of its arrays. */
static size_t partial_nbytes(const struct plan *plan)
{
	return plan->ncolumns * sizeof(struct column_partial) + plan->npairs * sizeof(struct pair) +
	       plan->nwindows * sizeof(struct window_fold) + plan->nlets * sizeof(struct bad_values) +
	       plan->npredicates * sizeof(uint64_t);
}

static_assert(alignof(struct column_partial) >= alignof(struct window_fold) &&
	      alignof(struct window_fold) >= alignof(struct pair) &&
	      alignof(struct pair) >= alignof(struct bad_values) &&
	      alignof(struct bad_values) >= alignof(uint64_t), "arrays are aligned one behind the other");

enum status partial_init(struct partial *p, const struct plan *plan)
{
	void *memory = calloc(1, partial_nbytes(plan) + 1);

	*p = (struct partial){.ncolumns = plan->ncolumns, .npredicates = plan->npredicates, .npairs = plan->npairs,
			      .nwindows = plan->nwindows, .nlets = plan->nlets};
	NEED(memory);
	/* Places the arrays one after the other: none needs more alignment than the one before. */
	p->columns = memory;
	p->windows = (struct window_fold *)(p->columns + p->ncolumns);
	p->pairs = (struct pair *)(p->windows + p->nwindows);
	p->computed = (struct bad_values *)(p->pairs + p->npairs);
	p->nmatched = (uint64_t *)(p->computed + p->nlets);
	for (size_t i = 0; i < p->nwindows; i++)
		p->windows[i].plan = &plan->windows[i];
	partial_clear(p);
	return STATUS_OK;
}

enum status partial_need(struct partial *p, const struct plan *plan)
{
	return p->columns ? STATUS_OK : partial_init(p, plan);
}

void column_free(struct column_partial *column)
{
	numbers_free(&column->numbers);
	moments_free(&column->moments);
}

void partial_free(struct partial *p)
{
	for (size_t c = 0; p->columns && c < p->ncolumns; c++)
		column_free(&p->columns[c]);
	for (size_t i = 0; p->windows && i < p->nwindows; i++)
		window_free(&p->windows[i]);
	for (size_t i = 0; p->computed && i < p->nlets; i++) {
		free(p->computed[i].first);
		free(p->computed[i].first_nul);
	}
	free(p->undecided);
	free(p->currencies);
	groups_free(p->groups);
	key_arena_free(&p->memory);
	free(p->columns); /* and all arrays after them */
	memset(p, 0, sizeof *p);
}

static void forget_offsets(struct column_partial *column)
{
	column->first_number_offset = column->first_invalid_offset = OFFSET_NONE;
	column->first_nul_offset = column->first_out_of_range_offset = OFFSET_NONE;
}

void column_clear(struct column_partial *column)
{
	numbers_free(&column->numbers);
	moments_clear(&column->moments);
	column->nmissing = column->ninvalid = column->nnuls = 0;
	column->kind = COLUMN_UNKNOWN;
	column->is_mixed = false;
	forget_offsets(column);
}

static void bad_value_forget(struct bad_value *kept)
{
	if (kept)
		kept->offset = OFFSET_NONE;
}

enum status bad_value_keep(struct bad_value **kept, size_t offset, enum status why, const char *text,
			   size_t nbytes)
{
	struct bad_value *v = *kept;

	if (v && v->offset <= offset)
		return STATUS_OK;
	if (!v)
		v = *kept = malloc(sizeof *v);
	NEED(v);
	text = decimal_trim(text, &nbytes);
	v->offset = offset;
	v->why = why == STATUS_NOT_A_NUMBER && memchr(text, '\0', nbytes) ? STATUS_NUL : why;
	v->nbytes = nbytes;
	memcpy(v->text, text, nbytes < sizeof v->text ? nbytes : sizeof v->text);
	return STATUS_OK;
}

void partial_clear(struct partial *p)
{
	for (size_t c = 0; c < p->ncolumns; c++)
		column_clear(&p->columns[c]);
	if (p->npairs)
		memset(p->pairs, 0, p->npairs * sizeof *p->pairs);
	key_arena_clear(&p->memory);
	for (size_t i = 0; i < p->nwindows; i++)
		window_clear(&p->windows[i]);
	for (size_t i = 0; i < p->npredicates; i++)
		p->nmatched[i] = 0;
	for (size_t i = 0; i < p->nlets; i++) {
		bad_value_forget(p->computed[i].first);
		bad_value_forget(p->computed[i].first_nul);
	}
	bad_value_forget(p->undecided);
	for (size_t c = 0; p->currencies && c < p->ncolumns; c++)
		p->currencies[c].first_offset = p->currencies[c].other_offset = OFFSET_NONE;
	if (p->groups)
		groups_clear(p->groups);
	p->nundecided = p->nkept = 0;
	p->first_undecided_offset = p->first_backward_offset = OFFSET_NONE;
	p->nrecords = p->nragged = p->nheaders = p->offset_bytes = 0;
	p->first_ragged_offset = p->first_header_offset = p->open_field_offset = OFFSET_NONE;
	p->first_stray_offset = OFFSET_NONE;
	p->head_ends = p->needs_entry = false;
	p->head_nbytes = p->tail_offset = 0;
}

enum column_kind column_kind(const struct column_partial *column)
{
	if (column->kind != COLUMN_UNKNOWN)
		return column->kind;
	if (column->first_number_offset < column->first_invalid_offset)
		return COLUMN_NUMBER;
	return column->first_invalid_offset != OFFSET_NONE ? COLUMN_TEXT : COLUMN_UNKNOWN;
}

enum status column_combine(struct column_partial *column, const struct column_partial *later)
{
	column->kind = column_kind(column);
	if (column->kind == COLUMN_UNKNOWN)
		column->kind = column_kind(later);
	column->nmissing += later->nmissing;
	column->ninvalid += later->ninvalid;
	column->nnuls += later->nnuls;
	column->is_mixed |= later->is_mixed;
	forget_offsets(column);
	TRY(numbers_combine(&column->numbers, &later->numbers));
	return moments_combine(&column->moments, &later->moments);
}

static enum status combine_groups(struct partial *p, const struct partial *later)
{
	if (!p->groups)
		p->groups = groups_new(later->groups->plan);
	return p->groups ? groups_combine(p->groups, later->groups) : STATUS_NO_MEMORY;
}

enum status partial_combine(struct partial *p, const struct partial *later)
{
	for (size_t c = 0; c < p->ncolumns; c++) {
		enum status status = column_combine(&p->columns[c], &later->columns[c]);
		p->full_column = c;
		TRY(status);
	}
	for (size_t i = 0; i < p->npairs; i++)
		NEED(pair_combine(&p->pairs[i], &later->pairs[i], &p->memory) == STATUS_OK);
	for (size_t i = 0; i < p->nwindows; i++)
		TRY(window_combine(&p->windows[i], &later->windows[i]));
	if (later->groups) {
		enum status status = combine_groups(p, later);
		TRY(status);
	}
	for (size_t i = 0; i < p->npredicates; i++)
		p->nmatched[i] += later->nmatched[i];
	p->nundecided += later->nundecided;
	p->nkept += later->nkept;
	p->first_undecided_offset = p->first_backward_offset = OFFSET_NONE;
	p->nrecords += later->nrecords;
	p->nragged += later->nragged;
	p->nheaders += later->nheaders;
	p->first_ragged_offset = p->first_header_offset = p->first_stray_offset = OFFSET_NONE;
	return STATUS_OK;
}

static enum status many_groups_fault(const struct plan *plan, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES];

	snprintf(words, sizeof words, "after %" PRIu64 " of them; all groups may have %" PRIu64 " bytes",
		 group_store_count(plan->groups), memory_limit_nbytes());
	fault_set(fault, STATUS_MANY_GROUPS, 0, words);
	snprintf(fault->remedy, sizeof fault->remedy,
		 "a larger --memory, or parts of the keys with --where");
	return fault->status;
}

enum status partial_fault(const struct partial *p, const struct plan *plan, enum status status,
			  struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES];
	const struct moment_cells *m;

	if (status != STATUS_MANY_KEYS)
		return status == STATUS_OK ? status : fault_set(fault, status, 0, NULL);
	if (plan->nkeys)
		return many_groups_fault(plan, fault);
	m = &p->columns[p->full_column].moments;
	snprintf(words, sizeof words, "%" PRIu64 " in the table of one thread; all tables may have %" PRIu64
		 " bytes",
		 keys_count(moments_cell(m, CELL_KEYS)) + keys_count(moments_cell(m, CELL_TEXT_KEYS)),
		 memory_limit_nbytes());
	fault_set(fault, status, 0, words);
	fault->column = plan->columns[p->full_column].name;
	snprintf(fault->remedy, sizeof fault->remedy,
		 "a larger --memory, --threads 1, or one column at a time");
	return status;
}

static void note_first(size_t *first, size_t offset)
{
	if (offset < *first)
		*first = offset;
}

enum status column_add_long(struct column_partial *column, unsigned needs, const struct exact *x)
{
	TRY(moments_add_long(&column->moments, needs, x));
	return numbers_add_sums(&column->numbers, &(struct number_sums){1, exact_kept_scale(x), *x, *x, *x});
}

/* Folds a number beyond the fast path. Errors: STATUS_NO_MEMORY; STATUS_NOT_A_NUMBER, STATUS_OUT_OF_RANGE. */
static enum status add_long_number(struct column_partial *column, unsigned needs, const struct value *v)
{
	struct integer room;
	struct exact x;

	if (v->kind != DECIMAL_WIDE)
		return STATUS_NOT_A_NUMBER;
	TRY(exact_parse(v->text, v->nbytes, &room, &x));
	return column_add_long(column, needs, &x);
}

static enum status add_fast_number(struct column_partial *column, unsigned needs, struct decimal x)
{
	uint8_t scale = (uint8_t)x.scale;

	TRY(numbers_add(&column->numbers, x));
	return moments_add(&column->moments, needs, &x.significand, &scale, 1);
}

enum status column_add_number(struct column_partial *column, unsigned needs, const struct value *v)
{
	enum status status = v->kind == DECIMAL_NUMBER ? add_fast_number(column, needs, v->number)
						       : add_long_number(column, needs, v);

	return status == STATUS_NO_MEMORY ? status : STATUS_OK;
}

/* Folds a value that is not missing and that the fast path does not hold: a wide number, or no number. */
static enum status add_other(struct column_partial *column, unsigned needs, const struct value *v,
			    size_t offset, enum status *why)
{
	enum status status = add_long_number(column, needs, v);

	if (status == STATUS_NO_MEMORY)
		return status;
	*why = status;
	column->ninvalid += status != STATUS_OK;
	if (status == STATUS_OUT_OF_RANGE)
		note_first(&column->first_out_of_range_offset, offset);
	note_first(status == STATUS_NOT_A_NUMBER ? &column->first_invalid_offset
						 : &column->first_number_offset, offset);
	return STATUS_OK;
}

void column_add_wrong(struct column_partial *column, enum status why, size_t offset)
{
	column->ninvalid++;
	column->nnuls++;
	note_first(&column->first_nul_offset, offset);
	if (why == STATUS_OUT_OF_RANGE) {
		note_first(&column->first_out_of_range_offset, offset);
		note_first(&column->first_number_offset, offset);
	} else {
		note_first(&column->first_invalid_offset, offset);
	}
}

/* Adds the field's value, a number or not, to the column's texts. */
static __attribute__((noinline)) enum status
add_text(const struct plan *plan, struct column_partial *column, const struct raw_field *field,
	 struct scratch *scratch)
{
	struct texts *texts = moments_need(&column->moments, CELL_TEXTS);
	struct value v;

	if (!texts || value_read(plan, field->how, field->text, field->nbytes, scratch, &v) != STATUS_OK)
		return STATUS_NO_MEMORY;
	if (v.kind == DECIMAL_MISSING || memchr(v.text, '\0', v.nbytes))
		return STATUS_OK;
	return texts_add(texts, v.text, v.nbytes);
}

/* Folds a value that is neither missing nor has a NUL. */
static enum status add_value(const struct plan_column *plan, struct column_partial *column,
			     const struct value *v, size_t offset, enum status *why)
{
	if (!plan->parses) {
		column->numbers.count++;
		return STATUS_OK;
	}
	if (v->kind != DECIMAL_NUMBER)
		return add_other(column, plan->needs, v, offset, why);
	note_first(&column->first_number_offset, offset);
	return add_fast_number(column, plan->needs, v->number);
}

/* The offset of a field's value: that of its first byte after quotes and blanks, as texts are noted (rows_fold.c). That of the
 * field if the value's text is not part of it. */
static size_t offset_of_value(const struct raw_field *field, size_t offset, const struct value *v)
{
	uintptr_t place = (uintptr_t)v->text - (uintptr_t)field->text;

	return place < field->nbytes ? offset + place : offset;
}

/* Adds a value's text to the column's keys. is_invalid: it is no number, where one must be. */
static enum status add_key(struct partial *p, size_t c, const struct plan_column *plan,
			   const struct value *v, bool is_invalid, size_t offset)
{
	struct keys *keys;

	if (is_invalid && !plan_column_keeps_text_keys(plan))
		return STATUS_OK;
	p->full_column = c;
	keys = moments_need(&p->columns[c].moments, is_invalid ? CELL_TEXT_KEYS : CELL_KEYS);
	NEED(keys);
	return keys_add(keys, keys_wanted_of(plan), v->text, v->nbytes, p->offset_bytes + offset);
}

enum status column_add_field(const struct plan *plan, struct partial *p, size_t c, const char *field,
			size_t nbytes, size_t offset, struct scratch *scratch)
{
	const struct raw_field raw = {field, nbytes, 0, NULL};
	enum status ignored;

	return column_add_computed(plan, p, c, &raw, offset, scratch, &ignored);
}

enum status column_add_computed(const struct plan *plan, struct partial *p, size_t c, const struct raw_field *field,
				size_t offset, struct scratch *scratch, enum status *why)
{
	struct column_partial *column = &p->columns[c];
	const struct plan_column *to = &plan->columns[c];
	struct value v;
	enum status status = STATUS_OK;

	*why = STATUS_OK;
	if (to->needs & MOMENT_TEXTS)
		status = add_text(plan, column, field, scratch);
	THEN(status, value_read(plan, field->how | (to->parses ? VALUE_AS_NUMBER : 0u), field->text,
				field->nbytes, scratch, &v));
	TRY(status);
	value_set_rounded(&v, to->parses ? field->rounded : NULL);
	if (v.kind == DECIMAL_MISSING) {
		column->nmissing++;
		return STATUS_OK;
	}
	if (v.kind == DECIMAL_INVALID && memchr(v.text, '\0', v.nbytes)) {
		column_add_wrong(column, STATUS_NUL, offset);
		*why = STATUS_NUL;
		return STATUS_OK;
	}
	status = add_value(to, column, &v, offset, why);
	if (status != STATUS_OK || !(to->needs & MOMENT_KEYS))
		return status;
	if (to->parses) /* v.text may be in another notation */
		v.text = field_value(&plan->dialect, field->text, field->nbytes, scratch, &v.nbytes);
	NEED(v.text);
	return add_key(p, c, to, &v, *why != STATUS_OK, offset_of_value(field, offset, &v));
}
