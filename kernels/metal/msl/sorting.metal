
// Lines sorted by the keys of their elements, equals in the order in which they were: each gets a run of places, a power of
// two, with the keys and where they were; those without an element sort behind all others. n is the elements of a line,
// the places of a run, the lines, the place or element that a dispatch begins with, the elements of a line that are wanted,
// and whether the largest come first. PLACES are where indices go and how those lie, if there are any.

kernel void draw(device Drawn *list [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &from [[buffer(2)]],
    constant I *steps [[buffer(3)]], constant uint *n [[buffer(4)]], uint at [[thread_position_in_grid]]) {
    const uint i = n[3] + at, line = i / n[1], place = i % n[1];
    K k = ~K(0);
    if (line < n[2] && place < n[0]) {
        k = key(in[seek(from, line) + I(place) * steps[0]]);
        if (n[5] != 0) k = ~k;
    }
    list[i] = drawn(k, place);
}

kernel void give(device E *out [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &from [[buffer(2)]],
    constant I *steps [[buffer(3)]], constant uint *n [[buffer(4)]], device const Drawn *list [[buffer(5)]],
    constant Walk<I> &to [[buffer(6)]], PLACES uint at [[thread_position_in_grid]]) {
    const uint i = n[3] + at, line = i / n[4], place = i % n[4], source = at_of(list[line * n[1] + place]);
    out[seek(to, line) + I(place) * steps[1]] = in[seek(from, line) + I(source) * steps[0]];
    INDEX(line, place, source);
}
