/*
 * The compiler of the mock of Metal, for the program in the folder above: checks shaders by the rules of
 * tests/fakemetal/shader_check.h, or with the argument "compile" compiles them as newLibraryWithSource: does.
 *
 * Input is, for each source, a line with its name and the number of its bytes, then those bytes. Output is a line for each
 * that is refused: its name, a blank, and its first error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shader.h"

/* refused is what is wrong with a source; NULL if nothing is. */
static char *refused(const char *source, bool compile) {
  if (!compile) return shader_diagnose(source);
  shader_options options = {.language = 3 << 16};
  char *error = NULL;
  shader_library *library = shader_compile(source, &options, &error);
  shader_library_free(library);
  return error;
}

int main(int count, char **arguments) {
  bool compile = count > 1 && !strcmp(arguments[1], "compile");
  char name[256];
  size_t length;
  while (scanf("%255s %zu", name, &length) == 2 && getchar() == '\n') {
    char *source = calloc(length + 1, 1);
    if (fread(source, 1, length, stdin) != length) return 2;
    char *error = refused(source, compile);
    if (error) {
      const char *line = error, *first = strstr(error, "error:"); /* what stands before says where */
      for (const char *at = error; first && at < first; at++)
        if (*at == '\n') line = at + 1;
      printf("%s %.*s\n", name, (int)strcspn(line, "\n"), line);
    }
    free(error);
    free(source);
  }
  return ferror(stdin) ? 2 : 0;
}
