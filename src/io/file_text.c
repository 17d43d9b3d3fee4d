/* SPDX-License-Identifier: MIT
 *
 * file_text.c - see file_text.h.
 */
#include "io/file_text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/source.h"

enum status file_text_begin(struct file_text *t, int fd, bool has_blocks, uint64_t begin, uint64_t end)
{
	*t = (struct file_text){.fd = fd, .has_blocks = has_blocks, .next = begin, .end = end};
	if (has_blocks)
		return bgzf_text_open(&t->blocks, fd, begin, &t->fault);
	t->buffer = malloc(FILE_TEXT_NBYTES);
	return t->buffer ? STATUS_OK : fault_set(&t->fault, STATUS_NO_MEMORY, 0, NULL);
}

enum status file_text_open(struct file_text *t, const char *path, bool has_blocks, uint64_t begin, uint64_t end)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	enum status status;

	if (fd < 0) {
		*t = (struct file_text){.fd = fd};
		return fault_set(&t->fault, STATUS_OPEN, errno, NULL);
	}
	status = file_text_begin(t, fd, has_blocks, begin, end);
	t->owns_fd = true;
	return status;
}

void file_text_close(struct file_text *t)
{
	if (t->has_blocks)
		bgzf_text_close(&t->blocks);
	free(t->buffer);
	if (t->owns_fd)
		close(t->fd);
}

static bool next_range(struct file_text *t)
{
	uint64_t left = t->end > t->next ? t->end - t->next : 0;

	t->nbytes = left < FILE_TEXT_NBYTES ? (size_t)left : FILE_TEXT_NBYTES;
	t->data = t->buffer;
	t->place = t->next;
	t->next += t->nbytes;
	return file_read_range(t->fd, (off_t)t->place, t->buffer, t->nbytes, &t->fault) == STATUS_OK && t->nbytes > 0;
}

/* Blocks without text are passed. */
static bool next_block(struct file_text *t)
{
	enum status status;
	bool is_there;

	do
		status = bgzf_text_next(&t->blocks, &is_there, &t->fault);
	while (status == STATUS_OK && is_there && t->blocks.nbytes == 0);
	if (status != STATUS_OK || !is_there || t->blocks.place >= t->end)
		return false;
	t->data = t->blocks.data;
	t->place = t->blocks.place;
	t->nbytes = t->end - t->place < t->blocks.nbytes ? (size_t)(t->end - t->place) : t->blocks.nbytes;
	return true;
}

bool file_text_next(struct file_text *t)
{
	return t->has_blocks ? next_block(t) : next_range(t);
}

bool file_text_find_end(struct file_text *t, const struct csv_dialect *d, enum csv_state *state, uint64_t *place)
{
	bool has_ended = false;
	char before = '\0';

	while (file_text_next(t)) {
		*place = t->place;
		if (has_ended)
			return true;
		for (size_t i = 0; i < t->nbytes && !has_ended; i++) {
			char byte = t->data[i];
			if (state)
				*state = csv_full_step(*state, csv_dialect_classify(d, byte));
			has_ended = byte == '\n' && (state ? *state == CSV_RECORD_START : !(d->escape && before == d->escape));
			before = byte;
			*place = t->place + i + 1;
		}
		if (has_ended && *place < t->place + t->nbytes)
			return true;
	}
	return false;
}

bool file_text_cut(const struct text_cut *cut, const struct csv_dialect *dialect, uint64_t *place, struct fault *fault)
{
	uint64_t begin = cut->offset, block;
	struct file_text text;
	bool is_found;

	if (cut->has_blocks) {
		if (!(cut->walks ? bgzf_walk_blocks(cut->fd, 0, begin, &block) : bgzf_seek(cut->fd, begin, cut->size, &block)))
			return false;
		begin = BGZF_PLACE(block, 0);
	}
	begin = cut->start + (begin > cut->least ? begin : cut->least);
	is_found = file_text_begin(&text, cut->fd, cut->has_blocks, begin, cut->has_blocks ? UINT64_MAX : cut->start + cut->size) ==
			   STATUS_OK && file_text_find_end(&text, dialect, NULL, place);
	if (is_found)
		*place -= cut->start;
	else if (text.fault.status != STATUS_OK)
		*fault = text.fault;
	file_text_close(&text);
	return is_found;
}
