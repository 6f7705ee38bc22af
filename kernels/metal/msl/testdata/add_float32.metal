
inline float one(float x0, float x1) {
    const float x = x0;
    const float y = x1;
    return float(x + y);
}

inline float4 several(float4 x0, float4 x1) {
    float4 to;
    for (uint k = 0; k < 4; k++) to[k] = one(x0[k], x1[k]);
    return to;
}

kernel void run(device float *out [[buffer(0)]],
    device const float *in0 [[buffer(1)]],
    device const float *in1 [[buffer(2)]],
    constant uint &count [[buffer(3)]],
    uint i [[thread_position_in_grid]]) {
    if (i >= count / 4) {
        const uint last = count / 4 * 3 + i;
        out[last] = one(in0[last], in1[last]);
        return;
    }
    ((device float4 *)out)[i] = several(((device const float4 *)in0)[i], ((device const float4 *)in1)[i]);
}
