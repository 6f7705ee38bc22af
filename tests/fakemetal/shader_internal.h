/*
 * shader_internal.h - what the three shader files share. shader/entry.h declares the same structures
 * for the compiled side; a change here is a change there.
 */
#ifndef FAKEMETAL_SHADER_INTERNAL_H
#define FAKEMETAL_SHADER_INTERNAL_H

#include "shader.h"

/* Where a thread stands; the order of the fields is that of shader::thread. */
typedef struct {
  uint32_t grid[3], in_group[3], group[3];    /* positions */
  uint32_t grid_size[3], group_size[3], groups[3];
  uint32_t nominal_size[3];                   /* of groups that are not at the edge */
  uint32_t index, lane, simd, simds;
} shader_thread;

typedef struct {
  void *buffers[SHADER_BUFFERS];
  void *threadgroup[SHADER_BUFFERS];
} shader_frame;

/* What compiled code calls; the order of the fields is that of shader::services. Threads meet at the
 * place of a barrier in the source, and where that is 0 at the address that barrier and exchange return to. */
typedef struct {
  void (*barrier)(uint64_t place);
  uint32_t (*exchange)(const void *in, void *all, uint64_t size);
  uint32_t (*lane)(void);
  void (*declare)(void *variable, uint64_t size);
  void (*check)(const void *address, uint64_t size, int32_t write);
  void (*misaligned)(const void *address, uint64_t alignment);
  void (*access)(const void *address, uint64_t size, int32_t write, const void *site);
  void (*arithmetic)(uint32_t instructions);
  void (*mute)(int32_t step);
  void (*atomic)(int32_t begins);   /* accesses until the next call are those of an atomic function */
  void (*frame)(const void *address); /* a function of a source that recurses begins, with its frame there */
  void (*wrong)(const char *words); /* what a kernel did; it does not return */
  int32_t worst, fast_functions, inexact_fast, naive_fmod;
} shader_services;

typedef void (*shader_entry)(const shader_frame *, const shader_thread *);

typedef struct {
  shader_kind kind;
  bool writable;
  char name[48]; /* cut to the room */
} shader_slot;

struct shader_function {
  struct shader_function *next;
  const shader_library *library;
  char *name;     /* what newFunctionWithName: finds */
  char *symbol;   /* of the entry */
  shader_entry entry;
  bool meets;     /* has barriers or SIMD-group functions: needs fibers */
  shader_slot buffers[SHADER_BUFFERS];
  bool threadgroup[SHADER_BUFFERS];
  int most_threads; /* of its attribute; 0: it has none */
  _Atomic size_t declared; /* threadgroup memory of its own, once it has run */
};

struct shader_library {
  char *source;
  uint32_t language;
  bool fast, fast_functions, contracts, recurses;
  void *handle;
  const char *image, *image_end; /* the loaded object: constants lie in it */
  struct shader_function *functions;
};

/* shader_check.c: holds source without macros to the rules that C++ has not, of a version of the language. The source, in
 * which of functions that differ in address spaces alone there is one, and whether a function may call itself; NULL with
 * *error on failure. */
char *shader_check(const char *source, uint32_t language, bool *recurses, char **error);

/* shader_source.c: the C++ text of a library, and its functions. NULL with *error on failure. */
char *shader_translate(shader_library *library, const char *source, const shader_constant *constants, char **error);

/* shader_build.c: a text that grows. */
typedef struct {
  char *text;
  size_t length, room;
} shader_text;

void shader_append(shader_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));
void shader_append_bytes(shader_text *text, const char *bytes, size_t length);
char *shader_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Runs the C++ compiler's preprocessor over source. NULL with *error on failure. */
char *shader_preprocess(const shader_library *library, const char *source, char **error);

/* shader_run.c */
extern const shader_services shader_service;

/* shader_count.c: what a thread of the host has counted of the dispatch that it runs. */
typedef struct shader_tally shader_tally;

shader_tally *shader_tally_new(void);
void shader_tally_free(shader_tally *tally);
void shader_tally_access(shader_tally *tally, uint32_t thread, uint64_t address, uint64_t size, bool write, bool constant, const void *site);
void shader_tally_arithmetic(shader_tally *tally, uint32_t instructions);
void shader_tally_mute(shader_tally *tally, int step); /* until the sum of steps is 0 again, one instruction counts */
void shader_tally_begin(shader_tally *tally);          /* a dispatch begins */
void shader_tally_group(shader_tally *tally, uint64_t threads); /* a threadgroup of so many has ended */
shader_counts *shader_tally_counts(shader_tally *tally);

/* shader_race.c: the thread with which a use of threadgroup memory races, -1 for none. Barriers are counted from 1. */
typedef struct shader_races shader_races;

shader_races *shader_races_new(void);
void shader_races_free(shader_races *races);
int64_t shader_race(shader_races *races, uint64_t address, uint64_t size, bool write, uint32_t thread, uint32_t barriers, uint32_t simd_barriers);

/* shader_arithmetic.c: the text of LLVM's language with a call of shader_arithmetic in each basic block (malloc). */
char *shader_instrument(const char *text);

/* shader_switch_*.S: saves the callee-saved registers on the stack, *from = sp, sp = to. */
void shader_switch(void **from, void *to);

#endif
