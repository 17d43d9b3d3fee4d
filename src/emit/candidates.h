/* SPDX-License-Identifier: MIT
 *
 * candidates.h - one thread's records of a text of which some are offered to the choice (choice.h).
 */
#ifndef GPUSTAT_CANDIDATES_H
#define GPUSTAT_CANDIDATES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

struct choice;

/* A record that may be printed. */
struct chosen_record {
	uint64_t key, number; /* number: among those that are left, from 0 on */
	size_t begin, nbytes; /* of its text, with the line end */
	bool lacks_end;       /* its file ends without an LF behind it */
};

/* One thread's records of one text: some of them are offered to the choice. Zeroed: no memory yet. */
struct candidates {
	struct choice *choice; /* NULL: all records are printed */
	uint64_t next;         /* the number of the next record */
	uint64_t first;        /* those before it are not among the last N of this text */
	uint64_t end;          /* behind the text's last record */
	bool lacks_end;        /* that record's file ends without an LF. The caller's. */
	struct chosen_record *records; /* owned */
	size_t nrecords, capacity;
};

/* Begins a text of nrecords, before which there are `before` of the run. Returns whether one of them may be
 * printed. Cost: of a sample, some operations a record. */
bool candidates_begin(struct candidates *c, uint64_t before, uint64_t nrecords);
void candidates_free(struct candidates *c);

/* Counts the rows of a block that are left; returns those of them that may be printed. */
uint64_t candidates_choose(struct candidates *c, uint64_t rows);

/* Notes where the text of a record lies that may be printed. Errors: STATUS_NO_MEMORY. */
enum status candidates_note(struct candidates *c, uint64_t number, size_t begin, size_t nbytes);

/* Gives the choice the records noted, which lie in text one behind the other, first to last. Errors:
 * STATUS_NO_MEMORY. */
enum status candidates_offer(struct candidates *c, const char *text);

#endif
