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

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* How many bytes must be put in, left out, replaced, or exchanged with their neighbours: F. J. Damerau, CACM 7
 * (3), 1964; row by row: V. I. Levenshtein, Soviet Physics Doklady 10 (8), 1966. */
static size_t edit_distance(const char *typed, size_t nbytes, const char *name)
{
	size_t length = strnlen(name, NAME_NBYTES - 1), rows[3][NAME_NBYTES];

	for (size_t j = 0; j <= length; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= nbytes; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *before = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= length; j++) {
			row[j] = least(above[j - 1] + (typed[i - 1] != name[j - 1]), least(above[j], row[j - 1]) + 1);
			if (i > 1 && j > 1 && typed[i - 1] == name[j - 2] && typed[i - 2] == name[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
	}
	return rows[nbytes % 3][length];
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
