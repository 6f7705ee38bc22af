/*
 * traces.c - programs made of calls: what they capture, write back and differentiate, and errors.
 */
#include <stdio.h>
#include <stdlib.h>

#include "check.h"
#include "suite.h"

static const pmps_place *places[2] = {&cpu, &mps};
static int place_count(void) { return has_mps() ? 2 : 1; }

/* Whether a tensor of three elements has these. */
static bool holds(const pmps_tensor *x, float a, float b, float c) {
  float values[3] = {-1, -1, -1};
  OK(pmps_tensor_read(x, values, sizeof values));
  return values[0] == a && values[1] == b && values[2] == c;
}

static bool is_traced(const pmps_tensor *x) {
  pmps_tensor_info info = {.struct_size = sizeof info};
  OK(pmps_tensor_get_info(x, &info));
  return info.traced;
}

/* The one result of a run. */
static pmps_tensor *run(pmps_program *program, pmps_tensor *x) {
  pmps_tensor *out = NULL;
  size_t count = 1;
  OK(pmps_program_run(program, &x, 1, &out, &count));
  EXPECT(count == 1);
  return out;
}

/* The program x -> x * w + x, with w captured. */
static pmps_program *product(pmps_tensor *x, pmps_tensor *w) {
  pmps_trace *trace = NULL;
  pmps_tensor *in = NULL;
  pmps_program *program = NULL;
  pmps_tensor_info info = {.struct_size = sizeof info};
  OK(pmps_tensor_get_info(x, &info));
  OK(pmps_trace_begin(&info.place, &x, 1, &in, &trace));
  pmps_tensor *y = apply(PMPS_OP_MULTIPLY, in, w), *z = apply(PMPS_OP_ADD, y, in);
  EXPECT(is_traced(in) && is_traced(y) && is_traced(z) && !is_traced(w));
  float values[3];
  FAILS(pmps_tensor_read(z, values, sizeof values), PMPS_TRACED, "[read] got a tensor of a function that is being traced");
  char *text = NULL;
  OK(pmps_trace_to_text(trace, &text));
  EXPECT(strstr(text, "multiply(%0, %1)") != NULL);
  pmps_text_free(text);
  OK(pmps_trace_end(trace, &z, 1, &program));
  pmps_tensor_free(in);
  pmps_tensor_free(y);
  pmps_tensor_free(z);
  return program;
}

static void calls_become_a_program(void) {
  for (int i = 0; i < place_count(); i++) {
    pmps_tensor *x = ramp(places[i], 3), *w = ramp(places[i], 3), *again = NULL;
    pmps_program *program = product(x, w);
    pmps_tensor *out = run(program, x);
    EXPECT(holds(out, 0, 2, 6));
    pmps_tensor_free(out);
    OK(pmps_op_call_into(PMPS_OP_ADD, (pmps_arg[]){of_tensor(w), of_tensor(w)}, 2, NULL, 0, w));
    out = run(program, x);
    EXPECT(holds(out, 0, 3, 10)); /* captured by reference */
    pmps_program_info info = {.struct_size = sizeof info};
    OK(pmps_program_get_info(program, &info));
    EXPECT(info.captured == 1 && info.inputs == 1 && info.compilations == 1);
    OK(pmps_program_get_captured(program, 0, &again));
    EXPECT(holds(again, 0, 2, 4));
    FAILS(pmps_program_get_captured(program, 1, &again), PMPS_INDEX_OUT_OF_RANGE, "want one below 1");
    char *text = NULL;
    OK(pmps_program_to_text(program, true, &text));
    EXPECT(strstr(text, "arena of") != NULL);
    pmps_text_free(text);
    pmps_tensor_free(again);
    pmps_tensor_free(out);
    pmps_program_free(program);
    pmps_tensor_free(x);
    pmps_tensor_free(w);
  }
}

/* A tensor of elements that is made while the thread traces is new in each run; a read after a write is refused. */
static void elements_become_constants(void) {
  for (int i = 0; i < place_count(); i++) {
    pmps_tensor *x = ramp(places[i], 3), *in = NULL;
    pmps_trace *trace = NULL;
    pmps_program *program = NULL;
    OK(pmps_trace_begin(places[i], &x, 1, &in, &trace));
    pmps_tensor *sum = ramp(places[i], 3);
    pmps_tensor_info info = {.struct_size = sizeof info};
    OK(pmps_tensor_get_info(sum, &info));
    EXPECT(info.made_here && !info.traced && holds(sum, 0, 1, 2) && holds(x, 0, 1, 2));
    OK(pmps_op_call_into(PMPS_OP_ADD, (pmps_arg[]){of_tensor(sum), of_tensor(in)}, 2, NULL, 0, sum));
    float values[3];
    FAILS(pmps_tensor_read(sum, values, sizeof values), PMPS_TRACED, "has written to");
    OK(pmps_trace_end(trace, &sum, 1, &program));
    OK(pmps_tensor_get_info(sum, &info));
    EXPECT(!info.made_here && holds(sum, 0, 1, 2));
    for (int j = 0; j < 2; j++) {
      pmps_tensor *out = run(program, x);
      EXPECT(holds(out, 0, 2, 4));
      pmps_tensor_free(out);
    }
    pmps_program_free(program);
    pmps_tensor_free(in);
    pmps_tensor_free(sum);
    pmps_tensor_free(x);
  }
}

/* Two traces for other sizes are a program for all sizes, also in a file. */
static void sizes_are_opened(void) {
  const char *folder = getenv("TMPDIR");
  char path[512];
  snprintf(path, sizeof path, "%s/open-%p.program", folder ? folder : ".", (void *)path);
  for (int i = 0; i < place_count(); i++) {
    pmps_tensor *w = ramp(places[i], 1), *three = ramp(places[i], 3), *four = ramp(places[i], 4), *five = ramp(places[i], 5);
    pmps_program *first = product(four, w), *second = product(five, w), *both = NULL, *loaded = NULL;
    OK(pmps_program_unify(first, second, &both));
    pmps_program_free(first);
    pmps_program_free(second);
    pmps_value_info info = {.struct_size = sizeof info};
    OK(pmps_program_get_port(both, false, 0, &info, NULL, NULL));
    EXPECT(info.rank == 1 && info.dims[0] == -1);
    OK(pmps_program_save(both, path));
    OK(pmps_program_load(places[i], path, NULL, 0, &loaded));
    pmps_program *const all[] = {both, loaded};
    for (int j = 0; j < 2; j++) {
      pmps_tensor *out = run(all[j], three);
      EXPECT(holds(out, 0, 1, 2));
      pmps_tensor_free(out);
    }
    FAILS(pmps_program_unify(loaded, both, &first), PMPS_UNSUPPORTED, "want two traces of one function that differ in sizes");
    FAILS(pmps_program_unify(both, both, NULL), PMPS_INVALID_ARGUMENT, "null");
    FAILS(pmps_program_unify(both, NULL, &first), PMPS_INVALID_HANDLE, "program");
    pmps_program_free(both);
    pmps_program_free(loaded);
    pmps_tensor_free(w);
    pmps_tensor_free(three);
    pmps_tensor_free(four);
    pmps_tensor_free(five);
  }
  EXPECT(remove(path) == 0);
}

/* A program that was saved computes the same after it was loaded, with what it had captured then. */
static void programs_are_saved(void) {
  const char *folder = getenv("TMPDIR");
  char path[512];
  snprintf(path, sizeof path, "%s/saved-%p.program", folder ? folder : ".", (void *)path);
  for (int i = 0; i < place_count(); i++) {
    pmps_tensor *x = ramp(places[i], 3), *w = ramp(places[i], 3);
    pmps_program *program = product(x, w), *again = NULL;
    OK(pmps_program_save(program, path));
    OK(pmps_op_call_into(PMPS_OP_ADD, (pmps_arg[]){of_tensor(w), of_tensor(w)}, 2, NULL, 0, w));
    pmps_program_free(program);
    for (int j = 0; j < place_count(); j++) {
      pmps_tensor *there = ramp(places[j], 3);
      OK(pmps_program_load(places[j], path, NULL, 0, &again));
      pmps_tensor *out = run(again, there);
      pmps_program_free(again);
      EXPECT(holds(out, 0, 2, 6));
      pmps_tensor_free(out);
      pmps_tensor_free(there);
    }
    pmps_tensor_free(x);
    pmps_tensor_free(w);
  }
  pmps_program *program = NULL;
  FILE *cut = fopen(path, "wb");
  EXPECT(cut && fputs("paddle-mps program 1\n", cut) >= 0 && fclose(cut) == 0);
  FAILS(pmps_program_load(&cpu, path, NULL, 0, &program), PMPS_INVALID_ARGUMENT, "the file ends at byte 21");
  FAILS(pmps_program_load(&cpu, "/dev/null", NULL, 0, &program), PMPS_INVALID_ARGUMENT, "no regular file");
  EXPECT(remove(path) == 0);
  FAILS(pmps_program_load(&cpu, path, NULL, 0, &program), PMPS_INVALID_ARGUMENT, "no such file");
}

static void programs_have_gradients(void) {
  for (int i = 0; i < place_count(); i++) {
    pmps_tensor *x = ramp(places[i], 3), *w = ramp(places[i], 3), *grad = NULL;
    OK(pmps_tensor_set_requires_grad(x, true));
    OK(pmps_tensor_set_requires_grad(w, true));
    pmps_program *program = product(x, w);
    pmps_tensor *out = run(program, x);
    pmps_program_free(program);
    const pmps_grad_pass pass = {.struct_size = sizeof pass, .of = &out, .of_count = 1};
    OK(pmps_grad_backward(&pass, NULL));
    OK(pmps_tensor_get_grad(x, &grad));
    EXPECT(holds(grad, 1, 2, 3)); /* w + 1 */
    pmps_tensor_free(grad);
    OK(pmps_tensor_get_grad(w, &grad));
    EXPECT(holds(grad, 0, 1, 2));
    pmps_tensor_free(grad);
    pmps_tensor_free(out);
    pmps_tensor_free(x);
    pmps_tensor_free(w);
  }
}

static void a_thread_traces_one_function(void) {
  pmps_trace *trace = NULL, *other = NULL;
  pmps_tensor *x = ramp(&cpu, 3), *in = NULL;
  pmps_program *program = NULL;
  OK(pmps_trace_begin(&cpu, &x, 1, &in, &trace));
  FAILS(pmps_trace_begin(&cpu, NULL, 0, NULL, &other), PMPS_INVALID_ARGUMENT, "this thread is tracing");
  FAILS(pmps_stream_set_current(NULL), PMPS_TRACED, "a function is being traced");
  FAILS(pmps_trace_pause(trace, false), PMPS_INVALID_ARGUMENT, "pauses by turns");
  OK(pmps_trace_pause(trace, true));
  pmps_tensor *sum = apply(PMPS_OP_ADD, x, x);
  EXPECT(!is_traced(sum) && holds(sum, 0, 2, 4));
  FAILS(pmps_trace_end(trace, &sum, 1, &program), PMPS_INVALID_ARGUMENT, "or the trace is paused");
  OK(pmps_trace_pause(trace, false));
  pmps_trace_abort(trace);
  pmps_trace_abort(trace);
  FAILS(pmps_trace_end(trace, &in, 1, &program), PMPS_INVALID_HANDLE, "[trace_end]");
  FAILS(pmps_trace_begin(&cpu, NULL, 1, &in, &trace), PMPS_INVALID_ARGUMENT, "[trace_begin]");
  pmps_tensor_free(in);
  pmps_tensor_free(sum);
  pmps_tensor_free(x);
}

static void no_handles_are_left(void) { EXPECT(pmps_live_handles() == 0); }

void traces_suite(void) {
  RUN(calls_become_a_program);
  RUN(elements_become_constants);
  RUN(programs_are_saved);
  RUN(sizes_are_opened);
  RUN(programs_have_gradients);
  RUN(a_thread_traces_one_function);
  RUN(no_handles_are_left);
}
