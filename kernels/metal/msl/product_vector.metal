
// Product of a matrix and a vector of floats, where the result is a vector too: element o of it is the sum over k of
// matrix[o][k] * vector[k]. Threads read four elements at once where they lie so, see grid.metal.

struct Lines {
    uint count, inner;
    uint groups;      // that a result takes
    uint part, parts; // of the inner axis: elements of one, and how many
    uint first;       // group of this dispatch
    uint width;       // how far the four elements are apart that a thread reads at once
    uint lies[2];     // of those of the matrix, and of the vector
    I out, vector, along, outer; // steps: of the two vectors, and of the matrix on its inner and outer axis
};

constant uint SIMDS = 8; // SIMD groups of a threadgroup

inline float4 floats(E4 v) {
    float4 f;
    for (uint k = 0; k < 4; k++) f[k] = load(v[k]);
    return f;
}

inline uint place_of(constant Lines &n, uint lane) { return n.width == 1 ? lane * 4 : lane; }

#define ARGUMENTS device E *out [[buffer(0)]], device const E *matrix [[buffer(1)]], device const E *vector [[buffer(2)]], \
    device A *sums [[buffer(3)]], constant Walk<I> &to [[buffer(4)]], constant Walk<I> &left [[buffer(5)]], \
    constant Walk<I> &right [[buffer(6)]], constant Lines &n [[buffer(7)]], uint group [[threadgroup_position_in_grid]], \
    uint lane [[thread_index_in_simdgroup]], uint simd [[simdgroup_index_in_threadgroup]]

// Where a threadgroup is.
struct Spot {
    uint outer, part, batch, begin, end;
};

inline Spot spot_of(constant Lines &n, uint group) {
    const uint at = n.first + group, rest = at / n.groups, part = rest % n.parts;
    return Spot{at % n.groups, part, rest / n.parts, part * n.part, min(n.inner, (part + 1) * n.part)};
}

inline void give(device E *out, device A *sums, constant Walk<I> &to, constant Lines &n, Spot s, uint o, float sum) {
    if (n.parts > 1) sums[ulong(s.batch * n.parts + s.part) * n.count + o] = sum;
    else out[seek(to, s.batch) + I(o) * n.out] = store(C(sum));
}

// The matrix is read along its inner axis: a SIMD group has four elements of the result.
[[max_total_threads_per_threadgroup(256)]]
kernel void along(ARGUMENTS) {
    const Spot s = spot_of(n, group);
    matrix += seek(left, s.batch);
    vector += seek(right, s.batch);
    const uint o = (s.outer * SIMDS + simd) * 4, block = 128, whole = s.begin + (s.end - s.begin) / block * block;
    float4 sum = 0.0f;
    for (uint k = s.begin + place_of(n, lane); k < whole; k += block) {
        const float4 v = floats(read_four<E4>(vector + I(k) * n.vector, I(n.width) * n.vector, n.lies[1], 4));
        for (uint m = 0; m < 4; m++) {
            if (o + m >= n.count) break;
            const float4 row = floats(read_four<E4>(matrix + I(o + m) * n.outer + I(k) * n.along, I(n.width) * n.along, n.lies[0], 4));
            sum[m] += row.x * v.x + row.y * v.y + (row.z * v.z + row.w * v.w);
        }
    }
    for (uint k = whole + lane; k < s.end; k += 32)
        for (uint m = 0; m < 4 && o + m < n.count; m++)
            sum[m] += load(matrix[I(o + m) * n.outer + I(k) * n.along]) * load(vector[I(k) * n.vector]);
    for (uint m = 0; m < 4; m++) sum[m] = metal::simd_sum(sum[m]);
    if (lane < 4 && o + lane < n.count) give(out, sums, to, n, s, o + lane, sum[lane]);
}

// The matrix is read along its outer axis: a threadgroup has 128 elements of the result, of which each SIMD group sums up
// every eighth term.
[[max_total_threads_per_threadgroup(256)]]
kernel void athwart(ARGUMENTS) {
    threadgroup float4 shared[8][32];
    const Spot s = spot_of(n, group);
    matrix += seek(left, s.batch);
    vector += seek(right, s.batch);
    const uint o = s.outer * 128 + place_of(n, lane);
    const uint count = o < n.count ? min(4u, (n.count - o + n.width - 1) / n.width) : 0;
    float4 sum = 0.0f;
    if (count > 0)
        for (uint k = s.begin + simd; k < s.end; k += SIMDS) {
            const E4 row = read_four<E4>(matrix + I(o) * n.outer + I(k) * n.along, I(n.width) * n.outer, n.lies[0], count);
            sum += floats(row) * load(vector[I(k) * n.vector]);
        }
    shared[simd][lane] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simd > 0) return;
    for (uint m = 1; m < SIMDS; m++) sum += shared[m][lane];
    for (uint m = 0; m < count; m++) give(out, sums, to, n, s, o + m * n.width, sum[m]);
}
