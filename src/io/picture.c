/* SPDX-License-Identifier: MIT
 *
 * picture.c - see picture.h.
 */
#include "io/picture.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/output.h"
#include "io/table_plot.h"
#include "io/table_svg.h"
#include "io/terminal.h"

#define SVG_BEGIN "<svg "

/* ---- the file ---- */

static bool is_stdout(const char *path)
{
	return !strcmp(path, PICTURE_STDOUT);
}

static enum status file_fault(struct fault *fault, enum status status, const char *path)
{
	fault_set(fault, status, status == STATUS_NOT_SVG ? 0 : errno, NULL);
	fault->file = path;
	return status;
}

/* Whether a new file can be made at the path. */
static enum status check_folder(const char *path, struct fault *fault)
{
	char *folder = strdup(path), *slash = folder ? strrchr(folder, '/') : NULL;
	bool ok;

	if (!folder)
		return fault_set(fault, STATUS_NO_MEMORY, 0, NULL);
	if (slash)
		slash[slash == folder] = '\0'; /* of /name, the root */
	ok = access(slash ? folder : ".", W_OK | X_OK) == 0;
	free(folder);
	return ok ? STATUS_OK : file_fault(fault, STATUS_OPEN, path);
}

static enum status check_regular(const char *path, struct fault *fault)
{
	char begin[sizeof SVG_BEGIN - 1];
	int fd = open(path, O_RDWR | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, begin, sizeof begin) : -1;
	enum status status = STATUS_OK;

	if (n < 0)
		status = file_fault(fault, STATUS_OPEN, path);
	else if (n > 0 && (n < (ssize_t)sizeof begin || memcmp(begin, SVG_BEGIN, sizeof begin) != 0))
		status = file_fault(fault, STATUS_NOT_SVG, path);
	if (fd >= 0)
		close(fd);
	return status;
}

enum status picture_check(const struct picture *p, struct fault *fault)
{
	struct stat stat_of;

	if (!p->svg || is_stdout(p->svg))
		return STATUS_OK;
	if (stat(p->svg, &stat_of) != 0)
		return errno == ENOENT ? check_folder(p->svg, fault) : file_fault(fault, STATUS_OPEN, p->svg);
	errno = EISDIR;
	if (S_ISDIR(stat_of.st_mode))
		return file_fault(fault, STATUS_OPEN, p->svg);
	return S_ISREG(stat_of.st_mode) ? check_regular(p->svg, fault) : STATUS_OK;
}

/* Begins the SVG; NULL: the file cannot be opened. */
static FILE *begin_svg(const struct picture *p, struct fault *fault)
{
	FILE *out = is_stdout(p->svg) ? output_stream() : fopen(p->svg, "we");

	if (!out)
		file_fault(fault, STATUS_OPEN, p->svg);
	return out;
}

/* Ends the SVG that was drawn with a status. */
static enum status end_svg(const struct picture *p, FILE *out, enum status status, struct fault *fault)
{
	bool failed;

	if (is_stdout(p->svg))
		return status == STATUS_OK ? output_flush(fault) : fault_set(fault, status, 0, NULL);
	failed = ferror(out) != 0;
	if (fclose(out) != 0 || failed)
		return file_fault(fault, STATUS_WRITE, p->svg);
	return status == STATUS_OK ? status : fault_set(fault, status, 0, NULL);
}

/* ---- tables ---- */

static enum status plot_table(const struct table *t, struct fault *fault)
{
	struct terminal terminal = terminal_look();
	enum status status = table_plot(t, &terminal, output_stream());

	return status == STATUS_OK ? output_flush(fault) : fault_set(fault, status, 0, NULL);
}

enum status picture_print_table(const struct picture *p, const struct table *t, enum format format,
				struct fault *fault)
{
	bool numbers = format != FORMAT_AUTO || !picture_is_asked(p);
	enum status status = numbers ? table_print(t, format, fault) : STATUS_OK;
	FILE *out;

	if (status == STATUS_OK && p->plots) {
		if (numbers)
			putc('\n', output_stream());
		status = plot_table(t, fault);
	}
	if (status != STATUS_OK || !p->svg)
		return status;
	out = begin_svg(p, fault);
	return out ? end_svg(p, out, table_svg(t, out), fault) : fault->status;
}

/* ---- running columns ---- */

static enum status plot_curve(const struct curve *t, const char *name, struct fault *fault)
{
	struct terminal terminal = terminal_look();
	enum status status = curve_plot(t, name, &terminal, output_stream());

	return status == STATUS_OK ? output_flush(fault) : fault_set(fault, status, 0, NULL);
}

enum status picture_print_curve(const struct picture *p, const struct curve *t, const char *name,
				struct fault *fault)
{
	enum status status = p->plots ? plot_curve(t, name, fault) : STATUS_OK;
	FILE *out;

	if (status != STATUS_OK || !p->svg)
		return status;
	out = begin_svg(p, fault);
	return out ? end_svg(p, out, curve_svg(t, name, out), fault) : fault->status;
}
