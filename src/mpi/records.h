/* SPDX-License-Identifier: MIT
 *
 * records.h - records that the ranks print, each those of its slice.
 *
 * A running column goes on from slice to slice, so there are two passes. The first makes the state of each slice's
 * records (cluster/part.h) and finds what is wrong with any. States are passed on from rank to rank, each with those
 * before it; a rank then begins with that and prints its records. They go to a file of each rank's own in a folder, or
 * to a temporary file, of which rank 0 copies all to standard output, once no rank has found a fault.
 */
#ifndef GPUSTAT_MPI_RECORDS_H
#define GPUSTAT_MPI_RECORDS_H

#include <stdbool.h>

#include "base/status.h"
#include "mpi/rank.h"

/* Whether ranks can print what is asked; else one process must: --head, a drawing, --ewma, and '*', of which only all
 * records before tell what is printed. q: NULL: not known yet. */
bool records_can_be_shared(const struct options *o, const struct query *q);

/* Where one rank prints them all, half an answer is held back as well: records_hold has standard output go to a
 * temporary file, records_release copies it, unless *exit_status is that of a fault. Not collective. Errors: STATUS_OPEN,
 * STATUS_READ, STATUS_WRITE. */
enum status records_hold(const struct world *w, struct fault *fault);
enum status records_release(int exit_status, struct fault *fault);

/* Makes the folder, or finds that it is there and empty; rank 0 does. Collective, as functions of rank.h are. Errors:
 * STATUS_OPEN, STATUS_USAGE. */
bool records_make_folder(struct rank *r, const char *folder);

/* Prints the records, to part-00000.csv, part-00001.csv ... and last _SUCCESS in the folder, or, NULL, to standard
 * output. The rank has been opened. Collective. Errors: those of rank_fold, state_read, part_write, left_out_check;
 * STATUS_OPEN, STATUS_WRITE. */
bool records_print(struct rank *r, const char *folder);

#endif
