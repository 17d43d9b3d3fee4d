/* SPDX-License-Identifier: MIT
 *
 * state.c - saving a run's state: a part in a file, which the next run reads before its own records. See part.h.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cluster/part.h"

static enum status fail(const struct options *o, enum status status, struct fault *fault)
{
	fault_set(fault, status, errno, NULL);
	fault->file = o->save_state;
	return status;
}

/* Writes the state to a file of its own and on to the disk. */
static enum status write_new(const struct options *o, const struct query *q, struct total *total,
			     const struct part_scope *scope, const char *name, struct fault *fault)
{
	FILE *to = fopen(name, "w");
	enum status status;

	if (!to)
		return fail(o, STATUS_OPEN, fault);
	status = part_write(o, q, total, scope, to, fault);
	if (status == STATUS_OK && fsync(fileno(to)) != 0 && errno != EINVAL)
		status = fail(o, STATUS_WRITE, fault);
	if (fclose(to) != 0 && status == STATUS_OK)
		status = fail(o, STATUS_WRITE, fault);
	if (status == STATUS_WRITE)
		fault->file = o->save_state;
	return status;
}

enum status state_save(const struct options *o, const struct query *q, struct total *total,
		       const struct part_scope *scope, struct fault *fault)
{
	enum status status;
	char *name;

	if (asprintf(&name, "%s.new", o->save_state) < 0)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	status = write_new(o, q, total, scope, name, fault);
	if (status == STATUS_OK && rename(name, o->save_state) != 0)
		status = fail(o, STATUS_WRITE, fault);
	if (status != STATUS_OK)
		unlink(name);
	free(name);
	return status;
}
