/* SPDX-License-Identifier: MIT
 *
 * passage.c - see passage.h.
 */
#include "mpi/passage.h"

#include <errno.h>
#include <mpi.h>
#include <string.h>
#include <time.h>

enum { TAG_BLOCK, TAG_WHOLE, TAG_BROKEN };

void passage_send(struct passage *p, int to, size_t chunk_nbytes)
{
	p->rank = to;
	p->nbytes = 0;
	p->block_nbytes = chunk_nbytes && chunk_nbytes < PASSAGE_NBYTES ? chunk_nbytes : PASSAGE_NBYTES;
}

/* Waits for the other side, which may have much to do before it comes to this: without taking its core. */
static void wait_for(MPI_Request *request, MPI_Status *status)
{
	const struct timespec pause = {.tv_nsec = 50000};
	int is_done = 0;

	for (unsigned ntests = 0; !is_done; ntests++) {
		if (ntests > 200)
			nanosleep(&pause, NULL);
		MPI_Test(request, &is_done, status);
	}
}

static void send_block(struct passage *p, int tag)
{
	MPI_Request request;

	MPI_Isend(p->data, (int)p->nbytes, MPI_BYTE, p->rank, tag, MPI_COMM_WORLD, &request);
	wait_for(&request, MPI_STATUS_IGNORE);
	p->nbytes = 0;
}

bool passage_write(void *passage, const char *text, size_t nbytes)
{
	struct passage *p = passage;

	for (size_t n; nbytes > 0; text += n, nbytes -= n) {
		n = p->block_nbytes - p->nbytes < nbytes ? p->block_nbytes - p->nbytes : nbytes;
		memcpy(p->data + p->nbytes, text, n);
		p->nbytes += n;
		if (p->nbytes == p->block_nbytes)
			send_block(p, TAG_BLOCK);
	}
	return true;
}

void passage_end(struct passage *p, bool is_whole)
{
	if (p->nbytes)
		send_block(p, TAG_BLOCK);
	send_block(p, is_whole ? TAG_WHOLE : TAG_BROKEN);
}

static void receive_block(struct passage *p)
{
	MPI_Request request;
	MPI_Status got;
	int n;

	MPI_Irecv(p->data, PASSAGE_NBYTES, MPI_BYTE, p->rank, MPI_ANY_TAG, MPI_COMM_WORLD, &request);
	wait_for(&request, &got);
	MPI_Get_count(&got, MPI_BYTE, &n);
	p->nbytes = (size_t)n;
	p->at = 0;
	p->has_ended = got.MPI_TAG != TAG_BLOCK;
	p->is_whole = got.MPI_TAG == TAG_WHOLE;
}

bool passage_receive(struct passage *p, int from)
{
	p->rank = from;
	receive_block(p);
	return !p->has_ended;
}

/* Takes up to `most` bytes of a text. */
static size_t take(char *to, const char *text, size_t nbytes, size_t *at, size_t most)
{
	size_t n = nbytes - *at < most ? nbytes - *at : most;

	memcpy(to, text + *at, n);
	*at += n;
	return n;
}

ssize_t passage_read(void *passage, char *to, size_t nbytes)
{
	struct passage *p = passage;

	if (p->at == p->nbytes && !p->has_ended)
		receive_block(p);
	return (ssize_t)take(to, p->data, p->nbytes, &p->at, nbytes);
}

bool passage_drain(struct passage *p)
{
	while (!p->has_ended)
		receive_block(p);
	return p->is_whole;
}

bool text_write(void *buffer, const char *text, size_t nbytes)
{
	struct text_buffer *to = buffer;

	if (text_reserve(to, nbytes) != STATUS_OK) {
		errno = ENOMEM;
		return false;
	}
	memcpy(to->data + to->nbytes, text, nbytes);
	to->nbytes += nbytes;
	return true;
}

ssize_t text_read(void *reading, char *to, size_t nbytes)
{
	struct text_reading *r = reading;

	return (ssize_t)take(to, r->text->data, r->text->nbytes, &r->at, nbytes);
}
