/* SPDX-License-Identifier: MIT
 *
 * text.c - see text.h.
 */
#include "mpi/text.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/part.h"
#include "fold/groups.h"

#define TEXT_FOLDER "/dev/fd/"
#define BLOCK_NBYTES (1 << 30) /* a message's length is an int */

/* ---- a text ---- */

int text_new(void)
{
#ifdef __linux__
	return memfd_create("gpustat-part", MFD_CLOEXEC);
#else
	FILE *file = tmpfile();
	int text = file ? dup(fileno(file)) : NO_TEXT;

	if (file)
		fclose(file);
	return text;
#endif
}

void text_close(int *text)
{
	if (*text != NO_TEXT)
		close(*text);
	*text = NO_TEXT;
}

FILE *text_stream(int text)
{
	int copy = dup(text);
	FILE *stream = copy < 0 ? NULL : fdopen(copy, "w");

	if (!stream && copy >= 0)
		close(copy);
	return stream;
}

void text_name(int text, char name[TEXT_NAME_NBYTES])
{
	lseek(text, 0, SEEK_SET); /* where opening the name is a dup() */
	snprintf(name, TEXT_NAME_NBYTES, TEXT_FOLDER "%d", text);
}

/* ---- messages ---- */

/* Sends, or receives, nbytes at data. */
static void pass(char *data, int64_t nbytes, int rank, bool sends)
{
	for (int64_t n; nbytes > 0; data += n, nbytes -= n) {
		n = nbytes < BLOCK_NBYTES ? nbytes : BLOCK_NBYTES;
		if (sends)
			MPI_Send(data, (int)n, MPI_BYTE, rank, 0, MPI_COMM_WORLD);
		else
			MPI_Recv(data, (int)n, MPI_BYTE, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
}

/* NULL: out of memory. */
static char *map_text(int text, int64_t nbytes, int protection)
{
	char *data = mmap(NULL, (size_t)nbytes, protection, MAP_SHARED, text, 0);

	return data == MAP_FAILED ? NULL : data;
}

/* The receiver says whether it has memory before the bytes come. */
enum status text_send(int text, int to, struct fault *fault)
{
	struct stat st = {.st_size = 0};
	int64_t nbytes = text == NO_TEXT || fstat(text, &st) != 0 ? 0 : (int64_t)st.st_size;
	char *data = nbytes ? map_text(text, nbytes, PROT_READ) : NULL;
	int is_ready = 0;
	bool fails = nbytes > 0 && !data;

	nbytes = data ? nbytes : 0;
	MPI_Send(&nbytes, 1, MPI_INT64_T, to, 0, MPI_COMM_WORLD);
	if (data)
		MPI_Recv(&is_ready, 1, MPI_INT, to, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (is_ready)
		pass(data, nbytes, to, true);
	if (data)
		munmap(data, (size_t)nbytes);
	return fails ? fault_set(fault, STATUS_NO_MEMORY, 0, NULL) : STATUS_OK;
}

enum status text_receive(int *text, int from, struct fault *fault)
{
	int64_t nbytes;
	char *data = NULL;
	int is_ready;

	*text = NO_TEXT;
	MPI_Recv(&nbytes, 1, MPI_INT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (nbytes == 0)
		return STATUS_OK;
	*text = text_new();
	if (*text != NO_TEXT && posix_fallocate(*text, 0, (off_t)nbytes) == 0)
		data = map_text(*text, nbytes, PROT_READ | PROT_WRITE);
	is_ready = data != NULL;
	MPI_Send(&is_ready, 1, MPI_INT, from, 0, MPI_COMM_WORLD);
	if (!data) {
		text_close(text);
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	}
	pass(data, nbytes, from, false);
	munmap(data, (size_t)nbytes);
	return STATUS_OK;
}

/* ---- merging ---- */

/* A merge's own copies of what merge_parts and part_write take. */
struct text_merging {
	struct options options;
	struct query query;
	struct total total;
	struct merge merge;
};

static enum status write_merged(struct text_merging *m, int to, struct fault *fault)
{
	FILE *stream = text_stream(to);
	struct part_scope scope;
	enum status status;

	if (!stream)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	merge_scope(&m->merge, &scope);
	status = part_write(&m->options, &m->query, &m->total, &scope, stream, fault);
	if (fclose(stream) != 0 && status == STATUS_OK)
		return fault_set(fault, STATUS_WRITE, errno, NULL);
	return status;
}

enum status text_merge(const int *texts, int n, const struct options *o, int *merged, struct fault *fault)
{
	char names[TEXTS_MAX][TEXT_NAME_NBYTES];
	const char *paths[TEXTS_MAX];
	static struct text_merging m;
	enum status status;

	m = (struct text_merging){.options = {.partial = true, .nthreads = o->nthreads, .paths = paths, .npaths = n,
					     .memory_nbytes = o->memory_nbytes}};
	for (int i = 0; i < n; i++) {
		text_name(texts[i], names[i]);
		paths[i] = names[i];
	}
	m.merge = (struct merge){.options = &m.options, .query = &m.query, .total = &m.total};
	*merged = text_new();
	status = *merged == NO_TEXT ? fault_set(fault, STATUS_NO_MEMORY, 0, NULL) : merge_parts(&m.merge, fault);
	if (status == STATUS_OK)
		status = write_merged(&m, *merged, fault);
	text_forget_name(fault);
	if (status != STATUS_OK)
		return status; /* the job ends, and fault points into m */
	total_free(&m.total);
	group_store_free(m.query.plan.groups);
	query_free(&m.query);
	merge_free(&m.merge);
	options_free(&m.options);
	return status;
}

void text_forget_name(struct fault *fault)
{
	if (fault->file && !strncmp(fault->file, TEXT_FOLDER, strlen(TEXT_FOLDER))) {
		fault->file = NULL;
		fault->line = 0;
	}
}

/* Merges what the rank has, and sends it on. */
static enum status send_on(const struct options *o, int *texts, int n, int to, enum status status, struct fault *fault)
{
	int merged = NO_TEXT;

	if (n == 1) {
		merged = texts[0];
		texts[0] = NO_TEXT;
	} else if (n > 1 && status == STATUS_OK)
		status = text_merge(texts, n, o, &merged, fault);
	if (status != STATUS_OK)
		text_close(&merged);
	for (int i = 0; i < n; i++)
		text_close(&texts[i]);
	if (text_send(merged, to, fault) != STATUS_OK)
		status = fault->status;
	text_close(&merged);
	return status;
}

enum status text_gather(const struct world *w, const struct options *o, int mine, int texts[TEXTS_MAX], int *ntexts,
			struct fault *fault)
{
	enum status status = STATUS_OK;
	int n = 0, step = 1;

	if (mine != NO_TEXT)
		texts[n++] = mine;
	for (; w->rank % (2 * step) == 0 && step < w->nranks; step *= 2) {
		if (w->rank + step >= w->nranks)
			continue;
		if (text_receive(&texts[n], w->rank + step, fault) != STATUS_OK)
			status = fault->status;
		n += texts[n] != NO_TEXT;
	}
	*ntexts = n;
	if (w->rank == 0)
		return status;
	*ntexts = 0;
	return send_on(o, texts, n, w->rank - step, status, fault);
}
