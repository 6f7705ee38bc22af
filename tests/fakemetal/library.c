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
#include "harsh.h"
#include "limits.h"
#include "metal_internal.h"
#include "refuse.h"
#include "shader.h"

enum { LIBRARY_UNSUPPORTED = 1, LIBRARY_COMPILE_FAILURE = 3, LIBRARY_FUNCTION_NOT_FOUND = 5, LIBRARY_FILE_NOT_FOUND = 6 };
enum { MATH_SAFE = 0, MATH_RELAXED = 1, MATH_FAST = 2 };
enum { FUNCTIONS_FAST = 0, FUNCTIONS_PRECISE = 1 };
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
ACCESSORS(compile_options, int64_t, optimizationLevel)
ACCESSORS(compile_options, uint64_t, languageVersion)

static uint64_t newest_language(void) {
  return macos_at_least(26, 0) ? 0x40000 : macos_at_least(15, 0) ? 0x30002 : macos_at_least(14, 0) ? 0x30001 : 0x30000;
}

static id compile_options_new(class_ *self) {
  compile_options *o = (compile_options *)object_make(self);
  o->fastMathEnabled = true, o->mathMode = MATH_FAST, o->mathFloatingPointFunctions = FUNCTIONS_FAST;
  o->languageVersion = newest_language();
  return &o->head;
}

static void compile_options_dealloc(id self) { release(((compile_options *)self)->macros); }
static BOOL compile_options_fast(id self) { return ((compile_options *)self)->fastMathEnabled; }
static int64_t compile_options_math_mode(id self) { return ((compile_options *)self)->mathMode; }
static id compile_options_macros(id self) { return ((compile_options *)self)->macros; }
static void compile_options_set_macros(id self, SEL cmd, id macros) { (void)cmd, replace(&((compile_options *)self)->macros, macros); }

static int64_t compile_options_functions(id self) { return ((compile_options *)self)->mathFloatingPointFunctions; }

/* The old switch sets both of the new ones, which are independent of each other. */
static void compile_options_set_fast(id self, SEL cmd, BOOL fast) {
  (void)cmd;
  compile_options *o = (compile_options *)self;
  o->fastMathEnabled = fast, o->mathMode = fast ? MATH_FAST : MATH_SAFE;
  o->mathFloatingPointFunctions = fast ? FUNCTIONS_FAST : FUNCTIONS_PRECISE;
}

static void compile_options_set_math_mode(id self, SEL cmd, int64_t mode) {
  (void)cmd;
  compile_options *o = (compile_options *)self;
  if (mode < MATH_SAFE || mode > MATH_FAST) misuse("math mode %lld", (long long)mode);
  o->mathMode = mode, o->fastMathEnabled = mode == MATH_FAST;
}

static void compile_options_set_functions(id self, SEL cmd, int64_t functions) {
  (void)cmd;
  if (functions != FUNCTIONS_FAST && functions != FUNCTIONS_PRECISE) misuse("floating-point functions %lld", (long long)functions);
  ((compile_options *)self)->mathFloatingPointFunctions = functions;
}

static const method compile_options_methods[] = {
    CLASS("new", compile_options_new),
    CLASS("alloc", compile_options_new),
    INSTANCE("fastMathEnabled", compile_options_fast),
    INSTANCE("setFastMathEnabled:", compile_options_set_fast),
    INSTANCE("mathMode", compile_options_math_mode),
    INSTANCE("setMathMode:", compile_options_set_math_mode),
    INSTANCE("mathFloatingPointFunctions", compile_options_functions),
    INSTANCE("setMathFloatingPointFunctions:", compile_options_set_functions),
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
  uint32_t number; /* of its source; see refuse.h */
  size_t length;   /* of its source */
} library;

/* compiler_error fills in *error for what a test has made fail. */
static void compiler_error(id *error, const char *domain, int usual, const char *text) {
  enum { OUT_OF_MEMORY = 12 };
  int code = fail_code() ? fail_code() : usual;
  if (code == OUT_OF_MEMORY) error_out(error, "NSPOSIXErrorDomain", code, "Cannot allocate memory");
  else error_out(error, domain, code, text);
}

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

/* keep writes a source into the folder FAKEMETAL_SOURCES, so that a test can ask whether the library's own list has it. */
static void keep(const char *source) {
  const char *folder = getenv("FAKEMETAL_SOURCES");
  char path[4096];
  if (!folder || snprintf(path, sizeof path, "%s/%08x.metal", folder, source_number(source)) >= (int)sizeof path) return;
  FILE *to = fopen(path, "w");
  if (!to || fputs(source, to) < 0 || fclose(to) != 0) misuse("cannot write %s of FAKEMETAL_SOURCES", path);
}

static id library_of(const char *source, const compile_options *o, id *error) {
  char *wrong = NULL;
  shader_options options = {o ? (uint32_t)o->languageVersion : (uint32_t)newest_language(), !o || o->fastMathEnabled || planted(FAST_MATH),
                            !o || o->mathFloatingPointFunctions == FUNCTIONS_FAST || planted(FUNCTIONS_ALL_FAST), NULL};
  char kernel[128], refusal[256];
  int line;
  if (fails(FAIL_LIBRARY)) return compiler_error(error, library_domain, LIBRARY_COMPILE_FAILURE, "the compiler was made to fail"), NULL;
  if (refused_source(source, kernel, sizeof kernel, &line)) {
    snprintf(refusal, sizeof refusal, "program_source:%d:13: error: reference to '%s' is ambiguous\n", line, kernel);
    return error_out(error, library_domain, LIBRARY_COMPILE_FAILURE, refusal), NULL;
  }
  if (options.language > newest_language())
    return error_out(error, library_domain, LIBRARY_UNSUPPORTED, "the language version is newer than this system"), NULL;
  char *text = with_macros(source, o ? o->macros : NULL);
  shader_library *compiled = shader_compile(text, &options, &wrong);
  free(text);
  if (!compiled) {
    error_out(error, library_domain, LIBRARY_COMPILE_FAILURE, wrong);
    return free(wrong), NULL;
  }
  keep(source);
  harsh_sleep(COMPILE_MS);
  library *l = (library *)object_new("FakeLibrary");
  l->compiled = compiled, l->number = source_number(source), l->length = strlen(source);
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
  uint64_t most; /* threads of a threadgroup */
} pipeline;

/* What a pipeline takes of threads depends on the registers of its kernel, which its threads share. Which
 * kernel needs how many is the compiler's business: any may need 64 to 256 registers of two bytes. */
static uint64_t most_threads(const function *f) {
  enum { FEW = 64, MANY = 256, STEP = 64 };
  int64_t switched = harsh(SMALL_GROUPS), said = shader_most_threads(f->code);
  if (said > 0) return (uint64_t)said < MAX_THREADS ? (uint64_t)said : MAX_THREADS;
  if (switched != 1) return switched > 1 && switched < MAX_THREADS ? (uint64_t)switched : MAX_THREADS;
  uint64_t h = random_seed();
  for (const char *s = string_c(f->name); *s; s++) h = (h ^ (unsigned char)*s) * 0x100000001b3u;
  uint64_t registers = FEW + (h >> 32) % (MANY - FEW + 1), n = gpu()->core_registers / (2 * registers) / STEP * STEP;
  return n < gpu()->least_threads ? gpu()->least_threads : n < MAX_THREADS ? n : MAX_THREADS;
}

/* The compiler for the GPU gives up where it runs out of time or registers; how long a source is stands for both. */
static bool too_long(const library *l) {
  int64_t most = harsh(LONG_SOURCE);
  return most > 0 && l->length > (size_t)most;
}

id device_new_pipeline(id self, SEL cmd, id given, id *error) {
  (void)self, (void)cmd;
  static const char domain[] = "AGXMetalG13X";
  const function *f = (const function *)given;
  char name[128];
  snprintf(name, sizeof name, "%s#%08x", string_c(f->name), (unsigned)((library *)f->library)->number);
  if (fails(FAIL_PIPELINE)) return compiler_error(error, domain, 1, "the pipeline was made to fail"), NULL;
  harsh_sleep(COMPILE_MS);
  if (refused(REFUSE_PIPELINE, name) || too_long((library *)f->library)) return error_out(error, domain, 2, "Compiler encountered an internal error"), NULL;
  pipeline *p = (pipeline *)object_new("FakeComputePipelineState");
  p->function = (function *)retain(given), p->most = refused(REFUSE_THREADS, name) ? SHADER_SIMD : most_threads(p->function);
  count(COUNT_PIPELINES, 1);
  count(COUNT_COMPILES, 1);
  return &p->head.head;
}

const shader_function *pipeline_function(id self) { return ((pipeline *)self)->function->code; }
static void pipeline_dealloc(id self) { release(&((pipeline *)self)->function->head.head); }
static id pipeline_label(id self) { return ((pipeline *)self)->function->head.label; }
uint64_t pipeline_max_threads(id self) { return ((pipeline *)self)->most; }
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
