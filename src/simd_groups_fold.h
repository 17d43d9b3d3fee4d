/* SPDX-License-Identifier: MIT
 *
 * simd_groups_fold.h - the body of simd_ops.fold for sets with wide registers: what is done with
 * the groups of simd_groups.h.
 *
 * A simd_*.c includes this after it has said, beside what simd_groups.h asks for:
 *   lanes_only(x, rows)                x, but 0 in 64 bits number i if bit i of rows is not set
 *   lanes_fold_min(a, x, rows), _max   of 64 bits, a where bit i of rows is not set
 */
#ifndef GPUSTAT_SIMD_GROUPS_FOLD_H
#define GPUSTAT_SIMD_GROUPS_FOLD_H

#define SIMD_OWN_FOLD
#include "simd_groups.h"

#define GROUPS_MAX 512 /* so many numbers below 10^16 fit in a sum of 64 bits */

/* Sums, minima and maxima; 64 bits for each row of a group. */
struct simd_sums {
	lanes low, high, min, max; /* the sum is low + high x 10^16 */
	unsigned ngroups, nrows;
};

static inline struct simd_sums sums_none(void)
{
	return (struct simd_sums){LANES_64(0), LANES_64(0),
				  LANES_64(INT64_MAX), LANES_64(INT64_MIN), 0, 0};
}

/* Puts the sums into the bin of their scale. */
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

/* The same, and makes them none. They go by a copy, so that *s can stay in registers. */
SIMD_INLINE void sums_move(struct simd_sums *s, int scale, struct decimal_fold *fold)
{
	const struct simd_sums copy = *s;

	sums_flush(&copy, scale, fold);
	*s = sums_none();
}

/* Adds the rows of the group that are in `rows`. */
SIMD_INLINE void sums_add(struct simd_sums *s, const struct simd_group *g, bool is_long,
			  unsigned rows)
{
	s->low = LANES(add_epi64)(s->low, rows == GROUP_ALL ? g->low : lanes_only(g->low, rows));
	if (is_long)
		s->high = LANES(add_epi64)(s->high, lanes_only(g->high, rows));
	s->min = lanes_fold_min(s->min, g->whole, rows);
	s->max = lanes_fold_max(s->max, g->whole, rows);
	s->ngroups++;
	s->nrows += rows == GROUP_ALL ? GROUP_NROWS : (unsigned)__builtin_popcount(rows);
}

/* ---- the fold ---- */

/* What one call of simd_ops.fold is about. */
struct simd_folding {
	const char *text;
	bool drops_cr;
	struct decimal_fold *fold;
	uint64_t *nmissing;
	struct simd_hint *hint;
	struct simd_form form; /* of *hint */
};

/* Folds those of a group's first n rows that are not in `done` one by one, up to the first that
 * cannot be folded. Returns how many rows lie before it. */
static __attribute__((noinline)) unsigned fold_singles(const struct simd_folding *f,
						       struct simd_rows rows, unsigned n,
						       unsigned done)
{
	unsigned r = 0;

	while (r < n && (done >> r & 1 ||
			 simd_fold_some(f->text, rows.ends + r * rows.stride, rows.stride, 1,
					f->drops_cr, f->fold, f->nmissing) == 1))
		r++;
	return r;
}

/* Makes the form of the last of a group's first n rows that has one the form in hand. */
static __attribute__((noinline)) void learn(struct simd_folding *f, struct simd_rows rows,
					    unsigned n)
{
	while (n-- > 0) {
		const uint32_t *end = rows.ends + n * rows.stride;
		uint32_t begin = end[-1] + 1;
		bool has_cr = f->drops_cr && *end != begin && f->text[*end - 1] == '\r';
		if (*end - begin <= has_cr)
			continue;
		form_learn(f->hint, f->text, begin, *end, has_cr);
		form_make(&f->form, f->hint);
		return;
	}
}

/* The exponents of a group's rows, by which the scale is less than the digits behind the point.
 * Returns the rows whose suffix is an exponent as long as the form's, or the same. */
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
		uint32_t n = f->form.suffix_nbytes - has_cr;
		/* It is looked for behind one byte, whatever that is. */
		uint32_t at = simd_exponent(last - has_cr - n - 1, 0, n + 1, &exponents[r]);
		rows |= (unsigned)(at == 1) << r;
	}
	return rows;
}

/* Folds a group of n rows of which not all have the form. Returns how many rows lie before the
 * first that cannot be folded; *g: those of them that have the form, still to be added. */
static __attribute__((noinline)) unsigned fold_rest(const struct simd_folding *f,
						    struct simd_rows rows, unsigned n,
						    struct simd_group *g)
{
	struct simd_fields fields = fields_find(&f->form, rows);
	int exponents[GROUP_NROWS], scales[GROUP_NROWS];
	uint64_t places[GROUP_NROWS];
	int64_t numbers[GROUP_NROWS];
	unsigned found = find_exponents(f, &fields, exponents) & ((1u << n) - 1);
	unsigned ndone = n, same = 0;

	group_convert_any(&fields, g, places);
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

/* Folds a group of n rows, fewer than GROUP_NROWS or not all of the form. Returns how many were
 * done; *unlike: whether none has the form. */
SIMD_INLINE unsigned fold_part(const struct simd_folding *f, struct simd_rows rows, unsigned n,
			       struct simd_sums *sums, bool *unlike)
{
	struct simd_group g;
	unsigned ndone = fold_rest(f, rows, n, &g);

	sums_add(sums, &g, true, g.matches);
	*unlike = g.matches == 0 && ndone == n;
	return ndone;
}

/* Folds rows up to a group of which none has the form, and that one, too; or to the first that
 * cannot be folded. Returns how many were done. *unlike: the size of such a group, or 0. */
SIMD_INLINE size_t fold_alike(const struct simd_folding *f, struct simd_rows rows, size_t nrows,
			      bool is_long, unsigned *unlike)
{
	struct simd_sums sums = sums_none();
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
		g = convert_rows(&f->form, group, is_long);
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

/* simd_ops.fold */
static size_t fold_rows(const char *text, const uint32_t *ends, size_t stride, size_t nrows,
			bool drops_cr, struct decimal_fold *fold, uint64_t *nmissing,
			struct simd_hint *hint)
{
	struct simd_folding f;
	unsigned unlike;
	size_t r = 0;

	f.text = text;
	f.drops_cr = drops_cr;
	f.fold = fold;
	f.nmissing = nmissing;
	f.hint = hint;
	hint_forget_cr(hint, drops_cr);
	form_make(&f.form, hint);
	do {
		struct simd_rows rows = {text, ends + r * stride, stride};
		r += f.form.is_long ? fold_alike(&f, rows, nrows - r, true, &unlike)
				    : fold_alike(&f, rows, nrows - r, false, &unlike);
		rows.ends = ends + (r - unlike) * stride;
		if (unlike)
			learn(&f, rows, unlike);
	} while (unlike && r < nrows);
	return r;
}

#endif
