/* SPDX-License-Identifier: MIT
 *
 * moment_ends.c - the first and the last value of a column, in the order of the input. See moment.h.
 *
 * A value is kept as text, because a column may be one of text. Numbers by themselves do not tell
 * which comes first: those that are quoted or beyond the fast path are added after the others of
 * their block. So nothing is added here; whoever folds rows offers their values from both ends
 * (fold/rows_fold.c).
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "fold/moment.h"
#include "fold/partial_text.h"

/* Zeroed: none. */
struct end_value {
	bool is_set, is_number;
	uint64_t place;           /* offset in the input, in bytes: the least is the first */
	struct text_buffer text;  /* as it is spelled, without its quotes; a number without blanks around it */
	struct text_buffer plain; /* of a number: in decimal.h's syntax */
};

struct ends {
	struct end_value value[NENDS];
};

static void ends_clear(void *cell)
{
	struct ends *e = cell;

	for (int i = 0; i < NENDS; i++)
		e->value[i].is_set = false;
}

static void ends_free(void *cell)
{
	struct ends *e = cell;

	for (int i = 0; i < NENDS; i++) {
		text_free(&e->value[i].text);
		text_free(&e->value[i].plain);
	}
}

static enum status set_text(struct text_buffer *to, const char *text, size_t nbytes)
{
	to->nbytes = 0;
	TRY(text_reserve(to, nbytes + 1));
	memcpy(to->data, text, nbytes);
	to->data[nbytes] = '\0';
	to->nbytes = nbytes;
	return STATUS_OK;
}

static enum status copy_value(struct end_value *to, const struct end_value *from)
{
	to->is_set = true;
	to->is_number = from->is_number;
	to->place = from->place;
	if (set_text(&to->text, from->text.data, from->text.nbytes) != STATUS_OK)
		return STATUS_NO_MEMORY;
	return from->is_number ? set_text(&to->plain, from->plain.data, from->plain.nbytes)
			       : STATUS_OK;
}

/* Whether a value at a place takes the end's: where both have one place, the first is the earlier operand's and the last
 * the later one's. */
static bool end_gives_way(const struct end_value *v, enum end end, uint64_t place)
{
	if (!v->is_set)
		return true;
	return end <= END_FIRST_NUMBER ? place < v->place : place >= v->place;
}

static enum status ends_combine(void *cell, void *later_cell)
{
	struct ends *e = cell;
	const struct ends *later = later_cell;

	for (int i = 0; i < NENDS; i++)
		if (later->value[i].is_set && end_gives_way(&e->value[i], (enum end)i, later->value[i].place))
			TRY(copy_value(&e->value[i], &later->value[i]));
	return STATUS_OK;
}

/* ---- text: a list of the four values, each [place,text], or [place,text,plain] of a number, or null ---- */

static bool ends_is_empty(const void *cell)
{
	const struct ends *e = cell;

	for (int i = 0; i < NENDS; i++)
		if (e->value[i].is_set)
			return false;
	return true;
}

/* offset_bytes: of the part in the input. */
static void value_text(struct end_value *v, struct json_text *j, uint64_t offset_bytes)
{
	if (json_option(j, !v->is_set, "null"))
		return;
	json_mark(j, "[");
	json_number(j, &v->place);
	json_bytes(json_next(j), &v->text);
	v->is_number = json_item(j, v->is_number);
	if (v->is_number)
		json_bytes(j, &v->plain);
	json_mark(j, "]");
	if (!json_has_read(j))
		return;
	v->is_set = true;
	v->place += offset_bytes;
	if (v->place > OFFSET_BYTES_MAX || memchr(v->text.data, '\0', v->text.nbytes) ||
	    (v->is_number && !exact_is_number(v->plain.data, v->plain.nbytes)))
		json_fail(j, STATUS_DAMAGED);
}

static void ends_text_of(void *cell, struct json_text *j, const struct moment_source *source)
{
	struct ends later = {.value = {{.is_set = false}}}, *e = j->reads ? &later : cell;

	json_mark(j, "[");
	for (int i = 0; i < NENDS; i++)
		value_text(&e->value[i], json_next(j), source->offset_bytes);
	json_mark(j, "]");
	if (json_has_read(j) && ends_combine(cell, &later) != STATUS_OK)
		json_fail(j, STATUS_NO_MEMORY);
	ends_free(&later);
}

/* Whether a value that is no number may be this end of the column. */
static bool may_be_text(const struct plan_column *plan, enum end end)
{
	return (end == END_FIRST || end == END_LAST) && (plan->takes_text || plan->if_numeric);
}

enum status ends_offer(struct ends *e, enum end end, const struct plan *plan, size_t c, uint64_t place,
		       const struct raw_field *field, struct scratch *scratch, bool *taken)
{
	struct end_value *to = &e->value[end];
	struct value v;
	enum status status;
	bool number;

	*taken = false;
	if (!end_gives_way(to, end, place))
		return STATUS_OK;
	status = value_read(plan, field->how | VALUE_AS_NUMBER, field->text, field->nbytes, scratch, &v);
	if (status == STATUS_OK)
		value_set_rounded(&v, field->rounded);
	if (status != STATUS_OK || v.kind == DECIMAL_MISSING)
		return status;
	number = value_has_number(&v);
	if (!number && (!may_be_text(&plan->columns[c], end) || memchr(v.text, '\0', v.nbytes)))
		return STATUS_OK;
	to->is_set = *taken = true;
	to->is_number = number;
	to->place = place;
	if (number)
		status = set_text(&to->plain, v.text, v.nbytes);
	if (status == STATUS_OK)
		status = value_read(plan, field->how, field->text, field->nbytes, scratch, &v);
	if (status == STATUS_OK && number) /* whether or not the column turns out to be one of text */
		v.text = decimal_trim(v.text, &v.nbytes);
	return status == STATUS_OK ? set_text(&to->text, v.text, v.nbytes) : status;
}

bool ends_has(const struct ends *e, enum end end)
{
	return e->value[end].is_set;
}

enum status ends_put(struct ends *e, enum end end, const struct plan *plan, const struct column_end *x, struct scratch *scratch)
{
	struct end_value *to = &e->value[end];
	const char *plain = x->text;
	size_t nbytes = x->nbytes;
	bool is_number = x->is_number;
	enum status status = STATUS_OK;

	if (!end_gives_way(to, end, x->place))
		return STATUS_OK;
	to->is_set = true;
	to->is_number = x->is_number;
	to->place = x->place;
	if (is_number)
		status = value_to_plain(plan, &plain, &nbytes, scratch, &is_number);
	if (status == STATUS_OK && is_number)
		status = set_text(&to->plain, plain, nbytes);
	return status == STATUS_OK ? set_text(&to->text, x->text, x->nbytes) : status;
}

bool ends_get(const struct ends *e, enum end end, struct column_end *out)
{
	const struct end_value *v = &e->value[end];

	*out = (struct column_end){v->text.data, v->text.nbytes, v->place, v->is_number};
	return v->is_set;
}

/* The first or last number; NULL where no value is one. */
static const struct end_value *find_number(const struct ends *e, bool at_end)
{
	const struct end_value *from = &e->value[at_end ? END_LAST_NUMBER : END_FIRST_NUMBER];

	if (!from->is_set)
		from = &e->value[at_end ? END_LAST : END_FIRST];
	return from->is_set && from->is_number ? from : NULL;
}

const char *ends_text(const struct ends *e, bool at_end, bool is_text)
{
	const struct end_value *from = &e->value[at_end ? END_LAST : END_FIRST];

	if (!is_text)
		from = find_number(e, at_end);
	return from && from->is_set ? from->text.data : NULL;
}

bool ends_number(const struct ends *e, bool at_end, struct integer *room, struct exact *out)
{
	const struct end_value *from = find_number(e, at_end);

	return from && exact_parse(from->plain.data, from->plain.nbytes, room, out) == STATUS_OK;
}

const struct moment_ops moment_ends = {
	.moment = MOMENT_ENDS,
	.cell_nbytes = sizeof(struct ends),
	.clear = ends_clear,
	.combine = ends_combine,
	.free = ends_free,
	.is_empty = ends_is_empty,
	.text = ends_text_of,
};
