
// Four SIMD groups, each with four matrices of 8 by 8 elements in two rows.

constant uint THREADS = 128;

struct Core {
    metal::simdgroup_float8x8 sums[4];
};

inline Core core_zero() {
    Core core;
    for (uint k = 0; k < 4; k++) core.sums[k] = metal::make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
    return core;
}

inline void core_multiply(thread Core &core, threadgroup const float *xs, threadgroup const float *ys, uint i) {
    const uint row = i / 64 * 16, col = i / 32 % 2 * 16;
    for (uint k = 0; k < 32; k += 8) {
        metal::simdgroup_float8x8 a[2], b[2];
        for (uint side = 0; side < 2; side++) {
            metal::simdgroup_load(a[side], xs + (row + side * 8) * 36 + k, 36);
            metal::simdgroup_load(b[side], ys + k * 36 + col + side * 8, 36);
        }
        for (uint m = 0; m < 4; m++) metal::simdgroup_multiply_accumulate(core.sums[m], a[m / 2], b[m % 2], core.sums[m]);
    }
}

inline void core_store(thread const Core &core, threadgroup float *sums, uint i) {
    const uint row = i / 64 * 16, col = i / 32 % 2 * 16;
    for (uint m = 0; m < 4; m++) metal::simdgroup_store(core.sums[m], sums + (row + m / 2 * 8) * 36 + col + m % 2 * 8, 36);
}
