/* SPDX-License-Identifier: MIT
 *
 * thread.c - see thread.h.
 */
#include "base/thread.h"

#include <signal.h>

bool thread_start(pthread_t *thread, void *(*work)(void *context), void *context)
{
	sigset_t all, before;
	bool started;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	started = pthread_create(thread, NULL, work, context) == 0;
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return started;
}

void team_start(struct team *team, size_t nwanted, void *(*work)(void *context), void *context)
{
	nwanted = nwanted < TEAM_NTHREADS_MAX ? nwanted : TEAM_NTHREADS_MAX;
	while (team->nthreads < nwanted && thread_start(&team->threads[team->nthreads], work, context))
		team->nthreads++;
}

void team_join(struct team *team)
{
	while (team->nthreads > 0)
		pthread_join(team->threads[--team->nthreads], NULL);
}

void team_run(size_t nthreads, void *(*work)(void *context), void *context)
{
	struct team team = {.nthreads = 0};

	nthreads = nthreads < TEAM_NTHREADS_MAX ? nthreads : TEAM_NTHREADS_MAX;
	while (team.nthreads + 1 < nthreads && pthread_create(&team.threads[team.nthreads], NULL, work, context) == 0)
		team.nthreads++;
	work(context);
	team_join(&team);
}
