/* SPDX-License-Identifier: MIT
 *
 * moment.c - the table of moments, and a column's cells. See moment.h.
 */
#include "fold/moment.h"

#include <stdlib.h>
#include <string.h>

extern const struct moment_ops moment_squares;

const struct moment_ops *const moment_table[NCELLS] = {
	[CELL_SQUARES] = &moment_squares,
};

enum status moments_init(struct moment_cells *m, unsigned needs)
{
	memset(m, 0, sizeof *m);
	for (int i = 0; i < NCELLS; i++) {
		if (!(needs & moment_table[i]->moment))
			continue;
		m->cell[i] = calloc(1, moment_table[i]->cell_nbytes);
		if (!m->cell[i])
			return STATUS_NO_MEMORY;
	}
	return STATUS_OK;
}

void moments_free(struct moment_cells *m)
{
	for (int i = 0; i < NCELLS; i++) {
		if (m->cell[i])
			moment_table[i]->free(m->cell[i]);
		free(m->cell[i]);
		m->cell[i] = NULL;
	}
}

void moments_clear(struct moment_cells *m)
{
	for (int i = 0; i < NCELLS; i++)
		if (m->cell[i])
			moment_table[i]->clear(m->cell[i]);
}

void moments_add(struct moment_cells *m, const int64_t *significand, const uint8_t *scale,
		 uint64_t rows)
{
	for (int i = 0; i < NCELLS; i++)
		if (m->cell[i])
			moment_table[i]->add(m->cell[i], significand, scale, rows);
}

enum status moments_add_wide(struct moment_cells *m, const struct wide *x)
{
	enum status status = STATUS_OK;

	for (int i = 0; i < NCELLS && status == STATUS_OK; i++)
		if (m->cell[i])
			status = moment_table[i]->add_wide(m->cell[i], x);
	return status;
}

enum status moments_combine(struct moment_cells *m, const struct moment_cells *later)
{
	enum status status = STATUS_OK;

	for (int i = 0; i < NCELLS && status == STATUS_OK; i++)
		if (m->cell[i])
			status = moment_table[i]->combine(m->cell[i], later->cell[i]);
	return status;
}
