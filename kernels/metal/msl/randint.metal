
// low + the upper half of 64 random bits times the width: low and width.
kernel void randint(device E *out [[buffer(0)]], constant Walk<I> &to [[buffer(1)]], constant ulong *numbers [[buffer(2)]],
    constant uint &first [[buffer(3)]], uint at [[thread_position_in_grid]]) {
    const uint i = first + at;
    out[seek(to, i)] = whole(long(numbers[2] + product_high(wide(numbers, i), numbers[3])));
}
