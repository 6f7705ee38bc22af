// {"triton_mps":1,"name":"shapes","args":[{"name":"x_ptr","type":"*fp32","divisible":16},{"name":"o_ptr","type":"*fp32","divisible":16,"writes":true},{"name":"h_ptr","type":"*i32","divisible":16,"writes":true}],"grid":"threadgroups","num_warps":4,"threads":128,"shared":2624}
#include <metal_stdlib>
using namespace metal;

inline void combine5(thread int &y_345, int y_346) {  // kernels.py:194
    int y_347 = y_345 ^ y_346;
    y_345 = y_347;
}

inline void combine7(thread int &y_345_1n, int y_346_1n) {  // kernels.py:194
    int y_347_1n = y_345_1n ^ y_346_1n;
    y_345_1n = y_347_1n;
}

inline void combine9(thread int &y_345_2n, int y_346_2n) {  // kernels.py:194
    int y_347_2n = y_345_2n ^ y_346_2n;
    y_345_2n = y_347_2n;
}

inline void combine11(thread int &y_345_3n, int y_346_3n) {  // kernels.py:194
    int y_347_3n = y_345_3n ^ y_346_3n;
    y_345_3n = y_347_3n;
}

inline void combine13(thread int &y_345_4n, int y_346_4n) {  // kernels.py:194
    int y_347_4n = y_345_4n ^ y_346_4n;
    y_345_4n = y_347_4n;
}

inline void combine15(thread int &y_345_5n, int y_346_5n) {  // kernels.py:194
    int y_347_5n = y_345_5n ^ y_346_5n;
    y_345_5n = y_347_5n;
}

inline void combine17(thread int &iy_345, int iy_346) {  // kernels.py:195
    int iy_347 = iy_345 ^ iy_346;
    iy_345 = iy_347;
}

inline void combine19(thread int &iy_345_1n, int iy_346_1n) {  // kernels.py:195
    int iy_347_1n = iy_345_1n ^ iy_346_1n;
    iy_345_1n = iy_347_1n;
}

inline void combine21(thread int &iy_345_2n, int iy_346_2n) {  // kernels.py:195
    int iy_347_2n = iy_345_2n ^ iy_346_2n;
    iy_345_2n = iy_347_2n;
}

inline void combine23(thread int &iy_345_3n, int iy_346_3n) {  // kernels.py:195
    int iy_347_3n = iy_345_3n ^ iy_346_3n;
    iy_345_3n = iy_347_3n;
}

inline void combine25(thread int &iy_345_4n, int iy_346_4n) {  // kernels.py:195
    int iy_347_4n = iy_345_4n ^ iy_346_4n;
    iy_345_4n = iy_347_4n;
}

inline void combine27(thread int &iy_345_5n, int iy_346_5n) {  // kernels.py:195
    int iy_347_5n = iy_345_5n ^ iy_346_5n;
    iy_345_5n = iy_347_5n;
}

inline void combine29(thread int &iy_345_6n, int iy_346_6n) {  // kernels.py:195
    int iy_347_6n = iy_345_6n ^ iy_346_6n;
    iy_345_6n = iy_347_6n;
}

inline void combine31(thread int &iy_345_7n, int iy_346_7n) {  // kernels.py:195
    int iy_347_7n = iy_345_7n ^ iy_346_7n;
    iy_345_7n = iy_347_7n;
}

inline void combine33(thread int &iy_345_8n, int iy_346_8n) {  // kernels.py:195
    int iy_347_8n = iy_345_8n ^ iy_346_8n;
    iy_345_8n = iy_347_8n;
}

inline void combine35(thread int &iy_345_9n, int iy_346_9n) {  // kernels.py:195
    int iy_347_9n = iy_345_9n ^ iy_346_9n;
    iy_345_9n = iy_347_9n;
}

inline void combine37(thread int &iy_345_10n, int iy_346_10n) {  // kernels.py:195
    int iy_347_10n = iy_345_10n ^ iy_346_10n;
    iy_345_10n = iy_347_10n;
}

inline void combine39(thread int &iy_345_11n, int iy_346_11n) {  // kernels.py:195
    int iy_347_11n = iy_345_11n ^ iy_346_11n;
    iy_345_11n = iy_347_11n;
}

inline void combine41(thread int &iy_345_12n, int iy_346_12n) {  // kernels.py:195
    int iy_347_12n = iy_345_12n ^ iy_346_12n;
    iy_345_12n = iy_347_12n;
}

inline void combine43(thread int &iy_345_13n, int iy_346_13n) {  // kernels.py:195
    int iy_347_13n = iy_345_13n ^ iy_346_13n;
    iy_345_13n = iy_347_13n;
}

inline void combine45(thread int &iy_345_14n, int iy_346_14n) {  // kernels.py:195
    int iy_347_14n = iy_345_14n ^ iy_346_14n;
    iy_345_14n = iy_347_14n;
}

inline void combine47(thread int &iy_345_15n, int iy_346_15n) {  // kernels.py:195
    int iy_347_15n = iy_345_15n ^ iy_346_15n;
    iy_345_15n = iy_347_15n;
}

inline void combine49(thread int &iy_345_16n, int iy_346_16n) {  // kernels.py:195
    int iy_347_16n = iy_345_16n ^ iy_346_16n;
    iy_345_16n = iy_347_16n;
}

inline void combine51(thread int &iy_345_17n, int iy_346_17n) {  // kernels.py:195
    int iy_347_17n = iy_345_17n ^ iy_346_17n;
    iy_345_17n = iy_347_17n;
}

inline void combine53(thread int &iy_345_18n, int iy_346_18n) {  // kernels.py:195
    int iy_347_18n = iy_345_18n ^ iy_346_18n;
    iy_345_18n = iy_347_18n;
}

inline void combine55(thread int &iy_345_19n, int iy_346_19n) {  // kernels.py:195
    int iy_347_19n = iy_345_19n ^ iy_346_19n;
    iy_345_19n = iy_347_19n;
}

inline void combine57(thread int &iy_345_20n, int iy_346_20n) {  // kernels.py:195
    int iy_347_20n = iy_345_20n ^ iy_346_20n;
    iy_345_20n = iy_347_20n;
}

inline void combine59(thread float &arg3, float arg4) {  // kernels.py:196
    float v21 = arg3 + arg4;
    arg3 = v21;
}

[[max_total_threads_per_threadgroup(128)]]
kernel void shapes(
    device const float *x_ptr [[buffer(0)]],
    device float *o_ptr [[buffer(1)]],
    device int *h_ptr [[buffer(2)]],
    uint3 program [[threadgroup_position_in_grid]],
    uint3 programs [[threadgroups_per_grid]],
    uint lane [[thread_index_in_simdgroup]],
    uint warp [[simdgroup_index_in_threadgroup]]) {
    threadgroup uint4 pool[164];
    int i = int((lane >> 1) + warp * 16);  // kernels.py:184
    int i_1n = int(lane + (warp & 1) * 32);
    float x_24 = x_ptr[i];  // kernels.py:185
    threadgroup float *shared1 = (threadgroup float *)(pool + 0);
    if ((lane & 1) == 0) {
        shared1[(lane >> 1) + warp * 16] = x_24;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float x_24_1n[2];
    for (ushort r = 0; r < 2; r++) {
        x_24_1n[r] = shared1[((lane >> 1) & 3) + ((lane >> 1) & 8) + warp * 16 + r * 4];
    }
    threadgroup float *shared2 = (threadgroup float *)(pool + 16);  // kernels.py:189
    if ((lane & 9) == 0) {
        shared2[(lane & 6) * 4 + (lane >> 4) + warp * 2] = x_24_1n[0];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float outLHS;
    outLHS = shared2[(lane >> 1) + (warp & 1) * 16];
    threadgroup float *shared3 = (threadgroup float *)(pool + 24);
    if ((lane & 9) == 0) {
        shared3[(lane & 6) * 4 + (lane >> 4) + warp * 2] = x_24_1n[1];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float outRHS;
    outRHS = shared3[(lane >> 1) + (warp & 1) * 16];
    float z = (lane >> 0 & 1) != 0 ? outLHS : outRHS;  // kernels.py:190
    int g_27 = int(uint(i_1n) * 7u);  // kernels.py:192
    int g_28 = int(uint(g_27) + 3u);
    int g_29 = int(g_28 % 64);
    threadgroup float *shared4 = (threadgroup float *)(pool + 32);
    if ((warp & 2) == 0) {
        shared4[lane + (warp & 1) * 32] = z;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float g_30;
    g_30 = shared4[ulong(g_29) * 1];
    if ((warp & 2) == 0) {  // kernels.py:193
        o_ptr[i_1n] = g_30;
    }
    device float *v3 = o_ptr + 64;  // kernels.py:194
    int y_31 = as_type<int>(x_24);
    int y_33;
    y_33 = y_31;
    threadgroup int *shared6 = (threadgroup int *)(pool + 48);
    if ((lane & 1) == 0) {
        shared6[(lane & 30) + (warp & 1) * 32 + (warp >> 1)] = y_33;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    {
        y_33 = shared6[(lane & 30) + (warp & 1) * 32];
        for (ushort k = 1; k < 2; k++) {
            combine5(y_33, shared6[(lane & 30) + (warp & 1) * 32 + k]);
        }
    }
    int y_36 = y_31 ^ y_33;
    int y_37;
    y_37 = y_36;
    threadgroup int *shared8 = (threadgroup int *)(pool + 64);
    if ((lane & 1) == 0) {
        shared8[(lane & 30) + (warp & 2) * 16 + (warp & 1)] = y_37;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    {
        y_37 = shared8[(lane & 30) + (warp & 2) * 16];
        for (ushort k = 1; k < 2; k++) {
            combine7(y_37, shared8[(lane & 30) + (warp & 2) * 16 + k]);
        }
    }
    int y_40 = y_36 ^ y_37;
    int y_41;
    y_41 = y_40;
    {
        int o10 = simd_shuffle_xor(y_41, ushort(16));
        combine9(y_41, o10);
    }
    int y_44 = y_40 ^ y_41;
    int y_45;
    y_45 = y_44;
    {
        int o12 = simd_shuffle_xor(y_45, ushort(8));
        combine11(y_45, o12);
    }
    int y_48 = y_44 ^ y_45;
    int y_49;
    y_49 = y_48;
    {
        int o14 = simd_shuffle_xor(y_49, ushort(4));
        combine13(y_49, o14);
    }
    int y_52 = y_48 ^ y_49;
    int y_53;
    y_53 = y_52;
    {
        int o16 = simd_shuffle_xor(y_53, ushort(2));
        combine15(y_53, o16);
    }
    int y_56 = y_52 ^ y_53;
    float x_58 = as_type<float>(y_56);
    if ((lane & 1) == 0) {
        v3[i] = x_58;
    }
    device float *v6 = o_ptr + 128;  // kernels.py:195
    int ar = int((warp >> 1));
    int ar_1n = int((warp & 1));
    int ar_2n = int((lane >> 4));
    int ar_3n = int(((lane >> 3) & 1));
    int ar_4n = int(((lane >> 1) & 1));
    int ar_5n = int(((lane >> 2) & 1));
    int ix = as_type<int>(x_24);
    int iy;
    iy = ix;
    {
        int o18 = simd_shuffle_xor(iy, ushort(2));
        combine17(iy, o18);
    }
    int iy_63 = ix ^ iy;
    float y_64 = as_type<float>(iy_63);
    bool ret_66 = x_24 > y_64;
    int ret_69 = ar_5n ^ ar_4n;
    bool ret_70 = ret_69 != 0;
    bool ret_72 = ret_66 != ret_70;
    float ret_73 = ret_72 ? y_64 : x_24;
    int ix_75 = as_type<int>(ret_73);
    int iy_76;
    iy_76 = ix_75;
    {
        int o20 = simd_shuffle_xor(iy_76, ushort(4));
        combine19(iy_76, o20);
    }
    int iy_79 = ix_75 ^ iy_76;
    float y_80 = as_type<float>(iy_79);
    bool ret_81 = ret_73 > y_80;
    int ret_84 = ar_3n ^ ar_5n;
    bool ret_85 = ret_84 != 0;
    bool ret_87 = ret_81 != ret_85;
    float ret_88 = ret_87 ? y_80 : ret_73;
    int ix_89 = as_type<int>(ret_88);
    int iy_90;
    iy_90 = ix_89;
    {
        int o22 = simd_shuffle_xor(iy_90, ushort(2));
        combine21(iy_90, o22);
    }
    int iy_93 = ix_89 ^ iy_90;
    float y_94 = as_type<float>(iy_93);
    bool ret_95 = ret_88 > y_94;
    int ret_98 = ar_3n ^ ar_4n;
    bool ret_99 = ret_98 != 0;
    bool ret_101 = ret_95 != ret_99;
    float ret_102 = ret_101 ? y_94 : ret_88;
    int ix_104 = as_type<int>(ret_102);
    int iy_105;
    iy_105 = ix_104;
    {
        int o24 = simd_shuffle_xor(iy_105, ushort(8));
        combine23(iy_105, o24);
    }
    int iy_108 = ix_104 ^ iy_105;
    float y_109 = as_type<float>(iy_108);
    bool ret_110 = ret_102 > y_109;
    int ret_113 = ar_2n ^ ar_3n;
    bool ret_114 = ret_113 != 0;
    bool ret_116 = ret_110 != ret_114;
    float ret_117 = ret_116 ? y_109 : ret_102;
    int ix_118 = as_type<int>(ret_117);
    int iy_119;
    iy_119 = ix_118;
    {
        int o26 = simd_shuffle_xor(iy_119, ushort(4));
        combine25(iy_119, o26);
    }
    int iy_122 = ix_118 ^ iy_119;
    float y_123 = as_type<float>(iy_122);
    bool ret_124 = ret_117 > y_123;
    int ret_127 = ar_2n ^ ar_5n;
    bool ret_128 = ret_127 != 0;
    bool ret_130 = ret_124 != ret_128;
    float ret_131 = ret_130 ? y_123 : ret_117;
    int ix_132 = as_type<int>(ret_131);
    int iy_133;
    iy_133 = ix_132;
    {
        int o28 = simd_shuffle_xor(iy_133, ushort(2));
        combine27(iy_133, o28);
    }
    int iy_136 = ix_132 ^ iy_133;
    float y_137 = as_type<float>(iy_136);
    bool ret_138 = ret_131 > y_137;
    int ret_141 = ar_2n ^ ar_4n;
    bool ret_142 = ret_141 != 0;
    bool ret_144 = ret_138 != ret_142;
    float ret_145 = ret_144 ? y_137 : ret_131;
    int ix_147 = as_type<int>(ret_145);
    int iy_148;
    iy_148 = ix_147;
    {
        int o30 = simd_shuffle_xor(iy_148, ushort(16));
        combine29(iy_148, o30);
    }
    int iy_151 = ix_147 ^ iy_148;
    float y_152 = as_type<float>(iy_151);
    bool ret_153 = ret_145 > y_152;
    int ret_156 = ar_1n ^ ar_2n;
    bool ret_157 = ret_156 != 0;
    bool ret_159 = ret_153 != ret_157;
    float ret_160 = ret_159 ? y_152 : ret_145;
    int ix_161 = as_type<int>(ret_160);
    int iy_162;
    iy_162 = ix_161;
    {
        int o32 = simd_shuffle_xor(iy_162, ushort(8));
        combine31(iy_162, o32);
    }
    int iy_165 = ix_161 ^ iy_162;
    float y_166 = as_type<float>(iy_165);
    bool ret_167 = ret_160 > y_166;
    int ret_170 = ar_1n ^ ar_3n;
    bool ret_171 = ret_170 != 0;
    bool ret_173 = ret_167 != ret_171;
    float ret_174 = ret_173 ? y_166 : ret_160;
    int ix_175 = as_type<int>(ret_174);
    int iy_176;
    iy_176 = ix_175;
    {
        int o34 = simd_shuffle_xor(iy_176, ushort(4));
        combine33(iy_176, o34);
    }
    int iy_179 = ix_175 ^ iy_176;
    float y_180 = as_type<float>(iy_179);
    bool ret_181 = ret_174 > y_180;
    int ret_184 = ar_1n ^ ar_5n;
    bool ret_185 = ret_184 != 0;
    bool ret_187 = ret_181 != ret_185;
    float ret_188 = ret_187 ? y_180 : ret_174;
    int ix_189 = as_type<int>(ret_188);
    int iy_190;
    iy_190 = ix_189;
    {
        int o36 = simd_shuffle_xor(iy_190, ushort(2));
        combine35(iy_190, o36);
    }
    int iy_193 = ix_189 ^ iy_190;
    float y_194 = as_type<float>(iy_193);
    bool ret_195 = ret_188 > y_194;
    int ret_198 = ar_1n ^ ar_4n;
    bool ret_199 = ret_198 != 0;
    bool ret_201 = ret_195 != ret_199;
    float ret_202 = ret_201 ? y_194 : ret_188;
    int ix_204 = as_type<int>(ret_202);
    int iy_205;
    iy_205 = ix_204;
    threadgroup int *shared38 = (threadgroup int *)(pool + 80);
    if ((lane & 1) == 0) {
        shared38[(lane & 30) + (warp & 2) * 16 + (warp & 1)] = iy_205;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    {
        iy_205 = shared38[(lane & 30) + (warp & 2) * 16];
        for (ushort k = 1; k < 2; k++) {
            combine37(iy_205, shared38[(lane & 30) + (warp & 2) * 16 + k]);
        }
    }
    int iy_208 = ix_204 ^ iy_205;
    float y_209 = as_type<float>(iy_208);
    bool ret_210 = ret_202 > y_209;
    int ret_213 = ar ^ ar_1n;
    bool ret_214 = ret_213 != 0;
    bool ret_216 = ret_210 != ret_214;
    float ret_217 = ret_216 ? y_209 : ret_202;
    int ix_218 = as_type<int>(ret_217);
    int iy_219;
    iy_219 = ix_218;
    {
        int o40 = simd_shuffle_xor(iy_219, ushort(16));
        combine39(iy_219, o40);
    }
    int iy_222 = ix_218 ^ iy_219;
    float y_223 = as_type<float>(iy_222);
    bool ret_224 = ret_217 > y_223;
    int ret_227 = ar ^ ar_2n;
    bool ret_228 = ret_227 != 0;
    bool ret_230 = ret_224 != ret_228;
    float ret_231 = ret_230 ? y_223 : ret_217;
    int ix_232 = as_type<int>(ret_231);
    int iy_233;
    iy_233 = ix_232;
    {
        int o42 = simd_shuffle_xor(iy_233, ushort(8));
        combine41(iy_233, o42);
    }
    int iy_236 = ix_232 ^ iy_233;
    float y_237 = as_type<float>(iy_236);
    bool ret_238 = ret_231 > y_237;
    int ret_241 = ar ^ ar_3n;
    bool ret_242 = ret_241 != 0;
    bool ret_244 = ret_238 != ret_242;
    float ret_245 = ret_244 ? y_237 : ret_231;
    int ix_246 = as_type<int>(ret_245);
    int iy_247;
    iy_247 = ix_246;
    {
        int o44 = simd_shuffle_xor(iy_247, ushort(4));
        combine43(iy_247, o44);
    }
    int iy_250 = ix_246 ^ iy_247;
    float y_251 = as_type<float>(iy_250);
    bool ret_252 = ret_245 > y_251;
    int ret_255 = ar ^ ar_5n;
    bool ret_256 = ret_255 != 0;
    bool ret_258 = ret_252 != ret_256;
    float ret_259 = ret_258 ? y_251 : ret_245;
    int ix_260 = as_type<int>(ret_259);
    int iy_261;
    iy_261 = ix_260;
    {
        int o46 = simd_shuffle_xor(iy_261, ushort(2));
        combine45(iy_261, o46);
    }
    int iy_264 = ix_260 ^ iy_261;
    float y_265 = as_type<float>(iy_264);
    bool ret_266 = ret_259 > y_265;
    int ret_269 = ar ^ ar_4n;
    bool ret_270 = ret_269 != 0;
    bool ret_272 = ret_266 != ret_270;
    float ret_273 = ret_272 ? y_265 : ret_259;
    int ix_274 = as_type<int>(ret_273);
    int iy_275;
    iy_275 = ix_274;
    threadgroup int *shared48 = (threadgroup int *)(pool + 96);
    if ((lane & 1) == 0) {
        shared48[(lane & 30) + (warp & 1) * 32 + (warp >> 1)] = iy_275;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    {
        iy_275 = shared48[(lane & 30) + (warp & 1) * 32];
        for (ushort k = 1; k < 2; k++) {
            combine47(iy_275, shared48[(lane & 30) + (warp & 1) * 32 + k]);
        }
    }
    int iy_278 = ix_274 ^ iy_275;
    float y_279 = as_type<float>(iy_278);
    bool ret_280 = ret_273 > y_279;
    bool ret_281 = ar != 0;
    bool ret_283 = ret_280 != ret_281;
    float ret_284 = ret_283 ? y_279 : ret_273;
    int ix_285 = as_type<int>(ret_284);
    int iy_286;
    iy_286 = ix_285;
    threadgroup int *shared50 = (threadgroup int *)(pool + 112);
    if ((lane & 1) == 0) {
        shared50[(lane & 30) + (warp & 2) * 16 + (warp & 1)] = iy_286;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    {
        iy_286 = shared50[(lane & 30) + (warp & 2) * 16];
        for (ushort k = 1; k < 2; k++) {
            combine49(iy_286, shared50[(lane & 30) + (warp & 2) * 16 + k]);
        }
    }
    int iy_289 = ix_285 ^ iy_286;
    float y_290 = as_type<float>(iy_289);
    bool ret_291 = ret_284 > y_290;
    bool ret_292 = ar_1n != 0;
    bool ret_294 = ret_291 != ret_292;
    float ret_295 = ret_294 ? y_290 : ret_284;
    int ix_296 = as_type<int>(ret_295);
    int iy_297;
    iy_297 = ix_296;
    {
        int o52 = simd_shuffle_xor(iy_297, ushort(16));
        combine51(iy_297, o52);
    }
    int iy_300 = ix_296 ^ iy_297;
    float y_301 = as_type<float>(iy_300);
    bool ret_302 = ret_295 > y_301;
    bool ret_303 = ar_2n != 0;
    bool ret_305 = ret_302 != ret_303;
    float ret_306 = ret_305 ? y_301 : ret_295;
    int ix_307 = as_type<int>(ret_306);
    int iy_308;
    iy_308 = ix_307;
    {
        int o54 = simd_shuffle_xor(iy_308, ushort(8));
        combine53(iy_308, o54);
    }
    int iy_311 = ix_307 ^ iy_308;
    float y_312 = as_type<float>(iy_311);
    bool ret_313 = ret_306 > y_312;
    bool ret_314 = ar_3n != 0;
    bool ret_316 = ret_313 != ret_314;
    float ret_317 = ret_316 ? y_312 : ret_306;
    int ix_318 = as_type<int>(ret_317);
    int iy_319;
    iy_319 = ix_318;
    {
        int o56 = simd_shuffle_xor(iy_319, ushort(4));
        combine55(iy_319, o56);
    }
    int iy_322 = ix_318 ^ iy_319;
    float y_323 = as_type<float>(iy_322);
    bool ret_324 = ret_317 > y_323;
    bool ret_325 = ar_5n != 0;
    bool ret_327 = ret_324 != ret_325;
    float ret_328 = ret_327 ? y_323 : ret_317;
    int ix_329 = as_type<int>(ret_328);
    int iy_330;
    iy_330 = ix_329;
    {
        int o58 = simd_shuffle_xor(iy_330, ushort(2));
        combine57(iy_330, o58);
    }
    int iy_333 = ix_329 ^ iy_330;
    float y_334 = as_type<float>(iy_333);
    bool ret_335 = ret_328 > y_334;
    bool ret_336 = ar_4n != 0;
    bool ret_338 = ret_335 != ret_336;
    float ret_339 = ret_338 ? y_334 : ret_328;
    if ((lane & 1) == 0) {
        v6[i] = ret_339;
    }
    device float *v9 = o_ptr + 192;  // kernels.py:196
    float v12 = x_24 + 1.0f;
    float c = (lane >> 0 & 1) != 0 ? v12 : x_24;
    float v14;
    v14 = c;
    threadgroup float *shared60 = (threadgroup float *)(pool + 128);
    shared60[lane * 2 + (warp & 1) * 64 + (warp >> 1)] = v14;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    {
        v14 = shared60[lane * 2 + (warp & 1) * 64];
        for (ushort k = 1; k < 2; k++) {
            combine59(v14, shared60[lane * 2 + (warp & 1) * 64 + k]);
        }
    }
    if ((warp & 2) == 0) {
        v9[i_1n] = v14;
    }
    float h_341 = x_24 * 4.0f;  // kernels.py:197
    int h_342 = int(float(h_341));
    int h_343 = h_342 & 15;
    threadgroup uint *shared61 = (threadgroup uint *)(pool + 160);
    for (uint k = warp * 32 + lane; k < 16; k += 128) shared61[k] = 0;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if ((lane & 1) == 0) {
        if (ulong(h_343) < 16) atomic_fetch_add_explicit((threadgroup atomic_uint *)(shared61 + h_343), 1u, memory_order_relaxed);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    int h_344;
    h_344 = int(shared61[(lane & 15)]);
    int v15 = int((lane & 15));  // kernels.py:198
    if ((lane & 16) == 0 && warp == 0) {
        h_ptr[v15] = h_344;
    }
    device float *v18 = o_ptr + 256;  // kernels.py:200
    if ((lane & 1) == 0) {
        v18[i] = x_24;
    }
}
