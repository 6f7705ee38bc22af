/*
 * limits.h - what differs between Apple's GPUs and versions of macOS, as data. FAKEMETAL_GPU names a row (M1 to M5),
 * or FAKEMETAL_FAMILY the first row of a family; FAKEMETAL_MACOS and FAKEMETAL_MEMORY say the rest.
 */
#ifndef FAKEMETAL_LIMITS_H
#define FAKEMETAL_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
  const char *chip;         /* "M1" */
  const char *name;         /* what MTLDevice answers as its name: "Apple M1" */
  const char *architecture; /* of MTLArchitecture, macOS 14: "applegpu_g13g" */
  const char *driver;       /* the bundle that errors of pipelines name: "AGXMetalG13X" */
  int64_t family;           /* MTLGPUFamily: Apple7 is 1007 */
  int major, minor;         /* the first macOS for it */
  uint64_t group_threads;   /* of a threadgroup, at most */
  uint64_t group_bytes;     /* of threadgroup memory, at most */
  uint64_t simd;            /* threads of a simdgroup */
  uint64_t core_registers;  /* bytes of registers of a core, which the threads of a pipeline share */
  uint64_t least_threads;   /* maxTotalThreadsPerThreadgroup of a pipeline that takes all registers a thread can have */
} gpu_limits;

/* The GPU. Ends the process where the environment names none that there is. */
const gpu_limits *gpu(void);

/* The most that one buffer may have, and what the GPU may use together, for a machine of so much memory on the
 * macOS of the environment. */
uint64_t limit_buffer(uint64_t memory);
uint64_t limit_working_set(uint64_t memory);

/* What a buffer of that length takes in a heap, and what its offset is a multiple of. */
uint64_t limit_heap_size(uint64_t length);
uint64_t limit_heap_align(uint64_t length);

/* supportsFamily: for any MTLGPUFamily. */
bool limit_family(int64_t family);

#endif
