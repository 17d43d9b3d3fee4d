/* SPDX-License-Identifier: MIT
 *
 * stage.h - the names of the stages that a chunk goes through, for timing.
 */
#pragma once

/* (id, name, place, what is done). place: an enum stage_place. For a GPU's worker, a HOST stage is
 * the call, which usually waits for the device. */
#define STAGE_TABLE(STAGE)                                                                   \
	STAGE(READ, "read", HOST, "from the page cache into the worker's buffer, or packed")  \
	STAGE(FIND, "find", HOST, "of read: the first block in a section of gzip data")      \
	STAGE(SYMBOLS, "symbols", HOST, "of read: the section to symbols, its window unknown") \
	STAGE(TURN, "turn", HOST, "of read: waiting for the section before")                 \
	STAGE(BYTES, "bytes", HOST, "of read: to bytes, the window known")                   \
	STAGE(REDO, "redo", HOST, "of read: to bytes, what had been begun at a wrong place") \
	STAGE(RESOLVE, "resolve", HOST, "of read: symbols to bytes in the worker's buffer, CRC") \
	STAGE(MAP, "map", HOST, "separators and quotes; of a GPU: the call, with its waiting") \
	STAGE(FOLD, "fold", HOST, "fields, values and their fold; of a GPU: the call")       \
	STAGE(EMIT, "emit", HOST, "records and their new fields as text; of a GPU: the call") \
	STAGE(WRITE, "write", HOST, "to standard output, one chunk at a time")               \
	STAGE(COPY_UP, "copy_up", UP, "the chunk, from pinned memory to the device")         \
	STAGE(EXPAND, "expand", KERNELS, "text that has come up packed")                     \
	STAGE(INFLATE, "inflate", KERNELS, "blocks of compressed data to text")              \
	STAGE(CHECK, "check", KERNELS, "the CRCs of that text")                              \
	STAGE(RECORDS, "records", KERNELS, "records_map, records_ends: where records end")   \
	STAGE(COLUMN_FOLD, "column_fold", KERNELS, "fields and reduce in one kernel")        \
	STAGE(FIELDS, "fields", KERNELS, "each record's values, and its conditions")         \
	STAGE(GROUPS, "groups", KERNELS, "each record to its group, and added there")        \
	STAGE(REDUCE, "reduce", KERNELS, "the values of each column to its fold")            \
	STAGE(KEEP, "keep", KERNELS, "numbers that stay on the device to be selected or sorted") \
	STAGE(SCAN, "scan", KERNELS, "running totals, and where each row goes")              \
	STAGE(FORMAT, "format", KERNELS, "the rows as text")                                 \
	STAGE(COPY_BACK, "copy_back", BACK, "results, or text, to pinned memory")

enum stage {
#define STAGE(id, name, place, what) STAGE_##id,
	STAGE_TABLE(STAGE)
#undef STAGE
	STAGE_COUNT,
	STAGE_BEGINS = STAGE_COUNT /* no stage: the mark where one begins */
};

/* A thread of the host; or, in a stream: copies up, kernels, copies back. */
enum stage_place { STAGE_HOST, STAGE_UP, STAGE_KERNELS, STAGE_BACK, STAGE_NPLACES };
