/* SPDX-License-Identifier: MIT
 *
 * choice.h - records of which only the whole input tells whether they are printed: the last N, or N drawn at
 * random. They take the place of standard output after cpu_folder_emit.
 *
 * Each record has a key by its number, and the N records with the least keys are printed, in the order of the
 * input. Keys depend on nothing else, so any number of threads, in any order, choose the same records; the
 * keys of a run all differ, so there are no ties.
 *
 *   the last N   2^64 - 1 - number
 *   a sample     the output at that number of SplitMix64 begun with the seed: Steele, Lea, Flood, Fast Splittable
 *                Pseudorandom Number Generators, OOPSLA 2014. Its outputs are a bijection of their number.
 *
 * A record whose key is above the bound, the N-th least so far, is not printed, and not even made into text: of M
 * records about N (1 + ln(M / N)) are.
 */
#pragma once

#include "base/status.h"

struct writer; /* io/output.h */
struct choice;

/* A record that may be printed. */
struct chosen_record {
	uint64_t number, key; /* number: among those that are left, from 0 on; first, so that they are sorted by it */
	size_t begin, nbytes; /* of its text, with the line end */
	bool lacks_end;       /* its file ends without an LF after it */
};

enum choice_kind { CHOICE_LAST, CHOICE_SAMPLE };

/* All that may be printed of a run. NULL: no memory. */
struct choice *choice_new(enum choice_kind kind, uint64_t nmost, uint64_t seed);

/* c: NULL: nothing is done. */
void choice_free(struct choice *c);

/* Writes the records that are chosen. After all threads have ended. Errors: writer_write's. */
enum status choice_write(struct choice *c, struct writer *writer, struct fault *fault);

/* One thread's records of one text: some of them are offered to the choice. Zeroed: no memory yet. */
struct candidates {
	struct choice *choice; /* NULL: all records are printed */
	uint64_t next;         /* the number of the next record */
	uint64_t first;        /* those before it are not among the last N of this text */
	uint64_t end;          /* after the text's last record */
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

/* Gives the choice the records noted, which lie in text one after the other, first to last. Errors:
 * STATUS_NO_MEMORY. */
enum status candidates_offer(struct candidates *c, const char *text);
