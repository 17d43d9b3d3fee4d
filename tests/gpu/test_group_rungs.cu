/* SPDX-License-Identifier: MIT
 *
 * test_group_rungs.cu - each rung of adding up by key (kernels/ladder/group_*.cu) against a loop on the host, which knows
 * the group of each record by its number: keys of every kind, all sizes around a warp and a block, tables that are nearly
 * full, and one that is.
 */
#include "kernel_test.cuh"
#include "kernels/ladder/group_rung.cuh"

#define N_MAX 20000u
#define KEY_NBYTES_MAX 320u

enum keys { KEYS_SHORT, KEYS_EMPTY_TOO, KEYS_LONG, KEYS_ALIKE };

static const struct group_rung *const rungs[] = {&group_simple, &group_warp, &group_shared, &group_sorted};

/* Records of a case, and the group of each. */
struct records {
	char *text;
	uint32_t nbytes, n, ngroups, ends[N_MAX], group_of[N_MAX];
	int64_t values[N_MAX];
};

/* Writes the key of a group, and an LF. Returns its length. */
static uint32_t key_write(char *to, enum keys keys, uint32_t group)
{
	switch (keys) {
	case KEYS_SHORT:
		return (uint32_t)sprintf(to, "k%u\n", group);
	case KEYS_EMPTY_TOO:
		return (uint32_t)sprintf(to, group ? "%u\n" : "\n", group);
	case KEYS_LONG: /* the last byte tells */
		memset(to, 'a', KEY_NBYTES_MAX);
		return KEY_NBYTES_MAX - 20 + (uint32_t)sprintf(to + KEY_NBYTES_MAX - 20, "%06u\n", group);
	default: /* one is the beginning of the next */
		memset(to, 'x', group % 64);
		return group % 64 + (uint32_t)sprintf(to + group % 64, "%u\n", group / 64);
	}
}

static void records_fill(struct records *r, enum keys keys, uint32_t n, uint32_t ngroups)
{
	r->nbytes = 0;
	r->n = n;
	r->ngroups = ngroups;
	for (uint32_t i = 0; i < n; i++) {
		r->group_of[i] = ngroups >= n ? i : random_below(ngroups);
		r->nbytes += key_write(r->text + r->nbytes, keys, r->group_of[i]);
		r->ends[i] = r->nbytes;
		r->values[i] = (int64_t)random_next();
	}
}

/* Whether the slots have each group's count and sum, once. */
static bool slots_are_right(const struct records *r, const struct group_slot *slots, uint32_t nslots)
{
	static struct group_slot want[N_MAX];
	bool right = true;

	memset(want, 0, sizeof want);
	for (uint32_t i = 0; i < r->n; i++) {
		want[r->group_of[i]].count++;
		want[r->group_of[i]].sum += (unsigned long long)r->values[i];
	}
	for (uint32_t k = 0; k < nslots && right; k++) {
		if (slots[k].record == 0)
			continue;
		struct group_slot *w = &want[r->group_of[slots[k].record - 1]];
		right = w->count > 0 && slots[k].count == w->count && slots[k].sum == w->sum;
		*w = {0, 0, 0};
	}
	for (uint32_t g = 0; g < r->n && right; g++)
		right = want[g].count == 0;
	return right;
}

/* Runs a rung. Returns whether the slots are right; *nlost: records for which there was none. */
static bool run_rung(const struct group_rung *rung, const struct records *r, uint32_t nslots, uint64_t hash_mask, uint32_t *nlost)
{
	struct group_run run = {device_copy(r->text, r->nbytes + 16), device_copy(r->ends, r->n + 1), device_copy(r->values, r->n + 1),
				r->n, device_filled<struct group_slot>(nslots, 0), nslots, device_filled<uint32_t>(1, 0), NULL, 0,
				hash_mask};

	run.scratch_nbytes = rung->scratch_nbytes ? rung->scratch_nbytes(r->n) : 1;
	run.scratch = device_filled<char>(run.scratch_nbytes + 1, POISON);
	must(rung->launch(run, 0), rung->name);
	must(cudaDeviceSynchronize(), rung->name);
	struct group_slot *slots = host_copy(run.slots, nslots);
	must(cudaMemcpy(nlost, run.nlost, sizeof *nlost, cudaMemcpyDeviceToHost), "copy back");
	bool right = slots_are_right(r, slots, nslots);
	free(slots);
	for (void *memory : {(void *)run.text, (void *)run.ends, (void *)run.values, (void *)run.slots, (void *)run.nlost, run.scratch})
		device_free(memory);
	return right;
}

static void test_sizes(const struct group_rung *rung, struct records *r, enum keys keys, uint64_t hash_mask, const char *what)
{
	static const uint32_t sizes[] = {0, 1, 31, 32, 33, 255, 256, 257, 4000};
	unsigned nwrong = 0, ncases = 0;

	for (uint32_t n : sizes)
		for (uint32_t ngroups : {1u, 2u, 8u, 1000u, N_MAX}) {
			uint32_t nlost;
			records_fill(r, keys, n, ngroups);
			nwrong += !run_rung(rung, r, 4096, hash_mask, &nlost) || nlost > 0;
			ncases++;
		}
	ok(nwrong == 0, "%s: %s, %u cases", rung->name, what, ncases);
}

/* A table of as many slots as groups, and one with half of them. */
static void test_room(const struct group_rung *rung, struct records *r)
{
	uint32_t nlost;

	records_fill(r, KEYS_SHORT, N_MAX, 2048);
	ok(run_rung(rung, r, 2048, UINT64_MAX, &nlost) && nlost == 0, "%s: a table that becomes full", rung->name);
	ok(!run_rung(rung, r, 1024, UINT64_MAX, &nlost) && nlost > 0, "%s: one without room says so", rung->name);
}

int main(void)
{
	int ndevices = 0;
	struct records *r = (struct records *)calloc(1, sizeof *r);

	if (cudaGetDeviceCount(&ndevices) != cudaSuccess || ndevices == 0)
		skip_all("no CUDA device");
	r->text = (char *)calloc(N_MAX, KEY_NBYTES_MAX + 1);
	for (const struct group_rung *rung : rungs) {
		test_sizes(rung, r, KEYS_SHORT, UINT64_MAX, "short keys");
		test_sizes(rung, r, KEYS_EMPTY_TOO, UINT64_MAX, "an empty key, too");
		test_sizes(rung, r, KEYS_LONG, UINT64_MAX, "long keys");
		test_sizes(rung, r, KEYS_ALIKE, UINT64_MAX, "keys that begin like others");
		test_sizes(rung, r, KEYS_SHORT, 7, "different keys of one hash, on their way to one slot");
		test_sizes(rung, r, KEYS_EMPTY_TOO, UINT64_C(3) << 62, "different keys of one hash");
		test_room(rung, r);
	}
	free(r->text);
	free(r);
	return done();
}
