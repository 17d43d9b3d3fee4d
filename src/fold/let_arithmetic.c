/* SPDX-License-Identifier: MIT
 *
 * let_arithmetic.c - numbers of computed columns. See let_steps.h.
 *
 * A value that is no number makes the result a wrong value with that very field, which has the place of the fault.
 */
#include "fold/let_steps.h"

#include <stdio.h>
#include <string.h>

#include "number/decimal_arithmetic.h"
#include "query/value.h"

static unsigned lowest(uint64_t rows)
{
	return (unsigned)__builtin_ctzll(rows);
}

/* ---- results ---- */

static void set_number(struct let_values *v, unsigned row, struct decimal x)
{
	uint64_t bit = UINT64_C(1) << row;

	v->numbers |= bit;
	v->fields &= ~bit;
	v->rounded &= ~bit;
	v->wrong &= ~bit;
	v->significand[row] = x.significand;
	v->scale[row] = (uint8_t)x.scale;
}

void let_set_missing(struct let_run *r, struct let_values *v, unsigned row)
{
	uint64_t bit = UINT64_C(1) << row;

	v->numbers &= ~bit;
	v->fields |= bit;
	v->rounded &= ~bit;
	v->wrong &= ~bit;
	v->begin[row] = v->end[row] = row_block_ends(r->b, row)[-1] + 1;
}

void let_set_wrong(struct let_values *v, unsigned row, enum status why)
{
	uint64_t bit = UINT64_C(1) << row;

	v->numbers &= ~bit;
	v->rounded &= ~bit;
	v->wrong |= bit;
	v->why[row] = (uint8_t)why;
}

/* A number that no field may hold: shown by its first digits. */
static void set_out_of_range(struct let_run *r, struct let_values *v, unsigned row,
			     const struct big_decimal *x)
{
	char digits[INTEGER_NDIGITS], text[64];
	int ndigits = integer_digits(&x->n, digits), n = ndigits ? (ndigits - 1) % 9 + 1 : 0;

	while (n > 1 && digits[n - 1] == '0')
		n--;
	snprintf(text, sizeof text, "%s%.*se%d", x->n.negative ? "-" : "", n ? n : 1, n ? digits : "0", ndigits - n - x->scale);
	let_set_field(r, v, row, text, strlen(text));
	let_set_wrong(v, row, STATUS_OUT_OF_RANGE);
}

/* Writes the plain decimal text[1 .. nbytes] in the input's notation, with quotes if it needs them, for which
 * there is room on both sides. Returns its begin, and its length at *nbytes. */
static char *to_notation(const struct plan *plan, char *text, size_t *nbytes)
{
	char *point = memchr(text + 1, '.', *nbytes);

	if (point)
		*point = plan->notation.decimal;
	if (!memchr(text + 1, plan->dialect.delimiter, *nbytes))
		return text + 1;
	text[0] = text[*nbytes + 1] = plan->dialect.quote;
	*nbytes += 2;
	return text;
}

/* A number beyond the fast path: its digits, in the input's notation. */
static void set_long(struct let_run *r, struct let_values *v, unsigned row,
		     const struct big_decimal *x)
{
	char text[BIG_DECIMAL_TEXT_NBYTES + 2];
	size_t nbytes = big_decimal_format(x, text + 1);
	const char *field = to_notation(r->l->plan, text, &nbytes);

	let_set_field(r, v, row, field, nbytes);
}

void let_set_quotient(struct let_run *r, struct let_values *v, unsigned row, const struct quotient *q)
{
	char text[BIG_DECIMAL_QUOTIENT_NBYTES + QUOTIENT_TEXT_NBYTES];
	size_t nbytes = quotient_format(q, text + 1), number_nbytes;
	char *field = to_notation(r->l->plan, text, &nbytes);

	number_nbytes = quotient_write(q, field + nbytes) + 1;
	let_set_field(r, v, row, field, nbytes + number_nbytes);
	if (r->l->is_full)
		return;
	v->end[row] -= (uint32_t)number_nbytes;
	v->rounded |= UINT64_C(1) << row;
}

void let_set_big(struct let_run *r, struct let_values *v, unsigned row, const struct big_decimal *x)
{
	struct quotient quotient;
	struct decimal d;

	if (x->is_rounded && big_decimal_is_in_range(x)) {
		big_decimal_to_quotient(x, &quotient);
		let_set_quotient(r, v, row, &quotient);
	} else if (!x->is_rounded && big_decimal_to_decimal(x, &d))
		set_number(v, row, d);
	else if (big_decimal_is_in_range(x))
		set_long(r, v, row, x);
	else
		set_out_of_range(r, v, row, x);
}

/* ---- operands ---- */

enum operand { OPERAND_NUMBER, OPERAND_MISSING, OPERAND_INVALID };

/* Reads a row's value, exactly. OPERAND_INVALID: it is wrong, or becomes so. */
static enum operand read_big(struct let_run *r, struct let_values *v, unsigned row, struct big_decimal *x)
{
	struct value value;
	enum status status = STATUS_NOT_A_NUMBER;

	if (v->numbers >> row & 1) {
		big_decimal_set(x, (struct decimal){v->significand[row], v->scale[row]});
		return OPERAND_NUMBER;
	}
	if (v->rounded >> row & 1) {
		const char *text = r->l->data + v->end[row];
		big_decimal_parse(text, strlen(text), x);
		return OPERAND_NUMBER;
	}
	if (v->wrong >> row & 1)
		return OPERAND_INVALID;
	if (v->begin[row] == v->end[row])
		return OPERAND_MISSING;
	if (value_read(r->l->plan, VALUE_AS_NUMBER | let_block_how(r->l, v->begin[row]), r->l->data + v->begin[row],
		       v->end[row] - v->begin[row], &r->l->scratch, &value) != STATUS_OK) {
		r->l->status = STATUS_NO_MEMORY;
		return OPERAND_MISSING;
	}
	if (value.kind == DECIMAL_MISSING)
		return OPERAND_MISSING;
	if (value.kind != DECIMAL_INVALID)
		status = big_decimal_parse(value.text, value.nbytes, x);
	if (status == STATUS_OK)
		return OPERAND_NUMBER;
	let_set_wrong(v, row, status);
	return OPERAND_INVALID;
}

/* ---- two operands ---- */

static void divide_row(struct let_run *r, struct let_values *v, unsigned row,
		       const struct big_decimal *a, const struct big_decimal *b)
{
	char text[BIG_DECIMAL_QUOTIENT_NBYTES + 2], *field;
	struct big_decimal quotient;
	size_t nbytes;

	if (integer_is_zero(&b->n)) {
		let_set_missing(r, v, row);
		return;
	}
	if (big_decimal_quotient(&quotient, a, b)) {
		let_set_big(r, v, row, &quotient);
		return;
	}
	nbytes = big_decimal_divide(a, b, text + 1);
	field = to_notation(r->l->plan, text, &nbytes);
	let_set_field(r, v, row, field, nbytes);
	let_set_wrong(v, row, STATUS_OUT_OF_RANGE);
}

/* Sets the lesser or greater of two numbers, of equal ones the first. */
static void choose_row(struct let_run *r, struct let_values *v, unsigned row, bool least,
		       struct big_decimal *a, struct big_decimal *b)
{
	int a_scale = a->scale, b_scale = b->scale, order = big_decimal_compare(a, b);
	bool is_a = least ? order <= 0 : order >= 0;

	big_decimal_round(is_a ? a : b, is_a ? a_scale : b_scale); /* which comparing has raised */
	let_set_big(r, v, row, is_a ? a : b);
}

static void combine_numbers(struct let_run *r, enum let_code code, struct let_values *v, unsigned row,
			    struct big_decimal *a, struct big_decimal *b)
{
	struct big_decimal product;

	switch (code) {
	case LET_DIVIDE:
		divide_row(r, v, row, a, b);
		break;
	case LET_MULTIPLY:
		big_decimal_multiply(&product, a, b);
		let_set_big(r, v, row, &product);
		break;
	case LET_MIN:
	case LET_MAX:
		choose_row(r, v, row, code == LET_MIN, a, b);
		break;
	default:
		b->n.negative ^= code == LET_SUBTRACT;
		big_decimal_add(a, b);
		let_set_big(r, v, row, a);
	}
}

/* Combines the values of a row that the loops below cannot. */
static void combine_row(struct let_run *r, enum let_code code, struct let_values *a, struct let_values *b,
			unsigned row)
{
	struct big_decimal x, y;
	enum operand left = read_big(r, a, row, &x), right = read_big(r, b, row, &y);

	if (left == OPERAND_MISSING || right == OPERAND_MISSING) {
		let_set_missing(r, a, row);
	} else if (left == OPERAND_INVALID) {
		return; /* the field stays */
	} else if (right == OPERAND_INVALID) {
		a->fields |= UINT64_C(1) << row;
		a->begin[row] = b->begin[row];
		a->end[row] = b->end[row];
		let_set_wrong(a, row, (enum status)b->why[row]);
	} else {
		combine_numbers(r, code, a, row, &x, &y);
	}
}

static struct decimal number_at(const struct let_values *v, unsigned row)
{
	return (struct decimal){v->significand[row], v->scale[row]};
}

/* Multiplies, adds or subtracts numbers; returns the rows whose result fits. Inline, so that each code has a loop
 * of its own. */
static inline __attribute__((always_inline)) uint64_t calculate(enum let_code code, struct let_values *a,
							       const struct let_values *b, uint64_t rows)
{
	uint64_t fit = 0;

	for (; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		struct decimal x = number_at(a, row), y = number_at(b, row), out;
		bool fits = code == LET_MULTIPLY ? decimal_multiply(x, y, &out)
						 : decimal_add(x, code == LET_SUBTRACT ? decimal_negate(y) : y,
							       &out);
		if (!fits)
			continue;
		a->significand[row] = out.significand;
		a->scale[row] = (uint8_t)out.scale;
		fit |= rows & -rows;
	}
	return fit;
}

/* Divides numbers; returns the rows that are done. */
static uint64_t divide(struct let_run *r, struct let_values *a, const struct let_values *b, uint64_t rows)
{
	uint64_t done = 0;

	for (; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		struct quotient q;
		if (b->significand[row] == 0)
			continue;
		quotient_divide(&q, number_at(a, row), number_at(b, row));
		if (q.is_rounded) {
			let_set_quotient(r, a, row, &q);
		} else if (q.scale >= 0 && q.scale < DECIMAL_NSCALES &&
			   q.magnitude < (uint128)decimal_shift(1, DECIMAL_NDIGITS)) {
			int64_t significand = (int64_t)q.magnitude;
			set_number(a, row, (struct decimal){q.negative ? -significand : significand, q.scale});
		} else {
			continue;
		}
		done |= rows & -rows;
	}
	return done;
}

/* Takes the lesser or greater numbers; returns the rows that could be compared. */
static uint64_t choose(struct let_values *a, const struct let_values *b, uint64_t rows, bool least)
{
	for (uint64_t left = rows; left; left &= left - 1) {
		unsigned row = lowest(left);
		int order = decimal_compare(number_at(a, row), number_at(b, row));
		if (least ? order <= 0 : order >= 0)
			continue;
		a->significand[row] = b->significand[row];
		a->scale[row] = b->scale[row];
	}
	return rows;
}

void let_step_binary(struct let_run *r, enum let_code code, struct let_values *a,
		     struct let_values *b)
{
	uint64_t both = r->rows & a->numbers & b->numbers, done = 0;

	if (code == LET_MULTIPLY)
		done = calculate(LET_MULTIPLY, a, b, both);
	else if (code == LET_ADD || code == LET_SUBTRACT)
		done = calculate(code, a, b, both);
	else if (code == LET_MIN || code == LET_MAX)
		done = choose(a, b, both, code == LET_MIN);
	a->fields &= ~done;
	if (code == LET_DIVIDE)
		done = divide(r, a, b, both);
	for (uint64_t rows = r->rows & ~done; rows; rows &= rows - 1)
		combine_row(r, code, a, b, lowest(rows));
}

/* ---- one operand ---- */

static void unary_row(struct let_run *r, enum let_code code, struct let_values *v, unsigned row,
		      int nplaces)
{
	struct big_decimal x;
	enum operand is = read_big(r, v, row, &x);

	if (is == OPERAND_MISSING)
		let_set_missing(r, v, row);
	if (is != OPERAND_NUMBER)
		return;
	if (code == LET_NEGATE)
		x.n.negative = !x.n.negative;
	else if (code == LET_ABS)
		x.n.negative = false;
	else if (x.is_rounded)
		big_decimal_trust(&x, nplaces);
	else
		big_decimal_round(&x, nplaces);
	let_set_big(r, v, row, &x);
}

void let_step_unary(struct let_run *r, enum let_code code, struct let_values *x, int nplaces)
{
	uint64_t done = r->rows & x->numbers;

	for (uint64_t rows = done; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		struct decimal d = number_at(x, row);
		if (code == LET_ROUND)
			d = decimal_round(d, nplaces);
		else if (code == LET_NEGATE || d.significand < 0)
			d = decimal_negate(d);
		x->significand[row] = d.significand;
		x->scale[row] = (uint8_t)d.scale;
	}
	x->fields &= ~done;
	for (uint64_t rows = r->rows & ~done; rows; rows &= rows - 1)
		unary_row(r, code, x, lowest(rows), nplaces);
}
