/* The inner loops of the networks, forward and back, in tiles that stay in the first cache.
 *
 * A tile of pairs (pairs.h) or of objects (rows.h) goes through all layers at once; the backward
 * pass computes the units of a tile again. Nothing of the size of all units is ever in memory.
 *
 * One source, compiled for each kind of processor, of which the best is chosen at each call.
 * Nothing but C is needed: arrays come as pointers. Numbers of units are multiples of 16.
 */

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))
enum { RELU, GELU };
enum { DONE, NO_MEMORY, NO_INSTRUCTIONS };
enum { BEST, PORTABLE, AVX2, AVX512 };

/* The number of pairs or objects in a tile; measured times hardly depend on it. */
static int64_t tile_size(int64_t n_units) { return n_units < 32 ? 64 : 32; }

/* One block of memory that is given out in parts; without a start it only counts. */
typedef struct {
    char *start;
    int64_t used;
} Memory;

static void *take(Memory *memory, int64_t n_bytes)
{
    void *part = memory->start ? memory->start + memory->used : NULL;
    memory->used += (n_bytes + 63) / 64 * 64; /* whole lines of the cache */
    return part;
}

static float *floats(Memory *memory, int64_t n) { return take(memory, n * sizeof(float)); }

/* Reserve what was counted, filled with zeros, to be taken again. */
static int reserve(Memory *memory)
{
    memory->start = aligned_alloc(64, memory->used);
    if (memory->start)
        memset(memory->start, 0, memory->used);
    memory->used = 0;
    return memory->start != NULL;
}

/* Take an array of floats per layer. */
static float **layers_of_floats(Memory *memory, int64_t n_layers, int64_t n_each,
                                const int64_t *times)
{
    float **layers = take(memory, n_layers * sizeof(float *));
    for (int64_t layer = 0; layer < n_layers; layer++) {
        float *part = floats(memory, n_each * (times ? times[layer] : 1));
        if (layers)
            layers[layer] = part;
    }
    return layers;
}

/* Turn a matrix of (n, k) into one of (k, n). */
static void turn(float *to, const float *from, int64_t n, int64_t k)
{
    for (int64_t r = 0; r < n; r++)
        for (int64_t c = 0; c < k; c++)
            to[c * n + r] = from[r * k + c];
}

/* The pair block of FETA. left, sums, to_sums and to_left are (tasks, objects, 2 half), sums and
 * to_sums once per power; present is (tasks, objects) or null. parameters has S, C (half, half) and
 * the bias (half) of each layer behind the first, then S and C of the factors. */
typedef struct {
    int64_t n_tasks, n_objects, half, n_layers, activation;
    int64_t largest_power; /* of the factors; 1: there are none */
    const float *left;
    const uint8_t *present;
    const float *parameters, *to_sums;
    float *sums, *to_left, *to_parameters;
} Pairs;

/* Hidden layers over the objects by themselves. x is (tasks, objects, inputs), context null or
 * (tasks, widths[0]): a part of the first layer that the objects of a task share. parameters has W
 * (width, width below) and b of each layer, and, if scores, w and b of the last. out is (tasks,
 * objects), or, without scores, the mean of the last units, (tasks, last width). */
typedef struct {
    int64_t n_tasks, n_objects, n_inputs, n_layers, activation, scores;
    const int64_t *widths;
    const float *x;
    const uint8_t *present;
    const float *context, *parameters, *to_out;
    float *out, *to_context, *to_parameters;
} Rows;

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__)
#define CHOICE_OF_INSTRUCTIONS

#pragma GCC push_options
#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma,prefer-vector-width=512")
#define NAME(name) name##_avx512
#define LANES 16
#define ROWS 8
#include "products.h"
#include "pairs.h"
#include "rows.h"
#undef NAME
#undef LANES
#undef ROWS
#pragma GCC pop_options

#pragma GCC push_options
#pragma GCC target("avx2,fma")
#define NAME(name) name##_avx2
#define LANES 8
#define ROWS 4
#include "products.h"
#include "pairs.h"
#include "rows.h"
#undef NAME
#undef LANES
#undef ROWS
#pragma GCC pop_options

static int64_t best_instructions(void)
{
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
        return PORTABLE;
    if (!__builtin_cpu_supports("avx512vl") || !__builtin_cpu_supports("avx512dq") ||
        !__builtin_cpu_supports("avx512bw"))
        return AVX2;
    return AVX512;
}

#define CALL(name, problem)                        \
    switch (instructions) {                        \
    case AVX512: return name##_avx512(&problem);   \
    case AVX2: return name##_avx2(&problem);       \
    default: return name##_portable(&problem);     \
    }
#else
static int64_t best_instructions(void) { return PORTABLE; }
#define CALL(name, problem) return name##_portable(&problem);
#endif

#define NAME(name) name##_portable
#define LANES 4
#define ROWS 4
#include "products.h"
#include "pairs.h"
#include "rows.h"

/* Forward where the gradient of the result is null: add to the sums; else add to to_left and write
 * to_parameters. Both functions return DONE, NO_MEMORY or NO_INSTRUCTIONS. */
int cschoice_pairs(int64_t instructions, int64_t n_tasks, int64_t n_objects, int64_t half,
                   int64_t n_layers, int64_t activation, int64_t largest_power, const float *left,
                   const uint8_t *present, const float *parameters, const float *to_sums,
                   float *sums, float *to_left, float *to_parameters)
{
    const Pairs problem = {n_tasks,    n_objects,     half,    n_layers,
                           activation, largest_power, left,    present,
                           parameters, to_sums,       sums,    to_left,
                           to_parameters};
    const int64_t best = best_instructions();
    if (instructions > best)
        return NO_INSTRUCTIONS;
    if (instructions == BEST)
        instructions = best;
    CALL(pairs, problem)
}

/* Forward where the gradient of the result is null: add to out; else add to to_context and write
 * to_parameters. */
int cschoice_rows(int64_t instructions, int64_t n_tasks, int64_t n_objects, int64_t n_inputs,
                  int64_t n_layers, int64_t activation, int64_t scores, const int64_t *widths,
                  const float *x, const uint8_t *present, const float *context,
                  const float *parameters, const float *to_out, float *out, float *to_context,
                  float *to_parameters)
{
    const Rows problem = {n_tasks,    n_objects,  n_inputs, n_layers, activation,
                          scores,     widths,     x,        present,  context,
                          parameters, to_out,     out,      to_context, to_parameters};
    const int64_t best = best_instructions();
    if (instructions > best)
        return NO_INSTRUCTIONS;
    if (instructions == BEST)
        instructions = best;
    CALL(rows, problem)
}
