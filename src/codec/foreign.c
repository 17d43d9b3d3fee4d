/* SPDX-License-Identifier: MIT
 *
 * foreign.c - formats that are not read: see codec.h. Magic numbers: those of the formats' specifications, with so many
 * bytes that no text begins with them.
 */
#include "codec/codec.h"

#include <stdio.h>
#include <string.h>

/* ---- formats without one magic number ---- */

static bool begins_with(const unsigned char *data, size_t nbytes, const char *words)
{
	return nbytes >= strlen(words) && memcmp(data, words, strlen(words)) == 0;
}

static bool is_bzip2(const unsigned char *data, size_t nbytes)
{
	return codec_bzip2.begins(data, nbytes) == CODEC_BEGINS;
}

/* Whether data[0 .. nbytes) holds the words. */
static bool holds(const unsigned char *data, size_t nbytes, const char *words)
{
	for (size_t i = 0; i + strlen(words) <= nbytes; i++)
		if (begins_with(data + i, nbytes - i, words))
			return true;
	return false;
}

static bool is_zip(const unsigned char *data, size_t nbytes)
{
	return begins_with(data, nbytes, "PK\3\4") || begins_with(data, nbytes, "PK\5\6");
}

/* A zip archive with one of the files that a workbook begins with. */
static bool is_workbook(const unsigned char *data, size_t nbytes)
{
	return is_zip(data, nbytes) &&
	       (holds(data, nbytes, "[Content_Types].xml") || holds(data, nbytes, "xl/") ||
		holds(data, nbytes, "opendocument.spreadsheet"));
}

/* Behind "ORC" comes a stripe, which is no text. */
static bool is_orc(const unsigned char *data, size_t nbytes)
{
	return begins_with(data, nbytes, "ORC") && memchr(data, '\0', nbytes);
}

/* Whether NULs stand at the places i of each group of `unit` bytes where bit i of nuls is set, in
 * at least three quarters of the groups, and nowhere else. */
static bool has_nuls_at(const unsigned char *data, size_t nbytes, size_t unit, unsigned nuls)
{
	size_t ngroups = nbytes / unit, count[4] = {0};

	for (size_t i = 0; i < ngroups * unit; i++)
		count[i % unit] += data[i] == '\0';
	for (size_t i = 0; i < unit; i++)
		if (nuls >> i & 1 ? 4 * count[i] < 3 * ngroups : count[i] > 0)
			return false;
	return ngroups >= 2;
}

static bool has_utf16_mark(const unsigned char *data, size_t nbytes)
{
	return begins_with(data, nbytes, "\xff\xfe") || begins_with(data, nbytes, "\xfe\xff");
}

static bool is_utf32(const unsigned char *data, size_t nbytes)
{
	return begins_with(data, nbytes, "\xff\xfe") && nbytes >= 4
		       ? data[2] == 0 && data[3] == 0
		       : nbytes >= 4 && memcmp(data, "\0\0\xfe\xff", 4) == 0;
}

/* With the mark alone it could be text of one byte a character. */
static bool is_utf16(const unsigned char *data, size_t nbytes)
{
	return has_utf16_mark(data, nbytes) && memchr(data, '\0', nbytes);
}

/* Short values with a NUL behind each look like UTF-16 of one line. */
static bool has_lines(const unsigned char *data, size_t nbytes)
{
	return nbytes >= FOREIGN_NBYTES || memchr(data, '\n', nbytes);
}

/* Bytes that text has no use for. *nnuls: NULs; *nkinds: how many different ones. */
static size_t count_controls(const unsigned char *data, size_t nbytes, size_t *nnuls,
			     size_t *nkinds)
{
	const uint32_t in_text = 1u << '\t' | 1u << '\n' | 1u << '\v' | 1u << '\f' | 1u << '\r' |
				 1u << '\x1b';
	uint32_t kinds = 0;
	size_t n = 0;

	*nnuls = 0;
	for (size_t i = 0; i < nbytes; i++) {
		if (data[i] >= ' ' || in_text >> data[i] & 1)
			continue;
		kinds |= 1u << data[i];
		*nnuls += data[i] == '\0';
		n++;
	}
	*nkinds = (size_t)__builtin_popcount(kinds);
	return n;
}

/* A few control bytes may be delimiters, so it takes many kinds of them, or many NULs, or both
 * where no line ends. */
static bool is_binary(const unsigned char *data, size_t nbytes)
{
	size_t nnuls, nkinds, n = count_controls(data, nbytes, &nnuls, &nkinds);

	return (nbytes >= 16 && (2 * nnuls > nbytes || (nkinds >= 6 && 16 * n > nbytes))) ||
	       (nkinds >= 3 && nnuls >= 2 && !memchr(data, '\n', nbytes));
}

/* Values or records with a NUL behind each, as find -print0 writes them. */
static bool has_nuls_for_lines(const unsigned char *data, size_t nbytes)
{
	size_t nnuls, nkinds;

	count_controls(data, nbytes, &nnuls, &nkinds);
	return nnuls >= 2 && !memchr(data, '\n', nbytes);
}

/* ---- JSON ---- */

/* RFC 8259, but any order of a container's tokens, and any run of a number's or a literal's bytes, passes. */

#define LIMIT_NBYTES 4096

/* Passes over a string, or what there is of it. Returns the place behind it, or 0 if it is no string. */
static size_t pass_string(const unsigned char *data, size_t nbytes, size_t at)
{
	for (at++; at < nbytes && data[at] != '"'; at++) {
		if (data[at] < ' ')
			return 0;
		at += data[at] == '\\';
	}
	return at < nbytes ? at + 1 : nbytes;
}

/* Passes over the bytes that are among some. *line_ended: an LF is. */
static size_t pass_all(const unsigned char *data, size_t nbytes, size_t at, const char *some, bool *line_ended)
{
	for (*line_ended = false; at < nbytes && data[at] && strchr(some, data[at]); at++)
		*line_ended |= data[at] == '\n';
	return at;
}

/* Whether a file's first nbytes begin a JSON text with an object in it: CODEC_BEGINS only where no
 * CSV can be meant: there is a member, and the text is JSON up to the end of its first value, to
 * the file's end (at_end) or through 4 KiB, and behind that value the line ends.
 * *is_array: it begins with [. CODEC_PERHAPS: more bytes decide. */
static enum codec_match json_begins(const unsigned char *data, size_t nbytes, bool at_end, bool *is_array)
{
	const size_t n = nbytes < LIMIT_NBYTES ? nbytes : LIMIT_NBYTES;
	const char *blanks = " \t\n\r";
	bool has_member = false, line_ended;
	size_t depth = 0, at = pass_all(data, n, 0, blanks, &line_ended);
	unsigned char before = '\0'; /* the token that was passed last */

	if (at == n || (data[at] != '{' && data[at] != '['))
		return CODEC_OTHER;
	*is_array = data[at] == '[';
	do {
		unsigned char c = data[at];
		size_t end = at + 1;
		if (c == '"')
			end = pass_string(data, n, at);
		else if (!strchr("{}[]:,", c))
			end = pass_all(data, n, at, "+-.0123456789EINaefilnrstuy", &line_ended);
		if (end <= at)
			return CODEC_OTHER;
		depth += c == '{' || c == '[';
		depth -= c == '}' || c == ']';
		has_member |= c == ':' && before == '"';
		before = c;
		at = pass_all(data, n, end, blanks, &line_ended);
	} while (at < n && depth > 0);
	if (depth == 0 && !line_ended && at < n)
		return CODEC_OTHER;
	if ((depth > 0 || !line_ended) && !at_end && nbytes < LIMIT_NBYTES) /* cut short */
		return CODEC_PERHAPS;
	return has_member ? CODEC_BEGINS : CODEC_OTHER;
}

/* ---- the table: the first row that fits counts ---- */

#define MAGIC(text) .magic = text, .magic_nbytes = sizeof text - 1
#define IS(function) .is = function
#define NULS(nbytes_each, places) .unit = nbytes_each, .nuls = places
#define PANDAS(read) \
	"try: python3 -c 'import sys, pandas; pandas." read "(sys.argv[1])" \
	".to_csv(sys.stdout, index=False)' % | gpustat ..."
#define ICONV(from) "try: iconv -f " from " -t UTF-8 % | gpustat ..."

static const struct foreign rows[] = {
	{"bzip2 data", "try: bzcat % | gpustat ...", IS(is_bzip2)},
	{"xz data", "try: xzcat % | gpustat ...", MAGIC("\xfd" "7zXZ\0")},
	{"lzma data", "try: xzcat % | gpustat ...", MAGIC("\x5d\0\0")},
	{"lzip data", "try: lzip -dc % | gpustat ...", MAGIC("LZIP\1")},
	{"lz4 data", "try: lz4 -dc % | gpustat ...", MAGIC("\x04\x22\x4d\x18")},
	{"compress data", "try: gzip -dc % | gpustat ...", MAGIC("\x1f\x9d")},
	{"a workbook", "save it as CSV, or try: in2csv % | gpustat ...", IS(is_workbook)},
	{"a zip archive", "try: unzip -p % | gpustat ...", IS(is_zip)},
	{"a 7z archive", "try: 7z x -so % | gpustat ...", MAGIC("7z\xbc\xaf\x27\x1c")},
	{"a RAR archive", "try: unrar p -inul % | gpustat ...", MAGIC("Rar!\x1a\7")},
	{"a tar archive", "try: tar -xOf % | gpustat ...", MAGIC("ustar"), .offset_bytes = 257},
	{"a workbook", "save it as CSV, or try: in2csv % | gpustat ...",
	 MAGIC("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")},
	{"a Parquet file", "try: duckdb -csv -c \"from '%'\" | gpustat ...", MAGIC("PAR1\x15")},
	{"an Arrow file", PANDAS("read_feather"), MAGIC("ARROW1\0\0")},
	{"a Feather file", PANDAS("read_feather"), MAGIC("FEA1\0\0")},
	{"an ORC file", PANDAS("read_orc"), IS(is_orc)},
	{"an Avro file",
	 "try: duckdb -csv -c \"install avro; load avro; from read_avro('%')\" | gpustat ...",
	 MAGIC("Obj\1")},
	{"an HDF5 file", PANDAS("read_hdf"), MAGIC("\x89HDF\r\n")},
	{"an SQLite database", "try: sqlite3 -csv -header % 'select * from TABLE' | gpustat ...",
	 MAGIC("SQLite format 3\0")},
	{"a PDF document", "export its table as CSV", MAGIC("%PDF-")},
	{"an ELF program or library", "give a text file", MAGIC("\x7f" "ELF")},
	{"an HTML page", "export its table as CSV", MAGIC("<!DOCTYPE")},
	{"an HTML page", "export its table as CSV", MAGIC("<!doctype")},
	{"an HTML page", "export its table as CSV", MAGIC("<html")},
	{"an HTML page", "export its table as CSV", MAGIC("<HTML")},
	{"XML", "export its table as CSV", MAGIC("<?xml ")},
	{"UTF-32 text", ICONV("UTF-32"), IS(is_utf32)},
	{"UTF-16 text", ICONV("UTF-16"), IS(is_utf16)},
	{"UTF-32 text", ICONV("UTF-32LE"), NULS(4, 0xe)},
	{"UTF-32 text", ICONV("UTF-32BE"), NULS(4, 0x7)},
	{"UTF-16 text", ICONV("UTF-16LE"), NULS(2, 0x2)},
	{"UTF-16 text", ICONV("UTF-16BE"), NULS(2, 0x1)},
	{"binary data", "to see what it is: file %", IS(is_binary)},
	{"text with NUL bytes for line ends", "try: tr '\\0' '\\n' <% | gpustat ...",
	 IS(has_nuls_for_lines)},
};

/* Found by json_begins, which may need more than the first line. */
static const struct foreign json_array = {
	"a JSON array", "try: jq -r '.[] | [.NAME, .NAME] | @csv' % | gpustat ...", IS(NULL)};
static const struct foreign json = {
	"JSON", "try: jq -r '[.NAME, .NAME] | @csv' % | gpustat ...", IS(NULL)};

/* The length of the part that decides: the first line, or FOREIGN_NBYTES where that is no text.
 * *perhaps: part of it has not come. */
static size_t deciding_nbytes(const unsigned char *data, size_t nbytes, bool at_end, bool *perhaps)
{
	size_t n = nbytes < FOREIGN_NBYTES ? nbytes : FOREIGN_NBYTES;
	const unsigned char *line_end = memchr(data, '\n', n);
	size_t line = line_end ? (size_t)(line_end - data) + 1 : n, nnuls, nkinds;
	bool suspicious; /* the bytes so far cannot be text's, so that all that may decide is waited for */

	count_controls(data, line, &nnuls, &nkinds);
	suspicious = nnuls > 0 || nkinds >= 6 || has_utf16_mark(data, line);
	*perhaps = !at_end && n < FOREIGN_NBYTES && (!line_end || suspicious);
	return suspicious ? n : line;
}

static bool fits(const struct foreign *f, const unsigned char *data, size_t nbytes)
{
	if (f->is)
		return f->is(data, nbytes);
	if (f->unit)
		return (f->unit != 2 || has_lines(data, nbytes)) && has_nuls_at(data, nbytes, f->unit, f->nuls);
	return nbytes >= f->offset_bytes + f->magic_nbytes && !memcmp(data + f->offset_bytes, f->magic, f->magic_nbytes);
}

enum codec_match foreign_find(const unsigned char *data, size_t nbytes, bool at_end,
			      const struct foreign **found)
{
	bool perhaps, is_array;
	enum codec_match is_json;
	size_t n;

	*found = NULL;
	if (nbytes == 0)
		return at_end ? CODEC_OTHER : CODEC_PERHAPS;
	n = deciding_nbytes(data, nbytes, at_end, &perhaps);
	is_json = json_begins(data, nbytes, at_end, &is_array);
	if (perhaps || is_json == CODEC_PERHAPS)
		return CODEC_PERHAPS;
	if (is_json == CODEC_BEGINS)
		*found = is_array ? &json_array : &json;
	for (const struct foreign *f = rows; f < rows + sizeof rows / sizeof *rows && !*found; f++)
		if (fits(f, data, n))
			*found = f;
	return *found ? CODEC_BEGINS : CODEC_OTHER;
}

/* ---- the message ---- */

/* Whether a shell takes the name as one word, and no command as an option. */
static bool is_word(const char *name)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				    "_./+=@:,-";
	size_t nbytes = strlen(name);

	return nbytes > 0 && nbytes <= 64 && *name != '-' && strspn(name, plain) == nbytes;
}

enum status foreign_refuse(struct fault *fault, const struct foreign *f, const char *name,
			  const struct codec *codec)
{
	char detail[FAULT_DETAIL_NBYTES];
	size_t n;

	if (codec || !is_word(name))
		name = "FILE";
	n = (size_t)snprintf(detail, sizeof detail, "%s%s%s: %s", f->name, codec ? " in " : "",
			     codec ? codec->name : "", codec ? "decompress it; then " : "");
	for (const char *c = f->remedy; *c && n < sizeof detail - 1; c++)
		n += (size_t)snprintf(detail + n, sizeof detail - n, "%.*s", *c == '%' ? 64 : 1,
				      *c == '%' ? name : c);
	return fault_set(fault, STATUS_FOREIGN, 0, detail);
}
