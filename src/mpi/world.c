/* SPDX-License-Identifier: MIT
 *
 * world.c - see world.h.
 */
#include "mpi/world.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/machine.h"
#include "run/device_choice.h"

/* What a rank sends of itself. Part of what versions have in common. */
#define VERSION_NBYTES 64
#define HOST_NBYTES 256

static char version[VERSION_NBYTES] = "gpustat-mpi " PACKAGE_VERSION; /* sent from here, so the program has it as it stands */

struct identity {
	char version[VERSION_NBYTES];
	char host[HOST_NBYTES];
};

void world_open(struct world *w, int *argc, char ***argv)
{
	int provided;

	MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &w->rank);
	MPI_Comm_size(MPI_COMM_WORLD, &w->nranks);
}

static void identify(struct identity *to)
{
	char host[MPI_MAX_PROCESSOR_NAME + 1] = "";
	int nbytes = 0;

	memset(to, 0, sizeof *to);
	memcpy(to->version, version, sizeof version);
	MPI_Get_processor_name(host, &nbytes);
	static_assert(sizeof to->host <= sizeof host, "the rest of a longer name is left out");
	memcpy(to->host, host, sizeof to->host - 1);
}

enum status world_check_version(const struct world *w, int *first, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES];
	struct identity mine, theirs;
	enum status status = STATUS_OK;

	identify(&mine);
	theirs = mine;
	world_share(&theirs, sizeof theirs, 0);
	theirs.version[VERSION_NBYTES - 1] = theirs.host[HOST_NBYTES - 1] = '\0';
	if (strcmp(mine.version, theirs.version)) {
		snprintf(words, sizeof words, "rank %d on %.40s is %s, rank 0 on %.40s is %s", w->rank, mine.host,
			 mine.version, theirs.host, theirs.version);
		status = fault_set(fault, STATUS_RANK_VERSION, 0, words);
		snprintf(fault->remedy, sizeof fault->remedy, "one version on all hosts");
	}
	*first = world_first_fault(w, status);
	return status;
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

/* ---- a host's ranks ---- */

/* The cores that a rank may run on. */
#define CORES_NBYTES 128
struct allowed_cores {
	unsigned char mask[CORES_NBYTES];
};

/* The ranks of a host. */
struct host {
	int local_rank, nlocal;
	int nsharers; /* that may run on the same cores as this rank, with this one */
};

/* mpirun may bind each rank to cores of its own, or bind no rank: those with the same cores share them. */
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

static void find_host(const struct world *w, struct host *h)
{
	MPI_Comm host;

	MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, w->rank, MPI_INFO_NULL, &host);
	MPI_Comm_rank(host, &h->local_rank);
	MPI_Comm_size(host, &h->nlocal);
	h->nsharers = count_sharers(host, h->nlocal);
	MPI_Comm_free(&host);
}

void world_share_host(const struct world *w, struct options *o)
{
	int ncores = o->nthreads ? 0 : cores_count(), ngpus;
	struct host h;

	find_host(w, &h);
	ngpus = o->device == DEVICE_CPU || o->device_number >= 0 || h.nlocal == 1 ? 0 : devices_estimate_gpus();
	if (!o->nthreads)
		o->nthreads = ncores > h.nsharers ? ncores / h.nsharers : 1;
	if (ngpus > 0)
		o->device_number = h.local_rank % ngpus;
	memory_limit_set(o->memory_nbytes ? o->memory_nbytes : memory_limit_nbytes() / (uint64_t)h.nlocal);
}

/* ---- passages ---- */

enum { TAG_BLOCK, TAG_WHOLE, TAG_BROKEN };

void passage_send(struct passage *p, int to, size_t chunk_nbytes)
{
	p->rank = to;
	p->nbytes = 0;
	p->block_nbytes = chunk_nbytes && chunk_nbytes < PASSAGE_NBYTES ? chunk_nbytes : PASSAGE_NBYTES;
}

/* Waits for the other side, which may have much to do before it comes to this: without taking its core. */
static void wait_for(MPI_Request *request, MPI_Status *status)
{
	const struct timespec pause = {.tv_nsec = 50000};
	int is_done = 0;

	for (unsigned ntests = 0; !is_done; ntests++) {
		if (ntests > 200)
			nanosleep(&pause, NULL);
		MPI_Test(request, &is_done, status);
	}
}

static void send_block(struct passage *p, int tag)
{
	MPI_Request request;

	MPI_Isend(p->data, (int)p->nbytes, MPI_BYTE, p->rank, tag, MPI_COMM_WORLD, &request);
	wait_for(&request, MPI_STATUS_IGNORE);
	p->nbytes = 0;
}

bool passage_write(void *passage, const char *text, size_t nbytes)
{
	struct passage *p = passage;

	for (size_t n; nbytes > 0; text += n, nbytes -= n) {
		n = p->block_nbytes - p->nbytes < nbytes ? p->block_nbytes - p->nbytes : nbytes;
		memcpy(p->data + p->nbytes, text, n);
		p->nbytes += n;
		if (p->nbytes == p->block_nbytes)
			send_block(p, TAG_BLOCK);
	}
	return true;
}

void passage_end(struct passage *p, bool is_whole)
{
	if (p->nbytes)
		send_block(p, TAG_BLOCK);
	send_block(p, is_whole ? TAG_WHOLE : TAG_BROKEN);
}

static void receive_block(struct passage *p)
{
	MPI_Request request;
	MPI_Status got;
	int n;

	MPI_Irecv(p->data, PASSAGE_NBYTES, MPI_BYTE, p->rank, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
	wait_for(&request, &got);
	MPI_Get_count(&got, MPI_BYTE, &n);
	p->nbytes = (size_t)n;
	p->at = 0;
	p->has_ended = got.MPI_TAG != TAG_BLOCK;
	p->is_whole = got.MPI_TAG == TAG_WHOLE;
}

bool passage_receive(struct passage *p, int from)
{
	p->rank = from;
	receive_block(p);
	return !p->has_ended;
}

ssize_t passage_read(void *passage, char *to, size_t nbytes)
{
	struct passage *p = passage;

	if (p->at == p->nbytes && !p->has_ended)
		receive_block(p);
	nbytes = nbytes < p->nbytes - p->at ? nbytes : p->nbytes - p->at;
	memcpy(to, p->data + p->at, nbytes);
	p->at += nbytes;
	return (ssize_t)nbytes;
}

bool passage_drain(struct passage *p)
{
	while (!p->has_ended)
		receive_block(p);
	return p->is_whole;
}

bool text_write(void *buffer, const char *text, size_t nbytes)
{
	struct text_buffer *to = buffer;

	if (text_append(to, text, nbytes) == STATUS_OK)
		return true;
	errno = ENOMEM;
	return false;
}
