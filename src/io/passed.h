/* SPDX-License-Identifier: MIT
 *
 * passed.h - files that were peeked at and passed over, and may yet be taken: input_pass().
 */
#ifndef GPUSTAT_PASSED_H
#define GPUSTAT_PASSED_H

#include <stdbool.h>
#include <stdint.h>

#include "io/source.h"
#include "base/status.h"

struct passed_file {
	struct source source;
	uint64_t offset_bytes; /* of its first byte, in the whole input */
};

/* Files one after the other, from number `first` on. All zero: none. */
struct passed {
	struct passed_file *files;
	int nfiles, first;
};

/* Keeps the file with this number, the one after those that are kept, and leaves *s without one.
 * A file that was peeked at to its end is closed, and costs no more memory than it is long.
 * Errors: STATUS_NO_MEMORY; *s is then as it was. */
enum status passed_keep(struct passed *p, int file, struct source *s, uint64_t offset_bytes,
			struct fault *fault);

/* Gives such a file back; false where it is none of them. Frees the buffer *s has. */
bool passed_take(struct passed *p, int file, struct source *s, uint64_t *offset_bytes);

/* Forgets all of them. */
void passed_free(struct passed *p);

#endif
