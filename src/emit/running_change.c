/* SPDX-License-Identifier: MIT
 *
 * running_change.c - see running_change.h.
 */
#include "emit/running_change.h"

#include <stdlib.h>
#include <string.h>

#include "number/big_decimal.h"
#include "number/decimal_text.h"

void running_change_free(struct running_change *r)
{
	free(r->text);
	memset(r, 0, sizeof *r);
}

/* Makes a number's text the value before. */
static enum status keep_text(struct running_change *r, const char *text, size_t nbytes)
{
	if (nbytes > r->capacity) {
		char *grown = realloc(r->text, nbytes);
		if (!grown)
			return STATUS_NO_MEMORY;
		r->text = grown;
		r->capacity = nbytes;
	}
	memcpy(r->text, text, nbytes);
	r->nbytes = nbytes;
	r->is_long = true;
	return STATUS_OK;
}

enum status running_change_begin(struct running_change *r, enum new_column_kind kind,
				 const struct column_partial *before)
{
	const struct ends *ends = moments_cell(&before->moments, CELL_ENDS);
	size_t nbytes = 0;
	const char *text = ends ? ends_last_number(ends, &nbytes) : NULL;

	r->kind = kind;
	r->is_set = text != NULL;
	return text ? keep_text(r, text, nbytes) : STATUS_OK;
}

static void read_last(const struct running_change *r, struct big_decimal *x)
{
	if (r->is_long)
		big_decimal_parse(r->text, r->nbytes, x); /* it is a number */
	else
		big_decimal_set(x, r->last);
}

/* now less the value before, if both have up to 18 digits and the same scale. */
static char *write_short(const struct running_change *r, struct decimal now, char *to)
{
	return decimal_write(to, (int128)now.significand - r->last.significand, now.scale);
}

/* now / last: of rounded ones the digits that are right, as --let has them; one beyond the range is not rounded so. */
static char *write_ratio(const struct big_decimal *now, const struct big_decimal *last, char *to)
{
	struct big_decimal ratio;

	if (last->n.nlimbs == 0)
		return to;
	if ((now->is_rounded || last->is_rounded) && big_decimal_quotient(&ratio, now, last))
		return to + big_decimal_format(&ratio, to);
	return to + big_decimal_divide(now, last, to);
}

static char *write_long(const struct running_change *r, struct big_decimal *now, char *to)
{
	struct big_decimal last;

	read_last(r, &last);
	if (r->kind == NEW_RATIO)
		return write_ratio(now, &last, to);
	last.negative = !last.negative;
	big_decimal_add(now, &last);
	return to + big_decimal_format(now, to);
}

char *running_change_write(struct running_change *r, const struct value *v, char *to)
{
	struct big_decimal now;
	enum status status = STATUS_OK;

	if (v->kind == DECIMAL_NUMBER && r->is_set && !r->is_long && r->kind == NEW_DELTA &&
	    v->number.scale == r->last.scale) {
		to = write_short(r, v->number, to);
	} else if (v->kind == DECIMAL_NUMBER || v->kind == DECIMAL_WIDE) {
		if (v->kind == DECIMAL_NUMBER)
			big_decimal_set(&now, v->number);
		else if (big_decimal_parse(v->text, v->nbytes, &now) != STATUS_OK)
			return to; /* beyond the range: it was left out */
		if (r->is_set)
			to = write_long(r, &now, to);
	} else {
		return to;
	}
	r->is_set = true;
	r->is_long = false;
	r->last = v->number;
	if (v->kind == DECIMAL_WIDE)
		status = keep_text(r, v->text, v->nbytes);
	return status == STATUS_OK ? to : NULL;
}
