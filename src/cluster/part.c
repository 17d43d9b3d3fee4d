/* SPDX-License-Identifier: MIT
 *
 * part.c - the text of a part: its head, its notes, what it folds, and its last line. See part.h.
 */
#include "cluster/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "fold/group_lists.h"
#include "fold/group_order.h"
#include "fold/groups.h"
#include "fold/quantile.h"
#include "io/out_file.h"
#include "query/options.h"
#include "simd/simd.h"

/* ---- heads ---- */

#define SEAM(name, member) JSON_ROW(struct part_seam, name, member)
static const struct json_row seam_rows[] = {
	SEAM("input", input), SEAM("part", number), SEAM("of", of), SEAM("border", border), SEAM("size", size),
	SEAM("quoted", is_quoted), SEAM("same", is_same), SEAM("lines", nlines), SEAM("offset", offset_bytes), {NULL},
};

static void seam_text(struct json_text *j, void *seam)
{
	struct part_seam *s = seam;

	if (json_option(j, s->of == 0, "null"))
		return;
	json_object(j, seam_rows, s);
	if (s->of == 0 || s->number == 0 || s->number > s->of)
		json_fail(j, STATUS_DAMAGED);
}

static void version_text(struct json_text *j, void *part_head)
{
	struct part_head *head = part_head;

	json_string(j, &head->version);
	if (j->status == STATUS_OK && head->format != PART_FORMAT)
		json_fail(j, STATUS_PART_VERSION);
}

/* Makes a first record of n values with the given texts; NULL: of no byte. */
static void make_record(struct json_text *j, struct first_record *record, char *const *texts, size_t n)
{
	record->values = calloc(n + 1, sizeof *record->values);
	record->nfields = record->values ? n : 0;
	for (size_t i = 0; i < record->nfields; i++)
		if (!(record->values[i].text = strdup(texts && texts[i] ? texts[i] : "")))
			json_fail(j, STATUS_NO_MEMORY);
	if (!record->values)
		json_fail(j, STATUS_NO_MEMORY);
}

/* What the first record that is no header says of each column: n a number, m missing, e a field of no byte, t a text. */
static void first_text(struct json_text *j, void *header)
{
	struct header *h = header;
	struct first_record *record = &h->record[h->present ? 1 : 0];
	const char *kinds;
	size_t n;

	if (!j->reads) {
		json_put(j, "\"");
		for (const struct first_value *v = record->values; v < record->values + record->nfields; v++)
			json_put(j, v->is_number ? "n" : !v->is_missing ? "t" : v->has_no_byte ? "e" : "m");
		json_put(j, "\"");
		return;
	}
	kinds = json_get_string(j, &n);
	if (kinds)
		make_record(j, record, NULL, n);
	for (size_t i = 0; j->status == STATUS_OK && i < n; i++) {
		record->values[i].is_number = kinds[i] == 'n';
		record->values[i].is_missing = kinds[i] == 'm' || kinds[i] == 'e';
		record->values[i].has_no_byte = kinds[i] == 'e';
	}
}

#define HEAD(name, member) JSON_ROW(struct part_head, name, member)
#define HEAD_OF(name, member, text) JSON_ROW_OF(struct part_head, name, member, text)
#define HEAD_LIST(kind, name, member, n) JSON_LIST(kind, struct part_head, name, member, n)
static const struct json_row head_rows[] = {
	HEAD(PART_FIRST_MEMBER, format),
	HEAD_OF("version", format, version_text),
	HEAD_LIST(JSON_STRINGS, "query", asked.at, asked.n),
	HEAD_LIST(JSON_STRINGS, "inputs", inputs, ninputs),
	HEAD_OF("begins", left, seam_text),
	HEAD_OF("ends", right, seam_text),
	HEAD("bytes", nbytes),
	HEAD("records", nrecords),
	HEAD("header", header.present),
	HEAD("ends_empty", header.ends_empty),
	HEAD_LIST(JSON_NAMES, "names", header.names, header.nnames),
	HEAD_LIST(JSON_BYTES, "line", header.line, header.line_nbytes), /* as it came, without its line end */
	HEAD("sought", seeks_header),
	HEAD_OF("first", header, first_text),
	HEAD_LIST(JSON_STRINGS, "columns", columns, ncolumns),
	HEAD_LIST(JSON_NUMBERS, "fields", fields, nfields),
	HEAD_LIST(JSON_NUMBERS, "pairs", sides, nsides),
	{NULL},
};

/* ---- notes ---- */

static const struct word {
	uint64_t value;
	const char *text;
} note_kinds[] = {
	{NOTE_UNDECIDED, "\"undecided\""}, {NOTE_RAGGED, "\"ragged\""}, {NOTE_HEADERS, "\"headers\""},
	{TOTAL_NNOTES_OF_RECORDS, "\"values\""}, {TOTAL_NNOTES_OF_RECORDS + 1, "\"texts\""}, {PART_NOTE_CURRENCY, "\"currency\""}, {0, NULL},
}, note_statuses[] = {
	{STATUS_NOT_A_NUMBER, "\"not a number\""}, {STATUS_OUT_OF_RANGE, "\"out of range\""}, {STATUS_NUL, "\"NUL\""},
	{STATUS_RAGGED, "\"ragged\""}, {STATUS_HEADER_AGAIN, "\"header again\""}, {STATUS_NOT_A_DATE, "\"not a date\""},
	{STATUS_TOO_COSTLY, "\"too costly\""}, {STATUS_CURRENCY, "\"currency\""}, {STATUS_PACKED, "\"packed\""},
	{STATUS_NOT_AN_INTEGER, "\"not an integer\""}, {STATUS_UNWRITABLE, "\"unwritable\""},
	{STATUS_NOT_BOTH_NUMBERS, "\"not both numbers\""}, {STATUS_NOT_IN_FORMAT, "\"not in format\""},
	{STATUS_NOT_A_DURATION, "\"not a duration\""}, {STATUS_NOT_A_SIZE, "\"not a size\""}, {0, NULL},
};

static void word_text(struct json_text *j, const struct word *words, uint64_t *value)
{
	for (const struct word *w = words; w->text; w++)
		if (json_option(j, w->value == *value, w->text)) {
			*value = w->value;
			return;
		}
	/* Writing: the table lacks it, and no part could be read that has the note. */
	json_fail(j, j->reads ? STATUS_DAMAGED : STATUS_WRONG_RESULT);
}

static void note_kind_text(struct json_text *j, void *kind)
{
	word_text(j, note_kinds, kind);
}

static void note_status_text(struct json_text *j, void *status)
{
	word_text(j, note_statuses, status);
}

#define NOTE(name, member) JSON_ROW(struct part_note, name, member)
#define NOTE_OF(name, member, text) JSON_ROW_OF(struct part_note, name, member, text)
static const struct json_row note_rows[] = {
	NOTE_OF("note", kind, note_kind_text),
	NOTE("column", column),
	NOTE_OF("status", status, note_status_text),
	NOTE("input", input),
	NOTE("line", line),
	JSON_LIST(JSON_BYTES, struct part_note, "value", value, detail_nbytes),
	NOTE("bytes", value_nbytes),
	JSON_LIST(JSON_BYTES, struct part_note, "try", remedy, remedy_nbytes),
	{NULL},
};

/* ---- lines ---- */

static const struct json_row head_text_rows[] = {
	JSON_LIST(JSON_BYTES, struct part_piece, "head", text, nbytes), JSON_ROW(struct part_piece, "ends", ends), {NULL},
};
static const struct json_row tail_rows[] = {JSON_LIST(JSON_BYTES, struct part_piece, "tail", text, nbytes), {NULL}};
static const struct json_row end_rows[] = {JSON_ROW(struct part_end, "lines", nlines), JSON_ROW(struct part_end, "crc32", crc), {NULL}};

static const struct json_row *const lines[PART_NLINES] = {
	[PART_HEAD] = head_rows, [PART_NOTE] = note_rows, [PART_HEAD_TEXT] = head_text_rows, [PART_TAIL] = tail_rows, [PART_END] = end_rows,
};

enum part_line part_line_of(const struct json_text *j)
{
	enum part_line line = PART_HEAD;

	while (line < PART_NLINES && !(*j->at == '{' && json_row_is_next(lines[line], j->at + 1, j->end, true)))
		line++;
	return line;
}

void part_line_text(struct json_text *j, enum part_line line, void *object)
{
	json_object(j, lines[line], object);
	if (!j->reads)
		json_end_line(j);
	else if (j->at != j->end)
		json_fail(j, STATUS_DAMAGED);
}

void part_line_free(enum part_line line, void *object)
{
	json_free(lines[line], object);
}

void part_head_read(struct part_head *head, struct json_text *j)
{
	struct header *h = &head->header;
	bool is_damaged;

	memset(head, 0, sizeof *head);
	part_line_text(j, PART_HEAD, head);
	is_damaged = head->ninputs == 0 || head->nfields > head->ncolumns || head->nsides % 2 || (!h->present && h->line_nbytes);
	for (size_t i = 0; i < head->nsides; i++)
		is_damaged |= head->sides[i] >= head->ncolumns;
	if (is_damaged)
		json_fail(j, STATUS_DAMAGED);
	h->nfields = h->nnames;
	h->end = h->line_nbytes;
	h->has_second = h->record[1].nfields > 0;
	if (h->present) {
		make_record(j, &h->record[0], h->names, h->nnames);
	} else {
		free(h->line);
		h->line = NULL;
	}
}

void part_head_free(struct part_head *head)
{
	free(head->version);
	json_free(head_rows, head);
	json_free(seam_rows, &head->left);
	json_free(seam_rows, &head->right);
	header_free(&head->header);
	memset(head, 0, sizeof *head);
}

/* ---- writing them ---- */

static bool put_to_stream(void *stream, const char *text, size_t nbytes)
{
	return fwrite(text, 1, nbytes, stream) == nbytes;
}

struct part_sink part_sink_stream(FILE *to)
{
	return (struct part_sink){.write = put_to_stream, .context = to};
}

/* What has been written. */
struct written {
	struct part_sink to;
	uint32_t crc;
	uint64_t nlines;
};

static enum status write_lines(void *context, const char *text, size_t nbytes)
{
	struct written *sink = context;
	const char *end = text + nbytes;

	if (nbytes == 0)
		return STATUS_OK;
	sink->crc = simd()->crc(sink->crc, (const unsigned char *)text, nbytes);
	for (const char *at = text; (at = memchr(at, '\n', (size_t)(end - at))); at++)
		sink->nlines++;
	return sink->to.write(sink->to.context, text, nbytes) ? STATUS_OK : STATUS_WRITE;
}

static void put_head(const struct options *o, const struct query *q, const struct part_scope *scope, const struct total *t,
		     struct json_text *j)
{
	const struct plan *plan = &q->plan;
	struct part_head head = {.format = PART_FORMAT, .version = (char[]){PACKAGE_VERSION}, .asked = o->asked, .header = q->header,
				 .seeks_header = plan->sought.nbytes > 0, .inputs = (char **)scope->inputs, .ninputs = scope->ninputs,
				 .left = *scope->left, .right = *scope->right, .nbytes = t->end_bytes,
				 .nrecords = t->partial.nrecords + t->partial.nragged + t->partial.nheaders};

	head.header.nnames = plan->nunited ? plan->nunited : head.header.nfields;
	head.header.line = plan->header ? (char *)plan->header : (char[]){""};
	head.header.line_nbytes = plan->header_nbytes;
	head.columns = calloc(plan->ncolumns + 1, sizeof *head.columns);
	head.fields = calloc(plan->ncolumns + 1, sizeof *head.fields);
	head.sides = calloc(2 * plan->npairs + 1, sizeof *head.sides);
	if (!head.columns || !head.fields || !head.sides)
		json_fail(j, STATUS_NO_MEMORY);
	for (size_t c = 0; c < plan->ncolumns && j->status == STATUS_OK; c++) {
		head.columns[head.ncolumns++] = (char *)plan->columns[c].name;
		if (!plan->columns[c].let)
			head.fields[head.nfields++] = plan->columns[c].field;
	}
	for (size_t i = 0; i < plan->npairs && j->status == STATUS_OK; i++) {
		head.sides[head.nsides++] = plan->pairs[i].x;
		head.sides[head.nsides++] = plan->pairs[i].y;
	}
	part_line_text(j, PART_HEAD, &head);
	free(head.columns);
	free(head.fields);
	free(head.sides);
}

/* nbefore: the inputs of the state that the run began with. */
static void put_note(const struct plan *plan, uint64_t kind, const struct note *note, int nbefore, struct json_text *j)
{
	char *remedy = (char *)note->text;
	struct part_note n = {.kind = kind, .status = note->status, .line = note->line, .value_nbytes = note->value_nbytes,
			      .input = (uint64_t)(note->file < 0 ? -1 - note->file : nbefore + note->file),
			      .value = remedy + strlen(remedy) + 1, .detail_nbytes = note->detail_nbytes,
			      .remedy = remedy, .remedy_nbytes = strlen(remedy)};

	while (n.column < plan->ncolumns && plan->columns[n.column].name != note->column) /* the plan's own name */
		n.column++;
	part_line_text(j, PART_NOTE, &n);
}

static void put_notes(const struct total *t, int nbefore, struct json_text *j)
{
	const size_t nothers = TOTAL_NNOTES_OF_RECORDS;

	for (size_t i = 0; i < TOTAL_NNOTES(t->plan); i++)
		if (t->notes[i])
			put_note(t->plan, i < nothers ? i : nothers + (i - nothers) / t->plan->ncolumns, t->notes[i], nbefore, j);
}

/* Writes the piece of a record at the part's beginning, before all else, or at its end. While no record has ended, all is the
 * head. */
static void put_piece(const struct total *t, enum part_line line, struct json_text *j)
{
	const bool is_head = line == PART_HEAD_TEXT;
	struct part_piece piece = {t->seam.data, t->seam.nbytes, !t->keeps_head};

	if (is_head && piece.ends)
		piece = (struct part_piece){t->head.data, t->head.nbytes, true};
	if ((is_head && t->keeps_head) || (!t->keeps_head && piece.nbytes > 0))
		part_line_text(j, line, &piece);
}

/* Groups that are written. */
struct put_groups {
	const struct plan *plan;
	struct partial blank;
	struct json_text *to;
};

static enum status put_group(void *context, struct group *group)
{
	struct put_groups *p = context;

	group_write(group, p->plan, &p->blank, p->to);
	return p->to->status;
}

/* Writes the groups of a part of the store, and frees what they hold. */
static enum status put_store_part(void *context, struct groups *part)
{
	TRY(groups_each(part, put_group, context));
	groups_clear(part);
	return STATUS_OK;
}

/* Writes the groups in the order in which they appeared or, where records are printed, in that of their keys; any_order: as
 * they lie in the store. */
static void put_all_groups(const struct query *q, struct partial *total, bool any_order, struct json_text *to)
{
	struct put_groups groups = {.plan = &q->plan, .to = to};
	struct group_list list = {.pieces = NULL};
	size_t nthreads = (size_t)ranks_nthreads(q);
	enum status status = partial_init(&groups.blank, &q->plan);

	if (status == STATUS_OK && total->groups)
		status = groups_store(total->groups);
	THEN(status, group_store_visit(q->plan.groups, nthreads, NULL, NULL));
	if (status == STATUS_OK && any_order)
		status = group_store_visit(q->plan.groups, 1, put_store_part, &groups);
	else if (status == STATUS_OK)
		status = group_list_make(q->plan.groups, nthreads, &list);
	if (status == STATUS_OK && q->plan.emits)
		status = group_list_order_keys(&list);
	for (size_t i = 0; status == STATUS_OK && i < list.n; i++) {
		if (i + 8 < list.n)
			group_prefetch(group_list_at(&list, i + 8), &q->plan);
		status = put_group(&groups, group_list_at(&list, i));
	}
	if (status != STATUS_OK)
		to->status = status;
	group_list_free(&list);
	partial_free(&groups.blank);
}

enum status part_write(const struct options *options, const struct query *q, struct total *t,
		       const struct part_scope *scope, struct part_sink sink, struct fault *fault)
{
	struct written written = {sink, 0, 0};
	struct json_text to = {.flush = write_lines, .context = &written}, last = {.status = STATUS_OK};
	struct part_end end;
	enum status status;

	put_head(options, q, scope, t, &to);
	put_piece(t, PART_HEAD_TEXT, &to);
	put_notes(t, (int)scope->nbefore - scope->first, &to);
	partial_write(&t->partial, &q->plan, &to);
	if (q->plan.nkeys)
		put_all_groups(q, &t->partial, sink.takes_any_order, &to);
	put_piece(t, PART_TAIL, &to);
	status = json_flush(&to);
	text_free(&to.text);
	if (status == STATUS_OK) {
		end = (struct part_end){written.nlines, written.crc};
		part_line_text(&last, PART_END, &end);
		status = last.status != STATUS_OK ? last.status
			 : sink.write(sink.context, last.text.data, last.text.nbytes) ? STATUS_OK : STATUS_WRITE;
		text_free(&last.text);
	}
	if (status == STATUS_WRITE)
		return fault_set(fault, status, errno, NULL);
	return status == STATUS_OK ? status : partial_fault(&t->partial, &q->plan, status, fault);
}

/* ---- states ---- */

const struct out_file_kind state_kind = {PART_BEGIN, STATUS_NOT_STATE, false};

enum status state_save(const struct options *o, const struct query *q, struct total *total,
		       const struct part_scope *scope, struct fault *fault)
{
	struct out_file file;

	TRY(out_file_begin(&file, o->save_state, &state_kind, fault));
	return out_file_end(&file, part_write(o, q, total, scope, part_sink_stream(file.stream), fault), fault);
}
