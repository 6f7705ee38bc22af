// {"triton_mps":1,"name":"matmul","args":[{"name":"a_ptr","type":"*fp16","divisible":16},{"name":"b_ptr","type":"*fp16","divisible":16},{"name":"c_ptr","type":"*fp16","divisible":16,"writes":true},{"name":"M","type":"i32"},{"name":"N","type":"i32"},{"name":"K","type":"i32"},{"name":"sam","type":"i32","divisible":16},{"name":"sak","type":"i32"},{"name":"sbk","type":"i32","divisible":16},{"name":"sbn","type":"i32"},{"name":"scm","type":"i32","divisible":16},{"name":"scn","type":"i32"}],"grid":"threadgroups","num_warps":4,"threads":128,"shared":16384}
#include <metal_stdlib>
using namespace metal;

[[max_total_threads_per_threadgroup(128)]]
kernel void matmul(
    device const half *a_ptr [[buffer(0)]],
    device const half *b_ptr [[buffer(1)]],
    device half *c_ptr [[buffer(2)]],
    constant int &M [[buffer(3)]],
    constant int &N [[buffer(4)]],
    constant int &K [[buffer(5)]],
    constant int &sam [[buffer(6)]],
    constant int &sak [[buffer(7)]],
    constant int &sbk [[buffer(8)]],
    constant int &sbn [[buffer(9)]],
    constant int &scm [[buffer(10)]],
    constant int &scn [[buffer(11)]],
    uint3 program [[threadgroup_position_in_grid]],
    uint3 programs [[threadgroups_per_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint warp [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint4 pool[1024];
    int pid = int(program.x);  // kernels.py:51
    int num_m = int(uint(M) + 63u);  // kernels.py:52
    int num_m_2 = int(num_m / 64);
    int num_n = int(uint(N) + 63u);  // kernels.py:53
    int num_n_3 = int(num_n / 64);
    int in_group = int(uint(num_n_3) * 8u);  // kernels.py:54
    int first = int(pid / (in_group == 0 ? int(1) : in_group));  // kernels.py:55
    int first_4 = int(uint(first) * 8u);
    int size = int(uint(num_m_2) - uint(first_4));  // kernels.py:56
    int size_5 = int(min(int(size), int(8)));
    int pm = int(pid % (in_group == 0 ? int(1) : in_group));  // kernels.py:57
    int pm_6 = int(pm % (size_5 == 0 ? int(1) : size_5));
    int pm_7 = int(uint(first_4) + uint(pm_6));
    int pn = int(pm / (size_5 == 0 ? int(1) : size_5));  // kernels.py:58
    int om = int(uint(pm_7) * 64u);  // kernels.py:59
    int om_8[4];
    for (ushort r = 0; r < 4; r++) {
        om_8[r] = int((lane & 15) * 4 + r);
    }
    int om_8_1n[2];
    for (ushort r = 0; r < 2; r++) {
        om_8_1n[r] = int(lane + r * 32);
    }
    int om_8_2n[8];
    for (ushort r = 0; r < 8; r++) {
        om_8_2n[r] = int(((lane >> 2) & 4) + warp * 8 + (r & 3) + (r & 4) * 8);
    }
    int om_8_3n[16];
    for (ushort r = 0; r < 16; r++) {
        om_8_3n[r] = int(warp * 16 + r);
    }
    int om_10[8];
    for (ushort r = 0; r < 8; r++) {
        om_10[r] = int(uint(om) + uint(om_8_2n[r]));
    }
    int on = int(uint(pn) * 64u);  // kernels.py:60
    int om_12[16];
    for (ushort r = 0; r < 16; r++) {  // kernels.py:59
        int om_10_1n = int(uint(om) + uint(om_8_3n[r]));
        om_12[r] = int(om_10_1n % (M == 0 ? int(1) : M));
    }
    int on_14[4];
    for (ushort r = 0; r < 4; r++) {  // kernels.py:60
        on_14[r] = int(uint(on) + uint(om_8[r]));
    }
    int on_16[2];
    for (ushort r = 0; r < 2; r++) {
        int on_14_1n = int(uint(on) + uint(om_8_1n[r]));
        on_16[r] = int(on_14_1n % (N == 0 ? int(1) : N));
    }
    int ok_1n = int(lane);  // kernels.py:61
    int ok[8];
    for (ushort r = 0; r < 8; r++) {
        ok[r] = int(warp * 8 + r);
    }
    int a_ptrs_23 = int(uint(ok_1n) * uint(sak));  // kernels.py:62
    long a_ptrs_26[16];
    for (ushort r = 0; r < 16; r++) {
        int a_ptrs_18 = int(uint(om_12[r]) * uint(sam));
        a_ptrs_26[r] = long(a_ptrs_18) + a_ptrs_23;
    }
    int b_ptrs_28[8];
    for (ushort r = 0; r < 8; r++) {  // kernels.py:63
        b_ptrs_28[r] = int(uint(ok[r]) * uint(sbk));
    }
    int b_ptrs_33[2];
    for (ushort r = 0; r < 2; r++) {
        b_ptrs_33[r] = int(uint(on_16[r]) * uint(sbn));
    }
    int v0 = int(uint(K) + 31u);  // kernels.py:65
    int v1 = int(v0 / 32);
    int a_ptrs_37 = int(uint(sak) * 32u);  // kernels.py:69
    int b_ptrs_39 = int(uint(sbk) * 32u);  // kernels.py:70
    long b_ptrs_36[16];
    for (ushort r = 0; r < 16; r++) {  // kernels.py:63
        b_ptrs_36[r] = long(b_ptrs_28[(r >> 1)]) + b_ptrs_33[(r & 1)];
    }
    device const half *a_ptrs_53;  // kernels.py:65
    device const half *b_ptrs_54;
    simdgroup_float8x8 sums1[16];
    for (ushort i = 0; i < 16; i++) sums1[i] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    a_ptrs_53 = a_ptr;
    b_ptrs_54 = b_ptr;
    for (int k_v = 0; k_v < v1; k_v += 1) {
        int a = int(uint(k_v) * 32u);  // kernels.py:66
        int a_56 = int(uint(K) - uint(a));
        bool a_58 = ok_1n < a_56;
        half a_60[16];
        for (ushort r = 0; r < 16; r++) {
            a_60[r] = a_58 ? a_ptrs_53[a_ptrs_26[r]] : half(0.0f);
        }
        bool b_61[8];
        for (ushort r = 0; r < 8; r++) {  // kernels.py:67
            b_61[r] = ok[r] < a_56;
        }
        half b_63[16];
        for (ushort r = 0; r < 16; r++) {
            b_63[r] = b_61[(r >> 1)] ? b_ptrs_54[b_ptrs_36[r]] : half(0.0f);
        }
        threadgroup half *shared2 = (threadgroup half *)(pool + 0);  // kernels.py:68
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (ushort r = 0; r < 16; r++) {
            shared2[lane + warp * 512 + r * 32] = a_60[r];
        }
        threadgroup half *shared3 = (threadgroup half *)(pool + 256);
        for (ushort r = 0; r < 16; r++) {
            shared3[lane + warp * 512 + r * 32] = b_63[r];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (ushort k = 0; k < 32; k += 8) {
            simdgroup_half8x8 a4[4];
            simdgroup_half8x8 b5[4];
            for (ushort i = 0; i < 4; i++) simdgroup_load(a4[i], shared2 + (i * 2 + (warp >> 1)) * 256 + k, 32);
            for (ushort j = 0; j < 4; j++) simdgroup_load(b5[j], shared3 + k * 64 + (j * 2 + (warp & 1)) * 8, 64);
            for (ushort i = 0; i < 4; i++) {
                for (ushort j = 0; j < 4; j++) simdgroup_multiply_accumulate(sums1[i * 4 + j], a4[i], b5[j], sums1[i * 4 + j]);
            }
        }
        device const half *a_ptrs_65 = a_ptrs_53 + a_ptrs_37;  // kernels.py:69
        device const half *b_ptrs_66 = b_ptrs_54 + b_ptrs_39;  // kernels.py:70
        a_ptrs_53 = a_ptrs_65;  // kernels.py:65
        b_ptrs_54 = b_ptrs_66;
    }
    float acc_41[32];
    threadgroup float *shared6 = (threadgroup float *)(pool + 0);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (ushort i = 0; i < 4; i++) {
        for (ushort j = 0; j < 4; j++) simdgroup_store(sums1[(i + 0) * 4 + j], shared6 + (i * 2 + (warp >> 1)) * 512 + (j * 2 + (warp & 1)) * 8, 64);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (ushort r = 0; r < 32; r++) {
        acc_41[r] = shared6[(lane & 15) * 4 + (lane & 16) * 16 + warp * 512 + (r & 3) + (r & 12) * 16 + (r & 16) * 128];
    }
    float acc_44[32];
    for (ushort r = 0; r < 32; r++) {  // kernels.py:71
        bool acc_42 = acc_41[r] >= 0.0f;
        float acc_43 = acc_41[r] * 0.01f;
        acc_44[r] = acc_42 ? acc_41[r] : acc_43;
    }
    bool mask_46[8];
    for (ushort r = 0; r < 8; r++) {  // kernels.py:74
        mask_46[r] = om_10[r] < M;
    }
    bool mask_49[4];
    for (ushort r = 0; r < 4; r++) {
        mask_49[r] = on_14[r] < N;
    }
    bool mask_52[32];
    for (ushort r = 0; r < 32; r++) {
        mask_52[r] = mask_46[(r >> 2)] && mask_49[(r & 3)];
    }
    int v3[8];
    for (ushort r = 0; r < 8; r++) {  // kernels.py:75
        v3[r] = int(uint(om_10[r]) * uint(scm));
    }
    int v7[4];
    for (ushort r = 0; r < 4; r++) {
        v7[r] = int(uint(on_14[r]) * uint(scn));
    }
    for (ushort r = 0; r < 32; r++) {
        long v10 = long(v3[(r >> 2)]) + v7[(r & 3)];
        half v11 = half(acc_44[r]);
        if (mask_52[r]) c_ptr[v10] = v11;
    }
}
