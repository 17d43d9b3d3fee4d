/* SPDX-License-Identifier: MIT
 *
 * kernels/ladder/memory.cu - what a rung holds from open to close. See ladder.cuh.
 */
#include "kernels/ladder/ladder.cuh"

cudaError_t ladder_scratch(struct ladder_run *run, size_t nbytes)
{
	/* A rung that needs none still gets an address that it may hand on. */
	cudaError_t error = cudaMalloc(&run->scratch, nbytes > 0 ? nbytes : 1);

	if (error != cudaSuccess) {
		run->scratch = NULL;
		return error;
	}
	run->scratch_nbytes = nbytes;
	return cudaMemset(run->scratch, 0, nbytes);
}

void ladder_close(struct ladder_run *run)
{
	(void)cudaFree(run->scratch); /* an error of earlier work: its launch's wait told it */
	run->scratch = NULL;
	run->scratch_nbytes = 0;
}
