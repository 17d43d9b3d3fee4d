/* SPDX-License-Identifier: MIT
 *
 * cut.h - which slice of the input each rank reads.
 *
 * All files, one behind the other, are cut to slices of about the same work, one for each rank, in the order of
 * ranks. Plain files are cut behind an LF; compressed ones are not, and weigh more, as their text is longer.
 */
#ifndef GPUSTAT_MPI_CUT_H
#define GPUSTAT_MPI_CUT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "cluster/part.h"
#include "io/input.h"
#include "mpi/world.h"

/* A place between two bytes of the input. offset 0: before the file. */
struct cut_place {
	int64_t file;
	uint64_t offset;
};

static inline bool place_is_same(struct cut_place a, struct cut_place b)
{
	return a.file == b.file && a.offset == b.offset;
}

struct file_size {
	uint64_t nbytes;   /* 0: it cannot be read, or is empty */
	uint64_t is_plain; /* not compressed */
};

struct cut {
	int nfiles;
	struct file_size *files; /* owned */
	struct cut_place *at;       /* nranks + 1: where each rank's slice begins; owned */
};

/* Cuts the files; all ranks get the same. A border is a guess: whether its LF is data in a quoted field is not known
 * yet. escape: as for input_cut_range. Free with cut_free in any case. Errors, the same in all ranks:
 * STATUS_NO_MEMORY; STATUS_USAGE for standard input and other names that not each rank can read. */
enum status cut_make(struct cut *c, const struct world *w, const char *const *paths, int npaths, char escape,
		     struct fault *fault);
void cut_free(struct cut *c);

/* Exchanges the ranks' borders: mine is where this rank's slice begins. */
void cut_gather(struct cut *c, const struct cut_place *mine);

/* Whether a rank's slice has nothing; else *slice is it. */
bool cut_slice(const struct cut *c, int rank, struct input_slice *slice);

/* The two ends of a rank's part, which are within a file or have of == 0. Names are of paths, not owned. Those of the
 * end lack nlines and offset_bytes. */
void cut_seams(const struct cut *c, const struct world *w, const char *const *paths, struct part_seam *left,
	       struct part_seam *right);

#endif
