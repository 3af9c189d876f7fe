/* Products of the stream with weight matrices: nearly all of the time goes here. */
#include <wasm_simd128.h>

#include "engine.h"
#include "vectors.h"

enum { ROWS = 4, GROUPS = 4 };

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

/* One row of weights as float32: in `room` [columns], where they are float16. */
const float *row_of(const Linear *layer, int n, float *room) {
  long at = (long)n * layer->columns;
  if (!layer->halves) return (const float *)layer->weight + at;
  widen((const half *)layer->weight + at, layer->columns, room);
  return room;
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

/* Row `n` of the layer's weights by x, which is scaled by SHARE where they are float16. */
static inline v128_t row_by_row(const Linear *layer, int n, const float *x) {
  long at = (long)n * layer->columns;
  return layer->halves ? row_by_halves(x, (const half *)layer->weight + at, layer->columns)
                       : row_by_floats(x, (const float *)layer->weight + at, layer->columns);
}

/* Up to four rows of x, scaled by SHARE. */
static const float *scale(const float *x, int count) {
  static float scaled[ROWS * WIDEST];
  for (int k = 0; k < count; k++) scaled[k] = x[k] * SHARE;
  return scaled;
}

/* One row of x. */
static void row_linear(const Linear *layer, int first, int last, const float *x, float *y) {
  if (layer->halves) x = scale(x, layer->columns);
  for (int n = first; n < last; n += ROWS) {
    int rows = last - n < ROWS ? last - n : ROWS;
    v128_t row[ROWS];
    for (int i = 0; i < ROWS; i++) row[i] = row_by_row(layer, n + (i < rows ? i : 0), x);
    finish(sums(row[0], row[1], row[2], row[3]), layer->bias ? layer->bias + n : 0, rows,
           y + n - first);
  }
}

/* Four weights from number `at` on as float32; as they are where `whole` is 0. */
static inline v128_t four_floats(const void *weight, long at, int halves, int whole) {
  v128_t weights = four(weight, at, halves);
  return whole ? wasm_f32x4_mul(weights, wasm_f32x4_splat(WHOLE)) : weights;
}

/* Four numbers in turn of each of up to four rows of weights from row `n` on, the first one again
 * where there are no more, so that what is read together lies together. */
static inline void interleave(const Linear *layer, int n, int rows, int halves, int whole,
                              float *to) {
  int columns = layer->columns;
  const void *w = layer->weight;
  for (int i = 0; i < ROWS; i++) {
    long at = (long)(n + (i < rows ? i : 0)) * columns;
    float *place = to + 4 * i;
    int k = 0;
    for (; k + 16 <= columns; k += 16, at += 16, place += 16 * ROWS) {
      v128_t a = four_floats(w, at, halves, whole), b = four_floats(w, at + 4, halves, whole),
             c = four_floats(w, at + 8, halves, whole), d = four_floats(w, at + 12, halves, whole);
      wasm_v128_store(place, a), wasm_v128_store(place + 4 * ROWS, b);
      wasm_v128_store(place + 8 * ROWS, c), wasm_v128_store(place + 12 * ROWS, d);
    }
    for (; k < columns; k += 4, at += 4, place += 4 * ROWS)
      wasm_v128_store(place, four_floats(w, at, halves, whole));
  }
}

/* The same by a loop for each kind of weights. Rows that are copied one after the other come in
 * the order of memory, which processors fetch ahead; multiplied from where they lie, two at a
 * time, they took a fifth to a half longer. */
static void pack(const Linear *layer, int n, int rows, int whole, float *to) {
  if (!layer->halves)
    interleave(layer, n, rows, 0, 0, to);
  else if (whole)
    interleave(layer, n, rows, 1, 1, to);
  else
    interleave(layer, n, rows, 1, 0, to);
}

typedef struct {
  v128_t first, second;
} Pair;

/* Two rows of x, or one twice, by four packed rows of weights. */
static inline Pair two_by_four(const float *x, const float *z, const float *w, int columns) {
  v128_t zero = wasm_f32x4_const_splat(0), a = zero, b = zero, c = zero, d = zero, e = zero,
         f = zero, g = zero, h = zero;
  for (const float *end = x + columns; x < end; x += 4, z += 4, w += 4 * ROWS) {
    v128_t u = wasm_v128_load(x), v = wasm_v128_load(z), row = wasm_v128_load(w);
    a = plus_product(a, u, row), e = plus_product(e, v, row), row = wasm_v128_load(w + 4);
    b = plus_product(b, u, row), f = plus_product(f, v, row), row = wasm_v128_load(w + 8);
    c = plus_product(c, u, row), g = plus_product(g, v, row), row = wasm_v128_load(w + 12);
    d = plus_product(d, u, row), h = plus_product(h, v, row);
  }
  return (Pair){sums(a, b, c, d), sums(e, f, g, h)};
}

/* All rows of x, scaled by SHARE or not, by up to GROUPS times ROWS of the layer's outputs, from
 * `n` up to `end`: two rows of x meet all of these while they are in the processor's nearest
 * cache. */
static void some_outputs(const Linear *layer, int n, int end, const float *x, int scaled, int count,
                         float *y, int width) {
  int columns = layer->columns;
  v128_t rest = wasm_f32x4_splat(scaled ? REST : 1);
  for (int i = n; i < end; i += ROWS)
    pack(layer, i, end - i < ROWS ? end - i : ROWS, !scaled, wide + (i - n) * columns);
  for (int p = 0; p < count; p += 2) {
    int next = p + 1 < count ? p + 1 : p;
    const float *one = x + p * columns, *other = x + next * columns, *w = wide;
    for (int i = n; i < end; i += ROWS, w += ROWS * columns) {
      int rows = end - i < ROWS ? end - i : ROWS;
      const float *bias = layer->bias ? layer->bias + i : 0;
      Pair pair = two_by_four(one, other, w, columns);
      finish(wasm_f32x4_mul(pair.first, rest), bias, rows, y + p * width + i - n);
      finish(wasm_f32x4_mul(pair.second, rest), bias, rows, y + next * width + i - n);
    }
  }
}

/* Several rows of x by weights that are read once for all of them. Of few rows x is scaled, not
 * the weights. */
static void rows_linear(const Linear *layer, int first, int last, const float *x, int count,
                        float *y) {
  int columns = layer->columns, few = count <= ROWS, scaled = few && layer->halves;
  int groups = few ? 1 : WIDEST / columns < GROUPS ? WIDEST / columns : GROUPS;
  if (scaled) x = scale(x, count * columns);
  for (int n = first; n < last; n += groups * ROWS)
    some_outputs(layer, n, n + groups * ROWS < last ? n + groups * ROWS : last, x, scaled, count,
                 y + n - first, last - first);
}

/* The same where rows cannot be read four numbers at a time. */
static void odd_linear(const Linear *layer, int first, int last, const float *x, int count,
                       float *y) {
  int columns = layer->columns;
  for (int n = first; n < last; n++) {
    const float *w = row_of(layer, n, wide), *bias = layer->bias ? layer->bias + n : 0;
    for (int p = 0; p < count; p++) {
      v128_t sum = row_by_floats(x + p * columns, w, columns);
      finish(sums(sum, sum, sum, sum), bias, 1, y + p * (last - first) + n - first);
    }
  }
}

/* Rows `first` up to `last` of the layer's outputs: x [count, columns], y [count, last - first]. */
void linear(const Linear *layer, int first, int last, const float *x, int count, float *y) {
  if (count == 1)
    row_linear(layer, first, last, x, y);
  else if (layer->columns % 4)
    odd_linear(layer, first, last, x, count, y);
  else
    rows_linear(layer, first, last, x, count, y);
}

/* Four rows of x, of which the last ones may be the same row again, by one row of weights. */
static inline v128_t four_by_one(const float *const x[ROWS], const float *w, int columns) {
  const float *p = x[0], *q = x[1], *r = x[2], *s = x[3];
  v128_t zero = wasm_f32x4_const_splat(0), a = zero, b = zero, c = zero, d = zero;
  if (columns % 4)
    return sums(row_by_floats(p, w, columns), row_by_floats(q, w, columns),
                row_by_floats(r, w, columns), row_by_floats(s, w, columns));
  for (const float *end = w + columns; w < end; p += 4, q += 4, r += 4, s += 4, w += 4) {
    v128_t row = wasm_v128_load(w);
    a = plus_product(a, wasm_v128_load(p), row);
    b = plus_product(b, wasm_v128_load(q), row);
    c = plus_product(c, wasm_v128_load(r), row);
    d = plus_product(d, wasm_v128_load(s), row);
  }
  return sums(a, b, c, d);
}

/* Output `n` of the layer for `count` rows, wherever they lie: x [count][columns], y [count]. */
void output_of(const Linear *layer, int n, const float *const *x, int count, float *y) {
  const float *w = row_of(layer, n, wide);
  v128_t bias = wasm_f32x4_splat(layer->bias ? layer->bias[n] : 0);
  for (int p = 0; p < count; p += ROWS) {
    int rows = count - p < ROWS ? count - p : ROWS;
    const float *four[ROWS] = {x[p], x[p + (rows > 1)], x[p + (rows > 2 ? 2 : 0)],
                               x[p + (rows > 3 ? 3 : 0)]};
    finish(wasm_f32x4_add(four_by_one(four, w, layer->columns), bias), 0, rows, y + p);
  }
}

/* Output `n` of the layer for x alone, which is scaled by SHARE where the weights are float16. */
float one_output(const Linear *layer, int n, const float *x) {
  v128_t sum = row_by_row(layer, n, x);
  float y;
  finish(sums(sum, sum, sum, sum), layer->bias ? layer->bias + n : 0, 1, &y);
  return y;
}
