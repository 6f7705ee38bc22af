/*
 * atomic.h - atomic functions (section 6.15): relaxed order, as the specification has for compute.
 */
#pragma once

namespace metal {

enum memory_order { memory_order_relaxed = 0 };

template <class T> struct atomic { T value; };
#define SHADER_ATOMIC template <class T> inline
// Which operations there are of a type (table 6.27): of bool none that compute, of float sums alone, of ulong two functions
// without a result.
template <class T> struct shader_atomic_kind { static constexpr bool sums = false, bits = false; };
template <> struct shader_atomic_kind<int> { static constexpr bool sums = true, bits = true; };
template <> struct shader_atomic_kind<uint> { static constexpr bool sums = true, bits = true; };
template <> struct shader_atomic_kind<float> { static constexpr bool sums = true, bits = false; };
#define SHADER_ATOMIC_SUM template <class T, class = typename shader::when<shader_atomic_kind<T>::sums>::type> inline
#define SHADER_ATOMIC_INTEGER template <class T, class = typename shader::when<shader_atomic_kind<T>::bits>::type> inline

namespace {
struct shader_atomically {
  SHADER_INLINE shader_atomically() { shader::serve.atomic(1); }
  SHADER_INLINE ~shader_atomically() { shader::serve.atomic(0); }
};
}  // namespace

SHADER_ATOMIC void atomic_store_explicit(volatile atomic<T> *a, typename shader::as<T>::type x, memory_order) { shader_atomically now; a->value = x; }
SHADER_ATOMIC T atomic_load_explicit(const volatile atomic<T> *a, memory_order) { shader_atomically now; return a->value; }

// Dispatches of two queues may touch one location, hence a loop and not a plain update.
template <class T, class F> inline T shader_update(volatile atomic<T> *a, F step) {
  shader_atomically now;
  T old, wanted;
  __atomic_load(const_cast<T *>(&a->value), &old, __ATOMIC_RELAXED);
  do wanted = step(old);
  while (!__atomic_compare_exchange(const_cast<T *>(&a->value), &old, &wanted, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
  return old;
}

SHADER_ATOMIC T atomic_exchange_explicit(volatile atomic<T> *a, typename shader::as<T>::type x, memory_order) { return shader_update(a, [=](T) { return x; }); }
SHADER_ATOMIC_SUM T atomic_fetch_add_explicit(volatile atomic<T> *a, typename shader::as<T>::type x, memory_order) { return shader_update(a, [=](T o) { return T(o + x); }); }
SHADER_ATOMIC_SUM T atomic_fetch_sub_explicit(volatile atomic<T> *a, typename shader::as<T>::type x, memory_order) { return shader_update(a, [=](T o) { return T(o - x); }); }
SHADER_ATOMIC_INTEGER T atomic_fetch_and_explicit(volatile atomic<T> *a, typename shader::as<T>::type x, memory_order) { return shader_update(a, [=](T o) { return T(o & x); }); }
SHADER_ATOMIC_INTEGER T atomic_fetch_or_explicit(volatile atomic<T> *a, typename shader::as<T>::type x, memory_order) { return shader_update(a, [=](T o) { return T(o | x); }); }
SHADER_ATOMIC_INTEGER T atomic_fetch_xor_explicit(volatile atomic<T> *a, typename shader::as<T>::type x, memory_order) { return shader_update(a, [=](T o) { return T(o ^ x); }); }
SHADER_ATOMIC_INTEGER T atomic_fetch_min_explicit(volatile atomic<T> *a, typename shader::as<T>::type x, memory_order) { return shader_update(a, [=](T o) { return x < o ? x : o; }); }
SHADER_ATOMIC_INTEGER T atomic_fetch_max_explicit(volatile atomic<T> *a, typename shader::as<T>::type x, memory_order) { return shader_update(a, [=](T o) { return x > o ? x : o; }); }
SHADER_ATOMIC bool atomic_compare_exchange_weak_explicit(volatile atomic<T> *a, typename shader::as<T>::type *expected, typename shader::as<T>::type x, memory_order, memory_order) {
  shader_atomically now;
  return __atomic_compare_exchange(const_cast<T *>(&a->value), expected, &x, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}
inline void atomic_min_explicit(volatile atomic<ulong> *a, ulong x, memory_order) { shader_update(a, [=](ulong o) { return x < o ? x : o; }); }
inline void atomic_max_explicit(volatile atomic<ulong> *a, ulong x, memory_order) { shader_update(a, [=](ulong o) { return x > o ? x : o; }); }
#undef SHADER_ATOMIC
#undef SHADER_ATOMIC_SUM
#undef SHADER_ATOMIC_INTEGER

#if __METAL_VERSION__ >= 320
// Orders and scopes of fences (section 6.15.3); threads of the mock see each store at once.
enum thread_scope { thread_scope_thread, thread_scope_simdgroup, thread_scope_threadgroup, thread_scope_device };
constexpr memory_order memory_order_acquire = memory_order(2), memory_order_release = memory_order(3), memory_order_acq_rel = memory_order(4),
                       memory_order_seq_cst = memory_order(5);
inline void atomic_thread_fence(mem_flags, memory_order, thread_scope = thread_scope_device) {}
#endif

typedef atomic<int> atomic_int;
typedef atomic<uint> atomic_uint;
typedef atomic<bool> atomic_bool;
typedef atomic<ulong> atomic_ulong;
#if __METAL_VERSION__ >= 300
typedef atomic<float> atomic_float;
#endif

}  // namespace metal
