/* SPDX-License-Identifier: MIT
 *
 * inflate_thread.cuh - one thread decodes a deflate stream (RFC 1951), with any representation of its codes.
 *
 * CODE has
 *     bool make(const uint8_t *length, uint32_t n, bool may_lack);
 *     uint32_t take(struct bit_reader *b) const;
 * make: of n symbols with these lengths, 0: it has no code; false unless the code is complete, or may_lack and there is
 * at most one code, of one bit. take: the next symbol, of which all bits are there; UINT32_MAX: there is no such code.
 */
#pragma once

#include "../codec/bit_reader.cuh"
#include "inflate_rung.cuh"

#define CODE_NBITS_MAX 15
#define NLITERALS 288 /* of the fixed code: literals, END_OF_BLOCK, lengths, two that are not used */
#define NDISTANCES 32
#define NLENGTH_CODES 19
#define END_OF_BLOCK 256
#define NLITERALS_MAX 286
#define NDISTANCES_MAX 30

/* The codes of a block, and the lengths that they are made of. */
template <class LITERALS, class DISTANCES> struct thread_codes {
	LITERALS literals;
	DISTANCES distances; /* of the code lengths, too, before the others are made */
	uint8_t length[NLITERALS + NDISTANCES];
};

/* A thread's stream. */
struct thread_inflater {
	const unsigned char *data; /* 4-byte aligned; the stream begins at data_offset */
	uint64_t data_offset;
	uint32_t nbytes;
	char *text;
	uint32_t at, room;
	struct bit_reader bits;
	uint32_t begin_nbytes; /* of the stream, before bits_begin */
};

static __device__ inline uint64_t thread_bit(const struct thread_inflater &f)
{
	return (uint64_t)f.begin_nbytes * 8 + bits_taken(f.bits);
}

static __device__ inline bool thread_overran(const struct thread_inflater &f)
{
	return thread_bit(f) > (uint64_t)f.nbytes * 8;
}

static __device__ inline void thread_seek(struct thread_inflater *f, uint32_t at)
{
	f->begin_nbytes = at;
	bits_begin(&f->bits, f->data, f->data_offset, f->nbytes, at);
}

/* ---- matches: sections 3.2.3 and 3.2.5 ---- */

static __device__ inline uint32_t thread_length(struct bit_reader *b, uint32_t symbol)
{
	static const uint16_t base[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
					  31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
	static const uint8_t nextra[29] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
	uint32_t i = symbol - (END_OF_BLOCK + 1);

	return base[i] + bits_take(b, nextra[i]);
}

static __device__ inline uint32_t thread_distance(struct bit_reader *b, uint32_t symbol)
{
	static const uint16_t base[NDISTANCES_MAX] = {1,   2,   3,   4,   5,   7,    9,    13,   17,   25,   33,   49,   65,    97,    129,
						      193, 257, 385, 513, 769, 1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};

	return base[symbol] + bits_take(b, symbol < 4 ? 0 : symbol / 2 - 1);
}

/* Decodes the rest of a match. False: it is none. */
template <class DISTANCES>
static __device__ inline bool thread_match(struct thread_inflater *f, const DISTANCES &distances, uint32_t symbol)
{
	if (symbol >= NLITERALS_MAX)
		return false;
	uint32_t n = thread_length(&f->bits, symbol);
	bits_need(&f->bits);
	uint32_t place = distances.take(&f->bits);
	if (place >= NDISTANCES_MAX)
		return false;
	uint32_t distance = thread_distance(&f->bits, place);
	if (distance > f->at || n > f->room - f->at)
		return false;
	for (uint32_t i = 0; i < n; i++, f->at++)
		f->text[f->at] = f->text[f->at - distance];
	return true;
}

/* ---- blocks ---- */

template <class CODES> static __device__ inline bool thread_symbols(struct thread_inflater *f, const CODES &codes)
{
	for (;;) {
		bits_need(&f->bits);
		uint32_t symbol = codes.literals.take(&f->bits);
		if (symbol < END_OF_BLOCK) {
			if (f->at == f->room)
				return false;
			f->text[f->at++] = (char)symbol;
		} else if (symbol == END_OF_BLOCK) {
			return true;
		} else if (!thread_match(f, codes.distances, symbol)) {
			return false;
		}
	}
}

static __device__ inline bool thread_stored(struct thread_inflater *f)
{
	uint64_t at = (thread_bit(*f) + 7) / 8;
	const unsigned char *from = f->data + f->data_offset + at;

	if (at + 4 > f->nbytes)
		return false;
	uint32_t n = from[0] | (uint32_t)from[1] << 8, complement = from[2] | (uint32_t)from[3] << 8;
	if ((n ^ complement) != 0xffff || n > f->nbytes - (at + 4) || n > f->room - f->at)
		return false;
	for (uint32_t i = 0; i < n; i++)
		f->text[f->at++] = (char)from[4 + i];
	thread_seek(f, (uint32_t)(at + 4) + n);
	return true;
}

/* Reads n code lengths, which are coded themselves. False: they are damaged. */
template <class CODE>
static __device__ inline bool thread_lengths(struct thread_inflater *f, const CODE &code, uint8_t *length, uint32_t n)
{
	uint8_t last = 0;

	for (uint32_t i = 0; i < n;) {
		bits_need(&f->bits);
		uint32_t symbol = code.take(&f->bits), times = 1;
		if (symbol >= NLENGTH_CODES || (symbol == 16 && i == 0))
			return false;
		if (symbol < 16)
			last = (uint8_t)symbol;
		else if (symbol == 16)
			times = 3 + bits_take(&f->bits, 2);
		else
			times = symbol == 17 ? 3 + bits_take(&f->bits, 3) : 11 + bits_take(&f->bits, 7);
		if (symbol > 16)
			last = 0;
		if (times > n - i)
			return false;
		for (; times > 0; times--)
			length[i++] = last;
	}
	return true;
}

template <class CODES> static __device__ inline bool thread_dynamic(struct thread_inflater *f, CODES *codes)
{
	static const uint8_t order[NLENGTH_CODES] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
	uint32_t nliterals, ndistances, n;

	bits_need(&f->bits);
	nliterals = 257 + bits_take(&f->bits, 5);
	ndistances = 1 + bits_take(&f->bits, 5);
	n = 4 + bits_take(&f->bits, 4);
	if (nliterals > NLITERALS_MAX || ndistances > NDISTANCES_MAX)
		return false;
	for (uint32_t i = 0; i < NLENGTH_CODES; i++) {
		bits_need(&f->bits);
		codes->length[order[i]] = i < n ? (uint8_t)bits_take(&f->bits, 3) : 0;
	}
	return codes->distances.make(codes->length, NLENGTH_CODES, false) &&
	       thread_lengths(f, codes->distances, codes->length, nliterals + ndistances) &&
	       codes->literals.make(codes->length, nliterals, false) &&
	       codes->distances.make(codes->length + nliterals, ndistances, true);
}

template <class CODES> static __device__ inline bool thread_fixed(CODES *codes)
{
	for (uint32_t i = 0; i < NLITERALS; i++)
		codes->length[i] = i < 144 ? 8 : i < 256 ? 9 : i < 280 ? 7 : 8;
	for (uint32_t i = 0; i < NDISTANCES; i++)
		codes->length[NLITERALS + i] = 5;
	return codes->literals.make(codes->length, NLITERALS, false) &&
	       codes->distances.make(codes->length + NLITERALS, NDISTANCES, false);
}

/* Decodes a block. *last: it is the stream's last. */
template <class CODES> static __device__ inline bool thread_block(struct thread_inflater *f, CODES *codes, bool *last)
{
	bits_need(&f->bits);
	*last = bits_take(&f->bits, 1) != 0;
	switch (bits_take(&f->bits, 2)) {
	case 0:
		return thread_stored(f);
	case 1:
		return thread_fixed(codes) && thread_symbols(f, *codes);
	case 2:
		return thread_dynamic(f, codes) && thread_symbols(f, *codes);
	default:
		return false;
	}
}

/* Decodes a stream of the job. False: it is damaged. */
template <class CODES>
static __device__ inline bool thread_inflate(const struct inflate_job &job, const struct inflate_stream &stream, CODES *codes)
{
	struct thread_inflater f = {};
	bool last = false;

	f.data = job.data;
	f.data_offset = stream.data_offset;
	f.nbytes = stream.nbytes;
	f.text = job.text + stream.text_offset;
	f.room = stream.text_nbytes;
	thread_seek(&f, 0);
	while (!last)
		if (thread_overran(f) || !thread_block(&f, codes, &last))
			return false;
	return !thread_overran(f) && f.at == f.room;
}

/* ---- codes ---- */

/* A canonical code: how many symbols have codes of each length, and the symbols by length and value. A code is found
 * bit by bit. */
template <int NSYMBOLS> struct canonical_code {
	uint16_t count[CODE_NBITS_MAX + 1];
	uint16_t symbol[NSYMBOLS];

	/* Counts the lengths. False: there is no such code. */
	__device__ bool count_all(const uint8_t *length, uint32_t n, bool may_lack)
	{
		int32_t left = 1, ncodes = 0;

		for (uint32_t l = 0; l <= CODE_NBITS_MAX; l++)
			count[l] = 0;
		for (uint32_t i = 0; i < n; i++)
			count[length[i]]++;
		for (uint32_t l = 1; l <= CODE_NBITS_MAX; l++) {
			left = 2 * left - count[l];
			ncodes += count[l];
			if (left < 0)
				return false;
		}
		return left == 0 || (may_lack && ncodes <= 1 && count[1] == ncodes);
	}

	__device__ bool make(const uint8_t *length, uint32_t n, bool may_lack)
	{
		uint16_t at[CODE_NBITS_MAX + 2];

		if (!count_all(length, n, may_lack))
			return false;
		at[1] = 0;
		for (uint32_t l = 1; l <= CODE_NBITS_MAX; l++)
			at[l + 1] = (uint16_t)(at[l] + count[l]);
		for (uint32_t i = 0; i < n; i++)
			if (length[i] > 0)
				symbol[at[length[i]]++] = (uint16_t)i;
		return true;
	}

	/* The codes of a length are the numbers from `first` on, whose symbols begin at `index`. */
	__device__ uint32_t take(struct bit_reader *b) const
	{
		uint32_t code = 0, first = 0, index = 0;

		for (uint32_t l = 1; l <= CODE_NBITS_MAX; l++) {
			code |= bits_take(b, 1);
			if (code - first < count[l])
				return symbol[index + (code - first)];
			index += count[l];
			first = (first + count[l]) << 1;
			code <<= 1;
		}
		return UINT32_MAX;
	}
};

/* The same with a table: the next FAST_NBITS bits tell the symbol and its length at once, if its code is no longer. */
template <int FAST_NBITS, int NSYMBOLS> struct lookup_code : canonical_code<NSYMBOLS> {
	uint16_t fast[1 << FAST_NBITS]; /* the symbol x 16, and the length; 0: the code is longer, or there is none */

	__device__ bool make(const uint8_t *length, uint32_t n, bool may_lack)
	{
		uint32_t code = 0, at = 0;

		if (!canonical_code<NSYMBOLS>::make(length, n, may_lack))
			return false;
		for (uint32_t i = 0; i < 1u << FAST_NBITS; i++)
			fast[i] = 0;
		for (uint32_t l = 1; l <= FAST_NBITS; l++, code <<= 1)
			for (uint32_t i = 0; i < this->count[l]; i++, code++, at++)
				for (uint32_t j = __brev(code) >> (32 - l); j < 1u << FAST_NBITS; j += 1u << l)
					fast[j] = (uint16_t)(this->symbol[at] << 4 | l);
		return true;
	}

	__device__ uint32_t take(struct bit_reader *b) const
	{
		uint32_t entry = fast[b->bits & ((1u << FAST_NBITS) - 1)];

		if (entry == 0)
			return canonical_code<NSYMBOLS>::take(b);
		bits_drop(b, entry & 15);
		return entry >> 4;
	}
};
