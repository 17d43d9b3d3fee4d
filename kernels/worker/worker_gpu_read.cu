/* SPDX-License-Identifier: MIT
 *
 * worker_gpu_read.cu - how a chunk is read, and its text goes up: as it is, or as nibbles.
 *
 * What is read to one place again and again stays in a core's cache, and only half as many bytes
 * leave it: with 16 threads 79 GB/s of text against 65 where the text is kept, and 52 where it goes
 * up as it is, which is all of the bus (H200, 2026-11-22). What was not kept is unpacked again for
 * the few who ask.
 */
#include <string.h>

#include "kernels/csv/expand.cuh"
#include "kernels/worker/worker_gpu.cuh"

#define PIECES_PER_CHUNK 16
#define PAUSES_MAX 63

void worker_nibbles_take(struct worker *w, const struct worker_setup *setup)
{
	struct worker_nibbles *n = &w->nibbles;
	size_t piece = setup->chunk_nbytes / PIECES_PER_CHUNK / 64 * 64;

	n->wanted = setup->packs && !w->plan->emits;
	if (!n->wanted)
		return;
	n->letters = nibble_letters(w->plan->dialect.delimiter);
	n->piece_nbytes = piece > WORKER_ENDS_NBYTES ? piece : WORKER_ENDS_NBYTES;
	pinned_buffer_take(&n->pinned, nibbles_nbytes(setup->chunk_nbytes));
}

/* Sees whether it paid to pack the chunk before. If not, the next ones are left as they are: the
 * more of them, the more chunks of late for which it did not. */
static void learn_from_last(struct worker_nibbles *n)
{
	if (!n->restored) {
		n->npauses_next = 0;
		return;
	}
	n->npauses = n->npauses_next;
	n->npauses_next = n->npauses < PAUSES_MAX ? 2 * n->npauses + 1 : PAUSES_MAX;
}

void worker_nibbles_begin(struct worker *w)
{
	struct worker_nibbles *n = &w->nibbles;

	if (n->tried)
		learn_from_last(n);
	n->tried = n->packs = n->wanted && n->npauses == 0;
	if (n->npauses > 0)
		n->npauses--;
	n->restored = false;
	n->nbytes = 0;
}

/* Where the piece behind the first `done` bytes is read to. The last is longer than the others, so
 * that the chunk's end is in one. */
static struct room piece_room(const struct worker *w, size_t done, size_t nbytes)
{
	size_t piece = w->nibbles.piece_nbytes, left = nbytes - done;

	if (left < 2 * piece)
		return {worker_buffer(w) + done, left};
	return {worker_buffer(w) + (done > 0 ? piece : 0), piece};
}

/* Puts the piece, which cannot be packed, and those before it where they belong. */
static void give_up_packing(struct worker *w)
{
	struct worker_nibbles *n = &w->nibbles;
	char *place = worker_buffer(w) + n->nbytes;

	if (n->piece.data != place)
		memcpy(place, n->piece.data, n->piece.nbytes);
	gpu_restore(w);
	n->packs = false;
}

/* Packs the piece, which has been read. */
static void pack_piece(struct worker *w)
{
	struct worker_nibbles *n = &w->nibbles;
	unsigned char *to = (unsigned char *)n->pinned.data + n->nbytes / 2;

	if (nibbles_pack(n->piece.data, n->piece.nbytes, n->letters, to))
		n->nbytes += n->piece.nbytes;
	else
		give_up_packing(w);
}

struct room gpu_next(struct worker *w, const struct chunk *chunk, size_t done)
{
	struct worker_nibbles *n = &w->nibbles;

	if (n->packs && done > 0)
		pack_piece(w);
	if (!n->packs)
		return {worker_buffer(w) + done, chunk->nbytes - done};
	n->piece = piece_room(w, done, chunk->nbytes);
	return n->piece;
}

void gpu_restore(struct worker *w)
{
	struct worker_nibbles *n = &w->nibbles;
	size_t begin = n->piece_nbytes; /* the first piece is where it belongs */

	if (n->nbytes > begin && !n->restored)
		nibbles_unpack((unsigned char *)n->pinned.data + begin / 2, n->nbytes - begin,
			       n->letters, worker_buffer(w) + begin);
	n->restored = true;
}

enum status worker_text_up(struct worker *w, const struct chunk *chunk, struct fault *fault)
{
	struct worker_nibbles *n = &w->nibbles;

	if (n->nbytes < chunk->nbytes) {
		TRY("copy chunk", copy_up(w, w->text, chunk->data, chunk->nbytes));
		worker_mark(w, STAGE_COPY_UP);
		return STATUS_OK;
	}
	TRY("copy chunk", copy_up(w, n->device, (const unsigned char *)n->pinned.data,
				  nibbles_nbytes(chunk->nbytes)));
	worker_mark(w, STAGE_COPY_UP);
	TRY("launch expand", expand_launch(w->text, n->device, (uint32_t)chunk->nbytes, n->letters,
					   w->stream));
	worker_mark(w, STAGE_EXPAND);
	return STATUS_OK;
}
