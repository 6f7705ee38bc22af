/*
 * machorun: runs a program or library made for arm64 Macs on Linux for arm64, which qemu makes of any
 * other Linux.
 *
 *   machorun PROGRAM [ARGUMENT...]
 *
 * Our shared library, its tests and the double of Apple's libraries are compiled for Darwin, by Darwin's
 * calling convention, and ask the system for nothing but functions of C, POSIX and Mach. Those are a table
 * here, on top of glibc. The loader is there to test that code and knows only what that code needs: one
 * missing function ends the process with its name. Signals, threads, memory and files work; it proves
 * nothing about Apple's dynamic loader, code signatures or frameworks.
 *
 * MACHORUN_TRACE=1 in the environment says what is loaded, and which imports are missing.
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "machorun.h"

extern char **environ;

void give_up(const char *format, ...) {
  va_list list;
  va_start(list, format);
  fputs("machorun: ", stderr);
  vfprintf(stderr, format, list);
  fputc('\n', stderr);
  va_end(list);
  exit(125);
}

bool tracing(void) {
  static int asked = -1;
  if (asked < 0) asked = getenv("MACHORUN_TRACE") != NULL;
  return asked;
}

/* with_apple makes what a program finds behind its arguments: the environment, then the strings that
 * Darwin's kernel adds. All four lists are one array, as Go's runtime expects. */
static char **with_apple(int argc, char **argv, const char *path) {
  int variables = 0;
  while (environ[variables]) variables++;
  char **all = calloc(argc + variables + 4, sizeof *all);
  memcpy(all, argv, argc * sizeof *all);
  memcpy(all + argc + 1, environ, variables * sizeof *all);
  char *executable = malloc(strlen(path) + sizeof "executable_path=");
  sprintf(executable, "executable_path=%s", path);
  all[argc + 1 + variables + 1] = executable;
  return all;
}

int main(int argc, char **argv) {
  if (argc < 2) give_up("usage: machorun PROGRAM [ARGUMENT...]");
  argc--, argv++;
  char *path = realpath(argv[0], NULL);
  if (!path) give_up("%s is not there", argv[0]);
  char **all = with_apple(argc, argv, path), **envp = all + argc + 1, **apple = envp;
  while (*apple) apple++;
  apple++;
  image *program = load_program(path, argc, all, envp, apple);
  if (!program->entry) give_up("%s is no program", path);
  exit(((int (*)(int, char **, char **, char **))program->entry)(argc, all, envp, apple));
}
