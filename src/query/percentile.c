/* SPDX-License-Identifier: MIT
 *
 * percentile.c - see percentile.h.
 */
#include "query/percentile.h"

#include "number/decimal.h"

bool percentile_parse(const char *text, size_t nbytes, struct percentile *out)
{
	struct decimal_syntax s;
	struct decimal x;

	for (size_t i = 0; i < nbytes; i++)
		if (!decimal_is_digit(text[i]) && text[i] != '.')
			return false;
	if (nbytes == 0 || text[0] == '.' || text[nbytes - 1] == '.' ||
	    !decimal_tokenize(text, nbytes, &s) || s.nfraction > PERCENTILE_NPLACES ||
	    decimal_parse(text, nbytes, &x) != DECIMAL_NUMBER)
		return false;
	*out = (struct percentile){(uint64_t)x.significand, (int)s.nfraction};
	return out->numerator <= 100 * (uint64_t)decimal_shift(1, s.nfraction);
}
