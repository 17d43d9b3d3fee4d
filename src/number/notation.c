/* SPDX-License-Identifier: MIT
 *
 * notation.c - see notation.h.
 */
#include "number/notation.h"

#include <string.h>

#include "number/decimal.h"

/* A first version: helper numbers has the real one. */
bool notation_resembles_number(const char *text, size_t nbytes)
{
	size_t ndigits = 0, nothers = 0;

	text = decimal_trim(text, &nbytes);
	if (nbytes > 2 && text[0] == '0' && (text[1] | 0x20) == 'x')
		return true;
	for (size_t i = 0; i < nbytes; i++) {
		ndigits += (size_t)decimal_is_digit(text[i]);
		nothers += !decimal_is_digit(text[i]) && !strchr(".,' _$%()eE", text[i]) &&
			   !(strchr("+-", text[i]) && (i == 0 || i + 1 == nbytes));
	}
	return ndigits > 0 && nothers == 0 && (text[0] | 0x20) != 'e';
}
