/* SPDX-License-Identifier: MIT
 *
 * input.c - the input before its first chunk is read: opening files, peeking at them, skipping what
 * is no record. See input.h.
 */
#include <stdlib.h>
#include <string.h>

#include "io/input_state.h"

int input_nfiles(const struct input *in)
{
	return in->nsources;
}

const char *input_name(const struct input *in, int file)
{
	return source_name(&in->sources[file]);
}

bool input_is_padded(const struct input *in, int file)
{
	return in->sources[file].padded;
}

/* ---- opening ---- */

static enum status skip_header(struct input *in, struct source *s, struct fault *fault)
{
	size_t nbytes = 0;
	enum status status = STATUS_OK;

	if (in->headers.find)
		status = in->headers.find(in->headers.context, in, (int)(s - in->sources), &nbytes,
					  fault);
	if (status == STATUS_OK)
		source_skip(s, nbytes);
	return status;
}

enum status input_open_source(struct input *in, struct source *s, struct fault *fault)
{
	if (s->state != SOURCE_UNOPENED)
		return STATUS_OK;
	TRY(source_open(s, fault));
	if (in->has_preamble)
		TRY(preamble_skip(&in->preamble, s, fault));
	return skip_header(in, s, fault);
}

enum status input_open(struct input **out, const char *const *paths, int npaths, int nthreads,
		       struct fault *fault)
{
	struct input *in = calloc(1, sizeof *in);
	enum status status;

	if (in)
		in->sources = calloc((size_t)npaths, sizeof *in->sources);
	if (!in || !in->sources) {
		free(in);
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	}
	in->nsources = in->nread = npaths;
	for (int i = 0; i < npaths; i++) {
		in->sources[i].path = paths[i];
		in->sources[i].nthreads = nthreads;
		source_look(&in->sources[i]);
	}
	pthread_mutex_init(&in->lock, NULL);
	block_pool_init(&in->pool);
	status = input_open_source(in, &in->sources[0], fault);
	if (status == STATUS_OK)
		*out = in;
	else
		input_close(in);
	return status;
}

void input_close(struct input *in)
{
	if (!in)
		return;
	for (int i = 0; i < in->nsources; i++)
		source_close(&in->sources[i]);
	pthread_mutex_destroy(&in->lock);
	block_pool_free(&in->pool);
	sections_close(in->sections);
	if (in->device)
		in->device_ops->close(in->device);
	free(in->sources);
	free(in);
}

/* ---- before the first chunk ---- */

enum status input_skip_preamble(struct input *in, const struct preamble *preamble,
				struct fault *fault)
{
	in->preamble = *preamble;
	in->has_preamble = true;
	return preamble_skip(&in->preamble, &in->sources[0], fault);
}

uint64_t input_line(const struct input *in, int file)
{
	return in->sources[file].line;
}

enum status input_peek(struct input *in, int file, const char **data, size_t *nbytes,
		       bool *at_end, struct fault *fault)
{
	struct source *s = &in->sources[file];
	enum status status = input_open_source(in, s, fault);

	if (file > in->file)
		source_settle(s - 1);
	if (status == STATUS_OK)
		status = source_peek(s, *nbytes + 1, fault);
	*data = source_peeked(s, 0, nbytes);
	*at_end = s->at_end;
	return status;
}

const char *input_peeked(const struct input *in, size_t *nbytes)
{
	return source_peeked(&in->sources[in->file], 0, nbytes);
}

enum status input_peek_further(struct input *in, size_t nbytes, struct fault *fault)
{
	return source_peek(&in->sources[in->file], nbytes, fault);
}

void input_begin_with(struct input *in, int file)
{
	for (; in->file < file; in->file++) {
		struct source *s = &in->sources[in->file];
		in->offset_bytes += s->nskipped + (s->end - s->begin);
		source_close(s);
	}
}

void input_begin_at(struct input *in, uint64_t nbytes)
{
	in->offset_bytes += nbytes;
}

void input_skip(struct input *in, size_t nbytes)
{
	source_skip(&in->sources[in->file], nbytes);
}

void input_expect_headers(struct input *in, const struct input_headers *headers)
{
	in->headers = *headers;
}

enum status input_share_decoding(struct input *in, struct fault *fault)
{
	in->sections = sections_open();
	if (!in->sections)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	for (int i = 0; i < in->nsources; i++)
		source_share(&in->sources[i], true);
	return STATUS_OK;
}

void input_decode_alone(struct input *in)
{
	for (int i = 0; i < in->nsources; i++)
		source_share(&in->sources[i], false);
}

bool input_has_long_member(const struct input *in)
{
	return in->file < in->nsources && source_has_long_member(&in->sources[in->file]);
}

uint64_t input_device_nbytes(const struct input *in)
{
	return in->device_nbytes;
}

void input_use_device(struct input *in, const struct device_inflate_ops *ops, int number)
{
	in->device_ops = ops;
	in->device_number = number;
	in->device_gave_up = -1;
}

void input_keep_order(struct input *in)
{
	in->in_order = true;
}

bool input_has_sections(const struct input *in)
{
	return source_has_sections(&in->sources[in->file]);
}

bool input_leaves_blocks(const struct input *in)
{
	return in->file < in->nsources && source_leaves_blocks(&in->sources[in->file]);
}

void input_set_prompt(struct input *in)
{
	in->prompt = true;
	for (int i = 0; i < in->nsources; i++)
		source_set_prompt(&in->sources[i]);
}

void input_count_slice_from(struct input *in, uint64_t nlines_before)
{
	in->slice.nlines_before = nlines_before;
}

uint64_t input_nskipped(const struct input *in, int file)
{
	return in->sources[file].nskipped;
}

void input_use_slice(struct input *in, const struct input_slice *slice)
{
	input_begin_with(in, slice->first);
	if (slice->first > 0 || slice->begin > 0)
		in->offset_bytes = 0;
	in->has_slice = true;
	in->slice = *slice;
	in->nread = slice->last + 1;
}

uint64_t input_slice_end(const struct input *in)
{
	const struct source *s = &in->sources[in->slice.last];
	uint64_t end = in->slice.end;

	if (s->cut.is_made)
		return s->cut.end;
	return end > s->nskipped ? end : s->nskipped;
}

/* How much of a file's nbytes the slice leaves out. */
static uint64_t nbytes_outside(const struct input *in, int file, uint64_t nbytes)
{
	const struct input_slice *s = &in->slice;
	uint64_t out = 0;

	if (in->has_slice && file == s->first)
		out += s->begin;
	if (in->has_slice && file == s->last && s->end < nbytes)
		out += nbytes - s->end;
	return out < nbytes ? out : nbytes;
}

uint64_t input_nbytes_left(const struct input *in)
{
	uint64_t total = 0;

	for (int i = in->file; i < in->nread; i++) {
		uint64_t nbytes = source_nbytes(&in->sources[i]);
		if (nbytes == UINT64_MAX)
			return UINT64_MAX;
		total += nbytes - nbytes_outside(in, i, nbytes);
	}
	return total;
}

const char *input_codec(const struct input *in, int file)
{
	const struct codec *codec = in->sources[file].codec;

	return codec ? codec->name : NULL;
}

uint64_t input_file_nbytes_stored(const struct input *in, int file)
{
	return source_nbytes_stored(&in->sources[file]);
}

uint64_t input_nbytes_stored(const struct input *in)
{
	uint64_t total = 0;

	for (int i = 0; i < in->nsources; i++) {
		uint64_t nbytes = input_file_nbytes_stored(in, i);
		if (nbytes == UINT64_MAX)
			return UINT64_MAX;
		total += nbytes;
	}
	return total;
}

bool input_is_repeatable(const struct input *in)
{
	for (int i = 0; i < in->nsources; i++)
		if (!in->sources[i].is_plain)
			return false;
	return true;
}

void input_watch_sections(struct input *in, section_watcher *watcher)
{
	if (in->sections)
		sections_watch(in->sections, watcher);
}

struct section_totals input_sections(struct input *in)
{
	struct section_totals totals = {0};

	if (in->sections)
		sections_sum_up(in->sections, &totals);
	return totals;
}

bool input_has_thread(const struct input *in)
{
	const struct source *s = &in->sources[in->file];

	return s->packed && read_ahead_has_thread(s->packed);
}
