/* SPDX-License-Identifier: MIT
 *
 * deflate.c - see deflate.h. Blocks: RFC 1951, section 3.2.3.
 *
 * From top to bottom: input as bits; the code lengths in a block's header; the tables that they make; decoding with
 * these tables (deflate_codes.h, a template, compiled for each kind of text and instruction set); blocks; streams that
 * are fed piece by piece; the search for a place where a block may begin; and symbols to bytes.
 *
 * Between two codes a decoder is no more than a position, a place in a block and the tables. So the
 * input can be moved there, and so can the output.
 */
#include "codec/deflate.h"

#include <stdlib.h>
#include <string.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "simd/simd.h"

#define INLINE static inline __attribute__((always_inline))
#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)

/* ---- bits: the lowest of each byte first (section 3.1.1) ---- */

/* A register holds up to 63 bits. It is filled by eight bytes at once: those that do not fit whole
 * are loaded again next time, so that the bits above `nbits` are either 0 or right already. */
struct deflate_bits {
	const unsigned char *in;  /* the next byte that the register lacks */
	const unsigned char *end; /* of the input; bits behind it may be taken, but mean nothing */
	uint64_t hold;
	uint32_t nbits; /* of hold */
};

INLINE uint64_t load64(const unsigned char *p)
{
	return simd_load_word((const char *)p);
}

/* The lowest n % 64 bits of x. */
INLINE uint64_t low(uint64_t x, uint32_t n)
{
	return x & ((UINT64_C(1) << (n & 63)) - 1);
}

/* At least 56 bits are in the register then. Reads 8 bytes at b->in. */
INLINE void refill(struct deflate_bits *b)
{
	b->hold |= load64(b->in) << (b->nbits & 63);
	b->in += (63 - (b->nbits & 63)) >> 3;
	b->nbits |= 56;
}

INLINE void drop(struct deflate_bits *b, uint32_t n)
{
	b->hold >>= n & 63;
	b->nbits -= n;
}

/* Takes n bits, of those in the register. */
INLINE unsigned take(struct deflate_bits *b, uint32_t n)
{
	unsigned bits = (unsigned)low(b->hold, n);

	drop(b, n);
	return bits;
}

/* Whether bits behind the input's end have been taken. */
INLINE bool is_beyond(const struct deflate_bits *b)
{
	return b->in - (b->nbits >> 3) > b->end;
}

/* Goes to bit `bit` of in[0 .. in_nbytes), behind which 8 bytes are readable. */
INLINE struct deflate_bits bits_at(const unsigned char *in, size_t in_nbytes,
						   uint64_t bit)
{
	struct deflate_bits b = {in + (bit >> 3), in + in_nbytes, 0, 0};

	refill(&b);
	drop(&b, bit & 7);
	return b;
}

/* The next bit, counted from in. */
INLINE uint64_t bit_of(const struct deflate_bits *b, const unsigned char *in)
{
	return (uint64_t)(b->in - in) * 8 - (b->nbits & 63);
}

/* ---- the code lengths in a dynamic block's header (section 3.2.7) ---- */

#define NLITERALS_MAX 286 /* literals, the end of the block, lengths */
#define NDISTANCES_MAX 30
#define NORDER 19       /* the code of code lengths */
#define LENGTH_MAX 7    /* of its codes */
#define END_OF_BLOCK 256

struct code_lengths {
	unsigned nliterals, ndistances;
	/* Of both codes, one behind the other; a run of 138 may be written behind them. */
	uint8_t length[NLITERALS_MAX + NDISTANCES_MAX + 138];
};

/* An entry of its table: the code's length, and its symbol above. */
#define ENTRY(symbol, length) (uint8_t)((symbol) << 3 | (length))
#define ENTRY_LENGTH(entry) ((entry) & 7u)
#define ENTRY_SYMBOL(entry) ((entry) >> 3)

/* Adds 1 to a code of n bits whose highest bit is the lowest of the number. */
static unsigned next_code(unsigned code, unsigned n)
{
	unsigned bit = 1u << (n - 1);

	while (code & bit) {
		code ^= bit;
		bit >>= 1;
	}
	return code | bit;
}

/* False: the code is not complete. Without any code, zlib takes each bit for the length 0. */
static bool make_table(uint8_t table[1 << LENGTH_MAX], const uint8_t lengths[NORDER])
{
	unsigned code = 0, sum = 0;

	for (unsigned i = 0; i < NORDER; i++)
		sum += lengths[i] ? 1u << (LENGTH_MAX - lengths[i]) : 0;
	memset(table, ENTRY(0, 1), 1 << LENGTH_MAX);
	if (sum != 0 && sum != 1 << LENGTH_MAX)
		return false;
	for (unsigned n = 1; n <= LENGTH_MAX; n++)
		for (unsigned s = 0; s < NORDER; s++)
			if (lengths[s] == n) {
				for (unsigned i = code; i < 1 << LENGTH_MAX; i += 1u << n)
					table[i] = ENTRY(s, n);
				code = next_code(code, n);
			}
	return true;
}

static bool read_table(struct deflate_bits *b, uint8_t table[1 << LENGTH_MAX], unsigned n)
{
	static const uint8_t order[NORDER] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2,
					      14, 1, 15};
	uint8_t lengths[NORDER] = {0};

	for (unsigned i = 0; i < n; i++) {
		if (i == 12)
			refill(b);
		lengths[order[i]] = (uint8_t)take(b, 3);
	}
	return make_table(table, lengths);
}

/* Reads one length or run to length[at]; takes at most 14 bits. Returns the number of lengths; 0:
 * a repeat of none. */
static unsigned read_run(struct deflate_bits *b, const uint8_t *table, uint8_t *length, unsigned at)
{
	unsigned entry = table[b->hold & ((1 << LENGTH_MAX) - 1)], symbol = ENTRY_SYMBOL(entry);
	unsigned value = 0, n;

	drop(b, ENTRY_LENGTH(entry));
	if (symbol < 16) {
		length[at] = (uint8_t)symbol;
		return 1;
	}
	if (symbol == 16) {
		n = 3 + take(b, 2);
		if (at == 0)
			return 0;
		value = length[at - 1];
	} else {
		n = symbol == 17 ? 3 + take(b, 3) : 11 + take(b, 7);
	}
	memset(length + at, (int)value, n);
	return n;
}

/* False: a wrong repeat, or the input's end. */
static bool read_runs(struct deflate_bits *b, const uint8_t *table, struct code_lengths *lengths)
{
	unsigned n = lengths->nliterals + lengths->ndistances, at = 0;

	while (at < n && !is_beyond(b)) {
		refill(b);
		for (unsigned k = 0; k < 3 && at < n; k++) {
			unsigned more = read_run(b, table, lengths->length, at);
			if (more == 0)
				return false;
			at += more;
		}
	}
	return at == n;
}

/* NULL: read, as far as the input goes. */
static const char *read_lengths(struct deflate_bits *b, struct code_lengths *lengths)
{
	uint8_t table[1 << LENGTH_MAX];

	refill(b);
	lengths->nliterals = take(b, 5) + 257;
	lengths->ndistances = take(b, 5) + 1;
	unsigned n = take(b, 4) + 4;
	if (lengths->nliterals > NLITERALS_MAX || lengths->ndistances > NDISTANCES_MAX)
		return "too many length or distance symbols";
	if (!read_table(b, table, n))
		return "invalid code lengths set";
	if (!read_runs(b, table, lengths))
		return "invalid bit length repeat";
	if (lengths->length[END_OF_BLOCK] == 0)
		return "invalid code -- missing end-of-block";
	return NULL;
}

/* Reads a dynamic block's header behind its first 3 bits. Reads up to 24 bytes behind the input's
 * end. False: *words says what is wrong, as zlib does, or is NULL where the input ends within the
 * header. What it does not check: that both codes are complete. */
static bool read_header(struct deflate_bits *b, struct code_lengths *lengths,
			  const char **words)
{
	*words = read_lengths(b, lengths);
	/* What was made of bits behind the end means nothing. Before them all was right. */
	if (is_beyond(b)) {
		*words = NULL;
		return false;
	}
	return *words == NULL;
}

/* ---- tables ---- */

/* Canonical codes: section 3.2.2. Codes are taken shortest first, each number bit-reversed, as input has it. A table for
 * codes of up to n bits, repeated, is the table for codes of up to n + 1 bits but for those of n + 1 bits. So it grows by
 * being doubled.
 *
 * A table of n bits is indexed by the next n bits of input and has an entry for what begins there.
 * A longer code leads to a subtable, behind the table. For literals and lengths there are two
 * tables. `single` has one code an entry. `several` has what these bits hold at once: up to two
 * literals, and then a length. In a log most lengths follow one or two literals.
 *
 * An entry of `single` and `several`:
 *    0 ..  5  how many bits it takes, with the extra bits of a length
 *    8 .. 13  how many bits the codes alone take
 *   14 .. 15  the number of literals
 *   16 .. 28  single: the literal, the base of the length, or the place of the subtable;
 *             several: the base of the length, or 0
 *   30        it has no length
 *   31        exceptional: a subtable, or, with bit 30, the end of the block (base 1), or no code
 *   32 .. 63  several: the literals, as bytes or as symbols of 16 bits, the first one lowest
 *
 * An entry of `distance`:
 *    0 ..  5  how many bits it takes, with the extra bits
 *    8 .. 13  how many bits the code takes
 *   14        with bit 15: a subtable
 *   15        exceptional: a subtable, or no code
 *   16 .. 31  the base of the distance, or the place of the subtable
 */
#define NO_LENGTH (UINT32_C(1) << 30)
#define EXCEPTIONAL (UINT32_C(1) << 31)
#define END_ENTRY (EXCEPTIONAL | NO_LENGTH | UINT32_C(1) << 16)
#define DISTANCE_SUBTABLE (UINT32_C(1) << 14)
#define DISTANCE_EXCEPTIONAL (UINT32_C(1) << 15)

/* Whether the block is mostly literals: decoded with a branch for each, not for each match. */
static inline bool is_heavy(const struct deflate_tables *t)
{
	return t->bits == DEFLATE_HEAVY_BITS;
}

#define CODE_BITS_MAX 15
#define NFIXED_LITERALS 288
#define NFIXED_DISTANCES 32

#define LOW_LITERAL(entry) ((uint64_t)((entry) >> 16 & 0xff) << 32)
#define LENGTH_BASE UINT32_C(0x1ff0000)

/* What entries of literals and lengths have in their lowest 16 bits, besides. */
#define NBITS(entry) ((unsigned)(entry) & 63)
#define CODE_NBITS(entry) ((unsigned)(entry) >> 8 & 63)
#define NLITERALS(n) ((uint32_t)(n) << 14)

/* ---- symbols ---- */

/* An entry but for the code's length, which is added to its bits and to those of its code. */
static uint32_t literal_entry(unsigned symbol)
{
	static const uint16_t base[] = {3, 4, 5, 6, 7, 8, 9, 10, 11, 13, 15, 17, 19, 23, 27, 31, 35, 43,
					51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
	static const uint8_t extra[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4,
					4, 4, 4, 5, 5, 5, 5, 0};

	if (symbol < 256)
		return symbol << 16 | NO_LENGTH | NLITERALS(1);
	if (symbol == 256)
		return END_ENTRY;
	if (symbol < NLITERALS_MAX)
		return (uint32_t)base[symbol - 257] << 16 | extra[symbol - 257];
	return EXCEPTIONAL | NO_LENGTH;
}

/* The bases double every two symbols: 1 2 3 4, 5 7, 9 13, 17 25, ... */
static uint32_t distance_entry(unsigned symbol)
{
	unsigned extra = symbol < 4 ? 0 : symbol / 2 - 1;
	unsigned base = symbol < 4 ? symbol + 1 : ((2 + symbol % 2) << extra) + 1;

	return symbol < NDISTANCES_MAX ? (uint32_t)base << 16 | extra
					       : DISTANCE_EXCEPTIONAL;
}

static uint32_t with_code_bits(uint32_t entry, unsigned nbits)
{
	return entry + (nbits << 8 | nbits);
}

/* ---- codes ---- */

struct code {
	unsigned count[CODE_BITS_MAX + 1]; /* of codes by length */
	unsigned bits_max;                 /* 0: it has no symbol */
	bool complete;
	uint16_t symbols[NFIXED_LITERALS]; /* by length, then by number */
};

static void sort_symbols(struct code *c, const uint8_t *lengths, unsigned nsymbols)
{
	unsigned next[CODE_BITS_MAX + 2];

	next[0] = next[1] = 0;
	for (unsigned n = 1; n <= CODE_BITS_MAX; n++)
		next[n + 1] = next[n] + c->count[n];
	for (unsigned s = 0; s < nsymbols; s++)
		if (lengths[s])
			c->symbols[next[lengths[s]]++] = (uint16_t)s;
}

/* False: neither complete, nor a single code of one bit, nor none. */
static bool code_read(struct code *c, const uint8_t *lengths, unsigned nsymbols)
{
	int left = 1;

	memset(c->count, 0, sizeof c->count);
	for (unsigned s = 0; s < nsymbols; s++)
		c->count[lengths[s]]++;
	for (c->bits_max = CODE_BITS_MAX; c->bits_max && !c->count[c->bits_max];)
		c->bits_max--;
	for (unsigned n = 1; n <= CODE_BITS_MAX; n++) {
		left = 2 * left - (int)c->count[n];
		if (left < 0)
			return false;
	}
	c->complete = left == 0;
	sort_symbols(c, lengths, nsymbols);
	return c->complete || c->bits_max <= 1;
}

/* ---- one code an entry ---- */

/* How a table of one kind is made. */
struct kind {
	uint32_t (*entry)(unsigned symbol);
	uint32_t subtable; /* the flags of an entry that leads to one */
	uint32_t none;     /* the entry of what is no code */
};

static const struct kind literals = {
	literal_entry, EXCEPTIONAL, EXCEPTIONAL | NO_LENGTH};
static const struct kind distances = {
	distance_entry, DISTANCE_EXCEPTIONAL | DISTANCE_SUBTABLE,
	DISTANCE_EXCEPTIONAL};

/* Puts codes of up to `bits` bits into the table. Returns the next code, *symbols behind those. */
static unsigned fill_table(uint32_t *table, unsigned bits, const struct code *c,
			   const struct kind *kind, const uint16_t **symbols)
{
	unsigned code = 0;

	for (unsigned n = 1; n <= bits; n++) {
		size_t half = (size_t)1 << (n - 1);
		memcpy(table + half, table, half * sizeof *table);
		for (unsigned k = c->count[n]; k; k--) {
			table[code] = with_code_bits(kind->entry(*(*symbols)++), n);
			code = next_code(code, n);
		}
	}
	return code;
}

/* Puts the longer codes into subtables of subtable_bits. */
static void fill_subtables(uint32_t *table, unsigned bits, unsigned subtable_bits, unsigned code,
			   const struct code *c, const struct kind *kind, const uint16_t *symbols)
{
	unsigned prefix = 1u << bits, place = 0, next = 1u << bits;

	for (unsigned n = bits + 1; n <= c->bits_max; n++)
		for (unsigned k = c->count[n]; k; k--) {
			uint32_t entry = with_code_bits(kind->entry(*symbols++), n);
			if ((code & ((1u << bits) - 1)) != prefix) {
				prefix = code & ((1u << bits) - 1);
				place = next;
				next += 1u << subtable_bits;
				table[prefix] = kind->subtable | place << 16;
			}
			for (unsigned i = code >> bits; i < 1u << subtable_bits; i += 1u << (n - bits))
				table[place + i] = entry;
			code = next_code(code, n);
		}
}

/* Returns the bits of subtables. */
static uint8_t fill(uint32_t *table, unsigned bits, const struct code *c, const struct kind *kind)
{
	const uint16_t *symbols = c->symbols;
	unsigned subtable_bits = c->bits_max > bits ? c->bits_max - bits : 0;

	table[0] = kind->none;
	if (!c->complete) {
		uint32_t none = with_code_bits(kind->none, 1);
		uint32_t one = c->bits_max ? with_code_bits(kind->entry(c->symbols[0]), 1) : none;
		/* at most one code, of one bit: the bit 0 */
		for (unsigned i = 0; i < 1u << bits; i++)
			table[i] = i & 1 ? none : one;
		return 0;
	}
	unsigned code = fill_table(table, bits, c, kind, &symbols);
	fill_subtables(table, bits, subtable_bits, code, c, kind, symbols);
	return (uint8_t)subtable_bits;
}

/* ---- several codes an entry ---- */

/* Whether the entry is a length whose code fits in nbits. */
static bool is_length(uint32_t entry, unsigned nbits)
{
	return !(entry & (EXCEPTIONAL | NO_LENGTH)) && CODE_NBITS(entry) <= nbits;
}

static bool is_literal(uint32_t entry, unsigned nbits)
{
	return entry & NLITERALS(3) && CODE_NBITS(entry) <= nbits;
}

/* The entry of nliterals, which take nbits, and of a length behind them. */
static uint64_t literals_and(uint64_t text, unsigned nliterals, unsigned nbits, uint32_t length)
{
	return text | NLITERALS(nliterals) |
	       ((length & (LENGTH_BASE | 0x3fff)) + (nbits << 8 | nbits));
}

/* The entry of a literal and of what follows it in these bits. */
static uint64_t combine(const uint32_t *single, unsigned i, unsigned bits, unsigned symbol_bits)
{
	uint32_t first = single[i], second, third;
	unsigned nbits = NBITS(first);
	uint64_t text = LOW_LITERAL(first);

	second = single[i >> nbits];
	if (is_length(second, bits - nbits))
		return literals_and(text, 1, nbits, second);
	if (!is_literal(second, bits - nbits))
		return literals_and(text, 1, nbits, 0) | NO_LENGTH;
	nbits += NBITS(second);
	text |= LOW_LITERAL(second) << symbol_bits;
	third = single[i >> nbits];
	if (is_length(third, bits - nbits))
		return literals_and(text, 2, nbits, third);
	return literals_and(text, 2, nbits, 0) | NO_LENGTH;
}

void widen_tables(struct deflate_tables *t, unsigned symbol_bits)
{
	if (t->symbol_bits == symbol_bits)
		return;
	for (unsigned i = 0; i < 1u << t->bits; i++) {
		uint64_t entry = t->several[i], second = entry >> (32 + t->symbol_bits) & 0xff;
		t->several[i] = (entry & UINT64_C(0xffffffffff)) | second << (32 + symbol_bits);
	}
	t->symbol_bits = (uint8_t)symbol_bits;
}

/* ---- blocks ---- */

/* Whether literals take more than 3 of 4 codes, by the frequencies that the lengths of a dynamic block stand for. */
static bool is_mostly_literals(const struct code_lengths *lengths)
{
	unsigned share = 0;

	for (unsigned s = 0; s < 256; s++)
		share += lengths->length[s] ? 1u << (CODE_BITS_MAX - lengths->length[s]) : 0;
	return share > 3u << (CODE_BITS_MAX - 2) && lengths->nliterals <= NLITERALS_MAX;
}

const char *make_tables(struct deflate_tables *t, const struct code_lengths *lengths,
				unsigned symbol_bits)
{
	struct code c;

	t->fixed = false;
	if (!code_read(&c, lengths->length, lengths->nliterals))
		return "invalid literal/lengths set";
	t->bits = is_mostly_literals(lengths) ? DEFLATE_HEAVY_BITS : DEFLATE_BITS;
	t->subtable_bits = fill(t->single, t->bits, &c, &literals);
	if (!code_read(&c, lengths->length + lengths->nliterals, lengths->ndistances))
		return "invalid distances set";
	t->distance_subtable_bits = fill(t->distance, DEFLATE_DISTANCE_BITS, &c, &distances);
	t->symbol_bits = (uint8_t)symbol_bits;
	for (unsigned i = 0; i < 1u << t->bits; i++) {
		uint32_t entry = t->single[i];
		t->several[i] = entry & NLITERALS(3) ? combine(t->single, i, t->bits, symbol_bits) : entry;
	}
	return NULL;
}

void make_fixed_tables(struct deflate_tables *t, unsigned symbol_bits)
{
	struct code_lengths fixed = {NFIXED_LITERALS, NFIXED_DISTANCES, {0}};
	uint8_t *lengths = fixed.length;

	if (t->fixed) {
		widen_tables(t, symbol_bits);
		return;
	}
	memset(lengths, 8, 144);
	memset(lengths + 144, 9, 256 - 144);
	memset(lengths + 256, 7, 280 - 256);
	memset(lengths + 280, 8, NFIXED_LITERALS - 280);
	memset(lengths + NFIXED_LITERALS, 5, NFIXED_DISTANCES);
	make_tables(t, &fixed, symbol_bits);
	t->fixed = true;
}

/* ---- blocks ---- */

void deflate_begin(struct deflate *d, const unsigned char *in, size_t in_nbytes, uint64_t bit)
{
	deflate_continue(d, in, in_nbytes, bit);
	d->place = DEFLATE_AT_HEADER;
	d->last = false;
	d->stored_nbytes = 0;
	d->words = NULL;
	d->tables.fixed = false;
	d->tables.bits = 0;
	d->tables.symbol_bits = 8;
}

void deflate_continue(struct deflate *d, const unsigned char *in, size_t in_nbytes, uint64_t bit)
{
	d->in = in;
	d->in_nbytes = in_nbytes;
	d->bit = bit;
}

static enum deflate_result damaged(struct deflate *d, const char *words)
{
	d->place = DEFLATE_AT_DAMAGE;
	d->words = words;
	return DEFLATE_DAMAGED;
}

static enum deflate_result end_block(struct deflate *d)
{
	d->place = d->last ? DEFLATE_AT_END : DEFLATE_AT_HEADER;
	return DEFLATE_GOES_ON;
}

/* Begins a stored block behind the first 3 bits of its header. NULL: begun, as far as the
 * input goes. Otherwise what is wrong. */
static const char *begin_stored(struct deflate *d, struct deflate_bits *b)
{
	drop(b, b->nbits & 7);
	refill(b);
	unsigned nbytes = take(b, 16), complement = take(b, 16);
	d->stored_nbytes = nbytes;
	return nbytes == (complement ^ 0xffff) ? NULL : "invalid stored block lengths";
}

static enum deflate_result begin_block(struct deflate *d, unsigned literal_bits)
{
	enum { TYPE_STORED, TYPE_FIXED, TYPE_DYNAMIC };
	struct deflate_bits b = bits_at(d->in, d->in_nbytes, d->bit);
	struct code_lengths lengths;
	const char *words = NULL;

	d->last = take(&b, 1);
	unsigned type = take(&b, 2);
	if (type == TYPE_STORED)
		words = begin_stored(d, &b);
	else if (type == TYPE_FIXED)
		make_fixed_tables(&d->tables, literal_bits);
	else if (type != TYPE_DYNAMIC)
		words = "invalid block type";
	else if (read_header(&b, &lengths, &words))
		words = make_tables(&d->tables, &lengths, literal_bits);
	if (is_beyond(&b))
		return DEFLATE_STARVES;
	if (words)
		return damaged(d, words);
	d->bit = bit_of(&b, d->in);
	d->place = type == TYPE_STORED ? DEFLATE_IN_STORED : DEFLATE_IN_CODES;
	return type == TYPE_STORED && d->stored_nbytes == 0 ? end_block(d) : DEFLATE_GOES_ON;
}

/* ---- codes ---- */

/* How a step of many codes ends. */
enum step {
	STEP_GOES_ON,
	STEP_IS_ODD, /* a long code, the end, or no code is next */
	STEP_HAS_NO_DISTANCE,
	STEP_IS_TOO_FAR,
};

/* Where the text goes. */
struct byte_room {
	unsigned char *out, *limit;
	const unsigned char *floor;
};

struct symbol_room {
	uint16_t *out, *limit;
	const uint16_t *floor;
};

/* For any machine. The selection is compiled to a conditional move where the compiler sees fit. */
#define LOW low
#define SELECT(x, bit, yes, no) ((x) & (bit) ? (yes) : (no))
#define SYMBOL unsigned char
#define ROOM struct byte_room
#define NAME(x) bytes_##x
#include "codec/deflate_codes.h"
#define SYMBOL uint16_t
#define ROOM struct symbol_room
#define NAME(x) symbols_##x
#include "codec/deflate_codes.h"

#if defined(__x86_64__)
/* With BMI2, which shifts and masks by any register without flags, and AVX2, which copies 16 symbols at once. */
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2")
#endif
#undef LOW
#define LOW _bzhi_u64
#define SYMBOL unsigned char
#define ROOM struct byte_room
#define NAME(x) bmi2_bytes_##x
#include "codec/deflate_codes.h"

/* Of a conditional expression compilers make a branch. Bytes are decoded 6 % faster with that, symbols
 * 4 % slower (gcc 12, AMD EPYC, 2026-11-22). */
INLINE uint32_t select_if(uint32_t x, uint32_t bit, uint32_t yes, uint32_t no)
{
	__asm__("test %2, %1\n\tcmovnz %3, %0" : "+r"(no) : "r"(x), "i"(bit), "rm"(yes) : "cc");
	return no;
}
#undef SELECT
#define SELECT select_if
#define SYMBOL uint16_t
#define ROOM struct symbol_room
#define NAME(x) bmi2_symbols_##x
#include "codec/deflate_codes.h"
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
/* simd.c has checked BMI2 for these. */
#define RUN(kind) (strncmp(simd()->name, "avx", 3) == 0 ? bmi2_##kind##_run : kind##_run)
#else
#define RUN(kind) kind##_run
#endif

enum deflate_result deflate_bytes(struct deflate *d, unsigned char **out, unsigned char *limit,
				  const unsigned char *floor, uint64_t stop_bit)
{
	struct byte_room room = {*out, limit, floor};
	enum deflate_result result = RUN(bytes)(d, &room, stop_bit);

	*out = room.out;
	return result;
}

enum deflate_result deflate_symbols(struct deflate *d, uint16_t **out, uint16_t *limit,
				    const uint16_t *floor, uint64_t stop_bit)
{
	struct symbol_room room = {*out, limit, floor};
	enum deflate_result result = RUN(symbols)(d, &room, stop_bit);

	*out = room.out;
	return result;
}

/* ---- streams ---- */

/* The output of a stream may lie elsewhere in each call. So a stream is decoded behind a window of
 * its own, a piece at a time, and copied from there, which takes a twentieth of the time. */

#define TEXT_NBYTES (128 * 1024) /* of a piece; window and piece stay in L2 */

struct inflate {
	struct deflate deflate;
	enum deflate_result result; /* of the decoding of text */
	size_t begin, end;          /* text[begin .. end) is to be copied; all before is window */
	unsigned char text[DEFLATE_WINDOW_NBYTES + TEXT_NBYTES + DEFLATE_SLACK];
};

struct inflate *inflate_open(void)
{
	struct inflate *s = malloc(sizeof *s);

	if (s)
		inflate_begin(s, 0, NULL, 0);
	return s;
}

void inflate_begin(struct inflate *s, unsigned bit, const unsigned char *window, size_t window_nbytes)
{
	deflate_begin(&s->deflate, NULL, 0, bit);
	s->result = DEFLATE_STARVES;
	if (window_nbytes)
		memcpy(s->text, window, window_nbytes);
	s->begin = s->end = window_nbytes;
}

/* Decodes more text, and moves span->in behind the bytes of which no bit is left. */
static void decode_piece(struct inflate *s, struct inflate_span *span)
{
	unsigned char *out, *limit = s->text + DEFLATE_WINDOW_NBYTES + TEXT_NBYTES;
	size_t used;

	if (s->end >= DEFLATE_WINDOW_NBYTES + TEXT_NBYTES / 2) { /* all of the text has been copied: make room */
		memmove(s->text, s->text + s->end - DEFLATE_WINDOW_NBYTES, DEFLATE_WINDOW_NBYTES);
		s->begin = s->end = DEFLATE_WINDOW_NBYTES;
	}
	out = s->text + s->end;
	if (span->out_nbytes < (size_t)(limit - out))
		limit = out + span->out_nbytes; /* at most a match is left to be copied */
	deflate_continue(&s->deflate, span->in, span->in_nbytes, deflate_bit(&s->deflate) & 7);
	s->result = deflate_bytes(&s->deflate, &out, limit, s->text, UINT64_MAX);
	s->end = (size_t)(out - s->text);
	used = (size_t)(deflate_bit(&s->deflate) >> 3);
	if (s->result == DEFLATE_ENDED && deflate_bit(&s->deflate) & 7) {
		used++; /* the bits that are left fill the byte: what goes on from here is behind it */
		deflate_continue(&s->deflate, NULL, 0, 0);
	}
	span->in += used;
	span->in_nbytes -= used;
}

static void copy_out(struct inflate *s, struct inflate_span *span)
{
	size_t n = s->end - s->begin;

	if (n > span->out_nbytes)
		n = span->out_nbytes;
	memcpy(span->out, s->text + s->begin, n);
	s->begin += n;
	span->out += n;
	span->out_nbytes -= n;
}

enum deflate_result inflate_run(struct inflate *s, struct inflate_span *span)
{
	copy_out(s, span);
	while (s->begin == s->end && s->result != DEFLATE_ENDED && s->result != DEFLATE_DAMAGED && span->out_nbytes) {
		decode_piece(s, span);
		copy_out(s, span);
		if (s->result == DEFLATE_STARVES)
			break;
	}
	if (s->begin < s->end || (s->result != DEFLATE_ENDED && s->result != DEFLATE_DAMAGED))
		return DEFLATE_GOES_ON;
	span->words = s->deflate.words;
	return s->result;
}

void inflate_trunk(const struct inflate *s, struct deflate_trunk *trunk)
{
	size_t n = s->end < DEFLATE_WINDOW_NBYTES ? s->end : DEFLATE_WINDOW_NBYTES;

	trunk->deflate = s->deflate;
	trunk->nunread = s->end - s->begin;
	memcpy(trunk->window + DEFLATE_WINDOW_NBYTES - n, s->text + s->end - n, n);
}

bool deflate_whole(struct deflate *d, const unsigned char *in, size_t in_nbytes, unsigned char *out, size_t out_nbytes)
{
	unsigned char *at = out, *end = out + out_nbytes;

	deflate_begin(d, in, in_nbytes, 0);
	/* A byte more, so that the end of the last block is decoded, too. */
	return deflate_bytes(d, &at, end + 1, out, UINT64_MAX) == DEFLATE_ENDED && at == end &&
	       (deflate_bit(d) + 7) >> 3 == in_nbytes;
}

/* ---- where a block may begin ---- */

/* A search for the header of a dynamic block (section 3.2.7).
 *
 *     bits 0, 1-2      0: not the last; 2: dynamic
 *     bits 3-7, 8-12   the number of lengths in the literals' code less 257, of distances less 1:
 *                      both below 30
 *     bits 13-16       the number of code lengths less 4: 8 or more, if 12 are asked for
 *     bits 17-...      the code lengths, 3 bits each, 0 for a code that is not used
 *
 * Three filters, each for what the one before has left:
 *   1. bits 0 to 16 in all places of 56 bits at once, by shifted copies of the input: one random
 *      bit in 18 is left;
 *   2. Kraft's sum. A code is complete if its 2^-length sum up to 1. For lengths of up to 7 bits
 *      that is 128 in units of 2^-7; five lookups of four lengths each give it: one bit in 10^4 is left;
 *   3. the header is read to its end, and both codes are summed up.
 *
 * The first filter writes down its places for 392 bits at once, without a branch on how many there
 * are, and the second runs through that list: it is the branches guessed wrong that would cost.
 *
 * 0.42 ns a bit, of noise and of gzipped logs, on one core of an AMD EPYC, its other thread busy;
 * 0.40 if compiled for BMI2, so there is no such variant (2026-11-22).
 */
#define WHOLE 32768u /* Kraft's sum of a complete code with lengths of up to 15 bits */

/* Places in a header. */
#define AT_COUNT 13
#define AT_LENGTHS 17

/* At least the next 57 bits. Reads 8 bytes. */
static uint64_t peek(const unsigned char *in, uint64_t bit)
{
	return load64(in + (bit >> 3)) >> (bit & 7);
}

/* ---- the third filter: the whole header ---- */

static unsigned kraft_sum(const uint8_t *length, unsigned n)
{
	unsigned sum = 0;

	for (unsigned i = 0; i < n; i++)
		sum += length[i] ? WHOLE >> length[i] : 0;
	return sum;
}

/* Whether what follows is a header with complete codes; of distances there may be one or none. */
static bool header_is_valid(const unsigned char *in, size_t nbytes, uint64_t bit)
{
	struct deflate_bits b = bits_at(in, nbytes, bit + 3);
	struct code_lengths lengths;
	const uint8_t *distances;
	unsigned sum, nused = 0;
	const char *words;

	if (!read_header(&b, &lengths, &words) ||
	    kraft_sum(lengths.length, lengths.nliterals) != WHOLE)
		return false;
	distances = lengths.length + lengths.nliterals;
	sum = kraft_sum(distances, lengths.ndistances);
	for (unsigned i = 0; i < lengths.ndistances; i++)
		nused += distances[i] != 0;
	return sum == WHOLE || nused == 0 || (nused == 1 && sum == WHOLE / 2);
}

/* ---- the first filter: bits 0 to 16, in many places at once ---- */

#define STRIDE_NBYTES 7
#define STRIDE_NBITS (8 * STRIDE_NBYTES)
/* How many strides' places are written down at once. From the input's last byte on, what is read of
 * them and behind a place in them ends within the 64 bytes that are readable. */
#define NSTRIDES 7
#define NPLACES_AT_ONCE 4

/* In bit i < 56 whether a header may begin at bit i of *in. Reads 10 bytes. */
static uint64_t places(const unsigned char *in)
{
	uint64_t type = load64(in), distances = load64(in + 1), count = load64(in + 2);
	uint64_t begins = ~type & ~(type >> 1) & (type >> 2) & count;
	uint64_t literals_30 = type >> 4 & type >> 5 & type >> 6 & type >> 7;
	uint64_t distances_30 = distances >> 1 & distances >> 2 & distances >> 3 & distances >> 4;

	return begins & ~literals_30 & ~distances_30 & ((UINT64_C(1) << STRIDE_NBITS) - 1);
}

/* Places, as bits from the first stride's beginning. No two are neighbours: bit 1 is 0, bit 2
 * is 1. */
struct list {
	unsigned n;
	uint16_t at[NSTRIDES * STRIDE_NBITS / 2 + NPLACES_AT_ONCE];
};

static void list_add(struct list *list, uint64_t found, unsigned first)
{
	const uint64_t top = UINT64_C(1) << 63; /* for a count of zeros that is defined */
	uint16_t *at = list->at + list->n;
	unsigned n = 0;

	do {
		for (unsigned k = 0; k < NPLACES_AT_ONCE; k++) {
			at[n] = (uint16_t)(first + (unsigned)__builtin_ctzll(found | top));
			n += found != 0;
			found &= found - 1;
		}
	} while (__builtin_expect(found != 0, 0));
	list->n += n;
}

/* ---- the second filter: Kraft's sum of the code lengths ---- */

/* kraft[i]: the sum of the four lengths that are the digits of i in base 8; 255 stands for 256. */
#define AT_MOST(sum) ((sum) - (sum) / 256)
#define ROW(x) AT_MOST(x), AT_MOST(x + 64), AT_MOST(x + 32), AT_MOST(x + 16), AT_MOST(x + 8), \
		AT_MOST(x + 4), AT_MOST(x + 2), AT_MOST(x + 1)
#define ROWS(x) ROW(x), ROW(x + 64), ROW(x + 32), ROW(x + 16), ROW(x + 8), ROW(x + 4), ROW(x + 2), \
		ROW(x + 1)
#define SQUARE(x) ROWS(x), ROWS(x + 64), ROWS(x + 32), ROWS(x + 16), ROWS(x + 8), ROWS(x + 4), \
		ROWS(x + 2), ROWS(x + 1)
static const uint8_t kraft[4096] = {SQUARE(0), SQUARE(64), SQUARE(32), SQUARE(16), SQUARE(8),
				    SQUARE(4), SQUARE(2), SQUARE(1)};

/* Whether the code of code lengths is complete. Reads up to 11 bytes at the header. */
static bool code_is_complete(const unsigned char *in, uint64_t bit)
{
	unsigned n = ((unsigned)peek(in, bit + AT_COUNT) & 15) + 4;
	uint64_t x = peek(in, bit + AT_LENGTHS) & ((UINT64_C(1) << 3 * n) - 1);

	return kraft[x & 4095] + kraft[x >> 12 & 4095] + kraft[x >> 24 & 4095] +
		       kraft[x >> 36 & 4095] + kraft[x >> 48] == 128;
}

/* ---- the search ---- */

uint64_t deflate_find(const unsigned char *in, size_t nbytes, uint64_t from, uint64_t to)
{
	uint64_t asked = ~UINT64_C(0) << (from & 7); /* of the first stride */
	struct list list;

	if (to > (uint64_t)nbytes * 8)
		to = (uint64_t)nbytes * 8;
	for (size_t byte = (size_t)(from >> 3); (uint64_t)byte * 8 < to;
	     byte += NSTRIDES * STRIDE_NBYTES) {
		list.n = 0;
		for (unsigned k = 0; k < NSTRIDES; k++, asked = ~UINT64_C(0))
			list_add(&list, places(in + byte + (size_t)k * STRIDE_NBYTES) & asked, k * STRIDE_NBITS);
		for (unsigned i = 0; i < list.n; i++) {
			uint64_t bit = (uint64_t)byte * 8 + list.at[i];
			if (bit < to && code_is_complete(in, bit) && header_is_valid(in, nbytes, bit))
				return bit;
		}
	}
	return UINT64_MAX;
}

/* ---- symbols to bytes ---- */

/* A table of all symbols needs no branch: bytes stand for themselves in its beginning, and its
 * upper half is the window. */

#define NFEW_SYMBOLS 4096 /* to make a table would take longer than to do without */

void deflate_resolve(unsigned char *to, const uint16_t *symbols, size_t n,
		     const unsigned char *window)
{
	unsigned char table[DEFLATE_MARKER + DEFLATE_WINDOW_NBYTES + 4]; /* a gather loads 4 bytes */

	if (n < NFEW_SYMBOLS) {
		for (size_t i = 0; i < n; i++)
			to[i] = symbols[i] & DEFLATE_MARKER ? window[symbols[i] & (DEFLATE_WINDOW_NBYTES - 1)]
							    : (unsigned char)symbols[i];
		return;
	}
	for (unsigned i = 0; i < 256; i++)
		table[i] = (unsigned char)i;
	memcpy(table + DEFLATE_MARKER, window, DEFLATE_WINDOW_NBYTES);
	simd()->resolve(to, symbols, n, table);
}
