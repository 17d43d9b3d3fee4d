/* SPDX-License-Identifier: MIT
 *
 * deal.c - see deal.h.
 */
#include "base/deal.h"

#include <stdlib.h>
#include <string.h>

/* ---- into buckets ---- */

enum status deal_new(struct deal *d, size_t nshares, size_t nbuckets)
{
	*d = (struct deal){nshares, nbuckets, calloc(nshares * nbuckets, sizeof *d->places), malloc((nbuckets + 1) * sizeof *d->begins)};
	return d->places && d->begins ? STATUS_OK : STATUS_NO_MEMORY;
}

void deal_free(struct deal *d)
{
	free(d->places);
	free(d->begins);
}

void deal_place(struct deal *d)
{
	uint64_t begin = 0;

	for (size_t bucket = 0; bucket < d->nbuckets; bucket++) {
		d->begins[bucket] = begin;
		for (size_t share = 0; share < d->nshares; share++) {
			uint64_t *place = &deal_places(d, share)[bucket], count = *place;
			*place = begin;
			begin += count;
		}
	}
	d->begins[d->nbuckets] = begin;
}

/* ---- in a bucket ---- */

static void insertion_sort(uint64_t *x, size_t n)
{
	for (size_t i = 1, j; i < n; i++) {
		uint64_t v = x[i];
		for (j = i; j > 0 && x[j - 1] > v; j--)
			x[j] = x[j - 1];
		x[j] = v;
	}
}

#define DIGIT_BITS_MAX 11

/* Two passes by the highest bits tell most words of a bucket apart. */
void sort_words(uint64_t *x, uint64_t *spare, size_t n, unsigned low, unsigned high)
{
	const unsigned digit = n < 1024 ? 8 : DIGIT_BITS_MAX, begin = high > low + 2 * digit ? high - 2 * digit : low;
	const uint64_t mask = ((uint64_t)1 << digit) - 1;
	uint64_t *from = x, *to = spare;

	if (n <= SORT_FEW_WORDS) {
		insertion_sort(x, n);
		return;
	}
	for (unsigned shift = begin; shift < high; shift += digit) {
		const uint64_t digits = high - shift < digit ? ((uint64_t)1 << (high - shift)) - 1 : mask;
		uint32_t next[1 << DIGIT_BITS_MAX], sum = 0;
		uint64_t *other = from;
		memset(next, 0, (digits + 1) * sizeof *next);
		for (size_t i = 0; i < n; i++)
			next[from[i] >> shift & digits]++;
		for (size_t i = 0; i <= digits; i++) {
			uint32_t count = next[i];
			next[i] = sum;
			sum += count;
		}
		for (size_t i = 0; i < n; i++)
			to[next[from[i] >> shift & digits]++] = from[i];
		from = to;
		to = other;
	}
	if (from != x)
		memcpy(x, from, n * sizeof *x);
	for (size_t i = 0, j; begin > low && i < n; i = j) {
		for (j = i + 1; j < n && x[j] >> begin == x[i] >> begin; j++)
			;
		sort_words(x + i, spare, j - i, low, begin);
	}
}
