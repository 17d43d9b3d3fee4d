/* SPDX-License-Identifier: MIT
 *
 * exchange.h - many groups: they go from rank to rank as they lie in memory (fold/group_images.h), not as lines of parts.
 *
 * Each key belongs to one rank, by its hash. Each rank sends every other the groups whose keys are that one's, and adds those
 * that it gets to its own: then a group is on one rank, and rank 0 gets each once. All have the same seed of keys. Offsets
 * of first records become those in all inputs on the way.
 *
 * The stores' parts (fold/groups.h) move one after the other, so that what is on its way is a small part of all. A part is
 * exchanged as MPI_Alltoallv does it for long messages, by pairs of ranks; that function's counts are ints, and here
 * longer messages go in blocks. Collective, all of it.
 */
#ifndef GPUSTAT_MPI_EXCHANGE_H
#define GPUSTAT_MPI_EXCHANGE_H

#include <stdbool.h>

#include "base/status.h"
#include "mpi/rank.h"
#include "mpi/world.h"
#include "query/query.h"

/* Gives all ranks the seed of rank 0. Before any key is made. */
void exchange_share_seed(const struct world *w);

/* Whether groups are to be exchanged: some rank has many, and the order of records does not show in results. Every rank has
 * folded its slice. Moves all groups to the plan's store. Errors, of this rank or of *first: STATUS_NO_MEMORY,
 * STATUS_MANY_KEYS. */
enum status exchange_begin(struct rank *r, bool *is_worth, int *first, struct fault *fault);

/* Moves the groups of all ranks to the store of rank 0's plan `to`, which group_images_fit has found to fit; it is ignored
 * in other ranks. Errors: likewise. */
enum status exchange_groups(struct rank *r, struct plan *to, int *first, struct fault *fault);

#endif
