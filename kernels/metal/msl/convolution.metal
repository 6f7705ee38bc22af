
// The three convolutions: of images with a weight, its transpose, and its gradient with respect to the weight. Halves are
// multiplied in float and rounded once. A product is rounded with the sum so far, in the order of the channels and then of
// the elements of the weight. The arguments are the result, both operands, how the three lie, and the windows. each and
// depth count the channels of a group, of the result and of what is summed over.

#define ARGUMENTS                                                                                            \
    device E *out [[buffer(0)]], device const E *x [[buffer(1)]], device const E *y [[buffer(2)]],           \
    constant Image *lie [[buffer(3)]], constant Windows &n [[buffer(4)]],                                    \
    uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_threadgroup]], uint width [[threads_per_threadgroup]]

// A thread computes an element: y is the weight.
kernel void forward(ARGUMENTS) {
    const uint i = (n.group + group) * width + lane;
    if (i >= n.outputs) return;
    const Element e = element(i, n.channels, n.count);
    const int first = e.channel / n.each * n.depth;
    int from[3];
    for (uint axis = 0; axis < 3; axis++) from[axis] = e.at[axis] * n.stride[axis] - n.before[axis];
    float sum = 0;
    for (int k = 0; k < n.depth; k++) {
        const I image = plane(lie[1], e.image, first + k), weight = plane(lie[2], e.channel, k);
        for (int a = 0; a < n.taps[0]; a++) {
            const int p = from[0] + a * n.dilation[0];
            if (p < 0 || p >= n.size[0]) continue;
            for (int b = 0; b < n.taps[1]; b++) {
                const int q = from[1] + b * n.dilation[1];
                if (q < 0 || q >= n.size[1]) continue;
                for (int c = 0; c < n.taps[2]; c++) {
                    const int r = from[2] + c * n.dilation[2];
                    if (r < 0 || r >= n.size[2]) continue;
                    sum = fma(load(x[image + within(lie[1], p, q, r)]), load(y[weight + within(lie[2], a, b, c)]), sum);
                }
            }
        }
    }
    out[place(lie[0], e)] = store(sum);
}

// The window that has an element of an image under element k of the kernel; -1 where there is none.
inline int window(constant Windows &n, uint axis, int at, int k) {
    const int first = at + n.before[axis] - k * n.dilation[axis], i = first / n.stride[axis];
    return first < 0 || i * n.stride[axis] != first || i >= n.count[axis] ? -1 : i;
}

// A thread computes an element of the images that the windows lie on: x is what there is of each window.
kernel void transposed(ARGUMENTS) {
    const uint i = (n.group + group) * width + lane;
    if (i >= n.outputs) return;
    const Element e = element(i, n.channels, n.size);
    const int first = e.channel / n.each * n.depth, own = e.channel % n.each;
    float sum = 0;
    for (int k = first; k < first + n.depth; k++) {
        const I image = plane(lie[1], e.image, k), weight = plane(lie[2], k, own);
        for (int a = 0; a < n.taps[0]; a++) {
            const int p = window(n, 0, e.at[0], a);
            if (p < 0) continue;
            for (int b = 0; b < n.taps[1]; b++) {
                const int q = window(n, 1, e.at[1], b);
                if (q < 0) continue;
                for (int c = 0; c < n.taps[2]; c++) {
                    const int r = window(n, 2, e.at[2], c);
                    if (r < 0) continue;
                    sum = fma(load(x[image + within(lie[1], p, q, r)]), load(y[weight + within(lie[2], a, b, c)]), sum);
                }
            }
        }
    }
    out[place(lie[0], e)] = store(sum);
}

// A threadgroup computes an element of a weight: the sum over the windows of all images, of which there are terms. The
// threads have every width-th of them, and add up what they have in pairs. y is what there is of each window.
kernel void weight(ARGUMENTS) {
    threadgroup float sums[256];
    const Element e = element(n.group + group, n.depth, n.taps);
    const int channel = e.image / n.each * n.depth + e.channel;
    int from[3];
    for (uint axis = 0; axis < 3; axis++) from[axis] = e.at[axis] * n.dilation[axis] - n.before[axis];
    float sum = 0;
    for (uint t = lane; t < n.terms; t += width) {
        const Element w = element(t, 1, n.count);
        const int p = from[0] + w.at[0] * n.stride[0], q = from[1] + w.at[1] * n.stride[1], r = from[2] + w.at[2] * n.stride[2];
        if (p < 0 || p >= n.size[0] || q < 0 || q >= n.size[1] || r < 0 || r >= n.size[2]) continue;
        const E image = x[plane(lie[1], w.image, channel) + within(lie[1], p, q, r)];
        sum = fma(load(image), load(y[plane(lie[2], w.image, e.image) + within(lie[2], w.at[0], w.at[1], w.at[2])]), sum);
    }
    sums[lane] = sum;
    for (uint half_width = width / 2; half_width > 0; half_width /= 2) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (lane < half_width) sums[lane] += sums[lane + half_width];
    }
    if (lane == 0) out[place(lie[0], e)] = store(sums[0]);
}
