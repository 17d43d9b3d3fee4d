/* SPDX-License-Identifier: MIT
 *
 * scan_job.cuh - running folds over an array in device memory, in one pass and one launch: the ladder's last rungs
 * before CUB.
 *
 * scan_launch.cuh has it for any fold. There are two engines: scan_lookback.cuh for every GPU,
 * scan_lookahead.cuh from compute capability 9.0 on. Integer results are the
 * same; floats may differ, since the order in which partials combine is not fixed.
 */
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

#include "../level/grid.cuh"

#define SCAN_ALIGN 16 /* of in and out, in bytes */

/* The arguments of a scan. All pointers: device memory. in, out: n values, 16-byte aligned; out ==
 * in is allowed, any other overlap is not. Nothing beyond out[n - 1] is written. carry_in: the fold
 * of what comes before in[0]; NULL: the identity. carry_out: receives the fold of carry_in and all
 * of in, for the next launch in the stream; NULL: not needed. They may be equal, but must not lie
 * within out. out[i] becomes the fold of carry_in and in[0 .. i], or of carry_in and in[0 .. i) if
 * exclusive. */
template <class T> struct scan_job {
	const T *in;
	T *out;
	uint64_t n;
	const T *carry_in;
	T *carry_out;
	bool exclusive;
};

/* How a fold is scanned on a device. */
enum scan_engine {
	SCAN_LOOKBACK,  /* a tile a block */
	SCAN_LOOKAHEAD, /* persistent blocks, bulk copies: compute capability 9.0 and up */
};
struct scan_shape {
	enum scan_engine engine;
	uint32_t tile_nvalues;
	uint32_t nblocks;       /* SCAN_LOOKAHEAD: at most. Any number is right; as many as run at
				 * once is fast. */
	uint32_t nstages;       /* SCAN_LOOKAHEAD: tiles a block holds */
	uint32_t shared_nbytes; /* SCAN_LOOKAHEAD: dynamic shared memory */
};

/* Chooses the best engine for fold F on the current device; the shape serves all launches there.
 * Errors: the runtime's, if this program has no code for the device, too. */
template <class F> cudaError_t scan_shape_choose(struct scan_shape *shape);

/* Like scan_shape_choose, for a given engine. cudaErrorNotSupported: it cannot run on the device,
 * or was not compiled for it. */
template <class F>
cudaError_t scan_shape_of(enum scan_engine engine, struct scan_shape *shape);

/* The slots of a stream's scans, see grid_domino. Launches of any fold and shape in that stream
 * share it; two streams must not. */
struct scan_memory {
	struct grid_domino domino;
};

/* Bytes of device memory that scans of up to n values need: about n x sizeof(value) / 4000. */
template <class F> size_t scan_memory_nbytes(const struct scan_shape *shape, uint64_t n);

/* Prepares nbytes at data, device memory, 8-byte aligned, owned by the caller, for the scans of
 * stream. Zeroes it in the stream, once; launches need no reset. Errors: the memset's;
 * cudaErrorInvalidValue: misaligned, or less than 16 bytes. */
static inline cudaError_t scan_memory_open(struct scan_memory *memory, void *data, size_t nbytes,
					   cudaStream_t stream)
{
	size_t nwords = nbytes / sizeof(uint64_t);

	if ((uintptr_t)data % sizeof(uint64_t) != 0 || nwords < 2)
		return cudaErrorInvalidValue;
	/* The ticket first, then the slots, as many as can be numbered. */
	memory->domino.ticket = (uint32_t *)data;
	memory->domino.slots = (uint64_t *)data + 1;
	memory->domino.nslots = (uint32_t)(nwords - 1 < UINT32_MAX ? nwords - 1 : UINT32_MAX);
	memory->domino.epoch = 0;
	return cudaMemsetAsync(data, 0, nbytes, stream);
}

/* Scans. Launches one kernel on stream, and does not wait.
 * Errors: the launch's; cudaErrorInvalidValue: in or out is misaligned, or memory is too
 * small for n. */
template <class F>
cudaError_t scan_launch(const struct scan_shape *shape, struct scan_memory *memory,
			struct scan_job<typename F::value> job, cudaStream_t stream);

/* Folds that rungs and tests share. */
typedef fold_sum<uint32_t> scan_sum_u32; /* also int32 modulo 2^32 */
typedef fold_sum<uint64_t> scan_sum_u64; /* also int64 modulo 2^64 */
typedef fold_sum<int128> scan_sum_i128;
typedef fold_max<int32_t, INT32_MIN> scan_max_i32;
/* nvcc accepts no int128 constant as a template argument: the identities are defined here. */
struct scan_min_i128 : fold_min<int128, 0> {
	HD int128 identity(void) { return (int128)(~(uint128)0 >> 1); }
};
struct scan_max_i128 : fold_max<int128, 0> {
	HD int128 identity(void) { return (int128)((uint128)1 << 127); }
};
