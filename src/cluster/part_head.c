/* SPDX-License-Identifier: MIT
 *
 * part_head.c - see part_head.h.
 */
#include "cluster/part_head.h"

#include <stdlib.h>
#include <string.h>

#include "query/options.h"
#include "query/select.h"

/* ---- writing ---- */

/* Writes a list of strings; NULL prints as null. */
static void put_strings(struct json_writer *to, const char *name, const char *const *text, size_t n)
{
	json_put(to, ",\"");
	json_put(to, name);
	json_put(to, "\":[");
	for (size_t i = 0; i < n; i++) {
		json_put(to, i ? "," : "");
		if (text[i])
			json_put_string(to, text[i], strlen(text[i]));
		else
			json_put(to, "null");
	}
	json_put(to, "]");
}

/* What the first record that is no header says of each column: n a number, m missing, e a field of no byte, t
 * a text. */
static char first_kind(const struct first_value *v)
{
	return v->is_number ? 'n' : !v->is_missing ? 't' : v->has_no_byte ? 'e' : 'm';
}

static void put_header(struct json_writer *to, const struct plan *plan, const struct header *h)
{
	const struct first_record *r = &h->record[h->present ? 1 : 0];

	json_put(to, h->present ? ",\"header\":true" : ",\"header\":false");
	json_put(to, h->ends_empty ? ",\"ends_empty\":true" : ",\"ends_empty\":false");
	put_strings(to, "names", (const char *const *)h->names, h->nfields);
	if (h->present) {
		json_put(to, ",\"line\":");
		json_put_string(to, plan->header, plan->header_nbytes);
		json_put(to, plan->sought.nbytes ? ",\"sought\":true" : ",\"sought\":false");
	}
	json_put(to, ",\"first\":\"");
	for (size_t i = 0; i < r->nfields; i++)
		json_put_bytes(to, (const char[]){first_kind(&r->values[i])}, 1);
	json_put(to, "\"");
}

static void put_columns(struct json_writer *to, const struct plan *plan)
{
	json_put(to, ",\"columns\":[");
	for (size_t c = 0; c < plan->ncolumns; c++) {
		json_put(to, c ? "," : "");
		json_put_string(to, plan->columns[c].name, strlen(plan->columns[c].name));
	}
	json_put(to, "],\"fields\":[");
	for (size_t c = 0; c < plan->ncolumns; c++) {
		json_put(to, c ? "," : "");
		if (plan->columns[c].let)
			json_put(to, "null");
		else
			json_put_number(to, plan->columns[c].field);
	}
	json_put(to, "],\"pairs\":[");
	for (size_t i = 0; i < plan->npairs; i++) {
		json_put(to, i ? ",[" : "[");
		json_put_number(to, plan->pairs[i].x);
		json_put(to, ",");
		json_put_number(to, plan->pairs[i].y);
		json_put(to, "]");
	}
	json_put(to, "]");
}

static void put_number(struct json_writer *to, const char *name, uint64_t number)
{
	json_put(to, name);
	json_put_number(to, number);
}

static void put_seam(struct json_writer *to, const char *name, const struct part_seam *s)
{
	if (s->of == 0)
		return;
	json_put(to, name);
	json_put_string(to, s->input, strlen(s->input));
	put_number(to, ",\"part\":", s->number);
	put_number(to, ",\"of\":", s->of);
	put_number(to, ",\"border\":", s->border);
	put_number(to, ",\"size\":", s->size);
	json_put(to, s->is_quoted ? ",\"quoted\":true" : ",\"quoted\":false");
	json_put(to, s->is_same ? ",\"same\":true" : ",\"same\":false");
	put_number(to, ",\"lines\":", s->nlines);
	put_number(to, ",\"offset\":", s->offset_bytes);
	json_put(to, "}");
}

void part_head_write(const struct options *o, const struct query *q, const struct part_scope *scope,
		     uint64_t nbytes, uint64_t nrecords, struct json_writer *to)
{
	json_put(to, PART_HEAD_BEGIN);
	json_put_number(to, PART_FORMAT);
	json_put(to, ",\"version\":");
	json_put_string(to, PACKAGE_VERSION, strlen(PACKAGE_VERSION));
	put_strings(to, "query", (const char *const *)o->asked.at, o->asked.n);
	put_strings(to, "inputs", scope->inputs, scope->ninputs);
	put_seam(to, ",\"begins\":{\"input\":", scope->left);
	put_seam(to, ",\"ends\":{\"input\":", scope->right);
	json_put(to, ",\"bytes\":");
	json_put_number(to, nbytes);
	json_put(to, ",\"records\":");
	json_put_number(to, nrecords);
	put_header(to, &q->plan, &q->header);
	put_columns(to, &q->plan);
	json_put(to, "}");
	json_end_line(to);
}

/* ---- reading ---- */

/* Makes room for one more of n items of `nbytes` each, 1, 2, 4, 8 ... at a time. */
static void *grow(struct json_reader *r, void *items, size_t n, size_t nbytes)
{
	void *grown = n & (n - 1) ? items : realloc(items, (n ? 2 * n : 1) * nbytes);

	if (!grown)
		json_fail(r, STATUS_NO_MEMORY);
	return grown;
}

/* Reads the rest of a list of strings, in which there may be null. */
static void read_strings(struct json_reader *r, char ***text, size_t *n)
{
	while (!json_try(r, "]") && r->status == STATUS_OK) {
		char **grown = grow(r, *text, *n, sizeof *grown);
		if (!grown)
			return;
		*text = grown;
		json_expect(r, *n ? "," : "");
		grown[*n] = json_try(r, "null") ? NULL : json_copy_string(r);
		++*n;
	}
}

static bool read_bool(struct json_reader *r, const char *name)
{
	bool is;

	json_expect(r, name);
	is = json_try(r, "true");
	if (!is)
		json_expect(r, "false");
	return is;
}

/* Makes a first record of n values, without texts. */
static void make_record(struct json_reader *r, struct first_record *record, size_t n)
{
	record->values = calloc(n + 1, sizeof *record->values);
	record->nfields = record->values ? n : 0;
	for (size_t i = 0; i < record->nfields; i++)
		if (!(record->values[i].text = calloc(1, 2)))
			json_fail(r, STATUS_NO_MEMORY);
	if (!record->values)
		json_fail(r, STATUS_NO_MEMORY);
}

/* Sets the values to what first_kind said of them. */
static void read_first(struct json_reader *r, struct first_record *record)
{
	size_t n;
	const char *kinds = json_string(r, &n);

	if (!kinds)
		return;
	make_record(r, record, n);
	for (size_t i = 0; r->status == STATUS_OK && i < n; i++) {
		record->values[i].is_number = kinds[i] == 'n';
		record->values[i].is_missing = kinds[i] == 'm' || kinds[i] == 'e';
		record->values[i].has_no_byte = kinds[i] == 'e';
	}
}

/* Gives the record of a header its names. */
static void name_record(struct json_reader *r, const struct header *h, struct first_record *record)
{
	make_record(r, record, h->nnames);
	for (size_t i = 0; r->status == STATUS_OK && i < h->nnames; i++) {
		char *name = strdup(h->names[i] ? h->names[i] : "");
		if (!name) {
			json_fail(r, STATUS_NO_MEMORY);
			return;
		}
		free(record->values[i].text);
		record->values[i].text = name;
	}
}

/* Reads the header as it came, without its line end. */
static void read_header_line(struct json_reader *r, struct header *h)
{
	const char *text;

	json_expect(r, ",\"line\":");
	text = json_string(r, &h->line_nbytes);
	if (!text)
		return;
	h->line = malloc(h->line_nbytes + 1);
	if (!h->line) {
		json_fail(r, STATUS_NO_MEMORY);
		return;
	}
	memcpy(h->line, text, h->line_nbytes);
	h->end = h->line_nbytes;
}

static void read_header(struct json_reader *r, struct part_head *head)
{
	struct header *h = &head->header;

	h->present = read_bool(r, ",\"header\":");
	h->ends_empty = read_bool(r, ",\"ends_empty\":");
	json_expect(r, ",\"names\":[");
	read_strings(r, &h->names, &h->nnames);
	h->nfields = h->nnames;
	if (h->present) {
		read_header_line(r, h);
		head->seeks_header = read_bool(r, ",\"sought\":");
	}
	json_expect(r, ",\"first\":");
	read_first(r, &h->record[h->present ? 1 : 0]);
	h->has_second = h->record[1].nfields > 0;
	if (h->present)
		name_record(r, h, &h->record[0]);
}

static uint64_t read_number(struct json_reader *r, const char *name)
{
	json_expect(r, name);
	return json_number(r);
}

static void read_seam(struct json_reader *r, const char *name, struct part_seam *s)
{
	if (!json_try(r, name))
		return;
	s->input = json_copy_string(r);
	s->number = read_number(r, ",\"part\":");
	s->of = read_number(r, ",\"of\":");
	s->border = read_number(r, ",\"border\":");
	s->size = read_number(r, ",\"size\":");
	s->is_quoted = read_bool(r, ",\"quoted\":");
	s->is_same = read_bool(r, ",\"same\":");
	s->nlines = read_number(r, ",\"lines\":");
	s->offset_bytes = read_number(r, ",\"offset\":");
	json_expect(r, "}");
	if (s->of == 0 || s->number == 0 || s->number > s->of)
		json_fail(r, STATUS_DAMAGED);
}

static size_t read_index(struct json_reader *r, size_t n)
{
	uint64_t i = json_number(r);

	if (i >= n)
		json_fail(r, STATUS_DAMAGED);
	return (size_t)i;
}

static void read_fields(struct json_reader *r, struct part_head *head)
{
	head->fields = calloc(head->ncolumns + 1, sizeof *head->fields);
	if (!head->fields)
		json_fail(r, STATUS_NO_MEMORY);
	json_expect(r, ",\"fields\":[");
	for (size_t i = 0; i < head->ncolumns && r->status == STATUS_OK; i++) {
		json_expect(r, i ? "," : "");
		head->fields[i] = json_try(r, "null") ? FIELD_COMPUTED : (size_t)json_number(r);
	}
	json_expect(r, "]");
}

static void read_pairs(struct json_reader *r, struct part_head *head)
{
	json_expect(r, ",\"pairs\":[");
	while (!json_try(r, "]") && r->status == STATUS_OK) {
		size_t (*grown)[2] = grow(r, head->pairs, head->npairs, sizeof *grown);
		if (!grown)
			return;
		head->pairs = grown;
		json_expect(r, head->npairs ? ",[" : "[");
		grown[head->npairs][0] = read_index(r, head->ncolumns);
		json_expect(r, ",");
		grown[head->npairs++][1] = read_index(r, head->ncolumns);
		json_expect(r, "]");
	}
}

/* Whether a list that was read has a null. */
static bool has_null(char *const *text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!text[i])
			return true;
	return false;
}

void part_head_read(struct part_head *head, struct json_reader *r)
{
	uint64_t format;

	memset(head, 0, sizeof *head);
	json_expect(r, PART_HEAD_BEGIN);
	format = json_number(r);
	json_expect(r, ",\"version\":");
	head->version = json_copy_string(r);
	if (r->status == STATUS_OK && format != PART_FORMAT)
		json_fail(r, STATUS_PART_VERSION);
	json_expect(r, ",\"query\":[");
	read_strings(r, &head->asked.at, &head->asked.n);
	json_expect(r, ",\"inputs\":[");
	read_strings(r, &head->inputs, &head->ninputs);
	read_seam(r, ",\"begins\":{\"input\":", &head->left);
	read_seam(r, ",\"ends\":{\"input\":", &head->right);
	json_expect(r, ",\"bytes\":");
	head->nbytes = json_number(r);
	json_expect(r, ",\"records\":");
	head->nrecords = json_number(r);
	read_header(r, head);
	json_expect(r, ",\"columns\":[");
	read_strings(r, &head->columns, &head->ncolumns);
	read_fields(r, head);
	read_pairs(r, head);
	json_expect(r, "}");
	if (r->at != r->end || head->ninputs == 0 || has_null(head->asked.at, head->asked.n) ||
	    has_null(head->inputs, head->ninputs) || has_null(head->columns, head->ncolumns))
		json_fail(r, STATUS_DAMAGED);
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
