/* SPDX-License-Identifier: MIT
 *
 * let_text.c - texts of computed columns. See let_steps.h.
 */
#include "fold/let_steps.h"

#include <string.h>

#include "number/decimal_text.h"
#include "number/iso_date.h"
#include "query/value.h"

/* ---- fields ---- */

/* Room for nbytes after the fields that were made before. NULL if they do not fit. */
static char *make_room(struct let_block *l, size_t nbytes)
{
	if (l->capacity - l->nbytes >= nbytes)
		return l->data + l->nbytes;
	l->is_full = true;
	return NULL;
}

void let_set_field(struct let_run *r, struct let_values *v, unsigned row, const char *text,
		   size_t nbytes)
{
	struct let_block *l = r->l;
	char *to = make_room(l, nbytes);

	let_set_missing(r, v, row);
	if (!to)
		return;
	memcpy(to, text, nbytes);
	v->begin[row] = (uint32_t)l->nbytes;
	l->nbytes += nbytes;
	v->end[row] = (uint32_t)l->nbytes;
}

/* Writes a number as a raw field of the input. Returns its length. */
static size_t write_number(const struct plan *plan, struct decimal x, char *to)
{
	char *text = to + 1, *point;
	size_t nbytes = decimal_format(x.significand, x.scale, text);

	point = plan->notation.decimal == '.' ? NULL : memchr(text, '.', nbytes);
	if (point)
		*point = plan->notation.decimal;
	if (!memchr(text, plan->dialect.delimiter, nbytes)) {
		memmove(to, text, nbytes);
		return nbytes;
	}
	to[0] = text[nbytes] = plan->dialect.quote;
	return nbytes + 2;
}

void let_number_to_field(struct let_block *l, struct let_values *v, unsigned row)
{
	char *to = make_room(l, DECIMAL_TEXT_NBYTES);

	v->fields |= UINT64_C(1) << row;
	v->begin[row] = v->end[row] = 0;
	if (!to)
		return;
	v->begin[row] = (uint32_t)l->nbytes;
	l->nbytes += write_number(l->plan,
				  (struct decimal){v->significand[row], v->scale[row]}, to);
	v->end[row] = (uint32_t)l->nbytes;
}

bool let_read_text(struct let_run *r, struct let_values *v, unsigned row, const char **text,
		   size_t *nbytes)
{
	struct let_block *l = r->l;

	if (!(v->fields >> row & 1))
		let_number_to_field(l, v, row);
	*text = field_value(&l->plan->dialect, l->data + v->begin[row], v->end[row] - v->begin[row],
			    &l->scratch, nbytes);
	if (!*text)
		l->status = STATUS_NO_MEMORY;
	return *text && !value_is_missing(l->plan, let_block_how(l, v->begin[row]), *text, *nbytes);
}

/* ---- steps ---- */

static char changed_case(enum let_code code, char c)
{
	if (code == LET_LOWER)
		return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Changes the letters of a raw field, whose quotes stay. */
static void change_case(struct let_run *r, enum let_code code, struct let_values *v, unsigned row)
{
	struct let_block *l = r->l;
	uint32_t begin = v->begin[row], nbytes = v->end[row] - begin;
	char *to = make_room(l, nbytes);

	if (!to)
		return;
	for (uint32_t i = 0; i < nbytes; i++)
		to[i] = changed_case(code, l->data[begin + i]);
	v->begin[row] = (uint32_t)l->nbytes;
	l->nbytes += nbytes;
	v->end[row] = (uint32_t)l->nbytes;
	v->numbers &= ~(UINT64_C(1) << row);
	v->rounded &= ~(UINT64_C(1) << row);
}

static void set_length(struct let_run *r, struct let_values *v, unsigned row, const char *text,
		       size_t nbytes)
{
	uint64_t bit = UINT64_C(1) << row;
	int64_t ncharacters = 0;

	(void)r;
	for (size_t i = 0; i < nbytes; i++)
		ncharacters += (text[i] & 0xc0) != 0x80; /* a byte that continues none */
	v->significand[row] = ncharacters;
	v->scale[row] = 0;
	v->numbers |= bit;
	v->fields &= ~bit;
	v->rounded &= ~bit;
}

static void set_epoch(struct let_run *r, struct let_values *v, unsigned row, const char *text,
		      size_t nbytes)
{
	char digits[64] = "0.";
	size_t fraction, nfraction;
	struct big_decimal x, part;
	int64_t seconds;

	text = decimal_trim(text, &nbytes);
	if (!iso_date_epoch(text, nbytes, &seconds, &fraction, &nfraction)) {
		if (!(v->fields >> row & 1))
			let_number_to_field(r->l, v, row);
		let_set_wrong(v, row, STATUS_NOT_A_DATE);
		return;
	}
	if (nfraction > sizeof digits - 2)
		nfraction = sizeof digits - 2;
	memcpy(digits + 2, text + fraction, nfraction);
	big_decimal_set(&x, (struct decimal){seconds, 0});
	big_decimal_parse(digits, 2 + nfraction, &part);
	big_decimal_add(&x, &part);
	let_set_big(r, v, row, &x);
}

void let_step_text(struct let_run *r, enum let_code code, struct let_values *x)
{
	for (uint64_t rows = r->rows & ~x->wrong; rows; rows &= rows - 1) {
		unsigned row = (unsigned)__builtin_ctzll(rows);
		const char *text;
		size_t nbytes;
		if (!let_read_text(r, x, row, &text, &nbytes))
			let_set_missing(r, x, row);
		else if (code == LET_LENGTH)
			set_length(r, x, row, text, nbytes);
		else if (code == LET_EPOCH)
			set_epoch(r, x, row, text, nbytes);
		else
			change_case(r, code, x, row);
	}
}
