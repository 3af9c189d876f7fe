/* Products of numbers rounded to sixteen bits: twice as many at once, where a sum of very many of
 * them forgives it.
 *
 * A row is divided by its length, so that its numbers and any sum of products of two such rows fit
 * without a carry, however wide the rows are (Cauchy-Schwarz). A product's error is about 1e-5 of
 * both lengths' product.
 */
#include <wasm_simd128.h>

#include "engine.h"
#include "vectors.h"

/* of a rounded row; with what rounding adds it stays below 2^15 */
enum { ROWS = 4, LONGEST = 32000 };

static float wide[WIDEST];

int short_stride(int columns) { return (columns + 7) & ~7; }

static inline float total(v128_t a) {
  return wasm_f32x4_extract_lane(a, 0) + wasm_f32x4_extract_lane(a, 1) +
         wasm_f32x4_extract_lane(a, 2) + wasm_f32x4_extract_lane(a, 3);
}

/* x [count] in place of what a row [stride] was, without `from` if there is one, zeros behind it;
 * its length. */
static float take(const float *x, const float *from, int count, float *row) {
  v128_t sum = wasm_f32x4_const_splat(0);
  int k = 0, stride = short_stride(count);
  for (; k < count; k++) row[k] = x[k] - (from ? from[k] : 0);
  for (; k < stride; k++) row[k] = 0;
  for (k = 0; k < stride; k += 4)
    sum = plus_product(sum, wasm_v128_load(row + k), wasm_v128_load(row + k));
  return __builtin_sqrtf(total(sum));
}

static inline v128_t nearest(const float *x, v128_t factor) {
  return wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(wasm_f32x4_mul(wasm_v128_load(x), factor)));
}

/* x [count], without `from` if there is one, as whole numbers, zeros up to a multiple of eight,
 * of which each eight begin `apart` behind those before; what one of them stands for is
 * returned. */
static inline float round_row(const float *x, const float *from, int count, int apart, short *to) {
  static float row[WIDEST];
  float step = take(x, from, count, row) / LONGEST;
  v128_t factor = wasm_f32x4_splat(step > 0 ? 1 / step : 0);
  for (int k = 0; k < count; k += 8, to += apart)
    wasm_v128_store(
        to, wasm_i16x8_narrow_i32x4(nearest(row + k, factor), nearest(row + k + 4, factor)));
  return step;
}

/* x [count] as whole numbers, zeros up to a multiple of eight; what one of them stands for is
 * returned. */
float shorten(const float *x, int count, short *to) { return round_row(x, 0, count, 8, to); }

/* The mean of a layer's rows, [columns]; 0 if memory ran out. */
static const float *middle_row(const Linear *layer) {
  float *middle = allocate((unsigned)layer->columns * sizeof(float));
  for (int k = 0; middle && k < layer->columns; k++) middle[k] = 0;
  for (int n = 0; middle && n < layer->rows; n++)
    add(middle, row_of(layer, n, wide), layer->columns);
  for (int k = 0; middle && k < layer->columns; k++) middle[k] /= (float)layer->rows;
  return middle;
}

/* A layer's rows as whole numbers, made once: as many bytes as float16 takes. 0 if memory ran
 * out. */
int shorten_rows(const Linear *layer, Short *out) {
  int stride = short_stride(layer->columns), whole = (layer->rows + ROWS - 1) & ~(ROWS - 1);
  const float *middle = middle_row(layer);
  short *rows = allocate((unsigned)whole * (unsigned)stride * sizeof(short));
  float *steps = allocate((unsigned)whole * sizeof(float));
  if (!middle || !rows || !steps) return 0;
  for (int n = 0; n < whole; n++) {
    short *to = rows + (long)(n & ~(ROWS - 1)) * stride + n % ROWS * 8;
    steps[n] = round_row(row_of(layer, n < layer->rows ? n : layer->rows - 1, wide), middle,
                         layer->columns, ROWS * 8, to);
  }
  *out = (Short){middle, rows, steps};
  return 1;
}

/* The sums over the lanes of four vectors of whole numbers, as one vector of floats. */
static inline v128_t whole_sums(v128_t a, v128_t b, v128_t c, v128_t d) {
  v128_t ab =
      wasm_i32x4_add(wasm_i32x4_shuffle(a, b, 0, 4, 1, 5), wasm_i32x4_shuffle(a, b, 2, 6, 3, 7));
  v128_t cd =
      wasm_i32x4_add(wasm_i32x4_shuffle(c, d, 0, 4, 1, 5), wasm_i32x4_shuffle(c, d, 2, 6, 3, 7));
  v128_t all = wasm_i32x4_add(wasm_i64x2_shuffle(ab, cd, 0, 2), wasm_i64x2_shuffle(ab, cd, 1, 3));
  return wasm_f32x4_convert_i32x4(all);
}

static inline v128_t plus_dots(v128_t sum, v128_t a, v128_t b) {
  return wasm_i32x4_add(sum, wasm_i32x4_dot_i16x8(a, b));
}

typedef struct {
  v128_t first, second;
} Pair;

/* Two rows of x, or one twice, by four rounded rows of weights. */
static inline Pair two_by_four(const short *x, const short *z, const short *w, int stride) {
  v128_t zero = wasm_i32x4_const_splat(0), a = zero, b = zero, c = zero, d = zero, e = zero,
         f = zero, g = zero, h = zero;
  for (const short *end = x + stride; x < end; x += 8, z += 8, w += ROWS * 8) {
    v128_t u = wasm_v128_load(x), v = wasm_v128_load(z), row = wasm_v128_load(w);
    a = plus_dots(a, u, row), e = plus_dots(e, v, row), row = wasm_v128_load(w + 8);
    b = plus_dots(b, u, row), f = plus_dots(f, v, row), row = wasm_v128_load(w + 16);
    c = plus_dots(c, u, row), g = plus_dots(g, v, row), row = wasm_v128_load(w + 24);
    d = plus_dots(d, u, row), h = plus_dots(h, v, row);
  }
  return (Pair){whole_sums(a, b, c, d), whole_sums(e, f, g, h)};
}

/* Up to `rows` outputs: their sums, what one of these stands for, and their biases. */
static inline void finish(v128_t sum, float step, const float *steps, const float *bias, int rows,
                          float *y) {
  sum = wasm_f32x4_mul(sum, wasm_f32x4_mul(wasm_f32x4_splat(step), wasm_v128_load(steps)));
  if (rows == ROWS) {
    wasm_v128_store(y, bias ? wasm_f32x4_add(sum, wasm_v128_load(bias)) : sum);
    return;
  }
  float out[ROWS];
  wasm_v128_store(out, sum);
  for (int n = 0; n < rows; n++) y[n] = out[n] + (bias ? bias[n] : 0);
}

/* Rows `first`, a multiple of four, up to `last` of the layer's outputs, all without middle · x:
 * x [count, stride] as `shorten` made them, each row with its step; y [count, last - first]. */
void short_linear(const Linear *layer, const Short *rounded, int first, int last, const short *x,
                  const float *x_steps, int count, float *y) {
  int stride = short_stride(layer->columns), width = last - first;
  for (int n = first; n < last; n += ROWS) {
    int rows = last - n < ROWS ? last - n : ROWS;
    const short *w = rounded->rows + (long)n * stride;
    const float *bias = layer->bias ? layer->bias + n : 0, *steps = rounded->steps + n;
    for (int p = 0; p < count; p += 2) {
      int next = p + 1 < count ? p + 1 : p;
      Pair pair = two_by_four(x + p * stride, x + next * stride, w, stride);
      finish(pair.first, x_steps[p], steps, bias, rows, y + p * width + n - first);
      if (next > p)
        finish(pair.second, x_steps[next], steps, bias, rows, y + next * width + n - first);
    }
  }
}
