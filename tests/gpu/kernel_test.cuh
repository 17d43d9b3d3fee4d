/* SPDX-License-Identifier: MIT
 *
 * kernel_test.cuh - what the GPU test programs share: device memory, and random input.
 */
#pragma once

#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

#include "unit/tap.h"

#define POISON 0xa5

/* Ends the program unless call succeeded: the GPU itself is broken surroundings. */
static void must(cudaError_t error, const char *what)
{
	if (error != cudaSuccess)
		bail("%s: %s", what, cudaGetErrorString(error));
}

/* A number from the environment: GPUSTAT_TEST_CASES, how many random cases there are; GPUSTAT_TEST_SEED, which. */
__attribute__((unused)) static unsigned asked(const char *name, unsigned otherwise)
{
	const char *text = getenv(name);

	return text ? (unsigned)strtoul(text, NULL, 10) : otherwise;
}

/* n T of device memory, every byte the given one. Freed by device_free. */
template <class T> static T *device_filled(size_t n, int byte)
{
	void *data;

	must(cudaMalloc(&data, (n + 1) * sizeof(T)), "cudaMalloc");
	must(cudaMemset(data, byte, (n + 1) * sizeof(T)), "cudaMemset");
	return (T *)data;
}

template <class T> static T *device_copy(const T *from, size_t n)
{
	T *data = device_filled<T>(n, POISON);

	must(cudaMemcpy(data, from, n * sizeof(T), cudaMemcpyHostToDevice), "copy up");
	return data;
}

static inline void device_free(void *data)
{
	must(cudaFree(data), "cudaFree");
}

/* n T from the device, which is waited for. Freed by free. */
template <class T> static T *host_copy(const T *from, size_t n)
{
	T *to = (T *)malloc((n + 1) * sizeof(T));

	must(cudaDeviceSynchronize(), "synchronize");
	must(cudaMemcpy(to, from, n * sizeof(T), cudaMemcpyDeviceToHost), "copy back");
	return to;
}

/* Whether n T of device memory still hold what device_filled put there. */
template <class T> static bool device_untouched(const T *data, size_t n)
{
	unsigned char *bytes = (unsigned char *)host_copy(data, n);
	bool untouched = true;

	for (size_t i = 0; i < n * sizeof(T); i++)
		untouched = untouched && bytes[i] == POISON;
	free(bytes);
	return untouched;
}

/* The next of a fixed sequence of numbers (xorshift64*: S. Vigna, "An experimental
 * exploration of Marsaglia's xorshift generators, scrambled", 2016). */
static uint64_t random_state = UINT64_C(0x9e3779b97f4a7c15);

static uint64_t random_next(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * UINT64_C(2685821657736338717);
}

/* 0 ... n - 1 */
static unsigned random_below(unsigned n)
{
	return (unsigned)((random_next() >> 32) % n);
}

/* Text of every kind of trouble that the automaton knows, and little else. */
static inline void random_hostile(char *text, size_t nbytes, char delimiter, char quote)
{
	const char bytes[] = {quote, '"', '\n', '\r', '1', 'x', 0, (char)0xff};
	unsigned nquotes = 1 + random_below(40); /* some texts are mostly inside quotes */

	for (size_t i = 0; i < nbytes; i++) {
		unsigned r = random_below(nquotes + 9);
		text[i] = r == 0 ? quote : r == 1 ? delimiter : bytes[random_below(sizeof bytes)];
	}
}
