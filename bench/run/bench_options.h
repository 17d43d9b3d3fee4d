/* SPDX-License-Identifier: MIT
 *
 * bench_options.h - the command line of gpustat-bench.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "query/options.h"
#include "base/status.h"

enum bench_command {
#define COMMAND(id, ...) COMMAND_##id,
#include "bench/run/bench_options.def"
	NCOMMANDS
};

struct bench_options {
	enum bench_command command; /* NCOMMANDS: none, with `about` */
	unsigned given;             /* bit i: row i of the table */
	uint64_t n;                 /* 0: 2 GiB of values; never 0 for COMMAND_MODEL */
	uint64_t block_nbytes, ngroups; /* 0: the command's default */
	unsigned types;             /* bit BENCH_x: that type */
	size_t nrungs;
	const char **rungs; /* none: every rung */
	int repeat;         /* 0: the command's default */
	enum format format; /* FORMAT_TABLE, FORMAT_CSV or FORMAT_JSON */
	const char *trace;  /* a path, or NULL */
	const char *output; /* a path */
	int nwords;         /* of COMMAND_PIPELINE: */
	char **words;       /* the command, then gpustat's own command line; within argv */
	enum option_about about;
};

/* Reads the command line into o, and reorders argv as option_parse does. Errors: STATUS_USAGE with
 * the whole sentence in fault's detail, STATUS_NO_MEMORY. o keeps pointers into argv. Free with
 * bench_options_free, after an error too. */
enum status bench_options_parse(struct bench_options *o, int argc, char **argv,
				struct fault *fault);
void bench_options_free(struct bench_options *o);

extern const struct option_table bench_options_table;
