/* SPDX-License-Identifier: MIT
 *
 * sweep.cu - see sweep.cuh.
 */
#include "bench/ladder/sweep.cuh"

#include "bench/ladder/event_timer.cuh"

#define SWEEP_NREPEATS 15
#define SWEEP_NTHREADS_MAX 1024

/* A block reads tiles of blockDim.x x NPACKS packs of 16 bytes, gridDim.x apart. All loads of a
 * tile are in flight before the first is used. */
template <unsigned NPACKS, class USE>
static __device__ inline void sweep_tiles(const uint4 *in, uint64_t npacks, USE use)
{
	const uint64_t tile = (uint64_t)blockDim.x * NPACKS;

	for (uint64_t at = blockIdx.x * tile; at < npacks; at += gridDim.x * tile) {
		uint4 pack[NPACKS];
#pragma unroll
		for (unsigned k = 0; k < NPACKS; k++) {
			uint64_t i = at + k * blockDim.x + threadIdx.x;
			pack[k] = i < npacks ? __ldcs(in + i) : make_uint4(0, 0, 0, 0);
		}
#pragma unroll
		for (unsigned k = 0; k < NPACKS; k++)
			use(at + k * blockDim.x + threadIdx.x, pack[k]);
	}
}

template <unsigned NPACKS>
__global__ static void __launch_bounds__(SWEEP_NTHREADS_MAX)
	sweep_read(const uint4 *in, uint4 *out, uint64_t npacks)
{
	uint32_t all = 0;

	sweep_tiles<NPACKS>(in, npacks, [&all](uint64_t, uint4 pack) {
		all ^= pack.x ^ pack.y ^ pack.z ^ pack.w;
	});
	/* Almost never true, but the compiler cannot know: it must load everything. */
	if (all == 0x9e3779b9)
		*(uint32_t *)out = all;
}

template <unsigned NPACKS>
__global__ static void __launch_bounds__(SWEEP_NTHREADS_MAX)
	sweep_copy(const uint4 *in, uint4 *out, uint64_t npacks)
{
	sweep_tiles<NPACKS>(in, npacks, [=](uint64_t i, uint4 pack) {
		if (i < npacks)
			__stcs(out + i, pack);
	});
}

typedef void sweep_kernel(const uint4 *in, uint4 *out, uint64_t npacks);

/* A shape to try: threads a block, packs in flight a thread, blocks a multiprocessor (0: a tile a
 * block). */
struct sweep_shape {
	sweep_kernel *read, *copy;
	unsigned npacks, nthreads, nblocks;
};
#define SWEEP_SHAPE(NPACKS, nthreads, nblocks)                                               \
	{sweep_read<NPACKS>, sweep_copy<NPACKS>, NPACKS, nthreads, nblocks}
static const struct sweep_shape shapes[] = {
	SWEEP_SHAPE(1, 256, 0), SWEEP_SHAPE(1, 1024, 0), SWEEP_SHAPE(2, 512, 0),
	SWEEP_SHAPE(4, 256, 0), SWEEP_SHAPE(4, 512, 0),  SWEEP_SHAPE(8, 256, 0),
	SWEEP_SHAPE(4, 256, 8), SWEEP_SHAPE(4, 512, 4),  SWEEP_SHAPE(8, 256, 4),
	SWEEP_SHAPE(8, 256, 8), SWEEP_SHAPE(8, 512, 2),  SWEEP_SHAPE(8, 512, 4),
};

static cudaError_t sweep_launch(enum sweep_kind kind, const struct sweep_shape *shape,
				const struct sweep_arrays *a, size_t slot)
{
	const uint4 *in = (const uint4 *)(a->in + slot * a->slot_nbytes);
	uint4 *out = (uint4 *)(a->out + slot * a->out_slot_nbytes);
	uint64_t npacks = a->nbytes / sizeof(uint4), tile = shape->npacks * shape->nthreads;
	uint64_t ntiles = (npacks + tile - 1) / tile, nblocks = ntiles;
	int nprocessors;

	if (kind == SWEEP_MEMCPY)
		return cudaMemcpyAsync(out, in, a->nbytes, cudaMemcpyDeviceToDevice);
	if (shape->nblocks > 0) {
		cudaError_t error = cudaDeviceGetAttribute(&nprocessors,
							   cudaDevAttrMultiProcessorCount, 0);
		if (error != cudaSuccess)
			return error;
		nblocks = (uint64_t)shape->nblocks * (unsigned)nprocessors;
	}
	if (nblocks == 0)
		return cudaSuccess;
	sweep_kernel *kernel = kind == SWEEP_READ ? shape->read : shape->copy;
	kernel<<<(unsigned)nblocks, shape->nthreads>>>(in, out, npacks);
	return cudaGetLastError();
}

static cudaError_t sweep_time(enum sweep_kind kind, const struct sweep_shape *shape,
			      const struct sweep_arrays *arrays, struct bench_time *time)
{
	size_t nlaunched = 0;

	return event_timer_warm(
		SWEEP_NREPEATS, [](void) { return cudaSuccess; },
		[&](void) {
			return sweep_launch(kind, shape, arrays, nlaunched++ % arrays->nslots);
		},
		time);
}

cudaError_t sweep_measure(enum sweep_kind kind, const struct sweep_arrays *arrays,
			  struct bench_time *time, double *gbps)
{
	size_t nshapes = kind == SWEEP_MEMCPY ? 1 : sizeof shapes / sizeof *shapes;
	uint64_t nbytes = arrays->nbytes / sizeof(uint4) * sizeof(uint4);
	struct bench_time tried;

	*gbps = 0;
	for (size_t i = 0; i < nshapes; i++) {
		cudaError_t error = sweep_time(kind, &shapes[i], arrays, &tried);
		if (error != cudaSuccess)
			return error;
		double seen = (double)(kind == SWEEP_READ ? nbytes : 2 * nbytes) / tried.median_ns;
		if (tried.median_ns > 0 && seen > *gbps) {
			*gbps = seen;
			*time = tried;
		}
	}
	return cudaSuccess;
}
