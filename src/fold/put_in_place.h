/* SPDX-License-Identifier: MIT
 *
 * put_in_place.h - the number of a rank among some in memory. A template: PLACED is the numbers' type, and PLACED_NAME(name)
 * names a function for them.
 */
#include <stddef.h>
#include <stdlib.h>

#define NROUNDS_MOST 64
#define NFEW 16

static int PLACED_NAME(compare)(const void *a, const void *b)
{
	PLACED x = *(const PLACED *)a, y = *(const PLACED *)b;

	return (x > y) - (x < y);
}

/* Sorts n <= NFEW numbers: each is put where as many are before it as are less. No branch depends on
 * them: of so few, each second one would be predicted wrongly. */
static void PLACED_NAME(sort_few)(PLACED *x, ptrdiff_t n)
{
	PLACED sorted[NFEW];
	unsigned place[NFEW] = {0};

	for (ptrdiff_t i = 1; i < n; i++)
		for (ptrdiff_t j = 0; j < i; j++) {
			const unsigned is_less = x[i] < x[j];
			place[j] += is_less;
			place[i] += !is_less;
		}
	for (ptrdiff_t i = 0; i < n; i++)
		sorted[place[i]] = x[i];
	for (ptrdiff_t i = 0; i < n; i++)
		x[i] = sorted[i];
}

/* Puts the number of place k in order there: none before it is greater, and none after it is less. Hoare's
 * algorithm ("Find", 1961); numbers that keep it from getting on are sorted. */
static void PLACED_NAME(put_in_place)(PLACED *x, ptrdiff_t first, ptrdiff_t last, ptrdiff_t k)
{
	for (int round = 0; first < last; round++) {
		const PLACED pivot = x[k];
		ptrdiff_t i = first, j = last;
		if (last - first < NFEW) {
			PLACED_NAME(sort_few)(x + first, last - first + 1);
			return;
		}
		if (round == NROUNDS_MOST) {
			qsort(x + first, (size_t)(last - first + 1), sizeof *x, PLACED_NAME(compare));
			return;
		}
		while (i <= j) {
			while (x[i] < pivot)
				i++;
			while (x[j] > pivot)
				j--;
			if (i > j)
				break;
			const PLACED other = x[i];
			x[i++] = x[j];
			x[j--] = other;
		}
		first = j < k ? i : first;
		last = k < i ? j : last;
	}
}

#undef NROUNDS_MOST
#undef NFEW
