//go:build arm64 && cgo && !race

// Images that have their channels last: what a window sees at one tap is a run of channels. Channels that fill no vector are computed
// one by one, with the same roundings. The caller has seen to it that all runs lie in their slices.

#include "rows.h"
#include "vectors.h"

// AT is the run of window i at a tap, from channel c on, and WEIGHT are its weights.
#define AT(i, t) (x + (i) * step + taps[t].offset + c)
#define WEIGHT(t) (w + (size_t)taps[t].number * channels + c)

void neon_depthwise(float *to, const float *x, const float *w, const neon_tap *taps, size_t count, size_t n, size_t step, size_t channels) {
    size_t c = 0;
    for (; c + 4 <= channels; c += 4) {
        size_t i = 0;
        for (; i + 4 <= n; i += 4) { // four windows use a weight that has been loaded
            narrow s0 = n_(0), s1 = s0, s2 = s0, s3 = s0;
            for (size_t t = 0; t < count; t++) {
                narrow k = vld1q_f32(WEIGHT(t));
                const float *p = AT(i, t);
                s0 = fma_n(vld1q_f32(p), k, s0);
                s1 = fma_n(vld1q_f32(p + step), k, s1);
                s2 = fma_n(vld1q_f32(p + 2 * step), k, s2);
                s3 = fma_n(vld1q_f32(p + 3 * step), k, s3);
            }
            float *y = to + i * channels + c;
            vst1q_f32(y, s0), vst1q_f32(y + channels, s1), vst1q_f32(y + 2 * channels, s2), vst1q_f32(y + 3 * channels, s3);
        }
        for (; i < n; i++) {
            narrow s = n_(0);
            for (size_t t = 0; t < count; t++) s = fma_n(vld1q_f32(AT(i, t)), vld1q_f32(WEIGHT(t)), s);
            vst1q_f32(to + i * channels + c, s);
        }
    }
    for (; c < channels; c++) {
        for (size_t i = 0; i < n; i++) {
            float s = 0;
            for (size_t t = 0; t < count; t++) s = __builtin_fmaf(*AT(i, t), *WEIGHT(t), s);
            to[i * channels + c] = s;
        }
    }
}

// Of two equal operands of larger the second stays: what has been seen before. Four vectors of channels share the address of a tap.
void neon_max_deep(float *to, const float *x, const neon_tap *taps, size_t count, size_t n, size_t step, size_t channels) {
    for (size_t i = 0; i < n; i++) {
        float *y = to + i * channels;
        size_t c = 0;
        for (; c + 16 <= channels; c += 16) {
            const float *p = AT(i, 0);
            narrow m0 = vld1q_f32(p), m1 = vld1q_f32(p + 4), m2 = vld1q_f32(p + 8), m3 = vld1q_f32(p + 12);
            for (size_t t = 1; t < count; t++) {
                p = AT(i, t);
                m0 = larger(vld1q_f32(p), m0), m1 = larger(vld1q_f32(p + 4), m1);
                m2 = larger(vld1q_f32(p + 8), m2), m3 = larger(vld1q_f32(p + 12), m3);
            }
            vst1q_f32(y + c, m0), vst1q_f32(y + c + 4, m1), vst1q_f32(y + c + 8, m2), vst1q_f32(y + c + 12, m3);
        }
        for (; c + 4 <= channels; c += 4) {
            narrow top = vld1q_f32(AT(i, 0));
            for (size_t t = 1; t < count; t++) top = larger(vld1q_f32(AT(i, t)), top);
            vst1q_f32(y + c, top);
        }
        for (; c < channels; c++) {
            narrow top = n_(*AT(i, 0));
            for (size_t t = 1; t < count; t++) top = larger(n_(*AT(i, t)), top);
            y[c] = vgetq_lane_f32(top, 0);
        }
    }
}
