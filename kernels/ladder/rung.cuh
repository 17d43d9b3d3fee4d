/* SPDX-License-Identifier: MIT
 *
 * rung.cuh - how a class becomes a rung. For the files of rungs only.
 *
 * A rung is a class, derived from reduce_rung or scan_rung, which gives
 *     template <class F> open(run)              makes run ready, F being the fold of run's type
 *     template <class F, class T> launch(run, in, out)  launches, T being F::value
 *     depth(run)                                as in ladder.cuh
 * and, where they differ from the base's, types, folds and so on. LADDER_RUNG makes an object of it
 * that ladder.cu lists and, when the file is compiled alone, a program.
 */
#pragma once

#include "fold.cuh"
#include "ladder.cuh"
#ifndef HAVE_CONFIG_H /* compiled alone, without the Makefile */
#include "standalone.cuh"
#define LADDER_STANDALONE(rung) static const bool rung##_added = standalone_add(&rung);
#else
#define LADDER_STANDALONE(rung)
#endif

#define LADDER_SUM (1u << BENCH_SUM)
#define LADDER_FOLDS ((1u << BENCH_NFOLDS) - 1)
/* Numbers. ORDERED: with AFFINE, for rungs that keep the order of their operands. */
#define LADDER_TYPES ((1u << BENCH_SEGMENTED) - 1)
#define LADDER_TYPES_ORDERED (LADDER_TYPES | 1u << BENCH_AFFINE)
#define LADDER_TYPES_SCAN (LADDER_TYPES_ORDERED | 1u << BENCH_SEGMENTED)

/* The properties of a rung that does not define its own. */
struct ladder_defaults {
	static const unsigned folds = LADDER_SUM;
	static const uint64_t n_max = 0;
	static const bool spoils_input = false, exclusive = false;
	static const uint32_t section_nbytes = 0;

	template <class F> static cudaError_t open(struct ladder_run *) { return cudaSuccess; }
};
struct reduce_rung : ladder_defaults {
	static const enum bench_ladder ladder = BENCH_REDUCE;
	static const unsigned types = LADDER_TYPES;
};
struct scan_rung : ladder_defaults {
	static const enum bench_ladder ladder = BENCH_SCAN;
	static const unsigned types = LADDER_TYPES_SCAN;
};

/* Returns act(F()), F being the fold of run's type and operation; cudaErrorInvalidValue if TYPES
 * and FOLDS do not include them. ID counts through all combinations; those that are included are
 * compiled. */
template <unsigned TYPES, unsigned FOLDS, unsigned ID = 0, class ACT>
static inline cudaError_t ladder_choose(const struct ladder_run *run, ACT act)
{
	constexpr enum bench_type type = (enum bench_type)(ID / BENCH_NFOLDS);
	constexpr enum bench_fold fold = (enum bench_fold)(ID % BENCH_NFOLDS);

	if constexpr (type < BENCH_NTYPES) {
		if constexpr ((TYPES >> type & FOLDS >> fold & 1) != 0) {
			if (run->type == type && run->fold == fold)
				return act(ladder_fold<type, fold>());
		}
		return ladder_choose<TYPES, FOLDS, ID + 1>(run, act);
	}
	return cudaErrorInvalidValue;
}

template <class RUNG> static cudaError_t ladder_open(struct ladder_run *run)
{
	if (RUNG::n_max > 0 && run->n > RUNG::n_max)
		return cudaErrorInvalidValue;
	return ladder_choose<RUNG::types, RUNG::folds>(run, [=](auto fold) {
		return RUNG::template open<decltype(fold)>(run);
	});
}

template <class RUNG> static cudaError_t ladder_launch(struct ladder_run *run, void *in, void *out)
{
	if (RUNG::ladder == BENCH_SCAN && run->n == 0) /* a grid of no blocks would be an error */
		return cudaSuccess;
	return ladder_choose<RUNG::types, RUNG::folds>(run, [=](auto fold) {
		typedef decltype(fold) F;
		typedef typename F::value T;
		return RUNG::template launch<F>(run, (T *)in, (T *)out);
	});
}

template <class RUNG>
static constexpr struct ladder_rung ladder_rung_of(const char *name, const char *idea)
{
	return {name, idea, RUNG::ladder, RUNG::types, RUNG::folds, RUNG::n_max, RUNG::spoils_input,
		RUNG::exclusive, RUNG::section_nbytes, RUNG::depth, ladder_open<RUNG>,
		ladder_launch<RUNG>};
}

/* LADDER_RUNG(reduce, simple, idea) defines struct ladder_rung ladder_reduce_simple from the class
 * reduce_simple_rung. */
#define LADDER_RUNG(which, name, idea)                                                        \
	extern const struct ladder_rung ladder_##which##_##name =                             \
		ladder_rung_of<which##_##name##_rung>(#name, idea);                           \
	LADDER_STANDALONE(ladder_##which##_##name)

/* Blocks (tiles, sections) of nvalues values each that n values fill. */
static inline uint64_t ladder_ntiles(uint64_t n, uint64_t nvalues)
{
	return n / nvalues + (n % nvalues != 0);
}
