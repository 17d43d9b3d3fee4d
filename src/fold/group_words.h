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
 * without records does not count: its key was met in a chunk that the CPU folded.
 */
#ifndef GPUSTAT_GROUP_WORDS_H
#define GPUSTAT_GROUP_WORDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "query/plan.h"

#define GROUP_LAYOUT_NCOLUMNS_MAX 32
#define GROUP_WORDS_KEY_NBYTES_MAX ((size_t)1 << 16)
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

/* The words of a group whose key has so many bytes; and of that at `words`. */
static inline size_t group_words_with_key(const struct group_layout *layout, size_t key_nbytes)
{
	return layout->nwords + (key_nbytes + 7) / 8;
}

static inline size_t group_words_count(const struct group_layout *layout, const uint64_t *words)
{
	return group_words_with_key(layout, (size_t)(words[1] >> 32));
}

/* The most words that group_words_put writes. */
static inline size_t group_words_most(const struct group_layout *layout)
{
	return group_words_with_key(layout, GROUP_WORDS_KEY_NBYTES_MAX);
}

struct group; /* fold/group.h */
struct groups; /* fold/groups.h */

/* Gives `to`, zeroed, of the plan, all that the words of a group have. Its key points to them, and goes into no
 * table: it has no hash. scales: of each of the layout's columns, the table's. What the cells cannot hold is in to's
 * partial, which the caller frees. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_words_get(struct group *to, const struct plan *plan, const struct group_layout *layout,
			    const uint32_t *scales, const uint64_t *words);

/* Writes a group of the plan to words, as a table with these scales has it: so many as group_words_with_key says. Returns
 * that number; 0: words cannot hold it, as what lies in a partial, a longer key than GROUP_WORDS_KEY_NBYTES_MAX, or
 * numbers with more digits behind the point. words: group_words_most(layout) of them. */
size_t group_words_put(const struct group *g, const struct plan *plan, const struct group_layout *layout,
		       const uint32_t *scales, uint64_t *words);

/* Writes into begins where in words[0 .. nwords) the groups that have records begin, as many as group_words_add
 * adds, in that order. */
void group_words_list(const struct group_layout *layout, const uint64_t *words, size_t nwords, uint32_t *begins);

/* The groups of one part of the plan's store, on which the caller works alone until group_words_end. Errors:
 * STATUS_NO_MEMORY, STATUS_MANY_KEYS; the part must then be ended, too. */
enum status group_words_begin(const struct plan *plan, size_t part, struct groups **out);
void group_words_end(const struct plan *plan, size_t part);

/* Adds the groups that words[0 .. nwords) has whole to those of a part, to which all of the keys belong, or to any
 * groups without a table. Between begin and end no key comes twice: a group that was not there before is not looked for
 * later, so none of them is entered into the table. scales: of each of the layout's columns, the table's. *nused: the
 * words of those groups; the next call begins behind them. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_words_add(struct groups *to, const struct group_layout *layout, const uint32_t *scales,
			    const uint64_t *words, size_t nwords, size_t *nused);

#endif
