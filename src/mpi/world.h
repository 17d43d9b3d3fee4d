/* SPDX-License-Identifier: MIT
 *
 * world.h - the ranks of the job: who they are, what they agree on, and what each may use of its host.
 *
 * All functions are collective: every rank calls them, in the same order. MPI itself ends the job where a message
 * cannot be sent, so they have no errors of their own.
 */
#ifndef GPUSTAT_MPI_WORLD_H
#define GPUSTAT_MPI_WORLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "query/options.h"

struct world {
	int rank, nranks;
};

/* Begins MPI. Threads other than the caller's never call it. */
void world_open(struct world *w, int *argc, char ***argv);

/* Refuses ranks of another version of the program than rank 0's: what ranks send each other is their version's. Before
 * any other exchange, and without one after it where it fails; it stays as it is in all versions. *first: the first
 * such rank; nranks if all versions are the same.
 * Errors, of each such rank: STATUS_RANK_VERSION. */
enum status world_check_version(const struct world *w, int *first, struct fault *fault);

/* Ends MPI. */
void world_close(void);

/* The first rank whose status is not STATUS_OK; nranks if all are STATUS_OK. */
int world_first_fault(const struct world *w, enum status status);

/* Gives the bytes of one rank to all. */
void world_share(void *data, size_t nbytes, int from);

/* Whether it is true for any rank. */
bool world_any(bool is);

/* Sets how many threads a rank has, unless --threads says it; which GPU, where there are any; and its share of the
 * host's memory, unless --memory says it. */
void world_share_host(const struct world *w, struct options *o);

#endif
