"""Inputs for models of which only the file is at hand: for the commands `bench` and `explain`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .. import onnx
from .._core._errors import UnsupportedError
from .._models import _elements

Array = Any


def options(parser: argparse.ArgumentParser) -> None:
    """Adds the options that say what the inputs are."""
    parser.add_argument("model", help="the .onnx file")
    parser.add_argument(
        "--size", action="append", default=[], metavar="NAME=N", help="the size that the file calls NAME; default 1"
    )
    parser.add_argument(
        "--shape", action="append", default=[], metavar="NAME=N,N,...", help="the shape of an input, instead of sizes"
    )
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="NAME=X.npy",
        help="an array for an input; default random numbers",
    )
    parser.add_argument("--place", metavar="PLACE", help="cpu or mps:0; the current place by default")


def pairs(what: str, given: Sequence[str]) -> dict[str, str]:
    """The arguments of an option that are NAME=VALUE.

    Raises:
        ValueError: one is not.
    """
    found = {}
    for text in given:
        name, _, value = text.rpartition("=")
        if not name or not value:
            raise ValueError(f"[{what}] got {text!r}; want NAME=VALUE")
        found[name] = value
    return found


def numbers(what: str, text: str) -> list[int]:
    """Sizes with commas between.

    Raises:
        ValueError: they are no sizes.
    """
    if not all(part.isdecimal() for part in text.split(",")):
        raise ValueError(f"[{what}] got {text!r}; want sizes, such as 1,3,48,192")
    return [int(part) for part in text.split(",")]


def inputs(model: onnx.Model, given: argparse.Namespace) -> dict[str, Array]:
    """An array for each input: that of a file, or random numbers, the same ones each time.

    Raises:
        ValueError: there is no such input or size, or the file does not say how many dimensions an input has.
    """
    files, shapes = pairs("input", given.input), pairs("shape", given.shape)
    sizes = {name: numbers("size", text)[0] for name, text in pairs("size", given.size).items()}
    said = _declared(model)
    names = {p["name"] for p in said}
    free = {d for p in said for d in p["shape"] or () if isinstance(d, str)}
    for kind, got, known in (("input", {*files, *shapes}, names), ("size", {*sizes}, free)):
        if got - known:
            raise ValueError(f"[{kind}] got {sorted(got - known)}; want some of {sorted(known)}")
    random = np.random.default_rng(0)
    made: dict[str, Array] = {}
    for p, port in zip(said, model.inputs):
        name = p["name"]
        # Arrays of bytes have the bits of elements that NumPy has no dtype for.
        dtype = port.dtype.numpy if port.dtype else _elements.plain(port.type)
        if name in files:
            made[name] = onnx.array_of(files[name])
        elif dtype is None or (p["shape"] is None and name not in shapes):
            raise ValueError(f"[input] {name!r} is {port.type}; want its shape (--shape) or an array for it (--input)")
        else:
            shape = numbers("shape", shapes[name]) if name in shapes else [_size(d, sizes) for d in p["shape"]]
            made[name] = _random(dtype, shape, random)
    return made


def _declared(model: onnx.Model) -> list[dict[str, Any]]:
    """The inputs with the names of their sizes; of a program in a file of our own, the sizes have none."""
    try:
        found: list[dict[str, Any]] = model.describe()["inputs"]
    except UnsupportedError:
        found = [{"name": p.name, "shape": p.shape and list(p.shape)} for p in model.inputs]
    return found


def _size(dim: Any, sizes: Mapping[str, int]) -> int:
    """A dimension of a file as a size."""
    return dim if isinstance(dim, int) else sizes.get(dim, 1)


def _random(dtype: Any, shape: Sequence[int], random: np.random.Generator) -> Array:
    """Normal numbers, or integers that are 0 or 1, which any table of a model has; for strings, the texts of these."""
    if np.issubdtype(dtype, np.floating):
        return random.standard_normal(shape).astype(dtype)
    numbers = random.integers(0, 2, shape)
    return numbers.astype(str).astype(dtype) if dtype.hasobject else numbers.astype(dtype)


def described(arrays: Mapping[str, Array]) -> str:
    """The inputs for people: `x float32[1, 3]`."""
    return ", ".join(f"{name} {x.dtype}{list(x.shape)}" for name, x in arrays.items())
