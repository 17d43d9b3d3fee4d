/* SPDX-License-Identifier: MIT
 *
 * rank.c - see rank.h.
 */
#include "mpi/rank.h"

#include <mpi.h>
#include <stdlib.h>

#include "fold/groups.h"

/* ---- opening ---- */

enum status rank_open_pass(struct rank *r, enum pass pass)
{
	struct run *run = calloc(1, sizeof *run);

	if (!run)
		return fault_set(&r->fault, STATUS_NO_MEMORY, 0, NULL);
	run->options = *r->options;
	if (r->lost_device)
		run->options.device = DEVICE_CPU;
	run->stdin_offset = -1;
	run->all_ended = true;
	run->careful = pass != PASS_PART;
	r->run = run;
	TRY(run_open_input(run, &r->fault));
	if (!r->prints_records) {
		plan_as_part(&run->query.plan);
		query_seek_header(&run->query, true);
	} else if (pass != PASS_PRINT) {
		run->query.plan.emits = false;
		run->query.plan.counts_records = true;
		run->query.plan.guesses_texts = false;
	}
	return STATUS_OK;
}

bool rank_open(struct rank *r)
{
	const struct options *o = r->options;
	enum status status = STATUS_OK;

	if (r->world->rank == 0)
		status = cut_check_paths(o->paths, o->npaths, &r->fault);
	if (r->world->rank == 0 && status == STATUS_OK)
		status = rank_open_pass(r, PASS_PART);
	return rank_agree(r, status) && rank_agree(r, r->world->rank > 0 ? rank_open_pass(r, PASS_PART) : STATUS_OK) &&
	       rank_agree(r, cut_make(&r->cut, r->world, o->paths, o->npaths, &r->run->query.plan.dialect, &r->fault));
}

/* ---- folding ---- */

/* Makes the total of no records. */
static enum status begin_total(struct rank *r)
{
	struct run *run = r->run;

	if (groups_plan(&run->query.plan, run->options.chunk_nbytes) == STATUS_OK &&
	    total_init(&run->total, &run->query.plan) == STATUS_OK)
		return STATUS_OK;
	return fault_set(&r->fault, STATUS_NO_MEMORY, 0, NULL);
}

/* Folds the slice, which may turn out to be wrong in what it guesses. The input has been opened. */
static enum status fold_slice(struct rank *r)
{
	enum status status;

	r->has_slice = cut_slice(&r->cut, r->world->rank, &r->slice);
	if (!r->has_slice)
		return begin_total(r);
	input_use_slice(r->run->input, &r->slice);
	status = run_fold_input(r->run, &r->fault);
	/* A wrong guess is made once, and then a GPU lost once. */
	for (int i = 0; i < 2 && (status == STATUS_MISGUESSED || status == STATUS_GPU_LOST); i++) {
		r->lost_device = r->lost_device || status == STATUS_GPU_LOST;
		r->fault = (struct fault){.status = STATUS_OK};
		TRY(rank_open_pass(r, PASS_AGAIN));
		input_use_slice(r->run->input, &r->slice);
		status = run_fold_input(r->run, &r->fault);
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
static enum status fold_again(struct rank *r)
{
	r->fault = (struct fault){.status = STATUS_OK};
	TRY(rank_open_pass(r, PASS_PART));
	return fold_slice(r);
}

bool rank_fold(struct rank *r)
{
	enum status status = fold_slice(r);
	bool moved;

	if (world_any(is_doubtful(r, status))) {
		if (world_any(cut_is_torn(&r->cut))) {
			cut_again(&r->cut, &r->run->query.plan.dialect);
			status = fold_again(r);
		}
		cut_settle(&r->cut, &r->run->query, r->run->input, &moved);
		if (moved)
			status = fold_again(r);
	}
	return rank_agree(r, status);
}

/* ---- what was folded ---- */

/* Frees what was merged, once it is written; not while a thread may still open a GPU, nor after an error, whose message names
 * what is in it. */
static void forget_merged(struct rank *r, enum status status)
{
	struct run *run = r->run;

	if (!run->all_ended || status != STATUS_OK)
		return;
	merge_free(&run->merge);
	total_free(&run->total);
	group_store_free(run->query.plan.groups);
	run->query.plan.groups = NULL;
}

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

/* Begins to merge, has_own: behind what the rank has folded, else behind no records. */
static enum status begin_merge(struct rank *r, bool has_own)
{
	struct run *run = r->run;
	struct part_seam left = {.of = 0}, right = {.of = 0};
	struct part_scope scope = {.inputs = r->options->paths, .left = &left, .right = &right};

	if (has_own) {
		scope.ninputs = (size_t)r->slice.last + 1;
		cut_seams(&r->cut, &left, &right);
		place_end(r, &right);
	}
	return merge_behind(&run->merge, &run->options, &run->query, &run->total, &scope, &r->fault);
}

/* Writes what has been merged, of the run's inputs from the first one on. */
static enum status write_merged(struct rank *r, int first, struct part_sink to)
{
	struct run *run = r->run;
	struct part_scope scope;

	merge_scope(&run->merge, &scope);
	scope.inputs += first;
	scope.ninputs -= (size_t)first;
	scope.first = first;
	return part_write(&run->options, &run->query, &run->total, &scope, to, &r->fault);
}

static struct passage passage; /* of the one text that is on its way */

/* Adds the part that a rank sends, unless *status is an error. Returns whether the part was whole: else that rank has a
 * fault, which is not this one's. */
static bool take_part(struct rank *r, int from, enum status *status)
{
	const struct part_source source = {.read = passage_read, .context = &passage};
	enum status merged = *status;
	bool is_whole;

	if (passage_receive(&passage, from) && merged == STATUS_OK)
		merged = merge_next(&r->run->merge, &source);
	is_whole = passage_drain(&passage);
	*status = is_whole ? merged : *status;
	return is_whole;
}

/* After a merge: says to all whether it has failed. No message names a place in a text that has no name. */
static bool end_merge(struct rank *r, enum status status)
{
	if (!r->fault.file)
		r->fault.line = 0;
	return rank_agree(r, status);
}

bool rank_merge(struct rank *r)
{
	const struct world *w = r->world;
	enum status status = begin_merge(r, r->has_slice);
	bool is_whole = true;
	int step = 1;

	for (; w->rank % (2 * step) == 0 && step < w->nranks; step *= 2)
		if (w->rank + step < w->nranks)
			is_whole = take_part(r, w->rank + step, &status) && is_whole;
	if (status == STATUS_OK && is_whole)
		status = merge_end(&r->run->merge);
	if (w->rank > 0) {
		passage_send(&passage, w->rank - step, r->options->chunk_nbytes);
		if (status == STATUS_OK && is_whole && r->run->merge.ninputs > 0)
			status = write_merged(r, r->has_slice ? r->slice.first : 0, (struct part_sink){passage_write, &passage, true});
		passage_end(&passage, status == STATUS_OK && is_whole);
	}
	return end_merge(r, status);
}

/* ---- states ---- */

/* Writes the state of the slice's records, and forgets it. */
static enum status write_state(struct rank *r, struct text_buffer *to)
{
	enum status status = begin_merge(r, true);

	if (status == STATUS_OK)
		status = merge_end(&r->run->merge);
	if (status == STATUS_OK)
		status = write_merged(r, r->slice.first, (struct part_sink){text_write, to, true});
	forget_merged(r, status);
	return status == STATUS_WRITE ? fault_set(&r->fault, STATUS_NO_MEMORY, 0, NULL) : status;
}

/* Receives a text. Returns whether it was whole. */
static bool receive_text(struct rank *r, int from, struct text_buffer *text, enum status *status)
{
	char block[65536];
	ssize_t n;

	passage_receive(&passage, from);
	while ((n = passage_read(&passage, block, sizeof block)) > 0)
		if (*status == STATUS_OK && !text_write(text, block, (size_t)n))
			*status = fault_set(&r->fault, STATUS_NO_MEMORY, 0, NULL);
	return passage_drain(&passage);
}

/* Sends the state of all records before the slice and of the slice's. */
static enum status send_state(struct rank *r, const struct text_buffer *before, const struct text_buffer *mine)
{
	struct merge *m = &r->run->merge;
	struct text_reading readings[2] = {{before, 0}, {mine, 0}};
	enum status status;

	if (before->nbytes == 0 || mine->nbytes == 0) {
		passage_write(&passage, mine->nbytes ? mine->data : before->data, mine->nbytes + before->nbytes);
		return STATUS_OK;
	}
	status = begin_total(r);
	if (status == STATUS_OK)
		status = begin_merge(r, false);
	for (int i = 0; i < 2 && status == STATUS_OK; i++)
		status = merge_next(m, &(struct part_source){.read = text_read, .context = &readings[i]});
	if (status == STATUS_OK)
		status = merge_end(m);
	if (status == STATUS_OK)
		status = write_merged(r, 0, (struct part_sink){passage_write, &passage, true});
	forget_merged(r, status);
	return status;
}

bool rank_pass_states(struct rank *r, struct text_buffer *before)
{
	const struct world *w = r->world;
	bool is_last = w->rank == w->nranks - 1, is_whole = true;
	struct text_buffer mine = {.nbytes = 0};
	enum status status = is_last || !r->has_slice ? STATUS_OK : write_state(r, &mine);

	if (w->rank > 0)
		is_whole = receive_text(r, w->rank - 1, before, &status);
	if (!is_last) {
		passage_send(&passage, w->rank + 1, r->options->chunk_nbytes);
		if (status == STATUS_OK && is_whole)
			status = send_state(r, before, &mine);
		passage_end(&passage, status == STATUS_OK && is_whole);
	}
	text_free(&mine);
	return end_merge(r, status);
}

/* ---- the end ---- */

bool rank_find_padded(struct rank *r)
{
	int nfiles = r->options->npaths;

	r->padded = calloc((size_t)nfiles, sizeof *r->padded);
	if (!rank_agree(r, r->padded ? STATUS_OK : fault_set(&r->fault, STATUS_NO_MEMORY, 0, NULL)))
		return false;
	for (int i = 0; i < nfiles; i++)
		r->padded[i] = input_is_padded(r->run->input, i);
	MPI_Allreduce(MPI_IN_PLACE, r->padded, nfiles, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD);
	return true;
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

void rank_place_fault(struct rank *r)
{
	uint64_t mine = count_own_lines(r), *nlines = calloc((size_t)r->world->nranks, sizeof *nlines);

	if (world_any(!r->cut.at || !nlines)) { /* nothing has been read yet, or there is no memory to count */
		free(nlines);
		return;
	}
	MPI_Allgather(&mine, 1, MPI_UINT64_T, nlines, 1, MPI_UINT64_T, MPI_COMM_WORLD);
	if (r->world->rank == r->first && r->has_slice && !r->run->slice_state && r->fault.line > 0 &&
	    r->fault.file == input_name(r->run->input, r->slice.first))
		r->fault.line += count_lines_before(r, r->first, nlines);
	free(nlines);
}
