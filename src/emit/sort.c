/* SPDX-License-Identifier: MIT
 *
 * sort.c - see sort.h. In this order: keys, records of a thread, order, temporary files, all records.
 *
 * A thread keeps the text of its records, and of each an entry of three words. At the end, entries are dealt into buckets of some
 * thousand, whose bounds are those of a sample; then threads take buckets: the entries of one, which lie in the second-level
 * cache, are sorted by the highest bits in which their keys differ, and their texts are gathered. To fetch the texts from all over
 * memory takes longer than to sort.
 *
 * Where memory ends, a thread sorts what it has and moves it to a file without a name; at the end all such runs are merged. The
 * records of a choice have to be in memory: they are not printed in the order of their keys.
 */
#include "emit/sort.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/deal.h"
#include "base/fd.h"
#include "base/heap.h"
#include "base/machine.h"
#include "base/thread.h"
#include "fold/key.h"
#include "fold/order_key.h"
#include "fold/program_block.h"
#include "io/output.h"
#include "io/spool.h"
#include "number/exact.h"
#include "query/value.h"

#define BLOCK_NENTRIES_MIN 16
#define BLOCK_NENTRIES_MAX 2048
#define PIECE_NBYTES ((size_t)1 << 20) /* written at once */

struct sorter {
	const struct plan *plan;
	int nthreads;
	_Atomic uint64_t bound; /* no key whose first word is larger is among the first N */
	atomic_bool spills;     /* memory has ended */
	pthread_mutex_t lock;   /* guards the list of parts */
	struct sort_part *parts; /* owned */
	bool has_chosen; /* with groups: only the first records of each are left, in memory */
	int fd;          /* ... or in a file, in pieces as they are printed; -1: they are not */
	uint64_t file_nbytes;
};

/* How many records are printed at most. UINT64_MAX: all. */
static uint64_t most_printed(const struct plan *plan)
{
	return plan->top ? plan->top : UINT64_MAX;
}

/* How many of any records may be printed at most, before their groups are known. */
static uint64_t most_records(const struct plan *plan)
{
	return plan->group_top ? UINT64_MAX : most_printed(plan);
}

/* ---- keys ---- */

/* Adds the key of a number that may be a quotient. *is_number: it is within the range. */
static enum status add_long(struct text_buffer *bytes, const struct value *v, bool *is_number)
{
	struct integer parsed, settled, n;
	struct exact x;
	char text[INTEGER_NDIGITS + 32]; /* a sign, and an exponent */
	int nbytes;

	*is_number = exact_parse(v->text, v->nbytes, &parsed, &x) == STATUS_OK;
	if (!*is_number)
		return STATUS_OK;
	x = exact_settle(&x, &settled);
	exact_to_integer(&x, x.scale, &n);
	*text = n.negative ? '-' : '+';
	nbytes = 1 + integer_digits(&n, text + 1);
	nbytes += nbytes > 1 ? sprintf(text + nbytes, "e%d", -x.scale) : sprintf(text + nbytes, "0");
	return order_key_add_number(bytes, text, (size_t)nbytes, is_number);
}

/* Whether a value that begins with the byte is no number, in any notation that the plan has. */
static bool begins_text(const struct plan *plan, char byte)
{
	return notation_is_plain(&plan->notation) && (((unsigned)(unsigned char)(byte | 0x20) - (unsigned)'a' < 26u) || (byte & 0x80));
}

/* Adds the key of column c's value in a row, which is no plain number. */
static enum status add_other(struct sort_part *p, struct row_block *b, size_t c, unsigned row)
{
	struct text_buffer *bytes = &p->bytes;
	bool is_number = false;
	struct value v;
	const char *text;
	size_t nbytes;

	if (row_block_value(b, c, row, &text, &nbytes) == ROW_PRESENT && begins_text(b->plan, *text))
		return order_key_add_text(bytes, text, nbytes);
	TRY(row_block_read(b, c, row, true, &p->scratch, &v));
	if (v.kind == DECIMAL_MISSING || (b->plan->columns[c].let && program_block_why(b, c, row) != STATUS_OK))
		return order_key_add_missing(bytes); /* a wrong value has been complained about */
	if (v.kind == DECIMAL_NUMBER)
		return order_key_add_decimal(bytes, v.number.significand, v.number.scale);
	if (v.kind == DECIMAL_WIDE)
		TRY(add_long(bytes, &v, &is_number));
	if (is_number)
		return STATUS_OK;
	TRY(row_block_read(b, c, row, false, &p->scratch, &v));
	return order_key_add_text(bytes, v.text, v.nbytes);
}

/* Adds the key of column c's value in a row. */
static inline enum status add_value(struct sort_part *p, struct row_block *b, const struct simd_numbers *numbers, size_t c, unsigned row)
{
	if (!(numbers->numbers >> row & 1))
		return add_other(p, b, c, row);
	return order_key_add_decimal(&p->bytes, numbers->significand[row], numbers->scale[row]);
}

/* Makes a row's key. */
static enum status make_key(struct sort_part *p, struct row_block *b, unsigned row)
{
	const struct plan *plan = b->plan;
	struct sort_row *r = &p->rows[row];

	r->lacks_end = false;
	r->begin = p->bytes.nbytes;
	for (size_t i = 0; i < plan->nsort_keys; i++) {
		const struct plan_sort_key *key = &plan->sort_keys[i];
		size_t begin = p->bytes.nbytes;
		TRY(add_value(p, b, row_block_numbers(b, key->column), key->column, row));
		if (key->is_descending)
			order_key_descend(&p->bytes, begin);
	}
	r->end = p->bytes.nbytes;
	return order_key_words(&p->bytes, r->begin, r->key);
}

static uint64_t splitmix(uint64_t seed, uint64_t number)
{
	uint64_t x = seed + (number + 1) * UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* The key of a plan with a choice. */
static inline uint64_t choice_key(const struct plan *plan, uint64_t number)
{
	return plan->choice == CHOICE_LAST ? ~number : splitmix(plan->seed, number);
}

/* Adds a row's values of the columns that tell groups apart, each with its length. */
static inline enum status add_group(struct sort_part *p, struct row_block *b, unsigned row)
{
	const struct plan *plan = b->plan;

	for (size_t i = 0; i < plan->nsort_groups; i++) {
		struct value v;
		uint32_t nbytes;
		TRY(row_block_read(b, plan->sort_groups[i], row, false, &p->scratch, &v));
		nbytes = (uint32_t)v.nbytes;
		TRY(text_reserve(&p->bytes, sizeof nbytes + v.nbytes));
		memcpy(mempcpy(p->bytes.data + p->bytes.nbytes, &nbytes, sizeof nbytes), v.text, v.nbytes);
		p->bytes.nbytes += sizeof nbytes + v.nbytes;
	}
	p->rows[row].group_end = p->bytes.nbytes;
	return STATUS_OK;
}

/* ---- groups ---- */

#define GROUP_NBYTES 128 /* of a table, for each of its groups, when it grows */
#define GROUP_NKEYS 4    /* at first */

/* A group: the keys of its first records so far, a heap whose top is the last of them. */
struct sort_group {
	uint64_t (*keys)[ORDER_KEY_NWORDS]; /* capacity */
	uint64_t n, capacity;
};

static bool group_key_is_above(const void *keys, size_t i, size_t j)
{
	const uint64_t (*at)[ORDER_KEY_NWORDS] = keys;

	return order_key_is_above(at[i], at[j]);
}

static void swap_group_keys(void *keys, size_t i, size_t j)
{
	uint64_t (*at)[ORDER_KEY_NWORDS] = keys;

	for (int k = 0; k < ORDER_KEY_NWORDS; k++) {
		uint64_t word = at[i][k];
		at[i][k] = at[j][k];
		at[j][k] = word;
	}
}

static void groups_free(struct sort_groups *g)
{
	key_table_free(&g->table);
	key_arena_free(&g->memory);
}

/* Whether a record of a group may be among its first n; notes its key. is_long: others may have the same words, but another key. */
static enum status group_takes(struct sort_groups *g, struct sort_group *group, const uint64_t key[ORDER_KEY_NWORDS], bool is_long, uint64_t n,
			       bool *takes)
{
	*takes = true;
	if (group->n < n) {
		if (group->n == group->capacity) {
			void *grown;
			group->capacity = group->capacity ? 2 * group->capacity : GROUP_NKEYS;
			group->capacity = group->capacity < n ? group->capacity : n;
			TRY(key_arena_take(&g->memory, group->capacity * sizeof *group->keys, &grown));
			group->keys = memcpy(grown, group->keys ? (void *)group->keys : grown, group->n * sizeof *group->keys);
		}
		memcpy(group->keys[group->n], key, sizeof *group->keys);
		heap_rise(group->keys, group->n++, group_key_is_above, swap_group_keys);
		return STATUS_OK;
	}
	*takes = order_key_is_above(group->keys[0], key) || (is_long && !order_key_is_above(key, group->keys[0]));
	if (*takes) {
		memcpy(group->keys[0], key, sizeof *group->keys);
		heap_sink(group->keys, n, 0, group_key_is_above, swap_group_keys);
	}
	return STATUS_OK;
}

/* Whether a row's record may be among the first of its group; where memory has ended, all may be of groups that are not known. */
static bool may_be_first(struct sort_part *p, const struct sort_row *r)
{
	struct sort_groups *g = &p->groups;
	size_t slot = key_table_find(&g->table, &r->group, r->hash);
	bool takes = true;

	if (slot == SIZE_MAX && !g->is_full)
		g->is_full = g->table.nkeys == g->most ||
			     key_table_insert(&g->table, &r->group, r->hash, key_seed_get(), false, &slot) != STATUS_OK;
	if (slot != SIZE_MAX && group_takes(g, key_table_value(&g->table, slot), r->key, r->end - r->begin > sizeof r->key,
					    p->sorter->plan->group_top, &takes) != STATUS_OK)
		g->is_full = true;
	return takes;
}

/* ---- records of a thread ---- */

/* What an entry's address leads to: the length of the record; with SORT_IS_LONG that of the rest of the key, and the rest; the record. */
#define SORT_IS_LONG ((uint64_t)1 << 63)
#define SORT_LACKS_END ((uint64_t)1 << 62) /* the record ends its file without the LF that it has here */
#define LENGTH_NBYTES sizeof (uint32_t)
#define ENTRY_NBYTES_MAX (sizeof (struct sort_block) + sizeof (struct sort_entry) + 2 * LENGTH_NBYTES + 8)

static inline const char *entry_text(const struct sort_entry *e)
{
	return (const char *)(uintptr_t)(e->at & ~(SORT_IS_LONG | SORT_LACKS_END));
}

static inline uint32_t get_length(const char *at)
{
	uint32_t n;

	memcpy(&n, at, sizeof n);
	return n;
}

/* The rest of an entry's key. */
struct sort_rest {
	const char *bytes;
	size_t nbytes;
};

static inline struct sort_rest entry_rest(const struct sort_entry *e)
{
	const char *at = entry_text(e) + LENGTH_NBYTES;

	if (!(e->at & SORT_IS_LONG))
		return (struct sort_rest){at, 0};
	return (struct sort_rest){at + LENGTH_NBYTES, get_length(at)};
}

/* An entry's record, and its length: with groups after its values, as add_values has put them there. */
static inline const char *entry_record(const struct sort_entry *e, size_t *nbytes)
{
	const struct sort_rest rest = entry_rest(e);

	*nbytes = get_length(entry_text(e));
	return rest.bytes + rest.nbytes;
}

struct sorter *sorter_new(const struct plan *plan, int nthreads)
{
	struct sorter *s = calloc(1, sizeof *s);

	if (!s)
		return NULL;
	s->plan = plan;
	s->nthreads = nthreads;
	s->bound = UINT64_MAX;
	s->fd = -1;
	pthread_mutex_init(&s->lock, NULL);
	return s;
}

/* Skips the values of a record's group, which are before it. Returns how many bytes they have. */
static inline uint32_t skip_values(const char **record, size_t *nbytes)
{
	const uint32_t n = get_length(*record);

	*record += LENGTH_NBYTES + n;
	*nbytes -= LENGTH_NBYTES + n;
	return n;
}

/* Makes the key of a record's group, and skips its values. Returns the hash. */
static inline uint64_t cut_group(const char **record, size_t *nbytes, struct key *key)
{
	const char *values = *record + LENGTH_NBYTES;
	const bool is_padded = *nbytes >= LENGTH_NBYTES + 16;
	const uint32_t n = skip_values(record, nbytes);

	return key_make(values, n, is_padded, key_seed_get(), key);
}

/* The next record in order of a group, whose records the table counts: whether it is one of its first. copies: the bytes of the key. */
static inline enum status count_first(struct key_table *t, const struct key *key, uint64_t hash, uint64_t most, bool copies, bool *is_first)
{
	size_t slot = key_table_find(t, key, hash);
	uint64_t *n;

	if (slot == SIZE_MAX)
		TRY(key_table_insert(t, key, hash, key_seed_get(), !copies, &slot));
	n = key_table_value(t, slot);
	*is_first = *n < most;
	*n += *is_first;
	return STATUS_OK;
}

/* Forgets the part's records. */
static void drop_records(struct sort_part *p)
{
	key_arena_free(&p->memory);
	p->first = p->last = NULL;
	p->is_begun = false;
	p->n = p->nbytes = 0;
}

void sorter_free(struct sorter *s)
{
	if (!s)
		return;
	for (struct sort_part *p = s->parts, *next; p; p = next) {
		next = p->next;
		drop_records(p);
		groups_free(&p->groups);
		text_free(&p->record);
		text_free(&p->bytes);
		free(p->scratch.data);
		free(p->runs);
		if (p->fd >= 0)
			close(p->fd);
		free(p);
	}
	if (s->fd >= 0)
		close(s->fd);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

/* So many of the first N records of each thread are N. */
static uint64_t top_share(const struct sorter *s)
{
	return s->plan->top / (uint64_t)s->nthreads + 1;
}

/* When a part that keeps n records drops others. */
static uint64_t ncut(const struct sorter *s, uint64_t n)
{
	const uint64_t least = top_share(s) > n ? top_share(s) : n;

	return 2 * least < BLOCK_NENTRIES_MAX ? BLOCK_NENTRIES_MAX : 2 * least;
}

struct sort_part *sorter_part(struct sorter *s)
{
	struct sort_part *p = calloc(1, sizeof *p);

	if (!p)
		return NULL;
	*p = (struct sort_part){.sorter = s, .fd = -1, .bound = {UINT64_MAX, UINT64_MAX}, .ncut = ncut(s, 0), .share = UINT64_MAX};
	p->groups.table.value_nbytes = sizeof(struct sort_group);
	p->groups.most = memory_limit_nbytes() / 8 / ((uint64_t)s->nthreads + 1) / GROUP_NBYTES;
	pthread_mutex_lock(&s->lock);
	p->next = s->parts;
	s->parts = p;
	pthread_mutex_unlock(&s->lock);
	return p;
}

/* The records that are added now come after `before` of the run. */
static void begin_records(struct sort_part *p, uint64_t before)
{
	p->number = before;
	p->is_begun = false;
}

static void lower_bound(struct sorter *s, uint64_t bound)
{
	uint64_t had = s->bound;

	while (bound < had && !atomic_compare_exchange_weak(&s->bound, &had, bound))
		;
}

bool sort_part_begin(struct sort_part *p, uint64_t before, uint64_t nrecords, bool lacks_end)
{
	struct sorter *s = p->sorter;
	const struct plan *plan = s->plan;
	const uint64_t end = before + nrecords;

	begin_records(p, before);
	p->end = lacks_end ? end : 0;
	if (plan->choice == CHOICE_LAST && end > plan->top && plan->top > 0)
		lower_bound(s, ~(end - plan->top));
	if (!plan->choice || s->bound == UINT64_MAX)
		return true;
	for (uint64_t number = end; number-- > before;) /* the last one has the least key of CHOICE_LAST */
		if (choice_key(plan, number) <= s->bound)
			return true;
	return false;
}

/* The same by the records' numbers. */
static enum status choose_numbers(struct sort_part *p, struct row_block *b, uint64_t number, uint64_t *rows)
{
	const struct plan *plan = b->plan;
	const uint64_t bound = p->sorter->bound;
	uint64_t chosen = 0;

	for (uint64_t left = *rows; left; left &= left - 1, number++) {
		const uint64_t key = choice_key(plan, number);
		struct sort_row *r = &p->rows[__builtin_ctzll(left)];
		if (key > bound)
			continue;
		chosen |= left & -left;
		memcpy(r->key, (const uint64_t[ORDER_KEY_NWORDS]){key}, sizeof r->key);
		r->begin = r->end = p->bytes.nbytes;
		r->lacks_end = number + 1 == p->end;
		if (plan->group_top)
			TRY(add_group(p, b, (unsigned)__builtin_ctzll(left)));
	}
	*rows = chosen;
	return STATUS_OK;
}

enum status sort_part_choose(struct sort_part *p, struct row_block *b, uint64_t number, uint64_t *rows)
{
	const uint64_t bound = p->sorter->bound;
	uint64_t chosen = 0;

	p->bytes.nbytes = 0;
	if (b->plan->choice)
		return choose_numbers(p, b, number, rows);
	for (uint64_t left = *rows; left; left &= left - 1) {
		unsigned row = (unsigned)__builtin_ctzll(left);
		TRY(make_key(p, b, row));
		if (b->plan->group_top)
			TRY(add_group(p, b, row));
		if (p->rows[row].key[0] <= bound && !order_key_is_above(p->rows[row].key, p->bound))
			chosen |= left & -left;
	}
	*rows = chosen;
	return STATUS_OK;
}

uint64_t sort_part_pick(struct sort_part *p, uint64_t rows)
{
	const struct key_seed seed = key_seed_get();
	uint64_t picked = 0;

	if (!p->sorter->plan->group_top || (p->groups.is_full && p->groups.table.nkeys == 0))
		return rows;
	for (uint64_t left = rows; left; left &= left - 1) {
		struct sort_row *r = &p->rows[__builtin_ctzll(left)];
		r->hash = key_make(p->bytes.data + r->end, r->group_end - r->end, false, seed, &r->group);
		key_table_prefetch(&p->groups.table, r->hash);
	}
	for (uint64_t left = rows; left; left &= left - 1)
		if (may_be_first(p, &p->rows[__builtin_ctzll(left)]))
			picked |= left & -left;
	return picked;
}

/* Takes memory of the part's. */
static enum status take(struct sort_part *p, size_t nbytes, void *out)
{
	TRY(key_arena_take(&p->memory, nbytes, out));
	p->nbytes += nbytes;
	return STATUS_OK;
}

/* Makes room for one more entry. */
static enum status need_entry(struct sort_part *p)
{
	struct sort_block *block, *last = p->is_begun ? p->last : NULL;
	uint32_t n = last ? 2 * last->capacity : BLOCK_NENTRIES_MIN;

	if (last && last->n < last->capacity)
		return STATUS_OK;
	n = n < BLOCK_NENTRIES_MAX ? n : BLOCK_NENTRIES_MAX;
	TRY(take(p, (sizeof *block + n * sizeof *block->entries + 7) & ~(size_t)7, &block));
	*block = (struct sort_block){.first = p->number, .capacity = n};
	*(p->last ? &p->last->next : &p->first) = block;
	p->last = block;
	p->is_begun = true;
	return STATUS_OK;
}

static enum status keep_first(struct sort_part *p);
static enum status spill(struct sort_part *p);
static bool must_spill(struct sort_part *p, size_t nbytes);

/* Adds a record, and the rest of its key. flags: SORT_LACKS_END or 0. */
static enum status add_record(struct sort_part *p, const uint64_t key[ORDER_KEY_NWORDS], struct sort_rest rest, uint64_t flags, const char *text,
			      size_t nbytes)
{
	const uint32_t lengths[] = {(uint32_t)nbytes, (uint32_t)rest.nbytes};
	const size_t nlengths = rest.nbytes ? sizeof lengths : LENGTH_NBYTES;
	char *to;

	TRY(need_entry(p));
	TRY(take(p, (nlengths + rest.nbytes + nbytes + 7) & ~(size_t)7, &to)); /* blocks of entries lie among the texts */
	p->last->entries[p->last->n++] = (struct sort_entry){{key[0], key[1]}, (uintptr_t)to | flags | (rest.nbytes ? SORT_IS_LONG : 0)};
	memcpy(to, lengths, nlengths);
	to = mempcpy(to + nlengths, rest.bytes, rest.nbytes);
	memcpy(to, text, nbytes);
	p->is_long |= rest.nbytes > 0;
	p->n++;
	return STATUS_OK;
}

/* Adds a row's values to the record, after their length. */
static enum status add_values(struct sort_part *p, const struct sort_row *r)
{
	const uint32_t nbytes = (uint32_t)(r->group_end - r->end);

	TRY(text_reserve(&p->record, sizeof nbytes + nbytes));
	memcpy(mempcpy(p->record.data, &nbytes, sizeof nbytes), p->bytes.data + r->end, nbytes);
	p->record.nbytes = sizeof nbytes + nbytes;
	return STATUS_OK;
}

enum status sort_part_add(struct sort_part *p, unsigned row, const char *text, size_t nbytes)
{
	const struct sort_row *r = &p->rows[row];
	const struct plan *plan = p->sorter->plan;
	const bool cuts = plan->top > 0;
	const uint64_t flags = r->lacks_end ? SORT_LACKS_END : 0;
	size_t key_nbytes = r->end - r->begin;
	enum status status;
	struct sort_rest rest = {p->bytes.data + r->begin + sizeof r->key, key_nbytes > sizeof r->key ? key_nbytes - sizeof r->key : 0};

	if (plan->group_top) {
		p->record.nbytes = 0;
		TRY(add_values(p, r));
		TRY(text_reserve(&p->record, nbytes));
		memcpy(p->record.data + p->record.nbytes, text, nbytes);
		nbytes += p->record.nbytes;
		text = p->record.data;
	}
	if (nbytes > UINT32_MAX || rest.nbytes > UINT32_MAX)
		return STATUS_LONG_RECORD;
	if (must_spill(p, nbytes + rest.nbytes)) {
		if (cuts)
			TRY(keep_first(p));
		if (!cuts || must_spill(p, nbytes + rest.nbytes))
			TRY(spill(p));
	}
	status = add_record(p, r->key, rest, flags, text, nbytes);
	if (status == STATUS_MANY_KEYS && p->n > 0) { /* others have taken it */
		TRY(spill(p));
		status = add_record(p, r->key, rest, flags, text, nbytes);
	}
	if (status != STATUS_OK)
		return status == STATUS_MANY_KEYS ? STATUS_NO_MEMORY : status;
	p->number++;
	return cuts && p->n >= p->ncut ? keep_first(p) : STATUS_OK;
}

/* ---- order ---- */

/* Some entries, and memory to sort them with. */
struct ordering {
	const struct sort_entry *entries;
	uint64_t *indices, *spare, *keys; /* capacity; owned */
	size_t capacity;
	unsigned index_bits;
	bool is_long; /* some key is longer than an entry */
};

static enum status order_need(struct ordering *o, size_t n)
{
	if (n <= o->capacity)
		return STATUS_OK;
	free(o->indices);
	o->capacity = 0;
	o->indices = malloc(3 * n * sizeof *o->indices);
	NEED(o->indices);
	o->capacity = n;
	o->spare = o->indices + n;
	o->keys = o->spare + n;
	return STATUS_OK;
}

/* The level-th word of an entry's key. *more: whether there is another one. */
static inline uint64_t entry_word(const struct sort_entry *e, size_t level, bool *more)
{
	struct sort_rest rest;
	char last[sizeof (uint64_t)] = {0};
	size_t begin = (level - ORDER_KEY_NWORDS) * sizeof last;

	if (level < ORDER_KEY_NWORDS) {
		*more |= level + 1 < ORDER_KEY_NWORDS || (e->at & SORT_IS_LONG);
		return e->key[level];
	}
	rest = entry_rest(e);
	if (begin >= rest.nbytes)
		return 0;
	if (rest.nbytes - begin > sizeof last)
		*more = true;
	memcpy(last, rest.bytes + begin, rest.nbytes - begin < sizeof last ? rest.nbytes - begin : sizeof last);
	return order_key_get_word(last);
}

/* Sorts the indices x[0 .. n) of entries that are equal up to their keys' word `level`. */
static void order_indices(struct ordering *o, uint64_t *x, size_t n, size_t level)
{
	const uint64_t indices = ((uint64_t)1 << o->index_bits) - 1;
	uint64_t least = UINT64_MAX, largest = 0;
	unsigned nbits, ndropped;
	bool more = true;

	for (; more; level++) {
		more = false;
		for (size_t i = 0; i < n; i++) {
			uint64_t key = entry_word(&o->entries[x[i]], level, &more);
			o->keys[x[i]] = key;
			least = i == 0 || key < least ? key : least;
			largest = i == 0 || key > largest ? key : largest;
		}
		if (least < largest)
			break;
	}
	if (least == largest)
		return;
	nbits = 64 - (unsigned)__builtin_clzll(largest - least);
	ndropped = nbits + o->index_bits > 64 ? nbits + o->index_bits - 64 : 0;
	for (size_t i = 0; i < n; i++)
		x[i] = (o->keys[x[i]] - least) >> ndropped << o->index_bits | x[i];
	sort_words(x, o->spare, n, o->index_bits, o->index_bits + nbits - ndropped);
	for (size_t i = 0, j; i < n; i = j) {
		const uint64_t word = x[i] >> o->index_bits;
		for (j = i; j < n && x[j] >> o->index_bits == word; j++)
			x[j] &= indices;
		if (j - i > 1 && (ndropped || more))
			order_indices(o, x + i, j - i, ndropped ? level : level + 1);
	}
}

/* Sorts n entries, whose order is that of the input: o->indices has their numbers then. */
static enum status order_entries(struct ordering *o, const struct sort_entry *entries, size_t n)
{
	TRY(order_need(o, n));
	o->entries = entries;
	o->index_bits = n > 1 ? 64 - (unsigned)__builtin_clzll(n - 1) : 1;
	for (size_t i = 0; i < n; i++)
		o->indices[i] = i;
	order_indices(o, o->indices, n, 0);
	return STATUS_OK;
}

/* Sorts a part's entries, which are copied to one array, owned by the caller. */
static enum status order_part(struct ordering *o, const struct sort_part *p, struct sort_entry **entries)
{
	size_t n = 0;

	*entries = malloc((p->n + 1) * sizeof **entries);
	NEED(*entries);
	for (const struct sort_block *b = p->first; b; b = b->next) {
		memcpy(*entries + n, b->entries, b->n * sizeof **entries);
		n += b->n;
	}
	return order_entries(o, *entries, n);
}

/* ---- the first N ---- */

/* Moves the entries that are wanted, in their order, to the part, which has none. from: the part as it was. */
static enum status move_entries(struct sort_part *p, const struct sort_part *from, const uint64_t *wanted)
{
	for (const struct sort_block *b = from->first; b; b = b->next) {
		begin_records(p, b->first);
		for (uint32_t i = 0; i < b->n; i++) {
			const struct sort_entry *e = &b->entries[i];
			size_t nbytes;
			const char *record = entry_record(e, &nbytes);
			if (*wanted++)
				TRY(add_record(p, e->key, entry_rest(e), e->at & SORT_LACKS_END, record, nbytes));
		}
	}
	return STATUS_OK;
}

/* Lowers the bound to where there are N records before it: of one part, or a share of them of each thread. */
static void find_bound(struct sort_part *p, const struct ordering *o)
{
	struct sorter *s = p->sorter;
	const uint64_t most = s->plan->top, share = top_share(s);
	uint64_t largest = 0;
	int nshares = 0;

	if (p->n >= most) {
		memcpy(p->bound, o->entries[o->indices[most - 1]].key, sizeof p->bound);
		lower_bound(s, p->bound[0]);
	}
	if (p->n >= share)
		p->share = o->entries[o->indices[share - 1]].key[0];
	pthread_mutex_lock(&s->lock);
	for (const struct sort_part *other = s->parts; other; other = other->next) {
		nshares += other->share < UINT64_MAX;
		largest = other->share < UINT64_MAX && other->share > largest ? other->share : largest;
	}
	pthread_mutex_unlock(&s->lock);
	if (nshares >= s->nthreads)
		lower_bound(s, largest);
}

/* Drops records of the part that are not among the first N in order, where memory can hold the others twice. */
static enum status keep_first(struct sort_part *p)
{
	struct sort_part from = *p;
	struct ordering o = {0};
	struct sort_entry *entries = NULL;
	enum status status = order_part(&o, p, &entries);
	size_t n = p->n;

	if (status == STATUS_OK) {
		find_bound(p, &o);
		n = p->sorter->plan->top < n ? p->sorter->plan->top : n;
		while (n > 0 && entries[o.indices[n - 1]].key[0] > p->sorter->bound)
			n--;
		p->ncut = ncut(p->sorter, n);
		memset(o.keys, 0, p->n * sizeof *o.keys);
		for (size_t i = 0; i < n; i++)
			o.keys[o.indices[i]] = 1;
		p->memory = (struct key_arena){NULL, NULL}; /* it is from's now */
		drop_records(p);
		status = move_entries(p, &from, o.keys);
		if (status == STATUS_MANY_KEYS) {
			drop_records(p);
			p->memory = from.memory;
			p->first = from.first;
			p->last = from.last;
			p->n = from.n;
			p->nbytes = from.nbytes;
			p->ncut = ncut(p->sorter, p->n);
			status = STATUS_OK;
		} else {
			drop_records(&from);
		}
		begin_records(p, from.number);
	}
	free(entries);
	free(o.indices);
	return status;
}

/* ---- temporary files ---- */

/* Sorted records of a file: [begin, end). */
struct sort_run {
	uint64_t begin, end;
};

/* What a file has before the rest of a record's key, and the record. */
struct sort_head {
	uint64_t key[ORDER_KEY_NWORDS];
	uint64_t number; /* orders records with equal keys */
	uint32_t rest_nbytes, nbytes;
};

/* Whether the part has to leave memory before it takes nbytes more: all together have half of --memory, the other half is for sorting.
 * Once that has been used up, each has its share. */
static bool must_spill(struct sort_part *p, size_t nbytes)
{
	struct sorter *s = p->sorter;
	const uint64_t half = memory_limit_nbytes() / 2, share = half / ((uint64_t)s->nthreads + 1);
	const struct key_arena_block *last = p->memory.last;

	if (last && last->nbytes - sizeof *last - last->nused > nbytes + ENTRY_NBYTES_MAX)
		return false; /* no more is taken of the limit */
	nbytes += last ? 2 * last->nbytes : 0; /* as much as the arena may take */
	if (!s->spills && memory_take_leaving(nbytes, half)) {
		memory_give(nbytes);
		return false;
	}
	s->spills = true;
	return p->n > 0 && p->nbytes + nbytes > share;
}

static enum status write_file(struct sort_part *p, struct text_buffer *out)
{
	bool written = fd_write(p->fd, out->data, out->nbytes);

	p->file_nbytes += out->nbytes;
	out->nbytes = 0;
	return written ? STATUS_OK : STATUS_TEMPORARY;
}

/* Writes n entries in the order of their indices. numbers: of each entry. */
static enum status write_entries(struct sort_part *p, const struct sort_entry *entries, const uint64_t *indices, size_t n,
				 const uint64_t *numbers, struct text_buffer *out)
{
	for (size_t i = 0; i < n; i++) {
		const struct sort_entry *e = &entries[indices[i]];
		const struct sort_rest rest = entry_rest(e);
		size_t nbytes;
		const char *record = entry_record(e, &nbytes);
		const struct sort_head head = {{e->key[0], e->key[1]}, numbers[indices[i]], (uint32_t)rest.nbytes, (uint32_t)nbytes};
		char *to;
		TRY(text_reserve(out, sizeof head + rest.nbytes + nbytes));
		to = mempcpy(out->data + out->nbytes, &head, sizeof head);
		to = mempcpy(to, rest.bytes, rest.nbytes);
		to = mempcpy(to, record, nbytes);
		out->nbytes = (size_t)(to - out->data);
		if (out->nbytes >= PIECE_NBYTES)
			TRY(write_file(p, out));
	}
	return write_file(p, out);
}

/* Numbers a part's entries in the order of the input of all. */
static void number_entries(const struct sort_part *p, uint64_t *numbers)
{
	for (const struct sort_block *b = p->first; b; b = b->next)
		for (uint32_t i = 0; i < b->n; i++)
			*numbers++ = b->first + i;
}

/* Moves the part's records to its file, sorted. */
static enum status spill(struct sort_part *p)
{
	const uint64_t most = most_records(p->sorter->plan);
	struct ordering o = {0};
	struct sort_entry *entries = NULL;
	struct text_buffer out = {0};
	struct sort_run *run = ARRAY_ADD(p->runs, p->nruns);
	uint64_t *numbers = malloc((p->n + 1) * sizeof *numbers);
	enum status status = run && numbers && !p->sorter->plan->choice ? order_part(&o, p, &entries) : STATUS_NO_MEMORY;

	if (status == STATUS_OK && p->fd < 0 && (p->fd = spool_file()) < 0)
		status = STATUS_TEMPORARY;
	if (status == STATUS_OK) {
		run->begin = p->file_nbytes;
		number_entries(p, numbers);
		status = write_entries(p, entries, o.indices, most < p->n ? most : p->n, numbers, &out);
		run->end = p->file_nbytes;
		p->nruns++;
	}
	text_free(&out);
	free(numbers);
	free(entries);
	free(o.indices);
	drop_records(p);
	return status;
}

/* A run that is read. */
struct run_reader {
	int fd;
	uint64_t at, end;      /* of the file, what is to be read */
	char *data;            /* owned */
	size_t begin, nbytes, capacity; /* data[begin .. nbytes) is not used */
	struct sort_head head; /* of the next record, */
	const char *rest;      /* ... the rest of its key, which the record follows */
};

struct merge_runs {
	struct run_reader *runs;
	size_t n, piece_nbytes;
};

/* Has the reader's data begin with nbytes, at least. */
static enum status run_need(struct run_reader *r, size_t nbytes, size_t piece_nbytes)
{
	if (r->nbytes - r->begin >= nbytes)
		return STATUS_OK;
	if (r->begin > 0)
		memmove(r->data, r->data + r->begin, r->nbytes - r->begin);
	r->nbytes -= r->begin;
	r->begin = 0;
	TRY(ARRAY_GROW(r->data, r->capacity, nbytes > piece_nbytes ? nbytes : piece_nbytes));
	while (r->nbytes < nbytes) {
		size_t room = r->capacity - r->nbytes, left = r->end - r->at;
		ssize_t n = pread(r->fd, r->data + r->nbytes, room < left ? room : left, (off_t)r->at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return STATUS_TEMPORARY;
		r->nbytes += (size_t)n;
		r->at += (size_t)n;
	}
	return STATUS_OK;
}

/* Reads the next record. *is_there: whether there is one. */
static enum status run_next(struct run_reader *r, size_t piece_nbytes, bool *is_there)
{
	*is_there = r->begin < r->nbytes || r->at < r->end;
	if (!*is_there)
		return STATUS_OK;
	TRY(run_need(r, sizeof r->head, piece_nbytes));
	memcpy(&r->head, r->data + r->begin, sizeof r->head);
	TRY(run_need(r, sizeof r->head + (size_t)r->head.rest_nbytes + r->head.nbytes, piece_nbytes));
	r->rest = r->data + r->begin + sizeof r->head;
	r->begin += sizeof r->head + (size_t)r->head.rest_nbytes + r->head.nbytes;
	return STATUS_OK;
}

/* Whether the next record of a run comes before that of another. */
static bool run_is_first(const void *runs, size_t i, size_t j)
{
	const struct run_reader *a = (const struct run_reader *)runs + i, *b = (const struct run_reader *)runs + j;
	const uint32_t n = a->head.rest_nbytes < b->head.rest_nbytes ? a->head.rest_nbytes : b->head.rest_nbytes;
	int order;

	for (int k = 0; k < ORDER_KEY_NWORDS; k++)
		if (a->head.key[k] != b->head.key[k])
			return a->head.key[k] < b->head.key[k];
	order = memcmp(a->rest, b->rest, n);
	return order ? order < 0 : a->head.number < b->head.number;
}

static void swap_runs(void *runs, size_t i, size_t j)
{
	struct run_reader *at = runs, run = at[i];

	at[i] = at[j];
	at[j] = run;
}

static void merge_free(struct merge_runs *m)
{
	for (size_t i = 0; i < m->n; i++)
		free(m->runs[i].data);
	free(m->runs);
}

/* Opens all parts' runs. */
static enum status merge_begin(struct merge_runs *m, const struct sorter *s)
{
	size_t nruns = 0;

	for (const struct sort_part *p = s->parts; p; p = p->next)
		nruns += p->nruns;
	m->runs = calloc(nruns + 1, sizeof *m->runs);
	NEED(m->runs);
	m->piece_nbytes = memory_limit_nbytes() / 4 / (nruns + 1);
	m->piece_nbytes = m->piece_nbytes < 1 << 14 ? 1 << 14 : m->piece_nbytes > PIECE_NBYTES ? PIECE_NBYTES : m->piece_nbytes;
	for (const struct sort_part *p = s->parts; p; p = p->next)
		for (size_t i = 0; i < p->nruns; i++) {
			struct run_reader *r = &m->runs[m->n++];
			bool is_there;
			*r = (struct run_reader){.fd = p->fd, .at = p->runs[i].begin, .end = p->runs[i].end};
			TRY(run_next(r, m->piece_nbytes, &is_there));
		}
	heap_make(m->runs, m->n, run_is_first, swap_runs);
	return STATUS_OK;
}

/* Writes a piece, which is empty then: without a writer, to the sorter's file, after its length. */
static enum status write_piece(struct sorter *s, struct text_buffer *out, struct writer *writer, struct fault *fault)
{
	const uint64_t nbytes = out->nbytes;

	if (writer)
		TRY(writer_write(writer, out, fault));
	else if (!fd_write(s->fd, &nbytes, sizeof nbytes) || !fd_write(s->fd, out->data, out->nbytes))
		return STATUS_TEMPORARY;
	s->file_nbytes += writer ? 0 : sizeof nbytes + nbytes;
	out->nbytes = 0;
	return STATUS_OK;
}

/* Writes the records of all runs, of groups that have not been chosen from the first ones. */
static enum status merge_write(struct merge_runs *m, struct sorter *s, struct text_buffer *out, struct writer *writer,
			       struct fault *fault)
{
	uint64_t most = most_printed(s->plan);
	struct key_table groups = {.value_nbytes = sizeof(uint64_t)};
	enum status status = STATUS_OK;

	for (size_t n = m->n; n > 0 && most > 0 && status == STATUS_OK;) {
		struct run_reader *r = m->runs;
		const char *record = r->rest + r->head.rest_nbytes;
		size_t nbytes = r->head.nbytes;
		bool is_there, takes = true;
		struct key group;
		uint64_t hash = s->plan->group_top ? cut_group(&record, &nbytes, &group) : 0;
		if (s->plan->group_top && !s->has_chosen)
			status = count_first(&groups, &group, hash, s->plan->group_top, true, &takes);
		most -= takes;
		if (takes)
			THEN(status, text_append(out, record, nbytes));
		if (out->nbytes >= PIECE_NBYTES)
			THEN(status, write_piece(s, out, writer, fault));
		THEN(status, run_next(r, m->piece_nbytes, &is_there));
		if (status == STATUS_OK && !is_there)
			swap_runs(m->runs, 0, --n);
		heap_sink(m->runs, n, 0, run_is_first, swap_runs);
	}
	key_table_free(&groups);
	return THEN(status, write_piece(s, out, writer, fault));
}

/* Moves what is left in memory to files, and merges all. */
static enum status write_merged(struct sorter *s, struct writer *writer, struct fault *fault)
{
	struct merge_runs m = {0};
	struct text_buffer out = {0};
	enum status status = STATUS_OK;

	for (struct sort_part *p = s->parts; status == STATUS_OK && p; p = p->next)
		status = p->n ? spill(p) : STATUS_OK;
	THEN(status, merge_begin(&m, s));
	THEN(status, merge_write(&m, s, &out, writer, fault));
	merge_free(&m);
	text_free(&out);
	return status;
}

/* ---- all records in memory ---- */

#define BUCKET_NENTRIES 8192 /* in the mean */
#define NBUCKETS_MAX ((size_t)1 << 14)
#define SAMPLE_NENTRIES 16   /* for each bucket */
#define AHEAD_NRECORDS 16    /* that are on their way into the cache */

/* An entry and its group. */
struct grouped {
	struct sort_entry *entry;
	struct key group;
};

/* Entries on their way into buckets, and out: by their keys, or by their groups' hashes. */
struct dealing {
	struct sorter *s;
	struct deal deal; /* nbuckets: a power of 2; owned */
	size_t n, nblocks;
	struct sort_block **blocks;       /* in the order of the input. These are owned: */
	uint128 *bounds;                  /* nbuckets - 1: where all but the first bucket begin */
	uint16_t *buckets;                /* of entries, in the order of the input */
	uint64_t *block_begins;           /* the numbers of entries before blocks, nblocks + 1 */
	union {                           /* bucket by bucket; of key_memory_new, each_nbytes: */
		void *memory;
		struct sort_entry *entries;
		struct grouped *grouped;
	};
	size_t each_nbytes;
	uint64_t ntaken;                  /* of the memory limit */
	atomic_size_t next;               /* bucket that no thread has taken */
	_Atomic enum status status;       /* of choosing */
	struct ordered_queue queue;       /* of buckets */
	struct writer *writer;
};

/* An entry's words as one number. */
static inline uint128 key_number(const struct sort_entry *e)
{
	return (uint128)e->key[0] << 64 | e->key[1];
}

static inline size_t find_bucket(const struct dealing *d, const struct sort_entry *e)
{
	const uint128 key = key_number(e);
	size_t bucket = 0;

	for (size_t step = d->deal.nbuckets / 2; step > 0; step /= 2)
		bucket += d->bounds[bucket + step - 1] <= key ? step : 0;
	return bucket;
}

static int compare_blocks(const void *a, const void *b)
{
	const struct sort_block *x = *(const struct sort_block *const *)a, *y = *(const struct sort_block *const *)b;

	return (x->first > y->first) - (x->first < y->first);
}

/* Lists the blocks in the order of the input. */
static enum status list_blocks(struct dealing *d)
{
	size_t i = 0;
	bool ascends = true;

	for (const struct sort_part *p = d->s->parts; p; p = p->next)
		for (struct sort_block *b = p->first; b; b = b->next)
			d->nblocks++;
	d->n = 0;
	d->blocks = malloc((d->nblocks + 1) * sizeof *d->blocks);
	d->block_begins = malloc((d->nblocks + 1) * sizeof *d->block_begins);
	NEED(d->blocks && d->block_begins);
	for (const struct sort_part *p = d->s->parts; p; p = p->next)
		for (struct sort_block *b = p->first; b; b = b->next)
			d->blocks[i++] = b;
	for (i = 1; i < d->nblocks; i++)
		ascends &= d->blocks[i - 1]->first <= d->blocks[i]->first;
	if (!ascends)
		qsort(d->blocks, d->nblocks, sizeof *d->blocks, compare_blocks);
	d->block_begins[0] = 0;
	for (i = 0; i < d->nblocks; i++)
		d->block_begins[i + 1] = d->block_begins[i] + d->blocks[i]->n;
	d->n = d->block_begins[d->nblocks];
	return STATUS_OK;
}

static const struct sort_entry *entry_of(const struct dealing *d, size_t *block, uint64_t number)
{
	while (number >= d->block_begins[*block + 1])
		++*block;
	return &d->blocks[*block]->entries[number - d->block_begins[*block]];
}

/* Finds bounds of buckets that are about equally full: of a sample, by the words that entries have. */
static enum status make_bounds(struct dealing *d)
{
	const size_t nsample = d->deal.nbuckets * SAMPLE_NENTRIES < d->n ? d->deal.nbuckets * SAMPLE_NENTRIES : d->n;
	struct sort_entry *sample = malloc((nsample + 1) * sizeof *sample);
	struct ordering o = {0};
	size_t block = 0;
	enum status status = sample ? STATUS_OK : STATUS_NO_MEMORY;

	for (size_t i = 0; sample && i < nsample; i++) {
		sample[i] = *entry_of(d, &block, (uint64_t)d->n * i / nsample);
		sample[i].at &= ~SORT_IS_LONG;
	}
	if (status == STATUS_OK)
		status = order_entries(&o, sample, nsample);
	for (size_t i = 0; status == STATUS_OK && i + 1 < d->deal.nbuckets; i++)
		d->bounds[i] = key_number(&sample[o.indices[nsample * (i + 1) / d->deal.nbuckets]]);
	free(o.indices);
	free(sample);
	return status;
}

/* The bucket of an entry's group; the lowest bits of a hash that all have, since tables begin with the highest. */
static inline size_t group_bucket(const struct dealing *d, const struct sort_entry *e, struct key *group)
{
	size_t nbytes;
	const char *record = entry_record(e, &nbytes);

	return (size_t)(cut_group(&record, &nbytes, group) >> KEY_LONG_HASH_BITS) & (d->deal.nbuckets - 1);
}

/* Counts a share's entries in each bucket. */
static void count_share(void *context, size_t share)
{
	const struct dealing *d = context;
	uint64_t *places = deal_places(&d->deal, share);
	struct key group;

	for (size_t i = d->nblocks * share / d->deal.nshares; i < d->nblocks * (share + 1) / d->deal.nshares; i++) {
		const struct sort_block *b = d->blocks[i];
		uint16_t *to = d->buckets + d->block_begins[i];
		for (uint32_t k = 0; k < b->n; k++) {
			to[k] = (uint16_t)(d->bounds ? find_bucket(d, &b->entries[k]) : group_bucket(d, &b->entries[k], &group));
			places[to[k]]++;
		}
	}
}

static void move_share(void *context, size_t share)
{
	const struct dealing *d = context;
	uint64_t *places = deal_places(&d->deal, share);

	for (size_t i = d->nblocks * share / d->deal.nshares; i < d->nblocks * (share + 1) / d->deal.nshares; i++) {
		struct sort_block *b = d->blocks[i];
		const uint16_t *buckets = d->buckets + d->block_begins[i];
		for (uint32_t k = 0; k < b->n && d->bounds; k++)
			d->entries[places[buckets[k]]++] = b->entries[k];
		for (uint32_t k = 0; k < b->n && !d->bounds; k++) {
			struct grouped *to = &d->grouped[places[buckets[k]]++];
			to->entry = &b->entries[k];
			group_bucket(d, to->entry, &to->group);
		}
	}
}

/* Removes the entries that have been dropped from a block. */
static void drop_entries(void *context, size_t block)
{
	struct sort_block *b = ((struct dealing *)context)->blocks[block];
	uint32_t n = 0;

	for (uint32_t k = 0; k < b->n; k++)
		if (b->entries[k].at)
			b->entries[n++] = b->entries[k];
	b->n = n;
}

/* Deals all entries: by their keys, or by groups. Errors: STATUS_NO_MEMORY, also where too little is left of --memory. */
static enum status deal(struct dealing *d, size_t nthreads, bool by_groups)
{
	size_t nbuckets = 1;

	TRY(list_blocks(d));
	while (nbuckets < NBUCKETS_MAX && d->n / nbuckets > BUCKET_NENTRIES)
		nbuckets *= 2;
	TRY(deal_new(&d->deal, d->n > BUCKET_NENTRIES ? nthreads : 1, nbuckets));
	d->bounds = by_groups ? NULL : malloc(d->deal.nbuckets * sizeof *d->bounds);
	NEED(memory_take(d->n * sizeof *d->buckets));
	d->ntaken = d->n * sizeof *d->buckets;
	d->buckets = malloc(d->ntaken + 1);
	NEED((d->bounds || by_groups) && d->buckets);
	d->each_nbytes = by_groups ? sizeof *d->grouped : sizeof *d->entries;
	TRY(key_memory_new(d->n * d->each_nbytes + 1, &d->memory));
	if (d->n > 0 && !by_groups)
		TRY(make_bounds(d));
	team_each(nthreads, d->deal.nshares, count_share, d);
	deal_place(&d->deal);
	team_each(nthreads, d->deal.nshares, move_share, d);
	return STATUS_OK;
}

static void dealing_free(struct dealing *d)
{
	deal_free(&d->deal);
	free(d->blocks);
	free(d->block_begins);
	free(d->bounds);
	free(d->buckets);
	key_memory_free(d->memory, d->n * d->each_nbytes + 1);
	memory_give(d->ntaken);
}

/* ---- the first records of groups ---- */

/* Of a bucket's entries, drops those after the first ones of their groups. */
static enum status choose_bucket(const struct dealing *d, uint64_t bucket, struct ordering *o, struct sort_entry **entries, size_t *capacity,
				 struct key_table *groups)
{
	const struct grouped *from = d->grouped + d->deal.begins[bucket];
	const size_t n = d->deal.begins[bucket + 1] - d->deal.begins[bucket];
	const struct key_seed seed = key_seed_get();

	TRY(ARRAY_GROW(*entries, *capacity, n));
	for (size_t i = 0; i < n; i++) {
		__builtin_prefetch(from[i + AHEAD_NRECORDS < n ? i + AHEAD_NRECORDS : i].entry);
		(*entries)[i] = *from[i].entry;
	}
	TRY(order_entries(o, *entries, n));
	key_table_clear(groups);
	for (size_t i = 0; i < n; i++) {
		const struct grouped *g = &from[o->indices[i]];
		bool is_first;
		TRY(count_first(groups, &g->group, key_held_hash(&g->group, seed), d->s->plan->group_top, false, &is_first));
		if (!is_first)
			g->entry->at = 0;
	}
	return STATUS_OK;
}

static void *choose_buckets(void *context)
{
	struct dealing *d = context;
	struct key_table groups = {.value_nbytes = sizeof(uint64_t)};
	struct sort_entry *entries = NULL;
	struct ordering o = {0};
	size_t capacity = 0;

	for (size_t bucket; (bucket = atomic_fetch_add(&d->next, 1)) < d->deal.nbuckets && d->status == STATUS_OK;) {
		enum status status = choose_bucket(d, bucket, &o, &entries, &capacity, &groups);
		if (status != STATUS_OK)
			d->status = status;
	}
	key_table_free(&groups);
	free(o.indices);
	free(entries);
	return NULL;
}

/* ---- the first records of all ---- */

/* Drops the entries whose keys, which all differ, are above the N-th least one. */
static enum status choose_least(struct dealing *d)
{
	const uint64_t most = d->s->plan->top;
	uint64_t *keys, n = 0, bound;

	TRY(list_blocks(d));
	if (d->n <= most)
		return STATUS_OK;
	NEED(keys = malloc(2 * d->n * sizeof *keys));
	for (size_t i = 0; i < d->nblocks; i++)
		for (uint32_t k = 0; k < d->blocks[i]->n; k++)
			keys[n++] = d->blocks[i]->entries[k].key[0];
	sort_words(keys, keys + n, n, 0, 64);
	bound = keys[most - 1];
	free(keys);
	for (size_t i = 0; i < d->nblocks; i++)
		for (uint32_t k = 0; k < d->blocks[i]->n; k++)
			if (d->blocks[i]->entries[k].key[0] > bound)
				d->blocks[i]->entries[k].at = 0;
	team_each(1, d->nblocks, drop_entries, d);
	return STATUS_OK;
}

/* Whether memory has ended, so that records are in files. */
static bool has_runs(const struct sorter *s)
{
	for (const struct sort_part *p = s->parts; p; p = p->next)
		if (p->nruns > 0)
			return true;
	return false;
}

enum status sorter_choose(struct sorter *s, size_t nthreads)
{
	struct dealing *d;
	struct fault ignored = {.status = STATUS_OK};
	enum status status = has_runs(s) ? STATUS_NO_MEMORY : STATUS_OK;

	for (struct sort_part *p = s->parts; p; p = p->next)
		groups_free(&p->groups);
	if (!s->plan->group_top && !s->plan->choice)
		return STATUS_OK;
	NEED(d = calloc(1, sizeof *d));
	d->s = s;
	if (!s->plan->group_top) {
		status = choose_least(d);
		dealing_free(d);
		free(d);
		return status;
	}
	nthreads = nthreads < TEAM_NTHREADS_MAX ? nthreads : TEAM_NTHREADS_MAX;
	THEN(status, deal(d, nthreads, true));
	if (status == STATUS_OK) {
		team_run(d->deal.nbuckets < nthreads ? d->deal.nbuckets : nthreads, choose_buckets, d);
		s->has_chosen = true;
		status = d->status;
		team_each(nthreads, d->nblocks, drop_entries, d);
	}
	for (struct sort_part *p = s->has_chosen ? s->parts : NULL; p; p = p->next) {
		p->n = 0;
		for (const struct sort_block *b = p->first; b; b = b->next)
			p->n += b->n;
	}
	dealing_free(d);
	free(d);
	if (s->has_chosen)
		return status == STATUS_MANY_KEYS ? STATUS_NO_MEMORY : status;
	if (s->plan->choice)
		return status;
	if ((s->fd = spool_file()) < 0) /* there is too little memory for all at once */
		return STATUS_TEMPORARY;
	status = write_merged(s, NULL, &ignored);
	return status == STATUS_MANY_KEYS ? STATUS_NO_MEMORY : status;
}

/* Writes the pieces of the sorter's file. */
static enum status write_pieces(const struct sorter *s, struct writer *writer, struct fault *fault)
{
	struct run_reader r = {.fd = s->fd, .end = s->file_nbytes};
	struct text_buffer out = {0};
	enum status status = STATUS_OK;
	uint64_t nbytes;

	while (status == STATUS_OK && (r.begin < r.nbytes || r.at < r.end)) {
		status = run_need(&r, sizeof nbytes, PIECE_NBYTES);
		if (status != STATUS_OK)
			break;
		memcpy(&nbytes, r.data + r.begin, sizeof nbytes);
		status = run_need(&r, sizeof nbytes + nbytes, PIECE_NBYTES);
		out.nbytes = 0;
		THEN(status, text_append(&out, r.data + r.begin + sizeof nbytes, nbytes));
		r.begin += sizeof nbytes + nbytes;
		THEN(status, writer_write(writer, &out, fault));
	}
	free(r.data);
	text_free(&out);
	return status;
}

/* ---- out of buckets ---- */

/* Gathers a bucket's records, and writes them when its turn comes. Returns whether it came. */
static bool write_bucket(struct dealing *d, const struct ordering *o, uint64_t bucket, size_t n, struct text_buffer *out,
			 enum status *status, struct fault *fault)
{
	bool is_turn = false;

	out->nbytes = 0;
	for (size_t i = 0; *status == STATUS_OK && i < n; i++) {
		size_t nbytes, ahead = i + AHEAD_NRECORDS < n ? i + AHEAD_NRECORDS : n - 1;
		const char *next = entry_text(&o->entries[o->indices[ahead]]), *record = entry_record(&o->entries[o->indices[i]], &nbytes);
		__builtin_prefetch(next);
		__builtin_prefetch(next + 56);
		if (d->s->plan->group_top)
			skip_values(&record, &nbytes);
		if (out->nbytes >= PIECE_NBYTES) {
			is_turn = is_turn || ordered_queue_await(&d->queue, bucket, bucket);
			if (!is_turn)
				return false;
			*status = writer_write(d->writer, out, fault);
			out->nbytes = 0;
		}
		THEN(*status, text_append(out, record, nbytes));
	}
	is_turn = is_turn || ordered_queue_await(&d->queue, bucket, bucket);
	if (is_turn && *status == STATUS_OK)
		*status = writer_write(d->writer, out, fault);
	return is_turn;
}

static void *write_buckets(void *context)
{
	struct dealing *d = context;
	const uint64_t most = most_printed(d->s->plan);
	struct ordering o = {0};
	struct text_buffer out = {0};
	uint64_t bucket;

	while (ordered_queue_take(&d->queue, true, &bucket)) {
		const uint64_t begin = d->deal.begins[bucket], n = d->deal.begins[bucket + 1] - begin, wanted = begin < most ? most - begin : 0;
		struct fault fault = {.status = STATUS_OK};
		enum status status = STATUS_OK;
		if (wanted > 0 && n > 0) {
			status = order_entries(&o, d->entries + begin, n);
			if (!write_bucket(d, &o, bucket, wanted < n ? wanted : n, &out, &status, &fault))
				break;
		}
		ordered_queue_finish(&d->queue, bucket, fault_complete(&fault, status), &fault);
	}
	free(o.indices);
	text_free(&out);
	return NULL;
}

/* Writes what is left in the order of the input. The last record is printed as it is, with a line end or without. */
static enum status write_in_order(struct dealing *d, struct fault *fault)
{
	struct text_buffer out = {0};
	enum status status = list_blocks(d);

	for (size_t i = 0, n = 0; status == STATUS_OK && i < d->nblocks; i++)
		for (uint32_t k = 0; status == STATUS_OK && k < d->blocks[i]->n; k++) {
			const struct sort_entry *e = &d->blocks[i]->entries[k];
			const bool is_last = ++n == d->n;
			size_t nbytes;
			const char *record = entry_record(e, &nbytes);
			if (d->s->plan->group_top)
				skip_values(&record, &nbytes);
			out.in_line = is_last && (e->at & SORT_LACKS_END);
			status = text_append(&out, record, nbytes - out.in_line);
			if (out.nbytes >= PIECE_NBYTES || is_last)
				THEN(status, writer_write(d->writer, &out, fault));
			out.nbytes = out.nbytes >= PIECE_NBYTES ? 0 : out.nbytes;
		}
	text_free(&out);
	return fault_complete(fault, status);
}

enum status sorter_write(struct sorter *s, size_t nthreads, struct writer *writer, struct fault *fault)
{
	struct dealing *d;
	enum status status;

	if (s->fd >= 0)
		return write_pieces(s, writer, fault);
	NEED(d = calloc(1, sizeof *d));
	d->s = s;
	d->writer = writer;
	if (s->plan->choice) {
		status = write_in_order(d, fault);
		dealing_free(d);
		free(d);
		return status;
	}
	status = has_runs(s) ? STATUS_NO_MEMORY : STATUS_OK;
	THEN(status, deal(d, nthreads < TEAM_NTHREADS_MAX ? nthreads : TEAM_NTHREADS_MAX, false));
	if (status == STATUS_OK) {
		ordered_queue_init(&d->queue, ORDERED_QUEUE_MOST, d->deal.nbuckets, false);
		ordered_queue_end(&d->queue);
		team_run(d->deal.nbuckets < nthreads ? d->deal.nbuckets : nthreads, write_buckets, d);
		status = ordered_queue_status(&d->queue, fault);
		ordered_queue_destroy(&d->queue);
		dealing_free(d);
	} else { /* there is too little memory for all at once */
		dealing_free(d);
		status = write_merged(s, writer, fault);
	}
	free(d);
	return status;
}
