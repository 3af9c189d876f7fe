/* Products of what a ReLU left, nearly all of it zeros, with a weight matrix of which only the
 * columns of the rest are read. The matrix is turned once, so that each of its columns lies in
 * one piece. */
#include <wasm_simd128.h>

#include "engine.h"
#include "vectors.h"

enum { WIDE = 4 }; /* vectors of outputs that are summed at once */

/* The inputs of one row that are not 0, and their columns. */
static int places[WIDEST];
static float values[WIDEST];

static int find(const int *columns, const float *x, int many, float share) {
  int count = 0;
  for (int k = 0; k < many; k++) {
    places[count] = columns ? columns[k] : k;
    values[count] = x[k] * share;
    count += x[k] != 0;
  }
  return count;
}

static inline v128_t four(const void *weight, long at, int halves) {
  return halves ? four_halves((const half *)weight + at)
                : wasm_v128_load((const float *)weight + at);
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

/* The outputs of a layer whose weights are turned, y [count, rows]: x [count, many] are its
 * inputs `columns` [many], and the others are 0; or, with no `columns`, all in turn. */
void sparse_linear(const Linear *layer, const int *columns, int many, const float *x, int count,
                   float *y) {
  for (int p = 0; p < count; p++) {
    int found = find(columns, x + p * many, many, layer->halves ? SHARE : 1);
    if (layer->halves)
      row(layer, found, 1, y + p * layer->rows);
    else
      row(layer, found, 0, y + p * layer->rows);
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
