/* SPDX-License-Identifier: MIT
 *
 * fuzz_words.c - what is on the command line: COLS (select.h) and expressions (program.h), compiled, their columns
 * found among the names of a header, and the condition asked of a record.
 *
 * Input: a byte that says which, 'c', 'l' for NAME = EXPR of --let, 'b' for a key of --by, or other, a condition; the text; and
 * for an expression a NUL and a record's text. The record has the aggregate sum(a), as if another pass had made it.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "csv/record.h"
#include "fold/program_block.h"
#include "fuzz.h"
#include "lang/program.h"
#include "lang/select.h"
#include "simd/simd.h"

#define NFIELDS 9
#define MAX_NBYTES 4000

static char *const names[NFIELDS] = {"a", "bytes", "x,y", NULL, "2", "b", "twice", "t", "twice"};
static char *const names_of_programs[NFIELDS] = {"a", "bytes", "x,y", NULL, "2", "b", "count()", "t", "sum(a)"};
static const struct aggregate_name aggregates[] = {{"sum", TYPE_NUMBER}, {"count", TYPE_NUMBER}, {"mean", TYPE_NUMBER},
						   {"min", TYPE_NUMBER}, {"pNN", TYPE_NUMBER}, {"first", TYPE_ANY}, {NULL, TYPE_ANY}};

static void check_usage(const struct fault *fault, int nlines)
{
	int n = 0;

	FUZZ_CHECK(fault->detail_nbytes > 0 && fault->detail_nbytes < FAULT_DETAIL_NBYTES);
	for (size_t i = 0; i < fault->detail_nbytes; i++)
		n += fault->detail[i] == '\n';
	FUZZ_CHECK(n == nlines - 1);
}

/* ---- COLS ---- */

static void check_selector(const struct selector *s)
{
	struct field_range range;
	struct fault fault;
	enum status status = selector_resolve(s, NULL, names, NFIELDS, &range, &fault);

	if (status == STATUS_USAGE)
		check_usage(&fault, 1);
	FUZZ_CHECK(status == STATUS_OK || status == STATUS_UNKNOWN_COLUMN || status == STATUS_USAGE);
	if (status == STATUS_OK && !range.star)
		FUZZ_CHECK(range.first <= range.last && range.last < NFIELDS);
	status = selector_resolve(s, NULL, NULL, 0, &range, &fault);
	FUZZ_CHECK(status == STATUS_OK || status == STATUS_UNKNOWN_COLUMN);
}

static void check_cols(const char *text)
{
	struct selection selection = {0};
	struct fault fault;
	enum status status = selection_parse(text, &selection, &fault);

	if (status != STATUS_OK)
		check_usage(&fault, 1);
	for (size_t i = 0; status == STATUS_OK && i < selection.nselectors; i++)
		check_selector(&selection.selectors[i]);
	selection_free(&selection);
}

/* ---- expressions ---- */

/* Runs the program, a condition or a computed column, for a record; again in more room if its fields found none. */
static uint64_t run_once(const struct plan *plan, const char *text, size_t nbytes, const uint32_t *ends)
{
	const struct row_run run = {ends + 1, NFIELDS, 1};
	struct row_filter filter;
	struct program_block l;
	struct row_block b;
	uint64_t seen = 0;

	FUZZ_CHECK(row_block_init(&b, plan) == STATUS_OK && program_block_init(&l, plan) == STATUS_OK &&
		   row_filter_init(&filter, plan) == STATUS_OK);
	do {
		if (plan->computes)
			FUZZ_CHECK(program_block_begin(&l, text, nbytes) == STATUS_OK);
		b.programs = plan->computes ? &l : NULL;
		row_block_set(&b, plan->computes ? l.data : text, &run, 0);
		FUZZ_CHECK(row_filter_block(&filter, &l, &b) == STATUS_OK);
		if (filter.undecided)
			FUZZ_CHECK(filter.culprit.column < plan->ncolumns && filter.culprit.why != STATUS_OK);
		seen = filter.kept | filter.undecided << 1;
		if (plan->nlets) {
			struct field_span field = row_block_field(&b, NFIELDS, 0);
			FUZZ_CHECK(field.begin <= field.end);
			seen |= (uint64_t)(field.end - field.begin) << 8;
		}
		program_block_widen(&l);
	} while (plan->computes && l.is_full);
	row_filter_free(&filter);
	program_block_free(&l);
	row_block_free(&b);
	return seen;
}

/* Asks the program of the record; twice, since it must not depend on the first time. */
static void check_row(struct program *p, const char *line, size_t nbytes)
{
	struct plan_column columns[NFIELDS + 1];
	const struct program *predicate = p;
	struct plan plan = {.dialect = {.delimiter = ',', .quote = '"'}, .notation = {.decimal = '.'}, .ncolumns = NFIELDS,
			    .columns = columns, .computes = p->computes || p->name};
	char *memory = calloc(1, nbytes + 2 * SIMD_PAD_NBYTES + 1), *text = memory + SIMD_PAD_NBYTES;
	uint32_t ends[NFIELDS + 1] = {UINT32_MAX};
	struct record record;

	FUZZ_CHECK(memory != NULL);
	memcpy(text, line, nbytes);
	text[nbytes] = '\n';
	for (uint32_t c = 0; c < NFIELDS; c++)
		columns[c] = (struct plan_column){.field = c, .name = "x"};
	memcpy(p->columns, p->fields, p->names.nselectors * sizeof *p->fields);
	if (p->name) {
		columns[plan.ncolumns++] = (struct plan_column){.let = p, .name = p->name};
		plan.nlets = 1;
	} else {
		plan.predicates = &predicate;
		plan.npredicates = 1;
	}
	if (record_split(text, nbytes, &plan.dialect, true, &record) == STATUS_OK && record.nfields == NFIELDS) {
		for (size_t c = 0; c < NFIELDS; c++)
			ends[c + 1] = (uint32_t)record.fields[c].end;
		FUZZ_CHECK(run_once(&plan, text, nbytes, ends) == run_once(&plan, text, nbytes, ends));
	}
	record_free(&record);
	free(memory);
}

static void check_program(const char *option, const char *text, const char *line, size_t nbytes)
{
	static const struct csv_dialect dialect = {.delimiter = ',', .quote = '"'};
	const struct program_context context = {NULL, &dialect, '.', aggregates, NULL};
	struct program p;
	struct fault fault;
	enum status status = program_compile(&p, option, text, &context, &fault);

	if (status == STATUS_USAGE) {
		check_usage(&fault, 3);
		FUZZ_CHECK(p.error_offset <= strlen(text));
	}
	FUZZ_CHECK(status == STATUS_OK || status == STATUS_USAGE);
	if (status == STATUS_OK) {
		FUZZ_CHECK(p.nsteps > 0 && p.nvalues > 0 && p.nvalues <= PROGRAM_NVALUES_MAX);
		if (program_resolve(&p, names_of_programs, NFIELDS, &fault) == STATUS_OK)
			check_row(&p, line, nbytes);
	}
	program_free(&p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	char text[MAX_NBYTES + 1];
	size_t length;

	if (nbytes == 0 || nbytes > MAX_NBYTES)
		return 0;
	memcpy(text, data + 1, nbytes - 1);
	text[nbytes - 1] = '\0';
	length = strlen(text);
	if (*data == 'c')
		check_cols(text);
	else
		check_program(*data == 'l' ? "let" : *data == 'b' ? "by" : "where", text, text + (length + 1 < nbytes ? length + 1 : length),
			      length + 1 < nbytes ? nbytes - length - 2 : 0);
	return 0;
}
