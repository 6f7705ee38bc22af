//go:build arm64 && cgo && !race

// Searches for the largest element. Inverting the sign bit of each turns their order round.

#include "rows.h"
#include "vectors.h"

INLINE narrow flipped_number(float x, uint32x4_t flip) {
    return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(n_(x)), flip));
}

INLINE narrow flipped(const float *p, uint32x4_t flip) {
    return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(vld1q_f32(p)), flip));
}

// A comparison with NaN is false, so that NaN is never chosen. The instruction for the larger number of two would do for quiet NaN only.
INLINE narrow higher(narrow x, narrow top) { return pick_n(vcgtq_f32(x, top), x, top); }

float neon_largest(const float *x, uint32_t flip, size_t n) {
    uint32x4_t flips = vdupq_n_u32(flip);
    narrow m0 = n_(-__builtin_inff()), m1 = m0, m2 = m0, m3 = m0;
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        m0 = higher(flipped(x + i, flips), m0), m1 = higher(flipped(x + i + 4, flips), m1);
        m2 = higher(flipped(x + i + 8, flips), m2), m3 = higher(flipped(x + i + 12, flips), m3);
    }
    for (; i + 4 <= n; i += 4) m0 = higher(flipped(x + i, flips), m0);
    for (; i < n; i++) m1 = higher(flipped_number(x[i], flips), m1);
    return vmaxvq_f32(higher(higher(m0, m1), higher(m2, m3)));
}

// One test for four vectors, then one for each element.
size_t neon_find(const float *x, float v, size_t n) {
    narrow wanted = n_(v);
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        mask low = vorrq_u32(vceqq_f32(vld1q_f32(x + i), wanted), vceqq_f32(vld1q_f32(x + i + 4), wanted));
        mask high = vorrq_u32(vceqq_f32(vld1q_f32(x + i + 8), wanted), vceqq_f32(vld1q_f32(x + i + 12), wanted));
        if (any_n(vorrq_u32(low, high))) break;
    }
    while (i < n && x[i] != v) i++;
    return i;
}

// An element is better if it is larger, or the first that is no NaN.
void neon_arg_columns(float *best, int32_t *at, const float *x, uint32_t flip, int32_t index, size_t n) {
    uint32x4_t flips = vdupq_n_u32(flip);
    int32x4_t row = vdupq_n_s32(index);
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        narrow v = flipped(x + i, flips), top = vld1q_f32(best + i);
        mask first = vbicq_u32(vceqq_f32(v, v), vceqq_f32(top, top)), better = vorrq_u32(vcgtq_f32(v, top), first);
        vst1q_f32(best + i, pick_n(better, v, top));
        vst1q_s32(at + i, vbslq_s32(better, row, vld1q_s32(at + i)));
    }
    for (; i < n; i++) {
        float v = vgetq_lane_f32(flipped_number(x[i], flips), 0);
        if (v > best[i] || (best[i] != best[i] && v == v)) best[i] = v, at[i] = index;
    }
}
