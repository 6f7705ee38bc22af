// Programs as users write them for compile_shader: what they use of the language, and mistakes of the kinds that people make.
// The form is that of programs.metal. What Apple documents is in the Metal Shading Language Specification, version 4.

//! accept vectors by template
template <typename T, int N> inline T sum_of(vec<T, N> v) { T s = 0; for (int i = 0; i < N; i++) s += v[i]; return s; }
kernel void f(device vec<float, 4> *x [[buffer(0)]], device half *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    vec<float, 4> a = x[i];
    vec<half, 4> h = vec<half, 4>(a);
    using V = vec<float, 2>;
    V b = V(a.x, a.y) + V(1);
    y[i] = half(sum_of(a)) + sum_of(h) + half(sum_of(b));
    x[i] = vec<float, 4>(a.xy, b);
}
//! accept vectors by template
template <typename T> struct vec4_of { using type = vec<T, 4>; };
template <typename T> kernel void scale(device const T *x [[buffer(0)]], device T *y [[buffer(1)]], constant float &by [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    using T4 = typename vec4_of<T>::type;
    T4 v = T4(x[4 * i], x[4 * i + 1], x[4 * i + 2], x[4 * i + 3]) * T(by);
    for (ushort k = 0; k < 4; k++) y[4 * i + k] = v[k];
}
template [[host_name("scale_float")]] kernel void scale<float>(device const float *, device float *, constant float &, uint);
template [[host_name("scale_half")]] kernel void scale<half>(device const half *, device half *, constant float &, uint);

//! accept vectors of bool
kernel void f(device float4 *x [[buffer(0)]], device int4 *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    bool4 positive = x[i] > 0.0f;
    bool4 small = abs(x[i]) < float4(1);
    bool2 both = bool2(positive.x, small.y);
    if (any(positive && small) || all(!positive) || both.x) x[i] = select(x[i], float4(0), positive);
    y[i] = int4(isnan(x[i])) + select(int4(1), int4(2), small || bool4(true, false, true, false));
    vec<bool, 3> three = isinf(x[i].xyz);
    x[i].w = float(three.z);
}
//! accept vectors of bool
kernel void f(device half3 *x [[buffer(0)]], constant half3 &low [[buffer(1)]]) {
    bool3 below = x[0] < low;
    x[0] = select(x[0], low, below);
    if (!all(x[0] == x[0])) x[0] = half3(0.0h);
}

//! accept matrices
kernel void f(device float4 *x [[buffer(0)]], constant float4x4 &m [[buffer(1)]], constant float3x3 &r [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    float4x4 t = transpose(m);
    float4 v = m * x[i];
    float3 w = r * v.xyz;
    float3 u = w * r;
    t[3] = float4(u, 1);
    t[0][1] = determinant(r);
    x[i] = (t * m) * v + float4(w, 0) * 2.0f;
}
//! accept matrices
constant float2x2 quarter = float2x2(float2(0, 1), float2(-1, 0));
inline float2x2 rotation(float angle) { float c = cos(angle), s = sin(angle); return float2x2(c, s, -s, c); }
kernel void f(device float2 *x [[buffer(0)]], constant float &angle [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    float2x2 m = rotation(angle);
    float2x3 wide = float2x3(float3(1), float3(2));
    m = m * quarter - float2x2(2.0f) + m * 0.5f;
    float3 y = wide * x[i];
    x[i] = m * x[i] + y.xy + transpose(wide) * y;
}
//! accept matrices
struct Camera { float4x4 view; float3 eye; };
kernel void f(device packed_float3 *x [[buffer(0)]], constant Camera &camera [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    Camera c = camera;
    float3 p = float3(x[i]) - c.eye;
    x[i] = packed_float3((c.view * float4(p, 1)).xyz);
    half2x2 h = half2x2(half2(1.0h), half2(2.0h));
    x[i].x += float(h[0][1]);
}

//! accept packed vectors
struct Particle { packed_float3 position; float mass; packed_half2 uv; packed_uchar4 color; };
kernel void f(device Particle *p [[buffer(0)]], constant packed_float3 &gravity [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    Particle one = p[i];
    float3 at = one.position;
    at += float3(gravity) * one.mass;
    one.position = at;
    one.position[0] += 1;
    one.position.y = at.z;
    float2 uv = float2(half2(one.uv));
    p[i] = one;
    p[i].uv = half2(uv.yx);
    p[i].color = uchar4(1, 2, 3, 4);
    p[i].position = packed_float3(uv.x, uv.y, at.x);
}
//! accept packed vectors
kernel void f(device const packed_vec<float, 3> *x [[buffer(0)]], device float *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    float3 v = x[i];
    y[i] = dot(v, float3(x[i + 1])) + length(v.xy) + x[i].z;
}

//! accept templates of kernels
template <typename T, uint N> [[kernel]] void fill(device T *x [[buffer(0)]], constant T &value [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    threadgroup T shared[N];
    if (i < N) shared[i] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[i] = shared[i % N];
}
template [[host_name("fill_f32")]] [[kernel]] void fill<float, 32>(device float *x [[buffer(0)]], constant float &value [[buffer(1)]], uint i [[thread_position_in_grid]]);
template [[host_name("fill_i32")]] [[kernel]] void fill<int, 64>(device int *x [[buffer(0)]], constant int &value [[buffer(1)]], uint i [[thread_position_in_grid]]);
//! accept templates of kernels
#define INSTANTIATE(name, T) \
    template [[host_name("add_" #name)]] kernel void add<T>(device const T *x [[buffer(0)]], device const T *y [[buffer(1)]], device T *z [[buffer(2)]], uint i [[thread_position_in_grid]]);
template <typename T> kernel void add(device const T *x [[buffer(0)]], device const T *y [[buffer(1)]], device T *z [[buffer(2)]], uint i [[thread_position_in_grid]]) { z[i] = x[i] + y[i]; }
INSTANTIATE(float, float)
INSTANTIATE(half, half)
INSTANTIATE(int, int32_t)
//! accept templates of kernels
template <typename T, typename Op> kernel void unary(device const T *x [[buffer(0)]], device T *y [[buffer(1)]], uint i [[thread_position_in_grid]]) { y[i] = Op()(x[i]); }
struct Negate { template <typename T> T operator()(T x) { return -x; } };
struct Square { template <typename T> T operator()(T x) { return x * x; } };
template [[host_name("negate")]] kernel decltype(unary<float, Negate>) unary<float, Negate>;
template [[host_name("square")]] kernel decltype(unary<half, Square>) unary<half, Square>;
//! accept templates of kernels
[[kernel]] void f(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = 0; }
[[host_name("named")]] [[kernel]] void g(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = 1; }
[[kernel, max_total_threads_per_threadgroup(256)]] void h(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = 2; }

//! accept threadgroup variables in any block
kernel void f(device float *x [[buffer(0)]], constant bool &wide [[buffer(1)]], uint i [[thread_index_in_threadgroup]]) {
    if (wide) {
        threadgroup float4 tile[64];
        tile[i] = float4(x[i]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        x[i] = tile[63 - i].x;
    }
    for (int k = 0; k < 2; k++) {
        threadgroup float part[32], total;
        if (i < 32) part[i] = x[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (i == 0) total = part[0] + part[1];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        x[i] += total;
    }
}

//! accept type traits
template <typename T> inline enable_if_t<is_floating_point<T>::value, T> halved(T x) { return x * T(0.5); }
template <typename T> inline enable_if_t<is_integral<T>::value, T> halved(T x) { return x >> 1; }
template <typename T> struct accumulator { using type = conditional_t<is_same<T, half>::value, float, T>; };
template <typename T> constexpr bool is_wide() { return is_same_v<T, float> || is_same_v<T, int>; }
kernel void f(device float *x [[buffer(0)]], device uint *y [[buffer(1)]], device half *z [[buffer(2)]]) {
    typename accumulator<half>::type sum = 0;
    for (int i = 0; i < 4; i++) sum += z[i];
    static_assert(is_same_v<decltype(sum), float>, "sums of half are float");
    static_assert(is_wide<int>() && is_signed<int>::value && !is_signed_v<uint>, "");
    x[0] = halved(x[0]) + sum;
    y[0] = halved(y[0]) + static_cast<make_unsigned_t<int>>(3);
}
//! accept type traits
template <typename T, typename = void> struct Zero { static constexpr constant T value = T(0); };
template <typename T> struct Zero<T, typename metal::enable_if<metal::is_same<T, bool>::value>::type> { static constexpr constant T value = false; };
template <typename T> struct is_half : metal::bool_constant<metal::is_same_v<T, half>> {};
kernel void f(device int *x [[buffer(0)]], device bool *y [[buffer(1)]]) { x[0] = Zero<int>::value + is_half<half>::value; y[0] = Zero<bool>::value; }

//! accept arrays
struct Shape { array<int, 4> sizes; array<long, 4> strides; };
constant array<float, 3> weights = {0.25f, 0.5f, 0.25f};
inline long offset(constant Shape &s, thread const array<int, 4> &at) { long o = 0; for (size_t i = 0; i < at.size(); i++) o += at[i] * s.strides[i]; return o; }
kernel void f(device float *x [[buffer(0)]], constant Shape &s [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    array<int, 4> at = {0, 0, 0, int(i)};
    at[3] %= s.sizes[3];
    float sum = 0;
    for (uint k = 0; k < 3; k++) sum += weights[k];
    x[offset(s, at)] = sum;
}

//! accept as_type
kernel void f(device float *x [[buffer(0)]], device uint2 *y [[buffer(1)]], device ushort4 *z [[buffer(2)]]) {
    uint bits = as_type<uint>(x[0]);
    half2 h = as_type<half2>(bits);
    y[0] = as_type<uint2>(float2(x[1], x[2]));
    z[0] = as_type<ushort4>(y[0]) + as_type<ushort4>(half4(h, h));
    long wide = as_type<long>(y[1]);
    x[3] = as_type<float>(bits | 0x80000000u) + float(wide >> 32);
}

//! accept reductions
inline float larger(float a, float b) { return a > b ? a : b; }
kernel void softmax(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant uint &n [[buffer(2)]],
                    uint row [[threadgroup_position_in_grid]], uint t [[thread_position_in_threadgroup]], uint threads [[threads_per_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]], uint group [[simdgroup_index_in_threadgroup]], uint groups [[simdgroups_per_threadgroup]]) {
    threadgroup float part[32];
    float most = -INFINITY, sum = 0;
    for (uint i = t; i < n; i += threads) most = larger(most, x[row * n + i]);
    most = simd_max(most);
    if (lane == 0) part[group] = most;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    most = simd_max(lane < groups ? part[lane] : -INFINITY);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = t; i < n; i += threads) sum += precise::exp(x[row * n + i] - most);
    sum = simd_sum(sum);
    if (simd_is_first()) part[group] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum = simd_sum(lane < groups ? part[lane] : 0.0f);
    for (uint i = t; i < n; i += threads) y[row * n + i] = fast::exp(x[row * n + i] - most) / sum;
}
//! accept reductions
template <typename T> inline T simd_reduce(T x, ushort width) { for (ushort k = width / 2; k > 0; k /= 2) x += simd_shuffle_down(x, k); return x; }
template <typename T> inline T pick(T x) { return metal::simd_broadcast(x, ushort(0)); }
kernel void f(device float2 *x [[buffer(0)]], device atomic_uint *n [[buffer(1)]], uint i [[thread_position_in_grid]], ushort quad [[thread_index_in_quadgroup]]) {
    float2 s = pick(simd_reduce(x[i], 32));
    s += quad_shuffle_xor(s, 1) + quad_broadcast(s, 3) + float2(quad_sum(s.x), simd_prefix_exclusive_sum(s.y));
    simd_vote vote = simd_ballot(s.x > 0);
    if (simd_any(s.y > 1) && quad_all(s.x > 0)) atomic_fetch_add_explicit(n, popcount(uint(ulong(vote))), memory_order_relaxed);
    x[i] = s + simd_shuffle_rotate_down(s, 2) + simd_shuffle_and_fill_up(s, float2(0), 1) + float2(quad);
}

//! accept matrix products
constant constexpr uint tile = 16;
kernel void matmul(device const float *a [[buffer(0)]], device const float *b [[buffer(1)]], device float *c [[buffer(2)]], constant uint3 &size [[buffer(3)]],
                   uint2 at [[thread_position_in_threadgroup]], uint2 group [[threadgroup_position_in_grid]]) {
    threadgroup float left[tile][tile], right[tile][tile + 1];
    uint row = group.y * tile + at.y, col = group.x * tile + at.x;
    float sum = 0;
    for (uint k = 0; k < size.z; k += tile) {
        left[at.y][at.x] = row < size.x && k + at.x < size.z ? a[row * size.z + k + at.x] : 0.0f;
        right[at.y][at.x] = k + at.y < size.z && col < size.y ? b[(k + at.y) * size.y + col] : 0.0f;
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (uint i = 0; i < tile; i++) sum = fma(left[at.y][i], right[i][at.x], sum);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (row < size.x && col < size.y) c[row * size.y + col] = sum;
}
//! accept matrix products
#include <metal_simdgroup_matrix>
kernel void matmul(device const half *a [[buffer(0)]], device const half *b [[buffer(1)]], device float *c [[buffer(2)]], constant uint &n [[buffer(3)]],
                   uint2 group [[threadgroup_position_in_grid]], ushort lane [[thread_index_in_simdgroup]]) {
    simdgroup_half8x8 left, right;
    simdgroup_float8x8 sum[2] = {simdgroup_float8x8(0), make_filled_simdgroup_matrix<float, 8, 8>(0.0f)};
    threadgroup half staged[64];
    for (uint k = 0; k < n; k += 8) {
        simdgroup_load(left, a + group.y * 8 * n + k, n);
        staged[2 * lane] = b[k * n + 2 * lane], staged[2 * lane + 1] = b[k * n + 2 * lane + 1];
        simdgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_load(right, staged, 8, ulong2(0, 0), true);
        simdgroup_multiply_accumulate(sum[0], left, right, sum[0]);
    }
    simdgroup_store(sum[0], c + group.y * 8 * n + group.x * 8, n, ulong2(0, 0));
}

//! accept atomics
kernel void histogram(device const uchar *x [[buffer(0)]], device atomic_uint *bins [[buffer(1)]], constant uint &n [[buffer(2)]], uint i [[thread_position_in_grid]],
                      uint t [[thread_index_in_threadgroup]], uint threads [[threads_per_threadgroup]]) {
    threadgroup atomic_uint local[256];
    for (uint k = t; k < 256; k += threads) atomic_store_explicit(&local[k], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (i < n) atomic_fetch_add_explicit(&local[x[i]], 1, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = t; k < 256; k += threads) {
        uint count = atomic_load_explicit(&local[k], memory_order_relaxed);
        if (count) atomic_fetch_add_explicit(&bins[k], count, memory_order_relaxed);
    }
}
//! accept atomics
inline void add(device atomic_uint *at, float x) {
    uint old = atomic_load_explicit(at, memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(at, &old, as_type<uint>(as_type<float>(old) + x), memory_order_relaxed, memory_order_relaxed)) {}
}
kernel void f(device atomic<uint> *x [[buffer(0)]], volatile device atomic_int *y [[buffer(1)]], device atomic<float> &z [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    add(x + i % 4, 1.5f);
    int before = atomic_exchange_explicit(y, int(i), memory_order_relaxed);
    atomic_fetch_min_explicit(y + 1, before, memory_order_relaxed);
    atomic_fetch_or_explicit(&y[2], 1 << (i & 31), memory_order_relaxed);
    atomic_fetch_add_explicit(&z, 0.5f, memory_order_relaxed);
}

//! accept function constants
constant uint kernel_size [[function_constant(0)]];
constant bool has_bias [[function_constant(1)]];
constant float slope [[function_constant(2)]];
constant bool leaky = is_function_constant_defined(slope);
constant float factor = leaky ? slope : 0.0f;
constant uint radius = kernel_size / 2;
kernel void blur(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant float *bias [[buffer(2)]], constant int2 &size [[buffer(3)]], uint2 at [[thread_position_in_grid]]) {
    float sum = 0;
    for (int j = -int(radius); j <= int(radius); j++)
        for (int i = -int(radius); i <= int(radius); i++) {
            int2 p = clamp(int2(at) + int2(i, j), int2(0), size - 1);
            sum += x[p.y * size.x + p.x];
        }
    sum /= float(kernel_size * kernel_size);
    if (has_bias) sum += bias[0];
    y[at.y * size.x + at.x] = sum > 0 ? sum : sum * factor;
}

//! accept argument structs
enum class Mode : uint { Copy, Scale, Clip };
struct Range { float low, high; };
struct Params { uint count; Mode mode; Range range; float4 color; int strides[4]; };
inline float apply(Params p, float x) {
    switch (p.mode) {
        case Mode::Scale: return x * p.color.w;
        case Mode::Clip: return clamp(x, p.range.low, p.range.high);
        default: return x;
    }
}
kernel void f(device float *x [[buffer(0)]], constant Params &params [[buffer(1)]], constant Range *ranges [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    const Params p = params;
    Range r = ranges[i % 2];
    Range both[2] = {params.range, r};
    if (i >= p.count) return;
    r = params.range;
    x[i * uint(params.strides[0])] = apply(params, x[i]) + mix(r.low, both[1].high, 0.5f);
}

//! accept names with metal::
kernel void f(device metal::float4 *x [[buffer(0)]], device metal::atomic_uint *n [[buffer(1)]], metal::uint2 at [[thread_position_in_grid]]) {
    metal::float3 v = metal::normalize(x[at.x].xyz);
    metal::packed_float3 p = metal::packed_float3(v);
    x[at.y] = metal::float4(metal::fma(v, metal::float3(2.0f), metal::float3(p)), metal::precise::sqrt(v.x));
    metal::atomic_store_explicit(n, metal::max(at.x, at.y), metal::memory_order_relaxed);
    metal::threadgroup_barrier(metal::mem_flags::mem_device | metal::mem_flags::mem_threadgroup);
}

//! accept convolutions
template <typename T, int K> inline T convolve(device const T *x, constant T *w, int2 at, int2 size) {
    T sum = T(0);
    for (int j = 0; j < K; ++j)
        for (int i = 0; i < K; ++i) {
            const int2 p = at + int2(i, j) - K / 2;
            if (p.x < 0 || p.y < 0 || any(p >= size)) continue;
            sum += x[p.y * size.x + p.x] * w[j * K + i];
        }
    return sum;
}
kernel void f(device const float *x [[buffer(0)]], constant float *w [[buffer(1)]], device float *y [[buffer(2)]], constant packed_int2 &size [[buffer(3)]], uint3 at [[thread_position_in_grid]]) {
    int2 s = size;
    if (int(at.x) >= s.x || int(at.y) >= s.y) return;
    y[(at.z * uint(s.y) + at.y) * uint(s.x) + at.x] = max(convolve<float, 3>(x, w, int2(at.xy), s), 0.0f);
}

//! accept operators of a type
struct Complex {
    float re, im;
    Complex() = default;
    Complex(float r, float i) : re(r), im(i) {}
    Complex operator*(Complex o) const { return Complex(re * o.re - im * o.im, re * o.im + im * o.re); }
    Complex operator+(Complex o) const { return Complex(re + o.re, im + o.im); }
    thread Complex &operator+=(Complex o) thread { re += o.re; im += o.im; return *this; }
};
inline float abs2(Complex z) { return z.re * z.re + z.im * z.im; }
kernel void mandelbrot(device uint *x [[buffer(0)]], constant float4 &window [[buffer(1)]], uint2 at [[thread_position_in_grid]], uint2 size [[threads_per_grid]]) {
    float2 p = window.xy + float2(at) / float2(size) * window.zw;
    Complex c(p.x, p.y), z(0, 0);
    uint n = 0;
    while (n < 100u && abs2(z) < 4.0f) z = z * z + c, ++n;
    z += c;
    x[at.y * size.x + at.x] = n;
}

//! accept random numbers
inline uint2 philox(uint2 counter, uint key) {
    for (int i = 0; i < 10; i++) {
        uint high = mulhi(0xD256D193u, counter.x), low = 0xD256D193u * counter.x;
        counter = uint2(high ^ key ^ counter.y, low);
        key += 0x9E3779B9u;
    }
    return counter;
}
kernel void normal(device float2 *x [[buffer(0)]], constant uint &seed [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    uint2 bits = philox(uint2(i, 0), seed);
    float2 u = (float2(bits >> 8) + 0.5f) * 0x1p-24f;
    float c, s = sincos(2 * M_PI_F * u.y, c);
    x[i] = sqrt(-2 * log(u.x)) * float2(c, s);
    x[i].x += float(rotate(bits.x, 13u) & 1u) + float(extract_bits(bits.y, 3, 5)) * numeric_limits<float>::epsilon();
}

//! accept scans
kernel void scan(device int *x [[buffer(0)]], threadgroup int *shared [[threadgroup(0)]], constant uint &n [[buffer(1)]], uint t [[thread_position_in_threadgroup]], uint threads [[threads_per_threadgroup]]) {
    int running = 0;
    for (uint base = 0; base < n; base += threads) {
        int mine = base + t < n ? x[base + t] : 0;
        shared[t] = mine;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint step = 1; step < threads; step <<= 1) {
            int before = t >= step ? shared[t - step] : 0;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            shared[t] += before;
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        if (base + t < n) x[base + t] = running + shared[t];
        running += shared[threads - 1];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

//! accept functions
typedef float (*Activation)(float);
inline float relu(float x) { return max(x, 0.0f); }
inline float gelu(float x) { return 0.5f * x * (1.0f + tanh(0.79788456f * (x + 0.044715f * x * x * x))); }
inline float apply(Activation f, float x) { return f(x); }
kernel void f(device float *x [[buffer(0)]], constant bool &smooth [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    float (*g)(float) = smooth ? gelu : relu;
    x[i] = apply(g, x[i]) + apply(relu, x[i]);
}

//! accept literals
kernel void f(device float *x [[buffer(0)]], device half *h [[buffer(1)]], device float4 *v [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    x[i] = max(x[i], 0.0) + min(0.5, x[i]) * 1e-3 + 0x1p-3 + .25;
    x[i] += clamp(x[i], 0.0, 1.0) + pow(x[i], 2) + fmax(x[i], 0) + step(0, x[i]) + atan2(x[i], 1) + fma(x[i], 2, 1) + mix(x[i], 1.0, 0.5);
    h[i] = h[i] * 0.5h + half(1.0) / 3.0h;
    h[i] = max(h[i], 0.0h) + 2;
    v[i] = v[i] * 2.0 + 1.0 - v[i] / 3;
    v[i] = max(v[i], 0.0f) + clamp(v[i], 0.0f, 1.0f) + float4(0.5);
    const float third = 1.0 / 3.0;
    static_assert(sizeof(1.0) == 4, "a literal is float");
    x[i] *= third > 0.3 ? 1.0 : -1.0;
}
//! accept components of vectors
inline void exchange(thread float2 &v) { v = v.yx; }
kernel void f(device float4 *x [[buffer(0)]], device uchar4 *pixels [[buffer(1)]], constant float3 &axis [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    float4 v = x[i];
    float3 n = normalize(v.zyx) * length(v.xw) + cross(v.xyz, axis) + reflect(v.yzw, axis.zxy);
    auto last = v.zw;
    v.xw = float2(1, 2);
    v.yz += last.yx * 2;
    v.bgr = n;
    v.w = dot(n.xy, v.rg) + last.x;
    exchange(last);
    x[i].xy = last;
    x[i].zw = max(v.xy, v.zw);
    pixels[i].rgb = uchar3(saturate(v.xyz) * 255.0f);
    float2 xx = v.xx + v[3];
    x[i + 1] = v.xxyy + float4(xx, n.z, smoothstep(0.0f, 1.0f, v.x));
    thread float4 *p = &v;
    p->xyz = p->zyx;
    x[i + 2] = *p;
}
//! accept components of vectors
struct Vertex { packed_float3 at; packed_uchar4 rgba; float2 xy; };
kernel void f(device Vertex *v [[buffer(0)]], device float3 *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    y[i] = v[i].at.xyz + float3(v[i].xy, v[i].at.z);
    v[i].at.x = v[i].xy.y;
    v[i].at *= 2.0f;
    v[i].rgba = uchar4(1);
}
//! accept overloads
template <typename T> inline T least(T a, T b) { return a < b ? a : b; }
inline float3 least(float3 a, float3 b) { return min(a, b); }
inline uint hash(uint x) { x ^= x >> 16; x *= 0x7feb352d; return x; }
inline uint hash(uint2 x) { return hash(x.x ^ hash(x.y)); }
inline float load(device const float *x, uint i) { return x[i]; }
inline float load(constant float *x, uint i) { return x[i]; }
inline float load(threadgroup const float *x, uint i) { return x[i]; }
kernel void f(device float *x [[buffer(0)]], constant float *y [[buffer(1)]], uint2 at [[thread_position_in_grid]]) {
    threadgroup float z[4];
    z[at.x & 3] = load(x, 0);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[at.x] = load(x, 1) + load(y, 2) + load(z, 3) + least(x[0], y[0]) + least(float3(1), float3(2)).x + float(hash(at)) + least(1, 2);
}
//! accept integers
kernel void f(device uint *x [[buffer(0)]], device int *y [[buffer(1)]], device ulong *z [[buffer(2)]], device uchar *b [[buffer(3)]], uint i [[thread_position_in_grid]]) {
    x[i] = popcount(x[i]) + clz(x[i]) + ctz(x[i] | 1) + reverse_bits(x[i]) + mulhi(x[i], 3u) + extract_bits(x[i], 4, 8) + insert_bits(x[i], 7u, 0, 3);
    y[i] = absdiff(y[i], -3) + addsat(y[i], 1) + subsat(y[i], 2) + hadd(y[i], 3) + rhadd(y[i], 4) + madhi(y[i], 5, 6) + madsat(y[i], 7, 8) + median3(y[i], 9, 10);
    z[i] = ulong(x[i]) << 32 | as_type<uint>(y[i]);
    b[i] = uchar(x[i]) >> 2 ^ b[i + 1];
    y[i] += int(rotate(x[i], 5u)) + mad24(y[i], 2, 3) + int(max3(1u, 2u, x[i])) + (y[i] >> 31) % 3;
    ushort s = ushort(i); s += 3; int8_t t = int8_t(s); y[i] += t + CHAR_MAX + INT_MIN;
}
//! accept pointers
struct Node { float value; int next; };
inline device Node *find(device Node *all, int first, float value) { device Node *n = all + first; while (n->value != value && n->next >= 0) n = &all[n->next]; return n; }
template <typename T> inline void swap(device T &a, device T &b) { T c = a; a = b; b = c; }
inline void sort(thread float *x, uint n) { for (uint i = 1; i < n; i++) for (uint j = i; j > 0 && x[j - 1] > x[j]; j--) { float t = x[j]; x[j] = x[j - 1]; x[j - 1] = t; } }
kernel void f(device Node *all [[buffer(0)]], device float *x [[buffer(1)]], constant void *raw [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    device Node *n = find(all, 0, x[i]);
    swap(n->value, all[0].value);
    float part[5];
    for (int k = 0; k < 5; k++) part[k] = x[k];
    sort(part, 5);
    sort(&part[1], 3);
    constant uint2 *pairs = static_cast<constant uint2 *>(raw);
    device float4 *wide = reinterpret_cast<device float4 *>(x + 4);
    wide[0] = float4(part[2]) + float(pairs->x);
    device const uchar *bytes = (device const uchar *)x;
    if (n != nullptr) x[0] = bytes[3];
}
//! accept a loop over a range
constant float coefficients[] = {1, 2, 3};
kernel void f(device float *x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
    float local[4] = {}, sum = 0;
    for (auto c : coefficients) sum += c;
    for (float v : local) sum += v;
    do { sum -= 1; } while (sum > 10);
    x[i] = sum;
}
//! accept program scope
constexpr float third() { return 1.0f / 3; }
template <typename T> constexpr T twice(T x) { return 2 * x; }
constant float scale = third();
constant float2 scales = float2(twice(2.0f), third());
constant uint sizes[] = {twice(2u), sizeof(float4), numeric_limits<uchar>::max()};
kernel void f(device float *x [[buffer(0)]]) { threadgroup float t[twice(8)]; t[0] = scale; x[0] = t[0] + scales.y + sizes[0]; }
//! accept namespaces
namespace mine {
constant float pi = 3.14159265f;
namespace detail { template <typename T> inline T twice(T x) { return x + x; } }
inline float turn(float x) { return detail::twice(pi) * x; }
}
using mine::turn;
kernel void f(device float *x [[buffer(0)]]) { x[0] = turn(x[1]) + mine::pi; }
//! accept namespaces
namespace mine {
kernel void f(device float *x [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) { threadgroup float t[32]; t[i] = x[i]; x[i] = t[i]; }
}
kernel void g(device float *x [[buffer(0)]]) { x[0] = 0; }
//! accept unions and bit fields
union Bits { float f; uint u; };
struct Flags { uint low : 4; uint high : 12; };
kernel void f(device float *x [[buffer(0)]], device uint *y [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    Bits b;
    b.f = x[i];
    b.u &= 0x7fffffff;
    Flags g = {y[i] & 15, 3};
    y[i] = b.u + g.low + g.high;
}
//! accept a functor
struct Add { float operator()(float a, float b) const { return a + b; } };
struct Max { float operator()(float a, float b) const { return max(a, b); } };
template <typename Op> inline float fold(device const float *x, uint n, float start, Op op) { for (uint i = 0; i < n; i++) start = op(start, x[i]); return start; }
template <int n> struct Power { static float of(float x) { return x * Power<n - 1>::of(x); } };
template <> struct Power<0> { static float of(float) { return 1; } };
kernel void f(device float *x [[buffer(0)]], constant uint &n [[buffer(1)]]) { x[0] = fold(x, n, 0, Add()) + fold(x, n, -INFINITY, Max{}) + Power<3>::of(x[1]); }
//! accept pragmas
#pragma METAL fp math_mode(safe)
#pragma clang diagnostic ignored "-Wunused-variable"
#define BLOCK 8
#if defined(__METAL_VERSION__) && __METAL_VERSION__ >= 300
#define KERNEL kernel
#endif
#define AT(i, j) ((i) * BLOCK + (j))
KERNEL void f(device float *x [[buffer(0)]], uint2 at [[thread_position_in_grid]]) {
    float unused = 0;
#pragma unroll
    for (int k = 0; k < BLOCK; k++) x[AT(at.x, at.y)] += float2(k, BLOCK).x;
}

//! refuse lambda expressions: lambda expressions are not supported
kernel void f(device float *x [[buffer(0)]]) { auto twice = [](float v) { return 2 * v; }; x[0] = twice(x[0]); }
//! refuse lambda expressions: lambda expressions are not supported
template <typename F> inline float apply(F f, float x) { return f(x); }
kernel void f(device float *x [[buffer(0)]], constant float &by [[buffer(1)]]) { float b = by; x[0] = apply([&](float v) { return b * v; }, x[0]); }
//! refuse functions: defined nowhere
float twice(float x);
kernel void f(device float *x [[buffer(0)]]) { x[0] = twice(x[0]); }
//! refuse functions: defined nowhere
template <typename T> T twice(T x);
kernel void f(device float *x [[buffer(0)]]) { x[0] = twice(x[0]); }
//! refuse functions: 'noexcept' is not supported in Metal
inline float twice(float x) noexcept { return 2 * x; }
kernel void f(device float *x [[buffer(0)]]) { x[0] = twice(x[0]); }
//! refuse functions: cannot be called 'main'
inline int main() { return 0; }
kernel void f(device float *x [[buffer(0)]]) { x[0] = 0; }
//! refuse functions: parameter may not be qualified with an address space
inline float twice(device float x) { return 2 * x; }
kernel void f(device float *x [[buffer(0)]]) { x[0] = twice(x[0]); }
//! refuse functions: has the same name
[[host_name("g")]] kernel void f(device float *x [[buffer(0)]]) { x[0] = 0; }
kernel void g(device float *x [[buffer(0)]]) { x[0] = 1; }
//! refuse functions: template
template [[host_name("f_float")]] kernel void f<float>(device float *, uint);
kernel void g(device float *x [[buffer(0)]]) { x[0] = 1; }
//! refuse program scope: constant
inline float third() { return 1.0f / 3; }
constant float scale = third();
kernel void f(device float *x [[buffer(0)]]) { x[0] *= scale; }
//! refuse program scope: constant
constant float e = exp(1.0f);
kernel void f(device float *x [[buffer(0)]]) { x[0] *= e; }
//! refuse program scope: initial
constant float scale;
kernel void f(device float *x [[buffer(0)]]) { x[0] *= scale; }
//! refuse program scope: assign
constant float table[2] = {1, 2};
kernel void f(device float *x [[buffer(0)]]) { table[0] = x[0]; }
//! refuse threadgroup memory: threadgroup memory exceeds 32768 bytes
kernel void f(device float *x [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) {
    if (x[0] > 0) { threadgroup float4 tile[2049]; tile[i] = x[i]; x[i] = tile[0].x; }
}
//! refuse threadgroup memory: threadgroup_barrier
kernel void f(device float *x [[buffer(0)]]) { threadgroup_barrier(); x[0] = 0; }
//! refuse threadgroup memory: mem_threadgroup
kernel void f(device float *x [[buffer(0)]]) { threadgroup_barrier(mem_threadgroup); x[0] = 0; }
//! refuse types: zero
kernel void f(device float *x [[buffer(0)]]) { float y[0]; x[0] = sizeof(y); }
//! refuse types: bfloat
kernel void f(device float *x [[buffer(0)]]) { bfloat y = bfloat(x[0]); x[0] = float(y); }
//! refuse names of C++: std
kernel void f(device float *x [[buffer(0)]]) { x[0] = std::max(x[0], 0.0f); }
//! refuse names of C++: cmath
#include <cmath>
kernel void f(device float *x [[buffer(0)]]) { x[0] = 0; }
//! refuse names of C++: printf
kernel void f(device float *x [[buffer(0)]]) { printf("%f", x[0]); }
//! refuse names of C++: __shared__
kernel void f(device float *x [[buffer(0)]]) { __shared__ float y[32]; x[0] = y[0]; }
//! refuse names of C++: atomicAdd
kernel void f(device atomic_uint *x [[buffer(0)]]) { atomicAdd(x, 1u); }
//! refuse labels: labeled statements are not supported
kernel void f(device float *x [[buffer(0)]]) { again: x[0] = 0; }
//! refuse vectors:
kernel void f(device float4 *x [[buffer(0)]]) { x[0].xx = float2(1, 2); }
//! refuse vectors:
kernel void f(device float4 *x [[buffer(0)]]) { x[0].xy = float4(1); }
//! refuse vectors:
kernel void f(device float4 *x [[buffer(0)]]) { x[0].xy = x[0].xg; }
//! refuse vectors:
kernel void f(device float3 *x [[buffer(0)]]) { x[0].x = x[0].xyw.x; }
//! refuse vectors:
inline void clear(thread float2 *v) { *v = 0; }
kernel void f(device float4 *x [[buffer(0)]]) { float4 v = x[0]; clear(&v.xy); x[0] = v; }
//! refuse vectors:
inline void clear(thread float &v) { v = 0; }
kernel void f(device float4 *x [[buffer(0)]]) { float4 v = x[0]; clear(v.x); x[0] = v; }
//! refuse vectors:
kernel void f(device float4 *x [[buffer(0)]]) { if (x[0] > 0.0f) x[0] = 1; }
//! refuse vectors:
kernel void f(device int4 *x [[buffer(0)]], device uint4 *y [[buffer(1)]]) { x[0] = x[0] + y[0]; }
//! refuse vectors:
kernel void f(device float *x [[buffer(0)]]) { float4 v = {1, 2, 3, 4, 5}; x[0] = v.x; }
//! refuse vectors:
kernel void f(device float3 *x [[buffer(0)]]) { packed_float3 p = packed_float3(1, 2); x[0] = p; }
//! refuse matrices:
kernel void f(device float2 *x [[buffer(0)]]) { float2x3 m = float2x3(x[0], 1.0f, x[1], 2.0f); x[0] = m[0].xy; }
//! refuse matrices:
kernel void f(device float3 *x [[buffer(0)]]) { float3x3 m = float3x3(x[0], x[1]); x[0] = m[0]; }
//! refuse matrices:
kernel void f(device float3 *x [[buffer(0)]], constant float4x4 &m [[buffer(1)]]) { x[0] = m * x[0]; }
//! refuse matrices:
kernel void f(device float2 *x [[buffer(0)]], constant float2x3 &a [[buffer(1)]], constant float3x2 &b [[buffer(2)]]) { x[0] = (a + b)[0]; }
//! refuse atomics:
kernel void f(device atomic_uint *x [[buffer(0)]]) { x[0] += 1; }
//! refuse atomics:
kernel void f(device atomic_bool *x [[buffer(0)]]) { atomic_fetch_add_explicit(x, true, memory_order_relaxed); }
//! refuse atomics: atomic_fetch_add_explicit
kernel void f(device atomic_uint *x [[buffer(0)]]) { atomic_fetch_add_explicit(x, 1u); }
//! refuse atomics:
kernel void f(device float *x [[buffer(0)]], uint i [[thread_index_in_threadgroup]]) { threadgroup float sum; atomic_fetch_add_explicit(&sum, x[i], memory_order_relaxed); x[0] = sum; }
//! refuse overloads: clamp
kernel void f(device float *x [[buffer(0)]]) { x[0] = clamp(x[0], 0, 1); }
//! refuse overloads: sqrt
kernel void f(device int *x [[buffer(0)]]) { x[0] = sqrt(x[0]); }
//! refuse overloads:
template <typename T> inline enable_if_t<is_integral<T>::value, T> halved(T x) { return x >> 1; }
kernel void f(device float *x [[buffer(0)]]) { x[0] = halved(x[0]); }
//! refuse conversion of address space: twice
struct Params { float by; };
inline float twice(thread const Params &p) { return 2 * p.by; }
kernel void f(device float *x [[buffer(0)]], constant Params &p [[buffer(1)]]) { x[0] = twice(p); }
//! refuse conversion of address space: address space
template <typename T> inline void add(threadgroup T *x, T y) { *x += y; }
kernel void f(device float *x [[buffer(0)]]) { add(x, 1.0f); }
//! refuse missing address space: pointer type must have explicit address space qualifier
kernel void f(device float *x [[buffer(0)]]) { const char *name = "f"; x[0] = name[0]; }
//! refuse kernels: member function
struct K { kernel void f(device float *x [[buffer(0)]]) { x[0] = 0; } };
//! refuse attributes:
kernel void f(device float *x [[buffer(0)]], thread uint &i [[thread_position_in_grid]]) { x[i] = 0; }
//! refuse attributes: unknown attribute 'vertex_id'
kernel void f(device float *x [[buffer(0)]], uint i [[vertex_id]]) { x[i] = 0; }
//! refuse attributes:
struct Params { float by; };
kernel void f(device float *x [[buffer(0)]], Params p [[buffer(1)]]) { x[0] *= p.by; }
//! refuse writes: 
kernel void f(device const float *x [[buffer(0)]]) { x[0] = 1; }
//! refuse writes:
struct Params { float by; };
kernel void f(device float *x [[buffer(0)]], constant Params &p [[buffer(1)]]) { p.by = x[0]; }
//! refuse inline assembly: 'asm' is not supported in Metal
kernel void f(device float *x [[buffer(0)]]) { asm("nop"); x[0] = 0; }
