/*
 * graph_order.c - sorting along an axis. NaN is the largest value, and equals stay in order; since Apple
 * promises neither, in the worst case NaN is the smallest and equals are in any order.
 */
#include <math.h>
#include <stdlib.h>

#include "graph.h"

typedef struct {
  cell cell;
  int64_t at;
  uint64_t tie;
  bool real, descending;
} item;

static int compare_values(const item *a, const item *b) {
  if (!a->real) return (a->cell.whole > b->cell.whole) - (a->cell.whole < b->cell.whole);
  bool a_is_nan = isnan(a->cell.real), b_is_nan = isnan(b->cell.real);
  if (a_is_nan || b_is_nan) return (a_is_nan - b_is_nan) * (worst_case() ? -1 : 1);
  return (a->cell.real > b->cell.real) - (a->cell.real < b->cell.real);
}

static int compare(const void *x, const void *y) {
  const item *a = x, *b = y;
  int order = compare_values(a, b);
  if (order != 0) return a->descending ? -order : order;
  return (a->tie > b->tie) - (a->tie < b->tie);
}

static void infer_common(const node *n) {
  uint32_t type = input(n, 0)->type;
  if (type != FLOAT32 && type != FLOAT16 && type != INT32 && type != INT64)
    misuse("takes no %s; want Float32, Float16, Int32 or Int64", type_name(type));
  if (type == INT64 && !macos_at_least(13, 3)) misuse("Int64 needs macOS 13.3");
}

/* numbers[0] is how many are wanted of each line, 0 for all; flags: descending. */
static void infer_order(node *n, bool values, bool indices) {
  infer_common(n);
  shape s = input(n, 0)->shape;
  int axis = shape_axis(&s, n->axis);
  int64_t k = n->numbers[0];
  if (k < 0 || k > s.at[axis]) misuse("k is %lld of extent %lld", (long long)k, (long long)s.at[axis]);
  if (k > 0) s.at[axis] = k;
  if (values) node_output(n, input(n, 0)->type, s);
  if (indices) node_output(n, INT32, s);
}

static void infer_sort(node *n) { infer_order(n, true, false); }
static void infer_arg_sort(node *n) { infer_order(n, false, true); }

static void infer_top(node *n) {
  if (n->numbers[0] == 0) misuse("k is 0");
  infer_order(n, true, true);
}

static void sort_line(const value *in, int64_t start, int64_t step, int64_t count, bool descending, item *items) {
  for (int64_t k = 0; k < count; k++)
    items[k] = (item){in->cells[start + k * step], k, worst_case() ? random_bits() : (uint64_t)k, type_is_real(in->form.type), descending};
  qsort(items, (size_t)count, sizeof *items, compare);
}

/* values and indices may be NULL. */
static void order(const node *n, const value *in, value *values, value *indices) {
  const shape *s = &in->form.shape, *to = values ? &values->form.shape : &indices->form.shape;
  int axis = shape_axis(s, n->axis);
  int64_t count = s->at[axis], kept = to->at[axis], step = 1;
  for (int i = axis + 1; i < s->rank; i++) step *= s->at[i];
  item *items = malloc((size_t)count * sizeof *items);
  for (int64_t line = 0; line < in->count / count; line++) {
    int64_t outer = line / step * step, inner = line % step;
    sort_line(in, outer * count + inner, step, count, n->flags[0], items);
    for (int64_t k = 0; k < kept; k++) {
      int64_t at = outer * kept + inner + k * step;
      if (values) values->cells[at] = items[k].cell;
      if (indices) indices->cells[at].whole = items[k].at;
    }
  }
  free(items);
}

static void compute_sort(const node *n, const value *in, value *out) { order(n, in, out, NULL); }
static void compute_arg_sort(const node *n, const value *in, value *out) { order(n, in, NULL, out); }
static void compute_top(const node *n, const value *in, value *out) { order(n, in, &out[0], &out[1]); }

static id sort(id self, SEL cmd, id x, int64_t axis, BOOL descending, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), n->axis = axis, n->flags[0] = descending;
  return node_end(n);
}

static id sort_up(id self, SEL cmd, id x, int64_t axis, id name) { return sort(self, cmd, x, axis, false, name); }

static id choose(id self, SEL cmd, id x, int64_t axis, uint64_t k, bool largest, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), n->axis = axis, n->numbers[0] = (int64_t)k, n->flags[0] = largest;
  return node_end_many(n);
}

static id top(id self, SEL cmd, id x, int64_t axis, uint64_t k, id name) { return choose(self, cmd, x, axis, k, true, name); }
static id bottom(id self, SEL cmd, id x, int64_t axis, uint64_t k, id name) { return choose(self, cmd, x, axis, k, false, name); }
static id top_of_rows(id self, SEL cmd, id x, uint64_t k, id name) { return choose(self, cmd, x, -1, k, true, name); }

static const operator rows[] = {
    {"sortWithTensor:axis:descending:name:", (IMP)sort, infer_sort, compute_sort, false},
    {"sortWithTensor:axis:name:", (IMP)sort_up, infer_sort, compute_sort, false},
    {"argSortWithTensor:axis:descending:name:", (IMP)sort, infer_arg_sort, compute_arg_sort, false},
    {"argSortWithTensor:axis:name:", (IMP)sort_up, infer_arg_sort, compute_arg_sort, false},
    {"topKWithSourceTensor:axis:k:name:", (IMP)top, infer_top, compute_top, false},
    {"bottomKWithSourceTensor:axis:k:name:", (IMP)bottom, infer_top, compute_top, false},
    {"topKWithSourceTensor:k:name:", (IMP)top_of_rows, infer_top, compute_top, false},
};

void order_operators(void) { OPERATORS(rows); }
