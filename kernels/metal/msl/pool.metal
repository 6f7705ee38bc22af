
// Pools: a thread computes an element from the elements under a window, or from the windows over an element. J is the
// type of an index, LOWEST the smallest finite element. The arguments are the results, the operand, how they lie, and the
// windows.

// Where a window lies on an axis, from low to high - 1, and its share of the divisor of a mean.
struct Range {
    int low, high, share;
};

inline Range range(constant Windows &n, uint axis, int i) {
    Range r;
    const int size = n.size[axis], many = n.taps[axis];
    if (n.adaptive) {
        r.low = i * size / many;
        r.high = ((i + 1) * size + many - 1) / many;
        r.share = r.high - r.low;
        return r;
    }
    const int first = i * n.stride[axis] - n.before[axis];
    r.low = max(first, 0);
    r.high = min(first + many, size);
    r.share = n.exclusive ? r.high - r.low : min(first + many, size + n.before[axis]) - first;
    return r;
}

// The windows over an element of an axis, from low to high - 1.
inline Range over(constant Windows &n, uint axis, int at) {
    Range r;
    r.share = 0;
    const int size = n.size[axis], many = n.taps[axis];
    if (n.adaptive) {
        r.low = at * many / size;
        r.high = ((at + 1) * many + size - 1) / size;
        return r;
    }
    const int last = at + n.before[axis];
    r.low = last < many ? 0 : (last - many) / n.stride[axis] + 1;
    r.high = min(last / n.stride[axis] + 1, n.count[axis]);
    return r;
}

// The largest element of a window and where in the plane the first of those is, -1 in a window without elements. Floats are
// compared as integers of the same order, because subnormals may count as zeros where they are compared as floats.
inline int find_largest(device const E *x, constant Image &lie, constant Windows &n, Element e, thread E &found) {
    const Range ra = range(n, 0, e.at[0]), rb = range(n, 1, e.at[1]), rc = range(n, 2, e.at[2]);
    const I image = plane(lie, e.image, e.channel);
    int best = 0, at = -1;
    found = LOWEST;
    for (int a = ra.low; a < ra.high; a++) {
        for (int b = rb.low; b < rb.high; b++) {
            for (int c = rc.low; c < rc.high; c++) {
                const E v = x[image + within(lie, a, b, c)];
                const float number = load(v);
                const int order = place_of(number);
                if (!isnan(number) && at >= 0 && order <= best) continue;
                best = order;
                found = v;
                at = (a * n.size[1] + b) * n.size[2] + c;
                if (isnan(number)) return at;
            }
        }
    }
    return at;
}

kernel void largest_of(device E *out [[buffer(0)]], device J *places [[buffer(1)]], device const E *x [[buffer(2)]],
    constant Image *lie [[buffer(3)]], constant Windows &n [[buffer(4)]],
    uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    const uint i = (n.group + group) * width + lane;
    if (i >= n.outputs) return;
    const Element e = element(i, n.channels, n.count);
    E found;
    const int at = find_largest(x, lie[2], n, e, found);
    out[place(lie[0], e)] = found;
    places[place(lie[1], e)] = J(at);
}

// largest_of where nothing reads the indices.
kernel void largest_value_of(device E *out [[buffer(0)]], device const E *x [[buffer(1)]],
    constant Image *lie [[buffer(2)]], constant Windows &n [[buffer(3)]],
    uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    const uint i = (n.group + group) * width + lane;
    if (i >= n.outputs) return;
    const Element e = element(i, n.channels, n.count);
    E found;
    find_largest(x, lie[1], n, e, found);
    out[place(lie[0], e)] = found;
}

inline float divisor(Range a, Range b, Range c) { return float(a.share * b.share * c.share); }

kernel void mean_of(device E *out [[buffer(0)]], device const E *x [[buffer(1)]],
    constant Image *lie [[buffer(2)]], constant Windows &n [[buffer(3)]],
    uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    const uint i = (n.group + group) * width + lane;
    if (i >= n.outputs) return;
    const Element e = element(i, n.channels, n.count);
    const Range ra = range(n, 0, e.at[0]), rb = range(n, 1, e.at[1]), rc = range(n, 2, e.at[2]);
    const I image = plane(lie[1], e.image, e.channel);
    float sum = 0;
    for (int a = ra.low; a < ra.high; a++)
        for (int b = rb.low; b < rb.high; b++)
            for (int c = rc.low; c < rc.high; c++) sum += load(x[image + within(lie[1], a, b, c)]);
    out[place(lie[0], e)] = store(sum / divisor(ra, rb, rc));
}

// The transpose of mean_of: x is what there is of each window.
kernel void spread_of(device E *out [[buffer(0)]], device const E *x [[buffer(1)]],
    constant Image *lie [[buffer(2)]], constant Windows &n [[buffer(3)]],
    uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]) {
    const uint i = (n.group + group) * width + lane;
    if (i >= n.outputs) return;
    const Element e = element(i, n.channels, n.size);
    const Range oa = over(n, 0, e.at[0]), ob = over(n, 1, e.at[1]), oc = over(n, 2, e.at[2]);
    const I image = plane(lie[1], e.image, e.channel);
    float sum = 0;
    for (int a = oa.low; a < oa.high; a++) {
        const Range ra = range(n, 0, a);
        for (int b = ob.low; b < ob.high; b++) {
            const Range rb = range(n, 1, b);
            for (int c = oc.low; c < oc.high; c++)
                sum += load(x[image + within(lie[1], a, b, c)]) / divisor(ra, rb, range(n, 2, c));
        }
    }
    out[place(lie[0], e)] = store(sum);
}
