/* SPDX-License-Identifier: MIT
 *
 * group_keys.c - see group_keys.h.
 */
#include "fold/group_keys.h"

#include <stdlib.h>
#include <string.h>

#define ADDRESS_NBYTES ((size_t)GROUPS_ADDRESS_BITS / 8) /* of a group, before its text */

/* The table of column c, of the part in which a group with that hash is. */
static struct key_table *table_of(const struct groups *part, size_t c)
{
	return &part->keys[part->plan->columns[c].cell_list];
}

/* Calls visit for each column whose keys are in cells. */
typedef enum status column_visitor(struct groups *part, size_t c);
static enum status each_column(struct groups *part, column_visitor *visit)
{
	for (size_t c = 0; part->keys && c < part->plan->ncolumns; c++)
		if (plan_column_has_cell_of(&part->plan->columns[c], MOMENT_KEYS))
			TRY(visit(part, c));
	return STATUS_OK;
}

static enum status free_table(struct groups *part, size_t c)
{
	key_table_free(table_of(part, c));
	return STATUS_OK;
}

void group_keys_free(struct groups *part)
{
	each_column(part, free_table);
	free(part->keys);
	part->keys = NULL;
	text_free(&part->key_text);
}

static enum status make_tables(struct groups *part)
{
	const struct plan *plan = part->plan;

	part->keys = calloc(plan->ncolumns, sizeof *part->keys);
	NEED(part->keys);
	for (size_t c = 0; c < plan->ncolumns; c++)
		if (plan_column_has_cell_of(&plan->columns[c], MOMENT_KEY_COUNTS))
			table_of(part, c)->value_nbytes = sizeof(struct key_count);
	return STATUS_OK;
}

/* ---- adding ---- */

static enum status add_to_partial(struct group *group, const struct plan *plan, size_t c, const char *text, size_t nbytes,
				  struct key_count times)
{
	struct keys *keys = moments_need(&group->rest->columns[c].moments, CELL_KEYS);

	return keys ? keys_add_times(keys, keys_wanted_of(&plan->columns[c]), text, nbytes, times) : STATUS_NO_MEMORY;
}

/* Writes a group's address and a text one behind the other, to `to`. */
static char *join(char *to, const struct group_key *x)
{
	memcpy(to, &x->group, ADDRESS_NBYTES);
	memcpy(to + ADDRESS_NBYTES, x->text, x->nbytes);
	return to;
}

/* Makes room for the keys of n texts. Errors: STATUS_NO_MEMORY. */
static enum status reserve_texts(struct groups *part, const struct group_key *x, size_t n)
{
	size_t nbytes = 0;

	for (size_t i = 0; i < n; i++)
		nbytes += x[i].nbytes;
	part->key_text.nbytes = 0;
	return text_reserve(&part->key_text, nbytes + n * (ADDRESS_NBYTES + KEY_INLINE_NBYTES + 1));
}

static enum status add_key(struct groups *part, size_t c, const struct group_key *x, const struct key *key, uint64_t hash)
{
	struct key_table *table = table_of(part, c);
	size_t nkeys = table->nkeys, slot;

	TRY(key_table_add(table, key, hash, key_seed_get(), &slot));
	group_keys(x->group, &part->plan->columns[c])->n += table->nkeys > nkeys;
	if (table->value_nbytes) {
		struct key_count *times = key_table_value(table, slot);
		times->first = times->count == 0 || x->first < times->first ? x->first : times->first;
		times->count++;
	}
	return STATUS_OK;
}

enum status group_keys_add(struct groups *part, size_t c, const struct group_key *x, size_t n)
{
	const struct key_seed seed = key_seed_get();
	struct key keys[GROUP_KEYS_FLIGHT];
	uint64_t hashes[GROUP_KEYS_FLIGHT];
	enum status status = part->keys ? STATUS_OK : make_tables(part);
	char *to;

	if (status == STATUS_OK)
		status = reserve_texts(part, x, n);
	to = part->key_text.data;
	for (size_t i = 0; i < n && status == STATUS_OK; i++) {
		hashes[i] = key_make(join(to, &x[i]), ADDRESS_NBYTES + x[i].nbytes, true, seed, &keys[i]);
		key_table_prefetch(table_of(part, c), hashes[i]);
		to += ADDRESS_NBYTES + x[i].nbytes + KEY_INLINE_NBYTES + 1;
	}
	for (size_t i = 0; i < n && status == STATUS_OK; i++)
		status = x[i].group->rest ? add_to_partial(x[i].group, part->plan, c, x[i].text, x[i].nbytes,
							   (struct key_count){1, x[i].first})
					  : add_key(part, c, &x[i], &keys[i], hashes[i]);
	return status;
}

/* ---- when all have come ---- */

/* What a slot of a table has. */
struct pair {
	struct group *group;
	const char *text;
	size_t nbytes;
	struct key_count *times; /* NULL: they are not counted */
};

static bool read_pair(const struct key_table *table, size_t slot, struct pair *out)
{
	const struct key *key = &table->keys[slot];
	const char *joined = key_text(key);

	if (!key->high)
		return false;
	out->group = NULL;
	memcpy(&out->group, joined, ADDRESS_NBYTES);
	out->text = joined + ADDRESS_NBYTES;
	out->nbytes = key_nbytes(key) - ADDRESS_NBYTES;
	out->times = table->value_nbytes ? key_table_value(table, slot) : NULL;
	return !out->times || out->times->count > 0;
}

/* Moves a pair to its group's partial. */
static enum status move_pair(const struct groups *part, size_t c, const struct pair *pair)
{
	enum status status = add_to_partial(pair->group, part->plan, c, pair->text, pair->nbytes,
					    pair->times ? *pair->times : (struct key_count){1, 0});

	if (pair->times)
		pair->times->count = 0; /* without counts, a key that is added again changes nothing */
	return status;
}

/* Whether a pair comes before another one in that order. slot: 1 + the other's; 0: no other has been found yet. */
static bool comes_before(const struct key_table *table, const struct pair *pair, uint32_t slot, enum keys_order order)
{
	const struct key_count *a = pair->times, *b = slot ? key_table_value(table, slot - 1) : NULL;

	if (!b || a->count != b->count)
		return !b || (order == KEYS_MOST_FREQUENT ? a->count > b->count : a->count < b->count);
	return a->first < b->first;
}

static void add_logarithm(struct group_key_logs *logs, uint64_t count)
{
	struct logarithm_sum sum = group_logs_get(&logs->sum);

	logarithm_add_count(&sum, count);
	group_logs_set(&logs->sum, &sum);
	logs->n += count;
}

static enum status settle_table(struct groups *part, size_t c)
{
	const struct plan_column *column = &part->plan->columns[c];
	const struct key_table *table = table_of(part, c);
	struct pair pair;

	if (!table->value_nbytes && !group_rests_exist())
		return STATUS_OK;
	for (size_t slot = 0; slot < table->nslots; slot++) {
		struct group_keys *keys;
		if (!read_pair(table, slot, &pair))
			continue;
		keys = group_keys(pair.group, column);
		if (pair.group->rest)
			TRY(move_pair(part, c, &pair));
		for (int i = 0; pair.times && pair.times->count > 0 && i < KEYS_NORDERS; i++)
			if (comes_before(table, &pair, keys->found[i], (enum keys_order)i))
				keys->found[i] = (uint32_t)slot + 1;
		if (column->needs & MOMENT_KEY_LOGS && pair.times->count > 0)
			add_logarithm(group_key_logs(pair.group, column), pair.times->count);
	}
	return STATUS_OK;
}

enum status group_keys_settle(struct groups *part)
{
	return each_column(part, settle_table);
}

static enum status fold_table(struct groups *part, size_t c)
{
	const struct key_table *table = table_of(part, c);
	struct pair pair;

	for (size_t slot = 0; slot < table->nslots; slot++) {
		if (!read_pair(table, slot, &pair))
			continue;
		TRY(group_need_rest(pair.group, part->plan));
		TRY(move_pair(part, c, &pair));
	}
	return STATUS_OK;
}

enum status group_keys_fold(struct groups *part)
{
	return each_column(part, fold_table);
}

bool group_keys_find(struct group *group, const struct plan *plan, size_t c, enum keys_order order, const char **text,
		     size_t *nbytes)
{
	const struct groups *part = group_store_part(plan->groups, (size_t)(group_hash(group, key_seed_get()) >> (64 - GROUPS_PART_BITS)));
	uint32_t slot = group_keys(group, &plan->columns[c])->found[order];
	struct pair pair;

	*text = "";
	*nbytes = 0;
	if (!slot || !read_pair(table_of(part, c), slot - 1, &pair))
		return false;
	*text = pair.text;
	*nbytes = pair.nbytes;
	return true;
}
