//go:build arm64 && cgo && !race

// Elementary functions in float64, on half as many elements, with errors far below the rounding to float32. They are those of
// float64x512.go in package maths and softmax512.go in package rownorm, where the reasons for each step stand.

#ifndef NEON_WIDE_H
#define NEON_WIDE_H

#include "coefficients.h"
#include "vectors.h"

#define WIDE_LN2 0x1.62e42fefa39efp-1
#define WIDE_LOG2E 0x1.71547652b82fep+0
#define WIDE_MAGIC 0x1.8p52
#define PI 0x1.921fb54442d18p+1
#define ROOT_HALF 0x1.6a09e6p-1 // of float32

INLINE wide wide_horner(const double *c, int terms, wide x) {
    wide p = w_(c[terms - 1]);
    for (int i = terms - 2; i >= 0; i--) p = fma_w(p, x, w_(c[i]));
    return p;
}

INLINE wide abs_w(wide x) { return vabsq_f64(x); }

// |y| with the sign of x.
INLINE wide signed_w(wide y, wide x) { return vbslq_f64(vdupq_n_u64(1ull << 63), x, y); }

// r and a power of two with exp(x) = scale * exp(r).
INLINE wide fold_exp(wide x, wide *scale) {
    wide magic = w_(WIDE_MAGIC + 1023);
    x = vminq_f64(vmaxq_f64(x, w_(-708)), w_(708));
    wide t = fma_w(x, w_(WIDE_LOG2E), magic);
    *scale = float_w(vshlq_n_s64(bits_w(t), 52));
    return fma_w(vsubq_f64(t, magic), w_(-WIDE_LN2), x);
}

// exp(r) - 1.
INLINE wide exp_taylor(wide r) { return vmulq_f64(wide_horner(expTaylor, 9, r), r); }

INLINE wide exp_w(wide x) {
    wide scale, m = exp_taylor(fold_exp(x, &scale));
    return fma_w(m, scale, scale);
}

// expm1 without the sign of zero.
INLINE wide expm1_raw(wide x) {
    wide scale, m = exp_taylor(fold_exp(x, &scale));
    return fma_w(m, scale, vsubq_f64(scale, w_(1)));
}

// sinh(a) = (e + e/(e+1))/2 with e = expm1(a), for a = |x|.
INLINE wide sinh_w(wide x) {
    wide e = expm1_raw(abs_w(x));
    return signed_w(vmulq_f64(vaddq_f64(vdivq_f64(e, vaddq_f64(e, w_(1))), e), w_(0.5)), x);
}

INLINE wide cosh_w(wide x) {
    wide e = exp_w(abs_w(x));
    return vmulq_f64(vaddq_f64(vdivq_f64(w_(1), e), e), w_(0.5));
}

// x/(1+exp(-y)) with y = x (linear + cubic x^2), NaN for x = -Inf.
INLINE wide gelu_tanh_w(wide x) {
    const double linear = 0x1.9884533d43651p+0; // 2 sqrt(2/pi)
    wide y = vmulq_f64(fma_w(vmulq_f64(x, x), w_(linear * 0.044715), w_(linear)), x);
    wide r = vdivq_f64(x, vaddq_f64(exp_w(vnegq_f64(y)), w_(1)));
    return pick_w(vceqq_f64(x, w_(-__builtin_inf())), w_(__builtin_nan("")), r);
}

// k and f with x = 2^k (1+f), 1+f in [sqrt(1/2), sqrt(2)), for positive normal x.
INLINE wide split_w(wide x, wide *f) {
    int64x2_t root = bits_w(w_(ROOT_HALF)), unit = bits_w(w_(1));
    int64x2_t bits = vaddq_s64(bits_w(x), vsubq_s64(unit, root));
    int64x2_t k = vsubq_s64(vreinterpretq_s64_u64(vshrq_n_u64(vreinterpretq_u64_s64(bits), 52)), vdupq_n_s64(1023));
    int64x2_t mantissa = vandq_s64(bits, vdupq_n_s64((1ll << 52) - 1));
    *f = vsubq_f64(float_w(vaddq_s64(mantissa, root)), w_(1));
    return vcvtq_f64_s64(k);
}

// log(1+f) for f in [sqrt(1/2)-1, sqrt(2)-1), accurate relative to the result.
INLINE wide atanh_log(wide f) {
    wide s = vdivq_f64(f, vaddq_f64(f, w_(2))), z = vmulq_f64(s, s);
    wide p = vmulq_f64(wide_horner(atanhTaylor, 6, z), z);
    s = vaddq_f64(s, s);
    return fma_w(p, s, s);
}

// The values outside (0, inf), put into r, a logarithm of x.
INLINE wide log_edges_w(wide r, wide x) {
    r = pick_w(vcltq_f64(x, w_(__builtin_inf())), r, x); // x itself when it is +Inf or NaN
    r = pick_w(vceqzq_f64(x), w_(-__builtin_inf()), r);
    return pick_w(vcltzq_f64(x), w_(__builtin_nan("")), r);
}

INLINE wide log_w(wide x) {
    wide f, k = split_w(x, &f);
    return log_edges_w(fma_w(k, w_(WIDE_LN2), atanh_log(f)), x);
}

INLINE wide log10_w(wide x) { return vmulq_f64(log_w(x), w_(0x1.bcb7b1526e50ep-2)); }

// x itself is the fraction where 1+x needs no scaling.
INLINE wide log1p_w(wide x) {
    wide u = vaddq_f64(x, w_(1)), f, k = split_w(u, &f);
    f = pick_w(vceqzq_f64(k), x, f);
    wide r = log_edges_w(fma_w(k, w_(WIDE_LN2), atanh_log(f)), u);
    return signed_w(abs_w(r), x);
}

#define WIDE_TRIG_LIMIT 0x1p30 // above it pi/2 in two parts is not accurate enough

// r in [-pi/4, pi/4] and q, in the low bits of the answer, with x = q pi/2 + r, for |x| up to the limit.
INLINE int64x2_t reduce_trig(wide x, wide *r) {
    wide t = fma_w(x, w_(2 / PI), w_(WIDE_MAGIC)), n = vsubq_f64(t, w_(WIDE_MAGIC));
    *r = fma_w(n, w_(-0x1.1a62633145c07p-54), fma_w(n, w_(-PI / 2), x));
    return bits_w(t);
}

INLINE wide sin_taylor(wide r) { return vmulq_f64(wide_horner(sinTaylor, 6, vmulq_f64(r, r)), r); }
INLINE wide cos_taylor(wide r) { return wide_horner(cosTaylor, 7, vmulq_f64(r, r)); }

// x with the other sign where bit 1 of q is set.
INLINE wide flip(wide x, int64x2_t q) {
    return float_w(veorq_s64(bits_w(x), vandq_s64(vshlq_n_s64(q, 62), vdupq_n_s64(INT64_MIN))));
}

// odd tells where bit 0 of q is set.
INLINE wide_mask odd(int64x2_t q) { return vtstq_s64(q, vdupq_n_s64(1)); }

INLINE wide sin_w(wide x) {
    wide r;
    int64x2_t q = reduce_trig(x, &r);
    return flip(pick_w(odd(q), cos_taylor(r), sin_taylor(r)), q);
}

// sin a quarter turn on.
INLINE wide cos_w(wide x) {
    wide r;
    int64x2_t q = vaddq_s64(reduce_trig(x, &r), vdupq_n_s64(1));
    return flip(pick_w(odd(q), cos_taylor(r), sin_taylor(r)), q);
}

// tan(r + pi/2) = -cos(r)/sin(r).
INLINE wide tan_w(wide x) {
    wide r;
    int64x2_t q = reduce_trig(x, &r);
    wide s = sin_taylor(r), c = cos_taylor(r);
    return flip(vdivq_f64(pick_w(odd(q), c, s), pick_w(odd(q), s, c)), vaddq_s64(q, q));
}

// The angle of the point (x, y) for x, y >= 0; what does not compare, with NaN, is y/x.
INLINE wide angle(wide y, wide x) {
    wide_mask steep = vcgtq_f64(y, x);
    wide q = vdivq_f64(pick_w(steep, x, y), pick_w(steep, y, x));
    wide u = fma_w(vmulq_f64(q, q), w_(2), w_(-1));
    wide r = vmulq_f64(wide_horner(atanFitted, 11, u), q);
    return pick_w(steep, vsubq_f64(w_(PI / 2), r), r);
}

// sqrt(1-x^2), NaN where |x| > 1.
INLINE wide cosine(wide x) { return vsqrtq_f64(vmulq_f64(vsubq_f64(w_(1), x), vaddq_f64(w_(1), x))); }

INLINE wide atan_w(wide x) { return signed_w(angle(abs_w(x), w_(1)), x); }
INLINE wide asin_w(wide x) { return signed_w(angle(abs_w(x), cosine(x)), x); }

INLINE wide acos_w(wide x) {
    wide r = angle(cosine(x), abs_w(x));
    return pick_w(vcltzq_f64(x), vsubq_f64(w_(PI), r), r);
}

// asinh(a) = log(1 + a + (sqrt(1+a^2) - 1)), for a = |x|.
INLINE wide asinh_w(wide x) {
    wide a = abs_w(x), z = vmulq_f64(a, a);
    wide far = vsubq_f64(vsqrtq_f64(vaddq_f64(z, w_(1))), w_(1));
    wide more = pick_w(vcltq_f64(a, w_(0x1p-10)), vmulq_f64(z, w_(0.5)), far);
    return signed_w(log1p_w(vaddq_f64(a, more)), x);
}

// acosh(1+t) = log(1 + t + sqrt(t(t+2))).
INLINE wide acosh_w(wide x) {
    wide t = vsubq_f64(x, w_(1));
    wide r = log1p_w(vaddq_f64(vsqrtq_f64(vmulq_f64(t, vaddq_f64(t, w_(2)))), t));
    return pick_w(vcltq_f64(x, w_(1)), w_(__builtin_nan("")), r);
}

// atanh(a) = log(1 + 2a/(1-a)) / 2, for a = |x|.
INLINE wide atanh_w(wide x) {
    wide a = abs_w(x), r = log1p_w(vdivq_f64(vaddq_f64(a, a), vsubq_f64(w_(1), a)));
    return signed_w(vmulq_f64(r, w_(0.5)), x);
}

// log2 of 2^k (1+f), within 1.1e-10 of itself; k of f = 0.
INLINE wide log2_w(wide k, wide f) {
    wide z = vmulq_f64(f, f), z2 = vmulq_f64(z, z), part[3];
    for (int i = 0; i < 3; i++) {
        const double *c = log2Fitted + 4 * i;
        part[i] = fma_w(fma_w(w_(c[3]), f, w_(c[2])), z, fma_w(w_(c[1]), f, w_(c[0])));
    }
    return fma_w(fma_w(fma_w(part[2], z2, part[1]), z2, part[0]), f, k);
}

// 2^t within 2.4e-10 of itself, 2^t of an integer; any t beyond 1000 counts as that. It is not for NaN.
INLINE wide exp2_w(wide t) {
    t = vminq_f64(vmaxq_f64(t, w_(-1000)), w_(1000));
    wide shifted = vaddq_f64(t, w_(WIDE_MAGIC)), r = vsubq_f64(t, vsubq_f64(shifted, w_(WIDE_MAGIC))), z = vmulq_f64(r, r);
    const double *c = exp2Fitted;
    wide even = fma_w(fma_w(fma_w(w_(c[5]), z, w_(c[3])), z, w_(c[1])), z, w_(1));
    wide odds = fma_w(fma_w(fma_w(w_(c[6]), z, w_(c[4])), z, w_(c[2])), z, w_(c[0]));
    return float_w(vaddq_s64(bits_w(fma_w(odds, r, even)), vshlq_n_s64(bits_w(shifted), 52)));
}

#endif
