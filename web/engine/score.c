/* How likely given tokens are, where nothing else is asked about their distributions. */
#include <wasm_simd128.h>

#include "engine.h"
#include "vectors.h"

/* logits of a row that are made at once: those of many rows stay in the processor's cache */
enum { PART = 128 };

/* A token less likely than e^-NEAR of the likeliest is one of thousands whose sum alone counts,
 * and whose errors are lost in it: it is taken by rounded weights. What is likelier is taken
 * exactly. */
static const float NEAR = 9.2f;

/* The sum of e^x over what a row has shown so far, as `sum` * e^most; `shared` is what all of its
 * logits go without. */
typedef struct {
  float most, shared;
  double sum;
} Total;

/* e^x of four numbers not above 88, to three parts in 10^7: 2^y by the whole part of y, added to an
 * exponent, and the polynomial of least relative error for the rest. */
static inline v128_t powers(v128_t x) {
  static const float parts[] = {9.675541518e-3f, 5.550713305e-2f, 2.402211972e-1f, 6.931469670e-1f,
                                1.0f};
  v128_t rounder = wasm_f32x4_const_splat(0x1.8p23f), p = wasm_f32x4_const_splat(1.327646022e-3f);
  v128_t y = wasm_f32x4_mul(x, wasm_f32x4_const_splat(1.44269504f));
  y = wasm_f32x4_pmax(y, wasm_f32x4_const_splat(-126));
  v128_t whole = wasm_f32x4_add(y, rounder);
  v128_t r = wasm_f32x4_sub(y, wasm_f32x4_sub(whole, rounder));
  for (int i = 0; i < 5; i++) p = plus_product(wasm_f32x4_splat(parts[i]), p, r);
  return wasm_i32x4_add(p, wasm_i32x4_shl(whole, 23));
}

/* The sum of e^(x - most) over a part of a row. */
static float sum_of(const float *x, int count, float most) {
  v128_t sum = wasm_f32x4_const_splat(0), shift = wasm_f32x4_splat(most);
  int k = 0;
  for (; k + 4 <= count; k += 4)
    sum = wasm_f32x4_add(sum, powers(wasm_f32x4_sub(wasm_v128_load(x + k), shift)));
  float out = wasm_f32x4_extract_lane(sums(sum, sum, sum, sum), 0);
  for (; k < count; k++) out += exponential(x[k] - most);
  return out;
}

/* Of the logits [count] of x [D] from `first` on those above `least`, exactly. */
static void refine(const Total *total, const float *x, float least, int first, int count,
                   float *logits) {
  v128_t bound = wasm_f32x4_splat(least);
  for (int k = 0; k < count; k += 4) {
    if (k + 4 <= count && !wasm_v128_any_true(wasm_f32x4_gt(wasm_v128_load(logits + k), bound)))
      continue;
    for (int n = k; n < k + 4 && n < count; n++)
      if (logits[n] > least) logits[n] = one_output(&model.output, first + n, x) - total->shared;
  }
}

/* Take the logits [count] of x [D] from `first` on, those not far below the largest so far exactly.
 */
static void take(Total *total, const float *x, int first, int count, float *logits) {
  float most = largest(logits, count);
  if (most > total->most) {
    total->sum *= exponential(total->most - most);
    total->most = most;
  }
  if (most > total->most - NEAR) refine(total, x, total->most - NEAR, first, count, logits);
  total->sum += sum_of(logits, count, total->most);
}

/* Log-probabilities [count] in nats of ids [count], each by its row of x [count, D], which
 * `decode` left.
 *
 * What all rows of the projection have in common is nothing to a softmax and much to rounding:
 * logits go without it. Returns 0 if memory ran out. */
int EXPORT(score)(const float *x, const int *ids, int count, float *log_probs) {
  unsigned place = mark(), rows = (unsigned)count;
  int D = model.d_model, stride = short_stride(D), vocab = model.output.rows;
  float *logits = allocate(rows * PART * sizeof(float)), *steps = allocate(rows * sizeof(float));
  float *scaled = allocate(rows * (unsigned)D * sizeof(float));
  short *whole = allocate(rows * (unsigned)stride * sizeof(short));
  Total *totals = allocate(rows * sizeof(Total));
  int ready = logits && steps && scaled && whole && totals;
  const Linear middle = {(void *)model.rounded.middle, 0, 1, D, 0};
  for (int p = 0; ready && p < count; p++) {
    float shared = one_output(&middle, 0, x + p * D), share = model.output.halves ? SHARE : 1;
    for (int k = 0; k < D; k++) scaled[p * D + k] = x[p * D + k] * share;
    steps[p] = shorten(x + p * D, D, whole + p * stride);
    log_probs[p] = one_output(&model.output, ids[p], scaled + p * D) - shared;
    totals[p] = (Total){log_probs[p], shared, 0};
  }
  for (int first = 0; ready && first < vocab; first += PART) {
    int last = first + PART < vocab ? first + PART : vocab, width = last - first;
    short_linear(&model.output, &model.rounded, first, last, whole, steps, count, logits);
    for (int p = 0; p < count; p++)
      take(totals + p, scaled + p * D, first, width, logits + p * width);
  }
  for (int p = 0; ready && p < count; p++)
    log_probs[p] -= totals[p].most + (float)logarithm(totals[p].sum);
  release(place);
  return ready;
}
