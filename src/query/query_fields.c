/* SPDX-License-Identifier: MIT
 *
 * query_fields.c - see query_fields.h.
 */
#include "query/query_fields.h"

#include "query/option_table.h"

/* Prints a field, or a computed column, of the record. */
static enum status demand_print(struct making *m, uint32_t field)
{
	enum operation as = field >= FIELD_COMPUTED ? OPERATION_LET_COLUMN : OPERATION_SELECT;
	struct demand *d = making_demand(m, field);

	if (!d || (field >= FIELD_COMPUTED &&
		   making_demand_values(m, OPERATION_LET_COLUMN, field, false) != STATUS_OK))
		return STATUS_NO_MEMORY;
	d->selected = true;
	return making_add_result(m, (struct result){.operation = as, .column = field});
}

enum status query_demand_fields(struct making *m, enum operation operation, struct field_range range)
{
	enum status status = STATUS_OK;

	if (range.star)
		return option_fault(m->fault, "--%s: '*' is not a column", operation_name(operation));
	for (uint32_t field = range.first; status == STATUS_OK && field <= range.last; field++) {
		struct demand *d = making_demand(m, field);
		if (!d)
			return STATUS_NO_MEMORY;
		d->is_dropped |= operation == OPERATION_DROP;
		if (operation == OPERATION_SELECT)
			status = demand_print(m, field);
	}
	return status;
}

enum status query_demand_left(struct making *m, size_t i)
{
	const struct options *o = m->options;
	enum status status = STATUS_OK;
	bool is_left = m->q->header.nfields == 0; /* no record: nothing is known of its columns */

	for (size_t j = i + 1; j < o->nuses; j++)
		if (o->uses[j].operation == OPERATION_DROP)
			return STATUS_OK;
	for (size_t j = 0; j < o->nuses; j++) /* a new column is printed besides */
		is_left |= operation_kind(o->uses[j].operation) != OPERATION_FIELDS &&
			   operation_kind(o->uses[j].operation) != OPERATION_LET;
	for (size_t f = 0; status == STATUS_OK && f < m->q->header.nnames; f++)
		if (f >= m->ndemands || !m->demands[f].is_dropped) {
			status = demand_print(m, (uint32_t)f);
			is_left = true;
		}
	for (size_t k = 0; status == STATUS_OK && k < m->q->nlets; k++)
		if (!m->let_demands[k].is_dropped) {
			status = demand_print(m, FIELD_COMPUTED + (uint32_t)k);
			is_left = true;
		}
	return status != STATUS_OK || is_left ? status :
		option_fault(m->fault, "--drop: no column is left to print: --select says which are printed");
}
