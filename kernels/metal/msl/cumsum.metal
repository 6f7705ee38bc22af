
// A threadgroup computes a line: the sums of the elements up to each. It goes over the line by as many elements as it
// has threads. They add up in log2(threads) rounds, in each of which a thread adds what the one so many threads before
// has, twice as far away each time; then all add the sum of what came before. So a sum of n terms has at most n - 1
// roundings. The arguments are the memory, where each line begins in both, the steps along a line,
// its length, and the first line of the dispatch.

kernel void run(device E *out [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant Walk<I> &from [[buffer(3)]], constant I *steps [[buffer(4)]], constant uint2 &sizes [[buffer(5)]],
    uint group [[threadgroup_position_in_grid]], uint first [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup A sums[256];
    const uint line = sizes.y + group, length = sizes.x;
    in += seek(from, line);
    out += seek(to, line);
    A before = 0;
    for (uint start = 0; start < length; start += width) {
        const uint i = start + first;
        A sum = i < length ? A(load(in[I(i) * steps[1]])) : A(0);
        for (uint distance = 1; distance < width; distance *= 2) {
            sums[first] = sum;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            if (first >= distance) sum = sums[first - distance] + sum;
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        sum = before + sum;
        if (i < length) out[I(i) * steps[0]] = store(C(sum));
        sums[first] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        before = sums[width - 1];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}
