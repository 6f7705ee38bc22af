/* fast.c - the fast family: handles in, a handle or 0 out, the error kept per thread. */
#include "check.h"
#include "suite.h"

static pmps_tensor *tensor_of(uint64_t handle) { return (pmps_tensor *)(uintptr_t)handle; }

static const pmps_place *place(void) { return has_mps() ? &mps : &cpu; }

static uint64_t float_bits(double value) {
  uint64_t b;
  memcpy(&b, &value, sizeof b);
  return b;
}

static void fast_calls_compute(void) {
  const uint64_t x = bits(ramp(place(), 3));
  uint64_t twice = pmps_fast_binary(PMPS_OP_ADD, x, x, 0);
  uint64_t y = pmps_fast_unary(PMPS_OP_NEG, twice, 0);
  EXPECT(twice && y && pmps_live_handles() == 3);
  uint64_t left = pmps_fast_scalar(PMPS_OP_SUBTRACT, x, PMPS_ARG_FLOAT + 16, float_bits(10), y);
  EXPECT(left && first(tensor_of(left)) == 10);
  FAILS(pmps_tensor_read(tensor_of(y), NULL, 0), PMPS_INVALID_HANDLE, "tensor"); /* released */
  uint64_t right = pmps_fast_scalar(PMPS_OP_SUBTRACT, x, PMPS_ARG_INT, 10, left);
  EXPECT(right && first(tensor_of(right)) == -10);
  const pmps_index last = {PMPS_INDEX_INT, 0, -1, 0, 0};
  uint64_t end = pmps_fast_index(x, &last, 1, right);
  EXPECT(end && first(tensor_of(end)) == 2);
  const pmps_arg arg = of_tensor(tensor_of(x));
  const pmps_attr axis = int_attr("axis", 0);
  uint64_t sum = pmps_fast_call(PMPS_OP_SUM, &arg, 1, &axis, 1, UINT64_MAX, end);
  EXPECT(sum && first(tensor_of(sum)) == 3);
  const int64_t dims[] = {2};
  pmps_attr full[] = {ints_attr("shape", dims, 1), int_attr("fill_value", 4), int_attr("dtype", PMPS_FLOAT32)};
  full[2].kind = PMPS_ATTR_DTYPE;
  uint64_t made = pmps_fast_call(PMPS_OP_FULL, NULL, 0, full, 3, (uint64_t)place()->kind << 32, sum);
  EXPECT(made && first(tensor_of(made)) == 4);
  EXPECT(pmps_fast_error() == NULL);
  const uint64_t rest[] = {x, made, 0, twice, x, 12345}; /* freed twice, null and foreign: no harm */
  pmps_fast_release(rest, 6);
  EXPECT(pmps_live_handles() == 0);
}

static void failures_are_kept_once(void) {
  const uint64_t x = bits(ramp(place(), 3)), odd = bits(ramp(place(), 2));
  EXPECT(pmps_fast_error() == NULL);
  EXPECT(pmps_fast_binary(PMPS_OP_ADD, x, odd, 0) == 0);
  FAILS(pmps_fast_error(), PMPS_INVALID_ARGUMENT, "do not broadcast");
  EXPECT(pmps_fast_error() == NULL);
  EXPECT(pmps_fast_unary(PMPS_OP_NEG, 0, 0) == 0); /* replaced by the next one, and not leaked */
  EXPECT(pmps_fast_binary(PMPS_OP_ADD, x, 99, 0) == 0);
  FAILS(pmps_fast_error(), PMPS_INVALID_HANDLE, "[add] operand 1 (y)");
  EXPECT(pmps_fast_binary(UINT64_MAX, x, x, 0) == 0);
  FAILS(pmps_fast_error(), PMPS_NOT_FOUND, "no operator");
  EXPECT(pmps_fast_binary(0x10000 + PMPS_OP_ADD, x, x, 0) == 0);
  FAILS(pmps_fast_error(), PMPS_NOT_FOUND, "no operator");
  EXPECT(pmps_fast_scalar(PMPS_OP_ADD, x, 9, 0, 0) == 0);
  FAILS(pmps_fast_error(), PMPS_TYPE_MISMATCH, "kind 9");
  EXPECT(pmps_fast_scalar(PMPS_OP_ADD, x, PMPS_ARG_TENSOR, x, 0) == 0);
  FAILS(pmps_fast_error(), PMPS_TYPE_MISMATCH, "kind 1");
  EXPECT(pmps_fast_unary(PMPS_OP_ADD, x, 0) == 0);
  FAILS(pmps_fast_error(), PMPS_INVALID_ARGUMENT, "operand");
  EXPECT(pmps_fast_index(x, NULL, 1, 0) == 0);
  FAILS(pmps_fast_error(), PMPS_INVALID_ARGUMENT, "null");
  EXPECT(pmps_fast_call(PMPS_OP_NEG, NULL, 0, NULL, 0, (uint64_t)PMPS_MPS << 32 | 9, 0) == 0);
  FAILS(pmps_fast_error(), PMPS_UNAVAILABLE, "mps");
  const int64_t sections[] = {1, 1, 1};
  const pmps_attr split = ints_attr("sections", sections, 3);
  const pmps_arg arg = of_tensor(tensor_of(x));
  EXPECT(pmps_fast_call(PMPS_OP_SPLIT, &arg, 1, &split, 1, UINT64_MAX, 0) == 0);
  FAILS(pmps_fast_error(), PMPS_INVALID_ARGUMENT, "makes 3 tensors");
  pmps_fast_release(NULL, 3);
  for (uint64_t count = 1 << 16; count; count <<= 1) pmps_fast_release(&x, count + 1); /* not read, and not freed */
  EXPECT(pmps_live_handles() == 2);
  const uint64_t both[] = {x, odd};
  pmps_fast_release(both, 2);
  EXPECT(pmps_live_handles() == 0);
}

/* The functions for an interpreter are tested with one; this is what a program of another version meets. */
static void interpreters_state_their_version(void) {
  pmps_python_api api;
  pmps_python_entries entries;
  memset(&api, 0, sizeof api);
  memset(&entries, 0, sizeof entries);
  EXPECT(!pmps_python_init(NULL, &entries) && !pmps_python_init(&api, NULL) && !pmps_python_init(&api, &entries));
  api.struct_size = sizeof api - sizeof(void *);
  EXPECT(!pmps_python_init(&api, &entries) && !entries.context && !entries.call);
  api.struct_size = sizeof api;
  EXPECT(pmps_python_init(&api, &entries) && entries.context && entries.call && entries.free);
}

/* The handle to release goes first, whatever becomes of the call. */
static void release_comes_first(void) {
  const uint64_t x = bits(ramp(place(), 3));
  EXPECT(pmps_fast_unary(PMPS_OP_NEG, x, x) == 0);
  FAILS(pmps_fast_error(), PMPS_INVALID_HANDLE, "operand 0 (x)");
  EXPECT(pmps_live_handles() == 0);
}

void fast_suite(void) {
  RUN(fast_calls_compute);
  RUN(failures_are_kept_once);
  RUN(release_comes_first);
  RUN(interpreters_state_their_version);
}
