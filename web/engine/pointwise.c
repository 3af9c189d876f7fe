/* What is done to each number, or to each position, by itself. */
#include <wasm_simd128.h>

#include "engine.h"
#include "vectors.h"

/* e^x to one part in 10^7: x = n ln 2 + r, a polynomial for e^r (Moshier's Cephes library, expf),
 * 2^n by its bits. */
float exponential(float x) {
  x = x < -87.0f ? -87.0f : x > 88.0f ? 88.0f : x;
  float n = __builtin_floorf(x * 1.44269504f + 0.5f);
  float r = x - n * 0.693359375f + n * 2.12194440e-4f; /* ln 2 in two parts, the first exact */
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  union {
    int bits;
    float value;
  } power = {.bits = ((int)n + 127) << 23};
  return (p * r * r + r + 1.0f) * power.value;
}

/* The error function to 1.5e-7 (Abramowitz and Stegun, 7.1.26). */
static float error_function(float x) {
  float z = __builtin_fabsf(x), t = 1.0f / (1.0f + 0.3275911f * z);
  float p = 1.061405429f;
  p = p * t - 1.453152027f;
  p = p * t + 1.421413741f;
  p = p * t - 0.284496736f;
  p = p * t + 0.254829592f;
  float y = 1.0f - p * t * exponential(-z * z);
  return x < 0 ? -y : y;
}

/* The model's activation over x [count], in place. */
void activate(float *x, int count) {
  switch (model.activation) {
  case RELU:
    for (int k = 0; k < count; k++) x[k] = x[k] > 0 ? x[k] : 0;
    break;
  case GELU:
    for (int k = 0; k < count; k++) x[k] *= 0.5f * (1.0f + error_function(x[k] * 0.70710678f));
    break;
  case SILU:
    for (int k = 0; k < count; k++) x[k] /= 1.0f + exponential(-x[k]);
    break;
  default: break;
  }
}

static inline float total(v128_t a) {
  return wasm_f32x4_extract_lane(a, 0) + wasm_f32x4_extract_lane(a, 1) +
         wasm_f32x4_extract_lane(a, 2) + wasm_f32x4_extract_lane(a, 3);
}

static void norm_row(const Norm *norm, const float *x, float *y) {
  int width = model.d_model, whole = width & ~3;
  v128_t sum = wasm_f32x4_const_splat(0), squares = sum;
  for (int k = 0; k < whole; k += 4) sum = wasm_f32x4_add(sum, wasm_v128_load(x + k));
  float mean = total(sum);
  for (int k = whole; k < width; k++) mean += x[k];
  mean /= width;
  v128_t middle = wasm_f32x4_splat(mean);
  for (int k = 0; k < whole; k += 4) {
    v128_t from_mean = wasm_f32x4_sub(wasm_v128_load(x + k), middle);
    squares = wasm_f32x4_add(squares, wasm_f32x4_mul(from_mean, from_mean));
  }
  float variance = total(squares);
  for (int k = whole; k < width; k++) variance += (x[k] - mean) * (x[k] - mean);
  variance /= model.unbiased ? width - 1 : width;
  float factor = 1.0f / __builtin_sqrtf(variance + model.epsilon);
  for (int k = 0; k < width; k++) {
    float scaled = (x[k] - mean) * factor * norm->weight[k];
    y[k] = norm->bias ? scaled + norm->bias[k] : scaled;
  }
}

/* x [count, D] to mean 0 and variance 1, scaled and shifted by what was learnt; y may be x. */
void layer_norm(const Norm *norm, const float *x, int count, float *y) {
  if (!norm->weight) {
    if (x != y) __builtin_memcpy(y, x, (unsigned)(count * model.d_model) * sizeof(float));
    return;
  }
  for (int p = 0; p < count; p++) norm_row(norm, x + p * model.d_model, y + p * model.d_model);
}

/* x [count] += update [count]. */
void add(float *x, const float *update, int count) {
  for (int k = 0; k < count; k++) x[k] += update[k];
}

/* The natural logarithm of x > 0: x = m · 2^e, and 2 artanh((m - 1) / (m + 1)) as a series. */
double logarithm(double x) {
  union {
    double value;
    long long bits;
  } number = {.value = x};
  int power = (int)(number.bits >> 52) - 1023;
  number.bits = (number.bits & 0xfffffffffffffll) | 0x3ff0000000000000ll;
  double m = number.value;
  if (m > 1.4142135623730951) m /= 2, power++;
  double s = (m - 1) / (m + 1), sum = 0, term = s;
  for (int n = 1; n < 23; n += 2, term *= s * s) sum += term / n;
  return 2 * sum + power * 0.6931471805599453;
}

/* Two sums in double precision, with four more numbers in them. */
static inline v128_t plus_four(v128_t sums, v128_t each) {
  sums = wasm_f64x2_add(sums, wasm_f64x2_promote_low_f32x4(each));
  return wasm_f64x2_add(sums, wasm_f64x2_promote_low_f32x4(wasm_i64x2_shuffle(each, each, 1, 0)));
}

/* The sum of e^(x - most) over x [count], summed in double precision. */
static double exponential_sum(const float *x, int count, float most) {
  v128_t sums = wasm_f64x2_const_splat(0), shift = wasm_f32x4_splat(most);
  int k = 0;
  for (; k + 4 <= count; k += 4)
    sums = plus_four(sums, exponentials(wasm_f32x4_sub(wasm_v128_load(x + k), shift)));
  double sum = wasm_f64x2_extract_lane(sums, 0) + wasm_f64x2_extract_lane(sums, 1);
  for (; k < count; k++) sum += exponential(x[k] - most);
  return sum;
}

/* The largest of x [count]. */
float largest(const float *x, int count) {
  v128_t most = wasm_f32x4_splat(x[0]);
  int k = 0;
  for (; k + 4 <= count; k += 4) most = wasm_f32x4_pmax(most, wasm_v128_load(x + k));
  most = wasm_f32x4_pmax(most, wasm_i32x4_shuffle(most, most, 2, 3, 0, 1));
  most = wasm_f32x4_pmax(most, wasm_i32x4_shuffle(most, most, 1, 0, 3, 2));
  float out = wasm_f32x4_extract_lane(most, 0);
  for (; k < count; k++) out = x[k] > out ? x[k] : out;
  return out;
}

/* Logits [count] to log-probabilities, in place, in nats. */
void EXPORT(log_softmax)(float *logits, int count) {
  float most = largest(logits, count);
  double sum = exponential_sum(logits, count, most);
  float shift = most + (float)logarithm(sum);
  for (int k = 0; k < count; k++) logits[k] -= shift;
}

/* The entropy of log-probabilities [count], in nats. */
float EXPORT(entropy)(const float *log_probs, int count) {
  v128_t sums = wasm_f64x2_const_splat(0);
  int k = 0;
  for (; k + 4 <= count; k += 4) {
    v128_t x = wasm_v128_load(log_probs + k);
    sums = plus_four(sums, wasm_f32x4_mul(exponentials(x), x));
  }
  double sum = wasm_f64x2_extract_lane(sums, 0) + wasm_f64x2_extract_lane(sums, 1);
  for (; k < count; k++) sum += exponential(log_probs[k]) * log_probs[k];
  return (float)-sum;
}
