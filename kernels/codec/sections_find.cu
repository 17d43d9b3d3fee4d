/* SPDX-License-Identifier: MIT
 *
 * sections_find.cu - where blocks may begin: see sections.cuh, and src/codec/deflate.c for the header's
 * bits and the three filters, which are the same here.
 *
 * A lane has the 32 bits of a word, and looks at all of them at once with shifted copies of what follows. One
 * bit in 18 is left for Kraft's sum of the code lengths, one in 10^4 for the whole header. That is read
 * by its lane alone, without a table: most sums overflow after a few lengths.
 */
#include "kernels/codec/bit_reader.cuh"
#include "kernels/codec/sections.cuh"
#include "kernels/level/grid.cuh"

#define FIND_NTHREADS 256
#define WHOLE 32768u /* Kraft's sum of a complete code with lengths of up to 15 bits */
#define NLENGTH_CODES 19
#define NLENGTH_NBITS_MAX 7
#define HEADER_NBITS 17 /* before the code lengths */

/* ---- the whole header ---- */

/* The code of the code lengths: for each length the symbols that have it, as bits. */
struct length_code {
	uint32_t symbols[NLENGTH_NBITS_MAX + 1];
};

static __device__ struct length_code read_length_code(struct bit_reader *b, uint32_t n)
{
	static const uint8_t order[NLENGTH_CODES] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14,
						     1, 15};
	struct length_code code = {};

	for (uint32_t i = 0; i < n; i++) {
		bits_need(b);
		code.symbols[bits_take(b, 3)] |= 1u << order[i];
	}
	return code;
}

/* The place of the k-th 1 in x. */
static __device__ uint32_t place_of(uint32_t x, uint32_t k)
{
	for (; k > 0; k--)
		x &= x - 1;
	return (uint32_t)__ffs((int)x) - 1;
}

/* The next symbol; the code is complete. Codes of one length follow those that are shorter. */
static __device__ uint32_t take_symbol(const struct length_code &code, struct bit_reader *b)
{
	uint32_t value = 0, first = 0;

	bits_need(b);
	for (uint32_t l = 1; l <= NLENGTH_NBITS_MAX; l++) {
		uint32_t n = (uint32_t)__popc(code.symbols[l]);
		value = value << 1 | bits_take(b, 1);
		first <<= 1;
		if (value - first < n)
			return place_of(code.symbols[l], value - first);
		first += n;
	}
	return NLENGTH_CODES;
}

/* Kraft's sums of the two codes, while their lengths are read. */
struct sums {
	uint32_t nliterals, literals, distances, nused; /* nused: of the distances */
	bool has_end;                                   /* END_OF_BLOCK has a code */
};

/* Adds lengths [i, i + times). Returns false once there are too many codes. */
static __device__ bool sums_add(struct sums *s, uint32_t i, uint32_t times, uint32_t length)
{
	for (; times > 0 && length > 0; times--, i++) {
		if (i < s->nliterals) {
			s->literals += WHOLE >> length;
			s->has_end |= i == 256;
		} else {
			s->distances += WHOLE >> length;
			s->nused++;
		}
	}
	return s->literals <= WHOLE && s->distances <= WHOLE;
}

static __device__ bool codes_are_complete(const struct length_code &code, struct bit_reader *b, struct sums s,
					  uint32_t n)
{
	uint32_t last = 0;

	for (uint32_t i = 0; i < n;) {
		uint32_t symbol = take_symbol(code, b), times = 1;
		bits_need(b);
		if (symbol < 16)
			last = symbol;
		else if (symbol == 16)
			times = i == 0 ? n + 1 : 3 + bits_take(b, 2);
		else if (symbol < NLENGTH_CODES)
			last = 0, times = symbol == 17 ? 3 + bits_take(b, 3) : 11 + bits_take(b, 7);
		else
			return false;
		if (times > n - i || !sums_add(&s, i, times, last))
			return false;
		i += times;
	}
	return s.literals == WHOLE && s.has_end &&
	       (s.distances == WHOLE || s.nused == 0 || (s.nused == 1 && s.distances == WHOLE / 2));
}

/* Whether a header is at bit: one whose code of the code lengths is complete. */
static __device__ bool header_is_valid(struct section_data d, uint64_t bit)
{
	struct sums s = {};
	struct bit_reader b;
	uint32_t ndistances, nlengths;

	bits_begin(&b, d.data, 0, d.nbytes, (uint32_t)(bit / 8));
	bits_drop(&b, (uint32_t)(bit % 8) + 3);
	bits_need(&b);
	s.nliterals = 257 + bits_take(&b, 5);
	ndistances = 1 + bits_take(&b, 5);
	nlengths = 4 + bits_take(&b, 4);
	struct length_code code = read_length_code(&b, nlengths);
	code.symbols[0] = 0;
	return codes_are_complete(code, &b, s, s.nliterals + ndistances) &&
	       bit / 8 * 8 + bits_taken(b) <= (uint64_t)d.nbytes * 8;
}

/* ---- the first two filters ---- */

/* 64 bits from a word's bit 0 on. */
static __device__ uint64_t two_words(struct section_data d, uint64_t word)
{
	const uint32_t *words = (const uint32_t *)d.data;
	uint64_t n = ((uint64_t)d.nbytes + 3) / 4;
	uint32_t low = word < n ? words[word] : 0, high = word + 1 < n ? words[word + 1] : 0;

	return (uint64_t)high << 32 | low;
}

/* In bit i whether a header may begin at bit i of x. */
static __device__ uint32_t places(uint64_t x)
{
	uint64_t begins = ~x & ~(x >> 1) & x >> 2 & x >> 16;
	uint64_t literals_30 = x >> 4 & x >> 5 & x >> 6 & x >> 7;
	uint64_t distances_30 = x >> 9 & x >> 10 & x >> 11 & x >> 12;

	return (uint32_t)(begins & ~literals_30 & ~distances_30);
}

/* Whether the code of code lengths is complete, of a header that begins at bit i of low. */
static __device__ bool code_is_complete(uint64_t low, uint64_t high, uint32_t i)
{
	uint32_t at = i + HEADER_NBITS, n = ((uint32_t)(low >> (i + 13)) & 15) + 4, sum = 0;
	uint64_t lengths = low >> at | high << (64 - at); /* at < 64, and not 0 */

	for (uint32_t k = 0; k < n; k++, lengths >>= 3)
		sum += (uint32_t)(lengths & 7) ? 128u >> (lengths & 7) : 0;
	return sum == 128;
}

static __device__ void look_at_word(struct section_data d, uint64_t word, uint32_t asked, struct section_list list)
{
	uint64_t low = two_words(d, word), high;

	asked &= places(low);
	if (asked == 0)
		return;
	for (high = two_words(d, word + 2); asked; asked &= asked - 1) {
		uint32_t i = (uint32_t)__ffs((int)asked) - 1;
		if (!code_is_complete(low, high, i) || !header_is_valid(d, word * 32 + i))
			continue;
		uint32_t place = atomicAdd(list.n, 1);
		if (place < list.capacity)
			list.bit[place] = word * 32 + i;
	}
}

__global__ static void __launch_bounds__(FIND_NTHREADS)
find(struct section_data d, uint64_t from, uint64_t to, struct section_list list)
{
	uint64_t end = (to + 31) / 32, nthreads = (uint64_t)gridDim.x * FIND_NTHREADS;

	for (uint64_t w = from / 32 + blockIdx.x * FIND_NTHREADS + threadIdx.x; w < end; w += nthreads) {
		uint32_t asked = UINT32_MAX;
		if (w * 32 < from)
			asked <<= from % 32;
		if (w * 32 + 32 > to)
			asked &= UINT32_MAX >> (w * 32 + 32 - to);
		look_at_word(d, w, asked, list);
	}
}

cudaError_t sections_find_launch(struct section_data data, uint64_t from, uint64_t to, struct section_list list,
				 cudaStream_t stream)
{
	uint32_t nresident;
	uint64_t nblocks = from < to ? (to / 32 - from / 32) / FIND_NTHREADS + 1 : 0;
	cudaError_t error = grid_nresident(find, FIND_NTHREADS, 0, &nresident);

	if (error != cudaSuccess || nblocks == 0)
		return error;
	nblocks = nblocks < nresident ? nblocks : nresident;
	find<<<(uint32_t)nblocks, FIND_NTHREADS, 0, stream>>>(data, from, to, list);
	return cudaGetLastError();
}
