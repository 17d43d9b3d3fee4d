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
	bool prints_records; /* after the first pass, which finds the state before each slice */
};

/* Opens the input, makes the query, and cuts the input: rank 0 first, so that only it speaks of what is wrong for all.
 * Collective, here and below. Errors, of this rank or of another, for which *first is the first rank that has one:
 * those of run_open_input and cut_make. */
enum status rank_open(struct rank *r, int *first, struct fault *fault);

/* Folds the slices, each as if its first record began there, finds those for which that is wrong, and folds them again.
 * Errors: likewise; those of run_fold_input. */
enum status rank_fold(struct rank *r, int *first, struct fault *fault);

/* Merges what all ranks have folded, in their order, by a binomial tree: each rank adds what the ranks next to it have behind
 * what it has itself, and sends all of it on as a part. Then rank 0's run is one of all records.
 * Errors, of this rank or of *first: those of merge_behind and part_write. */
enum status rank_merge(struct rank *r, int *first, struct fault *fault);

/* Passes states on in the order of ranks. What was folded is the state of the slice's own records, and is forgotten. *before:
 * that of all ranks before, a part's text; empty: they have no records. It is the caller's. Errors: likewise. */
enum status rank_pass_states(struct rank *r, struct text_buffer *before, int *first, struct fault *fault);

/* Finds out which files have zero bytes behind their compressed data: r->padded, one for each file. Collective. Errors:
 * STATUS_NO_MEMORY. */
enum status rank_find_padded(struct rank *r, int *first, struct fault *fault);

/* Makes the line of the first rank's fault, where it is one in the slice, that of its file. */
void rank_place_fault(const struct rank *r, int first, struct fault *fault);

/* Opens the input anew, for another pass over the slice. Not collective. Errors: those of run_open_input. */
enum pass {
	PASS_PART,  /* makes a part, or the state of records that will be printed */
	PASS_AGAIN, /* likewise, without guesses */
	PASS_PRINT, /* prints records */
};
enum status rank_open_pass(struct rank *r, enum pass pass, struct fault *fault);

#endif
