/* SPDX-License-Identifier: MIT
 *
 * values_device.c - see values_device.h.
 */
#include "fold/values_device.h"

#include "fold/moment.h"
#include "fold/values.h"
#include "fold/values_focus.h"

void values_add_run(struct values *v, struct values_run *run)
{
	if (values_are_dropped()) {
		run->device->release(run);
		return;
	}
	run->next = v->runs;
	v->runs = run;
}

void values_take_runs(struct values *v, struct values *later)
{
	for (struct values_run *run = later->runs, *next; run; run = next) {
		next = run->next;
		run->next = v->runs;
		v->runs = run;
	}
	later->runs = NULL;
}

void values_release_runs(struct values *v)
{
	for (struct values_run *run = v->runs, *next; run; run = next) {
		next = run->next;
		run->device->release(run);
	}
	v->runs = NULL;
}

/* Adds a run's numbers as if they had been folded. */
static enum status add_run(struct values *v, const struct values_run *run)
{
	int64_t significand[SIMD_NUMBERS_NROWS * 64];
	uint8_t scale[SIMD_NUMBERS_NROWS];
	enum status status = STATUS_OK;

	for (int i = 0; i < SIMD_NUMBERS_NROWS; i++)
		scale[i] = (uint8_t)run->scale;
	for (uint64_t first = 0, n; first < run->nvalues && status == STATUS_OK; first += n) {
		n = run->nvalues - first;
		n = n < SIMD_NUMBERS_NROWS * 64 ? n : SIMD_NUMBERS_NROWS * 64;
		status = run->device->copy(run, first, n, significand);
		for (uint64_t i = 0; i < n && status == STATUS_OK; i += SIMD_NUMBERS_NROWS) {
			uint64_t rows = n - i < SIMD_NUMBERS_NROWS ? ((uint64_t)1 << (n - i)) - 1 : ~(uint64_t)0;
			status = moment_table[CELL_VALUES]->add(v, significand + i, scale, rows);
		}
	}
	return status;
}

enum status values_bring_down(struct values *v)
{
	enum status status = STATUS_OK;

	for (struct values_run *run = v ? v->runs : NULL, *next; run && status == STATUS_OK; run = next) {
		next = run->next;
		status = add_run(v, run);
		if (status == STATUS_OK) {
			v->runs = next;
			run->device->release(run);
		}
	}
	return status == STATUS_OK && values_are_dropped() ? STATUS_NO_MEMORY : status;
}
