
typedef float T;
typedef uint W;

inline ushort one(ushort x0, ushort x1) {
    const float x = widen(x0);
    const float y = widen(x1);
    return narrow(power(x, y));
}

kernel void run(device ushort *out [[buffer(0)]],
    device const ushort *in0 [[buffer(1)]],
    constant ushort *in1 [[buffer(2)]],
    constant uint &count [[buffer(3)]],
    uint i [[thread_position_in_grid]]) {
    if (i >= count / 4) {
        const uint last = count / 4 * 3 + i;
        out[last] = one(in0[last], in1[0]);
        return;
    }
    const ushort4 v0 = ((device const ushort4 *)in0)[i];
    ushort4 to;
    for (uint k = 0; k < 4; k++) to[k] = one(v0[k], in1[0]);
    ((device ushort4 *)out)[i] = to;
}
