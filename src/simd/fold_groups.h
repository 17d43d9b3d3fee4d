/* SPDX-License-Identifier: MIT
 *
 * simd/fold_groups.h - the body of simd_ops.fold for sets with wide registers, over the groups of
 * simd/groups.h.
 *
 * Rows are folded in blocks. Rows of the current format are added. The ends of the others are
 * packed together as rows again; of these, the rows that have the last one's format are added,
 * and so on, until few are left for groups of mixed formats. So a column in which one number in ten
 * has a digit more or less does not fall back to single rows. This works only for blocks in which
 * every row can be folded: otherwise the block is discarded, and its rows are folded group by
 * group, in order, up to the one that cannot be. The column's last folds decide which way is tried
 * first.
 *
 * The including file defines, besides what simd/groups.h needs (an element has 64 bits):
 *   lanes_only(x, rows)                x, but 0 in element i if bit i of rows is not set
 *   lanes_pack(x, rows)                x's elements whose bit in rows is set, from element 0 on;
 *                                      undefined behind them
 *   lanes_fold_min(a, x, rows), _max   by elements; a where the bit in rows is not set
 */
#ifndef GPUSTAT_SIMD_GROUPS_FOLD_H
#define GPUSTAT_SIMD_GROUPS_FOLD_H

#define SIMD_OWN_FOLD
#include "simd/groups.h"

#define GROUPS_MAX 512 /* numbers below 10^16 whose sum fits in 64 bits */

/* Sums, minima and maxima: an element for each row of a group. */
struct simd_sums {
	lanes low, high, min, max; /* the sum is low + high x 10^16 */
	unsigned ngroups, nrows;
	bool extremes; /* minima and maxima are wanted */
};

static inline struct simd_sums sums_none(bool extremes)
{
	return (struct simd_sums){LANES_64(0), LANES_64(0), LANES_64(INT64_MAX),
				  LANES_64(INT64_MIN), 0, 0, extremes};
}

/* Adds the sums to the bin of their scale. */
static __attribute__((noinline)) void sums_flush(const struct simd_sums *s, int scale,
						 struct decimal_fold *fold)
{
	int64_t low[GROUP_NROWS], high[GROUP_NROWS], min[GROUP_NROWS], max[GROUP_NROWS];
	struct decimal_bin *bin;

	if (s->nrows == 0)
		return;
	memcpy(low, &s->low, sizeof low);
	memcpy(high, &s->high, sizeof high);
	memcpy(min, &s->min, sizeof min);
	memcpy(max, &s->max, sizeof max);
	bin = simd_bin(fold, scale);
	for (unsigned i = 0; i < GROUP_NROWS; i++) {
		bin->sum += low[i] + (int128)10000000000000000 * high[i];
		bin->min = min[i] < bin->min ? min[i] : bin->min;
		bin->max = max[i] > bin->max ? max[i] : bin->max;
	}
	fold->count += s->nrows;
}

/* Like sums_flush, and clears them. Passes a copy, so that *s can stay in registers. */
SIMD_INLINE void sums_move(struct simd_sums *s, int scale, struct decimal_fold *fold)
{
	const struct simd_sums copy = *s;

	sums_flush(&copy, scale, fold);
	*s = sums_none(copy.extremes);
}

/* Adds the rows of the group that are in `rows`. */
SIMD_INLINE void sums_add(struct simd_sums *s, const struct simd_group *g, bool is_long,
			  unsigned rows)
{
	s->low = LANES(add_epi64)(s->low, rows == GROUP_ALL ? g->low : lanes_only(g->low, rows));
	if (is_long)
		s->high = LANES(add_epi64)(s->high, lanes_only(g->high, rows));
	if (s->extremes) {
		s->min = lanes_fold_min(s->min, g->whole, rows);
		s->max = lanes_fold_max(s->max, g->whole, rows);
	}
	s->ngroups++;
	s->nrows += rows == GROUP_ALL ? GROUP_NROWS : (unsigned)__builtin_popcount(rows);
}

/* ---- the fold ---- */

/* One call of simd_ops.fold. */
struct simd_folding {
	const char *text;
	bool drops_cr;
	struct decimal_fold *fold;
	uint64_t *nmissing;
	struct simd_hint *hint;
	struct simd_format format; /* of *hint */
};

/* Folds, one by one, those of a group's first n rows that are not in `done`, up to the first that
 * cannot be folded. Returns the number of rows before it. */
static __attribute__((noinline)) unsigned fold_singles(const struct simd_folding *f,
						       struct simd_rows rows, unsigned n,
						       unsigned done)
{
	unsigned r = 0;

	while (r < n && (done >> r & 1 ||
			 simd_fold_some(f->text, rows.ends + r * rows.stride, rows.stride, 1,
					f->drops_cr, simd_decimal(f->hint), f->fold,
					f->nmissing) == 1))
		r++;
	return r;
}

/* Learns the number format from the last non-empty field of rows [0, n) and makes it current. */
static __attribute__((noinline)) void learn(struct simd_folding *f, struct simd_rows rows,
					    unsigned n)
{
	while (n-- > 0) {
		const uint32_t *end = rows.ends + n * rows.stride;
		uint32_t begin = end[-1] + 1;
		bool has_cr = f->drops_cr && *end != begin && f->text[*end - 1] == '\r';
		if (*end - begin <= has_cr)
			continue;
		format_learn(f->hint, f->text, begin, *end, has_cr);
		format_make(&f->format, f->hint);
		return;
	}
}

/* Sets the exponents of a group's rows: the scale is the number of digits after the point less
 * the exponent. Returns the rows whose suffix is the format's, or an exponent of the same
 * length. */
static inline unsigned find_exponents(const struct simd_folding *f,
				      const struct simd_fields *fields, int exponents[GROUP_NROWS])
{
	unsigned rows = fields->suffixes;

	for (unsigned r = 0; r < GROUP_NROWS; r++)
		exponents[r] = f->hint->nfraction - f->hint->scale;
	for (unsigned left = GROUP_ALL & ~rows; left; left &= left - 1) {
		unsigned r = (unsigned)__builtin_ctz(left);
		const char *last = f->text + fields->ends[r * fields->stride];
		bool has_cr = f->drops_cr && last[-1] == '\r';
		uint32_t n = f->format.suffix_nbytes - has_cr;
		/* simd_exponent needs one byte before it, of any value. */
		uint32_t at = simd_exponent(last - has_cr - n - 1, 0, n + 1, &exponents[r]);
		rows |= (unsigned)(at == 1) << r;
	}
	return rows;
}

/* Folds a group of n rows of mixed formats. Returns the number of rows before the first that
 * cannot be folded. *g: those of them that have the current format, which the caller adds. */
static __attribute__((noinline)) unsigned fold_rest(const struct simd_folding *f,
						    struct simd_rows rows, unsigned n,
						    struct simd_group *g)
{
	struct simd_fields fields = fields_find(&f->format, rows);
	int exponents[GROUP_NROWS], scales[GROUP_NROWS];
	uint64_t places[GROUP_NROWS];
	int64_t numbers[GROUP_NROWS];
	unsigned found = find_exponents(f, &fields, exponents) & ((1u << n) - 1);
	unsigned ndone = n, same = 0;

	group_convert_any(&fields, simd_decimal(f->hint), g, places);
	found &= g->matches;
	for (unsigned r = 0; r < GROUP_NROWS; r++) {
		scales[r] = (int)places[r] - (places[r] > 0) - exponents[r];
		found &= ~((unsigned)(scales[r] < 0 || scales[r] >= DECIMAL_NSCALES) << r);
		same |= (unsigned)(scales[r] == f->hint->scale) << r;
	}
	if (found != (1u << n) - 1)
		ndone = fold_singles(f, rows, n, found);
	found &= (1u << ndone) - 1;
	memcpy(numbers, &g->whole, sizeof numbers);
	for (unsigned left = found & ~same; left; left &= left - 1) {
		unsigned r = (unsigned)__builtin_ctz(left);
		decimal_fold_add(f->fold, (struct decimal){numbers[r], scales[r]});
	}
	g->matches = found & same;
	return ndone;
}

/* Folds a group of n rows, fewer than GROUP_NROWS or of mixed formats. Returns the number of rows
 * folded; *unlike: whether none has the current format. */
SIMD_INLINE unsigned fold_part(const struct simd_folding *f, struct simd_rows rows, unsigned n,
			       struct simd_sums *sums, bool *unlike)
{
	struct simd_group g;
	unsigned ndone = fold_rest(f, rows, n, &g);

	sums_add(sums, &g, true, g.matches);
	*unlike = g.matches == 0 && ndone == n;
	return ndone;
}

/* Folds rows up to and including a group in which none has the current format, or up to the first
 * row that cannot be folded. Returns the number of rows folded. *unlike: that group's size, or
 * 0. */
SIMD_INLINE size_t fold_alike(const struct simd_folding *f, struct simd_rows rows, size_t nrows,
			      bool is_long, unsigned *unlike)
{
	struct simd_sums sums = sums_none(!f->hint->sums_only);
	unsigned n = GROUP_NROWS, ndone = GROUP_NROWS;
	bool none = false;
	size_t r = 0;

	while (r < nrows && ndone == n && !none) {
		struct simd_few few;
		struct simd_rows group = rows;
		struct simd_group g;
		if (sums.ngroups == GROUPS_MAX)
			sums_move(&sums, f->hint->scale, f->fold);
		if (nrows - r < GROUP_NROWS) {
			n = (unsigned)(nrows - r);
			group = few_rows(&few, rows, n);
		}
		g = convert_rows(&f->format, group, is_long);
		if (g.matches == GROUP_ALL && n == GROUP_NROWS)
			sums_add(&sums, &g, is_long, GROUP_ALL);
		else if (g.matches == GROUP_ALL)
			sums_add(&sums, &g, is_long, (1u << n) - 1);
		else
			ndone = fold_part(f, group, n, &sums, &none);
		r += ndone < n ? ndone : n;
		rows.ends += GROUP_NROWS * rows.stride;
	}
	sums_move(&sums, f->hint->scale, f->fold);
	*unlike = none ? n : 0;
	return r;
}

/* ---- rows of the current format first ---- */

#define BLOCK_NROWS 1024 /* no more than GROUPS_MAX groups */
#define WHOLE_FOLDS_MIN 8 /* at most one block fold in 8 is discarded */

/* Adds those of a group's first n rows that have the format, and writes the ends of the others to
 * `left`, two for each: the end before the field, and its own. Returns the number of others. */
SIMD_INLINE size_t pass_group(const struct simd_format *format, struct simd_rows rows, unsigned n,
			      bool is_long, struct simd_sums *sums, uint32_t *left)
{
	struct simd_group g = convert_rows(format, rows, is_long);
	unsigned all = (1u << n) - 1, others = all & ~g.matches;
	lanes pairs;

	if (g.matches == GROUP_ALL && n == GROUP_NROWS) {
		sums_add(sums, &g, is_long, GROUP_ALL);
		return 0;
	}
	sums_add(sums, &g, is_long, all & g.matches);
	if (others == 0)
		return 0;
	pairs = lanes_pack(lanes_pairs(rows.ends - 1, rows.stride), others);
	LANES_BITS(storeu)((lanes *)(void *)left, pairs); /* memcpy would be a call, and checked */
	return (unsigned)__builtin_popcount(others);
}

/* Like pass_group, for any number of rows. They may be stored in `left` themselves, which has room
 * for a group more. */
SIMD_INLINE size_t pass_rows(const struct simd_format *format, struct simd_rows rows, size_t nrows,
			     bool is_long, struct simd_sums *sums, uint32_t *left)
{
	size_t nleft = 0;
	struct simd_few few;

	for (; nrows >= GROUP_NROWS; nrows -= GROUP_NROWS) {
		nleft += pass_group(format, rows, GROUP_NROWS, is_long, sums, left + 2 * nleft);
		rows.ends += GROUP_NROWS * rows.stride;
	}
	if (nrows == 0)
		return nleft;
	rows = few_rows(&few, rows, (unsigned)nrows);
	return nleft + pass_group(format, rows, (unsigned)nrows, is_long, sums, left + 2 * nleft);
}

/* Folds nrows rows of mixed formats. Returns false where one of them cannot be folded. */
static bool fold_any(const struct simd_folding *f, struct simd_rows rows, size_t nrows)
{
	struct simd_sums sums = sums_none(!f->hint->sums_only);
	bool unlike;

	for (size_t r = 0; r < nrows; r += GROUP_NROWS) {
		unsigned n = nrows - r < GROUP_NROWS ? (unsigned)(nrows - r) : GROUP_NROWS;
		struct simd_rows group = rows;
		struct simd_few few;
		if (n < GROUP_NROWS)
			group = few_rows(&few, rows, n);
		if (fold_part(f, group, n, &sums, &unlike) < n)
			return false;
		rows.ends += GROUP_NROWS * rows.stride;
	}
	sums_move(&sums, f->hint->scale, f->fold);
	return true;
}

/* Folds the nrows rows at `left`: repeatedly those that have the last one's format; once a pass
 * folds less than a quarter, the rest as mixed formats. Returns false where one cannot be
 * folded. */
static bool fold_by_formats(struct simd_folding *f, uint32_t *left, size_t nrows)
{
	const struct simd_rows rows = {f->text, left + 1, 2};
	size_t before = 2 * nrows;

	while (nrows > GROUP_NROWS && nrows < before - before / 4) {
		struct simd_sums sums = sums_none(!f->hint->sums_only);
		learn(f, rows, (unsigned)nrows);
		before = nrows;
		nrows = f->format.is_long ? pass_rows(&f->format, rows, nrows, true, &sums, left)
					: pass_rows(&f->format, rows, nrows, false, &sums, left);
		sums_move(&sums, f->hint->scale, f->fold);
	}
	return fold_any(f, rows, nrows);
}

/* Folds the nrows rows at `left`, which lack the current format; keeps it current. If one cannot be
 * folded, folds none and returns false. */
static __attribute__((noinline)) bool fold_others(const struct simd_folding *f, uint32_t *left,
						  size_t nrows)
{
	struct simd_folding others = *f;
	struct simd_hint hint = *f->hint;
	struct decimal_fold fold;
	uint64_t nmissing = 0;

	decimal_fold_clear(&fold);
	others.fold = &fold;
	others.nmissing = &nmissing;
	others.hint = &hint;
	if (!fold_by_formats(&others, left, nrows))
		return false;
	decimal_fold_combine(f->fold, &fold);
	*f->nmissing += nmissing;
	return true;
}

/* Folds up to BLOCK_NROWS rows. If one cannot be folded, folds none and returns false. */
SIMD_INLINE bool fold_block(struct simd_folding *f, struct simd_rows rows, size_t nrows,
			    bool is_long)
{
	uint32_t left[2 * (BLOCK_NROWS + GROUP_NROWS)];
	struct simd_sums sums = sums_none(!f->hint->sums_only);
	size_t nleft = pass_rows(&f->format, rows, nrows, is_long, &sums, left);

	if (nleft > 0 && !fold_others(f, left, nleft))
		return false;
	sums_move(&sums, f->hint->scale, f->fold);
	if (nleft > nrows / 2)
		learn(f, rows, (unsigned)nrows);
	return true;
}

/* Folds rows block by block, up to a block with a row that cannot be folded. Returns the number of
 * rows folded. */
static size_t fold_blocks(struct simd_folding *f, struct simd_rows rows, size_t nrows)
{
	size_t r = 0;

	while (r < nrows) {
		size_t n = nrows - r < BLOCK_NROWS ? nrows - r : BLOCK_NROWS;
		if (!(f->format.is_long ? fold_block(f, rows, n, true)
				      : fold_block(f, rows, n, false)))
			break;
		r += n;
		rows.ends += n * rows.stride;
	}
	return r;
}

/* simd_ops.fold */
static size_t groups_fold(const char *text, const uint32_t *ends, size_t stride, size_t nrows,
			  bool drops_cr, struct decimal_fold *fold, uint64_t *nmissing,
			  struct simd_hint *hint)
{
	struct simd_folding f;
	unsigned unlike = 1;
	size_t r = 0;

	f.text = text;
	f.drops_cr = drops_cr;
	f.fold = fold;
	f.nmissing = nmissing;
	f.hint = hint;
	hint_forget_cr(hint, drops_cr);
	format_make(&f.format, hint);
	if (hint->nwhole_folds >= WHOLE_FOLDS_MIN)
		r = fold_blocks(&f, (struct simd_rows){text, ends, stride}, nrows);
	while (unlike && r < nrows) {
		struct simd_rows rows = {text, ends + r * stride, stride};
		r += f.format.is_long ? fold_alike(&f, rows, nrows - r, true, &unlike)
				    : fold_alike(&f, rows, nrows - r, false, &unlike);
		rows.ends = ends + (r - unlike) * stride;
		if (unlike)
			learn(&f, rows, unlike);
	}
	if (r < nrows)
		hint->nwhole_folds = 0;
	else
		hint->nwhole_folds += hint->nwhole_folds < WHOLE_FOLDS_MIN;
	return r;
}

#endif
