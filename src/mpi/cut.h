/* SPDX-License-Identifier: MIT
 *
 * cut.h - which slice of the input each rank reads.
 *
 * All files, one behind the other, are cut to slices of about the same work, one for each rank, in the order of
 * ranks. Plain files are cut behind an LF, and so is the text of BGZF files; other compressed files are not cut. Packed
 * bytes weigh more, as their text is longer.
 *
 * A BGZF file is cut at places (codec/gzip.h) in a block that is found by its first bytes. Data that looks like a block
 * deceives nobody for long: a slice that ends within a file must end where a block ends (io/source.h), and the first slice of
 * a file begins with its first block, so each slice proves that the next one begins with a block. Where one fails, the
 * blocks are followed from the file's beginning.
 */
#pragma once

#include "base/status.h"
#include "cluster/part.h"
#include "io/input.h"
#include "mpi/world.h"
#include "query/query.h"

/* A place between two bytes of the input. offset 0: before the file; else as of struct input_slice. */
struct cut_place {
	int64_t file;
	uint64_t offset;
};

enum file_kind {
	FILE_PACKED, /* not to be cut */
	FILE_PLAIN,
	FILE_BLOCKS, /* BGZF */
};

struct file_size {
	uint64_t nbytes;   /* 0: it cannot be read, or is empty */
	uint64_t kind;     /* enum file_kind */
};

struct cut {
	const struct world *world;
	const char *const *paths; /* nfiles; not owned */
	int nfiles;
	struct file_size *files; /* owned */
	struct cut_place *at;       /* nranks + 1: where each rank's slice begins; owned */
};

/* Refuses names that not every rank can read, before any rank opens one: a launcher may leave the standard input of all
 * but one rank open and empty, and a pipe has one reader, so they would wait for ever. Errors: STATUS_USAGE. */
enum status cut_check_paths(const char *const *paths, int npaths, struct fault *fault);

/* Cuts the files; all ranks get the same. A border is a guess: whether its LF is data in a quoted field is not known
 * yet. dialect: as for input_cut_range. What c owns stays until the process ends. Errors, the same in all
 * ranks: STATUS_NO_MEMORY. */
enum status cut_make(struct cut *c, const struct world *w, const char *const *paths, int npaths,
		     const struct csv_dialect *dialect, struct fault *fault);

/* Whether this rank's slice ends within a BGZF file where no block ends. Not collective. Cost: a short read for each block. */
bool cut_is_torn(const struct cut *c);

/* Cuts the files again, BGZF files only where all of their blocks from the first on lead to. Collective. */
void cut_again(struct cut *c, const struct csv_dialect *dialect);

/* Whether a rank's slice has nothing; else *slice is it. */
bool cut_slice(const struct cut *c, int rank, struct input_slice *slice);

/* The two ends of a rank's part, which are within a file or have of == 0. Names are of paths, not owned. Those of the
 * end lack nlines and offset_bytes. */
void cut_seams(const struct cut *c, struct part_seam *left, struct part_seam *right);

/* Moves the borders of all slices that lie within records; *moved: whether one of this rank's did. input: this
 * rank's, whose slice has been read. Collective; the plan, one of all ranks. A file that cannot be read any more leaves
 * its borders where they are. Cost: reads each slice's last file again. */
void cut_settle(struct cut *c, const struct query *q, const struct input *input, bool *moved);
