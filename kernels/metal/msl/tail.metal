
// Groups of elementwise steps that end in a reduction of their last axes: the kernels of reduce_rows.metal, with elements that
// the steps compute. Lanes take the same elements in the same order, so that results have the bits of the reduction alone,
// whose operand begins at a line of memory. In front of this file, MEMORY are the arguments of kernels that the steps have,
// TAKES and GIVES the same as those of functions, and OUT, TO and SIZES the numbers of the arguments behind them; `element`
// computes an element, and `fold_lanes` folds a vector of LANES of them. Both write what the group writes to memory.

struct Rows {
    uint count, lanes, rows, first; // as in reduce_rows.metal
    uint each, parts;
};

// The elements of a row from `low` to `high`, of those in vectors from v to `end` by steps.
inline A span(TAKES uint low, uint high, uint v, uint end, uint step) {
    A a = zero();
    for (; v < end && v * V < high; v += step) {
        const uint k = v * V;
        if (k >= low && k + V <= high) {
            for (uint i = k / LANES; i < (k + V) / LANES; i++) a = fold_lanes(GIVES i, a, low);
        } else {
            for (uint e = max(k, low); e < min(k + V, high); e++) a = fold(a, load(element(GIVES e)), e - low);
        }
    }
    return a;
}

// Some lanes of a SIMD group a row.
kernel void rows(MEMORY device R *out [[buffer(OUT)]], constant Walk<I> &to [[buffer(TO)]], constant Rows &p [[buffer(SIZES)]],
    uint group [[threadgroup_position_in_grid]], uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    const uint row = (p.first + group) * (width / p.lanes) + at / p.lanes, lane = at % p.lanes;
    A a = zero();
    if (row < p.rows) {
        const uint low = row * p.count, high = low + p.count;
        a = span(GIVES low, high, uint(line_start(I(low))) + lane, high, p.lanes);
    }
    a = across(a, p.lanes);
    if (lane == 0 && row < p.rows) out[seek(to, row)] = store(result(a, p.count));
}

// A threadgroup a part of a row: the first of two passes.
kernel void parts(MEMORY device A *part [[buffer(OUT)]], constant Rows &p [[buffer(TO)]],
    uint group [[threadgroup_position_in_grid]], uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup A shared[32];
    group += p.first;
    const uint low = group / p.parts * p.count, start = uint(line_start(I(low))) + group % p.parts * p.each;
    A a = together(span(GIVES low, low + p.count, start + at, start + p.each, width), shared, at, width);
    if (at == 0) part[ulong(group % p.parts) * p.rows + group / p.parts] = a;
}

// Short rows: a threadgroup computes the elements of some, neighbours by neighbouring threads, and some lanes fold each.
kernel void staged(MEMORY device R *out [[buffer(OUT)]], constant Walk<I> &to [[buffer(TO)]], constant Rows &p [[buffer(SIZES)]],
    uint group [[threadgroup_position_in_grid]], uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup E stage[STAGE];
    const uint top = (p.first + group) * p.each, here = min(p.each, p.rows - top), row = at / p.lanes, lane = at % p.lanes;
    const uint low = top * p.count;
    for (uint i = at; i < here * p.count; i += width) stage[i] = element(GIVES low + i);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    A a = zero();
    if (row < here)
        for (uint i = lane; i < p.count; i += p.lanes) a = fold(a, load(stage[row * p.count + i]), i);
    a = across(a, p.lanes);
    if (lane == 0 && row < here) out[seek(to, top + row)] = store(result(a, p.count));
}
