
inline int one(int x0, int x1, device uint *fault) {
    const int x = x0;
    const int y = x1;
    if (y == 0) {
        *fault = 1;
        return 0;
    }
    return int(floor_divide(x, y));
}

inline int4 several(int4 x0, int4 x1, device uint *fault) {
    int4 to;
    for (uint k = 0; k < 4; k++) to[k] = one(x0[k], x1[k], fault);
    return to;
}

kernel void run(device int *out [[buffer(0)]],
    device const int *in0 [[buffer(1)]],
    device const int *in1 [[buffer(2)]],
    constant Walks<int> &walks [[buffer(3)]],
    device uint *fault [[buffer(4)]],
    uint3 at [[thread_position_in_grid]]) {
    const uint mask = (1u << walks.shift) - 1;
    uint x = (at.x & ~mask) * 4 + (at.x & mask), y = at.y, rest = at.z;
    if (x >= walks.dims[0] || y >= walks.dims[1]) return;
    int at0 = walks.first[0] + int(x) * walks.strides[0][0] + int(y) * walks.strides[0][1];
    int at1 = walks.first[1] + int(x) * walks.strides[1][0] + int(y) * walks.strides[1][1];
    int at2 = walks.first[2] + int(x) * walks.strides[2][0] + int(y) * walks.strides[2][1];
    for (uint axis = 2; axis < walks.last; axis++) {
        const uint k = rest % walks.dims[axis];
        rest /= walks.dims[axis];
        at0 += int(k) * walks.strides[0][axis];
        at1 += int(k) * walks.strides[1][axis];
        at2 += int(k) * walks.strides[2][axis];
    }
    at0 += int(rest) * walks.strides[0][walks.last];
    at1 += int(rest) * walks.strides[1][walks.last];
    at2 += int(rest) * walks.strides[2][walks.last];
    int4 v0;
    int4 v1;
    for (uint n = 0; n < walks.times && x < walks.dims[0] && y < walks.dims[1]; n++) {
        const uint count = min(4u, (walks.dims[0] - x + mask) >> walks.shift);
        if (n == 0 || walks.jump[1] != 0) v0 = read_four<int4>(in0 + at1, walks.step[1], walks.lies[1], count);
        if (n == 0 || walks.jump[2] != 0) v1 = read_four<int4>(in1 + at2, walks.step[2], walks.lies[2], count);
        write_four(out + at0, walks.step[0], walks.lies[0], count, several(v0, v1, fault));
        at0 += walks.jump[0];
        at1 += walks.jump[1];
        at2 += walks.jump[2];
        x += walks.right;
        y += walks.down;
    }
}
