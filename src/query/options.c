/* SPDX-License-Identifier: MIT
 *
 * options.c - see options.h; the table is options.def.
 */
#include "query/options.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "codec/codec.h"
#include "codec/decoder.h"
#include "number/decimal.h"
#include "number/decimal_text.h"
#include "query/elsewhere.h"
#include "query/help.h"
#include "query/operation_argument.h"
#include "query/options_asked.h"
#include "query/options_check.h"
#include "query/options_choice.h"
#include "query/pattern.h"

#define MAX_THREADS 1024
#define MAX_DEVICE 1023
#define PERCENT_NPLACES 9
#define MAX_PARTS 1000000000
#define FILE_SHOWN_NBYTES 48

/* A row's index in the table: first the operations, then the options. */
enum option_id {
	OPTION_NONE = NOPERATIONS - 1, /* so that the first option's index is NOPERATIONS */
#define OPTION(id, ...) OPTION_##id,
#include "query/options.def"
};

static const struct option_row rows[] = {
#define OPERATION(id, kind, name, argument, title, needs, value, help) \
	{0, name, argument, "", 0, help},
#include "query/options.def"
#define OPTION(id, letter, name, argument, words, help) {letter, name, argument, words, 0, help},
#include "query/options.def"
	OPTION_ABOUT_ROWS("print this and exit; -h: the most used options"),
};
#define NROWS (sizeof rows / sizeof *rows)

static const struct {
	const char *title;
	enum operation_kind kind;
	unsigned needs;
} operations[] = {
#define OPERATION(id, kind, name, argument, title, needs, value, help) \
	{title, OPERATION_##kind, needs},
#include "query/options.def"
};

const char *operation_name(enum operation operation)
{
	return rows[operation].name;
}

const char *operation_title(enum operation operation)
{
	return operations[operation].title;
}

enum operation_kind operation_kind(enum operation operation)
{
	return operations[operation].kind;
}

bool operation_has_columns(enum operation operation)
{
	enum operation_kind kind = operation_kind(operation);

	return kind == OPERATION_REDUCE || kind == OPERATION_TEXT || kind == OPERATION_TABLE ||
	       kind == OPERATION_PAIR || kind == OPERATION_RUNNING || kind == OPERATION_FIELDS;
}

bool operation_use_is_matrix(const struct operation_use *use)
{
	return operation_kind(use->operation) == OPERATION_PAIR && !strcmp(use->argument, "*");
}

unsigned operation_needs(enum operation operation)
{
	return operations[operation].needs;
}

bool operation_takes_text(enum operation operation)
{
	unsigned needs = operation_needs(operation);

	return needs != 0 && (needs & ~(unsigned)(MOMENTS_OF_TEXT | MOMENT_ENDS)) == 0;
}

/* ---- about ---- */

static void print_library(const char *name, const char *version)
{
	printf("%s %s\n", name, version ? version : "not built in");
}

static void print_libraries(void)
{
	for (const struct codec *const *c = codecs; *c; c++)
		for (const struct codec_library *l = (*c)->libraries; l->name; l++)
			print_library(l->name, l->version());
	print_library("PCRE2", pattern_library());
}

/* ---- arguments ---- */

/* A digit of base 8 or 16, or -1. */
static int digit_of(char c, int base)
{
	int value = decimal_is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;

	return value < base ? value : -1;
}

/* One byte, as it is or as \t, \x1f, \037, \\ or tab. Returns 0 where it is none of these. */
static char byte_of(const char *argument)
{
	bool is_hex = argument[0] == '\\' && argument[1] == 'x';
	const char *digits = argument + 1 + is_hex;
	int value = 0;

	if (argument[0] && !argument[1])
		return argument[0];
	if (!strcmp(argument, "\\t") || !strcmp(argument, "tab"))
		return '\t';
	if (!strcmp(argument, "\\\\"))
		return '\\';
	if (argument[0] != '\\' || !*digits || strlen(digits) > (is_hex ? 2 : 3))
		return '\0';
	for (; *digits; digits++) {
		int digit = digit_of(*digits, is_hex ? 16 : 8);
		if (digit < 0)
			return '\0';
		value = value * (is_hex ? 16 : 8) + digit;
	}
	return value < 256 ? (char)value : '\0';
}

static enum status set_byte(enum option_id id, const char *argument, char *byte,
			    struct fault *fault)
{
	*byte = byte_of(argument);
	if (!*byte)
		return option_fault(fault, "--%s: '%.64s' is not one byte", rows[id].name, argument);
	return STATUS_OK;
}

/* Whether the argument is what other programs take for runs of blanks. */
static bool means_blanks(const char *argument)
{
	static const char *const patterns[] = {"\\s", "\\s+", "\\s*", " +", " *", "[ \\t]+", "[[:space:]]+", "[[:blank:]]+",
					       "space", "whitespace", "spaces"};

	for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
		if (!strcmp(argument, patterns[i]))
			return true;
	return *argument && argument[strspn(argument, " \t")] == '\0';
}

/* Says how a delimiter of several bytes is read: a byte that no text has takes its place. */
static enum status refuse_delimiter(const char *argument, struct fault *fault)
{
	char pattern[2 * 16 + 1], *to = pattern;
	size_t nbytes = strlen(argument);

	if (means_blanks(argument))
		return option_fault(fault, "--delimiter: '%.64s' is not one byte: --whitespace reads fields that end "
				    "at runs of blanks", argument);
	if (nbytes < 2 || nbytes > 16 || strpbrk(argument, "'\n"))
		return option_fault(fault, "--delimiter: '%.64s' is not one byte", argument);
	for (const char *p = argument; *p; p++) {
		if (strchr("\\/.*[]^$", *p))
			*to++ = '\\';
		*to++ = *p;
	}
	*to = '\0';
	return option_fault(fault, "--delimiter: '%s' is not one byte: try sed 's/%s/\\x1f/g' FILE | gpustat -d '\\x1f' ...",
			    argument, pattern);
}

static enum status set_delimiter(struct options *o, const char *argument, struct fault *fault)
{
	o->has_delimiter = true;
	o->dialect.delimiter = byte_of(argument);
	return o->dialect.delimiter ? STATUS_OK : refuse_delimiter(argument, fault);
}

static enum status set_quote(struct options *o, const char *argument, struct fault *fault)
{
	o->has_quote = true;
	o->dialect.quote = '\0';
	if (!strcmp(argument, "none"))
		return STATUS_OK;
	return set_byte(OPTION_QUOTE, argument, &o->dialect.quote, fault);
}

/* One character of UTF-8. */
static enum status set_thousands(struct options *o, const char *argument, struct fault *fault)
{
	size_t nbytes = strlen(argument);

	if (nbytes == 0 || nbytes > NOTATION_THOUSANDS_NBYTES)
		return option_fault(fault, "--thousands: '%.64s' is not one character", argument);
	memcpy(o->notation.thousands, argument, nbytes + 1);
	return STATUS_OK;
}

static enum status set_skip_lines(struct options *o, const char *argument, struct fault *fault)
{
	const char *end = option_digits(argument, UINT64_MAX / 10 - 1, &o->nskipped_lines);

	if (!end || *end)
		return option_fault(fault, "--skip-lines: '%.64s' is not a number of lines", argument);
	return STATUS_OK;
}

/* The digits of a fraction of a percentage, which are added to limit. Returns what follows, or NULL. */
static const char *read_places(const char *p, struct invalid_limit *limit)
{
	for (; decimal_is_digit(*p); p++) {
		if (++limit->nplaces > PERCENT_NPLACES)
			return NULL;
		limit->most = limit->most * 10 + (uint64_t)(*p - '0');
	}
	return limit->nplaces ? p : NULL;
}

/* N, N% or N.N% */
/* Adds spellings of a missing value. Which of them a decimal comma would have split is for options_check to say. */
static enum status add_missing(struct options *o, const char *list, struct fault *fault)
{
	bool is_quoted = false;

	for (const char *at = list, *item = list; *at && !o->split_number; at++) {
		is_quoted ^= *at == '"';
		if (*at != ',' || is_quoted)
			continue;
		if (at > list && decimal_is_digit(at[-1]) && decimal_is_digit(at[1]))
			o->split_number = item;
		item = at + 1;
	}
	return option_add_items(&rows[OPTION_MISSING], list, &o->missing, &o->nmissing, fault);
}

static enum status set_max_invalid(struct options *o, const char *argument, struct fault *fault)
{
	struct invalid_limit *limit = &o->max_invalid;
	const char *end = option_digits(argument, UINT64_MAX / 10 - 1, &limit->most);

	limit->text = argument;
	limit->nplaces = 0;
	if (end && *end == '.' && limit->most <= 100)
		end = read_places(end + 1, limit);
	limit->is_percentage = end && !strcmp(end, "%");
	if (limit->is_percentage && limit->most <= 100 * (uint64_t)decimal_powers[limit->nplaces])
		return STATUS_OK;
	if (end && !*end && limit->nplaces == 0)
		return STATUS_OK;
	return option_fault(fault, "--max-invalid: '%.64s' is neither a number nor a percentage",
			    argument);
}

/* A number of bytes, or of KiB, MiB, GiB or TiB. */
static enum status set_memory(struct options *o, const char *argument, struct fault *fault)
{
	static const char suffixes[] = "KMGT";
	const char *end = option_digits(argument, UINT64_MAX / 10 - 1, &o->memory_nbytes);
	const char *suffix = end && *end ? strchr(suffixes, toupper((unsigned char)*end)) : NULL;
	int shift = suffix ? 10 * (int)(suffix - suffixes + 1) : 0;

	if (end && !end[suffix != NULL] && o->memory_nbytes > 0 &&
	    o->memory_nbytes <= UINT64_MAX >> shift) {
		o->memory_nbytes <<= shift;
		return STATUS_OK;
	}
	return option_fault(fault, "--memory: '%.64s' is no size: a number of bytes, or one with K, M, G "
			    "or T", argument);
}

/* K/N, or K/N,quoted */
static enum status set_part(struct options *o, const char *argument, struct fault *fault)
{
	struct file_part *p = &o->part;
	const char *end = option_digits(argument, MAX_PARTS, &p->number);

	end = end && *end == '/' ? option_digits(end + 1, MAX_PARTS, &p->of) : NULL;
	p->is_quoted = end && !strcmp(end, ",quoted");
	if (end && (!*end || p->is_quoted) && p->number >= 1 && p->number <= p->of &&
	    !(p->is_quoted && p->number == 1))
		return STATUS_OK;
	return option_fault(fault, "--part: '%.64s' is not K/N, K from 1 to N, or K/N,quoted", argument);
}

/* gpu:N */
static enum status set_device_number(struct options *o, const char *argument, struct fault *fault)
{
	uint64_t number;
	const char *end = option_digits(argument + strlen("gpu:"), MAX_DEVICE, &number);

	if (!end || *end)
		return option_fault(fault, "--device: '%.64s' is not gpu:N, N counted from 0", argument);
	o->device = DEVICE_GPU;
	o->device_number = (int)number;
	return STATUS_OK;
}

/* OLD=NEW */
static enum status add_rename(struct options *o, const char *argument, struct fault *fault)
{
	const char **grown = realloc(o->renames, (o->nrenames + 1) * sizeof *grown);

	if (!grown)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	o->renames = grown;
	o->renames[o->nrenames++] = argument;
	if (*argument == '=' || !strchr(argument, '='))
		return option_fault(fault, "--rename: '%.64s' is not OLD=NEW", argument);
	return STATUS_OK;
}

static enum status set_option(struct options *o, enum option_id id, const char *argument,
			      struct fault *fault)
{
	int word = 0;

	if (id == OPTION_DEVICE && !strncmp(argument, "gpu:", 4))
		return set_device_number(o, argument, fault);
	if (*rows[id].words)
		word = option_find_word(&rows[id], argument, strlen(argument), fault);
	if (word < 0)
		return STATUS_USAGE;
	switch (id) {
	case OPTION_WHERE:
		if (o->where)
			return option_fault(fault, "--where is given twice: join the conditions with and");
		o->where = argument;
		break;
	case OPTION_HEAD:
		return options_set_count("head", argument, "records", &o->choice.head, fault);
	case OPTION_TAIL:
		return options_set_count("tail", argument, "records", &o->choice.tail, fault);
	case OPTION_SAMPLE:
		return options_set_count("sample", argument, "records", &o->choice.sample, fault);
	case OPTION_SEED:
		return options_set_seed(&o->choice, argument, fault);
	case OPTION_RENAME:
		return add_rename(o, argument, fault);
	case OPTION_BY:
		if (o->by)
			return option_fault(fault, "--by is given twice: join the columns with ,");
		o->by = argument;
		break;
	case OPTION_SORT:
		o->sort = argument;
		break;
	case OPTION_TOP:
		return options_set_count("top", argument, "groups", &o->top, fault);
	case OPTION_EXCLUSIVE:
		o->exclusive = true;
		break;
	case OPTION_ONLY:
		o->only = true;
		break;
	case OPTION_DELIMITER:
		return set_delimiter(o, argument, fault);
	case OPTION_WHITESPACE:
		o->dialect.whitespace = true;
		break;
	case OPTION_TRIM:
		o->dialect.trim = true;
		break;
	case OPTION_QUOTE:
		return set_quote(o, argument, fault);
	case OPTION_ESCAPE:
		return set_byte(id, argument, &o->dialect.escape, fault);
	case OPTION_COMMENT:
		return set_byte(id, argument, &o->dialect.comment, fault);
	case OPTION_SKIP_LINES:
		return set_skip_lines(o, argument, fault);
	case OPTION_RAGGED:
		o->ragged = (enum ragged_policy)word;
		o->has_ragged = true;
		break;
	case OPTION_DECIMAL:
		return set_byte(id, argument, &o->notation.decimal, fault);
	case OPTION_THOUSANDS:
		return set_thousands(o, argument, fault);
	case OPTION_MONEY:
		o->notation.money = true;
		break;
	case OPTION_PERCENT:
		o->notation.percent = true;
		break;
	case OPTION_MAX_INVALID:
		return set_max_invalid(o, argument, fault);
	case OPTION_HEADER:
		o->header = (enum header_mode)word;
		break;
	case OPTION_HEADERS:
		o->header = HEADER_YES;
		break;
	case OPTION_NO_HEADERS:
		o->header = HEADER_NO;
		break;
	case OPTION_MISSING:
		return add_missing(o, argument, fault);
	case OPTION_INVALID:
		o->invalid = (enum invalid_policy)word;
		break;
	case OPTION_PARTIAL:
		o->partial = true;
		break;
	case OPTION_SAVE_STATE:
		o->save_state = argument;
		break;
	case OPTION_FROM_STATE:
		o->from_state = argument;
		break;
	case OPTION_PART:
		return set_part(o, argument, fault);
	case OPTION_MERGE:
		o->merge = true;
		break;
	case OPTION_FORMAT:
		o->format = (enum format)word;
		break;
	case OPTION_PLOT:
		o->picture.plots = true;
		break;
	case OPTION_SVG:
		o->picture.svg = argument;
		break;
	case OPTION_EXPLAIN:
		o->explain = true;
		break;
	case OPTION_COLUMNS:
		o->columns = true;
		break;
	case OPTION_DEVICE:
		o->device = (enum device)word;
		o->device_number = -1;
		break;
	case OPTION_MEMORY:
		return set_memory(o, argument, fault);
	case OPTION_THREADS:
		return option_number(&rows[id], argument, MAX_THREADS, &o->nthreads, fault);
	case OPTION_PROGRESS:
		o->progress = (enum progress)word;
		break;
	case OPTION_ALL:
		o->all = true;
		break;
	case OPTION_VERBOSE:
		o->verbose = true;
		break;
	case OPTION_NONE:
		break;
	}
	return STATUS_OK;
}

/* Whether an option says what is asked of the records. */
static bool is_asked(size_t row)
{
	switch (row) {
	case OPTION_WHERE: case OPTION_BY: case OPTION_EXCLUSIVE: case OPTION_ONLY: case OPTION_DELIMITER:
	case OPTION_WHITESPACE: case OPTION_TRIM: case OPTION_QUOTE: case OPTION_ESCAPE: case OPTION_COMMENT: case OPTION_SKIP_LINES:
	case OPTION_HEADER: case OPTION_HEADERS: case OPTION_NO_HEADERS: case OPTION_RAGGED: case OPTION_DECIMAL:
	case OPTION_THOUSANDS:
	case OPTION_MONEY: case OPTION_PERCENT: case OPTION_MISSING: case OPTION_INVALID: case OPTION_MAX_INVALID:
	case OPTION_ALL:
		return true;
	default:
		return row < NOPERATIONS;
	}
}

/* Keeps an option that says what is asked. */
static enum status keep_asked(struct options *o, size_t row, const char *typed, const char *argument,
			      struct fault *fault)
{
	const char *name = row < NOPERATIONS ? typed : rows[row].name;

	if (is_asked(row) && asked_add(&o->asked, name, strcspn(name, "="), argument, row < NOPERATIONS,
				       row == OPTION_MISSING) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	return STATUS_OK;
}

/* Keeps a percentile's name, which has its number, and reads the argument. */
static enum status read_use(struct operation_use *use, const char *typed, struct fault *fault)
{
	if (use->operation == OPERATION_PERCENTILE) {
		use->name = use->typed = strndup(typed, strcspn(typed, "="));
		if (!use->typed)
			return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	}
	return operation_read_argument(use, fault);
}

/* Notes the first file whose name was taken for something else. */
static void note_file(struct options *o, const char *name, const char *wanted, const char *argument)
{
	struct stat st;

	if (!o->taken.file && argument && strcmp(wanted, "FILE") != 0 && stat(argument, &st) == 0 &&
	    !S_ISDIR(st.st_mode))
		o->taken = (struct taken_file){argument, name, wanted};
}

enum status options_fail_taken(const struct options *o, struct fault *fault)
{
	const struct taken_file *t = &o->taken;
	const char *file = strlen(t->file) <= FILE_SHOWN_NBYTES ? t->file : "FILE";
	bool counts = t->name == rows[OPERATION_COUNT].name;

	return option_fault(fault, "--%s took the file '%s' for its %s, and no input is left: type --%s %s %s%s%s", t->name,
			    file, t->argument, t->name, t->argument, file, counts ? ", or --count-records " : "",
			    counts ? file : "");
}

static enum status handle(void *options, size_t row, const char *typed, const char *argument,
			  struct fault *fault)
{
	struct options *o = options;
	struct operation_use *grown;

	if (keep_asked(o, row, typed, argument, fault) != STATUS_OK)
		return STATUS_NO_MEMORY;
	if (row >= NOPERATIONS) {
		note_file(o, rows[row].name, rows[row].argument, argument);
		return set_option(o, (enum option_id)row, argument, fault);
	}
	grown = realloc(o->uses, (o->nuses + 1) * sizeof *grown);
	if (!grown)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	o->uses = grown;
	o->uses[o->nuses++] = (struct operation_use){
		.operation = (enum operation)row, .argument = argument, .name = rows[row].name};
	if (read_use(&o->uses[o->nuses - 1], typed, fault) != STATUS_OK)
		return fault->status;
	note_file(o, o->uses[o->nuses - 1].name, rows[row].argument, argument);
	return STATUS_OK;
}

const struct option_table options_table = {
	.program = "gpustat",
	.operands = "",
	.rows = rows, .nrows = NROWS,
	.synonyms = elsewhere_words,
	.handle = handle,
	.print_help = help_print,
	.print_brief_help = help_print_brief,
	.print_libraries = print_libraries,
};

enum status options_parse(struct options *o, int argc, char **argv, struct fault *fault)
{
	static const char *const standard_input[] = {"-"};
	int npaths;
	enum status status;

	memset(o, 0, sizeof *o);
	o->dialect.delimiter = ',';
	o->dialect.quote = '"';
	o->notation.decimal = '.';
	o->device_number = -1;
	status = option_parse(&options_table, argc, argv, o, &o->about, &npaths, fault);
	if (status != STATUS_OK)
		return status;
	o->is_default_input = npaths == 0;
	o->npaths = npaths ? npaths : 1;
	o->paths = npaths ? (const char *const *)argv + 1 : standard_input;
	status = options_read_environment(o, fault);
	return status == STATUS_OK ? options_check(o, fault) : status;
}

void options_free(struct options *o)
{
	asked_free(&o->asked);
	option_free_items(o->missing, o->nmissing);
	free(o->renames);
	for (size_t i = 0; i < o->nuses; i++) {
		free(o->uses[i].column);
		free(o->uses[i].typed);
	}
	free(o->uses);
}
