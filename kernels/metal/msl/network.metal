
// Batcher's bitonic network (1968) sorts runs of places of a list, each a power of two of them, by the order that before
// says. step is what each kernel says, then the place, pair or group that it begins with, because long lists are sorted by
// several dispatches, and the length of the runs that come out.

// Pair i of the places that are j apart; runs of k places are sorted up and down in turn, and those of the longest
// length up.
inline uint lower(uint i, uint j) { return 2 * j * (i / j) + i % j; }
inline bool up(uint place, uint k, uint longest) { return (place & k & (longest - 1)) == 0; }

kernel void far(device Drawn *list [[buffer(0)]], constant uint4 &step [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    const uint a = lower(step.z + i, step.y), b = a + step.y;
    const Drawn x = list[a], y = list[b];
    if (before(y, x) != up(a, step.x, step.w)) return;
    list[a] = y;
    list[b] = x;
}

// A threadgroup does all steps from k = step.x to step.y that stay within twice its width.
kernel void near(device Drawn *list [[buffer(0)]], constant uint4 &step [[buffer(1)]], uint group [[threadgroup_position_in_grid]],
    uint i [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup Drawn shared[512];
    const uint first = (step.z + group) * 2 * width;
    shared[i] = list[first + i];
    shared[i + width] = list[first + i + width];
    for (uint k = step.x; k <= step.y; k *= 2) {
        for (uint j = min(k / 2, width); j > 0; j /= 2) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            const uint a = lower(i, j), b = a + j;
            const Drawn x = shared[a], y = shared[b];
            if (before(y, x) != up(first + a, k, step.w)) continue;
            shared[a] = y;
            shared[b] = x;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    list[first + i] = shared[i];
    list[first + i + width] = shared[i + width];
}
