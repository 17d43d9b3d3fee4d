/* SPDX-License-Identifier: MIT
 *
 * fuzz_records.c - text to records to columns, and to printed records, in three ways: the
 * automaton a byte at a time (dfa.h), record by record (record.h, emit.h), and the CPU worker with every
 * instruction set of this machine (simd.h, rows.h). All must agree.
 *
 * Input: three bytes that make the plan and the entry, then text.
 */
#include <stdbool.h>
#include <string.h>

#include "fold/column.h"
#include "csv/dfa.h"
#include "emit/emit.h"
#include "fuzz.h"
#include "fold/record.h"
#include "simd/simd.h"
#include "engine/worker.h"

#define MAX_TEXT_NBYTES 20000

/* What one way has made of the text. */
struct outcome {
	struct partial partial;
	struct text_buffer text;
};

static const char *const missing[] = {"NA", "-"};
static struct plan_column columns[3];
static struct new_column scans[] = {{NEW_SUM, 0, PREDICATE_NONE}, {NEW_MAX, 0, PREDICATE_NONE},
				   {NEW_BYTE_OFFSET, 0, PREDICATE_NONE},
				   {NEW_COUNT, 1, PREDICATE_NONE}};

static struct plan make_plan(const uint8_t *bytes)
{
	static const char delimiters[] = {',', ';', '\t', '|'};
	struct plan plan = {.delimiter = delimiters[bytes[0] & 3],
			    .one_column = bytes[0] & 4,
			    .short_record = bytes[0] & 8 ? INVALID_SKIP : INVALID_ERROR,
			    .emits = bytes[0] & 16,
			    .only = bytes[0] & 32,
			    .exclusive = bytes[0] & 64,
			    .ncolumns = 1 + bytes[1] % 3,
			    .columns = columns,
			    .where = PREDICATE_NONE,
			    .nmissing = bytes[1] & 128 ? 2 : 0,
			    .missing = missing};
	uint32_t field = plan.one_column ? 0 : bytes[1] >> 2 & 3;

	if (plan.one_column)
		plan.ncolumns = 1;
	for (size_t c = 0; c < plan.ncolumns; c++) {
		bool parses = bytes[1] >> (4 + c) & 1 || c == 0;
		columns[c] = (struct plan_column){field, "x", true, parses, false,
						  c == 1 ? INVALID_TEXT : INVALID_SKIP};
		field += 1 + (bytes[2] >> (2 + 2 * c) & 3);
	}
	plan.new_columns = scans;
	plan.nnew_columns = plan.ncolumns > 1 ? 4 : 3;
	return plan;
}

static struct chunk_entry make_entry(const uint8_t *bytes)
{
	enum csv_state state = (enum csv_state)(bytes[2] & 3);

	return (struct chunk_entry){state, state != CSV_FIELD_START || bytes[0] & 128, false};
}

static void outcome_init(struct outcome *o, const struct plan *plan)
{
	memset(o, 0, sizeof *o);
	FUZZ_CHECK(partial_init(&o->partial, plan) == STATUS_OK);
	partial_clear(&o->partial);
}

static void outcome_free(struct outcome *o)
{
	partial_free(&o->partial);
	text_free(&o->text);
}

/* ---- the ways ---- */

static csv_map walk_automaton(const struct plan *plan, const uint8_t *text, size_t nbytes,
			      uint64_t *nlines)
{
	csv_map map = CSV_MAP_IDENTITY;

	*nlines = 0;
	for (size_t i = 0; i < nbytes; i++) {
		*nlines += text[i] == '\n';
		map = csv_map_compose(map, csv_map_of(csv_classify(
						   text[i], (unsigned char)plan->delimiter)));
	}
	return map;
}

static void go_by_records(const struct plan *plan, const uint8_t *text, size_t nbytes,
			  struct chunk_entry entry, const struct partial *before,
			  struct outcome *out)
{
	struct record_memory memory;
	struct emitter emitter;

	FUZZ_CHECK(record_memory_init(&memory, plan) == STATUS_OK);
	FUZZ_CHECK(records_fold(plan, (const char *)text, nbytes, entry, false, &memory,
				&out->partial) == STATUS_OK);
	record_memory_free(&memory);
	if (!plan->emits)
		return;
	FUZZ_CHECK(emitter_init(&emitter, plan) == STATUS_OK);
	FUZZ_CHECK(records_emit(&emitter, (const char *)text, nbytes, entry, false, before, 1000,
				&out->text) == STATUS_OK);
	emitter_free(&emitter);
}

static void go_by_worker(const struct plan *plan, const uint8_t *text, size_t nbytes,
			 struct chunk_entry entry, const struct partial *before,
			 struct outcome *out)
{
	const struct worker_setup setup = {.chunk_nbytes = nbytes};
	struct chunk chunk = {.nbytes = nbytes, .offset_bytes = 1000};
	struct chunk_map map;
	struct fault fault;
	struct text_buffer *printed;
	struct worker *w;
	uint64_t nlines;

	FUZZ_CHECK(worker_cpu.open(&w, plan, &setup, &fault) == STATUS_OK);
	chunk.data = worker_cpu.buffer(w);
	memcpy(chunk.data, text, nbytes);
	FUZZ_CHECK(worker_cpu.map(w, &chunk, &map, &fault) == STATUS_OK);
	FUZZ_CHECK(map.map == walk_automaton(plan, text, nbytes, &nlines));
	FUZZ_CHECK(map.nlines == nlines);
	FUZZ_CHECK(worker_cpu.fold(w, &chunk, entry, &out->partial, &fault) == STATUS_OK);
	FUZZ_CHECK(!out->partial.needs_entry);
	if (plan->emits) {
		FUZZ_CHECK(worker_cpu.emit(w, &chunk, entry, before, &printed, &fault) == STATUS_OK);
		FUZZ_CHECK(text_reserve(&out->text, printed->nbytes) == STATUS_OK);
		if (printed->nbytes)
			memcpy(out->text.data, printed->data, printed->nbytes);
		out->text.nbytes = printed->nbytes;
	}
	worker_cpu.close(w);
}

/* ---- the comparison ---- */

static void check_numbers(const struct column_partial *a, const struct column_partial *b)
{
	static struct wide_fold x, y;

	memset(&x, 0, sizeof x);
	memset(&y, 0, sizeof y);
	column_numbers(a, &x);
	column_numbers(b, &y);
	FUZZ_CHECK(x.count == y.count);
	if (x.count == 0)
		return;
	FUZZ_CHECK(x.scale == y.scale);
	FUZZ_CHECK(!wide_compare(&x.sum, &y.sum) && !wide_compare(&x.min, &y.min) &&
		   !wide_compare(&x.max, &y.max));
}

static void check_columns(const struct column_partial *a, const struct column_partial *b)
{
	FUZZ_CHECK(a->nmissing == b->nmissing && a->ninvalid == b->ninvalid);
	FUZZ_CHECK(column_kind(a) == column_kind(b));
	FUZZ_CHECK(a->first_invalid_offset == b->first_invalid_offset);
	FUZZ_CHECK(a->first_out_of_range_offset == b->first_out_of_range_offset);
	check_numbers(a, b);
}

static void check_same(const struct outcome *a, const struct outcome *b)
{
	const struct partial *p = &a->partial, *q = &b->partial;

	FUZZ_CHECK(p->head_ends == q->head_ends && p->head_nbytes == q->head_nbytes);
	FUZZ_CHECK(p->tail_offset == q->tail_offset);
	FUZZ_CHECK(p->nshort == q->nshort && p->first_short_offset == q->first_short_offset);
	for (size_t c = 0; c < p->ncolumns; c++)
		check_columns(&p->columns[c], &q->columns[c]);
	FUZZ_CHECK(a->text.nbytes == b->text.nbytes);
	FUZZ_CHECK(a->text.nbytes == 0 || !memcmp(a->text.data, b->text.data, a->text.nbytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	struct plan plan;
	struct chunk_entry entry;
	struct outcome records, rows;
	struct partial before;

	if (nbytes < 4 || nbytes > MAX_TEXT_NBYTES)
		return 0;
	plan = make_plan(data);
	entry = make_entry(data);
	FUZZ_CHECK(partial_init(&before, &plan) == STATUS_OK);
	partial_clear(&before);
	outcome_init(&records, &plan);
	go_by_records(&plan, data + 3, nbytes - 3, entry, &before, &records);
	for (size_t i = 0; simd_all[i]; i++) {
		if (!simd_choose(simd_all[i]->name))
			continue;
		outcome_init(&rows, &plan);
		go_by_worker(&plan, data + 3, nbytes - 3, entry, &before, &rows);
		check_same(&records, &rows);
		outcome_free(&rows);
	}
	outcome_free(&records);
	partial_free(&before);
	return 0;
}
