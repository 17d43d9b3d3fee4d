/* SPDX-License-Identifier: MIT
 *
 * elsewhere.h - what the words of other programs are here: datamash, Miller, xsv, csvkit, awk, sort, cut, SQL, pandas.
 */
#ifndef GPUSTAT_ELSEWHERE_H
#define GPUSTAT_ELSEWHERE_H

#include "query/option_table.h"

/* Ended by a row whose typed is NULL. */
extern const struct option_synonym elsewhere_words[];

/* Sets the remedy of a fault of status STATUS_OPEN, whose file is not there: what is typed for a URL, for a program's
 * text, and for a word that is an option here. Leaves other names alone. */
void elsewhere_explain_open(struct fault *fault);

#endif
