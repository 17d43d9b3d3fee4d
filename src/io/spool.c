/* SPDX-License-Identifier: MIT
 *
 * spool.c - see spool.h.
 */
#include "io/spool.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/machine.h"

#define PIECE_NBYTES ((size_t)1 << 20)
#define FOLDER "/tmp"
#define DESCRIPTOR "/dev/fd/"

int spool_file(void)
{
	const char *folder = getenv("TMPDIR");
	char name[4096];
	int fd;

	snprintf(name, sizeof name, "%.4000s/gpustat-XXXXXX", folder && *folder ? folder : FOLDER);
	fd = mkostemp(name, O_CLOEXEC);
	if (fd >= 0)
		unlink(name);
	return fd;
}

/* Moves what is in memory to a file in the folder. */
static bool move_out(int *fd, size_t nbytes)
{
	const int file = spool_file();
	off_t at = 0;

	while (file >= 0 && (size_t)at < nbytes && sendfile(file, *fd, &at, nbytes - (size_t)at) > 0)
		;
	if (file < 0 || (size_t)at < nbytes)
		return false;
	close(*fd);
	memory_give(nbytes);
	*fd = file;
	return true;
}

/* Reads a pipe into a file, whose descriptor is *out. */
static enum status spool(int from, const char *name, int *out, struct fault *fault)
{
	const uint64_t most = memory_limit_nbytes() / 4;
	char *piece = malloc(PIECE_NBYTES);
	size_t nbytes = 0; /* in memory */
	bool is_memory = true;
	ssize_t n;

	NEED(piece);
	*out = memfd_create("gpustat", MFD_CLOEXEC);
	if (*out < 0)
		return fault_set_file(fault, STATUS_WRITE, errno, name);
	while ((n = fd_read(from, piece, PIECE_NBYTES)) > 0) {
		if (is_memory && (nbytes + (size_t)n > most || !memory_take((uint64_t)n))) {
			is_memory = false;
			if (!move_out(out, nbytes))
				break;
		}
		nbytes += is_memory ? (size_t)n : 0;
		if (!fd_write(*out, piece, (size_t)n))
			break;
	}
	free(piece);
	return n == 0 ? STATUS_OK : fault_set_file(fault, n < 0 ? STATUS_READ : STATUS_WRITE, errno, name);
}

/* Puts a file in the place of a pipe. */
static enum status replace(const char **path, int from, int file, struct fault *fault)
{
	const char *number = *path + sizeof DESCRIPTOR - 1;
	const bool is_stdin = !strcmp(*path, "-"), is_descriptor = !strncmp(*path, DESCRIPTOR, sizeof DESCRIPTOR - 1);
	char *name;

	if (lseek(file, 0, SEEK_SET) < 0)
		return fault_set_file(fault, STATUS_READ, errno, *path);
	if (is_stdin || is_descriptor) {
		if (dup2(file, is_stdin ? STDIN_FILENO : atoi(number)) < 0)
			return fault_set_file(fault, STATUS_OPEN, errno, *path);
		close(file);
		if (!is_stdin)
			close(from);
		return STATUS_OK;
	}
	close(from);
	NEED(name = malloc(sizeof DESCRIPTOR + 16));
	sprintf(name, DESCRIPTOR "%d", file);
	*path = name;
	return STATUS_OK;
}

enum status spool_pipes(const char **paths, int npaths, struct fault *fault)
{
	for (int i = 0; i < npaths; i++) {
		const bool is_stdin = !strcmp(paths[i], "-");
		struct stat st;
		int from, file;
		if ((is_stdin ? fstat(STDIN_FILENO, &st) : stat(paths[i], &st)) != 0 || S_ISDIR(st.st_mode) ||
		    (S_ISREG(st.st_mode) && (!is_stdin || lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0)))
			continue; /* what cannot be opened is an error when it is */
		from = is_stdin ? STDIN_FILENO : open(paths[i], O_RDONLY | O_CLOEXEC);
		if (from < 0)
			return fault_set_file(fault, STATUS_OPEN, errno, paths[i]);
		TRY(spool(from, paths[i], &file, fault));
		TRY(replace(&paths[i], from, file, fault));
	}
	return STATUS_OK;
}

uint64_t spool_stamp(const char *const *paths, int npaths)
{
	uint64_t stamp = 0;

	for (int i = 0; i < npaths; i++) {
		struct stat st = {.st_size = -1};
		if ((strcmp(paths[i], "-") ? stat(paths[i], &st) : fstat(STDIN_FILENO, &st)) != 0)
			continue;
		const uint64_t parts[] = {(uint64_t)st.st_ino, (uint64_t)st.st_size, (uint64_t)st.st_mtim.tv_sec,
					  (uint64_t)st.st_mtim.tv_nsec};
		for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
			stamp = (stamp ^ parts[k]) * UINT64_C(0x9e3779b97f4a7c15) + (stamp >> 32);
	}
	return stamp | 1;
}
