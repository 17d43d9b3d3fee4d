/* SPDX-License-Identifier: MIT
 *
 * group_heap.c - see group_heap.h.
 */
#include "fold/group_heap.h"

#include <stdlib.h>
#include <string.h>

#include "fold/group.h"
#include "number/decimal_text.h"
#include "query/expr_eval.h"

/* ---- values ---- */

#define PLAIN_NBYTES 256 /* of a number that needs no memory of its own to be read in its notation */

/* Keeps the text of v, nbytes of it, where the kind needs it. */
static enum status keep_text(struct sort_value *v, const char *text)
{
	v->text = NULL;
	if (v->kind == VALUE_EMPTY || v->kind == VALUE_NUMBER)
		return STATUS_OK;
	v->text = malloc(v->nbytes);
	if (!v->text)
		return STATUS_NO_MEMORY;
	memcpy(v->text, text, v->nbytes);
	return STATUS_OK;
}

/* Sets the value to that of a text that is a number if decimal.h's syntax has it. */
static enum status set_plain(struct sort_value *v, const char *text, size_t nbytes)
{
	enum decimal_kind kind = decimal_parse(text, nbytes, &v->number);

	v->nbytes = nbytes;
	v->kind = nbytes == 0		   ? VALUE_EMPTY
		  : kind == DECIMAL_NUMBER ? VALUE_NUMBER
		  : kind == DECIMAL_WIDE   ? VALUE_WIDE
					   : VALUE_TEXT;
	return keep_text(v, text);
}

enum status sort_value_set(struct sort_value *v, const char *text, size_t nbytes, const struct number_notation *notation)
{
	char room[PLAIN_NBYTES], *to = room;
	size_t plain_nbytes;
	enum status status;

	if (!notation || notation_is_plain(notation))
		return set_plain(v, text, nbytes);
	if (nbytes + NOTATION_ROOM > sizeof room)
		to = malloc(nbytes + NOTATION_ROOM);
	if (!to)
		return STATUS_NO_MEMORY;
	plain_nbytes = notation_to_plain(notation, text, nbytes, to);
	if (plain_nbytes > 0) {
		status = set_plain(v, to, plain_nbytes);
	} else {
		*v = (struct sort_value){.kind = nbytes == 0 ? VALUE_EMPTY : VALUE_TEXT, .nbytes = nbytes, .first = v->first, .group = v->group};
		status = keep_text(v, text);
	}
	if (to != room)
		free(to);
	return status;
}

/* The text of a number: v's, or in room. */
static const char *text_of(const struct sort_value *v, char room[DECIMAL_TEXT_NBYTES], size_t *nbytes)
{
	*nbytes = v->kind == VALUE_NUMBER ? (size_t)(decimal_write(room, v->number.significand, v->number.scale) - room)
					  : v->nbytes;
	return v->kind == VALUE_NUMBER ? room : v->text;
}

/* Of any length: results and keys may be beyond the range of the input's numbers. */
static int compare_numbers(const struct sort_value *a, const struct sort_value *b)
{
	int difference = a->number.scale - b->number.scale;
	int128 x = a->number.significand, y = b->number.significand;
	char a_room[DECIMAL_TEXT_NBYTES], b_room[DECIMAL_TEXT_NBYTES];
	const char *a_text, *b_text;
	size_t a_nbytes, b_nbytes;

	if (a->kind == VALUE_NUMBER && b->kind == VALUE_NUMBER &&
	    decimal_rescale(&x, difference < 0 ? -difference : 0) &&
	    decimal_rescale(&y, difference > 0 ? difference : 0))
		return x < y ? -1 : x > y;
	a_text = text_of(a, a_room, &a_nbytes);
	b_text = text_of(b, b_room, &b_nbytes);
	return expr_compare_texts(a_text, a_nbytes, b_text, b_nbytes);
}

static int compare_texts(const struct sort_value *a, const struct sort_value *b)
{
	int order = memcmp(a->text, b->text, a->nbytes < b->nbytes ? a->nbytes : b->nbytes);

	return order ? order : a->nbytes < b->nbytes ? -1 : a->nbytes > b->nbytes;
}

int sort_value_compare(const struct sort_value *a, const struct sort_value *b, bool descending)
{
	bool a_text = a->kind == VALUE_TEXT, b_text = b->kind == VALUE_TEXT;
	int order = 0;

	if ((a->kind == VALUE_EMPTY) != (b->kind == VALUE_EMPTY))
		return a->kind == VALUE_EMPTY ? 1 : -1;
	if (a->kind != VALUE_EMPTY)
		order = a_text != b_text ? a_text - b_text
			: a_text	 ? compare_texts(a, b)
					 : compare_numbers(a, b);
	if (order)
		return descending ? -order : order;
	return a->first < b->first ? -1 : a->first > b->first;
}

static int compare_ascending(const void *a, const void *b)
{
	return sort_value_compare(a, b, false);
}

static int compare_descending(const void *a, const void *b)
{
	return sort_value_compare(a, b, true);
}

/* ---- the heap ---- */

static void free_value(const struct group_heap *h, struct sort_value *v)
{
	free(v->text);
	if (!h->owns)
		return;
	group_free(v->group, h->owns);
	free(v->group);
}

static bool comes_before(const struct group_heap *h, const struct sort_value *a, const struct sort_value *b)
{
	return sort_value_compare(a, b, h->descending) < 0;
}

/* Puts v into the heap from place i up. */
static void sift_up(struct group_heap *h, size_t i, struct sort_value v)
{
	for (; i > 0 && comes_before(h, &h->at[(i - 1) / 2], &v); i = (i - 1) / 2)
		h->at[i] = h->at[(i - 1) / 2];
	h->at[i] = v;
}

/* Replaces the top by v. */
static void replace_top(struct group_heap *h, struct sort_value v)
{
	size_t i = 0, child;

	free_value(h, &h->at[0]);
	while ((child = 2 * i + 1) < h->n) {
		if (child + 1 < h->n && comes_before(h, &h->at[child], &h->at[child + 1]))
			child++;
		if (!comes_before(h, &v, &h->at[child]))
			break;
		h->at[i] = h->at[child];
		i = child;
	}
	h->at[i] = v;
}

void group_heap_offer(struct group_heap *h, struct sort_value v, size_t of)
{
	if (h->most == of) { /* none is replaced: no order is needed */
		h->at[h->n++] = v;
	} else if (h->n < h->most) {
		h->n++;
		sift_up(h, h->n - 1, v);
	} else if (comes_before(h, &v, &h->at[0])) {
		replace_top(h, v);
	} else {
		free_value(h, &v);
	}
}

bool group_heap_wants(const struct group_heap *h, const struct sort_value *v)
{
	return h->n < h->most || (h->n > 0 && comes_before(h, v, &h->at[0]));
}

enum status group_heap_init(struct group_heap *h, size_t most, bool descending, const struct plan *owns)
{
	*h = (struct group_heap){calloc(most + 1, sizeof *h->at), 0, most, descending, owns};
	return h->at ? STATUS_OK : STATUS_NO_MEMORY;
}

void group_heap_sort(struct group_heap *h)
{
	if (h->n > 0) /* it may have no room at all */
		qsort(h->at, h->n, sizeof *h->at, h->descending ? compare_descending : compare_ascending);
}

void group_heap_free(struct group_heap *h, size_t first)
{
	for (size_t i = 0; i < h->n; i++) {
		if (i < first)
			free(h->at[i].text);
		else
			free_value(h, &h->at[i]);
	}
	free(h->at);
}
