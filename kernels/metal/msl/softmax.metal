
// exp(x - max(x)) / sum(exp(x - max(x))) over lines. The difference is taken in two floats, because its rounding would be
// a factor after the exponential; so is the sum.

inline float power_of(float x, float top) {
    float d = x - top, back = d - x;
    float rest = (x - (d - back)) - (top + back);
    float e = exp(d);
    return isfinite(d) ? fma(e, rest, e) : e;
}

// The largest of so many threads, and their sum, for all of them; see sums_of.
inline float largest_of(float x, threadgroup Sum *shared, uint at, uint threads) {
    for (ushort mask = metal::min(threads, 32u) / 2; mask > 0; mask /= 2) x = largest(x, from_lane(x, mask));
    if (threads <= 32) return x;
    if (at % 32 == 0) shared[at / 32].sum = x;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < threads / 32; i++) x = largest(x, shared[i].sum);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return x;
}

inline float sum_of(Sum a, threadgroup Sum *shared, uint at, uint threads) {
    a = sums_of(a, shared, at, threads);
    return a.sum + a.dropped;
}

// Lines whose elements lie next to each other, and whose vectors of 16 bytes are at most KEPT for each of the threads that
// share one. They are read from the beginning of a line of memory on, once; for which memory is bound from a multiple of
// 128 bytes on. sizes is the elements of a line, its threads, the lines, and the first group of the dispatch.
kernel void rows(device E *out [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant Walk<I> &from [[buffer(3)]], constant uint4 &sizes [[buffer(4)]], uint group [[threadgroup_position_in_grid]],
    uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup Sum shared[32];
    const uint threads = sizes.y, row = (sizes.w + group) * (width / threads) + at / threads;
    const bool live = row < sizes.z;
    const I low = live ? seek(from, row) : 0, high = live ? low + I(sizes.x) : 0;
    const uint lane = at % threads;
    threadgroup Sum *own = shared + at / threads * (threads / 32);
    const I first = line_start(low), start = first + I(lane);
    const uint used = (uint(high - first * I(V)) + threads * V - 1) / (threads * V);
    float x[KEPT * V], top = -INFINITY;
    for (uint k = 0; k < KEPT; k++) {
        if (k >= used) continue;
        const I v = start + I(k * threads), e = v * I(V);
        if (e >= low && e + I(V) <= high) {
            unpack(x + k * V, reinterpret_cast<device const uint4 *>(in)[v]);
        } else {
            for (uint i = 0; i < V; i++) x[k * V + i] = e + I(i) >= low && e + I(i) < high ? load(in[e + I(i)]) : -INFINITY;
        }
        for (uint i = 0; i < V; i++) top = largest(top, x[k * V + i]);
    }
    top = largest_of(top, own, lane, threads);
    Sum sum = {0, 0};
    for (uint k = 0; k < KEPT; k++) {
        if (k >= used) continue;
        for (uint i = 0; i < V; i++) {
            x[k * V + i] = power_of(x[k * V + i], top);
            sum = two_sum(sum, Sum{x[k * V + i], 0});
        }
    }
    const float all = sum_of(sum, own, lane, threads);
    if (!live) return;
    const I behind = seek(to, row) - low; // of an element in memory of its own
    for (uint k = 0; k < KEPT; k++) {
        if (k >= used) continue;
        const I v = start + I(k * threads), e = v * I(V);
        for (uint i = 0; i < V; i++) x[k * V + i] /= all;
        if (e >= low && e + I(V) <= high && behind % I(V) == 0) {
            reinterpret_cast<device uint4 *>(out)[v + behind / I(V)] = pack(x + k * V);
        } else {
            for (uint i = 0; i < V; i++)
                if (e + I(i) >= low && e + I(i) < high) out[e + I(i) + behind] = store(x[k * V + i]);
        }
    }
}

// Short rows that follow each other without a gap, in both tensors: a threadgroup moves some of them as one, through
// threadgroup memory. each is the rows of a group.
kernel void staged(device E *out [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant Walk<I> &from [[buffer(3)]], constant uint4 &sizes [[buffer(4)]], constant uint &each [[buffer(5)]],
    uint group [[threadgroup_position_in_grid]], uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup E stage[STAGE];
    threadgroup Sum shared[1]; // lanes of one SIMD group need none
    const uint length = sizes.x, lanes = sizes.y, begin = (sizes.w + group) * each, here = metal::min(each, sizes.z - begin);
    const uint lane = at % lanes;
    const I low = seek(from, begin), high = low + I(here * length), start = line_start(low), base = start * I(V);
    for (I v = start + I(at); v * I(V) < high; v += I(width)) {
        const I e = v * I(V);
        if (e >= low && e + I(V) <= high) {
            spread(stage + (e - base), reinterpret_cast<device const uint4 *>(in)[v]);
        } else {
            for (I i = max(e, low); i < min(e + I(V), high); i++) stage[i - base] = in[i];
        }
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const bool live = at / lanes < here;
    threadgroup E *row = stage + (low - base) + (live ? at / lanes * length : 0);
    float x[HELD], top = -INFINITY;
    for (uint k = 0; k < HELD; k++) {
        if (k * lanes >= length) continue;
        const uint i = lane + k * lanes;
        x[k] = live && i < length ? load(row[i]) : -INFINITY; // the others own no row, and its owner writes it meanwhile
        top = largest(top, x[k]);
    }
    top = largest_of(top, shared, at, lanes);
    Sum sum = {0, 0};
    for (uint k = 0; k < HELD; k++) {
        if (k * lanes >= length) continue;
        x[k] = power_of(x[k], top);
        sum = two_sum(sum, Sum{x[k], 0});
    }
    const float all = sum_of(sum, shared, at, lanes);
    for (uint k = 0; k < HELD; k++) {
        const uint i = lane + k * lanes;
        if (live && i < length) row[i] = store(x[k] / all);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const I behind = seek(to, begin) - low;
    for (I v = start + I(at); v * I(V) < high; v += I(width)) {
        const I e = v * I(V);
        if (e >= low && e + I(V) <= high && behind % I(V) == 0) {
            reinterpret_cast<device uint4 *>(out)[v + behind / I(V)] = gather(stage + (e - base));
        } else {
            for (I i = max(e, low); i < min(e + I(V), high); i++) out[i + behind] = stage[i - base];
        }
    }
}

// Lines of any step: each lane has one, and neighbours have neighbouring ones. The SIMD groups of a threadgroup share the
// elements of its 32 lines. In all that follows sizes is the elements of a line, the lines, and the first group.

// The first and the last of what each SIMD group has of a line; threads that have no line take the last one's.
inline uint line_of(uint group, uint at, uint lines) { return metal::min(group * 32 + at % 32, lines - 1); }

inline float largest_above(float x, threadgroup Sum *shared, uint at, uint width) {
    shared[at].sum = x;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = at % 32; i < width; i += 32) x = largest(x, shared[i].sum);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return x;
}

inline float sum_above(Sum a, threadgroup Sum *shared, uint at, uint width) {
    shared[at] = a;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    a = shared[at % 32];
    for (uint i = at % 32 + 32; i < width; i += 32) a = two_sum(a, shared[i]);
    return a.sum + a.dropped;
}

// The elements of a thread, at most HELD, are read once.
kernel void columns(device E *out [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant Walk<I> &from [[buffer(3)]], constant I *steps [[buffer(4)]], constant uint4 &sizes [[buffer(5)]],
    uint group [[threadgroup_position_in_grid]], uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup Sum shared[1024];
    const uint line = line_of(sizes.z + group, at, sizes.y), slices = width / 32;
    in += seek(from, line);
    out += seek(to, line);
    float x[HELD], top = -INFINITY;
    for (uint k = 0; k < HELD; k++) {
        const uint i = at / 32 + k * slices;
        x[k] = i < sizes.x ? load(in[I(i) * steps[1]]) : -INFINITY;
        top = largest(top, x[k]);
    }
    top = largest_above(top, shared, at, width);
    Sum sum = {0, 0};
    for (uint k = 0; k < HELD; k++) {
        x[k] = power_of(x[k], top);
        sum = two_sum(sum, Sum{x[k], 0});
    }
    const float all = sum_above(sum, shared, at, width);
    if ((sizes.z + group) * 32 + at % 32 >= sizes.y) return;
    for (uint k = 0; k < HELD; k++) {
        const uint i = at / 32 + k * slices;
        if (i < sizes.x) out[I(i) * steps[0]] = store(x[k] / all);
    }
}

// The sum of powers of elements, relative to one of them or near it: top is at most 8 below the largest. It is not
// replaced by each larger element, because each time the sum is multiplied by a power, which is not exact; by the time
// that this has happened twice, what the first power was applied to does not count.
struct Part {
    float sum, dropped, top;
};

inline Part scaled(Part p, float top) {
    if (p.top == top) return p;
    const float by = power_of(p.top, top);
    return Part{p.sum * by, p.dropped * by, top};
}

inline Part joined(Part p, Part q) {
    const float top = max(p.top, q.top);
    p = scaled(p, top), q = scaled(q, top);
    const Sum s = two_sum(Sum{p.sum, p.dropped}, Sum{q.sum, q.dropped});
    return Part{s.sum, s.dropped, top};
}

inline Part with(Part p, float x) {
    if (x == -INFINITY) return p; // it adds 0, also to the sum of nothing
    if (x - p.top > 8) p = scaled(p, x);
    const Sum s = two_sum(Sum{p.sum, p.dropped}, Sum{power_of(x, p.top), 0});
    return Part{s.sum, s.dropped, p.top};
}

// What all threads of a threadgroup have together, for all of them.
inline Part together(Part p, threadgroup Part *shared, uint at, uint width) {
    for (ushort mask = 16; mask > 0; mask /= 2) p = joined(p, Part{from_lane(p.sum, mask), from_lane(p.dropped, mask), from_lane(p.top, mask)});
    if (at % 32 == 0) shared[at / 32] = p;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    p = shared[0];
    for (uint i = 1; i < width / 32; i++) p = joined(p, shared[i]);
    return p;
}

inline float quotient(float x, Part p) { return power_of(x, p.top) / (p.sum + p.dropped); }

// The lines of columns that are too long, whose elements are read twice.
kernel void long_columns(device E *out [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant Walk<I> &from [[buffer(3)]], constant I *steps [[buffer(4)]], constant uint4 &sizes [[buffer(5)]],
    uint group [[threadgroup_position_in_grid]], uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup Part shared[256];
    const uint line = line_of(sizes.z + group, at, sizes.y), slices = width / 32;
    in += seek(from, line);
    out += seek(to, line);
    Part p = {0, 0, -INFINITY};
    for (uint i = at / 32; i < sizes.x; i += slices) p = with(p, load(in[I(i) * steps[1]]));
    shared[at] = p;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    p = shared[at % 32];
    for (uint i = at % 32 + 32; i < width; i += 32) p = joined(p, shared[i]);
    if ((sizes.z + group) * 32 + at % 32 >= sizes.y) return;
    for (uint i = at / 32; i < sizes.x; i += slices) out[I(i) * steps[0]] = store(quotient(load(in[I(i) * steps[1]]), p));
}

// Lines of any step and length, cut into parts of whole threadgroups, a threadgroup a part: it sums up its elements, and in a
// second pass writes them. more is the elements of a part, and the parts of a line.

// The first element of a thread in its part. Of elements without gaps a SIMD group reads whole lines of memory.
inline uint first_of(I low, I step, uint at, uint width) {
    const uint before = step == 1 ? uint(low % I(LINE)) : 0;
    return at >= before ? at - before : at + width - before;
}

kernel void parts(device Part *part [[buffer(0)]], device const E *in [[buffer(1)]], constant Walk<I> &from [[buffer(2)]],
    constant I *steps [[buffer(3)]], constant uint4 &sizes [[buffer(4)]], constant uint2 &more [[buffer(5)]],
    uint group [[threadgroup_position_in_grid]], uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup Part shared[32];
    group += sizes.z;
    const uint begin = group % more.y * more.x, some = min(more.x, sizes.x - begin);
    const I low = seek(from, group / more.y) + I(begin) * steps[1];
    Part p = {0, 0, -INFINITY};
    for (uint i = first_of(low, steps[1], at, width); i < some; i += width) p = with(p, load(in[low + I(i) * steps[1]]));
    p = together(p, shared, at, width);
    if (at == 0) part[group] = p;
}

kernel void finish(device E *out [[buffer(0)]], device const E *in [[buffer(1)]], device const Part *part [[buffer(2)]],
    constant Walk<I> &to [[buffer(3)]], constant Walk<I> &from [[buffer(4)]], constant I *steps [[buffer(5)]],
    constant uint4 &sizes [[buffer(6)]], constant uint2 &more [[buffer(7)]],
    uint group [[threadgroup_position_in_grid]], uint at [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    threadgroup Part shared[32];
    group += sizes.z;
    const uint line = group / more.y, begin = group % more.y * more.x, some = min(more.x, sizes.x - begin);
    Part p = {0, 0, -INFINITY};
    for (uint i = at; i < more.y; i += width) p = joined(p, part[ulong(line) * more.y + i]);
    p = together(p, shared, at, width);
    const I low = seek(from, line) + I(begin) * steps[1], high = seek(to, line) + I(begin) * steps[0];
    for (uint i = first_of(low, steps[1], at, width); i < some; i += width)
        out[high + I(i) * steps[0]] = store(quotient(load(in[low + I(i) * steps[1]]), p));
}
