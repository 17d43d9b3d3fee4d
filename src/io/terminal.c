/* SPDX-License-Identifier: MIT
 *
 * terminal.c - see terminal.h.
 */
#include "io/terminal.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 80

static size_t find_width(void)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	unsigned long width = 0;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0)
		width = size.ws_col;
	if (width == 0 && columns)
		width = strtoul(columns, NULL, 10);
	if (width == 0)
		width = WIDTH_DEFAULT;
	if (width > TERMINAL_WIDTH_MAX)
		return TERMINAL_WIDTH_MAX;
	return width < TERMINAL_WIDTH_MIN ? TERMINAL_WIDTH_MIN : width;
}

/* A locale of its own: all else in the program goes by "C". */
static bool find_utf8(void)
{
	locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
	bool is;

	if (!locale)
		return false;
	is = strcasecmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
	freelocale(locale);
	return is;
}

struct terminal terminal_look(void)
{
	return (struct terminal){find_width(), find_utf8()};
}
