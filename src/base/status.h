/* SPDX-License-Identifier: MIT
 *
 * status.h - what can go wrong, in one table, and the record of one fault.
 *
 * No I/O, no allocation; it includes nothing of the program, and the types that each file needs for all that
 * include it. Every function that can fail returns a status, and fills a fault with the details it has: without any,
 * as of STATUS_NO_MEMORY, whoever ends the work with the fault completes it (fault_complete). Only message.c prints a
 * fault, on stderr.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define STATUS_FIRST_RUN "the first run without --from-state"
#define STATUS_NO_STATE "a run over all inputs without --from-state"

/* name, words, exit status, what to try where a fault has no better remedy, or "". In the words, @ stands for the
 * fault's detail as a value, in quotes, and % for the detail as it is; words without either are followed by the
 * detail, if there is one. */
#define STATUS_TABLE(X) \
	X(STATUS_OK, "no error", 0, "") \
	X(STATUS_NO_MEMORY, "out of memory", 1, "--threads 1, or a smaller --memory") \
	X(STATUS_MEMORY_LIMIT, "more memory needed to keep values than --memory allows", 1, "") \
	X(STATUS_OPEN, "cannot open", 1, "") \
	X(STATUS_READ, "read error", 1, "") \
	X(STATUS_IS_OUTPUT, "is the output as well: write to another file", 1, "") \
	X(STATUS_IS_INPUT, "is an input as well: write to another file", 1, "") \
	X(STATUS_NOT_REGULAR, "is not a regular file: save the state in one", 1, "") \
	X(STATUS_NOT_SVG, "is there already and is no SVG: --svg does not overwrite it", 1, "") \
	X(STATUS_NOT_STATE, "is there already and is no state: --save-state does not overwrite it", 1, "") \
	X(STATUS_SHRANK, "file shrank while it was read", 1, "a copy of the file that nothing writes to") \
	X(STATUS_CHANGED, "the input changed while it was read several times", 1, "a copy of it that nothing writes to") \
	X(STATUS_WRITE, "write error", 1, "") \
	X(STATUS_TEMPORARY, "cannot write or read a temporary file", 1, "TMPDIR=FOLDER with more room, or --memory SIZE with more") \
	X(STATUS_NO_OUTPUT, "standard output is closed: the result has nowhere to go", 1, "") \
	/* of compressed data, "FORMAT data" by the fault's detail */ \
	X(STATUS_DAMAGED, "corrupt %", 1, "") \
	X(STATUS_TRUNCATED, "truncated %", 1, "") \
	X(STATUS_TRAILING, "trailing garbage after %", 1, "") \
	/* a format that is not read; its name and the remedy are the fault's detail */ \
	X(STATUS_FOREIGN, "not CSV but %", 1, "") \
	X(STATUS_NOT_A_NUMBER, "not a number: @", 1, "--invalid skip") \
	X(STATUS_NUL, "NUL byte in @: try iconv -f UTF-16 -t UTF-8, or tr '\\0' '\\n'", 1, "") \
	X(STATUS_OUT_OF_RANGE, "number beyond 10^-400 to 10^400: @", 1, "--invalid skip") \
	X(STATUS_NOT_A_DATE, "not an ISO date: @", 1, "") \
	X(STATUS_TIME_BACKWARDS, "earlier than the time before it: @", 1, "") \
	X(STATUS_NOT_BOTH_NUMBERS, "cannot be compared with the other value: @", 1, \
	  "text(COL) in place of one column, to compare texts, or --invalid skip") \
	X(STATUS_NOT_IN_FORMAT, "not a time in the format of the expression: @", 1, "--invalid skip") \
	X(STATUS_NOT_A_DURATION, "not a duration: @", 1, "1h30m, 01:30:15 or 10:00") \
	X(STATUS_NOT_A_SIZE, "not a size: @", 1, "1.5K, 10 MB or 2GiB") \
	X(STATUS_NOT_AN_INTEGER, "not an integer: @", 1, "--invalid skip") \
	X(STATUS_UNWRITABLE, \
	  "a text with a delimiter, a quote or a line end in it cannot be written in this input: @", 1, "") \
	X(STATUS_CURRENCY, "%", 1, "") \
	X(STATUS_TOO_COSTLY, \
	  "a regular expression takes too many steps on this value", 1, "a simpler pattern, or --invalid skip") \
	X(STATUS_RAGGED, "%", 1, "") \
	X(STATUS_HEADER_AGAIN, "this record is the header again", 1, "") \
	X(STATUS_PACKED, "%", 1, "") \
	X(STATUS_LONG_RECORD, "record longer than 256 MiB; is a quote left open?", 1, "--quote none, if quotes are data") \
	X(STATUS_OPEN_QUOTE, "quoted field is never closed", 1, "--quote none, if quotes are data") \
	X(STATUS_HEADER_DIFFERS, "header differs from the first file's: --union prints the columns of all files, --select COLS those that they share", 1, "") \
	X(STATUS_HEADER_LACKS, \
	  "in the first file's header, but not in this one: rename it, or say --union, with which it is missing here", 1, "") \
	X(STATUS_HEADER_REPEATS, \
	  "not as often in this header as in the first file's", 1, "each file by itself, or another name in one of them") \
	X(STATUS_HEADER_UNCLEAR, \
	  "this record may be a header: say -H if it is; if it is data, try: cat FILE... | gpustat ...", 1, "") \
	X(STATUS_HEADER_LATER, \
	  "this record may be a header, where the first file has none: say -N if it is data", 1, "sed 1d, if it is one") \
	X(STATUS_OPEN_ESCAPE, "nothing follows the escape byte that ends the file", 1, "no --escape, if the byte is data") \
	X(STATUS_STRAY_QUOTE, "text behind a closing quote", 1, "") \
	X(STATUS_BLANK_QUOTE, \
	  "blanks between a quote and a delimiter: try --trim, or --quote none if quotes are data", 1, "") \
	X(STATUS_DOUBTFUL_HEADER, \
	  "@ may be names or data: say -H if these are names, -N if they are data", 1, "") \
	X(STATUS_MISALIGNED, "%", 1, "") \
	X(STATUS_UNALIGNED, "this record's words do not stand below the header's names", 1, "") \
	X(STATUS_ALIGNED_ONLY, \
	  "records that are read below their names are printed only as they came, since fields may be empty or hold blanks", \
	  1, "--select, --only, or --where alone") \
	X(STATUS_ROW_NAMES, \
	  "each record has one field more than this header: R and pandas write no name above " \
	  "the names of rows", 1, "") \
	X(STATUS_EMPTY, \
	  "the input is empty, and has no column @: did the command that writes it fail?", 1, "") \
	X(STATUS_CR_LINES, "lines end in CR alone: try tr '\\r' '\\n'", 1, "") \
	X(STATUS_FEW_LINES, "fewer lines than --skip-lines drops", 1, "") \
	X(STATUS_DELIMITER_DIFFERS, "another delimiter than the first file's: @", 1, "") \
	X(STATUS_MANY_KEYS, "more different values than there is memory for", 1, "") \
	X(STATUS_MANY_GROUPS, "more groups than there is memory for", 1, "") \
	X(STATUS_NO_NUMERIC_COLUMN, "no column holds numbers", 1, "") \
	X(STATUS_MANY_BINS, "more than 100000 bins: try --hist with a greater WIDTH", 1, "") \
	/* the version that wrote it is the fault's detail */ \
	X(STATUS_PART_VERSION, "part in the format of another gpustat", 1, "that version, or write the part again") \
	X(STATUS_PART_FOREIGN, "not a part: --merge takes what --partial writes", 1, "") \
	X(STATUS_PART_EMPTY, "the file is empty: did the command that writes this part fail?", 1, "") \
	/* the first of its options is the fault's detail */ \
	X(STATUS_PART_RECORDS, \
	  "a state of new columns, which --merge cannot take", 1, "--from-state, to print the records that follow") \
	X(STATUS_PART_DAMAGED, "damaged part: write it again", 1, "") \
	X(STATUS_PART_TRUNCATED, "truncated part: write it again", 1, "") \
	/* the same of a state; the version is the detail of the first */ \
	X(STATUS_STATE_VERSION, "state in the format of another gpustat", 1, "that version, or " STATUS_NO_STATE) \
	X(STATUS_STATE_FOREIGN, "not a state: --from-state takes what --save-state writes", 1, STATUS_FIRST_RUN) \
	X(STATUS_STATE_EMPTY, "the file is empty, and no state", 1, STATUS_FIRST_RUN) \
	X(STATUS_STATE_DAMAGED, "damaged state", 1, STATUS_NO_STATE) \
	X(STATUS_STATE_TRUNCATED, "truncated state", 1, STATUS_NO_STATE) \
	/* the option that differs is the fault's detail */ \
	X(STATUS_NOT_PLAIN, "not a plain file: --part takes one that is not compressed, or only by bgzip", 1, "") \
	X(STATUS_PART_ORDER, "%", 1, "") \
	X(STATUS_PART_QUERY, "another query than the first part's", 1, "the same options for all parts") \
	X(STATUS_STATE_QUERY, "state of another query", 1, "the options of the run that saved it, or another file") \
	X(STATUS_RANK_VERSION, "ranks of different versions", 1, "") \
	X(STATUS_GPU, "GPU failed", 1, "--device cpu") \
	X(STATUS_GPU_LOST, "GPU failed with what it kept: to be run again without it", 1, "") \
	X(STATUS_NO_GPU, "no usable GPU", 1, "--device cpu") \
	X(STATUS_ENOUGH, "so many records as --head asks for", 1, "") \
	X(STATUS_MISGUESSED, "wrong guess: to be run again", 1, "") \
	X(STATUS_WRONG_RESULT, "wrong results", 1, "") \
	X(STATUS_UNKNOWN_COLUMN, "unknown column @", 2, "") \
	X(STATUS_USAGE, "usage error", 2, "")

enum status {
#define STATUS_ENUM(name, words, exit_status, remedy) name,
	STATUS_TABLE(STATUS_ENUM)
#undef STATUS_ENUM
};

/* Leaves the function with the status that call returns unless it is STATUS_OK. What has been begun is cleaned up by its
 * owner. */
#define TRY(call)                              \
	do {                                   \
		enum status try_ = (call);     \
		if (try_ != STATUS_OK)         \
			return try_;           \
	} while (0)

/* The next of several steps, after the last of which something is to be freed: status, a variable,
 * becomes what call returns, unless a step before has failed. */
#define THEN(status, call) ((status) = (status) == STATUS_OK ? (call) : (status))

/* Leaves the function with STATUS_NO_MEMORY if what was to be allocated is NULL. */
#define NEED(allocated)                          \
	do {                                     \
		if (!(allocated))                \
			return STATUS_NO_MEMORY; \
	} while (0)

#define FAULT_DETAIL_NBYTES 256
#define FAULT_EXCESS_NBYTES 128
#define FAULT_REMEDY_NBYTES 256

/* One fault, with all that its message needs. Fields that do not apply are 0 or "". */
struct fault {
	enum status status;
	int error_number;                 /* errno, or 0 */
	const char *file;                 /* name as the user gave it; not owned */
	uint64_t line;                    /* 1-based; 0: none */
	const char *column;               /* column name; not owned */
	char detail[FAULT_DETAIL_NBYTES]; /* the value, or a library's words */
	size_t detail_nbytes;             /* bytes in detail; may hold NUL bytes */
	size_t value_nbytes;              /* length of the whole value where detail is its start */
	char excess[FAULT_EXCESS_NBYTES]; /* how much was left out, if that is the error */
	char remedy[FAULT_REMEDY_NBYTES]; /* what to try instead, or "" */
};

/* The status's words, for a message. */
const char *status_words(enum status status);

/* What to try where a fault of this status has no better remedy, or "". */
const char *status_remedy(enum status status);

/* The exit status of a program that fails so: 1 or 2. */
int status_exit(enum status status);

/* Fills f with status and an optional library text (may be NULL); returns status. */
enum status fault_set(struct fault *f, enum status status, int error_number, const char *words);

/* The same, with a file's name. */
enum status fault_set_file(struct fault *f, enum status status, int error_number, const char *file);

/* Makes f a fault of that status without details, unless it is a fault of that status already: a function that runs out of
 * memory need not fill it. STATUS_OK changes nothing. Returns status. */
enum status fault_complete(struct fault *f, enum status status);

/* Fills f with STATUS_USAGE and a sentence, cut where it does not fit. It stays one line: a
 * line end, which only an argument can have brought in, becomes \n. Returns STATUS_USAGE. */
enum status fault_set_usage(struct fault *f, const char *sentence);

/* The same, formatted: what is wrong with an option's argument. */
__attribute__((format(printf, 2, 3))) enum status option_fault(struct fault *fault, const char *format, ...);

/* Fills f's detail with a value's bytes, cut to what fits; returns status. */
enum status fault_set_value(struct fault *f, enum status status, const char *value, size_t nbytes);
