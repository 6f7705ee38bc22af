/*
 * graph_reduce.c - reductions, whose axes stay with extent 1, running results along an axis, softmax.
 *
 * Maximum and minimum skip NaN, the PropagateNaN forms do not; argMax answers the first of equals, and -1
 * where all are NaN. Sums are exact up to one rounding. In the worst case they are rounded to the
 * operand's type after each step, since Apple says nothing better.
 */
#include <math.h>
#include <stdlib.h>

#include "graph.h"

enum { TRUTHS = 1, REALS = 2, ANSWERS_INDEX = 4 }; /* Bool operands too; real ones only; int32 indices */

typedef struct {
  operator op;
  int flags;
  cell (*fold)(uint32_t type, const cell *x, int64_t count);
} reduction;

/* ---- Folds: all elements of a group to one. */

static cell step(uint32_t type, cell c) { return worst_case() || !type_is_real(type) ? type_round(type, c) : c; }

static cell add(uint32_t type, cell a, cell b) {
  if (type_is_real(type)) return (cell){.real = a.real + b.real};
  return (cell){.whole = (int64_t)((uint64_t)a.whole + (uint64_t)b.whole)};
}

static cell multiply(uint32_t type, cell a, cell b) {
  if (type_is_real(type)) return (cell){.real = a.real * b.real};
  return (cell){.whole = (int64_t)((uint64_t)a.whole * (uint64_t)b.whole)};
}

static cell larger(uint32_t type, cell a, cell b) {
  if (type_is_real(type)) return (cell){.real = fmax(a.real, b.real)};
  return a.whole < b.whole ? b : a;
}

static cell smaller(uint32_t type, cell a, cell b) {
  if (type_is_real(type)) return (cell){.real = fmin(a.real, b.real)};
  return a.whole < b.whole ? a : b;
}

static cell number(uint32_t type, double v) { return type_is_real(type) ? (cell){.real = v} : type_of_number(type, v); }

/* What no value is below or above. */
static cell lowest(uint32_t type) { return type_is_real(type) ? (cell){.real = -INFINITY} : type_least(type); }
static cell highest(uint32_t type) { return type_is_real(type) ? (cell){.real = INFINITY} : type_most(type); }

static cell fold_with(uint32_t type, const cell *x, int64_t count, cell seed, cell (*with)(uint32_t, cell, cell)) {
  for (int64_t i = 0; i < count; i++) seed = step(type, with(type, seed, x[i]));
  return seed;
}

static bool any_nan(uint32_t type, const cell *x, int64_t count) {
  bool found = false;
  for (int64_t i = 0; i < count && type_is_real(type); i++) found |= isnan(x[i].real) != 0;
  return found;
}

static cell sum(uint32_t type, const cell *x, int64_t count) { return fold_with(type, x, count, number(type, 0), add); }
static cell product(uint32_t type, const cell *x, int64_t count) { return fold_with(type, x, count, number(type, 1), multiply); }
static cell maximum(uint32_t type, const cell *x, int64_t count) { return fold_with(type, x, count, lowest(type), larger); }
static cell minimum(uint32_t type, const cell *x, int64_t count) { return fold_with(type, x, count, highest(type), smaller); }

static cell maximum_or_nan(uint32_t type, const cell *x, int64_t count) {
  return any_nan(type, x, count) ? (cell){.real = NAN} : maximum(type, x, count);
}

static cell minimum_or_nan(uint32_t type, const cell *x, int64_t count) {
  return any_nan(type, x, count) ? (cell){.real = NAN} : minimum(type, x, count);
}

static cell mean(uint32_t type, const cell *x, int64_t count) {
  cell s = sum(type, x, count);
  return type_is_real(type) ? (cell){.real = s.real / (double)count} : (cell){.whole = s.whole / count};
}

static cell spread_around(uint32_t type, const cell *x, int64_t count, cell middle) {
  cell total = number(type, 0);
  for (int64_t i = 0; i < count; i++) {
    cell d = type_is_real(type) ? (cell){.real = x[i].real - middle.real} : (cell){.whole = x[i].whole - middle.whole};
    total = step(type, add(type, total, multiply(type, d, d)));
  }
  return type_is_real(type) ? (cell){.real = total.real / (double)count} : (cell){.whole = total.whole / count};
}

static cell variance(uint32_t type, const cell *x, int64_t count) { return spread_around(type, x, count, mean(type, x, count)); }

static cell all(uint32_t type, const cell *x, int64_t count) {
  bool yes = true;
  for (int64_t i = 0; i < count; i++) yes &= cell_is_true(type, x[i]);
  return number(type, yes);
}

static cell any(uint32_t type, const cell *x, int64_t count) {
  bool yes = false;
  for (int64_t i = 0; i < count; i++) yes |= cell_is_true(type, x[i]);
  return number(type, yes);
}

/* NaN is never better than anything. */
static bool better(uint32_t type, cell a, cell b, int sign) {
  return type_is_real(type) ? sign * a.real > sign * b.real : sign > 0 ? a.whole > b.whole : a.whole < b.whole;
}

static cell best_index(uint32_t type, const cell *x, int64_t count, int sign) {
  int64_t best = -1;
  for (int64_t i = 0; i < count; i++) {
    if (type_is_real(type) && isnan(x[i].real)) continue;
    if (best < 0 || better(type, x[i], x[best], sign)) best = i;
  }
  return (cell){.whole = best};
}

static cell index_of_maximum(uint32_t type, const cell *x, int64_t count) { return best_index(type, x, count, 1); }
static cell index_of_minimum(uint32_t type, const cell *x, int64_t count) { return best_index(type, x, count, -1); }

/* ---- Reductions. */

static const reduction *row_of(const node *n) { return (const reduction *)(const void *)n->op; }

static void check_operand(const node *n, int flags) {
  const form *x = input(n, 0);
  if (x->type == BOOL8 && !(flags & TRUTHS)) misuse("takes no Bool");
  if (!type_is_real(x->type) && flags & REALS) misuse("takes no %s", type_name(x->type));
  if (x->type == INT64 && !macos_at_least(13, 3)) misuse("Int64 needs macOS 13.3");
}

/* The axes that are reduced; none given are all of them. */
static uint32_t reduced(const node *n, const shape *s) {
  uint32_t set = 0;
  if (!n->lists[0].given) return UINT32_MAX;
  for (int i = 0; i < n->lists[0].count; i++) set |= 1u << shape_axis(s, n->lists[0].at[i]);
  return set;
}

static void infer_reduction(node *n) {
  const form *x = input(n, 0);
  int flags = row_of(n)->flags;
  check_operand(n, flags);
  if (x->shape.rank > 4) misuse("a reduction of shape %s; some systems assert more than four axes, collapse them", shape_text(&x->shape));
  shape s = x->shape;
  uint32_t set = reduced(n, &s);
  for (int i = 0; i < s.rank; i++)
    if (set >> i & 1) s.at[i] = 1;
  if (n->ins > 1 && (input(n, 1)->type != x->type || !shape_equal(&input(n, 1)->shape, &s)))
    misuse("a mean of %s %s; want %s %s", type_name(input(n, 1)->type), shape_text(&input(n, 1)->shape), type_name(x->type), shape_text(&s));
  node_output(n, flags & ANSWERS_INDEX ? INT32 : x->type, s);
}

/* grouped answers the elements of each group one after the other. */
static cell *grouped(const value *in, const value *out) {
  int64_t strides[MOST_AXES], size = in->count / out->count;
  cell *groups = malloc((size_t)in->count * sizeof *groups);
  int64_t *filled = calloc((size_t)out->count, sizeof *filled);
  shape_spread(&out->form.shape, &in->form.shape, strides);
  for (int64_t i = 0; i < in->count; i++) {
    int64_t group = shape_offset(&in->form.shape, i, strides);
    groups[group * size + filled[group]++] = in->cells[i];
  }
  free(filled);
  return groups;
}

static void compute_reduction(const node *n, const value *in, value *out) {
  cell *groups = grouped(in, out);
  int64_t size = in->count / out->count;
  for (int64_t i = 0; i < out->count; i++)
    out->cells[i] = type_round(out->form.type, row_of(n)->fold(in->form.type, groups + i * size, size));
  free(groups);
}

static void compute_variance_around(const node *n, const value *in, value *out) {
  (void)n;
  cell *groups = grouped(in, out);
  int64_t size = in->count / out->count;
  for (int64_t i = 0; i < out->count; i++)
    out->cells[i] = type_round(out->form.type, spread_around(in->form.type, groups + i * size, size, in[1].cells[i]));
  free(groups);
}

/* ---- Lines: the elements along one axis. */

typedef struct {
  int64_t count, step, lines;
} axis_lines;

static axis_lines lines_of(const shape *s, int axis) {
  axis_lines l = {s->at[axis], 1, shape_count(s) / s->at[axis]};
  for (int i = axis + 1; i < s->rank; i++) l.step *= s->at[i];
  return l;
}

static int64_t line_start(const axis_lines *l, int64_t line) { return line / l->step * l->step * l->count + line % l->step; }

/* ---- Running results. */

typedef struct {
  operator op;
  cell (*with)(uint32_t type, cell a, cell b);
  cell (*seed)(uint32_t type);  /* of the inclusive form */
  cell (*first)(uint32_t type); /* of the exclusive form, a finite value */
} cumulation;

static cell zero(uint32_t type) { return number(type, 0); }
static cell one(uint32_t type) { return number(type, 1); }

static void infer_cumulation(node *n) {
  const form *x = input(n, 0);
  check_operand(n, 0);
  if (n->axis < 0 || n->axis > 3) misuse("axis %lld; only supports axis = 0, 1, 2, 3", (long long)n->axis);
  if (x->type == INT16 && !macos_at_least(14, 0)) misuse("Int16 is wrong before macOS 14.0; cast it");
  shape_axis(&x->shape, n->axis);
  node_output(n, x->type, x->shape);
}

/* The type is rounded to after each step: it is what accumulates. */
static void compute_cumulation(const node *n, const value *in, value *out) {
  const cumulation *c = (const cumulation *)(const void *)n->op;
  uint32_t type = in->form.type;
  axis_lines l = lines_of(&in->form.shape, (int)n->axis);
  bool exclusive = n->flags[0], reverse = n->flags[1];
  for (int64_t line = 0; line < l.lines; line++) {
    cell total = exclusive ? c->first(type) : c->seed(type);
    for (int64_t k = 0; k < l.count; k++) {
      int64_t at = line_start(&l, line) + (reverse ? l.count - 1 - k : k) * l.step;
      cell next = type_round(type, c->with(type, total, in->cells[at]));
      out->cells[at] = exclusive ? total : next;
      total = next;
    }
  }
}

/* ---- Softmax, within 8 units in the last place: an exponential and a division. */

enum { SOFTMAX_ULPS = 8 };

static void infer_softmax(node *n) {
  check_operand(n, REALS);
  for (int i = 1; i < n->ins; i++) {
    node_same_type(n, 0, i);
    if (!shape_equal(&input(n, i)->shape, &input(n, 0)->shape)) misuse("the gradient and the source differ in shape");
  }
  shape_axis(&input(n, 0)->shape, n->axis);
  node_output(n, input(n, 0)->type, input(n, 0)->shape);
}

/* softmax_line fills y with the softmax of a line. */
static void softmax_line(const cell *x, const axis_lines *l, double *y) {
  double most = -INFINITY, total = 0;
  for (int64_t k = 0; k < l->count; k++) most = fmax(most, x[k * l->step].real);
  for (int64_t k = 0; k < l->count; k++) total += y[k] = exp(x[k * l->step].real - most);
  for (int64_t k = 0; k < l->count; k++) y[k] /= total;
}

static cell inexact(uint32_t type, double v) { return type_round(type, (cell){.real = type_perturb(type, v, type == FLOAT32 ? SOFTMAX_ULPS : 1)}); }

static void compute_softmax(const node *n, const value *in, value *out) {
  axis_lines l = lines_of(&in->form.shape, shape_axis(&in->form.shape, n->axis));
  double *y = malloc((size_t)l.count * sizeof *y);
  for (int64_t line = 0; line < l.lines; line++) {
    int64_t start = line_start(&l, line);
    softmax_line(in->cells + start, &l, y);
    for (int64_t k = 0; k < l.count; k++) out->cells[start + k * l.step] = inexact(in->form.type, y[k]);
  }
  free(y);
}

static void compute_softmax_gradient(const node *n, const value *in, value *out) {
  axis_lines l = lines_of(&in->form.shape, shape_axis(&in->form.shape, n->axis));
  double *y = malloc((size_t)l.count * sizeof *y);
  for (int64_t line = 0; line < l.lines; line++) {
    int64_t start = line_start(&l, line);
    double dot = 0;
    softmax_line(in[1].cells + start, &l, y);
    for (int64_t k = 0; k < l.count; k++) dot += in[0].cells[start + k * l.step].real * y[k];
    for (int64_t k = 0; k < l.count; k++) {
      int64_t at = start + k * l.step;
      out->cells[at] = inexact(in->form.type, (in[0].cells[at].real - dot) * y[k]);
    }
  }
  free(y);
}

/* ---- Methods. */

static id over_axes(id self, SEL cmd, id x, id axes, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), node_list(n, axes);
  return node_end(n);
}

static id over_axis(id self, SEL cmd, id x, int64_t axis, id name) {
  return over_axes(self, cmd, x, autorelease(array_new((id[]){number_int(axis)}, 1)), name);
}

static id around_mean(id self, SEL cmd, id x, id middle, id axes, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), node_input(n, middle), node_list(n, axes);
  return node_end(n);
}

static id cumulate(id self, SEL cmd, id x, int64_t axis, BOOL exclusive, BOOL reverse, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), n->axis = axis, n->flags[0] = exclusive, n->flags[1] = reverse;
  return node_end(n);
}

static id cumulate_plainly(id self, SEL cmd, id x, int64_t axis, id name) { return cumulate(self, cmd, x, axis, false, false, name); }

static id softmax(id self, SEL cmd, id x, int64_t axis, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), n->axis = axis;
  return node_end(n);
}

static id softmax_gradient(id self, SEL cmd, id gradient, id x, int64_t axis, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, gradient), node_input(n, x), n->axis = axis;
  return node_end(n);
}

#define REDUCTION(selector, method) {selector, (IMP)(method), infer_reduction, compute_reduction, false}
#define BOTH(name, flags, fold)                                     \
  {REDUCTION(name "WithTensor:axes:name:", over_axes), flags, fold}, \
  {REDUCTION(name "WithTensor:axis:name:", over_axis), flags, fold}

static const reduction reductions[] = {
    BOTH("reductionSum", 0, sum),
    BOTH("reductionProduct", 0, product),
    BOTH("reductionMaximum", 0, maximum),
    BOTH("reductionMinimum", 0, minimum),
    BOTH("reductionMaximumPropagateNaN", 0, maximum_or_nan),
    BOTH("reductionMinimumPropagateNaN", 0, minimum_or_nan),
    BOTH("reductionAnd", TRUTHS, all),
    BOTH("reductionOr", TRUTHS, any),
    {REDUCTION("reductionArgMaximumWithTensor:axis:name:", over_axis), ANSWERS_INDEX, index_of_maximum},
    {REDUCTION("reductionArgMinimumWithTensor:axis:name:", over_axis), ANSWERS_INDEX, index_of_minimum},
    {REDUCTION("meanOfTensor:axes:name:", over_axes), 0, mean},
    {REDUCTION("varianceOfTensor:axes:name:", over_axes), 0, variance},
    {{"varianceOfTensor:meanTensor:axes:name:", (IMP)around_mean, infer_reduction, compute_variance_around, false}, 0, NULL},
};

#define CUMULATION(selector, method) {selector, (IMP)(method), infer_cumulation, compute_cumulation, false}
#define CUMULATIVE(name, with, seed, first)                                                     \
  {CUMULATION(name "WithTensor:axis:exclusive:reverse:name:", cumulate), with, seed, first}, \
  {CUMULATION(name "WithTensor:axis:name:", cumulate_plainly), with, seed, first}

static const cumulation cumulations[] = {
    CUMULATIVE("cumulativeSum", add, zero, zero),
    CUMULATIVE("cumulativeProduct", multiply, one, one),
    CUMULATIVE("cumulativeMaximum", larger, lowest, type_least),
    CUMULATIVE("cumulativeMinimum", smaller, highest, type_most),
};

static const operator softmaxes[] = {
    {"softMaxWithTensor:axis:name:", (IMP)softmax, infer_softmax, compute_softmax, false},
    {"softMaxGradientWithIncomingGradient:sourceTensor:axis:name:", (IMP)softmax_gradient, infer_softmax, compute_softmax_gradient, false},
};

void reduce_operators(void) {
  OPERATORS(reductions);
  OPERATORS(cumulations);
  OPERATORS(softmaxes);
}
