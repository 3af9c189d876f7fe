/* How likely given tokens are, where nothing else is asked about their distributions. */
#include <wasm_simd128.h>

#include "engine.h"

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

static void take(Total *total, const float *logits, int count) {
  float most = largest(logits, count);
  if (most > total->most) {
    total->sum *= exponential(total->most - most);
    total->most = most;
  }
  total->sum += exponential_sum(logits, count, total->most);
}

/* Of the logits [count] of x [D] from `first` on those that are not far below the largest so far,
 * exactly. */
static void refine(const Total *total, const float *x, int first, int count, float *logits) {
  float least = total->most - NEAR;
  v128_t bound = wasm_f32x4_splat(least);
  for (int k = 0; k < count; k += 4) {
    if (k + 4 <= count && !wasm_v128_any_true(wasm_f32x4_gt(wasm_v128_load(logits + k), bound)))
      continue;
    for (int n = k; n < k + 4 && n < count; n++)
      if (logits[n] > least) logits[n] = output_of(&model.output, first + n, x) - total->shared;
  }
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
  short *whole = allocate(rows * (unsigned)stride * sizeof(short));
  Total *totals = allocate(rows * sizeof(Total));
  int ready = logits && steps && whole && totals;
  const Linear middle = {(void *)model.rounded.middle, 0, 1, D, 0};
  for (int p = 0; ready && p < count; p++) {
    float shared = output_of(&middle, 0, x + p * D);
    steps[p] = shorten(x + p * D, D, whole + p * stride);
    log_probs[p] = output_of(&model.output, ids[p], x + p * D) - shared;
    totals[p] = (Total){log_probs[p], shared, 0};
  }
  for (int first = 0; ready && first < vocab; first += PART) {
    int last = first + PART < vocab ? first + PART : vocab, width = last - first;
    short_linear(&model.output, &model.rounded, first, last, whole, steps, count, logits);
    for (int p = 0; p < count; p++) {
      refine(totals + p, x + p * D, first, width, logits + p * width);
      take(totals + p, logits + p * width, width);
    }
  }
  for (int p = 0; ready && p < count; p++)
    log_probs[p] -= totals[p].most + (float)logarithm(totals[p].sum);
  release(place);
  return ready;
}
