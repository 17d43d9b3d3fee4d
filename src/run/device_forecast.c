/* SPDX-License-Identifier: MIT
 *
 * device_forecast.c - see device_forecast.h.
 *
 * If n records draw from G equal keys, n^2 / 2G pairs of them are the same (the birthday problem): from the number of
 * records of a sample whose key has come before follows G, as long as these are few.
 */
#include "run/device_forecast.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "csv/dfa.h"

/* Seconds of a core (Xeon with AVX-512, 16 threads, 900 million numbers in 16 GB, and 4.4 GB of packed logs,
 * 2026-11-23: docs/speed.md): to read and fold a byte of text; to decode a packed byte, and fold its text; to keep a
 * number and search it; to keep a number's text and tell how many differ. */
#define READ_S 0.5e-9
#define DECODE_S 7.5e-9
#define VALUE_S 18e-9
#define KEY_S 36e-9

/* Groups (logs, 2 to 16 GB, up to 86 million groups by path and 17 million by host; an H200 and 16 cores, 2026-11-24): for
 * the CPUs to find a record's group among many, and to make and print a new one, whose key is short (fold/key.h) or long;
 * for a GPU to find a group, which a core does not do; for a core to print what a GPU has made. */
#define FIND_S 170e-9
#define MAKE_SHORT_S 300e-9
#define MAKE_LONG_S 750e-9
#define GPU_FIND_S 1.4e-9
#define PRINT_SHORT_S 60e-9
#define PRINT_LONG_S 135e-9
#define SHORT_NBYTES 16 /* of a key and its delimiter */
#define SAMPLE_NRECORDS_MIN 4000

/* The CPUs must take so many times as long: other cores and other text are other constants. */
#define SURE 1.25

/* ---- groups in a sample ---- */

#define FNV_BEGIN UINT64_C(0xcbf29ce484222325)
#define FNV_PRIME UINT64_C(0x100000001b3) /* of FNV-1a: Fowler, Noll, Vo */
#define REPEATED_SHARE 4 /* one record in so many may be of a key that was there before, or groups are few */

static size_t count_line_ends(const char *text, size_t nbytes)
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
	return nbytes ? (double)count_line_ends(text, nbytes) / (double)nbytes : 0;
}

/* Records of a sample, how many different keys they have, and the bytes of all records' keys with their delimiters. */
struct group_sample {
	size_t nrecords, nkeys, nbytes;
};

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

/* Counts a text that begins with a record, up to the last record that it has whole. The keys are compared by hashes
 * of their fields as they stand in the text: an estimate is made of it, and nothing else. Returns 0 records where fields end
 * at blanks, or memory is short. Cost: some ns a byte. */
static struct group_sample count_sample(const struct plan *plan, const char *text, size_t nbytes)
{
	struct group_sample sample = {0, 0, 0};
	struct hash_set set = {NULL, 1, 0};
	uint64_t fields;

	if (plan->dialect.whitespace || !key_fields(plan, &fields))
		return sample;
	while (set.nslots < 2 * (count_line_ends(text, nbytes) + 1)) /* there are fewer records */
		set.nslots *= 2;
	set.slots = calloc(set.nslots, sizeof *set.slots);
	if (set.slots)
		count_records(plan, fields, text, nbytes, &sample, &set);
	free(set.slots);
	sample.nkeys = set.n;
	return sample;
}

/* The groups that nrecords records are likely to have, if their keys are as evenly spread as the sample's; 0: few, at
 * most some times as many as the sample has records. */
static double likely_ngroups(const struct group_sample *s, double nrecords)
{
	size_t nrepeated = s->nrecords - s->nkeys;
	double n = (double)s->nrecords, ngroups;

	if (s->nrecords < REPEATED_SHARE || nrepeated > s->nrecords / REPEATED_SHARE)
		return 0;
	ngroups = n * n / (2.0 * (double)(nrepeated ? nrepeated : 1));
	return nrecords * ngroups / (nrecords + ngroups); /* some of them do not come: about 1 - e^-x, and simpler */
}

/* ---- the forecast ---- */

/* Seconds of a core for what a record's values leave to do when all have been read. */
static double seconds_kept(const struct plan *plan)
{
	double s = 0;

	for (size_t c = 0; c < plan->ncolumns; c++) {
		s += plan->columns[c].needs & MOMENT_VALUES ? VALUE_S : 0;
		s += plan->columns[c].needs & MOMENT_KEYS ? KEY_S : 0;
	}
	return s;
}

static double records_per_byte(const struct forecast *f)
{
	return sample_lines_per_byte(f->sample, f->sample_nbytes);
}

struct forecast_groups forecast_groups_of(const struct forecast *f)
{
	struct group_sample sample = {0, 0, 0};

	if (f->plan->nkeys && f->nbytes > 0 && f->plan->where == PREDICATE_NONE && !f->plan->emits)
		sample = count_sample(f->plan, f->sample, f->sample_nbytes);
	if (sample.nrecords < SAMPLE_NRECORDS_MIN)
		return (struct forecast_groups){0, false};
	return (struct forecast_groups){likely_ngroups(&sample, f->nbytes * records_per_byte(f)),
					sample.nbytes > SHORT_NBYTES * sample.nrecords};
}

/* Whether a GPU is likely to be faster, where groups are many: neither helps the other then. */
static bool groups_are_for_gpu(const struct forecast *f)
{
	double nrecords = f->nbytes * records_per_byte(f);
	double make_s = f->groups.are_long ? MAKE_LONG_S : MAKE_SHORT_S;
	double print_s = f->groups.are_long ? PRINT_LONG_S : PRINT_SHORT_S;
	double cpu_s = f->nbytes * READ_S + nrecords * FIND_S + f->groups.n * make_s; /* of a core */

	return cpu_s / f->ncores > f->gpu_s + nrecords * GPU_FIND_S + f->groups.n * print_s / f->ncores;
}

bool forecast_gpu_alone(const struct forecast *f)
{
	double kept = f->plan->nkeys ? 0 : seconds_kept(f->plan) * records_per_byte(f); /* a byte */
	double nbytes = f->nbytes_packed > 0 ? f->nbytes_packed * FORECAST_TEXT_RATIO : f->nbytes;
	double read = f->nbytes_packed > 0 ? f->nbytes_packed * DECODE_S : f->nbytes * READ_S;

	if (f->groups.n > 0)
		return groups_are_for_gpu(f);
	if (kept <= 0 && f->can_share)
		return false; /* the run will show its speed */
	return (read + nbytes * kept) / f->ncores > f->gpu_s * SURE;
}

int forecast_ngpus(double work_s, double more_s)
{
	int n = 1;

	while (work_s / n - work_s / (n + 1) > more_s)
		n++;
	return n;
}
