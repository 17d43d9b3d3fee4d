/* SPDX-License-Identifier: MIT
 *
 * rank_fields.c - see rank_fields.h. Numbers of the fast path are looked up all at once, the few others one by
 * one.
 */
#include "emit/rank_fields.h"

#include "fold/rank_tables.h"
#include "query/value.h"

/* The ranks of a block's rows. */
struct ranking {
	struct new_fields *f;
	struct row_block *b;
	struct group *const *groups; /* by row; NULL: all records are one */
	const struct new_column *column;
	const struct simd_numbers *x; /* the numbers of its column */
	size_t nlookups;
	struct rank_lookup lookups[ROW_BLOCK_NROWS];
	struct {
		bool is_looked_up;
		size_t lookup;
		uint64_t rank; /* of others; 0: none */
	} rows[ROW_BLOCK_NROWS]; /* as in f->rows */
};

/* The tables of the row's group; NULL: it has no numbers. Errors: STATUS_NO_MEMORY. */
static enum status find_table(const struct ranking *r, unsigned row, const struct rank_table **table)
{
	const struct running_state *state = &r->f->state;

	if (r->groups)
		state = group_states_of(&r->f->states, r->f->plan, r->groups[row]);
	*table = state && state->ranks ? &state->ranks[r->column->rank] : NULL;
	return state ? STATUS_OK : STATUS_NO_MEMORY;
}

static void add_lookup(struct ranking *r, unsigned k, const struct rank_table *table, struct decimal number)
{
	r->rows[k].is_looked_up = true;
	r->rows[k].lookup = r->nlookups;
	r->lookups[r->nlookups++] = (struct rank_lookup){.table = table, .number = number};
}

/* Prepares the lookup of the k-th row's number, or finds its rank. Errors: STATUS_NO_MEMORY. */
static enum status begin_row(struct ranking *r, unsigned k)
{
	unsigned row = r->f->rows[k];
	const struct rank_table *table;
	struct value v;

	r->rows[k].is_looked_up = false;
	r->rows[k].rank = 0;
	if (find_table(r, row, &table) != STATUS_OK)
		return STATUS_NO_MEMORY;
	if (!table || (r->x->empty >> row & 1))
		return STATUS_OK;
	if (r->x->numbers >> row & 1) {
		add_lookup(r, k, table, (struct decimal){r->x->significand[row], r->x->scale[row]});
		return STATUS_OK;
	}
	if (row_block_read(r->b, r->column->column, row, true, &r->f->scratch, &v) != STATUS_OK)
		return STATUS_NO_MEMORY;
	if (v.kind == DECIMAL_NUMBER)
		add_lookup(r, k, table, v.number);
	else if (v.kind == DECIMAL_WIDE)
		r->rows[k].rank = rank_table_find(table, &v, r->column->is_descending);
	return STATUS_OK;
}

char *rank_fields_write(struct new_fields *f, struct row_block *b, struct group *const *groups, size_t i,
			unsigned leads, size_t *begins, char *to)
{
	struct ranking r;

	r.f = f;
	r.b = b;
	r.groups = groups;
	r.column = &f->plan->new_columns[i];
	r.x = row_block_numbers(b, r.column->column);
	r.nlookups = 0;
	for (unsigned k = 0; k < f->nrows; k++)
		if (begin_row(&r, k) != STATUS_OK)
			return NULL;
	rank_table_find_all(r.lookups, r.nlookups, r.column->is_descending);
	for (unsigned k = 0; k < f->nrows; k++) {
		uint64_t rank = r.rows[k].is_looked_up ? r.lookups[r.rows[k].lookup].rank : r.rows[k].rank;
		begins[k] = (size_t)(to - f->text.data);
		*to = f->plan->dialect.delimiter;
		to += leads;
		to = rank ? decimal_writer_u64(&f->writers[i], to, rank) : to;
	}
	return to;
}
