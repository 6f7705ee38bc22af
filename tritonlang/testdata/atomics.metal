// {"triton_mps":1,"name":"atomics","args":[{"name":"x_ptr","type":"*fp32","divisible":16},{"name":"f_ptr","type":"*fp32","divisible":16,"writes":true},{"name":"i_ptr","type":"*i32","divisible":16,"writes":true},{"name":"old_ptr","type":"*i32","divisible":16,"writes":true},{"name":"n","type":"i32"}],"grid":"threadgroups","num_warps":4,"threads":128,"shared":256}
#include <metal_stdlib>
using namespace metal;

inline int atomic_add_int(device int *p, int x) {
    return atomic_fetch_add_explicit((device atomic_int *)p, x, memory_order_relaxed);
}

inline int atomic_cas_int(device int *p, int expected, int x) {
    int old = expected;
    while (!atomic_compare_exchange_weak_explicit((device atomic_int *)p, &old, x, memory_order_relaxed, memory_order_relaxed) && old == expected) {
    }
    return old;
}

inline int atomic_exch_int(device int *p, int x) {
    return atomic_exchange_explicit((device atomic_int *)p, x, memory_order_relaxed);
}

inline float atomic_fadd_float(device float *p, float x) {
    return atomic_fetch_add_explicit((device atomic_float *)p, x, memory_order_relaxed);
}

inline int atomic_max_int(device int *p, int x) {
    return atomic_fetch_max_explicit((device atomic_int *)p, x, memory_order_relaxed);
}

inline int atomic_or_int(device int *p, int x) {
    return atomic_fetch_or_explicit((device atomic_int *)p, x, memory_order_relaxed);
}

inline int atomic_umin_int(device int *p, int x) {
    return int(atomic_fetch_min_explicit((device atomic_uint *)p, uint(x), memory_order_relaxed));
}

[[max_total_threads_per_threadgroup(128)]]
kernel void atomics(
    device const float *x_ptr [[buffer(0)]],
    device float *f_ptr [[buffer(1)]],
    device int *i_ptr [[buffer(2)]],
    device int *old_ptr [[buffer(3)]],
    constant int &n [[buffer(4)]],
    uint3 program [[threadgroup_position_in_grid]],
    uint3 programs [[threadgroups_per_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint warp [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint4 pool[16];
    int offs_4 = int(program.x);  // kernels.py:138
    int offs_5 = int(uint(offs_4) * 64u);
    int offs_6 = int(lane + (warp & 1) * 32);
    int offs_8 = int(uint(offs_5) + uint(offs_6));
    bool mask_9 = offs_8 < n;  // kernels.py:139
    float x_12 = mask_9 ? x_ptr[offs_8] : 0.0f;  // kernels.py:140
    int v0 = int(offs_8 % 8);  // kernels.py:141
    if ((warp & 2) == 0) {
        if (mask_9) atomic_fadd_float(f_ptr + v0, x_12);
    }
    device float *v4 = f_ptr + 8;  // kernels.py:142
    int v7 = as_type<int>(x_12);
    device int *v8 = (device int *)v4;
    int v9 = int(uint(v7) >> 31u);
    bool v10 = v9 != 0;
    bool v11 = v10 != true;
    bool v12 = mask_9 && v11;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if ((warp & 2) == 0) {
        if (v12) atomic_max_int(v8 + v0, v7);
    }
    bool v14 = mask_9 && v10;
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if ((warp & 2) == 0) {
        if (v14) atomic_umin_int(v8 + v0, v7);
    }
    int xi = int(float(x_12));  // kernels.py:143
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);  // kernels.py:144
    int old_14;
    old_14 = 0;
    if ((warp & 2) == 0) {
        if (mask_9) old_14 = atomic_add_int(i_ptr + offs_8, xi);
    }
    threadgroup int *shared1 = (threadgroup int *)(pool + 0);
    if ((warp & 2) == 0) {
        shared1[lane + (warp & 1) * 32] = old_14;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    int old_14_1n;
    old_14_1n = shared1[lane + (warp & 1) * 32];
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);  // kernels.py:145
    if ((warp & 2) == 0) {
        if (mask_9) old_ptr[offs_8] = old_14_1n;
    }
    device int *v18 = i_ptr + n;  // kernels.py:146
    int v19 = int(offs_8 % 4);
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if ((warp & 2) == 0) {
        if (mask_9) atomic_max_int(v18 + v19, xi);
    }
    device int *v23 = v18 + 4;  // kernels.py:147
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (lane == 0 && warp == 0) {
        atomic_exch_int(v23, 7);
    }
    device int *v25 = v18 + 5;  // kernels.py:148
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (lane == 0 && warp == 0) {
        atomic_cas_int(v25, 0, 3);
    }
    device int *v27 = v18 + 6;  // kernels.py:149
    int v28 = int(1u << uint(offs_4));
    threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
    if (lane == 0 && warp == 0) {
        atomic_or_int(v27, v28);
    }
}
