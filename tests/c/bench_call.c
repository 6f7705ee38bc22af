/*
 * bench_call.c - what one call of the fast family costs a C caller: adding two tensors of 8 floats,
 * the previous result freed in the same call. Prints the best of several rounds in ns; a call that
 * does nothing but enter Go (a stale handle in fast_release) shows the floor.
 */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "paddlemps.h"

enum { ROUNDS = 9, CALLS = 200000 };

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void check(pmps_error *error) {
  if (!error) return;
  fprintf(stderr, "%s\n", pmps_error_message(error));
  exit(1);
}

static uint64_t bits(const void *handle) { return (uint64_t)(uintptr_t)handle; }

static uint64_t x, y;

static void add(void) {
  uint64_t last = 0;
  for (int i = 0; i < CALLS; i++) last = pmps_fast_binary(PMPS_OP_ADD, x, y, last);
  pmps_fast_release(&last, 1);
}

static void add_scalar(void) {
  uint64_t last = 0;
  for (int i = 0; i < CALLS; i++) last = pmps_fast_scalar(PMPS_OP_ADD, x, PMPS_ARG_INT, 1, last);
  pmps_fast_release(&last, 1);
}

static void negate(void) {
  uint64_t last = 0;
  for (int i = 0; i < CALLS; i++) last = pmps_fast_unary(PMPS_OP_NEG, x, last);
  pmps_fast_release(&last, 1);
}

static void enter(void) {
  uint64_t none = 0;
  for (int i = 0; i < CALLS; i++) pmps_fast_release(&none, 1);
}

static void report(const char *name, void (*run)(void)) {
  double best = 1e18;
  for (int i = 0; i < ROUNDS; i++) {
    double start = now();
    run();
    double each = (now() - start) / CALLS;
    if (each < best) best = each;
  }
  printf("%-12s %6.1f ns\n", name, best);
}

int main(int argc, char **argv) {
  (void)argv;
  const int64_t dims[] = {8};
  const float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  const pmps_place place = {argc > 1 ? PMPS_MPS : PMPS_CPU, 0}; /* any argument: on mps */
  pmps_tensor *a = NULL, *b = NULL;
  check(pmps_tensor_from_host(&place, PMPS_FLOAT32, 1, dims, values, &a));
  check(pmps_tensor_from_host(&place, PMPS_FLOAT32, 1, dims, values, &b));
  x = bits(a);
  y = bits(b);
  if (!pmps_fast_binary(PMPS_OP_ADD, x, y, 0)) check(pmps_fast_error());
  report("enter Go", enter);
  report("x + y", add);
  report("x + 1", add_scalar);
  report("-x", negate);
  pmps_tensor_free(a);
  pmps_tensor_free(b);
  return 0;
}
