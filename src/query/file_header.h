/* SPDX-License-Identifier: MIT
 *
 * file_header.h - the headers of files behind the first: columns are matched by name.
 */
#ifndef GPUSTAT_FILE_HEADER_H
#define GPUSTAT_FILE_HEADER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "io/input.h"
#include "query/header.h"
#include "query/plan.h"
#include "query/select.h"

/* A file whose header is not the first one's. */
struct file_header {
	bool differs;         /* its records need a plan of their own */
	bool has_other_names; /* or the same in another order */
	struct header header;
	struct plan plan; /* the run's, but for the places of the columns, which are owned */
	struct word_layout *layout; /* of words below its header; owned */
	char *line;       /* of its header, as it came; owned */
};

struct file_headers {
	const struct header *first;
	const struct plan *plan;    /* the run's */
	bool always;                /* the first record of each file is a header */
	struct name_index names;    /* of first, empty ones too */
	struct file_header *files;  /* one for each file of the input; owned */
	int nfiles;
};

/* Has the input skip the header of each file behind the first's, and give the file's chunks a plan of their own where
 * the header differs; where the first file's is not present, find what may be one. first and plan are not copied;
 * plan->columns and shares_header are read when a file's first chunk is.
 * Errors: STATUS_NO_MEMORY, and of the input, later: those of header_read;
 * STATUS_HEADER_UNCLEAR: the first record is no header for sure, and no data for sure; STATUS_HEADER_LATER: so is one
 * where the first file's is not present;
 * STATUS_HEADER_LACKS, STATUS_HEADER_REPEATS: a column of the plan is not in the header, or not as
 * often as in the first; STATUS_HEADER_DIFFERS if the plan shares_header. */
enum status file_headers_init(struct file_headers *f, const struct header *first,
			      const struct plan *plan, bool always, struct input *input,
			      struct fault *fault);

/* Also for one that is all 0. */
void file_headers_free(struct file_headers *f);

#endif
