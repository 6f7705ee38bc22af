/*
 * saved.c - a function that Python has saved:  saved FILE
 *
 *     paddle.jit.save(layer, "layer", [paddle.jit.InputSpec([None, 3])])   # writes layer.pmps
 *
 * prints what the function takes and returns, runs it on tensors of ones, with 2 for each size that is open, and prints the first
 * elements of the results. Without FILE the program makes a file itself, as C programs can.
 */
#include "must.h"

enum { MOST = 8, SHOWN = 8, OPEN = 2 };

/* Returns the size of an element of a dtype that this example knows. */
static size_t size_of(pmps_dtype dtype) {
  switch (dtype) {
    case PMPS_FLOAT64:
    case PMPS_INT64: return 8;
    case PMPS_FLOAT32:
    case PMPS_INT32: return 4;
    default: fputs("this example knows float32, float64, int32 and int64\n", stderr); exit(1);
  }
}

/* Writes an element to a buffer, or prints one. */
static void set_one(pmps_dtype dtype, void *elements, size_t i) {
  if (dtype == PMPS_FLOAT32) ((float *)elements)[i] = 1;
  if (dtype == PMPS_FLOAT64) ((double *)elements)[i] = 1;
  if (dtype == PMPS_INT32) ((int32_t *)elements)[i] = 1;
  if (dtype == PMPS_INT64) ((int64_t *)elements)[i] = 1;
}

static void print_one(pmps_dtype dtype, const void *elements, size_t i) {
  if (dtype == PMPS_FLOAT32) printf(" %g", (double)((const float *)elements)[i]);
  if (dtype == PMPS_FLOAT64) printf(" %g", ((const double *)elements)[i]);
  if (dtype == PMPS_INT32) printf(" %d", (int)((const int32_t *)elements)[i]);
  if (dtype == PMPS_INT64) printf(" %lld", (long long)((const int64_t *)elements)[i]);
}

/* A tensor of ones for an input of the program. Sizes that are open are -1 in info. */
static pmps_tensor *ones_for(const pmps_place *place, const pmps_value_info *info) {
  int64_t dims[PMPS_MAX_RANK];
  size_t count = 1, i;
  void *elements;
  pmps_tensor *x;
  for (i = 0; i < (size_t)info->rank; i++) {
    dims[i] = info->dims[i] < 0 ? OPEN : info->dims[i];
    count *= (size_t)dims[i];
  }
  elements = malloc(count * size_of(info->dtype) + 1);
  if (!elements) exit(1);
  for (i = 0; i < count; i++) set_one(info->dtype, elements, i);
  must(pmps_tensor_from_host(place, info->dtype, info->rank, dims, elements, &x)); /* a copy */
  free(elements);
  return x;
}

static void print_tensor(size_t number, const pmps_tensor *x) {
  pmps_tensor_info info;
  size_t count = 1, i;
  void *elements;
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  must(pmps_tensor_get_info(x, &info));
  printf("output %d [", (int)number);
  for (i = 0; i < (size_t)info.rank; i++) {
    printf(i ? ", %d" : "%d", (int)info.dims[i]);
    count *= (size_t)info.dims[i];
  }
  elements = malloc(count * size_of(info.dtype) + 1);
  if (!elements) exit(1);
  must(pmps_tensor_read(x, elements, count * size_of(info.dtype))); /* waits until they are computed */
  printf("]:");
  for (i = 0; i < count && i < SHOWN; i++) print_one(info.dtype, elements, i);
  printf(count > SHOWN ? " ...\n" : "\n");
  free(elements);
}

/* Writes x + x for any number of rows of 3 to a file. */
static void write_example(const pmps_place *place, const char *path) {
  pmps_graph *graph;
  pmps_program *program;
  pmps_value in[2], out = 0;
  int64_t dims[2];
  size_t count = 1;
  must(pmps_graph_new(&graph));
  must(pmps_graph_add_symbol(graph, &dims[0]));
  dims[1] = 3;
  must(pmps_graph_add_input(graph, PMPS_FLOAT32, 2, dims, &in[0]));
  in[1] = in[0];
  must(pmps_graph_call(graph, PMPS_OP_ADD, in, 2, NULL, 0, &out, &count));
  must(pmps_program_new(place, graph, &out, 1, &program));
  pmps_graph_free(graph);
  must(pmps_program_save(program, path));
  pmps_program_free(program);
}

int main(int argc, char **argv) {
  const pmps_place place = best_place();
  const char *path = argc > 1 ? argv[1] : "saved_example.pmps";
  pmps_program *program;
  pmps_program_info info;
  pmps_tensor *inputs[MOST], *outputs[MOST];
  size_t i, count = MOST;

  must(pmps_init(PMPS_ABI_VERSION));
  if (argc < 2) write_example(&place, path);
  must(pmps_program_load(&place, path, NULL, 0, &program)); /* the file stays mapped, and must not change meanwhile */
  memset(&info, 0, sizeof info);
  info.struct_size = sizeof info;
  must(pmps_program_get_info(program, &info));
  if (info.inputs > MOST || info.outputs > MOST) {
    fprintf(stderr, "it has %d inputs and %d outputs; want at most %d\n", (int)info.inputs, (int)info.outputs, MOST);
    return 1;
  }
  for (i = 0; i < (size_t)info.inputs; i++) {
    pmps_value_info port;
    memset(&port, 0, sizeof port);
    port.struct_size = sizeof port;
    must(pmps_program_get_port(program, false, i, &port, NULL, NULL));
    inputs[i] = ones_for(&place, &port);
  }
  must(pmps_program_run(program, inputs, (size_t)info.inputs, outputs, &count));
  for (i = 0; i < (size_t)info.inputs; i++) pmps_tensor_free(inputs[i]);
  for (i = 0; i < count; i++) {
    print_tensor(i, outputs[i]);
    pmps_tensor_free(outputs[i]);
  }
  pmps_program_free(program);
  if (argc < 2) remove(path);
  return finish(1);
}
