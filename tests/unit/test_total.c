/* SPDX-License-Identifier: MIT
 *
 * test_total.c - records cut by chunk borders: every chunking of a text folds the same.
 *
 * Each text goes through worker_cpu and total_add as one chunk, then cut in two at every
 * byte, then in chunks of every small size; the totals must agree.
 */
#include "tap.h"
#include "engine/total.h"
#include "engine/worker.h"

static struct plan_column columns[] = {
	{.field = 0, .name = "a", .needs = MOMENTS_FUSED, .parses = true, .invalid = INVALID_SKIP},
	{.field = 2, .name = "c", .needs = MOMENTS_FUSED, .parses = true, .invalid = INVALID_SKIP},
};
static const struct plan test_plan = {.dialect = {.delimiter = ',', .quote = '"'},
				      .notation = {.decimal = '.'}, .ragged = {.nfields = 3},
				      .bad_record = INVALID_SKIP, .where = PREDICATE_NONE,
				      .ncolumns = 2, .columns = columns};

static const char *const texts[] = {
	"",
	"1,2,3\n",
	"1,2,3",
	"1,x,2\n3,y,4\n",
	"1,x,2\r\n3,y,4\r\n",
	"1,x,2\r\n3,y,4\r",
	"1,\"x\ny\",2\n3,\"p,q\",4\n",
	"1,\"x\"\"\n,9\n\"\"y\",2\n\"3\",\"\",\"4\"\n",
	"\n\n1,x,2\n\r\n\n3,y,4\n\n",
	"1,12\" disk,2\n3,a\"b\"c,4\n",
	"\"15\",x,\"2\"\"\"\r\n3,\"y\"\"z\",\"4\"\r\n",
	"1,x\n3,y,4\n5\n6,7,8\n",
	"1,x,2,more,\"and\nmore\"\n3,y,4,,\n",
	"1,x,2,\n3,y,4,\r\n5,x,6,7\n8,y,9,\n1,2\n3,x,4,5\n6,y\n",
	"abc,x,1e300\n,y,\n1e-300,,12345678901234567890\n",
	",,\n,,\n",
	"\"\"\"\",\"\n\n\n\",\"5\n\"\n1,2,3\n",
};

/* Feeds text to total as chunks of the given size, the first one of another. */
static enum status feed(struct total *t, const char *text, size_t first, size_t size,
			struct fault *fault)
{
	struct chunk_entry entry = {CSV_FIELD_START, false, false};
	struct worker *w;
	struct partial partial;
	struct chunk_output output = {0};
	size_t at = 0, nbytes = strlen(text);
	struct chunk c = {.first_of_file = true, .first_line = 1};
	enum status status = STATUS_OK;

	if (worker_cpu.open(&w, t->plan, &(struct worker_setup){.chunk_nbytes = nbytes + 1}, fault) ||
	    partial_init(&partial, t->plan))
		bail("out of memory");
	c.data = worker_cpu.buffer(w);
	for (; status == STATUS_OK && !c.last_of_file; c.first_of_file = false, c.index++) {
		size_t wanted = c.first_of_file ? first : size;
		struct chunk_map map;
		c.nbytes = nbytes - at < wanted ? nbytes - at : wanted;
		memcpy(c.data, text + at, c.nbytes);
		at += c.nbytes;
		c.last_of_file = at == nbytes;
		partial_clear(&partial);
		if (worker_cpu.map(w, &c, &map, fault) ||
		    worker_cpu.fold(w, &c, entry, &partial, fault))
			bail("out of memory");
		status = total_add(t, &c, map.nlines, &partial, &output, fault);
		if (c.nbytes > 0)
			entry = chunk_entry_after(map.map, c.data[c.nbytes - 1] == '\n', entry);
	}
	partial_free(&partial);
	chunk_output_free(&output);
	worker_cpu.close(w);
	return status;
}

static bool same_column(const struct column_partial *a, const struct column_partial *b)
{
	struct number_sums x, y;

	numbers_get(&a->numbers, &x);
	numbers_get(&b->numbers, &y);
	if (x.count != y.count || a->nmissing != b->nmissing || a->ninvalid != b->ninvalid ||
	    a->kind != b->kind)
		return false;
	return x.count == 0 ||
	       (x.scale == y.scale && !exact_compare(&x.sum, &y.sum) &&
		!exact_compare(&x.min, &y.min) && !exact_compare(&x.max, &y.max));
}

static bool same_note(const struct note *a, const struct note *b)
{
	if (!a || !b)
		return a == b;
	return a->status == b->status && a->line == b->line &&
	       a->detail_nbytes == b->detail_nbytes &&
	       !memcmp(a->text, b->text, strlen(a->text) + 1 + a->detail_nbytes);
}

static bool same_total(const struct total *a, const struct total *b)
{
	return a->partial.nragged == b->partial.nragged &&
	       a->partial.nrecords == b->partial.nrecords && a->line == b->line &&
	       same_note(a->notes[NOTE_RAGGED], b->notes[NOTE_RAGGED]) &&
	       same_note(total_note_of_values(a, 0), total_note_of_values(b, 0)) &&
	       same_note(total_note_of_values(a, 1), total_note_of_values(b, 1)) &&
	       same_column(&a->partial.columns[0], &b->partial.columns[0]) &&
	       same_column(&a->partial.columns[1], &b->partial.columns[1]);
}

/* Whether chunks of these sizes give the same total as one chunk. */
static bool agrees(const struct total *whole, const char *text, size_t first, size_t size)
{
	struct total t;
	struct fault fault;
	bool same;

	if (total_init(&t, whole->plan))
		bail("out of memory");
	same = feed(&t, text, first, size, &fault) == STATUS_OK && same_total(whole, &t);
	total_free(&t);
	return same;
}

static void test_text(size_t i, const struct plan *plan)
{
	struct total whole;
	struct fault fault;
	size_t nbytes = strlen(texts[i]);
	bool halves = true, sizes = true;

	if (total_init(&whole, plan))
		bail("out of memory");
	is_int(STATUS_OK, feed(&whole, texts[i], nbytes, nbytes, &fault), "text %zu in one chunk", i);
	for (size_t cut = 0; cut <= nbytes; cut++)
		halves &= agrees(&whole, texts[i], cut, nbytes + 1);
	for (size_t size = 1; size <= 9; size++)
		sizes &= agrees(&whole, texts[i], size, size);
	ok(halves, "text %zu cut in two at every byte", i);
	ok(sizes, "text %zu in chunks of 1 to 9 bytes", i);
	total_free(&whole);
}

/* A value known to be wrong must show: the comparison above can fail. */
static void test_canary(void)
{
	struct total whole;
	struct fault fault;

	if (total_init(&whole, &test_plan))
		bail("out of memory");
	feed(&whole, "1,x,2\n", 6, 6, &fault);
	ok(!agrees(&whole, "1,x,3\n", 7, 7), "another text has another total");
	total_free(&whole);
}

static void test_faults(void)
{
	static const struct {
		const char *text;
		enum status status;
		uint64_t line;
	} cases[] = {
		{"1,x,2\n3,y,z\n", STATUS_NOT_A_NUMBER, 2},
		{"1,\"\n\n\",2\n3,\"\n\",bad\n", STATUS_NOT_A_NUMBER, 5},
		{"1,x,2\n3,y\n", STATUS_RAGGED, 2},
		{"1,x,2\n3,\"\n\",4,5\n6,y,z\n", STATUS_RAGGED, 2},
		{"1,x,2\n3,y,z\n3,y,4,5\n", STATUS_NOT_A_NUMBER, 2},
		{"1,x,2,\n3,y,4,,\n", STATUS_RAGGED, 2},
		{"1,x,2\n\n3,\"y\n\n", STATUS_OPEN_QUOTE, 3},
		{"1,\"x\n\"y,2\n3,y,4\n", STATUS_STRAY_QUOTE, 2},
		{"1,x,2\nbad,\"y\" ,4\n", STATUS_BLANK_QUOTE, 2},
		{"1,x,2\n3,y\n4,\"y\"\r", STATUS_RAGGED, 2},
		{"1,x,2\n3,y,1e500\n", STATUS_OUT_OF_RANGE, 2},
	};

	struct plan strict = test_plan;

	columns[0].invalid = columns[1].invalid = strict.bad_record = INVALID_ERROR;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		for (size_t size = 1; size <= strlen(cases[i].text); size++) {
			struct total t;
			struct fault fault;
			if (total_init(&t, &strict))
				bail("out of memory");
			is_int(cases[i].status, feed(&t, cases[i].text, size, size, &fault),
			       "fault %zu in chunks of %zu bytes", i, size);
			is_uint(cases[i].line, fault.line, "and its line");
			total_free(&t);
		}
	}
}

/* Records of 2, 3 and 4 fields where 3 are expected: how many are taken and counted by each policy. */
static void test_policies(void)
{
	static const struct {
		enum ragged_policy policy;
		uint64_t nrecords, nragged, nmissing;
	} cases[] = {
		{RAGGED_ERROR, 2, 3, 0},
		{RAGGED_EXTRA, 3, 2, 0},
		{RAGGED_ALLOW, 5, 0, 2},
		{RAGGED_COUNT, 5, 3, 2},
	};
	static const char text[] = "1,x,2\n1,x\n1,x,2,\n1,x,2,3\n\n1\n";
	struct plan plan = test_plan;

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct total t;
		struct fault fault;
		plan.ragged.policy = cases[i].policy;
		if (total_init(&t, &plan))
			bail("out of memory");
		is_int(STATUS_OK, feed(&t, text, 100, 100, &fault), "policy %zu", i);
		is_uint(cases[i].nrecords, t.partial.nrecords, "the records taken");
		is_uint(cases[i].nragged, t.partial.nragged, "the records counted");
		is_uint(cases[i].nmissing, t.partial.columns[1].nmissing, "what they lack");
		total_free(&t);
	}
}

int main(void)
{
	struct plan plan = test_plan;

	plan_lazy();
	for (int policy = RAGGED_ERROR; policy <= RAGGED_COUNT; policy++) {
		plan.ragged.policy = (enum ragged_policy)policy;
		for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
			test_text(i, &plan);
	}
	test_canary();
	test_policies();
	test_faults();
	return done();
}
