/* SPDX-License-Identifier: MIT
 *
 * options_asked.c - see options_asked.h.
 */
#include "query/options_asked.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *spell(const char *name, size_t name_nbytes, const char *argument)
{
	char *text;

	if (asprintf(&text, "--%.*s%s%s", (int)name_nbytes, name, argument ? "=" : "",
		     argument ? argument : "") < 0)
		return NULL;
	return text;
}

/* Whether both are of the same option. */
static bool is_same_option(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return n == strcspn(b, "=") && !strncmp(a, b, n);
}

/* The place of an option that is no operation, among the options that are no operations. */
static size_t find_place(struct asked *a, const char *text, bool adds)
{
	size_t i = a->noperations;

	while (i < a->n && strcmp(a->at[i], text) < 0 && (adds || !is_same_option(a->at[i], text)))
		i++;
	return i;
}

enum status asked_add(struct asked *a, const char *name, size_t name_nbytes, const char *argument,
		      bool is_operation, bool adds)
{
	char *text = spell(name, name_nbytes, argument), **grown = realloc(a->at, (a->n + 1) * sizeof *grown);
	size_t place;

	a->at = grown ? grown : a->at;
	if (!text || !grown) {
		free(text);
		return STATUS_NO_MEMORY;
	}
	place = is_operation ? a->noperations : find_place(a, text, adds);
	if (!is_operation && !adds && place < a->n && is_same_option(a->at[place], text)) {
		free(a->at[place]);
		a->at[place] = text;
		return STATUS_OK;
	}
	memmove(a->at + place + 1, a->at + place, (a->n - place) * sizeof *a->at);
	a->at[place] = text;
	a->n++;
	a->noperations += is_operation;
	return STATUS_OK;
}

void asked_free(struct asked *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->at[i]);
	free(a->at);
	memset(a, 0, sizeof *a);
}

bool asked_equal(const struct asked *a, const struct asked *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++)
		same = !strcmp(a->at[i], b->at[i]);
	return same;
}

enum status asked_parse(const struct asked *a, struct options *o, struct fault *fault)
{
	char **argv = calloc(a->n + 2, sizeof *argv);
	enum status status;

	if (!argv)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	argv[0] = (char *)"gpustat";
	for (size_t i = 0; i < a->n; i++)
		argv[i + 1] = a->at[i];
	status = options_parse(o, (int)a->n + 1, argv, fault);
	if (status == STATUS_OK && !asked_equal(a, &o->asked))
		status = fault_set(fault, STATUS_PART_DAMAGED, 0, NULL);
	free(argv);
	return status;
}
