// {"triton_mps":1,"name":"add","args":[{"name":"x_ptr","type":"*fp32","divisible":16},{"name":"y_ptr","type":"*fp32","divisible":16},{"name":"out_ptr","type":"*fp32","divisible":16,"writes":true},{"name":"n","type":"i32"}],"grid":"threadgroups","num_warps":4,"threads":128,"shared":0}
#include <metal_stdlib>
using namespace metal;

[[max_total_threads_per_threadgroup(128)]]
kernel void add(
    device const float *x_ptr [[buffer(0)]],
    device const float *y_ptr [[buffer(1)]],
    device float *out_ptr [[buffer(2)]],
    constant int &n [[buffer(3)]],
    uint3 program [[threadgroup_position_in_grid]],
    uint3 programs [[threadgroups_per_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint warp [[simdgroup_index_in_threadgroup]]) {
    int offs_0 = int(program.x);  // kernels.py:5
    int offs_1 = int(uint(offs_0) * 1024u);
    int offs_4[8];
    bool mask_5[8];
    for (ushort r = 0; r < 8; r++) {
        int offs_2 = int(lane * 4 + warp * 256 + (r & 3) + (r & 4) * 32);
        offs_4[r] = int(uint(offs_1) + uint(offs_2));
        mask_5[r] = offs_4[r] < n;  // kernels.py:6
    }
    float x_7[8];  // kernels.py:7
    for (ushort q = 0; q < 2; q++) {
        if (mask_5[q * 4] && mask_5[q * 4 + 1] && mask_5[q * 4 + 2] && mask_5[q * 4 + 3]) {
            float4 t1 = *(device const float4 *)(x_ptr + offs_4[q * 4]);
            x_7[q * 4] = t1.x;
            x_7[q * 4 + 1] = t1.y;
            x_7[q * 4 + 2] = t1.z;
            x_7[q * 4 + 3] = t1.w;
        } else {
            x_7[q * 4] = mask_5[q * 4] ? x_ptr[offs_4[q * 4]] : float(0);
            x_7[q * 4 + 1] = mask_5[q * 4 + 1] ? x_ptr[offs_4[q * 4 + 1]] : float(0);
            x_7[q * 4 + 2] = mask_5[q * 4 + 2] ? x_ptr[offs_4[q * 4 + 2]] : float(0);
            x_7[q * 4 + 3] = mask_5[q * 4 + 3] ? x_ptr[offs_4[q * 4 + 3]] : float(0);
        }
    }
    float y_9[8];  // kernels.py:8
    for (ushort q = 0; q < 2; q++) {
        if (mask_5[q * 4] && mask_5[q * 4 + 1] && mask_5[q * 4 + 2] && mask_5[q * 4 + 3]) {
            float4 t2 = *(device const float4 *)(y_ptr + offs_4[q * 4]);
            y_9[q * 4] = t2.x;
            y_9[q * 4 + 1] = t2.y;
            y_9[q * 4 + 2] = t2.z;
            y_9[q * 4 + 3] = t2.w;
        } else {
            y_9[q * 4] = mask_5[q * 4] ? y_ptr[offs_4[q * 4]] : float(0);
            y_9[q * 4 + 1] = mask_5[q * 4 + 1] ? y_ptr[offs_4[q * 4 + 1]] : float(0);
            y_9[q * 4 + 2] = mask_5[q * 4 + 2] ? y_ptr[offs_4[q * 4 + 2]] : float(0);
            y_9[q * 4 + 3] = mask_5[q * 4 + 3] ? y_ptr[offs_4[q * 4 + 3]] : float(0);
        }
    }
    float v2[8];
    for (ushort r = 0; r < 8; r++) {  // kernels.py:9
        v2[r] = x_7[r] + y_9[r];
    }
    for (ushort q = 0; q < 2; q++) {
        if (mask_5[q * 4] && mask_5[q * 4 + 1] && mask_5[q * 4 + 2] && mask_5[q * 4 + 3]) {
            *(device float4 *)(out_ptr + offs_4[q * 4]) = float4(v2[q * 4], v2[q * 4 + 1], v2[q * 4 + 2], v2[q * 4 + 3]);
        } else {
            if (mask_5[q * 4]) out_ptr[offs_4[q * 4]] = v2[q * 4];
            if (mask_5[q * 4 + 1]) out_ptr[offs_4[q * 4 + 1]] = v2[q * 4 + 1];
            if (mask_5[q * 4 + 2]) out_ptr[offs_4[q * 4 + 2]] = v2[q * 4 + 2];
            if (mask_5[q * 4 + 3]) out_ptr[offs_4[q * 4 + 3]] = v2[q * 4 + 3];
        }
    }
}
