/*
 * linear.h - matrices (sections 2.3, 3.2 and 6.8 of the specification) and arrays (section 2.12).
 *
 * A matrix is its columns, as in memory.
 */
#pragma once

namespace shader {

// The numbers below n.
template <int... c> struct indices {};
template <int n, int... c> struct upto : upto<n - 1, n - 1, c...> {};
template <int... c> struct upto<0, c...> { typedef indices<c...> type; };

}  // namespace shader

namespace metal {

template <class T, int C, int R> struct matrix {
  typedef vec<T, R> column;
  column v[C];
  matrix() = default;
  explicit matrix(T diagonal) {
    for (int c = 0; c < C; c++)
      for (int r = 0; r < R; r++) v[c][r] = c == r ? diagonal : T(0);
  }
  template <class U> explicit matrix(const matrix<U, C, R> &o) { for (int c = 0; c < C; c++) v[c] = column(o.v[c]); }
  // From its columns.
  template <class... D> constexpr matrix(const column &a, const column &b, const D &...d) : v{a, b, d...} {
    static_assert(2 + sizeof...(D) == C, "a matrix from another number of columns");
  }
  // From all its elements in their order.
  template <class A, class B, class... D, class = typename shader::when<shader::scalar<A>::value && shader::scalar<B>::value>::type>
  constexpr matrix(A a, B b, D... d) : matrix(shader_elements{{T(a), T(b), T(d)...}}, typename shader::upto<C>::type()) {
    static_assert(2 + sizeof...(D) == C * R, "a matrix from another number of elements");
  }
  column &operator[](int c) { return v[c]; }
  const column &operator[](int c) const { return v[c]; }
  matrix &operator+=(const matrix &o) { return *this = *this + o; }
  matrix &operator-=(const matrix &o) { return *this = *this - o; }
  matrix &operator*=(T s) { return *this = *this * s; }

 private:
  struct shader_elements { T at[C * R]; };
  static constexpr column shader_column(const shader_elements &e, int c) {
    if constexpr (R == 2) return column(e.at[c * R], e.at[c * R + 1]);
    else if constexpr (R == 3) return column(e.at[c * R], e.at[c * R + 1], e.at[c * R + 2]);
    else return column(e.at[c * R], e.at[c * R + 1], e.at[c * R + 2], e.at[c * R + 3]);
  }
  template <int... c> constexpr matrix(const shader_elements &e, shader::indices<c...>) : v{shader_column(e, c)...} {}
};

// Steps for each column.
#define SHADER_COLUMNS(step) { matrix<T, C, R> m; for (int c = 0; c < C; c++) m.v[c] = step; return m; }
template <class T, int C, int R> inline matrix<T, C, R> operator+(const matrix<T, C, R> &a, const matrix<T, C, R> &b) SHADER_COLUMNS(a.v[c] + b.v[c])
template <class T, int C, int R> inline matrix<T, C, R> operator-(const matrix<T, C, R> &a, const matrix<T, C, R> &b) SHADER_COLUMNS(a.v[c] - b.v[c])
template <class T, int C, int R> inline matrix<T, C, R> operator-(const matrix<T, C, R> &a) SHADER_COLUMNS(-a.v[c])
template <class T, int C, int R> inline matrix<T, C, R> operator*(const matrix<T, C, R> &a, typename shader::as<T>::type s) SHADER_COLUMNS(a.v[c] * s)
template <class T, int C, int R> inline matrix<T, C, R> operator*(typename shader::as<T>::type s, const matrix<T, C, R> &a) SHADER_COLUMNS(a.v[c] * s)
#undef SHADER_COLUMNS

template <class T, int C, int R> inline vec<T, R> operator*(const matrix<T, C, R> &a, const typename shader::as<vec<T, C>>::type &x) {
  vec<T, R> y(T(0));
  for (int c = 0; c < C; c++) y += a.v[c] * x[c];
  return y;
}
template <class T, int C, int R> inline vec<T, C> operator*(const typename shader::as<vec<T, R>>::type &x, const matrix<T, C, R> &a) {
  vec<T, C> y;
  for (int c = 0; c < C; c++) y[c] = dot(x, a.v[c]);
  return y;
}
template <class T, int K, int C, int R> inline matrix<T, K, R> operator*(const matrix<T, C, R> &a, const matrix<T, K, C> &b) {
  matrix<T, K, R> m;
  for (int k = 0; k < K; k++) m.v[k] = a * b.v[k];
  return m;
}
template <class T, int C, int R> inline bool operator==(const matrix<T, C, R> &a, const matrix<T, C, R> &b) {
  bool same = true;
  for (int c = 0; c < C; c++) same = same && all(a.v[c] == b.v[c]);
  return same;
}

template <class T, int C, int R> inline matrix<T, R, C> transpose(const matrix<T, C, R> &a) {
  matrix<T, R, C> m;
  for (int c = 0; c < C; c++)
    for (int r = 0; r < R; r++) m.v[r][c] = a.v[c][r];
  return m;
}
template <class T> inline T determinant(const matrix<T, 2, 2> &a) { return a.v[0][0] * a.v[1][1] - a.v[1][0] * a.v[0][1]; }
template <class T> inline T determinant(const matrix<T, 3, 3> &a) { return dot(a.v[0], cross(a.v[1], a.v[2])); }
template <class T> inline T determinant(const matrix<T, 4, 4> &a) {
  T sum = 0;
  for (int k = 0; k < 4; k++) { // along the first row
    matrix<T, 3, 3> minor;
    for (int c = 0; c < 3; c++)
      for (int r = 0; r < 3; r++) minor.v[c][r] = a.v[c + (c >= k)][r + 1];
    sum += (k % 2 ? -a.v[k][0] : a.v[k][0]) * determinant(minor);
  }
  return sum;
}

#define SHADER_MATRICES(T)                                                                        \
  typedef matrix<T, 2, 2> T##2x2; typedef matrix<T, 2, 3> T##2x3; typedef matrix<T, 2, 4> T##2x4; \
  typedef matrix<T, 3, 2> T##3x2; typedef matrix<T, 3, 3> T##3x3; typedef matrix<T, 3, 4> T##3x4; \
  typedef matrix<T, 4, 2> T##4x2; typedef matrix<T, 4, 3> T##4x3; typedef matrix<T, 4, 4> T##4x4;
SHADER_MATRICES(float)
SHADER_MATRICES(half)
#undef SHADER_MATRICES

// Public members make it an aggregate: array<int, 2> a = {1, 2}.
template <class T, size_t N> struct array {
  T shader_v[N];
  T &operator[](size_t i) { return shader_v[i]; }
  constexpr const T &operator[](size_t i) const { return shader_v[i]; }
  constexpr size_t size() const { return N; }
  constexpr bool empty() const { return N == 0; }
};

}  // namespace metal
