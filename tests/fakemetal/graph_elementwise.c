/*
 * graph_elementwise.c - operators that work on one element at a time, with NumPy's broadcasting.
 *
 * A row says what an operator does to real numbers and to integers; without a function for one of them
 * it refuses such tensors. Nothing is promoted: all operands have one type. In the worst case results are
 * wrong by as many units in the last place as the Metal Shading Language Specification allows in its
 * tables of ULP errors; for half precision that is one.
 */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "defect.h"
#include "graph.h"
#include "harsh.h"

typedef double (*real_function)(const double *x);
typedef int64_t (*whole_function)(const int64_t *x);
typedef int64_t (*test_function)(const double *x);

/* What an operator takes beyond what its functions say. */
enum {
  TRUTHS = 1,   /* operands may be Bool */
  ANSWERS = 2,  /* the result is Bool */
  COPIES = 4,   /* float32 keeps its subnormals, NaN its bits */
  NO_HALF = 8,  /* BFloat16 is refused */
};

typedef struct {
  operator op;
  int flags;
  real_function real;
  whole_function whole;
  test_function test; /* of real operands, where the result is Bool */
  double ulps;        /* of float32 */
} elementwise;

/* ---- Functions. */

#define REAL(name, expression) \
  static double name(const double *x) { return expression; }
#define WHOLE(name, expression) \
  static int64_t name(const int64_t *x) { return expression; }
#define TEST(name, expression) \
  static int64_t name(const double *x) { return expression; }

/* Arithmetic of integers wraps around. */
#define WRAPPED(expression) (int64_t)(expression)
#define U(i) (uint64_t) x[i]

REAL(add_real, x[0] + x[1])
REAL(subtract_real, x[0] - x[1])
REAL(multiply_real, x[0] * x[1])
REAL(divide_real, x[0] / x[1])
REAL(divide_no_nan_real, x[1] == 0 ? 0 : x[0] / x[1])
REAL(power_real, pow(x[0], x[1]))
REAL(atan2_real, atan2(x[0], x[1]))
REAL(minimum_real, fmin(x[0], x[1]))
REAL(maximum_real, fmax(x[0], x[1]))
REAL(minimum_nan_real, isnan(x[0]) || isnan(x[1]) ? NAN : fmin(x[0], x[1]))
REAL(maximum_nan_real, isnan(x[0]) || isnan(x[1]) ? NAN : fmax(x[0], x[1]))

static double modulo_real(const double *x) {
  if (!harsh(NAIVE_FMOD)) return fmod(x[0], x[1]);
  float a = (float)x[0], b = (float)x[1], product = b * truncf(a / b);
  return (double)(a - product);
}

static double floor_modulo_real(const double *x) {
  double m = modulo_real(x);
  return m != 0 && (m < 0) != (x[1] < 0) ? m + x[1] : m;
}

WHOLE(add_whole, WRAPPED(U(0) + U(1)))
WHOLE(subtract_whole, WRAPPED(U(0) - U(1)))
WHOLE(multiply_whole, WRAPPED(U(0) * U(1)))
WHOLE(minimum_whole, x[0] < x[1] ? x[0] : x[1])
WHOLE(maximum_whole, x[0] < x[1] ? x[1] : x[0])

/* The result of a division by zero on a GPU is undocumented. */
static int64_t undefined(void) { return worst_case() ? (int64_t)random_bits() : 0; }

static int64_t quotient(int64_t a, int64_t b) { return b == -1 ? WRAPPED(-(uint64_t)a) : a / b; }
WHOLE(divide_whole, x[1] == 0 ? undefined() : quotient(x[0], x[1]))
WHOLE(divide_no_nan_whole, x[1] == 0 ? 0 : quotient(x[0], x[1]))
WHOLE(modulo_whole, x[1] == 0 ? undefined() : x[1] == -1 ? 0 : x[0] % x[1])

static int64_t floor_modulo_whole(const int64_t *x) {
  if (x[1] == 0 || x[1] == -1) return 0;
  int64_t m = x[0] % x[1];
  return m != 0 && (m < 0) != (x[1] < 0) ? m + x[1] : m;
}

static int64_t power_whole(const int64_t *x) {
  if (x[1] < 0) return x[0] == 0 ? undefined() : x[0] == 1 ? 1 : x[0] == -1 ? (x[1] & 1 ? -1 : 1) : 0;
  uint64_t result = 1, base = (uint64_t)x[0];
  for (uint64_t e = (uint64_t)x[1]; e > 0; e >>= 1, base *= base)
    if (e & 1) result *= base;
  return (int64_t)result;
}

/* What fast math makes of functions: a tangent that is a quotient of exponentials, which overflow (pytorch#172406), and
 * angles that lose what a float has no room for. */
enum { OVERFLOWS = 44 };
static double reduced(double x) {
  const float turn = 6.2831855f, v = (float)x;
  return !harsh(GRAPH_FAST_MATH) || fabsf(v) <= 3.1415927f ? x : (double)(v - turn * (float)rint((double)(v / turn)));
}

REAL(negative_real, -x[0])
REAL(absolute_real, fabs(x[0]))
REAL(sign_real, (x[0] > 0) - (x[0] < 0))
REAL(reciprocal_real, 1 / x[0])
REAL(square_real, x[0] * x[0])
REAL(square_root_real, sqrt(x[0]))
REAL(reverse_square_root_real, 1 / sqrt(x[0]))
REAL(exponent_real, exp(x[0]))
REAL(exponent2_real, exp2(x[0]))
REAL(exponent10_real, pow(10, x[0]))
REAL(logarithm_real, log(x[0]))
REAL(logarithm2_real, log2(x[0]))
REAL(logarithm10_real, log10(x[0]))
REAL(erf_real, erf(x[0]))
REAL(sin_real, sin(reduced(x[0])))
REAL(cos_real, cos(reduced(x[0])))
REAL(tan_real, tan(reduced(x[0])))
REAL(sinh_real, sinh(x[0]))
REAL(cosh_real, cosh(x[0]))
REAL(tanh_real, harsh(GRAPH_FAST_MATH) && x[0] > OVERFLOWS ? NAN : tanh(x[0]))
REAL(asin_real, asin(x[0]))
REAL(acos_real, acos(x[0]))
REAL(atan_real, atan(x[0]))
REAL(asinh_real, asinh(x[0]))
REAL(acosh_real, acosh(x[0]))
REAL(atanh_real, atanh(x[0]))
REAL(floor_real, floor(x[0]))
REAL(ceil_real, ceil(x[0]))
REAL(round_real, round(x[0]))
REAL(rint_real, rint(x[0]))
REAL(truncate_real, trunc(x[0]))
REAL(identity_real, x[0])
REAL(relu_real, x[0] > 0 ? x[0] : isnan(x[0]) ? x[0] : 0)
REAL(leaky_relu_real, x[0] > 0 ? x[0] : x[1] * x[0])
REAL(relu_gradient_real, x[1] > 0 ? x[0] : 0)
REAL(sigmoid_real, 1 / (1 + exp(-x[0])))

static double sigmoid_gradient_real(const double *x) {
  double s = sigmoid_real(x + 1);
  return x[0] * s * (1 - s);
}

WHOLE(negative_whole, WRAPPED(-U(0)))
WHOLE(absolute_whole, x[0] < 0 ? WRAPPED(-U(0)) : x[0])
WHOLE(sign_whole, (x[0] > 0) - (x[0] < 0))
WHOLE(square_whole, WRAPPED(U(0) * U(0)))
WHOLE(identity_whole, x[0])
WHOLE(relu_whole, x[0] > 0 ? x[0] : 0)

WHOLE(equal_whole, x[0] == x[1])
WHOLE(not_equal_whole, x[0] != x[1])
WHOLE(less_whole, x[0] < x[1])
WHOLE(less_equal_whole, x[0] <= x[1])
WHOLE(greater_whole, x[0] > x[1])
WHOLE(greater_equal_whole, x[0] >= x[1])
TEST(equal_test, x[0] == x[1])
TEST(not_equal_test, x[0] != x[1])
TEST(less_test, x[0] < x[1])
TEST(less_equal_test, x[0] <= x[1])
TEST(greater_test, x[0] > x[1])
TEST(greater_equal_test, x[0] >= x[1])
TEST(is_nan_test, isnan(x[0]))
TEST(is_infinite_test, isinf(x[0]) != 0)
TEST(is_finite_test, isfinite(x[0]) != 0)

REAL(and_real, x[0] != 0 && x[1] != 0)
REAL(or_real, x[0] != 0 || x[1] != 0)
REAL(xor_real, (x[0] != 0) != (x[1] != 0))
REAL(nand_real, !(x[0] != 0 && x[1] != 0))
REAL(nor_real, !(x[0] != 0 || x[1] != 0))
REAL(xnor_real, (x[0] != 0) == (x[1] != 0))
REAL(not_real, x[0] == 0)
REAL(signbit_real, signbit(x[0]) != 0)
WHOLE(and_whole, x[0] && x[1])
WHOLE(or_whole, x[0] || x[1])
WHOLE(xor_whole, !x[0] != !x[1])
WHOLE(nand_whole, !(x[0] && x[1]))
WHOLE(nor_whole, !(x[0] || x[1]))
WHOLE(xnor_whole, !x[0] == !x[1])
WHOLE(not_whole, !x[0])
WHOLE(signbit_whole, x[0] < 0)

WHOLE(bits_and, x[0] & x[1])
WHOLE(bits_or, x[0] | x[1])
WHOLE(bits_xor, x[0] ^ x[1])
WHOLE(bits_not, ~x[0])
WHOLE(shift_left, x[1] < 0 || x[1] > 63 ? undefined() : WRAPPED(U(0) << x[1]))
WHOLE(shift_right, x[1] < 0 || x[1] > 63 ? undefined() : x[0] >> x[1])

REAL(clamp_real, fmin(fmax(x[0], x[1]), x[2]))
WHOLE(clamp_whole, x[0] < x[1] ? (x[1] < x[2] ? x[1] : x[2]) : x[0] < x[2] ? x[0] : x[2])

/* ---- Verification. */

static const elementwise *row_of(const node *n) { return (const elementwise *)(const void *)n->op; }

static void check_type(const elementwise *e, uint32_t type) {
  if (type_is_real(type) ? !e->real && !e->test : !e->whole) misuse("takes no %s", type_name(type));
  if (type == BOOL8 && !(e->flags & TRUTHS)) misuse("takes no Bool");
  if (type == BFLOAT16 && e->flags & NO_HALF) misuse("takes Float32 and Float16 only");
}

static void check_same_type(const node *n, int first) {
  for (int i = first + 1; i < n->ins; i++) node_same_type(n, first, i);
}

static shape broadcast_inputs(const node *n) {
  shape s = input(n, 0)->shape;
  for (int i = 1; i < n->ins; i++) s = shape_broadcast(&s, &input(n, i)->shape);
  return s;
}

static void infer_elementwise(node *n) {
  const elementwise *e = row_of(n);
  check_same_type(n, 0);
  check_type(e, input(n, 0)->type);
  node_output(n, e->flags & ANSWERS ? BOOL8 : input(n, 0)->type, broadcast_inputs(n));
}

static void infer_select(node *n) {
  if (input(n, 0)->type != BOOL8) misuse("a predicate of type %s; want Bool", type_name(input(n, 0)->type));
  check_same_type(n, 1);
  node_output(n, input(n, 1)->type, broadcast_inputs(n));
}

/* ---- Computation. */

enum { MOST_OPERANDS = 3, LOG_HALF_ZERO = -45440 };

/* What float32 reads of a subnormal: in the worst case nothing. */
static double operand(const elementwise *e, uint32_t type, double v) {
  if (e->flags & COPIES || type != FLOAT32 || !worst_case()) return v;
  return fabs(v) < FLT_MIN ? copysign(0, v) : v;
}

/* What others have measured of halves, in the worst case: zeros lose their sign, log(0) is finite. */
static double half_result(const elementwise *e, double x, double v) {
  if (!worst_case()) return v;
  if (e->real == logarithm_real && x == 0) return LOG_HALF_ZERO;
  return v == 0 ? 0 : v;
}

static cell apply_whole(const elementwise *e, uint32_t type, const cell *operands, int count) {
  int64_t x[MOST_OPERANDS];
  for (int i = 0; i < count; i++) x[i] = operands[i].whole;
  return type_round(e->flags & ANSWERS ? BOOL8 : type, (cell){.whole = e->whole(x)});
}

static cell apply_real(const elementwise *e, uint32_t type, const cell *operands, int count) {
  double x[MOST_OPERANDS];
  for (int i = 0; i < count; i++) x[i] = operand(e, type, operands[i].real);
  if (e->flags & ANSWERS) return (cell){.whole = e->test(x)};
  double v = e->real(x), ulps = e->ulps > 1 && type != FLOAT32 ? 1 : e->ulps;
  if (e->flags & COPIES) return (cell){.real = v};
  if (type == FLOAT16) v = half_result(e, x[0], v);
  return type_round(type, (cell){.real = type_perturb(type, v, ulps)});
}

/* What reads the elements that an element of the output depends on. */
typedef struct {
  const value *in;
  int count;
  const shape *shape;
  bool same[MOST_OPERANDS];
  int64_t strides[MOST_OPERANDS][MOST_AXES];
} reader;

static reader reader_of(const value *in, int count, const shape *s) {
  reader r = {.in = in, .count = count, .shape = s};
  for (int i = 0; i < count; i++) {
    r.same[i] = shape_equal(&in[i].form.shape, s);
    shape_spread(&in[i].form.shape, s, r.strides[i]);
  }
  return r;
}

static void reader_get(const reader *r, int64_t number, cell *x) {
  for (int i = 0; i < r->count; i++)
    x[i] = r->in[i].cells[r->same[i] ? number : shape_offset(r->shape, number, r->strides[i])];
}

/* A kernel that MPSGraph makes of several operators may round x * y + z once. The product that is not rounded
 * goes along with the one that is; of two products, one is rounded. */
static void keep_exact(const elementwise *e, const reader *r, value *out) {
  cell x[MOST_OPERANDS];
  if (e->real != multiply_real && e->real != square_real) return;
  out->exact = malloc((size_t)out->count * sizeof *out->exact);
  for (int64_t i = 0; i < out->count; i++) {
    reader_get(r, i, x);
    double a = operand(e, FLOAT32, x[0].real);
    out->exact[i] = a * (e->real == square_real ? a : operand(e, FLOAT32, x[1].real));
  }
}

/* fused is the operand of a sum or difference that is not rounded, -1 for none. */
static int fused(const node *n, const value *in) {
  const elementwise *e = row_of(n);
  if (e->real != add_real && e->real != subtract_real) return -1;
  int first = (int)(((uint64_t)n->out[0]->number + random_seed()) & 1);
  for (int k = 0; k < 2; k++)
    if (in[first ^ k].exact) return first ^ k;
  return -1;
}

static void compute_fused(const node *n, const value *in, value *out, const reader *r, int k) {
  const elementwise *e = row_of(n);
  const value *product = &in[k];
  cell x[MOST_OPERANDS];
  for (int64_t i = 0; i < out->count; i++) {
    reader_get(r, i, x);
    double terms[2] = {operand(e, FLOAT32, x[0].real), operand(e, FLOAT32, x[1].real)};
    terms[k] = product->exact[r->same[k] ? i : shape_offset(r->shape, i, r->strides[k])];
    out->cells[i] = type_round(FLOAT32, (cell){.real = e->real(terms)});
  }
}

static void compute_elementwise(const node *n, const value *in, value *out) {
  reader r = reader_of(in, n->ins, &out->form.shape);
  uint32_t type = in[0].form.type;
  cell (*apply)(const elementwise *, uint32_t, const cell *, int) = type_is_real(type) ? apply_real : apply_whole;
  cell x[MOST_OPERANDS];
  int product = -1;
  if (type == FLOAT32 && harsh(GRAPH_FUSION)) keep_exact(row_of(n), &r, out), product = fused(n, in);
  if (product >= 0) return compute_fused(n, in, out, &r, product);
  for (int64_t i = 0; i < out->count; i++) {
    reader_get(&r, i, x);
    out->cells[i] = apply(row_of(n), type, x, n->ins);
  }
}

static void compute_select(const node *n, const value *in, value *out) {
  reader r = reader_of(in, n->ins, &out->form.shape);
  cell x[MOST_OPERANDS];
  for (int64_t i = 0; i < out->count; i++) {
    reader_get(&r, i, x);
    out->cells[i] = x[0].whole ? x[1] : x[2];
    if (planted(SELECT_NAN) && type_is_real(out->form.type) && isnan(out->cells[i].real)) out->cells[i] = x[0].whole ? x[2] : x[1];
  }
}

/* ---- Methods. */

static id unary(id self, SEL cmd, id x, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x);
  return node_end(n);
}

static id binary(id self, SEL cmd, id x, id y, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), node_input(n, y);
  return node_end(n);
}

static id ternary(id self, SEL cmd, id x, id y, id z, id name) {
  node *n = node_begin(self, cmd, name);
  node_input(n, x), node_input(n, y), node_input(n, z);
  return node_end(n);
}

#define ROW(selector, method) {selector, (IMP)(method), infer_elementwise, compute_elementwise, false}
#define UNARY(name) ROW(name "WithTensor:name:", unary)
#define BINARY(name) ROW(name "WithPrimaryTensor:secondaryTensor:name:", binary)

static const elementwise rows[] = {
    {BINARY("addition"), 0, add_real, add_whole, NULL, 0},
    {BINARY("subtraction"), 0, subtract_real, subtract_whole, NULL, 0},
    {BINARY("multiplication"), 0, multiply_real, multiply_whole, NULL, 0},
    {BINARY("division"), 0, divide_real, divide_whole, NULL, 0},
    {BINARY("divisionNoNaN"), 0, divide_no_nan_real, divide_no_nan_whole, NULL, 0},
    {BINARY("power"), 0, power_real, power_whole, NULL, 16},
    {BINARY("modulo"), COPIES, modulo_real, modulo_whole, NULL, 0},
    {BINARY("floorModulo"), COPIES, floor_modulo_real, floor_modulo_whole, NULL, 0},
    {BINARY("atan2"), 0, atan2_real, NULL, NULL, 6},
    {BINARY("minimum"), COPIES, minimum_real, minimum_whole, NULL, 0},
    {BINARY("maximum"), COPIES, maximum_real, maximum_whole, NULL, 0},
    {BINARY("minimumWithNaNPropagation"), COPIES | NO_HALF, minimum_nan_real, NULL, NULL, 0},
    {BINARY("maximumWithNaNPropagation"), COPIES | NO_HALF, maximum_nan_real, NULL, NULL, 0},

    {UNARY("negative"), COPIES, negative_real, negative_whole, NULL, 0},
    {UNARY("absolute"), COPIES, absolute_real, absolute_whole, NULL, 0},
    {UNARY("sign"), 0, sign_real, sign_whole, NULL, 0},
    {UNARY("reciprocal"), 0, reciprocal_real, NULL, NULL, 0},
    {UNARY("square"), 0, square_real, square_whole, NULL, 0},
    {UNARY("squareRoot"), 0, square_root_real, NULL, NULL, 0},
    {UNARY("reverseSquareRoot"), 0, reverse_square_root_real, NULL, NULL, 2},
    {UNARY("reciprocalSquareRoot"), 0, reverse_square_root_real, NULL, NULL, 2},
    {UNARY("exponent"), 0, exponent_real, NULL, NULL, 4},
    {UNARY("exponentBase2"), 0, exponent2_real, NULL, NULL, 4},
    {UNARY("exponentBase10"), 0, exponent10_real, NULL, NULL, 4},
    {UNARY("logarithm"), 0, logarithm_real, NULL, NULL, 4},
    {UNARY("logarithmBase2"), 0, logarithm2_real, NULL, NULL, 4},
    {UNARY("logarithmBase10"), 0, logarithm10_real, NULL, NULL, 4},
    {UNARY("erf"), 0, erf_real, NULL, NULL, 2},
    {UNARY("sin"), 0, sin_real, NULL, NULL, 4},
    {UNARY("cos"), 0, cos_real, NULL, NULL, 4},
    {UNARY("tan"), 0, tan_real, NULL, NULL, 6},
    {UNARY("sinh"), 0, sinh_real, NULL, NULL, 4},
    {UNARY("cosh"), 0, cosh_real, NULL, NULL, 4},
    {UNARY("tanh"), 0, tanh_real, NULL, NULL, 5},
    {UNARY("asin"), 0, asin_real, NULL, NULL, 4},
    {UNARY("acos"), 0, acos_real, NULL, NULL, 4},
    {UNARY("atan"), 0, atan_real, NULL, NULL, 5},
    {UNARY("asinh"), 0, asinh_real, NULL, NULL, 4},
    {UNARY("acosh"), 0, acosh_real, NULL, NULL, 4},
    {UNARY("atanh"), 0, atanh_real, NULL, NULL, 5},
    {UNARY("floor"), 0, floor_real, identity_whole, NULL, 0},
    {UNARY("ceil"), 0, ceil_real, identity_whole, NULL, 0},
    {UNARY("round"), COPIES, round_real, identity_whole, NULL, 0},
    {UNARY("rint"), 0, rint_real, identity_whole, NULL, 0},
    {UNARY("truncate"), 0, truncate_real, identity_whole, NULL, 0},
    {UNARY("identity"), COPIES | TRUTHS, identity_real, identity_whole, NULL, 0},
    {UNARY("reLU"), 0, relu_real, relu_whole, NULL, 0},
    {UNARY("sigmoid"), 0, sigmoid_real, NULL, NULL, 5},
    {ROW("leakyReLUWithTensor:alphaTensor:name:", binary), 0, leaky_relu_real, NULL, NULL, 0},
    {ROW("reLUGradientWithIncomingGradient:sourceTensor:name:", binary), 0, relu_gradient_real, NULL, NULL, 0},
    {ROW("sigmoidGradientWithIncomingGradient:sourceTensor:name:", binary), 0, sigmoid_gradient_real, NULL, NULL, 8},

    {BINARY("equal"), ANSWERS | TRUTHS, NULL, equal_whole, equal_test, 0},
    {BINARY("notEqual"), ANSWERS | TRUTHS, NULL, not_equal_whole, not_equal_test, 0},
    {BINARY("lessThan"), ANSWERS | TRUTHS, NULL, less_whole, less_test, 0},
    {BINARY("lessThanOrEqualTo"), ANSWERS | TRUTHS, NULL, less_equal_whole, less_equal_test, 0},
    {BINARY("greaterThan"), ANSWERS | TRUTHS, NULL, greater_whole, greater_test, 0},
    {BINARY("greaterThanOrEqualTo"), ANSWERS | TRUTHS, NULL, greater_equal_whole, greater_equal_test, 0},
    {UNARY("isNaN"), ANSWERS, NULL, NULL, is_nan_test, 0},
    {UNARY("isInfinite"), ANSWERS, NULL, NULL, is_infinite_test, 0},
    {UNARY("isFinite"), ANSWERS, NULL, NULL, is_finite_test, 0},

    {BINARY("logicalAND"), TRUTHS, and_real, and_whole, NULL, 0},
    {BINARY("logicalOR"), TRUTHS, or_real, or_whole, NULL, 0},
    {BINARY("logicalXOR"), TRUTHS, xor_real, xor_whole, NULL, 0},
    {BINARY("logicalNAND"), TRUTHS, nand_real, nand_whole, NULL, 0},
    {BINARY("logicalNOR"), TRUTHS, nor_real, nor_whole, NULL, 0},
    {BINARY("logicalXNOR"), TRUTHS, xnor_real, xnor_whole, NULL, 0},
    {UNARY("not"), TRUTHS, not_real, not_whole, NULL, 0},
    {UNARY("signbit"), 0, signbit_real, signbit_whole, NULL, 0},

    {BINARY("bitwiseAND"), TRUTHS, NULL, bits_and, NULL, 0},
    {BINARY("bitwiseOR"), TRUTHS, NULL, bits_or, NULL, 0},
    {BINARY("bitwiseXOR"), TRUTHS, NULL, bits_xor, NULL, 0},
    {UNARY("bitwiseNOT"), 0, NULL, bits_not, NULL, 0},
    {BINARY("bitwiseLeftShift"), 0, NULL, shift_left, NULL, 0},
    {BINARY("bitwiseRightShift"), 0, NULL, shift_right, NULL, 0},

    {ROW("clampWithTensor:minValueTensor:maxValueTensor:name:", ternary), COPIES, clamp_real, clamp_whole, NULL, 0},
};

static const operator others[] = {
    {"selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name:", (IMP)ternary, infer_select, compute_select, false},
};

void elementwise_operators(void) {
  OPERATORS(rows);
  OPERATORS(others);
}
