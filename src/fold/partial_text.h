/* SPDX-License-Identifier: MIT
 *
 * partial_text.h - a partial as lines of JSON, exactly, and back: what a part is made of
 * (cluster/part.h).
 *
 * Reading combines: what is read comes after what the partial holds. So a long column may be
 * written in several lines, and a partial into which several texts were read, in order, is that of
 * all their records.
 *
 *     {"records":N,"ragged":N,"undecided":N,"matched":[N,...]}
 *     {"column":I,"count":N,"kind":"number","missing":N,...,"numbers":[SCALE,"SUM","MIN","MAX"],"squares":"SUM",...}
 *     {"pair":I,"products":"SUM","x":{...},"y":{...}}
 *     {"window":I,"values":["TEXT",null,...]}, one by time with "times":["SECONDS",...] after that
 *     {"group":["KEY",...],"first":OFFSET,"records":N,"columns":[{...},...],"pairs":[{...},...],"windows":[{...},...]}
 *
 * Members that are 0 or empty are left out. Each is named once, for both directions.
 */
#pragma once

#include "base/json_text.h"
#include "fold/column.h"
#include "query/plan.h"

enum { PARTIAL_COLUMNS, PARTIAL_PAIRS, PARTIAL_WINDOWS, PARTIAL_NKINDS };

/* Where a text's columns, pairs and windows are in the plan that it is read for. */
struct partial_map {
	struct fold_map {
		size_t n;   /* of the text */
		size_t *at; /* SIZE_MAX: the plan has no such one */
	} of[PARTIAL_NKINDS];
	bool *are_swapped;     /* of pairs: the plan's is y:x */
	uint64_t offset_bytes; /* of the text's records in the input */
};

/* Write all but groups; and a group's line. After STATUS_MANY_KEYS, p->full_column is set. */
void partial_write(struct partial *p, const struct plan *plan, struct json_text *j);

struct group;

/* blank: the identity, which stays so. Errors, in j->status: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
void group_write(struct group *g, const struct plan *plan, struct partial *blank, struct json_text *j);

/* Reads one of the lines above, without its line end, all of j, into p.
 * blank: the identity, which stays so. Errors, in j->status: STATUS_DAMAGED, STATUS_NO_MEMORY,
 * STATUS_MANY_KEYS. */
void partial_read_line(struct partial *p, const struct plan *plan, const struct partial_map *map,
		       struct partial *blank, struct json_text *j);

/* The largest place in an input that a part may name: with the places before it, as long as files can be. */
#define OFFSET_BYTES_MAX ((uint64_t)INT64_MAX)

/* Reads the kind of a column from the beginning of a line, for a reader that leaves the rest to others: for p, to
 * which it is the earliest if the column had none. Not of a column: does nothing. */
void partial_read_kind(struct partial *p, const struct partial_map *map, struct json_text from);
