/* SPDX-License-Identifier: MIT
 *
 * deal.h - many items into the order of keys by several threads: they are dealt into buckets, and each bucket, which the cache holds,
 * is sorted by itself.
 */
#pragma once

#include "base/status.h"

/* Where items go. Threads take shares of the items, in order; an item keeps its place among those of its bucket. All owned. */
struct deal {
	size_t nshares, nbuckets;
	uint64_t *places; /* nshares x nbuckets: how many items there are, and then where the next one goes */
	uint64_t *begins; /* of buckets, nbuckets + 1 */
};

/* Errors: STATUS_NO_MEMORY; d can then be freed. */
enum status deal_new(struct deal *d, size_t nshares, size_t nbuckets);
void deal_free(struct deal *d);

static inline uint64_t *deal_places(const struct deal *d, size_t share)
{
	return d->places + share * d->nbuckets;
}

/* Makes counts places: bucket by bucket, and in each share by share. */
void deal_place(struct deal *d);

/* Sorts n words by their bits from `low` up to `high`: those above are equal, and of equal ones those below tell the order, which they
 * have already. spare: room for them, if they are more than SORT_FEW_WORDS. */
#define SORT_FEW_WORDS 32
void sort_words(uint64_t *x, uint64_t *spare, size_t n, unsigned low, unsigned high);
