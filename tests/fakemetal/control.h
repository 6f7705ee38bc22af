/*
 * control.h - what a test says to the fake, and what it asks.
 *
 * Environment, read when the library is loaded:
 *   FAKEMETAL_MACOS=15.0      the macOS it pretends to be
 *   FAKEMETAL_MASKED=1        from 26.0 on it answers 16.0, as to a program of an older SDK, and the build that it is
 *   FAKEMETAL_GPU=M1          its GPU: a row of limits.c
 *   FAKEMETAL_FAMILY=1007     the same by its MTLGPUFamily: Apple7 is 1007
 *   FAKEMETAL_MEMORY=bytes    the memory of its machine, 16 GiB
 *   FAKEMETAL_WORST=1         arithmetic is as inexact, and memory as dirty, as Apple allows
 *                             It also turns on the switches of harsh.c: ways in which hardware and drivers may be
 *                             harsher, each a variable that may also be set by itself, or to 0
 *   FAKEMETAL_SEED=n          of everything whose order is not specified
 *   FAKEMETAL_DELAY_US=n      a command buffer waits up to so long before it runs
 *   FAKEMETAL_STRICT=1        a kernel's mistake ends the process, and not just its command buffer
 *   FAKEMETAL_COUNT=1         what kernels ask of memory is counted; see shader_count.c
 *   FAKEMETAL_RACES=1         threads that use threadgroup memory with no barrier between end a kernel; see shader_race.c
 *   FAKEMETAL_ADDRESSES=1     GPU addresses of heaps are unlike those of the CPU (Linux)
 *   FAKEMETAL_LEAKS=1         prints what is alive when the process exits
 *   FAKEMETAL_DEFECT=name     something is wrong with the device; see defect.h
 *   FAKEMETAL_LENIENT_PACKAGES=1  a damaged package gives nil; otherwise it ends the process
 *   FAKEMETAL_REFUSE=patterns what the compilers refuse; see fakemetal_refuse
 */
#ifndef FAKEMETAL_CONTROL_H
#define FAKEMETAL_CONTROL_H

#include <stdbool.h>
#include <stdint.h>

#include "shader.h"

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
  COUNT_REFUSED,        /* names that FAKEMETAL_REFUSE matched */
  COUNT_EARLY_WAITS,    /* waits that were committed before what signals the event */
  COUNT_MEMORY_BARRIERS, /* of encoders; those of threadgroups are in shader_counts */
  COUNT_TRACKED_USES,   /* of memory that Metal tracks, by command buffers */
  COUNT_PACKAGES_WRITTEN,
  COUNT_PACKAGES_READ,
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
  FAIL_PACKAGE_WRITE, /* nothing is written; with code 6 (SIGABRT) the process ends */
  FAIL_PACKAGE_READ,  /* nil; likewise */
  FAILURES
} failure;

/* For the fake's own files. */
void count_dispatch(const char *name, const shader_counts *counts); /* one has ended */
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
void await_gate(void);            /* blocks between fakemetal_hold(true) and fakemetal_hold(false) */

#if defined(__GNUC__)
#define FAKEMETAL_API __attribute__((visibility("default")))
#else
#define FAKEMETAL_API
#endif

/* For tests, through dlsym. what is a name such as "sends", "copied_bytes", "live_objects", or
 * "live:FakeBuffer" for one class; an unknown name answers -1. */
FAKEMETAL_API int64_t fakemetal_count(const char *what);

/* With FAKEMETAL_COUNT=1: what the nth dispatch that has ended since the last reset did, 0 the first. what is
 * a name such as "loaded_bytes"; an unknown name, or a dispatch that has not been, answers -1. The counts are
 * those of shader_counts, and "dispatches" is how many there are, whatever nth is. */
FAKEMETAL_API int64_t fakemetal_dispatch(const char *what, int64_t nth);

/* Copies the name of the kernel of that dispatch, cut to room - 1 bytes. False if it has not been. */
FAKEMETAL_API bool fakemetal_dispatch_name(int64_t nth, char *name, uint64_t room);

/* Sets all counters to 0 and forgets what is to fail. Objects stay. */
FAKEMETAL_API void fakemetal_reset(void);

/* Makes the nth of a kind from now (1 is the next) fail: "heap", "buffer", "library", "function",
 * "pipeline", "command_buffer", "executable", "queue", "event", "package_write", "package_read" or "any". code is that of the error
 * it answers; 0 for a usual one, and 12 (ENOMEM) of the system's own domain for the compilers of shaders. nth 0 makes none fail. False if there is no such kind. */
FAKEMETAL_API bool fakemetal_fail(const char *what, int64_t nth, int code);

/* Has committed command buffers wait before they begin, until it is called with false. */
FAKEMETAL_API void fakemetal_hold(bool hold);

/* Has the compilers refuse what matches, as FAKEMETAL_REFUSE does: patterns with commas between them, each a name
 * as in refuse.h in which * stands for anything, after the kind ("library:", "pipeline:", "threads:", "executable:")
 * or for all kinds but threads. NULL or "": nothing. What fakemetal_used answers is forgotten. */
FAKEMETAL_API void fakemetal_refuse(const char *patterns);

/* The names of what has been compiled, or was refused, since the last fakemetal_refuse: lines such as
 * "pipeline run#1f3a09bc", each once. Its length without the final zero; text gets as much as it has room for. */
FAKEMETAL_API int64_t fakemetal_used(char *text, int64_t size);

/* The nth switch of harsh.c, 0 the first: its name, a space and what it models go to text, cut to room - 1 bytes. Answers
 * its value, or -1 where there is no such switch. */
FAKEMETAL_API int64_t fakemetal_switch(int64_t nth, char *text, uint64_t room);

/* Number of live objects that are not the fake's own; each class of them is printed if wanted. */
FAKEMETAL_API int64_t fakemetal_leaks(bool print);

/* What it is: the name and version that a test can print. */
FAKEMETAL_API const char *fakemetal_name(void);

#endif
