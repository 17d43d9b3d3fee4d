/* SPDX-License-Identifier: MIT
 *
 * part_head.c - see part_head.h.
 */
#include "cluster/part_head.h"

#include <stdlib.h>
#include <string.h>

#include "query/options.h"
#include "query/select.h"

/* ---- what all lines of a head consist of, written or read (base/json_text.h) ---- */

/* Makes room for one more of n items of `nbytes` each, 1, 2, 4, 8 ... at a time. */
static void *grow(struct json_text *j, void *items, size_t n, size_t nbytes)
{
	void *grown = n & (n - 1) ? items : realloc(items, (n ? 2 * n : 1) * nbytes);

	if (!grown)
		json_fail(j, STATUS_NO_MEMORY);
	return grown;
}

/* A list of strings. has_null: there may be NULL among them. */
static void strings_text(struct json_text *j, char ***text, size_t *n, bool has_null)
{
	json_mark(j, "[");
	for (size_t i = 0; json_item(j, i < *n); i++) {
		if (j->reads) {
			char **grown = grow(j, *text, i, sizeof *grown);
			if (!grown)
				return;
			*text = grown;
			grown[(*n)++] = NULL;
		}
		if (!has_null || !json_option(j, !(*text)[i], "null"))
			json_string(j, &(*text)[i]);
	}
	json_mark(j, "]");
}

static void seam_text(struct json_text *j, struct part_seam *s)
{
	json_mark(j, "{");
	json_string(json_member(j, "input"), &s->input);
	json_number(json_member(j, "part"), &s->number);
	json_number(json_member(j, "of"), &s->of);
	json_number(json_member(j, "border"), &s->border);
	json_number(json_member(j, "size"), &s->size);
	json_bool(json_member(j, "quoted"), &s->is_quoted);
	json_bool(json_member(j, "same"), &s->is_same);
	json_number(json_member(j, "lines"), &s->nlines);
	json_number(json_member(j, "offset"), &s->offset_bytes);
	json_mark(j, "}");
	if (s->of == 0 || s->number == 0 || s->number > s->of)
		json_fail(j, STATUS_DAMAGED);
}

/* What the first record that is no header says of each column: n a number, m missing, e a field of no byte, t
 * a text. */
static void put_first(struct json_text *j, const struct first_record *r)
{
	json_put(j, "\"");
	for (size_t i = 0; i < r->nfields; i++) {
		const struct first_value *v = &r->values[i];
		json_put(j, v->is_number ? "n" : !v->is_missing ? "t" : v->has_no_byte ? "e" : "m");
	}
	json_put(j, "\"");
}

/* Makes a first record of n values with the given texts; NULL: of no byte. */
static void make_record(struct json_text *j, struct first_record *record, char *const *texts, size_t n)
{
	record->values = calloc(n + 1, sizeof *record->values);
	record->nfields = record->values ? n : 0;
	for (size_t i = 0; i < record->nfields; i++)
		if (!(record->values[i].text = strdup(texts && texts[i] ? texts[i] : "")))
			json_fail(j, STATUS_NO_MEMORY);
	if (!record->values)
		json_fail(j, STATUS_NO_MEMORY);
}

static void get_first(struct json_text *j, struct first_record *record)
{
	size_t n;
	const char *kinds = json_get_string(j, &n);

	if (!kinds)
		return;
	make_record(j, record, NULL, n);
	for (size_t i = 0; j->status == STATUS_OK && i < n; i++) {
		record->values[i].is_number = kinds[i] == 'n';
		record->values[i].is_missing = kinds[i] == 'm' || kinds[i] == 'e';
		record->values[i].has_no_byte = kinds[i] == 'e';
	}
}

static void header_members(struct json_text *j, struct header *h, bool *seeks_header)
{
	struct text_buffer line = {.data = h->line, .nbytes = h->line_nbytes};

	json_bool(json_member(j, "header"), &h->present);
	json_bool(json_member(j, "ends_empty"), &h->ends_empty);
	strings_text(json_member(j, "names"), &h->names, &h->nnames, true);
	if (h->present) {
		json_bytes(json_member(j, "line"), &line); /* as it came, without its line end */
		json_bool(json_member(j, "sought"), seeks_header);
	}
	h->line = line.data;
	h->line_nbytes = h->end = line.nbytes;
	json_member(j, "first");
	if (!j->reads) {
		put_first(j, &h->record[h->present ? 1 : 0]);
		return;
	}
	h->nfields = h->nnames;
	get_first(j, &h->record[h->present ? 1 : 0]);
	h->has_second = h->record[1].nfields > 0;
	if (h->present)
		make_record(j, &h->record[0], h->names, h->nnames);
}

static void columns_members(struct json_text *j, struct part_head *head)
{
	strings_text(json_member(j, "columns"), &head->columns, &head->ncolumns, false);
	if (j->reads && !(head->fields = calloc(head->ncolumns + 1, sizeof *head->fields)))
		json_fail(j, STATUS_NO_MEMORY);
	json_mark(json_member(j, "fields"), "[");
	for (size_t i = 0; i < head->ncolumns && j->status == STATUS_OK; i++) {
		uint64_t field = j->reads ? FIELD_COMPUTED : head->fields[i];
		if (!json_option(json_next(j), field == FIELD_COMPUTED, "null"))
			json_number(j, &field);
		head->fields[i] = (size_t)field;
	}
	json_mark(json_member(json_mark(j, "]"), "pairs"), "[");
	for (size_t i = 0; json_item(j, i < head->npairs); i++) {
		if (j->reads) {
			size_t (*grown)[2] = grow(j, head->pairs, i, sizeof *grown);
			if (!grown)
				return;
			head->pairs = grown;
			head->npairs++;
		}
		json_mark(j, "[");
		for (int side = 0; side < 2; side++) {
			uint64_t column = j->reads ? 0 : head->pairs[i][side];
			json_number(json_next(j), &column);
			head->pairs[i][side] = (size_t)column;
			if (column >= head->ncolumns)
				json_fail(j, STATUS_DAMAGED);
		}
		json_mark(j, "]");
	}
	json_mark(j, "]");
}

static void head_text(struct json_text *j, struct part_head *head)
{
	uint64_t format = PART_FORMAT;

	json_number(json_mark(j, PART_HEAD_BEGIN), &format);
	json_string(json_member(j, "version"), &head->version);
	if (j->status == STATUS_OK && format != PART_FORMAT)
		json_fail(j, STATUS_PART_VERSION);
	strings_text(json_member(j, "query"), &head->asked.at, &head->asked.n, false);
	strings_text(json_member(j, "inputs"), &head->inputs, &head->ninputs, false);
	if (json_may(j, head->left.of > 0, "begins"))
		seam_text(j, &head->left);
	if (json_may(j, head->right.of > 0, "ends"))
		seam_text(j, &head->right);
	json_number(json_member(j, "bytes"), &head->nbytes);
	json_number(json_member(j, "records"), &head->nrecords);
	header_members(j, &head->header, &head->seeks_header);
	columns_members(j, head);
	json_mark(j, "}");
}

/* ---- heads ---- */

void part_head_write(const struct options *o, const struct query *q, const struct part_scope *scope,
		     uint64_t nbytes, uint64_t nrecords, struct json_text *j)
{
	const struct plan *plan = &q->plan;
	struct part_head head = {.version = (char[]){PACKAGE_VERSION}, .asked = o->asked, .header = q->header,
				 .seeks_header = plan->sought.nbytes > 0, .ncolumns = plan->ncolumns, .npairs = plan->npairs,
				 .inputs = (char **)scope->inputs, .ninputs = scope->ninputs, .left = *scope->left,
				 .right = *scope->right, .nbytes = nbytes, .nrecords = nrecords};

	head.header.nnames = head.header.nfields;
	head.header.line = (char *)plan->header;
	head.header.line_nbytes = plan->header_nbytes;
	head.columns = calloc(plan->ncolumns + 1, sizeof *head.columns);
	head.fields = calloc(plan->ncolumns + 1, sizeof *head.fields);
	head.pairs = calloc(plan->npairs + 1, sizeof *head.pairs);
	if (!head.columns || !head.fields || !head.pairs)
		json_fail(j, STATUS_NO_MEMORY);
	for (size_t c = 0; c < plan->ncolumns && j->status == STATUS_OK; c++) {
		head.columns[c] = (char *)plan->columns[c].name;
		head.fields[c] = plan->columns[c].let ? FIELD_COMPUTED : plan->columns[c].field;
	}
	for (size_t i = 0; i < plan->npairs && j->status == STATUS_OK; i++)
		memcpy(head.pairs[i], (size_t[]){plan->pairs[i].x, plan->pairs[i].y}, sizeof head.pairs[i]);
	if (j->status == STATUS_OK)
		head_text(j, &head);
	json_end_line(j);
	free(head.columns);
	free(head.fields);
	free(head.pairs);
}

void part_head_read(struct part_head *head, struct json_text *j)
{
	memset(head, 0, sizeof *head);
	head_text(j, head);
	if (j->at != j->end || head->ninputs == 0)
		json_fail(j, STATUS_DAMAGED);
}

static void free_strings(char **text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(text[i]);
	free(text);
}

void part_head_free(struct part_head *head)
{
	free(head->version);
	free(head->left.input);
	free(head->right.input);
	asked_free(&head->asked);
	header_free(&head->header);
	free_strings(head->columns, head->ncolumns);
	free(head->fields);
	free(head->pairs);
	free_strings(head->inputs, head->ninputs);
	memset(head, 0, sizeof *head);
}

/* ---- where its columns are ---- */

/* Columns are sought in order of their names, so that many cost no more than sorting. */
struct named {
	const char *name;
	size_t column;
};

static int compare_named(const void *a, const void *b)
{
	const struct named *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x->column > y->column) - (x->column < y->column);
}

/* Maps a part's columns to the plan's. Of several columns with one name, the first is the first. */
static void match(struct partial_map *map, const struct named *part, const struct named *plan, size_t nplan)
{
	size_t i = 0, k = 0;

	while (i < map->ncolumns) {
		int order = k < nplan ? strcmp(part[i].name, plan[k].name) : -1;
		if (order == 0)
			map->columns[part[i].column] = plan[k].column;
		i += order <= 0;
		k += order >= 0;
	}
}

/* The plan's first column that the part does not have. */
static enum status find_lacking(const struct partial_map *map, const struct plan *plan, size_t *lacks)
{
	bool *has = calloc(plan->ncolumns + 1, sizeof *has);

	if (!has)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < map->ncolumns; i++)
		if (map->columns[i] != SIZE_MAX)
			has[map->columns[i]] = true;
	for (*lacks = 0; *lacks < plan->ncolumns && has[*lacks];)
		++*lacks;
	free(has);
	return STATUS_OK;
}

static enum status map_columns(struct partial_map *map, const struct part_head *head, const struct plan *plan)
{
	struct named *part = calloc(head->ncolumns + 1, sizeof *part);
	struct named *whole = calloc(plan->ncolumns + 1, sizeof *whole);
	enum status status = part && whole ? STATUS_OK : STATUS_NO_MEMORY;

	for (size_t i = 0; status == STATUS_OK && i < head->ncolumns; i++)
		part[i] = (struct named){head->columns[i], i};
	for (size_t c = 0; status == STATUS_OK && c < plan->ncolumns; c++)
		whole[c] = (struct named){plan->columns[c].name, c};
	if (status == STATUS_OK) {
		qsort(part, head->ncolumns, sizeof *part, compare_named);
		qsort(whole, plan->ncolumns, sizeof *whole, compare_named);
		match(map, part, whole, plan->ncolumns);
	}
	free(part);
	free(whole);
	return status;
}

/* The plan's computed column of a name; SIZE_MAX if it has no such column. */
static size_t find_computed(const struct plan *plan, const char *name)
{
	for (size_t c = plan->ncolumns - plan->nlets; c < plan->ncolumns; c++)
		if (!strcmp(plan->columns[c].name, name))
			return c;
	return SIZE_MAX;
}

/* Like map_columns; both lists are in the order of fields, and have computed columns behind them. */
static void map_fields(struct partial_map *map, const struct part_head *head, const struct plan *plan)
{
	size_t c = 0, nfields = plan->ncolumns - plan->nlets;

	for (size_t i = 0; i < head->ncolumns; i++) {
		if (head->fields[i] == FIELD_COMPUTED) {
			map->columns[i] = find_computed(plan, head->columns[i]);
			continue;
		}
		while (c < nfields && plan->columns[c].field < head->fields[i])
			c++;
		if (c < nfields && plan->columns[c].field == head->fields[i])
			map->columns[i] = c;
	}
}

/* The plan's pair of two of its columns that no pair before took; pairs of both come in the same order. */
static size_t find_pair(const struct plan *plan, size_t x, size_t y, const bool *is_taken, bool *is_swapped)
{
	for (int swapped = 0; swapped < 2; swapped++)
		for (size_t k = 0; k < plan->npairs; k++) {
			const struct plan_pair *p = &plan->pairs[k];
			*is_swapped = swapped;
			if (!is_taken[k] && x == (swapped ? p->y : p->x) && y == (swapped ? p->x : p->y))
				return k;
		}
	return SIZE_MAX;
}

static enum status map_pairs(struct partial_map *map, const struct part_head *head, const struct plan *plan)
{
	bool *is_taken = calloc(plan->npairs + 1, sizeof *is_taken);

	if (!is_taken)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < head->npairs; i++) {
		size_t x = map->columns[head->pairs[i][0]], y = map->columns[head->pairs[i][1]], k = i;
		map->are_swapped[i] = false;
		if (k >= plan->npairs || is_taken[k] || plan->pairs[k].x != x || plan->pairs[k].y != y)
			k = find_pair(plan, x, y, is_taken, &map->are_swapped[i]);
		map->pairs[i] = k;
		if (k != SIZE_MAX)
			is_taken[k] = true;
	}
	free(is_taken);
	return STATUS_OK;
}

enum status part_map_make(struct partial_map *map, const struct part_head *head, const struct plan *plan,
			  size_t *lacks)
{
	enum status status = STATUS_OK;

	*map = (struct partial_map){.ncolumns = head->ncolumns, .npairs = head->npairs};
	map->columns = calloc(head->ncolumns + 1, sizeof *map->columns);
	map->pairs = calloc(head->npairs + 1, sizeof *map->pairs);
	map->are_swapped = calloc(head->npairs + 1, sizeof *map->are_swapped);
	if (!map->columns || !map->pairs || !map->are_swapped)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < head->ncolumns; i++)
		map->columns[i] = SIZE_MAX;
	if (head->header.present)
		status = map_columns(map, head, plan);
	else
		map_fields(map, head, plan);
	if (status == STATUS_OK)
		status = find_lacking(map, plan, lacks);
	return status == STATUS_OK ? map_pairs(map, head, plan) : status;
}

void part_map_free(struct partial_map *map)
{
	free(map->columns);
	free(map->pairs);
	free(map->are_swapped);
	memset(map, 0, sizeof *map);
}
