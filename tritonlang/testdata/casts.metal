// {"triton_mps":1,"name":"casts","args":[{"name":"x_ptr","type":"*fp32","divisible":16},{"name":"h_ptr","type":"*fp16","divisible":16,"writes":true},{"name":"b_ptr","type":"*bf16","divisible":16,"writes":true},{"name":"e5_ptr","type":"*fp8e5","divisible":16,"writes":true},{"name":"e4_ptr","type":"*fp8e4nv","divisible":16,"writes":true},{"name":"o_ptr","type":"*fp32","divisible":16,"writes":true}],"grid":"threadgroups","num_warps":4,"threads":128,"shared":0}
#include <metal_stdlib>
using namespace metal;

inline float bf16_to_float(ushort x) {
    return as_type<float>(uint(x) << 16);
}

inline ushort float_to_bf16(float x) {
    uint u = as_type<uint>(x);
    return (u & 0x7fffffffu) > 0x7f800000u ? ushort(u >> 16 | 0x40u) : ushort((u + 0x7fffu + (u >> 16 & 1u)) >> 16);
}

inline uchar float_to_small(float x, uint mantissa, uint bias, uint most, uint beyond, uint nan) {
    uint u = as_type<uint>(x), sign = u >> 24 & 0x80u, shift = 23 - mantissa;
    u &= 0x7fffffffu;
    if (u > 0x7f800000u) return uchar(sign | nan);
    uint code;
    if (u < (128 - bias) << 23) {
        float unit = as_type<float>((128 - bias - mantissa + 23) << 23);
        code = as_type<uint>(as_type<float>(u) + unit) - as_type<uint>(unit);
    } else {
        code = (u + (1u << (shift - 1)) - 1 + (u >> shift & 1u) - ((127 - bias) << 23)) >> shift;
    }
    return uchar(sign | (code > most ? beyond : code));
}

inline uchar float_to_e5m2(float x) {
    return float_to_small(x, 2, 15, 0x7bu, 0x7cu, 0x7fu);
}

inline uchar float_to_e4m3(float x) {
    return float_to_small(x, 3, 7, 0x7eu, 0x7eu, 0x7fu);
}

inline float e5m2_to_float(uchar x) {
    return float(as_type<half>(ushort(ushort(x) << 8)));
}

inline float e4m3_to_float(uchar x) {
    uint code = x & 0x7fu, sign = uint(x & 0x80u) << 24;
    float size = code < 8u ? float(code) * 0x1p-9f : as_type<float>((code << 20) + (120u << 23));
    return as_type<float>(sign | (code == 0x7fu ? 0x7fc00000u : as_type<uint>(size)));
}

[[max_total_threads_per_threadgroup(128)]]
kernel void casts(
    device const float *x_ptr [[buffer(0)]],
    device half *h_ptr [[buffer(1)]],
    device ushort *b_ptr [[buffer(2)]],
    device uchar *e5_ptr [[buffer(3)]],
    device uchar *e4_ptr [[buffer(4)]],
    device float *o_ptr [[buffer(5)]],
    uint3 program [[threadgroup_position_in_grid]],
    uint3 programs [[threadgroups_per_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint warp [[simdgroup_index_in_threadgroup]]) {
    int i[2];
    for (ushort r = 0; r < 2; r++) {  // kernels.py:221
        i[r] = int(lane * 2 + warp * 64 + r);
    }
    float x_1[2];  // kernels.py:222
    float2 t1 = *(device const float2 *)(x_ptr + i[0]);
    x_1[0] = t1.x;
    x_1[1] = t1.y;
    half v2[2];
    for (ushort r = 0; r < 2; r++) {  // kernels.py:223
        v2[r] = half(x_1[r]);
    }
    *(device half2 *)(h_ptr + i[0]) = half2(v2[0], v2[1]);
    ushort v5[2];
    for (ushort r = 0; r < 2; r++) {  // kernels.py:224
        v5[r] = float_to_bf16(x_1[r]);
    }
    *(device ushort2 *)(b_ptr + i[0]) = ushort2(v5[0], v5[1]);
    uchar v8[2];
    for (ushort r = 0; r < 2; r++) {  // kernels.py:225
        v8[r] = float_to_e5m2(x_1[r]);
    }
    *(device uchar2 *)(e5_ptr + i[0]) = uchar2(v8[0], v8[1]);
    uchar v11[2];
    for (ushort r = 0; r < 2; r++) {  // kernels.py:226
        v11[r] = float_to_e4m3(x_1[r]);
    }
    *(device uchar2 *)(e4_ptr + i[0]) = uchar2(v11[0], v11[1]);
    device uchar *a = e5_ptr + 256;  // kernels.py:227
    uchar a_4[2];
    uchar2 t2 = *(device const uchar2 *)(a + i[0]);
    a_4[0] = t2.x;
    a_4[1] = t2.y;
    device uchar *b = e4_ptr + 256;  // kernels.py:228
    float a_5[2];
    for (ushort r = 0; r < 2; r++) {  // kernels.py:227
        a_5[r] = e5m2_to_float(a_4[r]);
    }
    uchar b_8[2];  // kernels.py:228
    uchar2 t3 = *(device const uchar2 *)(b + i[0]);
    b_8[0] = t3.x;
    b_8[1] = t3.y;
    device ushort *c = b_ptr + 256;  // kernels.py:229
    float b_9[2];
    for (ushort r = 0; r < 2; r++) {  // kernels.py:228
        b_9[r] = e4m3_to_float(b_8[r]);
    }
    ushort c_12[2];  // kernels.py:229
    ushort2 t4 = *(device const ushort2 *)(c + i[0]);
    c_12[0] = t4.x;
    c_12[1] = t4.y;
    device half *d = h_ptr + 256;  // kernels.py:230
    float c_13[2];
    for (ushort r = 0; r < 2; r++) {  // kernels.py:229
        c_13[r] = bf16_to_float(c_12[r]);
    }
    half d_16[2];  // kernels.py:230
    half2 t5 = *(device const half2 *)(d + i[0]);
    d_16[0] = t5.x;
    d_16[1] = t5.y;
    float d_17[2];
    for (ushort r = 0; r < 2; r++) {
        d_17[r] = float(d_16[r]);
    }
    *(device float2 *)(o_ptr + i[0]) = float2(a_5[0], a_5[1]);  // kernels.py:231
    device float *v14 = o_ptr + 256;  // kernels.py:232
    *(device float2 *)(v14 + i[0]) = float2(b_9[0], b_9[1]);
    device float *v17 = o_ptr + 512;  // kernels.py:233
    *(device float2 *)(v17 + i[0]) = float2(c_13[0], c_13[1]);
    device float *v20 = o_ptr + 768;  // kernels.py:234
    *(device float2 *)(v20 + i[0]) = float2(d_17[0], d_17[1]);
}
