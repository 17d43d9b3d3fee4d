/* SPDX-License-Identifier: MIT
 *
 * writer.h - records to standard output, as they are.
 */
#ifndef GPUSTAT_WRITER_H
#define GPUSTAT_WRITER_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/text_buffer.h"
#include "base/status.h"
#include "io/curve.h"

struct writer {
	bool owes_newline;   /* what is written ends inside a line */
	_Atomic uint64_t busy_ns; /* in which output was written; read by any thread */
	struct curve *curve; /* takes the records in place of standard output; not owned; NULL: none */
};

/* Writes text. A file's last record may lack its LF; it gets one if anything follows.
 * Errors: STATUS_WRITE, STATUS_NO_MEMORY. */
enum status writer_write(struct writer *w, struct text_buffer *text, struct fault *fault);

#endif
