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
	control->nleft = 0;
	control->census = {0, 0};
}

/* ---- the table ---- */

/* Other blocks write what these read, so the loads go past the cache of the multiprocessor, which may hold
 * bytes of before. A group is read by way of its slot: it cannot be loaded sooner. */
static __device__ inline uint64_t word_load(const uint64_t *word)
{
	return __ldcg((const word64 *)word);
}

static __device__ inline struct group *group_at(const struct group_table &t, uint64_t index)
{
	return (struct group *)(t.words + index);
}

/* Whether the group at `index` has this key. */
template <unsigned N>
static __device__ bool group_has_key(const struct group_table &t, uint64_t index, const struct group_key<N> &key)
{
	const uint64_t *words = t.words + index;
	const struct group *g = group_at(t, index);
	bool same = word_load(&g->key.high) == key.high && word_load(&g->key.low) == key.low;

	if (key.nbytes <= KEY_INLINE_NBYTES)
		return same;
	for (uint32_t at = 0; same && at < key.nbytes; at += 8)
		same = word_load(&words[t.layout.nwords + at / 8]) == group_key_word(key, at);
	return same;
}

/* Writes a group without records. */
template <unsigned N>
static __device__ void group_write(const struct group_table &t, uint64_t index, const struct group_key<N> &key)
{
	uint64_t *words = t.words + index;
	struct group *g = group_at(t, index);

	for (uint32_t i = 0; i < t.layout.nwords; i++)
		words[i] = 0;
	g->key.low = key.low;
	g->key.high = key.high;
	g->first = UINT64_MAX;
	for (uint32_t c = 0; c < t.layout.ncolumns; c++) {
		const struct group_layout_column &column = t.layout.columns[c];
		struct group_cell *cell = (struct group_cell *)(words + column.cell);
		if (!column.parses || !(column.needs & MOMENT_EXTREMES))
			continue;
		cell->extremes[0] = INT64_MAX;
		cell->extremes[1] = INT64_MIN;
	}
	for (uint32_t at = 0; key.nbytes > KEY_INLINE_NBYTES && at < key.nbytes; at += 8)
		words[t.layout.nwords + at / 8] = group_key_word(key, at);
	__threadfence(); /* whoever sees the slot sees the group */
}

/* Takes words of a part for a new group, and writes it. Returns its index; 0: the part is full. */
template <unsigned N>
static __device__ uint64_t group_new(const struct group_table &t, uint32_t p, const struct group_key<N> &key)
{
	struct group_part *part = &t.control->parts[p];
	uint64_t nwords = t.layout.nwords + group_words_of_key(key.high), begin, index;

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
template <unsigned N> static __device__ uint64_t group_find_key(const struct group_table &t, const struct group_key<N> &key)
{
	uint64_t hash = key.hash & t.hash_mask;
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
	if (key->nbytes > GROUP_TABLE_KEY_NBYTES_MAX)
		return false;
	group_key_make(key, t.layout.seed);
	return true;
}

/* Finds the groups of a warp's records, which all lanes do together; records with the same hash wait for the first of
 * them, which is likely to find the group of all. Returns 0 where the table is full, or for a lane without a
 * record. */
template <unsigned N>
static __device__ uint64_t warp_find(const struct group_table &t, bool has_record, const struct group_key<N> &key)
{
	uint64_t hash = has_record ? key.hash & t.hash_mask : 0, index = 0;
	unsigned same = __match_any_sync(WARP_ALL, (word64)hash) & __ballot_sync(WARP_ALL, has_record);
	unsigned first = same ? (unsigned)__ffs((int)same) - 1 : 0;

	if (has_record && warp_lane() == first)
		index = group_find_key(t, key);
	uint64_t found = __shfl_sync(WARP_ALL, (word64)index, (int)first);
	if (!has_record || warp_lane() == first)
		return index;
	return found != 0 && group_has_key(t, found, key) ? found : group_find_key(t, key);
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

/* Adds x and a carry to a word of a longer sum, to which others add meanwhile. Returns the carry to the word above it: all
 * carries arrive there, in any order, so the sum is right when all have added. */
static __device__ inline bool word_add(void *word, uint64_t x, bool carry)
{
	uint64_t more = x + carry, was;

	if (more == 0) /* nothing, or a whole turn of the word */
		return carry;
	was = atomicAdd((word64 *)word, (word64)more);
	return was + more < was;
}

/* Adds to a column's cell and its excess. high: the squares' third word. The sum's additions return nothing: with a carry, all
 * that add to one of few groups would wait for one another. */
static __device__ void cell_add(uint64_t *group, const struct group_layout_column &column, uint32_t count, int128 sum,
				uint128 squares, uint64_t high)
{
	struct group_cell *cell = (struct group_cell *)(group + column.cell);
	uint64_t *excess = group + column.excess;

	atomicAdd((uint32_t *)&cell->count_scale, count);
	if (!column.parses)
		return;
	if ((uint64_t)sum)
		atomicAdd((word64 *)&cell->sum, (word64)sum);
	if ((uint64_t)(sum >> GROUP_UPPER_SHIFT))
		atomicAdd((word64 *)&excess[0], (word64)(sum >> GROUP_UPPER_SHIFT));
	if (column.needs & MOMENT_SQUARES)
		word_add(&excess[1], high,
			 word_add(&cell->squares[1], (uint64_t)(squares >> 64), word_add(&cell->squares[0], (uint64_t)squares, false)));
}

/* Widens a cell to numbers from min to max, one of which is written with the scale. What hardly ever changes after a group's
 * first records is read before it is written, since others would queue behind the atomic. */
static __device__ void cell_widen(uint64_t *group, const struct group_layout_column &column, uint32_t scale, int64_t min,
				  int64_t max)
{
	struct group_cell *cell = (struct group_cell *)(group + column.cell);
	uint32_t *upper = (uint32_t *)&cell->count_scale + 1, of_scale = scale << (GROUP_COUNT_BITS - 32);
	long long *extremes = (long long *)cell->extremes;

	if (__ldcg(upper) < of_scale) /* the count has the lower half alone */
		atomicMax(upper, of_scale);
	if (!(column.needs & MOMENT_EXTREMES))
		return;
	if (min < __ldcg(&extremes[0]))
		atomicMin(&extremes[0], (long long)min);
	if (max > __ldcg(&extremes[1]))
		atomicMax(&extremes[1], (long long)max);
}

/* Counts a warp's records of one group. first: the offset of the first of them. */
static __device__ void records_add(struct group *g, uint32_t nrecords, uint64_t first)
{
	atomicAdd((word64 *)&g->nrecords, (word64)nrecords);
	if (first < word_load(&g->first))
		atomicMin((word64 *)&g->first, (word64)first);
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
		records_add(group_at(t, index), (uint32_t)__popc(peers), chunk.offset_bytes + record_begin(chunk.records, r));

	/* 3. Their values, a column at a time. */
	for (uint32_t c = 0; c < t.layout.ncolumns; c++) {
		const struct group_layout_column &column = t.layout.columns[c];
		struct group_value value = {false, 0, 0};
		if (has_record)
			value_read(column, chunk.fields, r, t.control->scales[c], &value);
		struct peer_sums all = peers_add(peers, value, column.parses, column.needs & MOMENT_SQUARES);
		if (leads && all.count > 0)
			cell_add(group, column, all.count, all.sum, all.squares, 0);
		if (value.counts && column.parses)
			cell_widen(group, column, value.scale, value.significand, value.significand);
	}
}

/* ---- groups of the host ---- */

/* Adds a column's cell of a group to the table's. */
static __device__ void cell_combine(uint64_t *to, const uint64_t *from, const struct group_layout_column &column)
{
	const struct group_cell *cell = (const struct group_cell *)(from + column.cell);
	const uint64_t *excess = from + column.excess;
	bool squares = column.parses && column.needs & MOMENT_SQUARES, extremes = column.needs & MOMENT_EXTREMES;

	if ((uint32_t)cell->count_scale == 0)
		return;
	cell_add(to, column, (uint32_t)cell->count_scale,
		 column.parses ? group_words_sum(cell->sum, excess[0]) : 0,
		 squares ? (uint128)cell->squares[1] << 64 | cell->squares[0] : 0, squares ? excess[1] : 0);
	if (column.parses)
		cell_widen(to, column, (uint32_t)(cell->count_scale >> GROUP_COUNT_BITS), extremes ? cell->extremes[0] : 0,
			   extremes ? cell->extremes[1] : 0);
}

__global__ static void __launch_bounds__(GROUP_NTHREADS)
group_merge(const __grid_constant__ struct group_table t, const uint64_t *words, const uint64_t *begins, uint32_t ngroups)
{
	uint32_t i = blockIdx.x * GROUP_NTHREADS + threadIdx.x;

	if (i >= ngroups)
		return;
	const uint64_t *from = words + begins[i];
	const struct group *g = (const struct group *)from;
	bool is_long = group_words_of_key(g->key.high) > 0;
	uint32_t nbytes = (uint32_t)(is_long ? g->key.high & KEY_MAX_NBYTES : (g->key.high >> 56) - 1);
	struct group_key<1> key = {(const char *)(is_long ? from + t.layout.nwords : from), 1, nbytes, {0}, {nbytes}, 0, 0, 0};
	group_key_make(&key, t.layout.seed);
	uint64_t index = group_find_key(t, key);
	if (index == 0) {
		atomicAdd(&t.control->nleft, 1);
		return;
	}
	records_add(group_at(t, index), (uint32_t)g->nrecords, g->first);
	for (uint32_t c = 0; c < t.layout.ncolumns; c++)
		cell_combine(t.words + index, from, t.layout.columns[c]);
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
			       uint32_t ngroups, cudaStream_t stream)
{
	if (ngroups == 0)
		return cudaSuccess;
	group_merge<<<(ngroups + GROUP_NTHREADS - 1) / GROUP_NTHREADS, GROUP_NTHREADS, 0, stream>>>(table, words, begins,
												ngroups);
	return cudaGetLastError();
}
