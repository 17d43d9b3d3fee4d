/* SPDX-License-Identifier: MIT
 *
 * cpu_folder.h - one thread's means of folding and printing a text's records on the CPU: a chunk's,
 * those across chunk borders, and what a GPU leaves to the CPU.
 */
#pragma once

#include "base/status.h"
#include "base/array.h"
#include "csv/chunk.h"
#include "csv/rows.h"
#include "emit/lead.h"
#include "emit/new_fields.h"
#include "emit/sort.h"
#include "fold/column.h"
#include "fold/rows_fold.h"
#include "query/plan.h"

/* All owned. */
struct cpu_folder {
	const struct plan *plan;
	struct rows rows;
	struct row_folder folder;
	struct new_fields fields;
	struct sort_part *sorted; /* if the plan has a sorter, whose it is */
	bool lacks_end; /* the next text's last record ends its file without an LF. The caller's. */
	uint64_t nkept; /* records of the text folded last that are printed */
	struct scratch scratch; /* of rows with a format of their own */
	struct lead_text *leads; /* of the text, if the plan has fields of later records; or NULL */
};

/* Errors: STATUS_NO_MEMORY; f can then be freed. */
enum status cpu_folder_init(struct cpu_folder *f, const struct plan *plan);
void cpu_folder_free(struct cpu_folder *f);

/* Makes plan the one by which texts are folded and printed from now on: that of the init, or one
 * that differs from it in the places of the columns and the number of fields. */
void cpu_folder_use(struct cpu_folder *f, const struct plan *plan);

/* Classifies text[0 .. nbytes), padded as simd.h says, and folds its complete records into out, as
 * rows_fold does. Errors: STATUS_NO_MEMORY. */
enum status cpu_folder_fold(struct cpu_folder *f, const char *text, size_t nbytes,
			    struct chunk_entry entry, struct partial *out);

/* The same for a text that f->rows has classified last. */
enum status cpu_folder_fold_classified(struct cpu_folder *f, const char *text, size_t nbytes,
				       struct chunk_entry entry, struct partial *out);

/* Appends to out the records of the text folded last that are kept: byte for byte, but with as many fields as
 * the first record, each with its new fields before the line end; of a plan with fields of later records as lead_text_write does,
 * or nothing if the text has no records. Ragged records that are not taken are left out.
 * entry: known. before: the fold of all records before the text; its groups, if the plan has keys, are
 * those of the text's records (groups_exchange). offset_bytes: where the text
 * starts in the input. If the plan has a sorter, that takes the records, and out
 * stays as it is. Errors: STATUS_NO_MEMORY, and those of sort_part_add. */
enum status cpu_folder_emit(struct cpu_folder *f, const char *text, size_t nbytes,
			    struct chunk_entry entry, const struct partial *before,
			    uint64_t offset_bytes, struct text_buffer *out);
