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

/* ---- what all lines of a head consist of, written or read (base/json_text.h) ---- */

/* A list of strings. has_null: there may be NULL among them. */
static void strings_text(struct json_text *j, char ***text, size_t *n, bool has_null)
{
	json_mark(j, "[");
	for (size_t i = 0; json_item(j, i < *n); i++) {
		if (j->reads) {
			if (!ARRAY_ADD(*text, i)) {
				json_fail(j, STATUS_NO_MEMORY);
				return;
			}
			++*n;
		}
		if (!has_null || !json_option(j, !(*text)[i], "null"))
			json_string(j, &(*text)[i]);
	}
	json_mark(j, "]");
}

static void seam_text(struct json_text *j, struct part_seam *s)
{
	json_mark(j, "{");
	json_string(json_member(j, "input"), &s->input);
	json_number(json_member(j, "part"), &s->number);
	json_number(json_member(j, "of"), &s->of);
	json_number(json_member(j, "border"), &s->border);
	json_number(json_member(j, "size"), &s->size);
	json_bool(json_member(j, "quoted"), &s->is_quoted);
	json_bool(json_member(j, "same"), &s->is_same);
	json_number(json_member(j, "lines"), &s->nlines);
	json_number(json_member(j, "offset"), &s->offset_bytes);
	json_mark(j, "}");
	if (s->of == 0 || s->number == 0 || s->number > s->of)
		json_fail(j, STATUS_DAMAGED);
}

/* What the first record that is no header says of each column: n a number, m missing, e a field of no byte, t
 * a text. */
static void put_first(struct json_text *j, const struct first_record *r)
{
	json_put(j, "\"");
	for (size_t i = 0; i < r->nfields; i++) {
		const struct first_value *v = &r->values[i];
		json_put(j, v->is_number ? "n" : !v->is_missing ? "t" : v->has_no_byte ? "e" : "m");
	}
	json_put(j, "\"");
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

static void get_first(struct json_text *j, struct first_record *record)
{
	size_t n;
	const char *kinds = json_get_string(j, &n);

	if (!kinds)
		return;
	make_record(j, record, NULL, n);
	for (size_t i = 0; j->status == STATUS_OK && i < n; i++) {
		record->values[i].is_number = kinds[i] == 'n';
		record->values[i].is_missing = kinds[i] == 'm' || kinds[i] == 'e';
		record->values[i].has_no_byte = kinds[i] == 'e';
	}
}

static void header_members(struct json_text *j, struct header *h, bool *seeks_header)
{
	struct text_buffer line = {.data = h->line, .nbytes = h->line_nbytes};

	json_bool(json_member(j, "header"), &h->present);
	json_bool(json_member(j, "ends_empty"), &h->ends_empty);
	strings_text(json_member(j, "names"), &h->names, &h->nnames, true);
	if (h->present) {
		json_bytes(json_member(j, "line"), &line); /* as it came, without its line end */
		json_bool(json_member(j, "sought"), seeks_header);
	}
	h->line = line.data;
	h->line_nbytes = h->end = line.nbytes;
	json_member(j, "first");
	if (!j->reads) {
		put_first(j, &h->record[h->present ? 1 : 0]);
		return;
	}
	h->nfields = h->nnames;
	get_first(j, &h->record[h->present ? 1 : 0]);
	h->has_second = h->record[1].nfields > 0;
	if (h->present)
		make_record(j, &h->record[0], h->names, h->nnames);
}

static void columns_members(struct json_text *j, struct part_head *head)
{
	strings_text(json_member(j, "columns"), &head->columns, &head->ncolumns, false);
	if (j->reads && !(head->fields = calloc(head->ncolumns + 1, sizeof *head->fields)))
		json_fail(j, STATUS_NO_MEMORY);
	json_mark(json_member(j, "fields"), "[");
	for (size_t i = 0; i < head->ncolumns && j->status == STATUS_OK; i++) {
		uint64_t field = j->reads ? FIELD_COMPUTED : head->fields[i];
		if (!json_option(json_next(j), field == FIELD_COMPUTED, "null"))
			json_number(j, &field);
		head->fields[i] = (size_t)field;
	}
	json_mark(json_member(json_mark(j, "]"), "pairs"), "[");
	for (size_t i = 0; json_item(j, i < head->npairs); i++) {
		if (j->reads) {
			if (!ARRAY_ADD(head->pairs, i)) {
				json_fail(j, STATUS_NO_MEMORY);
				return;
			}
			head->npairs++;
		}
		json_mark(j, "[");
		for (int side = 0; side < 2; side++) {
			uint64_t column = j->reads ? 0 : head->pairs[i][side];
			json_number(json_next(j), &column);
			head->pairs[i][side] = (size_t)column;
			if (column >= head->ncolumns)
				json_fail(j, STATUS_DAMAGED);
		}
		json_mark(j, "]");
	}
	json_mark(j, "]");
}

static void head_text(struct json_text *j, struct part_head *head)
{
	uint64_t format = PART_FORMAT;

	json_number(json_mark(j, PART_HEAD_BEGIN), &format);
	json_string(json_member(j, "version"), &head->version);
	if (j->status == STATUS_OK && format != PART_FORMAT)
		json_fail(j, STATUS_PART_VERSION);
	strings_text(json_member(j, "query"), &head->asked.at, &head->asked.n, false);
	strings_text(json_member(j, "inputs"), &head->inputs, &head->ninputs, false);
	if (json_may(j, head->left.of > 0, "begins"))
		seam_text(j, &head->left);
	if (json_may(j, head->right.of > 0, "ends"))
		seam_text(j, &head->right);
	json_number(json_member(j, "bytes"), &head->nbytes);
	json_number(json_member(j, "records"), &head->nrecords);
	header_members(j, &head->header, &head->seeks_header);
	columns_members(j, head);
	json_mark(j, "}");
}

/* ---- heads ---- */

void part_head_write(const struct options *o, const struct query *q, const struct part_scope *scope,
		     uint64_t nbytes, uint64_t nrecords, struct json_text *j)
{
	const struct plan *plan = &q->plan;
	struct part_head head = {.version = (char[]){PACKAGE_VERSION}, .asked = o->asked, .header = q->header,
				 .seeks_header = plan->sought.nbytes > 0, .ncolumns = plan->ncolumns, .npairs = plan->npairs,
				 .inputs = (char **)scope->inputs, .ninputs = scope->ninputs, .left = *scope->left,
				 .right = *scope->right, .nbytes = nbytes, .nrecords = nrecords};

	head.header.nnames = head.header.nfields;
	head.header.line = (char *)plan->header;
	head.header.line_nbytes = plan->header_nbytes;
	head.columns = calloc(plan->ncolumns + 1, sizeof *head.columns);
	head.fields = calloc(plan->ncolumns + 1, sizeof *head.fields);
	head.pairs = calloc(plan->npairs + 1, sizeof *head.pairs);
	if (!head.columns || !head.fields || !head.pairs)
		json_fail(j, STATUS_NO_MEMORY);
	for (size_t c = 0; c < plan->ncolumns && j->status == STATUS_OK; c++) {
		head.columns[c] = (char *)plan->columns[c].name;
		head.fields[c] = plan->columns[c].let ? FIELD_COMPUTED : plan->columns[c].field;
	}
	for (size_t i = 0; i < plan->npairs && j->status == STATUS_OK; i++)
		memcpy(head.pairs[i], (size_t[]){plan->pairs[i].x, plan->pairs[i].y}, sizeof head.pairs[i]);
	if (j->status == STATUS_OK)
		head_text(j, &head);
	json_end_line(j);
	free(head.columns);
	free(head.fields);
	free(head.pairs);
}

void part_head_read(struct part_head *head, struct json_text *j)
{
	memset(head, 0, sizeof *head);
	head_text(j, head);
	if (j->at != j->end || head->ninputs == 0)
		json_fail(j, STATUS_DAMAGED);
}

static void free_strings(char **text, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(text[i]);
	free(text);
}

void part_head_free(struct part_head *head)
{
	free(head->version);
	free(head->left.input);
	free(head->right.input);
	asked_free(&head->asked);
	header_free(&head->header);
	free_strings(head->columns, head->ncolumns);
	free(head->fields);
	free(head->pairs);
	free_strings(head->inputs, head->ninputs);
	memset(head, 0, sizeof *head);
}

/* ---- notes ---- */

/* By the order in total->notes: of records, then of columns. */
static const char *const note_kinds[] = {"\"undecided\"", "\"ragged\"", "\"headers\"", "\"values\"", "\"texts\"", "\"currency\""};
enum { NOTE_CURRENCY = TOTAL_NNOTES_OF_RECORDS + 2, NOTE_NKINDS };

static const enum status note_statuses[] = {STATUS_NOT_A_NUMBER, STATUS_OUT_OF_RANGE, STATUS_NUL, STATUS_RAGGED,
					    STATUS_HEADER_AGAIN, STATUS_NOT_A_DATE, STATUS_TOO_COSTLY, STATUS_CURRENCY, STATUS_PACKED,
					    STATUS_NOT_AN_INTEGER, STATUS_UNWRITABLE, STATUS_NOT_BOTH_NUMBERS,
					    STATUS_NOT_IN_FORMAT, STATUS_NOT_A_DURATION, STATUS_NOT_A_SIZE};
static const char *const note_status_names[] = {"\"not a number\"", "\"out of range\"", "\"NUL\"", "\"ragged\"",
						"\"header again\"", "\"not a date\"", "\"too costly\"", "\"currency\"", "\"packed\"",
						"\"not an integer\"", "\"unwritable\"", "\"not both numbers\"",
						"\"not in format\"", "\"not a duration\"", "\"not a size\""};
#define NOTE_NSTATUSES (sizeof note_statuses / sizeof *note_statuses)

/* One of n words; *i: its index. */
static void word_text(struct json_text *j, const char *const *words, size_t n, size_t *i)
{
	for (size_t k = 0; k < n; k++)
		if (json_option(j, k == *i, words[k])) {
			*i = k;
			return;
		}
	*i = 0;
	/* Writing: the table lacks it, and no part could be read that has the note. */
	json_fail(j, j->reads ? STATUS_DAMAGED : STATUS_WRONG_RESULT);
}

/* A note, of which nothing is owned but the texts that are read. */
struct note_text {
	size_t kind, status; /* in the tables */
	uint64_t column, input, line, value_nbytes;
	struct text_buffer value, remedy; /* owned when reading */
};

static void note_text(struct json_text *j, struct note_text *n)
{
	word_text(json_mark(j, PART_NOTE_BEGIN), note_kinds, NOTE_NKINDS, &n->kind);
	json_number(json_member(j, "column"), &n->column);
	word_text(json_member(j, "status"), note_status_names, NOTE_NSTATUSES, &n->status);
	json_number(json_member(j, "input"), &n->input);
	json_number(json_member(j, "line"), &n->line);
	json_bytes(json_member(j, "value"), &n->value);
	json_number(json_member(j, "bytes"), &n->value_nbytes);
	json_bytes(json_member(j, "try"), &n->remedy);
	json_mark(j, "}");
}

/* nbefore: the inputs of the state that the run began with. */
static void put_note(const struct plan *plan, size_t kind, const struct note *note, int nbefore, struct json_text *j)
{
	char *remedy = (char *)note->text, *detail = remedy + strlen(remedy) + 1;
	struct note_text n = {.kind = kind, .line = note->line, .value_nbytes = note->value_nbytes,
			      .input = (uint64_t)(note->file < 0 ? -1 - note->file : nbefore + note->file),
			      .value = {.data = detail, .nbytes = note->detail_nbytes},
			      .remedy = {.data = remedy, .nbytes = strlen(remedy)}};

	while (n.column < plan->ncolumns && plan->columns[n.column].name != note->column) /* the plan's own name */
		n.column++;
	while (n.status < NOTE_NSTATUSES && note_statuses[n.status] != note->status)
		n.status++;
	note_text(j, &n);
	json_end_line(j);
}

static void put_notes(const struct total *t, int nbefore, struct json_text *j)
{
	size_t n = t->plan->ncolumns;

	for (size_t i = 0; i < TOTAL_NNOTES(t->plan); i++) {
		size_t kind = i < TOTAL_NNOTES_OF_RECORDS
				      ? i
				      : TOTAL_NNOTES_OF_RECORDS + (i - TOTAL_NNOTES_OF_RECORDS) / n;
		if (t->notes[i])
			put_note(t->plan, kind, t->notes[i], nbefore, j);
	}
}

/* The place of a note of the text's column i; NULL: none. */
static struct note *_Atomic *place_of(const struct total *t, const struct partial_map *map, size_t kind, size_t i)
{
	const struct fold_map *columns = &map->of[PARTIAL_COLUMNS];
	size_t c = i < columns->n ? columns->at[i] : SIZE_MAX;

	if (kind < TOTAL_NNOTES_OF_RECORDS)
		return &t->notes[kind];
	if (c == SIZE_MAX)
		return NULL;
	return &t->notes[TOTAL_NNOTES_OF_RECORDS + (kind - TOTAL_NNOTES_OF_RECORDS) * t->plan->ncolumns + c];
}

/* Keeps a note that was read, unless there is an earlier one. */
static enum status keep_note(struct total *t, const struct partial_map *map, char *const *inputs, bool is_state,
			     const struct note_text *n, struct fault *fault)
{
	const struct fold_map *columns = &map->of[PARTIAL_COLUMNS];
	struct note *_Atomic *to = place_of(t, map, n->kind, n->column);
	int number = is_state ? -1 - (int)n->input : (int)n->input;

	if (!to || (*to && n->kind != NOTE_CURRENCY))
		return STATUS_OK;
	fault_set_value(fault, note_statuses[n->status], n->value.data, n->value.nbytes);
	fault->line = n->line;
	fault->value_nbytes = n->value_nbytes;
	if (n->remedy.nbytes < sizeof fault->remedy)
		memcpy(fault->remedy, n->remedy.data, n->remedy.nbytes + 1);
	if (n->column < columns->n && columns->at[n->column] != SIZE_MAX)
		fault->column = t->plan->columns[columns->at[n->column]].name;
	fault->file = inputs[n->input];
	if (n->kind == NOTE_CURRENCY)
		return total_add_currency(t, columns->at[n->column], number, fault);
	*to = note_make(fault, number);
	return *to ? STATUS_OK : STATUS_NO_MEMORY;
}

enum status part_note_read(struct total *t, const struct partial_map *map, char *const *inputs, size_t ninputs,
			   size_t nall, uint64_t nlines, bool is_state, struct json_text *j, struct fault *fault)
{
	struct note_text n = {.kind = 0};
	enum status status = STATUS_OK;

	note_text(j, &n);
	n.line += n.input == 0 ? nlines : 0;
	n.input += ninputs;
	if (j->at != j->end || n.input >= nall || n.input > INT32_MAX)
		json_fail(j, STATUS_DAMAGED);
	if (j->status == STATUS_OK)
		status = keep_note(t, map, inputs, is_state, &n, fault);
	if (status == STATUS_NO_MEMORY)
		json_fail(j, status);
	text_free(&n.value);
	text_free(&n.remedy);
	return status;
}

/* ---- the last line ---- */

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

void part_end_text(struct json_text *j, uint64_t *nlines, uint32_t *crc)
{
	char digits[9] = "", *text = digits, *end = digits;

	snprintf(digits, sizeof digits, "%08" PRIx32, *crc);
	json_number(json_mark(j, PART_END_BEGIN), nlines);
	json_string(json_member(j, "crc32"), &text);
	json_mark(j, "}");
	if (!j->reads)
		return;
	*crc = text ? (uint32_t)strtoul(text, &end, 16) : 0;
	if (text && (strlen(text) != 8 || end != text + 8))
		json_fail(j, STATUS_DAMAGED);
	free(text);
}

/* ---- all of it ---- */

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

static enum status fold_keys(void *context, struct groups *part)
{
	(void)context;
	return group_keys_fold(part);
}

/* Writes the groups of a part of the store, and frees what they hold. */
static enum status put_store_part(void *context, struct groups *part)
{
	TRY(group_keys_fold(part));
	TRY(group_lists_settle(part));
	TRY(groups_each(part, put_group, context));
	groups_clear(part);
	return STATUS_OK;
}

/* Writes the groups in the order in which they appeared or, where records are printed, in that of their keys; any_order: as
 * they lie in the store. */
static void put_all_groups(const struct query *q, struct partial *total, bool any_order, struct json_text *to)
{
	struct put_groups groups = {.plan = &q->plan, .to = to};
	struct group_list list = {NULL, 0, NULL};
	size_t nthreads = (size_t)ranks_nthreads(q);
	enum status status = partial_init(&groups.blank, &q->plan);

	if (status == STATUS_OK && total->groups)
		status = groups_store(total->groups);
	if (status == STATUS_OK)
		status = group_store_visit(q->plan.groups, nthreads, any_order ? NULL : fold_keys, NULL);
	if (status == STATUS_OK && any_order)
		status = group_store_visit(q->plan.groups, 1, put_store_part, &groups);
	else if (status == STATUS_OK)
		status = group_list_make(q->plan.groups, nthreads, &list);
	if (status == STATUS_OK && q->plan.emits)
		status = group_list_order_keys(&list);
	for (size_t i = 0; status == STATUS_OK && i < list.n; i++) {
		if (i + 8 < list.n)
			group_prefetch(group_list_at(&list, i + 8));
		status = put_group(&groups, group_list_at(&list, i));
	}
	if (status != STATUS_OK)
		to->status = status;
	group_list_free(&list);
	partial_free(&groups.blank);
}

void part_piece_text(struct json_text *j, struct text_buffer *text, bool is_head, bool *ends)
{
	json_bytes(json_mark(j, is_head ? PART_HEAD_TEXT_BEGIN : PART_TAIL_BEGIN), text);
	if (is_head)
		json_bool(json_member(j, "ends"), ends);
	json_mark(j, "}");
}

/* Writes the piece of a record at the part's beginning, before all else, or at its end. While no record has ended, all is the
 * head. */
static void put_piece(const struct total *t, bool is_head, struct json_text *j)
{
	struct text_buffer text = {.data = t->seam.data, .nbytes = t->seam.nbytes};
	bool ends = !t->keeps_head;

	if (is_head && ends)
		text = t->head;
	if (!(is_head && t->keeps_head) && (t->keeps_head || text.nbytes == 0))
		return;
	part_piece_text(j, &text, is_head, &ends);
	json_end_line(j);
}

enum status part_write(const struct options *options, const struct query *q, struct total *t,
		       const struct part_scope *scope, struct part_sink sink, struct fault *fault)
{
	struct written written = {sink, 0, 0};
	struct json_text to = {.flush = write_lines, .context = &written}, end = {.status = STATUS_OK};
	enum status status;

	part_head_write(options, q, scope, t->end_bytes, t->partial.nrecords + t->partial.nragged + t->partial.nheaders, &to);
	put_piece(t, true, &to);
	put_notes(t, (int)scope->nbefore - scope->first, &to);
	partial_write(&t->partial, &q->plan, &to);
	if (q->plan.nkeys)
		put_all_groups(q, &t->partial, sink.takes_any_order, &to);
	put_piece(t, false, &to);
	status = json_flush(&to);
	text_free(&to.text);
	if (status == STATUS_OK) {
		part_end_text(&end, &written.nlines, &written.crc);
		json_end_line(&end);
		status = end.status != STATUS_OK ? end.status
			 : sink.write(sink.context, end.text.data, end.text.nbytes) ? STATUS_OK : STATUS_WRITE;
		text_free(&end.text);
	}
	if (status == STATUS_WRITE)
		return fault_set(fault, status, errno, NULL);
	return status == STATUS_OK ? status : partial_fault(&t->partial, &q->plan, status, fault);
}

/* ---- states ---- */

const struct out_file_kind state_kind = {PART_HEAD_BEGIN, STATUS_NOT_STATE, false};

enum status state_save(const struct options *o, const struct query *q, struct total *total,
		       const struct part_scope *scope, struct fault *fault)
{
	struct out_file file;

	TRY(out_file_begin(&file, o->save_state, &state_kind, fault));
	return out_file_end(&file, part_write(o, q, total, scope, part_sink_stream(file.stream), fault), fault);
}
