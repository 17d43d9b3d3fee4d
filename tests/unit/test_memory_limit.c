/* SPDX-License-Identifier: MIT
 *
 * test_memory_limit.c - limits of memory, read from made-up folders, and what threads take of one.
 */
#include "base/machine.h"

#include <pthread.h>
#include <sys/resource.h>

#include "made_up_root.h"

#define NFILES 3

static const struct {
	const char *name;
	const char *cgroup;           /* /proc/self/cgroup */
	const char *files[NFILES][2]; /* below /sys/fs/cgroup: path, text */
	uint64_t usable;              /* 0: no group says how much */
} cases[] = {
	{"no files at all", "0::/a\n", {{0}}, 0},
	{"an empty list of groups", "", {{"memory.max", "4096\n"}}, 0},
	{"v2: max", "0::/a\n", {{"a/memory.max", "max\n"}}, 0},
	{"v2: a number", "0::/a\n", {{"a/memory.max", "1048576\n"}}, 1048576},
	{"v2: a parent's is less", "0::/a/b\n", {{"a/b/memory.max", "8192\n"}, {"a/memory.max", "4096\n"}}, 4096},
	{"v2: a parent's is more", "0::/a/b\n", {{"a/b/memory.max", "8192\n"}, {"a/memory.max", "9000\n"}}, 8192},
	{"v2: as seen in a container", "0::/far/away\n", {{"memory.max", "8192\n"}}, 8192},
	{"v2: a sibling's does not count", "0::/a/b\n", {{"a/c/memory.max", "8192\n"}}, 0},
	{"v2 beside v1", "4:memory:/\n0::/a\n", {{"unified/a/memory.max", "8192\n"}}, 8192},
	{"v1: no limit", "4:memory:/a\n", {{"memory/a/memory.limit_in_bytes", "9223372036854771712\n"}}, 0},
	{"v1: a number", "4:cpu:/b\n3:memory:/a\n", {{"memory/a/memory.limit_in_bytes", "8192\n"}}, 8192},
	{"v1: with another controller", "3:hugetlb,memory:/a\n", {{"memory/a/memory.limit_in_bytes", "8192\n"}}, 8192},
	{"v1: a controller of another name", "3:memory2:/a\n", {{"memory/a/memory.limit_in_bytes", "8192\n"}}, 0},
	{"v1: as seen in a container", "3:memory:/far/away\n", {{"memory/memory.limit_in_bytes", "8192\n"}}, 8192},
	{"both: the least", "3:memory:/a\n0::/\n",
	 {{"memory/a/memory.limit_in_bytes", "8192\n"}, {"memory.max", "4096\n"}}, 4096},
};

static void check_case(size_t i, uint64_t all)
{
	char path[PATH_MAX];

	put("proc/self/cgroup", cases[i].cgroup);
	for (size_t k = 0; k < NFILES && cases[i].files[k][0]; k++) {
		snprintf(path, sizeof path, "sys/fs/cgroup/%s", cases[i].files[k][0]);
		put(path, cases[i].files[k][1]);
	}
	ok(memory_usable_nbytes(root) == (cases[i].usable ? cases[i].usable : all), "%s", cases[i].name);
	forget_all();
}

static void check_space(uint64_t all)
{
	struct rlimit had, less;

	if (getrlimit(RLIMIT_AS, &had))
		bail("getrlimit");
	less = had;
	less.rlim_cur = (rlim_t)(all / 2);
	if (setrlimit(RLIMIT_AS, &less)) {
		skip(1, "setrlimit fails");
		return;
	}
	ok(memory_usable_nbytes(root) == all / 2, "RLIMIT_AS counts");
	setrlimit(RLIMIT_AS, &had);
}

#define NTAKES 100000

/* Takes 3 bytes and gives 2 back, many times. Returns how many bytes it has then. */
static void *take_and_give(void *unused)
{
	uintptr_t had = 0;

	(void)unused;
	for (int i = 0; i < NTAKES; i++) {
		if (!memory_take(3))
			continue;
		memory_give(2);
		had++;
	}
	return (void *)had;
}

static void check_threads(void)
{
	pthread_t threads[4];
	uint64_t sum = 0;
	void *had;

	memory_limit_set(3 * NTAKES);
	for (int i = 0; i < 4; i++)
		if (pthread_create(&threads[i], NULL, take_and_give, NULL))
			bail("no thread");
	for (int i = 0; i < 4; i++) {
		pthread_join(threads[i], &had);
		sum += (uintptr_t)had;
	}
	ok(sum <= 3 * NTAKES && memory_was_refused(), "threads together take no more than the limit");
	ok(memory_take(3 * NTAKES - sum), "and all that is left may be taken");
	ok(!memory_take(1), "but no more");
	memory_give(3 * NTAKES);
}

int main(void)
{
	uint64_t all;

	plan_lazy();
	if (!mkdtemp(root))
		bail("mkdtemp: %s", strerror(errno));
	all = memory_usable_nbytes(root);
	ok(all > 0 && all < UINT64_MAX, "the machine has memory");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		check_case(i, all);
	check_space(all);
	ok(memory_limit_nbytes() >= memory_usable_nbytes("") / 2, "half of it by default");
	memory_limit_set(100);
	ok(memory_take(60) && memory_take(40), "the limit can be taken");
	ok(!memory_was_refused() && !memory_take(1) && memory_was_refused(), "beyond it is refused");
	memory_give(1);
	ok(!memory_take(2) && memory_take(1), "given back, it can be taken again");
	ok(!memory_take(UINT64_MAX), "nothing wraps");
	memory_give(100);
	check_threads();
	rmdir(root);
	return done();
}
