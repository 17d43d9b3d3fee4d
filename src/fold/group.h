/* SPDX-License-Identifier: MIT
 *
 * group.h - what is kept of the records of one group (--by): count, sum, extremes and powers of each column
 * in cells that are as small as they can be, and the states of all else that is asked.
 *
 * A cell holds numbers of the fast path at one scale, in 64 bits. Most columns have no others. Where a
 * number does not fit, the cell becomes long: its sums lie in an arena from then on, as exact numbers.
 * groups_plan (groups.h) gives each column of the plan the place of its cell.
 *
 * Identity: zeroed. Combine: group_combine(earlier, later), associative.
 */
#pragma once

#include <string.h>

#include "base/status.h"
#include "fold/column.h"
#include "fold/key.h"
#include "fold/key_memory.h"
#include "fold/texts.h"
#include "fold/values.h"
#include "number/logarithm.h"
#include "number/quotient.h"
#include "number/reciprocal.h"
#include "query/plan.h"
#include "simd/simd.h"

#define GROUP_NPOWERS 3 /* squares, cubes and fourth powers */

static inline unsigned group_power_moment(int i)
{
	return (unsigned)MOMENT_SQUARES << i;
}

/* Count, sum, extremes and sums of powers of numbers: to be read, or, with limbs of its own, where a long cell keeps them. */
struct group_sums {
	struct number_sums numbers;
	struct exact powers[GROUP_NPOWERS];
};

/* The numbers of one column, as integers x 10^-scale. A cell is as long as the column needs:
 * group_sums_nbytes. */
struct group_cell {
	uint64_t count_scale; /* their count and their scale, or GROUP_SCALE_LONG, share a word */
	union {
		int64_t sum;
		struct group_sums *sums; /* of a long one, which holds nothing else: in the texts of struct groups */
	};
	int64_t extremes[2]; /* the smallest and the largest, with MOMENT_EXTREMES */
	union {
		uint64_t squares[2]; /* their sum, in two's complement, the low half first, with MOMENT_SQUARES; and with */
		uint64_t powers[GROUP_NPOWERS][2]; /* group_power_moment(i): those of squares, cubes and fourth powers */
	};
};
#define GROUP_COUNT_BITS 56
#define GROUP_SCALE_LONG 255
#define GROUP_CELL_MOMENTS ((unsigned)(MOMENTS_FUSED | MOMENT_SQUARES | MOMENT_CUBES | MOMENT_FOURTHS))

/* With MOMENT_LOGS: a struct logarithm_sum. */
struct group_logs {
	unsigned long mantissas[3];
	int64_t exponents2, exponents10;
};

/* With MOMENT_RECIPROCALS: of the numbers of the fast path, and of others, as in struct group_cell. */
struct group_reciprocals {
	struct reciprocal_sum sum;
	struct exact *longer; /* NULL: 0 */
};

/* With MOMENT_ENDS, these lie after the cell: the first and the last value, as ends_text (moment.h) returns it; where these may be texts and it is known only at the end
 * whether they count, the first and the last number, too. */
static inline size_t group_ends_nbytes(const struct plan_column *column)
{
	return (column->if_numeric ? 4 : 2) * sizeof(struct kept_text);
}

/* With MOMENT_KEYS, these: the distinct values. */
struct group_keys {
	uint64_t n;
	struct key_set *set; /* of group_lists.h; NULL: none */
};

/* Whether values of a column that parses are no numbers and may count, which is known only at the end if it is one of '*'. */
static inline bool group_has_texts(const struct plan_column *column)
{
	return column->parses && (column->takes_text || (column->counts_text && column->if_numeric));
}

static inline size_t group_sums_nbytes(unsigned needs)
{
	for (int i = GROUP_NPOWERS; i > 0; i--)
		if (needs & group_power_moment(i - 1))
			return offsetof(struct group_cell, powers) + (size_t)i * sizeof(uint64_t[2]);
	return needs & MOMENT_EXTREMES ? offsetof(struct group_cell, powers) : offsetof(struct group_cell, extremes);
}

enum group_state {
#define STATE(id, name, type, nbytes, is_needed) GROUP_##id,
	GROUP_STATES(STATE)
#undef STATE
	GROUP_NSTATES
};

/* The offset of a state from the place of a column's states; GROUP_NSTATES: the bytes of all. column->states is set. */
static inline __attribute__((always_inline)) size_t group_state_offset(const struct plan_column *column, enum group_state state)
{
	size_t offset = 0;

#define STATE(id, name, type, nbytes, is_needed) offset += GROUP_##id < state && column->states >> GROUP_##id & 1 ? (nbytes) : 0;
	GROUP_STATES(STATE)
#undef STATE
	return offset;
}

/* Whether numbers of a column that were rounded are kept in a state of their own. */
static inline bool group_keeps_quotients(const struct plan_column *column)
{
	return column->states >> GROUP_QUOTIENTS & 1;
}

struct group {
	struct key key; /* the bytes of a long one lie after the cells */
	union {
		uint64_t first; /* offset in the input of the first record, in bytes: groups appear in
				 * this order */
		uint64_t state; /* while records are printed: of its new columns (emit/new_fields.h) */
	};
	uint64_t nrecords;
	/* The states follow, then for --offsets a count for each predicate: plan->group_nbytes in all. With
	 * plan->emits, a word lies before a group of struct groups: see group_home. */
};

/* Windows of groups that are not in line (window.h). Zeroed: none. Owned. */
struct window_folds {
	struct key_arena memory;
	struct group_fold *last;
};

/* The key's hash. */
static inline uint64_t group_hash(const struct group *g, struct key_seed seed)
{
	return key_is_long(&g->key) ? key_hash_long(g->key.text, key_nbytes(&g->key), seed) : key_hash_inline(&g->key, seed);
}

/* The group that keeps what g's records become, once it is known: of a group that is bound, the store's with its key. For groups of
 * struct groups, with plan->emits. */
static inline struct group **group_home(struct group *g)
{
	return (struct group **)g - 1;
}

/* Fetches a group of the plan into the cache, or as much of it as most groups have. */
#define GROUP_PREFETCH_NBYTES 192
static inline __attribute__((always_inline)) void group_prefetch(const struct group *g,
								 const struct plan *plan)
{
	const size_t all = plan->group_nbytes;
	const size_t nbytes = all < GROUP_PREFETCH_NBYTES ? all : GROUP_PREFETCH_NBYTES;

	__builtin_prefetch(g, 1);
	for (size_t at = 64; at < nbytes + 64; at += 64) /* its last byte may lie in a line more */
		__builtin_prefetch((const char *)g + (at < nbytes ? at : nbytes - 1), 1);
}

/* The records for which each of the plan's predicates holds; NULL: they are not counted. */
static inline uint64_t *group_nmatched(struct group *g, const struct plan *plan)
{
	return plan->group_nmatched_offset ? (uint64_t *)((char *)g + plan->group_nmatched_offset) : NULL;
}

/* The state of a column that has it: group_cell(), group_logs(), group_ends(), ... */
#define STATE(id, name, type, nbytes, is_needed) \
	static inline type *group_##name(struct group *g, const struct plan_column *column) \
	{ \
		return (type *)((char *)g + column->cell_offset + group_state_offset(column, GROUP_##id)); \
	}
GROUP_STATES(STATE)
#undef STATE

/* The state of a pair. */
static inline struct pair *group_pair(struct group *g, const struct plan_pair *pair)
{
	return (struct pair *)((char *)g + pair->cell_offset);
}

/* A number of two halves, and the halves of one. */
static inline uint128 group_joined(const uint64_t half[2])
{
	return (uint128)half[1] << 64 | half[0];
}

static inline void group_split(uint64_t half[2], uint128 x)
{
	half[0] = (uint64_t)x;
	half[1] = (uint64_t)(x >> 64);
}

static inline struct logarithm_sum group_logs_get(const struct group_logs *logs)
{
	return (struct logarithm_sum){{logs->mantissas[0], logs->mantissas[1], logs->mantissas[2]}, logs->exponents2, logs->exponents10};
}

static inline void group_logs_set(struct group_logs *logs, const struct logarithm_sum *x)
{
	memcpy(logs->mantissas, x->mantissas, sizeof logs->mantissas);
	logs->exponents2 = (int64_t)x->exponents2;
	logs->exponents10 = (int64_t)x->exponents10;
}

/* The two in a count_scale. */
static inline uint64_t group_count_of(uint64_t count_scale)
{
	return count_scale & (((uint64_t)1 << GROUP_COUNT_BITS) - 1);
}

static inline unsigned group_scale_of(uint64_t count_scale)
{
	return (unsigned)(count_scale >> GROUP_COUNT_BITS);
}

static inline uint64_t group_cell_count(const struct group_cell *cell)
{
	return group_count_of(cell->count_scale);
}

static inline unsigned group_cell_scale(const struct group_cell *cell)
{
	return group_scale_of(cell->count_scale);
}

static inline bool group_cell_is_long(const struct group_cell *cell)
{
	return group_cell_scale(cell) == GROUP_SCALE_LONG;
}

/* x, whose limbs lie in the arena, += y. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_exact_add(struct exact *x, const struct exact *y, struct key_arena *arena);

/* Reads the numbers of a column, whose limbs they have. */
void group_sums_of(const struct column_partial *column, struct group_sums *out);

/* Reads a cell of a column with these needs: no other powers are set. The limbs are the cell's. */
void group_cell_read(const struct group_cell *cell, unsigned needs, struct group_sums *out);

/* sums becomes that of both; new limbs are in the rooms, of which there is one, and one for each power. */
void group_sums_add(struct group_sums *sums, const struct group_sums *later, unsigned needs, struct integer *rooms);

/* Adds numbers to a cell, whatever holds their limbs; those that a cell becomes long by go to an arena. Errors: STATUS_NO_MEMORY,
 * STATUS_MANY_KEYS. */
enum status group_cell_add(struct group_cell *cell, unsigned needs, const struct group_sums *later, struct key_arena *arena);

/* Adds a cell's numbers to those of another one. Errors: as above. */
enum status group_cell_combine(struct group_cell *x, const struct group_cell *y, unsigned needs, struct key_arena *arena);

/* Values of one column in up to SIMD_NUMBERS_NROWS rows, a bit each, on their way to the states of the rows' groups. */
struct group_vector {
	uint64_t present;   /* rows with a value; of these, if the column parses: */
	uint64_t numbers;   /* numbers that x has, */
	uint64_t quotients; /* and numbers that were rounded. The others are texts that are no error. */
	const struct simd_numbers *x;
	/* Of `present`, where group_wants_texts: the value without quotes, of which KEPT_NBYTES may be read; its field's offset in the
	 * input, in bytes; and how many bytes of the field come before it. */
	struct group_vector_text {
		const char *text;
		uint32_t nbytes, nbefore;
		uint64_t place;
	} texts[SIMD_NUMBERS_NROWS];
	const struct exact *rounded; /* of `quotients`: SIMD_NUMBERS_NROWS */
};

/* Whether a column's states take its values as texts. */
static inline bool group_wants_texts(const struct plan_column *column)
{
	return (column->needs & (MOMENT_ENDS | MOMENT_TEXTS | MOMENT_KEYS)) != 0;
}

struct groups; /* groups.h */

/* What is done with a state of column c. The groups are of `to`, but for `later`. NULL: nothing. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
struct group_state_ops {
	/* Adds values of rows, as group_add_vector says. */
	enum status (*update)(struct groups *to, struct group *const *groups, size_t c, const struct group_vector *v);

	/* g's becomes that of g's records and later's. */
	enum status (*combine)(struct groups *to, struct group *g, struct group *later, size_t c);

	/* Adds it to a column. */
	enum status (*add_to)(struct group *g, const struct plan *plan, const struct plan_column *column, struct column_partial *to);

	/* Adds what a column has of the moment. */
	enum status (*take)(struct groups *to, struct group *g, size_t c, const struct column_partial *later);

	/* Of a state with the form of a cell of all records, in place of the three: makes a cell, which takes GROUP_READ_NBYTES at most,
	 * what the state is, to be read; and adds a cell. */
	int cell;
	void (*read)(struct group *g, const struct plan_column *column, void *cell);
	enum status (*add)(struct groups *to, struct group *g, size_t c, const void *cell);
};
#define GROUP_READ_NBYTES 96

#define STATE(id, name, type, nbytes, is_needed) extern const struct group_state_ops group_state_##name;
GROUP_STATES(STATE)
#undef STATE

/* By state. */
extern const struct group_state_ops *const group_states[GROUP_NSTATES];

/* Adds values of the plan's column c, which has states, to those of the rows' groups, which are in g. Long texts stay where they are until groups
 * are combined. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_add_vector(struct groups *g, struct group *const *groups, size_t c, const struct group_vector *v);

/* Gives a cell that was copied sums of its own, if it is long. Errors: as above. */
enum status group_cell_own(struct group_cell *cell, unsigned needs, struct key_arena *arena);

/* Adds a number to a cell. Errors: as above. */
enum status group_cell_add_number(struct group_cell *cell, unsigned needs, struct decimal number, struct key_arena *arena);

/* Adds all that a column, of which this is the plan's column c, has of the group's records to g, one of `to`. Errors: as above. */
enum status group_add_column(struct groups *to, struct group *g, size_t c, const struct column_partial *later);

/* g, which is one of `to`, becomes the fold of its records and later's. Its key stays. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_combine(struct groups *to, struct group *g, struct group *later);

/* Does what group_combine does, and makes later, one of a chunk's, what g was, with state 0. spare: room for a group. For new columns,
 * which have no lists (group_lists.h). Errors: as above. */
enum status group_exchange(struct groups *to, struct group *g, struct groups *chunk, struct group *later, struct group *spare);

/* Adds all that g holds, but distinct values, to p, the identity before, which nothing more is added to: its pairs are g's. Errors:
 * STATUS_NO_MEMORY. */
enum status group_add_to(struct group *g, const struct plan *plan, struct partial *p);
