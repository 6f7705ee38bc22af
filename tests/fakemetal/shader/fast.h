/*
 * fast.h - the functions of fast::, with the errors that table 8.2 of the specification allows.
 *
 * Where the table gives a formula, that is what is computed, one rounding after the other; where it gives
 * an error, the result is off by all of it, up or down as its bits fall. Beyond [-pi, pi] the table says
 * only that sine and cosine are worse there: the argument is reduced in float. Without
 * FAKEMETAL_FAST_FUNCTIONS these functions are those of precise::. Included by math.h.
 */

#define SHADER_FAST1(of)                                                                                  \
  of(exp) of(exp2) of(exp10) of(log) of(log2) of(log10) of(sin) of(cos) of(tan) of(sinpi) of(cospi)       \
  of(asin) of(acos) of(atan) of(sinh) of(cosh) of(tanh) of(asinh) of(acosh) of(atanh) of(sqrt) of(rsqrt)
#define SHADER_FAST2(of) of(pow) of(powr) of(atan2) of(fmod)

namespace fast_formulas {
using shader::moved_by;

// An exact result, off by an absolute error.
inline float off(double exact, double error) {
  return float(exact + ((shader::bits_of(float(exact)) * 2654435761u >> 31) != 0 ? error : -error));
}
inline int steps(int least, float x) { return least + int(shader::min_of(__builtin_floorf(__builtin_fabsf(2 * x)), 1000)); }
inline float turned(float x) {
  const float turn = 6.2831855f;
  return __builtin_fabsf(x) <= 3.1415927f ? x : x - turn * __builtin_rintf(x / turn);
}
inline bool near_one(float x) { return x >= 0.5f && x <= 2; }

inline float exp(float x) { return moved_by(__builtin_exp(double(x)), steps(3, x)); }
inline float exp2(float x) { return moved_by(__builtin_exp2(double(x)), steps(3, x)); }
inline float exp10(float x) { return exp2(x * 3.32192809f); }
inline float log(float x) { return near_one(x) ? off(__builtin_log(double(x)), 0x1p-21) : moved_by(__builtin_log(double(x)), 3); }
inline float log2(float x) { return near_one(x) ? off(__builtin_log2(double(x)), 0x1p-21) : moved_by(__builtin_log2(double(x)), 3); }
inline float log10(float x) { return log2(x) * 0.301029996f; }
inline float sin(float x) { return off(__builtin_sin(double(turned(x))), 0x1p-13); }
inline float cos(float x) { return off(__builtin_cos(double(turned(x))), 0x1p-13); }
inline float tan(float x) { return sin(x) * (1 / cos(x)); }
inline float sinpi(float x) { return off(precise::sinpi(x), 0x1p-13); }
inline float cospi(float x) { return off(precise::cospi(x), 0x1p-13); }
inline float asin(float x) { return moved_by(__builtin_asin(double(x)), 5); }
inline float acos(float x) { return moved_by(__builtin_acos(double(x)), 5); }
inline float atan(float x) { return moved_by(__builtin_atan(double(x)), 5); }
inline float sinh(float x) { return 0.5f * (exp(x) - exp(-x)); }
inline float cosh(float x) { return 0.5f * (exp(x) + exp(-x)); }
inline float tanh(float x) {
  float t = exp(2 * x);
  return (t - 1) / (t + 1);
}
inline float rsqrt(float x) { return moved_by(1 / __builtin_sqrt(double(x)), 2); }
inline float sqrt(float x) { return x == 0 || x == __builtin_inff() ? x : x * rsqrt(x); }
inline float asinh(float x) { return log(x + sqrt(x * x + 1)); }
inline float acosh(float x) { return log(x + sqrt(x * x - 1)); }
inline float atanh(float x) { return 0.5f * (log(1 + x) - log(1 - x)); }
inline float pow(float x, float y) { return exp2(y * log2(x)); }
inline float powr(float x, float y) { return exp2(y * log2(x)); }
inline float atan2(float y, float x) { return moved_by(__builtin_atan2(double(y), double(x)), 6); }
inline float fmod(float x, float y) { return shader::naive_rest(x, y); }
}  // namespace fast_formulas

namespace fast {
#define SHADER_QUICK1(name)                                                                                      \
  SHADER_ONE float name(float x) { return shader::serve.inexact_fast ? fast_formulas::name(x) : precise::name(x); } \
  inline half name(half x) { return precise::name(x); }                                                         \
  SHADER_BFLOAT1(name) SHADER_VECTOR1(name)
#define SHADER_QUICK2(name)                                                                                                     \
  SHADER_ONE float name(float x, float y) { return shader::serve.inexact_fast ? fast_formulas::name(x, y) : precise::name(x, y); } \
  inline half name(half x, half y) { return precise::name(x, y); }                                                             \
  SHADER_BFLOAT2(name) SHADER_VECTOR2(name)
SHADER_FAST1(SHADER_QUICK1)
SHADER_FAST2(SHADER_QUICK2)
#undef SHADER_QUICK1
#undef SHADER_QUICK2
}  // namespace fast
