/* SPDX-License-Identifier: MIT
 *
 * expand.cuh - unpacks text on the device from nibbles (src/simd/simd.h).
 */
#pragma once

#include <cuda_runtime.h>
#include <stdint.h>

extern "C" {
#include "simd/simd.h"
}

/* Unpacks nbytes of text, and writes up to 15 bytes more. text: 16-byte aligned; packed: 8-byte
 * aligned, half as many bytes; both device memory. Launches one kernel on stream, and does not
 * wait. Errors: the launch's. */
cudaError_t expand_launch(char *text, const unsigned char *packed, uint32_t nbytes,
			  struct nibble_letters letters, cudaStream_t stream);
