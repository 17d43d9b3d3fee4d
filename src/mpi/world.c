/* SPDX-License-Identifier: MIT
 *
 * world.c - see world.h.
 */
#include "mpi/world.h"

#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "base/cores.h"
#include "base/memory_limit.h"
#include "run/device_choice.h"

/* The cores that a rank may run on. */
#define CORES_NBYTES 128
struct allowed_cores {
	unsigned char mask[CORES_NBYTES];
};

/* mpirun may bind each rank to cores of its own, or none: those with the same cores share them. */
static int count_sharers(MPI_Comm host, int nlocal)
{
	struct allowed_cores mine = {{0}}, *all = calloc((size_t)nlocal, sizeof *all);
	int n = 0;

#ifdef __linux__
	(void)sched_getaffinity(0, sizeof mine.mask, (cpu_set_t *)mine.mask); /* fails: all seem to share */
#endif
	if (!all)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Allgather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, host);
	for (int i = 0; i < nlocal; i++)
		n += !memcmp(&all[i], &mine, sizeof mine);
	free(all);
	return n;
}

void world_open(struct world *w, int *argc, char ***argv)
{
	int provided;
	MPI_Comm host;

	MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &w->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &w->nranks);
	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, w->rank, MPI_INFO_NULL, &host);
	MPI_Comm_rank(host, &w->local_rank);
	MPI_Comm_size(host, &w->nlocal);
	w->nsharers = count_sharers(host, w->nlocal);
	MPI_Comm_free(&host);
}

void world_close(void)
{
	MPI_Finalize();
}

int world_first_fault(const struct world *w, enum status status)
{
	int mine = status == STATUS_OK ? w->nranks : w->rank, first;

	MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
	return first;
}

void world_share(void *data, size_t nbytes, int from)
{
	char *at = data;

	for (size_t n; nbytes > 0; at += n, nbytes -= n) {
		n = nbytes < INT_MAX ? nbytes : INT_MAX;
		MPI_Bcast(at, (int)n, MPI_BYTE, from, MPI_COMM_WORLD);
	}
}

bool world_any(bool is)
{
	int mine = is, any;

	MPI_Allreduce(&mine, &any, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
	return any;
}

void world_share_host(const struct world *w, struct options *o)
{
	int ncores = o->nthreads ? 0 : cores_count();
	int ngpus = o->device == DEVICE_CPU || o->device_number >= 0 || w->nlocal == 1 ? 0 : devices_estimate_gpus();

	if (!o->nthreads)
		o->nthreads = ncores > w->nsharers ? ncores / w->nsharers : 1;
	if (ngpus > 0)
		o->device_number = w->local_rank % ngpus;
	memory_limit_set(o->memory_nbytes ? o->memory_nbytes : memory_limit_nbytes() / (uint64_t)w->nlocal);
}
