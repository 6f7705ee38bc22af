/* system_language.c - C without an operating system: memory, texts, numbers, and what compilers call. */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "machorun.h"

/* The error number is glibc's variable, where Darwin's numbers are put: programs may keep its address. */
static int *our___error(void) { return &errno; }

static char *our_strerror(int error) { return strerror(linux_error(error)); }

/* What a function compares its frame with before it returns: any number that a program does not guess. */
static uint64_t guard = 0x9e3779b97f4a7c00;

static _Noreturn void our___stack_chk_fail(void) { give_up("a function has written behind its variables"); }

static _Noreturn void our___assert_rtn(const char *where, const char *file, int line, const char *what) {
  give_up("%s:%d: %s: assertion failed: %s", file, line, where, what);
}

extern int __cxa_atexit(void (*)(void *), void *, void *);

/* atexit has no handle of a library that a program could hand over here. */
static int our___cxa_atexit(void (*run)(void *), void *argument, void *library) {
  (void)library;
  return __cxa_atexit(run, argument, NULL);
}

/* Darwin's tables of characters say what ctype.h says; bit 8 is a letter and so on. */
static int our___maskrune(int c, unsigned long mask) {
  static const struct {
    unsigned long bit;
    int (*is)(int);
  } kinds[] = {{0x100, isalpha}, {0x200, iscntrl}, {0x400, isdigit}, {0x800, isgraph}, {0x1000, islower}, {0x2000, ispunct},
               {0x4000, isspace}, {0x8000, isupper}, {0x10000, isxdigit}, {0x20000, isblank}, {0x40000, isprint}};
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if ((mask & kinds[i].bit) && kinds[i].is(c)) return 1;
  return 0;
}

static void our_memset_pattern(char *to, const char *pattern, size_t size, size_t width) {
  for (size_t i = 0; i < size; i++) to[i] = pattern[i % width];
}

static void our_memset_pattern4(void *to, const void *pattern, size_t size) { our_memset_pattern(to, pattern, size, 4); }
static void our_memset_pattern8(void *to, const void *pattern, size_t size) { our_memset_pattern(to, pattern, size, 8); }
static void our_memset_pattern16(void *to, const void *pattern, size_t size) { our_memset_pattern(to, pattern, size, 16); }

/* A pair of doubles comes back in two registers, as this struct does on both systems. */
typedef struct {
  double sine, cosine;
} sine_cosine;

static sine_cosine our___sincos_stret(double x) {
  sine_cosine out;
  sincos(x, &out.sine, &out.cosine);
  return out;
}

static double our___exp10(double x) { return exp10(x); }

const function language_functions[] = {
    OURS(__error), OURS(strerror), OURS(__stack_chk_fail), DATA(__stack_chk_guard, &guard), OURS(__assert_rtn), OURS(__cxa_atexit),
    OURS(__maskrune), OURS(memset_pattern4), OURS(memset_pattern8), OURS(memset_pattern16), OURS(__sincos_stret), OURS(__exp10),
    SAME(malloc), SAME(calloc), SAME(realloc), SAME(free), SAME(aligned_alloc), SAME(posix_memalign),
    SAME(memchr), SAME(memcmp), SAME(memcpy), SAME(memmove), SAME(memset), SAME(bzero),
    SAME(strcat), SAME(strchr), SAME(strcmp), SAME(strcpy), SAME(strcspn), SAME(strdup), SAME(strlen), SAME(strncmp), SAME(strncpy),
    SAME(strrchr), SAME(strspn), SAME(strstr), SAME(strtod), SAME(strtol), SAME(strtoll), SAME(strtoul), SAME(strtoull), SAME(atoi),
    SAME(atol), SAME(atof), SAME(qsort), SAME(bsearch), SAME(rand), SAME(srand), SAME(tolower), SAME(toupper),
    SAME(isalnum), SAME(isalpha), SAME(isdigit), SAME(isspace), SAME(isxdigit),
    SAME(abort), SAME(exit), SAME(_exit), SAME(atexit), SAME(getenv), SAME(setenv), SAME(unsetenv), SAME(putenv),
    SAME(acos), SAME(acosh), SAME(asin), SAME(asinh), SAME(atan), SAME(atan2), SAME(atanh), SAME(cbrt), SAME(ceil), SAME(cos), SAME(cosh),
    SAME(erf), SAME(erfc), SAME(exp), SAME(exp2), SAME(expm1), SAME(fabs), SAME(floor), SAME(fma), SAME(fmax), SAME(fmin), SAME(fmod),
    SAME(frexp), SAME(hypot), SAME(ldexp), SAME(lgamma), SAME(log), SAME(log10), SAME(log1p), SAME(log2), SAME(modf), SAME(nearbyint), SAME(nextafter),
    SAME(pow), SAME(remainder), SAME(rint), SAME(round), SAME(scalbn), SAME(sin), SAME(sinh), SAME(sqrt), SAME(tan), SAME(tanh), SAME(tgamma),
    SAME(trunc), SAME(exp2f), SAME(expf), SAME(fabsf), SAME(fmodf), SAME(ldexpf), SAME(logf), SAME(nextafterf), SAME(powf), SAME(roundf),
    SAME(sqrtf), SAME(truncf), SAME(copysign), SAME(ilogb), SAME(logb),
    END,
};
