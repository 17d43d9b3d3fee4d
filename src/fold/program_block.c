/* SPDX-License-Identifier: MIT
 *
 * program_block.c - see program_block.h: memory, numbers, texts, tests, truths, columns.
 */
#include "fold/program_block.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fold/aggregates.h"
#include "lang/functions.h"
#include "lang/lane.h"
#include "lang/pattern.h"
#include "number/decimal_text.h"
#include "number/exact.h"
#include "number/quotient.h"
#include "number/ratio.h"
#include "number/real.h"
#include "simd/simd.h"

#define ROOM_NBYTES ((size_t)1 << 16) /* for fields, to begin with */
#define PAD_NBYTES (2 * SIMD_PAD_NBYTES)
#define NSPARE_VALUES 2 /* beyond the stack: a test's quotients */

/* A literal among the numbers of one scale: significands below `low` are less, those above `high`
 * greater. */
struct row_threshold {
	int64_t low, high;
};

/* One run of a program. */
struct run {
	struct program_block *l;
	struct row_block *b;
	struct program_state *state;
	uint64_t rows;       /* of the block: those that are evaluated */
	struct program_values *top;  /* beyond the last on the stack */
	struct truth *truth; /* and of truths */
};

static struct program_values *compute(struct row_block *b, struct program_state *state);

/* The values of column c, which is computed, for the block. */
static inline struct program_values *values_of(const struct row_block *b, size_t c)
{
	struct program_state *state = &b->programs->programs[c - b->programs->first];

	return state->is_computed ? state->values : compute((struct row_block *)(uintptr_t)b, state);
}

/* ---- memory ---- */

/* The literal times 10^nplaces; where that does not fit, a bound beyond every significand. */
static struct row_threshold threshold_above(int64_t literal, int nplaces)
{
	const int64_t limit = DECIMAL_SIGNIFICAND_LIMIT;
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

static void set_thresholds(struct decimal x, struct row_threshold *out)
{
	for (int scale = 0; scale < DECIMAL_NSCALES; scale++)
		out[scale] = scale >= x.scale ? threshold_above(x.significand, scale - x.scale)
					      : threshold_below(x.significand, x.scale - scale);
}

static enum status state_init(struct program_state *state, const struct program *p)
{
	state->program = p;
	state->values = calloc(p->nvalues + (size_t)NSPARE_VALUES, sizeof *state->values);
	state->truths = calloc(p->ntruths + (size_t)1, sizeof *state->truths);
	state->rows = calloc(p->ntruths + (size_t)1, sizeof *state->rows);
	state->culprits = calloc(p->ntruths + (size_t)1, sizeof *state->culprits);
	state->thresholds = calloc(p->norders * (size_t)DECIMAL_NSCALES + 1, sizeof *state->thresholds);
	state->matches = calloc(p->npatterns + 1, sizeof(struct pattern_match *));
	NEED(state->values && state->truths && state->rows && state->culprits && state->thresholds && state->matches);
	for (const struct step *step = p->steps; step < p->steps + p->nsteps; step++)
		if (step->code == STEP_ORDER_NUMBER && !step->is_long)
			set_thresholds(step->number, state->thresholds + (size_t)step->index * DECIMAL_NSCALES);
	for (size_t i = 0; i < p->npatterns; i++) {
		state->matches[i] = pattern_match_make(p->patterns[i]);
		NEED(state->matches[i]);
	}
	return STATUS_OK;
}

static void state_free(struct program_state *state)
{
	for (size_t i = 0; state->matches && i < state->program->npatterns; i++)
		pattern_match_free(state->matches[i]);
	free(state->matches);
	free(state->thresholds);
	free(state->culprits);
	free(state->rows);
	free(state->truths);
	free(state->values);
}

enum status program_block_init(struct program_block *l, const struct plan *plan)
{
	size_t n = plan->nlets + plan->npredicates;

	memset(l, 0, sizeof *l);
	l->plan = plan;
	l->first = plan->ncolumns - plan->nlets;
	l->room_nbytes = ROOM_NBYTES;
	time_reader_init(&l->times, &plan->zone);
	l->text_nbytes = SIZE_MAX; /* until a text is copied, no field lies after it */
	l->programs = calloc(n + 1, sizeof *l->programs);
	NEED(l->programs);
	for (size_t i = 0; i < n; i++) {
		const struct program *p = i < plan->nlets ? plan->columns[l->first + i].let : plan->predicates[i - plan->nlets];
		TRY(state_init(&l->programs[i], p));
	}
	return STATUS_OK;
}

void program_block_free(struct program_block *l)
{
	for (struct program_state *state = l->programs; state && state->program; state++)
		state_free(state);
	free(l->programs);
	for (size_t i = 0; i < sizeof l->scratch / sizeof *l->scratch; i++)
		free(l->scratch[i].data);
	free(l->room.data);
	text_free(&l->key_text);
	free(l->memory);
	memset(l, 0, sizeof *l);
}

/* Makes room for a text of nbytes, literals, and fields. */
static enum status reserve(struct program_block *l, size_t nbytes)
{
	size_t needed = nbytes + SIMD_PAD_NBYTES + l->room_nbytes;
	char *memory;

	for (const struct program_state *state = l->programs; state->program; state++)
		needed += state->program->nliteral_bytes;
	if (needed > UINT32_MAX)
		return STATUS_NO_MEMORY;
	if (needed <= l->capacity)
		return STATUS_OK;
	memory = malloc(needed + 2 * PAD_NBYTES);
	NEED(memory);
	memset(memory, 0, PAD_NBYTES);
	free(l->memory);
	l->memory = memory;
	l->data = memory + PAD_NBYTES;
	l->capacity = needed;
	return STATUS_OK;
}

enum status program_block_begin(struct program_block *l, const char *text, size_t nbytes)
{
	TRY(reserve(l, nbytes));
	memcpy(l->data, text, nbytes + SIMD_PAD_NBYTES);
	l->text_nbytes = nbytes;
	l->nbytes = nbytes + SIMD_PAD_NBYTES;
	for (struct program_state *state = l->programs; state->program; state++) {
		const struct program *p = state->program;
		state->literals_offset = (uint32_t)l->nbytes;
		if (p->nliteral_bytes)
			memcpy(l->data + l->nbytes, p->literals, p->nliteral_bytes);
		l->nbytes += p->nliteral_bytes;
	}
	l->is_full = false;
	l->status = STATUS_OK;
	return STATUS_OK;
}

void program_block_widen(struct program_block *l)
{
	l->room_nbytes *= 4;
}

void program_block_forget(struct program_block *l)
{
	for (size_t i = 0; i < l->plan->nlets; i++)
		l->programs[i].is_computed = false;
	l->has_aggregates = false;
}

/* Room for nbytes after the fields that were made before. NULL if they do not fit. */
static char *make_room(struct program_block *l, size_t nbytes)
{
	if (l->capacity - l->nbytes >= nbytes)
		return l->data + l->nbytes;
	l->is_full = true;
	return NULL;
}

void program_block_need(struct program_block *l, size_t nbytes)
{
	make_room(l, nbytes);
}

/* ---- a row's value ---- */

static inline void set_own(struct program_values *v, unsigned row, struct decimal x)
{
	v->own_significand[row] = x.significand;
	v->own_scale[row] = (uint8_t)x.scale;
}

static void set_number(struct program_values *v, unsigned row, struct decimal x)
{
	uint64_t bit = UINT64_C(1) << row;

	v->numbers |= bit;
	v->fields &= ~bit;
	v->rounded &= ~bit;
	v->wrong &= ~bit;
	set_own(v, row, x);
}

static void set_span(struct program_values *v, unsigned row, struct field_span span)
{
	v->fields |= UINT64_C(1) << row;
	v->begin[row] = (uint32_t)span.begin;
	v->end[row] = (uint32_t)span.end;
}

/* Makes a field that is there the row's value, which has no number then. */
static inline void set_text_span(struct program_values *v, unsigned row, struct field_span span)
{
	const uint64_t bit = UINT64_C(1) << row;

	v->numbers &= ~bit;
	v->rounded &= ~bit;
	set_span(v, row, span);
}

static void set_missing(const struct run *r, struct program_values *v, unsigned row)
{
	uint64_t bit = UINT64_C(1) << row;
	size_t begin = row_block_ends(r->b, row)[-1] + 1u;

	v->numbers &= ~bit;
	v->rounded &= ~bit;
	v->wrong &= ~bit;
	set_span(v, row, (struct field_span){(uint32_t)begin, (uint32_t)begin});
}

/* Makes the row's value wrong; the field that it has shows it. */
static void set_wrong(struct program_values *v, unsigned row, enum status why)
{
	uint64_t bit = UINT64_C(1) << row;

	v->numbers &= ~bit;
	v->rounded &= ~bit;
	v->wrong |= bit;
	v->why[row] = (uint8_t)why;
}

/* Appends a field of nbytes and makes it the row's; it has no number then. Without room, it is
 * empty, and l->is_full. */
static void set_field(const struct run *r, struct program_values *v, unsigned row, const char *text, size_t nbytes)
{
	struct program_block *l = r->l;
	char *to = make_room(l, nbytes);

	set_missing(r, v, row);
	if (!to)
		return;
	memcpy(to, text, nbytes);
	set_span(v, row, (struct field_span){l->nbytes, l->nbytes + nbytes});
	l->nbytes += nbytes;
}

/* Writes the plain decimal text[1 .. nbytes] in the input's notation, with quotes if it needs them, for which
 * there is room on both sides. Returns its begin, and its length at *nbytes. */
static char *to_notation(const struct plan *plan, char *text, size_t *nbytes)
{
	char *point = plan->notation.decimal == '.' ? NULL : memchr(text + 1, '.', *nbytes);

	if (point)
		*point = plan->notation.decimal;
	if (!plan_numbers_need_quotes(plan) || !memchr(text + 1, plan->dialect.delimiter, *nbytes))
		return text + 1;
	text[0] = text[*nbytes + 1] = plan->dialect.quote;
	*nbytes += 2;
	return text;
}

/* Writes the row's number, or its quotient, as its field. */
static void number_to_field(struct program_block *l, struct program_values *v, unsigned row)
{
	const bool is_rounded = v->rounded >> row & 1;
	char *to = make_room(l, (is_rounded ? EXACT_QUOTIENT_NBYTES : DECIMAL_TEXT_NBYTES) + 3), *field;
	size_t nbytes;

	set_span(v, row, (struct field_span){0, 0});
	if (!to)
		return;
	nbytes = is_rounded ? quotient_format(&v->quotient[row], to + 1) : decimal_format(v->significand[row], v->scale[row], to + 1);
	field = to_notation(l->plan, to, &nbytes);
	set_span(v, row, (struct field_span){(size_t)(field - l->data), (size_t)(field - l->data) + nbytes});
	l->nbytes = v->end[row];
}

/* The row's raw field, which is made if need be. */
static struct field_span field_of(const struct run *r, struct program_values *v, unsigned row)
{
	if (v->fields >> row & 1)
		return (struct field_span){v->begin[row], v->end[row]};
	if (v->column != NO_COLUMN)
		set_span(v, row, row_block_field(r->b, v->column, row));
	else
		number_to_field(r->l, v, row);
	return (struct field_span){v->begin[row], v->end[row]};
}

/* Puts a row's value without quotes at *text. scratch: for it. */
static enum row_value read_text(const struct run *r, struct program_values *v, unsigned row, struct scratch *scratch, const char **text,
				size_t *nbytes)
{
	struct field_span span;
	enum row_value is;

	if (v->wrong >> row & 1)
		return ROW_QUOTED;
	if (v->column != NO_COLUMN && !(v->fields >> row & 1)) {
		is = row_block_value(r->b, v->column, row, text, nbytes);
		if (is != ROW_QUOTED)
			return is;
	}
	span = field_of(r, v, row);
	*text = field_value(&r->l->plan->dialect, r->b->text + span.begin, span.end - span.begin, scratch, nbytes);
	if (!*text)
		r->l->status = STATUS_NO_MEMORY;
	return *text && !value_is_missing(r->l->plan, program_block_how(r->l, span.begin), *text, *nbytes) ? ROW_PRESENT
													    : ROW_MISSING;
}

/* Makes the values' numbers those of their column. */
static void load_numbers(const struct run *r, struct program_values *v)
{
	const struct simd_numbers *x;

	if (v->has_numbers)
		return;
	x = row_block_numbers(r->b, v->column);
	v->has_numbers = true;
	v->numbers = x->numbers;
	v->empty = x->empty;
	v->significand = x->significand;
	v->scale = x->scale;
}

/* Detaches the values from their column. Each row that counts has a number or a field of its own by now. */
static void own(struct program_values *v)
{
	v->column = NO_COLUMN;
	v->has_numbers = true;
	v->empty = 0;
	v->significand = v->own_significand;
	v->scale = v->own_scale;
	v->quotient = v->own_quotient;
}

/* Copies numbers and fields from the values' column. */
static void settle(const struct run *r, struct program_values *v)
{
	if (v->column == NO_COLUMN)
		return;
	load_numbers(r, v);
	for (uint64_t rows = r->rows & v->rounded; rows; rows &= rows - 1)
		v->own_quotient[lowest(rows)] = v->quotient[lowest(rows)];
	for (uint64_t rows = r->rows & ~v->fields & ~v->rounded; rows; rows &= rows - 1) {
		struct field_span span = row_block_field(r->b, v->column, lowest(rows));
		v->begin[lowest(rows)] = (uint32_t)span.begin;
		v->end[lowest(rows)] = (uint32_t)span.end;
	}
	v->fields |= r->rows & ~v->rounded;
	if (v->significand != v->own_significand) {
		memcpy(v->own_significand, v->significand, sizeof v->own_significand);
		memcpy(v->own_scale, v->scale, sizeof v->own_scale);
	}
	own(v);
}

/* ---- numbers beyond the fast path ---- */

static void set_quotient(struct program_values *v, unsigned row, const struct exact *q)
{
	const uint64_t bit = UINT64_C(1) << row;

	v->numbers &= ~bit;
	v->fields &= ~bit;
	v->wrong &= ~bit;
	v->rounded |= bit;
	v->own_quotient[row] = *q;
}

/* Shows the first digits of x, which no field may hold. */
static void set_beyond(const struct run *r, struct program_values *v, unsigned row, const struct exact *x)
{
	char text[64], digits[INTEGER_NDIGITS];
	struct integer magnitude;
	int ndigits, n;

	exact_to_integer(x, x->scale, &magnitude);
	ndigits = integer_digits(&magnitude, digits);
	n = ndigits ? (ndigits - 1) % 9 + 1 : 0;
	while (n > 1 && digits[n - 1] == '0')
		n--;
	snprintf(text, sizeof text, "%s%.*se%d", magnitude.negative ? "-" : "", n ? n : 1, n ? digits : "0", ndigits - n - x->scale);
	set_field(r, v, row, text, strlen(text));
	set_wrong(v, row, STATUS_OUT_OF_RANGE);
}

/* Makes x the row's value. One that no field may hold is wrong. */
static void set_exact(const struct run *r, struct program_values *v, unsigned row, const struct exact *x)
{
	char text[EXACT_TEXT_NBYTES + 2 + DECIMAL_TEXT_SLACK], *field;
	const bool is_short = !x->is_long && !x->is_rounded && x->value < DECIMAL_SIGNIFICAND_LIMIT &&
			      x->value > -DECIMAL_SIGNIFICAND_LIMIT && x->scale < DECIMAL_NSCALES;
	size_t nbytes;

	if (is_short) {
		set_number(v, row, (struct decimal){(int64_t)x->value, x->scale});
	} else if (!exact_is_in_range(x)) {
		set_beyond(r, v, row, x);
	} else if (x->is_rounded) {
		set_quotient(v, row, x);
	} else {
		nbytes = (size_t)(exact_write(x, x->scale, text + 1) - (text + 1));
		field = to_notation(r->l->plan, text, &nbytes);
		set_field(r, v, row, field, nbytes);
	}
}

static struct decimal number_at(const struct program_values *v, unsigned row)
{
	return (struct decimal){v->significand[row], v->scale[row]};
}

/* Reads a row's value as it is compared: a rounded number as it is printed. A number of the fast path has no text. */
static struct lane_value read_value(const struct run *r, struct program_values *v, unsigned row, struct scratch *scratch)
{
	struct lane_value value = {.kind = LANE_NUMBER};
	bool is_number = true;

	if (v->numbers >> row & 1) {
		value.number = number_at(v, row);
		return value;
	}
	value.kind = LANE_MISSING;
	switch (read_text(r, v, row, scratch, &value.text, &value.nbytes)) {
	case ROW_QUOTED:
		value.kind = LANE_NOT_A_NUMBER;
		break;
	case ROW_PRESENT:
		value.kind = LANE_UNREAD;
		if (value_to_plain(r->l->plan, &value.text, &value.nbytes, scratch, &is_number) != STATUS_OK)
			r->l->status = STATUS_NO_MEMORY;
		if (!is_number)
			value.kind = LANE_NOT_A_NUMBER;
		lane_read(&value);
		break;
	default:
		break;
	}
	return value;
}

enum operand { OPERAND_NUMBER, OPERAND_MISSING, OPERAND_INVALID };

/* Reads a row's value, exactly; its limbs are in the room. OPERAND_INVALID: it is wrong, or becomes so; it has a field then. */
static enum operand read_exact(const struct run *r, struct program_values *v, unsigned row, struct integer *room, struct exact *x)
{
	enum status status = STATUS_NOT_A_NUMBER;
	struct lane_value value;

	if (v->rounded >> row & 1) {
		*x = v->quotient[row];
		return OPERAND_NUMBER;
	}
	value = read_value(r, v, row, &r->l->scratch[0]);
	if (value.kind == LANE_MISSING)
		return OPERAND_MISSING;
	if (value.kind == LANE_NUMBER) {
		*x = (struct exact){.value = value.number.significand, .scale = value.number.scale};
		return OPERAND_NUMBER;
	}
	if (value.kind == LANE_LONG)
		status = exact_parse(value.text, value.nbytes, room, x);
	else if (value.kind == LANE_OUT_OF_RANGE)
		status = STATUS_OUT_OF_RANGE;
	if (status == STATUS_OK)
		return OPERAND_NUMBER;
	field_of(r, v, row);
	if (!(v->wrong >> row & 1))
		set_wrong(v, row, status);
	return OPERAND_INVALID;
}

/* Subtracts two fields that are times: seconds. Returns whether they are. */
static bool subtract_times(const struct run *r, struct program_values *a, struct program_values *b, unsigned row)
{
	struct instant x, y;
	int128 left, right;
	const char *text[2];
	size_t nbytes[2];
	int left_scale, right_scale, scale;

	if ((a->numbers | b->numbers | a->wrong | b->wrong) >> row & 1)
		return false;
	if (read_text(r, a, row, &r->l->scratch[0], &text[0], &nbytes[0]) != ROW_PRESENT ||
	    read_text(r, b, row, &r->l->scratch[1], &text[1], &nbytes[1]) != ROW_PRESENT ||
	    !time_read(&r->l->times, text[0], nbytes[0], &x) || !time_read(&r->l->times, text[1], nbytes[1], &y))
		return false;
	left_scale = time_to_epoch(&x, &left);
	right_scale = time_to_epoch(&y, &right);
	scale = left_scale < right_scale ? right_scale : left_scale;
	left = left * (int128)decimal_power(scale - left_scale) - right * (int128)decimal_power(scale - right_scale);
	set_exact(r, a, row, &(struct exact){.value = left, .scale = scale});
	return true;
}

/* a / b, b not 0, of a row. */
static void divide_row(const struct run *r, struct program_values *v, unsigned row, const struct exact *a, const struct exact *b)
{
	char text[EXACT_QUOTIENT_NBYTES + 2], *field;
	struct integer room;
	struct exact quotient;
	size_t nbytes;

	if (exact_divide(a, b, &room, &quotient)) {
		set_exact(r, v, row, &quotient);
		return;
	}
	nbytes = (size_t)(exact_write_quotient(a, b, text + 1) - (text + 1));
	field = to_notation(r->l->plan, text, &nbytes);
	set_field(r, v, row, field, nbytes);
	set_wrong(v, row, STATUS_OUT_OF_RANGE);
}

/* What a step makes of any number, or of two, whose divisor is not 0: lane_calculate, exactly. The numbers are used up. Returns
 * false where there is no such number. */
static bool calculate_exactly(const struct step *step, struct exact *x, struct exact *y, struct integer *room, struct exact *out)
{
	struct integer whole_room;

	*out = *x;
	switch (step->code) {
	case STEP_SUBTRACT:
		exact_negate(y);
		/* fall through */
	case STEP_ADD:
		*out = exact_sum(x, y, room);
		return true;
	case STEP_MULTIPLY:
		*out = exact_product(x, y, room);
		return true;
	case STEP_MIN:
	case STEP_MAX:
		if (step->code == STEP_MIN ? exact_compare(x, y) > 0 : exact_compare(x, y) < 0)
			*out = *y;
		return true;
	case STEP_MOD:
		*out = exact_modulo(x, y, room);
		return true;
	case STEP_DIV:
		*out = exact_divide_whole(x, y, DECIMAL_TOWARDS_0, room);
		return true;
	case STEP_BIN:
		*x = exact_divide_whole(x, y, DECIMAL_DOWN, &whole_room);
		*out = exact_product(x, y, room);
		return true;
	case STEP_POW:
		return real_power(x, y, room, out);
	case STEP_ABS:
	case STEP_NEGATE:
		if (step->code == STEP_NEGATE || exact_is_negative(x))
			exact_negate(out);
		return true;
	case STEP_SIGN:
		*out = (struct exact){.value = exact_is_zero(x) ? 0 : exact_is_negative(x) ? -1 : 1};
		return true;
	case STEP_NUMBER_OF:
		return true;
	default:
		if (step_is_real(step))
			return real_compute((enum real)(step->code - STEP_SQRT), x, room, out);
		*out = exact_round_to(x, (int)step->index, lane_rounding(step->code), room);
		return true;
	}
}

/* Does a step for a row that the fast path does not: a, or a and b, which is another one. */
static void calculate_row(const struct run *r, const struct step *step, struct program_values *a, struct program_values *b, unsigned row)
{
	const bool may_be_text = step->code == STEP_NUMBER_OF && !(a->wrong >> row & 1);
	const bool divides = step->code == STEP_DIVIDE || (step->code >= STEP_MOD && step->code <= STEP_BIN);
	struct integer x_room, y_room, room;
	struct exact x, y, result;
	enum operand left, right;

	if (step->code == STEP_SUBTRACT && subtract_times(r, a, b, row))
		return;
	left = read_exact(r, a, row, &x_room, &x);
	right = a == b ? left : read_exact(r, b, row, &y_room, &y);
	if (left == OPERAND_MISSING || right == OPERAND_MISSING ||
	    (left == OPERAND_INVALID && may_be_text && a->why[row] == STATUS_NOT_A_NUMBER)) {
		set_missing(r, a, row);
	} else if (left == OPERAND_INVALID) {
		return; /* the field stays */
	} else if (right == OPERAND_INVALID) {
		set_span(a, row, field_of(r, b, row));
		set_wrong(a, row, (enum status)b->why[row]);
	} else if (divides && exact_is_zero(&y)) {
		set_missing(r, a, row);
	} else if (step->code == STEP_DIVIDE) {
		divide_row(r, a, row, &x, &y);
	} else if (calculate_exactly(step, &x, &y, &room, &result)) {
		set_exact(r, a, row, &result);
	} else {
		set_missing(r, a, row);
	}
}

/* ---- numbers ---- */

/* What a step makes of numbers of the fast path; false where that does not fit. */
static inline __attribute__((always_inline)) bool calculate(enum step_code code, uint32_t nplaces, struct decimal x, struct decimal y,
							   struct decimal *out)
{
	switch (code) {
	case STEP_MOD:
		return y.significand != 0 && decimal_modulo(x, y, out);
	case STEP_DIV:
		return y.significand != 0 && decimal_divide_whole(x, y, DECIMAL_TOWARDS_0, out);
	case STEP_BIN:
		return y.significand != 0 && decimal_divide_whole(x, y, DECIMAL_DOWN, out) && decimal_multiply(*out, y, out);
	default:
		return lane_calculate(code, nplaces, x, y, out);
	}
}

/* Calculates the numbers of some rows; returns those whose result fits. Inline, so that frequent codes have loops of their own. */
static inline __attribute__((always_inline)) uint64_t calculate_rows(enum step_code code, const struct step *step,
								    struct program_values *a, const struct program_values *b,
								    uint64_t rows)
{
	uint64_t fit = rows;

	for (; rows; rows &= rows - 1) {
		const unsigned row = lowest(rows);
		struct decimal out;
		if (!calculate(code, step->index, number_at(a, row), number_at(b, row), &out))
			fit &= ~(rows & -rows);
		else
			set_own(a, row, out);
	}
	return fit;
}

/* Divides numbers; returns the rows that are done. */
static uint64_t divide(struct program_values *a, const struct program_values *b, uint64_t rows)
{
	uint64_t done = 0, rounded;

	for (uint64_t all = rows; all; all &= all - 1)
		if (b->significand[lowest(all)] == 0)
			rows &= ~(all & -all);
	rounded = quotient_divide_rows(a->own_quotient, a->significand, a->scale, b->significand, b->scale, rows);
	for (rows &= ~rounded; rows; rows &= rows - 1) {
		const struct exact *q = &a->own_quotient[lowest(rows)];
		if (q->scale < 0 || q->scale >= DECIMAL_NSCALES || q->value >= DECIMAL_SIGNIFICAND_LIMIT || q->value <= -DECIMAL_SIGNIFICAND_LIMIT)
			continue;
		set_number(a, lowest(rows), (struct decimal){(int64_t)q->value, q->scale});
		done |= rows & -rows;
	}
	a->numbers &= ~rounded;
	a->fields &= ~rounded;
	a->wrong &= ~rounded;
	a->rounded |= rounded;
	return done | rounded;
}

/* a: op a, or a, b: a op b; b may be a. */
static void calculate_values(const struct run *r, const struct step *step, struct program_values *a, struct program_values *b)
{
	uint64_t both, done;

	load_numbers(r, a);
	load_numbers(r, b);
	both = r->rows & a->numbers & b->numbers;
	switch (step->code) {
	case STEP_DIVIDE:
		done = divide(a, b, both);
		break;
#define LOOP(code) \
	case code: \
		done = calculate_rows(code, step, a, b, both); \
		break;
	LOOP(STEP_ADD)
	LOOP(STEP_SUBTRACT)
	LOOP(STEP_MULTIPLY)
	LOOP(STEP_MOD)
	LOOP(STEP_MIN)
	LOOP(STEP_MAX)
	LOOP(STEP_ROUND)
	LOOP(STEP_NEGATE)
	LOOP(STEP_ABS)
#undef LOOP
	default:
		done = calculate_rows((enum step_code)step->code, step, a, b, both);
	}
	if (step->code != STEP_DIVIDE)
		a->fields &= ~done;
	for (uint64_t rows = r->rows & ~done; rows; rows &= rows - 1)
		calculate_row(r, step, a, b, lowest(rows));
	own(a);
}

static void work_numbers(struct run *r, const struct step *step)
{
	calculate_values(r, step, r->top - step->nvalues, r->top - 1);
	r->top -= step->nvalues - 1;
}

/* ---- texts ---- */

static char changed_case(enum step_code code, char c)
{
	if (code == STEP_LOWER)
		return c >= 'A' && c <= 'Z' ? (char)(c + 'a' - 'A') : c;
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* Changes the letters of a raw field, whose quotes stay. */
static void change_case(const struct run *r, enum step_code code, struct program_values *v, unsigned row)
{
	struct field_span field = field_of(r, v, row);
	size_t nbytes = field.end - field.begin;
	char *to = make_room(r->l, nbytes);

	if (!to)
		return;
	for (size_t i = 0; i < nbytes; i++)
		to[i] = changed_case(code, r->b->text[field.begin + i]);
	set_text_span(v, row, (struct field_span){r->l->nbytes, r->l->nbytes + nbytes});
	r->l->nbytes += nbytes;
}

/* LOWER, UPPER */
static void work_case(struct run *r, const struct step *step)
{
	struct program_values *x = r->top - 1;

	for (uint64_t rows = r->rows; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		const char *text;
		size_t nbytes;
		enum row_value is = read_text(r, x, row, &r->l->scratch[0], &text, &nbytes);
		if (is == ROW_QUOTED)
			field_of(r, x, row); /* it stays wrong */
		else if (is == ROW_MISSING)
			set_missing(r, x, row);
		else
			change_case(r, (enum step_code)step->code, x, row);
	}
	own(x);
}

/* ---- functions that are called row by row ---- */

/* Makes a row's value wrong as another one is; its field shows it. */
static void take_wrong(const struct run *r, struct program_values *v, struct program_values *from, unsigned row, enum status why)
{
	set_span(v, row, field_of(r, from, row));
	set_wrong(v, row, why);
}

/* Makes a text the row's value, as a field. last: the field that was made before, if that has the bytes of its text, else empty: it
 * often is the same. */
static void set_text(const struct run *r, struct program_values *v, unsigned row, const char *text, size_t nbytes,
		     struct field_span *last)
{
	char *to;
	size_t field_nbytes;

	if (last->end - last->begin != nbytes || memcmp(r->l->data + last->begin, text, nbytes) != 0) {
		to = make_room(r->l, field_nbytes_max(nbytes));
		field_nbytes = to ? field_write(&r->l->plan->dialect, text, nbytes, to) : 0;
		if (field_nbytes == SIZE_MAX) {
			take_wrong(r, v, v, row, STATUS_UNWRITABLE);
			return;
		}
		*last = (struct field_span){r->l->nbytes, r->l->nbytes + field_nbytes};
		r->l->nbytes += field_nbytes;
	}
	set_text_span(v, row, *last);
	if (last->end - last->begin != nbytes)
		last->end = last->begin;
}

static bool read_integer(const struct run *r, struct program_values *v, unsigned row, int64_t *integer)
{
	struct lane_value value = read_value(r, v, row, &r->l->scratch[0]);
	struct decimal whole = value.number;

	if (value.kind == LANE_NUMBER)
		whole = decimal_round(value.number, 0);
	if (value.kind != LANE_NUMBER || decimal_compare(whole, value.number) != 0 || !decimal_raise(whole, 0, &whole))
		return false;
	*integer = whole.significand;
	return true;
}

static enum status read_number_argument(const struct run *r, struct program_values *v, unsigned row, struct scratch *scratch,
					struct argument *to, bool *is_missing)
{
	struct lane_value value;

	load_numbers(r, v);
	value = read_value(r, v, row, scratch);
	*is_missing = value.kind == LANE_MISSING;
	*to = (struct argument){.text = value.kind == LANE_LONG ? value.text : NULL, .nbytes = value.nbytes, .number = value.number};
	if (v->wrong >> row & 1)
		return (enum status)v->why[row];
	return *is_missing || lane_is_number(&value) ? STATUS_OK : STATUS_NOT_A_NUMBER;
}

/* Reads a row's value as an argument of a kind; STATUS_OK: it is one, or *is_missing. A text that was made may consist of blanks. */
static enum status read_argument(const struct run *r, char kind, struct program_values *v, unsigned row, struct scratch *scratch,
				 struct argument *to, bool *is_missing)
{
	const bool is_integer = kind == 'i' || kind == 'o';
	enum row_value is = ROW_PRESENT;

	to->nbytes = 0;
	*is_missing = false;
	if (kind == 'n')
		return read_number_argument(r, v, row, scratch, to, is_missing);
	if (is_integer && v->numbers >> row & 1 && v->scale[row] == 0) {
		to->integer = v->significand[row];
		return STATUS_OK;
	}
	if (v->column != NO_COLUMN && !((v->fields | v->wrong) >> row & 1))
		is = row_block_value(r->b, v->column, row, &to->text, &to->nbytes);
	else if (!is_integer || !(v->numbers >> row & 1))
		is = ROW_QUOTED;
	if (is == ROW_QUOTED)
		is = read_text(r, v, row, scratch, &to->text, &to->nbytes);
	if (is == ROW_QUOTED)
		return (enum status)v->why[row];
	if (is == ROW_MISSING && to->nbytes > 0 && !is_integer && v->column == NO_COLUMN && program_block_how(r->l, v->begin[row]))
		return STATUS_OK;
	if (is == ROW_MISSING) {
		to->nbytes = 0;
		*is_missing = kind != 'e';
		return STATUS_OK;
	}
	return !is_integer || read_integer(r, v, row, &to->integer) ? STATUS_OK : STATUS_NOT_AN_INTEGER;
}

static void set_result(const struct run *r, const struct call *call, struct program_values *v, unsigned row, struct field_span *last)
{
	switch (call->result) {
	case CALL_NUMBER:
		set_number(v, row, call->number);
		break;
	case CALL_LONG:
		set_exact(r, v, row, &call->exact);
		break;
	case CALL_TEXT:
		if (call->nbytes > 0) {
			set_text(r, v, row, call->text, call->nbytes, last);
			break;
		}
		/* fall through */
	case CALL_MISSING:
		set_missing(r, v, row);
	}
}

/* The letters of functions.def for the values of a function, without what says how often; and what is called. */
static const struct {
	const char *arguments;
	call_function *call;
} row_functions[] = {
#define FUNCTION(id, name, arguments, type, work, lane, help)
#define ROW_FUNCTION(id, name, arguments, type, call, help) [STEP_##id] = {arguments, call},
#include "lang/functions.def"
#undef FUNCTION
};

/* Sets the kind of each value; the last kind is that of all further ones. */
static void set_kinds(const char *arguments, char *kinds, unsigned nvalues)
{
	for (unsigned i = 0; i < nvalues; arguments += arguments[1] != '*')
		if (!strchr("?ksgpurwz", *arguments))
			kinds[i++] = *arguments;
}

/* Whether the first row's value is a date, or begins as one: then no time is lost on the question
 * which values are numbers. */
static bool begins_as_time(const struct run *r, const struct program_values *v)
{
	struct field_span span;

	if (v->column == NO_COLUMN || v->has_numbers || !r->rows)
		return false;
	span = row_block_field(r->b, v->column, lowest(r->rows));
	return span.end - span.begin >= 10 &&
	       time_form_of(r->b->text + span.begin, 10) == TIME_DATE;
}

/* Whether a number below 10^8 may be written so: perhaps with zeros before it. */
static bool may_have_8_digits(const struct run *r, const struct program_values *v, unsigned row)
{
	struct field_span span;

	if (v->column == NO_COLUMN)
		return v->significand[row] >= 10000000;
	span = row_block_field(r->b, v->column, row);
	return span.end - span.begin >= 8;
}

/* Leaves numbers what they are: seconds, unless they could be YYYYMMDD. Returns the rows with
 * another value. */
static uint64_t take_seconds(const struct run *r, struct program_values *v)
{
	uint64_t dates = 0, numbers;

	if (begins_as_time(r, v))
		return r->rows;
	load_numbers(r, v);
	for (unsigned row = 0; row < ROW_BLOCK_NROWS; row++)
		dates |= (uint64_t)((uint64_t)v->significand[row] < 100000000 && v->scale[row] == 0)
			 << row;
	for (uint64_t rows = r->rows & v->numbers & dates; rows; rows &= rows - 1)
		dates &= ~((uint64_t)!may_have_8_digits(r, v, lowest(rows)) << lowest(rows));
	numbers = r->rows & v->numbers & ~dates;
	if (v->significand != v->own_significand) {
		memcpy(v->own_significand, v->significand, sizeof v->own_significand);
		memcpy(v->own_scale, v->scale, sizeof v->own_scale);
	}
	v->fields &= ~numbers;
	v->rounded &= ~numbers;
	v->wrong &= ~numbers;
	return r->rows & ~numbers;
}

/* Leaves a value what it is if it is a number. */
static bool take_number(const struct run *r, struct program_values *v, unsigned row)
{
	struct lane_value value = read_value(r, v, row, &r->l->scratch[0]);

	if (!lane_is_number(&value))
		return false;
	if (value.kind == LANE_NUMBER)
		set_number(v, row, value.number);
	else
		set_text_span(v, row, field_of(r, v, row));
	return true;
}

static void work_rows(struct run *r, const struct step *step)
{
	struct program_values *first = r->top - step->nvalues;
	const bool takes_seconds = step->code == STEP_EPOCH && step->index;
	uint64_t rows = r->rows;
	struct argument values[PROGRAM_NVALUES_MAX];
	char kinds[PROGRAM_NVALUES_MAX];
	struct integer limbs;
	struct field_span last = {0, 0};
	struct row_text texts[ROW_BLOCK_NROWS];
	uint64_t plain = 0; /* rows whose first value is one of the texts */
	bool is_of_time;
	struct call call = {.nvalues = step->nvalues, .value = values, .index = step->index, .limbs = &limbs, .room = &r->l->room,
			    .times = &r->l->times, .notation = &r->l->plan->notation,
			    .unit = {step->number.significand, step->number.scale},
			    .constant = r->state->program->literals + step->literal_begin, .constant_nbytes = step->literal_nbytes};

	*kinds = '\0';
	if (r->state->program->npatterns > 0) { /* else it has none */
		call.pattern = r->state->program->patterns[step->left];
		call.match = r->state->matches[step->left];
	}
	set_kinds(step->code == STEP_CONCAT && step->index ? "t*"
							   : row_functions[step->code].arguments,
		  kinds, step->nvalues); /* a || b */
	is_of_time = kinds[0] == 'd';
	if (takes_seconds)
		rows = take_seconds(r, first);
	if (rows && *kinds && strchr("ted", *kinds) && first->column != NO_COLUMN &&
	    !(first->fields | first->wrong))
		plain = row_block_plain_values(r->b, first->column, rows, texts);
	for (; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		struct program_values *wrong = first;
		enum status why = STATUS_OK;
		bool is_missing = false;

		if (plain >> row & 1) {
			values[0].text = texts[row].text;
			values[0].nbytes = texts[row].nbytes;
		}
		for (unsigned i = plain >> row & 1; i < step->nvalues && !is_missing; i++) {
			enum status found = read_argument(r, kinds[i], &first[i], row, &r->l->scratch[i], &values[i], &is_missing);
			wrong = why == STATUS_OK ? &first[i] : wrong;
			why = why == STATUS_OK ? found : why;
		}
		if (why == STATUS_OK && is_of_time && !is_missing) {
			struct instant *x = &values[0].time;
			if (!time_read(call.times, values[0].text, values[0].nbytes, x)) {
				why = STATUS_NOT_A_DATE;
			} else if (takes_seconds && x->nfraction == 0) {
				set_number(first, row, (struct decimal){x->seconds, 0});
				continue;
			} else if (x->seconds >= call.same.begin && x->seconds < call.same.end) {
				if (call.result == CALL_TEXT && last.begin < last.end)
					set_text_span(first, row, last);
				else
					set_result(r, &call, first, row, &last);
				continue;
			}
		}
		call.result = CALL_MISSING;
		call.same = (struct time_span){0, 0};
		if (why == STATUS_NOT_A_DATE && takes_seconds && take_number(r, first, row))
			continue;
		if (why != STATUS_OK && !is_missing) {
			take_wrong(r, first, wrong, row, why);
			continue;
		}
		why = STATUS_OK;
		if (!is_missing)
			why = row_functions[step->code].call(&call);
		if (why == STATUS_NO_MEMORY)
			r->l->status = why;
		else if (why != STATUS_OK)
			take_wrong(r, first, first, row, why);
		if (why == STATUS_OK || why == STATUS_NO_MEMORY)
			set_result(r, &call, first, row, &last);
		else
			call.same = (struct time_span){0, 0};
	}
	own(first);
	r->top = first + 1;
}

/* ---- tests ---- */

/* Tests the order of two numbers of a row, of which one is not of the fast path. */
static unsigned test_long_numbers(const struct step *step, struct lane_value *a, struct lane_value *b)
{
	char text[DECIMAL_TEXT_NBYTES];

	for (int i = 0; i < 2; i++) {
		struct lane_value *v = i ? b : a;
		if (v->kind != LANE_NUMBER || v->text)
			continue;
		if ((i ? a : b)->kind != LANE_LONG)
			continue;
		v->nbytes = decimal_format(v->number.significand, v->number.scale, text);
		v->text = text;
	}
	return lane_test_numbers(step, a, b);
}

static void add_truth(struct truth *t, unsigned of_row, uint64_t bit)
{
	t->low |= of_row & 1 ? bit : 0;
	t->high |= of_row & 2 ? bit : 0;
}

static uint64_t if_accepted(const struct step *step, enum order order, uint64_t rows)
{
	return step->accepts & order ? rows : 0;
}

/* A value against a number. */
static struct truth test_number(const struct run *r, const struct step *step, struct program_values *v)
{
	const struct row_threshold *thresholds = r->state->thresholds + (size_t)step->index * DECIMAL_NSCALES;
	uint64_t less = 0, greater = 0, odd = r->rows;
	struct truth t = {0, 0};

	load_numbers(r, v);
	if (!step->is_long) {
		const struct row_threshold first = thresholds[*v->scale];
		const bool are_alike = simd_scales_alike(v->scale);
		for (unsigned row = r->b->nrows; are_alike && row-- > 0;) {
			less = less << 1 | (v->significand[row] < first.low);
			greater = greater << 1 | (v->significand[row] > first.high);
		}
		for (unsigned row = r->b->nrows; !are_alike && row-- > 0;) {
			struct row_threshold threshold = thresholds[v->scale[row]];
			less = less << 1 | (v->significand[row] < threshold.low);
			greater = greater << 1 | (v->significand[row] > threshold.high);
		}
		t.low = r->rows & v->numbers &
			(if_accepted(step, ORDER_LESS, less) | if_accepted(step, ORDER_GREATER, greater) |
			 if_accepted(step, ORDER_EQUAL, ~(less | greater)));
		t.high = t.low;
		odd &= ~v->numbers;
	}
	for (odd &= ~v->empty; odd; odd &= odd - 1) {
		struct lane_value value = read_value(r, v, lowest(odd), &r->l->scratch[0]);
		struct lane_value literal = {.text = r->state->program->literals + step->literal_begin,
					     .nbytes = step->literal_nbytes, .number = step->number,
					     .kind = step->is_long ? LANE_LONG : LANE_NUMBER};
		add_truth(&t, test_long_numbers(step, &value, &literal), odd & -odd);
	}
	return t;
}

/* Whether a text begins as numbers of some notation do: -1,000 or $5. */
static bool begins_as_number(const struct lane_value *v)
{
	size_t nbytes = v->nbytes, i = 0;
	const char *text = decimal_trim(v->text, &nbytes);

	while (i < nbytes && strchr("+-.,($#'", text[i]))
		i++;
	for (int n = 0; n < 4 && i < nbytes && (unsigned char)text[i] >= 0x80; n++) /* another currency */
		i++;
	return i < nbytes && decimal_is_digit(text[i]);
}

/* Whether two texts are times. *order: theirs. */
static bool compare_times(struct time_reader *times, const struct lane_value *a, const struct lane_value *b, int *order)
{
	struct instant x, y;

	if (!time_read(times, a->text, a->nbytes, &x) || !time_read(times, b->text, b->nbytes, &y))
		return false;
	*order = time_compare(&x, &y);
	return true;
}

/* Tests two columns' values of which neither is a number: as times, if both are; else as texts. Of numbers in a notation that
 * was not asked for, bytes say whether they are equal, but not which one is greater. */
static unsigned test_not_numbers(struct time_reader *times, const struct step *step, const struct lane_value *a, const struct lane_value *b)
{
	const bool is_order = !(step->accepts & ORDER_LESS) != !(step->accepts & ORDER_GREATER);
	const bool are_like_numbers = begins_as_number(a) && begins_as_number(b);
	int order;

	if (are_like_numbers && compare_times(times, a, b, &order))
		return lane_accepts(step, lane_order_of(order));
	if (is_order && (begins_as_number(a) || begins_as_number(b)))
		return LANE_MAYBE;
	return lane_accepts(step, lane_order_bytes(a->text, a->nbytes, b->text, b->nbytes));
}

/* Two values, as numbers, or as what else both are. */
static struct truth test_numbers(const struct run *r, const struct step *step, struct program_values *a, struct program_values *b)
{
	struct truth t = {0, 0};
	const int64_t *x, *y;
	const uint8_t *x_scale, *y_scale;
	uint64_t both, less = 0, greater = 0;

	load_numbers(r, a);
	load_numbers(r, b);
	both = r->rows & a->numbers & b->numbers;
	x = a->significand;
	y = b->significand;
	x_scale = a->scale;
	y_scale = b->scale;
	for (uint64_t rows = both; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		int order = decimal_compare((struct decimal){x[row], x_scale[row]}, (struct decimal){y[row], y_scale[row]});
		less |= order < 0 ? rows & -rows : 0;
		greater |= order > 0 ? rows & -rows : 0;
	}
	t.low = if_accepted(step, ORDER_LESS, less) | if_accepted(step, ORDER_GREATER, greater) |
		if_accepted(step, ORDER_EQUAL, both & ~(less | greater));
	t.high = t.low;
	for (uint64_t odd = r->rows & ~both & ~(a->empty | b->empty); odd; odd &= odd - 1) {
		struct lane_value left = read_value(r, a, lowest(odd), &r->l->scratch[0]),
				  right = read_value(r, b, lowest(odd), &r->l->scratch[1]);
		bool are_texts = step->index && left.kind == LANE_NOT_A_NUMBER && left.text &&
				 right.kind == LANE_NOT_A_NUMBER && right.text;
		add_truth(&t, are_texts ? test_not_numbers(&r->l->times, step, &left, &right) : test_long_numbers(step, &left, &right),
			  odd & -odd);
	}
	return t;
}

/* Whether quotients, or a quotient and a number, are in the order of two products: a / b and c / d
 * in that of a * d and c * b. That is not sure of those that are so close that they may be printed
 * alike: a quotient is rounded to RATIO_NDIGITS digits, by less than its 2^-54th part, and two of them
 * together by less than 2^-53. */
static inline bool products_decide(int128 left, int128 right, bool are_quotients, int64_t number)
{
	const int128 difference = left < right ? right - left : left - right;
	const int128 magnitude = right < 0 ? -right : right;
	const int64_t limit = (int64_t)decimal_powers[RATIO_NDIGITS];

	if (difference == 0) /* a number beyond the limit has more digits than any quotient */
		return are_quotients || (number < limit && number > -limit);
	return difference > magnitude >> 53;
}

/* Multiplies by 10^nplaces, where that surely fits. */
static inline bool scale_product(int128 *x, int nplaces)
{
	if (nplaces > 0) {
		if (nplaces > DECIMAL_NDIGITS || *x != (int64_t)*x)
			return false;
		*x *= (int64_t)decimal_powers[nplaces];
	}
	return true;
}

/* a / b against c / d by a * d against c * b. Where b or d is NULL it is 1; where c is, it is the
 * literal. Sets *t for the rows that are decided, and returns them. Inline, so that each kind has a
 * loop of its own. */
static inline __attribute__((always_inline)) uint64_t
cross_multiply(const struct step *step, const struct program_values *a,
	       const struct program_values *b, const struct program_values *c,
	       const struct program_values *d, uint64_t rows, struct truth *t)
{
	uint64_t decided = 0, less = 0, greater = 0, missing = 0;

	for (; rows; rows &= rows - 1) {
		const unsigned row = lowest(rows);
		const uint64_t bit = rows & -rows;
		const struct decimal number = c ? number_at(c, row) : step->number;
		const struct decimal one = {1, 0}, x = number_at(a, row);
		const struct decimal under = b ? number_at(b, row) : one;
		const struct decimal other = d ? number_at(d, row) : one;
		const int nplaces = under.scale + number.scale - other.scale - x.scale;
		const bool turns = (under.significand ^ other.significand) < 0;
		int128 left = (int128)x.significand * other.significand;
		int128 right = (int128)number.significand * under.significand;
		if (!scale_product(&left, nplaces) || !scale_product(&right, -nplaces) ||
		    !products_decide(left, right, b && d, b ? number.significand : x.significand))
			continue;
		decided |= bit;
		missing |= under.significand == 0 || other.significand == 0 ? bit : 0;
		less |= (turns ? left > right : left < right) ? bit : 0;
		greater |= (turns ? left < right : left > right) ? bit : 0;
	}
	t->low = if_accepted(step, ORDER_LESS, less) | if_accepted(step, ORDER_GREATER, greater) |
		 if_accepted(step, ORDER_EQUAL, decided & ~(less | greater));
	t->low &= ~missing;
	t->high = t->low;
	return decided;
}

/* Divides copies of two values, which are the quotient then. */
static struct program_values *make_quotient(const struct run *r, struct program_values *to,
					    struct program_values *a, struct program_values *b)
{
	*to = *a;
	settle(r, to);
	own(to);
	calculate_values(r, &(struct step){.code = STEP_DIVIDE}, to, b);
	return to;
}

/* Values that are no plain numbers may be others. */
static struct truth test_is_number(const struct run *r, const struct step *step, struct program_values *v)
{
	struct truth t = {0, 0};

	load_numbers(r, v);
	t.low = if_accepted(step, ORDER_EQUAL, r->rows & v->numbers);
	t.high = t.low;
	for (uint64_t odd = r->rows & ~(v->numbers | v->empty); odd; odd &= odd - 1) {
		struct lane_value value = read_value(r, v, lowest(odd), &r->l->scratch[0]);
		if (value.kind != LANE_MISSING)
			add_truth(&t, lane_accepts(step, lane_is_number(&value) ? ORDER_EQUAL : ORDER_GREATER), odd & -odd);
	}
	return t;
}

/* A value as text, or whether it is missing; other: what it is compared with, NULL: the literal. Inline, so that each kind of
 * test has a loop of its own; is_equality: the text is compared with the literal, but not put in order. */
static inline __attribute__((always_inline)) struct truth scan_texts(const struct run *r, const struct step *step,
								     struct program_values *v, struct program_values *other,
								     enum step_code code, bool is_equality)
{
	const bool is_field = v->column != NO_COLUMN && !(v->fields | v->wrong);
	const char *literal = r->state->program->literals + step->literal_begin, *text;
	struct row_text texts[ROW_BLOCK_NROWS];
	const uint64_t plain = is_field ? row_block_plain_values(r->b, v->column, r->rows, texts) : 0;
	uint64_t missing = 0, holds = 0, odd = 0;
	size_t n = step->literal_nbytes, nbytes, begin, end;
	int found;

	for (uint64_t rows = r->rows; rows; rows &= rows - 1) {
		const unsigned row = lowest(rows);
		enum row_value is = ROW_PRESENT, is_other = ROW_PRESENT;
		if (plain >> row & 1) {
			text = texts[row].text;
			nbytes = texts[row].nbytes;
		} else {
			is = read_text(r, v, row, &r->l->scratch[0], &text, &nbytes);
		}
		if (other)
			is_other = read_text(r, other, row, &r->l->scratch[1], &literal, &n);
		if (is == ROW_MISSING || is_other == ROW_MISSING) {
			missing |= rows & -rows;
		} else if (is == ROW_QUOTED || is_other == ROW_QUOTED) {
			odd |= rows & -rows;
		} else if (is_equality) {
			holds |= nbytes == n && memcmp(text, literal, n) == 0 ? rows & -rows : 0;
		} else if (code == STEP_CONTAINS) { /* faster than lane_order_texts */
			holds |= memmem(text, nbytes, literal, n) ? rows & -rows : 0;
		} else if (code == STEP_MATCH) {
			found = pattern_find(r->state->program->patterns[step->index], r->state->matches[step->index], text, nbytes, 0,
					     &begin, &end);
			holds |= found > 0 ? rows & -rows : 0;
			odd |= found < 0 ? rows & -rows : 0; /* it takes too many steps */
		} else if (code != STEP_IS_MISSING) {
			holds |= step->accepts & lane_order_texts(step->code, text, nbytes, literal, n) ? rows & -rows : 0;
		}
	}
	if (code == STEP_IS_MISSING)
		holds = if_accepted(step, ORDER_LESS, missing) | if_accepted(step, ORDER_GREATER, r->rows & ~missing);
	else if (is_equality || code == STEP_CONTAINS || code == STEP_MATCH)
		holds = if_accepted(step, ORDER_EQUAL, holds) | if_accepted(step, ORDER_GREATER, r->rows & ~(holds | missing | odd));
	return (struct truth){holds, code == STEP_IS_MISSING ? holds : holds | odd};
}

static struct truth test_text(const struct run *r, const struct step *step, struct program_values *v, struct program_values *other)
{
	if (step->of_two)
		return scan_texts(r, step, v, other, STEP_ORDER_TEXT, false);
	switch (step->code) {
	case STEP_IS_MISSING:
		return scan_texts(r, step, v, NULL, STEP_IS_MISSING, false);
	case STEP_CONTAINS:
		return scan_texts(r, step, v, NULL, STEP_CONTAINS, false);
	case STEP_MATCH:
		return scan_texts(r, step, v, NULL, STEP_MATCH, false);
	case STEP_ORDER_TEXT:
		if (!(step->accepts & ORDER_LESS) == !(step->accepts & ORDER_GREATER))
			return scan_texts(r, step, v, NULL, STEP_ORDER_TEXT, true);
		/* fall through */
	default:
		return scan_texts(r, step, v, NULL, STEP_ORDER_TEXT, false);
	}
}

/* Tests values; b: the right ones, if there are any. */
static struct truth test_values(const struct run *r, const struct step *step,
				struct program_values *a, struct program_values *b)
{
	switch (step->code) {
	case STEP_ORDER_NUMBERS:
		return test_numbers(r, step, a, b);
	case STEP_ORDER_NUMBER:
		return test_number(r, step, a);
	case STEP_IS_NUMBER:
		return test_is_number(r, step, a);
	default:
		return test_text(r, step, a, b);
	}
}

/* Tests quotients: most of them by products, the others by dividing. *left and *right become the
 * values that were compared where that was done. */
static struct truth test_quotients(struct run *r, const struct step *step,
				   struct program_values **left, struct program_values **right)
{
	struct program_values *a = *left, *b = step->quotients & QUOTIENT_LEFT ? a + 1 : NULL;
	struct program_values *c = step_nright(step) ? a + step_nleft(step) : NULL;
	struct program_values *d = step->quotients & QUOTIENT_RIGHT ? c + 1 : NULL;
	const uint64_t all = r->rows;
	const bool is_of_numbers =
		step->code == STEP_ORDER_NUMBER || step->code == STEP_ORDER_NUMBERS;
	uint64_t rows = is_of_numbers && !step->is_long ? all : 0;
	struct truth t = {0, 0}, others;

	for (struct program_values *v = a; v < r->top; v++) {
		load_numbers(r, v);
		rows &= v->numbers;
	}
	if (!c)
		rows = cross_multiply(step, a, b, NULL, NULL, rows, &t);
	else if (!d)
		rows = cross_multiply(step, a, b, c, NULL, rows, &t);
	else
		rows = b ? cross_multiply(step, a, b, c, d, rows, &t)
			 : cross_multiply(step, a, NULL, c, d, rows, &t);
	if (rows == all)
		return t;
	r->rows = all & ~rows;
	*left = b ? make_quotient(r, r->top, a, b) : a;
	*right = d ? make_quotient(r, r->top + 1, c, d) : c ? c : *left;
	others = test_values(r, step, *left, *right);
	r->rows = all;
	return (struct truth){t.low | others.low, t.high | others.high};
}

/* ---- values without an answer ---- */

/* What is wrong with a value that a test cannot take; why is STATUS_OK if it can. */
static struct row_culprit culprit_of(const struct run *r, const struct step *step, struct program_values *v, unsigned row)
{
	const struct program *p = r->state->program;
	struct row_culprit culprit = {.column = v->column, .why = STATUS_OK};
	struct lane_value value;

	load_numbers(r, v);
	value = read_value(r, v, row, &r->l->scratch[0]);
	if (v->wrong >> row & 1)
		culprit.why = (enum status)v->why[row];
	else if (step->code == STEP_MATCH)
		culprit.why = STATUS_TOO_COSTLY;
	else if ((step->code == STEP_ORDER_NUMBERS || step->code == STEP_ORDER_NUMBER) &&
		 (value.kind == LANE_NOT_A_NUMBER || value.kind == LANE_OUT_OF_RANGE))
		culprit.why = value.kind == LANE_OUT_OF_RANGE ? STATUS_OUT_OF_RANGE
			      : step->code == STEP_ORDER_NUMBERS && step->index ? STATUS_NOT_BOTH_NUMBERS
										: STATUS_NOT_A_NUMBER;
	if (culprit.why == STATUS_OK)
		return culprit;
	culprit.field = field_of(r, v, row);
	if (culprit.column == NO_COLUMN) /* of a computed condition; else what its steps have found wrong is a column's value */
		culprit.column = p->name ? (uint32_t)(r->l->first + (size_t)(r->state - r->l->programs)) : p->columns[0];
	for (size_t i = 0; v->column == NO_COLUMN && i < p->names.nselectors; i++)
		if (!r->l->plan->columns[p->columns[i]].let &&
		    row_block_field(r->b, p->columns[i], row).begin == culprit.field.begin)
			culprit.column = p->columns[i];
	return culprit;
}

/* The culprits of a truth: of each row that it leaves undecided. */
static struct row_culprit *culprits_of(const struct run *r, const struct truth *t)
{
	return r->state->culprits[t - r->state->truths];
}

/* Makes two truths one, r->truth[-1] of the two. Say that more and more of the tests without an answer are false, the first ones
 * first: the culprit is where that makes the condition false. */
static void join_truths(struct run *r, enum step_code code)
{
	const struct truth *b = --r->truth;
	struct truth *a = r->truth - 1;
	const uint64_t odd = a->high & ~a->low, others = b->high & ~b->low;
	uint64_t taken;

	if (code == STEP_AND)
		*a = (struct truth){a->low & b->low, a->high & b->high};
	else
		*a = (struct truth){a->low | b->low, a->high | b->high};
	taken = a->high & ~a->low & others & (code == STEP_AND ? ~odd : ~UINT64_C(0));
	for (; taken; taken &= taken - 1)
		culprits_of(r, a)[lowest(taken)] = culprits_of(r, b)[lowest(taken)];
}

/* Makes the values those of a column of the plan. */
static void load(const struct run *r, uint32_t column, struct program_values *v)
{
	v->column = column;
	v->has_numbers = false;
	v->numbers = v->empty = v->fields = v->rounded = v->wrong = 0;
	if (r->l->plan->columns[column].let) {
		const struct program_values *from = values_of(r->b, column);
		v->wrong = from->wrong;
		v->rounded = from->rounded;
		v->quotient = from->quotient;
		memcpy(v->why, from->why, sizeof v->why);
	}
}

/* Takes the test's values from the stack, and pushes its truth. */
static void work_test(struct run *r, const struct step *step)
{
	struct program_values *a = r->top - step_nleft(step) - step_nright(step), *b = r->top - 1;
	struct row_culprit *culprits = culprits_of(r, r->truth);
	struct truth t = step->quotients ? test_quotients(r, step, &a, &b) : test_values(r, step, a, b);

	for (uint64_t odd = t.high & ~t.low; odd; odd &= odd - 1) {
		const unsigned row = lowest(odd);
		culprits[row] = culprit_of(r, step, a, row);
		if (culprits[row].why == STATUS_OK)
			culprits[row] = culprit_of(r, step, b, row);
	}
	r->top -= step->nvalues - step_nkept(step);
	*r->truth++ = t;
}

/* ---- steps ---- */

static void load_literal(const struct run *r, const struct step *step, struct program_values *v)
{
	uint32_t begin = r->state->literals_offset + step->literal_begin;

	v->numbers = step->code == STEP_NUMBER ? r->rows : 0;
	v->fields = r->rows & ~v->numbers;
	v->rounded = v->wrong = 0;
	for (unsigned row = 0; row < ROW_BLOCK_NROWS; row++) {
		set_own(v, row, step->number);
		v->begin[row] = begin;
		v->end[row] = begin + step->literal_nbytes;
	}
	own(v);
}

/* Makes the values of some rows those of others. Both are settled. */
static void take_rows(struct program_values *to, const struct program_values *from, uint64_t rows)
{
	to->numbers = (to->numbers & ~rows) | (from->numbers & rows);
	to->fields = (to->fields & ~rows) | (from->fields & rows);
	to->rounded = (to->rounded & ~rows) | (from->rounded & rows);
	to->wrong = (to->wrong & ~rows) | (from->wrong & rows);
	for (; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		to->own_significand[row] = from->own_significand[row];
		to->own_scale[row] = from->own_scale[row];
		to->begin[row] = from->begin[row];
		to->end[row] = from->end[row];
		to->why[row] = from->why[row];
		if (from->rounded >> row & 1)
			to->own_quotient[row] = from->quotient[row];
	}
}

/* The rows whose value is missing. */
static uint64_t missing_rows(const struct run *r, struct program_values *v)
{
	uint64_t missing = 0;
	const char *text;
	size_t nbytes;

	for (uint64_t rows = r->rows & ~v->numbers & ~v->rounded & ~v->wrong; rows; rows &= rows - 1)
		if (read_text(r, v, lowest(rows), &r->l->scratch[0], &text, &nbytes) == ROW_MISSING)
			missing |= rows & -rows;
	return missing;
}

/* COALESCE, IF: a, b: b where a is missing, or the condition does not hold. Where that has no answer, the value is wrong. */
static void work_choice(struct run *r, const struct step *step)
{
	struct program_values *a = r->top - 2, *b = r->top - 1;
	struct truth t = {r->rows, r->rows};

	settle(r, a);
	settle(r, b);
	if (step->code == STEP_IF)
		t = *--r->truth;
	take_rows(a, b, step->code == STEP_IF ? r->rows & ~t.low : missing_rows(r, a));
	for (uint64_t undecided = r->rows & t.high & ~t.low; undecided; undecided &= undecided - 1) {
		const unsigned row = lowest(undecided);
		const struct row_culprit *culprit = &culprits_of(r, r->truth)[row];
		set_span(a, row, culprit->field);
		set_wrong(a, row, culprit->why);
	}
	r->top--;
}

static void (*const works[])(struct run *r, const struct step *step) = {
#define FUNCTION(id, name, arguments, type, work, lane, help) [STEP_##id] = work_##work,
#include "lang/functions.def"
#undef FUNCTION
	[STEP_NEGATE] = work_numbers,	   [STEP_ADD] = work_numbers,	    [STEP_SUBTRACT] = work_numbers,
	[STEP_MULTIPLY] = work_numbers,	   [STEP_DIVIDE] = work_numbers,    [STEP_ORDER_NUMBERS] = work_test,
	[STEP_ORDER_NUMBER] = work_test, [STEP_ORDER_TEXT] = work_test,
	[STEP_IS_MISSING] = work_test,	   [STEP_IS_NUMBER] = work_test,    [STEP_STARTS] = work_test,
	[STEP_ENDS] = work_test,	   [STEP_CONTAINS] = work_test,	    [STEP_MATCH] = work_test,
};

/* Runs the first nsteps steps of a program for some rows of the block. What all leave is state->values[0], or r->truth[-1]. */
static struct run run_steps(struct row_block *b, struct program_block *l, struct program_state *state, size_t nsteps, uint64_t rows)
{
	const struct program *p = state->program;
	struct run r = {l, b, state, rows, state->values, state->truths};
	uint64_t *outer = state->rows; /* the rows before a part of `and` or `or` */

	for (const struct step *step = p->steps; step < p->steps + nsteps; step++) {
		switch (step->code) {
		case STEP_LOAD:
			load(&r, p->columns[step->index], r.top++);
			break;
		case STEP_NUMBER:
		case STEP_LITERAL:
			load_literal(&r, step, r.top++);
			break;
		case STEP_DROP:
			r.top -= step->nvalues;
			break;
		case STEP_AND_THEN:
		case STEP_OR_THEN:
			rows = r.rows & (step->code == STEP_AND_THEN ? r.truth[-1].high : ~r.truth[-1].low);
			if (rows == 0) {
				step += step->index - 1;
				break;
			}
			*outer++ = r.rows;
			r.rows = rows;
			break;
		case STEP_AND:
		case STEP_OR:
			r.rows = *--outer;
			join_truths(&r, (enum step_code)step->code);
			break;
		default:
			works[step->code](&r, step);
		}
	}
	return r;
}

static struct run run_program(struct row_block *b, struct program_block *l, struct program_state *state, uint64_t rows)
{
	return run_steps(b, l, state, state->program->nsteps, rows);
}

/* ---- aggregates ---- */

/* Appends the row's key to the key's text, which is empty. */
static enum status append_key(struct program_block *l, const struct row_block *b, unsigned row)
{
	struct text_buffer *text = &l->key_text;

	for (size_t i = 0; i < l->plan->nkeys; i++) {
		const struct field_span span = row_block_field(b, l->plan->keys[i], row);
		size_t nbytes;
		const char *value = field_value(&l->plan->dialect, b->text + span.begin, span.end - span.begin, &l->scratch[1], &nbytes);
		NEED(value);
		TRY(text_reserve(text, nbytes + 1 + SIMD_PAD_NBYTES));
		if (i > 0)
			text->data[text->nbytes++] = '\0';
		memcpy(text->data + text->nbytes, value, nbytes);
		text->nbytes += nbytes;
	}
	return STATUS_OK;
}

/* Finds the groups of the block's rows. */
static void find_aggregates(struct program_block *l, const struct row_block *b)
{
	const struct aggregates *all = l->plan->aggregates;
	const struct key_seed seed = key_seed_get();
	struct key key;

	l->has_aggregates = true;
	for (unsigned row = 0; row < b->nrows; row++) {
		l->aggregates[row] = all->at;
		if (!all->groups)
			continue;
		l->key_text.nbytes = 0;
		l->aggregates[row] = NULL;
		if (append_key(l, b, row) != STATUS_OK)
			l->status = STATUS_NO_MEMORY;
		else if (l->key_text.nbytes <= KEY_MAX_NBYTES)
			l->aggregates[row] = aggregates_of(all, &key, key_make(l->key_text.data, l->key_text.nbytes, true, seed, &key));
	}
}

/* Makes one of the aggregates the rows' values. A row whose group the first pass has not seen is not kept: the input is the same
 * (io/spool.h). */
static void take_aggregate(struct run *r, struct program_values *v, size_t aggregate)
{
	struct field_span last = {0, 0};
	char text[EXACT_TEXT_NBYTES + 3], *field;

	if (!r->l->has_aggregates)
		find_aggregates(r->l, r->b);
	v->numbers = v->fields = v->rounded = v->wrong = 0;
	own(v);
	for (uint64_t rows = r->rows; rows; rows &= rows - 1) {
		const unsigned row = lowest(rows);
		const struct aggregate_value *x = r->l->aggregates[row] ? &r->l->aggregates[row][aggregate] : NULL;
		size_t nbytes;
		switch (x ? (enum aggregate_kind)x->kind : AGGREGATE_MISSING) {
		case AGGREGATE_MISSING:
			set_missing(r, v, row);
			break;
		case AGGREGATE_NUMBER:
			set_number(v, row, (struct decimal){x->significand, x->scale});
			break;
		case AGGREGATE_LONG:
			nbytes = strlen(x->text);
			memcpy(text + 1, x->text, nbytes + 1);
			field = to_notation(r->l->plan, text, &nbytes);
			set_field(r, v, row, field, nbytes);
			break;
		case AGGREGATE_TEXT:
			set_text(r, v, row, x->text, strlen(x->text), &last);
			break;
		}
	}
}

/* ---- computed columns ---- */

static struct program_values *compute(struct row_block *b, struct program_state *state)
{
	struct run r = {b->programs, b, state, row_block_all(b), state->values, state->truths};

	state->is_computed = true;
	if (state->program->is_aggregate)
		take_aggregate(&r, state->values, state->program->aggregate);
	else
		run_program(b, r.l, state, r.rows);
	settle(&r, state->values);
	return state->values;
}

const struct simd_numbers *program_block_numbers(struct row_block *b, size_t c)
{
	struct program_values *v = values_of(b, c);
	struct simd_numbers *x = &b->numbers[c];

	x->numbers = v->numbers;
	x->empty = 0;
	for (uint64_t rows = v->fields & ~v->numbers; rows; rows &= rows - 1)
		if (v->begin[lowest(rows)] == v->end[lowest(rows)])
			x->empty |= rows & -rows;
	memcpy(x->significand, v->significand, sizeof x->significand);
	memcpy(x->scale, v->scale, sizeof x->scale);
	b->has_numbers[c] = true;
	return x;
}

struct field_span program_block_field(const struct row_block *b, size_t c, unsigned row)
{
	struct program_values *v = values_of(b, c);

	if (!(v->fields >> row & 1))
		number_to_field(b->programs, v, row);
	return (struct field_span){v->begin[row], v->end[row]};
}

bool program_block_pairs(const struct row_block *b, size_t c, uint32_t *pairs)
{
	struct program_values *v = values_of(b, c);
	bool repeats = false;

	for (uint64_t rows = row_block_all(b) & ~v->fields; rows; rows &= rows - 1)
		number_to_field(b->programs, v, lowest(rows));
	for (unsigned row = 0; row < b->nrows; row++) {
		pairs[2 * row] = v->begin[row] - 1;
		pairs[2 * row + 1] = v->end[row];
		repeats |= row > 0 && v->end[row] == v->end[row - 1];
	}
	return repeats;
}

uint64_t program_block_number_fields(const struct row_block *b, size_t c, uint64_t rows)
{
	struct program_values *v = values_of(b, c);

	rows &= (v->numbers | v->rounded) & ~v->wrong;
	for (uint64_t left = rows & ~v->fields; left; left &= left - 1)
		number_to_field(b->programs, v, lowest(left));
	return rows;
}

const char *program_block_rounded(const struct row_block *b, size_t c, unsigned row)
{
	struct program_values *v;
	char *text;

	if (!b->plan->columns[c].let)
		return NULL;
	v = values_of(b, c);
	text = v->rounded >> row & 1 ? make_room(b->programs, QUOTIENT_TEXT_NBYTES) : NULL;
	if (text)
		b->programs->nbytes += quotient_write(&v->quotient[row], text) + 1;
	return text;
}

const struct exact *program_block_quotients(struct row_block *b, size_t c, uint64_t *rows)
{
	const struct program_values *v = values_of(b, c);

	*rows = v->rounded;
	return v->quotient;
}

enum status program_block_plain(struct row_block *b, size_t c, unsigned row,
				struct scratch *scratch, const char **text, size_t *nbytes,
				bool *is_number)
{
	const struct simd_numbers *x = program_block_numbers(b, c);
	const struct plan *plan = b->plan;
	struct field_span field;
	uint64_t rounded;
	const struct exact *quotients = program_block_quotients(b, c, &rounded);

	TRY(ARRAY_GROW(scratch->data, scratch->nbytes, (size_t)EXACT_QUOTIENT_NBYTES));
	*text = scratch->data;
	*is_number = true;
	if (x->numbers >> row & 1) {
		*nbytes = decimal_format(x->significand[row], x->scale[row], scratch->data);
		return STATUS_OK;
	}
	if (rounded >> row & 1) {
		*nbytes = quotient_format(&quotients[row], scratch->data);
		return STATUS_OK;
	}
	field = program_block_field(b, c, row);
	*text = field_value(&plan->dialect, b->text + field.begin, field.end - field.begin, scratch,
			    nbytes);
	NEED(*text);
	*is_number = *nbytes == 0;
	if (plan->columns[c].let->type == TYPE_NUMBER && *nbytes > 0)
		return value_to_plain(plan, text, nbytes, scratch, is_number);
	return STATUS_OK;
}

uint64_t program_block_quotients_not_made(struct row_block *b, size_t c, uint64_t rows)
{
	struct program_state *state = &b->programs->programs[c - b->programs->first];
	const struct program *p = state->program;
	struct run r;

	if (state->is_computed || p->nsteps == 0 || p->steps[p->nsteps - 1].code != STEP_DIVIDE)
		return 0;
	r = run_steps(b, b->programs, state, p->nsteps - 1, row_block_all(b));
	load_numbers(&r, &r.top[-2]);
	load_numbers(&r, &r.top[-1]);
	rows &= r.top[-2].numbers & r.top[-1].numbers;
	for (uint64_t left = rows; left; left &= left - 1)
		rows &= r.top[-1].significand[lowest(left)] ? rows : ~(left & -left);
	return rows;
}

uint64_t program_block_wrong(struct row_block *b, size_t c)
{
	return values_of(b, c)->wrong;
}

enum status program_block_why(const struct row_block *b, size_t c, unsigned row)
{
	struct program_values *v = values_of(b, c);

	return v->wrong >> row & 1 ? (enum status)v->why[row] : STATUS_OK;
}

/* ---- conditions ---- */

enum status row_filter_init(struct row_filter *f, const struct plan *plan)
{
	f->holds = calloc(plan->npredicates + 1, sizeof *f->holds);
	return f->holds ? STATUS_OK : STATUS_NO_MEMORY;
}

void row_filter_free(struct row_filter *f)
{
	free(f->holds);
	f->holds = NULL;
}

/* Leaves out the rows in which a condition has no answer. */
static void leave_out(struct row_filter *f, const struct run *r, struct truth t)
{
	uint64_t rows = t.high & ~t.low & f->kept;

	if (rows && (f->undecided == 0 || lowest(rows) < lowest(f->undecided)))
		f->culprit = culprits_of(r, r->truth - 1)[lowest(rows)];
	f->undecided |= rows;
	f->kept &= ~rows;
}

enum status row_filter_block(struct row_filter *f, struct program_block *l, struct row_block *b)
{
	const struct plan *plan = l->plan;

	f->kept = row_block_all(b);
	f->undecided = 0;
	for (size_t p = 0; p < plan->npredicates; p++) {
		struct program_state *state = &l->programs[plan->nlets + p];
		struct run r = run_program(b, l, state, f->kept);
		struct truth t = r.truth[-1];
		leave_out(f, &r, t);
		if (plan->where != PREDICATE_NONE && p <= plan->where)
			f->kept &= t.low;
		f->holds[p] = t.low;
	}
	for (size_t p = 0; p < plan->npredicates; p++)
		f->holds[p] &= f->kept;
	return l->status;
}
