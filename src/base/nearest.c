/* SPDX-License-Identifier: MIT
 *
 * nearest.c - see nearest.h.
 */
#include "base/nearest.h"

#include <string.h>
#include <strings.h>

#define NAME_NBYTES 64 /* longer names are compared up to here */

struct nearest nearest_begin(const char *typed, size_t nbytes)
{
	size_t limit = nbytes > 1 && nbytes < NAME_NBYTES ? (nbytes + 2) / 3 : 0;

	return (struct nearest){typed, nbytes, limit, NULL};
}

/* The Levenshtein distance, row by row: V. Levenshtein, Soviet Physics Doklady 10 (8), 1966. */
static size_t edit_distance(const char *typed, size_t nbytes, const char *name)
{
	size_t length = strnlen(name, NAME_NBYTES - 1), row[NAME_NBYTES];

	for (size_t j = 0; j <= length; j++)
		row[j] = j;
	for (size_t i = 0; i < nbytes; i++) {
		size_t diagonal = row[0]++;
		for (size_t j = 1; j <= length; j++) {
			size_t edited = diagonal + (typed[i] != name[j - 1]);
			diagonal = row[j];
			row[j] = (row[j] < row[j - 1] ? row[j] : row[j - 1]) + 1;
			row[j] = edited < row[j] ? edited : row[j];
		}
	}
	return row[length];
}

void nearest_offer(struct nearest *n, const char *name)
{
	size_t distance = 1;

	if (n->limit == 0)
		return;
	if (strncmp(n->typed, name, n->nbytes) &&
	    (strncasecmp(n->typed, name, n->nbytes) || name[n->nbytes]))
		distance = edit_distance(n->typed, n->nbytes, name);
	if (distance > n->limit)
		return;
	n->limit = distance - 1;
	n->name = name;
}
