/* SPDX-License-Identifier: MIT
 *
 * report_model.c - see report.h: `gpustat-bench model`, counted beside published.
 */
#include <stdio.h>
#include <string.h>

#include "bench/ladder/model.h"
#include "bench/report/report.h"
#include "bench/report/sheet.h"
#include "io/output.h"

#define NOTE_WIDTH 86

/* ---- a rung ---- */

/* Adds a count; 0: unknown. */
static void add_count(struct sheet *s, const char *name, const char *heading, uint64_t count)
{
	sheet_number(s, name, heading, (double)count, 0);
}

/* Adds the share of lanes that add: "0.6641" as data, "255/384 = 0.66" in a table. */
static void add_efficiency(struct sheet *s, const char *name, const char *heading, uint64_t nactive,
			   uint64_t nissued)
{
	double efficiency = nissued ? (double)nactive / (double)nissued : 0;

	sheet_number(s, name, NULL, efficiency, 4);
	if (nissued)
		sheet_cell(s, NULL, heading, true, "%llu/%llu = %.2f", (unsigned long long)nactive,
			   (unsigned long long)nissued, efficiency);
	else
		sheet_cell(s, NULL, heading, true, "%s", "");
}

static void add_rung(struct sheet *s, enum model_rung rung, unsigned n)
{
	const struct model_cost c = model_count(rung, n);
	const struct model_published p = model_published(rung, n);

	sheet_record(s);
	sheet_text(s, "rung", "rung", model_name(rung));
	add_count(s, "n", NULL, n);
	add_count(s, "threads", "threads", c.nthreads);
	add_count(s, "iterations", "iterations", c.niterations);
	add_count(s, "operations", "operations", c.nactive);
	add_count(s, "operations_published", "published", p.nactive);
	add_count(s, "issued", NULL, c.nissued);
	add_count(s, "issued_published", NULL, p.nissued);
	add_efficiency(s, "efficiency", "efficiency", c.nactive, c.nissued);
	add_efficiency(s, "efficiency_published", "published", p.nactive, p.nissued);
	add_count(s, "requests", "requests", c.nrequests);
	add_count(s, "requests_published", "published", p.nrequests);
	if (p.nactive || p.nissued || p.nrequests)
		sheet_cell(s, "source", NULL, false,
			   "Programming Massively Parallel Processors, 4th ed., ch. %d",
			   model_ladder(rung) == BENCH_REDUCE ? 10 : 11);
	else
		sheet_text(s, "source", NULL, "");
	sheet_text(s, "why_different", NULL, p.why ? p.why : "");
}

/* ---- notes ---- */

/* Prints text in lines of at most NOTE_WIDTH characters, broken at blanks. */
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

static void print_why(enum model_rung rung, const char *why)
{
	char text[512];

	snprintf(text, sizeof text, "%s: %s. Nsight Compute's counters decide: docs/ladder.md.",
		 model_name(rung), why);
	putchar('\n');
	print_wrapped(text);
}

static void print_notes(unsigned n)
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
	for (int i = 0; i < MODEL_NRUNGS; i++) {
		enum model_rung rung = (enum model_rung)i;
		const char *why = model_published(rung, n).why;
		if (why)
			print_why(rung, why);
	}
}

enum status report_model(unsigned n, enum format format, struct fault *fault)
{
	struct sheet sheet;
	enum status status;

	if (format == FORMAT_TABLE)
		printf("one block, n = %u\n", n);
	sheet_init(&sheet, format, MODEL_NRUNGS);
	for (int i = 0; i < MODEL_NRUNGS; i++)
		add_rung(&sheet, (enum model_rung)i, n);
	status = sheet_print(&sheet, fault);
	if (status != STATUS_OK || format != FORMAT_TABLE)
		return status;
	print_notes(n);
	return output_flush(fault);
}
