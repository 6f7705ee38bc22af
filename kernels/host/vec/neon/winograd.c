//go:build arm64 && cgo && !race

// The transforms of Winograd's F(2x2, 3x3): see package winograd, whose portable loops have the same sums in the same order. A vector is
// four tiles that are neighbours in a line, or four kernels. A line has four tiles at least, so that the last vector of a line begins
// with some that have been computed, and only a last line that is shorter has fewer than four.

#include "rows.h"
#include "vectors.h"

// The cells of four kernels of nine elements each: two loads of every third element bring element i of all four into one vector.
void neon_kernel_cells(float *to, const float *w, size_t groups, size_t cell) {
    for (; groups > 0; groups--, w += 36, to += 4) {
        float thirds[3][12];
        for (int part = 0; part < 3; part++) {
            float32x4x3_t v = vld3q_f32(w + 12 * part);
            vst1q_f32(&thirds[0][4 * part], v.val[0]), vst1q_f32(&thirds[1][4 * part], v.val[1]), vst1q_f32(&thirds[2][4 * part], v.val[2]);
        }
        narrow t[4][3];
        narrow half = n_(0.5f);
        for (int j = 0; j < 3; j++) {
            float32x4x3_t v = vld3q_f32(thirds[j]); // the three elements of column j
            narrow ends = vmulq_f32(vaddq_f32(v.val[0], v.val[2]), half), middle = vmulq_f32(v.val[1], half);
            t[0][j] = v.val[0], t[1][j] = vaddq_f32(ends, middle), t[2][j] = vsubq_f32(ends, middle), t[3][j] = v.val[2];
        }
        for (int i = 0; i < 4; i++) {
            narrow ends = vmulq_f32(vaddq_f32(t[i][0], t[i][2]), half), middle = vmulq_f32(t[i][1], half);
            float *row = to + 4 * i * cell;
            vst1q_f32(row, t[i][0]), vst1q_f32(row + cell, vaddq_f32(ends, middle));
            vst1q_f32(row + 2 * cell, vsubq_f32(ends, middle)), vst1q_f32(row + 3 * cell, t[i][2]);
        }
    }
}

typedef struct {
    narrow v[4];
} four;

INLINE four image_line(narrow a, narrow b, narrow c, narrow d) {
    return (four){{vsubq_f32(a, c), vaddq_f32(b, c), vsubq_f32(c, b), vsubq_f32(b, d)}};
}

// The cells of four tiles, whose first line begins at x.
INLINE void image_cells(narrow cells[16], const float *x, size_t pitch, size_t odd) {
    four d[4];
    for (int i = 0; i < 4; i++, x += pitch) {
        d[i] = image_line(vld1q_f32(x), vld1q_f32(x + odd), vld1q_f32(x + 1), vld1q_f32(x + odd + 1));
    }
    for (int j = 0; j < 4; j++) {
        four column = image_line(d[0].v[j], d[1].v[j], d[2].v[j], d[3].v[j]);
        for (int i = 0; i < 4; i++) cells[4 * i + j] = column.v[i];
    }
}

void neon_image_cells(float *to, const float *x, const neon_tiles *t, size_t cell) {
    for (size_t first = 0; first < t->count; first += t->per_line, x += 2 * t->pitch) {
        size_t n = t->per_line < t->count - first ? t->per_line : t->count - first;
        for (size_t j = 0; j < n; j += 4) {
            size_t at = j + 4 <= n || n < 4 ? j : n - 4, lanes = n < 4 ? n : 4;
            narrow cells[16];
            image_cells(cells, x + at, t->pitch, t->odd);
            size_t tile = first + at, in = tile % t->panel_tiles;
            float *p = to + tile / t->panel_tiles * t->panel + in;
            if (lanes == 4 && in + 4 <= t->panel_tiles) {
                for (int i = 0; i < 16; i++) vst1q_f32(p + i * cell, cells[i]);
                continue;
            }
            // They are in two panels: the second one goes on where the first one ends.
            size_t further = t->panel - t->panel_tiles;
            for (int i = 0; i < 16; i++, p += cell) {
#define CELL(lane) \
    if (lane < lanes) vst1q_lane_f32(p + lane + (in + lane < t->panel_tiles ? 0 : further), cells[i], lane)
                CELL(0);
                CELL(1);
                CELL(2);
                CELL(3);
            }
        }
    }
}

typedef struct {
    narrow v[2];
} two;

INLINE two sum_line(narrow a, narrow b, narrow c, narrow d) {
    return (two){{vaddq_f32(vaddq_f32(a, b), c), vsubq_f32(vsubq_f32(b, c), d)}};
}

// The first n elements of x and y in turn.
INLINE void store_turns(float *p, narrow x, narrow y, size_t n) {
    float32x4x2_t both = {{x, y}};
    if (n >= 8) {
        vst2q_f32(p, both);
        return;
    }
    float all[8];
    vst2q_f32(all, both);
    for (size_t i = 0; i < n; i++) p[i] = all[i];
}

int neon_tile_sums(float *to, const float *m, const neon_tiles *t, size_t cell) {
    static const uint32_t numbers[4] = {0, 1, 2, 3};
    mask finite = vdupq_n_u32(~0u);
    for (size_t first = 0, line = 0; first < t->count; first += t->per_line, line += 2) {
        size_t n = t->per_line < t->count - first ? t->per_line : t->count - first;
        for (size_t j = 0; j < n; j += 4) {
            size_t at = j + 4 <= n || n < 4 ? j : n - 4, lanes = n < 4 ? n : 4;
            const float *p = m + first + at;
            two s[4];
            for (int i = 0; i < 4; i++, p += 4 * cell) {
                s[i] = sum_line(vld1q_f32(p), vld1q_f32(p + cell), vld1q_f32(p + 2 * cell), vld1q_f32(p + 3 * cell));
            }
            two left = sum_line(s[0].v[0], s[1].v[0], s[2].v[0], s[3].v[0]), right = sum_line(s[0].v[1], s[1].v[1], s[2].v[1], s[3].v[1]);
            // x - x is 0 of a finite number, and NaN of others.
            mask ok = vandq_u32(vceqzq_f32(vsubq_f32(left.v[0], left.v[0])), vceqzq_f32(vsubq_f32(right.v[0], right.v[0])));
            ok = vandq_u32(ok, vandq_u32(vceqzq_f32(vsubq_f32(left.v[1], left.v[1])), vceqzq_f32(vsubq_f32(right.v[1], right.v[1]))));
            if (lanes < 4) ok = vorrq_u32(ok, vcgeq_u32(vld1q_u32(numbers), vdupq_n_u32(lanes)));
            finite = vandq_u32(finite, ok);
            if (2 * at >= t->columns) continue;
            size_t elements = t->columns - 2 * at < 2 * lanes ? t->columns - 2 * at : 2 * lanes;
            for (size_t i = 0; i < 2 && line + i < t->lines; i++) {
                store_turns(to + (line + i) * t->apart + 2 * at, left.v[i], right.v[i], elements);
            }
        }
    }
    return vminvq_u32(finite) != 0;
}
