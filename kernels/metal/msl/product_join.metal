
// The sums of all parts of the inner axis, a thread each element of the result. matrix is what a matrix of the result has
// of elements and of columns.
kernel void join(device E *out [[buffer(0)]], device const A *sums [[buffer(1)]], constant Walk<I> &to [[buffer(2)]],
    constant I *steps [[buffer(3)]], constant uint3 &matrix [[buffer(4)]], uint i [[thread_position_in_grid]]) {
    const uint batch = i / matrix.x, e = i % matrix.x;
    sums += ulong(batch) * matrix.z * matrix.x + e;
    A sum = 0;
    for (uint part = 0; part < matrix.z; part++) sum += sums[ulong(part) * matrix.x];
    out[seek(to, batch) + I(e / matrix.y) * steps[0] + I(e % matrix.y) * steps[1]] = store(C(sum));
}
