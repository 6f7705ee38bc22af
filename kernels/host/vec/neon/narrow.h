//go:build arm64 && cgo && !race

// Elementary functions in float32, on one vector. They are those of exp512.go, log512.go, gelu512.go and trig512.go in package maths,
// where the reasons for each step stand; NEON's maximum and minimum keep NaN, so that limits need no comparison.

#ifndef NEON_NARROW_H
#define NEON_NARROW_H

#include "coefficients.h"
#include "vectors.h"

#define MAGIC 0x1.8p23f   // adding it leaves a small number, rounded, in the low bits
#define LN2 0x1.62e4p-1f  // 16 bits of ln(2), so that products with small integers are exact
#define LN2_REST 0x1.7f7d1cf79abcap-20
#define LOG2E 0x1.71547652b82fep+0

// A polynomial, given its coefficients from the constant term on.
INLINE narrow horner(const float *c, int terms, narrow x) {
    narrow p = n_(c[terms - 1]);
    for (int i = terms - 2; i >= 0; i--) p = fma_n(p, x, n_(c[i]));
    return p;
}

INLINE narrow abs_n(narrow x) { return vabsq_f32(x); }

// y, which is not negative, with the sign of x.
INLINE narrow signed_n(narrow y, narrow x) { return vbslq_f32(vdupq_n_u32(1u << 31), x, y); }

INLINE narrow shifted_exponent(narrow biased) { return float_n(vshlq_n_s32(bits_n(biased), 23)); }

// 2 to the n for an integer from -126 to 127.
INLINE narrow power_n(narrow n) { return shifted_exponent(vaddq_f32(n, n_(MAGIC + 127))); }

// n and r with x = n ln2 + r, |r| <= ln2/2.
INLINE narrow fold_n(narrow x, narrow *r) {
    narrow n = vsubq_f32(fma_n(x, n_(LOG2E), n_(MAGIC)), n_(MAGIC));
    *r = fma_n(n, n_(-LN2_REST), fma_n(n, n_(-LN2), x));
    return n;
}

// exp(r) - 1, accurate relative to itself.
INLINE narrow growth_n(narrow r) { return fma_n(horner(growth, 5, r), vmulq_f32(r, r), r); }

// y times 2 to the n in two steps, of which only the second rounds.
INLINE narrow scale_n(narrow y, narrow n) {
    narrow bias = n_(MAGIC + 127), h = fma_n(n, n_(0.5f), bias);
    y = vmulq_f32(y, shifted_exponent(h));
    return vmulq_f32(y, power_n(vsubq_f32(n, vsubq_f32(h, bias))));
}

INLINE narrow exp_n(narrow x) {
    narrow r, n = fold_n(vminq_f32(vmaxq_f32(x, n_(-104)), n_(89)), &r);
    return scale_n(vaddq_f32(growth_n(r), n_(1)), n);
}

INLINE narrow expm1_n(narrow x) {
    narrow r, n = fold_n(vminq_f32(vmaxq_f32(x, n_(-20)), n_(89)), &r);
    narrow g = growth_n(r), s = power_n(vsubq_f32(n, n_(1)));
    narrow y = fma_n(g, s, vsubq_f32(s, n_(0.5f)));
    y = pick_n(vceqzq_f32(n), g, vaddq_f32(y, y)); // half of a subnormal number may be none
    return pick_n(vceqzq_f32(x), x, y);
}

// q = 1/(1+e) or e q, with e = exp(-|x|), computed times 2^64.
INLINE narrow sigmoid_n(narrow x) {
    narrow r, n = fold_n(vmaxq_f32(vnegq_f32(abs_n(x)), n_(-104)), &r);
    narrow scale = shifted_exponent(vaddq_f32(n, n_(MAGIC + 127 + 64)));
    narrow scaled = fma_n(growth_n(r), scale, scale), minus_e = vmulq_f32(scaled, n_(-0x1p-64f));
    narrow q = vdivq_f32(n_(1), vsubq_f32(n_(1), minus_e));
    q = fma_n(q, fma_n(q, minus_e, vsubq_f32(n_(1), q)), q); // what the sum and the quotient have dropped
    return vmulq_f32(pick_n(vcltzq_f32(x), vmulq_f32(scaled, n_(0x1p-64f)), n_(1)), q);
}

// max(x, 0) - a e/(1+e) with a = |x|, e = exp(-a); factors near 1 are kept as what they are above 1.
INLINE narrow silu_n(narrow x) {
    narrow a = vminq_f32(abs_n(x), n_(120)), r, n = fold_n(vnegq_f32(a), &r);
    narrow g = growth_n(r), s = shifted_exponent(vaddq_f32(n, n_(MAGIC + 127 + 64))), power = vmulq_f32(s, n_(0x1p-64f));
    narrow d = fma_n(g, power, vaddq_f32(n_(1), power));
    narrow dropped = fma_n(g, power, vsubq_f32(power, vsubq_f32(d, n_(1))));
    narrow p = vdivq_f32(n_(1), d);
    narrow excess = fma_n(dropped, p, fma_n(d, p, n_(-1)));
    narrow h = fma_n(excess, vsubq_f32(n_(-1), g), g);
    narrow v = vmulq_f32(vmulq_f32(a, s), p), y = fma_n(v, h, v);
    narrow above = pick_n(vcgezq_f32(x), x, vmulq_f32(x, n_(0))); // NaN of -Inf
    return fma_n(y, n_(-0x1p-64f), above);
}

// A polynomial of one of eight intervals. The table has a row for the centers and one for each coefficient.
typedef struct {
    narrow constant, rest, t; // the polynomial is constant + rest * t; t is the distance from the center
} piece;

INLINE narrow entry(const float row[8], uint8x16_t bytes) {
    uint8x16x2_t both = {{vreinterpretq_u8_f32(vld1q_f32(row)), vreinterpretq_u8_f32(vld1q_f32(row + 4))}};
    return vreinterpretq_f32_u8(vqtbl2q_u8(both, bytes));
}

// The intervals of a + shift are halves of binades; first has the three bits of that sum that belong to the first interval.
INLINE piece piece_n(const float (*c)[8], narrow a, float shift, uint32_t first) {
    __asm__("" : "+r"(c)); // else GCC makes the address of each row anew
    uint32x4_t i = vshrq_n_u32(vreinterpretq_u32_f32(vaddq_f32(a, n_(shift))), 22);
    i = vandq_u32(vsubq_u32(i, vdupq_n_u32(first)), vdupq_n_u32(7));
    uint8x16_t bytes = vreinterpretq_u8_u32(vmlaq_n_u32(vdupq_n_u32(0x03020100), i, 0x04040404));
    piece p;
    p.t = vsubq_f32(a, entry(c[0], bytes));
    p.rest = entry(c[8], bytes);
    for (int k = 7; k > 1; k--) p.rest = fma_n(p.rest, p.t, entry(c[k], bytes));
    p.constant = entry(c[1], bytes);
    return p;
}

INLINE narrow tanh_n(narrow x) {
    piece p = piece_n(tanhPieces, vminq_f32(abs_n(x), n_(9.05f)), 0.75f, 5);
    return signed_n(fma_n(p.rest, p.t, p.constant), x);
}

INLINE narrow erf_n(narrow x) {
    narrow a = vminq_f32(abs_n(x), n_(4));
    piece p = piece_n(erfPieces, a, 0.375f, 3);
    narrow constant = pick_n(vcltq_f32(vaddq_f32(a, n_(0.375f)), n_(0.5f)), p.t, p.constant);
    return signed_n(fma_n(p.rest, p.t, constant), x);
}

// max(x, 0) - a erfc(a/sqrt(2))/2, with -a^2/2 = n ln2 + r; what rounding drops from the square goes into r.
INLINE narrow gelu_n(narrow x) {
    narrow a = vminq_f32(abs_n(x), n_(14.5f));
    narrow square = vmulq_f32(a, a), h = vmulq_f32(square, n_(-0.5f));
    narrow dropped = fma_n(vmulq_f32(a, n_(-0.5f)), a, vmulq_f32(square, n_(0.5f)));
    narrow n = vsubq_f32(fma_n(square, n_(-LOG2E / 2), n_(MAGIC)), n_(MAGIC));
    narrow r = vaddq_f32(fma_n(n, n_(-LN2_REST), fma_n(n, n_(-LN2), h)), dropped);
    piece p = piece_n(geluPieces, a, 1, 6);
    mask first = vcltq_f32(vaddq_f32(a, n_(1)), n_(1.5f));
    narrow y = fma_n(p.rest, p.t, pick_n(first, vmulq_f32(p.t, n_(0.5f)), p.constant));
    y = fma_n(growth_n(r), y, y);
    y = vmulq_f32(y, shifted_exponent(vaddq_f32(n, n_(MAGIC + 127 + 64))));
    narrow above = pick_n(vcgezq_f32(x), x, vmulq_f32(x, n_(0))); // NaN of -Inf
    return fma_n(y, n_(-0x1p-64f), above);
}

// k and f with x = 2^k (1+f), 1+f in [sqrt(1/2), sqrt(2)), for positive normal x.
INLINE narrow split_n(narrow x, narrow *f) {
    int32x4_t k = vshrq_n_s32(vsubq_s32(bits_n(x), bits_n(n_(0x1.6a09e667f3bcdp-1))), 23);
    *f = vsubq_f32(float_n(vsubq_s32(bits_n(x), vshlq_n_s32(k, 23))), n_(1));
    return vcvtq_f32_s32(k);
}

// unusual tells whether an element is not a positive normal number, or not below 2 to the limit.
INLINE int unusual(narrow x, int limit) {
    uint32_t least = 1u << 23, end = (uint32_t)(127 + limit) << 23;
    return any_n(vcgeq_u32(vsubq_u32(vreinterpretq_u32_f32(x), vdupq_n_u32(least)), vdupq_n_u32(end - least)));
}

INLINE narrow natural_log(narrow k, narrow f) {
    narrow q = horner(logCurve, 9, f);
    narrow small = fma_n(k, n_(0x1.62e42fefa39efp-1 - 0x1.62e43p-1), vmulq_f32(vmulq_f32(f, f), q));
    return fma_n(k, n_(0x1.62e42fefa39efp-1), vaddq_f32(f, small));
}

INLINE narrow binary_log(narrow k, narrow f) {
    narrow q = horner(log2Curve, 9, f);
    narrow small = fma_n(f, n_(LOG2E - 0x1.715476p+0), vmulq_f32(vmulq_f32(f, f), q));
    return vaddq_f32(fma_n(f, n_(LOG2E), small), k);
}

// The values outside (0, inf), put into r, a logarithm of x.
INLINE narrow log_edges(narrow r, narrow x) {
    r = pick_n(vcltq_f32(x, n_(__builtin_inff())), r, x); // x itself when it is +Inf or NaN
    r = pick_n(vceqzq_f32(x), n_(-__builtin_inff()), r);
    return pick_n(vcltzq_f32(x), n_(__builtin_nanf("")), r);
}

typedef narrow log_ends(narrow k, narrow f);

// A logarithm of any numbers: subnormal ones are multiplied by a power of two first.
INLINE narrow any_log(narrow x, log_ends ends) {
    mask small = vcltq_f32(x, n_(0x1p-126f));
    narrow f, k = split_n(pick_n(small, vmulq_f32(x, n_(0x1p24f)), x), &f);
    return log_edges(ends(pick_n(small, vsubq_f32(k, n_(24)), k), f), x);
}

INLINE narrow usual_log(narrow x, log_ends ends) {
    narrow f, k = split_n(x, &f);
    return ends(k, f);
}

INLINE narrow log_n(narrow x) { return unusual(x, 128) ? any_log(x, natural_log) : usual_log(x, natural_log); }
INLINE narrow log2_n(narrow x) { return unusual(x, 128) ? any_log(x, binary_log) : usual_log(x, binary_log); }

// u = 1+x is split into 2^k and a fraction, whose distance from 1 is computed again, from x.
INLINE narrow log1p_n(narrow x) {
    narrow u = vaddq_f32(x, n_(1)), f, k = split_n(u, &f), s = power_n(vnegq_f32(k));
    narrow r = natural_log(k, fma_n(x, s, vsubq_f32(s, n_(1))));
    r = pick_n(vceqzq_f32(x), x, r); // for the sign
    if (unusual(u, 126)) {
        mask usual = vandq_u32(vcgeq_f32(u, n_(0x1p-126f)), vcltq_f32(u, n_(0x1p126f)));
        r = pick_n(usual, r, any_log(u, natural_log));
    }
    return r;
}

// sin(r) for |r| a little above pi/2, its sign flipped where the low bit of t is set. Beyond 1 and -1 a bit is cut.
INLINE narrow sin_reduced(narrow r, narrow t) {
    narrow z = vmulq_f32(r, r);
    int32x4_t s = bits_n(fma_n(vmulq_f32(horner(sinFit, 5, z), z), r, r));
    s = vminq_s32(s, bits_n(n_(1)));
    s = vreinterpretq_s32_u32(vminq_u32(vreinterpretq_u32_s32(s), vreinterpretq_u32_f32(n_(-1))));
    return float_n(veorq_s32(s, vshlq_n_s32(bits_n(t), 31)));
}

// x - n pi, with pi in three parts.
INLINE narrow turned(narrow x, narrow n) {
    narrow r = fma_n(n, n_(-0x1.921fb4p+1f), x);
    r = fma_n(n, n_(-0x1.4442dp-23f), r);
    return fma_n(n, n_(-0x1.846988p-47f), r);
}

#define TRIG_LIMIT 0x1p17f // above it three parts of pi are not accurate enough

INLINE narrow sin_near(narrow x) {
    narrow t = fma_n(x, n_(0x1.45f306dc9c883p-2), n_(MAGIC));
    return pick_n(vceqzq_f32(x), x, sin_reduced(turned(x, vsubq_f32(t, n_(MAGIC))), t));
}

INLINE narrow cos_near(narrow x) {
    narrow t = vaddq_f32(fma_n(x, n_(0x1.45f306dc9c883p-2), n_(-0.5f)), n_(MAGIC + 1));
    return sin_reduced(turned(x, vaddq_f32(vsubq_f32(t, n_(MAGIC + 1)), n_(0.5f))), t);
}

#endif
