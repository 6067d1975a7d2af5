/* Hidden layers over objects by themselves, for one kind of processor; see kernels.c. */

typedef struct {
    int64_t count, size, widest;
    int64_t depth;         /* of the first layer: the inputs, filled with zeros to whole ROWS */
    int64_t *row;          /* of the tile's objects, counted over all tasks */
    float *x;              /* (size, depth) */
    float **units, **slopes; /* per layer, (size, width) */
    float *to_z, *to_below;  /* (size, widest): gradients of a layer and of the one below */
    const float **weight, **bias; /* of each layer, in the parameters */
    float **turned;          /* (width below, width): the weights of each layer */
    float **to_turned, **to_bias;
    const float *last;       /* the weights of the scores, then their bias */
    float *to_last;
    float *share;            /* of an object in the mean of its task */
    float *zeros;
} NAME(RowTile);
#define TILE NAME(RowTile)

static void NAME(rows_forward_tile)(const Rows *rows, TILE *tile, int slopes)
{
    const int64_t n_rows = (tile->count + ROWS - 1) / ROWS * ROWS;
    for (int64_t r = 0; r < tile->count; r++)
        memcpy(tile->x + r * tile->depth, rows->x + tile->row[r] * rows->n_inputs,
               rows->n_inputs * sizeof(float));
    const float *below = tile->x;
    int64_t stride = tile->depth, depth = rows->n_inputs;
    for (int64_t layer = 0; layer < rows->n_layers; layer++) {
        const int64_t width = rows->widths[layer];
        float *units = tile->units[layer];
        NAME(product)(units, width, tile->bias[layer], 0, below, stride, 1, tile->turned[layer],
                      width, n_rows, depth, width);
        if (layer == 0 && rows->context)
            for (int64_t r = 0; r < tile->count; r++)
                NAME(add_rows)(units + r * width,
                               rows->context + tile->row[r] / rows->n_objects * width, 1, width);
        NAME(activate)(units, slopes ? tile->slopes[layer] : NULL, tile->count * width,
                       rows->activation);
        below = units;
        stride = depth = width;
    }
}

static void NAME(rows_forward)(const Rows *rows, TILE *tile)
{
    const int64_t width = rows->widths[rows->n_layers - 1];
    const float *last = tile->units[rows->n_layers - 1];
    NAME(rows_forward_tile)(rows, tile, 0);
    for (int64_t r = 0; r < tile->count; r++) {
        const float *units = last + r * width;
        if (rows->scores) {
            VECTOR sums = {0};
            for (int64_t c = 0; c < width; c += LANES)
                sums += *(const VECTOR *)(units + c) * *(const VECTOR *)(tile->last + c);
            float score = tile->last[width];
            for (int lane = 0; lane < LANES; lane++)
                score += sums[lane];
            rows->out[tile->row[r]] = score;
        } else {
            const int64_t task = tile->row[r] / rows->n_objects;
            for (int64_t c = 0; c < width; c++)
                rows->out[task * width + c] += tile->share[task] * units[c];
        }
    }
}

/* The gradient of the last units, from that of the scores or of the means. */
static void NAME(rows_from_out)(const Rows *rows, TILE *tile)
{
    const int64_t width = rows->widths[rows->n_layers - 1];
    const float *last = tile->units[rows->n_layers - 1];
    for (int64_t r = 0; r < tile->count; r++) {
        float *to_units = tile->to_z + r * width;
        if (rows->scores) {
            const float to_score = rows->to_out[tile->row[r]];
            for (int64_t c = 0; c < width; c++) {
                to_units[c] = to_score * tile->last[c];
                tile->to_last[c] += to_score * last[r * width + c];
            }
            tile->to_last[width] += to_score;
        } else {
            const int64_t task = tile->row[r] / rows->n_objects;
            for (int64_t c = 0; c < width; c++)
                to_units[c] = tile->share[task] * rows->to_out[task * width + c];
        }
    }
}

static void NAME(rows_backward)(const Rows *rows, TILE *tile)
{
    const int64_t n_rows = (tile->count + ROWS - 1) / ROWS * ROWS;
    NAME(rows_forward_tile)(rows, tile, 1);
    NAME(rows_from_out)(rows, tile);
    for (int64_t layer = rows->n_layers - 1; layer >= 0; layer--) {
        const int64_t width = rows->widths[layer];
        const int64_t below = layer ? rows->widths[layer - 1] : tile->depth;
        const float *units = layer ? tile->units[layer - 1] : tile->x;
        float *to_z = tile->to_z, *to_turned = tile->to_turned[layer];
        NAME(multiply)(to_z, tile->slopes[layer], tile->count * width);
        NAME(add_rows)(tile->to_bias[layer], to_z, tile->count, width);
        NAME(product)(to_turned, width, to_turned, width, units, 1, below, to_z, width, below,
                      tile->count, width);
        if (layer == 0)
            break;
        NAME(product)(tile->to_below, below, tile->zeros, 0, to_z, width, 1,
                      tile->weight[layer], below, n_rows, width, below);
        tile->to_z = tile->to_below;
        tile->to_below = to_z;
    }
    const int64_t width = rows->widths[0];
    if (rows->to_context)
        for (int64_t r = 0; r < tile->count; r++)
            NAME(add_rows)(rows->to_context + tile->row[r] / rows->n_objects * width,
                           tile->to_z + r * width, 1, width);
}

static void NAME(lay_out_rows)(const Rows *rows, TILE *tile, Memory *memory)
{
    const int64_t n = rows->n_layers, *widths = rows->widths;
    tile->row = take(memory, tile->size * sizeof(int64_t));
    tile->x = floats(memory, tile->size * tile->depth);
    tile->units = layers_of_floats(memory, n, tile->size, widths);
    tile->slopes = layers_of_floats(memory, n, tile->size, widths);
    tile->to_bias = layers_of_floats(memory, n, 1, widths);
    tile->weight = take(memory, n * sizeof(float *));
    tile->bias = take(memory, n * sizeof(float *));
    tile->turned = take(memory, n * sizeof(float *));
    tile->to_turned = take(memory, n * sizeof(float *));
    for (int64_t layer = 0; layer < n; layer++) {
        const int64_t below = layer ? widths[layer - 1] : tile->depth;
        float *turned = floats(memory, below * widths[layer]);
        float *to_turned = floats(memory, below * widths[layer]);
        if (tile->turned) {
            tile->turned[layer] = turned;
            tile->to_turned[layer] = to_turned;
        }
    }
    tile->to_z = floats(memory, tile->size * tile->widest);
    tile->to_below = floats(memory, tile->size * tile->widest);
    tile->zeros = floats(memory, tile->widest);
    tile->to_last = floats(memory, widths[n - 1] + 1);
    tile->share = floats(memory, rows->n_tasks);
}

/* Find the parameters of each layer and turn its weights. */
static void NAME(prepare_rows)(const Rows *rows, TILE *tile)
{
    const float *next = rows->parameters;
    int64_t below = rows->n_inputs;
    for (int64_t layer = 0; layer < rows->n_layers; layer++) {
        const int64_t width = rows->widths[layer];
        tile->weight[layer] = next;
        tile->bias[layer] = next + width * below;
        turn(tile->turned[layer], next, width, below);
        next += width * (below + 1);
        below = width;
    }
    tile->last = next;
}

static void NAME(finish_rows)(const Rows *rows, const TILE *tile)
{
    float *next = rows->to_parameters;
    int64_t below = rows->n_inputs;
    for (int64_t layer = 0; layer < rows->n_layers; layer++) {
        const int64_t width = rows->widths[layer];
        turn(next, tile->to_turned[layer], below, width);
        memcpy(next + width * below, tile->to_bias[layer], width * sizeof(float));
        next += width * (below + 1);
        below = width;
    }
    if (rows->scores)
        memcpy(next, tile->to_last, (below + 1) * sizeof(float));
}

static int NAME(rows)(const Rows *rows)
{
    const int64_t n = rows->n_objects;
    void (*work)(const Rows *, TILE *) = rows->to_out ? NAME(rows_backward) : NAME(rows_forward);
    TILE tile = {.depth = (rows->n_inputs + ROWS - 1) / ROWS * ROWS};
    for (int64_t layer = 0; layer < rows->n_layers; layer++)
        if (rows->widths[layer] > tile.widest)
            tile.widest = rows->widths[layer];
    tile.size = tile_size(tile.widest);
    Memory memory = {0};
    NAME(lay_out_rows)(rows, &tile, &memory);
    if (!reserve(&memory))
        return NO_MEMORY;
    NAME(lay_out_rows)(rows, &tile, &memory);
    NAME(prepare_rows)(rows, &tile);
    for (int64_t task = 0; task < rows->n_tasks; task++) {
        const uint8_t *present = rows->present ? rows->present + task * n : NULL;
        int64_t n_present = 0;
        for (int64_t i = 0; i < n; i++)
            n_present += present ? present[i] : 1;
        tile.share[task] = 1.0f / (float)(n_present ? n_present : 1);
        for (int64_t i = 0; i < n; i++) {
            if (present && !present[i])
                continue;
            tile.row[tile.count++] = task * n + i;
            if (tile.count == tile.size) {
                work(rows, &tile);
                tile.count = 0;
            }
        }
    }
    if (tile.count)
        work(rows, &tile);
    if (rows->to_out)
        NAME(finish_rows)(rows, &tile);
    free(memory.start);
    return DONE;
}
#undef TILE
