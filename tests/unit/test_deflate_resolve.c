/* SPDX-License-Identifier: MIT
 *
 * test_deflate_resolve.c - deflate_resolve against a loop of one line, every instruction set that
 * runs here.
 */
#include "codec/deflate.h"

#include "unit/simd_test.h"

#define WINDOW_NBYTES 32768
#define NSHORT 200
#define NLONG 100003
#define POISON 0xa5

static struct arena windows, inputs, outputs; /* each begins and ends at a page that traps */
static unsigned char *window;
static unsigned char table[65536];
static unsigned char wanted[NLONG];

/* One symbol: a marker in `percent` of 100. The first and the last of the window come often. */
static uint16_t random_symbol(unsigned percent)
{
	static const uint16_t edges[] = {0, 1, 2, 3, 32764, 32765, 32766, 32767};

	if (random_below(100) >= percent)
		return (uint16_t)random_below(256);
	return (uint16_t)(DEFLATE_MARKER + (random_below(4) ? random_below(WINDOW_NBYTES)
							     : edges[random_below(COUNT(edges))]));
}

/* The n symbols that end `lag` before the trapping page. */
static uint16_t *symbols_of(size_t n, size_t lag, unsigned percent)
{
	uint16_t *symbols = (uint16_t *)(void *)(inputs.end - 2 * lag) - n;

	for (size_t i = 0; i < n; i++)
		symbols[i] = random_symbol(percent);
	return symbols;
}

static void resolve_plainly(const uint16_t *symbols, size_t n)
{
	for (size_t i = 0; i < n; i++)
		wanted[i] = symbols[i] < DEFLATE_MARKER ? (unsigned char)symbols[i]
							: window[symbols[i] - DEFLATE_MARKER];
}

/* The output ends `lag` before the trapping page, and is not touched outside. r: NULL is the
 * function that chooses. */
static bool is_right(const struct simd_ops *r, const uint16_t *symbols, size_t n,
		     size_t lag)
{
	unsigned char *to = (unsigned char *)outputs.end - lag - n;

	resolve_plainly(symbols, n);
	memset(outputs.begin, POISON, (size_t)(outputs.end - outputs.begin));
	if (r)
		r->resolve(to, symbols, n, table);
	else
		deflate_resolve(to, symbols, n, window);
	if (memcmp(to, wanted, n) != 0)
		return false;
	for (size_t i = 0; i < lag; i++)
		if (to[n + i] != POISON)
			return false;
	for (size_t i = 1; i <= 64; i++)
		if (*(to - i) != POISON)
			return false;
	return true;
}

static void check(const struct simd_ops *r, const char *name)
{
	static const unsigned percents[] = {0, 2, 10, 25, 50, 100};
	unsigned nwrong = 0;

	for (size_t n = 0; n <= NSHORT; n++)
		for (size_t k = 0; k < COUNT(percents); k++)
			for (size_t lag = 0; lag < 3; lag++)
				nwrong += !is_right(r, symbols_of(n, lag, percents[k]), n, lag);
	is_uint(0, nwrong, "%s: 0 to %d symbols, aligned or not", name, NSHORT);
	nwrong = 0;
	for (size_t n = 1; n < 100; n++)
		for (size_t at = 0; at < n; at++) {
			uint16_t *symbols = symbols_of(n, 0, 0);
			symbols[at] = (uint16_t)(DEFLATE_MARKER + at * 331);
			nwrong += !is_right(r, symbols, n, 0);
		}
	is_uint(0, nwrong, "%s: one marker, in each place", name);
}

/* As many as deflate_resolve makes a table for. */
static void check_long(const struct simd_ops *r, const char *name)
{
	unsigned nwrong = 0;

	for (unsigned percent = 0; percent <= 100; percent += 20) {
		nwrong += !is_right(r, symbols_of(NLONG, 1, percent), NLONG, 1);
		for (size_t n = 4094; n < 4099; n++)
			nwrong += !is_right(r, symbols_of(n, 0, percent), n, 0);
	}
	is_uint(0, nwrong, "%s: many symbols", name);
}

static void check_every_symbol(void)
{
	static uint16_t symbols[256 + WINDOW_NBYTES];

	for (size_t i = 0; i < COUNT(symbols); i++)
		symbols[i] = (uint16_t)(i < 256 ? i : DEFLATE_MARKER + i - 256);
	ok(is_right(NULL, symbols, COUNT(symbols), 0), "every symbol there is");
}

int main(void)
{
	windows = arena_of(WINDOW_NBYTES);
	inputs = arena_of(2 * NLONG);
	outputs = arena_of(NLONG + 128);
	window = (unsigned char *)windows.begin;
	plan_lazy();
	for (size_t i = 0; i < WINDOW_NBYTES; i++)
		window[i] = (unsigned char)random_below(256);
	for (size_t i = 0; i < 256; i++)
		table[i] = (unsigned char)i;
	memcpy(table + DEFLATE_MARKER, window, WINDOW_NBYTES);
	for (const struct simd_ops *const *all = simd_all; *all; all++) {
		const struct simd_ops *r = *all;
		if (!simd_runs(r)) {
			skip(3, "%s: not on this machine", r->name);
			continue;
		}
		check(r, r->name);
		check_long(r, r->name);
	}
	check(NULL, "the one chosen");
	check_long(NULL, "the one chosen");
	check_every_symbol();
	return done();
}
