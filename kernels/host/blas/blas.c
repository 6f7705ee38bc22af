//go:build cgo

// The call of a product in one crossing from Go to C. The C compiler knows where each platform passes arguments that are
// floats among integers, and those for which there are no registers left.
#include "blas.h"

#include <string.h>

// The numbers of cblas.h, and of Apple's thread_api.h.
enum { row_major = 101, no_trans = 111, trans = 112, single_threaded = 1 };

typedef void sgemm(int order, int trans_a, int trans_b, int m, int n, int k, float alpha, const float *a, int lda,
                   const float *b, int ldb, float beta, float *c, int ldc);
typedef void dgemm(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double *a, int lda,
                   const double *b, int ldb, double beta, double *c, int ldc);
typedef unsigned get_threading(void);
typedef int set_threading(unsigned model);

// Where Accelerate uses SME (M4, from macOS 15.4), a product raises every floating-point exception, whatever its elements:
// entering streaming mode sets the flags. A program that looks at them afterwards would find errors that its operations did not raise.
#if defined(__aarch64__)
static uint64_t flags(void) {
    uint64_t f;
    __asm__ volatile("mrs %0, fpsr" : "=r"(f)::"memory");
    return f;
}
static void set_flags(uint64_t f) { __asm__ volatile("msr fpsr, %0" ::"r"(f) : "memory"); }
#else
static uint64_t flags(void) { return 0; }
static void set_flags(uint64_t f) { (void)f; }
#endif

// clear sets C to 0. With beta = 0 a BLAS must not read C, but Accelerate's sgemm has been seen to take NaN from there, for
// a single row (https://github.com/ml-explore/mlx/pull/3563).
static void clear(const blas_product *p, char *c) {
    if (p->ldc == p->n) {
        memset(c, 0, (size_t)p->m * (size_t)p->n * (size_t)p->size);
        return;
    }
    for (size_t i = 0; i < (size_t)p->m; i++)
        memset(c + i * (size_t)p->ldc * (size_t)p->size, 0, (size_t)p->n * (size_t)p->size);
}

void blas_multiply(const blas_product *p, const void *a, const void *b, void *c) {
    uint64_t before = flags();
    unsigned model = 0;
    if (p->set_threading) {
        model = ((get_threading *)p->get_threading)();
        ((set_threading *)p->set_threading)(single_threaded);
    }
    clear(p, c);
    int trans_a = p->transposed[0] ? trans : no_trans, trans_b = p->transposed[1] ? trans : no_trans;
    if (p->size == 8)
        ((dgemm *)p->function)(row_major, trans_a, trans_b, p->m, p->n, p->k, 1, a, p->lda, b, p->ldb, 0, c, p->ldc);
    else
        ((sgemm *)p->function)(row_major, trans_a, trans_b, p->m, p->n, p->k, 1, a, p->lda, b, p->ldb, 0, c, p->ldc);
    if (p->set_threading) ((set_threading *)p->set_threading)(model);
    set_flags(before);
}
