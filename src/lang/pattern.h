/* SPDX-License-Identifier: MIT
 *
 * pattern.h - regular expressions of conditions, by PCRE2: compiled once, matched by all threads.
 *
 * A pattern matches characters of UTF-8. Bytes that are no characters are matched by nothing. The steps of a
 * match are limited: no value can hold up the program, and none is judged wrongly for it.
 */
#pragma once

#include "base/status.h"

#define PATTERN_WORDS_NBYTES 100

struct pattern;       /* compiled */
struct pattern_match; /* one thread's memory for it */

/* PCRE2's version, or NULL: it is not built in. */
const char *pattern_library(void);

/* Compiles text[0 .. nbytes) to *out, to be freed with pattern_free.
 * Errors: STATUS_USAGE, with *offset, the byte of the text that is wrong, and the reason in words;
 * so does a program without PCRE2. STATUS_NO_MEMORY. */
enum status pattern_compile(const char *text, size_t nbytes, struct pattern **out, size_t *offset,
			    char words[PATTERN_WORDS_NBYTES]);
void pattern_free(struct pattern *pattern);

/* NULL: out of memory. */
struct pattern_match *pattern_match_make(const struct pattern *pattern);
void pattern_match_free(struct pattern_match *match);

/* Has matches that are made from now on keep where the groups match. Returns the number of groups. */
uint32_t pattern_keep_groups(struct pattern *pattern);

/* Whether the pattern matches somewhere in text[0 .. nbytes): 1, 0, or -1 where that takes too many steps or too much memory.
 * Where it does, text[*begin .. *end) is what a group matches, or nothing. Group 0 is the whole pattern; of others the match was
 * made after pattern_keep_groups. */
int pattern_find(const struct pattern *pattern, struct pattern_match *match, const char *text, size_t nbytes, uint32_t group,
		 size_t *begin, size_t *end);

/* What a pattern without operators asks for. */
enum pattern_plain { PATTERN_NOT_PLAIN, PATTERN_CONTAINS, PATTERN_STARTS, PATTERN_ENDS, PATTERN_IS };

/* Classifies the pattern text[0 .. nbytes). If it is plain, [*begin, *end) is the text that values
 * contain, start with, end with or are. */
enum pattern_plain pattern_plain(const char *text, size_t nbytes, size_t *begin, size_t *end);
