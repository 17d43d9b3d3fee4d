/* SPDX-License-Identifier: MIT
 *
 * sections_text.cu - symbols become text: see sections.cuh.
 *
 *     maps     a block a group: the window before each section, in places of the window before the group
 *     windows  one block: the windows before the groups, in bytes
 *     text     a block a section: a place's symbol in the section's map is a byte, or a place in the
 *              group's window
 *
 * With as many groups as sections in a group, the first two take as many steps. A step of 32 KiB takes some
 * microseconds, of which most are waiting for memory.
 */
#include "kernels/codec/sections.cuh"

#include "kernels/level/grid.cuh"

#define MAP_NTHREADS 1024
#define TEXT_NTHREADS 256
#define MARKER 0x8000u

/* The window behind a section of n symbols, in places of the group's window. map: that before it. */
static __device__ uint16_t window_symbol(const uint16_t *map, const uint16_t *symbols, uint32_t n, uint32_t i)
{
	uint16_t symbol;

	if (i + n < SECTION_WINDOW_NBYTES)
		return map[i + n];
	symbol = symbols[i + n - SECTION_WINDOW_NBYTES];
	return symbol & MARKER ? map[symbol & ~MARKER] : symbol;
}

__global__ static void __launch_bounds__(MAP_NTHREADS) make_maps(struct section_texts t)
{
	uint32_t first = blockIdx.x * t.ngroup, end = first + t.ngroup < t.n ? first + t.ngroup : t.n;
	uint16_t *map = t.maps + (size_t)first * SECTION_WINDOW_NBYTES;

	for (uint32_t i = threadIdx.x; i < SECTION_WINDOW_NBYTES; i += MAP_NTHREADS)
		map[i] = (uint16_t)(MARKER | i);
	for (uint32_t k = first; k < end; k++) {
		/* Behind the group's last section: the group's own map. */
		uint32_t behind = k + 1 < end ? k + 1 : t.n + blockIdx.x;
		uint16_t *next = t.maps + (size_t)behind * SECTION_WINDOW_NBYTES;
		struct section_text s = t.all[k];
		__syncthreads(); /* the map is whole */
		for (uint32_t i = threadIdx.x; i < SECTION_WINDOW_NBYTES; i += MAP_NTHREADS)
			next[i] = window_symbol(map, t.symbols + s.symbols_at, s.nsymbols, i);
		map = next;
	}
}

__global__ static void __launch_bounds__(MAP_NTHREADS) make_windows(struct section_texts t, uint32_t ngroups)
{
	for (uint32_t g = 0; g < ngroups; g++) {
		const uint16_t *map = t.maps + (size_t)(t.n + g) * SECTION_WINDOW_NBYTES;
		const unsigned char *window = t.windows + (size_t)g * SECTION_WINDOW_NBYTES;
		unsigned char *next = t.windows + (size_t)(g + 1) * SECTION_WINDOW_NBYTES;
		for (uint32_t i = threadIdx.x; i < SECTION_WINDOW_NBYTES; i += MAP_NTHREADS)
			next[i] = (unsigned char)(map[i] & MARKER ? window[map[i] & ~MARKER] : map[i]);
		__syncthreads(); /* the window is whole */
	}
}

/* Places below this are before the stream's text. */
static __device__ uint32_t first_place(const struct section_texts &t, uint32_t group)
{
	uint64_t nbefore = t.nbefore + t.all[group * t.ngroup].text_offset - t.all[0].text_offset;

	return nbefore < SECTION_WINDOW_NBYTES ? SECTION_WINDOW_NBYTES - (uint32_t)nbefore : 0;
}

__global__ static void __launch_bounds__(TEXT_NTHREADS) make_text(struct section_texts t)
{
	struct section_text s = t.all[blockIdx.x];
	uint32_t group = blockIdx.x / t.ngroup, first = first_place(t, group);
	const uint16_t *map = t.maps + (size_t)blockIdx.x * SECTION_WINDOW_NBYTES;
	const unsigned char *window = t.windows + (size_t)group * SECTION_WINDOW_NBYTES;
	const uint16_t *symbols = t.symbols + s.symbols_at;
	uint32_t nbad = 0;

	for (uint32_t i = threadIdx.x; i < s.nsymbols; i += TEXT_NTHREADS) {
		uint32_t x = symbols[i];
		if (x & MARKER)
			x = map[x & ~MARKER];
		if (x & MARKER) {
			nbad += (x & ~MARKER) < first;
			x = window[x & ~MARKER];
		}
		t.text[s.text_offset + i] = (char)x;
	}
	if (nbad)
		atomicAdd(t.ndamaged, nbad);
}

cudaError_t sections_text_launch(struct section_texts t, cudaStream_t stream)
{
	uint32_t ngroups = section_ngroups(t);

	if (t.n == 0)
		return cudaSuccess;
	make_maps<<<ngroups, MAP_NTHREADS, 0, stream>>>(t);
	make_windows<<<1, MAP_NTHREADS, 0, stream>>>(t, ngroups);
	make_text<<<t.n, TEXT_NTHREADS, 0, stream>>>(t);
	return cudaGetLastError();
}
