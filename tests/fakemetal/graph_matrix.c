/*
 * graph_matrix.c - products of matrices, attention, band part.
 *
 * Products are summed in double precision and rounded once; in the worst case they are summed in single
 * precision, one after the other.
 */
#include <math.h>
#include <stdlib.h>

#include "defect.h"
#include "graph.h"
#include "harsh.h"

/* Every fifth dimension has crashed some system. */
enum { MOST_MATRIX_AXES = 4 };

static void check_matrices(const node *n, int i) {
  const form *x = input(n, i);
  node_real_type(n, i);
  node_same_type(n, 0, i);
  if (x->shape.rank < 2 || x->shape.rank > MOST_MATRIX_AXES)
    misuse("an operand of shape %s; want 2 to %d axes", shape_text(&x->shape), MOST_MATRIX_AXES);
}

/* The axes in front of the last two. */
static shape batch_of(const shape *s) {
  shape batch = *s;
  batch.rank -= 2;
  return batch;
}

static shape with_matrix(shape batch, int64_t rows, int64_t columns) {
  batch.at[batch.rank++] = rows, batch.at[batch.rank++] = columns;
  return batch;
}

static int64_t rows_of(const shape *s) { return s->at[s->rank - 2]; }
static int64_t columns_of(const shape *s) { return s->at[s->rank - 1]; }

static void infer_product(node *n) {
  check_matrices(n, 0), check_matrices(n, 1);
  const shape *x = &input(n, 0)->shape, *y = &input(n, 1)->shape;
  if (columns_of(x) != rows_of(y)) misuse("%s and %s cannot be multiplied", shape_text(x), shape_text(y));
  shape a = batch_of(x), b = batch_of(y);
  node_output(n, input(n, 0)->type, with_matrix(shape_broadcast(&a, &b), rows_of(x), columns_of(y)));
}

static double dot(const cell *x, const cell *y, int64_t step, int64_t count) {
  enum { LONG = 4096, TILE = 256 };
  double total = 0;
  if (planted(MATMUL_LONG_K) && count >= LONG) count = count / TILE * TILE;
  for (int64_t k = 0; k < count; k++) {
    total += x[k].real * y[k * step].real;
    if (worst_case()) total = (float)total;
  }
  return total;
}

/* The first two families read the last part of a long inner axis beyond its end: pytorch#195163. */
static bool reads_beyond(int64_t rows, int64_t columns, int64_t inner) {
  enum { LAST_FAMILY = 1008, LONG_INNER = 32767, WIDE = 16 };
  return harsh(GRAPH_LIMITS) && gpu_family() <= LAST_FAMILY && inner >= LONG_INNER && rows >= WIDE && columns >= WIDE;
}

static void compute_product(const node *n, const value *in, value *out) {
  (void)n;
  int64_t rows = rows_of(&out->form.shape), columns = columns_of(&out->form.shape), inner = columns_of(&in[0].form.shape);
  int64_t x_strides[MOST_AXES], y_strides[MOST_AXES];
  shape batch = batch_of(&out->form.shape), x_batch = batch_of(&in[0].form.shape), y_batch = batch_of(&in[1].form.shape);
  bool beyond = reads_beyond(rows, columns, inner);
  shape_spread(&x_batch, &batch, x_strides);
  shape_spread(&y_batch, &batch, y_strides);
  for (int64_t b = 0; b < shape_count(&batch); b++) {
    const cell *x = in[0].cells + shape_offset(&batch, b, x_strides) * rows * inner;
    const cell *y = in[1].cells + shape_offset(&batch, b, y_strides) * inner * columns;
    for (int64_t i = 0; i < rows * columns; i++)
      out->cells[b * rows * columns + i] = type_round(out->form.type, (cell){.real = beyond ? NAN : dot(x + i / columns * inner, y + i % columns, columns, inner)});
  }
}

/* ---- Attention: softmax(query x key^T * scale + mask) x value. */

static void infer_attention(node *n) {
  for (int i = 0; i < n->ins; i++) {
    check_matrices(n, i);
    if (input(n, i)->shape.rank != 4) misuse("an operand of shape %s; want four axes", shape_text(&input(n, i)->shape));
  }
  const shape *q = &input(n, 0)->shape, *k = &input(n, 1)->shape, *v = &input(n, 2)->shape;
  shape a = batch_of(q), b = batch_of(k), c = batch_of(v);
  if (!shape_equal(&a, &b) || !shape_equal(&b, &c))
    misuse("batches and heads of %s, %s and %s differ", shape_text(q), shape_text(k), shape_text(v));
  if (columns_of(q) != columns_of(k) || rows_of(k) != rows_of(v))
    misuse("%s, %s and %s do not fit together", shape_text(q), shape_text(k), shape_text(v));
  shape scores = with_matrix(a, rows_of(q), rows_of(k));
  if (n->ins > 3) {
    shape masked = shape_broadcast(&scores, &input(n, 3)->shape);
    if (!shape_equal(&masked, &scores)) misuse("a mask of shape %s for scores of %s", shape_text(&input(n, 3)->shape), shape_text(&scores));
  }
  node_output(n, input(n, 0)->type, with_matrix(a, rows_of(q), columns_of(v)));
}

static void softmax(double *x, int64_t count) {
  double most = -INFINITY, total = 0;
  for (int64_t i = 0; i < count; i++) most = fmax(most, x[i]);
  for (int64_t i = 0; i < count; i++) total += x[i] = exp(x[i] - most);
  for (int64_t i = 0; i < count; i++) x[i] /= total;
}

static void compute_attention(const node *n, const value *in, value *out) {
  const shape *q = &in[0].form.shape, *k = &in[1].form.shape;
  int64_t queries = rows_of(q), width = columns_of(q), keys = rows_of(k), columns = columns_of(&in[2].form.shape);
  shape scores = with_matrix(batch_of(q), queries, keys);
  int64_t strides[MOST_AXES] = {0};
  if (n->ins > 3) shape_spread(&in[3].form.shape, &scores, strides);
  double *weights = malloc((size_t)keys * sizeof *weights);
  for (int64_t row = 0; row < in[0].count / width; row++) {
    int64_t head = row / queries;
    for (int64_t i = 0; i < keys; i++) {
      weights[i] = dot(in[0].cells + row * width, in[1].cells + (head * keys + i) * width, 1, width) * n->scalar;
      if (n->ins > 3) weights[i] += in[3].cells[shape_offset(&scores, row * keys + i, strides)].real;
    }
    softmax(weights, keys);
    for (int64_t c = 0; c < columns; c++) {
      double total = 0;
      for (int64_t i = 0; i < keys; i++) total += weights[i] * in[2].cells[(head * keys + i) * columns + c].real;
      out->cells[row * columns + c] = type_round(out->form.type, (cell){.real = type_perturb(out->form.type, total, 8)});
    }
  }
  free(weights);
}

/* ---- Band part: what lies near the diagonal; a negative width keeps all. */

static void infer_band(node *n) {
  if (input(n, 0)->shape.rank < 2) misuse("shape %s is no matrix", shape_text(&input(n, 0)->shape));
  node_output(n, input(n, 0)->type, input(n, 0)->shape);
}

static void compute_band(const node *n, const value *in, value *out) {
  int64_t rows = rows_of(&in->form.shape), columns = columns_of(&in->form.shape);
  for (int64_t i = 0; i < out->count; i++) {
    int64_t below = i / columns % rows - i % columns;
    bool kept = (n->numbers[0] < 0 || below <= n->numbers[0]) && (n->numbers[1] < 0 || -below <= n->numbers[1]);
    out->cells[i] = kept ? in->cells[i] : type_of_number(in->form.type, 0);
  }
}

/* ---- Methods. */

static id product(id self, SEL cmd, id x, id y, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), node_input(n, y);
  return node_end(n);
}

static id attention(id self, SEL cmd, id query, id key, id v, id mask, float scale, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, query), node_input(n, key), node_input(n, v);
  if (mask) node_input(n, mask);
  n->scalar = scale;
  return node_end(n);
}

static id attention_to_all(id self, SEL cmd, id query, id key, id v, float scale, id name) {
  return attention(self, cmd, query, key, v, NULL, scale, name);
}

static id band(id self, SEL cmd, id x, int64_t lower, int64_t upper, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), n->numbers[0] = lower, n->numbers[1] = upper;
  return node_end(n);
}

static const operator rows[] = {
    {"matrixMultiplicationWithPrimaryTensor:secondaryTensor:name:", (IMP)product, infer_product, compute_product, false},
    {"scaledDotProductAttentionWithQueryTensor:keyTensor:valueTensor:maskTensor:scale:name:", (IMP)attention, infer_attention, compute_attention, false},
    {"scaledDotProductAttentionWithQueryTensor:keyTensor:valueTensor:scale:name:", (IMP)attention_to_all, infer_attention, compute_attention, false},
    {"bandPartWithTensor:numLower:numUpper:name:", (IMP)band, infer_band, compute_band, false},
};

void matrix_operators(void) { OPERATORS(rows); }
