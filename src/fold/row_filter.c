/* SPDX-License-Identifier: MIT
 *
 * row_filter.c - see row_filter.h.
 */
#include "fold/row_filter.h"

#include <stdlib.h>
#include <string.h>

#include "fold/let_block.h"
#include "query/pattern.h"

/* ---- thresholds ---- */

/* The literal times 10^nplaces; where that does not fit, a bound beyond every significand. */
static struct row_threshold threshold_above(int64_t literal, int nplaces)
{
	const int64_t limit = 1000000000000000000; /* no significand reaches it */
	int128 x = literal;

	if (!decimal_rescale(&x, nplaces) || x > limit || x < -limit)
		x = literal < 0 ? -limit : limit;
	return (struct row_threshold){(int64_t)x, (int64_t)x};
}

/* The literal divided by 10^nplaces; where digits are lost, it lies between two significands. */
static struct row_threshold threshold_below(int64_t literal, int nplaces)
{
	bool between = false;

	for (; nplaces > 0; nplaces--) {
		int64_t digit = literal % 10;
		between |= digit != 0;
		literal = literal / 10 - (digit < 0);
	}
	return (struct row_threshold){literal + between, literal};
}

static void set_thresholds(const struct expr_test *t, struct row_threshold *out)
{
	for (int scale = 0; scale < DECIMAL_NSCALES; scale++)
		out[scale] = scale >= t->number.scale
				     ? threshold_above(t->number.significand,
						       scale - t->number.scale)
				     : threshold_below(t->number.significand,
						       t->number.scale - scale);
}

/* ---- memory ---- */

enum status row_predicate_init(struct row_predicate *p, const struct expr *e)
{
	p->thresholds = calloc((size_t)e->ntests * DECIMAL_NSCALES, sizeof *p->thresholds);
	p->pending = calloc(e->ntests, sizeof *p->pending);
	p->matches = calloc(e->npatterns + (size_t)1, sizeof(struct pattern_match *));
	NEED(p->thresholds && p->pending && p->matches);
	for (uint32_t t = 0; t < e->ntests; t++)
		if (e->tests[t].kind == EXPR_TEST_NUMBER && e->tests[t].literal_kind == EXPR_NUMBER)
			set_thresholds(&e->tests[t], p->thresholds + (size_t)t * DECIMAL_NSCALES);
	for (uint32_t i = 0; i < e->npatterns; i++) {
		p->matches[i] = pattern_match_make(e->patterns[i]);
		NEED(p->matches[i]);
	}
	return expr_row_init(&p->row, e);
}

enum status row_filter_init(struct row_filter *f, const struct plan *plan)
{
	enum status status = STATUS_OK;

	memset(f, 0, sizeof *f);
	f->plan = plan;
	f->predicates = calloc(plan->npredicates + 1, sizeof *f->predicates);
	f->spans = calloc(plan->ncolumns + 1, sizeof *f->spans);
	f->holds = calloc(plan->npredicates + 1, sizeof *f->holds);
	NEED(f->predicates && f->spans && f->holds);
	for (size_t p = 0; status == STATUS_OK && p < plan->npredicates; p++)
		status = row_predicate_init(&f->predicates[p], plan->predicates[p]);
	return status;
}

void row_predicate_free(struct row_predicate *p, const struct expr *e)
{
	for (uint32_t i = 0; p->matches && i < e->npatterns; i++)
		pattern_match_free(p->matches[i]);
	free(p->matches);
	free(p->thresholds);
	free(p->pending);
	expr_row_free(&p->row);
}

void row_filter_free(struct row_filter *f)
{
	for (size_t p = 0; f->predicates && p < f->plan->npredicates; p++)
		row_predicate_free(&f->predicates[p], f->plan->predicates[p]);
	free(f->predicates);
	free(f->spans);
	free(f->holds);
	memset(f, 0, sizeof *f);
}

/* ---- tests: which of the rows in `of` pass; *odd: those left to expr_row.c ---- */

static uint64_t if_accepted(const struct expr_test *t, enum expr_order order, uint64_t rows)
{
	return t->accepts & order ? rows : 0;
}

static uint64_t test_number(const struct expr_test *t, const struct row_threshold *thresholds,
			    struct row_block *b, size_t c, uint64_t of, uint64_t *odd)
{
	const struct simd_numbers *x;
	uint64_t less = 0, greater = 0;

	if (t->literal_kind != EXPR_NUMBER) {
		*odd = of;
		return 0;
	}
	x = row_block_numbers(b, c);
	for (unsigned row = b->nrows; row-- > 0;) {
		struct row_threshold threshold = thresholds[x->scale[row]];
		less = less << 1 | (x->significand[row] < threshold.low);
		greater = greater << 1 | (x->significand[row] > threshold.high);
	}
	*odd = of & ~(x->numbers | x->empty);
	return of & x->numbers &
	       (if_accepted(t, EXPR_LESS, less) | if_accepted(t, EXPR_GREATER, greater) |
		if_accepted(t, EXPR_EQUAL, ~(less | greater)));
}

static struct decimal number_of(const struct simd_numbers *x, unsigned row)
{
	return (struct decimal){x->significand[row], x->scale[row]};
}

static uint64_t test_columns(const struct expr_test *t, struct row_block *b, size_t left,
			     size_t right, uint64_t of, uint64_t *odd)
{
	const struct simd_numbers *x = row_block_numbers(b, left), *y = row_block_numbers(b, right);
	uint64_t passes = 0;

	*odd = of & ~((x->numbers | x->empty) & (y->numbers | y->empty));
	for (uint64_t rows = of & x->numbers & y->numbers; rows; rows &= rows - 1) {
		unsigned row = (unsigned)__builtin_ctzll(rows);
		int order = decimal_compare(number_of(x, row), number_of(y, row));
		passes |= if_accepted(t, expr_order_of(order), rows & -rows);
	}
	return passes;
}

/* Values that are no plain numbers may be others. */
static uint64_t test_is_number(const struct expr_test *t, struct row_block *b, size_t c,
			       uint64_t of, uint64_t *odd)
{
	const struct simd_numbers *x = row_block_numbers(b, c);

	*odd = of & ~(x->numbers | x->empty);
	return if_accepted(t, EXPR_EQUAL, of & x->numbers);
}

/* How a value compares with a text. */
static enum expr_order text_order(const struct expr_test *t, const char *literal,
				  const char *value, size_t nbytes)
{
	if (t->kind == EXPR_TEST_TEXT && t->accepts == EXPR_EQUAL && nbytes != t->literal_nbytes)
		return EXPR_LESS; /* or EXPR_GREATER: neither is accepted */
	if (t->kind == EXPR_TEST_CONTAINS) /* faster than expr_text_order */
		return memmem(value, nbytes, literal, t->literal_nbytes) ? EXPR_EQUAL : EXPR_GREATER;
	return expr_text_order(t, value, nbytes, literal);
}

static uint64_t test_value(const struct expr *e, const struct expr_test *t,
			   const struct row_block *b, size_t c, uint64_t of, uint64_t *odd)
{
	const char *literal = e->literals + t->literal_begin, *value;
	uint64_t passes = 0;
	size_t nbytes;

	for (uint64_t rows = of; rows; rows &= rows - 1) {
		enum row_value is = row_block_value(b, c, (unsigned)__builtin_ctzll(rows), &value,
						    &nbytes);
		if (is == ROW_QUOTED)
			*odd |= rows & -rows;
		else if (t->kind == EXPR_TEST_MISSING)
			passes |= if_accepted(t, is == ROW_MISSING ? EXPR_LESS : EXPR_GREATER,
					      rows & -rows);
		else if (is == ROW_PRESENT)
			passes |= if_accepted(t, text_order(t, literal, value, nbytes),
					      rows & -rows);
	}
	return passes;
}

/* Too costly values are left to expr_row.c, which says so. */
static uint64_t test_match(const struct expr *e, const struct expr_test *t,
			   const struct row_predicate *p, const struct row_block *b, uint64_t of,
			   uint64_t *odd)
{
	size_t c = e->columns[t->left], nbytes;
	uint64_t passes = 0;
	const char *value;

	for (uint64_t rows = of; rows; rows &= rows - 1) {
		enum row_value is = row_block_value(b, c, (unsigned)__builtin_ctzll(rows), &value,
						    &nbytes);
		int found = is == ROW_QUOTED ? -1 : 0;
		if (is == ROW_PRESENT)
			found = pattern_matches(e->patterns[t->pattern], p->matches[t->pattern],
						value, nbytes);
		if (found < 0)
			*odd |= rows & -rows;
		else if (is == ROW_PRESENT)
			passes |= if_accepted(t, found ? EXPR_EQUAL : EXPR_GREATER, rows & -rows);
	}
	return passes;
}

static uint64_t test(const struct expr *e, uint32_t i, const struct row_predicate *p,
		     struct row_block *b, uint64_t of, uint64_t *odd)
{
	const struct expr_test *t = &e->tests[i];
	size_t left = e->columns[t->left];

	if (t->kind == EXPR_TEST_NUMBER)
		return test_number(t, p->thresholds + (size_t)i * DECIMAL_NSCALES, b, left, of,
				   odd);
	if (t->kind == EXPR_TEST_COLUMNS)
		return test_columns(t, b, left, e->columns[t->right], of, odd);
	if (t->kind == EXPR_TEST_IS_NUMBER)
		return test_is_number(t, b, left, of, odd);
	if (t->kind == EXPR_TEST_MATCH)
		return test_match(e, t, p, b, of, odd);
	return test_value(e, t, b, left, of, odd);
}

/* ---- conditions ---- */

/* Makes rows pending at test `to`, or accepts them, or drops them. */
static void move_on(const struct expr *e, struct row_predicate *p, uint32_t to, uint64_t rows,
		    uint64_t *accepted)
{
	if (to < e->ntests)
		p->pending[to] |= rows;
	else if (to == EXPR_ACCEPT)
		*accepted |= rows;
}

/* Returns the rows in `of` where e holds; *odd: those left to expr_row.c. */
static uint64_t evaluate(const struct expr *e, struct row_predicate *p, struct row_block *b,
			 uint64_t of, uint64_t *odd)
{
	uint64_t accepted = 0;

	memset(p->pending, 0, e->ntests * sizeof *p->pending);
	p->pending[0] = of;
	for (uint32_t i = 0; i < e->ntests; i++) {
		uint64_t at = p->pending[i], unread = 0, passes;
		if (at == 0)
			continue;
		passes = test(e, i, p, b, at, &unread);
		*odd |= unread;
		move_on(e, p, e->tests[i].if_true, passes, &accepted);
		move_on(e, p, e->tests[i].if_not, at & ~passes & ~unread, &accepted);
	}
	return accepted;
}

/* Evaluates a condition for one row. */
static enum status evaluate_row(struct row_predicate *p, const struct expr *e, struct row_block *b,
				struct field_span *spans, unsigned row, enum expr_truth *truth,
				struct row_culprit *culprit)
{
	for (size_t c = 0; c < b->plan->ncolumns; c++)
		if (!b->plan->columns[c].let)
			spans[c] = row_block_field(b, c, row);
	for (uint32_t i = 0; i < e->ncolumns; i++) { /* others may be computed later */
		size_t c = e->columns[i];
		spans[c] = row_block_field(b, c, row);
		if (b->plan->columns[c].let)
			expr_row_computed(&p->row, i, let_block_how(b->lets, spans[c].begin), let_block_why(b, c, row));
	}
	return expr_row_eval(&p->row, e, b->plan, b->text, spans, truth, &culprit->column, &culprit->why);
}

enum status row_predicate_block(struct row_predicate *p, const struct expr *e, struct row_block *b,
				struct field_span *spans, uint64_t of, struct row_verdict *verdict)
{
	uint64_t odd = 0;

	verdict->undecided = 0;
	verdict->holds = evaluate(e, p, b, of, &odd);
	for (; odd; odd &= odd - 1) {
		unsigned row = (unsigned)__builtin_ctzll(odd);
		enum expr_truth truth;
		struct row_culprit culprit;
		enum status status = evaluate_row(p, e, b, spans, row, &truth, &culprit);
		if (status != STATUS_OK)
			return status;
		if (truth == EXPR_TRUE)
			verdict->holds |= odd & -odd;
		if (truth != EXPR_INVALID)
			continue;
		verdict->culprits[row] = culprit;
		verdict->undecided |= odd & -odd;
	}
	return STATUS_OK;
}

/* Adds undecided rows to the result. */
static void add_undecided(struct row_filter *f, const struct row_verdict *verdict)
{
	uint64_t rows = verdict->undecided, first = rows & -rows;

	if (rows && (f->undecided & (first - 1)) == 0)
		f->culprit = verdict->culprits[__builtin_ctzll(rows)];
	f->undecided |= rows;
}

/* Leaves out the rows for which a computed column has no value, as a condition in it is undecided. */
static void check_lets(struct row_filter *f, struct row_block *b)
{
	let_block_undecided(b, &f->undecided, &f->culprit);
	f->kept &= ~f->undecided;
}

enum status row_filter_block(struct row_filter *f, struct row_block *b)
{
	struct row_culprit culprits[ROW_BLOCK_NROWS];

	f->kept = row_block_all(b);
	f->undecided = 0;
	if (b->lets)
		check_lets(f, b);
	for (size_t p = 0; p < f->plan->npredicates; p++) {
		struct row_verdict verdict = {.culprits = culprits};
		enum status status = row_predicate_block(&f->predicates[p], f->plan->predicates[p], b,
							 f->spans, f->kept, &verdict);
		if (status != STATUS_OK)
			return status;
		add_undecided(f, &verdict);
		f->kept &= ~f->undecided;
		if (p == f->plan->where)
			f->kept &= verdict.holds;
		f->holds[p] = verdict.holds;
	}
	for (size_t p = 0; p < f->plan->npredicates; p++)
		f->holds[p] &= f->kept;
	return STATUS_OK;
}
