/* SPDX-License-Identifier: Apache-2.0 */
/* fu_emulate: a generated .cu as C++17 on the CPU.
 *
 * Stands where the primitives stand on a GPU: it has its own version of ptx.cuh
 * and includes the rest of templates/ unchanged. README.md beside this file says
 * what is checked and which file does it. */
#ifndef FU_EMULATE_H
#define FU_EMULATE_H

/* The C headers alone: libstdc++'s own math.h takes as long to read as all of
 * ours. */
#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS 1
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define __device__
#define __host__
/* Kernels are built as they stand, the machine with the compiler's optimization:
 * most of a build is their text, most of a run is the machine. */
#ifdef __clang__
#define __global__ __attribute__((optnone, noinline))
#else
#define __global__ __attribute__((optimize("O0")))
#endif
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define FU_RESTRICT __restrict__

#include "fu_words.h"
#include "fu_vote.h"
#include "fu_atomic.h"
#include "fu_bulk.h"
#include "fu_cluster.h"

/* The portable templates, on top of all that. */
#include "async.cuh"
#include "atomic.cuh"
#include "cluster.cuh"
#include "convert.cuh"
#include "grid.cuh"
#include "integer.cuh"
#include "math.cuh"
#include "order.cuh"
#include "prim.cuh"
#include "reduce.cuh"
#include "special.cuh"
#include "divide.cuh"
#include "storage.cuh"
#include "vote.cuh"

#endif
