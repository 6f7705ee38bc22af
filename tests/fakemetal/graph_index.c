/*
 * graph_index.c - operators that read or write where indices say, and those that make indices.
 *
 * Of an index outside its axis gatherAlongAxis: answers 0 and scatters skip, as Apple's documentation
 * says. The other gathers are undocumented there: they return random values.
 */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

/* ---- Indices. */

static void check_indices(const form *f) {
  if (f->type != INT32 && f->type != INT64 && f->type != UINT32) misuse("indices of type %s; want Int32 or Int64", type_name(f->type));
}

/* The number of elements of the axes from one to before another. */
static int64_t product_of(const shape *s, int from, int to) {
  int64_t n = 1;
  for (int i = from; i < to; i++) n *= s->at[i];
  return n;
}

/* append adds some axes of a shape to another. */
static void append(shape *to, const shape *from, int first, int last) {
  for (int i = first; i < last; i++) {
    if (to->rank == MOST_AXES) misuse("the result has more than %d axes", MOST_AXES);
    to->at[to->rank++] = from->at[i];
  }
}

static void check_batch(const node *n, int64_t batch) {
  const shape *x = &input(n, 0)->shape, *indices = &input(n, 1)->shape;
  if (batch < 0 || batch > x->rank || batch > indices->rank)
    misuse("%lld batch dimensions of %s and %s", (long long)batch, shape_text(x), shape_text(indices));
  for (int i = 0; i < batch; i++)
    if (x->at[i] != indices->at[i]) misuse("batches of %s and %s differ", shape_text(x), shape_text(indices));
}

/* An unspecified value. */
static cell anything(uint32_t type) {
  char bytes[8];
  uint64_t bits = random_bits();
  memcpy(bytes, &bits, sizeof bytes);
  return type_load(type, bytes);
}

/* fetch is an element, or anything where there is none: at -1. */
static cell fetch(const value *x, int64_t at) { return at < 0 ? anything(x->form.type) : x->cells[at]; }

/* ---- gather: whole slices along one axis. numbers[0]: batch dimensions; of scatters [1] is the mode. */

static void infer_gather(node *n) {
  const shape *x = &input(n, 0)->shape, *indices = &input(n, 1)->shape;
  int axis = shape_axis(x, n->axis), batch = (int)n->numbers[0];
  check_indices(input(n, 1));
  check_batch(n, n->numbers[0]);
  if (batch > axis) misuse("%d batch dimensions; the axis is %d", batch, axis);
  shape s = {0};
  append(&s, x, 0, axis);
  append(&s, indices, batch, indices->rank);
  append(&s, x, axis + 1, x->rank);
  node_output(n, input(n, 0)->type, s);
}

static void compute_gather(const node *n, const value *in, value *out) {
  const shape *x = &in[0].form.shape, *indices = &in[1].form.shape;
  int axis = shape_axis(x, n->axis), batch = (int)n->numbers[0];
  int64_t groups = product_of(x, 0, batch), outer = product_of(x, batch, axis), extent = x->at[axis];
  int64_t inner = product_of(x, axis + 1, x->rank), count = product_of(indices, batch, indices->rank), to = 0;
  for (int64_t g = 0; g < groups; g++)
    for (int64_t o = 0; o < outer; o++)
      for (int64_t k = 0; k < count; k++) {
        int64_t at = in[1].cells[g * count + k].whole;
        bool inside = at >= 0 && at < extent;
        for (int64_t i = 0; i < inner; i++) out->cells[to++] = fetch(&in[0], inside ? ((g * outer + o) * extent + at) * inner + i : -1);
      }
}

/* ---- gatherND: the last axis of the indices are the first indices of a slice. */

/* Where a row of indices points, in slices; -1 is outside. */
static int64_t slice_number(const cell *row, const shape *x, int first, int64_t depth) {
  int64_t at = 0;
  for (int64_t i = 0; i < depth; i++) {
    int64_t extent = x->at[first + i];
    if (row[i].whole < 0 || row[i].whole >= extent) return -1;
    at = at * extent + row[i].whole;
  }
  return at;
}

/* How many indices a row has: the last extent of the indices. */
static int64_t depth_of(const node *n, const shape *x, const shape *indices) {
  int64_t depth = indices->rank > 0 ? indices->at[indices->rank - 1] : 0;
  if (depth < 1 || n->numbers[0] + depth > x->rank) misuse("rows of %lld indices into %s", (long long)depth, shape_text(x));
  if (n->numbers[0] >= indices->rank) misuse("%lld batch dimensions of indices %s", (long long)n->numbers[0], shape_text(indices));
  return depth;
}

static void infer_gather_nd(node *n) {
  const shape *x = &input(n, 0)->shape, *indices = &input(n, 1)->shape;
  check_indices(input(n, 1));
  check_batch(n, n->numbers[0]);
  int64_t depth = depth_of(n, x, indices);
  shape s = {0};
  append(&s, indices, 0, indices->rank - 1);
  append(&s, x, (int)(n->numbers[0] + depth), x->rank);
  node_output(n, input(n, 0)->type, s);
}

static void compute_gather_nd(const node *n, const value *in, value *out) {
  const shape *x = &in[0].form.shape, *indices = &in[1].form.shape;
  int batch = (int)n->numbers[0];
  int64_t depth = indices->at[indices->rank - 1], rows = in[1].count / depth, groups = product_of(x, 0, batch);
  int64_t whole = in[0].count / groups, inner = product_of(x, batch + (int)depth, x->rank);
  for (int64_t r = 0; r < rows; r++) {
    int64_t at = slice_number(in[1].cells + r * depth, x, batch, depth), first = r / (rows / groups) * whole;
    for (int64_t i = 0; i < inner; i++) out->cells[r * inner + i] = fetch(&in[0], at < 0 ? -1 : first + at * inner + i);
  }
}

/* ---- gatherAlongAxis: an index for each element. */

/* Every axis but one has the same extents. */
static void check_along(const shape *a, const shape *b, int axis) {
  bool same = a->rank == b->rank;
  for (int i = 0; same && i < a->rank; i++) same = i == axis || a->at[i] == b->at[i];
  if (!same) misuse("shapes %s and %s differ beside axis %d", shape_text(a), shape_text(b), axis);
}

static void infer_gather_along(node *n) {
  check_indices(input(n, 1));
  check_along(&input(n, 0)->shape, &input(n, 1)->shape, shape_axis(&input(n, 0)->shape, n->axis));
  node_output(n, input(n, 0)->type, input(n, 1)->shape);
}

/* The place in x of element i of a tensor that differs from it along an axis; -1 is outside. */
static int64_t place_along(const shape *x, const shape *s, int axis, int64_t i, int64_t index) {
  int64_t inner = product_of(x, axis + 1, x->rank), outer = i / (inner * s->at[axis]);
  if (index < 0 || index >= x->at[axis]) return -1;
  return (outer * x->at[axis] + index) * inner + i % inner;
}

static void compute_gather_along(const node *n, const value *in, value *out) {
  int axis = shape_axis(&in[0].form.shape, n->axis);
  for (int64_t i = 0; i < out->count; i++) {
    int64_t from = place_along(&in[0].form.shape, &in[1].form.shape, axis, i, in[1].cells[i].whole);
    out->cells[i] = from < 0 ? type_of_number(out->form.type, 0) : in[0].cells[from];
  }
}

/* ---- Scatters. Inputs: data, updates, indices; without data there are zeros of a shape. */

enum { SCATTER_ADD, SCATTER_SUB, SCATTER_MUL, SCATTER_DIV, SCATTER_MIN, SCATTER_MAX, SCATTER_SET };

static double combine_real(int64_t mode, double a, double b) {
  switch (mode) {
  case SCATTER_ADD: return a + b;
  case SCATTER_SUB: return a - b;
  case SCATTER_MUL: return a * b;
  case SCATTER_DIV: return a / b;
  case SCATTER_MIN: return a < b ? a : b;
  case SCATTER_MAX: return a > b ? a : b;
  default: return b;
  }
}

static int64_t combine_whole(int64_t mode, int64_t a, int64_t b) {
  switch (mode) {
  case SCATTER_ADD: return (int64_t)((uint64_t)a + (uint64_t)b);
  case SCATTER_SUB: return (int64_t)((uint64_t)a - (uint64_t)b);
  case SCATTER_MUL: return (int64_t)((uint64_t)a * (uint64_t)b);
  case SCATTER_DIV: return b == 0 ? 0 : b == -1 ? (int64_t)(0 - (uint64_t)a) : a / b;
  case SCATTER_MIN: return a < b ? a : b;
  case SCATTER_MAX: return a > b ? a : b;
  default: return b;
  }
}

static void combine(uint32_t type, int64_t mode, cell *to, cell c) {
  if (mode == SCATTER_SET) *to = c;
  else if (type_is_real(type)) *to = type_round(type, (cell){.real = combine_real(mode, to->real, c.real)});
  else *to = type_round(type, (cell){.whole = combine_whole(mode, to->whole, c.whole)});
}

/* Which of the inputs are the updates and the indices. */
static int updates_of(const node *n) { return n->ins - 2; }
static int indices_of(const node *n) { return n->ins - 1; }

static shape scattered(const node *n) {
  return n->ins == 3 ? input(n, 0)->shape : list_shape(&n->lists[0]);
}

static void check_scatter(const node *n) {
  check_indices(input(n, indices_of(n)));
  node_same_type(n, 0, updates_of(n));
  if (n->numbers[1] < SCATTER_ADD || n->numbers[1] > SCATTER_SET) misuse("scatter mode %lld", (long long)n->numbers[1]);
  if (input(n, 0)->type == BOOL8 && n->numbers[1] != SCATTER_SET) misuse("takes no Bool in this mode");
}

static void begin_scatter(const node *n, const value *in, value *out) {
  for (int64_t i = 0; i < out->count; i++) out->cells[i] = n->ins == 3 ? in[0].cells[i] : type_of_number(out->form.type, 0);
}

/* On a GPU updates meet in any order. */
static int64_t turn(int64_t i, int64_t count) { return worst_case() ? count - 1 - i : i; }

static void infer_scatter_along(node *n) {
  shape s = scattered(n);
  check_scatter(n);
  int axis = shape_axis(&s, n->axis);
  if (!shape_equal(&input(n, updates_of(n))->shape, &input(n, indices_of(n))->shape)) misuse("updates and indices differ in shape");
  check_along(&s, &input(n, updates_of(n))->shape, axis);
  node_output(n, input(n, 0)->type, s);
}

static void compute_scatter_along(const node *n, const value *in, value *out) {
  const value *updates = &in[updates_of(n)], *indices = &in[indices_of(n)];
  int axis = shape_axis(&out->form.shape, n->axis);
  begin_scatter(n, in, out);
  for (int64_t k = 0; k < updates->count; k++) {
    int64_t i = turn(k, updates->count);
    int64_t to = place_along(&out->form.shape, &updates->form.shape, axis, i, indices->cells[i].whole);
    if (to >= 0) combine(out->form.type, n->numbers[1], &out->cells[to], updates->cells[i]);
  }
}

static void infer_scatter_nd(node *n) {
  shape s = scattered(n), want = {0};
  const shape *indices = &input(n, indices_of(n))->shape, *updates = &input(n, updates_of(n))->shape;
  check_scatter(n);
  int64_t depth = depth_of(n, &s, indices);
  for (int i = 0; i < n->numbers[0]; i++)
    if (s.at[i] != indices->at[i]) misuse("batches of %s and %s differ", shape_text(&s), shape_text(indices));
  append(&want, indices, 0, indices->rank - 1);
  append(&want, &s, (int)(n->numbers[0] + depth), s.rank);
  if (!shape_equal(&want, updates)) misuse("updates of shape %s; want %s", shape_text(updates), shape_text(&want));
  node_output(n, input(n, 0)->type, s);
}

static void compute_scatter_nd(const node *n, const value *in, value *out) {
  const value *updates = &in[updates_of(n)], *indices = &in[indices_of(n)];
  const shape *x = &out->form.shape;
  int batch = (int)n->numbers[0];
  int64_t depth = indices->form.shape.at[indices->form.shape.rank - 1], rows = indices->count / depth;
  int64_t groups = product_of(x, 0, batch), whole = out->count / groups, inner = product_of(x, batch + (int)depth, x->rank);
  begin_scatter(n, in, out);
  for (int64_t k = 0; k < rows; k++) {
    int64_t r = turn(k, rows), at = slice_number(indices->cells + r * depth, x, batch, depth);
    for (int64_t i = 0; at >= 0 && i < inner; i++)
      combine(out->form.type, n->numbers[1], &out->cells[r / (rows / groups) * whole + at * inner + i], updates->cells[r * inner + i]);
  }
}

/* scatter: whole slices along one axis; the indices have one axis. */
static void infer_scatter(node *n) {
  shape s = scattered(n);
  const shape *indices = &input(n, indices_of(n))->shape, *updates = &input(n, updates_of(n))->shape;
  check_scatter(n);
  int axis = shape_axis(&s, n->axis);
  shape want = {0};
  append(&want, &s, 0, axis);
  append(&want, indices, 0, indices->rank);
  append(&want, &s, axis + 1, s.rank);
  if (!shape_equal(&want, updates)) misuse("updates of shape %s; want %s", shape_text(updates), shape_text(&want));
  node_output(n, input(n, 0)->type, s);
}

static void compute_scatter(const node *n, const value *in, value *out) {
  const value *updates = &in[updates_of(n)], *indices = &in[indices_of(n)];
  const shape *x = &out->form.shape;
  int axis = shape_axis(x, n->axis);
  int64_t outer = product_of(x, 0, axis), inner = product_of(x, axis + 1, x->rank), extent = x->at[axis];
  begin_scatter(n, in, out);
  for (int64_t k = 0; k < outer * indices->count; k++) {
    int64_t i = turn(k, outer * indices->count), at = indices->cells[i % indices->count].whole;
    for (int64_t j = 0; at >= 0 && at < extent && j < inner; j++)
      combine(out->form.type, n->numbers[1], &out->cells[(i / indices->count * extent + at) * inner + j], updates->cells[i * inner + j]);
  }
}

/* ---- What makes indices, or is made of them. */

/* numbers: depth and type; axis -1 is a new last one; the constant is the value beside the hot one. */
static void infer_one_hot(node *n) {
  const form *x = input(n, 0);
  check_indices(x);
  int rank = x->shape.rank + 1;
  if (n->axis == -1) n->axis = rank - 1;
  if (n->axis < 0 || n->axis >= rank) misuse("axis %lld of a result of %d axes", (long long)n->axis, rank);
  shape s = {0};
  append(&s, &x->shape, 0, (int)n->axis);
  append(&s, &(shape){1, {n->numbers[0]}}, 0, 1);
  append(&s, &x->shape, (int)n->axis, x->shape.rank);
  node_output(n, (uint32_t)n->numbers[1], s);
}

static void compute_one_hot(const node *n, const value *in, value *out) {
  int64_t inner = product_of(&out->form.shape, (int)n->axis + 1, out->form.shape.rank), depth = n->numbers[0];
  for (int64_t i = 0; i < out->count; i++) {
    int64_t index = in->cells[i / (inner * depth) * inner + i % inner].whole;
    out->cells[i] = type_of_number(out->form.type, index == i / inner % depth ? n->scalar : n->constant.cells[0].real);
  }
}

static void infer_coordinate(node *n) {
  shape s = list_shape(&n->lists[0]);
  shape_axis(&s, n->axis);
  node_output(n, INT32, s);
}

static void compute_coordinate(const node *n, const value *in, value *out) {
  (void)in;
  int axis = shape_axis(&out->form.shape, n->axis);
  int64_t inner = product_of(&out->form.shape, axis + 1, out->form.shape.rank);
  for (int64_t i = 0; i < out->count; i++) out->cells[i].whole = i / inner % out->form.shape.at[axis];
}

static void infer_nonzero(node *n) { node_output(n, INT32, (shape){2, {UNKNOWN, input(n, 0)->shape.rank}}); }

static void compute_nonzero(const node *n, const value *in, value *out) {
  (void)n;
  const shape *s = &in->form.shape;
  int64_t found = 0, strides[MOST_AXES];
  shape_strides(s, strides);
  for (int64_t i = 0; i < in->count; i++) found += cell_is_true(in->form.type, in->cells[i]);
  value_make(out, &(form){INT32, {2, {found, s->rank}}});
  cell *to = out->cells;
  for (int64_t i = 0; i < in->count; i++)
    for (int k = 0; k < s->rank && cell_is_true(in->form.type, in->cells[i]); k++) (to++)->whole = i / strides[k] % s->at[k];
}

/* ---- Methods. */

static id gather(id self, SEL cmd, id x, id indices, uint64_t axis, uint64_t batch, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), node_input(n, indices), n->axis = (int64_t)axis, n->numbers[0] = (int64_t)batch;
  return node_end(n);
}

static id gather_nd(id self, SEL cmd, id x, id indices, uint64_t batch, id name) { return gather(self, cmd, x, indices, 0, batch, name); }
static id gather_along(id self, SEL cmd, int64_t axis, id x, id indices, id name) { return gather(self, cmd, x, indices, (uint64_t)axis, 0, name); }

/* scatter_with takes all that any scatter has; data or numbers is NULL. */
static id scatter_with(id self, SEL cmd, id data, id numbers, id updates, id indices, int64_t axis, uint64_t batch, int64_t mode, id name) {
  node *n = node_begin(self, cmd, name);
  if (data) node_input(n, data);
  else node_list(n, numbers);
  node_input(n, updates), node_input(n, indices);
  n->axis = axis, n->numbers[0] = (int64_t)batch, n->numbers[1] = mode;
  return node_end(n);
}

static id scatter(id self, SEL cmd, id x, id updates, id indices, int64_t axis, int64_t mode, id name) {
  return scatter_with(self, cmd, x, NULL, updates, indices, axis, 0, mode, name);
}

static id scatter_new(id self, SEL cmd, id updates, id indices, id shape, int64_t axis, int64_t mode, id name) {
  return scatter_with(self, cmd, NULL, shape, updates, indices, axis, 0, mode, name);
}

static id scatter_nd(id self, SEL cmd, id x, id updates, id indices, uint64_t batch, int64_t mode, id name) {
  return scatter_with(self, cmd, x, NULL, updates, indices, 0, batch, mode, name);
}

static id scatter_nd_new(id self, SEL cmd, id updates, id indices, id shape, uint64_t batch, int64_t mode, id name) {
  return scatter_with(self, cmd, NULL, shape, updates, indices, 0, batch, mode, name);
}

static id scatter_nd_sum(id self, SEL cmd, id updates, id indices, id shape, uint64_t batch, id name) {
  return scatter_nd_new(self, cmd, updates, indices, shape, batch, SCATTER_ADD, name);
}

static id scatter_along(id self, SEL cmd, int64_t axis, id x, id updates, id indices, int64_t mode, id name) {
  return scatter_with(self, cmd, x, NULL, updates, indices, axis, 0, mode, name);
}

static id scatter_along_new(id self, SEL cmd, int64_t axis, id updates, id indices, id shape, int64_t mode, id name) {
  return scatter_with(self, cmd, NULL, shape, updates, indices, axis, 0, mode, name);
}

static id one_hot_with(id self, SEL cmd, id indices, uint64_t depth, int64_t axis, uint32_t type, double on, double off, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, indices);
  n->axis = axis, n->numbers[0] = (int64_t)depth, n->numbers[1] = type, n->scalar = on;
  form f = {FLOAT32, {1, {1}}};
  value_make(&n->constant, &f);
  n->constant.cells[0].real = off;
  return node_end(n);
}

static id one_hot_along(id self, SEL cmd, id indices, uint64_t depth, uint64_t axis, uint32_t type, id name) {
  return one_hot_with(self, cmd, indices, depth, (int64_t)axis, type, 1, 0, name);
}

static id one_hot_last(id self, SEL cmd, id indices, uint64_t depth, uint32_t type, id name) {
  return one_hot_with(self, cmd, indices, depth, -1, type, 1, 0, name);
}

static id one_hot_float(id self, SEL cmd, id indices, uint64_t depth, id name) {
  return one_hot_with(self, cmd, indices, depth, -1, FLOAT32, 1, 0, name);
}

static id coordinate(id self, SEL cmd, int64_t axis, id shape, id name) {
  node *n = node_begin(self, cmd, name);
  node_list(n, shape), n->axis = axis;
  return node_end(n);
}

static id nonzero(id self, SEL cmd, id x, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x);
  return node_end(n);
}

static const operator rows[] = {
    {"gatherWithUpdatesTensor:indicesTensor:axis:batchDimensions:name:", (IMP)gather, infer_gather, compute_gather, false},
    {"gatherNDWithUpdatesTensor:indicesTensor:batchDimensions:name:", (IMP)gather_nd, infer_gather_nd, compute_gather_nd, false},
    {"gatherAlongAxis:withUpdatesTensor:indicesTensor:name:", (IMP)gather_along, infer_gather_along, compute_gather_along, false},
    {"scatterWithDataTensor:updatesTensor:indicesTensor:axis:mode:name:", (IMP)scatter, infer_scatter, compute_scatter, false},
    {"scatterWithUpdatesTensor:indicesTensor:shape:axis:mode:name:", (IMP)scatter_new, infer_scatter, compute_scatter, false},
    {"scatterNDWithDataTensor:updatesTensor:indicesTensor:batchDimensions:mode:name:", (IMP)scatter_nd, infer_scatter_nd, compute_scatter_nd, false},
    {"scatterNDWithUpdatesTensor:indicesTensor:shape:batchDimensions:mode:name:", (IMP)scatter_nd_new, infer_scatter_nd, compute_scatter_nd, false},
    {"scatterNDWithUpdatesTensor:indicesTensor:shape:batchDimensions:name:", (IMP)scatter_nd_sum, infer_scatter_nd, compute_scatter_nd, false},
    {"scatterAlongAxis:withDataTensor:updatesTensor:indicesTensor:mode:name:", (IMP)scatter_along, infer_scatter_along, compute_scatter_along, false},
    {"scatterAlongAxis:withUpdatesTensor:indicesTensor:shape:mode:name:", (IMP)scatter_along_new, infer_scatter_along, compute_scatter_along, false},
    {"oneHotWithIndicesTensor:depth:axis:dataType:name:", (IMP)one_hot_along, infer_one_hot, compute_one_hot, false},
    {"oneHotWithIndicesTensor:depth:dataType:name:", (IMP)one_hot_last, infer_one_hot, compute_one_hot, false},
    {"oneHotWithIndicesTensor:depth:name:", (IMP)one_hot_float, infer_one_hot, compute_one_hot, false},
    {"coordinateAlongAxis:withShape:name:", (IMP)coordinate, infer_coordinate, compute_coordinate, false},
    {"nonZeroIndicesOfTensor:name:", (IMP)nonzero, infer_nonzero, compute_nonzero, false},
};

void index_operators(void) { OPERATORS(rows); }
