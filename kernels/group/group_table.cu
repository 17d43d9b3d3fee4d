/* SPDX-License-Identifier: MIT
 *
 * group_table.cu - records into groups. See group_table.cuh.
 */
#include "kernels/group/group_table.cuh"

#include "kernels/group/group_key.cuh"
#include "kernels/level/warp.cuh"

#define GROUP_NTHREADS 256
#define VALUE_BOUND INT64_C(1000000000000000000) /* all values lie within: 32 squares fit 128 bits */
static_assert(DECIMAL_NDIGITS == 18, "a significand lies within VALUE_BOUND");

typedef unsigned long long word64; /* what CUDA's atomics take */

void group_control_begin(struct group_control *control)
{
	for (struct group_part &part : control->parts)
		part = {0, UINT64_MAX};
	for (uint32_t &scale : control->scales)
		scale = GROUP_SCALE_UNSET;
}

/* ---- the table ---- */

/* Other blocks write what these read, so the loads go past the cache of the multiprocessor, which may hold
 * bytes of before. A group is read by way of its slot: it cannot be loaded sooner. */
static __device__ inline uint64_t word_load(const uint64_t *word)
{
	return __ldcg((const word64 *)word);
}

/* The words of a key. */
static __device__ inline uint32_t key_nwords(uint32_t nbytes)
{
	return (nbytes + 7) / 8;
}

/* Whether the group at `index` has this key. */
template <unsigned N>
static __device__ bool group_has_key(const struct group_table &t, uint64_t index, const struct group_key<N> &key)
{
	const uint64_t *words = t.words + index;
	bool same = word_load(&words[1]) >> 32 == key.nbytes;

	for (uint32_t at = 0; same && at < key.nbytes; at += 8)
		same = word_load(&words[t.layout.nwords + at / 8]) == group_key_word(key, at);
	return same;
}

/* Writes a group without records. */
template <unsigned N>
static __device__ void group_write(const struct group_table &t, uint64_t index, const struct group_key<N> &key)
{
	uint64_t *words = t.words + index;

	words[0] = UINT64_MAX;
	words[1] = (uint64_t)key.nbytes << 32;
	for (uint32_t i = 2; i < t.layout.nwords; i++)
		words[i] = 0;
	for (uint32_t c = 0; c < t.layout.ncolumns; c++) {
		const struct group_layout_column &column = t.layout.columns[c];
		if (!column.parses || !(column.needs & MOMENT_EXTREMES))
			continue;
		words[column.word + 3] = (uint64_t)INT64_MAX;
		words[column.word + 4] = (uint64_t)INT64_MIN;
	}
	for (uint32_t at = 0; at < key.nbytes; at += 8)
		words[t.layout.nwords + at / 8] = group_key_word(key, at);
	__threadfence(); /* whoever sees the slot sees the group */
}

/* Takes words of a part for a new group, and writes it. Returns its index; 0: the part is full. */
template <unsigned N>
static __device__ uint64_t group_new(const struct group_table &t, uint32_t p, const struct group_key<N> &key)
{
	struct group_part *part = &t.control->parts[p];
	uint64_t nwords = t.layout.nwords + key_nwords(key.nbytes), begin, index;

	if (__ldcg(&part->nwords) >= t.part_nwords)
		return 0;
	begin = atomicAdd(&part->nwords, (word64)nwords);
	if (begin + nwords > t.part_nwords) {
		atomicMin(&part->end, (word64)begin);
		return 0;
	}
	index = 1 + p * t.part_nwords + begin;
	group_write(t, index, key);
	return index;
}

/* Finds the group with the key, or makes one. Returns its index; 0: the table is full. */
template <unsigned N>
static __device__ uint64_t group_find_key(const struct group_table &t, const struct group_key<N> &key, uint64_t hash)
{
	uint32_t p = (uint32_t)(hash >> (64 - GROUP_TABLE_PART_BITS));
	uint64_t *slots = t.slots + p * t.part_nslots, mask = t.part_nslots - 1, made = 0;
	/* Of each half of the hash those bits that say least about the place: a long key has the upper half only. */
	uint64_t tag = (hash ^ hash >> 32) << GROUP_INDEX_BITS;
	uint64_t place = __umul64hi(hash << GROUP_TABLE_PART_BITS, t.part_nslots);

	for (uint32_t i = 0; i < GROUP_TABLE_NPROBES && i <= mask; i++, place = (place + 1) & mask) {
		uint64_t slot = word_load(&slots[place]);
		if (slot == 0) {
			made = made ? made : group_new(t, p, key);
			if (made == 0)
				return 0;
			slot = atomicCAS((word64 *)&slots[place], (word64)0, (word64)(tag | made));
			if (slot == 0)
				return made;
		}
		if ((slot & ~GROUP_INDEX_MASK) == tag && group_has_key(t, slot & GROUP_INDEX_MASK, key))
			return slot & GROUP_INDEX_MASK;
	}
	return 0;
}

/* ---- values ---- */

/* Writes *value at a scale larger by nzeros digits. Returns false where it is not within VALUE_BOUND then. */
static __device__ inline bool value_lengthen(int64_t *value, uint32_t nzeros)
{
	for (; nzeros > 0 && *value != 0; nzeros--) {
		if (*value >= VALUE_BOUND / 10 || *value <= -VALUE_BOUND / 10)
			return false;
		*value *= 10;
	}
	return true;
}

/* A record's value of a column. */
struct group_value {
	bool counts; /* it is there, and not missing */
	uint32_t scale; /* as it is written; significand: at the table's scale */
	int64_t significand;
};

/* Returns false where the table does not take it, as the field of an odd record, which fields leaves out. */
static __device__ inline bool value_read(const struct group_layout_column &column, const struct field_table &fields,
					 uint32_t r, uint32_t table_scale, struct group_value *value)
{
	size_t at = field_at(fields, column.column, r);
	uint32_t code = fields.code[at];

	*value = {code < FIELD_NCODES_NUMBER, code, 0};
	if (!value->counts)
		return code == FIELD_MISSING || code == FIELD_ABSENT;
	if (!column.parses)
		return true;
	value->significand = fields.significand[at];
	return code <= table_scale && value_lengthen(&value->significand, table_scale - code);
}

/* Whether the table takes all of the record's values. */
static __device__ inline bool record_fits(const struct group_table &t, const struct group_records &chunk, uint32_t r,
					  const uint32_t *scales)
{
	struct group_value value;
	bool fits = true;

	for (uint32_t c = 0; c < t.layout.ncolumns && fits; c++)
		fits = value_read(t.layout.columns[c], chunk.fields, r, scales[c], &value);
	return fits;
}

/* ---- finding ---- */

/* The table's scale of a column: the largest of this chunk, if it is the first that has numbers. All blocks of
 * the chunk ask for the same. */
static __device__ uint32_t scale_of(const struct group_table &t, const struct group_records &chunk, uint32_t c)
{
	uint32_t scales = chunk.tally[t.layout.columns[c].column].scales;
	uint32_t wanted = scales ? 31 - (uint32_t)__clz((int)scales) : 0, was = GROUP_SCALE_UNSET;

	if (scales)
		was = atomicCAS(&t.control->scales[c], GROUP_SCALE_UNSET, wanted);
	return was == GROUP_SCALE_UNSET ? wanted : was;
}

/* Makes the record's key. Returns false where it is too long. */
template <unsigned N>
static __device__ bool key_read(const struct group_table &t, const struct group_records &chunk, uint32_t r,
				struct group_key<N> *key)
{
	key->text = chunk.text.data;
	key->nvalues = t.layout.nkeys;
	key->nbytes = t.layout.nkeys - 1; /* NULs */
	for (uint32_t i = 0; i < t.layout.nkeys; i++) {
		size_t at = field_at(chunk.fields, chunk.first_key + i, r);
		uint64_t span = (uint64_t)chunk.fields.significand[at];
		key->begin[i] = (uint32_t)span;
		key->end[i] = (uint32_t)(span >> 32);
		key->nbytes += key->end[i] - key->begin[i];
	}
	return key->nbytes <= GROUP_TABLE_KEY_NBYTES_MAX;
}

/* Finds the groups of a warp's records, which all lanes do together; records with the same hash wait for the first of
 * them, which is likely to find the group of all. Returns 0 where the table is full, or for a lane without a
 * record. */
template <unsigned N>
static __device__ uint64_t warp_find(const struct group_table &t, bool has_record, const struct group_key<N> &key)
{
	uint64_t hash = has_record ? group_key_hash(key, t.layout.seed[0], t.layout.seed[1]) & t.hash_mask : 0, index = 0;
	unsigned same = __match_any_sync(WARP_ALL, (word64)hash) & __ballot_sync(WARP_ALL, has_record);
	unsigned first = same ? (unsigned)__ffs((int)same) - 1 : 0;

	if (has_record && warp_lane() == first)
		index = group_find_key(t, key, hash);
	uint64_t found = __shfl_sync(WARP_ALL, (word64)index, (int)first);
	if (!has_record || warp_lane() == first)
		return index;
	return found != 0 && group_has_key(t, found, key) ? found : group_find_key(t, key, hash);
}

template <unsigned N>
__global__ static void __launch_bounds__(GROUP_NTHREADS)
group_find(const __grid_constant__ struct group_table t, const __grid_constant__ struct group_records chunk)
{
	__shared__ uint32_t scales[GROUP_LAYOUT_NCOLUMNS_MAX];
	uint32_t r = blockIdx.x * GROUP_NTHREADS + threadIdx.x;

	/* 1. A chunk for the CPU makes no groups. What this kernel counts is not looked at: the threads of a block
	 * must agree. */
	if (chunk.summary->has_nul || chunk.summary->has_stray || chunk.summary->nundecided)
		return;
	if (threadIdx.x < t.layout.ncolumns)
		scales[threadIdx.x] = scale_of(t, chunk, threadIdx.x);
	__syncthreads(); /* scales are there */

	/* 2. The record's key, if there is a record. */
	size_t at = field_at(chunk.fields, chunk.first_key, r);
	bool has_record = r < *chunk.records.nrecords && chunk.fields.code[at] != FIELD_ABSENT, fits = true;
	struct group_key<N> key;
	if (has_record)
		fits = key_read(t, chunk, r, &key) && record_fits(t, chunk, r, scales);
	has_record = has_record && fits;

	/* 3. Its group. */
	uint64_t index = warp_find(t, has_record, key);
	if (has_record && index != 0) {
		chunk.fields.significand[at] = (int64_t)index;
	} else if (has_record || !fits) {
		chunk.fields.code[at] = FIELD_ABSENT;
		exception_add(chunk.exceptions, chunk.summary,
			      {record_begin(chunk.records, r), record_end(chunk.records, r), EXCEPTION_TALLIED});
	}
}

/* ---- adding ---- */

/* What the warp's lanes with the same group have of one column. Valid in all lanes. */
struct peer_sums {
	uint32_t count;
	int128 sum;
	uint128 squares;
};

/* peers: lanes with the same group, the calling one among them. All lanes call it together, and each adds up its
 * peers' values in turn, so it takes as many rounds as the largest group has lanes. */
static __device__ struct peer_sums peers_add(unsigned peers, const struct group_value &value, bool sums, bool squares)
{
	struct peer_sums all = {(uint32_t)__popc(peers & __ballot_sync(WARP_ALL, value.counts)), 0, 0};

	for (unsigned left = sums ? peers : 0; __any_sync(WARP_ALL, left != 0); left &= left - 1) {
		int source = left ? __ffs((int)left) - 1 : (int)warp_lane();
		int64_t x = __shfl_sync(WARP_ALL, (long long)value.significand, source);
		x = left ? x : 0;
		all.sum += x;
		if (squares)
			all.squares += (uint128)((int128)x * x);
	}
	return all;
}

/* Adds a warp's values of one column and group to its cell: one lane of each group calls it. */
static __device__ void cell_add(uint64_t *cell, const struct group_layout_column &column, const struct peer_sums &all)
{
	uint64_t *squares = &cell[column.needs & MOMENT_EXTREMES ? 5 : 3];

	atomicAdd((uint32_t *)&cell[0], all.count);
	if (!column.parses)
		return;
	if ((uint32_t)all.sum)
		atomicAdd((word64 *)&cell[1], (word64)(uint32_t)all.sum);
	if ((int64_t)(all.sum >> 32))
		atomicAdd((word64 *)&cell[2], (word64)(int64_t)(all.sum >> 32));
	for (int i = 0; column.needs & MOMENT_SQUARES && i < 4; i++)
		if ((uint32_t)(all.squares >> 32 * i))
			atomicAdd((word64 *)&squares[i], (word64)(uint32_t)(all.squares >> 32 * i));
}

/* What hardly ever changes after a group's first records is read before it is written, since others would queue
 * behind the atomic: each lane does it for its own value. */
static __device__ void cell_widen(uint64_t *cell, const struct group_layout_column &column,
				  const struct group_value &value)
{
	uint32_t *scales = (uint32_t *)&cell[0] + 1;
	long long *extremes = (long long *)&cell[3];

	if (!(__ldcg(scales) >> value.scale & 1))
		atomicOr(scales, 1u << value.scale);
	if (!(column.needs & MOMENT_EXTREMES))
		return;
	if (value.significand < __ldcg(&extremes[0]))
		atomicMin(&extremes[0], (long long)value.significand);
	if (value.significand > __ldcg(&extremes[1]))
		atomicMax(&extremes[1], (long long)value.significand);
}

/* Counts a warp's records of one group. first: the offset of the first of them. */
static __device__ void records_add(uint64_t *group, uint32_t nrecords, uint64_t first)
{
	atomicAdd((uint32_t *)&group[1], nrecords);
	if (first < word_load(&group[0]))
		atomicMin((word64 *)&group[0], (word64)first);
}

__global__ static void __launch_bounds__(GROUP_NTHREADS)
group_add(const __grid_constant__ struct group_table t, const __grid_constant__ struct group_records chunk)
{
	uint32_t r = blockIdx.x * GROUP_NTHREADS + threadIdx.x;
	size_t at = field_at(chunk.fields, chunk.first_key, r);

	/* 1. All of the chunk or nothing. */
	if (group_summary_refuses(*chunk.summary))
		return;

	/* 2. The warp's records with the same group. */
	bool has_record = r < *chunk.records.nrecords && chunk.fields.code[at] != FIELD_ABSENT;
	uint64_t index = has_record ? (uint64_t)chunk.fields.significand[at] : 0;
	unsigned peers = __match_any_sync(WARP_ALL, (word64)index);
	bool leads = has_record && warp_lane() == (unsigned)__ffs((int)peers) - 1;
	uint64_t *group = t.words + index;
	if (leads)
		records_add(group, (uint32_t)__popc(peers), chunk.offset_bytes + record_begin(chunk.records, r));

	/* 3. Their values, a column at a time. */
	for (uint32_t c = 0; c < t.layout.ncolumns; c++) {
		const struct group_layout_column &column = t.layout.columns[c];
		struct group_value value = {false, 0, 0};
		if (has_record)
			value_read(column, chunk.fields, r, t.control->scales[c], &value);
		struct peer_sums all = peers_add(peers, value, column.parses, column.needs & MOMENT_SQUARES);
		if (leads && all.count > 0)
			cell_add(&group[column.word], column, all);
		if (value.counts && column.parses)
			cell_widen(&group[column.word], column, value);
	}
}

/* ---- groups of the host ---- */

/* Adds a column's cell of a group to the table's. */
static __device__ void cell_combine(uint64_t *to, const uint64_t *from, const struct group_layout_column &column)
{
	uint32_t *count_scales = (uint32_t *)to;
	uint32_t nextremes = column.needs & MOMENT_EXTREMES ? 2 : 0;

	if ((uint32_t)from[0] == 0)
		return;
	atomicAdd(&count_scales[0], (uint32_t)from[0]);
	if (!column.parses)
		return;
	atomicOr(&count_scales[1], (uint32_t)(from[0] >> 32));
	for (uint32_t i = 1; i < 3; i++)
		atomicAdd((word64 *)&to[i], (word64)from[i]);
	if (nextremes) {
		atomicMin((long long *)&to[3], (long long)from[3]);
		atomicMax((long long *)&to[4], (long long)from[4]);
	}
	for (uint32_t i = 0; column.needs & MOMENT_SQUARES && i < 4; i++)
		atomicAdd((word64 *)&to[3 + nextremes + i], (word64)from[3 + nextremes + i]);
}

__global__ static void __launch_bounds__(GROUP_NTHREADS)
group_merge(const __grid_constant__ struct group_table t, const uint64_t *words, const uint64_t *begins, uint32_t ngroups,
	    word64 *nleft)
{
	uint32_t i = blockIdx.x * GROUP_NTHREADS + threadIdx.x;

	if (i >= ngroups)
		return;
	const uint64_t *from = words + (begins[i] - begins[0]);
	uint32_t nbytes = (uint32_t)(from[1] >> 32);
	const struct group_key<1> key = {(const char *)(from + t.layout.nwords), 1, nbytes, {0}, {nbytes}};
	uint64_t hash = group_key_hash(key, t.layout.seed[0], t.layout.seed[1]) & t.hash_mask;
	uint64_t index = group_find_key(t, key, hash);
	if (index == 0) {
		atomicAdd(nleft, 1);
		return;
	}
	uint64_t *to = t.words + index;
	records_add(to, (uint32_t)from[1], from[0]);
	for (uint32_t c = 0; c < t.layout.ncolumns; c++) {
		uint32_t word = t.layout.columns[c].word;
		cell_combine(&to[word], &from[word], t.layout.columns[c]);
	}
}

/* ---- launches ---- */

static uint32_t nblocks_of(const struct group_records &chunk)
{
	return (chunk.records.nrecords_at_most + GROUP_NTHREADS - 1) / GROUP_NTHREADS;
}

cudaError_t group_find_launch(const struct group_table &table, const struct group_records &chunk, cudaStream_t stream)
{
	uint32_t nblocks = nblocks_of(chunk);

	if (nblocks == 0)
		return cudaSuccess;
	if (table.layout.nkeys == 1)
		group_find<1><<<nblocks, GROUP_NTHREADS, 0, stream>>>(table, chunk);
	else
		group_find<GROUP_LAYOUT_NKEYS_MAX><<<nblocks, GROUP_NTHREADS, 0, stream>>>(table, chunk);
	return cudaGetLastError();
}

cudaError_t group_add_launch(const struct group_table &table, const struct group_records &chunk, cudaStream_t stream)
{
	uint32_t nblocks = nblocks_of(chunk);

	if (nblocks == 0)
		return cudaSuccess;
	group_add<<<nblocks, GROUP_NTHREADS, 0, stream>>>(table, chunk);
	return cudaGetLastError();
}

cudaError_t group_merge_launch(const struct group_table &table, const uint64_t *words, const uint64_t *begins,
			       uint32_t ngroups, unsigned long long *nleft, cudaStream_t stream)
{
	if (ngroups == 0)
		return cudaSuccess;
	group_merge<<<(ngroups + GROUP_NTHREADS - 1) / GROUP_NTHREADS, GROUP_NTHREADS, 0, stream>>>(table, words, begins,
												ngroups, nleft);
	return cudaGetLastError();
}
