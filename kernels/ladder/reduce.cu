/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/reduce.cu - the ladder of the reduction, naive to shipped. See ladder.cuh.
 *
 *   kernels/ladder/reduce_book.cu     simple ... coarsened: the textbook's
 *   kernels/ladder/reduce_series.cu   interleaved_modulo ... shuffle_pack: the series of slides
 *   kernels/ladder/reduce_shipped.cu  shipped: what gpustat runs
 *   kernels/ladder/reduce_cub.cu      cub: NVIDIA's
 *
 * What is in print of these kernels, in books, slides and posts, has misprints: a loop
 * condition that assigns, bounds left out, a first load dropped, an atomic on the address of
 * the pointer. Every rung here is right at every n that it takes, and says where that needed
 * more than was printed.
 */
#include "kernels/ladder/reduce.cuh"

#define REDUCE_ROW(name, types, folds, n_max, spoils_input, idea)                             \
	{#name, idea, n_max, types, folds, spoils_input, false, 0,                            \
	 reduce_##name##_depth, reduce_##name##_open, reduce_##name##_launch},
const struct ladder_rung reduce_ladder[] = {REDUCE_RUNG_TABLE(REDUCE_ROW)};
#undef REDUCE_ROW

const size_t reduce_ladder_nrungs = sizeof reduce_ladder / sizeof *reduce_ladder;
