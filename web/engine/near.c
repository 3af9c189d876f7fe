/* A feed-forward layer with a ReLU where its inputs are near to others whose sums before the ReLU
 * are known.
 *
 * A unit's sum changes by at most the length of the input's change times that of the unit's weights
 * (Cauchy-Schwarz). Where that leaves it below 0, it gives 0 as before, and is not computed.
 */
#include <wasm_simd128.h>

#include "engine.h"
#include "vectors.h"

static float length(const float *x, const float *from, int count) {
  v128_t sum = wasm_f32x4_const_splat(0);
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    v128_t each = wasm_v128_load(x + k);
    if (from) each = wasm_f32x4_sub(each, wasm_v128_load(from + k));
    sum = plus_product(sum, each, each);
  }
  float squares = wasm_f32x4_extract_lane(sums(sum, sum, sum, sum), 0);
  for (; k < count; k++) {
    float each = from ? x[k] - from[k] : x[k];
    squares += each * each;
  }
  return __builtin_sqrtf(squares);
}

/* The length of each row of weights, [rows]; 0 if memory ran out. */
float *row_lengths(const Linear *layer) {
  float *lengths = allocate((unsigned)layer->rows * sizeof(float));
  unsigned place = mark();
  float *wide = allocate((unsigned)layer->columns * sizeof(float));
  for (int n = 0; lengths && wide && n < layer->rows; n++)
    lengths[n] = length(row_of(layer, n, wide), 0, layer->columns);
  release(place);
  return lengths && wide ? lengths : 0;
}

/* B rows of T positions, and what is known of them. A position's rows stand side by side, `width`
 * of them with those that fill it up. */
typedef struct {
  int B, T, F, width;
  float *reach, *most; /* how far inputs moved and what rounding adds [T, width]; the most [T] */
  const float **rows;  /* inputs [B * T] of which a unit is computed, */
  int *at, *which;     /* the position and the row of each, */
  float *out;          /* and what it gives */
  int *found, *units;  /* units above 0 somewhere: how many [T], and which [T, F] */
  float *values;       /* what they give, [T, F, width] */
  float *packed;       /* [F, SHARED], for their weights */
} Near;

static int make_near(Near *near) {
  unsigned B = (unsigned)near->B, T = (unsigned)near->T, F = (unsigned)near->F;
  near->reach = allocate(T * (unsigned)near->width * sizeof(float));
  near->most = allocate(T * sizeof(float));
  near->rows = allocate(B * T * sizeof(float *));
  near->at = allocate(B * T * sizeof(int));
  near->which = allocate(B * T * sizeof(int));
  near->out = allocate(B * T * sizeof(float));
  near->found = allocate(T * sizeof(int));
  near->units = allocate(T * F * sizeof(int));
  near->values = allocate(T * F * (unsigned)near->width * sizeof(float));
  near->packed = allocate(F * SHARED * sizeof(float));
  return near->packed && near->reach && near->most && near->rows && near->at && near->which &&
         near->out && near->found && near->units && near->values;
}

/* How far the inputs read [B, T, D] are from `usual` [T, D]. */
static void reach(Near *near, const float *usual, const float *read, int D) {
  for (int t = 0; t < near->T; t++) {
    const float *from = usual + t * D;
    near->most[t] = 0;
    near->found[t] = 0;
    for (int b = 0; b < near->B; b++) {
      float change = length(read + (b * near->T + t) * D, from, D);
      /* A sum of D products is exact to about D * 2^-24 of both lengths' product: four times that
       * is kept free. */
      change += (length(from, 0, D) + change) * (float)D * 0x1p-22f;
      near->reach[t * near->width + b] = change;
      near->most[t] = change > near->most[t] ? change : near->most[t];
    }
  }
}

/* For which of the four rows from `b` on at position `t` a unit of this length may be above 0, as
 * bits; its sum is `usual`. */
static inline unsigned four_may(const Near *near, int t, int b, float length, float usual) {
  v128_t far = wasm_v128_load(near->reach + t * near->width + b);
  v128_t change = wasm_f32x4_mul(far, wasm_f32x4_splat(length));
  v128_t most = wasm_f32x4_add(wasm_f32x4_splat(usual), change);
  unsigned bits = wasm_i32x4_bitmask(wasm_f32x4_gt(most, wasm_f32x4_const_splat(0)));
  return near->B - b < 4 ? bits & ((1u << (near->B - b)) - 1) : bits;
}

/* The inputs for which unit `n`, of this length, may be above 0; how many. */
static int may_fire(Near *near, int n, float length, const float *sums, const float *read, int D) {
  int count = 0, T = near->T;
  for (int t = 0; t < T; t++) {
    float usual = sums[t * near->F + n];
    if (usual + near->most[t] * length <= 0) continue;
    for (int b = 0; b < near->B; b += 4)
      for (unsigned bits = four_may(near, t, b, length, usual); bits; bits &= bits - 1, count++) {
        int row = b + __builtin_ctz(bits);
        near->rows[count] = read + (row * T + t) * D;
        near->at[count] = t;
        near->which[count] = row;
      }
  }
  return count;
}

/* Note what unit `n` gives, where it is above 0. */
static void fire(Near *near, int n, int count, float share) {
  unsigned width = (unsigned)near->width;
  for (int i = 0; i < count; i++) {
    if (near->out[i] <= 0) continue;
    int t = near->at[i], *found = near->found + t, *units = near->units + t * near->F;
    float *values = near->values + t * near->F * near->width;
    if (*found == 0 || units[*found - 1] != n) {
      __builtin_memset(values + *found * near->width, 0, width * sizeof(float));
      units[(*found)++] = n;
    }
    values[(*found - 1) * near->width + near->which[i]] = near->out[i] * share;
  }
}

/* The layer's outputs for B rows of T positions, read [B, T, D], each near to its position's
 * `usual` [T, D] with `sums` [T, d_ff]: update [B, T, D]. Returns 0 if memory ran out. */
int near_feed_forward(const Layer *layer, const float *usual, const float *sums, const float *read,
                      int B, int T, float *update) {
  unsigned place = mark();
  int D = layer->up.columns, F = layer->up.rows;
  Near near = {.B = B, .T = T, .F = F, .width = (B + 3) & ~3};
  int ready = make_near(&near);
  if (ready) reach(&near, usual, read, D);
  for (int n = 0; ready && n < F; n++) {
    int count = may_fire(&near, n, layer->lengths[n], sums, read, D);
    if (!count) continue;
    output_of(&layer->up, n, near.rows, count, near.out);
    fire(&near, n, count, layer->down.halves ? SHARE : 1);
  }
  for (int t = 0; ready && t < T; t++)
    shared_linear(&layer->down, near.units + t * F, near.found[t],
                  near.values + t * F * near.width, B, near.packed, update + t * D, T * D);
  release(place);
  return ready;
}
