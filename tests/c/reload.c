/*
 * reload.c - dlclose has no effect: the functions work after it, and opening again gives the same
 * library. The path of the library is the only argument.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "paddlemps.h"

typedef const char *version_function(void);
typedef int32_t count_function(int32_t);

static void *symbol(void *library, const char *name) {
  void *found = library ? dlsym(library, name) : NULL;
  if (!found) printf("  %s\n", dlerror());
  return found;
}

static int works(void *library) {
  version_function *version;
  count_function *count;
  *(void **)&version = symbol(library, "pmps_version");
  *(void **)&count = symbol(library, "pmps_device_count");
  return version && count && strcmp(version(), PMPS_VERSION) == 0 && count(PMPS_CPU) == 1;
}

int main(int argc, char **argv) {
  (void)argc;
  void *library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  count_function *count;
  *(void **)&count = symbol(library, "pmps_device_count");
  int good = works(library) && dlclose(library) == 0;
  good = good && count(PMPS_CPU) == 1;
  good = good && works(dlopen(argv[1], RTLD_NOW | RTLD_LOCAL));
  printf("%s dlclose_has_no_effect\n", good ? "ok" : "FAIL");
  return !good;
}
