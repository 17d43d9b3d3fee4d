/* SPDX-License-Identifier: MIT
 *
 * terminal.h - what standard output can show.
 */
#ifndef GPUSTAT_TERMINAL_H
#define GPUSTAT_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

#define TERMINAL_WIDTH_MIN 20
#define TERMINAL_WIDTH_MAX 1000

struct terminal {
	size_t width; /* in columns: the terminal's, else $COLUMNS, else 80; within the limits above */
	bool is_utf8; /* by the environment's locale */
};

/* Finds out. Changes no locale. */
struct terminal terminal_look(void);

#endif
