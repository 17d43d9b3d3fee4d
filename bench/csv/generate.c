/* SPDX-License-Identifier: MIT
 *
 * generate.c - makes the CSV of `make bench`, at some 500 MB/s; and reads a pipe without any work,
 * as a limit for the other programs.
 *
 *     generate KIND NBYTES [SEED] > out.csv
 *     generate --read < file, cat file | generate --read[=PIPE_NBYTES]
 *
 * KIND is logs, narrow, wide, broad, ledger, floats, keys or stations: see the table KINDS. The same three
 * arguments make the same bytes on any machine: a header and whole records, at most NBYTES in all. --read reads
 * standard input in pieces of 1 MiB; with a number it sets the pipe's size first.
 *
 * Random numbers: SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
 * generators", OOPSLA 2014), scaled to a range by multiplication (Lemire, "Fast random integer
 * generation in an interval", 2019). Text is made by copying four digits at a time from a table.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* F_SETPIPE_SZ */
#endif
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
	PIECE_NBYTES = 1 << 20,
	RECORD_NBYTES_MAX = 4096,
	WIDE_NCOLUMNS = 50,
	BROAD_NCOLUMNS = 300,
	RECORDS_A_SECOND = 37, /* in the logs */
	FEW_KEYS = 100,        /* of keys: distinct id1, id2, id4, id5; and records for each id3 and each id6 */
	KEYS_NBYTES = 50,      /* of an average record of keys */
	NSTATIONS = 413,
	STATION_NBYTES_MAX = 24,
};

static uint64_t state;
static char four_digits[10000][4];
static uint32_t nmany_keys; /* of keys: distinct id3, id6 */
static struct station {
	char name[STATION_NBYTES_MAX];
	size_t nbytes;
	int mean; /* tenths of a degree */
} stations[NSTATIONS];
static char piece[PIECE_NBYTES + RECORD_NBYTES_MAX];

/* ---- random numbers */

static uint64_t draw(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* A number below n, n <= 2^32, from 32 random bits. */
static uint32_t scale(uint64_t bits, uint64_t n)
{
	return (uint32_t)(((bits & 0xffffffff) * n) >> 32);
}

static uint32_t below(uint64_t n)
{
	return scale(draw() >> 32, n);
}

/* ---- text: each put_ writes at p and returns the end of what it wrote */

static void fill_four_digits(void)
{
	for (int i = 0; i < 10000; i++) {
		four_digits[i][0] = (char)('0' + i / 1000);
		four_digits[i][1] = (char)('0' + i / 100 % 10);
		four_digits[i][2] = (char)('0' + i / 10 % 10);
		four_digits[i][3] = (char)('0' + i % 10);
	}
}

static char *put_text(char *p, const char *text)
{
	size_t nbytes = strlen(text);

	memcpy(p, text, nbytes);
	return p + nbytes;
}

/* The last ndigits digits of value, 1 to 4, with leading zeros. */
static char *put_padded(char *p, unsigned value, int ndigits)
{
	memcpy(p, four_digits[value % 10000] + 4 - ndigits, (size_t)ndigits);
	return p + ndigits;
}

static char *put_number(char *p, uint64_t value)
{
	unsigned low = (unsigned)(value % 10000);

	if (value >= 10000)
		return put_padded(put_number(p, value / 10000), low, 4);
	return put_padded(p, low, 1 + (low >= 10) + (low >= 100) + (low >= 1000));
}

/* value / 100 with two decimals. */
static char *put_cents(char *p, bool negative, uint32_t cents)
{
	*p = '-';
	p = put_number(p + negative, cents / 100);
	*p++ = '.';
	return put_padded(p, cents % 100, 2);
}

/* Exactly ndigits random digits. */
static char *put_random_digits(char *p, int ndigits)
{
	for (; ndigits >= 4; ndigits -= 4)
		p = put_padded(p, below(10000), 4);
	return ndigits > 0 ? put_padded(p, below(10000), ndigits) : p;
}

/* ---- one record of each kind; `row` counts from 0 */

static char *put_time(char *p, uint64_t second)
{
	uint64_t day = second / 86400;

	p = put_padded(put_text(p, "2026-"), (unsigned)(1 + day / 28 % 12), 2);
	*p++ = '-';
	p = put_padded(p, (unsigned)(1 + day % 28), 2);
	*p++ = 'T';
	p = put_padded(p, (unsigned)(second / 3600 % 24), 2);
	*p++ = ':';
	p = put_padded(p, (unsigned)(second / 60 % 60), 2);
	*p++ = ':';
	return put_padded(p, (unsigned)(second % 60), 2);
}

static char *put_host(char *p)
{
	uint64_t bits = draw();

	p = put_number(put_text(p, "10."), bits & 255);
	*p++ = '.';
	p = put_number(p, bits >> 8 & 255);
	*p++ = '.';
	return put_number(p, bits >> 16 & 255);
}

static char *put_logs(char *p, uint64_t row)
{
	static const char *const methods[] = {",GET", ",POST", ",PUT", ",DELETE"};
	static const char *const statuses[] = {"200", "200", "200", "200", "200",
					       "301", "304", "404", "500", "503"};

	p = put_time(p, row / RECORDS_A_SECOND);
	*p++ = ',';
	p = put_text(put_host(p), methods[below(4)]);
	p = put_number(put_text(p, ",\"/item/"), below(100000));
	p = put_number(put_text(p, "?q=a,b&n="), below(1000));
	p = put_text(put_text(p, "\","), statuses[below(10)]);
	*p++ = ',';
	p = put_number(p, below(1 << 20));
	*p++ = ',';
	p = put_number(p, below(30));
	*p++ = '.';
	return put_padded(p, below(1000), 3);
}

static char *put_narrow(char *p, uint64_t row)
{
	uint64_t bits = draw();
	int32_t value = (int32_t)scale(bits >> 32, 2000000) - 1000000;

	p = put_number(p, row);
	*p++ = ',';
	*p = '-';
	p = put_number(p + (value < 0), (uint64_t)(value < 0 ? -value : value));
	*p++ = ',';
	*p++ = (char)('0' + (bits & 1));
	return p;
}

static char *put_columns(char *p, int ncolumns)
{
	for (int i = 0; i < ncolumns; i++) {
		uint64_t bits = draw();

		p = put_cents(p, scale(bits, 5) == 0, scale(bits >> 32, 10000000));
		*p++ = ',';
	}
	return p - 1;
}

static char *put_wide(char *p, uint64_t row)
{
	(void)row;
	return put_columns(p, WIDE_NCOLUMNS);
}

static char *put_broad(char *p, uint64_t row)
{
	(void)row;
	return put_columns(p, BROAD_NCOLUMNS);
}

/* Each memo has a pair of quotes; one in twenty has a delimiter and a line end. */
static char *put_ledger(char *p, uint64_t row)
{
	uint64_t bits = draw();

	(void)row;
	p = put_padded(put_text(p, "2026-"), 1 + below(12), 2);
	*p++ = '-';
	p = put_padded(p, 1 + below(28), 2);
	p = put_padded(put_text(p, ",A"), below(1000), 3);
	*p++ = ',';
	p = put_cents(p, bits & 1, scale(bits >> 32, 10000000));
	p = put_number(put_text(p, ",\"memo \"\""), below(1000));
	return put_text(p, below(20) ? "\"\"\"" : "\"\",\nline two\"");
}

/* x: up to 17 significant digits, without trailing zeros; y: with an
 * exponent. */
static char *put_floats(char *p, uint64_t row)
{
	uint64_t bits = draw();
	char *start = p + (bits & 1);

	(void)row;
	*p = '-';
	p = put_number(start, scale(bits >> 32, 1000000));
	*p++ = '.';
	p = put_random_digits(p, 18 - (int)(p - start));
	while (p[-1] == '0')
		p--;
	p -= p[-1] == '.';
	*p++ = ',';
	*p++ = (char)('1' + below(9));
	*p++ = '.';
	p = put_text(put_random_digits(p, 9), "e-0");
	*p++ = (char)('4' + (below(10) == 0) + (below(100) == 0));
	return p;
}

/* The table of the group-by task of the public database benchmark (db-benchmark, first h2o.ai's): with 500 MB it has
 * ten million records, and 100 or 100,000 distinct keys a column. */
static char *put_keys(char *p, uint64_t row)
{
	uint32_t many[2] = {1 + below(nmany_keys), 1 + below(nmany_keys)}, micros = below(100000001);

	(void)row;
	p = put_padded(put_text(p, "id"), 1 + below(FEW_KEYS), 3);
	p = put_padded(put_text(p, ",id"), 1 + below(FEW_KEYS), 3);
	p = put_padded(put_text(p, ",id"), many[0] / 100000000, 2);
	p = put_padded(put_padded(p, many[0] / 10000, 4), many[0], 4);
	*p++ = ',';
	p = put_number(p, 1 + below(FEW_KEYS));
	*p++ = ',';
	p = put_number(p, 1 + below(FEW_KEYS));
	*p++ = ',';
	p = put_number(p, many[1]);
	*p++ = ',';
	p = put_number(p, 1 + below(5));
	*p++ = ',';
	p = put_number(p, 1 + below(15));
	*p++ = ',';
	p = put_number(p, micros / 1000000);
	*p++ = '.';
	return put_padded(put_padded(p, micros / 10000, 2), micros, 4);
}

/* Names of 4 to 17 bytes, no two the same, and mean temperatures from -10 to 30. */
static void make_stations(void)
{
	for (int i = 0; i < NSTATIONS; i++) {
		struct station *s = &stations[i];
		uint32_t nletters = 1 + below(14);
		char *p = s->name;

		*p++ = (char)('A' + below(26));
		while (nletters-- > 0)
			*p++ = (char)('a' + below(26));
		p = put_number(p, (uint64_t)(i + 10));
		s->nbytes = (size_t)(p - s->name);
		s->mean = (int)below(400) - 100;
	}
}

/* A measurement as in the billion-row challenge: it lies up to 20 degrees from the station's mean. */
static char *put_stations(char *p, uint64_t row)
{
	const struct station *s = &stations[below(NSTATIONS)];
	int tenths = s->mean + (int)below(201) + (int)below(201) - 200;

	(void)row;
	memcpy(p, s->name, sizeof s->name);
	p += s->nbytes;
	*p++ = ';';
	*p = '-';
	p = put_number(p + (tenths < 0), (uint64_t)(abs(tenths) / 10));
	*p++ = '.';
	return put_padded(p, (unsigned)abs(tenths) % 10, 1);
}

static char *put_columns_header(char *p, int ncolumns)
{
	for (int i = 1; i <= ncolumns; i++) {
		*p++ = 'c';
		p = put_number(p, (uint64_t)i);
		*p++ = ',';
	}
	return p - 1;
}

static const struct kind {
	const char *name;
	const char *header; /* NULL: c1 and so on */
	char *(*put)(char *p, uint64_t row);
	int ncolumns; /* without header */
} KINDS[] = {
	{"logs", "time,host,method,path,status,bytes,seconds", put_logs, 0},
	{"narrow", "id,value,flag", put_narrow, 0},
	{"wide", NULL, put_wide, WIDE_NCOLUMNS},
	{"broad", NULL, put_broad, BROAD_NCOLUMNS},
	{"ledger", "date,account,amount,memo", put_ledger, 0},
	{"floats", "x,y", put_floats, 0},
	{"keys", "id1,id2,id3,id4,id5,id6,v1,v2,v3", put_keys, 0},
	{"stations", "station;temperature", put_stations, 0},
};

/* ---- the program */

static bool write_piece(size_t nbytes)
{
	for (size_t done = 0; done < nbytes;) {
		ssize_t n = write(STDOUT_FILENO, piece + done, nbytes - done);

		if (n < 0 && errno != EINTR)
			return false;
		done += n > 0 ? (size_t)n : 0;
	}
	return true;
}

/* Writes the header and as many records as fit into limit bytes. Returns false with errno set. */
static bool generate(const struct kind *kind, uint64_t limit)
{
	char *p = kind->header ? put_text(piece, kind->header) : put_columns_header(piece, kind->ncolumns);
	uint64_t nwritten = 0, nmany = limit / KEYS_NBYTES / FEW_KEYS;

	nmany_keys = nmany < 1 ? 1 : nmany > UINT32_MAX ? UINT32_MAX : (uint32_t)nmany;
	*p++ = '\n';
	for (uint64_t row = 0;; row++) {
		char *end = kind->put(p, row);

		*end++ = '\n';
		if (nwritten + (uint64_t)(end - piece) > limit)
			return write_piece((size_t)(p - piece));
		p = end;
		if (p - piece < PIECE_NBYTES)
			continue;
		if (!write_piece((size_t)(p - piece)))
			return false;
		nwritten += (uint64_t)(p - piece);
		p = piece;
	}
}

/* Reads standard input to its end. pipe_nbytes: the size to set for the pipe, or 0. */
static bool read_all(int pipe_nbytes)
{
	ssize_t n;

#ifdef F_SETPIPE_SZ
	if (pipe_nbytes > 0 && fcntl(STDIN_FILENO, F_SETPIPE_SZ, pipe_nbytes) < 0)
		return false;
#endif
	do
		n = read(STDIN_FILENO, piece, PIECE_NBYTES);
	while (n > 0 || (n < 0 && errno == EINTR));
	return n == 0;
}

static int usage(void)
{
	fputs("usage: generate KIND NBYTES [SEED]\n       generate --read[=PIPE_NBYTES]\nKIND:", stderr);
	for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
		fprintf(stderr, " %s", KINDS[i].name);
	fputc('\n', stderr);
	return 2;
}

static int status_of(bool done)
{
	if (!done)
		perror("generate");
	return done ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc == 2 && strncmp(argv[1], "--read", 6) == 0)
		return status_of(read_all(argv[1][6] == '=' ? atoi(argv[1] + 7) : 0));
	if (argc < 3 || argc > 4)
		return usage();
	state = argc == 4 ? strtoull(argv[3], NULL, 10) : 1;
	fill_four_digits();
	if (strcmp(argv[1], "stations") == 0)
		make_stations();
	for (size_t i = 0; i < sizeof KINDS / sizeof *KINDS; i++)
		if (strcmp(argv[1], KINDS[i].name) == 0)
			return status_of(generate(&KINDS[i], strtoull(argv[2], NULL, 10)));
	return usage();
}
