/* SPDX-License-Identifier: MIT
 *
 * group_rung.cuh - the ladder of adding up by key: records with a text and a whole number, of which each different text's
 * are counted and summed (hash aggregation).
 *
 * A slot of the table names one of its group's records, and that record's key is the group's: keys are compared byte by
 * byte, and none is copied. A slot is taken by one compare-and-swap, and never given back.
 */
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

struct group_slot {
	uint32_t record; /* one of its records, counted from 1; 0: it is free */
	uint32_t count;
	unsigned long long sum; /* modulo 2^64 */
};

/* What a launch works on. All pointers: device memory. */
struct group_run {
	const char *text;     /* keys, each with an LF behind it */
	const uint32_t *ends; /* of each record, behind its LF */
	const int64_t *values;
	uint32_t n;
	struct group_slot *slots; /* all 0 */
	uint32_t nslots;          /* a power of 2 */
	uint32_t *nlost;          /* records for which there was no slot; added to */
	void *scratch;            /* the rung's scratch_nbytes; undefined */
	size_t scratch_nbytes;
	uint64_t hash_mask; /* all bits; tests make keys collide */
};

struct group_rung {
	const char *name;
	const char *idea; /* one line: what is new in it */

	/* Adds the records to the slots. Does not wait. Errors: the launches'. */
	cudaError_t (*launch)(const struct group_run &run, cudaStream_t stream);

	size_t (*scratch_nbytes)(uint32_t n); /* NULL: none */
};

extern const struct group_rung group_simple, group_warp, group_shared, group_sorted;

/* ---- keys ---- */

static __device__ inline uint32_t key_begin(const struct group_run &run, uint32_t i)
{
	return i > 0 ? run.ends[i - 1] : 0;
}

/* The hash of record i's key: FNV-1a, and its bits mixed. */
static __device__ inline uint64_t key_hash(const struct group_run &run, uint32_t i)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (uint32_t at = key_begin(run, i); at + 1 < run.ends[i]; at++)
		hash = (hash ^ (unsigned char)run.text[at]) * UINT64_C(0x100000001b3);
	return ((hash ^ hash >> 32) * UINT64_C(0x9e3779b97f4a7c15)) & run.hash_mask;
}

static __device__ inline bool key_is_same(const struct group_run &run, uint32_t i, uint32_t j)
{
	uint32_t a = key_begin(run, i), b = key_begin(run, j), nbytes = run.ends[i] - a;

	if (nbytes != run.ends[j] - b)
		return false;
	for (uint32_t k = 0; k < nbytes; k++)
		if (run.text[a + k] != run.text[b + k])
			return false;
	return true;
}

/* ---- slots ---- */

/* The slot of record i's group, perhaps a new one, at most nprobes places from where it is looked for first; NULL: there is no
 * room. slots: the table's, or a block's own. */
static __device__ inline struct group_slot *slot_find(const struct group_run &run, struct group_slot *slots, uint32_t nslots,
						      uint32_t nprobes, uint32_t i, uint64_t hash)
{
	for (uint32_t k = 0; k < nprobes; k++) {
		struct group_slot *slot = &slots[((uint32_t)(hash >> 32) + k) & (nslots - 1)];
		uint32_t there = slot->record;
		if (there == 0)
			there = atomicCAS(&slot->record, 0, i + 1);
		if (there == 0 || there == i + 1 || key_is_same(run, there - 1, i))
			return slot;
	}
	return NULL;
}

static __device__ inline void slot_add(struct group_slot *slot, uint32_t count, unsigned long long sum)
{
	atomicAdd(&slot->count, count);
	atomicAdd(&slot->sum, sum);
}

/* Adds `count` records of record i's group to the table. */
static __device__ inline void table_add(const struct group_run &run, uint32_t i, uint64_t hash, uint32_t count,
					unsigned long long sum)
{
	struct group_slot *slot = slot_find(run, run.slots, run.nslots, run.nslots, i, hash);

	if (slot)
		slot_add(slot, count, sum);
	else
		atomicAdd(run.nlost, count);
}

/* Adds the records of a warp: those with one key first become one sum. valid: this lane has record i. All lanes call it. */
static __device__ inline void table_add_warp(const struct group_run &run, bool valid, uint32_t i, uint64_t hash)
{
	uint32_t lane = threadIdx.x % 32, valids = __ballot_sync(0xffffffff, valid);
	uint32_t alike = __match_any_sync(0xffffffff, hash) & valids;
	uint32_t leader = valid ? (uint32_t)__ffs((int)alike) - 1 : lane;
	unsigned long long value = valid ? (unsigned long long)run.values[i] : 0, sum = 0;
	uint32_t of_leader = __shfl_sync(0xffffffff, i, (int)leader), same;

	/* A hash may be that of two keys: who has not the leader's is on his own. */
	same = alike & __ballot_sync(0xffffffff, valid && (lane == leader || key_is_same(run, of_leader, i)));
	for (int other = 0; other < 32; other++) {
		unsigned long long x = __shfl_sync(0xffffffff, value, other);
		sum += same >> other & 1 ? x : 0;
	}
	if (valid && lane == leader)
		table_add(run, i, hash, (uint32_t)__popc((int)same), sum);
	else if (valid && !(same >> lane & 1))
		table_add(run, i, hash, 1, value);
}

#ifndef HAVE_CONFIG_H /* compiled alone, without the Makefile */
#include "group_standalone.cuh"
#define GROUP_STANDALONE(rung)         	int main(void)                 	{                              		return group_standalone(rung); 	}
#else
#define GROUP_STANDALONE(rung)
#endif

/* GROUP_RUNG(simple, idea, launch, scratch_nbytes) defines group_simple, and main() where it is compiled alone. */
#define GROUP_RUNG(which, idea, launch, scratch_nbytes)                                     \
	const struct group_rung group_##which = {#which, idea, launch, scratch_nbytes};     \
	GROUP_STANDALONE(group_##which)
