/* SPDX-License-Identifier: MIT
 *
 * main.c - gpustat-mpi: gpustat on all ranks of an MPI job.
 *
 * Each rank opens the input and makes the same plan, then folds its slice of the input (rank.h), which makes a part
 * (cluster/part.h). Parts are merged in the order of ranks by a tree, and rank 0 prints what gpustat
 * would print. Where a rank fails, all learn it, the first one in the input's order speaks, and all end.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "engine/engine.h"
#include "fold/key.h"
#include "io/message.h"
#include "io/output.h"
#include "mpi/rank.h"
#include "mpi/records.h"
#include "mpi/world.h"
#include "run/run.h"

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
			   : o->from_state ? "from-state" : NULL;

	if (name)
		return option_fault(fault, "--%s: the ranks make and merge their parts: use gpustat", name);
	if (c->folder && !o->emits)
		return option_fault(fault, "--output-dir is for records: a result goes to standard output");
	if (c->folder && !records_can_be_shared(o, NULL))
		return option_fault(fault, "--output-dir: one rank prints this (--ewma, --head, --lead, --plot, --rank, --sample, "
				    "--svg, --tail), to standard output");
	if (o->emits)
		return STATUS_OK;
	part.partial = true;
	part.format = FORMAT_AUTO;
	part.sort = NULL;
	part.top = 0;
	part.picture = (struct picture){.plots = false};
	return options_check(&part, fault);
}

/* ---- runs on rank 0 alone ---- */

/* Does what gpustat would do. Returns the exit status. */
static int run_alone(const struct command *c)
{
	static struct run runs[] = {{.all_ended = true, .stdin_offset = -1}, {.all_ended = true}, {.all_ended = true}};
	struct run *r = &runs[0];
	struct fault fault = {.status = STATUS_OK};
	enum status status = parse(c, &r->options, &fault);

	if (status == STATUS_OK)
		status = fault_complete(&fault, run_process(r, &fault));
	while ((status == STATUS_MISGUESSED || status == STATUS_GPU_LOST) && r < &runs[2]) { /* as in src/run/main.c */
		r++;
		status = fault_complete(&fault, run_again(r, r - 1, &fault));
	}
	if (status == STATUS_OK)
		return 0;
	run_explain_fault(r, &fault);
	return run_message_fault(r, &fault);
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
	if (status == STATUS_OK)
		status = fault_complete(&fault, run_finish(run, &fault));
	if (status == STATUS_OK)
		return 0;
	run_explain_fault(run, &fault);
	return run_message_fault(run, &fault);
}

static int print_result(struct rank *r, const struct command *c)
{
	if (!rank_fold(r) || !rank_find_padded(r) || !rank_merge(r))
		return fail(r, c);
	return share(r->world->rank == 0 ? print_merged(r) : 0, 0);
}

/* ---- records ---- */

/* Has rank 0 print what cannot be shared. */
static int print_records_alone(const struct world *w, const struct command *c)
{
	struct fault fault = {.status = STATUS_OK};
	enum status status = w->rank == 0 ? records_hold(w, &fault) : STATUS_OK;
	int exit_status = 0;

	if (w->rank == 0 && status == STATUS_OK) {
		exit_status = run_alone(c);
		status = records_release(exit_status, &fault);
	}
	if (status != STATUS_OK)
		exit_status = message_fault(&fault);
	return share(exit_status, 0);
}

static int print_records(struct rank *r, const struct command *c)
{
	bool is_printed = (!c->folder || records_make_folder(r, c->folder)) && records_print(r, c->folder);

	return is_printed ? 0 : fail(r, c);
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

static int run_ranks(const struct world *w, struct command *c)
{
	struct rank rank = {.world = w, .options = &c->options, .prints_records = c->options.emits};

	if (!rank_agree(&rank, check(c, &rank.fault)))
		return fail(&rank, c);
	world_share_host(w, &c->options);
	share_seed(w);
	if (!rank_open(&rank))
		return fail(&rank, c);
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
	if (status == STATUS_OK)
		status = parse(c, &c->options, &rank.fault);
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
