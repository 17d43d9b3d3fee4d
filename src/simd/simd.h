/* SPDX-License-Identifier: MIT
 *
 * simd.h - the operations on many bytes at once: one table of functions for each instruction set,
 * all with the same results. The best set of this machine is chosen once.
 *
 * This is the lowest level of the CPU's work: which bytes are delimiters, LFs and quotes, where
 * they lie, and which numbers the digits between them make.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "number/decimal.h"

#define SIMD_WORD_NBYTES 64 /* bytes of text that a word of bits describes */

/* Readable bytes, of any value, that every text must have on either side. */
#define SIMD_PAD_NBYTES 64

/* Bitmaps of a text, a word for each 64 bytes: bit i of word k describes byte 64 k + i. */
struct simd_bits {
	uint64_t *separators; /* delimiters and LFs */
	uint64_t *newlines;   /* LFs */
	uint64_t *quotes;
};

/* The state between two bytes of a text. */
struct simd_quotes {
	uint64_t inside;   /* all ones in quotes, 0 outside */
	uint64_t may_open; /* 1: a quote would open a field: it follows a separator, or a quote that
			    * closed */
	uint64_t closed;   /* 1: the byte before closed a quoted field, unless a quote follows */
	uint64_t strays;   /* not 0: bits.quotes was left with a bit set */
};

/* What classify counts. */
struct simd_counts {
	uint64_t nlines;  /* LFs */
	uint64_t nquotes; /* 0: none; any other number: some */
};

/* Eight bytes of text as a word, the first the lowest. */
static inline uint64_t simd_load_word(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/* Sets words to the first n < 16 bytes of a text, of which 16 may be read; the bytes behind them are 0. */
static inline void simd_first_bytes(const char *text, size_t n, uint64_t words[2])
{
	static const char bytes[32] = "\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377\377"; /* n before the middle */

	words[0] = simd_load_word(text) & simd_load_word(bytes + 16 - n);
	words[1] = simd_load_word(text + 8) & simd_load_word(bytes + 24 - n);
}

/* Words with 1, or the top bit, in each byte. */
#define SIMD_EACH UINT64_C(0x0101010101010101)
#define SIMD_TOPS (SIMD_EACH * 0x80)

#define SIMD_SHORT_NBYTES 15

#define SIMD_NUMBERS_NROWS 64 /* rows that a word of bits describes */

/* One field of each of up to 64 rows. Bit r of a word describes row r; bits beyond the last row
 * are 0. */
struct simd_numbers {
	uint64_t numbers; /* rows whose field was converted */
	uint64_t empty;   /* rows whose field has no byte */
	/* For rows in `numbers`: significand x 10^-scale. For others: undefined. */
	int64_t significand[SIMD_NUMBERS_NROWS];
	uint8_t scale[SIMD_NUMBERS_NROWS]; /* < DECIMAL_NSCALES, for others too */
};

/* Whether all rows have one scale. */
static inline bool simd_scales_alike(const uint8_t scale[SIMD_NUMBERS_NROWS])
{
	uint64_t each = UINT64_C(0x0101010101010101) * scale[0], eight, differing = 0;

	for (unsigned i = 0; i < SIMD_NUMBERS_NROWS; i += 8) {
		memcpy(&eight, scale + i, sizeof eight);
		differing |= eight ^ each;
	}
	return differing == 0;
}

/* What is asked of a column: its decimal point, and whether the minimum and maximum may be left out;
 * and its number format, learned from one of the numbers converted last, which affects speed only.
 * All zeros: integers of up to 16 bytes, with minimum and maximum. */
struct simd_hint {
	char decimal;             /* no digit, sign, e or E; 0: '.' */
	bool sums_only;           /* fold need not set min and max of the bins */
	uint8_t scale, nfraction; /* nfraction digits behind the point: scale before the exponent */
	bool is_long;             /* more than 16 bytes before the suffix */
	uint8_t nwhole_folds;     /* so many folds in succession reached the end of their rows */
	uint8_t suffix_nbytes;    /* of the bytes behind the digits: exponent and CR */
	uint64_t suffix;          /* those bytes as the highest of 8, the others 0 */
};

struct simd_ops {
	const char *name; /* "avx512", "avx2", "neon", "portable" */

	/* Fills nwords words of each of bits from text[0 .. 64 x nwords); needs no padding. */
	struct simd_counts (*classify)(const char *text, size_t nwords, char delimiter, char quote,
				   struct simd_bits bits);

	/* Clears separators and newlines that lie in quotes, in words [0, nwords) up to the first
	 * that parity does not explain: a quote opens a field where it may not. Replaces quotes by
	 * the bytes behind a closing quote that are neither a separator nor a quote. Moves *at past
	 * those words. Returns their number. */
	size_t (*clear_quoted)(struct simd_bits bits, size_t nwords, struct simd_quotes *at);

	/* Counts the bits that are set in bits[0 .. nwords). */
	size_t (*count)(const uint64_t *bits, size_t nwords);

	/* Packs text[0 .. 64 x nwords) into 32 x nwords bytes: the low half of each byte, that of
	 * text[2 k] below that of text[2 k + 1]. Needs no padding. Returns whether every byte is
	 * the letter of its low half; if not, out is undefined. */
	bool (*pack)(const char *text, size_t nwords, const unsigned char letters[16],
		     unsigned char *out);

	/* Writes the positions of the bits set in bits[0 .. nwords), plus base, in ascending order.
	 * Returns their number; may write up to 64 more elements behind them. */
	size_t (*positions)(const uint64_t *bits, size_t nwords, uint32_t base, uint32_t *out);

	/* Folds one field of each of nrows rows, up to the first that is no plain number: not
	 * [+-]digits[.digits][e[+-]digits] with the hint's decimal point, beyond the fast path of
	 * decimal.h, or with blanks or quotes around it; with another point than '.' it may also
	 * stop at one of more than 16 bytes, or with an exponent of more than two digits. Counts
	 * empty fields in *nmissing. Returns the number of rows folded.
	 * Row r's field is text[ends[r x stride - 1] + 1 .. ends[r x stride]), modulo 2^32;
	 * with drops_cr, without a CR at its end. text: padded. hint: the column's. */
	size_t (*fold)(const char *text, const uint32_t *ends, size_t stride, size_t nrows,
		       bool drops_cr, struct decimal_fold *fold, uint64_t *nmissing,
		       struct simd_hint *hint);

	/* Like fold, but writes each row's number to *out, and skips the rows at which fold would
	 * stop. 1 <= nrows <= SIMD_NUMBERS_NROWS. */
	void (*convert)(const char *text, const uint32_t *ends, size_t stride, size_t nrows,
			bool drops_cr, struct simd_numbers *out, struct simd_hint *hint);

	/* Writes one field of each of nrows rows as two words: its up to SIMD_SHORT_NBYTES bytes from the first one on, zeros,
	 * and, in the highest byte of the second word, 1 + their number. Fields and nrows are as in convert. Returns the rows
	 * whose field is longer or begins with the quote, and perhaps others that differ from the first one in having a CR at
	 * their end; what is written for these rows is undefined. */
	uint64_t (*short_texts)(const char *text, const uint32_t *ends, size_t stride, size_t nrows, bool drops_cr, char quote,
				uint64_t (*out)[2]);

	/* Folds x's numbers in `rows`, a subset of x->numbers. */
	void (*fold_numbers)(const struct simd_numbers *x, uint64_t rows,
			     struct decimal_fold *fold);

	/* The sum of x[r] y[r], r < SIMD_NUMBERS_NROWS. All of x and y lie in -2^31 ... 2^31 - 1, and no
	 * sum of some of the products leaves 64 bits. */
	int64_t (*sum_products)(const int64_t *x, const int64_t *y);

	/* Returns the CRC-32 of gzip (RFC 1952, section 8) of some bytes and data[0 .. nbytes) behind them; crc: of the bytes
	 * before, 0 if these are the first. */
	uint32_t (*crc)(uint32_t crc, const unsigned char *data, size_t nbytes);

	/* Writes to[i] = table[symbols[i]], i < n. table: the byte for each of 65536 symbols, and 3 readable bytes; symbols below
	 * 256 stand for themselves, those from 256 to 0x7fff do not occur. `to` overlaps neither of the others; nothing has to be
	 * aligned; nothing is read or written beyond these arrays. */
	void (*resolve)(unsigned char *to, const uint16_t *symbols, size_t n, const unsigned char *table);

	/* Sets *sum to the sum of the squares of the significands in `rows`. significand: of
	 * SIMD_NUMBERS_NROWS rows. Returns false where one of `rows` is not in -2^30 ... 2^30 - 1;
	 * *sum is then undefined. */
	bool (*sum_squares)(const int64_t *significand, uint64_t rows, uint128 *sum);
};

/* Those compiled in, best first, the last always there; NULL-terminated. */
extern const struct simd_ops *const simd_all[];

/* Whether this machine can run ops. */
bool simd_runs(const struct simd_ops *ops);

/* Chooses for the process: the best that runs here, or the one named; NULL or "": the best.
 * Returns false where the name is unknown or does not run here. Before any thread starts. */
bool simd_choose(const char *name);

/* The column's decimal point. */
static inline char simd_decimal(const struct simd_hint *hint)
{
	return hint->decimal ? hint->decimal : '.';
}

/* The one chosen; the best that runs here if none was. */
const struct simd_ops *simd(void);

/* simd_ops.crc by zlib. */
uint32_t simd_crc(uint32_t crc, const unsigned char *data, size_t nbytes);

/* ---- text of few letters, packed into half a byte each ----
 *
 * The bus to a GPU is slower than the cores that read the text. Columns of numbers consist of ten
 * digits and a few signs, whose low halves of a byte all differ: text of these bytes alone is
 * packed to half its length. Other text is not packed: letters, quotes, blanks, exponents, CR (it
 * has the low half of -); and with a tab as delimiter, text with a 9.
 *
 * Packed byte k has the low half of text[2 k] in its low half, and that of text[2 k + 1] above it.
 */

/* The byte that each low half stands for. */
struct nibble_letters {
	unsigned char of[16];
};

/* Digits, LF, + , - . / and the delimiter, which may replace one of them. */
struct nibble_letters nibble_letters(char delimiter);

/* Bytes that packing nbytes of text writes, padding included. A multiple of 32. */
size_t nibbles_nbytes(size_t nbytes);

/* Packs text into out, of nibbles_nbytes(nbytes) bytes; needs no padding. Returns whether the text
 * consists of letters only; if not, out is undefined. */
bool nibbles_pack(const char *text, size_t nbytes, struct nibble_letters letters,
		  unsigned char *out);

/* Unpacks nbytes of text; writes no more than those. */
void nibbles_unpack(const unsigned char *packed, size_t nbytes, struct nibble_letters letters,
		    char *text);
