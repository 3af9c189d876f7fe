/* The passes of translator/model/transformer.py; every attention weight comes out, where it is
 * asked for. */
#include "engine.h"

/* What a pass leaves and is near to, and room for what a layer computes between its input and its
 * output. */
typedef struct {
  const Record *to, *by;
  float *read, *update, *projected, *mixed, *wide, *weights;
} Scratch;

static const Record nothing;

static int make_scratch(Scratch *scratch, const Stack *stack, int count, int longest) {
  unsigned size = (unsigned)count * sizeof(float);
  scratch->read = allocate(size * (unsigned)model.d_model);
  scratch->update = allocate(size * (unsigned)model.d_model);
  scratch->projected = allocate(size * 3u * (unsigned)stack->inner);
  scratch->mixed = allocate(size * (unsigned)stack->inner);
  scratch->wide = allocate(size * (unsigned)stack->d_ff);
  scratch->weights = allocate((unsigned)longest * sizeof(float));
  return scratch->weights && scratch->wide && scratch->mixed &&
         scratch->projected && scratch->update && scratch->read;
}

/* Write `count` numbers to place `at` of a record, if there is one. */
static void note(float *record, int at, const float *values, int count) {
  if (record) __builtin_memcpy(record + at * count, values, (unsigned)count * sizeof(float));
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

/* The outputs of layer `l` for what it reads, [B, T, D], into scratch->update; 0 if memory ran
 * out. */
static int transform(const Stack *stack, int l, const float *read, int B, int T,
                     Scratch *scratch) {
  const Layer *layer = stack->layer + l;
  const Record *by = scratch->by;
  int count = B * T, F = stack->d_ff, D = model.d_model;
  if (by && model.activation == RELU)
    return near_feed_forward(layer, by->reads + l * T * D, by->sums + l * T * F, read, B, T,
                             scratch->update);
  linear(&layer->up, 0, F, read, count, scratch->wide);
  note(scratch->to->reads, l, read, count * D);
  note(scratch->to->sums, l, scratch->wide, count * F);
  activate(scratch->wide, count * F);
  if (model.activation == RELU)
    sparse_linear(&layer->down, scratch->wide, count, scratch->update);
  else
    linear(&layer->down, 0, D, scratch->wide, count, scratch->update);
  return 1;
}

static int feed_forward(const Stack *stack, int l, float *x, int B, int T, Scratch *scratch) {
  const Norm *norm = &stack->layer[l].norm;
  int ready = transform(stack, l, enter(norm, x, B * T, scratch->read), B, T, scratch);
  leave(norm, x, scratch->update, B * T);
  return ready;
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
      __builtin_memcpy(row, (const float *)side->table.weight + (long)ids[p] * D,
                       (unsigned)D * sizeof(float));
    for (int k = 0; k < D; k++) row[k] = row[k] * model.scale + position[k];
  }
  layer_norm(&side->norm, x, B * T, x);
}

static void encoder_attention(const Layer *layer, float *x, int B, int S, const float *gates,
                              const byte *keep, float *maps, Scratch *scratch) {
  const Stack *stack = &model.encoder;
  int I = stack->inner, E = stack->d_head, H = stack->heads;
  linear(&layer->own.qkv, 0, 3 * I, enter(&layer->own.norm, x, B * S, scratch->read), B * S,
         scratch->projected);
  for (int b = 0; b < B; b++)
    for (int h = 0; h < H; h++)
      for (int s = 0; s < S; s++) {
        const float *row = scratch->projected + b * S * 3 * I + h * E;
        Memory memory = {row + I, row + 2 * I, keep, 3 * I, S, E};
        mix(row + s * 3 * I, &memory, gates ? gates[b * H + h] : 1,
            maps ? maps + ((b * H + h) * S + s) * S : scratch->weights,
            scratch->mixed + (b * S + s) * I + h * E);
      }
  merge(&layer->own, x, B * S, scratch);
}

/* Read a source, from sublayer `from` on: an attention and a feed-forward layer in turn.
 *
 * x: [B, S, D], what the first of these sublayers reads; the memory afterwards.
 * keep: [S], 0 where padding is not to be read, or 0 for all. gates: [L, B, H], or 0.
 * maps: [L, B, H, S, S], or 0. to: what this pass is to leave for others, or 0. by: what a pass
 * over one such source left, to which these are near, or 0.
 * Returns 0 if memory ran out.
 */
int EXPORT(encode)(float *x, int B, int S, int from, const byte *keep, const float *gates,
                   float *maps, const Record *to, const Record *by) {
  const Stack *stack = &model.encoder;
  unsigned place = mark();
  Scratch scratch = {.to = to ? to : &nothing, .by = by};
  int ready = make_scratch(&scratch, stack, B * S, S), rows = B * stack->heads;
  for (int l = from / 2; ready && l < stack->layers; l++) {
    const Layer *layer = stack->layer + l;
    if (from <= 2 * l) {
      float *map = maps ? maps + l * rows * S * S : 0;
      note(scratch.to->states, l, x, B * S * model.d_model);
      encoder_attention(layer, x, B, S, gates ? gates + l * rows : 0, keep, map, &scratch);
      note(scratch.to->mixed, l, scratch.mixed, B * S * stack->inner);
    }
    ready = feed_forward(stack, l, x, B, S, &scratch);
  }
  layer_norm(&stack->norm, x, B * S, x);
  release(place);
  return ready;
}

/* Keys and values of the memory [B, S, D] for every layer's cross-attention: read [L, B, S, 2,
 * I]. */
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

static void own_attention(const Layer *layer, float *x, const Span *span, float *cache,
                          const float *gates, float *maps, Scratch *scratch) {
  const Stack *stack = &model.decoder;
  int I = stack->inner, E = stack->d_head, H = stack->heads, T = span->T;
  const float *read = enter(&layer->own.norm, x, span->B * T, scratch->read);
  linear(&layer->own.qkv, 0, 3 * I, read, span->B * T, scratch->projected);
  for (int b = 0; b < span->B; b++) {
    const float *rows = scratch->projected + b * T * 3 * I;
    float *past = cache + b * span->capacity * 2 * I;
    for (int t = 0; t < T; t++)
      __builtin_memcpy(past + (span->first + t) * 2 * I, rows + t * 3 * I + I,
                       2u * (unsigned)I * sizeof(float));
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

static void cross_attention(const Layer *layer, float *x, const Span *span, const float *source,
                            const float *gates, float *maps, Scratch *scratch) {
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
            maps ? maps + ((b * H + h) * T + t) * S : scratch->weights,
            scratch->mixed + (b * T + t) * I + h * E);
      }
  merge(&layer->cross, x, span->B * T, scratch);
}

/* Read T more tokens of B hypotheses: all at once, or, with T = 1, a step. From sublayer `from` on:
 * attention to the target, attention to the source, and a feed-forward layer in turn.
 *
 * x: [B, T, D], what the first of these sublayers reads; what the output projection reads
 * afterwards.
 * first: the position of the first token; the cache holds those before it.
 * cache: [L, B, capacity, 2, I], keys and values, to which these are added.
 * source: what `start` gave, [L, memories, S, 2, I]; memories is 1, which all rows read, or B.
 * keep: [S], or 0.
 * own_gates, cross_gates: [L, B, H], or 0.
 * own: [L, B, H, T, capacity], of which row t is written up to first + t; cross: [L, B, H, T, S].
 * Each may be 0.
 * to, by: as those of `encode`.
 * Returns 0 if memory ran out.
 */
int EXPORT(decode)(float *x, int B, int T, int first, int from, float *cache, int capacity,
                   const float *source, int memories, int S, const byte *keep,
                   const float *own_gates, const float *cross_gates, float *own, float *cross,
                   const Record *to, const Record *by) {
  const Stack *stack = &model.decoder;
  Span span = {B, T, first, capacity, memories, S, keep};
  unsigned place = mark();
  Scratch scratch = {.to = to ? to : &nothing, .by = by};
  int ready = make_scratch(&scratch, stack, B * T, S > capacity ? S : capacity);
  int rows = B * stack->heads, past = B * capacity * 2 * stack->inner;
  int size = B * T * model.d_model, inner = B * T * stack->inner;
  for (int l = from / 3; ready && l < stack->layers; l++) {
    const Layer *layer = stack->layer + l;
    if (from <= 3 * l) {
      note(scratch.to->states, 2 * l, x, size);
      own_attention(layer, x, &span, cache + l * past, own_gates ? own_gates + l * rows : 0,
                    own ? own + l * rows * T * capacity : 0, &scratch);
      note(scratch.to->mixed, 2 * l, scratch.mixed, inner);
    }
    if (from <= 3 * l + 1) {
      note(scratch.to->states, 2 * l + 1, x, size);
      cross_attention(layer, x, &span, source + l * memories * S * 2 * stack->inner,
                      cross_gates ? cross_gates + l * rows : 0,
                      cross ? cross + l * rows * T * S : 0, &scratch);
      note(scratch.to->mixed, 2 * l + 1, scratch.mixed, inner);
    }
    ready = feed_forward(stack, l, x, B, T, &scratch);
  }
  layer_norm(&stack->norm, x, B * T, x);
  release(place);
  return ready;
}

/* What comes out of an attention when one of its heads is silent.
 *
 * attention: 0 for the encoder's, 1 for the decoder's own, 2 for that to the source, of layer `at`.
 * x: [count, D] and mixed: [count, I], what this attention read and what its heads gave.
 * out: [H, count, D], row h without head h. Returns 0 if memory ran out.
 */
int EXPORT(silence)(int attention, int at, const float *x, const float *mixed, int count,
                    float *out) {
  const Stack *stack = attention ? &model.decoder : &model.encoder;
  const Layer *layer = stack->layer + at;
  unsigned place = mark();
  Scratch scratch;
  int ready = make_scratch(&scratch, stack, stack->heads * count, 0), E = stack->d_head;
  for (int h = 0; ready && h < stack->heads; h++) {
    float *heads = scratch.mixed + h * count * stack->inner;
    note(out, h, x, count * model.d_model);
    note(heads, 0, mixed, count * stack->inner);
    for (int t = 0; t < count; t++)
      __builtin_memset(heads + t * stack->inner + h * E, 0, (unsigned)E * sizeof(float));
  }
  if (ready)
    merge(attention == 2 ? &layer->cross : &layer->own, out, stack->heads * count, &scratch);
  release(place);
  return ready;
}

/* Logits [count, V] of what `decode` left, x [count, D]. */
void EXPORT(project)(const float *x, int count, float *logits) {
  linear(&model.output, 0, model.output.rows, x, count, logits);
}

/* Let hypothesis i be what hypothesis from[i] was: `length` steps of cache [L, B, capacity, 2, I]
 * into `out` of N. */
void EXPORT(reorder)(const float *cache, int B, int capacity, const int *from, int N, int length,
                     float *out) {
  int row = capacity * 2 * model.decoder.inner;
  unsigned filled = (unsigned)length * 2u * (unsigned)model.decoder.inner * sizeof(float);
  for (int l = 0; l < model.decoder.layers; l++)
    for (int i = 0; i < N; i++)
      __builtin_memcpy(out + (l * N + i) * row, cache + (l * B + from[i]) * row, filled);
}
