/*
 * divide.h - division of unsigned integers as a GPU has been seen to do it, for FAKEMETAL_DIVISION.
 *
 * HigherOrderCO/Bend#824 reports 4294967294 % 3 = 4294967295 from an Apple GPU: a quotient that is one too
 * large. It is modelled for dividends that are 2^32 as a float, from 2^32 - 128 on. shader_source.c puts
 * `shader::divider() %` behind each operator of the source, so that its operands come here.
 */
#pragma once

namespace shader {

struct divider {};
template <class T> T make();

template <class A> struct dividend { const A &a; };
template <class B> struct divisor { const B &b; };

#define SHADER_HERE inline constexpr __attribute__((always_inline))

SHADER_HERE uint wrong_quotient(uint a, uint b) { return b == 0 ? 0 : a / b + (a >= 0xffffff80u && b > 1 && a % b != 0); }

template <class A, class B, bool is_uint> struct division {
  static SHADER_HERE auto quotient(const A &a, const B &b) { return a / b; }
  static SHADER_HERE auto rest(const A &a, const B &b) { return a % b; }
};
template <class A, class B> struct division<A, B, true> {
  static SHADER_HERE uint quotient(const A &a, const B &b) { return wrong_quotient(uint(a), uint(b)); }
  static SHADER_HERE uint rest(const A &a, const B &b) { return uint(a) - uint(b) * wrong_quotient(uint(a), uint(b)); }
};
template <class A, class B> using divided = division<A, B, same<decltype(make<A>() / make<B>()), uint>::value>;

template <class A> SHADER_HERE dividend<A> operator/(const A &a, divider) { return {a}; }
template <class A> SHADER_HERE dividend<A> operator%(const A &a, divider) { return {a}; }
template <class A, class B> SHADER_HERE auto operator/(dividend<A> x, const B &b) { return divided<A, B>::quotient(x.a, b); }
template <class A, class B> SHADER_HERE auto operator%(dividend<A> x, const B &b) { return divided<A, B>::rest(x.a, b); }
template <class B> SHADER_HERE divisor<B> operator/=(divider, const B &b) { return {b}; }
template <class B> SHADER_HERE divisor<B> operator%=(divider, const B &b) { return {b}; }
template <class A, class B> SHADER_HERE A &operator/=(A &a, divisor<B> y) { return a = A(divided<A, B>::quotient(a, y.b)); }
template <class A, class B> SHADER_HERE A &operator%=(A &a, divisor<B> y) { return a = A(divided<A, B>::rest(a, y.b)); }

#undef SHADER_HERE

}  // namespace shader
