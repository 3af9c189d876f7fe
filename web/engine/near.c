/* A feed-forward layer with a ReLU where its inputs are near to others whose sums before the ReLU
 * are known.
 *
 * A unit's sum changes by at most the length of the input's change times that of the unit's weights
 * (Cauchy-Schwarz). Where that leaves it below 0, it gives 0 as before, and is not computed.
 */
#include "engine.h"
#include "vectors.h"

static float length(const float *x, const float *from, int count) {
  float sum = 0;
  for (int k = 0; k < count; k++) {
    float each = from ? x[k] - from[k] : x[k];
    sum += each * each;
  }
  return __builtin_sqrtf(sum);
}

/* The length of each row of weights, [rows]; 0 if memory ran out. */
float *row_lengths(const Linear *layer) {
  float *lengths = allocate((unsigned)layer->rows * sizeof(float));
  unsigned place = mark();
  float *wide = allocate((unsigned)layer->columns * sizeof(float));
  for (int n = 0; lengths && wide && n < layer->rows; n++) {
    long at = (long)n * layer->columns;
    if (layer->halves) widen((const half *)layer->weight + at, layer->columns, wide);
    lengths[n] =
        length(layer->halves ? wide : (const float *)layer->weight + at, 0, layer->columns);
  }
  release(place);
  return lengths && wide ? lengths : 0;
}

/* The units that may be above 0 for one of the inputs x [count, D], near to `usual` with its `sums`
 * [d_ff]. */
static int may_fire(const Layer *layer, const float *usual, const float *sums, const float *x,
                    int count, int *units) {
  int D = layer->up.columns, found = 0;
  float most = 0;
  for (int p = 0; p < count; p++) {
    float change = length(x + p * D, usual, D);
    most = change > most ? change : most;
  }
  /* A sum of D products is exact to about D * 2^-24 of both lengths' product: four times that is
   * kept free. */
  float reach = most + (length(usual, 0, D) + most) * (float)D * 0x1p-22f;
  for (int n = 0; n < layer->up.rows; n++) {
    units[found] = n;
    found += sums[n] + reach * layer->lengths[n] > 0;
  }
  return found;
}

/* The layer's outputs for B rows of T positions, read [B, T, D], each near to its position's
 * `usual` [T, D] with `sums` [T, d_ff]: update [B, T, D]. `near` has room for B * D numbers,
 * `wide` for B * d_ff. */
void near_feed_forward(const Layer *layer, const float *usual, const float *sums, const float *read,
                       int B, int T, float *update, float *near, float *wide) {
  static int units[WIDEST];
  int D = layer->up.columns;
  unsigned row = (unsigned)D * sizeof(float);
  for (int t = 0; t < T; t++) {
    for (int b = 0; b < B; b++) __builtin_memcpy(near + b * D, read + (b * T + t) * D, row);
    int count = may_fire(layer, usual + t * D, sums + t * layer->up.rows, near, B, units);
    linear_of(&layer->up, units, count, near, B, wide);
    activate(wide, B * count);
    sparse_linear(&layer->down, units, count, wide, B, near);
    for (int b = 0; b < B; b++) __builtin_memcpy(update + (b * T + t) * D, near + b * D, row);
  }
}
