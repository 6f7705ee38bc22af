
inline uchar one(uchar x0, uchar x1) {
    const uchar x = x0;
    const uchar y = x1;
    return uchar(x == y);
}

inline uchar4 several(uchar4 x0, uchar4 x1) {
    uchar4 to;
    for (uint k = 0; k < 4; k++) to[k] = one(x0[k], x1[k]);
    return to;
}

kernel void run(device uchar *out [[buffer(0)]],
    device const uchar *in0 [[buffer(1)]],
    device const uchar *in1 [[buffer(2)]],
    constant uint &count [[buffer(3)]],
    uint i [[thread_position_in_grid]]) {
    if (i >= count / 16) {
        const uint last = count / 16 * 15 + i;
        out[last] = one(in0[last], in1[last]);
        return;
    }
    const uint4 w0 = ((device const uint4 *)in0)[i];
    const uint4 w1 = ((device const uint4 *)in1)[i];
    uint4 to;
    to.x = as_type<uint>(several(as_type<uchar4>(w0.x), as_type<uchar4>(w1.x)));
    to.y = as_type<uint>(several(as_type<uchar4>(w0.y), as_type<uchar4>(w1.y)));
    to.z = as_type<uint>(several(as_type<uchar4>(w0.z), as_type<uchar4>(w1.z)));
    to.w = as_type<uint>(several(as_type<uchar4>(w0.w), as_type<uchar4>(w1.w)));
    ((device uint4 *)out)[i] = to;
}
