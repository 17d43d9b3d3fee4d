/* SPDX-License-Identifier: MIT
 *
 * exchange.c - see exchange.h.
 */
#include "mpi/exchange.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "fold/group_images.h"
#include "fold/groups.h"
#include "fold/key.h"

#define MANY_GROUPS 20000 /* of one rank: below, lines of parts cost less than 0.05 s */
#define EXCHANGE_NRANKS 3 /* fewer send all to rank 0 at once: it has to take them in any case */
#define BLOCK_NBYTES ((uint64_t)1 << 30) /* a message's length is an int */

void exchange_share_seed(const struct world *w)
{
	struct key_seed seed = {{0, 0}};

	if (w->rank == 0)
		seed = key_seed_get();
	world_share(&seed, sizeof seed, 0);
	key_seed_set(seed);
}

/* ---- whether it is worth it ---- */

/* Makes a store for a rank that has read nothing. */
static enum status need_store(struct plan *plan)
{
	if (plan->groups)
		return STATUS_OK;
	plan_as_part(plan);
	return groups_plan(plan, 0);
}

/* Tests, which cut chunks short, exchange any number. */
static uint64_t many_groups(const struct rank *r)
{
	return r->run->options.chunk_nbytes ? 1 : MANY_GROUPS;
}

enum status exchange_begin(struct rank *r, bool *is_worth, int *first, struct fault *fault)
{
	struct plan *plan = &r->run->query.plan;
	enum status status = STATUS_OK;

	*is_worth = false;
	*first = r->world->nranks;
	if (plan->nkeys == 0 || plan_is_ordered(plan))
		return status;
	status = need_store(plan);
	if (status == STATUS_OK && r->has_slice && r->run->total.partial.groups)
		status = groups_store(r->run->total.partial.groups);
	if (status == STATUS_OK)
		status = group_store_visit(plan->groups, (size_t)ranks_nthreads(&r->run->query), NULL, NULL);
	if (status != STATUS_OK)
		fault_set(fault, status == STATUS_MANY_KEYS ? STATUS_MANY_GROUPS : status, 0, NULL);
	*first = world_first_fault(r->world, status);
	*is_worth = world_any(status == STATUS_OK && group_store_count(plan->groups) >= many_groups(r));
	return status;
}

/* ---- where each rank's offsets begin ---- */

/* What a rank's offsets say of the next rank's, as in the head of its part (cluster/merge_head.c). */
struct extent {
	uint64_t has_slice, begins_within; /* its first file */
	uint64_t nbytes, last_file;        /* offsets in the slice: its end, and where its last file begins */
};

static struct extent find_extent(const struct rank *r)
{
	struct part_seam left, right;

	if (!r->has_slice)
		return (struct extent){.has_slice = 0};
	rank_find_seams(r, &left, &right);
	return (struct extent){1, left.of > 0, r->run->total.end_bytes, right.offset_bytes};
}

/* *begins = where the offsets of each rank begin in all inputs, modulo 2^64; the caller's. NULL: no memory. */
static uint64_t *find_begins(const struct rank *r)
{
	size_t n = (size_t)r->world->nranks;
	struct extent mine = find_extent(r), *all = calloc(n, sizeof *all);
	uint64_t *begins = calloc(n, sizeof *begins), end = 0, file = 0;
	bool is_full = world_any(!all || !begins);

	if (!is_full) {
		MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, MPI_COMM_WORLD);
		for (size_t i = 0; i < n; i++) {
			if (!all[i].has_slice)
				continue;
			begins[i] = all[i].begins_within ? file : end;
			end = begins[i] + all[i].nbytes;
			file = begins[i] + all[i].last_file;
		}
	}
	free(all);
	if (!is_full)
		return begins;
	free(begins);
	return NULL;
}

/* ---- messages ---- */

/* What one rank has for another. */
struct parcel_size {
	uint64_t nbytes, images_nbytes;
};

/* Sends to one rank while it receives from another. */
static void pass(const struct group_images *out, int to, struct group_images *in, int from, uint64_t block)
{
	for (uint64_t at = 0; at < out->nbytes || at < in->nbytes; at += block) {
		uint64_t nout = at < out->nbytes ? out->nbytes - at : 0, nin = at < in->nbytes ? in->nbytes - at : 0;
		nout = nout < block ? nout : block;
		nin = nin < block ? nin : block;
		MPI_Sendrecv(nout ? out->data + at : NULL, (int)nout, MPI_BYTE, nout ? to : MPI_PROC_NULL, 0,
			     nin ? in->data + at : NULL, (int)nin, MPI_BYTE, nin ? from : MPI_PROC_NULL, 0, MPI_COMM_WORLD,
			     MPI_STATUS_IGNORE);
	}
}

/* Makes room for what comes from each rank. */
static enum status make_room(struct group_images *in, const struct parcel_size *sizes, int n, int rank)
{
	enum status status = STATUS_OK;

	for (int i = 0; i < n && status == STATUS_OK; i++) {
		if (i == rank)
			continue;
		status = group_images_new(&in[i], sizes[i].nbytes);
		in[i].nbytes = sizes[i].nbytes;
		in[i].images_nbytes = sizes[i].images_nbytes;
	}
	return status;
}

/* Exchanges parcels: out[i] goes to rank i, in[i] comes from it. out is freed. */
static enum status pass_all(const struct rank *r, struct group_images *out, struct group_images *in)
{
	int n = r->world->nranks, rank = r->world->rank;
	uint64_t block = r->run->options.chunk_nbytes ? r->run->options.chunk_nbytes : BLOCK_NBYTES;
	struct parcel_size *sizes = calloc(2 * (size_t)n, sizeof *sizes);
	enum status status = STATUS_OK;

	if (world_any(!sizes)) {
		free(sizes);
		return STATUS_NO_MEMORY;
	}
	for (int i = 0; i < n; i++)
		sizes[i] = (struct parcel_size){out[i].nbytes, out[i].images_nbytes};
	MPI_Alltoall(sizes, sizeof *sizes, MPI_BYTE, sizes + n, sizeof *sizes, MPI_BYTE, MPI_COMM_WORLD);
	status = make_room(in, sizes + n, n, rank);
	free(sizes);
	if (world_any(status != STATUS_OK)) {
		for (int i = 0; i < n; i++)
			group_images_free(&in[i]);
		return status;
	}
	in[rank] = out[rank];
	out[rank] = (struct group_images){.data = NULL};
	for (int step = 1; step < n; step++) {
		int to = (rank + step) % n, from = (rank + n - step) % n;
		pass(&out[to], to, &in[from], from, block);
		group_images_free(&out[to]);
	}
	return status;
}

/* ---- all of it ---- */

/* What is on its way. */
struct parcels {
	struct group_images *out, *in; /* one for each rank */
};

static enum status open_parcels(struct parcels *p, int n)
{
	p->out = calloc((size_t)n, sizeof *p->out);
	p->in = calloc((size_t)n, sizeof *p->in);
	return p->out && p->in ? STATUS_OK : STATUS_NO_MEMORY;
}

static void close_parcels(struct parcels *p, int n)
{
	for (int i = 0; i < n && p->out; i++)
		group_images_free(&p->out[i]);
	for (int i = 0; i < n && p->in; i++)
		group_images_free(&p->in[i]);
	free(p->out);
	free(p->in);
}

/* Adds what came in. begins: where their offsets begin; NULL: at 0. */
static enum status add_all(const struct plan *plan, struct group_images *in, int n, const uint64_t *begins)
{
	enum status status = STATUS_OK;

	for (int i = 0; i < n && status == STATUS_OK; i++) {
		status = group_images_add(plan, &in[i], begins ? begins[i] : 0);
		group_images_free(&in[i]);
	}
	return status;
}

/* How groups move. */
struct move {
	const struct plan *from, *to; /* from whose store they are packed, to whose store they come; may be the same */
	bool to_first;                /* to rank 0 only */
	bool keeps;                   /* the rank's own are there already */
	const uint64_t *begins;       /* where each rank's offsets begin; NULL: at 0 */
};

/* Moves a part of the stores: with one seed, all ranks have the same keys in it. */
static enum status move_part(const struct rank *r, const struct move *m, size_t part)
{
	const struct world *w = r->world;
	struct parcels p;
	enum status status = open_parcels(&p, w->nranks);

	if (status == STATUS_OK && !m->keeps)
		status = group_images_pack(group_store_part(m->from->groups, part), p.out, (size_t)w->nranks, m->to_first);
	if (!world_any(status != STATUS_OK))
		status = pass_all(r, p.out, p.in);
	if (status == STATUS_OK)
		status = add_all(m->to, p.in, w->nranks, m->begins);
	close_parcels(&p, w->nranks);
	return status;
}

/* Moves all parts, up to one in which some rank fails. */
static enum status move_all(const struct rank *r, const struct move *m)
{
	enum status status = STATUS_OK;
	bool fails = false;

	for (size_t part = 0; part < STORE_NPARTS && !fails; part++) {
		status = move_part(r, m, part);
		fails = world_any(status != STATUS_OK);
	}
	return status;
}

static enum status note_rest(void *context, struct group *group)
{
	bool *has = context;

	*has = *has || group->rest;
	return STATUS_OK;
}

static bool has_rests(struct group_store *store)
{
	bool has = false;

	for (size_t part = 0; part < STORE_NPARTS && !has && group_rests_exist(); part++)
		groups_each(group_store_part(store, part), note_rest, &has);
	return has;
}

/* Moves all groups to rank 0, which takes over its own store if groups are no more than their cells. */
static enum status collect(const struct rank *r, struct plan *to, const uint64_t *begins)
{
	struct plan *plan = &r->run->query.plan;
	struct move m = {.from = plan, .to = plan, .to_first = true, .begins = begins};
	enum status status = STATUS_OK;

	if (r->world->rank == 0) {
		m.to = to;
		m.keeps = !has_rests(plan->groups);
		status = m.keeps ? group_store_take(to, plan) : STATUS_OK;
	}
	return world_any(status != STATUS_OK) ? status : move_all(r, &m);
}

static enum status fail(const struct rank *r, enum status status, int *first, struct fault *fault)
{
	if (status == STATUS_DAMAGED) /* what a rank has written, another of the same version reads */
		status = STATUS_WRONG_RESULT;
	if (status != STATUS_OK)
		fault_set(fault, status == STATUS_MANY_KEYS ? STATUS_MANY_GROUPS : status, 0, NULL);
	*first = world_first_fault(r->world, status);
	return status;
}

enum status exchange_groups(struct rank *r, struct plan *to, int *first, struct fault *fault)
{
	const struct plan *plan = &r->run->query.plan;
	uint64_t *begins = find_begins(r);
	const struct move to_all = {.from = plan, .to = plan, .begins = begins};
	bool exchanges = r->world->nranks >= EXCHANGE_NRANKS;
	enum status status = begins ? STATUS_OK : STATUS_NO_MEMORY;

	if (status == STATUS_OK && exchanges)
		status = move_all(r, &to_all);
	if (!world_any(status != STATUS_OK))
		status = collect(r, to, exchanges ? NULL : begins);
	free(begins);
	return fail(r, status, first, fault);
}
