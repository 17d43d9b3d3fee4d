/* SPDX-License-Identifier: MIT
 *
 * file_text.c - see file_text.h.
 */
#include "io/file_text.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/source.h"

enum status file_text_open(struct file_text *t, const char *path, bool has_blocks, uint64_t begin, uint64_t end)
{
	struct fault ignored;

	*t = (struct file_text){.fd = open(path, O_RDONLY | O_CLOEXEC), .has_blocks = has_blocks, .next = begin, .end = end};
	if (t->fd < 0)
		return STATUS_OPEN;
	if (has_blocks)
		return bgzf_text_open(&t->blocks, t->fd, begin, &ignored);
	t->buffer = malloc(FILE_TEXT_NBYTES);
	return t->buffer ? STATUS_OK : STATUS_NO_MEMORY;
}

void file_text_close(struct file_text *t)
{
	if (t->has_blocks)
		bgzf_text_close(&t->blocks);
	free(t->buffer);
	if (t->fd >= 0)
		close(t->fd);
}

static bool next_range(struct file_text *t, enum status *status)
{
	uint64_t left = t->end > t->next ? t->end - t->next : 0;
	struct fault ignored;

	t->nbytes = left < FILE_TEXT_NBYTES ? (size_t)left : FILE_TEXT_NBYTES;
	*status = file_read_range(t->fd, (off_t)t->next, t->buffer, t->nbytes, &ignored);
	t->data = t->buffer;
	t->place = t->next;
	t->next += t->nbytes;
	return *status == STATUS_OK && t->nbytes > 0;
}

/* Blocks without text are passed. */
static bool next_block(struct file_text *t, enum status *status)
{
	struct fault ignored;
	bool is_there;

	do
		*status = bgzf_text_next(&t->blocks, &is_there, &ignored);
	while (*status == STATUS_OK && is_there && t->blocks.nbytes == 0);
	if (*status != STATUS_OK || !is_there || t->blocks.place >= t->end)
		return false;
	t->data = t->blocks.data;
	t->place = t->blocks.place;
	t->nbytes = t->end - t->place < t->blocks.nbytes ? (size_t)(t->end - t->place) : t->blocks.nbytes;
	return true;
}

bool file_text_next(struct file_text *t, enum status *status)
{
	return t->has_blocks ? next_block(t, status) : next_range(t, status);
}

bool file_text_find_line(struct file_text *t, char escape, uint64_t *place)
{
	bool has_ended = false;
	enum status status;
	char before = '\0';

	while (file_text_next(t, &status)) {
		*place = t->place;
		if (has_ended)
			return true;
		for (size_t i = 0; i < t->nbytes && !has_ended; i++) {
			has_ended = t->data[i] == '\n' && !(escape && before == escape);
			before = t->data[i];
			*place = t->place + i + 1;
		}
		if (has_ended && *place < t->place + t->nbytes)
			return true;
	}
	return false;
}
