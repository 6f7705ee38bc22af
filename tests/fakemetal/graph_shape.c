/*
 * graph_shape.c - operators that show the elements of a tensor otherwise: other shapes, orders, slices.
 *
 * What Apple answers with garbage or with an abort in the middle of a run is refused when the node is
 * added: a broadcast to a larger extent that is not one, an empty slice, a zero stride.
 */
#include <stdlib.h>
#include <string.h>

#include "graph.h"

/* ---- The same elements in the same order. */

static void compute_same(const node *n, const value *in, value *out) {
  (void)n;
  memcpy(out->cells, in[0].cells, (size_t)out->count * sizeof *out->cells);
}

static void infer_reshape(node *n) {
  const form *x = input(n, 0);
  shape s = list_shape(&n->lists[0]);
  int64_t have = shape_count(&x->shape), want = 1;
  int open = -1;
  for (int i = 0; i < s.rank; i++) {
    if (s.at[i] != UNKNOWN) {
      want *= s.at[i];
      continue;
    }
    if (open >= 0) misuse("shape %s leaves two extents open", shape_text(&s));
    open = i;
  }
  if (open >= 0 && want != 0) s.at[open] = have / want, want *= s.at[open];
  if (want != have)
    misuse("%s cannot be reshaped to %s: %lld elements and %lld", shape_text(&x->shape), shape_text(&s), (long long)have, (long long)want);
  node_output(n, x->type, s);
}

/* marked is the set of axes that a list names; rank is that of the shape they are axes of. */
static uint32_t marked(const list *l, int rank) {
  shape s = {.rank = rank};
  uint32_t set = 0;
  for (int i = 0; i < rank; i++) s.at[i] = 1;
  for (int i = 0; i < l->count; i++) set |= 1u << shape_axis(&s, l->at[i]);
  return set;
}

static void infer_expand(node *n) {
  const form *x = input(n, 0);
  int rank = x->shape.rank + n->lists[0].count, from = 0;
  if (rank > MOST_AXES) misuse("the result has %d axes; MPSGraph takes %d", rank, MOST_AXES);
  uint32_t added = marked(&n->lists[0], rank);
  if (__builtin_popcount(added) != n->lists[0].count) misuse("an axis is added twice");
  shape s = {.rank = rank};
  for (int i = 0; i < rank; i++) s.at[i] = added >> i & 1 ? 1 : x->shape.at[from++];
  node_output(n, x->type, s);
}

static void drop_axes(node *n, uint32_t set) {
  const form *x = input(n, 0);
  shape s = {0};
  for (int i = 0; i < x->shape.rank; i++) {
    if (!(set >> i & 1)) s.at[s.rank++] = x->shape.at[i];
    else if (x->shape.at[i] != 1) misuse("axis %d of shape %s is squeezed and is not 1", i, shape_text(&x->shape));
  }
  node_output(n, x->type, s);
}

static void infer_squeeze(node *n) { drop_axes(n, marked(&n->lists[0], input(n, 0)->shape.rank)); }

static void infer_squeeze_all(node *n) {
  uint32_t set = 0;
  for (int i = 0; i < input(n, 0)->shape.rank; i++) set |= (uint32_t)(input(n, 0)->shape.at[i] == 1) << i;
  drop_axes(n, set);
}

static void infer_flatten(node *n) {
  const form *x = input(n, 0);
  if (n->axis < 0 || n->axis > x->shape.rank) misuse("axis %lld; the axis is unsigned and at most the rank", (long long)n->axis);
  shape s = {2, {1, 1}};
  for (int i = 0; i < x->shape.rank; i++) s.at[i >= n->axis] *= x->shape.at[i];
  node_output(n, x->type, s);
}

/* ---- Elements read under other strides. */

static void read_strided(const value *in, value *out, int64_t first, const int64_t *strides) {
  for (int64_t i = 0; i < out->count; i++) out->cells[i] = in->cells[first + shape_offset(&out->form.shape, i, strides)];
}

static void infer_transpose(node *n) {
  const form *x = input(n, 0);
  const list *order = &n->lists[0];
  if (order->count != x->shape.rank) misuse("a permutation of %d axes for shape %s", order->count, shape_text(&x->shape));
  if (__builtin_popcount(marked(order, x->shape.rank)) != x->shape.rank) misuse("the permutation names an axis twice");
  shape s = {.rank = x->shape.rank};
  for (int i = 0; i < s.rank; i++) s.at[i] = x->shape.at[shape_axis(&x->shape, order->at[i])];
  node_output(n, x->type, s);
}

static void compute_transpose(const node *n, const value *in, value *out) {
  int64_t own[MOST_AXES], strides[MOST_AXES];
  shape_strides(&in->form.shape, own);
  for (int i = 0; i < out->form.shape.rank; i++) strides[i] = own[shape_axis(&in->form.shape, n->lists[0].at[i])];
  read_strided(in, out, 0, strides);
}

static void infer_swap(node *n) {
  shape s = input(n, 0)->shape;
  int a = shape_axis(&s, n->numbers[0]), b = shape_axis(&s, n->numbers[1]);
  int64_t extent = s.at[a];
  s.at[a] = s.at[b], s.at[b] = extent;
  node_output(n, input(n, 0)->type, s);
}

static void compute_swap(const node *n, const value *in, value *out) {
  int64_t strides[MOST_AXES];
  shape_strides(&in->form.shape, strides);
  int a = shape_axis(&in->form.shape, n->numbers[0]), b = shape_axis(&in->form.shape, n->numbers[1]);
  int64_t stride = strides[a];
  strides[a] = strides[b], strides[b] = stride;
  read_strided(in, out, 0, strides);
}

static void infer_broadcast(node *n) {
  const form *x = input(n, 0);
  shape s = list_shape(&n->lists[0]);
  if (x->shape.rank > s.rank) misuse("%s cannot be broadcast to %s", shape_text(&x->shape), shape_text(&s));
  for (int i = 1; i <= x->shape.rank; i++) {
    int64_t have = x->shape.at[x->shape.rank - i], want = s.at[s.rank - i];
    if (have != 1 && have != want) misuse("%s cannot be broadcast to %s; Apple's would be filled with zeros", shape_text(&x->shape), shape_text(&s));
  }
  node_output(n, x->type, s);
}

static void compute_broadcast(const node *n, const value *in, value *out) {
  (void)n;
  int64_t strides[MOST_AXES];
  shape_spread(&in->form.shape, &out->form.shape, strides);
  read_strided(in, out, 0, strides);
}

static void infer_tile(node *n) {
  shape s = input(n, 0)->shape;
  list_check(&n->lists[0], s.rank, "multipliers");
  for (int i = 0; i < s.rank; i++) {
    if (n->lists[0].at[i] < 1) misuse("a multiplier is %lld", (long long)n->lists[0].at[i]);
    s.at[i] *= n->lists[0].at[i];
  }
  node_output(n, input(n, 0)->type, s);
}

/* ---- Elements found by their indices. */

static void compute_tile(const node *n, const value *in, value *out) {
  (void)n;
  int64_t index[MOST_AXES];
  for (int64_t i = 0; i < out->count; i++) {
    shape_split(&out->form.shape, i, index);
    for (int k = 0; k < in->form.shape.rank; k++) index[k] %= in->form.shape.at[k];
    out->cells[i] = in->cells[shape_join(&in->form.shape, index)];
  }
}

static void infer_same(node *n) { node_output(n, input(n, 0)->type, input(n, 0)->shape); }

static void infer_reverse(node *n) {
  if (n->list_count > 0) marked(&n->lists[0], input(n, 0)->shape.rank);
  infer_same(n);
}

/* No axes are all axes. */
static void compute_reverse(const node *n, const value *in, value *out) {
  const shape *s = &in->form.shape;
  uint32_t set = n->list_count > 0 && n->lists[0].count > 0 ? marked(&n->lists[0], s->rank) : UINT32_MAX;
  int64_t index[MOST_AXES];
  for (int64_t i = 0; i < out->count; i++) {
    shape_split(s, i, index);
    for (int k = 0; k < s->rank; k++)
      if (set >> k & 1) index[k] = s->at[k] - 1 - index[k];
    out->cells[i] = in->cells[shape_join(s, index)];
  }
}

/* ---- Slices. */

typedef struct {
  int64_t start, stride, count;
} cut;

/* cut_of is TensorFlow's strided slice without masks. */
static cut cut_of(int64_t start, int64_t end, int64_t stride, int64_t extent) {
  if (stride == 0) misuse("a stride is 0");
  if (stride < 0) misuse("a stride is %lld; the fake takes positive ones, use reverseTensor:", (long long)stride);
  if (start < 0) start += extent;
  if (end < 0) end += extent;
  if (end > extent) end = extent;
  if (start < 0 || start >= extent) misuse("subRange.start (%lld) is not less than length of dimension (%lld)", (long long)start, (long long)extent);
  if (end <= start) misuse("an empty slice from %lld to %lld: device may not be nil", (long long)start, (long long)end);
  return (cut){start, stride, (end - start + stride - 1) / stride};
}

static cut slice_cut(const node *n, const shape *s, int axis) {
  return cut_of(n->lists[0].at[axis], n->lists[1].at[axis], n->lists[2].at[axis], s->at[axis]);
}

static shape slice_shape(const node *n, const shape *whole) {
  shape s = *whole;
  list_check(&n->lists[0], s.rank, "starts");
  list_check(&n->lists[1], s.rank, "ends");
  list_check(&n->lists[2], s.rank, "strides");
  for (int i = 0; i < s.rank; i++) s.at[i] = slice_cut(n, whole, i).count;
  return s;
}

static void infer_slice(node *n) { node_output(n, input(n, 0)->type, slice_shape(n, &input(n, 0)->shape)); }

/* slice_strides answers where a slice begins in its tensor, and its strides. */
static int64_t slice_strides(const node *n, const shape *whole, int64_t *strides) {
  int64_t first = 0;
  shape_strides(whole, strides);
  for (int i = 0; i < whole->rank; i++) {
    cut c = slice_cut(n, whole, i);
    first += c.start * strides[i], strides[i] *= c.stride;
  }
  return first;
}

static void compute_slice(const node *n, const value *in, value *out) {
  int64_t strides[MOST_AXES], first = slice_strides(n, &in->form.shape, strides);
  read_strided(in, out, first, strides);
}

static void infer_slice_update(node *n) {
  shape s = slice_shape(n, &input(n, 0)->shape);
  node_same_type(n, 0, 1);
  if (!shape_equal(&s, &input(n, 1)->shape)) misuse("an update of shape %s; the slice is %s", shape_text(&input(n, 1)->shape), shape_text(&s));
  infer_same(n);
}

static void compute_slice_update(const node *n, const value *in, value *out) {
  int64_t strides[MOST_AXES], first = slice_strides(n, &in[0].form.shape, strides);
  compute_same(n, in, out);
  for (int64_t i = 0; i < in[1].count; i++) out->cells[first + shape_offset(&in[1].form.shape, i, strides)] = in[1].cells[i];
}

static void infer_slice_axis(node *n) {
  shape s = input(n, 0)->shape;
  int axis = shape_axis(&s, n->axis);
  int64_t start = n->numbers[0] < 0 ? n->numbers[0] + s.at[axis] : n->numbers[0];
  if (start < 0 || n->numbers[1] < 1 || start + n->numbers[1] > s.at[axis])
    misuse("start %lld and length %lld leave extent %lld", (long long)n->numbers[0], (long long)n->numbers[1], (long long)s.at[axis]);
  s.at[axis] = n->numbers[1];
  node_output(n, input(n, 0)->type, s);
}

static void compute_slice_axis(const node *n, const value *in, value *out) {
  int64_t strides[MOST_AXES];
  int axis = shape_axis(&in->form.shape, n->axis);
  int64_t start = n->numbers[0] < 0 ? n->numbers[0] + in->form.shape.at[axis] : n->numbers[0];
  shape_strides(&in->form.shape, strides);
  read_strided(in, out, start * strides[axis], strides);
}

/* ---- Methods. */

static id plain(id self, SEL cmd, id x, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x);
  return node_end(n);
}

static id listed(id self, SEL cmd, id x, id numbers, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), node_list(n, numbers);
  return node_end(n);
}

static id one_axis(id self, SEL cmd, id x, int64_t axis, id name) {
  return listed(self, cmd, x, autorelease(array_new((id[]){number_int(axis)}, 1)), name);
}

static id flatten(id self, SEL cmd, id x, int64_t axis, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), n->axis = axis;
  return node_end(n);
}

static id swap(id self, SEL cmd, id x, uint64_t a, uint64_t b, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), n->numbers[0] = (int64_t)a, n->numbers[1] = (int64_t)b;
  return node_end(n);
}

static id slice(id self, SEL cmd, id x, id starts, id ends, id strides, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), node_list(n, starts), node_list(n, ends), node_list(n, strides);
  return node_end(n);
}

static id slice_update(id self, SEL cmd, id x, id update, id starts, id ends, id strides, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), node_input(n, update), node_list(n, starts), node_list(n, ends), node_list(n, strides);
  return node_end(n);
}

static id slice_axis(id self, SEL cmd, id x, uint64_t axis, int64_t start, int64_t length, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), n->axis = (int64_t)axis, n->numbers[0] = start, n->numbers[1] = length;
  return node_end(n);
}

static const operator rows[] = {
    {"reshapeTensor:withShape:name:", (IMP)listed, infer_reshape, compute_same, false},
    {"expandDimsOfTensor:axes:name:", (IMP)listed, infer_expand, compute_same, false},
    {"expandDimsOfTensor:axis:name:", (IMP)one_axis, infer_expand, compute_same, false},
    {"squeezeTensor:axes:name:", (IMP)listed, infer_squeeze, compute_same, false},
    {"squeezeTensor:axis:name:", (IMP)one_axis, infer_squeeze, compute_same, false},
    {"squeezeTensor:name:", (IMP)plain, infer_squeeze_all, compute_same, false},
    {"flatten2DTensor:axis:name:", (IMP)flatten, infer_flatten, compute_same, false},
    {"transposeTensor:permutation:name:", (IMP)listed, infer_transpose, compute_transpose, false},
    {"transposeTensor:dimension:withDimension:name:", (IMP)swap, infer_swap, compute_swap, false},
    {"broadcastTensor:toShape:name:", (IMP)listed, infer_broadcast, compute_broadcast, false},
    {"tileTensor:withMultiplier:name:", (IMP)listed, infer_tile, compute_tile, false},
    {"reverseTensor:axes:name:", (IMP)listed, infer_reverse, compute_reverse, false},
    {"reverseTensor:name:", (IMP)plain, infer_reverse, compute_reverse, false},
    {"sliceTensor:starts:ends:strides:name:", (IMP)slice, infer_slice, compute_slice, false},
    {"sliceTensor:dimension:start:length:name:", (IMP)slice_axis, infer_slice_axis, compute_slice_axis, false},
    {"sliceUpdateDataTensor:updateTensor:starts:ends:strides:name:", (IMP)slice_update, infer_slice_update, compute_slice_update, false},
};

void shape_operators(void) { OPERATORS(rows); }
