
// Slices of a tensor x that index tensors name, in a list one behind the other. The K index tensors count
// along the first K axes of x; element b of each belongs to slice b of the list. All kernels have the same
// arguments; X and LIST are the pointers to both, const where the kernel does not write. sizes are the elements of a
// slice and of the list, and the first thread of a dispatch. word[0] is not zero when an index is out of range; then nothing is written, and the rest of
// the word says which.

struct Indices {
    uint rank, dims[9];
    I first[K], strides[K][9], sizes[K], steps[K];
};

#define ARGUMENTS(X, LIST)                                                                            \
    X x [[buffer(0)]], LIST list [[buffer(1)]], device atomic_uint *winner [[buffer(2)]],             \
    device atomic_uint *word [[buffer(3)]], constant Indices &n [[buffer(4)]],                        \
    constant Walk<I> &slots [[buffer(5)]], constant Walk<I> &slice [[buffer(6)]],                     \
    constant uint3 &sizes [[buffer(7)]], INDICES, uint position [[thread_position_in_grid]]

// The number of a thread among those of all dispatches of a kernel.
#define OWN const uint i = sizes.z + position

inline uint read(device atomic_uint *a) { return atomic_load_explicit(a, memory_order_relaxed); }

// Index tensor k at b.
inline long at(device const long *const thread *index, constant Indices &n, uint k, uint b) {
    I place = n.first[k];
    for (uint axis = n.rank; axis-- > 0;) {
        place += I(b % n.dims[axis]) * n.strides[k][axis];
        b /= n.dims[axis];
    }
    return index[k][place];
}

inline bool fits(long i, long size) { return -size <= i && i < size; }

kernel void check(ARGUMENTS(device const E *, device const E *)) {
    OWN;
    device const long *const index[K] = {NAMES};
    for (uint k = 0; k < K; k++) {
        if (!fits(at(index, n, k, i), n.sizes[k])) atomic_fetch_max_explicit(word, ~i, memory_order_relaxed);
    }
}

// Names the index that is out of range: its axis and its value, for the first slice that has one.
inline void tell(device const long *const thread *index, constant Indices &n, device atomic_uint *word) {
    const uint b = ~read(word);
    for (uint k = 0; k < K; k++) {
        const long i = at(index, n, k, b);
        if (fits(i, n.sizes[k])) continue;
        atomic_store_explicit(word + 1, k, memory_order_relaxed);
        atomic_store_explicit(word + 2, uint(i), memory_order_relaxed);
        atomic_store_explicit(word + 3, uint(i >> 32), memory_order_relaxed);
        return;
    }
}

// Where slice b of x begins, and its row-major number among all slices of x. An index that the CPU or the kernel
// itself has changed since it was checked is moved to an end of its axis.
inline I slice_at(device const long *const thread *index, constant Indices &n, uint b, thread uint &number) {
    I offset = 0;
    number = 0;
    for (uint k = 0; k < K; k++) {
        long i = at(index, n, k, b);
        if (i < 0) i += n.sizes[k];
        i = clamp(i, long(0), long(n.sizes[k]) - 1);
        offset += I(i) * n.steps[k];
        number = number * uint(n.sizes[k]) + uint(i);
    }
    return offset;
}

// list from x.
kernel void take(ARGUMENTS(device const E *, device E *)) {
    OWN;
    device const long *const index[K] = {NAMES};
    if (read(word) != 0) {
        if (i == 0) tell(index, n, word);
        return;
    }
    if (i >= sizes.y) return;
    uint number;
    list[seek(slots, i)] = x[slice_at(index, n, i / sizes.x, number) + seek(slice, i % sizes.x)];
}

// x from list. Where several slices of the list have one place in x the last wins: each claims the place,
// and only the one with the highest number writes.
kernel void clear(ARGUMENTS(device const E *, device const E *)) {
    OWN;
    atomic_store_explicit(winner + i, 0u, memory_order_relaxed);
}

kernel void claim(ARGUMENTS(device const E *, device const E *)) {
    OWN;
    device const long *const index[K] = {NAMES};
    if (read(word) != 0) return;
    uint number;
    slice_at(index, n, i, number);
    atomic_fetch_max_explicit(winner + number, i + 1, memory_order_relaxed);
}

kernel void put(ARGUMENTS(device E *, device const E *)) {
    OWN;
    device const long *const index[K] = {NAMES};
    if (read(word) != 0) {
        if (i == 0) tell(index, n, word);
        return;
    }
    if (i >= sizes.y) return;
    uint number;
    const uint b = i / sizes.x;
    const I offset = slice_at(index, n, b, number);
    if (read(winner + number) == b + 1) x[offset + seek(slice, i % sizes.x)] = list[seek(slots, i)];
}
