/* SPDX-License-Identifier: MIT
 *
 * part_lines.h - the lines of parts that hold folds (fold/partial_text.h), parsed and merged in several threads.
 *
 * Nearly all of a part are lines of columns and of groups. One thread finds them (merge.c) and adds them here, in
 * input order, a run of lines at a time; others take the runs and read them. Where order does not show in the
 * results, each thread reads into a partial of its own, whose groups move to the plan's store once they are many,
 * and all partials are joined at the end. Otherwise each run is read by itself, and added to the total in its
 * turn. Threads are started only when there is work for them, and the thread that adds runs takes one where
 * too many wait.
 *
 * The first error in input order is the one that is told: runs are taken in that order, so all before it are
 * read to their ends.
 */
#ifndef GPUSTAT_PART_LINES_H
#define GPUSTAT_PART_LINES_H

#include <stdatomic.h>
#include <stdint.h>

#include "base/status.h"
#include "cluster/part_text.h"
#include "fold/column.h"
#include "fold/partial_text.h"
#include "query/plan.h"

/* Where a part's columns are in the plan. Freed by whoever uses it last. */
struct part_map {
	atomic_uint nusers;
	struct partial_map map; /* owned */
};

/* Makes one with a use and an empty map. NULL: no memory. */
struct part_map *part_map_new(void);
void part_map_release(struct part_map *map);

/* Some lines of a part. */
struct line_run {
	const char *text, *end;   /* whole lines; they lie in the block */
	struct part_block *block;
	struct part_map *map;
	const char *name;         /* of the file. Not owned, and valid to the end. */
	uint64_t nlines;          /* of the file, before the run */
};

struct part_lines;

/* Begins to merge lines into a plan's total, which is the caller's to use until part_lines_end, but for its
 * partial where plan_is_ordered: then only after part_lines_wait. nthreads: the most that work; 0: one for each
 * core. NULL: no memory. */
struct part_lines *part_lines_begin(const struct plan *plan, struct partial *total, int nthreads);

/* Adds a run of lines, of which it takes uses of its own. Returns STATUS_OK, or that of an error in a run
 * before: part_lines_wait has the error. */
enum status part_lines_add(struct part_lines *l, const struct line_run *run);

/* Waits until all runs have been read. Errors, the first in input order: STATUS_PART_DAMAGED, with file and line;
 * STATUS_NO_MEMORY, STATUS_MANY_KEYS, STATUS_MANY_GROUPS. */
enum status part_lines_wait(struct part_lines *l, struct fault *fault);

/* Waits, makes the total that of all runs, with its groups in the plan's store, and frees l; NULL: does nothing.
 * Errors: as above; fault is left alone without one. */
enum status part_lines_end(struct part_lines *l, struct fault *fault);

#endif
