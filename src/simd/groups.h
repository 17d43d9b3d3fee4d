/* SPDX-License-Identifier: MIT
 *
 * simd/groups.h - simd_ops.fold and clear_quoted for sets with wide registers. First a group of four or eight rows' numbers
 * is converted at once, and groups are added up; then words of bits are looked at in groups.
 *
 * Two registers hold 16 lanes for each field; simd/numbers.h does the same for the
 * 16 lanes of one field.
 *
 * The numbers of a column mostly have one format: the number of digits after the point, and an
 * exponent if it has one. The current format tells for each lane, counted from the field's end, what may
 * be there: the decimal point in one lane, digits in all others. So one subtraction and one comparison check
 * every lane of a group, and one shuffle closes the gap of the point, for any lengths and signs. A
 * group of mixed formats is converted with a point for each row; rows left then are converted one
 * by one. If no row of a group has the current format, the last row's becomes current.
 *
 * The including file defines its registers:
 *   lanes, LANES(op), LANES_BITS(op)   the type, and the names of its instructions
 *   LANES_NFIELDS                      how many times 16 bytes it has
 *   lanes_repeat(x)                    the 16 bytes of x in every part
 *   lanes_fields(text, ends, step)     the 16 bytes before text + ends[0], ends[step] .. by parts
 *   lanes_pairs(p, stride)             the pairs of 32 bits at p, p + stride .., one for each row
 *   lanes_less_minus(counts, first)    counts, less 1 where first is '-'
 *   lanes_signed(x, first)             x, negated in 64 bits where first is '-'
 *   lanes_zeros(x)                     bit i: the 64 bits of element i are 0
 *   lanes_only(x, rows)                x, but 0 in element i if bit i of rows is not set
 *   lanes_pack(x, rows)                x's elements whose bit in rows is set, from element 0 on;
 *                                      undefined behind them
 *   lanes_fold_min(a, x, rows), _max   by elements; a where the bit in rows is not set
 *   lanes_tops(x)               bit i: the top bit of element i
 *   lanes_inverted(x, words)    x, element i inverted where bit i of words is set
 *   lanes_shift_in(x, before)   each element shifted up by 1; its lowest bit is the top bit of the
 *                               element before it, of before's last one for the first
 */
#pragma once

#include "simd/numbers.h"

#define GROUP_NROWS (2 * LANES_NFIELDS)
#define GROUP_ALL ((1u << GROUP_NROWS) - 1)
/* A count is one more than the number of bytes, in the low half of 64 bits; the high half is
 * undefined. */
#define COUNT_MAX(n) ((int64_t)(UINT64_C(0xffffffff00000000) | (unsigned)(n)))

/* A register as bytes, for the compiler's own comparisons, which are -1 where they hold. */
typedef signed char lane_bytes __attribute__((vector_size(sizeof(lanes))));

/* x where counts > above, else 0. */
SIMD_INLINE lanes lanes_within(lanes counts, lanes above, lanes x)
{
	return (lanes)(((lane_bytes)counts > (lane_bytes)above) & (lane_bytes)x);
}

/* x where a == b, else 0. */
SIMD_INLINE lanes lanes_where_equal(lanes a, lanes b, lanes x)
{
	return (lanes)(((lane_bytes)a == (lane_bytes)b) & (lane_bytes)x);
}

/* x where a != b, else 0. */
SIMD_INLINE lanes lanes_unless_equal(lanes a, lanes b, lanes x)
{
	return (lanes)(((lane_bytes)a != (lane_bytes)b) & (lane_bytes)x);
}

/* x, less 1 where a > b. */
SIMD_INLINE lanes lanes_less_where(lanes x, lanes a, lanes b)
{
	return (lanes)((lane_bytes)x + ((lane_bytes)a > (lane_bytes)b));
}

/* What each of 16 lanes may hold, with the field's last byte in lane 15; and where its digit goes
 * once the point is removed. */
struct simd_format_lanes {
	lanes base, limit; /* byte - base <= limit */
	lanes above;       /* the lane belongs to the field if this is less than the count */
	lanes order;       /* PSHUFB's control */
};

/* A number format: simd_hint in registers. */
struct simd_format {
	bool is_long;
	uint32_t suffix_nbytes;
	uint64_t suffix, suffix_mask; /* the highest of 8 bytes */
	lanes count_min, count_max, nsuffix; /* of lanes_pairs */
	struct simd_format_lanes low, high;
	lanes carry; /* moves the last lane of high to the first of low */
};

/* A group's numbers, 64 bits each: low + high x 10^16. */
struct simd_group {
	lanes low, high, whole;
	unsigned matches; /* bit r: row r has the format */
};

/* ---- the format ---- */

/* Makes the lanes for places `first`, first - 1 .. first - 15 from a field's end, the last byte
 * being at place 1. point: the place of the byte decimal; 0 in a format without a point. */
static inline struct simd_format_lanes format_lanes(int first, int point, char decimal)
{
	const __m128i lane = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
	__m128i place = _mm_sub_epi8(_mm_set1_epi8((char)first), lane);
	__m128i is_point = _mm_cmpeq_epi8(place, _mm_set1_epi8((char)point));
	__m128i moves = _mm_cmpgt_epi8(place, _mm_set1_epi8((char)(point > 0 ? point - 1 : 127)));
	/* A lane that the field must have is checked whatever the count. */
	__m128i must = _mm_or_si128(is_point, _mm_cmpeq_epi8(place, _mm_set1_epi8(1)));

	return (struct simd_format_lanes){
		lanes_repeat(_mm_blendv_epi8(_mm_set1_epi8('0'), _mm_set1_epi8(decimal), is_point)),
		lanes_repeat(_mm_andnot_si128(is_point, _mm_set1_epi8(9))),
		lanes_repeat(_mm_blendv_epi8(place, _mm_set1_epi8(-128), must)),
		lanes_repeat(_mm_add_epi8(lane, moves))}; /* -1 makes lane 0 0 */
}

static inline void format_make(struct simd_format *f, const struct simd_hint *hint)
{
	int point = hint->nfraction > 0 ? hint->nfraction + 1 : 0;
	bool carries = point > 0 && point <= SIMD_NDIGITS;

	f->is_long = hint->is_long;
	f->suffix = hint->suffix;
	f->suffix_nbytes = hint->suffix_nbytes;
	f->suffix_mask = hint->suffix_nbytes ? ~UINT64_C(0) << (64 - 8 * hint->suffix_nbytes) : 0;
	f->count_min = LANES_64(hint->nfraction + 2);
	f->count_max = LANES_64(COUNT_MAX(f->is_long ? 33 : 17));
	f->nsuffix = LANES_64(hint->suffix_nbytes);
	f->low = format_lanes(SIMD_NDIGITS, point, simd_decimal(hint));
	if (!f->is_long)
		return;
	f->high = format_lanes(2 * SIMD_NDIGITS, point, simd_decimal(hint));
	f->carry = lanes_repeat(_mm_insert_epi8(_mm_set1_epi8(-128), carries ? 15 : -128, 0));
}

/* Learns the format of the field text[begin .. end), a number. Returns false, and learns nothing,
 * where groups cannot convert it. */
static __attribute__((noinline)) bool format_learn(struct simd_hint *hint, const char *text,
						 uint32_t begin, uint32_t end, bool has_cr)
{
	uint32_t last = end - has_cr, point = begin, digits_end;
	int exponent = 0, nfraction = 0;
	uint64_t suffix;

	digits_end = simd_exponent(text, begin, last, &exponent);
	while (point < digits_end && text[point] != simd_decimal(hint))
		point++;
	if (digits_end - begin > 2 * SIMD_NDIGITS)
		return false;
	if (point < digits_end)
		nfraction = (int)(digits_end - point - 1);
	if (nfraction >= 2 * SIMD_NDIGITS - 1 || nfraction - exponent < 0 ||
	    nfraction - exponent >= DECIMAL_NSCALES)
		return false;
	memcpy(&suffix, text + end - sizeof suffix, sizeof suffix);
	hint->scale = (uint8_t)(nfraction - exponent);
	hint->nfraction = (uint8_t)nfraction;
	hint->is_long = digits_end - begin > SIMD_NDIGITS;
	hint->suffix_nbytes = (uint8_t)(end - digits_end);
	hint->suffix = end == digits_end
			       ? 0
			       : suffix & ~UINT64_C(0) << (64 - 8 * (end - digits_end));
	return true;
}

/* A format that ends with a CR is for a record's last field only. */
static inline void hint_forget_cr(struct simd_hint *hint, bool drops_cr)
{
	if (!drops_cr && hint->suffix >> 56 == '\r')
		*hint = (struct simd_hint){.decimal = hint->decimal, .sums_only = hint->sums_only};
}

/* ---- a group ---- */

/* A group's fields, as in simd_ops.fold. */
struct simd_rows {
	const char *text;
	const uint32_t *ends;
	size_t stride;
};

/* Where a group's digits lie. */
struct simd_fields {
	const char *text; /* so that a row's digits end at text + its end */
	const uint32_t *ends;
	size_t stride;
	lanes counts;      /* the number of bytes plus 1, an element for each row */
	unsigned suffixes; /* bit r: row r has the format's suffix */
};

/* Returns the rows that have the format's suffix. */
static inline unsigned find_suffixes(const struct simd_format *f, struct simd_rows rows)
{
	unsigned found = 0;

	for (unsigned r = 0; r < GROUP_NROWS; r++) {
		uint64_t suffix;
		memcpy(&suffix, rows.text + rows.ends[r * rows.stride] - sizeof suffix,
		       sizeof suffix);
		found |= (unsigned)((suffix & f->suffix_mask) == f->suffix) << r;
	}
	return found;
}

SIMD_INLINE struct simd_fields fields_find(const struct simd_format *f, struct simd_rows rows)
{
	lanes counts = lanes_pairs(rows.ends - 1, rows.stride);

	counts = LANES(sub_epi32)(LANES(srli_epi64)(counts, 32), counts);
	return (struct simd_fields){rows.text - f->suffix_nbytes, rows.ends, rows.stride,
				    LANES(sub_epi32)(counts, f->nsuffix),
				    f->suffix_nbytes ? find_suffixes(f, rows) : GROUP_ALL};
}

/* The 16 bytes that end `before` bytes before the digits' end, in the even rows; odd_bytes: in the
 * odd ones. */
SIMD_INLINE lanes even_bytes(const struct simd_fields *f, size_t before)
{
	return lanes_fields(f->text - before, f->ends, 2 * f->stride);
}

SIMD_INLINE lanes odd_bytes(const struct simd_fields *f, size_t before)
{
	return lanes_fields(f->text - before, f->ends + f->stride, 2 * f->stride);
}

/* The counts of the even rows, in all lanes. */
SIMD_INLINE lanes even_counts(const struct simd_fields *f)
{
	return LANES(shuffle_epi8)(f->counts, LANES(set1_epi8)(0));
}

SIMD_INLINE lanes odd_counts(const struct simd_fields *f)
{
	return LANES(shuffle_epi8)(f->counts, LANES(set1_epi8)(8));
}

/* 16 bytes of each field of one register. wrong: not 0 in a lane that the format forbids. */
struct simd_part {
	lanes digits, wrong;
};

/* counts: the number of each field's bytes without sign plus 1, in every lane. */
SIMD_INLINE struct simd_part part_check(const struct simd_format_lanes *format, lanes bytes,
					lanes counts)
{
	lanes x = LANES(sub_epi8)(bytes, format->base);

	x = lanes_within(counts, format->above, x);
	return (struct simd_part){x, LANES(subs_epu8)(x, format->limit)};
}

/* The first byte of each field, in all its lanes. counts: the number of bytes plus 1. */
SIMD_INLINE lanes first_of(lanes low, lanes counts)
{
	return LANES(shuffle_epi8)(low, LANES(sub_epi8)(LANES(set1_epi8)(17), counts));
}

SIMD_INLINE lanes first_of_long(lanes low, lanes high, lanes counts)
{
	lanes from_end = LANES(sub_epi8)(LANES(set1_epi8)(33), counts);

	/* From 16 on it is in the other register: bit 7 set makes it 0. */
	from_end = LANES(add_epi8)(from_end, LANES(set1_epi8)(0x70));
	return LANES_BITS(or)(first_of(low, counts), LANES(shuffle_epi8)(high, from_end));
}

/* 16 lanes of 0 to 9 as four numbers of four digits, 32 bits each. */
SIMD_INLINE lanes join_fours(lanes x)
{
	x = LANES(maddubs_epi16)(x, LANES(set1_epi16)(0x010a));
	return LANES(madd_epi16)(x, LANES(set1_epi32)(0x00010064));
}

/* Joins two registers into one number in 64 bits for each 16 lanes, even and odd rows in turn. */
SIMD_INLINE lanes join_all(lanes even, lanes odd)
{
	lanes x = LANES(packus_epi32)(join_fours(even), join_fours(odd));

	x = LANES(madd_epi16)(x, LANES(set1_epi32)(0x00012710));
	return LANES(add_epi64)(LANES(mul_epu32)(x, LANES_64(100000000)),
				LANES(srli_epi64)(x, 32));
}

/* Returns an element for each row: 0 if the row's 16 lanes of even or odd are 0 and its count is
 * from min to max. */
SIMD_INLINE lanes rows_wrong(lanes min, lanes max, lanes counts, lanes even, lanes odd)
{
	lanes wrong = LANES_BITS(or)(LANES(unpacklo_epi64)(even, odd),
				     LANES(unpackhi_epi64)(even, odd));
	lanes few = LANES(subs_epu8)(min, counts), many = LANES(subs_epu8)(counts, max);

	return LANES_BITS(or)(wrong, LANES_BITS(or)(few, many));
}

SIMD_INLINE struct simd_group group_convert(const struct simd_format *f,
					    const struct simd_fields *fields)
{
	lanes even = even_bytes(fields, 0), odd = odd_bytes(fields, 0);
	lanes count_even = even_counts(fields), count_odd = odd_counts(fields);
	lanes first_even = first_of(even, count_even), first_odd = first_of(odd, count_odd);
	struct simd_part a = part_check(&f->low, even, lanes_less_minus(count_even, first_even));
	struct simd_part b = part_check(&f->low, odd, lanes_less_minus(count_odd, first_odd));
	struct simd_group g;

	g.matches = lanes_zeros(rows_wrong(f->count_min, f->count_max, fields->counts, a.wrong,
					   b.wrong));
	g.low = join_all(LANES(shuffle_epi8)(a.digits, f->low.order),
			 LANES(shuffle_epi8)(b.digits, f->low.order));
	g.low = lanes_signed(g.low, LANES(unpacklo_epi64)(first_even, first_odd));
	g.whole = g.low;
	g.matches &= fields->suffixes;
	return g;
}

/* Not 0 where more than two high digits are left: the number has more than 18. */
SIMD_INLINE lanes high_wrong(lanes high)
{
	return LANES(subs_epu16)(high, lanes_repeat(_mm_setr_epi32(0, 0, 0, 99)));
}

/* Up to 32 digits of each field, from two registers. */
struct simd_long {
	lanes low, high, wrong, first;
};

SIMD_INLINE struct simd_long long_check(const struct simd_format *f, lanes low, lanes high,
					lanes counts)
{
	struct simd_long x;

	x.first = first_of_long(low, high, counts);
	counts = lanes_less_minus(counts, x.first);
	struct simd_part a = part_check(&f->low, low, counts);
	struct simd_part b = part_check(&f->high, high, counts);
	x.low = LANES_BITS(or)(LANES(shuffle_epi8)(a.digits, f->low.order),
			       LANES(shuffle_epi8)(b.digits, f->carry));
	x.high = join_fours(LANES(shuffle_epi8)(b.digits, f->high.order));
	x.wrong = LANES_BITS(or)(LANES_BITS(or)(a.wrong, b.wrong), high_wrong(x.high));
	return x;
}

/* Joins the digits of even and odd rows. high_*: as join_fours leaves them; first: the fields'
 * first bytes, an element each. */
SIMD_INLINE struct simd_group group_join(lanes low_even, lanes low_odd, lanes high_even,
					 lanes high_odd, lanes first)
{
	const lanes ten_16_low = LANES_64(10000000000000000 & UINT32_MAX);
	const lanes ten_16_high = LANES_64(10000000000000000 >> 32);
	lanes high = LANES(srli_epi64)(LANES(packus_epi32)(high_even, high_odd), 48);
	lanes product = LANES(add_epi64)(
		LANES(mul_epu32)(high, ten_16_low),
		LANES(slli_epi64)(LANES(mul_epu32)(high, ten_16_high), 32));
	struct simd_group g;

	g.low = join_all(low_even, low_odd);
	g.whole = lanes_signed(LANES(add_epi64)(g.low, product), first);
	g.low = lanes_signed(g.low, first);
	g.high = lanes_signed(high, first);
	return g;
}

SIMD_INLINE struct simd_group group_convert_long(const struct simd_format *f,
						 const struct simd_fields *fields)
{
	struct simd_long a = long_check(f, even_bytes(fields, 0), even_bytes(fields, SIMD_NDIGITS),
					even_counts(fields));
	struct simd_long b = long_check(f, odd_bytes(fields, 0), odd_bytes(fields, SIMD_NDIGITS),
					odd_counts(fields));
	struct simd_group g = group_join(a.low, b.low, a.high, b.high,
					 LANES(unpacklo_epi64)(a.first, b.first));

	g.matches = lanes_zeros(rows_wrong(f->count_min, f->count_max, fields->counts, a.wrong,
					   b.wrong)) & fields->suffixes;
	return g;
}

/* The ends of a group that is not full; the missing rows repeat the last one. */
struct simd_few {
	uint32_t ends[2 * GROUP_NROWS];
};

static inline struct simd_rows few_rows(struct simd_few *few, struct simd_rows rows, unsigned n)
{
	for (unsigned r = 0; r < GROUP_NROWS; r++) {
		const uint32_t *end = rows.ends + (r < n ? r : n - 1) * rows.stride;
		few->ends[2 * r] = end[-1];
		few->ends[2 * r + 1] = end[0];
	}
	return (struct simd_rows){rows.text, few->ends + 1, 2};
}

SIMD_INLINE struct simd_group convert_rows(const struct simd_format *format, struct simd_rows rows,
					   bool is_long)
{
	struct simd_fields fields = fields_find(format, rows);

	return is_long ? group_convert_long(format, &fields) : group_convert(format, &fields);
}

/* ---- a group of mixed formats ---- */

/* Like simd_long, but each field has its own point. */
struct simd_any {
	lanes low, high, wrong, first;
	lanes point; /* in all lanes: its place from the field's end, the last byte being at 1 */
};

/* Moves the digits at or before the point's place up by one. limit: that place less 1. */
SIMD_INLINE lanes close_gap(lanes digits, lanes place, lanes limit)
{
	const lanes lane = lanes_repeat(
		_mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));

	return LANES(shuffle_epi8)(digits, lanes_less_where(lane, place, limit));
}

/* The sum of each field's lanes of a and b, which is below 256, in all lanes. */
SIMD_INLINE lanes sum_of_lanes(lanes a, lanes b)
{
	const lanes zero = LANES(set1_epi8)(0);
	lanes x = LANES(add_epi64)(LANES(sad_epu8)(a, zero), LANES(sad_epu8)(b, zero));

	return LANES(shuffle_epi8)(LANES(add_epi64)(x, LANES(unpackhi_epi64)(x, x)), zero);
}

/* decimal: the decimal point in all lanes, less '0'. */
SIMD_INLINE struct simd_any any_check(lanes low, lanes high, lanes counts, lanes decimal)
{
	const lanes place_low = lanes_repeat(
		_mm_setr_epi8(16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1));
	const lanes place_high = LANES(add_epi8)(place_low, LANES(set1_epi8)(16));
	const lanes zeros = LANES(set1_epi8)('0'), nines = LANES(set1_epi8)(9);
	const lanes one = LANES(set1_epi8)(1);
	struct simd_any x;

	x.first = first_of_long(low, high, counts);
	counts = lanes_less_minus(counts, x.first);
	low = lanes_within(counts, place_low, LANES(sub_epi8)(low, zeros));
	high = lanes_within(counts, place_high, LANES(sub_epi8)(high, zeros));
	x.point = sum_of_lanes(lanes_where_equal(low, decimal, place_low),
			       lanes_where_equal(high, decimal, place_high));
	/* If there are two points, their places add up to a third, and both stay wrong. */
	low = lanes_unless_equal(place_low, x.point, low);
	high = lanes_unless_equal(place_high, x.point, high);
	x.wrong = LANES_BITS(or)(LANES(subs_epu8)(low, nines), LANES(subs_epu8)(high, nines));
	/* There must be a digit: counts, which are one more, are at least 2, with a point 3. */
	lanes few = LANES(add_epi8)(LANES(min_epu8)(x.point, one), LANES(set1_epi8)(2));
	x.wrong = LANES_BITS(or)(x.wrong, LANES(subs_epu8)(few, counts));
	/* Without a point, the limit is beyond every place. */
	lanes limit = LANES(min_epu8)(LANES(sub_epi8)(x.point, one), LANES(set1_epi8)(127));
	/* The last lane of high is carried if the point is in low: bit 7 set makes it 0. */
	lanes carry = LANES_BITS(and)(LANES(add_epi8)(limit, LANES(set1_epi8)(127 - 15)),
				      LANES(set1_epi8)(-128));
	carry = LANES_BITS(or)(carry, lanes_repeat(_mm_insert_epi8(_mm_set1_epi8(-128), 15, 0)));
	x.low = LANES_BITS(or)(close_gap(low, place_low, limit), LANES(shuffle_epi8)(high, carry));
	x.high = join_fours(close_gap(high, place_high, limit));
	x.wrong = LANES_BITS(or)(x.wrong, high_wrong(x.high));
	return x;
}

/* Converts a group of mixed formats. g->matches: rows with a number. places: of their points. */
SIMD_INLINE void group_convert_any(const struct simd_fields *fields, char decimal,
				   struct simd_group *g, uint64_t places[GROUP_NROWS])
{
	const lanes point = LANES(set1_epi8)((char)(decimal - '0'));
	struct simd_any a = any_check(even_bytes(fields, 0), even_bytes(fields, SIMD_NDIGITS),
				      even_counts(fields), point);
	struct simd_any b = any_check(odd_bytes(fields, 0), odd_bytes(fields, SIMD_NDIGITS),
				      odd_counts(fields), point);
	lanes place = LANES(srli_epi64)(LANES(unpacklo_epi64)(a.point, b.point), 56);

	*g = group_join(a.low, b.low, a.high, b.high, LANES(unpacklo_epi64)(a.first, b.first));
	g->matches = lanes_zeros(rows_wrong(LANES_64(2), LANES_64(COUNT_MAX(33)), fields->counts,
					    a.wrong, b.wrong));
	memcpy(places, &place, sizeof place);
}

/* ---- sums ---- */

/* Rows are folded in blocks. Rows of the current format are added. The ends of the others are
 * packed together as rows again; of these, the rows that have the last one's format are added,
 * and so on, until few are left for groups of mixed formats. So a column in which one number in ten
 * has a digit more or less does not fall back to single rows. This works only for blocks in which
 * every row can be folded: otherwise the block is discarded, and its rows are folded group by
 * group, in order, up to the one that cannot be. The column's last folds decide which way is tried
 * first.
 */

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

/* ---- separators in quotes: an element a word ---- */

/* The prefix sum of plain.h, without the carry-less product: six shifts serve all words of a
 * register. The parity of a whole word is its top bit; the prefix sum of those bits, again by
 * shifts, tells which words begin in quotes. A group with a quote that may not open a field is left
 * to the loop over words, which stops in it.
 */

#define QUOTE_NWORDS (2 * LANES_NFIELDS) /* in a register */

static inline lanes quote_load(const uint64_t *words)
{
	lanes x;

	memcpy(&x, words, sizeof x);
	return x;
}

static inline void quote_store(uint64_t *words, lanes x)
{
	memcpy(words, &x, sizeof x);
}

/* Each bit of the result: the parity of its element's bits up to it. */
SIMD_INLINE lanes quote_parities(lanes x)
{
	x = LANES_BITS(xor)(x, LANES(slli_epi64)(x, 1));
	x = LANES_BITS(xor)(x, LANES(slli_epi64)(x, 2));
	x = LANES_BITS(xor)(x, LANES(slli_epi64)(x, 4));
	x = LANES_BITS(xor)(x, LANES(slli_epi64)(x, 8));
	x = LANES_BITS(xor)(x, LANES(slli_epi64)(x, 16));
	return LANES_BITS(xor)(x, LANES(slli_epi64)(x, 32));
}

/* The same of a few bits. */
static inline unsigned quote_few_parities(unsigned bits)
{
	bits ^= bits << 1;
	bits ^= bits << 2;
	return bits ^ bits << 4;
}

/* The top bit of a register's last element. */
static inline uint64_t quote_last_top(lanes x)
{
	return lanes_tops(x) >> (QUOTE_NWORDS - 1) & 1;
}

/* What one group leaves to the next. */
struct quote_carry {
	lanes ends, closing; /* of the group */
	lanes strays;        /* of all so far */
	unsigned inside;     /* bit 0 */
};

/* Clears a group's words from word k on, or returns false and changes nothing. */
SIMD_INLINE bool quote_clear_group(struct simd_bits bits, size_t k, struct quote_carry *carry)
{
	lanes quotes = quote_load(bits.quotes + k), separators = quote_load(bits.separators + k);
	lanes ends = LANES_BITS(or)(quotes, separators);
	lanes inside = quote_parities(quotes), opening, closing, strays;
	unsigned parities = quote_few_parities(lanes_tops(inside)), entries;

	entries = (parities << 1) ^ -carry->inside;
	inside = lanes_inverted(inside, entries & ((1u << QUOTE_NWORDS) - 1));
	opening = LANES_BITS(and)(quotes, inside);
	if (lanes_zeros(LANES_BITS(andnot)(lanes_shift_in(ends, carry->ends), opening)) !=
	    (1u << QUOTE_NWORDS) - 1)
		return false;
	closing = LANES_BITS(andnot)(inside, quotes);
	strays = LANES_BITS(andnot)(ends, lanes_shift_in(closing, carry->closing));
	quote_store(bits.quotes + k, strays);
	quote_store(bits.separators + k, LANES_BITS(andnot)(inside, separators));
	quote_store(bits.newlines + k, LANES_BITS(andnot)(inside, quote_load(bits.newlines + k)));
	carry->ends = ends;
	carry->closing = closing;
	carry->strays = LANES_BITS(or)(carry->strays, strays);
	carry->inside ^= parities >> (QUOTE_NWORDS - 1) & 1;
	return true;
}

/* simd_ops.clear_quoted */
static size_t quote_clear_lanes(struct simd_bits bits, size_t nwords, struct simd_quotes *at)
{
	struct quote_carry carry = {LANES_64((int64_t)(at->may_open << 63)),
				    LANES_64((int64_t)(at->closed << 63)), LANES_64(0),
				    at->inside & 1};
	struct simd_bits rest;
	size_t k = 0;

	while (nwords - k >= QUOTE_NWORDS && quote_clear_group(bits, k, &carry))
		k += QUOTE_NWORDS;
	at->inside = -(uint64_t)carry.inside;
	at->may_open = quote_last_top(carry.ends);
	at->closed = quote_last_top(carry.closing);
	at->strays |= lanes_zeros(carry.strays) != (1u << QUOTE_NWORDS) - 1;
	rest = (struct simd_bits){bits.separators + k, bits.newlines + k, bits.quotes + k};
	return k + simd_clear_quoted(rest, nwords - k < QUOTE_NWORDS ? nwords - k : QUOTE_NWORDS, at);
}
