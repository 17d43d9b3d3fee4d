/* SPDX-License-Identifier: MIT
 *
 * main.c - gpustat-mpi: gpustat on all ranks of an MPI job.
 *
 * Each rank opens the input and makes the same plan, then folds its slice of the input, which makes a part
 * (cluster/part.h). Parts are merged in the order of ranks by a tree, and rank 0 prints what gpustat
 * would print. If a rank fails, all ranks are told; the first one in the input's order prints its message, and all end.
 *
 * Records are printed by the ranks, each those of its slice. A running column goes on from slice to slice, so there are two passes.
 * The first makes the state of each slice's records (cluster/part.h) and finds what is wrong with any. States are passed on
 * from rank to rank, each with those before it; a rank then begins with that and prints its records. They go to a file of each
 * rank's own in a folder, or to a temporary file, of which rank 0 copies all to standard output, once no rank has found a
 * fault.
 *
 * First what one rank does, then how records are printed, then the job.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/status.h"
#include "engine/engine.h"
#include "fold/groups.h"
#include "fold/key.h"
#include "fold/result.h"
#include "io/message.h"
#include "io/output.h"
#include "io/source.h"
#include "mpi/cut.h"
#include "mpi/world.h"
#include "query/option_table.h"
#include "run/run.h"

/* One rank's work. run is replaced where the slice is folded again, since threads of the first pass may still use
 * theirs. */
struct rank {
	const struct world *world;
	const struct options *options; /* the command line's, which is not changed; not owned */
	struct run *run;
	struct cut cut;
	struct input_slice slice;
	bool has_slice; /* else there is nothing for this rank to read */
	bool lost_device;    /* a GPU failed with groups that it kept: later passes are the CPUs' */
	bool *padded; /* owned; NULL: not asked yet */
	int first;          /* rank that has a fault, after a collective function; nranks: none has */
	struct fault fault; /* this rank's */
};

/* Collective: whether all ranks' statuses are STATUS_OK. */
static inline bool rank_agree(struct rank *r, enum status status)
{
	r->first = world_first_fault(r->world, fault_complete(&r->fault, status));
	return r->first == r->world->nranks;
}

/* The functions that return whether all went well in all ranks are collective. Else r->first is the first rank for which it
 * did not, and r->fault says why in that one. */

/* ---- opening ---- */

enum pass {
	PASS_PART,  /* makes a part, or the state of records that will be printed */
	PASS_AGAIN, /* the same, without guesses */
	PASS_PRINT, /* prints records */
};

/* Opens the input anew, for another pass over the slice. Not collective. Errors, in r->fault: those of run_open_input. */
static enum status rank_open_pass(struct rank *r, enum pass pass)
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
	if (!run->options.emits) {
		plan_as_part(&run->query.plan);
		query_seek_header(&run->query, true);
	} else if (pass != PASS_PRINT) {
		run->query.plan.emits = false;
		run->query.plan.counts_records = true;
		run->query.plan.guesses_texts = false;
	}
	return STATUS_OK;
}

/* Opens the input, makes the query, and cuts the input: rank 0 first, so that only it speaks of what is wrong for all.
 * Errors: those of run_open_input and cut_make. */
static bool rank_open(struct rank *r)
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
	for (int npasses = 1; run_is_repeated(status, npasses); npasses++) {
		r->lost_device = r->lost_device || status == STATUS_GPU_LOST;
		r->fault = (struct fault){.status = STATUS_OK};
		TRY(rank_open_pass(r, PASS_AGAIN));
		input_use_slice(r->run->input, &r->slice);
		status = run_fold_input(r->run, &r->fault);
	}
	return status;
}

/* Folds the slice, which has changed. */
static enum status fold_again(struct rank *r)
{
	r->fault = (struct fault){.status = STATUS_OK};
	TRY(rank_open_pass(r, PASS_PART));
	return fold_slice(r);
}

/* Folds the slices, each as if its first record began there, finds those for which that is wrong, and folds them again.
 * Errors: those of run_fold_input. */
static bool rank_fold(struct rank *r)
{
	enum status status = fold_slice(r);
	/* What was folded may have begun within a record, here or in the next rank: the slice ends within one, or there is a fault,
	 * which may not be one. */
	bool is_doubtful = r->has_slice && (status != STATUS_OK || (r->slice.end != UINT64_MAX && r->run->total.seam.nbytes > 0));
	bool moved;

	if (world_any(is_doubtful)) {
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

/* Merges what all ranks have folded, in their order, by a binomial tree: each rank adds what the ranks next to it have behind
 * what it has itself, and sends all of it on as a part. Then rank 0's run is one of all records.
 * Errors: those of merge_behind and part_write. */
static bool rank_merge(struct rank *r)
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

	THEN(status, merge_end(&r->run->merge));
	THEN(status, write_merged(r, r->slice.first, (struct part_sink){text_write, to, true}));
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
	const struct text_buffer *const texts[2] = {before, mine};
	enum status status;

	if (before->nbytes == 0 || mine->nbytes == 0) {
		passage_write(&passage, mine->nbytes ? mine->data : before->data, mine->nbytes + before->nbytes);
		return STATUS_OK;
	}
	status = begin_total(r);
	THEN(status, begin_merge(r, false));
	for (int i = 0; i < 2 && status == STATUS_OK; i++)
		status = merge_next(m, &(struct part_source){.text = texts[i]});
	THEN(status, merge_end(m));
	THEN(status, write_merged(r, 0, (struct part_sink){passage_write, &passage, true}));
	forget_merged(r, status);
	return status;
}

/* Passes states on in the order of ranks. What was folded is the state of the slice's own records, and is forgotten. *before:
 * that of all ranks before, a part's text; empty: they have no records. It is the caller's. Errors: as above. */
static bool rank_pass_states(struct rank *r, struct text_buffer *before)
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

/* ---- what is told at the end ---- */

/* Finds out which files have zero bytes behind their compressed data: r->padded, one for each file. Errors: STATUS_NO_MEMORY. */
static bool rank_find_padded(struct rank *r)
{
	int nfiles = r->options->npaths;

	r->padded = calloc((size_t)nfiles, sizeof *r->padded);
	if (!rank_agree(r, r->padded ? STATUS_OK : fault_set(&r->fault, STATUS_NO_MEMORY, 0, NULL)))
		return false;
	for (int i = 0; i < nfiles; i++)
		r->padded[i] = input_source(r->run->input, i)->padded;
	MPI_Allreduce(MPI_IN_PLACE, r->padded, nfiles, MPI_C_BOOL, MPI_LOR, MPI_COMM_WORLD);
	return true;
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

/* Makes the line of the first rank's fault, where it is one in the slice, that of its file. Collective. */
static void rank_place_fault(struct rank *r)
{
	uint64_t mine = r->has_slice && r->run && r->run->total.line > 0 ? r->run->total.line - 1 : 0; /* of the last file */
	uint64_t *nlines = calloc((size_t)r->world->nranks, sizeof *nlines);

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

/* ---- records that the ranks print ---- */

#define NAME_NBYTES 4096

/* Whether ranks can print what is asked; else one process must: --head, a drawing, --ewma, and '*', of which only all
 * records before tell what is printed. q: NULL: not known yet. */
static bool records_can_be_shared(const struct options *o, const struct query *q)
{
	for (size_t i = 0; i < o->nuses; i++)
		if (o->uses[i].operation == OPERATION_EWMA || operation_looks_ahead(o->uses[i].operation))
			return false; /* a slice shows neither the mean of all records before nor what comes after */
	if (o->style.format == FORMAT_JSON || o->style.format == FORMAT_TABLE || o->style.format == FORMAT_MARKDOWN)
		return false; /* a list has one beginning, and a column one width */
	return !o->aggregates && !o->sorts && !o->unique && !options_choice_name(o) && !picture_is_asked(&o->picture) && !(q && q->star);
}

/* ---- the folder ---- */

/* Makes the folder, or finds that it is there and empty. Errors: STATUS_OPEN, STATUS_USAGE. */
static enum status make_folder(const char *folder, struct fault *fault)
{
	const struct dirent *entry;
	bool is_empty = true;
	DIR *there;

	if (mkdir(folder, 0777) == 0)
		return STATUS_OK;
	there = errno == EEXIST ? opendir(folder) : NULL;
	if (!there)
		return fault_set_file(fault, STATUS_OPEN, errno, folder);
	while ((entry = readdir(there)))
		is_empty &= !strcmp(entry->d_name, ".") || !strcmp(entry->d_name, "..");
	closedir(there);
	return is_empty ? STATUS_OK : option_fault(fault, "--output-dir: %.100s is there and not empty: name another", folder);
}

/* ---- where a rank's records go ---- */

/* file: in the folder, which is empty in its name for a temporary file. */
struct sink {
	const char *folder; /* NULL: standard output */
	char name[NAME_NBYTES];
	int to, stdout_copy;
};

/* Opens the file that the records go to, in place of standard output. */
static enum status sink_open(struct sink *s, const struct world *w, struct fault *fault)
{
	const char *temporary = getenv("TMPDIR");

	if (s->folder) {
		snprintf(s->name, sizeof s->name, "%s/part-%05d.csv", s->folder, w->rank);
		s->to = open(s->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	} else {
		snprintf(s->name, sizeof s->name, "%s/gpustat-XXXXXX", temporary && *temporary ? temporary : "/tmp");
		s->to = mkstemp(s->name);
		if (s->to >= 0)
			unlink(s->name);
	}
	if (s->to < 0)
		return fault_set_file(fault, STATUS_OPEN, errno, s->name);
	s->stdout_copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return dup2(s->to, STDOUT_FILENO) < 0 ? fault_set_file(fault, STATUS_OPEN, errno, s->name) : STATUS_OK;
}

/* Gives standard output back. */
static void sink_restore(struct sink *s)
{
	if (s->stdout_copy >= 0)
		dup2(s->stdout_copy, STDOUT_FILENO);
}

/* ---- the second pass ---- */

/* Prints the rank's records; the first rank prints the header. *owes_newline: what is printed ends inside a line. */
static enum status print_slice(struct rank *r, const struct text_buffer *before, bool *owes_newline)
{
	static struct part_source state;
	enum status status = rank_open_pass(r, PASS_PRINT);
	struct run *run = r->run;

	*owes_newline = false;
	TRY(status);
	run->lacks_heading = r->world->rank > 0;
	run->query.plan.inside_line &= !run->lacks_heading;
	*owes_newline = run->query.plan.inside_line;
	if (!r->has_slice)
		return run->lacks_heading ? STATUS_OK : result_heading(&run->query, &r->fault);
	if (before->nbytes) {
		state = (struct part_source){.text = before};
		run->slice_state = &state;
	}
	input_use_slice(run->input, &r->slice);
	status = run_fold_input(run, &r->fault);
	if (!r->fault.file) /* no message names a place in a text without a name */
		r->fault.line = 0;
	*owes_newline = run->total.owes_newline;
	return status;
}

/* Ends the line that the rank's last record lacks, if a later rank prints something. Collective. */
static enum status end_line(const struct world *w, const struct sink *s, bool owes_newline, struct fault *fault)
{
	struct stat st = {.st_size = 0};
	int prints = owes_newline || (fstat(s->to, &st) == 0 && st.st_size > 0);
	int mine = prints ? w->rank : 0, last;

	MPI_Allreduce(&mine, &last, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	if (owes_newline && last > w->rank && !fd_write(STDOUT_FILENO, "\n", 1))
		return fault_set_file(fault, STATUS_WRITE, errno, s->name);
	return STATUS_OK;
}

/* The last rank with a slice, which knows what all have left out. */
static int last_rank(const struct rank *r)
{
	struct input_slice ignored;
	int rank = r->world->nranks - 1;

	while (rank > 0 && !cut_slice(&r->cut, rank, &ignored))
		rank--;
	return rank;
}

/* ---- to standard output ---- */

static char block[PASSAGE_NBYTES];

static bool write_out(void *context, const char *text, size_t nbytes)
{
	(void)context;
	return fd_write(STDOUT_FILENO, text, nbytes);
}

/* Copies what the rank itself has printed. */
static enum status copy_own(const struct sink *s, struct part_sink to, struct fault *fault)
{
	ssize_t n;

	for (off_t at = 0; (n = pread(s->to, block, sizeof block, at)) > 0; at += n)
		if (!to.write(to.context, block, (size_t)n))
			return fault_set(fault, STATUS_WRITE, errno, NULL);
	return n < 0 ? fault_set_file(fault, STATUS_READ, errno, s->name) : STATUS_OK;
}

/* Sends what the rank has printed to rank 0. */
static enum status send_records(const struct sink *s, struct fault *fault)
{
	enum status status;

	passage_send(&passage, 0, 0);
	status = copy_own(s, (struct part_sink){.write = passage_write, .context = &passage}, fault);
	passage_end(&passage, status == STATUS_OK);
	return status;
}

/* On rank 0: copies what all have printed to standard output. */
static enum status copy_all(const struct world *w, const struct sink *s, struct fault *fault)
{
	enum status status = copy_own(s, (struct part_sink){.write = write_out}, fault);
	ssize_t n;

	for (int rank = 1; rank < w->nranks; rank++) {
		passage_receive(&passage, rank);
		while (status == STATUS_OK && (n = passage_read(&passage, block, sizeof block)) > 0)
			if (!fd_write(STDOUT_FILENO, block, (size_t)n))
				status = fault_set(fault, STATUS_WRITE, errno, NULL);
		passage_drain(&passage);
	}
	return status == STATUS_OK ? output_close(fault) : status;
}

/* ---- to a folder ---- */

static enum status write_success(const struct sink *s, struct fault *fault)
{
	static struct sink success;
	int fd;

	snprintf(success.name, sizeof success.name, "%s/_SUCCESS", s->folder);
	fd = open(success.name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || close(fd) != 0)
		return fault_set_file(fault, STATUS_OPEN, errno, success.name);
	return STATUS_OK;
}

/* ---- all of a rank's records ---- */

/* After the second pass: ends the output, unless too much was left out. */
static bool finish(struct rank *r, struct sink *s)
{
	const struct world *w = r->world;
	struct fault *fault = &r->fault;
	bool reports = w->rank == last_rank(r) && r->has_slice;
	enum status status;

	if (!rank_find_padded(r))
		return false;
	r->run->padded = r->padded;
	r->run->npadded = (size_t)r->options->npaths;
	if (!rank_agree(r, reports ? left_out_check(r->run, fault) : STATUS_OK))
		return false;
	sink_restore(s);
	if (s->folder) /* some file systems report a full disk only when the file is closed */
		status = close(s->to) != 0 ? fault_set_file(fault, STATUS_WRITE, errno, s->name) : STATUS_OK;
	else
		status = w->rank == 0 ? copy_all(w, s, fault) : send_records(s, fault);
	if (!rank_agree(r, status))
		return false;
	if (s->folder && !rank_agree(r, w->rank == 0 ? write_success(s, fault) : STATUS_OK))
		return false;
	if (reports)
		left_out_report(r->run);
	if (w->rank == 0)
		run_report_guesses(r->run);
	return true;
}

/* Prints the records, to part-00000.csv, part-00001.csv ... and last _SUCCESS in the folder, or, NULL, to standard
 * output. The rank has been opened. Collective. Errors: those of rank_fold, state_read, part_write, left_out_check;
 * STATUS_OPEN, STATUS_WRITE. */
static bool records_print(struct rank *r, const char *folder)
{
	static struct sink sink;
	static struct text_buffer before; /* the state of all records before the slice */
	bool owes_newline, is_printed;

	if (!rank_fold(r) || !rank_pass_states(r, &before))
		return false;
	sink = (struct sink){.folder = folder, .to = -1, .stdout_copy = -1};
	is_printed = rank_agree(r, sink_open(&sink, r->world, &r->fault)) &&
		     rank_agree(r, print_slice(r, &before, &owes_newline)) &&
		     rank_agree(r, end_line(r->world, &sink, owes_newline, &r->fault)) && finish(r, &sink);
	if (!is_printed && folder && *sink.name)
		unlink(sink.name); /* half an answer is none */
	return is_printed;
}

/* The command line, which is parsed anew for each run: a run owns its options. */
struct command {
	int argc;
	char **argv;
	struct options options;
	const char *folder; /* of --output-dir; NULL: it is not given */
};

/* ---- the command line ---- */

/* Parses it into o. The arguments keep their order. */
static enum status parse(const struct command *c, struct options *o, struct fault *fault)
{
	char **argv = calloc((size_t)c->argc + 1, sizeof *argv);

	if (!argv)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	memcpy(argv, c->argv, (size_t)c->argc * sizeof *argv);
	memset(o, 0, sizeof *o);
	return fault_complete(fault, options_parse(o, c->argc, argv, fault)); /* which keeps argv */
}

/* Refuses what has no meaning for ranks, and what a part cannot hold. */
static enum status check(const struct command *c, struct fault *fault)
{
	const struct options *o = &c->options;
	struct options part = *o;
	const char *name = o->merge ? "merge" : o->part.of ? "part" : o->save_state ? "save-state"
			   : o->from_state ? "from-state" : o->runs ? "runs" : NULL;

	if (name)
		return option_fault(fault, "--%s: the ranks make and merge their parts: use gpustat", name);
	if (o->is_open) /* until the input's names are known */
		return STATUS_OK;
	if (c->folder && !o->emits)
		return option_fault(fault, "--output-dir is for records: a result goes to standard output");
	if (c->folder && !records_can_be_shared(o, NULL))
		return option_fault(fault, "--output-dir: one rank prints this (aggregates, --ewma, --format json, --head, --lead, --ntile, --percent-rank, --plot, --rank, --rank-dense, --sample, "
				    "--sort, --svg, --tail, --unique), to standard output");
	if (o->emits || o->aggregates)
		return STATUS_OK;
	part.partial = true;
	part.style = (struct style){.format = FORMAT_AUTO};
	part.sort = NULL;
	part.top = 0;
	part.picture = (struct picture){.plots = false};
	return options_check(&part, fault);
}

/* ---- runs on rank 0 alone ---- */

/* Says what is wrong, if something is. Returns the exit status. */
static int end_run(struct run *r, enum status status, struct fault *fault)
{
	if (status == STATUS_OK)
		return 0;
	run_explain_fault(r, fault);
	return run_message_fault(r, fault);
}

/* Does what gpustat would do. Returns the exit status. */
static int run_alone(const struct command *c)
{
	static struct run first = {.all_ended = true}, *r = &first;
	struct fault fault = {.status = STATUS_OK};
	enum status status = parse(c, &r->options, &fault);

	THEN(status, run_whole(&r, &fault));
	return end_run(r, status, &fault);
}

/* Gives a rank's exit status to all. */
static int share(int exit_status, int from)
{
	world_share(&exit_status, sizeof exit_status, from);
	return exit_status;
}

/* Has rank 0 do so, while the others wait. */
static int run_on_first(const struct world *w, const struct command *c)
{
	return share(w->rank == 0 ? run_alone(c) : 0, 0);
}

/* Rank 0 prints what --help and the like ask for: gpustat's options, and the one beside them. */
static int print_about(const struct world *w, enum option_about about)
{
	struct fault fault = {.status = STATUS_OK};
	int exit_status = 0;

	if (w->rank == 0 && (about == ABOUT_HELP || about == ABOUT_BRIEF_HELP))
		fputs("Usage: mpirun -n N gpustat-mpi [--output-dir DIR] [OPTION]... FILE...\n"
		      "Print what gpustat prints, with N ranks that share the files. Records go to\n"
		      "standard output, or each rank's to a file of its own:\n\n"
		      "      --output-dir DIR       DIR/part-00000.csv ..., and DIR/_SUCCESS last\n\n"
		      "The other options are those of gpustat.\n\n", stdout);
	if (w->rank == 0) {
		option_print_about(&options_table, about);
		exit_status = output_close(&fault) == STATUS_OK ? 0 : message_fault(&fault);
	}
	return share(exit_status, 0);
}

/* ---- faults ---- */

/* Has the first rank with a fault say it. Of columns that '*' names, only all records before it together show whether
 * one holds texts, which would be an earlier fault: rank 0 then runs up to there. */
static int fail(struct rank *r, const struct command *c)
{
	struct fault *fault = &r->fault;
	bool is_star = r->run && r->run->query.star && fault->status != STATUS_NO_MEMORY;
	int exit_status = 0, nowhere;

	rank_place_fault(r);
	world_share(&is_star, sizeof is_star, r->first);
	if (is_star) {
		if (r->world->rank == 0 && (nowhere = open("/dev/null", O_WRONLY)) >= 0)
			dup2(nowhere, STDOUT_FILENO);
		exit_status = run_on_first(r->world, c);
		if (exit_status != 0)
			return exit_status;
	}
	if (r->world->rank == r->first) {
		if (r->run)
			run_explain_fault(r->run, fault);
		exit_status = r->run ? run_message_fault(r->run, fault) : message_fault(fault);
	}
	return share(exit_status, r->first);
}

/* ---- results ---- */

/* On rank 0, whose run is one of all records: prints the result. Returns the exit status. */
static int print_merged(struct rank *r)
{
	struct run *run = r->run;
	struct fault fault = {.status = STATUS_OK};
	enum status status;

	plan_as_whole(&run->query.plan, run->options.invalid);
	run->padded = r->padded;
	run->npadded = (size_t)r->options->npaths;
	status = merge_check(&run->merge, &fault);
	THEN(status, fault_complete(&fault, run_finish(run, &fault)));
	return end_run(run, status, &fault);
}

static int print_result(struct rank *r, const struct command *c)
{
	if (!rank_fold(r) || !rank_find_padded(r) || !rank_merge(r))
		return fail(r, c);
	return share(r->world->rank == 0 ? print_merged(r) : 0, 0);
}

/* ---- records ---- */

/* Has rank 0 print what cannot be shared. Half an answer is held back here as well: in a temporary file, which is copied to standard
 * output unless there is a fault. */
static int print_records_alone(const struct world *w, const struct command *c)
{
	static struct sink held = {.to = -1, .stdout_copy = -1};
	struct fault fault = {.status = STATUS_OK};
	enum status status = w->rank == 0 ? sink_open(&held, w, &fault) : STATUS_OK;
	int exit_status = 0;

	if (w->rank == 0 && status == STATUS_OK) {
		exit_status = run_alone(c);
		sink_restore(&held);
		if (exit_status == 0)
			status = copy_own(&held, (struct part_sink){.write = write_out}, &fault);
		if (status == STATUS_OK && close(STDOUT_FILENO) != 0)
			status = fault_set(&fault, STATUS_WRITE, errno, NULL);
	}
	if (status != STATUS_OK)
		exit_status = message_fault(&fault);
	return share(exit_status, 0);
}

static int print_records(struct rank *r, const struct command *c)
{
	enum status status = c->folder && r->world->rank == 0 ? make_folder(c->folder, &r->fault) : STATUS_OK;

	return rank_agree(r, status) && records_print(r, c->folder) ? 0 : fail(r, c);
}

/* ---- the job ---- */

/* All ranks divide keys alike, so a part of one store comes to a part of another's (struct part_sink). */
static void share_seed(const struct world *w)
{
	struct key_seed seed = {{0, 0}};

	if (w->rank == 0)
		seed = key_seed_get();
	world_share(&seed, sizeof seed, 0);
	key_seed_set(seed);
}

/* Takes over what the names of the input have settled. */
static enum status settle(struct command *c, const struct run *run, struct fault *fault)
{
	c->options = run->options;
	return check(c, fault);
}

static int run_ranks(const struct world *w, struct command *c)
{
	const bool is_open = c->options.is_open;
	struct rank rank = {.world = w, .options = &c->options};

	if (!rank_agree(&rank, check(c, &rank.fault)))
		return fail(&rank, c);
	world_share_host(w, &c->options);
	share_seed(w);
	if (!rank_open(&rank))
		return fail(&rank, c);
	if (is_open && !rank_agree(&rank, settle(c, rank.run, &rank.fault)))
		return fail(&rank, c);
	if (!c->options.emits && c->options.aggregates)
		return run_on_first(w, c);
	if (!c->options.emits)
		return print_result(&rank, c);
	if (records_can_be_shared(&c->options, &rank.run->query))
		return print_records(&rank, c);
	if (!c->folder)
		return print_records_alone(w, c);
	option_fault(&rank.fault, "--output-dir: one rank prints '*' of running columns: name them");
	rank.first = 0;
	return fail(&rank, c);
}

/* Takes --output-dir out of the arguments, which are gpustat's otherwise. */
static enum status take_folder(struct command *c, struct fault *fault)
{
	static const char name[] = "--output-dir";
	size_t nbytes = strlen(name);
	int n = 1;

	for (int i = 1; i < c->argc; i++) {
		char *argument = c->argv[i];
		if (!strcmp(argument, "--"))
			break;
		if (strncmp(argument, name, nbytes) || (argument[nbytes] && argument[nbytes] != '='))
			continue;
		n = argument[nbytes] ? 1 : 2;
		c->folder = n == 1 ? argument + nbytes + 1 : c->argv[i + 1];
		if (!c->folder || !*c->folder)
			return option_fault(fault, "--output-dir: which folder?");
		memmove(&c->argv[i], &c->argv[i + n], (size_t)(c->argc - i - n + 1) * sizeof *c->argv);
		c->argc -= n;
		i--;
	}
	return STATUS_OK;
}

static int run_job(const struct world *w, struct command *c)
{
	const struct options *o = &c->options;
	struct rank rank = {.world = w};
	enum status status;

	world_check_version(w, &rank.first, &rank.fault);
	if (rank.first < w->nranks) /* nothing more is exchanged */
		return w->rank == rank.first ? message_fault(&rank.fault) : status_exit(STATUS_RANK_VERSION);
	status = take_folder(c, &rank.fault);
	THEN(status, parse(c, &c->options, &rank.fault));
	if (!rank_agree(&rank, status))
		return fail(&rank, c);
	if (o->about != ABOUT_NOTHING)
		return print_about(w, o->about);
	if (o->columns || o->explain || (w->nranks == 1 && !c->folder))
		return run_on_first(w, c);
	return run_ranks(w, c);
}

int main(int argc, char **argv)
{
	struct command command = {.argc = 0};
	struct world world;
	int exit_status;

	fd_open_standard();
	world_open(&world, &argc, &argv);
	if (argc > 0)
		message_program(argv[0]);
	command.argc = argc;
	command.argv = argv;
	exit_status = run_job(&world, &command);
	world_close();
	fflush(stdout);
	_exit(exit_status); /* a thread may still be opening a GPU that is not needed */
}
