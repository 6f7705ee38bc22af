"""paddle.fft against transforms that are summed as they are defined, in float64."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import paddle_mps as paddle
from paddle_mps import fft

Array = npt.NDArray[Any]
T = paddle.to_tensor
RNG = np.random.default_rng(11)
NORMS = ["backward", "ortho", "forward"]
LENGTHS = [1, 2, 5, 8, 12, 31]


def defined(x: Array, n: int, axis: int, norm: str, sign: int) -> Array:
    """The sums of x[k] * exp(sign * 2 pi i j k / n): sign -1 is the transform, 1 the inverse."""
    x = np.moveaxis(np.asarray(x, "complex128"), axis, -1)[..., :n]
    x = np.concatenate([x, np.zeros((*x.shape[:-1], n - x.shape[-1]))], -1)
    steps = np.outer(np.arange(n), np.arange(n)) % n
    found = x @ np.exp(sign * 2j * math.pi * steps / n)
    scaled = {"backward": sign > 0, "forward": sign < 0, "ortho": False}[norm]
    found = found / (n if scaled else math.sqrt(n) if norm == "ortho" else 1)
    return np.moveaxis(found, -1, axis)


def whole(x: Array, n: int, axis: int) -> Array:
    """All n elements of a spectrum from the first n // 2 + 1, of which the others are conjugates."""
    x = np.moveaxis(np.asarray(x, "complex128"), axis, -1)[..., : n // 2 + 1]
    x = np.concatenate([x, np.zeros((*x.shape[:-1], n // 2 + 1 - x.shape[-1]))], -1)
    x[..., 0] = x[..., 0].real
    if n % 2 == 0:
        x[..., -1] = x[..., -1].real
    return np.moveaxis(np.concatenate([x, np.conj(x[..., 1 : (n + 1) // 2][..., ::-1])], -1), -1, axis)


def half(x: Array, axis: int) -> Array:
    return np.moveaxis(np.moveaxis(x, axis, -1)[..., : x.shape[axis] // 2 + 1], -1, axis)


def near(got: paddle.Tensor, want: Array, dtype: str) -> None:
    """Within log2 n steps of a few roundings each of the largest element, of which here 32 are enough for any n."""
    assert got.dtype == dtype
    array = got.numpy()
    assert array.shape == want.shape
    eps = 2.0**-23 if dtype in ("float32", "complex64") else 2.0**-52
    if want.size:
        assert np.abs(array - want).max() <= 32 * eps * max(np.abs(want).max(), 1)


def data(shape: tuple[int, ...], dtype: str) -> Array:
    x: Array = RNG.normal(size=shape)
    if "complex" in dtype:
        x = x + 1j * RNG.normal(size=shape)
    return x.astype(dtype)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("n", [None, *LENGTHS])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128", "int64"])
def test_one_axis(dtype: str, n: int | None, norm: str) -> None:
    single = dtype in ("float32", "complex64", "int64")
    complex_, real = ("complex64", "float32") if single else ("complex128", "float64")
    x = data((3, 8, 2), "float64") * 4
    x = x.astype(dtype) if "complex" not in dtype else data((3, 8, 2), dtype)
    size = n or 8
    for axis in (1, -2):
        near(fft.fft(T(x), n, axis, norm), defined(x, size, axis, norm, -1), complex_)
        near(fft.ifft(T(x), n, axis, norm), defined(x, size, axis, norm, 1), complex_)
        out = n or 14
        near(fft.irfft(T(x), n, axis, norm), defined(whole(x, out, axis), out, axis, norm, 1).real, real)
        direct = {"backward": "forward", "forward": "backward", "ortho": "ortho"}
        conjugate = np.conj(whole(x, out, axis))
        near(fft.hfft(T(x), n, axis, norm), defined(conjugate, out, axis, direct[norm], 1).real, real)
        if "complex" not in dtype:
            near(fft.rfft(T(x), n, axis, norm), half(defined(x, size, axis, norm, -1), axis), complex_)
            near(fft.ihfft(T(x), n, axis, norm), half(defined(x, size, axis, norm, 1), axis), complex_)


@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize(
    "s, axes", [(None, None), (None, [0, 2]), ([4, 6], None), ([3, 8], [-1, 0]), ([5], [1]), (None, (1,))]
)
def test_several_axes(s: Any, axes: Any, norm: str) -> None:
    x, z = data((3, 4, 5), "float64"), data((3, 4, 5), "complex128")
    at = list(axes) if axes is not None else list(range(3 - (3 if s is None else len(s)), 3))
    sizes = list(s) if s is not None else [x.shape[a] for a in at]

    def along(x: Array, axes: list[int], sizes: list[int], sign: int) -> Array:
        for a, n in zip(axes, sizes):
            x = defined(x, n, a, norm, sign)
        return x

    near(fft.fftn(T(z), s, axes, norm), along(z, at, sizes, -1), "complex128")
    near(fft.ifftn(T(z), s, axes, norm), along(z, at, sizes, 1), "complex128")
    near(fft.rfftn(T(x), s, axes, norm), half(along(x, at, sizes, -1), at[-1]), "complex128")
    near(fft.ihfftn(T(x), s, axes, norm), half(along(x, at, sizes, 1), at[-1]), "complex128")
    out = sizes[-1] if s is not None else 2 * (x.shape[at[-1]] - 1)
    first = along(z, at[:-1], sizes[:-1], 1)
    near(fft.irfftn(T(z), s, axes, norm), defined(whole(first, out, at[-1]), out, at[-1], norm, 1).real, "float64")
    first = along(z, at[:-1], sizes[:-1], -1)
    near(fft.hfftn(T(z), s, axes, norm), defined(whole(first, out, at[-1]), out, at[-1], norm, -1).real, "float64")


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft"])
def test_two_axes_are_the_last_two(name: str) -> None:
    x = T(data((3, 4, 5), "float32"))
    two, several = getattr(fft, f"{name}2"), getattr(fft, f"{name}n")
    for options in ({}, {"norm": "ortho"}, {"s": [2, 8]}):
        assert (two(x, **options) == several(x, axes=[1, 2], **options)).all()
    assert (two(x, axes=[0, 1]) == several(x, axes=[0, 1])).all()
    assert (two(x.T, dim=[0, 1]) == several(x.T, axes=[0, 1])).all()


def test_inverses() -> None:
    for n in LENGTHS:
        x = T(data((2, n), "float64"))
        near(fft.irfft(fft.rfft(x), n), x.numpy(), "float64")
        near(fft.hfft(fft.ihfft(x), n), x.numpy(), "float64")
        near(fft.ifft(fft.fft(x)).real(), x.numpy(), "float64")
        near(fft.irfftn(fft.rfftn(x), [2, n]), x.numpy(), "float64")
        near(fft.hfftn(fft.ihfftn(x), [2, n]), x.numpy(), "float64")
        assert (fft.ifftshift(fft.fftshift(x)) == x).all()


def test_nothing_has_transforms_of_nothing() -> None:
    for shape in ((0,), (0, 3), (3, 0)):
        x = T(np.zeros(shape, "float32"))
        assert fft.fft(x).shape == list(shape) and fft.fftn(x).dtype == "complex64"
        assert fft.rfft(x).shape == [*shape[:-1], shape[-1] // 2 + 1]
        assert fft.irfft(x).shape == [*shape[:-1], max(2 * (shape[-1] - 1), 0)] and fft.hfft(x).dtype == "float32"
    assert fft.irfft(T([1.0])).shape == [0]


@pytest.mark.parametrize("n", range(1, 8))
def test_frequencies_and_shifts(n: int) -> None:
    for d in (1.0, 0.25, -2.0):
        got = fft.fftfreq(n, d, "float64").numpy()
        np.testing.assert_allclose(got, [(k if 2 * k < n else k - n) / (n * d) for k in range(n)], rtol=2.0**-51)
        got = fft.rfftfreq(n, d, "float64").numpy()
        np.testing.assert_allclose(got, [k / (n * d) for k in range(n // 2 + 1)], rtol=2.0**-51)
    line, table = np.arange(n), np.arange(n * 3).reshape(n, 3)
    np.testing.assert_array_equal(fft.fftshift(T(line)).numpy(), np.roll(line, n // 2))
    np.testing.assert_array_equal(fft.ifftshift(T(line)).numpy(), np.roll(line, -(n // 2)))
    np.testing.assert_array_equal(fft.fftshift(T(table).T).numpy(), np.roll(table.T, (1, n // 2), (0, 1)))
    np.testing.assert_array_equal(fft.fftshift(T(table), -2).numpy(), np.roll(table, n // 2, 0))


def test_out_and_names() -> None:
    x, out = T([1.0, 2.0]), T(np.zeros(2, "complex64"))
    assert fft.fft(x, out=out) is out and out.tolist() == [3, -1]
    renamed: Any = fft.fft
    assert renamed(input=x, dim=0).tolist() == [3, -1]
    assert sorted(fft.__all__) == sorted(name for name in fft.__all__ if callable(getattr(fft, name)))
    assert len(fft.__all__) == 22


def test_mps_tensors_have_the_real_functions() -> None:
    x = paddle.ones([4], place="mps")
    assert fft.irfft(x).place.is_mps_place() and fft.fftshift(x).place.is_mps_place()
    assert fft.fftfreq(4, device="mps").place.is_mps_place()
    for name in ("fft", "ifft", "rfft", "ihfft", "fftn", "rfftn"):
        with pytest.raises(TypeError, match=rf"\[{name}\] x is on mps:0; want x.cpu\(\)"):
            getattr(fft, name)(x)


def test_refusals() -> None:
    x = T([[1.0, 2.0], [3.0, 4.0]])
    for call, kind in (
        (lambda: fft.fft(x, norm="x"), ValueError),
        (lambda: fft.fft(x, 0), ValueError),
        (lambda: fft.fft(x, axis=2), ValueError),
        (lambda: fft.fft(T(1.0)), ValueError),
        (lambda: fft.fftn(x, axes=[0, 0]), ValueError),
        (lambda: fft.fftn(x, [2, 2, 2]), ValueError),
        (lambda: fft.fft2(x[0]), ValueError),
        (lambda: fft.fft([1.0]), TypeError),  # type: ignore[arg-type]
        (lambda: fft.rfft(x.astype("complex64")), paddle.UnsupportedError),
        (lambda: fft.fft(x.astype("float16")), paddle.UnsupportedError),
        (lambda: fft.fft(x > 0), paddle.UnsupportedError),
        (lambda: fft.fftfreq(0), ValueError),
        (lambda: fft.fftshift(x, 2), IndexError),
    ):
        with pytest.raises(kind, match=r"^\[r?fft"):
            call()
