/* SPDX-License-Identifier: MIT
 *
 * device_run.c - see device_run.h.
 */
#include "fold/device_run.h"

#include <stdlib.h>
#include <string.h>

#include "fold/keys.h"
#include "fold/moment.h"
#include "fold/values.h"
#include "fold/values_select.h"

void device_runs_take(struct device_run **runs, struct device_run **later)
{
	for (struct device_run *run = *later, *next; run; run = next) {
		next = run->next;
		run->next = *runs;
		*runs = run;
	}
	*later = NULL;
}

void device_runs_release(struct device_run **runs)
{
	for (struct device_run *run = *runs, *next; run; run = next) {
		next = run->next;
		run->ops->release(run);
	}
	*runs = NULL;
}

enum status device_run_each(const struct device_run *run, device_run_adder add, void *context)
{
	int64_t x[DEVICE_RUN_BATCH];

	for (uint64_t first = 0, n; first < run->nnumbers; first += n) {
		n = run->nnumbers - first;
		n = n < DEVICE_RUN_BATCH ? n : DEVICE_RUN_BATCH;
		TRY(run->ops->copy(run, first, n, x));
		TRY(add(context, x, n, run->scale));
	}
	return STATUS_OK;
}

/* Adds all runs, and releases those that have been added. */
static enum status add_all(struct device_run **runs, device_run_adder add, void *context)
{
	enum status status = STATUS_OK;

	while (*runs && status == STATUS_OK) {
		struct device_run *run = *runs;
		status = device_run_each(run, add, context);
		if (status == STATUS_OK) {
			*runs = run->next;
			run->ops->release(run);
		}
	}
	return status;
}

/* ---- values ---- */

void values_add_run(struct values *v, struct device_run *run)
{
	if (values_are_dropped()) {
		run->ops->release(run);
		return;
	}
	run->next = v->runs;
	v->runs = run;
}

static enum status add_values(void *context, const int64_t *x, size_t n, int scale)
{
	uint8_t scales[SIMD_NUMBERS_NROWS];

	memset(scales, scale, sizeof scales);
	for (size_t i = 0; i < n; i += SIMD_NUMBERS_NROWS) {
		uint64_t rows = n - i < SIMD_NUMBERS_NROWS ? ((uint64_t)1 << (n - i)) - 1 : ~(uint64_t)0;
		TRY(moment_table[CELL_VALUES]->add(context, x + i, scales, rows));
	}
	return STATUS_OK;
}

enum status values_bring_down(struct values *v)
{
	enum status status = v ? add_all(&v->runs, add_values, v) : STATUS_OK;

	return status == STATUS_OK && values_are_dropped() ? STATUS_NO_MEMORY : status;
}

/* ---- keys ---- */

void keys_add_run(struct keys *k, struct device_run *run)
{
	run->next = k->runs;
	k->runs = run;
}

/* The keys of a cell that are plain numbers. */
struct number_list {
	int64_t *at; /* room for all keys; owned */
	size_t n;
};

static void list_number(void *context, const struct key_found *found)
{
	const char *text = key_text(&found->key);
	size_t nbytes = key_nbytes(&found->key);
	const int64_t limit = (int64_t)1 << KEY_NUMBER_BITS;
	struct number_list *list = context;
	char plain[DECIMAL_TEXT_NBYTES];
	struct decimal x;

	if (nbytes > DECIMAL_TEXT_NBYTES || decimal_parse(text, nbytes, &x) != DECIMAL_NUMBER ||
	    x.significand >= limit || x.significand <= -limit ||
	    decimal_format(x.significand, x.scale, plain) != nbytes ||
	    memcmp(plain, text, nbytes) != 0)
		return;
	list->at[list->n++] = x.significand * (1 << KEY_NUMBER_SCALE_BITS) + x.scale;
}

/* Counts on the device. */
static enum status settle_there(struct keys *k)
{
	struct number_list list = {malloc((keys_count(k) + 1) * sizeof *list.at), 0};
	enum status status = list.at ? STATUS_OK : STATUS_NO_MEMORY;
	uint64_t count = 0;

	if (list.at)
		keys_each(k, list_number, &list);
	THEN(status, k->runs->ops->count_different(k->runs, list.at, list.n, &count));
	if (status == STATUS_OK && count < list.n)
		status = STATUS_GPU;
	if (status == STATUS_OK)
		k->nsettled = count - list.n;
	free(list.at);
	return status;
}

struct key_target {
	struct keys *keys;
	struct keys_wanted wanted;
};

static enum status add_keys(void *context, const int64_t *x, size_t n, int scale)
{
	struct key_target *to = context;
	char text[DECIMAL_TEXT_NBYTES];

	(void)scale;
	for (size_t i = 0; i < n; i++) {
		int of_key = (int)(x[i] & ((1 << KEY_NUMBER_SCALE_BITS) - 1));
		size_t nbytes = decimal_format((x[i] - of_key) / (1 << KEY_NUMBER_SCALE_BITS), of_key, text);
		TRY(keys_add(to->keys, to->wanted, text, nbytes, 0));
	}
	return STATUS_OK;
}

enum status keys_settle(struct keys *k, const struct keys_wanted *wanted)
{
	struct key_target to = {k, *wanted};

	if (!k || !k->runs)
		return STATUS_OK;
	if (settle_there(k) != STATUS_OK)
		return add_all(&k->runs, add_keys, &to);
	device_runs_release(&k->runs);
	return STATUS_OK;
}
