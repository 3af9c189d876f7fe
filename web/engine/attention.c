/* Attention of one query and one head, with its weights. */
#include <wasm_simd128.h>

#include "engine.h"
#include "vectors.h"

static inline float dot(const float *a, const float *b, int count) {
  v128_t sum = wasm_f32x4_const_splat(0);
  int k = 0;
  for (; k + 4 <= count; k += 4)
    sum = plus_product(sum, wasm_v128_load(a + k), wasm_v128_load(b + k));
  float out = wasm_f32x4_extract_lane(sums(sum, sum, sum, sum), 0);
  for (; k < count; k++) out += a[k] * b[k];
  return out;
}

/* query · key of four keys, each `stride` behind the one before. */
static inline v128_t four_dots(const float *query, const float *keys, int stride, int count) {
  v128_t a = wasm_f32x4_const_splat(0), b = a, c = a, d = a;
  for (int k = 0; k < count; k += 4, keys += 4) {
    v128_t each = wasm_v128_load(query + k);
    a = plus_product(a, each, wasm_v128_load(keys));
    b = plus_product(b, each, wasm_v128_load(keys + stride));
    c = plus_product(c, each, wasm_v128_load(keys + 2 * stride));
    d = plus_product(d, each, wasm_v128_load(keys + 3 * stride));
  }
  return sums(a, b, c, d);
}

/* query · key / √E of every key. */
static void match(const float *query, const Memory *memory, float *weights) {
  float scale = 1.0f / __builtin_sqrtf((float)memory->d_head);
  int s = 0, E = memory->d_head;
  for (; E % 4 == 0 && s + 4 <= memory->count; s += 4) {
    v128_t dots = four_dots(query, memory->keys + s * memory->stride, memory->stride, E);
    wasm_v128_store(weights + s, wasm_f32x4_mul(dots, wasm_f32x4_splat(scale)));
  }
  for (; s < memory->count; s++)
    weights[s] = dot(query, memory->keys + s * memory->stride, E) * scale;
}

/* softmax(query · key / √E) over the keys that may be read; a row with none is all 0. */
static void weigh(const float *query, const Memory *memory, float *weights) {
  const byte *keep = memory->keep;
  float most = -3.4e38f, sum = 0;
  int s, count = memory->count;
  match(query, memory, weights);
  for (s = 0; s < count; s++)
    if ((!keep || keep[s]) && weights[s] > most) most = weights[s];
  v128_t shift = wasm_f32x4_splat(most);
  for (s = 0; s + 4 <= count; s += 4)
    wasm_v128_store(weights + s,
                    exponentials(wasm_f32x4_sub(wasm_v128_load(weights + s), shift)));
  for (; s < count; s++) weights[s] = exponential(weights[s] - most);
  for (s = 0; s < count; s++) {
    if (keep && !keep[s]) weights[s] = 0;
    sum += weights[s];
  }
  float share = sum > 0 ? 1.0f / sum : 0;
  for (s = 0; s < count; s++) weights[s] *= share;
}

/* Mix the values by softmax(query · key / √E): query [E]; weights [count] and mixed [E], times the
 * gate, come out. */
void mix(const float *query, const Memory *memory, float gate, float *weights, float *mixed) {
  weigh(query, memory, weights);
  int e = 0;
  for (; e + 4 <= memory->d_head; e += 4) {
    v128_t sum = wasm_f32x4_const_splat(0);
    for (int s = 0; s < memory->count; s++) {
      v128_t value = wasm_v128_load(memory->values + s * memory->stride + e);
      sum = wasm_f32x4_add(sum, wasm_f32x4_mul(wasm_f32x4_splat(weights[s]), value));
    }
    wasm_v128_store(mixed + e, wasm_f32x4_mul(sum, wasm_f32x4_splat(gate)));
  }
  for (; e < memory->d_head; e++) {
    float sum = 0;
    for (int s = 0; s < memory->count; s++)
      sum += weights[s] * memory->values[s * memory->stride + e];
    mixed[e] = sum * gate;
  }
}
