
inline float one(float x0, constant float *attributes) {
    const float x = x0;
    const float a = attributes[0];
    const float b = attributes[1];
    return float(softplus(x, a, b));
}

inline float4 several(float4 x0, constant float *attributes) {
    float4 to;
    for (uint k = 0; k < 4; k++) to[k] = one(x0[k], attributes);
    return to;
}

kernel void run(device float *out [[buffer(0)]],
    device const float *in0 [[buffer(1)]],
    constant uint &count [[buffer(2)]],
    constant float *attributes [[buffer(3)]],
    uint i [[thread_position_in_grid]]) {
    if (i >= count / 4) {
        const uint last = count / 4 * 3 + i;
        out[last] = one(in0[last], attributes);
        return;
    }
    ((device float4 *)out)[i] = several(((device const float4 *)in0)[i], attributes);
}
