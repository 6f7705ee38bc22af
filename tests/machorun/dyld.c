/*
 * dyld.c - images together: a program and its libraries, where their imports come from, initialisers,
 * and dlopen and its relatives for the code inside.
 */
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "machorun.h"

static image images[MOST_IMAGES];
static int image_count;
static pthread_mutex_t loading = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

/* What initialisers are called with, as main is. */
static struct {
  int argc;
  char **argv, **envp, **apple;
} started;

const char *program_path(void) { return images[0].path; }

/* ---- Imports. */

static void *find_anywhere(const char *symbol) {
  void *found = NULL;
  for (int i = 0; i < image_count && !found; i++) found = export_find(&images[i], symbol);
  return found ? found : system_find(symbol + 1);
}

static void *find_in(const image *m, int ordinal, const char *symbol) {
  if (ordinal == ORDINAL_SELF) return export_find(m, symbol);
  if (ordinal == ORDINAL_PROGRAM) return export_find(&images[0], symbol);
  if (ordinal < 0) return find_anywhere(symbol);
  if (ordinal > m->library_count) give_up("%s: %s comes from library %d of %d", m->path, symbol, ordinal, m->library_count);
  const image *from = m->loaded[ordinal - 1];
  return from ? export_find(from, symbol) : system_find(symbol + 1);
}

void *import_find(const image *m, int ordinal, const char *symbol, bool weak) {
  if (strcmp(symbol, "dyld_stub_binder") == 0) return NULL; /* nothing is bound late */
  void *found = find_in(m, ordinal, symbol);
  if (found || weak) return found;
  if (ordinal > 0 && m->loaded[ordinal - 1]) give_up("%s lacks %s, which %s needs", m->libraries[ordinal - 1], symbol, m->path);
  if (tracing()) fprintf(stderr, "machorun: %s is missing\n", symbol);
  return system_missing(symbol);
}

/* ---- Loading. */

static image *load(const char *path);

/* starts_with moves a text past a prefix. */
static bool starts_with(const char **text, const char *prefix) {
  size_t length = strlen(prefix);
  if (strncmp(*text, prefix, length) != 0) return false;
  *text += length;
  return true;
}

/* expand writes a path in which @loader_path or @executable_path may stand first. */
static void expand(const image *m, const char *path, const char *rest, char out[static PATH_MAX]) {
  const char *from = NULL;
  if (starts_with(&path, "@loader_path")) from = m->path;
  if (starts_with(&path, "@executable_path")) from = program_path();
  int folder = from && strrchr(from, '/') ? (int)(strrchr(from, '/') - from) : 0;
  snprintf(out, PATH_MAX, "%.*s%s%s%s", folder, folder ? from : "", path, *rest ? "/" : "", rest);
}

/* locate loads a library by its install name: @rpath stands for each search path of the image and of the
 * program in turn. */
static image *locate(const image *m, const char *name) {
  char path[PATH_MAX];
  const char *rest = name;
  if (!starts_with(&rest, "@rpath/")) {
    expand(m, name, "", path);
    return load(path);
  }
  const image *askers[] = {m, &images[0]};
  for (int k = 0; k < 2; k++)
    for (int i = 0; i < askers[k]->search_count; i++) {
      expand(askers[k], askers[k]->search[i], rest, path);
      image *found = load(path);
      if (found) return found;
    }
  return NULL;
}

static void load_libraries(image *m) {
  for (int i = 0; i < m->library_count; i++) {
    if (system_library(m->libraries[i])) continue;
    m->loaded[i] = locate(m, m->libraries[i]);
    if (!m->loaded[i]) give_up("%s needs %s, which is not there", m->path, m->libraries[i]);
  }
}

typedef void (*initialiser)(int, char **, char **, char **);

static void initialise(const image *m) {
  for (int i = 0; i < m->initialiser_count; i++) {
    const macho_section *s = m->initialisers[i];
    bool offsets = (s->flags & SECTION_TYPE) == SECTION_INITIALISER_OFFSETS;
    size_t width = offsets ? sizeof(uint32_t) : sizeof(initialiser);
    for (uint64_t at = 0; at < s->size; at += width) {
      const void *entry = m->base + s->address + at;
      initialiser run = offsets ? (initialiser)(m->header + *(const uint32_t *)entry) : *(initialiser const *)entry;
      run(started.argc, started.argv, started.envp, started.apple);
    }
  }
}

static image *known(const char *path) {
  for (int i = 0; i < image_count; i++)
    if (strcmp(images[i].path, path) == 0) return &images[i];
  return NULL;
}

static image *load_new(const char *path) {
  if (image_count == MOST_IMAGES) give_up("more than %d images", MOST_IMAGES);
  image *m = &images[image_count];
  if (!image_map(m, path)) return NULL;
  image_count++;
  load_libraries(m);
  fix_up(m);
  thread_variables(m);
  image_seal(m);
  if (tracing()) fprintf(stderr, "machorun: %s lies at %p\n", path, (void *)m->header);
  initialise(m);
  return m;
}

static image *load(const char *path) {
  char real[PATH_MAX];
  if (!realpath(path, real)) return NULL;
  pthread_mutex_lock(&loading);
  image *m = known(real);
  if (!m) m = load_new(real);
  pthread_mutex_unlock(&loading);
  return m;
}

image *load_program(const char *path, int argc, char **argv, char **envp, char **apple) {
  started.argc = argc, started.argv = argv, started.envp = envp, started.apple = apple;
  image *m = load(path);
  if (!m) give_up("%s is no program or library for arm64 Macs", path);
  return m;
}

/* ---- dlopen for the code inside. Linux's own libraries can be opened too: that is what the fake's
 * shaders are. A handle that is none of the images' is one of glibc's. */

static char system_handle; /* stands for all of the system's libraries */
static _Thread_local char words[400]; /* see the keys of system_thread.c, which want to lie near */
static _Thread_local bool wrong;

static void *refuse(const char *format, const char *name) {
  snprintf(words, sizeof words, format, name);
  wrong = true;
  return NULL;
}

static bool is_image(const void *handle) {
  return (const image *)handle >= images && (const image *)handle < images + MOST_IMAGES;
}

/* replaced is what is loaded in the place of a library: the mock of Accelerate, where MACHORUN_ACCELERATE names it. */
static const char *replaced(const char *path) {
  const char *mock = getenv("MACHORUN_ACCELERATE");
  return mock && strcmp(path, "/System/Library/Frameworks/Accelerate.framework/Accelerate") == 0 ? mock : path;
}

static void *our_dlopen(const char *path, int mode) {
  (void)mode;
  if (!path) return &images[0];
  if (strstr(path, "libSystem")) return &system_handle;
  path = replaced(path);
  image *m = load(path);
  if (m) return m;
  if (access(path, R_OK) != 0) return refuse("dlopen(%s): no such file", path);
  void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  return handle ? handle : refuse("%s", dlerror());
}

static void *symbol_in(void *handle, const char *name) {
  char symbol[512];
  snprintf(symbol, sizeof symbol, "_%s", name);
  if ((intptr_t)handle < 0) return find_anywhere(symbol); /* RTLD_DEFAULT and its like */
  if (handle == &system_handle) return system_find(name);
  if (is_image(handle)) return export_find(handle, symbol);
  return dlsym(handle, name);
}

static void *our_dlsym(void *handle, const char *name) {
  void *found = symbol_in(handle, name);
  return found ? found : refuse("dlsym(%s): symbol not found", name);
}

static int our_dlclose(void *handle) {
  if (handle == &system_handle || (intptr_t)handle < 0 || is_image(handle)) return 0;
  return dlclose(handle);
}

static char *our_dlerror(void) {
  bool said = wrong;
  wrong = false;
  return said ? words : NULL;
}

const image *image_at(const void *address) {
  for (int i = 0; i < image_count; i++)
    if ((const uint8_t *)address >= images[i].header && (const uint8_t *)address < images[i].header + images[i].span) return &images[i];
  return NULL;
}

/* our_dladdr knows the image only: names of functions are not asked for here. */
static int our_dladdr(const void *address, Dl_info *info) {
  const image *m = image_at(address);
  if (m) *info = (Dl_info){.dli_fname = m->path, .dli_fbase = m->header};
  return m != NULL;
}

const function dyld_functions[] = {OURS(dlopen), OURS(dlsym), OURS(dlclose), OURS(dlerror), OURS(dladdr), END};
