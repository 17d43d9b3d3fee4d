/* SPDX-License-Identifier: MIT
 *
 * part.h - results of some of the records, to be merged with those of others: --partial and --merge.
 *
 * Folds are exact and associative, so the fold of many inputs is that of the folds of each, in order, and a
 * merged result has the bytes that one run over all inputs would print. A part is JSON Lines:
 *
 *     {"gpustat_part":4,"version":...,"query":[...],"inputs":[...],...}
 *     {"note":"values","column":0,...}                  the first value of a kind that was left out
 *     {"head":"...","ends":true}                        of a record that began in the file's part before
 *     {"records":...}  {"column":0,...}  {"group":...}                       fold/partial_text.h
 *     {"tail":"..."}                                    of a record that ends in the file's next part
 *     {"lines":N,"crc32":N}                       of the lines before; a part without it is truncated
 *
 * Several parts may stand one behind the other in a file. Merging yields a part again, so it may be done in a
 * tree. Order matters where the result says so: parts are merged in the order in which they are given.
 */
#pragma once

#include <stdio.h>
#include <sys/types.h>

#include "base/json_text.h"
#include "base/status.h"
#include "engine/total.h"
#include "fold/partial_text.h"
#include "io/out_file.h"
#include "query/options.h"
#include "query/query.h"

#define PART_FORMAT 5

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
	uint64_t format;
	char *version;         /* of the program that wrote the part */
	struct asked asked;    /* the query */
	struct header header;  /* as query_make_again takes it */
	bool seeks_header;     /* a record that is the header again is sought by its bytes (struct sought_header) */
	char **columns;        /* the names of the plan's columns */
	size_t ncolumns;
	size_t *fields;        /* of the first nfields columns in a record, from 0 on; the others are computed */
	size_t nfields;
	size_t *sides;         /* x and y of each pair, in columns */
	size_t nsides;
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
	size_t nbefore; /* how many of them come from the state with which the run began */
	const struct part_seam *left, *right; /* of == 0: none */
	int first; /* of the run's files, where its slice of the input begins: behind those nbefore */
};

/* Where a part's text goes. */
struct part_sink {
	/* Takes whole lines. Returns whether it could, else errno says why not. */
	bool (*write)(void *context, const char *text, size_t nbytes);
	void *context;
	bool takes_any_order; /* of groups: they come as they lie in the store, which loses them on the way. Another process
			       * that has the same seed of keys reads them fastest. */
};

/* A sink that writes to a stream, which the caller flushes. */
struct part_sink part_sink_stream(FILE *to);

/* Writes the part that total is, of a plan made one by plan_as_part. Notes count by
 * scope->inputs. Errors: STATUS_NO_MEMORY, STATUS_MANY_GROUPS, STATUS_WRITE: what has
 * been written is then no part. */
enum status part_write(const struct options *options, const struct query *q, struct total *total,
		       const struct part_scope *scope, struct part_sink to, struct fault *fault);

/* The plan of a file whose columns are elsewhere than in the first. */
struct file_plan {
	struct file_plan *next; /* owned */
	char *header;           /* of the file, to which the plan points; owned; NULL if the file has no header */
	struct plan plan;       /* its columns are owned */
};

/* Where a text of parts comes from: a file, which may be compressed, memory, or a function. Nothing is owned. */
struct part_source {
	const char *name; /* of the file, "-" for standard input; NULL: it is no file */
	const struct text_buffer *text; /* in memory; NULL: read is called */
	/* Reads up to nbytes. Returns how many; 0 at the end; -1 after an error, with errno set. */
	ssize_t (*read)(void *context, char *to, size_t nbytes);
	void *context;
};

/* A merge. The three are the caller's, zeroed but for options: the command line's. */
struct merge {
	struct options *options; /* from the first part on, the parts' query and how the command line prints it */
	struct query *query;
	struct total *total;
	struct options given;    /* the command line's; owned */
	bool has_head, has_begun;
	struct part_head first;  /* of the first part with records; to it options and query point */
	char **inputs;           /* the names of all inputs so far; owned */
	size_t ninputs;
	uint64_t offset_bytes;   /* of the next part's first record in all inputs */
	bool is_one_file; /* all parts so far are of the file in the midst of which the first begins */
	struct part_seam left, right; /* of all parts so far; right.offset_bytes: in all inputs */
	struct file_plan *plans; /* of all parts so far; owned */
	size_t read_nbytes;      /* of parts, at once */
	struct part_lines *lines; /* that are being read; NULL: none yet. Owned. */
	bool is_state;           /* what is read is no part but a state */
	struct fault *fault;
};

/* Adds one part after the other: those of all files. Then the query is made, and total is the fold of all
 * records. Errors name the file and the line: STATUS_OPEN, STATUS_READ, STATUS_PART_*, STATUS_NO_MEMORY,
 * STATUS_MANY_GROUPS, STATUS_MANY_KEYS; STATUS_HEADER_LACKS for a part without a column of the first; STATUS_USAGE
 * where the command line asks for another query. */
enum status merge_parts(struct merge *m, struct fault *fault);

/* Finds the error that only all parts together show: a column of '*' that has numbers first, and then texts.
 * Errors: STATUS_NOT_A_NUMBER, STATUS_OUT_OF_RANGE, STATUS_NUL; STATUS_PART_DAMAGED. */
enum status merge_check(const struct merge *m, struct fault *fault);

void merge_free(struct merge *m);

/* Adds the state that a run of the same query has saved to the total of no records of another. m: zeroed. Sets
 * m->offset_bytes to the length of all inputs so far. Notes have the file -1 - i, of m->inputs. Errors: those of
 * merge_parts; STATUS_PART_QUERY. */
enum status state_read(struct merge *m, struct options *options, struct query *query, struct total *total,
		       const struct part_source *from, struct fault *fault);

/* Merge parts behind what the run itself has folded, with a plan made one by plan_as_part. scope: of the total, as
 * part_write takes it, with all of the run's inputs from the first on and `first` 0; ninputs 0: the total has no records.
 * merge_behind begins, each merge_next reads the parts of one source, and merge_end ends it: then the total is the fold of all,
 * and merge_scope says of what. Errors: those of merge_parts; the merge is then over. */
enum status merge_behind(struct merge *m, struct options *options, struct query *query, struct total *total,
			 const struct part_scope *scope, struct fault *fault);
enum status merge_next(struct merge *m, const struct part_source *from);
enum status merge_end(struct merge *m);

/* The file of a state: out_files_check says before the work whether it can be written. */
extern const struct out_file_kind state_kind;

/* Saves a state in place of options->save_state. Errors: those of part_write and of out_file_begin. */
enum status state_save(const struct options *options, const struct query *q, struct total *total,
		       const struct part_scope *scope, struct fault *fault);

/* Sets *scope to what the merge has read. */
void merge_scope(const struct merge *m, struct part_scope *scope);

/* ---- lines that are no folds: by part.c for merge.c ---- */

#define PART_FIRST_MEMBER "gpustat_part"
#define PART_BEGIN "{\"" PART_FIRST_MEMBER "\":"

enum part_line { PART_HEAD, PART_NOTE, PART_HEAD_TEXT, PART_TAIL, PART_END, PART_NLINES };

/* A value or a record that was left out, the first of its kind. */
struct part_note {
	uint64_t kind; /* by the order in total->notes: of records, then of columns */
	uint64_t status, column, input, line, value_nbytes;
	char *value, *remedy; /* with a NUL behind them; owned if they were read */
	size_t detail_nbytes, remedy_nbytes;
};
#define PART_NOTE_CURRENCY (TOTAL_NNOTES_OF_RECORDS + 2)

/* A piece of a record at the beginning of a part, or at the end. */
struct part_piece {
	char *text; /* owned if it was read */
	size_t nbytes;
	bool ends; /* as in struct end_text; not of a tail */
};

struct part_end {
	uint64_t nlines, crc; /* of the lines before */
};

/* Which line is next, by the name of its first member; PART_NLINES: one of folds, or a damaged one. */
enum part_line part_line_of(const struct json_text *j);

/* Writes or reads a line that is no head: a struct part_note, part_piece or part_end, zeroed before it is read. What is read is freed
 * with part_line_free in any case. Errors, in j->status: STATUS_DAMAGED, STATUS_NO_MEMORY. */
void part_line_text(struct json_text *j, enum part_line line, void *object);
void part_line_free(enum part_line line, void *object);

/* The same of a head, which is read. Errors: as above; STATUS_PART_VERSION: head->version wrote it, in a format that this program
 * does not know. */
void part_head_read(struct part_head *head, struct json_text *j);
void part_head_free(struct part_head *head);
