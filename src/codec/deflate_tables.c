/* SPDX-License-Identifier: MIT
 *
 * deflate_tables.c - see deflate_tables.h. Canonical codes: RFC 1951, section 3.2.2.
 *
 * Codes are taken shortest first, each number bit-reversed, as input has it. A table for codes of
 * up to n bits, repeated, is the table for codes of up to n + 1 bits but for those of n + 1 bits.
 * So it grows by being doubled.
 */
#include "codec/deflate_tables.h"

#include <string.h>

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
		return symbol << 16 | DEFLATE_NO_LENGTH | NLITERALS(1);
	if (symbol == 256)
		return DEFLATE_END_OF_BLOCK;
	if (symbol < DEFLATE_NLITERALS_MAX)
		return (uint32_t)base[symbol - 257] << 16 | extra[symbol - 257];
	return DEFLATE_EXCEPTIONAL | DEFLATE_NO_LENGTH;
}

/* The bases double every two symbols: 1 2 3 4, 5 7, 9 13, 17 25, ... */
static uint32_t distance_entry(unsigned symbol)
{
	unsigned extra = symbol < 4 ? 0 : symbol / 2 - 1;
	unsigned base = symbol < 4 ? symbol + 1 : ((2 + symbol % 2) << extra) + 1;

	return symbol < DEFLATE_NDISTANCES_MAX ? (uint32_t)base << 16 | extra
					       : DEFLATE_DISTANCE_EXCEPTIONAL;
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

/* Like next_code of deflate_header.c. */
static unsigned next_code(unsigned code, unsigned nbits)
{
	unsigned bit = 1u << (nbits - 1);

	while (code & bit) {
		code ^= bit;
		bit >>= 1;
	}
	return code | bit;
}

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
	literal_entry, DEFLATE_EXCEPTIONAL, DEFLATE_EXCEPTIONAL | DEFLATE_NO_LENGTH};
static const struct kind distances = {
	distance_entry, DEFLATE_DISTANCE_EXCEPTIONAL | DEFLATE_DISTANCE_SUBTABLE,
	DEFLATE_DISTANCE_EXCEPTIONAL};

/* At most one code, of one bit: the bit 0. */
static void fill_incomplete(uint32_t *table, unsigned bits, const struct code *c,
			    const struct kind *kind)
{
	uint32_t none = with_code_bits(kind->none, 1);
	uint32_t one = c->bits_max ? with_code_bits(kind->entry(c->symbols[0]), 1) : none;

	for (unsigned i = 0; i < 1u << bits; i++)
		table[i] = i & 1 ? none : one;
}

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
		fill_incomplete(table, bits, c, kind);
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
	return !(entry & (DEFLATE_EXCEPTIONAL | DEFLATE_NO_LENGTH)) && CODE_NBITS(entry) <= nbits;
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
		return literals_and(text, 1, nbits, 0) | DEFLATE_NO_LENGTH;
	nbits += NBITS(second);
	text |= LOW_LITERAL(second) << symbol_bits;
	third = single[i >> nbits];
	if (is_length(third, bits - nbits))
		return literals_and(text, 2, nbits, third);
	return literals_and(text, 2, nbits, 0) | DEFLATE_NO_LENGTH;
}

static void fill_several(struct deflate_tables *t, unsigned symbol_bits)
{
	t->symbol_bits = (uint8_t)symbol_bits;
	for (unsigned i = 0; i < 1u << t->bits; i++) {
		uint32_t entry = t->single[i];
		t->several[i] = entry & NLITERALS(3) ? combine(t->single, i, t->bits, symbol_bits) : entry;
	}
}

void deflate_tables_widen(struct deflate_tables *t, unsigned symbol_bits)
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

/* Whether literals take more than 3 of 4 codes, by the frequencies that the lengths stand for. */
static bool is_mostly_literals(const uint8_t *lengths)
{
	unsigned share = 0;

	for (unsigned s = 0; s < 256; s++)
		share += lengths[s] ? 1u << (CODE_BITS_MAX - lengths[s]) : 0;
	return share > 3u << (CODE_BITS_MAX - 2);
}

const char *deflate_tables_make(struct deflate_tables *t, const struct deflate_lengths *lengths,
				unsigned symbol_bits)
{
	struct code c;

	t->fixed = false;
	if (!code_read(&c, lengths->length, lengths->nliterals))
		return "invalid literal/lengths set";
	t->bits = is_mostly_literals(lengths->length) ? DEFLATE_HEAVY_BITS : DEFLATE_BITS;
	t->subtable_bits = fill(t->single, t->bits, &c, &literals);
	if (!code_read(&c, lengths->length + lengths->nliterals, lengths->ndistances))
		return "invalid distances set";
	t->distance_subtable_bits = fill(t->distance, DEFLATE_DISTANCE_BITS, &c, &distances);
	fill_several(t, symbol_bits);
	return NULL;
}

void deflate_tables_fixed(struct deflate_tables *t, unsigned symbol_bits)
{
	uint8_t lengths[NFIXED_LITERALS], five[NFIXED_DISTANCES];
	struct code c;

	if (t->fixed) {
		deflate_tables_widen(t, symbol_bits);
		return;
	}
	memset(lengths, 8, 144);
	memset(lengths + 144, 9, 256 - 144);
	memset(lengths + 256, 7, 280 - 256);
	memset(lengths + 280, 8, NFIXED_LITERALS - 280);
	memset(five, 5, sizeof five);
	code_read(&c, lengths, NFIXED_LITERALS);
	t->bits = DEFLATE_BITS;
	t->subtable_bits = fill(t->single, t->bits, &c, &literals);
	code_read(&c, five, NFIXED_DISTANCES);
	t->distance_subtable_bits = fill(t->distance, DEFLATE_DISTANCE_BITS, &c, &distances);
	fill_several(t, symbol_bits);
	t->fixed = true;
}
