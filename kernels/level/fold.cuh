/* SPDX-License-Identifier: MIT
 *
 * fold.cuh - what a fold is, to the levels above: an identity and a combine.
 *
 * A fold F is a type with
 *     F::value              its partial result, an integer
 *     F::identity()         the result of folding nothing
 *     F::combine(a, b)      the result of a's items followed by b's
 * combine is associative and identity() is neutral on both sides. It need not be
 * commutative: warp, block and grid keep the earlier operand first. fold_affine and the maps of
 * kernels/csv/map_fold.cuh do not commute: tests would notice a level that lost the order.
 */
#pragma once

#include <stdint.h>

#include "../../src/base/hd.h"

template <class T> struct fold_sum {
	typedef T value;
	HD T identity(void) { return 0; }
	HD T combine(T earlier, T later) { return earlier + later; }
};

template <class T> struct fold_or {
	typedef T value;
	HD T identity(void) { return 0; }
	HD T combine(T earlier, T later) { return earlier | later; }
};

/* GREATEST: the largest T, the identity. */
template <class T, T GREATEST> struct fold_min {
	typedef T value;
	HD T identity(void) { return GREATEST; }
	HD T combine(T earlier, T later) { return later < earlier ? later : earlier; }
};

/* LEAST: the smallest T, the identity. */
template <class T, T LEAST> struct fold_max {
	typedef T value;
	HD T identity(void) { return LEAST; }
	HD T combine(T earlier, T later) { return later > earlier ? later : earlier; }
};

/* Composes maps x -> a x + b modulo 2^(half of T's bits); a is in the upper half of the value. It
 * does not commute, and every bit counts: tests use it to check that a level keeps the order.
 * UNSIGNED: T without a sign. */
template <class T, class UNSIGNED = T> struct fold_affine {
	typedef T value;
	static const unsigned half = sizeof(T) * 4;
	static const UNSIGNED mask = ((UNSIGNED)1 << half) - 1;
	HD T identity(void) { return (T)((UNSIGNED)1 << half); }
	HD T combine(T earlier, T later)
	{
		UNSIGNED e = (UNSIGNED)earlier, l = (UNSIGNED)later, a = l >> half;
		return (T)((a * (e >> half) & mask) << half |
			   ((a * (e & mask) + (l & mask)) & mask));
	}
};
