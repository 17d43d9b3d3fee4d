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
#include "csv/rows.h"
#include "engine/worker.h"
#include "io/file_text.h"
#include "io/source.h"
#include "query/option_table.h"

/* Text is usually three to six times as long as its gzip data. */
#define PACKED_WEIGHT 4

static bool place_is_same(struct cut_place a, struct cut_place b)
{
	return a.file == b.file && a.offset == b.offset;
}

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

/* ---- borders ---- */

static uint64_t weight(const struct file_size *f)
{
	return f->kind == FILE_PLAIN ? f->nbytes : f->nbytes * PACKED_WEIGHT;
}

/* Where in the files the rank's slice should begin: an offset in bytes as they are stored. */
static struct cut_place find_place(const struct cut *c)
{
	uint64_t all = 0, before = 0;
	int i = 0;

	for (int f = 0; f < c->nfiles; f++)
		all += weight(&c->files[f]);
	if (c->world->rank == 0)
		return (struct cut_place){0, 0};
	if (all == 0) /* nothing to share: rank 0 says so, or why */
		return (struct cut_place){c->nfiles, 0};
	all = (uint64_t)((unsigned __int128)all * (unsigned)c->world->rank / (unsigned)c->world->nranks);
	while (before + weight(&c->files[i]) <= all)
		before += weight(&c->files[i++]);
	if (c->files[i].kind == FILE_PLAIN)
		return (struct cut_place){i, all - before};
	if (c->files[i].kind == FILE_BLOCKS)
		return (struct cut_place){i, (all - before) / PACKED_WEIGHT};
	return (struct cut_place){all - before > weight(&c->files[i]) / 2 ? i + 1 : i, 0};
}

/* Moves an offset within a file to the end of a line. careful: in a BGZF file, of one in blocks that all lead from the file's
 * beginning to its end. A file that cannot be read is not cut: the rank that gets it finds out why. */
static struct cut_place to_line_end(const struct cut *c, struct cut_place b, const struct csv_dialect *dialect, bool careful)
{
	const struct file_size *f = &c->files[b.file];
	struct text_cut cut = {.has_blocks = f->kind == FILE_BLOCKS, .walks = careful, .offset = b.offset, .size = f->nbytes};
	uint64_t place, last;
	struct fault ignored;
	bool is_found;

	cut.fd = open(c->paths[b.file], O_RDONLY | O_CLOEXEC);
	is_found = cut.fd >= 0 &&
		   (!cut.has_blocks || !careful || (bgzf_walk_blocks(cut.fd, 0, cut.size, &last) && last == cut.size)) &&
		   file_text_cut(&cut, dialect, &place, &ignored);
	if (cut.fd >= 0)
		close(cut.fd);
	return is_found ? (struct cut_place){b.file, place} : (struct cut_place){b.file + 1, 0};
}

/* Exchanges the ranks' borders: mine is where this rank's slice begins. */
static void gather(struct cut *c, const struct cut_place *mine)
{
	MPI_Allgather(mine, sizeof *mine, MPI_BYTE, c->at, sizeof *mine, MPI_BYTE, MPI_COMM_WORLD);
	for (int i = 1; i < c->world->nranks; i++) /* a rank may have found no block where the next one has */
		if (c->at[i].file < c->at[i - 1].file ||
		    (c->at[i].file == c->at[i - 1].file && c->at[i].offset < c->at[i - 1].offset))
			c->at[i] = c->at[i - 1];
}

/* All ranks' borders. */
static void cut_all(struct cut *c, const struct csv_dialect *dialect, bool careful)
{
	struct cut_place mine = find_place(c);

	if (mine.offset > 0)
		mine = to_line_end(c, mine, dialect, careful);
	gather(c, &mine);
	c->at[c->world->nranks] = (struct cut_place){c->nfiles, 0};
}

enum status cut_make(struct cut *c, const struct world *w, const char *const *paths, int npaths,
		     const struct csv_dialect *dialect, struct fault *fault)
{
	*c = (struct cut){.world = w, .paths = paths, .nfiles = npaths};
	c->files = calloc((size_t)npaths + 1, sizeof *c->files);
	c->at = calloc((size_t)c->world->nranks + 1, sizeof *c->at);
	if (world_any(!c->files || !c->at))
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	for (int i = 0; c->world->rank == 0 && i < c->nfiles; i++)
		look_at_file(c->paths[i], &c->files[i]);
	world_share(c->files, (size_t)c->nfiles * sizeof *c->files, 0);
	cut_all(c, dialect, false);
	return STATUS_OK;
}

void cut_again(struct cut *c, const struct csv_dialect *dialect)
{
	cut_all(c, dialect, true);
}

bool cut_is_torn(const struct cut *c)
{
	struct input_slice slice;
	uint64_t from, to, block = 0;
	int fd;

	if (!cut_slice(c, c->world->rank, &slice) || slice.end == UINT64_MAX || c->files[slice.last].kind != FILE_BLOCKS)
		return false;
	from = slice.first == slice.last ? slice.begin : 0;
	from = (uint64_t)BGZF_PLACE_BLOCK(from);
	to = (uint64_t)BGZF_PLACE_BLOCK(slice.end);
	fd = open(c->paths[slice.last], O_RDONLY | O_CLOEXEC);
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

static struct part_seam seam_at(const struct cut *c, struct cut_place b, uint64_t number,
				uint64_t of)
{
	if (b.offset == 0)
		return (struct part_seam){.of = 0};
	return (struct part_seam){.input = (char *)c->paths[b.file], .number = number, .of = of, .border = b.offset,
				  .size = c->files[b.file].nbytes};
}

void cut_seams(const struct cut *c, struct part_seam *left,
	       struct part_seam *right)
{
	struct cut_place begin = c->at[c->world->rank], end = c->at[c->world->rank + 1];
	uint64_t number = 0, of = 0; /* of the slices that are not empty */

	for (int i = 0; i < c->world->nranks; i++) {
		of += !place_is_same(c->at[i], c->at[i + 1]);
		number += i <= c->world->rank && !place_is_same(c->at[i], c->at[i + 1]);
	}
	*left = seam_at(c, begin, number, of);
	*right = seam_at(c, end, number, of);
	right->is_same = left->of && right->of && begin.file == end.file;
}

/* ---- whether a slice begins between records ----
 *
 * A slice that begins within a file is folded as if a record began there. That is wrong where the LF before it is data
 * in a quoted field. Then each rank finds what its slice does to the automaton (csv/dfa.h), the maps of those before
 * give the state at each border, and a border within a record moves to the end of that record.
 */

/* The map of a text that begins a file: it is entered between records, whatever came before. */
static csv_full_map begins_file(csv_full_map map)
{
	enum csv_state exit = csv_full_map_apply(map, CSV_RECORD_START);

	for (unsigned s = 0; s < CSV_NSTATES_FULL; s++)
		map = csv_full_map_with(map, (enum csv_state)s, exit);
	return map;
}

static csv_full_map compose(csv_full_map earlier, csv_full_map later)
{
	csv_full_map both = {0};

	for (unsigned s = 0; s < CSV_NSTATES_FULL; s++)
		both = csv_full_map_with(both, (enum csv_state)s,
					 csv_full_map_apply(later, csv_full_map_apply(earlier, (enum csv_state)s)));
	return both;
}

/* Maps a text, piece by piece. */
static enum status map_text(struct worker *worker, struct file_text *text, csv_full_map *map)
{
	struct chunk chunk = {.data = worker_cpu.buffer(worker)};
	enum status status = STATUS_OK;
	struct chunk_map of_chunk;
	struct fault ignored;

	*map = csv_full_map_identity();
	while (status == STATUS_OK && file_text_next(text)) {
		memcpy(chunk.data, text->data, text->nbytes);
		chunk.nbytes = text->nbytes;
		status = worker_cpu.map(worker, &chunk, &of_chunk, &ignored);
		if (status == STATUS_OK)
			*map = compose(*map, of_chunk.map);
	}
	return text->fault.status == STATUS_OK ? status : text->fault.status;
}

/* Maps a range of a file, with a worker of its own. Where that fails, the map is the identity. */
static csv_full_map map_file(const struct query *q, const char *path, bool has_blocks, uint64_t begin, uint64_t end)
{
	const struct worker_setup setup = {.chunk_nbytes = FILE_TEXT_NBYTES};
	csv_full_map map = csv_full_map_identity();
	struct file_text text;
	struct worker *worker;
	struct fault ignored;

	if (file_text_open(&text, path, has_blocks, begin, end) == STATUS_OK &&
	    worker_cpu.open(&worker, &q->plan, &setup, &ignored) == STATUS_OK) {
		if (map_text(worker, &text, &map) != STATUS_OK)
			map = csv_full_map_identity();
		worker_cpu.close(worker);
	}
	file_text_close(&text);
	return map;
}

/* Where the file's first record begins. */
static uint64_t find_first(const struct input *input, int file, bool has_blocks)
{
	uint64_t nskipped = input_source(input, file)->nskipped, place = 0;
	int fd = has_blocks ? open(input_name(input, file), O_RDONLY | O_CLOEXEC) : -1;

	if (!has_blocks)
		return nskipped;
	if (fd >= 0) {
		if (!bgzf_find_text(fd, nskipped, &place))
			place = 0;
		close(fd);
	}
	return place;
}

/* What the slice does to the automaton. Before a file's first record, and at its end, nothing is open. */
static csv_full_map map_slice(const struct cut *c, const struct query *q, const struct input *input)
{
	struct input_slice slice;
	uint64_t first, begin;
	bool has_blocks;

	if (!cut_slice(c, c->world->rank, &slice))
		return csv_full_map_identity();
	if (slice.end == UINT64_MAX)
		return begins_file(csv_full_map_identity());
	has_blocks = c->files[slice.last].kind == FILE_BLOCKS;
	first = find_first(input, slice.last, has_blocks);
	begin = slice.first == slice.last ? slice.begin : 0;
	if (begin > first)
		return map_file(q, input_name(input, slice.last), has_blocks, begin, slice.end);
	return begins_file(map_file(q, input_name(input, slice.last), has_blocks, first, slice.end));
}

/* ---- borders ---- */

/* Moves a border that is in `state` to the end of its record. */
static struct cut_place to_record_end(const struct cut *c, struct cut_place b, const char *path, enum csv_state state,
				   const struct csv_dialect *dialect)
{
	bool has_blocks = c->files[b.file].kind == FILE_BLOCKS;
	struct file_text text;
	uint64_t place;

	if (file_text_open(&text, path, has_blocks, b.offset, has_blocks ? UINT64_MAX : c->files[b.file].nbytes) == STATUS_OK) {
		if (file_text_find_end(&text, dialect, &state, &place))
			b = (struct cut_place){b.file, place};
		else if (text.fault.status == STATUS_OK)
			b = (struct cut_place){b.file + 1, 0};
	}
	file_text_close(&text);
	return b;
}

void cut_settle(struct cut *c, const struct query *q, const struct input *input, bool *moved)
{
	const csv_full_map map = map_slice(c, q, input);
	csv_full_map *maps = calloc((size_t)c->world->nranks, sizeof *maps);
	struct cut_place old[2] = {c->at[c->world->rank], c->at[c->world->rank + 1]}, mine = old[0];
	enum csv_state state = CSV_RECORD_START;

	if (!maps)
		MPI_Abort(MPI_COMM_WORLD, 1);
	MPI_Allgather(&map, sizeof map, MPI_BYTE, maps, sizeof map, MPI_BYTE, MPI_COMM_WORLD);
	for (int i = 0; i < c->world->rank; i++)
		state = csv_full_map_apply(maps[i], state);
	free(maps);
	if (mine.offset > 0 && csv_in_quotes(state))
		mine = to_record_end(c, mine, input_name(input, (int)mine.file), state, &q->plan.dialect);
	gather(c, &mine);
	*moved = !place_is_same(old[0], c->at[c->world->rank]) || !place_is_same(old[1], c->at[c->world->rank + 1]);
}
