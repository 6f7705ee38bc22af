/*
 * graph_convolution.c - 2-D convolutions with their gradients, depthwise and transposed ones.
 *
 * All of them add products over the same triples of an element of the image, one of the weights and one
 * of the result; which of the three is computed tells them apart. Sums are as in graph_matrix.c.
 */
#include <stdlib.h>

#include "graph_window.h"

enum { RESULT, IMAGE, WEIGHTS, ROLES };

/* A convolution whatever is computed of it. Depthwise weights have the multiplier in place of the
 * outputs and all channels as inputs. */
typedef struct {
  image sides[ROLES];
  windows windows;
  int64_t groups;
  bool depthwise;
} convolution;

/* ---- Triples. */

typedef struct {
  const cell *cells[ROLES]; /* NULL for the one that is computed */
  double *sums;
  int computed;
} products;

static void add_product(products *p, const int64_t *at) {
  double product = 1;
  for (int role = 0; role < ROLES; role++)
    if (role != p->computed) product *= p->cells[role][at[role]].real;
  double *sum = &p->sums[at[p->computed]];
  *sum += product;
  if (worst_case()) *sum = (float)*sum;
}

/* add_window adds one pair of channels at one place of the result. */
static void add_window(const convolution *c, products *p, const int64_t *first, int64_t y, int64_t x) {
  const image *in = &c->sides[IMAGE], *weights = &c->sides[WEIGHTS];
  for (int64_t ky = 0; ky < c->windows.kernel[Y]; ky++)
    for (int64_t kx = 0; kx < c->windows.kernel[X]; kx++) {
      int64_t row = window_at(&c->windows, in, Y, y, ky), column = window_at(&c->windows, in, X, x, kx);
      if (row < 0 || column < 0) continue;
      int64_t at[ROLES] = {
          first[RESULT],
          first[IMAGE] + row * in->stride[Y] + column * in->stride[X],
          first[WEIGHTS] + ky * weights->stride[Y] + kx * weights->stride[X],
      };
      add_product(p, at);
    }
}

/* Where the weights of a channel of the result and one of its group's channels begin. */
static int64_t weights_at(const convolution *c, int64_t channel, int64_t within) {
  const image *w = &c->sides[WEIGHTS];
  if (c->depthwise) return channel % w->outer * w->outer_stride + channel / w->outer * w->channel_stride;
  return channel * w->outer_stride + within * w->channel_stride;
}

static void add_channels(const convolution *c, products *p, int64_t n, int64_t channel, int64_t within) {
  const image *out = &c->sides[RESULT], *in = &c->sides[IMAGE];
  int64_t group = channel / (out->channels / c->groups), from = group * (in->channels / c->groups) + within;
  for (int64_t y = 0; y < out->extent[Y]; y++)
    for (int64_t x = 0; x < out->extent[X]; x++) {
      int64_t first[ROLES] = {
          n * out->outer_stride + channel * out->channel_stride + y * out->stride[Y] + x * out->stride[X],
          n * in->outer_stride + from * in->channel_stride,
          weights_at(c, channel, within),
      };
      add_window(c, p, first, y, x);
    }
}

static void add_all(const convolution *c, products *p) {
  for (int64_t n = 0; n < c->sides[RESULT].outer; n++)
    for (int64_t channel = 0; channel < c->sides[RESULT].channels; channel++)
      for (int64_t within = 0; within < c->sides[IMAGE].channels / c->groups; within++) add_channels(c, p, n, channel, within);
}

/* ---- Verification. */

/* describe works out the convolution of an image with weights, and the shape of its result. */
static convolution describe(const window_descriptor *d, const shape *in, const shape *weights, shape *result) {
  convolution c = {.sides = {[IMAGE] = image_of(in, d->dataLayout), [WEIGHTS] = image_of(weights, d->weightsLayout)}};
  const image *x = &c.sides[IMAGE], *w = &c.sides[WEIGHTS];
  c.depthwise = is_kind((id)d, "MPSGraphDepthwiseConvolution2DOpDescriptor");
  c.groups = c.depthwise ? x->channels : (int64_t)d->groups;
  if (c.groups < 1 || x->channels % c.groups != 0) misuse("%lld groups of %lld channels", (long long)c.groups, (long long)x->channels);
  int64_t wanted = c.depthwise ? x->channels : x->channels / c.groups;
  if (w->channels != wanted) misuse("weights for %lld channels; want %lld", (long long)w->channels, (long long)wanted);
  if (!c.depthwise && w->outer % c.groups != 0) misuse("%lld groups of %lld results", (long long)c.groups, (long long)w->outer);
  c.windows = windows_of(d, x, w->extent[Y], w->extent[X]);
  *result = image_shape(d->dataLayout, x->outer, c.depthwise ? x->channels * w->outer : w->outer, c.windows.count[Y], c.windows.count[X]);
  c.sides[RESULT] = image_of(result, d->dataLayout);
  return c;
}

static shape listed(const node *n) {
  list_check(&n->lists[0], 4, "extents");
  return list_shape(&n->lists[0]);
}

/* numbers[0] is the role that is computed; the inputs are the others, in the order of the roles, save
 * that a forward convolution has the image first. */
static convolution of_node(const node *n, shape *result) {
  shape open = {0};
  switch (n->numbers[0]) {
  case RESULT: return describe(window_of(n), &input(n, 0)->shape, &input(n, 1)->shape, result);
  case IMAGE: open = listed(n); return describe(window_of(n), &open, &input(n, 1)->shape, result);
  default: open = listed(n); return describe(window_of(n), &input(n, 1)->shape, &open, result);
  }
}

static void infer_convolution(node *n) {
  check_image(n, 0), check_image(n, 1);
  shape result;
  of_node(n, &result);
  if (n->numbers[0] == RESULT) {
    node_output(n, input(n, 0)->type, result);
    return;
  }
  if (!shape_equal(&result, &input(n, 0)->shape))
    misuse("a gradient of shape %s; the forward result is %s", shape_text(&input(n, 0)->shape), shape_text(&result));
  node_output(n, input(n, 0)->type, listed(n));
}

static void compute_convolution(const node *n, const value *in, value *out) {
  shape result;
  convolution c = of_node(n, &result);
  products p = {.computed = (int)n->numbers[0], .sums = calloc((size_t)out->count, sizeof *p.sums)};
  for (int role = 0, i = 0; role < ROLES; role++)
    if (role != p.computed) p.cells[role] = in[i++].cells;
  add_all(&c, &p);
  for (int64_t i = 0; i < out->count; i++) out->cells[i] = type_round(out->form.type, (cell){.real = p.sums[i]});
  free(p.sums);
}

/* ---- Methods. */

static id forward(id self, SEL cmd, id x, id weights, id descriptor, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), node_input(n, weights), node_window(n, descriptor);
  return node_end(n);
}

static id backward(id self, SEL cmd, id gradient, id other, id shape, id descriptor, id name, int role) {
  node *n = node_begin(self, cmd, name);
  node_input(n, gradient), node_input(n, other), node_list(n, shape), node_window(n, descriptor);
  n->numbers[0] = role;
  return node_end(n);
}

static id to_image(id self, SEL cmd, id gradient, id weights, id shape, id descriptor, id name) {
  return backward(self, cmd, gradient, weights, shape, descriptor, name, IMAGE);
}

static id to_weights(id self, SEL cmd, id gradient, id x, id shape, id descriptor, id name) {
  return backward(self, cmd, gradient, x, shape, descriptor, name, WEIGHTS);
}

#define ROW(selector, method) {selector, (IMP)(method), infer_convolution, compute_convolution, false}

static const operator rows[] = {
    ROW("convolution2DWithSourceTensor:weightsTensor:descriptor:name:", forward),
    ROW("convolution2DDataGradientWithIncomingGradientTensor:weightsTensor:outputShape:forwardConvolutionDescriptor:name:", to_image),
    ROW("convolution2DWeightsGradientWithIncomingGradientTensor:sourceTensor:outputShape:forwardConvolutionDescriptor:name:", to_weights),
    ROW("convolutionTranspose2DWithSourceTensor:weightsTensor:outputShape:descriptor:name:", to_image),
    ROW("depthwiseConvolution2DWithSourceTensor:weightsTensor:descriptor:name:", forward),
    ROW("depthwiseConvolution2DDataGradientWithIncomingGradientTensor:weightsTensor:outputShape:descriptor:name:", to_image),
    ROW("depthwiseConvolution2DWeightsGradientWithIncomingGradientTensor:sourceTensor:outputShape:descriptor:name:", to_weights),
};

void convolution_operators(void) { OPERATORS(rows); }
