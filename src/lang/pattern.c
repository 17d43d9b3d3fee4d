/* SPDX-License-Identifier: MIT
 *
 * pattern.c - see pattern.h.
 *
 * UTF-8 costs time, so it is left out where it makes no difference: a pattern of ASCII characters
 * without classes and dots matches the same bytes without it.
 */
#include "lang/pattern.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef HAVE_PCRE2
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
#endif

enum pattern_plain pattern_plain(const char *text, size_t nbytes, size_t *begin, size_t *end)
{
	bool starts = nbytes > 0 && text[0] == '^';
	bool ends = nbytes > starts && text[nbytes - 1] == '$';

	*begin = starts;
	*end = nbytes - ends;
	if (*begin == *end)
		return PATTERN_NOT_PLAIN;
	for (size_t i = *begin; i < *end; i++)
		if (memchr("\\^$.|?*+()[]{}", text[i], 14))
			return PATTERN_NOT_PLAIN;
	if (starts)
		return ends ? PATTERN_IS : PATTERN_STARTS;
	return ends ? PATTERN_ENDS : PATTERN_CONTAINS;
}

#ifdef HAVE_PCRE2

/* Steps: a value of 100 KB on which an ordinary pattern backtracks once a byte takes a tenth. */
#define STEPS_MAX 2000000
#define HEAP_KIB_MAX 20000

struct pattern {
	pcre2_code *code;
	pcre2_match_context *limits;
	uint32_t npairs; /* of places that a match keeps */
};

const char *pattern_library(void)
{
	static char version[64];

	if (pcre2_config(PCRE2_CONFIG_VERSION, NULL) > (int)sizeof version)
		return "";
	pcre2_config(PCRE2_CONFIG_VERSION, version);
	return version;
}

static pcre2_match_data *data_of(struct pattern_match *match)
{
	return (pcre2_match_data *)match; /* what a struct pattern_match is */
}

/* Whether bytes and characters are the same to the pattern. */
static bool is_of_bytes(const char *text, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		if ((unsigned char)text[i] >= 0x80 || memchr(".[\\", text[i], 3) ||
		    (text[i] == '(' && i + 1 < nbytes && text[i + 1] == '?'))
			return false;
	return true;
}

enum status pattern_compile(const char *text, size_t nbytes, struct pattern **out, size_t *offset,
			    char words[PATTERN_WORDS_NBYTES])
{
	uint32_t options = PCRE2_DOTALL | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C;
	struct pattern *p = calloc(1, sizeof *p);
	int error;

	*out = p;
	NEED(p);
	if (!is_of_bytes(text, nbytes))
		options |= PCRE2_UTF | PCRE2_MATCH_INVALID_UTF;
	p->code = pcre2_compile((PCRE2_SPTR)text, nbytes, options, &error, offset, NULL);
	if (!p->code) {
		pcre2_get_error_message(error, (PCRE2_UCHAR *)words, PATTERN_WORDS_NBYTES);
		return error == PCRE2_ERROR_HEAP_FAILED ? STATUS_NO_MEMORY : STATUS_USAGE;
	}
	p->npairs = 1;
	p->limits = pcre2_match_context_create(NULL);
	NEED(p->limits);
	pcre2_set_match_limit(p->limits, STEPS_MAX);
	pcre2_set_heap_limit(p->limits, HEAP_KIB_MAX);
	pcre2_jit_compile(p->code, PCRE2_JIT_COMPLETE); /* where it fails, the interpreter works */
	return STATUS_OK;
}

void pattern_free(struct pattern *p)
{
	if (!p)
		return;
	pcre2_code_free(p->code);
	pcre2_match_context_free(p->limits);
	free(p);
}

struct pattern_match *pattern_match_make(const struct pattern *p)
{
	return (struct pattern_match *)pcre2_match_data_create(p->npairs, NULL);
}

void pattern_match_free(struct pattern_match *match)
{
	pcre2_match_data_free(data_of(match));
}

uint32_t pattern_keep_groups(struct pattern *p)
{
	uint32_t ngroups = 0;

	pcre2_pattern_info(p->code, PCRE2_INFO_CAPTURECOUNT, &ngroups);
	p->npairs = ngroups + 1;
	return ngroups;
}

int pattern_find(const struct pattern *p, struct pattern_match *match, const char *text, size_t nbytes, uint32_t group,
		 size_t *begin, size_t *end)
{
	pcre2_match_data *data = data_of(match);
	const size_t *places = pcre2_get_ovector_pointer(data);
	int found = pcre2_match(p->code, (PCRE2_SPTR)text, nbytes, 0, 0, data, p->limits);

	if (found == PCRE2_ERROR_JIT_STACKLIMIT)
		found = pcre2_match(p->code, (PCRE2_SPTR)text, nbytes, 0, PCRE2_NO_JIT, data,
				    p->limits);
	if (found < 0)
		return found == PCRE2_ERROR_NOMATCH ? 0 : -1;
	*begin = *end = 0;
	if (places[2 * group] != PCRE2_UNSET && places[2 * group] < places[2 * group + 1]) {
		*begin = places[2 * group];
		*end = places[2 * group + 1];
	}
	return 1;
}

#else

const char *pattern_library(void)
{
	return NULL;
}

enum status pattern_compile(const char *text, size_t nbytes, struct pattern **out, size_t *offset,
			    char words[PATTERN_WORDS_NBYTES])
{
	(void)text;
	(void)nbytes;
	*out = NULL;
	*offset = 0;
	snprintf(words, PATTERN_WORDS_NBYTES, "built without PCRE2: no regular expressions");
	return STATUS_USAGE;
}

void pattern_free(struct pattern *p)
{
	(void)p;
}

struct pattern_match *pattern_match_make(const struct pattern *p)
{
	(void)p;
	return NULL;
}

void pattern_match_free(struct pattern_match *match)
{
	(void)match;
}

uint32_t pattern_keep_groups(struct pattern *p)
{
	(void)p;
	return 0;
}

int pattern_find(const struct pattern *p, struct pattern_match *match, const char *text, size_t nbytes, uint32_t group,
		 size_t *begin, size_t *end)
{
	(void)p, (void)match, (void)text, (void)nbytes, (void)group, (void)begin, (void)end;
	return -1;
}

#endif
