/*
 * runs.c - asynchronous runs of a program, waited for when their results are needed, with a deadline.
 */
#include "must.h"

enum { SIZE = 32, PRODUCTS = 50, RUNS = 8 };

/* x @ w @ w ... : a run can be cancelled between any two products. */
static pmps_program *products(const pmps_place *place) {
  static float share[SIZE * SIZE];
  int64_t dims[2] = {SIZE, SIZE};
  pmps_graph *graph;
  pmps_program *program;
  pmps_tensor *tensor;
  pmps_value in[2];
  int i;
  for (i = 0; i < SIZE * SIZE; i++) share[i] = 1.0f / SIZE;
  must(pmps_graph_new(&graph));
  must(pmps_tensor_from_host(NULL, PMPS_FLOAT32, 2, dims, share, &tensor));
  must(pmps_graph_add_constant(graph, tensor, &in[1])); /* a copy */
  pmps_tensor_free(tensor);
  must(pmps_graph_add_symbol(graph, &dims[0])); /* the number of rows */
  must(pmps_graph_add_input(graph, PMPS_FLOAT32, 2, dims, &in[0]));
  for (i = 0; i < PRODUCTS; i++) {
    size_t count = 1;
    must(pmps_graph_call(graph, PMPS_OP_MATMUL, in, 2, NULL, 0, &in[0], &count));
  }
  must(pmps_program_new(place, graph, &in[0], 1, &program));
  pmps_graph_free(graph);
  return program;
}

/* Begins a run on four rows of one value. The library keeps the input until the run has ended. */
static pmps_run *start(const pmps_place *place, pmps_program *program, float value) {
  static float elements[4 * SIZE];
  const int64_t dims[2] = {4, SIZE};
  pmps_tensor *x;
  pmps_run *begun;
  int i;
  for (i = 0; i < 4 * SIZE; i++) elements[i] = value;
  must(pmps_tensor_from_host(place, PMPS_FLOAT32, 2, dims, elements, &x));
  must(pmps_program_start(program, &x, 1, &begun)); /* returns at once */
  pmps_tensor_free(x);
  return begun;
}

/* Waits for the result of a run and checks it. */
static int finishes(const pmps_run *begun, float value) {
  float first[4 * SIZE];
  pmps_tensor *y;
  size_t count = 1;
  must(pmps_run_wait(begun, &y, &count));
  must(pmps_tensor_read(y, first, sizeof first));
  pmps_tensor_free(y);
  return first[0] == value;
}

/* Gives a run 5 ms more, and then cancels it. It may come to its end nevertheless. */
static int is_late(pmps_run *begun, int *good) {
  pmps_tensor *y;
  pmps_error *error;
  uint64_t wait;
  size_t count = 1;
  must(pmps_run_wait_for(begun, 5, &wait));
  if (!wait) return 0;
  must(pmps_run_cancel(begun));
  error = pmps_run_wait(begun, &y, &count);
  if (!error) {
    pmps_tensor_free(y);
    return 0;
  }
  *good &= pmps_error_code(error) == PMPS_CANCELLED;
  pmps_error_free(error);
  return 1;
}

int main(void) {
  const pmps_place place = best_place();
  pmps_program *program;
  pmps_run *runs[RUNS];
  int good = 1, late = 0, i;

  must(pmps_init(PMPS_ABI_VERSION));
  program = products(&place);
  for (i = 0; i < RUNS; i++) runs[i] = start(&place, program, (float)i);
  pmps_program_free(program); /* the runs keep it */

  /* The first half is wanted in any case, and the rest only if it is there in time. */
  for (i = 0; i < RUNS / 2; i++) good &= finishes(runs[i], (float)i);
  for (; i < RUNS; i++) late += is_late(runs[i], &good);
  printf("%d runs were cancelled\n", late);
  for (i = 0; i < RUNS; i++) pmps_run_free(runs[i]);
  return finish(good);
}
