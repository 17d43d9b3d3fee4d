/* SPDX-License-Identifier: MIT
 *
 * crc32.h - the CRC-32 of gzip (RFC 1952, section 8).
 */
#ifndef GPUSTAT_CRC32_H
#define GPUSTAT_CRC32_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the CRC of some bytes and data[0 .. nbytes) behind them; crc: of the bytes before, 0 if
 * these are the first. */
uint32_t crc32_continue(uint32_t crc, const unsigned char *data, size_t nbytes);

/* Returns the CRC of two texts, one behind the other, of which each one's CRC is known. Takes
 * 2 us. */
uint32_t crc32_join(uint32_t earlier, uint32_t later, uint64_t later_nbytes);

/* crc32_continue by one instruction set; tests call it. */
struct crc32_ops {
	const char *name;
	bool (*runs)(void); /* whether this machine has it */
	uint32_t (*run)(uint32_t crc, const unsigned char *data, size_t nbytes);
};
extern const struct crc32_ops crc32_all[]; /* the fastest first; the last one has no name */

#endif
