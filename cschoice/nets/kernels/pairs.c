/* The pair block of FETA: hidden units of all pairs of a task, summed per object.
 *
 * A tile of pairs stays in the first cache through all layers, forward and back; the backward pass
 * computes the units of a tile again. Nothing of the size of all pairs is ever in memory.
 *
 * The weights of a layer mirror each other, W = [[S, C], [C, S]]. On the sums u = a + b and the
 * differences v = a - b of the two halves of a pair's units, such a layer is two products of half
 * the size, W [a; b] = [E u + F v; E u - F v] with E = (S + C) / 2 and F = (S - C) / 2: half of the
 * multiplications.
 *
 * One source, compiled for each kind of processor, of which the best is chosen at the first call.
 * Nothing but C is needed: arrays come as pointers.
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

enum { RELU, GELU };
#ifndef TILE_FLOATS
#define TILE_FLOATS 1024
#endif

typedef struct {
    int64_t n_tasks, n_objects;
    int64_t half;          /* of the units of a layer: a multiple of 16 */
    int64_t n_layers;      /* behind the first */
    int64_t activation;    /* RELU or GELU */
    int64_t largest_power; /* of the factors; 1: there are none */
} Shape;

/* left, sums, to_sums and to_left are (tasks, objects, 2 half), sums and to_sums once per power;
 * present is (tasks, objects) or null. parameters has S, C (half, half) and the bias (half) of each
 * layer, then S and C of the factors. */
typedef struct {
    const float *left;
    const uint8_t *present;
    const float *parameters;
    const float *to_sums;
    float *sums, *to_left, *to_parameters;
} Arrays;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define HAS_KINDS 1

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512")
#define NAME(name) name##_avx512
#define LANES 16
#define ROWS 8
#include "tiles.h"
#undef NAME
#undef LANES
#undef ROWS
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define NAME(name) name##_avx2
#define LANES 8
#define ROWS 4
#include "tiles.h"
#undef NAME
#undef LANES
#undef ROWS
#pragma GCC pop_options
#endif

#define NAME(name) name##_portable
#define LANES 4
#define ROWS 4
#include "tiles.h"

/* instructions: 0, the best that this processor has; 1 portable, 2 AVX2, 3 AVX-512.
 * to_sums null: add to sums; else: add to to_left, and write to_parameters.
 * Return 0, 1 for too little memory, or 2 for instructions that are not there. */
int cschoice_pairs(int64_t instructions, int64_t n_tasks, int64_t n_objects, int64_t half,
                   int64_t n_layers, int64_t activation, int64_t largest_power, const float *left,
                   const uint8_t *present, const float *parameters, const float *to_sums,
                   float *sums, float *to_left, float *to_parameters)
{
    const Shape shape = {n_tasks, n_objects, half, n_layers, activation, largest_power};
    const Arrays arrays = {left, present, parameters, to_sums, sums, to_left, to_parameters};
#ifdef HAS_KINDS
    __builtin_cpu_init();
    int64_t best = 1;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        best = 2;
    if (best == 2 && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw"))
        best = 3;
    if (instructions == 0)
        instructions = best;
    if (instructions > best)
        return 2;
    if (instructions == 3)
        return pairs_avx512(&shape, &arrays);
    if (instructions == 2)
        return pairs_avx2(&shape, &arrays);
#else
    if (instructions > 1)
        return 2;
#endif
    return pairs_portable(&shape, &arrays);
}
