"""Random tensors of further distributions, from the random number generator of their place.

Most are made of uniform and normal values by operators, on the place of the tensor: by the inverse of the distribution
function, or by comparison. As there, the same seed gives the same values everywhere, up to the rounding of functions.
Poisson, binomial and gamma values come from NumPy on the CPU, whose generator is seeded with four numbers of the place's
own: the same seed gives the same values on every place, but another version of NumPy may give others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._arrays._creation import filled
from .._calls import _operators
from .._calls._call import into, renamed
from .._calls._derivative import without_derivative
from .._calls._lapack import Floats, counts, numbers, result
from .._calls._precision import rounded, working
from .._calls._tracing import active, found
from .._core import _dtype
from .._core._caller import axes_text
from .._core._convert import index, of_one_place, one_number, said, scalar, tensor
from .._core._dtype import DType
from .._core._errors import OutOfRangeError, UnsupportedError
from .._core._objects import Tensor, meta
from .._core._place import Place
from .._maths._limits import iinfo
from ._sampling import normal, normal_, uniforms

if TYPE_CHECKING:
    from .._core._typing import PlaceLike, ShapeLike

__all__ = [
    "bernoulli",
    "bernoulli_",
    "binomial",
    "cauchy_",
    "geometric_",
    "log_normal",
    "log_normal_",
    "multinomial",
    "poisson",
    "standard_gamma",
]


def fractions(name: str, x: Tensor, error: type[Exception] = UnsupportedError) -> Tensor:
    """x as float32 or float64: what is drawn for it has this dtype.

    Raises:
        ValueError: x is no tensor.
        error: x has integers or bools.
    """
    dtype = meta(tensor(x, name, "x")).dtype
    if not dtype.is_floating:
        raise error(f"[{name}] x is {dtype.name}; want a floating-point dtype")
    return working(x)


def uniform_like(x: Tensor) -> Tensor:
    """Uniformly distributed values in [0, 1), in the shape, dtype and place of x."""
    m = meta(x)
    return uniforms(m.shape, 0.0, 1.0, m.dtype, m.place)


def parameter(name: str, label: str, value: Any, x: Tensor) -> Any:
    """A parameter of a distribution for x: a number, or a tensor in the dtype of x that broadcasts to its shape.

    Raises:
        TypeError: it is neither.
        ValueError: the tensor has another shape.
    """
    if not isinstance(value, Tensor):
        if scalar(value) is None:
            raise TypeError(f"[{name}] {label} is {said(value)}; want a number or a Tensor")
        return filled((), float(value), meta(x).dtype, meta(x).place)
    shape = meta(value).shape
    try:
        fits = np.broadcast_shapes(shape, meta(x).shape) == meta(x).shape
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"[{name}] {label} has shape {list(shape)}; want one that broadcasts to {list(meta(x).shape)}")
    return _operators.cast(value, meta(x).dtype)


def bernoulli(x: Tensor, p: float | Tensor | None = None, name: str | None = None) -> Tensor:
    """1 with the probabilities of x, else 0, in the shape, dtype and place of x.

    Args:
        p: the probability of all elements, instead of those of x.

    Raises:
        ValueError: x is no tensor.
        UnsupportedError: it has no floating-point dtype.
        IndexError: a probability is not in [0, 1].
    """
    chance = fractions("bernoulli", x)
    if p is not None:
        given = float(one_number(p, "bernoulli", "p"))
        chance = filled(meta(x).shape, given, meta(chance).dtype, meta(x).place)
    within = _operators.logical_and(_operators.greater_equal(chance, zero(chance)), at_most(chance, 1.0))
    if found(_operators.logical_not(within)):
        raise OutOfRangeError("[bernoulli] a probability is not in [0, 1]; want all there")
    if p is None:
        return _operators.bernoulli(x, uniform_like(chance))
    return _operators.cast(_operators.bernoulli(chance, uniform_like(chance)), meta(x).dtype)


def zero(x: Tensor) -> Tensor:
    """A 0-d 0 in the dtype and place of x."""
    return filled((), 0, meta(x).dtype, meta(x).place)


def at_most(x: Tensor, bound: float) -> Tensor:
    """Whether elements are up to a bound; nan is not."""
    return _operators.less_equal(x, filled((), bound, meta(x).dtype, meta(x).place))


def bernoulli_(x: Tensor, p: float | Tensor = 0.5, name: str | None = None) -> Tensor:
    """Writes 1 with probability p, else 0, into x; returns x.

    Args:
        p: a number, or a tensor that broadcasts to the shape of x. Below 0 it acts as 0, above 1 as 1.

    Raises:
        TypeError: p is neither, or a tensor of integers.
        ValueError: its shape is another.
        UnsupportedError: x has no floating-point dtype.
    """
    values = uniform_like(fractions("bernoulli_", x))
    if isinstance(p, Tensor) and not meta(p).dtype.is_floating:
        raise TypeError(f"[bernoulli_] p is {meta(p).dtype.name}; want a floating-point dtype")
    chance = parameter("bernoulli_", "p", p, values)
    return into(x, _operators.cast(_operators.bernoulli(chance, values), meta(x).dtype))


def exponential_(x: Tensor, lam: float = 1.0, name: str | None = None) -> Tensor:
    """Writes exponentially distributed values with mean 1 / lam into x; returns x.

    Raises:
        TypeError: lam is no number.
        UnsupportedError: x has no floating-point dtype.
    """
    values = uniform_like(fractions("exponential_", x))
    rate = float(one_number(lam, "exponential_", "lam", TypeError))
    return into(x, _operators.cast(_operators.exponential(values, rate), x.dtype))


def cauchy_(x: Tensor, loc: float | Tensor = 0, scale: float | Tensor = 1, name: str | None = None) -> Tensor:
    """Writes values of Cauchy's distribution into x; returns x.

    Args:
        loc: the median, a number or a tensor that broadcasts to the shape of x.
        scale: the distance of the quartiles from it, a number.

    Raises:
        TypeError: loc or scale is neither.
        ValueError: loc has another shape, or scale several elements.
        UnsupportedError: x has no floating-point dtype.
    """
    values = uniform_like(fractions("cauchy_", x))
    width = float(one_number(scale, "cauchy_", "scale"))
    made = _operators.cauchy(values, parameter("cauchy_", "loc", loc, values), width)
    return into(x, _operators.cast(made, x.dtype))


def geometric_(x: Tensor, probs: float | Tensor, name: str | None = None) -> Tensor:
    """Writes log(u) / log(1 - probs), for uniform u in (0, 1), into x; returns x.

    As in Paddle the values keep their fractions. Rounded up they are the numbers of trials until the first success.

    Args:
        probs: the probability of success, a number or a tensor that broadcasts to the shape of x.

    Raises:
        TypeError: probs is neither.
        ValueError: its shape is another, or x has no floating-point dtype.
    """
    values = uniform_like(fractions("geometric_", x, ValueError))
    made = _operators.geometric(values, parameter("geometric_", "probs", probs, values))
    return into(x, _operators.cast(made, meta(x).dtype))


@renamed(size="shape")
def log_normal(
    mean: float | Tensor = 1.0,
    std: float | Tensor = 2.0,
    shape: ShapeLike | None = None,
    name: str | None = None,
    *,
    device: PlaceLike | None = None,
    place: PlaceLike | None = None,
) -> Tensor:
    """e to the power of normally distributed values: see `normal`.

    Args:
        mean, std: of the normal distribution, not of the result.
    """
    return _operators.exp(normal(mean, std, shape, device=device, place=place))


def log_normal_(x: Tensor, mean: float = 1.0, std: float = 2.0, name: str | None = None) -> Tensor:
    """Writes e to the power of normally distributed values into x; returns x.

    Raises:
        ValueError: x is no tensor.
        UnsupportedError: it has no floating-point dtype.
    """
    wide = _operators.assign(fractions("log_normal_", x))
    return into(x, rounded(_operators.exp(normal_(wide, mean, std)), x))


def random_(x: Tensor, from_: int = 0, to: int | None = None, *, generator: None = None) -> Tensor:
    """Writes uniformly distributed integers in [from_, to) into x, wrapped around as by a cast; returns x.

    Args:
        to: None: in [0, from_), or if that is 0 below the largest value of an integer dtype, or below the number up to
            which a floating-point dtype holds all integers.
        generator: None.

    Raises:
        TypeError: a bound is no int.
        ValueError: there is no integer in the range.
        UnsupportedError: x has bools, or there is a generator.
    """
    m = meta(tensor(x, "random_", "x"))
    if generator is not None:
        raise UnsupportedError("[random_] generator is given; want None: paddle.seed seeds the generators")
    if m.dtype is _dtype.bool_:
        raise UnsupportedError("[random_] x is bool; want integers or a floating-point dtype")
    low, high = index("from_", from_), None if to is None else index("to", to)
    if high is None:
        low, high = (0, low) if low else (0, limit(m.dtype))
    if low >= high:
        raise ValueError(f"[random_] the range is [{low}, {high}); want from_ below to")
    return into(x, _operators.cast(_operators.randint(m.place.word, m.shape, low, high, _dtype.int64), m.dtype))


DIGITS = {"float16": 11, "bfloat16": 8, "float32": 24, "float64": 53}


def limit(dtype: DType) -> int:
    """The bound of random_ for a dtype."""
    return 2 ** DIGITS[dtype.name] if dtype.is_floating else int(iinfo(dtype).max)


@renamed(input="x")
def multinomial(
    x: Tensor,
    num_samples: int = 1,
    replacement: bool = False,
    name: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Random indices of the last axis, each with a probability in proportion to its element, as int64.

    Args:
        x: probabilities, or weights, of shape [n] or [rows, n].
        replacement: let an index be drawn several times.
        out: takes the result and is returned.

    Returns:
        Indices of shape [num_samples] or [rows, num_samples].

    Raises:
        ValueError: x is no tensor or has another number of axes, a weight is negative or not finite, those of a row are
            all 0, num_samples is below 1, or without replacement above the number of weights that are not 0.
        UnsupportedError: x has no floating-point dtype.
        TypeError: num_samples is no int.
    """
    weights, count = fractions("multinomial", x), index("num_samples", num_samples)
    m = meta(weights)
    if len(m.shape) not in (1, 2):
        raise ValueError(f"[multinomial] x has {axes_text(len(m.shape))}; want 1 or 2")
    if count < 1:
        raise ValueError(f"[multinomial] num_samples is {count}; want a number from 1")
    if m.shape[0] == 0 and len(m.shape) == 2:
        return into(out, filled((0, count), 0, _dtype.int64, m.place))
    check_weights(weights, count, bool(replacement))
    shape = (*m.shape[:-1], count) if replacement else m.shape
    values = uniforms(shape, 0.0, 1.0, m.dtype, m.place)
    return into(out, _operators.multinomial(weights, values, count, bool(replacement)))


def check_weights(weights: Tensor, count: int, replacement: bool) -> None:
    """Checks the weights of multinomial."""
    valid = _operators.logical_and(_operators.isfinite(weights), _operators.greater_equal(weights, zero(weights)))
    if found(_operators.logical_not(valid)):
        raise ValueError("[multinomial] a weight is negative or not finite; want numbers from 0")
    if not meta(weights).shape[-1]:
        raise ValueError("[multinomial] there are no weights; want at least one")
    if active():
        return
    positive = _operators.cast(_operators.greater_than(weights, zero(weights)), _dtype.int64)
    least = int(_operators.min(_operators.sum(positive, [-1]), None).item())
    if least < 1:
        raise ValueError("[multinomial] all weights are 0; want one above 0 in each row")
    if not replacement and least < count:
        raise ValueError(
            f"[multinomial] {least} weights are not 0; want {count} for as many samples without replacement"
        )


def generator(place: Place) -> np.random.Generator:
    """A generator of NumPy, seeded from the generator of a place, which moves on."""
    words = _operators.randint(place.word, [4], 0, 2**32, _dtype.int64).tolist()
    return np.random.Generator(np.random.Philox(np.random.SeedSequence(words)))


@without_derivative
def binomial(count: Tensor, prob: Tensor, name: str | None = None) -> Tensor:
    """How many of `count` trials succeed with probability `prob`, as int64, on the place of prob.

    Fractions of count are cut off. A count below 0 acts as 0, and so does a probability; one above 1 acts as 1.

    Raises:
        ValueError: an operand is no tensor, a probability is nan, or the shapes do not broadcast.
        UnsupportedError: prob has no floating-point dtype.
    """
    of_one_place("binomial", tensor(count, "binomial", "count"), tensor(prob, "binomial", "prob"))
    chance = numbers("binomial", prob)
    if np.isnan(chance).any():
        raise ValueError("[binomial] a probability is nan; want numbers")
    trials = np.maximum(_operators.cast(count, _dtype.int64).numpy(), 0)
    try:
        shape = np.broadcast_shapes(trials.shape, chance.shape)
    except ValueError:
        raise ValueError(
            f"[binomial] shapes are {list(trials.shape)} and {list(chance.shape)}; want ones that broadcast"
        ) from None
    return counts(generator(meta(prob).place).binomial(trials, np.clip(chance, 0.0, 1.0), shape), prob, np.int64)


NORMAL_FROM = 2.0**60  # NumPy counts in 64 bits; from here a Poisson value has the digits of a normal one


@without_derivative
def poisson(x: Tensor, name: str | None = None) -> Tensor:
    """Values of Poisson's distribution, the means of which are the elements of x, in its shape, dtype and place.

    A mean below 0 acts as 0.

    Raises:
        ValueError: x is no tensor.
        UnsupportedError: it has no floating-point dtype.
    """
    means = numbers("poisson", tensor(x, "poisson", "x"))
    source = generator(meta(x).place)
    small = np.where(means < NORMAL_FROM, np.maximum(means, 0.0), 0.0)
    values = np.asarray(source.poisson(small), np.float64)
    if not (means < NORMAL_FROM).all():
        with np.errstate(invalid="ignore"):
            large = means + np.sqrt(np.maximum(means, 0.0)) * source.standard_normal(means.shape)
        values = np.where(means < NORMAL_FROM, values, np.where(np.isinf(means), means, large))
    return result(values, x)


@without_derivative
def standard_gamma(x: Tensor, name: str | None = None) -> Tensor:
    """Values of the gamma distribution with the elements of x as shape and scale 1, as NumPy draws them.

    The result has the shape, dtype and place of x. A value is at least the smallest normal number, which is also that of
    a shape up to 0.

    Raises:
        ValueError: x is no tensor.
        UnsupportedError: it has no floating-point dtype.
    """
    shapes = numbers("standard_gamma", tensor(x, "standard_gamma", "x"))
    finite = np.isfinite(shapes)
    values: Floats = generator(meta(x).place).standard_gamma(np.where(finite, np.maximum(shapes, 0.0), 0.0))
    values = np.where(finite | (shapes < 0), values, shapes)
    double = meta(x).dtype is _dtype.float64
    return result(np.maximum(values, np.finfo(np.float64 if double else np.float32).tiny), x)


class DistributionMethods:
    """The functions of this module as methods of tensors."""

    __slots__ = ()

    bernoulli_ = bernoulli_
    cauchy_ = cauchy_
    exponential_ = exponential_
    geometric_ = geometric_
    log_normal_ = log_normal_
    multinomial = multinomial
    random_ = random_
