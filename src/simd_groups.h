/* SPDX-License-Identifier: MIT
 *
 * simd_groups.h - the body of simd_ops.fold for sets with wide registers: a group of four or
 * eight rows at once. What simd_fold.h does to 16 lanes is done to each 16 lanes of two
 * registers, and their joins share one.
 *
 * The numbers of a column mostly have one form: so many digits behind the point, the same
 * exponent behind them, or none. The form in hand says for each lane, counted from the
 * field's end, what may be there: '.' in one lane, digits in all others. So one subtraction and
 * one comparison check every lane of a group, and one shuffle closes the gap of the point,
 * whatever the lengths and signs. Rows that do not have the form are converted one by one; where no
 * row of a group has it, the last one's becomes the form in hand.
 *
 * A simd_*.c includes this after it has said what registers there are:
 *   lanes, LANES(op), LANES_BITS(op)   the type, and the names of its instructions
 *   LANES_NFIELDS                      how many times 16 bytes it has
 *   lanes_repeat(x)                    16 bytes, in every part
 *   lanes_fields(p)                    the 16 bytes before p[0], p[2] .. in their parts
 *   lanes_pairs(p)                     pairs of 32 bits at p[0], p[1], p[2] ..
 *   lanes_within(counts, above, x)     x where counts > above, else 0
 *   lanes_less_minus(counts, first)    counts, less 1 where first is '-'
 *   lanes_signed(x, first)             x, negated in 64 bits where first is '-'
 *   lanes_zeros(x)                     bit i: 64 bits number i are 0
 *   lanes_only(x, rows)                x, but 0 in 64 bits number i if bit i of rows is not set
 *   lanes_fold_min(a, x, rows), _max   of 64 bits, a where bit i of rows is not set
 */
#ifndef GPUSTAT_SIMD_GROUPS_H
#define GPUSTAT_SIMD_GROUPS_H

#define SIMD_OWN_FOLD
#include "simd_fold.h"

#define GROUP_NROWS (2 * LANES_NFIELDS)
#define GROUP_ALL ((1u << GROUP_NROWS) - 1)
#define GROUPS_MAX 512 /* so many numbers below 10^16 fit in a sum of 64 bits */

/* What a lane of 16 may hold, the field's last byte in lane 15 of the first; and where a digit goes
 * once the point is taken out. */
struct simd_form_lanes {
	lanes base, limit; /* byte - base <= limit */
	lanes above;       /* the lane is the field's if this is less than the count */
	lanes order;       /* PSHUFB's control */
};

/* The form of numbers: simd_hint in registers. */
struct simd_form {
	bool is_long;
	uint32_t suffix_nbytes;
	uint64_t suffix, suffix_mask; /* as the highest bytes of 8 */
	lanes count_min, count_max, nsuffix; /* of lanes_pairs */
	struct simd_form_lanes low, high;
	lanes carry; /* moves the last lane of high to the first of low */
};

/* Sums, minima and maxima; 64 bits for each row of a group. */
struct simd_sums {
	lanes low, high, min, max; /* the sum is low + high x 10^16 */
	unsigned ngroups, nrows;
};

/* A group's numbers, 64 bits each: low + high x 10^16. */
struct simd_group {
	lanes low, high, whole;
	unsigned matches; /* bit r: row r had the form */
};

/* ---- the form ---- */

/* Makes the 16 lanes that are `first`, first - 1 .. places before a field's end, the last byte
 * being at 1, if its point is at place `point`; 0: there is none. */
static inline struct simd_form_lanes form_lanes(int first, int point)
{
	const __m128i lane = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	__m128i place = _mm_sub_epi8(_mm_set1_epi8((char)first), lane);
	__m128i is_point = _mm_cmpeq_epi8(place, _mm_set1_epi8((char)point));
	__m128i moves = _mm_cmpgt_epi8(place, _mm_set1_epi8((char)(point > 0 ? point - 1 : 127)));
	/* A lane that must be the field's is looked at in any case. */
	__m128i must = _mm_or_si128(is_point, _mm_cmpeq_epi8(place, _mm_set1_epi8(1)));

	return (struct simd_form_lanes){
		lanes_repeat(_mm_blendv_epi8(_mm_set1_epi8('0'), _mm_set1_epi8('.'), is_point)),
		lanes_repeat(_mm_andnot_si128(is_point, _mm_set1_epi8(9))),
		lanes_repeat(_mm_blendv_epi8(place, _mm_set1_epi8(-128), must)),
		lanes_repeat(_mm_add_epi8(lane, moves))}; /* lane 0 takes none, -1, and is 0 */
}

static inline void form_make(struct simd_form *f, const struct simd_hint *hint)
{
	int point = hint->nfraction > 0 ? hint->nfraction + 1 : 0;
	bool carries = point > 0 && point <= SIMD_NDIGITS;

	f->is_long = hint->is_long;
	f->suffix = hint->suffix;
	f->suffix_nbytes = hint->suffix_nbytes;
	f->suffix_mask = hint->suffix_nbytes ? ~UINT64_C(0) << (64 - 8 * hint->suffix_nbytes) : 0;
	/* A count is one too many, and half of 64 bits; the other half may be anything. */
	f->count_min = LANES_64(hint->nfraction + 2);
	f->count_max = LANES_64((int64_t)(UINT64_C(0xffffffff00000000) | (f->is_long ? 33 : 17)));
	f->nsuffix = LANES_64(hint->suffix_nbytes);
	f->low = form_lanes(SIMD_NDIGITS, point);
	if (!f->is_long)
		return;
	f->high = form_lanes(2 * SIMD_NDIGITS, point);
	f->carry = lanes_repeat(_mm_insert_epi8(_mm_set1_epi8(-128), carries ? 15 : -128, 0));
}

/* Makes *hint that of the field text[begin .. end), a number; or leaves it where that is not for
 * groups. */
static __attribute__((noinline)) void form_learn(struct simd_hint *hint, const char *text,
						 uint32_t begin, uint32_t end, bool has_cr)
{
	uint32_t last = end - has_cr, point = begin, digits_end;
	int exponent = 0, nfraction = 0;
	uint64_t suffix;

	digits_end = simd_exponent(text, begin, last, &exponent);
	while (point < digits_end && text[point] != '.')
		point++;
	if (digits_end - begin > 2 * SIMD_NDIGITS)
		return;
	if (point < digits_end)
		nfraction = (int)(digits_end - point - 1);
	if (nfraction >= 2 * SIMD_NDIGITS - 1 || nfraction - exponent < 0 ||
	    nfraction - exponent >= DECIMAL_NSCALES)
		return;
	memcpy(&suffix, text + end - sizeof suffix, sizeof suffix);
	hint->scale = (uint8_t)(nfraction - exponent);
	hint->nfraction = (uint8_t)nfraction;
	hint->is_long = digits_end - begin > SIMD_NDIGITS;
	hint->suffix_nbytes = (uint8_t)(end - digits_end);
	hint->suffix = end == digits_end ? 0 : suffix & ~UINT64_C(0) << (64 - 8 * (end - digits_end));
}

/* ---- a group ---- */

/* Where the fields of a group lie. */
struct simd_fields {
	const char *end[GROUP_NROWS]; /* of its digits */
	lanes counts;                 /* bytes, and one: in the low half of 64 bits for each row */
	unsigned suffixes;            /* bit r: row r has the form's suffix */
};

SIMD_INLINE struct simd_fields fields_find(const struct simd_form *f, const char *text,
					   const uint32_t *ends, size_t stride, unsigned nrows)
{
	struct simd_fields fields;
	const uint32_t *pairs[GROUP_NROWS];
	lanes counts;

	for (unsigned i = 0; i < GROUP_NROWS; i++) { /* the last row again for those not there */
		pairs[i] = ends + (i < nrows ? i : nrows - 1) * stride - 1;
		fields.end[i] = text + pairs[i][1] - f->suffix_nbytes;
	}
	counts = lanes_pairs(pairs);
	counts = LANES(sub_epi32)(LANES(srli_epi64)(counts, 32), counts);
	fields.counts = LANES(sub_epi32)(counts, f->nsuffix);
	fields.suffixes = GROUP_ALL;
	if (f->suffix_nbytes > 0)
		for (unsigned i = 0; i < GROUP_NROWS; i++) {
			uint64_t suffix;
			memcpy(&suffix, fields.end[i] + f->suffix_nbytes - 8, 8);
			suffix = (suffix & f->suffix_mask) ^ f->suffix;
			fields.suffixes ^= (unsigned)(suffix != 0) << i;
		}
	return fields;
}

/* 16 bytes of each field of one register, on their way to a number. */
struct simd_part {
	lanes digits, wrong;
};

/* counts: of the fields' bytes without sign, and one, in every lane. */
SIMD_INLINE struct simd_part part_check(const struct simd_form_lanes *form, lanes bytes,
					lanes counts)
{
	lanes x = LANES(sub_epi8)(bytes, form->base);

	x = lanes_within(counts, form->above, x);
	return (struct simd_part){x, LANES(subs_epu8)(x, form->limit)};
}

/* The first byte of each field, in all its lanes; counts: of bytes, and one. */
SIMD_INLINE lanes first_of(lanes low, lanes counts)
{
	return LANES(shuffle_epi8)(low, LANES(sub_epi8)(LANES(set1_epi8)(17), counts));
}

SIMD_INLINE lanes first_of_long(lanes low, lanes high, lanes counts)
{
	lanes from_end = LANES(sub_epi8)(LANES(set1_epi8)(33), counts);

	/* From 16 on it is not here: bit 7 set makes it 0. */
	from_end = LANES(add_epi8)(from_end, LANES(set1_epi8)(0x70));
	return LANES_BITS(or)(first_of(low, counts), LANES(shuffle_epi8)(high, from_end));
}

/* 16 lanes of 0 to 9 as four numbers of four digits, 32 bits each. */
SIMD_INLINE lanes join_fours(lanes x)
{
	x = LANES(maddubs_epi16)(x, LANES(set1_epi16)(0x010a));
	return LANES(madd_epi16)(x, LANES(set1_epi32)(0x00010064));
}

/* The same of two registers as one number in 64 bits for each 16 lanes, theirs by turns. */
SIMD_INLINE lanes join_all(lanes even, lanes odd)
{
	lanes x = LANES(packus_epi32)(join_fours(even), join_fours(odd));

	x = LANES(madd_epi16)(x, LANES(set1_epi32)(0x00012710));
	return LANES(add_epi64)(LANES(mul_epu32)(x, LANES_64(100000000)),
				LANES(srli_epi64)(x, 32));
}

/* 64 bits that are 0 for each row where wrong is 0 in its 16 lanes, and its count is right. */
SIMD_INLINE lanes rows_wrong(const struct simd_form *f, lanes counts, lanes even, lanes odd)
{
	lanes wrong = LANES_BITS(or)(LANES(unpacklo_epi64)(even, odd),
				     LANES(unpackhi_epi64)(even, odd));
	lanes few = LANES(subs_epu8)(f->count_min, counts);
	lanes many = LANES(subs_epu8)(counts, f->count_max);

	return LANES_BITS(or)(wrong, LANES_BITS(or)(few, many));
}

SIMD_INLINE struct simd_group group_convert(const struct simd_form *f,
					    const struct simd_fields *fields)
{
	lanes even = lanes_fields(fields->end), odd = lanes_fields(fields->end + 1);
	lanes count_even = LANES(shuffle_epi8)(fields->counts, LANES(set1_epi8)(0));
	lanes count_odd = LANES(shuffle_epi8)(fields->counts, LANES(set1_epi8)(8));
	lanes first_even = first_of(even, count_even), first_odd = first_of(odd, count_odd);
	struct simd_part a = part_check(&f->low, even, lanes_less_minus(count_even, first_even));
	struct simd_part b = part_check(&f->low, odd, lanes_less_minus(count_odd, first_odd));
	struct simd_group g;

	g.matches = lanes_zeros(rows_wrong(f, fields->counts, a.wrong, b.wrong));
	g.low = join_all(LANES(shuffle_epi8)(a.digits, f->low.order),
			 LANES(shuffle_epi8)(b.digits, f->low.order));
	g.low = lanes_signed(g.low, LANES(unpacklo_epi64)(first_even, first_odd));
	g.whole = g.low;
	g.matches &= fields->suffixes;
	return g;
}

/* Up to 32 digits of each field of one register: those of two times 16 lanes. */
struct simd_long {
	lanes low, high, wrong, first;
};

SIMD_INLINE struct simd_long long_check(const struct simd_form *f, const char *const *end,
					lanes counts)
{
	const char *before[GROUP_NROWS];
	struct simd_long x;

	for (unsigned i = 0; i < GROUP_NROWS; i += 2)
		before[i] = end[i] - SIMD_NDIGITS;
	lanes low = lanes_fields(end), high = lanes_fields(before);
	x.first = first_of_long(low, high, counts);
	counts = lanes_less_minus(counts, x.first);
	struct simd_part a = part_check(&f->low, low, counts);
	struct simd_part b = part_check(&f->high, high, counts);
	x.low = LANES_BITS(or)(LANES(shuffle_epi8)(a.digits, f->low.order),
			       LANES(shuffle_epi8)(b.digits, f->carry));
	x.high = join_fours(LANES(shuffle_epi8)(b.digits, f->high.order));
	/* Of the high digits two are left, or 18 were not enough. */
	x.wrong = LANES_BITS(or)(LANES_BITS(or)(a.wrong, b.wrong),
				 LANES(subs_epu16)(x.high, lanes_repeat(_mm_setr_epi32(0, 0, 0, 99))));
	return x;
}

SIMD_INLINE struct simd_group group_convert_long(const struct simd_form *f,
						 const struct simd_fields *fields)
{
	const lanes ten_16_low = LANES_64(10000000000000000 & UINT32_MAX);
	const lanes ten_16_high = LANES_64(10000000000000000 >> 32);
	struct simd_long a = long_check(f, fields->end,
			LANES(shuffle_epi8)(fields->counts, LANES(set1_epi8)(0)));
	struct simd_long b = long_check(f, fields->end + 1,
			LANES(shuffle_epi8)(fields->counts, LANES(set1_epi8)(8)));
	lanes first = LANES(unpacklo_epi64)(a.first, b.first);
	lanes high = LANES(srli_epi64)(LANES(packus_epi32)(a.high, b.high), 48);
	lanes product = LANES(add_epi64)(
		LANES(mul_epu32)(high, ten_16_low),
		LANES(slli_epi64)(LANES(mul_epu32)(high, ten_16_high), 32));
	struct simd_group g;

	g.matches = lanes_zeros(rows_wrong(f, fields->counts, a.wrong, b.wrong)) &
		    fields->suffixes;
	g.low = join_all(a.low, b.low);
	g.whole = lanes_signed(LANES(add_epi64)(g.low, product), first);
	g.low = lanes_signed(g.low, first);
	g.high = lanes_signed(high, first);
	return g;
}

/* ---- sums ---- */

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
	size_t stride;
	bool drops_cr;
	struct decimal_fold *fold;
	uint64_t *nmissing;
};

/* Why fold_alike ended. */
enum simd_end { SIMD_DONE, SIMD_UNLIKE, SIMD_STOPPED };

/* Folds those of nrows rows that do not match the form, one by one, up to the first that cannot
 * be folded. Returns how many rows could. */
static __attribute__((noinline)) unsigned fold_others(const struct simd_folding *f,
						      const uint32_t *ends, unsigned nrows,
						      unsigned matches)
{
	unsigned r = 0;

	while (r < nrows && (matches >> r & 1 ||
			     simd_fold_some(f->text, ends + r * f->stride, f->stride, 1,
					    f->drops_cr, f->fold, f->nmissing) == 1))
		r++;
	return r;
}

/* Folds a group. Returns the number of rows done, less than nrows where one cannot be folded;
 * *matches: those that have the form. */
SIMD_INLINE unsigned fold_group(const struct simd_folding *f, const struct simd_form *form,
				const uint32_t *ends, unsigned nrows, bool is_long,
				struct simd_sums *sums, unsigned *matches)
{
	struct simd_fields fields = fields_find(form, f->text, ends, f->stride, nrows);
	struct simd_group g = is_long ? group_convert_long(form, &fields)
				      : group_convert(form, &fields);
	unsigned ndone;

	*matches = g.matches;
	if (nrows == GROUP_NROWS && g.matches == GROUP_ALL) {
		sums_add(sums, &g, is_long, GROUP_ALL);
		return nrows;
	}
	ndone = fold_others(f, ends, nrows, g.matches);
	sums_add(sums, &g, is_long, g.matches & ((1u << ndone) - 1));
	return ndone;
}

/* Folds rows up to a group of which none has the form, and that one, too. Returns how many
 * were done. */
SIMD_INLINE size_t fold_alike(const struct simd_folding *f, const struct simd_form *form,
			      const uint32_t *ends, size_t nrows, int scale, bool is_long,
			      enum simd_end *why)
{
	struct simd_sums sums = sums_none();
	unsigned n = GROUP_NROWS, matches = 1;
	size_t r;

	for (r = 0; r + GROUP_NROWS <= nrows && n == GROUP_NROWS && matches != 0; r += n) {
		if (sums.ngroups == GROUPS_MAX)
			sums_move(&sums, scale, f->fold);
		n = fold_group(f, form, ends, GROUP_NROWS, is_long, &sums, &matches);
		ends += GROUP_NROWS * f->stride;
	}
	*why = n < GROUP_NROWS ? SIMD_STOPPED : matches == 0 ? SIMD_UNLIKE : SIMD_DONE;
	if (r < nrows && *why == SIMD_DONE) {
		unsigned left = (unsigned)(nrows - r);
		n = fold_group(f, form, ends, left, is_long, &sums, &matches);
		r += n;
		*why = n < left ? SIMD_STOPPED : SIMD_DONE;
	}
	sums_move(&sums, scale, f->fold);
	return r;
}

/* Makes the form of the last of the group before `ends` that has a number the form in hand. */
static __attribute__((noinline)) void learn(const struct simd_folding *f, const uint32_t *ends,
					    struct simd_hint *hint)
{
	for (unsigned i = 0; i < GROUP_NROWS; i++) {
		ends -= f->stride;
		uint32_t begin = ends[-1] + 1, end = ends[0];
		bool has_cr = f->drops_cr && end != begin && f->text[end - 1] == '\r';
		if (end - begin > has_cr)
			return form_learn(hint, f->text, begin, end, has_cr);
	}
}

/* simd_ops.fold */
static size_t fold_rows(const char *text, const uint32_t *ends, size_t stride, size_t nrows,
			bool drops_cr, struct decimal_fold *fold, uint64_t *nmissing,
			struct simd_hint *hint)
{
	const struct simd_folding f = {text, stride, drops_cr, fold, nmissing};
	enum simd_end why = SIMD_UNLIKE;
	size_t r = 0;

	while (r < nrows && why == SIMD_UNLIKE) {
		const uint32_t *from = ends + r * stride;
		struct simd_form form;
		form_make(&form, hint);
		r += hint->is_long
			? fold_alike(&f, &form, from, nrows - r, hint->scale, true, &why)
			: fold_alike(&f, &form, from, nrows - r, hint->scale, false, &why);
		if (why == SIMD_UNLIKE)
			learn(&f, ends + r * stride, hint);
	}
	return r;
}

#endif
