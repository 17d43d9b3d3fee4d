/* SPDX-License-Identifier: MIT
 *
 * out_file.c - see out_file.h.
 *
 * What is written has no name until it is whole (O_TMPFILE), so that a process that is killed leaves nothing behind.
 * A rename needs a name, and some file systems have no files without one: then it is a hidden one in the folder.
 */
#include "io/out_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

#define BEGIN_NBYTES 16
#define NLINKS_MAX 40 /* as many as the system follows */
#define NNAMES_MAX 100
#define OWN_FILES "/proc/self/fd"

/* ---- where it goes ---- */

/* The length of a path up to the last slash, with it. */
static size_t folder_nbytes(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? (size_t)(slash + 1 - path) : 0;
}

/* The folder of a path. Owned by the caller; NULL: out of memory. */
static char *folder_of(const char *path)
{
	size_t nbytes = folder_nbytes(path);

	return nbytes ? strndup(path, nbytes) : strdup(".");
}

/* Where symbolic links lead, also if nothing is there. Owned by the caller; NULL, with errno: out of memory, or a
 * circle. */
static char *follow(const char *path)
{
	char *at = strdup(path), to[PATH_MAX];
	ssize_t nbytes;

	for (int i = 0; at && (nbytes = readlink(at, to, sizeof to - 1)) >= 0; i++) {
		char *next;
		to[nbytes] = '\0';
		errno = ELOOP;
		if (i == NLINKS_MAX || asprintf(&next, "%.*s%s", *to == '/' ? 0 : (int)folder_nbytes(at), at, to) < 0)
			next = NULL;
		free(at);
		at = next;
	}
	return at;
}

/* Whether a file of the folder can be made or renamed. */
static enum status check_folder(const char *path, struct fault *fault)
{
	char *target = follow(path), *folder = target ? folder_of(target) : NULL;
	enum status status = STATUS_OK;

	if (!folder)
		status = fault_set_file(fault, errno == ELOOP ? STATUS_OPEN : STATUS_NO_MEMORY, errno, path);
	else if (faccessat(AT_FDCWD, folder, W_OK | X_OK, AT_EACCESS) != 0)
		status = fault_set_file(fault, STATUS_OPEN, errno, path);
	if (status == STATUS_OPEN && fault->error_number == EACCES)
		snprintf(fault->remedy, sizeof fault->remedy, "a folder in which files may be made");
	free(target);
	free(folder);
	return status;
}

/* Whether the file may be overwritten: it is empty, or of the kind. */
static enum status check_begin(const char *path, const struct out_file_kind *kind, struct fault *fault)
{
	char begin[BEGIN_NBYTES];
	size_t wanted = strlen(kind->begin);
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	ssize_t n = fd >= 0 ? fd_read_at(fd, begin, wanted, 0) : -1;
	enum status status = STATUS_OK;

	if (n < 0)
		status = fault_set_file(fault, fd < 0 ? STATUS_OPEN : STATUS_READ, errno, path);
	else if (n > 0 && ((size_t)n < wanted || memcmp(begin, kind->begin, wanted) != 0))
		status = fault_set_file(fault, kind->other, 0, path);
	if (fd >= 0)
		close(fd);
	return status;
}

static bool is_same(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Finds what is at the path, whose links may lead to nothing: then is->st_nlink is 0. */
static enum status look(const struct out_file_request *file, struct stat *is, struct fault *fault)
{
	struct stat output;

	if (stat(file->path, is) != 0) {
		memset(is, 0, sizeof *is);
		return errno == ENOENT ? STATUS_OK : fault_set_file(fault, STATUS_OPEN, errno, file->path);
	}
	if (S_ISDIR(is->st_mode))
		return fault_set_file(fault, STATUS_OPEN, EISDIR, file->path);
	if (!S_ISREG(is->st_mode))
		return file->kind->may_be_stream ? STATUS_OK : fault_set_file(fault, STATUS_NOT_REGULAR, 0, file->path);
	if (fstat(STDOUT_FILENO, &output) == 0 && is_same(is, &output))
		return fault_set_file(fault, STATUS_IS_OUTPUT, 0, file->path);
	return STATUS_OK;
}

/* Whether what is there may be replaced. */
static enum status check_place(const struct out_file_request *file, const struct stat *is, struct fault *fault)
{
	if (is->st_nlink && !S_ISREG(is->st_mode))
		return STATUS_OK;
	if (is->st_nlink)
		TRY(check_begin(file->path, file->kind, fault));
	return check_folder(file->path, fault);
}

static enum status check_inputs(const struct out_file_request *file, const struct stat *is,
				const char *const *inputs, int ninputs, struct fault *fault)
{
	struct stat input;

	for (int i = 0; S_ISREG(is->st_mode) && i < ninputs; i++)
		if ((strcmp(inputs[i], "-") ? stat(inputs[i], &input) : fstat(STDIN_FILENO, &input)) == 0 &&
		    is_same(is, &input))
			return fault_set_file(fault, STATUS_IS_INPUT, 0, file->path);
	return STATUS_OK;
}

/* The first of the files up to i that is the same file as i: i itself if no earlier one is. */
static size_t find_same(const struct out_file_request *files, size_t i, const struct stat *is)
{
	struct stat other;
	size_t k = 0;

	while (k < i && (!files[k].path || (strcmp(files[k].path, files[i].path) != 0 &&
		(!S_ISREG(is->st_mode) || stat(files[k].path, &other) != 0 || !is_same(is, &other)))))
		k++;
	return k;
}

enum status out_files_check(const struct out_file_request *files, size_t nfiles, const char *const *inputs,
			    int ninputs, struct fault *fault)
{
	for (size_t i = 0; i < nfiles; i++) {
		struct stat is;
		if (!files[i].path)
			continue;
		TRY(look(&files[i], &is, fault));
		TRY(check_inputs(&files[i], &is, inputs, ninputs, fault));
		if (find_same(files, i, &is) < i)
			return fault_set_file(fault, STATUS_IS_OUTPUT, 0, files[i].path);
		TRY(check_place(&files[i], &is, fault));
	}
	return STATUS_OK;
}

/* ---- writing it ---- */

/* Finds a name that nobody has in the target's folder, and has `take` take it. Returns what `take` does: -1, with
 * errno, if it fails for another reason. */
static int take_name(struct out_file *f, int (*take)(int fd, const char *name), int fd)
{
	int taken = -1;

	errno = EEXIST;
	for (int i = 0; i < NNAMES_MAX && taken < 0 && errno == EEXIST; i++) {
		uint64_t number = (uint64_t)getpid();
		free(f->temporary);
		f->temporary = NULL;
		if (getrandom(&number, sizeof number, 0) < 0)
			number += (uint64_t)i; /* a name that is there is never taken */
		if (asprintf(&f->temporary, "%.*s.gpustat-%016" PRIx64, (int)folder_nbytes(f->target), f->target,
			     number) < 0) {
			f->temporary = NULL;
			errno = ENOMEM;
			return -1;
		}
		taken = take(fd, f->temporary);
	}
	return taken;
}

static int create(int fd, const char *name)
{
	(void)fd;
	return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
}

static int give_name(int fd, const char *name)
{
	char own[sizeof OWN_FILES + 16];

	snprintf(own, sizeof own, OWN_FILES "/%d", fd);
	return linkat(AT_FDCWD, own, AT_FDCWD, name, AT_SYMLINK_FOLLOW);
}

/* Opens what is written: a file without a name, or with one of its own. */
static int open_new(struct out_file *f)
{
	char *folder = folder_of(f->target);
	int fd = folder && access(OWN_FILES, X_OK) == 0
			 ? open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0666) : -1;

	free(folder);
	return fd >= 0 ? fd : take_name(f, create, -1);
}

/* Gives the file the mode bits and the owner of the one that it replaces, if there is one. */
static void keep_mode(int fd, const char *target)
{
	struct stat before;

	if (stat(target, &before) != 0)
		return;
	if (fchown(fd, before.st_uid, before.st_gid) != 0) /* only root gives files away */
		before.st_mode &= ~(mode_t)(S_ISUID | S_ISGID);
	(void)!fchmod(fd, before.st_mode & 07777);
}

static enum status begin_regular(struct out_file *f, struct fault *fault)
{
	int fd;

	f->target = follow(f->path);
	if (!f->target)
		return fault_set_file(fault, errno == ELOOP ? STATUS_OPEN : STATUS_NO_MEMORY, errno, f->path);
	fd = open_new(f);
	if (fd < 0)
		return fault_set_file(fault, STATUS_OPEN, errno, f->path);
	keep_mode(fd, f->target);
	f->stream = fdopen(fd, "w");
	if (f->stream)
		return STATUS_OK;
	close(fd);
	return fault_set_file(fault, STATUS_NO_MEMORY, 0, f->path);
}

static void discard(struct out_file *f)
{
	if (f->temporary)
		unlink(f->temporary);
	free(f->temporary);
	free(f->target);
	*f = (struct out_file){.stream = NULL};
}

enum status out_file_begin(struct out_file *f, const char *path, const struct out_file_kind *kind,
			   struct fault *fault)
{
	const struct out_file_request file = {path, kind};
	struct stat is;
	enum status status;

	*f = (struct out_file){.path = path};
	TRY(look(&file, &is, fault));
	TRY(check_place(&file, &is, fault));
	if (is.st_nlink && !S_ISREG(is.st_mode)) {
		f->stream = fopen(path, "we");
		status = f->stream ? STATUS_OK : fault_set_file(fault, STATUS_OPEN, errno, path);
	} else {
		status = begin_regular(f, fault);
	}
	if (status != STATUS_OK)
		discard(f);
	return status;
}

/* Whether all has been written, to the disk as well. */
static bool is_written(struct out_file *f)
{
	if (fflush(f->stream) != 0 || ferror(f->stream))
		return false;
	if (!f->target)
		return true;
	return (fsync(fileno(f->stream)) == 0 || errno == EINVAL) &&
	       (f->temporary || take_name(f, give_name, fileno(f->stream)) == 0);
}

enum status out_file_end(struct out_file *f, enum status status, struct fault *fault)
{
	if (status == STATUS_OK && !is_written(f))
		status = fault_set_file(fault, STATUS_WRITE, errno, f->path);
	if (fclose(f->stream) != 0 && status == STATUS_OK)
		status = fault_set_file(fault, STATUS_WRITE, errno, f->path);
	if (status == STATUS_OK && f->target && rename(f->temporary, f->target) != 0)
		status = fault_set_file(fault, STATUS_WRITE, errno, f->path);
	if (status == STATUS_WRITE)
		fault->file = f->path;
	if (status == STATUS_OK) { /* the name is no longer that of what was written */
		free(f->temporary);
		f->temporary = NULL;
	}
	discard(f);
	return status;
}
