
// A threadgroup computes a line: what the elements up to each make together, in the accumulators of fold.go. take is fold
// for an element in memory, give the element for an accumulator. It goes over the line by EACH elements a thread. Threads
// fold their own, join what they have with that of the threads before in log2(threads) rounds, and then what came before.
// Elements and results go through threadgroup memory, so that neighbouring threads read and write neighbours. The
// arguments are those of cumsum.metal; PLACES are where indices go and how those lie, if there are any.

constant uint EACH = 4;

kernel void run(device E *out [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant Walk<I> &from [[buffer(3)]], constant I *steps [[buffer(4)]], constant uint2 &sizes [[buffer(5)]], PLACES
    uint group [[threadgroup_position_in_grid]], uint first [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup A sums[256];
    threadgroup E staged[256 * EACH];
    KEPT
    const uint line = sizes.y + group, length = sizes.x;
    const I source = seek(from, line), target = seek(to, line);
    A before = zero();
    for (uint start = 0; start < length; start += width * EACH) {
        const uint low = first * EACH, count = min(length - start, width * EACH);
        for (uint i = first; i < count; i += width) staged[i] = in[source + I(start + i) * steps[1]];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        A own[EACH], sum = zero();
        for (uint k = 0; k < EACH; k++) {
            if (low + k < count) sum = take(sum, staged[low + k], start + low + k);
            own[k] = sum;
        }
        for (uint distance = 1; distance < width; distance *= 2) {
            sums[first] = sum;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            if (first >= distance) sum = join(sums[first - distance], sum);
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        sums[first] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        A base = before;
        if (first > 0) base = join(before, sums[first - 1]);
        before = join(before, sums[width - 1]);
        for (uint k = 0; k < EACH; k++) {
            const A a = join(base, own[k]);
            staged[low + k] = give(a);
            KEEP(low + k, a);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = first; i < count; i += width) {
            out[target + I(start + i) * steps[0]] = staged[i];
            INDEX(line, start + i, i);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}
