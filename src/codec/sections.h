/* SPDX-License-Identifier: MIT
 *
 * sections.h - the deflate data of one gzip member, decoded by many threads.
 *
 * The compressed bytes are cut, as they are read, into sections of equal length. A thread takes the
 * next section, looks for a bit at which a block may begin, and decodes from there without knowing
 * the 32 KiB of text before it: to symbols, each a byte or a place in that unknown window. Turns
 * pass from section to section in order. A turn brings what a serial decoder would know: the bit at
 * which the section before ended, and the window. A section that began at that very bit, behind at
 * least 32 KiB of text, holds what a serial decoder makes. Any other is decoded again from the true
 * place. A section that is not decoded to its end when its turn comes goes on in bytes. A wrong
 * guess costs time, never an answer.
 *
 * Symbols become bytes after the turn, piece by piece, where they are wanted. Source of the idea:
 * Kerbiriou and Chikhi, "Parallel decompression of gzip-compressed files", 2019.
 *
 * For each section: sections_cut(), under a lock of the caller's; section_decode(); section_pass();
 * section_read() until all of its text is read. If the section is not finished, section_decode()
 * and the rest once more. If the member has ended: sections_end(), under that lock.
 */
#ifndef GPUSTAT_SECTIONS_H
#define GPUSTAT_SECTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "codec/codec.h"
#include "codec/deflate.h"

#define SECTION_NBYTES ((size_t)1 << 20) /* of compressed bytes, at most */
#define SECTION_NBYTES_MIN 1024          /* at least, so that a block's header has room */

/* The data of the current member, and its sections. */
struct sections;

/* One thread's memory for decoding, and the section that it has. 14 MiB, as far as used. */
struct section_decoder;

/* What the threads spend their time on. */
enum section_stage {
	SECTION_FIND,    /* the search for a beginning */
	SECTION_GUESS,   /* decoding to symbols */
	SECTION_WAIT,    /* for the turn */
	SECTION_GO_ON,   /* decoding to bytes, in the turn */
	SECTION_REDO,    /* likewise, of what had been guessed wrong */
	SECTION_RESOLVE, /* symbols to bytes, and the CRC */
	SECTION_NSTAGES
};

/* Called by a thread when it has spent time on a stage. text_nbytes: what it made of text; 0: none.
 * Times are clock_s's. */
typedef void section_watcher(enum section_stage stage, size_t text_nbytes, double begin_s,
			     double end_s);

/* Of all members. */
struct section_totals {
	uint64_t nsections; /* whose turns have come */
	uint64_t nright;    /* of these, guessed right */
	double stage_s[SECTION_NSTAGES];
};

enum section_result {
	SECTION_VOID,    /* the section is not needed: the member or the run has ended before it */
	SECTION_DECODED, /* *text_nbytes of text, perhaps none; the caller has the turn */
	SECTION_ENDED,   /* likewise, and the member's data ends behind the text */
	SECTION_FAILED,  /* likewise, and behind the text the data is damaged or cannot be read */
};

/* NULL: out of memory. */
struct sections *sections_open(void);

/* Has every decoder call the watcher. Before the first one. */
void sections_watch(struct sections *s, section_watcher *watcher);

/* Stops, and waits until no thread is in section_decode. NULL is good. */
void sections_close(struct sections *s);

/* Begins with a member whose data goes on in the feed. The trunk's decoder stands `bit` bits behind
 * the first unused byte of the feed; copied. crc: of the member's text so far. section_nbytes: how
 * long sections are to be, SECTION_NBYTES_MIN to SECTION_NBYTES. Returns false, and changes nothing, if there is no
 * memory for it. */
bool sections_begin(struct sections *s, struct feed *feed, const struct deflate_trunk *trunk,
		    uint64_t bit, uint32_t crc, size_t section_nbytes);

/* Whether a member has begun and not ended. */
bool sections_are_open(struct sections *s);

/* Hands out the next section, in a decoder of one thread's. Reads from the feed, for which it may
 * wait. NULL: all have been handed out, or there is no memory for a further decoder. */
struct section_decoder *sections_cut(struct sections *s);

/* Takes back a decoder whose section is finished, or not needed, and read. */
void sections_take_back(struct sections *s, struct section_decoder *d);

/* Waits until the member has ended, or all stops. Not under the caller's lock. */
void sections_wait(struct sections *s);

/* Decodes the section, and waits for its turn. Errors with SECTION_FAILED, in fault:
 * STATUS_DAMAGED, with deflate's words as detail; STATUS_TRUNCATED; STATUS_READ; STATUS_NO_MEMORY. */
enum section_result section_decode(struct sections *s, struct section_decoder *d,
				   size_t *text_nbytes, struct fault *fault);

/* After SECTION_DECODED. Returns whether the section is finished; if so its turn ends. If not, the
 * decoder's memory is full: more follows once the text has been read. */
bool section_pass(struct sections *s, struct section_decoder *d);

/* Copies the next nbytes of the text, at most what is left of it. The turn need not be the
 * section's any more. */
void section_read(struct sections *s, struct section_decoder *d, void *to, size_t nbytes);

/* How much of the text has not been read. */
size_t section_nbytes_left(const struct section_decoder *d);

/* After SECTION_ENDED, when all text has been read: waits until that of all earlier sections has
 * been, too. *crc, *text_nbytes: of the member's whole text. */
void sections_check(struct sections *s, struct section_decoder *d, uint32_t *crc,
		    uint64_t *text_nbytes);

/* After sections_check, under the caller's lock: gives what follows the member's data back to the
 * feed. */
void sections_end(struct sections *s, struct section_decoder *d);

/* Makes all threads leave: what is handed out is void, and no member is open any more. Any thread. */
void sections_stop(struct sections *s);

/* What has been done by decoders that were taken back. Any thread. */
void sections_sum_up(struct sections *s, struct section_totals *totals);

#endif
