"""Windows of images as columns and back, and images read at any points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Union

from .._calls import _operators
from .._calls._call import renamed
from .._core._caller import axes_text, called
from .._core._convert import flag, tensor, whole
from .._core._objects import Tensor, meta
from .._maths._elementwise import alike, of_floats
from ._window import numbers
from ._window import whole as is_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    Size = Union[int, Sequence[int]]


def pair(what: str, value: Any) -> list[int]:
    return numbers(value, 2, what)


def sides(padding: Any) -> list[int]:
    """How many elements are added before and behind height and width, of one, two or four numbers (top, left, bottom, right)."""
    if is_whole(padding):
        return [int(padding)] * 4
    given = list(padding) if isinstance(padding, (list, tuple)) else []
    given = given * 2 if len(given) == 2 else given
    if len(given) != 4:
        raise ValueError(f"[{called('unfold')}] paddings is {padding!r}; want 1, 2 or 4 ints")
    top, left, bottom, right = given
    return [top, bottom, left, right]


def windows(kernel: Any, stride: Any, padding: Any, dilation: Any) -> list[list[int]]:
    """The attributes of `unfold` and `fold`."""
    found = [pair("kernel_sizes", kernel), pair("strides", stride), sides(padding), pair("dilations", dilation)]
    for name, each, least in zip(("kernel_sizes", "strides", "paddings", "dilations"), found, (1, 1, 0, 1)):
        if min(each) < least:
            raise ValueError(f"[{called('unfold')}] {name} is {each}; want numbers from {least}")
    return found


def unfold(
    x: Tensor,
    kernel_sizes: Size,
    strides: Size = 1,
    paddings: Size = 0,
    dilations: Size = 1,
    name: str | None = None,
) -> Tensor:
    """The elements under each window of x as a column.

    Args:
        x: a floating-point tensor [N, C, H, W].
        kernel_sizes, strides, dilations: an int, or one an axis.
        paddings: an int; [height, width]; or [top, left, bottom, right].

    Returns:
        A tensor [N, C * kh * kw, windows].

    Raises:
        AssertionError: x has another number of axes.
        UnsupportedError: x is not floating-point.
        ValueError: the numbers do not fit x.
    """
    planes(of_floats(x, "unfold"), 4)
    return _operators.unfold(x, *windows(kernel_sizes, strides, paddings, dilations))


def planes(x: Tensor, axes: int) -> None:
    rank = len(meta(x).shape)
    if rank != axes:
        raise AssertionError(f"[{called('unfold')}] x has {axes_text(rank)}; want {axes}")


@renamed(
    input="x", output_size="output_sizes", kernel_size="kernel_sizes", stride="strides", padding="paddings",
    dilation="dilations",
)  # fmt: skip
def fold(
    x: Tensor,
    output_sizes: Size,
    kernel_sizes: Size,
    strides: Size = 1,
    paddings: Size = 0,
    dilations: Size = 1,
    name: str | None = None,
) -> Tensor:
    """The columns of `unfold`, each added to its window: elements under several windows are added up.

    Args:
        x: a float32 or float64 tensor [N, C * kh * kw, windows].
        output_sizes: [H, W] of the result, an int or two.
        kernel_sizes, strides, paddings, dilations: those of `unfold`.

    Returns:
        A tensor [N, C, H, W].

    Raises:
        AssertionError: x has another number of axes.
        UnsupportedError: x is not floating-point.
        ValueError: the numbers do not fit x.
    """
    planes(of_floats(x, "fold"), 3)
    size = pair("output_sizes", output_sizes)
    return _operators.fold(x, size, *windows(kernel_sizes, strides, paddings, dilations))


def affine_grid(theta: Tensor, out_shape: Any, align_corners: bool = True, name: str | None = None) -> Tensor:
    """Where the elements of an image come from under an affine map of [-1, 1] on each axis.

    Args:
        theta: floating-point maps [N, 2, 3], or [N, 3, 4] for images of three spatial axes.
        out_shape: the shape of the image, [N, C, H, W] or [N, C, D, H, W].
        align_corners: whether -1 and 1 are the centres of the first and last elements, or their outer edges.

    Returns:
        Points [N, H, W, 2] or [N, D, H, W, 3], x first, for `grid_sample`.

    Raises:
        TypeError: theta is no tensor.
        UnsupportedError: theta is not floating-point.
        ValueError: shapes do not fit.
    """
    if not isinstance(theta, Tensor):
        raise TypeError(f"[affine_grid] theta is {type(theta).__name__}; want a Tensor")
    flag("align_corners", align_corners)
    of_floats(theta, "affine_grid")
    return _operators.affine_grid(theta, list(whole("out_shape", out_shape)), align_corners, False)


def grid_sample(
    x: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = True,
    name: str | None = None,
) -> Tensor:
    """Images read at points between their elements.

    Args:
        x: a floating-point tensor [N, C, H, W] or [N, C, D, H, W].
        grid: points [N, H', W', 2] or [N, D', H', W', 3] of x's dtype, x first, where -1 and 1 are the ends of an axis.
        mode: "bilinear", the elements around a point weighted by its distance from the opposite ones; or "nearest".
        padding_mode: what is outside: "zeros"; "border", the nearest element; or "reflection".
        align_corners: whether -1 and 1 are the centres of the first and last elements, or their outer edges.

    Returns:
        A tensor [N, C, H', W'] or [N, C, D', H', W'].

    Raises:
        UnsupportedError: x is not floating-point.
        ValueError: shapes or dtypes do not fit, or a mode is none of those.
    """
    alike(of_floats(x, "grid_sample"), tensor(grid, "grid_sample", "grid"), "grid_sample")
    rank = len(meta(x).shape)
    if rank not in (4, 5):
        raise ValueError(f"[grid_sample] x has {axes_text(rank)}; want 4 or 5")
    if mode not in ("bilinear", "nearest"):
        raise ValueError(f"[grid_sample] mode is {mode!r}; want 'bilinear' or 'nearest'")
    return _operators.grid_sample(x, grid, mode, padding_mode, align_corners, False)


__all__ = ["affine_grid", "fold", "grid_sample", "unfold"]
