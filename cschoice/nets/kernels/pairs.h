/* The pair block for one kind of processor; see kernels.c. */

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
    int64_t count, size;                  /* pairs in the tile, and room for them */
    int64_t *first, *second;              /* their objects, counted over all tasks */
    float **u, **v, **slope_a, **slope_b; /* per layer, (size, half) each */
    float *a, *b, *power_a, *power_b;     /* (size, half): gradients, or factors and their powers */
    float *e, *f, *e_turned, *f_turned;   /* per layer, then of the factors: (half, half) each */
    float *to_e, *to_f, *to_bias;         /* the gradients of e and f, turned, and of the biases */
    float *zeros;
} NAME(PairTile);
#define TILE NAME(PairTile)

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
        NAME(add_rows)(to_bias, a, tile->count, half);
    float *to_e = tile->to_e + number * square, *to_f = tile->to_f + number * square;
    NAME(product)(to_e, half, to_e, half, u, 1, half, a, half, half, tile->count, half);
    NAME(product)(to_f, half, to_f, half, v, 1, half, b, half, half, tile->count, half);
    NAME(product)(out_a, half, tile->zeros, 0, a, half, 1, tile->e + number * square, half, rows,
                  half, half);
    NAME(product)(out_b, half, tile->zeros, 0, b, half, 1, tile->f + number * square, half, rows,
                  half, half);
    NAME(mix)(out_a, out_b, tile->count * half);
}

static void NAME(forward_tile)(const Pairs *pairs, TILE *tile, int slopes)
{
    const int64_t half = pairs->half, n = tile->count * half, last = pairs->n_layers;
    for (int64_t layer = 0; layer <= last; layer++) {
        float *a = tile->u[layer], *b = tile->v[layer];
        if (layer == 0)
            NAME(gather)(tile, pairs->left, a, b, half);
        else {
            const float *bias =
                pairs->parameters + (layer - 1) * (2 * half + 1) * half + 2 * half * half;
            NAME(mirrored)(tile, layer - 1, tile->u[layer - 1], tile->v[layer - 1], a, b, bias,
                           half);
        }
        NAME(activate)(a, slopes ? tile->slope_a[layer] : NULL, n, pairs->activation);
        NAME(activate)(b, slopes ? tile->slope_b[layer] : NULL, n, pairs->activation);
        if (layer < last)
            NAME(mix)(a, b, n);
    }
}

static int64_t NAME(n_sums)(const Pairs *pairs)
{
    return pairs->n_tasks * pairs->n_objects * 2 * pairs->half;
}

static void NAME(forward)(const Pairs *pairs, TILE *tile)
{
    const int64_t half = pairs->half, n = tile->count * half, last = pairs->n_layers;
    NAME(forward_tile)(pairs, tile, 0);
    NAME(scatter)(tile, pairs->sums, tile->u[last], tile->v[last], half);
    if (pairs->largest_power == 1)
        return;
    NAME(mix)(tile->u[last], tile->v[last], n);
    NAME(mirrored)(tile, last, tile->u[last], tile->v[last], tile->a, tile->b, tile->zeros, half);
    memcpy(tile->power_a, tile->a, n * sizeof(float));
    memcpy(tile->power_b, tile->b, n * sizeof(float));
    for (int64_t power = 2; power <= pairs->largest_power; power++) {
        for (int64_t k = 0; k < n; k++) {
            tile->power_a[k] *= tile->a[k];
            tile->power_b[k] *= tile->b[k];
        }
        NAME(scatter)(tile, pairs->sums + (power - 1) * NAME(n_sums)(pairs), tile->power_a,
                      tile->power_b, half);
    }
}

/* Add the gradient of the factors' powers to that of the last units, by Horner's rule. */
static void NAME(powers_back)(const Pairs *pairs, TILE *tile)
{
    const int64_t half = pairs->half, n = tile->count * half, last = pairs->n_layers;
    float *u = tile->u[last], *v = tile->v[last], *a = tile->power_a, *b = tile->power_b;
    float *q_a = tile->u[last + 1], *q_b = tile->v[last + 1];
    float *to_a = tile->slope_a[last + 1], *to_b = tile->slope_b[last + 1];
    NAME(mix)(u, v, n);
    NAME(mirrored)(tile, last, u, v, q_a, q_b, tile->zeros, half);
    memset(to_a, 0, n * sizeof(float));
    memset(to_b, 0, n * sizeof(float));
    for (int64_t power = pairs->largest_power; power >= 2; power--) {
        NAME(gather)(tile, pairs->to_sums + (power - 1) * NAME(n_sums)(pairs), a, b, half);
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

static void NAME(backward)(const Pairs *pairs, TILE *tile)
{
    const int64_t half = pairs->half, n = tile->count * half, last = pairs->n_layers;
    NAME(forward_tile)(pairs, tile, 1);
    NAME(gather)(tile, pairs->to_sums, tile->a, tile->b, half);
    if (pairs->largest_power > 1)
        NAME(powers_back)(pairs, tile);
    float *a = tile->a, *b = tile->b;
    for (int64_t layer = last; layer >= 0; layer--) {
        NAME(multiply)(a, tile->slope_a[layer], n);
        NAME(multiply)(b, tile->slope_b[layer], n);
        if (layer == 0)
            break;
        /* The units of this layer are no longer needed. */
        float *out_a = tile->u[layer], *out_b = tile->v[layer];
        NAME(mirrored_back)(tile, layer - 1, tile->u[layer - 1], tile->v[layer - 1], a, b, out_a,
                            out_b, tile->to_bias + (layer - 1) * half, half);
        a = out_a;
        b = out_b;
    }
    NAME(scatter)(tile, pairs->to_left, a, b, half);
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

/* Write the gradients of S and C, from those of E and F, and of the bias. */
static void NAME(finish)(const TILE *tile, int64_t number, float *to_same, int has_bias,
                         int64_t half)
{
    const int64_t square = half * half;
    const float *to_e = tile->to_e + number * square, *to_f = tile->to_f + number * square;
    for (int64_t n = 0; n < half; n++)
        for (int64_t k = 0; k < half; k++) {
            const float e = to_e[k * half + n], f = to_f[k * half + n];
            to_same[n * half + k] = 0.5f * (e + f);
            to_same[square + n * half + k] = 0.5f * (e - f);
        }
    if (has_bias)
        memcpy(to_same + 2 * square, tile->to_bias + number * half, half * sizeof(float));
}

static void NAME(lay_out_pairs)(const Pairs *pairs, TILE *tile, Memory *memory)
{
    const int64_t half = pairs->half, square = half * half, n_layers = pairs->n_layers + 2;
    const int64_t n_products = pairs->n_layers + (pairs->largest_power > 1);
    float ***const per_layer[] = {&tile->u, &tile->v, &tile->slope_a, &tile->slope_b};
    float **const per_pair[] = {&tile->a, &tile->b, &tile->power_a, &tile->power_b};
    float **const per_product[] = {&tile->e,        &tile->f,    &tile->e_turned,
                                   &tile->f_turned, &tile->to_e, &tile->to_f};
    tile->first = take(memory, tile->size * sizeof(int64_t));
    tile->second = take(memory, tile->size * sizeof(int64_t));
    for (int k = 0; k < 4; k++) {
        *per_layer[k] = layers_of_floats(memory, n_layers, tile->size * half, NULL);
        *per_pair[k] = floats(memory, tile->size * half);
    }
    for (int k = 0; k < 6; k++)
        *per_product[k] = floats(memory, n_products * square);
    tile->to_bias = floats(memory, n_products * half);
    tile->zeros = floats(memory, half);
}

static int NAME(pairs)(const Pairs *pairs)
{
    const int64_t half = pairs->half, n = pairs->n_objects, step = (2 * half + 1) * half;
    const int64_t n_products = pairs->n_layers + (pairs->largest_power > 1);
    void (*work)(const Pairs *, TILE *) = pairs->to_sums ? NAME(backward) : NAME(forward);
    TILE tile = {.size = tile_size(half)};
    Memory memory = {0};
    NAME(lay_out_pairs)(pairs, &tile, &memory);
    if (!reserve(&memory))
        return NO_MEMORY;
    NAME(lay_out_pairs)(pairs, &tile, &memory);
    for (int64_t number = 0; number < n_products; number++)
        NAME(prepare)(&tile, number, pairs->parameters + number * step, half);
    for (int64_t task = 0; task < pairs->n_tasks; task++) {
        const uint8_t *present = pairs->present ? pairs->present + task * n : NULL;
        for (int64_t i = 0; i < n; i++) {
            if (present && !present[i])
                continue;
            for (int64_t j = i + 1; j < n; j++) {
                if (present && !present[j])
                    continue;
                tile.first[tile.count] = task * n + i;
                tile.second[tile.count++] = task * n + j;
                if (tile.count == tile.size) {
                    work(pairs, &tile);
                    tile.count = 0;
                }
            }
        }
    }
    if (tile.count)
        work(pairs, &tile);
    if (pairs->to_sums)
        for (int64_t number = 0; number < n_products; number++)
            NAME(finish)(&tile, number, pairs->to_parameters + number * step,
                         number < pairs->n_layers, half);
    free(memory.start);
    return DONE;
}
#undef TILE
