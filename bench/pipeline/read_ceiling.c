/* SPDX-License-Identifier: MIT
 *
 * read_ceiling.c - see read_ceiling.h.
 */
#include "bench/pipeline/read_ceiling.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/ladder/timing.h"

struct file {
	const char *path;
	int fd;
	uint64_t nbytes, first_piece;
};

struct reading {
	struct file *files;
	int nfiles;
	size_t piece_nbytes;
	uint64_t npieces;
	atomic_uint_fast64_t next; /* piece that nobody has taken */
	atomic_int nready;
	atomic_bool go, failed;
	pthread_mutex_t lock; /* of fault */
	struct fault fault;
};

static void fail(struct reading *r, enum status status, int error_number, const char *path)
{
	pthread_mutex_lock(&r->lock);
	if (!r->failed) {
		fault_set(&r->fault, status, error_number, NULL);
		r->fault.file = path;
	}
	r->failed = true;
	pthread_mutex_unlock(&r->lock);
}

/* ---- one thread ---- */

static struct file *file_of(struct reading *r, uint64_t piece)
{
	int i = r->nfiles - 1;

	while (r->files[i].first_piece > piece)
		i--;
	return &r->files[i];
}

static void read_piece(struct reading *r, uint64_t piece, char *buffer)
{
	const struct file *f = file_of(r, piece);
	uint64_t at = (piece - f->first_piece) * r->piece_nbytes;
	uint64_t end = f->nbytes - at > r->piece_nbytes ? at + r->piece_nbytes : f->nbytes;

	while (at < end) {
		ssize_t n = pread(f->fd, buffer, end - at, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			fail(r, n < 0 ? STATUS_READ : STATUS_SHRANK, n < 0 ? errno : 0, f->path);
			return;
		}
		at += (uint64_t)n;
	}
}

static void *reader_main(void *argument)
{
	struct reading *r = argument;
	char *buffer = malloc(r->piece_nbytes);

	if (buffer)
		memset(buffer, 1, r->piece_nbytes);
	else
		fail(r, STATUS_NO_MEMORY, 0, NULL);
	r->nready++;
	while (!r->go)
		sched_yield();
	for (uint64_t piece; buffer && !r->failed && (piece = r->next++) < r->npieces;)
		read_piece(r, piece, buffer);
	free(buffer);
	return NULL;
}

/* ---- all ---- */

/* Reads everything once; returns how long it took. */
static double read_all(struct reading *r, int nthreads)
{
	pthread_t threads[nthreads];
	int n = 0;
	double begin_ns;

	r->next = 0;
	r->nready = 0;
	r->go = false;
	while (n < nthreads && !pthread_create(&threads[n], NULL, reader_main, r))
		n++;
	while (r->nready < n)
		sched_yield();
	if (n == 0)
		fail(r, STATUS_NO_MEMORY, 0, NULL);
	begin_ns = timing_now_ns();
	r->go = true;
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return timing_now_ns() - begin_ns;
}

static bool open_file(struct reading *r, const char *path, uint64_t *nbytes)
{
	struct file *f = &r->files[r->nfiles];
	struct stat about;

	f->path = path;
	f->fd = open(path, O_RDONLY | O_CLOEXEC);
	if (f->fd < 0 || fstat(f->fd, &about)) {
		fail(r, STATUS_OPEN, errno, path);
		if (f->fd >= 0)
			close(f->fd);
		return false;
	}
	r->nfiles++;
	f->nbytes = (uint64_t)about.st_size;
	f->first_piece = r->npieces;
	r->npieces += (f->nbytes + r->piece_nbytes - 1) / r->piece_nbytes;
	*nbytes += f->nbytes;
	return true;
}

static bool open_files(struct reading *r, const char *const *paths, int npaths, uint64_t *nbytes)
{
	r->files = calloc((size_t)npaths + 1, sizeof *r->files);
	if (!r->files)
		fail(r, STATUS_NO_MEMORY, 0, NULL);
	for (int i = 0; i < npaths && !r->failed; i++)
		open_file(r, paths[i], nbytes);
	return !r->failed;
}

static void time_reading(struct reading *r, int nthreads, unsigned nrepeats,
			 struct bench_time *time)
{
	double *ns = calloc(nrepeats, sizeof *ns);

	if (!ns)
		fail(r, STATUS_NO_MEMORY, 0, NULL);
	read_all(r, nthreads);
	for (unsigned i = 0; i < nrepeats && !r->failed; i++)
		ns[i] = read_all(r, nthreads);
	if (!r->failed)
		*time = timing_summary(ns, nrepeats);
	free(ns);
}

enum status read_ceiling(const char *const *paths, int npaths, int nthreads, size_t piece_nbytes,
			 unsigned nrepeats, struct bench_time *time, uint64_t *nbytes,
			 struct fault *fault)
{
	struct reading r = {.piece_nbytes = piece_nbytes};

	pthread_mutex_init(&r.lock, NULL);
	*nbytes = 0;
	if (open_files(&r, paths, npaths, nbytes))
		time_reading(&r, nthreads, nrepeats, time);
	for (int i = 0; i < r.nfiles; i++)
		close(r.files[i].fd);
	free(r.files);
	pthread_mutex_destroy(&r.lock);
	if (!r.failed)
		return STATUS_OK;
	*fault = r.fault;
	return fault->status;
}
