/*
 * strict.h - calls that C++ takes and Metal does not, because there each function has an overload for each type: an
 * integer is no nearer to half than to float, and of two types neither is nearer than the other.
 */
#pragma once

namespace metal {

#define SHADER_AMBIGUOUS1(name) \
  template <class T, class = typename shader::when<shader::plain<T>::integer>::type> T name(T) = delete;
SHADER_AMBIGUOUS1(exp) SHADER_AMBIGUOUS1(exp2) SHADER_AMBIGUOUS1(exp10) SHADER_AMBIGUOUS1(log) SHADER_AMBIGUOUS1(log2)
SHADER_AMBIGUOUS1(log10) SHADER_AMBIGUOUS1(sin) SHADER_AMBIGUOUS1(cos) SHADER_AMBIGUOUS1(tan) SHADER_AMBIGUOUS1(sinpi)
SHADER_AMBIGUOUS1(cospi) SHADER_AMBIGUOUS1(asin) SHADER_AMBIGUOUS1(acos) SHADER_AMBIGUOUS1(atan) SHADER_AMBIGUOUS1(sinh)
SHADER_AMBIGUOUS1(cosh) SHADER_AMBIGUOUS1(tanh) SHADER_AMBIGUOUS1(asinh) SHADER_AMBIGUOUS1(acosh) SHADER_AMBIGUOUS1(atanh)
SHADER_AMBIGUOUS1(sqrt) SHADER_AMBIGUOUS1(rsqrt) SHADER_AMBIGUOUS1(floor) SHADER_AMBIGUOUS1(ceil) SHADER_AMBIGUOUS1(trunc)
SHADER_AMBIGUOUS1(round) SHADER_AMBIGUOUS1(rint) SHADER_AMBIGUOUS1(fabs) SHADER_AMBIGUOUS1(fract) SHADER_AMBIGUOUS1(sign)
SHADER_AMBIGUOUS1(isnan) SHADER_AMBIGUOUS1(isinf) SHADER_AMBIGUOUS1(isfinite)
#undef SHADER_AMBIGUOUS1

// char and signed char are one type there.
template <class A, class B> struct shader_differ { static constexpr bool value = shader::scalar<A>::value && shader::scalar<B>::value; };
template <class A> struct shader_differ<A, A> { static constexpr bool value = false; };
template <> struct shader_differ<char, signed char> { static constexpr bool value = false; };
template <> struct shader_differ<signed char, char> { static constexpr bool value = false; };
template <class A, class B, class = typename shader::when<shader_differ<A, B>::value>::type> A min(A, B) = delete;
template <class A, class B, class = typename shader::when<shader_differ<A, B>::value>::type> A max(A, B) = delete;

}  // namespace metal
