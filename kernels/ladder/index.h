/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/index.h - the index functions of the textbook rungs: which values a thread
 * combines.
 *
 * The kernels call these functions, and so does `gpustat-bench model`, which counts what the
 * kernels cost: the count is of the code that runs, not of a formula. Source: W. Hwu, D. Kirk, I.
 * El Hajj, "Programming Massively Parallel Processors", 4th ed., 2022, chapters 10 (reduction) and
 * 11 (prefix sum).
 */
#pragma once

#include <stdbool.h>

#include "../../src/base/hd.h"

/* One step of a thread: x[to] becomes combine(x[to], x[from]) in reductions and
 * combine(x[from], x[to]) in scans, where `from` is earlier. */
struct ladder_step {
	bool active;
	unsigned to, from;
};

/* ---- reductions of n values by n / 2 threads, rounded up to a power of two ---- */

/* simple: thread t owns position 2t. The stride grows, 1, 2, 4 ... up to the number of threads;
 * threads whose number is a multiple of it are active. */
HD struct ladder_step simple_step(unsigned thread, unsigned stride)
{
	struct ladder_step step = {thread % stride == 0, 2 * thread, 2 * thread + stride};
	return step;
}

/* convergent: thread t owns position t. The stride shrinks from the number of threads to 1; threads
 * whose number is below it are active. shared_memory does the same after its first step. */
HD struct ladder_step convergent_step(unsigned thread, unsigned stride)
{
	struct ladder_step step = {thread < stride, thread, thread + stride};
	return step;
}

/* ---- scans of a section of n values, a power of two ---- */

/* kogge_stone: n threads; stride 1, 2, 4 ... n / 2: each thread adds the value that is stride
 * positions before its own. */
HD struct ladder_step kogge_stone_step(unsigned thread, unsigned stride)
{
	struct ladder_step step = {thread >= stride, thread, thread - stride};
	return step;
}

/* brent_kung: n / 2 threads. Up the tree, stride 1, 2, 4 ... n / 2: of every 2 stride positions,
 * the last one adds the last one of the first half. */
HD struct ladder_step brent_kung_up_step(unsigned thread, unsigned stride, unsigned n)
{
	unsigned to = (thread + 1) * 2 * stride - 1;
	struct ladder_step step = {to < n, to, to - stride};
	return step;
}

/* Down the tree, stride n / 4 ... 1: each finished position is added to the one that is stride
 * further. */
HD struct ladder_step brent_kung_down_step(unsigned thread, unsigned stride, unsigned n)
{
	unsigned from = (thread + 1) * 2 * stride - 1;
	struct ladder_step step = {from + stride < n, from + stride, from};
	return step;
}
