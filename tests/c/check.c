#include "check.h"

int failed_tests;
bool failing;

const pmps_place cpu = {PMPS_CPU, 0}, mps = {PMPS_MPS, 0};

void complain(const char *file, int line, const char *what) {
  failing = true;
  printf("  %s:%d: %s\n", file, line, what);
}

void expect_ok(const char *file, int line, const char *what, pmps_error *error) {
  if (!error) return;
  complain(file, line, what);
  printf("    %s: %s\n", pmps_code_name(pmps_error_code(error)), pmps_error_message(error));
  pmps_error_free(error);
}

void expect_error(const char *file, int line, const char *what, pmps_error *error, pmps_code code, const char *text) {
  pmps_code got = pmps_error_code(error);
  const char *message = pmps_error_message(error);
  if (!error || got != code || !strstr(message, text)) {
    complain(file, line, what);
    printf("    got %s: %s\n    want %s: ...%s...\n", pmps_code_name(got), message, pmps_code_name(code), text);
  }
  pmps_error_free(error);
}

void run_test(const char *name, void (*test)(void)) {
  const char *device = getenv("PADDLE_MPS_DEVICE");
  failing = false;
  test();
  failed_tests += failing;
  printf("%s %s (%s%s)\n", failing ? "FAIL" : "ok", name, device ? device : "cpu",
         getenv("PADDLE_MPS_INLINE") ? ", nothing inline" : "");
  fflush(stdout);
}

bool has_mps(void) { return pmps_device_count(PMPS_MPS) > 0; }

pmps_tensor *ramp(const pmps_place *place, int64_t n) {
  float *values = malloc((size_t)n * sizeof *values);
  for (int64_t i = 0; i < n; i++) values[i] = (float)i;
  pmps_tensor *tensor = NULL;
  OK(pmps_tensor_from_host(place, PMPS_FLOAT32, 1, &n, values, &tensor));
  free(values);
  return tensor;
}

float first(const pmps_tensor *tensor) {
  pmps_tensor *at = NULL;
  pmps_tensor_info info = {.struct_size = sizeof info};
  OK(pmps_tensor_get_info(tensor, &info));
  pmps_index zeros[PMPS_MAX_RANK];
  memset(zeros, 0, sizeof zeros);
  OK(pmps_tensor_index((pmps_tensor *)tensor, zeros, (size_t)info.rank, &at));
  float value = -1;
  OK(pmps_tensor_read(at, &value, sizeof value));
  pmps_tensor_free(at);
  return value;
}

pmps_arg of_tensor(const pmps_tensor *tensor) {
  pmps_arg arg = {PMPS_ARG_TENSOR, 0, {.tensor = tensor}};
  return arg;
}

pmps_arg of_float(double value) {
  pmps_arg arg = {PMPS_ARG_FLOAT, 0, {.f = value}};
  return arg;
}

pmps_attr int_attr(const char *name, int64_t value) {
  pmps_attr attr = {.name = name, .kind = PMPS_ATTR_INT, .value = {.i = value}};
  return attr;
}

pmps_attr ints_attr(const char *name, const int64_t *values, int64_t count) {
  pmps_attr attr = {.name = name, .kind = PMPS_ATTR_INTS, .value = {.ints = values}, .count = count};
  return attr;
}

pmps_tensor *apply(pmps_op op, const pmps_tensor *x, const pmps_tensor *y) {
  pmps_arg args[] = {of_tensor(x), of_tensor(y)};
  pmps_tensor *result = NULL;
  size_t count = 1;
  OK(pmps_op_call(op, args, y ? 2 : 1, NULL, 0, &result, &count));
  return result;
}

uint64_t bits(const void *handle) { return (uint64_t)(uintptr_t)handle; }

uint64_t fast_binary(uint64_t op, uint64_t x, uint64_t y, uint64_t release) {
  uint64_t made = pmps_fast_binary(op, x, y, release);
  while (!made) {
    pmps_error *error = pmps_fast_error();
    const bool busy = pmps_error_code(error) == PMPS_BUSY;
    pmps_error_free(error);
    if (!busy) return 0;
    while (!pmps_fast_wait(100)) continue;
    made = pmps_fast_binary(op, x, y, 0);
  }
  return made;
}
