// {"triton_mps":1,"name":"scans","args":[{"name":"x_ptr","type":"*fp32","divisible":16},{"name":"s_ptr","type":"*fp32","divisible":16,"writes":true},{"name":"p_ptr","type":"*fp32","divisible":16,"writes":true},{"name":"h_ptr","type":"*fp32","divisible":16,"writes":true}],"grid":"threadgroups","num_warps":4,"threads":128,"shared":0}
#include <metal_stdlib>
using namespace metal;

inline void combine2(thread float &arg4, float arg5) {  // kernels.py:131
    float v8 = arg4 + arg5;
    arg4 = v8;
}

inline void combine11(thread float &arg4_1n, thread float &arg5_1n, float arg6, float arg7) {  // kernels.py:132
    float v8_1n = arg4_1n * arg6;  // kernels.py:125
    float v9 = arg6 * arg5_1n;
    float v10 = v9 + arg7;
    float t12 = v8_1n;  // kernels.py:132
    float t13 = v10;
    arg4_1n = t12;
    arg5_1n = t13;
}

[[max_total_threads_per_threadgroup(128)]]
kernel void scans(
    device const float *x_ptr [[buffer(0)]],
    device float *s_ptr [[buffer(1)]],
    device float *p_ptr [[buffer(2)]],
    device float *h_ptr [[buffer(3)]],
    uint3 program [[threadgroup_position_in_grid]],
    uint3 programs [[threadgroups_per_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint warp [[simdgroup_index_in_threadgroup]]) {
    int i_0 = int((lane >> 3) + warp * 4);  // kernels.py:129
    int i_2 = int(uint(i_0) * 64u);
    int i_7[8];
    for (ushort r = 0; r < 8; r++) {
        int i_3 = int((lane & 7) * 8 + r);
        i_7[r] = int(uint(i_2) + uint(i_3));
    }
    float x_9[8];  // kernels.py:130
    for (ushort q = 0; q < 2; q++) {
        float4 t1 = *(device const float4 *)(x_ptr + i_7[q * 4]);
        x_9[q * 4] = t1.x;
        x_9[q * 4 + 1] = t1.y;
        x_9[q * 4 + 2] = t1.z;
        x_9[q * 4 + 3] = t1.w;
    }
    float v2[8];  // kernels.py:131
    for (ushort r = 0; r < 8; r++) {
        v2[r] = x_9[r];
    }
    {
        for (ushort k = 1; k < 8; k++) {
            float t3 = v2[(k - 1)];
            combine2(t3, v2[k]);
            v2[k] = t3;
        }
    }
    float total;
    float before;
    {
        total = v2[7];
        float o4 = simd_shuffle_up(total, ushort(1));
        if ((lane & 7) >= 1) {
            float t5 = o4;
            combine2(t5, total);
            total = t5;
        }
        float o6 = simd_shuffle_up(total, ushort(2));
        if ((lane & 7) >= 2) {
            float t7 = o6;
            combine2(t7, total);
            total = t7;
        }
        float o8 = simd_shuffle_up(total, ushort(4));
        if ((lane & 7) >= 4) {
            float t9 = o8;
            combine2(t9, total);
            total = t9;
        }
        before = simd_shuffle_up(total, ushort(1));
    }
    {
        if ((lane & 7) >= 1) {
            for (ushort k = 0; k < 8; k++) {
                float t10 = before;
                combine2(t10, v2[k]);
                v2[k] = t10;
            }
        }
    }
    for (ushort q = 0; q < 2; q++) {
        *(device float4 *)(s_ptr + i_7[q * 4]) = float4(v2[q * 4], v2[q * 4 + 1], v2[q * 4 + 2], v2[q * 4 + 3]);
    }
    float v3[8];  // kernels.py:132
    for (ushort r = 0; r < 8; r++) {
        v3[r] = x_9[r];
    }
    float v3_1n[8];
    for (ushort r = 0; r < 8; r++) {
        v3_1n[r] = x_9[r];
    }
    {
        for (ushort k = 1; k < 8; k++) {
            float t14 = v3[(k - 1)];
            float t15 = v3_1n[(k - 1)];
            combine11(t14, t15, v3[k], v3_1n[k]);
            v3[k] = t14;
            v3_1n[k] = t15;
        }
    }
    float total_1n;
    float before_1n;
    float total_2n;
    float before_2n;
    {
        total_1n = v3[7];
        total_2n = v3_1n[7];
        float o16 = simd_shuffle_up(total_1n, ushort(1));
        float o17 = simd_shuffle_up(total_2n, ushort(1));
        if ((lane & 7) >= 1) {
            float t18 = o16;
            float t19 = o17;
            combine11(t18, t19, total_1n, total_2n);
            total_1n = t18;
            total_2n = t19;
        }
        float o20 = simd_shuffle_up(total_1n, ushort(2));
        float o21 = simd_shuffle_up(total_2n, ushort(2));
        if ((lane & 7) >= 2) {
            float t22 = o20;
            float t23 = o21;
            combine11(t22, t23, total_1n, total_2n);
            total_1n = t22;
            total_2n = t23;
        }
        float o24 = simd_shuffle_up(total_1n, ushort(4));
        float o25 = simd_shuffle_up(total_2n, ushort(4));
        if ((lane & 7) >= 4) {
            float t26 = o24;
            float t27 = o25;
            combine11(t26, t27, total_1n, total_2n);
            total_1n = t26;
            total_2n = t27;
        }
        before_1n = simd_shuffle_up(total_1n, ushort(1));
        before_2n = simd_shuffle_up(total_2n, ushort(1));
    }
    {
        if ((lane & 7) >= 1) {
            for (ushort k = 0; k < 8; k++) {
                float t28 = before_1n;
                float t29 = before_2n;
                combine11(t28, t29, v3[k], v3_1n[k]);
                v3[k] = t28;
                v3_1n[k] = t29;
            }
        }
    }
    for (ushort q = 0; q < 2; q++) {  // kernels.py:133
        *(device float4 *)(p_ptr + i_7[q * 4]) = float4(v3[q * 4], v3[q * 4 + 1], v3[q * 4 + 2], v3[q * 4 + 3]);
    }
    for (ushort q = 0; q < 2; q++) {  // kernels.py:134
        *(device float4 *)(h_ptr + i_7[q * 4]) = float4(v3_1n[q * 4], v3_1n[q * 4 + 1], v3_1n[q * 4 + 2], v3_1n[q * 4 + 3]);
    }
}
