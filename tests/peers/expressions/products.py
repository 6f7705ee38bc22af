"""Products, distances, differences, norms and statistics, which are compositions of other operators.

Most operands are small whole numbers, of which every sum and product is exact in any order.
"""

from __future__ import annotations

from collections.abc import Iterator

from match import Exact, Steps, Tolerance, Ulps

from .row import NO_KERNEL, Row, defects, lines, statements

SETUP = (
    "x = paddle.arange(6.0).reshape([2, 3])\ny = paddle.arange(6.0).reshape([3, 2])\nb = T([True, False])\n"
    "e = paddle.zeros([0, 3])\nz = T(3.0)\ns = T([1.0, 2.0])\nl = T([3, 4])"
)


def ours(op: str, setup: str, text: str, tolerance: Tolerance = Exact()) -> Iterator[Row]:
    """As lines, of what Paddle has no kernel for: `expression  =>  expression of Paddle with our answer`."""
    for line in filter(None, map(str.strip, text.splitlines())):
        source, _, right = (part.strip() for part in line.partition("=>"))
        right = f"fail({right})" if right.endswith("Error") else right
        yield Row(op, statements(source), tolerance, NO_KERNEL, statements(right), setup)


PRODUCTS = [
    *lines(
        "mm",
        SETUP,
        """
        paddle.mm(x, y)
        x.T.mm(y.T)
        paddle.mm(s, s)
        paddle.mm(paddle.ones([2, 3, 4]), paddle.ones([4, 2]))
        paddle.mm(T([[1, 2]]), T([[3], [4]]))
        paddle.mm(e, y)
        paddle.mm(x, x)
        paddle.mm(T([[1.0]]), T([[1.0]], 'float64'))
        paddle.mm(2.0, x)
        paddle.mm(input=x, mat2=y)
        """,
    ),
    *ours("mm", SETUP, "paddle.mm(x.astype('float16'), y.astype('float16'))  =>  paddle.mm(x, y).astype('float16')"),
    *lines(
        "mv",
        SETUP,
        """
        paddle.mv(y, s)
        x.T[::-1].mv(s)
        paddle.mv(paddle.zeros([0, 2]), s)
        paddle.mv(paddle.zeros([2, 0]), paddle.zeros([0]))
        paddle.mv(s, s)
        paddle.mv(x, s)
        paddle.mv(y, T([1.0, 2.0], 'float64'))
        """,
    ),
    *ours("mv", SETUP, "paddle.mv(T([[1, 2]]), l)  =>  T([[1, 2]]) @ l"),
    *lines(
        "dot",
        SETUP,
        """
        paddle.dot(s, s[::-1])
        x.T[0].dot(s)
        paddle.dot(x, x)
        paddle.dot(l, l)
        paddle.dot(T([1, 2], 'int32'), T([3, 4], 'int32'))
        paddle.dot(T([1.0, 2.0], 'float64'), T([3.0, 4.0], 'float64'))
        paddle.dot(paddle.zeros([0]), paddle.zeros([0]))
        paddle.dot(input=s, tensor=s)
        paddle.dot(z, z)
        paddle.dot(s, T([3.0, 4.0, 5.0]))
        paddle.dot(x[:1, :2], s)
        paddle.dot(paddle.ones([2, 3, 4]), paddle.ones([2, 3, 4]))
        paddle.dot(s, l)
        """,
    ),
    *ours(
        "dot",
        SETUP,
        """
        paddle.dot(T([1, 2], 'float16'), T([3, 4], 'float16'))  =>  T(11, 'float16')
        paddle.dot(T([100, 2], 'int8'), T([3, 4], 'int8'))  =>  T(52, 'int8')
        paddle.dot(b, b)  =>  T(True)
        """,
    ),
    *lines(
        "inner",
        SETUP,
        """
        paddle.inner(s, s)
        paddle.inner(x, x)
        paddle.inner(x.T, s)
        x.reshape([2, 1, 3]).inner(x[:, ::-1])
        paddle.inner(T([[1, 2], [3, 4]]), T([[3, 4]]))
        paddle.inner(T(2.0), s)
        paddle.inner(T([2]), l)
        paddle.inner(T([2, 1]), T([3, 4], 'int32'))
        paddle.inner(s, T([3.0, 4.0, 5.0]))
        paddle.inner(paddle.zeros([2, 0]), paddle.zeros([3, 0]))
        """,
    ),
    *lines(
        "outer",
        SETUP,
        """
        paddle.outer(s, x)
        paddle.outer(x.T, z)
        paddle.outer(l, s)
        paddle.outer(b, b)
        paddle.outer(paddle.zeros([0]), s)
        paddle.outer(s, vec2=s[::-1])
        paddle.outer(input=s, y=s)
        s.outer(s)
        paddle.ger(s, s[::-1])
        """,
    ),
    *lines(
        "cross",
        SETUP,
        """
        paddle.cross(T([1.0, 2.0, 3.0]), T([4.0, 5.0, 6.0]))
        paddle.cross(x, x[:, ::-1])
        paddle.cross(paddle.arange(9.0).reshape([3, 3]), paddle.ones([3, 3]))
        paddle.arange(9.0).reshape([3, 3]).T.cross(paddle.ones([3, 3]), axis=1)
        paddle.cross(paddle.arange(9.0).reshape([3, 3]), paddle.ones([3, 3]), dim=-1)
        paddle.cross(T([1, 2, 3]), T([4, 5, 6]))
        paddle.cross(T([1, 2, 3], 'int32')[::-1], T([4, 5, 6], 'int32'))
        paddle.cross(e, e)
        paddle.cross(s, s)
        paddle.cross(x, x, axis=0)
        paddle.cross(x, x[:1])
        paddle.cross(T([1.0, 2.0, 3.0]), T([4.0, 5.0, 6.0]), axis=1)
        paddle.cross(T([1.0, 2.0, 3.0]), T([4, 5, 6]))
        """,
    ),
    *lines(
        "kron",
        SETUP,
        """
        paddle.kron(T([[1, 2], [3, 4]]), T([[1, 2, 3]]))
        paddle.kron(s, x)
        x.T.kron(s[::-1])
        paddle.kron(T(2.0), s)
        paddle.kron(paddle.zeros([0]), s)
        paddle.kron(T([1, 2], 'float16'), T([1, 2], 'float16'))
        paddle.kron(s, l)
        """,
    ),
    *lines(
        "tensordot",
        SETUP,
        """
        paddle.tensordot(x, y, 1)
        paddle.tensordot(x, x)
        paddle.tensordot(x, s, 0)
        paddle.tensordot(x, x, [0])
        paddle.tensordot(x, x, [[0, 1], [0]])
        paddle.tensordot(x.T, x, [[-1], [0]])
        x.tensordot(x[:, ::-1], [])
        paddle.tensordot(x, x, T([[0], [0]]))
        paddle.tensordot(x, x[:1], 2)
        paddle.tensordot(x, x[:1], [[-1], [-1]])
        paddle.tensordot(T([[1, 2]]), T([[1], [2]]), 1)
        paddle.tensordot(paddle.zeros([2, 0]), paddle.zeros([0, 2]), 1)
        paddle.tensordot(x, x, [[0], [1]])
        paddle.tensordot(x, x, -1)
        paddle.tensordot(x, y, 3)
        paddle.tensordot(x, y, 'a')
        """,
    ),
    *lines(
        "addmm",
        SETUP,
        """
        paddle.addmm(paddle.ones([2, 2]), x, y, beta=0.5, alpha=2.0)
        s.addmm(x, y)
        paddle.addmm(s.reshape([2, 1]), y.T, x.T)
        paddle.addmm(T([nan, inf]), x, y, beta=0.0)
        paddle.addmm(paddle.ones([2, 2]), paddle.zeros([2, 0]), paddle.zeros([0, 2]))
        paddle.addmm(paddle.ones([1]), x, y)
        a = paddle.ones([2, 2]) ;; v = a[0] ;; a.addmm_(x, y) ;; [a, v]
        paddle.addmm(z, x, y)
        paddle.addmm(s, x, x)
        paddle.addmm(T([1.0, 2.0, 3.0]), x, y)
        paddle.addmm(T([1.0, 2.0], 'float64'), x, y)
        """,
    ),
    *ours("addmm", SETUP, "paddle.addmm(l, T([[1, 2]]), T([[1, 0], [0, 1]]))  =>  T([[4, 6]])"),
    *defects("addmm", "in-place shape", SETUP, "a = T([1.0, 2.0]) ;; a.addmm_(x, y)  =>  ValueError"),
    *lines(
        "baddbmm",
        SETUP,
        """
        paddle.baddbmm(paddle.ones([2, 2, 2]), paddle.ones([2, 2, 3]), paddle.ones([2, 3, 2]), beta=0.5, alpha=2.0)
        x[:, ::-2].baddbmm(paddle.ones([2, 2, 3]), paddle.ones([2, 3, 2]))
        paddle.baddbmm(paddle.ones([1, 2, 1]), paddle.ones([2, 2, 3]), paddle.ones([2, 3, 2]))
        a = paddle.ones([2, 2, 2]) ;; a.baddbmm_(paddle.ones([2, 2, 3]), paddle.ones([2, 3, 2])) ;; a
        paddle.baddbmm(s, paddle.ones([2, 2, 3]), paddle.ones([2, 3, 2]))
        paddle.baddbmm(y, paddle.ones([2, 2, 3]), paddle.ones([2, 3, 2]))
        paddle.baddbmm(x, x, y)
        """,
    ),
    *lines(
        "vecdot",
        SETUP,
        """
        paddle.vecdot(x, x)
        paddle.linalg.vecdot(x.T, s)
        paddle.vecdot(x, T([[1.0], [2.0]]), axis=0)
        paddle.vecdot(T([[1, 2], [3, 4]], 'int32'), T([3, 4], 'int32'))
        paddle.vecdot(z, z)
        paddle.vecdot(x, l)
        paddle.vecdot(s, s, axis=2)
        """,
    ),
    *ours("vecdot", "", "paddle.vecdot(T([1, 2], 'float16'), T([1, 2], 'float16'))  =>  T(5, 'float16')"),
    *lines(
        "multi_dot",
        SETUP,
        """
        paddle.linalg.multi_dot([x, y, x])
        paddle.linalg.multi_dot([s, x, T([1.0, 2.0, 3.0])])
        paddle.linalg.multi_dot([y.T, x.T])
        paddle.linalg.multi_dot([s, s])
        paddle.linalg.multi_dot([e, y])
        paddle.linalg.multi_dot([x])
        paddle.linalg.multi_dot([])
        paddle.linalg.multi_dot([x, x])
        paddle.linalg.multi_dot([y, s, x])
        paddle.linalg.multi_dot([x, y.astype('float64')])
        """,
    ),
    *ours("multi_dot", "", "paddle.linalg.multi_dot([T([[1, 2]]), T([[3], [4]])])  =>  T([[11]])"),
    *lines(
        "matrix_power",
        "a = T([[1.0, 2.0], [3.0, 4.0]])",
        """
        paddle.linalg.matrix_power(a, 2)
        paddle.linalg.matrix_power(a.T, 0)
        a[::-1].matrix_power(5)
        paddle.linalg.matrix_power(paddle.ones([3, 2, 2]), 3)
        paddle.linalg.matrix_power(paddle.zeros([0, 0]), 2)
        paddle.linalg.matrix_power(T([[1.0, 2.0, 3.0]]), 2)
        paddle.linalg.matrix_power(T([1.0]), 2)
        paddle.linalg.matrix_power(a, 1.5)
        """,
    ),
    *ours("matrix_power", "", "paddle.linalg.matrix_power(T([[1, 2], [3, 4]]), 2)  =>  T([[7, 10], [15, 22]])"),
    *lines(
        "matrix_transpose",
        SETUP,
        "paddle.linalg.matrix_transpose(x)\ny.T.matrix_transpose()\npaddle.linalg.matrix_transpose(s)\n"
        "paddle.linalg.matrix_transpose(e)\npaddle.linalg.matrix_transpose(paddle.ones([2, 3, 4], 'int8')).shape",
    ),
    *lines(
        "linear",
        SETUP,
        """
        F.linear(x, y, s)
        F.linear(s, x)
        F.linear(x.T, x)
        F.linear(paddle.ones([2, 3, 4]), paddle.ones([4, 2]), s)
        F.linear(T([[1, 2]]), T([[1, 2], [3, 4]]), l)
        F.linear(x, y, T([1.0, 1.0], 'float64'))
        F.linear(x, y, l)
        F.linear(e, y)
        F.linear(x, x)
        F.linear(x, y, T([1.0, 1.0, 1.0]))
        """,
    ),
]

EINSUM = [
    *lines(
        "einsum",
        SETUP + "\na = T([[1.0, 2.0], [3.0, 4.0]])\nc = paddle.arange(12.0).reshape([2, 2, 3])",
        """
        paddle.einsum('i,i->', s, s)
        paddle.einsum('i,i', s, s)
        paddle.einsum('ij', a)
        paddle.einsum('ji', a)
        paddle.einsum('ii', a)
        paddle.einsum('ii->i', a.T)
        paddle.einsum('...ij,...jk->...ik', c, y)
        paddle.einsum('...ij,...jk', c, y)
        paddle.einsum('i...->...', c)
        paddle.einsum('ij,jk,kl->il', a, a, a)
        paddle.einsum('ik,jk,lk->ijl', a, x[:, ::2], a.T)
        paddle.einsum('i,j->ij', s, x[0])
        paddle.einsum('i j , j -> i', a, s)
        paddle.einsum('Ba,a', a, s)
        paddle.einsum('ij,ij->ij', a, a.T)
        paddle.einsum('->', T(2.0))
        paddle.einsum(',i->i', T(2.0), s)
        paddle.einsum('i->i...', s)
        paddle.einsum('...i,...i->...', x, T([1.0, 2.0, 3.0]))
        paddle.einsum('bij,bjk->bik', c, c.transpose([0, 2, 1]))
        paddle.einsum('bij,bkj->kbi', c, c[:, ::-1])
        paddle.einsum('ij,j->i', a, T([2.0]))
        paddle.einsum('i,i,i->i', s, s, s)
        paddle.einsum('', T(1.0))
        paddle.einsum('i,i->', paddle.zeros([0]), paddle.zeros([0]))
        paddle.einsum('ij->ji', paddle.zeros([0, 2]))
        paddle.einsum('ij,j->i', a.astype('float64'), s.astype('float64'))
        paddle.einsum('...->', c)
        paddle.einsum('i...->i', c)
        paddle.einsum('ij,j->i', x[:1], s)
        paddle.einsum('ij,j->ik', a, s)
        paddle.einsum('ijk', a)
        paddle.einsum('ij,j->i', a, T([1.0, 2.0], 'float64'))
        paddle.einsum('ij,j->i', [a, s])
        paddle.einsum('i1->i', a)
        paddle.einsum('i..j->ij', a)
        """,
    ),
    *ours(
        "einsum",
        "",
        """
        paddle.einsum('ij,j->i', T([[1, 2], [3, 4]]), T([1, 2]))  =>  T([5, 11])
        paddle.einsum('ij->i', T([[1, 2], [3, 4]], 'float16'))  =>  T([3, 7], 'float16')
        """,
    ),
    *defects(
        "einsum",
        "repeated label",
        "",
        "paddle.einsum('iij->j', paddle.ones([2, 2, 3]))  =>  T([2.0, 2.0, 2.0])\n"
        "paddle.einsum('ii->ii', paddle.ones([2, 2]))  =>  ValueError",
    ),
]

# A power and a root, each within 2 ulps on either side, and the sum of three terms below them.
POWERS = Steps(12)

DISTANCES = [
    *lines(
        "cdist",
        SETUP + "\nu = T([[0.0, 0.0], [1.0, 1.0], [3.0, 5.0]])\nv = T([[3.0, 4.0]])",
        """
        paddle.cdist(u, v)
        paddle.cdist(u[::2], u, p=1)
        u.T.cdist(u.T, 0.0)
        paddle.cdist(u, v, p=inf)
        paddle.cdist(paddle.zeros([3, 2, 4]), paddle.ones([3, 5, 4]))
        paddle.cdist(paddle.zeros([3, 1, 2, 4]), paddle.ones([2, 5, 4]))
        paddle.cdist(paddle.zeros([0, 4]), paddle.ones([5, 4]))
        paddle.cdist(paddle.zeros([3, 0]), paddle.ones([5, 0]))
        paddle.cdist(u, v, compute_mode='use_mm_for_euclid_dist')
        paddle.cdist(u, v, p=-1)
        paddle.cdist(u, x)
        paddle.cdist(s, v)
        paddle.cdist(u, v, compute_mode='x')
        """,
    ),
    *lines("cdist", "", "paddle.cdist(T([[0.0, 0.0], [1.0, 1.0]]), T([[3.0, 4.0]]), p=3)", POWERS),
    # The squares are exact whole numbers, of which the roots are taken.
    *lines("cdist", "", "paddle.cdist(paddle.arange(60.0).reshape([30, 2]), T([[3.0, 4.0]]))", Ulps("sqrt")),
    *ours("cdist", "", "paddle.cdist(T([[0, 0]]), T([[3, 4]]))  =>  T([[5.0]])"),
    *defects(
        "cdist",
        "empty batch",
        "",
        "paddle.cdist(paddle.zeros([2, 0, 4]), paddle.ones([2, 5, 4]))  =>  paddle.zeros([2, 0, 5])",
    ),
    *lines(
        "pdist",
        SETUP,
        """
        paddle.pdist(T([[0.0, 0.0], [3.0, 4.0], [6.0, 8.0]]))
        paddle.pdist(T([[0.0, 3.0, 6.0], [0.0, 4.0, 8.0]]).T[::-1])
        paddle.pdist(x, p=0)
        paddle.pdist(x, 1.0)
        paddle.pdist(x[:1])
        paddle.pdist(s)
        """,
    ),
    *ours("pdist", "", "paddle.pdist(T([[0, 0], [3, 4]]))  =>  T([5.0])"),
    *lines(
        "dist",
        SETUP,
        """
        paddle.dist(T([0.0, 0.0]), T([3.0, 4.0]))
        x.T.dist(y, 0)
        paddle.dist(x, -x, inf)
        paddle.dist(x, -x, -inf)
        paddle.dist(T([[0.0], [1.0]]), T([3.0, 4.0]), 1)
        paddle.dist(T(1.0), T(4.0))
        paddle.dist(paddle.zeros([0]), paddle.zeros([0]))
        paddle.dist(s, T([1.0, 2.0], 'float64'))
        paddle.dist(x, s)
        """,
    ),
    *lines("dist", "", "paddle.dist(T([0.0, 0.0]), T([3.0, 4.0]), -1)\npaddle.dist(T([1.0]), T([3.0]), 3)", POWERS),
    *lines(
        "pairwise_distance",
        SETUP,
        """
        F.pairwise_distance(T([[1.0, 2.0]]), T([[4.0, 6.0]]), epsilon=0.0)
        F.pairwise_distance(x.T, y, p=1, epsilon=0.0, keepdim=True)
        F.pairwise_distance(x, x, p=0)
        F.pairwise_distance(e, e)
        F.pairwise_distance(s, x)
        """,
    ),
    # The addition of epsilon, two squares, their sum and a root.
    *lines("pairwise_distance", "", "F.pairwise_distance(T([1.0, 2.0]), T([3.0, 4.0]))", Steps(8)),
    *lines(
        "trapezoid",
        SETUP,
        """
        paddle.trapezoid(T([1.0, 2.0, 3.0]))
        paddle.trapezoid(T([1.0, 2.0, 3.0]), dx=2)
        paddle.trapezoid(T([1.0, 2.0, 3.0]), x=T([1.0, 3.0, 4.0]))
        x.trapezoid(axis=0)
        paddle.trapezoid(x.T, x=T([1.0, 3.0, 4.0]), axis=0)
        paddle.trapezoid(x, x=T([1.0, 3.0]))
        paddle.trapezoid(x, x=x[:, ::-1])
        paddle.trapezoid(s, dx=T(2.0))
        paddle.trapezoid(s, dx=T([2.0, 3.0]))
        paddle.trapezoid(T([1.0]))
        paddle.trapezoid(paddle.zeros([0]))
        paddle.trapezoid(s, x=s, dx=1.0)
        paddle.trapezoid(l)
        paddle.trapezoid(s, x=l)
        paddle.trapezoid(z)
        paddle.trapezoid(s, axis=3)
        """,
    ),
    *lines(
        "cumulative_trapezoid",
        SETUP,
        """
        paddle.cumulative_trapezoid(T([1.0, 2.0, 3.0]))
        x.T.cumulative_trapezoid(axis=0)
        paddle.cumulative_trapezoid(x, x=T([1.0, 3.0, 4.0]))
        paddle.cumulative_trapezoid(T([1.0]))
        paddle.cumulative_trapezoid(l)
        """,
    ),
    *ours("trapezoid", "", "paddle.trapezoid(T([1, 2, 3], 'float16'))  =>  T(4, 'float16')"),
    *lines(
        "diff",
        SETUP,
        """
        paddle.diff(T([1.0, 4.0, 9.0]))
        paddle.diff(T([1, 4, 9], 'int32'), n=2)
        paddle.diff(T([True, False, False]))
        paddle.diff(T([True, False, False]), n=2)
        paddle.diff(s, n=4)
        x.T.diff(axis=0)
        paddle.diff(x, prepend=T([[0.0], [1.0]]), append=x)
        paddle.diff(s[::-1], prepend=T([0]))
        paddle.diff(paddle.zeros([0]))
        paddle.diff(paddle.zeros([1]))
        paddle.diff(input=x, dim=0)
        paddle.diff(s, n=0)
        paddle.diff(x, axis=2)
        paddle.diff(z)
        """,
    ),
    *ours("diff", "", "paddle.diff(T([9, 4, 1], 'uint8'))  =>  T([251, 253], 'uint8')"),
    *defects("diff", "unchecked argument", SETUP, "paddle.diff(x, axis=-3)  =>  IndexError"),
    # The products of three numbers below 24, added up to at most 42; the lengths; a root and a quotient.
    *lines(
        "cosine_similarity",
        SETUP,
        """
        F.cosine_similarity(x, x[::-1])
        F.cosine_similarity(x.T, y, axis=0)
        F.cosine_similarity(x, T([[1.0], [2.0]]))
        F.cosine_similarity(x, x[:1], dim=0)
        F.cosine_similarity(T([[0.0, 0.0]]), T([[3.0, 4.0]]))
        F.cosine_similarity(paddle.zeros([2, 0]), paddle.zeros([2, 0]))
        F.cosine_similarity(s, s)
        F.cosine_similarity(T([[1, 2]]), T([[3, 4]]))
        """,
        Steps(6),
    ),
    *lines(
        "normalize",
        SETUP,
        """
        F.normalize(T([[3.0, 4.0], [0.0, 0.0]]))
        F.normalize(T([[3.0, 4.0], [0.0, 0.0]]).T, axis=0)
        F.normalize(x, p=1)
        F.normalize(x, p=inf, axis=-1)
        F.normalize(T([3.0, 4.0], 'float64'), axis=0)
        F.normalize(T([[3.0, 4.0]]), eps=10.0, dim=1)
        F.normalize(e)
        F.normalize(s)
        F.normalize(x, axis=2)
        """,
        Steps(2),  # a quotient on each side, of which the norm is exact or within an ulp
    ),
    *ours("normalize", "", "F.normalize(T([[3, 4]]))  =>  F.normalize(T([[3.0, 4.0]]))"),
]

ROWS = [*PRODUCTS, *EINSUM, *DISTANCES]
