/* SPDX-License-Identifier: MIT
 *
 * values_focus.c - see values_focus.h.
 */
#include "fold/values_focus.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const struct values_focus *current;
static bool dropping_allowed;
static atomic_bool dropped;

void values_focus_set(const struct values_focus *focus, bool may_drop)
{
	current = focus;
	dropping_allowed = may_drop;
	dropped = false;
}

const struct values_focus *values_focus(void)
{
	return current;
}

bool values_are_dropped(void)
{
	return atomic_load_explicit(&dropped, memory_order_relaxed);
}

void values_note_refusal(void)
{
	if (dropping_allowed)
		dropped = true;
}

int128 values_focus_key_of_wide(const struct values_focus *f, const struct wide *x)
{
	int128 key = 0;

	if (f->keys.kind == KEY_OF_WIDE)
		return key_of_wide(x);
	wide_to_int128(x, f->keys.scale, &key);
	return key;
}

int128 values_focus_key(const struct values_focus *f, int64_t significand, int scale)
{
	struct wide x;

	if (f->keys.kind != KEY_OF_WIDE)
		return values_lift(significand, scale, f->keys.scale);
	wide_set_decimal(&x, significand, scale);
	return key_of_wide(&x);
}

static size_t ncounts(void)
{
	return current && current->counts ? current->nintervals * NBINS : 0;
}

/* Makes v's counts unless they are there. */
static enum status need_counts(struct values *v)
{
	if (!v->counts)
		v->counts = calloc(ncounts(), sizeof *v->counts);
	return v->counts ? STATUS_OK : STATUS_NO_MEMORY;
}

bool values_focus_find(const struct values_focus *f, struct values *v, int128 key,
		       enum status *status)
{
	size_t i = 0;

	while (i < f->nintervals && (key < f->intervals[i].low || key > f->intervals[i].high))
		i++;
	if (i == f->nintervals || !f->counts)
		return i < f->nintervals;
	*status = need_counts(v);
	if (*status == STATUS_OK) {
		const struct interval *interval = &f->intervals[i];
		uint128 distance = (uint128)key - (uint128)interval->low;
		v->counts[i * NBINS + (size_t)(distance >> interval->shift)]++;
	}
	return false;
}

enum status values_focus_combine(struct values *v, const struct values *later)
{
	if (!later->counts)
		return STATUS_OK;
	if (need_counts(v) != STATUS_OK)
		return STATUS_NO_MEMORY;
	for (size_t i = 0; i < ncounts(); i++)
		v->counts[i] += later->counts[i];
	return STATUS_OK;
}

void values_focus_clear(struct values *v)
{
	if (v->counts)
		memset(v->counts, 0, ncounts() * sizeof *v->counts);
}
