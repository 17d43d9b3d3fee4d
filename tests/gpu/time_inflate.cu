/* SPDX-License-Identifier: MIT
 *
 * time_inflate.cu - how fast deflate streams are decoded that lie on the device already. Not a test and not
 * installed.
 *
 *     time_inflate FILE [STREAM_KIB [TEXT_MIB [LEVEL]]]
 *
 * The file's text is packed by zlib in pieces of STREAM_KIB (64), and repeated up to TEXT_MIB (1024). Median
 * of many by CUDA events, GB/s of text. STREAM_KIB 0: as one stream, which is decoded in sections, and each step
 * of a batch is timed.
 */
#include <zlib.h>

extern "C" {
#include "base/clock.h"
}

#include "bench/ladder/event_timer.cuh"
#include "kernel_test.cuh"
#include "kernels/codec/member.cuh"

#define NREPEATS 11

struct packed {
	unsigned char *data;
	struct inflate_stream *streams;
	size_t data_nbytes, text_nbytes;
	uint32_t n;
};

static char *text_read(const char *path, size_t *nbytes)
{
	FILE *f = fopen(path, "rb");
	char *text = (char *)malloc(*nbytes);

	if (!f || !text)
		bail("%s: cannot read", path);
	*nbytes = fread(text, 1, *nbytes, f);
	fclose(f);
	return text;
}

static void pack(struct packed *p, const char *text, size_t n, int level)
{
	struct inflate_stream *stream = &p->streams[p->n++];
	z_stream z = {};

	*stream = {p->data_nbytes, p->text_nbytes, 0, (uint32_t)n,
		   (uint32_t)crc32(0, (const unsigned char *)text, (uInt)n)};
	if (deflateInit2(&z, level, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
		bail("zlib does not begin");
	z.next_in = (unsigned char *)text;
	z.avail_in = (uInt)n;
	z.next_out = p->data + p->data_nbytes;
	z.avail_out = (uInt)(n + n / 8 + 64);
	if (deflate(&z, Z_FINISH) != Z_STREAM_END)
		bail("zlib does not pack");
	stream->nbytes = (uint32_t)z.total_out;
	p->data_nbytes += z.total_out;
	p->text_nbytes += n;
	deflateEnd(&z);
}

/* Repeats the first n streams. */
static void repeat(struct packed *p, uint32_t n, size_t data_nbytes, size_t text_nbytes)
{
	for (uint32_t i = 0; i < n; i++) {
		p->streams[p->n] = p->streams[p->n - n];
		p->streams[p->n].data_offset += data_nbytes;
		p->streams[p->n++].text_offset += text_nbytes;
	}
	memcpy(p->data + p->data_nbytes, p->data, data_nbytes);
	p->data_nbytes += data_nbytes;
	p->text_nbytes += text_nbytes;
}

static struct packed packed_make(const char *text, size_t nbytes, size_t stream_nbytes, size_t most, int level)
{
	size_t ntimes = most / nbytes + 1, data_nbytes, text_nbytes;
	struct packed p = {};
	uint32_t n;

	p.data = (unsigned char *)malloc(ntimes * (nbytes + nbytes / 4 + 4096));
	p.streams = (struct inflate_stream *)calloc(ntimes * (nbytes / stream_nbytes + 1), sizeof *p.streams);
	if (!p.data || !p.streams)
		bail("out of memory");
	for (size_t at = 0; at < nbytes; at += stream_nbytes)
		pack(&p, text + at, nbytes - at < stream_nbytes ? nbytes - at : stream_nbytes, level);
	n = p.n, data_nbytes = p.data_nbytes, text_nbytes = p.text_nbytes;
	for (size_t i = 1; i < ntimes; i++)
		repeat(&p, n, data_nbytes, text_nbytes);
	return p;
}

template <class LAUNCH>
static void time_it(const char *name, const struct packed &p, struct inflate_job job, LAUNCH launch)
{
	struct bench_time time;
	uint32_t ndamaged;

	must(cudaMemset(job.ndamaged, 0, sizeof *job.ndamaged), "clear");
	must(event_timer_run(NREPEATS, [&] { return cudaMemsetAsync(job.ticket, 0, sizeof *job.ticket, 0); },
			     [&] { return launch(job, 0); }, &time), name);
	must(cudaMemcpy(&ndamaged, job.ndamaged, sizeof ndamaged, cudaMemcpyDeviceToHost), "copy back");
	printf("%-8s %8.3f ms %7.1f GB/s of text%s\n", name, time.median_ns * 1e-6,
	       (double)p.text_nbytes / time.median_ns, ndamaged ? ", DAMAGED" : "");
}

/* ---- one stream, in sections ---- */

template <class LAUNCH>
static void time_step(const char *name, const struct member_batch &b, LAUNCH launch)
{
	struct bench_time time;

	must(event_timer_run(NREPEATS, [] { return cudaSuccess; }, launch, &time), name);
	printf("%-8s %8.3f ms %7.1f GB/s of text\n", name, time.median_ns * 1e-6, (double)b.text_nbytes / time.median_ns);
}

/* The steps of a batch that has been decoded. */
static void time_steps(struct member *m, const struct member_batch &b)
{
	uint64_t end = (uint64_t)b.data.nbytes * 8;

	printf("a batch: %u packed bytes, %u sections, %u of them in the chain, %.1f MB of text\n", b.data.nbytes,
	       m->job.nsections, m->text.n, (double)b.text_nbytes / 1e6);
	time_step("find", b, [&] {
		(void)cudaMemsetAsync(m->list.n, 0, sizeof *m->list.n, 0);
		return sections_find_launch(b.data, b.begin + 1, end, m->list, 0);
	});
	time_step("symbols", b, [&] {
		(void)cudaMemsetAsync(m->job.ticket, 0, sizeof *m->job.ticket, 0);
		return sections_decode_launch(m->job, 0);
	});
	time_step("text", b, [&] { return sections_text_launch(m->text, 0); });
	time_step("sums", b, [&] { return sections_crc_launch(m->text, m->device_crcs, 0); });
}

/* Decodes all of the stream. Returns how many batches it took; times the steps of the second, if asked. */
static unsigned decode_all(struct member *m, const struct packed &p, const unsigned char *data, struct member_batch *b,
			   bool times)
{
	unsigned nbatches = 0;
	uint64_t bit = 0;

	member_begin(m);
	do {
		uint64_t first = bit / 32 * 4, left = p.data_nbytes - first;
		b->data = {data + first, (uint32_t)(left < m->capacity_nbytes ? left : m->capacity_nbytes)};
		b->begin = bit % 32;
		must(member_decode(m, b), "decode");
		bit += b->end - b->begin;
		if (nbatches++ == 1 && times)
			time_steps(m, *b);
	} while (b->how == MEMBER_GOES_ON);
	return nbatches;
}

static void time_member(const struct packed &p, uint32_t batch_nbytes)
{
	unsigned char *data = device_copy(p.data, p.data_nbytes + INFLATE_PAD_NBYTES);
	struct member_batch b = {};
	struct member m;

	b.text_room_nbytes = 8 * (size_t)batch_nbytes;
	b.text = device_filled<char>(b.text_room_nbytes, POISON);
	must(member_open(&m, batch_nbytes, 0), "open");
	decode_all(&m, p, data, &b, true);
	double begin_s = clock_s();
	unsigned nbatches = decode_all(&m, p, data, &b, false);
	double s = clock_s() - begin_s;
	printf("all      %8.3f ms %7.1f GB/s of text, %u batches; end %d, CRC %s\n", s * 1e3,
	       (double)m.text_nbytes / s * 1e-9, nbatches, b.how, m.crc == p.streams[0].crc ? "right" : "WRONG");
	member_close(&m);
	device_free(b.text);
	device_free(data);
}

int main(int argc, char **argv)
{
	size_t kib = argc > 2 ? strtoul(argv[2], NULL, 10) : 64, mib = argc > 3 ? strtoul(argv[3], NULL, 10) : 1024;
	int level = argc > 4 ? atoi(argv[4]) : 6;
	size_t nbytes = (size_t)64 << 20;
	struct inflate_job job = {};

	if (argc < 2)
		bail("usage: time_inflate FILE [STREAM_KIB [TEXT_MIB [LEVEL]]]");
	if (kib == 0)
		nbytes = mib << 20;
	char *text = text_read(argv[1], &nbytes);
	struct packed p = packed_make(text, nbytes, kib ? kib << 10 : nbytes, kib ? mib << 20 : 0, level);
	printf("%u streams of %zu KiB, %.2f GB of text, ratio %.2f\n", p.n, kib, (double)p.text_nbytes / 1e9,
	       (double)p.text_nbytes / (double)p.data_nbytes);
	if (kib == 0) {
		for (uint32_t nbytes = MEMBER_NBYTES_MAX; nbytes >= MEMBER_NBYTES_MAX / 4; nbytes /= 2)
			time_member(p, nbytes);
		return 0;
	}
	job.data = device_copy(p.data, p.data_nbytes + INFLATE_PAD_NBYTES);
	job.streams = device_copy(p.streams, p.n);
	job.nstreams = p.n;
	job.text = device_filled<char>(p.text_nbytes, POISON);
	job.ndamaged = device_filled<uint32_t>(1, 0);
	job.ticket = device_filled<uint32_t>(1, 0);
	time_it("inflate", p, job, inflate_launch);
	time_it("check", p, job, inflate_check_launch);
	return 0;
}
