/*
 * errors.c - every failure is an error value with a code and a message. A failed call leaves its outputs unchanged,
 * and the program can continue.
 */
#include "must.h"

/* Prints and frees an error; returns whether it has the expected code. */
static int expected(pmps_error *error, pmps_code code) {
  const int good = pmps_error_code(error) == code;
  printf("%-18s %s\n", pmps_code_name(pmps_error_code(error)), pmps_error_message(error));
  pmps_error_free(error);
  return good;
}

/* Errors detected at the call: no output is created. */
static int wrong_arguments(const pmps_place *place) {
  const int64_t four[1] = {4}, three[1] = {3}, negative[1] = {-1};
  const pmps_place nowhere = {PMPS_MPS, 99};
  pmps_tensor *a, *b, *none = NULL;
  pmps_op op = 0;
  int good = 1;
  must(pmps_tensor_empty(place, PMPS_FLOAT32, 1, four, &a));
  must(pmps_tensor_empty(place, PMPS_FLOAT32, 1, three, &b));
  good &= expected(try_binary(PMPS_OP_ADD, a, b, &none), PMPS_INVALID_ARGUMENT);
  good &= expected(pmps_tensor_empty(place, PMPS_FLOAT32, 1, negative, &none), PMPS_INVALID_ARGUMENT);
  good &= expected(pmps_tensor_empty(&nowhere, PMPS_FLOAT32, 1, four, &none), PMPS_UNAVAILABLE);
  good &= expected(pmps_op_find("ad", &op), PMPS_NOT_FOUND);
  pmps_tensor_free(b);
  good &= expected(try_binary(PMPS_OP_ADD, a, b, &none), PMPS_INVALID_HANDLE); /* b was freed */
  pmps_tensor_free(a);
  return good && none == NULL && op == 0;
}

/* Errors detected on the device: reading the result, or anything computed from it, returns the error. */
static int wrong_values(const pmps_place *place) {
  const int64_t dims[1] = {2};
  const int32_t tens[2] = {10, 10}, divisors[2] = {5, 0};
  int32_t out[2] = {7, 7};
  pmps_tensor *x, *y, *quotient = NULL;
  pmps_error *error;
  int good;
  must(pmps_tensor_from_host(place, PMPS_INT32, 1, dims, tens, &x));
  must(pmps_tensor_from_host(place, PMPS_INT32, 1, dims, divisors, &y));
  error = try_binary(PMPS_OP_FLOOR_DIVIDE, x, y, &quotient);
  if (!error) error = pmps_tensor_read(quotient, out, sizeof out);
  good = expected(error, PMPS_ARITHMETIC) && out[0] == 7 && out[1] == 7;
  pmps_error_free(pmps_device_synchronize(place)); /* reports the same error, once */
  must(pmps_device_synchronize(place));
  pmps_tensor_free(x);
  pmps_tensor_free(y);
  pmps_tensor_free(quotient);
  return good;
}

/* Out of memory is an error like any other; smaller requests still succeed. */
static int no_memory(const pmps_place *place) {
  const int64_t mebibyte[1] = {1 << 20}, too_many[1] = {1 << 30};
  pmps_tensor *small, *large = NULL;
  int good;
  must(pmps_memory_set_limit(place, 64 << 20));
  good = expected(pmps_tensor_empty(place, PMPS_UINT8, 1, too_many, &large), PMPS_OUT_OF_MEMORY);
  must(pmps_tensor_empty(place, PMPS_UINT8, 1, mebibyte, &small));
  pmps_tensor_free(small);
  must(pmps_memory_set_limit(place, 0));
  return good && large == NULL;
}

int main(void) {
  const pmps_place place = best_place();
  int good = 1;
  must(pmps_init(PMPS_ABI_VERSION));
  good &= expected(pmps_init(PMPS_ABI_VERSION + 0x10000u), PMPS_UNSUPPORTED);
  good &= wrong_arguments(&place);
  good &= wrong_values(&place);
  good &= no_memory(&place);
  return finish(good);
}
