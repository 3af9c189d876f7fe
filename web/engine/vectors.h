/* Four numbers at a time: products, and float16 weights as they lie in the file. */
#ifndef VECTORS_H
#define VECTORS_H

#include <wasm_simd128.h>

#include "engine.h"

enum { WIDEST = 16384 }; /* the widest input that there is room for */

/* A float16 shifted into the place of a float32 is its value times 2^-112, denormals too. Either
 * the weight is scaled back (WHOLE), or, where it is used once, the other factor by SHARE and
 * the sum by REST: both are exact. */
static const float WHOLE = 0x1p112f, SHARE = 0x1p100f, REST = 0x1p12f;

/* four halves, each in 32 bits with its sign extended */
static inline v128_t shifted(v128_t bits) {
  return wasm_v128_and(wasm_i32x4_shl(bits, 13), wasm_i32x4_const_splat((int)0x8fffe000));
}

static inline v128_t four_halves(const half *w) { return shifted(wasm_i32x4_load16x4(w)); }

/* Four weights from number `at` on, float16 as they are. */
static inline v128_t four(const void *weight, long at, int halves) {
  return halves ? four_halves((const half *)weight + at)
                : wasm_v128_load((const float *)weight + at);
}

/* The last one to three of a row, and zeros. */
static inline v128_t last_halves(const half *w, int count) {
  return shifted(
      wasm_i32x4_make((short)w[0], count > 1 ? (short)w[1] : 0, count > 2 ? (short)w[2] : 0, 0));
}

static inline v128_t last_floats(const float *x, int count) {
  return wasm_f32x4_make(x[0], count > 1 ? x[1] : 0, count > 2 ? x[2] : 0, 0);
}

static inline v128_t plus_product(v128_t sum, v128_t a, v128_t b) {
#ifdef __wasm_relaxed_simd__
  return wasm_f32x4_relaxed_madd(a, b, sum); /* rounded once where the processor can */
#else
  return wasm_f32x4_add(sum, wasm_f32x4_mul(a, b));
#endif
}

/* The sums over the lanes of four vectors, as one vector. */
static inline v128_t sums(v128_t a, v128_t b, v128_t c, v128_t d) {
  v128_t ab =
      wasm_f32x4_add(wasm_i32x4_shuffle(a, b, 0, 4, 1, 5), wasm_i32x4_shuffle(a, b, 2, 6, 3, 7));
  v128_t cd =
      wasm_f32x4_add(wasm_i32x4_shuffle(c, d, 0, 4, 1, 5), wasm_i32x4_shuffle(c, d, 2, 6, 3, 7));
  return wasm_f32x4_add(wasm_i64x2_shuffle(ab, cd, 0, 2), wasm_i64x2_shuffle(ab, cd, 1, 3));
}

/* `exponential` of four numbers. */
static inline v128_t exponentials(v128_t x) {
  x = wasm_f32x4_pmin(wasm_f32x4_pmax(x, wasm_f32x4_const_splat(-87)), wasm_f32x4_const_splat(88));
  v128_t n = wasm_f32x4_floor(wasm_f32x4_add(wasm_f32x4_mul(x, wasm_f32x4_const_splat(1.44269504f)),
                                             wasm_f32x4_const_splat(0.5f)));
  v128_t r = wasm_f32x4_sub(x, wasm_f32x4_mul(n, wasm_f32x4_const_splat(0.693359375f)));
  r = wasm_f32x4_add(r, wasm_f32x4_mul(n, wasm_f32x4_const_splat(2.12194440e-4f)));
  static const float parts[] = {1.3981999507e-3f, 8.3334519073e-3f, 4.1665795894e-2f,
                                1.6666665459e-1f, 5.0000001201e-1f};
  v128_t p = wasm_f32x4_const_splat(1.9875691500e-4f);
  for (int i = 0; i < 5; i++) p = wasm_f32x4_add(wasm_f32x4_mul(p, r), wasm_f32x4_splat(parts[i]));
  p = wasm_f32x4_add(wasm_f32x4_add(wasm_f32x4_mul(wasm_f32x4_mul(p, r), r), r),
                     wasm_f32x4_const_splat(1));
  v128_t power = wasm_i32x4_shl(
      wasm_i32x4_add(wasm_i32x4_trunc_sat_f32x4(n), wasm_i32x4_const_splat(127)), 23);
  return wasm_f32x4_mul(p, power);
}

#endif
