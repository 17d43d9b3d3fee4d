/* SPDX-License-Identifier: MIT
 *
 * part_order.h - parts of one file behind each other: are they whole and in order, and did each begin as the one
 * before ended?
 *
 * A border of two parts lies behind an LF. A part is written as if a record began there, which is wrong where
 * the LF is one in a quoted field. The part before knows: it has ended inside quotes. Then the part after it must
 * be written again as one that begins in them.
 */
#ifndef GPUSTAT_PART_ORDER_H
#define GPUSTAT_PART_ORDER_H

#include "base/status.h"
#include "cluster/part_head.h"

/* Checks that a part follows another, of which right is the end, of == 0: it ends with a file. is_first: there is
 * none before; then is_piece says whether the part may begin in the midst of a file. Errors: STATUS_PART_ORDER, its
 * words in fault's detail; fault's file and line are the caller's. */
enum status part_order_check(const struct part_seam *right, const struct part_seam *left, bool is_first,
			     bool is_piece, struct fault *fault);

/* Checks that the last part ends with a file. Errors: the same. */
enum status part_order_end(const struct part_seam *right, struct fault *fault);

/* *to = a copy of from, whose name is to be freed; to's own is freed. Errors: STATUS_NO_MEMORY. */
enum status part_seam_copy(struct part_seam *to, const struct part_seam *from);

#endif
