/* SPDX-License-Identifier: MIT
 *
 * remedy.h - what to type instead, where the text at a fault tells.
 */
#pragma once

#include "base/status.h"
#include "query/option_table.h"
#include "query/plan.h"

/* What other programs call the options. */
extern const struct option_synonym remedy_words[];

/* Sets fault->remedy if a file that could not be opened is a word that was meant as an option, a URL or a program's text. */
void remedy_open(struct fault *fault);

/* Whether text[0 .. nbytes) is what programs write where there is no value: N/A, null, -, NaN. */
bool remedy_is_no_value(const char *text, size_t nbytes);

/* A record of one field, or a value. */
struct line_text {
	const char *text;
	size_t nbytes;
};

/* Returns the delimiter that the text probably has instead of a comma: the one of ; tab | that it has most of, outside of
 * double quotes, or 0. second: of a second record, which has it as often; NULL: it is not known. */
char remedy_delimiter(struct line_text first, const struct line_text *second);

/* What the first records, which have one field each, probably have instead of commas: at most one of these. */
struct other_fields {
	char delimiter;     /* ; tab or |: as often in both records, or nothing else separates anything */
	const char *blanks; /* the option by which their blanks separate fields: -W, or -d ' ' where there are quotes */
};

/* second: NULL: it is not known. */
struct other_fields remedy_fields(struct line_text first, const struct line_text *second);

/* How the delimiter is given: -d ';'. */
const char *remedy_delimiter_option(char delimiter);

/* Sets fault->remedy to the command that names a column before the first, in the header at that line. when: its next words. */
void remedy_row_names(const struct csv_dialect *dialect, uint64_t line, const char *when, struct fault *fault);

/* The values of a record, which may be a line of units. Zeroed: none yet. */
struct units {
	size_t nunits, nothers; /* neither: those without a byte */
	bool has_number;
};

/* Adds a value, without blanks around it. Returns whether it is a unit, such as m, s and kg. */
bool units_add(struct units *u, const char *text, size_t nbytes, bool is_number);

/* Whether the record is a line of units: most values are, and none is a number. */
static inline bool units_are(const struct units *u)
{
	return !u->has_number && u->nunits > u->nothers;
}

#define REMEDY_UNITS "sed " /* how the remedies of remedy_units begin; no other one of a value does */

/* Sets fault->remedy if fault is a value that is no number in the record right below the header, and the values there
 * are units, such as m, s and kg. is_error: else the value is left out, or makes its column one of text.
 * text: nbytes, which hold the whole record; offset: of the value. */
void remedy_units(const struct plan *plan, const char *text, size_t nbytes, size_t offset, bool is_error,
		  struct fault *fault);

/* Returns where the record begins that has a field at text[offset], if it is the header once more; else SIZE_MAX.
 * text: nbytes, which hold the whole record. */
size_t remedy_repeated_header(const struct plan *plan, const char *text, size_t nbytes, size_t offset);
