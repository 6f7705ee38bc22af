//go:build arm64 && cgo && !race

// Comparisons and conversions. What fills no vector is done by scalar code where that is exact, and else in a padded vector.

#include "rows.h"
#include "vectors.h"

// bytes makes of four masks 0 or 1 in 16 bytes.
INLINE uint8x16_t bytes(mask a, mask b, mask c, mask d) {
    uint16x8_t low = vuzp1q_u16(vreinterpretq_u16_u32(a), vreinterpretq_u16_u32(b));
    uint16x8_t high = vuzp1q_u16(vreinterpretq_u16_u32(c), vreinterpretq_u16_u32(d));
    return vandq_u8(vuzp1q_u8(vreinterpretq_u8_u16(low), vreinterpretq_u8_u16(high)), vdupq_n_u8(1));
}

#define COMPARE(name, type, load, f, OPERATOR)                                                       \
    static void name(uint8_t *dst, const type *a, const type *b, size_t n) {                         \
        size_t i = 0;                                                                                \
        for (; i + 16 <= n; i += 16) {                                                               \
            mask p = f(load(a + i), load(b + i)), q = f(load(a + i + 4), load(b + i + 4));           \
            mask r = f(load(a + i + 8), load(b + i + 8)), s = f(load(a + i + 12), load(b + i + 12)); \
            vst1q_u8(dst + i, bytes(p, q, r, s));                                                    \
        }                                                                                            \
        for (; i < n; i++) dst[i] = a[i] OPERATOR b[i];                                              \
    }

INLINE mask not_equal(narrow x, narrow y) { return vmvnq_u32(vceqq_f32(x, y)); }

COMPARE(less_row, float, vld1q_f32, vcltq_f32, <)
COMPARE(less_equal_row, float, vld1q_f32, vcleq_f32, <=)
COMPARE(equal_row, float, vld1q_f32, vceqq_f32, ==)
COMPARE(not_equal_row, float, vld1q_f32, not_equal, !=)
COMPARE(less_int32_row, int32_t, vld1q_s32, vcltq_s32, <)

void neon_compare(int f, uint8_t *dst, const float *a, const float *b, size_t n) {
    static void (*const rows[NEON_COMPARISONS])(uint8_t *, const float *, const float *, size_t) = {
        [NEON_LESS] = less_row, [NEON_LESS_EQUAL] = less_equal_row, [NEON_EQUAL] = equal_row, [NEON_NOT_EQUAL] = not_equal_row,
    };
    rows[f](dst, a, b, n);
}

void neon_less_int32(uint8_t *dst, const int32_t *a, const int32_t *b, size_t n) { less_int32_row(dst, a, b, n); }

// Vectors of four 16-bit elements, of which load_halves loads 1 to 3 beside zeros and store_halves stores as many.

INLINE uint16x4_t load_halves(const uint16_t *p, size_t n) {
    uint16x4_t x = vld1_lane_u16(p, vdup_n_u16(0), 0);
    if (n > 1) x = vld1_lane_u16(p + 1, x, 1);
    if (n > 2) x = vld1_lane_u16(p + 2, x, 2);
    return x;
}

INLINE void store_halves(uint16_t *p, uint16x4_t x, size_t n) {
    vst1_lane_u16(p, x, 0);
    if (n > 1) vst1_lane_u16(p + 1, x, 1);
    if (n > 2) vst1_lane_u16(p + 2, x, 2);
}

INLINE narrow f16_to_f32(uint16x4_t h) { return vcvt_f32_f16(vreinterpret_f16_u16(h)); }
INLINE narrow bf16_to_f32(uint16x4_t h) { return vreinterpretq_f32_u32(vshll_n_u16(h, 16)); }

// Of NaN the instruction keeps digits, which core/dtype does not.
INLINE uint16x4_t f32_to_f16(narrow x) {
    uint16x4_t sign = vand_u16(vshrn_n_u32(vreinterpretq_u32_f32(x), 16), vdup_n_u16(0x8000));
    uint16x4_t number = vmovn_u32(vceqq_f32(x, x)), quiet = vorr_u16(sign, vdup_n_u16(0x7e00));
    return vbsl_u16(number, vreinterpret_u16_f16(vcvt_f16_f32(x)), quiet);
}

// To nearest, ties to even; NaN stays one where only digits that are cut off are set.
INLINE uint16x4_t f32_to_bf16(narrow x) {
    uint32x4_t b = vreinterpretq_u32_f32(x), low = vandq_u32(vshrq_n_u32(b, 16), vdupq_n_u32(1));
    uint16x4_t rounded = vaddhn_u32(vaddq_u32(b, low), vdupq_n_u32(0x7fff));
    uint16x4_t quiet = vorr_u16(vshrn_n_u32(b, 16), vdup_n_u16(0x40));
    return vbsl_u16(vmovn_u32(vceqq_f32(x, x)), rounded, quiet);
}

#define WIDEN(name, f)                                                        \
    void name(float *dst, const uint16_t *src, size_t n) {                    \
        size_t i = 0;                                                         \
        for (; i + 8 <= n; i += 8) {                                          \
            uint16x8_t h = vld1q_u16(src + i);                                \
            vst1q_f32(dst + i, f(vget_low_u16(h)));                           \
            vst1q_f32(dst + i + 4, f(vget_high_u16(h)));                      \
        }                                                                     \
        for (; i + 4 <= n; i += 4) vst1q_f32(dst + i, f(vld1_u16(src + i)));  \
        if (i < n) store_few(dst + i, f(load_halves(src + i, n - i)), n - i); \
    }

#define NARROW(name, f)                                                       \
    void name(uint16_t *dst, const float *src, size_t n) {                    \
        size_t i = 0;                                                         \
        for (; i + 8 <= n; i += 8) {                                          \
            narrow a = vld1q_f32(src + i), b = vld1q_f32(src + i + 4);        \
            vst1q_u16(dst + i, vcombine_u16(f(a), f(b)));                     \
        }                                                                     \
        for (; i + 4 <= n; i += 4) vst1_u16(dst + i, f(vld1q_f32(src + i)));  \
        if (i < n) store_halves(dst + i, f(load_few(src + i, n - i)), n - i); \
    }

WIDEN(neon_f16_to_f32, f16_to_f32)
WIDEN(neon_bf16_to_f32, bf16_to_f32)
NARROW(neon_f32_to_f16, f32_to_f16)
NARROW(neon_f32_to_bf16, f32_to_bf16)

// The instruction drops the fraction, makes 0 of NaN, and gives the nearest integer to what is too large.
void neon_to_int32(int32_t *dst, const float *src, size_t n) {
    size_t i = 0;
    for (; i + 16 <= n; i += 16) {
        for (int j = 0; j < 16; j += 4) vst1q_s32(dst + i + j, vcvtq_s32_f32(vld1q_f32(src + i + j)));
    }
    for (; i < n; i++) dst[i] = vcvts_s32_f32(src[i]);
}

void neon_to_float32(float *dst, const double *src, size_t n) {
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        for (int j = 0; j < 8; j += 4) vst1q_f32(dst + i + j, narrow_w(vld1q_f64(src + i + j), vld1q_f64(src + i + j + 2)));
    }
    for (; i < n; i++) dst[i] = (float)src[i];
}
