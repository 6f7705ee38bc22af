
// The elements of x at indices of planes; zeros elsewhere. Elements for one place are added up, or the last of them stays:
// in their order, so that a sum is the same each time. All kernels have the same arguments: the result, sums for its
// elements, x, the indices, the word for a fault, how result, x and indices lie, and the windows, of which count is the
// size of a plane of x. word[0] is not zero when an index is out of range; then nothing is written, and the rest of the
// word says which.

#define ARGUMENTS                                                                                             \
    device E *out [[buffer(0)]], device A *sums [[buffer(1)]], device const E *x [[buffer(2)]],               \
    device const long *indices [[buffer(3)]], device atomic_uint *word [[buffer(4)]],                         \
    constant Image *lie [[buffer(5)]], constant Windows &n [[buffer(6)]],                                     \
    uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]

inline uint volume(constant int *dims) { return uint(dims[0]) * uint(dims[1]) * uint(dims[2]); }

kernel void clear(ARGUMENTS) {
    const uint i = (n.group + group) * width + lane;
    if (i < n.outputs) sums[i] = 0;
}

// A threadgroup has a plane, and each of its threads every width-th element of the result. All of them look at all
// indices, so that no two threads write to one place.
kernel void put(ARGUMENTS) {
    threadgroup uint at[32];
    threadgroup A values[32];
    const uint plane_number = n.group + group, inner = volume(n.count), outer = volume(n.size);
    device A *own = sums + ulong(plane_number) * outer;
    for (uint start = 0; start < inner; start += width) {
        const uint i = start + lane;
        at[lane] = outer;
        if (i < inner) {
            const Element e = element(plane_number * inner + i, n.channels, n.count);
            const long index = indices[place(lie[2], e)];
            if (index < 0 || index >= long(outer)) {
                atomic_fetch_max_explicit(word, ~(plane_number * inner + i), memory_order_relaxed);
            } else {
                at[lane] = uint(index);
                values[lane] = A(load(x[place(lie[1], e)]));
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < width; k++) {
            const uint to = at[k];
            if (to >= outer || to % width != lane) continue;
            own[to] = n.add ? A(own[to] + values[k]) : values[k];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

kernel void finish(ARGUMENTS) {
    const uint i = (n.group + group) * width + lane, fault = atomic_load_explicit(word, memory_order_relaxed);
    if (fault != 0) {
        if (i != 0) return;
        const long index = indices[place(lie[2], element(~fault, n.channels, n.count))];
        atomic_store_explicit(word + 1, uint(index), memory_order_relaxed);
        atomic_store_explicit(word + 2, uint(index >> 32), memory_order_relaxed);
        return;
    }
    if (i < n.outputs) out[place(lie[0], element(i, n.channels, n.size))] = store(C(sums[i]));
}
