/* SPDX-License-Identifier: MIT
 *
 * sections.cu - sections decoded to symbols, one a warp: see sections.cuh.
 */
#include "kernels/codec/sections.cuh"

#include "kernels/codec/inflate_blocks.cuh"
#include "kernels/level/grid.cuh"

#define DECODE_NTHREADS 128
#define DECODE_NWARPS (DECODE_NTHREADS / WARP_NLANES)
#define MATCH_MAX 258
#define CODES_NBITS 64 /* so near to the end of the data, codes and headers may go on behind it */

static_assert(SECTION_WINDOW_NBYTES == WINDOW_NBYTES, "deflate's window");

/* Why no block is decoded where f stands, within one that began at `begin`. */
static __device__ uint32_t why_not(const struct inflater<uint16_t> &f)
{
	if (f.lack == LACKS_DATA || inflate_bit(f) + CODES_NBITS > (uint64_t)f.nbytes * 8)
		return SECTION_STARVES;
	if (f.lack == LACKS_ROOM || f.room - f.at < MATCH_MAX)
		return SECTION_IS_FULL;
	return SECTION_IS_DAMAGED;
}

/* Decodes block by block to one that ends where another section begins. */
static __device__ uint32_t decode_section(const struct section_job &job, uint32_t i, struct inflater<uint16_t> *f,
					  struct inflate_tables *t, struct inflate_section *s)
{
	uint32_t next = i + 1;

	for (bool last = false;;) {
		if (!inflate_block(f, t, &last) || inflate_overran(*f))
			return why_not(*f);
		s->end = inflate_bit(*f);
		s->nsymbols = f->at;
		if (last)
			return SECTION_IS_LAST;
		while (next < job.nsections && job.sections[next].begin < s->end)
			next++;
		if (next < job.nsections && job.sections[next].begin == s->end) {
			s->next = next;
			return SECTION_MEETS;
		}
	}
}

/* The warp's next section. */
static __device__ uint32_t next_section(const struct section_job &job)
{
	return warp_broadcast(warp_lane() == 0 ? atomicAdd(job.ticket, 1) : 0, 0);
}

__global__ static void __launch_bounds__(DECODE_NTHREADS) decode(struct section_job job)
{
	__shared__ struct inflate_tables tables[DECODE_NWARPS];

	for (uint32_t i; (i = next_section(job)) < job.nsections;) {
		struct inflate_section s = job.sections[i];
		struct inflater<uint16_t> f = {};
		f.data = job.data.data;
		f.nbytes = job.data.nbytes;
		f.text = job.symbols + s.symbols_at;
		f.room = s.room;
		inflate_seek(&f, (uint32_t)(s.begin / 8));
		bits_drop(&f.bits, (uint32_t)(s.begin % 8));
		s.end = s.begin;
		s.nsymbols = s.next = 0;
		s.how = decode_section(job, i, &f, &tables[warp_index()], &s);
		__syncwarp(); /* the tables are not used any more */
		if (warp_lane() == 0) {
			job.sections[i].end = s.end; /* begin is read by other warps */
			job.sections[i].nsymbols = s.nsymbols;
			job.sections[i].next = s.next;
			job.sections[i].how = s.how;
		}
	}
}

cudaError_t sections_decode_launch(struct section_job job, cudaStream_t stream)
{
	uint32_t nresident, nblocks = (job.nsections + DECODE_NWARPS - 1) / DECODE_NWARPS;
	cudaError_t error = grid_nresident(decode, DECODE_NTHREADS, 0, &nresident);

	if (error != cudaSuccess || nblocks == 0)
		return error;
	decode<<<nblocks < nresident ? nblocks : nresident, DECODE_NTHREADS, 0, stream>>>(job);
	return cudaGetLastError();
}
