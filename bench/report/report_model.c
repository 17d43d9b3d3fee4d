/* SPDX-License-Identifier: MIT
 *
 * report_model.c - see report.h: `gpustat-bench model`, counted beside published.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "bench/ladder/model.h"
#include "io/table.h"
#include "bench/report/report.h"
#include "bench/report/sheet.h"

#define COUNT(array) (sizeof(array) / sizeof *(array))
#define NOTE_WIDTH 86

/* A rung, counted and published. */
struct model_row {
	unsigned n;
	enum model_rung rung;
	struct model_cost counted;
	struct model_published published;
};

static const struct model_row *model_row(const void *rows, size_t row)
{
	return (const struct model_row *)rows + row;
}

/* A count; nothing for what was not counted, or not published. */
static void put_count(char *text, uint64_t count)
{
	if (count)
		snprintf(text, SHEET_CELL_NBYTES, "%" PRIu64, count);
}

/* The share of lanes that add: "0.6641", or for eyes "255/384 = 0.66". */
static void put_efficiency(char *text, uint64_t nactive, uint64_t nissued)
{
	if (nissued)
		snprintf(text, SHEET_CELL_NBYTES, "%.4f", (double)nactive / (double)nissued);
}

static void put_fraction(char *text, uint64_t nactive, uint64_t nissued)
{
	if (nissued)
		snprintf(text, SHEET_CELL_NBYTES, "%" PRIu64 "/%" PRIu64 " = %.2f", nactive, nissued,
			 (double)nactive / (double)nissued);
}

/* ---- cells ---- */

static void write_rung(const void *rows, size_t row, char *text)
{
	snprintf(text, SHEET_CELL_NBYTES, "%s", model_name(model_row(rows, row)->rung));
}

static void write_n(const void *rows, size_t row, char *text)
{
	put_count(text, model_row(rows, row)->n);
}

static void write_nthreads(const void *rows, size_t row, char *text)
{
	put_count(text, model_row(rows, row)->counted.nthreads);
}

static void write_niterations(const void *rows, size_t row, char *text)
{
	put_count(text, model_row(rows, row)->counted.niterations);
}

static void write_nactive(const void *rows, size_t row, char *text)
{
	put_count(text, model_row(rows, row)->counted.nactive);
}

static void write_nactive_published(const void *rows, size_t row, char *text)
{
	put_count(text, model_row(rows, row)->published.nactive);
}

static void write_nissued(const void *rows, size_t row, char *text)
{
	put_count(text, model_row(rows, row)->counted.nissued);
}

static void write_nissued_published(const void *rows, size_t row, char *text)
{
	put_count(text, model_row(rows, row)->published.nissued);
}

static void write_efficiency(const void *rows, size_t row, char *text)
{
	const struct model_cost *c = &model_row(rows, row)->counted;

	put_efficiency(text, c->nactive, c->nissued);
}

static void write_efficiency_published(const void *rows, size_t row, char *text)
{
	const struct model_published *p = &model_row(rows, row)->published;

	put_efficiency(text, p->nactive, p->nissued);
}

static void write_fraction(const void *rows, size_t row, char *text)
{
	const struct model_cost *c = &model_row(rows, row)->counted;

	put_fraction(text, c->nactive, c->nissued);
}

static void write_fraction_published(const void *rows, size_t row, char *text)
{
	const struct model_published *p = &model_row(rows, row)->published;

	put_fraction(text, p->nactive, p->nissued);
}

static void write_nrequests(const void *rows, size_t row, char *text)
{
	put_count(text, model_row(rows, row)->counted.nrequests);
}

static void write_nrequests_published(const void *rows, size_t row, char *text)
{
	put_count(text, model_row(rows, row)->published.nrequests);
}

static void write_source(const void *rows, size_t row, char *text)
{
	const struct model_row *r = model_row(rows, row);
	const struct model_published *p = &r->published;

	if (p->nactive || p->nissued || p->nrequests)
		snprintf(text, SHEET_CELL_NBYTES,
			 "Programming Massively Parallel Processors, 4th ed., ch. %d",
			 model_ladder(r->rung) == BENCH_REDUCE ? 10 : 11);
}

static void write_why(const void *rows, size_t row, char *text)
{
	const char *why = model_row(rows, row)->published.why;

	snprintf(text, SHEET_CELL_NBYTES, "%s", why ? why : "");
}

static const struct sheet_column columns[] = {
	{"rung", "rung", false, write_rung},
	{"n", NULL, true, write_n},
	{"threads", "threads", true, write_nthreads},
	{"iterations", "iterations", true, write_niterations},
	{"operations", "operations", true, write_nactive},
	{"operations_published", "published", true, write_nactive_published},
	{"issued", NULL, true, write_nissued},
	{"issued_published", NULL, true, write_nissued_published},
	{"efficiency", NULL, true, write_efficiency},
	{"efficiency_published", NULL, true, write_efficiency_published},
	{NULL, "efficiency", true, write_fraction},
	{NULL, "published", true, write_fraction_published},
	{"requests", "requests", true, write_nrequests},
	{"requests_published", "published", true, write_nrequests_published},
	{"source", NULL, false, write_source},
	{"why_different", NULL, false, write_why},
};

/* ---- the whole ---- */

/* Prints text in lines of up to NOTE_WIDTH characters, cut at blanks. */
static void print_wrapped(const char *text)
{
	size_t used = 0;

	while (*text) {
		size_t word = strcspn(text, " ");
		if (used && used + 1 + word > NOTE_WIDTH) {
			putchar('\n');
			used = 0;
		}
		used += (size_t)printf("%s%.*s", used ? " " : "", (int)word, text);
		text += word + (text[word] != '\0');
	}
	putchar('\n');
}

static void print_why(const struct model_row *row)
{
	char text[2 * SHEET_CELL_NBYTES];

	snprintf(text, sizeof text, "%s: %s. Nsight Compute's counters decide: docs/ladder.md.",
		 model_name(row->rung), row->published.why);
	putchar('\n');
	print_wrapped(text);
}

static void print_notes(const struct model_row *rows)
{
	printf("\n"
	       "Counted by running the rungs' index functions for every thread. operations: threads\n"
	       "that add, over all iterations. efficiency: these in %d for every warp of an iteration\n"
	       "in which one of its threads adds. requests: lines of %d bytes that a warp touches in\n"
	       "one access to global memory, over all accesses; values are float32.\n"
	       "published: Programming Massively Parallel Processors, 4th ed., ch. 10, as printed for\n"
	       "this n, and for the scans its formulas of ch. 11, n log2 n - (n - 1) and\n"
	       "2 n - 2 - log2 n; '-' where there is none.\n",
	       MODEL_WARP_NLANES, MODEL_LINE_NBYTES);
	for (int i = 0; i < MODEL_NRUNGS; i++)
		if (rows[i].published.why)
			print_why(&rows[i]);
}

enum status report_model(unsigned n, enum format format, struct fault *fault)
{
	struct model_row rows[MODEL_NRUNGS];
	enum status status;

	for (int i = 0; i < MODEL_NRUNGS; i++) {
		enum model_rung rung = (enum model_rung)i;
		rows[i] = (struct model_row){n, rung, model_count(rung, n), model_published(rung, n)};
	}
	if (format == FORMAT_TABLE)
		printf("one block, n = %u\n", n);
	status = sheet_print(columns, COUNT(columns), rows, 0, MODEL_NRUNGS, format, fault);
	if (status != STATUS_OK || format != FORMAT_TABLE)
		return status;
	print_notes(rows);
	return output_flush(fault);
}
