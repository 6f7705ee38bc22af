//go:build arm64 && cgo && !race

// Functions of two elements. The first six round correctly or not at all.

#include "rows.h"
#include "wide.h"

// A driver that takes an operand from memory, or one number for all of the row.
#define DRIVE(name, f, LEFT, RIGHT)                                                                \
    static void name(float *dst, const float *a, const float *b, size_t n) {                       \
        size_t i = 0;                                                                              \
        narrow left = vld1q_dup_f32(a), right = vld1q_dup_f32(b);                                  \
        (void)left, (void)right;                                                                   \
        for (; i + 16 <= n; i += 16) {                                                             \
            narrow p = f(LEFT(vld1q_f32, i), RIGHT(vld1q_f32, i));                                 \
            narrow q = f(LEFT(vld1q_f32, i + 4), RIGHT(vld1q_f32, i + 4));                         \
            narrow r = f(LEFT(vld1q_f32, i + 8), RIGHT(vld1q_f32, i + 8));                         \
            narrow s = f(LEFT(vld1q_f32, i + 12), RIGHT(vld1q_f32, i + 12));                       \
            vst1q_f32(dst + i, p);                                                                 \
            vst1q_f32(dst + i + 4, q);                                                             \
            vst1q_f32(dst + i + 8, r);                                                             \
            vst1q_f32(dst + i + 12, s);                                                            \
        }                                                                                          \
        for (; i + 4 <= n; i += 4) vst1q_f32(dst + i, f(LEFT(vld1q_f32, i), RIGHT(vld1q_f32, i))); \
        if (i < n) store_few(dst + i, f(LEFT(REST, i), RIGHT(REST, i)), n - i);                    \
    }

#define REST(p) load_few(p, n - i)
#define LEFT_ROW(load, i) load(a + (i))
#define RIGHT_ROW(load, i) load(b + (i))
#define LEFT_SCALAR(load, i) left
#define RIGHT_SCALAR(load, i) right

#define PAIR(name, f)                              \
    DRIVE(name##_rows, f, LEFT_ROW, RIGHT_ROW)     \
    DRIVE(name##_right, f, LEFT_ROW, RIGHT_SCALAR) \
    DRIVE(name##_left, f, LEFT_SCALAR, RIGHT_ROW)

PAIR(add, vaddq_f32)
PAIR(sub, vsubq_f32)
PAIR(mul, vmulq_f32)
PAIR(div, vdivq_f32)
PAIR(max, larger)
PAIR(min, smaller)

void neon_pair(int f, int shape, float *dst, const float *a, const float *b, size_t n) {
    static void (*const rows[NEON_PAIRS][NEON_SHAPES])(float *, const float *, const float *, size_t) = {
        [NEON_ADD] = {add_rows, add_right, add_left}, [NEON_SUB] = {sub_rows, sub_right, sub_left},
        [NEON_MUL] = {mul_rows, mul_right, mul_left}, [NEON_DIV] = {div_rows, div_right, div_left},
        [NEON_MAX] = {max_rows, max_right, max_left}, [NEON_MIN] = {min_rows, min_right, min_left},
    };
    rows[f][shape](dst, a, b, n);
}

// 2^(y log2|x|) for any elements but NaN, infinite for bases that are 0 or infinite as their logarithms are.
INLINE wide magnitude(wide x, wide y) {
    wide f, k = split_w(x, &f), l = log2_w(k, f);
    l = pick_w(vceqzq_f64(x), w_(-__builtin_inf()), l);
    l = pick_w(vceqq_f64(x, w_(__builtin_inf())), x, l);
    return exp2_w(vmulq_f64(y, l));
}

// The power as math.Pow of Go defines it, without squares.
INLINE wide any_pow(wide x, wide y) {
    wide a = vabsq_f64(x), h = vmulq_f64(y, w_(0.5)), one = w_(1), none = w_(__builtin_nan(""));
    wide p = magnitude(a, y);
    p = pick_w(vceqq_f64(a, one), one, p); // also of infinite powers
    wide_mask integral = vceqq_f64(vrndq_f64(y), y), even = vceqq_f64(vrndq_f64(h), h);
    wide_mask negative = vcltzq_f64(vbslq_f64(vdupq_n_u64(1ull << 63), x, one)); // -0 too
    p = pick_w(vandq_u64(negative, vbicq_u64(integral, even)), vnegq_f64(p), p);
    wide_mask finite = vandq_u64(vcltzq_f64(x), vcltq_f64(a, w_(__builtin_inf())));
    p = pick_w(vbicq_u64(finite, integral), none, p);
    p = pick_w(vandq_u64(vceqq_f64(x, x), vceqq_f64(y, y)), p, none);
    return pick_w(vorrq_u64(vceqq_f64(x, one), vceqzq_f64(y)), one, p);
}

INLINE wide usual_pow(wide x, wide y) {
    wide f, k = split_w(x, &f);
    return exp2_w(vmulq_f64(y, log2_w(k, f)));
}

// Bases that are positive and finite with powers that are finite take the short way; it has the same bits. Squares are products.
INLINE narrow pow_n(narrow x, narrow y) {
    const uint32x4_t inf = vreinterpretq_u32_f32(n_(__builtin_inff()));
    uint32x4_t base = vsubq_u32(vreinterpretq_u32_f32(x), vdupq_n_u32(1));
    mask usual = vandq_u32(vcltq_u32(base, vsubq_u32(inf, vdupq_n_u32(1))), vcaltq_f32(y, n_(__builtin_inff())));
    narrow p;
    if (any_n(vmvnq_u32(usual))) {
        p = narrow_w(any_pow(low_w(x), low_w(y)), any_pow(high_w(x), high_w(y)));
    } else {
        p = narrow_w(usual_pow(low_w(x), low_w(y)), usual_pow(high_w(x), high_w(y)));
    }
    return pick_n(vceqq_f32(y, n_(2)), vmulq_f32(x, x), p);
}

void neon_pow(float *dst, const float *x, const float *y, size_t n) {
    size_t i = 0;
    for (; i + 4 <= n; i += 4) vst1q_f32(dst + i, pow_n(vld1q_f32(x + i), vld1q_f32(y + i)));
    if (i < n) store_few(dst + i, pow_n(load_few(x + i, n - i), load_few(y + i, n - i)), n - i);
}

// The bits are those of powers of 2 above.
INLINE wide any_exp2(wide y) { return pick_w(vceqq_f64(y, y), exp2_w(y), y); }

void neon_exp2(float *dst, const float *src, size_t n) {
    for (size_t i = 0; i < n; i += 4) {
        narrow y = i + 4 <= n ? vld1q_f32(src + i) : load_few(src + i, n - i);
        narrow p = narrow_w(any_exp2(low_w(y)), any_exp2(high_w(y)));
        if (i + 4 <= n) vst1q_f32(dst + i, p);
        else store_few(dst + i, p, n - i);
    }
}

// The point (1, 1) stands for one with two infinities and (1, 0) for the origin; the signs tell the quadrant, those of zeros too.
INLINE wide atan2_w(wide y, wide x) {
    wide one = w_(1), inf = w_(__builtin_inf()), a = abs_w(y), b = abs_w(x);
    wide_mask both = vandq_u64(vceqq_f64(a, inf), vceqq_f64(b, inf));
    a = pick_w(both, one, a), b = pick_w(both, one, b);
    b = pick_w(vandq_u64(vceqzq_f64(a), vceqzq_f64(b)), one, b);
    wide r = angle(a, b);
    return signed_w(pick_w(vcltzq_f64(signed_w(one, x)), vsubq_f64(w_(PI), r), r), y);
}

void neon_atan2(float *dst, const float *y, const float *x, size_t n) {
    for (size_t i = 0; i < n; i += 4) {
        narrow a = i + 4 <= n ? vld1q_f32(y + i) : load_few(y + i, n - i);
        narrow b = i + 4 <= n ? vld1q_f32(x + i) : load_few(x + i, n - i);
        narrow r = narrow_w(atan2_w(low_w(a), low_w(b)), atan2_w(high_w(a), high_w(b)));
        if (i + 4 <= n) vst1q_f32(dst + i, r);
        else store_few(dst + i, r, n - i);
    }
}
