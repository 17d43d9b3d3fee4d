/* SPDX-License-Identifier: MIT
 *
 * time_kernels.cu - the GPU worker's kernels one by one, and together, on chunks of a CSV
 * file that lie on the device already; beside them the copies. Not a test and not installed.
 *
 *     time_kernels [--table] FILE [COLUMNS [CHUNK_MIB...]]
 *
 * COLUMNS: positions from 1, as 6 or 1,3 or 1-50; default 1. --table: instead of
 * column_fold, times the kernels that make a table of each record's values, as printed records
 * need them. The file's first line is skipped. The worker first folds a chunk, which allocates
 * memory and leaves each stage its input. Each stage: median of many by CUDA events, ns and GB/s
 * of CSV. The line `worker: map and fold` is by the host's clock and includes the copies.
 */
#include "bench/ladder/event_timer.cuh"
#include "kernels/worker/gpu.h"
#include "kernel_test.cuh"
#include "kernels/worker/worker.cuh"

#define NREPEATS 51

/* ---- what is asked ---- */

static size_t columns_parse(const char *text, struct plan_column *columns, size_t capacity)
{
	size_t n = 0;

	while (*text) {
		char *end;
		unsigned long first = strtoul(text, &end, 10), last = first;
		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		if (first == 0 || last < first || (*end != ',' && *end != '\0'))
			bail("columns: %s", text);
		for (; first <= last && n < capacity; first++) {
			columns[n].field = (uint32_t)first - 1;
			columns[n].needs = MOMENTS_FUSED;
			columns[n].parses = true;
			n++;
		}
		text = end + (*end == ',');
	}
	return n;
}

/* Reads up to nbytes of the file behind its first line; *nbytes: how many there were. */
static char *text_read(const char *path, size_t *nbytes)
{
	FILE *f = fopen(path, "rb");
	char *text = (char *)malloc(*nbytes);
	int c;

	if (f == NULL || text == NULL)
		bail("%s: cannot read", path);
	do
		c = getc(f);
	while (c != '\n' && c != EOF);
	*nbytes = fread(text, 1, *nbytes, f);
	fclose(f);
	return text;
}

/* ---- timing ---- */

static cudaError_t nothing(void)
{
	return cudaSuccess;
}

/* Times launch(), after prepare(), and prints a line. */
template <class PREPARE, class LAUNCH>
static void time_stage(const char *name, size_t nbytes, PREPARE prepare, LAUNCH launch)
{
	struct bench_time t;

	must(event_timer_warm(NREPEATS, prepare, launch, &t), name);
	printf("  %-28s %10.0f ns  %8.1f GB/s   (least %.0f)\n", name, t.median_ns,
	       (double)nbytes / t.median_ns, t.least_ns);
	fflush(stdout);
}

static cudaError_t map_launch(struct worker *w, const struct chunk *chunk)
{
	cudaError_t error = cudaMemsetAsync(w->device_summary, 0, sizeof *w->device_summary, 0);

	if (error == cudaSuccess)
		error = grid_domino_advance(&w->domino, 0);
	return error != cudaSuccess ? error
				    : records_map_launch(text_of(w, chunk), w->domino,
							 w->tile_prefix, w->device_summary, 0);
}

static cudaError_t ends_launch(struct worker *w, const struct chunk *chunk)
{
	cudaError_t error = grid_domino_advance(&w->domino, 0);

	return error != cudaSuccess
		       ? error
		       : records_ends_launch(text_of(w, chunk), w->domino, w->tile_prefix,
					     CSV_FIELD_START, 0, (uint32_t *)w->ends.data,
					     (uint16_t *)w->nseparators.data, w->tile_nseparators,
					     w->device_summary, 0);
}

static cudaError_t fields_only(struct worker *w, const struct chunk *chunk)
{
	return fields_launch(text_of(w, chunk), w->records, fields_plan_of(w), w->table,
			     w->exception_list, w->device_summary, 0);
}

static cudaError_t fold_launch(struct worker *w, const struct chunk *chunk)
{
	cudaError_t error = map_launch(w, chunk);

	if (error == cudaSuccess)
		error = ends_launch(w, chunk);
	if (error == cudaSuccess)
		error = fields_only(w, chunk);
	if (error == cudaSuccess)
		error = reduce_launch(w->table, w->records, w->reduce, 0);
	return error;
}

static cudaError_t columns_launch(struct worker *w, const struct chunk *chunk)
{
	return column_fold_launch(text_of(w, chunk), {w->tile_prefix, CSV_FIELD_START, 0, 0},
				  fields_plan_of(w), w->column_fold, w->reduce, w->exception_list,
				  w->device_summary, 0);
}

/* The worker's own way with the chunk: the median of the host's clock. */
static void time_worker(struct worker *w, const struct chunk *chunk, struct partial *partial)
{
	double ns[NREPEATS];
	struct chunk_map map;
	struct fault fault;

	for (unsigned i = 0; i < NREPEATS; i++) {
		double begin = timing_now_ns();
		partial_clear(partial);
		if (worker_gpu.map(w, chunk, &map, &fault) != STATUS_OK ||
		    worker_gpu.fold(w, chunk, {CSV_FIELD_START, false, false}, partial, &fault) !=
			    STATUS_OK)
			bail("worker: %s", fault.detail);
		ns[i] = timing_now_ns() - begin;
	}
	struct bench_time t = timing_summary(ns, NREPEATS);
	printf("  %-28s %10.0f ns  %8.1f GB/s   (least %.0f)\n", "worker: map and fold",
	       t.median_ns, (double)chunk->nbytes / t.median_ns, t.least_ns);
}

/* Times the kernels that make a table of each record's values. */
static void time_table(struct worker *w, const struct chunk *chunk)
{
	size_t n = chunk->nbytes;

	time_stage("records_ends", n, nothing, [&] { return ends_launch(w, chunk); });
	time_stage("fields", n, nothing, [&] { return fields_only(w, chunk); });
	time_stage("reduce", n, nothing,
		   [&] { return reduce_launch(w->table, w->records, w->reduce, 0); });
	time_stage("map, ends, fields, reduce", n, nothing, [&] { return fold_launch(w, chunk); });
}

static cudaError_t results_back(struct worker *w)
{
	size_t ncolumns = w->plan->ncolumns;
	cudaError_t error = cudaMemcpyAsync(w->summary, w->device_summary, sizeof *w->summary,
					    cudaMemcpyDeviceToHost, 0);

	if (error == cudaSuccess)
		error = cudaMemcpyAsync(w->tally, w->reduce.tally, ncolumns * sizeof *w->tally,
					cudaMemcpyDeviceToHost, 0);
	if (error == cudaSuccess)
		error = cudaMemcpyAsync(w->bins, w->reduce.bins,
					ncolumns * DECIMAL_NSCALES * sizeof *w->bins,
					cudaMemcpyDeviceToHost, 0);
	return error;
}

static void time_stages(struct worker *w, const struct chunk *chunk)
{
	size_t n = chunk->nbytes;

	time_stage("copy up", n, nothing, [&] {
		return cudaMemcpyAsync(w->text, chunk->data, n, cudaMemcpyHostToDevice, 0);
	});
	time_stage("records_map", n, nothing, [&] { return map_launch(w, chunk); });
	if (w->folds_columns) {
		time_stage("column_fold", n, nothing, [&] { return columns_launch(w, chunk); });
		time_stage("map, column_fold", n, nothing, [&] {
			cudaError_t error = map_launch(w, chunk);
			return error == cudaSuccess ? columns_launch(w, chunk) : error;
		});
	} else {
		time_table(w, chunk);
	}
	time_stage("results back", n, nothing, [&] { return results_back(w); });
}

static void time_chunk(const struct plan *plan, const char *text, size_t nbytes)
{
	const struct worker_setup setup = {nbytes, 0, false, false, 0, 0};
	struct worker *w;
	struct fault fault;
	struct partial partial;
	struct chunk chunk = {};

	if (worker_gpu.open(&w, plan, &setup, &fault) != STATUS_OK)
		bail("open: %s", fault.detail);
	if (partial_init(&partial, plan) != STATUS_OK)
		bail("out of memory");
	chunk.data = worker_gpu.buffer(w);
	chunk.nbytes = nbytes;
	chunk.first_of_file = true; /* so that it is folded early */
	memcpy(chunk.data, text, nbytes);
	time_worker(w, &chunk, &partial);
	if (!w->on_device)
		bail("the chunk was not folded on the device");
	printf("  %u lines, %zu columns, %u exceptions, %u off scale; first column: %llu numbers\n",
	       w->nlines, plan->ncolumns, w->summary->nexceptions, w->summary->noff_scale,
	       (unsigned long long)partial.columns[0].numbers.count);
	time_stages(w, &chunk);
	partial_free(&partial);
	worker_gpu.close(w);
}

int main(int argc, char **argv)
{
	static struct plan_column columns[4096];
	struct plan plan = {};
	size_t most = 0;

	plan.emits = argc > 1 && strcmp(argv[1], "--table") == 0;
	argc -= plan.emits;
	argv += plan.emits;
	if (argc < 2)
		bail("usage: time_kernels [--table] FILE [COLUMNS [CHUNK_MIB...]]");
	if (gpu_count() == 0)
		bail("no CUDA device");
	plan.dialect.delimiter = ',';
	plan.dialect.quote = '"';
	plan.notation.decimal = '.';
	plan.where = PREDICATE_NONE;
	plan.bad_record = INVALID_SKIP;
	plan.columns = columns;
	plan.ncolumns = columns_parse(argc > 2 ? argv[2] : "1", columns, 4096);
	const char *defaults[] = {"8", "16", "32", "64"};
	const char *const *sizes = argc > 3 ? argv + 3 : defaults;
	int nsizes = argc > 3 ? argc - 3 : 4;
	for (int i = 0; i < nsizes; i++)
		most = strtoul(sizes[i], NULL, 10) > most ? strtoul(sizes[i], NULL, 10) : most;
	most <<= 20;
	char *text = text_read(argv[1], &most);
	plan.ragged.nfields = 1;
	for (const char *c = text; c < text + most && *c != '\n'; c++)
		plan.ragged.nfields += *c == ',';
	for (int i = 0; i < nsizes; i++) {
		size_t nbytes = (size_t)strtoul(sizes[i], NULL, 10) << 20;
		nbytes = nbytes < most ? nbytes : most;
		printf("%s: %.1f MiB\n", argv[1], (double)nbytes / (1 << 20));
		time_chunk(&plan, text, nbytes);
	}
	free(text);
	return 0;
}
