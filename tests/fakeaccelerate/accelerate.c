/*
 * accelerate.c - a mock of Accelerate's matrix products, for tests of kernels/host/blas and of what calls it.
 *
 * It computes by the definition, and is harsher than Accelerate may be: it ends the process for arguments that BLAS does not
 * allow, adds up in an order that depends on the sizes, reads C even if beta is 0, and leaves all floating-point exceptions
 * raised on arm64. It counts its calls, and those with Accelerate's own threads allowed.
 *
 * FAKEACCELERATE_LACKS_DGEMM, _LACKS_THREADING (macOS 13 and 14) and _LACKS_NEW_NAMES (macOS 13.0 to 13.2) leave functions
 * out; without the last one, the old names may not be called.
 */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))
#if defined(__APPLE__)
#define NAMED(name) __asm__("_" name)
#else
#define NAMED(name) __asm__(name)
#endif

static _Atomic int64_t calls, threaded;
static _Thread_local unsigned threading; /* 0: it decides; 1: a single thread */

static void refuse(const char *function, const char *what, int got, int want) {
  fprintf(stderr, "fakeaccelerate: %s: %s is %d; want %d\n", function, what, got, want);
  abort();
}

static void at_least(const char *function, const char *what, int got, int least) {
  if (got < least) refuse(function, what, got, least);
}

/* check refuses what BLAS does not allow, operands that are null or misaligned, and leading dimensions of less than a row. */
static void check(const char *f, int order, int ta, int tb, int m, int n, int k, const void *a, int lda, const void *b, int ldb,
                  const void *c, int ldc, size_t size) {
  if (order != 101) refuse(f, "order", order, 101);
  if (ta != 111 && ta != 112) refuse(f, "transA", ta, 111);
  if (tb != 111 && tb != 112) refuse(f, "transB", tb, 111);
  at_least(f, "m", m, 1);
  at_least(f, "n", n, 1);
  at_least(f, "k", k, 1);
  at_least(f, "lda", lda, ta == 111 ? k : m);
  at_least(f, "ldb", ldb, tb == 111 ? n : k);
  at_least(f, "ldc", ldc, n);
  const void *all[] = {a, b, c};
  for (int i = 0; i < 3; i++)
    if (!all[i] || (uintptr_t)all[i] % size) refuse(f, "the remainder of an address", all[i] ? (int)((uintptr_t)all[i] % size) : -1, 0);
}

static void count(void) {
  calls++;
  if (threading != 1) threaded++;
}

static void raise_exceptions(void) {
#if defined(__aarch64__)
  __asm__ volatile("msr fpsr, %0" ::"r"((uint64_t)0x9f) : "memory");
#endif
}

/* PRODUCT is a product of elements of a type. Sums run backwards for some sizes, and beta * C is added for any beta. */
#define PRODUCT(function, T)                                                                                                  \
  static void function(const char *name, int order, int ta, int tb, int m, int n, int k, T alpha, const T *a, int lda,       \
                       const T *b, int ldb, T beta, T *c, int ldc) {                                                          \
    check(name, order, ta, tb, m, n, k, a, lda, b, ldb, c, ldc, sizeof(T));                                                   \
    count();                                                                                                                  \
    int backwards = (m / 16 + n / 16) % 2;                                                                                    \
    for (size_t i = 0; i < (size_t)m; i++)                                                                                    \
      for (size_t j = 0; j < (size_t)n; j++) {                                                                                \
        T sum = 0;                                                                                                            \
        for (size_t s = 0; s < (size_t)k; s++) {                                                                              \
          size_t l = backwards ? (size_t)k - 1 - s : s;                                                                       \
          sum += (ta == 111 ? a[i * (size_t)lda + l] : a[l * (size_t)lda + i]) *                                             \
                 (tb == 111 ? b[l * (size_t)ldb + j] : b[j * (size_t)ldb + l]);                                              \
        }                                                                                                                     \
        c[i * (size_t)ldc + j] = alpha * sum + beta * c[i * (size_t)ldc + j];                                                 \
      }                                                                                                                       \
    raise_exceptions();                                                                                                       \
  }

PRODUCT(product32, float)
#ifndef FAKEACCELERATE_LACKS_DGEMM
PRODUCT(product64, double)
#endif

#define ARGUMENTS(T)                                                                                                          \
  int order, int ta, int tb, int m, int n, int k, T alpha, const T *a, int lda, const T *b, int ldb, T beta, T *c, int ldc
#define PASSED order, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc

#ifdef FAKEACCELERATE_LACKS_NEW_NAMES
EXPORT void cblas_sgemm(ARGUMENTS(float)) { product32("cblas_sgemm", PASSED); }
#ifndef FAKEACCELERATE_LACKS_DGEMM
EXPORT void cblas_dgemm(ARGUMENTS(double)) { product64("cblas_dgemm", PASSED); }
#endif
#else
EXPORT void new_sgemm(ARGUMENTS(float)) NAMED("cblas_sgemm$NEWLAPACK");
EXPORT void new_sgemm(ARGUMENTS(float)) { product32("cblas_sgemm$NEWLAPACK", PASSED); }
EXPORT void cblas_sgemm(void) { refuse("cblas_sgemm", "the number of newer names", 1, 0); }
#ifndef FAKEACCELERATE_LACKS_DGEMM
EXPORT void new_dgemm(ARGUMENTS(double)) NAMED("cblas_dgemm$NEWLAPACK");
EXPORT void new_dgemm(ARGUMENTS(double)) { product64("cblas_dgemm$NEWLAPACK", PASSED); }
EXPORT void cblas_dgemm(void) { refuse("cblas_dgemm", "the number of newer names", 1, 0); }
#endif
#endif

#ifndef FAKEACCELERATE_LACKS_THREADING
EXPORT unsigned BLASGetThreading(void) { return threading; }
EXPORT int BLASSetThreading(unsigned model) {
  if (model > 1) return -1;
  threading = model;
  return 0;
}
#endif

/* What tests ask for: the number of calls, of those with threads of Accelerate's own, and the exceptions that are raised. */
EXPORT int64_t fakeaccelerate_calls(void) { return calls; }
EXPORT int64_t fakeaccelerate_threaded(void) { return threaded; }
EXPORT uint64_t fakeaccelerate_exceptions(void) {
  uint64_t raised = 0;
#if defined(__aarch64__)
  __asm__ volatile("mrs %0, fpsr" : "=r"(raised)::"memory");
#endif
  return raised & 0x9f;
}
