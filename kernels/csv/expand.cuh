/* SPDX-License-Identifier: MIT
 *
 * expand.cuh - text that has come up as nibbles (src/simd/nibbles.h), a byte each again.
 */
#ifndef GPUSTAT_EXPAND_CUH
#define GPUSTAT_EXPAND_CUH

#include <cuda_runtime.h>
#include <stdint.h>

extern "C" {
#include "simd/nibbles.h"
}

/* Makes nbytes of text, and up to 15 more behind them, of half as many bytes of packed. text is
 * aligned to 16 bytes, packed to 8. Launches on the stream. Errors: the launch's. */
cudaError_t expand_launch(char *text, const unsigned char *packed, uint32_t nbytes,
			  struct nibble_letters letters, cudaStream_t stream);

#endif
