/* SPDX-License-Identifier: MIT
 *
 * header_guess.c - see header_guess.h.
 *
 * Where the first record may be read as names and as data, and the answers differ, nothing is
 * guessed: that is an error, and --header decides. The rule:
 *   - --header says whether the first record is a header;
 *   - it is one if every column that is asked for by name is found in it;
 *   - it is data if all its values are numbers, and none is in quotes above one without;
 *   - it is a header if a text in it stands above a number: in any column, the first value below
 *     that is not missing;
 *   - all else is doubtful.
 */
#include "query/header_guess.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "number/decimal.h"
#include "number/notation.h"
#include "query/remedy.h"

/* ---- texts ---- */

/* inf, -Infinity */
static bool is_infinity(const char *text, size_t nbytes)
{
	size_t nsigns = nbytes && (*text == '+' || *text == '-');

	text += nsigns;
	nbytes -= nsigns;
	return (nbytes == 3 && !strncasecmp(text, "inf", 3)) ||
	       (nbytes == 8 && !strncasecmp(text, "infinity", 8));
}

/* Whether a letter comes before any digit: not in 1O, <5, -, 2024-01-02. Signs beyond ASCII, such as
 * those of currencies and the minus of U+2212, are no letters. */
static bool begins_with_letter(const char *text, size_t nbytes)
{
	for (size_t i = 0; i < nbytes && !decimal_is_digit(text[i]); i++) {
		unsigned char c = (unsigned char)text[i];
		if ((c | 0x20) >= 'a' && (c | 0x20) <= 'z')
			return true;
		if (c == 0xC2) /* U+0080 to U+00BF */
			i++;
		else if (c == 0xE2) /* U+2000 to U+2FFF */
			i += 2;
		else if (c >= 0x80)
			return true;
	}
	return false;
}

/* Of what is written where there is no value, NaN and null may be names, but not N/A and \N. */
enum no_value { A_VALUE, A_WORD, A_MARK };

static enum no_value no_value(const char *text, size_t nbytes)
{
	size_t i = 0;

	if (!remedy_is_no_value(text, nbytes))
		return A_VALUE;
	while (i < nbytes && (text[i] | 0x20) >= 'a' && (text[i] | 0x20) <= 'z')
		i++;
	return i == nbytes ? A_WORD : A_MARK;
}

/* Whether a value is a text, and no number in any notation. NaN beside a number may be one, too. */
static bool is_text(const struct first_value *v, bool beside_number)
{
	size_t nbytes = strlen(v->text);
	const char *text = decimal_trim(v->text, &nbytes);

	return !v->is_missing && !v->is_number && !v->has_nul && begins_with_letter(text, nbytes) &&
	       !is_infinity(text, nbytes) && !notation_resembles_number(text, nbytes) &&
	       no_value(text, nbytes) <= (beside_number ? A_VALUE : A_WORD);
}

/* ---- names ---- */

/* What a selector says of the header. */
enum selector_says { SAYS_NOTHING, SAYS_NAME, SAYS_NAME_IF_FOUND };

static enum selector_says says(const struct selector *s)
{
	struct field_range range;

	if (s->computed || selector_is_position(s))
		return SAYS_NOTHING;
	if (!selector_by_position(s, 0, &range))
		return SAYS_NAME;
	return range.star ? SAYS_NOTHING : SAYS_NAME_IF_FOUND;
}

/* Whether one of the texts is in the first record, and no number there. */
static bool is_any_found(const struct header *h, const struct name_index *texts)
{
	size_t n;

	for (size_t i = 0; texts->nentries > 0 && i < h->nfields; i++) {
		const struct first_value *v = &h->record[0].values[i];
		if (!v->is_number && name_index_find(texts, v->text, &n))
			return true;
	}
	return false;
}

/* Sets *names to whether a selector names a column: one of the first record, or one that is nowhere. Errors:
 * STATUS_NO_MEMORY. */
static enum status names_column(const struct header *h, const struct header_request *request, bool *names)
{
	struct name_index unsure;
	size_t n = 0;

	for (size_t i = 0; i < request->nselections; i++)
		n += request->selections[i]->nselectors;
	if (name_index_init(&unsure, n) != STATUS_OK)
		return STATUS_NO_MEMORY;
	*names = false;
	for (size_t i = 0; i < request->nselections && !*names; i++)
		for (size_t j = 0; j < request->selections[i]->nselectors && !*names; j++) {
			const struct selector *s = &request->selections[i]->selectors[j];
			*names = says(s) == SAYS_NAME;
			if (says(s) == SAYS_NAME_IF_FOUND)
				name_index_add(&unsure, s->text, 0);
		}
	name_index_sort(&unsure);
	*names = *names || is_any_found(h, &unsure);
	name_index_free(&unsure);
	return STATUS_OK;
}

/* ---- the decision ---- */

/* Whether numbers in quotes stand above numbers without, where all values of the first record are numbers: R
 * writes names so. */
static enum status look_for_quotes(struct header *h, struct input *input, const struct plan *plan,
				   bool *found, struct fault *fault)
{
	const struct first_record *first = &h->record[0], *second = &h->record[1];
	enum status status = STATUS_OK;
	bool any = false;

	for (size_t i = 0; i < first->nfields; i++)
		any |= first->values[i].has_quotes;
	if (any && !second->nfields)
		status = header_read_below(h, input, plan, fault);
	*found = false;
	for (size_t i = 0; any && i < first->nfields && i < second->nfields; i++)
		*found |= first->values[i].has_quotes && second->values[i].is_number &&
			  !second->values[i].has_quotes;
	return status;
}

/* Looks for a number below one of the texts. */
static enum status look_below(struct header *h, struct input *input, const struct plan *plan,
			      struct fault *fault)
{
	const struct first_value *values = h->record[0].values;
	struct header_texts texts = {calloc(h->nfields, sizeof *texts.is_text), 0};
	bool has_number = false;
	enum status status;

	if (!texts.is_text)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	for (size_t i = 0; i < h->nfields; i++)
		has_number |= values[i].is_number;
	for (size_t i = 0; i < h->nfields; i++) {
		texts.is_text[i] = is_text(&values[i], has_number);
		texts.n += texts.is_text[i];
	}
	status = header_find_number(h, input, plan, &texts, fault);
	free(texts.is_text);
	return status;
}

static enum status doubt(struct header *h, struct input *input, struct fault *fault)
{
	size_t nbytes = 0;
	const char *data;
	bool at_end;

	if (input_peek(input, h->file, &data, &nbytes, &at_end, fault) != STATUS_OK)
		return fault->status;
	fault_set_value(fault, STATUS_DOUBTFUL_HEADER, data + h->begin, h->end - h->begin);
	fault->file = input_name(input, h->file);
	fault->line = h->line_number;
	return STATUS_DOUBTFUL_HEADER;
}

enum status header_guess(struct header *h, struct input *input, const struct plan *plan,
			 const struct header_request *request, struct fault *fault)
{
	enum status status = STATUS_OK;
	bool names;

	h->present = false;
	h->reason = HEADER_AS_SAID;
	if (h->nfields == 0 || request->mode == HEADER_NO)
		return STATUS_OK;
	h->present = true;
	if (request->mode == HEADER_YES)
		return STATUS_OK;
	h->reason = HEADER_IS_NAMED;
	if (names_column(h, request, &names) != STATUS_OK)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (names)
		return STATUS_OK;
	if (h->is_numbers) {
		status = look_for_quotes(h, input, plan, &h->present, fault);
		h->reason = HEADER_ALL_NUMBERS;
		if (status != STATUS_OK || !h->present)
			return status;
	} else {
		status = look_below(h, input, plan, fault);
	}
	h->reason = h->above_number ? HEADER_ABOVE_NUMBER : HEADER_DOUBTFUL;
	if (status != STATUS_OK || h->above_number || request->summary)
		return status;
	h->present = false;
	return doubt(h, input, fault);
}
