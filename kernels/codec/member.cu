/* SPDX-License-Identifier: MIT
 *
 * member.cu - see member.cuh.
 *
 * The host looks on between the kernels: it orders the beginnings, gives each section room in proportion to its
 * packed length, and follows the chain of those that meet. That takes less than a tenth of the kernels' time.
 */
#include "kernels/codec/member.cuh"

#include <stdlib.h>
#include <zlib.h>

extern "C" {
}

/* A batch has no more sections than one for so many bytes: blocks of most packers have more. */
#define SECTION_NBYTES ((uint32_t)16 << 10)
#define NGROUP 64 /* sections: about as many as there are groups in the longest batch */
#define NFOUND_EACH 4 /* beginnings that are listed for each section */
#define SPARSE_NBYTES ((uint32_t)1 << 20) /* with fewer beginnings than one for so many bytes, CPUs are faster */
#define RATIO_FIRST 8
#define RATIO_MAX 1040 /* the best that deflate packs */
#define ROOM_MIN 4096u /* symbols, for the shortest section */

/* Leaves the function if call fails. */
#define CHECK(call)                                \
	do {                                       \
		cudaError_t error_ = call;         \
		if (error_ != cudaSuccess)         \
			return error_;             \
	} while (0)

/* ---- memory ---- */

static uint32_t nfound_max(const struct member *m)
{
	return m->nsections * NFOUND_EACH;
}

static void cut_pinned(struct member *m, struct arena *a)
{
	m->found = arena_cut<uint64_t>(a, nfound_max(m));
	m->sections = arena_cut<struct inflate_section>(a, m->nsections);
	m->texts = arena_cut<struct section_text>(a, m->nsections);
	m->counts = arena_cut<uint32_t>(a, 2);
	m->crcs = arena_cut<uint32_t>(a, m->nsections);
}

static void cut_device(struct member *m, struct arena *a)
{
	size_t window = SECTION_WINDOW_NBYTES;

	m->list.bit = arena_cut<uint64_t>(a, nfound_max(m));
	m->list.n = arena_cut<uint32_t>(a, 1);
	m->list.capacity = nfound_max(m);
	m->job.sections = arena_cut<struct inflate_section>(a, m->nsections);
	m->job.symbols = arena_cut<uint16_t>(a, m->nsymbols);
	m->job.ticket = arena_cut<uint32_t>(a, 1);
	m->text.all = arena_cut<struct section_text>(a, m->nsections);
	m->text.ngroup = NGROUP;
	m->text.symbols = m->job.symbols;
	m->text.maps = arena_cut<uint16_t>(a, (m->nsections + m->ngroups) * window);
	m->text.windows = arena_cut<unsigned char>(a, (m->ngroups + 1) * window);
	m->text.ndamaged = arena_cut<uint32_t>(a, 1);
	m->device_crcs = arena_cut<uint32_t>(a, m->nsections);
}

cudaError_t member_open(struct member *m, uint32_t capacity_nbytes, cudaStream_t stream)
{
	struct arena measure = {NULL, 0};

	*m = {};
	m->capacity_nbytes = capacity_nbytes;
	m->ngroups = capacity_nbytes / SECTION_NBYTES / NGROUP + 1;
	m->nsections = m->ngroups * NGROUP;
	m->nsymbols = (size_t)capacity_nbytes * MEMBER_RATIO + (size_t)m->nsections * ROOM_MIN;
	m->stream = stream;
	cut_pinned(m, &measure);
	CHECK(cudaMallocHost((void **)&m->pinned.base, measure.nbytes));
	cut_pinned(m, &m->pinned);
	measure.nbytes = 0;
	cut_device(m, &measure);
	CHECK(cudaMalloc((void **)&m->device.base, measure.nbytes));
	cut_device(m, &m->device);
	member_begin(m);
	return cudaSuccess;
}

void member_close(struct member *m)
{
	(void)cudaFreeHost(m->pinned.base);
	(void)cudaFree(m->device.base);
	*m = {};
}

void member_begin(struct member *m)
{
	m->text_nbytes = 0;
	m->crc = 0;
	m->ratio = RATIO_FIRST;
	m->hidden = 0;
}

/* ---- 1. beginnings ---- */

/* How much of the data the batch takes: the rest would have no room. */
static uint32_t taken_nbytes(const struct member *m, const struct member_batch *b)
{
	uint64_t first = b->begin / 8, most = (uint64_t)m->capacity_nbytes * MEMBER_RATIO / m->ratio;

	return first + most < b->data.nbytes ? (uint32_t)(first + most) : b->data.nbytes;
}

static int compare_bits(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

/* Finds the beginnings behind the first, in order. *n: so many. */
static cudaError_t find(struct member *m, const struct member_batch *b, uint32_t *n)
{
	uint64_t from = b->begin + m->hidden + 1;

	CHECK(cudaMemsetAsync(m->list.n, 0, sizeof *m->list.n, m->stream));
	CHECK(sections_find_launch(b->data, from, (uint64_t)b->data.nbytes * 8, m->list, m->stream));
	CHECK(cudaMemcpyAsync(m->counts, m->list.n, sizeof *m->counts, cudaMemcpyDeviceToHost, m->stream));
	CHECK(cudaMemcpyAsync(m->found, m->list.bit, nfound_max(m) * sizeof *m->found, cudaMemcpyDeviceToHost,
			      m->stream));
	CHECK(cudaStreamSynchronize(m->stream));
	*n = *m->counts < nfound_max(m) ? *m->counts : nfound_max(m);
	qsort(m->found, *n, sizeof *m->found, compare_bits);
	return cudaSuccess;
}

/* ---- 2. symbols ---- */

/* Makes sections of the beginnings, not of all where there are many, and gives them room. */
static void cut_sections(struct member *m, const struct member_batch *b, uint32_t nfound)
{
	uint64_t end = (uint64_t)b->data.nbytes * 8, at = 0;
	uint64_t shortest = (end - b->begin) / (m->nsections - 1) + 1;
	uint32_t n = 1;

	if (nfound < m->nsections)
		shortest = 1;
	m->sections[0].begin = b->begin;
	for (uint32_t i = 0; i < nfound; i++)
		if (m->found[i] - m->sections[n - 1].begin >= shortest)
			m->sections[n++].begin = m->found[i];
	for (uint32_t i = 0; i < n; i++) {
		struct inflate_section *s = &m->sections[i];
		uint64_t next = i + 1 < n ? s[1].begin : end;
		s->symbols_at = at;
		s->room = (uint32_t)((next / 8 - s->begin / 8) * m->ratio) + ROOM_MIN;
		at += s->room;
	}
	m->job.nsections = n;
}

static cudaError_t decode(struct member *m, const struct member_batch *b)
{
	size_t nbytes = m->job.nsections * sizeof *m->sections;

	m->job.data = b->data;
	CHECK(cudaMemcpyAsync(m->job.sections, m->sections, nbytes, cudaMemcpyHostToDevice, m->stream));
	CHECK(cudaMemsetAsync(m->job.ticket, 0, sizeof *m->job.ticket, m->stream));
	CHECK(sections_decode_launch(m->job, m->stream));
	CHECK(cudaMemcpyAsync(m->sections, m->job.sections, nbytes, cudaMemcpyDeviceToHost, m->stream));
	return cudaStreamSynchronize(m->stream);
}

/* ---- 3. the chain ---- */

/* Adds a section's text to the batch, as far as its blocks are whole. Returns false if no block is, or the batch has no
 * room for it. */
static bool add_section(struct member *m, struct member_batch *b, const struct inflate_section *s)
{
	if (s->end == s->begin || s->nsymbols > b->text_room_nbytes - b->text_nbytes)
		return false;
	m->texts[m->text.n++] = {s->symbols_at, b->text_nbytes, s->nsymbols};
	b->text_nbytes += s->nsymbols;
	b->end = s->end;
	return true;
}

/* Follows the sections from the first one on, as far as their text has room. Returns the last one. */
static const struct inflate_section *follow(struct member *m, struct member_batch *b)
{
	const struct inflate_section *s = m->sections;

	m->text.n = 0;
	while (add_section(m, b, s) && s->how == SECTION_MEETS)
		s = &m->sections[s->next];
	return s;
}

/* What is to be done if the batch's first section is not in the chain. is_cut: the batch has more data. */
static enum member_end why_not(struct member *m, bool is_cut)
{
	const struct inflate_section *s = m->sections;

	if (s->how == SECTION_STARVES && !is_cut)
		return MEMBER_STARVES;
	if (s->how != SECTION_IS_FULL || m->ratio >= RATIO_MAX)
		return MEMBER_FAILED;
	/* The text is packed better, or what seemed to begin next does not, and is too near. */
	if (m->job.nsections > 1)
		m->hidden = s[1].begin - s[0].begin;
	m->ratio = m->ratio * 2 < RATIO_MAX ? m->ratio * 2 : RATIO_MAX;
	return MEMBER_GOES_ON;
}

/* Fits the room to what the sections needed. how: the last one ended. */
static void adapt(struct member *m, const struct member_batch *b, uint32_t how)
{
	if (how == SECTION_IS_FULL && m->ratio < RATIO_MAX / 2)
		m->ratio *= 2;
	else if (how != SECTION_IS_FULL && m->ratio > RATIO_FIRST &&
		 b->text_nbytes * 4 < (b->end - b->begin) / 8 * m->ratio)
		m->ratio /= 2;
}

/* ---- 4. text ---- */

static cudaError_t make_text(struct member *m, const struct member_batch *b)
{
	struct section_texts *t = &m->text;

	t->text = b->text;
	t->nbefore = m->text_nbytes;
	CHECK(cudaMemcpyAsync((void *)t->all, m->texts, t->n * sizeof *m->texts, cudaMemcpyHostToDevice, m->stream));
	CHECK(cudaMemsetAsync(t->ndamaged, 0, sizeof *t->ndamaged, m->stream));
	CHECK(sections_text_launch(*t, m->stream));
	CHECK(sections_crc_launch(*t, m->device_crcs, m->stream));
	CHECK(cudaMemcpyAsync(&m->counts[1], t->ndamaged, sizeof *t->ndamaged, cudaMemcpyDeviceToHost, m->stream));
	CHECK(cudaMemcpyAsync(m->crcs, m->device_crcs, t->n * sizeof *m->crcs, cudaMemcpyDeviceToHost, m->stream));
	return cudaStreamSynchronize(m->stream);
}

/* The text is right, but for damage that only its CRC shows: goes on behind it. */
static cudaError_t pass(struct member *m, const struct member_batch *b)
{
	const unsigned char *window = m->text.windows + (size_t)section_ngroups(m->text) * SECTION_WINDOW_NBYTES;

	for (uint32_t i = 0; i < m->text.n; i++)
		m->crc = (uint32_t)crc32_combine(m->crc, m->crcs[i], (z_off_t)m->texts[i].nsymbols);
	m->text_nbytes += b->text_nbytes;
	return cudaMemcpyAsync(m->text.windows, window, SECTION_WINDOW_NBYTES, cudaMemcpyDeviceToDevice, m->stream);
}

/* The batch gives no text. */
static cudaError_t give_up(struct member_batch *b, enum member_end how)
{
	b->text_nbytes = 0;
	b->end = b->begin;
	b->how = how;
	return cudaSuccess;
}

cudaError_t member_decode(struct member *m, struct member_batch *b)
{
	struct member_batch part = *b;
	const struct inflate_section *last;
	uint32_t nfound;

	b->text_nbytes = 0;
	part.data.nbytes = taken_nbytes(m, b);
	CHECK(find(m, &part, &nfound));
	if (nfound < (part.data.nbytes - b->begin / 8) / SPARSE_NBYTES)
		return give_up(b, MEMBER_FAILED);
	cut_sections(m, &part, nfound);
	CHECK(decode(m, &part));
	last = follow(m, b);
	if (m->text.n == 0)
		return give_up(b, why_not(m, part.data.nbytes < b->data.nbytes));
	m->hidden = 0;
	adapt(m, b, last->how);
	CHECK(make_text(m, b));
	if (m->counts[1] > 0)
		return give_up(b, MEMBER_FAILED);
	b->how = last->how == SECTION_IS_LAST && b->end == last->end ? MEMBER_ENDED : MEMBER_GOES_ON;
	return pass(m, b);
}

cudaError_t member_window(struct member *m, unsigned char window[SECTION_WINDOW_NBYTES])
{
	CHECK(cudaMemcpyAsync(window, m->text.windows, SECTION_WINDOW_NBYTES, cudaMemcpyDeviceToHost, m->stream));
	return cudaStreamSynchronize(m->stream);
}
