/* SPDX-License-Identifier: MIT
 *
 * group_words.c - see group_words.h.
 *
 * Keys are looked up some at a time, as in group_store.c: their places are on their way into the cache
 * before they are needed.
 */
#include "fold/group_words.h"

#include <string.h>

#include "fold/groups.h"
#include "number/decimal_text.h"

#define FLIGHT_NGROUPS 32
#define SUM_BOUND ((int128)1 << 92) /* of fewer than 2^32 values that lie within 10^18: two fit a cell's words */

/* ---- the layout ---- */

static uint32_t cell_nwords(unsigned needs, bool parses)
{
	return 1 + (parses ? 2 + (needs & MOMENT_EXTREMES ? 2 : 0) + (needs & MOMENT_SQUARES ? 4 : 0) : 0);
}

static bool add_column(struct group_layout *layout, const struct plan *plan, size_t c)
{
	const struct plan_column *column = &plan->columns[c];
	unsigned needs = column->needs & (MOMENT_EXTREMES | MOMENT_SQUARES);

	if (column->needs & ~(unsigned)(MOMENTS_FUSED | MOMENT_SQUARES) || layout->ncolumns == GROUP_LAYOUT_NCOLUMNS_MAX)
		return false;
	layout->columns[layout->ncolumns++] =
		(struct group_layout_column){(uint32_t)c, layout->nwords, needs, column->parses};
	layout->nwords += cell_nwords(needs, column->parses);
	return true;
}

bool group_layout_make(struct group_layout *layout, const struct plan *plan)
{
	struct key_seed seed = key_seed_get();

	*layout = (struct group_layout){.nkeys = (uint32_t)plan->nkeys, .nwords = 2, .seed = {seed.word[0], seed.word[1]}};
	if (plan->nkeys > GROUP_LAYOUT_NKEYS_MAX)
		return false;
	for (size_t i = 0; i < plan->nkeys; i++)
		layout->keys[i] = (uint32_t)plan->keys[i];
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan->columns[c].needs && !add_column(layout, plan, c))
			return false;
	return true;
}

/* ---- one group ---- */

/* Words on their way into the store. */
struct arriving {
	const struct plan *plan;
	const struct group_layout *layout;
	const uint32_t *scales;
	struct groups *to;
	struct key_seed seed;
};

static size_t key_nbytes_of(const uint64_t *group)
{
	return (size_t)(group[1] >> 32);
}

/* Where in a cell the squares' parts begin. */
static size_t squares_word(const struct group_layout_column *column)
{
	return column->needs & MOMENT_EXTREMES ? 5 : 3;
}

/* Sets the sum of squares to that of its parts, without rest, divided by 10^(2 nzeros). */
static void set_squares(struct group_numbers *x, const uint64_t *part, unsigned nzeros)
{
	unsigned long words[3];
	struct integer sum;

	integer_set(&sum, 0);
	for (int i = 3; i >= 0; i--) {
		struct integer next;
		integer_multiply_short(&sum, (uint64_t)1 << 32);
		integer_set(&next, part[i]);
		integer_add(&sum, &next, false);
	}
	for (int i = 0; i < 2; i++)
		integer_divide_short(&sum, decimal_powers[nzeros]);
	integer_to_words(&sum, words, 3);
	x->squares = (uint128)words[1] << 64 | words[0];
	x->squares_high = words[2];
}

/* A cell's numbers, at the scale of that one of them that has the largest. All of them end in as many zeros as
 * the table's scale is larger. */
static struct group_numbers numbers_of(const uint64_t *cell, const struct group_layout_column *column,
				       unsigned table_scale)
{
	uint32_t scales = (uint32_t)(cell[0] >> 32);
	struct group_numbers x = {.count = (uint32_t)cell[0]};
	unsigned nzeros;
	int64_t power;

	if (!column->parses || x.count == 0)
		return x;
	x.scale = 31 - (unsigned)__builtin_clz(scales);
	x.bin.sum = (int128)(int64_t)cell[2] * ((int128)1 << 32) + (int128)cell[1];
	if (column->needs & MOMENT_EXTREMES) {
		x.bin.min = (int64_t)cell[3];
		x.bin.max = (int64_t)cell[4];
	}
	nzeros = table_scale - x.scale;
	if (nzeros > DECIMAL_NDIGITS) /* only 0 has so many */
		return (struct group_numbers){.count = x.count, .scale = x.scale};
	if (column->needs & MOMENT_SQUARES)
		set_squares(&x, &cell[squares_word(column)], nzeros);
	if (nzeros == 0)
		return x;
	power = (int64_t)decimal_powers[nzeros];
	x.bin.sum /= power;
	x.bin.min /= power;
	x.bin.max /= power;
	return x;
}

/* Adds the words' records and numbers to a group. */
static enum status add_group(struct group *to, const struct plan *plan, const struct group_layout *layout,
			     const uint32_t *scales, const uint64_t *words)
{
	to->first = to->nrecords == 0 || words[0] < to->first ? words[0] : to->first;
	to->nrecords += (uint32_t)words[1];
	for (uint32_t i = 0; i < layout->ncolumns; i++) {
		const struct group_layout_column *column = &layout->columns[i];
		const struct group_numbers x = numbers_of(&words[column->word], column, scales[i]);
		if (x.count)
			TRY(group_add_numbers(to, plan, column->column, &x));
	}
	return STATUS_OK;
}

enum status group_words_get(struct group *to, const struct plan *plan, const struct group_layout *layout,
			    const uint32_t *scales, const uint64_t *words)
{
	static const struct key_seed none;

	key_make((const char *)(words + layout->nwords), key_nbytes_of(words), false, none, &to->key);
	return add_group(to, plan, layout, scales, words);
}

/* ---- and back ---- */

/* Writes the numbers of a cell at the table's scale. Returns false where they do not fit. */
static bool put_numbers(const struct group_cell *cell, const struct group_layout_column *column, unsigned table_scale,
			uint64_t *to)
{
	unsigned scale = group_cell_scale(cell), nzeros = table_scale - scale;
	uint128 squares;
	int128 sum;

	if (scale > table_scale || nzeros > DECIMAL_NDIGITS)
		return false;
	sum = (int128)cell->sum * (int128)decimal_powers[nzeros];
	to[0] |= (uint64_t)1 << (32 + scale);
	to[1] = (uint32_t)sum;
	to[2] = (uint64_t)(sum >> 32);
	if (sum >= SUM_BOUND || sum <= -SUM_BOUND)
		return false;
	for (int i = 0; column->needs & MOMENT_EXTREMES && i < 2; i++)
		if (__builtin_mul_overflow(cell->extremes[i], (int64_t)decimal_powers[nzeros], (int64_t *)&to[3 + i]))
			return false;
	if (!(column->needs & MOMENT_SQUARES))
		return true;
	squares = group_joined(cell->squares);
	for (unsigned i = 0; i < 2 * nzeros; i++)
		if (__builtin_mul_overflow(squares, (uint128)10, &squares))
			return false;
	for (int i = 0; i < 4; i++)
		to[squares_word(column) + (size_t)i] = (uint32_t)(squares >> 32 * i);
	return true;
}

/* Writes a cell to words that are zero. */
static bool put_cell(const struct group_cell *cell, const struct group_layout_column *column, unsigned table_scale,
		     uint64_t *to)
{
	uint64_t count = group_cell_count(cell);

	if (count > UINT32_MAX)
		return false;
	to[0] = count;
	return count == 0 || !column->parses || put_numbers(cell, column, table_scale, to);
}

size_t group_words_put(const struct group *g, const struct plan *plan, const struct group_layout *layout,
		       const uint32_t *scales, uint64_t *words)
{
	size_t nbytes = key_nbytes(&g->key), nwords = group_words_with_key(layout, nbytes);

	if (g->rest || nbytes > GROUP_WORDS_KEY_NBYTES_MAX || g->nrecords > UINT32_MAX)
		return 0;
	memset(words, 0, nwords * sizeof *words);
	words[0] = g->first;
	words[1] = (uint64_t)nbytes << 32 | g->nrecords;
	for (uint32_t i = 0; i < layout->ncolumns; i++) {
		const struct group_layout_column *column = &layout->columns[i];
		const struct group_cell *cell = group_cell((struct group *)g, &plan->columns[column->column]);
		if (!put_cell(cell, column, scales[i], &words[column->word]))
			return 0;
	}
	memcpy(words + layout->nwords, key_text(&g->key), nbytes);
	return nwords;
}

/* ---- all of them ---- */

/* Adds up to FLIGHT_NGROUPS groups. */
static enum status add_flight(const struct arriving *a, const uint64_t *const *from, size_t n)
{
	struct group *groups[FLIGHT_NGROUPS];
	struct key keys[FLIGHT_NGROUPS];
	uint64_t hashes[FLIGHT_NGROUPS];

	for (size_t i = 0; i < n; i++) {
		hashes[i] = key_make((const char *)(from[i] + a->layout->nwords), key_nbytes_of(from[i]), false,
				     a->seed, &keys[i]);
		groups_prefetch(a->to, hashes[i]);
	}
	for (size_t i = 0; i < n; i++) {
		groups[i] = (struct group *)groups_seek(a->to, &keys[i], hashes[i]);
		if (groups[i])
			group_prefetch(groups[i]);
		else
			TRY(groups_append(a->to, &keys[i], &groups[i]));
	}
	for (size_t i = 0; i < n; i++)
		TRY(add_group(groups[i], a->plan, a->layout, a->scales, from[i]));
	return STATUS_OK;
}

static enum status add_all(const struct arriving *a, const uint64_t *words, size_t nwords, size_t *nused)
{
	const uint64_t *flight[FLIGHT_NGROUPS];
	enum status status = STATUS_OK;
	size_t at = 0, n = 0;

	while (status == STATUS_OK && nwords - at >= a->layout->nwords &&
	       nwords - at >= group_words_count(a->layout, words + at)) {
		if ((uint32_t)words[at + 1] > 0)
			flight[n++] = words + at;
		at += group_words_count(a->layout, words + at);
		if (n == FLIGHT_NGROUPS) {
			status = add_flight(a, flight, n);
			n = 0;
		}
	}
	*nused = at;
	return status == STATUS_OK ? add_flight(a, flight, n) : status;
}

void group_words_list(const struct group_layout *layout, const uint64_t *words, size_t nwords, uint32_t *begins)
{
	size_t n = 0;

	for (size_t at = 0; at < nwords; at += group_words_count(layout, words + at))
		if ((uint32_t)words[at + 1] > 0)
			begins[n++] = (uint32_t)at;
}

enum status group_words_add(struct groups *to, const struct group_layout *layout, const uint32_t *scales,
			    const uint64_t *words, size_t nwords, size_t *nused)
{
	const struct arriving a = {to->plan, layout, scales, to, key_seed_get()};

	return add_all(&a, words, nwords, nused);
}

enum status group_words_begin(const struct plan *plan, size_t part, struct groups **out)
{
	*out = group_store_lock(plan->groups, part);
	return (*out)->ngroups > 0 ? groups_index(*out) : STATUS_OK;
}

void group_words_end(const struct plan *plan, size_t part)
{
	groups_drop_index(group_store_part(plan->groups, part));
	group_store_unlock(plan->groups, part);
}
