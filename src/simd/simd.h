/* SPDX-License-Identifier: MIT
 *
 * simd.h - what the CPU does to many bytes at once, in one table of functions for each
 * instruction set. The best that this machine has is chosen once.
 *
 * The lowest level of the CPU's work: which bytes are delimiters, LFs and quotes, where they
 * lie, and what the digits between them come to. What that means is for structure.c, quotes.c and
 * rows.c. Each simd_*.c fills the table; all give the same results.
 */
#ifndef GPUSTAT_SIMD_H
#define GPUSTAT_SIMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "number/decimal.h"

#define SIMD_WORD_NBYTES 64 /* bytes of text that a word of bits speaks of */

/* Texts that are scanned have so many readable bytes on either side, of any value. */
#define SIMD_PAD_NBYTES 64

/* Bitmaps of a text, a word for each 64 bytes: bit i of word k speaks of byte 64 k + i. */
struct simd_bits {
	uint64_t *separators; /* delimiters and LFs */
	uint64_t *newlines;   /* LFs */
	uint64_t *quotes;
};

/* Between two bytes of a text, as its quotes tell. */
struct simd_quotes {
	uint64_t inside;   /* all ones in quotes, 0 outside */
	uint64_t may_open; /* 1 where a quote may open a field, behind a separator or a quote */
};

/* What a scan has counted. */
struct simd_counts {
	uint64_t nlines;  /* LFs */
	uint64_t nquotes; /* 0 or not; which number is not said */
};

#define SIMD_NUMBERS_NROWS 64 /* rows that a word of bits speaks of */

/* One field of each of up to 64 rows. Bit r of a word speaks of row r; bits beyond the last row
 * are 0. */
struct simd_numbers {
	uint64_t numbers; /* rows whose field was converted */
	uint64_t empty;   /* rows whose field has no byte */
	/* Of those in `numbers`: significand x 10^-scale. Of others: any. */
	int64_t significand[SIMD_NUMBERS_NROWS];
	uint8_t scale[SIMD_NUMBERS_NROWS]; /* < DECIMAL_NSCALES, of others too */
};

/* What is known of a column's numbers: the form of one of those folded last. All zeros, where
 * nothing is: integers of up to 16 bytes. It makes the next ones faster, or not; the result is
 * the same. */
struct simd_hint {
	uint8_t scale, nfraction; /* nfraction digits behind the point: scale before the exponent */
	bool is_long;             /* more than 16 bytes before the suffix */
	uint8_t nwhole_folds;     /* the last so many, or more, came to the end of their rows */
	uint8_t suffix_nbytes;    /* of what follows the digits: exponent and CR */
	uint64_t suffix;          /* ... read as the highest of 8 bytes, the others 0 */
};

struct simd_ops {
	const char *name; /* "avx512", "avx2", "neon", "portable" */

	/* Scans text[0 .. 64 x nwords), and reads nothing beside it, into nwords words of each of
	 * bits. */
	struct simd_counts (*classify)(const char *text, size_t nwords, char delimiter,
				   struct simd_bits bits);

	/* Clears separators and newlines that lie in quotes, in words 0, 1 ... nwords - 1 up to
	 * the first in which a quote opens a field where it may not, and moves *at on past those
	 * words. Returns how many they were. */
	size_t (*clear_quoted)(struct simd_bits bits, size_t nwords, struct simd_quotes *at);

	/* Counts the bits that are set in bits[0 .. nwords). */
	size_t (*count)(const uint64_t *bits, size_t nwords);

	/* Packs text[0 .. 64 x nwords), and reads nothing beside it, into 32 x nwords bytes: of each
	 * byte the low half, that of text[2 k] below that of text[2 k + 1]. Returns whether every
	 * byte is the letter of its low half; otherwise out holds anything. */
	bool (*pack)(const char *text, size_t nwords, const unsigned char letters[16],
		     unsigned char *out);

	/* Writes the positions of the bits that are set in bits[0 .. nwords), base added, in
	 * ascending order. Returns how many; may write up to 64 more words behind them. */
	size_t (*positions)(const uint64_t *bits, size_t nwords, uint32_t base, uint32_t *out);

	/* Folds one field of each of nrows rows, from row 0 on, up to the first that it
	 * cannot: not [+-]digits[.digits][e[+-]digits], or too long or too small for the fast
	 * path of decimal.h, or in blanks or quotes. An empty field is counted in *nmissing.
	 * Returns how many rows were done.
	 * Row r's field is text[ends[r x stride - 1] + 1 .. ends[r x stride]), modulo 2^32;
	 * with drops_cr, less a CR at its end. text: padded, see above. hint: the column's. */
	size_t (*fold)(const char *text, const uint32_t *ends, size_t stride, size_t nrows,
		       bool drops_cr, struct decimal_fold *fold, uint64_t *nmissing,
		       struct simd_hint *hint);

	/* Like fold, but writes each row's number to *out, and passes over the rows that fold
	 * would stop at. 1 <= nrows <= SIMD_NUMBERS_NROWS. */
	void (*convert)(const char *text, const uint32_t *ends, size_t stride, size_t nrows,
			bool drops_cr, struct simd_numbers *out, struct simd_hint *hint);
};

/* Those compiled in, best first, the last always there; NULL-terminated. */
extern const struct simd_ops *const simd_all[];

/* Whether this machine can run ops. */
bool simd_runs(const struct simd_ops *ops);

/* Chooses for the process: the best that runs here, or the one named; NULL or "": the best.
 * Returns false where the name is unknown or does not run here. Before any thread starts. */
bool simd_choose(const char *name);

/* The one chosen; the best that runs here if none was. */
const struct simd_ops *simd(void);

#endif
