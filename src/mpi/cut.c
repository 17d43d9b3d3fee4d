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
#include "io/file_text.h"
#include "query/option_table.h"

/* Text is usually three to six times as long as its gzip data. */
#define PACKED_WEIGHT 4

/* ---- the files: looked at by rank 0 ---- */

/* By a file's first bytes. */
static enum file_kind kind_of(int fd)
{
	unsigned char data[512];
	const struct codec *codec;
	ssize_t n = pread(fd, data, sizeof data, 0);

	if (n <= 0)
		return FILE_PACKED;
	if (bgzf_begins(data, (size_t)n))
		return FILE_BLOCKS;
	return codec_find(data, (size_t)n, &codec) == CODEC_OTHER ? FILE_PLAIN : FILE_PACKED;
}

static enum status check_path(const char *path, struct fault *fault)
{
	struct stat st;

	if (!strcmp(path, "-"))
		return option_fault(fault, "standard input: not every rank can read it: give it as a file");
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return option_fault(fault, "%.100s: a pipe or a device, which not every rank can read: give it as a "
				    "file", path);
	return STATUS_OK;
}

enum status cut_check_paths(const char *const *paths, int npaths, struct fault *fault)
{
	enum status status = STATUS_OK;

	for (int i = 0; i < npaths && status == STATUS_OK; i++)
		status = check_path(paths[i], fault);
	return status;
}

/* Looks at a file. One that cannot be read is an error of the rank that reads it, in the input's order. */
static void look_at_file(const char *path, struct file_size *to)
{
	struct stat st;
	int fd;

	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	*to = (struct file_size){(uint64_t)st.st_size, kind_of(fd)};
	close(fd);
}

static void look_at_files(struct cut *c, const struct world *w, const char *const *paths)
{
	for (int i = 0; w->rank == 0 && i < c->nfiles; i++)
		look_at_file(paths[i], &c->files[i]);
	world_share(c->files, (size_t)c->nfiles * sizeof *c->files, 0);
}

/* ---- borders ---- */

static uint64_t weight(const struct file_size *f)
{
	return f->kind == FILE_PLAIN ? f->nbytes : f->nbytes * PACKED_WEIGHT;
}

/* Where in the files the rank's slice should begin: an offset in bytes as they are stored. */
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
	if (c->files[i].kind == FILE_PLAIN)
		return (struct cut_place){i, all - before};
	if (c->files[i].kind == FILE_BLOCKS)
		return (struct cut_place){i, (all - before) / PACKED_WEIGHT};
	return (struct cut_place){all - before > weight(&c->files[i]) / 2 ? i + 1 : i, 0};
}

/* Moves a place within a file to the end of its line. A file that cannot be read is not cut: the rank that gets it
 * finds out why. */
static struct cut_place to_line_end(const struct cut *c, struct cut_place b, const char *path, char escape)
{
	const struct file_size *f = &c->files[b.file];
	bool has_blocks = f->kind == FILE_BLOCKS;
	struct file_text text;
	uint64_t place;
	bool is_found = file_text_open(&text, path, has_blocks, b.offset, has_blocks ? UINT64_MAX : f->nbytes) == STATUS_OK &&
			file_text_find_line(&text, escape, &place);

	file_text_close(&text);
	return is_found ? (struct cut_place){b.file, place} : (struct cut_place){b.file + 1, 0};
}

/* Moves an offset in a BGZF file to a block. careful: to one that follows from the file's beginning, if all do up to the
 * file's end. */
static struct cut_place to_block(const struct cut *c, struct cut_place b, const char *path, bool careful)
{
	uint64_t size = c->files[b.file].nbytes, block, last;
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	bool is_found = fd >= 0;

	if (is_found && careful)
		is_found = bgzf_walk_blocks(fd, 0, b.offset, &block) && bgzf_walk_blocks(fd, block, size, &last) && last == size;
	else if (is_found)
		is_found = bgzf_seek(fd, b.offset, size, &block);
	if (fd >= 0)
		close(fd);
	return is_found ? (struct cut_place){b.file, BGZF_PLACE(block, 0)} : (struct cut_place){b.file + 1, 0};
}

/* All ranks' borders. */
static void cut_all(struct cut *c, const struct world *w, const char *const *paths, char escape, bool careful)
{
	struct cut_place mine = find_place(c, w);

	if (mine.offset > 0 && c->files[mine.file].kind == FILE_BLOCKS)
		mine = to_block(c, mine, paths[mine.file], careful);
	if (mine.offset > 0)
		mine = to_line_end(c, mine, paths[mine.file], escape);
	cut_gather(c, &mine);
	c->at[w->nranks] = (struct cut_place){c->nfiles, 0};
}

void cut_gather(struct cut *c, const struct cut_place *mine)
{
	int nranks;

	MPI_Comm_size(MPI_COMM_WORLD, &nranks);
	MPI_Allgather(mine, sizeof *mine, MPI_BYTE, c->at, sizeof *mine, MPI_BYTE, MPI_COMM_WORLD);
	for (int i = 1; i < nranks; i++) /* a rank may have found no block where the next one has */
		if (place_is_before(c->at[i], c->at[i - 1]))
			c->at[i] = c->at[i - 1];
}

enum status cut_make(struct cut *c, const struct world *w, const char *const *paths, int npaths, char escape,
		     struct fault *fault)
{
	*c = (struct cut){.nfiles = npaths};
	c->files = calloc((size_t)npaths + 1, sizeof *c->files);
	c->at = calloc((size_t)w->nranks + 1, sizeof *c->at);
	if (world_any(!c->files || !c->at))
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	look_at_files(c, w, paths);
	cut_all(c, w, paths, escape, false);
	return STATUS_OK;
}

void cut_again(struct cut *c, const struct world *w, const char *const *paths, char escape)
{
	cut_all(c, w, paths, escape, true);
}

bool cut_is_torn(const struct cut *c, const struct world *w, const char *const *paths)
{
	struct input_slice slice;
	uint64_t from, to, block = 0;
	int fd;

	if (!cut_slice(c, w->rank, &slice) || slice.end == UINT64_MAX || c->files[slice.last].kind != FILE_BLOCKS)
		return false;
	from = slice.first == slice.last ? slice.begin : 0;
	from = (uint64_t)BGZF_PLACE_BLOCK(from);
	to = (uint64_t)BGZF_PLACE_BLOCK(slice.end);
	fd = open(paths[slice.last], O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	if (!bgzf_walk_blocks(fd, from, to, &block))
		block = to; /* a file that cannot be read is another fault */
	close(fd);
	return block != to;
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
