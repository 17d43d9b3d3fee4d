/* SPDX-License-Identifier: MIT
 *
 * test_group_source.c - groups that are printed from a source (fold/groups.h), as a device has them, against the same
 * groups printed from the run's store. The source here is memory of the host.
 */
#include <fcntl.h>
#include <unistd.h>

#include "fold/group_order.h"
#include "fold/groups.h"
#include "io/output.h"
#include "run/run.h"
#include "tap.h"

#define NRECORDS 60000
#define NKEYS 45000 /* of which 38,396 come, in one of two forms: three blocks of a source, the last one short */
#define NCOLUMNS_MAX 4
#define NO_BLOCK SIZE_MAX

static char input_path[] = "/tmp/test_group_source.XXXXXX";

/* ---- a source in memory ---- */

struct memory_source {
	struct group_source source;
	struct group_layout layout;
	uint32_t scales[NCOLUMNS_MAX];
	uint64_t *words;
	size_t *begins; /* of each block */
	size_t failing; /* block that cannot be read */
};

/* Words belong to the reader until its next call, so they are its own, and gone then. */
struct group_reader {
	const struct memory_source *of;
	uint64_t *words;
};

static enum status reader_open(const struct group_source *s, struct group_reader **out, struct fault *fault)
{
	(void)fault;
	*out = calloc(1, sizeof **out);
	if (!*out)
		bail("out of memory");
	(*out)->of = (const struct memory_source *)s;
	return STATUS_OK;
}

static enum status reader_read(struct group_reader *r, size_t block, uint64_t **words, struct fault *fault)
{
	const size_t *begins = &r->of->begins[block];
	size_t nbytes = (begins[1] - begins[0]) * sizeof *r->words;

	if (block == r->of->failing)
		return fault_set(fault, STATUS_GPU, 0, "an unreadable block");
	free(r->words);
	r->words = malloc(nbytes);
	if (!r->words)
		bail("out of memory");
	*words = memcpy(r->words, r->of->words + begins[0], nbytes);
	return STATUS_OK;
}

static void reader_close(struct group_reader *r)
{
	free(r->words);
	free(r);
}

static void source_free(struct group_source *s)
{
	struct memory_source *m = (struct memory_source *)s;

	free(m->words);
	free(m->begins);
	free(m);
}

static const struct group_source_ops memory_ops = {reader_open, reader_read, reader_close, source_free};

/* Makes a source of all groups of the plan. Numbers have two digits behind the point at most. */
static struct memory_source *make_source(const struct plan *plan)
{
	struct memory_source *m = calloc(1, sizeof *m);
	struct group_list list;
	size_t n = 0;

	if (!m || !group_layout_make(&m->layout, plan) || group_list_make(plan->groups, 1, &list) != STATUS_OK)
		bail("no source");
	for (size_t c = 0; c < NCOLUMNS_MAX; c++)
		m->scales[c] = 2;
	m->words = malloc((list.n * (m->layout.nwords + 4) + group_words_most(&m->layout)) * sizeof *m->words);
	m->begins = calloc(list.n / GROUP_SOURCE_NGROUPS + 2, sizeof *m->begins);
	for (size_t i = 0; i < list.n; i++) {
		size_t nwords = group_words_put(group_list_at(&list, i), plan, &m->layout, m->scales, m->words + n);
		if (nwords == 0)
			bail("a group does not fit in words");
		n += nwords;
		m->begins[i / GROUP_SOURCE_NGROUPS + 1] = n;
	}
	m->source = (struct group_source){&memory_ops, &m->layout, m->scales, list.n};
	m->failing = NO_BLOCK;
	group_list_free(&list);
	return m;
}

/* ---- printing ---- */

static void make_input(void)
{
	int fd = mkstemp(input_path);
	FILE *to = fd < 0 ? NULL : fdopen(fd, "w");
	uint64_t x = 88172645463325252;

	if (!to)
		bail("no temporary file");
	fprintf(to, "key,n,m\n");
	for (int i = 0; i < NRECORDS; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		fprintf(to, x % 7 ? "k%d,%d.%02d,%d\n" : "\"a long key, and quoted %d\",%d.%02d,%d\n", (int)(x % NKEYS),
			(int)(x >> 40 & 1023), (int)(x >> 50 & 63), (int)(x >> 32 & 255));
	}
	if (fclose(to) != 0)
		bail("cannot write");
}

/* Prints the run's groups. Returns what was printed, malloc's and ending in a NUL. */
static char *print(struct run *r, enum status *status, struct fault *fault)
{
	char path[] = "/tmp/test_group_source.XXXXXX", *text;
	int fd = mkstemp(path), stdout_fd = dup(STDOUT_FILENO);
	off_t nbytes;

	fflush(stdout);
	if (fd < 0 || unlink(path) != 0 || stdout_fd < 0 || dup2(fd, STDOUT_FILENO) < 0)
		bail("no temporary file");
	*status = group_result_print(&r->query, &r->total.partial, NULL, &r->groups, fault);
	fflush(output_stream());
	dup2(stdout_fd, STDOUT_FILENO);
	close(stdout_fd);
	nbytes = lseek(fd, 0, SEEK_END);
	text = calloc(1, (size_t)nbytes + 1);
	if (!text || pread(fd, text, (size_t)nbytes, 0) != nbytes)
		bail("cannot read what was printed");
	close(fd);
	return text;
}

static size_t count_rows(const char *text)
{
	size_t n = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

/* Whether a failure of one block lets the rows before it be printed and no others: none, if all are sorted before. */
static void test_failure(struct run *r, struct memory_source *m, size_t block, const char *all, const char *words)
{
	size_t nlines = r->groups.sort.n ? 0 : 1 + block * GROUP_SOURCE_NGROUPS;
	enum status status;
	struct fault fault;
	char *text;

	m->failing = block;
	text = print(r, &status, &fault);
	ok(status == STATUS_GPU && !strcmp(fault.detail, "an unreadable block"), "%s: block %zu fails", words, block);
	ok(count_rows(text) == nlines && !strncmp(text, all, strlen(text)), "%s: rows before it are right", words);
	m->failing = NO_BLOCK;
	free(text);
}

static void test_request(const char *words, int argc, const char *const *args)
{
	const char *argv[12] = {"gpustat", "--device=cpu", "--by=key"};
	struct run r = {.all_ended = true};
	struct memory_source *m;
	struct fault fault;
	enum status status;
	char *wanted, *seen;

	memcpy(argv + 3, args, (size_t)argc * sizeof *args);
	argv[3 + argc] = input_path;
	if (options_parse(&r.options, 4 + argc, (char **)argv, &fault) != STATUS_OK || run_open_input(&r, &fault) != STATUS_OK ||
	    run_fold_input(&r, &fault) != STATUS_OK)
		bail("%s: cannot run", words);
	wanted = print(&r, &status, &fault);
	ok(status == STATUS_OK && strlen(wanted) > 50, "%s: from the store", words);
	m = make_source(&r.query.plan);
	group_store_set_source(r.query.plan.groups, &m->source);
	seen = print(&r, &status, &fault);
	ok(status == STATUS_OK && !strcmp(seen, wanted), "%s: the same from a source", words);
	if (r.groups.top == 0 || r.groups.sort.n)
		test_failure(&r, m, 1, wanted, words);
	run_free(&r);
	free(wanted);
	free(seen);
}

#define TEST(...)                                                                            \
	test_request(#__VA_ARGS__, (int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *)), \
		     (const char *[]){__VA_ARGS__})

int main(void)
{
	plan_lazy();
	make_input();
	TEST("--sum=n", "--threads=1");
	TEST("--sum=n", "--mean=m", "--threads=3");
	TEST("--count=n", "--max=n", "--format=tsv", "--threads=3");
	TEST("--sum=n", "--stddev=n", "--threads=3");
	TEST("--sum=n", "--top=5");
	TEST("--sum=n", "--top=20000", "--threads=3");
	TEST("--sum=n", "--sort=-sum", "--top=10", "--threads=3");
	TEST("--sum=n", "--sort=-sum", "--threads=2");
	TEST("--sum=n", "--min=m", "--sort=key", "--top=100", "--threads=2");
	TEST("--stddev=m", "--sort=-stddev", "--top=3000", "--threads=3");
	unlink(input_path);
	return done();
}
