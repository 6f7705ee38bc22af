/*
 * errors.c - every failure is a value with a code and a message; it changes nothing, and the program goes on.
 */
#include "must.h"

/* Says what an error is, frees it, and whether it was the expected one. */
static int expected(pmps_error *error, pmps_code code) {
  const int good = pmps_error_code(error) == code;
  printf("%-18s %s\n", pmps_code_name(pmps_error_code(error)), pmps_error_message(error));
  pmps_error_free(error);
  return good;
}

/* Found at the call: nothing was made. */
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
  good &= expected(try_binary(PMPS_OP_ADD, a, b, &none), PMPS_INVALID_HANDLE); /* b is gone */
  pmps_tensor_free(a);
  return good && none == NULL && op == 0;
}

/* Found while the device works: whoever reads the result is told, and so is who reads what came of it. */
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
  pmps_error_free(pmps_device_synchronize(place)); /* has the same to tell, once */
  must(pmps_device_synchronize(place));
  pmps_tensor_free(x);
  pmps_tensor_free(y);
  pmps_tensor_free(quotient);
  return good;
}

/* Memory that there is not: an answer like any other, and the next request is served. */
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
