
typedef float T;
typedef uint W;

kernel void run(device float *out [[buffer(0)]],
    device const float *in0 [[buffer(1)]],
    constant float *attributes [[buffer(2)]],
    uint i [[thread_position_in_grid]]) {
    const float x = in0[i];
    const float a = attributes[0];
    const float b = attributes[1];
    out[i] = float(softplus(x, a, b));
}
