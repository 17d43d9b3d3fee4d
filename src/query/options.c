/* SPDX-License-Identifier: MIT
 *
 * options.c - the command line of gpustat: see options.h; the table is options.def. In this order: the table, arguments,
 * what is asked of the records, the environment, what goes together, parsing, --help.
 */
#include "query/options.h"

#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "codec/codec.h"
#include "number/decimal.h"
#include "number/decimal_text.h"
#include "lang/pattern.h"
#include "lang/select.h"
#include "query/remedy.h"
#include "simd/simd.h"

#define MAX_THREADS 1024
#define MAX_DEVICE 1023
#define PERCENT_NPLACES 9
#define PERCENTILE_NPLACES 15 /* digits after the point, at most */
#define MAX_PARTS 1000000000
#define FILE_SHOWN_NBYTES 48
#define NUMBER_MAX (UINT64_MAX / 10 - 1)
#define WINDOW_NROWS_MAX UINT64_C(1000000000000)
#define WIDTH_NBYTES_MAX 64 /* of the text of a duration */
#define SIMD_VARIABLE "GPUSTAT_SIMD"
#define HELP_NAMES_WIDTH 20

/* A row's index in the table: first the operations, then the options. */
enum option_id {
	OPTION_NONE = NOPERATIONS - 1, /* so that the first option's index is NOPERATIONS */
#define OPTION(id, ...) OPTION_##id,
#include "query/options.def"
	NIDS
};

static const struct option_row rows[] = {
#define OPERATION(id, kind, name, argument, title, needs, result, help) \
	{0, name, argument, "", 0, help},
#include "query/options.def"
#define OPTION(id, letter, name, argument, words, scope, set, member, help) {letter, name, argument, words, 0, help},
#include "query/options.def"
	OPTION_ABOUT_ROWS("print this and exit; -h: the most used options"),
};
#define NROWS (sizeof rows / sizeof *rows)

static const struct {
	const char *title;
	enum operation_kind kind;
	unsigned needs;
	struct {
		enum new_column_kind shows;
		bool counts, is_symmetric;
	} result;
} operations[] = {
#define BY(formula) {.counts = false}
#define TEXT_BY(formula) {.counts = false}
#define PAIR_BY(formula) {.counts = false}
#define COUNT_BY(formula) {.counts = true}
#define SYMMETRIC_BY(formula) {.is_symmetric = true}
#define SHOWS(new_column) {.shows = new_column}
#define SHOWS_COUNT(new_column) {.shows = new_column, .counts = true}
#define OPERATION(id, kind, name, argument, title, needs, result, help) {title, OPERATION_##kind, needs, result},
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

	return kind == OPERATION_REDUCE || kind == OPERATION_TEXT || kind == OPERATION_TABLE || kind == OPERATION_FRACTION ||
	       kind == OPERATION_PAIR || kind == OPERATION_RUNNING || kind == OPERATION_FIELDS;
}

bool operation_use_is_matrix(const struct operation_use *use)
{
	return operation_kind(use->operation) == OPERATION_PAIR && !strcmp(use->argument, "*");
}

bool operation_counts(enum operation operation)
{
	return operations[operation].result.counts;
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

/* ---- arguments of options ---- */

/* One option that is given. */
struct setting {
	struct options *o;
	const struct option_row *row;
	void *member; /* of *o, as the table says */
	const char *argument; /* NULL: it takes none */
	struct fault *fault;
};

static enum status set_flag(const struct setting *s)
{
	*(bool *)s->member = true;
	return STATUS_OK;
}

static enum status set_text(const struct setting *s)
{
	*(const char **)s->member = s->argument;
	return STATUS_OK;
}

static enum status set_once(const struct setting *s)
{
	if (*(const char **)s->member && s->row == &rows[OPTION_OVER])
		return option_fault(s->fault,
				    "--over is given twice: one column has the times of all windows");
	if (*(const char **)s->member)
		return option_fault(s->fault, "--%s is given twice: join the %s", s->row->name,
				    s->row == &rows[OPTION_BY] || s->row == &rows[OPTION_UNIQUE] ? "columns with ,"
				    : s->row == &rows[OPTION_PIVOT] ? "values by --let NAME=concat(...)" : "conditions with and");
	return set_text(s);
}

static enum status set_word(const struct setting *s)
{
	int word = option_find_word(s->row, s->argument, strlen(s->argument), s->fault);

	if (word < 0)
		return STATUS_USAGE;
	memcpy(s->member, &word, sizeof word); /* an enum */
	return STATUS_OK;
}

static enum status set_ragged(const struct setting *s)
{
	s->o->has_ragged = true;
	return set_word(s);
}

static enum status set_headers(const struct setting *s)
{
	s->o->header = s->row == &rows[OPTION_HEADERS] ? HEADER_YES : HEADER_NO;
	return STATUS_OK;
}

/* Whether text is a number in digits, at most `most`, and nothing more. */
static bool read_number(const char *text, uint64_t most, uint64_t *number)
{
	const char *end = option_digits(text, most, number);

	return end && !*end;
}

static enum status set_count(const struct setting *s)
{
	bool is_lines = s->row == &rows[OPTION_SKIP_LINES];
	uint64_t *count = s->member;

	if (read_number(s->argument, NUMBER_MAX, count) && (*count > 0 || is_lines))
		return STATUS_OK;
	return option_fault(s->fault, "--%s: '%.64s' is not a number of %s", s->row->name, s->argument,
			    is_lines ? "lines" : s->row == &rows[OPTION_TOP] ? "groups or records" : "records");
}

static enum status set_threads(const struct setting *s)
{
	return option_number(s->row, s->argument, MAX_THREADS, &s->o->nthreads, s->fault);
}

static enum status set_seed(const struct setting *s)
{
	if (!read_number(s->argument, NUMBER_MAX, &s->o->choice.seed))
		return option_fault(s->fault, "--seed: '%.64s' is not a whole number below 1844674407370955161", s->argument);
	s->o->choice.has_seed = true;
	return STATUS_OK;
}

/* One byte, as it is or as \t, \x1f, \037, \\ or tab. Returns 0 where it is none of these. */
static char byte_of(const char *argument)
{
	bool is_hex = argument[0] == '\\' && argument[1] == 'x';
	const char *digits = argument + 1 + is_hex;
	unsigned long value;

	if (!argument[0] || !argument[1])
		return argument[0];
	if (!strcmp(argument, "\\t") || !strcmp(argument, "tab"))
		return '\t';
	if (!strcmp(argument, "\\\\"))
		return '\\';
	if (argument[0] != '\\' || !*digits || strlen(digits) > (is_hex ? 2 : 3) ||
	    digits[strspn(digits, is_hex ? "0123456789abcdefABCDEF" : "01234567")])
		return '\0';
	value = strtoul(digits, NULL, is_hex ? 16 : 8);
	return value < 256 ? (char)value : '\0';
}

static enum status set_byte(const struct setting *s)
{
	char *byte = s->member;

	*byte = byte_of(s->argument);
	return *byte ? STATUS_OK : option_fault(s->fault, "--%s: '%.64s' is not one byte", s->row->name, s->argument);
}

static enum status set_quote(const struct setting *s)
{
	struct setting byte = *s;

	s->o->has_quote = true;
	s->o->dialect.quote = '\0';
	byte.member = &s->o->dialect.quote;
	return strcmp(s->argument, "none") ? set_byte(&byte) : STATUS_OK;
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

static enum status set_delimiter(const struct setting *s)
{
	s->o->has_delimiter = true;
	s->o->dialect.delimiter = byte_of(s->argument);
	return s->o->dialect.delimiter ? STATUS_OK : refuse_delimiter(s->argument, s->fault);
}

static enum status set_output_delimiter(const struct setting *s)
{
	TRY(set_byte(s));
	return s->o->style.delimiter != '"' && s->o->style.delimiter != '\n' && s->o->style.delimiter != '\r'
		       ? STATUS_OK
		       : option_fault(s->fault, "--output-delimiter: a quote or a line end cannot separate fields");
}

static enum status set_digits(const struct setting *s)
{
	uint64_t n;

	if (!read_number(s->argument, SHOWN_NPLACES_MAX, &n))
		return option_fault(s->fault, "--digits: '%.64s' is not a number from 0 to %d", s->argument, SHOWN_NPLACES_MAX);
	s->o->style.numbers.has_places = true;
	s->o->style.numbers.nplaces = (int)n;
	return STATUS_OK;
}

/* One character of UTF-8. */
static enum status set_character(const struct setting *s)
{
	size_t nbytes = strlen(s->argument);

	if (nbytes == 0 || nbytes > NOTATION_THOUSANDS_NBYTES)
		return option_fault(s->fault, "--%s: '%.64s' is not one character", s->row->name, s->argument);
	memcpy(s->member, s->argument, nbytes + 1);
	return STATUS_OK;
}

static enum status set_zone(const struct setting *s)
{
	const char *wrong = time_zone_set(s->member, s->argument);

	return wrong ? option_fault(s->fault, "--tz '%.64s': %s", s->argument, wrong) : STATUS_OK;
}

/* Adds spellings of a missing value. Which of them a decimal comma would have split is for check_notation to say. */
static enum status set_missing(const struct setting *s)
{
	struct options *o = s->o;
	bool is_quoted = false;

	for (const char *at = s->argument, *item = at; *at && !o->split_number; at++) {
		is_quoted ^= *at == '"';
		if (*at != ',' || is_quoted)
			continue;
		if (at > s->argument && decimal_is_digit(at[-1]) && decimal_is_digit(at[1]))
			o->split_number = item;
		item = at + 1;
	}
	return option_add_items(s->row, s->argument, &o->missing, &o->nmissing, s->fault);
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
static enum status set_max_invalid(const struct setting *s)
{
	struct invalid_limit *limit = &s->o->max_invalid;
	const char *end = option_digits(s->argument, NUMBER_MAX, &limit->most);

	limit->text = s->argument;
	limit->nplaces = 0;
	if (end && *end == '.' && limit->most <= 100)
		end = read_places(end + 1, limit);
	limit->is_percentage = end && !strcmp(end, "%");
	if (limit->is_percentage ? limit->most <= 100 * (uint64_t)decimal_powers[limit->nplaces]
				 : end && !*end && limit->nplaces == 0)
		return STATUS_OK;
	return option_fault(s->fault, "--max-invalid: '%.64s' is neither a number nor a percentage", s->argument);
}

/* A number of bytes, or of KiB, MiB, GiB or TiB. */
static enum status set_memory(const struct setting *s)
{
	static const char suffixes[] = "KMGT";
	uint64_t *nbytes = s->member;
	const char *end = option_digits(s->argument, NUMBER_MAX, nbytes);
	const char *suffix = end && *end ? strchr(suffixes, toupper((unsigned char)*end)) : NULL;
	int shift = suffix ? 10 * (int)(suffix - suffixes + 1) : 0;

	if (!end || end[suffix != NULL] || *nbytes == 0 || *nbytes > UINT64_MAX >> shift)
		return option_fault(s->fault, "--memory: '%.64s' is no size: a number of bytes, or one with K, M, G or T",
				    s->argument);
	*nbytes <<= shift;
	return STATUS_OK;
}

/* K/N, or K/N,quoted */
static enum status set_part(const struct setting *s)
{
	struct file_part *p = &s->o->part;
	const char *end = option_digits(s->argument, MAX_PARTS, &p->number);

	end = end && *end == '/' ? option_digits(end + 1, MAX_PARTS, &p->of) : NULL;
	p->is_quoted = end && !strcmp(end, ",quoted");
	if (end && (!*end || p->is_quoted) && p->number >= 1 && p->number <= p->of &&
	    !(p->is_quoted && p->number == 1))
		return STATUS_OK;
	return option_fault(s->fault, "--part: '%.64s' is not K/N, K from 1 to N, or K/N,quoted", s->argument);
}

/* A word, or gpu:N */
static enum status set_device(const struct setting *s)
{
	uint64_t number;

	s->o->device_number = -1;
	if (strncmp(s->argument, "gpu:", 4) != 0)
		return set_word(s);
	if (!read_number(s->argument + 4, MAX_DEVICE, &number))
		return option_fault(s->fault, "--device: '%.64s' is not gpu:N, N counted from 0", s->argument);
	s->o->device = DEVICE_GPU;
	s->o->device_number = (int)number;
	return STATUS_OK;
}

/* Finds the end of the first OLD=NEW of a list, a comma that has another one after it, and its sign, NULL if it has none. Neither
 * is within quotes or parentheses, as in sum(a=b)=c, but the sign of an OLD=NEW without another one. */
static const char *find_rename_end(const char *text, const char **sign)
{
	const char *begin = text, *comma = NULL;
	bool is_quoted = false;
	int depth = 0;

	*sign = NULL;
	for (; *text; text++) {
		is_quoted ^= *text == '"';
		depth += is_quoted ? 0 : (*text == '(') - (*text == ')');
		if (is_quoted || depth > 0)
			continue;
		if (comma && *text == '=')
			return comma;
		*sign = !*sign && *text == '=' ? text : *sign;
		comma = *sign && *text == ',' ? text : comma;
	}
	*sign = *sign ? *sign : strchr(begin, '=');
	return text;
}

/* OLD=NEW,... */
static enum status set_rename(const struct setting *s)
{
	const char *at = s->argument, *end, *sign;

	do {
		struct new_name rename;
		end = find_rename_end(at, &sign);
		NEED(rename.old = strndup(at, (size_t)(end - at)));
		TRY(ARRAY_PUSH(s->o->renames, s->o->nrenames, rename));
		if (!sign || sign == at)
			return option_fault(s->fault, "--rename: '%.64s' is not OLD=NEW", rename.old);
		rename.old[sign - at] = '\0';
		s->o->renames[s->o->nrenames - 1].name = rename.old + (sign - at) + 1;
		at = end + 1;
	} while (*end);
	return STATUS_OK;
}

enum scope { RUN, QUERY };

/* How an option is set, in the order of the table. */
static const struct {
	enum scope scope;
	enum status (*set)(const struct setting *s);
	size_t offset_bytes, nbytes; /* of its member */
} settings[] = {
#define OPTION(id, letter, name, argument, words, scope, set, member, help) \
	{scope, set_##set, offsetof(struct options, member), sizeof ((struct options *)0)->member},
#include "query/options.def"
};

/* Whether an option is given, and not as what it is by default. */
static bool is_given(const struct options *o, size_t row)
{
	const char *member = (const char *)o + settings[row - NOPERATIONS].offset_bytes;

	for (size_t i = 0; i < settings[row - NOPERATIONS].nbytes; i++)
		if (member[i])
			return true;
	return false;
}

/* ---- arguments of operations, beside their columns ---- */

/* Returns the last colon that has a column before it: not that of a position, as in "a,:3", nor one in
 * quotes. NULL if the argument has no such colon. */
static const char *find_suffix(const char *argument)
{
	const char *colon = strrchr(argument, ':');

	if (!colon || colon == argument || colon[-1] == ',' || strchr(colon, ',') || strchr(colon, '"'))
		return NULL;
	return colon;
}

/* Reads the weight of --ewma. */
static bool read_weight(struct operation_use *use, const char *text)
{
	return ewma_weight_parse(text, strlen(text), use->weight);
}

/* Reads DIGITS or DIGITS.DIGITS. Returns false where it is neither, or beyond 100 or PERCENTILE_NPLACES. */
static bool parse_percentile(const char *text, size_t nbytes, struct percentile *out)
{
	struct decimal_syntax s;
	struct decimal x;

	for (size_t i = 0; i < nbytes; i++)
		if (!decimal_is_digit(text[i]) && text[i] != '.')
			return false;
	if (nbytes == 0 || text[0] == '.' || text[nbytes - 1] == '.' ||
	    !decimal_tokenize(text, nbytes, &s) || s.nfraction > PERCENTILE_NPLACES ||
	    decimal_parse(text, nbytes, &x) != DECIMAL_NUMBER)
		return false;
	*out = (struct percentile){(uint64_t)x.significand, (int)s.nfraction};
	return out->numerator <= 100 * (uint64_t)decimal_shift(1, s.nfraction);
}

/* Reads a part below one half, as a percentile of the values. */
static bool read_fraction(struct operation_use *use, const char *text)
{
	struct percentile *p = &use->percentile;
	bool is = parse_percentile(text, strlen(text), p) && 2 * p->numerator < (uint64_t)decimal_shift(1, p->nplaces);

	p->numerator *= 100;
	return is;
}

/* Reads the width of a window by time as a duration, in seconds. */
static bool read_width(const char *text, struct decimal *width)
{
	static const struct number_notation notation = {.decimal = '.', .durations = true};
	char plain[WIDTH_NBYTES_MAX + NOTATION_ROOM];
	size_t nbytes = strlen(text);

	if (nbytes == 0 || nbytes > WIDTH_NBYTES_MAX ||
	    decimal_parse(text, nbytes, width) != DECIMAL_INVALID)
		return false;
	nbytes = notation_to_plain(&notation, text, nbytes, plain);
	return nbytes > 0 && decimal_parse(plain, nbytes, width) == DECIMAL_NUMBER &&
	       width->significand > 0 && width->scale <= DECIMAL_NDIGITS;
}

static bool read_nrows(struct operation_use *use, const char *text)
{
	return read_number(text, WINDOW_NROWS_MAX, &use->nrows) && use->nrows > 0;
}

static bool read_window(struct operation_use *use, const char *text)
{
	return read_nrows(use, text) || read_width(text, &use->width);
}

static bool read_bins(struct operation_use *use, const char *text)
{
	return decimal_parse(text, strlen(text), &use->width) == DECIMAL_NUMBER && use->width.significand > 0;
}

/* What stands after columns and a colon, by the form that the table gives the argument. */
static const struct suffix_form {
	const char *form;
	bool (*read)(struct operation_use *use, const char *text);
	const char *meaning, *example;
} suffix_forms[] = {
	{"COL:WIDTH", read_bins, "COL:WIDTH, WIDTH a number above 0 with up to 18 digits", "10"},
	{"COLS:A", read_weight, "COLS:A, A the weight of the new value: above 0, at most 1", "0.1"},
	{"COLS:F", read_fraction, "COLS:F, F the part of the values that is left out at each end: from 0 to below 0.5", "0.1"},
	{"COLS:N", read_window, "COLS:N, N a whole number above 0 or a duration", "10 or :1h30m"},
	{"[-]COLS:N", read_nrows, "COLS:N, N a whole number above 0", "4"},
	{"COLS[:N]", read_nrows, "COLS:N, N a whole number above 0", "1"},
};
static_assert(DECIMAL_NDIGITS == 18, "WIDTH is a decimal");

/* Reads the suffix of a form, and makes what stands before it the columns. Where it may be left out, a colon may be one of a name. */
static enum status read_suffix(struct operation_use *use, const struct suffix_form *f, struct fault *fault)
{
	const char *suffix = find_suffix(use->argument);
	size_t nbytes = suffix ? (size_t)(suffix - use->argument) : strlen(use->argument);

	if (f->form[4] == '[' && !(suffix && read_number(suffix + 1, WINDOW_NROWS_MAX, &use->nrows))) {
		use->nrows = 1;
		return STATUS_OK;
	}
	if (f->read == read_weight)
		NEED(use->weight = malloc(sizeof *use->weight));
	if (!suffix || !f->read(use, suffix + 1))
		return option_fault(fault, "--%s: '%.64s' is not %s, such as %.*s:%s", operation_name(use->operation), use->argument,
				    f->meaning, nbytes < 32 ? (int)nbytes : 32, use->argument, f->example);
	NEED(use->column = strndup(use->argument, nbytes));
	use->suffix = use->operation == OPERATION_HIST ? NULL : suffix;
	use->argument = use->column;
	return STATUS_OK;
}

/* Keeps a percentile's name, which has its number NN, as it was typed. */
static enum status read_percentile(struct operation_use *use, const char *typed, struct fault *fault)
{
	use->name = use->typed = strndup(typed, strcspn(typed, "="));
	NEED(use->typed);
	if (parse_percentile(use->name + 1, strlen(use->name + 1), &use->percentile))
		return STATUS_OK;
	return option_fault(fault, "--%.64s: percentiles are --p0 to --p100, such as --p99.9, with up to %d "
			    "places", use->name, PERCENTILE_NPLACES);
}

/* Reads what the use's operation takes beside columns, by the form that the table gives its argument, and leaves the columns in
 * use->argument. */
static enum status read_use(struct operation_use *use, const char *typed, struct fault *fault)
{
	const char *form = rows[use->operation].argument;

	use->is_descending = !strncmp(form, "[-]", 3) && *use->argument == '-';
	use->argument += use->is_descending;
	if (use->operation == OPERATION_PERCENTILE)
		return read_percentile(use, typed, fault);
	for (size_t i = 0; i < sizeof suffix_forms / sizeof *suffix_forms; i++)
		if (!strcmp(form, suffix_forms[i].form))
			return read_suffix(use, &suffix_forms[i], fault);
	return STATUS_OK;
}

/* ---- what is asked of the records ---- */

/* Whether both are of the same option. */
static bool is_same_option(const char *a, const char *b)
{
	size_t n = strcspn(a, "=");

	return n == strcspn(b, "=") && !strncmp(a, b, n);
}

/* The place of an option that is no operation, among the options that are no operations. */
static size_t find_place(struct asked *a, const char *text, bool adds)
{
	size_t i = a->noperations;

	while (i < a->n && strcmp(a->at[i], text) < 0 && (adds || !is_same_option(a->at[i], text)))
		i++;
	return i;
}

/* Adds an option of the query: "--name" or "--name=argument". One that is no operation takes the place of an earlier one of that
 * name, but --missing adds to it. */
static enum status add_asked(struct asked *a, size_t row, const char *typed, const char *argument)
{
	const char *name = row < NOPERATIONS ? typed : rows[row].name;
	bool is_operation = row < NOPERATIONS, adds = row == OPTION_MISSING;
	size_t place;
	char *text;

	if (!is_operation && settings[row - NOPERATIONS].scope != QUERY)
		return STATUS_OK;
	if (asprintf(&text, "--%.*s%s%s", (int)strcspn(name, "="), name, argument ? "=" : "", argument ? argument : "") < 0)
		return STATUS_NO_MEMORY;
	place = is_operation ? a->noperations : find_place(a, text, adds);
	if (!is_operation && !adds && place < a->n && is_same_option(a->at[place], text)) {
		free(a->at[place]);
		a->at[place] = text;
		return STATUS_OK;
	}
	if (!ARRAY_ADD(a->at, a->n)) {
		free(text);
		return STATUS_NO_MEMORY;
	}
	memmove(a->at + place + 1, a->at + place, (a->n++ - place) * sizeof *a->at);
	a->at[place] = text;
	a->noperations += is_operation;
	return STATUS_OK;
}

void asked_free(struct asked *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->at[i]);
	free(a->at);
	memset(a, 0, sizeof *a);
}

bool asked_equal(const struct asked *a, const struct asked *b)
{
	bool same = a->n == b->n;

	for (size_t i = 0; same && i < a->n; i++)
		same = !strcmp(a->at[i], b->at[i]);
	return same;
}

enum status asked_parse(const struct asked *a, struct options *o, struct fault *fault)
{
	char **argv = calloc(a->n + 2, sizeof *argv);
	enum status status;

	NEED(argv);
	argv[0] = (char *)"gpustat";
	for (size_t i = 0; i < a->n; i++)
		argv[i + 1] = a->at[i];
	status = options_parse(o, (int)a->n + 1, argv, fault);
	if (status == STATUS_OK && !asked_equal(a, &o->asked))
		status = fault_set(fault, STATUS_PART_DAMAGED, 0, NULL);
	free(argv);
	return status;
}

/* ---- the environment ---- */

/* Uses the instruction set that the environment names. */
static enum status choose_simd(struct fault *fault)
{
	const char *name = getenv(SIMD_VARIABLE);

	if (!name || !*name || simd_choose(name))
		return STATUS_OK;
	for (size_t i = 0; simd_all[i]; i++)
		if (!strcmp(simd_all[i]->name, name))
			return option_fault(fault, SIMD_VARIABLE ": this machine does not have '%.64s'", name);
	return option_fault(fault, SIMD_VARIABLE ": '%.64s' is no instruction set of this program",
			      name);
}

/* Reads a number of the environment, if the variable is there and not empty. */
static enum status read_variable(const char *variable, uint64_t least, uint64_t most, const char *words, uint64_t *number,
				 struct fault *fault)
{
	const char *text = getenv(variable);

	if (!text || !*text || (read_number(text, most, number) && *number >= least))
		return STATUS_OK;
	return option_fault(fault, "%s: '%.64s' is not a number %s", variable, text, words);
}

static enum status read_environment(struct options *o, struct fault *fault)
{
	uint64_t width, chunk_nbytes = 0;

	TRY(choose_simd(fault));
	if (o->picture.plots) /* the width of a plot, if standard output is no terminal; 0: it is not known */
		TRY(read_variable("COLUMNS", 0, UINT32_MAX, "of columns, such as 80", &width, fault));
	TRY(read_variable(CHUNK_VARIABLE, 1, 1ul << 30, "from 1 to 2^30", &chunk_nbytes, fault));
	o->chunk_nbytes = chunk_nbytes;
	return STATUS_OK;
}

/* ---- what goes together ---- */

enum new_column_kind operation_new_column(enum operation operation)
{
	return operations[operation].result.shows;
}

static const struct aggregate_name aggregates[] = {
	{"share", TYPE_NUMBER}, {"cumshare", TYPE_NUMBER}, /* of groups: FRACTION */
#define IS_AGGREGATE(kind, argument) \
	(OPERATION_##kind == OPERATION_TEXT || (OPERATION_##kind == OPERATION_REDUCE && sizeof argument == sizeof "COLS"))
#define OPERATION(id, kind, name, argument, title, needs, result, help) \
	{IS_AGGREGATE(kind, argument) ? title : "", OPERATION_##kind == OPERATION_TEXT || (needs) == MOMENT_ENDS ? TYPE_ANY : TYPE_NUMBER},
#include "query/options.def"
	{NULL, TYPE_ANY},
};

const struct aggregate_name *const result_names = aggregates, *const aggregate_names = aggregates + 2;

enum status operation_use_of(struct operation_use *use, const char *name, size_t nbytes, struct fault *fault)
{
	char typed[FAULT_DETAIL_NBYTES];
	enum operation operation = OPERATION_PERCENTILE;

	for (size_t o = 0; o < NOPERATIONS; o++)
		if (strlen(operations[o].title) == nbytes && !memcmp(operations[o].title, name, nbytes))
			operation = (enum operation)o;
	*use = (struct operation_use){.operation = operation, .name = rows[operation].name, .argument = ""};
	snprintf(typed, sizeof typed, "%.*s", (int)nbytes, name);
	return read_use(use, typed, fault);
}

/* Whether an expression of the options has an aggregate that records are printed, or chosen, with; of a list of columns, whether it may
 * have. */
static bool have_aggregates(const struct options *o)
{
	unsigned has = (o->where ? aggregates_in(o->where, aggregate_names, NULL) & AGGREGATES_ANY : 0u) |
		       (o->sorts ? aggregates_in(o->sort, aggregate_names, NULL) & AGGREGATES_WITH_COLUMN : 0u);

	for (const struct operation_use *use = o->uses; use < o->uses + o->nuses; use++)
		if (operation_kind(use->operation) == OPERATION_LET || use->operation == OPERATION_OFFSETS)
			has |= aggregates_in(use->argument, aggregate_names, NULL) & AGGREGATES_ANY;
		else if (operation_has_columns(use->operation))
			has |= aggregates_in(use->argument, aggregate_names, NULL) & AGGREGATES_COMPUTED;
	return has != 0;
}

bool operation_ranks(enum operation operation)
{
	return operation_is_new_column(operation) && new_column_has(operation_new_column(operation), NEW_RANKS);
}

bool operation_looks_ahead(enum operation operation)
{
	return operation == OPERATION_LEAD || operation_ranks(operation);
}

bool operation_is_new_column(enum operation operation)
{
	return operation_kind(operation) == OPERATION_RUNNING || operation_kind(operation) == OPERATION_OFFSET;
}

/* Whether an operation prints a result: no new column, and no column of the records. */
static bool prints_result(const struct operation_use *use)
{
	enum operation_kind kind = operation_kind(use->operation);

	return !operation_is_new_column(use->operation) && kind != OPERATION_FIELDS && kind != OPERATION_LET;
}

const char *options_choice_name(const struct options *o)
{
	return o->choice.head ? "head" : o->choice.tail ? "tail" : o->choice.sample ? "sample" : NULL;
}

/* Whether a byte can be part of a number, which is read without a look at quotes and escapes. */
static bool is_of_number(const struct options *o, char byte)
{
	return decimal_is_digit(byte) || (byte && strchr("+-.eE", byte)) ||
	       byte == o->notation.decimal || byte == *o->notation.thousands;
}

static bool is_line_end(char byte)
{
	return byte == '\r' || byte == '\n';
}

/* Checks that the bytes of the dialect can be told apart. */
static enum status check_dialect(struct options *o, struct fault *fault)
{
	const struct csv_dialect *d = &o->dialect;
	const struct {
		const char *name;
		char byte;
		bool in_fields;
	} bytes[] = {{"delimiter", d->delimiter, false}, {"quote", d->quote, true},
		     {"escape", d->escape, true}, {"comment", d->comment, false}};

	if (d->whitespace) {
		if (decimal_is_blank(d->comment))
			return option_fault(fault, "--comment: a blank separates fields");
		o->dialect.delimiter = ' ';
		o->dialect.quote = '\0';
		return STATUS_OK;
	}
	if (d->trim && d->delimiter == ' ')
		return option_fault(fault, "--trim: a blank separates fields: say --whitespace if a run of "
				    "blanks does");
	for (size_t i = 1; i < sizeof bytes / sizeof *bytes; i++) {
		if (bytes[i].byte == '\0')
			continue;
		if (d->trim && decimal_is_blank(bytes[i].byte))
			return option_fault(fault, "--%s: with --trim, a blank is no part of a field",
					    bytes[i].name);
		if (is_line_end(bytes[i].byte))
			return option_fault(fault, "--%s: a line end has a meaning already", bytes[i].name);
		if (bytes[i].in_fields && is_of_number(o, bytes[i].byte))
			return option_fault(fault, "--%s: '%c' can be part of a number", bytes[i].name,
					    bytes[i].byte);
		for (size_t j = 0; j < i; j++)
			if (bytes[i].byte == bytes[j].byte)
				return option_fault(fault, "--%s and --%s are the same byte",
						    bytes[j].name, bytes[i].name);
	}
	return STATUS_OK;
}

/* Checks that numbers can be written in the notation, and in the dialect. */
static enum status check_notation(struct options *o, struct fault *fault)
{
	const struct csv_dialect *d = &o->dialect;

	if (notation_fault(&o->notation))
		return option_fault(fault, "%s", notation_fault(&o->notation));
	if (o->notation.decimal == d->delimiter && !d->quote && !d->escape && !d->whitespace)
		return option_fault(fault, "the delimiter '%c' is the decimal point as well, and with --quote none "
				    "no field can hold it: another --decimal, or a --quote", d->delimiter);
	if (o->split_number && (o->notation.decimal == ',' || !strcmp(o->notation.thousands, ","))) {
		const char *number = o->split_number + strspn(o->split_number, " \t");
		size_t whole = strcspn(number, ","), nbytes = whole + 1 + strcspn(number + whole + 1, ",");
		int shown = nbytes < 32 ? (int)nbytes : 32;
		return option_fault(fault, "--missing: '%.*s' is one number with --%s , (write '\"%.*s\"', or a blank after the comma for "
				    "two)", shown, number, o->notation.decimal == ',' ? "decimal" : "thousands", shown, number);
	}
	return STATUS_OK;
}

/* Checks that a number is not cut by the delimiter where a new column prints or compares it as a field. */
static enum status check_unquoted(struct options *o, struct fault *fault)
{
	char d = o->dialect.delimiter;
	bool writes = false;

	for (size_t i = 0; i < o->nuses; i++)
		writes |= operation_kind(o->uses[i].operation) == OPERATION_LET || operation_is_new_column(o->uses[i].operation);
	if (writes && !o->dialect.quote && (d == '-' || d == o->notation.decimal || decimal_is_digit(d)))
		return option_fault(fault, "--quote none: the numbers of a new column can hold the "
				    "delimiter '%c': nothing can quote them", d);
	return STATUS_OK;
}

/* Checks that what is printed has a delimiter, which makes it CSV. */
static enum status check_style(struct options *o, struct fault *fault)
{
	if (o->style.delimiter && o->style.format != FORMAT_AUTO && o->style.format != FORMAT_CSV)
		return option_fault(fault, "--output-delimiter is for CSV: leave out --format, or say --format csv");
	if (o->style.delimiter)
		o->style.format = FORMAT_CSV;
	return STATUS_OK;
}

/* Checks that printed numbers can be told from one another, and read by JSON's readers. */
static enum status check_numbers(struct options *o, struct fault *fault)
{
	const struct number_style *s = &o->style.numbers;
	const char *name = *s->group ? "group-digits" : s->units ? "human" : s->point ? "output-decimal" : NULL;
	const char point = s->point ? s->point : o->emits ? o->notation.decimal : '.';

	if (name && (o->style.format == FORMAT_JSON || o->style.format == FORMAT_NDJSON))
		return option_fault(fault, "--%s: JSON has numbers of one notation: leave it out, or --format csv or table", name);
	if (strpbrk(s->group, "+-0123456789\n\r\"") || (s->point && strchr("+-0123456789\n\r\"", s->point)))
		return option_fault(fault, "--%s: a digit, a sign, a quote or a line end has a meaning already", strpbrk(s->group, "+-0123456789\n\r\"")
				    ? "group-digits" : "output-decimal");
	if (s->group[0] == point && !s->group[1])
		return option_fault(fault, "--group-digits: '%c' is the decimal point: say --output-decimal %c as well, or take another", point,
				    point == ',' ? '.' : ',');
	return STATUS_OK;
}

/* Checks that all headers can be read before the first record is, and then all of the files. */
static enum status check_union(struct options *o, struct fault *fault)
{
	struct stat st;

	if (o->unites && o->header == HEADER_NO)
		return option_fault(fault, "--union joins columns by name, and -N says that there are no names");
	for (int i = 0; o->unites && o->npaths > 1 && i < o->npaths; i++)
		if (!strcmp(o->paths[i], "-") || (stat(o->paths[i], &st) == 0 && S_ISFIFO(st.st_mode)))
			return option_fault(fault, "--union reads the headers of all files first, and '%.64s' can be read once: save it in a file",
					    o->paths[i]);
	return STATUS_OK;
}

static enum status check_one_path(struct options *o, struct fault *fault)
{
	return o->part.of && o->npaths != 1 ? option_fault(fault, "--part is of one file, and here are %d", o->npaths) : STATUS_OK;
}

/* What a command line says. Each has a name, which is that of an option. */
enum fact {
	NOTHING,
#define OPTION(id, ...) id,
#include "query/options.def"
	/* operations, without --let; where there are several, the first is named, of RESULT, RECORDS and WINDOW the last */
	USE,      /* any, even --let */
	FIRST, SECOND,
	RESULT, RECORDS, /* prints one, prints them: RECORDS for other options, too */
	SELECT, DROP, LEAD,
	WINDOW, TIMED, AHEAD,   /* looks back; by time; looks at later records */
	TOTAL, NEW, OFFSET,     /* goes on from record to record; a new column; of positions in one input */
	MATRIX, SKEW_MATRIX, TABLE, BESIDE_TABLE, ALONE, /* the first matrix is one of x:y that is not y:x; ALONE: MATRIX or TABLE */
	/* the others */
	EMITS,       /* records are printed */
	SHARE_OF, /* of groups */
	SORTED, ORDERED, /* records are sorted; these, or groups */
	GROUPED,     /* groups mean something for a record: NEW, or an expression may have an aggregate */
	PRINTED_NEW, /* they have new columns, or those of --let */
	ALLOW, EMPTY_STATE, STDOUT_STATE, EMPTY_SVG, STDOUT_SVG, BAD_DELIMITER, /* arguments of --ragged, --save-state ... */
	DRAWN, NOT_DRAWN, COPIED, /* a picture shows: something; what it cannot, records and copies of fields */
	NFACTS
};

/* A rule is broken where one of `first` holds and, unless it is empty, another one of `second`, and `also` does and `lacks` does
 * not, where they are named. Of several the one is named that the list has first. */
struct rule {
	uint8_t first[6], second[8];
	const char *message; /* @, & and # stand for the names of first, second and also */
	uint8_t also, lacks;
	enum status (*check)(struct options *o, struct fault *fault); /* or what says it better */
};

#define CHOICE HEAD, TAIL, SAMPLE
#define RULE(...) {__VA_ARGS__, .check = NULL}

static const struct rule rules_of_reading[] = {
	{.check = check_notation},
	RULE({BAD_DELIMITER}, {NOTHING}, "--delimiter: a quote or a line end cannot separate fields"),
	RULE({WHITESPACE}, {DELIMITER, QUOTE, ESCAPE, TRIM}, "--whitespace: fields end at blanks and nothing quotes them: --& has no "
	 "meaning then"),
	{.check = check_dialect},
	{.check = check_union},
	RULE({COLUMNS}, {EXPLAIN}, "--columns prints names, --explain what would be done: not both"),
	RULE({COLUMNS}, {PLOT, SVG}, "--columns prints names: there is nothing for --& to draw"),
	RULE({COLUMNS}, {USE, WHERE, BY, FORMAT, OUTPUT_DELIMITER, TRANSPOSE}, "--columns prints names, a line each: no operation and no --format goes with it"),
	RULE({COLUMNS}, {ONLY, ALL, CHOICE, SEED, RENAME}, "--columns prints the names in the input, a line each: leave out --&"),
	{.message = NULL},
};

/* Not with --merge, whose query is that of the parts. */
static const struct rule rules_of_query[] = {
	RULE({LEAD}, {PLOT, SVG}, "--& draws numbers: --lead prints fields as they are"),
	RULE({EXCLUSIVE}, {AHEAD}, "--exclusive is for running totals: --& looks at later records"),
	RULE({SAVE_STATE, FROM_STATE}, {AHEAD}, "--@: --& needs records that are yet to come: leave it out"),
	RULE({TAIL, SAMPLE}, {LEAD}, "--@ with --lead: records wait for later ones: pipe what --lead prints to a second gpustat"),
	RULE({HEAD}, {SORT}, "--@ of groups prints records as they come: --by COLS --sort KEYS --top N prints the first N of each, sorted",
	     .also = BY),
	RULE({HEAD}, {LEAD}, "--@ of groups with --lead: records wait for later ones: pipe what --lead prints to a second gpustat",
	     .also = BY),
	RULE({SORT, TOP}, {RESULT}, "--@ is for groups and records: there is no --by, and --& prints one result", .lacks = BY),
	RULE({UNIQUE}, {RESULT}, "--unique is for printed records, and --& prints a result"),
	RULE({UNIQUE}, {TOP}, "--unique prints the first record of each value, --by COLS --sort KEYS --top N the first N: not both", .also = BY),
	RULE({TOP}, {NOTHING}, "--top is for groups, or for records with --sort: there is neither", .lacks = ORDERED),
	RULE({SORTED}, {CHOICE}, "--& chooses records as they come: --top N prints the first N of those that --@ prints"),
	RULE({SORTED}, {LEAD}, "--@ with --lead: records wait for later ones: pipe what --lead prints to a second gpustat"),
	RULE({PIVOT, TRANSPOSE}, {EMITS}, "--@ is for results: --& prints records"),
	RULE({PIVOT}, {TOP}, "--pivot with --top: cells of the groups left out would look like those that are missing: choose groups by --having"),
	RULE({HAVING}, {NOTHING}, "--having is for groups: there is no --by: --where chooses records", .lacks = BY),
	RULE({SHARE_OF}, {NOTHING}, "--@ is for groups: there is no --by", .lacks = BY),
	RULE({HAVING}, {EMITS}, "--having is for results: --& prints records: --where chooses them by their group as well"),
	RULE({RUNS}, {PIVOT}, "--runs: --& makes columns of groups, and runs of one value are several: leave it out"),
	RULE({RUNS}, {AHEAD}, "--runs: --& looks at later records, of which runs are not known yet: --by, or leave it out"),
	RULE({BY}, {ALL}, "--all is for the summary: --by asks for something else"),
	RULE({BY}, {ALONE}, "--& prints a table of its own: it cannot go with --by"),
	RULE({SKEW_MATRIX}, {NOTHING}, "--@: '*' is not a pair of columns: x:y"),
	RULE({MATRIX}, {SECOND}, "--@ '*' prints a matrix: no other result fits beside it"),
	RULE({TABLE}, {BESIDE_TABLE}, "--@ prints a table of its own: it cannot go with --&"),
	RULE({HEAD, TAIL}, {TAIL, SAMPLE}, "--@ and --& both choose records: give one of them, and pipe what it prints to the other"),
	RULE({SEED}, {NOTHING}, "--seed is for --sample: nothing is drawn here", .lacks = SAMPLE),
	RULE({CHOICE}, {RESULT}, "--@ is for printed records: --by prints groups, and --top N the first N of them", .also = BY),
	RULE({CHOICE}, {RESULT}, "--@ is for printed records, and --& prints a result: for a result of those records, "
	 "gpustat --@ N FILE | gpustat --& COLS"),
	RULE({SELECT}, {DROP}, "--select says which columns are printed, --drop which are not: not both"),
	RULE({ONLY}, {SELECT, DROP}, "--only: --& says already what is printed"),
	RULE({RESULT}, {RECORDS}, "--@ prints one value and --& prints every record: not both"),
	RULE({ALL}, {RESULT, EMITS}, "--all is for the summary: --& asks for something else"),
	RULE({ONLY}, {NOTHING}, "--only: there is no new column to print", .lacks = PRINTED_NEW),
	RULE({OVER}, {NOTHING}, "--over has the times of windows by time: there is none, such as "
	 "--rolling-sum COLS:7d", .lacks = TIMED),
	RULE({EXCLUSIVE}, {WINDOW}, "--exclusive is for running totals: --& says itself which records it looks back on"),
	RULE({EXCLUSIVE}, {NOTHING}, "--exclusive: there is no running total", .lacks = TOTAL),
	RULE({MAX_INVALID}, {NOTHING}, "--max-invalid: nothing is left out without --invalid skip", .lacks = INVALID),
	RULE({SORT, TOP}, {EMITS}, "--@ is for results: --& prints records as they came", .lacks = SORTED),
	RULE({BY}, {EMITS}, "--by is for results and running columns: --& prints records as they came: leave out --by", .lacks = GROUPED),
	RULE({OUTPUT_DELIMITER, FORMAT}, {PLOT, SVG}, "--&: the records are drawn, and not printed: leave out --@", .also = EMITS),
	RULE({WHITESPACE}, {EMITS}, "--whitespace: a field that a record lacks cannot be printed between blanks: --ragged allow is for "
	 "results then, not for --&", .also = ALLOW),
	{.check = check_unquoted},
	{.message = NULL},
};

static const struct rule rules_of_parts[] = {
	RULE({EMPTY_STATE}, {NOTHING}, "--save-state: '' is no file"),
	RULE({STDOUT_STATE}, {NOTHING}, "--save-state: '-' is standard output, which has the results: name a file, or ./- for one of that "
	 "name"),
	RULE({SAVE_STATE, FROM_STATE}, {PARTIAL, MERGE}, "--@: --& keeps all that a state would"),
	RULE({SAVE_STATE, FROM_STATE}, {COLUMNS, EXPLAIN}, "--@: --& prints no result"),
	RULE({SAVE_STATE, FROM_STATE}, {HEAD}, "--@: with --head, not all records are read: leave it out"),
	RULE({SAVE_STATE, FROM_STATE}, {SORTED}, "--@: --& needs all records: leave it out"),
	RULE({SAVE_STATE, FROM_STATE}, {OFFSET}, "--@: --& counts in one input: leave it out"),
	RULE({SAVE_STATE, FROM_STATE}, {EMITS}, "--@: there is no running total, and no result", .lacks = TOTAL),
	RULE({RUNS}, {PARTIAL, SAVE_STATE, FROM_STATE}, "--runs: a run may go on where --& ends: give gpustat all of the input at once"),
	RULE({COLUMNS, EXPLAIN}, {PARTIAL, MERGE}, "--@: --& prints no result"),
	RULE({CHOICE, SEED}, {MERGE}, "--@ is for printed records, and --merge prints results: leave it out"),
	RULE({PART}, {NOTHING}, "--part: a part of a file is written with --partial", .lacks = PARTIAL),
	{.check = check_one_path},
	RULE({PARTIAL}, {EMITS}, "--partial is for results: records are printed as they came"),
	RULE({OUTPUT_DELIMITER, FORMAT, SORT, TOP, PLOT, SVG}, {PARTIAL}, "--@ is for what is printed: give it to --merge"),
	RULE({TRANSPOSE, DIGITS, GROUP_DIGITS, HUMAN, OUTPUT_DECIMAL, RENAME}, {PARTIAL}, "--@ is for what is printed: give it to --merge"),
	RULE({ROUND}, {NOTHING}, "--round says how --digits N rounds: give both", .lacks = DIGITS),
	RULE({DIGITS, GROUP_DIGITS, HUMAN, OUTPUT_DECIMAL}, {EMITS}, "--@ is for results and new columns: --& prints records as they came: "
	 "--let 'y = round(x, 2)' rounds a column", .lacks = PRINTED_NEW),
	{.check = check_style},
	{.check = check_numbers},
	{.message = NULL},
};

static const struct rule rules_of_pictures[] = {
	RULE({PLOT, SVG}, {PIVOT, TRANSPOSE}, "--@ draws results as they are: leave out --&"),
	RULE({PLOT, SVG}, {GROUP_DIGITS, HUMAN, OUTPUT_DECIMAL}, "--@ draws numbers as they are: leave out --&"),
	RULE({EMPTY_SVG}, {NOTHING}, "--svg: '' is no file"),
	RULE({STDOUT_SVG}, {PLOT, FORMAT}, "--svg -: --& is for standard output as well"),
	RULE({PLOT, SVG}, {NOT_DRAWN}, "--@ draws groups, a histogram or one running column: --& prints records"),
	RULE({PLOT, SVG}, {COPIED}, "--@ draws numbers: --& prints fields as they are"),
	RULE({PLOT, SVG}, {FIRST}, "--@ draws one running column: not --& and --#", .also = SECOND, .lacks = RESULT),
	RULE({PLOT, SVG}, {BY}, "--@ draws one line, not one for each group: leave out --by", .also = EMITS),
	RULE({PLOT, SVG}, {FIRST}, "--@ draws groups, a histogram or one running column: there is no --by beside --&", .lacks = DRAWN),
	RULE({PLOT, SVG}, {NOTHING}, "--@ draws groups, a histogram or one running column: there is none of them", .lacks = DRAWN),
	{.message = NULL},
};

static void note_use(const char *is[NFACTS], const struct operation_use *use)
{
	enum operation operation = use->operation;
	enum operation_kind kind = operation_kind(operation);
	bool is_new = operation_is_new_column(operation), is_matrix = operation_use_is_matrix(use);
	const struct {
		enum fact fact;
		bool holds;
	} notes[] = {
		{is[FIRST] ? SECOND : FIRST, true}, {NEW, is_new},
		{SELECT, operation == OPERATION_SELECT}, {DROP, operation == OPERATION_DROP},
		{LEAD, operation == OPERATION_LEAD}, {AHEAD, operation_looks_ahead(operation)},
		{TOTAL, kind == OPERATION_RUNNING || operation == OPERATION_ROW_NUMBER},
		{OFFSET, kind == OPERATION_OFFSET && operation != OPERATION_ROW_NUMBER},
		{SKEW_MATRIX, is_matrix && !operations[operation].result.is_symmetric && !is[MATRIX]}, {MATRIX, is_matrix},
		{SHARE_OF, kind == OPERATION_FRACTION}, {TABLE, kind == OPERATION_TABLE}, {ALONE, kind == OPERATION_TABLE || is_matrix},
	};

	for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
		if (notes[i].holds && !is[notes[i].fact])
			is[notes[i].fact] = use->name;
	is[is_new || kind == OPERATION_FIELDS ? RECORDS : RESULT] = use->name;
	if (is_new && new_column_has(operation_new_column(operation), NEW_LOOKS_BACK))
		is[WINDOW] = use->name;
	if (operation_use_is_timed(use))
		is[TIMED] = use->name;
}

static void find_facts(const struct options *o, const char *is[NFACTS])
{
	const struct operation_use *first = NULL;
	const char *let = NULL, *svg = o->picture.svg ? o->picture.svg : "none", *state = o->save_state ? o->save_state : "none";

	for (size_t row = NOPERATIONS; row < NIDS; row++)
		is[row - NOPERATIONS + NOTHING + 1] = is_given(o, row) ? rows[row].name : NULL;
	is[BY] = is[RUNS] ? is[RUNS] : is[BY];
	for (size_t i = 0; i < o->nuses; i++) {
		is[USE] = o->uses[i].name;
		if (o->uses[i].operation == OPERATION_LET_COLUMN) {
			let = "let";
			continue;
		}
		first = first ? first : &o->uses[i];
		note_use(is, &o->uses[i]);
	}
	is[BESIDE_TABLE] = is[TABLE] && is[FIRST] == is[TABLE] ? is[SECOND] : is[FIRST];
	if (!is[RESULT] && !is[RECORDS])
		is[RECORDS] = o->sorts ? is[SORT] : is[UNIQUE] ? is[UNIQUE] : let ? let : is[RENAME] ? is[RENAME] : options_choice_name(o);
	is[PRINTED_NEW] = is[RECORDS] && !is[NEW] ? let : is[NEW];
	is[SORTED] = o->sorts ? is[SORT] : is[UNIQUE];
	is[ORDERED] = is[BY] ? is[BY] : is[SORTED];
	is[GROUPED] = is[NEW] ? is[NEW] : o->aggregates ? "let" : options_choice_name(o) ? options_choice_name(o) : o->sorts ? is[TOP] : NULL;
	if (!o->merge)
		is[EMITS] = is[RECORDS] ? is[RECORDS] : is[RESULT] ? NULL : is[WHERE];
	if (is_line_end(o->dialect.delimiter) || o->dialect.delimiter == o->dialect.quote)
		is[BAD_DELIMITER] = "delimiter";
	is[ALLOW] = o->ragged == RAGGED_ALLOW ? "ragged" : NULL;
	is[EMPTY_STATE] = *state ? NULL : "save-state";
	is[STDOUT_STATE] = strcmp(state, "-") ? NULL : "save-state";
	is[EMPTY_SVG] = *svg ? NULL : "svg";
	is[STDOUT_SVG] = strcmp(svg, PICTURE_STDOUT) ? NULL : "svg";
	is[DRAWN] = is[EMITS] ? is[EMITS] : is[BY] ? is[BY] : first && first->name == is[TABLE] ? is[TABLE] : NULL;
	if (is[EMITS] && (!first || operation_kind(first->operation) != OPERATION_RUNNING))
		is[NOT_DRAWN] = first ? first->name : is[WHERE] ? is[WHERE] : "let";
	if (first && operation_is_new_column(first->operation) && new_column_has(operation_new_column(first->operation), NEW_COPIES))
		is[COPIED] = first->name;
}

/* Returns the first of a list that holds, and is not `but`, or NOTHING. */
static uint8_t find_fact(const uint8_t *list, size_t n, const char *const is[NFACTS], uint8_t but)
{
	for (size_t i = 0; i < n && list[i] != NOTHING; i++)
		if (is[list[i]] && list[i] != but)
			return list[i];
	return NOTHING;
}

static enum status fail_rule(const struct rule *r, const char *first, const char *second, const char *also, struct fault *fault)
{
	char text[2 * FAULT_DETAIL_NBYTES];
	size_t n = 0;

	for (const char *p = r->message; *p; p++) {
		const char *name = *p == '@' ? first : *p == '&' ? second : *p == '#' ? also : NULL;
		n += (size_t)snprintf(text + n, sizeof text - n, "%.*s", name ? 64 : 1, name ? name : p);
	}
	return option_fault(fault, "%s", text);
}

static enum status check_rules(const struct rule *r, struct options *o, const char *const is[NFACTS], struct fault *fault)
{
	for (; r->check || r->message; r++) {
		uint8_t first = find_fact(r->first, sizeof r->first, is, NOTHING);
		uint8_t second = find_fact(r->second, sizeof r->second, is, first);
		if (r->check)
			TRY(r->check(o, fault));
		else if (first && (second || !r->second[0]) && (!r->also || is[r->also]) && !is[r->lacks])
			return fail_rule(r, is[first], is[second], is[r->also], fault);
	}
	return STATUS_OK;
}

static enum status add_use(struct options *o, enum operation operation, const char *title, const char *argument)
{
	return ARRAY_PUSH(o->uses, o->nuses, (struct operation_use){.operation = operation, .name = rows[operation].name,
								    .title = title, .argument = argument});
}

enum status options_check(struct options *o, struct fault *fault)
{
	const char *is[NFACTS] = {NULL};
	bool has_result = o->having || o->pivot, has_new = false, has_fields = false;

	o->header = o->unites && o->header == HEADER_AUTO ? HEADER_YES : o->header;
	if (o->runs && o->by && o->by != o->runs)
		return option_fault(fault, "--by and --runs: gpustat --sort KEYS FILE | gpustat --runs KEYS,%.64s has the runs of each group",
				    o->runs);
	o->by = o->runs ? o->runs : o->pivot && !o->by ? o->pivot : o->by;
	for (size_t i = 0; i < o->nuses; i++) {
		has_result |= prints_result(&o->uses[i]);
		has_new |= operation_is_new_column(o->uses[i].operation);
		has_fields |= operation_kind(o->uses[i].operation) == OPERATION_FIELDS;
	}
	if (!o->is_settled) {
		o->sorts = o->sort && !o->merge && !has_result;
		o->aggregates = !o->merge && have_aggregates(o);
		o->is_open = o->by && !o->merge && !has_result && !has_new && !o->unique &&
			     ((o->sorts && !has_fields) || o->aggregates);
	}
	find_facts(o, is);
	if (o->by && !is[FIRST] && !o->merge && !o->is_open && !o->sorts && !o->unique && !options_choice_name(o) &&
	    (!o->aggregates || o->having)) {
		TRY(add_use(o, OPERATION_COUNT_RECORDS, "count", NULL)); /* without a result, groups are counted */
		memset(is, 0, sizeof is);
		find_facts(o, is);
	}
	o->emits = is[EMITS] && !o->is_open;
	o->starts_anew = is[NEW] != NULL;
	o->selects = is[SELECT] || is[DROP];
	TRY(check_rules(rules_of_reading, o, is, fault));
	if (o->is_open)
		return STATUS_OK;
	if (!o->merge)
		TRY(check_rules(rules_of_query, o, is, fault));
	TRY(check_rules(rules_of_parts, o, is, fault));
	return o->merge ? STATUS_OK : check_rules(rules_of_pictures, o, is, fault);
}

enum status options_settle(struct options *o, bool sorts, bool aggregates, struct fault *fault)
{
	o->is_open = false;
	o->is_settled = true;
	o->sorts = sorts;
	o->aggregates = aggregates;
	return options_check(o, fault);
}

/* ---- parsing ---- */

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
	struct operation_use *use;
	const char *name = rows[row].name;

	TRY(add_asked(&o->asked, row, typed, argument));
	if (row < NOPERATIONS) {
		TRY(add_use(o, (enum operation)row, NULL, argument));
		use = &o->uses[o->nuses - 1];
		TRY(read_use(use, typed, fault));
		name = use->name;
	}
	note_file(o, name, rows[row].argument, argument);
	if (row < NOPERATIONS)
		return STATUS_OK;
	return settings[row - NOPERATIONS].set(&(struct setting){
		o, &rows[row], (char *)o + settings[row - NOPERATIONS].offset_bytes, argument, fault});
}

enum status options_parse(struct options *o, int argc, char **argv, struct fault *fault)
{
	static const char *standard_input[] = {"-"};
	int npaths;

	memset(o, 0, sizeof *o);
	o->dialect.delimiter = ',';
	o->dialect.quote = '"';
	o->notation.decimal = '.';
	o->device_number = -1;
	TRY(option_parse(&options_table, argc, argv, o, &o->about, &npaths, fault));
	o->is_default_input = npaths == 0;
	o->npaths = npaths ? npaths : 1;
	o->paths = npaths ? (const char **)argv + 1 : standard_input;
	TRY(read_environment(o, fault));
	return options_check(o, fault);
}

void options_free(struct options *o)
{
	asked_free(&o->asked);
	option_free_items(o->missing, o->nmissing);
	for (size_t i = 0; i < o->nrenames; i++)
		free(o->renames[i].old);
	free(o->renames);
	for (size_t i = 0; i < o->nuses; i++) {
		free(o->uses[i].column);
		free(o->uses[i].weight);
		free(o->uses[i].typed);
	}
	free(o->uses);
}

/* ---- --help and --version ---- */

/* The lines of --help in the order of options.def: a group's title and example, or a row. */
static const struct help_line {
	const char *title, *example; /* NULL: a row */
	size_t row;
} lines[] = {
#define GROUP(title, example) {title, example, 0},
#define OPERATION(id, ...) {NULL, NULL, OPERATION_##id},
#define OPTION(id, ...) {NULL, NULL, OPTION_##id},
#include "query/options.def"
};

/* The rows of -h. */
static const size_t brief[] = {
	OPERATION_SUM, OPERATION_MEAN, OPERATION_MIN, OPERATION_MAX, OPERATION_COUNT, OPERATION_STDDEV, OPERATION_PERCENTILE,
	OPERATION_COUNT_DISTINCT, OPERATION_RUNNING_SUM, OPTION_WHERE, OPTION_BY, OPTION_DELIMITER, OPTION_HEADER, OPTION_INVALID,
	OPTION_FORMAT,
};

static void print_row(size_t row)
{
	option_print_row(&rows[row], HELP_NAMES_WIDTH);
	putchar('\n');
}

static void print_help(void)
{
	printf("Usage: gpustat [OPTION]... [FILE]...\n"
	       "Exact results, running totals and filters of columns of CSV. With no FILE, or\n"
	       "when FILE is -, read standard input; compressed files are recognised. With no\n"
	       "operation, summarise every column.\n");
	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
		if (lines[i].title)
			printf("\n%s\n  $ %s\n", lines[i].title, lines[i].example);
		else
			print_row(lines[i].row);
	printf("\nAbout the program\n");
	for (size_t row = NIDS; row < NROWS; row++)
		print_row(row);
	printf("\nCOLS is a comma-separated list of header names, numbers (3), colN, :N, ranges\n"
	       "(2-4, 2-, -4), or * for every numeric column; \"a,b\" quotes a name. An item may\n"
	       "be EXPR, or NAME=EXPR: --sum 'price * qty'.\n"
	       "PAIRS is a list of two columns each, with a colon between: x:y,2:3.\n"
	       "EXPR: status >= 500 and not (method = \"GET\" or seconds is missing)\n"
	       "      its functions: gpustat --help expr\n"
	       "\nExit status: 0 done, 1 bad data or failed input or output, 2 usage error.\n"
	       "Not the GPU monitor of the same name. Full manual: man gpustat\n");
}

static void print_brief_help(void)
{
	printf("Usage: gpustat [OPTION]... [FILE]...\n"
	       "Exact results, running totals and filters of columns of CSV.\n"
	       "  $ gpustat log.csv\n"
	       "  $ gpustat --sum bytes --p99 seconds --by host log.csv.gz\n"
	       "  $ gpustat --where 'status >= 500' log.csv > errors.csv\n"
	       "\n");
	for (size_t i = 0; i < sizeof brief / sizeof *brief; i++)
		print_row(brief[i]);
	printf("\nCOLS is a list of names or numbers: bytes,3. All options: gpustat --help\n"
	       "Manual: man gpustat\n");
}

/* The functions of expressions. */
static void print_expr_help(void)
{
	static const struct {
		const char *help;
		bool is_title;
	} functions[] = {
#define FUNCTION(id, name, arguments, type, work, lane, help) {help, false},
#define COMPILED_FUNCTION(name, arguments, parse, code, help) {help, false},
#define GROUP(title) {title, true},
#include "lang/functions.def"
#undef FUNCTION
	};

	printf("EXPR is a condition (--where, --having, --offsets) or a value (--let, COLS...):\n"
	       "  + - * / %%   = != < <= > >=   and or not   ( )   \"text\"   `any name`   :N\n"
	       "  a is missing   a is number   a in (1, 2)   a between 1 and 5   a like \"x%%\"\n"
	       "  a contains \"x\"   a starts with \"x\"   a ends with \"x\"   a ~ \"regex\"\n"
	       "  case when a > 1 then x else y end   case a when 1 then x end   \"a\" || \"b\"\n");
	for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
		const char *help = functions[i].help, *colon = strstr(help, ": ");
		if (functions[i].is_title)
			printf("\n%s\n", help);
		else
			printf("  %-28.*s %s\n", (int)(colon - help), help, colon + 2);
	}
	printf("\nThe manual has an example of each: man gpustat, EXPRESSIONS\n");
}

static void print_library(const char *name, const char *version)
{
	printf("%s %s\n", name, version ? version : "not built in");
}

static void print_libraries(void)
{
	for (const struct codec *const *c = codecs; *c; c++)
		print_library((*c)->library, (*c)->version ? (*c)->version() : NULL);
	print_library("PCRE2", pattern_library());
}

const struct option_table options_table = {
	.program = "gpustat",
	.operands = "",
	.rows = rows, .nrows = NROWS,
	.synonyms = remedy_words,
	.handle = handle,
	.print_help = print_help,
	.print_brief_help = print_brief_help,
	.expr_words = ""
#define FUNCTION(id, name, arguments, type, work, lane, help) name ", "
#define COMPILED_FUNCTION(name, arguments, parse, code, help) name ", "
#include "lang/functions.def"
#undef FUNCTION
		"missing, case, when, then, else, end",
	.topic = "expr", .print_topic = print_expr_help,
	.print_libraries = print_libraries,
};
