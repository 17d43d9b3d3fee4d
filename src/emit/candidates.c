/* SPDX-License-Identifier: MIT
 *
 * candidates.c - see candidates.h.
 */
#include "emit/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "emit/choice.h"

/* Whether the text has a record below the bound. */
static bool has_any(const struct candidates *c)
{
	uint64_t bound = c->choice->bound;

	for (uint64_t number = c->first; number < c->end; number++)
		if (choice_key(c->choice, number) <= bound)
			return true;
	return false;
}

bool candidates_begin(struct candidates *c, uint64_t before, uint64_t nrecords)
{
	uint64_t nmost = c->choice->nmost;

	c->next = c->first = before;
	c->end = before + nrecords;
	if (c->choice->kind == CHOICE_LAST && nrecords > nmost)
		c->first = c->end - nmost;
	c->nrecords = 0;
	return has_any(c);
}

void candidates_free(struct candidates *c)
{
	free(c->records);
	memset(c, 0, sizeof *c);
}

uint64_t candidates_choose(struct candidates *c, uint64_t rows)
{
	uint64_t chosen = 0, bound = c->choice->bound;

	for (; rows; rows &= rows - 1, c->next++)
		if (c->next >= c->first && choice_key(c->choice, c->next) <= bound)
			chosen |= rows & -rows;
	return chosen;
}

enum status candidates_note(struct candidates *c, uint64_t number, size_t begin, size_t nbytes)
{
	TRY(ARRAY_GROW(c->records, c->capacity, c->nrecords + 1));
	c->records[c->nrecords++] = (struct chosen_record){choice_key(c->choice, number), number, begin, nbytes,
							   c->lacks_end && number + 1 == c->end};
	return STATUS_OK;
}

enum status candidates_offer(struct candidates *c, const char *text)
{
	return c->nrecords ? choice_add(c->choice, c->records, c->nrecords, text) : STATUS_OK;
}
