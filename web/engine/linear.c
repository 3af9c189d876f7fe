/* Products of the stream with weight matrices: nearly all of the time goes here. */
#include <wasm_simd128.h>

#include "engine.h"

enum { ROWS = 4, WIDEST = 16384 }; /* the widest input that there is room for */

/* A float16 shifted into the place of a float32 is its value times 2^-112, denormals too. Either the weight is
 * scaled back (WHOLE), or, where it is used once, the other factor by SHARE and the sum by REST: both are exact. */
static const float WHOLE = 0x1p112f, SHARE = 0x1p100f, REST = 0x1p12f;

static float scaled[WIDEST]; /* one row of x */

static inline v128_t shifted(v128_t bits) { /* four halves, each in 32 bits with its sign extended */
  return wasm_v128_and(wasm_i32x4_shl(bits, 13), wasm_i32x4_const_splat((int)0x8fffe000));
}

static inline v128_t four_halves(const half *w) { return shifted(wasm_i32x4_load16x4(w)); }

/* The last one to three of a row, and zeros. */
static inline v128_t last_halves(const half *w, int count) {
  return shifted(wasm_i32x4_make((short)w[0], count > 1 ? (short)w[1] : 0, count > 2 ? (short)w[2] : 0, 0));
}

static inline v128_t last_floats(const float *x, int count) {
  return wasm_f32x4_make(x[0], count > 1 ? x[1] : 0, count > 2 ? x[2] : 0, 0);
}

static inline v128_t plus_product(v128_t sum, v128_t a, v128_t b) { return wasm_f32x4_add(sum, wasm_f32x4_mul(a, b)); }

/* The sums over the lanes of four vectors, as one vector. */
static inline v128_t sums(v128_t a, v128_t b, v128_t c, v128_t d) {
  v128_t ab = wasm_f32x4_add(wasm_i32x4_shuffle(a, b, 0, 4, 1, 5), wasm_i32x4_shuffle(a, b, 2, 6, 3, 7));
  v128_t cd = wasm_f32x4_add(wasm_i32x4_shuffle(c, d, 0, 4, 1, 5), wasm_i32x4_shuffle(c, d, 2, 6, 3, 7));
  return wasm_f32x4_add(wasm_i64x2_shuffle(ab, cd, 0, 2), wasm_i64x2_shuffle(ab, cd, 1, 3));
}

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
  for (; k + 4 <= count; k += 4) wasm_v128_store(to + k, wasm_f32x4_mul(four_halves(from + k), whole));
  for (; k < count; k++) to[k] = wasm_f32x4_extract_lane(wasm_f32x4_mul(last_halves(from + k, 1), whole), 0);
}

/* float16 numbers of a file as float32, exactly. */
void EXPORT(widened)(const half *from, int count, float *to) { widen(from, count, to); }

/* Four rows of weights, of which the last ones may be the same row again. */
typedef struct {
  const float *a, *b, *c, *d;
} Floats;

static inline v128_t one_by_four(const float *x, Floats w, int columns) {
  v128_t zero = wasm_f32x4_const_splat(0), a = zero, b = zero, c = zero, d = zero;
  int k = 0;
  for (; k + 4 <= columns; k += 4) {
    v128_t u = wasm_v128_load(x + k);
    a = plus_product(a, u, wasm_v128_load(w.a + k));
    b = plus_product(b, u, wasm_v128_load(w.b + k));
    c = plus_product(c, u, wasm_v128_load(w.c + k));
    d = plus_product(d, u, wasm_v128_load(w.d + k));
  }
  if (k < columns) {
    int rest = columns - k;
    v128_t u = last_floats(x + k, rest);
    a = plus_product(a, u, last_floats(w.a + k, rest));
    b = plus_product(b, u, last_floats(w.b + k, rest));
    c = plus_product(c, u, last_floats(w.c + k, rest));
    d = plus_product(d, u, last_floats(w.d + k, rest));
  }
  return sums(a, b, c, d);
}

typedef struct {
  v128_t first, second;
} Pair;

/* Two rows of x by the same four rows of weights, each of which is read once. */
static inline Pair two_by_four(const float *x, Floats w, int columns) {
  const float *z = x + columns;
  v128_t zero = wasm_f32x4_const_splat(0), a = zero, b = zero, c = zero, d = zero, e = zero, f = zero, g = zero,
         h = zero;
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
static void by_floats(Floats w, int columns, const float *bias, int rows, const float *x, int count, float *y,
                      int width) {
  int p = 0;
  for (; columns % 4 == 0 && p + 2 <= count; p += 2) {
    Pair pair = two_by_four(x + p * columns, w, columns);
    finish(pair.first, bias, rows, y + p * width);
    finish(pair.second, bias, rows, y + (p + 1) * width);
  }
  for (; p < count; p++) finish(one_by_four(x + p * columns, w, columns), bias, rows, y + p * width);
}

/* One row of x, scaled by SHARE, by four rows of float16 weights as they are. */
static inline v128_t by_halves(const float *x, const half *const w[ROWS], int columns) {
  v128_t zero = wasm_f32x4_const_splat(0), a = zero, b = zero, c = zero, d = zero;
  int k = 0;
  for (; k + 4 <= columns; k += 4) {
    v128_t u = wasm_v128_load(x + k);
    a = plus_product(a, u, four_halves(w[0] + k));
    b = plus_product(b, u, four_halves(w[1] + k));
    c = plus_product(c, u, four_halves(w[2] + k));
    d = plus_product(d, u, four_halves(w[3] + k));
  }
  if (k < columns) {
    int rest = columns - k;
    v128_t u = last_floats(x + k, rest);
    a = plus_product(a, u, last_halves(w[0] + k, rest));
    b = plus_product(b, u, last_halves(w[1] + k, rest));
    c = plus_product(c, u, last_halves(w[2] + k, rest));
    d = plus_product(d, u, last_halves(w[3] + k, rest));
  }
  return wasm_f32x4_mul(sums(a, b, c, d), wasm_f32x4_splat(REST));
}

static void linear_floats(const Linear *layer, int first, int last, const float *x, int count, float *y) {
  int columns = layer->columns, width = last - first;
  for (int n = first; n < last; n += ROWS) {
    int rows = last - n < ROWS ? last - n : ROWS;
    const float *w = (const float *)layer->weight + (long)n * columns, *bias = layer->bias ? layer->bias + n : 0;
    Floats four = {w, w + (rows > 1 ? columns : 0), w + (rows > 2 ? 2 * columns : 0), w + (rows > 3 ? 3 * columns : 0)};
    by_floats(four, columns, bias, rows, x, count, y + n - first, width);
  }
}

static void linear_halves(const Linear *layer, int first, int last, const float *x, int count, float *y) {
  static float wide[ROWS * WIDEST];
  int columns = layer->columns, width = last - first;
  if (count == 1)
    for (int k = 0; k < columns; k++) scaled[k] = x[k] * SHARE;
  for (int n = first; n < last; n += ROWS) {
    int rows = last - n < ROWS ? last - n : ROWS;
    const half *w = (const half *)layer->weight + (long)n * columns;
    const float *bias = layer->bias ? layer->bias + n : 0;
    if (count == 1) {
      const half *four[ROWS];
      for (int i = 0; i < ROWS; i++) four[i] = w + (i < rows ? i * columns : 0);
      finish(by_halves(scaled, four, columns), bias, rows, y + n - first);
      continue;
    }
    widen(w, rows * columns, wide); /* once for all rows of x */
    Floats four = {wide, wide + (rows > 1 ? columns : 0), wide + (rows > 2 ? 2 * columns : 0),
                   wide + (rows > 3 ? 3 * columns : 0)};
    by_floats(four, columns, bias, rows, x, count, y + n - first, width);
  }
}

/* Rows `first` up to `last` of the layer's outputs: x [count, columns], y [count, last - first]. */
void linear(const Linear *layer, int first, int last, const float *x, int count, float *y) {
  if (layer->halves)
    linear_halves(layer, first, last, x, count, y);
  else
    linear_floats(layer, first, last, x, count, y);
}
