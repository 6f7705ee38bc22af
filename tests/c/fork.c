/*
 * fork.c - a forked child: every function answers at once, with PMPS_FORKED where it can fail. The
 * parent forks while other threads are inside the library, and goes on as before.
 */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

static pmps_tensor *tensor;
static pmps_stream *stream;
static pmps_event *event;
static pmps_error *old_error;
static pmps_graph *graph;
static pmps_value value;
static pmps_program *program;
static struct DLManagedTensor *exported;

#define FORKED(call) FAILS(call, PMPS_FORKED, "exec or spawn")

static void fallible_calls(void) {
  const int64_t n = 1;
  float data[1] = {0};
  void *address = NULL;
  char *json = NULL;
  bool done = false;
  double ms = 0;
  uint64_t seed = 0, counter = 0, wait = 0;
  size_t count = 1;
  pmps_op op = 0;
  pmps_place place;
  pmps_stream *s = NULL;
  pmps_event *e = NULL;
  pmps_tensor *t = NULL;
  struct DLManagedTensorVersioned *versioned = NULL;
  pmps_device_info device = {.struct_size = sizeof device};
  pmps_memory_stats stats = {.struct_size = sizeof stats};
  pmps_tensor_info info = {.struct_size = sizeof info};
  const pmps_index item = {PMPS_INDEX_INT, 0, 0, 0, 0};
  const pmps_arg arg = of_tensor(tensor);

  FORKED(pmps_init(PMPS_ABI_VERSION));
  FORKED(pmps_device_get_info(NULL, &device));
  FORKED(pmps_memory_get_stats(NULL, &stats));
  FORKED(pmps_memory_reset_peak(NULL));
  FORKED(pmps_memory_empty_cache(NULL));
  FORKED(pmps_memory_reset_accumulated(NULL));
  FORKED(pmps_memory_set_limit(NULL, 0));
  FORKED(pmps_memory_record_history(NULL, 10, NULL, NULL));
  FORKED(pmps_memory_snapshot(NULL, &json));
  FORKED(pmps_device_synchronize(NULL));
  FORKED(pmps_device_wait_for(NULL, 1000, &wait));
  FORKED(pmps_rng_seed(NULL, 1));
  FORKED(pmps_rng_get_state(NULL, &seed, &counter));
  FORKED(pmps_rng_set_state(NULL, 1, 2));
  FORKED(pmps_stream_new(NULL, &s));
  FORKED(pmps_stream_default(NULL, &s));
  FORKED(pmps_stream_set_current(stream));
  FORKED(pmps_stream_get_current(NULL, &s));
  FORKED(pmps_stream_get_place(stream, &place));
  FORKED(pmps_stream_query(stream, &done));
  FORKED(pmps_stream_synchronize(stream));
  FORKED(pmps_stream_get_id(stream, &wait));
  FORKED(pmps_stream_wait_for(stream, 1000, &wait));
  FORKED(pmps_stream_wait_event(stream, event));
  FORKED(pmps_event_new(NULL, 0, &e));
  FORKED(pmps_event_record(event, stream));
  FORKED(pmps_event_query(event, &done));
  FORKED(pmps_event_synchronize(event));
  FORKED(pmps_event_wait_for(event, 1000, &wait));
  FORKED(pmps_event_elapsed(event, event, &ms));
  FORKED(pmps_tensor_empty(NULL, PMPS_FLOAT32, 1, &n, &t));
  FORKED(pmps_tensor_from_host(NULL, PMPS_FLOAT32, 1, &n, data, &t));
  FORKED(pmps_tensor_from_memory(PMPS_FLOAT32, 1, &n, NULL, data, NULL, NULL, &t));
  FORKED(pmps_tensor_from_strings(NULL, 1, &n, data, sizeof data, &t));
  FORKED(pmps_tensor_get_strings(tensor, &json, &count));
  FORKED(pmps_tensor_retain(tensor, &t));
  FORKED(pmps_tensor_replace(tensor, tensor, &t));
  FORKED(pmps_tensor_get_info(tensor, &info));
  FORKED(pmps_tensor_read(tensor, data, sizeof data));
  FORKED(pmps_tensor_write(tensor, data, sizeof data));
  FORKED(pmps_tensor_wait_for(tensor, true, 1000, &wait));
  FORKED(pmps_tensor_map(tensor, &address));
  FORKED(pmps_tensor_to(tensor, NULL, true, &t));
  FORKED(pmps_tensor_share(tensor, NULL, &t));
  FORKED(pmps_tensor_view(tensor, PMPS_INT32, &t));
  FORKED(pmps_tensor_index(tensor, &item, 1, &t));
  FORKED(pmps_tensor_from_dlpack(exported, &t));
  FORKED(pmps_tensor_from_dlpack_versioned(versioned, &t));
  FORKED(pmps_tensor_to_dlpack(tensor, &exported));
  FORKED(pmps_tensor_to_dlpack_versioned(tensor, &versioned));
  FORKED(pmps_op_find("add", &op));
  FORKED(pmps_op_call(PMPS_OP_NEG, &arg, 1, NULL, 0, &t, &count));
  FORKED(pmps_op_call_on(NULL, PMPS_OP_NEG, &arg, 1, NULL, 0, &t, &count));
  FORKED(pmps_op_call_into(PMPS_OP_NEG, &arg, 1, NULL, 0, tensor));
  EXPECT(!t && !s && !e && !versioned && !json && op == 0);
}

static void shader_calls(void) {
  void *object = NULL;
  char *names = NULL;
  size_t offset = 0;
  bool enabled = false, capturing = false;
  pmps_library *library = NULL;
  pmps_kernel *kernel = NULL;
  pmps_kernel_info info = {.struct_size = sizeof info};
  const pmps_kernel_arg arg = {tensor, NULL, 0};
  FORKED(pmps_library_new(NULL, "", &library));
  FORKED(pmps_library_load(NULL, "kernels.metallib", &library));
  FORKED(pmps_library_get_names(library, &names));
  FORKED(pmps_triton_compile("", 0, NULL, &names, &names));
  FORKED(pmps_library_get_kernel(library, "f", &kernel));
  FORKED(pmps_kernel_get_info(kernel, &info));
  FORKED(pmps_kernel_run(kernel, &arg, 1, NULL, NULL));
  FORKED(pmps_kernel_run_reporting(kernel, &arg, 1, NULL, NULL, "[]"));
  pmps_kernel_free(kernel);
  pmps_library_free(library);
  FORKED(pmps_device_get_metal(NULL, &object));
  char *census = NULL;
  FORKED(pmps_device_census(NULL, &census));
  FORKED(pmps_stream_get_metal(stream, &object));
  FORKED(pmps_tensor_get_metal(tensor, &object, &offset));
  FORKED(pmps_capture_get_state(NULL, &enabled, &capturing));
  FORKED(pmps_capture_begin(NULL, "trace.gputrace"));
  FORKED(pmps_capture_end(NULL));
  FORKED(pmps_profile_start(0, 0));
  FORKED(pmps_profile_stop(&names));
  EXPECT(pmps_profile_begin() == 0);
  pmps_profile_end(1, "fork", "span");
  EXPECT(!object && !names && !library && !kernel && !enabled && !capturing);
}

static void program_calls(void) {
  const pmps_arg one = {PMPS_ARG_INT, 0, {.i = 1}};
  int64_t dim = 0;
  size_t count = 1;
  char *text = NULL;
  pmps_graph *g = NULL;
  pmps_program *p = NULL;
  pmps_tensor *t = NULL;
  pmps_value v = 0;
  pmps_value_info info = {.struct_size = sizeof info};
  pmps_program_info about = {.struct_size = sizeof about};
  FORKED(pmps_graph_new(&g));
  FORKED(pmps_graph_add_symbol(graph, &dim));
  FORKED(pmps_graph_add_input(graph, PMPS_FLOAT32, 0, NULL, &v));
  FORKED(pmps_graph_add_constant(graph, tensor, &v));
  FORKED(pmps_graph_add_scalar(graph, &one, &v));
  FORKED(pmps_graph_call(graph, PMPS_OP_NEG, &value, 1, NULL, 0, &v, &count));
  FORKED(pmps_graph_get_value_info(graph, value, &info));
  FORKED(pmps_graph_to_text(graph, &text));
  FORKED(pmps_program_new(NULL, graph, &value, 1, &p));
  FORKED(pmps_program_prepare(program, NULL, NULL, 0));
  FORKED(pmps_program_run(program, &tensor, 1, &t, &count));
  FORKED(pmps_program_run_into(program, &tensor, 1, &tensor, 1));
  pmps_run *run = NULL;
  bool over = false;
  uint64_t wait = 0;
  FORKED(pmps_program_start(program, &tensor, 1, &run));
  FORKED(pmps_run_query(run, &over));
  FORKED(pmps_run_wait_for(run, 1000, &wait));
  FORKED(pmps_run_wait(run, &t, &count));
  FORKED(pmps_run_cancel(run));
  pmps_run_free(run);
  FORKED(pmps_program_get_info(program, &about));
  char *words = NULL;
  pmps_trace *trace = NULL;
  FORKED(pmps_program_to_text(program, false, &words));
  FORKED(pmps_program_save(program, "p"));
  FORKED(pmps_program_unify(program, program, &p));
  FORKED(pmps_program_get_captured(program, 0, &t));
  FORKED(pmps_program_load(NULL, "model.onnx", NULL, 0, &p));
  FORKED(pmps_program_get_port(program, false, 0, &info, &text, NULL));
  FORKED(pmps_program_describe(program, &text));
  FORKED(pmps_trace_begin(&cpu, NULL, 0, NULL, &trace));
  FORKED(pmps_trace_end(NULL, NULL, 0, &program));
  FORKED(pmps_trace_pause(NULL, true));
  FORKED(pmps_trace_to_text(NULL, &words));
  pmps_trace_abort(NULL);
  pmps_graph_free(graph);
  pmps_program_free(program);
  EXPECT(!g && !p && !t && !v && !text && !dim);
}

static int32_t no_hook(void *user, pmps_tensor *grad, pmps_tensor **other) {
  (void)user, (void)grad, (void)other;
  return 1;
}

static int32_t no_function(void *user, pmps_tensor *const *of, size_t outputs, pmps_tensor **grads, size_t inputs) {
  (void)user, (void)of, (void)outputs, (void)grads, (void)inputs;
  return 1;
}

static void gradient_calls(void) {
  pmps_tensor *t = NULL;
  uint64_t id = 0;
  bool removed = false;
  pmps_grad_info info = {.struct_size = sizeof info};
  const pmps_grad_pass pass = {.struct_size = sizeof pass, .of = &tensor, .of_count = 1};
  const pmps_grad_function function = {.struct_size = sizeof function, .backward = no_function};
  pmps_grad_set_enabled(true);
  FORKED(pmps_tensor_set_requires_grad(tensor, true));
  FORKED(pmps_tensor_get_grad_info(tensor, &info));
  FORKED(pmps_tensor_get_grad(tensor, &t));
  FORKED(pmps_tensor_set_grad(tensor, NULL));
  FORKED(pmps_tensor_zero_grad(tensor));
  FORKED(pmps_tensor_retain_grad(tensor));
  FORKED(pmps_tensor_end_history(tensor));
  FORKED(pmps_tensor_detach(tensor, &t));
  FORKED(pmps_tensor_weaken(tensor, &t));
  FORKED(pmps_tensor_add_grad_hook(tensor, no_hook, NULL, NULL, &id));
  FORKED(pmps_tensor_remove_grad_hook(tensor, 1, &removed));
  FORKED(pmps_grad_backward(&pass, NULL));
  FORKED(pmps_grad_apply(&function, &tensor, 1, &tensor, 1));
  EXPECT(!t && !id && !removed);
}

static void fast_calls(void) {
  const pmps_index item = {PMPS_INDEX_INT, 0, 0, 0, 0};
  const pmps_arg arg = of_tensor(tensor);
  const uint64_t x = bits(tensor);
  EXPECT(pmps_fast_unary(PMPS_OP_NEG, x, 0) == 0);
  FORKED(pmps_fast_error());
  EXPECT(pmps_fast_binary(PMPS_OP_ADD, x, x, 0) == 0);
  EXPECT(pmps_fast_scalar(PMPS_OP_ADD, x, PMPS_ARG_INT, 1, 0) == 0);
  EXPECT(pmps_fast_call(PMPS_OP_NEG, &arg, 1, NULL, 0, UINT64_MAX, 0) == 0);
  EXPECT(pmps_fast_call_into(PMPS_OP_NEG, &arg, 1, NULL, 0, x, 0) == 0);
  EXPECT(pmps_fast_read(x, NULL, 0) == 0);
  EXPECT(pmps_fast_wait(1000) == 1 && pmps_fast_idle(0) == 0);
  EXPECT(pmps_fast_index(x, &item, 1, 0) == 0);
  FORKED(pmps_fast_error());
  pmps_fast_release(&x, 1);
  EXPECT(!pmps_python_init(NULL, NULL));
}

static void getters_and_frees(void) {
  EXPECT(pmps_abi_version() == PMPS_ABI_VERSION && strcmp(pmps_version(), PMPS_VERSION) == 0);
  EXPECT(pmps_device_count(PMPS_CPU) == 0 && pmps_dtype_size(PMPS_FLOAT32) == 0 && pmps_live_handles() == 0);
  EXPECT(!pmps_dtype_name(PMPS_FLOAT32) && !pmps_op_name(PMPS_OP_ADD) && !pmps_op_signature(PMPS_OP_ADD));
  EXPECT(strcmp(pmps_code_name(PMPS_FORKED), "FORKED") == 0);
  EXPECT(pmps_error_code(old_error) == PMPS_NOT_FOUND); /* made before the fork */
  EXPECT(strstr(pmps_error_message(old_error), "nothing"));
  pmps_error_free(old_error);
  pmps_log_set(NULL, NULL, 3);
  pmps_memory_on_pressure(NULL, NULL);
  pmps_text_free(NULL);
  pmps_tensor_unmap(tensor);
  pmps_tensor_free(tensor);
  pmps_stream_free(stream);
  pmps_event_free(event);
}

static atomic_bool stop;

static void *busy(void *unused) {
  (void)unused;
  pmps_tensor *x = ramp(NULL, 64);
  while (!stop) {
    pmps_tensor_free(apply(PMPS_OP_ADD, x, x));
    pmps_op op;
    pmps_error_free(pmps_op_find("nothing", &op)); /* takes the lock of the errors */
  }
  pmps_tensor_free(x);
  return NULL;
}

/* Whether a child that runs a test ends by itself and well, within ten seconds. */
static void in_child(void (*test)(void)) {
  fflush(stdout);
  pid_t child = fork();
  EXPECT(child >= 0);
  if (child == 0) {
    alarm(10);
    failing = false;
    test();
    fflush(stdout);
    _exit(failing);
  }
  int status = -1;
  EXPECT(waitpid(child, &status, 0) == child);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void fallible_calls_in_a_child(void) { in_child(fallible_calls); }
static void shader_calls_in_a_child(void) { in_child(shader_calls); }
static void program_calls_in_a_child(void) { in_child(program_calls); }
static void gradient_calls_in_a_child(void) { in_child(gradient_calls); }
static void fast_calls_in_a_child(void) { in_child(fast_calls); }
static void getters_and_frees_in_a_child(void) { in_child(getters_and_frees); }

static void grandchild(void) { in_child(fast_calls); }
static void calls_in_a_grandchild(void) { in_child(grandchild); }

static void forks_under_load(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; i++) pthread_create(&threads[i], NULL, busy, NULL);
  for (int i = 0; i < 20 && !failing; i++) in_child(i % 2 ? fallible_calls : getters_and_frees);
  stop = true;
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static void the_parent_goes_on(void) {
  EXPECT(first(tensor) == 0);
  pmps_tensor *sum = apply(PMPS_OP_ADD, tensor, tensor);
  pmps_tensor_free(sum);
  OK(pmps_stream_synchronize(stream));
  pmps_tensor *negated = NULL;
  size_t count = 1;
  OK(pmps_program_run(program, &tensor, 1, &negated, &count)); /* the child's free was none */
  pmps_tensor_free(negated);
  pmps_program_free(program);
  pmps_graph_free(graph);
  pmps_error_free(old_error);
  pmps_tensor_free(tensor);
  pmps_stream_free(stream);
  pmps_event_free(event);
  EXPECT(pmps_live_handles() == 0);
}

/* A graph that is under way, and a program of another. */
static void make_program(void) {
  const int64_t four = 4;
  pmps_graph *other = NULL;
  pmps_value x = 0, y = 0;
  size_t count = 1;
  OK(pmps_graph_new(&graph));
  OK(pmps_graph_add_input(graph, PMPS_FLOAT32, 1, &four, &value));
  OK(pmps_graph_new(&other));
  OK(pmps_graph_add_input(other, PMPS_FLOAT32, 1, &four, &x));
  OK(pmps_graph_call(other, PMPS_OP_NEG, &x, 1, NULL, 0, &y, &count));
  OK(pmps_program_new(NULL, other, &y, 1, &program));
  pmps_graph_free(other);
}

int main(void) {
  pmps_op op;
  tensor = ramp(NULL, 4);
  make_program();
  OK(pmps_stream_new(NULL, &stream));
  OK(pmps_event_new(NULL, 0, &event));
  old_error = pmps_op_find("nothing", &op);
  RUN(fallible_calls_in_a_child);
  RUN(shader_calls_in_a_child);
  RUN(program_calls_in_a_child);
  RUN(gradient_calls_in_a_child);
  RUN(fast_calls_in_a_child);
  RUN(getters_and_frees_in_a_child);
  RUN(calls_in_a_grandchild);
  RUN(forks_under_load);
  RUN(the_parent_goes_on);
  return failed_tests != 0;
}
