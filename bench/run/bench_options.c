/* SPDX-License-Identifier: MIT
 *
 * bench_options.c - see bench_options.h; the table is bench_options.def.
 */
#include "bench/run/bench_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/ladder/bench.h"
#include "bench/ladder/group_bench.h"
#include "bench/ladder/inflate_bench.h"
#include "bench/ladder/model.h"

#define N_LIMIT (1ull << 40)
#define REPEAT_LIMIT 100000

#define ON(id) (1u << COMMAND_##id)
#define LADDERS (ON(REDUCE) | ON(SCAN))
#define WORKS (ON(INFLATE) | ON(GROUP))
#define EVERY_COMMAND ~0u

enum option_id {
#define OPTION(id, ...) OPTION_##id,
#include "bench/run/bench_options.def"
};

/* group: the set of commands. */
static const struct option_row rows[] = {
#define OPTION(id, letter, name, argument, words, commands, help) \
	{letter, name, argument, words, commands, help},
#include "bench/run/bench_options.def"
	OPTION_ABOUT_ROWS("print this and exit"),
};
#define NROWS (sizeof rows / sizeof *rows)

static const struct {
	const char *name, *help;
} commands[] = {
#define COMMAND(id, name, help) {name, help},
#include "bench/run/bench_options.def"
};

/* ", reduce, scan ..." */
static const char command_list[] =
#define COMMAND(id, name, help) ", " name
#include "bench/run/bench_options.def"
	;

/* ---- help ---- */

static void print_option(const struct option_row *row)
{
	const char *before = " [";

	option_print_row(row, 10);
	for (int c = 0; c < NCOMMANDS && row->group != EVERY_COMMAND; c++) {
		if (!(row->group >> c & 1))
			continue;
		printf("%s%s", before, commands[c].name);
		before = ", ";
	}
	puts(row->group != EVERY_COMMAND ? "]" : "");
}

static void print_help(void)
{
	printf("Usage: gpustat-bench COMMAND [OPTION]...\n"
	       "       gpustat-bench pipeline [OPTION]... [-- GPUSTAT-OPTION...] FILE...\n"
	       "Show what each optimisation of a reduction and of a scan is worth on this GPU, from\n"
	       "the naive kernel to the one that gpustat runs, beside NVIDIA's CUB; and where the\n"
	       "time of a run of gpustat goes.\n"
	       "\nCommands:\n");
	for (int c = 0; c < NCOMMANDS; c++)
		printf("  %-10s %s\n", commands[c].name, commands[c].help);
	printf("\nOptions, and the commands that take them where not all do:\n");
	for (size_t i = 0; i < NROWS; i++)
		print_option(&rows[i]);
	printf("\nN may end in K, M or G (or Ki, Mi, Gi), for powers of 1024. T and A,B are\n"
	       "comma-separated lists. For pipeline, what follows -- is gpustat's command line:\n"
	       "  gpustat-bench pipeline --trace t.csv -- --device gpu --sum bytes logs.csv\n"
	       "\nExit status: 0 done, 1 a rung was wrong, or measuring or writing failed, 2 wrong\n"
	       "usage. Full manual: man gpustat-bench\n");
}

/* ---- arguments ---- */

/* Returns the power of 2 that "K", "Mi" ... stands for, 0 for "", or -1. */
static int suffix_power(const char *suffix)
{
	static const char letters[] = " KMG";
	const char *at = strchr(letters + 1, *suffix);

	if (!*suffix || !at || (suffix[1] && strcmp(suffix + 1, "i")))
		return *suffix ? -1 : 0;
	return 10 * (int)(at - letters);
}

/* Reads a number from 1 to N_LIMIT, perhaps with a suffix. */
static bool read_n(const char *argument, uint64_t *n)
{
	const char *end = option_digits(argument, N_LIMIT, n);
	int power = end && *n > 0 ? suffix_power(end) : -1;

	if (power < 0 || *n > N_LIMIT >> power)
		return false;
	*n <<= power;
	return true;
}

static enum status set_n(struct bench_options *o, const char *argument, struct fault *fault)
{
	if (!read_n(argument, &o->n))
		return option_fault(fault, "--n: '%.64s' is not a number from 1 to 2^40, as 1000000 or 32M",
				    argument);
	return STATUS_OK;
}

static enum status set_block(struct bench_options *o, const char *argument, struct fault *fault)
{
	if (!read_n(argument, &o->block_nbytes) || o->block_nbytes < INFLATE_BLOCK_NBYTES_MIN ||
	    o->block_nbytes > INFLATE_BLOCK_NBYTES_MAX)
		return option_fault(fault, "--block: '%.64s' is not a number from 1K to 16M, as 64K", argument);
	return STATUS_OK;
}

static enum status set_groups(struct bench_options *o, const char *argument, struct fault *fault)
{
	if (!read_n(argument, &o->ngroups) || o->ngroups > GROUP_NGROUPS_MAX)
		return option_fault(fault, "--groups: '%.64s' is not a number from 1 to 16M, as 1000 or 4M", argument);
	return STATUS_OK;
}

static enum status set_types(struct bench_options *o, const char *argument, struct fault *fault)
{
	o->types = 0;
	for (;; argument++) {
		size_t nbytes = strcspn(argument, ",");
		int word = option_find_word(&rows[OPTION_TYPE], argument, nbytes, fault);
		if (word < 0)
			return STATUS_USAGE;
		o->types |= word == BENCH_NTYPES_TIMED ? (1u << word) - 1 : 1u << word;
		argument += nbytes;
		if (!*argument)
			return STATUS_OK;
	}
}

/* The ladder checks the names. */
static enum status set_rungs(struct bench_options *o, const char *argument, struct fault *fault)
{
	enum status status;

	bench_options_free(o);
	o->rungs = NULL;
	o->nrungs = 0;
	status = option_add_items(&rows[OPTION_RUNGS], argument, &o->rungs, &o->nrungs, fault);
	for (size_t i = 0; status == STATUS_OK && i < o->nrungs; i++)
		if (!*o->rungs[i])
			status = option_fault(fault, "--rungs: '%.64s' has an empty name", argument);
	return status;
}

static enum status set_option(void *options, size_t row, const char *typed, const char *argument,
			      struct fault *fault)
{
	static const enum format formats[] = {FORMAT_TABLE, FORMAT_CSV, FORMAT_JSON};
	struct bench_options *o = options;
	bool has_word = *rows[row].words && row != OPTION_TYPE;
	int word = has_word ? option_find_word(&rows[row], argument, strlen(argument), fault) : 0;

	(void)typed;
	if (word < 0)
		return STATUS_USAGE;
	o->given |= 1u << row;
	switch ((enum option_id)row) {
	case OPTION_N:
		return set_n(o, argument, fault);
	case OPTION_BLOCK:
		return set_block(o, argument, fault);
	case OPTION_GROUPS:
		return set_groups(o, argument, fault);
	case OPTION_TYPE:
		return set_types(o, argument, fault);
	case OPTION_RUNGS:
		return set_rungs(o, argument, fault);
	case OPTION_REPEAT:
		return option_number(&rows[row], argument, REPEAT_LIMIT, &o->repeat, fault);
	case OPTION_OUTPUT:
		o->output = argument;
		break;
	case OPTION_TRACE:
		o->trace = argument;
		break;
	case OPTION_FORMAT:
		o->format = formats[word];
		break;
	}
	return STATUS_OK;
}

/* ---- the whole ---- */

static enum status set_command(struct bench_options *o, int nwords, char **words,
			       struct fault *fault)
{
	if (nwords == 0)
		return option_fault(fault, "no command; there are %s", command_list + 2);
	for (int c = 0; c < NCOMMANDS; c++)
		if (!strcmp(words[0], commands[c].name))
			o->command = (enum bench_command)c;
	if (o->command == NCOMMANDS)
		return option_fault(fault, "unknown command '%.64s'; there are %s", words[0],
				    command_list + 2);
	o->nwords = nwords;
	o->words = words;
	if (nwords > 1 && o->command != COMMAND_PIPELINE)
		return option_fault(fault, "one command at a time, and '%.64s' is one too many", words[1]);
	return STATUS_OK;
}

/* Checks that the command accepts the options given. */
static enum status check(struct bench_options *o, struct fault *fault)
{
	for (size_t i = 0; i < NROWS; i++)
		if (o->given >> i & 1 && !(rows[i].group >> o->command & 1))
			return option_fault(fault, "%s takes no --%s", commands[o->command].name,
					    rows[i].name);
	if (o->command == COMMAND_REDUCE && o->types == 1u << BENCH_SEGMENTED)
		return option_fault(fault, "--type: there is no reduction of segmented; try scan");
	if (o->command != COMMAND_MODEL)
		return STATUS_OK;
	if (!(o->given >> OPTION_N & 1))
		o->n = MODEL_DEFAULT_N;
	if (!model_takes(o->n))
		return option_fault(fault, "--n: the model is of one block: a power of 2 from %d to %d",
				    MODEL_LEAST_N, MODEL_GREATEST_N);
	return STATUS_OK;
}

const struct option_table bench_options_table = {
	.program = "gpustat-bench",
	.operands = command_list + 2,
	.rows = rows,
	.nrows = NROWS,
	.handle = set_option,
	.print_help = print_help,
};

enum status bench_options_parse(struct bench_options *o, int argc, char **argv,
				struct fault *fault)
{
	int nwords;
	enum status status;

	memset(o, 0, sizeof *o);
	o->command = NCOMMANDS;
	o->types = 1u << BENCH_FLOAT32;
	o->format = FORMAT_TABLE;
	o->output = "/dev/null";
	status = option_parse(&bench_options_table, argc, argv, o, &o->about, &nwords, fault);
	if (status != STATUS_OK || o->about != ABOUT_NOTHING)
		return status;
	status = set_command(o, nwords, argv + 1, fault);
	return status == STATUS_OK ? check(o, fault) : status;
}

void bench_options_free(struct bench_options *o)
{
	option_free_items(o->rungs, o->nrungs);
}
