/* SPDX-License-Identifier: MIT
 *
 * text.h - parts (cluster/part.h) in memory: sent from rank to rank, and merged.
 *
 * A text is a file in memory, which a stream can write and merge_parts can read by name.
 */
#ifndef GPUSTAT_MPI_TEXT_H
#define GPUSTAT_MPI_TEXT_H

#include <stddef.h>
#include <stdio.h>

#include "base/status.h"
#include "mpi/world.h"
#include "query/options.h"

#define NO_TEXT (-1)
#define TEXTS_MAX 64 /* of one merge: a rank's own, and one for each power of two below the number of ranks */
#define TEXT_NAME_NBYTES 32

/* Makes an empty text: a file descriptor. NO_TEXT: out of memory. */
int text_new(void);

/* Frees it, and sets it to NO_TEXT, which it may be already. */
void text_close(int *text);

/* A stream that writes a text; fclose leaves the text. NULL: out of memory. */
FILE *text_stream(int text);

/* A name by which the process can open it. */
void text_name(int text, char name[TEXT_NAME_NBYTES]);

/* Takes such a name out of a fault: it says nothing to a user. */
void text_forget_name(struct fault *fault);

/* Sends a text, which may be NO_TEXT, to a rank, or receives one from it. Errors: STATUS_NO_MEMORY, on one side only:
 * the other has sent nothing, or received NO_TEXT. */
enum status text_send(int text, int to, struct fault *fault);
enum status text_receive(int *text, int from, struct fault *fault);

/* Merges n texts to one, in their order. o: the command line's. Errors: those of merge_parts and part_write. */
enum status text_merge(const int *texts, int n, const struct options *o, int *merged, struct fault *fault);

/* Brings the ranks' texts to rank 0 by a binomial tree: each rank merges those of the ranks next to it, in their order,
 * with its own. texts: rank 0 gets *ntexts of them, which it has to merge; they are the caller's. mine: becomes one of
 * them, or is closed. o: the command line's. Collective. Errors: those of merge_parts and part_write. */
enum status text_gather(const struct world *w, const struct options *o, int mine, int texts[TEXTS_MAX], int *ntexts,
			struct fault *fault);

#endif
