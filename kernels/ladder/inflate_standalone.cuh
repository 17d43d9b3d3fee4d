/* SPDX-License-Identifier: MIT
 *
 * inflate_standalone.cuh - main() of a rung of inflating that is compiled alone:
 *
 *     nvcc -arch=native kernels/ladder/inflate_simple.cu -o simple && ./simple
 *
 * decodes a text that was stored, packed with fixed codes, and with its own; then packed streams with each of their bits
 * flipped, one after the other, of which none may write beyond its text's room. Prints PASS or FAIL. Exit status: 0, 1,
 * or 77 where there is no device. bench/ladder/inflate_bench.cu and tests/gpu/test_inflate.cu check more.
 * Only inflate_rung.cuh includes it, behind its declarations.
 */
#ifndef GPUSTAT_LADDER_INFLATE_STANDALONE_CUH
#define GPUSTAT_LADDER_INFLATE_STANDALONE_CUH

#include <stdio.h>
#include <string.h>

#define STANDALONE_SKIP 77
#define STANDALONE_TEXT_NBYTES 321
#define STANDALONE_GUARD_NBYTES 64
#define STANDALONE_GUARD 0x5a

/* The text of standalone_text, as zlib packs it. */
static const unsigned char standalone_fixed[] = {
	0x33, 0xd0, 0xc9, 0x2c, 0x49, 0xcd, 0xd5, 0x35, 0xd0, 0x31, 0xe0, 0x32, 0x84, 0x30, 0x0d, 0x75, 0x2c, 0xcd, 0xb9, 0x8c,
	0x20, 0x6c, 0x13, 0x1d, 0x43, 0x4b, 0x13, 0x2e, 0x63, 0x08, 0xc7, 0x48, 0xc7, 0xc8, 0xd2, 0x90, 0xcb, 0x04, 0xc6, 0x31,
	0xb6, 0xb0, 0xe0, 0x32, 0x85, 0x29, 0x33, 0xb1, 0x30, 0xe5, 0x32, 0x83, 0xe9, 0x37, 0xb5, 0x30, 0xe2, 0x32, 0x87, 0x99,
	0x6b, 0x66, 0x6e, 0xc9, 0x65, 0x01, 0x93, 0x31, 0x37, 0x37, 0xe3, 0xb2, 0x84, 0xe9, 0xb1, 0x30, 0x37, 0xe6, 0x32, 0x34,
	0x80, 0x19, 0x67, 0x69, 0x0e, 0x74, 0x81, 0x21, 0x8c, 0x67, 0x66, 0xce, 0x65, 0x88, 0x70, 0x83, 0x99, 0x09, 0x97, 0xa1,
	0x31, 0xcc, 0x0c, 0x23, 0x33, 0x43, 0x2e, 0x43, 0x13, 0x98, 0xf1, 0xc6, 0xa6, 0x16, 0x5c, 0x86, 0xa6, 0x30, 0x39, 0x13,
	0x53, 0x53, 0x2e, 0x43, 0x33, 0x98, 0x3e, 0x53, 0x53, 0x23, 0x2e, 0x43, 0x73, 0xb8, 0x91, 0x26, 0x96, 0x5c, 0x86, 0x16,
	0x30, 0x9e, 0xb9, 0x89, 0x19, 0x97, 0x21, 0xc2, 0x29, 0x26, 0xc6, 0x5c, 0x46, 0x06, 0x70, 0xff, 0x9b, 0x18, 0x70, 0x19,
	0x19, 0xc2, 0x6d, 0x00, 0x86, 0x86, 0x11, 0x4c, 0xca, 0xd0, 0xd8, 0x84, 0xcb, 0xc8, 0x18, 0xa6, 0xcd, 0xc8, 0xd8, 0x90,
	0x0b, 0x00,
};

static const unsigned char standalone_dynamic[] = {
	0x45, 0x90, 0x3b, 0x0e, 0x02, 0x31, 0x10, 0x43, 0x7b, 0x9f, 0x25, 0x48, 0xf1, 0xfc, 0x73, 0x20, 0x0a, 0x0a, 0x3a, 0xee,
	0x2f, 0x90, 0x56, 0x5e, 0xba, 0xb1, 0x1c, 0xbf, 0x71, 0x66, 0xaf, 0xd7, 0xe7, 0xf9, 0x7e, 0xec, 0xb5, 0xc1, 0x6b, 0xe4,
	0x3a, 0x0d, 0xbb, 0xe6, 0x58, 0x3c, 0x01, 0xbf, 0x84, 0x2d, 0x3b, 0x44, 0x48, 0xf8, 0x0c, 0x52, 0xcf, 0x62, 0x12, 0xa5,
	0x7c, 0x8e, 0xa1, 0xc5, 0xad, 0x3e, 0x18, 0x39, 0xdd, 0x85, 0xa3, 0xcc, 0xb4, 0x83, 0x5b, 0xb8, 0xd3, 0xbf, 0x06, 0x94,
	0xaa, 0x06, 0xff, 0x1d, 0x2a, 0x40, 0x17, 0xc3, 0x8a, 0x60, 0x08, 0xef, 0x39, 0x60, 0xca, 0x8b, 0x4c, 0xb0, 0x94, 0xcb,
	0x34, 0xb0, 0x6f, 0x64, 0x1c, 0x70, 0xa4, 0x3a, 0x0a, 0xfc, 0x57, 0x09, 0x87, 0xed, 0xfb, 0xff, 0xb1, 0x61, 0xbc, 0x37,
	0xfc, 0xae, 0x61, 0xb2, 0xe8, 0x01, 0x73, 0xc5, 0xcc, 0x89, 0x2f,
};

static void standalone_text(char *text)
{
	char line[64];
	size_t n = 0;

	for (int i = 0; i < 24; i++) {
		int length = snprintf(line, sizeof line, "%d,item-%d,%d\n", i, i * i % 7, i * 97 % 1000);
		memcpy(text + n, line, (size_t)length);
		n += (size_t)length;
	}
}

/* What a run of one stream left. */
struct standalone_run {
	char text[STANDALONE_TEXT_NBYTES + STANDALONE_GUARD_NBYTES];
	uint32_t ndamaged;
};

/* Everything of a job in memory that the host sees as well. */
struct standalone_memory {
	unsigned char data[STANDALONE_TEXT_NBYTES + 64];
	struct inflate_stream stream;
	struct standalone_run run;
	uint32_t ticket;
};

static cudaError_t standalone_decode(const struct inflate_rung &rung, struct standalone_memory *m)
{
	struct inflate_job job = {m->data, &m->stream, 1, m->run.text, &m->run.ndamaged, &m->ticket};

	memset(&m->run, STANDALONE_GUARD, sizeof m->run);
	m->run.ndamaged = m->ticket = 0;
	cudaError_t error = rung.launch(job, 0);
	return error == cudaSuccess ? cudaDeviceSynchronize() : error;
}

static bool standalone_is_guarded(const struct standalone_run &run)
{
	for (size_t i = STANDALONE_TEXT_NBYTES; i < sizeof run.text; i++)
		if (run.text[i] != STANDALONE_GUARD)
			return false;
	return true;
}

static void standalone_set(struct standalone_memory *m, const unsigned char *data, size_t nbytes)
{
	memset(m->data, 0, sizeof m->data);
	memcpy(m->data, data, nbytes);
	m->stream = {0, 0, (uint32_t)nbytes, STANDALONE_TEXT_NBYTES, 0};
}

/* Decodes the good stream, then with each bit flipped. Returns how many answers are wrong. */
static unsigned standalone_check(const struct inflate_rung &rung, struct standalone_memory *m, const unsigned char *data,
				 size_t nbytes)
{
	char want[STANDALONE_TEXT_NBYTES];
	unsigned nwrong;

	standalone_text(want);
	standalone_set(m, data, nbytes);
	if (standalone_decode(rung, m) != cudaSuccess)
		return 1;
	nwrong = memcmp(m->run.text, want, sizeof want) != 0 || m->run.ndamaged != 0 || !standalone_is_guarded(m->run);
	for (size_t bit = 0; bit < nbytes * 8; bit++) {
		standalone_set(m, data, nbytes);
		m->data[bit / 8] ^= (unsigned char)(1 << bit % 8);
		if (standalone_decode(rung, m) != cudaSuccess)
			return 1;
		nwrong += !standalone_is_guarded(m->run);
	}
	return nwrong;
}

static unsigned standalone_check_all(const struct inflate_rung &rung, struct standalone_memory *m)
{
	unsigned char stored[5 + STANDALONE_TEXT_NBYTES] = {1, STANDALONE_TEXT_NBYTES % 256, STANDALONE_TEXT_NBYTES / 256,
							    (unsigned char)~(STANDALONE_TEXT_NBYTES % 256),
							    (unsigned char)~(STANDALONE_TEXT_NBYTES / 256)};

	standalone_text((char *)stored + 5);
	return standalone_check(rung, m, stored, sizeof stored) +
	       standalone_check(rung, m, standalone_fixed, sizeof standalone_fixed) +
	       standalone_check(rung, m, standalone_dynamic, sizeof standalone_dynamic);
}

static int inflate_standalone(const struct inflate_rung &rung)
{
	struct standalone_memory *m;
	int ndevices = 0;

	if (cudaGetDeviceCount(&ndevices) != cudaSuccess || ndevices == 0) {
		puts("SKIP: no CUDA device");
		return STANDALONE_SKIP;
	}
	if (cudaMallocManaged((void **)&m, sizeof *m) != cudaSuccess)
		return 1;
	unsigned nwrong = standalone_check_all(rung, m);
	printf("%s: %u wrong\n%s\n", rung.name, nwrong, nwrong ? "FAIL" : "PASS");
	(void)cudaFree(m);
	return nwrong != 0;
}

#endif
