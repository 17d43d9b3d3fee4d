/* SPDX-License-Identifier: MIT
 *
 * json.h - tells JSON and JSON Lines from CSV.
 */
#ifndef GPUSTAT_JSON_H
#define GPUSTAT_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "codec/codec.h"

/* Whether a file's first nbytes begin a JSON text with an object in it: CODEC_BEGINS only where no
 * CSV can be meant: there is a member, and the text is JSON up to the end of its first value, to
 * the file's end (at_end) or through 4 KiB, and behind that value the line ends.
 * *is_array: it begins with [. CODEC_PERHAPS: more bytes decide. */
enum codec_match json_begins(const unsigned char *data, size_t nbytes, bool at_end,
			     bool *is_array);

#endif
