/* SPDX-License-Identifier: MIT
 *
 * ladder_time.cu - see ladder_time.cuh.
 */
#include "bench/ladder/ladder_time.cuh"

#include "kernels/ladder/value.cuh"
#include "bench/ladder/event_timer.cuh"

#define SLOT_ALIGN 256 /* as cudaMalloc aligns */
#define POOL_NBYTES_MIN ((size_t)512 << 20)
#define POOL_NCACHES 4 /* the pool is at least this many times the L2 cache */
#define POOL_SEED 1

static size_t slot_nbytes(size_t nbytes)
{
	size_t rounded = (nbytes + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;

	return rounded > 0 ? rounded : SLOT_ALIGN;
}

/* Sets *total to the size of the pool for arrays of nbytes. */
static cudaError_t pool_nbytes(size_t nbytes, size_t *total)
{
	int l2_nbytes = 0;
	cudaError_t error = cudaDeviceGetAttribute(&l2_nbytes, cudaDevAttrL2CacheSize, 0);
	size_t least = (size_t)l2_nbytes * POOL_NCACHES, slot = slot_nbytes(nbytes);

	if (least < POOL_NBYTES_MIN)
		least = POOL_NBYTES_MIN;
	*total = 2 * slot > least ? 2 * slot : slot_nbytes(least);
	return error;
}

static cudaError_t pool_fill(const struct ladder_pool *pool)
{
	return value_fill(pool->type, VALUE_ANY, pool->in,
			  pool->in_nbytes / bench_type_nbytes(pool->type), POOL_SEED);
}

cudaError_t ladder_pool_open(struct ladder_pool *pool, enum bench_ladder ladder,
			     enum bench_type type, uint64_t n)
{
	struct ladder_pool p = {type, NULL, NULL, 0, 0};
	cudaError_t error = pool_nbytes(n * bench_type_nbytes(type), &p.in_nbytes);

	p.out_nbytes = ladder == BENCH_REDUCE ? SLOT_ALIGN : p.in_nbytes;
	if (error == cudaSuccess)
		error = cudaMalloc(&p.in, p.in_nbytes);
	if (error == cudaSuccess)
		error = cudaMalloc(&p.out, p.out_nbytes);
	/* The first write to memory is slower: keep it out of what is timed. */
	if (error == cudaSuccess)
		error = cudaMemset(p.out, 0, p.out_nbytes);
	if (error == cudaSuccess)
		error = pool_fill(&p);
	*pool = p;
	return error;
}

void ladder_pool_close(struct ladder_pool *pool)
{
	(void)cudaFree(pool->in);
	(void)cudaFree(pool->out);
	pool->in = pool->out = NULL;
}

struct ladder_slots ladder_slots_of(const struct ladder_pool *pool, size_t nbytes)
{
	struct ladder_slots slots = {pool->in_nbytes / slot_nbytes(nbytes), slot_nbytes(nbytes)};

	return slots;
}

/* A rung that visits the slots in turn. */
struct tour {
	const struct ladder_rung *rung;
	struct ladder_run run;
	const struct ladder_pool *pool;
	struct ladder_slots slots;
	uint64_t nlaunched;
};

/* Refills the pool if the rung has spoiled all of it. */
static cudaError_t tour_prepare(const struct tour *t)
{
	bool all_spoiled = t->nlaunched > 0 && t->nlaunched % t->slots.nslots == 0;

	return t->rung->spoils_input && all_spoiled ? pool_fill(t->pool) : cudaSuccess;
}

static cudaError_t tour_launch(struct tour *t)
{
	size_t at = t->nlaunched++ % t->slots.nslots * t->slots.nbytes;

	/* The pool has one place for the result of a reduction. */
	return t->rung->launch(&t->run, t->pool->in + at,
			       t->pool->out + (at < t->pool->out_nbytes ? at : 0));
}

cudaError_t ladder_time(const struct ladder_rung *rung, enum bench_fold fold, uint64_t n,
			const struct ladder_pool *pool, unsigned nwanted,
			struct bench_time *time)
{
	size_t nbytes = n * bench_type_nbytes(pool->type);
	struct tour t = {rung, {}, pool, ladder_slots_of(pool, nbytes), 0};
	cudaError_t error;

	t.run.type = pool->type;
	t.run.fold = fold;
	t.run.n = n;
	error = rung->open(&t.run);
	if (error == cudaSuccess)
		error = event_timer_warm(
			nwanted, [&t](void) { return tour_prepare(&t); },
			[&t](void) { return tour_launch(&t); }, time);
	ladder_close(&t.run);
	if (error == cudaSuccess && rung->spoils_input)
		error = pool_fill(pool);
	return error;
}
