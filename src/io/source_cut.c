/* SPDX-License-Identifier: MIT
 *
 * source_cut.c - a file of blocks, of which only some is read. See source.h.
 *
 * The stream begins anew with the block in which the cut begins, and ends before the one in which it ends, as if the file
 * ended there. So it is an error if no block ends there: the place was no block's beginning, or the bytes before are no
 * blocks. What is read of the last block is kept.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "codec/bgzf.h"
#include "codec/codec.h"
#include "io/source.h"

static enum status name_fault(const struct source *s, enum status status, struct fault *fault)
{
	if (status != STATUS_OK)
		fault->file = source_name(s);
	return status;
}

/* Keeps what is read of the block in which the cut ends. */
static enum status keep_tail(struct source *s, struct fault *fault)
{
	struct source_cut *cut = &s->cut;
	size_t nbytes = BGZF_PLACE_OFFSET(cut->end);
	struct bgzf_text t;
	bool is_there = false;
	enum status status;

	if (nbytes == 0)
		return STATUS_OK;
	status = bgzf_text_open(&t, s->fd, cut->end - nbytes, fault);
	if (status == STATUS_OK)
		status = bgzf_text_next(&t, &is_there, fault);
	if (status == STATUS_OK && (!is_there || t.nbytes < nbytes))
		status = codec_fault(fault, STATUS_DAMAGED, s->codec, NULL);
	cut->tail = status == STATUS_OK ? malloc(nbytes) : NULL;
	if (cut->tail)
		memcpy(cut->tail, t.data, nbytes);
	else if (status == STATUS_OK)
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	cut->tail_end = nbytes;
	bgzf_text_close(&t);
	return status;
}

/* Begins decoding with the cut's first block. */
static enum status reopen(struct source *s, struct fault *fault)
{
	const struct source_cut *cut = &s->cut;
	off_t block = BGZF_PLACE_BLOCK(cut->begin);

	read_ahead_close(s->packed);
	s->packed = NULL;
	if (lseek(s->fd, block, SEEK_SET) < 0)
		return fault_set(fault, STATUS_READ, 0, NULL);
	TRY(read_ahead_open(&s->packed, s->codec, s->fd, "", 0, s->nthreads, fault));
	if (cut->end < UINT64_MAX)
		read_ahead_end_at(s->packed, BGZF_PLACE_BLOCK(cut->end));
	source_share(s, s->shared);
	s->begin = s->end = 0;
	s->at_end = s->padded = false;
	return STATUS_OK;
}

/* Leaves out what the first block has before the cut. */
static enum status drop_beginning(struct source *s, struct fault *fault)
{
	size_t nbytes = BGZF_PLACE_OFFSET(s->cut.begin);
	enum status status = source_peek(s, nbytes, fault);

	if (status == STATUS_OK && s->end - s->begin < nbytes)
		status = codec_fault(fault, STATUS_DAMAGED, s->codec, NULL);
	s->begin += status == STATUS_OK ? nbytes : 0;
	return status;
}

enum status source_cut_text(struct source *s, uint64_t begin, uint64_t end, struct fault *fault)
{
	uint64_t first; /* of the first record */
	enum status status;

	if (!bgzf_find_text(s->fd, s->nskipped, &first))
		return name_fault(s, codec_fault(fault, STATUS_DAMAGED, s->codec, NULL), fault);
	begin = begin > first ? begin : first;
	end = end > begin ? end : begin;
	s->cut = (struct source_cut){.is_made = true, .first = first, .begin = begin, .end = end};
	status = end < UINT64_MAX ? keep_tail(s, fault) : STATUS_OK;
	if (status == STATUS_OK)
		status = reopen(s, fault);
	if (status == STATUS_OK)
		status = drop_beginning(s, fault);
	return name_fault(s, status, fault);
}

enum status source_read_tail(struct source *s, char *to, size_t capacity, size_t *nbytes, struct fault *fault)
{
	struct source_cut *cut = &s->cut;

	if (s->padded)
		return codec_fault(fault, STATUS_TRAILING, s->codec, NULL);
	if (!cut->tail)
		return STATUS_OK;
	*nbytes = cut->tail_end - cut->tail_begin < capacity ? cut->tail_end - cut->tail_begin : capacity;
	memcpy(to, cut->tail + cut->tail_begin, *nbytes);
	cut->tail_begin += *nbytes;
	s->at_end = false;
	if (cut->tail_begin == cut->tail_end) {
		free(cut->tail);
		cut->tail = NULL;
	}
	return STATUS_OK;
}
