/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/ladder.cu - the two ladders, naive to shipped. See ladder.cuh.
 *
 * Printed versions of these kernels, in books, slides and posts, have errors: a loop condition that
 * assigns, missing bounds, a first load dropped, an atomic on the address of the pointer. Every
 * rung here is right at every n that it takes; comments mark what the printed versions lack.
 */
#include "kernels/ladder/ladder.cuh"

#define LADDER_RUNG_TABLE(RUNG)                                                               \
	RUNG(reduce_simple)                                                                   \
	RUNG(reduce_convergent)                                                               \
	RUNG(reduce_shared_memory)                                                            \
	RUNG(reduce_segmented_atomic)                                                         \
	RUNG(reduce_coarsened)                                                                \
	RUNG(reduce_interleaved_modulo)                                                       \
	RUNG(reduce_interleaved_index)                                                        \
	RUNG(reduce_sequential)                                                               \
	RUNG(reduce_add_on_load)                                                              \
	RUNG(reduce_unroll_last_warp)                                                         \
	RUNG(reduce_unroll_all)                                                               \
	RUNG(reduce_multi_add)                                                                \
	RUNG(reduce_warp_shuffle)                                                             \
	RUNG(reduce_shuffle_pack)                                                             \
	RUNG(reduce_shipped)                                                                  \
	RUNG(reduce_cub)                                                                      \
	RUNG(scan_segment_walk)                                                               \
	RUNG(scan_kogge_stone)                                                                \
	RUNG(scan_kogge_stone_double_buffer)                                                  \
	RUNG(scan_kogge_stone_exclusive)                                                      \
	RUNG(scan_brent_kung)                                                                 \
	RUNG(scan_coarsened_three_phase)                                                      \
	RUNG(scan_hierarchical)                                                               \
	RUNG(scan_hierarchical_exclusive)                                                     \
	RUNG(scan_domino)                                                                     \
	RUNG(scan_lookback)                                                                   \
	RUNG(scan_persistent)                                                                 \
	RUNG(scan_shipped)                                                                    \
	RUNG(scan_shipped_exclusive)                                                          \
	RUNG(scan_cub)

#define LADDER_DECLARE(name) extern const struct ladder_rung ladder_##name;
LADDER_RUNG_TABLE(LADDER_DECLARE)

#define LADDER_ROW(name) &ladder_##name,
const struct ladder_rung *const ladder_rungs[] = {LADDER_RUNG_TABLE(LADDER_ROW)};
const size_t ladder_nrungs = sizeof ladder_rungs / sizeof *ladder_rungs;
