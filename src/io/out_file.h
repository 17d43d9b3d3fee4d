/* SPDX-License-Identifier: MIT
 *
 * out_file.h - the files that a run writes beside standard output: --svg and --save-state. Such a file is written
 * in full to another one in its folder, which is then renamed: at any moment, and after any end of the process, the
 * name leads to what was there before or to all of the new. Two runs that write the same file write one each, and
 * the later rename stays.
 */
#pragma once

#include <stdio.h>

#include "base/status.h"

/* What is written. Nothing is overwritten but an empty file and one of the same kind. */
struct out_file_kind {
	const char *begin;   /* the bytes with which each begins; up to 16 */
	enum status other;   /* the error of a file that begins with others */
	bool may_be_stream;  /* a pipe or a device is written to as it is; else it is an error */
};

struct out_file_request {
	const char *path; /* NULL: no file */
	const struct out_file_kind *kind;
};

/* Whether the files can be written, before the work: inputs and nfiles of them must be others, and so must standard
 * output. Errors name the path: STATUS_OPEN, STATUS_NOT_REGULAR, STATUS_IS_INPUT, STATUS_IS_OUTPUT, the kind's
 * other; STATUS_NO_MEMORY. */
enum status out_files_check(const struct out_file_request *files, size_t nfiles, const char *const *inputs,
			    int ninputs, struct fault *fault);

struct out_file {
	FILE *stream;      /* to write to */
	const char *path;  /* not owned */
	char *target;      /* the file to which symbolic links lead; NULL: a pipe or a device; owned */
	char *temporary;   /* the name of what is written; NULL before it has a name; owned */
};

/* Begins a file in place of the one at the path. A symbolic link stays, and the file that it leads to is replaced.
 * Mode bits stay and, where the process may set it, the owner. Errors: those of out_files_check. */
enum status out_file_begin(struct out_file *f, const char *path, const struct out_file_kind *kind,
			   struct fault *fault);

/* Ends what was written with a status, which is that of fault: if it is STATUS_OK, the file is brought to the disk
 * and takes its name, else it is dropped. Returns the status. Errors: STATUS_WRITE, STATUS_NO_MEMORY. */
enum status out_file_end(struct out_file *f, enum status status, struct fault *fault);
