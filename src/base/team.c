/* SPDX-License-Identifier: MIT
 *
 * team.c - see team.h.
 */
#include "base/team.h"

#include <pthread.h>

void team_run(size_t nthreads, void *(*work)(void *context), void *context)
{
	pthread_t threads[TEAM_NTHREADS_MAX];
	size_t nstarted = 0;

	nthreads = nthreads < TEAM_NTHREADS_MAX ? nthreads : TEAM_NTHREADS_MAX;
	while (nstarted + 1 < nthreads && pthread_create(&threads[nstarted], NULL, work, context) == 0)
		nstarted++;
	work(context);
	for (size_t i = 0; i < nstarted; i++)
		pthread_join(threads[i], NULL);
}
