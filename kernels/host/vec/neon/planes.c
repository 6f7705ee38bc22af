//go:build arm64 && cgo && !race

// Images whose channels are planes. The caller has seen to it that what is read and written lies in its slices.

#include "rows.h"
#include "vectors.h"

// Vectors of two are loaded where both halves lie in the operand, whose last element is number 2n-2.
void neon_even_elements(float *to, const float *x, size_t n) {
    size_t i = 0;
    for (; i + 4 < n; i += 4) vst1q_f32(to + i, vld2q_f32(x + 2 * i).val[0]);
    for (; i < n; i++) to[i] = x[2 * i];
}

void neon_split_lines(float *to, const float *x, size_t lines, size_t width, size_t from, size_t pitch, size_t first, size_t second) {
    for (; lines > 0; lines--, x += from, to += pitch) {
        size_t j = 0;
        for (; j + 8 <= width; j += 8) {
            float32x4x2_t v = vld2q_f32(x + j);
            vst1q_f32(to + first + j / 2, v.val[0]), vst1q_f32(to + second + j / 2, v.val[1]);
        }
        for (; j + 2 <= width; j += 2) to[first + j / 2] = x[j], to[second + j / 2] = x[j + 1];
        if (j < width) to[first + j / 2] = x[j];
    }
}

INLINE void store_up_to(float *p, narrow x, size_t n) {
    if (n >= 4) vst1q_f32(p, x);
    else store_few(p, x, n);
}

// Two vectors of each of four lines use a weight that has been loaded. Lines behind the last are that one once more.
void neon_plane(float *to, const float *x, const float *w, const int64_t *offsets, size_t taps, size_t lines, size_t width, size_t apart, size_t pitch) {
    for (size_t i = 0; i < lines; i += 4) {
        size_t last = lines - 1 - i, i1 = last < 1 ? last : 1, i2 = last < 2 ? last : 2, i3 = last < 3 ? last : 3;
        for (size_t j = 0; j < width; j += 8) {
            const float *p0 = x + i * pitch + j, *p1 = p0 + i1 * pitch, *p2 = p0 + i2 * pitch, *p3 = p0 + i3 * pitch;
            narrow a0 = n_(0), a1 = a0, a2 = a0, a3 = a0, b0 = a0, b1 = a0, b2 = a0, b3 = a0;
            for (size_t l = 0; l < taps; l++) {
                int64_t o = offsets[l];
                narrow k = vld1q_dup_f32(w + l);
                a0 = fma_n(vld1q_f32(p0 + o), k, a0), b0 = fma_n(vld1q_f32(p0 + o + 4), k, b0);
                a1 = fma_n(vld1q_f32(p1 + o), k, a1), b1 = fma_n(vld1q_f32(p1 + o + 4), k, b1);
                a2 = fma_n(vld1q_f32(p2 + o), k, a2), b2 = fma_n(vld1q_f32(p2 + o + 4), k, b2);
                a3 = fma_n(vld1q_f32(p3 + o), k, a3), b3 = fma_n(vld1q_f32(p3 + o + 4), k, b3);
            }
            size_t n = width - j;
            float *y = to + i * apart + j;
            store_up_to(y, a0, n), store_up_to(y + i1 * apart, a1, n), store_up_to(y + i2 * apart, a2, n), store_up_to(y + i3 * apart, a3, n);
            if (n <= 4) continue;
            n -= 4, y += 4;
            store_up_to(y, b0, n), store_up_to(y + i1 * apart, b1, n), store_up_to(y + i2 * apart, b2, n), store_up_to(y + i3 * apart, b3, n);
        }
    }
}

// An element stays if the next is not larger, or it is NaN.
#define MAX_ROW(EVERY, STEP)                                                                                    \
    for (; i < n && reach + (i + 8) * STEP <= size; i += 8) {                                                   \
        const float *p = x + i * STEP + taps[0].offset;                                                         \
        int32x4_t tap = vdupq_n_s32(taps[0].number), further = vaddq_s32(numbers, vdupq_n_s32(4 * STEP));       \
        narrow a = EVERY(p), b = EVERY(p + 4 * STEP);                                                           \
        int32x4_t at_a = tap, at_b = tap;                                                                       \
        for (size_t t = 1; t < count; t++) {                                                                    \
            p = x + i * STEP + taps[t].offset;                                                                  \
            tap = vdupq_n_s32(taps[t].number);                                                                  \
            narrow v = EVERY(p), u = EVERY(p + 4 * STEP);                                                       \
            mask stays_a = vornq_u32(vcleq_f32(v, a), vceqq_f32(a, a)), stays_b = vornq_u32(vcleq_f32(u, b), vceqq_f32(b, b)); \
            a = pick_n(stays_a, a, v), b = pick_n(stays_b, b, u);                                               \
            at_a = vbslq_s32(stays_a, at_a, tap), at_b = vbslq_s32(stays_b, at_b, tap);                         \
        }                                                                                                       \
        vst1q_f32(best + i, a), vst1q_f32(best + i + 4, b);                                                     \
        vst1q_s32(at + i, vaddq_s32(at_a, numbers)), vst1q_s32(at + i + 4, vaddq_s32(at_b, further));           \
        numbers = vaddq_s32(further, vdupq_n_s32(4 * STEP));                                                    \
    }

#define EVERY_SECOND(p) (vld2q_f32(p).val[0])

size_t neon_max_row(float *best, int32_t *at, const float *x, size_t size, const neon_tap *taps, size_t count, size_t n, size_t step, size_t reach, int32_t first) {
    static const int32_t lanes[4] = {0, 1, 2, 3};
    int32x4_t numbers = vmlaq_n_s32(vdupq_n_s32(first), vld1q_s32(lanes), (int32_t)step);
    size_t i = 0;
    if (step == 1) {
        MAX_ROW(vld1q_f32, 1)
    } else {
        MAX_ROW(EVERY_SECOND, 2)
    }
    return i < n ? i : n;
}
