/*
 * matrix.h - matrices of 8 by 8 elements that a SIMD group holds together (sections 2.4 and 6.7).
 *
 * Each lane has two elements; which ones is not specified, so kernels cannot know. All lanes of a full SIMD group
 * have to take part in each function.
 */
#pragma once

namespace metal {

template <class T, int Cols, int Rows = Cols> struct simdgroup_matrix {
  static_assert(Cols == 8 && Rows == 8, "matrices of SIMD groups are 8 by 8");
  static_assert(!shader::plain<T>::integer, "matrices of SIMD groups have elements of a floating-point type");
  T shader_v[2]; // elements 2 * lane and the next, row by row
  simdgroup_matrix() = default;
  SHADER_INLINE explicit simdgroup_matrix(T diagonal) {
    for (uint i = 0; i < 2; i++) {
      uint at = 2 * shader::serve.lane() + i;
      shader_v[i] = at / 8 == at % 8 ? diagonal : T(0);
    }
  }
};

typedef simdgroup_matrix<float, 8> simdgroup_float8x8;
typedef simdgroup_matrix<half, 8> simdgroup_half8x8;

template <class T, int Cols, int Rows = Cols> SHADER_INLINE simdgroup_matrix<T, Cols, Rows> make_filled_simdgroup_matrix(T x) {
  simdgroup_matrix<T, Cols, Rows> m;
  m.shader_v[0] = m.shader_v[1] = x;
  return m;
}

SHADER_INLINE void shader_all_meet() {
  char none = 0;
  SHADER_MEET(char, none);
  if (all.active != ~0u) shader::serve.wrong("uses a matrix of the SIMD group in a part of its lanes");
}

// Where an element of a lane lies in memory.
SHADER_INLINE ulong shader_place(uint i, ulong elements_per_row, ulong2 origin, bool transpose) {
  uint at = 2 * shader::serve.lane() + i, row = at / 8, col = at % 8;
  if (transpose) { uint t = row; row = col, col = t; }
  return (origin.y + row) * elements_per_row + origin.x + col;
}

template <class T, int Cols, int Rows>
SHADER_INLINE void simdgroup_load(simdgroup_matrix<T, Cols, Rows> &m, const T *from, ulong elements_per_row = Cols, ulong2 origin = 0, bool transpose = false) {
  shader_all_meet();
  for (uint i = 0; i < 2; i++) m.shader_v[i] = from[shader_place(i, elements_per_row, origin, transpose)];
}

template <class T, int Cols, int Rows>
SHADER_INLINE void simdgroup_store(simdgroup_matrix<T, Cols, Rows> m, T *to, ulong elements_per_row = Cols, ulong2 origin = 0, bool transpose = false) {
  shader_all_meet();
  for (uint i = 0; i < 2; i++) to[shader_place(i, elements_per_row, origin, transpose)] = m.shader_v[i];
}

// d = a * b + c. The specification says nothing of the order of additions, nor whether products are rounded: here
// they are, which is the least exact.
template <class D, class A, class B>
SHADER_INLINE void simdgroup_multiply_accumulate(simdgroup_matrix<D, 8, 8> &d, simdgroup_matrix<A, 8, 8> a, simdgroup_matrix<B, 8, 8> b, simdgroup_matrix<D, 8, 8> c) {
  struct both { A a[2]; B b[2]; } mine;
  for (uint i = 0; i < 2; i++) mine.a[i] = a.shader_v[i], mine.b[i] = b.shader_v[i];
  SHADER_MEET(both, mine);
  if (all.active != ~0u) shader::serve.wrong("uses a matrix of the SIMD group in a part of its lanes");
  for (uint i = 0; i < 2; i++) {
    uint at = 2 * shader::serve.lane() + i, row = at / 8, col = at % 8;
    D sum = c.shader_v[i];
    for (uint k = 0; k < 8; k++) {
      uint left = row * 8 + k, right = k * 8 + col;
      sum = D(sum + D(D(all.v[left / 2].a[left % 2]) * D(all.v[right / 2].b[right % 2])));
    }
    d.shader_v[i] = sum;
  }
}

template <class D, class A, class B>
SHADER_INLINE void simdgroup_multiply(simdgroup_matrix<D, 8, 8> &d, simdgroup_matrix<A, 8, 8> a, simdgroup_matrix<B, 8, 8> b) {
  simdgroup_multiply_accumulate(d, a, b, make_filled_simdgroup_matrix<D, 8>(D(0)));
}

}  // namespace metal

