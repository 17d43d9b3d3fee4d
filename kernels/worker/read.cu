/* SPDX-License-Identifier: MIT
 *
 * read.cu - the GPU worker reads a chunk, and copies to the device its text, as bytes or as nibbles, or BGZF blocks, which are
 * decoded there; or it takes text that device_inflate.cu has decoded.
 *
 * Text that is read to the same place again and again stays in a core's cache, and only the packed
 * half is written to memory: 16 threads carry 79 GB/s of text this way, 65 if the unpacked text is
 * kept as well, and 52, the limit of the bus, unpacked (H200, 2026-11-22). Text that was not kept
 * is unpacked again in the rare cases that need it.
 *
 * Decoded text stays on the device. Its ends are copied to the host, since the engine needs them, and all of it only if
 * the CPU works on the chunk, which is rare. Blocks that the device finds damaged are left to the CPU, which
 * decides what is wrong with them.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern "C" {
#include "codec/gzip.h"
#include "io/reader.h"
}

#include "kernels/csv/expand.cuh"
#include "kernels/worker/worker.cuh"

#define PIECES_PER_CHUNK 16
#define PAUSES_MAX 63
/* Packed text that is longer than half of the text is not worth the memory that is kept for it. */
#define PACKED_SHARE 2
/* Blocks of a chunk: mostly they have 64 KiB of text. */
#define STREAM_TEXT_NBYTES ((size_t)4 << 10)

/* ---- blocks, and text that is on a device ---- */

static size_t most_packed_nbytes(const struct worker *w)
{
	return w->chunk_nbytes / PACKED_SHARE + BGZF_BLOCK_NBYTES;
}

static size_t most_streams(const struct worker *w)
{
	return w->chunk_nbytes / STREAM_TEXT_NBYTES + 1;
}

void unpacking_init(struct worker *w, const struct worker_setup *setup)
{
	struct unpacking *u = &w->unpacking;

	u->deflate = setup->unpacks ? (struct deflate *)malloc(sizeof *u->deflate) : NULL;
	u->wanted = u->deflate != NULL;
	u->fd = -1;
	if (u->wanted)
		pinned_buffer_reserve(&u->pinned, most_packed_nbytes(w));
}

void unpacking_free(struct unpacking *u)
{
	(void)pinned_buffer_free(&u->pinned);
	if (u->fd > 0)
		close(u->fd);
	free(u->deflate);
}

void unpacking_cut_pinned(struct worker *w, struct arena *a)
{
	if (!w->unpacking.wanted)
		return;
	w->unpacking.streams = arena_cut<struct inflate_stream>(a, most_streams(w));
	w->unpacking.ndamaged = arena_cut<uint32_t>(a, 1);
	w->unpacking.ends = arena_cut<char>(a, 2 * WORKER_ENDS_NBYTES);
}

void unpacking_cut_device(struct worker *w, struct arena *a)
{
	struct inflate_job *job = &w->unpacking.job;

	if (!w->unpacking.wanted)
		return;
	job->data = arena_cut<unsigned char>(a, most_packed_nbytes(w) + INFLATE_PAD_NBYTES);
	job->streams = arena_cut<struct inflate_stream>(a, most_streams(w));
	job->ndamaged = arena_cut<uint32_t>(a, 1);
	job->ticket = arena_cut<uint32_t>(a, 1);
	job->text = w->text;
}

/* ---- a chunk of blocks ---- */

/* Lists the blocks. Returns false unless they are whole, not too many, and have nbytes of text. */
static bool list_streams(struct worker *w, size_t packed_nbytes, size_t nbytes)
{
	struct unpacking *u = &w->unpacking;
	const unsigned char *data = (const unsigned char *)u->pinned.data;
	size_t at = 0, text_nbytes = 0;

	for (u->job.nstreams = 0; at < packed_nbytes; u->job.nstreams++) {
		struct bgzf_block b;
		size_t block_nbytes = bgzf_parse(data + at, packed_nbytes - at, &b);
		if (block_nbytes == 0 || u->job.nstreams == most_streams(w))
			return false;
		u->streams[u->job.nstreams] = {(uint64_t)(b.data - data), text_nbytes,
					       (uint32_t)(b.trailer - b.data), b.text_nbytes,
					       gzip_trailer_crc(b.trailer)};
		text_nbytes += b.text_nbytes;
		at += block_nbytes;
	}
	return text_nbytes == nbytes;
}

/* Launches the copies of the ends of w->text to pinned memory. */
static enum status copy_ends(struct worker *w, size_t nbytes, struct fault *fault)
{
	struct unpacking *u = &w->unpacking;
	size_t end_nbytes = nbytes < WORKER_ENDS_NBYTES ? nbytes : WORKER_ENDS_NBYTES;

	GPU_TRY("copy ends", copy_back(w, u->ends, w->text, end_nbytes));
	GPU_TRY("copy ends", copy_back(w, u->ends + WORKER_ENDS_NBYTES, w->text + nbytes - end_nbytes, end_nbytes));
	return STATUS_OK;
}

/* The text is on the device, and the ends in pinned memory. */
static void keep_text(struct worker *w, const struct chunk *chunk)
{
	struct unpacking *u = &w->unpacking;
	size_t nbytes = chunk->nbytes, end_nbytes = nbytes < WORKER_ENDS_NBYTES ? nbytes : WORKER_ENDS_NBYTES;

	memcpy(chunk->data, u->ends, end_nbytes);
	memcpy(chunk->data + nbytes - end_nbytes, u->ends + WORKER_ENDS_NBYTES, end_nbytes);
	u->nbytes = nbytes;
	u->loaded = false;
	if (u->fd > 0)
		close(u->fd);
	u->fd = -1;
}

/* Launches the copies up, the decoding, and the copies back. */
static enum status launch_unpacking(struct worker *w, size_t packed_nbytes, size_t nbytes, struct fault *fault)
{
	struct unpacking *u = &w->unpacking;
	enum status status;

	worker_mark(w, STAGE_BEGINS);
	GPU_TRY("copy packed chunk", copy_up(w, (unsigned char *)u->job.data,
					 (const unsigned char *)u->pinned.data, packed_nbytes));
	GPU_TRY("copy blocks", copy_up(w, (struct inflate_stream *)u->job.streams, u->streams, u->job.nstreams));
	GPU_TRY("clear counts", cudaMemsetAsync(u->job.ndamaged, 0, sizeof *u->job.ndamaged, w->stream));
	GPU_TRY("clear counts", cudaMemsetAsync(u->job.ticket, 0, sizeof *u->job.ticket, w->stream));
	worker_mark(w, STAGE_COPY_UP);
	GPU_TRY("launch inflate", inflate_launch(u->job, w->stream));
	worker_mark(w, STAGE_INFLATE);
	GPU_TRY("launch check", inflate_check_launch(u->job, w->stream));
	worker_mark(w, STAGE_CHECK);
	GPU_TRY("copy count", copy_back(w, u->ndamaged, u->job.ndamaged, 1));
	status = copy_ends(w, nbytes, fault);
	return status == STATUS_OK ? worker_wait(w, "unpack", fault) : status;
}

enum status gpu_read_blocks(struct worker *w, const struct block_batch *batch, const struct chunk *chunk,
			    bool *decoded, struct fault *fault)
{
	struct unpacking *u = &w->unpacking;
	size_t nbytes = chunk->nbytes;
	struct fault ignored; /* the device fails again when the text is folded, and a CPU takes over */
	enum status status;

	*decoded = false;
	if (!u->wanted || nbytes == 0 || batch->nbytes > most_packed_nbytes(w))
		return STATUS_OK;
	status = file_read_range(batch->fd, batch->position, u->pinned.data, batch->nbytes, fault);
	if (status != STATUS_OK || !list_streams(w, batch->nbytes, nbytes) ||
	    launch_unpacking(w, batch->nbytes, nbytes, &ignored) != STATUS_OK || *u->ndamaged > 0)
		return status;
	keep_text(w, chunk);
	u->packed_nbytes = batch->nbytes;
	*decoded = true;
	return STATUS_OK;
}

/* ---- text that is on a device ---- */

/* Launches the copies, and waits. */
static enum status launch_taking(struct worker *w, const struct device_text *text, struct fault *fault)
{
	enum status status;

	worker_mark(w, STAGE_BEGINS);
	GPU_TRY("copy text", cudaMemcpyAsync(w->text, text->data, text->nbytes, cudaMemcpyDefault, w->stream));
	worker_mark(w, STAGE_COPY_UP);
	status = copy_ends(w, text->nbytes, fault);
	return status == STATUS_OK ? worker_wait(w, "copy text", fault) : status;
}

bool gpu_read_text(struct worker *w, const struct device_text *text, const struct chunk *chunk)
{
	struct unpacking *u = &w->unpacking;
	struct fault ignored; /* the device fails again when the text is folded, and a CPU takes over */
	int fd;

	if (!u->wanted || launch_taking(w, text, &ignored) != STATUS_OK)
		return false;
	fd = fcntl(text->fd, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return false;
	keep_text(w, chunk);
	u->fd = fd;
	u->place = *text->place;
	u->skip = text->skip;
	return true;
}

/* ---- the CPU works on the chunk ---- */

/* If the device fails, the CPU decodes the text, which it has found to be good. */
static void unpacking_load(struct worker *w)
{
	struct unpacking *u = &w->unpacking;
	struct block_batch batch = {};
	struct fault ignored;

	if (u->nbytes == 0 || u->loaded)
		return;
	u->loaded = true;
	if (gpu_checked(copy_back(w, worker_buffer(w), w->text, u->nbytes)) == cudaSuccess &&
	    worker_wait(w, "copy text", &ignored) == STATUS_OK)
		return;
	if (u->fd >= 0) {
		(void)member_place_read(&u->place, u->fd, u->skip, worker_buffer(w), u->nbytes, &ignored);
		return;
	}
	batch.data = (unsigned char *)u->pinned.data;
	batch.nbytes = u->packed_nbytes;
	batch.text_nbytes = u->nbytes;
	(void)bgzf_decode(u->deflate, &batch, (unsigned char *)worker_buffer(w), &ignored);
}

/* ---- plain files ---- */

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
	TRY(status);
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
