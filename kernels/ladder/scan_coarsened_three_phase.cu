/* SPDX-License-Identifier: MIT
 *
 * scan_coarsened_three_phase.cu - each thread scans a run of its own, and only the ends of runs are
 * shared.
 *
 * The scans before this one pay a barrier, or two, for every step of every value. But a GPU runs
 * the threads of a large block in turns anyway, so parallel additions beyond what runs at once are
 * wasted. Here each thread first scans a run of SCAN_FACTOR values, which needs no barrier and n
 * additions; then the block scans only the last values of the runs, 1 in SCAN_FACTOR; then each
 * thread adds what precedes its run. Runs are loaded together, coalesced, through shared memory: in
 * the book, section 11.5.
 */
#include "scan.cuh"

template <class F>
__global__ static void __launch_bounds__(scan_nthreads<typename F::value>())
coarsened_three_phase(const typename F::value *in, typename F::value *out, uint64_t n)
{
	__shared__ struct scan_section<typename F::value> s;
	uint64_t begin = (uint64_t)blockIdx.x * s.nvalues;

	section_load<F>(s, in, n, begin);
	section_scan_runs<F>(s);
	section_scan_last<F>(s);
	section_distribute<F, false>(s, F::identity());
	section_store(s, out, n, begin);
}

struct scan_coarsened_three_phase_rung
    : scan_sections<scan_coarsened_three_phase_rung, SCAN_SECTION_NBYTES> {
	static uint64_t depth(const struct ladder_run *run) { return section_depth(run); }
	template <class F> static auto kernel(void) { return coarsened_three_phase<F>; }
};
LADDER_RUNG(scan, coarsened_three_phase, "a thread adds up its own run, only the ends are shared")
