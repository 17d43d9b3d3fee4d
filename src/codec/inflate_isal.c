/* SPDX-License-Identifier: MIT
 *
 * inflate_isal.c - raw deflate by ISA-L.
 *
 * Debian has no static archive of it, and loading its shared library takes 0.25 of the 0.8 ms of
 * a start (2026-11-21). It is therefore loaded when the first gzip file is opened, by the name
 * that configure read in it. If it is missing then, the other libraries take its place.
 */
#include "codec/inflate.h"

#ifdef HAVE_ISAL
#include <isa-l.h>
#include <isa-l/igzip_lib.h>
#include <pthread.h>
#include <stdlib.h>
#ifdef ISAL_SONAME
#include <dlfcn.h>
#endif

/* The functions that are used. */
#define FUNCTIONS(X) X(isal_inflate_init) X(isal_inflate_reset) X(isal_inflate) \
		     X(isal_inflate_stateless)

static struct {
#define FUNCTION_MEMBER(name) __typeof__(&name) name;
	FUNCTIONS(FUNCTION_MEMBER)
#undef FUNCTION_MEMBER
	bool loaded;
} isal;

static void load(void)
{
#ifdef ISAL_SONAME
	void *library = dlopen(ISAL_SONAME, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return;
	isal.loaded = true;
#define FUNCTION_FIND(name)                                                      \
	isal.name = (__typeof__(isal.name))dlsym(library, #name);                \
	isal.loaded = isal.loaded && isal.name;
	FUNCTIONS(FUNCTION_FIND)
#undef FUNCTION_FIND
#else
#define FUNCTION_SET(name) isal.name = name;
	FUNCTIONS(FUNCTION_SET)
#undef FUNCTION_SET
	isal.loaded = true;
#endif
}

static void *isal_open(void)
{
	struct inflate_state *s = malloc(sizeof *s);

	if (s)
		isal.isal_inflate_init(s);
	return s;
}

static void isal_reset(void *state)
{
	struct inflate_state *s = state;

	isal.isal_inflate_reset(s);
	s->crc_flag = ISAL_DEFLATE;
}

static void set_buffers(struct inflate_state *s, const struct inflate_span *span)
{
	s->next_in = (uint8_t *)span->in;
	s->avail_in = span->in_nbytes < UINT32_MAX ? (uint32_t)span->in_nbytes : UINT32_MAX;
	s->next_out = span->out;
	s->avail_out = span->out_nbytes < UINT32_MAX ? (uint32_t)span->out_nbytes : UINT32_MAX;
}

static const char *words_of(int result)
{
	return result == ISAL_INVALID_BLOCK ? "invalid block" :
	       result == ISAL_INVALID_LOOKBACK ? "invalid distance too far back" : "invalid code";
}

static enum inflate_result isal_run(void *state, struct inflate_span *span)
{
	struct inflate_state *s = state;
	int result;

	set_buffers(s, span);
	result = isal.isal_inflate(s);
	span->in_nbytes -= (size_t)(s->next_in - span->in);
	span->in = s->next_in;
	span->out_nbytes -= (size_t)(s->next_out - span->out);
	span->out = s->next_out;
	if (result < 0) {
		span->words = words_of(result);
		return INFLATE_DAMAGED;
	}
	if (s->block_state != ISAL_BLOCK_FINISH)
		return INFLATE_GOES_ON;
	/* ISA-L has read up to 8 bytes too many into a register: the whole bytes left there. */
	span->in_excess_nbytes = s->read_in_length > 0 ? (size_t)s->read_in_length / 8 : 0;
	return INFLATE_ENDED;
}

static enum inflate_result isal_whole(void *state, const unsigned char *in, size_t in_nbytes,
				      unsigned char *out, size_t out_nbytes)
{
	struct inflate_state *s = state;
	struct inflate_span span = {in, in_nbytes, out, out_nbytes, 0, NULL};

	isal_reset(s);
	set_buffers(s, &span);
	return isal.isal_inflate_stateless(s) == ISAL_DECOMP_OK && s->avail_in == 0 &&
			       s->avail_out == 0
		       ? INFLATE_ENDED
		       : INFLATE_DAMAGED;
}

const struct inflate_ops *inflate_isal(void)
{
	static const struct inflate_ops ops = {
		.name = "isal",
		.open = isal_open,
		.close = free,
		.reset = isal_reset,
		.run = isal_run,
		.whole = isal_whole,
	};
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, load);
	return isal.loaded ? &ops : NULL;
}

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)

const char *inflate_isal_version(void)
{
	return TEXT(ISAL_MAJOR_VERSION) "." TEXT(ISAL_MINOR_VERSION) "." TEXT(ISAL_PATCH_VERSION);
}

#else

const struct inflate_ops *inflate_isal(void)
{
	return NULL;
}

const char *inflate_isal_version(void)
{
	return NULL;
}

#endif
