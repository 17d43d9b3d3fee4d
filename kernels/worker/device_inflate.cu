/* SPDX-License-Identifier: MIT
 *
 * device_inflate.cu - a GPU decodes the data of a gzip member for all its workers: see
 * src/codec/device_inflate.h.
 *
 *     reading threads   the file -> pinned memory -> one of two segments on the device
 *     decoding thread   segment -> member_decode() -> one of two texts on the device
 *     input             text -> chunks; a worker copies each to its own memory, and gives the text back
 *
 * What a segment's end cuts is copied in front of the next one. After each batch the place behind it is kept on
 * the host, with its window: there the CPUs go on if the device cannot, and from the place before the batch
 * they decode its text again if the device fails.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" {
#include "base/thread.h"
#include "codec/device_inflate.h"
}

#include "kernels/codec/member.cuh"
#include "kernels/worker/device_segments.cuh"
#include "kernels/worker/gpu.h"
#include "kernels/worker/worker.cuh"

#define CAPACITY_NBYTES_MIN ((size_t)1 << 20)
#define FRONT_SHARE 8 /* of a segment's memory: for what the one before has cut */
#define BATCH_NCHUNKS_MIN 2 /* chunks in a batch's packed bytes */
#define BATCH_NCHUNKS_MAX 8
#define BATCH_SHARE 16 /* so many batches are enough for a file: the first one keeps all waiting */
#define MEMORY_SHARE 2 /* of what is free: the workers need the rest */
#define TEXT_RATIO 8   /* bytes of text for which a packed byte has room */
#define NTRIES 4       /* each with half of the memory before */
#define NSHORT_MAX 4   /* members that end within the first segment: with more of them, CPUs are faster */

struct inflated {
	char *data;
	size_t nbytes, ncut;
	bool full; /* until all has been cut and given back */
	int nusers;
	struct member_place place; /* before it */
};

struct device_inflate {
	int device;
	size_t capacity_nbytes, front_nbytes, text_room_nbytes;
	cudaStream_t stream;
	struct arena memory;
	struct segments segments;
	struct member member;
	bool running; /* the thread is to be joined */
	pthread_t decoder;
	unsigned nshort;

	/* The current member. */
	int fd;
	off_t begin;   /* of its data, in the file ... */
	off_t end;     /* ... which has so many bytes */
	uint64_t skip; /* of its text */

	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t changed;
	bool stop, finished, ended;
	struct inflated texts[2];
	uint64_t npublished, ncut; /* texts; all of those cut have been lent */
	struct member_place place; /* behind the text that was published; the decoding thread's until finished */
};

/* ---- memory ---- */

static void memory_cut(struct device_inflate *d, struct arena *a)
{
	for (int i = 0; i < 2; i++) {
		unsigned char *data = arena_cut<unsigned char>(a, d->capacity_nbytes + INFLATE_PAD_NBYTES);
		d->segments.all[i].data = data ? data + d->front_nbytes : NULL;
		d->texts[i].data = arena_cut<char>(a, d->text_room_nbytes);
	}
}

/* Whether so many bytes of the device's memory may be taken. */
static bool is_free(size_t nbytes)
{
	size_t nfree, nall;

	return gpu_checked(cudaMemGetInfo(&nfree, &nall)) == cudaSuccess && nbytes <= nfree / MEMORY_SHARE;
}

/* Reserves for batches of nbytes. */
static cudaError_t reserve(struct device_inflate *d, size_t nbytes)
{
	struct arena measure = {NULL, 0};
	cudaError_t error;

	if (!is_free(nbytes * (MEMBER_MEMORY_RATIO + 2 * TEXT_RATIO + 2)))
		return cudaErrorMemoryAllocation;
	d->capacity_nbytes = nbytes;
	d->front_nbytes = nbytes / FRONT_SHARE;
	d->segments.most_nbytes = nbytes - d->front_nbytes;
	d->text_room_nbytes = nbytes * TEXT_RATIO;
	memory_cut(d, &measure);
	error = gpu_checked(cudaMalloc((void **)&d->memory.base, measure.nbytes));
	if (error == cudaSuccess) {
		memory_cut(d, &d->memory);
		error = gpu_checked(member_open(&d->member, (uint32_t)nbytes, d->stream));
	}
	if (error == cudaSuccess)
		return error;
	member_close(&d->member);
	(void)cudaFree(d->memory.base);
	d->memory = {NULL, 0};
	(void)cudaGetLastError();
	return error;
}

static cudaError_t open_streams(struct device_inflate *d)
{
	cudaError_t error = cudaSetDevice(d->device);

	if (error == cudaSuccess)
		error = cudaStreamCreateWithFlags(&d->stream, cudaStreamNonBlocking);
	return gpu_checked(error == cudaSuccess ? segments_open(&d->segments, d->device) : error);
}

static void stop_threads(struct device_inflate *d)
{
	if (!d->running)
		return;
	pthread_mutex_lock(&d->lock);
	d->stop = true;
	pthread_cond_broadcast(&d->changed);
	pthread_mutex_unlock(&d->lock);
	segments_stop(&d->segments);
	pthread_join(d->decoder, NULL);
	segments_end(&d->segments);
	d->running = false;
}

static void inflate_close(struct device_inflate *d)
{
	stop_threads(d);
	member_close(&d->member);
	(void)cudaFree(d->memory.base);
	segments_close(&d->segments);
	if (d->stream)
		(void)cudaStreamDestroy(d->stream);
	(void)cudaGetLastError();
	if (d->fd >= 0)
		close(d->fd);
	pthread_mutex_destroy(&d->lock);
	pthread_cond_destroy(&d->changed);
	free(d);
}

/* The packed bytes of a batch. */
static size_t batch_nbytes(size_t chunk_nbytes, off_t file_nbytes)
{
	size_t least = BATCH_NCHUNKS_MIN * chunk_nbytes, most = BATCH_NCHUNKS_MAX * chunk_nbytes;
	size_t nbytes = (size_t)file_nbytes / BATCH_SHARE;

	nbytes = nbytes < least ? least : nbytes > most ? most : nbytes;
	return nbytes < MEMBER_NBYTES_MAX ? nbytes : MEMBER_NBYTES_MAX;
}

static struct device_inflate *inflate_open(int device, size_t chunk_nbytes, off_t file_nbytes)
{
	struct device_inflate *d = (struct device_inflate *)calloc(1, sizeof *d);
	size_t nbytes = batch_nbytes(chunk_nbytes, file_nbytes);
	cudaError_t error;

	if (!d)
		return NULL;
	d->device = device;
	d->fd = -1;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->changed, NULL);
	nbytes = nbytes > CAPACITY_NBYTES_MIN ? nbytes : CAPACITY_NBYTES_MIN;
	error = open_streams(d);
	for (int i = 0; i < NTRIES && error == cudaSuccess; i++, nbytes /= 2)
		if (reserve(d, nbytes / (4 * ARENA_ALIGN) * (4 * ARENA_ALIGN)) == cudaSuccess)
			return d;
	inflate_close(d);
	return NULL;
}

/* ---- the decoding thread ---- */

/* What lies on the device, from the next bit's word on. */
struct region {
	int segment;
	unsigned char *data; /* NULL: none yet */
	uint32_t nbytes;
	off_t position; /* in the file */
	uint64_t bit;
	bool last;
};

/* Takes the next segment behind what is left of the region. False: all stops, or too much is left. */
static bool next_segment(struct device_inflate *d, struct region *r)
{
	uint32_t first = (uint32_t)(r->bit / 32 * 4), nleft = r->nbytes - first;
	const struct segment *s;
	cudaError_t error = cudaSuccess;

	if (r->last || nleft > d->front_nbytes)
		return false;
	s = segments_wait(&d->segments, r->segment ^ 1);
	if (!s)
		return false;
	if (nleft > 0)
		error = gpu_checked(cudaMemcpyAsync(s->data - nleft, r->data + first, nleft,
						    cudaMemcpyDeviceToDevice, d->stream));
	if (error == cudaSuccess)
		error = gpu_checked(cudaStreamSynchronize(d->stream));
	if (r->data)
		segments_free(&d->segments);
	r->segment ^= 1;
	r->data = s->data - nleft;
	r->nbytes = nleft + s->nbytes;
	r->position += first;
	r->bit %= 32;
	r->last = s->last;
	return error == cudaSuccess;
}

/* Waits until the next text is free. NULL: all stops. */
static struct inflated *wait_for_text(struct device_inflate *d)
{
	struct inflated *t = &d->texts[d->npublished % 2];
	bool stop;

	pthread_mutex_lock(&d->lock);
	while (!(stop = d->stop) && t->full)
		pthread_cond_wait(&d->changed, &d->lock);
	pthread_mutex_unlock(&d->lock);
	return stop ? NULL : t;
}

/* Hands out a batch's text, but for what is to be skipped. */
static void publish(struct device_inflate *d, struct inflated *t, size_t nbytes)
{
	uint64_t before = d->place.text_nbytes;
	size_t nskipped = before < d->skip ? (size_t)(d->skip - before) : 0;

	if (nskipped >= nbytes)
		return;
	t->place = d->place;
	t->nbytes = nbytes;
	t->ncut = nskipped;
	t->nusers = 0;
	pthread_mutex_lock(&d->lock);
	t->full = true;
	d->npublished++;
	pthread_cond_broadcast(&d->changed);
	pthread_mutex_unlock(&d->lock);
}

/* Decodes a batch. False: the device has failed, or all stops. */
static bool decode_batch(struct device_inflate *d, struct region *r, enum member_end *how)
{
	struct inflated *t = wait_for_text(d);
	struct member_batch b = {};
	struct member_place behind;

	if (!t)
		return false;
	b.data = {r->data, r->nbytes};
	b.begin = r->bit;
	b.text = t->data;
	b.text_room_nbytes = d->text_room_nbytes;
	if (gpu_checked(member_decode(&d->member, &b)) != cudaSuccess ||
	    gpu_checked(member_window(&d->member, behind.window)) != cudaSuccess) {
		(void)cudaGetLastError();
		return false;
	}
	*how = b.how;
	r->bit = b.end;
	if (b.text_nbytes > 0)
		publish(d, t, b.text_nbytes);
	behind.position = r->position + (off_t)(b.end / 8);
	behind.bit = (unsigned)(b.end % 8);
	behind.text_nbytes = d->member.text_nbytes;
	behind.crc = d->member.crc;
	d->place = behind;
	return true;
}

/* Decodes batch by batch. Returns whether the member's data has ended. */
static bool decode_all(struct device_inflate *d)
{
	struct region r = {1, NULL, 0, d->begin, 0, false};
	enum member_end how;

	if (!next_segment(d, &r))
		return false;
	for (;;) {
		if (!decode_batch(d, &r, &how))
			return false;
		if (how == MEMBER_ENDED)
			return true;
		if (how == MEMBER_FAILED)
			return false;
		if ((how == MEMBER_STARVES || (!r.last && r.nbytes - r.bit / 8 <= d->front_nbytes / 2)) &&
		    !next_segment(d, &r))
			return false;
	}
}

static void *decoder_main(void *argument)
{
	struct device_inflate *d = (struct device_inflate *)argument;
	bool ended = cudaSetDevice(d->device) == cudaSuccess && decode_all(d);

	pthread_mutex_lock(&d->lock);
	d->ended = ended;
	d->finished = true;
	pthread_cond_broadcast(&d->changed);
	pthread_mutex_unlock(&d->lock);
	return NULL;
}

/* ---- the input ---- */

static bool start_threads(struct device_inflate *d)
{
	if (!segments_begin(&d->segments, d->fd, d->begin, d->end))
		return false;
	d->running = thread_start(&d->decoder, decoder_main, d);
	if (!d->running) {
		segments_stop(&d->segments);
		segments_end(&d->segments);
	}
	return d->running;
}

/* Waits until no text is lent any more. */
static void wait_for_users(struct device_inflate *d)
{
	pthread_mutex_lock(&d->lock);
	while (d->texts[0].nusers + d->texts[1].nusers > 0)
		pthread_cond_wait(&d->changed, &d->lock);
	pthread_mutex_unlock(&d->lock);
}

static bool inflate_begin(struct device_inflate *d, int fd, const struct member_place *place, uint64_t skip)
{
	struct stat st;

	if (d->nshort == NSHORT_MAX || fstat(fd, &st) != 0 ||
	    st.st_size - place->position < (off_t)(d->capacity_nbytes / 2))
		return false;
	wait_for_users(d);
	if (d->fd >= 0)
		close(d->fd);
	d->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	if (d->fd < 0)
		return false;
	d->begin = place->position;
	d->end = st.st_size;
	d->skip = skip;
	d->place = *place;
	d->stop = d->finished = d->ended = false;
	d->npublished = d->ncut = 0;
	for (int i = 0; i < 2; i++)
		d->texts[i].full = false;
	member_begin(&d->member);
	return start_threads(d);
}

static bool inflate_cut(struct device_inflate *d, size_t nbytes, struct device_text *text)
{
	bool has_text;

	pthread_mutex_lock(&d->lock);
	while (!(has_text = d->ncut < d->npublished) && !d->finished)
		pthread_cond_wait(&d->changed, &d->lock);
	if (has_text) {
		int buffer = (int)(d->ncut % 2);
		struct inflated *t = &d->texts[buffer];
		size_t left = t->nbytes - t->ncut, nparts = (left + nbytes - 1) / nbytes;
		size_t n = (left + nparts - 1) / nparts; /* parts of one length */
		*text = {d, buffer, t->data + t->ncut, n, &t->place, t->ncut, d->fd};
		t->ncut += n;
		t->nusers++;
		d->ncut += t->ncut == t->nbytes;
	}
	pthread_mutex_unlock(&d->lock);
	return has_text;
}

static void inflate_give_back(const struct device_text *text)
{
	struct device_inflate *d = text->of;
	struct inflated *t = &d->texts[text->buffer];

	pthread_mutex_lock(&d->lock);
	if (--t->nusers == 0 && t->ncut == t->nbytes)
		t->full = false;
	pthread_cond_broadcast(&d->changed);
	pthread_mutex_unlock(&d->lock);
}

static bool inflate_end(struct device_inflate *d, struct member_place *place, bool *ended)
{
	stop_threads(d);
	*place = d->place;
	*ended = d->ended;
	d->nshort += d->ended && place->position - d->begin < (off_t)(d->capacity_nbytes / 2);
	return place->text_nbytes >= d->skip;
}

static enum status inflate_copy(const struct device_text *text, char *to, struct fault *fault)
{
	if (gpu_checked(cudaSetDevice(text->of->device)) == cudaSuccess &&
	    gpu_checked(cudaMemcpy(to, text->data, text->nbytes, cudaMemcpyDeviceToHost)) == cudaSuccess)
		return STATUS_OK;
	(void)cudaGetLastError();
	return member_place_read(text->place, text->fd, text->skip, to, text->nbytes, fault);
}

const struct device_inflate_ops device_inflate_gpu = {
	inflate_open, inflate_close, inflate_begin, inflate_cut, inflate_end, inflate_copy, inflate_give_back,
};
