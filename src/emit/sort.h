/* SPDX-License-Identifier: MIT
 *
 * sort.h - records of which only the whole input tells whether or where they are printed: in the order of keys (--sort), or the first
 * N of them (--top), the last N (--tail), N drawn at random (--sample). They take the place of standard output after cpu_folder_emit.
 *
 * A record's key is that of its values (fold/order_key.h); of equal ones the record that came first is printed first.
 *
 * The last N, or a sample, are the N records with the least keys, printed in the order of the input. The key is a word made of the
 * record's number among those that are left, from 0 on. So any number of threads choose the same records; all keys differ.
 *
 *   the last N  2^64 - 1 - number
 *   a sample    the output at that number of SplitMix64 begun with the seed: Steele, Lea, Flood, Fast Splittable
 *               Pseudorandom Number Generators, OOPSLA 2014. Its outputs are a bijection of their number.
 *
 * A record whose key is above the bound, the N-th least so far, is not printed, and not even made into text: of M
 * records about N (1 + ln(M / N)) are.
 *
 * Of records with the same values in some columns (--by with these, --unique) the first N in order are printed. A thread drops
 * those that come after N others of its own. At the end all are dealt into parts by the hashes of these values, a part is sorted, and
 * those after the first N of each group are dropped; then what is left is sorted as without groups.
 */
#pragma once

#include "base/array.h"
#include "base/status.h"
#include "fold/key_memory.h"
#include "fold/key_table.h"
#include "fold/order_key.h"
#include "fold/row_block.h"
#include "query/plan.h"

struct writer; /* io/output.h */
struct sorter;

/* A record. */
struct sort_entry {
	uint64_t key[ORDER_KEY_NWORDS]; /* its key's first bytes, the first one highest; after its end zeros */
	uint64_t at;               /* the address of the rest (sort.c), SORT_IS_LONG, and SORT_LACKS_END */
};

/* Records of one text, in their order. */
struct sort_block {
	struct sort_block *next;
	uint64_t first; /* the place of the first one among all of the run, or before it, but after those that came before */
	uint32_t n, capacity;
	struct sort_entry entries[];
};

/* The key of a row of a block: bytes[begin .. end) of the part's; and its values of the plan's sort_groups, up to group_end. */
struct sort_row {
	uint64_t key[ORDER_KEY_NWORDS];
	size_t begin, end, group_end;
	struct key group; /* these values, and their hash */
	uint64_t hash;
	bool lacks_end;   /* its file ends without an LF after it */
};

/* Groups of records by the values of some columns, of which the first N are printed. Zeroed: none. */
struct sort_groups {
	struct key_table table;   /* to struct sort_group */
	struct key_arena memory;  /* of the keys of first records */
	uint64_t most;            /* the largest number of groups */
	bool is_full;             /* no memory is left for more */
};

/* One thread's records. All owned. */
struct sort_part {
	struct sorter *sorter;
	struct sort_part *next;  /* of the sorter's */
	struct key_arena memory; /* of all of its records */
	struct sort_block *first, *last;
	uint64_t number;         /* of the next record, as a block's `first` */
	uint64_t end;            /* of the text's records, of which the last one ends its file without an LF; 0: it does not */
	uint64_t n, nbytes;      /* entries, and memory */
	uint64_t ncut;           /* with so many entries, all but the first N are dropped */
#ifdef __cplusplus
	uint64_t share; /* C++ has no _Atomic, and does not look at it */
#else
	_Atomic uint64_t share;  /* the first word of the key of its N / nthreads-th record; or UINT64_MAX */
#endif
	bool is_begun;           /* the next record goes to the last block */
	bool is_long;            /* some key is longer than its entry's words */
	struct sort_row rows[ROW_BLOCK_NROWS];
	struct text_buffer bytes;
	struct scratch scratch;
	struct sort_groups groups;   /* those that the thread has met */
	struct text_buffer record;   /* with its values before it */
	uint64_t bound[ORDER_KEY_NWORDS]; /* of the first N: records whose key is above it come too late */
	int fd;                  /* of a temporary file; -1: none */
	uint64_t file_nbytes;
	struct sort_run *runs;   /* nruns: sorted records in the file */
	size_t nruns;
};

/* All records of a run. nthreads: that will bring some. NULL: no memory. */
struct sorter *sorter_new(const struct plan *plan, int nthreads);

/* s: NULL: nothing is done. */
void sorter_free(struct sorter *s);

/* Makes a part. Any thread may call it. NULL: no memory. */
struct sort_part *sorter_part(struct sorter *s);

/* Begins a text of nrecords, before which there are `before` of the run. Returns whether one of them may be printed.
 * lacks_end: its last record ends a file without an LF. Cost: of a sample, some operations a record. */
bool sort_part_begin(struct sort_part *p, uint64_t before, uint64_t nrecords, bool lacks_end);

/* Makes the keys of a block's rows, of which the first one has the number given. Returns in *rows those of them that may be printed.
 * Errors: STATUS_NO_MEMORY. */
enum status sort_part_choose(struct sort_part *p, struct row_block *b, uint64_t number, uint64_t *rows);

/* Returns those of the rows that may be among the first of their groups; called once for each block, after that, and remembers them. */
uint64_t sort_part_pick(struct sort_part *p, uint64_t rows);

/* Adds the record of a row that may be printed: text[0 .. nbytes), with its line end. Errors: STATUS_NO_MEMORY;
 * STATUS_TEMPORARY; STATUS_LONG_RECORD, of more than 4 GiB. */
enum status sort_part_add(struct sort_part *p, unsigned row, const char *text, size_t nbytes);

/* Drops all but the first records of each group, or all, if the plan has such groups or a choice. After all threads have ended,
 * before anything is printed. Errors: STATUS_NO_MEMORY, STATUS_TEMPORARY. */
enum status sorter_choose(struct sorter *s, size_t nthreads);

/* Writes all records that are left, or the first N of them. After sorter_choose. Errors: writer_write's; STATUS_NO_MEMORY,
 * STATUS_TEMPORARY. */
enum status sorter_write(struct sorter *s, size_t nthreads, struct writer *writer, struct fault *fault);

