/* SPDX-License-Identifier: MIT
 *
 * lead_rows.c - see lead_rows.h.
 */
#include "emit/lead_rows.h"

#include <stdlib.h>
#include <string.h>

#include "emit/lead_frame.h"

void lead_rows_init(struct lead_rows *r, const struct plan *plan)
{
	memset(r, 0, sizeof *r);
	r->plan = plan;
	r->nparts = 2 * plan->nleads + 1;
	for (size_t i = 0; i < plan->nnew_columns; i++)
		if (plan->new_columns[i].kind == NEW_LEAD && plan->new_columns[i].nahead > r->nahead_max)
			r->nahead_max = plan->new_columns[i].nahead;
}

void lead_rows_free(struct lead_rows *r)
{
	text_free(&r->bytes);
	free(r->part_nbytes);
	free(r->rows);
	free(r->order);
	free(r->groups);
	memset(r, 0, sizeof *r);
}

void lead_rows_clear(struct lead_rows *r)
{
	r->n = r->ngroups = r->bytes.nbytes = 0;
}

/* ---- gathering ---- */

static bool grow(void *array, size_t n, size_t each_nbytes)
{
	void *grown = realloc(*(void **)array, n * each_nbytes);

	if (grown)
		*(void **)array = grown;
	return grown != NULL;
}

/* Makes room for the rows of a block more. */
static enum status reserve_rows(struct lead_rows *r)
{
	size_t capacity = 2 * r->capacity + ROW_BLOCK_NROWS;

	if (r->capacity - r->n >= ROW_BLOCK_NROWS)
		return STATUS_OK;
	if (!grow(&r->part_nbytes, capacity, r->nparts * sizeof *r->part_nbytes) ||
	    !grow(&r->rows, capacity, sizeof *r->rows) || !grow(&r->order, capacity, sizeof *r->order))
		return STATUS_NO_MEMORY;
	r->capacity = capacity;
	return STATUS_OK;
}

/* Finds the number of a row's group in the text: that of its state, which new columns that need only some of
 * the rows have given in an order of their own. Errors: STATUS_NO_MEMORY. */
static enum status find_group(struct lead_rows *r, struct new_fields *fields, struct group *group,
			      uint32_t *number)
{
	*number = 0;
	if (group && !new_fields_group(fields, group))
		return STATUS_NO_MEMORY;
	if (group)
		*number = (uint32_t)group->state - 1;
	for (; *number >= r->ngroups; r->ngroups++) {
		if (r->ngroups == r->groups_capacity) {
			if (!grow(&r->groups, 2 * r->groups_capacity + 16, sizeof *r->groups))
				return STATUS_NO_MEMORY;
			r->groups_capacity = 2 * r->groups_capacity + 16;
		}
		r->groups[r->ngroups] = (struct lead_rows_group){NULL, 0, 0};
	}
	r->groups[*number].home = group ? *group_home(group) : NULL;
	return STATUS_OK;
}

/* Copies the record and new fields of row k of the fields', in parts. */
static char *add_parts(struct lead_rows *r, const struct row_block *b, const struct new_fields *fields,
		       unsigned k, const struct row_record *record, uint32_t *part_nbytes, char *to)
{
	const struct plan *plan = r->plan;
	const size_t *begin = fields->begins + k;
	char *piece = to;

	if (!plan->only)
		to = copy_delimiters(copy_text(to, b->text + record->begin, record->end - record->begin),
				     plan->dialect.delimiter, record->nlacking);
	for (size_t i = 0; i < plan->nnew_columns; i++, begin += ROW_BLOCK_NROWS + 1) {
		const char *field = fields->text.data + begin[0];
		size_t nbytes = begin[1] - begin[0], nleading = i > 0 || !plan->only;
		if (plan->new_columns[i].kind == NEW_LEAD) {
			to = copy_text(to, field, nleading);
			*part_nbytes++ = (uint32_t)(to - piece);
			piece = to;
			to = copy_text(to, field + nleading, nbytes - nleading);
			*part_nbytes++ = (uint32_t)(to - piece);
			piece = to;
		} else {
			to = copy_text(to, field, nbytes);
		}
	}
	memcpy(to, b->text + record->line_end, 2); /* the line end, perhaps a byte more */
	to += record->next - record->line_end;
	*part_nbytes = (uint32_t)(to - piece);
	return to;
}

enum status lead_rows_add(struct lead_rows *r, const struct row_block *b, struct new_fields *fields,
			  struct group *const *groups)
{
	size_t nbytes = row_block_ends(b, b->nrows)[-1] - b->ends[-1] + row_block_nlacking(b) + fields->text.nbytes;
	char *to;

	if (reserve_rows(r) != STATUS_OK || text_reserve(&r->bytes, nbytes + EMIT_SLACK) != STATUS_OK)
		return STATUS_NO_MEMORY;
	to = r->bytes.data + r->bytes.nbytes;
	for (unsigned k = 0; k < fields->nrows; k++, r->n++) {
		unsigned row = fields->rows[k];
		struct row_record record = row_record_at(b->text, row_block_ends(b, row), b->stride,
							 row_block_nfields(b), r->plan->dialect.escape);
		struct lead_row *out = &r->rows[r->n];
		if (find_group(r, fields, groups ? groups[row] : NULL, &out->group) != STATUS_OK)
			return STATUS_NO_MEMORY;
		out->begin = (size_t)(to - r->bytes.data);
		to = add_parts(r, b, fields, k, &record, r->part_nbytes + r->n * r->nparts, to);
	}
	r->bytes.nbytes = (size_t)(to - r->bytes.data);
	return STATUS_OK;
}

/* ---- filling ---- */

/* Sorts the rows by group, each group's in the order of the text. */
static void sort_rows(struct lead_rows *r)
{
	uint32_t begin = 0;

	for (size_t g = 0; g < r->ngroups; g++)
		r->groups[g].end = 0;
	for (size_t i = 0; i < r->n; i++)
		r->groups[r->rows[i].group].end++;
	for (size_t g = 0; g < r->ngroups; g++) {
		uint32_t n = r->groups[g].end;
		r->groups[g].begin = r->groups[g].end = begin;
		begin += n;
	}
	for (size_t i = 0; i < r->n; i++) {
		r->rows[i].place = r->groups[r->rows[i].group].end++;
		r->order[r->rows[i].place] = (uint32_t)i;
	}
}

/* How many of a group's records, from the first on, may hold fields of texts before; and from the last, may
 * lack some. */
static uint64_t count_edge(const struct lead_rows *r, const struct lead_rows_group *group)
{
	uint64_t n = group->end - group->begin;

	return n < r->nahead_max ? n : r->nahead_max;
}

/* The first row that lacks a field. */
static size_t find_held(const struct lead_rows *r)
{
	size_t first = r->n;

	for (size_t g = 0; g < r->ngroups; g++) {
		uint32_t row = r->order[r->groups[g].end - count_edge(r, &r->groups[g])];
		first = row < first ? row : first;
	}
	return first;
}

/* The lead-th field of a row. */
static const char *own_field(const struct lead_rows *r, size_t row, size_t lead, uint32_t *nbytes)
{
	const uint32_t *part_nbytes = r->part_nbytes + row * r->nparts;
	const char *field = r->bytes.data + r->rows[row].begin;

	for (size_t part = 0; part < 2 * lead + 1; part++)
		field += part_nbytes[part];
	*nbytes = part_nbytes[2 * lead + 1];
	return field;
}

/* Copies a row with the fields of later ones. part_nbytes: set to the lengths of its parts; NULL: they are
 * not wanted, and no field is lacking. Returns the copy's end. */
static char *fill_row(const struct lead_rows *r, size_t row, uint32_t *part_nbytes, char *to)
{
	const uint32_t *own_nbytes = r->part_nbytes + row * r->nparts;
	const char *from = r->bytes.data + r->rows[row].begin;
	const struct lead_rows_group *group = &r->groups[r->rows[row].group];
	size_t lead = 0;

	for (size_t i = 0; lead < r->plan->nleads; i++) {
		const struct new_column *column = &r->plan->new_columns[i];
		uint32_t nbytes = LEAD_OPEN, left = group->end - r->rows[row].place;
		if (column->kind != NEW_LEAD)
			continue;
		to = copy_text(to, from, own_nbytes[2 * lead]);
		if (column->nahead < left) {
			uint32_t later = r->order[r->rows[row].place + column->nahead];
			const char *field = own_field(r, later, lead, &nbytes);
			to = copy_text(to, field, nbytes);
		}
		if (part_nbytes) {
			part_nbytes[2 * lead] = own_nbytes[2 * lead];
			part_nbytes[2 * lead + 1] = nbytes;
		}
		from += own_nbytes[2 * lead] + own_nbytes[2 * lead + 1];
		lead++;
	}
	if (part_nbytes)
		part_nbytes[2 * lead] = own_nbytes[2 * lead];
	return copy_text(to, from, own_nbytes[2 * lead]);
}

/* ---- the frame ---- */

/* Where the parts of a frame that is being written lie. */
struct frame_parts {
	struct lead_frame_group *groups;
	uint32_t *of_group, *part_nbytes, *first_nbytes;
	char *firsts;
};

static struct frame_parts place_parts(const struct lead_frame *frame, size_t nleads)
{
	struct frame_parts p;

	p.groups = (struct lead_frame_group *)(frame + 1);
	p.of_group = (uint32_t *)(p.groups + frame->ngroups);
	p.part_nbytes = p.of_group + frame->nheld;
	p.first_nbytes = p.part_nbytes + frame->nheld * (2 * nleads + 1);
	p.firsts = (char *)(p.first_nbytes + frame->nfirsts * nleads);
	return p;
}

/* Copies the fields of each group's first rows. Returns the copy's end. */
static char *write_firsts(const struct lead_rows *r, const struct frame_parts *p)
{
	uint32_t *first_nbytes = p->first_nbytes;
	char *to = p->firsts;

	for (size_t g = 0; g < r->ngroups; g++) {
		const struct lead_rows_group *group = &r->groups[g];
		p->groups[g] = (struct lead_frame_group){group->home, count_edge(r, group)};
		for (uint64_t i = 0; i < p->groups[g].nfirsts; i++)
			for (size_t lead = 0; lead < r->plan->nleads; lead++) {
				const char *field = own_field(r, r->order[group->begin + i], lead, first_nbytes);
				to = copy_text(to, field, *first_nbytes++);
			}
	}
	return to;
}

/* Each piece and each field is written at most once as part of a record, and fields once more as firsts. */
static size_t frame_nbytes_most(const struct lead_rows *r, const struct lead_frame *frame)
{
	return sizeof *frame + frame->ngroups * sizeof(struct lead_frame_group) +
	       sizeof(uint32_t) * (frame->nheld * (1 + r->nparts) + frame->nfirsts * r->plan->nleads) +
	       2 * r->bytes.nbytes + EMIT_SLACK;
}

enum status lead_rows_write(struct lead_rows *r, struct text_buffer *out)
{
	struct lead_frame *frame, head = {.ngroups = (uint32_t)r->ngroups};
	struct frame_parts p;
	size_t first_held;
	char *to, *begin;

	if (r->n == 0)
		return STATUS_OK;
	sort_rows(r);
	first_held = find_held(r);
	head.nheld = (uint32_t)(r->n - first_held);
	for (size_t g = 0; g < r->ngroups; g++)
		head.nfirsts += count_edge(r, &r->groups[g]);
	if (text_reserve(out, frame_nbytes_most(r, &head)) != STATUS_OK)
		return STATUS_NO_MEMORY;
	begin = out->data + out->nbytes;
	frame = (struct lead_frame *)(void *)begin;
	*frame = head;
	p = place_parts(frame, r->plan->nleads);
	to = write_firsts(r, &p);
	frame->firsts_nbytes = (uint64_t)(to - p.firsts);
	for (size_t row = first_held; row < r->n; row++, p.part_nbytes += r->nparts) {
		*p.of_group++ = r->rows[row].group;
		to = fill_row(r, row, p.part_nbytes, to);
	}
	frame->closed_offset = (uint64_t)(to - begin);
	for (size_t row = 0; row < first_held; row++)
		to = fill_row(r, row, NULL, to);
	frame->closed_nbytes = (uint64_t)(to - begin) - frame->closed_offset;
	frame->nbytes = ((uint64_t)(to - begin) + 7) & ~(uint64_t)7;
	out->nbytes += frame->nbytes;
	return STATUS_OK;
}
