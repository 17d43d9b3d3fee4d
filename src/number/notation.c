/* SPDX-License-Identifier: MIT
 *
 * notation.c - see notation.h.
 *
 * A value is peeled from both ends: parentheses, sign, currency, percent sign and unit of a size, each at most once
 * and only where the notation has it. What is left must be digits[.digits][e[+-]digits] with the
 * notation's decimal point, and with separators before it, if there are any, at every third digit; or a duration.
 */
#include "number/notation.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "number/decimal_text.h"

/* ---- characters ---- */

/* Code points of general category Sc (Unicode 15.1), ascending. */
static const uint32_t currency_signs[][2] = {
	{0x24, 0x24},       {0xa2, 0xa5},       {0x58f, 0x58f},     {0x60b, 0x60b},
	{0x7fe, 0x7ff},     {0x9f2, 0x9f3},     {0x9fb, 0x9fb},     {0xaf1, 0xaf1},
	{0xbf9, 0xbf9},     {0xe3f, 0xe3f},     {0x17db, 0x17db},   {0x20a0, 0x20c0},
	{0xa838, 0xa838},   {0xfdfc, 0xfdfc},   {0xfe69, 0xfe69},   {0xff04, 0xff04},
	{0xffe0, 0xffe1},   {0xffe5, 0xffe6},   {0x11fdd, 0x11fe0}, {0x1e2ff, 0x1e2ff},
	{0x1ecb0, 0x1ecb0},
};

/* A part of a value's text. */
struct piece {
	const char *begin, *end;
};

static size_t nbytes_of(struct piece p)
{
	return (size_t)(p.end - p.begin);
}

static bool begins_with(struct piece p, const char *what, size_t nbytes)
{
	return nbytes_of(p) >= nbytes && !memcmp(p.begin, what, nbytes);
}

static bool is_currency_sign(uint32_t x)
{
	for (size_t i = 0; i < sizeof currency_signs / sizeof *currency_signs; i++)
		if (x <= currency_signs[i][1])
			return x >= currency_signs[i][0];
	return false;
}

/* The length of the blank, or U+00A0 or U+202F, that the piece begins with; 0: none. */
static size_t blank_at(struct piece p)
{
	if (p.begin < p.end && decimal_is_blank(*p.begin))
		return 1;
	if (begins_with(p, "\u00a0", 2))
		return 2;
	return begins_with(p, "\u202f", 3) ? 3 : 0;
}

/* The same at its end. */
static size_t blank_before_end(struct piece p)
{
	for (size_t n = 1; n <= 3 && n <= nbytes_of(p); n++)
		if (blank_at((struct piece){p.end - n, p.end}) == n)
			return n;
	return 0;
}

/* The length of the currency that the piece begins with: a sign, or three capital letters. */
static size_t currency_at(struct piece p)
{
	size_t n;
	uint32_t x;

	if (p.begin < p.end && decimal_is_digit(*p.begin))
		return 0;
	n = utf8_decode(p.begin, nbytes_of(p), &x);
	if (n > 0 && is_currency_sign(x))
		return n;
	for (n = 0; n < 3; n++)
		if (nbytes_of(p) <= n || p.begin[n] < 'A' || p.begin[n] > 'Z')
			return 0;
	return n;
}

static size_t currency_before_end(struct piece p)
{
	if (p.begin < p.end && decimal_is_digit(p.end[-1]))
		return 0;
	for (size_t n = 1; n <= 4 && n <= nbytes_of(p); n++)
		if (currency_at((struct piece){p.end - n, p.end}) == n)
			return n;
	return 0;
}

/* The length of the thousands separator that the piece begins with. Blanks are all alike. */
static size_t thousands_at(const struct number_notation *n, struct piece p)
{
	size_t nbytes;

	if (p.begin == p.end || !n->thousands[0])
		return 0;
	if (*p.begin == n->thousands[0] && !n->thousands[1])
		return 1;
	if ((unsigned char)*p.begin < 0x80) /* the others begin beyond ASCII */
		return 0;
	if (n->thousands[0] == ' ')
		return blank_at(p);
	nbytes = strlen(n->thousands);
	return begins_with(p, n->thousands, nbytes) ? nbytes : 0;
}

/* ---- around the digits ---- */

/* What has been peeled off a value. */
struct peeled {
	struct piece rest;
	struct piece currency;
	bool has_sign, is_negative, has_currency, has_percent, has_size;
	int kilos;      /* of a size: the power of 1000, or of 1024 */
	bool is_binary; /* the latter */
};

static bool peel_parentheses(const struct number_notation *n, struct peeled *v)
{
	struct piece *p = &v->rest;

	if (!n->money || v->has_sign || nbytes_of(*p) < 2 || *p->begin != '(' || p->end[-1] != ')')
		return false;
	v->has_sign = v->is_negative = true;
	p->begin++;
	p->end--;
	return true;
}

/* A sign at the beginning, or with money a minus at the end. */
static bool peel_sign(const struct number_notation *n, struct peeled *v)
{
	struct piece *p = &v->rest;

	if (v->has_sign || p->begin == p->end)
		return false;
	if (*p->begin == '+' || *p->begin == '-')
		v->is_negative = *p->begin++ == '-';
	else if (n->money && p->end[-1] == '-')
		v->is_negative = p->end-- != NULL;
	else
		return false;
	v->has_sign = true;
	return true;
}

/* A currency, and a blank between it and the rest. A value is an amount or a percentage, not both. */
static bool peel_currency(const struct number_notation *n, struct peeled *v)
{
	struct piece *p = &v->rest;
	size_t nbytes;

	if (!n->money || v->has_currency || v->has_percent || v->has_size)
		return false;
	if ((nbytes = currency_at(*p)) > 0) {
		v->currency = (struct piece){p->begin, p->begin + nbytes};
		p->begin += nbytes;
		p->begin += blank_at(*p);
	} else if ((nbytes = currency_before_end(*p)) > 0) {
		v->currency = (struct piece){p->end - nbytes, p->end};
		p->end -= nbytes;
		p->end -= blank_before_end(*p);
	}
	v->has_currency = nbytes > 0;
	return nbytes > 0;
}

static bool peel_percent(const struct number_notation *n, struct peeled *v)
{
	struct piece *p = &v->rest;

	if (!n->percent || v->has_currency || v->has_percent || v->has_size || p->begin == p->end ||
	    p->end[-1] != '%')
		return false;
	p->end--;
	p->end -= blank_before_end(*p);
	v->has_percent = true;
	return true;
}

/* The unit of a size: B; K to E, perhaps with B or iB. Small letters mean the same in kB, in kb to eb and in k, g, t and p alone; a
 * Kb, of bits, is none. */
static bool peel_size(const struct number_notation *n, struct peeled *v)
{
	static const char prefixes[] = "KMGTPEkmgtpe";
	struct piece *p = &v->rest, unit = *p;
	const char *prefix, *end;
	bool is_small, has_byte, has_i;

	while (unit.begin < unit.end && !(*unit.begin >= 'A' && (*unit.begin | 0x20) <= 'z'))
		unit.begin++;
	if (n->sizes == SIZES_NONE || v->has_size || v->has_percent || v->has_currency || unit.begin == unit.end)
		return false;
	end = unit.begin;
	is_small = unit.end[-1] == 'b';
	has_byte = is_small || unit.end[-1] == 'B';
	unit.end -= has_byte;
	has_i = nbytes_of(unit) == 2 && unit.end[-1] == 'i';
	unit.end -= has_i;
	if (nbytes_of(unit) > 0) {
		prefix = memchr(prefixes, *unit.begin, sizeof prefixes - 1);
		if (!prefix || nbytes_of(unit) > 1 || (is_small && prefix < prefixes + 6) ||
		    (prefix > prefixes + 6 && !is_small && (has_byte || has_i || strchr("me", *prefix))))
			return false;
		v->kilos = (int)(prefix - prefixes) % 6 + 1;
	}
	v->has_size = true;
	v->is_binary = has_i || n->sizes == SIZES_IEC;
	p->end = end;
	p->end -= blank_before_end(*p);
	return true;
}

static struct peeled peel(const struct number_notation *n, const char *text, size_t nbytes)
{
	struct peeled v = {.rest = {text, text + nbytes}};

	while (peel_parentheses(n, &v) || peel_sign(n, &v) || peel_currency(n, &v) ||
	       peel_percent(n, &v) || peel_size(n, &v))
		continue;
	return v;
}

/* ---- the digits ---- */

/* A plain text that is being written; at NULL: only its length is counted. */
struct plain {
	char *to;
	size_t nbytes;
};

static inline void put(struct plain *out, char c)
{
	if (out->to)
		out->to[out->nbytes] = c;
	out->nbytes++;
}

/* Writes the digits that the piece begins with. Returns their number. */
static inline size_t put_digits(struct piece *p, struct plain *out)
{
	const char *begin = p->begin;

	for (; p->begin < p->end && decimal_is_digit(*p->begin); p->begin++)
		put(out, *p->begin);
	return (size_t)(p->begin - begin);
}

/* Writes the digits before the point. Returns their number; -1 where they are grouped wrongly. */
static inline int64_t put_integer(const struct number_notation *n, struct piece *p,
				  struct plain *out)
{
	const char *first = p->begin;
	int64_t ndigits = (int64_t)put_digits(p, out);
	size_t separator = thousands_at(n, *p);

	if (separator && (ndigits < 1 || ndigits > 3 || *first == '0')) /* 0,123 is another notation's */
		return -1;
	for (; separator; separator = thousands_at(n, *p)) {
		p->begin += separator;
		if (put_digits(p, out) != 3)
			return -1;
		ndigits += 3;
	}
	return ndigits;
}

/* Writes an exponent, unless it is 0. */
static void put_exponent(int64_t exponent, struct plain *out)
{
	uint64_t left = exponent < 0 ? -(uint64_t)exponent : (uint64_t)exponent;
	char reversed[24];
	size_t n = 0;

	if (exponent == 0)
		return;
	put(out, 'e');
	if (exponent < 0)
		put(out, '-');
	for (; left; left /= 10)
		reversed[n++] = (char)('0' + left % 10);
	while (n > 0)
		put(out, reversed[--n]);
}

/* Writes digits[.digits][e[+-]digits], the exponent more than the piece has. Returns false where the piece is something else. */
static bool put_number(const struct number_notation *n, struct piece p, int shift, struct plain *out)
{
	int64_t exponent = 0, ninteger = put_integer(n, &p, out);
	size_t nfraction = 0;

	if (ninteger >= 0 && p.begin < p.end && *p.begin == n->decimal) {
		p.begin++;
		put(out, '.');
		nfraction = put_digits(&p, out);
	}
	if (ninteger < 0 || (size_t)ninteger + nfraction == 0)
		return false;
	if (p.begin < p.end && (*p.begin == 'e' || *p.begin == 'E'))
		p.begin = decimal_exponent(p.begin, p.end, &exponent);
	put_exponent(exponent + shift, out);
	return p.begin == p.end;
}

/* Writes magnitude x 10^-scale, without zeros at its end. */
static void put_decimal(uint128 magnitude, int scale, struct plain *out)
{
	char text[DECIMAL_TEXT_NBYTES + DECIMAL_TEXT_SLACK];
	const char *end;

	for (; scale > 0 && magnitude % 10 == 0; scale--)
		magnitude /= 10;
	end = decimal_write(text, (int128)magnitude, scale);
	for (const char *p = text; p < end; p++)
		put(out, *p);
}

/* Writes a number times 1024^kilos. Returns false where the piece is no number, or one of more than 18 digits. */
static bool put_binary(const struct number_notation *n, struct piece p, int kilos, struct plain *out)
{
	char text[64 + NOTATION_ROOM];
	struct plain number = {text, 0};
	struct decimal x;

	if (nbytes_of(p) > 64 || !put_number(n, p, 0, &number) ||
	    decimal_parse(text, number.nbytes, &x) != DECIMAL_NUMBER)
		return false;
	put_decimal((uint128)x.significand << 10 * kilos, x.scale, out);
	return true;
}

/* ---- durations ---- */

#define DURATION_SCALE 18 /* of the sum of a duration's parts */
#define DURATION_MAX ((uint128)1 << 124)

/* Reads digits[.digits], or whole digits if point is a NUL, as significand x 10^-scale of up to 18 digits. Returns false where there
 * is none. */
static bool read_part(struct piece *p, char point, struct decimal *x)
{
	const char *begin = p->begin;
	struct plain all = {(char[24]){0}, 0};

	for (; p->begin < p->end && (decimal_is_digit(*p->begin) || (*p->begin == point && point)); p->begin++)
		if (all.nbytes < 24)
			put(&all, *p->begin == point ? '.' : *p->begin);
	return p->begin > begin && all.nbytes < 24 && decimal_parse(all.to, all.nbytes, x) == DECIMAL_NUMBER;
}

/* Adds x times a unit of so many nanoseconds. Returns false where the sum has no room, or too long a fraction. */
static bool add_part(uint128 *sum, struct decimal x, uint64_t unit_ns)
{
	uint128 product = (uint128)x.significand * unit_ns;
	int shift = DURATION_SCALE - 9 - x.scale;

	for (; shift < 0 && product % 10 == 0; shift++)
		product /= 10;
	if (shift < 0 || product >= DURATION_MAX / decimal_power(shift))
		return false;
	*sum += product * decimal_power(shift);
	return *sum < DURATION_MAX;
}

#define WEEK_NS UINT64_C(604800000000000)
#define DAY_NS UINT64_C(86400000000000)
#define HOUR_NS UINT64_C(3600000000000)
#define MINUTE_NS UINT64_C(60000000000)
#define SECOND_NS UINT64_C(1000000000)

/* Takes the unit off that the piece begins with. has_t: of ISO 8601, 1 before its T, 2 after it; else 0. Returns nanoseconds, or 0. */
static uint64_t take_unit(struct piece *p, int has_t)
{
	static const struct {
		const char *names; /* with blanks around them */
		uint64_t ns;
		const char *iso;
	} units[] = {
		{" w week weeks ", WEEK_NS, "W"}, {" d day days ", DAY_NS, "D"}, {" h hr hrs hour hours ", HOUR_NS, "TH"},
		{" m min mins minute minutes ", MINUTE_NS, "TM"}, {" s sec secs second seconds ", SECOND_NS, "TS"}, {" ms ", 1000000, ""},
		{" us \u00b5s \u03bcs ", 1000, ""}, {" ns ", 1, ""},
	};
	char word[16] = " ";
	size_t nbytes = 0;

	for (; nbytes < nbytes_of(*p) && ((unsigned char)p->begin[nbytes] | 0x20) >= 'a' && nbytes < (has_t ? 1 : 12); nbytes++)
		word[1 + nbytes] = p->begin[nbytes];
	word[1 + nbytes] = ' ';
	p->begin += nbytes;
	for (size_t i = 0; nbytes > 0 && i < sizeof units / sizeof *units; i++)
		if (has_t ? strlen(units[i].iso) == (size_t)has_t && units[i].iso[has_t - 1] == word[1] : strstr(units[i].names, word) != NULL)
			return units[i].ns;
	return 0;
}

/* Adds h:mm:ss or, unless days were before, m:ss, the last with perhaps a fraction. */
static bool add_clock(const struct number_notation *n, struct piece p, struct decimal first, bool has_days, uint128 *sum)
{
	const bool has_hours = nbytes_of(p) > 3 && p.begin[3] == ':';
	uint64_t unit_ns = has_hours ? HOUR_NS : MINUTE_NS;

	if (!add_part(sum, first, unit_ns) || (has_days && !has_hours))
		return false;
	while (p.begin < p.end) {
		const char *digits = ++p.begin;
		struct decimal x;
		unit_ns /= 60;
		if (nbytes_of(p) < 2 || *digits < '0' || *digits > '5' || !decimal_is_digit(digits[1]) || !read_part(&p, unit_ns == SECOND_NS ? n->decimal : '\0', &x) ||
		    (p.begin - digits != 2 && (p.begin - digits < 4 || digits[2] != n->decimal)) || !add_part(sum, x, unit_ns))
			return false;
		if (p.begin < p.end && (*p.begin != ':' || unit_ns == SECOND_NS))
			return false;
	}
	return unit_ns == SECOND_NS;
}

/* Writes a duration as seconds: 1h30m, 2 days 4 hours, 01:30:15, 10:00, 1-02:03:04, PT1H30M: each unit once, longer ones first.
 * Returns false where the piece is none, also where it is a number alone. */
static bool put_duration(const struct number_notation *n, struct piece p, struct plain *out)
{
	uint64_t last_ns = UINT64_MAX, unit_ns;
	uint128 sum = 0;
	bool has_dash;
	int has_t = 0;
	struct decimal x;

	if (p.begin < p.end && *p.begin == 'P') {
		has_t = 1;
		p.begin++;
	}
	do {
		if (has_t == 1 && p.begin < p.end && *p.begin == 'T') {
			has_t = 2;
			p.begin++;
		}
		if (!read_part(&p, n->decimal, &x) || p.begin == p.end)
			return false;
		if (*p.begin == ':' && decimal_is_digit(p.begin[-1]) && !has_t && (last_ns == DAY_NS || last_ns == UINT64_MAX) && x.scale == 0) {
			if (!add_clock(n, p, x, last_ns == DAY_NS, &sum))
				return false;
			break;
		}
		has_dash = *p.begin == '-' && decimal_is_digit(p.begin[-1]) && last_ns == UINT64_MAX && !has_t && memchr(p.begin, ':', nbytes_of(p));
		p.begin += has_dash ? 1 : has_t ? 0 : blank_at(p);
		unit_ns = has_dash && x.scale == 0 ? DAY_NS : take_unit(&p, has_t);
		if (unit_ns == 0 || unit_ns >= last_ns || !add_part(&sum, x, unit_ns))
			return false;
		last_ns = unit_ns;
		p.begin += !has_t && !has_dash && unit_ns == DAY_NS && nbytes_of(p) > 1 && *p.begin == ',';
		p.begin += has_t || has_dash ? 0 : blank_at(p);
	} while (p.begin < p.end);
	put_decimal(sum, DURATION_SCALE, out);
	return true;
}

size_t notation_to_plain(const struct number_notation *n, const char *text, size_t nbytes, char *to)
{
	struct plain out = {to, 0};
	struct peeled v;
	size_t before;

	text = decimal_trim(text, &nbytes);
	v = peel(n, text, nbytes);
	if (v.is_negative)
		put(&out, '-');
	before = out.nbytes;
	if (v.kilos > 0 && v.is_binary)
		return put_binary(n, v.rest, v.kilos, &out) ? out.nbytes : 0;
	if (put_number(n, v.rest, 3 * v.kilos - 2 * v.has_percent, &out))
		return out.nbytes;
	out.nbytes = before;
	return n->durations && !v.has_size && !v.has_percent && !v.has_currency && put_duration(n, v.rest, &out) ? out.nbytes : 0;
}

const char *notation_currency(const struct number_notation *n, const char *text, size_t nbytes, size_t *currency_nbytes)
{
	struct peeled v;

	text = decimal_trim(text, &nbytes);
	v = peel(n, text, nbytes);
	*currency_nbytes = nbytes_of(v.currency);
	return v.currency.begin;
}

/* ---- options ---- */

/* Whether a byte means something else in numbers, or cannot be in them. */
static bool is_taken(char c)
{
	return decimal_is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
	       strchr("+-%()\"$\t\r\n", c);
}

const char *notation_fault(const struct number_notation *n)
{
	struct piece p = {n->thousands, n->thousands + strlen(n->thousands)};
	size_t nbytes;

	if (is_taken(n->decimal) || n->decimal == ' ')
		return "--decimal: a sign, letter, digit, quote or blank is no decimal point";
	if (n->thousands[0] == n->decimal && n->decimal)
		return "--decimal and --thousands are the same character";
	nbytes = nbytes_of(p);
	if (nbytes > 1 && utf8_length(p.begin, nbytes) != nbytes)
		return "--thousands takes one character";
	if (n->thousands[0] && is_taken(n->thousands[0]))
		return "--thousands: a sign, letter, digit or quote does not separate groups";
	return NULL;
}

/* ---- guesses ----
 *
 * Which notation a value that is no number may have: for error messages, and to tell values from names. Nothing is computed
 * from a guess.
 */

/* What is tried, besides what the notation has already. */
static const char decimals[] = {'.', ','};
static const char *const thousands[] = {"", ",", ".", " ", "'", "\u2019"};
#define NDECIMALS (sizeof decimals)
#define NTHOUSANDS (sizeof thousands / sizeof *thousands)

/* The codes of much-used currencies. Other three letters before a number are rather a name, as in
 * COL1, although --money takes them. */
static const char codes[][4] = {
	"AUD", "BRL", "CAD", "CHF", "CNY", "CZK", "DKK", "EUR", "GBP", "HKD", "HUF", "ILS", "INR", "JPY",
	"KRW", "MXN", "NOK", "NZD", "PLN", "RON", "RUB", "SEK", "SGD", "THB", "UAH", "USD", "ZAR",
};

/* Whether text has, but for those codes, no three capital letters in succession. */
static bool has_other_code(const char *text, size_t nbytes)
{
	size_t ncapitals = 0;

	for (size_t i = 0; i < nbytes; i++) {
		bool known = false;
		ncapitals = text[i] >= 'A' && text[i] <= 'Z' ? ncapitals + 1 : 0;
		for (size_t c = 0; ncapitals == 3 && c < sizeof codes / sizeof *codes; c++)
			known |= !memcmp(&text[i - 2], codes[c], 3);
		if (ncapitals == 3 && !known)
			return true;
	}
	return false;
}

static bool is_number(const struct number_notation *n, const char *text, size_t nbytes)
{
	return notation_to_plain(n, text, nbytes, NULL) > 0;
}

/* ---- resemblance ---- */

static bool is_hexadecimal(const char *text, size_t nbytes)
{
	if (nbytes < 3 || text[0] != '0' || (text[1] | 0x20) != 'x')
		return false;
	for (size_t i = 2; i < nbytes; i++)
		if (!isxdigit((unsigned char)text[i]))
			return false;
	return true;
}

/* 1_000, 1.2.3, 1,00,000 */
static bool is_digits_and_marks(const char *text, size_t nbytes)
{
	for (size_t i = 0; i < nbytes; i++)
		if (!decimal_is_digit(text[i]) && !(text[i] && strchr("_.,'", text[i])))
			return false;
	return nbytes > 0 && decimal_is_digit(text[0]);
}

bool notation_resembles_number(const char *text, size_t nbytes)
{
	struct number_notation n = {.money = true, .percent = true};
	struct plain ignored = {NULL, 0};
	bool has_code = has_other_code(text, nbytes), begins;
	struct peeled v;

	text = decimal_trim(text, &nbytes);
	v = peel(&n, text, nbytes); /* which neither the point nor the separator changes */
	begins = nbytes_of(v.rest) > 0 && (decimal_is_digit(*v.rest.begin) || *v.rest.begin == '.' || *v.rest.begin == ',');
	for (size_t i = 0; i < NDECIMALS * NTHOUSANDS && begins && !has_code; i++) {
		n.decimal = decimals[i / NTHOUSANDS];
		strcpy(n.thousands, thousands[i % NTHOUSANDS][0] == n.decimal ? "" : thousands[i % NTHOUSANDS]);
		if (put_number(&n, v.rest, -2 * v.has_percent, &ignored))
			return true;
	}
	text = decimal_trim(text, &nbytes);
	if (nbytes > 0 && (*text == '+' || *text == '-')) {
		text++;
		nbytes--;
	}
	return is_hexadecimal(text, nbytes) || is_digits_and_marks(text, nbytes);
}

/* ---- suggestions ---- */

#define NUNITS 3 /* none, durations, sizes */

/* One combination of options: those that differ from the ones given are named. */
struct guess {
	struct number_notation notation;
	unsigned nchanges;
};

/* Makes the guess of a number; returns false where it makes no sense, or repeats another one. */
static bool guess_make(const struct number_notation *given, size_t number, struct guess *out)
{
	size_t units = number % NUNITS, d = (number /= NUNITS) / 4 / NTHOUSANDS, t = number / 4 % NTHOUSANDS;
	bool money = number & 1, percent = number & 2;
	struct number_notation *n = &out->notation;

	*n = *given;
	if (d < NDECIMALS)
		n->decimal = decimals[d];
	if (t > 0)
		strcpy(n->thousands, thousands[t]);
	n->money |= money;
	n->percent |= percent;
	n->durations |= units == 1;
	if (units == 2 && n->sizes == SIZES_NONE)
		n->sizes = SIZES_IEC;
	out->nchanges = (n->decimal != given->decimal) +
			(unsigned)(strcmp(n->thousands, given->thousands) != 0) +
			(n->money != given->money) + (n->percent != given->percent) +
			(n->durations != given->durations) + (n->sizes != given->sizes);
	/* Each option that is asked for must change something. */
	return out->nchanges == (unsigned)(d < NDECIMALS) + (t > 0) + money + percent + (units > 0) &&
	       !notation_fault(n);
}
#define NGUESSES (NUNITS * 4 * NTHOUSANDS * (NDECIMALS + 1))

/* Appends the options of the guess. */
static void guess_write(const struct guess *g, const struct number_notation *given, char *text)
{
	const struct number_notation *n = &g->notation;
	const char *quote = n->thousands[0] == '\'' ? "\"" : n->thousands[0] == ' ' ? "'" : "";
	size_t used = strlen(text), room = NOTATION_SUGGESTION_NBYTES - used;
	char decimal[16] = "", thousands_text[24] = "";

	if (n->decimal != given->decimal)
		snprintf(decimal, sizeof decimal, " --decimal %c", n->decimal);
	if (strcmp(n->thousands, given->thousands))
		snprintf(thousands_text, sizeof thousands_text, " --thousands %s%s%s", quote,
			 n->thousands, quote);
	snprintf(text + used, room, "%s%s%s%s%s%s%s", used ? " or" : "", decimal, thousands_text,
		 n->money != given->money ? " --money" : "",
		 n->percent != given->percent ? " --percent" : "",
		 n->durations != given->durations ? " --durations" : "", n->sizes != given->sizes ? " --sizes iec" : "");
}

void notation_suggest(const struct number_notation *n, const char *text, size_t nbytes,
		      char suggestion[NOTATION_SUGGESTION_NBYTES])
{
	unsigned nwanted = 1, nfound = 0;
	struct guess g;

	suggestion[0] = '\0';
	for (; nwanted <= 4 && nfound == 0; nwanted++)
		for (size_t i = 0; i < NGUESSES && nfound < 2; i++) {
			if (!guess_make(n, i, &g) || g.nchanges != nwanted ||
			    (!n->money && g.notation.money && has_other_code(text, nbytes)) ||
			    !is_number(&g.notation, text, nbytes))
				continue;
			guess_write(&g, n, suggestion);
			nfound++;
		}
	if (nfound)
		memmove(suggestion, suggestion + 1, strlen(suggestion));
}
