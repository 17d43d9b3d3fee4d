/* SPDX-License-Identifier: MIT
 *
 * column_fold.cu - see column_fold.cuh.
 *
 * A block loads one window after another, and cuts each into fields (window.cuh). Thread t then
 * folds column t modulo ncolumns of every ngroups-th record. So a thread has one column, with one
 * bin in registers for the whole launch, and neighbours read neighbouring fields, whether one
 * column of fifty is folded or all. Mostly a column has one scale; a number of another scale is
 * added to its bin in device memory at once.
 *
 * At the end the threads of a column are folded in shared memory, and each block adds its columns
 * to the bins in device memory. Integer sums, minima and maxima commute: the order of blocks does
 * not matter. The last block turns the bins into results.
 *
 * A launch folds as many columns as a block has threads; for more, the text, which is on the device, is
 * read again. Sums of squares are of significands below 2^50, so that those of a chunk fit in 128 bits.
 *
 * For a record longer than the window the block searches the tiles behind it until it finds the
 * end; the fields are then read from device memory.
 */
#include "kernels/fold/column_fold.cuh"

#include "kernels/csv/field_number.cuh"
#include "kernels/csv/field_read.cuh"

#define NO_SCALE DECIMAL_NSCALES
#define SQUARED_BEYOND ((int64_t)1 << 50) /* a chunk is at most 2^30 bytes: 2^26 numbers of so many digits */

/* A thread's fold of its column. */
struct column_state {
	int128 sum;
	uint128 squares; /* if they are wanted */
	int64_t min, max;
	uint32_t scale; /* of all these; NO_SCALE: no number yet */
	uint32_t nnumbers, nmissing, ninvalid, noff_scale;
	uint32_t first_number, first_invalid;
};

/* The kernel's arguments. */
struct column_job {
	struct text_view text;
	struct window_entry entry;
	struct fields_plan plan;
	struct column_fold_memory memory;
	struct exception_list exceptions;
	struct chunk_summary *summary;
	uint32_t first_column; /* of the launch: plan, memory and results begin with it */
};

/* The fields that thread t folds: column t % ncolumns of record t / ncolumns, and of every
 * ngroups-th from there on. */
struct column_place {
	uint32_t column, group, ngroups;
	uint32_t field; /* the column's */
	bool parses;
};

static __device__ struct column_state column_identity(void)
{
	return {0, 0, INT64_MAX, INT64_MIN, NO_SCALE, 0, 0, 0, 0, UINT32_MAX, UINT32_MAX};
}

/* ---- bins in device memory, to which blocks add ---- */

#define BIN_ZERO ((int64_t)1 << 62) /* beyond all significands: 18 digits */

/* Raises *greatest to x. It never falls, so a thread that finds it large enough skips the atomic,
 * which others would queue behind. */
static __device__ void bin_raise(unsigned long long *greatest, unsigned long long x)
{
	if (x > __ldcg(greatest))
		atomicMax(greatest, x);
}

/* Adds numbers of one scale to column c. */
template <bool SQUARES>
static __device__ void bin_add(const struct column_fold_memory &memory, uint32_t c, uint32_t scale,
			       int128 sum, uint128 squares, int64_t min, int64_t max)
{
	struct column_bin *bin = &memory.bins[(size_t)c * DECIMAL_NSCALES + scale];
	uint32_t *scales = &memory.counts[c].scales;

	atomicAdd(&bin->sum_low, (unsigned long long)(uint32_t)sum);
	atomicAdd(&bin->sum_high, (unsigned long long)(sum >> 32));
	for (int i = 0; SQUARES && i < 4; i++)
		if ((uint32_t)(squares >> 32 * i))
			atomicAdd(&bin->squares[i], (unsigned long long)(uint32_t)(squares >> 32 * i));
	bin_raise(&bin->least, (unsigned long long)(BIN_ZERO - min));
	bin_raise(&bin->greatest, (unsigned long long)(BIN_ZERO + max));
	if (!(__ldcg(scales) >> scale & 1))
		atomicOr(scales, 1u << scale);
}

/* ---- one value ---- */

template <bool SQUARES>
static __device__ void state_add_number(const struct column_job &job, uint32_t c,
					struct column_state *s, unsigned scale,
					int64_t significand, uint32_t record_begin)
{
	uint128 square = SQUARES ? (uint128)((int128)significand * significand) : 0;

	s->nnumbers++;
	s->first_number = record_begin < s->first_number ? record_begin : s->first_number;
	if (s->scale == NO_SCALE)
		s->scale = scale;
	if (s->scale != scale) {
		s->noff_scale++;
		bin_add<SQUARES>(job.memory, c, scale, significand, square, significand, significand);
		return;
	}
	s->sum += significand;
	s->squares += square;
	s->min = significand < s->min ? significand : s->min;
	s->max = significand > s->max ? significand : s->max;
}

static __device__ void list_exception(const struct column_job &job, uint32_t c, uint32_t begin,
				      uint32_t end)
{
	uint32_t i = atomicAdd(&job.summary->nexceptions, 1);

	if (i < job.exceptions.capacity)
		job.exceptions.list[i] = {begin, end, job.first_column + c};
}

/* Whether a number's square is left to the CPU. */
static __device__ bool is_beyond_squares(int64_t significand)
{
	return significand >= SQUARED_BEYOND || significand <= -SQUARED_BEYOND;
}

/* Folds a field of text, which begins at `base` of the chunk. Codes: field_read's. */
template <bool SQUARES>
static __device__ void state_add(const struct column_job &job, uint32_t c, struct column_state *s,
				 unsigned code, int64_t significand, uint32_t record_begin,
				 uint32_t begin, uint32_t end)
{
	if (SQUARES && code < FIELD_NCODES_NUMBER && is_beyond_squares(significand)) {
		list_exception(job, c, begin, end);
	} else if (code < FIELD_NCODES_NUMBER) {
		state_add_number<SQUARES>(job, c, s, code, significand, record_begin);
	} else if (code == FIELD_MISSING) {
		s->nmissing++;
	} else if (code == FIELD_INVALID) {
		s->ninvalid++;
		s->first_invalid = begin < s->first_invalid ? begin : s->first_invalid;
	} else {
		list_exception(job, c, begin, end);
	}
}

/* Whether a record is folded; text[begin .. end): without its line end. A thread of the first column
 * counts it if it is ragged. */
static __device__ bool record_check(const struct column_job &job, const struct column_place &place,
				    size_t begin, size_t end, uint32_t nfields)
{
	const struct ragged_rule &rule = job.plan.ragged;
	enum record_kind kind = record_kind_of(job.text, rule, begin, end, nfields);

	if (job.first_column + place.column == 0 && kind == RECORD_RAGGED)
		record_count_ragged(rule, (uint32_t)begin, nfields, job.summary);
	return record_is_taken(rule, kind, nfields);
}

/* Leaves the chunk to the CPU if a record, text[0 .. nbytes) without its line end, may be the header that is sought. A
 * thread of the first column asks. */
static __device__ void seek_header(const struct column_job &job, const struct column_place &place, const char *text,
				   size_t nbytes)
{
	if (job.first_column + place.column == 0 && header_may_be_repeated(&job.plan.sought, text, nbytes))
		summary_leave(job.summary);
}

/* ---- a window ---- */

/* Returns the code of a field of the window; for a number sets *significand. */
static __device__ unsigned window_read(const struct column_job &job, bool parses,
				       const struct window &w, struct window_field field,
				       int64_t *significand)
{
	unsigned scale;

	if (field.begin == field.end)
		return FIELD_MISSING;
	if (parses && !job.plan.missing_is_number &&
	    number_read(window_text(w), field.begin, field.end, job.text.quote, significand,
			&scale))
		return scale;
	return field_read(job.plan, parses, false, window_text(w), {field.begin, field.end}, significand);
}

/* Folds the thread's fields of the records that begin in the tile and end in the window. */
template <bool SQUARES>
static __device__ void window_fold(const struct column_job &job, const struct column_place &place,
				   const struct window &w, const struct window_records &records,
				   struct column_state *s)
{
	for (uint32_t r = place.group; r + 1 < records.nlines; r += place.ngroups) {
		uint32_t first = w.lines[r], next = w.lines[r + 1], nfields = next - first;
		uint32_t record_begin = w.starts[first];
		uint32_t base = (uint32_t)records.base;
		int64_t significand = 0;

		if (record_begin >= RECORDS_TILE_NBYTES)
			break; /* this and the later records begin in the next tile */
		if (base + record_begin < job.entry.head_nbytes)
			continue;
		if (nfields != job.plan.ragged.nfields) {
			uint32_t end = window_field_at(w, next - 1, next).end;
			if (!record_check(job, place, base + record_begin, base + end, nfields))
				continue;
		}
		if (job.plan.sought.nbytes)
			seek_header(job, place, window_text(w) + record_begin,
				    window_field_at(w, next - 1, next).end - record_begin);
		if (place.field >= nfields) {
			s->nmissing++;
			continue;
		}
		struct window_field field = window_field_at(w, first + place.field, next);
		unsigned code = window_read(job, place.parses, w, field, &significand);
		state_add<SQUARES>(job, place.column, s, code, significand, base + record_begin,
				   base + field.begin, base + field.end);
	}
}

/* ---- a record longer than the window ---- */

/* The thread's field of it: [begin, end) in the chunk's text, as far as they have been found.
 * nfields: the fields that begin in the tiles searched so far. */
struct long_record {
	size_t begin, end;
	uint32_t nfields;
};

/* Adds the fields that begin in a window's tile: the entries of starts from `first` on. */
static __device__ void long_record_add(const struct column_place &place, const struct window &w,
					size_t base, uint32_t first, struct long_record *record)
{
	uint32_t end = w.ntile_separators + 1;
	/* The field's entry; if it is in an earlier tile the difference wraps, and at is out of
	 * range. */
	uint32_t at = first + (place.field - record->nfields);

	if (at >= first && at < end)
		record->begin = base + w.starts[at];
	if (at + 1 >= first && at + 1 < end)
		record->end = base + w.starts[at + 1] - 1;
	record->nfields += end - first;
}

/* Whether the last record that begins in the tile continues behind the window. */
static __device__ bool window_has_long(const struct column_job &job, const struct window &w,
				       const struct window_records &records)
{
	if (records.nlines == 0 || records.base + WINDOW_NBYTES >= job.text.nbytes)
		return false;
	uint32_t begin = w.starts[w.lines[records.nlines - 1]];
	return begin < RECORDS_TILE_NBYTES && records.base + begin >= job.entry.head_nbytes;
}

/* Folds that record, if the chunk has its end. The block searches tile by tile, and the first group
 * of threads notes where the record's fields are. */
template <bool SQUARES>
static __device__ void long_record_fold(const struct column_job &job,
					const struct column_place &place, uint32_t tile,
					struct window *w, struct window_records records,
					struct column_state *s)
{
	uint32_t at = w->lines[records.nlines - 1], ntiles = records_ntiles(job.text.nbytes);
	size_t record_begin = records.base + w->starts[at];
	struct long_record record = {0, 0, 0};
	int64_t significand = 0;

	/* 1. Tiles in which it does not end. */
	for (;; at = 1) {
		long_record_add(place, *w, records.base, at, &record);
		if (++tile == ntiles)
			return;
		records = window_fill(w, job.text, job.entry, tile, job.summary);
		if (records.nlines > 0 && w->starts[w->lines[0]] <= RECORDS_TILE_NBYTES)
			break;
	}

	/* 2. The tile in which it ends: the fields behind its LF are of the next record. */
	uint32_t nfields = record.nfields + w->lines[0] - 1;
	long_record_add(place, *w, records.base, 1, &record);
	if (place.group != 0)
		return;
	size_t end = records.base + w->starts[w->lines[0]] - 1;
	end -= job.text.data[end - 1] == '\r';
	if (!record_check(job, place, record_begin, end, nfields))
		return;
	if (job.plan.sought.nbytes)
		seek_header(job, place, job.text.data + record_begin, end - record_begin);
	if (place.field >= nfields) {
		s->nmissing++;
		return;
	}
	struct span field = {record.begin, place.field + 1 == nfields ? end : record.end};
	unsigned code = field_read(job.plan, place.parses, false, job.text.data, field, &significand);
	state_add<SQUARES>(job, place.column, s, code, significand, (uint32_t)record_begin,
			   (uint32_t)field.begin, (uint32_t)field.end);
}

/* ---- the end ---- */

/* Adds a state's bin and counts to column c of the device memory's. */
template <bool SQUARES>
static __device__ void state_publish(const struct column_job &job, uint32_t c,
				     const struct column_state &s)
{
	struct column_counts *counts = &job.memory.counts[c];

	if (s.scale != NO_SCALE)
		bin_add<SQUARES>(job.memory, c, s.scale, s.sum, s.squares, s.min, s.max);
	if (s.nnumbers) {
		atomicAdd(&counts->nnumbers, s.nnumbers);
		atomicMax(&counts->first_number, UINT32_MAX - s.first_number);
	}
	if (s.nmissing)
		atomicAdd(&counts->nmissing, s.nmissing);
	if (s.ninvalid) {
		atomicAdd(&counts->ninvalid, s.ninvalid);
		atomicMax(&counts->first_invalid, UINT32_MAX - s.first_invalid);
	}
	if (s.noff_scale)
		atomicAdd(&job.summary->noff_scale, s.noff_scale);
}

/* Adds another state to *s; if it is of another scale, its numbers go to device memory. */
template <bool SQUARES>
static __device__ void state_combine(const struct column_job &job, uint32_t c,
				     struct column_state *s, const struct column_state &other)
{
	if (s->scale == NO_SCALE)
		s->scale = other.scale;
	if (s->scale == other.scale) {
		s->sum += other.sum;
		s->squares += other.squares;
		s->min = other.min < s->min ? other.min : s->min;
		s->max = other.max > s->max ? other.max : s->max;
	} else if (other.scale != NO_SCALE) {
		bin_add<SQUARES>(job.memory, c, other.scale, other.sum, other.squares, other.min, other.max);
	}
	s->nnumbers += other.nnumbers;
	s->nmissing += other.nmissing;
	s->ninvalid += other.ninvalid;
	s->noff_scale += other.noff_scale;
	s->first_number = min(s->first_number, other.first_number);
	s->first_invalid = min(s->first_invalid, other.first_invalid);
}

/* Folds the states of each column's threads, and publishes them. states: shared memory,
 * WINDOW_NTHREADS of them. */
template <bool SQUARES>
static __device__ void block_publish(const struct column_job &job,
				     const struct column_place &place, struct column_state s,
				     struct column_state *states)
{
	uint32_t half = 1;

	while (half < place.ngroups)
		half *= 2;
	for (half /= 2; half > 0; half /= 2) {
		__syncthreads(); /* what was there has been read */
		states[threadIdx.x] = s;
		__syncthreads(); /* all are there */
		if (place.group < half && place.group + half < place.ngroups)
			state_combine<SQUARES>(job, place.column, &s,
					       states[threadIdx.x + half * job.plan.ncolumns]);
	}
	if (place.group == 0)
		state_publish<SQUARES>(job, place.column, s);
}

/* Turns the sums of all blocks into results, and zeroes the sums. */
static __device__ void results_write(const struct column_job &job,
				     const struct reduce_memory &results)
{
	uint32_t nbins = job.plan.ncolumns * DECIMAL_NSCALES;

	for (uint32_t i = threadIdx.x; i < nbins; i += WINDOW_NTHREADS) {
		uint32_t scales = job.memory.counts[i / DECIMAL_NSCALES].scales;
		if (!(scales >> i % DECIMAL_NSCALES & 1))
			continue;
		struct column_bin bin = job.memory.bins[i];
		results.bins[i] = {(int128)(int64_t)bin.sum_high * ((int128)1 << 32) + (int128)bin.sum_low,
				   BIN_ZERO - (int64_t)bin.least, (int64_t)bin.greatest - BIN_ZERO};
		for (int k = 0; results.squares && k < 4; k++)
			results.squares[i] = (k > 0 ? results.squares[i] : 0) + ((uint128)bin.squares[k] << 32 * k);
		job.memory.bins[i] = {};
	}
	__syncthreads(); /* the scales have been read */
	for (uint32_t c = threadIdx.x; c < job.plan.ncolumns; c += WINDOW_NTHREADS) {
		struct column_counts n = job.memory.counts[c];
		results.tally[c] = {n.nnumbers, n.nmissing, n.ninvalid, n.scales,
				    UINT32_MAX - n.first_number, UINT32_MAX - n.first_invalid};
		job.memory.counts[c] = {0, 0, 0, 0, 0, 0};
	}
	if (threadIdx.x == 0) {
		struct column_fold_ends ends = *job.memory.ends;
		job.summary->last_end = ends.last;
		job.summary->first_end = ends.last ? UINT32_MAX - ends.first : 0;
		*job.memory.ends = {0, 0};
	}
}

/* ---- the kernel ---- */

static __device__ struct column_place column_place_of(const struct fields_plan &plan)
{
	struct column_place place;

	place.column = threadIdx.x % plan.ncolumns;
	place.group = threadIdx.x / plan.ncolumns;
	place.ngroups = WINDOW_NTHREADS / plan.ncolumns;
	place.field = plan.field[place.column];
	place.parses = plan.parses[place.column];
	if (place.group >= place.ngroups) /* a surplus thread: it folds no record */
		place.group = UINT32_MAX - 1;
	return place;
}

/* In one thread: adds a window to the first and the last record end that the block found. */
static __device__ void ends_note(const struct window &w, const struct window_records &records,
				 struct column_fold_ends *ends)
{
	uint32_t base = (uint32_t)records.base;

	if (records.nends == 0)
		return;
	uint32_t first = w.starts[w.lines[records.nlines - records.nends]];
	uint32_t last = w.starts[w.lines[records.nlines - 1]];
	ends->first = max(ends->first, UINT32_MAX - (base + first));
	ends->last = max(ends->last, base + last);
}

/* Blocks a multiprocessor. Before compute capability 8.0 shared memory is enough for one. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define COLUMN_FOLD_NRESIDENT 1
#else
#define COLUMN_FOLD_NRESIDENT 4
#endif

template <bool SQUARES>
__global__ static void __launch_bounds__(WINDOW_NTHREADS, COLUMN_FOLD_NRESIDENT)
column_fold(struct column_job job, uint32_t ntiles, struct reduce_memory results)
{
	__shared__ union {
		struct window window;
		struct column_state states[WINDOW_NTHREADS];
	} shared;
	struct column_place place = column_place_of(job.plan);
	struct column_state s = column_identity();
	struct column_fold_ends ends = {0, 0};

	/* 1. Windows. */
	for (uint32_t tile = blockIdx.x; tile < ntiles; tile += gridDim.x) {
		struct window_records records =
			window_fill(&shared.window, job.text, job.entry, tile, job.summary);
		window_fold<SQUARES>(job, place, shared.window, records, &s);
		if (threadIdx.x == 0)
			ends_note(shared.window, records, &ends);
		if (window_has_long(job, shared.window, records))
			long_record_fold<SQUARES>(job, place, tile, &shared.window, records, &s);
	}

	/* 2. The block's fold. */
	block_publish<SQUARES>(job, place, s, shared.states);
	if (threadIdx.x == 0 && ends.last > 0) {
		atomicMax(&job.memory.ends->first, ends.first);
		atomicMax(&job.memory.ends->last, ends.last);
	}

	/* 3. All blocks' fold. */
	if (grid_is_last_block(job.memory.ndone, gridDim.x))
		results_write(job, results);
}

cudaError_t column_fold_nblocks(uint32_t *nblocks)
{
	return grid_nresident(column_fold<false>, WINDOW_NTHREADS, 0, nblocks);
}

/* Launches the fold of n columns from `first` on. */
static cudaError_t launch_columns(struct column_job job, uint32_t first, uint32_t n,
				  struct reduce_memory results, cudaStream_t stream)
{
	uint32_t ntiles = records_ntiles(job.text.nbytes);
	uint32_t nblocks = ntiles < job.memory.nblocks ? ntiles : job.memory.nblocks;
	size_t first_bin = (size_t)first * DECIMAL_NSCALES;

	job.first_column = first;
	job.plan.ncolumns = n;
	job.plan.field += first;
	job.plan.parses += first;
	job.memory.counts += first;
	job.memory.bins += first_bin;
	results.tally += first;
	results.bins += first_bin;
	if (!results.squares) {
		column_fold<false><<<nblocks, WINDOW_NTHREADS, 0, stream>>>(job, ntiles, results);
	} else {
		results.squares += first_bin;
		column_fold<true><<<nblocks, WINDOW_NTHREADS, 0, stream>>>(job, ntiles, results);
	}
	return cudaGetLastError();
}

cudaError_t column_fold_launch(struct text_view text, struct window_entry entry,
			       struct fields_plan plan, struct column_fold_memory memory,
			       struct reduce_memory results, struct exception_list exceptions,
			       struct chunk_summary *summary, cudaStream_t stream)
{
	uint32_t nlaunches = (plan.ncolumns + WINDOW_NTHREADS - 1) / WINDOW_NTHREADS;
	uint32_t each = (plan.ncolumns + nlaunches - 1) / nlaunches;
	cudaError_t error = cudaSuccess;

	for (uint32_t c = 0; c < plan.ncolumns && error == cudaSuccess; c += each)
		error = launch_columns({text, entry, plan, memory, exceptions, summary, 0}, c,
				       plan.ncolumns - c < each ? plan.ncolumns - c : each, results,
				       stream);
	return error;
}
