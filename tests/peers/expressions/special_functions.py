"""Special functions: those of the gamma function's family, erfinv and modified Bessel functions."""

from __future__ import annotations

from collections.abc import Iterator

from match import Steps, Ulps

from .row import NO_KERNEL, Row, defects, lines

# function: six inputs inside the domain that Paddle was measured on.
FLOATS = {
    "lgamma": "2.5, 3.25, 10.0, 4.0, 47.75, 9.125",
    "digamma": "2.5, 3.25, 10.0, 4.0, 47.75, 9.125",
    "erfinv": "0.5, 0.25, 0.75, 0.9375, 0.984375, 0.375",
    "i0": "0.5, -2.25, 7.875, 8.25, -40.5, 0.0",
    "i0e": "0.5, -2.25, 7.875, 8.25, -40.5, 0.0",
    "i1": "0.5, -2.25, 7.875, 8.25, -40.5, 0.0",
    "i1e": "0.5, -2.25, 7.875, 8.25, -40.5, 0.0",
}
INTEGERS = {"erfinv": "1, 0, -1"}  # of the others "3, 7, 12"


def of_function(name: str, values: str) -> Iterator[Row]:
    call, near = f"paddle.{name}", Ulps(name)
    whole = INTEGERS.get(name, "3, 7, 12")
    yield from lines(
        name,
        "",
        f"""
        {call}(T([{values}]))
        T([{values}]).reshape([2, 3]).T.{name}()
        {call}(T([{values}], 'float64')[::-1])
        {call}(T([{values}])[1])
        {call}(T([]).reshape([0, 3]))
        {call}(T([{whole}]))
        {call}(T([{whole}], 'int32').expand([2, 3]))
        {call}(T([{whole}], 'int8'))
        {call}(T([{whole}], 'int16')[::2])
        {call}(T([nan]))
        """,
        near,
    )
    yield from lines(name, "", f"{call}([1.0])\n{call}(2.0)\n{call}(T([1.0]), 1, 2, 3)")
    yield Row(name, f"{call}(T([True]))", rule=NO_KERNEL, instead="fail(RuntimeError)")
    for dtype in ("float16", "bfloat16"):
        small = f"T([{values}], {dtype!r})"
        wide = f"{call}({small}.astype('float32')).astype({dtype!r})"
        yield Row(name, f"{call}({small})", near, NO_KERNEL, wide)


def in_place(name: str, values: str) -> Iterator[Row]:
    yield from lines(
        name,
        "",
        f"""
        x = T([{values}]) ;; (x.{name}_() is x, x)
        x = T([{values}], 'float64') ;; x[::2].{name}_() ;; x.shape
        """,
        Ulps(name),
    )


VALUES = [
    *(row for name, values in FLOATS.items() for row in of_function(name, values)),
    *(row for name in ("lgamma", "digamma", "erfinv", "i0") for row in in_place(name, FLOATS[name])),
    *lines("lgamma", "", "x = T([2.5, 9.5]) ;; paddle.lgamma_(x) ;; x", Ulps("lgamma")),
    *lines(
        "lgamma",
        "",
        """
        paddle.gammaln(T([2.5, 9.5, 40.0]))
        T([2.5, 9.5], 'float64').gammaln()
        x = T([2.5, 9.5]) ;; (paddle.gammaln_(x), x)
        x = T([2.5, 9.5]) ;; (x.gammaln_(), x)
        paddle.gammaln(T([]))
        """,
        Ulps("lgamma"),
    ),
    *lines("lgamma", "", "paddle.gammaln(3.0)\npaddle.gammaln('a')"),
    *lines("digamma", "", "x = T([2.5, 9.5]) ;; paddle.digamma_(x) ;; x", Ulps("digamma")),
    *lines("i0", "", "x = T([2.5, -9.5]) ;; paddle.i0_(x) ;; x", Ulps("i0")),
]

# At poles, infinities and far out; below 0 next to halves, where no digits cancel.
EDGES = [
    *lines("lgamma", "", "paddle.lgamma(T([inf, -inf, 0.0, -0.0, -1.0, -2.0, 1.0, 2.0, -1e30]))"),
    *lines("lgamma", "", "paddle.lgamma(T([1e30, 1e-30, 1e-40, -100.5]))", Ulps("lgamma")),
    *lines("lgamma", "", "paddle.lgamma(T([1e300, 1e-300, -100.5, -0.5, 3e-310], 'float64'))", Ulps("lgamma")),
    *lines("digamma", "", "paddle.digamma(T([inf, -inf, 0.0, -0.0, -1.0, -2.0, -1e30]))"),
    *lines("digamma", "", "paddle.digamma(T([1e30, 1e-30, -100.5, 0.5]))", Ulps("digamma")),
    *lines("digamma", "", "paddle.digamma(T([1e300, 1e-300, -100.5], 'float64'))", Ulps("digamma")),
    *lines("erfinv", "", "paddle.erfinv(T([1.0, -1.0, 0.0]))\npaddle.erfinv(T([1.0, -1.0, 0.0], 'float64'))"),
    *lines("i0", "", "paddle.i0(T([1e30, -1e30, 100.0]))"),
    *lines("i0", "", "paddle.i0(T([700.0, -600.0, 0.0, 1e-300], 'float64'))", Ulps("i0")),
    *lines("i0e", "", "paddle.i0e(T([inf, -inf, 1e30, -1e30]))", Ulps("i0e")),
    *lines("i0e", "", "paddle.i0e(T([1e300, 1e-300], 'float64'))", Ulps("i0e")),
    *lines("i1", "", "paddle.i1(T([1e30, -1e30, 0.0]))"),
    *lines("i1", "", "paddle.i1(T([700.0, -600.0, 1e-300], 'float64'))", Ulps("i1")),
    *lines("i1e", "", "paddle.i1e(T([inf, -inf, 1e30, -1e30, 0.0, 1e-30]))", Ulps("i1e")),
]

DIFFERENT = [
    *defects(
        "erfinv",
        "inverse outside",
        "",
        """
        paddle.erfinv(T([1.5, -2.0, inf]))  =>  T([nan, nan, nan])
        paddle.erfinv(T([2, -3]))  =>  T([nan, nan])
        paddle.erfinv(T([1e-30]))  =>  T([8.862269e-31])
        """,
        Ulps("erfinv"),
    ),
    *defects("erfinv", "sign of zero", "", "paddle.erfinv(T([-0.0]))  =>  T([-0.0])"),
    *defects("i1", "sign of zero", "", "paddle.i1(T([-0.0]))  =>  T([-0.0])\npaddle.i1e(T([-0.0]))  =>  T([-0.0])"),
    *defects(
        "i1",
        "Bessel of infinity",
        "",
        "paddle.i0(T([inf, -inf]))  =>  T([inf, inf])\npaddle.i1(T([inf, -inf]))  =>  T([inf, -inf])",
    ),
]

# What Paddle's answers are off: its polygamma is Cephes' zeta in float32, times a factorial by exp and lgamma (24 roundings); its
# sums of lgamma have p + 2 terms; its gammaincc is off by the rounding of an exponent, and its gammainc is 1 - gammaincc.
COMPUTED = [
    *lines(
        "digamma",
        "",
        """
        paddle.polygamma(T([2.5, 0.5, 10.0, 40.0]), 1)
        paddle.polygamma(T([2.5, 0.5, 10.0, 40.0], 'float64'), 2)
        T([[2.5, 0.5], [3.0, 4.0]]).T.polygamma(3)
        paddle.polygamma(T([3, 7, 12]), 1)
        paddle.polygamma(T([3, 7], 'int8'), 2)
        paddle.polygamma(T(2.5), 1)
        paddle.polygamma(T([]).reshape([0, 3]), 1)
        paddle.polygamma(T([0.0, -1.0, -2.0, nan]), 1)
        paddle.polygamma(T([0.0, -1.0, -2.0, nan]), 2)
        x = T([2.5, 0.5]) ;; (x.polygamma_(1) is x, x)
        x = T([2.5, 0.5]) ;; (paddle.polygamma_(x, 2), x)
        """,
        Steps(24),
    ),
    *lines("digamma", "", "paddle.polygamma(T([2.5, 9.5]), 0)\npaddle.polygamma(T([2, 9]), n=0)", Ulps("digamma")),
    *lines(
        "digamma",
        "",
        """
        paddle.polygamma(T([2.5]), -1)
        paddle.polygamma(T([2.5]), 1.0)
        paddle.polygamma(T([2.5]), True)
        paddle.polygamma([2.5], 1)
        """,
    ),
    *lines(
        "lgamma",
        "",
        """
        paddle.multigammaln(T([4.5, 10.0, 40.0]), 2)
        paddle.multigammaln(T([4.5, 10.0, 40.0], 'float64')[::-1], 3)
        T([[4.5, 10.0]]).T.multigammaln(1)
        paddle.multigammaln(T(5.0), 2)
        paddle.multigammaln(T([]), 2)
        paddle.multigammaln(T([inf, 0.0, -1.0, nan]), 2)
        x = T([4.5, 5.0]) ;; (x.multigammaln_(2), x)
        x = T([4.5, 5.0]) ;; (paddle.multigammaln_(x, 3), x)
        paddle.multigammaln(T([4.5]), 0)
        paddle.multigammaln([4.5], 2)
        """,
        Steps(12),
    ),
    *lines(
        "lgamma",
        "",
        """
        paddle.gammaincc(T([0.5, 2.0, 5.0, 10.0]), T([0.25, 3.0, 2.5, 12.0]))
        paddle.gammaincc(T([0.5, 2.0, 5.0, 10.0], 'float64'), T([0.25, 3.0, 2.5, 12.0], 'float64'))
        paddle.gammaincc(T(2.0), T(3.0))
        paddle.gammaincc(T([]), T([]))
        paddle.gammaincc(T([0.0, 1.0, 0.0]), T([1.0, 0.0, 0.0]))
        x = T([1.0, 2.0]) ;; (x.gammaincc_(T([1.0, 2.0])), x)
        paddle.gammainc(T([0.5, 2.0, 5.0, 10.0]), T([0.75, 3.0, 6.5, 12.0]))
        paddle.gammainc(T([0.5, 2.0, 5.0, 10.0], 'float64'), T([0.75, 3.0, 6.5, 12.0], 'float64'))
        paddle.gammainc(T([0.0, 1.0, 0.0]), T([1.0, 0.0, 0.0]))
        x = T([1.0, 2.0]) ;; (x.gammainc_(T([1.0, 2.0])), x)
        """,
        Steps(48),
    ),
    *lines(
        "lgamma",
        "",
        """
        paddle.gammainc(T([-1.0]), T([1.0]))
        paddle.gammaincc(T([1.0]), T([nan]))
        paddle.gammainc(T([1.0, 2.0]), T([1.0, 2.0, 3.0]))
        paddle.gammaincc(T([1.0]), 2.0)
        paddle.gammaincc(T([1.0]), T([2.0], 'float64'))
        """,
    ),
    *defects(
        "lgamma",
        "incomplete gamma",
        "",
        """
        T([[1.0], [2.0]]).gammaincc(T([3.0, 4.0]))  =>  paddle.gammaincc(T([[1.0, 1.0], [2.0, 2.0]]), T([[3.0, 4.0], [3.0, 4.0]]))
        paddle.gammainc(T([1.0, 2.0]), T(3.0))  =>  paddle.gammainc(T([1.0, 2.0]), T([3.0, 3.0]))
        paddle.gammaincc(T([1.0]), T([inf]))  =>  T([0.0])
        """,
        Steps(48),
    ),
    *defects("digamma", "polygamma of infinity", "", "paddle.polygamma(T([inf]), 1)  =>  T([0.0])"),
    Row("lgamma", "paddle.gammaincc(T([1]), T([2]))", rule=NO_KERNEL, instead="fail(RuntimeError)"),
    *lines(
        "expm1",
        "",
        """
        paddle.special.softmax(T([[1.0, 2.0], [3.0, 5.0]]))
        paddle.special.logsumexp(T([[1.0, 2.0], [3.0, 5.0]]), axis=1)
        """,
        Steps(12),
    ),
    *lines("expm1", "", "paddle.special.expm1(T([0.5, -2.25]))", Ulps("expm1")),
]

ROWS = [*VALUES, *EDGES, *DIFFERENT, *COMPUTED]
