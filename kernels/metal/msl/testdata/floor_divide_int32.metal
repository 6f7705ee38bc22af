
typedef int T;
typedef uint W;

inline int one(int x0, int x1, device uint *fault) {
    const int x = x0;
    const int y = x1;
    if (y == 0) {
        *fault = 1;
        return 0;
    }
    return int(floor_divide(x, y));
}

kernel void run(device int *out [[buffer(0)]],
    device const int *in0 [[buffer(1)]],
    device const int *in1 [[buffer(2)]],
    constant Shape<int> &shape [[buffer(3)]],
    device uint *fault [[buffer(4)]],
    uint i [[thread_position_in_grid]]) {
    int at0 = shape.first[0];
    int at1 = shape.first[1];
    uint rest = i;
    for (uint axis = shape.rank; axis-- > 0;) {
        const uint k = rest % shape.dims[axis];
        rest /= shape.dims[axis];
        at0 += int(k) * shape.strides[0][axis];
        at1 += int(k) * shape.strides[1][axis];
    }
    out[at0] = one(in0[at1], in1[i], fault);
}
