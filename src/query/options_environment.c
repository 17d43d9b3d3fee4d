/* SPDX-License-Identifier: MIT
 *
 * options_environment.c - the environment's variables: see options_check.h.
 */
#include <stdlib.h>
#include <string.h>

#include "codec/codec.h"
#include "codec/decoder.h"
#include "codec/inflate.h"
#include "query/options_check.h"
#include "simd/simd.h"

#define SIMD_VARIABLE "GPUSTAT_SIMD"

/* Uses the instruction set that the environment names. */
static enum status choose_simd(struct fault *fault)
{
	const char *name = getenv(SIMD_VARIABLE);

	if (!name || !*name || simd_choose(name))
		return STATUS_OK;
	for (size_t i = 0; simd_all[i]; i++)
		if (!strcmp(simd_all[i]->name, name))
			return option_fault(fault, SIMD_VARIABLE ": this machine does not have '%.64s'", name);
	return option_fault(fault, SIMD_VARIABLE ": '%.64s' is no instruction set of this program",
			      name);
}

/* Refuses a name that inflate.c would ignore. */
static enum status check_inflate(struct fault *fault)
{
	const char *name = getenv(INFLATE_VARIABLE);

	if (!name || !*name || inflate_find(name))
		return STATUS_OK;
	return option_fault(fault, INFLATE_VARIABLE ": '%.64s' is neither own nor zlib", name);
}

/* The width of a plot, if standard output is no terminal. Nothing and 0 mean that it is not known. */
static enum status check_width(const struct options *o, struct fault *fault)
{
	const char *text = getenv("COLUMNS"), *end;
	uint64_t width;

	if (!o->picture.plots || !text || !*text)
		return STATUS_OK;
	end = option_digits(text, UINT32_MAX, &width);
	if (!end || *end)
		return option_fault(fault, "COLUMNS: '%.64s' is not a number of columns, such as 80", text);
	return STATUS_OK;
}

enum status options_read_environment(struct options *o, struct fault *fault)
{
	const char *text = getenv(CHUNK_VARIABLE), *end;
	enum status status = choose_simd(fault) ? STATUS_USAGE : check_inflate(fault);
	uint64_t number;

	if (status == STATUS_OK)
		status = check_width(o, fault);
	if (status != STATUS_OK || !text || !*text)
		return status;
	end = option_digits(text, 1ul << 30, &number);
	if (!end || *end || number == 0)
		return option_fault(fault, CHUNK_VARIABLE ": '%.64s' is not a number from 1 to 2^30", text);
	o->chunk_nbytes = number;
	return STATUS_OK;
}
