
inline float subtract_float32_float32_float16(float x0, half x1) {
    const float x = x0;
    const float y = float(x1);
    return float(x - y);
}

inline float multiply_float32_float32_float32(float x0, float x1) {
    const float x = x0;
    const float y = x1;
    return float(x * y);
}

inline void steps(float r0, half r1, thread float &w0, thread float &w1, constant ulong *numbers) {
    const float v0 = subtract_float32_float32_float16(r0, r1);
    const float v1 = multiply_float32_float32_float32(v0, v0);
    w0 = v0;
    w1 = v1;
}
typedef float E;
typedef float C;
typedef uint W;
typedef int I;
inline C load(E x) { return x; }
enum : uint { V = 4, LINE = 32, STAGE = 2048 };

// What another lane of the SIMD group has. simd_shuffle_xor takes neither bool nor integers of 64 bits.
inline float from_lane(float x, ushort mask) { return simd_shuffle_xor(x, mask); }
inline int from_lane(int x, ushort mask) { return simd_shuffle_xor(x, mask); }
inline uint from_lane(uint x, ushort mask) { return simd_shuffle_xor(x, mask); }
inline bool from_lane(bool x, ushort mask) { return simd_shuffle_xor(uint(x), mask) != 0; }
inline char from_lane(char x, ushort mask) { return char(simd_shuffle_xor(int(x), mask)); }
inline uchar from_lane(uchar x, ushort mask) { return uchar(simd_shuffle_xor(uint(x), mask)); }
inline short from_lane(short x, ushort mask) { return short(simd_shuffle_xor(int(x), mask)); }
inline ushort from_lane(ushort x, ushort mask) { return ushort(simd_shuffle_xor(uint(x), mask)); }
inline long from_lane(long x, ushort mask) { return as_type<long>(simd_shuffle_xor(as_type<uint2>(x), mask)); }
inline ulong from_lane(ulong x, ushort mask) { return as_type<ulong>(simd_shuffle_xor(as_type<uint2>(x), mask)); }

// The number of the vector of 16 bytes that the line of 128 bytes begins with in which an element lies. SIMD groups
// that begin there read whole lines.
inline I line_start(I element) { return element / I(LINE) * I(LINE / V); }

struct A {
    float sum, dropped;
};
inline A zero() { return A{0, 0}; }
inline A join(A a, A b) {
    float s = a.sum + b.sum, back = s - a.sum;
    return A{s, a.dropped + b.dropped + ((a.sum - (s - back)) + (b.sum - back))};
}
inline A fold(A a, C x, uint) { return join(a, A{x, 0}); }
inline A shift(A a, ushort mask) { return A{from_lane(a.sum, mask), from_lane(a.dropped, mask)}; }
inline float value(A a) {
    float v = a.sum + a.dropped;
    return isfinite(a.sum) ? v : a.sum;
}
inline C result(A a, uint count) { return value(a) / float(count); }

typedef float R;
inline R store(float x) { return float(x); }
#define TAKES device const float *in0, device const half *in1, device float *out0, constant Walk<int> &walk1, constant ulong *numbers, 
#define GIVES in0, in1, out0, walk1, numbers, 
#define MEMORY device const float *in0 [[buffer(0)]], device const half *in1 [[buffer(1)]], device float *out0 [[buffer(2)]], constant Walk<int> &walk1 [[buffer(3)]], constant ulong *numbers [[buffer(4)]], 
#define OUT 5
#define TO 6
#define SIZES 7
#define LANES 4u
inline E element(TAKES uint e) {
    float t0;
    E t1;
    steps(in0[e], in1[seek(walk1, e)], t0, t1, numbers);
    out0[e] = t0;
    return t1;
}
inline A fold_lanes(TAKES uint i, A a, uint low) {
    const float4 x0 = ((device const float4 *)in0)[i];
    const int at1 = seek(walk1, i * 4), by1 = walk1.strides[walk1.rank - 1];
    half4 x1 = in1[at1];
    if (by1 != 0)
        for (uint k = 1; k < 4; k++) x1[k] = in1[at1 + int(k) * by1];
    float4 y0;
    for (uint k = 0; k < 4; k++) {
        float t0;
        E t1;
        steps(x0[k], x1[k], t0, t1, numbers);
        y0[k] = t0;
        a = fold(a, load(t1), i * LANES + k - low);
    }
    ((device float4 *)out0)[i] = y0;
    return a;
}
