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
#include "io/file_text.h"

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

/* Maps a text, piece by piece. */
static enum status map_text(struct worker *worker, struct file_text *text, csv_full_map *map)
{
	struct chunk chunk = {.data = worker_cpu.buffer(worker)};
	enum status status = STATUS_OK;
	struct chunk_map of_chunk;
	struct fault ignored;

	*map = csv_full_map_identity();
	while (status == STATUS_OK && file_text_next(text, &status)) {
		memcpy(chunk.data, text->data, text->nbytes);
		chunk.nbytes = text->nbytes;
		status = worker_cpu.map(worker, &chunk, &of_chunk, &ignored);
		if (status == STATUS_OK)
			*map = compose(*map, of_chunk.map);
	}
	return status;
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
	uint64_t nskipped = input_nskipped(input, file), place = 0;
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
static csv_full_map map_slice(const struct cut *c, const struct world *w, const struct query *q,
			      const struct input *input)
{
	struct input_slice slice;
	uint64_t first, begin;
	bool has_blocks;

	if (!cut_slice(c, w->rank, &slice))
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

/* Finds the first record that ends in the text, which is entered in `state`, and *place of the byte behind. Returns false
 * if no record ends there. */
static bool find_record_end(struct file_text *t, const struct csv_dialect *dialect, enum csv_state state, uint64_t *place,
			    enum status *status)
{
	bool has_ended = false;

	while (file_text_next(t, status)) {
		*place = t->place;
		if (has_ended)
			return true;
		for (size_t i = 0; i < t->nbytes && !has_ended; i++) {
			state = csv_full_step(state, csv_dialect_classify(dialect, t->data[i]));
			has_ended = t->data[i] == '\n' && state == CSV_RECORD_START;
			*place = t->place + i + 1;
		}
		if (has_ended && *place < t->place + t->nbytes)
			return true;
	}
	return false;
}

/* Moves a border that is in `state` to the end of its record. */
static struct cut_place to_record_end(const struct cut *c, struct cut_place b, const char *path, enum csv_state state,
				   const struct csv_dialect *dialect)
{
	bool has_blocks = c->files[b.file].kind == FILE_BLOCKS;
	struct file_text text;
	uint64_t place;
	enum status status =
		file_text_open(&text, path, has_blocks, b.offset, has_blocks ? UINT64_MAX : c->files[b.file].nbytes);

	if (status == STATUS_OK && find_record_end(&text, dialect, state, &place, &status))
		b = (struct cut_place){b.file, place};
	else if (status == STATUS_OK)
		b = (struct cut_place){b.file + 1, 0};
	file_text_close(&text);
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
