// {"triton_mps":1,"name":"layer_norm","args":[{"name":"x_ptr","type":"*fp16","divisible":16},{"name":"y_ptr","type":"*fp16","divisible":16,"writes":true},{"name":"w_ptr","type":"*fp32","divisible":16},{"name":"b_ptr","type":"*fp32","divisible":16},{"name":"stride","type":"i32"},{"name":"n","type":"i32"},{"name":"eps","type":"fp32"}],"grid":"threadgroups","num_warps":4,"threads":128,"shared":32}
#include <metal_stdlib>
using namespace metal;

inline void combine1(thread float &mean_19, float mean_20) {  // kernels.py:32
    float mean_21 = mean_19 + mean_20;
    mean_19 = mean_21;
}

inline void combine8(thread float &rstd_19, float rstd_20) {  // kernels.py:39
    float rstd_21 = rstd_19 + rstd_20;
    rstd_19 = rstd_21;
}

[[max_total_threads_per_threadgroup(128)]]
kernel void layer_norm(
    device const half *x_ptr [[buffer(0)]],
    device half *y_ptr [[buffer(1)]],
    device const float *w_ptr [[buffer(2)]],
    device const float *b_ptr [[buffer(3)]],
    constant int &stride [[buffer(4)]],
    constant int &n [[buffer(5)]],
    constant float &eps [[buffer(6)]],
    uint3 program [[threadgroup_position_in_grid]],
    uint3 programs [[threadgroups_per_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint warp [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint4 pool[2];
    int row = int(program.x);  // kernels.py:25
    int x_ptr_1 = int(uint(row) * uint(stride));  // kernels.py:26
    device const half *x_ptr_2 = x_ptr + x_ptr_1;
    device half *y_ptr_3 = y_ptr + x_ptr_1;  // kernels.py:27
    int cols[4];
    for (ushort r = 0; r < 4; r++) {  // kernels.py:30
        cols[r] = int(lane + warp * 128 + r * 32);
    }
    float acc_19[4];  // kernels.py:29
    for (ushort r = 0; r < 4; r++) {
        acc_19[r] = 0.0f;
    }
    for (int off = 0; off < n; off += 512) {
        float acc_26[4];
        for (ushort r = 0; r < 4; r++) {  // kernels.py:30
            int cols_21 = int(uint(off) + uint(cols[r]));
            bool acc_22 = cols_21 < n;  // kernels.py:31
            half acc_24 = acc_22 ? x_ptr_2[cols_21] : half(0.0f);
            float acc_25 = float(acc_24);
            acc_26[r] = acc_19[r] + acc_25;
        }
        for (ushort r = 0; r < 4; r++) {  // kernels.py:29
            acc_19[r] = acc_26[r];
        }
    }
    float mean;  // kernels.py:32
    mean = acc_19[0];
    for (ushort k = 1; k < 4; k++) {
        combine1(mean, acc_19[k]);
    }
    {
        float o2 = simd_shuffle_xor(mean, ushort(1));
        combine1(mean, o2);
    }
    {
        float o3 = simd_shuffle_xor(mean, ushort(2));
        combine1(mean, o3);
    }
    {
        float o4 = simd_shuffle_xor(mean, ushort(4));
        combine1(mean, o4);
    }
    {
        float o5 = simd_shuffle_xor(mean, ushort(8));
        combine1(mean, o5);
    }
    {
        float o6 = simd_shuffle_xor(mean, ushort(16));
        combine1(mean, o6);
    }
    threadgroup float *shared7 = (threadgroup float *)(pool + 0);
    if (lane == 0) {
        shared7[warp] = mean;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    {
        mean = shared7[0];
        for (ushort k = 1; k < 4; k++) {
            combine1(mean, shared7[k]);
        }
    }
    float mean_6 = float(n);
    float mean_7 = mean / mean_6;
    int cols_8[4];
    for (ushort r = 0; r < 4; r++) {  // kernels.py:35
        cols_8[r] = int(lane + warp * 128 + r * 32);
    }
    float acc_19_1n[4];  // kernels.py:34
    for (ushort r = 0; r < 4; r++) {
        acc_19_1n[r] = 0.0f;
    }
    for (int off_1n = 0; off_1n < n; off_1n += 512) {
        float acc_29[4];
        for (ushort r = 0; r < 4; r++) {  // kernels.py:35
            int cols_21_1n = int(uint(off_1n) + uint(cols_8[r]));
            bool x_22 = cols_21_1n < n;  // kernels.py:36
            half x_24 = x_22 ? x_ptr_2[cols_21_1n] : half(0.0f);
            float x_25 = float(x_24);
            float x_26 = x_25 - mean_7;  // kernels.py:37
            float x_27 = x_22 ? x_26 : 0.0f;
            float acc_28 = x_27 * x_27;  // kernels.py:38
            acc_29[r] = acc_19_1n[r] + acc_28;
        }
        for (ushort r = 0; r < 4; r++) {  // kernels.py:34
            acc_19_1n[r] = acc_29[r];
        }
    }
    float rstd_12;  // kernels.py:39
    rstd_12 = acc_19_1n[0];
    for (ushort k = 1; k < 4; k++) {
        combine8(rstd_12, acc_19_1n[k]);
    }
    {
        float o9 = simd_shuffle_xor(rstd_12, ushort(1));
        combine8(rstd_12, o9);
    }
    {
        float o10 = simd_shuffle_xor(rstd_12, ushort(2));
        combine8(rstd_12, o10);
    }
    {
        float o11 = simd_shuffle_xor(rstd_12, ushort(4));
        combine8(rstd_12, o11);
    }
    {
        float o12 = simd_shuffle_xor(rstd_12, ushort(8));
        combine8(rstd_12, o12);
    }
    {
        float o13 = simd_shuffle_xor(rstd_12, ushort(16));
        combine8(rstd_12, o13);
    }
    threadgroup float *shared14 = (threadgroup float *)(pool + 1);
    if (lane == 0) {
        shared14[warp] = rstd_12;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    {
        rstd_12 = shared14[0];
        for (ushort k = 1; k < 4; k++) {
            combine8(rstd_12, shared14[k]);
        }
    }
    float rstd_13 = rstd_12 / mean_6;
    float rstd_14 = rstd_13 + eps;
    float rstd_15 = sqrt(rstd_14);
    float rstd_16 = 1.0f / rstd_15;
    int cols_17[4];
    for (ushort r = 0; r < 4; r++) {  // kernels.py:41
        cols_17[r] = int(lane * 4 + warp * 128 + r);
    }
    for (int off_2n = 0; off_2n < n; off_2n += 512) {  // kernels.py:40
        int cols_20[4];
        bool mask_21[4];
        for (ushort r = 0; r < 4; r++) {  // kernels.py:41
            cols_20[r] = int(uint(off_2n) + uint(cols_17[r]));
            mask_21[r] = cols_20[r] < n;  // kernels.py:42
        }
        float w_23[4];  // kernels.py:43
        if (mask_21[0] && mask_21[1] && mask_21[2] && mask_21[3]) {
            float4 t15 = *(device const float4 *)(w_ptr + cols_20[0]);
            w_23[0] = t15.x;
            w_23[1] = t15.y;
            w_23[2] = t15.z;
            w_23[3] = t15.w;
        } else {
            w_23[0] = mask_21[0] ? w_ptr[cols_20[0]] : float(0);
            w_23[1] = mask_21[1] ? w_ptr[cols_20[1]] : float(0);
            w_23[2] = mask_21[2] ? w_ptr[cols_20[2]] : float(0);
            w_23[3] = mask_21[3] ? w_ptr[cols_20[3]] : float(0);
        }
        float b_25[4];  // kernels.py:44
        if (mask_21[0] && mask_21[1] && mask_21[2] && mask_21[3]) {
            float4 t16 = *(device const float4 *)(b_ptr + cols_20[0]);
            b_25[0] = t16.x;
            b_25[1] = t16.y;
            b_25[2] = t16.z;
            b_25[3] = t16.w;
        } else {
            b_25[0] = mask_21[0] ? b_ptr[cols_20[0]] : float(0);
            b_25[1] = mask_21[1] ? b_ptr[cols_20[1]] : float(0);
            b_25[2] = mask_21[2] ? b_ptr[cols_20[2]] : float(0);
            b_25[3] = mask_21[3] ? b_ptr[cols_20[3]] : float(0);
        }
        for (ushort r = 0; r < 4; r++) {  // kernels.py:45
            half x_27_1n = mask_21[r] ? x_ptr_2[cols_20[r]] : half(0.0f);
            float x_28 = float(x_27_1n);
            float v4 = x_28 - mean_7;  // kernels.py:46
            float v5 = v4 * rstd_16;
            float v6 = v5 * w_23[r];
            float v7 = v6 + b_25[r];
            half v8 = half(v7);
            if (mask_21[r]) y_ptr_3[cols_20[r]] = v8;
        }
    }
}
