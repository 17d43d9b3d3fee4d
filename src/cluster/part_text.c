/* SPDX-License-Identifier: MIT
 *
 * part_text.c - see part_text.h.
 */
#include "cluster/part_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fd.h"

void part_block_release(struct part_block *b)
{
	if (b && atomic_fetch_sub_explicit(&b->nusers, 1, memory_order_acq_rel) == 1)
		free(b);
}

void part_blocks_free(struct part_blocks *blocks)
{
	for (size_t i = 0; i < PART_NBLOCKS; i++)
		part_block_release(blocks->at[i]);
	memset(blocks, 0, sizeof *blocks);
}

/* Finds a block that nobody uses, or makes one. nbytes: of its data. NULL: no memory. */
static struct part_block *need_block(struct part_blocks *blocks, size_t nbytes)
{
	struct part_block **at = &blocks->at[blocks->next];

	for (size_t i = 0; i < PART_NBLOCKS; i++) {
		struct part_block *b = blocks->at[i];
		if (b && b->capacity >= nbytes && atomic_load_explicit(&b->nusers, memory_order_acquire) == 1) {
			part_block_use(b);
			return b;
		}
		at = b ? at : &blocks->at[i];
	}
	blocks->next = (blocks->next + 1) % PART_NBLOCKS;
	part_block_release(*at);
	*at = malloc(sizeof **at + nbytes);
	if (!*at)
		return NULL;
	(*at)->capacity = nbytes;
	atomic_init(&(*at)->nusers, 2);
	return *at;
}

enum status part_text_open(struct part_text *t, const char *name, struct part_blocks *blocks, struct fault *fault)
{
	bool is_stdin = !strcmp(name, "-");

	*t = (struct part_text){.name = is_stdin ? "standard input" : name, .blocks = blocks};
	t->fd = is_stdin ? STDIN_FILENO : open(name, O_RDONLY | O_CLOEXEC);
	if (t->fd >= 0)
		return STATUS_OK;
	fault_set(fault, STATUS_OPEN, errno, NULL);
	fault->file = t->name;
	return STATUS_OPEN;
}

void part_text_close(struct part_text *t)
{
	part_block_release(t->block);
	if (t->fd > STDIN_FILENO)
		close(t->fd);
	t->block = NULL;
	t->fd = -1;
}

bool part_text_next(struct part_text *t)
{
	size_t left = t->block ? t->block->nbytes - t->at : 0;
	const char *end;

	if (left == 0)
		return false;
	t->line = t->block->data + t->at;
	end = memchr(t->line, '\n', left);
	if (!end && !t->is_at_end)
		return false;
	t->nbytes = end ? (size_t)(end - t->line) + 1 : left;
	t->at += t->nbytes;
	t->nlines++;
	return true;
}

/* Makes a block that begins with what is left of the last one: a line's beginning. A longer line gets a
 * longer block. */
static struct part_block *make_block(const struct part_text *t)
{
	size_t left = t->block ? t->block->nbytes - t->at : 0;
	size_t nbytes = t->blocks->nbytes;
	struct part_block *b = need_block(t->blocks, left <= nbytes / 2 ? nbytes : 4 * left);

	if (!b)
		return NULL;
	b->nbytes = left;
	if (left)
		memcpy(b->data, t->block->data + t->at, left);
	return b;
}

/* Fills the block, unless the file ends. Returns false, with errno, where it cannot be read. */
static bool read_block(struct part_text *t, struct part_block *b)
{
	ssize_t n = 0;

	while (b->nbytes < b->capacity && (n = fd_read(t->fd, b->data + b->nbytes, b->capacity - b->nbytes)) > 0)
		b->nbytes += (size_t)n;
	t->is_at_end = b->nbytes < b->capacity;
	return n >= 0;
}

bool part_text_fill(struct part_text *t, enum status *status, struct fault *fault)
{
	struct part_block *b;

	if (t->is_at_end)
		return false;
	b = make_block(t);
	if (!b) {
		*status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
		return false;
	}
	part_block_release(t->block);
	t->block = b;
	t->at = 0;
	if (read_block(t, b))
		return b->nbytes > 0;
	*status = fault_set(fault, STATUS_READ, errno, NULL);
	fault->file = t->name;
	return false;
}
