/* SPDX-License-Identifier: MIT
 *
 * diagnosis.c - see diagnosis.h.
 */
#include "engine/diagnosis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "csv/field.h"
#include "csv/record.h"
#include "query/remedy.h"

#define PACKED_NBYTES 4096 /* of a line, on both sides of a fault, in which compressed data are sought */

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

/* The format of compressed data that begin in the line at offset, or NULL. */
static const struct codec *codec_in_line(const struct text *text, size_t offset)
{
	const char *begin = text->data + offset, *end;
	const struct codec *codec;

	while (begin > text->data && begin[-1] != '\n' && text->data + offset - begin < PACKED_NBYTES)
		begin--;
	end = memchr(text->data + offset, '\n', text->nbytes - offset);
	end = end ? end : text->data + text->nbytes;
	for (; begin < text->data + offset + PACKED_NBYTES && begin < end; begin++)
		if (codec_find((const unsigned char *)begin, (size_t)(end - begin), &codec) == CODEC_BEGINS)
			return codec;
	return NULL;
}

enum status diagnose_place(const struct plan *plan, struct text *text, size_t offset, size_t c,
			   struct fault *fault)
{
	const struct codec *codec = codec_in_line(text, offset);
	char words[FAULT_DETAIL_NBYTES];

	if (codec) {
		snprintf(words, sizeof words, "%s data begins here, after plain text", codec->name);
		fault_set(fault, STATUS_PACKED, 0, words);
		strcpy(fault->remedy, "naming the files instead of joining them");
		c = plan->ncolumns;
	}
	fault->line = text->line + count_lines_before(text, offset);
	if (c < plan->ncolumns)
		fault->column = plan->columns[c].name;
	return fault->status;
}

/* The dialect of a text that begins with a field of a record, `before` fields behind its first: that
 * field is no comment, and with whitespace, fewer follow. */
static struct csv_dialect dialect_inside(const struct plan *plan, size_t before)
{
	struct csv_dialect d = plan->dialect;

	d.comment = '\0';
	if (d.nfields)
		d.nfields = before < d.nfields ? d.nfields - before : 1;
	return d;
}

/* Cuts the field at text[offset], of a column. *at: its number in r, whose record begins at *begin. */
static enum status cut_field(const struct plan *plan, const struct text *text, size_t offset, size_t field,
			     struct record *r, size_t *begin, size_t *at)
{
	struct csv_dialect d = dialect_inside(plan, field);

	*begin = offset;
	*at = 0;
	if (!d.layout)
		return record_split_first(text->data + offset, text->nbytes - offset, &d, r);
	while (*begin > 0 && text->data[*begin - 1] != '\n') /* its line shows where it ends */
		--*begin;
	*at = field;
	return record_split(text->data + *begin, text->nbytes - *begin, &plan->dialect, true, r);
}

enum status diagnose_read(const struct plan *plan, const struct text *text, size_t offset, size_t c,
			  enum status why, struct bad_value *out)
{
	const char *value;
	struct scratch scratch = {NULL, 0};
	struct record r;
	size_t nbytes, begin, at;
	enum status status = STATUS_NO_MEMORY;

	out->offset = OFFSET_NONE;
	if (cut_field(plan, text, offset, plan->columns[c].field, &r, &begin, &at) != STATUS_OK)
		return STATUS_NO_MEMORY;
	value = field_value(&plan->dialect, text->data + begin + r.fields[at].begin,
			    r.fields[at].end - r.fields[at].begin, &scratch, &nbytes);
	record_free(&r);
	if (value)
		status = bad_value_keep(&out, offset, why, value, nbytes);
	free(scratch.data);
	return status;
}

enum status diagnose_value(const struct plan *plan, struct text *text, const struct bad_value *v, size_t c,
			   struct fault *fault)
{
	fault_set_value(fault, v->why, v->text, v->nbytes);
	if (v->why == STATUS_NOT_A_NUMBER && fault->detail_nbytes == v->nbytes)
		notation_suggest(&plan->notation, fault->detail, fault->detail_nbytes,
				 fault->remedy);
	if (v->why == STATUS_NOT_A_DATE)
		snprintf(fault->remedy, sizeof fault->remedy, "2024-01-05 or 20240105T101500Z");
	return diagnose_place(plan, text, v->offset, c, fault);
}

enum status diagnose_stray(const struct plan *plan, struct text *text, size_t offset,
			   struct fault *fault)
{
	const char *data = text->data + offset;
	struct record r;
	size_t at;

	if (record_split(data, text->nbytes - offset, &plan->dialect, true, &r) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	at = r.stray_offset;
	record_free(&r);
	record_fault_stray(data, text->nbytes - offset, at, &plan->dialect, fault);
	diagnose_place(plan, text, offset + at, plan->ncolumns, fault);
	if (fault->status == STATUS_UNALIGNED && plan_widens_records(plan))
		fault->status = STATUS_ALIGNED_ONLY; /* else its words might be read below the names */
	else if (fault->status == STATUS_UNALIGNED)
		snprintf(fault->remedy, sizeof fault->remedy, "--skip-lines %" PRIu64 " -N, and columns by number",
			 plan->line_below_header - 1);
	return fault->status;
}

enum status diagnose_open(const struct plan *plan, struct text *text, size_t offset,
			  struct fault *fault)
{
	struct csv_dialect d = dialect_inside(plan, 0);
	struct record r;
	enum status status =
		record_split(text->data + offset, text->nbytes - offset, &d, true, &r);

	record_free(&r);
	fault_set(fault, status, 0, NULL);
	return diagnose_place(plan, text, offset, plan->ncolumns, fault);
}

/* The likely reason and the remedy for a record of n fields where `wanted` are. */
static const char *ragged_hint(const struct plan *plan, size_t n, size_t wanted)
{
	if (n > wanted && plan->dialect.whitespace && plan_widens_records(plan))
		return ": a last value with blanks cannot be read again before a new column; try --only or --select";
	return n > wanted ? ": a delimiter in a value that is not quoted? See --ragged"
			  : ": see --ragged";
}

enum status diagnose_ragged(const struct plan *plan, struct text *text, size_t offset,
			    struct fault *fault)
{
	struct record r;
	char words[FAULT_DETAIL_NBYTES];

	if (remedy_repeated_header(plan, text->data, text->nbytes, offset) != SIZE_MAX) {
		fault_set(fault, STATUS_HEADER_AGAIN, 0, NULL);
		strcpy(fault->remedy, plan->bad_record == INVALID_ERROR
					      ? "naming the files instead of joining them, or --invalid skip"
					      : "naming the files instead of joining them");
		return diagnose_place(plan, text, offset, plan->ncolumns, fault);
	}
	if (record_split(text->data + offset, text->nbytes - offset, &plan->dialect, true, &r) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	snprintf(words, sizeof words, "%zu field%s where the %s has %" PRIu32 "%s", r.nfields,
		 r.nfields == 1 ? "" : "s", plan->header ? "header" : "first record",
		 plan->ragged.nfields, ragged_hint(plan, r.nfields, plan->ragged.nfields));
	fault_set(fault, STATUS_RAGGED, 0, words);
	record_free(&r);
	return diagnose_place(plan, text, offset, plan->ncolumns, fault);
}

/* ---- notes ---- */

struct note *note_make(const struct fault *fault, int file)
{
	size_t remedy_nbytes = strlen(fault->remedy) + 1;
	struct note *note = malloc(sizeof *note + remedy_nbytes + fault->detail_nbytes);

	if (!note)
		return NULL;
	*note = (struct note){fault->status, file, fault->line, fault->column,
			      fault->value_nbytes, fault->detail_nbytes};
	memcpy(note->text, fault->remedy, remedy_nbytes);
	memcpy(note->text + remedy_nbytes, fault->detail, fault->detail_nbytes);
	return note;
}

/* A note's file in the order of the input. */
static int64_t order_of(const struct note *note)
{
	return note->file < 0 ? INT32_MIN - (int64_t)note->file : note->file;
}

bool note_is_before(const struct note *a, const struct note *b)
{
	return order_of(a) < order_of(b) || (a->file == b->file && a->line < b->line);
}

void note_read(const struct note *note, struct fault *fault)
{
	fault_set_value(fault, note->status, note->text + strlen(note->text) + 1,
			note->detail_nbytes);
	strcpy(fault->remedy, note->text);
	fault->value_nbytes = note->value_nbytes;
	fault->line = note->line;
	fault->column = note->column;
}
