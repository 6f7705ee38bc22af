/*
 * refuse.h - what Apple's compilers are made to refuse, by name.
 *
 * A library and a pipeline are named after a kernel and the source that has it: "run#1f3a09bc". An executable has a
 * name for each operation of its graph, the beginning of its selector: "softMax", "addition".
 */
#ifndef FAKEMETAL_REFUSE_H
#define FAKEMETAL_REFUSE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum {
  REFUSE_LIBRARY,    /* by the compiler of the language */
  REFUSE_PIPELINE,   /* by the compiler for the GPU */
  REFUSE_THREADS,    /* the pipeline allows threadgroups of one SIMD group, and no more */
  REFUSE_EXECUTABLE, /* by MPSGraph */
  REFUSABLE
} refusable;

/* Notes that something of that name is compiled, and answers whether a test wants it refused. */
bool refused(refusable kind, const char *name);

/* refused for the kernels of a source; if so, first (of size bytes) is the name of the first of them, and line where
 * it is. */
bool refused_source(const char *source, char *first, int size, int *line);

/* The number in the names of a source. */
uint32_t source_number(const char *source);

#endif
