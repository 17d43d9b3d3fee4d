/* SPDX-License-Identifier: MIT
 *
 * fuzz.h - what the harnesses fuzz_*.c share. Each defines LLVMFuzzerTestOneInput, for libFuzzer
 * (tests/fuzz/run.sh) or for replay.c, which runs files (make check).
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes);

/* Aborts the process, so that libFuzzer keeps the input. */
#define FUZZ_CHECK(holds)                                                                \
	do {                                                                             \
		if (!(holds)) {                                                          \
			fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, \
				#holds);                                                 \
			abort();                                                         \
		}                                                                        \
	} while (0)
