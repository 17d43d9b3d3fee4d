/* SPDX-License-Identifier: MIT
 *
 * deflate_loops.h - the loops over a block's codes, compiled from deflate_loop.h for each
 * instruction set.
 */
#ifndef GPUSTAT_DEFLATE_LOOPS_H
#define GPUSTAT_DEFLATE_LOOPS_H

#include "codec/deflate_bits.h"
#include "codec/deflate_tables.h"

#define DEFLATE_DISTANCE_MAX 32768

enum deflate_codes {
	DEFLATE_CODES_GO_ON,
	DEFLATE_CODES_FULL,
	DEFLATE_CODES_STARVE,
	DEFLATE_CODES_END, /* of the block */
	DEFLATE_CODES_DAMAGED,
};

struct deflate_byte_room {
	unsigned char *out, *limit;
	const unsigned char *floor;
	bool exact; /* nothing is written at or behind limit */
};

struct deflate_symbol_room {
	uint16_t *out, *limit;
	const uint16_t *floor;
	bool exact;
};

/* Each decodes codes until one of the above happens. They leave *b at the first code that is not
 * decoded, and room->out behind the text of those before. *words: what is damaged. */
struct deflate_loops {
	enum deflate_codes (*bytes)(struct deflate_bits *b, const struct deflate_tables *t,
				    struct deflate_byte_room *room, const char **words);
	enum deflate_codes (*symbols)(struct deflate_bits *b, const struct deflate_tables *t,
				      struct deflate_symbol_room *room, const char **words);
};

#if defined(__x86_64__)
extern const struct deflate_loops deflate_loops_bmi2;
#endif
extern const struct deflate_loops deflate_loops_portable;

/* For the instruction set that simd() has chosen. */
const struct deflate_loops *deflate_loops(void);

#endif
