/* SPDX-License-Identifier: MIT
 *
 * group_images.c - see group_images.h.
 */
#include "fold/group_images.h"

#include <stdlib.h>
#include <string.h>

#include "fold/group_keys.h"
#include "fold/group_values.h"
#include "fold/groups.h"
#include "fold/key_memory.h"
#include "fold/partial_text.h"

/* ---- bytes ---- */

enum status group_images_new(struct group_images *images, size_t nbytes)
{
	void *memory = NULL;
	enum status status = nbytes ? key_memory_new(nbytes, &memory) : STATUS_OK;

	*images = (struct group_images){.data = memory, .room_nbytes = status == STATUS_OK ? nbytes : 0};
	return status;
}

void group_images_free(struct group_images *images)
{
	if (images->data)
		key_memory_free(images->data, images->room_nbytes);
	*images = (struct group_images){.data = NULL};
}

/* ---- plans ---- */

bool group_images_fit(const struct plan *a, const struct plan *b)
{
	bool fit = a->ncolumns == b->ncolumns && a->npairs == b->npairs && a->nkeys == b->nkeys &&
		   a->nwindows == b->nwindows && a->group_nbytes == b->group_nbytes &&
		   a->group_nmatched_offset == b->group_nmatched_offset;

	for (size_t c = 0; fit && c < a->ncolumns; c++) {
		const struct plan_column *x = &a->columns[c], *y = &b->columns[c];
		fit = x->needs == y->needs && x->cell_offset == y->cell_offset && !strcmp(x->name, y->name);
	}
	for (size_t i = 0; fit && i < a->npairs; i++)
		fit = a->pairs[i].x == b->pairs[i].x && a->pairs[i].y == b->pairs[i].y && a->pairs[i].needs == b->pairs[i].needs;
	for (size_t i = 0; fit && i < a->nkeys; i++)
		fit = a->keys[i] == b->keys[i];
	return fit;
}

/* ---- packing ---- */

struct packing {
	const struct plan *plan;
	struct group_images *to;
	size_t n;
	bool to_first;
	struct json_writer *lines; /* n: of the groups that have partials */
	struct partial blank;
};

/* To which the key belongs: not by the bits that give its place in a table, or each process's tables would have
 * keys in some places only. */
static size_t find_destination(const struct packing *p, uint64_t hash)
{
	uint64_t mixed = (hash ^ hash >> KEY_LONG_HASH_BITS) * KEY_ODD;

	return p->to_first ? 0 : (size_t)((mixed >> 32) * p->n >> 32);
}

static size_t long_key_nbytes(const struct key *key)
{
	return key_is_long(key) ? (key_nbytes(key) + 7) / 8 * 8 : 0;
}

/* Whether nothing but the key's bytes lies elsewhere than in the group: then it can be sent as it is. */
static bool is_whole(struct group *group, const struct plan *plan)
{
	return !group->rest && !(plan->groups_keep_ends && group_has_long_ends(group, plan)) &&
	       !(plan->nlists > 0 && group_has_values(group, plan));
}

static enum status measure(void *context, struct group *group)
{
	struct packing *p = context;

	if (is_whole(group, p->plan) && group->nrecords > 0)
		p->to[find_destination(p, group_hash(group, key_seed_get()))].images_nbytes += p->plan->group_nbytes + long_key_nbytes(&group->key);
	return STATUS_OK;
}

static enum status write_line(void *context, struct group *group)
{
	struct packing *p = context;
	struct json_writer *lines = &p->lines[find_destination(p, group_hash(group, key_seed_get()))];

	if (!is_whole(group, p->plan))
		group_write(group, p->plan, &p->blank, lines);
	return lines->status;
}

static enum status put_image(void *context, struct group *group)
{
	struct packing *p = context;
	struct group_images *to = &p->to[find_destination(p, group_hash(group, key_seed_get()))];
	char *at = to->data + to->nbytes;

	if (!is_whole(group, p->plan) || group->nrecords == 0)
		return STATUS_OK;
	memcpy(at, group, p->plan->group_nbytes);
	if (key_is_long(&group->key))
		memcpy(at + p->plan->group_nbytes, group->key.text, key_nbytes(&group->key));
	to->nbytes += p->plan->group_nbytes + long_key_nbytes(&group->key);
	return STATUS_OK;
}

/* Makes room for what has been measured, and for the lines, which are copied there. */
static enum status lay_out(struct packing *p)
{
	enum status status = STATUS_OK;

	for (size_t i = 0; i < p->n && status == STATUS_OK; i++) {
		size_t images_nbytes = p->to[i].images_nbytes;
		const struct text_buffer *lines = &p->lines[i].text;
		status = group_images_new(&p->to[i], images_nbytes + lines->nbytes);
		p->to[i].images_nbytes = images_nbytes;
		if (status == STATUS_OK && lines->nbytes)
			memcpy(p->to[i].data + images_nbytes, lines->data, lines->nbytes);
	}
	return status;
}

enum status group_images_pack(struct groups *groups, struct group_images *to, size_t n, bool to_first)
{
	struct packing p = {.plan = groups->plan, .to = to, .n = n, .to_first = to_first, .lines = calloc(n, sizeof *p.lines)};
	enum status status = p.lines ? partial_init(&p.blank, p.plan) : STATUS_NO_MEMORY;

	if (!p.lines)
		return status;
	if (status == STATUS_OK)
		status = group_keys_fold(groups);
	if (status == STATUS_OK)
		status = group_lists_settle(groups);
	if (status == STATUS_OK)
		status = groups_each(groups, measure, &p);
	if (status == STATUS_OK)
		status = groups_each(groups, write_line, &p);
	if (status == STATUS_OK)
		status = lay_out(&p);
	if (status == STATUS_OK)
		status = groups_each(groups, put_image, &p);
	for (size_t i = 0; i < n; i++) {
		to[i].nbytes += p.lines[i].text.nbytes;
		text_free(&p.lines[i].text);
	}
	free(p.lines);
	partial_free(&p.blank);
	groups_clear(groups);
	return status;
}

/* ---- adding ---- */

/* Makes images groups again; at: NULL: only counts them. Returns how many there are. */
static size_t wake_images(const struct plan *plan, struct group_images *images, uint64_t offset_bytes, struct group **at)
{
	size_t n = 0;

	for (size_t i = 0; i < images->images_nbytes; n++) {
		struct group *group = (struct group *)(images->data + i);
		i += plan->group_nbytes + long_key_nbytes(&group->key);
		if (!at)
			continue;
		if (key_is_long(&group->key))
			group->key.text = (char *)group + plan->group_nbytes;
		group_move(group, plan, offset_bytes);
		at[n] = group;
	}
	return n;
}

static enum status add_images(const struct plan *plan, struct group_images *images, uint64_t offset_bytes)
{
	size_t n = wake_images(plan, images, 0, NULL), nbytes = n * sizeof(struct group *);
	enum status status = STATUS_OK;
	void *memory;

	if (n == 0)
		return status;
	status = key_memory_new(nbytes, &memory);
	if (status != STATUS_OK)
		return status;
	wake_images(plan, images, offset_bytes, memory);
	status = group_store_add(plan, memory, n);
	key_memory_free(memory, nbytes);
	return status;
}

/* A map of a text of the plan itself. */
static enum status map_alike(const struct plan *plan, uint64_t offset_bytes, struct partial_map *map)
{
	*map = (struct partial_map){.ncolumns = plan->ncolumns, .npairs = plan->npairs, .offset_bytes = offset_bytes};
	map->columns = calloc(plan->ncolumns + 1, sizeof *map->columns);
	map->pairs = calloc(plan->npairs + 1, sizeof *map->pairs);
	map->are_swapped = calloc(plan->npairs + 1, sizeof *map->are_swapped);
	if (!map->columns || !map->pairs || !map->are_swapped)
		return STATUS_NO_MEMORY;
	for (size_t c = 0; c < plan->ncolumns; c++)
		map->columns[c] = c;
	for (size_t i = 0; i < plan->npairs; i++)
		map->pairs[i] = i;
	return STATUS_OK;
}

/* Reads lines into the partial's groups, which move on to the store before they are many. */
static enum status read_lines(const struct plan *plan, const struct partial_map *map, const char *at, const char *end,
			      struct partial *p, struct partial *blank)
{
	struct json_reader r = {.at = at};
	enum status status = STATUS_OK;

	for (; at < end && status == STATUS_OK; at = r.end + 1) {
		r.at = at;
		r.end = memchr(at, '\n', (size_t)(end - at));
		partial_read_line(p, plan, map, blank, &r);
		status = r.status;
		if (status == STATUS_OK && p->groups && p->groups->ngroups > GROUPS_FEW)
			status = groups_store(p->groups);
	}
	text_free(&r.scratch);
	text_free(&r.joined);
	return status == STATUS_OK && p->groups ? groups_store(p->groups) : status;
}

static enum status add_lines(const struct plan *plan, const struct group_images *images, uint64_t offset_bytes)
{
	struct partial p = {.ncolumns = 0}, blank = {.ncolumns = 0};
	struct partial_map map;
	enum status status;

	if (images->nbytes == images->images_nbytes)
		return STATUS_OK;
	status = map_alike(plan, offset_bytes, &map);
	if (status == STATUS_OK)
		status = partial_init(&p, plan);
	if (status == STATUS_OK)
		status = partial_init(&blank, plan);
	if (status == STATUS_OK)
		status = read_lines(plan, &map, images->data + images->images_nbytes, images->data + images->nbytes, &p, &blank);
	free(map.columns);
	free(map.pairs);
	free(map.are_swapped);
	partial_free(&p);
	partial_free(&blank);
	return status;
}

enum status group_images_add(const struct plan *plan, struct group_images *images, uint64_t offset_bytes)
{
	enum status status = add_images(plan, images, offset_bytes);

	return status == STATUS_OK ? add_lines(plan, images, offset_bytes) : status;
}
