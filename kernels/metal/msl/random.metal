
// Philox4x32-10, the counter-based generator of Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as
// easy as 1, 2, 3" (2011). Element i depends on the key, the first counter and i alone. numbers are the key,
// the first counter, and then what the distribution wants.

inline uint4 philox(ulong counter, ulong seed) {
    uint4 c = uint4(uint(counter), uint(counter >> 32), 0, 0);
    uint2 key = uint2(uint(seed), uint(seed >> 32));
    for (uint round = 0; round < 10; round++) {
        const ulong first = ulong(0xD2511F53) * c.x, second = ulong(0xCD9E8D57) * c.z;
        c = uint4(uint(second >> 32) ^ c.y ^ key.x, uint(second), uint(first >> 32) ^ c.w ^ key.y, uint(first));
        key = uint2(key.x + 0x9E3779B9, key.y + 0xBB67AE85);
    }
    return c;
}

// The number i of 32 bits, and of 64.
inline uint word(constant ulong *numbers, uint i) { return philox(numbers[1] + i / 4, numbers[0])[i % 4]; }

inline ulong wide(constant ulong *numbers, uint i) {
    const uint4 w = philox(numbers[1] + i / 2, numbers[0]);
    return i % 2 == 0 ? ulong(w.x) | ulong(w.y) << 32 : ulong(w.z) | ulong(w.w) << 32;
}
