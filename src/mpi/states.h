/* SPDX-License-Identifier: MIT
 *
 * states.h - the state of all records before a rank's slice.
 */
#ifndef GPUSTAT_MPI_STATES_H
#define GPUSTAT_MPI_STATES_H

#include "base/status.h"
#include "mpi/rank.h"

/* Passes states on in the order of ranks. mine: of the rank's own slice, which has been folded and is forgotten;
 * NO_TEXT if it has no state. *before: that of all ranks before; NO_TEXT: they have no records. Both are the caller's.
 * Collective. Errors: those of state_read and part_write. */
enum status states_pass(struct rank *r, int mine, int *before, struct fault *fault);

#endif
