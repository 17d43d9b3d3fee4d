/* SPDX-License-Identifier: MIT
 *
 * entry.h - whether a slice begins between records, and where the next record begins if not.
 *
 * A slice that begins within a file is folded as if a record began there. That is wrong where the LF before it is data
 * in a quoted field. Then each rank finds what its slice does to the automaton (csv/dfa.h), an exclusive scan over
 * the ranks' maps gives the state at each border, and a border within a record moves to the end of that record.
 */
#ifndef GPUSTAT_MPI_ENTRY_H
#define GPUSTAT_MPI_ENTRY_H

#include "base/status.h"
#include "io/input.h"
#include "mpi/cut.h"
#include "mpi/world.h"
#include "query/query.h"

/* Moves the borders of all slices that lie within records; *moved: whether one of this rank's did. input: this
 * rank's, whose slice has been read. Collective; the plan, one of all ranks. A file that cannot be read any more leaves
 * its borders where they are. Cost: reads each slice's last file again. */
void entry_settle(struct cut *c, const struct world *w, const struct query *q, const struct input *input,
		  bool *moved);

#endif
