/* SPDX-License-Identifier: MIT
 *
 * device_inflate.h - the data of a plain file's gzip members, decoded by a device in place of the CPUs.
 *
 * The text stays on the device: the input cuts it to chunks, and a device's worker copies each to its own memory
 * there (read_text of worker.h). What the device cannot decode, and all damage, is left to the CPUs, which go on
 * where it ended. kernels/worker/device_inflate.cu is the one there is.
 */
#ifndef GPUSTAT_DEVICE_INFLATE_H
#define GPUSTAT_DEVICE_INFLATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/gzip.h"

struct device_inflate;

/* Text on a device, lent by cut. */
struct device_text {
	struct device_inflate *of;
	int buffer;       /* which one of it */
	const char *data; /* device memory */
	size_t nbytes;
	const struct member_place *place; /* the text is found again from here on, skip bytes further */
	uint64_t skip;
	int fd; /* of the file */
};

struct device_inflate_ops {
	/* Prepares, for chunks of chunk_nbytes and files of about file_nbytes. NULL: there is no memory. */
	struct device_inflate *(*open)(int device, size_t chunk_nbytes, off_t file_nbytes);

	/* Stops, and frees all. All text must have been given back. */
	void (*close)(struct device_inflate *d);

	/* Begins with a member's data at the place, where its text begins; both copied. fd is not owned and is open
	 * until end or close. skip: so many bytes of the text are not wanted. False: the device cannot, or it is not worth its
	 * while for so little. */
	bool (*begin)(struct device_inflate *d, int fd, const struct member_place *place, uint64_t skip);

	/* Lends the next text, up to nbytes. Waits for it. False: there is no more. */
	bool (*cut)(struct device_inflate *d, size_t nbytes, struct device_text *text);

	/* After the last text: where CPUs go on. *ended: the member's data has ended there. Returns false if the place
	 * is not behind the text that was to be skipped. */
	bool (*end)(struct device_inflate *d, struct member_place *place, bool *ended);

	/* Copies the text to the host. Errors: member_place_read's. */
	enum status (*copy)(const struct device_text *text, char *to, struct fault *fault);

	/* Takes the text back. Any thread. */
	void (*give_back)(const struct device_text *text);
};

#endif
