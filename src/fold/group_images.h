/* SPDX-License-Identifier: MIT
 *
 * group_images.h - groups on their way to another process of the same program, which has the same plan and the same
 * seed of keys.
 *
 * An image is a group as it lies in memory, with its cells, then a long key's bytes, up to a whole word. A group that
 * has a partial, too, is a line of a part instead (partial_text.h). Images come first, one behind the other, then lines.
 */
#ifndef GPUSTAT_GROUP_IMAGES_H
#define GPUSTAT_GROUP_IMAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/status.h"
#include "fold/groups.h"
#include "query/plan.h"

/* Bytes on their way. Owned; data counts towards --memory. */
struct group_images {
	char *data;
	size_t nbytes, room_nbytes; /* room_nbytes: 0: there is no data */
	size_t images_nbytes;       /* of the images, which come first */
};

/* Makes room for nbytes. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS. */
enum status group_images_new(struct group_images *images, size_t nbytes);
void group_images_free(struct group_images *images);

/* Whether groups of one plan have the cells and columns that they have in another. */
bool group_images_fit(const struct plan *a, const struct plan *b);

/* Packs groups of the plan, and clears them. to: n of them, zeroed; each key belongs to one of them, whatever the process,
 * or, to_first, to the first. Errors: STATUS_NO_MEMORY, STATUS_MANY_KEYS: what has been made of `to` is to be freed. */
enum status group_images_pack(struct groups *groups, struct group_images *to, size_t n, bool to_first);

/* Adds the groups to the plan's store. Their offsets begin at offset_bytes in the input. Changes the data, which is to be
 * freed then. Errors: as above; STATUS_DAMAGED. */
enum status group_images_add(const struct plan *plan, struct group_images *images, uint64_t offset_bytes);

#endif
