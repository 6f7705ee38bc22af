/*
 * system_text.c - stdio. Files are glibc's, which programs only hand around; the arguments of formats come
 * as Darwin lays them out.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "machorun.h"

/* What Linux's compiler takes for a list of arguments: no more registers, the rest is on the stack. Each
 * takes eight bytes there, which is where Darwin's list lies too. */
typedef struct {
  void *stack, *integers, *floats;
  int integers_left, floats_left;
} linux_list;

_Static_assert(sizeof(linux_list) == sizeof(va_list), "AAPCS64 says so");

#define LIST(name, stack)                       \
  va_list name;                                 \
  linux_list name##_ = {stack, NULL, NULL, 0, 0}; \
  memcpy(&name, &name##_, sizeof name)

static int our_vfprintf(FILE *file, const char *format, void *stack) {
  LIST(list, stack);
  return vfprintf(file, format, list);
}

static int our_vsnprintf(char *text, size_t size, const char *format, void *stack) {
  LIST(list, stack);
  return vsnprintf(text, size, format, list);
}

static int our_vsscanf(const char *text, const char *format, void *stack) {
  LIST(list, stack);
  return vsscanf(text, format, list);
}

static int our_vprintf(const char *format, void *stack) { return our_vfprintf(stdout, format, stack); }

/* What variadic.S calls. */
int stacked_printf(const char *format, void *stack);
int stacked_fprintf(FILE *file, const char *format, void *stack);
int stacked_sprintf(char *text, const char *format, void *stack);
int stacked_snprintf(char *text, size_t size, const char *format, void *stack);
int stacked_sscanf(const char *text, const char *format, void *stack);

int stacked_printf(const char *format, void *stack) { return our_vprintf(format, stack); }
int stacked_fprintf(FILE *file, const char *format, void *stack) { return our_vfprintf(file, format, stack); }
int stacked_snprintf(char *text, size_t size, const char *format, void *stack) { return our_vsnprintf(text, size, format, stack); }
int stacked_sscanf(const char *text, const char *format, void *stack) { return our_vsscanf(text, format, stack); }

int stacked_sprintf(char *text, const char *format, void *stack) {
  LIST(list, stack);
  return vsprintf(text, format, list);
}

const function text_functions[] = {
    DATA(__stdinp, &stdin), DATA(__stdoutp, &stdout), DATA(__stderrp, &stderr),
    DATA(printf, variadic_printf), DATA(fprintf, variadic_fprintf), DATA(sprintf, variadic_sprintf), DATA(snprintf, variadic_snprintf),
    DATA(sscanf, variadic_sscanf), OURS(vprintf), OURS(vfprintf), OURS(vsnprintf), OURS(vsscanf),
    SAME(fopen), SAME(fdopen), SAME(fclose), SAME(fread), SAME(fwrite), SAME(fflush), SAME(fseek), SAME(ftell), SAME(rewind), SAME(feof),
    SAME(ferror), SAME(fileno), SAME(fgetc), SAME(fgets), SAME(fputc), SAME(fputs), SAME(getc), SAME(getdelim), SAME(getline), SAME(putc),
    SAME(putchar), SAME(puts), SAME(ungetc), SAME(perror), SAME(remove), SAME(open_memstream), SAME(tmpfile), SAME(setvbuf),
    END,
};
