#ifndef PADDLEMPS_BLAS_H
#define PADDLEMPS_BLAS_H

#include <stdint.h>

// One product, without the addresses of its matrices: C (m x n) = A (m x k) B (k x n), all row by row.
typedef struct {
    uintptr_t function;                     // cblas_sgemm, or cblas_dgemm where size is 8
    uintptr_t get_threading, set_threading; // of the calling thread; 0: the library has none
    int32_t size;                           // bytes of an element: 4 or 8
    int32_t transposed[2];                  // not 0: A, or B, lies column by column
    int32_t m, n, k, lda, ldb, ldc;
} blas_product;

// blas_multiply computes a product on the calling thread, whose floating-point flags it preserves.
void blas_multiply(const blas_product *p, const void *a, const void *b, void *c);

#endif
