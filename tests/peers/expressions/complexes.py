"""Complex tensors, eigenvalues of general matrices, and Fourier transforms.

How near arithmetic and transforms are to the truth is in tests/python/test_complex.py and test_fft.py; here values are
exact, or rounded a few times.
"""

from __future__ import annotations

from match import Steps

from .products import ours
from .row import defects, lines

SETUP = (
    "c = T([1+2j, -3j, 0.5+0j])\nm = T([[1+1j, 2j], [3+0j, -1j]])\nw = c.astype('complex128')\ns = T(3+4j)\n"
    "f = T([1.0, 2.0, -4.0])\nd = f.astype('float64')\ni = T([1, 2, 3])\nb = T([True, False, True])\n"
    "e = paddle.zeros([0], 'complex64')"
)
FFT = (
    "F = paddle.fft\nf = T([1.0, 2.0, 3.0, 4.0])\nd = f.astype('float64')\ni = T([1, 2, 3, 4])\n"
    "c = f.astype('complex64')\nm = f.reshape([2, 2])\nv = T([[1.0, 9.0], [2.0, 9.0], [3.0, 9.0], [4.0, 9.0]])[:, 0]\n"
    "e = paddle.zeros([0, 3])\nz = T(1.0)\nh = f.astype('float16')\nb = f > 2"
)
# Ours and Paddle's are each within a few roundings of the parts, of which none cancels.
NEAR = Steps(8)

MADE = [
    *lines(
        "complex",
        SETUP,
        """
        paddle.complex(f, f)
        paddle.complex(d, d[::-1])
        paddle.complex(f, T([[1.0], [2.0]]))
        paddle.complex(T(1.0), T(2.0))
        paddle.complex(paddle.zeros([0]), paddle.zeros([0]))
        paddle.complex(T([nan, inf, -0.0]), T([-inf, 1.0, -0.0]))
        paddle.complex(f, d)
        paddle.complex(f, 1.0)
        paddle.complex(f, f[:2])
        paddle.complex(f, f, out=c) ;; c
        """,
    ),
    *lines(
        "as_complex",
        SETUP,
        """
        paddle.as_complex(T([[1.0, 2.0], [3.0, 4.0]]))
        T([1.0, 2.0]).as_complex()
        paddle.as_complex(T([1.0, 2.0, 3.0])[1:])
        paddle.view_as_complex(T([[1.0, 2.0]], dtype='float64'))
        x = T([[1.0, 2.0], [3.0, 4.0]]) ;; paddle.as_complex(x)[0] = 9 ;; x
        paddle.as_complex(f)
        paddle.as_complex(T(1.0))
        paddle.as_complex(T([[1.0, 2.0], [3.0, 4.0]]).T)
        """,
    ),
    *lines(
        "as_real",
        SETUP,
        """
        paddle.as_real(c)
        m.T.as_real()
        paddle.as_real(s)
        paddle.view_as_real(w[::2])
        paddle.as_real(e)
        x = c.clone() ;; paddle.as_real(x)[0] = 9 ;; x
        """,
    ),
    *lines(
        "real",
        SETUP,
        """
        paddle.real(c)
        m.T.real()
        s.real()
        w[::-1].real()
        paddle.real(e)
        paddle.real(1.0)
        x = c.clone() ;; x.real()[0] = 9 ;; x
        """,
    ),
    *lines(
        "imag",
        SETUP,
        """
        paddle.imag(c)
        m.T.imag()
        s.imag()
        w[::2].imag()
        paddle.imag(e)
        x = c.clone() ;; x.imag()[0] = 9 ;; x
        """,
    ),
    *lines(
        "polar",
        SETUP,
        """
        paddle.polar(f, f)
        paddle.polar(d, T(1.0, dtype='float64'))
        f.polar(d)
        paddle.polar(T([[1.0], [2.0]]), f)
        paddle.polar(paddle.zeros([0]), paddle.zeros([0]))
        """,
        NEAR,
    ),
    *lines(
        "conj",
        SETUP,
        """
        paddle.conj(c)
        m.T.conj()
        s.conj()
        e.conj()
        f.conj()
        i.conj()
        paddle.conj(T([complex(inf, nan), complex(-0.0, -0.0)]))
        """,
    ),
    *lines(
        "angle",
        SETUP,
        """
        paddle.angle(c)
        m.T.angle()
        s.angle()
        e.angle()
        T([-1.0, 0.0, 2.0, nan]).angle()
        paddle.angle(w)
        """,
        NEAR,
    ),
    *lines(
        "abs",
        SETUP,
        """
        paddle.abs(c)
        abs(m.T)
        s.abs()
        e.abs()
        paddle.abs(T([complex(inf, nan), complex(3e30, 4e30)]))
        w.abs().dtype
        """,
        NEAR,
    ),
    *lines(
        "is_complex",
        SETUP,
        """
        [paddle.is_complex(x) for x in (c, w, f, i)]
        c.is_complex(), c.is_floating_point(), c.is_integer()
        paddle.isreal(m.T)
        paddle.isreal(f)
        paddle.isreal(e)
        paddle.isreal(T([complex(1, nan)]))
        paddle.is_complex(1j)
        """,
    ),
]

DTYPES = [
    *lines(
        "complex dtypes",
        SETUP,
        """
        T(1+2j)
        T([1j, 2.0, True])
        T([[1j], [1.0]], dtype='complex128')
        T(np.array([1j]))
        T(np.complex64(1j))
        T(1j, dtype='int32')
        paddle.assign([1j])
        paddle.assign(np.array([1j], 'complex64'))
        paddle.complex64 is c.dtype, paddle.cdouble is w.dtype, paddle.cfloat is c.dtype
        paddle.zeros([2], 'complex64'), paddle.ones([], dtype=paddle.complex128)
        paddle.full([2], 1+2j)
        paddle.full([2], 1.5, 'complex64'), paddle.full_like(c, 3j), paddle.full_like(f, 1j)
        paddle.eye(2, dtype='complex64')
        [getattr(f, n)() for n in ('cfloat', 'cdouble', 'complex64', 'complex128')]
        c.astype('float32'), c.astype('int32'), c.astype('bool'), w.astype('float16')
        [x.astype('complex64') for x in (b, i, d, f.astype('bfloat16'))]
        T([complex(nan, 0), complex(0, nan), 0j]).astype('bool')
        m.T.astype('complex128')
        c.numpy(), c.tolist(), s.item(), c.item(1)
        complex(s), bool(s), bool(T(0j))
        float(s)
        int(s)
        paddle.set_printoptions(precision=8, threshold=1000, edgeitems=3, linewidth=80, sci_mode=False) ;; repr(c)
        paddle.set_printoptions(precision=8, threshold=1000, edgeitems=3, linewidth=80, sci_mode=False) ;; repr(T([[1+2j, complex(nan, 1)], [complex(0, inf), 1e-9+1e10j]], dtype='complex128'))
        paddle.set_printoptions(precision=8, threshold=1000, edgeitems=3, linewidth=80, sci_mode=False) ;; repr(s)
        paddle.finfo('complex128').bits
        c.view('float32'), f[:2].view('complex64')
        c.element_size(), w.element_size()
        """,
    ),
    *lines(
        "complex moves",
        SETUP,
        """
        m.T, m[:, ::-1], m[1], m[None], m.reshape([-1]), m.flatten()
        c[T([2, 0])], c[b], c.index_select(i - 1), paddle.gather(c, T([1]))
        paddle.masked_select(c, b), c.masked_fill(b, 1.0)
        paddle.concat([c, c[:1]]), paddle.stack([c, c]), paddle.tile(c, [2]), paddle.flip(m, 0), paddle.roll(c, 1)
        paddle.concat([c, w])
        paddle.concat([c, f])
        c.expand([2, 3]), paddle.broadcast_to(s, [2])
        c.unbind()
        paddle.tril(m), paddle.triu(m), paddle.diag(c), m.diagonal(), paddle.rot90(m)
        paddle.where(b, c, w), paddle.where(b, c, f), paddle.where(b, c, 1.0)
        c.nonzero(), T([0j, 1j]).nonzero(), paddle.count_nonzero(m)
        x = c.clone() ;; x[0] = 5 ;; x[1] = 2j ;; x[2] = f[1] ;; x
        x = m.clone() ;; x[b[:2]] = 7j ;; x[T([1]), T([0])] = 1.5 ;; x
        x = f.clone() ;; x[0] = c[0] ;; x
        x = c.clone() ;; x[:] = np.array([1j, 2.0, 3.0]) ;; x
        x = w.clone() ;; x[::2] = c[0] ;; x
        c.clone().fill_(2), c.clone().zero_()
        c.clone().fill_(1j)
        paddle.nn.functional.pad(c, [1, 1])
        """,
    ),
]

ARITHMETIC = [
    *lines(
        "complex arithmetic",
        SETUP,
        """
        c + 1, c - 1.5, 2 * c, c + (1+2j), 1j - c
        f + 1j, i * 1j, d - (1+2j)
        c + f, c + d, c * i, c - b, f.astype('float16') + c
        c + s, s + w, s + d[0], f + s, T(2.0, dtype='float64') + c
        c * c, m * m.T, c - w
        paddle.add(c, f), paddle.subtract(c, w), paddle.multiply(c, i)
        paddle.add(c, 1j)
        c == c, c != w, c == f, c == 1, f == 1j, c == T([1+2j])
        paddle.logical_and(c, c), paddle.logical_not(T([0j, 1j])), paddle.logical_xor(c, f)
        c.sum(), m.sum(0), m.sum([0, 1], keepdim=True), e.sum(), f.sum(dtype='complex64')
        m.mean(-1), m.prod(1), paddle.cumsum(m), paddle.cumsum(m, 1), paddle.cumprod(m, 1)
        m.any(0), m.all(1)
        m @ m + 0, m @ m[0], c @ c, m @ f[:2], d[:2] @ m, m.mm(m.T), paddle.matmul(m, m, transpose_x=True)
        paddle.dot(c, c), paddle.inner(c, c), paddle.outer(c, c), paddle.vecdot(c, c), paddle.trace(m)
        paddle.isnan(c), paddle.isinf(T([complex(inf, nan)])), paddle.isfinite(c)
        x = f.clone() ;; x.add_(c) ;; x
        x = c.clone() ;; x.multiply_(c) ;; x
        x = c.clone() ;; x.abs_().dtype
        c.add(T([1j, 2j]))
        m @ c
        m.sum(5)
        """,
    ),
    *lines(
        "complex functions",
        SETUP,
        """
        c / c, 1 / c, c / f, c / (1+1j), c.divide(w)
        paddle.sgn(c), paddle.sign(m)
        paddle.square(c), paddle.reciprocal(c[1:2])
        paddle.norm(c), paddle.norm(m, p=1), paddle.linalg.vector_norm(m, 3.0)
        """,
        NEAR,
    ),
    *defects(
        "complex arithmetic",
        "sign of zero",
        SETUP,
        """
        -c  =>  T([-1-2j, complex(0.0, 3), complex(-0.5, -0.0)])
        w.neg()  =>  T([-1-2j, complex(0.0, 3), complex(-0.5, -0.0)], dtype='complex128')
        """,
    ),
    *defects(
        "complex order",
        "order of complex numbers",
        SETUP,
        """
        c < c  =>  RuntimeError
        c >= 1  =>  RuntimeError
        c % c  =>  RuntimeError
        c.less_than(w)  =>  RuntimeError
        """,
    ),
    *defects("complex arithmetic", "complex division by zero", SETUP, "T([1+0j]) / 0  =>  T([complex(inf, nan)])"),
    *ours(
        "complex arithmetic",
        SETUP,
        """
        paddle.mv(m, m[0])  =>  m @ m[0]
        paddle.bmm(m[None], m[None]) + 0  =>  (m @ m + 0)[None]
        paddle.split(m, 2)[1]  =>  m[1:]
        c.repeat_interleave(2)  =>  c[T([0, 0, 1, 1, 2, 2])]
        paddle.equal_all(c, c)  =>  T(True)
        paddle.allclose(c, w.astype('complex64'))  =>  T(True)
        """,
    ),
    *lines(
        "eig",
        "x = T([[2.0, 0.0], [0.0, 4.0]])\nr = T([[0.0, 1.0], [-1.0, 0.0]])",
        """
        paddle.linalg.eig(x)
        x.eigvals()
        paddle.linalg.eigvals(r)
        paddle.linalg.eigvals(paddle.stack([x, r.T])[::1])
        paddle.linalg.eigvals(x.astype('float64'))
        paddle.linalg.eigvals(x.astype('complex64'))
        [t.shape for t in paddle.linalg.eig(paddle.zeros([0, 2, 2]))]
        paddle.linalg.eigvals(paddle.zeros([0, 0]))
        paddle.linalg.eigvals(paddle.zeros([2, 3]))
        paddle.linalg.eig(x[0])
        """,
        NEAR,
    ),
]

# Transforms of whole numbers of 1, 2, 3, 4 and 6 elements have parts of few terms; ours and Paddle's FFT are the same.
TRANSFORMS = [
    *(
        row
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
        for row in lines(
            name,
            FFT,
            f"""
            F.{name}(f)
            F.{name}(d)
            F.{name}(v, n=2)
            F.{name}(m.T, axis=0, norm='ortho')
            F.{name}(f, 4, -1, 'forward')
            F.{name}(input=m, dim=0)
            F.{name}(e)
            F.{name}(z)
            F.{name}(f, n=0)
            F.{name}(f, n=2.0)
            F.{name}(f, axis=1)
            F.{name}(f, norm='x')
            F.{name}([1.0])
            """,
            NEAR,
        )
    ),
    *lines("fft", FFT, "F.fft(i)\nF.fft(c)\nF.ifft(c.astype('complex128'))\nF.rfft(i)\nF.ihfft(i)", NEAR),
    *lines(
        "fft",
        FFT,
        "F.irfft(c)\nF.hfft(c)\nF.irfft(c[:1])\nF.ihfft(e[0, :0] if 0 else T([]))",
        NEAR,
    ),
    *(
        row
        for name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
        for row in lines(
            f"{name}n",
            FFT,
            f"""
            F.{name}n(m)
            F.{name}2(m.T)
            F.{name}n(m, s=[2])
            F.{name}n(d.reshape([2, 2]), axes=[0])
            F.{name}n(m, norm='ortho')
            F.{name}2(m, s=(2, 4), norm='forward')
            F.{name}2(m, axes=None)
            F.{name}n(m, axes=(1, 0))
            F.{name}2(f)
            F.{name}2(m, s=(3,))
            F.{name}2(m, axes=(0, 1, 0))
            F.{name}n(m, s=(3, 3, 3))
            F.{name}n(m, axes=(0, 2))
            F.{name}n(m, s=(2, 1), axes=(0,))
            F.{name}n(m, s=(2, -1))
            F.{name}n(m, axes=0)
            """,
            NEAR,
        )
    ),
    *defects(
        "fftn", "repeated axis", FFT, "F.fftn(m, axes=(0, 0))  =>  ValueError\nF.fftn(m, axes=())  =>  ValueError"
    ),
    *lines(
        "fftfreq",
        FFT,
        """
        F.fftfreq(5)
        F.fftfreq(4, 0.5)
        F.fftfreq(5, dtype='float64')
        F.fftfreq(-1)
        F.fftfreq(0)
        F.fftfreq(5, d=0)
        F.fftfreq(5, dtype='int32')
        F.fftfreq(5.5)
        """,
        NEAR,
    ),
    *lines(
        "rfftfreq",
        FFT,
        """
        F.rfftfreq(5)
        F.rfftfreq(4, 0.5)
        F.rfftfreq(1)
        F.rfftfreq(7, dtype='float64')
        F.rfftfreq(0)
        """,
        NEAR,
    ),
    *(
        row
        for name in ("fftshift", "ifftshift")
        for row in lines(
            name,
            FFT,
            f"""
            F.{name}(m)
            F.{name}(m.T, axes=[0, 1])
            F.{name}(paddle.arange(15).reshape([3, 5]))
            F.{name}(input=m, dim=[1, 0])
            F.{name}(m, axes=[3])
            """,
        )
    ),
    *defects(
        "fftshift",
        "shift of one axis",
        FFT,
        """
        F.fftshift(f)  =>  T([3.0, 4.0, 1.0, 2.0])
        F.fftshift(m, axes=0)  =>  m[::-1]
        F.ifftshift(T([1, 2, 3, 4, 5]))  =>  T([3, 4, 5, 1, 2])
        F.fftshift(T([1, 2, 3, 4, 5]), axes=-1)  =>  T([4, 5, 1, 2, 3])
        F.fftshift(z)  =>  T(1.0)
        F.fftshift(paddle.arange(3).reshape([1, 3]), axes=(-1, 0))  =>  T([[2, 0, 1]])
        """,
    ),
]

REFUSED = """
paddle.complex(i, i)
paddle.as_complex(i)
paddle.as_real(f)
paddle.real(f)
paddle.imag(i)
paddle.polar(c, f)
i.angle()
paddle.arange(3, dtype='complex64')
c.max()
c.sort()
c // c
~c
paddle.maximum(c, c)
c.floor()
paddle.clip(c, 0, 1)
paddle.logsumexp(c)
c.var()
paddle.linalg.eig(m.real().astype('int64'))
paddle.linalg.eigvals(m.real().astype('float16'))
paddle.fft.fft(b)
paddle.fft.fft(f.astype('float16'))
paddle.fft.rfft(c)
paddle.fft.irfft(f.astype('float16'))
paddle.fft.hfft(b)
paddle.fft.ihfft(c)
paddle.fft.fft2(m.real().astype('float16'))
paddle.fft.rfftn(m)
paddle.fft.fftfreq(5, dtype='complex64')
"""
REFUSALS = ours("complex", SETUP, "\n".join(f"{line}  =>  RuntimeError" for line in REFUSED.split("\n") if line))

ROWS = [*MADE, *DTYPES, *ARITHMETIC, *TRANSFORMS, *REFUSALS]
