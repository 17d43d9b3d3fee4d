/* SPDX-License-Identifier: MIT
 *
 * let_block.c - see let_block.h.
 */
#include "fold/let_block.h"

#include <stdlib.h>
#include <string.h>

#include "fold/let_steps.h"
#include "query/value.h"
#include "simd/simd.h"

#define ROOM_NBYTES ((size_t)1 << 16) /* for fields, to begin with */
#define PAD_NBYTES (2 * SIMD_PAD_NBYTES)

static unsigned lowest(uint64_t rows)
{
	return (unsigned)__builtin_ctzll(rows);
}

/* ---- memory ---- */

static enum status column_init(struct let_column *column, const struct let *let)
{
	enum status status = STATUS_OK;

	column->let = let;
	column->conditions = calloc(let->nconditions + 1, sizeof *column->conditions);
	NEED(column->conditions);
	for (size_t i = 0; i < let->nconditions && status == STATUS_OK; i++)
		status = row_predicate_init(&column->conditions[i], &let->conditions[i].expr);
	return status;
}

enum status let_block_init(struct let_block *l, const struct plan *plan)
{
	enum status status = STATUS_OK;
	size_t depth = 0;

	memset(l, 0, sizeof *l);
	l->plan = plan;
	l->first = plan->ncolumns - plan->nlets;
	l->room_nbytes = ROOM_NBYTES;
	l->columns = calloc(plan->nlets + 1, sizeof *l->columns);
	l->spans = calloc(plan->ncolumns + 1, sizeof *l->spans);
	NEED(l->columns && l->spans);
	for (; l->nlets < plan->nlets && status == STATUS_OK; l->nlets++) {
		const struct let *let = plan->columns[l->first + l->nlets].let;
		status = column_init(&l->columns[l->nlets], let);
		depth += let->depth;
	}
	l->top = l->stack = calloc(depth + 1, sizeof *l->stack);
	return l->stack ? status : STATUS_NO_MEMORY;
}

static void column_free(struct let_column *column)
{
	for (size_t i = 0; column->conditions && i < column->let->nconditions; i++)
		row_predicate_free(&column->conditions[i], &column->let->conditions[i].expr);
	free(column->conditions);
}

void let_block_free(struct let_block *l)
{
	for (size_t i = 0; i < l->nlets; i++)
		column_free(&l->columns[i]);
	free(l->columns);
	free(l->stack);
	free(l->spans);
	free(l->scratch.data);
	free(l->memory);
	memset(l, 0, sizeof *l);
}

static size_t literals_nbytes(const struct let_block *l)
{
	size_t nbytes = 0;

	for (size_t i = 0; i < l->nlets; i++)
		nbytes += l->columns[i].let->request.expr.nliteral_bytes;
	return nbytes;
}

/* Makes room for a text of nbytes, literals, and fields. */
static enum status reserve(struct let_block *l, size_t nbytes)
{
	size_t needed = nbytes + SIMD_PAD_NBYTES + literals_nbytes(l) + l->room_nbytes;
	char *memory;

	if (needed > UINT32_MAX)
		return STATUS_NO_MEMORY;
	if (needed <= l->capacity)
		return STATUS_OK;
	memory = malloc(needed + 2 * PAD_NBYTES);
	NEED(memory);
	memset(memory, 0, PAD_NBYTES);
	free(l->memory);
	l->memory = memory;
	l->data = memory + PAD_NBYTES;
	l->capacity = needed;
	return STATUS_OK;
}

enum status let_block_begin(struct let_block *l, const char *text, size_t nbytes)
{
	TRY(reserve(l, nbytes));
	memcpy(l->data, text, nbytes + SIMD_PAD_NBYTES);
	l->text_nbytes = nbytes;
	l->nbytes = nbytes + SIMD_PAD_NBYTES;
	for (size_t i = 0; i < l->nlets; i++) {
		const struct expr *e = &l->columns[i].let->request.expr;
		l->columns[i].literals_offset = (uint32_t)l->nbytes;
		memcpy(l->data + l->nbytes, e->literals, e->nliteral_bytes);
		l->nbytes += e->nliteral_bytes;
	}
	l->is_full = false;
	l->status = STATUS_OK;
	return STATUS_OK;
}

void let_block_widen(struct let_block *l)
{
	l->room_nbytes *= 4;
}

void let_block_forget(struct let_block *l)
{
	for (size_t i = 0; i < l->nlets; i++)
		l->columns[i].is_computed = false;
}

/* ---- steps ---- */

static struct let_values *compute(struct row_block *b, size_t c);

/* The column's fields, whether or not they are numbers. */
static void load_fields(struct let_run *r, size_t c, struct let_values *to, uint64_t rows)
{
	for (; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		struct field_span span = row_block_field(r->b, c, row);
		to->begin[row] = (uint32_t)span.begin;
		to->end[row] = (uint32_t)span.end;
		to->fields |= rows & -rows;
	}
}

static void load(struct let_run *r, const struct let_step *step, struct let_values *to)
{
	size_t c = r->column->let->request.expr.columns[step->index];
	const struct simd_numbers *x;

	to->numbers = to->fields = to->rounded = to->wrong = 0;
	if (r->l->plan->columns[c].let) {
		const struct let_values *from = compute(r->b, c);
		to->wrong = from->wrong & r->rows;
		to->rounded = from->rounded & r->rows;
		memcpy(to->why, from->why, sizeof to->why);
	}
	if (step->load != LET_LOAD_TEXT) {
		x = row_block_numbers(r->b, c);
		to->numbers = x->numbers & r->rows;
		memcpy(to->significand, x->significand, sizeof to->significand);
		memcpy(to->scale, x->scale, sizeof to->scale);
	}
	load_fields(r, c, to, step->load == LET_LOAD_NUMBER ? r->rows & ~to->numbers : r->rows);
}

static void load_literal(struct let_run *r, const struct let_step *step, struct let_values *to)
{
	uint32_t begin = r->column->literals_offset + step->literal_begin;

	to->wrong = 0;
	to->numbers = step->code == LET_NUMBER ? r->rows : 0;
	to->fields = step->code == LET_NUMBER ? 0 : r->rows;
	to->rounded = 0;
	for (unsigned row = 0; row < ROW_BLOCK_NROWS; row++) {
		to->significand[row] = step->number.significand;
		to->scale[row] = (uint8_t)step->number.scale;
		to->begin[row] = begin;
		to->end[row] = begin + step->literal_nbytes;
	}
}

/* Makes the values of some rows those of another column. */
static void take_rows(struct let_values *to, const struct let_values *from, uint64_t rows)
{
	to->numbers = (to->numbers & ~rows) | (from->numbers & rows);
	to->fields = (to->fields & ~rows) | (from->fields & rows);
	to->rounded = (to->rounded & ~rows) | (from->rounded & rows);
	to->wrong = (to->wrong & ~rows) | (from->wrong & rows);
	for (; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		to->significand[row] = from->significand[row];
		to->scale[row] = from->scale[row];
		to->begin[row] = from->begin[row];
		to->end[row] = from->end[row];
		to->why[row] = from->why[row];
	}
}

/* The rows whose value is missing. */
static uint64_t missing_rows(struct let_run *r, struct let_values *v)
{
	uint64_t missing = 0;
	const char *text;
	size_t nbytes;

	for (uint64_t rows = r->rows & ~v->numbers & ~v->wrong; rows; rows &= rows - 1)
		if (!let_read_text(r, v, lowest(rows), &text, &nbytes))
			missing |= rows & -rows;
	return missing;
}

/* Evaluates a condition of if(): takes b's rows where it does not hold. */
static void choose(struct let_run *r, uint32_t condition, struct let_values *a,
		   const struct let_values *b)
{
	const struct expr *e = &r->column->let->conditions[condition].expr;
	struct row_verdict verdict = {.culprits = r->column->culprits};

	if (row_predicate_block(&r->column->conditions[condition], e, r->b, r->l->spans, r->rows,
				&verdict) != STATUS_OK)
		r->l->status = STATUS_NO_MEMORY;
	r->column->undecided |= verdict.undecided;
	take_rows(a, b, r->rows & ~verdict.holds);
}

/* Does a step with the values on top of the stack; returns the new top. Columns that are computed
 * meanwhile use the stack above. */
static struct let_values *step_once(struct let_run *r, const struct let_step *step,
				    struct let_values *top)
{
	enum let_code code = (enum let_code)step->code;

	r->l->top = top;
	switch (code) {
	case LET_LOAD:
		load(r, step, top);
		return top + 1;
	case LET_NUMBER:
	case LET_LITERAL:
		load_literal(r, step, top);
		return top + 1;
	case LET_NEGATE:
	case LET_ABS:
	case LET_ROUND:
		let_step_unary(r, code, top - 1, (int)step->index);
		return top;
	case LET_LOWER:
	case LET_UPPER:
	case LET_LENGTH:
	case LET_EPOCH:
		let_step_text(r, code, top - 1);
		return top;
	case LET_COALESCE:
		take_rows(top - 2, top - 1, missing_rows(r, top - 2));
		return top - 1;
	case LET_IF:
		choose(r, step->index, top - 2, top - 1);
		return top - 1;
	default:
		let_step_binary(r, code, top - 2, top - 1);
		return top - 1;
	}
}

/* Computes column c for the block, if it is not. */
static struct let_values *compute(struct row_block *b, size_t c)
{
	struct let_block *l = b->lets;
	struct let_column *column = &l->columns[c - l->first];
	struct let_run r = {l, b, column, row_block_all(b)};
	struct let_values *bottom = l->top, *top = bottom;

	if (column->is_computed)
		return &column->values;
	column->is_computed = true;
	column->undecided = 0;
	for (size_t i = 0; i < column->let->nsteps; i++)
		top = step_once(&r, &column->let->steps[i], top);
	column->values = *bottom;
	l->top = bottom;
	return &column->values;
}

/* ---- as columns ---- */

const struct simd_numbers *let_block_numbers(struct row_block *b, size_t c)
{
	struct let_values *v = compute(b, c);
	struct simd_numbers *x = &b->numbers[c];

	x->numbers = v->numbers;
	x->empty = 0;
	for (uint64_t rows = v->fields & ~v->numbers; rows; rows &= rows - 1)
		if (v->begin[lowest(rows)] == v->end[lowest(rows)])
			x->empty |= rows & -rows;
	memcpy(x->significand, v->significand, sizeof x->significand);
	memcpy(x->scale, v->scale, sizeof x->scale);
	b->has_numbers[c] = true;
	return x;
}

struct field_span let_block_field(const struct row_block *b, size_t c, unsigned row)
{
	struct let_values *v = compute((struct row_block *)(uintptr_t)b, c);

	if (!(v->fields >> row & 1))
		let_number_to_field(b->lets, v, row);
	return (struct field_span){v->begin[row], v->end[row]};
}

const char *let_block_rounded(const struct row_block *b, size_t c, unsigned row)
{
	struct let_values *v;

	if (!b->plan->columns[c].let)
		return NULL;
	v = compute((struct row_block *)(uintptr_t)b, c);
	return v->rounded >> row & 1 ? b->lets->data + v->end[row] : NULL;
}

uint64_t let_block_wrong(struct row_block *b, size_t c)
{
	return compute(b, c)->wrong;
}

enum status let_block_why(const struct row_block *b, size_t c, unsigned row)
{
	struct let_values *v = compute((struct row_block *)(uintptr_t)b, c);

	return v->wrong >> row & 1 ? (enum status)v->why[row] : STATUS_OK;
}

void let_block_undecided(struct row_block *b, uint64_t *undecided, struct row_culprit *culprit)
{
	struct let_block *l = b->lets;

	for (size_t i = 0; i < l->nlets; i++) {
		struct let_column *column = &l->columns[i];
		if (column->let->nconditions == 0)
			continue;
		compute(b, l->first + i);
		if (column->undecided && (*undecided == 0 ||
					  lowest(column->undecided) < lowest(*undecided)))
			*culprit = column->culprits[lowest(column->undecided)];
		*undecided |= column->undecided;
	}
}
