/* SPDX-License-Identifier: MIT
 *
 * fuzz_words.c - what is on the command line: COLS (select.h) and EXPR (expr.h), parsed, their columns
 * found among the names of a header, and the condition asked of a record.
 *
 * Input: a byte, 'c', 'l' for NAME = EXPR of --let (let.h), or other, that says which; the text; and for EXPR a
 * NUL and a record's text.
 */
#include <stdbool.h>
#include <string.h>

#include "query/expr.h"
#include "fold/expr_row.h"
#include "fuzz.h"
#include "query/let.h"
#include "csv/record.h"
#include "query/select.h"
#include "base/utf8.h"

#define NFIELDS 6
#define MAX_NBYTES 4000

static char *const names[NFIELDS] = {"a", "bytes", "x,y", NULL, "2", "a"};

static void check_usage(const struct fault *fault, int nlines)
{
	int n = 0;

	FUZZ_CHECK(fault->detail_nbytes > 0 && fault->detail_nbytes < FAULT_DETAIL_NBYTES);
	for (size_t i = 0; i < fault->detail_nbytes; i++)
		n += fault->detail[i] == '\n';
	FUZZ_CHECK(n == nlines - 1);
}

/* ---- COLS ---- */

static void check_selector(const struct selector *s)
{
	struct field_range range;
	struct fault fault;
	enum status status = selector_resolve(s, NULL, names, NFIELDS, &range, &fault);

	if (status == STATUS_USAGE)
		check_usage(&fault, 1);
	FUZZ_CHECK(status == STATUS_OK || status == STATUS_UNKNOWN_COLUMN || status == STATUS_USAGE);
	if (status == STATUS_OK && !range.star)
		FUZZ_CHECK(range.first <= range.last && range.last < NFIELDS);
	status = selector_resolve(s, NULL, NULL, 0, &range, &fault);
	FUZZ_CHECK(status == STATUS_OK || status == STATUS_UNKNOWN_COLUMN);
}

static void check_cols(const char *text)
{
	struct selection selection;
	struct fault fault;
	enum status status = selection_parse(text, &selection, &fault);

	if (status != STATUS_OK)
		check_usage(&fault, 1);
	for (size_t i = 0; status == STATUS_OK && i < selection.nselectors; i++)
		check_selector(&selection.selectors[i]);
	selection_free(&selection);
}

/* ---- EXPR ---- */

/* Asks the condition of the record; twice, since it must not depend on the first time. */
static void check_row(struct expr_request *r, const char *text, size_t nbytes)
{
	struct plan_column columns[NFIELDS];
	struct plan plan = {.dialect = {.delimiter = ',', .quote = '"'}, .notation = {.decimal = '.'}, .ncolumns = NFIELDS, .columns = columns};
	struct field_span spans[NFIELDS];
	struct record record;
	struct expr_row row;
	enum expr_truth truth[2];

	for (uint32_t c = 0; c < NFIELDS; c++)
		columns[c] = (struct plan_column){.field = c, .name = "x"};
	if (record_split(text, nbytes, &plan.dialect, true, &record) == STATUS_OK && record.nfields >= NFIELDS) {
		memcpy(spans, record.fields, sizeof spans);
		for (size_t c = 0; c < r->columns.nselectors; c++)
			r->expr.columns[c] = r->fields[c];
		FUZZ_CHECK(expr_row_init(&row, &r->expr) == STATUS_OK);
		for (int i = 0; i < 2; i++) {
			uint32_t culprit = 0;
			enum status why = STATUS_OK;
			FUZZ_CHECK(expr_row_eval(&row, &r->expr, &plan, text, spans, &truth[i],
						 &culprit, &why) == STATUS_OK);
			FUZZ_CHECK(culprit < NFIELDS);
		}
		FUZZ_CHECK(truth[0] == truth[1]);
		expr_row_free(&row);
	}
	record_free(&record);
}

static void check_expr(const char *text, const char *line, size_t nbytes)
{
	struct expr_request r;
	struct fault fault;
	enum status status = expr_parse(&r, "where", text, NULL, &fault);

	if (status == STATUS_USAGE) {
		check_usage(&fault, 3);
		FUZZ_CHECK(r.error_offset <= strlen(text));
	}
	FUZZ_CHECK(status == STATUS_OK || status == STATUS_USAGE);
	if (status == STATUS_OK && expr_resolve(&r, names, NFIELDS, &fault) == STATUS_OK)
		check_row(&r, line, nbytes);
	expr_free(&r);
}

/* ---- --let ---- */

static void check_let(const char *text)
{
	const struct csv_dialect dialect = {.delimiter = ',', .quote = '"'};
	struct let let;
	struct fault fault;
	enum status status = let_parse(&let, text, NULL, &dialect, '.', &fault);

	if (status == STATUS_USAGE)
		check_usage(&fault, 3);
	FUZZ_CHECK(status == STATUS_OK || status == STATUS_USAGE);
	if (status == STATUS_OK) {
		FUZZ_CHECK(let.name && let.nsteps > 0 && let.nsteps <= strlen(text));
		FUZZ_CHECK(let.depth > 0 && let.depth <= LET_DEPTH_MAX);
		expr_resolve(&let.request, names, NFIELDS, &fault);
	}
	let_free(&let);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	char text[MAX_NBYTES + 1];
	size_t length;

	if (nbytes == 0 || nbytes > MAX_NBYTES)
		return 0;
	memcpy(text, data + 1, nbytes - 1);
	text[nbytes - 1] = '\0';
	length = strlen(text);
	if (*data == 'c')
		check_cols(text);
	else if (*data == 'l')
		check_let(text);
	else
		check_expr(text, text + (length + 1 < nbytes ? length + 1 : length),
			   length + 1 < nbytes ? nbytes - length - 2 : 0);
	return 0;
}
