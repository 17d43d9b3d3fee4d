/* SPDX-License-Identifier: MIT
 *
 * input_state.h - the input's state. Included by input.c, input_chunks.c and input_range.c only.
 */
#ifndef GPUSTAT_INPUT_STATE_H
#define GPUSTAT_INPUT_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "codec/bgzf.h"
#include "codec/device_inflate.h"
#include "codec/sections.h"
#include "io/input.h"
#include "io/source.h"

struct input {
	struct source *sources; /* one for each path */
	int nsources;

	pthread_mutex_t lock;  /* guards all below */
	int file;              /* the current one; nsources: all were read */
	bool begun;            /* a chunk of it was handed out */
	uint64_t offset_bytes; /* of the next byte in the whole input, decompressed */
	uint64_t index;        /* of the next chunk */
	bool prompt;
	bool in_order; /* a section's text is to fit into one chunk */
	atomic_bool stopped;    /* set without the lock: its holder may wait for a pipe */
	struct block_pool pool; /* has a lock of its own for the same reason */

	struct sections *sections; /* of the current file; NULL: threads do not share the decoding */

	const struct device_inflate_ops *device_ops; /* NULL: no device decodes members */
	struct device_inflate *device; /* NULL: not opened yet */
	int device_number;
	bool on_device;       /* it decodes a member of the current file */
	uint64_t device_nbytes; /* of text, which it has decoded */
	int device_gave_up;   /* the file that it left to the CPUs; -1: none */

	bool has_range; /* only this of the first file is read: */
	struct input_range range;
	bool has_slice; /* only this of all files is read */
	struct input_slice slice;
	int nread;      /* files up to the slice's last */

	struct preamble preamble; /* to skip in each file */
	bool has_preamble;

	struct input_headers headers; /* find and place may be NULL */
	const struct plan *plan;      /* of the current file's chunks; NULL: the run's */
};

/* Opens the source unless it has been opened. Under the lock once chunks are read. */
enum status input_open_source(struct input *in, struct source *s, struct fault *fault);

#endif
