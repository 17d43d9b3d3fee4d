/* SPDX-License-Identifier: MIT
 *
 * keys.h - the distinct texts of a column: how often each came, and where it came first.
 *
 * It is a moment (moment.h) of texts instead of numbers. A key is the text of a value: quotes undone,
 * blanks and all. "First" is the least offset in the input, so the result does not depend on the order
 * in which parts are combined, nor on the number of threads.
 *
 * The fold of a chunk only notes where its texts lie; combining adds them to sets of words (word_set.h) or looks them up in
 * tables, which outlive the chunk. So each text is added once, and a chunk that is folded again, or that fails, has
 * changed neither. A thread has tables of its own. At the end they are joined: a key's hash says in
 * which of KEYS_NPARTS parts it is, and threads join different parts.
 */
#pragma once

#include "base/status.h"
#include "fold/device_run.h"
#include "fold/key_table.h"
#include "fold/moment.h"
#include "fold/word_set.h"

#define KEYS_NPARTS ((size_t)1 << KEY_PART_BITS)

/* Texts that have been folded and not been looked up: [begin, end) of a text. */
struct key_span {
	uint32_t begin, end;
};
struct key_log {
	const char *text;      /* padded as simd.h says; valid as long as the folded text is */
	uint64_t offset_bytes; /* of text[0] in the input */
	struct key_span *spans; /* owned */
	size_t nspans, capacity;
};

enum keys_order { KEYS_MOST_FREQUENT, KEYS_LEAST_FREQUENT, KEYS_NORDERS };

/* The keys of a part: those that are words (key.h), and others. */
struct key_part {
	struct word_set words;
	struct key_table others; /* its values: struct key_count, if these are kept */
};

/* The cell. Zeroed: no texts. All owned. */
struct keys {
	struct key_part *parts; /* KEYS_NPARTS, or 1, by the highest bits of the hash. 4 KiB, made for the first key: most
				 * folds only note texts */
	bool is_small;  /* all keys are in the first part: the cell is one of many (--by) */
	bool counts;    /* there is a struct key_count for each key */
	uint64_t nmost; /* with more keys than these, all are dropped; 0: no limit */
	bool is_over;   /* it had more, and holds none */
	struct key_log log;
	struct device_run *runs; /* keys that lie on devices, besides */
	uint64_t nsettled;       /* those that were counted there: keys_settle */
};

/* What a column asks of its keys. */
struct keys_wanted {
	bool counts, is_small;
	uint64_t nmost;
};

static inline struct keys_wanted keys_wanted_of(const struct plan_column *column)
{
	return (struct keys_wanted){(column->needs & MOMENT_KEY_COUNTS) != 0, column->keeps_few_keys,
				    column->nkeys_most};
}

/* Notes texts: returns room for nspans spans of text, to which the caller adds by increasing
 * log->nspans; NULL: no memory. text and offset_bytes: as in struct key_log. */
struct key_span *keys_note(struct keys *k, struct keys_wanted wanted, const char *text,
			   uint64_t offset_bytes, size_t nspans);

/* Adds a text that is not part of the folded text, or only for now: it is copied. first: its offset in
 * the input. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status keys_add(struct keys *k, struct keys_wanted wanted, const char *text, size_t nbytes,
		     uint64_t first);

/* Like keys_add, for a text that came so often. */
enum status keys_add_times(struct keys *k, struct keys_wanted wanted, const char *text, size_t nbytes, struct key_count times);

/* Joins part `part` of all[1], ..., all[nall - 1] to that of all[0], and frees theirs. Threads may join
 * different parts at once, between keys_join_begin and keys_join_end, which are for one thread.
 * Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status keys_join_begin(struct keys *const *all, size_t nall);
enum status keys_join_part(struct keys *const *all, size_t nall, size_t part);
void keys_join_end(struct keys *all0);

/* ---- reading: of a cell into which all has been combined ---- */

/* The number of distinct texts; if k->is_over, it is more than nmost, and this is 0. NULL: 0. */
uint64_t keys_count(const struct keys *k);

/* No less than that, without a look at them. */
uint64_t keys_count_at_most(const struct keys *k);

/* One of them. The bytes of a long key belong to the cell. */
struct key_found {
	struct key key;
	struct key_count times;
};

/* A search for the most or the least frequent text; of several, the one that came first. Zeroed but for the order: of none. */
struct keys_search {
	enum keys_order order;
	struct key_found best; /* count 0: none yet */
};
void keys_search_visit(void *search, const struct key_found *found);

/* Finds the most or the least frequent text; of several, the one that came first. k and other, either
 * may be NULL, are searched together. Returns false if both are empty. They hold counts. */
bool keys_find(const struct keys *k, const struct keys *other, enum keys_order order,
	       struct key_found *out);

/* Calls visit for each text, in no order that means anything. times is 0 without counts. */
typedef void (*keys_visitor)(void *context, const struct key_found *key);
void keys_each(const struct keys *k, keys_visitor visit, void *context);
