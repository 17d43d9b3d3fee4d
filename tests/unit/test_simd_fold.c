/* SPDX-License-Identifier: MIT
 *
 * test_simd_fold.c - numbers folded by every instruction set, against decimal_parse, between
 * pages that trap.
 */
#include "number/decimal.h"
#include "simd_test.h"

static struct arena texts;
static char many[1 << 18];
static uint32_t many_ends[1 + sizeof many / 17] = {UINT32_MAX};

/* The decimal point of all texts. Another one than '.' changes places with it. */
static char decimal = '.';

static void exchange_points(char *text, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		text[i] = text[i] == '.' ? decimal : text[i] == decimal ? '.' : text[i];
}

/* What a column comes to. */
struct column {
	struct decimal_fold fold;
	uint64_t nmissing;
};

static void clear(struct column *c)
{
	decimal_fold_clear(&c->fold);
	c->nmissing = 0;
}

static bool same(const struct column *a, const struct column *b)
{
	if (a->fold.count != b->fold.count || a->fold.scales != b->fold.scales ||
	    a->nmissing != b->nmissing)
		return false;
	for (unsigned s = 0; s < DECIMAL_NSCALES; s++)
		if ((a->fold.scales >> s & 1) != 0 &&
		    (a->fold.bin[s].sum != b->fold.bin[s].sum || a->fold.bin[s].min != b->fold.bin[s].min ||
		     a->fold.bin[s].max != b->fold.bin[s].max))
			return false;
	return true;
}

static bool has_only(const char *field, size_t nbytes, const char *others)
{
	for (size_t i = 0; i < nbytes; i++)
		if (!decimal_is_digit(field[i]) && !memchr(others, field[i], strlen(others)))
			return false;
	return true;
}

/* Folds a field into c. Returns false where ops->fold must stop: at a field that is not a number
 * of the fast path, or has blanks or quotes. */
static bool plain_field(const char *field, size_t nbytes, bool drops_cr, struct column *c)
{
	struct decimal x;
	char text[64];

	nbytes -= drops_cr && nbytes > 0 && field[nbytes - 1] == '\r';
	c->nmissing += nbytes == 0;
	if (nbytes == 0)
		return true;
	if (nbytes > sizeof text)
		return false;
	memcpy(text, field, nbytes);
	exchange_points(text, nbytes);
	if (!has_only(text, nbytes, "+-.eE") || decimal_parse(text, nbytes, &x) != DECIMAL_NUMBER)
		return false;
	decimal_fold_add(&c->fold, x);
	return true;
}

/* Whether ops->fold may stop at a number: one that is long or has a long exponent, with another
 * decimal point. */
static bool may_stop(const char *field, uint32_t nbytes)
{
	const char *e = memchr(field, 'e', nbytes);

	e = e ? e : memchr(field, 'E', nbytes);
	return decimal != '.' && (nbytes > 16 || (e && field + nbytes - e > 3));
}

/* Folds `seen` of nrows rows into c. Returns whether ops->fold was right to stop after them. */
static bool right_rows(const char *text, const uint32_t *ends, size_t stride, size_t nrows,
		       bool drops_cr, size_t seen, struct column *c)
{
	struct column refused;

	clear(&refused);
	for (size_t r = 0; r <= seen && r < nrows; r++, ends += stride) {
		uint32_t begin = ends[-1] + 1;
		if (plain_field(text + begin, ends[0] - begin, drops_cr, r < seen ? c : &refused) !=
		    (r < seen) && !(r == seen && may_stop(text + begin, ends[0] - begin)))
			return false;
	}
	return seen <= nrows;
}

/* Whether ops->fold is right on one field, at either end of texts: as the first value of the
 * column, and after a number of scale 2. */
static bool folds_field(const struct simd_ops *ops, const char *field, size_t nbytes)
{
	const uint32_t ends[] = {UINT32_MAX, (uint32_t)nbytes};
	char *const places[] = {texts.begin + SIMD_PAD_NBYTES,
				texts.end - SIMD_PAD_NBYTES - nbytes};

	for (unsigned i = 0; i < 8; i++) {
		char *text = places[i & 1], saved[32];
		bool drops_cr = i & 2, right;
		struct column wanted, seen;
		clear(&wanted);
		clear(&seen);
		if (i & 4) {
			decimal_fold_add(&wanted.fold, (struct decimal){150, 2});
			decimal_fold_add(&seen.fold, (struct decimal){150, 2});
		}
		struct simd_hint hint = {.nwhole_folds = random_below(2) ? UINT8_MAX : 0,
					 .decimal = decimal};
		memcpy(saved, text, nbytes);
		memcpy(text, field, nbytes);
		exchange_points(text, nbytes);
		size_t n = ops->fold(text, ends + 1, 1, 1, drops_cr, &seen.fold, &seen.nmissing, &hint);
		right = right_rows(text, ends + 1, 1, 1, drops_cr, n, &wanted) && same(&wanted, &seen);
		memcpy(text, saved, nbytes);
		if (!right) {
			diag("'%.*s' (%s CR, %s): rows %zu", (int)nbytes, field,
			     drops_cr ? "without" : "with", i & 4 ? "scale 2" : "first", n);
			return false;
		}
	}
	return true;
}

/* Every field of up to 5 bytes of an alphabet. */
static bool folds_short_fields(const struct simd_ops *ops)
{
	static const char alphabet[] = "+-.09e \"\r";
	const unsigned nletters = sizeof alphabet - 1;
	unsigned nfields = 1;

	for (size_t nbytes = 0; nbytes <= 5; nbytes++, nfields *= nletters)
		for (unsigned k = 0; k < nfields; k++) {
			char field[8];
			for (unsigned i = 0, rest = k; i < nbytes; i++, rest /= nletters)
				field[i] = alphabet[rest % nletters];
			if (!folds_field(ops, field, nbytes))
				return false;
		}
	return true;
}

/* Digits of every length up to 22, after each sign or none, half of them with a point, with any byte
 * at any place. */
static bool folds_long_fields(const struct simd_ops *ops)
{
	for (unsigned k = 0; k < 3 * 22 * 22 * 256; k++) {
		size_t nbytes = 1 + k / 256 / 22 % 22, at = k / 256 % 22;
		char field[22];
		if (at >= nbytes)
			continue;
		for (size_t i = 0; i < nbytes; i++)
			field[i] = (char)('0' + (k + 7 * i) % 10);
		field[0] = k / 256 / 22 / 22 == 0 ? field[0] : k / 256 / 22 / 22 == 1 ? '-' : '+';
		if (random_below(2))
			field[random_below((uint32_t)nbytes)] = '.';
		field[at] = (char)(k % 256);
		if (!folds_field(ops, field, nbytes))
			return false;
	}
	return true;
}

/* Writes a number of the given scale, or, once in `nth`, an odd field. Returns its length. */
static size_t random_field(char *field, unsigned scale, uint32_t nth)
{
	static const char *const others[] = {"", "\r", " 1", "1 ", "1e2", "abc", "\"1\"", "+", "-",
		".", "1.", ".5", "1.2.3", "--1", "1-", "12345678901234567", "-123456789012345.6",
		"-1.234567890123456789",
		"1.648475732e-04", "1E2", "1e+3", "12e-40", "123456789012345678", "5e", "e5",
		"1\r\r", "1.5\r", "0.000", "-0", "nan", "0x1", "\xb1", "1,2", "1\n2",
		"9999999999999999"};
	static const char *const formats[] = {"%.*f", "%+.*f", "%08.*f", "%.*f\r"};
	double number = (double)random_below(200000) - 100000;

	if (random_below(nth) == 0)
		return (size_t)sprintf(field, "%s", others[random_below(COUNT(others))]);
	return (size_t)sprintf(field, formats[random_below(COUNT(formats))], (int)scale,
			       number / 7);
}

/* Whether ops->fold folds a column, in runs of random length or in one call. After a row that
 * stops it, the fold resumes at the next row. */
static bool folds_column(const struct simd_ops *ops, const char *text, const uint32_t *ends,
			 size_t stride, size_t nrows, bool drops_cr, struct simd_hint *hint)
{
	struct column wanted, seen;
	bool at_once = random_below(2);

	hint->decimal = decimal;
	clear(&wanted);
	clear(&seen);
	for (size_t r = 0; r < nrows;) {
		size_t n = at_once ? nrows - r : 1 + random_below((uint32_t)(nrows - r));
		const uint32_t *from = ends + r * stride;
		size_t ndone = ops->fold(text, from, stride, n, drops_cr, &seen.fold, &seen.nmissing, hint);
		if (!right_rows(text, from, stride, n, drops_cr, ndone, &wanted) ||
		    !same(&wanted, &seen)) {
			diag("rows %zu to %zu, stride %zu: %zu done", r, r + n, stride, ndone);
			return false;
		}
		r += ndone + (ndone < n);
	}
	return true;
}

/* A table of random fields, its text starting or ending where the padding does. */
static bool folds_table(const struct simd_ops *ops, size_t stride, uint32_t nth, bool at_end)
{
	static char fields[1 << 15];
	uint32_t ends[1 + 7 * 64] = {UINT32_MAX}, nbytes = 0;
	size_t nrows = 1 + random_below(64);
	bool right = true, drops_cr = random_below(2);
	struct simd_hint hint = {0};

	for (size_t i = 1; i <= stride * nrows; i++) {
		nbytes += (uint32_t)random_field(fields + nbytes, (unsigned)(i % stride), nth);
		ends[i] = nbytes;
		fields[nbytes++] = i % stride ? ',' : '\n';
	}
	char *text = at_end ? texts.end - SIMD_PAD_NBYTES - nbytes : texts.begin + SIMD_PAD_NBYTES;
	memcpy(text, fields, nbytes);
	exchange_points(text, nbytes);
	for (size_t column = 0; column < stride && right; column++)
		right = folds_column(ops, text, ends + 1 + column, stride, nrows, drops_cr, &hint);
	return right;
}

/* A sum that needs more than 64 bits: 950 times 10^16 - 1. */
static bool folds_large_sum(const struct simd_ops *ops)
{
	uint32_t ends[1 + 950] = {UINT32_MAX};
	char *text = texts.begin + SIMD_PAD_NBYTES;
	struct column wanted, seen;
	struct simd_hint hint = {0};

	clear(&wanted);
	clear(&seen);
	for (uint32_t r = 0; r < 950; r++) {
		memcpy(text + 17 * r, "9999999999999999\n", 17);
		ends[1 + r] = 17 * r + 16;
	}
	return ops->fold(text, ends + 1, 1, 950, false, &seen.fold, &seen.nmissing, &hint) == 950 &&
	       right_rows(text, ends + 1, 1, 950, false, 950, &wanted) && same(&wanted, &seen);
}

/* ---- columns of numbers that are alike ---- */

#define NALIKE 21

/* Whether ops->fold folds rows that hold `field`, and some `other`, without and with a hint. The
 * text lies next to the padding at the start or the end of texts. */
static bool folds_alike(const struct simd_ops *ops, const char *field, const char *other)
{
	uint32_t ends[1 + NALIKE] = {UINT32_MAX}, nbytes = 0;
	uint32_t nth = 2 + random_below(12);
	struct simd_hint hint = {0};
	char rows[NALIKE * 64];
	bool right = true;

	for (unsigned r = 1; r <= NALIKE; r++) {
		nbytes += (uint32_t)sprintf(rows + nbytes, "%s",
					    random_below(nth) == 0 ? other : field);
		ends[r] = nbytes;
		rows[nbytes++] = '\n';
	}
	char *text = random_below(2) ? texts.end - SIMD_PAD_NBYTES - nbytes
				     : texts.begin + SIMD_PAD_NBYTES;
	memcpy(text, rows, nbytes);
	exchange_points(text, nbytes);
	for (unsigned i = 0; i < 2 && right; i++) {
		hint.nwhole_folds = i ? UINT8_MAX : 0;
		right = folds_column(ops, text, ends + 1, 1, NALIKE, true, &hint);
	}
	if (!right)
		diag("rows of '%s', some '%s'", field, other);
	return right;
}

/* Writes ndigits digits with a point before digit `point`, or none where there is no such
 * digit: all nines, random ones, some after zeros, or a power of ten of up to 19 digits. */
static void digits_make(char *out, unsigned kind, unsigned ndigits, unsigned point)
{
	for (unsigned i = 0; i < ndigits + (point == ndigits); i++) {
		if (i == point)
			*out++ = '.';
		if (i == ndigits)
			break;
		unsigned zeros = kind == 2 && i + 3 + random_below(14) < ndigits;
		*out++ = (char)(kind == 3 ? '0' + (i == (ndigits > 19 ? ndigits - 19 : 0))
				: zeros ? '0' : kind == 0 ? '9' : '0' + random_below(10));
	}
	*out = '\0';
}

/* Every length up to 36 digits, the point at every place, every sign, every kind of exponent. */
static bool folds_every_shape(const struct simd_ops *ops)
{
	static const char *const signs[] = {"", "-", "+", "--"};
	static const char *const suffixes[] = {"", "e5", "e-5", "E05", "e-05", "e+05", "e-13", "e-31",
		"e-32", "e0", "e-0", "e17", "e18", "e-005", "e400", "e-400", "e", "e+", "e-", "e1.5",
		"e5e5", "e--5", "x", "\r", "e-05\r", "\r\r", " ", "\""};
	char field[64] = "1", other[64] = "", digits[48];

	for (unsigned k = 0; k < 37 * 38 * 4 * COUNT(suffixes); k++) {
		unsigned ndigits = k % 37, point = k / 37 % 38;
		if (point > ndigits + 1)
			continue;
		if (random_below(3) == 0 && k > 0)
			memcpy(other, field, sizeof other);
		digits_make(digits, random_below(4), ndigits, point);
		sprintf(field, "%s%s%s", signs[k / 37 / 38 % 4], digits,
			suffixes[k / 37 / 38 / 4]);
		if (!folds_alike(ops, field, other))
			return false;
	}
	return true;
}

/* Values written as programs do: as many digits as a double needs, or with an exponent. */
static bool folds_printed_values(const struct simd_ops *ops)
{
	static const char *const formats[] = {"%.17g", "%.9e", "%g", "%.15g", "%.3f", "%+.2e"};

	for (unsigned i = 0; i < 3000; i++) {
		char a[64], b[64];
		double unit = random_below(1u << 30) / 1073741824.0, scales[] = {1, 1e6, 1e-3, 1e17, 1e-9};
		const char *format = formats[i % COUNT(formats)];
		sprintf(a, format, (unit - 0.5) * scales[i / 6 % 5]);
		sprintf(b, format, (unit - 0.51) * scales[random_below(5)]);
		if (!folds_alike(ops, a, b))
			return false;
	}
	return true;
}

/* So many rows of the largest numbers that a 64-bit sum would overflow. */
static bool folds_many(const struct simd_ops *ops, const char *field)
{
	uint32_t n = (uint32_t)strlen(field), nrows = (uint32_t)(sizeof many - 2 * SIMD_PAD_NBYTES) / (n + 1);
	struct simd_hint hint = {0};

	for (uint32_t r = 0; r < nrows; r++) {
		memcpy(many + SIMD_PAD_NBYTES + r * (n + 1), field, n);
		many_ends[1 + r] = r * (n + 1) + n;
	}
	if (!folds_column(ops, many + SIMD_PAD_NBYTES, many_ends + 1, 1, nrows, false, &hint))
		return false;
	hint.nwhole_folds = UINT8_MAX;
	return folds_column(ops, many + SIMD_PAD_NBYTES, many_ends + 1, 1, nrows, false, &hint);
}

/* Writes a field of one of nforms forms, the first the most frequent. Returns its length. */
static size_t formed_field(char *field, unsigned nforms)
{
	static const char *const formats[] = {"%.11f", "%.12f", "%.10f", "%.9fe-04", "%.9fe-05",
		"%.4f", "%+.13f", "%.0f", "%.2e\r", "%.14f"};
	unsigned a = random_below(nforms), b = random_below(nforms), c = random_below(nforms);
	unsigned form = a < b ? a : b;

	return (size_t)sprintf(field, formats[form < c ? form : c],
			       ((double)random_below(2000000) - 1000000) / 7);
}

/* Thousands of rows of a few forms, with values that are missing or stop the fold: none, few, many. */
static bool folds_mixed_forms(const struct simd_ops *ops)
{
	static const uint32_t nths[] = {UINT32_MAX, 2000, 100, 10};

	for (unsigned i = 0; i < 200; i++) {
		uint32_t nrows = 1 + random_below(i % 2 ? 7000 : 100), nbytes = 0;
		uint32_t nth = nths[random_below(COUNT(nths))];
		struct simd_hint hint = {.nwhole_folds = i / 2 % 2 ? UINT8_MAX : 0};
		for (uint32_t r = 0; r < nrows; r++) {
			char *field = many + SIMD_PAD_NBYTES + nbytes;
			nbytes += (uint32_t)(random_below(nth) == 0 ? random_field(field, 2, 1)
								   : formed_field(field, 1 + i % 10));
			many_ends[1 + r] = nbytes++;
		}
		exchange_points(many + SIMD_PAD_NBYTES, nbytes);
		if (!folds_column(ops, many + SIMD_PAD_NBYTES, many_ends + 1, 1, nrows, i % 3 == 0,
				  &hint))
			return false;
	}
	return true;
}

static void test_fold(const struct simd_ops *ops)
{
	static const char fills[] = {'7', '.', '-', '\r'};
	bool short_fields = true, long_fields = true, tables = true;

	for (unsigned i = 0; i < COUNT(fills); i++) {
		memset(texts.begin, fills[i], (size_t)(texts.end - texts.begin));
		short_fields = short_fields && folds_short_fields(ops);
		long_fields = long_fields && folds_long_fields(ops);
	}
	for (unsigned i = 0; i < 7 * 300 && tables; i++)
		tables = folds_table(ops, 1 + i % 7, i % 3 ? 3 : 200, i & 1);
	ok(short_fields, "%s: folds every short field of an alphabet", ops->name);
	ok(long_fields, "%s: folds long fields with any byte at any place", ops->name);
	ok(folds_large_sum(ops), "%s: folds to a sum of more than 64 bits", ops->name);
	ok(tables, "%s: folds columns of tables in runs", ops->name);
	ok(folds_every_shape(ops), "%s: folds numbers of every shape", ops->name);
	ok(folds_printed_values(ops), "%s: folds what programs print", ops->name);
	ok(folds_mixed_forms(ops), "%s: folds columns of several forms", ops->name);
	ok(folds_many(ops, "9999999999999999") && folds_many(ops, "-999999999999999999") &&
	   folds_many(ops, "99999999999999.9999e-13"), "%s: folds more than a sum holds", ops->name);
}

static void test_decimal(const struct simd_ops *ops)
{
	bool tables = true, fields = true;

	decimal = ',';
	for (unsigned i = 0; i < 7 * 300 && tables; i++)
		tables = folds_table(ops, 1 + i % 7, i % 3 ? 3 : 200, i & 1);
	fields = folds_short_fields(ops) && folds_long_fields(ops);
	ok(fields && tables && folds_every_shape(ops) && folds_printed_values(ops) &&
	   folds_mixed_forms(ops), "%s: folds all of that with a decimal comma", ops->name);
	decimal = '.';
}

static void test_all(const char *name)
{
	const unsigned long nchecks = 9;
	const struct simd_ops *ops = simd_named(name);

	if (!ops)
		return skip(nchecks, "%s: not of this architecture", name);
	if (!simd_runs(ops))
		return skip(nchecks, "%s: this CPU has not got it", name);
	test_fold(ops);
	test_decimal(ops);
}

int main(void)
{
	static const char *const names[] = {"avx512", "avx2", "neon", "portable"};

	texts = arena_of((1 << 15) + 2 * SIMD_PAD_NBYTES);
	plan(COUNT(names) * 9);
	for (size_t i = 0; i < COUNT(names); i++)
		test_all(names[i]);
	return done();
}
