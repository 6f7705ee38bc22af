//go:build arm64 && cgo && !race

// Softmax of rows that lie one after the other. As in softmax512.go of package rownorm, nothing is subtracted before the exponential: each
// element is split for itself, exp(x) = 2^n exp(r), and from n that of the maximum is subtracted, which is exact. All is 2^64 times as
// large until the end. Exponentials are computed twice, for the sum and for the results, which takes less than to store them together
// with what rounding has dropped.

#include "narrow.h"
#include "rows.h"
#include "wide.h"

#define LIMIT 0x1p16f // a maximum above it has a power of two that float32 does not hold beside a fraction
#define DEPTH 130     // exp of what is less than the maximum by so much is far below the least float32

static const float padding[4] = {-__builtin_inff(), -__builtin_inff(), -__builtin_inff(), -__builtin_inff()};

// load_padded loads 1 to 3 elements beside -Inf, whose exponential is 0.
INLINE narrow load_padded(const float *p, size_t n) {
    narrow x = vld1q_lane_f32(p, vld1q_f32(padding), 0);
    if (n > 1) x = vld1q_lane_f32(p + 1, x, 1);
    if (n > 2) x = vld1q_lane_f32(p + 2, x, 2);
    return x;
}

typedef struct {
    narrow e, rest; // 2^64 exp(x) / 2^n, and what rounding has dropped from it
} power;

INLINE power power_of(narrow x, narrow low, int32x4_t bias) {
    x = vmaxq_f32(x, low);
    narrow t = fma_n(x, n_(LOG2E), n_(MAGIC)), n = vsubq_f32(t, n_(MAGIC));
    narrow g = growth_n(fma_n(n, n_(-LN2_REST), fma_n(n, n_(-LN2), x)));
    narrow s = float_n(vshlq_n_s32(vaddq_s32(bits_n(t), bias), 23));
    power p;
    p.e = fma_n(g, s, s);
    p.rest = fma_n(g, s, vsubq_f32(s, p.e));
    return p;
}

// The products with what is small are added first, and the result is rounded once.
INLINE narrow scaled(power p, narrow near, narrow far) { return fma_n(p.e, near, fma_n(near, p.rest, vmulq_f32(p.e, far))); }

static void softmax_row(float *dst, const float *src, size_t n, float top) {
    narrow low = n_(top - DEPTH), dropped = n_(0);
    int32x4_t bias = vdupq_n_s32(127 + 64 - vcvtnd_s64_f64((double)top * WIDE_LOG2E));
    wide even = w_(0), odd = w_(0);
    size_t i = 0;
    power p;
    for (; i + 4 <= n; i += 4) {
        p = power_of(vld1q_f32(src + i), low, bias);
        dropped = vaddq_f32(dropped, p.rest);
        even = vaddq_f64(even, low_w(p.e)), odd = vaddq_f64(odd, high_w(p.e));
    }
    if (i < n) {
        p = power_of(load_padded(src + i, n - i), low, bias);
        dropped = vaddq_f32(dropped, p.rest);
        even = vaddq_f64(even, low_w(p.e)), odd = vaddq_f64(odd, high_w(p.e));
    }
    even = vaddq_f64(even, low_w(dropped)), odd = vaddq_f64(odd, high_w(dropped));
    double factor = 1 / vaddvq_f64(vaddq_f64(even, odd));
    float near = (float)factor;
    narrow near_n = n_(near), far_n = n_((float)(factor - (double)near));
    for (i = 0; i + 4 <= n; i += 4) vst1q_f32(dst + i, scaled(power_of(vld1q_f32(src + i), low, bias), near_n, far_n));
    if (i < n) store_few(dst + i, scaled(power_of(load_padded(src + i, n - i), low, bias), near_n, far_n), n - i);
}

// The row of a large maximum, in float64, where the difference is exact.
static void softmax_wide(float *dst, const float *src, size_t n, float top) {
    wide t = w_(top), even = w_(0), odd = w_(0);
    size_t i = 0;
    for (; i < n; i += 4) {
        narrow x = i + 4 <= n ? vld1q_f32(src + i) : load_padded(src + i, n - i);
        even = vaddq_f64(even, exp_w(vsubq_f64(low_w(x), t))), odd = vaddq_f64(odd, exp_w(vsubq_f64(high_w(x), t)));
    }
    wide factor = w_(1 / vaddvq_f64(vaddq_f64(even, odd)));
    for (i = 0; i < n; i += 4) {
        narrow x = i + 4 <= n ? vld1q_f32(src + i) : load_padded(src + i, n - i);
        wide low = vmulq_f64(exp_w(vsubq_f64(low_w(x), t)), factor), high = vmulq_f64(exp_w(vsubq_f64(high_w(x), t)), factor);
        narrow y = narrow_w(low, high);
        if (i + 4 <= n) vst1q_f32(dst + i, y);
        else store_few(dst + i, y, n - i);
    }
}

void neon_softmax(float *dst, const float *src, size_t length, size_t n) {
    for (size_t done = 0; done < n; done += length, dst += length, src += length) {
        float top = neon_max(src, length); // NaN if there is one
        if (__builtin_fabsf(top) <= LIMIT) {
            softmax_row(dst, src, length, top);
        } else { // of an infinite top all is NaN, as of NaN
            softmax_wide(dst, src, length, top - top == 0 ? top : top - top);
        }
    }
}

// exp(x) for x up to 0, times the power of two that bias is the exponent of; 0 below least, and NaN of NaN.
INLINE narrow weight(narrow x, narrow least, int32x4_t bias) {
    mask below = vcltq_f32(x, least);
    narrow t = fma_n(vmaxq_f32(x, least), n_(LOG2E), n_(MAGIC)), r, n = vsubq_f32(t, n_(MAGIC));
    r = fma_n(n, n_(-LN2_REST), fma_n(n, n_(-LN2), vmaxq_f32(x, least)));
    narrow s = float_n(vshlq_n_s32(vaddq_s32(bits_n(t), bias), 23));
    return vreinterpretq_f32_u32(vbicq_u32(vreinterpretq_u32_f32(fma_n(growth_n(r), s, s)), below));
}

void neon_weigh(float *s, float *tops, float *sums, float *factors, int scaling, size_t columns, size_t n) {
    const float ln2 = 0x1.62e43p-1f;
    narrow least = n_((float)(scaling - 125) * ln2), least_factor = n_(-125 * ln2);
    int32x4_t bias = vdupq_n_s32(127 - scaling), plain = vdupq_n_s32(127);
    for (size_t c = 0; c < columns; c += 4) {
        narrow before = vld1q_f32(tops + c), top = before, sum = n_(0);
        for (size_t at = c; at < n; at += columns) top = vmaxq_f32(top, vld1q_f32(s + at));
        vst1q_f32(tops + c, top);
        top = pick_n(vceqq_f32(top, n_(-__builtin_inff())), n_(0), top);
        for (size_t at = c; at < n; at += columns) {
            narrow w = weight(vsubq_f32(vld1q_f32(s + at), top), least, bias);
            vst1q_f32(s + at, w);
            sum = vaddq_f32(sum, w);
        }
        narrow factor = weight(vsubq_f32(before, top), least_factor, plain);
        vst1q_f32(factors + c, factor);
        vst1q_f32(sums + c, fma_n(vld1q_f32(sums + c), factor, sum));
    }
}
