/* SPDX-License-Identifier: MIT
 *
 * test_convert.c - numbers of a column converted and folded by each instruction set, and numbers as
 * text, all against decimal.h.
 */
#include "number/decimal_text.h"
#include "simd_test.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define TEXT_NBYTES 8192
#define STRIDE_MAX 5

/* ---- columns ---- */

/* Writes a random field and returns its length. The greater plainness is, the more fields are a
 * number with nfraction digits after the point, followed by suffix. */
static size_t random_field(char *field, uint32_t plainness, int nfraction, const char *suffix)
{
	static const char *const others[] = {"", "\r", " 1", "1 ", "1e2", "abc", "\"1\"", "+", "-",
		".", "1.", ".5", "1.2.3", "--1", "12345678901234567", "-1.234567890123456789",
		"1.648475732e-04", "12e-40", "999999999999999999", "1000000000000000000", "5e",
		"1\r\r", "1.5\r", "-0", "nan", "\xb1", "0.0000000000000000000000000000001",
		"1e-32", "9999999999999999", "-999999999999999.9", "+.5\r"};
	static const char letters[] = "+-.0123456789eE";
	size_t nbytes = random_below(20);

	if (random_below(plainness) == 0)
		return (size_t)sprintf(field, "%s", others[random_below(COUNT(others))]);
	if (random_below(plainness))
		return (size_t)sprintf(field, "%.*f%s", nfraction, ((double)random_below(2000000) - 1000000) / 7,
				       suffix);
	if (random_below(2))
		return (size_t)sprintf(field, "%.*f", (int)random_below(4),
				       ((double)random_below(2000000) - 1000000) / 7);
	for (size_t i = 0; i < nbytes; i++)
		field[i] = letters[random_below(sizeof letters - 1)];
	return nbytes;
}

/* The decimal point of all texts. Another one than '.' changes places with it. */
static char decimal = '.';

static void exchange_points(char *text, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		text[i] = text[i] == '.' ? decimal : text[i] == decimal ? '.' : text[i];
}

static bool is_plain(const char *field, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		if (!decimal_is_digit(field[i]) && !strchr("+-.eE", field[i]))
			return false;
	return nbytes > 0;
}

/* Whether row r of *seen holds the value of the field. */
static bool right_row(const struct simd_numbers *seen, unsigned r, const char *field,
		      size_t nbytes, bool drops_cr)
{
	struct decimal x = {0, 0};
	bool is_number;
	char text[64] = "";

	nbytes -= drops_cr && nbytes > 0 && field[nbytes - 1] == '\r';
	memcpy(text, field, nbytes < sizeof text ? nbytes : 0);
	exchange_points(text, nbytes < sizeof text ? nbytes : 0);
	is_number = nbytes < sizeof text && is_plain(text, nbytes) &&
		    decimal_parse(text, nbytes, &x) == DECIMAL_NUMBER;
	/* With another decimal point, long ones and those with long exponents may be left out. */
	if (decimal != '.' && (nbytes > 16 || strcspn(text, "eE") + 3 < nbytes) &&
	    !(seen->numbers >> r & 1))
		is_number = false;
	if ((seen->empty >> r & 1) != (nbytes == 0) || (seen->numbers >> r & 1) != is_number ||
	    seen->scale[r] >= DECIMAL_NSCALES)
		return false;
	return !is_number || (seen->significand[r] == x.significand && seen->scale[r] == x.scale);
}

/* Converts a table of random fields at the start or the end of the text, inside the padding. */
static bool converts_table(const struct simd_ops *ops, char *text, bool at_end)
{
	static char fields[TEXT_NBYTES];
	uint32_t ends[1 + STRIDE_MAX * SIMD_NUMBERS_NROWS] = {UINT32_MAX}, nbytes = 0;
	static const char *const suffixes[] = {"", "", "e-03", "\r", "e5\r"};
	uint32_t plainness = 1 + random_below(2) * random_below(100);
	const char *suffix = suffixes[random_below(COUNT(suffixes))];
	int nfraction = (int)random_below(random_below(3) ? 4 : 16);
	size_t stride = 1 + random_below(STRIDE_MAX);
	unsigned nrows = 1 + random_below(SIMD_NUMBERS_NROWS);
	struct simd_hint hints[STRIDE_MAX] = {{.scale = 0}};
	bool drops_cr = random_below(2);

	for (size_t i = 1; i <= stride * nrows; i++) {
		if (nbytes < TEXT_NBYTES - 4096)
			nbytes += (uint32_t)random_field(fields + nbytes, plainness, nfraction,
							 suffix);
		ends[i] = nbytes;
		fields[nbytes++] = i % stride ? ',' : '\n';
	}
	text += at_end ? TEXT_NBYTES - SIMD_PAD_NBYTES - nbytes : SIMD_PAD_NBYTES;
	memcpy(text, fields, nbytes);
	exchange_points(text, nbytes);
	for (size_t c = 1; c <= stride; c++) {
		struct simd_numbers seen;
		hints[c - 1].decimal = decimal;
		for (unsigned again = random_below(4); again > 0; again--) /* others come before */
			ops->convert(text, ends + random_below((uint32_t)stride) + 1, stride, nrows,
				     drops_cr, &seen, &hints[c - 1]);
		memset(&seen, 0x5a, sizeof seen);
		ops->convert(text, ends + c, stride, nrows, drops_cr, &seen, &hints[c - 1]);
		if (nrows < 64 && (seen.numbers | seen.empty) >> nrows)
			return false;
		for (unsigned r = 0; r < nrows; r++) {
			const uint32_t *end = ends + c + r * stride;
			uint32_t begin = end[-1] + 1;
			if (!right_row(&seen, r, text + begin, end[0] - begin, drops_cr)) {
				diag("row %u of %u: '%.*s'", r, nrows, (int)(end[0] - begin), text + begin);
				return false;
			}
		}
	}
	return true;
}

static void test_columns(const struct simd_ops *ops, char *text)
{
	bool right = true;

	if (!simd_runs(ops))
		return skip(1, "%s: this CPU has not got it", ops->name);
	for (unsigned i = 0; i < 9000 && right; i++) {
		decimal = i % 3 == 2 ? ',' : '.';
		right = converts_table(ops, text, i & 1);
	}
	ok(right, "%s: converts columns of random fields", ops->name);
}

/* ---- folding what was converted ---- */

/* Fills *x with numbers, mostly of one scale and size. Other rows hold arbitrary values. */
static void random_numbers(struct simd_numbers *x, uint64_t rows)
{
	unsigned nbits = 1 + random_below(59), oddness = 1 + random_below(64);
	uint8_t scale = (uint8_t)random_below(DECIMAL_NSCALES);

	for (unsigned r = 0; r < SIMD_NUMBERS_NROWS; r++) {
		bool odd = random_below(64) < oddness / 8;
		uint64_t any = (uint64_t)random_below(1u << 31) << 33 ^
			       (uint64_t)random_below(1u << 31) << 16 ^ random_below(1u << 16);
		int64_t number = (int64_t)(any >> (64 - (odd ? 59 : nbits)));
		x->significand[r] = random_below(2) ? number : -number;
		if (!(rows >> r & 1))
			x->significand[r] = (int64_t)any;
		x->scale[r] = odd ? (uint8_t)random_below(DECIMAL_NSCALES) : scale;
	}
	x->numbers = rows;
}

static bool folds_equal(const struct decimal_fold *a, const struct decimal_fold *b)
{
	if (a->count != b->count || a->scales != b->scales)
		return false;
	for (unsigned s = 0; s < DECIMAL_NSCALES; s++)
		if ((a->scales >> s & 1) != 0 &&
		    (a->bin[s].sum != b->bin[s].sum || a->bin[s].min != b->bin[s].min ||
		     a->bin[s].max != b->bin[s].max))
			return false;
	return true;
}

static void test_fold_numbers(const struct simd_ops *ops)
{
	static struct decimal_fold seen, wanted;
	struct simd_numbers x;
	bool right = true;

	if (!simd_runs(ops))
		return skip(1, "%s: this CPU has not got it", ops->name);
	decimal_fold_clear(&seen);
	decimal_fold_clear(&wanted);
	for (unsigned i = 0; i < 100000 && right; i++) {
		uint64_t rows = ~UINT64_C(0);
		for (unsigned n = random_below(4); n > 0; n--)
			rows &= (uint64_t)random_below(1u << 31) << 33 ^
				(uint64_t)random_below(1u << 31) << 16 ^ random_below(1u << 16);
		if (i % 50 == 0) {
			decimal_fold_clear(&seen);
			decimal_fold_clear(&wanted);
		}
		random_numbers(&x, rows);
		ops->fold_numbers(&x, rows, &seen);
		for (unsigned r = 0; r < SIMD_NUMBERS_NROWS; r++)
			if (rows >> r & 1)
				decimal_fold_add(&wanted, (struct decimal){x.significand[r], x.scale[r]});
		right = folds_equal(&seen, &wanted);
	}
	ok(right, "%s: folds converted numbers", ops->name);
}

#define SMALL (INT64_C(1) << 30)

/* Whether ops->sum_squares answers as a plain loop does. */
static bool squares_agree(const struct simd_ops *ops, const int64_t *significand, uint64_t rows)
{
	uint128 wanted = 0, seen = 12345;
	bool fits = true;

	for (unsigned r = 0; r < SIMD_NUMBERS_NROWS; r++) {
		if (!(rows >> r & 1))
			continue;
		fits &= -SMALL <= significand[r] && significand[r] < SMALL;
		wanted += (uint128)((int128)significand[r] * significand[r]);
	}
	return ops->sum_squares(significand, rows, &seen) == fits && (!fits || seen == wanted);
}

static void test_sum_squares(const struct simd_ops *ops)
{
	static const int64_t edges[] = {0, 1, -1, SMALL - 1, -SMALL, SMALL, -SMALL - 1, INT64_C(1) << 32,
					INT64_MAX, INT64_MIN + 1};
	struct simd_numbers x;
	bool right = true;

	if (!simd_runs(ops))
		return skip(1, "%s: this CPU has not got it", ops->name);
	for (unsigned e = 0; e < sizeof edges / sizeof *edges && right; e++) {
		for (unsigned r = 0; r < SIMD_NUMBERS_NROWS; r++)
			x.significand[r] = edges[e];
		right = squares_agree(ops, x.significand, ~UINT64_C(0));
		for (unsigned r = 0; r < SIMD_NUMBERS_NROWS && right; r++) /* one row of 64 */
			right = squares_agree(ops, x.significand, UINT64_C(1) << r);
	}
	for (unsigned i = 0; i < 100000 && right; i++) {
		uint64_t rows = i % 2 ? ~UINT64_C(0) : (uint64_t)random_below(1u << 31) * random_below(1u << 31);
		random_numbers(&x, rows);
		for (unsigned r = 0; r < SIMD_NUMBERS_NROWS && i % 3; r++)
			x.significand[r] >>= 29;
		right = squares_agree(ops, x.significand, rows);
	}
	ok(right, "%s: sums squares", ops->name);
}

/* ---- text ---- */

/* Whether decimal_write writes the text of decimal_format, and no byte past its slack. */
static bool writes(int128 significand, int scale)
{
	char wanted[DECIMAL_TEXT_NBYTES], seen[DECIMAL_TEXT_NBYTES + 2 * DECIMAL_TEXT_SLACK];
	size_t nbytes = decimal_format(significand, scale, wanted);

	memset(seen, '#', sizeof seen);
	if (decimal_write(seen, significand, scale) == seen + nbytes &&
	    memcmp(wanted, seen, nbytes) == 0 && seen[nbytes + DECIMAL_TEXT_SLACK] == '#')
		return true;
	diag("scale %d: wanted %.*s, seen %.*s", scale, (int)nbytes, wanted, (int)nbytes + 2, seen);
	return false;
}

/* Whether a writer that has written other numbers writes the text of decimal_format. */
static bool writes_on(struct decimal_writer *w, int64_t x, int scale)
{
	char wanted[DECIMAL_TEXT_NBYTES], seen[DECIMAL_TEXT_NBYTES + 2 * DECIMAL_TEXT_SLACK];
	size_t nbytes = decimal_format(x, scale, wanted);

	memset(seen, '#', sizeof seen);
	if (w->scale != scale)
		decimal_writer_set(w, scale, 1);
	if (decimal_writer_i64(w, seen, x) == seen + nbytes && memcmp(wanted, seen, nbytes) == 0 &&
	    seen[nbytes + DECIMAL_TEXT_SLACK] == '#')
		return true;
	diag("scale %d: wanted %.*s, seen %.*s", scale, (int)nbytes, wanted, (int)nbytes + 2, seen);
	return false;
}

/* Numbers near the one before (like running totals), far from it, near powers of 10, and large. */
static void test_writer(void)
{
	struct decimal_writer w = {.scale = 0};
	bool right = true;
	int64_t x = 0;

	for (unsigned i = 0; i < 2000000 && right; i++) {
		uint64_t any = random_state ^ random_state << 31;
		unsigned kind = random_below(40), exponent = random_below(19), sign = random_below(2);
		int scale = w.scale;
		if (kind == 0)
			x = (int64_t)(any >> 1 >> random_below(63));
		else if (kind == 1)
			x = (int64_t)decimal_powers[exponent] + (int64_t)random_below(3) - 1;
		else if (kind == 2)
			x = INT64_MAX - random_below(3);
		else if (x > INT64_MIN + 100000 && x < INT64_MAX - 100000)
			x += (int64_t)random_below(200000) - 100000;
		if (kind < 3 && sign)
			x = -x;
		if (random_below(100) == 0)
			scale = (int)random_below(DECIMAL_POWER_MAX + 1);
		right = writes_on(&w, x, scale);
	}
	ok(right, "a writer writes number after number");
}

/* At every power of 2 and of 10, and beside, at every scale. */
static void test_powers(void)
{
	bool right = true;

	for (int scale = 0; scale <= 60 && right; scale++) {
		int128 ten = 1;
		for (int i = 0; i < 127 && right; i++)
			for (int128 d = -1; d <= 1 && right; d++)
				right = writes(((int128)1 << i) + d, scale) &&
					writes(-((int128)1 << i) - d, scale);
		for (int i = 0; i <= 38 && right; i++, ten *= i <= 38 ? 10 : 1)
			for (int128 d = -1; d <= 1 && right; d++)
				right = writes(ten + d, scale) && writes(-ten - d, scale);
		right = right && writes(DECIMAL_INT128_MAX, scale) &&
			writes(-DECIMAL_INT128_MAX - 1, scale);
	}
	ok(right, "writes powers of 2 and 10, and what is beside them");
}

static void test_random_numbers(void)
{
	bool right = true;

	for (unsigned i = 0; i < 1000000 && right; i++) {
		uint128 x = (uint128)random_state * random_state * random_state;
		unsigned nbits = random_below(128), scale = random_below(random_below(8) ? 21 : 400);
		right = writes((int128)(x >> nbits), (int)scale);
	}
	ok(right, "writes random numbers of every size");
}

/* ---- products ---- */

/* 64 factors of nbits: of both signs, or of one and as large as they can be. */
static void random_factors(int64_t *x, unsigned nbits)
{
	bool extreme = random_below(2);
	int64_t sign = random_below(2) ? -1 : 1;

	for (unsigned r = 0; r < SIMD_NUMBERS_NROWS; r++) {
		int64_t size = (int64_t)((uint64_t)random_below(1u << 31) >> (31 - nbits));
		if (extreme)
			x[r] = sign < 0 ? -(INT64_C(1) << nbits) : (INT64_C(1) << nbits) - 1;
		else
			x[r] = random_below(2) ? size : -size;
	}
}

static void test_products(const struct simd_ops *ops)
{
	int64_t x[SIMD_NUMBERS_NROWS], y[SIMD_NUMBERS_NROWS];
	bool right = true;

	if (!simd_runs(ops))
		return skip(1, "%s: this CPU has not got it", ops->name);
	for (unsigned i = 0; i < 50000 && right; i++) {
		unsigned nbits = random_below(32), most = nbits < 25 ? 31 : 56 - nbits;
		int128 wanted = 0;
		random_factors(x, nbits);
		random_factors(y, random_below(most + 1));
		for (unsigned r = 0; r < SIMD_NUMBERS_NROWS; r++)
			wanted += (int128)x[r] * y[r];
		right = ops->sum_products(x, y) == (int64_t)wanted && (int64_t)wanted == wanted;
	}
	ok(right, "%s: sums of products", ops->name);
}

int main(void)
{
	char *text = arena_of(TEXT_NBYTES).end - TEXT_NBYTES; /* before a page that traps */

	plan_lazy();
	for (const struct simd_ops *const *ops = simd_all; *ops; ops++)
		test_columns(*ops, text);
	for (const struct simd_ops *const *ops = simd_all; *ops; ops++)
		test_fold_numbers(*ops);
	for (const struct simd_ops *const *ops = simd_all; *ops; ops++)
		test_products(*ops);
	for (const struct simd_ops *const *ops = simd_all; *ops; ops++)
		test_sum_squares(*ops);
	test_powers();
	test_random_numbers();
	test_writer();
	return done();
}
