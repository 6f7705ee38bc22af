/*
 * types.h - scalars, vectors and packed vectors (sections 2.1 to 2.3 of the specification).
 *
 * half and bfloat are classes that compute in float and round once after each operation, which is what
 * their arithmetic is: float has more than twice their digits.
 */
#pragma once

// Where what a kernel does is counted (FAKEMETAL_COUNT=1), a function of the library is one instruction, and a
// vector is moved by one access; else the compiler may take both apart.
#ifdef SHADER_COUNT
#define SHADER_ONE __attribute__((noinline)) inline
extern "C" void shader_move(void *to, const void *from, unsigned long size);
#else
#define SHADER_ONE inline
#endif

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef signed char int8_t;
typedef unsigned char uint8_t;
typedef short int16_t;
typedef unsigned short uint16_t;
typedef int int32_t;
typedef unsigned int uint32_t;
typedef long int64_t;
typedef unsigned long uint64_t;
typedef __SIZE_TYPE__ size_t;
typedef __PTRDIFF_TYPE__ ptrdiff_t;
typedef unsigned long uintptr_t;

#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define HUGE_VALF __builtin_inff()
#define MAXFLOAT __FLT_MAX__
#define FLT_MAX __FLT_MAX__
#define FLT_MIN __FLT_MIN__
#define FLT_EPSILON __FLT_EPSILON__
#define FLT_DIG __FLT_DIG__
#define FLT_MANT_DIG __FLT_MANT_DIG__
#define HALF_MAX half(65504.0f)
#define HALF_MIN half(0x1p-14f)
#define HALF_EPSILON half(0x1p-10f)
#define MAXHALF HALF_MAX
#define CHAR_BIT 8
#define CHAR_MAX 127
#define CHAR_MIN (-128)
#define UCHAR_MAX 255
#define SHRT_MAX 32767
#define SHRT_MIN (-32768)
#define USHRT_MAX 65535
#define INT_MAX __INT_MAX__
#define INT_MIN (-__INT_MAX__ - 1)
#define UINT_MAX (2u * __INT_MAX__ + 1u)
#define LONG_MAX __LONG_MAX__
#define LONG_MIN (-__LONG_MAX__ - 1l)
#define ULONG_MAX (2ul * __LONG_MAX__ + 1ul)
#define M_PI_F 3.14159265358979323846f
#define M_PI_2_F 1.57079632679489661923f
#define M_PI_4_F 0.785398163397448309616f
#define M_1_PI_F 0.318309886183790671538f
#define M_2_PI_F 0.636619772367581343076f
#define M_E_F 2.71828182845904523536f
#define M_LN2_F 0.693147180559945309417f
#define M_LN10_F 2.30258509299404568402f
#define M_LOG2E_F 1.44269504088896340736f
#define M_LOG10E_F 0.434294481903251827651f
#define M_SQRT2_F 1.41421356237309504880f
#define M_SQRT1_2_F 0.707106781186547524401f
#define M_2_SQRTPI_F 1.12837916709551257390f
#define M_PI_H half(3.14159265358979323846f)
#define M_PI_2_H half(1.57079632679489661923f)
#define M_PI_4_H half(0.785398163397448309616f)
#define M_E_H half(2.71828182845904523536f)
#define M_LN2_H half(0.693147180559945309417f)
#define M_SQRT2_H half(1.41421356237309504880f)
#define M_SQRT1_2_H half(0.707106781186547524401f)

namespace shader {

inline uint bits_of(float x) { return __builtin_bit_cast(uint, x); }
inline float float_of(uint x) { return __builtin_bit_cast(float, x); }

// To binary16, to nearest, ties to even.
SHADER_ONE ushort narrow_half(float x) {
  uint u = bits_of(x), sign = u >> 16 & 0x8000;
  u &= 0x7fffffff;
  if (u > 0x7f800000) return sign | 0x7e00;
  if (u >= 0x477ff000) return sign | 0x7c00;
  if (u >= 0x38800000) return sign | ((u + 0xfff + (u >> 13 & 1) - 0x38000000) >> 13);
  // Subnormal: adding this lets the hardware round at the right place.
  return sign | (bits_of(float_of(u) + 0.5f) - 0x3f000000);
}

SHADER_ONE float widen_half(ushort h) {
  uint sign = uint(h & 0x8000) << 16, u = h & 0x7fff;
  if (u >= 0x7c00) return float_of(sign | 0x7f800000 | (u & 0x3ff) << 13);
  if (u >= 0x0400) return float_of(sign | ((u << 13) + 0x38000000));
  return float_of(sign | bits_of(float(u) * 0x1p-24f));
}

SHADER_ONE ushort narrow_bfloat(float x) {
  uint u = bits_of(x);
  if ((u & 0x7fffffff) > 0x7f800000) return u >> 16 | 0x40;
  return (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

SHADER_ONE float widen_bfloat(ushort b) { return float_of(uint(b) << 16); }

template <class A, class B> struct same { static constexpr bool value = false; };
template <class A> struct same<A, A> { static constexpr bool value = true; };
template <bool B, class T = void> struct when {};
template <class T> struct when<true, T> { typedef T type; };
template <class T> struct as { typedef T type; }; // a type that no argument of a function decides
template <class T> struct plain { static constexpr bool value = false, integer = false; };
#define SHADER_PLAIN(T, I) template <> struct plain<T> { static constexpr bool value = true, integer = I; };
SHADER_PLAIN(bool, true) SHADER_PLAIN(char, true) SHADER_PLAIN(int8_t, true) SHADER_PLAIN(uchar, true)
SHADER_PLAIN(short, true) SHADER_PLAIN(ushort, true) SHADER_PLAIN(int, true) SHADER_PLAIN(uint, true)
SHADER_PLAIN(long, true) SHADER_PLAIN(ulong, true) SHADER_PLAIN(float, false)
SHADER_PLAIN(long long, true) SHADER_PLAIN(unsigned long long, true)
#undef SHADER_PLAIN

// A float of 16 bits, in one of two forms.
template <ushort (*narrow)(float), float (*widen)(ushort)> struct small_float {
  ushort bits;
  small_float() = default;
  template <class T, class = typename when<plain<T>::value>::type> small_float(T x) : bits(narrow(float(x))) {}
  operator float() const { return widen(bits); }
  template <class T, class = typename when<plain<T>::value && !same<T, float>::value>::type>
  explicit operator T() const { return T(widen(bits)); }
  small_float operator-() const { small_float r; r.bits = bits ^ 0x8000; return r; }
  small_float operator+() const { return *this; }
  template <class T> small_float &operator+=(T x) { return *this = small_float(float(*this) + float(x)); }
  template <class T> small_float &operator-=(T x) { return *this = small_float(float(*this) - float(x)); }
  template <class T> small_float &operator*=(T x) { return *this = small_float(float(*this) * float(x)); }
  template <class T> small_float &operator/=(T x) { return *this = small_float(float(*this) / float(x)); }
};

}  // namespace shader

typedef shader::small_float<shader::narrow_half, shader::widen_half> half;
#if __METAL_VERSION__ >= 310
typedef shader::small_float<shader::narrow_bfloat, shader::widen_bfloat> bfloat;
#endif

namespace shader {

template <class T> struct is_small { static constexpr bool value = false; };
template <ushort (*n)(float), float (*w)(ushort)> struct is_small<small_float<n, w>> { static constexpr bool value = true; };
template <class T> struct scalar { static constexpr bool value = plain<T>::value || is_small<T>::value; };

// What an operation of two scalars gives where one at least is small: it stays small beside itself and
// beside integers, and becomes float beside anything else.
template <class A, class B> struct mixed { typedef float type; };
template <class A> struct mixed<A, A> { typedef A type; };
template <class A, class B, bool small> struct beside { typedef float type; };
template <class A, class B> struct beside<A, B, true> { typedef A type; };
template <ushort (*n)(float), float (*w)(ushort), class B> struct mixed<small_float<n, w>, B> {
  typedef typename beside<small_float<n, w>, B, plain<B>::integer>::type type;
};
template <class A, ushort (*n)(float), float (*w)(ushort)> struct mixed<A, small_float<n, w>> {
  typedef typename beside<small_float<n, w>, A, plain<A>::integer>::type type;
};
template <ushort (*n)(float), float (*w)(ushort)> struct mixed<small_float<n, w>, small_float<n, w>> { typedef small_float<n, w> type; };

template <class A, class B> struct one_small {
  static constexpr bool value = (is_small<A>::value && scalar<B>::value) || (is_small<B>::value && scalar<A>::value);
};

}  // namespace shader

#define SHADER_ARITHMETIC(op)                                                                                   \
  template <class A, class B, class = typename shader::when<shader::one_small<A, B>::value>::type>              \
  inline typename shader::mixed<A, B>::type operator op(A a, B b) {                                             \
    return typename shader::mixed<A, B>::type(float(a) op float(b));                                            \
  }
#define SHADER_COMPARISON(op)                                                                                   \
  template <class A, class B, class = typename shader::when<shader::one_small<A, B>::value>::type>              \
  inline bool operator op(A a, B b) { return float(a) op float(b); }
SHADER_ARITHMETIC(+) SHADER_ARITHMETIC(-) SHADER_ARITHMETIC(*) SHADER_ARITHMETIC(/)
SHADER_COMPARISON(==) SHADER_COMPARISON(!=) SHADER_COMPARISON(<) SHADER_COMPARISON(<=) SHADER_COMPARISON(>) SHADER_COMPARISON(>=)
#undef SHADER_ARITHMETIC
#undef SHADER_COMPARISON

namespace metal {

template <class T, int N> struct vec;

}  // namespace metal

namespace shader {

template <int I, int... J> constexpr bool differ() { return ((I != J) && ...); }
template <int I> constexpr bool all_differ() { return true; }
template <int I, int J, int... K> constexpr bool all_differ() { return differ<I, J, K...>() && all_differ<J, K...>(); }

// Some components of a vector, to be assigned to: v.zx = w. shader_source.c writes v.zx as a call of shader_set there, and of
// shader_get elsewhere.
template <class T, int... I> struct chosen {
  typedef metal::vec<T, sizeof...(I)> whole;
  static_assert(all_differ<I...>(), "a component is assigned to twice");
  T *v;
  operator whole() const { return whole(v[I]...); }
  const chosen &operator=(const whole &x) const {
    int n = 0;
    ((v[I] = x[n++]), ...);
    return *this;
  }
#define SHADER_ASSIGNS(op) template <class B> const chosen &operator op##=(const B &b) const { return *this = whole(*this) op b; }
  SHADER_ASSIGNS(+) SHADER_ASSIGNS(-) SHADER_ASSIGNS(*) SHADER_ASSIGNS(/) SHADER_ASSIGNS(%) SHADER_ASSIGNS(&) SHADER_ASSIGNS(|) SHADER_ASSIGNS(^)
  SHADER_ASSIGNS(<<) SHADER_ASSIGNS(>>)
#undef SHADER_ASSIGNS
};

// The components of a type that has n of them in v.
#define SHADER_CHOICE(T, n)                                                             \
  template <int... I> metal::vec<T, sizeof...(I)> shader_get() const {                  \
    static_assert(((I < n) && ...), "a vector has fewer components");                   \
    return metal::vec<T, sizeof...(I)>(v[I]...);                                        \
  }                                                                                     \
  template <int... I> shader::chosen<T, I...> shader_set() {                            \
    static_assert(((I < n) && ...), "a vector has fewer components");                   \
    return {v};                                                                         \
  }

}  // namespace shader

#ifdef SHADER_COUNT
#define SHADER_MOVE() shader_move(this, &o, sizeof o)
#define SHADER_MOVES(type, first, step)     \
  type(const type &o) { SHADER_MOVE(); } \
  type &operator=(const type &o) { SHADER_MOVE(); return *this; }
#else
#define SHADER_MOVES(type, first, step)          \
  constexpr type(const type &o) : first {} \
  type &operator=(const type &o) { step; return *this; }
#endif
#define SHADER_THREE x(o.x), y(o.y), z(o.z)
#define SHADER_FOUR SHADER_THREE, w(o.w)

namespace metal {

// A vector as a part of a longer one. A scalar is none: the parts of a constructor have as many elements as the vector.
template <class T, int N> struct shader_part {
  vec<T, N> v;
  constexpr shader_part(const vec<T, N> &o) : v(o) {}
};

template <class T> struct alignas(2 * sizeof(T)) vec<T, 2> {
  union {
    struct { T x, y; };
    struct { T r, g; };
    T v[2];
  };
  vec() = default;
  constexpr vec(T s) : x(s), y(s) {}
  constexpr vec(T a, T b) : x(a), y(b) {}
#ifdef SHADER_COUNT
  SHADER_MOVES(vec, , )
#endif
  template <class U> constexpr explicit vec(const vec<U, 2> &o) : x(T(o.x)), y(T(o.y)) {}
  T &operator[](int i) { return v[i]; }
  const T &operator[](int i) const { return v[i]; }
  SHADER_CHOICE(T, 2)
};

template <class T> struct alignas(4 * sizeof(T)) vec<T, 3> {
  union {
    struct { T x, y, z; };
    struct { T r, g, b; };
    T v[3];
  };
  vec() = default;
  constexpr vec(T s) : x(s), y(s), z(s) {}
  constexpr vec(T a, T b, T c) : x(a), y(b), z(c) {}
  constexpr vec(const shader_part<T, 2> &a, T c) : x(a.v.x), y(a.v.y), z(c) {}
  constexpr vec(T a, const shader_part<T, 2> &b) : x(a), y(b.v.x), z(b.v.y) {}
  SHADER_MOVES(vec, SHADER_THREE, (x = o.x, y = o.y, z = o.z))
  template <class U> constexpr explicit vec(const vec<U, 3> &o) : x(T(o.x)), y(T(o.y)), z(T(o.z)) {}
  SHADER_CHOICE(T, 3)
  T &operator[](int i) { return v[i]; }
  const T &operator[](int i) const { return v[i]; }
};

template <class T> struct alignas(4 * sizeof(T)) vec<T, 4> {
  union {
    struct { T x, y, z, w; };
    struct { T r, g, b, a; };
    T v[4];
  };
  vec() = default;
  constexpr vec(T s) : x(s), y(s), z(s), w(s) {}
  constexpr vec(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
  constexpr vec(const shader_part<T, 2> &a, T c, T d) : x(a.v.x), y(a.v.y), z(c), w(d) {}
  constexpr vec(T a, const shader_part<T, 2> &b, T d) : x(a), y(b.v.x), z(b.v.y), w(d) {}
  constexpr vec(T a, T b, const shader_part<T, 2> &c) : x(a), y(b), z(c.v.x), w(c.v.y) {}
  constexpr vec(const shader_part<T, 2> &a, const shader_part<T, 2> &b) : x(a.v.x), y(a.v.y), z(b.v.x), w(b.v.y) {}
  constexpr vec(const shader_part<T, 3> &a, T d) : x(a.v.x), y(a.v.y), z(a.v.z), w(d) {}
  constexpr vec(T a, const shader_part<T, 3> &b) : x(a), y(b.v.x), z(b.v.y), w(b.v.z) {}
  SHADER_MOVES(vec, SHADER_FOUR, (x = o.x, y = o.y, z = o.z, w = o.w))
  template <class U> constexpr explicit vec(const vec<U, 4> &o) : x(T(o.x)), y(T(o.y)), z(T(o.z)), w(T(o.w)) {}
  SHADER_CHOICE(T, 4)
  T &operator[](int i) { return v[i]; }
  const T &operator[](int i) const { return v[i]; }
};

// As many elements without padding, aligned as one element is.
template <class T, int N> struct shader_packed;
template <class T> struct shader_packed<T, 2> { union { struct { T x, y; }; struct { T r, g; }; T v[2]; }; };
template <class T> struct shader_packed<T, 3> { union { struct { T x, y, z; }; struct { T r, g, b; }; T v[3]; }; };
template <class T> struct shader_packed<T, 4> { union { struct { T x, y, z, w; }; struct { T r, g, b, a; }; T v[4]; }; };
template <class T, int N> struct packed_vec : shader_packed<T, N> {
  using shader_packed<T, N>::v;
  packed_vec() = default;
  packed_vec(const vec<T, N> &o) { for (int i = 0; i < N; i++) v[i] = o[i]; }
  explicit packed_vec(T s) : packed_vec(vec<T, N>(s)) {}
  template <class A, class B, class... C> packed_vec(const A &a, const B &b, const C &...c) : packed_vec(vec<T, N>(a, b, c...)) {}
#ifdef SHADER_COUNT
  packed_vec(const packed_vec &o) { SHADER_MOVE(); }
  packed_vec &operator=(const packed_vec &o) { SHADER_MOVE(); return *this; }
  operator vec<T, N>() const { vec<T, N> r; shader_move(&r, v, sizeof v); return r; }
#else
  operator vec<T, N>() const { vec<T, N> r; for (int i = 0; i < N; i++) r[i] = v[i]; return r; }
#endif
  SHADER_CHOICE(T, N)
  T &operator[](int i) { return v[i]; }
  const T &operator[](int i) const { return v[i]; }
#define SHADER_ASSIGNS(op) template <class B> packed_vec &operator op##=(const B &b) { return *this = vec<T, N>(*this) op b; }
  SHADER_ASSIGNS(+) SHADER_ASSIGNS(-) SHADER_ASSIGNS(*) SHADER_ASSIGNS(/)
#undef SHADER_ASSIGNS
};

#define SHADER_OPERATOR(op)                                                                                        \
  template <class T, int N> inline auto operator op(const vec<T, N> &a, const vec<T, N> &b) {                      \
    vec<T, N> r; for (int i = 0; i < N; i++) r[i] = T(a[i] op b[i]); return r; }                                   \
  template <class T, int N, class S, class = typename shader::when<shader::scalar<S>::value>::type>                \
  inline auto operator op(const vec<T, N> &a, S s) { return a op vec<T, N>(T(s)); }                                \
  template <class T, int N, class S, class = typename shader::when<shader::scalar<S>::value>::type>                \
  inline auto operator op(S s, const vec<T, N> &b) { return vec<T, N>(T(s)) op b; }                                \
  template <class T, int N, class B> inline vec<T, N> &operator op##=(vec<T, N> &a, const B &b) { return a = a op b; }
SHADER_OPERATOR(+) SHADER_OPERATOR(-) SHADER_OPERATOR(*) SHADER_OPERATOR(/) SHADER_OPERATOR(%)
SHADER_OPERATOR(&) SHADER_OPERATOR(|) SHADER_OPERATOR(^) SHADER_OPERATOR(<<) SHADER_OPERATOR(>>)
#undef SHADER_OPERATOR

// Of vectors without padding, as of those that they become.
#define SHADER_PACKED(op)                                                                                          \
  template <class T, int N, class B> inline auto operator op(const packed_vec<T, N> &a, const B &b) { return vec<T, N>(a) op b; } \
  template <class T, int N, int M> inline auto operator op(const vec<T, N> &a, const packed_vec<T, M> &b) { return a op vec<T, M>(b); } \
  template <class T, int N, class S, class = typename shader::when<shader::scalar<S>::value>::type>                \
  inline auto operator op(S s, const packed_vec<T, N> &b) { return s op vec<T, N>(b); }
SHADER_PACKED(+) SHADER_PACKED(-) SHADER_PACKED(*) SHADER_PACKED(/)
#undef SHADER_PACKED

#define SHADER_RELATION(op)                                                                                        \
  template <class T, int N> inline vec<bool, N> operator op(const vec<T, N> &a, const vec<T, N> &b) {              \
    vec<bool, N> r; for (int i = 0; i < N; i++) r[i] = a[i] op b[i]; return r; }                                   \
  template <class T, int N, class S, class = typename shader::when<shader::scalar<S>::value>::type>                \
  inline vec<bool, N> operator op(const vec<T, N> &a, S s) { return a op vec<T, N>(T(s)); }                        \
  template <class T, int N, class S, class = typename shader::when<shader::scalar<S>::value>::type>                \
  inline vec<bool, N> operator op(S s, const vec<T, N> &b) { return vec<T, N>(T(s)) op b; }
SHADER_RELATION(==) SHADER_RELATION(!=) SHADER_RELATION(<) SHADER_RELATION(<=) SHADER_RELATION(>) SHADER_RELATION(>=)
SHADER_RELATION(&&) SHADER_RELATION(||)
#undef SHADER_RELATION

template <class T, int N> inline vec<T, N> operator-(const vec<T, N> &a) { vec<T, N> r; for (int i = 0; i < N; i++) r[i] = -a[i]; return r; }
template <class T, int N> inline vec<T, N> operator~(const vec<T, N> &a) { vec<T, N> r; for (int i = 0; i < N; i++) r[i] = ~a[i]; return r; }
template <class T, int N> inline vec<bool, N> operator!(const vec<T, N> &a) { vec<bool, N> r; for (int i = 0; i < N; i++) r[i] = !a[i]; return r; }

template <class To, class From> inline To as_type(From x) {
  static_assert(sizeof(To) == sizeof(From), "as_type wants types of one size");
  To r;
  __builtin_memcpy(&r, &x, sizeof r);
  return r;
}

template <class T> struct numeric_limits;
#define SHADER_INTEGER_LIMITS(T, low, high)                                                                        \
  template <> struct numeric_limits<T> {                                                                           \
    static constexpr T min() { return low; }                                                                       \
    static constexpr T max() { return high; }                                                                      \
    static constexpr T lowest() { return low; }                                                                    \
    static constexpr bool is_specialized = true, is_integer = true, is_exact = true, is_signed = low != 0, has_infinity = false, has_quiet_NaN = false; \
    static constexpr int digits = sizeof(T) == 1 && high == 1 ? 1 : sizeof(T) * 8 - is_signed;                     \
  };
SHADER_INTEGER_LIMITS(bool, false, true)
SHADER_INTEGER_LIMITS(char, -128, 127)
SHADER_INTEGER_LIMITS(int8_t, -128, 127)
SHADER_INTEGER_LIMITS(uchar, 0, 255)
SHADER_INTEGER_LIMITS(short, -32768, 32767)
SHADER_INTEGER_LIMITS(ushort, 0, 65535)
SHADER_INTEGER_LIMITS(int, INT_MIN, INT_MAX)
SHADER_INTEGER_LIMITS(uint, 0, UINT_MAX)
SHADER_INTEGER_LIMITS(long, LONG_MIN, LONG_MAX)
SHADER_INTEGER_LIMITS(ulong, 0, 2ul * LONG_MAX + 1)
#undef SHADER_INTEGER_LIMITS
template <> struct numeric_limits<float> {
  static constexpr float min() { return FLT_MIN; }
  static constexpr float max() { return FLT_MAX; }
  static constexpr float lowest() { return -FLT_MAX; }
  static constexpr float epsilon() { return FLT_EPSILON; }
  static constexpr float infinity() { return INFINITY; }
  static constexpr float quiet_NaN() { return NAN; }
  static constexpr float signaling_NaN() { return __builtin_nansf(""); }
  static constexpr float denorm_min() { return __FLT_DENORM_MIN__; }
  static constexpr bool is_specialized = true, is_integer = false, is_exact = false, is_signed = true, has_infinity = true, has_quiet_NaN = true;
  static constexpr int digits = 24;
};
template <> struct numeric_limits<half> {
  static half min() { return half(0x1p-14f); }
  static half max() { return half(65504.0f); }
  static half lowest() { return half(-65504.0f); }
  static half epsilon() { return half(0x1p-10f); }
  static half infinity() { return half(INFINITY); }
  static half quiet_NaN() { return half(NAN); }
  static half signaling_NaN() { return half(NAN); }
  static half denorm_min() { return half(0x1p-24f); }
  static constexpr bool is_specialized = true, is_integer = false, is_exact = false, is_signed = true, has_infinity = true, has_quiet_NaN = true;
  static constexpr int digits = 11;
};

}  // namespace metal

#define SHADER_VECTORS(T, name)                                                                                    \
  typedef metal::vec<T, 2> name##2;                                                                                \
  typedef metal::vec<T, 3> name##3;                                                                                \
  typedef metal::vec<T, 4> name##4;                                                                                \
  typedef metal::packed_vec<T, 2> packed_##name##2;                                                                \
  typedef metal::packed_vec<T, 3> packed_##name##3;                                                                \
  typedef metal::packed_vec<T, 4> packed_##name##4;                                                                \
  namespace metal {                                                                                                \
  using ::name##2; using ::name##3; using ::name##4; using ::packed_##name##2; using ::packed_##name##3; using ::packed_##name##4; \
  }
SHADER_VECTORS(bool, bool) SHADER_VECTORS(char, char) SHADER_VECTORS(uchar, uchar) SHADER_VECTORS(short, short)
SHADER_VECTORS(ushort, ushort) SHADER_VECTORS(int, int) SHADER_VECTORS(uint, uint) SHADER_VECTORS(long, long)
SHADER_VECTORS(ulong, ulong) SHADER_VECTORS(float, float) SHADER_VECTORS(half, half)
#if __METAL_VERSION__ >= 310
SHADER_VECTORS(bfloat, bfloat)
#endif
#undef SHADER_VECTORS

using metal::as_type; // a keyword of the language, known without its namespace

namespace metal {
using ::uchar; using ::ushort; using ::uint; using ::ulong; using ::size_t; using ::ptrdiff_t; using ::int8_t; using ::uint8_t;
using ::int16_t; using ::uint16_t; using ::int32_t; using ::uint32_t; using ::int64_t; using ::uint64_t;
}  // namespace metal

// See traits.h.
#define METAL_CONSTANT static constexpr
#define METAL_VALUE constexpr
#define METAL_PLAIN(T) T
#if __METAL_VERSION__ >= 310
#define METAL_BFLOAT
#endif
