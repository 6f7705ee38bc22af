// {"triton_mps":1,"name":"early","args":[{"name":"x_ptr","type":"*fp32","divisible":16,"writes":true},{"name":"n","type":"i32"}],"grid":"threadgroups","num_warps":4,"threads":128,"shared":0}
#include <metal_stdlib>
using namespace metal;

[[max_total_threads_per_threadgroup(128)]]
kernel void early(
    device float *x_ptr [[buffer(0)]],
    constant int &n [[buffer(1)]],
    uint3 program [[threadgroup_position_in_grid]],
    uint3 programs [[threadgroups_per_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint warp [[simdgroup_index_in_threadgroup]]) {
    bool to1 = false;
    bool to2 = false;
    int pid = int(program.x);  // kernels.py:153
    bool v0 = pid >= n;  // kernels.py:154
    if (v0) {
        to1 = true;
    } else {
        to2 = true;
    }
    if (to1) {
    }
    if (to2) {  // kernels.py:155
        bool to3 = false;
        bool to4 = false;
        device float *v = x_ptr + pid;  // kernels.py:156
        float v_2 = v[0];
        bool v1 = v_2 < 0.0f;  // kernels.py:157
        if (v1) {
            to3 = true;
        } else {
            to4 = true;
        }
        if (to3) {
            threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);  // kernels.py:158
            if (lane == 0 && warp == 0) {
                v[0] = -v_2;
            }
        }
        if (to4) {  // kernels.py:159
            float v_3;  // kernels.py:161
            int k_4;
            v_3 = v_2;
            k_4 = 0;
            float v_3_1n;
            int k_4_1n;
            while (true) {
                bool v4 = v_3 > 1.0f;
                v_3_1n = v_3;
                k_4_1n = k_4;
                if (!(v4)) break;
                float v_5 = v_3_1n * 0.5f;  // kernels.py:162
                int k_6 = int(uint(k_4_1n) + 1u);  // kernels.py:163
                v_3 = v_5;  // kernels.py:161
                k_4 = k_6;
            }
            float v3 = float(k_4_1n);  // kernels.py:164
            threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
            if (lane == 0 && warp == 0) {
                v[0] = v3;
            }
        }
    }
}
