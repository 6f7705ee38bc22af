
// The accumulators of so many lanes of a SIMD group as one, for all of them; a power of two.
inline A across(A a, uint lanes) {
    for (ushort mask = lanes / 2; mask > 0; mask /= 2) a = join(a, shift(a, mask));
    return a;
}

// The accumulators of a threadgroup of whole SIMD groups as one, for its first thread.
inline A together(A a, threadgroup A *shared, uint at, uint width) {
    a = across(a, 32);
    if (width == 32) return a;
    if (at % 32 == 0) shared[at / 32] = a;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    a = zero();
    if (at < width / 32) a = shared[at];
    if (at < 32) a = across(a, 32);
    return a;
}

// The second of two passes: part has the accumulators of all outputs for the first part, then for the second and so on.
// sizes is the number of parts, that of the elements of an output, that of the outputs, and how many of those a SIMD
// group has; the lanes that are left share the parts.
kernel void whole(device R *out [[buffer(0)]], device const A *part [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant uint4 &sizes [[buffer(3)]], uint group [[threadgroup_position_in_grid]],
    uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    const uint lanes = sizes.w, slice = at % 32 / lanes, output = (group * (width / 32) + at / 32) * lanes + at % lanes;
    A a = zero();
    if (output < sizes.z)
        for (uint i = slice; i < sizes.x; i += 32 / lanes) a = join(a, part[ulong(i) * sizes.z + output]);
    for (ushort mask = 16; mask >= lanes; mask /= 2) a = join(a, shift(a, mask));
    if (slice == 0 && output < sizes.z) out[seek(to, output)] = store(result(a, sizes.y));
}
