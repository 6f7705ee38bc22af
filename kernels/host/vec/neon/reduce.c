//go:build arm64 && cgo && !race

// Rows that become one number, and columns that are folded into accumulators. Sums are in float64. Several vectors run beside each
// other, so that one addition does not wait for the one before.

#include "rows.h"
#include "vectors.h"

// A sum of what TERM makes of half a vector, and REST of one element.
#define SUM(TERM, REST)                                                       \
    wide s0 = w_(0), s1 = s0, s2 = s0, s3 = s0;                               \
    size_t i = 0;                                                             \
    for (; i + 16 <= n; i += 16) {                                            \
        narrow a = vld1q_f32(x + i), b = vld1q_f32(x + i + 4);                \
        narrow c = vld1q_f32(x + i + 8), d = vld1q_f32(x + i + 12);           \
        s0 = TERM(s0, low_w(a)), s1 = TERM(s1, high_w(a));                    \
        s2 = TERM(s2, low_w(b)), s3 = TERM(s3, high_w(b));                    \
        s0 = TERM(s0, low_w(c)), s1 = TERM(s1, high_w(c));                    \
        s2 = TERM(s2, low_w(d)), s3 = TERM(s3, high_w(d));                    \
    }                                                                         \
    double sum = vaddvq_f64(vaddq_f64(vaddq_f64(s0, s1), vaddq_f64(s2, s3))); \
    for (; i < n; i++) sum += REST((double)x[i]);                             \
    return sum;

#define SELF(x) (x)
#define SQUARE(x) ((x) * (x)) // exact of a float32
#define DEVIATION(x) (((x) - mean) * ((x) - mean))
#define ADD_SQUARE(s, x) vfmaq_f64(s, x, x)
#define ADD_DEVIATION(s, x) add_deviation(s, x, w_(mean))

INLINE wide add_deviation(wide s, wide x, wide mean) {
    wide d = vsubq_f64(x, mean);
    return vfmaq_f64(s, d, d);
}

double neon_sum(const float *x, size_t n) { SUM(vaddq_f64, SELF) }
double neon_sum_squares(const float *x, size_t n) { SUM(ADD_SQUARE, SQUARE) }
double neon_sum_deviations(const float *x, double mean, size_t n) { SUM(ADD_DEVIATION, DEVIATION) }

// The instructions for the larger and the smaller of two numbers give NaN if one of them is.
#define EXTREME(name, least, f, across)                                          \
    float name(const float *x, size_t n) {                                       \
        narrow m0 = n_(least), m1 = m0, m2 = m0, m3 = m0;                        \
        size_t i = 0;                                                            \
        for (; i + 16 <= n; i += 16) {                                           \
            m0 = f(m0, vld1q_f32(x + i)), m1 = f(m1, vld1q_f32(x + i + 4));      \
            m2 = f(m2, vld1q_f32(x + i + 8)), m3 = f(m3, vld1q_f32(x + i + 12)); \
        }                                                                        \
        for (; i + 4 <= n; i += 4) m0 = f(m0, vld1q_f32(x + i));                 \
        for (; i < n; i++) m1 = f(m1, n_(x[i]));                                 \
        return across(f(f(m0, m1), f(m2, m3)));                                  \
    }

EXTREME(neon_max, -__builtin_inff(), vmaxq_f32, vmaxvq_f32)
EXTREME(neon_min, __builtin_inff(), vminq_f32, vminvq_f32)

// So many rows are added or compared in one pass over the accumulators, from the first row to the last.
#define SUM_ROWS(COUNT)                                                        \
    for (size_t i = 0; i < whole; i += 4) {                                    \
        wide low = vld1q_f64(sums + i), high = vld1q_f64(sums + i + 2);        \
        for (size_t r = 0; r < COUNT; r++) {                                   \
            narrow v = vld1q_f32(x + r * stride + i);                          \
            low = vaddq_f64(low, low_w(v)), high = vaddq_f64(high, high_w(v)); \
        }                                                                      \
        vst1q_f64(sums + i, low), vst1q_f64(sums + i + 2, high);               \
    }                                                                          \
    for (size_t i = whole; i < n; i++) {                                       \
        double sum = sums[i];                                                  \
        for (size_t r = 0; r < COUNT; r++) sum += (double)x[r * stride + i];   \
        sums[i] = sum;                                                         \
    }

void neon_sum_columns(double *sums, const float *x, size_t stride, size_t rows, size_t n) {
    size_t whole = n & ~(size_t)3;
    for (; rows >= 8; rows -= 8, x += 8 * stride) {
        SUM_ROWS(8)
    }
    for (; rows > 0; rows--, x += stride) {
        SUM_ROWS(1)
    }
}

// Of two equal operands of larger and smaller the second stays: the accumulator.
#define EXTREME_ROWS(COUNT, f)                                                                        \
    for (size_t i = 0; i < whole; i += 4) {                                                           \
        narrow top = vld1q_f32(tops + i);                                                             \
        for (size_t r = 0; r < COUNT; r++) top = f(vld1q_f32(x + r * stride + i), top);               \
        vst1q_f32(tops + i, top);                                                                     \
    }                                                                                                 \
    if (whole < n) {                                                                                  \
        narrow top = load_few(tops + whole, n - whole);                                               \
        for (size_t r = 0; r < COUNT; r++) top = f(load_few(x + r * stride + whole, n - whole), top); \
        store_few(tops + whole, top, n - whole);                                                      \
    }

#define EXTREME_COLUMNS(name, f)                                                   \
    void name(float *tops, const float *x, size_t stride, size_t rows, size_t n) { \
        size_t whole = n & ~(size_t)3;                                             \
        for (; rows >= 4; rows -= 4, x += 4 * stride) {                            \
            EXTREME_ROWS(4, f)                                                     \
        }                                                                          \
        for (; rows > 0; rows--, x += stride) {                                    \
            EXTREME_ROWS(1, f)                                                     \
        }                                                                          \
    }

EXTREME_COLUMNS(neon_max_columns, larger)
EXTREME_COLUMNS(neon_min_columns, smaller)

// (x - mean) * scale * weight + bias. The last two are fused.
#define STANDARDIZE(LOAD, STORE, WEIGHT, BIAS)                                                         \
    {                                                                                                  \
        narrow v = LOAD(src + i), p = WEIGHT, q = BIAS;                                                \
        wide low = vmulq_f64(vsubq_f64(low_w(v), m), s), high = vmulq_f64(vsubq_f64(high_w(v), m), s); \
        low = vfmaq_f64(low_w(q), low, low_w(p)), high = vfmaq_f64(high_w(q), high, high_w(p));        \
        STORE(dst + i, narrow_w(low, high));                                                           \
    }

#define STANDARDIZE_ROW(WEIGHT, BIAS)                                                                    \
    {                                                                                                    \
        for (; i + 4 <= n; i += 4) STANDARDIZE(vld1q_f32, vst1q_f32, WEIGHT(vld1q_f32), BIAS(vld1q_f32)) \
        if (i < n) STANDARDIZE(LOAD_REST, STORE_REST, WEIGHT(LOAD_REST), BIAS(LOAD_REST))                \
    }

#define LOAD_REST(p) load_few(p, n - i)
#define STORE_REST(p, x) store_few(p, x, n - i)
#define WITH_WEIGHT(load) load(weight + i)
#define WITH_BIAS(load) load(bias + i)
#define NO_WEIGHT(load) n_(1)
#define NO_BIAS(load) n_(-0.0f) // a sum with 0 would turn -0 into 0

void neon_standardize(float *dst, const float *src, const float *weight, const float *bias, double mean, double scale, size_t n) {
    wide m = w_(mean), s = w_(scale);
    size_t i = 0;
    if (weight && bias) STANDARDIZE_ROW(WITH_WEIGHT, WITH_BIAS)
    else if (weight) STANDARDIZE_ROW(WITH_WEIGHT, NO_BIAS)
    else if (bias) STANDARDIZE_ROW(NO_WEIGHT, WITH_BIAS)
    else STANDARDIZE_ROW(NO_WEIGHT, NO_BIAS)
}
