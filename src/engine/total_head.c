/* SPDX-License-Identifier: MIT
 *
 * total_head.c - see total_head.h. The end of the last record is searched for by folding parts of the chunk:
 * that is done once in a run.
 */
#include "engine/total_head.h"

#include "engine/total_check.h"

bool total_is_enough(const struct total *t, const struct partial *p)
{
	return t->plan->head > 0 && t->partial.nkept + (p ? p->nkept : 0) >= t->plan->head;
}

/* Folds the first nbytes of the chunk into the folder's partial. */
static enum status fold_prefix(struct total *t, const struct chunk *chunk, struct chunk_entry entry,
			       size_t nbytes)
{
	TRY(seam_folder_begin(t, &t->folder));
	t->folder.partial.offset_bytes = chunk->offset_bytes;
	return cpu_folder_fold(&t->folder.cpu, chunk->data, nbytes, entry, &t->folder.partial);
}

/* Sets *nbytes to how many of the chunk's bytes have the records that are enough. */
static enum status find_enough(struct total *t, const struct chunk *chunk, struct chunk_entry entry,
			       size_t *nbytes)
{
	size_t few = 0, enough = chunk->nbytes;
	enum status status = STATUS_OK;

	while (status == STATUS_OK && enough - few > 1) {
		size_t middle = few + (enough - few) / 2;
		status = fold_prefix(t, chunk, entry, middle);
		if (total_is_enough(t, &t->folder.partial))
			enough = middle;
		else
			few = middle;
	}
	*nbytes = enough;
	return status;
}

enum status total_end_within(struct total *t, const struct chunk *chunk, uint64_t line,
			      struct chunk_output *output, struct fault *fault)
{
	struct partial *good = &t->folder.partial;
	struct text text = {chunk->data, 0, chunk->file, line, 0, 0};
	struct groups *groups;
	enum status status = find_enough(t, chunk, output->entry, &text.nbytes);

	if (status == STATUS_OK)
		status = fold_prefix(t, chunk, output->entry, text.nbytes);
	if (status != STATUS_OK)
		return partial_fault(good, t->plan, status, fault);
	status = total_check(t, &text, good, fault);
	output->good_nbytes = status == STATUS_OK ? text.nbytes : t->fault_offset;
	if (status != STATUS_OK)
		return status;
	groups = good->groups;
	good->groups = NULL; /* they join the store when the records are printed */
	status = partial_combine(&t->partial, good);
	good->groups = groups;
	return status == STATUS_OK ? fault_set(fault, STATUS_ENOUGH, 0, NULL)
				   : partial_fault(&t->partial, t->plan, status, fault);
}
