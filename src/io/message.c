/* SPDX-License-Identifier: MIT
 *
 * message.c - see message.h.
 */
#include "io/message.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/nearest.h"
#include "csv/record.h"
#include "number/decimal_text.h"
#include "base/utf8.h"

#define NAMES_SHOWN 20       /* of an input's columns */
#define NAME_SHOWN_NBYTES 60 /* of each */
#define NAME_BYTES "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-._"

static const char *program = "gpustat";

/* A name with other bytes could harm a terminal, and is not taken. */
void message_program(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;

	if (*name && name[strspn(name, NAME_BYTES)] == '\0')
		program = name;
}

/* ---- a line that is rewritten ---- */

#define ERASE "\r\033[K"
#define LINE_NBYTES 1024
#define LINE_WIDTH 80 /* of a terminal that does not tell its own */
#define PATIENCE_MS 100

/* Signal handlers use it, too: lock-free atomics only. */
static struct {
	atomic_bool taken; /* a lock */
	atomic_bool allowed, shown, catches;
} line;

/* Waits for the lock, but not for long: the thread that holds it may be the one that a signal interrupted,
 * or be writing to a terminal that is stopped. Async-signal-safe. */
static bool line_take(void)
{
	const struct timespec pause = {.tv_nsec = 1000000};

	for (int i = 0; i < PATIENCE_MS; i++) {
		if (!atomic_exchange(&line.taken, true))
			return true;
		nanosleep(&pause, NULL);
	}
	return false;
}

static void line_release(bool taken)
{
	if (taken)
		line.taken = false;
}

/* Async-signal-safe, as all that calls only such functions. */
static void write_stderr(const char *text, size_t nbytes)
{
	if (write(STDERR_FILENO, text, nbytes) < 0)
		return; /* nothing can be done */
}

static void line_erase(void)
{
	if (atomic_exchange(&line.shown, false))
		write_stderr(ERASE, strlen(ERASE));
}

static struct sigaction line_before[NSIG]; /* what each signal that is caught did before */

/* Has `handler` handle the signal once, unless it is ignored. */
static void line_catch(int number, void (*handler)(int))
{
	struct sigaction *before = &line_before[number], action = {.sa_handler = handler,
					   .sa_flags = SA_RESETHAND | SA_NODEFER | SA_RESTART};

	sigemptyset(&action.sa_mask);
	if (sigaction(number, NULL, before) == 0 && before->sa_handler != SIG_IGN)
		sigaction(number, &action, NULL);
}

/* A signal handler: erases the line, and raises the signal again as it was handled before. It returns only for a signal
 * that stops the process, or one that is left to a thread that writes (output.c). */
static void line_end_and_pass_on(int number)
{
	int error = errno;
	bool taken = line_take();

	line_erase();
	sigaction(number, &line_before[number], NULL);
	pthread_kill(pthread_self(), number);
	line_catch(number, line_end_and_pass_on);
	line_release(taken);
	errno = error;
}

static void line_catch_signals(void)
{
	static const int numbers[] = {SIGHUP, SIGINT, SIGPIPE, SIGQUIT, SIGTERM, SIGTSTP};

	if (atomic_exchange(&line.catches, true))
		return;
	for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
		line_catch(numbers[i], line_end_and_pass_on);
}

bool message_can_rewrite(void)
{
	const char *kind = getenv("TERM");

	return isatty(STDERR_FILENO) && kind && *kind && strcmp(kind, "dumb") != 0;
}

/* A process in the background leaves the terminal to the one in the foreground. */
static bool is_in_background(void)
{
	pid_t group = tcgetpgrp(STDERR_FILENO);

	return group >= 0 && group != getpgrp();
}

/* So many bytes of ASCII fit in a line. The last column stays empty: some terminals go on to the next line
 * behind it. */
static size_t line_width(void)
{
	struct winsize size;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col == 0)
		return LINE_WIDTH - 1;
	return size.ws_col - 1u < LINE_NBYTES ? size.ws_col - 1u : LINE_NBYTES;
}

static void line_rewrite(const char *text)
{
	char bytes[LINE_NBYTES + 32];
	int n;

	if (is_in_background())
		return;
	line_catch_signals();
	n = snprintf(bytes, sizeof bytes, "\r%.*s\033[K", (int)line_width(), text);
	line.shown = true;
	write_stderr(bytes, (size_t)n);
}

void message_line_begin(void)
{
	line.allowed = true;
}

void message_line(const char *text, bool rewrite)
{
	char whole[LINE_NBYTES];
	int n = snprintf(whole, sizeof whole - 1, "%s: %s", program, text);

	if (n < 0 || !line_take())
		return;
	if (line.allowed && rewrite) {
		line_rewrite(whole);
	} else if (line.allowed) {
		strcat(whole, "\n");
		write_stderr(whole, strlen(whole));
	}
	line_release(true);
}

void message_line_end(void)
{
	bool taken;

	if (!line.allowed)
		return;
	taken = line_take();
	line.allowed = false;
	line_erase();
	line_release(taken);
}

/* ---- messages ---- */

/* Begins a message. stderr becomes line-buffered, so that lines of processes that share a log stay
 * whole. */
static void print_program(void)
{
	static char buffer[BUFSIZ];
	static bool is_buffered;

	if (!is_buffered)
		setvbuf(stderr, buffer, _IOLBF, sizeof buffer);
	is_buffered = true;
	message_line_end();
	fprintf(stderr, "%s: ", program);
}

/* Prints words: @ stands for a text that others wrote, of which each byte is shown, # for a number, a uint64_t, and $ behind
 * it for the s of a plural. */
static void vsay(const char *format, va_list arguments)
{
	uint64_t n = 0;

	for (; *format; format++) {
		const char *text;
		switch (*format) {
		case '@':
			text = va_arg(arguments, const char *);
			utf8_print_visibly(stderr, text, strlen(text));
			break;
		case '#':
			n = va_arg(arguments, uint64_t);
			fprintf(stderr, "%" PRIu64, n);
			break;
		case '$':
			fputs(n == 1 ? "" : "s", stderr);
			break;
		default:
			fputc(*format, stderr);
		}
	}
}

static void say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsay(format, arguments);
	va_end(arguments);
}

static void print_value(const struct fault *f)
{
	fputc('\'', stderr);
	utf8_print_visibly(stderr, f->detail, f->detail_nbytes);
	fputc('\'', stderr);
	if (f->value_nbytes > f->detail_nbytes)
		fprintf(stderr, "... (%zu bytes)", f->value_nbytes);
}

static void print_place(const struct fault *f)
{
	if (f->file)
		say("@", f->file);
	if (f->line)
		say(":#", f->line);
	if (f->file)
		say(": ");
	if (f->column)
		say("column '@': ", f->column);
}

static void print_remedy(const struct fault *f)
{
	if (*f->remedy)
		say(" (try @)", f->remedy);
}

static void print_detail(const struct fault *f)
{
	utf8_print_visibly(stderr, f->detail, f->detail_nbytes);
}

/* Prints the status's words and the detail. */
static void print_words(const struct fault *f)
{
	const char *words = status_words(f->status), *at = strpbrk(words, "@%");

	fprintf(stderr, "%.*s", at ? (int)(at - words) : (int)strlen(words), words);
	if (at && *at == '@')
		print_value(f);
	else if (at)
		print_detail(f);
	if (at)
		fputs(at + 1, stderr);
	if (!at && f->detail_nbytes) {
		fputs(": ", stderr);
		print_detail(f);
	}
	if (f->error_number)
		fprintf(stderr, ": %s", strerror(f->error_number));
	print_remedy(f);
}

/* Prints what is wrong, and where. */
static void print_fault(const struct fault *f)
{
	print_place(f);
	print_words(f);
	say("@", f->excess);
}

int message_fault(const struct fault *fault)
{
	print_program();
	if (fault->status == STATUS_USAGE) {
		/* lines such as an expression and a caret below it; the first ends in the remedy */
		for (const char *text = fault->detail; *text;) {
			size_t nbytes = strcspn(text, "\n");
			utf8_print_visibly(stderr, text, nbytes);
			if (text == fault->detail)
				print_remedy(fault);
			fputc('\n', stderr);
			text += nbytes + (text[nbytes] != '\0');
		}
		fprintf(stderr, "Try '%s --help'.", program);
	} else {
		print_fault(fault);
	}
	fputc('\n', stderr);
	return status_exit(fault->status);
}

/* Prints a column's name, or its beginning. */
static void print_name(const char *name, size_t column)
{
	size_t nbytes;

	if (!name) {
		fprintf(stderr, "col%zu", column + 1);
		return;
	}
	nbytes = strnlen(name, NAME_SHOWN_NBYTES + 1);
	if (nbytes <= NAME_SHOWN_NBYTES) {
		utf8_print_visibly(stderr, name, nbytes);
		return;
	}
	for (nbytes = NAME_SHOWN_NBYTES; nbytes && (name[nbytes] & 0xc0) == 0x80;)
		nbytes--; /* not within a character */
	utf8_print_visibly(stderr, name, nbytes);
	fputs("...", stderr);
}

/* Says what cannot be seen of a name that is nearly the unknown one. Returns whether there is something. */
static bool print_unseen(const char *name, size_t column, const char *unknown)
{
	size_t mark_nbytes = byte_order_mark_nbytes(name, strlen(name));
	bool is_marked = mark_nbytes && !strcmp(name + mark_nbytes, unknown);

	if (!is_marked && !utf8_is_recomposed(name, unknown))
		return false;
	fputs("; '", stderr);
	print_name(name, column);
	fputs(is_marked ? "' begins with a byte-order mark: files were joined, perhaps"
			: "' writes its accents as other characters (Unicode NFC or NFD): copy that name, or take its number",
	      stderr);
	return true;
}

void message_columns(char *const *names, size_t ncolumns, const char *const *others, size_t nothers,
		     const char *unknown)
{
	struct nearest nearest = nearest_begin(unknown, strlen(unknown));
	bool is_told = false;

	print_program();
	say("the input has # column$", (uint64_t)ncolumns);
	for (size_t i = 0; i < ncolumns && i < NAMES_SHOWN; i++) {
		fputs(i ? ", " : ": ", stderr);
		print_name(names[i], i);
	}
	if (ncolumns > NAMES_SHOWN)
		say(" and # more", (uint64_t)ncolumns - NAMES_SHOWN);
	for (size_t i = 0; i < ncolumns && !is_told; i++)
		is_told = names[i] && print_unseen(names[i], i, unknown);
	for (size_t i = 0; i < ncolumns; i++)
		if (names[i])
			nearest_offer(&nearest, names[i]);
	for (size_t i = 0; i < nothers; i++)
		if (others[i])
			nearest_offer(&nearest, others[i]);
	if (!is_told && nearest.name && strcmp(nearest.name, unknown)) {
		fputs("; did you mean '", stderr);
		print_name(nearest.name, 0);
		fputs("'?", stderr);
	}
	fputc('\n', stderr);
}

void message_first_of(uint64_t n, const struct fault *first, const char *format, ...)
{
	va_list arguments;

	print_program();
	fputs("warning: ", stderr);
	va_start(arguments, format);
	vsay(format, arguments);
	va_end(arguments);
	fputs(n == 1 ? ": " : "; the first: ", stderr);
	print_fault(first);
	fputc('\n', stderr);
}

void message_header_guessed(const struct fault *first)
{
	print_program();
	say("note: ");
	print_place(first);
	print_value(first);
	say(" is taken for the header: say -N if it is data\n");
}

void message_say(const char *format, ...)
{
	va_list arguments;

	print_program();
	va_start(arguments, format);
	vsay(format, arguments);
	va_end(arguments);
	fputc('\n', stderr);
}

void message_note(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	print_program();
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

/* ---- progress ---- */

static struct {
	const _Atomic uint64_t *done;
	_Atomic uint64_t all;
	double begin_s;
} progress;

static char *write_words(char *to, const char *words)
{
	size_t nbytes = strlen(words);

	memcpy(to, words, nbytes);
	return to + nbytes;
}

/* A signal handler: calls only async-signal-safe functions. */
static void print_progress(int number)
{
	uint64_t done = *progress.done, all = progress.all;
	uint64_t ns = (uint64_t)((clock_s() - progress.begin_s) * 1e9);
	int error = errno;
	char text[256], *to = text;
	bool taken = line_take();

	(void)number;
	line_erase();
	to = write_words(write_words(to, program), ": ");
	to = decimal_write_u64(to, done);
	to = write_words(to, " bytes");
	if (all != UINT64_MAX) {
		to = decimal_write_u64(write_words(to, " of "), all);
		to = decimal_write_u64(write_words(to, " ("), all ? done * 100 / all : 100);
		to = write_words(to, " %)");
	}
	to = decimal_write(write_words(to, " in "), (int128)(ns / 1000000), 3);
	to = decimal_write(write_words(to, " s: "), (int128)(ns ? done * 100 / ns : 0), 2);
	to = write_words(to, " GB/s\n");
	write_stderr(text, (size_t)(to - text));
	line_release(taken);
	errno = error;
}

void message_progress(const _Atomic uint64_t *done, uint64_t all)
{
	struct sigaction before, action = {.sa_handler = print_progress, .sa_flags = SA_RESTART};

	progress.all = all;
	if (progress.done)
		return;
	progress.done = done;
	progress.begin_s = clock_s();
	sigemptyset(&action.sa_mask);
	if (sigaction(SIGUSR1, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
		sigaction(SIGUSR1, &action, NULL);
}
