/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/scan_section.cu - the rungs that scan sections, each by one block and apart from
 * the others. An array of one section is scanned whole; how to join sections is what the
 * later rungs are about.
 *
 * All of them read and write device memory once, side by side. What they differ in goes on
 * in shared memory: barriers, additions, and how many threads have something to do.
 */
#include "kernels/ladder/scan_section.cuh"

/* ---- kogge_stone ----
 * The naive scan adds up everything before each value: n^2 / 2 additions. Here threads
 * share what they have added: one thread a value, and at stride 1, 2, 4 ... each takes in
 * the sum that ends stride positions before it, which already spans stride values. log2(n)
 * steps, n log2(n) - (n - 1) additions. Source: P. Kogge and H. Stone, IEEE Transactions on
 * Computers C-22(8), 1973; in the book, section 11.2. Its older editions, and many copies of
 * them, have one barrier a step and read what another warp is just writing:
 * section_kogge_stone says why it takes two. */
template <class F, unsigned N>
__global__ static void __launch_bounds__(N)
kogge_stone(const typename F::value *in, typename F::value *out, uint64_t n)
{
	__shared__ typename F::value x[N];
	uint64_t i = (uint64_t)blockIdx.x * N + threadIdx.x;

	x[threadIdx.x] = i < n ? in[i] : F::identity();
	section_kogge_stone<F, N>(x);
	if (i < n)
		out[i] = x[threadIdx.x];
}

/* ---- kogge_stone_double_buffer ----
 * Half of kogge_stone's barriers only keep writers from readers of the same place. With
 * two buffers they are never in the same place: a step reads one and writes the other, then
 * these change roles. One barrier a step is left, for twice the shared memory.
 * A thread that has nothing to add must still copy its value. Left out, as in many a
 * version of this kernel, the other buffer keeps a value of two steps ago there. */
template <class F, unsigned N>
__global__ static void __launch_bounds__(N)
kogge_stone_double_buffer(const typename F::value *in, typename F::value *out, uint64_t n)
{
	__shared__ typename F::value x[2][N];
	uint64_t i = (uint64_t)blockIdx.x * N + threadIdx.x;
	unsigned now = 0;

	x[now][threadIdx.x] = i < n ? in[i] : F::identity();
	for (unsigned stride = 1; stride < N; stride *= 2) {
		struct ladder_step step = kogge_stone_step(threadIdx.x, stride);

		/* All of x[now] is there; and all have read the other in the last step. */
		__syncthreads();
		x[!now][step.to] = step.active ? F::combine(x[now][step.from], x[now][step.to])
					       : x[now][step.to];
		now = !now;
	}
	if (i < n) /* the thread's own: no barrier */
		out[i] = x[now][threadIdx.x];
}

/* ---- kogge_stone_exclusive ----
 * Where results shall not hold their own value (offsets, places to write to), the scan
 * itself need not change: position i is loaded with the value before it, position 0 with the
 * identity. Adding inclusively and then taking the value off again would also do, for folds
 * that have an inverse; maximum, and rounding sums, have none. */
template <class F, unsigned N>
__global__ static void __launch_bounds__(N)
kogge_stone_exclusive(const typename F::value *in, typename F::value *out, uint64_t n)
{
	__shared__ typename F::value x[N];
	uint64_t i = (uint64_t)blockIdx.x * N + threadIdx.x;

	x[threadIdx.x] = threadIdx.x > 0 && i < n ? in[i - 1] : F::identity();
	section_kogge_stone<F, N>(x);
	if (i < n)
		out[i] = x[threadIdx.x];
}

/* ---- brent_kung ----
 * kogge_stone does n log2(n) additions where one thread alone does n - 1; once there are
 * more values than adders, that costs time. This one does 2 n - 2 - log2(n): first up a
 * tree, which leaves sums of 2, 4, 8 ... values at its nodes, then down again, where
 * finished positions complete those halfway to the next. n / 2 threads do for n values.
 * The price: twice as many steps, few threads active in most of them, and at large strides
 * these meet in the same banks. Source: R. Brent and H. T. Kung, IEEE Transactions on
 * Computers C-31(3), 1982; in the book, section 11.4, which leaves positions beyond the end
 * of the array unset and adds them up, though no result depends on them. */
template <class F, unsigned N>
__global__ static void __launch_bounds__(N / 2)
brent_kung(const typename F::value *in, typename F::value *out, uint64_t n)
{
	__shared__ typename F::value x[N];
	uint64_t begin = (uint64_t)blockIdx.x * N;

	/* 1. Two values a thread, half a section apart: coalesced both. */
	for (unsigned i = threadIdx.x; i < N; i += N / 2)
		x[i] = begin + i < n ? in[begin + i] : F::identity();

	/* 2. Up. In a step nobody reads what another thread writes: one barrier will do. */
	for (unsigned stride = 1; stride < N; stride *= 2) {
		struct ladder_step step = brent_kung_up_step(threadIdx.x, stride, N);

		__syncthreads(); /* the last step's sums, or the values, are there */
		if (step.active)
			x[step.to] = F::combine(x[step.from], x[step.to]);
	}

	/* 3. Down. */
	for (unsigned stride = N / 4; stride > 0; stride /= 2) {
		struct ladder_step step = brent_kung_down_step(threadIdx.x, stride, N);

		__syncthreads(); /* what the last step finished is there */
		if (step.active)
			x[step.to] = F::combine(x[step.from], x[step.to]);
	}
	__syncthreads(); /* all is finished */
	for (unsigned i = threadIdx.x; i < N; i += N / 2)
		if (begin + i < n)
			out[begin + i] = x[i];
}

/* ---- coarsened_three_phase ----
 * Both scans above pay a barrier, or two, for every step of every value. But a GPU runs
 * the threads of a large block in turns anyway, so parallel additions in excess of what
 * runs at once are wasted. Here each thread first scans a run of FACTOR values, which
 * needs no barrier and n additions; then the block scans only what the runs end in, 1 in
 * FACTOR; then each thread adds what came before its run. Runs are loaded together,
 * coalesced, through shared memory: in the book, section 11.5. */
template <class F, unsigned FACTOR>
__global__ static void __launch_bounds__(scan_nthreads<typename F::value>())
coarsened_three_phase(const typename F::value *in, typename F::value *out, uint64_t n)
{
	__shared__ struct scan_section<typename F::value, FACTOR> s;
	uint64_t begin = (uint64_t)blockIdx.x * s.nvalues;

	section_load<F>(s, in, n, begin);
	section_scan_runs<F>(s);
	section_scan_last<F>(s);
	section_distribute<F, false>(s, F::identity());
	section_store(s, out, n, begin);
}

/* ---- rows ---- */

/* What the rungs of this file have in common: nothing to open, and a block a section.
 * The number of blocks fits: 2^31 sections are more than any device's memory holds. */
struct scan_rung_section {
	template <class F> static cudaError_t open(struct ladder_run *) { return cudaSuccess; }

	template <class T>
	static cudaError_t start(void (*kernel)(const T *, T *, uint64_t), unsigned nvalues,
				 unsigned nthreads, struct ladder_run *run, const T *in, T *out)
	{
		unsigned nblocks = (unsigned)scan_ntiles_of(run->n, nvalues);

		kernel<<<nblocks, nthreads>>>(in, out, run->n);
		return cudaGetLastError();
	}
};

struct scan_rung_kogge_stone : scan_rung_section {
	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		const unsigned n = scan_nthreads<T>();
		return start<T>(kogge_stone<F, n>, n, n, run, in, out);
	}
	/* One addition a step. */
	static uint64_t depth(const struct ladder_run *run)
	{
		return section_nsteps(section_nvalues(run, SCAN_THREADS_NBYTES));
	}
};

struct scan_rung_kogge_stone_double_buffer : scan_rung_kogge_stone { /* the same additions */
	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		const unsigned n = scan_nthreads<T>();
		return start<T>(kogge_stone_double_buffer<F, n>, n, n, run, in, out);
	}
};

struct scan_rung_kogge_stone_exclusive : scan_rung_kogge_stone { /* the same additions */
	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		const unsigned n = scan_nthreads<T>();
		return start<T>(kogge_stone_exclusive<F, n>, n, n, run, in, out);
	}
};

struct scan_rung_brent_kung : scan_rung_section {
	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		const unsigned nthreads = scan_nthreads<T>(), n = 2 * nthreads;
		return start<T>(brent_kung<F, n>, n, nthreads, run, in, out);
	}
	/* At most one addition a step: log2(n) steps up, log2(n) - 1 down. */
	static uint64_t depth(const struct ladder_run *run)
	{
		return 2 * section_nsteps(section_nvalues(run, 2 * SCAN_THREADS_NBYTES)) - 1;
	}
};

struct scan_rung_coarsened_three_phase : scan_rung_section {
	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		const unsigned nthreads = scan_nthreads<T>(), n = SCAN_FACTOR * nthreads;
		return start<T>(coarsened_three_phase<F, SCAN_FACTOR>, n, nthreads, run, in, out);
	}
	/* A section, no more. */
	static uint64_t depth(const struct ladder_run *run) { return section_depth(run); }
};

SCAN_RUNG_DEFINE(kogge_stone)
SCAN_RUNG_DEFINE(kogge_stone_double_buffer)
SCAN_RUNG_DEFINE(kogge_stone_exclusive)
SCAN_RUNG_DEFINE(brent_kung)
SCAN_RUNG_DEFINE(coarsened_three_phase)
