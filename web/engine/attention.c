/* Attention of one query and one head, with its weights. */
#include <wasm_simd128.h>

#include "engine.h"

static inline float dot(const float *a, const float *b, int count) {
  v128_t sum = wasm_f32x4_const_splat(0);
  int k = 0;
  for (; k + 4 <= count; k += 4)
    sum = wasm_f32x4_add(sum, wasm_f32x4_mul(wasm_v128_load(a + k), wasm_v128_load(b + k)));
  sum = wasm_f32x4_add(sum, wasm_i32x4_shuffle(sum, sum, 2, 3, 0, 1));
  float out = wasm_f32x4_extract_lane(sum, 0) + wasm_f32x4_extract_lane(sum, 1);
  for (; k < count; k++) out += a[k] * b[k];
  return out;
}

/* softmax(query · key / √E) over the keys that may be read; a row with none is all 0. */
static void weigh(const float *query, const Memory *memory, float *weights) {
  float scale = 1.0f / __builtin_sqrtf((float)memory->d_head), most = -3.4e38f, sum = 0;
  for (int s = 0; s < memory->count; s++) {
    weights[s] = dot(query, memory->keys + s * memory->stride, memory->d_head) * scale;
    if ((!memory->keep || memory->keep[s]) && weights[s] > most) most = weights[s];
  }
  for (int s = 0; s < memory->count; s++) {
    weights[s] = !memory->keep || memory->keep[s] ? exponential(weights[s] - most) : 0;
    sum += weights[s];
  }
  float share = sum > 0 ? 1.0f / sum : 0;
  for (int s = 0; s < memory->count; s++) weights[s] *= share;
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
