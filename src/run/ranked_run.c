/* SPDX-License-Identifier: MIT
 *
 * ranked_run.c - see ranked_run.h. The first pass is that of a result: what it folds in any order of the chunks,
 * it need not print. The second is that of any printed records, with the tables of the first beside.
 */
#include "run/ranked_run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "engine/engine.h"
#include "fold/groups.h"
#include "fold/rank_tables.h"
#include "run/progress.h"

/* Whether all files can be read twice: an empty one, which input_is_repeatable does not trust, as well. */
static bool can_read_twice(const struct run *r)
{
	struct stat st;

	for (int i = 0; i < r->options.npaths; i++) {
		const char *path = r->options.paths[i];
		bool is_stdin = !strcmp(path, "-");
		if ((is_stdin ? fstat(STDIN_FILENO, &st) : stat(path, &st)) != 0 || !S_ISREG(st.st_mode) ||
		    (is_stdin && r->stdin_offset < 0))
			return false;
	}
	return true;
}

/* Makes the plan one that keeps the ranked columns' numbers, of all records that --where takes. */
static void plan_keeping(struct plan *plan)
{
	plan->emits = false;
	plan->head = 0;
	plan->curve = NULL;
	plan->counts_records = true;
	for (size_t i = 0; i < plan->nnew_columns; i++)
		if (plan->new_columns[i].kind == NEW_RANK)
			plan->columns[plan->new_columns[i].column].needs |= MOMENT_VALUES;
}

/* How many numbers the ranked columns have, all together. */
static uint64_t count_numbers(const struct run *r)
{
	const struct plan *plan = &r->query.plan;
	struct wide_fold numbers;
	uint64_t n = 0;

	for (size_t i = 0; i < plan->nnew_columns; i++)
		if (plan->new_columns[i].kind == NEW_RANK) {
			column_numbers(&r->total.partial.columns[plan->new_columns[i].column], &numbers);
			n += numbers.count;
		}
	return n;
}

/* Prints the records. */
static enum status print_pass(struct run *r, const struct run *first, const struct rank_tables *tables,
			      struct fault *fault)
{
	r->options = first->options;
	r->stdin_offset = first->stdin_offset;
	r->careful = first->careful;
	r->all_ended = true;
	if (first->stdin_offset >= 0)
		lseek(STDIN_FILENO, first->stdin_offset, SEEK_SET);
	engine_nbytes_begun = fd_nbytes_read = 0;
	TRY(run_open_input(r, fault));
	r->query.plan.ranks = tables;
	TRY(run_fold_input(r, fault));
	if (r->query.plan.head == 0 && count_numbers(r) != count_numbers(first))
		TRY(fault_set(fault, STATUS_CHANGED, 0, NULL));
	return run_finish(r, fault);
}

/* Frees what the second pass owns: its options are the first's. */
static void free_pass(struct run *r)
{
	r->options = (struct options){.npaths = 0};
	run_free(r);
	free(r);
}

enum status run_ranked(struct run *r, struct fault *fault)
{
	struct rank_tables tables;
	enum status status;
	struct run *second;

	if (!can_read_twice(r))
		return option_fault(fault, "--rank reads its input twice, which a pipe cannot be: write it to a file "
				    "first, then gpustat ... FILE");
	second = calloc(1, sizeof *second);
	if (!second)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	plan_keeping(&r->query.plan);
	TRY(run_fold_input(r, fault));
	progress_pass_end();
	status = rank_tables_make(&tables, &r->query.plan, &r->total.partial, ranks_nthreads(&r->query));
	if (status != STATUS_OK)
		return fault_set(fault, status, 0, NULL);
	status = print_pass(second, r, &tables, fault);
	r->all_ended &= second->all_ended;
	if (status != STATUS_OK || !r->all_ended)
		return status; /* the process ends */
	rank_tables_free(&tables);
	free_pass(second);
	return STATUS_OK;
}
