/* SPDX-License-Identifier: MIT
 *
 * word_layout.h - tables of words, whose values stand below the header's names, as ps, free and docker ps print them.
 *
 * With --whitespace, a header names the columns, and records must have as many words. Where they have another number,
 * since a value holds blanks or is not there, the columns of characters tell which value belongs to which name. So nothing
 * is guessed: each word stands below one name, and each value begins or ends where its name does, or lies within it.
 * Words with a single blank between them are one value if two blanks or more are around them; so "3 (2d ago)" is one.
 * Columns count characters that are one column wide on a terminal; a tab leads to the next multiple of 8. A line with other
 * characters stands below nothing, but in the last column, which takes the rest of its line.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "csv/field.h"

struct word_name {
	uint32_t begin, end; /* columns */
};

/* Where the header's names stand, and how records are cut. */
struct word_layout {
	bool by_words;     /* a record of as many words as there are names is cut at its blanks */
	bool by_columns;   /* others are cut below the names */
	bool takes_rest;   /* words beyond the last name belong to it, if it does not stand left of its name */
	bool shorter_fails; /* a record of fewer words, not below the names, is a fault, not ragged */
	size_t nnames;
	struct word_name names[];
};

/* One line of words, without its line end. */
struct word_line {
	const char *text;
	size_t nbytes;
};

/* Finds the names of a header, of lines[0], and how the records of lines[1 .. nlines) stand below them. A header's words
 * with one blank between them are one name if a record's word stands below both, or no word stands below one of them. Words
 * left of all names are a column without a name. Sets *out, to be freed, or to NULL if not all lines stand below the names,
 * or nothing shows that the header's names are aligned: no two blanks, and none at its beginning.
 * Returns false where memory ran out. */
bool word_layout_find(const struct word_line *lines, size_t nlines, struct word_layout **out);

/* Sets *out to the layout of a header each of whose words is a name; records are cut by words. The last takes the rest of
 * its line if something shows that the names are aligned. Returns false where memory ran out. */
bool word_layout_of_words(struct word_line header, struct word_layout **out);

/* Sets *agrees to whether records, at least one, have the same fields cut at their blanks and below the names, one for each name.
 * Returns false where memory ran out. */
bool word_layout_agrees(const struct word_layout *l, const struct word_line *records, size_t nrecords, bool *agrees);

/* Whether each of the records has as many words as l has names, and none is shifted: words are its fields. */
bool word_layout_suffices(const struct word_layout *l, const struct word_line *records, size_t nrecords);

/* Whether a record, cut by words, may be pushed to the right by values wider than their columns: each word stands below its
 * name, or ends right of it, and begins right of the name before and no further right than what is before it sticks out. It
 * has as many words as names, or more. */
bool word_layout_is_pushed(const struct word_layout *l, struct word_line line);

/* Whether a record's first word does not stand below the first name, which has blanks before it, while some word stands
 * below some name. */
bool word_layout_is_shifted(const struct word_layout *l, struct word_line line);

bool word_layout_is_same(const struct word_layout *a, const struct word_layout *b);

/* Cuts a line at its blanks into up to n fields, the last of which takes the rest, as word_layout_cut says. Returns the number
 * of words, but no more than n + 1. */
size_t word_layout_cut_words(struct word_line line, size_t n, uint32_t *ends);

/* Cuts a line without its line end into fields, in a dialect with a layout. ends: room for nfields, or for as many as the
 * line has bytes; field i, with blanks around it, ends at ends[i] and begins behind ends[i - 1]. The last ends at nbytes.
 * Returns the number of fields, or 0: the words do not stand below the header's names. A line has a word. */
size_t word_layout_cut(const struct csv_dialect *dialect, struct word_line line, uint32_t *ends);
