
// min + fraction * (max - min), at most what lies below max: min, width and top, in binary64.
kernel void uniform_(device E *out [[buffer(0)]], constant Walk<I> &to [[buffer(1)]], constant ulong *numbers [[buffer(2)]],
    constant uint &first [[buffer(3)]], uint at [[thread_position_in_grid]]) {
    const uint i = first + at;
    const uint drawn = word(numbers, i) >> (32 - DIGITS);
    const ulong fraction = drawn == 0 ? 0 : from_integer(drawn) - (ulong(DIGITS) << 52);
    const ulong value = add(numbers[2], multiply(numbers[3], fraction));
    out[seek(to, i)] = exact(below(numbers[4], value) ? numbers[4] : value);
}

// Two uniform numbers make two normal ones (Box and Muller): mean and deviation, as floats.
kernel void normal(device E *out [[buffer(0)]], constant Walk<I> &to [[buffer(1)]], constant ulong *numbers [[buffer(2)]],
    constant uint &first [[buffer(3)]], uint at [[thread_position_in_grid]]) {
    const uint i = first + at;
    const ulong both = wide(numbers, i / 2);
    const ulong u = (both >> 32) + 1;
    const float v = float(uint(both)) * 0x1p-31f;
    // u / 2**32 has more digits near 1 than a float.
    const float log_u = u > 0x80000000 ? log_of_1_and(-float(0x100000000 - u) * 0x1p-32f) : log(float(u) * 0x1p-32f);
    const float radius = sqrt(-2 * log_u);
    const float unit = radius * (i % 2 == 0 ? cospi(v) : sinpi(v));
    out[seek(to, i)] = store(fma(as_type<float>(uint(numbers[3])), unit, as_type<float>(uint(numbers[2]))));
}
