"""Probes of numbers: long products, wide integers, NaN and infinity, small and half-precision numbers."""

from __future__ import annotations

import contextlib

import numpy as np

import paddle_mps as paddle

from .compare import Array, same, tensor, values

HALVES = ("float16", "bfloat16")
FAILURES = (ArithmeticError, RuntimeError)


def ternary(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Values of -1, 0 and 1, whose products add up exactly in every floating-point dtype."""
    return np.random.default_rng(seed).integers(-1, 2, shape).astype(np.float32)


def long_products(place: str) -> None:
    """Matrix products of many terms, with each operand transposed or not."""
    for k in (4099, 33003):
        x, y = ternary((17, k), 1), ternary((k, 19), 2)
        want = x @ y
        a, b = tensor(x, place), tensor(y, place)
        c, d = tensor(x.T.copy(), place), tensor(y.T.copy(), place)
        same(a @ b, want, f"17 x {k} x 19")
        same(paddle.matmul(c, d, transpose_x=True, transpose_y=True), want, f"17 x {k} x 19, both transposed")


def products_of_views(place: str) -> None:
    """Matrix products of operands that are views: steps, transposes and offsets."""
    x, y = ternary((40, 66), 3), ternary((67, 30), 4)
    a, b = tensor(x, place), tensor(y, place)
    same(a[::2, :33] @ b[1::2], x[::2, :33] @ y[1::2], "every second row")
    same(b[:66].T @ a.T, y[:66].T @ x.T, "transposed views")
    same(a[1:, 1:] @ b[2:, 3:], x[1:, 1:] @ y[2:, 3:], "views with an offset")


def products_of_batches(place: str) -> None:
    """Batched matrix products with broadcasting, and products of vectors."""
    x, y = ternary((3, 1, 5, 70), 5), ternary((4, 70, 6), 6)
    a, b = tensor(x, place), tensor(y, place)
    same(paddle.matmul(a, b), np.matmul(x, y), "[3, 1, 5, 70] x [4, 70, 6]")
    same(paddle.matmul(a, b[0, :, 0]), np.matmul(x, y[0, :, 0]), "matrices by a vector")
    same(paddle.matmul(a[0, 0, 0], b[0]), np.matmul(x[0, 0, 0], y[0]), "a vector by a matrix")


def products_in_half_precision(place: str) -> None:
    """Matrix products of float16 and bfloat16 with sums that both can hold."""
    x, y = ternary((33, 200), 7), ternary((200, 35), 8)
    for dtype in HALVES:
        same(tensor(x, place, dtype) @ tensor(y, place, dtype), x @ y, dtype)


WIDE = np.array([2**31, 2**32 + 1, -(2**33) - 7, 2**53 + 1, -(2**62) + 3, 2**62 - 1, 5, -1], np.int64)


def wide_integers(place: str) -> None:
    """Arithmetic of int64 beyond 32 bits and beyond the 53 bits of a float64."""
    x, y = tensor(WIDE, place), tensor(WIDE[::-1].copy(), place)
    same(x + 1, WIDE + 1, "+ 1")
    same(x - y, WIDE - WIDE[::-1], "-")
    same(x * 3, WIDE * 3, "* 3")
    same(x // 7, WIDE // 7, "// 7")
    same(x % 1000003, WIDE % 1000003, "% 1000003")
    same(x > y, WIDE[::-1] < WIDE, ">")
    same(paddle.maximum(x, y), np.maximum(WIDE, WIDE[::-1]), "maximum")


def reductions_of_wide_integers(place: str) -> None:
    """Sums, extremes and positions of int64 beyond 32 bits, also along an axis of a view."""
    x = tensor(WIDE, place)
    same(x.sum(), WIDE.sum(), "sum")
    same(x.max(), WIDE.max(), "max")
    same(x.min(), WIDE.min(), "min")
    same(x.argmax(), WIDE.argmax(), "argmax")
    square = WIDE.reshape(2, 4)
    same(x.reshape([2, 4])[:, 1:].sum(axis=1), square[:, 1:].sum(axis=1), "sum of a view")
    same(x.reshape([2, 4]).T.max(axis=0), square.T.max(axis=0), "max of a transpose")


def narrow_integers(place: str) -> None:
    """Integers of 8 and 16 bits wrap around and do not saturate."""
    for dtype in (np.uint8, np.int8, np.int16):
        limits = np.iinfo(dtype)
        x: Array = np.array([limits.min, limits.max, 1, 100], dtype)
        same(tensor(x, place) + tensor(x, place), x + x, f"{dtype.__name__} +")
        same(tensor(x, place) * tensor(x, place), x * x, f"{dtype.__name__} *")
    many = np.full(2000, 200, np.uint8)
    same(tensor(many, place).astype("int64").sum(), many.sum(dtype=np.int64), "sum of uint8")


ODD = np.array([1.0, np.nan, -2.0, np.inf, -np.inf, 0.0, -0.0, 3.0], np.float32)


def missing_values(place: str) -> None:
    """NaN goes through what computes with it, and is chosen like any other value."""
    for dtype in ("float32", *HALVES):
        x, y = tensor(ODD, place, dtype), tensor(ODD[::-1].copy(), place, dtype)
        same(paddle.maximum(x, y), np.maximum(ODD, ODD[::-1]), f"maximum of {dtype}")
        same(paddle.minimum(x, y), np.minimum(ODD, ODD[::-1]), f"minimum of {dtype}")
        same(x.max(), np.nan, f"max of {dtype}")
        same(x.sum(), np.nan, f"sum of {dtype}")
        same(paddle.where(y > 0, x, y), np.where(ODD[::-1] > 0, ODD, ODD[::-1]), f"where of {dtype}")
        same(paddle.where(x == x, y, x), np.where(ODD == ODD, ODD[::-1], ODD), f"where of {dtype}, NaN chosen")
        same(x < y, ODD[::-1] > ODD, f"< of {dtype}")
        same(x != y, ODD[::-1] != ODD, f"!= of {dtype}")


def tests_for_special_values(place: str) -> None:
    """isnan, isinf and isfinite, of whole tensors and of views that begin or step in odd places."""
    x = np.tile(ODD, 9)
    for dtype in ("float32", *HALVES):
        t = tensor(x, place, dtype)
        for ours, theirs in ((paddle.isnan, np.isnan), (paddle.isinf, np.isinf), (paddle.isfinite, np.isfinite)):
            name = f"{theirs.__name__} of {dtype}"
            same(ours(t), theirs(x), name)
            same(ours(t[1:]), theirs(x[1:]), f"{name} from the second element on")
            same(ours(t[1::3]), theirs(x[1::3]), f"{name} of every third")
            same(ours(t.reshape([8, 9]).T[:, 1:]), theirs(x.reshape(8, 9).T[:, 1:]), f"{name} of a transpose")


def ends_of_functions(place: str) -> None:
    """Logarithms of 0, roots of negative numbers, overflow, and infinity less infinity."""
    for dtype in ("float32", *HALVES):
        x = tensor([0.0, -1.0, np.inf, -np.inf, np.nan], place, dtype)
        same(paddle.log(x), [-np.inf, np.nan, np.inf, np.nan, np.nan], f"log of {dtype}")
        same(paddle.sqrt(x), [0.0, np.nan, np.inf, np.nan, np.nan], f"sqrt of {dtype}")
        same(paddle.exp(x)[2:], [np.inf, 0.0, np.nan], f"exp of {dtype}")
        same(x - x, [0.0, 0.0, np.nan, np.nan, np.nan], f"x - x of {dtype}")
        same(1 / x, [np.inf, -1.0, 0.0, -0.0, np.nan], f"1 / x of {dtype}")
        same(paddle.exp(tensor([1e4], place, dtype)), [np.inf], f"exp(10000) of {dtype}")
        same(paddle.tanh(x)[2:], [1.0, -1.0, np.nan], f"tanh of {dtype}")


def small_numbers(place: str) -> None:
    """Powers of two down to the smallest normal float32 are computed with exactly."""
    x = np.ldexp(np.float32(1), np.arange(-126, -90)).astype(np.float32)
    t = tensor(x, place)
    same(t + t, x + x, "x + x")
    same(t * 1.5, x * np.float32(1.5), "x * 1.5")
    same(t * 2.0**100, x * np.float32(2.0**100), "x * 2**100")
    same(t.max(), x.max(), "max")
    same(t > 0, x > 0, "> 0")


def copies_of_every_half(place: str) -> None:
    """All 65,536 patterns of float16 and bfloat16 survive a copy, and the way to float32 and back."""
    for dtype in HALVES:
        bits = np.arange(1 << 16, dtype=np.uint32)
        wide = (
            bits.astype(np.uint16).view(np.float16).astype(np.float32)
            if dtype == "float16"
            else (bits << 16).view(np.float32)
        )
        ordinary = wide[np.isnan(wide) | (np.abs(wide) >= 2.0**-126)]  # float32 may lose what is smaller
        t = tensor(ordinary, place).astype(dtype)
        same(t, ordinary, f"{dtype} from float32")
        same(t.astype("float32").astype(dtype), ordinary, f"{dtype} to float32 and back")


def rounding_to_half_precision(place: str) -> None:
    """What lies between two numbers goes to the nearer, and from the middle to the even one."""
    for dtype, bits in (("float16", 11), ("bfloat16", 8)):
        step = 2.0 ** (1 - bits)
        x = np.array([1 + k * step / 4 for k in range(17)], np.float32)
        want = np.array([1 + np.rint(k / 4) * step for k in range(17)], np.float32)
        same(tensor(x, place).astype(dtype), want, dtype)
        same(tensor(-x, place).astype(dtype), -want, dtype)


def division_by_zero(place: str) -> None:
    """An integer divided by zero is an error, once, and the device goes on."""
    x = tensor([7, 8], place)
    raised = False
    try:
        values(x // tensor([1, 0], place))
    except FAILURES:
        raised = True
    assert raised, "7, 8 // 1, 0 gives no error"
    with contextlib.suppress(*FAILURES):  # waiting for the device reports it once more
        paddle.device.synchronize(place)
    same(x // 2, [3, 4], "afterwards, // 2")


PROBES = [
    long_products, products_of_views, products_of_batches, products_in_half_precision, wide_integers,
    reductions_of_wide_integers, narrow_integers, missing_values, tests_for_special_values, ends_of_functions,
    small_numbers, copies_of_every_half, rounding_to_half_precision, division_by_zero,
]  # fmt: skip
