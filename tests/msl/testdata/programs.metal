// Programs that Apple's compiler refuses, and near each kind some that it accepts. A program begins with a line
//   //! refuse CATEGORY: WORDS     the first error has these words
//   //! accept CATEGORY
// and has <metal_stdlib> included and namespace metal in use before its first line.

//! refuse missing address space: pointer type must have explicit address space qualifier
kernel void f(float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = 0; }
//! refuse missing address space: pointer type must have explicit address space qualifier
inline float first(const float *x) { return x[0]; }
kernel void f(device float *x [[buffer(0)]]) { x[0] = 0; }
//! refuse missing address space: reference type must have explicit address space qualifier
inline void twice(float &x) { x *= 2; }
kernel void f(device float *x [[buffer(0)]]) { float y = x[0]; twice(y); x[0] = y; }
//! refuse missing address space: reference type must have explicit address space qualifier
inline float half_of(const float &x) { return x / 2; }
kernel void f(device float *x [[buffer(0)]]) { x[0] = half_of(x[0]); }
//! refuse missing address space: pointer type must have explicit address space qualifier
kernel void f(device float *x [[buffer(0)]]) { float *y = x + 1; y[0] = 0; }
//! refuse missing address space: reference type must have explicit address space qualifier
kernel void f(device float *x [[buffer(0)]]) { const float &y = x[1]; x[0] = y; }
//! refuse missing address space: pointer type must have explicit address space qualifier
kernel void f(device float *x [[buffer(0)]]) { device int *y = (device int *)(float *)x; y[0] = 0; }
//! refuse missing address space: pointer type must have explicit address space qualifier
kernel void f(device float *x [[buffer(0)]]) { *reinterpret_cast<int *>(x) = 0; }
//! refuse missing address space: pointer type must have explicit address space qualifier
struct Span { float *at; uint length; };
kernel void f(device float *x [[buffer(0)]]) { x[0] = 0; }
//! refuse missing address space: pointer type must have explicit address space qualifier
inline long at(device const long *const *index, uint k) { return index[k][0]; }
kernel void f(device const long *x [[buffer(0)]], device long *y [[buffer(1)]]) { device const long *const i[1] = {x}; y[0] = at(i, 0); }
//! refuse missing address space: pointer type must have explicit address space qualifier
inline float *advance(device float *x) { return x + 1; }
kernel void f(device float *x [[buffer(0)]]) { x[0] = 0; }
//! refuse missing address space: pointer type must have explicit address space qualifier
template <typename T> inline T load(const T *x, uint i) { return x[i]; }
kernel void f(device float *x [[buffer(0)]]) { x[0] = 0; }
//! refuse missing address space: pointer type must have explicit address space qualifier
typedef float *Floats;
kernel void f(device float *x [[buffer(0)]]) { x[0] = 0; }
//! refuse missing address space: pointer type must have explicit address space qualifier
using Floats = const float *;
kernel void f(device float *x [[buffer(0)]]) { x[0] = 0; }
//! refuse missing address space: reference type must have explicit address space qualifier
struct Sum { float v; Sum &operator+=(float x) { v += x; return *this; } };
kernel void f(device float *x [[buffer(0)]]) { x[0] = 0; }
//! refuse missing address space: pointer type must have explicit address space qualifier
kernel void f(device float *x [[buffer(0)]]) { for (float *y = x; y < x + 4; y++) *y = 0; }

//! accept missing address space
inline long at(device const long *const thread *index, uint k) { return index[k][0]; }
kernel void f(device const long *x [[buffer(0)]], device long *y [[buffer(1)]]) { device const long *const i[1] = {x}; y[0] = at(i, 0); }
//! accept missing address space
inline void twice(thread float &x) { x *= 2; }
kernel void f(device float *x [[buffer(0)]]) { float y = x[0]; twice(y); x[0] = y; }
//! accept missing address space
struct Span { device float *at; uint length; };
kernel void f(device float *x [[buffer(0)]]) { Span s = {x, 4}; s.at[s.length - 1] = 0; }
//! accept missing address space
template <typename T> inline T load(device const T *x, uint i) { return x[i]; }
kernel void f(device float *x [[buffer(0)]]) { x[0] = load(x, 1) * load(x, 2); }
//! accept missing address space
kernel void f(device float *x [[buffer(0)]]) { device int *y = (device int *)(x + 1); y[0] = x[0] * x[1] > 0 && x[2] > 0; }
//! accept missing address space
kernel void f(device float *x [[buffer(0)]]) { auto y = x + 1; float a = x[0], b = x[1]; y[0] = a * b; }

//! refuse conversion of address space: address space
inline void clear(threadgroup float *x) { x[0] = 0; }
kernel void f(device float *x [[buffer(0)]]) { clear(x); }
//! refuse conversion of address space: address space
inline void clear(device float *x) { x[0] = 0; }
kernel void f(device float *x [[buffer(0)]]) { threadgroup float y[4]; y[0] = 0; clear(y); x[0] = y[0]; }
//! refuse conversion of address space: address space
kernel void f(device float *x [[buffer(0)]]) { float y = 0; device float *z = &y; x[0] = z[0]; }
//! refuse conversion of address space: address space
kernel void f(device float *x [[buffer(0)]], constant float *y [[buffer(1)]]) { device const float *z = y; x[0] = z[0]; }
//! refuse conversion of address space: address space
kernel void f(device float *x [[buffer(0)]]) { thread float *y = (thread float *)x; y[0] = 0; }
//! refuse conversion of address space: address space
kernel void f(device float *x [[buffer(0)]]) { thread float &y = x[0]; y = 1; }
//! refuse conversion of address space: address space
inline void twice(thread float &x) { x *= 2; }
kernel void f(device float *x [[buffer(0)]]) { twice(x[0]); }
//! refuse conversion of address space: address space
kernel void f(device float *x [[buffer(0)]]) { threadgroup float y[4]; device float *z = x; z = y; z[0] = 0; }
//! refuse conversion of address space: address space
inline device float *same(threadgroup float *x) { return x; }
kernel void f(device float *x [[buffer(0)]]) { x[0] = 0; }
//! refuse conversion of address space: address space
constant float table[2] = {1, 2};
inline float first(device const float *x) { return x[0]; }
kernel void f(device float *x [[buffer(0)]]) { x[0] = first(table); }

//! accept overloads by address space
inline void clear(threadgroup float *x) { x[0] = 0; }
inline void clear(device float *x) { x[0] = 0; }
kernel void f(device float *x [[buffer(0)]]) { threadgroup float y[4]; clear(y); clear(x); clear(x + 1); x[2] = y[0]; }
//! accept conversion of address space
constant float table[2] = {1, 2};
inline float first(constant const float *x) { return x[0]; }
kernel void f(device float *x [[buffer(0)]], constant float &y [[buffer(1)]]) { x[0] = first(table) + first(&y); }
//! accept conversion of address space
inline float both(float a, float b) { return a + b; }
kernel void f(device float *x [[buffer(0)]], constant float *y [[buffer(1)]]) { threadgroup float z[1]; z[0] = 1; x[0] = both(y[0], z[0]); }

//! refuse program scope: program scope variable must reside in constant address space
float scale = 2;
kernel void f(device float *x [[buffer(0)]]) { x[0] *= scale; }
//! refuse program scope: program scope variable must reside in constant address space
const uint width = 32;
kernel void f(device uint *x [[buffer(0)]]) { x[0] = width; }
//! refuse program scope: program scope variable must reside in constant address space
static constexpr uint width = 32;
kernel void f(device uint *x [[buffer(0)]]) { x[0] = width; }
//! refuse program scope: program scope variable must reside in constant address space
device float total;
kernel void f(device float *x [[buffer(0)]]) { x[0] = 0; }
//! refuse program scope: program scope variable must reside in constant address space
threadgroup float shared[32];
kernel void f(device float *x [[buffer(0)]]) { x[0] = 0; }
//! refuse program scope: program scope variable must reside in constant address space
namespace sizes { uint width = 32; }
kernel void f(device uint *x [[buffer(0)]]) { x[0] = sizes::width; }
//! refuse program scope: program scope variable must reside in constant address space
struct Sizes { static constexpr uint width = 32; };
kernel void f(device uint *x [[buffer(0)]]) { x[0] = Sizes::width; }

//! accept program scope
constant uint width = 32;
constant float table[3] = {1, 2, 3};
constexpr constant uint height = 16;
kernel void f(device float *x [[buffer(0)]]) { x[0] = table[width % 3] + height; }
//! accept program scope
namespace sizes { constant uint width = 32; inline uint area(uint h) { return width * h; } }
kernel void f(device uint *x [[buffer(0)]]) { x[0] = sizes::area(2); }
//! accept program scope
struct Sizes { uint width; static constexpr constant uint height = 3; };
kernel void f(device uint *x [[buffer(0)]], constant Sizes &s [[buffer(1)]]) { x[0] = s.width * Sizes::height; }

//! refuse storage in functions: static variable of a function must reside in constant address space
kernel void f(device uint *x [[buffer(0)]]) { static uint n = 0; x[0] = n; }
//! refuse storage in functions: 'register' is not supported in Metal
kernel void f(device uint *x [[buffer(0)]]) { register uint n = 0; x[0] = n; }
//! refuse storage in functions: 'thread_local' is not supported in Metal
kernel void f(device uint *x [[buffer(0)]]) { thread_local uint n = 0; x[0] = n; }
//! refuse storage in functions: automatic variable qualified with an address space
kernel void f(device uint *x [[buffer(0)]]) { device uint n = 0; x[0] = n; }
//! refuse storage in functions: automatic variable qualified with an address space
kernel void f(device uint *x [[buffer(0)]]) { constant uint n = 4; x[0] = n; }
//! refuse storage in functions: field may not be qualified with an address space
struct Pair { device float x, y; };
kernel void f(device uint *x [[buffer(0)]]) { x[0] = 0; }

//! accept storage in functions
kernel void f(device uint *x [[buffer(0)]]) { const uint n = 4; constexpr uint m = 3; thread uint k = 1; x[0] = n * m * k; }

//! refuse threadgroup memory: may only be declared in a kernel
inline float total(float x, uint i) { threadgroup float y[32]; y[i] = x; return y[0]; }
kernel void f(device float *x [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) { x[i] = total(x[i], i); }
//! refuse threadgroup memory: cannot have an initializer
kernel void f(device float *x [[buffer(0)]]) { threadgroup float y[2] = {1, 2}; x[0] = y[0]; }
//! refuse threadgroup memory: cannot have an initializer
kernel void f(device float *x [[buffer(0)]]) { threadgroup uint n = 0; x[0] = n; }
//! refuse threadgroup memory: threadgroup memory exceeds 32768 bytes
kernel void f(device float *x [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) { threadgroup float y[9216]; y[i] = 0; x[i] = y[i]; }
//! refuse threadgroup memory: threadgroup memory exceeds 32768 bytes
struct Item { float4 x, y; };
kernel void f(device float *x [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) { threadgroup Item y[512], z[513]; y[i].x = 0; z[i].x = 0; x[i] = y[i].x.x; }

//! accept threadgroup memory
inline void clear(threadgroup float *y, uint i) { y[i] = 0; }
kernel void f(device float *x [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
    threadgroup float y[4096], z[16][256];
    clear(y, i);
    z[i % 16][0] = 1;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[i] = y[i] + z[0][0];
}
//! accept threadgroup memory
kernel void f(device float *x [[buffer(0)]], threadgroup float *y [[threadgroup(0)]], uint i [[thread_index_in_threadgroup]]) { y[i] = 1; x[i] = y[i]; }

//! accept recursion
inline uint factorial(uint n) { return n < 2 ? 1 : n * factorial(n - 1); }
kernel void f(device uint *x [[buffer(0)]]) { x[0] = factorial(x[0]); }
//! accept recursion
inline bool odd(uint n);
inline bool even(uint n) { return n == 0 || odd(n - 1); }
inline bool odd(uint n) { return n != 0 && even(n - 1); }
kernel void f(device uint *x [[buffer(0)]]) { x[0] = even(x[0]); }

//! accept recursion
inline float least(float x, float y) { return x < y ? x : y; }
inline half least(half x, half y) { return half(least(float(x), float(y))); }
kernel void f(device float *x [[buffer(0)]]) { x[0] = least(half(x[0]), half(x[1])); }

//! refuse names of Apple's headers: ambiguous
struct Sum { float a, b; };
inline Sum plus(Sum x, Sum y) { return Sum{x.a + y.a, x.b + y.b}; }
kernel void f(device Sum *x [[buffer(0)]]) { x[0] = plus(x[1], x[2]); }
//! refuse names of Apple's headers: ambiguous
inline uint minus(uint x, uint y) { return x - y; }
kernel void f(device uint *x [[buffer(0)]]) { x[0] = minus(x[1], x[2]); }
//! refuse names of Apple's headers: ambiguous
struct array { float v[4]; };
kernel void f(device float *x [[buffer(0)]]) { array y; y.v[0] = x[0]; x[0] = y.v[0]; }
//! refuse names of Apple's headers: ambiguous
struct ray { float3 origin, direction; };
kernel void f(device float *x [[buffer(0)]]) { ray r = {float3(0), float3(1)}; x[0] = r.origin.x; }

//! accept names of Apple's headers
namespace mine { struct Sum { float a, b; }; inline Sum plus(Sum x, Sum y) { return Sum{x.a + y.a, x.b + y.b}; } }
kernel void f(device mine::Sum *x [[buffer(0)]]) { mine::Sum a = x[1], b = x[2]; x[0] = mine::plus(a, b); }

//! refuse overloads: min
kernel void f(device uint *x [[buffer(0)]], constant int &n [[buffer(1)]]) { x[0] = min(x[0], n); }
//! refuse overloads: max
kernel void f(device float *x [[buffer(0)]]) { x[0] = max(x[0], 0); }
//! refuse overloads: max
kernel void f(device uint *x [[buffer(0)]]) { x[0] = max(x[0], 1); }
//! refuse overloads: exp
kernel void f(device float *x [[buffer(0)]], constant int &n [[buffer(1)]]) { x[0] = pow(x[0], float(n)) + exp(n); }
//! refuse overloads: simd_sum
kernel void f(device long *x [[buffer(0)]]) { x[0] = simd_sum(x[0]); }
//! refuse overloads: simd_max
kernel void f(device ulong *x [[buffer(0)]]) { x[0] = simd_max(x[0]); }
//! refuse overloads: simd_shuffle_down
kernel void f(device long *x [[buffer(0)]]) { x[0] = simd_shuffle_down(x[0], 1); }
//! refuse overloads: simd_or
kernel void f(device float *x [[buffer(0)]]) { x[0] = simd_or(x[0]); }
//! refuse overloads: quickly
kernel void f(device float *x [[buffer(0)]]) { x[0] = quickly(x[0]); }
//! refuse overloads: erf
kernel void f(device float *x [[buffer(0)]]) { x[0] = erf(x[0]); }

//! accept overloads
kernel void f(device uint *x [[buffer(0)]], constant int &n [[buffer(1)]], device float *y [[buffer(2)]]) {
    x[0] = min(x[0], uint(n)) + max(x[1], 1u) + clamp(x[2], 0u, 9u);
    y[0] = pow(y[1], float(n)) + min(y[2], 1.0f) + simd_sum(y[3]) + float(simd_max(x[3]));
}

//! refuse kernels: kernel function must have void return type
kernel float f(device float *x [[buffer(0)]]) { return x[0]; }
//! refuse kernels: kernel 'clear' cannot be called
kernel void clear(device float *x [[buffer(0)]]) { x[0] = 0; }
kernel void f(device float *x [[buffer(0)]]) { clear(x); }
//! refuse kernels: has no address
kernel void clear(device float *x [[buffer(0)]]) { x[0] = 0; }
kernel void f(device float *x [[buffer(0)]]) { void (*g)(device float *) = clear; g(x); }
//! refuse kernels: has no address
kernel void clear(device float *x [[buffer(0)]]) { x[0] = 0; }
kernel void f(device float *x [[buffer(0)]]) { auto g = &clear; g(x); }

//! accept kernels
inline void clear(device float *x) { x[0] = 0; }
kernel void f(device float *x [[buffer(0)]]) { clear(x); }
kernel void g(device float *x [[buffer(0)]], device float *f [[buffer(1)]]) { clear(f); clear(&x[1]); }

//! refuse functions: program scope variable must reside in constant address space
inline float twice(float x) { return 2 * x; }
float (*const g)(float) = twice;
kernel void f(device float *x [[buffer(0)]]) { x[0] = g(x[0]); }
//! refuse functions: variadic functions are not supported
inline int sum(int n, ...) { return n; }
kernel void f(device int *x [[buffer(0)]]) { x[0] = sum(1, 2); }
//! refuse functions: 'auto' not allowed in template parameter until C++17
template <auto N> inline int number() { return N; }
kernel void f(device int *x [[buffer(0)]]) { x[0] = number<3>(); }
//! refuse functions: 'virtual' is not supported in Metal
struct Shape { virtual float area() { return 0; } };
kernel void f(device float *x [[buffer(0)]]) { x[0] = 0; }

//! accept functions
template <int N> inline int number() { return N; }
template <typename... Ts> inline int count(Ts...) { return sizeof...(Ts); }
kernel void f(device int *x [[buffer(0)]]) { x[0] = number<3>() + count(1, 2); }

//! refuse types: variable length array
kernel void f(device uint *x [[buffer(0)]], constant uint &n [[buffer(1)]]) { uint y[n]; y[0] = 1; x[0] = y[0]; }
//! refuse types: '__int128'
kernel void f(device long *x [[buffer(0)]]) { __int128 y = x[0]; x[0] = long(y >> 64); }
//! refuse types: '__float128' is not supported in Metal
kernel void f(device float *x [[buffer(0)]]) { __float128 y = x[0]; x[0] = float(y); }
//! refuse types: 'double' is not supported in Metal
kernel void f(device float *x [[buffer(0)]]) { double y = x[0]; x[0] = float(y); }
//! refuse types: '__builtin_printf'
kernel void f(device float *x [[buffer(0)]]) { __builtin_printf("%f", x[0]); }
//! refuse types: '__builtin_memcpy'
kernel void f(device float *x [[buffer(0)]]) { int y; __builtin_memcpy(&y, &x[0], 4); x[0] = y; }
//! refuse types: as_type
kernel void f(device float *x [[buffer(0)]]) { x[0] = as_type<float>(ulong(1)); }
//! refuse types: 'new' is not supported in Metal
kernel void f(device float *x [[buffer(0)]]) { x[0] = *new float(1); }
//! refuse types: 'goto' is not supported in Metal
kernel void f(device float *x [[buffer(0)]]) { if (x[0] > 0) goto end; x[0] = 0; end:; }
//! refuse types: 'throw' is not supported in Metal
kernel void f(device float *x [[buffer(0)]]) { if (x[0] > 0) throw 1; }

//! accept types
kernel void f(device uint *x [[buffer(0)]]) { constexpr uint n = 4; uint y[n] = {1}; x[0] = y[x[1] % n] + as_type<uint>(1.0f); }
//! accept types
struct Once { uint n; Once(const thread Once &) = delete; };
kernel void f(device uint *x [[buffer(0)]]) { x[0] = sizeof(Once); }

//! refuse member functions: member function 'area'
struct Box { float w, h; float area() const { return w * h; } };
kernel void f(device Box *x [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) { y[i] = x[i].area(); }
//! refuse member functions: member function 'area'
struct Box { float w, h; float area() const { return w * h; } };
kernel void f(constant Box &x [[buffer(0)]], device float *y [[buffer(1)]]) { y[0] = x.area(); }
//! refuse member functions: member function 'clear'
struct Box { float w, h; void clear() { w = h = 0; } };
kernel void f(device Box *x [[buffer(0)]]) { x->clear(); }

//! accept overloads by address space
struct Box { float w, h; float area() const device { return w * h; } float area() const constant { return w * h; } float area() const { return w * h; } };
kernel void f(device Box *x [[buffer(0)]], constant Box &y [[buffer(1)]], device float *z [[buffer(2)]]) { Box b = x[1]; z[0] = x[0].area() + y.area() + b.area() + x->area(); }
//! accept member functions
struct Box { float w, h; float area() const { return w * h; } };
kernel void f(device Box *x [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) { const Box b = x[i]; y[i] = b.area(); }

//! refuse attributes: 'thread_position_in_grid' must be
kernel void f(device float *x [[buffer(0)]], int i [[thread_position_in_grid]]) { x[i] = 0; }
//! refuse attributes: 'thread_position_in_grid' must be
kernel void f(device float *x [[buffer(0)]], ulong i [[thread_position_in_grid]]) { x[i] = 0; }
//! refuse attributes: 'thread_position_in_grid' must be
kernel void f(device float *x [[buffer(0)]], float2 i [[thread_position_in_grid]]) { x[uint(i.x)] = 0; }
//! refuse attributes: 'thread_index_in_threadgroup' must be
kernel void f(device float *x [[buffer(0)]], uint3 i [[thread_index_in_threadgroup]]) { x[i.x] = 0; }
//! refuse attributes: the types of all positions must match
kernel void f(device float *x [[buffer(0)]], uint3 i [[thread_position_in_grid]], uint n [[threads_per_grid]]) { x[i.x] = n; }
//! refuse attributes: the types of all positions must match
kernel void f(device float *x [[buffer(0)]], uint2 i [[thread_position_in_threadgroup]], uint3 g [[threadgroup_position_in_grid]]) { x[i.x] = g.x; }
//! refuse attributes: must be a buffer or have an attribute
kernel void f(device float *x [[buffer(0)]], uint i) { x[i] = 0; }
//! refuse attributes: unknown attribute 'thread_position'
kernel void f(device float *x [[buffer(0)]], uint i [[thread_position]]) { x[i] = 0; }
//! refuse attributes: must be a pointer or a reference
kernel void f(device float *x [[buffer(0)]], float y [[buffer(1)]]) { x[0] = y; }
//! refuse attributes: 'buffer' attribute parameter is out of bounds: must be between 0 and 30
kernel void f(device float *x [[buffer(31)]]) { x[0] = 0; }
//! refuse attributes: 'buffer' attribute parameter 1 is used more than once
kernel void f(device float *x [[buffer(1)]], device float *y [[buffer(1)]]) { x[0] = y[0]; }
//! refuse attributes: takes attribute 'threadgroup'
kernel void f(device float *x [[buffer(0)]], threadgroup float *y [[buffer(1)]]) { x[0] = y[0]; }
//! refuse attributes: takes attribute 'buffer'
kernel void f(device float *x [[threadgroup(0)]]) { x[0] = 0; }
//! refuse attributes: may not be in address space 'thread'
kernel void f(device float *x [[buffer(0)]], thread float *y [[buffer(1)]]) { x[0] = y[0]; }

//! accept attributes
kernel void f(device float *x [[buffer(0)]], constant float &y [[buffer(30)]], uint3 i [[thread_position_in_grid]], ushort3 n [[threads_per_grid]],
    ushort lane [[thread_index_in_simdgroup]], uint at [[thread_index_in_threadgroup]]) { x[i.x] = y + n.y + lane + at; }
//! accept attributes
kernel void f(device float *x, constant float &y, ushort i [[thread_position_in_grid]]) { x[i] = y; }

//! refuse atomics: atomic_fetch_max_explicit
kernel void f(device atomic_float *x [[buffer(0)]]) { atomic_fetch_max_explicit(x, 1.0f, memory_order_relaxed); }
//! refuse atomics: no matching function for call to 'atomic_store_explicit'
kernel void f(device uint *x [[buffer(0)]]) { atomic_uint y; atomic_store_explicit(&y, 1u, memory_order_relaxed); x[0] = 1; }
//! refuse atomics: no matching function for call to 'atomic_fetch_add_explicit'
kernel void f(device uint *x [[buffer(0)]], constant atomic_uint *y [[buffer(1)]]) { x[0] = atomic_fetch_add_explicit(y, 1u, memory_order_relaxed); }
//! refuse atomics: atomic_fetch_add_explicit
kernel void f(device uint *x [[buffer(0)]]) { atomic_fetch_add_explicit(x, 1u, memory_order_relaxed); }
//! refuse atomics: memory_order_seq_cst
kernel void f(device atomic_uint *x [[buffer(0)]]) { atomic_fetch_add_explicit(x, 1u, memory_order_seq_cst); }

//! accept atomics
kernel void f(device atomic_uint *x [[buffer(0)]], device atomic_float *y [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {
    threadgroup atomic_uint n[2];
    atomic_store_explicit(&n[i & 1], 0u, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    atomic_fetch_max_explicit(&n[0], i, memory_order_relaxed);
    atomic_fetch_add_explicit(y + 1, 1.0f, memory_order_relaxed);
    auto z = x + 1;
    atomic_fetch_add_explicit(&z[1], 1u, memory_order_relaxed);
    atomic_fetch_add_explicit(x, atomic_load_explicit(&n[0], memory_order_relaxed), memory_order_relaxed);
}

//! refuse vectors: address of vector element requested
kernel void f(device float4 *x [[buffer(0)]]) { device float *y = &x[0].y; y[0] = 0; }
//! refuse vectors: address of vector element requested
inline void clear(thread float *x) { *x = 0; }
kernel void f(device float *x [[buffer(0)]]) { float2 y = float2(x[0], 1); clear(&y.x); x[0] = y.x; }
//! refuse vectors:
kernel void f(device float4 *x [[buffer(0)]]) { x[0] = float4(1, 2, 3); }
//! refuse vectors:
kernel void f(device float4 *x [[buffer(0)]]) { x[0] = float4(float3(1), float2(2)); }
//! refuse vectors:
kernel void f(device float2 *x [[buffer(0)]]) { x[0].x = x[0].z; }
//! refuse vectors:
kernel void f(device float4 *x [[buffer(0)]], device int4 *y [[buffer(1)]]) { x[0] = y[0]; }
//! refuse vectors:
kernel void f(device float *x [[buffer(0)]]) { x[0] = x[0] % 2.0f; }
//! refuse vectors:
kernel void f(device int *x [[buffer(0)]]) { simdgroup_matrix<int, 8, 8> m; simdgroup_load(m, x, 8); x[0] = 0; }

//! accept vectors
struct Point { float x, y; };
inline void clear(thread float *x) { *x = 0; }
kernel void f(device float *x [[buffer(0)]], device float4 *y [[buffer(1)]], device uint2 *z [[buffer(2)]]) {
    Point p = {1, 2};
    clear(&p.x);
    x[0] = p.x;
    y[0] = float4(y[1].x, y[1].yz, 1);
    y[1] = float4(float2(1, 2), y[0].zw);
    y[2] = float4(0, float3(1, y[0].xy));
    y[3] = float4(1, 2, y[0].xy);
    z[0].x = z[1].x & z[2].y;
    z[1] = uint2(y[0].xy);
    device uint2 *w = &z[3];
    w->y = (z[1].x) & z[1].y;
}

//! refuse types: 'long long' is not supported in Metal
kernel void f(device long *x [[buffer(0)]]) { unsigned long long y = x[0]; x[0] = y; }
//! refuse functions: return
kernel void f(device float *x [[buffer(0)]]) { float y = x[0]; return y; }
//! refuse program scope: program scope variable must reside in constant address space
extern float total;
kernel void f(device float *x [[buffer(0)]]) { x[0] = total; }
