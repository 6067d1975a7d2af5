/* The pair block for one kind of processor: NAME, LANES (floats in a vector) and ROWS (of a product
 * that are in registers at once) are defined by the file that includes this one. */

typedef float NAME(vector) __attribute__((vector_size(4 * LANES), aligned(4), may_alias));
#define VECTOR NAME(vector)

/* ROWS × vectors of the product start + A B, A given by the strides of its rows and its depth. */
INLINE void NAME(block)(float *c, int64_t c_row, const float *start, int64_t start_row,
                        const float *a, int64_t a_row, int64_t a_depth, const float *b,
                        int64_t b_depth, int64_t depth, const int vectors)
{
    VECTOR sum[ROWS][2];
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            sum[r][v] = *(const VECTOR *)(start + r * start_row + v * LANES);
    for (int64_t d = 0; d < depth; d++) {
        VECTOR right[2];
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            right[v] = *(const VECTOR *)(b + d * b_depth + v * LANES);
#pragma GCC unroll 8
        for (int r = 0; r < ROWS; r++) {
            const float left = a[r * a_row + d * a_depth];
#pragma GCC unroll 2
            for (int v = 0; v < vectors; v++)
                sum[r][v] += left * right[v];
        }
    }
#pragma GCC unroll 8
    for (int r = 0; r < ROWS; r++)
#pragma GCC unroll 2
        for (int v = 0; v < vectors; v++)
            *(VECTOR *)(c + r * c_row + v * LANES) = sum[r][v];
}

/* C = start + A B; the numbers of rows and of columns are multiples of ROWS and LANES. */
static void NAME(product)(float *c, int64_t c_row, const float *start, int64_t start_row,
                          const float *a, int64_t a_row, int64_t a_depth, const float *b,
                          int64_t b_depth, int64_t n_rows, int64_t depth, int64_t n_columns)
{
    for (int64_t column = 0; column < n_columns;) {
        const int vectors = n_columns - column >= 2 * LANES ? 2 : 1;
        for (int64_t row = 0; row < n_rows; row += ROWS) {
            float *to = c + row * c_row + column;
            const float *from = start + row * start_row + column;
            if (vectors == 2)
                NAME(block)(to, c_row, from, start_row, a + row * a_row, a_row, a_depth,
                            b + column, b_depth, depth, 2);
            else
                NAME(block)(to, c_row, from, start_row, a + row * a_row, a_row, a_depth,
                            b + column, b_depth, depth, 1);
        }
        column += vectors * LANES;
    }
}

/* exp of a number that is not positive, to the last digit but one. */
INLINE float NAME(exponential)(float x)
{
    typedef union {
        float value;
        int32_t bits;
    } Float;
    x = x < -87.0f ? -87.0f : x;
    const float shift = 12582912.0f; /* 1.5 · 2^23: adding it rounds to whole numbers */
    const Float rounded = {.value = x * 1.44269504f + shift};
    const float n = rounded.value - shift;
    const float r = (x - n * 0.693145752f) - n * 1.42860677e-6f;
    float series = 1.0f / 5040;
    series = series * r + 1.0f / 720;
    series = series * r + 1.0f / 120;
    series = series * r + 1.0f / 24;
    series = series * r + 1.0f / 6;
    series = series * r + 0.5f;
    series = series * r + 1.0f;
    series = series * r + 1.0f;
    const Float power = {.bits = (int32_t)((uint32_t)(rounded.bits - 0x4B400000 + 127) << 23)};
    return series * power.value;
}

/* The normal distribution function times x, and its derivative (Abramowitz and Stegun 7.1.26). */
INLINE float NAME(gelu)(float x, float *slope)
{
    const float size = x < 0.0f ? -x : x;
    const float density = NAME(exponential)(-0.5f * size * size);
    const float t = 1.0f / (1.0f + 0.3275911f * 0.707106781f * size);
    float tail = 1.061405429f;
    tail = tail * t - 1.453152027f;
    tail = tail * t + 1.421413741f;
    tail = tail * t - 0.284496736f;
    tail = tail * t + 0.254829592f;
    tail = 0.5f * tail * t * density;
    const float share = x < 0.0f ? tail : 1.0f - tail;
    *slope = share + x * 0.398942280f * density;
    return x * share;
}

/* Apply the activation to both halves; with slopes, write its derivatives, too. */
INLINE void NAME(activate)(float *restrict a, float *restrict b, float *restrict slope_a,
                           float *restrict slope_b, int64_t n, int activation, int slopes)
{
    if (activation == RELU) {
        for (int64_t k = 0; k < n; k++) {
            if (slopes) {
                slope_a[k] = a[k] > 0.0f ? 1.0f : 0.0f;
                slope_b[k] = b[k] > 0.0f ? 1.0f : 0.0f;
            }
            a[k] = 0.0f > a[k] ? 0.0f : a[k]; /* not a number stays what it is */
            b[k] = 0.0f > b[k] ? 0.0f : b[k];
        }
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        float to_a, to_b;
        a[k] = NAME(gelu)(a[k], &to_a);
        b[k] = NAME(gelu)(b[k], &to_b);
        if (slopes) {
            slope_a[k] = to_a;
            slope_b[k] = to_b;
        }
    }
}

/* Replace (a, b) by (a + b, a - b). */
INLINE void NAME(mix)(float *restrict a, float *restrict b, int64_t n)
{
    for (int64_t k = 0; k < n; k++) {
        const float sum = a[k] + b[k], difference = a[k] - b[k];
        a[k] = sum;
        b[k] = difference;
    }
}

typedef struct {
    int64_t count, size; /* pairs in the tile, and room for them */
    int64_t *first, *second;
    float **u, **v, **slope_a, **slope_b; /* per layer, (size, half) each */
    float *a, *b;                         /* (size, half): what is computed right now */
    float *power_a, *power_b;
    float *e, *f, *e_turned, *f_turned;   /* all layers, then the factors: (half, half) each */
    float *to_e, *to_f, *to_bias;         /* turned, as above; (half) each */
    float *zeros;
} NAME(Tile);
#define TILE NAME(Tile)

/* For each pair (i, j): a = left of i + right of j, where right is left with its halves swapped. */
static void NAME(gather)(const TILE *tile, const float *objects, float *restrict a,
                         float *restrict b, int64_t half)
{
    for (int64_t p = 0; p < tile->count; p++) {
        const float *i = objects + tile->first[p] * 2 * half;
        const float *j = objects + tile->second[p] * 2 * half;
        for (int64_t c = 0; c < half; c++) {
            a[p * half + c] = i[c] + j[half + c];
            b[p * half + c] = i[half + c] + j[c];
        }
    }
}

/* Add the values of pairs to their objects: gather, reversed. */
static void NAME(scatter)(const TILE *tile, float *objects, const float *restrict a,
                          const float *restrict b, int64_t half)
{
    for (int64_t p = 0; p < tile->count;) {
        float *i = objects + tile->first[p] * 2 * half;
        int64_t stop = p + 1;
        while (stop < tile->count && tile->first[stop] == tile->first[p])
            stop++;
        for (int64_t c = 0; c < half; c += LANES) {
            VECTOR of_a = {0}, of_b = {0};
            for (int64_t q = p; q < stop; q++) {
                float *j = objects + tile->second[q] * 2 * half;
                const VECTOR here_a = *(const VECTOR *)(a + q * half + c);
                const VECTOR here_b = *(const VECTOR *)(b + q * half + c);
                of_a += here_a;
                of_b += here_b;
                *(VECTOR *)(j + half + c) += here_a;
                *(VECTOR *)(j + c) += here_b;
            }
            *(VECTOR *)(i + c) += of_a;
            *(VECTOR *)(i + half + c) += of_b;
        }
        p = stop;
    }
}

/* a, b = W [u; v] (+ bias), with the matrices of this layer. */
static void NAME(mirrored)(const TILE *tile, int64_t number, const float *u, const float *v,
                           float *a, float *b, const float *bias, int64_t half)
{
    const int64_t square = half * half, rows = (tile->count + ROWS - 1) / ROWS * ROWS;
    NAME(product)(a, half, bias, 0, u, half, 1, tile->e_turned + number * square, half, rows, half,
                  half);
    NAME(product)(b, half, tile->zeros, 0, v, half, 1, tile->f_turned + number * square, half, rows,
                  half, half);
    NAME(mix)(a, b, tile->count * half);
}

/* From the gradient of W [u; v] to that of the halves below; add to the gradient of W.
 * The gradient of (u, v) is (a, b) before the last step, which turns it into that of the halves. */
static void NAME(mirrored_back)(const TILE *tile, int64_t number, const float *u, const float *v,
                                float *a, float *b, float *out_a, float *out_b, float *to_bias,
                                int64_t half)
{
    const int64_t square = half * half, rows = (tile->count + ROWS - 1) / ROWS * ROWS;
    NAME(mix)(a, b, tile->count * half);
    if (to_bias)
        for (int64_t p = 0; p < tile->count; p++)
            for (int64_t c = 0; c < half; c++)
                to_bias[c] += a[p * half + c];
    float *to_e = tile->to_e + number * square, *to_f = tile->to_f + number * square;
    NAME(product)(to_e, half, to_e, half, u, 1, half, a, half, half, tile->count, half);
    NAME(product)(to_f, half, to_f, half, v, 1, half, b, half, half, tile->count, half);
    NAME(product)(out_a, half, tile->zeros, 0, a, half, 1, tile->e + number * square, half, rows,
                  half, half);
    NAME(product)(out_b, half, tile->zeros, 0, b, half, 1, tile->f + number * square, half, rows,
                  half, half);
    NAME(mix)(out_a, out_b, tile->count * half);
}

static void NAME(forward_tile)(const Shape *shape, const Arrays *arrays, TILE *tile, int slopes)
{
    const int64_t half = shape->half, n = tile->count * half, last = shape->n_layers;
    const int activation = (int)shape->activation;
    for (int64_t layer = 0; layer <= last; layer++) {
        float *a = tile->u[layer], *b = tile->v[layer];
        if (layer == 0)
            NAME(gather)(tile, arrays->left, a, b, half);
        else {
            const float *bias =
                arrays->parameters + (layer - 1) * (2 * half + 1) * half + 2 * half * half;
            NAME(mirrored)(tile, layer - 1, tile->u[layer - 1], tile->v[layer - 1], a, b, bias,
                           half);
        }
        if (slopes)
            NAME(activate)(a, b, tile->slope_a[layer], tile->slope_b[layer], n, activation, 1);
        else
            NAME(activate)(a, b, NULL, NULL, n, activation, 0);
        if (layer < last)
            NAME(mix)(a, b, n);
    }
}

static int64_t NAME(n_sums)(const Shape *shape)
{
    return shape->n_tasks * shape->n_objects * 2 * shape->half;
}

static void NAME(forward)(const Shape *shape, const Arrays *arrays, TILE *tile)
{
    const int64_t half = shape->half, n = tile->count * half, last = shape->n_layers;
    NAME(forward_tile)(shape, arrays, tile, 0);
    NAME(scatter)(tile, arrays->sums, tile->u[last], tile->v[last], half);
    if (shape->largest_power == 1)
        return;
    NAME(mix)(tile->u[last], tile->v[last], n);
    NAME(mirrored)(tile, last, tile->u[last], tile->v[last], tile->a, tile->b, tile->zeros, half);
    memcpy(tile->power_a, tile->a, n * sizeof(float));
    memcpy(tile->power_b, tile->b, n * sizeof(float));
    for (int64_t power = 2; power <= shape->largest_power; power++) {
        for (int64_t k = 0; k < n; k++) {
            tile->power_a[k] *= tile->a[k];
            tile->power_b[k] *= tile->b[k];
        }
        NAME(scatter)(tile, arrays->sums + (power - 1) * NAME(n_sums)(shape), tile->power_a,
                      tile->power_b, half);
    }
}

/* Add the gradient of the factors' powers to that of the last units, by Horner's rule. */
static void NAME(powers_back)(const Shape *shape, const Arrays *arrays, TILE *tile)
{
    const int64_t half = shape->half, n = tile->count * half, last = shape->n_layers;
    float *u = tile->u[last], *v = tile->v[last], *a = tile->power_a, *b = tile->power_b;
    float *q_a = tile->u[last + 1], *q_b = tile->v[last + 1];
    float *to_a = tile->slope_a[last + 1], *to_b = tile->slope_b[last + 1];
    NAME(mix)(u, v, n);
    NAME(mirrored)(tile, last, u, v, q_a, q_b, tile->zeros, half);
    memset(to_a, 0, n * sizeof(float));
    memset(to_b, 0, n * sizeof(float));
    for (int64_t power = shape->largest_power; power >= 2; power--) {
        NAME(gather)(tile, arrays->to_sums + (power - 1) * NAME(n_sums)(shape), a, b, half);
        for (int64_t k = 0; k < n; k++) {
            to_a[k] = (to_a[k] + power * a[k]) * q_a[k];
            to_b[k] = (to_b[k] + power * b[k]) * q_b[k];
        }
    }
    NAME(mirrored_back)(tile, last, u, v, to_a, to_b, a, b, NULL, half);
    for (int64_t k = 0; k < n; k++) {
        tile->a[k] += a[k];
        tile->b[k] += b[k];
    }
}

static void NAME(backward)(const Shape *shape, const Arrays *arrays, TILE *tile)
{
    const int64_t half = shape->half, n = tile->count * half, last = shape->n_layers;
    NAME(forward_tile)(shape, arrays, tile, 1);
    NAME(gather)(tile, arrays->to_sums, tile->a, tile->b, half);
    if (shape->largest_power > 1)
        NAME(powers_back)(shape, arrays, tile);
    float *a = tile->a, *b = tile->b;
    for (int64_t layer = last; layer >= 0; layer--) {
        const float *slope_a = tile->slope_a[layer], *slope_b = tile->slope_b[layer];
        for (int64_t k = 0; k < n; k++) {
            a[k] *= slope_a[k];
            b[k] *= slope_b[k];
        }
        if (layer == 0)
            break;
        /* The units of this layer are no longer needed. */
        float *out_a = tile->u[layer], *out_b = tile->v[layer];
        NAME(mirrored_back)(tile, layer - 1, tile->u[layer - 1], tile->v[layer - 1], a, b, out_a,
                            out_b, tile->to_bias + (layer - 1) * half, half);
        a = out_a;
        b = out_b;
    }
    NAME(scatter)(tile, arrays->to_left, a, b, half);
}

/* E = (S + C) / 2 and F = (S - C) / 2 of a layer, as they are and turned. */
static void NAME(prepare)(const TILE *tile, int64_t number, const float *same, int64_t half)
{
    const int64_t square = half * half;
    const float *cross = same + square;
    for (int64_t n = 0; n < half; n++)
        for (int64_t k = 0; k < half; k++) {
            const float s = same[n * half + k], c = cross[n * half + k];
            const int64_t at = number * square + n * half + k, turned = number * square + k * half + n;
            tile->e[at] = tile->e_turned[turned] = 0.5f * (s + c);
            tile->f[at] = tile->f_turned[turned] = 0.5f * (s - c);
        }
}

/* The gradients of S and C from those of E and F, turned. */
static void NAME(finish)(const TILE *tile, int64_t number, float *to_same, int64_t half)
{
    const int64_t square = half * half;
    const float *to_e = tile->to_e + number * square, *to_f = tile->to_f + number * square;
    for (int64_t n = 0; n < half; n++)
        for (int64_t k = 0; k < half; k++) {
            const float e = to_e[k * half + n], f = to_f[k * half + n];
            to_same[n * half + k] = 0.5f * (e + f);
            to_same[square + n * half + k] = 0.5f * (e - f);
        }
}

#ifndef ROOM
#define ROOM
/* Give out parts of one block of memory, or count how large it must be. */
static float *take(float **memory, int64_t n)
{
    float *part = *memory;
    *memory += (n + 15) / 16 * 16;
    return part;
}
#endif

/* Lay the arrays of a tile out in memory; return the end. */
static float *NAME(lay_out)(const Shape *shape, TILE *tile, float *memory, float **pointers)
{
    const int64_t half = shape->half, square = half * half;
    const int64_t n_products = shape->n_layers + (shape->largest_power > 1);
    const int64_t n_layers = shape->n_layers + 2;
    tile->u = pointers;
    tile->v = tile->u + n_layers;
    tile->slope_a = tile->v + n_layers;
    tile->slope_b = tile->slope_a + n_layers;
    for (int64_t k = 0; k < 4 * n_layers; k++)
        pointers[k] = take(&memory, tile->size * half);
    tile->a = take(&memory, tile->size * half);
    tile->b = take(&memory, tile->size * half);
    tile->power_a = take(&memory, tile->size * half);
    tile->power_b = take(&memory, tile->size * half);
    tile->e = take(&memory, n_products * square);
    tile->f = take(&memory, n_products * square);
    tile->e_turned = take(&memory, n_products * square);
    tile->f_turned = take(&memory, n_products * square);
    tile->to_e = take(&memory, n_products * square);
    tile->to_f = take(&memory, n_products * square);
    tile->to_bias = take(&memory, n_products * half);
    tile->zeros = take(&memory, half);
    return memory;
}

static int NAME(pairs)(const Shape *shape, const Arrays *arrays)
{
    const int backward = arrays->to_sums != NULL;
    const int64_t half = shape->half, step = (2 * half + 1) * half;
    const int64_t n_products = shape->n_layers + (shape->largest_power > 1);
    int64_t size = TILE_FLOATS / half / ROWS * ROWS;
    size = size < ROWS ? ROWS : size;
    TILE tile = {.count = 0, .size = size};
    float **pointers = malloc(4 * (shape->n_layers + 2) * sizeof(float *));
    int64_t *numbers = malloc(2 * size * sizeof(int64_t));
    if (!pointers || !numbers) {
        free(pointers);
        free(numbers);
        return 1;
    }
    const size_t bytes = (char *)NAME(lay_out)(shape, &tile, (float *)64, pointers) - (char *)64;
    float *memory = aligned_alloc(64, bytes);
    if (!memory) {
        free(pointers);
        free(numbers);
        return 1;
    }
    memset(memory, 0, bytes);
    NAME(lay_out)(shape, &tile, memory, pointers);
    tile.first = numbers;
    tile.second = numbers + size;
    for (int64_t number = 0; number < n_products; number++)
        NAME(prepare)(&tile, number, arrays->parameters + number * step, half);
    const int64_t n = shape->n_objects;
    for (int64_t task = 0; task < shape->n_tasks; task++) {
        const uint8_t *present = arrays->present ? arrays->present + task * n : NULL;
        for (int64_t i = 0; i < n; i++) {
            if (present && !present[i])
                continue;
            for (int64_t j = i + 1; j < n; j++) {
                if (present && !present[j])
                    continue;
                tile.first[tile.count] = task * n + i;
                tile.second[tile.count++] = task * n + j;
                if (tile.count == size) {
                    (backward ? NAME(backward) : NAME(forward))(shape, arrays, &tile);
                    tile.count = 0;
                }
            }
        }
    }
    if (tile.count)
        (backward ? NAME(backward) : NAME(forward))(shape, arrays, &tile);
    if (backward)
        for (int64_t number = 0; number < n_products; number++) {
            NAME(finish)(&tile, number, arrays->to_parameters + number * step, half);
            if (number < shape->n_layers)
                memcpy(arrays->to_parameters + number * step + 2 * half * half,
                       tile.to_bias + number * half, half * sizeof(float));
        }
    free(memory);
    free(numbers);
    free(pointers);
    return 0;
}
#undef VECTOR
#undef TILE
