/* SPDX-License-Identifier: MIT
 *
 * diagnosis.c - see diagnosis.h.
 */
#include "engine/diagnosis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv/record.h"
#include "number/decimal.h"
#include "number/wide.h"

/* Returns the number of LFs before data[offset]. */
static uint64_t count_lines_before(struct text *text, size_t offset)
{
	size_t from = text->counted_nbytes;

	if (offset >= from)
		text->ncounted += count_lines(text->data + from, offset - from);
	else
		text->ncounted -= count_lines(text->data + offset, from - offset);
	text->counted_nbytes = offset;
	return text->ncounted;
}

void diagnose_place(const struct plan *plan, struct text *text, size_t offset, size_t c,
		    struct fault *fault)
{
	fault->line = text->line + count_lines_before(text, offset);
	if (c < plan->ncolumns)
		fault->column = plan->columns[c].name;
}

enum status diagnose_value(const struct plan *plan, struct text *text, size_t offset, size_t c,
			   struct scratch *scratch, struct fault *fault)
{
	const char *field = text->data + offset, *value;
	struct wide ignored;
	enum status status;
	int scale;
	size_t nbytes = record_first_field(field, text->nbytes - offset, &plan->dialect);

	value = field_value(field, nbytes, scratch, &nbytes);
	if (!value)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	value = decimal_trim(value, &nbytes);
	status = wide_parse(value, nbytes, &ignored, &scale);
	fault_set_value(fault, status, value, nbytes);
	diagnose_place(plan, text, offset, c, fault);
	return status;
}

/* The likely reason and the remedy for a record of n fields where `wanted` are. */
static const char *ragged_hint(size_t n, size_t wanted)
{
	return n > wanted ? ": a delimiter in a value that is not quoted? See --ragged"
			  : ": see --ragged";
}

enum status diagnose_ragged(const struct plan *plan, struct text *text, size_t offset,
			    struct fault *fault)
{
	struct record r;
	char words[FAULT_DETAIL_NBYTES];

	if (record_split(text->data + offset, text->nbytes - offset, &plan->dialect, true, &r) !=
	    STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	snprintf(words, sizeof words, "%zu field%s where the %s has %" PRIu32 "%s", r.nfields,
		 r.nfields == 1 ? "" : "s", plan->has_header ? "header" : "first record",
		 plan->ragged.nfields, ragged_hint(r.nfields, plan->ragged.nfields));
	fault_set(fault, STATUS_RAGGED, 0, words);
	record_free(&r);
	diagnose_place(plan, text, offset, plan->ncolumns, fault);
	return STATUS_RAGGED;
}

/* ---- notes ---- */

struct note *note_make(const struct fault *fault, int file)
{
	struct note *note = malloc(sizeof *note + fault->detail_nbytes);

	if (!note)
		return NULL;
	*note = (struct note){fault->status, file, fault->line, fault->column,
			      fault->value_nbytes, fault->detail_nbytes};
	memcpy(note->detail, fault->detail, fault->detail_nbytes);
	return note;
}

void note_read(const struct note *note, struct fault *fault)
{
	fault_set_value(fault, note->status, note->detail, note->detail_nbytes);
	fault->value_nbytes = note->value_nbytes;
	fault->line = note->line;
	fault->column = note->column;
}
