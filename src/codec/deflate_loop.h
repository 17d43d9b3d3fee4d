/* SPDX-License-Identifier: MIT
 *
 * deflate_loop.h - the loops over a block's codes, a template: of SYMBOL, which is what is written,
 * ROOM, the struct of room for it, and NAME(x), which makes names of functions.
 *
 * There are two ways. decode_one decodes one code with every check: near the ends of the input and
 * of the output, and where a code is odd. The fast way takes as many steps at once as input and
 * room suffice for, whatever the codes turn out to be. A step looks up up to two literals and a
 * length, and copies. Most entries have a length; where one has none, the copy is one of no bytes
 * from somewhere, because to branch would be mispredicted. In a block of mostly literals that branch
 * is mispredicted seldom, and a step looks up several times.
 */

#define SYMBOLS_AT_ONCE 16
#define NEAR_NBYTES 64   /* of input that the fast way wants ahead */
#define STEP_NBYTES 9    /* of input that a step takes at most: 69 bits */
#define STEP_NSYMBOLS 264 /* 6 literals and a match */
#define NOWHERE 64       /* the distance of a copy of nothing */

typedef SYMBOL NAME(vector) __attribute__((vector_size(SYMBOLS_AT_ONCE * sizeof(SYMBOL))));

/* ---- copies ---- */

DEFLATE_INLINE void NAME(move)(SYMBOL *to, const SYMBOL *from)
{
	NAME(vector) v;

	memcpy(&v, from, sizeof v);
	memcpy(to, &v, sizeof v);
}

/* A distance shorter than a vector: the period that can be copied doubles each time. */
DEFLATE_INLINE void NAME(copy_near)(SYMBOL *to, size_t distance, const SYMBOL *end)
{
	const SYMBOL *from = to - distance;

	while (distance < SYMBOLS_AT_ONCE && to < end) {
		NAME(move)(to, from);
		to += distance;
		distance += distance;
	}
	for (; to < end; to += SYMBOLS_AT_ONCE)
		NAME(move)(to, to - distance);
}

/* Writes up to two vectors more than n symbols. */
DEFLATE_INLINE void NAME(copy)(SYMBOL *to, size_t distance, size_t n)
{
	const SYMBOL *from = to - distance, *end = to + n;

	if (DEFLATE_UNLIKELY(distance < SYMBOLS_AT_ONCE)) {
		NAME(copy_near)(to, distance, end);
		return;
	}
	NAME(move)(to, from);
	NAME(move)(to + SYMBOLS_AT_ONCE, from + SYMBOLS_AT_ONCE);
	if (DEFLATE_UNLIKELY(n > 2 * SYMBOLS_AT_ONCE))
		for (to += 2 * SYMBOLS_AT_ONCE; to < end; to += SYMBOLS_AT_ONCE)
			NAME(move)(to, to - distance);
}

/* ---- one code, carefully ---- */

/* Takes a distance. Returns 0 and sets *words if the bits are no code of a distance. */
static size_t NAME(take_distance)(struct deflate_bits *b, const struct deflate_tables *t,
				  const char **words)
{
	deflate_refill(b);
	uint32_t entry = t->distance[deflate_low(b->hold, DEFLATE_DISTANCE_BITS)];
	if (entry & DEFLATE_DISTANCE_EXCEPTIONAL && entry & DEFLATE_DISTANCE_SUBTABLE)
		entry = t->distance[(entry >> 16) + deflate_low(b->hold >> DEFLATE_DISTANCE_BITS,
								t->distance_subtable_bits)];
	uint64_t extra = deflate_low(b->hold, entry) >> (entry >> 8 & 63);
	deflate_drop(b, entry & 63);
	*words = "invalid distance code";
	return entry & DEFLATE_DISTANCE_EXCEPTIONAL ? 0 : (entry >> 16) + (size_t)extra;
}

/* Takes the match whose length's entry was looked up in `hold`. */
static enum deflate_codes NAME(one_match)(struct deflate_bits *b, const struct deflate_tables *t,
					  ROOM *room, uint64_t hold, uint32_t entry,
					  const char **words)
{
	size_t n = (entry >> 16 & 0x1ff) + (size_t)(deflate_low(hold, entry) >> (entry >> 8 & 63));
	size_t distance = NAME(take_distance)(b, t, words);

	if (deflate_is_beyond(b))
		return DEFLATE_CODES_STARVE;
	if (distance == 0)
		return DEFLATE_CODES_DAMAGED;
	*words = "invalid distance too far back";
	if (distance > (size_t)(room->out - room->floor))
		return DEFLATE_CODES_DAMAGED;
	if (room->exact && n > (size_t)(room->limit - room->out))
		return DEFLATE_CODES_FULL;
	if (room->exact)
		for (; n; n--, room->out++)
			*room->out = *(room->out - distance);
	else
		NAME(copy)(room->out, distance, n);
	room->out += n;
	return DEFLATE_CODES_GO_ON;
}

static enum deflate_codes NAME(one)(struct deflate_bits *b, const struct deflate_tables *t,
				    ROOM *room, const char **words)
{
	deflate_refill(b);
	uint64_t hold = b->hold;
	uint32_t entry = t->single[deflate_low(hold, t->bits)];
	if ((entry & (DEFLATE_EXCEPTIONAL | DEFLATE_NO_LENGTH)) == DEFLATE_EXCEPTIONAL)
		entry = t->single[(entry >> 16 & 0x1fff) + deflate_low(hold >> t->bits, t->subtable_bits)];
	deflate_drop(b, entry & 63);
	if (deflate_is_beyond(b))
		return DEFLATE_CODES_STARVE;
	if (entry & DEFLATE_EXCEPTIONAL) {
		*words = "invalid literal/length code";
		return entry >> 16 == DEFLATE_END_OF_BLOCK >> 16 ? DEFLATE_CODES_END
								 : DEFLATE_CODES_DAMAGED;
	}
	if (!(entry & DEFLATE_NO_LENGTH))
		return NAME(one_match)(b, t, room, hold, entry, words);
	if (room->exact && room->out == room->limit)
		return DEFLATE_CODES_FULL;
	*room->out++ = (SYMBOL)(entry >> 16 & 0xff);
	return DEFLATE_CODES_GO_ON;
}

/* Leaves *b where it was, unless the code is decoded. */
static __attribute__((noinline)) enum deflate_codes NAME(decode_one)(
	struct deflate_bits *b, const struct deflate_tables *t, ROOM *room, const char **words)
{
	struct deflate_bits before = *b;
	enum deflate_codes codes = NAME(one)(b, t, room, words);

	if (codes == DEFLATE_CODES_STARVE || codes == DEFLATE_CODES_FULL)
		*b = before;
	return codes;
}

/* ---- many codes ---- */

enum NAME(step) {
	NAME(step_goes_on),
	NAME(step_is_odd), /* a long code, the end, or no code is next */
	NAME(step_has_no_distance),
	NAME(step_is_too_far),
};

/* Looks up the next entry. *hold: what it was looked up in. False: it is exceptional. */
DEFLATE_INLINE bool NAME(look_up)(const struct deflate_bits *b, const struct deflate_tables *t,
				  unsigned bits, uint64_t *hold, uint64_t *entry)
{
	*hold = b->hold;
	*entry = t->several[b->hold & ((1u << bits) - 1)];
	return DEFLATE_LIKELY((int32_t)*entry >= 0);
}

/* Writes the entry's literals, and room for two in any case. */
DEFLATE_INLINE SYMBOL *NAME(put_literals)(struct deflate_bits *b, uint64_t entry, SYMBOL *out)
{
	out[0] = (SYMBOL)(entry >> 32);
	out[1] = (SYMBOL)(entry >> (32 + 8 * sizeof *out));
	/* Only the lowest six bits of nbits count. */
	b->hold >>= entry & 63;
	b->nbits -= (uint32_t)entry;
	return out + ((uint32_t)entry >> 14 & 3);
}

/* Takes the distance of the entry's length, and copies. branchless: the entry may have no length.
 * checks: the distance may be too long. */
DEFLATE_INLINE enum NAME(step) NAME(copy_match)(struct deflate_bits *b,
						const struct deflate_tables *t, uint64_t hold,
						uint64_t wide_entry, SYMBOL **out,
						const SYMBOL *floor, bool branchless, bool checks)
{
	uint32_t entry = (uint32_t)wide_entry;
	uint32_t d = t->distance[b->hold & ((1u << DEFLATE_DISTANCE_BITS) - 1)];
	size_t n, distance;

	deflate_refill(b);
	n = (entry >> 16 & 0x1ff) + (size_t)(DEFLATE_LOW(hold, entry) >> (entry >> 8 & 63));
	if (branchless)
		d = DEFLATE_SELECT(entry, DEFLATE_NO_LENGTH, (uint32_t)NOWHERE << 16, d);
	if (DEFLATE_UNLIKELY(d & DEFLATE_DISTANCE_EXCEPTIONAL)) {
		if (d & DEFLATE_DISTANCE_SUBTABLE)
			d = t->distance[(d >> 16) + deflate_low(b->hold >> DEFLATE_DISTANCE_BITS,
								t->distance_subtable_bits)];
		if (d & DEFLATE_DISTANCE_EXCEPTIONAL)
			return NAME(step_has_no_distance);
	}
	distance = (d >> 16) + (size_t)(DEFLATE_LOW(b->hold, d) >> (d >> 8 & 63));
	b->hold >>= d & 63;
	b->nbits -= d;
	if (checks && DEFLATE_UNLIKELY(distance > (size_t)(*out - floor)))
		return NAME(step_is_too_far);
	NAME(copy)(*out, distance, n);
	*out += n;
	return NAME(step_goes_on);
}

DEFLATE_INLINE enum NAME(step) NAME(step_plain)(struct deflate_bits *b,
						const struct deflate_tables *t, SYMBOL **out,
						const SYMBOL *floor, bool checks)
{
	uint64_t hold, entry;

	if (!NAME(look_up)(b, t, DEFLATE_BITS, &hold, &entry))
		return NAME(step_is_odd);
	*out = NAME(put_literals)(b, entry, *out);
	return NAME(copy_match)(b, t, hold, entry, out, floor, true, checks);
}

/* Up to three entries of 12 bits, the last with 5 extra bits, leave 8 of 56 for a distance. */
DEFLATE_INLINE enum NAME(step) NAME(step_heavy)(struct deflate_bits *b,
						const struct deflate_tables *t, SYMBOL **out,
						const SYMBOL *floor, bool checks)
{
	enum NAME(step) step = NAME(step_goes_on);
	uint64_t hold, entry = 0;

#pragma GCC unroll 3
	for (unsigned k = 0; k < 3; k++) {
		if (!NAME(look_up)(b, t, DEFLATE_HEAVY_BITS, &hold, &entry))
			return NAME(step_is_odd);
		*out = NAME(put_literals)(b, entry, *out);
		if (!((uint32_t)entry & DEFLATE_NO_LENGTH)) {
			step = NAME(copy_match)(b, t, hold, entry, out, floor, false, checks);
			break;
		}
	}
	deflate_refill(b);
	return step;
}

/* Takes up to nsteps, one at least. */
DEFLATE_INLINE enum NAME(step) NAME(take_steps)(struct deflate_bits *b,
						const struct deflate_tables *t, SYMBOL **to,
						const SYMBOL *floor, size_t nsteps, bool heavy,
						bool checks)
{
	struct deflate_bits at = *b; /* in registers */
	SYMBOL *out = *to;
	enum NAME(step) step;

	deflate_refill(&at);
	do {
		step = heavy ? NAME(step_heavy)(&at, t, &out, floor, checks)
			     : NAME(step_plain)(&at, t, &out, floor, checks);
	} while (DEFLATE_LIKELY(step == NAME(step_goes_on)) && --nsteps);
	at.nbits &= 63;
	*b = at;
	*to = out;
	return step;
}

#define STEPS(heavy, checks) NAME(take_steps)(b, t, &room->out, room->floor, nsteps, heavy, checks)

/* Takes at least one step; input and room must suffice. */
static enum deflate_codes NAME(decode_many)(struct deflate_bits *b, const struct deflate_tables *t,
					    ROOM *room, const char **words)
{
	size_t before = (size_t)(room->out - room->floor);
	size_t nsteps = ((size_t)(b->end - b->in) - 16) / STEP_NBYTES;
	size_t nsteps_out = (size_t)(room->limit - room->out) / STEP_NSYMBOLS + 1;
	bool heavy = deflate_is_heavy(t), checks = before < DEFLATE_DISTANCE_MAX;

	if (nsteps > nsteps_out)
		nsteps = nsteps_out;
	if (checks && nsteps > (DEFLATE_DISTANCE_MAX - before) / STEP_NSYMBOLS + 1)
		nsteps = (DEFLATE_DISTANCE_MAX - before) / STEP_NSYMBOLS + 1;
	enum NAME(step) step = heavy ? checks ? STEPS(true, true) : STEPS(true, false) :
			       checks ? STEPS(false, true) : STEPS(false, false);
	switch (step) {
	case NAME(step_goes_on):
		break;
	case NAME(step_is_odd):
		return NAME(decode_one)(b, t, room, words);
	case NAME(step_has_no_distance):
		*words = "invalid distance code";
		return DEFLATE_CODES_DAMAGED;
	case NAME(step_is_too_far):
		*words = "invalid distance too far back";
		return DEFLATE_CODES_DAMAGED;
	}
	return DEFLATE_CODES_GO_ON;
}

static enum deflate_codes NAME(decode)(struct deflate_bits *b, const struct deflate_tables *t,
				       ROOM *room, const char **words)
{
	enum deflate_codes codes = DEFLATE_CODES_GO_ON;

	while (codes == DEFLATE_CODES_GO_ON) {
		if (room->exact)
			codes = NAME(decode_one)(b, t, room, words);
		else if (room->out >= room->limit)
			codes = DEFLATE_CODES_FULL;
		else if (b->end - b->in < NEAR_NBYTES || room->out - room->floor < NOWHERE)
			codes = NAME(decode_one)(b, t, room, words);
		else
			codes = NAME(decode_many)(b, t, room, words);
	}
	return codes;
}

#undef STEPS
#undef SYMBOLS_AT_ONCE
#undef NEAR_NBYTES
#undef STEP_NBYTES
#undef STEP_NSYMBOLS
#undef NOWHERE
