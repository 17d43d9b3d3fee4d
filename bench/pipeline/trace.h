/* SPDX-License-Identifier: MIT
 *
 * trace.h - what each worker did when: spans of time in a lane for each worker, and their sums.
 */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/stage.h"
#include "base/status.h"

/* One stage of one chunk, or a part of it. Times are timing_now_ns's. */
struct span {
	enum stage stage;
	uint64_t chunk;  /* its index */
	uint64_t nbytes; /* of the chunk, in its first span of the stage; 0 in further ones */
	double begin_ns, end_ns;
};

/* What one worker did, ordered by end. */
struct lane {
	const char *device; /* the worker's name, "cpu" or "gpu"; static */
	int number;         /* among the lanes of that device, from 0 */
	size_t nspans, capacity;
	struct span *spans;                 /* Owned. */
	uint64_t nchunks_seen[STAGE_COUNT]; /* index of the last chunk in each stage, plus 1 */
	uint64_t output_nbytes;             /* of printed records */
	bool lacks_memory;                  /* a span is lost */
};

struct trace {
	size_t nlanes, capacity;
	struct lane *lanes; /* Owned. */
	double begin_ns, end_ns; /* when all workers were open; when the last was closed */
};

/* The sums of one stage over all lanes of a device. */
struct stage_figure {
	size_t nspans;
	uint64_t nbytes;   /* of input that passed the stage */
	double median_ns;  /* of one span */
	double sum_ns;     /* of all spans */
	double busy_ns;    /* the union of all spans: at least one lane was in the stage */
	double lanes_gbps; /* the sum of the lanes' speeds while in the stage */
};

/* A stage's name, "copy_up"; what it does; where. */
const char *stage_name(enum stage stage);
const char *stage_what(enum stage stage);
enum stage_place stage_place(enum stage stage);

/* Makes a trace with room for nlanes and without lanes. Errors: STATUS_NO_MEMORY. Free it in any
 * case. */
enum status trace_init(struct trace *t, size_t nlanes);
void trace_free(struct trace *t);

/* Adds a lane; NULL: there is no room. One thread at a time. */
struct lane *trace_add_lane(struct trace *t, const char *device);

/* Adds a span, or sets lacks_memory. Only for the lane's own thread. */
void lane_add(struct lane *lane, enum stage stage, uint64_t chunk, uint64_t nbytes, double begin_ns,
	      double end_ns);

/* Adds a span as it is, or sets lacks_memory. Likewise. */
void lane_append(struct lane *lane, struct span span);

/* Sums up one stage. Errors: STATUS_NO_MEMORY, also if a lane lacks_memory. */
enum status trace_figure(const struct trace *t, const char *device, enum stage stage,
			 struct stage_figure *out);

/* 10^9 bytes a second; 0 if no time passed. */
double trace_gbps(uint64_t nbytes, double ns);

#ifdef __cplusplus
}
#endif
