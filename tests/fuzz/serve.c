/* SPDX-License-Identifier: MIT
 *
 * serve.c - runs gpustat many times a second, for tests/fuzz/differential.py: main.c is linked in
 * as gpustat_main, and each run is a fork of this process, without what starting a program costs.
 *
 * A job comes on standard input, numbers in the machine's own order:
 *
 *   uint32 nargs, nenv, stdin_nbytes, mode    then each argument and NAME=VALUE as a uint32
 *                                             length and its bytes, then stdin's bytes
 *
 * mode: 'f', stdin is a regular file; 'p', a pipe that holds all of the text; 's', a pipe whose writer
 * pauses. The answer goes to standard output:
 *
 *   int32 status, uint32 out_nbytes, err_nbytes    then what was written to either
 *
 * status: the exit status, or minus the signal that ended the run: SIGXCPU after CPU_LIMIT_S of the
 * processor's time, SIGALRM after LIMIT_S, since a run that hangs takes none. This process ends with its standard input.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CPU_LIMIT_S 30
#define LIMIT_S 3600 /* the machine may have other work, or stop this one for a while */
#define MAX_ARGS 256
#define NPIECES 8 /* of a text whose writer pauses, about */
#define PAUSE_NS 300000

#undef main

int gpustat_main(int argc, char **argv);

struct job {
	uint32_t nargs, nenv, stdin_nbytes, mode;
	char *args[MAX_ARGS + 2], *env[MAX_ARGS + 1], *text;
};

static _Noreturn void fatal(const char *what)
{
	perror(what);
	_exit(99);
}

/* False where the input ends before the first byte. */
static bool read_all(void *to, size_t nbytes)
{
	size_t done = 0;

	while (done < nbytes) {
		ssize_t n = read(STDIN_FILENO, (char *)to + done, nbytes - done);
		if (n < 0)
			fatal("read");
		if (n == 0 && done == 0)
			return false;
		if (n == 0)
			_exit(98);
		done += (size_t)n;
	}
	return true;
}

static void write_all(int fd, const void *from, size_t nbytes)
{
	size_t done = 0;

	while (done < nbytes) {
		ssize_t n = write(fd, (const char *)from + done, nbytes - done);
		if (n < 0)
			fatal("write");
		done += (size_t)n;
	}
}

static char *read_text(uint32_t nbytes)
{
	char *text = malloc((size_t)nbytes + 1);

	if (!text)
		fatal("malloc");
	if (nbytes && !read_all(text, nbytes))
		_exit(98);
	text[nbytes] = '\0';
	return text;
}

static void read_texts(char **texts, uint32_t n)
{
	uint32_t nbytes;

	for (uint32_t i = 0; i < n; i++) {
		if (!read_all(&nbytes, sizeof nbytes))
			_exit(98);
		texts[i] = read_text(nbytes);
	}
	texts[n] = NULL;
}

static bool read_job(struct job *job)
{
	uint32_t head[4];

	if (!read_all(head, sizeof head))
		return false;
	*job = (struct job){head[0], head[1], head[2], head[3], {"gpustat"}, {NULL}, NULL};
	if (job->nargs > MAX_ARGS || job->nenv > MAX_ARGS)
		_exit(97);
	read_texts(job->args + 1, job->nargs);
	read_texts(job->env, job->nenv);
	job->text = read_text(job->stdin_nbytes);
	return true;
}

static void free_job(struct job *job)
{
	for (uint32_t i = 0; i < job->nargs; i++)
		free(job->args[i + 1]);
	for (uint32_t i = 0; i < job->nenv; i++)
		free(job->env[i]);
	free(job->text);
}

/* A pipe that another process writes to, in pieces of uneven lengths with pauses between them. */
static int write_slowly(const struct job *job)
{
	const struct timespec pause = {0, PAUSE_NS};
	uint32_t piece = 0, n;
	int ends[2];
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		fatal("pipe2");
	pid = fork();
	if (pid < 0)
		fatal("fork");
	if (pid > 0) {
		close(ends[1]);
		return ends[0];
	}
	close(ends[0]);
	signal(SIGPIPE, SIG_DFL);
	for (uint32_t done = 0; done < job->stdin_nbytes; done += n) {
		n = job->stdin_nbytes / NPIECES * (piece % 3) + piece * 7 % 11 + 1;
		n = n < job->stdin_nbytes - done ? n : job->stdin_nbytes - done;
		write_all(ends[1], job->text + done, n);
		nanosleep(&pause, NULL);
		piece++;
	}
	_exit(0);
}

/* The descriptor that the run reads: a pipe that holds all of the text, or `file`. */
static int lay_down(const struct job *job, int file)
{
	int ends[2];

	if (job->mode == 's')
		return write_slowly(job);
	if (job->mode == 'p' && pipe2(ends, O_CLOEXEC) == 0) {
		int room = fcntl(ends[1], F_SETPIPE_SZ, (int)job->stdin_nbytes + 1);
		bool fits = room >= 0 && (uint32_t)room >= job->stdin_nbytes;
		if (fits)
			write_all(ends[1], job->text, job->stdin_nbytes);
		close(ends[1]);
		if (fits)
			return ends[0];
		close(ends[0]);
	}
	if (ftruncate(file, 0) || lseek(file, 0, SEEK_SET))
		fatal("memfd");
	write_all(file, job->text, job->stdin_nbytes);
	lseek(file, 0, SEEK_SET);
	return file;
}

static _Noreturn void run(const struct job *job, int in, int out, int err)
{
	const struct rlimit cpu = {CPU_LIMIT_S, CPU_LIMIT_S + 1};
	char *args[MAX_ARGS + 2]; /* gpustat reorders them; the job keeps a pointer to each */

	memcpy(args, job->args, sizeof args);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	for (uint32_t i = 0; i < job->nenv; i++)
		putenv(job->env[i]);
	setrlimit(RLIMIT_CPU, &cpu);
	alarm(LIMIT_S);
	exit(gpustat_main((int)job->nargs + 1, args));
}

static uint32_t length(int file)
{
	return (uint32_t)lseek(file, 0, SEEK_END);
}

static void copy_out(int file, uint32_t nbytes)
{
	void *data = nbytes ? mmap(NULL, nbytes, PROT_READ, MAP_SHARED, file, 0) : NULL;

	if (data == MAP_FAILED)
		fatal("mmap");
	write_all(STDOUT_FILENO, data, nbytes);
	if (nbytes)
		munmap(data, nbytes);
}

static void answer(int result, int out, int err)
{
	int32_t status = WIFEXITED(result) ? WEXITSTATUS(result) : -WTERMSIG(result);
	uint32_t head[3] = {(uint32_t)status, length(out), length(err)};

	write_all(STDOUT_FILENO, head, sizeof head);
	copy_out(out, head[1]);
	copy_out(err, head[2]);
}

int main(void)
{
	int file = memfd_create("stdin", MFD_CLOEXEC), out = memfd_create("stdout", MFD_CLOEXEC),
	    err = memfd_create("stderr", MFD_CLOEXEC), result;
	struct job job;

	if (file < 0 || out < 0 || err < 0)
		fatal("memfd_create");
	while (read_job(&job)) {
		int in = lay_down(&job, file);
		pid_t pid;
		if (ftruncate(out, 0) || ftruncate(err, 0))
			fatal("memfd");
		lseek(out, 0, SEEK_SET);
		lseek(err, 0, SEEK_SET);
		pid = fork();
		if (pid < 0)
			fatal("fork");
		if (pid == 0)
			run(&job, in, out, err);
		if (waitpid(pid, &result, 0) != pid)
			fatal("waitpid");
		answer(result, out, err);
		if (in != file)
			close(in);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			; /* writers that have ended */
		free_job(&job);
	}
	return 0;
}
