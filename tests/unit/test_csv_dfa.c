/* SPDX-License-Identifier: MIT
 *
 * test_csv_dfa.c - the automaton's maps, and the structural scan that finds them faster.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "csv/dfa.h"
#include "csv/rows.h"
#include "simd/simd.h"
#include "csv/record.h"
#include "tap.h"

static uint64_t seed = 20261121;

static unsigned random_below(unsigned n)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u;
	return (unsigned)(seed >> 33) % n;
}

static csv_map map_by_bytes(const char *text, size_t nbytes)
{
	csv_map map = CSV_MAP_IDENTITY;

	for (size_t i = 0; i < nbytes; i++)
		map = csv_map_compose(map, csv_map_of(csv_classify((unsigned char)text[i], ',', '"')));
	return map;
}

static void test_monoid(void)
{
	bool identity = true, associative = true, commutative = true;

	for (int a = 0; a < 256; a++) {
		identity &= csv_map_compose(CSV_MAP_IDENTITY, (csv_map)a) == a &&
			    csv_map_compose((csv_map)a, CSV_MAP_IDENTITY) == a;
		for (int b = 0; b < 256; b++) {
			csv_map ab = csv_map_compose((csv_map)a, (csv_map)b);
			commutative &= ab == csv_map_compose((csv_map)b, (csv_map)a);
			for (int c = 0; c < 256; c += 5)
				associative &=
					csv_map_compose(ab, (csv_map)c) ==
					csv_map_compose((csv_map)a,
							csv_map_compose((csv_map)b, (csv_map)c));
		}
	}
	ok(identity, "the identity map is an identity on both sides");
	ok(associative, "composition is associative");
	ok(!commutative, "and not commutative: order matters to whoever combines maps");
}

static void test_steps(void)
{
	static const struct {
		const char *text;
		enum csv_state from, to;
	} cases[] = {
		{"\"", CSV_FIELD_START, CSV_QUOTED},
		{"a\"", CSV_FIELD_START, CSV_UNQUOTED},
		{"\"\"", CSV_FIELD_START, CSV_QUOTE_SEEN},
		{"\"\"\"", CSV_FIELD_START, CSV_QUOTED},
		{"\"a,\n", CSV_FIELD_START, CSV_QUOTED},
		{"\"a\",", CSV_FIELD_START, CSV_FIELD_START},
		{"\"a\"b", CSV_FIELD_START, CSV_UNQUOTED},
		{"\"a\"b\"", CSV_FIELD_START, CSV_UNQUOTED},
		{"12\" disk\n", CSV_FIELD_START, CSV_FIELD_START},
		{"\"", CSV_UNQUOTED, CSV_UNQUOTED},
		{"\"", CSV_QUOTED, CSV_QUOTE_SEEN},
		{"\"", CSV_QUOTE_SEEN, CSV_QUOTED},
	};

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		is_int(cases[i].to,
		       csv_map_apply(map_by_bytes(cases[i].text, strlen(cases[i].text)),
				     cases[i].from),
		       "case %zu of the transition table", i);
}

/* Returns nbytes bytes of memory that end where a page without access begins. */
static char *guarded(size_t nbytes, char **page_end)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *base = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (base == MAP_FAILED || mprotect(base + page, page, PROT_NONE))
		bail("no guard page");
	*page_end = base + page;
	return *page_end - nbytes;
}

static void random_text(char *text, size_t nbytes)
{
	static const char alphabet[] = "\"\"\",\n\nab\r\x80\xff\0!#-";

	for (size_t i = 0; i < nbytes; i++)
		text[i] = alphabet[random_below(sizeof alphabet - 1)];
}

static csv_map narrow(csv_full_map map)
{
	return CSV_MAP(csv_full_map_apply(map, CSV_FIELD_START), csv_full_map_apply(map, CSV_UNQUOTED),
		       csv_full_map_apply(map, CSV_QUOTED), csv_full_map_apply(map, CSV_QUOTE_SEEN));
}

/* Returns the map that quotes_map() finds for a text of up to 5 words. */
static csv_map map_by_bitmaps(const char *text, size_t nbytes)
{
	static const struct csv_dialect dialect = {.delimiter = ',', .quote = '"'};
	uint64_t separators[8] = {0}, newlines[8] = {0}, quotes[8] = {0};
	const struct dialect_bits bits = {{separators, newlines, quotes}, NULL, NULL, NULL};
	size_t ignored;
	bool strays;

	for (size_t i = 0; i < nbytes; i++) {
		uint64_t bit = UINT64_C(1) << i % SIMD_WORD_NBYTES;
		size_t k = i / SIMD_WORD_NBYTES;
		separators[k] |= text[i] == ',' || text[i] == '\n' ? bit : 0;
		newlines[k] |= text[i] == '\n' ? bit : 0;
		quotes[k] |= text[i] == '"' ? bit : 0;
	}
	return narrow(quotes_map(&dialect, &bits, nbytes, true, &ignored, &strays));
}

static uint64_t lines_by_bytes(const char *text, size_t nbytes)
{
	uint64_t nlines = 0;

	for (size_t i = 0; i < nbytes; i++)
		nlines += text[i] == '\n';
	return nlines;
}

static void test_maps(void)
{
	char *end, *text;
	size_t nsets = 0;

	while (simd_all[nsets])
		nsets++;
	text = guarded(0, &end);
	for (size_t nbytes = 0; nbytes <= 257; nbytes++) {
		bool maps = true, lines = true;
		text = end - nbytes;
		for (int round = 0; round < 200; round++) {
			/* Uses each instruction set in turn. A failed choice keeps the last. */
			simd_choose(simd_all[round % 2 ? nsets - 1 : round / 2 % nsets]->name);
			random_text(text, nbytes);
			maps &= map_by_bitmaps(text, nbytes) == map_by_bytes(text, nbytes);
			lines &= count_lines(text, nbytes) == lines_by_bytes(text, nbytes);
		}
		ok(maps && lines, "%zu bytes up to a guard page: map %d, lines %d", nbytes, maps,
		   lines);
	}
}

int main(void)
{
	plan_lazy();
	test_monoid();
	test_steps();
	test_maps();
	return done();
}
