"""Random programs that write in place through views, whose values and gradients are compared with a model in NumPy.

A program makes leaves, constants and what is computed of them, views of views of those, and writes through any of them: recorded,
under no_grad, and through detached tensors. Some of its statements are a section, a function that is called twice and may be traced.
What is differentiated is the sum of all values at the end, and at each `pass`, with a weight for each element.

The model has views itself: arrays of NumPy over one memory. Its gradients are differences of four points. What no gradient passes
through keeps the value that it has in the first run: each tensor that is detached has a memory of its own in the other runs, into
which that run's difference of a write is added, as it is into all memories for a write under no_grad.
"""

from __future__ import annotations

import collections
import math
import random
from typing import Any, Callable

import numpy as np
from programs import Array, Statement
from slope_programs import STEP, TOLERANCE, dtype_of, weights

import paddle_mps as paddle

LARGEST = 6.0  # of any value
MOST = 30  # elements of a tensor
DEPTH = 4  # of views of views

ADVANCED = "index"  # marks what a key has for an index tensor or a mask


class Overlap(Exception):
    """The program is not one that has an answer."""


# ---- The model.


class Memory:
    """What tensors share: for each that was detached, and the first one, all elements."""

    def __init__(self, values: Array) -> None:
        self.of = [np.ascontiguousarray(values, np.float64).reshape(-1)]


class Value:
    def __init__(self, memory: Memory, which: int, array: Array) -> None:
        self.memory, self.which, self.array = memory, which, array

    @property
    def offset(self) -> int:
        begin = self.memory.of[self.which].ctypes.data
        return (int(self.array.__array_interface__["data"][0]) - begin) // 8 if self.array.size else 0

    def view(self, array: Array) -> Value:
        return Value(self.memory, self.which, array)


def made(array: Any) -> Value:
    memory = Memory(np.array(array, np.float64))
    return Value(memory, 0, memory.of[0].reshape(np.shape(array)))


class Model:
    """Runs programs in NumPy.

    Args:
        log: what the first run has written, for a later run; None for the first one.
    """

    def __init__(self, log: list[Array] | None = None) -> None:
        self.log: list[Array] = [] if log is None else log
        self.first, self.at = log is None, 0

    def constant(self, value: Array) -> Array:
        """A value as the first run has it."""
        if self.first:
            self.log.append(value.copy())
        self.at += 1
        return self.log[self.at - 1]

    def detach(self, x: Value) -> Value:
        m = x.memory
        m.of.append(self.constant(m.of[x.which]).copy())
        array = np.lib.stride_tricks.as_strided(m.of[-1][x.offset :], x.array.shape, x.array.strides)
        return Value(m, len(m.of) - 1, array)

    def write(self, x: Value, change: Callable[[Array], None], recorded: bool) -> None:
        own = x.memory.of[x.which]
        before = own.copy()
        if recorded or self.first:
            change(x.array)
        delta = self.constant(own - before)
        for other in x.memory.of:
            if other is not own or not (recorded or self.first):
                other += delta


def total(values: list[Array]) -> float:
    return float(sum(np.sum(v * weights(v.shape)) for v in values))


# ---- What both do. Each function has the model's side and ours.


def key_of(parts: list[Any], ours: Any = None) -> Any:
    """The key of a setitem; for ours with index tensors where it says so."""
    found: list[Any] = []
    for p in parts:
        if isinstance(p, tuple) and p[0] == ADVANCED:
            index = np.array(p[2])
            found.append(index if ours is None or p[1] == "array" else paddle.to_tensor(index, place=ours.place))
            if p[1] == "list":
                found[-1] = list(p[2])
        elif isinstance(p, tuple):
            found.append(slice(*p))
        elif p == "...":
            found.append(Ellipsis)
        else:
            found.append(p)
    return tuple(found)


def ramp(shape: Any) -> Array:
    return np.linspace(0.4, 0.9, math.prod(shape)).reshape(shape)


VIEWS: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "index": (lambda x, parts: x[(*key_of(parts), ...)], lambda x, parts: x[key_of(parts)]),
    "transpose": (lambda x, perm: np.transpose(x, perm), lambda x, perm: paddle.transpose(x, perm)),
    "reshape": (lambda x, shape: np.reshape(x, shape), lambda x, shape: paddle.reshape(x, shape)),
    "squeeze": (lambda x, axis: np.squeeze(x, axis), lambda x, axis: paddle.squeeze(x, axis)),
    "unsqueeze": (lambda x, axis: np.expand_dims(x, axis), lambda x, axis: paddle.unsqueeze(x, axis)),
    "diagonal": (
        lambda x, offset: np.lib.stride_tricks.as_strided(
            x[:, offset:], (min(x[:, offset:].shape),), (sum(x.strides),)
        ),
        lambda x, offset: paddle.diagonal(x, offset),
    ),
    "unfold": (
        lambda x, size, step: np.lib.stride_tricks.as_strided(
            x, ((x.shape[0] - size) // step + 1, size), (step * x.strides[0], x.strides[0])
        ),
        lambda x, size, step: x.unfold(0, size, step),
    ),
    "as_strided": (
        lambda x, shape, strides, start: np.lib.stride_tricks.as_strided(
            np.lib.stride_tricks.as_strided(x, (x.size + start,), (8,))[start:], shape, [8 * s for s in strides]
        ),
        lambda x, shape, strides, start: paddle.as_strided(
            x, shape, strides, x.element_size() * (start + offset_of(x))
        ),
    ),
}


def offset_of(x: Any) -> int:
    return int(x.offset) // x.element_size() if hasattr(x, "offset") else 0


NEW: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "multiply": (lambda x, y: x * y, lambda x, y: x * y),
    "add": (lambda x, y: x + y, lambda x, y: x + y),
    "sin": (np.sin, paddle.sin),
    "double": (lambda x: 2.0 * x, lambda x: 2.0 * x),
    "clone": (lambda x: x.copy(), lambda x: x.clone()),
    "same sum": (lambda x: np.sum(x, 0), lambda x: paddle.sum(x, 0)),
    "take": (lambda x, index: x[index], lambda x, index: x[index]),
}

# f(x, y): y is a value that depends on another tensor, of the shape that the form's `wanted` says.
CHANGES: dict[str, tuple[Callable[..., None], Callable[..., Any]]] = {}


def change(name: str, model: Callable[..., None], ours: Callable[..., Any]) -> None:
    CHANGES[name] = model, ours


def into(f: Callable[..., Array]) -> Callable[..., None]:
    def model(x: Array, *given: Any, **more: Any) -> None:
        x[...] = f(x.copy(), *given, **more)

    return model


for _name, _f in {"sin_": np.sin, "cos_": np.cos, "tanh_": np.tanh, "neg_": np.negative, "square_": np.square}.items():
    change(_name, into(_f), lambda x, _name=_name: getattr(x, _name)())
change("exp_", into(np.exp), lambda x: x.exp_())
change("sigmoid_", into(lambda x: 1 / (1 + np.exp(-x))), lambda x: x.sigmoid_())
change("scale_", into(lambda x: 0.5 * x + 0.25), lambda x: x.scale_(0.5, 0.25))
change("zero_", into(lambda x: 0 * x), lambda x: x.zero_())
change("fill_", into(lambda x, number: np.full_like(x, number)), lambda x, number: x.fill_(number))
change("tril_", into(np.tril), lambda x: x.tril_())
change("cumsum_", into(lambda x: np.cumsum(x, 0)), lambda x: x.cumsum_(0))
change("add_", into(lambda x, y: x + y), lambda x, y: x.add_(y))
change("subtract_", into(lambda x, y: x - y), lambda x, y: x.subtract_(y))
change("multiply_", into(lambda x, y: x * y), lambda x, y: x.multiply_(y))
change("divide_", into(lambda x, y: x / (y * y + 1)), lambda x, y: x.divide_(y * y + 1))
change("lerp_", into(lambda x, y: x + 0.3 * (y - x)), lambda x, y: x.lerp_(y, 0.3))
change("copy_", into(lambda x, y: np.broadcast_to(y, x.shape)), lambda x, y: x.copy_(y))


def model_set(x: Array, y: Array, parts: list[Any]) -> None:
    x[key_of(parts)] = y.copy()


def our_set(x: Any, y: Any, parts: list[Any]) -> None:
    x[key_of(parts, x)] = y


def set_number(x: Any, parts: list[Any], number: float) -> None:
    x[key_of(parts, None if isinstance(x, np.ndarray) else x)] = number


change("set", model_set, our_set)
change("set number", set_number, set_number)


def tensor_of(index: Any, x: Any) -> Any:
    return paddle.to_tensor(np.array(index), place=x.place)


def model_index_add(x: Array, y: Array, index: list[int]) -> None:
    np.add.at(x, np.array(index), y)


def model_along(x: Array, y: Array, index: Any) -> None:
    np.put_along_axis(x, np.array(index), np.broadcast_to(y, np.shape(index)), 0)


def model_along_add(x: Array, y: Array, index: Any) -> None:
    rest = np.indices(np.shape(index))[1:]
    np.add.at(x, (np.array(index), *rest), np.broadcast_to(y, np.shape(index)))


def model_index_fill(x: Array, y: Array, index: list[int]) -> None:
    x[index] = y.copy()


def model_masked(x: Array, y: Array, mask: Array) -> None:
    x[mask] = np.asarray(y).reshape(-1)[: int(mask.sum())].copy()


def model_where(x: Array, y: Array, mask: Array) -> None:
    x[...] = np.where(mask, x, y)


def model_diagonal(x: Array, number: float) -> None:
    for i in range(min(x.shape)):
        x[(i,) * x.ndim] = number


change("index_add_", model_index_add, lambda x, y, index: x.index_add_(tensor_of(index, x), 0, y))
change("index_fill_", model_index_fill, lambda x, y, index: x.index_fill_(tensor_of(index, x), 0, y))
change("index_put_", model_index_fill, lambda x, y, index: x.index_put_((tensor_of(index, x),), y))
change("index_put_ add", model_index_add, lambda x, y, index: x.index_put_((tensor_of(index, x),), y, accumulate=True))
change("scatter_", model_index_fill, lambda x, y, index: x.scatter_(tensor_of(index, x), y))
change("put_along_axis_", model_along, lambda x, y, index: x.put_along_axis_(tensor_of(index, x), y, 0))
change("put_along_axis_ add", model_along_add, lambda x, y, index: x.put_along_axis_(tensor_of(index, x), y, 0, "add"))
change("scatter_add_", model_along_add, lambda x, y, index: x.scatter_add_(0, tensor_of(index, x), y))
change("masked_fill_", into(lambda x, y, mask: np.where(mask, y, x)), lambda x, y, mask: x.masked_fill_(tensor_of(mask, x), y))  # fmt: skip
change("masked_scatter_", model_masked, lambda x, y, mask: x.masked_scatter_(tensor_of(mask, x), y))
change("where_", model_where, lambda x, y, mask: paddle.where_(tensor_of(mask, x), x, y))
change("fill_diagonal_", model_diagonal, lambda x, number: x.fill_diagonal_(number))


def fitted(x: Any, shape: Any, how: str, place: Any = None) -> Any:
    """A value of a shape that depends on x. how: its mean times a ramp, the mean alone, or x itself, which broadcasts."""
    if how == "itself":
        return x
    mean = x.sum() * 0.25
    if how == "mean":
        return mean
    return mean * (ramp(shape) if place is None else our_array(ramp(shape), place))


def word_of(place: Any) -> str:
    return place if isinstance(place, str) else "cpu" if place.is_cpu_place() else "mps"


def our_array(a: Array, place: Any, **given: Any) -> Any:
    return paddle.to_tensor(np.asarray(a).astype(dtype_of(word_of(place))), place=place, **given)


# ---- Making programs.


class Maker:
    """Makes one random program, with the model run beside it. All on one place."""

    def __init__(self, seed: int, place: str) -> None:
        self.rng = random.Random(seed)
        self.place = place
        self.statements: list[Statement] = []
        self.values: dict[int, Value] = {}
        self.depth: dict[int, int] = {}
        self.leaf: set[int] = set()  # leaves and their views
        self.model = Model()
        self.count = 0
        self.local: list[int] | None = None  # in a section: what was made in it

    def make(self) -> list[Statement]:
        for kind in ("leaf", "leaf", "constant")[: self.rng.randint(2, 3)]:
            self.create(kind)
        self.compute()
        sections = self.rng.random() < 0.6
        for _ in range(self.rng.randint(5, 24)):
            getattr(self, self.rng.choice(STEPS))()
            if sections and self.local is None and self.rng.random() < 0.15:
                self.section()
        return self.statements

    def emit(self, name: str, operands: list[int], **given: Any) -> bool:
        s = Statement(name, operands, given, self.place)
        snapshot = {i: v.array.copy() for i, v in self.values.items()}
        with np.errstate(all="ignore"):
            try:
                value = step(self.model, s, self.values)
            except (ValueError, IndexError, Overlap):
                return False
        bad = any(not np.all(np.abs(v.array) <= LARGEST) for v in [*self.values.values(), *([value] if value else [])])
        if bad:
            for i, v in self.values.items():
                v.array[...] = snapshot[i]
            return False
        self.statements.append(s)
        if value is not None:
            s.given["number_of_it"] = self.count
            self.values[self.count] = value
            if self.local is not None:
                self.local.append(self.count)
            self.count += 1
        return True

    def create(self, kind: str) -> None:
        shape = self.rng.choice(((3, 4), (2, 3, 2), (6,), (4, 4), (2, 2), (3,), (1, 5), (2, 1, 3)))
        if self.emit("create", [], kind=kind, shape=shape, seed=self.rng.randrange(10**6)):
            self.depth[self.count - 1] = 0
            if kind == "leaf":
                self.leaf.add(self.count - 1)

    def one(self, writable: bool = False, rank: int = 0) -> int | None:
        fit = [
            i
            for i, v in self.values.items()
            if v.array.ndim >= rank and not (writable and (i in self.leaf or overlaps(v.array)))
        ]
        return self.rng.choice(fit[-9:]) if fit else None

    def compute(self) -> None:
        i = self.one()
        if i is None:
            return
        x = self.values[i].array
        name = self.rng.choice(tuple(NEW))
        given: dict[str, Any] = {}
        operands = [i]
        if name in ("multiply", "add"):
            fit = [j for j, v in self.values.items() if broadcasts(v.array.shape, x.shape)]
            operands.append(self.rng.choice(fit))
        elif name in ("same sum", "take") and not (x.ndim and x.shape[0]):
            return
        elif name == "take":
            given["index"] = self.rng.choices(range(-x.shape[0], x.shape[0]), k=self.rng.randint(1, 4))
        if self.emit(name, operands, **given):
            self.depth[self.count - 1] = 0

    def view(self) -> None:
        i = self.one()
        if i is None or self.depth[i] >= DEPTH:
            return
        x = self.values[i].array
        ones = [a for a, n in enumerate(x.shape) if n == 1]
        which = self.rng.choice(("index", "index", "index", *VIEWS))
        given: dict[str, Any] = {}
        if which == "index" and x.ndim:
            given["parts"] = self.parts(x.shape)
        elif which == "transpose":
            given["perm"] = self.rng.sample(range(x.ndim), x.ndim)
        elif which == "unsqueeze" and x.ndim < 4:
            given["axis"] = self.rng.randint(0, x.ndim)
        elif which == "squeeze" and ones:
            given["axis"] = self.rng.choice(ones)
        elif which == "reshape" and x.flags["C_CONTIGUOUS"]:
            given["shape"] = self.rng.choice(([x.size], [1, x.size], [*x.shape, 1], list(x.shape[::-1])))
        elif which == "diagonal" and x.ndim == 2 and min(x.shape) > 1:
            given["offset"] = self.rng.randint(0, 1)
        elif which == "unfold" and x.ndim == 1 and x.size >= 2:
            given["size"] = self.rng.randint(1, min(3, x.size))
            given["step"] = self.rng.randint(1, 3)
        elif which == "as_strided" and x.flags["C_CONTIGUOUS"] and x.size >= 3 and self.values[i].offset == 0:
            shape = [self.rng.randint(1, 3) for _ in range(self.rng.randint(1, 2))]
            strides = [self.rng.randint(1, 4) for _ in shape]
            room = x.size - 1 - sum((n - 1) * s for n, s in zip(shape, strides))
            if room < 0:
                return
            given.update(shape=shape, strides=strides, start=self.rng.randint(0, room))
        else:
            return
        if self.emit(which, [i], **given):
            self.joined(i, 1)

    def joined(self, i: int, deeper: int) -> None:
        self.depth[self.count - 1] = self.depth[i] + deeper
        if i in self.leaf:
            self.leaf.add(self.count - 1)

    def detach(self) -> None:
        i = self.one()
        if i is not None and self.emit("detach", [i]):
            self.depth[self.count - 1] = self.depth[i]

    def parts(self, shape: tuple[int, ...], more: bool = False) -> list[Any]:
        """Ints and slices with steps of either sign; more: one axis with a list, an array or a tensor, new axes and ellipses."""
        parts: list[Any] = []
        advanced = self.rng.randrange(len(shape)) if more and all(shape) and self.rng.random() < 0.5 else -1
        for axis, n in enumerate(shape[: self.rng.randint(1, len(shape))]):
            if axis == advanced:
                kind = self.rng.choice(("list", "array", "tensor") * 3 + ("mask",))
                if kind == "mask":
                    index: list[Any] = [self.rng.random() < 0.6 for _ in range(n)]
                    kind = "array"
                else:
                    index = self.rng.choices(range(-n, n), k=self.rng.randint(1, 3))
                parts.append((ADVANCED, kind, index))
            elif n and advanced < 0 and self.rng.random() < 0.35:  # beside index tensors, ints are others for NumPy
                parts.append(self.rng.randrange(-n, n))
            else:
                bounds = [self.rng.choice((None, None, self.rng.randint(-n, n))) for _ in range(2)]
                parts.append((*bounds, self.rng.choice((None, None, 2, -1, -2))))
        if more and self.rng.random() < 0.2:
            parts.insert(self.rng.randint(0, len(parts)), None)
        if more and self.rng.random() < 0.2 and len(parts) <= len(shape):
            parts.append("...")
        return parts

    def write(self) -> None:
        """A change of a value that is no leaf. Under no_grad leaves change too."""
        quiet = self.rng.random() < 0.15
        i = self.one(writable=not quiet)
        if i is None or overlaps(x := self.values[i].array) or not x.size:
            return
        name = self.rng.choice((*CHANGES, "set", "set", "set", "set number", "set_value", "copy_", "add_", "multiply_"))
        given: dict[str, Any] = {"quiet": quiet}
        operands = [i]
        y = self.one()
        assert y is not None
        shape: Any = x.shape
        if name in ("fill_", "set number", "fill_diagonal_"):
            given["number"] = self.rng.choice((0.5, -0.75, 1.25))
        if name in ("set", "set number"):
            if not x.ndim:
                return
            given["parts"] = (
                self.parts(shape, True)
                if self.rng.random() < 0.97
                else [(ADVANCED, "tensor", mask_of(self.rng, shape))]
            )
            try:
                shape = x[key_of(given["parts"])].shape
            except IndexError:
                return
        elif name in ("tril_", "fill_diagonal_") and x.ndim != 2:
            return
        elif name == "set_value":
            if i in self.leaf and self.depth[i]:
                return
            given.update(seed=self.rng.randrange(10**6), quiet=i in self.leaf)  # gradients end there, except at a leaf
        elif name in ("index_add_", "index_fill_", "index_put_", "index_put_ add", "scatter_"):
            if not x.ndim:
                return
            n = x.shape[0]
            unique = name == "scatter_"
            index = self.rng.sample(range(n), self.rng.randint(1, n)) if unique else self.rng.choices(range(n), k=self.rng.randint(1, 3))  # fmt: skip
            given["index"] = index
            shape = () if name == "index_fill_" else (len(index), *x.shape[1:])
        elif name in ("put_along_axis_", "put_along_axis_ add", "scatter_add_"):
            if not x.size or not x.ndim:
                return
            shape = (1, *x.shape[1:])
            given["index"] = np.array([self.rng.randrange(x.shape[0]) for _ in range(math.prod(shape))]).reshape(shape)
        elif name in ("masked_fill_", "masked_scatter_", "where_"):
            given["mask"] = np.array(mask_of(self.rng, shape))
            shape = () if name == "masked_fill_" else shape
        elif name == "cumsum_" and not x.ndim:
            return
        if name in TWO:
            how = self.rng.choice(("ramp", "mean", "itself"))
            z = self.values[y].array
            if name in WHOLE:
                good = how == "ramp" or (how == "itself" and z.shape == shape)
            else:
                good = how != "itself" or fits(z.shape, shape)
            if not good:
                how = "ramp"
            if name in ("index_fill_", "masked_fill_"):
                how = "mean"
            given.update(how=how, shape=tuple(shape))
            operands.append(y)
        self.emit(name, operands, **given)

    def forget(self) -> None:
        """Deletes a tensor, often one that has views."""
        if len(self.values) > 3:
            i = self.rng.choice(list(self.values)[:-1])
            self.statements.append(Statement("delete", [i]))
            del self.values[i]

    def backward(self) -> None:
        if self.local is None:
            some = self.rng.sample(list(self.values), min(len(self.values), self.rng.randint(1, 3)))
            self.statements.append(Statement("pass", some, {"retain": self.rng.random() < 0.8}))

    def hook(self) -> None:
        i = self.one()
        if i is not None:
            self.statements.append(Statement("hook", [i], {"retain": self.rng.random() < 0.5}))

    def section(self) -> None:
        """A function that is called twice, and what is made in it is local."""
        given = self.rng.sample(list(self.values), self.rng.choice((0, 0, 1, 2)))
        begin = len(self.statements)
        self.local = []
        for _ in range(self.rng.randint(1, 6)):
            self.rng.choice((self.view, self.write, self.write, self.compute, self.detach, self.view))()
        body = self.statements[begin:]
        local, self.local = self.local, None
        for i in local:
            self.values.pop(i, None)
        del self.statements[begin:]
        s = Statement("section", given, {"body": body, "times": 1}, self.place)
        self.statements.append(s)
        again = self.emit_again(body)
        s.given["times"] = 2 if again else 1

    def emit_again(self, body: list[Statement]) -> bool:
        """Runs a body once more, if the values stay in range."""
        trial = Maker(0, self.place)
        trial.values, trial.count = dict(self.values), self.count
        backup = {id(v.memory): (v.memory, [a.copy() for a in v.memory.of]) for v in self.values.values()}
        good = True
        with np.errstate(all="ignore"):
            for b in body:
                try:
                    value = step(self.model, b, trial.values)
                except (ValueError, IndexError, Overlap, KeyError):
                    good = False
                    break
                if value is not None:
                    trial.values[b.given["number_of_it"]] = value
                good = good and all(np.all(np.abs(v.array) <= LARGEST) for v in trial.values.values())
        if not good:
            for memory, kept in backup.values():
                del memory.of[len(kept) :]
                for a, k in zip(memory.of, kept):
                    a[...] = k
        return good


STEPS = ("compute", "compute", "view", "view", "view", "view", "write", "write", "write", "write", "write", "forget", "backward", "hook", "detach")  # fmt: skip
TWO = {"add_", "subtract_", "multiply_", "divide_", "lerp_", "copy_", "set", "index_add_", "index_fill_", "index_put_", "index_put_ add", "scatter_", "put_along_axis_", "put_along_axis_ add", "scatter_add_", "masked_fill_", "masked_scatter_", "where_"}  # fmt: skip
WHOLE = {"lerp_", "index_add_", "index_put_", "index_put_ add", "scatter_", "put_along_axis_", "put_along_axis_ add", "scatter_add_", "masked_scatter_", "where_"}  # fmt: skip


def mask_of(rng: random.Random, shape: Any) -> Any:
    return np.array([rng.random() < 0.5 for _ in range(math.prod(shape))]).reshape(shape).tolist()


def broadcasts(*shapes: tuple[int, ...]) -> bool:
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        return False
    return True


def fits(given: tuple[int, ...], shape: tuple[int, ...]) -> bool:
    return broadcasts(given, shape) and np.broadcast_shapes(given, shape) == tuple(shape)


def overlaps(x: Array) -> bool:
    """Whether an element is shown twice."""
    if not x.size:
        return False
    at = np.zeros(1, np.int64)
    for n, s in zip(x.shape, x.strides):
        at = (at[:, None] + np.arange(n) * s).reshape(-1)
    return len(np.unique(at)) < len(at)


# ---- Running programs.


def step(model: Model, s: Statement, values: dict[int, Value]) -> Value | None:
    """One statement of the model: a new value, or None."""
    name, given = s.name, s.given
    x = [values[i] for i in s.operands]
    if name == "create":
        return made(np.random.default_rng(given["seed"]).uniform(-1.2, 1.2, given["shape"]))
    if name == "detach":
        return model.detach(x[0])
    if name in VIEWS:
        more = {k: v for k, v in given.items() if k != "number_of_it"}
        array = VIEWS[name][0](x[0].array, **more)
        if array.size > MOST:
            raise Overlap
        return x[0].view(array)
    if name in NEW:
        more = {k: v for k, v in given.items() if k != "number_of_it"}
        array = np.asarray(NEW[name][0](*[v.array for v in x], **more))
        if array.size > MOST:
            raise Overlap
        return made(array)
    quiet = given["quiet"]
    if name == "set_value":
        values_of = np.random.default_rng(given["seed"]).uniform(-1.2, 1.2, x[0].array.shape)
        model.write(x[0], lambda a: a.__setitem__(..., values_of), not quiet)
        return None
    more = {k: v for k, v in given.items() if k in ("number", "parts", "index", "mask")}
    y = [np.array(fitted(x[1].array, given["shape"], given["how"]))] if name in TWO else []
    model.write(x[0], lambda a: CHANGES[name][0](a, *y, **more), not quiet)
    return None


class Pieces:
    """The leaves of a run of the model, and what is differentiated."""

    def __init__(self) -> None:
        self.sum = 0.0
        self.ends: list[Array] = []


def model_run(statements: list[Statement], model: Model, moved: dict[int, Array]) -> Pieces:
    """Runs a program. moved: what is added to leaves, by their numbers."""
    values: dict[int, Value] = {}
    pieces = Pieces()

    def run(some: list[Statement], values: dict[int, Value]) -> None:
        for s in some:
            if any(i not in values for i in s.operands):
                continue
            if s.name == "delete":
                del values[s.operands[0]]
            elif s.name == "pass":
                pieces.sum += total([values[i].array for i in s.operands])
            elif s.name == "section":
                for _ in range(s.given["times"]):
                    inner = dict(values)
                    run(s.given["body"], inner)
                    pieces.sum += total([v.array for v in inner.values()])
            elif s.name != "hook":
                value = step(model, s, values)
                if value is not None:
                    number = s.given["number_of_it"]
                    values[number] = value
                    if number in moved:
                        value.array += moved[number]

    run(statements, values)
    pieces.sum += total([v.array for v in values.values()])
    pieces.ends = [v.array for v in values.values()]
    return pieces


def oracle(statements: list[Statement]) -> tuple[list[Array], dict[int, Array], float]:
    """The values at the end, the gradients of the leaves, and the sum."""
    first = Model()
    found = model_run(statements, first, {})
    slopes: dict[int, Array] = {}
    for s in statements:
        if s.name != "create" or s.given["kind"] != "leaf":
            continue
        slope = np.zeros(s.given["shape"])
        for i in np.ndindex(slope.shape):
            for factor, steps in ((8, 1), (-8, -1), (-1, 2), (1, -2)):
                delta = np.zeros(slope.shape)
                delta[i] = steps * STEP
                slope[i] += factor * model_run(statements, Model(first.log), {s.given["number_of_it"]: delta}).sum
        slopes[s.given["number_of_it"]] = slope / (12 * STEP)
    return found.ends, slopes, found.sum


class Ours:
    """A run by this package.

    Args:
        way: eager, constant (nothing asks for gradients), sections (those are traced, and get some tensors as arguments), or whole
            (all of the program is traced).
    """

    def __init__(self, statements: list[Statement], way: str) -> None:
        self.statements, self.way = statements, way
        self.leaves: dict[int, Any] = {}
        self.ends: list[Array] = []
        self.sum = 0.0

    def weigh(self, values: list[Any]) -> Any:
        result = None
        for v in values:
            part = (v * our_array(weights(tuple(v.shape)), v.place)).sum()
            result = part if result is None else result + part
        return result

    def go(self) -> None:
        for s in self.statements:
            if s.name == "create" and s.given["kind"] == "leaf":
                a = np.random.default_rng(s.given["seed"]).uniform(-1.2, 1.2, s.given["shape"])
                self.leaves[s.given["number_of_it"]] = our_array(a, s.place, stop_gradient=self.way == "constant")
        if self.way == "whole":

            def function(*given: Any) -> Any:
                self.passes: list[Any] = []
                ends = self.run(self.statements, dict(zip(self.leaves, given)), {})
                return self.added([*self.passes, self.weigh(ends)]), ends

            leaves = list(self.leaves.values())
            result, ends = paddle.jit.to_static(function, full_graph=True)(*leaves)
        else:
            self.passes = []
            ends = self.run(self.statements, self.leaves, {})
            result = self.added([*self.passes, self.weigh(ends)])
        self.ends = [v.numpy() for v in ends]
        if result is not None:
            self.sum += float(result)
            if not result.stop_gradient:
                result.backward()

    def added(self, parts: list[Any]) -> Any:
        result = None
        for p in parts:
            if p is not None:
                result = p if result is None else result + p
        return result

    def run(self, statements: list[Statement], leaves: dict[int, Any], values: dict[int, Any]) -> list[Any]:
        """Runs statements on the values; the values at the end."""
        for s in statements:
            if any(i not in values for i in s.operands):
                continue
            x = [values[i] for i in s.operands]
            if s.name == "delete":
                del values[s.operands[0]]
            elif s.name == "pass":
                part = self.weigh(x)
                if self.way in ("whole", "constant") or part.stop_gradient:
                    self.passes.append(part)
                else:
                    self.sum += float(part)
                    part.backward(retain_graph=s.given["retain"])
            elif s.name == "hook":
                if not x[0].stop_gradient and self.way != "whole":
                    x[0].register_hook(lambda g: None)
                    if s.given["retain"]:
                        x[0].retain_grads()
            elif s.name == "section":
                self.section(s, values)
            else:
                value = self.step(s, x, leaves)
                if value is not None:
                    values[s.given["number_of_it"]] = value
            del x
        return list(values.values())

    def section(self, s: Statement, values: dict[int, Any]) -> None:
        body = s.given["body"]

        def function(where: Any, *given: Any) -> Any:  # it is traced for the place of an argument
            inner = {**values, **dict(zip(s.operands, given))}
            return self.weigh(self.run(body, {}, inner))

        called = paddle.jit.to_static(function, full_graph=True) if self.way == "sections" else function
        for _ in range(s.given["times"]):
            self.passes.append(called(our_array(np.zeros(1), s.place), *[values[i] for i in s.operands]))

    def step(self, s: Statement, x: list[Any], leaves: dict[int, Any]) -> Any:
        name, given = s.name, s.given
        if name == "create":
            if given["kind"] == "leaf":
                return leaves[given["number_of_it"]]
            return our_array(np.random.default_rng(given["seed"]).uniform(-1.2, 1.2, given["shape"]), s.place)
        if name == "detach":
            return x[0].detach()
        if name in VIEWS or name in NEW:
            more = {k: v for k, v in given.items() if k != "number_of_it"}
            return (VIEWS if name in VIEWS else NEW)[name][1](*x, **more)
        if name == "set_value":
            x[0].set_value(
                np.random.default_rng(given["seed"]).uniform(-1.2, 1.2, tuple(x[0].shape)).astype(dtype_of(s.place))
            )
            return None
        more = {k: v for k, v in given.items() if k in ("number", "parts", "index", "mask")}
        if given["quiet"]:
            with paddle.no_grad():
                self.change(name, x, given, more)
        else:
            self.change(name, x, given, more)
        return None

    def change(self, name: str, x: list[Any], given: dict[str, Any], more: dict[str, Any]) -> None:
        y = [fitted(x[1], given["shape"], given["how"], x[0].place)] if name in TWO else []
        CHANGES[name][1](x[0], *y, **more)


REFUSED: collections.Counter[str] = collections.Counter()
RIGHT: collections.Counter[str] = collections.Counter()


def difference(statements: list[Statement], ways: tuple[str, ...] = ("constant", "eager", "sections", "whole")) -> str:
    """What is different between us and the model, or nothing. A refusal is counted and none."""
    try:
        with np.errstate(all="ignore"):
            ends, slopes, sum_of = oracle(statements)
    except (ValueError, IndexError, Overlap, KeyError):
        return ""  # a program that was shortened too far
    margin = TOLERANCE[dtype_of(statements[0].place)]
    exact = 1e-11 if margin < 1e-5 else 1e-4
    for way in ways:
        if way == "sections" and not any(s.name == "section" for s in statements):
            continue
        ours = Ours(statements, way)
        try:
            ours.go()
        except (ValueError, paddle.UnsupportedError, paddle.TracingError) as error:
            if way == "constant" and "may overlap" not in str(error):
                return f"{way}: {type(error).__name__}: {error}"
            REFUSED[f"{way}: {type(error).__name__}: {refusal(str(error))}"] += 1
            continue
        except Exception as error:
            return f"{way}: {type(error).__name__}: {error}"
        for i, (w, g) in enumerate(zip(ends, ours.ends)):
            if w.shape != g.shape or not np.allclose(g, w, rtol=exact, atol=exact):
                return f"{way}: value {i} at the end: want\n{w}\ngot\n{g}"
        if not np.isclose(ours.sum, sum_of, rtol=exact, atol=exact * 100):
            return f"{way}: the sum: want {sum_of}, got {ours.sum}"
        for i, w in slopes.items() if way != "constant" else ():
            x = ours.leaves[i]
            g = np.zeros(w.shape) if x.grad is None else x.grad.numpy()
            room = margin * max(1.0, float(np.max(np.abs(w), initial=0.0)))
            if w.shape != g.shape or not np.allclose(g, w, rtol=0, atol=room):
                return f"{way}: gradient of v{i}: want\n{w}\ngot\n{g}"
        RIGHT[way] += 1
    return ""


def refusal(text: str) -> str:
    """The kind of an error: its first line without numbers."""
    return "".join("N" if c.isdigit() else c for c in text.splitlines()[0])[:120]


def shortened(statements: list[Statement], differs: Callable[[list[Statement]], str]) -> list[Statement]:
    """The program without what the difference does not need: of the same kind, so that it is told by its first word."""
    kind = differs(statements).split(":")[0:2]
    at = len(statements) - 1
    while at >= 0:
        fewer = statements[:at] + statements[at + 1 :]
        if fewer and differs(fewer).split(":")[0:2] == kind:
            statements = fewer
        elif statements[at].name == "section":
            s = statements[at]
            body = s.given["body"]
            for b in reversed(range(len(body))):
                less = Statement(s.name, s.operands, {**s.given, "body": body[:b] + body[b + 1 :]}, s.place)
                fewer = [*statements[:at], less, *statements[at + 1 :]]
                if differs(fewer).split(":")[0:2] == kind:
                    statements, body = fewer, less.given["body"]
                    s = less
        at -= 1
    return statements


def told(seed: int, statements: list[Statement], text: str) -> str:
    lines: list[str] = []

    def tell(some: list[Statement], indent: str) -> None:
        for s in some:
            number = s.given.get("number_of_it")
            given = {k: v for k, v in s.given.items() if k not in ("number_of_it", "body")}
            arguments = [f"v{i}" for i in s.operands] + [f"{k}={v!r}" for k, v in given.items()]
            lines.append(f"{indent}{'' if number is None else f'v{number} = '}{s.name}({', '.join(arguments)})")
            if s.name == "section":
                tell(s.given["body"], indent + "    ")

    tell(statements, "  ")
    return "\n".join(
        [f"FAIL program of seed {seed} on {statements[0].place}", *lines, *("  " + t for t in text.splitlines())]
    )
