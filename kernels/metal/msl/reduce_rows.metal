
// Reductions of elements that lie next to each other: `from` finds the first of each row, and the n-th is n elements
// behind. Memory is bound from a multiple of 128 bytes on, so that the number of an element tells the line that it is
// in. Rows are read by vectors of 16 bytes from the beginning of a line on; elements at the ends of a row that fill no
// vector are read one by one.

struct Rows {
    uint count, lanes, rows, first; // elements of a row, lanes that share one, rows, and the first group of the dispatch
    uint each, parts;               // of a row: vectors of each part, and parts; in `staged` each is rows of a group
};

// The elements of a row from `low` to `high`, of those in vectors from v to `end` by steps.
inline A span(device const E *in, I low, I high, I v, I end, I step) {
    A a = zero();
    for (; v < end && v * I(V) < high; v += step) {
        const I k = v * I(V);
        if (k >= low && k + I(V) <= high) {
            a = fold_vector(a, reinterpret_cast<device const uint4 *>(in)[v], uint(k - low));
        } else {
            for (I i = max(k, low); i < min(k + I(V), high); i++) a = fold(a, load(in[i]), uint(i - low));
        }
    }
    return a;
}

// Some lanes of a SIMD group a row.
kernel void rows(device R *out [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant Walk<I> &from [[buffer(3)]], constant Rows &p [[buffer(4)]], uint group [[threadgroup_position_in_grid]],
    uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    const uint row = (p.first + group) * (width / p.lanes) + at / p.lanes, lane = at % p.lanes;
    A a = zero();
    if (row < p.rows) {
        const I low = seek(from, row), high = low + I(p.count);
        a = span(in, low, high, line_start(low) + I(lane), high, I(p.lanes));
    }
    a = across(a, p.lanes);
    if (lane == 0 && row < p.rows) out[seek(to, row)] = store(result(a, p.count));
}

// A threadgroup a part of a row: the first of two passes. There are enough parts for all vectors of a row.
kernel void parts(device A *part [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &from [[buffer(2)]],
    constant Rows &p [[buffer(3)]], uint group [[threadgroup_position_in_grid]],
    uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup A shared[32];
    group += p.first;
    const I low = seek(from, group / p.parts), start = line_start(low) + I(group % p.parts) * I(p.each);
    A a = together(span(in, low, low + I(p.count), start + I(at), start + I(p.each), I(width)), shared, at, width);
    if (at == 0) part[ulong(group % p.parts) * p.rows + group / p.parts] = a;
}

// Rows that follow each other without a gap, and are short: a threadgroup reads some of them as one, and some lanes
// fold each from threadgroup memory.
kernel void staged(device R *out [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant Walk<I> &from [[buffer(3)]], constant Rows &p [[buffer(4)]], uint group [[threadgroup_position_in_grid]],
    uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup E stage[STAGE];
    const uint top = (p.first + group) * p.each, here = min(p.each, p.rows - top), row = at / p.lanes, lane = at % p.lanes;
    const I low = seek(from, top), high = low + I(here * p.count), start = line_start(low), base = start * I(V);
    for (I v = start + I(at); v * I(V) < high; v += I(width)) {
        const I k = v * I(V);
        if (k >= low && k + I(V) <= high) {
            spread(stage + (k - base), reinterpret_cast<device const uint4 *>(in)[v]);
        } else {
            for (I i = max(k, low); i < min(k + I(V), high); i++) stage[i - base] = in[i];
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    A a = zero();
    if (row < here)
        for (uint i = lane; i < p.count; i += p.lanes) a = fold(a, load(stage[uint(low - base) + row * p.count + i]), i);
    a = across(a, p.lanes);
    if (lane == 0 && row < here) out[seek(to, top + row)] = store(result(a, p.count));
}
