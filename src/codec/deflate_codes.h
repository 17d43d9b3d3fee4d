/* SPDX-License-Identifier: MIT
 *
 * deflate_codes.h - the decoding of blocks, a template of deflate.c: of SYMBOL, which is what is written, ROOM,
 * the struct of room for it, NAME(x), which makes names of functions, and LOW and SELECT, which instruction sets have of their own.
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

INLINE void NAME(move)(SYMBOL *to, const SYMBOL *from)
{
	NAME(vector) v;

	memcpy(&v, from, sizeof v);
	memcpy(to, &v, sizeof v);
}

/* A distance shorter than a vector: the period that can be copied doubles each time. */
INLINE void NAME(copy_near)(SYMBOL *to, size_t distance, const SYMBOL *end)
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
INLINE void NAME(copy)(SYMBOL *to, size_t distance, size_t n)
{
	const SYMBOL *from = to - distance, *end = to + n;

	if (UNLIKELY(distance < SYMBOLS_AT_ONCE)) {
		NAME(copy_near)(to, distance, end);
		return;
	}
	NAME(move)(to, from);
	NAME(move)(to + SYMBOLS_AT_ONCE, from + SYMBOLS_AT_ONCE);
	if (UNLIKELY(n > 2 * SYMBOLS_AT_ONCE))
		for (to += 2 * SYMBOLS_AT_ONCE; to < end; to += SYMBOLS_AT_ONCE)
			NAME(move)(to, to - distance);
}

/* ---- one code, carefully ---- */

/* Takes a distance. Returns 0 if the bits are no code of a distance. */
static size_t NAME(take_distance)(struct deflate_bits *b, const struct deflate_tables *t)
{
	refill(b);
	uint32_t entry = t->distance[low(b->hold, DEFLATE_DISTANCE_BITS)];
	if (entry & DISTANCE_EXCEPTIONAL && entry & DISTANCE_SUBTABLE)
		entry = t->distance[(entry >> 16) + low(b->hold >> DEFLATE_DISTANCE_BITS,
								t->distance_subtable_bits)];
	uint64_t extra = low(b->hold, entry) >> (entry >> 8 & 63);
	drop(b, entry & 63);
	return entry & DISTANCE_EXCEPTIONAL ? 0 : (entry >> 16) + (size_t)extra;
}

/* Takes the match whose length's entry was looked up in `hold`. */
static enum deflate_result NAME(one_match)(struct deflate *d, struct deflate_bits *b, ROOM *room,
					   uint64_t hold, uint32_t entry)
{
	size_t n = (entry >> 16 & 0x1ff) + (size_t)(low(hold, entry) >> (entry >> 8 & 63));
	size_t distance = NAME(take_distance)(b, &d->tables);

	if (is_beyond(b))
		return DEFLATE_STARVES;
	if (distance == 0)
		return damaged(d, "invalid distance code");
	if (distance > (size_t)(room->out - room->floor))
		return damaged(d, "invalid distance too far back");
	NAME(copy)(room->out, distance, n);
	room->out += n;
	return DEFLATE_GOES_ON;
}

/* DEFLATE_ENDED: the block. */
static enum deflate_result NAME(one)(struct deflate *d, struct deflate_bits *b, ROOM *room)
{
	const struct deflate_tables *t = &d->tables;

	refill(b);
	uint64_t hold = b->hold;
	uint32_t entry = t->single[low(hold, t->bits)];
	if ((entry & (EXCEPTIONAL | NO_LENGTH)) == EXCEPTIONAL)
		entry = t->single[(entry >> 16 & 0x1fff) + low(hold >> t->bits, t->subtable_bits)];
	drop(b, entry & 63);
	if (is_beyond(b))
		return DEFLATE_STARVES;
	if (entry & EXCEPTIONAL)
		return entry >> 16 == END_ENTRY >> 16 ? DEFLATE_ENDED : damaged(d, "invalid literal/length code");
	if (!(entry & NO_LENGTH))
		return NAME(one_match)(d, b, room, hold, entry);
	*room->out++ = (SYMBOL)(entry >> 16 & 0xff);
	return DEFLATE_GOES_ON;
}

/* Leaves *b where it was, unless the code is decoded. */
static __attribute__((noinline)) enum deflate_result NAME(decode_one)(struct deflate *d, struct deflate_bits *b,
								      ROOM *room)
{
	b->nbits &= 63; /* decode_many leaves more above */
	struct deflate_bits before = *b;
	enum deflate_result result = NAME(one)(d, b, room);

	if (result == DEFLATE_STARVES)
		*b = before;
	return result;
}

/* ---- many codes ---- */

/* Looks up the next entry. *hold: what it was looked up in. False: it is exceptional. */
INLINE bool NAME(look_up)(const struct deflate_bits *b, const struct deflate_tables *t,
				  unsigned bits, uint64_t *hold, uint64_t *entry)
{
	*hold = b->hold;
	*entry = t->several[b->hold & ((1u << bits) - 1)];
	return LIKELY((int32_t)*entry >= 0);
}

/* Writes the entry's literals, and room for two in any case. */
INLINE SYMBOL *NAME(put_literals)(struct deflate_bits *b, uint64_t entry, SYMBOL *out)
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
INLINE enum step NAME(copy_match)(struct deflate_bits *b,
						const struct deflate_tables *t, uint64_t hold,
						uint64_t wide_entry, SYMBOL **out,
						const SYMBOL *floor, bool branchless, bool checks)
{
	uint32_t entry = (uint32_t)wide_entry;
	uint32_t d = t->distance[b->hold & ((1u << DEFLATE_DISTANCE_BITS) - 1)];
	size_t n, distance;

	refill(b);
	n = (entry >> 16 & 0x1ff) + (size_t)(LOW(hold, entry) >> (entry >> 8 & 63));
	if (branchless)
		d = SELECT(entry, NO_LENGTH, (uint32_t)NOWHERE << 16, d);
	if (UNLIKELY(d & DISTANCE_EXCEPTIONAL)) {
		if (d & DISTANCE_SUBTABLE)
			d = t->distance[(d >> 16) + low(b->hold >> DEFLATE_DISTANCE_BITS,
								t->distance_subtable_bits)];
		if (d & DISTANCE_EXCEPTIONAL)
			return STEP_HAS_NO_DISTANCE;
	}
	distance = (d >> 16) + (size_t)(LOW(b->hold, d) >> (d >> 8 & 63));
	b->hold >>= d & 63;
	b->nbits -= d;
	if (checks && UNLIKELY(distance > (size_t)(*out - floor)))
		return STEP_IS_TOO_FAR;
	NAME(copy)(*out, distance, n);
	*out += n;
	return STEP_GOES_ON;
}

INLINE enum step NAME(step_plain)(struct deflate_bits *b,
						const struct deflate_tables *t, SYMBOL **out,
						const SYMBOL *floor, bool checks)
{
	uint64_t hold, entry;

	if (!NAME(look_up)(b, t, DEFLATE_BITS, &hold, &entry))
		return STEP_IS_ODD;
	*out = NAME(put_literals)(b, entry, *out);
	return NAME(copy_match)(b, t, hold, entry, out, floor, true, checks);
}

/* Up to three entries of 12 bits, the last with 5 extra bits, leave 8 of 56 for a distance. */
INLINE enum step NAME(step_heavy)(struct deflate_bits *b,
						const struct deflate_tables *t, SYMBOL **out,
						const SYMBOL *floor, bool checks)
{
	enum step step = STEP_GOES_ON;
	uint64_t hold, entry = 0;

#pragma GCC unroll 3
	for (unsigned k = 0; k < 3; k++) {
		if (!NAME(look_up)(b, t, DEFLATE_HEAVY_BITS, &hold, &entry))
			return STEP_IS_ODD;
		*out = NAME(put_literals)(b, entry, *out);
		if (!((uint32_t)entry & NO_LENGTH)) {
			step = NAME(copy_match)(b, t, hold, entry, out, floor, false, checks);
			break;
		}
	}
	refill(b);
	return step;
}

/* Takes up to nsteps, one at least. */
INLINE enum step NAME(take_steps)(struct deflate_bits *b,
						const struct deflate_tables *t, SYMBOL **to,
						const SYMBOL *floor, size_t nsteps, bool heavy,
						bool checks)
{
	struct deflate_bits at = *b; /* in registers */
	SYMBOL *out = *to;
	enum step step;

	refill(&at);
	do {
		step = heavy ? NAME(step_heavy)(&at, t, &out, floor, checks)
			     : NAME(step_plain)(&at, t, &out, floor, checks);
	} while (LIKELY(step == STEP_GOES_ON) && --nsteps);
	*b = at;
	*to = out;
	return step;
}

#define STEPS(heavy, checks) NAME(take_steps)(b, t, &room->out, room->floor, nsteps, heavy, checks)

/* Takes at least one step; input and room must suffice. */
static enum deflate_result NAME(decode_many)(struct deflate *d, struct deflate_bits *b, ROOM *room)
{
	const struct deflate_tables *t = &d->tables;
	size_t before = (size_t)(room->out - room->floor);
	size_t nsteps = ((size_t)(b->end - b->in) - 16) / STEP_NBYTES;
	size_t nsteps_out = (size_t)(room->limit - room->out) / STEP_NSYMBOLS + 1;
	bool heavy = is_heavy(t), checks = before < DEFLATE_WINDOW_NBYTES;

	if (nsteps > nsteps_out)
		nsteps = nsteps_out;
	if (checks && nsteps > (DEFLATE_WINDOW_NBYTES - before) / STEP_NSYMBOLS + 1)
		nsteps = (DEFLATE_WINDOW_NBYTES - before) / STEP_NSYMBOLS + 1;
	enum step step = heavy ? checks ? STEPS(true, true) : STEPS(true, false) :
			 checks ? STEPS(false, true) : STEPS(false, false);
	if (step == STEP_IS_ODD)
		return NAME(decode_one)(d, b, room);
	return step == STEP_GOES_ON ? DEFLATE_GOES_ON
	       : damaged(d, step == STEP_IS_TOO_FAR ? "invalid distance too far back" : "invalid distance code");
}

/* ---- blocks ---- */

static enum deflate_result NAME(continue_codes)(struct deflate *d, ROOM *room)
{
	struct deflate_bits b = bits_at(d->in, d->in_nbytes, d->bit);
	enum deflate_result result = DEFLATE_GOES_ON;

	widen_tables(&d->tables, 8 * sizeof(SYMBOL));
	while (result == DEFLATE_GOES_ON) {
		if (room->out >= room->limit)
			result = DEFLATE_FULL;
		else if (b.end - b.in < NEAR_NBYTES || room->out - room->floor < NOWHERE)
			result = NAME(decode_one)(d, &b, room);
		else
			result = NAME(decode_many)(d, &b, room);
	}
	d->bit = bit_of(&b, d->in);
	return result == DEFLATE_ENDED ? end_block(d) : result;
}

static enum deflate_result NAME(continue_stored)(struct deflate *d, ROOM *room)
{
	size_t at = (size_t)(d->bit >> 3), have = d->in_nbytes - at;
	size_t n = have < d->stored_nbytes ? have : d->stored_nbytes;

	if (room->limit - room->out < (ptrdiff_t)n)
		n = room->limit > room->out ? (size_t)(room->limit - room->out) : 0;
	for (size_t i = 0; i < n; i++)
		room->out[i] = d->in[at + i];
	room->out += n;
	d->bit += (uint64_t)n * 8;
	d->stored_nbytes -= n;
	if (d->stored_nbytes)
		return n == have ? DEFLATE_STARVES : DEFLATE_FULL;
	return end_block(d);
}

static enum deflate_result NAME(run)(struct deflate *d, ROOM *room, uint64_t stop_bit)
{
	enum deflate_result result = DEFLATE_GOES_ON;

	while (result == DEFLATE_GOES_ON) {
		if (d->place == DEFLATE_AT_END)
			return DEFLATE_ENDED;
		if (d->place == DEFLATE_AT_DAMAGE)
			return DEFLATE_DAMAGED;
		if (d->place == DEFLATE_AT_HEADER && d->bit >= stop_bit)
			return DEFLATE_BOUNDARY;
		if (d->bit >> 3 >= d->in_nbytes)
			return DEFLATE_STARVES;
		result = d->place == DEFLATE_AT_HEADER	 ? begin_block(d, 8 * sizeof(SYMBOL))
			 : d->place == DEFLATE_IN_STORED ? NAME(continue_stored)(d, room)
							 : NAME(continue_codes)(d, room);
	}
	return result;
}

#undef STEPS
#undef SYMBOLS_AT_ONCE
#undef NEAR_NBYTES
#undef STEP_NBYTES
#undef STEP_NSYMBOLS
#undef NOWHERE
#undef SYMBOL
#undef ROOM
#undef NAME
