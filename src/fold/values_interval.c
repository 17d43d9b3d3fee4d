/* SPDX-License-Identifier: MIT
 *
 * values_interval.c - see values_interval.h.
 */
#include "fold/values_interval.h"

#define KEY_EXPONENT_SHIFT 56

/* The key of a wide number: the place of its highest limb, then 56 bits of its two highest limbs,
 * whose value is below 10^18 < 2^60. A number of greater magnitude has no smaller key. */
int64_t key_of_wide(const struct wide *x)
{
	int64_t magnitude, key;
	int i = WIDE_NLIMBS - 1;

	while (i > 0 && x->limb[i] == 0)
		i--;
	magnitude = x->limb[i] * WIDE_LIMB_BASE + (i > 0 ? x->limb[i - 1] : 0);
	key = ((int64_t)i << KEY_EXPONENT_SHIFT) + ((magnitude < 0 ? -magnitude : magnitude) >> 4);
	return magnitude < 0 ? -key : magnitude > 0 ? key : 0;
}

void values_keys_choose(struct values_keys *keys, const struct values_extent *extent, int128 *low,
			int128 *high)
{
	keys->scale = extent->scale;
	if (!wide_to_int128(extent->min, keys->scale, low) ||
	    !wide_to_int128(extent->max, keys->scale, high) ||
	    *low < -(DECIMAL_INT128_MAX / 2) || *high > DECIMAL_INT128_MAX / 2) {
		keys->kind = KEY_OF_WIDE;
		*low = key_of_wide(extent->min);
		*high = key_of_wide(extent->max);
	} else {
		keys->kind = *low < INT64_MIN || *high > INT64_MAX ? KEY_128 : KEY_64;
	}
}

void ranked_set(struct ranked *r, int128 x, int scale)
{
	wide_set_decimal(&r->value, x, scale);
}

void interval_set_shift(struct interval *v)
{
	uint128 width = (uint128)v->high - (uint128)v->low;

	for (v->shift = 0; width >> v->shift >= NBINS;)
		v->shift++;
}

void interval_add(const struct values_keys *keys, struct interval *next, size_t *nnext,
		  const struct interval *v)
{
	if (v->nwanted == 0)
		return;
	if (v->low < v->high || keys->kind == KEY_OF_WIDE) {
		next[(*nnext)++] = *v;
		return;
	}
	for (size_t i = 0; i < v->nwanted; i++)
		ranked_set(&v->wanted[i], v->low, keys->scale);
}

/* The bin's part of the interval, with those of its wanted ranks from `first` on. */
static struct interval bin_interval(const struct interval *v, size_t bin, uint64_t nbelow,
				    uint64_t count, size_t first)
{
	struct interval part = {.nbelow = nbelow, .count = count, .wanted = v->wanted + first};

	part.low = (int128)((uint128)v->low + ((uint128)bin << v->shift));
	part.high = (int128)((uint128)part.low + (((uint128)1 << v->shift) - 1));
	if (part.high > v->high || part.high < part.low)
		part.high = v->high;
	while (first + part.nwanted < v->nwanted &&
	       part.wanted[part.nwanted].rank - nbelow < count)
		part.nwanted++;
	return part;
}

enum status interval_split(const struct values_keys *keys, const struct interval *v,
			   const uint64_t *counts, size_t ncopies, size_t stride, struct interval *next,
			   size_t *nnext)
{
	uint64_t nbelow = v->nbelow;
	size_t first = 0;

	for (size_t bin = 0; bin < NBINS && first < v->nwanted; bin++) {
		struct interval part;
		uint64_t count = 0;
		for (size_t i = 0; i < ncopies; i++)
			count += counts[i * stride + bin];
		if (v->wanted[first].rank - nbelow < count) {
			part = bin_interval(v, bin, nbelow, count, first);
			first += part.nwanted;
			interval_add(keys, next, nnext, &part);
		}
		nbelow += count;
	}
	return first == v->nwanted ? STATUS_OK : STATUS_PART_DAMAGED;
}
