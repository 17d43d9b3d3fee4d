/* SPDX-License-Identifier: MIT
 *
 * rank.c - see rank.h.
 */
#include "mpi/rank.h"

#include <errno.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "fold/groups.h"
#include "mpi/entry.h"
#include "mpi/text.h"

/* ---- opening ---- */

enum status rank_open_pass(struct rank *r, enum pass pass, struct fault *fault)
{
	struct run *run = calloc(1, sizeof *run);

	if (!run)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	run->options = *r->options;
	run->options.partial = pass != PASS_PRINT && !r->prints_records;
	if (r->lost_device)
		run->options.device = DEVICE_CPU;
	run->stdin_offset = -1;
	run->all_ended = true;
	run->careful = pass != PASS_PART;
	r->run = run;
	if (run_open_input(run, fault) != STATUS_OK)
		return fault->status;
	if (pass != PASS_PRINT && r->prints_records) {
		run->query.plan.emits = false;
		run->query.plan.counts_records = true;
		run->query.plan.guesses_texts = false;
	}
	return STATUS_OK;
}

enum status rank_open(struct rank *r, int *first, struct fault *fault)
{
	const struct options *o = r->options;
	enum status status = STATUS_OK;

	if (r->world->rank == 0)
		status = cut_check_paths(o->paths, o->npaths, fault);
	if (r->world->rank == 0 && status == STATUS_OK)
		status = rank_open_pass(r, PASS_PART, fault);
	*first = world_first_fault(r->world, status);
	if (*first < r->world->nranks)
		return status;
	if (r->world->rank > 0)
		status = rank_open_pass(r, PASS_PART, fault);
	*first = world_first_fault(r->world, status);
	if (*first < r->world->nranks)
		return status;
	status = cut_make(&r->cut, r->world, o->paths, o->npaths, r->run->query.plan.dialect.escape, fault);
	*first = world_first_fault(r->world, status);
	return status;
}

/* ---- folding ---- */

/* Folds the slice, which may turn out to be wrong in what it guesses. The input has been opened. */
static enum status fold_slice(struct rank *r, struct fault *fault)
{
	enum status status = STATUS_OK;

	r->has_slice = cut_slice(&r->cut, r->world->rank, &r->slice);
	if (!r->has_slice)
		return status;
	input_use_slice(r->run->input, &r->slice);
	status = run_fold_input(r->run, fault);
	/* A wrong guess is made once, and then a GPU lost once. */
	for (int i = 0; i < 2 && (status == STATUS_MISGUESSED || status == STATUS_GPU_LOST); i++) {
		r->lost_device = r->lost_device || status == STATUS_GPU_LOST;
		*fault = (struct fault){.status = STATUS_OK};
		status = rank_open_pass(r, PASS_AGAIN, fault);
		if (status != STATUS_OK)
			return status;
		input_use_slice(r->run->input, &r->slice);
		status = run_fold_input(r->run, fault);
	}
	return status;
}

/* Whether what was folded may have begun within a record, here or in the next rank: the slice ends within one, or
 * there is a fault, which may not be one. */
static bool is_doubtful(const struct rank *r, enum status status)
{
	return r->has_slice && (status != STATUS_OK || (r->slice.end != UINT64_MAX && r->run->total.seam.nbytes > 0));
}

/* Folds the slice, which has changed. */
static enum status fold_again(struct rank *r, struct fault *fault)
{
	enum status status;

	*fault = (struct fault){.status = STATUS_OK};
	status = rank_open_pass(r, PASS_PART, fault);
	return status == STATUS_OK ? fold_slice(r, fault) : status;
}

enum status rank_fold(struct rank *r, int *first, struct fault *fault)
{
	enum status status = fold_slice(r, fault);
	bool moved;

	if (world_any(is_doubtful(r, status))) {
		if (world_any(cut_is_torn(&r->cut, r->world, r->options->paths))) {
			cut_again(&r->cut, r->world, r->options->paths, r->run->query.plan.dialect.escape);
			status = fold_again(r, fault);
		}
		entry_settle(&r->cut, r->world, &r->run->query, r->run->input, &moved);
		if (moved)
			status = fold_again(r, fault);
	}
	*first = world_first_fault(r->world, status);
	return status;
}

/* ---- what was folded ---- */

/* Completes the seam at the slice's end. */
static void place_end(const struct rank *r, struct part_seam *right)
{
	const struct total *t = &r->run->total;
	uint64_t end = input_slice_end(r->run->input);

	right->nlines = t->line > 0 ? t->line - 1 : 0;
	if (r->cut.files[r->slice.last].kind == FILE_BLOCKS) /* modulo 2^64, as all who add it: see struct input_slice */
		right->offset_bytes = t->end_bytes - end;
	else
		right->offset_bytes = right->is_same || t->end_bytes < end ? 0 : t->end_bytes - end;
}

void rank_find_seams(const struct rank *r, struct part_seam *left, struct part_seam *right)
{
	cut_seams(&r->cut, r->world, r->options->paths, left, right);
	place_end(r, right);
}

static enum status write_part(const struct rank *r, FILE *to, struct fault *fault)
{
	const char *const *paths = r->options->paths;
	const struct input_slice *s = &r->slice;
	struct part_seam left, right;
	const struct part_scope scope = {.inputs = paths + s->first, .ninputs = (size_t)(s->last - s->first + 1),
					 .left = &left, .right = &right, .first = s->first};

	rank_find_seams(r, &left, &right);
	return part_write(&r->run->options, &r->run->query, &r->run->total, &scope, to, fault);
}

enum status rank_write_part(struct rank *r, int *text, struct fault *fault)
{
	enum status status;
	FILE *stream;

	*text = NO_TEXT;
	if (!r->has_slice)
		return STATUS_OK;
	*text = text_new();
	stream = *text == NO_TEXT ? NULL : text_stream(*text);
	if (!stream)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	status = write_part(r, stream, fault);
	if (fclose(stream) != 0 && status == STATUS_OK)
		status = fault_set(fault, STATUS_WRITE, errno, NULL);
	return status;
}

enum status rank_write_rest(struct rank *r, int *text, struct fault *fault)
{
	struct plan *plan = &r->run->query.plan;
	struct group_store *groups = plan->groups;
	enum status status;

	*text = NO_TEXT;
	plan->groups = group_store_new(plan);
	status = plan->groups ? rank_write_part(r, text, fault) : fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	group_store_free(plan->groups);
	plan->groups = groups;
	return status;
}

enum status rank_find_padded(struct rank *r, int *first, struct fault *fault)
{
	int nfiles = r->options->npaths;
	enum status status;

	r->padded = calloc((size_t)nfiles, sizeof *r->padded);
	status = r->padded ? STATUS_OK : fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	*first = world_first_fault(r->world, status);
	if (*first < r->world->nranks)
		return status;
	for (int i = 0; i < nfiles; i++)
		r->padded[i] = input_is_padded(r->run->input, i);
	MPI_Allreduce(MPI_IN_PLACE, r->padded, nfiles, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD);
	return status;
}

void rank_forget_total(struct rank *r)
{
	struct run *run = r->run;

	if (!r->has_slice || !run->all_ended)
		return;
	total_free(&run->total);
	group_store_free(run->query.plan.groups);
	run->query.plan.groups = NULL;
}

/* How many lines of its last file this rank has read. */
static uint64_t count_own_lines(const struct rank *r)
{
	return r->has_slice && r->run && r->run->total.line > 0 ? r->run->total.line - 1 : 0;
}

/* The lines before a rank's slice in its first file. nlines: that many each rank has read of its last file. */
static uint64_t count_lines_before(const struct rank *r, int rank, const uint64_t *nlines)
{
	struct input_slice slice, before;
	uint64_t n = 0;

	if (!cut_slice(&r->cut, rank, &slice))
		return 0;
	for (int i = rank - 1; i >= 0 && slice.begin > 0; i--) {
		if (!cut_slice(&r->cut, i, &before))
			continue;
		n += nlines[i];
		slice.begin = before.first == slice.first ? before.begin : 0;
	}
	return n;
}

void rank_place_fault(const struct rank *r, int first, struct fault *fault)
{
	uint64_t mine = count_own_lines(r), *nlines = calloc((size_t)r->world->nranks, sizeof *nlines);

	if (world_any(!r->cut.at || !nlines)) { /* nothing has been read yet, or there is no memory to count */
		free(nlines);
		return;
	}
	MPI_Allgather(&mine, 1, MPI_UINT64_T, nlines, 1, MPI_UINT64_T, MPI_COMM_WORLD);
	if (r->world->rank == first && r->has_slice && !r->run->slice_state && fault->line > 0 &&
	    fault->file == input_name(r->run->input, r->slice.first))
		fault->line += count_lines_before(r, first, nlines);
	free(nlines);
}
