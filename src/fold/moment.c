/* SPDX-License-Identifier: MIT
 *
 * moment.c - the table of moments, and a column's cells. See moment.h.
 */
#include "fold/moment.h"

#include <stdlib.h>

#define CELL(id, type, ops, name) extern const struct moment_ops moment_##ops;
MOMENT_CELLS(CELL)
#undef CELL

const struct moment_ops *const moment_table[NCELLS] = {
#define CELL(id, type, ops, name) [CELL_##id] = &moment_##ops,
	MOMENT_CELLS(CELL)
#undef CELL
};

#define POINTERS_NBYTES ((NCELLS * sizeof(void *) + 15) / 16 * 16) /* a cell may have numbers of 128 bits */

/* Where the first cell that is made lies: with the pointers to all. */
static void *first_cell(const struct moment_cells *m)
{
	return (char *)m->cells + POINTERS_NBYTES;
}

void moments_free(struct moment_cells *m)
{
	for (int i = 0; i < NCELLS; i++) {
		if (!moments_cell(m, i))
			continue;
		moment_table[i]->free(m->cells[i]);
		if (m->cells[i] != first_cell(m))
			free(m->cells[i]);
	}
	free(m->cells);
	m->cells = NULL;
}

void moments_clear(struct moment_cells *m)
{
	for (int i = 0; i < NCELLS; i++)
		if (moments_cell(m, i))
			moment_table[i]->clear(m->cells[i]);
}

void *moments_need(struct moment_cells *m, int i)
{
	const size_t nbytes = moment_table[i]->cell_nbytes;

	if (!m->cells && (m->cells = calloc(1, POINTERS_NBYTES + nbytes)))
		m->cells[i] = first_cell(m);
	else if (m->cells && !m->cells[i])
		m->cells[i] = calloc(1, nbytes);
	return moments_cell(m, i);
}

/* Whether cell i is of numbers and one of `needs`. */
static bool takes_numbers(int i, unsigned needs)
{
	return moment_table[i]->add && (needs & moment_table[i]->moment);
}

/* Makes the cells of the moments of numbers in needs. */
static enum status need_cells(struct moment_cells *m, unsigned needs)
{
	for (int i = 0; i < NCELLS; i++)
		if (takes_numbers(i, needs) && !moments_need(m, i))
			return STATUS_NO_MEMORY;
	return STATUS_OK;
}

enum status moments_add(struct moment_cells *m, unsigned needs, const int64_t *significand,
			const uint8_t *scale, uint64_t rows)
{
	TRY(need_cells(m, needs));
	for (int i = 0; i < NCELLS; i++)
		if (takes_numbers(i, needs))
			TRY(moment_table[i]->add(m->cells[i], significand, scale, rows));
	return STATUS_OK;
}

enum status moments_add_long(struct moment_cells *m, unsigned needs, const struct exact *x)
{
	TRY(need_cells(m, needs));
	for (int i = 0; i < NCELLS; i++)
		if (takes_numbers(i, needs))
			TRY(moment_table[i]->add_long(m->cells[i], x));
	return STATUS_OK;
}

enum status moments_combine(struct moment_cells *m, const struct moment_cells *later)
{
	for (int i = 0; i < NCELLS; i++) {
		if (!moments_cell(later, i))
			continue;
		NEED(moments_need(m, i));
		TRY(moment_table[i]->combine(m->cells[i], later->cells[i]));
	}
	return STATUS_OK;
}
