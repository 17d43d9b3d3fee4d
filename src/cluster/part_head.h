/* SPDX-License-Identifier: MIT
 *
 * part_head.h - the first line of a part: which query it answers, for which inputs, by which columns.
 *
 * A part's columns and pairs are those of the plan of the run that wrote it. A run that reads it finds them by
 * their names: inputs may have their columns in different orders.
 */
#ifndef GPUSTAT_PART_HEAD_H
#define GPUSTAT_PART_HEAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/json_text.h"
#include "base/status.h"
#include "fold/partial_text.h"
#include "query/options.h"
#include "query/query.h"

#define PART_FORMAT 3

/* Where a part begins or ends in the midst of a file, of which other parts are needed. of == 0: it does not. */
struct part_seam {
	char *input;           /* the file's name; owned */
	uint64_t number, of;   /* of the file's part that begins, or ends, here */
	uint64_t border, size; /* offset in the file, and the file's size */
	bool is_quoted;        /* inside a quoted field */
	/* at the end: */
	bool is_same;          /* the file in the midst of which the part began, too */
	uint64_t nlines;       /* of the file, in this part */
	uint64_t offset_bytes; /* of the file in this part */
};

/* All owned. */
struct part_head {
	char *version;         /* of the program that wrote the part */
	struct asked asked;    /* the query */
	struct header header;  /* as query_make_again takes it */
	bool seeks_header;     /* a record that is the header again is sought by its bytes (struct sought_header) */
	char **columns;        /* the names of the plan's columns */
	size_t *fields;        /* of the columns in a record, from 0 on; FIELD_COMPUTED: --let's */
	size_t ncolumns;
	size_t (*pairs)[2];    /* x and y, in columns */
	size_t npairs;
	char **inputs;         /* their names, in order */
	size_t ninputs;
	struct part_seam left, right;
	uint64_t nbytes;       /* of the inputs, decompressed */
	uint64_t nrecords;     /* taken, and left out */
};

/* What a part is of. Nothing is owned. */
struct part_scope {
	const char *const *inputs; /* their names */
	size_t ninputs;
	size_t nbefore; /* so many of them are of the state with which the run began */
	const struct part_seam *left, *right; /* of == 0: none */
	int first; /* of the run's files, where its slice of the input begins: behind those nbefore */
};

/* Writes the line of a part of a query. nbytes, nrecords: as above. */
void part_head_write(const struct options *o, const struct query *q, const struct part_scope *scope,
		     uint64_t nbytes, uint64_t nrecords, struct json_text *j);

/* Reads a line, which begins with PART_HEAD_BEGIN. Errors, in j->status: STATUS_DAMAGED, STATUS_NO_MEMORY,
 * STATUS_PART_VERSION: head->version wrote it, in a format that this program does not know. Free with
 * part_head_free in any case. */
#define PART_HEAD_BEGIN "{\"gpustat_part\":"
void part_head_read(struct part_head *head, struct json_text *j);
void part_head_free(struct part_head *head);

/* Finds the columns and pairs of a part in a plan, by name, or by place where its inputs have no header. *lacks: the first column of the plan that the part does not
 * have; plan->ncolumns: none. Errors: STATUS_NO_MEMORY. Free with part_map_free in any case. */
enum status part_map_make(struct partial_map *map, const struct part_head *head, const struct plan *plan,
			  size_t *lacks);
void part_map_free(struct partial_map *map);

#endif
