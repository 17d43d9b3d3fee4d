/* SPDX-License-Identifier: MIT
 *
 * total.h - combining chunks' partials in input order, and the records between chunks.
 */
#pragma once

#include "csv/chunk.h"
#include "fold/column.h"
#include "base/array.h"
#include "emit/cpu_folder.h"
#include "query/plan.h"
#include "base/status.h"

/* A record that chunk borders cut belongs to no chunk's partial. Its pieces, the tail of
 * one chunk, perhaps whole chunks, and the head of the next, are joined here and folded
 * when the record is complete. So a chunk may be one byte long, and a record longer than
 * any buffer. */
struct seam {
	char *memory; /* SIMD_PAD_NBYTES, data, an LF where a file lacks it, SIMD_PAD_NBYTES: `capacity` bytes; owned */
	char *data;   /* NULL: none yet */
	size_t nbytes, capacity;
	int file;              /* of the input */
	uint64_t line;         /* of data[0] */
	uint64_t offset_bytes; /* of data[0] in the input */
};

/* One thread's means of folding the record in the seam. Zeroed: its tables are made when a record
 * is folded. */
struct seam_folder {
	struct partial partial;
	struct cpu_folder cpu;
};

void seam_folder_free(struct seam_folder *f);

/* What is printed around a chunk's own output. Zeroed: nothing. */
struct chunk_output {
	struct partial before;         /* the fold of all records before the chunk's own, if the plan
					* emits; its groups are those of the chunk's records */
	bool has_groups;               /* ... and they are set */
	struct chunk_entry entry;      /* of the chunk: the caller's, if plan->head is set */
	size_t good_nbytes;            /* bytes of the chunk before its first fault */
	struct text_buffer head, tail; /* the record that ends in the chunk; the one that the
					* file's end completes */
};

/* What the total needs of a chunk whose partial is added at another time: the text of its two ends,
 * which hold cut records, and its number of lines. */
#define BORDER_NBYTES 4096 /* two halves of records of some hundred columns */
struct border {
	struct chunk chunk; /* the chunk, but data and nbytes are those of text */
	uint64_t tail_offset_bytes; /* of the tail in the input */
	uint64_t nlines;    /* of the whole chunk */
	bool guesses;       /* CHUNK_GUESSES, folded before its entry was known */
	bool head_ends;     /* as in struct partial */
	size_t head_nbytes;
	char text[BORDER_NBYTES]; /* the chunk's head and its tail */
};

/* A fault that ends no run. Its memory is one allocation, to be freed with free. */
struct note {
	enum status status;
	int file;
	uint64_t line;
	const char *column; /* the plan's */
	size_t value_nbytes, detail_nbytes; /* as in struct fault */
	char text[]; /* the remedy, NUL-terminated, and the detail */
};

/* Returns a copy of fault, which lies in the given file. NULL: out of memory. */
struct note *note_make(const struct fault *fault, int file);

/* Whether a is earlier in the input than b. The files of a state, -1, -2 ..., come before all others. */
bool note_is_before(const struct note *a, const struct note *b);

/* Sets fault to what was noted, but for its file. */
void note_read(const struct note *note, struct fault *fault);

/* A total's notes: of records, by kind; then three of each column. */
enum note_of_records { NOTE_UNDECIDED, NOTE_RAGGED, NOTE_HEADERS, TOTAL_NNOTES_OF_RECORDS };
#define TOTAL_NNOTES(plan) (TOTAL_NNOTES_OF_RECORDS + 3 * (plan)->ncolumns)

/* The fold of all chunks so far. */
struct total {
	struct curve *curve; /* these two take the records that are printed in place of standard output; NULL: none; not owned */
	struct table_rows *rows;
	const struct plan *plan;
	const struct plan *file_plan; /* of the file whose chunk is added: see chunk_plan */
	struct partial partial;
	bool settled; /* every column has had a value: its kind is known */
	struct seam seam;
	struct seam_folder folder;
	uint64_t line; /* of the next chunk's first byte */
	uint64_t end_bytes; /* offset in the input, behind the last chunk */
	bool owes_newline;  /* once the engine has ended: what was printed ends inside a line */
	_Atomic bool keeps_head; /* the records begin inside quotes, and no record has ended yet: any thread may ask */
	struct text_buffer head; /* what was kept, of a record that began before: see total_begin_quoted */
	size_t fault_offset; /* of the first fault in the text checked last */
	/* The first of each kind of what is left out: a value that leaves a condition undecided, a ragged record that is counted, a
	 * record left out because it is the header again; then those of columns. NULL: none. Owned. Set in the total's turns,
	 * and read by any thread. */
	struct note *_Atomic *notes;
};

/* Makes the total of no chunks. Errors: STATUS_NO_MEMORY. */
enum status total_init(struct total *t, const struct plan *plan);
void total_free(struct total *t);

/* Has the records begin inside a quoted field, before the first chunk: the text up to the end of that record
 * is kept in t->head instead of folded, or, while t->keeps_head, in the seam. */
void total_begin_quoted(struct total *t);

/* Add what chunks of another run have left at their ends, in input order: the end of the record that the seam
 * holds, which ends there (`ends`) or goes on; and the beginning of one. plan: of the file; line, offset: of text[0].
 * Errors: those of total_add. */
struct end_text {
	const struct plan *plan;
	const char *text;
	size_t nbytes;
	int file;
	uint64_t line, offset_bytes;
	bool ends;
};
enum status total_add_head(struct total *t, const struct end_text *head, struct fault *fault);
enum status total_add_tail(struct total *t, const struct end_text *tail, struct fault *fault);

/* Adds the total's groups to the store. Errors: STATUS_NO_MEMORY, STATUS_MANY_GROUPS. */
enum status total_store_groups(struct total *t, struct fault *fault);

/* Folds the record in the seam, if there is one: its file ends here. Errors: as above. */
enum status total_end_file(struct total *t, const struct plan *plan, struct fault *fault);

/* Folds the complete records that the seam holds, at the end of a range: how many there are depends on the chunks. What is
 * left in it is the beginning of a record. Errors: those of total_add. */
enum status total_end_range(struct total *t, struct fault *fault);

void chunk_output_free(struct chunk_output *e);

/* Prepares a chunk's partial for total_add, before its turn and in any order, unless status, that of its
 * fold, is an error: where records are printed, finds its groups in the store. Returns status, or
 * STATUS_NO_MEMORY, STATUS_MANY_GROUPS. */
enum status total_bind(const struct plan *plan, struct partial *p, struct fault *fault, enum status status);

/* Adds the next chunk. Called in input order, by one thread at a time.
 * later: the chunk's partial, whose groups may be taken away; nlines: LFs in the chunk. output: if the
 * plan emits, set to what surrounds the chunk's own output.
 * Errors: STATUS_NO_MEMORY, and what the plan counts as an error: STATUS_NOT_A_NUMBER,
 * STATUS_OUT_OF_RANGE, STATUS_NUL, STATUS_RAGGED, STATUS_STRAY_QUOTE, STATUS_OPEN_QUOTE,
 * STATUS_OPEN_ESCAPE; fault then has the line,
 * column and value of the first in input order, but not the file. STATUS_ENOUGH: so many records are
 * printed, with those of the chunk before good_nbytes, as plan->head says. */
enum status total_add(struct total *t, const struct chunk *chunk, uint64_t nlines,
		      struct partial *later, struct chunk_output *output,
		      struct fault *fault);

/* The first value of the plan's column c that is no number, if those are no errors. NULL where there was no such value. */
const struct note *total_note_of_values(const struct total *t, size_t c);

/* After total_add has found a fault in the chunk: appends to output->head the records before the
 * fault; where memory runs out, none. entry: the chunk's. */
void total_emit_before_fault(struct total *t, const struct chunk *chunk, struct chunk_entry entry,
			     struct chunk_output *output);

/* Whether the total needs nothing of a chunk's text but its ends: the chunk has no fault but invalid
 * values of which an earlier one is noted, nothing of it is printed, and the kind of every column is
 * known, from earlier chunks or from this one. later: the chunk's partial; its turn has not come.
 * settled: that of a total of earlier chunks. May be called by any thread. */
bool ends_suffice(const struct total *t, const struct partial *later, bool settled);

/* The same, and the ends are short enough for a border. */
bool border_suffices(const struct total *t, const struct chunk *chunk,
		     const struct partial *later, bool settled);

/* Makes the border of a chunk for which it suffices; later: the chunk's partial. */
void border_copy(struct border *b, const struct chunk *chunk, uint64_t nlines,
		 const struct partial *later);

/* Like total_add, for a chunk that has left a border. The caller combines the chunk's partial with
 * the total's afterwards, in any order. The same holds for deferred, to which this adds the record
 * that ends in the chunk. */
enum status total_add_border(struct total *t, const struct border *b, struct seam_folder *folder,
			     struct partial *deferred, struct fault *fault);

/* Adds what a part has noted of column c's currency: the value of a fault that has its line and column, whose remedy is
 * the currency. file: of the input. Errors: STATUS_CURRENCY, with fault as total_check has it, but for its file;
 * STATUS_NO_MEMORY. */
enum status total_add_currency(struct total *t, size_t c, int file, struct fault *fault);

/* total becomes the fold of its records and those of partials[0 .. npartials), which may be in any
 * order: nothing but their keys is large, and keys commute. The partials are left without keys.
 * nthreads: how many may work at once. Errors, in fault: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status total_join(struct partial *total, struct partial *const *partials, size_t npartials,
		       const struct plan *plan, int nthreads, struct fault *fault);
