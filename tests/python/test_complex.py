"""Complex tensors against NumPy: what they are made of, moved by and computed with, and what refuses them."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any, Callable

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps._calls import _complex

T = paddle.to_tensor
DTYPES = ["complex64", "complex128"]
RNG = np.random.default_rng(7)
SHAPES: list[tuple[int, ...]] = [(), (0,), (3, 0, 2), (5,), (4, 6), (2, 3, 5), (33, 35)]
EPS = {"complex64": 2.0**-23, "complex128": 2.0**-52}


def values(shape: tuple[int, ...], dtype: str = "complex64") -> np.ndarray[Any, Any]:
    return np.asarray(RNG.normal(size=shape) + 1j * RNG.normal(size=shape), dtype)


def same(got: paddle.Tensor, want: Any) -> None:
    """Equal to the bit, in dtype and shape."""
    array = got.numpy()
    assert array.dtype == np.asarray(want).dtype
    np.testing.assert_array_equal(array, want)
    assert array.shape == np.shape(want)


def near(got: paddle.Tensor, want: Any, roundings: int) -> None:
    """Within some roundings of the largest element, in the dtype of the result; bools are equal.

    Elements are of magnitude 1: a product has 4 roundings, a quotient twice as many, a function up to 16 (it may be
    composed of an exponential, a sine and a cosine), and a sum or product of n elements n times as many, which 64 is
    for those here.
    """
    array, exact = got.numpy(), np.asarray(want)
    if exact.dtype == bool:
        return same(got, want)
    assert array.shape == exact.shape
    eps = 2.0**-23 if array.dtype in (np.complex64, np.float32) else 2.0**-52
    if exact.size:
        assert np.abs(array - exact).max() <= roundings * eps * np.abs(exact).max()


def views(x: np.ndarray[Any, Any]) -> list[tuple[paddle.Tensor, np.ndarray[Any, Any]]]:
    """A matrix in several layouts."""
    t = T(x)
    return [(t, x), (t.T, x.T), (t[1:, ::-2], x[1:, ::-2]), (t[:, 1], x[:, 1]), (t[2], x[2]), (t[1, 1], x[1, 1])]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_arrays_there_and_back(shape: tuple[int, ...], dtype: str) -> None:
    x = values(shape, dtype)
    t = T(x)
    assert t.dtype == dtype and t.is_complex() and not t.is_floating_point() and t.element_size() == x.itemsize
    same(t, x)
    same(paddle.from_dlpack(x), x)
    np.testing.assert_array_equal(np.from_dlpack(t), x)
    assert t.tolist() == x.tolist()
    same(pickle.loads(pickle.dumps(t)), x)
    same(copy.deepcopy(t), x)
    for binary in (False, True):
        file = io.BytesIO()
        paddle.save(t, file, use_binary_format=binary)
        file.seek(0)
        same(paddle.load(file), x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_views_share_memory_with_the_whole(dtype: str) -> None:
    for t, x in views(values((4, 6), dtype)):
        same(t, x)
        same(t.real(), x.real)
        same(t.imag(), x.imag)
        same(t.as_real(), np.stack([x.real, x.imag], -1))
        same(paddle.as_complex(t.as_real().contiguous()), x)
        same(t.clone(), x)
        same(paddle.conj(t), np.conj(x))
    t = T(values((3, 2), dtype))
    t.T.real()[0, 1] = 7.0
    t[2].imag()[1] = -5.0
    assert t[1, 0].item().real == 7.0 and t[2, 1].item().imag == -5.0
    assert t.real().data_ptr() == t.data_ptr()


def test_pairs_that_are_no_complex_numbers_in_memory_are_copied() -> None:
    x = np.arange(12.0, dtype="float32").reshape(4, 3)
    same(paddle.as_complex(T(x)[:, 1:]), x[:, 1] + 1j * x[:, 2])
    same(paddle.as_complex(T(x.reshape(-1))[1:3]), np.complex64(1 + 2j))
    same(paddle.as_complex(T(np.zeros((0, 2)))), np.zeros(0, "complex128"))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "other", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32", "float64", *DTYPES]
)
def test_casts(dtype: str, other: str) -> None:
    whole = np.array([[0, 1 + 2j, 3j], [100, 0, 7 - 1j]], dtype)
    for t, x in ((T(whole), whole), (T(whole).T, whole.T), (T(whole)[:, ::2], whole[:, ::2])):
        wanted = x.astype(other) if other in ("bool", *DTYPES) else x.real.astype(other)
        same(t.astype(other), wanted)
        same(t.astype(other).astype(dtype), wanted.astype(dtype))
    target = T(np.zeros(3, other))
    target[:] = T(whole)[0]
    same(target, whole[0].astype(other) if other in ("bool", *DTYPES) else whole[0].real.astype(other))


def test_bfloat16_casts() -> None:
    x = T([1 + 2j, 3j])
    assert x.astype("bfloat16").tolist() == [1.0, 0.0]
    same(T([1.0, 0.5], dtype="bfloat16").astype("complex64"), np.array([1, 0.5], "complex64"))


MOVES: list[Callable[[Any, Any], Any]] = [
    lambda x, m: m.concatenate([x, x[:1]], 0) if m is np else m.concat([x, x[:1]], 0),
    lambda x, m: m.stack([x, x], 1),
    lambda x, m: m.tile(x, [2, 3]),
    lambda x, m: m.flip(x, [0, 1]),
    lambda x, m: x.reshape([6, -1]),
    lambda x, m: m.broadcast_to(x[0], [4, 6]),
    lambda x, m: x[::-1, 1::2],
    lambda x, m: x[..., None],
    lambda x, m: x[:, [3, 0, -1]],
    lambda x, m: x[[1, 2], [0, 5]],
    lambda x, m: m.roll(x, 2, 1),
    lambda x, m: m.tril(x),
    lambda x, m: m.diagonal(x),
    lambda x, m: m.split(x, 2)[1],
]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("move", MOVES)
def test_moves(move: Callable[[Any, Any], Any], dtype: str) -> None:
    x = values((4, 6), dtype)
    same(move(T(x), paddle), move(x, np))
    same(move(T(x.T.copy()).T, paddle), move(x, np))


VALUES: list[Any] = [1, 2.5, 3 - 4j, np.complex64(1j), values(())]


@pytest.mark.parametrize("dtype", DTYPES)
def test_assignment(dtype: str) -> None:
    keys: list[Any] = [
        0,
        (slice(None), 1),
        slice(1, None, 2),
        (np.array([3, 0]), np.array([1, 1])),
        ...,
        np.array([2, 0]),
    ]
    for key in keys:
        for value in VALUES:
            x, t = values((4, 6), dtype), None
            t = T(x)
            x[key], t[key] = value, value
            same(t, x)
    x = values((4, 6), dtype)
    t, mask = T(x).T, x.T.real > 0
    t[T(mask)] = 9j
    x.T[mask] = 9j
    same(t, x.T)
    with pytest.raises(ValueError, match="the value is complex; want"):
        T([1.0])[0] = 1j


BINARY: dict[str, tuple[Callable[[Any, Any], Any], int]] = {
    "add": (lambda x, y: x + y, 1),
    "subtract": (lambda x, y: x - y, 1),
    "multiply": (lambda x, y: x * y, 4),
    "divide": (lambda x, y: x / y, 8),
    "pow": (lambda x, y: x**y, 64),
}


@pytest.mark.parametrize("name", BINARY)
def test_two_operands(name: str) -> None:
    """Results are near those of complex128, in the dtype of Paddle's promotion."""
    function, roundings = BINARY[name]
    x, y = values((4, 6)), values((6,)) + 2
    wide = [x.astype("complex128"), y.astype("complex128")]
    for left, right, want in (
        (T(x), T(y), "complex64"),
        (T(x).T.contiguous().T, T(y.astype("complex128")), "complex128"),
        (T(x), 2.5, "complex64"),
        (3, T(x), "complex64"),
        (T(x), 1 - 2j, "complex64"),
        (T(x.real.copy() ** 2 + 1), 2j, "complex64"),
        (T(np.float64(3.0)), T(x), "complex128"),
        (T(np.array([2, 3, 4, 5, 6, 7])), T(x), "complex64"),
        (T(np.array([2, 3, 4, 5, 6, 7], "float16")), T(x), "complex64"),
    ):
        operands = [v.numpy().astype("complex128") if isinstance(v, paddle.Tensor) else v for v in (left, right)]
        got = function(left, right)
        assert got.dtype == want
        near(got, function(*operands), roundings)
    near(function(T(x), T(y)), function(*wide), roundings)
    assert function(T(np.zeros((0, 2), "complex64")), 1j).shape == [0, 2]


UNARY = (
    "abs neg sign square sqrt reciprocal exp expm1 log log1p log2 log10 sin cos tan sinh cosh tanh asin acos atan asinh "
    "acosh atanh isnan isinf isfinite logical_not"
).split()
NAMES = {"neg": "negative", "acos": "arccos", "asin": "arcsin", "atan": "arctan"}
NAMES.update(acosh="arccosh", asinh="arcsinh", atanh="arctanh")


@pytest.mark.parametrize("name", UNARY)
def test_one_operand(name: str) -> None:
    for x in (values((4, 6)), values(()), values((0, 2)), values((3, 2)).T):
        wide = x.astype("complex128")
        want = wide / np.abs(wide) if name == "sign" else getattr(np, NAMES.get(name, name))(wide)
        got = getattr(paddle, name)(T(x))
        assert got.dtype == {"c": "complex64", "f": "float32", "b": "bool"}[want.dtype.kind]
        near(got, want, 16)
        assert getattr(paddle, name)(T(wide)).dtype == {"c": "complex128", "f": "float64", "b": "bool"}[want.dtype.kind]


@pytest.mark.parametrize("name", ["sum", "mean", "prod", "any", "all"])
@pytest.mark.parametrize("axis", [None, 0, -1, [0, 2]])
@pytest.mark.parametrize("keepdim", [False, True])
def test_reductions(name: str, axis: Any, keepdim: bool) -> None:
    x = values((3, 4, 5))
    want = getattr(np, name)(
        x.astype("complex128"), axis=tuple(axis) if isinstance(axis, list) else axis, keepdims=keepdim
    )
    near(getattr(paddle, name)(T(x), axis, keepdim=keepdim), want, 64)
    if name not in ("any", "all"):
        with pytest.raises(ValueError, match="axis"):
            getattr(paddle, name)(T(x), 3)


def test_reductions_of_nothing() -> None:
    e = T(np.zeros((0, 2), "complex64"))
    same(e.sum(), np.complex64(0))
    same(e.prod(0), np.ones(2, "complex64"))
    with np.errstate(all="raise"):
        assert np.isnan(e.mean().item())


@pytest.mark.parametrize(
    "shapes",
    [((4,), (4,)), ((3, 4), (4,)), ((3,), (3, 5)), ((3, 4), (4, 5)), ((2, 1, 3, 4), (5, 4, 2)), ((3, 0), (0, 2))],
)
def test_products(shapes: Any) -> None:
    x, y = values(shapes[0]), values(shapes[1])
    near(T(x) @ T(y), x.astype("complex128") @ y.astype("complex128"), 64)
    near(T(x) @ T(y.real.copy()), x.astype("complex128") @ y.real, 64)
    near(T(x.real.astype("float64")) @ T(y), x.real @ y.astype("complex128"), 64)


def test_products_with_a_real_first_operand_keep_the_imaginary_part() -> None:
    same(T([1.0, 2.0]) @ T([1j, 1j]), np.complex64(3j))
    same(paddle.matmul(T([[1.0, 2.0]]), T([[1j, 1j]]), transpose_y=True), np.array([[3j]], "complex64"))


def test_scans_and_choices() -> None:
    x = values((3, 4))
    near(paddle.cumsum(T(x), 1), np.cumsum(x, 1), 16)
    near(paddle.cumsum(T(x)), np.cumsum(x), 32)
    near(paddle.cumprod(T(x), 0), np.cumprod(x, 0), 16)
    mask = x.real > 0
    same(paddle.where(T(mask), T(x), T(np.conj(x))), np.where(mask, x, np.conj(x)))
    same(T(x * mask).nonzero(), np.argwhere(x * mask))
    same(T(x) == T(x), np.ones((3, 4), bool))
    same(T(x) != T(np.conj(x)), x != np.conj(x))
    same(paddle.isclose(T(x), T(np.conj(x))), np.zeros((3, 4), bool))
    near(paddle.norm(T(x)), np.linalg.norm(x.reshape(-1)), 16)
    near(paddle.linalg.matrix_norm(T(x), 1), np.linalg.norm(x, 1), 16)
    near(paddle.linalg.vecdot(T(x), T(x)), (np.abs(x) ** 2).sum(-1).astype("complex64"), 16)


ORDERED = (
    "max min argmax argmin sort argsort floor ceil trunc relu rsqrt erf var std median logsumexp logit unique mode cummax"
).split()


@pytest.mark.parametrize("name", ORDERED)
def test_what_has_no_answer_refuses(name: str) -> None:
    function = getattr(paddle, name, None) or getattr(paddle.nn.functional, name)
    with pytest.raises((paddle.UnsupportedError, TypeError)):
        function(T([[1 + 1j, 2j]]))


def test_refusals_name_the_operator_and_the_dtype() -> None:
    c, f = T([1j, 2.0]), T([1.0, 2.0])
    for call, message in (
        (lambda: c < c, r"\[less_than\] has no kernel for complex64"),
        (lambda: c // f, r"\[floor_divide\] .*complex64"),
        (lambda: paddle.sum(c, dtype="float32"), r"\[sum\] got a tensor of complex64 where float32 is computed"),
        (lambda: paddle.arange(3, dtype="complex64"), r"\[arange\] has no kernel for complex64"),
        (lambda: paddle.real(f), r"\[real\] x is float32; want complex64 or complex128"),
        (lambda: paddle.complex(T([1]), T([1])), r"\[complex\] real is int64; want float32 or float64"),
        (lambda: paddle.searchsorted(f, c), r"\[searchsorted\] got tensors of float32 and complex64"),
    ):
        with pytest.raises(paddle.UnsupportedError, match=message):
            call()
    with pytest.raises(ValueError, match="want one dtype"):
        paddle.concat([c, f])


def test_mps_devices_have_no_complex_tensors() -> None:
    x = paddle.ones([2, 2], place="mps")
    assert T([1j], place="cpu").place.is_cpu_place()
    for call in (
        lambda: T([1j], place="mps"),
        lambda: T([1j]).to("mps"),
        lambda: x.astype("complex64"),
        lambda: paddle.as_complex(x),
        lambda: paddle.complex(x, x),
        lambda: paddle.zeros([2], "complex64", place="mps"),
        lambda: paddle.fft.fft(x),
        lambda: paddle.linalg.eig(x),
    ):
        with pytest.raises(TypeError, match=r"complex.*(on mps|the CPU)|on mps.*complex"):
            call()
    for mixed in (
        lambda: x + T([1j, 2j]),
        lambda: x * T(1j),
        lambda: x @ T([1j, 2j]),
        lambda: paddle.where(x > 0, x, T(1j)),
    ):
        with pytest.raises((ValueError, TypeError, paddle.UnsupportedError)):
            mixed()
    with pytest.raises((TypeError, ValueError)):
        x[paddle.to_tensor([0], place="mps")] = T(1j)


def test_printing() -> None:
    assert "[(1.00000000+2.00000000j), (0.00000000+0.00000000j)]" in repr(T([1 + 2j, 0j]))
    text = repr(T([[1 + 2j, -3.5 - 1j]]))
    assert text.splitlines()[0].startswith("Tensor(shape=[1, 2], dtype=complex64")
    assert "[[ (1.00000000+2.00000000j), (-3.50000000-1.00000000j)]]" in text
    assert len(repr(T(values((100, 100))))) < 3000


def test_eigenvalues_of_general_matrices() -> None:
    for x in (RNG.normal(size=(4, 4)), values((3, 5, 5), "complex128"), RNG.normal(size=(2, 3, 3)).astype("float32")):
        found, vectors = paddle.linalg.eig(T(x))
        assert found.dtype == ("complex64" if x.dtype == np.float32 else "complex128")
        left, right = x @ vectors.numpy(), vectors.numpy() * found.numpy()[..., None, :]
        eps = 2.0**-23 if x.dtype == np.float32 else 2.0**-52
        # LAPACK's geev is backward stable: the residual is some n eps of the norm of the matrix.
        assert np.abs(left - right).max() <= 16 * x.shape[-1] * eps * np.linalg.norm(x, axis=(-2, -1)).max()
        alone = paddle.linalg.eigvals(T(x)).numpy()
        np.testing.assert_array_equal(alone.shape, found.shape)
    same(paddle.linalg.eigvals(T(np.diag([3.0, 1.0]))), np.array([3, 1], "complex128"))
    with pytest.raises(ValueError, match=r"\[eigvals\] .*want finite ones"):
        paddle.linalg.eigvals(T(np.array([[np.nan, 1], [0, 1]])))


def test_only_refused_calls_come_to_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Real tensors are not looked at twice."""
    seen: list[Any] = []

    def concerned(arguments: Any) -> bool:
        seen.append(arguments)
        return False

    monkeypatch.setattr(_complex, "concerned", concerned)
    x = T([1.0, 2.0])
    assert ((x + x) * 2 - x).sum().item() == 9.0 and x.T.reshape([2, 1]).shape == [2, 1]
    assert not seen


@pytest.mark.parametrize("dtype", DTYPES)
def test_elements_of_a_line_by_index(dtype: str) -> None:
    x = values((7,), dtype)
    at = np.array([6, -7, 3, 3])
    same(T(x)[T(at)], x[at])
    same(paddle.gather(T(x), T([2, 0])), x[[2, 0]])
    got, want = T(x), x.copy()
    got[T(at)] = T(x[:4])
    want[at[:3]] = x[:3]
    want[3] = x[3]  # the last of two
    same(got, want)


def test_memory_is_aligned_as_that_of_the_parts() -> None:
    parts = np.arange(5.0)
    for first in (0, 1):
        x = parts[first : first + 4].view("complex128")
        same(paddle.from_dlpack(x), x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_large_tensors_are_computed_in_their_memory(dtype: str) -> None:
    """From some thousand elements on NumPy reads and writes the memory of the tensors, and copies only what is no array of it."""
    n = 2 * _complex.SHARED
    x, y = values((n,), dtype), values((n,), dtype)
    x[:4], y[:4] = [0, complex(np.inf, np.nan), complex(-0.0, -0.0), 1], [0, 1, complex(0.0, -0.0), complex(np.nan, 0)]
    kept = x.copy()
    a, b = T(x), T(y)
    with np.errstate(all="ignore"):
        same(a + b, x + y)
        same(a * b[::-1], x * y[::-1].copy())  # NumPy rounds otherwise beside a stride
        same(a.reshape([2, -1]) - b[: n // 2], x.reshape(2, -1) - y[: n // 2])
        same(a * 2.5j, x * np.asarray(2.5j, dtype))
        same(a + T(y.real), x + y.real)
        same(paddle.abs(a), np.abs(x))
        same(paddle.conj(a), np.conj(x))
        same(a == b, x == y)
        same(paddle.isnan(a), np.isnan(x))
        same(a[1:][::2] + b[1:][::2], x[1::2] + y[1::2])
        same(a + T(np.complex128(1)), x.astype("complex128") + 1)
    same(a, kept)
    with pytest.raises(ValueError, match="shape"):
        a + b[1:]
    a += b
    same(a, kept + y)


def test_the_memory_of_an_operand_stays_while_it_is_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """As another thread may do, the function gives the tensor other memory, and fills what it had if that is free."""
    n = 2 * _complex.SHARED
    x = T(np.full(n, 1j, "complex64"))
    later: list[paddle.Tensor] = []

    def add(a: Any, b: Any) -> Any:
        paddle.assign(T(np.zeros(2 * n, "complex64")), x)
        later.extend(T(np.full(n, 7, "complex64")) for _ in range(20))
        return a + b

    monkeypatch.setitem(_complex.FUNCTIONS, "add", add)
    same(x + 1, np.full(n, 1 + 1j, "complex64"))
    assert x.shape == [2 * n]


def test_the_memory_of_what_where_chooses_from_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    n = 2 * _complex.SHARED
    x, y = T(np.full(n, 1j, "complex64")), T(np.full(n, 2j, "complex64"))
    later: list[paddle.Tensor] = []
    choose = np.where

    def where(*arrays: Any) -> Any:
        for t in (x, y):
            paddle.assign(T(np.zeros(2 * n, "complex64")), t)
        later.extend(T(np.full(n, 7, "complex64")) for _ in range(20))
        return choose(*arrays)

    monkeypatch.setattr(np, "where", where)
    condition = np.arange(n) % 2 == 0
    found = paddle.where(T(condition), x, y)
    monkeypatch.undo()
    same(found, np.where(condition, 1j, 2j).astype("complex64"))


@pytest.mark.parametrize("n", [3, 2 * _complex.SHARED])
@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("add", lambda x, y: x + y),
        ("subtract", lambda x, y: y.real() - x),
        ("pow", paddle.pow),
        ("multiply_", lambda x, y: x.multiply_(y)),
        ("equal", lambda x, y: x == y),
        ("where", lambda x, y: paddle.where(T(np.ones(y.shape, "bool")), x, y)),
        ("mse_loss", lambda x, y: paddle.nn.functional.mse_loss(x, y)),
    ],
)
def test_errors_of_shapes_name_the_function(name: str, function: Any, n: int) -> None:
    x, y = T(np.ones(n, "complex64")), T(np.ones(n + 1, "complex64"))
    with pytest.raises(ValueError, match=rf"^\[{name}\] shapes .*\[{n}\].* do not broadcast; want equal sizes, or 1"):
        function(x, y)
