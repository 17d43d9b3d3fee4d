/* SPDX-License-Identifier: MIT
 *
 * group_source.h - the groups of a run, where a device has all of them and they are only to be printed, or the first of
 * them in some order.
 *
 * They lie there in the order of their first records, as words (group_words.h), and are read once, block by block, by
 * several threads. So no group is made in the host's memory but the one that a thread looks at: with 64 million of them,
 * the first touch of that memory took longer than to read 12 GB and to group them (docs/speed.md).
 *
 * A device may fail while groups are printed. The run is then done again without it, and prints what is
 * left (output_repeat).
 */
#ifndef GPUSTAT_GROUP_SOURCE_H
#define GPUSTAT_GROUP_SOURCE_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/group_words.h"
#include "fold/groups.h"

#define GROUP_SOURCE_NGROUPS ((size_t)16384) /* in a block; in the last, what is left */

struct group_source;
struct group_reader; /* of one thread */

struct group_source_ops {
	/* Makes a reader, to be closed by the same thread. Errors: STATUS_GPU; *out is then NULL. */
	enum status (*open)(const struct group_source *s, struct group_reader **out, struct fault *fault);

	/* Reads a block's groups, one behind the other: *words belongs to the reader until its next call. Errors:
	 * STATUS_GPU. */
	enum status (*read)(struct group_reader *r, size_t block, const uint64_t **words, struct fault *fault);

	void (*close)(struct group_reader *r);
	void (*free)(struct group_source *s);
};

/* Whoever makes one embeds it. */
struct group_source {
	const struct group_source_ops *ops;
	const struct group_layout *layout; /* of the words; owned by the source, as scales is */
	const uint32_t *scales;            /* of the layout's columns */
	uint64_t ngroups;                  /* that may be read */
};

/* What a thread reads a source with. All owned, but for source and plan. */
struct group_reading {
	const struct group_source *source;
	const struct plan *plan;
	struct group_reader *reader;
	struct group *group; /* that is being visited */
	struct fault fault;  /* of STATUS_GPU */
};

/* Begins to read the source of the plan's store. Errors: STATUS_NO_MEMORY, STATUS_GPU; r must then be ended, too. */
enum status group_reading_begin(struct group_reading *r, const struct plan *plan);

/* Calls visit for the first n groups of a block, up to one that fails. A group is gone after its visit; a visitor may keep
 * its partial, and set that to NULL. Errors: visit's; STATUS_NO_MEMORY, STATUS_MANY_KEYS, STATUS_GPU. */
enum status group_reading_visit(struct group_reading *r, size_t block, size_t n, groups_visitor visit, void *context);

void group_reading_end(struct group_reading *r);

#endif
