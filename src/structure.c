/* SPDX-License-Identifier: MIT
 *
 * structure.c - the portable structural scan: eight bytes a step, in a plain register.
 *
 * A word XORed with eight copies of a byte has a zero where the byte was. Zero bytes are
 * found exactly by adding 0x7f to the low seven bits of each: the high bit stays clear
 * only for zero. Multiplying gathers the eight high bits into one byte.
 * (H. S. Warren, Hacker's Delight, 2nd ed., sections 6-1 and 7-4.)
 */
#include "structure.h"

#include <stdbool.h>
#include <string.h>

#define EACH_BYTE UINT64_C(0x0101010101010101)
#define LOW_BITS UINT64_C(0x7f7f7f7f7f7f7f7f)
#define GATHER UINT64_C(0x0002040810204081)

static uint64_t load_word(const char *text)
{
	uint64_t word;

	memcpy(&word, text, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

/* The high bit of every byte of word that equals the byte repeated in pattern. */
static uint64_t match(uint64_t word, uint64_t pattern)
{
	uint64_t x = word ^ pattern;

	return ~(((x & LOW_BITS) + LOW_BITS) | x | LOW_BITS);
}

/* The eight high bits of a match as eight adjacent bits. */
static uint64_t gather(uint64_t matches)
{
	return (matches >> 7) * GATHER >> 49 & 0xff;
}

struct structure structure_scan(const char *text, size_t nbytes, char delimiter)
{
	struct structure s = {0, 0, 0};
	char padded[STRUCTURE_NBYTES];
	uint64_t valid = nbytes < 64 ? (UINT64_C(1) << nbytes) - 1 : ~UINT64_C(0);

	if (nbytes < STRUCTURE_NBYTES) {
		memset(padded, 0, sizeof padded);
		text = memcpy(padded, text, nbytes);
	}
	for (unsigned i = 0; i < STRUCTURE_NBYTES; i += 8) {
		uint64_t word = load_word(text + i);
		s.delimiter |= gather(match(word, EACH_BYTE * (unsigned char)delimiter)) << i;
		s.newline |= gather(match(word, EACH_BYTE * '\n')) << i;
		s.quote |= gather(match(word, EACH_BYTE * '"')) << i;
	}
	s.delimiter &= valid;
	s.newline &= valid;
	s.quote &= valid;
	return s;
}

uint64_t structure_count_lines(const char *text, size_t nbytes)
{
	uint64_t nlines = 0;
	size_t i = 0;

	for (; nbytes - i >= 8; i += 8)
		nlines += (match(load_word(text + i), EACH_BYTE * '\n') >> 7) * EACH_BYTE >> 56;
	for (; i < nbytes; i++)
		nlines += text[i] == '\n';
	return nlines;
}

static bool is_separator(char c, char delimiter)
{
	return c == delimiter || c == '\n';
}

/* The state after text[begin .. nbytes), entered in CSV_UNQUOTED or CSV_QUOTED, by
 * jumping from quote to quote: between two quotes only the byte before the second one
 * matters. */
static enum csv_state run(const char *text, size_t begin, size_t nbytes, char delimiter,
			  enum csv_state state)
{
	size_t i = begin;
	const char *quote;

	while (i < nbytes && (quote = memchr(text + i, '"', nbytes - i))) {
		size_t at = (size_t)(quote - text);
		i = at + 1;
		if (state == CSV_UNQUOTED) {
			if (at > begin && is_separator(text[at - 1], delimiter))
				state = CSV_QUOTED;
		} else if (i == nbytes) {
			return CSV_QUOTE_SEEN;
		} else if (text[i] == '"') {
			i++; /* a doubled quote: still inside */
		} else {
			state = CSV_UNQUOTED;
		}
	}
	if (state == CSV_UNQUOTED && nbytes > begin && is_separator(text[nbytes - 1], delimiter))
		return CSV_FIELD_START;
	return state;
}

/* Two runs tell all: after a first byte that is no quote, the three states outside
 * quotes have become one; after a quote, CSV_FIELD_START and CSV_QUOTE_SEEN are inside. */
csv_map structure_map(const char *text, size_t nbytes, char delimiter)
{
	enum csv_state unquoted, quoted, others;

	if (nbytes == 0)
		return CSV_MAP_IDENTITY;
	unquoted = others = run(text, 0, nbytes, delimiter, CSV_UNQUOTED);
	quoted = run(text, 0, nbytes, delimiter, CSV_QUOTED);
	if (text[0] == '"')
		others = run(text, 1, nbytes, delimiter, CSV_QUOTED);
	return CSV_MAP(others, unquoted, quoted, others);
}
