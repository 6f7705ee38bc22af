/*
 * graph_join.c - operators that join and split tensors, pad them, and change their type.
 */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

/* ---- Joins and splits. An output's axis is a run of the inputs' axes. */

static void check_join(const node *n, int axis) {
  const form *x = input(n, 0);
  for (int i = 1; i < n->ins; i++) {
    shape s = input(n, i)->shape;
    node_same_type(n, 0, i);
    if (axis >= 0 && s.rank == x->shape.rank) s.at[axis] = x->shape.at[axis];
    if (!shape_equal(&s, &x->shape)) misuse("shapes %s and %s do not fit together", shape_text(&x->shape), shape_text(&input(n, i)->shape));
  }
}

static void infer_concat(node *n) {
  if (n->ins == 0) misuse("there are no tensors");
  shape s = input(n, 0)->shape;
  int axis = shape_axis(&s, n->axis);
  check_join(n, axis);
  for (int i = 1; i < n->ins; i++) s.at[axis] += input(n, i)->shape.at[axis];
  node_output(n, input(n, 0)->type, s);
}

/* inner_of is how many elements lie behind one step of an axis. */
static int64_t inner_of(const shape *s, int axis) {
  int64_t inner = 1;
  for (int i = axis + 1; i < s->rank; i++) inner *= s->at[i];
  return inner;
}

static void compute_concat(const node *n, const value *in, value *out) {
  int axis = shape_axis(&out->form.shape, n->axis);
  int64_t inner = inner_of(&out->form.shape, axis), row = inner * out->form.shape.at[axis], at = 0;
  for (int i = 0; i < n->ins; i++) {
    int64_t width = inner * in[i].form.shape.at[axis];
    for (int64_t k = 0; k * row < out->count; k++)
      memcpy(out->cells + k * row + at, in[i].cells + k * width, (size_t)width * sizeof *out->cells);
    at += width;
  }
}

static void infer_stack(node *n) {
  if (n->ins == 0) misuse("there are no tensors");
  check_join(n, -1);
  const shape *x = &input(n, 0)->shape;
  shape s = {.rank = x->rank + 1};
  int64_t axis = n->axis < 0 ? n->axis + s.rank : n->axis;
  if (s.rank > MOST_AXES) misuse("the result has %d axes; MPSGraph takes %d", s.rank, MOST_AXES);
  if (axis < 0 || axis >= s.rank) misuse("axis %lld of a result of %d axes", (long long)n->axis, s.rank);
  for (int i = 0, from = 0; i < s.rank; i++) s.at[i] = i == axis ? n->ins : x->at[from++];
  n->axis = axis;
  node_output(n, input(n, 0)->type, s);
}

static void compute_stack(const node *n, const value *in, value *out) {
  int64_t inner = inner_of(&out->form.shape, (int)n->axis);
  for (int64_t i = 0; i < out->count; i++)
    out->cells[i] = in[i / inner % n->ins].cells[i / inner / n->ins * inner + i % inner];
}

static void add_parts(node *n, int axis, int parts, const int64_t *sizes, int64_t each) {
  shape s = input(n, 0)->shape;
  int64_t sum = 0;
  for (int i = 0; i < parts; i++) {
    s.at[axis] = sizes ? sizes[i] : each;
    sum += s.at[axis];
    node_output(n, input(n, 0)->type, s);
  }
  if (sum != input(n, 0)->shape.at[axis]) misuse("parts of %lld in all; the extent is %lld", (long long)sum, (long long)input(n, 0)->shape.at[axis]);
}

static void infer_split(node *n) {
  int axis = shape_axis(&input(n, 0)->shape, n->axis);
  add_parts(n, axis, n->lists[0].count, n->lists[0].at, 0);
}

static void infer_split_evenly(node *n) {
  int axis = shape_axis(&input(n, 0)->shape, n->axis);
  int64_t extent = input(n, 0)->shape.at[axis], parts = n->numbers[0];
  if (parts < 1 || extent % parts != 0) misuse("%lld parts of extent %lld", (long long)parts, (long long)extent);
  add_parts(n, axis, (int)parts, NULL, extent / parts);
}

static void compute_split(const node *n, const value *in, value *out) {
  int axis = shape_axis(&in->form.shape, n->axis);
  int64_t inner = inner_of(&in->form.shape, axis), row = inner * in->form.shape.at[axis], at = 0;
  for (int i = 0; i < n->outs; i++) {
    int64_t width = inner * out[i].form.shape.at[axis];
    for (int64_t k = 0; k * row < in->count; k++)
      memcpy(out[i].cells + k * width, in->cells + k * row + at, (size_t)width * sizeof *in->cells);
    at += width;
  }
}

/* ---- Pads. */

enum { PAD_CONSTANT = 0, PAD_REFLECT = 1, PAD_SYMMETRIC = 2, PAD_CLAMP = 3, PAD_ZERO = 4 };

static void check_pad(int64_t mode, int64_t amount, int64_t extent) {
  int64_t most = mode == PAD_REFLECT ? extent - 1 : mode == PAD_SYMMETRIC ? extent : INT32_MAX;
  if (amount < 0 || amount > most) misuse("a pad of %lld; want 0 to %lld", (long long)amount, (long long)most);
}

static void infer_pad(node *n) {
  shape s = input(n, 0)->shape;
  int64_t mode = n->numbers[0];
  if (mode < PAD_CONSTANT || mode > PAD_ZERO) misuse("Unsupported paddingMode %lld", (long long)mode);
  list_check(&n->lists[0], s.rank, "left pads");
  list_check(&n->lists[1], s.rank, "right pads");
  for (int i = 0; i < s.rank; i++) {
    check_pad(mode, n->lists[0].at[i], s.at[i]);
    check_pad(mode, n->lists[1].at[i], s.at[i]);
    s.at[i] += n->lists[0].at[i] + n->lists[1].at[i];
  }
  node_output(n, input(n, 0)->type, s);
}

/* pad_source is the index that a padded one shows, or -1. */
static int64_t pad_source(int64_t mode, int64_t at, int64_t extent) {
  if (at >= 0 && at < extent) return at;
  switch (mode) {
  case PAD_REFLECT: return at < 0 ? -at : 2 * (extent - 1) - at;
  case PAD_SYMMETRIC: return at < 0 ? -at - 1 : 2 * extent - 1 - at;
  case PAD_CLAMP: return at < 0 ? 0 : extent - 1;
  default: return -1;
  }
}

static void compute_pad(const node *n, const value *in, value *out) {
  int64_t index[MOST_AXES], mode = n->numbers[0];
  cell filler = type_of_number(in->form.type, mode == PAD_CONSTANT ? n->scalar : 0);
  for (int64_t i = 0; i < out->count; i++) {
    bool inside = true;
    shape_split(&out->form.shape, i, index);
    for (int k = 0; k < in->form.shape.rank; k++) {
      index[k] = pad_source(mode, index[k] - n->lists[0].at[k], in->form.shape.at[k]);
      inside &= index[k] >= 0;
    }
    out->cells[i] = inside ? in->cells[shape_join(&in->form.shape, index)] : filler;
  }
}

/* ---- Casts. */

static void infer_cast(node *n) { node_output(n, (uint32_t)n->numbers[0], input(n, 0)->shape); }

static void compute_cast(const node *n, const value *in, value *out) {
  (void)n;
  if (!shape_known(&out->form.shape)) value_make(out, &(form){out->form.type, in->form.shape});
  for (int64_t i = 0; i < out->count; i++) out->cells[i] = type_convert(in->form.type, out->form.type, in->cells[i]);
}

/* The last axis shrinks or grows with the size of the elements. */
static void infer_reinterpret(node *n) {
  uint32_t to = (uint32_t)n->numbers[0];
  type_check(to);
  shape s = input(n, 0)->shape;
  size_t bytes = type_size(input(n, 0)->type) * (size_t)(s.rank ? s.at[s.rank - 1] : 1);
  if (bytes % type_size(to) != 0) misuse("rows of %zu bytes are no whole number of %s", bytes, type_name(to));
  if (s.rank) s.at[s.rank - 1] = (int64_t)(bytes / type_size(to));
  node_output(n, to, s);
}

static void compute_reinterpret(const node *n, const value *in, value *out) {
  (void)n;
  size_t from = type_size(in->form.type), to = type_size(out->form.type);
  char *bytes = malloc((size_t)in->count * from);
  for (int64_t i = 0; i < in->count; i++) type_store(in->form.type, bytes + (size_t)i * from, in->cells[i]);
  for (int64_t i = 0; i < out->count; i++) out->cells[i] = type_load(out->form.type, bytes + (size_t)i * to);
  free(bytes);
}

static void infer_shape_of(node *n) { node_output(n, INT32, (shape){1, {input(n, 0)->shape.rank}}); }

static void compute_shape_of(const node *n, const value *in, value *out) {
  (void)n;
  for (int64_t i = 0; i < out->count; i++) out->cells[i].whole = in->form.shape.at[i];
}

/* ---- Methods. */

static id plain(id self, SEL cmd, id x, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x);
  return node_end(n);
}

static id join(id self, SEL cmd, id tensors, int64_t axis, id name) {
  node *n = node_begin(self, cmd, name);
  node_inputs(n, tensors), n->axis = axis;
  return node_end(n);
}

static id join_two(id self, SEL cmd, id x, id y, int64_t axis, id name) {
  return join(self, cmd, autorelease(array_new((id[]){x, y}, 2)), axis, name);
}

static id split(id self, SEL cmd, id x, id sizes, int64_t axis, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), node_list(n, sizes), n->axis = axis;
  return node_end_many(n);
}

static id split_evenly(id self, SEL cmd, id x, uint64_t parts, int64_t axis, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), n->numbers[0] = (int64_t)parts, n->axis = axis;
  return node_end_many(n);
}

static id pad(id self, SEL cmd, id x, int64_t mode, id left, id right, double v, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), node_list(n, left), node_list(n, right), n->numbers[0] = mode, n->scalar = v;
  return node_end(n);
}

static id cast(id self, SEL cmd, id x, uint32_t type, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), n->numbers[0] = type;
  return node_end(n);
}

static const operator rows[] = {
    {"concatTensors:dimension:name:", (IMP)join, infer_concat, compute_concat, false},
    {"concatTensor:withTensor:dimension:name:", (IMP)join_two, infer_concat, compute_concat, false},
    {"stackTensors:axis:name:", (IMP)join, infer_stack, compute_stack, false},
    {"splitTensor:splitSizes:axis:name:", (IMP)split, infer_split, compute_split, false},
    {"splitTensor:numSplits:axis:name:", (IMP)split_evenly, infer_split_evenly, compute_split, false},
    {"padTensor:withPaddingMode:leftPadding:rightPadding:constantValue:name:", (IMP)pad, infer_pad, compute_pad, false},
    {"castTensor:toType:name:", (IMP)cast, infer_cast, compute_cast, true},
    {"reinterpretCastTensor:toType:name:", (IMP)cast, infer_reinterpret, compute_reinterpret, false},
    {"shapeOfTensor:name:", (IMP)plain, infer_shape_of, compute_shape_of, false},
};

void join_operators(void) { OPERATORS(rows); }
