
// The numbers 0 to count - 1 in random order: each gets 64 random bits, and all are sorted by them, over
// a power of two of places. Those beyond count sort behind the others.

struct Drawn {
    ulong key;
    uint at, none;
};

inline bool before(Drawn a, Drawn b) { return a.key < b.key || (a.key == b.key && a.at < b.at); }

// Each kernel begins at the place that its step says, because long lists are sorted by several dispatches.
kernel void draw(device Drawn *list [[buffer(0)]], constant ulong *numbers [[buffer(1)]], constant uint2 &step [[buffer(2)]],
    uint at [[thread_position_in_grid]]) {
    const uint count = step.x, i = step.y + at;
    list[i] = Drawn{i < count ? wide(numbers, i) : ~0ul, i, 0};
}

kernel void give(device E *out [[buffer(0)]], constant Walk<I> &to [[buffer(1)]], device const Drawn *list [[buffer(2)]],
    constant uint &from [[buffer(3)]], uint at [[thread_position_in_grid]]) {
    const uint i = from + at;
    out[seek(to, i)] = whole(list[i].at);
}
