/* SPDX-License-Identifier: MIT
 *
 * codec.c - see codec.h.
 */
#include "codec/codec.h"

#include <stdio.h>
#include <string.h>

const struct codec *const codecs[] = {&codec_gzip, &codec_zstd, &codec_bzip2, &codec_xz, NULL};

/* Codecs that are not built in are left to foreign.c, which says what to do; except zstd. */
static bool is_known(const struct codec *codec)
{
	return codec->version || codec == &codec_zstd;
}

enum codec_match codec_find(const unsigned char *data, size_t nbytes, const struct codec **codec)
{
	enum codec_match found = CODEC_OTHER;

	*codec = NULL;
	for (const struct codec *const *c = codecs; *c && found != CODEC_BEGINS; c++) {
		enum codec_match match = is_known(*c) ? (*c)->begins(data, nbytes) : CODEC_OTHER;
		if (match > found) {
			found = match;
			*codec = *c;
		}
	}
	return found;
}

enum codec_match codec_match_magic(const unsigned char *data, size_t nbytes, const char *magic,
				   size_t magic_nbytes)
{
	if (memcmp(data, magic, nbytes < magic_nbytes ? nbytes : magic_nbytes))
		return CODEC_OTHER;
	return nbytes < magic_nbytes ? CODEC_PERHAPS : CODEC_BEGINS;
}

enum status codec_fault(struct fault *fault, enum status status, const struct codec *codec,
			const char *words)
{
	char detail[FAULT_DETAIL_NBYTES];

	snprintf(detail, sizeof detail, "%s data%s%s", codec->name, words ? ": " : "",
		 words ? words : "");
	return fault_set(fault, status, 0, detail);
}

enum status codec_starve(const struct codec *codec, const struct feed *feed, bool inside, enum decode_step *step,
			 struct fault *fault)
{
	*step = feed->at_end ? DECODE_ENDED : DECODE_STARVES;
	return feed->at_end && inside ? codec_fault(fault, STATUS_TRUNCATED, codec, NULL) : STATUS_OK;
}
