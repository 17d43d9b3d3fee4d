/* SPDX-License-Identifier: MIT
 *
 * preamble.h - what stands before a file's first record: lines to skip, and Excel's sep=;.
 */
#ifndef GPUSTAT_PREAMBLE_H
#define GPUSTAT_PREAMBLE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/status.h"
#include "csv/dialect.h"

struct source;

struct preamble {
	uint64_t nlines;             /* to skip in each file */
	bool seeks_delimiter;        /* a line sep=C sets the delimiter */
	bool is_settled;             /* a file with text in it has been opened: the delimiter is fixed */
	struct csv_dialect *dialect; /* not owned; its delimiter is set */
};

/* Skips the preamble of a file that was just opened, and reads on until the first line's end is
 * known, at most about a mebibyte.
 * Errors: the source's; STATUS_FEW_LINES where a file that is not empty has fewer lines than are to
 * be skipped; STATUS_DELIMITER_DIFFERS where sep= differs from the first file's delimiter;
 * STATUS_CR_LINES where CR ends lines, and LF none. */
enum status preamble_skip(struct preamble *p, struct source *s, struct fault *fault);

#endif
