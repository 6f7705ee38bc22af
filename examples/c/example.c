/*
 * example.c - the C interface on one page: subtracts the mean of each row of a small picture. It shows a tensor over
 * memory owned by the program, operators by name and by number, memory statistics, error handling, and that tensors
 * can be freed in any order.
 *
 * README.md in this folder describes how to compile it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "paddlemps.h"

enum { ROWS = 4, COLUMNS = 6 };

/* Every fallible call returns an error, or NULL on success. This program exits at an unexpected error. */
static void must(pmps_error *error) {
  if (!error) return;
  fprintf(stderr, "%s: %s\n", pmps_code_name(pmps_error_code(error)), pmps_error_message(error));
  pmps_error_free(error);
  exit(1);
}

static pmps_arg tensor_arg(const pmps_tensor *tensor) {
  pmps_arg arg;
  memset(&arg, 0, sizeof arg);
  arg.kind = PMPS_ARG_TENSOR;
  arg.value.tensor = tensor;
  return arg;
}

/* Calls an operator with one or two tensors (y may be NULL). The caller owns the result. */
static pmps_tensor *call(pmps_op op, const pmps_tensor *x, const pmps_tensor *y) {
  pmps_arg args[2];
  pmps_tensor *result = NULL;
  size_t count = 1;
  args[0] = tensor_arg(x);
  args[1] = tensor_arg(y);
  must(pmps_op_call(op, args, y ? 2 : 1, NULL, 0, &result, &count));
  return result;
}

/* Called when the library no longer uses the memory. */
static void give_back(void *user) {
  puts("the picture's memory is ours again");
  free(user);
}

/* Returns the mean of each row as a column, with an operator that has attributes and is looked up by name. */
static pmps_tensor *row_means(const pmps_tensor *x) {
  pmps_op mean;
  pmps_attr attrs[2];
  pmps_arg arg = tensor_arg(x);
  pmps_tensor *result = NULL;
  size_t count = 1;
  must(pmps_op_find("mean", &mean));
  printf("calling %s\n", pmps_op_signature(mean));
  memset(attrs, 0, sizeof attrs);
  attrs[0].name = "axis";
  attrs[0].kind = PMPS_ATTR_INT;
  attrs[0].value.i = -1;
  attrs[1].name = "keepdim";
  attrs[1].kind = PMPS_ATTR_BOOL;
  attrs[1].value.i = 1;
  must(pmps_op_call(mean, &arg, 1, attrs, 2, &result, &count));
  return result;
}

/* Adds tensors whose shapes do not broadcast; the error message says why that fails. */
static void handle_an_error(const pmps_tensor *picture, const pmps_tensor *other) {
  pmps_arg args[2];
  pmps_tensor *result = NULL;
  size_t count = 1;
  pmps_error *error;
  args[0] = tensor_arg(picture);
  args[1] = tensor_arg(other);
  error = pmps_op_call(PMPS_OP_ADD, args, 2, NULL, 0, &result, &count);
  printf("as expected: %s\n", pmps_error_message(error));
  pmps_error_free(error);
}

int main(void) {
  const int64_t dims[2] = {ROWS, COLUMNS};
  const int64_t odd_dims[1] = {COLUMNS + 1};
  const pmps_place place = {pmps_device_count(PMPS_MPS) > 0 ? PMPS_MPS : PMPS_CPU, 0};
  float *pixels = malloc(ROWS * COLUMNS * sizeof *pixels), out[ROWS * COLUMNS];
  pmps_tensor *picture, *there, *means, *centred, *odd;
  pmps_device_info info;
  pmps_memory_stats stats;
  int i;

  if (!pixels) return 1;
  must(pmps_init(PMPS_ABI_VERSION));
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  must(pmps_device_get_info(&place, &info));
  printf("computing on %s\n", info.name);

  /* The tensor uses the memory of the picture. If the place is a GPU, it gets a copy. */
  for (i = 0; i < ROWS * COLUMNS; i++) pixels[i] = (float)(i % COLUMNS * 10 + i / COLUMNS);
  must(pmps_tensor_from_memory(PMPS_FLOAT32, 2, dims, NULL, pixels, give_back, pixels, &picture));
  must(pmps_tensor_to(picture, &place, false, &there));

  means = row_means(there);
  centred = call(PMPS_OP_SUBTRACT, there, means);
  must(pmps_tensor_read(centred, out, sizeof out)); /* waits for the work */
  printf("first row, centred: %g %g %g %g %g %g\n", out[0], out[1], out[2], out[3], out[4], out[5]);

  must(pmps_tensor_empty(&place, PMPS_FLOAT32, 1, odd_dims, &odd));
  handle_an_error(there, odd);

  memset(&stats, 0, sizeof stats);
  stats.struct_size = sizeof stats;
  must(pmps_memory_get_stats(&place, &stats));
  printf("memory: %lld bytes in %lld blocks, at most %lld\n", (long long)stats.allocated_bytes.current,
         (long long)stats.allocation.current, (long long)stats.allocated_bytes.peak);

  /* Any order is correct: memory that is still in use stays valid. */
  pmps_tensor_free(picture);
  pmps_tensor_free(centred);
  pmps_tensor_free(there);
  pmps_tensor_free(odd);
  pmps_tensor_free(means);
  if (out[0] != -25 || out[5] != 25 || pmps_live_handles() != 0) {
    fputs("that is not what it should be\n", stderr);
    return 1;
  }
  return 0;
}
