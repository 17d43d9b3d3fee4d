/* SPDX-License-Identifier: MIT
 *
 * partial_text.c - see partial_text.h. From the inside out: a column, a pair, a window, a group, a line.
 *
 * Most functions write or read (base/json_text.h): what they read is added to what is there.
 */
#include "fold/partial_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fold/group_result.h"
#include "fold/window.h"
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

/* A member that is left out where it is 0. */
#define may_add(j, name, number) may_add_member(j, ",\"" name "\":", number)
static inline void may_add_member(struct json_text *j, const char *name, uint64_t *number)
{
	if (json_may_name(j, *number > 0, name))
		add_number(j, number);
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

/* What of a column is written. */
enum column_form { COLUMN_EXTREMES, COLUMN_NO_EXTREMES, COLUMN_ALONE /* of a pair: without a partner */ };

/* Sum and extremes of count numbers: the largest scale, then these. */
static void numbers_text(struct json_text *j, struct numbers *numbers, uint64_t count, enum column_form form)
{
	struct number_sums sums = {.count = count};
	struct exact *of[] = {&sums.sum, &sums.min, &sums.max};

	if (!j->reads)
		numbers_get(numbers, &sums);
	if (form == COLUMN_ALONE) /* nobody asks for the scale, which is the largest of all numbers of some rows (pair_block.c) */
		sums.scale = 0;
	json_mark(j, "[");
	exact_scale(j, &sums.scale, WIDE_SCALE_LAST + 1);
	exact_text(json_next(j), &sums.sum, 1);
	if (json_option(j, form == COLUMN_EXTREMES, ",")) {
		exact_text(j, &sums.min, 1);
		exact_text(json_next(j), &sums.max, 1);
	}
	json_mark(j, "]");
	if (!j->reads)
		return;
	sums.scale = sums.sum.scale > sums.scale ? sums.sum.scale : sums.scale;
	if (exact_magnitude(&sums.sum) > WIDE_MAGNITUDE_MAX + decimal_ndigits(count))
		json_fail(j, STATUS_DAMAGED);
	if (json_has_read(j) && numbers_add_sums(numbers, &sums) != STATUS_OK)
		json_fail(j, STATUS_NO_MEMORY);
	for (int i = 0; i < 3; i++)
		exact_free(of[i]);
}

static void kind_text(struct json_text *j, enum column_kind *kind)
{
	bool is_text = json_option(j, *kind == COLUMN_TEXT, "\"text\"");

	if (!is_text)
		json_mark(j, "\"number\"");
	if (*kind == COLUMN_UNKNOWN)
		*kind = is_text ? COLUMN_TEXT : COLUMN_NUMBER;
}

static void moments_text(struct json_text *j, struct moment_cells *moments, const struct moment_source *source)
{
#define CELL(id, type, ops, name) ",\"" #name "\":",
	static const char *const names[NCELLS] = {MOMENT_CELLS(CELL)};
#undef CELL
	char again[PREFIX_NBYTES];
	const char *prefix = j->prefix;

	if (j->reads ? j->at == j->end || *j->at != ',' : !moments->cells)
		return;
	for (int i = 0; i < NCELLS; i++) {
		if (j->reads && !(source->column->needs & moment_table[i]->moment))
			continue;
		if (!json_may_name(j, !j->reads && has_moment(moments, i), names[i]))
			continue;
		if (prefix) {
			snprintf(again, sizeof again, "%s%.*s", prefix, (int)strlen(names[i]) - 1, names[i]);
			j->prefix = again;
		}
		if (moments_need(moments, i))
			moment_table[i]->text(moments_cell(moments, i), j, source);
		else
			json_fail(j, STATUS_NO_MEMORY);
	}
	j->prefix = prefix;
}

/* The members of a column. j->prefix: what the line begins with, if it may be broken. kind: is written. */
static void column_members(struct json_text *j, struct column_partial *column, const struct plan_column *plan, enum column_kind kind,
			   enum column_form form, uint64_t offset_bytes)
{
	uint64_t count = j->reads ? 0 : column->numbers.count, is_mixed = column->is_mixed;

	if (json_may(j, true, "count"))
		json_number(j, &count);
	if (j->reads && (count > COUNT_MAX || column->numbers.count > COUNT_MAX))
		json_fail(j, STATUS_DAMAGED);
	if (json_may(j, kind != COLUMN_UNKNOWN, "kind"))
		kind_text(j, j->reads ? &column->kind : &kind);
	may_add(j, "missing", &column->nmissing);
	may_add(j, "invalid", &column->ninvalid);
	may_add(j, "nuls", &column->nnuls);
	may_add(j, "mixed", &is_mixed);
	column->is_mixed = is_mixed > 0;
	if (json_may(j, column->numbers.form != NUMBERS_NONE, "numbers"))
		numbers_text(j, &column->numbers, count, form);
	else
		column->numbers.count += j->reads ? count : 0;
	moments_text(j, &column->moments, &(struct moment_source){plan, offset_bytes, column->numbers.count});
}

/* A column as an object, which is empty if the column is. */
static void column_text(struct json_text *j, struct column_partial *column, const struct plan_column *plan, enum column_form form,
			uint64_t offset_bytes)
{
	json_mark(j, "{");
	if (j->reads || !column_is_empty(column)) /* a group's columns have the run's kind */
		column_members(j, column, plan, COLUMN_UNKNOWN, form, offset_bytes);
	json_mark(j, "}");
}

static enum column_form form_of(const struct plan_column *plan)
{
	return plan->needs & MOMENT_EXTREMES ? COLUMN_EXTREMES : COLUMN_NO_EXTREMES;
}

/* ---- a pair ---- */

static bool has_alone(const struct pair_partial *p, int side)
{
	return p->alone[side] && !column_is_empty(p->alone[side]);
}

static bool pair_is_empty(const struct pair_partial *p)
{
	return exact_is_zero(&p->products) && !has_alone(p, PAIR_X) && !has_alone(p, PAIR_Y);
}

static void alone_text(struct json_text *j, struct pair_partial *p, const struct plan_pair *plan, int side)
{
	const struct plan_column column = {.needs = plan->needs};

	if (pair_alone(p, side))
		column_text(j, pair_alone(p, side), &column, COLUMN_ALONE, 0);
	else
		json_fail(j, STATUS_NO_MEMORY);
}

static void pair_members(struct json_text *j, struct pair_partial *p, const struct plan_pair *plan, bool is_swapped)
{
	exact_text(json_member(j, "products"), &p->products, 2);
	if (json_may(j, has_alone(p, PAIR_X), "x"))
		alone_text(j, p, plan, is_swapped ? PAIR_Y : PAIR_X);
	if (json_may(j, has_alone(p, PAIR_Y), "y"))
		alone_text(j, p, plan, is_swapped ? PAIR_X : PAIR_Y);
}

/* A pair as an object, which is empty if the pair is. */
static void pair_text(struct json_text *j, struct pair_partial *p, const struct plan_pair *plan, bool is_swapped)
{
	json_mark(j, "{");
	if (j->reads ? j->at < j->end && *j->at != '}' : !pair_is_empty(p))
		pair_members(j, p, plan, is_swapped);
	json_mark(j, "}");
}

/* ---- a window ----
 *
 * Values are a list of strings, null for a missing one; those of a window of numbers are plain decimals, whose digits after
 * the point are their scale. A weighted mean is its integer and its power of ten: "-12345e-3"; of one of rounded numbers, its
 * reach follows in the same form.
 */

#define MEAN_TEXT_NBYTES 80 /* sign, 35 digits, e, sign, 3 digits, and what int could have */

static void put_mean(struct json_text *j, const struct window_fold *w)
{
	struct window_fold now = {.plan = w->plan};
	char digits[40 + DECIMAL_TEXT_SLACK], text[MEAN_TEXT_NBYTES];

	window_combine(&now, w); /* to the last of its values */
	if (!now.mean.is_set)
		return;
	*decimal_write_u128(digits, now.mean.magnitude) = '\0';
	snprintf(text, sizeof text, "%s%se%d", now.mean.negative ? "-" : "", digits, -now.mean.scale);
	json_put_string(json_member(j, "mean"), text, strlen(text));
	if (now.mean.reach.digits == 0)
		return;
	snprintf(text, sizeof text, "%" PRIu32 "e%d", now.mean.reach.digits, -now.mean.reach.scale);
	json_put_string(json_member(j, "reach"), text, strlen(text));
}

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

static void get_mean(struct json_text *j, struct ewma *mean)
{
	const uint128 most = (uint128)decimal_powers[17] * decimal_powers[17]; /* 10^EWMA_NDIGITS */
	uint128 digits = 0;
	size_t nbytes;
	const char *p = json_get_string(json_member(j, "mean"), &nbytes);

	if (!p)
		return;
	*mean = (struct ewma){.is_set = true, .negative = nbytes > 0 && *p == '-'};
	if (!read_power(p + mean->negative, p + nbytes, most, WIDE_SCALE_MAX, &mean->magnitude, &mean->scale))
		json_fail(j, STATUS_DAMAGED);
	if (!json_may(j, false, "reach"))
		return;
	p = json_get_string(j, &nbytes);
	if (p && (!read_power(p, p + nbytes, decimal_powers[EWMA_REACH_NDIGITS] - 1, EWMA_REACH_SCALE_MAX, &digits,
			      &mean->reach.scale) || digits < decimal_powers[EWMA_REACH_NDIGITS - 1]))
		json_fail(j, STATUS_DAMAGED);
	mean->reach.digits = (uint32_t)digits;
}

static enum status put_value(void *json, const struct recent_value *v)
{
	struct json_text *j = json;
	char text[DECIMAL_TEXT_NBYTES];

	json_break(j, "]}", ",\"values\":[");
	json_next(j);
	if (v->kind == RECENT_NUMBER)
		json_put_string(j, text, decimal_format(v->number.significand, v->number.scale, text));
	else if (v->kind == RECENT_TEXT)
		json_put_string(j, v->text, v->nbytes);
	else
		json_put(j, "null");
	return j->status;
}

/* Sets *v to the value that a text is. Returns false if it is no value. */
static bool value_of(const struct plan_window *plan, const char *text, size_t nbytes, struct recent_value *v)
{
	struct decimal number;

	*v = (struct recent_value){.kind = RECENT_TEXT, .text = text, .nbytes = nbytes};
	if (new_column_has(plan->kind, NEW_COPIES))
		return true;
	if (decimal_parse(text, nbytes, &number) == DECIMAL_NUMBER) {
		*v = (struct recent_value){.kind = RECENT_NUMBER, .number = number};
		return true;
	}
	return exact_is_number(text, nbytes);
}

static void get_value(struct json_text *j, struct window_fold *w)
{
	struct recent_value v = {.kind = RECENT_NONE};
	const char *text;
	size_t nbytes;

	if (!json_try(j, "null")) {
		text = json_get_string(j, &nbytes);
		if (text && !value_of(w->plan, text, nbytes, &v))
			json_fail(j, STATUS_DAMAGED);
	}
	if (j->status == STATUS_OK && recent_push(&w->recent, &v) != STATUS_OK)
		json_fail(j, STATUS_NO_MEMORY);
}

static bool window_is_empty(const struct window_fold *w)
{
	return w->recent.nvalues == 0 && !w->mean.is_set;
}

static void window_members(struct json_text *j, struct window_fold *w)
{
	if (w->plan->kind == NEW_EWMA) {
		if (j->reads)
			get_mean(j, &w->mean);
		else
			put_mean(j, w);
		return;
	}
	json_mark(json_member(j, "values"), "[");
	if (!j->reads)
		recent_each(&w->recent, false, NULL, put_value, j);
	if (j->reads)
		do
			get_value(j, w);
		while (json_item(j, true));
	json_mark(j, "]");
	if (j->reads)
		recent_keep(&w->recent, plan_window_nbefore(w->plan));
}

/* ---- a group ---- */

#define LINE_GROUP ",\"group\":" /* the first member of its line, which begins with no comma */

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
	if (status == STATUS_OK)
		status = p->groups ? groups_find(p->groups, &key, hash, &g) : STATUS_NO_MEMORY;
	if (status != STATUS_OK)
		json_fail(j, status);
	return status == STATUS_OK ? g : NULL;
}

/* Reads the text's column i, and adds it to the group. */
static void get_column(struct json_text *j, struct group *g, const struct plan *plan, const struct partial_map *map, size_t i,
		       struct key_arena *texts, struct partial *blank)
{
	size_t c = map->columns[i];
	enum status status;

	if (c == SIZE_MAX) {
		json_skip(j);
		return;
	}
	if (json_try(j, "{}"))
		return;
	column_text(j, &blank->columns[c], &plan->columns[c], COLUMN_EXTREMES, map->offset_bytes);
	if (j->status != STATUS_OK)
		return;
	status = group_add_column(g, plan, c, &blank->columns[c], texts);
	if (status != STATUS_OK)
		json_fail(j, status);
	column_clear(&blank->columns[c]);
}

static void get_pair(struct json_text *j, struct group *g, const struct plan *plan, const struct partial_map *map, size_t i)
{
	size_t k = map->pairs[i];

	if (k == SIZE_MAX)
		json_skip(j);
	else if (json_try(j, "{}"))
		return;
	else if (group_need_rest(g, plan) == STATUS_OK)
		pair_text(j, &g->rest->pairs[k], &plan->pairs[k], map->are_swapped[i]);
	else
		json_fail(j, STATUS_NO_MEMORY);
}

static void get_window(struct json_text *j, struct group *g, const struct plan *plan, size_t i, struct window_fold *window)
{
	enum status status;

	if (j->at < j->end && *j->at != '}')
		window_members(j, window);
	status = group_window_add_fold(g, plan, i, window);
	window_clear(window);
	if (status != STATUS_OK)
		json_fail(j, status);
}

/* What a group has folded. Writing: p; texts and map: NULL. Reading: p is blank, and stays so; what is read is added to g. */
static void group_folds(struct json_text *j, struct group *g, struct partial *p, const struct plan *plan,
			const struct partial_map *map, struct key_arena *texts)
{
	size_t ncolumns = map ? map->ncolumns : plan->ncolumns, npairs = map ? map->npairs : plan->npairs;

	json_mark(json_member(j, "columns"), "[");
	for (size_t i = 0; i < ncolumns && j->status == STATUS_OK; i++)
		if (json_next(j)->reads)
			get_column(j, g, plan, map, i, texts, p);
		else
			column_text(j, &p->columns[i], &plan->columns[i], form_of(&plan->columns[i]), 0);
	if (npairs)
		json_mark(json_member(json_mark(j, "]"), "pairs"), "[");
	for (size_t i = 0; i < npairs && j->status == STATUS_OK; i++)
		if (json_next(j)->reads)
			get_pair(j, g, plan, map, i);
		else
			pair_text(j, &p->pairs[i], &plan->pairs[i], false);
	if (plan->nwindows)
		json_mark(json_member(json_mark(j, "]"), "windows"), "[");
	for (size_t i = 0; i < plan->nwindows && j->status == STATUS_OK; i++) {
		json_mark(json_next(j), "{");
		if (j->reads)
			get_window(j, g, plan, i, &p->windows[i]);
		else if (!window_is_empty(&p->windows[i]))
			window_members(j, &p->windows[i]);
		json_mark(j, "}");
	}
	json_mark(j, "]");
}

static void group_numbers(struct json_text *j, uint64_t *first, uint64_t *nrecords)
{
	json_number(json_member(j, "first"), first);
	json_number(json_member(j, "records"), nrecords);
}

void group_write(struct group *g, const struct plan *plan, struct partial *blank, struct json_text *j)
{
	uint64_t first = plan->emits ? 0 : g->first, nrecords = g->nrecords; /* where records are printed, it is a number of the run */
	struct partial *p;

	if (nrecords == 0)
		return; /* it was looked for */
	p = group_partial(g, plan, blank);
	if (!p) {
		json_fail(j, STATUS_NO_MEMORY);
		return;
	}
	json_put(j, "{");
	json_put(json_member_name(j, LINE_GROUP), "[");
	for (size_t i = 0; i < plan->nkeys; i++) {
		size_t nbytes;
		const char *value = group_key_value(g, i, &nbytes);
		json_put_string(json_next(j), value, nbytes);
	}
	json_put(j, "]");
	group_numbers(j, &first, &nrecords);
	group_folds(j, g, p, plan, NULL, NULL);
	json_put(j, "}");
	json_end_line(j);
	if (p == blank)
		partial_clear(blank);
}

/* Reads the rest of a group's line into p's groups. */
static void get_group(struct json_text *j, struct partial *p, const struct plan *plan, const struct partial_map *map,
		      struct partial *blank)
{
	uint64_t first = 0, nrecords = 0;
	struct group *g;

	json_mark(j, "[");
	g = find_group(p, plan, j);
	json_mark(j, "]");
	group_numbers(j, &first, &nrecords);
	first += map->offset_bytes;
	if (nrecords == 0 || first > OFFSET_BYTES_MAX)
		json_fail(j, STATUS_DAMAGED);
	if (j->status != STATUS_OK)
		return;
	g->first = g->nrecords == 0 || first < g->first ? first : g->first;
	g->nrecords += nrecords;
	group_folds(j, g, blank, plan, map, &p->groups->texts);
}

/* ---- a partial ---- */

#define LINE_RECORDS ",\"records\":"
#define LINE_COLUMN ",\"column\":"
#define LINE_PAIR ",\"pair\":"
#define LINE_WINDOW ",\"window\":"

static void records_members(struct json_text *j, struct partial *p)
{
	add_number(j, &p->nrecords);
	add_number(json_member(j, "ragged"), &p->nragged);
	add_number(json_member(j, "headers"), &p->nheaders);
	add_number(json_member(j, "undecided"), &p->nundecided);
	json_mark(json_member(j, "matched"), "[");
	for (size_t i = 0; i < p->npredicates; i++)
		add_number(json_next(j), &p->nmatched[i]);
	json_mark(j, "]");
}

/* Begins the line of a column, pair or window, which goes on in the same way where it is broken. */
static void begin_line(struct json_text *j, const char *name, size_t i, char prefix[PREFIX_NBYTES])
{
	snprintf(prefix, PREFIX_NBYTES, "{%s%zu", name + 1, i);
	json_put(j, prefix);
	j->prefix = prefix;
}

static void end_line(struct json_text *j)
{
	j->prefix = NULL;
	json_put(j, "}");
	json_end_line(j);
}

/* Whether the kind of the column is known for sure: of others, it depends on the chunks, and nobody asks. */
static bool has_kind(const struct plan_column *plan)
{
	return plan->parses && plan->invalid != INVALID_TEXT;
}

void partial_write(struct partial *p, const struct plan *plan, struct json_text *j)
{
	char prefix[PREFIX_NBYTES];

	json_put(j, "{");
	records_members(json_member_name(j, LINE_RECORDS), p);
	end_line(j);
	for (size_t c = 0; c < plan->ncolumns; c++) {
		struct column_partial *column = &p->columns[c];
		enum column_kind kind = has_kind(&plan->columns[c]) ? column_kind(column) : COLUMN_UNKNOWN;
		if (column_is_empty(column) && kind == COLUMN_UNKNOWN)
			continue;
		p->full_column = c;
		begin_line(j, LINE_COLUMN, c, prefix);
		column_members(j, column, &plan->columns[c], kind, form_of(&plan->columns[c]), 0);
		end_line(j);
	}
	for (size_t i = 0; i < plan->npairs; i++) {
		if (pair_is_empty(&p->pairs[i]))
			continue;
		begin_line(j, LINE_PAIR, i, prefix);
		j->prefix = NULL;
		pair_members(j, &p->pairs[i], &plan->pairs[i], false);
		end_line(j);
	}
	for (size_t i = 0; i < plan->nwindows; i++) {
		if (window_is_empty(&p->windows[i]))
			continue;
		begin_line(j, LINE_WINDOW, i, prefix);
		window_members(j, &p->windows[i]);
		end_line(j);
	}
}

/* An index below n, which members follow. */
static size_t get_index(struct json_text *j, size_t n)
{
	uint64_t i = json_get_number(j);

	if (i < n && j->at < j->end && *j->at == ',')
		return (size_t)i;
	json_fail(j, STATUS_DAMAGED);
	return SIZE_MAX;
}

/* Skips what is not asked for, up to the end of the line. */
static void skip_members(struct json_text *j)
{
	j->at = j->end - 1;
}

static void get_line(struct json_text *j, struct partial *p, const struct plan *plan, const struct partial_map *map,
		     struct partial *blank)
{
	size_t i;

	if (json_may_name(j, false, LINE_RECORDS)) {
		records_members(j, p);
	} else if (json_may_name(j, false, LINE_COLUMN)) {
		if ((i = get_index(j, map->ncolumns)) == SIZE_MAX)
			return;
		if (map->columns[i] == SIZE_MAX) {
			skip_members(j);
			return;
		}
		p->full_column = map->columns[i];
		column_members(j, &p->columns[p->full_column], &plan->columns[p->full_column], COLUMN_UNKNOWN, COLUMN_EXTREMES,
			       map->offset_bytes);
	} else if (json_may_name(j, false, LINE_PAIR)) {
		if ((i = get_index(j, map->npairs)) == SIZE_MAX)
			return;
		if (map->pairs[i] == SIZE_MAX)
			skip_members(j);
		else
			pair_members(j, &p->pairs[map->pairs[i]], &plan->pairs[map->pairs[i]], map->are_swapped[i]);
	} else if (json_may_name(j, false, LINE_WINDOW)) {
		if ((i = get_index(j, p->nwindows)) != SIZE_MAX)
			window_members(j, &p->windows[i]);
	} else if (plan->nkeys && json_may_name(j, false, LINE_GROUP)) {
		get_group(j, p, plan, map, blank);
	} else {
		json_fail(j, STATUS_DAMAGED);
	}
}

void partial_read_kind(struct partial *p, const struct partial_map *map, struct json_text from)
{
	uint64_t i;

	json_mark(&from, "{");
	if (!json_may_name(&from, false, LINE_COLUMN))
		return;
	i = json_get_number(&from);
	if (!json_may(&from, false, "count") || i >= map->ncolumns || map->columns[i] == SIZE_MAX)
		return; /* the line is damaged, or goes on with another */
	json_get_number(&from);
	if (json_may(&from, false, "kind"))
		kind_text(&from, &p->columns[map->columns[i]].kind);
}

void partial_read_line(struct partial *p, const struct plan *plan, const struct partial_map *map,
		       struct partial *blank, struct json_text *j)
{
	json_mark(j, "{");
	get_line(j, p, plan, map, blank);
	json_mark(j, "}");
	if (j->at != j->end)
		json_fail(j, STATUS_DAMAGED);
}
