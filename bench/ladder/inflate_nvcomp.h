/* SPDX-License-Identifier: MIT
 *
 * inflate_nvcomp.h - NVIDIA's nvCOMP as a rung of inflating: the peer, where its library is there.
 *
 * It is closed source, and nothing depends on it: it is looked for when it is asked for, as libnvcomp.so.6 or .5, by
 * the names and types that its documentation gives (nvcomp/deflate.h: the batched API of 5.0 and later).
 */
#pragma once

#include "kernels/ladder/inflate_rung.cuh"

/* The rung; NULL: there is no such library. Its launch() keeps what it prepares for the first job until
 * inflate_nvcomp_close(): the streams at multiples of 16 bytes, as the library wants them. It is for good data alone:
 * what it does with damaged data is undefined. One thread at a time. */
const struct inflate_rung *inflate_nvcomp(void);

/* Frees that. */
void inflate_nvcomp_close(void);
