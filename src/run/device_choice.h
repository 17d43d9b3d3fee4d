/* SPDX-License-Identifier: MIT
 *
 * device_choice.h - who works on this input: how many CPU threads, which GPUs, and why.
 */
#ifndef GPUSTAT_TEAM_H
#define GPUSTAT_TEAM_H

#include <stddef.h>

#include "engine/engine.h"
#include "io/input.h"
#include "query/options.h"
#include "query/query.h"
#include "base/status.h"

#define TEAM_MAX_SQUADS 17 /* the CPU and up to 16 GPUs */

struct team {
	size_t nsquads;
	struct squad squads[TEAM_MAX_SQUADS];
	const char *why; /* the choice in words, for --verbose */
};

/* Chooses the team that options ask for. Asks the GPU driver nothing unless a GPU may be
 * used. Errors: STATUS_NO_GPU where --device asks for one that is not there. */
enum status team_choose(struct team *team, const struct options *options,
			const struct query *query, const struct input *input, struct fault *fault);

/* Warns on stderr of each GPU that failed while it worked. The answer is none the worse for it. */
void team_report_failures(const struct team *team);

/* Says on stderr what every squad did. */
void team_report(const struct team *team, double elapsed_s);

#endif
