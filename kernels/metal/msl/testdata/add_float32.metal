
typedef float T;
typedef uint W;

inline float one(float x0, float x1) {
    const float x = x0;
    const float y = x1;
    return float(x + y);
}

kernel void run(device float *out [[buffer(0)]],
    device const float *in0 [[buffer(1)]],
    device const float *in1 [[buffer(2)]],
    uint i [[thread_position_in_grid]]) {
    out[i] = one(in0[i], in1[i]);
}
