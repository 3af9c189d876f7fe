/* The passes of translator/model/transformer.py; every attention weight comes out, where it is asked for. */
#include "engine.h"

/* Room for what a layer computes between its input and its output, for `count` positions. */
typedef struct {
  float *read, *update, *projected, *mixed, *wide, *weights;
} Scratch;

static int make_scratch(Scratch *scratch, const Stack *stack, int count, int longest) {
  unsigned size = (unsigned)count * sizeof(float);
  scratch->read = allocate(size * (unsigned)model.d_model);
  scratch->update = allocate(size * (unsigned)model.d_model);
  scratch->projected = allocate(size * 3u * (unsigned)stack->inner);
  scratch->mixed = allocate(size * (unsigned)stack->inner);
  scratch->wide = allocate(size * (unsigned)stack->d_ff);
  scratch->weights = allocate((unsigned)longest * sizeof(float));
  return scratch->weights && scratch->wide && scratch->mixed && scratch->projected && scratch->update && scratch->read;
}

static const float *enter(const Norm *norm, const float *x, int count, float *read) {
  if (!model.pre_norm) return x;
  layer_norm(norm, x, count, read);
  return read;
}

static void leave(const Norm *norm, float *x, const float *update, int count) {
  add(x, update, count * model.d_model);
  if (!model.pre_norm) layer_norm(norm, x, count, x);
}

static void feed_forward(const Stack *stack, const Layer *layer, float *x, int count, Scratch *scratch) {
  const float *read = enter(&layer->norm, x, count, scratch->read);
  linear(&layer->up, 0, stack->d_ff, read, count, scratch->wide);
  activate(scratch->wide, count * stack->d_ff);
  linear(&layer->down, 0, model.d_model, scratch->wide, count, scratch->update);
  leave(&layer->norm, x, scratch->update, count);
}

static void merge(const Attention *attention, float *x, int count, Scratch *scratch) {
  linear(&attention->out, 0, model.d_model, scratch->mixed, count, scratch->update);
  leave(&attention->norm, x, scratch->update, count);
}

/* Token vectors, scaled, plus positions from `first` on: ids [B, T] to x [B, T, D]. */
void EXPORT(embed)(int target, const int *ids, int B, int T, int first, float *x) {
  const Embedding *side = target ? &model.tgt : &model.src;
  int D = model.d_model;
  for (int p = 0; p < B * T; p++) {
    float *row = x + p * D;
    const float *position = side->positions + (first + p % T) * D;
    if (side->table.halves)
      widen((const half *)side->table.weight + (long)ids[p] * D, D, row);
    else
      __builtin_memcpy(row, (const float *)side->table.weight + (long)ids[p] * D, (unsigned)D * sizeof(float));
    for (int k = 0; k < D; k++) row[k] = row[k] * model.scale + position[k];
  }
  layer_norm(&side->norm, x, B * T, x);
}

static void encoder_attention(const Layer *layer, float *x, int B, int S, const float *gates, const byte *keep,
                              float *maps, Scratch *scratch) {
  const Stack *stack = &model.encoder;
  int I = stack->inner, E = stack->d_head, H = stack->heads;
  linear(&layer->own.qkv, 0, 3 * I, enter(&layer->own.norm, x, B * S, scratch->read), B * S, scratch->projected);
  for (int b = 0; b < B; b++)
    for (int h = 0; h < H; h++)
      for (int s = 0; s < S; s++) {
        const float *row = scratch->projected + b * S * 3 * I + h * E;
        Memory memory = {row + I, row + 2 * I, keep, 3 * I, S, E};
        mix(row + s * 3 * I, &memory, gates ? gates[b * H + h] : 1,
            maps ? maps + ((b * H + h) * S + s) * S : scratch->weights, scratch->mixed + (b * S + s) * I + h * E);
      }
  merge(&layer->own, x, B * S, scratch);
}

/* Read a source, from layer `from` on.
 *
 * x: [B, S, D], what the first of these layers reads; the memory afterwards.
 * keep: [S], 0 where padding is not to be read, or 0 for all. gates: [L, B, H], or 0.
 * maps: [L, B, H, S, S], states: [L, B, S, D], what each layer reads; each may be 0.
 * Returns 0 if memory ran out.
 */
int EXPORT(encode)(float *x, int B, int S, int from, const byte *keep, const float *gates, float *maps, float *states) {
  const Stack *stack = &model.encoder;
  unsigned place = mark();
  Scratch scratch;
  int ready = make_scratch(&scratch, stack, B * S, S), rows = B * stack->heads, size = B * S * model.d_model;
  for (int l = from; ready && l < stack->layers; l++) {
    const Layer *layer = stack->layer + l;
    if (states) __builtin_memcpy(states + l * size, x, (unsigned)size * sizeof(float));
    encoder_attention(layer, x, B, S, gates ? gates + l * rows : 0, keep, maps ? maps + l * rows * S * S : 0, &scratch);
    feed_forward(stack, layer, x, B * S, &scratch);
  }
  layer_norm(&stack->norm, x, B * S, x);
  release(place);
  return ready;
}

/* Keys and values of the memory [B, S, D] for every layer's cross-attention: read [L, B, S, 2, I]. */
void EXPORT(start)(const float *memory, int B, int S, float *read) {
  int I = model.decoder.inner;
  for (int l = 0; l < model.decoder.layers; l++)
    linear(&model.decoder.layer[l].cross.qkv, I, 3 * I, memory, B * S, read + l * B * S * 2 * I);
}

/* What one call of `decode` is about: B rows of T tokens from position `first` on, see there. */
typedef struct {
  int B, T, first, capacity, memories, S;
  const byte *keep;
} Span;

static void own_attention(const Layer *layer, float *x, const Span *span, float *cache, const float *gates, float *maps,
                          Scratch *scratch) {
  const Stack *stack = &model.decoder;
  int I = stack->inner, E = stack->d_head, H = stack->heads, T = span->T;
  const float *read = enter(&layer->own.norm, x, span->B * T, scratch->read);
  linear(&layer->own.qkv, 0, 3 * I, read, span->B * T, scratch->projected);
  for (int b = 0; b < span->B; b++) {
    const float *rows = scratch->projected + b * T * 3 * I;
    float *past = cache + b * span->capacity * 2 * I;
    for (int t = 0; t < T; t++)
      __builtin_memcpy(past + (span->first + t) * 2 * I, rows + t * 3 * I + I, 2u * (unsigned)I * sizeof(float));
    for (int h = 0; h < H; h++)
      for (int t = 0; t < T; t++) {
        Memory memory = {past + h * E, past + I + h * E, 0, 2 * I, span->first + t + 1, E};
        mix(rows + t * 3 * I + h * E, &memory, gates ? gates[b * H + h] : 1,
            maps ? maps + ((b * H + h) * T + t) * span->capacity : scratch->weights,
            scratch->mixed + (b * T + t) * I + h * E);
      }
  }
  merge(&layer->own, x, span->B * T, scratch);
}

static void cross_attention(const Layer *layer, float *x, const Span *span, const float *source, const float *gates,
                            float *maps, Scratch *scratch) {
  const Stack *stack = &model.decoder;
  int I = stack->inner, E = stack->d_head, H = stack->heads, T = span->T, S = span->S;
  const float *read = enter(&layer->cross.norm, x, span->B * T, scratch->read);
  linear(&layer->cross.qkv, 0, I, read, span->B * T, scratch->projected);
  for (int b = 0; b < span->B; b++)
    for (int h = 0; h < H; h++)
      for (int t = 0; t < T; t++) {
        const float *rows = source + (span->memories == 1 ? 0 : b) * S * 2 * I + h * E;
        Memory memory = {rows, rows + I, span->keep, 2 * I, S, E};
        mix(scratch->projected + (b * T + t) * I + h * E, &memory, gates ? gates[b * H + h] : 1,
            maps ? maps + ((b * H + h) * T + t) * S : scratch->weights, scratch->mixed + (b * T + t) * I + h * E);
      }
  merge(&layer->cross, x, span->B * T, scratch);
}

/* Read T more tokens of B hypotheses, from layer `from` on: all at once, or, with T = 1, a step.
 *
 * x: [B, T, D], what the first of these layers reads; what the output projection reads afterwards.
 * first: the position of the first token; the cache holds those before it.
 * cache: [L, B, capacity, 2, I], keys and values, to which these are added.
 * source: what `start` gave, [L, memories, S, 2, I]; memories is 1, which all rows read, or B. keep: [S], or 0.
 * own_gates, cross_gates: [L, B, H], or 0.
 * own: [L, B, H, T, capacity], of which row t is written up to first + t; cross: [L, B, H, T, S];
 * states: [L, B, T, D], what each layer reads. Each of the three may be 0.
 * Returns 0 if memory ran out.
 */
int EXPORT(decode)(float *x, int B, int T, int first, int from, float *cache, int capacity, const float *source,
                   int memories, int S, const byte *keep, const float *own_gates, const float *cross_gates, float *own,
                   float *cross, float *states) {
  const Stack *stack = &model.decoder;
  Span span = {B, T, first, capacity, memories, S, keep};
  unsigned place = mark();
  Scratch scratch;
  int ready = make_scratch(&scratch, stack, B * T, S > capacity ? S : capacity);
  int rows = B * stack->heads, size = B * T * model.d_model, past = B * capacity * 2 * stack->inner;
  for (int l = from; ready && l < stack->layers; l++) {
    const Layer *layer = stack->layer + l;
    if (states) __builtin_memcpy(states + l * size, x, (unsigned)size * sizeof(float));
    own_attention(layer, x, &span, cache + l * past, own_gates ? own_gates + l * rows : 0,
                  own ? own + l * rows * T * capacity : 0, &scratch);
    cross_attention(layer, x, &span, source + l * memories * S * 2 * stack->inner,
                    cross_gates ? cross_gates + l * rows : 0, cross ? cross + l * rows * T * S : 0, &scratch);
    feed_forward(stack, layer, x, B * T, &scratch);
  }
  layer_norm(&stack->norm, x, B * T, x);
  release(place);
  return ready;
}

/* Logits [count, V] of what `decode` left, x [count, D]. */
void EXPORT(project)(const float *x, int count, float *logits) {
  linear(&model.output, 0, model.output.rows, x, count, logits);
}

/* Let hypothesis i be what hypothesis from[i] was: `length` steps of cache [L, B, capacity, 2, I] into `out` of N. */
void EXPORT(reorder)(const float *cache, int B, int capacity, const int *from, int N, int length, float *out) {
  int row = capacity * 2 * model.decoder.inner;
  unsigned filled = (unsigned)length * 2u * (unsigned)model.decoder.inner * sizeof(float);
  for (int l = 0; l < model.decoder.layers; l++)
    for (int i = 0; i < N; i++) __builtin_memcpy(out + (l * N + i) * row, cache + (l * B + from[i]) * row, filled);
}
