/* SPDX-License-Identifier: MIT
 *
 * serve.c - runs gpustat many times a second, for tests/fuzz/differential.py and tests/cli/devices.py: main.c is linked in
 * as gpustat_main, and each run is a fork of this process, without what starting a program costs.
 *
 *   serve [--keep]
 *
 * --keep: a child of this process runs one job after the other, and so keeps what a run leaves to its process: a CUDA context,
 * which takes longer to make than most tests. A run that fails ends its process; then the next child makes a new one.
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
#define KEPT_LIMIT_S 120
#define KEPT_NFAULTS 40 /* runs with simulated faults of a GPU, which may leave some of its memory taken */

#undef main

int gpustat_main(int argc, char **argv);

/* The calls of the CUDA runtime so far (kernels/worker/worker.cuh); without CUDA there is no such variable. */
extern long gpu_nchecked __attribute__((weak));

struct job {
	uint32_t nargs, nenv, stdin_nbytes, mode;
	char *args[MAX_ARGS + 2], *env[MAX_ARGS + 1], *text;
};

/* Jobs come from here, and answers go there: --keep moves them away from the descriptors that a run uses. */
static int jobs_fd = STDIN_FILENO, answers_fd = STDOUT_FILENO;

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
		ssize_t n = read(jobs_fd, (char *)to + done, nbytes - done);
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

/* Returns the exit status, if the run does not end the process. */
static int run(const struct job *job, int in, int out, int err, unsigned limit_s)
{
	char *args[MAX_ARGS + 2]; /* gpustat reorders them; the job keeps a pointer to each */

	memcpy(args, job->args, sizeof args);
	dup2(in, STDIN_FILENO);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	for (uint32_t i = 0; i < job->nenv; i++)
		putenv(job->env[i]);
	alarm(limit_s);
	return gpustat_main((int)job->nargs + 1, args);
}

static _Noreturn void run_forked(const struct job *job, int in, int out, int err)
{
	const struct rlimit cpu = {CPU_LIMIT_S, CPU_LIMIT_S + 1};

	setrlimit(RLIMIT_CPU, &cpu);
	exit(run(job, in, out, err, LIMIT_S));
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
	write_all(answers_fd, data, nbytes);
	if (nbytes)
		munmap(data, nbytes);
}

static void answer(int result, int out, int err)
{
	int32_t status = WIFEXITED(result) ? WEXITSTATUS(result) : -WTERMSIG(result);
	uint32_t head[3] = {(uint32_t)status, length(out), length(err)};

	write_all(answers_fd, head, sizeof head);
	copy_out(out, head[1]);
	copy_out(err, head[2]);
}

static void empty(int file)
{
	if (ftruncate(file, 0) || lseek(file, 0, SEEK_SET))
		fatal("memfd");
}

static void run_jobs(int file, int out, int err)
{
	struct job job;
	int result;

	while (read_job(&job)) {
		int in = lay_down(&job, file);
		pid_t pid;
		empty(out);
		empty(err);
		pid = fork();
		if (pid < 0)
			fatal("fork");
		if (pid == 0)
			run_forked(&job, in, out, err);
		if (waitpid(pid, &result, 0) != pid)
			fatal("waitpid");
		answer(result, out, err);
		if (in != file)
			close(in);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			; /* writers that have ended */
		free_job(&job);
	}
}

/* ---- a process that is kept ---- */

/* Takes NAME=VALUE out of the environment. Returns whether it has a GPU fail. */
static bool forget(const char *variable)
{
	char *name = strndup(variable, strcspn(variable, "="));
	bool is_fault;

	if (!name)
		fatal("strndup");
	is_fault = !strcmp(name, "GPUSTAT_GPU_FAULT");
	unsetenv(name);
	free(name);
	return is_fault;
}

/* Runs jobs in this process until one ends it, or there are no more. *is_running: in memory that the parent has as well. */
static _Noreturn void run_kept(int file, int out, int err, volatile bool *is_running)
{
	struct job job;
	int nfaults = 0;

	while (nfaults < KEPT_NFAULTS && read_job(&job)) {
		int in = lay_down(&job, file), status;
		empty(out);
		empty(err);
		if (&gpu_nchecked)
			gpu_nchecked = 0;
		*is_running = true;
		status = run(&job, in, out, err, KEPT_LIMIT_S);
		fflush(NULL);
		*is_running = false;
		if (in != file)
			close(in);
		for (uint32_t i = 0; i < job.nenv; i++)
			nfaults += forget(job.env[i]);
		answer(W_EXITCODE(status, 0), out, err);
		free_job(&job);
	}
	_exit(nfaults < KEPT_NFAULTS ? 0 : 1);
}

static void keep_running(int file, int out, int err)
{
	volatile bool *is_running = mmap(NULL, sizeof *is_running, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	bool ended = false;
	int result;

	jobs_fd = fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3);
	answers_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
	if (is_running == MAP_FAILED || jobs_fd < 0 || answers_fd < 0)
		fatal("serve --keep");
	while (!ended) {
		pid_t pid = fork();
		if (pid < 0)
			fatal("fork");
		if (pid == 0)
			run_kept(file, out, err, is_running);
		if (waitpid(pid, &result, 0) != pid)
			fatal("waitpid");
		if (*is_running)
			answer(result, out, err);
		ended = !*is_running && WIFEXITED(result) && WEXITSTATUS(result) == 0;
		*is_running = false;
	}
}

int main(int argc, char **argv)
{
	int file = memfd_create("stdin", MFD_CLOEXEC), out = memfd_create("stdout", MFD_CLOEXEC),
	    err = memfd_create("stderr", MFD_CLOEXEC);

	if (file < 0 || out < 0 || err < 0)
		fatal("memfd_create");
	if (argc > 1 && !strcmp(argv[1], "--keep"))
		keep_running(file, out, err);
	else
		run_jobs(file, out, err);
	return 0;
}
