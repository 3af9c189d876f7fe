/* The model's parts and where their weights lie: what is called once, before anything else. */
#include "engine.h"

Transformer model;

enum { ENCODER, DECODER };
enum { ATTENTION_QKV, ATTENTION_OUT, CROSS_QKV, CROSS_OUT, FEED_FORWARD_UP, FEED_FORWARD_DOWN };
enum { ATTENTION, CROSS, FEED_FORWARD, FINAL };

static Stack *stack_of(int which) { return which == ENCODER ? &model.encoder : &model.decoder; }

/* The habits of the whole: `activation` as in the enum, `scale` of token vectors before positions
 * are added. */
void EXPORT(configure)(int d_model, int pre_norm, int unbiased, float epsilon, int activation,
                       float scale) {
  model.d_model = d_model;
  model.pre_norm = pre_norm;
  model.unbiased = unbiased;
  model.epsilon = epsilon;
  model.activation = activation;
  model.scale = scale;
}

/* The size of one stack; 0 if there is no memory for it. */
int EXPORT(stack)(int which, int layers, int heads, int d_head, int d_ff) {
  Layer *layer = allocate((unsigned)layers * sizeof(Layer));
  if (!layer) return 0;
  __builtin_memset(layer, 0, (unsigned)layers * sizeof(Layer));
  *stack_of(which) = (Stack){layer, {0, 0}, layers, heads, d_head, heads * d_head, d_ff};
  return 1;
}

/* One matrix of a layer, by its part as in the enum. What reads a ReLU's output is stored anew
 * by columns, in its place. Returns 0 if memory ran out. */
int EXPORT(layer_linear)(int which, int at, int part, void *weight, const float *bias, int halves) {
  Stack *stack = stack_of(which);
  Layer *layer = stack->layer + at;
  int inner = stack->inner, width = model.d_model;
  Linear qkv = {weight, bias, 3 * inner, width, halves}, out = {weight, bias, width, inner, halves};
  switch (part) {
  case ATTENTION_QKV: layer->own.qkv = qkv; break;
  case ATTENTION_OUT: layer->own.out = out; break;
  case CROSS_QKV: layer->cross.qkv = qkv; break;
  case CROSS_OUT: layer->cross.out = out; break;
  case FEED_FORWARD_UP:
    layer->up = (Linear){weight, bias, stack->d_ff, width, halves};
    return model.activation != RELU || (layer->lengths = row_lengths(&layer->up));
  case FEED_FORWARD_DOWN:
    layer->down = (Linear){weight, bias, width, stack->d_ff, halves};
    return model.activation == RELU ? turn(&layer->down) : 1;
  }
  return 1;
}

/* One norm of a layer, or, as FINAL, that after the last. */
void EXPORT(layer_norms)(int which, int at, int part, const float *weight, const float *bias) {
  Stack *stack = stack_of(which);
  Norm norm = {weight, bias};
  switch (part) {
  case ATTENTION: stack->layer[at].own.norm = norm; break;
  case CROSS: stack->layer[at].cross.norm = norm; break;
  case FEED_FORWARD: stack->layer[at].norm = norm; break;
  case FINAL: stack->norm = norm; break;
  }
}

/* The token vectors of the source (0) or the target (1), what is added for each position, and their
 * norm if any. */
void EXPORT(embedding)(int target, void *table, int halves, int vocab, const float *positions,
                       const float *norm_weight, const float *norm_bias) {
  Embedding *side = target ? &model.tgt : &model.src;
  *side =
      (Embedding){{table, 0, vocab, model.d_model, halves}, positions, {norm_weight, norm_bias}};
}

/* The projection to logits; 0 if memory ran out. */
int EXPORT(output)(void *weight, const float *bias, int halves, int vocab) {
  model.output = (Linear){weight, bias, vocab, model.d_model, halves};
  return shorten_rows(&model.output, &model.rounded);
}
