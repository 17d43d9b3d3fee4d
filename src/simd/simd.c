/* SPDX-License-Identifier: MIT
 *
 * simd.c - which instruction sets were compiled in, which this machine has, which one is used.
 */
#include "simd/simd.h"

#include <stdatomic.h>
#include <string.h>

/* Each is defined in its own file, where the architecture has it. */
extern const struct simd_ops simd_avx512, simd_avx2, simd_neon, simd_portable;

const struct simd_ops *const simd_all[] = {
#if defined(__x86_64__)
	&simd_avx512,
	&simd_avx2,
#elif defined(__aarch64__) && !defined(__AARCH64EB__)
	&simd_neon,
#endif
	&simd_portable,
	NULL,
};

/* Checks for what the files were compiled for. */
bool simd_runs(const struct simd_ops *ops)
{
#if defined(__x86_64__)
	if (ops == &simd_avx512 || ops == &simd_avx2) {
		__builtin_cpu_init();
		if (!__builtin_cpu_supports("bmi") || !__builtin_cpu_supports("bmi2") ||
		    !__builtin_cpu_supports("pclmul") || !__builtin_cpu_supports("popcnt"))
			return false;
	}
	if (ops == &simd_avx512)
		return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
		       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi2");
	if (ops == &simd_avx2)
		return __builtin_cpu_supports("avx2");
#endif
	(void)ops;
	return true;
}

/* The first in simd_all that runs here and is called name, or anything for "". */
static const struct simd_ops *find(const char *name)
{
	const struct simd_ops *const *ops = simd_all;

	while (*ops && ((*name != '\0' && strcmp((*ops)->name, name) != 0) || !simd_runs(*ops)))
		ops++;
	return *ops;
}

/* Atomic: several threads may be the first to ask; all find the same. */
static _Atomic(const struct simd_ops *) chosen;

bool simd_choose(const char *name)
{
	const struct simd_ops *found = find(name ? name : "");

	if (!found)
		return false;
	atomic_store_explicit(&chosen, found, memory_order_relaxed);
	return true;
}

const struct simd_ops *simd(void)
{
	const struct simd_ops *ops = atomic_load_explicit(&chosen, memory_order_relaxed);

	if (!ops) {
		ops = find("");
		atomic_store_explicit(&chosen, ops, memory_order_relaxed);
	}
	return ops;
}
