
// Matrix product: each threadgroup computes SIDE by SIDE elements of one matrix of the batch, or of a part of the inner
// axis of it, going along that by blocks which it loads for all its threads. How the core multiplies two blocks is in
// product_float.metal and product_integer.metal.

struct Sizes {
    uint rows, inner, cols;
    uint across, down; // tiles along the columns and the rows of a matrix
    uint part, parts;  // of the inner axis: elements of one, and how many
    uint first;        // tile of this dispatch
    I out[2], x[2], y[2]; // steps along the two axes of each
};

constant uint SIDE = 32;
constant uint PITCH = 36; // of rows of blocks, so that columns lie in different banks of memory

// A block of rows by cols elements and zeros around them. Neighbouring threads read along the shorter step.
inline void load_block(threadgroup A *block, device const E *from, I down, I across, uint rows, uint cols, uint i) {
    const bool turned = (down < 0 ? -down : down) < (across < 0 ? -across : across);
    for (uint e = i; e < SIDE * SIDE; e += THREADS) {
        const uint far = e / SIDE, near = e % SIDE, row = turned ? near : far, col = turned ? far : near;
        block[row * PITCH + col] = row < rows && col < cols ? A(load(from[I(row) * down + I(col) * across])) : A(0);
    }
}

[[max_total_threads_per_threadgroup(128)]]
kernel void tiles(device E *out [[buffer(0)]], device const E *x [[buffer(1)]], device const E *y [[buffer(2)]],
    device A *sums [[buffer(3)]], constant Walk<I> &to [[buffer(4)]], constant Walk<I> &left [[buffer(5)]],
    constant Walk<I> &right [[buffer(6)]], constant Sizes &n [[buffer(7)]], uint group [[threadgroup_position_in_grid]],
    uint i [[thread_index_in_threadgroup]]) {
    threadgroup A xs[32 * 36], ys[32 * 36];
    uint tile = n.first + group;
    const uint col = tile % n.across * SIDE;
    tile /= n.across;
    const uint row = tile % n.down * SIDE;
    tile /= n.down;
    const uint part = tile % n.parts, batch = tile / n.parts, end = min(n.inner, (part + 1) * n.part);
    x += seek(left, batch) + I(row) * n.x[0];
    y += seek(right, batch) + I(col) * n.y[1];
    Core core = core_zero();
    for (uint k = part * n.part; k < end; k += SIDE) {
        load_block(xs, x + I(k) * n.x[1], n.x[0], n.x[1], n.rows - row, end - k, i);
        load_block(ys, y + I(k) * n.y[0], n.y[0], n.y[1], end - k, n.cols - col, i);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        core_multiply(core, xs, ys, i);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    core_store(core, xs, i);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sums += ulong(batch * n.parts + part) * n.rows * n.cols;
    out += seek(to, batch);
    for (uint e = i; e < SIDE * SIDE; e += THREADS) {
        const uint r = row + e / SIDE, c = col + e % SIDE;
        if (r >= n.rows || c >= n.cols) continue;
        const A sum = xs[e / SIDE * PITCH + e % SIDE];
        if (n.parts > 1) sums[ulong(r) * n.cols + c] = sum;
        else out[I(r) * n.out[0] + I(c) * n.out[1]] = store(C(sum));
    }
}
