/* SPDX-License-Identifier: MIT
 *
 * cut.c - see cut.h.
 */
#include "mpi/cut.h"

#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codec/codec.h"
#include "query/option_table.h"

/* Text is usually three to six times as long as its gzip data. */
#define PACKED_WEIGHT 4

/* ---- the files: looked at by rank 0 ---- */

/* Whether a file begins as no compressed data does. */
static bool is_plain(int fd)
{
	unsigned char data[512];
	const struct codec *codec;
	ssize_t n = pread(fd, data, sizeof data, 0);

	return n > 0 && codec_find(data, (size_t)n, &codec) == CODEC_OTHER;
}

/* Looks at a file. One that cannot be read is an error of the rank that reads it, in the input's order. */
static enum status look_at_file(const char *path, struct file_size *to, struct fault *fault)
{
	struct stat st;
	int fd;

	if (!strcmp(path, "-"))
		return option_fault(fault, "standard input: not every rank can read it: give it as a file");
	if (stat(path, &st) != 0 || S_ISDIR(st.st_mode))
		return STATUS_OK;
	if (!S_ISREG(st.st_mode))
		return option_fault(fault, "%.100s: a pipe or a device, which not every rank can read: give it as a "
				    "file", path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return STATUS_OK;
	*to = (struct file_size){(uint64_t)st.st_size, is_plain(fd)};
	close(fd);
	return STATUS_OK;
}

static enum status look_at_files(struct cut *c, const struct world *w, const char *const *paths,
				 struct fault *fault)
{
	enum status status = STATUS_OK;

	for (int i = 0; w->rank == 0 && i < c->nfiles && status == STATUS_OK; i++)
		status = look_at_file(paths[i], &c->files[i], fault);
	world_share(&status, sizeof status, 0);
	if (status != STATUS_OK)
		fault->status = status; /* rank 0 has the words */
	else
		world_share(c->files, (size_t)c->nfiles * sizeof *c->files, 0);
	return status;
}

/* ---- borders ---- */

static uint64_t weight(const struct file_size *f)
{
	return f->is_plain ? f->nbytes : f->nbytes * PACKED_WEIGHT;
}

/* Where in the files the rank's slice should begin. */
static struct cut_place find_place(const struct cut *c, const struct world *w)
{
	uint64_t all = 0, before = 0;
	int i = 0;

	for (int f = 0; f < c->nfiles; f++)
		all += weight(&c->files[f]);
	if (w->rank == 0)
		return (struct cut_place){0, 0};
	if (all == 0) /* nothing to share: rank 0 says so, or why */
		return (struct cut_place){c->nfiles, 0};
	all = (uint64_t)((unsigned __int128)all * (unsigned)w->rank / (unsigned)w->nranks);
	while (before + weight(&c->files[i]) <= all)
		before += weight(&c->files[i++]);
	if (c->files[i].is_plain)
		return (struct cut_place){i, all - before};
	return (struct cut_place){all - before > weight(&c->files[i]) / 2 ? i + 1 : i, 0};
}

/* Moves a place within a file to the end of its line. A file that cannot be read is not cut: the rank that gets it
 * finds out why. */
static struct cut_place to_line_end(const struct cut *c, struct cut_place b, const char *path, char escape)
{
	uint64_t size = c->files[b.file].nbytes, border;
	struct fault ignored;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || file_find_border(fd, 0, b.offset, size, escape, &border, &ignored) != STATUS_OK)
		border = size;
	if (fd >= 0)
		close(fd);
	return border < size ? (struct cut_place){b.file, border} : (struct cut_place){b.file + 1, 0};
}

void cut_gather(struct cut *c, const struct cut_place *mine)
{
	MPI_Allgather(mine, sizeof *mine, MPI_BYTE, c->at, sizeof *mine, MPI_BYTE, MPI_COMM_WORLD);
}

enum status cut_make(struct cut *c, const struct world *w, const char *const *paths, int npaths, char escape,
		     struct fault *fault)
{
	struct cut_place mine;
	enum status status;

	*c = (struct cut){.nfiles = npaths};
	c->files = calloc((size_t)npaths + 1, sizeof *c->files);
	c->at = calloc((size_t)w->nranks + 1, sizeof *c->at);
	if (world_any(!c->files || !c->at))
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	status = look_at_files(c, w, paths, fault);
	if (status != STATUS_OK)
		return status;
	mine = find_place(c, w);
	if (mine.offset > 0)
		mine = to_line_end(c, mine, paths[mine.file], escape);
	cut_gather(c, &mine);
	c->at[w->nranks] = (struct cut_place){npaths, 0};
	return STATUS_OK;
}

void cut_free(struct cut *c)
{
	free(c->files);
	free(c->at);
	memset(c, 0, sizeof *c);
}

/* ---- slices ---- */

bool cut_slice(const struct cut *c, int rank, struct input_slice *slice)
{
	struct cut_place begin = c->at[rank], end = c->at[rank + 1];

	if (place_is_same(begin, end))
		return false;
	*slice = (struct input_slice){.first = (int)begin.file, .begin = begin.offset,
				      .last = (int)end.file, .end = end.offset};
	if (end.offset == 0) {
		slice->last--;
		slice->end = UINT64_MAX;
	}
	return true;
}

static struct part_seam seam_at(const struct cut *c, struct cut_place b, const char *const *paths, uint64_t number,
				uint64_t of)
{
	if (b.offset == 0)
		return (struct part_seam){.of = 0};
	return (struct part_seam){.input = (char *)paths[b.file], .number = number, .of = of, .border = b.offset,
				  .size = c->files[b.file].nbytes};
}

void cut_seams(const struct cut *c, const struct world *w, const char *const *paths, struct part_seam *left,
	       struct part_seam *right)
{
	struct cut_place begin = c->at[w->rank], end = c->at[w->rank + 1];
	uint64_t number = 0, of = 0; /* of the slices that are not empty */

	for (int i = 0; i < w->nranks; i++) {
		of += !place_is_same(c->at[i], c->at[i + 1]);
		number += i <= w->rank && !place_is_same(c->at[i], c->at[i + 1]);
	}
	*left = seam_at(c, begin, paths, number, of);
	*right = seam_at(c, end, paths, number, of);
	right->is_same = left->of && right->of && begin.file == end.file;
}
