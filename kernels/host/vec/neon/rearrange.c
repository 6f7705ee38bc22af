//go:build arm64 && cgo && !race

// Loops that move elements.

#include "rows.h"
#include "vectors.h"

INLINE void square(float *to, const float *from, size_t to_step, size_t from_step) {
    narrow r0 = vld1q_f32(from), r1 = vld1q_f32(from + from_step), r2 = vld1q_f32(from + 2 * from_step), r3 = vld1q_f32(from + 3 * from_step);
    narrow a = vtrn1q_f32(r0, r1), b = vtrn2q_f32(r0, r1), c = vtrn1q_f32(r2, r3), d = vtrn2q_f32(r2, r3);
#define PAIRS(f, x, y) vreinterpretq_f32_f64(f(vreinterpretq_f64_f32(x), vreinterpretq_f64_f32(y)))
    vst1q_f32(to, PAIRS(vtrn1q_f64, a, c)), vst1q_f32(to + to_step, PAIRS(vtrn1q_f64, b, d));
    vst1q_f32(to + 2 * to_step, PAIRS(vtrn2q_f64, a, c)), vst1q_f32(to + 3 * to_step, PAIRS(vtrn2q_f64, b, d));
}

// Squares of a line of the cache, each by squares of a vector.
#define SIDE 16

void neon_transpose(float *to, const float *from, size_t rows, size_t cols, size_t to_step, size_t from_step) {
    for (size_t i = 0; i < rows; i += SIDE) {
        size_t last_i = i + SIDE < rows ? i + SIDE : rows;
        for (size_t j = 0; j < cols; j += SIDE) {
            size_t last_j = j + SIDE < cols ? j + SIDE : cols, c = j;
            for (; c + 4 <= last_j; c += 4) {
                size_t r = i;
                for (; r + 4 <= last_i; r += 4) square(to + c * to_step + r, from + r * from_step + c, to_step, from_step);
                for (; r < last_i; r++) {
                    for (size_t k = c; k < c + 4; k++) to[k * to_step + r] = from[r * from_step + k];
                }
            }
            for (; c < last_j; c++) {
                for (size_t r = i; r < last_i; r++) to[c * to_step + r] = from[r * from_step + c];
            }
        }
    }
}

// Sixteen bytes of the condition are as many vectors of elements as those have bytes: masks of bytes are doubled to those of longer
// elements.
INLINE void pick16(uint8_t *to, const uint8_t *a, const uint8_t *b, uint8x16_t m) {
    vst1q_u8(to, vbslq_u8(m, vld1q_u8(a), vld1q_u8(b)));
}

INLINE void pick32(uint8_t *to, const uint8_t *a, const uint8_t *b, uint8x16_t m) {
    pick16(to, a, b, vzip1q_u8(m, m)), pick16(to + 16, a + 16, b + 16, vzip2q_u8(m, m));
}

#define HALVES(f, m) vreinterpretq_u8_u16(f(vreinterpretq_u16_u8(m), vreinterpretq_u16_u8(m)))
#define WORDS(f, m) vreinterpretq_u8_u32(f(vreinterpretq_u32_u8(m), vreinterpretq_u32_u8(m)))

INLINE void pick_halves(uint8_t *to, const uint8_t *a, const uint8_t *b, uint8x16_t m) {
    pick16(to, a, b, HALVES(vzip1q_u16, m)), pick16(to + 16, a + 16, b + 16, HALVES(vzip2q_u16, m));
}

INLINE void pick64(uint8_t *to, const uint8_t *a, const uint8_t *b, uint8x16_t m) {
    pick_halves(to, a, b, vzip1q_u8(m, m)), pick_halves(to + 32, a + 32, b + 32, vzip2q_u8(m, m));
}

INLINE void pick_words(uint8_t *to, const uint8_t *a, const uint8_t *b, uint8x16_t m) {
    pick16(to, a, b, WORDS(vzip1q_u32, m)), pick16(to + 16, a + 16, b + 16, WORDS(vzip2q_u32, m));
}

INLINE void pick_four_words(uint8_t *to, const uint8_t *a, const uint8_t *b, uint8x16_t m) {
    pick_words(to, a, b, HALVES(vzip1q_u16, m)), pick_words(to + 32, a + 32, b + 32, HALVES(vzip2q_u16, m));
}

INLINE void pick128(uint8_t *to, const uint8_t *a, const uint8_t *b, uint8x16_t m) {
    pick_four_words(to, a, b, vzip1q_u8(m, m)), pick_four_words(to + 64, a + 64, b + 64, vzip2q_u8(m, m));
}

INLINE uint8x16_t chosen(uint8x16_t condition) { return vtstq_u8(condition, condition); }

void neon_choose(size_t size, void *to, const uint8_t *condition, const void *a, const void *b, size_t n) {
    uint8_t *y = to;
    const uint8_t *p = a, *q = b;
#define CHOOSE(BYTES, f) \
    for (; n >= BYTES; n -= BYTES, y += BYTES, p += BYTES, q += BYTES, condition += 16) f(y, p, q, chosen(vld1q_u8(condition)))
    switch (size) {
    case 1:
        CHOOSE(16, pick16);
        return;
    case 2:
        CHOOSE(32, pick32);
        return;
    case 4:
        CHOOSE(64, pick64);
        return;
    default:
        CHOOSE(128, pick128);
        if (n == 0) return;
        uint8x16_t m = chosen(vcombine_u8(vld1_u8(condition), vdup_n_u8(0))); // 64 bytes are left
        pick_four_words(y, p, q, vzip1q_u8(m, m));
    }
}
