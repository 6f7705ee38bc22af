/*
 * shader_build.c - has translated source compiled by the machine's C++ compiler, and loads the result.
 *
 * Compiled libraries are kept in a folder under the hash of everything that went into them, so that a
 * shader is compiled once on a machine. Processes may share the folder: a file appears under its name
 * only when it is whole.
 *
 * Environment: FAKEMETAL_CXX (the compiler; else c++, g++, clang++), FAKEMETAL_CACHE (the folder).
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harsh.h"
#include "shader_internal.h"

#ifndef SHADER_FOLDER
#error "SHADER_FOLDER is the folder of metal.h"
#endif

/* ---- Text. */

void shader_append_bytes(shader_text *t, const char *bytes, size_t length) {
  if (t->length + length + 1 > t->room) {
    t->room = 2 * (t->length + length) + 256;
    t->text = realloc(t->text, t->room);
  }
  memcpy(t->text + t->length, bytes, length);
  t->text[t->length += length] = 0;
}

void shader_append(shader_text *t, const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = vsnprintf(NULL, 0, format, list);
  va_end(list);
  char *s = malloc(n + 1);
  va_start(list, format);
  vsnprintf(s, n + 1, format, list);
  va_end(list);
  shader_append_bytes(t, s, n);
  free(s);
}

char *shader_format(const char *format, ...) {
  va_list list;
  va_start(list, format);
  int n = vsnprintf(NULL, 0, format, list);
  va_end(list);
  char *s = malloc(n + 1);
  va_start(list, format);
  vsnprintf(s, n + 1, format, list);
  va_end(list);
  return s;
}

static char *read_all(const char *path) {
  FILE *f = fopen(path, "rb");
  if (!f) return NULL;
  shader_text t = {0};
  char part[4096];
  for (size_t n; (n = fread(part, 1, sizeof part, f)) > 0;) shader_append_bytes(&t, part, n);
  fclose(f);
  return t.text ? t.text : shader_format("%s", "");
}

static bool write_all(const char *path, const char *text) {
  FILE *f = fopen(path, "wb");
  if (!f) return false;
  bool good = fwrite(text, 1, strlen(text), f) == strlen(text);
  return fclose(f) == 0 && good;
}

static uint64_t hash(uint64_t h, const char *s) {
  for (; *s; s++) h = (h ^ (unsigned char)*s) * 0x100000001b3u;
  return (h ^ 0xff) * 0x100000001b3u;
}

/* ---- The compiler and its folder, found once. */

static struct {
  const char *compiler;
  char *folder;
  uint64_t headers; /* hash of the headers, the flags and the compiler */
  bool clang;
} tools;
static pthread_once_t tools_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t building = PTHREAD_MUTEX_INITIALIZER; /* one compilation at a time a process */

#if defined(__APPLE__)
#include <crt_externs.h>
#define environ (*_NSGetEnviron())
#else
extern char **environ;
#endif

/* spawn runs a program with its output in a file; -1 if it cannot be run. */
static int spawn(const char *const *arguments, const char *output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  posix_spawn_file_actions_adddup2(&actions, 1, 2);
  pid_t pid;
  int status = posix_spawnp(&pid, arguments[0], &actions, NULL, (char *const *)arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  if (status != 0) return -1;
  while (waitpid(pid, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static const char *const headers[] = {"metal.h", "entry.h", "types.h", "traits.h", "math.h", "linear.h", "meet.h", "atomic.h", "fast.h", "divide.h", "strict.h", "names.h", "matrix.h"};

/* -Og: a shader is compiled for a few threadgroups, and -O1 takes a third longer. It too inlines what has to be, such as
 * barriers; see meet.h. */
static const char *const flags[] = {
    "-std=c++17", "-x", "c++", "-fPIC", "-Og", "-g0", "-w", "-Werror=return-type", "-Wno-literal-suffix", "-nostdinc++", "-fno-exceptions", "-fno-rtti",
    "-fno-threadsafe-statics", "-fno-strict-aliasing", "-fsigned-char", "-fsanitize=kernel-address", "-fsanitize=alignment",
};
/* Where the headers are. Their contents are hashed, not where they are, so that checkouts share what is compiled; but a precompiled
 * header of clang is of use only while the headers that it was made from are there. */
static const char *const folders[] = {"-I" SHADER_FOLDER, "-isystem", SHADER_FOLDER "/include"};
/* Threads meet at the address that a barrier returns to, so a barrier must stay one call: without jump threading the
 * compiler does not copy it into both arms of a condition before it. */
static const char *const gcc_flags[] = {
    "-fno-thread-jumps", "--param=asan-instrumentation-with-call-threshold=0", "--param=asan-stack=0", "--param=asan-globals=0", "-fmax-errors=5"};
static const char *const clang_flags[] = {
    "-mllvm", "-asan-instrumentation-with-call-threshold=0", "-mllvm", "-asan-stack=0", "-mllvm", "-asan-globals=0", "-ferror-limit=5"};


/* Of libraries that are counted (see shader_arithmetic.c): optimised as a GPU's compiler would, but no loop is
 * unrolled and no scalar made a vector, so that a thread's instructions are those of the source. */
static const char *const counted_flags[] = {"-O2", "-fno-vectorize", "-fno-slp-vectorize", "-fno-unroll-loops", "-fno-sanitize=alignment", "-DSHADER_COUNT"};

enum { MAX_ARGUMENTS = 64 };

typedef struct {
  const char *list[MAX_ARGUMENTS];
  int count;
} command;

static void add(command *c, const char *argument) { c->list[c->count++] = argument; }

/* mode adds what a library's options come to. */
static void mode(command *c, const shader_library *l, char version[static 32]) {
  snprintf(version, 32, "-D__METAL_VERSION__=%u", (l->language >> 16) * 100 + (l->language & 0xffff) * 10);
  add(c, version);
  add(c, "-D__METAL__");
  if (l->fast) {
    add(c, "-ffast-math");
    add(c, "-D__METAL_FAST__");
  }
  if (l->recurses) add(c, "-finstrument-functions");
  add(c, l->contracts ? "-ffp-contract=fast" : "-ffp-contract=off");
  if (!l->contracts) return;
#if defined(__x86_64__)
  add(c, "-mfma");
#endif
  if (tools.clang) return;
  add(c, "-O1"); /* g++ contracts nothing with -Og, and without the next from -O2 on */
  add(c, "-fexpensive-optimizations");
}

static command compile_command(const shader_library *l, char version[static 32]) {
  command c = {0};
  add(&c, tools.compiler);
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) add(&c, flags[i]);
  for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) add(&c, folders[i]);
  if (tools.clang)
    for (size_t i = 0; i < sizeof clang_flags / sizeof *clang_flags; i++) add(&c, clang_flags[i]);
  else
    for (size_t i = 0; i < sizeof gcc_flags / sizeof *gcc_flags; i++) add(&c, gcc_flags[i]);
  if (shader_counting())
    for (size_t i = 0; i < sizeof counted_flags / sizeof *counted_flags; i++) add(&c, counted_flags[i]);
  mode(&c, l, version);
  return c;
}

static void find_folder(void) {
  const char *given = getenv("FAKEMETAL_CACHE");
  Dl_info self;
  if (given) {
    tools.folder = shader_format("%s", given);
  } else if (dladdr((void *)shader_compile, &self) && strrchr(self.dli_fname, '/')) {
    int length = strrchr(self.dli_fname, '/') - self.dli_fname;
    tools.folder = shader_format("%.*s/shadercache", length, self.dli_fname);
  } else {
    tools.folder = shader_format("shadercache"); /* in the working directory */
  }
  mkdir(tools.folder, 0755);
}

static bool works(const char *compiler) {
  char *log = shader_format("%s/version.%u", tools.folder, (unsigned)getpid());
  const char *const arguments[] = {compiler, "--version", NULL};
  bool good = spawn(arguments, log) == 0;
  char *words = good ? read_all(log) : NULL;
  good = words && (strstr(words, "clang") || !shader_counting());
  if (good) {
    tools.compiler = compiler;
    tools.clang = strstr(words, "clang") != NULL;
    tools.headers = hash(tools.headers, words);
    if (tools.clang) tools.headers = hash(tools.headers, SHADER_FOLDER);
  }
  unlink(log);
  free(words);
  free(log);
  return good;
}

static void find_tools(void) {
  static const char *const compilers[] = {"c++", "g++", "clang++"};
  find_folder();
  tools.headers = 0xcbf29ce484222325u;
  for (size_t i = 0; i < sizeof headers / sizeof *headers; i++) {
    char *path = shader_format(SHADER_FOLDER "/%s", headers[i]), *text = read_all(path);
    if (text) tools.headers = hash(tools.headers, text);
    free(text);
    free(path);
  }
  for (size_t i = 0; i < sizeof flags / sizeof *flags; i++) tools.headers = hash(tools.headers, flags[i]);
  for (size_t i = 0; i < sizeof gcc_flags / sizeof *gcc_flags; i++) tools.headers = hash(tools.headers, gcc_flags[i]);
  for (size_t i = 0; i < sizeof clang_flags / sizeof *clang_flags; i++) tools.headers = hash(tools.headers, clang_flags[i]);
  for (size_t i = 0; shader_counting() && i < sizeof counted_flags / sizeof *counted_flags; i++) tools.headers = hash(tools.headers, counted_flags[i]);
  const char *given = getenv("FAKEMETAL_CXX");
  if (given) {
    works(given);
    return;
  }
  for (size_t i = 0; i < sizeof compilers / sizeof *compilers; i++)
    if (works(compilers[i])) return;
}

static bool have_tools(char **error) {
  pthread_once(&tools_once, find_tools);
  if (tools.compiler) return true;
  *error = shader_format("the fake compiles shaders with a C++ compiler, and none was found: install g++ or clang++, or set FAKEMETAL_CXX%s",
                         shader_counting() ? " (FAKEMETAL_COUNT wants clang++)" : "");
  return false;
}

/* ---- Compiling. */

/* compile_with compiles input to output, with a library or NULL; NULL, or the compiler's words. */
static char *compile_with(command *c, const char *input, const char *output, const char *library) {
  char *log = shader_format("%s.log", output);
  add(c, "-o");
  add(c, output);
  add(c, input);
  add(c, library);
  add(c, NULL);
  int status = spawn(c->list, log);
  char *words = status == 0 ? NULL : read_all(log);
  if (status != 0 && !words) words = shader_format("%s could not be run", tools.compiler);
  unlink(log);
  free(log);
  return words;
}

static char *run_compiler(command *c, const char *input, const char *output) { return compile_with(c, input, output, NULL); }

/* key is the hash of a library's mode: all that mode says. */
static uint64_t key(const shader_library *l) {
  return tools.headers ^ l->language ^ (uint64_t)l->fast << 40 ^ (uint64_t)l->contracts << 41 ^ (uint64_t)l->recurses << 42;
}

/* may_contract reports whether multiplications and additions of a source may be fused: its own pragma
 * forbids it, and so does a machine without the instruction. */
static bool may_contract(const char *source) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("fma")) return false;
#endif
  if (!harsh(CONTRACTION)) return false;
  for (const char *p = source; (p = strchr(p, '#')); p++) {
    char words[64] = "", *to = words; /* the line without blanks */
    for (const char *from = p; *from && *from != '\n' && to < words + sizeof words - 1; from++)
      if (*from != ' ' && *from != '\t') *to++ = *from;
    if (strcmp(words, "#pragmaMETALfpcontract(off)") == 0) return false;
  }
  return true;
}

/* prepare makes the precompiled header of a mode. Its name is the argument of -include. */
static char *prepare(const shader_library *l, char **error) {
  uint64_t h = key(l);
  char *name = shader_format("%s/metal-%016llx.h", tools.folder, (unsigned long long)h);
  char *compiled = shader_format("%s.%s", name, tools.clang ? "pch" : "gch"), version[32];
  if (access(compiled, R_OK) != 0) {
    char *temporary = shader_format("%s.%u", compiled, (unsigned)getpid());
    command c = compile_command(l, version);
    c.list[3] = "c++-header";
    *error = run_compiler(&c, SHADER_FOLDER "/metal.h", temporary);
    if (!*error && rename(temporary, compiled) == 0) write_all(name, "#include \"metal.h\"\n");
    free(temporary);
  }
  free(compiled);
  if (!*error) return name;
  free(name);
  return NULL;
}

char *shader_preprocess(const shader_library *library, const char *source, char **error) {
  if (!have_tools(error)) return NULL;
  uint64_t h = hash(key(library), source);
  char *kept = shader_format("%s/%016llx.i", tools.folder, (unsigned long long)h), *text = read_all(kept);
  if (!text) {
    char *in = shader_format("%s.%u.%p", kept, (unsigned)getpid(), (void *)library), *out = shader_format("%s.i", in), version[32];
    command c = {0};
    add(&c, tools.compiler);
    const char *const arguments[] = {"-E", "-x", "c++", "-std=c++17", "-nostdinc++", "-isystem", SHADER_FOLDER "/include"};
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) add(&c, arguments[i]);
    mode(&c, library, version);
    if (write_all(in, source) && !(*error = run_compiler(&c, in, out)) && rename(out, kept) == 0) text = read_all(kept);
    unlink(in);
    unlink(out);
    free(in);
    free(out);
  }
  free(kept);
  return text;
}

/* link_counted compiles to LLVM's language, has each block of that say what it computes, and links the result. */
static char *link_counted(command *c, const char *in, const char *out) {
  char *plain = shader_format("%s.ll", out), *counted = shader_format("%s.counted.ll", out), *text = NULL, *changed = NULL;
  add(c, "-S");
  add(c, "-emit-llvm");
  char *error = run_compiler(c, in, plain);
  if (!error && (text = read_all(plain)) && (changed = shader_instrument(text)) && write_all(counted, changed)) {
    command link = {.list = {tools.compiler, "-shared", "-fPIC", "-O1", "-w", "-lm"}, .count = 6};
    error = run_compiler(&link, counted, out);
  } else if (!error) {
    error = shader_format("%s cannot be written", counted);
  }
  unlink(plain);
  unlink(counted);
  free(plain);
  free(counted);
  free(text);
  free(changed);
  return error;
}

/* link_shared compiles and links. C++'s library is left out: no shader uses it, and looking through it takes the linker as
 * long as the compiler takes for a shader. */
static char *link_shared(command *c, const char *in, const char *out) {
  add(c, "-shared");
  add(c, "-lm");
#if !defined(__APPLE__)
  add(c, "-Wl,-Bsymbolic"); /* the C library has functions of the names of those that -finstrument-functions calls */
#endif
  if (tools.clang) return run_compiler(c, in, out);
  add(c, "-nostdlib");
  return compile_with(c, in, out, "-lgcc");
}

/* build compiles text to a shared object, unless that has been done before. Its path, or NULL. */
static char *build(const shader_library *l, const char *text, char **error) {
  uint64_t h = hash(key(l), text);
  char *path = shader_format("%s/%016llx.so", tools.folder, (unsigned long long)h), version[32];
  if (access(path, R_OK) == 0) return path;
  char *header = prepare(l, error);
  if (header) {
    char *in = shader_format("%s.%u.cc", path, (unsigned)getpid()), *out = shader_format("%s.%u", path, (unsigned)getpid());
    command c = compile_command(l, version);
    add(&c, "-include");
    add(&c, header);
    *error = !write_all(in, text) ? shader_format("%s cannot be written", in) : shader_counting() ? link_counted(&c, in, out) : link_shared(&c, in, out);
    if (!*error && rename(out, path) != 0) *error = shader_format("%s cannot be written", path);
    unlink(in);
    free(in);
    free(out);
    free(header);
  }
  if (!*error) return path;
  free(path);
  return NULL;
}

/* ---- Libraries. */

/* load opens the object of a library and finds its entries. */
static bool load(shader_library *l, const char *path, char **error) {
  l->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  void (*start)(const shader_services *) = l->handle ? (void (*)(const shader_services *))dlsym(l->handle, "shader_start") : NULL;
  const char **image = l->handle ? dlsym(l->handle, "shader_image") : NULL;
  if (!start || !image) {
    const char *words = dlerror();
    bool dynamic = words && strstr(words, "__asan_before_dynamic_init"); /* what such a variable would call */
    *error = dynamic ? shader_format("program_source: error: the initializer of a variable in address space constant is no constant expression")
                     : shader_format("%s", words);
    return false;
  }
  shader_services services = shader_service;
  services.worst = shader_worst_case();
  services.fast_functions = l->fast_functions;
  services.inexact_fast = harsh(FAST_FUNCTIONS) != 0;
  services.naive_fmod = harsh(NAIVE_FMOD) != 0;
  start(&services);
  l->image = image[0], l->image_end = image[1];
  for (shader_function *f = l->functions; f; f = f->next)
    if (!(f->entry = (shader_entry)dlsym(l->handle, f->symbol))) {
      *error = shader_format("kernel '%s' has no entry", f->name);
      return false;
    }
  return true;
}

static shader_library *make(const char *source, const shader_options *o, char **error) {
  shader_library *l = calloc(1, sizeof *l);
  l->source = shader_format("%s", source);
  l->language = o->language, l->fast = o->fast, l->fast_functions = o->fast_functions, l->contracts = may_contract(source);
  bool macros = strstr(source, "#if") || strstr(source, "#define");
  char *plain = macros ? shader_preprocess(l, source, error) : NULL, *text = NULL, *path = NULL;
  char *checked = !macros || plain ? shader_check(plain ? plain : source, l->language, &l->recurses, error) : NULL;
  if (checked) text = shader_translate(l, checked, o->constants, error);
  if (text) path = build(l, text, error);
  bool good = path && load(l, path, error);
  free(plain);
  free(checked);
  free(text);
  free(path);
  if (good) return l;
  shader_library_free(l);
  return NULL;
}

char *shader_diagnose(const char *source) {
  shader_library l = {.language = 3 << 16};
  char *error = NULL, *plain = strstr(source, "#if") || strstr(source, "#define") ? shader_preprocess(&l, source, &error) : NULL;
  if (!error) free(shader_check(plain ? plain : source, l.language, &l.recurses, &error));
  free(plain);
  return error;
}

shader_library *shader_compile(const char *source, const shader_options *options, char **error) {
  *error = NULL;
  if (!have_tools(error)) return NULL;
  pthread_mutex_lock(&building);
  shader_library *l = make(source, options, error);
  pthread_mutex_unlock(&building);
  return l;
}

shader_library *shader_specialize(const shader_library *library, const shader_constant *constants, char **error) {
  shader_options o = {library->language, library->fast, library->fast_functions, constants};
  return shader_compile(library->source, &o, error);
}

void shader_library_free(shader_library *l) {
  if (!l) return;
  for (shader_function *f = l->functions, *rest; f; f = rest) {
    rest = f->next;
    free(f->name);
    free(f->symbol);
    free(f);
  }
  if (l->handle) dlclose(l->handle);
  free(l->source);
  free(l);
}

const char *shader_name(const shader_library *l, int index) {
  const shader_function *f = l->functions;
  for (; f && index > 0; index--) f = f->next;
  return f ? f->name : NULL;
}

const shader_function *shader_find(const shader_library *l, const char *name) {
  const shader_function *f = l->functions;
  while (f && strcmp(f->name, name)) f = f->next;
  return f;
}

shader_kind shader_buffer(const shader_function *f, int index, bool *writable) {
  *writable = f->buffers[index].writable;
  return f->buffers[index].kind;
}

const char *shader_function_name(const shader_function *f) { return f->name; }
const char *shader_buffer_name(const shader_function *f, int index) { return f->buffers[index].name; }
bool shader_wants_threadgroup(const shader_function *f, int index) { return f->threadgroup[index]; }

int shader_most_threads(const shader_function *f) { return f->most_threads; }

size_t shader_static_threadgroup(const shader_function *f) { return f->declared; }
