/* SPDX-License-Identifier: MIT
 *
 * group_words.h - groups as a GPU keeps them (kernels/group/): the plan's records (group.h), one after the other, as 64-bit
 * words without pointers. They are copied to the host as they are, and are groups of the host once they are settled.
 *
 *     struct group        with its cells, as the plan lays them out; `rest` and a long key's text are NULL
 *     the excess          of each column of numbers: what its sum has beyond 64 bits (group_words_sum) and, with
 *                         MOMENT_SQUARES, the word that follows those of its squares
 *     a long key's bytes  then zeros up to a whole word
 *
 * Before they are settled, all numbers of a column are at the scale of the table, and the scale of a cell is the largest with
 * which one of its numbers is written. With fewer than 2^32 records in a table no sum overflows its words. A group without
 * records does not count: its key was met in a chunk that the CPU folded.
 */
#pragma once

#include "base/status.h"
#include "fold/group.h"
#include "query/plan.h"

#define GROUP_LAYOUT_NCOLUMNS_MAX 32
#define GROUP_WORDS_KEY_NBYTES_MAX ((size_t)1 << 16)
#define GROUP_LAYOUT_NKEYS_MAX 8
#define GROUP_TABLE_NRECORDS_MAX ((uint64_t)UINT32_MAX)

/* One column's cell. */
struct group_layout_column {
	uint32_t column;       /* of the plan */
	uint32_t cell, excess; /* words of the group, where they begin */
	uint32_t needs;        /* MOMENT_EXTREMES, MOMENT_SQUARES */
	bool parses;
};

/* Where a group's cells are. */
struct group_layout {
	uint32_t ncolumns, nkeys;
	uint32_t nwords; /* of a group without the bytes of its key */
	struct group_layout_column columns[GROUP_LAYOUT_NCOLUMNS_MAX];
	uint32_t keys[GROUP_LAYOUT_NKEYS_MAX]; /* columns of the plan */
	uint64_t seed[2]; /* of the keys' hashes: key_seed_get's words */
};

/* Lays out the groups of a plan with keys, after groups_plan. Returns false where it has too many columns or keys, or columns
 * with moments that no cell holds: also before groups_plan. */
bool group_layout_make(struct group_layout *layout, const struct plan *plan);

/* The words of the bytes of a key, of which this is `high`: 0 of one in line. */
HD size_t group_words_of_key(uint64_t high)
{
	return high >> 56 == KEY_LONG ? ((high & KEY_MAX_NBYTES) + 7) / 8 : 0;
}

/* A sum of fewer than 2^32 numbers below 2^95, of the 64 bits that a cell has of it, and the sum of the upper parts of these
 * numbers: each x / 2^32, rounded down. It is less than 2^64 above that times 2^32. A GPU adds to both without carries. */
#define GROUP_UPPER_SHIFT 32
HD int128 group_words_sum(int64_t low, uint64_t upper)
{
	int128 least = (int128)(int64_t)upper * ((int128)1 << GROUP_UPPER_SHIFT);

	return least + (uint64_t)((uint64_t)low - (uint64_t)least);
}

/* All words of a group. */
static inline size_t group_words_count(const struct group_layout *layout, const struct group *g)
{
	return layout->nwords + group_words_of_key(g->key.high);
}

/* The most words that group_words_put writes. */
static inline size_t group_words_most(const struct group_layout *layout)
{
	return layout->nwords + (GROUP_WORDS_KEY_NBYTES_MAX + 7) / 8;
}

struct groups; /* fold/groups.h */

/* Makes a group of the host of a table's, where it lies. texts: for what does not fit, as in struct groups. scales: of each of the
 * layout's columns, the table's. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_words_settle(struct group *g, const struct plan *plan, const struct group_layout *layout,
			       const uint32_t *scales, struct key_arena *texts);

/* Writes a group of the plan to words, as a table with these scales has it. Returns how many; 0: it cannot, because
 * a cell is long, the key is longer than GROUP_WORDS_KEY_NBYTES_MAX, or numbers have more digits after the point. words:
 * group_words_most(layout) of them. */
size_t group_words_put(const struct group *g, const struct plan *plan, const struct group_layout *layout,
		       const uint32_t *scales, uint64_t *words);

/* Writes into begins where in words[0 .. nwords) the groups that have records begin, as many as group_words_add
 * adds, in that order. */
void group_words_list(const struct group_layout *layout, const uint64_t *words, size_t nwords, uint32_t *begins);

/* Settles the groups that words[0 .. nwords) has whole, and adds them to others: those of a part of a store to which all of the
 * keys belong, or any groups without a table. No key may come twice: a group that was not there before is not looked for
 * later, so none of them is entered into a table. scales: as above. *nused: the words of those groups; the next call begins
 * after them. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_words_add(struct groups *to, const struct group_layout *layout, const uint32_t *scales, uint64_t *words,
			    size_t nwords, size_t *nused);
