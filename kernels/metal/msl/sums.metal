
// Sums in two floats, of which the second is what rounding drops from the first.

struct Sum {
    float sum, dropped;
};

inline Sum two_sum(Sum a, Sum b) {
    float s = a.sum + b.sum, back = s - a.sum;
    return Sum{s, a.dropped + b.dropped + ((a.sum - (s - back)) + (b.sum - back))};
}

// The sum of so many threads, for all of them: lanes of a SIMD group, or so many whole SIMD groups, of which a threadgroup may
// have several sets. at is the thread's number in its set, whose part of the threadgroup's memory is shared.
inline Sum sums_of(Sum a, threadgroup Sum *shared, uint at, uint threads) {
    for (ushort mask = metal::min(threads, 32u) / 2; mask > 0; mask /= 2)
        a = two_sum(a, Sum{from_lane(a.sum, mask), from_lane(a.dropped, mask)});
    if (threads <= 32) return a;
    if (at % 32 == 0) shared[at / 32] = a;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    a = shared[0];
    for (uint i = 1; i < threads / 32; i++) a = two_sum(a, shared[i]);
    return a;
}
