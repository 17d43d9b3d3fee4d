/* SPDX-License-Identifier: MIT
 *
 * group_list.c - see group_list.h. Groups are dealt into buckets by their offsets, which lie about evenly
 * in the input, and each bucket is sorted by itself: two passes over the groups, whatever their number.
 */
#include "fold/group_list.h"

#include <stdlib.h>

#include "fold/key_memory.h"

#define BUCKET_NGROUPS 4 /* in the mean */
#define INSERTION_NGROUPS_MAX 32

/* Groups on their way into buckets. */
struct dealing {
	struct group_place *at;
	size_t *ends; /* by bucket: behind its last place so far */
	int shift;    /* from an offset to a bucket */
};

static enum status find_last(void *context, struct group *group)
{
	uint64_t *last = context;

	*last = group->first > *last ? group->first : *last;
	return STATUS_OK;
}

static enum status count(void *context, struct group *group)
{
	struct dealing *d = context;

	d->ends[group->first >> d->shift]++;
	return STATUS_OK;
}

static enum status deal(void *context, struct group *group)
{
	struct dealing *d = context;

	d->at[d->ends[group->first >> d->shift]++] = (struct group_place){group->first, group};
	return STATUS_OK;
}

static void each(struct group_store *s, groups_visitor visit, void *context)
{
	for (size_t p = 0; p < STORE_NPARTS; p++)
		groups_each(group_store_part(s, p), visit, context);
}

static int compare_places(const void *a, const void *b)
{
	uint64_t x = ((const struct group_place *)a)->first, y = ((const struct group_place *)b)->first;

	return x < y ? -1 : x > y;
}

static void sort_bucket(struct group_place *at, size_t n)
{
	if (n > INSERTION_NGROUPS_MAX) {
		qsort(at, n, sizeof *at, compare_places);
		return;
	}
	for (size_t i = 1; i < n; i++) {
		struct group_place place = at[i];
		size_t j = i;
		for (; j > 0 && at[j - 1].first > place.first; j--)
			at[j] = at[j - 1];
		at[j] = place;
	}
}

/* Sorts the groups of s into d->at. */
static void sort(struct group_store *s, struct dealing *d, size_t nbuckets)
{
	size_t begin = 0;

	each(s, count, d);
	for (size_t i = 0; i < nbuckets; i++) {
		size_t n = d->ends[i];
		d->ends[i] = begin;
		begin += n;
	}
	each(s, deal, d);
	for (size_t i = 0; i < nbuckets; i++) {
		begin = i > 0 ? d->ends[i - 1] : 0;
		sort_bucket(d->at + begin, d->ends[i] - begin);
	}
}

enum status group_list_make(struct group_store *s, struct group_list *out)
{
	struct dealing d = {.shift = 0};
	uint64_t last = 0;
	enum status status;
	size_t nbuckets;
	void *memory;

	*out = (struct group_list){.n = group_store_count(s)};
	if (out->n == 0)
		return STATUS_OK;
	each(s, find_last, &last);
	while (last >> d.shift > out->n / BUCKET_NGROUPS)
		d.shift++;
	nbuckets = (last >> d.shift) + 1;
	d.ends = calloc(nbuckets, sizeof *d.ends);
	status = d.ends ? key_memory_new(out->n * sizeof *out->at, &memory) : STATUS_NO_MEMORY;
	if (status == STATUS_OK) {
		out->at = d.at = memory;
		sort(s, &d, nbuckets);
	}
	free(d.ends);
	return status;
}

void group_list_free(struct group_list *l)
{
	key_memory_free(l->at, l->n * sizeof *l->at);
}
