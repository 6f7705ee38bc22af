/* operators.c - finding and calling operators, and what is wrong with a call. */
#include "check.h"
#include "suite.h"

static void operators_are_found(void) {
  pmps_op op = 0;
  OK(pmps_op_find("add", &op));
  EXPECT(op == PMPS_OP_ADD);
  EXPECT(strcmp(pmps_op_name(op), "add") == 0);
  EXPECT(strcmp(pmps_op_signature(op), "add(x, y) -> tensor") == 0);
  EXPECT(pmps_op_signature(op) == pmps_op_signature(op)); /* the same memory for ever */
  OK(pmps_op_find("softmax", &op));
  EXPECT(strcmp(pmps_op_signature(op), "softmax(x, axis: int = -1) -> tensor") == 0);
  EXPECT(strncmp(pmps_op_signature(PMPS_OP_CONCAT), "concat(*x, axis: int = 0)", 25) == 0);
  FAILS(pmps_op_find("ADD", &op), PMPS_NOT_FOUND, "\"ADD\"");
  FAILS(pmps_op_find("", &op), PMPS_NOT_FOUND, "");
  FAILS(pmps_op_find(NULL, &op), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_op_find("add", NULL), PMPS_INVALID_ARGUMENT, "null");
  const pmps_op unknown[] = {0, 0xFFFF, 0x10000 + PMPS_OP_ADD, UINT32_MAX};
  for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++) {
    EXPECT(pmps_op_name(unknown[i]) == NULL && pmps_op_signature(unknown[i]) == NULL);
  }
}

static void operators_compute(void) {
  const pmps_place *places[] = {&cpu, &mps};
  for (int i = 0; i < (has_mps() ? 2 : 1); i++) {
    pmps_tensor *x = ramp(places[i], 5), *y = apply(PMPS_OP_MULTIPLY, x, x), *z = apply(PMPS_OP_NEG, y, NULL);
    float out[5];
    OK(pmps_tensor_read(z, out, sizeof out));
    for (int k = 0; k < 5; k++) EXPECT(out[k] == (float)(-k * k));
    pmps_tensor_free(x);
    pmps_tensor_free(y);
    pmps_tensor_free(z);
  }
}

static void scalars_are_operands(void) {
  pmps_tensor *x = ramp(&cpu, 3), *y = NULL;
  const pmps_arg args[] = {of_float(10), of_tensor(x)};
  size_t count = 1;
  OK(pmps_op_call(PMPS_OP_SUBTRACT, args, 2, NULL, 0, &y, &count));
  float out[3];
  OK(pmps_tensor_read(y, out, sizeof out));
  EXPECT(count == 1 && out[0] == 10 && out[2] == 8);
  pmps_tensor_free(x);
  pmps_tensor_free(y);
}

static void attributes_go_by_name(void) {
  pmps_tensor *x = ramp(&cpu, 6), *parts[3] = {NULL, NULL, NULL}, *matrix = NULL;
  const int64_t shape[] = {2, 3}, sections[] = {1, 3, 2};
  pmps_arg arg = of_tensor(x);
  pmps_attr attr = ints_attr("shape", shape, 2);
  size_t count = 1;
  OK(pmps_op_call(PMPS_OP_RESHAPE, &arg, 1, &attr, 1, &matrix, &count));
  pmps_tensor_info info = {.struct_size = sizeof info};
  OK(pmps_tensor_get_info(matrix, &info));
  EXPECT(info.rank == 2 && info.dims[0] == 2 && info.dims[1] == 3);

  const pmps_attr split[] = {ints_attr("sections", sections, 3), int_attr("axis", 0)};
  count = 2;
  FAILS(pmps_op_call(PMPS_OP_SPLIT, &arg, 1, split, 2, parts, &count), PMPS_INVALID_ARGUMENT, "makes 3 tensors");
  EXPECT(count == 2 && !parts[0]);
  count = 3;
  OK(pmps_op_call(PMPS_OP_SPLIT, &arg, 1, split, 2, parts, &count));
  EXPECT(count == 3 && first(parts[1]) == 1 && first(parts[2]) == 4);
  for (int i = 0; i < 3; i++) pmps_tensor_free(parts[i]);
  pmps_tensor_free(matrix);
  pmps_tensor_free(x);
}

static void bad_attributes_are_refused(void) {
  pmps_tensor *x = ramp(&cpu, 6), *y = NULL;
  const pmps_arg arg = of_tensor(x);
  static char endless[5000];
  memset(endless, 'a', sizeof endless);
  size_t count = 1;
  pmps_attr attr = int_attr("axes", 0), two[] = {int_attr("axis", 0), int_attr("axis", 0)};
#define SOFTMAX(attrs, n) pmps_op_call(PMPS_OP_SOFTMAX, &arg, 1, attrs, n, &y, &count)
  FAILS(SOFTMAX(&attr, 1), PMPS_NOT_FOUND, "[softmax] has no attribute \"axes\"; want axis");
  FAILS(SOFTMAX(two, 2), PMPS_INVALID_ARGUMENT, "twice");
  attr.name = endless;
  FAILS(SOFTMAX(&attr, 1), PMPS_INVALID_ARGUMENT, "attribute 0 is null or has no zero within 4096 bytes");
  attr.name = NULL;
  FAILS(SOFTMAX(&attr, 1), PMPS_INVALID_ARGUMENT, "attribute 0 is null");
  attr = int_attr("coordinate_transformation_mode", 0); /* names of any length */
  FAILS(SOFTMAX(&attr, 1), PMPS_NOT_FOUND, "no attribute \"coordinate_transformation_mode\"");
  attr = int_attr("axis", 0);
  attr.reserved = 1;
  FAILS(SOFTMAX(&attr, 1), PMPS_INVALID_ARGUMENT, "reserved");
  attr = int_attr("axis", 0);
  attr.kind = 77;
  FAILS(SOFTMAX(&attr, 1), PMPS_TYPE_MISMATCH, "kind 77");
  attr = ints_attr("axis", NULL, 3);
  FAILS(SOFTMAX(&attr, 1), PMPS_INVALID_ARGUMENT, "null");
  attr.count = -1;
  FAILS(SOFTMAX(&attr, 1), PMPS_INVALID_ARGUMENT, "at most");
  attr.kind = PMPS_ATTR_FLOAT;
  FAILS(SOFTMAX(&attr, 1), PMPS_TYPE_MISMATCH, "axis");
  FAILS(SOFTMAX(NULL, 1), PMPS_INVALID_ARGUMENT, "null");
  FAILS(SOFTMAX(&attr, SIZE_MAX), PMPS_INVALID_ARGUMENT, "at most");
  attr = int_attr("axis", 5);
  FAILS(SOFTMAX(&attr, 1), PMPS_INVALID_ARGUMENT, "axis 5");
  attr.kind = PMPS_ATTR_NONE; /* as if it were absent */
  OK(SOFTMAX(&attr, 1));
#undef SOFTMAX
  pmps_tensor_free(y);
  pmps_tensor_free(x);
}

/* No operator takes these kinds yet: what is wrong with a value comes before what the operator wants. */
static void attributes_of_further_kinds(void) {
  pmps_tensor *x = ramp(&cpu, 6), *y = NULL;
  const pmps_arg arg = of_tensor(x);
  const double floats[] = {1, 2};
  const char *const texts[] = {"a", "\xc3\xbc"}, *const broken[] = {"a", NULL}, *const bytes[] = {"\xff"};
  size_t count = 1;
  pmps_attr attr = {.name = "axis"};
#define KIND(k, member, address, n) (attr.kind = (k), attr.value.member = (address), attr.count = (n), pmps_op_call(PMPS_OP_SOFTMAX, &arg, 1, &attr, 1, &y, &count))
  FAILS(KIND(PMPS_ATTR_STRING, string, "0", 1), PMPS_TYPE_MISMATCH, "axis is a string; want int");
  FAILS(KIND(PMPS_ATTR_STRING, string, NULL, 1), PMPS_INVALID_ARGUMENT, "null");
  FAILS(KIND(PMPS_ATTR_STRING, string, "\xff", 1), PMPS_INVALID_ARGUMENT, "UTF-8");
  FAILS(KIND(PMPS_ATTR_STRING, string, "0", -1), PMPS_INVALID_ARGUMENT, "at most");
  FAILS(KIND(PMPS_ATTR_FLOATS, floats, floats, 2), PMPS_TYPE_MISMATCH, "axis is a list of floats; want int");
  FAILS(KIND(PMPS_ATTR_FLOATS, floats, NULL, 2), PMPS_INVALID_ARGUMENT, "null");
  FAILS(KIND(PMPS_ATTR_STRINGS, strings, texts, 2), PMPS_TYPE_MISMATCH, "axis is a list of strings; want int");
  FAILS(KIND(PMPS_ATTR_STRINGS, strings, broken, 2), PMPS_INVALID_ARGUMENT, "text 1 of an attribute is null");
  FAILS(KIND(PMPS_ATTR_STRINGS, strings, bytes, 1), PMPS_INVALID_ARGUMENT, "UTF-8");
  FAILS(KIND(PMPS_ATTR_TENSOR, tensor, x, 0), PMPS_TYPE_MISMATCH, "axis is a tensor; want int");
  FAILS(KIND(PMPS_ATTR_TENSOR, tensor, NULL, 0), PMPS_INVALID_HANDLE, "an attribute is null");
  FAILS(KIND(PMPS_ATTR_GRAPH, i, 0, 0), PMPS_UNSUPPORTED, "graph");
  FAILS(KIND(11, i, 0, 0), PMPS_TYPE_MISMATCH, "kind 11");
#undef KIND
  pmps_tensor_free(x);
  EXPECT(pmps_live_handles() == 0); /* a tensor that was an attribute is not held any more */
}

static void bad_operands_are_refused(void) {
  pmps_tensor *const untouched = (pmps_tensor *)(uintptr_t)77;
  pmps_tensor *x = ramp(&cpu, 6), *odd = ramp(&cpu, 5), *y = untouched;
  pmps_arg args[3] = {of_tensor(x), of_tensor(odd), of_tensor(x)};
  size_t count = 1;
#define ADD(args, n) pmps_op_call(PMPS_OP_ADD, args, n, NULL, 0, &y, &count)
  FAILS(ADD(args, 2), PMPS_INVALID_ARGUMENT, "[add] shapes [6] and [5] do not broadcast");
  FAILS(ADD(args, 1), PMPS_INVALID_ARGUMENT, "operand y is missing");
  FAILS(ADD(args, 0), PMPS_INVALID_ARGUMENT, "operand x is missing");
  FAILS(ADD(args, 3), PMPS_INVALID_ARGUMENT, "got 3 operands; want 2");
  FAILS(ADD(NULL, 2), PMPS_INVALID_ARGUMENT, "null");
  FAILS(ADD(args, SIZE_MAX), PMPS_INVALID_ARGUMENT, "at most");
  args[1] = of_tensor(NULL);
  FAILS(ADD(args, 2), PMPS_INVALID_HANDLE, "[add] operand 1 (y)");
  args[1].kind = 9;
  FAILS(ADD(args, 2), PMPS_TYPE_MISMATCH, "kind 9");
  args[1].reserved = 1; /* a newer program's, with a meaning that is not known here */
  FAILS(ADD(args, 2), PMPS_INVALID_ARGUMENT, "reserved");
#undef ADD
  args[1] = of_tensor(x);
  FAILS(pmps_op_call(9999, args, 2, NULL, 0, &y, &count), PMPS_NOT_FOUND, "9999");
  FAILS(pmps_op_call(PMPS_OP_ADD, args, 2, NULL, 0, NULL, &count), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_op_call(PMPS_OP_ADD, args, 2, NULL, 0, &y, NULL), PMPS_INVALID_ARGUMENT, "null");
  count = 0;
  FAILS(pmps_op_call(PMPS_OP_ADD, args, 2, NULL, 0, &y, &count), PMPS_INVALID_ARGUMENT, "room");
  EXPECT(y == untouched && count == 0);
  pmps_tensor_free(x);
  pmps_tensor_free(odd);
}

static void creation_needs_a_place(void) {
  const pmps_place *place = has_mps() ? &mps : &cpu;
  const int64_t shape[] = {2, 2};
  pmps_attr attrs[] = {ints_attr("shape", shape, 2), int_attr("fill_value", 7), int_attr("dtype", PMPS_FLOAT32)};
  attrs[2].kind = PMPS_ATTR_DTYPE;
  pmps_tensor *full = NULL;
  size_t count = 1;
  OK(pmps_op_call_on(place, PMPS_OP_FULL, NULL, 0, attrs, 3, &full, &count));
  pmps_tensor_info info = {.struct_size = sizeof info};
  OK(pmps_tensor_get_info(full, &info));
  EXPECT(info.place.kind == place->kind && info.numel == 4 && first(full) == 7);
  pmps_tensor_free(full);
  const pmps_place nowhere = {PMPS_MPS, 9};
  FAILS(pmps_op_call_on(&nowhere, PMPS_OP_FULL, NULL, 0, attrs, 3, &full, &count), PMPS_UNAVAILABLE, "mps");
}

static void outputs_may_be_given(void) {
  pmps_tensor *x = ramp(&cpu, 4), *short_one = ramp(&cpu, 3);
  pmps_arg args[] = {of_tensor(x), of_float(1)};
  OK(pmps_op_call_into(PMPS_OP_ADD, args, 2, NULL, 0, x));
  float out[4];
  OK(pmps_tensor_read(x, out, sizeof out));
  EXPECT(out[0] == 1 && out[3] == 4);
  FAILS(pmps_op_call_into(PMPS_OP_ADD, args, 2, NULL, 0, short_one), PMPS_INVALID_ARGUMENT, "output");
  FAILS(pmps_op_call_into(PMPS_OP_ADD, args, 2, NULL, 0, NULL), PMPS_INVALID_HANDLE, "tensor");
  pmps_tensor_free(x);
  pmps_tensor_free(short_one);
}

void operators_suite(void) {
  RUN(operators_are_found);
  RUN(operators_compute);
  RUN(scalars_are_operands);
  RUN(attributes_go_by_name);
  RUN(bad_attributes_are_refused);
  RUN(attributes_of_further_kinds);
  RUN(bad_operands_are_refused);
  RUN(creation_needs_a_place);
  RUN(outputs_may_be_given);
}
