/* SPDX-License-Identifier: MIT
 *
 * early.cu - a chunk is folded before its entry is known.
 *
 * In most chunks the entry no longer matters after a few records: in a chunk with quotes, from the
 * place on where their positions show which of them open a field (quotes.h); in one without quotes,
 * from its first LF on, unless it is entered in quotes. The CPU searches the chunk's beginning in
 * pinned memory for that place. The records up to it are the chunk's head, which the seam (total.h)
 * folds; the device folds the records behind it.
 */
#include "kernels/worker/worker.cuh"

extern "C" {
#include "csv/quotes.h"
#include "simd/simd.h"
}

#define HEAD_NWORDS 64 /* 4 KiB: the longest head */
static_assert(HEAD_NWORDS * SIMD_WORD_NBYTES <= WORKER_ENDS_NBYTES, "the head is in the buffer");

/* The first bit set in words [begin, end), counted from bit 0 of bits; SIZE_MAX: none. */
static size_t first_bit(const uint64_t *bits, size_t begin, size_t end)
{
	for (size_t i = begin; i < end; i++)
		if (bits[i] != 0)
			return i * SIMD_WORD_NBYTES + (size_t)__builtin_ctzll(bits[i]);
	return SIZE_MAX;
}

/* Finds the first record end behind which the entry does not matter. Returns false if it always matters. */
static bool find_head(const struct chunk *chunk, const struct csv_dialect *dialect,
		      struct early_fold *early)
{
	uint64_t separators[HEAD_NWORDS], newlines[HEAD_NWORDS], quotes[HEAD_NWORDS];
	const struct simd_bits bits = {separators, newlines, quotes};
	size_t nwords = chunk->nbytes / SIMD_WORD_NBYTES, resolved = 0, first;

	nwords = nwords < HEAD_NWORDS ? nwords : HEAD_NWORDS;
	struct simd_counts counts = simd()->classify(chunk->data, nwords, dialect->delimiter,
						     dialect->quote, bits);
	bool strays;

	early->dependence = counts.nquotes ? CHUNK_INDEPENDENT : CHUNK_GUESSES;
	if (counts.nquotes)
		(void)quotes_map(bits, nwords * SIMD_WORD_NBYTES, &resolved, &strays);
	first = first_bit(newlines, resolved, nwords);
	early->state = CSV_UNQUOTED;
	early->head_nbytes = first + 1;
	return first != SIZE_MAX;
}

bool early_fold_plan(struct worker *w, const struct chunk *chunk)
{
	if (chunk->plan)
		return false;
	if (!chunk->first_of_file)
		return find_head(chunk, &w->plan->dialect, &w->early);
	w->early.dependence = CHUNK_INDEPENDENT;
	w->early.state = CSV_FIELD_START;
	w->early.head_nbytes = 0;
	return true;
}

bool early_fold_matches(const struct worker *w, const struct chunk *chunk, struct chunk_entry entry)
{
	size_t head_nbytes = w->early.head_nbytes;

	if (entry.unknown || head_nbytes == 0)
		return entry.unknown || (entry.state == CSV_FIELD_START && !entry.inside_record);
	/* The early fold holds if the head is the rest of one record. */
	for (size_t i = 0; i < head_nbytes; i++) {
		enum csv_class c = csv_dialect_classify(&w->plan->dialect, chunk->data[i]);
		if (c == CSV_NEWLINE && csv_outside_quotes(entry.state))
			return entry.inside_record && i + 1 == head_nbytes;
		entry.state = csv_step(entry.state, c);
	}
	return false;
}
