/* SPDX-License-Identifier: MIT
 *
 * inflate_bench.cu - see inflate_bench.h.
 *
 * A piece of the text is packed once; the device has it as often as the text is long, each time at another place, so
 * that no cache holds the packed data.
 */
#include "bench/ladder/inflate_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bench/ladder/event_timer.cuh"
#include "bench/ladder/gpu_fault.cuh"
#include "bench/ladder/inflate_nvcomp.h"
#include "kernels/ladder/inflate_rung.cuh"
#include "kernels/worker/gpu.h"

#define DEFAULT_NBYTES ((uint64_t)1 << 30)
#define DEFAULT_BLOCK_NBYTES ((uint64_t)64 << 10)
#define PIECE_NBYTES ((uint64_t)32 << 20)
#define LEVEL 6
#define FOUND_ROOM 64 /* bytes behind the text, in which nothing may be written */
#define FOUND_BYTE 0x5a

static const struct inflate_rung shipped = {"shipped", "a warp makes the tables and copies matches together", inflate_launch};
static const struct inflate_rung *const rungs[] = {&inflate_simple, &inflate_lookup, &inflate_shared, &shipped};

/* The piece of text, packed. */
struct piece {
	char *text;
	unsigned char *data;
	struct inflate_stream *streams;
	uint32_t nstreams;
	uint64_t text_nbytes, data_nbytes;
};

struct session {
	const struct inflate_request *request;
	struct work_run *run;
	struct piece piece;
	uint64_t block_nbytes;
	uint32_t npieces;
	struct inflate_job job; /* of all pieces */
};

/* ---- the text ---- */

static uint32_t next_random(uint64_t *state)
{
	*state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (uint32_t)(*state >> 33);
}

/* Writes lines of a web server's log: nbytes of them, the last one cut. */
static void write_logs(char *text, uint64_t nbytes)
{
	uint64_t state = 1, n = 0;
	char line[128];

	while (n < nbytes) {
		uint32_t r = next_random(&state), s = next_random(&state), t = next_random(&state);
		int length = snprintf(line, sizeof line, "2026-11-%02uT%02u:%02u:%02uZ,10.%u.%u.%u,%s,\"/item/%u,%u\",%u,%u,0.%03u\n",
				      1 + r % 28, s % 24, s / 24 % 60, t % 60, r / 28 % 4, s / 1440 % 256, t / 60 % 256,
				      t % 10 ? "GET" : "POST", r / 112 % 5000, t / 15360 % 100, s % 50 ? 200u : 404u,
				      s / 368640 % 20000, r / 560000 % 1000);
		uint64_t take = (uint64_t)length < nbytes - n ? (uint64_t)length : nbytes - n;
		memcpy(text + n, line, take);
		n += take;
	}
}

/* Packs a block of the text behind what is packed. False: no memory. */
static bool pack_block(struct piece *p, uint64_t at, uint64_t nbytes)
{
	struct inflate_stream *stream = &p->streams[p->nstreams++];
	unsigned char *text = (unsigned char *)p->text + at;
	z_stream z = {};

	*stream = {p->data_nbytes, at, 0, (uint32_t)nbytes, (uint32_t)crc32(0, text, (uInt)nbytes)};
	if (deflateInit2(&z, LEVEL, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		return false;
	z.next_in = text;
	z.avail_in = (uInt)nbytes;
	z.next_out = p->data + p->data_nbytes;
	z.avail_out = (uInt)deflateBound(&z, (uLong)nbytes);
	bool is_packed = deflate(&z, Z_FINISH) == Z_STREAM_END;
	stream->nbytes = (uint32_t)z.total_out;
	p->data_nbytes += z.total_out;
	deflateEnd(&z);
	return is_packed;
}

static void piece_free(struct piece *p)
{
	free(p->text);
	free(p->data);
	free(p->streams);
}

/* Makes a piece of whole blocks. False: no memory. */
static bool piece_make(struct piece *p, uint64_t nbytes, uint64_t block_nbytes)
{
	uint64_t nblocks = nbytes / block_nbytes;

	p->text_nbytes = nblocks * block_nbytes;
	p->text = (char *)malloc(p->text_nbytes);
	p->data = (unsigned char *)malloc(p->text_nbytes + nblocks * 1024);
	p->streams = (struct inflate_stream *)calloc(nblocks, sizeof *p->streams);
	if (!p->text || !p->data || !p->streams)
		return false;
	write_logs(p->text, p->text_nbytes);
	for (uint64_t i = 0; i < nblocks; i++)
		if (!pack_block(p, i * block_nbytes, block_nbytes))
			return false;
	p->data_nbytes = (p->data_nbytes + 3) / 4 * 4; /* each piece begins at a word */
	return true;
}

/* ---- the device ---- */

static cudaError_t upload_piece(const struct session *s, uint32_t k)
{
	const struct piece *p = &s->piece;
	struct inflate_stream *streams = (struct inflate_stream *)malloc(p->nstreams * sizeof *streams);
	cudaError_t error = streams ? cudaSuccess : cudaErrorMemoryAllocation;

	for (uint32_t i = 0; streams && i < p->nstreams; i++) {
		streams[i] = p->streams[i];
		streams[i].data_offset += k * p->data_nbytes;
		streams[i].text_offset += k * p->text_nbytes;
	}
	if (error == cudaSuccess)
		error = cudaMemcpy((void *)(s->job.data + k * p->data_nbytes), p->data, p->data_nbytes, cudaMemcpyHostToDevice);
	if (error == cudaSuccess)
		error = cudaMemcpy((void *)(s->job.streams + (size_t)k * p->nstreams), streams, p->nstreams * sizeof *streams,
				   cudaMemcpyHostToDevice);
	free(streams);
	return error;
}

static cudaError_t job_open(struct session *s)
{
	const struct piece *p = &s->piece;
	cudaError_t error = cudaMalloc((void **)&s->job.data, s->npieces * p->data_nbytes + INFLATE_PAD_NBYTES);

	s->job.nstreams = s->npieces * p->nstreams;
	if (error == cudaSuccess)
		error = cudaMalloc((void **)&s->job.streams, s->job.nstreams * sizeof *s->job.streams);
	if (error == cudaSuccess)
		error = cudaMalloc((void **)&s->job.text, s->npieces * p->text_nbytes + FOUND_ROOM);
	if (error == cudaSuccess)
		error = cudaMalloc((void **)&s->job.ndamaged, sizeof *s->job.ndamaged);
	if (error == cudaSuccess)
		error = cudaMalloc((void **)&s->job.ticket, sizeof *s->job.ticket);
	for (uint32_t k = 0; k < s->npieces && error == cudaSuccess; k++)
		error = upload_piece(s, k);
	return error;
}

static void job_close(struct inflate_job *job)
{
	(void)cudaFree((void *)job->data);
	(void)cudaFree((void *)job->streams);
	(void)cudaFree(job->text);
	(void)cudaFree(job->ndamaged);
	(void)cudaFree(job->ticket);
}

/* ---- checks ---- */

/* Decodes all; *ndamaged: streams that the rung, and *nwrong: that their CRCs have found. */
static cudaError_t decode(const struct session *s, const struct inflate_rung *rung, uint32_t *ndamaged, uint32_t *nwrong)
{
	const struct inflate_job *job = &s->job;
	uint64_t nbytes = s->npieces * s->piece.text_nbytes + FOUND_ROOM;
	cudaError_t error = cudaMemset(job->text, FOUND_BYTE, nbytes);

	if (error == cudaSuccess)
		error = cudaMemset(job->ticket, 0, sizeof *job->ticket);
	if (error == cudaSuccess)
		error = cudaMemset(job->ndamaged, 0, sizeof *job->ndamaged);
	if (error == cudaSuccess)
		error = rung->launch(*job, 0);
	if (error == cudaSuccess)
		error = cudaMemcpy(ndamaged, job->ndamaged, sizeof *ndamaged, cudaMemcpyDeviceToHost);
	if (error == cudaSuccess)
		error = cudaMemset(job->ndamaged, 0, sizeof *job->ndamaged);
	if (error == cudaSuccess)
		error = inflate_check_launch(*job, 0);
	if (error == cudaSuccess)
		error = cudaMemcpy(nwrong, job->ndamaged, sizeof *nwrong, cudaMemcpyDeviceToHost);
	return error;
}

/* Compares all text with the piece's, and what is behind it. One check a piece, and one. */
static cudaError_t compare(const struct session *s, struct work_figure *figure)
{
	const struct piece *p = &s->piece;
	char *text = (char *)malloc(p->text_nbytes + FOUND_ROOM);
	cudaError_t error = text ? cudaSuccess : cudaErrorMemoryAllocation;

	for (uint32_t k = 0; k < s->npieces && error == cudaSuccess; k++) {
		size_t more = k + 1 == s->npieces ? FOUND_ROOM : 0;
		error = cudaMemcpy(text, s->job.text + k * p->text_nbytes, p->text_nbytes + more, cudaMemcpyDeviceToHost);
		figure->is_right &= error == cudaSuccess && memcmp(text, p->text, p->text_nbytes) == 0;
		figure->nchecks++;
		for (size_t i = 0; i < more; i++)
			figure->is_right &= text[p->text_nbytes + i] == FOUND_BYTE;
	}
	figure->nchecks++;
	free(text);
	return error;
}

/* Flips a bit in the middle of each stream, or flips it back. */
static cudaError_t flip(const struct session *s)
{
	struct piece *p = (struct piece *)&s->piece;
	cudaError_t error = cudaSuccess;

	for (uint32_t i = 0; i < p->nstreams; i++)
		p->data[p->streams[i].data_offset + p->streams[i].nbytes / 2] ^= 16;
	for (uint32_t k = 0; k < s->npieces && error == cudaSuccess; k++)
		error = upload_piece(s, k);
	return error;
}

/* Decodes good data, and compares all of it. */
static cudaError_t check_good(const struct session *s, const struct inflate_rung *rung, struct work_figure *figure)
{
	uint32_t ndamaged, nwrong;
	cudaError_t error = decode(s, rung, &ndamaged, &nwrong);

	figure->is_right = error == cudaSuccess && ndamaged == 0 && nwrong == 0;
	figure->nchecks = 2;
	return error == cudaSuccess ? compare(s, figure) : error;
}

/* Decodes data of which each stream is damaged. */
static cudaError_t check_damaged(const struct session *s, const struct inflate_rung *rung, struct work_figure *figure)
{
	uint32_t ndamaged, nwrong;
	cudaError_t error = flip(s);

	if (error == cudaSuccess)
		error = decode(s, rung, &ndamaged, &nwrong);
	figure->is_right &= error == cudaSuccess && nwrong == s->job.nstreams;
	figure->nchecks++;
	return error == cudaSuccess ? flip(s) : error;
}

/* ---- figures ---- */

static bool is_asked(const struct session *s, const char *name)
{
	for (size_t i = 0; i < s->request->nrungs; i++)
		if (strcmp(s->request->rungs[i], name) == 0)
			return true;
	return s->request->nrungs == 0;
}

static enum status measure(struct session *s, const struct inflate_rung *rung, struct fault *fault)
{
	struct work_figure figure = {};
	const struct inflate_job job = s->job;
	cudaError_t error;

	figure.rung = rung->name;
	figure.idea = rung->idea;
	figure.nbytes = s->npieces * s->piece.text_nbytes;
	error = check_good(s, rung, &figure);
	if (error == cudaSuccess && rung != inflate_nvcomp())
		error = check_damaged(s, rung, &figure);
	if (error == cudaSuccess)
		error = event_timer_warm(s->request->repeat,
					 [=] { return cudaMemsetAsync(job.ticket, 0, sizeof *job.ticket, 0); },
					 [=] { return rung->launch(job, 0); }, &figure.time);
	if (error == cudaSuccess)
		s->run->figures[s->run->nfigures++] = figure;
	return gpu_fault_of(fault, rung->name, error);
}

/* Decodes the piece with zlib, once. Returns whether it is right. */
static bool decode_with_zlib(const struct piece *p, char *text)
{
	for (uint32_t i = 0; i < p->nstreams; i++) {
		z_stream z = {};
		if (inflateInit2(&z, -15) != Z_OK)
			return false;
		z.next_in = p->data + p->streams[i].data_offset;
		z.avail_in = p->streams[i].nbytes;
		z.next_out = (unsigned char *)text + p->streams[i].text_offset;
		z.avail_out = p->streams[i].text_nbytes;
		int end = inflate(&z, Z_FINISH);
		inflateEnd(&z);
		if (end != Z_STREAM_END)
			return false;
	}
	return memcmp(text, p->text, p->text_nbytes) == 0;
}

#define CPU_NREPEATS 3

static enum status measure_cpu(struct session *s, struct fault *fault)
{
	struct work_figure figure = {"zlib", "one thread of the CPU: zlib", true, true, CPU_NREPEATS, s->piece.text_nbytes,
				     0,      0,                             {}};
	char *text = (char *)malloc(s->piece.text_nbytes);
	double ns[CPU_NREPEATS];

	if (!text)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	for (int i = 0; i < CPU_NREPEATS; i++) {
		double begin_ns = timing_now_ns();
		figure.is_right &= decode_with_zlib(&s->piece, text);
		ns[i] = timing_now_ns() - begin_ns;
	}
	figure.time = timing_summary(ns, CPU_NREPEATS);
	s->run->figures[s->run->nfigures++] = figure;
	free(text);
	return STATUS_OK;
}

/* ---- the run ---- */

/* Checks the names of rungs. */
static enum status check_names(const struct inflate_request *request, struct fault *fault)
{
	char words[FAULT_DETAIL_NBYTES];

	for (size_t i = 0; i < request->nrungs; i++) {
		bool is_known = strcmp(request->rungs[i], "zlib") == 0 ||
				(strcmp(request->rungs[i], "nvcomp") == 0 && inflate_nvcomp());
		for (const struct inflate_rung *rung : rungs)
			is_known |= strcmp(request->rungs[i], rung->name) == 0;
		if (is_known)
			continue;
		snprintf(words, sizeof words, "no rung '%.64s' of inflate; there are zlib, simple, lookup, shared, shipped, and nvcomp "
						       "where libnvcomp.so is",
			 request->rungs[i]);
		return fault_set(fault, STATUS_USAGE, 0, words);
	}
	return STATUS_OK;
}

/* Sets the sizes: the text is whole pieces. */
static cudaError_t size_up(struct session *s, uint64_t nbytes)
{
	size_t nfree = 0, nall = 0;
	cudaError_t error = cudaMemGetInfo(&nfree, &nall);

	while (s->request->text_nbytes == 0 && nbytes > PIECE_NBYTES && nbytes * 2 > nfree)
		nbytes /= 2;
	s->npieces = (uint32_t)(nbytes / s->piece.text_nbytes);
	s->npieces += s->npieces == 0;
	return error;
}

static void describe(const struct session *s)
{
	const struct piece *p = &s->piece;
	char text[BENCH_N_NBYTES], block[BENCH_N_NBYTES];

	snprintf(s->run->about, sizeof s->run->about, "%s bytes of log lines in blocks of %s, packed %.2f times by zlib's level %d",
		 bench_n_text(s->npieces * p->text_nbytes, text), bench_n_text(s->block_nbytes, block),
		 (double)p->text_nbytes / (double)p->data_nbytes, LEVEL);
}

static enum status measure_all(struct session *s, struct fault *fault)
{
	enum status status = gpu_fault_of(fault, "memory", job_open(s));

	if (status == STATUS_OK && is_asked(s, "zlib"))
		status = measure_cpu(s, fault);
	for (const struct inflate_rung *rung : rungs)
		if (status == STATUS_OK && is_asked(s, rung->name))
			status = measure(s, rung, fault);
	if (status == STATUS_OK && is_asked(s, "nvcomp") && inflate_nvcomp())
		status = measure(s, inflate_nvcomp(), fault);
	inflate_nvcomp_close();
	job_close(&s->job);
	return status;
}

enum status inflate_bench(const struct inflate_request *request, struct work_run *run, struct fault *fault)
{
	uint64_t nbytes = request->text_nbytes ? request->text_nbytes : DEFAULT_NBYTES;
	struct session s = {request, run, {}, request->block_nbytes, 0, {}};
	enum status status = check_names(request, fault);

	memset(run, 0, sizeof *run);
	run->ladder = "inflate";
	run->speed = "GB/s of text";
	s.block_nbytes = s.block_nbytes ? s.block_nbytes : DEFAULT_BLOCK_NBYTES;
	nbytes = nbytes > s.block_nbytes ? nbytes : s.block_nbytes;
	if (status == STATUS_OK && gpu_count() == 0)
		status = fault_set(fault, STATUS_NO_GPU, 0, NULL);
	if (status != STATUS_OK)
		return status;
	gpu_name(0, run->gpu, sizeof run->gpu);
	gpu_versions(run->versions, sizeof run->versions);
	if (!piece_make(&s.piece, nbytes < PIECE_NBYTES ? nbytes : PIECE_NBYTES, s.block_nbytes))
		status = fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (status == STATUS_OK)
		status = gpu_fault_of(fault, "memory", size_up(&s, nbytes));
	if (status == STATUS_OK) {
		describe(&s);
		status = measure_all(&s, fault);
	}
	piece_free(&s.piece);
	return status;
}
