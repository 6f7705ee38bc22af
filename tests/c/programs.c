/*
 * programs.c - graphs and programs: what they compute beside the same calls one by one, and what is wrong with
 * a call. run.sh starts it once for every device.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>

#include "check.h"

enum { WIDTH = 6, MOST = 12 };

/* A place to build at: a graph, or without one the operators themselves. An item is a value or a tensor. */
typedef struct {
  pmps_graph *graph;
  const pmps_place *place;
  pmps_tensor *made[128]; /* of operators that were run */
  int count;
} builder;

typedef union {
  pmps_value value;
  pmps_arg arg;
} item;

static void call_many(builder *b, pmps_op op, const item *in, size_t n, const pmps_attr *attrs, size_t attr_count, item *out, size_t want) {
  size_t count = want;
  if (b->graph) {
    pmps_value values[MOST], results[MOST] = {0};
    for (size_t i = 0; i < n; i++) values[i] = in[i].value;
    OK(pmps_graph_call(b->graph, op, values, n, attrs, attr_count, results, &count));
    for (size_t i = 0; i < want; i++) out[i].value = results[i];
  } else {
    pmps_arg args[MOST];
    pmps_tensor *results[MOST] = {NULL};
    for (size_t i = 0; i < n; i++) args[i] = in[i].arg;
    OK(pmps_op_call_on(b->place, op, args, n, attrs, attr_count, results, &count));
    for (size_t i = 0; i < want; i++) out[i].arg = of_tensor(b->made[b->count++] = results[i]);
  }
  EXPECT(count == want);
}

static item call(builder *b, pmps_op op, const item *in, size_t n, const pmps_attr *attrs, size_t attr_count) {
  item out;
  call_many(b, op, in, n, attrs, attr_count, &out, 1);
  return out;
}

static item unary(builder *b, pmps_op op, item x) { return call(b, op, &x, 1, NULL, 0); }

static item binary(builder *b, pmps_op op, item x, item y) {
  const item in[] = {x, y};
  return call(b, op, in, 2, NULL, 0);
}

static item along(builder *b, pmps_op op, item x, pmps_attr attr) { return call(b, op, &x, 1, &attr, 1); }

static item scalar(builder *b, pmps_arg arg) {
  item made = {.arg = arg};
  pmps_value value = 0;
  if (!b->graph) return made;
  OK(pmps_graph_add_scalar(b->graph, &arg, &value));
  made.value = value;
  return made;
}

static item constant(builder *b, const pmps_tensor *tensor) {
  item made = {.arg = of_tensor(tensor)};
  pmps_value value = 0;
  if (!b->graph) return made;
  OK(pmps_graph_add_constant(b->graph, tensor, &value));
  made.value = value;
  return made;
}

static item input(builder *b, const pmps_tensor *tensor, int32_t dtype, int32_t rank, const int64_t *dims) {
  item made = {.arg = of_tensor(tensor)};
  pmps_value value = 0;
  if (!b->graph) return made;
  OK(pmps_graph_add_input(b->graph, dtype, rank, dims, &value));
  made.value = value;
  return made;
}

static pmps_attr dtype_attr(int32_t dtype) {
  pmps_attr attr = {.name = "dtype", .kind = PMPS_ATTR_DTYPE, .value = {.i = dtype}};
  return attr;
}

static pmps_attr keepdim(void) {
  pmps_attr attr = {.name = "keepdim", .kind = PMPS_ATTR_BOOL, .value = {.i = 1}};
  return attr;
}

static pmps_tensor *table(const pmps_place *place, int64_t rows, int64_t columns, float scale) {
  const int64_t dims[] = {rows, columns};
  float *values = malloc((size_t)(rows * columns) * sizeof *values + 1);
  for (int64_t i = 0; i < rows * columns; i++) values[i] = scale * (float)((i * 7) % 11 - 5);
  pmps_tensor *tensor = NULL;
  OK(pmps_tensor_from_host(place, PMPS_FLOAT32, 2, dims, values, &tensor));
  free(values);
  return tensor;
}

/* ---- A program of 50 operators. */

enum { OUTPUTS = 8, OPERATORS = 50 };

typedef struct {
  pmps_tensor *weights, *rows; /* constants */
  pmps_tensor *x, *y;          /* inputs: [n, WIDTH] and [WIDTH] */
} data;

static data data_for(const pmps_place *place, int64_t n) {
  const int64_t two = 2;
  const int32_t rows[] = {0, 0};
  data d = {table(place, WIDTH, WIDTH, 0.125f), NULL, table(place, n, WIDTH, 0.25f), NULL};
  pmps_tensor *y = table(place, 1, WIDTH, 0.5f);
  const pmps_index item = {PMPS_INDEX_INT, 0, 0, 0, 0};
  OK(pmps_tensor_index(y, &item, 1, &d.y));
  OK(pmps_tensor_from_host(place, PMPS_INT32, 1, &two, rows, &d.rows));
  pmps_tensor_free(y);
  return d;
}

static void free_data(data *d) {
  pmps_tensor_free(d->weights);
  pmps_tensor_free(d->rows);
  pmps_tensor_free(d->x);
  pmps_tensor_free(d->y);
}

static item layer(builder *b, item h, item weights, item y) {
  const int64_t last = -1;
  h = binary(b, PMPS_OP_MATMUL, h, weights);
  h = unary(b, PMPS_OP_GELU, binary(b, PMPS_OP_ADD, h, y));
  const pmps_attr attrs[] = {ints_attr("axis", &last, 1), keepdim()};
  h = binary(b, PMPS_OP_SUBTRACT, h, call(b, PMPS_OP_MEAN, &h, 1, attrs, 2));
  return unary(b, PMPS_OP_TANH, binary(b, PMPS_OP_MULTIPLY, h, scalar(b, of_float(0.5))));
}

static item random_row(builder *b, pmps_op op) {
  const int64_t width = WIDTH;
  const pmps_attr attrs[] = {ints_attr("shape", &width, 1), dtype_attr(PMPS_FLOAT32)};
  return call(b, op, NULL, 0, attrs, 2);
}

/* The operators, in this order everywhere, because two of them take random numbers. */
static void model(builder *b, const data *d, int64_t n, item out[OUTPUTS]) {
  const int64_t x_dims[] = {n, WIDTH}, y_dims[] = {WIDTH}, sections[] = {2, 4}, turned[] = {1, 0}, flat[] = {-1};
  const pmps_arg none = {.kind = PMPS_ARG_NONE};
  item x = input(b, d->x, PMPS_FLOAT32, 2, x_dims), y = input(b, d->y, PMPS_FLOAT32, 1, y_dims);
  item weights = constant(b, d->weights), h = x, parts[2];
  for (int i = 0; i < 5; i++) h = layer(b, h, weights, y);
  item p = along(b, PMPS_OP_SOFTMAX, h, int_attr("axis", -1));
  p = binary(b, PMPS_OP_MULTIPLY, p, random_row(b, PMPS_OP_UNIFORM));
  p = binary(b, PMPS_OP_ADD, p, random_row(b, PMPS_OP_NORMAL));
  const pmps_attr split[] = {ints_attr("sections", sections, 2), int_attr("axis", 1)};
  call_many(b, PMPS_OP_SPLIT, &p, 1, split, 2, parts, 2);
  const item swapped[] = {parts[1], parts[0]};
  const pmps_attr axis = int_attr("axis", 1);
  item c = call(b, PMPS_OP_CONCAT, swapped, 2, &axis, 1);
  c = along(b, PMPS_OP_RESHAPE, along(b, PMPS_OP_TRANSPOSE, c, ints_attr("perm", turned, 2)), ints_attr("shape", flat, 1));
  item best = along(b, PMPS_OP_CAST, along(b, PMPS_OP_ARGMAX, h, int_attr("axis", 1)), dtype_attr(PMPS_FLOAT32));
  const item clip[] = {h, scalar(b, none), scalar(b, of_float(0.125))};
  const item where[] = {binary(b, PMPS_OP_GREATER_THAN, h, scalar(b, of_float(0))), call(b, PMPS_OP_CLIP, clip, 3, NULL, 0), h};
  item w = call(b, PMPS_OP_WHERE, where, 3, NULL, 0), g = binary(b, PMPS_OP_GATHER, w, constant(b, d->rows));
  const item all[OUTPUTS] = {c, best, w, g, parts[0], x, weights, c};
  memcpy(out, all, sizeof all);
}

static pmps_program *program_of(const pmps_place *place, const data *d) {
  builder b = {.place = place};
  int64_t n = 0;
  item out[OUTPUTS];
  pmps_value values[OUTPUTS];
  pmps_program *program = NULL;
  OK(pmps_graph_new(&b.graph));
  OK(pmps_graph_add_symbol(b.graph, &n));
  model(&b, d, n, out);
  for (int i = 0; i < OUTPUTS; i++) values[i] = out[i].value;
  OK(pmps_program_new(place, b.graph, values, OUTPUTS, &program));
  pmps_graph_free(b.graph);
  return program;
}

/* The same dtype, the same shape and the same bits: a program runs the kernels that the calls run. */
static bool equal(const pmps_tensor *a, const pmps_tensor *b) {
  static char left[1 << 16], right[1 << 16];
  pmps_tensor_info x = {.struct_size = sizeof x}, y = x;
  OK(pmps_tensor_get_info(a, &x));
  OK(pmps_tensor_get_info(b, &y));
  if (x.dtype != y.dtype || x.rank != y.rank || memcmp(x.dims, y.dims, sizeof x.dims) != 0) return false;
  const size_t size = (size_t)(x.numel * pmps_dtype_size(x.dtype));
  EXPECT(size > 0 && size <= sizeof left);
  OK(pmps_tensor_read(a, left, size));
  OK(pmps_tensor_read(b, right, size));
  return memcmp(left, right, size) == 0;
}

/* Runs the program once and the calls once, from the same random numbers. */
static void compare(const pmps_place *place, pmps_program *program, const data *d, int64_t n) {
  pmps_tensor *inputs[] = {d->x, d->y}, *out[OUTPUTS + 1] = {NULL};
  size_t count = OUTPUTS + 1;
  uint64_t seed = 0, after = 0, again = 0;
  OK(pmps_rng_seed(place, 7));
  OK(pmps_program_run(program, inputs, 2, out, &count));
  EXPECT(count == OUTPUTS && !out[OUTPUTS]);
  OK(pmps_rng_get_state(place, &seed, &after));
  OK(pmps_rng_seed(place, 7));
  builder b = {.place = place};
  item want[OUTPUTS];
  model(&b, d, n, want);
  OK(pmps_rng_get_state(place, &seed, &again));
  EXPECT(after == again);
  for (int i = 0; i < OUTPUTS; i++) {
    if (!equal(out[i], want[i].arg.value.tensor)) {
      printf("  output %d for n = %d:\n", i, (int)n);
      EXPECT(!"the output of the program is that of the calls");
    }
  }
  for (int i = 0; i < OUTPUTS; i++) pmps_tensor_free(out[i]);
  for (int i = 0; i < b.count; i++) pmps_tensor_free(b.made[i]);
}

static const pmps_place *target(void) { return has_mps() ? &mps : &cpu; }

static void fifty_operators_are_one_call(void) {
  const int64_t sizes[] = {3, 1, 17, 64, 3};
  const pmps_place *place = target();
  data d = data_for(place, 3);
  pmps_program *program = program_of(place, &d);
  free_data(&d); /* constants were copied */
  pmps_program_info info = {.struct_size = sizeof info};
  OK(pmps_program_get_info(program, &info));
  EXPECT(info.inputs == 2 && info.outputs == OUTPUTS && info.operators == OPERATORS && info.compilations == 0 && info.steps == 0);
  for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
    d = data_for(place, sizes[i]);
    compare(place, program, &d, sizes[i]);
    free_data(&d);
  }
  OK(pmps_program_get_info(program, &info));
  EXPECT(info.compilations == 4 && info.steps > OPERATORS / 2);
  EXPECT(info.constant_bytes == WIDTH * WIDTH * 4 + 2 * 4);
  EXPECT(info.parts == (info.cpu_steps ? info.parts : 1));
  pmps_program_free(program);
  EXPECT(pmps_live_handles() == 0);
}

/* Constants and what was compiled go when the program does. */
static void memory_comes_back(void) {
  const pmps_place *place = target();
  pmps_memory_stats before = {.struct_size = sizeof before}, after = before;
  for (int round = 0; round < 3; round++) {
    OK(pmps_device_synchronize(place));
    OK(pmps_memory_get_stats(place, round ? &after : &before));
    data d = data_for(place, 5);
    pmps_program *program = program_of(place, &d);
    compare(place, program, &d, 5);
    free_data(&d);
    pmps_program_free(program);
  }
  EXPECT(after.allocated_bytes.current == before.allocated_bytes.current);
  EXPECT(pmps_live_handles() == 0);
}

static void prepared_programs_do_not_compile(void) {
  const pmps_place *place = target();
  data d = data_for(place, 4);
  pmps_program *program = program_of(place, &d);
  const int64_t x[] = {4, WIDTH}, negative[] = {-1, WIDTH}, huge[] = {INT64_MAX, INT64_MAX}, wrong[] = {4, WIDTH + 1};
  const int64_t *const dims[] = {x, NULL}, *const none[] = {NULL, NULL}, *const bad[] = {negative, NULL};
  const int64_t *const large[] = {huge, NULL}, *const other[] = {wrong, NULL};
  const int32_t ranks[] = {2, 0}, few[] = {1, 0}, many[] = {3, 0};
  FAILS(pmps_program_prepare(program, dims, few, 2), PMPS_INVALID_ARGUMENT, "got 1 sizes of input 0; want 2");
  FAILS(pmps_program_prepare(program, dims, many, 2), PMPS_INVALID_ARGUMENT, "got 3 sizes of input 0; want 2");
  FAILS(pmps_program_prepare(program, dims, NULL, 2), PMPS_INVALID_ARGUMENT, "null");
  OK(pmps_program_prepare(program, dims, ranks, 2));
  pmps_program_info info = {.struct_size = sizeof info};
  OK(pmps_program_get_info(program, &info));
  EXPECT(info.compilations == 1);
  compare(place, program, &d, 4);
  OK(pmps_program_get_info(program, &info));
  EXPECT(info.compilations == 1);
  FAILS(pmps_program_prepare(program, none, ranks, 2), PMPS_INVALID_ARGUMENT, "input 0 has symbols");
  FAILS(pmps_program_prepare(program, dims, ranks, 1), PMPS_INVALID_ARGUMENT, "got sizes of 1 inputs; want 2");
  FAILS(pmps_program_prepare(program, NULL, ranks, 2), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_program_prepare(program, bad, ranks, 2), PMPS_INVALID_ARGUMENT, "no negative dimension");
  FAILS(pmps_program_prepare(program, large, ranks, 2), PMPS_INVALID_ARGUMENT, "exceeds the address space");
  FAILS(pmps_program_prepare(program, other, ranks, 2), PMPS_INVALID_ARGUMENT, "input 0 is float32 of shape [4, 7]");
  FAILS(pmps_program_prepare(program, dims, ranks, SIZE_MAX), PMPS_INVALID_ARGUMENT, "at most");
  free_data(&d);
  pmps_program_free(program);
}

/* ---- Failures of the device. */

/* ((a * 2) // b) + a and a + b, of integers. */
static pmps_program *quotient(const pmps_place *place) {
  builder b = {.place = place};
  int64_t n = 0;
  pmps_program *program = NULL;
  const pmps_arg two = {PMPS_ARG_INT, 0, {.i = 2}};
  OK(pmps_graph_new(&b.graph));
  OK(pmps_graph_add_symbol(b.graph, &n));
  item x = input(&b, NULL, PMPS_INT32, 1, &n), y = input(&b, NULL, PMPS_INT32, 1, &n);
  item q = binary(&b, PMPS_OP_FLOOR_DIVIDE, binary(&b, PMPS_OP_MULTIPLY, x, scalar(&b, two)), y);
  const pmps_value out[] = {binary(&b, PMPS_OP_ADD, q, x).value, binary(&b, PMPS_OP_ADD, x, y).value};
  OK(pmps_program_new(place, b.graph, out, 2, &program));
  pmps_graph_free(b.graph);
  return program;
}

static void a_division_by_zero_is_reported(void) {
  const pmps_place *place = target();
  pmps_program *program = quotient(place);
  const int64_t n = 3;
  for (int round = 0; round < 4; round++) {
    const int32_t a[] = {7, -8, 9}, good[] = {2, 2, -3}, zero[] = {2, 0, -3};
    pmps_tensor *in[2] = {NULL}, *out[2] = {NULL};
    size_t count = 2;
    int32_t got[3];
    OK(pmps_tensor_from_host(place, PMPS_INT32, 1, &n, a, &in[0]));
    OK(pmps_tensor_from_host(place, PMPS_INT32, 1, &n, round % 2 ? zero : good, &in[1]));
    pmps_error *error = pmps_program_run(program, in, 2, out, &count);
    if (round % 2 && place->kind == PMPS_CPU) {
      FAILS(error, PMPS_ARITHMETIC, "[floor_divide]");
      EXPECT(!out[0] && !out[1] && count == 2);
    } else if (round % 2) {
      OK(error);
      FAILS(pmps_tensor_read(out[0], got, sizeof got), PMPS_ARITHMETIC, "[floor_divide]");
      FAILS(pmps_tensor_read(out[1], got, sizeof got), PMPS_ARITHMETIC, "[floor_divide]"); /* one call, one fate */
      FAILS(pmps_device_synchronize(place), PMPS_ARITHMETIC, "[floor_divide]");
      OK(pmps_device_synchronize(place)); /* reported once */
    } else {
      OK(error);
      OK(pmps_tensor_read(out[0], got, sizeof got));
      EXPECT(got[0] == 14 && got[1] == -16 && got[2] == 3);
      OK(pmps_tensor_read(out[1], got, sizeof got));
      EXPECT(got[0] == 9 && got[1] == -6 && got[2] == 6);
    }
    for (int i = 0; i < 2; i++) {
      pmps_tensor_free(in[i]);
      pmps_tensor_free(out[i]);
    }
  }
  pmps_program_free(program);
  EXPECT(pmps_live_handles() == 0);
}

/* ---- What inputs may look like. */

static void strided_inputs_are_taken_as_they_are(void) {
  const pmps_place *place = target();
  pmps_program *program = quotient(place);
  const int64_t eleven = 11;
  int32_t all[11], got[5];
  for (int i = 0; i < 11; i++) all[i] = i;
  pmps_tensor *line = NULL, *in[2] = {NULL}, *out[2] = {NULL};
  size_t count = 2;
  const pmps_index even = {PMPS_INDEX_SLICE, 7, 0, 10, 2}, back = {PMPS_INDEX_SLICE, 7, 5, 0, -1};
  OK(pmps_tensor_from_host(place, PMPS_INT32, 1, &eleven, all, &line));
  OK(pmps_tensor_index(line, &even, 1, &in[0])); /* 0 2 4 6 8 */
  OK(pmps_tensor_index(line, &back, 1, &in[1])); /* 5 4 3 2 1 */
  OK(pmps_program_run(program, in, 2, out, &count));
  OK(pmps_tensor_read(out[0], got, sizeof got));
  EXPECT(got[0] == 0 && got[1] == 3 && got[2] == 6 && got[3] == 12 && got[4] == 24);
  for (int i = 0; i < 2; i++) {
    pmps_tensor_free(in[i]);
    pmps_tensor_free(out[i]);
  }
  pmps_tensor_free(line);
  pmps_program_free(program);
}

static void inputs_have_to_fit(void) {
  const pmps_place *place = target();
  pmps_program *program = quotient(place);
  const int64_t three = 3, four = 4;
  const int32_t values[] = {1, 2, 3, 4};
  pmps_tensor *x = NULL, *y = NULL, *f = ramp(place, 3), *there = NULL, *freed = ramp(place, 3), *out[2] = {NULL};
  size_t count = 2;
  pmps_tensor_free(freed);
  OK(pmps_tensor_from_host(place, PMPS_INT32, 1, &three, values, &x));
  OK(pmps_tensor_from_host(place, PMPS_INT32, 1, &four, values, &y));
#define RUNS(a, b) pmps_program_run(program, (pmps_tensor *[]){a, b}, 2, out, &count)
  FAILS(RUNS(x, y), PMPS_INVALID_ARGUMENT, "input 1 is int32 of shape [4]; want int32 of shape [");
  FAILS(RUNS(x, f), PMPS_INVALID_ARGUMENT, "input 1 is float32");
  FAILS(RUNS(x, NULL), PMPS_INVALID_HANDLE, "input 1 is null");
  FAILS(RUNS(freed, x), PMPS_INVALID_HANDLE, "input 0 is null, freed");
  FAILS(RUNS((pmps_tensor *)program, x), PMPS_INVALID_HANDLE, "input 0");
  if (place->kind == PMPS_MPS) {
    OK(pmps_tensor_from_host(&cpu, PMPS_INT32, 1, &three, values, &there));
    FAILS(RUNS(x, there), PMPS_INVALID_ARGUMENT, "input 1 is on cpu; want mps:0");
    pmps_tensor_free(there);
  }
#undef RUNS
  pmps_tensor *in[] = {x, x};
  FAILS(pmps_program_run(program, in, 1, out, &count), PMPS_INVALID_ARGUMENT, "got 1 inputs; want 2");
  FAILS(pmps_program_run(program, NULL, 2, out, &count), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_program_run(program, in, SIZE_MAX, out, &count), PMPS_INVALID_ARGUMENT, "at most");
  FAILS(pmps_program_run(program, in, 2, NULL, &count), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_program_run(program, in, 2, out, NULL), PMPS_INVALID_ARGUMENT, "null");
  count = 1;
  FAILS(pmps_program_run(program, in, 2, out, &count), PMPS_INVALID_ARGUMENT, "makes 2 tensors; want room for them, not for 1");
  EXPECT(!out[0] && !out[1] && count == 1);
  count = 2;
  OK(pmps_program_run(program, in, 2, out, &count)); /* the same tensor twice */
  for (int i = 0; i < 2; i++) pmps_tensor_free(out[i]);
  pmps_tensor_free(x);
  pmps_tensor_free(y);
  pmps_tensor_free(f);
  pmps_program_free(program);
}

/* Where the elements lie. */
static const void *data_of(pmps_tensor *t) {
  void *data = NULL;
  OK(pmps_tensor_map(t, &data));
  return data;
}

static void outputs_may_be_given(void) {
  const pmps_place *place = target();
  pmps_program *program = quotient(place);
  const int64_t three = 3, four = 4;
  const int32_t values[] = {12, 20, 35, 1}, by[] = {3, 4, 5, 0}, zeros[4] = {0};
  pmps_tensor *x = NULL, *y = NULL, *none = NULL, *q = NULL, *s = NULL, *f = ramp(place, 3), *longer = NULL;
  OK(pmps_tensor_from_host(place, PMPS_INT32, 1, &three, values, &x));
  OK(pmps_tensor_from_host(place, PMPS_INT32, 1, &three, by, &y));
  OK(pmps_tensor_from_host(place, PMPS_INT32, 1, &three, zeros, &q));
  OK(pmps_tensor_from_host(place, PMPS_INT32, 1, &three, zeros, &s));
  OK(pmps_tensor_from_host(place, PMPS_INT32, 1, &four, zeros, &longer));
  OK(pmps_tensor_empty(place, PMPS_INT32, 1, &three, &none));
  const void *at_q = data_of(q), *at_s = data_of(s), *at_x = data_of(x);
#define INTO(a, b, u, v) pmps_program_run_into(program, (pmps_tensor *[]){a, b}, 2, (pmps_tensor *[]){u, v}, 2)
  OK(INTO(x, y, q, s));
  pmps_tensor *out[2];
  size_t count = 2;
  OK(pmps_program_run(program, (pmps_tensor *[]){x, y}, 2, out, &count));
  EXPECT(equal(q, out[0]) && equal(s, out[1]));
  EXPECT(data_of(q) == at_q && data_of(s) == at_s);
  FAILS(INTO(x, y, q, longer), PMPS_INVALID_ARGUMENT, "output 1 has shape [4]; want [3] of int32");
  FAILS(INTO(x, y, q, NULL), PMPS_INVALID_HANDLE, "null");
  FAILS(pmps_program_run_into(program, (pmps_tensor *[]){x, y}, 2, out, 1), PMPS_INVALID_ARGUMENT, "got 1 outputs; want 2");
  FAILS(pmps_program_run_into(program, (pmps_tensor *[]){x, y}, 2, NULL, 2), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_program_run_into(program, NULL, 2, out, 2), PMPS_INVALID_ARGUMENT, "null");
  EXPECT(equal(q, out[0]) && equal(s, out[1]));
  OK(INTO(x, y, f, x)); /* cast, and over an input */
  EXPECT(equal(x, out[1]) && data_of(x) == at_x);
  for (int i = 0; i < 2; i++) pmps_tensor_free(out[i]);
#undef INTO
  pmps_tensor *all[] = {x, y, none, q, s, f, longer};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) pmps_tensor_free(all[i]);
  pmps_program_free(program);
}

static void inputs_without_elements(void) {
  const pmps_place *place = target();
  pmps_program *program = quotient(place);
  const int64_t none = 0;
  pmps_tensor *x = NULL, *out[2] = {NULL};
  size_t count = 2;
  OK(pmps_tensor_empty(place, PMPS_INT32, 1, &none, &x));
  OK(pmps_program_run(program, (pmps_tensor *[]){x, x}, 2, out, &count));
  pmps_tensor_info info = {.struct_size = sizeof info};
  OK(pmps_tensor_get_info(out[1], &info));
  EXPECT(info.rank == 1 && info.dims[0] == 0 && info.dtype == PMPS_INT32);
  for (int i = 0; i < 2; i++) pmps_tensor_free(out[i]);
  pmps_tensor_free(x);
  pmps_program_free(program);
}

/* ---- Graphs. */

static void graphs_say_what_they_know(void) {
  pmps_graph *graph = NULL;
  int64_t n = 0, m = 0;
  pmps_value x = 0, two = 0, none = 0, y = 0;
  char *text = NULL;
  size_t count = 1;
  OK(pmps_graph_new(&graph));
  OK(pmps_graph_add_symbol(graph, &n));
  OK(pmps_graph_add_symbol(graph, &m));
  EXPECT(n < 0 && m < 0 && n != m);
  const int64_t dims[] = {n, 3, m};
  const pmps_arg number = {PMPS_ARG_INT, 0, {.i = 2}}, left_out = {PMPS_ARG_NONE, 0, {.i = 0}};
  OK(pmps_graph_add_input(graph, PMPS_FLOAT16, 3, dims, &x));
  OK(pmps_graph_add_scalar(graph, &number, &two));
  OK(pmps_graph_add_scalar(graph, &left_out, &none));
  EXPECT(x > 0 && two > 0 && none > 0 && x != two && two != none);
  const pmps_value in[] = {x, two};
  OK(pmps_graph_call(graph, PMPS_OP_DIVIDE, in, 2, NULL, 0, &y, &count));
  pmps_value_info info = {.struct_size = sizeof info};
  OK(pmps_graph_get_value_info(graph, y, &info));
  EXPECT(info.dtype == PMPS_FLOAT16 && info.rank == 3 && info.dims[0] == n && info.dims[1] == 3 && info.dims[2] == m);
  OK(pmps_graph_get_value_info(graph, two, &info));
  EXPECT(info.dtype == PMPS_INT64 && info.rank == 0);
  OK(pmps_graph_get_value_info(graph, none, &info));
  EXPECT(info.dtype == 0 && info.rank == 0);
  OK(pmps_graph_to_text(graph, &text));
  EXPECT(text && strstr(text, "input %0 float16[s0, 3, s1]\n") && strstr(text, " float16[s0, 3, s1] = divide(%0, 2)\n"));
  pmps_text_free(text);
  info.struct_size = 4;
  FAILS(pmps_graph_get_value_info(graph, y, &info), PMPS_INVALID_ARGUMENT, "struct_size");
  FAILS(pmps_graph_get_value_info(graph, y, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_graph_to_text(graph, NULL), PMPS_INVALID_ARGUMENT, "null");
  EXPECT(pmps_live_handles() == 1);
  pmps_graph_free(graph);
  pmps_graph_free(graph);
  pmps_graph_free(NULL);
  EXPECT(pmps_live_handles() == 0);
}

static void inputs_of_graphs_are_checked(void) {
  pmps_graph *graph = NULL, *other = NULL;
  int64_t n = 0, theirs = 0;
  pmps_value x = 0;
  OK(pmps_graph_new(&graph));
  OK(pmps_graph_new(&other));
  OK(pmps_graph_add_symbol(graph, &n));
  OK(pmps_graph_add_symbol(other, &theirs));
  const int64_t fine[10] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, minus = -1, least = INT64_MIN, next = n - 1, large[] = {INT64_MAX, 2};
#define INPUT(dtype, rank, dims) pmps_graph_add_input(graph, dtype, rank, dims, &x)
  FAILS(INPUT(PMPS_FLOAT32, -1, fine), PMPS_INVALID_ARGUMENT, "rank is -1; want 0 to 9");
  FAILS(INPUT(PMPS_FLOAT32, 10, fine), PMPS_INVALID_ARGUMENT, "rank is 10");
  FAILS(INPUT(PMPS_FLOAT32, INT32_MAX, fine), PMPS_INVALID_ARGUMENT, "rank is 2147483647");
  FAILS(INPUT(0, 1, fine), PMPS_TYPE_MISMATCH, "dtype 0 is unknown");
  FAILS(INPUT(99, 1, fine), PMPS_TYPE_MISMATCH, "dtype 99 is unknown");
  FAILS(INPUT(PMPS_FLOAT32, 1, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(INPUT(PMPS_FLOAT32, 1, &minus), PMPS_INVALID_ARGUMENT, "got dimension -1; want a size, or a symbol of this graph");
  FAILS(INPUT(PMPS_FLOAT32, 1, &least), PMPS_INVALID_ARGUMENT, "symbol of this graph");
  FAILS(INPUT(PMPS_FLOAT32, 1, &theirs), PMPS_INVALID_ARGUMENT, "symbol of this graph");
  FAILS(INPUT(PMPS_FLOAT32, 1, &next), PMPS_INVALID_ARGUMENT, "symbol of this graph");
  FAILS(INPUT(PMPS_FLOAT32, 2, large), PMPS_INVALID_ARGUMENT, "exceeds the address space");
  EXPECT(x == 0);
  OK(INPUT(PMPS_FLOAT32, 9, fine));
  OK(INPUT(PMPS_FLOAT32, 0, NULL));
  OK(INPUT(PMPS_FLOAT32, 1, &n));
#undef INPUT
  const pmps_arg tensor = {PMPS_ARG_TENSOR, 0, {.i = 0}}, odd = {77, 0, {.i = 0}}, reserved = {PMPS_ARG_INT, 1, {.i = 0}};
  FAILS(pmps_graph_add_input(graph, PMPS_FLOAT32, 1, fine, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_graph_add_symbol(graph, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_graph_add_scalar(graph, NULL, &x), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_graph_add_scalar(graph, &reserved, &x), PMPS_INVALID_ARGUMENT, "reserved is 1");
  FAILS(pmps_graph_add_scalar(graph, &tensor, &x), PMPS_TYPE_MISMATCH, "got a tensor");
  FAILS(pmps_graph_add_scalar(graph, &odd, &x), PMPS_TYPE_MISMATCH, "kind 77");
  FAILS(pmps_graph_add_constant(graph, NULL, &x), PMPS_INVALID_HANDLE, "tensor");
  FAILS(pmps_graph_new(NULL), PMPS_INVALID_ARGUMENT, "null");
  pmps_graph_free(graph);
  pmps_graph_free(other);
}

/* A tensor of more elements than there is memory, all of them the same one: copying it has to be refused. */
static void constants_that_are_too_large(void) {
  static float element;
  const int64_t dims[] = {1 << 30, 1 << 20}, strides[] = {0, 0};
  pmps_graph *graph = NULL;
  pmps_tensor *wide = NULL;
  pmps_value value = 0;
  OK(pmps_graph_new(&graph));
  OK(pmps_tensor_from_memory(PMPS_FLOAT32, 2, dims, strides, &element, NULL, NULL, &wide));
  FAILS(pmps_graph_add_constant(graph, wide, &value), PMPS_OUT_OF_MEMORY, "");
  EXPECT(value == 0);
  pmps_tensor_free(wide);
  pmps_graph_free(graph);
}

static void calls_in_graphs_are_checked(void) {
  pmps_graph *graph = NULL, *other = NULL;
  const int64_t three = 3, four = 4, sections[] = {1, 2};
  pmps_value x = 0, y = 0, theirs = 0, out[2] = {0};
  size_t count = 1;
  char *before = NULL, *after = NULL;
  OK(pmps_graph_new(&graph));
  OK(pmps_graph_new(&other));
  OK(pmps_graph_add_input(graph, PMPS_FLOAT32, 1, &three, &x));
  OK(pmps_graph_add_input(graph, PMPS_FLOAT32, 1, &four, &y));
  OK(pmps_graph_add_input(other, PMPS_FLOAT32, 1, &three, &theirs));
  OK(pmps_graph_to_text(graph, &before));
#define CALL(op, ...) pmps_graph_call(graph, op, (const pmps_value[]){__VA_ARGS__}, sizeof((pmps_value[]){__VA_ARGS__}) / sizeof(pmps_value), NULL, 0, out, &count)
  FAILS(CALL(PMPS_OP_ADD, x, y), PMPS_INVALID_ARGUMENT, "[add] shapes [3] and [4] do not broadcast");
  FAILS(CALL(PMPS_OP_ADD, x, theirs), PMPS_INVALID_ARGUMENT, "[add] operand 1 is");
  FAILS(CALL(PMPS_OP_ADD, x, 0), PMPS_INVALID_ARGUMENT, "[add] operand 1 is 0; want a value of this graph");
  FAILS(CALL(PMPS_OP_ADD, x, -1), PMPS_INVALID_ARGUMENT, "operand 1 is -1");
  FAILS(CALL(PMPS_OP_ADD, x, INT64_MIN), PMPS_INVALID_ARGUMENT, "operand 1 is");
  FAILS(CALL(PMPS_OP_ADD, x, x + 100), PMPS_INVALID_ARGUMENT, "operand 1 is");
  FAILS(CALL(PMPS_OP_ADD, x), PMPS_INVALID_ARGUMENT, "[add] operand y is missing");
  FAILS(CALL(PMPS_OP_ADD, x, x, x), PMPS_INVALID_ARGUMENT, "[add] got 3 operands");
  FAILS(CALL(0xFFFF, x), PMPS_NOT_FOUND, "65535");
#undef CALL
  const pmps_value in[] = {x, x};
  FAILS(pmps_graph_call(graph, PMPS_OP_ADD, NULL, 2, NULL, 0, out, &count), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_graph_call(graph, PMPS_OP_ADD, in, SIZE_MAX, NULL, 0, out, &count), PMPS_INVALID_ARGUMENT, "at most");
  FAILS(pmps_graph_call(graph, PMPS_OP_ADD, in, 2, NULL, 0, NULL, &count), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_graph_call(graph, PMPS_OP_ADD, in, 2, NULL, 0, out, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_graph_call(graph, PMPS_OP_ADD, in, 2, NULL, 3, out, &count), PMPS_INVALID_ARGUMENT, "null");
  const pmps_attr split = ints_attr("sections", sections, 2), nothing = int_attr("nothing", 1);
  FAILS(pmps_graph_call(graph, PMPS_OP_SPLIT, in, 1, &split, 1, out, &count), PMPS_INVALID_ARGUMENT, "makes 2 values; want room for them, not for 1");
  FAILS(pmps_graph_call(graph, PMPS_OP_SPLIT, in, 1, &nothing, 1, out, &count), PMPS_NOT_FOUND, "\"nothing\"");
  const pmps_tensor *t = ramp(&cpu, 1);
  const pmps_attr tensor = {.name = "axis", .kind = PMPS_ATTR_TENSOR, .value = {.tensor = t}};
  FAILS(pmps_graph_call(graph, PMPS_OP_SOFTMAX, in, 1, &tensor, 1, out, &count), PMPS_UNSUPPORTED, "attribute axis is a tensor");
  pmps_tensor_free((pmps_tensor *)t);
  OK(pmps_graph_to_text(graph, &after));
  EXPECT(before && after && strcmp(before, after) == 0); /* nothing was left behind */
  EXPECT(out[0] == 0 && count == 1);
  pmps_text_free(before);
  pmps_text_free(after);
  pmps_graph_free(graph);
  pmps_graph_free(other);
}

static void programs_end_their_graphs(void) {
  pmps_graph *graph = NULL, *other = NULL;
  pmps_program *program = NULL;
  const int64_t three = 3;
  int64_t n = 0;
  const pmps_arg one = {PMPS_ARG_INT, 0, {.i = 1}};
  pmps_value x = 0, y = 0, number = 0, theirs = 0;
  size_t count = 1;
  char *text = NULL;
  OK(pmps_graph_new(&graph));
  OK(pmps_graph_new(&other));
  OK(pmps_graph_add_input(graph, PMPS_FLOAT32, 1, &three, &x));
  OK(pmps_graph_add_scalar(graph, &one, &number));
  OK(pmps_graph_add_input(other, PMPS_FLOAT32, 1, &three, &theirs));
  const pmps_place missing = {PMPS_MPS, 7};
  FAILS(pmps_program_new(&missing, graph, &x, 1, &program), PMPS_UNAVAILABLE, "mps");
  FAILS(pmps_program_new(&cpu, graph, &x, 0, &program), PMPS_INVALID_ARGUMENT, "got no outputs");
  FAILS(pmps_program_new(&cpu, graph, NULL, 1, &program), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_program_new(&cpu, graph, &x, SIZE_MAX, &program), PMPS_INVALID_ARGUMENT, "at most");
  FAILS(pmps_program_new(&cpu, graph, &x, 1, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_program_new(&cpu, graph, &theirs, 1, &program), PMPS_INVALID_ARGUMENT, "output 0 is");
  FAILS(pmps_program_new(&cpu, graph, &number, 1, &program), PMPS_INVALID_ARGUMENT, "output 0 is a scalar");
  EXPECT(!program);
  OK(pmps_graph_call(graph, PMPS_OP_NEG, &x, 1, NULL, 0, &y, &count)); /* the graph still grows */
  OK(pmps_program_new(NULL, graph, &y, 1, &program));                 /* NULL: the CPU */
#define ENDED(call) FAILS(call, PMPS_INVALID_ARGUMENT, "the graph has become a program")
  pmps_program *again = NULL;
  pmps_tensor *t = ramp(&cpu, 3);
  pmps_value_info info = {.struct_size = sizeof info};
  ENDED(pmps_graph_add_symbol(graph, &n));
  ENDED(pmps_graph_add_input(graph, PMPS_FLOAT32, 1, &three, &x));
  ENDED(pmps_graph_add_constant(graph, t, &x));
  ENDED(pmps_graph_add_scalar(graph, &one, &x));
  ENDED(pmps_graph_call(graph, PMPS_OP_NEG, &x, 1, NULL, 0, &y, &count));
  ENDED(pmps_graph_get_value_info(graph, x, &info));
  ENDED(pmps_graph_to_text(graph, &text));
  ENDED(pmps_program_new(&cpu, graph, &y, 1, &again));
#undef ENDED
  pmps_graph_free(graph);
  pmps_graph_free(other);
  pmps_tensor *out = NULL;
  OK(pmps_program_run(program, &t, 1, &out, &count));
  float values[3];
  OK(pmps_tensor_read(out, values, sizeof values));
  EXPECT(values[0] == 0 && values[2] == -2);
  pmps_tensor_free(out);
  pmps_tensor_free(t);
  pmps_program_free(program);
  pmps_program_free(program);
  pmps_program_free(NULL);
  EXPECT(pmps_live_handles() == 0);
}

static void results_of_unknown_size_are_unsupported(void) {
  pmps_graph *graph = NULL;
  pmps_program *program = NULL;
  const int64_t three = 3;
  pmps_value x = 0, y = 0;
  size_t count = 1;
  OK(pmps_graph_new(&graph));
  OK(pmps_graph_add_input(graph, PMPS_FLOAT32, 1, &three, &x));
  OK(pmps_graph_call(graph, PMPS_OP_NONZERO, &x, 1, NULL, 0, &y, &count));
  /* Views of the result, of which passes over the graph ask what they show. */
  const int64_t axis = 0, start = 1, end = 9;
  const pmps_attr slice[] = {ints_attr("axes", &axis, 1), ints_attr("starts", &start, 1), ints_attr("ends", &end, 1)};
  for (int i = 0; i < 2; i++) OK(pmps_graph_call(graph, PMPS_OP_SLICE, &y, 1, slice, 3, &y, &count));
  OK(pmps_program_new(&cpu, graph, &y, 1, &program));
  const int64_t *const dims[] = {NULL};
  const int32_t rank[] = {0};
  for (int i = 0; i < 2; i++) FAILS(pmps_program_prepare(program, dims, rank, 1), PMPS_UNSUPPORTED, "[nonzero]");
  pmps_program_free(program);
  pmps_graph_free(graph);
}

/* ---- Handles. */

static void bad_handles_are_refused(void) {
  pmps_graph *graph = NULL;
  pmps_program *program = quotient(&cpu);
  OK(pmps_graph_new(&graph));
  pmps_graph_free(graph);
  const uint64_t list[] = {0, bits(graph), bits(program), 1, bits(graph) + 1, UINT64_MAX, bits(&graph)};
#define INVALID(call) FAILS(call, PMPS_INVALID_HANDLE, "handle is null, freed or not of a")
  for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
    pmps_graph *bad = (pmps_graph *)(uintptr_t)list[i];
    const pmps_arg one = {PMPS_ARG_INT, 0, {.i = 1}};
    int64_t n = 0;
    size_t count = 1;
    char *text = NULL;
    pmps_value_info info = {.struct_size = sizeof info};
    pmps_program *made = NULL;
    INVALID(pmps_graph_add_symbol(bad, &n));
    INVALID(pmps_graph_add_input(bad, PMPS_FLOAT32, 0, NULL, &n));
    INVALID(pmps_graph_add_constant(bad, NULL, &n));
    INVALID(pmps_graph_add_scalar(bad, &one, &n));
    INVALID(pmps_graph_call(bad, PMPS_OP_NEG, &n, 1, NULL, 0, &n, &count));
    INVALID(pmps_graph_get_value_info(bad, n, &info));
    INVALID(pmps_graph_to_text(bad, &text));
    INVALID(pmps_program_new(&cpu, bad, &n, 1, &made));
    pmps_graph_free(bad);
    if (list[i] == bits(program)) continue;
    pmps_program *worse = (pmps_program *)(uintptr_t)list[i];
    pmps_program_info about = {.struct_size = sizeof about};
    pmps_tensor *out = NULL;
    INVALID(pmps_program_prepare(worse, NULL, NULL, 0));
    INVALID(pmps_program_run(worse, NULL, 0, &out, &count));
    INVALID(pmps_program_get_info(worse, &about));
    pmps_program_free(worse);
    EXPECT(!n && !text && !made && !out);
  }
#undef INVALID
  pmps_program_info about = {.struct_size = 8};
  FAILS(pmps_program_get_info(program, &about), PMPS_INVALID_ARGUMENT, "struct_size");
  FAILS(pmps_program_get_info(program, NULL), PMPS_INVALID_ARGUMENT, "null");
  pmps_program_free(program);
  EXPECT(pmps_live_handles() == 0);
}

/* ---- Threads. */

enum { THREADS = 6, ROUNDS = 40 };

static pmps_program *shared_program;
static data shared_data;
static atomic_int wrong;

/* Runs the program on a stream of its own, and the same integers come out. */
static void *runner(void *unused) {
  (void)unused;
  const pmps_place *place = target();
  pmps_stream *stream = NULL;
  pmps_error_free(pmps_stream_new(place, &stream));
  pmps_error_free(pmps_stream_set_current(stream));
  for (int i = 0; i < ROUNDS; i++) {
    const int64_t n = 1 + i % 5;
    const int32_t a[] = {7, -8, 9, 10, 11}, b[] = {2, 2, -3, 5, 1}, want[] = {14, -16, 3, 14, 33};
    pmps_tensor *in[2] = {NULL}, *out[2] = {NULL};
    int32_t got[5] = {0};
    size_t count = 2;
    bool good = !pmps_tensor_from_host(place, PMPS_INT32, 1, &n, a, &in[0]) && !pmps_tensor_from_host(place, PMPS_INT32, 1, &n, b, &in[1]);
    good = good && !pmps_program_run(shared_program, in, 2, out, &count);
    if (i % 7 == 3) pmps_error_free(pmps_memory_empty_cache(place)); /* while others run what is in it */
    for (int k = 0; k < 2; k++) pmps_tensor_free(in[k]);
    good = good && !pmps_tensor_read(out[0], got, (size_t)n * sizeof *got) && memcmp(got, want, (size_t)n * sizeof *got) == 0;
    wrong += !good;
    for (int k = 0; k < 2; k++) pmps_tensor_free(out[k]);
  }
  pmps_error_free(pmps_stream_set_current(NULL));
  pmps_stream_free(stream);
  return NULL;
}

static void on_threads(void *(*body)(void *), int count) {
  pthread_t threads[THREADS];
  for (int i = 0; i < count; i++) pthread_create(&threads[i], NULL, body, NULL);
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static void threads_share_a_program(void) {
  shared_program = quotient(target());
  wrong = 0;
  on_threads(runner, THREADS);
  EXPECT(wrong == 0);
  pmps_program_free(shared_program);
  OK(pmps_device_synchronize(target()));
}

static pmps_graph *shared_graph;
static pmps_value shared_input;
static atomic_int added, refused, odd;

/* Adds to a graph to which other threads add: each call has added a node, or has said why not. */
static void *adder(void *unused) {
  (void)unused;
  for (int i = 0; i < 300; i++) {
    pmps_value out = 0;
    size_t count = 1;
    pmps_error *error = pmps_graph_call(shared_graph, PMPS_OP_NEG, &shared_input, 1, NULL, 0, &out, &count);
    if (!error)
      added++;
    else if (strstr(pmps_error_message(error), "another thread is using the graph"))
      refused++;
    else
      odd++;
    pmps_error_free(error);
  }
  return NULL;
}

static void threads_do_not_share_a_graph(void) {
  const int64_t three = 3;
  char *text = NULL;
  int lines = 0;
  added = refused = odd = 0;
  OK(pmps_graph_new(&shared_graph));
  OK(pmps_graph_add_input(shared_graph, PMPS_FLOAT32, 1, &three, &shared_input));
  on_threads(adder, THREADS);
  OK(pmps_graph_to_text(shared_graph, &text));
  for (const char *at = text; at && (at = strstr(at, "= neg(%0)\n")); at++) lines++;
  EXPECT(odd == 0 && added == lines && added + refused == THREADS * 300);
  pmps_text_free(text);
  pmps_graph_free(shared_graph);
}

/* A program that is freed while its runs wait in a queue. */
static void runs_outlive_their_program(void) {
  const pmps_place *place = target();
  shared_data = data_for(place, 64);
  pmps_program *program = program_of(place, &shared_data);
  pmps_tensor *in[] = {shared_data.x, shared_data.y}, *out[20][OUTPUTS] = {{NULL}};
  for (int i = 0; i < 20; i++) {
    size_t count = OUTPUTS;
    OK(pmps_program_run(program, in, 2, out[i], &count));
  }
  pmps_program_free(program);
  free_data(&shared_data);
  for (int i = 1; i < 20; i++) EXPECT(equal(out[0][2], out[i][2])); /* what is not random */
  for (int i = 0; i < 20; i++) {
    for (int k = 0; k < OUTPUTS; k++) pmps_tensor_free(out[i][k]);
  }
}

/* ---- Runs that their caller does not wait for. */

static void runs_can_be_started(void) {
  const pmps_place *place = target();
  data d = data_for(place, 64);
  pmps_program *program = program_of(place, &d);
  pmps_tensor *in[] = {d.x, d.y}, *want[OUTPUTS] = {NULL};
  size_t count = OUTPUTS;
  OK(pmps_program_run(program, in, 2, want, &count));
  pmps_run *runs[40];
  for (int i = 0; i < 40; i++) OK(pmps_program_start(program, in, 2, &runs[i]));
  pmps_program_free(program); /* the runs keep what they need */
  free_data(&d);
  for (int i = 0; i < 40; i++) {
    pmps_tensor *out[OUTPUTS] = {NULL}, *again[OUTPUTS] = {NULL};
    bool ended = false;
    uint64_t wait = 0;
    do OK(pmps_run_wait_for(runs[i], 1000, &wait));
    while (wait);
    OK(pmps_run_query(runs[i], &ended));
    EXPECT(ended);
    OK(pmps_run_cancel(runs[i])); /* too late */
    FAILS(pmps_run_wait(runs[i], out, NULL), PMPS_INVALID_ARGUMENT, "null");
    FAILS(pmps_run_wait(runs[i], NULL, &count), PMPS_INVALID_ARGUMENT, "null");
    count = OUTPUTS - 1;
    FAILS(pmps_run_wait(runs[i], out, &count), PMPS_INVALID_ARGUMENT, "made 8 tensors; want room for them, not for 7");
    EXPECT(!out[0] && count == OUTPUTS - 1);
    count = MOST;
    OK(pmps_run_wait(runs[i], out, &count));
    EXPECT(count == OUTPUTS);
    OK(pmps_run_wait(runs[i], again, &count));
    EXPECT(out[0] != again[0] && data_of(out[0]) == data_of(again[0]));
    pmps_run_free(runs[i]);
    FAILS(pmps_run_query(runs[i], &ended), PMPS_INVALID_HANDLE, "run");
    EXPECT(equal(out[2], want[2])); /* what is not random */
    for (int k = 0; k < OUTPUTS; k++) pmps_tensor_free(out[k]), pmps_tensor_free(again[k]);
  }
  for (int k = 0; k < OUTPUTS; k++) pmps_tensor_free(want[k]);
  EXPECT(pmps_live_handles() == 0);
}

static void failures_of_runs_are_returned(void) {
  const pmps_place *place = target();
  pmps_program *program = quotient(place);
  const int64_t three = 3;
  const int32_t values[] = {7, -8, 3}, zeros[] = {1, 0, 1};
  pmps_tensor *in[2] = {NULL}, *out[2] = {NULL};
  pmps_run *run = NULL, *other = (pmps_run *)program;
  uint64_t wait = 0;
  bool ended = false;
  size_t count = 2;
  OK(pmps_tensor_from_host(place, PMPS_INT32, 1, &three, values, &in[0]));
  OK(pmps_tensor_from_host(place, PMPS_INT32, 1, &three, zeros, &in[1]));
  OK(pmps_program_start(program, in, 2, &run));
  for (int i = 0; i < 2; i++) FAILS(pmps_run_wait(run, out, &count), PMPS_ARITHMETIC, "divided by zero");
  FAILS(pmps_run_wait_for(run, -1, &wait), PMPS_INVALID_ARGUMENT, "timeout_ms is -1");
  FAILS(pmps_run_wait_for(run, 1, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_run_query(run, NULL), PMPS_INVALID_ARGUMENT, "null");
  pmps_run_free(run);
  pmps_error_free(pmps_device_synchronize(place)); /* reports it too, where work is queued */
  OK(pmps_program_start(program, in, 1, &run));
  FAILS(pmps_run_wait(run, out, &count), PMPS_INVALID_ARGUMENT, "got 1 inputs; want 2");
  EXPECT(!out[0] && count == 2);
  pmps_run_free(run);
  pmps_run_free(run);
  pmps_run_free(NULL);
  FAILS(pmps_program_start(program, in, 2, NULL), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_program_start(program, NULL, 2, &run), PMPS_INVALID_ARGUMENT, "null");
  FAILS(pmps_program_start((pmps_program *)in[0], in, 2, &run), PMPS_INVALID_HANDLE, "program");
  FAILS(pmps_program_start(program, (pmps_tensor *[]){in[0], NULL}, 2, &run), PMPS_INVALID_HANDLE, "input 1 is null");
  FAILS(pmps_run_wait(other, out, &count), PMPS_INVALID_HANDLE, "run");
  FAILS(pmps_run_wait_for(other, 0, &wait), PMPS_INVALID_HANDLE, "run");
  FAILS(pmps_run_query(other, &ended), PMPS_INVALID_HANDLE, "run");
  FAILS(pmps_run_cancel(other), PMPS_INVALID_HANDLE, "run");
  for (int i = 0; i < 2; i++) pmps_tensor_free(in[i]);
  pmps_program_free(program);
  EXPECT(pmps_live_handles() == 0);
}

static atomic_int wrong_runs, completed, cancelled;

/* Starts runs of the shared program, cancels some from here and frees some without a wait. */
static void *starter(void *unused) {
  (void)unused;
  for (int round = 0; round < 10; round++) {
    pmps_tensor *in[] = {shared_data.x, shared_data.y};
    pmps_run *runs[12] = {NULL};
    for (int i = 0; i < 12; i++) {
      pmps_error *error = pmps_program_start(shared_program, in, 2, &runs[i]);
      wrong_runs += error != NULL;
      pmps_error_free(error);
    }
    for (int i = 11; i >= 0; i--) {
      if (i % 3 == 0) pmps_error_free(pmps_run_cancel(runs[i]));
      if (i % 4 == 0) pmps_run_free(runs[i]);
    }
    for (int i = 0; i < 12; i++) {
      if (i % 4 == 0) continue;
      pmps_tensor *out[OUTPUTS] = {NULL};
      size_t count = OUTPUTS;
      pmps_error *error = pmps_run_wait(runs[i], out, &count);
      if (!error) completed++;
      else if (i % 3 == 0 && pmps_error_code(error) == PMPS_CANCELLED && !out[0]) cancelled++;
      else wrong_runs++;
      pmps_error_free(error);
      for (int k = 0; k < OUTPUTS; k++) pmps_tensor_free(out[k]);
      pmps_run_free(runs[i]);
    }
  }
  return NULL;
}

static void many_runs_at_once(void) {
  const pmps_place *place = target();
  shared_data = data_for(place, 16);
  shared_program = program_of(place, &shared_data);
  wrong_runs = completed = cancelled = 0;
  on_threads(starter, THREADS);
  EXPECT(wrong_runs == 0 && completed + cancelled == THREADS * 10 * 9 && completed >= THREADS * 10 * 6);
  OK(pmps_device_synchronize(place)); /* a cancelled run is no failure of its stream */
  pmps_program_free(shared_program);
  free_data(&shared_data);
}

static void nothing_is_left(void) {
  OK(pmps_device_synchronize(target()));
  for (int i = 0; i < 1000 && pmps_live_handles() != 0; i++) OK(pmps_device_synchronize(target())); /* streams close by themselves */
  EXPECT(pmps_live_handles() == 0);
}

int main(void) {
  RUN(graphs_say_what_they_know);
  RUN(inputs_of_graphs_are_checked);
  RUN(constants_that_are_too_large);
  RUN(calls_in_graphs_are_checked);
  RUN(programs_end_their_graphs);
  RUN(results_of_unknown_size_are_unsupported);
  RUN(bad_handles_are_refused);
  RUN(fifty_operators_are_one_call);
  RUN(memory_comes_back);
  RUN(prepared_programs_do_not_compile);
  RUN(a_division_by_zero_is_reported);
  RUN(strided_inputs_are_taken_as_they_are);
  RUN(inputs_have_to_fit);
  RUN(outputs_may_be_given);
  RUN(inputs_without_elements);
  RUN(threads_share_a_program);
  RUN(threads_do_not_share_a_graph);
  RUN(runs_outlive_their_program);
  RUN(runs_can_be_started);
  RUN(failures_of_runs_are_returned);
  RUN(many_runs_at_once);
  RUN(nothing_is_left);
  return failed_tests != 0;
}
