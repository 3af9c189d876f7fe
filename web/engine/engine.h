/* An encoder-decoder Transformer in WebAssembly SIMD: what its parts are and what they promise each
 * other.
 *
 * Shapes in comments: B rows of a batch, L layers, H heads, S source tokens, T target tokens, D
 * d_model, E d_head, I = H * E, V vocabulary. All numbers are float32 but for weights, which may be
 * float16 as in the file. The functions are named as in translator/model, and give the same
 * numbers.
 */
#ifndef ENGINE_H
#define ENGINE_H

#define EXPORT(name) __attribute__((export_name(#name), visibility("default"))) name

typedef unsigned char byte;
typedef unsigned short half; /* the bits of a float16 */

/* y = x · weightᵀ + bias. */
typedef struct {
  /* [rows, columns], float16 where `halves`, or else float32; or turned: [columns, rows] */
  void *weight;
  const float *bias; /* [rows], or 0 */
  int rows, columns, halves;
} Linear;

typedef struct {
  /* [D] each; no weight: the stream is left as it is; the bias may be 0 */
  const float *weight, *bias;
} Norm;

typedef struct {
  Linear qkv, out;
  Norm norm;
} Attention;

typedef struct {
  Attention own, cross; /* `cross` is the decoder's alone */
  Linear up, down;
  Norm norm;
  const float *lengths; /* [d_ff] of the rows of `up`, where a ReLU follows */
} Layer;

/* The encoder, or the decoder. */
typedef struct {
  Layer *layer; /* [L] */
  Norm norm;    /* after the last layer */
  int layers, heads, d_head, inner, d_ff;
} Stack;

/* One side's token vectors. */
typedef struct {
  Linear table;           /* [V, D] */
  const float *positions; /* [positions, D] */
  Norm norm;
} Embedding;

/* A layer's rows as whole numbers: short.c. */
typedef struct {
  const float *middle; /* [columns], the mean of the rows, which they go without */
  const short *rows;   /* four rows a block, eight numbers of each in turn, zeros behind each */
  const float *steps;  /* [rows], up to a multiple of four: what one of their whole numbers is */
} Short;

typedef struct {
  int d_model, pre_norm, unbiased, activation;
  float epsilon, scale; /* of every norm; of token vectors before positions are added */
  Stack encoder, decoder;
  Embedding src, tgt;
  Linear output;
  Short rounded; /* of the output */
} Transformer;

/* What a pass leaves for others that begin in its midst, for each of a stack's layers. Each may be
 * 0. */
typedef struct {
  /* what each attention reads, [L, attentions, B, T, D], and its heads give, [..., I] */
  float *states, *mixed;
  /* what each feed-forward layer reads, [L, B, T, D], and its sums before the ReLU, [..., F] */
  float *reads, *sums;
} Record;

extern Transformer model;

enum { RELU, GELU, SILU, NONE };

/* memory.c */
void *allocate(unsigned bytes);
unsigned mark(void);
void release(unsigned place);

/* linear.c */
void linear(const Linear *layer, int first, int last, const float *x, int count, float *y);
void output_of(const Linear *layer, int n, const float *const *x, int count, float *y);
float one_output(const Linear *layer, int n, const float *x);
void widen(const half *from, int count, float *to);
const float *row_of(const Linear *layer, int n, float *room);

/* short.c */
int short_stride(int columns);
float shorten(const float *x, int count, short *to);
int shorten_rows(const Linear *layer, Short *out);
void short_linear(const Linear *layer, const Short *rounded, int first, int last, const short *x,
                  const float *x_steps, int count, float *y);

/* sparse.c */
enum { SHARED = 32 }; /* outputs whose weights are read together: a cache line of float16 */
void sparse_linear(const Linear *layer, const float *x, int count, float *y);
void shared_linear(const Linear *layer, const int *units, int many, const float *x, int count,
                   float *packed, float *y, int apart);
int turn(const Linear *layer);

/* near.c */
float *row_lengths(const Linear *layer);
int near_feed_forward(const Layer *layer, const float *usual, const float *sums, const float *read,
                      int B, int T, float *update);

/* pointwise.c */
float exponential(float x);
double logarithm(double x);
float largest(const float *x, int count);
void layer_norm(const Norm *norm, const float *x, int count, float *y);
void activate(float *x, int count);
void add(float *x, const float *update, int count);

/* attention.c */
typedef struct {
  const float *keys, *values; /* of one head: row s starts at s * stride */
  /* [count], 0 where a key is not to be read; or 0: every key is read */
  const byte *keep;
  int stride, count, d_head;
} Memory;

void mix(const float *query, const Memory *memory, float gate, float *weights, float *mixed);

#endif
