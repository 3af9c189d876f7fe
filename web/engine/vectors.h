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

/* The last one to three of a row, and zeros. */
static inline v128_t last_halves(const half *w, int count) {
  return shifted(
      wasm_i32x4_make((short)w[0], count > 1 ? (short)w[1] : 0, count > 2 ? (short)w[2] : 0, 0));
}

static inline v128_t last_floats(const float *x, int count) {
  return wasm_f32x4_make(x[0], count > 1 ? x[1] : 0, count > 2 ? x[2] : 0, 0);
}

static inline v128_t plus_product(v128_t sum, v128_t a, v128_t b) {
  return wasm_f32x4_add(sum, wasm_f32x4_mul(a, b));
}

#endif
