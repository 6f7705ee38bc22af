/*
 * program.c - many operators as one call. A graph is built once, with a dimension that is known when it runs, and
 * compiled for each size that it meets.
 */
#include "must.h"

enum { INPUTS = 4, OUTPUTS = 2, LAYERS = 3 };

/* Adds an operator with one result to the graph. */
static pmps_value add(pmps_graph *graph, pmps_op op, pmps_value x, pmps_value y) {
  pmps_value in[2], out = 0;
  size_t count = 1;
  in[0] = x;
  in[1] = y;
  must(pmps_graph_call(graph, op, in, y ? 2 : 1, NULL, 0, &out, &count));
  return out;
}

/* Adds a matrix of one value, which becomes part of the program. */
static pmps_value weights(pmps_graph *graph, int64_t rows, int64_t columns, float value) {
  float elements[INPUTS * INPUTS];
  int64_t dims[2];
  pmps_tensor *tensor;
  pmps_value constant = 0;
  int i;
  for (i = 0; i < INPUTS * INPUTS; i++) elements[i] = value;
  dims[0] = rows;
  dims[1] = columns;
  must(pmps_tensor_from_host(NULL, PMPS_FLOAT32, 2, dims, elements, &tensor));
  must(pmps_graph_add_constant(graph, tensor, &constant)); /* a copy */
  pmps_tensor_free(tensor);
  return constant;
}

/* A network of a few layers for any number of rows: relu(x @ w) again and again, then softmax. */
static pmps_program *network(const pmps_place *place) {
  pmps_graph *graph;
  pmps_program *program;
  pmps_value x = 0, output;
  int64_t dims[2];
  int i;
  must(pmps_graph_new(&graph));
  must(pmps_graph_add_symbol(graph, &dims[0])); /* the number of rows */
  dims[1] = INPUTS;
  must(pmps_graph_add_input(graph, PMPS_FLOAT32, 2, dims, &x));
  for (i = 0; i < LAYERS; i++) x = add(graph, PMPS_OP_RELU, add(graph, PMPS_OP_MATMUL, x, weights(graph, INPUTS, INPUTS, 0.25f)), 0);
  output = add(graph, PMPS_OP_SOFTMAX, add(graph, PMPS_OP_MATMUL, x, weights(graph, INPUTS, OUTPUTS, 1)), 0);
  must(pmps_program_new(place, graph, &output, 1, &program));
  pmps_graph_free(graph); /* the program has what it needs */
  return program;
}

/* Runs the program on rows of ones and checks that each output is 1 / OUTPUTS. */
static int run(const pmps_place *place, pmps_program *program, int64_t rows) {
  static float elements[64 * INPUTS], out[64 * OUTPUTS];
  int64_t dims[2], i;
  pmps_tensor *x, *y;
  size_t count = 1;
  int good = 1;
  for (i = 0; i < rows * INPUTS; i++) elements[i] = 1;
  dims[0] = rows;
  dims[1] = INPUTS;
  must(pmps_tensor_from_host(place, PMPS_FLOAT32, 2, dims, elements, &x));
  must(pmps_program_run(program, &x, 1, &y, &count)); /* returns before the work is done */
  pmps_tensor_free(x);
  must(pmps_tensor_read(y, out, (size_t)(rows * OUTPUTS) * sizeof *out));
  pmps_tensor_free(y);
  for (i = 0; i < rows * OUTPUTS; i++) good &= out[i] == 1.0f / OUTPUTS;
  return good;
}

int main(void) {
  const pmps_place place = best_place();
  const int64_t many[2] = {64, INPUTS}, *sizes[1];
  pmps_program *program;
  pmps_program_info info;
  const int32_t rank = (int32_t)(sizeof many / sizeof *many);
  int good;

  must(pmps_init(PMPS_ABI_VERSION));
  program = network(&place);
  sizes[0] = many;
  must(pmps_program_prepare(program, sizes, &rank, 1)); /* optional: the first run of a size compiles otherwise */
  good = run(&place, program, 64) && run(&place, program, 3) && run(&place, program, 64);

  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  must(pmps_program_get_info(program, &info));
  printf("%d operators, compiled for %d sizes, %d bytes of constants\n", (int)info.operators, (int)info.compilations, (int)info.constant_bytes);
  pmps_program_free(program);
  return finish(good && info.operators == 2 * LAYERS + 2 && info.compilations == 2);
}
