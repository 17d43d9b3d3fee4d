/* SPDX-License-Identifier: MIT
 *
 * replay.c - runs a harness over files, or over every prefix of them: HARNESS FILE...
 */
#include <string.h>

#include "fuzz.h"

#define MAX_NBYTES (1 << 20)
#define PREFIX_NBYTES 150 /* of longer files, only this many prefixes are run */

static void run_prefixes(const uint8_t *data, size_t nbytes)
{
	for (size_t n = 0; n <= nbytes; n++) {
		uint8_t *copy = malloc(n + 1); /* of its own, so that a sanitizer sees its end */
		FUZZ_CHECK(copy);
		memcpy(copy, data, n);
		LLVMFuzzerTestOneInput(copy, n);
		free(copy);
		if (n == PREFIX_NBYTES && nbytes > n)
			n = nbytes - 1;
	}
}

int main(int argc, char **argv)
{
	static uint8_t data[MAX_NBYTES];

	for (int i = 1; i < argc; i++) {
		FILE *file = fopen(argv[i], "rb");
		FUZZ_CHECK(file);
		run_prefixes(data, fread(data, 1, sizeof data, file));
		fclose(file);
	}
	printf("%d files\n", argc - 1);
	return 0;
}
