/* SPDX-License-Identifier: MIT
 *
 * partial_text.c - see partial_text.h. From the inside out: a column, a pair, a window; these in a list of a group, or each in a
 * line of its own; a group, a line.
 *
 * Members are rows of tables (base/json_text.h), whose functions write or read: what they read is added to what is there.
 */
#include "fold/partial_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fold/group_result.h"
#include "fold/window.h"
#include "fold/group_lists.h"
#include "fold/groups.h"
#include "fold/pair.h"
#include "number/decimal_text.h"
#include "number/exact_text.h"

#define PREFIX_NBYTES 64

/* Adds what is read to *number. */
static void add_number(struct json_text *j, uint64_t *number)
{
	uint64_t earlier = j->reads ? *number : 0;

	json_number(j, number);
	*number += earlier;
}

/* ---- a column ---- */

static bool has_moment(const struct moment_cells *m, int i)
{
	return moments_cell(m, i) && !moment_table[i]->is_empty(moments_cell(m, i));
}

/* Whether nothing has been folded into the column but what its kind says. */
static bool column_is_empty(const struct column_partial *column)
{
	for (int i = 0; i < NCELLS; i++)
		if (has_moment(&column->moments, i))
			return false;
	return column->numbers.count == 0 && column->numbers.form == NUMBERS_NONE &&
	       column->nmissing == 0 && column->ninvalid == 0;
}

#define COUNT_MAX (UINT64_C(1) << 48) /* of numbers in all parts */

/* Sum and extremes of count numbers: the largest scale, then these. */
static void numbers_text(struct json_text *j, struct numbers *numbers, uint64_t count, bool has_extremes)
{
	struct number_sums sums = {.count = count};
	struct exact *of[] = {&sums.sum, &sums.min, &sums.max};

	if (!j->reads)
		numbers_get(numbers, &sums);
	json_mark(j, "[");
	exact_scale(j, &sums.scale, EXACT_SCALE_LAST + 1);
	exact_text(json_next(j), &sums.sum, 1);
	if (json_option(j, has_extremes, ",")) {
		exact_text(j, &sums.min, 1);
		exact_text(json_next(j), &sums.max, 1);
	}
	json_mark(j, "]");
	if (!j->reads)
		return;
	sums.scale = sums.sum.scale > sums.scale ? sums.sum.scale : sums.scale;
	if (exact_magnitude(&sums.sum) > EXACT_MAGNITUDE_MAX + decimal_ndigits(count))
		json_fail(j, STATUS_DAMAGED);
	if (json_has_read(j) && numbers_add_sums(numbers, &sums) != STATUS_OK)
		json_fail(j, STATUS_NO_MEMORY);
	for (int i = 0; i < 3; i++)
		exact_free(of[i]);
}

static bool has_kind(const void *kind)
{
	return *(const enum column_kind *)kind != COLUMN_UNKNOWN;
}

static void kind_text(struct json_text *j, void *column_kind)
{
	enum column_kind *kind = column_kind;
	bool is_text = json_option(j, *kind == COLUMN_TEXT, "\"text\"");

	if (!is_text)
		json_mark(j, "\"number\"");
	if (*kind == COLUMN_UNKNOWN)
		*kind = is_text ? COLUMN_TEXT : COLUMN_NUMBER;
}

/* Where something is read or written. */
struct text_place {
	bool is_line;          /* it has a line of its own, which may be broken: j->prefix is what that begins with */
	bool is_swapped;       /* a pair: the plan's is y:x */
	uint64_t offset_bytes; /* of the text's records in the input */
};

/* A column that is written or read. */
struct column_text {
	struct column_partial *column;
	struct moment_source source;
	enum column_kind kind; /* to be written; reading: what the column has, or gets */
	uint64_t count;        /* of numbers; reading: of those that are read */
};

static bool has_numbers(const void *text)
{
	return ((const struct column_text *)text)->column->numbers.form != NUMBERS_NONE;
}

static void column_numbers_text(struct json_text *j, void *text)
{
	struct column_text *t = text;

	numbers_text(j, &t->column->numbers, t->count, t->source.column->needs & MOMENT_EXTREMES);
	t->count = j->reads ? 0 : t->count;
}

/* Which a line begins with. The count may be left out of a line that goes on, the kind of any. */
static const struct json_row kind_rows[] = {
	{JSON_NAME("count"), JSON_MAY, offsetof(struct column_text, count), 0, NULL, NULL},
	{JSON_NAME("kind"), JSON_MAY, offsetof(struct column_text, kind), 0, kind_text, has_kind},
	{NULL},
};
static const struct json_row numbers_rows[] = {JSON_IF(JSON_MAY, "numbers", column_numbers_text, has_numbers), {NULL}};

static void cell_text(struct json_text *j, struct column_text *t, int i)
{
	if (j->reads && !(t->source.column->needs & moment_table[i]->moment))
		json_fail(j, STATUS_DAMAGED);
	else if (moments_need(&t->column->moments, i))
		moment_table[i]->text(moments_cell(&t->column->moments, i), j, &t->source);
	else
		json_fail(j, STATUS_NO_MEMORY);
}

#define CELL(id, type, ops, name) \
	static bool has_cell_##name(const void *text) \
	{ \
		return has_moment(&((const struct column_text *)text)->column->moments, CELL_##id); \
	} \
	static void cell_##name##_text(struct json_text *j, void *text) \
	{ \
		cell_text(j, text, CELL_##id); \
	}
MOMENT_CELLS(CELL)
#undef CELL

static const struct json_row moment_rows[] = {
#define CELL(id, type, ops, name) JSON_IF(JSON_MAY, #name, cell_##name##_text, has_cell_##name),
	MOMENT_CELLS(CELL)
#undef CELL
	{NULL},
};

#define COLUMN(name, member) JSON_COUNTED(struct column_partial, name, member)
static const struct json_row value_rows[] = {
	COLUMN("missing", nmissing), COLUMN("invalid", ninvalid), COLUMN("nuls", nnuls),
	JSON_FLAGGED(struct column_partial, "mixed", is_mixed), {NULL},
};

/* The kind of a plan's column in a line of its own, if it is known for sure: of others, it depends on the chunks, and nobody asks.
 * A group's columns have the run's kind. */
static enum column_kind kind_of(const struct partial *p, const struct plan *plan, size_t c, bool is_line)
{
	const struct plan_column *column = &plan->columns[c];

	return is_line && column->parses && column->invalid != INVALID_TEXT ? column_kind(&p->columns[c]) : COLUMN_UNKNOWN;
}

static bool has_column(const struct partial *p, const struct plan *plan, size_t c, bool is_line)
{
	return !column_is_empty(&p->columns[c]) || kind_of(p, plan, c, is_line) != COLUMN_UNKNOWN;
}

static void column_members(struct json_text *j, struct partial *p, const struct plan *plan, size_t c, const struct text_place *at)
{
	struct column_partial *column = &p->columns[c];
	struct column_text t = {.column = column, .source = {.column = &plan->columns[c], .offset_bytes = at->offset_bytes},
				.kind = j->reads ? column->kind : kind_of(p, plan, c, at->is_line),
				.count = j->reads ? 0 : column->numbers.count};

	p->full_column = c;
	JSON_MEMBERS(j, kind_rows, &t);
	if (j->reads) {
		column->kind = t.kind;
		if (t.count > COUNT_MAX || column->numbers.count > COUNT_MAX)
			json_fail(j, STATUS_DAMAGED);
	}
	JSON_MEMBERS(j, numbers_rows, &t);
	column->numbers.count += j->reads ? t.count : 0; /* of values that are no numbers */
	t.source.count = column->numbers.count;
	if (j->reads ? json_goes_on(j) : column->moments.cells != NULL)
		json_members(j, moment_rows, &t);
	if (!j->reads || json_goes_on(j))
		JSON_MEMBERS(j, value_rows, column);
}

static enum status add_column(struct groups *to, struct group *g, const struct plan *plan, size_t c, struct partial *read)
{
	enum status status = group_add_column(to, g, c, &read->columns[c]);

	(void)plan;
	column_clear(&read->columns[c]);
	return status;
}

/* ---- a pair ---- */

/* A side of a pair that is written or read. */
struct side_text {
	struct pair *pair;
	struct key_arena *arena;
	int side; /* in the plan, whose pair may be y:x */
};

static bool has_pair(const struct partial *p, const struct plan *plan, size_t i, bool is_line)
{
	(void)plan;
	(void)is_line;
	return !pair_is_empty(&p->pairs[i]);
}

/* Adds what was read, unless that failed. */
static void keep_status(struct json_text *j, enum status status)
{
	if (status != STATUS_OK)
		json_fail(j, status);
}

static void products_text(struct json_text *j, void *sides)
{
	const struct side_text *t = sides;
	struct exact products = {.scale = 0};

	if (!j->reads)
		products = t->pair->products;
	exact_text(j, &products, 2);
	if (!j->reads)
		return;
	keep_status(j, pair_add_long_products(t->pair, &products, t->arena));
	exact_free(&products);
}

static bool has_alone(const void *side)
{
	const struct side_text *t = side;

	return t->pair->alone && group_cell_count(&t->pair->alone[t->side]) > 0;
}

static void alone_text(struct json_text *j, void *side)
{
	const struct side_text *t = side;
	struct group_sums room, sums = j->reads ? (struct group_sums){.numbers = {.count = 0}} : *pair_alone(t->pair, t->side, &room);
	struct exact *squares = &sums.powers[0];

	json_number(json_mark(j, "{\"count\":"), &sums.numbers.count);
	exact_text(json_mark(j, ",\"sum\":"), &sums.numbers.sum, 1);
	exact_text(json_mark(j, ",\"squares\":"), squares, 2);
	json_mark(j, "}");
	if (!j->reads)
		return;
	sums.numbers.scale = sums.numbers.sum.scale > (squares->scale + 1) / 2 ? sums.numbers.sum.scale : (squares->scale + 1) / 2;
	if (sums.numbers.count == 0 || sums.numbers.count > COUNT_MAX ||
	    exact_magnitude(&sums.numbers.sum) > EXACT_MAGNITUDE_MAX + decimal_ndigits(sums.numbers.count))
		json_fail(j, STATUS_DAMAGED);
	if (json_has_read(j))
		keep_status(j, pair_add_alone_sums(t->pair, t->side, &sums, t->arena));
	exact_free(&sums.numbers.sum);
	exact_free(squares);
}

#define SIDE(name, side) {JSON_NAME(name), JSON_MAY, (side) * sizeof(struct side_text), 0, alone_text, has_alone}
static const struct json_row pair_rows[] = { /* of both sides */
	JSON_IF(JSON_OTHER, "products", products_text, NULL), SIDE("x", PAIR_X), SIDE("y", PAIR_Y), {NULL},
};

static void pair_members(struct json_text *j, struct partial *p, const struct plan *plan, size_t i, const struct text_place *at)
{
	const int x = at->is_swapped ? PAIR_Y : PAIR_X;

	(void)plan;
	j->prefix = NULL; /* what a pair has does not grow with the records */
	json_members(j, pair_rows, (struct side_text[]){{&p->pairs[i], &p->memory, x}, {&p->pairs[i], &p->memory, PAIR_X + PAIR_Y - x}});
}

static enum status add_pair(struct groups *to, struct group *g, const struct plan *plan, size_t i, struct partial *read)
{
	enum status status = pair_combine(group_pair(g, &plan->pairs[i]), &read->pairs[i], &to->texts);

	memset(&read->pairs[i], 0, sizeof read->pairs[i]);
	key_arena_clear(&read->memory);
	return status;
}

/* ---- a window ----
 *
 * Values are a list of strings, null for a missing one; those of a window of numbers are plain
 * decimals, whose digits after the point are their scale. One by time has the times of these
 * values, as many, in seconds. A weighted mean is its integer and its power of ten: "-12345e-3"; of
 * one of rounded numbers, its reach follows in the same form.
 */

#define POWER_TEXT_NBYTES 80 /* sign, 35 digits, e, sign, 3 digits, and what int could have */

/* Reads digits up to `most`; returns what follows, or NULL if no digit follows, or too many do. */
static const char *read_digits(const char *p, const char *end, uint128 most, uint128 *out)
{
	const char *begin = p;

	for (*out = 0; p < end && decimal_is_digit(*p); p++) {
		*out = *out * 10 + (uint128)(*p - '0');
		if (*out > most)
			return NULL;
	}
	return p > begin ? p : NULL;
}

/* Reads an integer up to `most` and a power of ten, one of which the scale is scale_most at most, either way. Returns false
 * where there are none. */
static bool read_power(const char *p, const char *end, uint128 most, int scale_most, uint128 *out, int *scale)
{
	uint128 exponent = 0;
	bool divides;

	p = read_digits(p, end, most, out);
	divides = p && end - p >= 2 && p[1] == '-';
	p = p && p < end && *p == 'e' ? read_digits(p + 1 + divides, end, (uint128)scale_most, &exponent) : NULL;
	*scale = divides ? (int)exponent : -(int)exponent;
	return p == end;
}

static void power_text(struct json_text *j, bool *negative, uint128 *digits, uint128 most, int *scale, int scale_most)
{
	char number[40 + DECIMAL_TEXT_SLACK], text[POWER_TEXT_NBYTES];
	const char *p;
	size_t nbytes;

	if (!j->reads) {
		*decimal_write_u128(number, *digits) = '\0';
		json_put_string(j, text, (size_t)snprintf(text, sizeof text, "%s%se%d", *negative ? "-" : "", number, -*scale));
		return;
	}
	p = json_get_string(j, &nbytes);
	*negative = nbytes > 0 && *p == '-';
	if (p && !read_power(p + *negative, p + nbytes, most, scale_most, digits, scale))
		json_fail(j, STATUS_DAMAGED);
}

static bool has_mean(const void *mean)
{
	return ((const struct ewma *)mean)->is_set;
}

static void mean_text(struct json_text *j, void *ewma)
{
	const uint128 most = (uint128)decimal_powers[17] * decimal_powers[17]; /* 10^EWMA_NDIGITS */
	struct ewma *mean = ewma;

	power_text(j, &mean->negative, &mean->magnitude, most, &mean->scale, EXACT_SCALE_MAX);
	mean->is_set = true;
}

static bool has_reach(const void *mean)
{
	return has_mean(mean) && ((const struct ewma *)mean)->reach.digits > 0;
}

static void reach_text(struct json_text *j, void *ewma)
{
	struct ewma *mean = ewma;
	uint128 digits = mean->reach.digits;
	bool negative = false;

	power_text(j, &negative, &digits, decimal_powers[EWMA_REACH_NDIGITS] - 1, &mean->reach.scale, EWMA_REACH_SCALE_MAX);
	if (negative || !mean->is_set || digits < decimal_powers[EWMA_REACH_NDIGITS - 1])
		json_fail(j, STATUS_DAMAGED);
	mean->reach.digits = (uint32_t)digits;
}

static const struct json_row mean_rows[] = {
	JSON_IF(JSON_MAY, "mean", mean_text, has_mean), JSON_IF(JSON_MAY, "reach", reach_text, has_reach), {NULL},
};

/* A value of the window, whose text, when it is read, lies in the line or in j->scratch. */
static void value_text(struct json_text *j, const struct plan_window *plan, struct recent_value *v)
{
	char text[DECIMAL_TEXT_NBYTES];

	if (json_option(j, v->kind == RECENT_NONE, "null"))
		return;
	if (v->kind == RECENT_NUMBER) {
		json_put_string(j, text, decimal_format(v->number.significand, v->number.scale, text));
		return;
	}
	if (!j->reads) {
		json_put_string(j, v->text, v->nbytes);
		return;
	}
	v->kind = RECENT_TEXT;
	v->text = json_get_string(j, &v->nbytes);
	if (!v->text || new_column_has(plan->kind, NEW_COPIES))
		return;
	if (decimal_parse(v->text, v->nbytes, &v->number) == DECIMAL_NUMBER)
		v->kind = RECENT_NUMBER;
	else if (!exact_is_number(v->text, v->nbytes))
		json_fail(j, STATUS_DAMAGED);
}

static enum status put_value(void *json, const struct recent_value *v)
{
	struct recent_value copy = *v;

	json_break(json, "]}", "[");
	value_text(json_next(json), NULL, &copy);
	return ((struct json_text *)json)->status;
}

static void get_value(struct json_text *j, const struct plan_window *plan, struct recent *to)
{
	struct recent_value v = {.kind = RECENT_NONE};

	value_text(j, plan, &v);
	if (j->status == STATUS_OK && recent_push(to, &v) != STATUS_OK)
		json_fail(j, STATUS_NO_MEMORY);
}

/* Writes or reads the values, or the times, of a window. */
static void recent_text(struct json_text *j, const struct plan_window *plan, struct recent *values)
{
	json_mark(j, "[");
	if (!j->reads)
		recent_each(values, false, NULL, put_value, j);
	if (j->reads)
		do
			get_value(j, plan, values);
		while (json_item(j, true));
	json_mark(j, "]");
	if (j->reads)
		recent_keep(values, plan_window_nbefore(plan));
}

static void window_values_text(struct json_text *j, void *window)
{
	struct window_fold *w = window;

	recent_text(j, w->plan, &w->recent);
}

static void window_times_text(struct json_text *j, void *window)
{
	struct window_fold *w = window;

	recent_text(j, w->plan, &w->times);
	if (j->reads && w->times.nvalues != w->recent.nvalues)
		json_fail(j, STATUS_DAMAGED);
}

static const struct json_row window_rows[] = {JSON_IF(JSON_OTHER, "values", window_values_text, NULL), {NULL}};
static const struct json_row timed_window_rows[] = {
	JSON_IF(JSON_OTHER, "values", window_values_text, NULL),
	JSON_IF(JSON_OTHER, "times", window_times_text, NULL),
	{NULL},
};

static bool has_window(const struct partial *p, const struct plan *plan, size_t i, bool is_line)
{
	(void)plan;
	(void)is_line;
	return p->windows[i].recent.nvalues > 0 || p->windows[i].mean.is_set;
}

static void window_members(struct json_text *j, struct partial *p, const struct plan *plan, size_t i, const struct text_place *at)
{
	struct window_fold *w = &p->windows[i], now = {.plan = &plan->windows[i]};

	(void)at;
	if (w->plan->kind != NEW_EWMA) {
		json_members(j, w->plan->is_timed ? timed_window_rows : window_rows, w);
		return;
	}
	if (!j->reads)
		window_combine(&now, w); /* to the last of its values */
	json_members(j, mean_rows, j->reads ? &w->mean : &now.mean);
}

static enum status add_window(struct groups *to, struct group *g, const struct plan *plan, size_t i, struct partial *read)
{
	const struct window_place at = {&to->windows, &plan->windows[i],
					group_window(g, &plan->windows[i])};
	struct group_sums sums;
	enum status status;

	group_cell_read(group_cell(g, &plan->columns[at.window->column]),
			plan->columns[at.window->column].needs, &sums);
	status = group_window_add_fold(&at, &read->windows[i], sums.numbers.scale);

	window_clear(&read->windows[i]);
	return status;
}

/* ---- what a partial and a group have of each ---- */

static const struct fold_kind {
	struct json_row line; /* has the name that a line begins with, before the number of the column, pair or window */
	size_t n;                /* in struct plan: how many it has */
	bool (*has)(const struct partial *p, const struct plan *plan, size_t i, bool is_line); /* else nothing is written */
	void (*members)(struct json_text *j, struct partial *p, const struct plan *plan, size_t i, const struct text_place *at);
	/* Adds what was read to a group, and clears it. */
	enum status (*add)(struct groups *to, struct group *g, const struct plan *plan, size_t i, struct partial *read);
} fold_kinds[] = {
	[PARTIAL_COLUMNS] = {{JSON_NAME("column")}, offsetof(struct plan, ncolumns), has_column, column_members, add_column},
	[PARTIAL_PAIRS] = {{JSON_NAME("pair")}, offsetof(struct plan, npairs), has_pair, pair_members, add_pair},
	[PARTIAL_WINDOWS] = {{JSON_NAME("window")}, offsetof(struct plan, nwindows), has_window, window_members, add_window},
};

static size_t plan_count(const struct plan *plan, const struct fold_kind *kind)
{
	return *(const size_t *)((const char *)plan + kind->n);
}

/* Reads number i of the text, which is another in the plan. Returns that; SIZE_MAX: the plan has none, or nothing was read. */
static inline size_t get_members(struct json_text *j, struct partial *p, const struct plan *plan, const struct partial_map *map,
			  int kind, size_t i)
{
	const struct text_place at = {.is_swapped = kind == PARTIAL_PAIRS && map->are_swapped[i], .offset_bytes = map->offset_bytes};

	i = map->of[kind].at[i];
	if (i != SIZE_MAX)
		fold_kinds[kind].members(j, p, plan, i, &at);
	return i;
}

/* ---- a group ---- */

/* Sets key to the group's. Its bytes lie in j->joined, with room after them as key_make wants. */
static uint64_t read_key(const struct plan *plan, struct json_text *j, struct key *key)
{
	struct text_buffer *joined = &j->joined;

	joined->nbytes = 0;
	for (size_t i = 0; i < plan->nkeys && j->status == STATUS_OK; i++) {
		size_t nbytes;
		const char *value;
		json_next(j);
		value = json_get_string(j, &nbytes);
		if (text_reserve(joined, nbytes + 1 + KEY_INLINE_NBYTES) != STATUS_OK)
			json_fail(j, STATUS_NO_MEMORY);
		if (j->status != STATUS_OK)
			return 0;
		if (i)
			joined->data[joined->nbytes++] = '\0';
		memcpy(joined->data + joined->nbytes, value, nbytes);
		joined->nbytes += nbytes;
	}
	if (joined->nbytes > KEY_MAX_NBYTES)
		json_fail(j, STATUS_DAMAGED);
	if (j->status != STATUS_OK)
		return 0;
	return key_make(joined->data, joined->nbytes, true, key_seed_get(), key);
}

/* Finds the group among p's, or adds it. NULL after an error. */
static struct group *find_group(struct partial *p, const struct plan *plan, struct json_text *j)
{
	struct group *g = NULL;
	struct key key;
	uint64_t hash = read_key(plan, j, &key);
	enum status status = j->status;

	if (!p->groups)
		p->groups = groups_new(plan);
	THEN(status, p->groups ? groups_find(p->groups, &key, hash, &g) : STATUS_NO_MEMORY);
	if (status != STATUS_OK)
		json_fail(j, status);
	return status == STATUS_OK ? g : NULL;
}

/* Reads number i of a group's list, and adds it to the group, one of `to`. blank: the identity, which stays so. */
static void get_item(struct json_text *j, struct groups *to, struct group *g, const struct plan *plan, const struct partial_map *map,
		     int kind, size_t i, struct partial *blank)
{
	enum status status;

	if (json_try(j, "{}"))
		return;
	if (map->of[kind].at[i] == SIZE_MAX) {
		json_skip(j);
		return;
	}
	json_mark(j, "{");
	i = get_members(j, blank, plan, map, kind, i);
	json_mark(j, "}");
	if (j->status != STATUS_OK)
		return;
	status = fold_kinds[kind].add(to, g, plan, i, blank);
	if (status != STATUS_OK)
		json_fail(j, status);
}

/* A group that is written or read. */
struct group_text {
	struct group *group; /* of p's groups; reading: once its key is known */
	struct partial *p;
	const struct plan *plan;
	struct partial *blank;         /* writing: what the group has folded; reading: what is read goes through it */
	const struct partial_map *map; /* NULL: it is written */
	uint64_t first, nrecords;
};

static void group_key_text(struct json_text *j, void *text)
{
	struct group_text *t = text;

	json_mark(j, "[");
	if (j->reads)
		t->group = find_group(t->p, t->plan, j);
	for (size_t i = 0; !j->reads && i < t->plan->nkeys; i++) {
		size_t nbytes;
		const char *value = group_key_value(t->group, i, &nbytes);
		json_put_string(json_next(j), value, nbytes);
	}
	json_mark(j, "]");
}

static void group_records_text(struct json_text *j, void *text)
{
	struct group_text *t = text;
	struct group *g = t->group;

	json_number(j, &t->nrecords);
	if (!j->reads)
		return;
	t->first += t->map->offset_bytes;
	if (t->nrecords == 0 || t->first > OFFSET_BYTES_MAX)
		json_fail(j, STATUS_DAMAGED);
	if (j->status != STATUS_OK)
		return;
	g->first = g->nrecords == 0 || t->first < g->first ? t->first : g->first;
	g->nrecords += t->nrecords;
}

static size_t count_folds(const struct group_text *t, int kind)
{
	return t->map ? t->map->of[kind].n : plan_count(t->plan, &fold_kinds[kind]);
}

/* What a group has folded of a kind. */
static void folds_text(struct json_text *j, const struct group_text *t, int kind)
{
	const struct fold_kind *of = &fold_kinds[kind];

	json_mark(j, "[");
	for (size_t i = 0; i < count_folds(t, kind) && j->status == STATUS_OK; i++) {
		if (json_next(j)->reads) {
			get_item(j, t->p->groups, t->group, t->plan, t->map, kind, i, t->blank);
			continue;
		}
		json_put(j, "{");
		if (of->has(t->blank, t->plan, i, false))
			of->members(j, t->blank, t->plan, i, &(struct text_place){.is_line = false});
		json_put(j, "}");
	}
	json_mark(j, "]");
}

#define FOLDS(kind, name) \
	static bool has_##name(const void *text) \
	{ \
		return count_folds(text, kind) > 0; \
	} \
	static void name##_text(struct json_text *j, void *text) \
	{ \
		folds_text(j, text, kind); \
	}
FOLDS(PARTIAL_COLUMNS, columns)
FOLDS(PARTIAL_PAIRS, pairs)
FOLDS(PARTIAL_WINDOWS, windows)

static const struct json_row group_rows[] = {
	JSON_IF(JSON_OTHER, "group", group_key_text, NULL),
	JSON_ROW(struct group_text, "first", first),
	JSON_IF(JSON_OTHER, "records", group_records_text, NULL),
	JSON_IF(JSON_OTHER, "columns", columns_text, has_columns),
	JSON_IF(JSON_OTHER, "pairs", pairs_text, has_pairs),
	JSON_IF(JSON_OTHER, "windows", windows_text, has_windows),
	{NULL},
};

void group_write(struct group *g, const struct plan *plan, struct partial *blank, struct json_text *j)
{
	/* where records are printed, `first` is a number of the run */
	struct group_text t = {.group = g, .plan = plan, .blank = blank, .first = plan->emits ? 0 : g->first, .nrecords = g->nrecords};
	enum status status;

	if (g->nrecords == 0)
		return; /* it was looked for */
	status = group_add_to(g, plan, blank);
	for (size_t c = 0; c < plan->ncolumns && status == STATUS_OK; c++)
		if (plan->columns[c].needs & MOMENT_KEYS)
			status = group_keys_add_to(g, &plan->columns[c], &blank->columns[c]);
	if (status != STATUS_OK) {
		json_fail(j, status);
		return;
	}
	json_put(j, "{");
	JSON_MEMBERS(j, group_rows, &t);
	json_put(j, "}");
	json_end_line(j);
	partial_clear(blank);
}

/* ---- a partial ---- */

static void records_text(struct json_text *j, void *nrecords)
{
	add_number(j, nrecords);
}

static void matched_text(struct json_text *j, void *partial)
{
	struct partial *p = partial;

	json_mark(j, "[");
	for (size_t i = 0; i < p->npredicates; i++)
		add_number(json_next(j), &p->nmatched[i]);
	json_mark(j, "]");
}

#define RECORDS(name, member) JSON_COUNTED(struct partial, name, member)
static const struct json_row records_rows[] = {
	JSON_ROW_OF(struct partial, "records", nrecords, records_text), RECORDS("ragged", nragged), RECORDS("headers", nheaders),
	RECORDS("undecided", nundecided), JSON_ROW_OF(struct partial, "matched", ncolumns, matched_text), {NULL},
};

static void end_line(struct json_text *j)
{
	j->prefix = NULL;
	json_put(j, "}");
	json_end_line(j);
}

void partial_write(struct partial *p, const struct plan *plan, struct json_text *j)
{
	char prefix[PREFIX_NBYTES];

	json_object(j, records_rows, p);
	json_end_line(j);
	for (const struct fold_kind *kind = fold_kinds; kind < fold_kinds + PARTIAL_NKINDS; kind++)
		for (size_t i = 0; i < plan_count(plan, kind); i++) {
			if (!kind->has(p, plan, i, true))
				continue;
			snprintf(prefix, PREFIX_NBYTES, "{%s%zu", kind->line.name + 1, i);
			json_put(j, prefix);
			j->prefix = prefix; /* where the line is broken, it goes on in the same way */
			kind->members(j, p, plan, i, &(struct text_place){.is_line = true});
			end_line(j);
		}
}

/* Reads the rest of a line of what a partial has. */
static void get_line(struct json_text *j, struct partial *p, const struct plan *plan, const struct partial_map *map, int kind)
{
	uint64_t i;

	j->at += fold_kinds[kind].line.name_nbytes - 1;
	i = json_get_number(j);
	if (i >= map->of[kind].n || j->at == j->end || *j->at != ',')
		json_fail(j, STATUS_DAMAGED);
	else if (get_members(j, p, plan, map, kind, (size_t)i) == SIZE_MAX)
		j->at = j->end - 1; /* it is not asked for */
}

void partial_read_kind(struct partial *p, const struct partial_map *map, struct json_text from)
{
	const struct fold_map *columns = &map->of[PARTIAL_COLUMNS];
	const struct json_row *line = &fold_kinds[PARTIAL_COLUMNS].line;
	struct column_text t = {.count = 0};
	uint64_t i;

	json_mark(&from, "{");
	if (!json_row_is_next(line, from.at, from.end, true))
		return;
	from.at += line->name_nbytes - 1;
	i = json_get_number(&from);
	if (i >= columns->n || columns->at[i] == SIZE_MAX || from.status != STATUS_OK) /* it is not asked for, or damaged */
		return;
	t.kind = p->columns[columns->at[i]].kind;
	json_members(&from, kind_rows, &t);
	p->columns[columns->at[i]].kind = t.kind;
}

void partial_read_line(struct partial *p, const struct plan *plan, const struct partial_map *map,
		       struct partial *blank, struct json_text *j)
{
	int kind = 0;

	json_mark(j, "{");
	if (plan->nkeys && json_row_is_next(group_rows, j->at, j->end, true)) { /* nearly all lines */
		struct group_text t = {.p = p, .plan = plan, .map = map, .blank = blank};
		JSON_MEMBERS(j, group_rows, &t);
	} else if (json_row_is_next(records_rows, j->at, j->end, true)) {
		json_members(j, records_rows, p);
	} else {
		while (kind < PARTIAL_NKINDS && !json_row_is_next(&fold_kinds[kind].line, j->at, j->end, true))
			kind++;
		if (kind < PARTIAL_NKINDS)
			get_line(j, p, plan, map, kind);
		else
			json_fail(j, STATUS_DAMAGED);
	}
	json_mark(j, "}");
	if (j->at != j->end)
		json_fail(j, STATUS_DAMAGED);
}
