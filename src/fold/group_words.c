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

#define FLIGHT_NGROUPS 32

/* ---- the layout ---- */

static uint32_t cell_nwords(unsigned needs, bool parses)
{
	return 1 + (parses ? 2 + (needs & MOMENT_EXTREMES ? 2 : 0) + (needs & MOMENT_SQUARES ? 4 : 0) : 0);
}

static bool add_column(struct group_layout *layout, const struct plan *plan, size_t c)
{
	const struct plan_column *column = &plan->columns[c];
	unsigned needs = column->needs & (MOMENT_EXTREMES | MOMENT_SQUARES);

	if (column->needs & ~GROUP_CELL_MOMENTS || layout->ncolumns == GROUP_LAYOUT_NCOLUMNS_MAX)
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

static size_t nwords_of(const struct group_layout *layout, const uint64_t *group)
{
	return layout->nwords + (key_nbytes_of(group) + 7) / 8;
}

static uint128 power_of_ten(unsigned n)
{
	uint128 power = 1;

	while (n-- > 0)
		power *= 10;
	return power;
}

/* A cell's numbers, at the scale of that one of them that has the largest. All of them end in as many zeros as
 * the table's scale is larger. */
static struct group_numbers numbers_of(const uint64_t *cell, const struct group_layout_column *column,
				       unsigned table_scale)
{
	uint32_t scales = (uint32_t)(cell[0] >> 32);
	struct group_numbers x = {.count = (uint32_t)cell[0]};
	const uint64_t *squares = &cell[column->needs & MOMENT_EXTREMES ? 5 : 3];
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
	for (int i = 0; column->needs & MOMENT_SQUARES && i < 4; i++)
		x.squares += (uint128)squares[i] << 32 * i;
	nzeros = table_scale - x.scale;
	if (nzeros == 0)
		return x;
	if (nzeros > DECIMAL_NDIGITS) /* only 0 has so many */
		return (struct group_numbers){.count = x.count, .scale = x.scale};
	power = (int64_t)power_of_ten(nzeros);
	x.bin.sum /= power;
	x.bin.min /= power;
	x.bin.max /= power;
	x.squares /= power_of_ten(2 * nzeros);
	return x;
}

static enum status add_group(const struct arriving *a, struct group *to, const uint64_t *group)
{
	enum status status = STATUS_OK;

	to->first = to->nrecords == 0 || group[0] < to->first ? group[0] : to->first;
	to->nrecords += (uint32_t)group[1];
	for (uint32_t i = 0; i < a->layout->ncolumns && status == STATUS_OK; i++) {
		const struct group_layout_column *column = &a->layout->columns[i];
		const struct group_numbers x = numbers_of(&group[column->word], column, a->scales[i]);
		if (x.count)
			status = group_add_numbers(to, a->plan, column->column, &x);
	}
	return status;
}

/* ---- all of them ---- */

/* Adds up to FLIGHT_NGROUPS groups. */
static enum status add_flight(const struct arriving *a, const uint64_t *const *from, size_t n)
{
	struct group *groups[FLIGHT_NGROUPS];
	struct key keys[FLIGHT_NGROUPS];
	uint64_t hashes[FLIGHT_NGROUPS];
	enum status status = STATUS_OK;

	for (size_t i = 0; i < n; i++) {
		hashes[i] = key_make((const char *)(from[i] + a->layout->nwords), key_nbytes_of(from[i]), false,
				     a->seed, &keys[i]);
		groups_prefetch(a->to, hashes[i]);
	}
	for (size_t i = 0; i < n && status == STATUS_OK; i++) {
		groups[i] = (struct group *)groups_seek(a->to, &keys[i], hashes[i]);
		if (groups[i])
			group_prefetch(groups[i]);
		else
			status = groups_append(a->to, &keys[i], hashes[i], &groups[i]);
	}
	for (size_t i = 0; i < n && status == STATUS_OK; i++)
		status = add_group(a, groups[i], from[i]);
	return status;
}

static enum status add_all(const struct arriving *a, const uint64_t *words, size_t nwords, size_t *nused)
{
	const uint64_t *flight[FLIGHT_NGROUPS];
	enum status status = STATUS_OK;
	size_t at = 0, n = 0;

	while (status == STATUS_OK && nwords - at >= a->layout->nwords &&
	       nwords - at >= nwords_of(a->layout, words + at)) {
		if ((uint32_t)words[at + 1] > 0)
			flight[n++] = words + at;
		at += nwords_of(a->layout, words + at);
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

	for (size_t at = 0; at < nwords; at += nwords_of(layout, words + at))
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
