/* SPDX-License-Identifier: MIT
 *
 * passed.c - see passed.h.
 */
#include "io/passed.h"

#include <stdlib.h>

/* Closes a file that is wholly in the buffer, and makes that as small as it can be. */
static void settle(struct source *s)
{
	char *shrunk;

	if (!s->at_end)
		return;
	source_close(s);
	shrunk = realloc(s->data, s->end + 1);
	if (!shrunk)
		return; /* the larger one does as well */
	s->data = shrunk;
	s->capacity = s->end + 1;
}

enum status passed_keep(struct passed *p, int file, struct source *s, uint64_t offset_bytes,
			struct fault *fault)
{
	struct passed_file *grown = realloc(p->files, ((size_t)p->nfiles + 1) * sizeof *grown);

	if (!grown)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (p->nfiles == 0)
		p->first = file;
	settle(s);
	p->files = grown;
	p->files[p->nfiles++] = (struct passed_file){*s, offset_bytes};
	*s = (struct source){.fd = -1};
	return STATUS_OK;
}

bool passed_take(struct passed *p, int file, struct source *s, uint64_t *offset_bytes)
{
	int i = file - p->first;

	if (i < 0 || i >= p->nfiles)
		return false;
	source_free(s);
	*s = p->files[i].source;
	*offset_bytes = p->files[i].offset_bytes;
	p->files[i].source = (struct source){.fd = -1};
	return true;
}

void passed_free(struct passed *p)
{
	for (int i = 0; i < p->nfiles; i++)
		source_free(&p->files[i].source);
	free(p->files);
	*p = (struct passed){0};
}
