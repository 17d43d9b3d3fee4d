/* SPDX-License-Identifier: MIT
 *
 * lead_frame.h - printed records some of whose fields are those of later records (--lead): what lead_rows.c
 * leaves in a text_buffer in place of plain text, and lead_queue.c takes.
 *
 * A record is a row of pieces with a gap behind each but the last: one for each of the plan's nleads
 * columns. Behind the frame's header there are, one after the other, host byte order:
 *
 *     struct lead_frame_group  groups[ngroups]             those of the records
 *     uint32_t                 of_group[nheld]             of each held record: which of these is its group
 *     uint32_t                 part_nbytes[nheld][2 * nleads + 1]  piece, field, piece, field, ... piece
 *     uint32_t                 first_nbytes[nfirsts][nleads]
 *     char                     firsts[]                    group by group, the fields of the first records, as
 *                                                          far as records before the frame may lack them
 *     char                     held[held_nbytes]           the parts of the held records
 *     char                     closed[closed_nbytes]       all records before the held ones, as they are printed
 *     padding to a multiple of 8 bytes
 *
 * The first held record is the first that lacks a field of a later frame.
 */
#ifndef GPUSTAT_LEAD_FRAME_H
#define GPUSTAT_LEAD_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text_buffer.h"

#define LEAD_OPEN UINT32_MAX /* part_nbytes of a field that is not in the frame */

struct lead_frame {
	uint64_t nbytes; /* of all, this header included */
	uint64_t closed_offset, closed_nbytes;
	uint64_t nfirsts; /* of all groups */
	uint64_t firsts_nbytes;
	uint32_t ngroups, nheld;
	uint64_t in_line; /* 1: the last record's line end is not to be printed */
};

struct lead_frame_group {
	const void *home; /* which of the run's groups it is; NULL: all records are one */
	uint64_t nfirsts;
};

/* Leaves out the line end of the last record of the frame at out->data + offset: the file lacks it. */
static inline void lead_frame_end_in_line(struct text_buffer *out, size_t offset)
{
	((struct lead_frame *)(void *)(out->data + offset))->in_line = 1;
}

#endif
