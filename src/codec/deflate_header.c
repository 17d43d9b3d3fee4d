/* SPDX-License-Identifier: MIT
 *
 * deflate_header.c - see deflate_header.h.
 */
#include "codec/deflate_header.h"

#define NORDER 19       /* the code of code lengths */
#define LENGTH_MAX 7    /* of its codes */
#define END_OF_BLOCK 256

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
			deflate_refill(b);
		lengths[order[i]] = (uint8_t)deflate_take(b, 3);
	}
	return make_table(table, lengths);
}

/* Reads one length or run to length[at]; takes at most 14 bits. Returns the number of lengths; 0:
 * a repeat of none. */
static unsigned read_run(struct deflate_bits *b, const uint8_t *table, uint8_t *length, unsigned at)
{
	unsigned entry = table[b->hold & ((1 << LENGTH_MAX) - 1)], symbol = ENTRY_SYMBOL(entry);
	unsigned value = 0, n;

	deflate_drop(b, ENTRY_LENGTH(entry));
	if (symbol < 16) {
		length[at] = (uint8_t)symbol;
		return 1;
	}
	if (symbol == 16) {
		n = 3 + deflate_take(b, 2);
		if (at == 0)
			return 0;
		value = length[at - 1];
	} else {
		n = symbol == 17 ? 3 + deflate_take(b, 3) : 11 + deflate_take(b, 7);
	}
	memset(length + at, (int)value, n);
	return n;
}

/* False: a wrong repeat, or the input's end. */
static bool read_runs(struct deflate_bits *b, const uint8_t *table, struct deflate_lengths *lengths)
{
	unsigned n = lengths->nliterals + lengths->ndistances, at = 0;

	while (at < n && !deflate_is_beyond(b)) {
		deflate_refill(b);
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
static const char *read_lengths(struct deflate_bits *b, struct deflate_lengths *lengths)
{
	uint8_t table[1 << LENGTH_MAX];

	deflate_refill(b);
	lengths->nliterals = deflate_take(b, 5) + 257;
	lengths->ndistances = deflate_take(b, 5) + 1;
	unsigned n = deflate_take(b, 4) + 4;
	if (lengths->nliterals > DEFLATE_NLITERALS_MAX || lengths->ndistances > DEFLATE_NDISTANCES_MAX)
		return "too many length or distance symbols";
	if (!read_table(b, table, n))
		return "invalid code lengths set";
	if (!read_runs(b, table, lengths))
		return "invalid bit length repeat";
	if (lengths->length[END_OF_BLOCK] == 0)
		return "invalid code -- missing end-of-block";
	return NULL;
}

bool deflate_read_lengths(struct deflate_bits *b, struct deflate_lengths *lengths,
			  const char **words)
{
	*words = read_lengths(b, lengths);
	/* What was made of bits behind the end means nothing. Before them all was right. */
	if (deflate_is_beyond(b)) {
		*words = NULL;
		return false;
	}
	return *words == NULL;
}
