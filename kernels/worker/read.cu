/* SPDX-License-Identifier: MIT
 *
 * read.cu - the GPU worker reads a chunk, and copies its text up: as bytes, or as nibbles.
 *
 * Text that is read to the same place again and again stays in a core's cache, and only the packed
 * half is written to memory: 16 threads carry 79 GB/s of text this way, 65 if the unpacked text is
 * kept as well, and 52, the limit of the bus, unpacked (H200, 2026-11-22). Text that was not kept
 * is unpacked again in the rare cases that need it.
 */
#include <string.h>

extern "C" {
#include "io/reader.h"
}

#include "kernels/csv/expand.cuh"
#include "kernels/worker/gpu.h"
#include "kernels/worker/worker.cuh"

#define PIECES_PER_CHUNK 16
#define PAUSES_MAX 63

void packing_init(struct worker *w, const struct worker_setup *setup)
{
	struct packing *p = &w->packing;
	size_t piece = setup->chunk_nbytes / PIECES_PER_CHUNK / 64 * 64;

	p->wanted = setup->packs && w->folds_columns;
	if (!p->wanted)
		return;
	p->letters = nibble_letters(w->plan->dialect.delimiter);
	p->piece_nbytes = piece > WORKER_ENDS_NBYTES ? piece : WORKER_ENDS_NBYTES;
	pinned_buffer_reserve(&p->pinned, nibbles_nbytes(setup->chunk_nbytes));
}

/* Starts a pause, about twice as long as the last one, if the previous chunk had to be unpacked;
 * otherwise resets it. */
static void learn_from_last(struct packing *p)
{
	if (!p->loaded) {
		p->npauses_next = 0;
		return;
	}
	p->npauses = p->npauses_next;
	p->npauses_next = p->npauses < PAUSES_MAX ? 2 * p->npauses + 1 : PAUSES_MAX;
}

void packing_begin(struct packing *p)
{
	if (p->tried)
		learn_from_last(p);
	p->tried = p->packs = p->wanted && p->npauses == 0;
	if (p->npauses > 0)
		p->npauses--;
	p->loaded = false;
	p->nbytes = 0;
}

/* Packs nbytes at piece, which follow what is packed. If that fails, moves them, and all packed
 * text, to their places in the buffer. */
static void pack_piece(struct worker *w, char *piece, size_t nbytes)
{
	struct packing *p = &w->packing;
	unsigned char *to = (unsigned char *)p->pinned.data + p->nbytes / 2;

	p->packs = nibbles_pack(piece, nbytes, p->letters, to);
	if (p->packs) {
		p->nbytes += nbytes;
		return;
	}
	if (piece != worker_buffer(w) + p->nbytes)
		memcpy(worker_buffer(w) + p->nbytes, piece, nbytes);
	gpu_load_text(w);
}

enum status gpu_read(struct worker *w, int fd, off_t position, const struct chunk *chunk,
		     struct fault *fault)
{
	size_t done = 0, piece_nbytes = w->packing.piece_nbytes;
	enum status status = STATUS_OK;

	while (w->packing.packs && done < chunk->nbytes && status == STATUS_OK) {
		size_t left = chunk->nbytes - done, nbytes = piece_nbytes;
		char *piece = worker_buffer(w) + (done > 0 ? piece_nbytes : 0);
		if (left < 2 * piece_nbytes) { /* the last one, which has the chunk's end */
			nbytes = left;
			piece = worker_buffer(w) + done;
		}
		status = file_read_range(fd, position + (off_t)done, piece, nbytes, fault);
		if (status == STATUS_OK)
			pack_piece(w, piece, nbytes);
		done += nbytes;
	}
	if (status != STATUS_OK)
		return status;
	return file_read_range(fd, position + (off_t)done, worker_buffer(w) + done,
			       chunk->nbytes - done, fault);
}

void gpu_load_text(struct worker *w)
{
	struct packing *p = &w->packing;
	size_t begin = p->piece_nbytes; /* the first piece is in its place */

	unpacking_load(w);
	if (p->nbytes > begin && !p->loaded)
		nibbles_unpack((unsigned char *)p->pinned.data + begin / 2, p->nbytes - begin,
			       p->letters, worker_buffer(w) + begin);
	p->loaded = true;
}

enum status worker_text_up(struct worker *w, const struct chunk *chunk, struct fault *fault)
{
	struct packing *p = &w->packing;

	if (w->unpacking.nbytes)
		return STATUS_OK;
	if (p->nbytes < chunk->nbytes) {
		GPU_TRY("copy chunk", copy_up(w, w->text, chunk->data, chunk->nbytes));
		worker_mark(w, STAGE_COPY_UP);
		return STATUS_OK;
	}
	GPU_TRY("copy chunk", copy_up(w, p->device, (const unsigned char *)p->pinned.data,
				  nibbles_nbytes(chunk->nbytes)));
	worker_mark(w, STAGE_COPY_UP);
	GPU_TRY("launch expand", expand_launch(w->text, p->device, (uint32_t)chunk->nbytes, p->letters,
					   w->stream));
	worker_mark(w, STAGE_EXPAND);
	return STATUS_OK;
}
