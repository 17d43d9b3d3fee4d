/* SPDX-License-Identifier: MIT
 *
 * faults.c - a library to be loaded before gpustat (LD_PRELOAD) that makes calls of the system
 * or of the C library fail, as tests/cli/faults.py asks. `make check` builds it; it is never
 * installed, and nothing of it is in the program.
 *
 * $FAULT is WHAT:HOW[:K[+]]. The K-th call (from 1; by default the first), or with + that and
 * all later ones:
 *
 *   alloc:fail     malloc, calloc, realloc and their kin return NULL
 *   thread:fail    pthread_create returns EAGAIN
 *   read:E, write:E, open:E, pipe:E, poll:E, close:E
 *                  fail with errno E, one of those in the table below; write and close only
 *                  on standard output. read: pread, too
 *   read:stop      the process stops itself (SIGSTOP) before the K-th read
 *
 * and without a K, at every call:
 *
 *   read:short, write:short     1 to 7 bytes are enough for now
 *   read:again, write:again, poll:again    EINTR every second time
 *   fstat:+N, fstat:-N          files seem longer or shorter
 *
 * $FAULT_NOTE names a file that is created when a fault has been made.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static struct {
	char what[8], how[8];
	int error_number;
	unsigned long first; /* the K-th call */
	bool all_later;
	const char *note; /* NULL: no fault is asked for */
	bool begun;       /* main has begun; constructors before it may not survive a fault */
	atomic_ulong ncalls;
} fault;

static const struct {
	const char *name;
	int number;
} errors[] = {{"EIO", EIO},       {"ENOSPC", ENOSPC}, {"EPIPE", EPIPE}, {"EMFILE", EMFILE},
	      {"EACCES", EACCES}, {"ESTALE", ESTALE}, {"EINTR", EINTR}, {"EDQUOT", EDQUOT}};

static void note_fault(void)
{
	int before = errno;
	long fd = syscall(SYS_openat, AT_FDCWD, fault.note, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0)
		syscall(SYS_close, (int)fd);
	errno = before;
}

static bool asked(const char *what, const char *how)
{
	return fault.begun && fault.note && !strcmp(fault.what, what) &&
	       (!how || !strcmp(fault.how, how));
}

/* Whether this call of `what` is one that fails; counts it. */
static bool strikes(const char *what)
{
	unsigned long call;

	if (!asked(what, NULL))
		return false;
	call = atomic_fetch_add(&fault.ncalls, 1) + 1;
	if (call != fault.first && !(fault.all_later && call > fault.first))
		return false;
	note_fault();
	return true;
}

/* Like strikes(), for faults that are an errno. Sets errno. */
static bool breaks(const char *what)
{
	if (!asked(what, NULL) || !fault.error_number || !strikes(what))
		return false;
	errno = fault.error_number;
	return true;
}

/* EINTR every second time. */
static bool interrupts(const char *what)
{
	if (!asked(what, "again") || atomic_fetch_add(&fault.ncalls, 1) % 2)
		return false;
	note_fault();
	errno = EINTR;
	return true;
}

static size_t shorten(const char *what, size_t nbytes)
{
	size_t few = 1 + atomic_load(&fault.ncalls) % 7;

	if (!asked(what, "short") || few >= nbytes)
		return nbytes;
	atomic_fetch_add(&fault.ncalls, 1);
	note_fault();
	return few;
}

/* The real function, of the same name, in the next library. */
#define REAL(name) ((__typeof__(&name))real(#name))

static void *real(const char *name)
{
	return dlsym(RTLD_NEXT, name);
}

/* ---- the beginning ---- */

typedef int (*main_function)(int, char **, char **);
static main_function programs_main;

static int begin_main(int argc, char **argv, char **environment)
{
	fault.begun = true;
	return programs_main(argc, argv, environment);
}

int __libc_start_main(main_function main, int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(main_function main, int argc, char **argv, void (*init)(void),
		      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
	programs_main = main;
	return REAL(__libc_start_main)(begin_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* ---- memory: dlsym itself may ask for some, so these are found by other names ---- */

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t),
	*__libc_memalign(size_t, size_t);

static bool denies(void)
{
	if (!strikes("alloc"))
		return false;
	errno = ENOMEM;
	return true;
}

void *malloc(size_t nbytes)
{
	return denies() ? NULL : __libc_malloc(nbytes);
}

void *calloc(size_t n, size_t nbytes)
{
	return denies() ? NULL : __libc_calloc(n, nbytes);
}

void *realloc(void *old, size_t nbytes)
{
	return denies() ? NULL : __libc_realloc(old, nbytes);
}

void *aligned_alloc(size_t alignment, size_t nbytes)
{
	return denies() ? NULL : __libc_memalign(alignment, nbytes);
}

int posix_memalign(void **out, size_t alignment, size_t nbytes)
{
	*out = denies() ? NULL : __libc_memalign(alignment, nbytes);
	return *out ? 0 : ENOMEM;
}

/* ---- threads ---- */

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
		   void *argument)
{
	return strikes("thread") ? EAGAIN
				 : REAL(pthread_create)(thread, attributes, body, argument);
}

/* ---- reading ---- */

/* gpustat reads files in /proc and /sys to learn about the machine, and can run without them.
 * Calls on these files get no fault and are not counted. */
#define NFDS 1024
static bool is_about_machine[NFDS];

static bool names_machine(const char *path)
{
	return !strncmp(path, "/proc/", 6) || !strncmp(path, "/sys/", 5);
}

static bool reads_machine(int fd)
{
	return fd >= 0 && fd < NFDS && is_about_machine[fd];
}

/* Returns whether this read fails. If not, limits *nbytes. */
static bool spoil_read(size_t *nbytes)
{
	if (asked("read", "stop") && strikes("read"))
		raise(SIGSTOP);
	*nbytes = shorten("read", *nbytes);
	return interrupts("read") || breaks("read");
}

ssize_t read(int fd, void *to, size_t nbytes)
{
	return !reads_machine(fd) && spoil_read(&nbytes) ? -1 : syscall(SYS_read, fd, to, nbytes);
}

ssize_t pread(int fd, void *to, size_t nbytes, off_t offset)
{
	return spoil_read(&nbytes) ? -1 : syscall(SYS_pread64, fd, to, nbytes, offset);
}

/* _FORTIFY_SOURCE calls these instead of read and pread. */
ssize_t __read_chk(int fd, void *to, size_t nbytes, size_t room)
{
	if (nbytes > room)
		abort();
	return read(fd, to, nbytes);
}

ssize_t __pread_chk(int fd, void *to, size_t nbytes, off_t offset, size_t room)
{
	if (nbytes > room)
		abort();
	return pread(fd, to, nbytes, offset);
}

int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	return interrupts("poll") || breaks("poll") ? -1 : REAL(poll)(fds, n, timeout_ms);
}

int __poll_chk(struct pollfd *fds, nfds_t n, int timeout_ms, size_t room)
{
	if (n > room / sizeof *fds)
		abort();
	return poll(fds, n, timeout_ms);
}

int open(const char *path, int flags, ...)
{
	bool machine = names_machine(path);
	va_list arguments;
	mode_t mode;
	int fd;

	va_start(arguments, flags);
	mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
	va_end(arguments);
	if (!machine && breaks("open"))
		return -1;
	fd = (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
	if (fd >= 0 && fd < NFDS)
		is_about_machine[fd] = machine;
	return fd;
}

int __open_2(const char *path, int flags)
{
	return open(path, flags);
}

int pipe2(int ends[2], int flags)
{
	return breaks("pipe") ? -1 : (int)syscall(SYS_pipe2, ends, flags);
}

int fstat(int fd, struct stat *st)
{
	int result = REAL(fstat)(fd, st);

	if (result == 0 && asked("fstat", NULL)) {
		st->st_size += atol(fault.how);
		note_fault();
	}
	return result;
}

/* ---- writing ---- */

ssize_t write(int fd, const void *from, size_t nbytes)
{
	if (fd == STDOUT_FILENO) {
		nbytes = shorten("write", nbytes);
		if (interrupts("write") || breaks("write"))
			return -1;
	}
	return syscall(SYS_write, fd, from, nbytes);
}

int close(int fd)
{
	bool broken = fd == STDOUT_FILENO && breaks("close");
	int result = (int)syscall(SYS_close, fd);

	return broken ? -1 : result;
}

static ssize_t write_stdout(void *cookie, const char *from, size_t nbytes)
{
	size_t done = 0;

	(void)cookie;
	while (done < nbytes) {
		ssize_t n = write(STDOUT_FILENO, from + done, nbytes - done);
		if (n < 0)
			break;
		done += (size_t)n;
	}
	return (ssize_t)done;
}

/* The C library's internal calls of write cannot be replaced. So stdout becomes a stream that
 * calls write() above. Like a file's stream, it resumes a short write and stops at an error. */
static void replace_stdout(void)
{
	static const cookie_io_functions_t functions = {.write = write_stdout};
	FILE *stream = fopencookie(NULL, "w", functions);

	if (stream)
		stdout = stream;
}

__attribute__((constructor)) static void begin(void)
{
	const char *text = getenv("FAULT"), *note = getenv("FAULT_NOTE");
	char later = '\0';

	fault.first = 1;
	if (!text || !note ||
	    sscanf(text, "%7[^:]:%7[^:]:%lu%c", fault.what, fault.how, &fault.first, &later) < 2)
		return;
	fault.all_later = later == '+';
	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		if (!strcmp(errors[i].name, fault.how))
			fault.error_number = errors[i].number;
	if (!strcmp(fault.what, "write"))
		replace_stdout();
	fault.note = note;
}
