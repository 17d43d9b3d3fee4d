/* SPDX-License-Identifier: MIT
 *
 * test_cores.c - limits of control groups, read from made-up folders.
 */
#include "base/machine.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>

#include "made_up_root.h"

#define NFILES 5

static const struct {
	const char *name;
	const char *cgroup;             /* /proc/self/cgroup */
	const char *files[NFILES][2];   /* below /sys/fs/cgroup: path, text */
	int granted;
} cases[] = {
	{"no files at all", "0::/a\n", {{0}}, INT_MAX},
	{"an empty list of groups", "", {{"cpu.max", "100000 100000\n"}}, INT_MAX},
	{"lines that are none", "a\n0:\n:\n", {{"cpu.max", "100000 100000\n"}}, INT_MAX},
	{"v2: max", "0::/a\n", {{"a/cpu.max", "max 100000\n"}}, INT_MAX},
	{"v2: two cores", "0::/a\n", {{"a/cpu.max", "200000 100000\n"}}, 2},
	{"v2: one and a half", "0::/a\n", {{"a/cpu.max", "150000 100000\n"}}, 2},
	{"v2: a tenth of one", "0::/a\n", {{"a/cpu.max", "10000 100000\n"}}, 1},
	{"v2: one microsecond more than 3", "0::/a\n", {{"a/cpu.max", "300001 100000\n"}}, 4},
	{"v2: another period", "0::/a\n", {{"a/cpu.max", "75000 25000\n"}}, 3},
	{"v2: no line end", "0::/a", {{"a/cpu.max", "200000 100000"}}, 2},
	{"v2: a parent's is less", "0::/a/b/c\n",
	 {{"a/b/c/cpu.max", "400000 100000\n"}, {"a/b/cpu.max", "max 100000\n"},
	  {"a/cpu.max", "300000 100000\n"}}, 3},
	{"v2: a parent's is more", "0::/a/b\n",
	 {{"a/b/cpu.max", "200000 100000\n"}, {"a/cpu.max", "300000 100000\n"}}, 2},
	{"v2: only the topmost", "0::/a/b\n", {{"cpu.max", "500000 100000\n"}}, 5},
	{"v2: at the top", "0::/\n", {{"cpu.max", "500000 100000\n"}}, 5},
	{"v2: a sibling's does not count", "0::/a/b\n", {{"a/c/cpu.max", "100000 100000\n"}}, INT_MAX},
	{"v2: a path as seen from outside", "0::/far/away\n", {{"cpu.max", "200000 100000\n"}}, 2},
	{"v2: a path that leads out", "0::/../../a\n",
	 {{"cpu.max", "200000 100000\n"}, {"a/cpu.max", "100000 100000\n"}}, 2},
	{"v2: no period", "0::/a\n", {{"a/cpu.max", "200000\n"}}, INT_MAX},
	{"v2: a period of 0", "0::/a\n", {{"a/cpu.max", "200000 0\n"}}, INT_MAX},
	{"v2: a quota of 0", "0::/a\n", {{"a/cpu.max", "0 100000\n"}}, INT_MAX},
	{"v2: no number", "0::/a\n", {{"a/cpu.max", "nan inf\n"}}, INT_MAX},
	{"v2: more than fits", "0::/a\n", {{"a/cpu.max", "99999999999999999999 1\n"}}, INT_MAX},
	{"v1: not read", "9:memory:/x\n4:cpu,cpuacct:/a\n",
	 {{"cpu,cpuacct/a/cpu.cfs_quota_us", "250000\n"},
	  {"cpu,cpuacct/a/cpu.cfs_period_us", "100000\n"}}, INT_MAX},
	{"both: v2 counts", "4:cpu:/a\n0::/b\n",
	 {{"cpu/a/cpu.cfs_quota_us", "700000\n"}, {"cpu/a/cpu.cfs_period_us", "100000\n"},
	  {"b/cpu.max", "600000 100000\n"}}, 6},
};

static void check_case(size_t i)
{
	char path[PATH_MAX];

	put("proc/self/cgroup", cases[i].cgroup);
	for (size_t k = 0; k < NFILES && cases[i].files[k][0]; k++) {
		snprintf(path, sizeof path, "sys/fs/cgroup/%s", cases[i].files[k][0]);
		put(path, cases[i].files[k][1]);
	}
	is_int(cases[i].granted, cores_granted(root), "%s", cases[i].name);
	forget_all();
}

static int first_of(const cpu_set_t *set)
{
	int i = 0;

	while (i + 1 < CPU_SETSIZE && !CPU_ISSET(i, set))
		i++;
	return i;
}

static void unlink_list(void)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s/cpulist", root);
	unlink(path);
}

/* Returns the number of cores that the thread may use after cores_keep_to(). */
static void *keep_to(void *list)
{
	cpu_set_t set;

	put("cpulist", list);
	cores_keep_to(root, "cpulist");
	if (sched_getaffinity(0, sizeof set, &set))
		bail("sched_getaffinity: %s", strerror(errno));
	return (void *)(intptr_t)CPU_COUNT(&set);
}

static int count_kept(const char *list)
{
	pthread_t thread;
	void *count;

	if (pthread_create(&thread, NULL, keep_to, (void *)list) || pthread_join(thread, &count))
		bail("no thread");
	return (int)(intptr_t)count;
}

/* first: a core that this process may use; nallowed: the number of such cores. */
static void check_keep_to(int first, int nallowed)
{
	static const char *const strange[] = {"", "\n", "x", "-", "1023\n", ",", "99999999999999999999\n"};
	char list[64];

	snprintf(list, sizeof list, "%d\n", first);
	is_int(1, count_kept(list), "kept to one core");
	snprintf(list, sizeof list, "1020-1022,%d", first);
	is_int(1, count_kept(list), "kept to one core, the others are not here");
	is_int(nallowed, count_kept("0-1023\n"), "kept to all of them");
	is_int(nallowed, count_kept("0-5,6-99999999999\n"), "kept to more than there can be");
	for (size_t i = 0; i < sizeof strange / sizeof *strange; i++)
		is_int(nallowed, count_kept(strange[i]), "left alone, list %zu", i);
	unlink_list();
	cores_keep_to(root, "cpulist"); /* not there */
}

static void check_count(void)
{
	cpu_set_t all, one;
	int ncores = cores_count(), granted = cores_granted("");

	if (sched_getaffinity(0, sizeof all, &all))
		bail("sched_getaffinity: %s", strerror(errno));
	ok(ncores >= 1 && ncores <= granted && ncores <= CPU_COUNT(&all), "as many as may be used");
	CPU_ZERO(&one);
	CPU_SET(first_of(&all), &one);
	check_keep_to(first_of(&all), CPU_COUNT(&all));
	if (sched_setaffinity(0, sizeof one, &one))
		bail("sched_setaffinity: %s", strerror(errno));
	is_int(1, cores_count(), "bound to one core");
}

int main(void)
{
	plan_lazy();
	if (!mkdtemp(root))
		bail("mkdtemp: %s", strerror(errno));
	is_int(INT_MAX, cores_granted(root), "an empty root");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check_case(i);
	check_count();
	rmdir(root);
	return done();
}
