
// The numbers 0 to count - 1 in random order: each gets 64 random bits, and all are sorted by them, by
// Batcher's bitonic network (1968) over a power of two of places. Those beyond count sort behind the others.

struct Drawn {
    ulong key;
    uint at, none;
};

inline bool before(Drawn a, Drawn b) { return a.key < b.key || (a.key == b.key && a.at < b.at); }

// Each kernel begins at the place, pair or group that its step says, because long lists are sorted by several dispatches.
kernel void draw(device Drawn *list [[buffer(0)]], constant ulong *numbers [[buffer(1)]], constant uint2 &step [[buffer(2)]],
    uint at [[thread_position_in_grid]]) {
    const uint count = step.x, i = step.y + at;
    list[i] = Drawn{i < count ? wide(numbers, i) : ~0ul, i, 0};
}

// Pair i of the places that are j apart; runs of k places are sorted up and down in turn.
inline uint lower(uint i, uint j) { return 2 * j * (i / j) + i % j; }
inline bool up(uint place, uint k) { return (place & k) == 0; }

kernel void far(device Drawn *list [[buffer(0)]], constant uint3 &step [[buffer(1)]], uint i [[thread_position_in_grid]]) {
    const uint a = lower(step.z + i, step.y), b = a + step.y;
    const Drawn x = list[a], y = list[b];
    if (before(y, x) != up(a, step.x)) return;
    list[a] = y;
    list[b] = x;
}

// A threadgroup does all steps from k = step.x to step.y that stay within twice its width.
kernel void near(device Drawn *list [[buffer(0)]], constant uint3 &step [[buffer(1)]], uint group [[threadgroup_position_in_grid]],
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
            if (before(y, x) != up(first + a, k)) continue;
            shared[a] = y;
            shared[b] = x;
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    list[first + i] = shared[i];
    list[first + i + width] = shared[i + width];
}

kernel void give(device E *out [[buffer(0)]], constant Walk<I> &to [[buffer(1)]], device const Drawn *list [[buffer(2)]],
    constant uint &from [[buffer(3)]], uint at [[thread_position_in_grid]]) {
    const uint i = from + at;
    out[seek(to, i)] = whole(list[i].at);
}
