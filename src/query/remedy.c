/* SPDX-License-Identifier: MIT
 *
 * remedy.c - see remedy.h.
 */
#include "query/remedy.h"

#include <string.h>
#include <strings.h>

#include "csv/record.h"

/* What programs write where there is no value, in any case. */
static const char *const no_values[] = {
	"na",    "n/a",   "n.a.",  "n.a",   "nan",    "-nan", "+nan",    "nat",     "null", "none", "nil",
	"-",     "--",    "---",   "?",     ".",      "..",   "...",     "\\n",     "<na>", "<null>",
	"(null)", "#na",  "#n/a",  "#ref!", "#num!",  "#null!", "#name?", "#value!", "#div/0!",
};

bool remedy_is_no_value(const char *text, size_t nbytes)
{
	for (size_t i = 0; i < sizeof no_values / sizeof *no_values; i++)
		if (strlen(no_values[i]) == nbytes && !strncasecmp(no_values[i], text, nbytes))
			return true;
	return false;
}

static const struct {
	char delimiter;
	const char *option;
} delimiters[] = {{';', "-d ';'"}, {'\t', "-d '\\t'"}, {'|', "-d '|'"}};
#define NDELIMITERS (sizeof delimiters / sizeof *delimiters)

char remedy_delimiter(const char *text, size_t nbytes)
{
	size_t most = 0;
	char found = '\0';

	for (size_t d = 0; d < NDELIMITERS; d++) {
		size_t n = 0;
		for (size_t i = 0; i < nbytes; i++)
			n += text[i] == delimiters[d].delimiter;
		if (n > most)
			found = delimiters[d].delimiter;
		most = n > most ? n : most;
	}
	return found;
}

const char *remedy_delimiter_option(char delimiter)
{
	for (size_t d = 0; d < NDELIMITERS; d++)
		if (delimiters[d].delimiter == delimiter)
			return delimiters[d].option;
	return "-d";
}

/* Whether a record begins at text[begin]; a byte-order mark may stand before it. */
static bool begins_line(const char *text, size_t begin)
{
	if (begin >= BYTE_ORDER_MARK_NBYTES && !memcmp(text + begin - BYTE_ORDER_MARK_NBYTES, BYTE_ORDER_MARK, BYTE_ORDER_MARK_NBYTES))
		begin -= BYTE_ORDER_MARK_NBYTES;
	return begin == 0 || text[begin - 1] == '\n';
}

/* Whether a record ends at text[end]. */
static bool ends_line(const char *text, size_t nbytes, size_t end)
{
	end += end < nbytes && text[end] == '\r';
	return end >= nbytes || text[end] == '\n';
}

/* Whether the record at text[begin] is the header. */
static bool is_header(const struct plan *plan, const char *text, size_t nbytes, size_t begin)
{
	return begins_line(text, begin) && nbytes - begin >= plan->header_nbytes &&
	       !memcmp(text + begin, plan->header, plan->header_nbytes) &&
	       ends_line(text, nbytes, begin + plan->header_nbytes);
}

size_t remedy_repeated_header(const struct plan *plan, const char *text, size_t nbytes, size_t offset)
{
	struct record header;
	size_t begin = SIZE_MAX;

	if (plan->header && nbytes - offset > BYTE_ORDER_MARK_NBYTES && !memcmp(text + offset, BYTE_ORDER_MARK, BYTE_ORDER_MARK_NBYTES))
		offset += BYTE_ORDER_MARK_NBYTES;
	if (!plan->header ||
	    record_split(plan->header, plan->header_nbytes, &plan->dialect, true, &header))
		return SIZE_MAX;
	for (size_t i = 0; i < header.nfields && begin == SIZE_MAX && header.fields[i].begin <= offset; i++)
		if (is_header(plan, text, nbytes, offset - header.fields[i].begin))
			begin = offset - header.fields[i].begin;
	record_free(&header);
	return begin;
}
