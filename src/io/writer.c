/* SPDX-License-Identifier: MIT
 *
 * writer.c - see writer.h.
 */
#include "io/writer.h"

#include <errno.h>
#include <stdbool.h>

#include "base/clock.h"
#include "io/output_ahead.h"

static enum status write_all(struct writer *w, const char *data, size_t nbytes, struct fault *fault)
{
	double begin_s = clock_s();
	bool written = output_ahead_write(data, nbytes);

	w->busy_ns += (uint64_t)((clock_s() - begin_s) * 1e9);
	return written ? STATUS_OK : fault_set(fault, STATUS_WRITE, errno, NULL);
}

enum status writer_write(struct writer *w, struct text_buffer *text, struct fault *fault)
{
	enum status status = STATUS_OK;
	bool in_line = text->in_line;

	if (w->curve) {
		status = curve_add(w->curve, text);
		text->in_line = false;
		return status == STATUS_OK ? status : fault_set(fault, status, 0, NULL);
	}
	text->in_line = false;
	if (text->nbytes == 0 && !in_line)
		return STATUS_OK;
	if (w->owes_newline)
		status = write_all(w, "\n", 1, fault);
	w->owes_newline = text->nbytes == 0 || text->data[text->nbytes - 1] != '\n';
	return status == STATUS_OK ? write_all(w, text->data, text->nbytes, fault) : status;
}
