
// Reductions over rows whose columns lie next to each other. A tile is as many columns as so many lanes read, Q each,
// which need not be aligned: 32 lanes then touch a fourth more of lines, not twice as many; the lanes that are left, and further SIMD groups, share its rows. `outer` finds the first row of each
// stack of rows, `inner` the others from there.

struct Columns {
    uint count, columns, lanes, first; // rows, columns, lanes for a tile, and the first group of the dispatch
    uint each, parts, tiles;           // rows of a part, parts, and tiles
    uint outputs;
};

// The accumulators of a lane's columns, over the rows from `row` to `end` by steps.
inline void down(thread A *a, device const E *in, I base, constant Walk<I> &inner, constant Columns &p, uint column, uint row, uint end, uint step) {
    for (uint q = 0; q < Q; q++) a[q] = zero();
    if (column >= p.columns) return;
    const uint some = min(p.columns - column, uint(Q));
    for (; row < end; row += step) {
        const I at = base + seek(inner, row) + I(column);
        if (some == Q) {
            fold_each(a, take(in + at), row);
        } else {
            for (uint q = 0; q < Q; q++)
                if (q < some) a[q] = fold(a[q], load(in[at + I(q)]), row);
        }
    }
}

// The accumulators of all that share a tile, for the lanes of the first of its rows.
inline void join_tile(thread A *a, threadgroup A *shared, uint lanes, uint at, uint width) {
    for (uint q = 0; q < Q; q++) {
        for (ushort mask = 16; mask >= lanes; mask /= 2) a[q] = join(a[q], shift(a[q], mask));
        if (width == 32) continue;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (at % 32 < lanes) shared[at] = a[q];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (at < lanes)
            for (uint i = at + 32; i < width; i += 32) a[q] = join(a[q], shared[i]);
    }
}

// Lays the accumulators of a tile out in the order of its columns, so that neighbouring threads write neighbours.
inline void lay_out(thread const A *a, threadgroup A *shared, uint lanes, uint at) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (at < lanes)
        for (uint q = 0; q < Q; q++) shared[at * Q + q] = a[q];
    threadgroup_barrier(mem_flags::mem_threadgroup);
}

// The first pass writes accumulators to part; the only one writes results to out.
kernel void columns(device R *out [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant Walk<I> &outer [[buffer(3)]], constant Walk<I> &inner [[buffer(4)]], constant Columns &p [[buffer(5)]],
    uint group [[threadgroup_position_in_grid]], uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup A shared[256];
    group += p.first;
    const uint stack = group / p.tiles, begin = group % p.tiles * p.lanes * Q;
    A a[Q];
    down(a, in, seek(outer, stack), inner, p, begin + at % p.lanes * Q, at / p.lanes, p.count, width / p.lanes);
    join_tile(a, shared, p.lanes, at, width);
    lay_out(a, shared, p.lanes, at);
    for (uint i = at; i < min(p.lanes * Q, p.columns - begin); i += width)
        out[seek(to, stack * p.columns + begin + i)] = store(result(shared[i], p.count));
}

kernel void column_parts(device A *part [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &outer [[buffer(2)]],
    constant Walk<I> &inner [[buffer(3)]], constant Columns &p [[buffer(4)]],
    uint group [[threadgroup_position_in_grid]], uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup A shared[256];
    group += p.first;
    const uint n = group % p.parts, tile = group / p.parts % p.tiles, stack = group / p.parts / p.tiles;
    const uint begin = tile * p.lanes * Q;
    A a[Q];
    down(a, in, seek(outer, stack), inner, p, begin + at % p.lanes * Q, n * p.each + at / p.lanes, n * p.each + min(p.each, p.count - n * p.each), width / p.lanes);
    join_tile(a, shared, p.lanes, at, width);
    lay_out(a, shared, p.lanes, at);
    for (uint i = at; i < min(p.lanes * Q, p.columns - begin); i += width)
        part[ulong(n) * p.outputs + stack * p.columns + begin + i] = shared[i];
}
