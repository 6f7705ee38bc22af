//go:build arm64 && cgo && !race

// Loops beside the tiles of matrix products, which are assembler: see package gemm. Each product is rounded once with its sum, as there.

#include "rows.h"
#include "vectors.h"

#define PANEL 12    // columns of a panel of b
#define SIDE_ROWS 8 // rows of a panel of a

// Column r of four becomes vector r.
INLINE void turn(narrow v[4]) {
    narrow a = vtrn1q_f32(v[0], v[1]), b = vtrn2q_f32(v[0], v[1]), c = vtrn1q_f32(v[2], v[3]), d = vtrn2q_f32(v[2], v[3]);
#define PAIRS(f, x, y) vreinterpretq_f32_f64(f(vreinterpretq_f64_f32(x), vreinterpretq_f64_f32(y)))
    v[0] = PAIRS(vtrn1q_f64, a, c), v[1] = PAIRS(vtrn1q_f64, b, d), v[2] = PAIRS(vtrn2q_f64, a, c), v[3] = PAIRS(vtrn2q_f64, b, d);
}

// A panel of eight rows of a, column after column.
void neon_pack_rows(float *to, const float *a, size_t steps, size_t lda) {
    size_t l = 0;
    for (; l + 4 <= steps; l += 4, to += 4 * SIDE_ROWS) {
        narrow x[4], y[4];
        for (int r = 0; r < 4; r++) x[r] = vld1q_f32(a + r * lda + l), y[r] = vld1q_f32(a + (r + 4) * lda + l);
        turn(x), turn(y);
        for (int r = 0; r < 4; r++) vst1q_f32(to + r * SIDE_ROWS, x[r]), vst1q_f32(to + r * SIDE_ROWS + 4, y[r]);
    }
    for (; l < steps; l++, to += SIDE_ROWS) {
        for (size_t r = 0; r < SIDE_ROWS; r++) to[r] = a[r * lda + l];
    }
}

// A panel of rows of b that lie at offsets.
void neon_pack_panel(float *to, const float *b, const int64_t *offsets, size_t steps) {
    for (size_t l = 0; l < steps; l++, to += PANEL) {
        const float *p = b + offsets[l];
        narrow x = vld1q_f32(p), y = vld1q_f32(p + 4), z = vld1q_f32(p + 8);
        vst1q_f32(to, x), vst1q_f32(to + 4, y), vst1q_f32(to + 8, z);
    }
}

void neon_pack_lines(float *to, const float *b, const int64_t *offsets, size_t steps, size_t first, size_t cols, size_t width, size_t pitch) {
    for (size_t v = 0; v < cols; v += 4, to += 4) {
        const float *lane[4]; // where the columns are at offset 0; what there is no column for is the last one
        for (size_t i = 0; i < 4; i++) {
            size_t column = first + (v + i < cols ? v + i : cols - 1);
            lane[i] = b + column / width * pitch + column % width;
        }
        if (v + 4 <= cols && lane[3] - lane[0] == 3) { // neighbours in one line
            for (size_t l = 0; l < steps; l++) vst1q_f32(to + l * PANEL, vld1q_f32(lane[0] + offsets[l]));
            continue;
        }
        for (size_t l = 0; l < steps; l++) {
            narrow x = vld1q_dup_f32(lane[0] + offsets[l]);
            x = vld1q_lane_f32(lane[1] + offsets[l], x, 1);
            x = vld1q_lane_f32(lane[2] + offsets[l], x, 2);
            x = vld1q_lane_f32(lane[3] + offsets[l], x, 3);
            vst1q_f32(to + l * PANEL, x);
        }
    }
}

// Rows of b, four in one pass over c. ROW is where row l begins.
#define ADD_ROWS(ROW)                                                                                             \
    {                                                                                                             \
        size_t l = 0;                                                                                             \
        for (; l + 4 <= rows; l += 4) {                                                                           \
            const float *r0 = ROW(l), *r1 = ROW(l + 1), *r2 = ROW(l + 2), *r3 = ROW(l + 3);                       \
            narrow k = vld1q_f32(a + l);                                                                          \
            size_t j = 0;                                                                                         \
            for (; j + 8 <= n; j += 8) {                                                                          \
                narrow y = vld1q_f32(c + j), z = vld1q_f32(c + j + 4);                                            \
                y = vfmaq_laneq_f32(y, vld1q_f32(r0 + j), k, 0), z = vfmaq_laneq_f32(z, vld1q_f32(r0 + j + 4), k, 0); \
                y = vfmaq_laneq_f32(y, vld1q_f32(r1 + j), k, 1), z = vfmaq_laneq_f32(z, vld1q_f32(r1 + j + 4), k, 1); \
                y = vfmaq_laneq_f32(y, vld1q_f32(r2 + j), k, 2), z = vfmaq_laneq_f32(z, vld1q_f32(r2 + j + 4), k, 2); \
                y = vfmaq_laneq_f32(y, vld1q_f32(r3 + j), k, 3), z = vfmaq_laneq_f32(z, vld1q_f32(r3 + j + 4), k, 3); \
                vst1q_f32(c + j, y), vst1q_f32(c + j + 4, z);                                                     \
            }                                                                                                     \
            for (; j < n; j++) {                                                                                  \
                float y = __builtin_fmaf(a[l], r0[j], c[j]);                                                      \
                y = __builtin_fmaf(a[l + 2], r2[j], __builtin_fmaf(a[l + 1], r1[j], y));                          \
                c[j] = __builtin_fmaf(a[l + 3], r3[j], y);                                                        \
            }                                                                                                     \
        }                                                                                                         \
        for (; l < rows; l++) {                                                                                   \
            const float *row = ROW(l);                                                                            \
            narrow k = n_(a[l]);                                                                                  \
            size_t j = 0;                                                                                         \
            for (; j + 8 <= n; j += 8) {                                                                          \
                narrow y = fma_n(k, vld1q_f32(row + j), vld1q_f32(c + j));                                        \
                narrow z = fma_n(k, vld1q_f32(row + j + 4), vld1q_f32(c + j + 4));                                \
                vst1q_f32(c + j, y), vst1q_f32(c + j + 4, z);                                                     \
            }                                                                                                     \
            for (; j < n; j++) c[j] = __builtin_fmaf(a[l], row[j], c[j]);                                         \
        }                                                                                                         \
    }

#define EVENLY(l) (b + (l) * stride)
#define AT_OFFSET(l) (b + offsets[l])

void neon_add_rows(float *c, const float *a, const float *b, size_t stride, size_t rows, size_t n) ADD_ROWS(EVENLY)
void neon_add_rows_at(float *c, const float *a, const float *b, const int64_t *offsets, size_t rows, size_t n) ADD_ROWS(AT_OFFSET)

// Two rows of sums use each vector of b.
void neon_add_two_rows_at(float *c, float *d, const float *a, const float *e, const float *b, const int64_t *offsets, size_t rows, size_t n) {
    size_t l = 0;
    for (; l + 4 <= rows; l += 4) {
        const float *r0 = AT_OFFSET(l), *r1 = AT_OFFSET(l + 1), *r2 = AT_OFFSET(l + 2), *r3 = AT_OFFSET(l + 3);
        narrow k = vld1q_f32(a + l), m = vld1q_f32(e + l);
        size_t j = 0;
        for (; j + 4 <= n; j += 4) {
            narrow y = vld1q_f32(c + j), z = vld1q_f32(d + j), x = vld1q_f32(r0 + j);
            y = vfmaq_laneq_f32(y, x, k, 0), z = vfmaq_laneq_f32(z, x, m, 0), x = vld1q_f32(r1 + j);
            y = vfmaq_laneq_f32(y, x, k, 1), z = vfmaq_laneq_f32(z, x, m, 1), x = vld1q_f32(r2 + j);
            y = vfmaq_laneq_f32(y, x, k, 2), z = vfmaq_laneq_f32(z, x, m, 2), x = vld1q_f32(r3 + j);
            vst1q_f32(c + j, vfmaq_laneq_f32(y, x, k, 3)), vst1q_f32(d + j, vfmaq_laneq_f32(z, x, m, 3));
        }
        for (; j < n; j++) {
            float y = c[j], z = d[j];
            y = __builtin_fmaf(a[l], r0[j], y), z = __builtin_fmaf(e[l], r0[j], z);
            y = __builtin_fmaf(a[l + 1], r1[j], y), z = __builtin_fmaf(e[l + 1], r1[j], z);
            y = __builtin_fmaf(a[l + 2], r2[j], y), z = __builtin_fmaf(e[l + 2], r2[j], z);
            c[j] = __builtin_fmaf(a[l + 3], r3[j], y), d[j] = __builtin_fmaf(e[l + 3], r3[j], z);
        }
    }
    if (l < rows) {
        neon_add_rows_at(c, a + l, b, offsets + l, rows - l, n);
        neon_add_rows_at(d, e + l, b, offsets + l, rows - l, n);
    }
}

// All sums of so many panels stay in registers.
INLINE void panel_row(int panels, float *c, const float *a, const float *b, size_t stride, size_t steps) {
    narrow s[12];
    for (int v = 0; v < 3 * panels; v++) s[v] = vld1q_f32(c + 4 * v);
    for (size_t l = 0; l < steps; l++, b += PANEL) {
        narrow k = vld1q_dup_f32(a + l);
        for (int p = 0; p < panels; p++) {
            for (int v = 0; v < 3; v++) s[3 * p + v] = fma_n(k, vld1q_f32(b + p * stride + 4 * v), s[3 * p + v]);
        }
    }
    for (int v = 0; v < 3 * panels; v++) vst1q_f32(c + 4 * v, s[v]);
}

void neon_panel_row(float *c, const float *a, const float *b, size_t stride, size_t steps, size_t panels) {
    if (panels == 4) panel_row(4, c, a, b, stride, steps);
    else panel_row(2, c, a, b, stride, steps);
}

INLINE narrow every(const float *p, size_t step) {
    narrow x = vld1q_dup_f32(p);
    x = vld1q_lane_f32(p + step, x, 1), x = vld1q_lane_f32(p + 2 * step, x, 2);
    return vld1q_lane_f32(p + 3 * step, x, 3);
}

// So many vectors of four rows of a times a column.
INLINE void column_rows(int vectors, float *c, size_t ldc, const float *a, size_t lda, const float *b, size_t ldb, size_t k, int set) {
    narrow s[4];
    for (int v = 0; v < vectors; v++) s[v] = set ? n_(0) : every(c + 4 * v * ldc, ldc);
    size_t l = 0;
    for (; l + 4 <= k; l += 4) {
        narrow y = ldb == 1 ? vld1q_f32(b + l) : every(b + l * ldb, ldb);
        for (int v = 0; v < vectors; v++) {
            narrow x[4];
            for (int r = 0; r < 4; r++) x[r] = vld1q_f32(a + (4 * v + r) * lda + l);
            turn(x);
            s[v] = vfmaq_laneq_f32(s[v], x[0], y, 0), s[v] = vfmaq_laneq_f32(s[v], x[1], y, 1);
            s[v] = vfmaq_laneq_f32(s[v], x[2], y, 2), s[v] = vfmaq_laneq_f32(s[v], x[3], y, 3);
        }
    }
    for (; l < k; l++) {
        narrow y = n_(b[l * ldb]);
        for (int v = 0; v < vectors; v++) s[v] = fma_n(every(a + 4 * v * lda + l, lda), y, s[v]);
    }
    for (int v = 0; v < vectors; v++) {
        float *p = c + 4 * v * ldc;
        vst1q_lane_f32(p, s[v], 0), vst1q_lane_f32(p + ldc, s[v], 1), vst1q_lane_f32(p + 2 * ldc, s[v], 2), vst1q_lane_f32(p + 3 * ldc, s[v], 3);
    }
}

void neon_column(float *c, size_t ldc, const float *a, size_t lda, const float *b, size_t ldb, size_t k, size_t rows, int set) {
    for (; rows >= 16; rows -= 16, c += 16 * ldc, a += 16 * lda) column_rows(4, c, ldc, a, lda, b, ldb, k, set);
    if (rows > 0) column_rows(2, c, ldc, a, lda, b, ldb, k, set);
}

// Three rows times four. Each vector that is loaded is used three or four times.
void neon_dots(float *to, const float *a, size_t lda, const float *b, size_t ldb, size_t k) {
    narrow s[3][4];
    for (int i = 0; i < 12; i++) s[i / 4][i % 4] = n_(0);
    size_t l = 0;
    for (; l + 4 <= k; l += 4) {
        narrow x[3];
        for (int i = 0; i < 3; i++) x[i] = vld1q_f32(a + i * lda + l);
        for (int j = 0; j < 4; j++) {
            narrow y = vld1q_f32(b + j * ldb + l);
            for (int i = 0; i < 3; i++) s[i][j] = fma_n(x[i], y, s[i][j]);
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) {
            float sum = vaddvq_f32(s[i][j]);
            for (size_t r = l; r < k; r++) sum = __builtin_fmaf(a[i * lda + r], b[j * ldb + r], sum);
            to[4 * i + j] = sum;
        }
    }
}

void neon_dots64(double *to, const double *a, size_t lda, const double *b, size_t ldb, size_t k) {
    wide s[3][4];
    for (int i = 0; i < 12; i++) s[i / 4][i % 4] = w_(0);
    size_t l = 0;
    for (; l + 2 <= k; l += 2) {
        wide x[3];
        for (int i = 0; i < 3; i++) x[i] = vld1q_f64(a + i * lda + l);
        for (int j = 0; j < 4; j++) {
            wide y = vld1q_f64(b + j * ldb + l);
            for (int i = 0; i < 3; i++) s[i][j] = fma_w(x[i], y, s[i][j]);
        }
    }
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 4; j++) {
            double sum = vaddvq_f64(s[i][j]);
            for (size_t r = l; r < k; r++) sum = __builtin_fma(a[i * lda + r], b[j * ldb + r], sum);
            to[4 * i + j] = sum;
        }
    }
}

// Six rows times four. What fills no vector at the end of a line is beside zeros.
void neon_line_dots(float *to, const float *a, const float *b, const int64_t offsets[4], const neon_lines *t) {
    narrow s[6][4];
    for (int i = 0; i < 24; i++) s[i / 4][i % 4] = n_(0);
#define ADD_VECTORS(LOAD)                                                                    \
    {                                                                                        \
        narrow y[4];                                                                         \
        for (int j = 0; j < 4; j++) y[j] = LOAD(q + offsets[j] + l);                         \
        for (int i = 0; i < 6; i++) {                                                        \
            narrow x = LOAD(p + i * t->row + l);                                             \
            for (int j = 0; j < 4; j++) s[i][j] = fma_n(x, y[j], s[i][j]);                   \
        }                                                                                    \
    }
#define LOAD_END(at) load_few(at, t->width - l)
    for (size_t image = 0; image < t->images; image++) {
        for (size_t line = 0; line < t->count; line++) {
            const float *p = a + image * t->next_a + line * t->step_a, *q = b + image * t->next_b + line * t->step_b;
            size_t l = 0;
            for (; l + 4 <= t->width; l += 4) ADD_VECTORS(vld1q_f32)
            if (l < t->width) ADD_VECTORS(LOAD_END)
        }
    }
    for (int i = 0; i < 24; i++) to[i] = vaddvq_f32(s[i / 4][i % 4]);
}
