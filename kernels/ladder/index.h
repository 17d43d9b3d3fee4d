/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/index.h - who adds what to what: the index functions of the textbook rungs.
 *
 * The kernels of the ladder and `gpustat-bench model`, which counts what they cost, both
 * call these; so the count is of what runs, not of a formula.
 * Source: W. Hwu, D. Kirk, I. El Hajj, "Programming Massively Parallel Processors", 4th
 * ed., 2022, chapters 10 (reduction) and 11 (prefix sum).
 */
#ifndef GPUSTAT_LADDER_INDEX_H
#define GPUSTAT_LADDER_INDEX_H

#include <stdbool.h>

#include "base/hd.h"

/* One step of a thread: x[to] becomes combine(x[to], x[from]) (reductions), or
 * combine(x[from], x[to]) (scans: from is earlier). */
struct ladder_step {
	bool active;
	unsigned to, from;
};

/* ---- reductions of n values by n / 2 threads, rounded up to a power of two ---- */

/* simple: thread t owns position 2t; the stride grows, 1, 2, 4 ... up to the number of
 * threads, and threads whose number it divides stay. */
HD struct ladder_step simple_step(unsigned thread, unsigned stride)
{
	struct ladder_step step = {thread % stride == 0, 2 * thread, 2 * thread + stride};
	return step;
}

/* convergent: thread t owns position t; the stride shrinks from the number of threads
 * to 1, and the threads below it stay. shared_memory does the same after its first step. */
HD struct ladder_step convergent_step(unsigned thread, unsigned stride)
{
	struct ladder_step step = {thread < stride, thread, thread + stride};
	return step;
}

/* ---- scans of a section of n values, a power of two ---- */

/* kogge_stone: n threads; stride 1, 2, 4 ... n / 2: each takes in its neighbour at that
 * distance. */
HD struct ladder_step kogge_stone_step(unsigned thread, unsigned stride)
{
	struct ladder_step step = {thread >= stride, thread, thread - stride};
	return step;
}

/* brent_kung: n / 2 threads. Up the tree, stride 1, 2, 4 ... n / 2: the last position of
 * every 2 stride takes in the last of the half before. */
HD struct ladder_step brent_kung_up_step(unsigned thread, unsigned stride, unsigned n)
{
	unsigned to = (thread + 1) * 2 * stride - 1;
	struct ladder_step step = {to < n, to, to - stride};
	return step;
}

/* Down again, stride n / 4 ... 1: each finished position goes into the one that is
 * stride further. */
HD struct ladder_step brent_kung_down_step(unsigned thread, unsigned stride, unsigned n)
{
	unsigned from = (thread + 1) * 2 * stride - 1;
	struct ladder_step step = {from + stride < n, from + stride, from};
	return step;
}

#endif
