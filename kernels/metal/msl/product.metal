
// Matrix product, for what MPSGraph does not take: each threadgroup computes a tile of TILE by TILE elements
// of one matrix of the batch, going through the inner axis by tiles that it shares.

constant uint TILE = 16;

struct Sizes {
    uint rows, inner, cols;
    I out[2], x[2], y[2]; // steps along the two axes of each
};

kernel void run(device E *out [[buffer(0)]], device const E *x [[buffer(1)]], device const E *y [[buffer(2)]],
    constant Walk<I> &to [[buffer(3)]], constant Walk<I> &left [[buffer(4)]], constant Walk<I> &right [[buffer(5)]],
    constant Sizes &n [[buffer(6)]], uint3 tile [[threadgroup_position_in_grid]], uint3 in [[thread_position_in_threadgroup]]) {
    threadgroup A xs[16][16], ys[16][16];
    const uint row = tile.y * TILE + in.y, col = tile.x * TILE + in.x;
    x += seek(left, tile.z);
    y += seek(right, tile.z);
    A sum = 0;
    for (uint first = 0; first < n.inner; first += TILE) {
        const uint across = first + in.x, down = first + in.y;
        xs[in.y][in.x] = row < n.rows && across < n.inner ? A(load(x[I(row) * n.x[0] + I(across) * n.x[1]])) : A(0);
        ys[in.y][in.x] = down < n.inner && col < n.cols ? A(load(y[I(down) * n.y[0] + I(col) * n.y[1]])) : A(0);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < TILE; k++) sum += xs[in.y][k] * ys[k][in.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (row < n.rows && col < n.cols) out[seek(to, tile.z) + I(row) * n.out[0] + I(col) * n.out[1]] = store(C(sum));
}
