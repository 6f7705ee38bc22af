
inline ushort one(ushort x0, ushort x1) {
    const float x = widen(x0);
    const float y = widen(x1);
    return narrow(power(x, y));
}

inline ushort4 several(ushort4 x0, ushort x1) {
    ushort4 to;
    for (uint k = 0; k < 4; k++) to[k] = one(x0[k], x1);
    return to;
}

kernel void run(device ushort *out [[buffer(0)]],
    device const ushort *in0 [[buffer(1)]],
    constant ushort *in1 [[buffer(2)]],
    constant uint &count [[buffer(3)]],
    uint i [[thread_position_in_grid]]) {
    if (i >= count / 8) {
        const uint last = count / 8 * 7 + i;
        out[last] = one(in0[last], in1[0]);
        return;
    }
    const uint4 w0 = ((device const uint4 *)in0)[i];
    uint4 to;
    to.xy = as_type<uint2>(several(as_type<ushort4>(uint2(w0.xy)), in1[0]));
    to.zw = as_type<uint2>(several(as_type<ushort4>(uint2(w0.zw)), in1[0]));
    ((device uint4 *)out)[i] = to;
}
