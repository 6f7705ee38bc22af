"""Windows of images as columns and back, and images read at any points."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Union

from .._arrays._array import reshaped, unbind
from .._arrays._creation import filled
from .._arrays._indexing import WHOLE, basic
from .._calls import _operators
from .._calls._call import renamed
from .._core._caller import axes_text, called
from .._core._convert import flag, tensor, whole
from .._core._objects import Tensor, meta
from .._maths._elementwise import alike, of_floats
from ._layout import pad
from ._window import numbers
from ._window import whole as is_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    Size = Union[int, Sequence[int]]


class Patches:
    """Windows over planes: how they lie, and where their elements are on each padded axis."""

    def __init__(self, size: Sequence[int], kernel: Any, stride: Any, padding: Any, dilation: Any) -> None:
        self.kernel, self.stride = pair("kernel_sizes", kernel), pair("strides", stride)
        self.dilation = pair("dilations", dilation)
        self.pads = sides(padding)
        self.padded = [n + before + behind for n, (before, behind) in zip(size, self.pads)]
        self.counts = [
            (n - d * (k - 1) - 1) // s + 1 if s > 0 else 0
            for n, k, s, d in zip(self.padded, self.kernel, self.stride, self.dilation)
        ]
        if min(self.kernel + self.stride + self.dilation) < 1 or min(self.counts) < 1:
            raise ValueError(
                f"[unfold] windows of {self.kernel} with strides {self.stride} and dilations {self.dilation} do not"
                f" fit {self.padded}; want numbers from 1, and one window or more"
            )

    def met(self, x: Tensor, axis: int, at: int, element: int) -> Tensor:
        """A view of the elements that one element of the kernel meets, window by window, on an axis at `at` of x."""
        first = element * self.dilation[axis]
        stop = first + (self.counts[axis] - 1) * self.stride[axis] + 1
        return along(x, at, first, stop, self.stride[axis])

    def added(self, pieces: Sequence[Tensor], axis: int, at: int) -> Tensor:
        """Sums on a padded axis, at `at`, of pieces that are what each element of the kernel meets, window by window.

        Element i meets element i * dilation + w * stride under window w. Elements with one remainder by the stride are added
        up first, as lines that are moved by whole windows; then these sums are interleaved.
        """
        stride, dilation = self.stride[axis] if self.counts[axis] > 1 else 1, self.dilation[axis]
        last, size = (self.kernel[axis] - 1) * dilation, self.padded[axis]
        sums: list[Tensor | None] = [None] * min(stride, last + 1)
        for i, piece in enumerate(pieces):
            moved, remainder = divmod(i * dilation, stride)
            line, before = padded(piece, at, moved, last // stride - moved), sums[remainder]
            sums[remainder] = line if before is None else before + line
        result = found = next(line for line in sums if line is not None)
        m = meta(found)
        if stride > 1:
            zeros = filled(m.shape, 0, m.dtype, m.place) if None in sums else found
            together = _operators.stack([zeros if line is None else line for line in sums], at + 1)
            together = padded(together, at + 1, 0, stride - len(sums))
            result = reshaped(together, [*m.shape[:at], m.shape[at] * stride, *m.shape[at + 1 :]])
        length = meta(result).shape[at]
        return padded(result, at, 0, size - length) if length < size else along(result, at, 0, size, 1)


def along(x: Tensor, axis: int, first: int, stop: int, step: int) -> Tensor:
    """The view of a part of an axis."""
    return basic(x, [*[WHOLE] * axis, slice(first, stop, step)])


def padded(x: Tensor, axis: int, before: int, behind: int) -> Tensor:
    """x with zeros before and behind an axis."""
    if not before and not behind:
        return x
    rank = len(meta(x).shape)
    pads = [0] * 2 * rank
    pads[2 * axis : 2 * axis + 2] = before, behind
    return _operators.pad(x, pads, "constant", 0)


def pair(what: str, value: Any) -> list[int]:
    return numbers(value, 2, what)


def sides(padding: Any) -> list[tuple[int, int]]:
    """Padding as [before, behind] of height and width: of one, two or four numbers (top, left, bottom, right)."""
    if is_whole(padding):
        return [(int(padding), int(padding))] * 2
    given = list(padding) if isinstance(padding, (list, tuple)) else []
    given = given * 2 if len(given) == 2 else given
    if len(given) != 4:
        raise ValueError(f"[unfold] paddings is {padding!r}; want 1, 2 or 4 ints")
    return [(given[0], given[2]), (given[1], given[3])]


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
    n, c, h, w = planes(of_floats(x, "unfold"), 4)
    p = Patches([h, w], kernel_sizes, strides, paddings, dilations)
    (top, bottom), (left, right) = p.pads
    if top or bottom or left or right:
        x = pad(x, [0, 0, 0, 0, top, bottom, left, right])
    rows = _operators.stack([p.met(x, 0, 2, i) for i in range(p.kernel[0])], 2)
    columns = _operators.stack([p.met(rows, 1, 4, i) for i in range(p.kernel[1])], 3)
    return reshaped(columns, [n, c * p.kernel[0] * p.kernel[1], p.counts[0] * p.counts[1]])


def planes(x: Tensor, axes: int) -> tuple[int, ...]:
    shape = meta(x).shape
    if len(shape) != axes:
        raise AssertionError(f"[{called('unfold')}] x has {axes_text(len(shape))}; want {axes}")
    return shape


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
    n, rows, windows = planes(of_floats(x, "fold"), 3)
    h, w = pair("output_sizes", output_sizes)
    p = Patches([h, w], kernel_sizes, strides, paddings, dilations)
    (top, _), (left, _) = p.pads
    elements = p.kernel[0] * p.kernel[1]
    if rows % elements or windows != p.counts[0] * p.counts[1]:
        raise ValueError(f"[fold] x is {[n, rows, windows]}; want a multiple of {elements} by {p.counts}")
    c = rows // elements
    apart = reshaped(x, [n, c, p.kernel[0], p.kernel[1], p.counts[0], p.counts[1]])
    across = p.added(unbind(apart, 3), 1, 4)
    plane = p.added(unbind(across, 2), 0, 2)
    return _operators.assign(along(along(plane, 2, top, top + h, 1), 3, left, left + w, 1))


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
