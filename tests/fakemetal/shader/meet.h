/*
 * meet.h - where threads meet: barriers and SIMD-group functions (sections 6.9 and 6.10).
 *
 * All are inlined into the kernel, so that the place in the kernel tells one meeting from another.
 */
#pragma once

#define SHADER_INLINE inline __attribute__((always_inline))

namespace metal {

enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2, mem_texture = 4, mem_threadgroup_imageblock = 8 };
inline mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(int(a) | int(b)); }

// clang copies calls into the arms of conditions and merges those of two arms whatever it is asked, hence the place.
#ifdef __clang__
SHADER_INLINE void threadgroup_barrier(mem_flags, uint line = __builtin_LINE(), uint column = __builtin_COLUMN()) { shader::serve.barrier(ulong(line) << 32 | column); }
#else
SHADER_INLINE void threadgroup_barrier(mem_flags) { shader::serve.barrier(0); }
#endif
SHADER_INLINE void simdgroup_barrier(mem_flags) { char none, all[32]; shader::serve.exchange(&none, all, 0); }

}  // namespace metal

namespace shader {

// The types that lanes exchange: no integers of 64 bits, and no bool (table 6.14).
template <class T> struct lane { static constexpr bool value = scalar<T>::value && sizeof(T) <= 4, integer = value && plain<T>::integer; };
template <> struct lane<bool> { static constexpr bool value = false, integer = false; };
#if __METAL_VERSION__ >= 310
template <> struct lane<bfloat> { static constexpr bool value = false, integer = false; }; // nor bfloat
#endif
template <class T, int N> struct lane<metal::vec<T, N>> : lane<T> {};

// What all lanes of a SIMD group have, and which of them take part.
template <class T> struct lanes {
  T v[32];
  uint active;
  bool has(uint i) const { return i < 32 && (active >> i & 1); }
};

inline uint first_of(uint active) { return __builtin_ctz(active); }

}  // namespace shader

// The steps of a SIMD-group function are those of the mock and do not count.
#ifdef SHADER_COUNT
namespace shader {
struct silence {
  SHADER_INLINE silence() { shader_mute(1); }
  SHADER_INLINE ~silence() { shader_mute(-1); }
};
}  // namespace shader
#define SHADER_SILENCE shader::silence silence
#else
#define SHADER_SILENCE
#endif
#define SHADER_MEET(T, x) shader::lanes<T> all; all.active = shader::serve.exchange(&x, all.v, sizeof x); SHADER_SILENCE

namespace metal {

#define SHADER_LANE template <class T, class = typename shader::when<shader::lane<T>::value>::type> SHADER_INLINE
#define SHADER_BITS template <class T, class = typename shader::when<shader::lane<T>::integer>::type> SHADER_INLINE
#define SHADER_FOLD(kind, name, step)                                         \
  kind T simd_##name(T x) {                       \
    SHADER_MEET(T, x);                                                        \
    T r = all.v[shader::first_of(all.active)];                                \
    for (uint i = shader::first_of(all.active) + 1; i < 32; i++)              \
      if (all.has(i)) r = step;                                               \
    return r;                                                                 \
  }
SHADER_FOLD(SHADER_LANE, sum, T(r + all.v[i]))
SHADER_FOLD(SHADER_LANE, product, T(r * all.v[i]))
SHADER_FOLD(SHADER_LANE, min, min(r, all.v[i]))
SHADER_FOLD(SHADER_LANE, max, max(r, all.v[i]))
SHADER_FOLD(SHADER_BITS, and, T(r & all.v[i]))
SHADER_FOLD(SHADER_BITS, or, T(r | all.v[i]))
SHADER_FOLD(SHADER_BITS, xor, T(r ^ all.v[i]))
#undef SHADER_FOLD

#define SHADER_PREFIX(name, start, op)                                   \
  SHADER_LANE T simd_prefix_inclusive_##name(T x) { \
    SHADER_MEET(T, x);                                                   \
    T r = start;                                                         \
    for (uint i = 0; i <= shader::serve.lane(); i++)                     \
      if (all.has(i)) r = T(r op all.v[i]);                              \
    return r;                                                            \
  }                                                                      \
  SHADER_LANE T simd_prefix_exclusive_##name(T x) { \
    SHADER_MEET(T, x);                                                   \
    T r = start;                                                         \
    for (uint i = 0; i < shader::serve.lane(); i++)                      \
      if (all.has(i)) r = T(r op all.v[i]);                              \
    return r;                                                            \
  }
SHADER_PREFIX(sum, T(0), +)
SHADER_PREFIX(product, T(1), *)
#undef SHADER_PREFIX

// What another lane has. A lane that takes no part has nothing that could be relied on: zero bits.
SHADER_LANE T simd_shuffle(T x, ushort lane) {
  SHADER_MEET(T, x);
  return all.has(lane) ? all.v[lane] : T(0);
}
SHADER_LANE T simd_shuffle_xor(T x, ushort mask) {
  SHADER_MEET(T, x);
  uint lane = shader::serve.lane() ^ mask;
  return all.has(lane) ? all.v[lane] : T(0);
}
SHADER_LANE T simd_shuffle_down(T x, ushort delta) {
  SHADER_MEET(T, x);
  uint lane = shader::serve.lane() + delta;
  return lane >= 32 ? x : all.has(lane) ? all.v[lane] : T(0);
}
SHADER_LANE T simd_shuffle_up(T x, ushort delta) {
  SHADER_MEET(T, x);
  uint lane = shader::serve.lane() - delta;
  return lane >= 32 ? x : all.has(lane) ? all.v[lane] : T(0);
}
SHADER_LANE T simd_shuffle_and_fill_down(T x, T fill, ushort delta) {
  SHADER_MEET(T, x);
  uint lane = shader::serve.lane() + delta;
  return lane >= 32 ? fill : all.has(lane) ? all.v[lane] : T(0);
}
SHADER_LANE T simd_shuffle_and_fill_up(T x, T fill, ushort delta) {
  SHADER_MEET(T, x);
  uint lane = shader::serve.lane() - delta;
  return lane >= 32 ? fill : all.has(lane) ? all.v[lane] : T(0);
}
SHADER_LANE T simd_shuffle_rotate_down(T x, ushort delta) {
  SHADER_MEET(T, x);
  uint lane = (shader::serve.lane() + delta) % 32;
  return all.has(lane) ? all.v[lane] : T(0);
}
SHADER_LANE T simd_shuffle_rotate_up(T x, ushort delta) {
  SHADER_MEET(T, x);
  uint lane = (shader::serve.lane() - delta) % 32;
  return all.has(lane) ? all.v[lane] : T(0);
}
SHADER_LANE T simd_broadcast(T x, ushort lane) { return simd_shuffle(x, lane); }
SHADER_LANE T simd_broadcast_first(T x) {
  SHADER_MEET(T, x);
  return all.v[shader::first_of(all.active)];
}
// The same among four neighbouring lanes.
#define SHADER_QUAD(name, which)                                           \
  SHADER_LANE T quad_##name(T x, ushort n) {                               \
    SHADER_MEET(T, x);                                                     \
    uint mine = shader::serve.lane() % 4, lane = shader::serve.lane() - mine + ((which) & 3); \
    return all.has(lane) ? all.v[lane] : T(0);                             \
  }
SHADER_QUAD(shuffle, n)
SHADER_QUAD(shuffle_xor, mine ^ n)
SHADER_QUAD(broadcast, n)
SHADER_QUAD(shuffle_rotate_down, mine + n)
SHADER_QUAD(shuffle_rotate_up, mine - n)
#undef SHADER_QUAD
// Beyond the ends of the four, a lane keeps its own or gets what fills.
#define SHADER_QUAD_STEP(name, op)                                                                  \
  SHADER_LANE T quad_shuffle_and_fill_##name(T x, T fill, ushort n) {                               \
    SHADER_MEET(T, x);                                                                              \
    uint mine = shader::serve.lane() % 4, to = mine op n, lane = shader::serve.lane() - mine + to;  \
    return to >= 4 ? fill : all.has(lane) ? all.v[lane] : T(0);                                     \
  }                                                                                                 \
  SHADER_LANE T quad_shuffle_##name(T x, ushort n) { return quad_shuffle_and_fill_##name(x, x, n); }
SHADER_QUAD_STEP(down, +)
SHADER_QUAD_STEP(up, -)
#undef SHADER_QUAD_STEP
#define SHADER_QUAD_FOLD(kind, name, step)                                   \
  kind T quad_##name(T x) {                                                  \
    SHADER_MEET(T, x);                                                       \
    uint first = shader::serve.lane() & ~3u, active = all.active >> first & 15; \
    T r = all.v[first + shader::first_of(active)];                           \
    for (uint i = first + shader::first_of(active) + 1; i < first + 4; i++)  \
      if (all.has(i)) r = step;                                              \
    return r;                                                                \
  }
SHADER_QUAD_FOLD(SHADER_LANE, sum, T(r + all.v[i]))
SHADER_QUAD_FOLD(SHADER_LANE, product, T(r * all.v[i]))
SHADER_QUAD_FOLD(SHADER_LANE, min, min(r, all.v[i]))
SHADER_QUAD_FOLD(SHADER_LANE, max, max(r, all.v[i]))
SHADER_QUAD_FOLD(SHADER_BITS, and, T(r & all.v[i]))
SHADER_QUAD_FOLD(SHADER_BITS, or, T(r | all.v[i]))
SHADER_QUAD_FOLD(SHADER_BITS, xor, T(r ^ all.v[i]))
#undef SHADER_QUAD_FOLD
SHADER_INLINE bool simd_is_first() {
  uint x = 0;
  SHADER_MEET(uint, x);
  return shader::first_of(all.active) == shader::serve.lane();
}
SHADER_INLINE ulong shader_ballot(bool x) {
  SHADER_MEET(bool, x);
  ulong r = 0;
  for (uint i = 0; i < 32; i++)
    if (all.has(i) && all.v[i]) r |= 1ul << i;
  return r;
}
SHADER_INLINE bool simd_any(bool x) { return shader_ballot(x) != 0; }
SHADER_INLINE bool simd_all(bool x) { return shader_ballot(!x) == 0; }
class simd_vote {
 public:
  typedef ulong vote_t;
  explicit simd_vote(ulong v = 0) : votes(v) {}
  explicit operator vote_t() const { return votes; }
  bool any() const { return votes != 0; }
  bool all() const { return uint(votes) == ~0u; }

 private:
  ulong votes;
};
SHADER_INLINE simd_vote simd_ballot(bool x) { return simd_vote(shader_ballot(x)); }
SHADER_INLINE simd_vote simd_active_threads_mask() { return simd_vote(shader_ballot(true)); }
SHADER_INLINE uint shader_quad_ballot(bool x) { return uint(shader_ballot(x) >> (shader::serve.lane() & ~3u)) & 15; }
SHADER_INLINE bool quad_any(bool x) { return shader_quad_ballot(x) != 0; }
SHADER_INLINE bool quad_all(bool x) { return shader_quad_ballot(!x) == 0; }
SHADER_LANE T quad_broadcast_first(T x) {
  SHADER_MEET(T, x);
  uint first = shader::serve.lane() & ~3u;
  return all.v[first + shader::first_of(all.active >> first & 15)];
}
SHADER_INLINE bool quad_is_first() {
  uint x = 0;
  SHADER_MEET(uint, x);
  uint first = shader::serve.lane() & ~3u;
  return first + shader::first_of(all.active >> first & 15) == shader::serve.lane();
}

}  // namespace metal
