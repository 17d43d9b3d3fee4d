/* SPDX-License-Identifier: MIT
 *
 * options.c - see options.h; the table is options.def.
 */
#include "query/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "query/argument.h"
#include "number/decimal.h"
#include "codec/codec.h"
#include "simd/simd.h"

#define MAX_THREADS 1024
#define CHUNK_VARIABLE "GPUSTAT_CHUNK_BYTES"
#define SIMD_VARIABLE "GPUSTAT_SIMD"

/* What getopt_long returns: operations from ARGUMENT_FIRST_ID on, options behind them. */
enum option_id {
	OPERATION_LAST_ID = ARGUMENT_FIRST_ID + NOPERATIONS - 1,
#define OPERATION(id, kind, name, argument, title, needs, value, help)
#define OPTION(id, letter, name, argument, help) OPTION_##id,
#include "query/options.def"
#undef OPERATION
#undef OPTION
};

static const struct option long_options[] = {
#define OPERATION(id, kind, name, argument, title, needs, value, help) \
	{name, sizeof(argument) > 1 ? required_argument : no_argument, NULL, \
	 ARGUMENT_FIRST_ID + OPERATION_##id},
#define OPTION(id, letter, name, argument, help) \
	{name, sizeof(argument) > 1 ? required_argument : no_argument, NULL, OPTION_##id},
#include "query/options.def"
#undef OPERATION
#undef OPTION
	{NULL, 0, NULL, 0},
};

struct letter {
	char letter;
	bool has_argument;
	enum option_id id;
};

static const struct letter letters[] = {
#define OPERATION(id, kind, name, argument, title, needs, value, help)
#define OPTION(id, letter, name, argument, help) {letter, sizeof(argument) > 1, OPTION_##id},
#include "query/options.def"
#undef OPERATION
#undef OPTION
};
#define NLETTERS (sizeof letters / sizeof *letters)

static const struct {
	const char *name, *title;
	enum operation_kind kind;
	unsigned needs;
} operations[] = {
#define OPERATION(id, kind, name, argument, title, needs, value, help) {name, title, OPERATION_##kind, needs},
#define OPTION(id, letter, name, argument, help)
#include "query/options.def"
#undef OPERATION
#undef OPTION
};

const char *operation_name(enum operation operation)
{
	return operations[operation].name;
}

const char *operation_title(enum operation operation)
{
	return operations[operation].title;
}

enum operation_kind operation_kind(enum operation operation)
{
	return operations[operation].kind;
}

unsigned operation_needs(enum operation operation)
{
	return operations[operation].needs;
}

/* ---- help ---- */

void options_print_help(void)
{
	printf("Usage: gpustat [OPTION]... [FILE]...\n"
	       "Reduce and scan numeric columns of CSV, exactly. With no FILE, or when FILE is -,\n"
	       "read standard input; gzip is recognised. With no operation, summarise every\n"
	       "column.\n"
	       "\nOperations:\n");
#define OPERATION(id, kind, name, argument, title, needs, value, help) \
	printf("      --%-20s %s\n", name " " argument, help);
#define OPTION(id, letter, name, argument, help)
#include "query/options.def"
#undef OPERATION
#undef OPTION
	printf("\nOptions:\n");
#define OPERATION(id, kind, name, argument, title, needs, value, help)
#define OPTION(id, letter, name, argument, help)                                        \
	printf("  %c%c%c --%-20s %s\n", (letter) ? '-' : ' ', (letter) ? (letter) : ' ', \
	       (letter) ? ',' : ' ', name " " argument, help);
#include "query/options.def"
#undef OPERATION
#undef OPTION
	printf("\nCOLS is a comma-separated list of header names, numbers (3), colN, :N, ranges\n"
	       "(2-4, 2-, -4), or * for every numeric column; \"a,b\" quotes a name.\n"
	       "EXPR: status >= 500 and not (method = \"GET\" or seconds is missing)\n"
	       "\nExit status: 0 done, 1 bad data or failed input or output, 2 wrong usage.\n"
	       "Not the GPU monitor of the same name. Full manual: man gpustat\n");
}

static void print_codec(const char *name, const char *version)
{
	printf("%s %s\n", name, version ? version : "not built in");
}

void options_print_version(void)
{
	printf("gpustat %s\n", PACKAGE_VERSION);
	for (const struct codec *const *c = codecs; *c; c++)
		for (const struct codec_library *l = (*c)->libraries; l->name; l++)
			print_codec(l->name, l->version());
#ifdef HAVE_CUDA
	printf("CUDA %s, built for %s\n", CUDA_VERSION_TEXT, CUDA_ARCH_TEXT);
#else
	printf("CUDA not built in\n");
#endif
	printf("License: MIT\n");
}

/* ---- arguments ---- */

/* Finds argument among choices (NULL-terminated) and stores which one it is. */
static enum status choose(const char *name, const char *argument, const char *const *choices,
			  int *out, struct fault *fault)
{
	char list[FAULT_DETAIL_NBYTES / 2] = "";

	for (int i = 0; choices[i]; i++) {
		if (!strcmp(argument, choices[i])) {
			*out = i;
			return STATUS_OK;
		}
		if (i)
			strcat(list, ", ");
		strcat(list, choices[i]);
	}
	return argument_usage(fault, "--%s: '%.64s' is none of %s", name, argument, list);
}

/* A whole number from 1 to limit. */
static bool parse_number(const char *text, unsigned long limit, unsigned long *out)
{
	char *end;

	if (!decimal_is_digit(*text))
		return false;
	errno = 0;
	*out = strtoul(text, &end, 10);
	return !*end && !errno && *out >= 1 && *out <= limit;
}

static enum status set_delimiter(struct options *o, const char *argument, struct fault *fault)
{
	o->delimiter = strcmp(argument, "\\t") ? argument[0] : '\t';
	if (o->delimiter == '\0' || (argument[1] && o->delimiter != '\t') ||
	    (argument[0] == '\t' && argument[1]))
		return argument_usage(fault, "--delimiter: '%.64s' is not one byte", argument);
	if (strchr("\"\r\n", o->delimiter))
		return argument_usage(fault, "--delimiter: a quote or a line end cannot separate fields");
	return STATUS_OK;
}

static enum status add_missing(struct options *o, const char *text, size_t nbytes)
{
	const char **grown = realloc(o->missing, (o->nmissing + 1) * sizeof *grown);

	if (!grown)
		return STATUS_NO_MEMORY;
	o->missing = grown;
	text = decimal_trim(text, &nbytes);
	o->missing[o->nmissing] = strndup(text, nbytes);
	return o->missing[o->nmissing++] ? STATUS_OK : STATUS_NO_MEMORY;
}

static enum status set_missing(struct options *o, const char *argument, struct fault *fault)
{
	for (;;) {
		size_t nbytes = strcspn(argument, ",");
		if (add_missing(o, argument, nbytes) != STATUS_OK)
			return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
		if (!argument[nbytes])
			return STATUS_OK;
		argument += nbytes + 1;
	}
}

static enum status set_device(struct options *o, const char *argument, struct fault *fault)
{
	static const char *const choices[] = {"auto", "cpu", "gpu", "all", NULL};
	unsigned long number;
	int chosen = DEVICE_GPU;
	enum status status = STATUS_OK;

	o->device_number = -1;
	if (!strncmp(argument, "gpu:", 4) && !strcmp(argument + 4, "0"))
		o->device_number = 0;
	else if (!strncmp(argument, "gpu:", 4) && parse_number(argument + 4, 1023, &number))
		o->device_number = (int)number;
	else if (!strncmp(argument, "gpu:", 4))
		return argument_usage(fault, "--device: '%.64s' is not gpu:N, N counted from 0", argument);
	else
		status = choose("device", argument, choices, &chosen, fault);
	o->device = (enum device)chosen;
	return status;
}

static enum status set_threads(struct options *o, const char *argument, struct fault *fault)
{
	unsigned long number;

	if (!parse_number(argument, MAX_THREADS, &number))
		return argument_usage(fault, "--threads: '%.64s' is not a number from 1 to %d", argument,
			     MAX_THREADS);
	o->nthreads = (int)number;
	return STATUS_OK;
}

static enum status set_option(struct options *o, enum option_id id, const char *argument,
			      struct fault *fault)
{
	static const char *const headers[] = {"auto", "yes", "no", NULL};
	static const char *const invalids[] = {"error", "skip", NULL};
	static const char *const formats[] = {"auto", "plain", "csv", "tsv", "json", "table", NULL};
	int chosen = 0;
	enum status status = STATUS_OK;

	switch (id) {
	case OPTION_WHERE:
		if (o->where)
			return argument_usage(fault, "--where is given twice: join the conditions with and");
		o->where = argument;
		break;
	case OPTION_EXCLUSIVE:
		o->exclusive = true;
		break;
	case OPTION_ONLY:
		o->only = true;
		break;
	case OPTION_DELIMITER:
		return set_delimiter(o, argument, fault);
	case OPTION_HEADER:
		status = choose("header", argument, headers, &chosen, fault);
		o->header = (enum header_mode)chosen;
		return status;
	case OPTION_MISSING:
		return set_missing(o, argument, fault);
	case OPTION_INVALID:
		status = choose("invalid", argument, invalids, &chosen, fault);
		o->invalid = (enum invalid_policy)chosen;
		return status;
	case OPTION_FORMAT:
		status = choose("format", argument, formats, &chosen, fault);
		o->format = (enum format)chosen;
		return status;
	case OPTION_DEVICE:
		return set_device(o, argument, fault);
	case OPTION_THREADS:
		return set_threads(o, argument, fault);
	case OPTION_VERBOSE:
		o->verbose = true;
		break;
	case OPTION_HELP:
		o->help = true;
		break;
	case OPTION_VERSION:
		o->version = true;
		break;
	case OPERATION_LAST_ID:
		break;
	}
	return STATUS_OK;
}

static enum status add_use(struct options *o, enum operation operation, const char *argument,
			   struct fault *fault)
{
	struct operation_use *grown = realloc(o->uses, (o->nuses + 1) * sizeof *grown);

	if (!grown)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	o->uses = grown;
	o->uses[o->nuses++] = (struct operation_use){operation, argument};
	return STATUS_OK;
}

/* ---- getopt ---- */

/* "d:vhV" */
static void make_letters(char *out)
{
	*out++ = ':'; /* tell a missing argument from an unknown option */
	for (size_t i = 0; i < NLETTERS; i++) {
		if (!letters[i].letter)
			continue;
		*out++ = letters[i].letter;
		if (letters[i].has_argument)
			*out++ = ':';
	}
	*out = '\0';
}

/* What getopt returned, as an id of the table. */
static int id_of(int returned)
{
	for (size_t i = 0; i < NLETTERS; i++)
		if (letters[i].letter && returned == letters[i].letter)
			return letters[i].id;
	return returned;
}

static enum status read_chunk_nbytes(struct options *o, struct fault *fault)
{
	const char *text = getenv(CHUNK_VARIABLE);
	unsigned long number;

	if (!text || !*text)
		return STATUS_OK;
	if (!parse_number(text, 1ul << 30, &number))
		return argument_usage(fault, CHUNK_VARIABLE ": '%.64s' is not a number from 1 to 2^30", text);
	o->chunk_nbytes = number;
	return STATUS_OK;
}

/* Masks the instruction sets that are better than the one named. */
static enum status choose_simd(struct fault *fault)
{
	const char *name = getenv(SIMD_VARIABLE);

	if (!name || !*name || simd_choose(name))
		return STATUS_OK;
	for (size_t i = 0; simd_all[i]; i++)
		if (!strcmp(simd_all[i]->name, name))
			return argument_usage(fault, SIMD_VARIABLE ": this machine does not have '%.64s'", name);
	return argument_usage(fault, SIMD_VARIABLE ": '%.64s' is no instruction set of this program",
			      name);
}

static enum status read_environment(struct options *o, struct fault *fault)
{
	enum status status = choose_simd(fault);

	return status == STATUS_OK ? read_chunk_nbytes(o, fault) : status;
}

static void set_paths(struct options *o, int npaths, char **paths)
{
	static const char *const standard_input[] = {"-"};

	o->npaths = npaths ? npaths : 1;
	o->paths = npaths ? (const char *const *)paths : standard_input;
}

/* Whether the options can be meant together; works out what kind of run it is. */
static enum status check(struct options *o, struct fault *fault)
{
	const char *reduce = NULL, *scan = NULL;
	bool running = false;

	for (size_t i = 0; i < o->nuses; i++) {
		enum operation_kind kind = operation_kind(o->uses[i].operation);
		*(kind == OPERATION_REDUCE ? &reduce : &scan) = operation_name(o->uses[i].operation);
		running |= kind == OPERATION_SCAN;
	}
	o->emits = scan || (o->where && !reduce);
	if (reduce && scan)
		return argument_usage(fault, "--%s prints one value and --%s prints every record: not both",
			     reduce, scan);
	if (o->only && !scan)
		return argument_usage(fault, "--only: there is no new column to print");
	if (o->exclusive && !running)
		return argument_usage(fault, "--exclusive: there is no running total");
	if (o->emits && o->format != FORMAT_AUTO)
		return argument_usage(fault, "--format is for results: records are printed as they came");
	return STATUS_OK;
}

enum status options_parse(struct options *o, int argc, char **argv, struct fault *fault)
{
	char short_options[2 * NLETTERS + 2];
	enum status status;
	int c;

	memset(o, 0, sizeof *o);
	o->delimiter = ',';
	o->device_number = -1;
	make_letters(short_options);
	opterr = 0;
	while ((c = getopt_long(argc, argv, short_options, long_options, NULL)) != -1) {
		c = id_of(c);
		if (c == '?' || c == ':')
			return argument_getopt_fault(c, argv, fault);
		status = c <= OPERATION_LAST_ID
				 ? add_use(o, (enum operation)(c - ARGUMENT_FIRST_ID), optarg, fault)
				 : set_option(o, (enum option_id)c, optarg, fault);
		if (status != STATUS_OK)
			return status;
	}
	set_paths(o, argc - optind, argv + optind);
	status = read_environment(o, fault);
	return status == STATUS_OK ? check(o, fault) : status;
}

void options_free(struct options *o)
{
	for (size_t i = 0; i < o->nmissing; i++)
		free((void *)o->missing[i]);
	free(o->missing);
	free(o->uses);
}
