/*
 * traits.h - templates of Metal's standard library that compute with types: those of <metal_type_traits>, with the
 * names and meanings of C++. The mock's compiler and the front end of tests/msl share it.
 *
 * METAL_PLAIN(T) is T without the address space that it is in, which is no part of a type in Metal's templates.
 * METAL_CONSTANT stands before a static member with a value: Metal keeps these in address space constant.
 */
#pragma once

namespace metal {

template <typename T, T v> struct integral_constant {
  METAL_CONSTANT T value = v;
  typedef T value_type;
  typedef integral_constant type;
  constexpr operator T() const { return v; }
};
template <bool b> using bool_constant = integral_constant<bool, b>;
typedef bool_constant<true> true_type;
typedef bool_constant<false> false_type;

template <bool B, typename T = void> struct enable_if {};
template <typename T> struct enable_if<true, T> { typedef T type; };
template <bool B, typename T, typename U> struct conditional { typedef T type; };
template <typename T, typename U> struct conditional<false, T, U> { typedef U type; };
template <typename...> using void_t = void;

template <typename T> struct remove_const { typedef T type; };
template <typename T> struct remove_const<const T> { typedef T type; };
template <typename T> struct remove_volatile { typedef T type; };
template <typename T> struct remove_volatile<volatile T> { typedef T type; };
template <typename T> struct remove_cv { typedef typename remove_volatile<typename remove_const<T>::type>::type type; };
template <typename T> struct remove_reference { typedef T type; };
template <typename T> struct remove_reference<T &> { typedef T type; };

template <typename A, typename B> struct is_same : bool_constant<__is_same(METAL_PLAIN(A), METAL_PLAIN(B))> {};
template <typename T> struct is_const : false_type {};
template <typename T> struct is_const<const T> : true_type {};
template <typename T> struct is_void : is_same<typename remove_cv<T>::type, void> {};
#ifdef __clang__ // which knows pointers to each address space
template <typename T> struct is_pointer : bool_constant<__is_pointer(T)> {};
#else
template <typename T> struct is_pointer : false_type {};
template <typename T> struct is_pointer<T *> : true_type {};
#endif
template <typename T> struct is_enum : bool_constant<__is_enum(T)> {};
template <typename T> struct is_union : bool_constant<__is_union(T)> {};
template <typename T> struct is_class : bool_constant<__is_class(T)> {};
template <typename T> struct is_empty : bool_constant<__is_empty(T)> {};

// Which scalars are integers, which have a sign, and which integer has as many bits without one, or with one.
template <typename T> struct metal_scalar { METAL_CONSTANT bool integral = false, floating = false, sign = false; };
#define METAL_SCALAR(T, i, s) template <> struct metal_scalar<T> { METAL_CONSTANT bool integral = i, floating = !i, sign = s; };
METAL_SCALAR(bool, true, false)
METAL_SCALAR(char, true, true)
METAL_SCALAR(signed char, true, true)
METAL_SCALAR(uchar, true, false)
METAL_SCALAR(short, true, true)
METAL_SCALAR(ushort, true, false)
METAL_SCALAR(int, true, true)
METAL_SCALAR(uint, true, false)
METAL_SCALAR(long, true, true)
METAL_SCALAR(ulong, true, false)
METAL_SCALAR(half, false, true)
METAL_SCALAR(float, false, true)
#ifdef METAL_BFLOAT
METAL_SCALAR(bfloat, false, true)
#endif
#undef METAL_SCALAR
template <typename T> struct is_integral : bool_constant<metal_scalar<typename remove_cv<METAL_PLAIN(T)>::type>::integral> {};
template <typename T> struct is_floating_point : bool_constant<metal_scalar<typename remove_cv<METAL_PLAIN(T)>::type>::floating> {};
template <typename T> struct is_arithmetic : bool_constant<is_integral<T>::value || is_floating_point<T>::value> {};
template <typename T> struct is_scalar : bool_constant<is_arithmetic<T>::value || __is_enum(T)> {};
template <typename T> struct is_signed : bool_constant<metal_scalar<typename remove_cv<METAL_PLAIN(T)>::type>::sign> {};
template <typename T> struct is_unsigned : bool_constant<is_integral<T>::value && !is_signed<T>::value> {};

template <typename T> struct make_unsigned;
template <typename T> struct make_signed;
#define METAL_SIGNS(S, U)                             \
  template <> struct make_unsigned<S> { typedef U type; }; \
  template <> struct make_unsigned<U> { typedef U type; }; \
  template <> struct make_signed<S> { typedef S type; };   \
  template <> struct make_signed<U> { typedef S type; };
METAL_SIGNS(char, uchar)
METAL_SIGNS(short, ushort)
METAL_SIGNS(int, uint)
METAL_SIGNS(long, ulong)
#undef METAL_SIGNS

template <bool B, typename T = void> using enable_if_t = typename enable_if<B, T>::type;
template <bool B, typename T, typename U> using conditional_t = typename conditional<B, T, U>::type;
template <typename T> using remove_const_t = typename remove_const<T>::type;
template <typename T> using remove_volatile_t = typename remove_volatile<T>::type;
template <typename T> using remove_cv_t = typename remove_cv<T>::type;
template <typename T> using remove_reference_t = typename remove_reference<T>::type;
template <typename T> using make_unsigned_t = typename make_unsigned<T>::type;
template <typename T> using make_signed_t = typename make_signed<T>::type;

// METAL_VALUE is METAL_CONSTANT without static, for variables of a namespace.
template <typename A, typename B> METAL_VALUE bool is_same_v = is_same<A, B>::value;
template <typename T> METAL_VALUE bool is_void_v = is_void<T>::value;
template <typename T> METAL_VALUE bool is_const_v = is_const<T>::value;
template <typename T> METAL_VALUE bool is_integral_v = is_integral<T>::value;
template <typename T> METAL_VALUE bool is_floating_point_v = is_floating_point<T>::value;
template <typename T> METAL_VALUE bool is_arithmetic_v = is_arithmetic<T>::value;
template <typename T> METAL_VALUE bool is_scalar_v = is_scalar<T>::value;
template <typename T> METAL_VALUE bool is_signed_v = is_signed<T>::value;
template <typename T> METAL_VALUE bool is_unsigned_v = is_unsigned<T>::value;
template <typename T> METAL_VALUE bool is_pointer_v = is_pointer<T>::value;
template <typename T> METAL_VALUE bool is_class_v = is_class<T>::value;
template <typename T> METAL_VALUE bool is_enum_v = is_enum<T>::value;

}  // namespace metal
