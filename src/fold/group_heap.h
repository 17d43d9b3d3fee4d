/* SPDX-License-Identifier: MIT
 *
 * group_heap.h - values by which groups are sorted (--sort), and the first ones of many.
 */
#ifndef GPUSTAT_GROUP_HEAP_H
#define GPUSTAT_GROUP_HEAP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "fold/group_list.h"
#include "number/decimal.h"
#include "number/notation.h"

enum value_kind { VALUE_NUMBER, VALUE_WIDE, VALUE_TEXT, VALUE_EMPTY };

struct sort_value {
	enum value_kind kind;
	struct decimal number; /* of VALUE_NUMBER */
	char *text;            /* of VALUE_WIDE and VALUE_TEXT. Owned. */
	size_t nbytes;
	uint64_t first; /* the group's */
	struct group *group;
};

/* Sets the value to that of a text, but for its group. notation: of a text of the input, in which it is a number if it is
 * one; NULL: the text is decimal.h's. Errors: STATUS_NO_MEMORY. */
enum status sort_value_set(struct sort_value *v, const char *text, size_t nbytes, const struct number_notation *notation);

/* Compares values: < 0, 0, > 0. Numbers compare exactly and come before texts, which compare byte by byte; descending turns
 * that around. What is empty comes last, and of equal ones the first to appear comes first, whatever the direction. */
int sort_value_compare(const struct sort_value *a, const struct sort_value *b, bool descending);

/* The first values of those that were offered: a heap whose top is the last of them. */
struct group_heap {
	struct sort_value *at; /* room for `most`. Owned. */
	size_t n, most;
	bool descending;
	const struct plan *owns; /* the groups of its values are its own, of this plan; NULL: they are not */
};

/* Errors: STATUS_NO_MEMORY. */
enum status group_heap_init(struct group_heap *h, size_t most, bool descending, const struct plan *owns);

/* Whether it would keep the value. */
bool group_heap_wants(const struct group_heap *h, const struct sort_value *v);

/* Takes the value over, and frees that which is no more among the first. of: how many are offered in all; SIZE_MAX: it is
 * not known. */
void group_heap_offer(struct group_heap *h, struct sort_value v, size_t of);

/* Puts its values in order. Nothing can be offered then. */
void group_heap_sort(struct group_heap *h);

/* Frees the values from `first` on, and the room of all. */
void group_heap_free(struct group_heap *h, size_t first);

#endif
