/* SPDX-License-Identifier: MIT
 *
 * entry.c - see entry.h.
 */
#include "mpi/entry.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/worker.h"
#include "io/source.h"

#define MAP_CHUNK_NBYTES ((size_t)512 << 10)

/* ---- maps ---- */

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

/* For MPI: later[i] = earlier[i], then later[i]. */
static void compose_all(void *earlier, void *later, int *n, MPI_Datatype *type)
{
	csv_full_map *from = earlier, *to = later;

	(void)type;
	for (int i = 0; i < *n; i++)
		to[i] = compose(from[i], to[i]);
}

/* Maps a range of a file, chunk by chunk. */
static enum status map_range(struct worker *worker, int fd, uint64_t begin, uint64_t end, csv_full_map *map)
{
	struct chunk chunk = {.data = worker_cpu.buffer(worker)};
	struct chunk_map of_chunk;
	struct fault ignored;
	enum status status = STATUS_OK;

	*map = csv_full_map_identity();
	for (uint64_t at = begin; at < end && status == STATUS_OK; at += chunk.nbytes) {
		chunk.nbytes = end - at < MAP_CHUNK_NBYTES ? (size_t)(end - at) : MAP_CHUNK_NBYTES;
		status = file_read_range(fd, (off_t)at, chunk.data, chunk.nbytes, &ignored);
		if (status == STATUS_OK)
			status = worker_cpu.map(worker, &chunk, &of_chunk, &ignored);
		if (status == STATUS_OK)
			*map = compose(*map, of_chunk.map);
	}
	return status;
}

/* The same, with a worker of its own. Where that fails, the map is the identity. */
static csv_full_map map_file(const struct query *q, const char *path, uint64_t begin, uint64_t end)
{
	const struct worker_setup setup = {.chunk_nbytes = MAP_CHUNK_NBYTES};
	csv_full_map map = csv_full_map_identity();
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct worker *worker;
	struct fault ignored;

	if (fd < 0)
		return map;
	if (worker_cpu.open(&worker, &q->plan, &setup, &ignored) == STATUS_OK) {
		if (map_range(worker, fd, begin, end, &map) != STATUS_OK)
			map = csv_full_map_identity();
		worker_cpu.close(worker);
	}
	close(fd);
	return map;
}

/* What the slice does to the automaton. Before a file's first record, and at its end, nothing is open. */
static csv_full_map map_slice(const struct cut *c, const struct world *w, const struct query *q,
			      const struct input *input)
{
	struct input_slice slice;
	uint64_t nskipped, begin;

	if (!cut_slice(c, w->rank, &slice))
		return csv_full_map_identity();
	if (slice.end == UINT64_MAX)
		return begins_file(csv_full_map_identity());
	nskipped = input_nskipped(input, slice.last);
	begin = slice.first == slice.last ? slice.begin : 0;
	if (begin > nskipped)
		return map_file(q, input_name(input, slice.last), begin, slice.end);
	return begins_file(map_file(q, input_name(input, slice.last), nskipped, slice.end));
}

/* ---- borders ---- */

/* The end of the first record that ends in text of nbytes, which *state enters; nbytes: none. */
static size_t find_record_end(const struct csv_dialect *dialect, const char *text, size_t nbytes,
			      enum csv_state *state)
{
	for (size_t i = 0; i < nbytes; i++) {
		*state = csv_full_step(*state, csv_dialect_classify(dialect, text[i]));
		if (text[i] == '\n' && *state == CSV_RECORD_START)
			return i + 1;
	}
	return nbytes + 1;
}

/* Finds the end of the record from an offset on, `size` if it has none. */
static enum status find_border(int fd, uint64_t offset, uint64_t size, const struct csv_dialect *dialect,
			       enum csv_state state, uint64_t *border)
{
	char block[65536];
	struct fault ignored;
	size_t n, at;

	for (*border = size; offset < size; offset += n) {
		n = size - offset < sizeof block ? (size_t)(size - offset) : sizeof block;
		if (file_read_range(fd, (off_t)offset, block, n, &ignored) != STATUS_OK)
			return STATUS_READ;
		at = find_record_end(dialect, block, n, &state);
		if (at <= n) {
			*border = offset + at;
			return STATUS_OK;
		}
	}
	return STATUS_OK;
}

/* Moves a border that is in `state` to the end of its record. */
static struct cut_place to_record_end(const struct cut *c, struct cut_place b, const char *path, enum csv_state state,
				   const struct csv_dialect *dialect)
{
	uint64_t size = c->files[b.file].nbytes, border;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return b;
	if (find_border(fd, b.offset, size, dialect, state, &border) == STATUS_OK)
		b = border < size ? (struct cut_place){b.file, border} : (struct cut_place){b.file + 1, 0};
	close(fd);
	return b;
}

/* Whether a border that is entered in this state lies within a record. It stands behind an LF. */
static bool is_within(enum csv_state state)
{
	return state == CSV_QUOTED || state == CSV_ESCAPED_QUOTED;
}

void entry_settle(struct cut *c, const struct world *w, const struct query *q, const struct input *input,
		  bool *moved)
{
	csv_full_map map = map_slice(c, w, q, input), before = csv_full_map_identity();
	struct cut_place old[2] = {c->at[w->rank], c->at[w->rank + 1]}, mine = old[0];
	enum csv_state state;
	MPI_Op op;

	MPI_Op_create(compose_all, 0, &op);
	MPI_Exscan(&map, &before, 1, MPI_UINT32_T, op, MPI_COMM_WORLD);
	MPI_Op_free(&op);
	if (w->rank == 0) /* where MPI_Exscan leaves what it likes */
		before = csv_full_map_identity();
	state = csv_full_map_apply(before, CSV_RECORD_START);
	if (mine.offset > 0 && is_within(state))
		mine = to_record_end(c, mine, input_name(input, (int)mine.file), state, &q->plan.dialect);
	cut_gather(c, &mine);
	*moved = !place_is_same(old[0], c->at[w->rank]) || !place_is_same(old[1], c->at[w->rank + 1]);
}
