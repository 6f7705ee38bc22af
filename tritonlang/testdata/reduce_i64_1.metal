// {"triton_mps":1,"name":"reduce2d","args":[{"name":"x_ptr","type":"*i64","divisible":16},{"name":"s_ptr","type":"*i64","divisible":16,"writes":true},{"name":"m_ptr","type":"*i64","divisible":16,"writes":true},{"name":"am_ptr","type":"*i32","divisible":16,"writes":true}],"grid":"threadgroups","num_warps":4,"threads":128,"shared":0}
#include <metal_stdlib>
using namespace metal;

inline void combine2(thread long &s_9, long s_10) {  // kernels.py:106
    long s_11 = long(ulong(s_9) + ulong(s_10));
    s_9 = s_11;
}

inline void combine8(thread long &m_9, long m_10) {  // kernels.py:107
    long m_11 = long(max(long(m_9), long(m_10)));
    m_9 = m_11;
}

inline void combine14(thread long &a_9, thread int &a_10, long a_11, int a_12) {  // kernels.py:108
    bool tie = a_9 == a_11;
    bool tie_13 = a_10 < a_12;
    bool tie_14 = tie && tie_13;
    bool lt = a_9 < a_11;
    bool lt_15 = lt || tie_14;
    long value_ret = lt_15 ? a_9 : a_11;
    int index_ret = lt_15 ? a_10 : a_12;
    long t15 = value_ret;
    int t16 = index_ret;
    a_9 = t15;
    a_10 = t16;
}

[[max_total_threads_per_threadgroup(128)]]
kernel void reduce2d(
    device const long *x_ptr [[buffer(0)]],
    device long *s_ptr [[buffer(1)]],
    device long *m_ptr [[buffer(2)]],
    device int *am_ptr [[buffer(3)]],
    uint3 program [[threadgroup_position_in_grid]],
    uint3 programs [[threadgroups_per_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint warp [[simdgroup_index_in_threadgroup]]) {
    int i[8];
    for (ushort r = 0; r < 8; r++) {  // kernels.py:103
        i[r] = int(warp * 8 + r);
    }
    int j[2];
    for (ushort r = 0; r < 2; r++) {  // kernels.py:104
        j[r] = int(lane * 2 + r);
    }
    int x_1[8];
    for (ushort r = 0; r < 8; r++) {  // kernels.py:105
        x_1[r] = int(uint(i[r]) * 64u);
    }
    long x_7[16];
    for (ushort r = 0; r < 16; r++) {
        x_7[r] = long(x_1[(r >> 1)]) + j[(r & 1)];
    }
    long x_8[16];
    for (ushort q = 0; q < 8; q++) {
        long2 t1 = *(device const long2 *)(x_ptr + x_7[q * 2]);
        x_8[q * 2] = t1.x;
        x_8[q * 2 + 1] = t1.y;
    }
    long s[8];  // kernels.py:106
    for (ushort r = 0; r < 8; r++) {
        s[r] = x_8[r * 2];
        for (ushort k = 1; k < 2; k++) {
            combine2(s[r], x_8[r * 2 + k]);
        }
    }
    for (ushort r = 0; r < 8; r++) {
        long o3 = as_type<long>(simd_shuffle_xor(as_type<uint2>(s[r]), ushort(1)));
        combine2(s[r], o3);
    }
    for (ushort r = 0; r < 8; r++) {
        long o4 = as_type<long>(simd_shuffle_xor(as_type<uint2>(s[r]), ushort(2)));
        combine2(s[r], o4);
    }
    for (ushort r = 0; r < 8; r++) {
        long o5 = as_type<long>(simd_shuffle_xor(as_type<uint2>(s[r]), ushort(4)));
        combine2(s[r], o5);
    }
    for (ushort r = 0; r < 8; r++) {
        long o6 = as_type<long>(simd_shuffle_xor(as_type<uint2>(s[r]), ushort(8)));
        combine2(s[r], o6);
    }
    for (ushort r = 0; r < 8; r++) {
        long o7 = as_type<long>(simd_shuffle_xor(as_type<uint2>(s[r]), ushort(16)));
        combine2(s[r], o7);
    }
    long m[8];  // kernels.py:107
    for (ushort r = 0; r < 8; r++) {
        m[r] = x_8[r * 2];
        for (ushort k = 1; k < 2; k++) {
            combine8(m[r], x_8[r * 2 + k]);
        }
    }
    for (ushort r = 0; r < 8; r++) {
        long o9 = as_type<long>(simd_shuffle_xor(as_type<uint2>(m[r]), ushort(1)));
        combine8(m[r], o9);
    }
    for (ushort r = 0; r < 8; r++) {
        long o10 = as_type<long>(simd_shuffle_xor(as_type<uint2>(m[r]), ushort(2)));
        combine8(m[r], o10);
    }
    for (ushort r = 0; r < 8; r++) {
        long o11 = as_type<long>(simd_shuffle_xor(as_type<uint2>(m[r]), ushort(4)));
        combine8(m[r], o11);
    }
    for (ushort r = 0; r < 8; r++) {
        long o12 = as_type<long>(simd_shuffle_xor(as_type<uint2>(m[r]), ushort(8)));
        combine8(m[r], o12);
    }
    for (ushort r = 0; r < 8; r++) {
        long o13 = as_type<long>(simd_shuffle_xor(as_type<uint2>(m[r]), ushort(16)));
        combine8(m[r], o13);
    }
    long a[8];  // kernels.py:108
    int a_1n[8];
    for (ushort r = 0; r < 8; r++) {
        a[r] = x_8[r * 2];
        a_1n[r] = j[0];
        for (ushort k = 1; k < 2; k++) {
            combine14(a[r], a_1n[r], x_8[r * 2 + k], j[k]);
        }
    }
    for (ushort r = 0; r < 8; r++) {
        long o17 = as_type<long>(simd_shuffle_xor(as_type<uint2>(a[r]), ushort(1)));
        int o18 = simd_shuffle_xor(a_1n[r], ushort(1));
        if ((lane & 1) != 0) {
            long t19 = a[r];
            a[r] = o17;
            o17 = t19;
            int t20 = a_1n[r];
            a_1n[r] = o18;
            o18 = t20;
        }
        combine14(a[r], a_1n[r], o17, o18);
    }
    for (ushort r = 0; r < 8; r++) {
        long o21 = as_type<long>(simd_shuffle_xor(as_type<uint2>(a[r]), ushort(2)));
        int o22 = simd_shuffle_xor(a_1n[r], ushort(2));
        if ((lane & 2) != 0) {
            long t23 = a[r];
            a[r] = o21;
            o21 = t23;
            int t24 = a_1n[r];
            a_1n[r] = o22;
            o22 = t24;
        }
        combine14(a[r], a_1n[r], o21, o22);
    }
    for (ushort r = 0; r < 8; r++) {
        long o25 = as_type<long>(simd_shuffle_xor(as_type<uint2>(a[r]), ushort(4)));
        int o26 = simd_shuffle_xor(a_1n[r], ushort(4));
        if ((lane & 4) != 0) {
            long t27 = a[r];
            a[r] = o25;
            o25 = t27;
            int t28 = a_1n[r];
            a_1n[r] = o26;
            o26 = t28;
        }
        combine14(a[r], a_1n[r], o25, o26);
    }
    for (ushort r = 0; r < 8; r++) {
        long o29 = as_type<long>(simd_shuffle_xor(as_type<uint2>(a[r]), ushort(8)));
        int o30 = simd_shuffle_xor(a_1n[r], ushort(8));
        if ((lane & 8) != 0) {
            long t31 = a[r];
            a[r] = o29;
            o29 = t31;
            int t32 = a_1n[r];
            a_1n[r] = o30;
            o30 = t32;
        }
        combine14(a[r], a_1n[r], o29, o30);
    }
    for (ushort r = 0; r < 8; r++) {
        long o33 = as_type<long>(simd_shuffle_xor(as_type<uint2>(a[r]), ushort(16)));
        int o34 = simd_shuffle_xor(a_1n[r], ushort(16));
        if ((lane & 16) != 0) {
            long t35 = a[r];
            a[r] = o33;
            o33 = t35;
            int t36 = a_1n[r];
            a_1n[r] = o34;
            o34 = t36;
        }
        combine14(a[r], a_1n[r], o33, o34);
    }
    if (lane == 0) {  // kernels.py:110
        for (ushort q = 0; q < 4; q++) {
            *(device long2 *)(s_ptr + i[q * 2]) = long2(s[q * 2], s[q * 2 + 1]);
        }
    }
    if (lane == 0) {  // kernels.py:111
        for (ushort q = 0; q < 4; q++) {
            *(device long2 *)(m_ptr + i[q * 2]) = long2(m[q * 2], m[q * 2 + 1]);
        }
    }
    if (lane == 0) {  // kernels.py:112
        for (ushort q = 0; q < 2; q++) {
            *(device int4 *)(am_ptr + i[q * 4]) = int4(a_1n[q * 4], a_1n[q * 4 + 1], a_1n[q * 4 + 2], a_1n[q * 4 + 3]);
        }
    }
}
