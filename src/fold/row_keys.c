/* SPDX-License-Identifier: MIT
 *
 * row_keys.c - see row_keys.h.
 */
#include "fold/row_keys.h"

#include <string.h>

#include "fold/keys.h"
#include "query/value.h"

void row_keys_init(struct row_folder *f)
{
	const struct plan *plan = f->plan;

	f->keeps_keys = plan->nkeys > 0;
	for (size_t c = 0; c < plan->ncolumns; c++)
		f->keeps_keys |= (plan->columns[c].needs & MOMENT_KEYS) || !plan->columns[c].parses;
	memcpy(f->may_not_be_key, f->block.may_be_missing, sizeof f->may_not_be_key);
	f->may_not_be_key[(unsigned char)plan->dialect.quote] = true;
}

void row_keys_begin(struct row_folder *f, const char *text, size_t nbytes)
{
	f->has_plain_texts = f->keeps_keys && !f->plan->dialect.escape &&
			     !memchr(text, '\0', nbytes);
}

/* Makes room in the cell of column c for n texts. NULL: no memory. */
static struct keys *need_room(struct row_folder *f, const char *text, size_t c, struct partial *out,
			      size_t n, struct key_span **room)
{
	struct keys *keys = moments_need(&out->columns[c].moments, CELL_KEYS);

	if (keys)
		*room = keys_note(keys, keys_wanted_of(&f->plan->columns[c]), text,
				  out->offset_bytes, n);
	return keys && *room ? keys : NULL;
}

/* What a field is whose first byte says that it may be no key. */
enum doubt { IS_MISSING, IS_KEY, NOT_IN_PLACE };

static enum doubt settle(const struct plan *plan, const char *text, struct field_span *span)
{
	size_t nbytes = span->end - span->begin;
	const char *value = field_in_place(&plan->dialect, text + span->begin, &nbytes);

	if (!value)
		return NOT_IN_PLACE;
	if (value_is_missing(plan, 0, value, nbytes))
		return IS_MISSING;
	span->begin = (size_t)(value - text);
	span->end = span->begin + nbytes;
	return IS_KEY;
}

enum status row_keys_note(struct row_folder *f, const char *text, size_t c,
			  const struct row_fields *fields, struct partial *out, size_t *ndone)
{
	struct column_partial *column = &out->columns[c];
	bool counts_only = !(f->plan->columns[c].needs & MOMENT_KEYS);
	struct key_span *room = NULL;
	struct keys *keys = counts_only ? NULL : need_room(f, text, c, out, fields->nrows, &room);
	size_t row, n = 0;

	*ndone = 0;
	if (!keys && !counts_only)
		return STATUS_NO_MEMORY;
	for (row = 0; f->has_plain_texts && row < fields->nrows; row++) {
		struct field_span span = row_field(text, fields->ends + row * fields->stride,
						   fields->drops_cr);
		enum doubt doubt = span.begin == span.end ? IS_MISSING : IS_KEY;
		if (doubt == IS_KEY && f->may_not_be_key[(unsigned char)text[span.begin]])
			doubt = settle(f->plan, text, &span);
		if (doubt == NOT_IN_PLACE && counts_only && f->plan->nmissing == 0)
			doubt = IS_KEY; /* there is a quote in it, so it is not blank */
		if (doubt == NOT_IN_PLACE)
			break;
		if (keys)
			room[n] = (struct key_span){(uint32_t)span.begin, (uint32_t)span.end};
		n += doubt == IS_KEY;
	}
	if (keys)
		keys->log.nspans += n;
	column->numbers.count += n;
	column->nmissing += row - n;
	*ndone = row;
	return STATUS_OK;
}

enum status row_keys_note_numbers(struct row_folder *f, const char *text, size_t c,
				  const struct row_fields *fields, uint64_t rows,
				  struct partial *out)
{
	struct key_span *room;
	struct keys *keys = need_room(f, text, c, out, (size_t)__builtin_popcountll(rows), &room);

	NEED(keys);
	for (; rows; rows &= rows - 1) {
		const uint32_t *ends = fields->ends + (size_t)__builtin_ctzll(rows) * fields->stride;
		struct field_span span = row_field(text, ends, fields->drops_cr);
		settle(f->plan, text, &span);
		room[0] = (struct key_span){(uint32_t)span.begin, (uint32_t)span.end};
		room++;
		keys->log.nspans++;
	}
	return STATUS_OK;
}
