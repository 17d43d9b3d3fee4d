/* SPDX-License-Identifier: MIT
 *
 * query_renames.c - see query_renames.h.
 */
#include "query/query_renames.h"

#include <stdlib.h>
#include <string.h>

#include "query/option_table.h"
#include "query/query_lets.h"

/* Cuts OLD=NEW at its first sign behind a quoted name. */
static enum status parse(struct making *m, const char *argument, struct rename *rename)
{
	const char *from = *argument == '"' ? strrchr(argument, '"') : argument;
	const char *sign = strchr(from, '=');
	char *old = sign ? strndup(argument, (size_t)(sign - argument)) : NULL;
	enum status status;

	if (!sign)
		return option_fault(m->fault, "--rename: '%.64s' is not OLD=NEW", argument);
	if (!old)
		return fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
	rename->name = sign + 1;
	status = selection_parse(old, &m->selections[m->nselections++], m->fault);
	free(old);
	return status;
}

enum status query_parse_renames(struct making *m)
{
	const struct options *o = m->options;
	struct query *q = m->q;
	enum status status = STATUS_OK;

	free(q->renames); /* of names that were not known yet */
	q->nrenames = 0;
	q->renames = calloc(o->nrenames + 1, sizeof *q->renames);
	if (!q->renames)
		return fault_set(m->fault, STATUS_NO_MEMORY, 0, NULL);
	for (size_t i = 0; status == STATUS_OK && i < o->nrenames; i++)
		status = parse(m, o->renames[i], &q->renames[q->nrenames++]);
	return status;
}

/* Finds the one column of a list. */
static enum status find(struct making *m, const struct selection *s, const char *argument,
			struct rename *out)
{
	const struct header *h = &m->q->header;
	struct field_range range = {0, 0, false};
	enum status status = STATUS_OK;

	if (s->nselectors == 1 && s->selectors[0].computed)
		range.first = range.last = FIELD_COMPUTED + s->selectors[0].computed - 1;
	else if (s->nselectors == 1)
		status = selector_resolve(&s->selectors[0], h->names, h->nnames, &range, m->fault);
	if (status == STATUS_OK && (s->nselectors != 1 || range.star || range.first != range.last))
		status = option_fault(m->fault, "--rename: '%.*s' is not one column",
				      (int)(out->name - 1 - argument), argument);
	out->field = range.first;
	return status;
}

enum status query_find_renames(struct making *m)
{
	const struct options *o = m->options;
	const struct selection *s = m->selections + m->nselections - o->nrenames;
	enum status status = STATUS_OK;

	if (o->nrenames > 0 && m->q->header.nfields > 0 && !m->q->header.present)
		return option_fault(m->fault, "--rename: the input has no header");
	for (size_t i = 0; status == STATUS_OK && i < o->nrenames; i++)
		status = find(m, &s[i], o->renames[i], &m->q->renames[i]);
	return status;
}

const char *query_new_name(const struct query *q, uint32_t field)
{
	for (size_t i = q->nrenames; i-- > 0;)
		if (q->renames[i].field == field)
			return q->renames[i].name;
	return NULL;
}
