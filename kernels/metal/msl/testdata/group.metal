
inline float add_float32_float32_float32(float x0, float x1) {
    const float x = x0;
    const float y = x1;
    return float(x + y);
}

inline float multiply_float32_float32_float32(float x0, float x1) {
    const float x = x0;
    const float y = x1;
    return float(x * y);
}

inline float leaky_relu_float32_float32(float x0, constant float *attributes) {
    const float x = x0;
    const float a = attributes[0];
    return float(x > 0 ? x : x * a);
}

inline uchar greater_than_bool_float32_float32(float x0, float x1) {
    const float x = x0;
    const float y = x1;
    return uchar(x > y);
}

inline half cast_float16_float32(float x0) {
    const float x = x0;
    return half(float(x));
}

inline half add_float16_float16_float16(half x0, half x1) {
    const float x = float(x0);
    const float y = float(x1);
    return half(x + y);
}

inline void steps(float r0, float r1, half r2, thread uchar &w0, thread half &w1, constant ulong *numbers) {
    const float v0 = add_float32_float32_float32(r0, r1);
    const float v1 = multiply_float32_float32_float32(v0, *(constant float *)(numbers + 0));
    const float v2 = leaky_relu_float32_float32(v1, (constant float *)(numbers + 2));
    const uchar v3 = greater_than_bool_float32_float32(v2, *(constant float *)(numbers + 1));
    const half v4 = cast_float16_float32(v2);
    const half v5 = add_float16_float16_float16(v4, r2);
    w0 = v3;
    w1 = v5;
}

kernel void run(device const float *in0 [[buffer(0)]],
    device const float *in1 [[buffer(1)]],
    device const half *in2 [[buffer(2)]],
    device uchar *out0 [[buffer(3)]],
    device half *out1 [[buffer(4)]],
    constant Walk<int> &walk1 [[buffer(5)]],
    constant Walk<int> &walk2 [[buffer(6)]],
    constant Walk<int> &to1 [[buffer(7)]],
    constant ulong *numbers [[buffer(8)]],
    constant uint *bounds [[buffer(9)]],
    uint i [[thread_position_in_grid]]) {
    i += bounds[0];
    const uint whole = bounds[1] / 4;
    if (i >= bounds[2]) {
        const uint e = whole * 4 + i - bounds[2];
        if (e >= bounds[1]) return;
        uchar t0;
        half t1;
        steps(in0[e], in1[seek(walk1, e)], in2[seek(walk2, e)], t0, t1, numbers);
        out0[e] = t0;
        out1[seek(to1, e)] = t1;
        return;
    }
    const uint first = i / 32 * 8 + i % 8;
    if (first >= bounds[3]) return;
    i = first + i / 8 % 4 * bounds[3];
    if (i >= whole) return;
    const int at1 = seek(walk1, i * 4), by1 = walk1.strides[walk1.rank - 1];
    float4 x1 = in1[at1];
    if (by1 != 0)
        for (uint k = 1; k < 4; k++) x1[k] = in1[at1 + int(k) * by1];
    for (uint n = 0; n < bounds[4] && i < whole; n++, i += 4 * bounds[3]) {
        const float4 x0 = ((device const float4 *)in0)[i];
        uchar4 y0;
        for (uint k = 0; k < 4; k++) {
            uchar t0;
            half t1;
            steps(x0[k], x1[k], in2[seek(walk2, i * 4 + k)], t0, t1, numbers);
            y0[k] = t0;
            out1[seek(to1, i * 4 + k)] = t1;
        }
        ((device uchar4 *)out0)[i] = y0;
    }
}
