/* SPDX-License-Identifier: MIT
 *
 * records.c - see records.h.
 */
#include "mpi/records.h"

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
#include "fold/groups.h"
#include "fold/result.h"
#include "io/output.h"
#include "query/option_table.h"

#define NAME_NBYTES 4096

bool records_can_be_shared(const struct options *o, const struct query *q)
{
	for (size_t i = 0; i < o->nuses; i++)
		if (o->uses[i].operation == OPERATION_EWMA || operation_looks_ahead(o->uses[i].operation))
			return false; /* a slice shows neither the mean of all records before nor what comes after */
	return !options_choice_name(o) && !picture_is_asked(&o->picture) && !(q && q->star);
}

/* ---- the folder ---- */

static bool is_empty(DIR *folder)
{
	const struct dirent *entry;

	while ((entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
			return false;
	return true;
}

static enum status make_folder(const char *folder, struct fault *fault)
{
	enum status status = STATUS_OK;
	DIR *there;

	if (mkdir(folder, 0777) == 0)
		return STATUS_OK;
	there = errno == EEXIST ? opendir(folder) : NULL;
	if (!there) {
		fault_set(fault, STATUS_OPEN, errno, NULL);
		fault->file = folder;
		return fault->status;
	}
	if (!is_empty(there))
		status = option_fault(fault, "--output-dir: %.100s is there and not empty: name another", folder);
	closedir(there);
	return status;
}

bool records_make_folder(struct rank *r, const char *folder)
{
	return rank_agree(r, r->world->rank == 0 ? make_folder(folder, &r->fault) : STATUS_OK);
}

/* ---- where a rank's records go ---- */

/* file: in the folder, which is empty in its name for a temporary file. */
struct sink {
	const char *folder; /* NULL: standard output */
	char name[NAME_NBYTES];
	int to, stdout_copy;
};

static enum status sink_fail(const struct sink *s, enum status status, struct fault *fault)
{
	fault_set(fault, status, errno, NULL);
	fault->file = s->name;
	return status;
}

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
		return sink_fail(s, STATUS_OPEN, fault);
	s->stdout_copy = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	return dup2(s->to, STDOUT_FILENO) < 0 ? sink_fail(s, STATUS_OPEN, fault) : STATUS_OK;
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
	static struct text_reading reading;
	static const struct part_source state = {.read = text_read, .context = &reading};
	enum status status = rank_open_pass(r, PASS_PRINT);
	struct run *run = r->run;

	*owes_newline = false;
	if (status != STATUS_OK)
		return status;
	run->lacks_heading = r->world->rank > 0;
	run->query.plan.inside_line &= !run->lacks_heading;
	*owes_newline = run->query.plan.inside_line;
	if (!r->has_slice)
		return run->lacks_heading ? STATUS_OK : result_heading(&run->query, &r->fault);
	if (before->nbytes) {
		reading = (struct text_reading){before, 0};
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
		return sink_fail(s, STATUS_WRITE, fault);
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
static struct passage passage;

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
	return n < 0 ? sink_fail(s, STATUS_READ, fault) : STATUS_OK;
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

static struct sink held;

enum status records_hold(const struct world *w, struct fault *fault)
{
	held = (struct sink){.to = -1, .stdout_copy = -1};
	return sink_open(&held, w, fault);
}

enum status records_release(int exit_status, struct fault *fault)
{
	sink_restore(&held);
	TRY(exit_status == 0 ? copy_own(&held, (struct part_sink){.write = write_out}, fault) : STATUS_OK);
	if (close(STDOUT_FILENO) != 0)
		TRY(fault_set(fault, STATUS_WRITE, errno, NULL));
	return STATUS_OK;
}

/* ---- to a folder ---- */

static enum status write_success(const struct sink *s, struct fault *fault)
{
	static struct sink success;
	int fd;

	snprintf(success.name, sizeof success.name, "%s/_SUCCESS", s->folder);
	fd = open(success.name, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd < 0 || close(fd) != 0)
		return sink_fail(&success, STATUS_OPEN, fault);
	return STATUS_OK;
}

/* Closes the rank's file: some file systems report a full disk only then. */
static enum status close_file(struct sink *s, struct fault *fault)
{
	int to = s->to;

	s->to = -1;
	return close(to) != 0 ? sink_fail(s, STATUS_WRITE, fault) : STATUS_OK;
}

/* ---- all of it ---- */

/* After the second pass: ends the output, unless too much was left out. */
static bool finish(struct rank *r, struct sink *s)
{
	const struct world *w = r->world;
	struct fault *fault = &r->fault;
	bool reports = w->rank == last_rank(r) && r->has_slice;

	if (!rank_find_padded(r))
		return false;
	r->run->padded = r->padded;
	r->run->npadded = (size_t)r->options->npaths;
	if (!rank_agree(r, reports ? left_out_check(r->run, fault) : STATUS_OK))
		return false;
	sink_restore(s);
	if (!rank_agree(r, s->folder ? close_file(s, fault) : w->rank == 0 ? copy_all(w, s, fault) : send_records(s, fault)))
		return false;
	if (s->folder && !rank_agree(r, w->rank == 0 ? write_success(s, fault) : STATUS_OK))
		return false;
	if (reports)
		left_out_report(r->run);
	if (w->rank == 0)
		run_report_guesses(r->run);
	return true;
}

bool records_print(struct rank *r, const char *folder)
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
