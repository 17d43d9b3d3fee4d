/* SPDX-License-Identifier: MIT
 *
 * elsewhere.c - see elsewhere.h. A word counts before any likeness of letters does: `join` is nearer to `min` than to
 * what is meant.
 */
#include "query/elsewhere.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "query/options.h"

/* Words as they are typed, with hyphens for underscores, in lower case. Those of options that are here as well count
 * where they stand in a file's place: gpustat sort FILE. */
const struct option_synonym elsewhere_words[] = {
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
	{"skew sskew", "--skewness"},
	{"pskew skewness-p", "--skewness-pop"},
	{"kurt skurt", "--kurtosis"},
	{"pkurt kurtosis-p", "--kurtosis-pop"},
	{"stderr standard-error se", "--sem"},
	{"root-mean-square quadratic-mean", "--rms"},
	{"madraw median-absolute-deviation", "--mad"},
	{"q1", "--p25"},
	{"q2", "--median"},
	{"q3", "--p75"},
	{"perc percentile percentiles quantile quantiles pctl", "--p95 COLS, or any other number from 0 to 100"},
	{"distinct unique nunique countunique count-unique cardinality approx-count-distinct", "--count-distinct"},
	{"shannon shannon-entropy information", "--entropy"},
	{"uniq frequency frequencies freq value-counts count-similar countsimilar tally", "--by COLS: it counts each value"},
	{"dedup rmdup deduplicate drop-duplicates", "--by COLS: a line for each value; or sort -u for whole records"},
	{"histogram", "--hist"},
	{"bins bin nbins bin-width buckets lo", "--hist COL:WIDTH"},
	{"correlation pearson ppearson spearson corrcoef", "--corr"},
	{"covar covariance scov covar-samp", "--cov"},
	{"pcov covar-pop", "--cov-pop"},
	{"weighted-mean wavg", "--wmean"},
	{"size len nrow rows wc count-rows num-rows", "--count-records"},
	{"describe stats summary summarize summarise info profile csvstat", "gpustat FILE: without an operation it is a summary"},
	{"stats1 stats2 merge-fields agg aggregate", "--sum COLS --mean COLS --by COLS: each statistic is an option"},
	/* groups */
	{"group group-by groupby", "--by"},
	{"having", "a second gpustat: ... | gpustat --where EXPR"},
	{"pivot pivot-table crosstab reshape spread gather melt unpivot long-to-wide wide-to-long",
	 "--by ROW,COLUMN: a line for each pair; no table is turned"},
	{"transpose", "datamash transpose: no table is turned here"},
	{"order-by orderby sort-by sort-values order arrange", "--sort"},
	{"sort", "--by COLS --sort RESULT for groups, or sort(1) for records"},
	{"desc descending reverse ascending", "--sort RESULT, or --sort -RESULT: the largest first"},
	{"nlargest largest topn top-n", "--top"},
	{"limit nrows first-n slice", "--head N for records, --top N for groups"},
	/* records and columns */
	{"filter grep query having-condition condition subset", "--where"},
	{"where-like like ilike match matches regex regexp search", "--where 'COL ~ \"REGEX\"', or --where 'COL contains \"TEXT\"'"},
	{"derive mutate put assign eval apply compute calc formula transform", "--let"},
	{"round", "--let 'x = round(COL, 2)'"},
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
	{"cat concat csvstack rbind union", "gpustat FILE FILE: it reads several files"},
	{"diff differences", "--delta"},
	{"pct-change growth", "--ratio"},
	{"cumulative cum cumulate running running-total accumulate", "--running-sum"},
	{"cummax", "--running-max"},
	{"cummin", "--running-min"},
	{"cumcount", "--running-count"},
	{"cummean", "--running-mean"},
	{"shift shift-lag previous prev", "--lag"},
	{"shift-lead next", "--lead"},
	{"ffill forward-fill", "--fill-down"},
	{"moving-average rolling-avg rolling window sma", "--rolling-mean"},
	{"ewm ema", "--ewma"},
	{"line-number line-numbers linenumbers index row-index rownum enumerate enum", "--row-number"},
	{"random shuffle bootstrap", "--sample"},
	{"random-state set-seed", "--seed"},
	/* what separates fields, headers, numbers */
	{"separator sep field-separator fs ifs delim delimiters input-delimiter in-delimiter", "--delimiter"},
	{"ofs out-delimiter output-delimiter output-separator ops", "--format csv or --format tsv; records keep their delimiter"},
	{"tabs tab itsv itsvlite t2c t2p t2j", "-d '\\t'"},
	{"tsv", "-d '\\t' to read it, --format tsv to print it"},
	{"csv icsv icsvlite csvlite", "leaving it out: CSV is what is read"},
	{"repifs inidx ixtab", "--whitespace"},
	{"ocsv ocsvlite t2csv", "--format csv"},
	{"otsv c2t", "--format tsv"},
	{"json ojson c2j", "--format json"},
	{"jsonl ojsonl json-lines jsonlines c2l", "--format ndjson"},
	{"ijson ijsonl", "jq -r with @csv: JSON is not read"},
	{"opprint pprint oxtab c2p barred pretty", "--format table"},
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
	{"-k", "--by COLS for groups, --sort RESULT for their order"},
	{"-s", "--select COLS to print columns; --by needs no order"},
	{"-r", "--sort -RESULT: the largest first"},
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

/* Whether a shell takes the name, between single quotes, as one word. */
static bool can_be_quoted(const char *name)
{
	return !strchr(name, '\'') && strlen(name) <= 100;
}

static bool explain_url(struct fault *fault)
{
	const char *url = can_be_quoted(fault->file) ? fault->file : "URL", *end;

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

void elsewhere_explain_open(struct fault *fault)
{
	const struct option_row *row;
	const char *word = fault->file, *meant;
	size_t nbytes;

	if (!word || fault->error_number != ENOENT || explain_url(fault))
		return;
	nbytes = strlen(word);
	meant = option_find_meant(elsewhere_words, word, nbytes);
	row = option_find_row(&options_table, word, nbytes);
	if (meant)
		snprintf(fault->remedy, sizeof fault->remedy, "%s", meant);
	else if (row)
		snprintf(fault->remedy, sizeof fault->remedy, "--%s%s%s", word, *row->argument ? " " : "", row->argument);
	else if (strchr(word, '{') || strchr(word, '$'))
		strcpy(fault->remedy, "options such as --sum COLS and --where EXPR: no program text is read");
}
