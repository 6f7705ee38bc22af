
// (x - mean) * scale * weight + bias over lines, and scale = 1 / sqrt(mean((x - mean)**2) + epsilon). A mean may be large beside
// the deviation, and the bias may leave little of what it is added to: all is computed in two floats, and rounded once.

// The second float is at most half a unit in the last place of the first.
inline Sum settled(Sum a) {
    const float s = a.sum + a.dropped;
    return Sum{s, a.dropped - (s - a.sum)};
}

inline Sum added(Sum a, Sum b) { return settled(two_sum(a, b)); }

inline Sum product(Sum a, Sum b) {
    const float p = a.sum * b.sum;
    return settled(Sum{p, fma(a.sum, b.sum, -p) + (a.sum * b.dropped + a.dropped * b.sum)});
}

inline Sum quotient(Sum a, float n) {
    const float q = a.sum / n;
    return settled(Sum{q, (fma(-q, n, a.sum) + a.dropped) / n});
}

// 1 / sqrt(v): a step of Newton's method.
inline Sum inverse_root(Sum v) {
    const float r = 1 / sqrt(v.sum);
    if (!isfinite(r) || r == 0) return Sum{r, 0};
    const Sum off = added(Sum{1, 0}, product(Sum{-r, 0}, product(Sum{r, 0}, v)));
    return settled(Sum{r, r * (off.sum / 2)});
}

inline Sum centered(float x, Sum minus) {
    const Sum own = {x, 0};
    if (!CENTERED) return own;
    return added(own, minus);
}

// Several threads share a line. The first HELD elements of each are read once, and others three times. steps is the step from
// element to element of out and in, then the first element and the step of weight and of bias; sizes the elements of a line,
// its threads, the lines, and the first threadgroup of the dispatch; epsilon is two floats.
kernel void layer_norm(device E *out [[buffer(0)]], device const E *in [[buffer(1)]], device const float *weight [[buffer(2)]],
    device const float *bias [[buffer(3)]], device float *scale [[buffer(4)]], constant Walk<I> &to [[buffer(5)]],
    constant Walk<I> &from [[buffer(6)]], constant Walk<I> &scales [[buffer(7)]], constant I *steps [[buffer(8)]],
    constant uint4 &sizes [[buffer(9)]], constant float2 &epsilon [[buffer(10)]], uint group [[threadgroup_position_in_grid]],
    uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup Sum shared[64];
    const uint length = sizes.x, threads = sizes.y, line = (sizes.w + group) * (width / threads) + at / threads;
    const bool live = line < sizes.z;
    const uint lane = at % threads, row = live ? line : sizes.z - 1;
    threadgroup Sum *own = shared + at / threads * (threads / 32);
    in += seek(from, row);
    float x[HELD];
    Sum sum = {0, 0}, minus = {0, 0};
    for (uint k = 0; k < HELD; k++) {
        const uint i = lane + k * threads;
        x[k] = i < length ? load(in[I(i) * steps[1]]) : 0;
        sum = two_sum(sum, Sum{x[k], 0});
    }
    if (CENTERED) {
        for (uint i = lane + HELD * threads; i < length; i += threads) sum = two_sum(sum, Sum{load(in[I(i) * steps[1]]), 0});
        minus = quotient(sums_of(sum, own, lane, threads), -float(length));
    }
    Sum squares = {0, 0};
    for (uint k = 0; k < HELD; k++) {
        if (lane + k * threads >= length) continue;
        const Sum d = centered(x[k], minus);
        squares = two_sum(squares, product(d, d));
    }
    for (uint i = lane + HELD * threads; i < length; i += threads) {
        const Sum d = centered(load(in[I(i) * steps[1]]), minus);
        squares = two_sum(squares, product(d, d));
    }
    // In other memory than the sum, which a thread may still be reading.
    squares = sums_of(squares, own + 32, lane, threads);
    const Sum by = inverse_root(added(quotient(squares, float(length)), Sum{epsilon.x, epsilon.y}));
    if (!live) return;
    out += seek(to, row);
    for (uint k = 0, i = lane; i < length; k++, i += threads) {
        Sum y = product(centered(k < HELD ? x[k] : load(in[I(i) * steps[1]]), minus), by);
        if (WEIGHT) y = product(y, Sum{weight[steps[2] + I(i) * steps[3]], 0});
        if (BIAS) y = added(y, Sum{bias[steps[4] + I(i) * steps[5]], 0});
        out[I(i) * steps[0]] = store(y.sum);
    }
    if (SCALE && lane == 0) scale[seek(scales, row)] = by.sum;
}
