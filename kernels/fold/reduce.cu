/* SPDX-License-Identifier: MIT
 *
 * reduce.cu - the value fold on the GPU. See reduce.cuh.
 *
 * A column has one bin for each scale (decimal.h: no rescaling, no overflow). These are 32 bins of
 * 32 bytes, too much for a thread's registers, and indexed by the data. So there are two kernels.
 * The first reads the codes only, a byte a record, and finds which scales occur: usually one, seldom
 * more than three. The second goes over the values once for each of them, with that scale's bin in
 * registers.
 *
 * Both have a grid of slices x columns. Each thread folds its items in registers; shuffles fold the
 * warp, and shared memory the block; each block writes one partial, and the last block of a column
 * folds the column's partials. Sources: M. Harris, "Optimizing parallel reduction in CUDA", 2007;
 * the threadFenceReduction sample for the last block.
 */
#include "kernels/fold/reduce.cuh"

#include "kernels/level/lane.cuh"

#define REDUCE_NTHREADS 256
#define REDUCE_NCODES 16 /* codes a thread loads at once: 16 bytes */
#define REDUCE_NPAIRS 4  /* pairs of values a thread has in flight: 64 bytes */
#define REDUCE_STRIP (2 * REDUCE_NPAIRS * REDUCE_NTHREADS) /* rows a block loads at once */
#define REDUCE_GRID_Y_MAX 65535

typedef fold_sum<uint32_t> sum_u32;
typedef fold_or<uint32_t> or_u32;
typedef fold_min<uint32_t, UINT32_MAX> min_u32;
typedef fold_sum<int128> sum_i128;
typedef fold_min<int64_t, INT64_MAX> min_i64;
typedef fold_max<int64_t, INT64_MIN> max_i64;

static __device__ struct column_tally tally_identity(void)
{
	return {0, 0, 0, 0, UINT32_MAX, UINT32_MAX};
}

/* Folds the code of row into t. */
static __device__ void tally_add(struct column_tally *t, unsigned code, uint32_t row)
{
	if (code < FIELD_NCODES_NUMBER) {
		t->nnumbers++;
		t->scales |= 1u << code;
		t->first_number = min_u32::combine(t->first_number, row);
	} else if (code == FIELD_INVALID) {
		t->ninvalid++;
		t->first_invalid = min_u32::combine(t->first_invalid, row);
	} else {
		t->nmissing += code == FIELD_MISSING;
	}
}

static __device__ void tally_combine(struct column_tally *t, const struct column_tally &later)
{
	t->nnumbers += later.nnumbers;
	t->nmissing += later.nmissing;
	t->ninvalid += later.ninvalid;
	t->scales |= later.scales;
	t->first_number = min_u32::combine(t->first_number, later.first_number);
	t->first_invalid = min_u32::combine(t->first_invalid, later.first_invalid);
}

/* The fold of the block's tallies; valid in thread 0. */
static __device__ struct column_tally tally_reduce_block(const struct column_tally &t)
{
	struct column_tally block;

	block.nnumbers = block_reduce<sum_u32, REDUCE_NTHREADS>(t.nnumbers);
	block.nmissing = block_reduce<sum_u32, REDUCE_NTHREADS>(t.nmissing);
	block.ninvalid = block_reduce<sum_u32, REDUCE_NTHREADS>(t.ninvalid);
	block.scales = block_reduce<or_u32, REDUCE_NTHREADS>(t.scales);
	block.first_number = block_reduce<min_u32, REDUCE_NTHREADS>(t.first_number);
	block.first_invalid = block_reduce<min_u32, REDUCE_NTHREADS>(t.first_invalid);
	return block;
}

/* A column's codes, 16 a load, for lane_reduce. */
struct tally_items {
	typedef struct column_tally value;
	typedef struct {
		uint4 codes;
		uint32_t row; /* of the first */
	} load;
	const uint8_t *code; /* 16-byte aligned, readable up to a multiple of 16 */
	uint32_t nrows;

	__device__ uint64_t nloads(void) const
	{
		return ((uint64_t)nrows + REDUCE_NCODES - 1) / REDUCE_NCODES;
	}
	__device__ load get(uint64_t i) const
	{
		return {((const uint4 *)code)[i], (uint32_t)(i * REDUCE_NCODES)};
	}
	__device__ void add(value *t, const load &pack) const
	{
		uint32_t word[4] = {pack.codes.x, pack.codes.y, pack.codes.z, pack.codes.w};
#pragma unroll
		for (unsigned i = 0; i < REDUCE_NCODES; i++)
			if (pack.row + i < nrows)
				tally_add(t, word[i / 4] >> 8 * (i % 4) & 0xff, pack.row + i);
	}
};

/* Turns the record numbers of t into offsets in the text. */
static __device__ void tally_locate(struct column_tally *t, const int64_t *significand,
				    const struct record_table &records)
{
	if (t->first_number != UINT32_MAX)
		t->first_number = record_begin(records, t->first_number);
	if (t->first_invalid != UINT32_MAX)
		t->first_invalid = (uint32_t)significand[t->first_invalid];
}

__global__ static void __launch_bounds__(REDUCE_NTHREADS)
reduce_codes(struct field_table table, struct record_table records,
	     struct reduce_memory memory)
{
	for (uint32_t c = blockIdx.y; c < table.ncolumns; c += gridDim.y) {
		struct column_tally *partials = memory.partial_tallies + (size_t)c * gridDim.x;
		size_t first = field_at(table, c, 0);

		/* 1. One partial a block. */
		struct column_tally t = tally_identity();
		lane_reduce<REDUCE_NTHREADS, 1>(
			tally_items{table.code + first, *records.nrecords}, &t);
		t = tally_reduce_block(t);
		if (threadIdx.x == 0)
			partials[blockIdx.x] = t;

		/* 2. The last block folds them. */
		if (!grid_is_last_block(&memory.ndone[c], gridDim.x))
			continue;
		t = tally_identity();
		for (uint32_t i = threadIdx.x; i < gridDim.x; i += REDUCE_NTHREADS)
			tally_combine(&t, partials[i]);
		t = tally_reduce_block(t);
		if (threadIdx.x != 0)
			continue;
		tally_locate(&t, table.significand + first, records);
		memory.tally[c] = t;
	}
}

static __device__ struct decimal_bin bin_identity(void)
{
	return {sum_i128::identity(), min_i64::identity(), max_i64::identity()};
}

static __device__ void bin_combine(struct decimal_bin *bin, const struct decimal_bin &later)
{
	bin->sum += later.sum;
	bin->min = min_i64::combine(bin->min, later.min);
	bin->max = max_i64::combine(bin->max, later.max);
}

/* The fold of the block's bins; valid in thread 0. */
static __device__ struct decimal_bin bin_reduce_block(const struct decimal_bin &bin)
{
	return {block_reduce<sum_i128, REDUCE_NTHREADS>(bin.sum),
		block_reduce<min_i64, REDUCE_NTHREADS>(bin.min),
		block_reduce<max_i64, REDUCE_NTHREADS>(bin.max)};
}

static __device__ void bin_add(struct decimal_bin *bin, int64_t significand)
{
	bin->sum += significand;
	bin->min = min_i64::combine(bin->min, significand);
	bin->max = max_i64::combine(bin->max, significand);
}

/* A column's rows of one scale, two rows a load, for lane_reduce. */
struct bin_items {
	typedef struct decimal_bin value;
	typedef struct {
		longlong2 significand;
		uchar2 code;
	} load;
	const int64_t *significand; /* 16-byte aligned, like code readable up to an even row */
	const uint8_t *code;
	uint64_t nrows;
	unsigned scale;

	__device__ uint64_t nloads(void) const { return (nrows + 1) / 2; }
	__device__ load get(uint64_t i) const
	{
		load pair = {((const longlong2 *)significand)[i], ((const uchar2 *)code)[i]};

		if (2 * i + 1 == nrows) /* the last row has no neighbour */
			pair.code.y = FIELD_ABSENT;
		return pair;
	}
	__device__ void add(value *bin, const load &pair) const
	{
		if (pair.code.x == scale)
			bin_add(bin, pair.significand.x);
		if (pair.code.y == scale)
			bin_add(bin, pair.significand.y);
	}
};

/* Folds the partials of one column and scale into *result. One block calls it. */
static __device__ void bin_reduce_partials(const struct decimal_bin *partials, unsigned scale,
					   struct decimal_bin *result)
{
	struct decimal_bin bin = bin_identity();

	for (uint32_t i = threadIdx.x; i < gridDim.x; i += REDUCE_NTHREADS)
		bin_combine(&bin, partials[(size_t)i * DECIMAL_NSCALES + scale]);
	bin = bin_reduce_block(bin);
	if (threadIdx.x == 0)
		*result = bin;
}

__global__ static void __launch_bounds__(REDUCE_NTHREADS)
reduce_values(struct field_table table, struct record_table records,
	      struct reduce_memory memory)
{
	for (uint32_t c = blockIdx.y; c < table.ncolumns; c += gridDim.y) {
		struct decimal_bin *partials =
			memory.partial_bins + (size_t)c * gridDim.x * DECIMAL_NSCALES;
		size_t first = field_at(table, c, 0);
		uint32_t scales = memory.tally[c].scales; /* reduce_codes has ended */

		/* 1. For each scale in use, one partial a block. */
		for (uint32_t left = scales; left; left &= left - 1) {
			unsigned scale = (unsigned)__ffs((int)left) - 1;
			struct decimal_bin bin = bin_identity();
			lane_reduce<REDUCE_NTHREADS, REDUCE_NPAIRS>(
				bin_items{table.significand + first, table.code + first,
					  *records.nrecords, scale},
				&bin);
			bin = bin_reduce_block(bin);
			if (threadIdx.x == 0)
				partials[(size_t)blockIdx.x * DECIMAL_NSCALES + scale] = bin;
		}

		/* 2. The last block folds them. */
		if (!grid_is_last_block(&memory.ndone[c], gridDim.x))
			continue;
		for (uint32_t left = scales; left; left &= left - 1) {
			unsigned scale = (unsigned)__ffs((int)left) - 1;
			bin_reduce_partials(partials, scale,
					    &memory.bins[(size_t)c * DECIMAL_NSCALES + scale]);
		}
	}
}

cudaError_t reduce_npartials(uint32_t ncolumns, uint32_t *npartials)
{
	cudaError_t error = grid_nresident(reduce_values, REDUCE_NTHREADS, 0, npartials);

	if (error == cudaSuccess && *npartials < ncolumns)
		*npartials = ncolumns;
	return error;
}

/* The number of slices of a column: as many as the partials have room for, but no more than
 * strips. */
static uint32_t reduce_nslices(uint32_t ncolumns, uint32_t nrows, uint32_t npartials)
{
	uint32_t nstrips = nrows / REDUCE_STRIP + 1, nslices = npartials / ncolumns;

	return nslices < nstrips ? nslices : nstrips;
}

static dim3 reduce_grid(const struct field_table &table, const struct record_table &records,
			const struct reduce_memory &memory)
{
	uint32_t ny = table.ncolumns < REDUCE_GRID_Y_MAX ? table.ncolumns : REDUCE_GRID_Y_MAX;

	return dim3(reduce_nslices(table.ncolumns, records.nrecords_at_most, memory.npartials), ny);
}

cudaError_t reduce_codes_launch(struct field_table table, struct record_table records,
				struct reduce_memory memory, cudaStream_t stream)
{
	reduce_codes<<<reduce_grid(table, records, memory), REDUCE_NTHREADS, 0, stream>>>(table, records,
											   memory);
	return cudaGetLastError();
}

cudaError_t reduce_launch(struct field_table table, struct record_table records,
			  struct reduce_memory memory, cudaStream_t stream)
{
	cudaError_t error = reduce_codes_launch(table, records, memory, stream);

	if (error != cudaSuccess)
		return error;
	reduce_values<<<reduce_grid(table, records, memory), REDUCE_NTHREADS, 0, stream>>>(table, records,
											    memory);
	return cudaGetLastError();
}
