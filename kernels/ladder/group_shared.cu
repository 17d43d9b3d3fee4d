/* SPDX-License-Identifier: MIT
 *
 * group_shared.cu - a table in shared memory for each block, emptied into the table at the end.
 *
 * Additions in shared memory are near, and a block's threads are all that meet there. A block takes many records before it
 * empties its table. A key that finds no place within a few probes goes to the table in device memory at once: of many
 * groups nearly all do, after probes in vain.
 */
#include "group_rung.cuh"

#define SHARED_NTHREADS 256
#define SHARED_NSLOTS 1024
#define SHARED_NPROBES 4
#define SHARED_NRECORDS 16384 /* of a block */

__global__ static void __launch_bounds__(SHARED_NTHREADS) shared(struct group_run run)
{
	__shared__ struct group_slot slots[SHARED_NSLOTS];
	uint32_t begin = blockIdx.x * SHARED_NRECORDS;
	uint32_t end = run.n - begin < SHARED_NRECORDS ? run.n : begin + SHARED_NRECORDS;

	for (uint32_t k = threadIdx.x; k < SHARED_NSLOTS; k += SHARED_NTHREADS)
		slots[k] = {0, 0, 0};
	__syncthreads();
	for (uint32_t i = begin + threadIdx.x; i < end; i += SHARED_NTHREADS) {
		uint64_t hash = key_hash(run, i);
		struct group_slot *slot = slot_find(run, slots, SHARED_NSLOTS, SHARED_NPROBES, i, hash);
		if (slot)
			slot_add(slot, 1, (unsigned long long)run.values[i]);
		else
			table_add(run, i, hash, 1, (unsigned long long)run.values[i]);
	}
	__syncthreads();
	for (uint32_t k = threadIdx.x; k < SHARED_NSLOTS; k += SHARED_NTHREADS)
		if (slots[k].record > 0)
			table_add(run, slots[k].record - 1, key_hash(run, slots[k].record - 1), slots[k].count, slots[k].sum);
}

static cudaError_t shared_launch(const struct group_run &run, cudaStream_t stream)
{
	if (run.n > 0)
		shared<<<(run.n + SHARED_NRECORDS - 1) / SHARED_NRECORDS, SHARED_NTHREADS, 0, stream>>>(run);
	return cudaGetLastError();
}

GROUP_RUNG(shared, "a table in shared memory for each block", shared_launch, NULL)
