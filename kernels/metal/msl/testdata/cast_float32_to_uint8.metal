
typedef float T;
typedef uint W;

inline uchar one(float x0) {
    const float x = x0;
    return uchar(to_integer<uchar>(x));
}

kernel void run(device uchar *out [[buffer(0)]],
    device const float *in0 [[buffer(1)]],
    uint i [[thread_position_in_grid]]) {
    out[i] = one(in0[i]);
}
