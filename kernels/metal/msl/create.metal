
// Tensors made from numbers, from the first element of a dispatch on. whole stores an integer, exact a binary64 (see double.metal).

kernel void filled(device E *out [[buffer(0)]], constant Walk<I> &to [[buffer(1)]], constant E &value [[buffer(2)]],
    constant uint &first [[buffer(3)]], uint at [[thread_position_in_grid]]) {
    const uint i = first + at;
    out[seek(to, i)] = value;
}

// start + i * step, in integers.
kernel void counted(device E *out [[buffer(0)]], constant Walk<I> &to [[buffer(1)]], constant ulong *numbers [[buffer(2)]],
    constant uint &first [[buffer(3)]], uint at [[thread_position_in_grid]]) {
    const uint i = first + at;
    out[seek(to, i)] = whole(long(numbers[0] + i * numbers[1]));
}

// The same in binary64.
kernel void stepped(device E *out [[buffer(0)]], constant Walk<I> &to [[buffer(1)]], constant ulong *numbers [[buffer(2)]],
    constant uint &first [[buffer(3)]], uint at [[thread_position_in_grid]]) {
    const uint i = first + at;
    out[seek(to, i)] = exact(add(numbers[0], multiply(from_integer(i), numbers[1])));
}

// Numbers that come with the dispatch, in binary64.
kernel void listed(device E *out [[buffer(0)]], constant Walk<I> &to [[buffer(1)]], constant ulong *numbers [[buffer(2)]],
    constant uint &first [[buffer(3)]], uint at [[thread_position_in_grid]]) {
    const uint i = first + at;
    out[seek(to, i)] = exact(numbers[at]);
}

// The first half counted from the start, the second back from the stop, so that both are exact: start, stop,
// step and count.
kernel void spaced(device E *out [[buffer(0)]], constant Walk<I> &to [[buffer(1)]], constant ulong *numbers [[buffer(2)]],
    constant uint &first [[buffer(3)]], uint at [[thread_position_in_grid]]) {
    const uint i = first + at;
    const ulong count = numbers[3];
    if (i < (count + 1) / 2) out[seek(to, i)] = exact(add(numbers[0], multiply(numbers[2], from_integer(i))));
    else out[seek(to, i)] = exact(add(numbers[1], multiply(numbers[2], from_integer(count - 1 - i)) ^ 1ul << 63));
}
