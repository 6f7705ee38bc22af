
// Each thread has four rows of four elements, which lie eight apart, so that neighbouring threads read neighbours.

constant uint THREADS = 64;

struct Core {
    A sums[4][4];
};

inline Core core_zero() {
    Core core;
    for (uint r = 0; r < 4; r++)
        for (uint c = 0; c < 4; c++) core.sums[r][c] = 0;
    return core;
}

inline void core_multiply(thread Core &core, threadgroup const A *xs, threadgroup const A *ys, uint i) {
    for (uint k = 0; k < 32; k++) {
        A a[4], b[4];
        for (uint m = 0; m < 4; m++) {
            a[m] = xs[(i / 8 + 8 * m) * 36 + k];
            b[m] = ys[k * 36 + i % 8 + 8 * m];
        }
        for (uint r = 0; r < 4; r++)
            for (uint c = 0; c < 4; c++) core.sums[r][c] += a[r] * b[c];
    }
}

inline void core_store(thread const Core &core, threadgroup A *sums, uint i) {
    for (uint r = 0; r < 4; r++)
        for (uint c = 0; c < 4; c++) sums[(i / 8 + 8 * r) * 36 + i % 8 + 8 * c] = core.sums[r][c];
}
