/*
 * library.c - MTLCompileOptions, MTLLibrary, MTLFunction, MTLFunctionConstantValues and
 * MTLComputePipelineState, on top of shader.h.
 *
 * A .metallib file is Apple's own format; the file that newLibraryWithURL: reads here holds source.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "defect.h"
#include "metal_internal.h"
#include "shader.h"

enum { LIBRARY_UNSUPPORTED = 1, LIBRARY_COMPILE_FAILURE = 3, LIBRARY_FUNCTION_NOT_FOUND = 5, LIBRARY_FILE_NOT_FOUND = 6 };
enum { MATH_SAFE = 0, MATH_RELAXED = 1, MATH_FAST = 2 };
static const char library_domain[] = "MTLLibraryErrorDomain";

/* ---- MTLCompileOptions. */

typedef struct {
  object head;
  BOOL fastMathEnabled, preserveInvariance;
  int64_t mathMode, mathFloatingPointFunctions, optimizationLevel;
  uint64_t languageVersion;
  id macros;
} compile_options;

ACCESSORS(compile_options, BOOL, preserveInvariance)
ACCESSORS(compile_options, int64_t, mathFloatingPointFunctions)
ACCESSORS(compile_options, int64_t, optimizationLevel)
ACCESSORS(compile_options, uint64_t, languageVersion)

static uint64_t newest_language(void) {
  return macos_at_least(26, 0) ? 0x40000 : macos_at_least(15, 0) ? 0x30002 : macos_at_least(14, 0) ? 0x30001 : 0x30000;
}

static id compile_options_new(class_ *self) {
  compile_options *o = (compile_options *)object_make(self);
  o->fastMathEnabled = true, o->mathMode = MATH_FAST, o->mathFloatingPointFunctions = 0;
  o->languageVersion = newest_language();
  return &o->head;
}

static void compile_options_dealloc(id self) { release(((compile_options *)self)->macros); }
static BOOL compile_options_fast(id self) { return ((compile_options *)self)->fastMathEnabled; }
static int64_t compile_options_math_mode(id self) { return ((compile_options *)self)->mathMode; }
static id compile_options_macros(id self) { return ((compile_options *)self)->macros; }
static void compile_options_set_macros(id self, SEL cmd, id macros) { (void)cmd, replace(&((compile_options *)self)->macros, macros); }

static void compile_options_set_fast(id self, SEL cmd, BOOL fast) {
  (void)cmd;
  compile_options *o = (compile_options *)self;
  o->fastMathEnabled = fast, o->mathMode = fast ? MATH_FAST : MATH_SAFE;
}

static void compile_options_set_math_mode(id self, SEL cmd, int64_t mode) {
  (void)cmd;
  compile_options *o = (compile_options *)self;
  if (mode < MATH_SAFE || mode > MATH_FAST) misuse("math mode %lld", (long long)mode);
  o->mathMode = mode, o->fastMathEnabled = mode == MATH_FAST;
}

static const method compile_options_methods[] = {
    CLASS("new", compile_options_new),
    CLASS("alloc", compile_options_new),
    INSTANCE("fastMathEnabled", compile_options_fast),
    INSTANCE("setFastMathEnabled:", compile_options_set_fast),
    INSTANCE("mathMode", compile_options_math_mode),
    INSTANCE("setMathMode:", compile_options_set_math_mode),
    INSTANCE("mathFloatingPointFunctions", compile_options_mathFloatingPointFunctions),
    INSTANCE("setMathFloatingPointFunctions:", compile_options_set_mathFloatingPointFunctions),
    INSTANCE("languageVersion", compile_options_languageVersion),
    INSTANCE("setLanguageVersion:", compile_options_set_languageVersion),
    INSTANCE("preserveInvariance", compile_options_preserveInvariance),
    INSTANCE("setPreserveInvariance:", compile_options_set_preserveInvariance),
    INSTANCE("optimizationLevel", compile_options_optimizationLevel),
    INSTANCE("setOptimizationLevel:", compile_options_set_optimizationLevel),
    INSTANCE("preprocessorMacros", compile_options_macros),
    INSTANCE("setPreprocessorMacros:", compile_options_set_macros),
};

/* ---- MTLLibrary. */

typedef struct {
  labelled head;
  shader_library *compiled;
} library;

/* with_macros is the source with a #define for each macro in front, whose lines do not count. */
static char *with_macros(const char *source, id macros) {
  char *text = NULL;
  size_t length = 0;
  FILE *to = open_memstream(&text, &length);
  for (size_t i = 0; i < dictionary_count(macros); i++) {
    id key, value;
    dictionary_at(macros, i, &key, &value);
    if (is_kind(value, "NSString")) fprintf(to, "#define %s %s\n", string_c(key), string_c(value));
    else fprintf(to, "#define %s %lld\n", string_c(key), (long long)number_integer(value));
  }
  fprintf(to, "%s%s", dictionary_count(macros) > 0 ? "#line 1\n" : "", source);
  fclose(to);
  return text;
}

static id library_of(const char *source, const compile_options *o, id *error) {
  char *wrong = NULL;
  shader_options options = {o ? (uint32_t)o->languageVersion : (uint32_t)newest_language(), !o || o->fastMathEnabled || planted(FAST_MATH), NULL};
  if (fails(FAIL_LIBRARY))
    return error_out(error, library_domain, fail_code() ? fail_code() : LIBRARY_COMPILE_FAILURE, "the compiler was made to fail"), NULL;
  if (options.language > newest_language())
    return error_out(error, library_domain, LIBRARY_UNSUPPORTED, "the language version is newer than this system"), NULL;
  char *text = with_macros(source, o ? o->macros : NULL);
  shader_library *compiled = shader_compile(text, &options, &wrong);
  free(text);
  if (!compiled) {
    error_out(error, library_domain, LIBRARY_COMPILE_FAILURE, wrong);
    return free(wrong), NULL;
  }
  library *l = (library *)object_new("FakeLibrary");
  l->compiled = compiled;
  count(COUNT_LIBRARIES, 1);
  count(COUNT_COMPILES, 1);
  return &l->head.head;
}

id device_new_library_source(id self, SEL cmd, id source, id options, id *error) {
  (void)self, (void)cmd;
  return library_of(string_c(source), (const compile_options *)options, error);
}

static char *read_file(const char *path) {
  FILE *from = fopen(path, "rb");
  if (!from) return NULL;
  char *text = NULL;
  size_t room = 0;
  ssize_t n = getdelim(&text, &room, 0, from);
  fclose(from);
  if (n >= 0) return text;
  free(text);
  return NULL;
}

id device_new_library_url(id self, SEL cmd, id url, id *error) {
  (void)self, (void)cmd;
  char *source = read_file(url_path(url));
  if (!source) return error_out(error, library_domain, LIBRARY_FILE_NOT_FOUND, "no such library"), NULL;
  id made = NULL;
  if (strncmp(source, "MTLB", 4) != 0) made = library_of(source, NULL, error);
  else error_out(error, library_domain, LIBRARY_UNSUPPORTED, "the fake reads libraries as source, not what Apple's compiler makes of it");
  free(source);
  return made;
}

static void library_dealloc(id self) { shader_library_free(((library *)self)->compiled); }

static id library_names(id self) {
  id names = autorelease(object_new("NSMutableArray"));
  const char *name;
  for (int i = 0; (name = shader_name(((library *)self)->compiled, i)); i++) array_add(names, string_of(name));
  return names;
}

/* ---- MTLFunction and its constants. */

typedef struct {
  labelled head;
  id library, name;
  shader_library *own; /* compiled again for its constants; NULL: the library's */
  const shader_function *code;
} function;

typedef struct {
  object head;
  shader_constant values[SHADER_CONSTANTS];
} constant_values;

/* MTLDataType, of those that a constant can have here: bytes, kind, and the name in the language. */
static const struct {
  uint64_t type;
  size_t size;
  char kind;
  const char *name;
} constant_types[] = {
    {3, 4, 'f', "float"}, {29, 4, 'i', "int"},  {33, 4, 'u', "uint"},  {37, 2, 'i', "short"}, {41, 2, 'u', "ushort"},
    {45, 1, 'i', "char"}, {49, 1, 'u', "uchar"}, {53, 1, 'b', "bool"}, {81, 8, 'i', "long"},  {85, 8, 'u', "ulong"},
};
enum { CONSTANT_TYPES = sizeof constant_types / sizeof *constant_types };

static void set_constant(id self, SEL cmd, const void *at, uint64_t type, uint64_t index) {
  (void)cmd;
  int t = 0;
  while (t < CONSTANT_TYPES && constant_types[t].type != type) t++;
  if (t == CONSTANT_TYPES) misuse("the fake knows no constants of MTLDataType %llu", (unsigned long long)type);
  if (index >= SHADER_CONSTANTS) misuse("index %llu; the fake has %d", (unsigned long long)index, SHADER_CONSTANTS);
  if (!at) misuse("the value is NULL");
  shader_constant *c = &((constant_values *)self)->values[index];
  uint64_t bits = 0;
  float real = 0;
  size_t size = constant_types[t].size, spare = 64 - 8 * size;
  memcpy(&bits, at, size);
  memcpy(&real, at, size < sizeof real ? size : sizeof real);
  c->set = true;
  switch (constant_types[t].kind) {
  case 'f': snprintf(c->text, sizeof c->text, "%af", (double)real); break;
  case 'b': snprintf(c->text, sizeof c->text, "%s", bits ? "true" : "false"); break;
  case 'i': snprintf(c->text, sizeof c->text, "%s(%lldLL)", constant_types[t].name, (long long)(bits << spare) >> spare); break;
  default: snprintf(c->text, sizeof c->text, "%s(%lluULL)", constant_types[t].name, (unsigned long long)bits);
  }
}

static void reset_constants(id self) { memset(((constant_values *)self)->values, 0, sizeof ((constant_values *)self)->values); }

static id function_of(library *l, id name, const shader_constant *constants, id *error) {
  char *wrong = NULL, text[256];
  shader_library *own = constants ? shader_specialize(l->compiled, constants, &wrong) : NULL;
  if (constants && !own) {
    error_out(error, library_domain, LIBRARY_COMPILE_FAILURE, wrong);
    return free(wrong), NULL;
  }
  const shader_function *code = shader_find(own ? own : l->compiled, string_c(name));
  if (!code || fails(FAIL_FUNCTION)) {
    snprintf(text, sizeof text, "Function %s was not found in the library", string_c(name));
    error_out(error, library_domain, LIBRARY_FUNCTION_NOT_FOUND, text);
    if (own) shader_library_free(own);
    return NULL;
  }
  function *f = (function *)object_new("FakeFunction");
  f->library = retain(&l->head.head), f->name = retain(name);
  f->own = own, f->code = code;
  return &f->head.head;
}

static id library_function(id self, SEL cmd, id name) { return (void)cmd, function_of((library *)self, name, NULL, NULL); }

static id library_function_with(id self, SEL cmd, id name, id values, id *error) {
  (void)cmd;
  return function_of((library *)self, name, ((constant_values *)values)->values, error);
}

static void function_dealloc(id self) {
  function *f = (function *)self;
  if (f->own) shader_library_free(f->own);
  release(f->name), release(f->library);
}

static id function_name(id self) { return ((function *)self)->name; }

static uint64_t function_type(id self) {
  (void)self;
  enum { KERNEL = 3 };
  return KERNEL;
}

static const method library_methods[] = {
    LABELLED,
    OF_DEVICE,
    INSTANCE("functionNames", library_names),
    INSTANCE("newFunctionWithName:", library_function),
    INSTANCE("newFunctionWithName:constantValues:error:", library_function_with),
};

static const method constant_values_methods[] = {
    INSTANCE("setConstantValue:type:atIndex:", set_constant),
    INSTANCE("reset", reset_constants),
};

static const method function_methods[] = {
    LABELLED,
    OF_DEVICE,
    INSTANCE("name", function_name),
    INSTANCE("functionType", function_type),
};

/* ---- MTLComputePipelineState. */

typedef struct {
  labelled head;
  function *function;
} pipeline;

id device_new_pipeline(id self, SEL cmd, id given, id *error) {
  (void)self, (void)cmd;
  if (fails(FAIL_PIPELINE)) {
    error_out(error, "AGXMetalG13X", fail_code() ? fail_code() : 1, "the pipeline was made to fail");
    return NULL;
  }
  pipeline *p = (pipeline *)object_new("FakeComputePipelineState");
  p->function = (function *)retain(given);
  count(COUNT_PIPELINES, 1);
  count(COUNT_COMPILES, 1);
  return &p->head.head;
}

const shader_function *pipeline_function(id self) { return ((pipeline *)self)->function->code; }
static void pipeline_dealloc(id self) { release(&((pipeline *)self)->function->head.head); }
static id pipeline_label(id self) { return ((pipeline *)self)->function->head.label; }
static uint64_t pipeline_max_threads(id self) { return (void)self, MAX_THREADS; }
static uint64_t pipeline_width(id self) { return (void)self, SHADER_SIMD; }
static uint64_t pipeline_static_memory(id self) { return shader_static_threadgroup(pipeline_function(self)); }

static const method pipeline_methods[] = {
    OF_DEVICE,
    INSTANCE("label", pipeline_label),
    INSTANCE("maxTotalThreadsPerThreadgroup", pipeline_max_threads),
    INSTANCE("threadExecutionWidth", pipeline_width),
    INSTANCE("staticThreadgroupMemoryLength", pipeline_static_memory),
};

__attribute__((constructor)) static void define(void) {
  static const class_def definitions[] = {
      {"MTLCompileOptions", "NSObject", NULL, sizeof(compile_options), compile_options_dealloc, METHODS(compile_options_methods)},
      {"FakeLibrary", "FakeLabelled", "MTLLibrary", sizeof(library), library_dealloc, METHODS(library_methods)},
      {"MTLFunctionConstantValues", "NSObject", NULL, sizeof(constant_values), NULL, METHODS(constant_values_methods)},
      {"FakeFunction", "FakeLabelled", "MTLFunction", sizeof(function), function_dealloc, METHODS(function_methods)},
      {"FakeComputePipelineState", "FakeLabelled", "MTLComputePipelineState", sizeof(pipeline), pipeline_dealloc, METHODS(pipeline_methods)},
  };
  for (size_t i = 0; i < sizeof definitions / sizeof *definitions; i++) class_define(&definitions[i]);
}
