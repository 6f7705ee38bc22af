/*
 * shader.h - Metal shader source, compiled by a C++ compiler and run on the CPU.
 *
 * Three steps, a file each: shader_source.c turns Metal's language into C++ and finds the kernels and
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
  const shader_constant *constants; /* SHADER_CONSTANTS by index; NULL for none */
} shader_options;

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

/* What a kernel wants at an index of buffers, and whether it may write there. */
shader_kind shader_buffer(const shader_function *function, int index, bool *writable);

/* What the kernel calls it; "" where it wants none. Lives as long as the function. */
const char *shader_buffer_name(const shader_function *function, int index);

/* Whether it has threadgroup memory at an index, whose length the encoder sets. */
bool shader_wants_threadgroup(const shader_function *function, int index);

/* Bytes of threadgroup memory that the kernel declares itself, at least; known after its first run. */
size_t shader_static_threadgroup(const shader_function *function);

typedef struct {
  void *base;    /* of the buffer; NULL where nothing is bound */
  size_t length; /* of the buffer */
  size_t offset; /* of the binding in it */
} shader_binding;

typedef struct {
  shader_binding buffers[SHADER_BUFFERS];
  size_t threadgroup[SHADER_BUFFERS]; /* bytes set by the encoder */
  uint64_t groups[3];                 /* threadgroups */
  uint64_t group[3];                  /* threads of a threadgroup */
  uint64_t threads[3];                /* of the grid; groups at its edge have fewer */
} shader_dispatch;

/* Runs a dispatch to its end. NULL, or what the kernel did wrong (malloc). */
char *shader_run(const shader_function *function, const shader_dispatch *dispatch);

/* Whether arithmetic is as inexact as the specification allows (FAKEMETAL_WORST=1). */
bool shader_worst_case(void);

#endif
