// Words of Metal's shading language for nvcc, as far as compiled Triton kernels use them. words.py maps what C++ cannot
// express: qualifiers, attributes and names of vectors. Functions keep their accuracy: Metal's safe math has no counterpart
// of -use_fast_math, so none is used here.
#pragma once
#include <cuda_fp16.h>
#include <math.h>
#include <string.h>

typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define METAL __device__ __forceinline__

// Vectors have the size and alignment of Metal's: one of three elements takes the room of four. CUDA's own lack constructors
// and some element types.
template <class T> struct alignas(2 * sizeof(T)) vec2 {
    T x, y;
    vec2() = default;
    METAL vec2(T a, T b) : x(a), y(b) {}
};
template <class T> struct alignas(4 * sizeof(T)) vec3 {
    T x, y, z;
    vec3() = default;
    METAL vec3(T a, T b, T c) : x(a), y(b), z(c) {}
};
template <class T> struct alignas(4 * sizeof(T)) vec4 {
    T x, y, z, w;
    vec4() = default;
    METAL vec4(T a, T b, T c, T d) : x(a), y(b), z(c), w(d) {}
};

template <class To, class From> METAL To as_type(From x) {
    static_assert(sizeof(To) == sizeof(From), "as_type keeps the size");
    To y;
    memcpy(&y, &x, sizeof(To));
    return y;
}

// Barriers order memory of the threadgroup and, where the flags say so, of the device; __syncthreads orders both.
enum class mem_flags { mem_none = 0, mem_device = 1, mem_threadgroup = 2 };
METAL mem_flags operator|(mem_flags a, mem_flags b) { return mem_flags(int(a) | int(b)); }
METAL void threadgroup_barrier(mem_flags) { __syncthreads(); }
METAL void simdgroup_barrier(mem_flags) { __syncwarp(); }

// SIMD groups are warps: all 32 threads take part, as the compiler guarantees. CUDA shuffles no vectors.
template <class T> METAL T simd_shuffle(T x, ushort lane) { return __shfl_sync(~0u, x, lane); }
template <class T> METAL T simd_shuffle_xor(T x, ushort mask) { return __shfl_xor_sync(~0u, x, mask); }
template <class T> METAL T simd_shuffle_up(T x, ushort by) { return __shfl_up_sync(~0u, x, by); }
template <class T> METAL T simd_shuffle_down(T x, ushort by) { return __shfl_down_sync(~0u, x, by); }
#define OF_TWO(function) \
    METAL vec2<uint> function(vec2<uint> v, ushort by) { return vec2<uint>(function(v.x, by), function(v.y, by)); }
OF_TWO(simd_shuffle)
OF_TWO(simd_shuffle_xor)
OF_TWO(simd_shuffle_up)
OF_TWO(simd_shuffle_down)
METAL short simd_shuffle_xor(short x, ushort mask) { return short(__shfl_xor_sync(~0u, int(x), mask)); }
METAL ushort simd_shuffle_xor(ushort x, ushort mask) { return ushort(__shfl_xor_sync(~0u, uint(x), mask)); }
METAL short simd_shuffle(short x, ushort lane) { return short(__shfl_sync(~0u, int(x), lane)); }
METAL ushort simd_shuffle(ushort x, ushort lane) { return ushort(__shfl_sync(~0u, uint(x), lane)); }
METAL short simd_shuffle_up(short x, ushort by) { return short(__shfl_up_sync(~0u, int(x), by)); }
METAL ushort simd_shuffle_up(ushort x, ushort by) { return ushort(__shfl_up_sync(~0u, uint(x), by)); }

// Atomic operations: all of Metal's here are relaxed.
typedef int atomic_int;
typedef uint atomic_uint;
typedef float atomic_float;
enum { memory_order_relaxed };
template <class T> METAL T atomic_load_explicit(T *p, int) { return *(volatile T *)p; }
template <class T> METAL void atomic_store_explicit(T *p, T x, int) { *(volatile T *)p = x; }
template <class T> METAL T atomic_fetch_add_explicit(T *p, T x, int) { return atomicAdd(p, x); }
template <class T> METAL T atomic_fetch_max_explicit(T *p, T x, int) { return atomicMax(p, x); }
template <class T> METAL T atomic_fetch_min_explicit(T *p, T x, int) { return atomicMin(p, x); }
template <class T> METAL T atomic_fetch_and_explicit(T *p, T x, int) { return atomicAnd(p, x); }
template <class T> METAL T atomic_fetch_or_explicit(T *p, T x, int) { return atomicOr(p, x); }
template <class T> METAL T atomic_fetch_xor_explicit(T *p, T x, int) { return atomicXor(p, x); }
template <class T> METAL T atomic_exchange_explicit(T *p, T x, int) { return atomicExch(p, x); }
template <class T> METAL bool atomic_compare_exchange_weak_explicit(T *p, T *expected, T x, int, int) {
    T old = atomicCAS(p, *expected, x), wanted = *expected;
    *expected = old;
    return old == wanted;
}

// Functions: C++ has those of float; those of half are rounded once from float.
METAL uint mulhi(uint a, uint b) { return __umulhi(a, b); }
METAL int mulhi(int a, int b) { return __mulhi(a, b); }
METAL ulong mulhi(ulong a, ulong b) { return __umul64hi(a, b); }
METAL uint clz(uint x) { return __clz(x); }
METAL int clz(int x) { return __clz(x); }
METAL uint ctz(uint x) { return x == 0 ? 32 : __ffs(x) - 1; }
METAL int ctz(int x) { return x == 0 ? 32 : __ffs(x) - 1; }
METAL int popcount(int x) { return __popc(x); }
METAL uint popcount(uint x) { return __popc(x); }
METAL uint reverse_bits(uint x) { return __brev(x); }
METAL int reverse_bits(int x) { return int(__brev(uint(x))); }
METAL uint absdiff(uint a, uint b) { return a < b ? b - a : a - b; }
METAL short min(short a, short b) { return a < b ? a : b; }
METAL short max(short a, short b) { return a > b ? a : b; }
METAL char min(char a, char b) { return a < b ? a : b; }
METAL char max(char a, char b) { return a > b ? a : b; }
METAL uchar min(uchar a, uchar b) { return a < b ? a : b; }
METAL uchar max(uchar a, uchar b) { return a > b ? a : b; }
METAL ushort min(ushort a, ushort b) { return a < b ? a : b; }
METAL ushort max(ushort a, ushort b) { return a > b ? a : b; }
#define OF_HALF(function) \
    METAL half function(half x) { return half(function(float(x))); }
OF_HALF(fabs)
OF_HALF(exp)
OF_HALF(exp2)
OF_HALF(log)
OF_HALF(log2)
OF_HALF(sqrt)
OF_HALF(rsqrt)
OF_HALF(sin)
OF_HALF(cos)
OF_HALF(floor)
OF_HALF(ceil)
METAL half fmax(half a, half b) { return half(fmax(float(a), float(b))); }
METAL half fmin(half a, half b) { return half(fmin(float(a), float(b))); }
METAL half fma(half a, half b, half c) { return __hfma(a, b, c); }
METAL bool isnan(half x) { return __hisnan(x); }

// Functions of namespace precise are those of C++, and those of namespace fast CUDA's intrinsics.
namespace precise {
METAL float exp(float x) { return ::expf(x); }
METAL float exp2(float x) { return ::exp2f(x); }
METAL float log(float x) { return ::logf(x); }
METAL float log2(float x) { return ::log2f(x); }
METAL float sqrt(float x) { return ::sqrtf(x); }
METAL float sin(float x) { return ::sinf(x); }
METAL float cos(float x) { return ::cosf(x); }
METAL float tan(float x) { return ::tanf(x); }
METAL float pow(float x, float y) { return ::powf(x, y); }
}  // namespace precise
namespace fast {
METAL float exp(float x) { return __expf(x); }
METAL float log(float x) { return __logf(x); }
METAL float log2(float x) { return __log2f(x); }
METAL float sin(float x) { return __sinf(x); }
METAL float cos(float x) { return __cosf(x); }
METAL float tan(float x) { return __tanf(x); }
METAL float pow(float x, float y) { return __powf(x, y); }
}  // namespace fast

// A matrix of a SIMD group: two elements of a row a thread, and products by shuffles. It shows what kernels compute, and
// nothing of their speed: CUDA has no matrices of this size.
template <class T> struct simdgroup_matrix {
    T e[2];
};
typedef simdgroup_matrix<float> simdgroup_float8x8;
typedef simdgroup_matrix<half> simdgroup_half8x8;
METAL uint matrix_row() { return (threadIdx.x & 31) >> 2; }
METAL uint matrix_col() { return (threadIdx.x & 3) * 2; }
template <class T, int M, int N> METAL simdgroup_matrix<T> make_filled_simdgroup_matrix(T x) { return {{x, x}}; }
template <class T> METAL void simdgroup_load(simdgroup_matrix<T> &m, const T *p, ulong stride) {
    for (int i = 0; i < 2; i++) m.e[i] = p[matrix_row() * stride + matrix_col() + i];
    __syncwarp();
}
template <class T> METAL void simdgroup_store(simdgroup_matrix<T> m, T *p, ulong stride) {
    for (int i = 0; i < 2; i++) p[matrix_row() * stride + matrix_col() + i] = m.e[i];
    __syncwarp();
}
template <class A, class B>
METAL void simdgroup_multiply_accumulate(simdgroup_float8x8 &d, simdgroup_matrix<A> a, simdgroup_matrix<B> b, simdgroup_float8x8 c) {
    for (int k = 0; k < 8; k++) {
        float x = float(__shfl_sync(~0u, a.e[k & 1], matrix_row() * 4 + k / 2));
        for (int i = 0; i < 2; i++) c.e[i] += x * float(__shfl_sync(~0u, b.e[i], k * 4 + (threadIdx.x & 3)));
    }
    d = c;
}
