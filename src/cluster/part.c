/* SPDX-License-Identifier: MIT
 *
 * part.c - writing parts. See part.h.
 */
#include "cluster/part.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codec/crc32.h"
#include "engine/total_check.h"
#include "fold/group_keys.h"
#include "fold/group_order.h"
#include "fold/group_values.h"
#include "fold/groups.h"
#include "fold/quantile.h"

/* ---- notes ---- */

/* By the order in total->notes: of records, then of columns. */
static const char *const note_names[] = {"\"undecided\"", "\"ragged\"", "\"headers\"", "\"values\"", "\"texts\"",
					 "\"currency\""};
enum { NOTE_CURRENCY = TOTAL_NNOTES_OF_RECORDS + 2, NOTE_NKINDS };

static const struct {
	enum status status;
	const char *name;
} note_statuses[] = {{STATUS_NOT_A_NUMBER, "\"not a number\""}, {STATUS_OUT_OF_RANGE, "\"out of range\""},
		     {STATUS_NUL, "\"NUL\""}, {STATUS_RAGGED, "\"ragged\""},
		     {STATUS_HEADER_AGAIN, "\"header again\""}, {STATUS_NOT_A_DATE, "\"not a date\""},
		     {STATUS_TOO_COSTLY, "\"too costly\""}, {STATUS_CURRENCY, "\"currency\""}, {STATUS_PACKED, "\"packed\""}};
#define NOTE_NSTATUSES (sizeof note_statuses / sizeof *note_statuses)

static void put_status(enum status status, struct json_writer *to)
{
	for (size_t i = 0; i < NOTE_NSTATUSES; i++)
		if (note_statuses[i].status == status) {
			json_put(to, note_statuses[i].name);
			return;
		}
	to->status = STATUS_WRONG_RESULT; /* the table lacks it: no part could be read that has the note */
}

/* Writes a member that is a number; name: with the comma before it. */
static void put_number(struct json_writer *to, const char *name, uint64_t number)
{
	json_put(to, name);
	json_put_number(to, number);
}

/* The plan's column of that name, which is its own; ncolumns: none. */
static size_t find_column(const struct plan *plan, const char *name)
{
	size_t c = 0;

	while (c < plan->ncolumns && plan->columns[c].name != name)
		c++;
	return c;
}

/* nbefore: the inputs of the state that the run began with. */
static void put_note(const struct plan *plan, size_t kind, const struct note *note, int nbefore,
		     struct json_writer *to)
{
	const char *detail = note->text + strlen(note->text) + 1;

	json_put(to, PART_NOTE_BEGIN);
	json_put(to, note_names[kind]);
	put_number(to, ",\"column\":", find_column(plan, note->column));
	json_put(to, ",\"status\":");
	put_status(note->status, to);
	put_number(to, ",\"input\":", (uint64_t)(note->file < 0 ? -1 - note->file : nbefore + note->file));
	put_number(to, ",\"line\":", note->line);
	json_put(to, ",\"value\":");
	json_put_string(to, detail, note->detail_nbytes);
	put_number(to, ",\"bytes\":", note->value_nbytes);
	json_put(to, ",\"try\":");
	json_put_string(to, note->text, strlen(note->text));
	json_put(to, "}");
	json_end_line(to);
}

static void put_notes(const struct total *t, int nbefore, struct json_writer *to)
{
	size_t n = t->plan->ncolumns;

	for (size_t i = 0; i < TOTAL_NNOTES(t->plan); i++) {
		size_t kind = i < TOTAL_NNOTES_OF_RECORDS
				      ? i
				      : TOTAL_NNOTES_OF_RECORDS + (i - TOTAL_NNOTES_OF_RECORDS) / n;
		if (t->notes[i])
			put_note(t->plan, kind, t->notes[i], nbefore, to);
	}
}

/* Reads one of some words: its index. */
static size_t read_word(struct json_reader *r, const char *const *words, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (json_try(r, words[i]))
			return i;
	json_fail(r, STATUS_DAMAGED);
	return 0;
}

static enum status read_status(struct json_reader *r)
{
	for (size_t i = 0; i < NOTE_NSTATUSES; i++)
		if (json_try(r, note_statuses[i].name))
			return note_statuses[i].status;
	json_fail(r, STATUS_DAMAGED);
	return STATUS_OK;
}

static void read_value(struct json_reader *r, struct fault *fault)
{
	size_t nbytes;
	const char *text;

	json_expect(r, ",\"value\":");
	text = json_string(r, &nbytes);
	if (text)
		fault_set_value(fault, fault->status, text, nbytes);
	json_expect(r, ",\"bytes\":");
	fault->value_nbytes = json_number(r);
	json_expect(r, ",\"try\":");
	text = json_string(r, &nbytes);
	if (text && nbytes < sizeof fault->remedy) {
		memcpy(fault->remedy, text, nbytes);
		fault->remedy[nbytes] = '\0';
	}
	json_expect(r, "}");
}

/* The place of a note of the text's column i; NULL: none. */
static struct note *_Atomic *place_of(const struct total *t, const struct partial_map *map, size_t kind, size_t i)
{
	size_t c = i < map->ncolumns ? map->columns[i] : SIZE_MAX;

	if (kind < TOTAL_NNOTES_OF_RECORDS)
		return &t->notes[kind];
	if (c == SIZE_MAX)
		return NULL;
	return &t->notes[TOTAL_NNOTES_OF_RECORDS + (kind - TOTAL_NNOTES_OF_RECORDS) * t->plan->ncolumns + c];
}

enum status part_note_read(struct total *t, const struct partial_map *map, char *const *inputs, size_t ninputs,
			   size_t nall, uint64_t nlines, bool is_state, struct json_reader *r, struct fault *fault)
{
	size_t kind = read_word(r, note_names, NOTE_NKINDS), i;
	struct note *_Atomic *to;
	uint64_t file, line;
	int number;

	*fault = (struct fault){.status = STATUS_OK};
	json_expect(r, ",\"column\":");
	i = json_number(r);
	json_expect(r, ",\"status\":");
	fault->status = read_status(r);
	json_expect(r, ",\"input\":");
	file = json_number(r) + ninputs;
	json_expect(r, ",\"line\":");
	line = json_number(r);
	read_value(r, fault);
	fault->line = line + (file == ninputs ? nlines : 0);
	if (r->at != r->end || file >= nall || file > INT32_MAX)
		json_fail(r, STATUS_DAMAGED);
	to = r->status == STATUS_OK ? place_of(t, map, kind, i) : NULL;
	if (!to || (*to && kind != NOTE_CURRENCY))
		return STATUS_OK;
	if (i < map->ncolumns && map->columns[i] != SIZE_MAX)
		fault->column = t->plan->columns[map->columns[i]].name;
	fault->file = inputs[file];
	number = is_state ? -1 - (int)file : (int)file;
	if (kind == NOTE_CURRENCY)
		return total_add_currency(t, map->columns[i], number, fault);
	*to = note_make(fault, number);
	if (!*to)
		json_fail(r, STATUS_NO_MEMORY);
	return STATUS_OK;
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
	sink->crc = crc32_continue(sink->crc, (const unsigned char *)text, nbytes);
	for (const char *at = text; (at = memchr(at, '\n', (size_t)(end - at))); at++)
		sink->nlines++;
	return sink->to.write(sink->to.context, text, nbytes) ? STATUS_OK : STATUS_WRITE;
}

void part_end_read(uint64_t *nlines, uint32_t *crc, struct json_reader *from)
{
	size_t nbytes;
	const char *text;
	char digits[9] = "", *end = digits;

	json_expect(from, PART_END_BEGIN);
	*nlines = json_number(from);
	json_expect(from, ",\"crc32\":");
	text = json_string(from, &nbytes);
	json_expect(from, "}");
	if (text && nbytes == 8)
		memcpy(digits, text, nbytes);
	*crc = (uint32_t)strtoul(digits, &end, 16);
	if (from->at != from->end || end != digits + 8)
		json_fail(from, STATUS_DAMAGED);
}

/* ---- all of it ---- */

/* Groups that are written. */
struct put_groups {
	const struct plan *plan;
	struct partial blank;
	struct json_writer *to;
};

static enum status put_group(void *context, struct group *group)
{
	struct put_groups *p = context;

	group_write(group, p->plan, &p->blank, p->to);
	return p->to->status;
}

static void put_list(struct put_groups *p, const struct group_list *list)
{
	for (size_t i = 0; i < list->n && p->to->status == STATUS_OK; i++) {
		if (i + 8 < list->n)
			group_prefetch(group_list_at(list, i + 8));
		put_group(p, group_list_at(list, i));
	}
}

static enum status fold_keys(void *context, struct groups *part)
{
	(void)context;
	return group_keys_fold(part);
}

/* Writes the groups of a part of the store, and frees what they hold. */
static enum status put_store_part(void *context, struct groups *part)
{
	enum status status = group_keys_fold(part);

	if (status == STATUS_OK)
		status = group_lists_settle(part);
	if (status == STATUS_OK)
		status = groups_each(part, put_group, context);
	if (status == STATUS_OK)
		groups_clear(part);
	return status;
}

/* Writes the groups in the order in which they appeared or, where records are printed, in that of their keys; any_order: as
 * they lie in the store. */
static void put_all_groups(const struct query *q, struct partial *total, bool any_order, struct json_writer *to)
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
	if (status != STATUS_OK)
		to->status = status;
	else
		put_list(&groups, &list);
	group_list_free(&list);
	partial_free(&groups.blank);
}

/* Writes the pieces of records at the part's ends: a head before all else, and a tail. While no record has ended,
 * all is the head. */
static void put_head(const struct total *t, struct json_writer *to)
{
	const struct seam *s = &t->seam;

	if (!t->keeps_head && t->head.nbytes == 0)
		return;
	json_put(to, PART_HEAD_TEXT_BEGIN);
	if (t->keeps_head)
		json_put_string(to, s->data, s->nbytes);
	else
		json_put_string(to, t->head.data, t->head.nbytes);
	json_put(to, t->keeps_head ? ",\"ends\":false}" : ",\"ends\":true}");
	json_end_line(to);
}

static void put_tail(const struct total *t, struct json_writer *to)
{
	if (t->keeps_head || t->seam.nbytes == 0)
		return;
	json_put(to, PART_TAIL_BEGIN);
	json_put_string(to, t->seam.data, t->seam.nbytes);
	json_put(to, "}");
	json_end_line(to);
}

enum status part_write(const struct options *options, const struct query *q, struct total *t,
		       const struct part_scope *scope, struct part_sink sink, struct fault *fault)
{
	struct written written = {sink, 0, 0};
	struct json_writer to = {.flush = write_lines, .context = &written};
	char end[80];
	enum status status;
	int n;

	part_head_write(options, q, scope, t->end_bytes, t->partial.nrecords + t->partial.nragged + t->partial.nheaders, &to);
	put_head(t, &to);
	put_notes(t, (int)scope->nbefore - scope->first, &to);
	partial_write(&t->partial, &q->plan, &to);
	if (q->plan.nkeys)
		put_all_groups(q, &t->partial, sink.takes_any_order, &to);
	put_tail(t, &to);
	status = json_flush(&to);
	text_free(&to.text);
	if (status == STATUS_WRITE)
		return fault_set(fault, status, errno, NULL);
	if (status != STATUS_OK)
		return partial_fault(&t->partial, &q->plan, status, fault);
	n = snprintf(end, sizeof end, PART_END_BEGIN "%" PRIu64 ",\"crc32\":\"%08" PRIx32 "\"}\n", written.nlines,
		     written.crc);
	return sink.write(sink.context, end, (size_t)n) ? STATUS_OK : fault_set(fault, STATUS_WRITE, errno, NULL);
}
