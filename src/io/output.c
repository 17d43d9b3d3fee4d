/* SPDX-License-Identifier: MIT
 *
 * output.c - see output.h.
 */
#include "io/output.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "number/decimal.h"

/* What was written through output_stream, and how much of that is not to be written once more. */
static uint64_t nwritten, nrepeated;

static ssize_t write_output(void *ignored, const char *data, size_t nbytes)
{
	size_t nleft_out = nbytes < nrepeated ? nbytes : (size_t)nrepeated;

	(void)ignored;
	nrepeated -= nleft_out;
	nwritten += nbytes - nleft_out;
	return fd_write(STDOUT_FILENO, data + nleft_out, nbytes - nleft_out) ? (ssize_t)nbytes : 0;
}

void output_repeat(void)
{
	fflush(output_stream());
	nrepeated = nwritten;
}

FILE *output_stream(void)
{
	static FILE *stream;
	static char buffer[BUFSIZ]; /* not allocated: a stream whose buffer cannot be is written at once, and an error drops nothing */

	if (stream)
		return stream;
	stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = write_output});
	if (!stream)
		stream = stdout; /* out of memory; also if there is some later, or what is printed would change its order */
	setvbuf(stream, buffer, _IOFBF, sizeof buffer);
	return stream;
}

static bool separates(const struct csv_dialect *d, char byte)
{
	return byte == d->delimiter || byte == '\r' || byte == '\n';
}

/* Whether text begins a comment. */
static bool begins_comment(const struct csv_dialect *d, const char *text, bool is_first)
{
	return is_first && d->comment && *text == d->comment;
}

/* Whether text as it is would be read as another value, or not as one. */
static bool needs_quotes(const struct csv_dialect *d, const char *text, bool is_first)
{
	size_t nbytes = d->trim ? strlen(text) : 0;

	if (begins_comment(d, text, is_first) ||
	    (nbytes > 0 && (decimal_is_blank(text[0]) || decimal_is_blank(text[nbytes - 1]))))
		return true;
	while (*text && !separates(d, *text) && *text != d->quote)
		text++;
	return *text != '\0';
}

bool output_field_fits(const char *text, const struct csv_dialect *d, bool is_first)
{
	return d->whitespace || d->quote || d->escape || !needs_quotes(d, text, is_first);
}

/* Like output_field: fields end at blanks, and nothing quotes one; but a line that begins with a blank is no comment. */
static void print_word(FILE *to, const char *text, const struct csv_dialect *d, bool is_first)
{
	if (begins_comment(d, text, is_first))
		putc(' ', to);
	for (; *text; text++)
		putc(decimal_is_blank(*text) ? '_' : *text, to);
}

void output_field(FILE *to, const char *text, const struct csv_dialect *d, bool is_first)
{
	bool quoted = needs_quotes(d, text, is_first), escaped = quoted && !d->quote;

	if (d->whitespace) {
		print_word(to, text, d, is_first);
		return;
	}
	if (!quoted && !d->escape) {
		fputs(text, to);
		return;
	}
	if (quoted && d->quote)
		putc(d->quote, to);
	else if (begins_comment(d, text, is_first))
		putc(d->escape, to);
	for (; *text; text++) {
		if (*text == d->quote)
			putc(d->quote, to);
		else if (d->escape && (*text == d->escape || (escaped && (separates(d, *text) ||
									  decimal_is_blank(*text)))))
			putc(d->escape, to);
		putc(*text, to);
	}
	if (quoted && d->quote)
		putc(d->quote, to);
}

/* ---- disk blocks ahead ----
 *
 * Disk blocks of standard output, if that is a file, are reserved ahead of what is written: a write into reserved blocks costs the
 * kernel less. The file's size is never changed by it, so at any moment the file holds what was written and nothing more. What is
 * reserved beyond is given back at the end of the process, also at a deadly signal; not if it is killed by SIGKILL. Nothing is
 * reserved for a file that is appended to (>>), or written to at another place than its end, or that another process writes to
 * meanwhile; for the first AHEAD_LEAST bytes; and where the file system cannot.
 *
 * A file is trimmed by setting its size to what it is. That must not meet a write, or it would cut its bytes, so
 * both hold the lock `busy`. A handler cannot wait for a lock: if a thread is writing, the handler leaves the signal to that
 * thread, which trims the file after the write and raises the signal again.
 */

#define AHEAD_LEAST (16 << 20) /* bytes */
#define AHEAD_STEP (64 << 20)

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

static void look(void)
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

	if (ahead.is_off || ahead.end - ahead.begin < AHEAD_LEAST || end <= ahead.reserved)
		return;
	ahead.is_shared = !ends_here();
	ahead.is_off = ahead.is_shared || fallocate(STDOUT_FILENO, FALLOC_FL_KEEP_SIZE, ahead.end,
						    (off_t)nbytes + AHEAD_STEP);
	if (!ahead.is_off && ahead.reserved == 0)
		watch_signals();
	if (!ahead.is_off)
		ahead.reserved = end + AHEAD_STEP;
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

/* Writes nbytes to standard output as fd_write does. One thread at a time. */
static bool write_ahead(const char *data, size_t nbytes)
{
	int error;
	bool written;

	lock();
	if (!ahead.is_known)
		look();
	reserve(nbytes);
	written = fd_write(STDOUT_FILENO, data, nbytes);
	error = errno;
	ahead.end = written ? ahead.end + (off_t)nbytes : lseek(STDOUT_FILENO, 0, SEEK_CUR);
	unlock();
	errno = error;
	return written;
}

void output_trim(void)
{
	int error = errno;

	lock();
	trim();
	unlock();
	errno = error;
}

/* ---- records ---- */

static enum status write_all(struct writer *w, const char *data, size_t nbytes, struct fault *fault)
{
	double begin_s = clock_s();
	bool written = write_ahead(data, nbytes);

	w->busy_ns += (uint64_t)((clock_s() - begin_s) * 1e9);
	return written ? STATUS_OK : fault_set(fault, STATUS_WRITE, errno, NULL);
}

enum status writer_write(struct writer *w, struct text_buffer *text, struct fault *fault)
{
	enum status status = STATUS_OK;
	bool in_line = text->in_line;

	if (w->curve) {
		status = curve_add(w->curve, text);
		text->in_line = false;
		return status == STATUS_OK ? status : fault_set(fault, status, 0, NULL);
	}
	text->in_line = false;
	if (text->nbytes == 0 && !in_line)
		return STATUS_OK;
	if (w->rows)
		return fault_complete(fault, table_rows_add(w->rows, text->data, text->nbytes));
	if (w->format) {
		const size_t nless = w->has_rows ? 0 : w->format->nfirst_less;
		w->has_rows = true;
		return write_all(w, text->data + nless, text->nbytes - nless, fault);
	}
	if (w->owes_newline)
		status = write_all(w, "\n", 1, fault);
	w->owes_newline = text->nbytes == 0 || text->data[text->nbytes - 1] != '\n';
	return status == STATUS_OK ? write_all(w, text->data, text->nbytes, fault) : status;
}

/* ---- the end ---- */

enum status output_flush(struct fault *fault)
{
	FILE *out = output_stream();

	if (fflush(stdout) || ferror(stdout) || fflush(out) || ferror(out))
		return fault_set(fault, STATUS_WRITE, errno, NULL);
	return STATUS_OK;
}

enum status output_close(struct fault *fault)
{
	enum status status = output_flush(fault);

	output_trim();
	ahead.is_known = false; /* standard output may be another file when it is open again */
	nwritten = nrepeated = 0;
	/* EBADF: it was never open. If there was output, the flush has failed. */
	if (status == STATUS_OK && close(STDOUT_FILENO) && errno != EBADF)
		return fault_set(fault, STATUS_WRITE, errno, NULL);
	return status;
}
