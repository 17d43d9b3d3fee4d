/* SPDX-License-Identifier: MIT
 *
 * groups_across.cu - how the groups of one GPU come to the table of another, so that one GPU has all of them when they are
 * to be printed. They are laid one behind the other, copied piece by piece, and merged there like groups of the host.
 */
#include "kernels/worker/groups_arranged.cuh"
#include "kernels/worker/groups_piece.cuh"

extern "C" {
#include "fold/group_source.h"
}

#define NDEVICES_MAX 64

/* What it takes. */
struct crossing {
	const struct gpu_groups *from, *to;
	struct group_control controls[2]; /* from's, and to's */
	struct arranging r;               /* from's */
	cudaStream_t stream;              /* to's device's, as the piece is */
	struct device_piece piece;
	size_t nblocks, piece_nblocks;    /* of GROUP_SOURCE_NGROUPS groups: in all, and in the piece */
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

/* Finds out whether it can be done, and allocates what arranging takes. */
static enum status prepare(struct crossing *x, bool *can, struct fault *fault)
{
	const struct gpu_groups *both[2] = {x->from, x->to};
	uint64_t n[2];

	for (int i = 0; i < 2; i++) {
		enum status status = groups_count(both[i], &n[i], fault);
		if (status != STATUS_OK)
			return status;
		GPU_TRY("copy groups", cudaMemcpy(&x->controls[i], both[i]->table.control, sizeof x->controls[i],
					      cudaMemcpyDeviceToHost));
	}
	if (n[0] == 0 || n[1] == 0 || !tables_agree(x, n[0] + n[1]))
		return STATUS_OK;
	return arranging_open(&x->r, x->from, n[0], groups_nwords(&x->from->table, &x->controls[0]), can, fault);
}

/* Enables the current device's access to a peer's memory, if it can have that: copies go by the host otherwise. It stays
 * enabled, since to disable and to enable it for each crossing took 0.3 s (two H100s, 2026-11-24). One thread at a time. */
static void enable_peer_access(int device, int peer)
{
	static uint64_t asked[NDEVICES_MAX]; /* by each device: a bit for each peer */
	int can = 0;

	if (device == peer || device >= NDEVICES_MAX || peer >= NDEVICES_MAX || asked[device] >> peer & 1)
		return;
	asked[device] |= (uint64_t)1 << peer;
	if (cudaDeviceCanAccessPeer(&can, device, peer) == cudaSuccess && can)
		(void)cudaDeviceEnablePeerAccess(peer, 0);
	(void)cudaGetLastError();
}

/* Opens what the arranged groups go through, in pieces of up to so many bytes. */
static enum status open_path(struct crossing *x, size_t piece_nbytes, bool *can, struct fault *fault)
{
	size_t nfitting = piece_nbytes / (x->r.block_nwords * sizeof(uint64_t));

	x->nblocks = (size_t)((x->r.places.n + GROUP_SOURCE_NGROUPS - 1) / GROUP_SOURCE_NGROUPS);
	x->piece_nblocks = nfitting < 1 ? 1 : nfitting < x->nblocks ? nfitting : x->nblocks;
	GPU_TRY("select GPU", cudaSetDevice(x->to->device));
	enable_peer_access(x->to->device, x->from->device);
	GPU_TRY("create stream", cudaStreamCreateWithFlags(&x->stream, cudaStreamNonBlocking));
	return device_piece_open(&x->piece, x->piece_nblocks * x->r.block_nwords, x->piece_nblocks * GROUP_SOURCE_NGROUPS,
				 x->stream, can, fault);
}

/* Puts a piece, from block b on, into the stream. */
static enum status send_blocks(struct crossing *x, size_t b, size_t nblocks, struct fault *fault)
{
	uint64_t first = b * GROUP_SOURCE_NGROUPS, left = x->r.places.n - first;
	uint64_t n = nblocks * GROUP_SOURCE_NGROUPS < left ? nblocks * GROUP_SOURCE_NGROUPS : left;
	uint64_t at = x->r.block_begins[b], nwords = x->r.block_begins[b + nblocks] - at;
	int to = x->to->device, from = x->from->device;

	GPU_TRY("send groups",
	    cudaMemcpyPeerAsync(x->piece.words, to, x->r.words + at, from, nwords * sizeof *x->r.words, x->stream));
	GPU_TRY("send groups",
	    cudaMemcpyPeerAsync(x->piece.begins, to, x->r.begins + first, from, n * sizeof *x->r.begins, x->stream));
	GPU_TRY("launch group_merge", group_merge_launch(x->to->table, x->piece.words, x->piece.begins, (uint32_t)n,
						     x->piece.nleft, x->stream));
	return STATUS_OK;
}

/* Sends all: from here on the other table changes. */
static enum status send(struct crossing *x, struct fault *fault)
{
	enum status status = STATUS_OK;

	GPU_TRY("copy groups", cudaMemcpyAsync(x->to->table.control->scales, x->controls[1].scales, sizeof x->controls[1].scales,
					   cudaMemcpyHostToDevice, x->stream));
	for (size_t b = 0; b < x->nblocks && status == STATUS_OK; b += x->piece_nblocks)
		status = send_blocks(x, b, x->nblocks - b < x->piece_nblocks ? x->nblocks - b : x->piece_nblocks, fault);
	return status == STATUS_OK ? device_piece_end(&x->piece, x->stream, fault) : status;
}

static void close_crossing(struct crossing *x)
{
	device_piece_close(&x->piece);
	if (x->stream)
		(void)cudaStreamDestroy(x->stream);
	arranging_close(&x->r);
}

enum status gpu_groups_cross(const struct gpu_groups *from, struct gpu_groups *to, size_t piece_nbytes, bool *crossed,
			     struct fault *fault)
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
		status = open_path(&x, piece_nbytes, &can, fault);
	if (status == STATUS_OK && can)
		status = send(&x, fault);
	*crossed = status == STATUS_OK && can;
	if (*crossed)
		to->nrecords += from->nrecords;
	close_crossing(&x);
	return status;
}
