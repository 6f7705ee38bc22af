/*
 * math.h - the functions of section 6 on scalars and vectors, with the errors of section 8.
 *
 * Each is computed in double precision and rounded once. Where the specification allows an error of n
 * units in the last place and the fake runs in its worst case (FAKEMETAL_WORST=1), the result is moved
 * by n units, up or down as its bits fall: table 8.1 for float, one unit for half (table 8.3). What is
 * "correctly rounded" or exact there has no n here. In fast math, nothing is a nan or infinite.
 *
 * A function that is another one in fast:: is here in precise::, and in fast.h; without either in front it is
 * one of the two, by the compile options.
 */
#pragma once

namespace shader {

inline double min_of(double x, double y) { return x < y ? x : y; }

// The float that is furthest from a result within some units in the last place, up or down as its bits fall.
inline float moved_by(double exact, int ulp) {
  float x = float(exact);
  uint u = bits_of(x), size = u & 0x7fffffff;
  if (size < 0x01000000 || size >= 0x7f000000) return x;
  int step = (u * 2654435761u >> 31) != 0 ? 1 : -1;
  double above = float_of(u + 1), below = float_of(u - 1), here = x;
  double limit = ulp * min_of(__builtin_fabs(above - here), __builtin_fabs(here - below));
  float moved = float_of(u + step * ulp);
  for (int n = ulp; n > 0 && __builtin_fabs(moved - exact) > limit;) moved = float_of(u + step * --n);
  return moved;
}

inline float inexact(double exact, int ulp) { return serve.worst ? moved_by(exact, ulp) : float(exact); }

inline half inexact(half x) {
  ushort size = x.bits & 0x7fff;
  if (!serve.worst || size < 0x0800 || size >= 0x7800) return x;
  x.bits += (uint(x.bits) * 2654435761u >> 31) != 0 ? 1 : -1;
  return x;
}

// x - y * trunc(x / y), each operation rounded: nothing may fuse the product with the difference.
inline float naive_rest(float x, float y) {
  float product = y * __builtin_truncf(x / y);
  __asm__("" : "+m"(product));
  return x - product;
}

}  // namespace shader

namespace metal {

// Each function for float, then for half through float, then for vectors by element.
#define SHADER_VECTOR1(name) \
  template <class T, int N> inline auto name(const vec<T, N> &x) { vec<decltype(name(x[0])), N> r; for (int i = 0; i < N; i++) r[i] = name(x[i]); return r; }
#define SHADER_VECTOR2(name) \
  template <class T, int N> inline auto name(const vec<T, N> &x, const vec<T, N> &y) { vec<decltype(name(x[0], y[0])), N> r; for (int i = 0; i < N; i++) r[i] = name(x[i], y[i]); return r; } \
  template <class T, int N> inline auto name(const vec<T, N> &x, T y) { return name(x, vec<T, N>(y)); }
#define SHADER_VECTOR3(name) \
  template <class T, int N> inline auto name(const vec<T, N> &x, const vec<T, N> &y, const vec<T, N> &z) { vec<decltype(name(x[0], y[0], z[0])), N> r; for (int i = 0; i < N; i++) r[i] = name(x[i], y[i], z[i]); return r; } \
  template <class T, int N> inline auto name(const vec<T, N> &x, T y, T z) { return name(x, vec<T, N>(y), vec<T, N>(z)); }
#if __METAL_VERSION__ >= 310
#define SHADER_BFLOAT1(name) inline bfloat name(bfloat x) { return bfloat(name(float(x))); }
#define SHADER_BFLOAT2(name) inline bfloat name(bfloat x, bfloat y) { return bfloat(name(float(x), float(y))); }
#else
#define SHADER_BFLOAT1(name)
#define SHADER_BFLOAT2(name)
#endif

#define SHADER_EXACT1(name, value)                                    \
  SHADER_ONE float name(float x) { return float(value); }                 \
  inline half name(half h) { float x = h; return half(float(value)); } \
  SHADER_BFLOAT1(name) SHADER_VECTOR1(name)
#define SHADER_WITHIN1(name, ulp, value)                                                \
  SHADER_ONE float name(float x) { return shader::inexact(double(value), ulp); }             \
  inline half name(half h) { float x = h; return shader::inexact(half(float(value))); } \
  SHADER_BFLOAT1(name) SHADER_VECTOR1(name)
#define SHADER_EXACT2(name, value)                                                 \
  SHADER_ONE float name(float x, float y) { return float(value); }                     \
  inline half name(half g, half h) { float x = g, y = h; return half(float(value)); } \
  SHADER_BFLOAT2(name) SHADER_VECTOR2(name)
#define SHADER_WITHIN2(name, ulp, value)                                                              \
  SHADER_ONE float name(float x, float y) { return shader::inexact(double(value), ulp); }                  \
  inline half name(half g, half h) { float x = g, y = h; return shader::inexact(half(float(value))); } \
  SHADER_BFLOAT2(name) SHADER_VECTOR2(name)

// Subnormals are zero where the hardware flushes them.
#define D(x) (double(x))
namespace precise {
SHADER_WITHIN1(exp, 4, __builtin_exp(D(x)))
SHADER_WITHIN1(exp2, 4, __builtin_exp2(D(x)))
SHADER_WITHIN1(exp10, 4, __builtin_pow(10.0, D(x)))
SHADER_WITHIN1(log, 4, __builtin_log(D(x)))
SHADER_WITHIN1(log2, 4, __builtin_log2(D(x)))
SHADER_WITHIN1(log10, 4, __builtin_log10(D(x)))
SHADER_WITHIN1(sin, 4, __builtin_sin(D(x)))
SHADER_WITHIN1(cos, 4, __builtin_cos(D(x)))
SHADER_WITHIN1(tan, 6, __builtin_tan(D(x)))
SHADER_WITHIN1(sinpi, 4, __builtin_sin(D(x) * 3.14159265358979323846))
SHADER_WITHIN1(cospi, 4, __builtin_cos(D(x) * 3.14159265358979323846))
SHADER_WITHIN1(asin, 4, __builtin_asin(D(x)))
SHADER_WITHIN1(acos, 4, __builtin_acos(D(x)))
SHADER_WITHIN1(atan, 5, __builtin_atan(D(x)))
SHADER_WITHIN1(sinh, 4, __builtin_sinh(D(x)))
SHADER_WITHIN1(cosh, 4, __builtin_cosh(D(x)))
SHADER_WITHIN1(tanh, 5, __builtin_tanh(D(x)))
SHADER_WITHIN1(asinh, 4, __builtin_asinh(D(x)))
SHADER_WITHIN1(acosh, 4, __builtin_acosh(D(x)))
SHADER_WITHIN1(atanh, 5, __builtin_atanh(D(x)))
SHADER_WITHIN2(pow, 16, __builtin_pow(D(x), D(y)))
SHADER_WITHIN2(powr, 16, x < 0 ? __builtin_nan("") : __builtin_pow(D(x), D(y)))
SHADER_WITHIN2(atan2, 6, __builtin_atan2(D(x), D(y)))

SHADER_EXACT1(sqrt, __builtin_sqrt(D(x)))
SHADER_EXACT1(rsqrt, 1.0 / __builtin_sqrt(D(x)))
SHADER_EXACT2(fmod, shader::serve.naive_fmod ? shader::naive_rest(x, y) : __builtin_fmodf(x, y))
}  // namespace precise
SHADER_EXACT1(floor, __builtin_floorf(x))
SHADER_EXACT1(ceil, __builtin_ceilf(x))
SHADER_EXACT1(trunc, __builtin_truncf(x))
SHADER_EXACT1(round, __builtin_roundf(x))
SHADER_EXACT1(rint, __builtin_rintf(x))
SHADER_EXACT1(fabs, __builtin_fabsf(x))
SHADER_EXACT1(fract, x - __builtin_floorf(x) < 1.0f ? x - __builtin_floorf(x) : 0x1.fffffep-1f)
SHADER_EXACT2(copysign, __builtin_copysignf(x, y))
SHADER_EXACT2(fdim, x > y ? x - y : 0.0f)
SHADER_EXACT2(nextafter, __builtin_nextafterf(x, y))
#undef D

#include "fast.h"

#define SHADER_EITHER1(name)                                                                                  \
  SHADER_ONE float name(float x) { return shader::serve.fast_functions ? fast::name(x) : precise::name(x); }      \
  inline half name(half x) { return precise::name(x); }                                                       \
  SHADER_BFLOAT1(name) SHADER_VECTOR1(name)
#define SHADER_EITHER2(name)                                                                                            \
  SHADER_ONE float name(float x, float y) { return shader::serve.fast_functions ? fast::name(x, y) : precise::name(x, y); } \
  inline half name(half x, half y) { return precise::name(x, y); }                                                      \
  SHADER_BFLOAT2(name) SHADER_VECTOR2(name)
SHADER_FAST1(SHADER_EITHER1)
SHADER_FAST2(SHADER_EITHER2)
#undef SHADER_EITHER1
#undef SHADER_EITHER2

inline float sign(float x) { return x > 0 ? 1.0f : x < 0 ? -1.0f : x == 0 ? x : 0.0f; }
inline half sign(half x) { return half(sign(float(x))); }
SHADER_BFLOAT1(sign) SHADER_VECTOR1(sign)

inline float fma(float x, float y, float z) { return __builtin_fmaf(x, y, z); }
inline half fma(half x, half y, half z) { return half(float(__builtin_fma(double(float(x)), double(float(y)), double(float(z))))); }
SHADER_VECTOR3(fma)

SHADER_ONE float ldexp(float x, int k) { return __builtin_ldexpf(x, k); }
SHADER_ONE int ilogb(float x) { return __builtin_ilogbf(x); }
SHADER_ONE float frexp(float x, int &e) { return __builtin_frexpf(x, &e); }
inline half ldexp(half x, int k) { return half(__builtin_ldexpf(float(x), k)); }
inline half frexp(half x, int &e) { return half(frexp(float(x), e)); }
inline int ilogb(half x) { return ilogb(float(x)); }
inline float modf(float x, float &whole) { whole = trunc(x); return __builtin_isinf(x) ? copysign(0.0f, x) : x - whole; }
inline float sincos(float x, float &c) { c = cos(x); return sin(x); }

// Of a number and a nan, the number.
#define SHADER_EXTREME(name, op)                                                               \
  SHADER_ONE float f##name(float x, float y) { return x != x ? y : y != y ? x : x op y ? x : y; }  \
  inline half f##name(half x, half y) { return half(f##name(float(x), float(y))); }            \
  SHADER_BFLOAT2(f##name) SHADER_VECTOR2(f##name)                                              \
  inline float name(float x, float y) { return f##name(x, y); }                                \
  inline half name(half x, half y) { return f##name(x, y); }                                   \
  SHADER_BFLOAT2(name)                                                                         \
  template <class T, class = typename shader::when<shader::plain<T>::integer>::type>           \
  inline T name(T x, T y) { return x op y ? x : y; }                                           \
  SHADER_VECTOR2(name)
SHADER_EXTREME(min, <)
SHADER_EXTREME(max, >)
#undef SHADER_EXTREME

template <class T, class = typename shader::when<shader::scalar<T>::value>::type>
inline T clamp(T x, T low, T high) { return min(max(x, low), high); }
SHADER_VECTOR3(clamp)
inline float saturate(float x) { return clamp(x, 0.0f, 1.0f); }
inline half saturate(half x) { return clamp(x, half(0), half(1)); }
SHADER_VECTOR1(saturate)
inline float mix(float x, float y, float a) { return x + (y - x) * a; }
inline half mix(half x, half y, half a) { return x + (y - x) * a; }
template <class T, int N> inline vec<T, N> mix(const vec<T, N> &x, const vec<T, N> &y, const vec<T, N> &a) { return x + (y - x) * a; }
template <class T, int N> inline vec<T, N> mix(const vec<T, N> &x, const vec<T, N> &y, T a) { return x + (y - x) * a; }
inline float step(float edge, float x) { return x < edge ? 0.0f : 1.0f; }
inline half step(half edge, half x) { return x < edge ? half(0) : half(1); }
inline float smoothstep(float low, float high, float x) { float t = clamp((x - low) / (high - low), 0.0f, 1.0f); return t * t * (3 - 2 * t); }
inline half smoothstep(half low, half high, half x) { return half(smoothstep(float(low), float(high), float(x))); }
SHADER_VECTOR2(step)
SHADER_VECTOR3(smoothstep)
template <class T> inline T max3(T x, T y, T z) { return max(x, max(y, z)); }
template <class T> inline T min3(T x, T y, T z) { return min(x, min(y, z)); }
template <class T> inline T median3(T x, T y, T z) { return max(min(x, y), min(max(x, y), z)); }
template <class T> inline T fmax3(T x, T y, T z) { return fmax(x, fmax(y, z)); }
template <class T> inline T fmin3(T x, T y, T z) { return fmin(x, fmin(y, z)); }
template <class T> inline T fmedian3(T x, T y, T z) { return fmax(fmin(x, y), fmin(fmax(x, y), z)); }

inline float abs(float x) { return __builtin_fabsf(x); }
inline half abs(half x) { x.bits &= 0x7fff; return x; }
template <class T, class = typename shader::when<shader::plain<T>::integer>::type>
inline T abs(T x) { return x < 0 ? T(0 - static_cast<ulong>(x)) : x; }
SHADER_BFLOAT1(abs) SHADER_VECTOR1(abs)

#if defined(__METAL_FAST__)
#define SHADER_TEST(name, value) inline bool name(float) { return (value) != 0 && false; }
#else
#define SHADER_TEST(name, value) inline bool name(float x) { return value; }
#endif
#define SHADER_TESTS(name, value) SHADER_TEST(name, value) inline bool name(half x) { return name(float(x)); } SHADER_VECTOR1(name)
#if defined(__METAL_FAST__)
SHADER_TESTS(isnan, 0)
SHADER_TESTS(isinf, 0)
inline bool isfinite(float) { return true; }
inline bool isfinite(half) { return true; }
#else
SHADER_TESTS(isnan, (shader::bits_of(x) & 0x7fffffff) > 0x7f800000)
SHADER_TESTS(isinf, (shader::bits_of(x) & 0x7fffffff) == 0x7f800000)
inline bool isfinite(float x) { return (shader::bits_of(x) & 0x7fffffff) < 0x7f800000; }
inline bool isfinite(half x) { return isfinite(float(x)); }
#endif
SHADER_VECTOR1(isfinite)
#undef SHADER_TEST
#undef SHADER_TESTS
inline bool isnormal(float x) { return isfinite(x) && (shader::bits_of(x) & 0x7fffffff) >= 0x00800000; }
inline bool isnormal(half x) { return isfinite(x) && (x.bits & 0x7fff) >= 0x0400; }
SHADER_VECTOR1(isnormal)
template <class T, class = typename shader::when<shader::scalar<T>::value>::type> inline bool isunordered(T x, T y) { return isnan(x) || isnan(y); }
template <class T, class = typename shader::when<shader::scalar<T>::value>::type> inline bool isordered(T x, T y) { return !isunordered(x, y); }
inline bool signbit(float x) { return shader::bits_of(x) >> 31; }
inline bool signbit(half x) { return x.bits >> 15; }
SHADER_VECTOR1(signbit)

template <class T, class = typename shader::when<shader::scalar<T>::value>::type>
inline T select(T a, T b, bool c) { return c ? b : a; }
template <class T, int N> inline vec<T, N> select(const vec<T, N> &a, const vec<T, N> &b, const vec<bool, N> &c) {
  vec<T, N> r;
  for (int i = 0; i < N; i++) r[i] = c[i] ? b[i] : a[i];
  return r;
}
template <int N> inline bool any(const vec<bool, N> &x) { bool r = false; for (int i = 0; i < N; i++) r |= x[i]; return r; }
template <int N> inline bool all(const vec<bool, N> &x) { bool r = true; for (int i = 0; i < N; i++) r &= x[i]; return r; }
template <class T, int N> inline T dot(const vec<T, N> &x, const vec<T, N> &y) { T r = 0; for (int i = 0; i < N; i++) r += x[i] * y[i]; return r; }
template <class T, int N> inline T length_squared(const vec<T, N> &x) { return dot(x, x); }
template <class T, int N> inline T length(const vec<T, N> &x) { return sqrt(dot(x, x)); }
template <class T, int N> inline T distance_squared(const vec<T, N> &x, const vec<T, N> &y) { return length_squared(x - y); }
template <class T, int N> inline T distance(const vec<T, N> &x, const vec<T, N> &y) { return length(x - y); }
template <class T, int N> inline vec<T, N> normalize(const vec<T, N> &x) { return x * rsqrt(dot(x, x)); }
template <class T, int N> inline vec<T, N> reflect(const vec<T, N> &x, const vec<T, N> &n) { return x - n * (T(2) * dot(n, x)); }
template <class T, int N> inline vec<T, N> faceforward(const vec<T, N> &n, const vec<T, N> &x, const vec<T, N> &m) { return dot(m, x) < 0 ? n : -n; }
template <class T> inline vec<T, 3> cross(const vec<T, 3> &x, const vec<T, 3> &y) {
  return vec<T, 3>(x.y * y.z - x.z * y.y, x.z * y.x - x.x * y.z, x.x * y.y - x.y * y.x);
}

// Integers.
inline uint mulhi(uint x, uint y) { return uint(ulong(x) * y >> 32); }
inline int mulhi(int x, int y) { return int(long(x) * y >> 32); }
inline ulong mulhi(ulong x, ulong y) { return ulong((unsigned __int128)x * y >> 64); }
inline long mulhi(long x, long y) { return long((__int128)x * y >> 64); }
// Each integer type has its own overload, which counts its own bits.
#define SHADER_BIT_COUNTS(T, U, bits)                                                                      \
  inline T popcount(T x) { return T(__builtin_popcountll(U(x))); }                                         \
  inline T clz(T x) { return T(U(x) ? __builtin_clzll(U(x)) - (64 - bits) : bits); }                       \
  inline T ctz(T x) { return T(U(x) ? __builtin_ctzll(U(x)) : bits); }                                     \
  inline T reverse_bits(T x) { U r = 0; for (int i = 0; i < bits; i++) r = r << 1 | (U(x) >> i & 1); return T(r); }
SHADER_BIT_COUNTS(char, uchar, 8) SHADER_BIT_COUNTS(uchar, uchar, 8) SHADER_BIT_COUNTS(short, ushort, 16)
SHADER_BIT_COUNTS(ushort, ushort, 16) SHADER_BIT_COUNTS(int, uint, 32) SHADER_BIT_COUNTS(uint, uint, 32)
SHADER_BIT_COUNTS(long, ulong, 64) SHADER_BIT_COUNTS(ulong, ulong, 64)
#undef SHADER_BIT_COUNTS
#define SHADER_INTEGER template <class T, class = typename shader::when<shader::plain<T>::integer>::type> inline
// The next wider integers, and those without a sign.
template <class T> struct shader_wide { typedef __int128 type; };
template <> struct shader_wide<ulong> { typedef unsigned __int128 type; };
SHADER_INTEGER T shader_clamped(typename shader_wide<T>::type x) {
  const typename shader_wide<T>::type low = numeric_limits<T>::min(), high = numeric_limits<T>::max();
  return T(x < low ? low : x > high ? high : x);
}
SHADER_INTEGER T rotate(T x, T n) {
  typedef make_unsigned_t<T> U;
  const uint bits = sizeof(T) * 8, by = uint(n) % bits;
  return by ? T(U(x) << by | U(x) >> (bits - by)) : x;
}
SHADER_INTEGER make_unsigned_t<T> absdiff(T x, T y) { typedef make_unsigned_t<T> U; return x > y ? U(U(x) - U(y)) : U(U(y) - U(x)); }
SHADER_INTEGER T addsat(T x, T y) { T r; return __builtin_add_overflow(x, y, &r) ? (x > 0 ? numeric_limits<T>::max() : numeric_limits<T>::min()) : r; }
SHADER_INTEGER T subsat(T x, T y) { T r; return __builtin_sub_overflow(x, y, &r) ? (y > 0 ? numeric_limits<T>::min() : numeric_limits<T>::max()) : r; }
SHADER_INTEGER T hadd(T x, T y) { return T((typename shader_wide<T>::type(x) + y) >> 1); }
SHADER_INTEGER T rhadd(T x, T y) { return T((typename shader_wide<T>::type(x) + y + 1) >> 1); }
SHADER_INTEGER T madhi(T x, T y, T z) { return T(mulhi(x, y) + z); }
SHADER_INTEGER T madsat(T x, T y, T z) { return shader_clamped<T>(typename shader_wide<T>::type(x) * y + z); }
SHADER_INTEGER T extract_bits(T x, uint offset, uint n) {
  const uint bits = sizeof(T) * 8;
  typedef make_unsigned_t<T> U;
  return n == 0 ? T(0) : T(T(U(x) << (bits - offset - n)) >> (bits - n)); // a signed one keeps the sign of its highest bit
}
SHADER_INTEGER T insert_bits(T x, T y, uint offset, uint n) {
  typedef make_unsigned_t<T> U;
  const U mask = n == sizeof(T) * 8 ? U(~U(0)) : U(U(U(U(1) << n) - 1) << offset);
  return T((U(x) & ~mask) | (U(U(y) << offset) & mask));
}
SHADER_INTEGER T mul24(T x, T y) { return x * y; }
SHADER_INTEGER T mad24(T x, T y, T z) { return x * y + z; }
#undef SHADER_INTEGER
SHADER_VECTOR1(popcount) SHADER_VECTOR1(clz) SHADER_VECTOR1(ctz) SHADER_VECTOR1(reverse_bits)
SHADER_VECTOR2(mulhi) SHADER_VECTOR2(rotate) SHADER_VECTOR2(absdiff) SHADER_VECTOR2(addsat) SHADER_VECTOR2(subsat) SHADER_VECTOR2(hadd) SHADER_VECTOR2(rhadd)
SHADER_VECTOR3(madhi) SHADER_VECTOR3(madsat)

#undef SHADER_EXACT1
#undef SHADER_EXACT2
#undef SHADER_WITHIN1
#undef SHADER_WITHIN2
#undef SHADER_BFLOAT1
#undef SHADER_BFLOAT2
#undef SHADER_VECTOR1
#undef SHADER_VECTOR2
#undef SHADER_VECTOR3

// What is the same in both.
#define SHADER_SAME                                                                                                              \
  using metal::floor; using metal::ceil; using metal::trunc; using metal::round; using metal::rint; using metal::fabs;           \
  using metal::fmin; using metal::fmax; using metal::min; using metal::max; using metal::clamp; using metal::fma; using metal::abs; \
  using metal::sign; using metal::fract; using metal::saturate;
namespace precise {
SHADER_SAME
inline float sincos(float x, float &c) { c = cos(x); return sin(x); }
}  // namespace precise
namespace fast {
SHADER_SAME
inline float sincos(float x, float &c) { c = cos(x); return sin(x); }
}  // namespace fast
#undef SHADER_SAME

}  // namespace metal
