/* SPDX-License-Identifier: MIT
 *
 * inflate_check.cu - the CRC-32 of each stream's text, and of each section's: see inflate.cuh, sections.cuh.
 *
 * A text is a polynomial over GF(2), and its CRC the remainder modulo P. A warp has a stream, and each lane
 * a part of it. The remainder of two parts is that of the first, times x to the bits of the second, plus that
 * of the second: five steps of shuffles make one of 32. All parts have one length, counted from the end;
 * what the first lacks are zeros before the text, which change nothing. Four bytes are divided at
 * once (slicing: Kounavis and Berry, "A systematic approach to building high performance software-based CRC
 * generators", 2005).
 */
#include "kernels/codec/inflate.cuh"
#include "kernels/codec/sections.cuh"
#include "kernels/level/grid.cuh"
#include "kernels/level/warp.cuh"

#define CHECK_NTHREADS 256
#define NSLICES 4
#define POLYNOMIAL 0xedb88320u /* P without x^32; bit 31 is x^0 */
#define ONE 0x80000000u
#define X8 0x00800000u

/* a x b modulo P. */
static __device__ uint32_t multiply(uint32_t a, uint32_t b)
{
	uint32_t product = 0;

	for (int i = 31; i >= 0; i--) {
		product ^= b & (0u - (a >> i & 1));
		b = b >> 1 ^ (POLYNOMIAL & (0u - (b & 1)));
	}
	return product;
}

/* x^(8 n) modulo P. */
static __device__ uint32_t power8(uint32_t n)
{
	uint32_t power = ONE;

	for (uint32_t x = X8; n; n >>= 1, x = multiply(x, x))
		if (n & 1)
			power = multiply(power, x);
	return power;
}

/* table[s][i]: the remainder of byte i with s bytes behind it. One thread for each i. */
static __device__ void make_tables(uint32_t table[NSLICES][256])
{
	uint32_t x = threadIdx.x;

	for (int s = 0; s < NSLICES; s++) {
		for (int bit = 0; bit < 8; bit++)
			x = x >> 1 ^ (POLYNOMIAL & (0u - (x & 1)));
		table[s][threadIdx.x] = x;
	}
}

/* The remainder of text[begin .. end). */
static __device__ uint32_t remainder_of(const uint32_t table[NSLICES][256], const unsigned char *text,
					uint32_t begin, uint32_t end)
{
	uint32_t r = 0, i = begin;

	for (; i < end && (uintptr_t)(text + i) % 4; i++)
		r = r >> 8 ^ table[0][(r ^ text[i]) & 0xff];
	for (; i + 4 <= end; i += 4) {
		r ^= *(const uint32_t *)(text + i);
		r = table[3][r & 0xff] ^ table[2][r >> 8 & 0xff] ^ table[1][r >> 16 & 0xff] ^ table[0][r >> 24];
	}
	for (; i < end; i++)
		r = r >> 8 ^ table[0][(r ^ text[i]) & 0xff];
	return r;
}

/* The CRC of n bytes; in lane 0. */
static __device__ uint32_t crc_of(const uint32_t table[NSLICES][256], const unsigned char *text, uint32_t n)
{
	uint32_t each = (n + WARP_NLANES - 1) / WARP_NLANES, lack = each * WARP_NLANES - n;
	uint32_t begin = warp_lane() * each, end = begin + each;

	begin = begin > lack ? begin - lack : 0;
	end = end > lack ? end - lack : 0;
	uint32_t r = remainder_of(table, text, begin, end), behind = power8(each);
	for (unsigned delta = 1; delta < WARP_NLANES; delta *= 2) {
		r = multiply(r, behind) ^ warp_shuffle_down(r, delta);
		behind = multiply(behind, behind);
	}
	return ~(r ^ multiply(UINT32_MAX, power8(n)));
}

/* The warp's text, and all warps'. */
static __device__ uint32_t first_text(void)
{
	return blockIdx.x * (CHECK_NTHREADS / WARP_NLANES) + warp_index();
}

static __device__ uint32_t nwarps(void)
{
	return gridDim.x * (CHECK_NTHREADS / WARP_NLANES);
}

__global__ static void __launch_bounds__(CHECK_NTHREADS) check(struct inflate_job job)
{
	__shared__ uint32_t table[NSLICES][256];

	make_tables(table);
	__syncthreads();
	for (uint32_t i = first_text(); i < job.nstreams; i += nwarps()) {
		struct inflate_stream s = job.streams[i];
		const unsigned char *text = (const unsigned char *)job.text + s.text_offset;
		if (crc_of(table, text, s.text_nbytes) != s.crc && warp_lane() == 0)
			atomicAdd(job.ndamaged, 1);
	}
}

__global__ static void __launch_bounds__(CHECK_NTHREADS) sum(struct section_texts t, uint32_t *crc)
{
	__shared__ uint32_t table[NSLICES][256];

	make_tables(table);
	__syncthreads();
	for (uint32_t i = first_text(); i < t.n; i += nwarps()) {
		struct section_text s = t.all[i];
		uint32_t x = crc_of(table, (const unsigned char *)t.text + s.text_offset, s.nsymbols);
		if (warp_lane() == 0)
			crc[i] = x;
	}
}

/* The blocks for n texts. */
template <class KERNEL> static cudaError_t check_nblocks(KERNEL kernel, uint32_t n, uint32_t *nblocks)
{
	uint32_t nresident, wanted = (n * WARP_NLANES + CHECK_NTHREADS - 1) / CHECK_NTHREADS;
	cudaError_t error = grid_nresident(kernel, CHECK_NTHREADS, 0, &nresident);

	if (error == cudaSuccess)
		*nblocks = wanted < nresident ? wanted : nresident;
	return error;
}

cudaError_t inflate_check_launch(struct inflate_job job, cudaStream_t stream)
{
	uint32_t nblocks;
	cudaError_t error = check_nblocks(check, job.nstreams, &nblocks);

	if (error != cudaSuccess || nblocks == 0)
		return error;
	check<<<nblocks, CHECK_NTHREADS, 0, stream>>>(job);
	return cudaGetLastError();
}

cudaError_t sections_crc_launch(struct section_texts texts, uint32_t *crc, cudaStream_t stream)
{
	uint32_t nblocks;
	cudaError_t error = check_nblocks(sum, texts.n, &nblocks);

	if (error != cudaSuccess || nblocks == 0)
		return error;
	sum<<<nblocks, CHECK_NTHREADS, 0, stream>>>(texts, crc);
	return cudaGetLastError();
}
