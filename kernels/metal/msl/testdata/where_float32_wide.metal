
typedef float T;
typedef uint W;

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
    const bool x = in0[at1] != 0;
    const float y = in1[i];
    const float z = in2[0];
    out[i] = float(x ? y : z);
}
