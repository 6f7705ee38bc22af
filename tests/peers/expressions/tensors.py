"""The tensor itself: attributes, conversions, methods, in-place forms, promotion, and how it prints."""

from __future__ import annotations

from collections.abc import Iterator

from match import Ulps

from .row import NO_KERNEL, Row, defects, lines

SETUP = "x = paddle.arange(6.0).reshape([2, 3])\nv = paddle.arange(3)\ns = T([5.0])\nz = T(3.75)\nn = T(3)"

ATTRIBUTES = [
    *lines(
        "attributes",
        SETUP,
        """
        list(x.shape)
        x.shape == [2, 3]
        x.ndim
        x.dim()
        x.size
        int(x.size)
        x.strides
        x.T.strides
        x.numel()
        paddle.numel(x.T)
        paddle.rank(x)
        paddle.shape(x)
        x.dtype
        str(x.dtype)
        str(x.place)
        x.place == paddle.CPUPlace()
        x.stop_gradient
        x.element_size()
        x.is_contiguous()
        z.shape == []
        x == None
        paddle.is_tensor(x)
        paddle.is_tensor(np.ones(1))
        isinstance(x, paddle.Tensor)
        len({x, x, x.clone()})
        x.foo
        paddle.get_device()
        str(paddle.set_device('cpu'))
        paddle.set_device('foo')
        str(paddle.CPUPlace())
        """,
    ),
    *defects(
        "attributes",
        "dtype name",
        SETUP,
        """
        x.dtype == 'float32'  =>  True
        paddle.int8 in ('int8',)  =>  True
        """,
    ),
]

CONVERSIONS = [
    *lines(
        "item",
        SETUP,
        """
        z.item()
        n.item()
        T(True).item()
        s.item()
        v.item(1)
        x.item(1, 2)
        x[::-1].item(0)
        T(0.1).item()
        T([0.1], 'float16').item()
        T(0.1, 'bfloat16').item()
        v.item()
        x.item(6)
        x.item(0, 0, 0)
        paddle.zeros([0]).item()
        """,
    ),
    *lines(
        "tolist",
        SETUP,
        """
        z.tolist()
        x.tolist()
        x.T.tolist()
        v[::-1].tolist()
        T([True]).tolist()
        paddle.zeros([2, 0]).tolist()
        T([0.1, nan], 'float16').tolist()
        """,
    ),
    *defects("item", "item of a view", SETUP, "x.T.item(4)  =>  x.T.contiguous().item(4)"),
    *defects("tolist", "raw bfloat16", "", "T([0.5, 1.5], 'bfloat16').tolist()  =>  [0.5, 1.5]"),
    *lines(
        "conversion",
        SETUP,
        """
        int(z)
        int(T(-3.75))
        float(n)
        bool(z)
        bool(s)
        bool(T([0]))
        complex(z) == 3.75
        [10, 20, 30, 40][n]
        list(range(n))
        f'{T(1.5):.2f}'
        '%d' % n
        max(T([1.0, 3.0, 2.0]))
        sorted(T([3.0, 1.0, 2.0]))[0]
        x.numpy()
        x.T.numpy()
        T(1.5).numpy()
        T([0.1], 'float16').numpy()
        T([0.1], 'bfloat16').numpy()
        np.asarray(v)
        np.array(v, dtype='float32')
        x.__array__(np.float64)
        x.astype('float')
        x.astype('int')
        x.astype(bool)
        x.astype(np.float16)
        x.T.astype(paddle.int8)
        x.to('float64')
        x.to('cpu', 'int32')
        x.to(dtype='int32')
        x.to(v)
        x.cpu()
        x.clone()
        x.T.contiguous().strides
        int(s)
        int(v)
        int(T(nan))
        int(T(inf))
        float(v)
        bool(v)
        bool(paddle.zeros([0]))
        [10, 20][s]
        x.astype('foo')
        x.astype()
        x.to('foo')
        x.to()
        np.sin(s)
        np.add(v, v)
        """,
    ),
]

VEC = "s = T([1.0, 2.0])\nl = T([1, 2])\nn = T([1, 2], 'int32')\nb = T([True, False])\nh = T([1.0, 2.0], 'float16')"

PROMOTION = [
    *lines(
        "promotion",
        VEC,
        """
        l + 1.5
        n + 1.5
        b + 1
        b + 1.0
        b + True
        b + b[::-1]
        l + True
        b * 2
        1 - b
        h + 1.5
        T([1.0], 'bfloat16') + 1
        s + T([1.0, 2.0], 'float64')
        s + T(1.0, 'float64')
        T(1.0, 'float64') + s
        n + T(1)
        l + T(1.5)
        l + T(1.5, 'float64')
        T([1], 'uint8') + T(300)
        T([100, -100], 'int8') + 1000
        T([1], 'uint8') + (-1)
        T(True) + T(1.5)
        T(1, 'uint8') + T(1, 'int8')
        T(1, 'int32') + T(1)
        T(2.0) + T(3)
        h + s
        h + T([1.0, 2.0], 'bfloat16')
        h == s
        l / l
        n / 2
        l / T(2.0, 'float64')
        T([7], 'uint8') // T(2)
        T([7.0]) // T(2.0, 'float64')
        n ** 2
        l ** 2.5
        l ** T(2.5)
        n % T(2)
        paddle.add(s, T(2))
        paddle.floor_divide(n, 2.5)
        paddle.maximum(s, T(1.5, 'float64'))
        paddle.maximum(h, s)
        l < T(1.5)
        n == T(1)
        s * np.float64(0.5)
        np.float64(2.5) * l
        np.ones(2) + s
        s + np.ones(2, 'float32')
        s + np.ones(2)
        s[::-1] + 1e300
        l + s
        s + l
        n + l
        b + l
        T([1], 'uint8') + T([1], 'int8')
        s == l
        b == l
        n < l
        s + T([1])
        paddle.maximum(l, T(1, 'int32'))
        paddle.maximum(l, T(1.5))
        paddle.maximum(s, 1.0)
        paddle.pow(s, l)
        s + None
        s + [1.0, 2.0]
        s + np.ones(2, 'int64')
        """,
    ),
]


WIDE = defects("promotion", "wide scalar", VEC, "n + 2**40  =>  n")


def half_mixes() -> Iterator[Row]:
    """A half-precision vector beside what gives way to it."""
    h = "T([1.5, 2.5], {0!r})"
    for dtype in ("float16", "bfloat16"):
        operand = h.format(dtype)
        for other in ("T(2.0)", "T(2)", "T(True)", "T(2.0, 'float64')"):
            yield Row(
                "promotion",
                f"{operand} + {other}",
                rule=NO_KERNEL,
                instead=f"({operand}.astype('float32') + {other}.astype('float32')).astype({dtype!r})",
            )


INPLACE = [
    *lines(
        "in place",
        VEC,
        """
        y = s.clone() ;; r = y.add_(T([1.0, 1.0])) ;; [y, r is y]
        y = paddle.arange(12.0).reshape([3, 4]) ;; y.T.add_(T([1.0, 2.0, 3.0])) ;; y
        y = paddle.arange(12.0).reshape([3, 4]) ;; y[::2].add_(T(10.0)) ;; y
        y = s.clone() ;; y.subtract_(s[::-1]) ;; y
        y = s.clone() ;; y.multiply_(s) ;; y
        y = s.clone() ;; y.divide_(T([2.0, 2.0])) ;; y
        y = l.clone() ;; y.divide_(l) ;; y
        y = T([7, 8]) ;; y.floor_divide_(T([2, 3])) ;; y
        y = T([7, 8]) ;; y.remainder_(T([2, 3])) ;; y
        y = s.clone() ;; y.pow_(2) ;; y
        y = s.clone() ;; y.abs_() ;; y
        y = s.clone() ;; y.neg_() ;; y
        y = s.clone() ;; y.square_() ;; y
        y = T([1.5, -1.5])[::-1] ;; y.floor_() ;; y
        y = T([1.5]) ;; y.ceil_() ;; y
        y = T([1.5]) ;; y.round_() ;; y
        y = T([1.5]) ;; y.trunc_() ;; y
        y = T([-1.0, 5.0]) ;; y.clip_(0, 1) ;; y
        y = T([-1.0, 1.0]) ;; F.relu_(y) ;; y
        y = s.clone() ;; y.zero_() ;; y
        y = s.clone() ;; y.fill_(2.5) ;; y
        y = l.clone() ;; y.fill_(3.75) ;; y
        y = b.clone() ;; y.logical_not_() ;; y
        y = s.clone() ;; y.equal_(T([1.0, 3.0])) ;; y
        y = s.clone() ;; y.cast_('int32') ;; y
        y = paddle.arange(6) ;; r = y.reshape_([2, 3]) ;; [y, r is y]
        y = paddle.arange(6).reshape([1, 6]) ;; y.squeeze_() ;; y.shape == [6]
        y = l.clone() ;; y.unsqueeze_(0) ;; y
        y = s.clone() ;; y.uniform_(min=2, max=3) ;; bool((y >= 2).all())
        y = s.clone() ;; y.normal_(mean=1.0, std=0.0) ;; y
        y = s.clone() ;; y.set_value(np.array([5.0, 6.0], 'float32')) ;; y
        y = paddle.arange(5.0) ;; y[1:].add_(y[:-1]) ;; y
        y = paddle.arange(9.0).reshape([3, 3]) ;; y.add_(y.T) ;; y
        y = s ;; y += 1 ;; [y, s, y is s]
        y = T([7, 8]) ;; y //= 2 ;; y
        y = l.clone() ;; y.add_(s) ;; y
        y = l.clone() ;; y.add_(n) ;; y
        y = s.clone() ;; y.add_(T([[1.0], [2.0]])) ;; y
        """,
    ),
    *lines(
        "in place",
        VEC,
        "y = s.clone() ;; y.exp_() ;; y\ny = l.clone() ;; y.exp_() ;; y",
        Ulps("exp"),
    ),
    *lines("in place", VEC, "y = T([4.0, 2.0])[::-1] ;; y.sqrt_() ;; y", Ulps("sqrt")),
]

PRINTED = """
T(1)
T(1.5)
T(True)
T(nan)
T(-inf)
T(1e10)
T(-0.0)
T([])
paddle.zeros([3, 0])
paddle.zeros([2, 0, 3], 'bool')
T([[True, False], [False, True]])
T([1, -2, 300])
T([1.0, 2.0, 3.0])
T([1.5, 2.0, -3.0])
T([0.1, 0.2])
T([1.5, 1e8])
T([1e-5, -1e5])
T([1e-45, 3.4e38])
T([nan, 1.5, -inf])
T([inf, 1.0])
T([[1.5, -2.0], [300.25, 4.0]])
T([[1, 2], [3, 4]]).T
paddle.zeros([2, 2, 2, 2], 'int32')
T([0.1, 65504.0], 'float16')
T([0.1, 0.2], 'bfloat16')
T([1 / 3, 1.0], 'float64')
T([-128, 127], 'int8')[::-1]
T([2**63 - 1, -2**63])
paddle.arange(30.0)
paddle.arange(40.0).reshape([2, 20]).T[::-1][:3]
paddle.arange(1001)
paddle.arange(2000.0).reshape([2, 1000])
paddle.arange(3000.0).reshape([3000, 1]) * 0.5
paddle.arange(2000) - 1000
paddle.arange(1200).reshape([4, 3, 100])
T([1]).expand([3])
"""

OPTIONS = """
precision=4 | T([1 / 3, 2.0])
precision=0 | T([1.25, 2.0])
sci_mode=True | T([-1.5, 1e20, nan])
sci_mode=True, precision=3 | T(1.5)
threshold=5 | paddle.arange(64).reshape([8, 8])
threshold=5, edgeitems=1 | paddle.arange(27.0).reshape([3, 3, 3])
linewidth=40 | paddle.arange(12.0) / 8
"""
USUAL = "precision=8, threshold=1000, edgeitems=3, linewidth=80, sci_mode=False"


def printed() -> Iterator[Row]:
    for source in filter(None, PRINTED.splitlines()):
        yield Row("repr", f"str({source})")
    for line in filter(None, OPTIONS.splitlines()):
        options, _, source = line.partition(" | ")
        yield Row(
            "repr",
            f"paddle.set_printoptions({options})\ntext = repr({source})\npaddle.set_printoptions({USUAL})\ntext",
        )


NO_GRAD = lines(
    "no_grad",
    "",
    """
    with paddle.no_grad(): y = T([1.0]) * 2 ;; y.stop_gradient
    paddle.no_grad()(lambda: 3)()
    y = T([1.0]) ;; y.stop_gradient = True ;; y.stop_gradient
    """,
)

ROWS = [*ATTRIBUTES, *CONVERSIONS, *PROMOTION, *WIDE, *half_mixes(), *INPLACE, *printed(), *NO_GRAD]
