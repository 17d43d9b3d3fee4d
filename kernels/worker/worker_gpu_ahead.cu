/* SPDX-License-Identifier: MIT
 *
 * worker_gpu_ahead.cu - how a chunk can be folded before it is known how it is entered.
 *
 * Mostly it ceases to matter within a few records: in a chunk with quotes, where their places
 * tell which of them open a field (quotes.h); in one without, at its first LF, unless it is
 * entered in quotes. The CPU looks for that place at the chunk's begin, where the text is
 * still in pinned memory; the record that ends there, and those before it, are the chunk's head,
 * for the seam (total.h) to fold, and the device takes those behind it.
 */
#include "kernels/worker/worker_gpu.cuh"

extern "C" {
#include "csv/quotes.h"
#include "simd/simd.h"
}

#define AHEAD_NWORDS 64 /* 4 KiB: a longer head would not be taken for one */
static_assert(AHEAD_NWORDS * SIMD_WORD_NBYTES <= WORKER_ENDS_NBYTES, "the head is in the buffer");

/* The first bit that is set in bits[begin .. end), from bit 0 on; SIZE_MAX: none is. */
static size_t first_bit(const uint64_t *bits, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		if (bits[i] != 0)
			return i * SIMD_WORD_NBYTES + (size_t)__builtin_ctzll(bits[i]);
	return SIZE_MAX;
}

/* Finds the first record end behind which the entry does not matter. */
static bool find_head(const struct chunk *chunk, char delimiter, struct worker_ahead *ahead)
{
	uint64_t separators[AHEAD_NWORDS], newlines[AHEAD_NWORDS], quotes[AHEAD_NWORDS];
	const struct simd_bits bits = {separators, newlines, quotes};
	size_t nwords = chunk->nbytes / SIMD_WORD_NBYTES, resolved = 0, first;

	nwords = nwords < AHEAD_NWORDS ? nwords : AHEAD_NWORDS;
	struct simd_counts counts = simd()->classify(chunk->data, nwords, delimiter, bits);
	ahead->dependence = counts.nquotes ? CHUNK_INDEPENDENT : CHUNK_GUESSES;
	if (counts.nquotes)
		(void)quotes_map(bits, nwords * SIMD_WORD_NBYTES, &resolved);
	first = first_bit(newlines, resolved, nwords);
	ahead->state = CSV_UNQUOTED;
	ahead->head_nbytes = first + 1;
	return first != SIZE_MAX;
}

bool ahead_plan(struct worker *w, const struct chunk *chunk)
{
	if (!chunk->first_of_file)
		return find_head(chunk, w->plan->dialect.delimiter, &w->ahead);
	w->ahead.dependence = CHUNK_INDEPENDENT;
	w->ahead.state = CSV_FIELD_START;
	w->ahead.head_nbytes = 0;
	return true;
}

bool ahead_serves(const struct worker *w, const struct chunk *chunk, struct chunk_entry entry)
{
	size_t head_nbytes = w->ahead.head_nbytes;
	unsigned char delimiter = (unsigned char)w->plan->dialect.delimiter;

	if (entry.unknown || head_nbytes == 0)
		return entry.unknown || (entry.state == CSV_FIELD_START && !entry.inside_record);
	/* Is the head the rest of one record, as the device takes it? */
	for (size_t i = 0; i < head_nbytes; i++) {
		enum csv_class c = csv_classify((unsigned char)chunk->data[i], delimiter);
		if (c == CSV_NEWLINE && csv_outside_quotes(entry.state))
			return entry.inside_record && i + 1 == head_nbytes;
		entry.state = csv_step(entry.state, c);
	}
	return false;
}
