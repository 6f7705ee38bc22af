
inline uchar one(float x0) {
    const float x = x0;
    return uchar(to_integer<uchar>(x));
}

inline uchar4 several(float4 x0) {
    uchar4 to;
    for (uint k = 0; k < 4; k++) to[k] = one(x0[k]);
    return to;
}

kernel void run(device uchar *out [[buffer(0)]],
    device const float *in0 [[buffer(1)]],
    constant uint &count [[buffer(2)]],
    uint i [[thread_position_in_grid]]) {
    if (i >= count / 4) {
        const uint last = count / 4 * 3 + i;
        out[last] = one(in0[last]);
        return;
    }
    ((device uchar4 *)out)[i] = several(((device const float4 *)in0)[i]);
}
