/* SPDX-License-Identifier: MIT
 *
 * inflate_blocks.cuh - a warp decodes the blocks of a deflate stream (RFC 1951).
 *
 * The text is stored as bytes where all text before it is known, or as 16-bit symbols where the 32 KiB
 * before the first one are not: a byte, or a place in that window. T tells which.
 *
 * All lanes do the same until a match is copied, an item a lane. What is stored goes to device memory at
 * once. Matches are read back from there, that is from the caches. A lane sees what another has written after
 * __syncwarp.
 */
#pragma once

#include "kernels/codec/huffman.cuh"

#define LITERAL_NBITS 9
#define DISTANCE_NBITS 8
#define NLITERALS 288 /* of the fixed code: literals, END_OF_BLOCK, lengths, two that are not used */
#define NDISTANCES 32
#define NLENGTH_CODES 19
#define END_OF_BLOCK 256
#define NLITERALS_MAX 286
#define NDISTANCES_MAX 30

#define WINDOW_NBYTES 32768u
#define WINDOW_MARKER 0x8000u /* a symbol with this bit: a place in the window before the first one */

enum inflate_lack { LACKS_NOTHING, LACKS_DATA, LACKS_ROOM };
enum block_kind { BLOCK_STORED, BLOCK_FIXED, BLOCK_DYNAMIC };

/* A warp's shared memory. */
struct inflate_tables {
	struct huffman<LITERAL_NBITS, NLITERALS> literals;
	struct huffman<DISTANCE_NBITS, NDISTANCES> distances;
	struct huffman_counts counts;
	uint8_t length[NLITERALS + NDISTANCES]; /* of the codes of a block */
};

/* A warp's stream, the same in all its lanes. T: char or uint16_t. */
template <class T> struct inflater {
	const unsigned char *data; /* 4-byte aligned; the stream begins at data_offset */
	uint64_t data_offset;
	uint32_t nbytes;       /* of the stream */
	T *text;
	uint32_t at, room;     /* items so far, and at most */
	struct bit_reader bits;
	uint32_t begin_nbytes; /* of the stream, before bits_begin */
	enum inflate_lack lack; /* why a stored block is not decoded */
};

/* How far the stream is decoded, in bits. */
template <class T> static __device__ inline uint64_t inflate_bit(const struct inflater<T> &f)
{
	return (uint64_t)f.begin_nbytes * 8 + bits_taken(f.bits);
}

template <class T> static __device__ inline bool inflate_overran(const struct inflater<T> &f)
{
	return inflate_bit(f) > (uint64_t)f.nbytes * 8;
}

/* Goes on with the stream's byte at. */
template <class T> static __device__ inline void inflate_seek(struct inflater<T> *f, uint32_t at)
{
	f->begin_nbytes = at;
	bits_begin(&f->bits, f->data, f->data_offset, f->nbytes, at);
}

/* ---- matches ---- */

/* How far before the first item a distance may reach. */
static __device__ inline uint32_t inflate_nbefore(const char *)
{
	return 0;
}

static __device__ inline uint32_t inflate_nbefore(const uint16_t *)
{
	return WINDOW_NBYTES;
}

/* from[i], an item of the text, or of the window before it. */
static __device__ inline char inflate_item(const char *text, const char *from, uint32_t i)
{
	(void)text;
	return from[i];
}

static __device__ inline uint16_t inflate_item(const uint16_t *text, const uint16_t *from, uint32_t i)
{
	int64_t at = from + i - text;

	return at < 0 ? (uint16_t)(WINDOW_MARKER | (uint32_t)(at + WINDOW_NBYTES)) : from[i];
}

/* Copies a match: n items from `distance` items before. */
template <class T>
static __device__ inline void copy_match(struct inflater<T> *f, uint32_t n, uint32_t distance)
{
	T *to = f->text + f->at;
	const T *from = to - distance;

	__syncwarp(); /* what others wrote can be read */
	if (distance >= n) {
		for (uint32_t i = warp_lane(); i < n; i += WARP_NLANES)
			to[i] = inflate_item(f->text, from, i);
	} else if (distance >= WARP_NLANES) {
		/* Each round reads what the rounds before have written. */
		for (uint32_t base = 0; base < n; base += WARP_NLANES) {
			uint32_t i = base + warp_lane();
			if (i < n)
				to[i] = inflate_item(f->text, from, i);
			__syncwarp();
		}
	} else {
		for (uint32_t i = warp_lane(); i < n; i += WARP_NLANES)
			to[i] = inflate_item(f->text, from, i % distance);
	}
	f->at += n;
}

/* The length that a symbol above END_OF_BLOCK begins; RFC 1951, section 3.2.5. */
static __device__ inline uint32_t take_length(struct bit_reader *b, uint32_t symbol)
{
	uint32_t i = symbol - (END_OF_BLOCK + 1);

	if (i < 8)
		return 3 + i;
	if (i == 28)
		return 258;
	uint32_t nextra = i / 4 - 1;
	return ((4 + i % 4) << nextra) + 3 + bits_take(b, nextra);
}

static __device__ inline uint32_t take_distance(struct bit_reader *b, uint32_t symbol)
{
	if (symbol < 2)
		return 1 + symbol;
	uint32_t nextra = symbol / 2 - 1;
	return ((2 + symbol % 2) << nextra) + 1 + bits_take(b, nextra);
}

/* Decodes the rest of a match. False: it is none. */
template <class T>
static __device__ inline bool add_match(struct inflater<T> *f, const struct inflate_tables &t, uint32_t symbol)
{
	if (symbol >= NLITERALS_MAX)
		return false;
	uint32_t n = take_length(&f->bits, symbol);
	bits_need(&f->bits);
	uint32_t place = huffman_take(t.distances, &f->bits);
	if (place >= NDISTANCES_MAX)
		return false;
	uint32_t distance = take_distance(&f->bits, place);
	if (distance > f->at + inflate_nbefore(f->text) || n > f->room - f->at)
		return false;
	copy_match(f, n, distance);
	return true;
}

/* ---- blocks ---- */

/* Decodes symbols up to the block's end. */
template <class T>
static __device__ inline bool inflate_codes(struct inflater<T> *f, const struct inflate_tables &t)
{
	for (;;) {
		bits_need(&f->bits);
		uint32_t symbol = huffman_take(t.literals, &f->bits);
		if (symbol < END_OF_BLOCK) {
			if (f->at == f->room)
				return false;
			if (warp_lane() == 0)
				f->text[f->at] = (T)symbol;
			f->at++;
		} else if (symbol == END_OF_BLOCK) {
			return true;
		} else if (!add_match(f, t, symbol)) {
			return false;
		}
	}
}

/* Copies a stored block; RFC 1951, section 3.2.4. */
template <class T>
static __device__ inline bool inflate_stored(struct inflater<T> *f)
{
	uint64_t at = (inflate_bit(*f) + 7) / 8; /* of its length, in the stream */
	const unsigned char *from = f->data + f->data_offset + at;

	if (at + 4 > f->nbytes) {
		f->lack = LACKS_DATA;
		return false;
	}
	uint32_t n = from[0] | (uint32_t)from[1] << 8, complement = from[2] | (uint32_t)from[3] << 8;
	if ((n ^ complement) != 0xffff)
		return false;
	f->lack = n > f->nbytes - (at + 4) ? LACKS_DATA : n > f->room - f->at ? LACKS_ROOM : LACKS_NOTHING;
	if (f->lack != LACKS_NOTHING)
		return false;
	for (uint32_t i = warp_lane(); i < n; i += WARP_NLANES)
		f->text[f->at + i] = (T)from[4 + i];
	f->at += n;
	inflate_seek(f, (uint32_t)(at + 4) + n);
	return true;
}

/* Sets n lengths from i on, all lanes together. */
static __device__ inline void fill_lengths(uint8_t *length, uint32_t n, uint8_t value)
{
	for (uint32_t i = warp_lane(); i < n; i += WARP_NLANES)
		length[i] = value;
}

/* The lengths of the fixed codes; RFC 1951, section 3.2.6. */
static __device__ inline void fixed_lengths(uint8_t *length)
{
	fill_lengths(length, 144, 8);
	fill_lengths(length + 144, 112, 9);
	fill_lengths(length + 256, 24, 7);
	fill_lengths(length + 280, 8, 8);
	fill_lengths(length + NLITERALS, NDISTANCES, 5);
	__syncwarp();
}

/* Reads n code lengths, which are coded themselves: the code is in the table of the distances, which is not
 * made yet. length: shared memory. False: they are damaged. */
template <class T>
static __device__ inline bool read_lengths(struct inflater<T> *f, const struct inflate_tables &t, uint8_t *length,
				    uint32_t n)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < n;) {
		bits_need(&f->bits);
		uint32_t symbol = huffman_take(t.distances, &f->bits), times = 1;
		if (symbol < 16) {
			last = symbol;
		} else if (symbol == 16) {
			if (i == 0)
				return false;
			times = 3 + bits_take(&f->bits, 2);
		} else if (symbol < NLENGTH_CODES) {
			last = 0;
			times = symbol == 17 ? 3 + bits_take(&f->bits, 3) : 11 + bits_take(&f->bits, 7);
		} else {
			return false;
		}
		if (times > n - i)
			return false;
		fill_lengths(length + i, times, (uint8_t)last);
		i += times;
	}
	__syncwarp();
	return true;
}

/* Makes the code of the code lengths. */
template <class T>
static __device__ inline bool make_length_code(struct inflater<T> *f, struct inflate_tables *t, uint32_t n)
{
	static const uint8_t order[NLENGTH_CODES] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14,
						     1, 15};
	fill_lengths(t->length, NLENGTH_CODES, 0);
	__syncwarp();
	for (uint32_t i = 0; i < n; i++) {
		bits_need(&f->bits);
		uint32_t length = bits_take(&f->bits, 3);
		if (warp_lane() == 0)
			t->length[order[i]] = (uint8_t)length;
	}
	__syncwarp();
	return huffman_make(t->length, NLENGTH_CODES, false, &t->counts, &t->distances);
}

/* Reads a dynamic block's header; RFC 1951, section 3.2.7. */
template <class T>
static __device__ inline bool read_codes(struct inflater<T> *f, struct inflate_tables *t)
{
	uint32_t nliterals, ndistances, nlengths;

	bits_need(&f->bits);
	nliterals = 257 + bits_take(&f->bits, 5);
	ndistances = 1 + bits_take(&f->bits, 5);
	nlengths = 4 + bits_take(&f->bits, 4);
	if (nliterals > NLITERALS_MAX || ndistances > NDISTANCES_MAX)
		return false;
	if (!make_length_code(f, t, nlengths) || !read_lengths(f, *t, t->length, nliterals + ndistances))
		return false;
	return huffman_make(t->length, nliterals, false, &t->counts, &t->literals) &&
	       huffman_make(t->length + nliterals, ndistances, true, &t->counts,
			    &t->distances);
}

template <class T>
static __device__ inline bool fixed_codes(struct inflater<T> *f, struct inflate_tables *t)
{
	fixed_lengths(t->length);
	return huffman_make(t->length, NLITERALS, false, &t->counts, &t->literals) &&
	       huffman_make(t->length + NLITERALS, NDISTANCES, false, &t->counts,
			    &t->distances);
}

/* Decodes a block. *last: it is the stream's last. */
template <class T>
static __device__ inline bool inflate_block(struct inflater<T> *f, struct inflate_tables *t, bool *last)
{
	bits_need(&f->bits);
	*last = bits_take(&f->bits, 1);
	uint32_t kind = bits_take(&f->bits, 2);
	if (kind == BLOCK_STORED)
		return inflate_stored(f);
	if (kind > BLOCK_DYNAMIC)
		return false;
	__syncwarp(); /* the last block's tables are not used any more */
	if (!(kind == BLOCK_FIXED ? fixed_codes(f, t) : read_codes(f, t)))
		return false;
	return inflate_codes(f, *t);
}
