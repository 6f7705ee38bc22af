/*
 * graph_normalization.c - (x - mean) / sqrt(variance + epsilon) * gamma + beta, and its gradients.
 * Statistics, gamma and beta broadcast to x; gamma and beta may be missing.
 */
#include <math.h>
#include <stdlib.h>

#include "graph.h"

/* What the parameters of a node are, among its inputs; -1 where one is missing. */
enum { SOURCE, MEAN, VARIANCE, GAMMA, BETA, GRADIENT, GAMMA_GRADIENT, BETA_GRADIENT, PARAMETERS };

enum { ULPS = 4 };

/* numbers[0] has four bits for each parameter: one more than its place among the inputs. */
static int place_of(const node *n, int parameter) { return (int)(n->numbers[0] >> (4 * parameter) & 15) - 1; }

static void parameter(node *n, int which, id tensor) {
  if (!tensor) return;
  node_input(n, tensor);
  n->numbers[0] |= (int64_t)n->ins << (4 * which);
}

/* read is a parameter's element beside element i of the source. */
static double read(const node *n, const value *in, int which, int64_t i, double otherwise) {
  int at = place_of(n, which);
  if (at < 0) return otherwise;
  int64_t strides[MOST_AXES];
  const shape *s = &in[place_of(n, SOURCE)].form.shape;
  shape_spread(&in[at].form.shape, s, strides);
  return in[at].cells[shape_offset(s, i, strides)].real;
}

static double scale(const node *n, const value *in, int64_t i) { return 1 / sqrt(read(n, in, VARIANCE, i, 1) + n->scalar); }
static double normal(const node *n, const value *in, int64_t i) { return (read(n, in, SOURCE, i, 0) - read(n, in, MEAN, i, 0)) * scale(n, in, i); }

static const form *check_parameters(const node *n) {
  const form *x = input(n, place_of(n, SOURCE));
  node_real_type(n, place_of(n, SOURCE));
  for (int i = 0; i < n->ins; i++) {
    node_same_type(n, place_of(n, SOURCE), i);
    shape s = shape_broadcast(&x->shape, &input(n, i)->shape);
    if (!shape_equal(&s, &x->shape)) misuse("a parameter of shape %s for %s", shape_text(&input(n, i)->shape), shape_text(&x->shape));
  }
  return x;
}

static cell rounded(uint32_t type, double v) { return type_round(type, (cell){.real = type_perturb(type, v, type == FLOAT32 ? ULPS : 1)}); }

static void infer_forward(node *n) {
  const form *x = check_parameters(n);
  node_output(n, x->type, x->shape);
}

static void compute_forward(const node *n, const value *in, value *out) {
  for (int64_t i = 0; i < out->count; i++)
    out->cells[i] = rounded(out->form.type, normal(n, in, i) * read(n, in, GAMMA, i, 1) + read(n, in, BETA, i, 0));
}

/* The reduced axes stay with extent 1. */
static shape reduced(const node *n, const shape *whole) {
  shape s = *whole;
  for (int i = 0; i < n->lists[0].count; i++) s.at[shape_axis(whole, n->lists[0].at[i])] = 1;
  return s;
}

static void infer_parameter_gradient(node *n) {
  const form *x = check_parameters(n);
  node_output(n, x->type, reduced(n, &x->shape));
}

static void sum(const node *n, const value *in, value *out, bool times_normal) {
  int64_t strides[MOST_AXES];
  const value *x = &in[place_of(n, SOURCE)];
  double *sums = calloc((size_t)out->count, sizeof *sums);
  shape_spread(&out->form.shape, &x->form.shape, strides);
  for (int64_t i = 0; i < x->count; i++)
    sums[shape_offset(&x->form.shape, i, strides)] += read(n, in, GRADIENT, i, 0) * (times_normal ? normal(n, in, i) : 1);
  for (int64_t i = 0; i < out->count; i++) out->cells[i] = rounded(out->form.type, sums[i]);
  free(sums);
}

static void compute_gamma_gradient(const node *n, const value *in, value *out) { sum(n, in, out, true); }
static void compute_beta_gradient(const node *n, const value *in, value *out) { sum(n, in, out, false); }

/* The gradients of gamma and beta are inputs here. */
static void compute_gradient(const node *n, const value *in, value *out) {
  const shape *s = &out->form.shape;
  shape few = reduced(n, s);
  double share = (double)shape_count(&few) / (double)out->count;
  for (int64_t i = 0; i < out->count; i++) {
    double along = read(n, in, BETA_GRADIENT, i, 0) + normal(n, in, i) * read(n, in, GAMMA_GRADIENT, i, 0);
    out->cells[i] = rounded(out->form.type, read(n, in, GAMMA, i, 1) * scale(n, in, i) * (read(n, in, GRADIENT, i, 0) - along * share));
  }
}

/* ---- Methods. */

static id forward(id self, SEL cmd, id x, id mean, id variance, id gamma, id beta, float epsilon, id name) {
  node *n = node_begin(self, cmd, name);
  n->scalar = epsilon;
  parameter(n, SOURCE, x), parameter(n, MEAN, mean), parameter(n, VARIANCE, variance), parameter(n, GAMMA, gamma), parameter(n, BETA, beta);
  return node_end(n);
}

static id gamma_gradient(id self, SEL cmd, id gradient, id x, id mean, id variance, id axes, float epsilon, id name) {
  node *n = node_begin(self, cmd, name);
  n->scalar = epsilon;
  parameter(n, GRADIENT, gradient), parameter(n, SOURCE, x), parameter(n, MEAN, mean), parameter(n, VARIANCE, variance);
  node_list(n, axes);
  return node_end(n);
}

static id beta_gradient(id self, SEL cmd, id gradient, id x, id axes, id name) {
  node *n = node_begin(self, cmd, name);
  parameter(n, GRADIENT, gradient), parameter(n, SOURCE, x);
  node_list(n, axes);
  return node_end(n);
}

static id backward(id self, SEL cmd, id gradient, id x, id mean, id variance, id gamma, id gamma_gradient, id beta_gradient,
                   id axes, float epsilon, id name) {
  node *n = node_begin(self, cmd, name);
  n->scalar = epsilon;
  parameter(n, GRADIENT, gradient), parameter(n, SOURCE, x), parameter(n, MEAN, mean), parameter(n, VARIANCE, variance);
  parameter(n, GAMMA, gamma), parameter(n, GAMMA_GRADIENT, gamma_gradient), parameter(n, BETA_GRADIENT, beta_gradient);
  node_list(n, axes);
  return node_end(n);
}

static const operator rows[] = {
    {"normalizationWithTensor:meanTensor:varianceTensor:gammaTensor:betaTensor:epsilon:name:", (IMP)forward, infer_forward, compute_forward, false},
    {"normalizationGammaGradientWithIncomingGradientTensor:sourceTensor:meanTensor:varianceTensor:reductionAxes:epsilon:name:", (IMP)gamma_gradient, infer_parameter_gradient, compute_gamma_gradient, false},
    {"normalizationBetaGradientWithIncomingGradientTensor:sourceTensor:reductionAxes:name:", (IMP)beta_gradient, infer_parameter_gradient, compute_beta_gradient, false},
    {"normalizationGradientWithIncomingGradientTensor:sourceTensor:meanTensor:varianceTensor:gammaTensor:gammaGradientTensor:betaGradientTensor:reductionAxes:epsilon:name:", (IMP)backward, infer_forward, compute_gradient, false},
};

void normalization_operators(void) { OPERATORS(rows); }
