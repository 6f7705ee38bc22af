import triton, triton.language as tl

@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    y = tl.load(y_ptr + offs, mask=mask)
    tl.store(out_ptr + offs, x + y, mask=mask)

@triton.jit
def softmax(out_ptr, in_ptr, in_stride, out_stride, rows, cols, BLOCK: tl.constexpr):
    start = tl.program_id(0)
    step = tl.num_programs(0)
    for row in tl.range(start, rows, step, num_stages=2):
        offs = tl.arange(0, BLOCK)
        mask = offs < cols
        x = tl.load(in_ptr + row * in_stride + offs, mask=mask, other=-float("inf"))
        x = x - tl.max(x, axis=0)
        e = tl.exp(x)
        tl.store(out_ptr + row * out_stride + offs, e / tl.sum(e, axis=0), mask=mask)

@triton.jit
def layer_norm(x_ptr, y_ptr, w_ptr, b_ptr, stride, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    x_ptr += row * stride
    y_ptr += row * stride
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        acc += tl.load(x_ptr + cols, mask=cols < n, other=0.).to(tl.float32)
    mean = tl.sum(acc, axis=0) / n
    acc = tl.zeros([BLOCK], dtype=tl.float32)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + cols, mask=cols < n, other=0.).to(tl.float32)
        x = tl.where(cols < n, x - mean, 0.)
        acc += x * x
    rstd = 1 / tl.sqrt(tl.sum(acc, axis=0) / n + eps)
    for off in range(0, n, BLOCK):
        cols = off + tl.arange(0, BLOCK)
        mask = cols < n
        w = tl.load(w_ptr + cols, mask=mask)
        b = tl.load(b_ptr + cols, mask=mask)
        x = tl.load(x_ptr + cols, mask=mask, other=0.).to(tl.float32)
        tl.store(y_ptr + cols, (x - mean) * rstd * w + b, mask=mask)

@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, sam, sak, sbk, sbn, scm, scn,
           BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GM: tl.constexpr):
    pid = tl.program_id(0)
    num_m = tl.cdiv(M, BM)
    num_n = tl.cdiv(N, BN)
    in_group = GM * num_n
    first = (pid // in_group) * GM
    size = min(num_m - first, GM)
    pm = first + ((pid % in_group) % size)
    pn = (pid % in_group) // size
    om = (pm * BM + tl.arange(0, BM)) % M
    on = (pn * BN + tl.arange(0, BN)) % N
    ok = tl.arange(0, BK)
    a_ptrs = a_ptr + om[:, None] * sam + ok[None, :] * sak
    b_ptrs = b_ptr + ok[:, None] * sbk + on[None, :] * sbn
    acc = tl.zeros((BM, BN), dtype=tl.float32)
    for k in range(0, tl.cdiv(K, BK)):
        a = tl.load(a_ptrs, mask=ok[None, :] < K - k * BK, other=0.0)
        b = tl.load(b_ptrs, mask=ok[:, None] < K - k * BK, other=0.0)
        acc = tl.dot(a, b, acc)
        a_ptrs += BK * sak
        b_ptrs += BK * sbk
    acc = tl.where(acc >= 0, acc, 0.01 * acc)
    om = pm * BM + tl.arange(0, BM)
    on = pn * BN + tl.arange(0, BN)
    mask = (om[:, None] < M) & (on[None, :] < N)
    tl.store(c_ptr + om[:, None] * scm + on[None, :] * scn, acc.to(c_ptr.dtype.element_ty), mask=mask)

@triton.jit
def attention(Q, K, V, O, N, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    om = tl.program_id(0) * BM + tl.arange(0, BM)
    od = tl.arange(0, D)
    base = tl.program_id(1) * N * D
    q = tl.load(Q + base + om[:, None] * D + od[None, :])
    m = tl.zeros([BM], tl.float32) - float("inf")
    l = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    hi = (tl.program_id(0) + 1) * BM
    for start in range(0, hi, BN):
        on = start + tl.arange(0, BN)
        k = tl.load(K + base + on[:, None] * D + od[None, :])
        qk = tl.dot(q, tl.trans(k)) * scale
        qk = tl.where(om[:, None] >= on[None, :], qk, -1.0e6)
        mn = tl.maximum(m, tl.max(qk, 1))
        p = tl.exp2(qk - mn[:, None])
        alpha = tl.exp2(m - mn)
        l = l * alpha + tl.sum(p, 1)
        v = tl.load(V + base + on[:, None] * D + od[None, :])
        acc = tl.dot(p.to(v.dtype), v, acc * alpha[:, None])
        m = mn
    tl.store(O + base + om[:, None] * D + od[None, :], (acc / l[:, None]).to(O.dtype.element_ty))

@triton.jit
def reduce2d(x_ptr, s_ptr, m_ptr, am_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    s = tl.sum(x, AXIS)
    m = tl.max(x, AXIS)
    a = tl.argmin(x, AXIS)
    o = j if AXIS == 0 else i
    tl.store(s_ptr + o, s)
    tl.store(m_ptr + o, m)
    tl.store(am_ptr + o, a)

@triton.jit
def dropout(x_ptr, o_ptr, n, p, seed, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask)
    r = tl.rand(seed, offs)
    keep = r > p
    tl.store(o_ptr + offs, tl.where(keep, x / (1 - p), 0.0), mask=mask)

@triton.jit
def _op(a, b, c, d):
    return a * c, c * b + d

@triton.jit
def scans(x_ptr, s_ptr, p_ptr, h_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr, REV: tl.constexpr):
    i = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i)
    tl.store(s_ptr + i, tl.cumsum(x, AXIS, reverse=REV))
    a, b = tl.associative_scan((x, x), AXIS, _op, reverse=REV)
    tl.store(p_ptr + i, a)
    tl.store(h_ptr + i, b)

@triton.jit
def atomics(x_ptr, f_ptr, i_ptr, old_ptr, n, BLOCK: tl.constexpr):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offs < n
    x = tl.load(x_ptr + offs, mask=mask, other=0.0)
    tl.atomic_add(f_ptr + offs % 8, x, mask=mask)
    tl.atomic_max(f_ptr + 8 + offs % 8, x, mask=mask)
    xi = x.to(tl.int32)
    old = tl.atomic_add(i_ptr + offs, xi, mask=mask)
    tl.store(old_ptr + offs, old, mask=mask)
    tl.atomic_max(i_ptr + n + offs % 4, xi, mask=mask)
    tl.atomic_xchg(i_ptr + n + 4, 7)
    tl.atomic_cas(i_ptr + n + 5, 0, 3)
    tl.atomic_or(i_ptr + n + 6, 1 << tl.program_id(0))

@triton.jit
def early(x_ptr, n):
    pid = tl.program_id(0)
    if pid >= n:
        return
    v = tl.load(x_ptr + pid)
    if v < 0:
        tl.store(x_ptr + pid, -v)
        return
    k = 0
    while v > 1.0:
        v = v * 0.5
        k += 1
    tl.store(x_ptr + pid, k.to(tl.float32))

@triton.jit
def lock(l_ptr, x_ptr, y_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + i)
    while tl.atomic_cas(l_ptr, 0, 1) == 1:
        pass
    c = tl.load(l_ptr + 1)
    y = x
    if c == 0:
        tl.atomic_xchg(l_ptr + 1, 1)
    else:
        y += tl.load(y_ptr + i)
    tl.store(y_ptr + i, y)
    tl.debug_barrier()
    tl.atomic_xchg(l_ptr, 0)

@triton.jit
def shapes(x_ptr, o_ptr, h_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    y = tl.reshape(x, (N // 4, 4))
    y = tl.trans(y)
    y = tl.reshape(y, (N,))
    a, b = tl.split(tl.reshape(y, (N // 2, 2)))
    z = tl.join(b, a)
    z = tl.reshape(z, (N,))
    g = tl.gather(z, (i * 7 + 3) % N, 0)
    tl.store(o_ptr + i, g)
    tl.store(o_ptr + N + i, tl.flip(x))
    tl.store(o_ptr + 2 * N + i, tl.sort(x))
    tl.store(o_ptr + 3 * N + i, tl.interleave(x, x + 1).reshape((2, N)).sum(0))
    h = tl.histogram((x * 4).to(tl.int32) & 15, 16)
    tl.store(h_ptr + tl.arange(0, 16), h)
    c = tl.cat(x, x + 1, can_reorder=True) if False else x
    tl.store(o_ptr + 4 * N + i, c)

@triton.jit
def maths(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=1.0)
    o = 0
    y = tl.exp(x); tl.store(o_ptr + o * n + i, y, mask=mask)
    y = tl.log(x); tl.store(o_ptr + 1 * n + i, y, mask=mask)
    y = tl.sin(x) + tl.cos(x); tl.store(o_ptr + 2 * n + i, y, mask=mask)
    y = tl.sqrt_rn(x) + tl.rsqrt(x); tl.store(o_ptr + 3 * n + i, y, mask=mask)
    y = tl.erf(x); tl.store(o_ptr + 4 * n + i, y, mask=mask)
    y = tl.floor(x) + 2 * tl.ceil(x); tl.store(o_ptr + 5 * n + i, y, mask=mask)
    y = tl.abs(x) + tl.exp2(x) + tl.log2(x); tl.store(o_ptr + 6 * n + i, y, mask=mask)
    y = tl.fma(x, x, x); tl.store(o_ptr + 7 * n + i, y, mask=mask)
    y = tl.clamp(x, 0.5, 2.0) + tl.div_rn(x, 3.0); tl.store(o_ptr + 8 * n + i, y, mask=mask)
    y = tl.sigmoid(x) + tl.maximum(x, 1.0, propagate_nan=tl.PropagateNan.ALL); tl.store(o_ptr + 9 * n + i, y, mask=mask)

@triton.jit
def casts(x_ptr, h_ptr, b_ptr, e5_ptr, e4_ptr, o_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(h_ptr + i, x.to(tl.float16))
    tl.store(b_ptr + i, x.to(tl.bfloat16))
    tl.store(e5_ptr + i, x.to(tl.float8e5))
    tl.store(e4_ptr + i, x.to(tl.float8e4nv))
    a = tl.load(e5_ptr + N + i).to(tl.float32)
    b = tl.load(e4_ptr + N + i).to(tl.float32)
    c = tl.load(b_ptr + N + i).to(tl.float32)
    d = tl.load(h_ptr + N + i).to(tl.float32)
    tl.store(o_ptr + i, a)
    tl.store(o_ptr + N + i, b)
    tl.store(o_ptr + 2 * N + i, c)
    tl.store(o_ptr + 3 * N + i, d)

@triton.jit
def ints(x_ptr, y_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    x = tl.load(x_ptr + i, mask=mask, other=1)
    y = tl.load(y_ptr + i, mask=mask, other=1)
    tl.store(o_ptr + i, x + y * x - (x // y), mask=mask)
    tl.store(o_ptr + n + i, x % y, mask=mask)
    tl.store(o_ptr + 2 * n + i, (x & y) | (x ^ y), mask=mask)
    tl.store(o_ptr + 3 * n + i, (x << 2) + (x >> 1), mask=mask)
    tl.store(o_ptr + 4 * n + i, tl.minimum(x, y) * 3 + tl.maximum(x, y), mask=mask)
    tl.store(o_ptr + 5 * n + i, tl.where(x < y, x, ~y), mask=mask)
    tl.store(o_ptr + 6 * n + i, tl.abs(x), mask=mask)

@triton.jit
def dots3(a_ptr, b_ptr, o_ptr, B: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    b = tl.arange(0, B)[:, None, None]
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    x = tl.load(a_ptr + b * M * K + m[None, :, None] * K + k[None, None, :])
    y = tl.load(b_ptr + b * K * N + k[None, :, None] * N + n[None, None, :])
    z = tl.dot(x, y)
    tl.store(o_ptr + b * M * N + m[None, :, None] * N + n[None, None, :], z)

@triton.jit
def idot(a_ptr, b_ptr, o_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M); n = tl.arange(0, N); k = tl.arange(0, K)
    x = tl.load(a_ptr + m[:, None] * K + k[None, :])
    y = tl.load(b_ptr + k[:, None] * N + n[None, :])
    tl.store(o_ptr + m[:, None] * N + n[None, :], tl.dot(x, y))

@triton.jit(noinline=True)
def helper(a, b):
    if a > b:
        return a * 2
    return b + a

@triton.jit
def calls(x_ptr, o_ptr):
    i = tl.program_id(0)
    a = tl.load(x_ptr + i)
    tl.store(o_ptr + i, helper(a, i))

@triton.jit
def carry(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i)
    b = tl.load(x_ptr + BLOCK + i)
    for k in range(n):
        if k % 3 == 0:
            a, b = b, a + 1
        else:
            a = a + b * 0.5
    tl.store(o_ptr + i, a)
    tl.store(o_ptr + BLOCK + i, b)

@triton.jit
def ptrs(t_ptr, o_ptr, BLOCK: tl.constexpr):
    p = tl.load(t_ptr + tl.program_id(0)).to(tl.pointer_type(tl.float32))
    i = tl.arange(0, BLOCK)
    tl.store(o_ptr + tl.program_id(0) * BLOCK + i, tl.load(p + i) * 2)

@triton.jit
def asserts(x_ptr, o_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.device_assert(x >= 0, "negative")
    tl.device_print("x", x)
    tl.store(o_ptr + i, x)
