/* SPDX-License-Identifier: MIT
 *
 * main.c - gpustat: the command line, a run (run.h), and the end of the process.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/machine.h"
#include "engine/engine.h"
#include "io/message.h"
#include "io/out_file.h"
#include "io/output.h"
#include "io/picture.h"
#include "run/run.h"

/* Returns whether there is nothing to do: no operation, no file, and a terminal as input. */
static bool is_idle(const struct options *o)
{
	return o->nuses == 0 && !o->where && !o->merge && o->npaths == 1 && !strcmp(o->paths[0], "-") &&
	       isatty(STDIN_FILENO);
}

/* Whether standard output gets anything: not if all there is goes into a picture's file. */
static bool writes_output(const struct options *o)
{
	const struct picture *p = &o->picture;

	return o->about != ABOUT_NOTHING || p->plots || !p->svg || !strcmp(p->svg, PICTURE_STDOUT) ||
	       o->style.format != FORMAT_AUTO;
}

/* Whether the files can be written that the run is to write. */
static enum status check_out_files(const struct options *o, struct fault *fault)
{
	bool has_svg = o->picture.svg && strcmp(o->picture.svg, PICTURE_STDOUT);
	const struct out_file_request files[] = {{has_svg ? o->picture.svg : NULL, &picture_svg_kind},
						 {o->save_state, &state_kind}};

	return out_files_check(files, sizeof files / sizeof *files, o->paths, o->npaths, fault);
}

/* has_output: standard output is open. */
static enum status run(struct run **passes, int argc, char **argv, bool has_output, struct fault *fault)
{
	struct run *r = *passes;
	enum status status = options_parse(&r->options, argc, argv, fault);

	TRY(status);
	if (!has_output && writes_output(&r->options))
		return fault_set(fault, STATUS_NO_OUTPUT, 0, NULL);
	r->options.style.to_terminal = isatty(STDOUT_FILENO);
	memory_limit_set(r->options.memory_nbytes);
	if (option_print_about(&options_table, r->options.about))
		return output_close(fault);
	if (is_idle(&r->options))
		return fault_set(fault, STATUS_USAGE, 0, "usage: gpustat [OPTION]... [FILE]...: "
							 "no operation, and nothing to read");
	if (r->options.is_default_input && r->options.taken.file && isatty(STDIN_FILENO))
		return options_fail_taken(&r->options, fault);
	TRY(check_out_files(&r->options, fault));
	progress_begin(&r->options);
	return run_whole(passes, fault);
}

/* Tests call it several times in a process (tests/fuzz/serve.c). */
int main(int argc, char **argv)
{
	static struct run first;
	static struct fault fault;
	struct run *r = &first;
	bool has_output = fd_open_standard();
	enum status status;

	first = (struct run){.all_ended = true};
	memset(&fault, 0, sizeof fault);
	if (argc > 0)
		message_program(argv[0]);
	message_progress(&engine_nbytes_begun, UINT64_MAX);
	status = fault_complete(&fault, run(&r, argc, argv, has_output, &fault));
	if (status != STATUS_OK) {
		output_trim();
		run_explain_fault(r, &fault);
		_exit(run_message_fault(r, &fault)); /* other threads may still be inside a library */
	}
	if (!run_has_ended(r))
		_exit(fflush(stdout) ? 1 : 0); /* a thread is still opening a GPU that is not needed */
	run_close(r);
#if defined __SANITIZE_ADDRESS__ || defined main /* which look for leaks, or go on: else the system takes all back at once */
	run_free(r);
#endif
	return 0;
}
