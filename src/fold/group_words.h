/* SPDX-License-Identifier: MIT
 *
 * group_words.h - groups as a GPU keeps them (kernels/group/): each is some 64-bit words in an array, one
 * behind the other, without pointers. They come down as they are, and are added to the run's store here.
 *
 *     word 0       offset in the input of the first record; UINT64_MAX: none
 *     word 1       number of records; in the high half, of the key's bytes
 *     a cell for each column that is asked for something:
 *       word 0     number of values; in the high half a set of scales: bit s, one is written with scale s
 *       if the column's values are numbers, all as integers at the table's scale of the column:
 *       word 1, 2  their sum, in two parts: word 2, signed, counts for 2^32
 *       least and greatest, with MOMENT_EXTREMES
 *       sum of squares in four parts, with MOMENT_SQUARES: each counts for 2^32 of the one before
 *     the key's bytes (groups.h), then zeros up to a whole word
 *
 * Parts of a sum are added without carries: with fewer than 2^32 records in a table none overflows. A group
 * without records is none: its key was met in a chunk that the CPU folded.
 */
#ifndef GPUSTAT_GROUP_WORDS_H
#define GPUSTAT_GROUP_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "query/plan.h"

#define GROUP_LAYOUT_NCOLUMNS_MAX 32
#define GROUP_LAYOUT_NKEYS_MAX 8
#define GROUP_TABLE_NRECORDS_MAX ((uint64_t)UINT32_MAX)

/* One column's cell. */
struct group_layout_column {
	uint32_t column; /* of the plan */
	uint32_t word;   /* of the group, where its cell begins */
	uint32_t needs;  /* MOMENT_EXTREMES, MOMENT_SQUARES */
	bool parses;
};

/* Where a group's cells are. */
struct group_layout {
	uint32_t ncolumns, nkeys;
	uint32_t nwords; /* of a group without its key */
	struct group_layout_column columns[GROUP_LAYOUT_NCOLUMNS_MAX];
	uint32_t keys[GROUP_LAYOUT_NKEYS_MAX]; /* columns of the plan */
	uint64_t seed[2]; /* of the keys' hashes: key_seed_get's words */
};

/* Lays out the groups of a plan with keys. Returns false where it has too many columns or keys, or columns
 * with moments that no cell holds. */
bool group_layout_make(struct group_layout *layout, const struct plan *plan);

struct groups; /* fold/groups.h */

/* Writes into begins where in words[0 .. nwords) the groups that have records begin, as many as group_words_add
 * adds, in that order. */
void group_words_list(const struct group_layout *layout, const uint64_t *words, size_t nwords, uint32_t *begins);

/* The groups of one part of the plan's store, on which the caller works alone until group_words_end. Errors:
 * STATUS_NO_MEMORY, STATUS_MANY_KEYS; the part must then be ended, too. */
enum status group_words_begin(const struct plan *plan, size_t part, struct groups **out);
void group_words_end(const struct plan *plan, size_t part);

/* Adds the groups that words[0 .. nwords) has whole to those of a part, to which all of the keys belong, or to any
 * groups without a table. Between begin and end no key comes twice: a group that was not there before is not looked for
 * later, so none of them is entered into the table. scales: of each of the layout's columns, the table's. *nused: the words of those groups;
 * the next call begins behind them. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_words_add(struct groups *to, const struct group_layout *layout, const uint32_t *scales,
			    const uint64_t *words, size_t nwords, size_t *nused);

#endif
