/* SPDX-License-Identifier: MIT
 *
 * group_text.c - a group as a line of JSON, and back. See partial_text.h.
 */
#include <string.h>

#include "fold/group_result.h"
#include "fold/group_window.h"
#include "fold/groups.h"
#include "fold/pair.h"
#include "fold/window.h"
#include "fold/partial_text.h"

/* ---- writing ---- */

static void put_key(const struct group *g, const struct plan *plan, struct json_writer *to)
{
	json_put(to, "{\"group\":[");
	for (size_t i = 0; i < plan->nkeys; i++) {
		size_t nbytes;
		const char *value = group_key_value(g, i, &nbytes);
		json_put(to, i ? "," : "");
		json_put_string(to, value, nbytes);
	}
}

static void put_folds(const struct partial *p, const struct plan *plan, struct json_writer *to)
{
	for (size_t c = 0; c < plan->ncolumns; c++) {
		json_put(to, c ? "," : ",\"columns\":[");
		column_write(&p->columns[c], plan->columns[c].needs, to);
	}
	for (size_t i = 0; i < plan->npairs; i++) {
		json_put(to, i ? "," : "],\"pairs\":[");
		pair_write(&p->pairs[i], to);
	}
	for (size_t i = 0; i < plan->nwindows; i++) {
		json_put(to, i ? "," : "],\"windows\":[");
		window_write(&p->windows[i], NULL, to);
	}
	json_put(to, "]}");
	json_end_line(to);
}

void group_write(struct group *g, const struct plan *plan, struct partial *blank, struct json_writer *to)
{
	struct partial *p;

	if (g->nrecords == 0)
		return; /* it was looked for */
	p = group_partial(g, plan, blank);
	if (!p) {
		to->status = to->status == STATUS_OK ? STATUS_NO_MEMORY : to->status;
		return;
	}
	put_key(g, plan, to);
	json_put(to, "],\"first\":");
	json_put_number(to, plan->emits ? 0 : g->first); /* else it is a number of the run */
	json_put(to, ",\"records\":");
	json_put_number(to, g->nrecords);
	put_folds(p, plan, to);
	if (p == blank)
		partial_clear(blank);
}

/* ---- reading ---- */

/* Sets key to the group's. Its bytes lie in from->joined, with room behind them as key_make wants. */
static uint64_t read_key(const struct plan *plan, struct json_reader *from, struct key *key)
{
	struct text_buffer *joined = &from->joined;

	joined->nbytes = 0;
	for (size_t i = 0; i < plan->nkeys && from->status == STATUS_OK; i++) {
		size_t nbytes = 0;
		const char *value;
		json_expect(from, i ? "," : "");
		value = json_string(from, &nbytes);
		if (text_reserve(joined, nbytes + 1 + KEY_INLINE_NBYTES) != STATUS_OK)
			json_fail(from, STATUS_NO_MEMORY);
		if (from->status != STATUS_OK)
			return 0;
		if (i)
			joined->data[joined->nbytes++] = '\0';
		memcpy(joined->data + joined->nbytes, value, nbytes);
		joined->nbytes += nbytes;
	}
	if (joined->nbytes > KEY_MAX_NBYTES)
		json_fail(from, STATUS_DAMAGED);
	if (from->status != STATUS_OK)
		return 0;
	return key_make(joined->data, joined->nbytes, true, key_seed_get(), key);
}

/* Finds the group among p's, or adds it. NULL after an error. */
static struct group *find_group(struct partial *p, const struct plan *plan, struct json_reader *from)
{
	struct group *g = NULL;
	struct key key;
	uint64_t hash = read_key(plan, from, &key);
	enum status status = from->status;

	if (!p->groups)
		p->groups = groups_new(plan);
	if (status == STATUS_OK)
		status = p->groups ? groups_find(p->groups, &key, hash, &g) : STATUS_NO_MEMORY;
	if (status != STATUS_OK)
		json_fail(from, status);
	return status == STATUS_OK ? g : NULL;
}

/* Reads the text's column i, and adds it to the group. */
static void read_column(struct group *g, const struct plan *plan, const struct partial_map *map, size_t i,
			struct text_arena *texts, struct partial *blank, struct json_reader *from)
{
	size_t c = map->columns[i];
	struct column_partial *column = c == SIZE_MAX ? NULL : &blank->columns[c];
	enum status status;

	if (!column) {
		json_skip(from);
		return;
	}
	if (json_try(from, "{}"))
		return;
	column_read(column, &plan->columns[c], map->offset_bytes, from);
	if (from->status != STATUS_OK)
		return;
	status = group_add_column(g, plan, c, column, texts);
	if (status != STATUS_OK)
		json_fail(from, status);
	column_clear(column);
}

static void read_pair(struct group *g, const struct plan *plan, const struct partial_map *map, size_t i,
		      struct json_reader *from)
{
	size_t k = map->pairs[i];

	if (k == SIZE_MAX) {
		json_skip(from);
		return;
	}
	if (json_try(from, "{}"))
		return;
	if (group_need_rest(g, plan) == STATUS_OK)
		pair_read(&g->rest->pairs[k], &plan->pairs[k], map->are_swapped[i], from);
	else
		json_fail(from, STATUS_NO_MEMORY);
}

static void read_window(struct group *g, const struct plan *plan, size_t i, struct partial *blank, struct json_reader *from)
{
	struct window_fold *window = &blank->windows[i];
	enum status status;

	window_read(window, from);
	status = group_window_add_fold(g, plan, i, window);
	window_clear(window);
	if (status != STATUS_OK)
		json_fail(from, status);
}

static void read_folds(struct group *g, const struct plan *plan, const struct partial_map *map,
		       struct text_arena *texts, struct partial *blank, struct json_reader *from)
{
	for (size_t i = 0; i < map->ncolumns && from->status == STATUS_OK; i++) {
		json_expect(from, i ? "," : ",\"columns\":[");
		read_column(g, plan, map, i, texts, blank, from);
	}
	for (size_t i = 0; i < map->npairs && from->status == STATUS_OK; i++) {
		json_expect(from, i ? "," : "],\"pairs\":[");
		read_pair(g, plan, map, i, from);
	}
	for (size_t i = 0; i < plan->nwindows && from->status == STATUS_OK; i++) {
		json_expect(from, i ? ",{" : "],\"windows\":[{");
		read_window(g, plan, i, blank, from);
	}
	json_expect(from, "]}");
}

void group_read(struct partial *p, const struct plan *plan, const struct partial_map *map,
		struct partial *blank, struct json_reader *from)
{
	struct group *g = find_group(p, plan, from);
	uint64_t first, nrecords;

	json_expect(from, "],\"first\":");
	first = json_number(from) + map->offset_bytes;
	json_expect(from, ",\"records\":");
	nrecords = json_number(from);
	if (from->status == STATUS_OK && (nrecords == 0 || first > OFFSET_BYTES_MAX))
		json_fail(from, STATUS_DAMAGED);
	if (from->status != STATUS_OK)
		return;
	g->first = g->nrecords == 0 || first < g->first ? first : g->first;
	g->nrecords += nrecords;
	read_folds(g, plan, map, &p->groups->texts, blank, from);
}
