/* SPDX-License-Identifier: MIT
 *
 * row_groups.c - see row_groups.h.
 *
 * First the groups of a block's rows are found, then the block is folded a column at a time. A column
 * that has a cell is converted as a whole, and each plain number added to its group's cell. Any other
 * field, and any other moment, goes to the group's partial the way that it goes to a chunk's without
 * groups: the rows of one group at a time are taken for those that the filter keeps.
 *
 * What is counted for a whole column, as invalid values and where the first lies, is carried over from
 * the group's partial to the chunk's.
 */
#include "fold/row_groups.h"

#include <string.h>

#include "fold/let_block.h"
#include "fold/let_fold.h"
#include "fold/pair.h"
#include "fold/pair_block.h"
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
}

static unsigned lowest(uint64_t rows)
{
	return (unsigned)__builtin_ctzll(rows);
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
		return let_fold_row(m->f, m->text, c, row, m->out) == STATUS_OK ? value : NULL;
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
		if (!value)
			return STATUS_NO_MEMORY;
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
	struct key keys[ROW_BLOCK_NROWS];
	uint64_t hashes[ROW_BLOCK_NROWS];
};

/* Makes the keys of rows as far as they are bytes of the text: of one column, in quotes without quotes in
 * them or in none. Returns the rows that are left. */
static uint64_t make_plain_keys(const struct grouping *m, uint64_t rows, struct key_seed seed, struct row_keys *k)
{
	const struct plan *plan = m->f->plan;
	const struct row_block *b = &m->f->block;
	uint32_t field = plan->columns[plan->keys[0]].field;
	const uint32_t *ends = b->ends + field;
	uint64_t words[ROW_BLOCK_NROWS][2], left = 0;

	if (plan->columns[plan->keys[0]].let)
		return rows;
	if (plan->nkeys > 1 || !m->f->has_plain_texts || csv_dialect_trims(&plan->dialect) || field >= b->stride)
		return rows;
	rows &= simd()->short_texts(m->text, ends, b->stride, b->nrows, field == b->stride - 1, plan->dialect.quote, words);
	for (size_t row = 0; row < b->nrows; row++) {
		k->keys[row] = (struct key){.low = words[row][0], .high = words[row][1]};
		k->hashes[row] = key_hash_inline(&k->keys[row], seed);
	}
	for (; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		struct field_span span = row_field(m->text, ends + row * b->stride, field == b->stride - 1);
		const char *value = m->text + span.begin;
		size_t nbytes = span.end - span.begin;
		if (nbytes > 0 && *value == plan->dialect.quote)
			value = field_in_place(&plan->dialect, value, &nbytes);
		if (value)
			k->hashes[row] = key_make(value, nbytes, true, seed, &k->keys[row]);
		else
			left |= rows & -rows;
	}
	return left;
}

/* Makes room for the keys of all rows of the block: pieces of their fields. */
static enum status reserve_texts(const struct grouping *m)
{
	const struct row_block *b = &m->f->block;
	const struct plan *plan = m->f->plan;
	size_t nbytes = row_block_ends(b, b->nrows)[-1] - b->ends[-1];

	for (size_t i = 0; b->lets && i < plan->nkeys; i++)
		for (unsigned row = 0; plan->columns[plan->keys[i]].let && row < b->nrows; row++) {
			struct field_span span = row_block_field(b, plan->keys[i], row);
			nbytes += span.end - span.begin;
		}
	m->f->groups.texts.nbytes = 0;
	return text_reserve(&m->f->groups.texts,
			    (nbytes + ROW_BLOCK_NROWS * SIMD_PAD_NBYTES) * plan->nkeys);
}

/* Takes the rows with a key that is a wrong value out of *rows, and counts them. Errors: those of let_fold_row. */
static enum status drop_wrong_keys(const struct grouping *m, uint64_t *rows)
{
	const struct plan *plan = m->f->plan;

	for (size_t i = 0; m->f->block.lets && i < plan->nkeys; i++) {
		size_t c = plan->keys[i];
		uint64_t wrong = plan->columns[c].let ? *rows & let_block_wrong(&m->f->block, c) : 0;
		*rows &= ~wrong;
		for (; m->out && wrong; wrong &= wrong - 1)
			TRY(let_fold_row(m->f, m->text, c, lowest(wrong), m->out));
	}
	return STATUS_OK;
}

/* Makes the keys of the kept rows; those that have one remain in f's groups.rows. groups: where they will be looked for. */
static enum status make_keys(const struct grouping *m, const struct groups *groups, struct row_keys *k)
{
	struct row_groups *g = &m->f->groups;
	struct key_seed seed = key_seed_get();
	uint64_t rows;

	TRY(reserve_texts(m));
	g->rows = m->f->filter.kept;
	TRY(drop_wrong_keys(m, &g->rows));
	rows = make_plain_keys(m, g->rows, seed, k);
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
	uint64_t rows = groups_find_first(groups, k->keys, k->hashes, g->rows, g->groups);

	for (; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		size_t ngroups = groups->ngroups;
		TRY(groups_find(groups, &k->keys[row], k->hashes[row], &g->groups[row]));
		if (m->out && groups->ngroups > ngroups)
			g->groups[row]->first = m->out->offset_bytes + (uint32_t)(row_block_ends(&m->f->block, row)[-1] + 1);
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

/* ---- what goes to the groups' partials ---- */

/* The counts of a column before something is folded into it. */
struct counts {
	uint64_t nnumbers, nmissing, ninvalid, nnuls;
};

static struct counts counts_of(const struct column_partial *c)
{
	return (struct counts){c->numbers.count, c->nmissing, c->ninvalid, c->nnuls};
}

static void note_least(size_t *to, size_t offset)
{
	*to = offset < *to ? offset : *to;
}

/* Counts of column c what a group's partial has got since `before`. Where the column has a cell, which does not count missing
 * values, the partial keeps none: a part's bytes would show which values came this way. */
static void carry_over(const struct grouping *m, size_t c, struct column_partial *from, struct counts before)
{
	struct column_partial *to = &m->out->columns[c];
	struct counts now = counts_of(from);

	to->numbers.count += now.nnumbers - before.nnumbers;
	to->nmissing += now.nmissing - before.nmissing;
	to->ninvalid += now.ninvalid - before.ninvalid;
	to->nnuls += now.nnuls - before.nnuls;
	note_least(&to->first_number_offset, from->first_number_offset);
	note_least(&to->first_invalid_offset, from->first_invalid_offset);
	note_least(&to->first_nul_offset, from->first_nul_offset);
	note_least(&to->first_out_of_range_offset, from->first_out_of_range_offset);
	if (plan_column_has_cell(&m->f->plan->columns[c]))
		from->nmissing = before.nmissing;
}

static enum status need_rest(const struct grouping *m, struct group *group)
{
	TRY(group_need_rest(group, m->f->plan));
	group->rest->offset_bytes = m->out->offset_bytes;
	return STATUS_OK;
}

/* Folds column c of some rows, a row at a time, into the partials of their groups. */
static enum status fold_singles(const struct grouping *m, size_t c, uint64_t rows)
{
	for (; rows; rows &= rows - 1) {
		struct group *group = m->f->groups.groups[lowest(rows)];
		struct field_span span;
		struct counts before;
		TRY(need_rest(m, group));
		before = counts_of(&group->rest->columns[c]);
		if (m->f->plan->columns[c].let) {
			TRY(let_fold_row(m->f, m->text, c, lowest(rows), group->rest));
		} else {
			span = row_block_field(&m->f->block, c, lowest(rows));
			TRY(column_add_field(m->f->plan, group->rest, c, m->text + span.begin,
					     span.end - span.begin, span.begin, &m->f->scratch));
		}
		carry_over(m, c, &group->rest->columns[c], before);
	}
	return STATUS_OK;
}

/* The rows among `rows` that have the group of the lowest. */
static uint64_t rows_of_group(const struct grouping *m, uint64_t rows)
{
	struct group *const *groups = m->f->groups.groups, *group = groups[lowest(rows)];
	uint64_t same = 0;

	for (; rows; rows &= rows - 1)
		if (groups[lowest(rows)] == group)
			same |= rows & -rows;
	return same;
}

/* Folds column c into the partials of the rows' groups, all rows of a group at once. */
static enum status fold_by_group(const struct grouping *m, size_t c)
{
	struct row_filter *filter = &m->f->filter;
	uint64_t kept = filter->kept;

	for (uint64_t rows = m->f->groups.rows; rows; rows &= ~filter->kept) {
		struct group *group = m->f->groups.groups[lowest(rows)];
		struct counts before;
		filter->kept = rows_of_group(m, rows);
		TRY(need_rest(m, group));
		before = counts_of(&group->rest->columns[c]);
		TRY(rows_fold_kept_column(m->f, m->text, c, group->rest));
		carry_over(m, c, &group->rest->columns[c], before);
	}
	filter->kept = kept;
	return STATUS_OK;
}

/* ---- pairs ---- */

/* Adds to the cells of the plan's pair i the rows in which both values are plain. Sets *left to the others that have a value. */
static enum status fold_plain_pairs(const struct grouping *m, size_t i, uint64_t *left)
{
	const struct plan_pair *pair = &m->f->plan->pairs[i];
	const struct pair_values *x = &m->f->pairs.values[pair->x], *y = &m->f->pairs.values[pair->y];
	uint64_t plain = pair->cell_offset ? x->present & y->present & ~(x->wide | y->wide) : 0;

	*left = (x->present | y->present) & ~plain;
	for (; plain; plain &= plain - 1) {
		unsigned row = lowest(plain);
		TRY(group_add_products(m->f->groups.groups[row], m->f->plan, i,
				       x->scale[row] + y->scale[row], (int128)x->value[row] * y->value[row]));
	}
	return STATUS_OK;
}

static enum status fold_pairs(const struct grouping *m)
{
	struct row_folder *f = m->f;

	TRY(pair_block_take(&f->pairs, &f->block, f->groups.rows, false, &f->scratch));
	for (size_t i = 0; i < f->plan->npairs; i++) {
		uint64_t rows;
		TRY(fold_plain_pairs(m, i, &rows));
		for (; rows; rows &= rows - 1) {
			struct group *group = f->groups.groups[lowest(rows)];
			TRY(need_rest(m, group));
			TRY(pair_block_fold_rows(&f->pairs, &f->block, i, rows & -rows, &f->scratch,
						 &group->rest->pairs[i]));
		}
	}
	return STATUS_OK;
}

/* ---- ends ---- */

/* The value of column c in a row, unquoted. Returns false where bytes must be taken out of its midst. */
static bool end_value(const struct grouping *m, size_t c, unsigned row, const char **text, size_t *nbytes)
{
	struct field_span span = row_block_field(&m->f->block, c, row);

	*nbytes = span.end - span.begin;
	*text = field_in_place(&m->f->plan->dialect, m->text + span.begin, nbytes);
	return *text != NULL;
}

/* Offers the value of column c in a row to the ends of its group's partial. */
static enum status offer_end(const struct grouping *m, size_t c, unsigned row)
{
	struct group *group = m->f->groups.groups[row];
	struct raw_field field = row_block_raw(&m->f->block, c, row);
	uint64_t place = m->out->offset_bytes + row_block_offset(&m->f->block, c, row);
	enum status status = need_rest(m, group);
	struct ends *ends = status == STATUS_OK ? moments_need(&group->rest->columns[c].moments, CELL_ENDS) : NULL;
	bool taken;

	if (!ends)
		return status == STATUS_OK ? STATUS_NO_MEMORY : status;
	TRY(ends_offer(ends, END_FIRST, m->f->plan, c, place, &field, &m->f->scratch, &taken));
	return ends_offer(ends, END_LAST, m->f->plan, c, place, &field, &m->f->scratch, &taken);
}

/* Like end_value, without blanks around a number. */
static bool end_text(const struct grouping *m, size_t c, unsigned row, bool is_number, const char **text, size_t *nbytes)
{
	if (!end_value(m, c, row, text, nbytes))
		return false;
	if (is_number && *nbytes > 0 && (decimal_is_blank(**text) || decimal_is_blank((*text)[*nbytes - 1])))
		*text = decimal_trim(*text, nbytes);
	return true;
}

/* Makes plain numbers of column c, which are all of their fields, the ends of their groups. */
static void put_plain_numbers_at_ends(const struct grouping *m, size_t c, uint64_t rows)
{
	const struct plan_column *column = &m->f->plan->columns[c];
	const struct row_block *b = &m->f->block;
	const uint32_t *ends = b->ends + column->field;
	size_t ends_offset = column->cell_offset + group_state_offset(column, GROUP_ENDS);
	bool drops_cr = column->field == b->stride - 1;

	for (; rows; rows &= rows - 1) {
		unsigned row = lowest(rows);
		struct field_span span = row_field(m->text, ends + row * b->stride, drops_cr);
		group_ends_put((struct group_ends *)((char *)m->f->groups.groups[row] + ends_offset), m->out->offset_bytes + span.begin,
			       m->text + span.begin, span.end - span.begin, true);
	}
}

/* Makes numbers of column c, which are folded already, the ends of their groups. */
static enum status put_numbers_at_ends(const struct grouping *m, size_t c, uint64_t rows)
{
	const struct plan_column *column = &m->f->plan->columns[c];
	enum status status = STATUS_OK;
	const char *text;
	size_t nbytes;

	if (!column->let && !m->f->plan->dialect.escape && !csv_dialect_trims(&m->f->plan->dialect)) {
		put_plain_numbers_at_ends(m, c, rows);
		return STATUS_OK;
	}
	for (; rows && status == STATUS_OK; rows &= rows - 1) {
		unsigned row = lowest(rows);
		uint64_t offset = m->out->offset_bytes + row_block_offset(&m->f->block, c, row);
		if (end_text(m, c, row, true, &text, &nbytes))
			group_ends_put(group_ends(m->f->groups.groups[row], column), offset, text, nbytes, true);
		else
			status = offer_end(m, c, row);
	}
	return status;
}

/* Folds values of column c that surely are texts, where these are no error. Returns the rows that are left. */
static uint64_t fold_sure_texts(const struct grouping *m, size_t c, uint64_t rows)
{
	const struct plan_column *column = &m->f->plan->columns[c];
	struct column_partial *out = &m->out->columns[c];
	uint64_t left = 0;

	if (!column->takes_text || !m->f->has_plain_texts)
		return rows;
	for (; rows; rows &= rows - 1) {
		struct field_span span = row_block_field(&m->f->block, c, lowest(rows));
		struct group_ends *ends = group_ends(m->f->groups.groups[lowest(rows)], column);
		const char *text;
		size_t nbytes;
		if (end_value(m, c, lowest(rows), &text, &nbytes) &&
		    text_is_no_number(&m->f->texts, text, nbytes)) {
			group_ends_put(ends, m->out->offset_bytes + span.begin, text, nbytes, false);
			ends->ntexts++;
			out->ninvalid++;
			note_least(&out->first_invalid_offset, span.begin);
		} else {
			left |= rows & -rows;
		}
	}
	return left;
}

/* Folds other fields of column c than plain numbers, and makes them their groups' ends. */
static enum status fold_other_ends(const struct grouping *m, size_t c, uint64_t rows)
{
	rows = fold_sure_texts(m, c, rows);
	TRY(fold_singles(m, c, rows));
	for (; rows; rows &= rows - 1)
		TRY(offer_end(m, c, lowest(rows)));
	return STATUS_OK;
}

/* ---- numbers ---- */

/* Adds numbers of column c to those that the partials of the rows' groups keep. */
static enum status fold_values(const struct grouping *m, size_t c, const struct simd_numbers *x, uint64_t rows)
{
	for (; rows; rows &= rows - 1) {
		struct group *group = m->f->groups.groups[lowest(rows)];
		TRY(need_rest(m, group));
		TRY(moments_add(&group->rest->columns[c].moments, MOMENT_VALUES,
				&x->significand[lowest(rows)], &x->scale[lowest(rows)], 1));
	}
	return STATUS_OK;
}

/* Counts the numbers of column c in some rows, and the fields without a byte. */
static void count_numbers(const struct grouping *m, size_t c, const struct simd_numbers *x, uint64_t rows)
{
	struct column_partial *column = &m->out->columns[c];

	column->numbers.count += count_of(rows & x->numbers);
	column->nmissing += count_of(rows & x->empty);
	if (rows & x->numbers)
		note_least(&column->first_number_offset,
			   (uint32_t)(row_block_ends(&m->f->block, lowest(rows & x->numbers))[-1] + 1));
}

/* The number of column c in a row, if it was rounded. */
static bool quotient_at(const struct grouping *m, size_t c, unsigned row, struct quotient *q)
{
	const char *text = let_block_rounded(&m->f->block, c, row);

	return text && quotient_parse(text, strlen(text), q);
}

/* Counts a rounded number of column c. */
static void count_quotient(const struct grouping *m, size_t c, unsigned row)
{
	m->out->columns[c].numbers.count++;
	note_least(&m->out->columns[c].first_number_offset, row_block_offset(&m->f->block, c, row));
}

/* Folds the rounded numbers of column c, and takes their rows out of *rows. */
static enum status fold_quotients(const struct grouping *m, size_t c, uint64_t *rows)
{
	for (uint64_t left = *rows; left; left &= left - 1) {
		struct quotient_fold one;
		struct quotient q;
		if (!quotient_at(m, c, lowest(left), &q))
			continue;
		one = quotient_fold_of(&q);
		TRY(group_add_quotients(m->f->groups.groups[lowest(left)], m->f->plan, c, &one));
		count_quotient(m, c, lowest(left));
		*rows &= ~(left & -left);
	}
	return STATUS_OK;
}

static enum status fold_numbers(const struct grouping *m, size_t c)
{
	const struct simd_numbers *x = row_block_numbers(&m->f->block, c);
	const struct plan_column *column = &m->f->plan->columns[c];
	uint64_t rows = m->f->groups.rows, numbers = rows & x->numbers, empty = rows & x->empty;

	TRY(group_add_rows(m->f->groups.groups, m->f->plan, c, x, numbers));
	if (column->needs & MOMENT_VALUES)
		TRY(fold_values(m, c, x, numbers));
	count_numbers(m, c, x, rows);
	rows &= ~(numbers | empty);
	if (group_keeps_quotients(column))
		TRY(fold_quotients(m, c, &rows));
	if (column->needs & MOMENT_ENDS) {
		TRY(put_numbers_at_ends(m, c, numbers));
		return fold_other_ends(m, c, rows);
	}
	return fold_singles(m, c, rows);
}

/* Counts the values of column c, which does not parse, and folds their texts. */
static enum status fold_presence(const struct grouping *m, size_t c)
{
	const struct plan_column *column = &m->f->plan->columns[c];
	uint64_t others = 0;

	for (uint64_t rows = m->f->groups.rows; rows; rows &= rows - 1) {
		struct group *group = m->f->groups.groups[lowest(rows)];
		const char *value;
		size_t nbytes;
		enum row_value is = row_block_value(&m->f->block, c, lowest(rows), &value, &nbytes);
		if (is == ROW_QUOTED || (is == ROW_PRESENT && !m->f->has_plain_texts)) {
			others |= rows & -rows; /* it may have a NUL */
			continue;
		}
		if (column->needs & MOMENT_TEXTS && is == ROW_PRESENT)
			group_add_text(group, column, &(struct text_at){value, (uint32_t)nbytes, text_key(value, (uint32_t)nbytes)});
		group_cell(group, column)->count_scale += is == ROW_PRESENT;
		m->out->columns[c].numbers.count += is == ROW_PRESENT;
		m->out->columns[c].nmissing += is == ROW_MISSING;
	}
	return fold_singles(m, c, others);
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

/* Counts what the chunk has had so far. Values and keys of many groups are made tuples from then on. */
static void measure(struct row_folder *f, const struct groups *groups)
{
	struct row_groups *g = &f->groups;

	if (g->makes_tuples)
		return;
	g->nrecords += count_of(g->rows);
	g->ngroups = groups->ngroups;
	g->makes_tuples = f->plan->tuple_nbytes && f->plan->nlists > 0 && g->ngroups >= GROUPS_LISTS_MIN;
}

/* The rows among `rows` whose value of column c a tuple can hold. */
static uint64_t rows_for_tuples(const struct grouping *m, size_t c, uint64_t rows)
{
	const struct plan_column *column = &m->f->plan->columns[c];
	const struct simd_numbers *x = column->parses ? row_block_numbers(&m->f->block, c) : NULL;
	bool has_ends = (column->needs & MOMENT_ENDS) != 0, has_keys = (column->needs & MOMENT_KEYS) != 0;
	bool takes_text = has_ends && !has_keys && column->takes_text && m->f->has_plain_texts;
	uint64_t fit = x ? rows & (x->empty | (has_ends || has_keys ? 0 : x->numbers)) : 0;

	for (uint64_t left = group_keeps_quotients(column) ? rows & ~fit : 0; left; left &= left - 1)
		fit |= let_block_rounded(&m->f->block, c, lowest(left)) ? left & -left : 0;
	for (rows &= ~fit; rows && (!x || has_ends || has_keys); rows &= rows - 1) {
		unsigned row = lowest(rows);
		bool is_number = x && x->numbers >> row & 1, fits = true;
		const char *text;
		size_t nbytes;
		if (!x || has_keys) {
			enum row_value is = row_block_value(&m->f->block, c, row, &text, &nbytes);
			fits = (!x && is == ROW_MISSING) || (is == ROW_PRESENT && m->f->has_plain_texts &&
							     (!(column->needs & MOMENT_TEXTS) || nbytes <= GROUP_END_NBYTES));
		}
		if (x)
			fits = fits && (is_number || takes_text) &&
			       (!has_ends || (end_value(m, c, row, &text, &nbytes) && nbytes <= GROUP_END_NBYTES)) &&
			       (is_number || text_is_no_number(&m->f->texts, text, nbytes));
		fit |= fits ? rows & -rows : 0;
	}
	return fit;
}

static void put_end(const struct grouping *m, size_t c, unsigned row, bool is_number, struct group_end *end)
{
	uint64_t offset = m->out->offset_bytes + row_block_offset(&m->f->block, c, row);
	const char *text;
	size_t nbytes;

	end_text(m, c, row, is_number, &text, &nbytes);
	group_end_set(end, (offset + 1) << 1 | is_number, text, nbytes, true);
}

static void put_text(const struct grouping *m, const char *text, size_t nbytes, struct tuple_text *to)
{
	key_make(text, nbytes, true, key_seed_get(), &to->key);
	to->first = m->out->offset_bytes + (uint64_t)(text - m->text);
}

static void put_quotient(const struct grouping *m, size_t c, unsigned row, struct tuple_quotient *to)
{
	struct quotient q;

	quotient_at(m, c, row, &q);
	to->scale = q.scale;
	to->negative = q.negative;
	group_split(to->magnitude, q.magnitude);
	count_quotient(m, c, row);
}

/* Writes the values of column c of some rows to the tuples from number `first` on, and counts them. */
static void put_values(const struct grouping *m, size_t c, uint64_t rows, size_t first)
{
	const struct plan *plan = m->f->plan;
	const struct plan_column *column = &plan->columns[c];
	const struct simd_numbers *x = column->parses ? row_block_numbers(&m->f->block, c) : NULL;
	struct group_tuples *tuples = &m->out->groups->tuples;
	struct column_partial *counts = &m->out->columns[c];

	if (x)
		count_numbers(m, c, x, rows);
	for (; rows; rows &= rows - 1, first++) {
		unsigned row = lowest(rows);
		struct group_tuple *t = group_tuple_at(tuples, plan, first);
		uint8_t *code = &group_tuple_codes(t)[column->tuple_code];
		bool is_number = x && x->numbers >> row & 1;
		const char *text;
		size_t nbytes;
		if (!x || column->needs & MOMENT_KEYS) {
			bool is_present = row_block_value(&m->f->block, c, row, &text, &nbytes) == ROW_PRESENT;
			*code = is_present ? 0 : TUPLE_MISSING;
			if (is_present && column->needs & MOMENT_KEYS)
				put_text(m, text, nbytes, group_tuple_text(t, column));
			if (is_present && column->needs & MOMENT_TEXTS)
				group_end_set(group_tuple_end(t, column), text_key(text, (uint32_t)nbytes), text, nbytes, true);
			counts->numbers.count += !x && is_present;
			counts->nmissing += !x && !is_present;
		}
		if (!x)
			continue;
		*code = is_number ? x->scale[row] : x->empty >> row & 1 ? TUPLE_MISSING : group_keeps_quotients(column) ? TUPLE_QUOTIENT : TUPLE_TEXT;
		if (*code == TUPLE_QUOTIENT) {
			put_quotient(m, c, row, group_tuple_quotient(t, column));
			continue;
		}
		*group_tuple_number(t, column) = is_number ? x->significand[row] : 0;
		if (column->needs & MOMENT_ENDS && *code != TUPLE_MISSING)
			put_end(m, c, row, is_number, group_tuple_end(t, column));
		if (*code == TUPLE_TEXT) {
			counts->ninvalid++;
			note_least(&counts->first_invalid_offset, row_block_field(&m->f->block, c, row).begin);
		}
	}
}

/* Makes tuples of the rows for which they have room, and takes these out of f's groups.rows. */
static enum status make_tuples(const struct grouping *m, const struct row_keys *k)
{
	const struct plan *plan = m->f->plan;
	struct group_tuples *tuples = &m->out->groups->tuples;
	uint64_t fit = m->out->offset_bytes < TUPLE_PLACES / 2 ? m->f->groups.rows : 0, all = m->f->groups.rows;
	size_t first = tuples->n;
	enum status status;

	for (size_t c = 0; c < plan->ncolumns && fit; c++)
		if (plan->columns[c].needs)
			fit = rows_for_tuples(m, c, fit);
	status = group_tuples_reserve(tuples, plan, ROW_BLOCK_NROWS);
	for (uint64_t rows = fit; rows && status == STATUS_OK; rows &= rows - 1, tuples->n++) {
		unsigned row = lowest(rows);
		struct group_tuple *t = group_tuple_at(tuples, plan, tuples->n);
		t->key = k->keys[row];
		if (key_is_long(&t->key) && t->key.text >= m->f->groups.texts.data &&
		    t->key.text < m->f->groups.texts.data + m->f->groups.texts.nbytes)
			status = group_tuples_copy_key(tuples, &t->key); /* the next block's keys lie there */
		t->place = m->out->offset_bytes + (uint32_t)(row_block_ends(&m->f->block, row)[-1] + 1);
		tuples->parts[tuples->n] = (uint8_t)(k->hashes[row] >> (64 - GROUPS_PART_BITS));
	}
	for (size_t c = 0; c < plan->ncolumns && status == STATUS_OK; c++)
		if (plan->columns[c].needs)
			put_values(m, c, fit, first);
	m->f->groups.rows = all & ~fit;
	return status;
}

/* ---- all of it ---- */

static enum status fold_column(const struct grouping *m, size_t c)
{
	const struct plan_column *column = &m->f->plan->columns[c];

	if (!column->needs)
		return STATUS_OK;
	if (plan_column_has_texts(column) && !plan_column_has_cell(column) && !(column->needs & MOMENT_ENDS))
		return fold_singles(m, c, m->f->groups.rows); /* which knows nothing of ends */
	if (column->parses)
		row_block_numbers(&m->f->block, c);
	if (!plan_column_has_cell(column) || column->needs & MOMENT_KEYS)
		return fold_by_group(m, c);
	return column->parses ? fold_numbers(m, c) : fold_presence(m, c);
}

enum status row_groups_find(struct row_folder *f, const char *text, struct groups *groups)
{
	const struct grouping m = {f, text, NULL};
	struct row_keys keys;

	TRY(make_keys(&m, groups, &keys));
	TRY(find_groups(&m, groups, &keys));

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
	if (f->groups.makes_tuples)
		TRY(make_tuples(&m, &keys));
	if (f->groups.rows)
		TRY(find_groups(&m, out->groups, &keys));
	add_records(&m);
	measure(f, out->groups);
	if (f->plan->npairs) /* first: it converts columns for both */
		TRY(fold_pairs(&m));
	for (size_t c = 0; c < f->plan->ncolumns; c++)
		TRY(fold_column(&m, c));
	if (f->plan->nwindows)
		TRY(row_windows_fold(f, f->groups.rows, out));
	f->groups.rows = rows;
	return STATUS_OK;
}
