/* SPDX-License-Identifier: MIT
 *
 * group_sample.c - see group_sample.h.
 *
 * If n records draw from G equal keys, n^2 / 2G pairs of them are the same (the birthday problem): from the number of
 * records whose key has come before follows G, as long as these are few.
 */
#include "run/group_sample.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "csv/dfa.h"

#define FNV_BEGIN UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3) /* of FNV-1a: Fowler, Noll, Vo */
#define REPEATED_SHARE 4 /* one record in so many may be of a key that was there before, or groups are few */

static size_t count_lines(const char *text, size_t nbytes)
{
	const char *end = text + nbytes, *at = text;
	size_t n = 0;

	while (at < end && (at = memchr(at, '\n', (size_t)(end - at)))) {
		n++;
		at++;
	}
	return n;
}

double sample_lines_per_byte(const char *text, size_t nbytes)
{
	return nbytes ? (double)count_lines(text, nbytes) / (double)nbytes : 0;
}

/* Hashes of keys. */
struct hash_set {
	uint64_t *slots; /* nslots, a power of 2; 0: none. Owned. */
	size_t nslots, n;
};

static void add_hash(struct hash_set *set, uint64_t hash)
{
	size_t i = (size_t)(hash ^ hash >> 32) & (set->nslots - 1);

	hash |= 1; /* 0 marks an empty slot */
	while (set->slots[i] && set->slots[i] != hash)
		i = (i + 1) & (set->nslots - 1);
	set->n += set->slots[i] == 0;
	set->slots[i] = hash;
}

/* Which fields are keys: bit i, of field i. false: one is too far right. */
static bool key_fields(const struct plan *plan, uint64_t *fields)
{
	*fields = 0;
	for (size_t i = 0; i < plan->nkeys; i++) {
		size_t field = plan->columns[plan->keys[i]].field;
		if (field >= 64)
			return false;
		*fields |= (uint64_t)1 << field;
	}
	return true;
}

static void count_records(const struct plan *plan, uint64_t fields, const char *text, size_t nbytes,
			  struct group_sample *sample, struct hash_set *set)
{
	enum csv_state state = CSV_FIELD_START;
	uint64_t hash = FNV_BEGIN, wanted = fields;
	unsigned char classes[256];

	for (int byte = 0; byte < 256; byte++)
		classes[byte] = (unsigned char)csv_dialect_classify(&plan->dialect, (char)byte);
	for (size_t i = 0; i < nbytes; i++) {
		enum csv_class c = classes[(unsigned char)text[i]];
		bool inside = state == CSV_QUOTED;
		state = csv_full_step(state, c);
		if (wanted & 1) {
			hash = (hash ^ (unsigned char)text[i]) * FNV_PRIME;
			sample->nbytes++;
		}
		if (inside || (c != CSV_DELIMITER && c != CSV_NEWLINE))
			continue;
		wanted >>= 1;
		if (c == CSV_DELIMITER)
			continue;
		add_hash(set, hash);
		sample->nrecords++;
		hash = FNV_BEGIN;
		wanted = fields;
	}
}

struct group_sample group_sample_count(const struct plan *plan, const char *text, size_t nbytes)
{
	struct group_sample sample = {0, 0, 0};
	struct hash_set set = {NULL, 1, 0};
	uint64_t fields;

	if (plan->dialect.whitespace || !key_fields(plan, &fields))
		return sample;
	while (set.nslots < 2 * (count_lines(text, nbytes) + 1)) /* there are fewer records */
		set.nslots *= 2;
	set.slots = calloc(set.nslots, sizeof *set.slots);
	if (set.slots)
		count_records(plan, fields, text, nbytes, &sample, &set);
	free(set.slots);
	sample.nkeys = set.n;
	return sample;
}

double group_sample_ngroups(const struct group_sample *s, double nrecords)
{
	size_t nrepeated = s->nrecords - s->nkeys;
	double n = (double)s->nrecords, ngroups;

	if (s->nrecords < REPEATED_SHARE || nrepeated > s->nrecords / REPEATED_SHARE)
		return 0;
	ngroups = n * n / (2.0 * (double)(nrepeated ? nrepeated : 1));
	return nrecords * ngroups / (nrecords + ngroups); /* some of them do not come: about 1 - e^-x, and simpler */
}
