/* SPDX-License-Identifier: MIT
 *
 * group.h - what is kept of the records of one group (--by): count, sum, extremes and powers of each column
 * and the products of each pair in cells that are as small as they can be, all else in a partial.
 *
 * A cell holds numbers of the fast path at one scale, in 64 bits. Most columns have no others. A
 * number that does not fit goes to the partial, as do the other moments: at the end both are added up,
 * so nothing is rounded and nothing depends on where a number was kept. groups_plan (groups.h) gives each
 * column of the plan the place of its cell.
 *
 * Identity: zeroed. Combine: group_combine(earlier, later), associative.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/status.h"
#include "fold/column.h"
#include "fold/key.h"
#include "fold/key_memory.h"
#include "number/logarithm.h"
#include "number/quotient.h"
#include "number/reciprocal.h"
#include "query/plan.h"
#include "simd/simd.h"

/* The numbers of one column, as integers x 10^-scale. A cell is as long as the column needs:
 * group_sums_nbytes. */
struct group_cell {
	uint64_t count_scale; /* their count and their scale share a word */
	int64_t sum;
	int64_t extremes[2]; /* the smallest and the largest, with MOMENT_EXTREMES */
	uint64_t squares[2]; /* their sum, the low half first, with MOMENT_SQUARES, as are these: */
	uint64_t cubes[2];   /* with MOMENT_CUBES, in two's complement */
	uint64_t fourths[2]; /* with MOMENT_FOURTHS */
};
#define GROUP_COUNT_BITS 56
#define GROUP_CELL_MOMENTS ((unsigned)(MOMENTS_FUSED | MOMENT_SQUARES | MOMENT_CUBES | MOMENT_FOURTHS))

/* With MOMENT_LOGS: a struct logarithm_sum. */
struct group_logs {
	unsigned long mantissas[3];
	int64_t exponents2, exponents10;
};

/* The first or the last value of a column that has a cell, as ends_text (moment.h) returns it, or its smallest or largest text: in
 * line, or a longer one elsewhere. */
#define GROUP_END_NBYTES 23 /* in line */
#define GROUP_END_LONG 255
struct group_end {
	union { /* 0: none */
		uint64_t place; /* twice (its offset in the input, in bytes, + 1), and 1 if it is a number */
		uint64_t key;   /* of a smallest or largest text: text_key (texts.h) */
	};
	union {
		struct {
			uint8_t nbytes; /* or GROUP_END_LONG */
			char text[GROUP_END_NBYTES];
		};
		struct {
			uint8_t mark;
			uint32_t room_nbytes; /* where it lies; 0: in the text that is folded, until groups are combined */
			uint64_t long_nbytes;
			char *at; /* in the texts of struct groups, or in the text that is folded */
		};
	};
};

/* With MOMENT_ENDS, these lie after the cell. */
struct group_ends {
	struct group_end first, last;
	uint64_t ntexts; /* values that are no numbers, where these are no error */
};

/* With MOMENT_TEXTS, these: as in struct texts (texts.h), but for the count, which is that of the cell. */
struct group_texts {
	struct group_end least, greatest;
	uint32_t shortest, longest;
	bool has_other, has_time;
};

/* With MOMENT_VALUES, these: the numbers of the cell, which group_lists.h lists. */
struct group_values {
	struct value_block *last; /* in the memory of struct groups; NULL: none */
};

/* With MOMENT_KEYS, these: the distinct values in a table that group_lists.h makes. */
struct group_keys {
	uint64_t n;
	uint32_t found[2]; /* by enum keys_order: 1 + the slot of that one, once they are settled; 0: the group has no value */
};

/* With MOMENT_KEY_LOGS, after struct group_keys: of the counts of its values, once they are settled. */
struct group_key_logs {
	uint64_t n; /* all values: the sum of the counts */
	struct group_logs sum;
};

/* The sum of the products of a pair of columns that have cells: an integer x 10^-scale. */
struct group_pair {
	uint64_t products[2]; /* two's complement, the low half first; 0: the scale does not matter */
	uint64_t scale;       /* of both factors together */
};

#define GROUP_LISTS_MAX 2048 /* columns that have values or keys beside cells */

static inline size_t group_sums_nbytes(unsigned needs)
{
	return needs & MOMENT_FOURTHS	 ? sizeof(struct group_cell)
	       : needs & MOMENT_CUBES	 ? offsetof(struct group_cell, fourths)
	       : needs & MOMENT_SQUARES	 ? offsetof(struct group_cell, cubes)
	       : needs & MOMENT_EXTREMES ? offsetof(struct group_cell, squares)
					 : offsetof(struct group_cell, extremes);
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

/* Whether a group keeps all of a column in states, but for values that do not fit. */
static inline bool group_may_have_states(const struct plan_column *column)
{
	return column->needs && !(column->needs & MOMENT_ENDS && column->if_numeric) && !(column->needs & MOMENT_TEXTS && column->parses);
}

struct group {
	struct key key; /* the bytes of a long one lie after the cells */
	union {
		uint64_t first; /* offset in the input of the first record, in bytes: groups appear in
				 * this order */
		uint64_t state; /* while records are printed: of its new columns (emit/new_fields.h) */
		struct group *moved; /* after group_combine: the group that has its records */
	};
	uint64_t nrecords;
	struct partial *rest; /* what the cells do not hold; NULL: nothing. Owned. */
	/* The cells follow, then for --offsets a count for each predicate: plan->group_nbytes in all. With
	 * plan->emits, a word lies before a group of struct groups: see group_home. */
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

/* Fetches the first two lines of a group into the cache: its key, and some cells. */
static inline __attribute__((always_inline)) void group_prefetch(const struct group *g)
{
	__builtin_prefetch(g, 1);
	__builtin_prefetch((const char *)g + 64, 1);
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

/* The cell of a pair that has one. */
static inline struct group_pair *group_pair(struct group *g, const struct plan_pair *pair)
{
	return (struct group_pair *)((char *)g + pair->cell_offset);
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

static inline int128 group_pair_products(const struct group_pair *pair)
{
	return (int128)group_joined(pair->products);
}

/* The value of an end that has one. */
static inline const char *group_end_text(const struct group_end *e, size_t *nbytes)
{
	*nbytes = e->nbytes == GROUP_END_LONG ? e->long_nbytes : e->nbytes;
	return e->nbytes == GROUP_END_LONG ? e->at : e->text;
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

/* Values of one column in up to SIMD_NUMBERS_NROWS rows, a bit each, on their way to the states of the rows' groups. */
struct group_vector {
	uint64_t present;   /* rows with a value; of these, if the column parses: */
	uint64_t numbers;   /* numbers that x has, */
	uint64_t quotients; /* and numbers that were rounded. The others are texts that are no error. */
	const struct simd_numbers *x;
	/* Of `present`, where group_wants_texts: the value without quotes, of which GROUP_END_NBYTES may be read; its field's offset in the
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

/* What is done with a state of column c. The groups are of `to`. NULL: nothing. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
struct group_state_ops {
	/* Adds values of rows, as group_add_vector says. */
	enum status (*update)(struct groups *to, struct group *const *groups, size_t c, const struct group_vector *v);

	/* g's becomes that of g's records and later's. */
	enum status (*combine)(struct groups *to, struct group *g, struct group *later, size_t c);

	/* Adds it to a column. */
	enum status (*add_to)(struct group *g, const struct plan *plan, const struct plan_column *column, struct column_partial *to);

	/* Whether it can have what a column has of the moment; then adds that. */
	bool (*fits)(const struct column_partial *later, const struct plan_column *column);
	enum status (*take)(struct groups *to, struct group *g, size_t c, const struct column_partial *later);

	/* Makes a cell of all records, which takes GROUP_READ_NBYTES at most, what formulas need of the state. */
	int cell;
	void (*read)(struct group *g, const struct plan_column *column, void *cell);
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

/* Adds a number of the plan's column c to the group. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_add(struct group *g, const struct plan *plan, size_t c, struct decimal number);

/* Numbers of one scale; the sums of their powers if the column needs them. */
struct group_numbers {
	uint64_t count;
	unsigned scale;
	struct decimal_bin bin;
	uint128 squares;
	uint64_t squares_high; /* of a sum beyond 128 bits, which no cell holds */
	int128 cubes, fourths;
};

/* Adds products of the plan's pair i, which has a cell: to that, or, where their sum does not fit, to the partial. Errors: as
 * above. */
enum status group_add_products(struct group *g, const struct plan *plan, size_t i, unsigned scale, int128 products);

/* Adds a number of the plan's pair i without a partner, of that side (pair.h), to the partial. Errors: as above. */
enum status group_add_alone(struct group *g, const struct plan *plan, size_t i, int side, struct decimal number);

/* Adds numbers of the plan's column c, which has a cell, to the group: to the cell if they fit, else to the
 * partial. Errors: as above. */
enum status group_add_numbers(struct group *g, const struct plan *plan, size_t c, const struct group_numbers *x);

/* Adds all that a column, of which this is the plan's column c, has of the group's records to g, one of `to`: to its states if it
 * fits, else to the partial. `later` may then only be cleared or freed. Errors: as above. */
enum status group_add_column(struct groups *to, struct group *g, size_t c, const struct column_partial *later);

/* Makes the group's partial unless it has one. It counts towards --memory. Errors: as above. */
enum status group_need_rest(struct group *g, const struct plan *plan);

/* g, which is one of `to`, becomes the fold of its records and later's, but for later's distinct values, which group_keys_each
 * finds; later's partial may be taken over. Its key stays, and it knows where it has moved. Errors: STATUS_NO_MEMORY,
 * STATUS_MANY_KEYS. */
enum status group_combine(struct groups *to, struct group *g, struct group *later);

/* Does what group_combine does, and makes later what g was, with state 0. spare: a group, zeroed before the first call and to
 * be freed after the last: its partial is used again. For new columns, which have no values in the memory of struct groups
 * (groups_plan). Errors: as above. */
enum status group_exchange(struct groups *to, struct group *g, struct group *later, struct group *spare);

/* Adds all that g holds of columns and records to p, the identity before: *p, or the group's own
 * partial. Returns it; NULL: no memory. */
struct partial *group_partial(struct group *g, const struct plan *plan, struct partial *p);

/* Frees what g owns, but not g. */
void group_free(struct group *g, const struct plan *plan);

/* Whether any group of the process has a partial that group_free would free. */
bool group_rests_exist(void);
