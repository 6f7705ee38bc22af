//go:build arm64 && cgo && !race

// What Go calls. Lengths are in elements. A result may be an operand, but must not overlap one at a shifted start.

#ifndef NEON_ROWS_H
#define NEON_ROWS_H

#include <stddef.h>
#include <stdint.h>

// Functions of one element.
enum {
    NEON_NEG, NEON_ABS, NEON_SQRT, NEON_RSQRT, NEON_RECIPROCAL, NEON_SQUARE, NEON_EXP, NEON_EXPM1, NEON_LOG, NEON_LOG1P, NEON_LOG2,
    NEON_LOG10, NEON_SIN, NEON_COS, NEON_TAN, NEON_ASIN, NEON_ACOS, NEON_ATAN, NEON_TANH, NEON_SINH, NEON_COSH, NEON_ASINH, NEON_ACOSH,
    NEON_ATANH, NEON_ERF, NEON_SIGMOID, NEON_RELU, NEON_SILU, NEON_GELU, NEON_GELU_TANH, NEON_FLOOR, NEON_CEIL, NEON_ROUND, NEON_TRUNC,
    NEON_SIGN, NEON_MAPS
};

// neon_map sets dst to f(src). It answers how many elements it has written: n, or for sin, cos and tan the place of a vector that has
// a finite element whose magnitude is above 2^30.
size_t neon_map(int f, float *dst, const float *src, size_t n);

// Functions of two elements, and which operand is one number for the whole row.
enum { NEON_ADD, NEON_SUB, NEON_MUL, NEON_DIV, NEON_MAX, NEON_MIN, NEON_PAIRS };
enum { NEON_ROWS, NEON_RIGHT_SCALAR, NEON_LEFT_SCALAR, NEON_SHAPES };

void neon_pair(int f, int shape, float *dst, const float *a, const float *b, size_t n);

void neon_pow(float *dst, const float *x, const float *y, size_t n);
void neon_exp2(float *dst, const float *src, size_t n);
void neon_atan2(float *dst, const float *y, const float *x, size_t n);
void neon_softplus(float *dst, const float *src, float beta, float threshold, size_t n);
void neon_leaky_relu(float *dst, const float *src, float slope, size_t n);

// Comparisons, whose results are 0 or 1.
enum { NEON_LESS, NEON_LESS_EQUAL, NEON_EQUAL, NEON_NOT_EQUAL, NEON_COMPARISONS };

void neon_compare(int f, uint8_t *dst, const float *a, const float *b, size_t n);
void neon_less_int32(uint8_t *dst, const int32_t *a, const int32_t *b, size_t n);

void neon_f16_to_f32(float *dst, const uint16_t *src, size_t n);
void neon_bf16_to_f32(float *dst, const uint16_t *src, size_t n);
void neon_f32_to_f16(uint16_t *dst, const float *src, size_t n);
void neon_f32_to_bf16(uint16_t *dst, const float *src, size_t n);
void neon_to_int32(int32_t *dst, const float *src, size_t n);
void neon_to_float32(float *dst, const double *src, size_t n);

double neon_sum(const float *x, size_t n);
double neon_sum_squares(const float *x, size_t n);
double neon_sum_deviations(const float *x, double mean, size_t n);
float neon_max(const float *x, size_t n);
float neon_min(const float *x, size_t n);

// Row i of x begins at x[i * stride]; all have n elements.
void neon_sum_columns(double *sums, const float *x, size_t stride, size_t rows, size_t n);
void neon_max_columns(float *tops, const float *x, size_t stride, size_t rows, size_t n);
void neon_min_columns(float *tops, const float *x, size_t stride, size_t rows, size_t n);

// weight and bias may be NULL.
void neon_standardize(float *dst, const float *src, const float *weight, const float *bias, double mean, double scale, size_t n);

// n is a multiple of length, the number of elements of a row.
void neon_softmax(float *dst, const float *src, size_t length, size_t n);

// A step of an online softmax along columns, whose number is a multiple of 4; s has n elements, rows of as many.
void neon_weigh(float *s, float *tops, float *sums, float *factors, int scaling, size_t columns, size_t n);

// The largest element, each with the bits of flip inverted; NaN is passed over, and the answer -Inf where there is nothing else.
float neon_largest(const float *x, uint32_t flip, size_t n);

// The place of the first element that equals v, n if there is none.
size_t neon_find(const float *x, float v, size_t n);

// The search for the first largest of each column goes on in row number index.
void neon_arg_columns(float *best, int32_t *at, const float *x, uint32_t flip, int32_t index, size_t n);

// The Tap of package stencil.
typedef struct {
    int64_t offset;
    int32_t number;
} neon_tap;

void neon_depthwise(float *to, const float *x, const float *w, const neon_tap *taps, size_t count, size_t n, size_t step, size_t channels);
void neon_max_deep(float *to, const float *x, const neon_tap *taps, size_t count, size_t n, size_t step, size_t channels);

// The Tiles of package winograd, but for the lines of vectors.
typedef struct {
    size_t per_line, count, columns, lines, apart, pitch, odd, panel_tiles, panel;
} neon_tiles;

// Four kernels are a group. Distances are in elements.
void neon_kernel_cells(float *to, const float *w, size_t groups, size_t cell);
void neon_image_cells(float *to, const float *x, const neon_tiles *t, size_t cell);
int neon_tile_sums(float *to, const float *m, const neon_tiles *t, size_t cell); // whether all are finite

// A panel of eight rows, lda elements apart, and one of twelve columns of rows at offsets.
void neon_pack_rows(float *to, const float *a, size_t steps, size_t lda);
void neon_pack_panel(float *to, const float *b, const int64_t *offsets, size_t steps);

// A panel of twelve columns of rows that are lines: see AddGridAtOffsets of package gemm. Columns from number cols on are undefined.
void neon_pack_lines(float *to, const float *b, const int64_t *offsets, size_t steps, size_t first, size_t cols, size_t width, size_t pitch);

// Rows of b, stride elements apart or at offsets, times elements of a are added to c.
void neon_add_rows(float *c, const float *a, const float *b, size_t stride, size_t rows, size_t n);
void neon_add_rows_at(float *c, const float *a, const float *b, const int64_t *offsets, size_t rows, size_t n);
void neon_add_two_rows_at(float *c, float *d, const float *a, const float *e, const float *b, const int64_t *offsets, size_t rows, size_t n);

// The same for rows of four or of two panels of twelve columns, which begin stride elements apart.
void neon_panel_row(float *c, const float *a, const float *b, size_t stride, size_t steps, size_t panels);

// Rows of a, a multiple of eight, times one column of b are added to one of c, or with set are that column.
void neon_column(float *c, size_t ldc, const float *a, size_t lda, const float *b, size_t ldb, size_t k, size_t rows, int set);

// Three rows of a times four of b, all of k elements.
void neon_dots(float *to, const float *a, size_t lda, const float *b, size_t ldb, size_t k);
void neon_dots64(double *to, const double *a, size_t lda, const double *b, size_t ldb, size_t k);

// The Lines of package dots.
typedef struct {
    size_t width, count, step_a, step_b, images, next_a, next_b, row;
} neon_lines;

// Six rows of a times the lines of b from four offsets on.
void neon_line_dots(float *to, const float *a, const float *b, const int64_t offsets[4], const neon_lines *t);

// A transpose of elements of 32 bits.
void neon_transpose(float *to, const float *from, size_t rows, size_t cols, size_t to_step, size_t from_step);

// Elements of so many bytes: those of a where the byte of the condition is not 0, else those of b. n is in bytes, a multiple of 64.
void neon_choose(size_t size, void *to, const uint8_t *condition, const void *a, const void *b, size_t n);

// See package stencil. A vector of x may be read at each element of a line, and each second element of its operand at each of a split.
void neon_even_elements(float *to, const float *x, size_t n);
void neon_split_lines(float *to, const float *x, size_t lines, size_t width, size_t from, size_t pitch, size_t first, size_t second);
void neon_plane(float *to, const float *x, const float *w, const int64_t *offsets, size_t taps, size_t lines, size_t width, size_t apart, size_t pitch);

// The largest element of whole vectors of windows, and its number; it answers how many windows it has done, whose vectors lie in size
// elements.
size_t neon_max_row(float *best, int32_t *at, const float *x, size_t size, const neon_tap *taps, size_t count, size_t n, size_t step, size_t reach, int32_t first);

#endif
