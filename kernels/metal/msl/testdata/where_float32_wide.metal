
inline float one(uchar x0, float x1, float x2) {
    const bool x = x0 != 0;
    const float y = x1;
    const float z = x2;
    return float(x ? y : z);
}

inline float4 several(uchar4 x0, float4 x1, float x2) {
    float4 to;
    for (uint k = 0; k < 4; k++) to[k] = one(x0[k], x1[k], x2);
    return to;
}

kernel void run(device float *out [[buffer(0)]],
    device const uchar *in0 [[buffer(1)]],
    device const float *in1 [[buffer(2)]],
    constant float *in2 [[buffer(3)]],
    constant Walks<long> &walks [[buffer(4)]],
    uint3 at [[thread_position_in_grid]]) {
    const uint mask = (1u << walks.shift) - 1;
    uint x = (at.x & ~mask) * 4 + (at.x & mask), y = at.y, rest = at.z;
    if (x >= walks.dims[0] || y >= walks.dims[1]) return;
    long at0 = walks.first[0] + long(x) * walks.strides[0][0] + long(y) * walks.strides[0][1];
    long at1 = walks.first[1] + long(x) * walks.strides[1][0] + long(y) * walks.strides[1][1];
    long at2 = walks.first[2] + long(x) * walks.strides[2][0] + long(y) * walks.strides[2][1];
    for (uint axis = 2; axis < walks.last; axis++) {
        const uint k = rest % walks.dims[axis];
        rest /= walks.dims[axis];
        at0 += long(k) * walks.strides[0][axis];
        at1 += long(k) * walks.strides[1][axis];
        at2 += long(k) * walks.strides[2][axis];
    }
    at0 += long(rest) * walks.strides[0][walks.last];
    at1 += long(rest) * walks.strides[1][walks.last];
    at2 += long(rest) * walks.strides[2][walks.last];
    uchar4 v0;
    float4 v1;
    for (uint n = 0; n < walks.times && x < walks.dims[0] && y < walks.dims[1]; n++) {
        const uint count = min(4u, (walks.dims[0] - x + mask) >> walks.shift);
        if (n == 0 || walks.jump[1] != 0) v0 = read_four<uchar4>(in0 + at1, walks.step[1], walks.lies[1], count);
        if (n == 0 || walks.jump[2] != 0) v1 = read_four<float4>(in1 + at2, walks.step[2], walks.lies[2], count);
        write_four(out + at0, walks.step[0], walks.lies[0], count, several(v0, v1, in2[0]));
        at0 += walks.jump[0];
        at1 += walks.jump[1];
        at2 += walks.jump[2];
        x += walks.right;
        y += walks.down;
    }
}
