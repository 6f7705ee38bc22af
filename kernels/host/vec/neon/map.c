//go:build arm64 && cgo && !race

// Functions of one element.

#include "narrow.h"
#include "rows.h"
#include "wide.h"

// The drivers, which f is inlined into. EACH4 has four vectors under way at a time, for functions of few instructions.

#define EACH(name, f)                                                         \
    static size_t name(float *dst, const float *src, size_t n) {              \
        size_t i = 0;                                                         \
        for (; i + 4 <= n; i += 4) vst1q_f32(dst + i, f(vld1q_f32(src + i))); \
        if (i < n) store_few(dst + i, f(load_few(src + i, n - i)), n - i);    \
        return n;                                                             \
    }

#define EACH4(name, f)                                                      \
    EACH(name##_rest, f)                                                    \
    static size_t name(float *dst, const float *src, size_t n) {            \
        size_t i = 0;                                                       \
        for (; i + 16 <= n; i += 16) {                                      \
            narrow a = vld1q_f32(src + i), b = vld1q_f32(src + i + 4);      \
            narrow c = vld1q_f32(src + i + 8), d = vld1q_f32(src + i + 12); \
            vst1q_f32(dst + i, f(a));                                       \
            vst1q_f32(dst + i + 4, f(b));                                   \
            vst1q_f32(dst + i + 8, f(c));                                   \
            vst1q_f32(dst + i + 12, f(d));                                  \
        }                                                                   \
        name##_rest(dst + i, src + i, n - i);                               \
        return n;                                                           \
    }

// A function in float64 as one of narrow elements.
#define WIDENED(f)                                                                      \
    INLINE narrow f##_widened(narrow x) { return narrow_w(f(low_w(x)), f(high_w(x))); } \
    EACH(f##_row, f##_widened)

// The barrier keeps Clang from making a maximum of numbers of it, which is NaN of a NaN that is not quiet.
INLINE narrow relu_n(narrow x) {
    mask above = vcgtzq_f32(x);
    __asm__("" : "+w"(above));
    return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(x), above));
}

INLINE narrow reciprocal_n(narrow x) { return vdivq_f32(n_(1), x); }
INLINE narrow rsqrt_n(narrow x) { return reciprocal_n(vsqrtq_f32(x)); } // rounded twice, which is within 1.5 ulp
INLINE narrow square_n(narrow x) { return vmulq_f32(x, x); }

INLINE narrow sign_n(narrow x) {
    narrow up = pick_n(vcgtzq_f32(x), n_(1), n_(0)), either = pick_n(vcltzq_f32(x), n_(-1), up);
    return pick_n(vceqq_f32(x, x), either, x);
}

EACH4(neg_row, vnegq_f32)
EACH4(abs_row, vabsq_f32)
EACH4(sqrt_row, vsqrtq_f32)
EACH4(rsqrt_row, rsqrt_n)
EACH4(reciprocal_row, reciprocal_n)
EACH4(square_row, square_n)
EACH4(relu_row, relu_n)
EACH4(floor_row, vrndmq_f32)
EACH4(ceil_row, vrndpq_f32)
EACH4(round_row, vrndnq_f32)
EACH4(trunc_row, vrndq_f32)
EACH4(sign_row, sign_n)

EACH(exp_row, exp_n)
EACH(expm1_row, expm1_n)
EACH(log_row, log_n)
EACH(log1p_row, log1p_n)
EACH(log2_row, log2_n)
EACH(tanh_row, tanh_n)
EACH(erf_row, erf_n)
EACH(sigmoid_row, sigmoid_n)
EACH(silu_row, silu_n)
EACH(gelu_row, gelu_n)

WIDENED(log10_w)
WIDENED(asin_w)
WIDENED(acos_w)
WIDENED(atan_w)
WIDENED(sinh_w)
WIDENED(cosh_w)
WIDENED(asinh_w)
WIDENED(acosh_w)
WIDENED(atanh_w)
WIDENED(gelu_tanh_w)

// beyond tells whether an element is finite and above the limit of the wide functions.
INLINE int beyond(narrow x) {
    uint32x4_t a = vreinterpretq_u32_f32(abs_n(x)), limit = vreinterpretq_u32_f32(n_(WIDE_TRIG_LIMIT));
    return any_n(vandq_u32(vcgtq_u32(a, limit), vcltq_u32(a, vreinterpretq_u32_f32(n_(__builtin_inff())))));
}

// A vector that has an element beyond the limit of near, infinite or NaN takes these elements from a function in float64.
#define TRIG(name, near, far, limit)                                     \
    INLINE int name##_at(narrow x, narrow *y) {                          \
        mask close = vcaleq_f32(x, n_(limit));                           \
        *y = near(x);                                                    \
        if (!any_n(vmvnq_u32(close))) return 1;                          \
        if (beyond(x)) return 0;                                         \
        *y = pick_n(close, *y, narrow_w(far(low_w(x)), far(high_w(x)))); \
        return 1;                                                        \
    }                                                                    \
    static size_t name(float *dst, const float *src, size_t n) {         \
        narrow y;                                                        \
        size_t i = 0;                                                    \
        for (; i + 4 <= n; i += 4) {                                     \
            if (!name##_at(vld1q_f32(src + i), &y)) return i;            \
            vst1q_f32(dst + i, y);                                       \
        }                                                                \
        if (i == n) return n;                                            \
        if (!name##_at(load_few(src + i, n - i), &y)) return i;          \
        store_few(dst + i, y, n - i);                                    \
        return n;                                                        \
    }

INLINE narrow tan_near(narrow x) { return narrow_w(tan_w(low_w(x)), tan_w(high_w(x))); }

TRIG(sin_row, sin_near, sin_w, TRIG_LIMIT)
TRIG(cos_row, cos_near, cos_w, TRIG_LIMIT)
TRIG(tan_row, tan_near, tan_w, WIDE_TRIG_LIMIT)

size_t neon_map(int f, float *dst, const float *src, size_t n) {
    static size_t (*const rows[NEON_MAPS])(float *, const float *, size_t) = {
        [NEON_NEG] = neg_row, [NEON_ABS] = abs_row, [NEON_SQRT] = sqrt_row, [NEON_RSQRT] = rsqrt_row,
        [NEON_RECIPROCAL] = reciprocal_row, [NEON_SQUARE] = square_row, [NEON_EXP] = exp_row, [NEON_EXPM1] = expm1_row,
        [NEON_LOG] = log_row, [NEON_LOG1P] = log1p_row, [NEON_LOG2] = log2_row, [NEON_LOG10] = log10_w_row,
        [NEON_SIN] = sin_row, [NEON_COS] = cos_row, [NEON_TAN] = tan_row, [NEON_ASIN] = asin_w_row, [NEON_ACOS] = acos_w_row,
        [NEON_ATAN] = atan_w_row, [NEON_TANH] = tanh_row, [NEON_SINH] = sinh_w_row, [NEON_COSH] = cosh_w_row,
        [NEON_ASINH] = asinh_w_row, [NEON_ACOSH] = acosh_w_row, [NEON_ATANH] = atanh_w_row, [NEON_ERF] = erf_row,
        [NEON_SIGMOID] = sigmoid_row, [NEON_RELU] = relu_row, [NEON_SILU] = silu_row, [NEON_GELU] = gelu_row,
        [NEON_GELU_TANH] = gelu_tanh_w_row, [NEON_FLOOR] = floor_row, [NEON_CEIL] = ceil_row, [NEON_ROUND] = round_row,
        [NEON_TRUNC] = trunc_row, [NEON_SIGN] = sign_row,
    };
    return rows[f](dst, src, n);
}

void neon_leaky_relu(float *dst, const float *src, float slope, size_t n) {
    narrow s = n_(slope);
    size_t i = 0;
    for (; i + 4 <= n; i += 4) {
        narrow x = vld1q_f32(src + i);
        vst1q_f32(dst + i, pick_n(vcgtzq_f32(x), x, vmulq_f32(x, s)));
    }
    if (i < n) {
        narrow x = load_few(src + i, n - i);
        store_few(dst + i, pick_n(vcgtzq_f32(x), x, vmulq_f32(x, s)), n - i);
    }
}

// log1p(exp(-|y|)), plus y where y is positive.
INLINE wide softplus_w(wide y) {
    wide l = log1p_w(exp_w(vnegq_f64(abs_w(y))));
    return vaddq_f64(l, pick_w(vcgtzq_f64(y), y, w_(0)));
}

INLINE wide softplus_of(wide x, wide beta, wide threshold) {
    wide y = vmulq_f64(x, beta);
    return pick_w(vcgtq_f64(y, threshold), x, vdivq_f64(softplus_w(y), beta));
}

void neon_softplus(float *dst, const float *src, float beta, float threshold, size_t n) {
    wide b = w_(beta), limit = w_(threshold);
    for (size_t i = 0; i < n; i += 4) {
        narrow x = i + 4 <= n ? vld1q_f32(src + i) : load_few(src + i, n - i);
        narrow y = narrow_w(softplus_of(low_w(x), b, limit), softplus_of(high_w(x), b, limit));
        if (i + 4 <= n) vst1q_f32(dst + i, y);
        else store_few(dst + i, y, n - i);
    }
}
