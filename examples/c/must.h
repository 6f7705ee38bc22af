/* must.h - helper functions of the examples. */
#ifndef MUST_H
#define MUST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paddlemps.h"

/* Every fallible call returns an error, or NULL on success. These programs exit at an unexpected error. */
static inline void must(pmps_error *error) {
  if (!error) return;
  fprintf(stderr, "%s: %s\n", pmps_code_name(pmps_error_code(error)), pmps_error_message(error));
  pmps_error_free(error);
  exit(1);
}

/* Returns the first mps device, or the CPU if there is none. */
static inline pmps_place best_place(void) {
  const pmps_place place = {pmps_device_count(PMPS_MPS) > 0 ? PMPS_MPS : PMPS_CPU, 0};
  return place;
}

static inline pmps_arg tensor_arg(const pmps_tensor *tensor) {
  pmps_arg arg;
  memset(&arg, 0, sizeof arg);
  arg.kind = PMPS_ARG_TENSOR;
  arg.value.tensor = tensor;
  return arg;
}

/* Calls an operator of two tensors and returns its error. */
static inline pmps_error *try_binary(pmps_op op, const pmps_tensor *x, const pmps_tensor *y, pmps_tensor **result) {
  pmps_arg args[2];
  size_t count = 1;
  args[0] = tensor_arg(x);
  args[1] = tensor_arg(y);
  return pmps_op_call(op, args, 2, NULL, 0, result, &count);
}

static inline pmps_tensor *binary(pmps_op op, const pmps_tensor *x, const pmps_tensor *y) {
  pmps_tensor *result = NULL;
  must(try_binary(op, x, y, &result));
  return result;
}

/* Returns the exit status: 0 if all checks passed and no handle leaked. */
static inline int finish(int good) {
  if (pmps_live_handles() != 0) fprintf(stderr, "%lld handles are left\n", (long long)pmps_live_handles());
  if (!good) fputs("that is not what it should be\n", stderr);
  return good && pmps_live_handles() == 0 ? 0 : 1;
}

#endif
