/* SPDX-License-Identifier: MIT
 *
 * header_guess.h - is the first record a header?
 */
#ifndef GPUSTAT_HEADER_GUESS_H
#define GPUSTAT_HEADER_GUESS_H

#include "query/header.h"

/* Sets h->present, as mode and the selections say, and h->guess where only values tell. Arguments
 * and errors: header_decide's. */
enum status header_guess(struct header *h, const struct input *input, enum header_mode mode,
			 const struct selection *selections, size_t nselections, bool summary,
			 struct fault *fault);

#endif
