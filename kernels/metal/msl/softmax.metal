
// A threadgroup computes a line: exp(x - max) / sum(exp(x - max)). The difference is taken in two floats,
// because its rounding would be a factor after the exponential; so is the sum.

struct Sum {
    float sum, dropped;
};

inline Sum plus(Sum a, Sum b) {
    float s = a.sum + b.sum, back = s - a.sum;
    return Sum{s, a.dropped + b.dropped + ((a.sum - (s - back)) + (b.sum - back))};
}

inline float power_of(float x, float top) {
    float d = x - top, back = d - x;
    float rest = (x - (d - back)) - (top + back);
    float e = exp(d);
    return isfinite(d) ? fma(e, rest, e) : e;
}

kernel void run(device E *out [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant Walk<I> &from [[buffer(3)]], constant I *steps [[buffer(4)]], constant uint &length [[buffer(5)]],
    uint line [[threadgroup_position_in_grid]], uint first [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup float tops[256];
    threadgroup Sum sums[256];
    in += seek(from, line);
    out += seek(to, line);
    float top = -INFINITY;
    for (uint i = first; i < length; i += width) top = largest(top, load(in[I(i) * steps[1]]));
    tops[first] = top;
    for (uint n = width / 2; n > 0; n /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (first < n) tops[first] = largest(tops[first], tops[first + n]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    top = tops[0];
    Sum sum = {0, 0};
    for (uint i = first; i < length; i += width) sum = plus(sum, Sum{power_of(load(in[I(i) * steps[1]]), top), 0});
    sums[first] = sum;
    for (uint n = width / 2; n > 0; n /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (first < n) sums[first] = plus(sums[first], sums[first + n]);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float all = sums[0].sum + sums[0].dropped;
    for (uint i = first; i < length; i += width) out[I(i) * steps[0]] = store(power_of(load(in[I(i) * steps[1]]), top) / all);
}
