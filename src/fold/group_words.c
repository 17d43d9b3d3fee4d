/* SPDX-License-Identifier: MIT
 *
 * group_words.c - see group_words.h.
 *
 * Keys are looked up some at a time, as in groups.c: their places are on their way into the cache
 * before they are needed.
 */
#include "fold/group_words.h"

#include <string.h>

#include "fold/groups.h"
#include "number/decimal_text.h"

#define FLIGHT_NGROUPS 32

bool group_layout_make(struct group_layout *layout, const struct plan *plan)
{
	const struct key_seed seed = key_seed_get();

	*layout = (struct group_layout){.nkeys = (uint32_t)plan->nkeys,
					.nwords = (uint32_t)(plan->group_nbytes / sizeof(uint64_t)),
					.seed = {seed.word[0], seed.word[1]}};
	if (plan->nkeys > GROUP_LAYOUT_NKEYS_MAX)
		return false;
	for (size_t i = 0; i < plan->nkeys; i++)
		layout->keys[i] = (uint32_t)plan->keys[i];
	for (size_t c = 0; c < plan->ncolumns; c++) {
		const struct plan_column *column = &plan->columns[c];
		if (column->needs == 0)
			continue;
		if (column->needs & ~(unsigned)(MOMENTS_FUSED | MOMENT_SQUARES) ||
		    layout->ncolumns == GROUP_LAYOUT_NCOLUMNS_MAX)
			return false;
		layout->columns[layout->ncolumns++] = (struct group_layout_column){
			(uint32_t)c, (uint32_t)(column->cell_offset / sizeof(uint64_t)), layout->nwords,
			column->needs & (MOMENT_EXTREMES | MOMENT_SQUARES), column->parses};
		layout->nwords += column->parses ? 1 + (column->needs & MOMENT_SQUARES ? 1 : 0) : 0;
	}
	return true;
}

/* ---- one group ---- */

static struct group_cell *cell_of(uint64_t *words, const struct group_layout_column *column)
{
	return (struct group_cell *)(words + column->cell);
}

/* Whether a table's cell is one of the host as it is. */
static bool is_settled(const struct group_cell *cell, const uint64_t *excess, unsigned needs, unsigned table_scale)
{
	return group_cell_count(cell) > 0 && group_cell_scale(cell) == table_scale &&
	       group_words_sum(cell->sum, excess[0]) == cell->sum && !(needs & MOMENT_SQUARES && (excess[1] || cell->squares[1] >> 63));
}

/* What a table's cell has, at the cell's scale: all of its numbers end in as many zeros as the table's scale is larger. Limbs are in the
 * room. */
static struct group_sums sums_of(const struct group_cell *cell, const uint64_t *excess, unsigned needs, unsigned table_scale,
				 struct integer *room)
{
	const int scale = (int)group_cell_scale(cell);
	struct exact sum = {.scale = scale}, min = sum, max = sum, squares = {.scale = 2 * scale};

	if (table_scale - (unsigned)scale <= DECIMAL_NDIGITS) { /* only 0 ends in more zeros */
		const int64_t power = (int64_t)decimal_powers[table_scale - (unsigned)scale];
		sum.value = group_words_sum(cell->sum, excess[0]) / power;
		if (needs & MOMENT_EXTREMES) {
			min.value = cell->extremes[0] / power;
			max.value = cell->extremes[1] / power;
		}
		if (needs & MOMENT_SQUARES) {
			integer_set_words(room, (const unsigned long[]){cell->squares[0], cell->squares[1], excess[1]}, 3);
			integer_divide_short(room, (uint64_t)power);
			integer_divide_short(room, (uint64_t)power);
			squares = exact_view(room, 2 * scale);
		}
	}
	return (struct group_sums){.numbers = {group_cell_count(cell), scale, sum, min, max}, .powers = {squares}};
}

enum status group_words_settle(struct group *g, const struct plan *plan, const struct group_layout *layout,
			       const uint32_t *scales, struct key_arena *texts)
{
	uint64_t *words = (uint64_t *)g;
	struct group_sums sums;
	struct integer room;

	if (key_is_long(&g->key))
		g->key.text = (const char *)(words + layout->nwords);
	for (uint32_t i = 0; i < layout->ncolumns; i++) {
		const struct group_layout_column *column = &layout->columns[i];
		struct group_cell *cell = cell_of(words, column);
		if (!column->parses || is_settled(cell, words + column->excess, column->needs, scales[i]))
			continue;
		if (group_cell_count(cell) > 0)
			sums = sums_of(cell, words + column->excess, column->needs, scales[i], &room);
		else
			sums = (struct group_sums){.numbers = {.count = 0}};
		memset(cell, 0, group_sums_nbytes(column->needs));
		TRY(group_cell_add(cell, plan->columns[column->column].needs, &sums, texts));
	}
	return STATUS_OK;
}

/* Rescales a copied cell to the table's scale. Returns false where it does not fit. */
static bool put_cell(struct group_cell *cell, uint64_t *excess, const struct group_layout_column *column, unsigned table_scale)
{
	unsigned scale = group_cell_scale(cell), nzeros = table_scale - scale;
	uint128 squares;
	int128 sum;

	if (group_cell_count(cell) == 0 || !column->parses)
		return true;
	if (group_cell_count(cell) > UINT32_MAX || scale > table_scale || nzeros > DECIMAL_NDIGITS)
		return false;
	sum = (int128)cell->sum * (int128)decimal_powers[nzeros];
	cell->sum = (int64_t)sum;
	excess[0] = (uint64_t)(sum >> GROUP_UPPER_SHIFT);
	for (int i = 0; column->needs & MOMENT_EXTREMES && i < 2; i++)
		if (__builtin_mul_overflow(cell->extremes[i], (int64_t)decimal_powers[nzeros], &cell->extremes[i]))
			return false;
	if (!(column->needs & MOMENT_SQUARES))
		return true;
	squares = group_joined(cell->squares);
	for (unsigned i = 0; i < 2 * nzeros; i++)
		if (__builtin_mul_overflow(squares, (uint128)10, &squares))
			return false;
	group_split(cell->squares, squares);
	return true;
}

size_t group_words_put(const struct group *g, const struct plan *plan, const struct group_layout *layout,
		       const uint32_t *scales, uint64_t *words)
{
	size_t nbytes = key_nbytes(&g->key), nwords = group_words_count(layout, g);
	struct group *copy = (struct group *)words;

	if (nbytes > GROUP_WORDS_KEY_NBYTES_MAX || g->nrecords > UINT32_MAX)
		return 0;
	memset(words, 0, nwords * sizeof *words);
	memcpy(words, g, plan->group_nbytes);
	for (uint32_t i = 0; i < layout->ncolumns; i++) {
		const struct group_layout_column *column = &layout->columns[i];
		if (!put_cell(cell_of(words, column), words + column->excess, column, scales[i]))
			return 0;
	}
	if (key_is_long(&g->key)) {
		memcpy(words + layout->nwords, g->key.text, nbytes);
		copy->key.text = NULL;
	}
	return nwords;
}

/* ---- all of them ---- */

/* Settles up to FLIGHT_NGROUPS groups, and adds them. */
static enum status add_flight(struct groups *to, const struct group_layout *layout, const uint32_t *scales,
			      struct group *const *from, size_t n)
{
	const struct key_seed seed = key_seed_get();
	struct group *groups[FLIGHT_NGROUPS];
	uint64_t hashes[FLIGHT_NGROUPS];
	enum status status = STATUS_OK;

	for (size_t i = 0; i < n && status == STATUS_OK; i++) {
		status = group_words_settle(from[i], to->plan, layout, scales, &to->texts);
		hashes[i] = group_hash(from[i], seed);
		groups_prefetch(to, hashes[i]);
	}
	for (size_t i = 0; i < n && status == STATUS_OK; i++) {
		groups[i] = (struct group *)groups_seek(to, &from[i]->key, hashes[i]);
		if (groups[i])
			group_prefetch(groups[i], to->plan);
		else
			status = groups_append(to, &from[i]->key, &groups[i]);
	}
	for (size_t i = 0; i < n && status == STATUS_OK; i++)
		status = group_combine(to, groups[i], from[i]);
	return status;
}

enum status group_words_add(struct groups *to, const struct group_layout *layout, const uint32_t *scales, uint64_t *words,
			    size_t nwords, size_t *nused)
{
	struct group *flight[FLIGHT_NGROUPS];
	size_t at = 0, n = 0;

	while (nwords - at >= layout->nwords && nwords - at >= group_words_count(layout, (struct group *)(words + at))) {
		struct group *g = (struct group *)(words + at);
		if (g->nrecords > 0)
			flight[n++] = g;
		at += group_words_count(layout, g);
		if (n == FLIGHT_NGROUPS) {
			TRY(add_flight(to, layout, scales, flight, n));
			n = 0;
		}
	}
	*nused = at;
	return add_flight(to, layout, scales, flight, n);
}

void group_words_list(const struct group_layout *layout, const uint64_t *words, size_t nwords, uint32_t *begins)
{
	size_t n = 0;

	for (size_t at = 0; at < nwords; at += group_words_count(layout, (const struct group *)(words + at)))
		if (((const struct group *)(words + at))->nrecords > 0)
			begins[n++] = (uint32_t)at;
}
