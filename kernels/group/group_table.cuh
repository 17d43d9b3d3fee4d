/* SPDX-License-Identifier: MIT
 *
 * group_table.cuh - a hash table of groups in device memory, which all streams of the device share (--by).
 *
 * A group is the plan's record as words (src/fold/group_words.h), and never moves. The words are divided into as many parts
 * as the host's store, by the highest bits of the keys' hashes, each with a place up to which it is filled:
 * a part comes down as it is, and is added by one thread of the host at a time. A slot is one word, 0 or a
 * group's index and some bits of its key's hash; probes are linear, within the slots of the part. The bytes
 * of a key are always compared.
 *
 * A new group is written first, and its slot then taken by one compare-and-swap, so a slot's group is whole
 * whoever sees it, no thread waits for another, and a thread that comes second uses the group of the first.
 * What it has written is lost then: some words, without records.
 *
 * A chunk takes two launches. group_find finds or makes the group of each record, and lists the records that the
 * table does not take, which the CPU adds to groups of the host. group_add, behind it, adds the values of all
 * others, or nothing, if the chunk has a fault, or so many exceptions that the CPU folds all of it. That is
 * decided on the device, without waiting for the host.
 *
 * Sums are added without regard to order, which does not show: they are exact. Lanes of a warp whose
 * records have the same group add up their values first, so a group that all records have gets one addition
 * a warp. Then even five groups take 22 million additions a second each at 50 GB/s of short records, which is
 * one in 50 of what an address takes in the L2 cache, so there is no table of a block's own in shared memory
 * in between: it would be filled and emptied to save what does not bound the run (docs/speed.md, "Groups, order
 * statistics and computed columns on a GPU").
 */
#pragma once

#include <cuda_runtime.h>
#include <stddef.h>
#include <stdint.h>

extern "C" {
#include "fold/group_words.h"
}

#include "kernels/csv/fields.cuh"
#include "kernels/fold/reduce.cuh"

#define GROUP_TABLE_PART_BITS 8 /* GROUPS_PART_BITS */
#define GROUP_TABLE_NPARTS (1u << GROUP_TABLE_PART_BITS)
#define GROUP_TABLE_NPROBES 1024 /* a key that is not found by then finds the table full */
#define GROUP_TABLE_KEY_NBYTES_MAX ((uint32_t)GROUP_WORDS_KEY_NBYTES_MAX)
#define GROUP_SCALE_UNSET UINT32_MAX

/* How far a part is filled. */
struct group_part {
	unsigned long long nwords; /* asked for so far: may be more than there are */
	unsigned long long end;    /* where the first request begins that did not fit, or UINT64_MAX */
};

/* The groups with records. */
struct group_census {
	unsigned long long n, last; /* how many, and the greatest offset of a first record */
};

/* What of a table changes besides groups and slots. Copied by 16 bytes. */
struct alignas(16) group_control {
	struct group_part parts[GROUP_TABLE_NPARTS];
	uint32_t scales[GROUP_LAYOUT_NCOLUMNS_MAX]; /* of the layout's columns, or GROUP_SCALE_UNSET: that of the
						     * first chunk with numbers */
	unsigned long long nleft;   /* groups for which group_merge found no room */
	struct group_census census; /* set by group_count_launch */
};

/* A table as kernels see it. All pointers: device memory. */
struct group_table {
	uint64_t *slots; /* GROUP_TABLE_NPARTS x part_nslots, a power of 2; zeroed */
	uint64_t *words; /* 1 + GROUP_TABLE_NPARTS x part_nwords; the first is no group's */
	struct group_control *control; /* as group_control_begin makes it */
	uint64_t part_nslots, part_nwords;
	uint64_t hash_mask; /* all bits; tests make keys collide */
	struct group_layout layout;
};
#define GROUP_INDEX_BITS 40 /* of a slot: where in words the group begins; the others are of the hash */
#define GROUP_INDEX_MASK ((UINT64_C(1) << GROUP_INDEX_BITS) - 1)

/* The words of part p, and how many of them are groups'. */
static inline const uint64_t *group_part_words(const struct group_table &t, uint32_t p)
{
	return t.words + 1 + p * t.part_nwords;
}

static inline uint64_t group_part_nwords(const struct group_table &t, const struct group_control &control, uint32_t p)
{
	const struct group_part &part = control.parts[p];

	return part.end < part.nwords ? part.end : part.nwords < t.part_nwords ? part.nwords : t.part_nwords;
}

/* A table without groups. */
void group_control_begin(struct group_control *control);

/* One chunk's records. */
struct group_records {
	struct text_view text;
	struct record_table records;
	struct field_table fields;         /* columns of the plan, ... */
	uint32_t first_key;                /* ... and from this one on the keys: see fields_plan */
	const struct column_tally *tally;  /* of the plan's columns: reduce_codes' */
	uint64_t offset_bytes;             /* of the text in the input */
	struct exception_list exceptions;
	struct chunk_summary *summary;
};
/* So many records the CPU adds to their groups one by one; with more, it folds all of the chunk. */
#define GROUP_EXCEPTIONS_MAX 256

/* Finds the group of each record of the chunk, and makes those that are not there. The first key's
 * significands become the groups' indices. Records that the table does not take become EXCEPTION_TALLIED, and the
 * first key FIELD_ABSENT there: where a value has more digits behind the point than the table's scale or too many in
 * front of it, where the key is longer than GROUP_TABLE_KEY_NBYTES_MAX, and where the table is full.
 * Launches one kernel on stream, a thread a record, and does not wait. Errors: the launch's. */
cudaError_t group_find_launch(const struct group_table &table, const struct group_records &chunk,
			      cudaStream_t stream);

/* Adds the records to their groups, behind group_find: all of them, or none if group_summary_refuses. Launches one kernel
 * on stream, a thread a record, and does not wait. Errors: the launch's. */
cudaError_t group_add_launch(const struct group_table &table, const struct group_records &chunk,
			     cudaStream_t stream);

/* Adds groups of the host to the table's: ngroups that lie in words, from begins[i] on, both in device memory. The control's
 * nleft becomes greater by the number of those for which the table has no room. Launches one kernel on stream, a thread a
 * group, and does not wait. Errors: the launch's. */
cudaError_t group_merge_launch(const struct group_table &table, const uint64_t *words, const uint64_t *begins,
			       uint32_t ngroups, cudaStream_t stream);

/* Whether the CPU must fold the chunk. */
static __host__ __device__ inline bool group_summary_refuses(const struct chunk_summary &s)
{
	return s.has_nul || s.has_stray || s.nundecided > 0 || s.nexceptions > GROUP_EXCEPTIONS_MAX;
}
