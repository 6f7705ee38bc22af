
// Reductions of elements that lie anyhow. The elements of one output are numbered in row-major order of the reduced
// axes; `from` finds the first of each output, `inner` the others from there. In all kernels first is the number of
// the dispatch's first output or group.

inline A range(device const E *in, I base, constant Walk<I> &inner, uint low, uint high, uint step) {
    A a = zero();
    for (uint at = low; at < high; at += step) a = fold(a, load(in[base + seek(inner, at)]), at);
    return a;
}

// One thread an output: where there are many outputs of few elements each. sizes is the number of elements and first.
kernel void alone(device R *out [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant Walk<I> &from [[buffer(3)]], constant Walk<I> &inner [[buffer(4)]], constant uint2 &sizes [[buffer(5)]],
    uint i [[thread_position_in_grid]]) {
    i += sizes.y;
    out[seek(to, i)] = store(result(range(in, seek(from, i), inner, 0, sizes.x, 1), sizes.x));
}

// One threadgroup an output.
kernel void grouped(device R *out [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant Walk<I> &from [[buffer(3)]], constant Walk<I> &inner [[buffer(4)]], constant uint2 &sizes [[buffer(5)]],
    uint output [[threadgroup_position_in_grid]], uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup A shared[32];
    output += sizes.y;
    A a = together(range(in, seek(from, output), inner, at, sizes.x, width), shared, at, width);
    if (at == 0) out[seek(to, output)] = store(result(a, sizes.x));
}

// Several threadgroups an output, each for a part of its elements: the first of two passes. sizes is the elements of a
// part, parts, elements, and first.
kernel void parts(device A *part [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &from [[buffer(2)]],
    constant Walk<I> &inner [[buffer(3)]], constant uint4 &sizes [[buffer(4)]], constant uint &outputs [[buffer(5)]],
    uint group [[threadgroup_position_in_grid]], uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup A shared[32];
    group += sizes.w;
    const uint each = sizes.x, low = group % sizes.y * each;
    A a = range(in, seek(from, group / sizes.y), inner, low + at, low + min(each, sizes.z - low), width);
    a = together(a, shared, at, width);
    if (at == 0) part[ulong(group % sizes.y) * outputs + group / sizes.y] = a;
}
