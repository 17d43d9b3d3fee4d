/* SPDX-License-Identifier: MIT
 *
 * bench_options.c - see bench_options.h; the table is bench_options.def.
 */
#include "bench/run/bench_options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "query/argument.h"
#include "bench/ladder/bench.h"
#include "number/decimal.h"
#include "bench/ladder/model.h"

#define N_LIMIT (1ull << 40)
#define REPEAT_LIMIT 100000

enum option_id {
#define COMMAND(id, name, help)
#define OPTION(id, letter, name, argument, commands, help) OPTION_##id,
#include "bench/run/bench_options.def"
#undef COMMAND
#undef OPTION
	NOPTIONS
};

static const struct option long_options[] = {
#define COMMAND(id, name, help)
#define OPTION(id, letter, name, argument, commands, help)                       \
	{name, sizeof(argument) > 1 ? required_argument : no_argument, NULL,     \
	 ARGUMENT_FIRST_ID + OPTION_##id},
#include "bench/run/bench_options.def"
#undef COMMAND
#undef OPTION
	{NULL, 0, NULL, 0},
};

#define ON(id) (1u << COMMAND_##id)
#define LADDERS (ON(REDUCE) | ON(SCAN))
#define EVERY_COMMAND ((1u << NCOMMANDS) - 1)

static const struct row {
	char letter;
	const char *name, *argument;
	unsigned commands; /* those that take it */
	const char *help;
} rows[] = {
#define COMMAND(id, name, help)
#define OPTION(id, letter, name, argument, commands, help) \
	{letter, name, argument, commands, help},
#include "bench/run/bench_options.def"
#undef COMMAND
#undef OPTION
};

static const struct {
	const char *name, *help;
} commands[] = {
#define COMMAND(id, name, help) {name, help},
#define OPTION(id, letter, name, argument, commands, help)
#include "bench/run/bench_options.def"
#undef COMMAND
#undef OPTION
};

/* ", reduce, scan ..." */
static const char command_list[] = ""
#define COMMAND(id, name, help) ", " name
#define OPTION(id, letter, name, argument, commands, help)
#include "bench/run/bench_options.def"
#undef COMMAND
#undef OPTION
	;

/* ---- help ---- */

static void print_option(const struct row *row)
{
	const char *before = " [";
	char option[32];

	snprintf(option, sizeof option, "%s %s", row->name, row->argument);
	printf("  %c%c%c --%-10s %s", row->letter ? '-' : ' ', row->letter ? row->letter : ' ',
	       row->letter ? ',' : ' ', option, row->help);
	for (int c = 0; c < NCOMMANDS && row->commands != EVERY_COMMAND; c++) {
		if (!(row->commands >> c & 1))
			continue;
		printf("%s%s", before, commands[c].name);
		before = ", ";
	}
	puts(row->commands != EVERY_COMMAND ? "]" : "");
}

void bench_options_print_help(void)
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
	for (int i = 0; i < NOPTIONS; i++)
		print_option(&rows[i]);
	printf("\nN may end in K, M or G (or Ki, Mi, Gi), for powers of 1024. T and A,B are\n"
	       "comma-separated lists. For pipeline, what follows -- is gpustat's command line:\n"
	       "  gpustat-bench pipeline --trace t.csv -- --device gpu --sum bytes logs.csv\n"
	       "\nExit status: 0 done, 1 a rung was wrong, or measuring or writing failed, 2 wrong\n"
	       "usage. Full manual: man gpustat-bench\n");
}

void bench_options_print_version(void)
{
	printf("gpustat-bench %s\n", PACKAGE_VERSION);
#ifdef HAVE_CUDA
	printf("CUDA %s, built for %s\n", CUDA_VERSION_TEXT, CUDA_ARCH_TEXT);
#else
	printf("CUDA not built in\n");
#endif
	printf("License: MIT\n");
}

/* ---- arguments ---- */

/* A whole number up to limit at the start of text; *end is what follows it. */
static bool parse_number(const char *text, uint64_t limit, uint64_t *out, char **end)
{
	if (!decimal_is_digit(*text))
		return false;
	errno = 0;
	*out = strtoull(text, end, 10);
	return !errno && *out <= limit;
}

/* "32M": the power of 2 that the ending stands for, or -1. */
static int suffix_power(const char *ending)
{
	static const char letters[] = "KMG";
	const char *at;

	if (!*ending)
		return 0;
	at = strchr(letters, ending[0]);
	if (!at || (strcmp(ending + 1, "") && strcmp(ending + 1, "i")))
		return -1;
	return 10 * (int)(at - letters + 1);
}

static enum status set_n(struct bench_options *o, const char *argument, struct fault *fault)
{
	char *end;
	int power = -1;

	if (parse_number(argument, N_LIMIT, &o->n, &end) && o->n > 0)
		power = suffix_power(end);
	if (power < 0 || o->n > N_LIMIT >> power)
		return argument_usage(fault, "--n: '%.64s' is not a number from 1 to 2^40, as 1000000 or 32M",
			     argument);
	o->n <<= power;
	return STATUS_OK;
}

static enum status set_repeat(struct bench_options *o, const char *argument, struct fault *fault)
{
	uint64_t number;
	char *end;

	if (!parse_number(argument, REPEAT_LIMIT, &number, &end) || number == 0 || *end)
		return argument_usage(fault, "--repeat: '%.64s' is not a number from 1 to %d", argument,
			     REPEAT_LIMIT);
	o->repeat = (unsigned)number;
	return STATUS_OK;
}

/* The bit of one type, every bit for "all", 0 for an unknown name. */
static unsigned types_called(const char *name, size_t nbytes)
{
	if (nbytes == strlen("all") && !strncmp(name, "all", nbytes))
		return (1u << BENCH_NTYPES_TIMED) - 1;
	for (int type = 0; type < BENCH_NTYPES_TIMED; type++) {
		const char *known = bench_type_name((enum bench_type)type);
		if (nbytes == strlen(known) && !strncmp(name, known, nbytes))
			return 1u << type;
	}
	return 0;
}

static enum status unknown_type(const char *name, size_t nbytes, struct fault *fault)
{
	char list[FAULT_DETAIL_NBYTES / 2] = "";

	for (int type = 0; type < BENCH_NTYPES_TIMED; type++) {
		strcat(list, bench_type_name((enum bench_type)type));
		strcat(list, ", ");
	}
	return argument_usage(fault, "--type: '%.*s' is none of %sall",
			      nbytes < 64 ? (int)nbytes : 64, name, list);
}

static enum status set_types(struct bench_options *o, const char *argument, struct fault *fault)
{
	o->types = 0;
	for (;;) {
		size_t nbytes = strcspn(argument, ",");
		unsigned types = types_called(argument, nbytes);
		if (!types)
			return unknown_type(argument, nbytes, fault);
		o->types |= types;
		if (!argument[nbytes])
			return STATUS_OK;
		argument += nbytes + 1;
	}
}

/* Only cuts the list: which names there are is known to those who run them. */
static enum status set_rungs(struct bench_options *o, const char *argument, struct fault *fault)
{
	size_t room = 1;

	for (const char *c = argument; *c; c++)
		room += *c == ',';
	free(o->rungs_text);
	free(o->rungs);
	o->nrungs = 0;
	o->rungs_text = strdup(argument);
	o->rungs = calloc(room, sizeof *o->rungs);
	if (!o->rungs_text || !o->rungs)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	for (char *rest = o->rungs_text, *name; (name = strsep(&rest, ",")) != NULL;) {
		if (!*name)
			return argument_usage(fault, "--rungs: '%.64s' has an empty name", argument);
		o->rungs[o->nrungs++] = name;
	}
	return STATUS_OK;
}

static enum status set_format(struct bench_options *o, const char *argument, struct fault *fault)
{
	static const struct {
		const char *name;
		enum format format;
	} formats[] = {{"table", FORMAT_TABLE}, {"csv", FORMAT_CSV}, {"json", FORMAT_JSON}};

	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		if (!strcmp(argument, formats[i].name)) {
			o->format = formats[i].format;
			return STATUS_OK;
		}
	}
	return argument_usage(fault, "--format: '%.64s' is none of table, csv, json", argument);
}

static enum status set_option(struct bench_options *o, enum option_id id, const char *argument,
			      struct fault *fault)
{
	switch (id) {
	case OPTION_N:
		return set_n(o, argument, fault);
	case OPTION_TYPE:
		return set_types(o, argument, fault);
	case OPTION_RUNGS:
		return set_rungs(o, argument, fault);
	case OPTION_REPEAT:
		return set_repeat(o, argument, fault);
	case OPTION_OUTPUT:
		o->output = argument;
		break;
	case OPTION_TRACE:
		o->trace = argument;
		break;
	case OPTION_FORMAT:
		return set_format(o, argument, fault);
	case OPTION_HELP:
		o->help = true;
		break;
	case OPTION_VERSION:
		o->version = true;
		break;
	case NOPTIONS:
		break;
	}
	return STATUS_OK;
}

/* ---- getopt ---- */

/* ":hV": no option with a letter has an argument. */
static void make_letters(char *out)
{
	*out++ = ':'; /* tell a missing argument from an unknown option */
	for (int i = 0; i < NOPTIONS; i++)
		if (rows[i].letter)
			*out++ = rows[i].letter;
	*out = '\0';
}

/* The row that getopt_long's answer belongs to; NOPTIONS: it is a complaint. */
static enum option_id row_of(int returned)
{
	for (int i = 0; i < NOPTIONS; i++)
		if (returned == ARGUMENT_FIRST_ID + i || (rows[i].letter && returned == rows[i].letter))
			return (enum option_id)i;
	return NOPTIONS;
}

static enum status set_command(struct bench_options *o, int nwords, char **words,
			       struct fault *fault)
{
	if (nwords == 0)
		return argument_usage(fault, "no command; there are %s", command_list + 2);
	for (int c = 0; c < NCOMMANDS; c++)
		if (!strcmp(words[0], commands[c].name))
			o->command = (enum bench_command)c;
	if (o->command == NCOMMANDS)
		return argument_usage(fault, "unknown command '%.64s'; there are %s", words[0],
			     command_list + 2);
	o->nwords = nwords;
	o->words = words;
	if (nwords > 1 && o->command != COMMAND_PIPELINE)
		return argument_usage(fault, "one command at a time, and '%.64s' is one too many", words[1]);
	return STATUS_OK;
}

/* Whether the command takes the options that were given (bit i: row i). */
static enum status check(struct bench_options *o, unsigned given, struct fault *fault)
{
	for (int i = 0; i < NOPTIONS; i++)
		if (given >> i & 1 && !(rows[i].commands >> o->command & 1))
			return argument_usage(fault, "%s takes no --%s", commands[o->command].name,
				     rows[i].name);
	if (o->command != COMMAND_MODEL)
		return STATUS_OK;
	if (!(given >> OPTION_N & 1))
		o->n = MODEL_DEFAULT_N;
	if (!model_takes(o->n))
		return argument_usage(fault, "--n: the model is of one block: a power of 2 from %d to %d",
			     MODEL_LEAST_N, MODEL_GREATEST_N);
	return STATUS_OK;
}

enum status bench_options_parse(struct bench_options *o, int argc, char **argv,
				struct fault *fault)
{
	char letters[NOPTIONS + 2];
	unsigned given = 0;
	int c;

	memset(o, 0, sizeof *o);
	o->command = NCOMMANDS;
	o->types = 1u << BENCH_FLOAT32;
	o->format = FORMAT_TABLE;
	o->output = "/dev/null";
	make_letters(letters);
	opterr = 0;
	while ((c = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
		enum option_id id = row_of(c);
		if (id == NOPTIONS)
			return argument_getopt_fault(c, argv, fault);
		if (set_option(o, id, optarg, fault) != STATUS_OK)
			return fault->status;
		given |= 1u << id;
	}
	if (o->help || o->version)
		return STATUS_OK;
	if (set_command(o, argc - optind, argv + optind, fault) != STATUS_OK)
		return fault->status;
	return check(o, given, fault);
}

void bench_options_free(struct bench_options *o)
{
	free(o->rungs_text);
	free(o->rungs);
}
