/* SPDX-License-Identifier: MIT
 *
 * part_order.c - see part_order.h.
 */
#include "cluster/part_order.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

__attribute__((format(printf, 2, 3))) static enum status fail(struct fault *fault, const char *format, ...)
{
	char words[FAULT_DETAIL_NBYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(words, sizeof words, format, arguments);
	va_end(arguments);
	return fault_set(fault, STATUS_PART_ORDER, 0, words);
}

/* Names a part of a file. */
#define PART_WORDS "part %" PRIu64 "/%" PRIu64 " of %.100s"

/* Part `number` of the file is not where it must be. */
static enum status fail_missing(const struct part_seam *of, uint64_t number, struct fault *fault)
{
	return fail(fault, PART_WORDS " is missing before this", number, of->of, of->input);
}

static enum status check_quotes(const struct part_seam *right, const struct part_seam *left, struct fault *fault)
{
	if (right->is_quoted == left->is_quoted)
		return STATUS_OK;
	return fail(fault, PART_WORDS " begins %s a quoted field: write it again with --part %" PRIu64 "/%" PRIu64
		    "%s", left->number, left->of, left->input, right->is_quoted ? "inside" : "outside",
		    left->number, left->of, right->is_quoted ? ",quoted" : "");
}

enum status part_order_check(const struct part_seam *right, const struct part_seam *left, bool is_first,
			     bool is_piece, struct fault *fault)
{
	if (right->of && (left->of == 0 || strcmp(left->input, right->input)))
		return fail_missing(right, right->number + 1, fault);
	if (left->of == 0 || (is_first && is_piece))
		return STATUS_OK;
	if (right->of == 0)
		return fail_missing(left, is_first ? 1 : left->number - 1, fault);
	if (left->size != right->size)
		return fail(fault, "%.100s had %" PRIu64 " bytes for part %" PRIu64 ", and %" PRIu64
			    " for this: write its parts again", right->input, right->size, right->number,
			    left->size);
	if (left->of != right->of)
		return fail(fault, "part %" PRIu64 "/%" PRIu64 " behind part %" PRIu64 "/%" PRIu64 " of %.100s",
			    left->number, left->of, right->number, right->of, right->input);
	if (left->number != right->number + 1 || left->border != right->border)
		return fail_missing(right, right->number + 1, fault);
	return check_quotes(right, left, fault);
}

enum status part_order_end(const struct part_seam *right, struct fault *fault)
{
	if (right->of == 0)
		return STATUS_OK;
	return fail(fault, PART_WORDS " is missing behind these", right->number + 1, right->of, right->input);
}

enum status part_seam_copy(struct part_seam *to, const struct part_seam *from)
{
	char *input = from->input ? strdup(from->input) : NULL;

	if (from->input && !input)
		return STATUS_NO_MEMORY;
	free(to->input);
	*to = *from;
	to->input = input;
	return STATUS_OK;
}
