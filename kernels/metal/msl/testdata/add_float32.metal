
typedef float T;
typedef uint W;

kernel void run(device float *out [[buffer(0)]],
    device const float *in0 [[buffer(1)]],
    device const float *in1 [[buffer(2)]],
    uint i [[thread_position_in_grid]]) {
    const float x = in0[i];
    const float y = in1[i];
    out[i] = float(x + y);
}
