/* SPDX-License-Identifier: MIT
 *
 * sheet.c - see sheet.h.
 */
#include "bench/report/sheet.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void sheet_init(struct sheet *s, enum format format, size_t nrecords)
{
	*s = (struct sheet){.format = format, .capacity = nrecords * SHEET_NCOLUMNS_MAX};
	s->lacks_memory = table_init(&s->table, SHEET_NCOLUMNS_MAX, nrecords) != STATUS_OK;
}

void sheet_record(struct sheet *s)
{
	s->nrecords++;
}

static void set_cell(struct sheet *s, struct cell *cell, const char *text, bool is_number)
{
	*cell = (struct cell){.text = strdup(text), .is_number = is_number};
	s->lacks_memory |= !cell->text;
}

void sheet_cell(struct sheet *s, const char *name, const char *heading, bool is_number,
		const char *format, ...)
{
	const char *title = s->format == FORMAT_TABLE ? heading : name;
	char text[512];
	va_list arguments;

	if (!title || s->lacks_memory || s->ncells == s->capacity)
		return;
	va_start(arguments, format);
	vsnprintf(text, sizeof text, format, arguments);
	va_end(arguments);
	if (!*text && s->format == FORMAT_TABLE)
		strcpy(text, "-");
	if (s->nrecords == 1)
		set_cell(s, &s->table.names[s->ncells], title, is_number);
	set_cell(s, &s->table.cells[s->ncells++], text, is_number);
}

void sheet_text(struct sheet *s, const char *name, const char *heading, const char *text)
{
	sheet_cell(s, name, heading, false, "%s", text);
}

void sheet_number(struct sheet *s, const char *name, const char *heading, double number,
		  int ndigits)
{
	if (number > 0)
		sheet_cell(s, name, heading, true, "%.*f", ndigits, number);
	else
		sheet_cell(s, name, heading, true, "%s", "");
}

void sheet_gbps(struct sheet *s, const char *name, const char *heading, double gbps)
{
	sheet_number(s, name, heading, gbps, gbps < 10 ? 3 : 1);
}

enum status sheet_print(struct sheet *s, struct fault *fault)
{
	enum status status = STATUS_NO_MEMORY;

	if (s->lacks_memory) {
		fault_set(fault, status, 0, NULL);
	} else {
		s->table.nrows = s->nrecords;
		s->table.ncolumns = s->nrecords ? s->ncells / s->nrecords : 0;
		status = table_print(&s->table, (struct style){.format = s->format}, fault);
	}
	s->table.ncolumns = SHEET_NCOLUMNS_MAX; /* as many as table_free is to free */
	table_free(&s->table);
	return status;
}
