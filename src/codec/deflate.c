/* SPDX-License-Identifier: MIT
 *
 * deflate.c - see deflate.h. Blocks: RFC 1951, section 3.2.3.
 *
 * Between two codes a decoder is no more than a position, a place in a block and the tables. So the
 * input can be moved there, and so can the output.
 */
#include "codec/deflate.h"

#include <string.h>

#include "codec/deflate_loops.h"

enum { TYPE_STORED, TYPE_FIXED, TYPE_DYNAMIC };

/* Where the text goes: one of the two. */
struct sink {
	struct deflate_byte_room *bytes;
	struct deflate_symbol_room *symbols;
};

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

/* ---- the sink ---- */

static unsigned literal_bits(const struct sink *s)
{
	return s->bytes ? 8 : 16;
}

/* Stores up to n bytes. Returns how many there was room for. */
static size_t store(struct sink *s, const unsigned char *from, size_t n)
{
	ptrdiff_t room = s->bytes ? s->bytes->limit - s->bytes->out
				  : s->symbols->limit - s->symbols->out;

	if (room < (ptrdiff_t)n)
		n = room > 0 ? (size_t)room : 0;
	if (s->bytes) {
		memcpy(s->bytes->out, from, n);
		s->bytes->out += n;
	} else {
		for (size_t i = 0; i < n; i++)
			s->symbols->out[i] = from[i];
		s->symbols->out += n;
	}
	return n;
}

/* ---- headers ---- */

/* The functions below return whether to go on. If not, *result says why. */

static bool stop(enum deflate_result *result, enum deflate_result why)
{
	*result = why;
	return false;
}

static bool stop_damaged(struct deflate *d, const char *words, enum deflate_result *result)
{
	d->place = DEFLATE_AT_DAMAGE;
	d->words = words;
	return stop(result, DEFLATE_DAMAGED);
}

static void end_block(struct deflate *d)
{
	d->place = d->last ? DEFLATE_AT_END : DEFLATE_AT_HEADER;
}

/* Each of these begins a block behind the first 3 bits of its header. NULL: begun, as far as the
 * input goes. Otherwise what is wrong. */

static const char *begin_stored(struct deflate *d, struct deflate_bits *b)
{
	deflate_drop(b, b->nbits & 7);
	deflate_refill(b);
	unsigned nbytes = deflate_take(b, 16), complement = deflate_take(b, 16);
	d->stored_nbytes = nbytes;
	d->place = DEFLATE_IN_STORED;
	return nbytes == (complement ^ 0xffff) ? NULL : "invalid stored block lengths";
}

static const char *begin_dynamic(struct deflate *d, struct deflate_bits *b, unsigned literal_bits)
{
	struct deflate_lengths lengths;
	const char *words;

	d->place = DEFLATE_IN_CODES;
	if (!deflate_read_lengths(b, &lengths, &words))
		return words;
	return deflate_tables_make(&d->tables, &lengths, literal_bits);
}

static const char *begin_fixed(struct deflate *d, unsigned literal_bits)
{
	d->place = DEFLATE_IN_CODES;
	deflate_tables_fixed(&d->tables, literal_bits);
	return NULL;
}

static bool begin_block(struct deflate *d, const struct sink *s, enum deflate_result *result)
{
	struct deflate_bits b = deflate_bits_at(d->in, d->in_nbytes, d->bit);
	const char *words = "invalid block type";

	d->last = deflate_take(&b, 1);
	unsigned type = deflate_take(&b, 2);
	if (type == TYPE_STORED)
		words = begin_stored(d, &b);
	else if (type == TYPE_FIXED)
		words = begin_fixed(d, literal_bits(s));
	else if (type == TYPE_DYNAMIC)
		words = begin_dynamic(d, &b, literal_bits(s));
	if (deflate_is_beyond(&b)) {
		d->place = DEFLATE_AT_HEADER;
		return stop(result, DEFLATE_STARVES);
	}
	if (words)
		return stop_damaged(d, words, result);
	d->bit = deflate_bits_position(&b, d->in);
	if (type == TYPE_STORED && d->stored_nbytes == 0)
		end_block(d);
	return true;
}

/* ---- blocks ---- */

static bool continue_stored(struct deflate *d, struct sink *s, enum deflate_result *result)
{
	size_t at = (size_t)(d->bit >> 3), have = d->in_nbytes - at;
	size_t n = store(s, d->in + at, have < d->stored_nbytes ? have : d->stored_nbytes);

	d->bit += (uint64_t)n * 8;
	d->stored_nbytes -= n;
	if (d->stored_nbytes)
		return stop(result, n == have ? DEFLATE_STARVES : DEFLATE_FULL);
	end_block(d);
	return true;
}

static bool continue_codes(struct deflate *d, struct sink *s, enum deflate_result *result)
{
	const struct deflate_loops *loops = deflate_loops();
	struct deflate_bits b = deflate_bits_at(d->in, d->in_nbytes, d->bit);
	const char *words = NULL;
	enum deflate_codes codes;

	deflate_tables_widen(&d->tables, literal_bits(s));
	codes = s->bytes ? loops->bytes(&b, &d->tables, s->bytes, &words)
			 : loops->symbols(&b, &d->tables, s->symbols, &words);
	d->bit = deflate_bits_position(&b, d->in);
	if (codes == DEFLATE_CODES_DAMAGED)
		return stop_damaged(d, words, result);
	if (codes != DEFLATE_CODES_END)
		return stop(result, codes == DEFLATE_CODES_STARVE ? DEFLATE_STARVES : DEFLATE_FULL);
	end_block(d);
	return true;
}

/* Begins a block, or continues it until it ends. */
static bool step(struct deflate *d, struct sink *s, uint64_t stop_bit, enum deflate_result *result)
{
	if (d->place == DEFLATE_AT_END)
		return stop(result, DEFLATE_ENDED);
	if (d->place == DEFLATE_AT_DAMAGE)
		return stop(result, DEFLATE_DAMAGED);
	if (d->place == DEFLATE_AT_HEADER && d->bit >= stop_bit)
		return stop(result, DEFLATE_BOUNDARY);
	if (d->bit >> 3 >= d->in_nbytes)
		return stop(result, DEFLATE_STARVES);
	if (d->place == DEFLATE_AT_HEADER)
		return begin_block(d, s, result);
	if (d->place == DEFLATE_IN_STORED)
		return continue_stored(d, s, result);
	return continue_codes(d, s, result);
}

static enum deflate_result run(struct deflate *d, struct sink *s, uint64_t stop_bit)
{
	enum deflate_result result;

	while (step(d, s, stop_bit, &result))
		;
	return result;
}

static enum deflate_result run_bytes(struct deflate *d, struct deflate_byte_room *room,
				     uint64_t stop_bit, unsigned char **out)
{
	struct sink s = {.bytes = room};
	enum deflate_result result = run(d, &s, stop_bit);

	*out = room->out;
	return result;
}

enum deflate_result deflate_bytes(struct deflate *d, unsigned char **out, unsigned char *limit,
				  const unsigned char *floor, uint64_t stop_bit)
{
	struct deflate_byte_room room = {*out, limit, floor, false};

	return run_bytes(d, &room, stop_bit, out);
}

enum deflate_result deflate_bytes_exact(struct deflate *d, unsigned char **out, unsigned char *limit,
					const unsigned char *floor)
{
	struct deflate_byte_room room = {*out, limit, floor, true};

	return run_bytes(d, &room, UINT64_MAX, out);
}

enum deflate_result deflate_symbols(struct deflate *d, uint16_t **out, uint16_t *limit,
				    const uint16_t *floor, uint64_t stop_bit)
{
	struct deflate_symbol_room room = {*out, limit, floor, false};
	struct sink s = {.symbols = &room};
	enum deflate_result result = run(d, &s, stop_bit);

	*out = room.out;
	return result;
}
