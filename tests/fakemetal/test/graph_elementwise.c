/*
 * graph_elementwise.c - tests of the operators that work on one element at a time: a row has the operands
 * and what comes out, worked out by hand or taken from tables of functions.
 */
#include "graph_text.h"

#define B(name) name "WithPrimaryTensor:secondaryTensor:name:"
#define U(name) name "WithTensor:name:"

static const struct {
  const char *name, *arguments, *want;
} rows[] = {
    {B("addition"), "f32 2 3: 1 2 3 4 5 6 | f32 3: 10 20 30", "f32 2 3: 11 22 33 14 25 36"},
    {B("addition"), "f32 2 1: 1 2 | f32 1 2: 10 20", "f32 2 2: 11 21 12 22"},
    {B("addition"), "f32 2: 16777216 1e38 | f32 2: 1 3e38", "f32 2: 16777216 inf"},
    {B("addition"), "f16 3: 2048 65504 1 | f16 3: 1 65504 -1", "f16 3: 2048 inf 0"},
    {B("addition"), "bf16 2: 256 1 | bf16 2: 1 2", "bf16 2: 256 3"},
    {B("addition"), "i8 2: 127 -128 | i8 2: 1 -1", "i8 2: -128 127"},
    {B("addition"), "u8 2: 255 1 | u8 2: 1 1", "u8 2: 0 2"},
    {B("addition"), "i32 1: 2147483647 | i32 1: 1", "i32 1: -2147483648"},
    {B("subtraction"), "f32 3: 1 -0 inf | f32 3: 3 0 inf", "f32 3: -2 -0 nan"},
    {B("subtraction"), "i64 2: 5 -4611686018427387904 | i64 2: 7 1", "i64 2: -2 -4611686018427387905"},
    {B("multiplication"), "f32 3: 3 -2 0 | f32 3: 4 0 inf", "f32 3: 12 -0 nan"},
    {B("multiplication"), "i16 2: 300 7 | i16 2: 300 6", "i16 2: 24464 42"},
    {B("division"), "f32 4: 1 -1 0 1 | f32 4: 0 0 0 3", "f32 4: inf -inf nan 0.333333343"},
    {B("division"), "i32 3: 7 -7 7 | i32 3: 2 2 -2", "i32 3: 3 -3 -3"},
    {B("divisionNoNaN"), "f32 3: 1 0 6 | f32 3: 0 0 4", "f32 3: 0 0 1.5"},
    {B("power"), "f32 4: 2 4 -2 0 | f32 4: 10 0.5 3 0", "f32 4: 1024 2 -8 1"},
    {B("power"), "i32 3: 3 -2 5 | i32 3: 4 5 0", "i32 3: 81 -32 1"},
    {B("modulo"), "f32 4: 7 -7 7 -7 | f32 4: 3 3 -3 -3", "f32 4: 1 -1 1 -1"},
    {B("modulo"), "i32 4: 7 -7 7 -7 | i32 4: 3 3 -3 -3", "i32 4: 1 -1 1 -1"},
    {B("floorModulo"), "f32 4: 7 -7 7 -7 | f32 4: 3 3 -3 -3", "f32 4: 1 2 -2 -1"},
    {B("floorModulo"), "i32 5: 7 -7 7 -7 5 | i32 5: 3 3 -3 -3 0", "i32 5: 1 2 -2 -1 0"},
    {B("atan2"), "f32 3: 1 -1 0 | f32 3: 1 0 -1", "f32 3: 0.785398163 -1.57079633 3.14159265"},
    {B("minimum"), "f32 3: 1 nan 2 | f32 3: nan 3 -5", "f32 3: 1 3 -5"},
    {B("maximum"), "f32 3: 1 nan 2 | f32 3: nan 3 -5", "f32 3: 1 3 2"},
    {B("minimum"), "i32 2: 1 -9 | i32 2: 0 5", "i32 2: 0 -9"},
    {B("minimumWithNaNPropagation"), "f32 3: 1 nan 2 | f32 3: nan 3 -5", "f32 3: nan nan -5"},
    {B("maximumWithNaNPropagation"), "f16 3: 1 nan 2 | f16 3: nan 3 -5", "f16 3: nan nan 2"},

    {U("negative"), "f32 3: 1 0 -inf", "f32 3: -1 -0 inf"},
    {U("negative"), "i8 2: 5 -128", "i8 2: -5 -128"},
    {U("absolute"), "f32 3: -1.5 -0 nan", "f32 3: 1.5 0 nan"},
    {U("absolute"), "i32 2: -5 5", "i32 2: 5 5"},
    {U("sign"), "f32 4: -3 0 9 nan", "f32 4: -1 0 1 0"},
    {U("sign"), "i32 3: -3 0 9", "i32 3: -1 0 1"},
    {U("reciprocal"), "f32 3: 4 0 -0", "f32 3: 0.25 inf -inf"},
    {U("square"), "f32 2: -3 1e20", "f32 2: 9 inf"},
    {U("square"), "i32 1: -4", "i32 1: 16"},
    {U("squareRoot"), "f32 4: 2 0 -0 -1", "f32 4: 1.41421356 0 -0 nan"},
    {U("reverseSquareRoot"), "f32 4: 4 0 -0 -1", "f32 4: 0.5 inf -inf nan"},
    {U("reciprocalSquareRoot"), "f32 1: 16", "f32 1: 0.25"},
    {U("exponent"), "f32 4: 0 1 -inf 89", "f32 4: 1 2.718281828 0 inf"},
    {U("exponentBase2"), "f32 3: 10 0.5 -1", "f32 3: 1024 1.41421356 0.5"},
    {U("exponentBase10"), "f32 2: 3 -1", "f32 2: 1000 0.1"},
    {U("logarithm"), "f32 4: 1 2.718281828 0 -1", "f32 4: 0 0.99999996963 -inf nan"},
    {U("logarithmBase2"), "f32 2: 1024 0.125", "f32 2: 10 -3"},
    {U("logarithmBase10"), "f32 2: 1000 0.01", "f32 2: 3 -2"},
    {U("erf"), "f32 3: 0 0.5 -2", "f32 3: 0 0.520499878 -0.995322265"},
    {U("sin"), "f32 3: 0 1 inf", "f32 3: 0 0.841470985 nan"},
    {U("cos"), "f32 2: 0 1", "f32 2: 1 0.540302306"},
    {U("tan"), "f32 2: 0 1", "f32 2: 0 1.557407725"},
    {U("sinh"), "f32 1: 1", "f32 1: 1.175201194"},
    {U("cosh"), "f32 1: 1", "f32 1: 1.543080635"},
    {U("tanh"), "f32 3: 1 inf -inf", "f32 3: 0.761594156 1 -1"},
    {U("asin"), "f32 3: 0.5 1 2", "f32 3: 0.523598776 1.570796327 nan"},
    {U("acos"), "f32 2: 0.5 1", "f32 2: 1.047197551 0"},
    {U("atan"), "f32 2: 1 inf", "f32 2: 0.785398163 1.570796327"},
    {U("asinh"), "f32 1: 1", "f32 1: 0.881373587"},
    {U("acosh"), "f32 2: 2 0", "f32 2: 1.316957897 nan"},
    {U("atanh"), "f32 2: 0.5 1", "f32 2: 0.549306144 inf"},
    {U("floor"), "f32 3: 1.5 -1.5 -0", "f32 3: 1 -2 -0"},
    {U("ceil"), "f32 3: 1.5 -1.5 -0.5", "f32 3: 2 -1 -0"},
    {U("round"), "f32 4: 0.5 1.5 2.5 -2.5", "f32 4: 1 2 3 -3"},
    {U("rint"), "f32 4: 0.5 1.5 2.5 -2.5", "f32 4: 0 2 2 -2"},
    {U("truncate"), "f32 2: 1.9 -1.9", "f32 2: 1 -1"},
    {U("floor"), "i32 2: 3 -3", "i32 2: 3 -3"},
    {U("identity"), "b 2: 1 0", "b 2: 1 0"},
    {U("reLU"), "f32 4: -1 0 2 nan", "f32 4: 0 0 2 nan"},
    {U("sigmoid"), "f32 4: 0 2 -inf inf", "f32 4: 0.5 0.880797078 0 1"},
    {"leakyReLUWithTensor:alphaTensor:name:", "f32 3: -4 0 2 | f32 1: 0.25", "f32 3: -1 0 2"},
    {"reLUGradientWithIncomingGradient:sourceTensor:name:", "f32 3: 5 6 7 | f32 3: -1 0 1", "f32 3: 0 0 7"},
    {"sigmoidGradientWithIncomingGradient:sourceTensor:name:", "f32 1: 2 | f32 1: 0", "f32 1: 0.5"},

    {B("equal"), "f32 4: 1 nan 0 2 | f32 4: 1 nan -0 3", "b 4: 1 0 1 0"},
    {B("notEqual"), "f32 3: 1 nan 2 | f32 3: 1 nan 3", "b 3: 0 1 1"},
    {B("lessThan"), "f32 3: 1 2 nan | f32 3: 2 2 2", "b 3: 1 0 0"},
    {B("lessThanOrEqualTo"), "f32 3: 1 2 nan | f32 3: 2 2 2", "b 3: 1 1 0"},
    {B("greaterThan"), "i64 3: 1 2 3 | i64 1: 2", "b 3: 0 0 1"},
    {B("greaterThanOrEqualTo"), "f16 3: 1 2 nan | f16 3: 2 2 2", "b 3: 0 1 0"},
    {B("equal"), "b 2: 1 0 | b 2: 1 1", "b 2: 1 0"},
    {U("isNaN"), "f32 3: nan inf 1", "b 3: 1 0 0"},
    {U("isInfinite"), "f32 3: nan -inf 1", "b 3: 0 1 0"},
    {U("isFinite"), "f32 3: nan inf 1", "b 3: 0 0 1"},

    {B("logicalAND"), "b 4: 0 0 1 1 | b 4: 0 1 0 1", "b 4: 0 0 0 1"},
    {B("logicalOR"), "b 4: 0 0 1 1 | b 4: 0 1 0 1", "b 4: 0 1 1 1"},
    {B("logicalXOR"), "b 4: 0 0 1 1 | b 4: 0 1 0 1", "b 4: 0 1 1 0"},
    {B("logicalNAND"), "b 4: 0 0 1 1 | b 4: 0 1 0 1", "b 4: 1 1 1 0"},
    {B("logicalNOR"), "b 4: 0 0 1 1 | b 4: 0 1 0 1", "b 4: 1 0 0 0"},
    {B("logicalXNOR"), "b 4: 0 0 1 1 | b 4: 0 1 0 1", "b 4: 1 0 0 1"},
    {B("logicalAND"), "f32 3: 2 0 nan | f32 3: 3 1 1", "f32 3: 1 0 1"},
    {B("logicalXOR"), "i32 2: 7 7 | i32 2: 3 0", "i32 2: 0 1"},
    {U("not"), "b 2: 0 1", "b 2: 1 0"},
    {U("not"), "f32 3: 0 5 nan", "f32 3: 1 0 0"},
    {U("signbit"), "f32 3: -0 1 -3", "f32 3: 1 0 1"},

    {B("bitwiseAND"), "i32 2: 12 -1 | i32 2: 10 255", "i32 2: 8 255"},
    {B("bitwiseOR"), "u8 2: 12 128 | u8 2: 10 1", "u8 2: 14 129"},
    {B("bitwiseXOR"), "i64 1: 12 | i64 1: 10", "i64 1: 6"},
    {U("bitwiseNOT"), "i32 2: 0 5", "i32 2: -1 -6"},
    {U("bitwiseNOT"), "u8 1: 5", "u8 1: 250"},
    {B("bitwiseLeftShift"), "i32 2: 3 1 | i32 2: 4 31", "i32 2: 48 -2147483648"},
    {B("bitwiseRightShift"), "i32 2: -16 16 | i32 2: 2 2", "i32 2: -4 4"},
    {B("bitwiseRightShift"), "u8 1: 240 | u8 1: 4", "u8 1: 15"},

    {"clampWithTensor:minValueTensor:maxValueTensor:name:", "f32 3: -5 0.5 9 | f32 1: 0 | f32 1: 1", "f32 3: 0 0.5 1"},
    {"clampWithTensor:minValueTensor:maxValueTensor:name:", "i32 3: -5 3 9 | i32 1: 0 | i32 1: 4", "i32 3: 0 3 4"},
    {"selectWithPredicateTensor:truePredicateTensor:falsePredicateTensor:name:", "b 2 1: 1 0 | f32 3: 1 2 3 | f32 1: 9", "f32 2 3: 1 2 3 9 9 9"},

    {"castTensor:toType:name:", "f32 5: 1.9 -1.9 300 nan -1e20 | #i32", "i32 5: 1 -1 300 0 -2147483648"},
    {"castTensor:toType:name:", "f32 3: 0 0.5 nan | #b", "b 3: 0 1 1"},
    {"castTensor:toType:name:", "f32 3: 2049 65520 1e-8 | #f16", "f16 3: 2048 inf 0"},
    {"castTensor:toType:name:", "f32 3: 1.00390625 1.01171875 5.96046448e-8 | #f16", "f16 3: 1.00390625 1.01171875 5.9604644775390625e-8"},
    {"castTensor:toType:name:", "i32 3: 257 -1 16777217 | #i8", "i8 3: 1 -1 1"},
    {"castTensor:toType:name:", "i64 1: 16777217 | #f32", "f32 1: 16777216"},
    {"castTensor:toType:name:", "b 2: 0 1 | #f32", "f32 2: 0 1"},
    {"castTensor:toType:name:", "f32 2: 257 1.00390625 | #bf16", "bf16 2: 256 1"},
    {"reinterpretCastTensor:toType:name:", "f32 2: 1 -2 | #i32", "i32 2: 1065353216 -1073741824"},
    {"reinterpretCastTensor:toType:name:", "i32 1: 1 | #u8", "u8 4: 1 0 0 0"},
};

/* What a row answers in the worst case lies within the limits that Apple documents. */
static void worst(void) {
  bool right = yields(U("exponent"), "f32 2: 1 0.5", "f32 2: 2.718281828 1.648721271", 4) && yields(U("tan"), "f32 1: 1", "f32 1: 1.557407725", 6) &&
               yields(B("addition"), "f32 2: 1 1e-39 | f32 2: 1e-7 0", "f32 2: 1.00000012 0", 0) && yields(U("absolute"), "f32 1: -1e-39", "f32 1: 1e-39", 0) &&
               yields(U("logarithm"), "f16 1: 0", "f16 1: -45440", 1) && yields(B("addition"), "f16 2: 2048 -0 | f16 2: 1 -0", "f16 2: 2050 0", 0);
  exit(!right);
}

static void inexact(void) {
  bool other = false;
  if (!freopen("/dev/null", "w", stdout)) exit(2);
  for (int i = 0; i < 20 && !other; i++) other = !yields(U("exponent"), "f32 4: 1 2 3 4", "f32 4: 2.718281828 7.389056099 20.08553692 54.59815003", 0);
  exit(!other);
}

/* 8194 * 8194 is 67141636, which float32 rounds to a number four smaller. */
static bool fuses(const char *name, const char *operands, double want) {
  text_graph g;
  open_graph(&g);
  id square = apply(&g, B("multiplication"), "f32 1: 8194 | f32 1: 8194");
  text_tensor other;
  read_tensor(operands, &other);
  id term = feed(&g, &other), first = *name == '-' ? term : square, second = *name == '-' ? square : term;
  id sum = send3(g.graph, name + (*name == '-'), first, second, NULL);
  char wanted[40];
  snprintf(wanted, sizeof wanted, "f32 1: %.9g", want);
  bool right = run_and_compare(&g, sum, wanted, 0);
  close_graph(&g);
  return right;
}

static void fused(void) {
  exit(!(fuses("subtractionWithPrimaryTensor:secondaryTensor:name:", "f32 1: 67125248", 16388) &&
         fuses("additionWithPrimaryTensor:secondaryTensor:name:", "f32 1: -67125248", 16388) &&
         fuses("-subtractionWithPrimaryTensor:secondaryTensor:name:", "f32 1: 67125248", -16388)));
}

static void separate(void) { exit(!fuses("subtractionWithPrimaryTensor:secondaryTensor:name:", "f32 1: 67125248", 16384)); }

/* product_is_nan says whether a product of ones with an inner axis of that length is wrong. */
static bool product_is_nan(int64_t rows, int64_t inner) {
  enum { FLOAT32 = 0x10000020 };
  text_graph g;
  open_graph(&g);
  id ones[2], axes = integers((const int64_t[]){0, 1}, 2);
  for (int i = 0; i < 2; i++)
    ones[i] = SEND(id, (id, SEL, double, id, uint32_t), g.graph, "constantWithScalar:shape:dataType:", 1.0,
                   integers(i ? (const int64_t[]){inner, rows} : (const int64_t[]){rows, inner}, 2), FLOAT32);
  id product = send3(g.graph, "matrixMultiplicationWithPrimaryTensor:secondaryTensor:name:", ones[0], ones[1], NULL);
  id sum = send3(g.graph, "reductionSumWithTensor:axes:name:", product, axes, NULL);
  bool right = run_and_compare(&g, sum, "f32 1 1: nan", 0);
  close_graph(&g);
  return right;
}

static void long_inner(void) {
  if (!freopen("/dev/null", "w", stdout)) exit(2); /* products that are right are named there */
  exit(!product_is_nan(16, 32767) || product_is_nan(15, 32767) || product_is_nan(16, 32766));
}

static void long_inner_without(void) {
  if (!freopen("/dev/null", "w", stdout)) exit(2);
  exit(product_is_nan(16, 32767));
}

static void naive(void) { exit(!yields(B("modulo"), "f32 2: 1e10 7 | f32 2: 3 3", "f32 2: 0 1", 0)); }

/* Fast math: 1e5 is reduced to one turn with a float of 2 pi, which is another angle. */
static void fast_math(void) {
  if (!freopen("/dev/null", "w", stdout)) exit(2); /* sines that are wrong are named there */
  exit(!(yields(U("tanh"), "f32 3: 50 -50 0.5", "f32 3: nan -1 0.4621171573", 4) && yields(U("sin"), "f32 1: 1", "f32 1: 0.8414709848", 4) &&
         !yields(U("sin"), "f32 1: 1e5", "f32 1: 0.0357487979", 64)));
}

static void no_fast_math(void) { exit(!(yields(U("tanh"), "f32 1: 50", "f32 1: 1", 0) && yields(U("sin"), "f32 1: 1e5", "f32 1: 0.0357487979", 4))); }

int main(void) {
  char title[256];
  lives("fast math breaks functions of large numbers", "FAKEMETAL_GRAPH_FAST_MATH=1", fast_math);
  lives("without it they are right", "FAKEMETAL_GRAPH_FAST_MATH=0", no_fast_math);
  lives("a product and a sum are rounded once where they are fused", "FAKEMETAL_GRAPH_FUSION=1", fused);
  lives("and twice where not", NULL, separate);
  lives("products of a long inner axis are wrong", "FAKEMETAL_GRAPH_LIMITS=1", long_inner);
  lives("but not without the limit", NULL, long_inner_without);
  lives("modulo is naive where fmod is", "FAKEMETAL_NAIVE_FMOD=1", naive);
  lives("the worst case is within the documented limits", "FAKEMETAL_WORST=1", worst);
  lives("the worst case is not exact", "FAKEMETAL_WORST=1", inexact);
  if (getenv("CHECK_ROW")) return 0;
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    snprintf(title, sizeof title, "%s of %s", rows[i].name, rows[i].arguments);
    expect(yields(rows[i].name, rows[i].arguments, rows[i].want, 0), title);
  }
  return failures() != 0;
}
