/* SPDX-License-Identifier: MIT
 *
 * statistic.c - the formulas. See statistic.h.
 *
 * With n numbers, S1 their sum and S2 the sum of their squares, all integers once scaled by
 * 10^scale and 10^(2 scale), the variance is (n S2 - S1^2) / (n d) x 10^(-2 scale), where d is
 * n - 1 for a sample and n for a population. Numerator and denominator are exact, so that
 * ratio_format() rounds once, half to even, to 17 significant digits.
 */
#include "fold/statistic.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "fold/moment.h"
#include "fold/quantile.h"
#include "number/exact.h"
#include "number/logarithm.h"

static void statistic_sum(const struct column_moments *m, char *text)
{
	wide_format_sum(&m->numbers.sum, m->numbers.scale, m->numbers.count, text);
}

static void statistic_count(const struct column_moments *m, char *text)
{
	snprintf(text, STATISTIC_TEXT_NBYTES, "%" PRIu64, m->npresent);
}

static void statistic_min(const struct column_moments *m, char *text)
{
	if (m->numbers.count > 0)
		wide_format(&m->numbers.min, m->numbers.scale, text);
}

static void statistic_max(const struct column_moments *m, char *text)
{
	if (m->numbers.count > 0)
		wide_format(&m->numbers.max, m->numbers.scale, text);
}

int statistic_places(int scale)
{
	return wide_scale_is_rounded(scale) ? wide_sum_places(scale, 1) : RATIO_ALL;
}

/* The errors are less than a 20th of 10^-places, see wide_sum_places(): less than a 200th of a unit of the digits. */
int statistic_ndigits(int places, struct ratio deviation)
{
	if (places == RATIO_ALL)
		return RATIO_ALL;
	return integer_is_zero(deviation.numerator) ? 0 : places + ratio_magnitude(deviation) - 2;
}

static void statistic_mean(const struct column_moments *m, char *text)
{
	if (m->numbers.count > 0)
		wide_format_mean(&m->numbers.sum, m->numbers.scale, m->numbers.count, text);
}

static void format_end(const struct column_moments *m, bool at_end, char *text)
{
	struct wide x;

	if (m->ends && ends_number(m->ends, at_end, &x))
		wide_format(&x, m->numbers.scale, text);
}

static void statistic_first(const struct column_moments *m, char *text)
{
	format_end(m, false, text);
}

static void statistic_last(const struct column_moments *m, char *text)
{
	format_end(m, true, text);
}

static void statistic_range(const struct column_moments *m, char *text)
{
	struct wide range = m->numbers.min;

	if (m->numbers.count == 0)
		return;
	wide_negate(&range);
	wide_add(&range, &m->numbers.max);
	wide_format_sum(&range, m->numbers.scale, 2, text);
}

/* A product of which a factor is 0 has the root 0; a negative factor leaves it without one. The part by which the mean is
 * wrong is the mean of those by which the numbers are, of which the least number has the largest. */
static void statistic_geomean(const struct column_moments *m, char *text)
{
	struct wide zero;
	int sign;

	wide_clear(&zero);
	sign = wide_compare(&m->numbers.min, &zero);
	if (m->numbers.count > 0 && sign > 0)
		logarithm_format_mean(m->logs, m->numbers.count,
				      statistic_places(m->numbers.scale) + wide_magnitude(&m->numbers.min) - 1, text);
	else if (m->numbers.count > 0 && sign == 0)
		strcpy(text, "0");
}

/* What is made of a variance with divisor n - nless: itself or its root, or that of its n-th part, the variance of the mean. */
struct spread {
	unsigned nless;
	bool is_root, is_of_mean;
};

static const struct spread spreads[NOPERATIONS] = {
	[OPERATION_VAR] = {1, false, false},	[OPERATION_VAR_POP] = {0, false, false},
	[OPERATION_STDDEV] = {1, true, false},	[OPERATION_STDDEV_POP] = {0, true, false},
	[OPERATION_SEM] = {1, true, true},
};

static void format_spread(const struct column_moments *m, enum operation operation, char *text)
{
	const struct spread *s = &spreads[operation];
	const uint64_t n = m->numbers.count;
	const int places = wide_places(m->numbers.scale);
	struct integer numerator, denominator, sum, square;
	const struct ratio variance = {&numerator, &denominator, 2 * places, s->is_root};
	int ndigits;

	if (n <= s->nless)
		return;
	squares_sum(m->squares, places, &numerator);
	integer_multiply_short(&numerator, n);
	wide_to_integer(&m->numbers.sum, places, &sum);
	integer_multiply(&square, &sum, &sum);
	integer_add(&numerator, &square, true);
	integer_set(&denominator, (uint128)n * (n - s->nless));
	ndigits = statistic_ndigits(statistic_places(m->numbers.scale), (struct ratio){&numerator, &denominator, 2 * places, true});
	if (s->is_of_mean)
		integer_multiply_short(&denominator, n);
	ratio_format(variance, ndigits, RATIO_ALL, text);
}

static char *write_spread(const struct short_moments *m, enum operation operation, char *to)
{
	const struct spread *s = &spreads[operation];
	uint64_t n = m->count, denominator;
	int128 scatter;

	if (n <= s->nless)
		return to;
	if (__builtin_mul_overflow(n, n - s->nless, &denominator) ||
	    (s->is_of_mean && __builtin_mul_overflow(denominator, n, &denominator)) || !statistic_scatter_short(m, &scatter))
		return NULL;
	return to + (s->is_root ? ratio_sqrt_format_short(false, (uint128)scatter, denominator, 2 * m->scale, to)
				: ratio_format_short(false, (uint128)scatter, denominator, 2 * m->scale, to));
}

char *statistic_write_short(enum operation operation, const struct short_moments *m, char *to)
{
	const struct exact sum = {.scale = m->scale, .value = m->sum};

	switch (operation) {
	case OPERATION_MEAN:
		return exact_write_mean(&sum, m->scale, m->count, to);
	case OPERATION_RMS:
		return m->count == 0 ? to : to + ratio_sqrt_format_short(false, m->squares, m->count, 2 * m->scale, to);
	case OPERATION_SKEWNESS:
	case OPERATION_SKEWNESS_POP:
	case OPERATION_KURTOSIS:
	case OPERATION_KURTOSIS_POP:
		return statistic_shape_write_short(operation, m, to);
	default:
		return write_spread(m, operation, to);
	}
}

static void statistic_rms(const struct column_moments *m, char *text)
{
	const int places = wide_places(m->numbers.scale);
	struct integer squares, count;

	if (m->numbers.count == 0)
		return;
	squares_sum(m->squares, places, &squares);
	integer_set(&count, m->numbers.count);
	ratio_format((struct ratio){&squares, &count, 2 * places, true}, RATIO_ALL, statistic_places(m->numbers.scale), text);
}

static void statistic_var(const struct column_moments *m, char *text)
{
	format_spread(m, OPERATION_VAR, text);
}

static void statistic_var_pop(const struct column_moments *m, char *text)
{
	format_spread(m, OPERATION_VAR_POP, text);
}

static void statistic_stddev(const struct column_moments *m, char *text)
{
	format_spread(m, OPERATION_STDDEV, text);
}

static void statistic_stddev_pop(const struct column_moments *m, char *text)
{
	format_spread(m, OPERATION_STDDEV_POP, text);
}

static void statistic_sem(const struct column_moments *m, char *text)
{
	format_spread(m, OPERATION_SEM, text);
}

static void statistic_count_distinct(const struct column_moments *m, char *text)
{
	snprintf(text, STATISTIC_TEXT_NBYTES, "%" PRIu64,
		 keys_count(m->keys) + keys_count(m->text_keys));
}

struct key_logs {
	struct logarithm_sum sum;
	uint64_t count;
};

static void add_key(void *context, const struct key_found *key)
{
	struct key_logs *logs = context;

	logs->count += key->times.count;
	if (key->times.count > 0)
		logarithm_add_count(&logs->sum, key->times.count);
}

static void statistic_entropy(const struct column_moments *m, char *text)
{
	struct key_logs logs = {.count = 0};

	keys_each(m->keys, add_key, &logs);
	keys_each(m->text_keys, add_key, &logs);
	if (logs.count > 0)
		logarithm_format_entropy(&logs.sum, logs.count, text);
}

/* Whether a text is a number does not depend on where it stands, so the two sets of keys have no key in common. */
static bool statistic_mode(const struct column_moments *m, struct key_found *out)
{
	return keys_find(m->keys, m->text_keys, KEYS_MOST_FREQUENT, out);
}

static bool find_kept(const struct kept_text *kept, struct key_found *out)
{
	key_make(kept_text_bytes(kept), kept->nbytes, false, key_seed_get(), &out->key);
	return true;
}

static bool statistic_text_min(const struct column_moments *m, struct key_found *out)
{
	return m->texts && m->texts->count > 0 && find_kept(&m->texts->least, out);
}

static bool statistic_text_max(const struct column_moments *m, struct key_found *out)
{
	return m->texts && m->texts->count > 0 && find_kept(&m->texts->greatest, out);
}

static bool statistic_antimode(const struct column_moments *m, struct key_found *out)
{
	return keys_find(m->keys, m->text_keys, KEYS_LEAST_FREQUENT, out);
}

void statistic_moments(const struct column_partial *column, uint64_t npresent, bool has_texts,
		       struct column_moments *out)
{
	out->npresent = npresent;
	out->ranks = NULL;
#define CELL(id, type, ops, name) out->name = moments_cell(&column->moments, CELL_##id);
	MOMENT_CELLS(CELL)
#undef CELL
	if (!has_texts)
		out->text_keys = NULL;
	column_numbers(column, &out->numbers);
}

const char *statistic_end_text(enum operation operation, const struct column_moments *m, bool is_text)
{
	return m->ends ? ends_text(m->ends, operation == OPERATION_LAST, is_text) : NULL;
}

void statistic_format(enum operation operation, const struct column_moments *m,
		      char text[STATISTIC_TEXT_NBYTES])
{
	static statistic_formula *const formulas[NOPERATIONS] = {
#define FORMULA_REDUCE(formula) formula
#define FORMULA_TABLE(formula) formula
#define FORMULA_PAIR(formula) NULL
#define FORMULA_TEXT(formula) NULL
#define FORMULA_RECORDS(formula) formula
#define FORMULA_RUNNING(new_column) NULL
#define FORMULA_OFFSET(new_column) NULL
#define FORMULA_LET(new_column) NULL
#define FORMULA_FIELDS(new_column) NULL
#define OPERATION(id, kind, name, argument, title, needs, value, help) \
		[OPERATION_##id] = FORMULA_##kind(value),
#include "query/options.def"
	};

	*text = '\0';
	formulas[operation](m, text);
}

bool statistic_text(enum operation operation, const struct column_moments *m,
		    struct key_found *out)
{
	static statistic_text_formula *const formulas[NOPERATIONS] = {
#define TEXT_FORMULA_REDUCE(formula) NULL
#define TEXT_FORMULA_TABLE(formula) NULL
#define TEXT_FORMULA_PAIR(formula) NULL
#define TEXT_FORMULA_TEXT(formula) formula
#define TEXT_FORMULA_RECORDS(formula) NULL
#define TEXT_FORMULA_RUNNING(new_column) NULL
#define TEXT_FORMULA_OFFSET(new_column) NULL
#define TEXT_FORMULA_LET(new_column) NULL
#define TEXT_FORMULA_FIELDS(new_column) NULL
#define OPERATION(id, kind, name, argument, title, needs, value, help) \
		[OPERATION_##id] = TEXT_FORMULA_##kind(value),
#include "query/options.def"
	};

	return formulas[operation](m, out);
}
