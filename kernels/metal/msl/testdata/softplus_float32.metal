
typedef float T;
typedef uint W;

inline float one(float x0, constant float *attributes) {
    const float x = x0;
    const float a = attributes[0];
    const float b = attributes[1];
    return float(softplus(x, a, b));
}

kernel void run(device float *out [[buffer(0)]],
    device const float *in0 [[buffer(1)]],
    constant float *attributes [[buffer(2)]],
    uint i [[thread_position_in_grid]]) {
    out[i] = one(in0[i], attributes);
}
