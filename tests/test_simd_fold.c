/* SPDX-License-Identifier: MIT
 *
 * test_simd_fold.c - numbers folded by every instruction set, against decimal_parse, between
 * pages that trap.
 */
#include "decimal.h"
#include "simd_test.h"

static struct arena texts;

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

/* Folds a field into c. Returns false where that cannot be done; *must: whether ops->fold has
 * to do it as well. */
static bool plain_field(const char *field, size_t nbytes, bool drops_cr, struct column *c,
			bool *must)
{
	struct decimal x;

	nbytes -= drops_cr && nbytes > 0 && field[nbytes - 1] == '\r';
	*must = has_only(field, nbytes, "+-.") && nbytes <= 16;
	if (nbytes == 0) {
		c->nmissing++;
		return true;
	}
	if (!has_only(field, nbytes, "+-.eE") || decimal_parse(field, nbytes, &x) != DECIMAL_NUMBER)
		return false;
	decimal_fold_add(&c->fold, x);
	return true;
}

/* Whether ops->fold was right to do `seen` of nrows rows, folded into c. */
static bool right_rows(const char *text, const uint32_t *ends, size_t stride, size_t nrows,
		       bool drops_cr, size_t seen, struct column *c)
{
	struct column refused = {.nmissing = 0};
	bool must;

	for (size_t r = 0; r < seen && seen <= nrows; r++)
		if (!plain_field(text + (uint32_t)(ends[r * stride - 1] + 1),
				 ends[r * stride] - (uint32_t)(ends[r * stride - 1] + 1), drops_cr, c, &must))
			return false;
	if (seen >= nrows)
		return seen == nrows;
	ends += seen * stride;
	return !plain_field(text + (uint32_t)(ends[-1] + 1), ends[0] - (uint32_t)(ends[-1] + 1),
			    drops_cr, &refused, &must) || !must;
}

/* Whether ops->fold does with a field, alone in its text at either end of texts, what it
 * should: as the first, and after a number of scale 2. */
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
		struct simd_hint hint = {0};
		memcpy(saved, text, nbytes);
		memcpy(text, field, nbytes);
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

/* Digits of every length up to 22, after each sign or none, with any byte at any place. */
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
		field[at] = (char)(k % 256);
		if (!folds_field(ops, field, nbytes))
			return false;
	}
	return true;
}

/* Writes a field of the given scale, but for one in `nth` another one. Returns its length. */
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

/* Whether ops->fold folds a column, in runs of random length, going on behind the row that
 * stopped it. */
static bool folds_column(const struct simd_ops *ops, const char *text, const uint32_t *ends,
			 size_t stride, size_t nrows, bool drops_cr)
{
	struct column wanted, seen;
	struct simd_hint hint = {0};

	clear(&wanted);
	clear(&seen);
	for (size_t r = 0; r < nrows;) {
		size_t n = 1 + random_below((uint32_t)(nrows - r));
		const uint32_t *from = ends + r * stride;
		size_t ndone = ops->fold(text, from, stride, n, drops_cr, &seen.fold, &seen.nmissing, &hint);
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

	for (size_t i = 1; i <= stride * nrows; i++) {
		nbytes += (uint32_t)random_field(fields + nbytes, (unsigned)(i % stride), nth);
		ends[i] = nbytes;
		fields[nbytes++] = i % stride ? ',' : '\n';
	}
	char *text = at_end ? texts.end - SIMD_PAD_NBYTES - nbytes : texts.begin + SIMD_PAD_NBYTES;
	memcpy(text, fields, nbytes);
	for (size_t column = 0; column < stride && right; column++)
		right = folds_column(ops, text, ends + 1 + column, stride, nrows, drops_cr);
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
}

static void test_all(const char *name)
{
	const unsigned long nchecks = 4;
	const struct simd_ops *ops = simd_named(name);

	if (!ops)
		return skip(nchecks, "%s: not of this architecture", name);
	if (!simd_runs(ops))
		return skip(nchecks, "%s: this CPU has not got it", name);
	test_fold(ops);
}

int main(void)
{
	static const char *const names[] = {"avx512", "avx2", "neon", "portable"};

	texts = arena_of((1 << 15) + 2 * SIMD_PAD_NBYTES);
	plan(COUNT(names) * 4);
	for (size_t i = 0; i < COUNT(names); i++)
		test_all(names[i]);
	return done();
}
