/* How likely given tokens are, where nothing else is asked about their distributions. */
#include "engine.h"

enum { PART = 128 }; /* logits of a row that are made at once: those of many rows stay in the processor's cache */

/* The sum of e^x over what a row has shown so far, as `sum` * e^most. */
typedef struct {
  float most;
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

/* Log-probabilities [count] in nats of ids [count], each by its row of x [count, D], which `decode` left.
 * Returns 0 if memory ran out. */
int EXPORT(score)(const float *x, const int *ids, int count, float *log_probs) {
  unsigned place = mark(), rows = (unsigned)count;
  float *logits = allocate(rows * PART * sizeof(float));
  Total *totals = allocate(rows * sizeof(Total));
  int vocab = model.output.rows, ready = logits && totals;
  for (int p = 0; ready && p < count; p++) totals[p] = (Total){-3.4e38f, 0};
  for (int first = 0; ready && first < vocab; first += PART) {
    int last = first + PART < vocab ? first + PART : vocab, width = last - first;
    linear(&model.output, first, last, x, count, logits);
    for (int p = 0; p < count; p++) {
      take(totals + p, logits + p * width, width);
      if (ids[p] >= first && ids[p] < last) log_probs[p] = logits[p * width + ids[p] - first];
    }
  }
  for (int p = 0; ready && p < count; p++) log_probs[p] -= totals[p].most + (float)logarithm(totals[p].sum);
  release(place);
  return ready;
}
