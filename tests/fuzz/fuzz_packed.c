/* SPDX-License-Identifier: MIT
 *
 * fuzz_packed.c - compressed files: gzip, BGZF, zstd, bzip2 and xz as source.h reads them, with each library
 * that inflates, against zlib's own reading of gzip. All must give the same text, or all an error;
 * but ISA-L may take an incomplete set of Huffman codes (SECURITY.md), where zlib names the set.
 *
 * Input: a byte, then the file's bytes. If the byte is 'd', the rest is deflate data, and a header
 * and a trailer that fits are put around it, so that damage is not always found by the CRC.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>

#include "fuzz.h"
#include "io/source.h"

#define MAX_FILE_NBYTES (1 << 17)
#define MAX_TEXT_NBYTES ((size_t)1 << 21) /* no more is read, and compared */

enum library { ZLIB, ISAL, LIBDEFLATE };
static const char *const libraries[] = {"zlib", "isal", "libdeflate"};
static unsigned char texts[3][MAX_TEXT_NBYTES], expected[MAX_TEXT_NBYTES];

static int file_with(const uint8_t *data, size_t nbytes)
{
	static int fd = -1;

	if (fd < 0)
		fd = memfd_create("fuzz", 0);
	FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0);
	FUZZ_CHECK(pwrite(fd, data, nbytes, 0) == (ssize_t)nbytes);
	return fd;
}

/* Reads all of the file, or MAX_TEXT_NBYTES. Returns whether it is right as far as it was read. */
static bool read_by(const char *library, int fd, unsigned char *text, size_t *nbytes, bool *packed)
{
	char path[64];
	struct source s = {.path = path};
	struct fault fault = {0};
	size_t n = 0;
	enum status status;

	setenv("GPUSTAT_INFLATE", library, 1);
	snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	*nbytes = 0;
	status = source_open(&s, &fault);
	*packed = s.packed != NULL;
	if (status == STATUS_OK) {
		const char *peeked = source_peeked(&s, 0, &n);
		n = n < MAX_TEXT_NBYTES ? n : MAX_TEXT_NBYTES;
		if (n)
			memcpy(text, peeked, n);
		*nbytes = n;
		while (*nbytes < MAX_TEXT_NBYTES) {
			status = source_read(&s, (char *)text + *nbytes, MAX_TEXT_NBYTES - *nbytes,
					     &n, &fault);
			if (status != STATUS_OK || n == 0)
				break;
			*nbytes += n;
		}
	}
	FUZZ_CHECK(status == STATUS_OK || fault.status == status);
	source_close(&s);
	return status == STATUS_OK;
}

/* Inflates gzip members one after the other with zlib alone. Sets *refuses_set to whether zlib
 * rejected a set of Huffman codes. */
static bool read_plainly(const uint8_t *data, size_t nbytes, unsigned char *text, size_t *ntext,
			 bool *refuses_set)
{
	z_stream z = {0};
	int result = Z_STREAM_END;

	FUZZ_CHECK(inflateInit2(&z, 15 + 16) == Z_OK);
	z.next_in = (unsigned char *)data;
	z.avail_in = (unsigned)nbytes;
	z.next_out = text;
	z.avail_out = MAX_TEXT_NBYTES;
	while (result == Z_STREAM_END && z.avail_in) {
		inflateReset(&z);
		result = inflate(&z, Z_FINISH);
	}
	*ntext = MAX_TEXT_NBYTES - z.avail_out;
	*refuses_set = result == Z_DATA_ERROR && z.msg != NULL && strstr(z.msg, " set") != NULL;
	inflateEnd(&z);
	if (*ntext >= 3 && !memcmp(text, "\xef\xbb\xbf", 3)) /* which source_open passes over */
		memmove(text, text + 3, *ntext -= 3);
	return result == Z_STREAM_END || (result == Z_BUF_ERROR && z.avail_out == 0);
}

/* Puts a gzip header before and a trailer behind deflate data; returns the length. */
static size_t wrap(const uint8_t *data, size_t nbytes, uint8_t *file)
{
	static const uint8_t header[10] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255};
	z_stream z = {0};
	uint32_t crc, length;

	FUZZ_CHECK(inflateInit2(&z, -15) == Z_OK);
	z.next_in = (unsigned char *)data;
	z.avail_in = (unsigned)nbytes;
	z.next_out = expected;
	z.avail_out = MAX_TEXT_NBYTES;
	inflate(&z, Z_FINISH);
	nbytes -= z.avail_in;
	length = (uint32_t)(MAX_TEXT_NBYTES - z.avail_out);
	crc = (uint32_t)crc32(0, expected, length);
	inflateEnd(&z);
	memcpy(file, header, sizeof header);
	memcpy(file + 10, data, nbytes);
	memcpy(file + 10 + nbytes, &crc, 4);
	memcpy(file + 14 + nbytes, &length, 4);
	return nbytes + 18;
}

/* Whether only ISA-L accepted the file, and zlib rejected one of its sets of Huffman codes. */
static bool is_incomplete_set(const uint8_t *file, size_t nbytes, const bool right[3])
{
	size_t nexpected;
	bool refuses_set = false;

	if (right[ISAL] && !right[ZLIB] && !right[LIBDEFLATE])
		read_plainly(file, nbytes, expected, &nexpected, &refuses_set);
	return refuses_set;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t nbytes)
{
	static uint8_t file[MAX_FILE_NBYTES + 18];
	size_t ntexts[3], nexpected;
	bool right[3], packed = false, plainly, refuses_set;
	int fd;

	if (nbytes < 3 || nbytes > MAX_FILE_NBYTES)
		return 0;
	memcpy(file, data + 1, nbytes - 1);
	nbytes = *data == 'd' ? wrap(data + 1, nbytes - 1, file) : nbytes - 1;
	fd = file_with(file, nbytes);
	for (int i = 0; i < 3; i++)
		right[i] = read_by(libraries[i], fd, texts[i], &ntexts[i], &packed);
	if (is_incomplete_set(file, nbytes, right))
		return 0;
	for (int i = ISAL; i <= LIBDEFLATE; i++) {
		FUZZ_CHECK(right[i] == right[0]);
		FUZZ_CHECK(!right[0] || (ntexts[i] == ntexts[0] &&
					 !memcmp(texts[i], texts[0], ntexts[0])));
	}
	if (!packed || file[0] != 0x1f)
		return 0;
	plainly = read_plainly(file, nbytes, expected, &nexpected, &refuses_set);
	/* A block of BGZF can lie about its length, which zlib does not look at. */
	FUZZ_CHECK(plainly || !right[0]);
	FUZZ_CHECK(!right[0] || (nexpected >= ntexts[0] && !memcmp(expected, texts[0], ntexts[0])));
	if (!memmem(file, nbytes, "BC\2", 3))
		FUZZ_CHECK(plainly == right[0]);
	return 0;
}
