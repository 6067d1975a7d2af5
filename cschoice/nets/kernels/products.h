/* Small products and activations for one kind of processor. NAME, LANES (floats in a vector) and
 * ROWS (of a product that are in registers at once) are defined by the file that includes this. */

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

/* Apply the activation in place; with slopes, write its derivatives, too. */
INLINE void NAME(activate)(float *restrict z, float *restrict slopes, int64_t n, int64_t activation)
{
    if (activation == RELU) {
        if (slopes)
            for (int64_t k = 0; k < n; k++)
                slopes[k] = z[k] > 0.0f ? 1.0f : 0.0f;
        for (int64_t k = 0; k < n; k++)
            z[k] = 0.0f > z[k] ? 0.0f : z[k]; /* not a number stays what it is */
        return;
    }
    for (int64_t k = 0; k < n; k++) {
        float slope;
        z[k] = NAME(gelu)(z[k], &slope);
        if (slopes)
            slopes[k] = slope;
    }
}

INLINE void NAME(multiply)(float *restrict a, const float *restrict b, int64_t n)
{
    for (int64_t k = 0; k < n; k++)
        a[k] *= b[k];
}

/* Add the rows of a matrix to their sum. */
INLINE void NAME(add_rows)(float *restrict sum, const float *restrict a, int64_t n_rows,
                           int64_t n_columns)
{
    for (int64_t r = 0; r < n_rows; r++)
        for (int64_t c = 0; c < n_columns; c++)
            sum[c] += a[r * n_columns + c];
}
