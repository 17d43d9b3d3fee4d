/* SPDX-License-Identifier: MIT
 *
 * fuzz_records.c - text to records to columns, and to printed records, in two ways: the automaton a
 * byte at a time (dfa.h), and the CPU worker with every instruction set of this machine (simd.h,
 * rows.h). Both must agree.
 *
 * Input: five bytes that make the plan, the entry, the dialect and the rule for ragged records; then
 * text.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "fold/column.h"
#include "fold/texts.h"
#include "csv/dfa.h"
#include "fold/window.h"
#include "fuzz.h"
#include "query/value.h"
#include "simd/simd.h"
#include "engine/worker.h"
#include "record_walk.h"

#define MAX_TEXT_NBYTES 20000
#define NHEAD 5 /* bytes before the text */

static const char *const missing[] = {"NA", "-"};
static struct plan_column columns[3];
static struct new_column scans[] = {{.kind = NEW_SUM}, {.kind = NEW_MAX}, {.kind = NEW_BYTE_OFFSET},
				   {.kind = NEW_COUNT, .column = 1}};

static struct csv_dialect make_dialect(const uint8_t *bytes)
{
	static const char delimiters[] = {',', ';', '\t', '|'}, quotes[] = {'"', '\'', '\0', '"'};
	struct csv_dialect d = {.delimiter = delimiters[bytes[0] & 3],
				.quote = quotes[bytes[3] & 3],
				.escape = bytes[3] & 4 ? '\\' : '\0',
				.comment = bytes[3] & 8 ? '#' : '\0',
				.whitespace = bytes[3] & 16,
				.one_column = bytes[0] & 4};

	if (d.whitespace) {
		d.delimiter = ' ';
		d.quote = d.escape = '\0';
		d.nfields = d.one_column ? 1 : bytes[3] >> 5;
		d.one_column = d.nfields == 1;
	}
	return d;
}

static struct plan make_plan(const uint8_t *bytes)
{
	struct plan plan = {.dialect = make_dialect(bytes),
			    .notation = {.decimal = '.'},
			    .ragged = {.policy = (enum ragged_policy)(bytes[4] & 3),
				       .last_is_empty = bytes[4] & 4,
				       .nfields = 1 + (bytes[4] >> 3 & 7)},
			    .bad_record = bytes[0] & 8 ? INVALID_SKIP : INVALID_ERROR,
			    .emits = bytes[0] & 16,
			    .only = bytes[0] & 32,
			    .exclusive = bytes[0] & 64,
			    .ncolumns = 1 + bytes[1] % 3,
			    .columns = columns,
			    .where = PREDICATE_NONE,
			    .nmissing = bytes[1] & 128 ? 2 : 0,
			    .missing = missing};
	uint32_t field = plan.dialect.one_column ? 0 : bytes[1] >> 2 & 3;

	if (plan.dialect.one_column)
		plan.ncolumns = plan.ragged.nfields = 1;
	for (size_t c = 0; c < plan.ncolumns; c++) {
		bool parses = bytes[1] >> (4 + c) & 1 || c == 0;
		columns[c] = (struct plan_column){
			.field = field, .name = "x", .parses = parses,
			.needs = MOMENTS_FUSED | (bytes[2] >> c & 1 ? MOMENT_TEXTS : 0),
			.invalid = c == 1 ? INVALID_TEXT : INVALID_SKIP};
		field += 1 + (bytes[2] >> (2 + 2 * c) & 3);
	}
	plan.new_columns = scans;
	plan.nnew_columns = plan.ncolumns > 1 ? 4 : 3;
	return plan;
}

/* Whether a text can be entered in this state. */
static bool has_state(const struct csv_dialect *d, enum csv_state state)
{
	if (d->whitespace)
		return state == CSV_RECORD_START || state == CSV_UNQUOTED;
	if (state == CSV_QUOTED || state == CSV_QUOTE_SEEN)
		return d->quote;
	if (state == CSV_COMMENT)
		return d->comment;
	if (state == CSV_ESCAPED || state == CSV_ESCAPED_QUOTED)
		return d->escape && (d->quote || state == CSV_ESCAPED);
	return true;
}

static struct chunk_entry make_entry(const struct csv_dialect *d, const uint8_t *bytes)
{
	enum csv_state state = (enum csv_state)((bytes[2] & 3) | (bytes[3] >> 3 & 4));

	if (state == CSV_RECORD_START || !has_state(d, state))
		state = CSV_FIELD_START;
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

/* ---- the worker ---- */

/* The state in which a text that is entered in `state` is left. */
static enum csv_state walk_automaton(const struct csv_dialect *d, const uint8_t *text,
				     size_t nbytes, enum csv_state state)
{
	for (size_t i = 0; i < nbytes; i++)
		state = csv_full_step(state, csv_dialect_classify(d, (char)text[i]));
	if (d->whitespace && nbytes > 0)
		return text[nbytes - 1] == '\n' ? CSV_RECORD_START : CSV_UNQUOTED;
	return state;
}

/* Checks the text's map. In ordinary dialects it does not have CSV_RECORD_START, but for entries. */
static void check_map(const struct csv_dialect *d, const uint8_t *text, size_t nbytes,
		      const struct chunk_map *map)
{
	uint64_t nlines = 0;

	for (size_t i = 0; i < nbytes; i++)
		nlines += text[i] == '\n';
	FUZZ_CHECK(map->nlines == nlines);
	for (unsigned s = 0; s < CSV_NSTATES_FULL; s++) {
		enum csv_state state = (enum csv_state)s, exit;
		if (!has_state(d, state))
			continue;
		exit = walk_automaton(d, text, nbytes, state);
		if (csv_dialect_is_ordinary(d) && exit == CSV_RECORD_START && nbytes > 0)
			exit = CSV_FIELD_START;
		FUZZ_CHECK(csv_full_map_apply(map->map, state) == exit);
	}
}

static void check_same(const struct outcome *a, const struct outcome *b);

/* Folds the chunk before its entry is known, if that is allowed, and checks the result against the
 * records behind the head that the fold has chosen. */
static void check_unknown(struct worker *w, const struct plan *plan, const struct chunk *chunk,
			  enum chunk_dependence dependence, struct chunk_entry entry,
			  const struct partial *before)
{
	bool in_quotes = entry.state == CSV_QUOTED || entry.state == CSV_ESCAPED_QUOTED;
	struct plan silent = *plan;
	struct outcome seen, wanted;
	struct fault fault;

	if (dependence == CHUNK_DEPENDS || (dependence == CHUNK_GUESSES && in_quotes))
		return;
	silent.emits = false;
	outcome_init(&seen, plan);
	outcome_init(&wanted, plan);
	FUZZ_CHECK(worker_cpu.fold(w, chunk, CHUNK_UNKNOWN, &seen.partial, &fault) == STATUS_OK);
	FUZZ_CHECK(!seen.partial.needs_entry);
	go_by_bytes(&silent, chunk->data, chunk->nbytes, entry, before,
		    seen.partial.head_ends ? seen.partial.head_nbytes : SIZE_MAX, &wanted);
	check_same(&wanted, &seen);
	outcome_free(&seen);
	outcome_free(&wanted);
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

	FUZZ_CHECK(worker_cpu.open(&w, plan, &setup, &fault) == STATUS_OK);
	chunk.data = worker_cpu.buffer(w);
	memcpy(chunk.data, text, nbytes);
	FUZZ_CHECK(worker_cpu.map(w, &chunk, &map, &fault) == STATUS_OK);
	check_map(&plan->dialect, text, nbytes, &map);
	check_unknown(w, plan, &chunk, map.dependence, entry, before);
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

static bool same_text(const struct kept_text *a, const struct kept_text *b)
{
	size_t na, nb;
	const char *of_a = kept_text_bytes(a, &na), *of_b = kept_text_bytes(b, &nb);

	return na == nb && (na == 0 || memcmp(of_a, of_b, na) == 0);
}

/* NULL: of no values. */
static void check_texts(const struct texts *a, const struct texts *b)
{
	static const struct texts none;

	a = a ? a : &none;
	b = b ? b : &none;
	FUZZ_CHECK(a->count == b->count);
	if (a->count == 0)
		return;
	FUZZ_CHECK(a->shortest == b->shortest && a->longest == b->longest);
	FUZZ_CHECK(a->has_other == b->has_other && a->has_time == b->has_time);
	FUZZ_CHECK(same_text(&a->least, &b->least) && same_text(&a->greatest, &b->greatest));
}

/* ---- the comparison ---- */

static void check_numbers(const struct column_partial *a, const struct column_partial *b)
{
	struct number_sums x, y;

	numbers_get(&a->numbers, &x);
	numbers_get(&b->numbers, &y);
	FUZZ_CHECK(x.count == y.count);
	if (x.count == 0)
		return;
	FUZZ_CHECK(x.scale == y.scale);
	FUZZ_CHECK(!exact_compare(&x.sum, &y.sum) && !exact_compare(&x.min, &y.min) &&
		   !exact_compare(&x.max, &y.max));
}

static void check_columns(const struct column_partial *a, const struct column_partial *b)
{
	FUZZ_CHECK(a->nmissing == b->nmissing && a->ninvalid == b->ninvalid);
	check_texts(moments_cell(&a->moments, CELL_TEXTS),
		    moments_cell(&b->moments, CELL_TEXTS));
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
	FUZZ_CHECK(p->nrecords == q->nrecords);
	FUZZ_CHECK(p->first_stray_offset == q->first_stray_offset);
	FUZZ_CHECK(p->nragged == q->nragged && p->first_ragged_offset == q->first_ragged_offset);
	for (size_t c = 0; c < p->ncolumns; c++)
		check_columns(&p->columns[c], &q->columns[c]);
	FUZZ_CHECK(a->text.nbytes == b->text.nbytes);
	FUZZ_CHECK(a->text.nbytes == 0 || !memcmp(a->text.data, b->text.data, a->text.nbytes));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	struct plan plan;
	struct chunk_entry entry;
	struct outcome bytes, rows;
	struct partial before;

	if (nbytes < NHEAD + 1 || nbytes > MAX_TEXT_NBYTES)
		return 0;
	plan = make_plan(data);
	entry = make_entry(&plan.dialect, data);
	FUZZ_CHECK(partial_init(&before, &plan) == STATUS_OK);
	partial_clear(&before);
	outcome_init(&bytes, &plan);
	go_by_bytes(&plan, (const char *)data + NHEAD, nbytes - NHEAD, entry, &before, 0, &bytes);
	for (size_t i = 0; simd_all[i]; i++) {
		if (!simd_choose(simd_all[i]->name))
			continue;
		outcome_init(&rows, &plan);
		go_by_worker(&plan, data + NHEAD, nbytes - NHEAD, entry, &before, &rows);
		check_same(&bytes, &rows);
		outcome_free(&rows);
	}
	outcome_free(&bytes);
	partial_free(&before);
	return 0;
}
