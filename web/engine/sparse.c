/* Products of what a ReLU left, nearly all of it zeros, with a weight matrix of which only the
 * columns of the rest are read. The matrix is turned once, so that each of its columns lies in
 * one piece. */
#include <wasm_simd128.h>

#include "engine.h"
#include "vectors.h"

enum { WIDE = 4, ROWS = 4 }; /* vectors of outputs, and rows, that are summed at once */

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

/* Four weights of a column, or those `left` of it and zeros; float16 as they are. */
static inline v128_t piece(const Linear *layer, long at, int left) {
  if (left >= 4) return four(layer->weight, at, layer->halves);
  if (left <= 0) return wasm_f32x4_const_splat(0);
  return layer->halves ? last_halves((const half *)layer->weight + at, left)
                       : last_floats((const float *)layer->weight + at, left);
}

/* SHARED outputs' weights from `n` on of the columns `units` [many]: packed [many, SHARED]. */
static void pack(const Linear *layer, int n, const int *units, int many, float *packed) {
  for (int at = 0; at < many; at++, packed += SHARED)
    for (int k = 0; k < SHARED; k += 4)
      wasm_v128_store(packed + k, piece(layer, (long)units[at] * layer->rows + n + k,
                                        layer->rows - n - k));
}

/* Eight outputs of four rows: packed weights [many, SHARED] by their inputs x [many, width]. */
static inline void eight_by_four(const float *packed, const float *x, int width, int many,
                                 v128_t sum[2][ROWS]) {
  for (int p = 0; p < ROWS; p++) sum[0][p] = sum[1][p] = wasm_f32x4_const_splat(0);
  for (int at = 0; at < many; at++, packed += SHARED, x += width) {
    v128_t first = wasm_v128_load(packed), second = wasm_v128_load(packed + 4);
    for (int p = 0; p < ROWS; p++) {
      v128_t value = wasm_v128_load32_splat(x + p);
      sum[0][p] = plus_product(sum[0][p], value, first);
      sum[1][p] = plus_product(sum[1][p], value, second);
    }
  }
}

/* Store up to four outputs from `n` on, with their biases. */
static inline void finish(const Linear *layer, v128_t sum, int n, float *y) {
  if (layer->halves) sum = wasm_f32x4_mul(sum, wasm_f32x4_const_splat(REST));
  float out[4];
  wasm_v128_store(out, sum);
  for (int k = 0; k < 4 && n + k < layer->rows; k++)
    y[n + k] = out[k] + (layer->bias ? layer->bias[n + k] : 0);
}

/* The same of `count` rows that have nearly the same inputs above 0: x [many, width] are those of
 * `units` [many], the rows side by side, zeros up to a multiple of four, and scaled by SHARE where
 * the weights are float16. Row p of y begins at p * apart. packed: room, [many, SHARED]. */
void shared_linear(const Linear *layer, const int *units, int many, const float *x, int count,
                   float *packed, float *y, int apart) {
  int width = (count + ROWS - 1) & ~(ROWS - 1);
  v128_t sum[2][ROWS];
  for (int first = 0; first < layer->rows; first += SHARED) {
    int last = first + SHARED < layer->rows ? first + SHARED : layer->rows;
    pack(layer, first, units, many, packed);
    for (int p = 0; p < count; p += ROWS)
      for (int n = first; n < last; n += 8) {
        eight_by_four(packed + n - first, x + p, width, many, sum);
        for (int row = p; row < p + ROWS && row < count; row++) {
          finish(layer, sum[0][row - p], n, y + row * apart);
          finish(layer, sum[1][row - p], n + 4, y + row * apart);
        }
      }
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
