/* SPDX-License-Identifier: MIT
 *
 * test_field_number.cu - numbers read 8 digits at a time, against decimal_parse().
 */
#include "kernel_test.cuh"

#include "kernels/csv/field_number.cuh"

#define NUMBER_NTEXTS 20000
#define NUMBER_NBYTES 40 /* room for a text */

struct number_result {
	bool read;
	int64_t significand;
	uint32_t scale;
};

/* A block's first thread reads a text, at any alignment. */
__global__ static void numbers_read(const char *texts, const uint32_t *nbytes,
				    struct number_result *results)
{
	__shared__ uint4 memory[16];
	char *text = (char *)(memory + 4);
	uint32_t begin = blockIdx.x % 8, end = begin + nbytes[blockIdx.x];
	struct number_result r = {};

	if (threadIdx.x != 0)
		return;
	for (unsigned i = 0; i < sizeof memory; i++)
		((char *)memory)[i] = "7.-"[i % 3]; /* what would do most harm */
	for (uint32_t i = begin; i < end; i++)
		text[i] = texts[blockIdx.x * NUMBER_NBYTES + i - begin];
	r.read = number_read(text, begin, end, '"', &r.significand, &r.scale);
	results[blockIdx.x] = r;
}

/* Mostly digits, with a point somewhere, and sometimes what makes no number of it. */
static uint32_t random_number(char *text)
{
	uint32_t n = 1 + random_below(random_below(3) ? 9 : 26), at = 0;

	if (random_below(3) == 0)
		text[at++] = "-+"[random_below(2)];
	for (uint32_t i = 0; i < n; i++)
		text[at++] = random_below(8) ? (char)('0' + random_below(10)) : '0';
	if (random_below(2))
		text[random_below(at)] = '.';
	if (random_below(4) == 0)
		text[random_below(at)] = ".-+e \"/:\x80\xb0\xff\0"[random_below(12)];
	if (random_below(4) == 0) {
		memmove(text + 1, text, at);
		text[0] = text[at + 1] = '"';
		at += 2;
	}
	return at;
}

/* Whether r is what decimal_parse() says; reading may be declined, but not of plain numbers. */
static bool number_is_right(const char *text, uint32_t nbytes, const struct number_result *r)
{
	struct decimal x;

	if (nbytes >= 2 && text[0] == '"' && text[nbytes - 1] == '"') {
		text++;
		nbytes -= 2;
	}
	bool is_number = decimal_parse(text, nbytes, &x) == DECIMAL_NUMBER;
	if (r->read)
		return is_number && r->significand == x.significand && (int32_t)r->scale == x.scale;
	for (uint32_t i = 0; i < nbytes; i++)
		if (text[i] == 'e' || text[i] == ' ')
			return true;
	return !is_number || nbytes > 24;
}

static void test_numbers(void)
{
	char *texts = (char *)calloc(NUMBER_NTEXTS, NUMBER_NBYTES);
	uint32_t nbytes[NUMBER_NTEXTS], nread = 0, nwrong = 0;

	for (uint32_t i = 0; i < NUMBER_NTEXTS; i++)
		nbytes[i] = i == 0 ? 0 : random_number(texts + i * NUMBER_NBYTES);
	char *device_texts = device_copy(texts, (size_t)NUMBER_NTEXTS * NUMBER_NBYTES);
	uint32_t *device_nbytes = device_copy(nbytes, NUMBER_NTEXTS);
	struct number_result *device_results =
		device_filled<struct number_result>(NUMBER_NTEXTS, POISON);
	numbers_read<<<NUMBER_NTEXTS, 32>>>(device_texts, device_nbytes, device_results);
	must(cudaGetLastError(), "launch numbers_read");
	struct number_result *results = host_copy(device_results, NUMBER_NTEXTS);
	for (uint32_t i = 0; i < NUMBER_NTEXTS; i++) {
		nread += results[i].read;
		if (number_is_right(texts + i * NUMBER_NBYTES, nbytes[i], &results[i]))
			continue;
		if (nwrong++ == 0)
			diag("'%.*s'", (int)nbytes[i], texts + i * NUMBER_NBYTES);
	}
	ok(nwrong == 0, "numbers are what decimal_parse() says");
	ok(nread > NUMBER_NTEXTS / 2, "most of them are read (%u of %u)", nread, NUMBER_NTEXTS);
	device_free(device_texts);
	device_free(device_nbytes);
	device_free(device_results);
	free(results);
	free(texts);
}

int main(void)
{
	int ndevices = 0;

	if (cudaGetDeviceCount(&ndevices) != cudaSuccess || ndevices == 0)
		skip_all("no CUDA device");
	plan_lazy();
	test_numbers();
	return done();
}
