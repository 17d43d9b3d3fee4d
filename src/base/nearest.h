/* SPDX-License-Identifier: MIT
 *
 * nearest.h - which of some names was probably meant by what was typed.
 */
#pragma once

#include <stddef.h>

struct nearest {
	const char *typed; /* nbytes; not owned */
	size_t nbytes;
	size_t limit;     /* a name is taken up to this distance */
	const char *name; /* the nearest one offered; NULL: none is near. Not owned. */
};

/* Begins with no name. A name may be up to a third of the letters away. */
struct nearest nearest_begin(const char *typed, size_t nbytes);

/* Takes the name if it is nearer than all before. A name that begins with what was typed, or that
 * differs from it in case only, is at distance 1: it may have been meant. */
void nearest_offer(struct nearest *n, const char *name);
