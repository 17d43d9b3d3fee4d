/* SPDX-License-Identifier: MIT
 *
 * group_sample.h - how many groups a run is likely to have, told from the beginning of its text (--by).
 */
#ifndef GPUSTAT_GROUP_SAMPLE_H
#define GPUSTAT_GROUP_SAMPLE_H

#include <stddef.h>

#include "query/plan.h"

/* The lines that end in text[0 .. nbytes), for each of its bytes; 0 if there is no text. */
double sample_lines_per_byte(const char *text, size_t nbytes);

/* Records of a sample, how many different keys they have, and the bytes of all records' keys with their delimiters. */
struct group_sample {
	size_t nrecords, nkeys, nbytes;
};

/* Counts them in a text that begins with a record, up to the last record that it has whole. The keys are compared by hashes
 * of their fields as they stand in the text: an estimate is made of it, and nothing else. Returns 0 records where fields end
 * at blanks, or memory is short. Cost: some ns a byte. */
struct group_sample group_sample_count(const struct plan *plan, const char *text, size_t nbytes);

/* The groups that nrecords records are likely to have, if their keys are as evenly spread as the sample's; 0: few, at
 * most some times as many as the sample has records. */
double group_sample_ngroups(const struct group_sample *s, double nrecords);

#endif
