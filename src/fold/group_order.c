/* SPDX-License-Identifier: MIT
 *
 * group_order.c - see group_order.h, and group_sort_find of group_result.h.
 */
#include "fold/group_order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fold/result.h"
#include "query/option_table.h"

/* ---- by what ---- */

/* How well a result is named: not, by its operation, or as it is printed. */
enum fit { FIT_NONE, FIT_OPERATION, FIT_NAME };

static enum fit fit_of(const struct query *q, const struct result *r, const char *name, enum status *status)
{
	const struct operation_use *use = &q->uses[r->use];
	const char *title = use->title ? use->title : operation_title(r->operation);
	char *printed = result_name(q, r);
	bool is_same;

	if (!printed) {
		*status = STATUS_NO_MEMORY;
		return FIT_NONE;
	}
	is_same = !strcmp(printed, name);
	free(printed);
	if (is_same)
		return FIT_NAME;
	if (r->operation == OPERATION_PERCENTILE)
		return strlen(name) == use->name_nbytes && !strncmp(name, use->name, use->name_nbytes)
			       ? FIT_OPERATION : FIT_NONE;
	return !strcmp(title, name) || !strcmp(operation_name(r->operation), name) ? FIT_OPERATION
										   : FIT_NONE;
}

/* Finds the result that the name fits best; *n: how many it fits so. */
static enum fit find_result(const struct query *q, const char *name, size_t *index, size_t *n,
			    enum status *status)
{
	enum fit best = FIT_NONE;

	for (size_t i = 0; i < q->nresults && *status == STATUS_OK; i++) {
		enum fit fit = fit_of(q, &q->results[i], name, status);
		if (fit == FIT_NONE || fit < best)
			continue;
		*n = fit > best ? 1 : *n + 1;
		if (fit > best)
			*index = i;
		best = fit;
	}
	return best;
}

static bool find_key(const struct query *q, const char *name, size_t *index)
{
	for (size_t i = 0; i < q->plan.nkeys; i++)
		if (!strcmp(q->plan.columns[q->plan.keys[i]].name, name)) {
			*index = i;
			return true;
		}
	return false;
}

/* Lists what may be sorted by. */
static enum status unknown_name(const struct query *q, const char *name, struct fault *fault)
{
	char list[FAULT_DETAIL_NBYTES] = "";
	size_t n = 0;

	for (size_t i = 0; i < q->plan.nkeys + q->nresults && n < sizeof list; i++) {
		char *result = i < q->plan.nkeys ? strdup(q->plan.columns[q->plan.keys[i]].name)
						 : result_name(q, &q->results[i - q->plan.nkeys]);
		n += (size_t)snprintf(list + n, sizeof list - n, "%s%s", i ? ", " : "",
				      result ? result : "");
		free(result);
	}
	return option_fault(fault, "--sort: '%.64s' is not one result: %.150s", name, list);
}

enum status group_sort_find(const struct query *q, const char *name, struct group_sort *out,
			    struct fault *fault)
{
	enum status status = STATUS_OK;
	enum fit fit;
	size_t n = 0;

	*out = (struct group_sort){.is_given = name != NULL};
	if (!name)
		return STATUS_OK;
	out->is_descending = *name == '-';
	name += out->is_descending;
	fit = find_result(q, name, &out->index, &n, &status);
	if (status != STATUS_OK)
		return fault_set(fault, status, 0, NULL);
	if (fit == FIT_NAME)
		return STATUS_OK;
	out->is_key = find_key(q, name, &out->index);
	return out->is_key || n == 1 ? STATUS_OK : unknown_name(q, name, fault);
}

/* ---- values in order ---- */

enum value_kind { VALUE_NUMBER, VALUE_WIDE, VALUE_TEXT, VALUE_EMPTY };

struct sort_value {
	enum value_kind kind;
	struct decimal number; /* of VALUE_NUMBER */
	char *text;            /* of all but VALUE_EMPTY. Owned. */
	size_t nbytes;
	struct group_place place;
};

/* Sets the value to a text, which it owns from now on. */
static void set_value(struct sort_value *v, char *text, size_t nbytes)
{
	enum decimal_kind kind = decimal_parse(text, nbytes, &v->number);

	v->kind = nbytes == 0		 ? VALUE_EMPTY
		  : kind == DECIMAL_NUMBER ? VALUE_NUMBER
		  : kind == DECIMAL_WIDE   ? VALUE_WIDE
					   : VALUE_TEXT;
	v->text = text;
	v->nbytes = nbytes;
}

static void make_wide(const struct sort_value *v, struct wide *x)
{
	int scale;

	if (wide_parse(v->text, v->nbytes, x, &scale) != STATUS_OK)
		wide_clear(x);
}

static int compare_numbers(const struct sort_value *a, const struct sort_value *b)
{
	int difference = a->number.scale - b->number.scale;
	int128 x = a->number.significand, y = b->number.significand;
	struct wide wide_x, wide_y;

	if (a->kind == VALUE_NUMBER && b->kind == VALUE_NUMBER &&
	    decimal_rescale(&x, difference < 0 ? -difference : 0) &&
	    decimal_rescale(&y, difference > 0 ? difference : 0))
		return x < y ? -1 : x > y;
	make_wide(a, &wide_x);
	make_wide(b, &wide_y);
	return wide_compare(&wide_x, &wide_y);
}

static int compare_texts(const struct sort_value *a, const struct sort_value *b)
{
	int order = memcmp(a->text, b->text, a->nbytes < b->nbytes ? a->nbytes : b->nbytes);

	return order ? order : a->nbytes < b->nbytes ? -1 : a->nbytes > b->nbytes;
}

/* Compares values; the order of what is not empty, and of numbers and texts, turns around with the
 * direction, that of equal ones by appearance never. */
static int compare(const struct sort_value *a, const struct sort_value *b, bool descending)
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
	return a->place.first < b->place.first ? -1 : 1;
}

static int compare_ascending(const void *a, const void *b)
{
	return a == b ? 0 : compare(a, b, false);
}

static int compare_descending(const void *a, const void *b)
{
	return a == b ? 0 : compare(a, b, true);
}

/* ---- sorting ---- */

static enum status read_value(struct group_rows *rows, const struct group_sort *sort, struct group *g,
			      struct sort_value *v)
{
	struct group_row row = {NULL, NULL};
	struct cell cell = {NULL, false};
	enum status status;

	if (sort->is_key) {
		size_t nbytes;
		const char *value = group_key_value(g, sort->index, &nbytes);
		cell.text = strndup(value, nbytes);
		status = cell.text ? STATUS_OK : STATUS_NO_MEMORY;
	} else {
		status = group_row_result(rows, &row, g, &rows->q->results[sort->index], &cell);
		group_row_end(rows, &row);
	}
	if (status == STATUS_OK)
		set_value(v, cell.text, strlen(cell.text));
	return status;
}

enum status group_list_sort(struct group_list *list, struct group_rows *rows, const struct group_sort *sort)
{
	struct sort_value *values = calloc(list->n + 1, sizeof *values);
	enum status status = values ? STATUS_OK : STATUS_NO_MEMORY;

	for (size_t i = 0; i < list->n && status == STATUS_OK; i++) {
		values[i].place = list->at[i];
		status = read_value(rows, sort, list->at[i].group, &values[i]);
	}
	if (status == STATUS_OK)
		qsort(values, list->n, sizeof *values,
		      sort->is_descending ? compare_descending : compare_ascending);
	for (size_t i = 0; i < list->n && status == STATUS_OK; i++)
		list->at[i] = values[i].place;
	for (size_t i = 0; values && i < list->n; i++)
		free(values[i].text);
	free(values);
	return status;
}
