
// A reduction folds the elements of each output into an accumulator A. The elements of one output are
// numbered in row-major order of the reduced axes; `from` finds the first of each output, `inner` the
// others from there.

inline A range(device const E *in, I base, constant Walk<I> &inner, uint low, uint high, uint step) {
    A a = zero();
    for (uint at = low; at < high; at += step) a = fold(a, load(in[base + seek(inner, at)]), at);
    return a;
}

// One thread an output: where there are many outputs, or few elements to each.
kernel void alone(device R *out [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant Walk<I> &from [[buffer(3)]], constant Walk<I> &inner [[buffer(4)]], constant uint &count [[buffer(5)]],
    uint i [[thread_position_in_grid]]) {
    out[seek(to, i)] = store(result(range(in, seek(from, i), inner, 0, count, 1), count));
}

// The accumulators of a threadgroup as one, for its first thread.
inline A together(A a, threadgroup A *shared, uint thread_, uint width) {
    shared[thread_] = a;
    for (uint n = width / 2; n > 0; n /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (thread_ < n) shared[thread_] = join(shared[thread_], shared[thread_ + n]);
    }
    return shared[0];
}

// One threadgroup an output.
kernel void grouped(device R *out [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant Walk<I> &from [[buffer(3)]], constant Walk<I> &inner [[buffer(4)]], constant uint &count [[buffer(5)]],
    uint output [[threadgroup_position_in_grid]], uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup A shared[256];
    A a = together(range(in, seek(from, output), inner, at, count, width), shared, at, width);
    if (at == 0) out[seek(to, output)] = store(result(a, count));
}

// Several threadgroups an output, each for a part of its elements: the first of two passes.
kernel void parts(device A *part [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &from [[buffer(2)]],
    constant Walk<I> &inner [[buffer(3)]], constant uint2 &sizes [[buffer(4)]], constant uint &count [[buffer(5)]],
    uint group [[threadgroup_position_in_grid]], uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup A shared[256];
    const uint each = sizes.x, low = group % sizes.y * each;
    A a = range(in, seek(from, group / sizes.y), inner, low + at, min(low + each, count), width);
    a = together(a, shared, at, width);
    if (at == 0) part[group] = a;
}

// The second: one threadgroup an output.
kernel void whole(device R *out [[buffer(0)]], device const A *part [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant uint2 &sizes [[buffer(3)]], constant uint &count [[buffer(4)]],
    uint output [[threadgroup_position_in_grid]], uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup A shared[256];
    A a = zero();
    for (uint i = at; i < sizes.y; i += width) a = join(a, part[output * sizes.y + i]);
    a = together(a, shared, at, width);
    if (at == 0) out[seek(to, output)] = store(result(a, count));
}
