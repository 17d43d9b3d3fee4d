/* SPDX-License-Identifier: MIT
 *
 * scan_cub.cu - the rung that the others are compared with: NVIDIA's own scan, which comes with the
 * toolkit.
 *
 * cub::DeviceScan is decoupled look-back with sizes tuned for each architecture and type. It is
 * called as its manual says: the scratch memory is allocated beforehand, and n is passed as a
 * 32-bit number where it fits, which spares it 64-bit indices. It launches two kernels, the first
 * of which resets the tiles' states.
 */
#include <cub/device/device_scan.cuh>
#include <type_traits>

#include "scan.cuh"

/* A fold's combine, as CUB takes operators. */
template <class F> struct scan_cub_operator {
	__host__ __device__ typename F::value operator()(typename F::value earlier,
							 typename F::value later) const
	{
		return F::combine(earlier, later);
	}
};

/* The type that CUB adds in: signed integers may not overflow in C++, and these sums wrap. */
template <class T> struct scan_cub_summand {
	typedef T type;
};
template <> struct scan_cub_summand<int32_t> {
	typedef uint32_t type;
};
template <> struct scan_cub_summand<int64_t> {
	typedef uint64_t type;
};
template <> struct scan_cub_summand<int128> {
	typedef uint128 type;
};

/* scratch NULL: only sets *nbytes, of scratch. COUNT: n's type. */
template <class F, class COUNT>
static cudaError_t cub_scan(void *scratch, size_t *nbytes, const typename F::value *in,
			    typename F::value *out, COUNT n)
{
	typedef typename scan_cub_summand<typename F::value>::type T;

	if constexpr (std::is_same<F, ladder_fold<BENCH_AFFINE, BENCH_SUM>>::value ||
		      std::is_same<F, ladder_fold<BENCH_SEGMENTED, BENCH_SUM>>::value)
		return cub::DeviceScan::InclusiveScan(scratch, *nbytes, in, out,
						      scan_cub_operator<F>(), n);
	else
		return cub::DeviceScan::InclusiveSum(scratch, *nbytes, (const T *)in, (T *)out, n);
}

struct scan_cub_rung : scan_rung {
	template <class F, class T>
	static cudaError_t call(struct ladder_run *run, void *scratch, size_t *nbytes, const T *in,
				T *out)
	{
		if (run->n <= INT32_MAX)
			return cub_scan<F>(scratch, nbytes, in, out, (int32_t)run->n);
		return cub_scan<F>(scratch, nbytes, in, out, (int64_t)run->n);
	}

	template <class F> static cudaError_t open(struct ladder_run *run)
	{
		typename F::value *none = NULL;
		size_t nbytes = 0;
		cudaError_t error = call<F>(run, NULL, &nbytes, none, none);

		return error != cudaSuccess ? error : ladder_scratch(run, nbytes);
	}

	template <class F, class T>
	static cudaError_t launch(struct ladder_run *run, const T *in, T *out)
	{
		size_t nbytes = run->scratch_nbytes;
		cudaError_t error = call<F>(run, run->scratch, &nbytes, in, out);

		return error != cudaSuccess ? error : cudaGetLastError();
	}

	/* CUB does not report the size of its tiles; its policies for float32 in CUDA 13.0
	 * (tuning_scan.cuh) have 128 x 12 to 640 x 24 values. */
	static uint64_t depth(const struct ladder_run *run)
	{
		return scan_tiles_depth(run->n, 128 * 12, 640 * 24);
	}
};
LADDER_RUNG(scan, cub, "NVIDIA's: cub::DeviceScan::InclusiveSum")
