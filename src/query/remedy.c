/* SPDX-License-Identifier: MIT
 *
 * remedy.c - see remedy.h.
 */
#include "query/remedy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "csv/record.h"
#include "number/decimal.h"
#include "query/options.h"
#include "query/value.h"

/* What programs write where there is no value, in any case. */
static const char *const no_values[] = {
	"na",    "n/a",   "n.a.",  "n.a",   "nan",    "-nan", "+nan",    "nat",     "null", "none", "nil",
	"-",     "--",    "---",   "?",     ".",      "..",   "...",     "\\n",     "<na>", "<null>",
	"(null)", "#na",  "#n/a",  "#ref!", "#num!",  "#null!", "#name?", "#value!", "#div/0!",
};

bool remedy_is_no_value(const char *text, size_t nbytes)
{
	for (size_t i = 0; i < sizeof no_values / sizeof *no_values; i++)
		if (nbytes > 0 && (no_values[i][0] | 0x20) == (*text | 0x20) && strlen(no_values[i]) == nbytes &&
		    !strncasecmp(no_values[i], text, nbytes))
			return true;
	return false;
}

static const struct {
	char delimiter;
	const char *option;
} delimiters[] = {{';', "-d ';'"}, {'\t', "-d '\\t'"}, {'|', "-d '|'"}};
#define NDELIMITERS (sizeof delimiters / sizeof *delimiters)

/* How often a byte stands in a text, outside of double quotes. */
static size_t count_outside(const char *text, size_t nbytes, char byte)
{
	bool inside = false;
	size_t n = 0;

	for (size_t i = 0; i < nbytes; i++) {
		inside ^= text[i] == '"';
		n += !inside && text[i] == byte;
	}
	return n;
}

char remedy_delimiter(struct line_text first, const struct line_text *second)
{
	size_t most = 0;
	char found = '\0';

	for (size_t d = 0; d < NDELIMITERS; d++) {
		size_t n = count_outside(first.text, first.nbytes, delimiters[d].delimiter);
		if (n <= most || (second && count_outside(second->text, second->nbytes, delimiters[d].delimiter) != n))
			continue;
		found = delimiters[d].delimiter;
		most = n;
	}
	return found;
}

/* The number of words between blanks. */
static size_t count_words(struct line_text line)
{
	size_t n = 0;

	for (size_t i = 0; i < line.nbytes; i++)
		n += !decimal_is_blank(line.text[i]) && (i == 0 || decimal_is_blank(line.text[i - 1]));
	return n;
}

/* Whether words are apart by more than a blank. */
static bool has_runs(struct line_text line)
{
	for (size_t i = 2; i < line.nbytes; i++)
		if (decimal_is_blank(line.text[i - 2]) && decimal_is_blank(line.text[i - 1]) && !decimal_is_blank(line.text[i]))
			return true;
	return false;
}

struct other_fields remedy_fields(struct line_text first, const struct line_text *second)
{
	struct other_fields of = {.delimiter = remedy_delimiter(first, second)};
	size_t nwords = count_words(first);

	if (of.delimiter)
		return of;
	if (nwords > 2 && memchr(first.text, '"', first.nbytes))
		of.blanks = "-d ' '";
	else if (second ? nwords > 1 && nwords == count_words(*second) : nwords > 2 || has_runs(first))
		of.blanks = "-W";
	else
		of.delimiter = remedy_delimiter(first, NULL);
	if (!of.delimiter && !of.blanks && second)
		of.delimiter = remedy_delimiter(*second, NULL);
	return of;
}

const char *remedy_delimiter_option(char delimiter)
{
	for (size_t d = 0; d < NDELIMITERS; d++)
		if (delimiters[d].delimiter == delimiter)
			return delimiters[d].option;
	return "-d";
}

void remedy_row_names(const struct csv_dialect *dialect, uint64_t line, const char *when, struct fault *fault)
{
	if (dialect->delimiter == '\t')
		snprintf(fault->remedy, sizeof fault->remedy, "sed '%" PRIu64 "s/^/row\\t/' %s", line, when);
	else if (strchr(",;|: ", dialect->delimiter))
		snprintf(fault->remedy, sizeof fault->remedy, "sed '%" PRIu64 "s/^/row%c/' %s", line,
			 dialect->delimiter, when);
}

/* ---- a line of units ---- */

/* Upper and lower case differ. */
static const char *const units[] = {
	"m", "mm", "cm", "km", "um", "nm", "in", "ft", "mi", "yd", "acre", "ha", "l", "L", "ml", "mL", "gal",
	"g", "mg", "ug", "kg", "t", "lb", "lbs", "oz", "mol", "mmol", "ppm", "ppb",
	"s", "ms", "us", "ns", "sec", "secs", "second", "seconds", "min", "mins", "minutes", "h", "hr", "hrs", "hours",
	"d", "day", "days", "yr", "yrs", "years", "Hz", "kHz", "MHz", "GHz", "rpm", "mph", "kph", "kn",
	"V", "mV", "kV", "A", "mA", "W", "mW", "kW", "MW", "GW", "Wh", "kWh", "MWh", "J", "kJ", "MJ", "eV", "ohm", "T",
	"N", "kN", "Nm", "Pa", "hPa", "kPa", "MPa", "bar", "mbar", "psi", "atm",
	"K", "C", "F", "degC", "degF", "deg C", "deg F", "Celsius", "celsius", "deg", "degrees", "rad",
	"lux", "lx", "lm", "cd", "dB", "dBm", "b", "B", "bit", "bits", "byte", "bytes", "kB", "KB", "MB", "GB", "TB",
	"KiB", "MiB", "GiB", "pct", "percent", "USD", "EUR", "GBP", "count", "counts", "UTC", "-",
};

/* Whether a value is a unit: of the table, such as m2, or with a mark as in km/h, (s) and degrees. */
static bool is_unit(const char *text, size_t nbytes)
{
	static const char *const marks[] = {"/", "^", "%", "\u00b0", "\u00b5", "\u03bc", "\u03a9"};

	if (nbytes == 0 || nbytes > 16 || decimal_is_digit(*text))
		return false;
	if ((text[0] == '(' && text[nbytes - 1] == ')') || (text[0] == '[' && text[nbytes - 1] == ']'))
		return true;
	for (size_t i = 0; i < sizeof units / sizeof *units; i++)
		if (strlen(units[i]) == nbytes && !memcmp(units[i], text, nbytes))
			return true;
	for (size_t i = 0; i < sizeof marks / sizeof *marks; i++)
		if (memmem(text, nbytes, marks[i], strlen(marks[i])))
			return !remedy_is_no_value(text, nbytes);
	return (text[nbytes - 1] == '2' || text[nbytes - 1] == '3') && is_unit(text, nbytes - 1);
}

bool units_add(struct units *u, const char *text, size_t nbytes, bool is_number)
{
	bool is = nbytes > 0 && is_unit(text, nbytes);

	u->has_number |= is_number;
	u->nunits += is;
	u->nothers += nbytes > 0 && !is;
	return is;
}

/* Whether the record is a line of units. */
static bool has_units(const struct plan *plan, const char *data, const struct record *r)
{
	struct scratch scratch = {NULL, 0};
	struct units units = {0};

	for (size_t i = 0; i < r->nfields && !units.has_number; i++) {
		struct field_span f = r->fields[i];
		size_t nbytes = 0;
		const char *value = field_value(&plan->dialect, data + f.begin, f.end - f.begin, &scratch, &nbytes);
		if (value)
			value = decimal_trim(value, &nbytes);
		units_add(&units, value, nbytes, nbytes > 0 && value_is_number(plan, value, nbytes));
	}
	free(scratch.data);
	return units_are(&units);
}

void remedy_units(const struct plan *plan, const char *text, size_t nbytes, size_t offset, bool is_error,
		  struct fault *fault)
{
	struct record r;

	if (fault->status != STATUS_NOT_A_NUMBER || fault->line == 0 || fault->line != plan->line_below_header ||
	    !is_unit(fault->detail, fault->detail_nbytes) ||
	    remedy_is_no_value(fault->detail, fault->detail_nbytes))
		return;
	while (offset > 0 && text[offset - 1] != '\n')
		offset--;
	if (record_split(text + offset, nbytes - offset, &plan->dialect, true, &r) == STATUS_OK &&
	    has_units(plan, text + offset, &r))
		snprintf(fault->remedy, sizeof fault->remedy,
			 is_error ? REMEDY_UNITS "%" PRIu64 "d, or --invalid skip: this is a line of units"
				  : REMEDY_UNITS "%" PRIu64 "d, which drops a line of units", fault->line);
	record_free(&r);
}

/* ---- the header again ---- */

/* Returns where the record that begins at text[begin] ends, without its line end. */
static size_t record_end(const struct plan *plan, const char *text, size_t nbytes, size_t begin)
{
	struct record r;
	size_t end = begin;

	if (record_split(text + begin, nbytes - begin, &plan->dialect, true, &r) == STATUS_OK && r.nfields > 0)
		end += r.fields[r.nfields - 1].end;
	record_free(&r);
	return end;
}

size_t remedy_repeated_header(const struct plan *plan, const char *text, size_t nbytes, size_t offset)
{
	struct sought_header h;
	size_t begin = offset, nlines;

	if (!plan->header)
		return SIZE_MAX;
	h = plan->sought.nbytes ? plan->sought
				: sought_header_of(plan->header, plan->header_nbytes, &plan->dialect);
	for (nlines = count_lines(h.text, h.nbytes) + 1; nlines > 0; nlines--) { /* a name may have several */
		while (begin > 0 && text[begin - 1] != '\n')
			begin--;
		size_t at = begin + byte_order_mark_nbytes(text + begin, nbytes - begin);
		size_t end = record_end(plan, text, nbytes, at);
		if (offset <= end && header_is_repeated(&h, &plan->dialect, text + at, end - at))
			return at;
		if (begin == 0)
			break;
		begin--;
	}
	return SIZE_MAX;
}

/* ---- what other programs call it ---- */

/* A word counts before any likeness of letters does: `join` is nearer to `min` than to what is meant. Words as they are typed,
 * with hyphens for underscores, in lower case. Those of options that are here as well count
 * where they stand in a file's place: gpustat sort FILE. */
const struct option_synonym remedy_words[] = {
	/* statistics */
	{"average avg arithmetic-mean", "--mean"},
	{"std sd stdev std-dev sstdev stddev-samp standard-deviation", "--stddev"},
	{"pstdev stdevp stddevp std-pop stddev-p", "--stddev-pop"},
	{"variance svar var-samp", "--var"},
	{"pvar varp var-p variance-pop", "--var-pop"},
	{"maximum", "--max"},
	{"minimum", "--min"},
	{"total add", "--sum"},
	{"gmean geometric-mean", "--geomean"},
	{"hmean harmmean harmean", "--harmonic-mean"},
	{"skew sskew", "--skewness"},
	{"pskew skewness-p", "--skewness-pop"},
	{"kurt skurt", "--kurtosis"},
	{"pkurt kurtosis-p", "--kurtosis-pop"},
	{"stderr standard-error se", "--sem"},
	{"root-mean-square quadratic-mean", "--rms"},
	{"madraw median-absolute-deviation", "--mad"},
	{"trimmean trim-mean tmean truncated-mean", "--trimmed-mean COLS:F"},
	{"q1", "--p25"},
	{"q2", "--median"},
	{"q3", "--p75"},
	{"perc percentile percentiles quantile quantiles pctl", "--p95 COLS, or any other number from 0 to 100"},
	{"distinct nunique countunique count-unique cardinality approx-count-distinct", "--count-distinct"},
	{"shannon shannon-entropy information", "--entropy"},
	{"uniq frequency frequencies freq value-counts count-similar countsimilar tally", "--by COLS: it counts each value"},
	{"dedup rmdup deduplicate drop-duplicates distinct-on", "--unique COLS: the first record of each value"},
	{"histogram", "--hist"},
	{"bins bin nbins bin-width buckets lo", "--hist COL:WIDTH"},
	{"correlation pearson ppearson spearson corrcoef", "--corr"},
	{"covar covariance scov covar-samp", "--cov"},
	{"pcov covar-pop", "--cov-pop"},
	{"regr-slope linreg lm ols regression trend", "--slope x:y --intercept x:y: y = intercept + slope x"},
	{"regr-intercept", "--intercept x:y: SQL names y first"},
	{"weighted-mean wavg", "--wmean"},
	{"size len nrow rows wc count-rows num-rows", "--count-records"},
	{"describe stats summary summarize summarise info profile csvstat", "gpustat FILE: without an operation it is a summary"},
	{"stats1 stats2 merge-fields aggregate", "--sum COLS --mean COLS --by COLS: each statistic is an option"},
	{"expr ratio result computed-result", "--agg 'NAME = sum(COL) / sum(COL)'"},
	{"percent-of-total part-of fraction proportion pct", "--share COLS, or --cumshare COLS"},
	/* groups */
	{"group group-by groupby", "--by"},
	{"pivot-table crosstab spread long-to-wide dcast", "--by ROWS --pivot COLUMN"},
	{"reshape gather melt unpivot wide-to-long", "--by ROWS --pivot COLUMN for long to wide; a wide table is not made long"},
	{"turn t oxtab", "--transpose"},
	{"order-by orderby sort-by sort-values order arrange", "--sort"},
	{"sort", "--sort COLS for records, --by COLS --sort RESULT for groups"},
	{"desc descending reverse ascending", "--sort COLS, or --sort -COLS: the largest first"},
	{"nlargest largest topn top-n", "--top"},
	{"limit nrows first-n slice", "--head N for records, --top N for groups"},
	/* records and columns */
	{"filter grep query having-condition condition subset", "--where"},
	{"where-like like ilike match matches regex regexp search", "--where 'COL ~ \"REGEX\"', or --where 'COL contains \"TEXT\"'"},
	{"derive mutate put assign eval apply compute calc formula transform", "--let"},
	{"abs", "--let 'x = abs(COL)'"},
	{"tolower lower lowercase", "--let 'x = lower(COL)'"},
	{"toupper upper uppercase", "--let 'x = upper(COL)'"},
	{"strlen length", "--let 'x = length(COL)'"},
	{"coalesce fillna fill-empty ifnull nvl", "--let 'x = coalesce(COL, 0)'"},
	{"strptime timestamp sec2gmt to-datetime unix", "--let 'x = epoch(COL)'"},
	{"ifelse case", "--let 'x = if(COL > 1, 1, 0)'"},
	{"cut csvcut fields field usecols keep project having-fields pick", "--select"},
	{"cols col column c", "--select COLS to print them, --columns for their names"},
	{"exclude complement omit remove del delete", "--drop"},
	{"names colnames header-names schema", "--columns"},
	{"join merge-files lookup csvjoin", "join(1), mlr join or xsv join: no tables are joined here"},
	{"cat concat csvstack rbind", "gpustat FILE FILE: it reads several files"},
	{"vstack unsparsify align-columns", "--union"},
	{"diff differences", "--delta"},
	{"growth pctchange percent-change", "--pct-change"},
	{"cumulative cum cumulate running running-total accumulate", "--running-sum"},
	{"dense-rank denserank", "--rank-dense"},
	{"qcut tile tiles", "--ntile COLS:4 for quarters"},
	{"cummax", "--running-max"},
	{"cummin", "--running-min"},
	{"cumcount", "--running-count"},
	{"cummean", "--running-mean"},
	{"shift shift-lag previous prev", "--lag"},
	{"shift-lead next", "--lead"},
	{"ffill forward-fill", "--fill-down"},
	{"moving-average rolling-avg rolling window sma", "--rolling-mean"},
	{"moving-median", "--rolling-median"},
	{"time-column timecol index-column on-time", "--over"},
	{"rolling-std moving-stddev", "--rolling-stddev"},
	{"ewm ema", "--ewma"},
	{"line-number line-numbers linenumbers index row-index rownum enumerate enum", "--row-number"},
	{"random shuffle bootstrap", "--sample"},
	{"random-state set-seed", "--seed"},
	/* what separates fields, headers, numbers */
	{"separator sep field-separator fs ifs delim delimiters input-delimiter in-delimiter", "--delimiter"},
	{"ofs out-delimiter output-separator ops", "--output-delimiter"},
	{"tabs tab itsv itsvlite t2c t2p t2j", "-d '\\t'"},
	{"tsv", "-d '\\t' to read it, --format tsv to print it"},
	{"csv icsv icsvlite csvlite", "leaving it out: CSV is what is read"},
	{"repifs inidx ixtab", "--whitespace"},
	{"ocsv ocsvlite t2csv", "--format csv"},
	{"otsv c2t", "--format tsv"},
	{"json ojson c2j", "--format json"},
	{"jsonl ojsonl json-lines jsonlines c2l", "--format ndjson"},
	{"ijson ijsonl", "jq -r with @csv: JSON is not read"},
	{"opprint pprint c2p barred pretty", "--format table"},
	{"omd c2m md", "--format markdown"},
	{"output-format of", "--format"},
	{"output out outfile output-file", "> FILE: results go to standard output"},
	{"input infile file files from", "gpustat --sum COL FILE: a file's name stands alone"},
	{"implicit-csv-header headerless-csv-input hi no-header noheader no-header-row headerless", "--header no"},
	{"has-header header-in with-header header-row", "--headers"},
	{"skiprows skip skip-rows skip-initial", "--skip-lines"},
	{"allow-ragged-csv-input flexible", "--ragged allow"},
	{"quotechar quote-char", "--quote"},
	{"escapechar escape-char", "--escape"},
	{"comments commentchar comment-char skip-comments pass-comments", "--comment '#'"},
	{"na null nulls nan null-values na-values narm na-rm skipna dropna filler", "--missing"},
	{"errors on-bad-lines ignore-errors ignore coerce skip-invalid", "--invalid skip"},
	{"dec decimal-point", "--decimal"},
	{"thousands-sep big-mark", "--thousands"},
	{"currency", "--money"},
	{"pct", "--percent"},
	{"encoding", "iconv -f ENCODING -t UTF-8 FILE | gpustat"},
	/* how it runs */
	{"jobs parallel nproc cores cpus workers nthreads", "--threads"},
	{"gpu cuda", "--device gpu"},
	{"cpu", "--device cpu"},
	{"max-memory memory-limit mem buffer-size", "--memory"},
	{"debug", "--verbose"},
	{"usage", "--help"},
	{"dry-run", "--explain"},
	{"chart graph draw bar bars", "--plot"},
	/* letters: of awk, cut, datamash, sort, uniq, wc, xsv, csvkit */
	{"-t -F", "-d"},
	{"-o", "> FILE: results go to standard output"},
	{"-n", "--head N for the first records, -N if there are no names"},
	{"-f -c", "--select COLS to print columns, --by COLS to count each value"},
	{"-k", "--sort COLS for the order, --by COLS for groups"},
	{"-s", "--select COLS to print columns; --by needs no order"},
	{"-r", "--sort -COLS: the largest first"},
	{"-u", "--by COLS: a line for each value"},
	{"-x", "--drop"},
	{"-l", "--count-records"},
	{"-R", "--let 'x = round(COL, 2)'"},
	{"-a", "--sum COLS --mean COLS: each statistic is an option"},
	{"-j", "--threads"},
	{"-q", "--quote"},
	{NULL, NULL},
};

/* ---- names of files ---- */

static const struct {
	const char *scheme, *command; /* % stands for the URL */
} urls[] = {
	{"http://", "curl -sL %"}, {"https://", "curl -sL %"}, {"ftp://", "curl -s %"},
	{"s3://", "aws s3 cp % -"}, {"gs://", "gcloud storage cat %"}, {"file://", NULL},
};

static bool explain_url(struct fault *fault)
{
	/* between single quotes, a shell must take it as one word */
	const char *url = !strchr(fault->file, '\'') && strlen(fault->file) <= 100 ? fault->file : "URL", *end;

	for (size_t i = 0; i < sizeof urls / sizeof *urls; i++) {
		if (strncmp(fault->file, urls[i].scheme, strlen(urls[i].scheme)) != 0)
			continue;
		if (!urls[i].command) {
			snprintf(fault->remedy, sizeof fault->remedy, "the path without %s", urls[i].scheme);
			return true;
		}
		end = strchr(urls[i].command, '%');
		snprintf(fault->remedy, sizeof fault->remedy, "%.*s'%s'%s | gpustat ...",
			 (int)(end - urls[i].command), urls[i].command, url, end + 1);
		return true;
	}
	return false;
}

void remedy_open(struct fault *fault)
{
	const struct option_row *row;
	const char *word = fault->file, *meant;
	size_t nbytes;

	if (!word || fault->error_number != ENOENT || explain_url(fault))
		return;
	nbytes = strlen(word);
	meant = option_find_meant(remedy_words, word, nbytes);
	row = option_find_row(&options_table, word, nbytes);
	if (meant)
		snprintf(fault->remedy, sizeof fault->remedy, "%s", meant);
	else if (row)
		snprintf(fault->remedy, sizeof fault->remedy, "--%s%s%s", word, *row->argument ? " " : "", row->argument);
	else if (strchr(word, '{') || strchr(word, '$'))
		strcpy(fault->remedy, "options such as --sum COLS and --where EXPR: no program text is read");
}
