/* SPDX-License-Identifier: MIT
 *
 * states.c - see states.h.
 *
 * A state is as long as a result, so a chain of ranks costs as many merges as there are ranks: 64 of them take 0.1 s where
 * there are no groups. With many groups it is what takes longest.
 */
#include "mpi/states.h"

#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "base/fd.h"
#include "fold/groups.h"
#include "mpi/text.h"

/* Appends a text to another. */
static enum status append(int from, int to, struct fault *fault)
{
	char block[65536];
	ssize_t n;

	for (off_t at = 0; (n = pread(from, block, sizeof block, at)) > 0; at += n)
		if (!fd_write(to, block, (size_t)n))
			return fault_set(fault, STATUS_WRITE, errno, NULL);
	return n == 0 ? STATUS_OK : fault_set(fault, STATUS_READ, errno, NULL);
}

/* Reads the states of a text, one behind the other, and writes one. */
static enum status combine(struct run *run, int both, int to, struct fault *fault)
{
	char name[TEXT_NAME_NBYTES];
	struct part_scope scope;
	FILE *stream = text_stream(to);
	enum status status;

	if (!stream || groups_plan(&run->query.plan, 0) != STATUS_OK ||
	    total_init(&run->total, &run->query.plan) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	text_name(both, name);
	status = state_read(&run->merge, &run->options, &run->query, &run->total, name, fault);
	text_forget_name(fault);
	if (status == STATUS_OK) {
		run->total.end_bytes = run->merge.offset_bytes;
		merge_scope(&run->merge, &scope);
		status = part_write(&run->options, &run->query, &run->total, &scope, stream, fault);
	}
	if (fclose(stream) != 0 && status == STATUS_OK)
		status = fault_set(fault, STATUS_WRITE, errno, NULL);
	return status;
}

/* *all = the state of both. */
static enum status add(struct rank *r, int before, int mine, int *all, struct fault *fault)
{
	int both = text_new();
	enum status status;

	*all = text_new();
	status = both == NO_TEXT || *all == NO_TEXT ? fault_set(fault, STATUS_NO_MEMORY, 0, NULL) : STATUS_OK;
	if (status == STATUS_OK)
		status = append(before, both, fault);
	if (status == STATUS_OK)
		status = append(mine, both, fault);
	if (status == STATUS_OK)
		status = combine(r->run, both, *all, fault);
	text_close(&both);
	if (status != STATUS_OK)
		text_close(all);
	return status;
}

enum status states_pass(struct rank *r, int mine, int *before, struct fault *fault)
{
	const struct world *w = r->world;
	bool is_last = w->rank == w->nranks - 1;
	enum status status = STATUS_OK;
	int all = NO_TEXT;

	*before = NO_TEXT;
	if (w->rank > 0)
		status = text_receive(before, w->rank - 1, fault);
	if (is_last)
		return status;
	if (status == STATUS_OK && *before != NO_TEXT && mine != NO_TEXT)
		status = add(r, *before, mine, &all, fault);
	if (text_send(all != NO_TEXT ? all : mine != NO_TEXT ? mine : *before, w->rank + 1, fault) != STATUS_OK)
		status = fault->status;
	text_close(&all);
	return status;
}
