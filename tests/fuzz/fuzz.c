/*
 * fuzz.c - random calls of every function of the C interface.
 *
 *   fuzz SECONDS [SEED]      rounds in processes of their own, until the time is over
 *   fuzz round SEED CALLS    one round: what a failure prints, to be run again
 *
 * Handles are live ones, freed ones, ones of another type and random bits; scalars, shapes and attributes
 * are anything; pointers are valid or, where that must be an error, NULL. A round passes when nothing
 * crashed or hung, a known computation came out right all along, and nothing is left when everything
 * has been freed. A failing round prints its seed and its last calls.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "paddlemps.h"

/* What a round may take of memory: the machine has other things to do. */
#define GENEROUS ((int64_t)1 << 30)

enum { POOL = 64, MEMORY = 1 << 16, PATIENCE = 60, ROUND = 30000, LOGGED = 40, LINE = 120 };

/* ---- Random numbers: the same for a seed everywhere. */

static uint64_t state;

static uint64_t dice(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

static uint64_t below(uint64_t n) { return dice() % n; }
static bool one_in(uint64_t n) { return below(n) == 0; }

static int64_t odd_int(void) {
  static const int64_t odd[] = {0, 1, -1, 2, -2, 3, 7, 127, 128, 255, 65536, INT32_MAX, INT32_MIN, INT64_MAX, INT64_MIN};
  return one_in(2) ? odd[below(sizeof odd / sizeof *odd)] : one_in(2) ? (int64_t)below(5) : (int64_t)dice();
}

static double odd_float(void) {
  static const double odd[] = {0, -0.0, 1, -1, 0.5, 1e30, -1e300, 1e-300, __builtin_inf(), -__builtin_inf(), __builtin_nan("")};
  return odd[below(sizeof odd / sizeof *odd)];
}

/* ---- The log: the last calls, in memory that outlives a crash. */

typedef struct {
  uint64_t calls;
  char lines[LOGGED][LINE];
} call_log;

static call_log *calls;

static void note(const char *what) {
  snprintf(calls->lines[calls->calls % LOGGED], LINE, "%llu %s", (unsigned long long)calls->calls, what);
  calls->calls++;
}

static void fail(const char *why) {
  note(why);
  fprintf(stderr, "%s\n", why);
  abort();
}

/* ---- Handles. */

typedef struct {
  uint64_t live[POOL], old[POOL];
  int count;
} pool;

static pool tensors, streams, events, libraries, kernels, graphs, programs, runs, values;

static void keep(pool *p, uint64_t handle, void (*release)(uint64_t)) {
  if (!handle) return;
  if (p->count == POOL) {
    int i = below(POOL);
    release(p->live[i]);
    p->old[below(POOL)] = p->live[i];
    p->live[i] = handle;
  } else {
    p->live[p->count++] = handle;
  }
}

static void drop(pool *p, void (*release)(uint64_t)) {
  if (!p->count) return;
  int i = below(p->count);
  release(p->live[i]);
  if (one_in(10)) release(p->live[i]); /* twice */
  p->old[below(POOL)] = p->live[i];
  p->live[i] = p->live[--p->count];
}

static uint64_t any(const pool *p) {
  if (p->count && !one_in(8)) return p->live[below(p->count)];
  switch (below(5)) {
    case 0: return 0;
    case 1: return p->old[below(POOL)];
    case 2: return dice();
    case 3: return tensors.count ? tensors.live[0] + (1ull << below(60)) : 1;
    default: return streams.count ? streams.live[0] : events.count ? events.live[0] : 2;
  }
}

#define AS(type, handle) ((type *)(uintptr_t)(handle))
#define BITS(handle) ((uint64_t)(uintptr_t)(handle))

static void free_tensor(uint64_t h) { pmps_tensor_free(AS(pmps_tensor, h)); }
static void free_stream(uint64_t h) { pmps_stream_free(AS(pmps_stream, h)); }
static void free_event(uint64_t h) { pmps_event_free(AS(pmps_event, h)); }
static void free_library(uint64_t h) { pmps_library_free(AS(pmps_library, h)); }
static void free_graph(uint64_t h) { pmps_graph_free(AS(pmps_graph, h)); }
static void free_program(uint64_t h) { pmps_program_free(AS(pmps_program, h)); }
static void free_run(uint64_t h) { pmps_run_free(AS(pmps_run, h)); }
static void free_value(uint64_t h) { (void)h; } /* goes with its graph */
static void free_kernel(uint64_t h) { pmps_kernel_free(AS(pmps_kernel, h)); }

/* ended looks at an error as a program would and frees it. */
static bool ended(pmps_error *e) {
  if (!e) return true;
  pmps_code code = pmps_error_code(e);
  if (code == PMPS_OK || code == PMPS_INTERNAL || !*pmps_error_message(e) || !strcmp(pmps_code_name(code), "UNKNOWN")) {
    char words[LINE];
    snprintf(words, sizeof words, "a bad error: code %d, %.80s", (int)code, pmps_error_message(e));
    usleep(200000); /* until the library's log has been written as well */
    fail(words);
  }
  pmps_error_free(e);
  return false;
}

/* ---- Arguments. */

static char memory[MEMORY];

static const pmps_place *place(void) {
  static pmps_place p;
  p.kind = one_in(20) ? (int32_t)odd_int() : (int32_t)below(2);
  p.index = one_in(20) ? (int32_t)odd_int() : 0;
  return one_in(10) ? NULL : &p;
}

static int32_t dtype(void) { return one_in(20) ? (int32_t)odd_int() : (int32_t)(1 + below(10)); }

/* Small shapes mostly; sometimes shapes that cannot be. */
static int32_t shape(int64_t dims[16]) {
  int32_t rank = one_in(20) ? (int32_t)below(14) : (int32_t)below(4);
  for (int i = 0; i < 16; i++) dims[i] = one_in(40) ? odd_int() : (int64_t)below(6);
  return one_in(100) ? -1 : rank;
}

static pmps_arg operand(void) {
  pmps_arg a = {one_in(50) ? (uint32_t)odd_int() : 1 + (uint32_t)below(4), 0, {.i = 0}};
  if (a.kind == PMPS_ARG_TENSOR)
    a.value.tensor = AS(const pmps_tensor, any(&tensors));
  else if (a.kind == PMPS_ARG_FLOAT)
    a.value.f = odd_float();
  else
    a.value.i = odd_int();
  return a;
}

static const char *const names[] = {"axis", "shape", "dtype", "keepdim", "perm", "sections", "starts", "ends", "steps", "axes", "repeat_times",
                                    "fill_value", "start", "stop", "count", "approximate", "transpose_x", "beta", "low", "high", "nonsense", ""};
static int64_t numbers[8];
static const double floats[] = {0, -0.0, 1, __builtin_nan("")};

/* Text without a zero in reach. */
static const char *endless(void) {
  static char text[5000];
  memset(text, 'x', sizeof text);
  return text;
}

static pmps_attr attribute(void) {
  pmps_attr a = {.kind = one_in(30) ? (uint32_t)odd_int() : (uint32_t)below(one_in(4) ? 12 : 6)};
  a.name = names[below(sizeof names / sizeof *names)];
  a.reserved = one_in(100);
  if (one_in(100)) a.name = one_in(2) ? NULL : endless();
  for (int i = 0; i < 8; i++) numbers[i] = one_in(10) ? odd_int() : (int64_t)below(4) - 1;
  switch (a.kind) {
    case PMPS_ATTR_FLOAT: a.value.f = odd_float(); break;
    case PMPS_ATTR_INTS: a.value.ints = numbers, a.count = (int64_t)below(6); break;
    case PMPS_ATTR_DTYPE: a.value.i = dtype(); break;
    case PMPS_ATTR_STRING: a.value.string = (const char *)numbers, a.count = (int64_t)below(sizeof numbers); break;
    case PMPS_ATTR_FLOATS: a.value.floats = one_in(9) ? NULL : floats, a.count = one_in(20) ? (one_in(2) ? -1 : INT64_MAX) : (int64_t)below(4); break;
    case PMPS_ATTR_STRINGS: a.value.strings = names, a.count = (int64_t)below(9); break;
    case PMPS_ATTR_TENSOR: a.value.tensor = AS(const pmps_tensor, any(&tensors)); break;
    default: a.value.i = odd_int();
  }
  return a;
}

static pmps_op operator(void) { return one_in(20) ? (pmps_op)dice() : (pmps_op)below(210); }

static pmps_index item(void) {
  pmps_index i = {one_in(30) ? (int32_t)odd_int() : (int32_t)below(4), (int32_t)below(8), odd_int() % 5, odd_int() % 5, odd_int() % 3};
  return i;
}

static void deleted(void *user) { __atomic_add_fetch((int64_t *)user, 1, __ATOMIC_RELAXED); } /* on any thread */
static void log_message(int32_t level, const char *message, void *user) { (void)user, fprintf(stderr, "level %d: %s\n", (int)level, message); }
static bool reclaim(int64_t need, void *user) { (void)need, (void)user; return false; }
static uint64_t stack(void *user) { (void)user; return dice() % 100; }
static int64_t imported, given_back;

/* ---- Calls: each name is that of a function. */

#define CALL(name) static void call_##name(void)

CALL(pmps_abi_version) { pmps_abi_version(); }
CALL(pmps_version) { pmps_version(); }
CALL(pmps_init) { ended(pmps_init(one_in(2) ? PMPS_ABI_VERSION : (uint32_t)dice())); }
CALL(pmps_error_code) { pmps_error_code(AS(const pmps_error, any(&tensors))); }
CALL(pmps_error_message) { pmps_error_message(AS(const pmps_error, dice())); }
CALL(pmps_error_free) { pmps_error_free(AS(pmps_error, any(&streams))); }
CALL(pmps_code_name) { pmps_code_name((pmps_code)odd_int()); }
CALL(pmps_dtype_size) { pmps_dtype_size(dtype()); }
CALL(pmps_dtype_name) { pmps_dtype_name(dtype()); }
CALL(pmps_device_count) { pmps_device_count((int32_t)odd_int()); }
CALL(pmps_device_get_info) {
  pmps_device_info i = {.struct_size = one_in(10) ? below(sizeof i) : sizeof i};
  ended(pmps_device_get_info(place(), one_in(20) ? NULL : &i));
}
CALL(pmps_memory_get_stats) {
  pmps_memory_stats s = {.struct_size = one_in(10) ? below(sizeof s) : sizeof s};
  ended(pmps_memory_get_stats(place(), one_in(20) ? NULL : &s));
}
CALL(pmps_memory_reset_peak) { ended(pmps_memory_reset_peak(place())); }
CALL(pmps_memory_reset_accumulated) { ended(pmps_memory_reset_accumulated(place())); }
CALL(pmps_memory_empty_cache) { ended(pmps_memory_empty_cache(place())); }
CALL(pmps_memory_set_limit) { ended(pmps_memory_set_limit(place(), one_in(3) ? odd_int() : one_in(2) ? GENEROUS : 64 << 20)); }
CALL(pmps_memory_on_pressure) { pmps_memory_on_pressure(one_in(2) ? reclaim : NULL, NULL); }
CALL(pmps_memory_record_history) { ended(pmps_memory_record_history(place(), one_in(4) ? odd_int() : (int64_t)below(50), one_in(2) ? stack : NULL, NULL)); }
CALL(pmps_memory_snapshot) {
  char *text = NULL;
  if (ended(pmps_memory_snapshot(place(), one_in(20) ? NULL : &text))) pmps_text_free(text);
}
CALL(pmps_text_free) { pmps_text_free(NULL); }
CALL(pmps_device_synchronize) { ended(pmps_device_synchronize(place())); }
CALL(pmps_device_wait_for) {
  uint64_t wait = one_in(4) ? dice() : 0;
  ended(pmps_device_wait_for(place(), one_in(8) ? odd_int() % 3 : 1, one_in(20) ? NULL : &wait));
}
CALL(pmps_rng_seed) { ended(pmps_rng_seed(place(), dice())); }
CALL(pmps_rng_get_state) {
  uint64_t seed, counter;
  ended(pmps_rng_get_state(place(), &seed, one_in(10) ? NULL : &counter));
}
CALL(pmps_rng_set_state) { ended(pmps_rng_set_state(place(), dice(), dice())); }

CALL(pmps_stream_new) {
  pmps_stream *s = NULL;
  if (ended(pmps_stream_new(place(), one_in(20) ? NULL : &s))) keep(&streams, BITS(s), free_stream);
}
CALL(pmps_stream_free) { drop(&streams, free_stream); }
CALL(pmps_stream_default) {
  pmps_stream *s = NULL;
  if (ended(pmps_stream_default(place(), &s))) pmps_stream_free(s); /* borrowed: nothing happens */
}
CALL(pmps_stream_set_current) { ended(pmps_stream_set_current(AS(pmps_stream, one_in(2) ? 0 : any(&streams)))); }
CALL(pmps_stream_get_current) {
  pmps_stream *s = NULL;
  ended(pmps_stream_get_current(place(), &s));
}
CALL(pmps_stream_get_place) {
  pmps_place p;
  ended(pmps_stream_get_place(AS(pmps_stream, any(&streams)), one_in(10) ? NULL : &p));
}
CALL(pmps_stream_get_id) {
  uint64_t id;
  ended(pmps_stream_get_id(AS(pmps_stream, any(&streams)), one_in(10) ? NULL : &id));
}
CALL(pmps_stream_query) {
  bool done;
  ended(pmps_stream_query(AS(pmps_stream, any(&streams)), one_in(10) ? NULL : &done));
}
CALL(pmps_stream_synchronize) { ended(pmps_stream_synchronize(AS(pmps_stream, any(&streams)))); }
CALL(pmps_stream_wait_for) {
  uint64_t wait = one_in(4) ? dice() : 0;
  ended(pmps_stream_wait_for(AS(pmps_stream, any(&streams)), (int64_t)below(3) - 1, one_in(10) ? NULL : &wait));
}
CALL(pmps_stream_wait_event) { ended(pmps_stream_wait_event(AS(pmps_stream, any(&streams)), AS(pmps_event, any(&events)))); }

CALL(pmps_event_new) {
  pmps_event *e = NULL;
  if (ended(pmps_event_new(place(), one_in(10) ? (uint32_t)dice() : (uint32_t)below(2), one_in(20) ? NULL : &e))) keep(&events, BITS(e), free_event);
}
CALL(pmps_event_free) { drop(&events, free_event); }
CALL(pmps_event_record) { ended(pmps_event_record(AS(pmps_event, any(&events)), AS(pmps_stream, one_in(2) ? 0 : any(&streams)))); }
CALL(pmps_event_query) {
  bool done;
  ended(pmps_event_query(AS(pmps_event, any(&events)), one_in(10) ? NULL : &done));
}
CALL(pmps_event_synchronize) { ended(pmps_event_synchronize(AS(pmps_event, any(&events)))); }
CALL(pmps_event_wait_for) {
  uint64_t wait = one_in(4) ? dice() : 0;
  ended(pmps_event_wait_for(AS(pmps_event, any(&events)), (int64_t)below(3) - 1, one_in(10) ? NULL : &wait));
}
CALL(pmps_event_elapsed) {
  double ms;
  ended(pmps_event_elapsed(AS(pmps_event, any(&events)), AS(pmps_event, any(&events)), one_in(10) ? NULL : &ms));
}

/* made keeps a tensor that a call has made. */
static void made(pmps_error *e, const pmps_tensor *t) {
  if (ended(e)) keep(&tensors, BITS(t), free_tensor);
}

CALL(pmps_tensor_empty) {
  int64_t dims[16];
  int32_t rank = shape(dims);
  pmps_tensor *t = NULL;
  pmps_error *e = pmps_tensor_empty(place(), dtype(), rank, one_in(30) ? NULL : dims, one_in(30) ? NULL : &t);
  made(e, t);
}
CALL(pmps_tensor_from_host) {
  int64_t dims[16] = {(int64_t)below(20), (int64_t)below(20)};
  pmps_tensor *t = NULL;
  pmps_error *e = pmps_tensor_from_host(place(), dtype(), (int32_t)below(3), dims, one_in(20) ? NULL : memory, &t);
  made(e, t);
}
CALL(pmps_tensor_from_strings) {
  const int64_t dims[2] = {(int64_t)below(4), (int64_t)below(3)};
  const char wire[] = "\1\0\0\0a\0\0\0\0\2\0\0\0\303\244\4\0\0\0four";
  pmps_tensor *t = NULL;
  pmps_error *e = pmps_tensor_from_strings(place(), (int32_t)below(3), dims, one_in(20) ? NULL : wire, below(sizeof wire), one_in(30) ? NULL : &t);
  made(e, t);
}
CALL(pmps_tensor_get_strings) {
  char *data = NULL;
  size_t size = 0;
  if (ended(pmps_tensor_get_strings(AS(pmps_tensor, any(&tensors)), one_in(20) ? NULL : &data, &size))) pmps_text_free(data);
}
CALL(pmps_tensor_from_memory) {
  int64_t dims[2] = {(int64_t)below(20), (int64_t)below(20)}, strides[2] = {(int64_t)below(30), (int64_t)below(3)};
  pmps_tensor *t = NULL;
  pmps_error *e = pmps_tensor_from_memory(dtype(), (int32_t)below(3), dims, one_in(2) ? NULL : strides, one_in(20) ? NULL : memory + 8 * below(100), deleted, &given_back, &t);
  imported += e == NULL;
  made(e, t);
}
CALL(pmps_tensor_retain) {
  pmps_tensor *t = NULL;
  pmps_error *e = pmps_tensor_retain(AS(pmps_tensor, any(&tensors)), one_in(20) ? NULL : &t);
  made(e, t);
}
CALL(pmps_tensor_replace) {
  pmps_tensor *t = NULL;
  pmps_error *e = pmps_tensor_replace(AS(pmps_tensor, any(&tensors)), AS(pmps_tensor, any(&tensors)), one_in(20) ? NULL : &t);
  made(e, t);
}
CALL(pmps_tensor_free) { drop(&tensors, free_tensor); }
CALL(pmps_tensor_get_info) {
  pmps_tensor_info i = {.struct_size = one_in(10) ? below(sizeof i) : sizeof i};
  ended(pmps_tensor_get_info(AS(pmps_tensor, any(&tensors)), one_in(20) ? NULL : &i));
}

/* The size of a tensor that fits into memory, 0 for others. */
static size_t size_of(uint64_t h) {
  pmps_tensor_info i = {.struct_size = sizeof i};
  pmps_error *e = pmps_tensor_get_info(AS(pmps_tensor, h), &i);
  if (e) {
    pmps_error_free(e);
    return 0;
  }
  size_t n = (size_t)i.numel * (size_t)pmps_dtype_size(i.dtype);
  return n <= MEMORY / 2 ? n : 0;
}

CALL(pmps_tensor_read) {
  uint64_t h = any(&tensors);
  static char to[MEMORY];
  ended(pmps_tensor_read(AS(pmps_tensor, h), one_in(30) ? NULL : to, one_in(10) ? below(MEMORY) : size_of(h)));
}
CALL(pmps_tensor_write) {
  uint64_t h = any(&tensors);
  ended(pmps_tensor_write(AS(pmps_tensor, h), one_in(30) ? NULL : memory, one_in(10) ? below(MEMORY) : size_of(h)));
}
CALL(pmps_tensor_wait_for) {
  uint64_t wait = one_in(4) ? dice() : 0;
  ended(pmps_tensor_wait_for(AS(pmps_tensor, any(&tensors)), one_in(2), (int64_t)below(3) - 1, one_in(10) ? NULL : &wait));
}
CALL(pmps_tensor_map) {
  uint64_t h = any(&tensors);
  void *at = NULL;
  if (ended(pmps_tensor_map(AS(pmps_tensor, h), one_in(20) ? NULL : &at))) pmps_tensor_unmap(AS(pmps_tensor, h));
}
CALL(pmps_tensor_unmap) { pmps_tensor_unmap(AS(pmps_tensor, tensors.old[below(POOL)])); }
CALL(pmps_tensor_to) {
  pmps_tensor *t = NULL;
  pmps_error *e = pmps_tensor_to(AS(pmps_tensor, any(&tensors)), place(), one_in(2), one_in(20) ? NULL : &t);
  made(e, t);
}
CALL(pmps_tensor_share) {
  pmps_tensor *t = NULL;
  pmps_error *e = pmps_tensor_share(AS(pmps_tensor, any(&tensors)), place(), one_in(20) ? NULL : &t);
  made(e, t);
}
CALL(pmps_tensor_view) {
  pmps_tensor *t = NULL;
  pmps_error *e = pmps_tensor_view(AS(pmps_tensor, any(&tensors)), dtype(), one_in(20) ? NULL : &t);
  made(e, t);
}
CALL(pmps_tensor_index) {
  pmps_index items[4] = {item(), item(), item(), item()};
  pmps_tensor *t = NULL;
  pmps_error *e = pmps_tensor_index(AS(pmps_tensor, any(&tensors)), one_in(30) ? NULL : items, below(5), one_in(30) ? NULL : &t);
  made(e, t);
}
/* What is exported comes back at once: the library reads its own structure and calls its deleter. */
CALL(pmps_tensor_to_dlpack) {
  struct DLManagedTensor *dl = NULL;
  pmps_tensor *t = NULL;
  if (!ended(pmps_tensor_to_dlpack(AS(pmps_tensor, any(&tensors)), one_in(20) ? NULL : &dl)) || !dl) return;
  pmps_error *e = pmps_tensor_from_dlpack(dl, &t);
  if (e) fail("an export cannot be read back");
  made(e, t);
}
CALL(pmps_tensor_to_dlpack_versioned) {
  struct DLManagedTensorVersioned *dl = NULL;
  pmps_tensor *t = NULL;
  if (!ended(pmps_tensor_to_dlpack_versioned(AS(pmps_tensor, any(&tensors)), one_in(20) ? NULL : &dl)) || !dl) return;
  pmps_error *e = pmps_tensor_from_dlpack_versioned(dl, &t);
  if (e) fail("a versioned export cannot be read back");
  made(e, t);
}
CALL(pmps_tensor_from_dlpack) { ended(pmps_tensor_from_dlpack(NULL, NULL)); }
CALL(pmps_tensor_from_dlpack_versioned) { ended(pmps_tensor_from_dlpack_versioned(NULL, NULL)); }

CALL(pmps_op_find) {
  static const char *const op_names[] = {"add", "softmax", "no such operator", ""};
  pmps_op op;
  ended(pmps_op_find(one_in(10) ? NULL : op_names[below(4)], one_in(10) ? NULL : &op));
}
CALL(pmps_op_signature) { pmps_op_signature(operator()); }
CALL(pmps_op_name) { pmps_op_name(operator()); }

typedef struct {
  pmps_arg args[4];
  size_t arg_count;
  pmps_attr attrs[3];
  size_t attr_count;
} arguments;

static arguments random_arguments(void) {
  arguments a;
  for (int i = 0; i < 4; i++) a.args[i] = operand();
  for (int i = 0; i < 3; i++) a.attrs[i] = attribute();
  a.arg_count = one_in(3) ? below(5) : 1 + below(2);
  a.attr_count = one_in(2) ? 0 : below(4);
  return a;
}

/* collect keeps the outputs of a call. */
static void collect(pmps_error *e, pmps_tensor **outputs, size_t count) {
  if (!ended(e)) return;
  for (size_t i = 0; i < count; i++) keep(&tensors, BITS(outputs[i]), free_tensor);
}
CALL(pmps_op_call) {
  arguments a = random_arguments();
  pmps_tensor *outputs[8] = {0};
  size_t count = one_in(10) ? below(8) : 8;
  pmps_error *e = pmps_op_call(operator(), one_in(50) ? NULL : a.args, a.arg_count, a.attrs, a.attr_count, outputs, one_in(50) ? NULL : &count);
  collect(e, outputs, count);
}
CALL(pmps_op_call_on) {
  arguments a = random_arguments();
  pmps_tensor *outputs[8] = {0};
  size_t count = 8;
  pmps_error *e = pmps_op_call_on(place(), operator(), a.args, a.arg_count, a.attrs, a.attr_count, outputs, &count);
  collect(e, outputs, count);
}
CALL(pmps_op_call_into) {
  arguments a = random_arguments();
  ended(pmps_op_call_into(operator(), a.args, a.arg_count, a.attrs, a.attr_count, AS(pmps_tensor, any(&tensors))));
}
/* ---- Gradients. */

CALL(pmps_grad_set_enabled) { pmps_grad_set_enabled(!one_in(4)); }
CALL(pmps_tensor_set_requires_grad) { ended(pmps_tensor_set_requires_grad(AS(pmps_tensor, any(&tensors)), !one_in(4))); }
CALL(pmps_tensor_get_grad_info) {
  pmps_grad_info i = {.struct_size = one_in(10) ? below(sizeof i) : sizeof i};
  ended(pmps_tensor_get_grad_info(AS(pmps_tensor, any(&tensors)), one_in(20) ? NULL : &i));
}
CALL(pmps_tensor_get_grad) {
  pmps_tensor *t = NULL;
  pmps_error *e = pmps_tensor_get_grad(AS(pmps_tensor, any(&tensors)), one_in(20) ? NULL : &t);
  made(e, t);
}
CALL(pmps_tensor_set_grad) {
  uint64_t h = any(&tensors);
  ended(pmps_tensor_set_grad(AS(pmps_tensor, h), AS(pmps_tensor, one_in(3) ? 0 : one_in(3) ? h : any(&tensors))));
}
CALL(pmps_tensor_zero_grad) { ended(pmps_tensor_zero_grad(AS(pmps_tensor, any(&tensors)))); }
CALL(pmps_tensor_end_history) { ended(pmps_tensor_end_history(AS(pmps_tensor, any(&tensors)))); }
CALL(pmps_tensor_retain_grad) { ended(pmps_tensor_retain_grad(AS(pmps_tensor, any(&tensors)))); }
CALL(pmps_tensor_weaken) {
  pmps_tensor *t = NULL;
  pmps_error *e = pmps_tensor_weaken(AS(pmps_tensor, any(&tensors)), one_in(20) ? NULL : &t);
  made(e, t);
}
CALL(pmps_tensor_detach) {
  pmps_tensor *t = NULL;
  pmps_error *e = pmps_tensor_detach(AS(pmps_tensor, any(&tensors)), one_in(20) ? NULL : &t);
  made(e, t);
}

/* A tensor for the library to own: mostly one like x, sometimes another, no live one, or none. */
static pmps_tensor *gift(pmps_tensor *x) {
  pmps_tensor *t = NULL;
  switch (below(12)) {
    case 0: return AS(pmps_tensor, tensors.old[below(POOL)]);
    case 1: return AS(pmps_tensor, dice());
    case 2: return x; /* borrowed, and yet given away */
    case 3: ended(pmps_tensor_retain(AS(pmps_tensor, any(&tensors)), &t)); return t;
    case 4: case 5: case 6: return NULL;
    default: ended(pmps_tensor_retain(x, &t)); return t;
  }
}

/* What a program does meanwhile: a function of the table, which may be another pass. */
static void call_any(void);
static void meanwhile(void) {
  static int depth;
  if (depth == 3 || !one_in(4)) return;
  depth++;
  call_any();
  depth--;
}

static int32_t see(void *user, pmps_tensor *grad, pmps_tensor **other) {
  if (user != &given_back) fail("a hook got the user of another");
  meanwhile();
  if (one_in(2)) *other = gift(grad);
  meanwhile();
  return one_in(30) ? (int32_t)odd_int() : 0;
}

static uint64_t hooks[16]; /* the last numbers */
static unsigned hooked;

static void add_hook(pmps_tensor *t) {
  uint64_t id = 0;
  const bool plain = one_in(8); /* without a deleter */
  if (!ended(pmps_tensor_add_grad_hook(t, one_in(20) ? NULL : see, plain ? NULL : deleted, &given_back, one_in(20) ? NULL : &id))) return;
  imported += !plain;
  hooks[hooked++ % 16] = id;
}
CALL(pmps_tensor_add_grad_hook) { add_hook(AS(pmps_tensor, any(&tensors))); }
CALL(pmps_tensor_remove_grad_hook) {
  bool removed;
  ended(pmps_tensor_remove_grad_hook(AS(pmps_tensor, any(&tensors)), one_in(8) ? dice() : hooks[below(16)], one_in(20) ? NULL : &removed));
}

static int32_t differentiate(void *user, pmps_tensor *const *of, size_t outputs, pmps_tensor **grads, size_t inputs) {
  if (user != &given_back) fail("a function got the user of another");
  meanwhile();
  for (size_t i = 0; i < inputs; i++) {
    grads[i] = i && one_in(20) ? grads[0] /* twice */ : gift(outputs ? of[below(outputs)] : NULL);
  }
  meanwhile();
  return one_in(30) ? (int32_t)odd_int() : 0;
}

static void apply_function(pmps_tensor *const *in, size_t ins, pmps_tensor *const *out, size_t outs) {
  const bool plain = one_in(8);
  pmps_grad_function f = {.struct_size = one_in(10) ? below(sizeof f) : sizeof f, .backward = one_in(30) ? NULL : differentiate,
                          .deleter = plain ? NULL : deleted, .user = &given_back};
  if (ended(pmps_grad_apply(one_in(50) ? NULL : &f, in, ins, out, outs))) imported += !plain;
}
CALL(pmps_grad_apply) {
  pmps_tensor *in[4], *out[4];
  for (int i = 0; i < 4; i++) in[i] = AS(pmps_tensor, any(&tensors)), out[i] = AS(pmps_tensor, any(&tensors));
  apply_function(one_in(30) ? NULL : in, below(4), one_in(30) ? NULL : out, below(4));
}

/* A pass of random flags from some tensors to others. */
static void backward(pmps_tensor *const *of, size_t of_count, pmps_tensor *const *to, size_t to_count, pmps_tensor *const *others) {
  pmps_tensor *found[4] = {NULL};
  pmps_grad_pass pass = {.struct_size = one_in(20) ? below(sizeof pass) : sizeof pass, .of = one_in(50) ? NULL : of, .of_count = of_count,
                         .grads_of = one_in(2) ? NULL : others, .to = to, .to_count = to_count, .stop = one_in(2) ? NULL : others,
                         .retain_graph = one_in(2), .create_graph = one_in(3)};
  if (!pass.stop) pass.stop_count = one_in(20);
  else pass.stop_count = below(3);
  if (!ended(pmps_grad_backward(one_in(50) ? NULL : &pass, to && one_in(50) ? NULL : found))) return;
  for (size_t i = 0; to && i < to_count; i++) keep(&tensors, BITS(found[i]), free_tensor);
}

/* A computation on a leaf, and passes over it: what random calls of the functions above seldom get together. */
static void whole_pass(void) {
  const pmps_place at = {(int32_t)below(2), 0};
  const int64_t dims[2] = {1 + (int64_t)below(4), 1 + (int64_t)below(4)};
  pmps_tensor *list[24] = {NULL}, *others[4] = {NULL};
  size_t n = 0;
  const bool before = pmps_grad_set_enabled(true);
  while (n < 2) {
    if (!ended(pmps_tensor_from_host(&at, one_in(4) ? PMPS_FLOAT16 : PMPS_FLOAT32, 2, dims, memory, &list[n]))) goto end;
    ended(pmps_tensor_set_requires_grad(list[n++], true));
  }
  for (int i = 0; i < 30 && n < 24; i++) {
    arguments a = random_arguments();
    pmps_tensor *outputs[8];
    size_t count = 8;
    for (int k = 0; k < 4; k++) {
      if (one_in(4)) continue;
      a.args[k].kind = PMPS_ARG_TENSOR;
      a.args[k].value.tensor = list[one_in(2) ? n - 1 : below(n)];
    }
    if (one_in(8)) {
      ended(pmps_op_call_into(operator(), a.args, a.arg_count, a.attrs, a.attr_count, list[below(n)]));
    } else if (one_in(8)) {
      apply_function(&list[below(n)], 1, &list[below(n)], 1);
    } else if (ended(pmps_op_call(operator(), a.args, a.arg_count, a.attrs, a.attr_count, outputs, &count))) {
      for (size_t k = 0; k < count; k++) {
        if (n < 24) list[n++] = outputs[k];
        else pmps_tensor_free(outputs[k]);
      }
    }
    if (one_in(8)) add_hook(list[below(n)]);
    if (one_in(8)) ended(pmps_tensor_retain_grad(list[below(n)]));
  }
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 4; k++) others[k] = one_in(2) ? NULL : list[below(n)];
    const size_t of_count = 1 + below(n < 3 ? n : 3), to_count = 1 + below(2);
    backward(list + n - of_count, of_count, one_in(2) ? NULL : one_in(2) ? list : list + below(n - 1), to_count, others);
  }
end:
  for (size_t i = 0; i < n; i++) keep(&tensors, BITS(list[i]), free_tensor);
  pmps_grad_set_enabled(before);
}
CALL(pmps_grad_backward) {
  if (one_in(2)) {
    whole_pass();
    return;
  }
  pmps_tensor *of[4], *to[4], *others[4];
  for (int i = 0; i < 4; i++) of[i] = AS(pmps_tensor, any(&tensors)), to[i] = AS(pmps_tensor, any(&tensors)), others[i] = AS(pmps_tensor, any(&tensors));
  backward(of, below(4), one_in(2) ? NULL : to, below(5), others);
}

/* Values are of all graphs: most calls meet those of another one, so half of them keep to the last graph and what
 * was made of it since. */
static pmps_graph *graph_at_hand;
static uint64_t fresh[16];
static unsigned freshly;

static pmps_graph *graph(void) { return one_in(4) ? AS(pmps_graph, any(&graphs)) : graph_at_hand; }
static pmps_value value(void) {
  const unsigned n = freshly < 16 ? freshly : 16;
  return (pmps_value)(n && !one_in(12) ? fresh[below(n)] : any(&values));
}
static void value_made(pmps_error *e, pmps_value v) {
  if (!ended(e)) return;
  keep(&values, (uint64_t)v, free_value);
  fresh[freshly++ % 16] = (uint64_t)v;
}
CALL(pmps_graph_new) {
  pmps_graph *g = NULL;
  if (!ended(pmps_graph_new(one_in(20) ? NULL : &g))) return;
  keep(&graphs, BITS(g), free_graph);
  graph_at_hand = g;
  freshly = 0;
}
CALL(pmps_graph_free) { drop(&graphs, free_graph); }
CALL(pmps_graph_add_symbol) {
  int64_t dim = 0;
  ended(pmps_graph_add_symbol(graph(), one_in(20) ? NULL : &dim));
  numbers[below(8)] = dim;
}
CALL(pmps_graph_add_input) {
  int64_t dims[16], symbol = 0;
  pmps_value v = 0;
  pmps_graph *g = graph();
  int32_t rank = shape(dims);
  if (one_in(2) && ended(pmps_graph_add_symbol(g, &symbol))) dims[below(2)] = symbol;
  value_made(pmps_graph_add_input(g, dtype(), rank, one_in(30) ? NULL : dims, &v), v);
}
CALL(pmps_graph_add_constant) {
  pmps_value v = 0;
  uint64_t t = any(&tensors);
  if (size_of(t)) value_made(pmps_graph_add_constant(graph(), AS(const pmps_tensor, t), &v), v);
}
CALL(pmps_graph_add_scalar) {
  pmps_arg a = operand();
  pmps_value v = 0;
  if (one_in(3)) a.kind = PMPS_ARG_NONE;
  value_made(pmps_graph_add_scalar(graph(), one_in(30) ? NULL : &a, &v), v);
}
CALL(pmps_graph_call) {
  arguments a = random_arguments();
  pmps_value in[4] = {value(), value(), value(), value()}, out[8] = {0};
  size_t count = one_in(10) ? below(8) : 8;
  pmps_error *e = pmps_graph_call(graph(), operator(), one_in(50) ? NULL : in, a.arg_count, a.attrs, a.attr_count, out, one_in(50) ? NULL : &count);
  if (!ended(e)) return;
  for (size_t i = 0; i < count; i++) value_made(NULL, out[i]);
}
CALL(pmps_graph_get_value_info) {
  pmps_value_info i = {.struct_size = one_in(10) ? below(sizeof i) : sizeof i};
  ended(pmps_graph_get_value_info(graph(), value(), one_in(20) ? NULL : &i));
}
CALL(pmps_graph_to_text) {
  char *text = NULL;
  if (ended(pmps_graph_to_text(graph(), one_in(20) ? NULL : &text))) pmps_text_free(text);
}
static void whole_program(void);
CALL(pmps_program_new) {
  if (one_in(2)) {
    whole_program();
    return;
  }
  pmps_value out[3] = {value(), value(), value()};
  pmps_program *p = NULL;
  if (ended(pmps_program_new(place(), graph(), out, below(4), one_in(20) ? NULL : &p))) keep(&programs, BITS(p), free_program);
}
CALL(pmps_program_free) { drop(&programs, free_program); }

/* A program that is at hand, with the number of inputs that it wants. */
static pmps_program *program(size_t *inputs) {
  pmps_program *p = AS(pmps_program, any(&programs));
  pmps_program_info i = {.struct_size = sizeof i};
  pmps_error *e = pmps_program_get_info(p, &i);
  *inputs = one_in(10) ? below(5) : e ? 0 : (size_t)i.inputs;
  pmps_error_free(e);
  return p;
}
CALL(pmps_program_prepare) {
  static int64_t dims[64][16];
  const int64_t *lists[64];
  int32_t ranks[64];
  size_t inputs;
  pmps_program *p = program(&inputs);
  if (inputs > 64) return;
  for (size_t i = 0; i < inputs; i++) ranks[i] = (int32_t)shape(dims[i]), lists[i] = one_in(2) ? NULL : dims[i];
  ended(pmps_program_prepare(p, one_in(30) ? NULL : lists, one_in(30) ? NULL : ranks, inputs));
}
CALL(pmps_program_run) {
  pmps_tensor *in[64], *out[8] = {NULL};
  size_t inputs, count = one_in(10) ? below(8) : 8;
  pmps_program *p = program(&inputs);
  if (inputs > 64) return;
  for (size_t i = 0; i < inputs; i++) in[i] = AS(pmps_tensor, any(&tensors));
  pmps_error *e = pmps_program_run(p, one_in(50) ? NULL : in, inputs, out, one_in(50) ? NULL : &count);
  collect(e, out, count);
}
CALL(pmps_program_run_into) {
  pmps_tensor *in[64], *out[8];
  size_t inputs;
  pmps_program *p = program(&inputs);
  if (inputs > 64) return;
  for (size_t i = 0; i < inputs; i++) in[i] = AS(pmps_tensor, any(&tensors));
  for (size_t i = 0; i < 8; i++) out[i] = AS(pmps_tensor, any(&tensors));
  ended(pmps_program_run_into(p, one_in(50) ? NULL : in, inputs, one_in(50) ? NULL : out, below(4)));
}
CALL(pmps_program_start) {
  pmps_tensor *in[64];
  pmps_run *r = NULL;
  size_t inputs;
  pmps_program *p = program(&inputs);
  if (inputs > 64) return;
  for (size_t i = 0; i < inputs; i++) in[i] = AS(pmps_tensor, any(&tensors));
  if (ended(pmps_program_start(p, one_in(50) ? NULL : in, inputs, one_in(50) ? NULL : &r))) keep(&runs, BITS(r), free_run);
}
CALL(pmps_run_query) {
  bool over = false;
  ended(pmps_run_query(AS(pmps_run, any(&runs)), one_in(50) ? NULL : &over));
}
CALL(pmps_run_wait_for) {
  uint64_t wait = one_in(10) ? dice() : 0;
  ended(pmps_run_wait_for(AS(pmps_run, any(&runs)), one_in(10) ? -1 : (int64_t)below(3), one_in(50) ? NULL : &wait));
}
CALL(pmps_run_wait) {
  pmps_tensor *out[8] = {NULL};
  size_t count = one_in(10) ? below(8) : 8;
  pmps_error *e = pmps_run_wait(AS(pmps_run, any(&runs)), one_in(50) ? NULL : out, one_in(50) ? NULL : &count);
  collect(e, out, count);
}
CALL(pmps_run_cancel) { ended(pmps_run_cancel(AS(pmps_run, any(&runs)))); }
CALL(pmps_run_free) { drop(&runs, free_run); }
CALL(pmps_program_get_info) {
  pmps_program_info i = {.struct_size = one_in(10) ? below(sizeof i) : sizeof i};
  ended(pmps_program_get_info(AS(pmps_program, any(&programs)), one_in(20) ? NULL : &i));
}

/* A graph of random operators from its inputs to a program that runs: what random calls of the functions above
 * seldom get together. */
static void whole_program(void) {
  pmps_graph *g = NULL;
  pmps_program *p = NULL;
  pmps_value list[64], symbol = 0;
  pmps_tensor *in[3] = {NULL}, *out[8] = {NULL};
  size_t n = 0, inputs = 1 + below(3), count = 8;
  const pmps_place at = {(int32_t)below(2), 0};
  const int64_t size = (int64_t)below(6), columns = (int64_t)below(6);
  const int32_t type = dtype();
  if (!ended(pmps_graph_new(&g))) return;
  ended(pmps_graph_add_symbol(g, &symbol));
  for (size_t i = 0; i < inputs; i++) {
    const int64_t dims[2] = {one_in(3) ? size : symbol, columns}, sizes[2] = {size, columns};
    if (ended(pmps_graph_add_input(g, type, 2, dims, &list[n]))) n++;
    ended(pmps_tensor_from_host(&at, type, 2, sizes, memory, &in[i]));
  }
  for (int i = 0; i < 40 && n && n < 50; i++) {
    arguments a = random_arguments();
    pmps_value used[4], results[8];
    size_t made_now = 8;
    for (int k = 0; k < 4; k++) used[k] = list[one_in(2) ? n - 1 : below(n)];
    if (!ended(pmps_graph_call(g, operator(), used, a.arg_count, a.attrs, a.attr_count, results, &made_now))) continue;
    for (size_t k = 0; k < made_now && n < 50; k++) list[n++] = results[k];
  }
  if (n && ended(pmps_program_new(&at, g, list + n - 1 - below(n < 3 ? n : 3), 1, &p))) {
    for (int i = 0; i < 2; i++) {
      pmps_error *e = pmps_program_run(p, in, inputs, out, &count);
      collect(e, out, e ? 0 : count);
    }
    keep(&programs, BITS(p), free_program);
  }
  for (size_t i = 0; i < inputs; i++) pmps_tensor_free(in[i]);
  pmps_graph_free(g);
}

/* The trace of this thread, or the last one, whose handle is stale. */
static pmps_trace *tracing;
static bool within; /* a trace is open: calls of its functions do not open another */

CALL(pmps_trace_begin) {
  if (within) return;
  pmps_tensor *examples[3], *inputs[3] = {NULL}, *outputs[4], *out[4] = {NULL};
  const size_t count = below(4), results = below(4);
  for (size_t i = 0; i < count; i++) examples[i] = AS(pmps_tensor, any(&tensors));
  if (!ended(pmps_trace_begin(place(), one_in(40) ? NULL : examples, count, one_in(40) ? NULL : inputs, &tracing))) return;
  within = true;
  for (size_t i = 0; i < count; i++) keep(&tensors, BITS(inputs[i]), free_tensor);
  for (uint64_t n = below(12); n; n--) call_any();
  for (size_t i = 0; i < results; i++) outputs[i] = AS(pmps_tensor, one_in(3) && count ? BITS(inputs[below(count)]) : any(&tensors));
  pmps_program *p = NULL;
  note("pmps_trace_end");
  if (!one_in(8) && ended(pmps_trace_end(tracing, outputs, results, &p))) {
    size_t n = one_in(10) ? below(4) : 4;
    note("pmps_program_run");
    pmps_error *e = pmps_program_run(p, examples, count, out, &n);
    for (size_t i = 0; !e && i < n; i++) keep(&tensors, BITS(out[i]), free_tensor);
    ended(e);
    keep(&programs, BITS(p), free_program);
  }
  pmps_trace_abort(tracing); /* where it has not ended */
  within = false;
}
CALL(pmps_trace_end) {
  pmps_program *p = NULL;
  pmps_tensor *outputs[2] = {AS(pmps_tensor, any(&tensors)), AS(pmps_tensor, any(&tensors))};
  if (ended(pmps_trace_end(one_in(4) ? AS(pmps_trace, any(&programs)) : tracing, one_in(20) ? NULL : outputs, below(3), one_in(20) ? NULL : &p))) keep(&programs, BITS(p), free_program);
}
CALL(pmps_trace_abort) { pmps_trace_abort(one_in(4) ? AS(pmps_trace, any(&tensors)) : tracing); }
CALL(pmps_trace_pause) {
  ended(pmps_trace_pause(tracing, one_in(2)));
  if (one_in(2)) ended(pmps_trace_pause(tracing, false));
}
CALL(pmps_trace_to_text) {
  char *text = NULL;
  if (ended(pmps_trace_to_text(tracing, one_in(20) ? NULL : &text))) pmps_text_free(text);
}
CALL(pmps_program_to_text) {
  char *text = NULL;
  if (ended(pmps_program_to_text(AS(pmps_program, any(&programs)), one_in(2), one_in(20) ? NULL : &text))) pmps_text_free(text);
}
/* The file of a program, which a round saves again and again. It is that of the process which starts the rounds. */
static const char *program_file(long process) {
  static char path[512];
  if (!path[0]) snprintf(path, sizeof path, "%s/fuzz-%ld.program", getenv("TMPDIR") ? getenv("TMPDIR") : P_tmpdir, process);
  return path;
}
CALL(pmps_program_save) { ended(pmps_program_save(AS(pmps_program, any(&programs)), one_in(10) ? NULL : program_file((long)getppid()))); }
/* A model, y = x * [0, 2, 4], whole, truncated or with a byte that is another one. */
CALL(pmps_program_load) {
  unsigned char bytes[] = {8,  8,  18, 0,  58, 95, 10, 23, 10, 1,  120, 10, 1,  119, 18, 1,   121, 26,  7,  112, 114, 111, 100, 117, 99, 116, 34,
                           3,  77, 117, 108, 18, 1, 103, 42, 21, 8,  3,  16, 1,  66, 1,  119, 74, 12, 0,  0,  0,  0,  0,  0,  0,  64, 0,
                           0,  128, 64, 90, 20, 10, 1,  120, 18, 15, 10, 13, 8,  1,  18, 9,  10, 3,  18, 1,  110, 10, 2,  8,  3,  98, 20,
                           10, 1,  121, 18, 15, 10, 13, 8,  1,  18, 9,  10, 3,  18, 1,  110, 10, 2,  8,  3,  66, 4,  10, 0,  16, 17};
  if (one_in(2)) bytes[below(sizeof bytes)] = (unsigned char)below(256);
  pmps_program *p = NULL;
  const size_t size = one_in(4) ? below(sizeof bytes) : sizeof bytes;
  if (ended(pmps_program_load(place(), one_in(20) ? "/" : one_in(3) ? program_file((long)getppid()) : NULL, one_in(2) ? NULL : bytes, size, one_in(20) ? NULL : &p))) keep(&programs, BITS(p), free_program);
}
CALL(pmps_program_get_port) {
  pmps_value_info i = {.struct_size = one_in(10) ? below(sizeof i) : sizeof i};
  char *name = NULL, *type = NULL;
  pmps_error *e = pmps_program_get_port(AS(pmps_program, any(&programs)), one_in(2), below(3), one_in(20) ? NULL : &i, one_in(4) ? NULL : &name, one_in(4) ? NULL : &type);
  if (ended(e)) pmps_text_free(name), pmps_text_free(type);
}
CALL(pmps_program_describe) {
  char *json = NULL;
  if (ended(pmps_program_describe(AS(pmps_program, any(&programs)), one_in(20) ? NULL : &json))) pmps_text_free(json);
}
CALL(pmps_program_unify) {
  pmps_program *p = NULL;
  if (ended(pmps_program_unify(AS(pmps_program, any(&programs)), AS(pmps_program, any(&programs)), one_in(20) ? NULL : &p))) keep(&programs, BITS(p), free_program);
}
CALL(pmps_program_get_captured) {
  pmps_tensor *t = NULL;
  if (ended(pmps_program_get_captured(AS(pmps_program, any(&programs)), below(3), one_in(20) ? NULL : &t))) keep(&tensors, BITS(t), free_tensor);
}

/* Source that compiles, where there is a compiler, and what does not. */
static const char *const sources[] = {
    "kernel void full(device float *out, constant float &v, uint i [[thread_position_in_grid]]) { if (i < 1) out[0] = v; }",
    "kernel void full(", "", "\xff"};
CALL(pmps_library_new) {
  pmps_library *l = NULL;
  if (ended(pmps_library_new(place(), one_in(20) ? NULL : sources[below(4)], one_in(20) ? NULL : &l))) keep(&libraries, BITS(l), free_library);
}
CALL(pmps_library_load) {
  pmps_library *l = NULL;
  if (ended(pmps_library_load(place(), one_in(20) ? NULL : "no such file", &l))) keep(&libraries, BITS(l), free_library);
}
CALL(pmps_library_free) { drop(&libraries, free_library); }
CALL(pmps_library_get_names) {
  char *text = NULL;
  if (ended(pmps_library_get_names(AS(pmps_library, any(&libraries)), one_in(20) ? NULL : &text))) pmps_text_free(text);
}
/* Triton IR that compiles, and what does not. */
static const char *const ttir[] = {
    "module { tt.func public @f(%x: !tt.ptr<f32>) { %c = arith.constant 1.0 : f32 tt.store %x, %c : !tt.ptr<f32> tt.return } }",
    "module { tt.func public @f(%x: !tt.ptr<f64>) { tt.return } }", "module {", ""};
CALL(pmps_triton_compile) {
  char *source = NULL, *metadata = NULL;
  const char *text = ttir[below(4)];
  if (ended(pmps_triton_compile(one_in(20) ? NULL : text, strlen(text), one_in(4) ? "{\"num_warps\":3}" : NULL, one_in(20) ? NULL : &source, one_in(20) ? NULL : &metadata))) {
    pmps_text_free(source);
    pmps_text_free(metadata);
  }
}
CALL(pmps_library_get_kernel) {
  pmps_kernel *k = NULL;
  if (ended(pmps_library_get_kernel(AS(pmps_library, any(&libraries)), one_in(20) ? NULL : one_in(4) ? "" : "full", &k))) keep(&kernels, BITS(k), free_kernel);
}
CALL(pmps_kernel_free) { drop(&kernels, free_kernel); }
CALL(pmps_kernel_get_info) {
  pmps_kernel_info i = {.struct_size = one_in(10) ? below(sizeof i) : sizeof i};
  ended(pmps_kernel_get_info(AS(pmps_kernel, any(&kernels)), one_in(20) ? NULL : &i));
}
CALL(pmps_kernel_run) {
  pmps_kernel_arg a[4];
  uint64_t threads[3] = {below(40), 1, one_in(20) ? dice() : 1}, group[3] = {below(40), one_in(20) ? dice() : 1, 1};
  for (int i = 0; i < 4; i++) a[i] = one_in(2) ? (pmps_kernel_arg){AS(const pmps_tensor, any(&tensors)), NULL, 0} : (pmps_kernel_arg){NULL, memory, 4 + below(20)};
  ended(pmps_kernel_run(AS(pmps_kernel, any(&kernels)), one_in(50) ? NULL : a, one_in(3) ? below(5) : 2, one_in(2) ? NULL : threads, one_in(2) ? NULL : group));
}
CALL(pmps_kernel_run_reporting) {
  const char *reports[] = {NULL, "", "[]", "{", "[{\"kind\":\"assert\",\"text\":\"a\"},{\"kind\":\"print\"}]"};
  pmps_kernel_arg a = {AS(const pmps_tensor, any(&tensors)), NULL, 0};
  uint64_t threads[3] = {below(40), 1, 1};
  ended(pmps_kernel_run_reporting(AS(pmps_kernel, any(&kernels)), one_in(50) ? NULL : &a, below(2), one_in(2) ? NULL : threads, NULL, reports[below(5)]));
}
CALL(pmps_device_census) {
  char *text = NULL;
  if (ended(pmps_device_census(place(), one_in(20) ? NULL : &text))) pmps_text_free(text);
}
CALL(pmps_device_get_metal) {
  void *device;
  ended(pmps_device_get_metal(place(), one_in(20) ? NULL : &device));
}
CALL(pmps_stream_get_metal) {
  void *queue;
  ended(pmps_stream_get_metal(AS(pmps_stream, any(&streams)), one_in(20) ? NULL : &queue));
}
CALL(pmps_tensor_get_metal) {
  void *buffer;
  size_t offset;
  ended(pmps_tensor_get_metal(AS(pmps_tensor, any(&tensors)), &buffer, one_in(20) ? NULL : &offset));
}
CALL(pmps_capture_get_state) {
  bool enabled, capturing;
  ended(pmps_capture_get_state(place(), &enabled, one_in(20) ? NULL : &capturing));
}
CALL(pmps_capture_begin) { ended(pmps_capture_begin(place(), one_in(20) ? NULL : "no such folder/trace.gputrace")); }
CALL(pmps_capture_end) { ended(pmps_capture_end(place())); }
CALL(pmps_profile_start) { ended(pmps_profile_start(one_in(8) ? (uint32_t)odd_int() : below(4), one_in(4) ? odd_int() : (int64_t)below(5000))); }
CALL(pmps_profile_stop) {
  char *json = NULL;
  if (ended(pmps_profile_stop(one_in(4) ? NULL : &json))) pmps_text_free(json);
}
CALL(pmps_profile_begin) { pmps_profile_begin(); }
CALL(pmps_profile_end) {
  const uint64_t begun = one_in(4) ? dice() : pmps_profile_begin();
  pmps_profile_end(begun, one_in(20) ? NULL : "fuzz", one_in(20) ? NULL : one_in(4) ? "\xff\"\\\n" : "span");
}

CALL(pmps_log_set) { pmps_log_set(log_message, NULL, 0); }
CALL(pmps_live_handles) {
  if (pmps_live_handles() < tensors.count) fail("fewer live handles than tensors that were kept");
}

/* fast keeps the result of the fast family, or its error. */
static void fast(uint64_t h) {
  if (h)
    keep(&tensors, h, free_tensor);
  else
    ended(pmps_fast_error());
}
CALL(pmps_fast_error) { ended(pmps_fast_error()); }
CALL(pmps_fast_unary) { fast(pmps_fast_unary(operator(), any(&tensors), 0)); }
CALL(pmps_fast_binary) { fast(pmps_fast_binary(operator(), any(&tensors), any(&tensors), 0)); }
CALL(pmps_fast_scalar) { fast(pmps_fast_scalar(operator(), any(&tensors), below(24), dice(), 0)); }
CALL(pmps_fast_call) {
  arguments a = random_arguments();
  fast(pmps_fast_call(operator(), a.args, a.arg_count, a.attrs, a.attr_count, one_in(2) ? UINT64_MAX : below(3) << 32, 0));
}
CALL(pmps_fast_call_into) {
  arguments a = random_arguments();
  if (!pmps_fast_call_into(operator(), a.args, a.arg_count, a.attrs, a.attr_count, any(&tensors), 0)) ended(pmps_fast_error());
}
CALL(pmps_fast_index) {
  pmps_index items[3] = {item(), item(), item()};
  fast(pmps_fast_index(any(&tensors), items, below(4), 0));
}
CALL(pmps_fast_read) {
  uint64_t h = any(&tensors);
  static char to[MEMORY];
  if (!pmps_fast_read(h, to, one_in(10) ? below(MEMORY) : size_of(h))) ended(pmps_fast_error());
}
CALL(pmps_fast_wait) { pmps_fast_wait(1); }
CALL(pmps_fast_idle) { pmps_fast_idle(any(&streams)); }
CALL(pmps_fast_release) {
  uint64_t stale[3] = {tensors.old[below(POOL)], 0, dice()};
  pmps_fast_release(stale, below(4));
}

CALL(pmps_python_init) { /* with an interpreter it is tested from Python */
  pmps_python_api api = {.struct_size = below(2 * sizeof api)};
  pmps_python_entries entries;
  if (api.struct_size != sizeof api && pmps_python_init(one_in(2) ? NULL : &api, &entries)) fail("an interpreter of no version");
}

static const struct {
  const char *name;
  void (*call)(void);
  int weight;
} table[] = {
#define ROW(name, weight) {#name, call_##name, weight},
#include "table.inc"
};

static void call_any(void) {
  const int i = (int)below(sizeof table / sizeof *table);
  note(table[i].name);
  table[i].call();
}

/* ---- Rounds. */

/* sane is a computation with a known result, on tensors of its own. */
static void sane(void) {
  const float values[] = {1, 2, 3};
  const int64_t n = 3;
  float out[3] = {0};
  pmps_tensor *x = NULL;
  ended(pmps_stream_set_current(NULL));
  for (int32_t kind = 0; kind < 2; kind++) {
    const pmps_place p = {kind, 0};
    ended(pmps_memory_set_limit(&p, GENEROUS));
    if (pmps_device_count(kind) == 0) continue;
    ended(pmps_device_synchronize(&p)); /* a GPU ends all calls of a command buffer with a kernel that fails */
    if (!ended(pmps_tensor_from_host(&p, PMPS_FLOAT32, 1, &n, values, &x))) fail("no tensor can be made");
    uint64_t y;
    while (!(y = pmps_fast_binary(PMPS_OP_ADD, BITS(x), BITS(x), 0))) {
      pmps_error *e = pmps_fast_error();
      if (pmps_error_code(e) != PMPS_BUSY) fail("x + x failed");
      pmps_error_free(e);
      pmps_fast_wait(100);
    }
    if (!ended(pmps_tensor_read(AS(pmps_tensor, y), out, sizeof out)) || out[0] != 2 || out[2] != 6) fail("x + x is wrong");
    pmps_tensor_free(x);
    free_tensor(y);
  }
}

static int run_round(uint64_t seed, uint64_t count) {
  enum { ROWS = sizeof table / sizeof *table };
  int total = 0;
  state = seed * 0x9e3779b97f4a7c15u | 1;
  for (int i = 0; i < ROWS; i++) total += table[i].weight;
  for (size_t i = 0; i < sizeof memory; i++) memory[i] = (char)dice();
  pmps_log_set(log_message, NULL, 0);
  sane();
  for (uint64_t n = 0; n < count; n++) {
    alarm(PATIENCE); /* a call that hangs ends the round */
    int at = (int)below((uint64_t)total), i = 0;
    while (at >= table[i].weight) at -= table[i++].weight;
    note(table[i].name);
    table[i].call();
    if (n % 1000 == 999) sane();
  }
  note("the end");
  ended(pmps_stream_set_current(NULL));
  while (runs.count) drop(&runs, free_run);
  while (tensors.count) drop(&tensors, free_tensor);
  while (events.count) drop(&events, free_event);
  while (streams.count) drop(&streams, free_stream);
  while (kernels.count) drop(&kernels, free_kernel);
  while (libraries.count) drop(&libraries, free_library);
  while (graphs.count) drop(&graphs, free_graph);
  while (programs.count) drop(&programs, free_program);
  for (int32_t kind = 0; kind < 2; kind++) {
    const pmps_place p = {kind, 0};
    ended(pmps_device_synchronize(&p));
    ended(pmps_memory_record_history(&p, 0, NULL, NULL));
  }
  for (int tries = 0; pmps_live_handles() != 0 && tries < 100; tries++) usleep(10000); /* streams close by themselves */
  if (pmps_live_handles() != 0) fail("handles are left");
  for (int tries = 0; given_back != imported && tries < 100; tries++) usleep(10000);
  if (given_back != imported) fail("memory was not given back once and only once");
  return 0;
}

extern char **environ;

/* start runs a round in a process of its own; its exit status. */
static int start(const char *self, uint64_t seed, const char *file) {
  char seed_text[32], count_text[32];
  snprintf(seed_text, sizeof seed_text, "%llu", (unsigned long long)seed);
  snprintf(count_text, sizeof count_text, "%d", ROUND);
  char *const args[] = {(char *)self, "round", seed_text, count_text, (char *)file, NULL};
  pid_t pid;
  int status = -1;
  if (posix_spawn(&pid, self, NULL, NULL, args, environ) != 0) return -1;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

static call_log *map_log(const char *file) {
  int fd = open(file, O_RDWR | O_CREAT, 0600);
  if (fd < 0 || ftruncate(fd, sizeof(call_log)) != 0) return NULL;
  void *p = mmap(NULL, sizeof(call_log), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  close(fd);
  return p == MAP_FAILED ? NULL : p;
}

static void report(uint64_t seed, int status) {
  printf("FAIL fuzz: ended by %s %d; again: fuzz round %llu %d\n", WIFSIGNALED(status) ? "signal" : "status",
         WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status), (unsigned long long)seed, ROUND);
  uint64_t last = calls->calls, first = last > LOGGED ? last - LOGGED : 0;
  for (uint64_t i = first; i < last; i++) printf("    %s\n", calls->lines[i % LOGGED]);
}

int main(int argc, char **argv) {
  if (argc >= 4 && strcmp(argv[1], "round") == 0) {
    static call_log own;
    calls = argc > 4 ? map_log(argv[4]) : &own;
    return calls ? run_round(strtoull(argv[2], NULL, 0), strtoull(argv[3], NULL, 0)) : 2;
  }
  if (argc < 2) {
    fprintf(stderr, "usage: fuzz SECONDS [SEED] | fuzz round SEED CALLS\n");
    return 2;
  }
  char file[] = P_tmpdir "/fuzzlogXXXXXX";
  int fd = mkstemp(file);
  if (fd < 0) return 2;
  close(fd);
  time_t end = time(NULL) + atoi(argv[1]);
  uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : (uint64_t)time(NULL), rounds = 0;
  int failed = 0;
  calls = map_log(file);
  while (calls && time(NULL) < end && failed < 3) {
    memset(calls, 0, sizeof *calls);
    unlink(program_file((long)getpid())); /* a round does not depend on the one before */
    int status = start(argv[0], seed, file);
    if (status != 0) {
      report(seed, status);
      failed++;
    }
    seed++;
    rounds++;
  }
  unlink(file);
  unlink(program_file((long)getpid()));
  if (!failed) printf("ok fuzz: %llu rounds of %d calls, the last with seed %llu\n", (unsigned long long)rounds, ROUND, (unsigned long long)seed - 1);
  return failed != 0;
}
