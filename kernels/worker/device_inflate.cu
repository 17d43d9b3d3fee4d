/* SPDX-License-Identifier: MIT
 *
 * device_inflate.cu - a GPU decodes the data of a gzip member for all its workers: see
 * src/codec/gzip.h.
 *
 *     reading threads   the file, in stages -> pinned memory -> one of two segments on the device
 *     decoding thread   segment -> member_decode() -> one of two texts on the device
 *     input             text -> chunks; a worker copies each to its own memory, and gives the text back
 *
 * What a segment's end cuts is copied in front of the next one. After each batch the host keeps the place where the batch
 * ended, with its window. If the device cannot go on, the CPUs go on from there. If the device fails, they decode the text
 * of the batch again, from the place before it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

extern "C" {
#include "base/thread.h"
#include "codec/gzip.h"
#include "io/reader.h"
}

#include "kernels/codec/member.cuh"
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

/* One thread copies 6 to 7 GB/s out of the page cache; a member of logs is decoded at 5 GB/s of packed bytes. */
#define NREADERS 3
#define STAGE_NBYTES ((size_t)4 << 20) /* read at once */

/* Reads stage after stage of the file, and copies them to the device: while one is copied, the next is read. */
struct stage_reader {
	struct device_inflate *of;
	pthread_t thread;
	cudaStream_t copies;
	cudaEvent_t copied[2];
	struct pinned_buffer stage[2];
};

struct inflated {
	char *data;
	size_t nbytes, ncut;
	bool full; /* until all has been cut and given back */
	int nusers;
	struct member_place place; /* before it */
};

struct device_inflate {
	int device;
	size_t capacity_nbytes, front_nbytes, segment_nbytes, text_room_nbytes;
	cudaStream_t stream;
	struct arena memory;
	unsigned char *segments[2]; /* taken in turns, each of capacity_nbytes, with room in front */
	struct stage_reader readers[NREADERS];
	unsigned nreaders; /* whose threads are to be joined, as the decoder's */
	struct member member;
	bool running;
	pthread_t decoder;
	unsigned nshort;

	/* The current member. */
	int fd;
	off_t begin;   /* of its data, in the file ... */
	off_t end;     /* ... which has so many bytes */
	uint64_t skip; /* of its text */
	struct ordered_queue stages; /* from begin to end; while threads run */

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
		d->segments[i] = data ? data + d->front_nbytes : NULL;
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
	d->segment_nbytes = nbytes - d->front_nbytes;
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
	for (struct stage_reader *r = d->readers; r < d->readers + NREADERS && error == cudaSuccess; r++) {
		r->of = d;
		error = cudaStreamCreateWithFlags(&r->copies, cudaStreamNonBlocking);
		for (int i = 0; i < 2 && error == cudaSuccess; i++) {
			pinned_buffer_reserve(&r->stage[i], STAGE_NBYTES);
			error = pinned_buffer_pin(&r->stage[i]);
			if (error == cudaSuccess)
				error = cudaEventCreateWithFlags(&r->copied[i], cudaEventDisableTiming);
		}
	}
	return gpu_checked(error);
}

static void close_streams(struct device_inflate *d)
{
	for (struct stage_reader *r = d->readers; r < d->readers + NREADERS; r++) {
		for (int i = 0; i < 2; i++) {
			(void)pinned_buffer_free(&r->stage[i]);
			if (r->copied[i])
				(void)cudaEventDestroy(r->copied[i]);
		}
		if (r->copies)
			(void)cudaStreamDestroy(r->copies);
	}
	if (d->stream)
		(void)cudaStreamDestroy(d->stream);
	(void)cudaGetLastError();
}

/* Ends what start_threads has begun, or some of it. */
static void stop_threads(struct device_inflate *d)
{
	if (d->nreaders == 0)
		return;
	pthread_mutex_lock(&d->lock);
	d->stop = true;
	pthread_cond_broadcast(&d->changed);
	pthread_mutex_unlock(&d->lock);
	ordered_queue_stop(&d->stages);
	if (d->running)
		pthread_join(d->decoder, NULL);
	d->running = false;
	while (d->nreaders > 0)
		pthread_join(d->readers[--d->nreaders].thread, NULL);
	ordered_queue_destroy(&d->stages);
}

static void inflate_close(struct device_inflate *d)
{
	stop_threads(d);
	member_close(&d->member);
	(void)cudaFree(d->memory.base);
	close_streams(d);
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

/* ---- a reading thread ---- */

/* A segment's stages, of which the last may be shorter. */
static uint64_t stages_per_segment(const struct device_inflate *d)
{
	return (d->segment_nbytes + STAGE_NBYTES - 1) / STAGE_NBYTES;
}

/* The bytes of segment k. */
static size_t nbytes_of_segment(const struct device_inflate *d, uint64_t k)
{
	off_t left = d->end - d->begin - (off_t)(k * d->segment_nbytes);

	return left < (off_t)d->segment_nbytes ? (size_t)left : d->segment_nbytes;
}

/* Reads a stage into one of the two buffers, and launches its copy. Errors: STATUS_GPU, the file's. */
static enum status read_stage(struct stage_reader *r, uint64_t stage, int buffer, struct fault *fault)
{
	const struct device_inflate *d = r->of;
	uint64_t k = stage / stages_per_segment(d);
	size_t at = stage % stages_per_segment(d) * STAGE_NBYTES, nbytes = nbytes_of_segment(d, k);
	char *data = r->stage[buffer].data;

	nbytes = at >= nbytes ? 0 : nbytes - at < STAGE_NBYTES ? nbytes - at : STAGE_NBYTES;
	TRY(file_read_range(d->fd, d->begin + (off_t)(k * d->segment_nbytes + at), data, nbytes, fault));
	GPU_TRY("copy stage",
	    cudaMemcpyAsync(d->segments[k % 2] + at, data, nbytes, cudaMemcpyHostToDevice, r->copies));
	GPU_TRY("copy stage", cudaEventRecord(r->copied[buffer], r->copies));
	return STATUS_OK;
}

/* A stage is finished once it has been copied. The thread waits for the copy only after it has read the next stage, or when
 * there is none to read now. */
static void *reader_main(void *argument)
{
	struct stage_reader *r = (struct stage_reader *)argument;
	struct ordered_queue *q = &r->of->stages;
	uint64_t next, last = UINT64_MAX; /* last: not finished yet; UINT64_MAX: none */
	struct fault fault;
	int buffer = 0;
	bool taken;

	if (cudaSetDevice(r->of->device) != cudaSuccess)
		(void)cudaGetLastError(); /* copies will fail */
	while ((taken = ordered_queue_take(q, last == UINT64_MAX, &next)) || last != UINT64_MAX) {
		enum status status = taken ? read_stage(r, next, buffer, &fault) : STATUS_OK;
		if (status != STATUS_OK)
			ordered_queue_finish(q, next, status, &fault); /* CPUs go on */
		if (last != UINT64_MAX) {
			cudaError_t error = gpu_checked(cudaEventSynchronize(r->copied[buffer ^ 1]));
			if (error != cudaSuccess)
				gpu_fault(&fault, STATUS_GPU, "copy stage", error);
			ordered_queue_finish(q, last, error == cudaSuccess ? STATUS_OK : STATUS_GPU, &fault);
		}
		last = taken && status == STATUS_OK ? next : UINT64_MAX;
		buffer ^= 1;
	}
	return NULL;
}

/* ---- the decoding thread ---- */

/* What lies on the device, from the next bit's word on. */
struct region {
	uint64_t nsegments; /* that have been taken */
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
	uint64_t k = r->nsegments, end = (k + 1) * stages_per_segment(d);
	unsigned char *data = d->segments[k % 2] - nleft;
	cudaError_t error = cudaSuccess;

	if (r->last || nleft > d->front_nbytes || !ordered_queue_await(&d->stages, end, end))
		return false;
	if (nleft > 0)
		error = gpu_checked(cudaMemcpyAsync(data, r->data + first, nleft, cudaMemcpyDeviceToDevice, d->stream));
	if (error == cudaSuccess)
		error = gpu_checked(cudaStreamSynchronize(d->stream));
	ordered_queue_release(&d->stages, k * stages_per_segment(d)); /* of the segments before */
	r->nsegments++;
	r->data = data;
	r->nbytes = nleft + (uint32_t)nbytes_of_segment(d, k);
	r->position += first;
	r->bit %= 32;
	r->last = d->begin + (off_t)(r->nsegments * d->segment_nbytes) >= d->end;
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
	struct region r = {0, NULL, 0, d->begin, 0, false};
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

/* All stages are there from the beginning; those of two segments may be read ahead. */
static bool start_threads(struct device_inflate *d)
{
	uint64_t nsegments = ((uint64_t)(d->end - d->begin) + d->segment_nbytes - 1) / d->segment_nbytes;

	ordered_queue_init(&d->stages, 2 * stages_per_segment(d), nsegments * stages_per_segment(d), true);
	ordered_queue_end(&d->stages);
	while (d->nreaders < NREADERS &&
	       thread_start(&d->readers[d->nreaders].thread, reader_main, &d->readers[d->nreaders]))
		d->nreaders++;
	if (d->nreaders == 0)
		ordered_queue_destroy(&d->stages);
	else
		d->running = thread_start(&d->decoder, decoder_main, d);
	if (!d->running)
		stop_threads(d);
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
