/* SPDX-License-Identifier: MIT
 *
 * ranked_run.h - a run that prints records with their ranks (--rank): two passes over the input.
 */
#ifndef GPUSTAT_RANKED_RUN_H
#define GPUSTAT_RANKED_RUN_H

#include "run/run.h"

/* Keeps the numbers of the ranked columns in a first pass, sorts them, and prints the records in a second. r has
 * opened the input, and its query has columns of NEW_RANK. Errors: of both; STATUS_USAGE: the input cannot be
 * read twice; STATUS_CHANGED: it had other records the second time. */
enum status run_ranked(struct run *r, struct fault *fault);

#endif
