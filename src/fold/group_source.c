/* SPDX-License-Identifier: MIT
 *
 * group_source.c - see group_source.h.
 */
#include "fold/group_source.h"

#include <stdlib.h>
#include <string.h>

enum status group_reading_begin(struct group_reading *r, const struct plan *plan)
{
	*r = (struct group_reading){group_store_source(plan->groups), plan, NULL, malloc(plan->group_nbytes), {0}};
	return r->group ? r->source->ops->open(r->source, &r->reader, &r->fault) : STATUS_NO_MEMORY;
}

enum status group_reading_visit(struct group_reading *r, size_t block, size_t n, groups_visitor visit, void *context)
{
	const struct group_source *s = r->source;
	const uint64_t *words;
	enum status status = s->ops->read(r->reader, block, &words, &r->fault);

	for (size_t i = 0; i < n && status == STATUS_OK; i++) {
		memset(r->group, 0, r->plan->group_nbytes);
		status = group_words_get(r->group, r->plan, s->layout, s->scales, words);
		if (status == STATUS_OK)
			status = visit(context, r->group);
		group_free(r->group, r->plan);
		words += group_words_count(s->layout, words);
	}
	return status;
}

void group_reading_end(struct group_reading *r)
{
	if (r->reader)
		r->source->ops->close(r->reader);
	free(r->group);
}
