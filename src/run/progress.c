/* SPDX-License-Identifier: MIT
 *
 * progress.c - shows how far the run is: see run.h.
 */
#include "run/run.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fd.h"
#include "base/thread.h"
#include "engine/engine.h"
#include "io/message.h"
#include "run/progress_line.h"

#define FIRST_MS 1000
#define REWRITE_MS 500
#define WHOLE_LINE_MS 1000 /* where each line stays */
#define SHORT_NBYTES 65536
#define SMOOTH_S 3.0       /* of so many seconds the speed is the mean, about */

/* What was counted at some time. */
struct sample {
	double at_s;
	uint64_t nbytes, done;
};

static struct {
	bool begun, rewrites;
	double begin_s;
	pthread_t thread;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t changed;
	bool ended;
	unsigned pass;
	double pass_begin_s;
	uint64_t all;
	const struct device_choice *devices;
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER, .all = UINT64_MAX};

/* ---- what is shown ---- */

/* The speeds of one pass, as far as it is. */
struct speeds {
	unsigned pass;
	struct sample last;
	double nbytes, done; /* a second */
};

/* The text's bytes are those that the workers have begun with. A slow pipe fills no chunk for a while: then
 * those that were read. */
static struct sample take_sample(void)
{
	struct sample s = {clock_s(), engine_nbytes_begun, fd_nbytes_read};

	s.nbytes = s.nbytes > s.done ? s.nbytes : s.done;
	return s;
}

/* Under the lock. Takes a sample; a pass begins with none. */
static void update_speeds(struct speeds *s, const struct sample *now)
{
	bool is_first = s->last.at_s == 0 || s->pass != progress.pass;
	double passed_s, weight;

	if (is_first)
		*s = (struct speeds){.pass = progress.pass, .last.at_s = progress.pass_begin_s};
	passed_s = now->at_s - s->last.at_s;
	if (passed_s <= 0)
		return;
	weight = is_first ? 1 : passed_s / (passed_s + SMOOTH_S);
	if (now->nbytes < s->last.nbytes || now->done < s->last.done)
		s->last.nbytes = s->last.done = 0; /* the counters were just cleared */
	s->nbytes += weight * ((double)(now->nbytes - s->last.nbytes) / passed_s - s->nbytes);
	s->done += weight * ((double)(now->done - s->last.done) / passed_s - s->done);
	s->last = *now;
}

/* ---- when ---- */

static void add_ms(struct timespec *t, long ms)
{
	t->tv_nsec += ms % 1000 * 1000000;
	t->tv_sec += ms / 1000 + t->tv_nsec / 1000000000;
	t->tv_nsec %= 1000000000;
}

/* Under the lock: waits until `when`. Returns whether it is over. */
static bool wait_until(const struct timespec *when)
{
	while (!progress.ended && pthread_cond_timedwait(&progress.changed, &progress.lock, when) == 0)
		;
	return progress.ended;
}

static void *thread_main(void *argument)
{
	struct speeds speeds = {0};
	struct timespec next;

	(void)argument;
	clock_gettime(CLOCK_MONOTONIC, &next);
	add_ms(&next, FIRST_MS);
	pthread_mutex_lock(&progress.lock);
	while (!wait_until(&next)) {
		char text[PROGRESS_LINE_NBYTES], names[PROGRESS_LINE_NBYTES / 2] = "";
		struct sample now = take_sample();
		struct progress_state state = {progress.pass, now.nbytes, now.done, progress.all,
					       now.at_s - progress.begin_s, 0, 0, names};
		update_speeds(&speeds, &now);
		state.speed = speeds.nbytes;
		state.done_speed = speeds.done;
		if (progress.devices)
			devices_at_work(progress.devices, names, sizeof names);
		progress_line(text, &state);
		message_line(text, progress.rewrites);
		clock_gettime(CLOCK_MONOTONIC, &next); /* not from the last time: it may have been stopped */
		add_ms(&next, progress.rewrites ? REWRITE_MS : WHOLE_LINE_MS);
	}
	pthread_mutex_unlock(&progress.lock);
	return NULL;
}

/* ---- where ---- */

static bool reads_terminal(const struct options *o)
{
	for (int i = 0; i < o->npaths; i++)
		if (!strcmp(o->paths[i], "-"))
			return isatty(STDIN_FILENO);
	return false;
}

/* Whether records go to a terminal, or to a pipe, at whose end a pager may be. */
static bool writes_terminal(const struct options *o)
{
	struct stat out;

	return o->emits && (isatty(STDOUT_FILENO) ||
			    (fstat(STDOUT_FILENO, &out) == 0 && S_ISFIFO(out.st_mode)));
}

/* Whether the input takes less than a second whatever is asked: not even a thread is started then, which would
 * add a twentieth to the run's time (1.0 ms, 2 cores, 2026-11-23). */
static bool is_short(const struct options *o)
{
	off_t nbytes = 0;
	struct stat in;

	for (int i = 0; i < o->npaths; i++) {
		bool is_stdin = !strcmp(o->paths[i], "-");
		if ((is_stdin ? fstat(STDIN_FILENO, &in) : stat(o->paths[i], &in)) != 0 ||
		    !S_ISREG(in.st_mode) || (nbytes += in.st_size) >= SHORT_NBYTES)
			return false;
	}
	return true;
}

void progress_begin(const struct options *o)
{
	pthread_condattr_t attributes;
	bool is_free = o->progress != PROGRESS_NEVER && message_can_rewrite() &&
		       !reads_terminal(o) && !writes_terminal(o);

	if (o->progress == PROGRESS_NEVER || (o->progress == PROGRESS_AUTO && !is_free) || is_short(o))
		return;
	progress.rewrites = is_free;
	progress.begin_s = progress.pass_begin_s = clock_s();
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&progress.changed, &attributes);
	pthread_condattr_destroy(&attributes);
	message_line_begin();
	progress.begun = thread_start(&progress.thread, thread_main, NULL);
}

void progress_pass(uint64_t all_nbytes, const struct device_choice *devices)
{
	if (!progress.begun)
		return;
	pthread_mutex_lock(&progress.lock);
	progress.all = all_nbytes;
	progress.devices = devices;
	progress.pass++;
	progress.pass_begin_s = clock_s();
	pthread_mutex_unlock(&progress.lock);
	message_line_begin();
}

void progress_pass_end(void)
{
	pthread_mutex_lock(&progress.lock);
	progress.devices = NULL;
	pthread_mutex_unlock(&progress.lock);
}

void progress_end(void)
{
	if (!progress.begun)
		return;
	pthread_mutex_lock(&progress.lock);
	progress.ended = true;
	pthread_cond_signal(&progress.changed);
	pthread_mutex_unlock(&progress.lock);
	pthread_join(progress.thread, NULL);
	progress.begun = false;
	message_line_end();
}
