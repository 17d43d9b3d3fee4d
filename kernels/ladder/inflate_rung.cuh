/* SPDX-License-Identifier: MIT
 *
 * inflate_rung.cuh - the ladder of inflating: many independent deflate streams, such as BGZF's blocks (RFC 1951).
 *
 * A stream is decoded from its first bit on, symbol by symbol: where one begins is known only when the one before
 * has been decoded. All rungs therefore decode many streams at once, and differ in what decodes one: a thread or a
 * warp, with which tables, and where these are.
 */
#pragma once

#include "../codec/inflate.cuh"

struct inflate_rung {
	const char *name;
	const char *idea; /* one line: what is new in it */

	/* Decodes all streams, as inflate_launch() does. */
	cudaError_t (*launch)(struct inflate_job job, cudaStream_t stream);
};

extern const struct inflate_rung inflate_simple, inflate_lookup, inflate_shared;

#ifndef HAVE_CONFIG_H /* compiled alone, without the Makefile */
#include "inflate_standalone.cuh"
#define INFLATE_STANDALONE(rung) \
	int main(void)           \
	{                        \
		return inflate_standalone(rung); \
	}
#else
#define INFLATE_STANDALONE(rung)
#endif

/* INFLATE_RUNG(simple, idea, launch) defines inflate_simple, and main() where it is compiled alone. */
#define INFLATE_RUNG(which, idea, launch)                                     \
	const struct inflate_rung inflate_##which = {#which, idea, launch};   \
	INFLATE_STANDALONE(inflate_##which)
