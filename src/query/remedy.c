/* SPDX-License-Identifier: MIT
 *
 * remedy.c - see remedy.h.
 */
#include "query/remedy.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "csv/record.h"
#include "number/decimal.h"
#include "query/value.h"

/* What programs write where there is no value, in any case. */
static const char *const no_values[] = {
	"na",    "n/a",   "n.a.",  "n.a",   "nan",    "-nan", "+nan",    "nat",     "null", "none", "nil",
	"-",     "--",    "---",   "?",     ".",      "..",   "...",     "\\n",     "<na>", "<null>",
	"(null)", "#na",  "#n/a",  "#ref!", "#num!",  "#null!", "#name?", "#value!", "#div/0!",
};

bool remedy_is_no_value(const char *text, size_t nbytes)
{
	for (size_t i = 0; i < sizeof no_values / sizeof *no_values; i++)
		if (strlen(no_values[i]) == nbytes && !strncasecmp(no_values[i], text, nbytes))
			return true;
	return false;
}

static const struct {
	char delimiter;
	const char *option;
} delimiters[] = {{';', "-d ';'"}, {'\t', "-d '\\t'"}, {'|', "-d '|'"}};
#define NDELIMITERS (sizeof delimiters / sizeof *delimiters)

/* How often a byte stands in a text, outside of double quotes. */
static size_t count_outside(const char *text, size_t nbytes, char byte)
{
	bool inside = false;
	size_t n = 0;

	for (size_t i = 0; i < nbytes; i++) {
		inside ^= text[i] == '"';
		n += !inside && text[i] == byte;
	}
	return n;
}

/* Of the delimiters, the one that a record has most of; if there is a second one, as often as that. */
static char find_delimiter(struct line_text first, const struct line_text *second)
{
	size_t most = 0;
	char found = '\0';

	for (size_t d = 0; d < NDELIMITERS; d++) {
		size_t n = count_outside(first.text, first.nbytes, delimiters[d].delimiter);
		if (n <= most || (second && count_outside(second->text, second->nbytes, delimiters[d].delimiter) != n))
			continue;
		found = delimiters[d].delimiter;
		most = n;
	}
	return found;
}

char remedy_delimiter(struct line_text text)
{
	return find_delimiter(text, NULL);
}

static bool is_blank(char byte)
{
	return byte == ' ' || byte == '\t';
}

/* The number of words between blanks. */
static size_t count_words(struct line_text line)
{
	size_t n = 0;

	for (size_t i = 0; i < line.nbytes; i++)
		n += !is_blank(line.text[i]) && (i == 0 || is_blank(line.text[i - 1]));
	return n;
}

/* Whether words are apart by more than a blank. */
static bool has_runs(struct line_text line)
{
	for (size_t i = 2; i < line.nbytes; i++)
		if (is_blank(line.text[i - 2]) && is_blank(line.text[i - 1]) && !is_blank(line.text[i]))
			return true;
	return false;
}

struct other_fields remedy_fields(struct line_text first, const struct line_text *second)
{
	struct other_fields of = {.delimiter = find_delimiter(first, second)};
	size_t nwords = count_words(first);

	if (of.delimiter)
		return of;
	if (nwords > 2 && memchr(first.text, '"', first.nbytes))
		of.blanks = "-d ' '";
	else if (second ? nwords > 1 && nwords == count_words(*second) : nwords > 2 || has_runs(first))
		of.blanks = "-W";
	else
		of.delimiter = find_delimiter(first, NULL);
	if (!of.delimiter && !of.blanks && second)
		of.delimiter = find_delimiter(*second, NULL);
	return of;
}

const char *remedy_delimiter_option(char delimiter)
{
	for (size_t d = 0; d < NDELIMITERS; d++)
		if (delimiters[d].delimiter == delimiter)
			return delimiters[d].option;
	return "-d";
}

void remedy_row_names(const struct csv_dialect *dialect, uint64_t line, const char *when, struct fault *fault)
{
	if (dialect->delimiter == '\t')
		snprintf(fault->remedy, sizeof fault->remedy, "sed '%" PRIu64 "s/^/row\\t/' %s", line, when);
	else if (strchr(",;|: ", dialect->delimiter))
		snprintf(fault->remedy, sizeof fault->remedy, "sed '%" PRIu64 "s/^/row%c/' %s", line,
			 dialect->delimiter, when);
}

/* ---- a line of units ---- */

/* Upper and lower case differ. */
static const char *const units[] = {
	"m", "mm", "cm", "km", "um", "nm", "in", "ft", "mi", "yd", "acre", "ha", "l", "L", "ml", "mL", "gal",
	"g", "mg", "ug", "kg", "t", "lb", "lbs", "oz", "mol", "mmol", "ppm", "ppb",
	"s", "ms", "us", "ns", "sec", "secs", "second", "seconds", "min", "mins", "minutes", "h", "hr", "hrs", "hours",
	"d", "day", "days", "yr", "yrs", "years", "Hz", "kHz", "MHz", "GHz", "rpm", "mph", "kph", "kn",
	"V", "mV", "kV", "A", "mA", "W", "mW", "kW", "MW", "GW", "Wh", "kWh", "MWh", "J", "kJ", "MJ", "eV", "ohm", "T",
	"N", "kN", "Nm", "Pa", "hPa", "kPa", "MPa", "bar", "mbar", "psi", "atm",
	"K", "C", "F", "degC", "degF", "deg C", "deg F", "Celsius", "celsius", "deg", "degrees", "rad",
	"lux", "lx", "lm", "cd", "dB", "dBm", "b", "B", "bit", "bits", "byte", "bytes", "kB", "KB", "MB", "GB", "TB",
	"KiB", "MiB", "GiB", "pct", "percent", "USD", "EUR", "GBP", "count", "counts", "UTC", "-",
};

/* Whether a value is a unit: of the table, such as m2, or with a mark as in km/h, (s) and degrees. */
static bool is_unit(const char *text, size_t nbytes)
{
	static const char *const marks[] = {"/", "^", "%", "\u00b0", "\u00b5", "\u03bc", "\u03a9"};

	if (nbytes == 0 || nbytes > 16 || decimal_is_digit(*text))
		return false;
	if ((text[0] == '(' && text[nbytes - 1] == ')') || (text[0] == '[' && text[nbytes - 1] == ']'))
		return true;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strlen(units[i]) == nbytes && !memcmp(units[i], text, nbytes))
			return true;
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (memmem(text, nbytes, marks[i], strlen(marks[i])))
			return !remedy_is_no_value(text, nbytes);
	return (text[nbytes - 1] == '2' || text[nbytes - 1] == '3') && is_unit(text, nbytes - 1);
}

bool units_add(struct units *u, const char *text, size_t nbytes, bool is_number)
{
	bool is = nbytes > 0 && is_unit(text, nbytes);

	u->has_number |= is_number;
	u->nunits += is;
	u->nothers += nbytes > 0 && !is;
	return is;
}

/* Whether the record is a line of units. */
static bool has_units(const struct plan *plan, const char *data, const struct record *r)
{
	struct scratch scratch = {NULL, 0};
	struct units units = {0};

	for (size_t i = 0; i < r->nfields && !units.has_number; i++) {
		struct field_span f = r->fields[i];
		size_t nbytes = 0;
		const char *value = field_value(&plan->dialect, data + f.begin, f.end - f.begin, &scratch, &nbytes);
		if (value)
			value = decimal_trim(value, &nbytes);
		units_add(&units, value, nbytes, nbytes > 0 && value_is_number(plan, value, nbytes));
	}
	free(scratch.data);
	return units_are(&units);
}

void remedy_units(const struct plan *plan, const char *text, size_t nbytes, size_t offset, bool is_error,
		  struct fault *fault)
{
	struct record r;

	if (fault->status != STATUS_NOT_A_NUMBER || fault->line == 0 || fault->line != plan->line_below_header ||
	    !is_unit(fault->detail, fault->detail_nbytes) ||
	    remedy_is_no_value(fault->detail, fault->detail_nbytes))
		return;
	while (offset > 0 && text[offset - 1] != '\n')
		offset--;
	if (record_split(text + offset, nbytes - offset, &plan->dialect, true, &r) == STATUS_OK &&
	    has_units(plan, text + offset, &r))
		snprintf(fault->remedy, sizeof fault->remedy,
			 is_error ? REMEDY_UNITS "%" PRIu64 "d, or --invalid skip: this is a line of units"
				  : REMEDY_UNITS "%" PRIu64 "d, which drops a line of units", fault->line);
	record_free(&r);
}

/* ---- the header again ---- */

/* Returns where the record that begins at text[begin] ends, without its line end. */
static size_t record_end(const struct plan *plan, const char *text, size_t nbytes, size_t begin)
{
	struct record r;
	size_t end = begin;

	if (record_split(text + begin, nbytes - begin, &plan->dialect, true, &r) == STATUS_OK && r.nfields > 0)
		end += r.fields[r.nfields - 1].end;
	record_free(&r);
	return end;
}

size_t remedy_repeated_header(const struct plan *plan, const char *text, size_t nbytes, size_t offset)
{
	struct sought_header h;
	size_t begin = offset, nlines;

	if (!plan->header)
		return SIZE_MAX;
	h = plan->sought.nbytes ? plan->sought
				: sought_header_of(plan->header, plan->header_nbytes, &plan->dialect);
	for (nlines = count_lines(h.text, h.nbytes) + 1; nlines > 0; nlines--) { /* a name may have several */
		while (begin > 0 && text[begin - 1] != '\n')
			begin--;
		size_t at = begin + byte_order_mark_nbytes(text + begin, nbytes - begin);
		size_t end = record_end(plan, text, nbytes, at);
		if (offset <= end && header_is_repeated(&h, &plan->dialect, text + at, end - at))
			return at;
		if (begin == 0)
			break;
		begin--;
	}
	return SIZE_MAX;
}
