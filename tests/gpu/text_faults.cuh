/* SPDX-License-Identifier: MIT
 *
 * text_faults.cuh - NUL bytes and text behind closing quotes in the texts of tests: found byte by
 * byte with the automaton, removed, and compared with what the worker has found.
 */
#pragma once

#include "kernel_test.cuh"

#include "kernels/worker/worker.cuh"

struct text_faults {
	bool has_nul;
	size_t first_stray, last_stray; /* SIZE_MAX and 0: none */
};

static inline enum csv_class class_of(const struct csv_dialect *dialect, char byte)
{
	return csv_classify((unsigned char)byte, (unsigned char)dialect->delimiter,
			    (unsigned char)dialect->quote);
}

/* Whether text[at], entered in state, is text behind a closing quote. A CR at the text's end may be
 * part of a line end. */
static inline bool is_stray(const struct csv_dialect *dialect, const char *text, size_t nbytes,
			    size_t at, enum csv_state state)
{
	if (state != CSV_QUOTE_SEEN || class_of(dialect, text[at]) != CSV_OTHER)
		return false;
	return text[at] != '\r' || (at + 1 < nbytes && text[at + 1] != '\n');
}

/* The faults of a text; state: before text[begin], from where on stray text counts. */
static inline struct text_faults text_faults_find(const struct csv_dialect *dialect,
						  const char *text, size_t nbytes, size_t begin,
						  enum csv_state state)
{
	struct text_faults f = {nbytes > 0 && memchr(text, 0, nbytes) != NULL, SIZE_MAX, 0};

	for (size_t i = begin; i < nbytes; i++) {
		if (is_stray(dialect, text, nbytes, i, state)) {
			f.first_stray = f.first_stray == SIZE_MAX ? i : f.first_stray;
			f.last_stray = i;
		}
		state = csv_step(state, class_of(dialect, text[i]));
	}
	return f;
}

/* Removes them from a text that begins with a record: NULs become digits, and stray bytes
 * delimiters. */
__attribute__((unused)) static void text_faults_remove(const struct csv_dialect *dialect,
						       char *text, size_t nbytes)
{
	enum csv_state state = CSV_FIELD_START;

	for (size_t i = 0; i < nbytes; i++) {
		if (text[i] == 0)
			text[i] = '0';
		if (is_stray(dialect, text, nbytes, i, state))
			text[i] = dialect->delimiter;
		state = csv_step(state, class_of(dialect, text[i]));
	}
}

static unsigned nfolded_on_device, nfaulty; /* chunks in which a record ends, so far */

/* What the worker has found in the chunk that it folded, as text_faults_find's arguments say, and
 * whether it then left it to the CPU. Returns the first difference, or NULL. */
__attribute__((unused)) static const char *
text_faults_difference(const struct worker *w, const char *text, size_t nbytes, size_t begin,
		       enum csv_state state)
{
	struct text_faults f =
		text_faults_find(&w->plan->dialect, text, nbytes, begin, state);
	const struct chunk_summary *s = w->summary;

	if (w->nlines == 0)
		return NULL; /* nothing was launched */
	nfolded_on_device += w->on_device;
	nfaulty += s->has_nul || s->has_stray;
	if (s->has_nul != f.has_nul)
		return "has_nul";
	/* column_fold does not look at the byte in front of which it begins. */
	if (s->has_stray ? f.first_stray == SIZE_MAX : f.last_stray > begin)
		return "has_stray";
	if (w->on_device && (s->has_nul || s->has_stray))
		return "that the device has folded it";
	return NULL;
}
