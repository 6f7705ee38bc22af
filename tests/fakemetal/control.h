/*
 * control.h - what a test says to the fake, and what it asks.
 *
 * Environment, read when the library is loaded:
 *   FAKEMETAL_MACOS=15.0      the macOS it pretends to be
 *   FAKEMETAL_FAMILY=1007     the MTLGPUFamily of its device: Apple7 is 1007
 *   FAKEMETAL_MEMORY=bytes    the memory of its machine, 16 GiB
 *   FAKEMETAL_WORST=1         arithmetic is as inexact, and memory as dirty, as Apple allows
 *   FAKEMETAL_SEED=n          of everything that happens in an order nobody promised
 *   FAKEMETAL_DELAY_US=n      a command buffer waits up to so long before it runs
 *   FAKEMETAL_STRICT=1        a kernel's mistake ends the process, and not just its command buffer
 *   FAKEMETAL_LEAKS=1         prints what is alive when the process exits
 *   FAKEMETAL_DEFECT=name     something is wrong with the device; see defect.h
 */
#ifndef FAKEMETAL_CONTROL_H
#define FAKEMETAL_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
  COUNT_SENDS,
  COUNT_COMMITS,
  COUNT_DISPATCHES,
  COUNT_COMPILES,       /* of shader source, pipelines and graph executables together */
  COUNT_LIBRARIES,
  COUNT_PIPELINES,
  COUNT_BUFFERS,
  COUNT_HEAPS,
  COUNT_QUEUES,
  COUNT_EVENTS,
  COUNT_COMMAND_BUFFERS,
  COUNT_ENCODERS,
  COUNT_COPIED_BYTES,   /* by blits and by buffers and data made of bytes */
  COUNT_GRAPHS,
  COUNT_EXECUTABLES,
  COUNT_ENCODED_GRAPHS,
  COUNT_TENSOR_DATAS,
  COUNT_FALLIBLE,       /* times that something could have been made to fail */
  COUNT_FAILED,         /* times that it was made to */
  COUNT_WAITS,          /* times that a thread really waited for the device */
  COUNTERS
} counter;

typedef enum {
  FAIL_HEAP,
  FAIL_BUFFER,
  FAIL_LIBRARY,
  FAIL_FUNCTION,
  FAIL_PIPELINE,
  FAIL_COMMAND_BUFFER,
  FAIL_EXECUTABLE,
  FAIL_QUEUE,
  FAIL_EVENT,
  FAILURES
} failure;

/* For the fake's own files. */
void count(counter which, int64_t n);
bool fails(failure which);        /* true where a test wants this one to fail */
int fail_code(void);              /* of the error it is to fail with; 0 if the test named none */
bool macos_at_least(int major, int minor);
void macos_version(int *major, int *minor);
bool worst_case(void);
bool strict(void);
int64_t gpu_family(void);
uint64_t machine_memory(void);
uint64_t random_bits(void);       /* of the seeded stream */
uint64_t random_seed(void);
void delay(void);                 /* sleeps a random time up to FAKEMETAL_DELAY_US */

#if defined(__GNUC__)
#define FAKEMETAL_API __attribute__((visibility("default")))
#else
#define FAKEMETAL_API
#endif

/* For tests, through dlsym. what is a name such as "sends", "copied_bytes", "live_objects", or
 * "live:FakeBuffer" for one class; an unknown name answers -1. */
FAKEMETAL_API int64_t fakemetal_count(const char *what);

/* Sets all counters to 0 and forgets what is to fail. Objects stay. */
FAKEMETAL_API void fakemetal_reset(void);

/* Makes the nth of a kind from now (1 is the next) fail: "heap", "buffer", "library", "function",
 * "pipeline", "command_buffer", "executable", "queue", "event" or "any". code is that of the error
 * it answers; 0 for a usual one. nth 0 makes none fail. False if there is no such kind. */
FAKEMETAL_API bool fakemetal_fail(const char *what, int64_t nth, int code);

/* Number of live objects that are not the fake's own; each class of them is printed if wanted. */
FAKEMETAL_API int64_t fakemetal_leaks(bool print);

/* What it is: the name and version that a test can print. */
FAKEMETAL_API const char *fakemetal_name(void);

#endif
