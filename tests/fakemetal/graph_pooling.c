/*
 * graph_pooling.c - 2-D pools with their gradients. What lies outside the image is never the largest, and
 * counts for an average only if the descriptor says so. Maxima skip NaN.
 */
#include <math.h>
#include <stdlib.h>

#include "graph_window.h"

/* MPSGraphPoolingReturnIndicesMode: those that the fake has. */
enum { INDICES_NONE = 0, INDICES_GLOBAL_2D = 2, INDICES_GLOBAL_4D = 4, INDICES_LOCAL_2D = 6 };

/* A pool over an image: inputs of its node are the source, or the gradient and the source or indices. */
typedef struct {
  image in, out;
  windows windows;
} pool;

static pool pool_over(const window_descriptor *d, const shape *in, shape *result) {
  pool p = {.in = image_of(in, d->dataLayout)};
  if (d->dataLayout > LAYOUT_NHWC) misuse("data layout %llu; want NCHW or NHWC", (unsigned long long)d->dataLayout);
  p.windows = windows_of(d, &p.in, (int64_t)d->kernelHeight, (int64_t)d->kernelWidth);
  *result = image_shape(d->dataLayout, p.in.outer, p.in.channels, p.windows.count[Y], p.windows.count[X]);
  p.out = image_of(result, d->dataLayout);
  return p;
}

/* A place of the result, and an element of the image in its window. */
typedef struct {
  int64_t result, plane; /* number of the result; where its channel's image begins */
  int64_t y, x, ky, kx;
  int64_t source; /* number of the element; -1 is outside */
} place;

typedef void (*visitor)(const pool *p, const place *at, void *context);

/* each_window calls visit for all elements of a window, inside the image or not. */
static void each_window(const pool *p, place at, visitor visit, void *context) {
  for (at.ky = 0; at.ky < p->windows.kernel[Y]; at.ky++)
    for (at.kx = 0; at.kx < p->windows.kernel[X]; at.kx++) {
      int64_t row = window_at(&p->windows, &p->in, Y, at.y, at.ky), column = window_at(&p->windows, &p->in, X, at.x, at.kx);
      at.source = row < 0 || column < 0 ? -1 : at.plane + row * p->in.stride[Y] + column * p->in.stride[X];
      visit(p, &at, context);
    }
}

/* each_result calls begin, visits a window and calls end for every element of the result. */
static void each_result(const pool *p, visitor begin, visitor visit, visitor end, void *context) {
  for (int64_t n = 0; n < p->out.outer; n++)
    for (int64_t c = 0; c < p->out.channels; c++)
      for (int64_t i = 0; i < p->out.extent[Y] * p->out.extent[X]; i++) {
        place at = {.plane = n * p->in.outer_stride + c * p->in.channel_stride, .y = i / p->out.extent[X], .x = i % p->out.extent[X]};
        at.result = n * p->out.outer_stride + c * p->out.channel_stride + at.y * p->out.stride[Y] + at.x * p->out.stride[X];
        begin(p, &at, context);
        each_window(p, at, visit, context);
        end(p, &at, context);
      }
}

/* ---- Maxima. */

typedef struct {
  const cell *x, *gradient;
  cell *values, *indices; /* NULL where they are not wanted */
  double *sums;           /* of the gradient */
  uint64_t mode;
  double best;
  int64_t source, index;
} maximum;

static int64_t index_of(const maximum *m, const pool *p, const place *at) {
  int64_t within = at->source - at->plane;
  switch (m->mode) {
  case INDICES_GLOBAL_2D: return within / p->in.stride[Y] * p->in.extent[X] + within % p->in.stride[Y] / p->in.stride[X];
  case INDICES_LOCAL_2D: return at->ky * p->windows.kernel[X] + at->kx;
  default: return at->source;
  }
}

static void begin_maximum(const pool *p, const place *at, void *context) {
  (void)p, (void)at;
  maximum *m = context;
  m->best = -INFINITY, m->source = m->index = -1;
}

static void see_maximum(const pool *p, const place *at, void *context) {
  maximum *m = context;
  if (at->source < 0) return;
  double v = m->x[at->source].real;
  if (m->source >= 0 && !(v > m->best)) return;
  m->best = isnan(v) ? -INFINITY : v, m->source = at->source, m->index = index_of(m, p, at);
}

static void end_maximum(const pool *p, const place *at, void *context) {
  maximum *m = context;
  (void)p;
  if (m->values) m->values[at->result].real = m->best;
  if (m->indices) m->indices[at->result].whole = m->index;
  if (m->sums && m->source >= 0) m->sums[m->source] += m->gradient[at->result].real;
}

/* ---- Averages. */

typedef struct {
  const cell *x, *gradient;
  cell *values;
  double *sums;
  bool padded;
  uint32_t type;
  double total;
  int64_t count;
} average;

static void begin_average(const pool *p, const place *at, void *context) {
  (void)p, (void)at;
  average *a = context;
  a->total = 0, a->count = 0;
}

static void see_average(const pool *p, const place *at, void *context) {
  average *a = context;
  (void)p;
  a->count += at->source >= 0 || a->padded;
  if (at->source >= 0 && a->x) a->total += a->x[at->source].real;
}

static void end_average(const pool *p, const place *at, void *context) {
  average *a = context;
  (void)p;
  a->values[at->result] = type_round(a->type, (cell){.real = a->count ? a->total / (double)a->count : 0});
}

static void add_share(const pool *p, const place *at, void *context) {
  average *a = context;
  (void)p;
  if (at->source >= 0) a->sums[at->source] += a->gradient[at->result].real / (double)a->count;
}

/* A window has been counted when its gradient is shared out. */
static void end_average_gradient(const pool *p, const place *at, void *context) { each_window(p, *at, add_share, context); }

/* ---- Verification. */

static void infer_pool(node *n) {
  shape result;
  check_image(n, 0);
  pool_over(window_of(n), &input(n, 0)->shape, &result);
  node_output(n, input(n, 0)->type, result);
}

static void infer_maximum_with_indices(node *n) {
  const window_descriptor *d = window_of(n);
  if (d->returnIndicesMode == INDICES_NONE) misuse("the mode of the indices is None");
  if (d->returnIndicesMode != INDICES_GLOBAL_2D && d->returnIndicesMode != INDICES_GLOBAL_4D && d->returnIndicesMode != INDICES_LOCAL_2D)
    misuse("mode %llu of the indices; the fake lacks it", (unsigned long long)d->returnIndicesMode);
  if (d->returnIndicesDataType != INT32) misuse("indices of type %s; want Int32", type_name(d->returnIndicesDataType));
  infer_pool(n);
  node_output(n, INT32, n->out[0]->form.shape);
}

static void infer_gradient(node *n) {
  shape result;
  check_image(n, 0), check_image(n, 1);
  pool_over(window_of(n), &input(n, 1)->shape, &result);
  if (!shape_equal(&result, &input(n, 0)->shape))
    misuse("a gradient of shape %s; the forward result is %s", shape_text(&input(n, 0)->shape), shape_text(&result));
  node_output(n, input(n, 0)->type, input(n, 1)->shape);
}

/* ---- Computation. */

static void compute_maximum(const node *n, const value *in, value *out) {
  shape result;
  pool p = pool_over(window_of(n), &in->form.shape, &result);
  maximum m = {.x = in->cells, .values = out[0].cells, .indices = n->outs > 1 ? out[1].cells : NULL, .mode = window_of(n)->returnIndicesMode};
  each_result(&p, begin_maximum, see_maximum, end_maximum, &m);
}

static void compute_average(const node *n, const value *in, value *out) {
  shape result;
  pool p = pool_over(window_of(n), &in->form.shape, &result);
  average a = {.x = in->cells, .values = out->cells, .padded = window_of(n)->includeZeroPadToAverage, .type = out->form.type};
  each_result(&p, begin_average, see_average, end_average, &a);
}

static void take_sums(double *sums, value *out) {
  for (int64_t i = 0; i < out->count; i++) out->cells[i] = type_round(out->form.type, (cell){.real = sums[i]});
  free(sums);
}

static void compute_maximum_gradient(const node *n, const value *in, value *out) {
  shape result;
  pool p = pool_over(window_of(n), &in[1].form.shape, &result);
  maximum m = {.x = in[1].cells, .gradient = in[0].cells, .sums = calloc((size_t)out->count, sizeof *m.sums)};
  each_result(&p, begin_maximum, see_maximum, end_maximum, &m);
  take_sums(m.sums, out);
}

static void compute_average_gradient(const node *n, const value *in, value *out) {
  shape result;
  pool p = pool_over(window_of(n), &in[1].form.shape, &result);
  average a = {.gradient = in[0].cells, .padded = window_of(n)->includeZeroPadToAverage, .sums = calloc((size_t)out->count, sizeof *a.sums)};
  each_result(&p, begin_average, see_average, end_average_gradient, &a);
  take_sums(a.sums, out);
}

/* ---- Methods. */

static node *begin_pool(id self, SEL cmd, id x, id descriptor, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), node_window(n, descriptor);
  return n;
}

static id over(id self, SEL cmd, id x, id descriptor, id name) { return node_end(begin_pool(self, cmd, x, descriptor, name)); }
static id with_indices(id self, SEL cmd, id x, id descriptor, id name) { return node_end_many(begin_pool(self, cmd, x, descriptor, name)); }

static id gradient(id self, SEL cmd, id gradient, id x, id descriptor, id name) {
  node *n = begin_pool(self, cmd, gradient, descriptor, name);
  node_input(n, x);
  return node_end(n);
}

static const operator rows[] = {
    {"maxPooling2DWithSourceTensor:descriptor:name:", (IMP)over, infer_pool, compute_maximum, false},
    {"avgPooling2DWithSourceTensor:descriptor:name:", (IMP)over, infer_pool, compute_average, false},
    {"maxPooling2DReturnIndicesWithSourceTensor:descriptor:name:", (IMP)with_indices, infer_maximum_with_indices, compute_maximum, false},
    {"maxPooling2DGradientWithGradientTensor:sourceTensor:descriptor:name:", (IMP)gradient, infer_gradient, compute_maximum_gradient, false},
    {"avgPooling2DGradientWithGradientTensor:sourceTensor:descriptor:name:", (IMP)gradient, infer_gradient, compute_average_gradient, false},
};

void pooling_operators(void) { OPERATORS(rows); }
