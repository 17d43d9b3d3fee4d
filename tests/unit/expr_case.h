/* SPDX-License-Identifier: MIT
 *
 * expr_case.h - one condition asked about one record, for the tests of the language: of a block of one row, and of a lane, as
 * on a GPU.
 */
#pragma once

#include "fold/program_block.h"
#include "lang/lane_run.h"
#include "simd/simd.h"
#include "tap.h"

static char *const expr_names[] = {"a",     "b",   "c", "user agent", "and",
				   "größe", "a`b", "7", ":1",         NULL};
#define NFIELDS 10 /* the last one has no name */

enum expr_truth { EXPR_FALSE, EXPR_TRUE, EXPR_INVALID };

struct outcome {
	enum status status;
	enum expr_truth truth;
	uint32_t field; /* at fault */
	enum status why;
	size_t error_offset;
	bool lane_differs; /* a lane has another answer */
	struct fault fault;
};

struct lane_source {
	const struct plan *plan;
	const struct program *program;
	const struct row_block *b;
	struct scratch scratch[NFIELDS];
};

HD int lane_load(const struct lane_source *source, const struct step *step, struct lane_value *out)
{
	uint32_t c = source->program->columns[step->index];
	struct field_span span = row_block_field(source->b, c, 0);

	out->text = field_value(&source->plan->dialect, source->b->text + span.begin, span.end - span.begin,
				(struct scratch *)(uintptr_t)&source->scratch[c], &out->nbytes);
	out->kind = value_is_missing(source->plan, 0, out->text, out->nbytes) ? LANE_MISSING : LANE_UNREAD;
	if (step->load == LOAD_CALCULATE)
		lane_read(out);
	return step->load == LOAD_TEST || out->kind == LANE_MISSING || out->kind == LANE_NUMBER;
}

/* Whether a lane can run the program. */
static bool is_for_lanes(const struct program *p)
{
	static const bool beyond[] = {
#define FUNCTION(id, name, arguments, type, work, lane, help) [STEP_##id] = !(lane),
#include "lang/functions.def"
#undef FUNCTION
	};

	for (const struct step *step = p->steps; step < p->steps + p->nsteps; step++)
		if (step->code == STEP_DIVIDE || step->quotients || step->code == STEP_LITERAL || step->code == STEP_MATCH || (step->of_two && step->code != STEP_ORDER_NUMBERS) ||
		    (step->code < sizeof beyond && beyond[step->code]))
			return false;
	return p->nvalues <= LANE_NVALUES_MAX && p->ntruths <= LANE_NTRUTHS_MAX;
}

/* Whether a lane answers otherwise. What it cannot say it leaves to the block. */
static bool differs_in_lane(const struct program *p, const struct row_block *b, enum expr_truth truth)
{
	struct lane_source source = {.plan = b->plan, .program = p, .b = b};
	struct lane_value ignored;
	unsigned of_lane;
	int done = is_for_lanes(p) && lane_run(p->steps, (uint32_t)p->nsteps, p->literals, &source, &ignored, &of_lane);

	for (int i = 0; i < NFIELDS; i++)
		free(source.scratch[i].data);
	if (!done)
		return false;
	return of_lane == LANE_MAYBE ? truth != EXPR_INVALID && !p->computes && !program_has(p, STEP_ORDER_NUMBERS) : of_lane != (truth == EXPR_TRUE ? LANE_TRUE : LANE_FALSE);
}

/* Asks the program about a block of one row. */
static void ask_block(struct outcome *out, const struct program *p, const char *record)
{
	static const char *const spellings[] = {"NA"};
	static char memory[2 * SIMD_PAD_NBYTES + 4096];
	struct plan_column columns[NFIELDS];
	struct plan plan = {.dialect = {.delimiter = '|', .quote = '"'}, .notation = {.decimal = '.'}, .ncolumns = NFIELDS,
			    .columns = columns, .nmissing = 1, .missing = spellings, .npredicates = 1, .predicates = &p,
			    .computes = p->computes};
	char *text = memory + SIMD_PAD_NBYTES;
	uint32_t ends[NFIELDS + 1] = {UINT32_MAX};
	struct row_run run = {ends + 1, NFIELDS, 1};
	struct program_block l;
	struct row_filter filter;
	struct row_block b;
	size_t nbytes = strlen(record), n = 1;

	memcpy(text, record, nbytes);
	for (size_t i = 0; n <= NFIELDS; i++) {
		if (i >= nbytes)
			text[i] = '|';
		if (text[i] == '|')
			ends[n++] = (uint32_t)i;
		nbytes = i < nbytes ? nbytes : i + 1;
	}
	for (uint32_t c = 0; c < NFIELDS; c++)
		columns[c] = (struct plan_column){.field = c, .name = "x"};
	if (row_block_init(&b, &plan) != STATUS_OK || program_block_init(&l, &plan) != STATUS_OK ||
	    row_filter_init(&filter, &plan) != STATUS_OK ||
	    (plan.computes && program_block_begin(&l, text, nbytes) != STATUS_OK))
		bail("no memory");
	b.programs = plan.computes ? &l : NULL;
	row_block_set(&b, plan.computes ? l.data : text, &run, 0);
	out->status = row_filter_block(&filter, &l, &b);
	out->truth = filter.kept ? EXPR_TRUE : filter.undecided ? EXPR_INVALID : EXPR_FALSE;
	if (filter.undecided) {
		out->field = filter.culprit.column;
		out->why = filter.culprit.why;
	}
	out->lane_differs = differs_in_lane(p, &b, out->truth);
	row_filter_free(&filter);
	program_block_free(&l);
	row_block_free(&b);
}

/* Asks text about a record of raw fields, cut at '|'. */
__attribute__((unused)) static struct outcome ask(const char *text, const char *record)
{
	static const struct csv_dialect dialect = {.delimiter = '|', .quote = '"'};
	const struct program_context context = {NULL, &dialect, '.', NULL, NULL};
	struct outcome out = {.field = UINT32_MAX};
	struct program p;

	out.status = program_compile(&p, "where", text, &context, &out.fault);
	out.error_offset = p.error_offset;
	if (out.status == STATUS_OK)
		out.status = program_resolve(&p, expr_names, NFIELDS, &out.fault);
	if (out.status == STATUS_OK) {
		memcpy(p.columns, p.fields, p.names.nselectors * sizeof *p.fields);
		ask_block(&out, &p, record);
	}
	program_free(&p);
	return out;
}
