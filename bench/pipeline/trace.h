/* SPDX-License-Identifier: MIT
 *
 * trace.h - what a team of workers did when: spans of time, a lane for each worker, and what they
 * come to.
 */
#ifndef GPUSTAT_TRACE_H
#define GPUSTAT_TRACE_H

#ifdef __cplusplus
extern "C" {
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/stage.h"
#include "base/status.h"

/* One stage of one chunk; a stage may need several. Times are timing_now_ns's. */
struct span {
	enum stage stage;
	uint64_t chunk;  /* its index */
	uint64_t nbytes; /* the chunk's, in the first span of the chunk's stage; else 0 */
	double begin_ns, end_ns;
};

/* What one worker did, in the order in which it ended. */
struct lane {
	const char *device; /* "cpu", "gpu": its worker's name; static */
	int number;         /* among the lanes of that device */
	size_t nspans, capacity;
	struct span *spans; /* Owned. */
	uint64_t nchunks_seen[STAGE_COUNT]; /* the last chunk of each stage, plus 1 */
	uint64_t output_nbytes;         /* that it has printed */
	bool lacks_memory;              /* a span is lost */
};

struct trace {
	size_t nlanes, capacity;
	struct lane *lanes; /* Owned. */
	double begin_ns, end_ns; /* every worker is open; the last has ended */
};

/* What one stage came to, in all lanes of a device. */
struct stage_figure {
	size_t nspans;
	uint64_t nbytes;     /* of input that went through it */
	double median_ns;    /* of one span */
	double sum_ns;       /* of all */
	double busy_ns;      /* when at least one lane was in the stage */
	double lanes_gbps;   /* the sum of the lanes' own speeds: what they would do if each did
			      * nothing else */
};

/* The stage's name, "copy_up"; what it does; where. */
const char *stage_name(enum stage stage);
const char *stage_what(enum stage stage);
enum stage_place stage_place(enum stage stage);

/* A trace with room for nlanes, none of them in use. Errors: STATUS_NO_MEMORY. Free in any case. */
enum status trace_init(struct trace *t, size_t nlanes);
void trace_free(struct trace *t);

/* Takes a lane into use; NULL: there is no room. One thread at a time. */
struct lane *trace_lane(struct trace *t, const char *device);

/* Adds a span. Only the lane's own thread; where memory ends, lacks_memory is set. */
void lane_add(struct lane *lane, enum stage stage, uint64_t chunk, uint64_t nbytes, double begin_ns,
	      double end_ns);

/* Sums up one stage. Errors: STATUS_NO_MEMORY, also if a span was lost for want of it. */
enum status trace_figure(const struct trace *t, const char *device, enum stage stage,
			 struct stage_figure *out);

/* 10^9 bytes a second; 0 if no time passed. */
double trace_gbps(uint64_t nbytes, double ns);

#ifdef __cplusplus
}
#endif

#endif
