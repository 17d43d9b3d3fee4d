/* SPDX-License-Identifier: MIT
 *
 * groups_across.cu - how the groups of one GPU come to the table of another, so that one GPU has all of them when they are
 * to be printed. They are laid one behind the other, copied piece by piece, and merged there like groups of the host.
 */
#include "kernels/worker/groups.cuh"
#include "kernels/worker/groups_arranged.cuh"

extern "C" {
#include "fold/group_source.h"
}

#define PIECE_NBLOCKS ((size_t)64) /* of GROUP_SOURCE_NGROUPS groups: 100 MB of them, or less */

/* What it takes. The arrays: memory of the device that they go to. */
struct crossing {
	const struct gpu_groups *from, *to;
	struct group_control controls[2]; /* from's, and to's */
	struct arranging r;               /* from's */
	cudaStream_t stream;              /* to's device's */
	uint64_t *words, *begins;
	unsigned long long *nleft;
};

/* Whether the other table takes all of them as they are: it has room, and columns have the same scales, which become its own
 * where it has had no numbers. */
static bool tables_agree(struct crossing *x, uint64_t ngroups)
{
	const struct group_table *t = &x->to->table;
	uint32_t *scales = x->controls[1].scales;

	for (uint32_t p = 0; p < GROUP_TABLE_NPARTS; p++)
		if (group_part_nwords(x->from->table, x->controls[0], p) + group_part_nwords(*t, x->controls[1], p) >
		    t->part_nwords)
			return false;
	for (uint32_t c = 0; c < t->layout.ncolumns; c++) {
		uint32_t scale = x->controls[0].scales[c];
		scales[c] = scales[c] == GROUP_SCALE_UNSET ? scale : scales[c];
		if (scale != GROUP_SCALE_UNSET && scale != scales[c])
			return false;
	}
	return groups_have_slots(t, ngroups) && x->from->nrecords + x->to->nrecords <= GROUP_TABLE_NRECORDS_MAX;
}

/* Finds out whether it can be done, and allocates what arranging takes; until then nothing has changed. */
static enum status prepare(struct crossing *x, bool *can, struct fault *fault)
{
	const struct gpu_groups *both[2] = {x->from, x->to};
	uint64_t n[2];

	for (int i = 0; i < 2; i++) {
		enum status status = groups_count(both[i], &n[i], fault);
		if (status != STATUS_OK)
			return status;
		TRY("copy groups", cudaMemcpy(&x->controls[i], both[i]->table.control, sizeof x->controls[i],
					      cudaMemcpyDeviceToHost));
	}
	if (n[0] == 0 || n[1] == 0 || !tables_agree(x, n[0] + n[1]))
		return STATUS_OK;
	return arranging_open(&x->r, x->from, &x->controls[0], 0, 0, can, fault);
}

/* Allocates for pieces. Devices that see each other's memory copy without the host. */
static enum status open_pieces(struct crossing *x, struct fault *fault)
{
	TRY("select GPU", cudaSetDevice(x->to->device));
	if (x->to->device != x->from->device)
		(void)cudaDeviceEnablePeerAccess(x->from->device, 0);
	(void)cudaGetLastError(); /* it may be enabled, or not possible */
	TRY("create stream", cudaStreamCreateWithFlags(&x->stream, cudaStreamNonBlocking));
	TRY("allocate groups", cudaMalloc((void **)&x->words, PIECE_NBLOCKS * x->r.block_nwords * sizeof *x->words));
	TRY("allocate groups",
	    cudaMalloc((void **)&x->begins, PIECE_NBLOCKS * GROUP_SOURCE_NGROUPS * sizeof *x->begins));
	TRY("allocate groups", cudaMalloc((void **)&x->nleft, sizeof *x->nleft));
	TRY("clear groups", cudaMemsetAsync(x->nleft, 0, sizeof *x->nleft, x->stream));
	TRY("copy groups", cudaMemcpyAsync(x->to->table.control->scales, x->controls[1].scales, sizeof x->controls[1].scales,
					   cudaMemcpyHostToDevice, x->stream));
	return STATUS_OK;
}

/* Puts a piece, from block b on, into the stream. */
static enum status send_blocks(struct crossing *x, size_t b, size_t nblocks, struct fault *fault)
{
	uint64_t first = b * GROUP_SOURCE_NGROUPS, left = x->r.places.n - first;
	uint64_t n = nblocks * GROUP_SOURCE_NGROUPS < left ? nblocks * GROUP_SOURCE_NGROUPS : left;
	uint64_t at = x->r.block_begins[b], nwords = x->r.block_begins[b + nblocks] - at;
	int to = x->to->device, from = x->from->device;

	TRY("send groups", cudaMemcpyPeerAsync(x->words, to, x->r.words + at, from, nwords * sizeof *x->words, x->stream));
	TRY("send groups", cudaMemcpyPeerAsync(x->begins, to, x->r.begins + first, from, n * sizeof *x->begins, x->stream));
	TRY("launch group_merge",
	    group_merge_launch(x->to->table, x->words, x->begins, (uint32_t)n, x->nleft, x->stream));
	return STATUS_OK;
}

/* Sends all. That the table has no room, in spite of what was found out, is a failure: some are in it. */
static enum status send(struct crossing *x, struct fault *fault)
{
	size_t nblocks = (size_t)((x->r.places.n + GROUP_SOURCE_NGROUPS - 1) / GROUP_SOURCE_NGROUPS);
	unsigned long long nleft;
	enum status status = open_pieces(x, fault);

	for (size_t b = 0; b < nblocks && status == STATUS_OK; b += PIECE_NBLOCKS)
		status = send_blocks(x, b, nblocks - b < PIECE_NBLOCKS ? nblocks - b : PIECE_NBLOCKS, fault);
	if (status != STATUS_OK)
		return status;
	TRY("send groups", cudaMemcpyAsync(&nleft, x->nleft, sizeof nleft, cudaMemcpyDeviceToHost, x->stream));
	TRY("send groups", cudaStreamSynchronize(x->stream));
	return nleft == 0 ? STATUS_OK : fault_set(fault, STATUS_GPU, 0, "no room for groups");
}

static void close_crossing(struct crossing *x)
{
	(void)cudaFree(x->nleft);
	(void)cudaFree(x->begins);
	(void)cudaFree(x->words);
	if (x->stream)
		(void)cudaStreamDestroy(x->stream);
	arranging_close(&x->r);
}

enum status gpu_groups_cross(const struct gpu_groups *from, struct gpu_groups *to, bool *crossed, struct fault *fault)
{
	struct crossing x = {};
	bool can = false;
	enum status status;

	x.from = from;
	x.to = to;
	status = prepare(&x, &can, fault);
	if (status == STATUS_OK && can)
		status = arranging_run(&x.r, &from->table, fault);
	if (status == STATUS_OK && can)
		status = send(&x, fault);
	*crossed = status == STATUS_OK && can;
	if (*crossed)
		to->nrecords += from->nrecords;
	close_crossing(&x);
	return status;
}
