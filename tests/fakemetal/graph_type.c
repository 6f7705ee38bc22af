/*
 * graph_type.c - element types and shapes of MPSGraph.
 *
 * Limits are Apple's: 16 axes, extents up to INT32_MAX, less than 4 GiB for a tensor, no empty tensors,
 * no float64. Rounding is IEEE 754's, ties to even, straight from double.
 */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "defect.h"
#include "graph.h"

typedef struct {
  uint32_t type;
  const char *name;
  int precision, least; /* of real types: bits of the significand, exponent of the least normal number */
  double most;
} type_row;

static const type_row types[] = {
    {FLOAT32, "Float32", 24, -126, FLT_MAX},
    {FLOAT16, "Float16", 11, -14, 65504},
    {BFLOAT16, "BFloat16", 8, -126, 0x1.fep127},
    {INT8, "Int8", 0, 0, 0},
    {INT16, "Int16", 0, 0, 0},
    {INT32, "Int32", 0, 0, 0},
    {INT64, "Int64", 0, 0, 0},
    {UINT8, "UInt8", 0, 0, 0},
    {UINT16, "UInt16", 0, 0, 0},
    {UINT32, "UInt32", 0, 0, 0},
    {BOOL8, "Bool", 0, 0, 0},
};

static const type_row *row_of(uint32_t type) {
  for (size_t i = 0; i < sizeof types / sizeof *types; i++)
    if (types[i].type == type) return &types[i];
  misuse("data type 0x%x; MPSGraph has no such type, or the fake lacks it", type);
}

void type_check(uint32_t type) {
  row_of(type);
  if (type == BFLOAT16 && !macos_at_least(14, 0)) misuse("BFloat16 needs macOS 14.0");
  if (type == BOOL8 && !macos_at_least(12, 0)) misuse("Bool needs macOS 12.0");
}

const char *type_name(uint32_t type) { return row_of(type)->name; }
size_t type_size(uint32_t type) { return (type & 0xffff) / 8; }
bool type_is_real(uint32_t type) { return (type & 0x10000000) != 0; }
bool type_is_signed(uint32_t type) { return (type & 0x20000000) != 0; }

/* ---- Numbers. */

/* The distance of the values of a type around v. */
static double spacing(const type_row *r, double v) {
  int exponent;
  frexp(v, &exponent);
  if (exponent - 1 < r->least) exponent = r->least + 1;
  return ldexp(1, exponent - r->precision);
}

static double round_real(const type_row *r, double v) {
  if (!isfinite(v)) return isnan(v) ? NAN : v;
  if (v == 0) return v;
  if (planted(SMALL_FLUSHED) && r->type == FLOAT32 && fabs(v) < 0x1p-100) return 0;
  if (planted(BFLOAT16_TRUNCATED) && r->type == BFLOAT16) return trunc(v / spacing(r, v)) * spacing(r, v);
  double step = spacing(r, v), rounded = (worst_case() && r->type == FLOAT16 ? round(v / step) : nearbyint(v / step)) * step;
  if (fabs(rounded) > r->most) return copysign(INFINITY, v);
  return worst_case() && r->type == FLOAT32 && fabs(rounded) < FLT_MIN ? 0 : rounded;
}

static int64_t wrap(uint32_t type, int64_t v) {
  switch (type) {
  case INT8: return (int8_t)v;
  case INT16: return (int16_t)v;
  case INT32: return (int32_t)v;
  case UINT8: return (uint8_t)v;
  case UINT16: return (uint16_t)v;
  case UINT32: return (uint32_t)v;
  case BOOL8: return v != 0;
  case INT64: return planted(INT64_TRUNCATED) ? (int32_t)v : v;
  default: return v;
  }
}

cell type_round(uint32_t type, cell c) {
  if (type_is_real(type)) return (cell){.real = round_real(row_of(type), c.real)};
  return (cell){.whole = wrap(type, c.whole)};
}

/* What rounding adds to an error, in units in the last place. */
static const double ROUNDING = 0.5;

double type_perturb(uint32_t type, double v, double ulps) {
  if (ulps == 0 || !worst_case() || !isfinite(v) || v == 0) return v;
  double share = (double)(int64_t)random_bits() * 0x1p-63, unit = spacing(row_of(type), v);
  double moved = v + share * (ulps - ROUNDING) * unit;
  /* Beyond a power of two the rounding is of twice as large units. */
  return spacing(row_of(type), moved) > unit ? v + share * (ulps - 2 * ROUNDING) * unit : moved;
}

cell type_most(uint32_t type) {
  if (type_is_real(type)) return (cell){.real = row_of(type)->most};
  if (type == BOOL8) return (cell){.whole = 1};
  return (cell){.whole = (int64_t)(UINT64_MAX >> (64 - (type & 0xffff) + type_is_signed(type)))};
}

cell type_least(uint32_t type) {
  if (type_is_real(type)) return (cell){.real = -row_of(type)->most};
  return (cell){.whole = type_is_signed(type) ? -type_most(type).whole - 1 : 0};
}

static int64_t saturated(uint32_t type, double v) {
  if (isnan(v)) return 0;
  int64_t most = type_most(type).whole, least = type_least(type).whole;
  if (v >= (double)most) return most;
  return v <= (double)least ? least : (int64_t)v;
}

cell type_convert(uint32_t from, uint32_t to, cell c) {
  if (to == BOOL8) return (cell){.whole = cell_is_true(from, c)};
  if (type_is_real(to)) return type_round(to, type_is_real(from) ? c : (cell){.real = (double)c.whole});
  return type_is_real(from) ? (cell){.whole = saturated(to, c.real)} : type_round(to, c);
}

cell type_of_number(uint32_t type, double v) { return type_convert(FLOAT32, type, (cell){.real = v}); }
bool cell_is_true(uint32_t type, cell c) { return type_is_real(type) ? c.real != 0 : c.whole != 0; }

/* ---- Memory. */

/* The value of 16 bits with so many of them for the exponent. */
static double real_of_bits(uint16_t bits, int exponent_bits) {
  int fraction_bits = 15 - exponent_bits, most = (1 << exponent_bits) - 1, bias = most / 2;
  int exponent = bits >> fraction_bits & most, fraction = bits & ((1 << fraction_bits) - 1);
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == most) return fraction ? NAN : sign * INFINITY;
  if (exponent == 0) return sign * ldexp(fraction, 1 - bias - fraction_bits);
  return sign * ldexp(fraction + (1 << fraction_bits), exponent - bias - fraction_bits);
}

static uint16_t bits_of_real(double v, int exponent_bits) {
  int fraction_bits = 15 - exponent_bits, most = (1 << exponent_bits) - 1, bias = most / 2, exponent;
  uint16_t sign = signbit(v) ? 0x8000 : 0;
  if (isnan(v)) return (uint16_t)(most << fraction_bits | 1 << (fraction_bits - 1));
  if (isinf(v)) return (uint16_t)(sign | most << fraction_bits);
  if (v == 0) return sign;
  frexp(v, &exponent);
  exponent = exponent - 1 < 1 - bias ? 1 - bias : exponent - 1;
  int fraction = (int)ldexp(fabs(v), fraction_bits - exponent);
  int biased = fraction >> fraction_bits ? exponent + bias : 0;
  return (uint16_t)(sign | biased << fraction_bits | (fraction & ((1 << fraction_bits) - 1)));
}

enum { HALF_EXPONENT = 5, BFLOAT_EXPONENT = 8 };

cell type_load(uint32_t type, const void *at) {
  float f;
  uint16_t half;
  int64_t whole = 0;
  switch (type) {
  case FLOAT32: return memcpy(&f, at, 4), (cell){.real = f};
  case FLOAT16: return memcpy(&half, at, 2), (cell){.real = real_of_bits(half, HALF_EXPONENT)};
  case BFLOAT16: return memcpy(&half, at, 2), (cell){.real = real_of_bits(half, BFLOAT_EXPONENT)};
  default: return memcpy(&whole, at, type_size(type)), (cell){.whole = wrap(type, whole)};
  }
}

void type_store(uint32_t type, void *at, cell c) {
  float f;
  uint16_t half;
  switch (type) {
  case FLOAT32: f = (float)c.real, memcpy(at, &f, 4); break;
  case FLOAT16: half = bits_of_real(c.real, HALF_EXPONENT), memcpy(at, &half, 2); break;
  case BFLOAT16: half = bits_of_real(c.real, BFLOAT_EXPONENT), memcpy(at, &half, 2); break;
  default: memcpy(at, &c.whole, type_size(type));
  }
}

/* ---- Shapes. */

int64_t shape_count(const shape *s) {
  int64_t n = 1;
  for (int i = 0; i < s->rank; i++) n *= s->at[i];
  return n;
}

bool shape_equal(const shape *a, const shape *b) {
  return a->rank == b->rank && memcmp(a->at, b->at, (size_t)a->rank * sizeof *a->at) == 0;
}

bool shape_known(const shape *s) {
  for (int i = 0; i < s->rank; i++)
    if (s->at[i] == UNKNOWN) return false;
  return true;
}

const char *shape_text(const shape *s) {
  static __thread char texts[4][16 * 24];
  static __thread unsigned turn;
  char *text = texts[turn++ % 4], *to = text;
  *to++ = '[';
  for (int i = 0; i < s->rank; i++) to += sprintf(to, i ? ", %lld" : "%lld", (long long)s->at[i]);
  strcpy(to, "]");
  return text;
}

void shape_strides(const shape *s, int64_t *strides) {
  int64_t n = 1;
  for (int i = s->rank; i-- > 0; n *= s->at[i]) strides[i] = n;
}

int shape_axis(const shape *s, int64_t axis) {
  int64_t from_start = axis < 0 ? axis + s->rank : axis;
  if (from_start < 0 || from_start >= s->rank)
    misuse("axis %lld of shape %s: LLVM ERROR: Failed to infer result type(s)", (long long)axis, shape_text(s));
  return (int)from_start;
}

shape shape_broadcast(const shape *a, const shape *b) {
  const shape *longer = a->rank < b->rank ? b : a, *shorter = longer == a ? b : a;
  shape s = *longer;
  for (int i = 1; i <= shorter->rank; i++) {
    int64_t *to = &s.at[s.rank - i], other = shorter->at[shorter->rank - i];
    if (*to != other && *to != 1 && other != 1) misuse("shapes %s and %s do not broadcast", shape_text(a), shape_text(b));
    if (*to == 1) *to = other;
  }
  return s;
}

void shape_spread(const shape *from, const shape *to, int64_t *strides) {
  int64_t own[MOST_AXES];
  shape_strides(from, own);
  int missing = to->rank - from->rank;
  for (int i = 0; i < to->rank; i++) strides[i] = i < missing || from->at[i - missing] == 1 ? 0 : own[i - missing];
}

int64_t shape_offset(const shape *s, int64_t number, const int64_t *strides) {
  int64_t offset = 0;
  for (int i = s->rank; i-- > 0; number /= s->at[i]) offset += number % s->at[i] * strides[i];
  return offset;
}

void shape_split(const shape *s, int64_t number, int64_t *index) {
  for (int i = s->rank; i-- > 0; number /= s->at[i]) index[i] = number % s->at[i];
}

int64_t shape_join(const shape *s, const int64_t *index) {
  int64_t number = 0;
  for (int i = 0; i < s->rank; i++) number = number * s->at[i] + index[i];
  return number;
}

shape shape_of(id numbers) {
  size_t rank = array_count(numbers);
  if (rank > MOST_AXES) misuse("a shape of %zu axes; MPSGraph takes %d", rank, MOST_AXES);
  shape s = {.rank = (int)rank};
  for (int i = 0; i < s.rank; i++) s.at[i] = number_integer(array_at(numbers, (size_t)i));
  return s;
}

id shape_numbers(const shape *s) {
  id numbers[MOST_AXES];
  for (int i = 0; i < s->rank; i++) numbers[i] = number_int(s->at[i]);
  return autorelease(array_new(numbers, (size_t)s->rank));
}

void form_check(const form *f) {
  type_check(f->type);
  double bytes = (double)type_size(f->type);
  for (int i = 0; i < f->shape.rank; i++) {
    int64_t n = f->shape.at[i];
    if (n == UNKNOWN) continue;
    if (n == 0) misuse("shape %s is empty; MPSGraph has no empty tensors", shape_text(&f->shape));
    if (n < 0) misuse("shape %s has a negative extent", shape_text(&f->shape));
    if (n > INT32_MAX) misuse("shape %s: NDArray dimension length > INT_MAX", shape_text(&f->shape));
    bytes *= (double)n;
  }
  if (bytes >= 0x1p32) misuse("shape %s of %s is a total NDArray size > 2**32", shape_text(&f->shape), type_name(f->type));
}

void value_make(value *v, const form *f) {
  v->form = *f, v->count = shape_count(&f->shape);
  v->cells = calloc((size_t)v->count + 1, sizeof *v->cells);
}

void value_copy(value *v, const value *from) {
  v->form = from->form, v->count = from->count;
  v->cells = malloc(((size_t)v->count + 1) * sizeof *v->cells);
  memcpy(v->cells, from->cells, (size_t)v->count * sizeof *v->cells);
}
