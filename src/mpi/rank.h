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

/* Writes what was folded as a part: to *text, NO_TEXT where there is no slice. Errors: those of part_write. Not
 * collective. */
enum status rank_write_part(struct rank *r, int *text, struct fault *fault);

/* Like rank_write_part, but without the groups in the plan's store. */
enum status rank_write_rest(struct rank *r, int *text, struct fault *fault);

/* The ends of the part. The rank has a slice, which has been folded. */
void rank_find_seams(const struct rank *r, struct part_seam *left, struct part_seam *right);

/* Finds out which files have zero bytes behind their compressed data: r->padded, one for each file. Collective. Errors:
 * STATUS_NO_MEMORY. */
enum status rank_find_padded(struct rank *r, int *first, struct fault *fault);

/* Frees what was folded, once it is written. Not collective. */
void rank_forget_total(struct rank *r);

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
