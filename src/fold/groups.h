/* SPDX-License-Identifier: MIT
 *
 * groups.h - groups by key (--by): a chunk's, a thread's, and all of a run.
 *
 * A key is the values of the key columns, with a NUL between two of them, since no value has one. Groups
 * lie in blocks and never move, each with its key. A slot of the table has a group's address and, in the
 * 16 bits that no address uses, some of the hash: few groups but the right one are looked at. Linear
 * probes, as in key_table.h; the place is given by the highest bits of the hash but GROUPS_PART_BITS.
 *
 * A chunk folds into groups of its own (struct groups), so a chunk that is folded again, or that fails,
 * has changed nothing else. Combining moves them on: few groups into the combined partial's, which stay
 * in a thread's cache; many into the run's store, which all threads share. The store is divided by the
 * keys' hashes into parts with a lock each, and a thread adds all that it has for one part at a time.
 * So no group is kept twice however many threads there are, and nothing is left to be joined at the end.
 *
 * With --runs, a group's records are neighbours. Its key ends with a NUL and the place of its first record,
 * so that it is found as any other. A chunk's first run may go on with the last one of the records before it:
 * it takes that one's key when it is combined, in the order of chunks. Where records are printed, only the
 * last run of the records before a chunk is kept.
 */
#pragma once

#include "base/status.h"
#include "base/array.h"
#include "fold/group.h"
#include "fold/group_tuples.h"
#include "fold/group_words.h"
#include "fold/key_table.h"
#include "query/plan.h"

#define GROUPS_FEW 4096 /* so many are kept by a thread, unless plan->groups_few says less */
#define GROUPS_ADDRESS_BITS 48
#define GROUPS_LISTS_MIN 256 /* so many of a chunk are too many for numbers and distinct values of its own */
#define GROUPS_LISTS_NRECORDS 4096 /* ... or, of so many records, if every other one has a new distinct value */
#define GROUPS_NKEYS_FEW 32768 /* so many distinct values are kept by a thread */

/* Zeroed but for the plan: no groups. All owned. */
struct groups {
	const struct plan *plan;
	uint64_t *slots; /* nslots, a power of 2; 0: no group. NULL: they are made when a group is looked for */
	size_t nslots, ngroups;
	bool is_bound; /* to the store's */
	struct group *first_run, *run; /* with --runs: the first, and that of the record that was looked for last; NULL: none */
	int shift; /* of a hash without its highest bits, to its slot */
	struct key_arena memory; /* the groups, in the order in which they were made */
	struct key_arena texts; /* what states hold that does not fit: long texts and numbers */
	struct window_folds windows; /* those that are not in line */
	struct key_arena values; /* numbers and distinct values of the groups: values.h, group_lists.h */
	size_t nkeys, nlarge_sets; /* how many of these values are distinct; sets of them that have memory of their own */
	struct text_buffer key_text; /* of a run */
	size_t part; /* the number of the part of the store that this is; 0: it is none */
	struct group_tuples tuples; /* a chunk's records that have not been looked for in it: group_tuples.h */
};

/* Gives the plan's columns their cells, and sets all else that a plan with keys has for groups, with an
 * empty store, which the plan owns from now on. chunk_nbytes: the length of a chunk, where tests set it, or
 * 0: a thread keeps no more groups than it has bytes. Errors: STATUS_NO_MEMORY. */
enum status groups_plan(struct plan *plan, size_t chunk_nbytes);

/* Makes groups for a plan with keys. NULL: no memory. */
struct groups *groups_new(const struct plan *plan);
void groups_free(struct groups *g);

/* Removes all groups. Keeps memory. */
void groups_clear(struct groups *g);

/* Fetches the slot of a hash into the cache. */
static inline __attribute__((always_inline)) void groups_prefetch(const struct groups *g, uint64_t hash)
{
	if (g->slots)
		__builtin_prefetch(&g->slots[hash << GROUPS_PART_BITS >> g->shift]);
}

/* The group of a slot, or of a word whose other bits are anything; NULL: none. */
static inline struct group *groups_at(uint64_t slot)
{
	return (struct group *)(uintptr_t)(slot & (((uint64_t)1 << GROUPS_ADDRESS_BITS) - 1));
}

/* Fetches the group in the first slot of a hash, which has been fetched. */
static inline __attribute__((always_inline)) void groups_prefetch_group(const struct groups *g,
									uint64_t hash)
{
	group_prefetch(groups_at(g->slots[hash << GROUPS_PART_BITS >> g->shift]), g->plan);
}

/* Adds a group without records for a key that has no group, if g has a table; its bytes are copied. Errors:
 * STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status groups_insert(struct groups *g, const struct key *key, uint64_t hash, struct group **out);

/* The bits of a hash that a slot has: of each half those that say least about the place. */
static inline uint64_t groups_tag(uint64_t hash)
{
	return (hash ^ hash >> KEY_LONG_HASH_BITS) << GROUPS_ADDRESS_BITS;
}

/* Like groups_insert, for a key that certainly has no group. It may not be found by groups_seek until
 * groups_find has been called, or groups_index; then groups_drop_index must come before that. */
enum status groups_append(struct groups *g, const struct key *key, struct group **out);

/* Like groups_append, with --runs: for neighbours whose key columns have these values, the first one at a place of the input. Sets
 * g->run; with plan->emits, group_home of the run before is the next one then. */
enum status groups_begin_run(struct groups *g, const struct key *values, uint64_t place);

/* Whether a run's key columns have these values. */
bool group_is_run_of(const struct group *g, const struct key *values);

/* Makes the table in which groups are found, unless it is there already. Errors: as above. */
enum status groups_index(struct groups *g);

/* Frees that table: it is made again when a group is looked for. */
void groups_drop_index(struct groups *g);

/* Returns the key's group, or NULL if there is no table yet or it lacks the key. Any thread, while none adds groups. */
static inline struct group *groups_seek(const struct groups *g, const struct key *key, uint64_t hash)
{
	const uint64_t address = ((uint64_t)1 << GROUPS_ADDRESS_BITS) - 1;

	if (!g->slots)
		return NULL;
	for (size_t i = (size_t)(hash << GROUPS_PART_BITS >> g->shift); g->slots[i]; i = (i + 1) & (g->nslots - 1)) {
		struct group *group = groups_at(g->slots[i]);
		if ((g->slots[i] & ~address) == groups_tag(hash) && key_equals(&group->key, key))
			return group;
	}
	return NULL;
}

/* Finds the key's group, or adds one. Errors: as above. */
static inline __attribute__((always_inline)) enum status groups_find(struct groups *g, const struct key *key, uint64_t hash,
								     struct group **out)
{
	TRY(g->slots ? STATUS_OK : groups_index(g));
	*out = groups_seek(g, key, hash);
	return *out ? STATUS_OK : groups_insert(g, key, hash, out);
}

/* Finds the groups of n keys, or adds them. Slots, and then groups, are on their way into the cache
 * before they are needed. Errors: as above. */
enum status groups_find_flight(struct groups *g, const struct key *const *keys, const uint64_t *hashes,
			       size_t n, struct group **out);

/* Sets *at to the group of a slot, or to one that no key equals. Returns 1 if its key has other words,
 * else 0. No branch depends on the key. */
static inline uint64_t groups_look_first(uint64_t slot, const struct key *key, struct group **at)
{
	static struct group none; /* zeroed */
	struct group *found = groups_at(slot);
	struct group *group = found ? found : &none;
	const uint64_t differing = (group->key.low ^ key->low) | (group->key.high ^ key->high);

	*at = group;
	return differing != 0;
}

/* Sets at[i], for each i of `rows`, to the group in the first slot where keys[i] is looked for. Returns those of `rows` for
 * which that is another group than the key's, or none: ask groups_find. No branch depends on a short key. */
static inline uint64_t groups_find_first(const struct groups *g, const struct key *keys,
					 const uint64_t *hashes, uint64_t rows, struct group **at)
{
	const uint64_t *slots = g->slots;
	const int shift = g->shift;
	unsigned n = rows & (rows + 1) ? 0 : (unsigned)__builtin_popcountll(rows); /* usually all of the first n */
	uint64_t left = 0;

	if (!slots)
		return rows;
	for (rows = n ? 0 : rows; rows; rows &= rows - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(rows);
		left |= groups_look_first(slots[hashes[i] << GROUPS_PART_BITS >> shift], &keys[i], &at[i]) << i;
	}
	while (n-- > 0)
		left = left << 1 | groups_look_first(slots[hashes[n] << GROUPS_PART_BITS >> shift], &keys[n], &at[n]);
	for (rows = left; rows; rows &= rows - 1) {
		unsigned i = (unsigned)__builtin_ctzll(rows);
		left &= ~((uint64_t)key_equals(&at[i]->key, &keys[i]) << i); /* long ones lie elsewhere */
	}
	return left;
}

/* Calls visit for each group, in the order in which they were made, up to one that fails. */
typedef enum status (*groups_visitor)(void *context, struct group *group);
enum status groups_each(const struct groups *g, groups_visitor visit, void *context);

/* g becomes the groups of g's records and later's, which may then only be cleared or freed: in g itself
 * if they are few, else in the plan's store. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status groups_combine(struct groups *g, struct groups *later);

/* Adds all of g to the plan's store, and clears g. Errors: as above. */
enum status groups_store(struct groups *g);

/* Binds each of g's groups to the store's with its key, which is made if the store lacks it, so that
 * groups_exchange need not look for it. In any order of chunks, and in several threads at once: a group of the store
 * that has no records does not count. Nothing can be added to g then. Errors: as above. */
enum status groups_bind(struct groups *g);

/* Calls visit for each of g's groups, which it binds, and the one that has its records before g's:
 * what groups_exchange adds them to, if it comes next. Of runs, only the first one may have one.
 * Errors: visit's, and as above. */
typedef enum status (*groups_pair_visitor)(void *context, struct group *before,
					   struct group *group);
enum status groups_each_before(struct groups *g, groups_pair_visitor visit, void *context);

/* Adds all of g, which is bound, to the plan's store, and makes each of g's groups what the store's was
 * before: that of all records before g's, if chunks come in order. For one thread at a time. Errors: as
 * above. */
enum status groups_exchange(struct groups *g);

/* ---- the store of a run ---- */

#define STORE_NPARTS ((size_t)1 << GROUPS_PART_BITS)

struct group_store;

/* Makes a store without groups. NULL: no memory. */
struct group_store *group_store_new(const struct plan *plan);
void group_store_free(struct group_store *s);

/* The number of groups in it, and of the tuples that wait there: none once it has been visited. Right only while no thread adds any. */
uint64_t group_store_count(const struct group_store *s);

/* Whether groups or tuples have been added, which are too many for a thread then. Any thread. */
bool group_store_is_used(const struct group_store *s);

/* Gives the store a source, which it owns from now on: of all groups of the run. Those that lie in the store itself are
 * among them, and are ignored from now on. The source: NULL if no device keeps groups. */
struct group_source;
void group_store_set_source(struct group_store *s, struct group_source *source);
const struct group_source *group_store_source(const struct group_store *s);

/* What owns the states of bound groups that do not fit: the exchanging thread's. */
struct groups *group_store_bound(struct group_store *s);

/* The groups whose keys' hashes have the highest bits `part`. */
struct groups *group_store_part(struct group_store *s, size_t part);

#define GROUPS_NTHREAD 10000 /* with fewer, a thread takes longer to start than it saves */

/* Calls visit for each part, in up to nthreads threads at once, up to one that fails: no thread may add groups meanwhile. The
 * part's tuples have been folded then. visit: NULL for nothing more. */
typedef enum status (*group_part_visitor)(void *context, struct groups *part);
enum status group_store_visit(struct group_store *s, size_t nthreads, group_part_visitor visit, void *context);

/* Like group_store_part, but the caller alone may use them until group_store_unlock. */
struct groups *group_store_lock(struct group_store *s, size_t part);
void group_store_unlock(struct group_store *s, size_t part);

/* ---- a device that has all groups ---- */

/* Where groups are only to be printed, or the first of them in some order, they may lie on a device, in the order of their first
 * records, as words (group_words.h), and are read once, block by block, by several threads. So no group is made in the host's
 * memory but the one that a thread looks at: with 64 million of them, the first touch of that memory took longer than to read
 * 12 GB and to group them (docs/speed.md). A device may fail while groups are printed. The run is then done again without it,
 * and prints what is left (output_repeat). */

#define GROUP_SOURCE_NGROUPS ((size_t)16384) /* in a block; in the last, what is left */

struct group_source;
struct group_reader; /* of one thread */

struct group_source_ops {
	/* Makes a reader, to be closed by the same thread. Errors: STATUS_GPU; *out is then NULL. */
	enum status (*open)(const struct group_source *s, struct group_reader **out, struct fault *fault);

	/* Reads a block's groups, one after the other: *words belongs to the reader, and may be written to, until its next
	 * call. Errors: STATUS_GPU. */
	enum status (*read)(struct group_reader *r, size_t block, uint64_t **words, struct fault *fault);

	void (*close)(struct group_reader *r);
	void (*free)(struct group_source *s);
};

/* Whoever makes one embeds it. */
struct group_source {
	const struct group_source_ops *ops;
	const struct group_layout *layout; /* of the words; owned by the source, as scales is */
	const uint32_t *scales;            /* of the layout's columns */
	uint64_t ngroups;                  /* that may be read */
};

/* What a thread reads a source with. The reader is owned. */
struct group_reading {
	const struct group_source *source;
	const struct plan *plan;
	struct group_reader *reader;
	struct key_arena texts; /* of the groups of a block, as in struct groups */
	struct fault fault;  /* of STATUS_GPU */
};

/* Begins to read the source of the plan's store. Errors: STATUS_GPU; r must then be ended, too. */
enum status group_reading_begin(struct group_reading *r, const struct plan *plan);

/* Calls visit for the first n groups of a block, up to one that fails. A group is gone after its visit. Errors: visit's;
 * STATUS_NO_MEMORY, STATUS_MANY_KEYS, STATUS_GPU. */
enum status group_reading_visit(struct group_reading *r, size_t block, size_t n, groups_visitor visit, void *context);

void group_reading_end(struct group_reading *r);
