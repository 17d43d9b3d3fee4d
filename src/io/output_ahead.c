/* SPDX-License-Identifier: MIT
 *
 * output_ahead.c - see output_ahead.h.
 *
 * A file is trimmed by setting its size to what it is. That must not meet a write, or it would cut its bytes, so
 * both hold the lock `busy`. A handler cannot wait for a lock: if a thread is writing, the handler leaves the signal to that
 * thread, which trims the file after the write and raises the signal again.
 */
#include "io/output_ahead.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fd.h"

static struct {
	_Atomic bool busy;
	_Atomic int signal; /* that has come while busy; 0: none */
	bool is_known, is_off; /* is_off: nothing more is reserved */
	bool is_shared;        /* another process writes as well: the size is not ours to set */
	off_t begin, end;      /* where this process's bytes begin, and where they end so far */
	off_t reserved;        /* up to here; 0: nothing */
} ahead;

static const int deadly[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGXCPU, SIGXFSZ};
#define NDEADLY (sizeof deadly / sizeof *deadly)
static struct sigaction had[NDEADLY]; /* what the signals did before */

/* Whether the file ends where this process has written last. */
static bool ends_here(void)
{
	struct stat s;

	return fstat(STDOUT_FILENO, &s) == 0 && S_ISREG(s.st_mode) && s.st_size == ahead.end &&
	       lseek(STDOUT_FILENO, 0, SEEK_CUR) == ahead.end;
}

/* With the lock. Async-signal-safe. */
static void trim(void)
{
	if (ahead.reserved > ahead.end && !ahead.is_shared && ends_here() &&
	    ftruncate(STDOUT_FILENO, ahead.end))
		ahead.is_shared = true; /* refused: nothing else can be done */
	ahead.reserved = 0;
	ahead.is_off = true;
}

/* Has the signal do what it did before: that ends the process. */
static void pass_on(int number)
{
	trim();
	for (size_t i = 0; i < NDEADLY; i++)
		if (deadly[i] == number)
			sigaction(number, &had[i], NULL);
	pthread_kill(pthread_self(), number);
}

static void on_signal(int number)
{
	ahead.signal = number;
	if (!atomic_exchange(&ahead.busy, true))
		pass_on(number);
}

/* Has deadly signals trim the file, unless they are ignored. */
static void watch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART | SA_NODEFER};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < NDEADLY; i++)
		if (sigaction(deadly[i], NULL, &had[i]) == 0 && had[i].sa_handler != SIG_IGN)
			sigaction(deadly[i], &action, NULL);
}

static void begin(void)
{
	int flags = fcntl(STDOUT_FILENO, F_GETFL);

	ahead.is_known = true;
	ahead.begin = ahead.end = lseek(STDOUT_FILENO, 0, SEEK_CUR);
	ahead.is_off = flags < 0 || (flags & O_APPEND) || !ends_here();
}

/* Reserves for a write of nbytes and the next ones. */
static void reserve(size_t nbytes)
{
	off_t end = ahead.end + (off_t)nbytes;

	if (ahead.is_off || ahead.end - ahead.begin < OUTPUT_AHEAD_LEAST || end <= ahead.reserved)
		return;
	ahead.is_shared = !ends_here();
	ahead.is_off = ahead.is_shared || fallocate(STDOUT_FILENO, FALLOC_FL_KEEP_SIZE, ahead.end,
						    (off_t)nbytes + OUTPUT_AHEAD_STEP);
	if (!ahead.is_off && ahead.reserved == 0)
		watch_signals();
	if (!ahead.is_off)
		ahead.reserved = end + OUTPUT_AHEAD_STEP;
}

static void lock(void)
{
	while (atomic_exchange(&ahead.busy, true))
		sched_yield(); /* for a trim: a system call, or the end of the process */
}

static void unlock(void)
{
	ahead.busy = false;
	if (ahead.signal && !atomic_exchange(&ahead.busy, true))
		pass_on(ahead.signal);
}

bool output_ahead_write(const char *data, size_t nbytes)
{
	int error;
	bool written;

	lock();
	if (!ahead.is_known)
		begin();
	reserve(nbytes);
	written = fd_write(STDOUT_FILENO, data, nbytes);
	error = errno;
	ahead.end = written ? ahead.end + (off_t)nbytes : lseek(STDOUT_FILENO, 0, SEEK_CUR);
	unlock();
	errno = error;
	return written;
}

void output_ahead_trim(void)
{
	int error = errno;

	lock();
	trim();
	unlock();
	errno = error;
}
