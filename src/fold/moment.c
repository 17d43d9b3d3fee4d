/* SPDX-License-Identifier: MIT
 *
 * moment.c - the table of moments, and a column's cells. See moment.h.
 */
#include "fold/moment.h"

#include <stdlib.h>

extern const struct moment_ops moment_keys;
extern const struct moment_ops moment_squares;
extern const struct moment_ops moment_cubes;
extern const struct moment_ops moment_fourths;
extern const struct moment_ops moment_logs;
extern const struct moment_ops moment_ends;
extern const struct moment_ops moment_texts;
extern const struct moment_ops moment_values;

const struct moment_ops *const moment_table[NCELLS] = {
	[CELL_SQUARES] = &moment_squares,
	[CELL_TEXTS] = &moment_texts,
	[CELL_VALUES] = &moment_values,
	[CELL_KEYS] = &moment_keys,
	[CELL_TEXT_KEYS] = &moment_keys,
	[CELL_CUBES] = &moment_cubes,
	[CELL_FOURTHS] = &moment_fourths,
	[CELL_LOGS] = &moment_logs,
	[CELL_ENDS] = &moment_ends,
};

const char *const moment_names[NCELLS] = {
	[CELL_SQUARES] = "squares",
	[CELL_TEXTS] = "texts",
	[CELL_VALUES] = "values",
	[CELL_KEYS] = "keys",
	[CELL_TEXT_KEYS] = "text_keys",
	[CELL_CUBES] = "cubes",
	[CELL_FOURTHS] = "fourths",
	[CELL_LOGS] = "logs",
	[CELL_ENDS] = "ends",
};

void moments_free(struct moment_cells *m)
{
	for (int i = 0; i < NCELLS; i++) {
		if (moments_cell(m, i))
			moment_table[i]->free(m->cells[i]);
		free(moments_cell(m, i));
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
	if (!m->cells)
		m->cells = calloc(NCELLS, sizeof *m->cells);
	if (m->cells && !m->cells[i])
		m->cells[i] = calloc(1, moment_table[i]->cell_nbytes);
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
	enum status status = STATUS_OK;

	for (int i = 0; i < NCELLS && status == STATUS_OK; i++)
		if (takes_numbers(i, needs) && !moments_need(m, i))
			status = STATUS_NO_MEMORY;
	return status;
}

enum status moments_add(struct moment_cells *m, unsigned needs, const int64_t *significand,
			const uint8_t *scale, uint64_t rows)
{
	enum status status = need_cells(m, needs);

	for (int i = 0; i < NCELLS && status == STATUS_OK; i++)
		if (takes_numbers(i, needs))
			status = moment_table[i]->add(m->cells[i], significand, scale, rows);
	return status;
}

enum status moments_add_wide(struct moment_cells *m, unsigned needs, const struct wide *x, int scale)
{
	enum status status = need_cells(m, needs);

	for (int i = 0; i < NCELLS && status == STATUS_OK; i++)
		if (takes_numbers(i, needs))
			status = moment_table[i]->add_wide(m->cells[i], x, scale);
	return status;
}

enum status moments_combine(struct moment_cells *m, const struct moment_cells *later)
{
	enum status status = STATUS_OK;

	for (int i = 0; i < NCELLS && status == STATUS_OK; i++) {
		if (!moments_cell(later, i))
			continue;
		if (!moments_need(m, i))
			return STATUS_NO_MEMORY;
		status = moment_table[i]->combine(m->cells[i], later->cells[i]);
	}
	return status;
}
