/* SPDX-License-Identifier: MIT
 *
 * header_guess.h - is the first record a header?
 */
#ifndef GPUSTAT_HEADER_GUESS_H
#define GPUSTAT_HEADER_GUESS_H

#include "query/header.h"

/* Sets h->present, and h->reason. Arguments and errors: header_decide's. */
enum status header_guess(struct header *h, struct input *input, const struct plan *plan,
			 const struct header_request *request, struct fault *fault);

#endif
