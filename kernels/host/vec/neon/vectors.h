//go:build arm64 && cgo && !race

// Short names for vectors, and loads and stores of parts of them.

#ifndef NEON_VECTORS_H
#define NEON_VECTORS_H

#include <arm_neon.h>
#include <stddef.h>
#include <stdint.h>

// Products and sums are rounded one by one. GCC contracts none where it is told a standard of C (-std=c11; cgo takes no
// -ffp-contract), and Clang none with this line.
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

typedef float32x4_t narrow; // elements as they lie in memory
typedef float64x2_t wide;   // for arithmetic in float64
typedef uint32x4_t mask;    // all bits of an element, or none
typedef uint64x2_t wide_mask;

#define INLINE static inline __attribute__((always_inline))

INLINE narrow n_(float x) { return vdupq_n_f32(x); }
INLINE wide w_(double x) { return vdupq_n_f64(x); }

// x * y + z, rounded once.
INLINE narrow fma_n(narrow x, narrow y, narrow z) { return vfmaq_f32(z, x, y); }
INLINE wide fma_w(wide x, wide y, wide z) { return vfmaq_f64(z, x, y); }

// The bits of floats as integers, and back.
INLINE int32x4_t bits_n(narrow x) { return vreinterpretq_s32_f32(x); }
INLINE narrow float_n(int32x4_t x) { return vreinterpretq_f32_s32(x); }
INLINE int64x2_t bits_w(wide x) { return vreinterpretq_s64_f64(x); }
INLINE wide float_w(int64x2_t x) { return vreinterpretq_f64_s64(x); }

// pick is x where the mask is set, else y.
INLINE narrow pick_n(mask m, narrow x, narrow y) { return vbslq_f32(m, x, y); }
INLINE wide pick_w(wide_mask m, wide x, wide y) { return vbslq_f64(m, x, y); }

INLINE int any_n(mask m) { return vmaxvq_u32(m) != 0; }
INLINE int any_w(wide_mask m) { return vmaxvq_u32(vreinterpretq_u32_u64(m)) != 0; }

// low_w and high_w are the two halves of a vector, widened; narrow_w is a vector of two halves, each rounded once.
INLINE wide low_w(narrow x) { return vcvt_f64_f32(vget_low_f32(x)); }
INLINE wide high_w(narrow x) { return vcvt_high_f64_f32(x); }
INLINE narrow narrow_w(wide low, wide high) { return vcvt_high_f32_f64(vcvt_f32_f64(low), high); }

// load_few loads 1 to 3 elements beside zeros, and store_few stores as many.
INLINE narrow load_few(const float *p, size_t n) {
    narrow x = vld1q_lane_f32(p, n_(0), 0);
    if (n > 1) x = vld1q_lane_f32(p + 1, x, 1);
    if (n > 2) x = vld1q_lane_f32(p + 2, x, 2);
    return x;
}

INLINE void store_few(float *p, narrow x, size_t n) {
    vst1q_lane_f32(p, x, 0);
    if (n > 1) vst1q_lane_f32(p + 1, x, 1);
    if (n > 2) vst1q_lane_f32(p + 2, x, 2);
}

// larger and smaller are those of package vec: NaN if one of both is, the second of equals.
INLINE narrow larger(narrow x, narrow y) { return pick_n(vornq_u32(vcgtq_f32(x, y), vceqq_f32(x, x)), x, y); }
INLINE narrow smaller(narrow x, narrow y) { return pick_n(vornq_u32(vcltq_f32(x, y), vceqq_f32(x, x)), x, y); }

#endif
