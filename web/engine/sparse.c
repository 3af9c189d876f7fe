/* Products of what a ReLU left, nearly all of it zeros, with a weight matrix of which only the
 * columns of the rest are read. The matrix is turned once, so that each of its columns lies in
 * one piece. */
#include <wasm_simd128.h>

#include "engine.h"
#include "vectors.h"

/* vectors of outputs that are summed at once: of one row, and of ROWS rows */
enum { WIDE = 4, TILE = 2, ROWS = 4 };

/* The inputs of one row that are not 0, and their columns. */
static int places[WIDEST];
static float values[WIDEST];

static int find(const float *x, int many, float share) {
  int count = 0;
  for (int k = 0; k < many; k++) {
    places[count] = k;
    values[count] = x[k] * share;
    count += x[k] != 0;
  }
  return count;
}

static inline v128_t four(const void *weight, long at, int halves) {
  return halves ? four_halves((const half *)weight + at)
                : wasm_v128_load((const float *)weight + at);
}

/* The last one to three of a column, and zeros. */
static inline v128_t last(const void *weight, long at, int count, int halves) {
  return halves ? last_halves((const half *)weight + at, count)
                : last_floats((const float *)weight + at, count);
}

/* 4 * `vectors` outputs from `n` on, by the `count` inputs that were found. */
static inline void some(const Linear *layer, int n, int vectors, int count, int halves, float *y) {
  v128_t sum[WIDE];
  for (int i = 0; i < vectors; i++) sum[i] = wasm_f32x4_const_splat(0);
  for (int at = 0; at < count; at++) {
    long from = (long)places[at] * layer->rows + n;
    v128_t value = wasm_v128_load32_splat(values + at);
    for (int i = 0; i < vectors; i++)
      sum[i] = plus_product(sum[i], value, four(layer->weight, from + 4 * i, halves));
  }
  for (int i = 0; i < vectors; i++) {
    if (halves) sum[i] = wasm_f32x4_mul(sum[i], wasm_f32x4_const_splat(REST));
    if (layer->bias) sum[i] = wasm_f32x4_add(sum[i], wasm_v128_load(layer->bias + n + 4 * i));
    wasm_v128_store(y + n + 4 * i, sum[i]);
  }
}

/* The last one to three outputs. */
static void one(const Linear *layer, int n, int count, int halves, float *y) {
  float sum = 0;
  for (int at = 0; at < count; at++) {
    long from = (long)places[at] * layer->rows + n;
    v128_t weight = halves ? last_halves((const half *)layer->weight + from, 1)
                           : wasm_f32x4_splat(((const float *)layer->weight)[from]);
    sum += values[at] * wasm_f32x4_extract_lane(weight, 0);
  }
  y[n] = sum * (halves ? REST : 1) + (layer->bias ? layer->bias[n] : 0);
}

static inline void row(const Linear *layer, int count, int halves, float *y) {
  int n = 0;
  for (; n + 4 * WIDE <= layer->rows; n += 4 * WIDE) some(layer, n, WIDE, count, halves, y);
  for (; n + 4 <= layer->rows; n += 4) some(layer, n, 1, count, halves, y);
  for (; n < layer->rows; n++) one(layer, n, count, halves, y);
}

/* The outputs of a layer whose weights are turned: x [count, columns], y [count, rows]. */
void sparse_linear(const Linear *layer, const float *x, int count, float *y) {
  for (int p = 0; p < count; p++) {
    int found = find(x + p * layer->columns, layer->columns, layer->halves ? SHARE : 1);
    if (layer->halves)
      row(layer, found, 1, y + p * layer->rows);
    else
      row(layer, found, 0, y + p * layer->rows);
  }
}

/* Up to 4 * `vectors` outputs from `n` on of four rows whose inputs x [many, width] stand side by
 * side. */
static inline void of_four(const Linear *layer, int n, int vectors, int halves, const int *units,
                           int many, const float *x, int width, v128_t sum[][ROWS]) {
  int left = layer->rows - n;
  for (int i = 0; i < vectors; i++)
    for (int p = 0; p < ROWS; p++) sum[i][p] = wasm_f32x4_const_splat(0);
  for (int at = 0; at < many; at++, x += width) {
    long from = (long)units[at] * layer->rows + n;
    v128_t weight[TILE];
    for (int i = 0; i < vectors; i++)
      weight[i] = left < 4 ? last(layer->weight, from, left, halves)
                           : four(layer->weight, from + 4 * i, halves);
    for (int p = 0; p < ROWS; p++) {
      v128_t value = wasm_v128_load32_splat(x + p);
      for (int i = 0; i < vectors; i++) sum[i][p] = plus_product(sum[i][p], value, weight[i]);
    }
  }
}

/* The same with what stands behind the products, for the first `rows` of the four. */
static inline void tile(const Linear *layer, int n, int vectors, int halves, const int *units,
                        int many, const float *x, int width, int rows, float *y, int apart) {
  v128_t sum[TILE][ROWS];
  of_four(layer, n, vectors, halves, units, many, x, width, sum);
  for (int p = 0; p < rows; p++)
    for (int i = 0; i < vectors; i++) {
      float out[4];
      int first = n + 4 * i, count = layer->rows - first < 4 ? layer->rows - first : 4;
      wasm_v128_store(
          out, halves ? wasm_f32x4_mul(sum[i][p], wasm_f32x4_const_splat(REST)) : sum[i][p]);
      for (int k = 0; k < count; k++)
        y[p * apart + first + k] = out[k] + (layer->bias ? layer->bias[first + k] : 0);
    }
}

static inline void tiles(const Linear *layer, int halves, const int *units, int many,
                         const float *x, int width, int rows, float *y, int apart) {
  int n = 0;
  for (; n + 4 * TILE <= layer->rows; n += 4 * TILE)
    tile(layer, n, TILE, halves, units, many, x, width, rows, y, apart);
  for (; n < layer->rows; n += 4) tile(layer, n, 1, halves, units, many, x, width, rows, y, apart);
}

/* The same of `count` rows that have nearly the same units above 0: of the inputs `units` [many],
 * x [many, width], the rows side by side, zeros up to a multiple of four, and scaled by SHARE where
 * the weights are float16. Row p of y begins at p * apart. */
void shared_linear(const Linear *layer, const int *units, int many, const float *x, int count,
                   float *y, int apart) {
  int width = (count + ROWS - 1) & ~(ROWS - 1);
  for (int p = 0; p < count; p += ROWS) {
    int rows = count - p < ROWS ? count - p : ROWS;
    if (layer->halves)
      tiles(layer, 1, units, many, x + p, width, rows, y + p * apart, apart);
    else
      tiles(layer, 0, units, many, x + p, width, rows, y + p * apart, apart);
  }
}

/* Store the layer's weights by columns, where they lie; 0 if memory ran out. */
int turn(const Linear *layer) {
  int rows = layer->rows, columns = layer->columns;
  unsigned place = mark(), bytes = (unsigned)rows * (unsigned)columns * (layer->halves ? 2u : 4u);
  void *former = allocate(bytes);
  if (!former) return 0;
  __builtin_memcpy(former, layer->weight, bytes);
  for (int k = 0; k < columns; k++)
    for (int n = 0; n < rows; n++) {
      long from = (long)n * columns + k, to = (long)k * rows + n;
      if (layer->halves)
        ((half *)layer->weight)[to] = ((const half *)former)[from];
      else
        ((float *)layer->weight)[to] = ((const float *)former)[from];
    }
  release(place);
  return 1;
}
