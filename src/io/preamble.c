/* SPDX-License-Identifier: MIT
 *
 * preamble.c - see preamble.h.
 */
#include "io/preamble.h"

#include <string.h>

#include "io/source.h"

/* How far the first line's end is looked for. A longer line that has a CR in it is taken to have
 * line ends of that kind. */
#define PATIENCE_NBYTES ((size_t)1 << 20)

/* ---- line ends ---- */

/* The state of looking for the first LF outside of quotes. */
struct line_search {
	size_t at;       /* bytes looked at */
	bool quoted;     /* at `at` */
	bool may_quote;  /* a quote there opens a field, or goes on with one that it closed */
	bool after_cr;   /* outside of quotes */
	bool is_comment;
	bool cr_ends;    /* a CR outside of quotes had another byte than LF behind it */
};

/* Looks on in data[0 .. nbytes). Returns whether an LF ends the first line. */
static bool finds_lf(struct line_search *l, const char *data, size_t nbytes,
		     const struct csv_dialect *d)
{
	for (; l->at < nbytes; l->at++) {
		char c = data[l->at];
		if (c == '\n' && !l->quoted)
			return true;
		l->cr_ends |= l->after_cr;
		if (l->at == 0 || l->after_cr)
			l->is_comment = d->comment && c == d->comment;
		l->after_cr = c == '\r' && !l->quoted;
		if (d->escape && c == d->escape && !l->is_comment) {
			l->at++;
			l->may_quote = l->quoted;
		} else if (d->quote && c == d->quote && l->may_quote && !l->is_comment) {
			l->quoted = !l->quoted;
		} else {
			l->may_quote = l->quoted || l->after_cr || c == d->delimiter ||
				       (l->may_quote && csv_dialect_classify(d, c) == CSV_BLANK);
		}
	}
	return false;
}

/* Reads until the first line's end is known. */
static enum status check_line_ends(struct source *s, const struct csv_dialect *dialect,
				   struct fault *fault)
{
	struct csv_dialect d = *dialect;
	struct line_search search = {.may_quote = true};
	size_t nbytes = 0;

	if (d.whitespace)
		d.quote = '\0';
	do {
		enum status status = source_peek(s, nbytes + 1, fault);
		const char *data = source_peeked(s, 0, &nbytes);
		if (status != STATUS_OK)
			return status;
		/* How much has been read by now is up to the kind of input. */
		if (finds_lf(&search, data, nbytes < PATIENCE_NBYTES ? nbytes : PATIENCE_NBYTES, &d))
			return STATUS_OK;
	} while (!s->at_end && nbytes < PATIENCE_NBYTES);
	return search.cr_ends ? source_fail(s, fault, STATUS_CR_LINES, 0) : STATUS_OK;
}

/* ---- sep= ---- */

/* Whether sep=C with this byte is more likely a delimiter than a name. */
static bool can_delimit(char c, const struct csv_dialect *d)
{
	return !strchr("\r\n\"0123456789", c) && !((c | 0x20) >= 'a' && (c | 0x20) <= 'z') &&
	       c != d->quote && c != d->escape && c != d->comment;
}

/* Sets the delimiter by the line sep=C at offset 0, or compares it with the first file's. */
static enum status set_delimiter(struct preamble *p, const struct source *s, const char *line,
				 struct fault *fault)
{
	char c = line[strlen("sep=")];

	if (p->is_settled && c != p->dialect->delimiter) {
		fault_set_value(fault, STATUS_DELIMITER_DIFFERS, line, strlen("sep=") + 1);
		fault->file = source_name(s);
		fault->line = s->line;
		return STATUS_DELIMITER_DIFFERS;
	}
	p->dialect->delimiter = c;
	p->is_settled = true;
	return STATUS_OK;
}

/* Takes a first line sep=C out of the file. */
static enum status skip_delimiter(struct preamble *p, struct source *s, struct fault *fault)
{
	enum status status = STATUS_OK;
	const size_t nbytes = strlen("sep=") + 1;
	size_t have, end;
	const char *data;

	if (!p->seeks_delimiter || !source_begins_with(s, 0, "sep=", &status, fault))
		return status;
	status = source_peek(s, nbytes, fault);
	data = source_peeked(s, 0, &have);
	if (status != STATUS_OK || have < nbytes || !can_delimit(data[nbytes - 1], p->dialect))
		return status;
	end = source_line_end(s, nbytes, &status, fault);
	data = source_peeked(s, 0, &have);
	if (status != STATUS_OK || (end == 0 && have > nbytes))
		return status;
	status = set_delimiter(p, s, data, fault);
	if (status == STATUS_OK)
		source_skip(s, nbytes + end);
	return status;
}

enum status preamble_skip(struct preamble *p, struct source *s, struct fault *fault)
{
	enum status status = source_skip_lines(s, p->nlines, fault);
	size_t nbytes;

	if (status == STATUS_OK)
		status = skip_delimiter(p, s, fault);
	if (status == STATUS_OK)
		status = check_line_ends(s, p->dialect, fault);
	source_peeked(s, 0, &nbytes);
	p->is_settled |= nbytes > 0;
	return status;
}
