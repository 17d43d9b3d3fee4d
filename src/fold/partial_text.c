/* SPDX-License-Identifier: MIT
 *
 * partial_text.c - see partial_text.h; groups are in group_text.c.
 */
#include "fold/partial_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fold/pair.h"
#include "fold/window.h"
#include "number/exact_text.h"

#define PREFIX_NBYTES 64

/* ---- a column: writing ---- */

static bool has_moment(const struct moment_cells *m, int i)
{
	return moments_cell(m, i) && !moment_table[i]->is_empty(moments_cell(m, i));
}

bool column_is_empty(const struct column_partial *column)
{
	for (int i = 0; i < NCELLS; i++)
		if (has_moment(&column->moments, i))
			return false;
	return column->fast.count == 0 && column->fast.scales == 0 && !column_has_wide(column) &&
	       column->nmissing == 0 && column->ninvalid == 0;
}

static void put_member(struct json_writer *to, const char *name, uint64_t number)
{
	if (number == 0)
		return;
	json_put(to, ",\"");
	json_put(to, name);
	json_put(to, "\":");
	json_put_number(to, number);
}

/*
 * The numbers of the fast path lie in bins by their scales or, in groups, at one scale while they fit: it depends on how
 * the input was cut, and so do extremes that nobody needs. Their sum, extremes and largest scale do not: these are
 * written, in one bin.
 */

#define NO_EXTREMES ",\"9223372036854775807\",\"-9223372036854775808\"" /* of a bin: the identities */
#define COUNT_MAX (UINT64_C(1) << 48) /* of numbers in all parts: so no sum of them is beyond 2^127 */

/* No sum of count numbers, each below 2^63, is larger. */
static int128 sum_limit(uint64_t count)
{
	return (int128)(count < COUNT_MAX ? count : COUNT_MAX) << 63;
}

/* Multiplies x by 10^nzeros. Returns false where it is no int64 then. */
static bool lengthen(int64_t *x, int nzeros)
{
	int128 y = *x;

	if (!decimal_rescale(&y, nzeros) || y != (int64_t)y)
		return false;
	*x = (int64_t)y;
	return true;
}

/* Sets *out to all bins as one of the largest scale. Returns false where it is no bin that is read again. */
static bool join_bins(const struct by_scale *fast, bool has_extremes, struct decimal_bin *out)
{
	const union scale_value *value = by_scale_values(fast);
	const int128 most = sum_limit(fast->count);
	int scale = 31 - __builtin_clz(fast->scales);

	*out = (struct decimal_bin){0, INT64_MAX, INT64_MIN};
	for (uint32_t left = fast->scales; left; left &= left - 1, value++) {
		int nzeros = scale - __builtin_ctz(left);
		struct decimal_bin bin = value->bin;
		if (!decimal_rescale(&bin.sum, nzeros) || __builtin_add_overflow(out->sum, bin.sum, &out->sum))
			return false;
		if (!has_extremes || bin.min > bin.max)
			continue;
		if (!lengthen(&bin.min, nzeros) || !lengthen(&bin.max, nzeros))
			return false;
		out->min = bin.min < out->min ? bin.min : out->min;
		out->max = bin.max > out->max ? bin.max : out->max;
	}
	return out->sum <= most && out->sum >= -most;
}

static void put_bin(struct json_writer *to, int scale, const struct decimal_bin *bin)
{
	json_put(to, "[");
	json_put_number(to, (uint64_t)scale);
	json_put(to, ",");
	exact_put_int128(to, bin->sum);
	json_put(to, ",");
	exact_put_int128(to, bin->min);
	json_put(to, ",");
	exact_put_int128(to, bin->max);
	json_put(to, "]");
}

static void put_wide(struct json_writer *to, const struct wide_fold *wide)
{
	const struct wide *of[] = {&wide->sum, &wide->min, &wide->max};

	json_put(to, ",\"wide\":[");
	json_put_number(to, wide->count);
	json_put(to, ",");
	json_put_number(to, (uint64_t)wide->scale);
	for (int i = 0; i < 3; i++) {
		json_put(to, ",");
		exact_put_limbs(to, of[i]->limb, WIDE_NLIMBS);
	}
	json_put(to, "]");
}

/* prefix: as in column_write. */
static void put_moments(struct json_writer *to, const struct moment_cells *moments, const char *prefix)
{
	char again[PREFIX_NBYTES + 32];

	for (int i = 0; i < NCELLS; i++) {
		if (!has_moment(moments, i))
			continue;
		json_put(to, ",\"");
		json_put(to, moment_names[i]);
		json_put(to, "\":");
		snprintf(again, sizeof again, "%s,\"%s\"", prefix ? prefix : "", moment_names[i]);
		to->prefix = prefix ? again : NULL;
		moment_table[i]->write(moments_cell(moments, i), to);
		to->prefix = NULL;
	}
}

/* Writes all members but those of numbers and moments. count: of the numbers in bins. */
static void put_counts(const struct column_partial *column, enum column_kind kind, uint64_t count,
		       struct json_writer *to)
{
	static const char *const kinds[] = {
		[COLUMN_UNKNOWN] = "", [COLUMN_NUMBER] = ",\"kind\":\"number\"",
		[COLUMN_TEXT] = ",\"kind\":\"text\""};

	json_put(to, "\"count\":");
	json_put_number(to, count);
	json_put(to, kinds[kind]);
	put_member(to, "missing", column->nmissing);
	put_member(to, "invalid", column->ninvalid);
	put_member(to, "nuls", column->nnuls);
	put_member(to, "mixed", column->is_mixed);
}

static void put_members(const struct column_partial *column, enum column_kind kind, unsigned needs,
			const char *prefix, struct json_writer *to)
{
	bool has_bins = column->fast.scales != 0, has_extremes = needs & MOMENT_EXTREMES;
	struct decimal_bin bin;
	struct wide_fold all;

	if (has_bins && !join_bins(&column->fast, has_extremes, &bin)) {
		column_numbers(column, &all);
		if (!has_extremes)
			wide_clear(&all.min), wide_clear(&all.max);
		put_counts(column, kind, 0, to);
		put_wide(to, &all);
	} else {
		put_counts(column, kind, column->fast.count, to);
		if (has_bins) {
			json_put(to, ",\"bins\":[");
			put_bin(to, 31 - __builtin_clz(column->fast.scales), &bin);
			json_put(to, "]");
		}
		if (column_has_wide(column))
			put_wide(to, column->wide);
	}
	put_moments(to, &column->moments, prefix);
}

void column_write(const struct column_partial *column, unsigned needs, struct json_writer *to)
{
	json_put(to, "{");
	if (!column_is_empty(column))
		put_members(column, COLUMN_UNKNOWN, needs, NULL, to); /* a group's columns have the run's kind */
	json_put(to, "}");
}

/* ---- a column: reading ---- */

static inline bool try_member(struct json_reader *r, const char *name)
{
	size_t nbytes = strlen(name);

	if ((size_t)(r->end - r->at) < nbytes + 3 || r->at[0] != '"' || memcmp(r->at + 1, name, nbytes) != 0 ||
	    r->at[nbytes + 1] != '"' || r->at[nbytes + 2] != ':')
		return false;
	r->at += nbytes + 3;
	return true;
}

static int64_t read_extreme(struct json_reader *r)
{
	int128 x = exact_int128(r);

	if (x != (int64_t)x)
		json_fail(r, STATUS_DAMAGED);
	return (int64_t)x;
}

/* count: of the numbers whose sums the bins are. */
static void read_bins(struct json_reader *r, uint64_t count, struct by_scale *fast)
{
	const int128 most = sum_limit(count);

	json_expect(r, "[");
	while (json_try(r, "[") || json_try(r, ",[")) {
		int scale = exact_scale(r, DECIMAL_NSCALES);
		struct decimal_bin bin;
		json_expect(r, ",");
		bin.sum = exact_int128(r);
		json_expect(r, ",");
		bin.min = read_extreme(r);
		json_expect(r, ",");
		bin.max = read_extreme(r);
		json_expect(r, "]");
		if (bin.sum > most || bin.sum < -most)
			json_fail(r, STATUS_DAMAGED);
		if (r->status == STATUS_OK && by_scale_add_bin(fast, scale, &bin) != STATUS_OK)
			json_fail(r, STATUS_NO_MEMORY);
	}
	json_expect(r, "]");
}

static void read_wide(struct json_reader *r, struct column_partial *column)
{
	struct wide_fold later;
	struct wide *of[] = {&later.sum, &later.min, &later.max};

	json_expect(r, "[");
	later.count = json_number(r);
	json_expect(r, ",");
	later.scale = exact_scale(r, WIDE_SCALE_LAST + 1);
	for (int i = 0; i < 3; i++) {
		json_expect(r, ",");
		exact_limbs(r, of[i]->limb, WIDE_NLIMBS);
	}
	json_expect(r, "]");
	if (later.count > COUNT_MAX || (column->wide && column->wide->count > COUNT_MAX))
		json_fail(r, STATUS_DAMAGED);
	if (r->status == STATUS_OK && !column->wide)
		column->wide = calloc(1, sizeof *column->wide);
	if (r->status != STATUS_OK)
		return;
	if (column->wide)
		wide_fold_combine(column->wide, &later);
	else
		json_fail(r, STATUS_NO_MEMORY);
}

static void read_kind(struct json_reader *r, struct column_partial *column)
{
	bool is_text = json_try(r, "\"text\"");

	if (!is_text)
		json_expect(r, "\"number\"");
	if (column->kind == COLUMN_UNKNOWN)
		column->kind = is_text ? COLUMN_TEXT : COLUMN_NUMBER;
}

static void read_moment(struct column_partial *column, const struct plan_column *plan, uint64_t offset_bytes,
			struct json_reader *from)
{
	const struct moment_source source = {from, plan, offset_bytes,
					     column->fast.count + (column_has_wide(column) ? column->wide->count : 0)};

	for (int i = 0; i < NCELLS; i++) {
		if (!(plan->needs & moment_table[i]->moment) || !try_member(from, moment_names[i]))
			continue;
		if (moments_need(&column->moments, i))
			moment_table[i]->read(moments_cell(&column->moments, i), &source);
		else
			json_fail(from, STATUS_NO_MEMORY);
		return;
	}
	json_fail(from, STATUS_DAMAGED);
}

/* Reads the members of a column up to its last, and the brace behind it. */
static void read_members(struct column_partial *column, const struct plan_column *plan, uint64_t offset_bytes,
			 struct json_reader *r)
{
	uint64_t count = 0;

	do {
		if (try_member(r, "count")) {
			column->fast.count += count = json_number(r);
			if (count > COUNT_MAX || column->fast.count > COUNT_MAX)
				json_fail(r, STATUS_DAMAGED);
		} else if (try_member(r, "bins")) {
			read_bins(r, count, &column->fast);
		} else if (try_member(r, "kind")) {
			read_kind(r, column);
		} else if (try_member(r, "missing")) {
			column->nmissing += json_number(r);
		} else if (try_member(r, "invalid")) {
			column->ninvalid += json_number(r);
		} else if (try_member(r, "nuls")) {
			column->nnuls += json_number(r);
		} else if (try_member(r, "mixed")) {
			column->is_mixed |= json_number(r) > 0;
		} else if (try_member(r, "wide")) {
			read_wide(r, column);
		} else {
			read_moment(column, plan, offset_bytes, r);
		}
	} while (json_try(r, ","));
	json_expect(r, "}");
}

void column_read(struct column_partial *column, const struct plan_column *plan, uint64_t offset_bytes,
		 struct json_reader *from)
{
	json_expect(from, "{");
	if (!json_try(from, "}"))
		read_members(column, plan, offset_bytes, from);
}

/* ---- a pair ---- */

static bool has_alone(const struct pair_partial *p, int side)
{
	return p->alone[side] && !column_is_empty(p->alone[side]);
}

bool pair_is_empty(const struct pair_partial *p)
{
	for (int i = 0; i < 2; i++) {
		const union scale_value *value = by_scale_values(&p->products[i]);
		for (uint32_t left = p->products[i].scales; left; left &= left - 1, value++)
			if (value->square.low || value->square.high)
				return false;
		if (exact_has_limbs(p->wide[i], PAIR_WIDE_NLIMBS) || has_alone(p, i))
			return false;
	}
	return true;
}

/* Writes the values without a partner. Their scales are those that all numbers of some rows had together
 * (pair_block.c), and nobody asks for them. */
static void put_alone(const struct column_partial *alone, struct json_writer *to)
{
	const union scale_value *value = by_scale_values(&alone->fast);
	struct exact_sum total;

	json_put(to, "{");
	put_counts(alone, COLUMN_UNKNOWN, alone->fast.count, to);
	exact_sum_begin(&total, 1, DECIMAL_NSCALES - 1);
	for (uint32_t left = alone->fast.scales; left; left &= left - 1, value++) {
		const uint64_t word[] = {(uint64_t)value->bin.sum, (uint64_t)((uint128)value->bin.sum >> 64)};
		exact_sum_add(&total, word, 2, __builtin_ctz(left));
	}
	exact_sum_end(&total, 2);
	for (int i = 0; i < total.npieces; i++) {
		json_put(to, i ? ",[" : ",\"bins\":[[");
		json_put_number(to, (uint64_t)total.pieces[i].scale);
		json_put(to, ",");
		exact_put_piece(to, &total, &total.pieces[i]);
		json_put(to, NO_EXTREMES "]");
	}
	json_put(to, total.npieces ? "]" : "");
	if (column_has_wide(alone))
		put_wide(to, alone->wide);
	put_moments(to, &alone->moments, NULL);
	json_put(to, "}");
}

/* Writes the total of the products. Which scales they have depends on the rows around them, too. */
static void put_total(const struct pair_partial *p, struct json_writer *to)
{
	struct exact_sum total;

	json_put(to, "\"products\":[");
	if (p->products[1].scales == 0) { /* as it nearly always is: the same, and usually in 128 bits */
		exact_put_sums(to, &p->products[0], 1);
		json_put(to, ",[]]");
		return;
	}
	exact_sum_begin(&total, 1, 2 * DECIMAL_NSCALES - 1);
	for (int i = 0; i < 2; i++)
		exact_sum_add_scales(&total, &p->products[i], i * DECIMAL_NSCALES);
	exact_sum_end(&total, 3);
	json_put(to, "[");
	exact_put_pieces(to, &total, 0, DECIMAL_NSCALES);
	json_put(to, "],[");
	exact_put_pieces(to, &total, DECIMAL_NSCALES, 2 * DECIMAL_NSCALES);
	json_put(to, "]]");
}

/* Writes "products" and what follows. */
static void put_products(const struct pair_partial *p, struct json_writer *to)
{
	put_total(p, to);
	for (int i = 0; i < 2; i++) {
		if (!exact_has_limbs(p->wide[i], PAIR_WIDE_NLIMBS))
			continue;
		json_put(to, i ? ",\"negative\":" : ",\"positive\":");
		exact_put_limbs(to, p->wide[i], PAIR_WIDE_NLIMBS);
	}
	for (int i = 0; i < PAIR_NSIDES; i++) {
		if (!has_alone(p, i))
			continue;
		json_put(to, i == PAIR_X ? ",\"x\":" : ",\"y\":");
		put_alone(p->alone[i], to);
	}
}

void pair_write(const struct pair_partial *p, struct json_writer *to)
{
	json_put(to, "{");
	if (!pair_is_empty(p))
		put_products(p, to);
	json_put(to, "}");
}

/* Where products that are read go. */
struct products {
	struct pair_partial *pair;
	int half; /* of the scales */
};

static enum status add_product(void *products, int scale, struct sum192 sum)
{
	struct products *to = products;

	return pair_add_sum(to->pair, (unsigned)(to->half * DECIMAL_NSCALES + scale), sum);
}

static void read_wide_products(struct json_reader *r, struct pair_partial *p, int sign)
{
	int64_t wide[PAIR_WIDE_NLIMBS];
	struct pair_partial later = {.wide = {NULL, NULL}};

	exact_limbs(r, wide, PAIR_WIDE_NLIMBS);
	later.wide[sign] = wide;
	if (r->status == STATUS_OK && pair_combine(p, &later) != STATUS_OK)
		json_fail(r, STATUS_NO_MEMORY);
}

static void read_alone(struct json_reader *r, struct pair_partial *p, const struct plan_pair *plan, int side)
{
	const struct plan_column column = {.needs = plan->needs};

	if (pair_alone(p, side))
		column_read(pair_alone(p, side), &column, 0, r);
	else
		json_fail(r, STATUS_NO_MEMORY);
}

static void read_products(struct pair_partial *p, const struct plan_pair *plan, bool is_swapped,
			  struct json_reader *r)
{
	struct products to = {p, 0};

	json_expect(r, "\"products\":[");
	exact_sums(r, add_product, &to);
	json_expect(r, ",");
	to.half = 1;
	exact_sums(r, add_product, &to);
	json_expect(r, "]");
	if (json_try(r, ",\"positive\":"))
		read_wide_products(r, p, 0);
	if (json_try(r, ",\"negative\":"))
		read_wide_products(r, p, 1);
	if (json_try(r, ",\"x\":"))
		read_alone(r, p, plan, is_swapped ? PAIR_Y : PAIR_X);
	if (json_try(r, ",\"y\":"))
		read_alone(r, p, plan, is_swapped ? PAIR_X : PAIR_Y);
	json_expect(r, "}");
}

void pair_read(struct pair_partial *p, const struct plan_pair *plan, bool is_swapped, struct json_reader *from)
{
	json_expect(from, "{");
	if (!json_try(from, "}"))
		read_products(p, plan, is_swapped, from);
}

/* ---- a partial ---- */

static void put_records(const struct partial *p, struct json_writer *to)
{
	json_put(to, "{\"records\":");
	json_put_number(to, p->nrecords);
	json_put(to, ",\"ragged\":");
	json_put_number(to, p->nragged);
	json_put(to, ",\"headers\":");
	json_put_number(to, p->nheaders);
	json_put(to, ",\"undecided\":");
	json_put_number(to, p->nundecided);
	json_put(to, ",\"matched\":[");
	for (size_t i = 0; i < p->npredicates; i++) {
		json_put(to, i ? "," : "");
		json_put_number(to, p->nmatched[i]);
	}
	json_put(to, "]}");
	json_end_line(to);
}

/* Whether the kind of the column is known for sure: of others, it depends on the chunks, and nobody asks. */
static bool has_kind(const struct plan_column *plan)
{
	return plan->parses && plan->invalid != INVALID_TEXT;
}

void partial_write(struct partial *p, const struct plan *plan, struct json_writer *to)
{
	char prefix[PREFIX_NBYTES];

	put_records(p, to);
	for (size_t c = 0; c < plan->ncolumns; c++) {
		const struct column_partial *column = &p->columns[c];
		enum column_kind kind = has_kind(&plan->columns[c]) ? column_kind(column) : COLUMN_UNKNOWN;
		if (column_is_empty(column) && kind == COLUMN_UNKNOWN)
			continue;
		p->full_column = c;
		snprintf(prefix, sizeof prefix, "{\"column\":%zu", c);
		json_put(to, prefix);
		json_put(to, ",");
		put_members(column, kind, plan->columns[c].needs, prefix, to);
		json_put(to, "}");
		json_end_line(to);
	}
	for (size_t i = 0; i < plan->npairs; i++) {
		if (pair_is_empty(&p->pairs[i]))
			continue;
		snprintf(prefix, sizeof prefix, "{\"pair\":%zu,", i);
		json_put(to, prefix);
		put_products(&p->pairs[i], to);
		json_put(to, "}");
		json_end_line(to);
	}
	for (size_t i = 0; i < plan->nwindows; i++) {
		if (window_is_empty(&p->windows[i]))
			continue;
		snprintf(prefix, sizeof prefix, "{\"window\":%zu,", i);
		window_write(&p->windows[i], prefix, to);
		json_end_line(to);
	}
}

static void read_counts(struct partial *p, struct json_reader *r)
{
	p->nrecords += json_number(r);
	json_expect(r, ",\"ragged\":");
	p->nragged += json_number(r);
	json_expect(r, ",\"headers\":");
	p->nheaders += json_number(r);
	json_expect(r, ",\"undecided\":");
	p->nundecided += json_number(r);
	json_expect(r, ",\"matched\":[");
	for (size_t i = 0; i < p->npredicates; i++) {
		json_expect(r, i ? "," : "");
		p->nmatched[i] += json_number(r);
	}
	json_expect(r, "]}");
}

/* An index below n. */
static size_t read_index(struct json_reader *r, size_t n)
{
	uint64_t i = json_number(r);

	if (i < n)
		return (size_t)i;
	json_fail(r, STATUS_DAMAGED);
	return 0;
}

static void read_column(struct partial *p, const struct plan *plan, const struct partial_map *map,
			struct json_reader *r)
{
	size_t i = read_index(r, map->ncolumns), c;

	json_expect(r, ",");
	if (r->status != STATUS_OK)
		return;
	c = map->columns[i];
	if (c == SIZE_MAX)
		r->at = r->end; /* it is not asked for */
	else
		read_members(&p->columns[c], &plan->columns[c], map->offset_bytes, r);
	p->full_column = c == SIZE_MAX ? p->full_column : c;
}

void partial_read_kind(struct partial *p, const struct partial_map *map, struct json_reader from)
{
	uint64_t i;

	if (!json_try(&from, "{\"column\":"))
		return;
	i = json_number(&from);
	if (!json_try(&from, ",\"count\":") || i >= map->ncolumns || map->columns[i] == SIZE_MAX)
		return; /* the line is damaged, or goes on with another */
	json_number(&from);
	if (json_try(&from, ",\"kind\":"))
		read_kind(&from, &p->columns[map->columns[i]]);
}

static void read_pair(struct partial *p, const struct plan *plan, const struct partial_map *map,
		      struct json_reader *r)
{
	size_t i = read_index(r, map->npairs), k;

	json_expect(r, ",");
	if (r->status != STATUS_OK)
		return;
	k = map->pairs[i];
	if (k == SIZE_MAX)
		r->at = r->end;
	else
		read_products(&p->pairs[k], &plan->pairs[k], map->are_swapped[i], r);
}

static void read_window(struct partial *p, struct json_reader *r)
{
	size_t i = read_index(r, p->nwindows);

	json_expect(r, ",");
	if (r->status == STATUS_OK)
		window_read(&p->windows[i], r);
}

void partial_read_line(struct partial *p, const struct plan *plan, const struct partial_map *map,
		       struct partial *blank, struct json_reader *from)
{
	if (json_try(from, "{\"records\":"))
		read_counts(p, from);
	else if (json_try(from, "{\"column\":"))
		read_column(p, plan, map, from);
	else if (json_try(from, "{\"pair\":"))
		read_pair(p, plan, map, from);
	else if (json_try(from, "{\"window\":"))
		read_window(p, from);
	else if (plan->nkeys && json_try(from, "{\"group\":["))
		group_read(p, plan, map, blank, from);
	else
		json_fail(from, STATUS_DAMAGED);
	if (from->at != from->end)
		json_fail(from, STATUS_DAMAGED);
}
