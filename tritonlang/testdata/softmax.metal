// {"triton_mps":1,"name":"softmax","args":[{"name":"out_ptr","type":"*fp32","divisible":16,"writes":true},{"name":"in_ptr","type":"*fp32","divisible":16},{"name":"in_stride","type":"i32"},{"name":"out_stride","type":"i32"},{"name":"rows","type":"i32"},{"name":"cols","type":"i32"}],"grid":"threadgroups","num_warps":4,"threads":128,"shared":32}
#include <metal_stdlib>
using namespace metal;

inline void combine1(thread float &x_8, float x_9) {  // kernels.py:19
    float x_10 = fmax(x_8, x_9);
    x_8 = x_10;
}

inline void combine8(thread float &arg7, float arg8) {  // kernels.py:21
    float v7 = arg7 + arg8;
    arg7 = v7;
}

[[max_total_threads_per_threadgroup(128)]]
kernel void softmax(
    device float *out_ptr [[buffer(0)]],
    device const float *in_ptr [[buffer(1)]],
    constant int &in_stride [[buffer(2)]],
    constant int &out_stride [[buffer(3)]],
    constant int &rows [[buffer(4)]],
    constant int &cols [[buffer(5)]],
    uint3 program [[threadgroup_position_in_grid]],
    uint3 programs [[threadgroups_per_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint warp [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint4 pool[2];
    int start = int(program.x);  // kernels.py:13
    int step_v = int(programs.x);  // kernels.py:14
    int offs[8];
    bool mask_0[8];
    for (ushort r = 0; r < 8; r++) {  // kernels.py:16
        offs[r] = int(lane + warp * 256 + r * 32);
        mask_0[r] = offs[r] < cols;  // kernels.py:17
    }
    for (int row = start; row < rows; row += step_v) {  // kernels.py:15
        int x = int(uint(row) * uint(in_stride));  // kernels.py:18
        device const float *x_1 = in_ptr + x;
        float x_4[8];
        for (ushort r = 0; r < 8; r++) {
            x_4[r] = mask_0[r] ? x_1[offs[r]] : (-INFINITY);
        }
        float x_5;  // kernels.py:19
        x_5 = x_4[0];
        for (ushort k = 1; k < 8; k++) {
            combine1(x_5, x_4[k]);
        }
        {
            float o2 = simd_shuffle_xor(x_5, ushort(1));
            combine1(x_5, o2);
        }
        {
            float o3 = simd_shuffle_xor(x_5, ushort(2));
            combine1(x_5, o3);
        }
        {
            float o4 = simd_shuffle_xor(x_5, ushort(4));
            combine1(x_5, o4);
        }
        {
            float o5 = simd_shuffle_xor(x_5, ushort(8));
            combine1(x_5, o5);
        }
        {
            float o6 = simd_shuffle_xor(x_5, ushort(16));
            combine1(x_5, o6);
        }
        threadgroup float *shared7 = (threadgroup float *)(pool + 0);
        if (lane == 0) {
            shared7[warp] = x_5;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        {
            x_5 = shared7[0];
            for (ushort k = 1; k < 4; k++) {
                combine1(x_5, shared7[k]);
            }
        }
        int v0 = int(uint(row) * uint(out_stride));  // kernels.py:21
        device float *v1 = out_ptr + v0;
        float e[8];
        for (ushort r = 0; r < 8; r++) {  // kernels.py:19
            float x_7 = x_4[r] - x_5;
            e[r] = exp(x_7);  // kernels.py:20
        }
        float v4;  // kernels.py:21
        v4 = e[0];
        for (ushort k = 1; k < 8; k++) {
            combine8(v4, e[k]);
        }
        {
            float o9 = simd_shuffle_xor(v4, ushort(1));
            combine8(v4, o9);
        }
        {
            float o10 = simd_shuffle_xor(v4, ushort(2));
            combine8(v4, o10);
        }
        {
            float o11 = simd_shuffle_xor(v4, ushort(4));
            combine8(v4, o11);
        }
        {
            float o12 = simd_shuffle_xor(v4, ushort(8));
            combine8(v4, o12);
        }
        {
            float o13 = simd_shuffle_xor(v4, ushort(16));
            combine8(v4, o13);
        }
        threadgroup float *shared14 = (threadgroup float *)(pool + 1);
        if (lane == 0) {
            shared14[warp] = v4;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        {
            v4 = shared14[0];
            for (ushort k = 1; k < 4; k++) {
                combine8(v4, shared14[k]);
            }
        }
        for (ushort r = 0; r < 8; r++) {
            float v6 = e[r] / v4;
            if (mask_0[r]) v1[offs[r]] = v6;
        }
    }
}
