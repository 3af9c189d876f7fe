/* Attention of one query and one head, with its weights. */
#include <wasm_simd128.h>

#include "engine.h"
#include "vectors.h"

enum { WIDE = 4 }; /* vectors of values that are mixed at once */

static inline float dot(const float *a, const float *b, int count) {
  v128_t sum = wasm_f32x4_const_splat(0);
  int k = 0;
  for (; k + 4 <= count; k += 4)
    sum = plus_product(sum, wasm_v128_load(a + k), wasm_v128_load(b + k));
  float out = wasm_f32x4_extract_lane(sums(sum, sum, sum, sum), 0);
  for (; k < count; k++) out += a[k] * b[k];
  return out;
}

/* query · key of four keys. */
static inline v128_t four_dots(const float *query, const float *const keys[4], int count) {
  const float *p = keys[0], *q = keys[1], *r = keys[2], *s = keys[3];
  v128_t a = wasm_f32x4_const_splat(0), b = a, c = a, d = a;
  for (const float *end = query + count; query < end; query += 4, p += 4, q += 4, r += 4, s += 4) {
    v128_t each = wasm_v128_load(query);
    a = plus_product(a, each, wasm_v128_load(p));
    b = plus_product(b, each, wasm_v128_load(q));
    c = plus_product(c, each, wasm_v128_load(r));
    d = plus_product(d, each, wasm_v128_load(s));
  }
  return sums(a, b, c, d);
}

/* Up to four numbers to where there may be room for no more. */
static inline void store(v128_t from, int count, float *to) {
  if (count >= 4) {
    wasm_v128_store(to, from);
    return;
  }
  float out[4];
  wasm_v128_store(out, from);
  for (int i = 0; i < count; i++) to[i] = out[i];
}

/* query · key / √E of every key. */
static void match(const float *query, const Memory *memory, float *weights) {
  float scale = 1.0f / __builtin_sqrtf((float)memory->d_head);
  int E = memory->d_head, count = memory->count, stride = memory->stride;
  const float *keys = memory->keys;
  for (int s = 0; E % 4 && s < count; s++) weights[s] = dot(query, keys + s * stride, E) * scale;
  for (int s = 0; E % 4 == 0 && s < count; s += 4, keys += 4 * stride) {
    int left = count - s;
    const float *four[] = {keys, keys + (left > 1 ? stride : 0), keys + (left > 2 ? 2 * stride : 0),
                           keys + (left > 3 ? 3 * stride : 0)};
    store(wasm_f32x4_mul(four_dots(query, four, E), wasm_f32x4_splat(scale)), left, weights + s);
  }
}

/* softmax(query · key / √E) over the keys that may be read; a row with none is all 0. */
static void weigh(const float *query, const Memory *memory, float *weights) {
  const byte *keep = memory->keep;
  int count = memory->count;
  match(query, memory, weights);
  for (int s = 0; keep && s < count; s++) weights[s] = keep[s] ? weights[s] : -3.4e38f;
  v128_t shift = wasm_f32x4_splat(largest(weights, count));
  for (int s = 0; s < count; s += 4) {
    v128_t four = count - s < 4 ? last_floats(weights + s, count - s) : wasm_v128_load(weights + s);
    store(exponentials(wasm_f32x4_sub(four, shift)), count - s, weights + s);
  }
  float sum = 0;
  for (int s = 0; s < count; s++) {
    if (keep && !keep[s]) weights[s] = 0;
    sum += weights[s];
  }
  float share = sum > 0 ? 1.0f / sum : 0;
  for (int s = 0; s < count; s++) weights[s] *= share;
}

/* 4 * `vectors` of the mixed values, from `e` on. */
static inline void blend(const Memory *memory, const float *weights, int e, int vectors, float gate,
                         float *mixed) {
  const float *values = memory->values + e;
  v128_t sum[WIDE];
  for (int i = 0; i < vectors; i++) sum[i] = wasm_f32x4_const_splat(0);
  for (int s = 0; s < memory->count; s++, values += memory->stride) {
    v128_t weight = wasm_v128_load32_splat(weights + s);
    for (int i = 0; i < vectors; i++)
      sum[i] = plus_product(sum[i], weight, wasm_v128_load(values + 4 * i));
  }
  for (int i = 0; i < vectors; i++)
    wasm_v128_store(mixed + e + 4 * i, wasm_f32x4_mul(sum[i], wasm_f32x4_splat(gate)));
}

/* Mix the values by softmax(query · key / √E): query [E]; weights [count] and mixed [E], times the
 * gate, come out. */
void mix(const float *query, const Memory *memory, float gate, float *weights, float *mixed) {
  weigh(query, memory, weights);
  int e = 0;
  for (; e + 4 * WIDE <= memory->d_head; e += 4 * WIDE)
    blend(memory, weights, e, WIDE, gate, mixed);
  for (; e + 4 <= memory->d_head; e += 4) blend(memory, weights, e, 1, gate, mixed);
  for (; e < memory->d_head; e++) {
    float sum = 0;
    for (int s = 0; s < memory->count; s++)
      sum += weights[s] * memory->values[s * memory->stride + e];
    mixed[e] = sum * gate;
  }
}
