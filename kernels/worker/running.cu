/* SPDX-License-Identifier: MIT
 *
 * running.cu - the GPU worker's totals by group (--by with new columns).
 *
 * A chunk is printed with what each of its groups had before it, which only the host knows: it keeps the groups of the
 * run, as for chunks that CPUs print. So a worker finds the groups of one chunk in a table of its own, and copies them to
 * the host when the chunk has been folded. In the chunk's turn the host exchanges them for what they had before
 * (groups_exchange), which is copied to the device: some bytes for each group. The totals are scans over the records, sorted
 * by group (kernels/emit/emission.cuh).
 *
 * The CPU folds and prints the chunk if any record is listed as an exception, and prints it if totals may not fit
 * 126 bits.
 */
#include <string.h>

#include "kernels/worker/worker.cuh"

extern "C" {
#include "fold/groups.h"
}

#define LIKELY_KEY_NBYTES 16
#define SMALL_NBYTES ((size_t)1 << 16) /* copied by a kernel: it need not wait for the texts of other streams */
#define WORDS_NBYTES_LIKELY ((size_t)1 << 20)
#define TOTAL_LIMIT ((int128)(((uint128)1 << 126) - 2)) /* two of them fit 128 bits, beside the identities */

/* ---- memory ---- */

/* A copy between pinned and device memory, whose arrays are padded as arenas' are. */
static cudaError_t copy_groups(struct worker *w, void *to, const void *from, size_t nbytes, enum cudaMemcpyKind kind)
{
	return nbytes <= SMALL_NBYTES ? worker_copy_small(w, to, from, nbytes)
				      : cudaMemcpyAsync(to, from, nbytes, kind, w->stream);
}

enum status running_open(struct worker *w, struct fault *fault)
{
	struct running_groups *g = &w->running;
	struct group_layout layout;
	enum status status;

	group_layout_make(&layout, w->plan);
	status = worker_group_table_open(w, &g->table, 1, /* room for a group of each record */
					 2 * worker_likely_nrecords(w) *
						 (layout.nwords * sizeof(uint64_t) + LIKELY_KEY_NBYTES),
					 2 * worker_likely_nrecords(w), fault);
	g->table.hash_mask = UINT64_MAX >> GROUP_TABLE_PART_BITS; /* one part has all keys */
	g->wanted = true;
	w->group_table = &g->table;
	if (status == STATUS_OK)
		GPU_TRY("pin memory", pinned_buffer_need(&g->words, WORDS_NBYTES_LIKELY));
	return status;
}

void running_close(struct worker *w)
{
	worker_group_table_free(&w->running.table);
	(void)pinned_buffer_free(&w->running.words);
	(void)pinned_buffer_free(&w->running.before);
}

/* ---- the chunk's groups ---- */

enum status running_launch_groups(struct worker *w, const struct chunk *chunk, struct fault *fault)
{
	struct running_groups *g = &w->running;

	TRY(worker_group_table_clear(w, &g->table, 1, fault));
	TRY(worker_launch_groups(w, chunk, fault));
	GPU_TRY("copy groups", worker_copy_small(w, g->control, g->table.control, sizeof *g->control));
	return STATUS_OK;
}

/* The groups' words that were copied to the host. The table's first word is no group's, and comes with them, since copies begin
 * at multiples of 16 bytes. */
static uint64_t *words_of(const struct running_groups *g)
{
	return (uint64_t *)g->words.data + 1;
}

enum status running_add_groups(struct worker *w, struct partial *out, struct fault *fault)
{
	struct running_groups *g = &w->running;
	size_t nwords = group_part_nwords(g->table, *g->control, 0), nbytes = (1 + nwords) * sizeof(uint64_t), nused;
	enum status status;

	g->ngroups = 0;
	GPU_TRY("pin memory", pinned_buffer_need(&g->words, nbytes + ARENA_ALIGN));
	GPU_TRY("copy groups", copy_groups(w, g->words.data, g->table.words, nbytes, cudaMemcpyDeviceToHost));
	TRY(worker_wait(w, "copy groups", fault));
	out->groups = out->groups ? out->groups : groups_new(w->plan);
	NEED(out->groups);
	groups_drop_index(out->groups);
	status = group_words_add(out->groups, &g->table.layout, g->control->scales, words_of(g), nwords, &nused);
	g->ngroups = (uint32_t)out->groups->ngroups;
	return status == STATUS_OK ? status : partial_fault(out, w->plan, status, fault);
}

/* ---- what they had before ---- */

/* The same layout in pinned and device memory: where the groups begin, then for each new column a carry for each
 * group, and one for records without a group. */
static void before_cut(const struct worker *w, struct arena *a, uint32_t **begins, struct emission_carry **carries)
{
	*begins = arena_cut<uint32_t>(a, w->running.ngroups);
	*carries = arena_cut<struct emission_carry>(a, w->plan->nnew_columns * (w->running.ngroups + (size_t)1));
}

/* The visit of all groups of a chunk. */
struct carrying {
	struct worker *w;
	struct emission_carry *carries; /* as before_cut lays them out */
	size_t stride;
	size_t next; /* group */
};

/* Sets *carry to what numbers had. Returns false where their total is wide. It has their largest scale, at which records print it
 * (emission.cuh): an extreme's own may be smaller. */
static bool carry_of(enum new_column_kind kind, const struct number_sums *sums, struct emission_carry *carry)
{
	*carry = {(int128)sums->count, 0};
	if (kind == NEW_COUNT)
		return true;
	*carry = {emission_identity(kind), 0};
	if (sums->count == 0)
		return true;
	carry->scale = sums->scale;
	return exact_to_int128(numbers_total(kind, sums), sums->scale, &carry->total);
}

/* Notes what a group had. Fails if a total is wide, or there is no memory: the CPU prints the chunk, or says so. */
static enum status carry_group(void *context, struct group *group)
{
	struct carrying *c = (struct carrying *)context;
	const struct plan *plan = c->w->plan;
	struct new_fields *fields = &c->w->on_cpu.fields;
	const char *states = new_fields_group(fields, group);

	for (size_t i = 0; states && i < plan->nnew_columns; i++) {
		const enum new_column_kind kind = plan->new_columns[i].kind;
		struct number_sums sums;
		if (kind == NEW_BYTE_OFFSET)
			continue;
		numbers_get((const struct numbers *)(states + fields->offsets[i]), &sums); /* a struct running begins with them */
		if (!carry_of(kind, &sums, &c->carries[i * c->stride + c->next]))
			states = NULL;
	}
	fields->ngroups = 0; /* the CPU may have to print the chunk yet, from the beginning */
	group->state = 0;
	c->next++;
	return states ? STATUS_OK : STATUS_NO_MEMORY;
}

/* Whether no total of a column can reach 2^126, even if all of the chunk's numbers, of one group, were as far from 0
 * as a number can be. farthest: from 0, of the carries. */
static bool totals_fit(int128 farthest, int scale, const struct column_tally *t, bool adds)
{
	int128 number = 1, n = adds ? t->nnumbers : 1;

	if (t->scales == 0)
		return farthest < TOTAL_LIMIT;
	if (!decimal_rescale(&number, DECIMAL_NDIGITS + scale - __builtin_ctz(t->scales)) || number > TOTAL_LIMIT / n)
		return false;
	return farthest < TOTAL_LIMIT - number * n;
}

/* Brings a column's carries to one scale. Returns false if the CPU must print it. */
static bool prepare_total(struct worker *w, struct emission_column *c, struct emission_carry *carries)
{
	const struct column_tally *t = &w->tally[c->column];
	const int128 none = emission_identity(c->kind);
	int128 farthest = 0;

	if (c->kind == NEW_COUNT)
		return true;
	c->scale = t->scales ? 31 - __builtin_clz(t->scales) : 0;
	for (uint32_t g = 0; g < w->running.ngroups; g++)
		c->scale = carries[g].scale > c->scale ? carries[g].scale : c->scale;
	for (uint32_t g = 0; g < w->running.ngroups; g++) {
		int128 *total = &carries[g].total;
		if (*total == none)
			continue;
		if (*total < -TOTAL_LIMIT || !decimal_rescale(total, c->scale - carries[g].scale))
			return false;
		farthest = *total > farthest ? *total : -*total > farthest ? -*total : farthest;
	}
	return totals_fit(farthest, c->scale, t, c->kind == NEW_SUM);
}

/* Fills what is copied to the device. Returns false if the CPU must print the chunk. */
static bool fill_before(struct worker *w, const struct partial *before)
{
	struct running_groups *g = &w->running;
	struct carrying c = {w, NULL, g->ngroups + (size_t)1, 0};
	struct arena arena = {g->before.data, 0};
	uint32_t *begins;
	bool fits;

	before_cut(w, &arena, &begins, &c.carries);
	memset(c.carries, 0, w->plan->nnew_columns * c.stride * sizeof *c.carries);
	group_words_list(&g->table.layout, words_of(g), group_part_nwords(g->table, *g->control, 0), begins);
	fits = g->ngroups == 0 || groups_each(before->groups, carry_group, &c) == STATUS_OK;
	for (size_t i = 0; i < w->plan->nnew_columns && fits; i++)
		fits = w->columns[i].kind == NEW_BYTE_OFFSET ||
		       prepare_total(w, &w->columns[i], &c.carries[i * c.stride]);
	return fits;
}

enum status running_prepare(struct worker *w, const struct partial *before, bool *fits, struct fault *fault)
{
	uint32_t ngroups = w->running.ngroups;
	struct arena arena = {NULL, 0};
	struct emission_carry *carries;
	uint32_t *begins;

	*fits = ngroups == (before->groups ? before->groups->ngroups : 0);
	if (!*fits)
		return STATUS_OK;
	before_cut(w, &arena, &begins, &carries);
	GPU_TRY("pin memory", pinned_buffer_need(&w->running.before, arena.nbytes));
	*fits = fill_before(w, before);
	return STATUS_OK;
}

/* ---- totals ---- */

void running_cut(struct worker *w, struct arena *a, struct emission *e)
{
	struct emission_order *o = &e->order;
	struct emission_carry *carries;
	size_t n = e->nrecords;
	uint32_t *begins;

	before_cut(w, a, &begins, &carries);
	for (size_t i = 0; carries && i < w->plan->nnew_columns; i++)
		w->columns[i].carries = carries + i * (w->running.ngroups + (size_t)1);
	*o = {begins, w->running.table.words + 1, (uint32_t)table_ncolumns(w->plan), w->running.ngroups, NULL, NULL, NULL,
	      NULL};
	o->groups = arena_cut<uint32_t>(a, n);
	o->sorted = arena_cut<uint32_t>(a, n);
	o->numbers = arena_cut<uint32_t>(a, n);
	o->records = arena_cut<uint32_t>(a, n);
}

enum status running_launch_order(struct worker *w, const struct emission &e, struct fault *fault)
{
	const struct running_groups *g = &w->running;
	struct arena arena = {NULL, 0};
	struct emission_carry *carries;
	uint32_t *begins;

	before_cut(w, &arena, &begins, &carries);
	GPU_TRY("copy totals", copy_groups(w, (void *)e.order.begins, g->before.data, arena.nbytes, cudaMemcpyHostToDevice));
	GPU_TRY("launch order", emission_order_launch(e, w->stream));
	return STATUS_OK;
}
