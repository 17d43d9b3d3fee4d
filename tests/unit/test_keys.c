/* SPDX-License-Identifier: MIT
 *
 * test_keys.c - tables of keys (fold/key_table.h), with hashes that collide, and the moment made of them
 * (fold/keys.h): its laws, against a list that is searched from front to back.
 */
#include "tap.h"
#include "base/machine.h"
#include "fold/key_memory.h"
#include "fold/keys.h"
#include "simd/simd.h"

extern const struct moment_ops moment_keys;

static const struct key_seed seed = {{0x0123456789abcdef, 0xfedcba9876543211}};

static uint64_t random_state = 88172645463325252;

static uint64_t random_below(uint64_t n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state % n;
}

/* ---- memory ---- */

#define NBLOCKS 300

/* A block whose bytes are all `fill`. */
struct block {
	unsigned char *bytes;
	size_t nbytes;
	unsigned char fill;
};

static bool is_all(const struct block *b, unsigned char byte)
{
	size_t i = 0;

	while (i < b->nbytes && b->bytes[i] == byte)
		i++;
	return i == b->nbytes;
}

/* Sizes of 1 byte to 8 MiB, small ones as often as large ones, powers of two among them. */
static size_t random_size(void)
{
	size_t power = (size_t)1 << random_below(24);

	return random_below(2) ? power : power / 2 + 1 + (size_t)random_below(power - power / 2);
}

/* Frees blocks and makes others in random order: each begins with zeros, and keeps what is written. */
static void test_memory(void)
{
	static struct block blocks[NBLOCKS];
	bool zeros = true, kept = true;

	memory_limit_set((uint64_t)1 << 40);
	for (int turn = 0; turn < 3000; turn++) {
		struct block *b = &blocks[random_below(turn < 2000 ? NBLOCKS : NBLOCKS / 10)];
		void *memory;
		kept = kept && is_all(b, b->fill);
		key_memory_free(b->bytes, b->nbytes);
		*b = (struct block){.nbytes = random_size(), .fill = (unsigned char)turn};
		if (key_memory_new(b->nbytes, &memory) != STATUS_OK)
			bail("out of memory");
		b->bytes = memory;
		zeros = zeros && is_all(b, 0) && (uintptr_t)memory % 16 == 0;
		memset(b->bytes, b->fill, b->nbytes);
	}
	for (size_t i = 0; i < NBLOCKS; i++) {
		kept = kept && is_all(&blocks[i], blocks[i].fill);
		key_memory_free(blocks[i].bytes, blocks[i].nbytes);
	}
	ok(zeros, "memory: new blocks are zeros");
	ok(kept, "memory: blocks do not overlap");
	memory_limit_set((uint64_t)1 << 20);
	ok(key_memory_new((size_t)1 << 20 | 1, &(void *){NULL}) == STATUS_MANY_KEYS,
	   "memory: a block beyond the limit is refused, and all others were given back");
	ok(key_memory_new((size_t)1 << 20, &(void *){NULL}) == STATUS_OK, "memory: a block of the limit's size");
	memory_limit_set((uint64_t)1 << 40);
}

/* ---- keys as words ---- */

/* Whether a text's key is a word, and the word is the key again. */
static bool has_word(const char *text, bool *is_same)
{
	struct key key, again;

	key_make(text, strlen(text), false, seed, &key);
	again = key_of_word(key_word(&key));
	*is_same = *is_same && (key_word(&key) == 0 || (again.low == key.low && again.high == key.high));
	return key_word(&key) != 0;
}

/* All characters in all places of all lengths: those that are digits, and those beside them. */
static void test_words(void)
{
	static const char digits[] = "+,-./0123456789:";
	bool is_same = true, right = true;
	char text[KEY_INLINE_NBYTES + 1] = "";

	for (size_t n = 1; n <= KEY_INLINE_NBYTES; n++)
		for (size_t at = 0; at < n; at++)
			for (int c = 1; c < 256; c++) {
				for (size_t i = 0; i < n; i++)
					text[i] = digits[random_below(16)];
				text[n] = 0;
				text[at] = (char)c;
				right = right && has_word(text, &is_same) == (n <= KEY_SHORT_NBYTES ||
					(n <= KEY_DIGITS_NBYTES && strchr(digits, c)));
			}
	ok(right, "keys of up to 7 bytes, and of up to 14 digits, are words");
	ok(is_same, "a word is its key");
}

/* ---- sets of words ---- */

#define NSET_WORDS 5000

/* Adds words of which there are ndifferent, in a random order, to a set that counts or does not, and settles it. */
static bool is_set(uint32_t ndifferent, bool counts, void (*settle)(struct word_set *))
{
	static struct key_count wanted[NSET_WORDS];
	struct word_set s = {.words = NULL}, halves[2] = {{.words = NULL}, {.words = NULL}};
	uint32_t nwanted = 0;
	bool right = true;

	memset(wanted, 0, sizeof wanted);
	for (uint32_t i = 0; i < NSET_WORDS; i++) {
		uint32_t word = (uint32_t)random_below(ndifferent);
		struct key_count times = {1 + random_below(3), random_below(1000)};
		nwanted += wanted[word].count == 0;
		key_count_add(&wanted[word], times);
		right = right && word_set_add(&halves[i % 2], counts, (word + 1) * KEY_ODD, times) == STATUS_OK;
	}
	settle(&halves[0]);
	for (int i = 0; i < 2; i++)
		right = right && word_set_add_all(&s, counts, &halves[i]) == STATUS_OK;
	settle(&s);
	right = right && s.n == nwanted && s.nsettled == nwanted && !s.times == !counts;
	for (uint32_t i = 0; i < s.n && right; i++) {
		uint32_t word = 0;
		while (word < ndifferent && (word + 1) * KEY_ODD != s.words[i])
			word++;
		right = word < ndifferent && wanted[word].count > 0 &&
			(!counts || !memcmp(&s.times[i], &wanted[word], sizeof wanted[word]));
		wanted[word < ndifferent ? word : 0].count = 0; /* each once */
	}
	word_set_free(&s);
	word_set_free(&halves[0]);
	word_set_free(&halves[1]);
	return right && s.room == 0;
}

/* Beyond the limit a word is refused, and those before are kept. */
static void test_full_set(void)
{
	struct word_set s = {.words = NULL};
	enum status status = STATUS_OK;
	uint64_t word = 0;

	memory_limit_set(((uint64_t)1 << 20) + 4096); /* a block of 1 MiB is still there: test_memory */
	while (status == STATUS_OK && word < 10000)
		status = word_set_add(&s, false, ++word, (struct key_count){0, 0});
	memory_limit_set((uint64_t)1 << 40);
	ok(status == STATUS_MANY_KEYS && s.n > 0 && s.n == word - 1 && s.words[s.n - 1] == word - 1, "a set within a limit");
	word_set_free(&s);
}

static void test_word_sets(void)
{
	static const uint32_t ndifferent[] = {1, 2, 15, 16, 17, 100, 1000, NSET_WORDS};
	bool right = true, in_place = true;

	for (size_t i = 0; i < sizeof ndifferent / sizeof *ndifferent; i++)
		for (int counts = 0; counts < 2; counts++) {
			right = right && is_set(ndifferent[i], counts, word_set_settle);
			in_place = in_place && is_set(ndifferent[i], counts, word_set_settle_in_place);
		}
	ok(right, "sets hold each word once, with its times");
	ok(in_place, "... also where they are sorted");
	test_full_set();
}

/* ---- keys and tables ---- */

#define NTEXTS 3000
#define TEXT_NBYTES 48

/* Texts of 0 to 40 bytes; text i holds i, so that all differ, where there is room for it. */
static char texts[NTEXTS][TEXT_NBYTES];

static size_t text_nbytes(size_t i)
{
	return i < 41 ? i : 3 + i % 38;
}

static void make_texts(void)
{
	for (size_t i = 0; i < NTEXTS; i++) {
		memset(texts[i], i % 3 == 0 ? 0 : 'x', TEXT_NBYTES); /* NULs are bytes as others */
		if (i >= 41)
			memcpy(texts[i] + text_nbytes(i) - 3, &(uint32_t){(uint32_t)i}, 3);
	}
}

static void test_key(void)
{
	struct key a, b;
	char copy[TEXT_NBYTES];
	bool same = true, differ = true;

	for (size_t i = 0; i < NTEXTS; i++) {
		size_t n = text_nbytes(i);
		uint64_t hash = key_make(texts[i], n, true, seed, &a);
		memset(copy, 'y', sizeof copy);
		memcpy(copy, texts[i], n);
		same = same && key_make(copy, n, i % 2 == 0, seed, &b) == hash && key_equals(&a, &b);
		same = same && key_nbytes(&b) == n && !memcmp(key_text(&b), texts[i], n);
		same = same && key_is_long(&a) == (n > KEY_INLINE_NBYTES);
		same = same && (key_word(&a) != 0 || n > KEY_SHORT_NBYTES);
		if (key_word(&a)) {
			b = key_of_word(key_word(&a));
			same = same && b.low == a.low && b.high == a.high;
		}
		if (n > 0) { /* a byte changed, and a byte less */
			copy[random_below(n)] ^= 1;
			key_make(copy, n, true, seed, &b);
			differ = differ && !key_equals(&a, &b);
			key_make(texts[i], n - 1, true, seed, &b);
			differ = differ && !key_equals(&a, &b);
		}
	}
	ok(same, "a key is its bytes, whatever is behind them");
	ok(differ, "a byte more or other makes another key");
}

static uint64_t hash_own(uint64_t hash, size_t i)
{
	(void)i;
	return hash;
}

static uint64_t hash_none(uint64_t hash, size_t i)
{
	(void)hash;
	(void)i;
	return 0;
}

/* The last places, so that probes go on at the first. */
static uint64_t hash_last(uint64_t hash, size_t i)
{
	(void)hash;
	(void)i;
	return ~UINT64_C(0) >> KEY_PART_BITS;
}

static uint64_t hash_few(uint64_t hash, size_t i)
{
	return (hash & 0x30) << 40 | (uint64_t)(i % 2) << 58;
}

/* Adds all texts twice, with the hashes that `change` makes of theirs, then finds them. n: of the texts. Room
 * for all is made at once where hashes are not the keys' own: growth computes these. */
static void test_table(const char *name, uint64_t (*change)(uint64_t, size_t), size_t n, size_t value_nbytes)
{
	struct key_table t = {.value_nbytes = value_nbytes};
	bool right = true, found = true;
	struct key key;
	size_t slot;

	if (change != hash_own && key_table_reserve(&t, n, seed) != STATUS_OK)
		bail("out of memory");
	for (size_t i = 0; i < 2 * n; i++) {
		uint64_t hash = change(key_make(texts[i % n], text_nbytes(i % n), true, seed, &key), i % n);
		right = right && key_table_add(&t, &key, hash, seed, &slot) == STATUS_OK;
		right = right && t.nkeys == (i < n ? i + 1 : n);
		if (value_nbytes)
			*(uint64_t *)key_table_value(&t, slot) += i % n + 1;
	}
	for (size_t i = 0; i < n; i++) {
		uint64_t hash = change(key_make(texts[i], text_nbytes(i), true, seed, &key), i);
		struct key held = {0};
		slot = key_table_find(&t, &key, hash);
		if (slot != SIZE_MAX)
			held = t.keys[slot];
		found = found && slot != SIZE_MAX && key_equals(&held, &key) &&
			!memcmp(key_text(&held), texts[i], text_nbytes(i)) && key_text(&held) != texts[i];
		if (found && value_nbytes)
			found = *(uint64_t *)key_table_value(&t, slot) == 2 * (i + 1);
	}
	key_make("absent", 6, false, seed, &key);
	ok(right, "%s: adds each of %zu keys once", name, n);
	ok(found, "%s: finds them with their values, and owns long ones", name);
	ok(key_table_find(&t, &key, change(key_hash_inline(&key, seed), 0)) == SIZE_MAX,
	   "%s: an absent key is not found", name);
	key_table_clear(&t);
	ok(t.nkeys == 0 && key_table_find(&t, &key, 0) == SIZE_MAX && t.nslots > 0, "%s: clears", name);
	key_table_free(&t);
}

static void test_tables(void)
{
	struct key_table empty = {.keys = NULL};
	struct key key;
	uint64_t hash = key_make("a", 1, false, seed, &key);

	make_texts();
	ok(key_table_find(&empty, &key, hash) == SIZE_MAX, "an empty table has no key");
	test_table("own hashes", hash_own, NTEXTS, 8);
	test_table("own hashes, no values", hash_own, NTEXTS, 0);
	test_table("one key", hash_own, 1, 8);
	test_table("all hashes 0", hash_none, 300, 8);
	test_table("all at the end", hash_last, 300, 8);
	test_table("few places", hash_few, 500, 0);
}

/* ---- the moment ---- */

/* A run of values: each is a text of `words`, at its own offset. */
#define NVALUES 400
#define NWORDS 37
static char words[NWORDS][32];
static unsigned values[NVALUES];

/* The text that is folded: all values, one behind the other, with padding. */
static char folded[SIMD_PAD_NBYTES + NVALUES * 32 + SIMD_PAD_NBYTES];
static struct key_span spans[NVALUES];

static void make_values(void)
{
	char *at = folded + SIMD_PAD_NBYTES;

	for (size_t i = 0; i < NWORDS; i++)
		snprintf(words[i], sizeof words[i], "%.*s%zu", (int)(i % 5) * 6, "a long word, up to 24 b.", i);
	for (size_t i = 0; i < NVALUES; i++) {
		values[i] = (unsigned)(random_below(NWORDS) * random_below(NWORDS) / NWORDS);
		size_t n = strlen(words[values[i]]);
		memcpy(at, words[values[i]], n);
		spans[i].begin = (uint32_t)(at - (folded + SIMD_PAD_NBYTES));
		spans[i].end = spans[i].begin + (uint32_t)n;
		at += n;
	}
}

/* Folds values [first, end), every third as a copy, the others noted. */
static void fold(struct keys *k, size_t first, size_t end, struct keys_wanted wanted)
{
	const char *text = folded + SIMD_PAD_NBYTES;

	for (size_t i = first; i < end; i++) {
		if (i % 3 == 0) {
			keys_add(k, wanted, words[values[i]], strlen(words[values[i]]),
				 1000 + spans[i].begin);
		} else {
			struct key_span *room = keys_note(k, wanted, text, 1000, 1);
			if (!room)
				bail("out of memory");
			*room = spans[i];
			k->log.nspans++;
		}
	}
}

static struct keys *fold_new(size_t first, size_t end, struct keys_wanted wanted)
{
	struct keys *k = calloc(1, moment_keys.cell_nbytes);

	if (!k)
		bail("out of memory");
	fold(k, first, end, wanted);
	return k;
}

static void drop(struct keys *k)
{
	moment_keys.free(k);
	free(k);
}

/* What a cell says of each word; count 0: nothing. */
struct seen {
	struct key_count times[NWORDS];
	size_t nothers;
};

static void see(void *context, const struct key_found *found)
{
	struct seen *seen = context;

	for (size_t i = 0; i < NWORDS; i++) {
		if (strlen(words[i]) != key_nbytes(&found->key) || memcmp(words[i], key_text(&found->key), key_nbytes(&found->key)))
			continue;
		seen->times[i] = found->times;
		return;
	}
	seen->nothers++;
}

/* Whether k holds exactly what values [first, end) are. */
static bool is_fold(const struct keys *k, size_t first, size_t end)
{
	struct seen seen = {0}, wanted = {0};
	size_t n = 0;

	for (size_t i = end; i-- > first;) {
		n += wanted.times[values[i]].count == 0;
		wanted.times[values[i]].count++;
		wanted.times[values[i]].first = 1000 + spans[i].begin;
	}
	keys_each(k, see, &seen);
	return keys_count(k) == n && !memcmp(&seen, &wanted, sizeof seen);
}

static const struct keys_wanted all_counts = {.counts = true};

/* combine(a, b), of folds that have combined nothing yet. */
static void test_identity(void)
{
	struct keys *none = calloc(1, sizeof *none), *a = fold_new(0, NVALUES, all_counts);
	struct keys *b = fold_new(0, 0, all_counts);

	ok(moment_keys.combine(none, a) == STATUS_OK && is_fold(none, 0, NVALUES),
	   "the identity and a fold are the fold");
	ok(moment_keys.combine(a, b) == STATUS_OK && is_fold(a, 0, NVALUES),
	   "a fold and the identity are the fold");
	moment_keys.clear(a);
	ok(is_fold(a, 0, 0) && keys_count(NULL) == 0, "clear makes the identity");
	fold(a, 3, 9, all_counts);
	ok(moment_keys.combine(b, a) == STATUS_OK && is_fold(b, 3, 9), "and the cell is used again");
	drop(none);
	drop(a);
	drop(b);
}

static void test_splits(void)
{
	bool right = true, swapped = true;

	for (size_t cut = 0; cut <= NVALUES; cut++) {
		struct keys *a = fold_new(0, cut, all_counts), *b = fold_new(cut, NVALUES, all_counts);
		struct keys *c = fold_new(0, cut, all_counts);
		moment_keys.combine(a, b);
		right = right && is_fold(a, 0, NVALUES);
		moment_keys.combine(b, c); /* out of order, as a thread adds chunks to its own */
		swapped = swapped && is_fold(b, 0, NVALUES);
		drop(a);
		drop(b);
		drop(c);
	}
	ok(right, "fold(a ++ b) is combine(fold a, fold b) at every split");
	ok(swapped, "and combine(fold b, fold a): the first appearance is the least offset");
}

static void test_associativity(void)
{
	bool right = true;

	for (int i = 0; i < 200; i++) {
		size_t x = random_below(NVALUES + 1), y = random_below(NVALUES + 1);
		size_t p = x < y ? x : y, q = x < y ? y : x;
		struct keys *a = fold_new(0, p, all_counts), *b = fold_new(p, q, all_counts);
		struct keys *c = fold_new(q, NVALUES, all_counts), *d = fold_new(0, p, all_counts);
		moment_keys.combine(b, c);
		moment_keys.combine(a, b);
		right = right && is_fold(b, p, NVALUES) && is_fold(a, 0, NVALUES);
		drop(b);
		b = fold_new(p, q, all_counts);
		moment_keys.combine(d, b);
		moment_keys.combine(d, c);
		right = right && is_fold(d, 0, NVALUES);
		drop(a);
		drop(b);
		drop(c);
		drop(d);
	}
	ok(right, "combine is associative");
}

/* Joins nall folds of parts of the values. */
static void test_join(size_t nall)
{
	struct keys *all[8];
	enum status status;

	for (size_t i = 0; i < nall; i++)
		all[i] = fold_new(NVALUES * (nall - 1 - i) / nall, NVALUES * (nall - i) / nall, all_counts);
	status = keys_join_begin(all, nall);
	for (size_t part = 0; part < KEYS_NPARTS && status == STATUS_OK; part++)
		status = keys_join_part(all, nall, part);
	keys_join_end(all[0]);
	ok(status == STATUS_OK && is_fold(all[0], 0, NVALUES), "%zu folds are joined", nall);
	for (size_t i = 1; i < nall; i++)
		status = keys_count(all[i]) ? STATUS_USAGE : status;
	ok(status == STATUS_OK, "and the others are left without keys");
	for (size_t i = 0; i < nall; i++)
		drop(all[i]);
}

static void test_limit(void)
{
	struct keys *all = fold_new(0, NVALUES, all_counts), *a, *b, *c;
	uint64_t n;

	c = calloc(1, sizeof *c);
	moment_keys.combine(c, all);
	n = keys_count(c);
	for (uint64_t most = n - 1; most <= n; most++) {
		struct keys_wanted wanted = {.counts = true, .nmost = most};
		a = fold_new(0, NVALUES / 2, wanted);
		b = fold_new(NVALUES / 2, NVALUES, wanted);
		moment_keys.combine(b, a);
		ok(b->is_over == (most < n) && keys_count(b) == (most < n ? 0 : n),
		   "%d keys where %d are the most", (int)n, (int)most);
		moment_keys.clear(a);
		moment_keys.combine(a, b);
		ok(a->is_over == (most < n), "that is known of a combined one");
		drop(a);
		drop(b);
	}
	drop(all);
	drop(c);
}

/* Finds the extremes by search of the list. */
static void test_find(void)
{
	struct keys *all = fold_new(0, NVALUES, all_counts), *k = calloc(1, sizeof *k);
	struct key_found most, least;
	size_t count[NWORDS] = {0}, best = SIZE_MAX, worst = SIZE_MAX;

	for (size_t i = 0; i < NVALUES; i++)
		count[values[i]]++;
	for (size_t i = 0; i < NVALUES; i++) { /* the first of several */
		best = best == SIZE_MAX || count[values[i]] > count[best] ? values[i] : best;
		worst = worst == SIZE_MAX || count[values[i]] < count[worst] ? values[i] : worst;
	}
	moment_keys.combine(k, all);
	ok(keys_find(k, NULL, KEYS_MOST_FREQUENT, &most) && key_nbytes(&most.key) == strlen(words[best]) &&
	   !memcmp(key_text(&most.key), words[best], key_nbytes(&most.key)) && most.times.count == count[best],
	   "the most frequent text");
	ok(keys_find(NULL, k, KEYS_LEAST_FREQUENT, &least) && key_nbytes(&least.key) == strlen(words[worst]) &&
	   !memcmp(key_text(&least.key), words[worst], key_nbytes(&least.key)) && least.times.count == count[worst],
	   "the least frequent text");
	ok(!keys_find(NULL, NULL, KEYS_MOST_FREQUENT, &most), "none of no texts");
	drop(all);
	drop(k);
}

int main(void)
{
	plan_lazy();
	make_texts();
	make_values();
	test_words();
	test_memory();
	test_key();
	test_tables();
	test_word_sets();
	test_identity();
	test_splits();
	test_associativity();
	test_join(1);
	test_join(2);
	test_join(7);
	test_limit();
	test_find();
	return done();
}
