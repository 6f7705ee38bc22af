/*
 * entry.h - the interface between a compiled shader and the mock: arguments and callbacks.
 *
 * The structures are those of shader_internal.h. The compiler inserts calls of a function before
 * every load and store (-fsanitize=kernel-address) and for every element that lies at an address its
 * type does not allow (-fsanitize=alignment); those functions are defined here.
 */
#pragma once

namespace shader {

struct thread {
  uint grid[3], in_group[3], group[3];
  uint grid_size[3], group_size[3], groups[3];
  uint nominal_size[3];
  uint index, lane, simd, simds;
};

struct frame {
  void *buffers[31];
  void *threadgroup[31];
};

struct services {
  void (*barrier)(ulong place);
  uint (*exchange)(const void *in, void *all, ulong size);
  uint (*lane)();
  void (*declare)(void *variable, ulong size);
  void (*check)(const void *address, ulong size, int write);
  void (*misaligned)(const void *address, ulong alignment);
  void (*access)(const void *address, ulong size, int write, const void *site);
  void (*arithmetic)(uint instructions);
  void (*mute)(int step);
  void (*atomic)(int begins);
  void (*frame)(const void *address);
  void (*wrong)(const char *words);
  int worst, fast_functions, inexact_fast, naive_fmod;
};

static services serve;

template <class T> inline void declare(T &variable) { serve.declare(&variable, sizeof variable); }

// Arguments of kernels: each becomes what the kernel declares it as.
struct pointer {
  void *p;
  template <class T> operator T *() const { return static_cast<T *>(p); }
};

struct reference {
  void *p;
  template <class T> operator T &() const { return *static_cast<T *>(p); }
};

struct index3 {
  const uint *v;
  operator uint() const { return v[0]; }
  operator ushort() const { return v[0]; }
  operator int() const { return v[0]; }
  operator ulong() const { return v[0]; }
  template <class T> operator metal::vec<T, 2>() const { return metal::vec<T, 2>(T(v[0]), T(v[1])); }
  template <class T> operator metal::vec<T, 3>() const { return metal::vec<T, 3>(T(v[0]), T(v[1]), T(v[2])); }
};

// How many groups of four lanes a threadgroup has.
inline uint quads(const uint size[3]) { return (size[0] * size[1] * size[2] + 3) / 4; }
static const uint origin[3] = {};

}  // namespace shader

#define SHADER_UNCHECKED __attribute__((no_sanitize("kernel-address", "alignment"), no_instrument_function, visibility("default"), used))

extern "C" {

extern const char __ehdr_start __attribute__((visibility("hidden")));
extern const char _end __attribute__((visibility("hidden")));
__attribute__((visibility("default"), used)) const char *shader_image[2] = {&__ehdr_start, &_end};

// Each function of a source that recurses begins and ends with these (-finstrument-functions).
SHADER_UNCHECKED void __cyg_profile_func_enter(void *, void *) { shader::serve.frame(__builtin_frame_address(0)); }
SHADER_UNCHECKED void __cyg_profile_func_exit(void *, void *) {}

SHADER_UNCHECKED void shader_start(const shader::services *given) { shader::serve = *given; }

#ifdef SHADER_COUNT
#define SHADER_ACCESS(p, n, write) shader::serve.access(p, n, write, __builtin_return_address(0))
SHADER_UNCHECKED void shader_arithmetic(uint n) { shader::serve.arithmetic(n); }
SHADER_UNCHECKED __attribute__((noinline)) void shader_mute(int step) { shader::serve.mute(step); }
SHADER_UNCHECKED __attribute__((noinline)) void shader_move(void *to, const void *from, ulong n) {
  SHADER_ACCESS(from, n, 0);
  SHADER_ACCESS(to, n, 1);
  __builtin_memcpy(to, from, n);
}
SHADER_UNCHECKED void *__asan_memcpy(void *to, const void *from, ulong n) {
  SHADER_ACCESS(from, n, 0);
  SHADER_ACCESS(to, n, 1);
  return __builtin_memcpy(to, from, n);
}
SHADER_UNCHECKED void *__asan_memset(void *to, int value, ulong n) {
  SHADER_ACCESS(to, n, 1);
  return __builtin_memset(to, value, n);
}
#else
#define SHADER_ACCESS(p, n, write) shader::serve.check(p, n, write)
#endif

#define SHADER_CHECKS(n)                                                                    \
  SHADER_UNCHECKED void __asan_load##n##_noabort(const void *p) { SHADER_ACCESS(p, n, 0); }  \
  SHADER_UNCHECKED void __asan_store##n##_noabort(const void *p) { SHADER_ACCESS(p, n, 1); }
SHADER_CHECKS(1)
SHADER_CHECKS(2)
SHADER_CHECKS(4)
SHADER_CHECKS(8)
SHADER_CHECKS(16)
#undef SHADER_CHECKS
SHADER_UNCHECKED void __asan_loadN_noabort(const void *p, ulong n) { SHADER_ACCESS(p, n, 0); }
SHADER_UNCHECKED void __asan_storeN_noabort(const void *p, ulong n) { SHADER_ACCESS(p, n, 1); }
SHADER_UNCHECKED void __asan_handle_no_return() {}

// What the compiler says of a type at a place; only the alignment matters here.
struct shader_mismatch {
  const char *file;
  uint line, column;
  const void *type;
  uchar alignment; // its logarithm
};
SHADER_UNCHECKED void __ubsan_handle_type_mismatch_v1(const shader_mismatch *m, const void *p) {
  shader::serve.misaligned(p, 1ul << m->alignment);
}
}
