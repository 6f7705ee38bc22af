
typedef float T;
typedef uint W;

kernel void run(device uchar *out [[buffer(0)]],
    device const float *in0 [[buffer(1)]],
    uint i [[thread_position_in_grid]]) {
    const float x = in0[i];
    out[i] = uchar(to_integer<uchar>(x));
}
