
inline half one(half x0) {
    const float x = float(x0);
    return half(x);
}

kernel void run(device half *out [[buffer(0)]],
    device const half *in0 [[buffer(1)]],
    constant Walks<int> &walks [[buffer(2)]],
    uint3 group [[threadgroup_position_in_grid]],
    uint3 in [[thread_position_in_threadgroup]],
    uint3 size [[threads_per_threadgroup]]) {
    threadgroup half tile0[32][33];
    const uint x = group.x * 32, y = group.y * 32, left = walks.dims[0] - x, below = walks.dims[1] - y;
    uint rest = group.z;
    int at0 = walks.first[0] + int(x) * walks.strides[0][0] + int(y) * walks.strides[0][1];
    int at1 = walks.first[1] + int(x) * walks.strides[1][0] + int(y) * walks.strides[1][1];
    for (uint axis = 2; axis < walks.last; axis++) {
        const uint k = rest % walks.dims[axis];
        rest /= walks.dims[axis];
        at0 += int(k) * walks.strides[0][axis];
        at1 += int(k) * walks.strides[1][axis];
    }
    at0 += int(rest) * walks.strides[0][walks.last];
    at1 += int(rest) * walks.strides[1][walks.last];
    for (uint k = in.y; k < 32 && k < left && in.x < below; k += size.y) {
        tile0[k][in.x] = in0[at1 + int(k) * walks.strides[1][0] + int(in.x) * walks.strides[1][1]];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint k = in.y; k < 32 && in.x < left && k < below; k += size.y)
        out[at0 + int(in.x) * walks.strides[0][0] + int(k) * walks.strides[0][1]] = one(tile0[in.x][k]);
}
