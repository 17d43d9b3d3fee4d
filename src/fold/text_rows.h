/* SPDX-License-Identifier: MIT
 *
 * text_rows.h - folding the texts of up to 64 rows of a column.
 *
 * Most values that are no numbers show it by their first bytes. They are added here, without a look
 * at the number, its notation, and the spellings of "missing"; the rest is left to column_add_field.
 */
#pragma once

#include "base/status.h"
#include "fold/column.h"
#include "fold/texts.h"
#include "query/plan.h"

/* What a value may be, by its first byte. */
enum text_class {
	TEXT_UNSURE, /* anything: column_add_field knows */
	TEXT_SURE,   /* present, and no number */
	TEXT_DIGITS, /* a number of decimal.h, if no other byte excludes that */
	TEXT_QUOTE,  /* its field is quoted */
};

/* By the first byte of a field. parsed: of columns that parse; plain: of the others. */
struct text_classes {
	unsigned char parsed[256], plain[256]; /* enum text_class */
	char quote;
};

/* How a column's texts are folded. */
struct text_state {
	bool numbers_too; /* those of numbers as well; false while the column seems to have nothing
			   * else, and the plan lets that be guessed */
	bool converts;    /* most values are numbers: rows are converted before they come here */
};

/* One thread's memory for texts. All owned. */
struct text_folder {
	const struct plan *plan;
	struct text_classes classes;
	struct text_state *states; /* of the plan's columns; NULL: no texts are needed */
	const char *text;          /* that is folded, and its length */
	size_t nbytes;
	int has_nul; /* whether it has a NUL; -1: not known yet */
};

/* Errors: STATUS_NO_MEMORY; f can then be freed. */
enum status text_folder_init(struct text_folder *f, const struct plan *plan);
void text_folder_free(struct text_folder *f);

/* To be called before the rows of text[0 .. nbytes) are folded, which stays where it is, and after
 * them: out is then the fold of that text. */
void text_folder_begin(struct text_folder *f, const char *text, size_t nbytes);
void text_folder_end(struct text_folder *f, const struct partial *out);

/* One field of each of up to 64 rows: row r's is ended by ends[r x stride], and begins after the
 * separator before it. The text is padded as simd.h says. */
struct text_rows {
	const char *text;
	const uint32_t *ends;
	size_t stride;
	bool drops_cr; /* a CR at a field's end does not belong to it */
	bool parses;   /* numbers are looked for */
};

/* Whether a value, without its quotes, surely is neither missing nor a number. It may be read up to 8 bytes. */
bool text_is_no_number(const struct text_folder *f, const char *text, size_t nbytes);

/* Folds the texts of nrows rows, each a plain number without quotes, or empty. Errors:
 * STATUS_NO_MEMORY. */
enum status text_folder_numbers(const struct text_rows *fields, size_t nrows,
				struct column_partial *out);

/* Folds rows of column c into out. numbers: rows of plain numbers, without quotes, of which only the
 * texts are folded, if they are needed. others: rows that are folded wholly, their keys with them if
 * the column needs keys; those that remain for column_add_field are left in it. Errors:
 * STATUS_NO_MEMORY. */
enum status text_folder_rows(struct text_folder *f, size_t c, const struct text_rows *fields,
			     uint64_t numbers, uint64_t *others, struct partial *out);
