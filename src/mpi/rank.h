/* SPDX-License-Identifier: MIT
 *
 * rank.h - what one rank does: opens the input, folds its slice of it, and writes the part that this makes.
 */
#ifndef GPUSTAT_MPI_RANK_H
#define GPUSTAT_MPI_RANK_H

#include <stdbool.h>

#include "base/status.h"
#include "mpi/cut.h"
#include "mpi/world.h"
#include "run/run.h"

/* One rank's work. run is replaced where the slice is folded again, since threads of the first pass may still use
 * theirs. */
struct rank {
	const struct world *world;
	const struct options *options; /* the command line's, which is not changed; not owned */
	struct run *run;
	struct cut cut;
	struct input_slice slice;
	bool has_slice; /* else there is nothing for this rank to read */
	bool lost_device;    /* a GPU failed with groups that it kept: later passes are the CPUs' */
	bool *padded; /* owned; NULL: not asked yet */
	int first;          /* rank that has a fault, after a collective function; nranks: none has */
	struct fault fault; /* this rank's */
	bool prints_records; /* after the first pass, which finds the state before each slice */
};

/* Collective: whether all ranks' statuses are STATUS_OK. */
static inline bool rank_agree(struct rank *r, enum status status)
{
	r->first = world_first_fault(r->world, fault_complete(&r->fault, status));
	return r->first == r->world->nranks;
}

/* The functions that return whether all went well in all ranks are collective. Else r->first is the first rank for which it
 * did not, and r->fault says why in that one. */

/* Opens the input, makes the query, and cuts the input: rank 0 first, so that only it speaks of what is wrong for all.
 * Errors: those of run_open_input and cut_make. */
bool rank_open(struct rank *r);

/* Folds the slices, each as if its first record began there, finds those for which that is wrong, and folds them again.
 * Errors: those of run_fold_input. */
bool rank_fold(struct rank *r);

/* Merges what all ranks have folded, in their order, by a binomial tree: each rank adds what the ranks next to it have behind
 * what it has itself, and sends all of it on as a part. Then rank 0's run is one of all records.
 * Errors: those of merge_behind and part_write. */
bool rank_merge(struct rank *r);

/* Passes states on in the order of ranks. What was folded is the state of the slice's own records, and is forgotten. *before:
 * that of all ranks before, a part's text; empty: they have no records. It is the caller's. Errors: as above. */
bool rank_pass_states(struct rank *r, struct text_buffer *before);

/* Finds out which files have zero bytes behind their compressed data: r->padded, one for each file. Errors: STATUS_NO_MEMORY. */
bool rank_find_padded(struct rank *r);

/* Makes the line of the first rank's fault, where it is one in the slice, that of its file. Collective. */
void rank_place_fault(struct rank *r);

/* Opens the input anew, for another pass over the slice. Not collective. Errors, in r->fault: those of run_open_input. */
enum pass {
	PASS_PART,  /* makes a part, or the state of records that will be printed */
	PASS_AGAIN, /* the same, without guesses */
	PASS_PRINT, /* prints records */
};
enum status rank_open_pass(struct rank *r, enum pass pass);

#endif
