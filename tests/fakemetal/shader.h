/*
 * shader.h - Metal shader source, compiled by a C++ compiler and run on the CPU.
 *
 * Four steps: shader_check.c and its neighbours refuse what C++ would take and Metal does not,
 * shader_source.c turns Metal's language into C++ and finds the kernels and
 * their arguments, shader_build.c has it compiled against the headers in shader/ and loads the result,
 * shader_run.c runs the threads of a dispatch. Sources: Metal Shading Language Specification 3.2
 * (language, attributes, numerical compliance), and the rules of the compute command encoder.
 *
 * A thread of a threadgroup is a fiber. Fibers run in random order and change only where Metal says
 * that threads meet, at barriers and SIMD-group functions, so that a barrier which is missing shows.
 * Every load and store is checked against what the dispatch has bound.
 *
 * Nothing here knows of Objective-C. All functions may be called from any thread.
 */
#ifndef FAKEMETAL_SHADER_H
#define FAKEMETAL_SHADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHADER_BUFFERS = 31, SHADER_CONSTANTS = 64, SHADER_SIMD = 32 };

typedef struct shader_library shader_library;
typedef struct shader_function shader_function;

/* The value of a function constant, as text of C++: "true", "7u", "0x1p+0f". */
typedef struct {
  bool set;
  char text[40];
} shader_constant;

typedef struct {
  uint32_t language;               /* of MTLLanguageVersion: major << 16 | minor */
  bool fast;                       /* fast math: not a number and infinity do not exist */
  bool fast_functions;             /* unqualified functions are those of fast:: */
  const shader_constant *constants; /* SHADER_CONSTANTS by index; NULL for none */
} shader_options;

/* Checks source by the rules that C++ has not, and compiles nothing. NULL, or what is refused (malloc). */
char *shader_diagnose(const char *source);

/* Compiles source. NULL on failure, with the compiler's words in *error (malloc). */
shader_library *shader_compile(const char *source, const shader_options *options, char **error);

/* Compiles the source of a library again with values for its function constants. */
shader_library *shader_specialize(const shader_library *library, const shader_constant *constants, char **error);

void shader_library_free(shader_library *library);

/* The names of the kernels, in the order of the source; NULL past the end. */
const char *shader_name(const shader_library *library, int index);

/* A kernel, which lives as long as its library; NULL if there is none of that name. */
const shader_function *shader_find(const shader_library *library, const char *name);

typedef enum { SHADER_UNUSED = 0, SHADER_BUFFER, SHADER_THREADGROUP } shader_kind;

/* The name of a kernel; lives as long as the kernel. */
const char *shader_function_name(const shader_function *function);

/* What a kernel wants at an index of buffers, and whether it may write there. */
shader_kind shader_buffer(const shader_function *function, int index, bool *writable);

/* What the kernel calls it; "" where it wants none. Lives as long as the function. */
const char *shader_buffer_name(const shader_function *function, int index);

/* Whether it has threadgroup memory at an index, whose length the encoder sets. */
bool shader_wants_threadgroup(const shader_function *function, int index);

/* The threads of a threadgroup that its attribute max_total_threads_per_threadgroup says; 0: it has none. */
int shader_most_threads(const shader_function *function);

/* Bytes of threadgroup memory that the kernel declares itself, at least; known after its first run. */
size_t shader_static_threadgroup(const shader_function *function);

typedef struct {
  void *base;    /* of the buffer; NULL where nothing is bound */
  size_t length; /* of the buffer */
  size_t offset; /* of the binding in it */
  bool constant; /* bytes of the encoder, which a GPU keeps in registers: counted apart */
} shader_binding;

/* What the threads of a dispatch did, by the model of shader_count.c. */
typedef struct {
  int64_t threads, groups, simdgroups;
  int64_t loads, stores;               /* instructions of a SIMD group that access device memory */
  int64_t loaded_bytes, stored_bytes;  /* distinct bytes of each of those instructions, summed up */
  int64_t load_transactions, store_transactions, load_ideal, store_ideal;
  int64_t constant_bytes;              /* loaded from what the encoder has set as bytes */
  int64_t threadgroup_accesses, threadgroup_bytes; /* by threads, of threadgroup memory */
  int64_t barriers, meetings;          /* of threadgroups at barriers, of SIMD groups at functions */
  int64_t arithmetic;                  /* instructions of threads */
} shader_counts;

/* The bytes that a dispatch has used of a binding, from the lowest to behind the highest; 0 and 0 for none. Loads and
 * stores are not told apart, because the compiler checks those of one address once. */
typedef struct {
  uintptr_t low, high;
} shader_extent;

/* Memory that kernels may follow addresses into, although it is not bound. */
typedef struct {
  void *base;
  size_t length;
  bool writable;
} shader_resident;

typedef struct {
  shader_binding buffers[SHADER_BUFFERS];
  const shader_resident *residents;
  int resident_count;
  size_t threadgroup[SHADER_BUFFERS]; /* bytes set by the encoder */
  uint64_t groups[3];                 /* threadgroups */
  uint64_t group[3];                  /* threads of a threadgroup */
  uint64_t threads[3];                /* of the grid; groups at its edge have fewer */
} shader_dispatch;

/* Runs a dispatch to its end. NULL, or what the kernel did wrong (malloc). *counts is what it did, zeros
 * unless shader_counting(). touched has SHADER_BUFFERS elements, or is NULL. */
char *shader_run(const shader_function *function, const shader_dispatch *dispatch, shader_counts *counts, shader_extent *touched);

/* Whether what kernels do is counted (FAKEMETAL_COUNT=1), which needs clang and makes them slow. */
bool shader_counting(void);

/* Whether arithmetic is as inexact as the specification allows (FAKEMETAL_WORST=1). */
bool shader_worst_case(void);

#endif
