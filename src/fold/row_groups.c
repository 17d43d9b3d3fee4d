/* SPDX-License-Identifier: MIT
 *
 * row_groups.c - see row_groups.h.
 *
 * First the groups of a block's rows are found, then the block is folded a column at a time: the values of a column that has states
 * are taken as a vector, which is added to the states of the rows' groups. A value that no vector holds, and any of a column
 * without states, is folded by itself into a column, which is then added to the row's group.
 */
#include "fold/row_groups.h"

#include <string.h>

#include "fold/group_lists.h"
#include "fold/program_block.h"
#include "fold/pair.h"
#include "fold/window.h"
#include "fold/rows_fold.h"
#include "fold/texts.h"

static_assert(KEY_INLINE_NBYTES == SIMD_SHORT_NBYTES, "simd_ops.short_texts makes keys");

/* One call of row_groups_fold. */
struct grouping {
	struct row_folder *f;
	const char *text;
	struct partial *out; /* NULL: groups are only found */
};

void row_groups_free(struct row_groups *g)
{
	text_free(&g->texts);
	partial_free(&g->one);
}

static uint64_t count_of(uint64_t rows)
{
	return (uint64_t)__builtin_popcountll(rows);
}

/* ---- keys ---- */

/* The value of key column c in a row, valid until the next call. *is_key: it has no NUL. NULL: no memory. */
static const char *key_value(const struct grouping *m, size_t c, unsigned row, size_t *nbytes,
			     bool *is_key)
{
	const struct plan *plan = m->f->plan;
	struct field_span span = row_block_field(&m->f->block, c, row);
	const char *value;

	*nbytes = span.end - span.begin;
	value = field_in_place(&plan->dialect, m->text + span.begin, nbytes);
	if (!value)
		value = field_value(&plan->dialect, m->text + span.begin, span.end - span.begin,
				    &m->f->scratch, nbytes);
	*is_key = !value || m->f->has_plain_texts || !memchr(value, '\0', *nbytes);
	if (*is_key || !m->out)
		return value;
	if (plan->columns[c].let)
		return computed_fold_row(m->f, m->text, c, row, m->out) == STATUS_OK ? value : NULL;
	column_add_wrong(&m->out->columns[c], STATUS_NUL, row_block_offset(&m->f->block, c, row));
	return value;
}

/* Appends the row's key to the texts, which have room for it. *is_key: all of its values are. */
static enum status append_key(const struct grouping *m, unsigned row, bool *is_key)
{
	struct text_buffer *texts = &m->f->groups.texts;
	const struct plan *plan = m->f->plan;

	*is_key = true;
	for (size_t i = 0; i < plan->nkeys && *is_key; i++) {
		size_t nbytes;
		const char *value = key_value(m, plan->keys[i], row, &nbytes, is_key);
		NEED(value);
		if (i > 0)
			texts->data[texts->nbytes++] = '\0';
		memcpy(texts->data + texts->nbytes, value, nbytes);
		texts->nbytes += nbytes;
	}
	return STATUS_OK;
}

/* Makes the key of a row from a copy of its values. *is_key: all of them are. */
static enum status make_key(const struct grouping *m, unsigned row, struct key_seed seed,
			    struct key *key, uint64_t *hash, bool *is_key)
{
	struct text_buffer *texts = &m->f->groups.texts;
	size_t begin = texts->nbytes;
	enum status status = append_key(m, row, is_key);

	if (status != STATUS_OK || texts->nbytes - begin > KEY_MAX_NBYTES)
		return STATUS_NO_MEMORY;
	*hash = key_make(texts->data + begin, texts->nbytes - begin, true, seed, key);
	texts->nbytes += SIMD_PAD_NBYTES;
	return status;
}

/* The keys of a block's rows, and their hashes. */
struct row_keys {
	union {
		struct key keys[ROW_BLOCK_NROWS];
		uint64_t words[ROW_BLOCK_NROWS][2]; /* the same: low and high of each */
	};
	uint64_t hashes[ROW_BLOCK_NROWS];
	uint64_t repeats; /* rows that share the field of an earlier row, so that their group is found already: */
	uint8_t earlier[ROW_BLOCK_NROWS];
};

/* Makes the keys of rows as far as they are bytes of the text: of one column, in quotes without quotes in
 * them or in none. Returns the rows that are left. Neighbours may share a computed field, and then their key. */
static uint64_t make_plain_keys(const struct grouping *m, uint64_t rows, struct key_seed seed, struct row_keys *k)
{
	const struct plan *plan = m->f->plan;
	const struct row_block *b = &m->f->block;
	const size_t c = plan->keys[0];
	const bool is_computed = plan->columns[c].let != NULL, drops_cr = !is_computed && plan->columns[c].field == b->stride - 1;
	const size_t stride = is_computed ? 2 : b->stride;
	const uint32_t *ends = b->ends + plan->columns[c].field, *last = NULL; /* last: of the row whose key was made last */
	uint64_t left = 0;
	uint32_t pairs[2 * ROW_BLOCK_NROWS];
	bool repeats;

	if (plan->nkeys > 1 || !m->f->has_plain_texts || csv_dialect_trims(&plan->dialect) ||
	    (!is_computed && plan->columns[c].field >= b->stride))
		return rows;
	if (is_computed)
		ends = pairs + 1;
	repeats = is_computed && program_block_pairs(b, c, pairs);
	if (!repeats)
		rows &= simd()->short_texts(m->text, ends, stride, b->nrows, drops_cr, plan->dialect.quote, k->words);
	for (size_t row = 0; row < b->nrows && !repeats; row++)
		k->hashes[row] = key_hash_inline(&k->keys[row], seed);
	for (; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		const uint32_t *end = ends + row * stride;
		struct field_span span = row_field(m->text, end, drops_cr);
		const char *value = m->text + span.begin;
		size_t nbytes = span.end - span.begin;
		if (last && end[0] == last[0]) {
			k->earlier[row] = (uint8_t)((size_t)(last - ends) / stride);
			k->keys[row] = k->keys[k->earlier[row]];
			k->hashes[row] = k->hashes[k->earlier[row]];
			k->repeats |= rows & -rows;
			continue;
		}
		if (nbytes > 0 && *value == plan->dialect.quote)
			value = field_in_place(&plan->dialect, value, &nbytes);
		if (value)
			k->hashes[row] = key_make(value, nbytes, true, seed, &k->keys[row]);
		else
			left |= rows & -rows;
		last = value ? end : NULL;
	}
	return left;
}

/* Makes room for the keys of all rows of the block: pieces of their fields. */
static enum status reserve_texts(const struct grouping *m)
{
	const struct row_block *b = &m->f->block;
	const struct plan *plan = m->f->plan;
	size_t nbytes = row_block_ends(b, b->nrows)[-1] - b->ends[-1];

	for (size_t i = 0; b->programs && i < plan->nkeys; i++)
		for (unsigned row = 0; plan->columns[plan->keys[i]].let && row < b->nrows; row++) {
			struct field_span span = row_block_field(b, plan->keys[i], row);
			nbytes += span.end - span.begin;
		}
	m->f->groups.texts.nbytes = 0;
	return text_reserve(&m->f->groups.texts,
			    (nbytes + ROW_BLOCK_NROWS * SIMD_PAD_NBYTES) * plan->nkeys);
}

/* Takes the rows with a key that is a wrong value out of *rows, and counts them. Errors: those of computed_fold_row. */
static enum status drop_wrong_keys(const struct grouping *m, uint64_t *rows)
{
	const struct plan *plan = m->f->plan;

	for (size_t i = 0; m->f->block.programs && i < plan->nkeys; i++) {
		size_t c = plan->keys[i];
		uint64_t wrong = plan->columns[c].let ? *rows & program_block_wrong(&m->f->block, c) : 0;
		*rows &= ~wrong;
		for (; m->out && wrong; wrong &= wrong - 1)
			TRY(computed_fold_row(m->f, m->text, c, lowest(wrong), m->out));
	}
	return STATUS_OK;
}

/* Makes the keys of the kept rows; those that have one remain in f's groups.rows. groups: where they will be looked for. */
static enum status make_keys(const struct grouping *m, const struct groups *groups, struct row_keys *k)
{
	struct row_groups *g = &m->f->groups;
	struct key_seed seed = key_seed_get();
	uint64_t rows;

	k->repeats = 0;
	g->rows = m->f->filter.kept;
	TRY(drop_wrong_keys(m, &g->rows));
	rows = make_plain_keys(m, g->rows, seed, k);
	TRY(rows ? reserve_texts(m) : STATUS_OK);
	for (; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		bool is_key;
		TRY(make_key(m, row, seed, &k->keys[row], &k->hashes[row], &is_key));
		if (!is_key)
			g->rows &= ~(rows & -rows);
	}
	if (groups->nslots > ROW_BLOCK_NROWS * ROW_BLOCK_NROWS)
		for (rows = g->rows; rows; rows &= rows - 1)
			groups_prefetch(groups, k->hashes[lowest(rows)]);
	return STATUS_OK;
}

/* Finds the groups of the rows that have a key. The first row of a new group says where that appears. */
static enum status find_groups(const struct grouping *m, struct groups *groups, const struct row_keys *k)
{
	struct row_groups *g = &m->f->groups;
	uint64_t rows = groups_find_first(groups, k->keys, k->hashes, g->rows & ~k->repeats, g->groups);

	for (; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		size_t ngroups = groups->ngroups;
		TRY(groups_find(groups, &k->keys[row], k->hashes[row], &g->groups[row]));
		if (m->out && groups->ngroups > ngroups)
			g->groups[row]->first = m->out->offset_bytes + (uint32_t)(row_block_ends(&m->f->block, row)[-1] + 1);
	}
	for (rows = g->rows & k->repeats; rows; rows &= rows - 1)
		g->groups[lowest(rows)] = g->groups[k->earlier[lowest(rows)]];
	return STATUS_OK;
}

/* Like find_groups, with --runs: the runs of the rows, which follow those of the rows before. */
static enum status find_runs(const struct grouping *m, struct groups *groups, const struct row_keys *k)
{
	struct row_groups *g = &m->f->groups;
	const struct key *last = NULL;

	for (uint64_t rows = g->rows; rows; rows &= rows - 1) {
		const unsigned row = lowest(rows);
		const struct key *key = &k->keys[row];
		if (last ? !key_equals(last, key) : !groups->run || !group_is_run_of(groups->run, key)) {
			if (m->out)
				TRY(groups_begin_run(groups, key, m->out->offset_bytes +
						     (uint32_t)(row_block_ends(&m->f->block, row)[-1] + 1)));
			else
				groups->run = groups->run ? *group_home(groups->run) : groups->first_run;
		}
		last = key;
		g->groups[row] = groups->run;
	}
	return STATUS_OK;
}

/* Counts the rows in their groups. */
static void add_records(const struct grouping *m)
{
	const struct row_filter *filter = &m->f->filter;
	const struct plan *plan = m->f->plan;

	for (uint64_t rows = m->f->groups.rows; rows; rows &= rows - 1)
		m->f->groups.groups[lowest(rows)]->nrecords++;
	for (uint64_t rows = plan->group_nmatched_offset ? m->f->groups.rows : 0; rows; rows &= rows - 1)
		for (size_t i = 0; i < plan->npredicates; i++)
			group_nmatched(m->f->groups.groups[lowest(rows)], plan)[i] += filter->holds[i] >> lowest(rows) & 1;
}

/* ---- rows one by one ---- */

static void note_least(size_t *to, size_t offset)
{
	*to = offset < *to ? offset : *to;
}

/* Counts of column c what the fold of a value has. */
static void count_value(const struct grouping *m, size_t c, struct column_partial *from)
{
	struct column_partial *to = &m->out->columns[c];

	to->numbers.count += from->numbers.count;
	to->nmissing += from->nmissing;
	to->ninvalid += from->ninvalid;
	to->nnuls += from->nnuls;
	note_least(&to->first_number_offset, from->first_number_offset);
	note_least(&to->first_invalid_offset, from->first_invalid_offset);
	note_least(&to->first_nul_offset, from->first_nul_offset);
	note_least(&to->first_out_of_range_offset, from->first_out_of_range_offset);
}

/* Makes the value of column c in a row the first and the last of a column, if it can be. */
static enum status offer_ends(const struct grouping *m, size_t c, unsigned row, struct column_partial *column)
{
	struct ends *ends = moments_need(&column->moments, CELL_ENDS);
	struct raw_field field = row_block_raw(&m->f->block, c, row);
	uint64_t place = m->out->offset_bytes + row_block_offset(&m->f->block, c, row);
	const bool is_wrong = m->f->plan->columns[c].let && program_block_wrong(&m->f->block, c) >> row & 1;
	bool taken;

	NEED(ends);
	for (int end = 0; end < NENDS && !is_wrong; end++)
		if ((end != END_FIRST_NUMBER && end != END_LAST_NUMBER) || m->f->plan->columns[c].if_numeric)
			TRY(ends_offer(ends, (enum end)end, m->f->plan, c, place, &field, &m->f->scratch, &taken));
	return STATUS_OK;
}

/* Folds column c of some rows, a row at a time: into a column, which is then added to the row's group. */
static enum status fold_singles(const struct grouping *m, size_t c, uint64_t rows)
{
	const struct plan *plan = m->f->plan;
	struct partial *one = &m->f->groups.one;

	TRY(rows ? partial_need(one, plan) : STATUS_OK);
	for (; rows; rows &= rows - 1) {
		const unsigned row = lowest(rows);
		struct field_span span;
		one->offset_bytes = m->out->offset_bytes;
		if (plan->columns[c].let) {
			TRY(computed_fold_row(m->f, m->text, c, row, one));
		} else {
			span = row_block_field(&m->f->block, c, row);
			TRY(column_add_field(plan, one, c, m->text + span.begin, span.end - span.begin, span.begin, &m->f->scratch));
		}
		if (plan->columns[c].needs & MOMENT_ENDS)
			TRY(offer_ends(m, c, row, &one->columns[c]));
		count_value(m, c, &one->columns[c]);
		TRY(group_add_column(m->out->groups, m->f->groups.groups[row], c, &one->columns[c]));
		column_clear(&one->columns[c]);
	}
	return STATUS_OK;
}

/* ---- vectors ---- */

/* Takes plain numbers of column c, which are all of their fields, as texts. */
static void take_numbers_as_texts(const struct grouping *m, size_t c, struct group_vector *v)
{
	const struct row_block *b = &m->f->block;
	const uint32_t *ends = b->ends + m->f->plan->columns[c].field;
	const bool drops_cr = m->f->plan->columns[c].field == b->stride - 1;

	for (uint64_t rows = v->numbers; rows; rows &= rows - 1) {
		const unsigned row = lowest(rows);
		const struct field_span span = row_field(m->text, ends + row * b->stride, drops_cr);
		v->texts[row] = (struct group_vector_text){m->text + span.begin, (uint32_t)(span.end - span.begin), 0,
							   m->out->offset_bytes + span.begin};
	}
}

/* Takes the texts of column c, which does not parse, in rows where they are bytes of the text. Returns these rows. */
static uint64_t take_plain_texts(const struct grouping *m, size_t c, uint64_t rows, struct group_vector *v)
{
	const struct row_block *b = &m->f->block;
	const uint32_t field = m->f->plan->columns[c].field, *ends = b->ends + field;
	const char quote = m->f->plan->dialect.quote;
	uint64_t taken = 0;

	if (m->f->plan->columns[c].let || !m->f->has_plain_texts || csv_dialect_trims(&m->f->plan->dialect) || field >= b->stride)
		return 0;
	for (; rows; rows &= rows - 1) {
		const unsigned row = lowest(rows);
		const struct field_span span = row_field(m->text, ends + row * b->stride, field == b->stride - 1);
		const char *text = m->text + span.begin;
		const size_t nbytes = span.end - span.begin;
		if (nbytes > 0 && *text == quote)
			continue;
		taken |= rows & -rows;
		if (row_block_is_missing(b, text, nbytes))
			continue;
		v->present |= rows & -rows;
		v->texts[row] = (struct group_vector_text){text, (uint32_t)nbytes, 0, m->out->offset_bytes + span.begin};
	}
	return taken;
}

/* Takes the text of column c in a row, which is one of v->numbers or no plain number. ROW_QUOTED: it must be looked at by itself. */
static enum row_value take_text(const struct grouping *m, size_t c, unsigned row, struct group_vector *v)
{
	const struct plan_column *column = &m->f->plan->columns[c];
	const struct field_span span = row_block_field(&m->f->block, c, row);
	const bool is_number = v->numbers >> row & 1;
	size_t nbytes = span.end - span.begin;
	const char *text = field_in_place(&m->f->plan->dialect, m->text + span.begin, &nbytes);
	enum row_value is = ROW_PRESENT;

	if (!text || (column->let && column->parses && !is_number))
		return ROW_QUOTED;
	if (!column->parses)
		is = row_block_value(&m->f->block, c, row, &text, &nbytes);
	if (is != ROW_PRESENT)
		return is;
	if (!m->f->has_plain_texts && !is_number)
		return ROW_QUOTED; /* it may have a NUL */
	if (column->parses && !is_number &&
	    (column->needs & MOMENT_KEYS || !column->takes_text || !text_is_no_number(&m->f->texts, text, nbytes)))
		return ROW_QUOTED;
	v->texts[row] = (struct group_vector_text){text, (uint32_t)nbytes, (uint32_t)(text - (m->text + span.begin)),
						   m->out->offset_bytes + row_block_offset_of(&m->f->block, span, row)};
	return ROW_PRESENT;
}

/* Whether column c has a value in a row. ROW_QUOTED: as above. */
static enum row_value take_presence(const struct grouping *m, size_t c, unsigned row)
{
	const char *text;
	size_t nbytes;
	enum row_value is = row_block_value(&m->f->block, c, row, &text, &nbytes);

	return is == ROW_PRESENT && !m->f->has_plain_texts ? ROW_QUOTED : is;
}

/* Takes the values of column c, which has states, in some rows. Returns the rows for which v has all: what their value is, or that
 * they have none. */
static uint64_t take_values(const struct grouping *m, size_t c, uint64_t rows, struct group_vector *v)
{
	const struct plan_column *column = &m->f->plan->columns[c];
	const bool wants_texts = group_wants_texts(column), is_plain = column->parses && !column->let && !csv_dialect_trims(&m->f->plan->dialect);
	uint64_t taken, left;

	v->x = column->parses ? row_block_numbers(&m->f->block, c) : NULL;
	v->numbers = v->x ? rows & v->x->numbers : 0;
	v->quotients = 0;
	taken = (v->x ? rows & v->x->empty : 0) | (is_plain || !wants_texts ? v->numbers : 0);
	v->present = taken & v->numbers;
	if (wants_texts && is_plain)
		take_numbers_as_texts(m, c, v);
	else if (wants_texts && !column->parses)
		taken = take_plain_texts(m, c, rows, v);
	if (group_keeps_quotients(column) && !wants_texts) {
		v->rounded = program_block_quotients(&m->f->block, c, &v->quotients);
		v->quotients &= rows & ~taken;
		taken |= v->quotients;
		v->present |= v->quotients;
	}
	for (left = v->x && !wants_texts ? 0 : rows & ~taken; left; left &= left - 1) {
		const unsigned row = lowest(left);
		const enum row_value is = wants_texts ? take_text(m, c, row, v) : take_presence(m, c, row);
		taken |= is == ROW_QUOTED ? 0 : left & -left;
		v->present |= is == ROW_PRESENT ? left & -left : 0;
	}
	v->numbers &= taken;
	return taken;
}

/* Counts the values of column c in rows that a vector has, and the rows without one. */
static void count_values(const struct grouping *m, size_t c, const struct group_vector *v, uint64_t rows)
{
	const uint64_t present = rows & v->present, numbers = v->x ? rows & (v->numbers | v->quotients) : present;
	struct column_partial *column = &m->out->columns[c];

	column->numbers.count += count_of(numbers);
	column->ninvalid += count_of(present & ~numbers);
	column->nmissing += count_of(rows & ~present);
	if (v->x && numbers)
		note_least(&column->first_number_offset, (uint32_t)(row_block_ends(&m->f->block, lowest(numbers))[-1] + 1));
	if (present & ~numbers)
		note_least(&column->first_invalid_offset, row_block_field(&m->f->block, c, lowest(present & ~numbers)).begin);
}

/* Folds column c, which has states for all of its values but those that a vector does not hold. */
static enum status fold_states(const struct grouping *m, size_t c)
{
	struct group_vector v;
	const uint64_t rows = take_values(m, c, m->f->groups.rows, &v);
	const uint64_t left = m->f->groups.rows & ~rows;

	count_values(m, c, &v, rows);
	TRY(group_add_vector(m->out->groups, m->f->groups.groups, c, &v));
	return fold_singles(m, c, left);
}

/* ---- tuples ---- */

#define TUPLE_CHUNKS 32 /* then groups are counted again */
#define TUPLE_NRECORDS 4 /* so many for each group of a chunk are worth a table */

/* Whether tuples serve records like those of the last chunk. */
static bool tuples_serve(const struct row_folder *f)
{
	const struct row_groups *g = &f->groups;

	return f->plan->tuple_nbytes && group_store_is_used(f->plan->groups) &&
	       (f->plan->nlists > 0 || (g->ngroups > 0 && g->nrecords < TUPLE_NRECORDS * g->ngroups));
}

/* Decides how a chunk's records get to their groups. */
static void begin_chunk(struct row_folder *f)
{
	struct row_groups *g = &f->groups;

	if (g->makes_tuples && f->plan->nlists == 0 && ++g->nchunks == TUPLE_CHUNKS)
		g->makes_tuples = false;
	else if (!g->makes_tuples)
		g->makes_tuples = tuples_serve(f);
	if (!g->makes_tuples || g->nchunks == TUPLE_CHUNKS)
		g->nrecords = g->ngroups = g->nchunks = 0;
}

/* Counts what the chunk has had so far. Numbers and texts of many groups, or texts of which most are new, are made tuples from then
 * on. */
static void measure(struct row_folder *f, const struct groups *groups)
{
	struct row_groups *g = &f->groups;

	if (g->makes_tuples)
		return;
	g->nrecords += count_of(g->rows);
	g->ngroups = groups->ngroups;
	g->makes_tuples = f->plan->tuple_nbytes && f->plan->nlists > 0 &&
			  (g->ngroups >= GROUPS_LISTS_MIN ||
			   (g->nrecords >= GROUPS_LISTS_NRECORDS && groups->nkeys > g->nrecords / 2));
}

/* Makes tuples of the rows for which they have room, and takes these out of f's groups.rows. */
static enum status make_tuples(const struct grouping *m, const struct row_keys *k)
{
	const struct plan *plan = m->f->plan;
	const struct text_buffer *texts = &m->f->groups.texts; /* the next block's keys lie there */
	struct group_tuples *tuples = &m->out->groups->tuples;
	const size_t first = tuples->n;
	uint64_t fit = m->out->offset_bytes < TUPLE_PLACES / 2 ? m->f->groups.rows : 0;
	size_t taken = SIZE_MAX; /* column, whose values v has */
	struct group_vector v;

	for (size_t c = 0; c < plan->ncolumns && fit; c++)
		if (plan->columns[c].needs) {
			fit = take_values(m, c, fit, &v);
			taken = c;
			fit = group_tuples_fit(&plan->columns[c], &v, fit);
		}
	TRY(group_tuples_reserve(tuples, plan, ROW_BLOCK_NROWS));
	for (uint64_t rows = fit; rows; rows &= rows - 1) {
		const unsigned row = lowest(rows);
		const char *text = key_text(&k->keys[row]);
		TRY(group_tuples_add(tuples, plan, &k->keys[row], k->hashes[row],
				     m->out->offset_bytes + (uint32_t)(row_block_ends(&m->f->block, row)[-1] + 1),
				     text >= texts->data && text < texts->data + texts->nbytes));
	}
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan->columns[c].needs) {
			if (c != taken)
				take_values(m, c, fit, &v);
			taken = c;
			count_values(m, c, &v, fit);
			TRY(group_tuples_put(tuples, plan, &plan->columns[c], &v, fit, first));
		}
	m->f->groups.rows &= ~fit;
	return STATUS_OK;
}

/* ---- all of it ---- */

static enum status fold_column(const struct grouping *m, size_t c)
{
	if (!m->f->plan->columns[c].needs)
		return STATUS_OK;
	if (m->f->plan->columns[c].parses)
		row_block_numbers(&m->f->block, c);
	return fold_states(m, c);
}

enum status row_groups_find(struct row_folder *f, const char *text, struct groups *groups)
{
	const struct grouping m = {f, text, NULL};
	struct row_keys keys;

	TRY(make_keys(&m, groups, &keys));
	TRY((f->plan->has_runs ? find_runs : find_groups)(&m, groups, &keys));

	f->filter.kept &= f->groups.rows;
	return STATUS_OK;
}

enum status row_groups_fold(struct row_folder *f, const char *text, struct partial *out)
{
	const struct grouping m = {f, text, out};
	struct row_keys keys;
	uint64_t rows;

	if (!out->groups)
		out->groups = groups_new(f->plan);
	if (out->groups && out->groups->ngroups == 0 && out->groups->tuples.n == 0)
		begin_chunk(f);
	TRY(out->groups ? make_keys(&m, out->groups, &keys) : STATUS_NO_MEMORY);
	rows = f->groups.rows;
	if (f->groups.makes_tuples) {
		TRY(make_tuples(&m, &keys));
		keys.repeats = 0; /* the earlier row may be a tuple */
	}
	if (f->groups.rows)
		TRY((f->plan->has_runs ? find_runs : find_groups)(&m, out->groups, &keys));
	add_records(&m);
	measure(f, out->groups);
	if (f->plan->npairs) /* first: it converts columns for both */
		TRY(pair_block_fold_groups(&f->pairs, &f->block, f->groups.rows, &f->scratch, f->groups.groups, &out->groups->texts));
	for (size_t c = 0; c < f->plan->ncolumns; c++)
		TRY(fold_column(&m, c));
	if (f->plan->nwindows)
		TRY(row_windows_fold(f, f->groups.rows, out));
	f->groups.rows = rows;
	return STATUS_OK;
}
