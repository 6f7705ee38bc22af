
typedef float T;
typedef uint W;

inline float one(uchar x0, float x1, float x2) {
    const bool x = x0 != 0;
    const float y = x1;
    const float z = x2;
    return float(x ? y : z);
}

kernel void run(device float *out [[buffer(0)]],
    device const uchar *in0 [[buffer(1)]],
    device const float *in1 [[buffer(2)]],
    constant float *in2 [[buffer(3)]],
    constant Shape<long> &shape [[buffer(4)]],
    uint i [[thread_position_in_grid]]) {
    long at1 = shape.first[1];
    uint rest = i;
    for (uint axis = shape.rank; axis-- > 0;) {
        const uint k = rest % shape.dims[axis];
        rest /= shape.dims[axis];
        at1 += long(k) * shape.strides[1][axis];
    }
    out[i] = one(in0[at1], in1[i], in2[0]);
}
