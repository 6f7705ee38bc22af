"""Jacobians, Hessians, and products with them: paddle.autograd and paddle.incubate.autograd."""

from __future__ import annotations

from match import Steps

from .row import defects, lines

# The products of a few numbers, each of which is exact or rounded once or twice.
X = """
paddle.set_grad_enabled(True)
x = T([1.0, -2.0, 0.5], stop_gradient=False)
y = T([[1.0, 2.0], [3.0, -4.0]], stop_gradient=False)
z = T(1.5, stop_gradient=False)
A, I = paddle.autograd, paddle.incubate.autograd
""".strip()

ROWS = [
    *lines(
        "jacobian",
        X,
        """
        A.jacobian(x * x, x)[:]
        A.jacobian(x * x, x).shape
        A.jacobian(x * x, x)[1]
        A.jacobian(x * x, x)[:, 0]
        A.jacobian(x * x, x)[-1, 2]
        A.jacobian(x * x, x)[0:2, 1:3]
        A.jacobian(x * x, x)[...]
        A.jacobian(x * x, x)['a']
        A.jacobian(x * z, z)[:]
        A.jacobian(x * z, z)[1]
        A.jacobian((x * z).sum(), x)[:]
        A.jacobian((x * z).sum(), x)[1:]
        A.jacobian(z * z, z)[:]
        A.jacobian(z * z, z).numpy()
        A.jacobian(x * x, x) + A.jacobian(x * 3, x)
        A.jacobian(x * x, x).sum()
        j = A.jacobian(x * z, [x, z]) ;; (type(j).__name__, j[0][:], j[1][:])
        j = A.jacobian((x * z, z * z), (x, z)) ;; (len(j), j[0][0][:], j[0][1][:], j[1][0][:], j[1][1].numpy())
        j = A.jacobian([x * z, z * z], z) ;; (len(j), j[0][:], j[1].numpy())
        A.jacobian(y * y, y, batch_axis=0)[:]
        A.jacobian(y * y, y, batch_axis=0)[:, 1]
        A.jacobian(y * y, y, batch_axis=0)[0, :, 1]
        A.jacobian((y * y).sum(1), y, batch_axis=0).shape
        A.jacobian(y * y, y)
        A.jacobian(x * x, x, batch_axis=1)
        paddle.grad(A.jacobian(x * x * x, x)[1].sum(), x)[0]
        """,
        Steps(2),
    ),
    *defects(
        "jacobian",
        "axis of a Jacobian",
        X,
        """
        A.jacobian((y * y).sum(1), y, batch_axis=0)[:] => T([[2.0, 4.0], [6.0, -8.0]])
        A.jacobian((y * y).sum(1), y, batch_axis=0)[1] => T([6.0, -8.0])
        """,
    ),
    *lines(
        "hessian",
        X,
        """
        A.hessian((x * x * x).sum(), x)[:]
        A.hessian((x * x * x).sum(), x)[1]
        A.hessian((x * z).sum(), x)[:]
        h = A.hessian((x * x * z).sum(), [x, z]) ;; (h[0][0][:], h[0][1][:], h[1][0][:])
        A.hessian((y * y * y).sum(1), y, batch_axis=0)[:]
        A.hessian(x * x, x)
        type(A.hessian((x * x).sum(), x)).__name__
        """,
        Steps(2),
    ),
    *lines(
        "vjp",
        X,
        """
        I.vjp(lambda a: paddle.matmul(a, a), y)
        I.vjp(lambda a: a * a, x, T([1.0, 2.0, 3.0]))
        I.vjp(lambda a, b: (a * a, paddle.matmul(b, b)), [x, y], [x, y])
        I.vjp(lambda a, b: a * a, (x, y))
        I.vjp(lambda a: a * a, x, T([1.0]))
        """,
        Steps(2),
    ),
    *lines(
        "jvp",
        X,
        """
        I.jvp(lambda a: paddle.matmul(a, a), y)
        I.jvp(lambda a: a * a, x, T([1.0, 2.0, 3.0]))
        I.jvp(lambda a, b: (a * a, paddle.matmul(b, b)), [x, y], [x, y])
        I.jvp(lambda a, b: a * a * b[0, 1], (x, y))
        I.jvp(lambda a: a * a, x, T([1.0]))
        """,
        Steps(2),
    ),
    *lines(
        "Jacobian",
        X,
        """
        I.Jacobian(lambda a: paddle.matmul(a, a), y)[:]
        I.Jacobian(lambda a, b: paddle.matmul(a, b), [y, y])[:]
        I.Jacobian(lambda a: paddle.matmul(a, a), y)[0, 1]
        I.Jacobian(lambda a: paddle.matmul(a, a), y)[:, 1]
        I.Jacobian(lambda a: a * a, y, is_batched=True)[:]
        I.Jacobian(lambda a: a * a, y, True)[:, 0, 1]
        I.Hessian(lambda a: paddle.sum(a * a * a), y)[:]
        I.Hessian(lambda a, b: paddle.sum(a * b * b), [x, x])[:]
        I.Hessian(lambda a: paddle.sum(a * a * a, axis=1, keepdim=True), y, is_batched=True)[:]
        I.Hessian(lambda a: a * a, y)
        """,
        Steps(2),
    ),
    # The order is no leaf: its gradient is one of ours alone.
    *lines(
        "gammainc",
        "",
        """
        paddle.gammainc(paddle.to_tensor([0.5, 2.0, 5.0, 10.0]), T([0.75, 3.0, 6.5, 12.0]))
        paddle.gammaincc(paddle.to_tensor([0.5, 2.0, 5.0, 10.0], 'float64'), T([0.25, 3.0, 2.5, 12.0], 'float64'))
        """,
        Steps(24),
    ),
    *lines(
        "complex",
        "x, y = T([1.0, -2.0, 0.5]), T([0.5, 1.5, -1.0])\nz = paddle.complex(x, y)",
        """
        paddle.fft.fft(x).abs()
        paddle.fft.irfft(paddle.fft.rfft(x) * 2, 3)
        paddle.fft.ifft(z * z).real()
        (z * z.conj()).real()
        paddle.angle(z) + z.imag()
        (z.exp() / z).abs()
        paddle.matmul(z.reshape([3, 1]), z.reshape([1, 3])).real()
        paddle.polar(y * y, x).imag()
        paddle.as_real(z.cumsum())
        """,
        Steps(16),
    ),
]
