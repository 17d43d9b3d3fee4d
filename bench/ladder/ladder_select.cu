/* SPDX-License-Identifier: MIT
 *
 * ladder_select.cu - see ladder_select.cuh.
 */
#include "bench/ladder/ladder_select.cuh"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

unsigned ladder_types(const struct ladder_request *request)
{
	const unsigned timed = bench_types_timed(request->ladder);

	return request->types != 0 ? request->types & timed : timed;
}

/* ---- sentences ---- */

struct sentence {
	char text[FAULT_DETAIL_NBYTES];
	size_t nbytes;
	bool is_cut;
};

/* Appends words. If they do not fit, appends " ..." instead, and nothing after that. */
static void __attribute__((format(printf, 2, 3)))
sentence_add(struct sentence *s, const char *format, ...)
{
	const size_t room = sizeof s->text - s->nbytes - sizeof " ...";
	va_list args;
	int nbytes;

	if (s->is_cut)
		return;
	va_start(args, format);
	nbytes = vsnprintf(s->text + s->nbytes, room, format, args);
	va_end(args);
	s->is_cut = nbytes < 0 || (size_t)nbytes >= room;
	if (s->is_cut)
		strcpy(s->text + s->nbytes, " ...");
	else
		s->nbytes += (size_t)nbytes;
}

static enum status unknown_rung(const struct ladder_request *request, const char *name,
				struct fault *fault)
{
	struct sentence s = {};

	sentence_add(&s, "no rung '%.30s'; there are", name);
	for (size_t i = 0; i < cpu_ladder_nrungs; i++)
		if (cpu_ladder[i].ladder == request->ladder)
			sentence_add(&s, " %s", cpu_ladder[i].name);
	for (size_t i = 0; i < ladder_nrungs; i++)
		if (ladder_rungs[i]->ladder == request->ladder)
			sentence_add(&s, " %s", ladder_rungs[i]->name);
	return fault_set_usage(fault, s.text);
}

static enum status no_type(const struct ladder_rung *rung, struct fault *fault)
{
	struct sentence s = {};

	sentence_add(&s, "rung '%s' does not take the type; it takes", rung->name);
	for (unsigned t = 0; t < BENCH_NTYPES_TIMED; t++)
		if (rung->types >> t & 1)
			sentence_add(&s, " %s", bench_type_name((enum bench_type)t));
	return fault_set_usage(fault, s.text);
}

/* ---- selection ---- */

/* Whether the name was asked for; no names ask for all rungs. */
static bool is_wanted(const struct ladder_request *request, const char *name)
{
	for (size_t i = 0; i < request->nrungs; i++)
		if (strcmp(request->rungs[i], name) == 0)
			return true;
	return request->nrungs == 0;
}

/* Whether the name is that of a rung of the GPU or of the CPU. */
static bool is_known(enum bench_ladder ladder, const char *name)
{
	for (size_t i = 0; i < ladder_nrungs; i++)
		if (ladder_rungs[i]->ladder == ladder && strcmp(ladder_rungs[i]->name, name) == 0)
			return true;
	for (size_t i = 0; i < cpu_ladder_nrungs; i++)
		if (cpu_ladder[i].ladder == ladder && strcmp(cpu_ladder[i].name, name) == 0)
			return true;
	return false;
}

static void select_cpu(const struct ladder_request *request, struct ladder_selection *s)
{
	for (size_t i = 0; i < cpu_ladder_nrungs; i++) {
		const struct cpu_rung *rung = &cpu_ladder[i];
		if (rung->ladder == request->ladder && is_wanted(request, rung->name))
			s->cpu_rungs[s->ncpu_rungs++] = rung;
	}
}

enum status ladder_select(const struct ladder_request *request, struct ladder_selection *s,
			  struct fault *fault)
{
	memset(s, 0, sizeof *s);
	for (size_t i = 0; i < request->nrungs; i++)
		if (!is_known(request->ladder, request->rungs[i]))
			return unknown_rung(request, request->rungs[i], fault);
	for (size_t i = 0; i < ladder_nrungs && s->nrungs < LADDER_NRUNGS_MAX; i++) {
		const struct ladder_rung *rung = ladder_rungs[i];
		if (rung->ladder != request->ladder || !is_wanted(request, rung->name))
			continue;
		if (request->nrungs > 0 && (rung->types & ladder_types(request)) == 0)
			return no_type(rung, fault);
		s->rungs[s->nrungs++] = rung;
	}
	select_cpu(request, s);
	return STATUS_OK;
}
