/* Products of the stream with weight matrices: nearly all of the time goes here. */
#include <wasm_simd128.h>

#include "engine.h"
#include "vectors.h"

enum { ROWS = 4 };

static float wide[ROWS * WIDEST]; /* float16 weights as float32, to be used several times */

/* Store up to four outputs, with their biases. */
static inline void finish(v128_t sum, const float *bias, int rows, float *y) {
  if (rows == ROWS) {
    wasm_v128_store(y, bias ? wasm_f32x4_add(sum, wasm_v128_load(bias)) : sum);
    return;
  }
  float out[ROWS];
  wasm_v128_store(out, sum);
  for (int n = 0; n < rows; n++) y[n] = out[n] + (bias ? bias[n] : 0);
}

/* float16 to float32, exactly. */
void widen(const half *from, int count, float *to) {
  int k = 0;
  v128_t whole = wasm_f32x4_splat(WHOLE);
  for (; k + 4 <= count; k += 4)
    wasm_v128_store(to + k, wasm_f32x4_mul(four_halves(from + k), whole));
  for (; k < count; k++)
    to[k] = wasm_f32x4_extract_lane(wasm_f32x4_mul(last_halves(from + k, 1), whole), 0);
}

/* float16 numbers of a file as float32, exactly. */
void EXPORT(widened)(const half *from, int count, float *to) { widen(from, count, to); }

/* Four sums over the lanes of one row of x by one row of weights. Its four accumulators lie side
 * by side in memory: a row that is read once comes from far away, and processors fetch ahead of
 * one stream better than of four. */
static inline v128_t row_by_floats(const float *x, const float *w, int columns) {
  v128_t zero = wasm_f32x4_const_splat(0), a = zero, b = zero, c = zero, d = zero;
  int k = 0;
  for (; k + 16 <= columns; k += 16) {
    a = plus_product(a, wasm_v128_load(x + k), wasm_v128_load(w + k));
    b = plus_product(b, wasm_v128_load(x + k + 4), wasm_v128_load(w + k + 4));
    c = plus_product(c, wasm_v128_load(x + k + 8), wasm_v128_load(w + k + 8));
    d = plus_product(d, wasm_v128_load(x + k + 12), wasm_v128_load(w + k + 12));
  }
  for (; k + 4 <= columns; k += 4)
    a = plus_product(a, wasm_v128_load(x + k), wasm_v128_load(w + k));
  if (k < columns)
    b = plus_product(b, last_floats(x + k, columns - k), last_floats(w + k, columns - k));
  return wasm_f32x4_add(wasm_f32x4_add(a, b), wasm_f32x4_add(c, d));
}

/* The same of x, scaled by SHARE, and float16 weights as they are. */
static inline v128_t row_by_halves(const float *x, const half *w, int columns) {
  v128_t zero = wasm_f32x4_const_splat(0), a = zero, b = zero, c = zero, d = zero;
  int k = 0;
  for (; k + 16 <= columns; k += 16) {
    a = plus_product(a, wasm_v128_load(x + k), four_halves(w + k));
    b = plus_product(b, wasm_v128_load(x + k + 4), four_halves(w + k + 4));
    c = plus_product(c, wasm_v128_load(x + k + 8), four_halves(w + k + 8));
    d = plus_product(d, wasm_v128_load(x + k + 12), four_halves(w + k + 12));
  }
  for (; k + 4 <= columns; k += 4) a = plus_product(a, wasm_v128_load(x + k), four_halves(w + k));
  if (k < columns)
    b = plus_product(b, last_floats(x + k, columns - k), last_halves(w + k, columns - k));
  return wasm_f32x4_mul(wasm_f32x4_add(wasm_f32x4_add(a, b), wasm_f32x4_add(c, d)),
                        wasm_f32x4_splat(REST));
}

/* Four rows of float32 weights, of which the last ones may be the same row again. */
typedef struct {
  const float *a, *b, *c, *d;
} Floats;

/* Up to four rows of weights from `w` on. */
static inline Floats rows_of(const float *w, int columns, int rows) {
  return (Floats){w, w + (rows > 1 ? columns : 0), w + (rows > 2 ? 2 * columns : 0),
                  w + (rows > 3 ? 3 * columns : 0)};
}

typedef struct {
  v128_t first, second;
} Pair;

/* Two rows of x by the same four rows of weights, each of which is read once. */
static inline Pair two_by_four(const float *x, Floats w, int columns) {
  const float *z = x + columns;
  v128_t zero = wasm_f32x4_const_splat(0), a = zero, b = zero, c = zero, d = zero, e = zero,
         f = zero, g = zero, h = zero;
  for (int k = 0; k + 4 <= columns; k += 4) {
    v128_t u = wasm_v128_load(x + k), v = wasm_v128_load(z + k), row = wasm_v128_load(w.a + k);
    a = plus_product(a, u, row), e = plus_product(e, v, row), row = wasm_v128_load(w.b + k);
    b = plus_product(b, u, row), f = plus_product(f, v, row), row = wasm_v128_load(w.c + k);
    c = plus_product(c, u, row), g = plus_product(g, v, row), row = wasm_v128_load(w.d + k);
    d = plus_product(d, u, row), h = plus_product(h, v, row);
  }
  return (Pair){sums(a, b, c, d), sums(e, f, g, h)};
}

/* Up to four rows of float32 weights by all `count` rows of x; y has `width` numbers a row. */
static void by_floats(Floats w, int columns, const float *bias, int rows, const float *x, int count,
                      float *y, int width) {
  int p = 0;
  for (; columns % 4 == 0 && p + 2 <= count; p += 2) {
    Pair pair = two_by_four(x + p * columns, w, columns);
    finish(pair.first, bias, rows, y + p * width);
    finish(pair.second, bias, rows, y + (p + 1) * width);
  }
  for (; p < count; p++) {
    const float *one = x + p * columns;
    v128_t a = row_by_floats(one, w.a, columns), b = row_by_floats(one, w.b, columns),
           c = row_by_floats(one, w.c, columns), d = row_by_floats(one, w.d, columns);
    finish(sums(a, b, c, d), bias, rows, y + p * width);
  }
}

static void linear_floats(const Linear *layer, int first, int last, const float *x, int count,
                          float *y) {
  int columns = layer->columns, width = last - first;
  for (int n = first; n < last; n += ROWS) {
    int rows = last - n < ROWS ? last - n : ROWS;
    const float *w = (const float *)layer->weight + (long)n * columns,
                *bias = layer->bias ? layer->bias + n : 0;
    by_floats(rows_of(w, columns, rows), columns, bias, rows, x, count, y + n - first, width);
  }
}

/* One row of x by the layer's float16 weights. */
static void row_linear_halves(const Linear *layer, int first, int last, const float *x, float *y) {
  static float scaled[WIDEST];
  int columns = layer->columns;
  for (int k = 0; k < columns; k++) scaled[k] = x[k] * SHARE;
  for (int n = first; n < last; n += ROWS) {
    int rows = last - n < ROWS ? last - n : ROWS;
    v128_t row[ROWS];
    for (int i = 0; i < ROWS; i++) {
      const half *w = (const half *)layer->weight + (long)(n + (i < rows ? i : 0)) * columns;
      row[i] = row_by_halves(scaled, w, columns);
    }
    finish(sums(row[0], row[1], row[2], row[3]), layer->bias ? layer->bias + n : 0, rows,
           y + n - first);
  }
}

static void linear_halves(const Linear *layer, int first, int last, const float *x, int count,
                          float *y) {
  int columns = layer->columns, width = last - first;
  for (int n = first; n < last; n += ROWS) {
    int rows = last - n < ROWS ? last - n : ROWS;
    const float *bias = layer->bias ? layer->bias + n : 0;
    /* once for all rows of x */
    widen((const half *)layer->weight + (long)n * columns, rows * columns, wide);
    by_floats(rows_of(wide, columns, rows), columns, bias, rows, x, count, y + n - first, width);
  }
}

/* Rows `first` up to `last` of the layer's outputs: x [count, columns], y [count, last - first]. */
void linear(const Linear *layer, int first, int last, const float *x, int count, float *y) {
  if (!layer->halves)
    linear_floats(layer, first, last, x, count, y);
  else if (count == 1)
    row_linear_halves(layer, first, last, x, y);
  else
    linear_halves(layer, first, last, x, count, y);
}

/* Four rows of x by one row of weights, with the sums of `two_by_four`. */
static inline v128_t four_by_one(Floats x, const float *w, int columns) {
  v128_t zero = wasm_f32x4_const_splat(0), a = zero, b = zero, c = zero, d = zero;
  if (columns % 4)
    return sums(row_by_floats(x.a, w, columns), row_by_floats(x.b, w, columns),
                row_by_floats(x.c, w, columns), row_by_floats(x.d, w, columns));
  for (int k = 0; k < columns; k += 4) {
    v128_t row = wasm_v128_load(w + k);
    a = plus_product(a, wasm_v128_load(x.a + k), row);
    b = plus_product(b, wasm_v128_load(x.b + k), row);
    c = plus_product(c, wasm_v128_load(x.c + k), row);
    d = plus_product(d, wasm_v128_load(x.d + k), row);
  }
  return sums(a, b, c, d);
}

/* Output `n` of the layer for `count` rows, wherever they lie: x [count][columns], y [count]. */
void output_of(const Linear *layer, int n, const float *const *x, int count, float *y) {
  long at = (long)n * layer->columns;
  const float *w = layer->halves ? wide : (const float *)layer->weight + at;
  if (layer->halves) widen((const half *)layer->weight + at, layer->columns, wide);
  v128_t bias = wasm_f32x4_splat(layer->bias ? layer->bias[n] : 0);
  for (int p = 0; p < count; p += ROWS) {
    int rows = count - p < ROWS ? count - p : ROWS;
    Floats four = {x[p], x[p + (rows > 1)], x[p + (rows > 2 ? 2 : 0)], x[p + (rows > 3 ? 3 : 0)]};
    finish(wasm_f32x4_add(four_by_one(four, w, layer->columns), bias), 0, rows, y + p);
  }
}

/* Output `n` of the layer for x alone, which is scaled by SHARE where the weights are float16. */
float one_output(const Linear *layer, int n, const float *x) {
  long at = (long)n * layer->columns;
  v128_t sum = layer->halves
                   ? row_by_halves(x, (const half *)layer->weight + at, layer->columns)
                   : row_by_floats(x, (const float *)layer->weight + at, layer->columns);
  float y;
  finish(sums(sum, sum, sum, sum), layer->bias ? layer->bias + n : 0, 1, &y);
  return y;
}
