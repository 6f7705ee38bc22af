
// The indices of the elements that are not zero, in row-major order: counted block by block, then written
// behind what the blocks before have. A threadgroup has a block, each of its threads the next EACH elements. count is the
// elements, and the first block of a dispatch.

constant uint EACH = 4;

inline bool there(device const E *in, constant Walk<I> &from, uint count, uint i) {
    return i < count && (in[seek(from, i)] & MASK) != 0;
}

// How many elements of a thread are not zero.
inline uint own(device const E *in, constant Walk<I> &from, uint count, uint first) {
    uint n = 0;
    for (uint k = 0; k < EACH; k++) n += there(in, from, count, first + k);
    return n;
}

// The sum of n over the threads before this one; width is a power of two.
inline uint before(uint n, threadgroup uint *shared, uint at, uint width, thread uint &all) {
    uint sum = n;
    for (uint step = 1; step < width; step *= 2) {
        shared[at] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (at >= step) sum += shared[at - step];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    shared[at] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    all = shared[width - 1];
    return sum - n;
}

kernel void tally(device const E *in [[buffer(0)]], constant Walk<I> &from [[buffer(1)]], constant uint2 &count [[buffer(2)]],
    device uint *blocks [[buffer(3)]], uint group [[threadgroup_position_in_grid]],
    uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup uint shared[256];
    const uint block = count.y + group;
    uint all;
    before(own(in, from, count.x, (block * width + at) * EACH), shared, at, width, all);
    if (at == 0) blocks[block] = all;
}

// One threadgroup turns the counts of the blocks into where each begins, and tells the sum.
kernel void arrange(device uint *blocks [[buffer(0)]], constant uint &count [[buffer(1)]], device uint *word [[buffer(2)]],
    uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup uint shared[256];
    const uint each = (count + width - 1) / width, low = min(at * each, count), high = min(low + each, count);
    uint n = 0, all;
    for (uint i = low; i < high; i++) n += blocks[i];
    uint begin = before(n, shared, at, width, all);
    for (uint i = low; i < high; i++) {
        const uint own = blocks[i];
        blocks[i] = begin;
        begin += own;
    }
    if (at == 0) word[0] = all;
}

kernel void list(device const E *in [[buffer(0)]], constant Walk<I> &from [[buffer(1)]], constant uint2 &count [[buffer(2)]],
    device const uint *blocks [[buffer(3)]], device long *out [[buffer(4)]], constant I *steps [[buffer(5)]],
    uint group [[threadgroup_position_in_grid]], uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup uint shared[256];
    const uint block = count.y + group, first = (block * width + at) * EACH;
    uint all;
    uint row = blocks[block] + before(own(in, from, count.x, first), shared, at, width, all);
    for (uint k = 0; k < EACH; k++) {
        if (!there(in, from, count.x, first + k)) continue;
        uint rest = first + k;
        for (uint axis = from.rank; axis-- > 0;) {
            out[steps[2] + I(row) * steps[0] + I(axis) * steps[1]] = rest % from.dims[axis];
            rest /= from.dims[axis];
        }
        row++;
    }
}
