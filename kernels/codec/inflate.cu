/* SPDX-License-Identifier: MIT
 *
 * inflate.cu - see inflate.cuh.
 *
 * A stream is decoded in order: where a symbol begins is known only when the one before it has been
 * decoded. So the device is filled with streams, one a warp. All lanes of a warp do the same until a match is
 * copied, a byte a lane: 31 of 32 lanes idle in between, but they cost nothing where the warps' instructions
 * wait for each other. Several streams a warp were slower the more they were, since each goes its own way (H100,
 * 64 KiB of logs, GB/s of text with 1, 2, 4, 8, 16 streams a warp: 56, 37, 21, 11, 4; 2026-11-23).
 *
 * The text is written to device memory at once. Matches are read back from there, that is from the caches. A
 * lane sees what another has written after __syncwarp.
 */
#include "kernels/codec/inflate.cuh"

#include "kernels/codec/huffman.cuh"
#include "kernels/level/grid.cuh"
#include "kernels/level/warp.cuh"

#define INFLATE_NTHREADS 128
#define INFLATE_NWARPS (INFLATE_NTHREADS / WARP_NLANES)

#define LITERAL_NBITS 9
#define DISTANCE_NBITS 8
#define NLITERALS 288 /* of the fixed code: literals, END_OF_BLOCK, lengths, two that are not used */
#define NDISTANCES 32
#define NLENGTH_CODES 19
#define END_OF_BLOCK 256
#define NLITERALS_MAX 286
#define NDISTANCES_MAX 30

enum block_kind { BLOCK_STORED, BLOCK_FIXED, BLOCK_DYNAMIC };

/* A warp's shared memory. */
struct inflate_tables {
	struct huffman<LITERAL_NBITS, NLITERALS> literals;
	struct huffman<DISTANCE_NBITS, NDISTANCES> distances;
	struct huffman_counts counts;
	uint8_t length[NLITERALS + NDISTANCES]; /* of the codes of a block */
};

/* A warp's stream, the same in all its lanes. */
struct inflater {
	struct inflate_stream stream;
	const unsigned char *data; /* the job's */
	char *text;                /* the stream's */
	uint32_t at;               /* bytes of text so far */
	struct bit_reader bits;
	uint32_t begin_nbytes;     /* of the stream, before bits_begin */
};

static __device__ bool inflate_overran(const struct inflater &f)
{
	return (uint64_t)f.begin_nbytes * 8 + bits_taken(f.bits) > (uint64_t)f.stream.nbytes * 8;
}

/* ---- matches ---- */

/* Copies a match: n bytes from `distance` bytes before. */
static __device__ void copy_match(struct inflater *f, uint32_t n, uint32_t distance)
{
	char *to = f->text + f->at;
	const char *from = to - distance;

	__syncwarp(); /* what others wrote can be read */
	if (distance >= n) {
		for (uint32_t i = warp_lane(); i < n; i += WARP_NLANES)
			to[i] = from[i];
	} else if (distance >= WARP_NLANES) {
		/* Each round reads what the rounds before have written. */
		for (uint32_t base = 0; base < n; base += WARP_NLANES) {
			uint32_t i = base + warp_lane();
			if (i < n)
				to[i] = from[i];
			__syncwarp();
		}
	} else {
		for (uint32_t i = warp_lane(); i < n; i += WARP_NLANES)
			to[i] = from[i % distance];
	}
	f->at += n;
}

/* The length that a symbol above END_OF_BLOCK begins; RFC 1951, section 3.2.5. */
static __device__ uint32_t take_length(struct bit_reader *b, uint32_t symbol)
{
	uint32_t i = symbol - (END_OF_BLOCK + 1);

	if (i < 8)
		return 3 + i;
	if (i == 28)
		return 258;
	uint32_t nextra = i / 4 - 1;
	return ((4 + i % 4) << nextra) + 3 + bits_take(b, nextra);
}

static __device__ uint32_t take_distance(struct bit_reader *b, uint32_t symbol)
{
	if (symbol < 2)
		return 1 + symbol;
	uint32_t nextra = symbol / 2 - 1;
	return ((2 + symbol % 2) << nextra) + 1 + bits_take(b, nextra);
}

/* Decodes the rest of a match. False: it is none. */
static __device__ bool add_match(struct inflater *f, const struct inflate_tables &t, uint32_t symbol)
{
	if (symbol >= NLITERALS_MAX)
		return false;
	uint32_t n = take_length(&f->bits, symbol);
	bits_need(&f->bits);
	uint32_t place = huffman_take(t.distances, &f->bits);
	if (place >= NDISTANCES_MAX)
		return false;
	uint32_t distance = take_distance(&f->bits, place);
	if (distance > f->at || n > f->stream.text_nbytes - f->at)
		return false;
	copy_match(f, n, distance);
	return true;
}

/* ---- blocks ---- */

/* Decodes symbols up to the block's end. */
static __device__ bool inflate_codes(struct inflater *f, const struct inflate_tables &t)
{
	for (;;) {
		bits_need(&f->bits);
		uint32_t symbol = huffman_take(t.literals, &f->bits);
		if (symbol < END_OF_BLOCK) {
			if (f->at == f->stream.text_nbytes)
				return false;
			if (warp_lane() == 0)
				f->text[f->at] = (char)symbol;
			f->at++;
		} else if (symbol == END_OF_BLOCK) {
			return true;
		} else if (!add_match(f, t, symbol)) {
			return false;
		}
	}
}

/* Copies a stored block; RFC 1951, section 3.2.4. */
static __device__ bool inflate_stored(struct inflater *f)
{
	uint64_t taken = (uint64_t)f->begin_nbytes * 8 + bits_taken(f->bits);
	uint64_t at = (taken + 7) / 8; /* of its length, in the stream */
	const unsigned char *from = f->data + f->stream.data_offset + at;

	if (at + 4 > f->stream.nbytes)
		return false;
	uint32_t n = from[0] | (uint32_t)from[1] << 8, complement = from[2] | (uint32_t)from[3] << 8;
	if ((n ^ complement) != 0xffff || n > f->stream.nbytes - (at + 4) ||
	    n > f->stream.text_nbytes - f->at)
		return false;
	for (uint32_t i = warp_lane(); i < n; i += WARP_NLANES)
		f->text[f->at + i] = (char)from[4 + i];
	f->at += n;
	f->begin_nbytes = (uint32_t)(at + 4) + n;
	bits_begin(&f->bits, f->data, f->stream.data_offset, f->stream.nbytes, f->begin_nbytes);
	return true;
}

/* Sets n lengths from i on, all lanes together. */
static __device__ void fill_lengths(uint8_t *length, uint32_t n, uint8_t value)
{
	for (uint32_t i = warp_lane(); i < n; i += WARP_NLANES)
		length[i] = value;
}

/* The lengths of the fixed codes; RFC 1951, section 3.2.6. */
static __device__ void fixed_lengths(uint8_t *length)
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
static __device__ bool read_lengths(struct inflater *f, const struct inflate_tables &t, uint8_t *length,
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
static __device__ bool make_length_code(struct inflater *f, struct inflate_tables *t, uint32_t n)
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
static __device__ bool read_codes(struct inflater *f, struct inflate_tables *t)
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

static __device__ bool fixed_codes(struct inflater *f, struct inflate_tables *t)
{
	fixed_lengths(t->length);
	return huffman_make(t->length, NLITERALS, false, &t->counts, &t->literals) &&
	       huffman_make(t->length + NLITERALS, NDISTANCES, false, &t->counts,
			    &t->distances);
}

/* Decodes a block. *last: it is the stream's last. */
static __device__ bool inflate_block(struct inflater *f, struct inflate_tables *t, bool *last)
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

/* Decodes the warp's stream. */
static __device__ bool inflate_stream(struct inflater *f, struct inflate_tables *t)
{
	bool last = false;

	f->at = f->begin_nbytes = 0;
	bits_begin(&f->bits, f->data, f->stream.data_offset, f->stream.nbytes, 0);
	while (!last)
		if (inflate_overran(*f) || !inflate_block(f, t, &last))
			return false;
	return !inflate_overran(*f) && f->at == f->stream.text_nbytes;
}

/* ---- the kernel ---- */

/* The warp's next stream. */
static __device__ uint32_t next_stream(const struct inflate_job &job)
{
	return warp_broadcast(warp_lane() == 0 ? atomicAdd(job.ticket, 1) : 0, 0);
}

/* Blocks a multiprocessor: all the threads it has room for, by its compute capability. */
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || (__CUDA_ARCH__ >= 900 && __CUDA_ARCH__ < 1200)
#define INFLATE_NRESIDENT 16
#elif __CUDA_ARCH__ >= 800
#define INFLATE_NRESIDENT 12
#else
#define INFLATE_NRESIDENT 8
#endif

__global__ static void __launch_bounds__(INFLATE_NTHREADS, INFLATE_NRESIDENT)
inflate(struct inflate_job job)
{
	__shared__ struct inflate_tables tables[INFLATE_NWARPS];
	struct inflater f;

	f.data = job.data;
	for (uint32_t i; (i = next_stream(job)) < job.nstreams;) {
		f.stream = job.streams[i];
		f.text = job.text + f.stream.text_offset;
		if (!inflate_stream(&f, &tables[warp_index()]) && warp_lane() == 0)
			atomicAdd(job.ndamaged, 1);
	}
}

cudaError_t inflate_launch(struct inflate_job job, cudaStream_t stream)
{
	uint32_t nresident, nblocks = (job.nstreams + INFLATE_NWARPS - 1) / INFLATE_NWARPS;
	cudaError_t error = grid_nresident(inflate, INFLATE_NTHREADS, 0, &nresident);

	if (error != cudaSuccess || nblocks == 0)
		return error;
	inflate<<<nblocks < nresident ? nblocks : nresident, INFLATE_NTHREADS, 0, stream>>>(job);
	return cudaGetLastError();
}
