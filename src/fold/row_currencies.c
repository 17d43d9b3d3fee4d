/* SPDX-License-Identifier: MIT
 *
 * row_currencies.c - see row_currencies.h.
 */
#include "fold/row_currencies.h"

#include <stdlib.h>
#include <string.h>

#include "fold/rows_fold.h"

/* Makes the column's place of currencies. Errors: STATUS_NO_MEMORY. */
static enum status need(struct partial *out)
{
	if (out->currencies)
		return STATUS_OK;
	out->currencies = calloc(out->ncolumns + 1, sizeof *out->currencies);
	for (size_t c = 0; out->currencies && c < out->ncolumns; c++)
		out->currencies[c].first_offset = out->currencies[c].other_offset = OFFSET_NONE;
	return out->currencies ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Notes a value of column c that has a currency, unless it has that of the first, or is missing or no number. */
static enum status note(const struct plan *plan, struct partial *out, size_t c, size_t offset, const char *value,
			size_t nbytes)
{
	struct currencies_seen *seen;
	size_t currency_nbytes;
	const char *currency = notation_currency(&plan->notation, value, nbytes, &currency_nbytes);

	if (!currency)
		return STATUS_OK;
	TRY(need(out));
	seen = &out->currencies[c];
	if (seen->other_offset != OFFSET_NONE)
		return STATUS_OK;
	if (seen->first_offset != OFFSET_NONE && strlen(seen->first) == currency_nbytes &&
	    !memcmp(seen->first, currency, currency_nbytes))
		return STATUS_OK;
	if (value_is_missing(plan, 0, value, nbytes) || !value_is_number(plan, value, nbytes))
		return STATUS_OK;
	if (seen->first_offset != OFFSET_NONE) {
		seen->other_offset = offset;
		return STATUS_OK;
	}
	seen->first_offset = offset;
	memcpy(seen->first, currency, currency_nbytes);
	seen->first[currency_nbytes] = '\0';
	return STATUS_OK;
}

enum status row_currencies_fold(struct row_folder *f, uint64_t rows, struct partial *out)
{
	const struct plan *plan = f->plan;
	enum status status = STATUS_OK;

	for (size_t c = 0; c < plan->ncolumns; c++) {
		if (!plan->columns[c].has_currency)
			continue;
		for (uint64_t left = rows; left && status == STATUS_OK; left &= left - 1) {
			struct field_span span = row_block_field(&f->block, c, (unsigned)__builtin_ctzll(left));
			size_t nbytes = span.end - span.begin;
			const char *field = f->block.text + span.begin, *value;
			if (nbytes == 0 || (decimal_is_digit(*field) && decimal_is_digit(field[nbytes - 1])))
				continue;
			value = field_value(&plan->dialect, field, nbytes, &f->scratch, &nbytes);
			status = value ? note(plan, out, c, span.begin, value, nbytes) : STATUS_NO_MEMORY;
		}
	}
	return status;
}
