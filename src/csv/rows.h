/* SPDX-License-Identifier: MIT
 *
 * rows.h - the records of a text as rows of separator positions: the CPU's one way from text to
 * records.
 *
 * rows_classify turns the text into bitmaps and resolves its quotes (quotes.c); that also yields
 * the transition map. Once the entry is known, rows_walk turns bitmaps into positions, a window at
 * a time. Rows with the same number of fields form runs in which a field lies a stride away from
 * that of the row before, so a column is read without looking at any other field. Folding walks
 * a text once, and printing once more: making positions again costs less than keeping them.
 */
#pragma once

#include "base/status.h"
#include "csv/chunk.h"
#include "csv/dfa.h"
#include "csv/field.h"
#include "simd/simd.h"

/* ---- quotes ----
 *
 * Which separators of a text lie in quotes, from bitmaps, 64 bytes at a time.
 *
 * The parity of the quotes so far tells whether a byte lies in quotes, doubled quotes included, if
 * every quote that opens a field comes right after a separator, or after a quote (then it is the
 * second of a pair). Each word is checked for that. In a word where it does not hold (12" disk),
 * the automaton of dfa.h steps from quote to quote; parity goes on with the next word.
 *
 * Stray text: after a closing quote only a separator may come, or CR and LF. Resolved words have in
 * bits.quotes the bytes that come after a closing quote and are no separators, CRs included, and the
 * quotes outside quotes that open nothing: the text tells a CR of a line end from a stray one, and
 * `12" disk` from a field that has blanks before its quote (quotes_find_stray). A bit beyond the text's
 * end means nothing.
 */

/* A text's bitmaps, a word for each 64 bytes. */
struct dialect_bits {
	struct simd_bits simd;
	/* NULL in an ordinary dialect: */
	uint64_t *escapes;  /* escape bytes */
	uint64_t *comments; /* comment signs behind an LF, and as the text's first byte */
	uint64_t *blanks;   /* blanks, where the dialect trims them; resolved: those that begin a field */
};

/* Completes bits of nwords words, of a dialect that is not ordinary: simd is classified by the dialect's delimiter and quote. On entry
 * escapes has the escape bytes and all LFs, comments has all comment signs, blanks all blanks that the
 * dialect trims. */
void quotes_prepare(const struct csv_dialect *dialect, const struct dialect_bits *bits, size_t nwords);

/* Clears the separators and newlines that are data in words [0, nwords), those of a text that is
 * entered in `state`; a comment keeps only the LF that ends it. Replaces the quotes by the bytes that may be stray. Returns
 * whether there is such a byte. */
bool quotes_resolve(const struct dialect_bits *bits, size_t nwords, enum csv_state state);

/* Returns the transition map of a text of nbytes, for the entry states that the dialect has. In an ordinary
 * dialect its exits are csv_map's, as those of texts without quotes and of devices are. From word *resolved
 * on, the entry state does not matter; those words are resolved here. If has_quotes is false, the text has
 * no quote byte, and that holds for entries outside quotes only. None such: the number of words. *strays: as
 * quotes_resolve's result, of those words. */
csv_full_map quotes_map(const struct csv_dialect *dialect, const struct dialect_bits *bits,
			size_t nbytes, bool has_quotes, size_t *resolved, bool *strays);

/* Returns where the first record with stray text begins, of the complete records text[begin .. end),
 * whose words are resolved; SIZE_MAX: no record has any. */
size_t quotes_find_stray(const struct csv_dialect *dialect, struct simd_bits bits, const char *text,
			 size_t begin, size_t end);

/* Whether a byte in this state lies in quotes. */
static inline bool csv_in_quotes(enum csv_state state)
{
	return state == CSV_QUOTED || state == CSV_ESCAPED_QUOTED;
}

/* ---- rows ---- */

/* One thread's memory for one text. All owned. */
struct rows {
	struct csv_dialect dialect;
	size_t nfields; /* fields 0 .. nfields - 1 are read */
	struct dialect_bits bits; /* of the text classified last; one allocation */
	size_t nwords, capacity_nwords;
	struct simd_counts counts;
	csv_full_map map;
	enum chunk_dependence dependence;
	size_t resolved;    /* the quotes in words [resolved, nwords) are resolved for any entry, */
	bool head_resolved; /* ... and those before for the entry of the last walk */
	bool has_strays;    /* resolved words have bits behind closing quotes: see below */
	/* Positions of separators outside quotes. ends[-1]: the current row's begin, less 1. */
	uint32_t *ends, *ends_memory;
	size_t nends, ends_capacity;
	uint32_t *below, *below_memory; /* the same for rows cut below the header's names, which may have more */
	size_t below_capacity;
	size_t unaligned; /* the first row that does not stand below them, as rows_extent.stray */
	size_t nlines; /* of the current window: those that end records */
	size_t window_nwords; /* of the next window */
	size_t stride; /* fields of the last row, or 0 */
};

/* nfields: how many of a record's first fields are read. Later ones may be joined, but a record of
 * more than nfields fields has more than nfields + 1 left then. */
void rows_init(struct rows *r, struct csv_dialect dialect, size_t nfields);
void rows_free(struct rows *r);

/* Makes room for a text of nbytes < 4 GiB. Errors: STATUS_NO_MEMORY. */
enum status rows_reserve(struct rows *r, size_t nbytes);

/* Classifies text[0 .. nbytes), padded as simd.h requires; rows_reserve has made room for it. Sets
 * *nlines to the number of its LFs, r->dependence to how much of a walk depends on the entry, and
 * returns the text's transition map. */
csv_full_map rows_classify(struct rows *r, const char *text, size_t nbytes, uint64_t *nlines);

/* Rows with the same number of fields: ends[0 .. nrows x stride), ends[-1] before them. */
struct row_run {
	const uint32_t *ends;
	size_t stride, nrows;
};

/* The field that ends[0] ends; ends[-1] ends the one before. drops_cr: it is its record's last, and
 * a CR at its end does not belong to it. */
static inline struct field_span row_field(const char *text, const uint32_t *ends, bool drops_cr)
{
	struct field_span span = {(uint32_t)(ends[-1] + 1), ends[0]};

	if (drops_cr && span.end > span.begin && text[span.end - 1] == '\r')
		span.end--;
	return span;
}

/* Writes one field of each of nrows rows, ended by ends[row x stride], without the blanks around it
 * that the dialect trims, as rows of two separators: the byte before it and the one after it. pairs:
 * 2 x nrows. */
void rows_trim(const struct csv_dialect *dialect, const char *text, const uint32_t *ends, size_t stride,
	       size_t nrows, bool drops_cr, uint32_t *pairs);

/* Called for each run, in order. Any status but STATUS_OK ends the walk. */
typedef enum status (*row_visitor)(void *context, const struct row_run *run);

/* Where a walk has found records. */
struct rows_extent {
	bool head_ends; /* as in struct partial */
	size_t head_nbytes, tail_offset;
	size_t stray;      /* the first complete record with text behind a closing quote, or whose words do not
			    * stand below the header's; else SIZE_MAX */
	size_t open_field; /* if the text ends inside quotes, or with an LF that is escaped: where
			    * that field begins, valid if the text was entered between records; else
			    * SIZE_MAX */
};

/* Visits the complete records of the text classified last, except blank lines and comments. entry: if an earlier
 * walk of this text had a known entry, the same one. If unknown, the head extends to the end of the
 * first record behind which the entry does not matter.
 * Errors: STATUS_NO_MEMORY, and what visit returns. */
enum status rows_walk(struct rows *r, const char *text, size_t nbytes, struct chunk_entry entry,
		      row_visitor visit, void *context, struct rows_extent *out);
