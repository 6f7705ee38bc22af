/*
 * call.c - what x + y of 8 floats on the Metal device costs a C caller, and what the same sends cost the
 * mock of Apple's libraries by itself. Calls are made in bursts that fit the command buffers that may
 * be in flight, so that no call waits for the GPU; the waits in between are not counted. The mock runs nothing during
 * a burst: its threads would take turns with ours, and its allocations are under the same lock, which no GPU's are.
 *
 * usage: call LIBRARY, where LIBRARY is the mock of Apple's. Prints lines of `name nanoseconds`: medians.
 */
#define _POSIX_C_SOURCE 200809L
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "paddlemps.h"

enum { ROUNDS = 101, BURST = 200, BATCH = 40 };

/* The processor time of this thread: others may be busy. */
static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int ascending(const void *x, const void *y) {
  return (*(const double *)x > *(const double *)y) - (*(const double *)x < *(const double *)y);
}

static void report(const char *name, double *rounds) {
  qsort(rounds, ROUNDS, sizeof *rounds, ascending);
  printf("%s %.1f\n", name, rounds[ROUNDS / 2]);
}

static void check(pmps_error *error) {
  if (!error) return;
  fprintf(stderr, "%s\n", pmps_error_message(error));
  exit(1);
}

static void *symbol(void *library, const char *name) {
  void *found = dlsym(library, name);
  if (!found) fprintf(stderr, "%s\n", dlerror()), exit(1);
  return found;
}

static void (*hold)(bool); /* of the mock */

static void ours(void) {
  const pmps_place mps = {PMPS_MPS, 0};
  const int64_t dims[1] = {8};
  const float values[8] = {1, 2, 3, 4, 5, 6, 7, 8};
  pmps_tensor *x = NULL;
  check(pmps_tensor_from_host(&mps, PMPS_FLOAT32, 1, dims, values, &x));
  const uint64_t handle = (uint64_t)(uintptr_t)x;
  double rounds[ROUNDS];
  for (int r = -2; r < ROUNDS; r++) {
    uint64_t last = 0;
    hold(true);
    const double start = now();
    for (int i = 0; i < BURST; i++) {
      uint64_t next = pmps_fast_binary(PMPS_OP_ADD, handle, handle, last);
      for (; !next; next = pmps_fast_binary(PMPS_OP_ADD, handle, handle, 0)) { /* the first call compiles */
        pmps_error *error = pmps_fast_error();
        if (pmps_error_code(error) != PMPS_BUSY) check(error);
        pmps_error_free(error);
        hold(false);
        while (!pmps_fast_wait(100)) continue;
      }
      last = next;
    }
    if (r >= 0) rounds[r] = (now() - start) / BURST;
    hold(false);
    pmps_fast_release(&last, 1);
    check(pmps_device_synchronize(&mps));
  }
  report("ours", rounds);
  pmps_tensor_free(x);
}

typedef void *id;
typedef struct {
  uint64_t width, height, depth;
} size;

#define SELECTOR(text) select(text)
#define SEND(type, ...) ((id(*) type)send)(__VA_ARGS__)

static const char shader[] =
    "#include <metal_stdlib>\nusing namespace metal;\n"
    "kernel void run(device float *out [[buffer(0)]], device const float *x [[buffer(1)]],\n"
    "    device const float *y [[buffer(2)]], constant uint &n [[buffer(3)]], uint i [[thread_position_in_grid]]) {\n"
    "    if (i < n) out[i] = x[i] + y[i];\n}\n";

/* The sends of ours, without us. */
static void theirs(void *library) {
  void *send = symbol(library, "objc_msgSend");
  const void *(*select)(const char *) = (const void *(*)(const char *))symbol(library, "sel_registerName");
  id (*class)(const char *) = (id(*)(const char *))symbol(library, "objc_getClass");
  void *(*push)(void) = (void *(*)(void))symbol(library, "objc_autoreleasePoolPush");
  void (*pop)(void *) = (void (*)(void *))symbol(library, "objc_autoreleasePoolPop");
  id (*device_of)(void) = (id(*)(void))symbol(library, "MTLCreateSystemDefaultDevice");
  void *pool = push();
  id device = device_of();
  id source = SEND((id, const void *, const char *), class("NSString"), SELECTOR("stringWithUTF8String:"), shader);
  id name = SEND((id, const void *, const char *), class("NSString"), SELECTOR("stringWithUTF8String:"), "run");
  id compiled = SEND((id, const void *, id, id, id *), device, SELECTOR("newLibraryWithSource:options:error:"), source, NULL, NULL);
  id function = SEND((id, const void *, id), compiled, SELECTOR("newFunctionWithName:"), name);
  id pipeline = SEND((id, const void *, id, id *), device, SELECTOR("newComputePipelineStateWithFunction:error:"), function, NULL);
  id buffer = SEND((id, const void *, uint64_t, uint64_t), device, SELECTOR("newBufferWithLength:options:"), 4096, 0);
  id queue = SEND((id, const void *), device, SELECTOR("newCommandQueue"));
  const void *set_pipeline = SELECTOR("setComputePipelineState:"), *set_buffer = SELECTOR("setBuffer:offset:atIndex:");
  const void *set_bytes = SELECTOR("setBytes:length:atIndex:"), *dispatch = SELECTOR("dispatchThreads:threadsPerThreadgroup:");
  const void *command_buffer = SELECTOR("commandBuffer"), *compute_encoder = SELECTOR("computeCommandEncoderWithDispatchType:");
  const void *end = SELECTOR("endEncoding"), *commit = SELECTOR("commit"), *wait = SELECTOR("waitUntilCompleted");
  const void *barrier = SELECTOR("memoryBarrierWithScope:"), *signal = SELECTOR("encodeSignalEvent:value:");
  id event = SEND((id, const void *), device, SELECTOR("newSharedEvent"));
  uint64_t ticket = 0;
  const size one = {8, 1, 1};
  double rounds[ROUNDS];
  for (int r = -2; r < ROUNDS; r++) {
    id commands = NULL;
    void *outer = push();
    hold(true);
    const double start = now();
    for (uint64_t batch = 0; batch < BURST / BATCH; batch++) {
      commands = SEND((id, const void *), queue, command_buffer);
      id encoder = SEND((id, const void *, uint64_t), commands, compute_encoder, 1);
      SEND((id, const void *, id), encoder, set_pipeline, pipeline);
      for (uint32_t i = 0; i < BATCH; i++) {
        const uint32_t n = 8;
        void *scope = push();
        for (uint64_t at = 0; at < 3; at++)
          SEND((id, const void *, id, uint64_t, uint64_t), encoder, set_buffer, buffer, 256 * (at ? at : 3 + i % 2), at);
        SEND((id, const void *, const void *, uint64_t, uint64_t), encoder, set_bytes, &n, 4, 3);
        if (i % 2 == 0 && i > 0) SEND((id, const void *, uint64_t), encoder, barrier, 1);
        SEND((id, const void *, size, size), encoder, dispatch, one, one);
        pop(scope);
      }
      SEND((id, const void *), encoder, end);
      SEND((id, const void *, id, uint64_t), commands, signal, event, ++ticket);
      SEND((id, const void *), commands, commit);
    }
    const double spent = now() - start;
    hold(false);
    SEND((id, const void *), commands, wait);
    pop(outer);
    if (r >= 0) rounds[r] = spent / BURST;
  }
  report("theirs", rounds);
  pop(pool);
}

int main(int count, char **arguments) {
  if (count != 2) return fprintf(stderr, "usage: call LIBRARY\n"), 2;
  void *library = dlopen(arguments[1], RTLD_NOW);
  if (!library) return fprintf(stderr, "%s\n", dlerror()), 1;
  hold = (void (*)(bool))symbol(library, "fakemetal_hold");
  ours();
  theirs(library);
  return 0;
}
