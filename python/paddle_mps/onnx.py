"""Runs ONNX models on the CPU or the Apple GPU.

    model = paddle_mps.onnx.load("model.onnx")
    y = model(x)

Arguments are NumPy arrays or tensors, by position in the order of the model's inputs, or by name; results are tensors. Inputs
and results with elements that tensors lack, such as strings, uint16 and 8-bit floats, are arrays.
Dynamic sizes may differ from call to call: the model is compiled at the first call with each set of sizes.
docs/onnx.md lists what is supported.
"""

from __future__ import annotations

import ctypes
import math
import os
import re
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from ctypes import byref
from typing import TYPE_CHECKING, Any, NamedTuple, Union

import numpy as np

from . import _missing
from ._arrays._creation import to_tensor
from ._calls import _tracing
from ._core import _dtype
from ._core._errors import check
from ._core._library import library, quick
from ._core._objects import Tensor, meta
from ._core._place import Place
from ._core._place import current as current_place
from ._core._place import place as place_of
from ._core._structs import ProgramInfo, ValueInfo
from ._models import _elements, _halves, _strings
from ._models._progress import Progress
from ._models._reference import TOLERANCES, Reference, compare, sent

# argparse and json are imported where they are used: to import them takes longer than to load a small model.
if TYPE_CHECKING:
    import argparse

__all__ = ["Model", "Port", "load"]

BY_NUMBER = {d.number: d for d in _dtype.ALL}

Array = Union[Tensor, "np.ndarray[Any, Any]", Sequence[Any], float]
Given = Union[Array, Sequence[Array], None]
MOST_TENSORS = 4096  # of all results of a run, and the form before them: the library refuses more


class Port(NamedTuple):
    """An input or an output of a model.

    Attributes:
        name: what the file calls it.
        dtype: the dtype of its elements; None where tensors lack it, as uint16 and strings.
        shape: the size of each axis, None for any; None where the file does not say how many axes there are.
        type: what the file declares, such as `float[batch, 3, ?, ?]`.
    """

    name: str
    dtype: _dtype.DType | None
    shape: tuple[int | None, ...] | None
    type: str


class Model:
    """A model that was loaded; see `load`.

    Attributes:
        inputs: what a call takes, in this order.
        outputs: what a call returns.
        place: where it runs.
        accuracy: of a model in half precision, by how much each result of the first call differed from that in float32, in its
            largest element.
    """

    def __init__(
        self,
        path: str | None,
        data: bytes | None,
        place: Place,
        check_results: bool = False,
        halved: tuple[bytes, list[bool]] | None = None,
    ) -> None:
        """See `load`. halved is the model in half precision, which runs instead of the file, and which results were float32."""
        handle, info = ctypes.c_void_p(), ProgramInfo(ctypes.sizeof(ProgramInfo))
        source = path if data is None else data
        self._wide: list[bool] = []
        if halved is not None:
            path, (data, self._wide) = None, halved
        file = None if path is None else os.fsencode(path)
        check(library.pmps_program_load(byref(place.struct), file, data, len(data or b""), byref(handle)))
        assert handle.value
        check(quick.pmps_program_get_info(handle, byref(info)))
        self.place, self._name = place, source if isinstance(source, str) else "bytes"
        self._program = _tracing.Program(handle.value, info.outputs, False)
        self.inputs = [_port(handle.value, False, i) for i in range(info.inputs)]
        self.outputs = [_port(handle.value, True, i) for i in range(info.outputs)]
        self._takes_forms, self._returns_forms = (
            any(_kind(p) != (False, False) for p in ports) for ports in (self.inputs, self.outputs)
        )
        # Whether there are results that are arrays.
        self._lacks = any(map(_lacking, self.outputs))
        self._reference = None
        self._halved, self._checked = halved is not None, check_results
        self.accuracy: dict[str, float] = {}
        self._first = threading.Lock()  # of several first calls, one tells the accuracy
        if check_results or halved is not None:
            assert source is not None
            self._reference = Reference(source)

    def __call__(self, *args: Given, **kwargs: Given) -> Any:
        """Runs the model.

        Args:
            args: NumPy arrays or tensors for the first inputs. Arrays and what makes arrays are converted to the dtype that the
                model takes, if nothing but precision is lost; tensors have to have it. For elements that tensors lack:
                arrays of uint16, uint32 or uint64; for those of 8 bits and less arrays of the dtypes of ml_dtypes, or of
                uint8 with the bits of an element in each byte; for strings arrays of str or of bytes in UTF-8. A sequence is a list of them, and None an optional without a
                value.
            kwargs: those for the other inputs, by name.

        Returns:
            A tensor, or a tuple of tensors where the model has several outputs. Results with elements that tensors lack are
            arrays as above, with dtypes of ml_dtypes if it is installed, and of str objects for strings. A sequence is a list of tensors, and None an optional
            without a value.

        Raises:
            TypeError: an input is missing, or is given twice, or its dtype is wrong.
            ValueError: a shape is none that the model takes.
            UnsupportedError: the model cannot run with these shapes.
            RuntimeError: a result differs from the reference, if the model was loaded with check.
        """
        given = self._arguments(args, kwargs)
        made = self._run(given)
        if self._halved:
            wide = [
                _widened(x) if yes else x for x, yes in zip(made if isinstance(made, tuple) else (made,), self._wide)
            ]
            made = tuple(wide) if isinstance(made, tuple) else wide[0]
        if self._reference is not None:
            self._check(given, made)
        return made

    def _check(self, given: Sequence[Any], made: Any) -> None:
        """Compares the results of a call with those of the reference: each call with check, and the first in half precision, of
        which it prints the accuracy."""
        with self._first:
            if self._halved and not self.accuracy:
                self._tell_accuracy(given, made)
        if self._checked:
            for name, got, want in self._pairs(given, made):
                compare(name, got, want, TOLERANCES["float16"] if self._halved else None)

    def _pairs(self, given: Sequence[Any], made: Any) -> list[tuple[str, Any, Any]]:
        """The results of a call by name, each with that of the reference."""
        assert self._reference is not None
        results = made if isinstance(made, tuple) else (made,)
        return [(p.name, sent(x), y) for p, x, y in zip(self.outputs, results, self._reference.results(given))]

    def _tell_accuracy(self, given: Sequence[Any], made: Any) -> None:
        """Prints by how much the results of a call in half precision differ from those in float32."""
        assert self._reference is not None
        accuracy = {}
        for name, got, want in self._pairs(given, made):
            try:
                accuracy[name] = compare(name, got, want, math.inf)
                said = f"differs by {accuracy[name]:.1e} of its largest element from float32"
            except RuntimeError as error:  # other integers, or NaN
                accuracy[name], said = math.inf, str(error)
            print(f"[onnx] float16: output {name!r} {said}", file=sys.stderr)
        self.accuracy = accuracy
        if not self._checked:
            self._reference.close()
            self._reference = None

    def _run(self, given: Sequence[Any]) -> Any:
        """A call, with an argument for each input."""
        if self._takes_forms or self._returns_forms:
            return self._formed(given)
        inputs = [self._tensor(x, p) for x, p in zip(given, self.inputs)]
        made = self._program.run(*inputs)
        if made is NotImplemented:
            made = self._program.run_anyway(inputs)
        return self._returned(made)

    def _returned(self, made: list[Tensor] | Tensor) -> Any:
        """The results of a model all of which are tensors or arrays."""
        if not isinstance(made, list):
            return _result(made, self.outputs[0]) if self._lacks else made
        return tuple(_result(x, p) for x, p in zip(made, self.outputs)) if self._lacks else tuple(made)

    def _formed(self, given: Sequence[Given]) -> Any:
        """A call of a model with sequences or optionals. The tensors of all inputs follow each other, behind their form: of how
        many each is made, and -1 for nothing. Results come likewise."""
        form: list[int] = []
        inputs: list[Tensor] = []
        for x, port in zip(given, self.inputs):
            values = _values(x, port)
            form.append(-1 if values is None else len(values))
            inputs += [self._tensor(value, port) for value in values or ()]
        if self._takes_forms:
            inputs.insert(0, to_tensor(np.array(form, np.int64), place=self.place))
        if not self._returns_forms:
            return self._returned(self._program.run_anyway(inputs))
        counts, *tensors = self._program.run_many(inputs, 1 + MOST_TENSORS)
        results: list[Any] = []
        for n, port in zip(counts.tolist(), self.outputs):
            values, tensors = [_result(x, port) for x in tensors[: max(n, 0)]], tensors[max(n, 0) :]
            results.append(None if n < 0 else values if _kind(port)[1] else values[0])
        return results[0] if len(results) == 1 else tuple(results)

    def run(self, inputs: Mapping[str, Given]) -> dict[str, Any]:
        """As a call, with inputs and results by their names, which need be no identifiers of Python.

        Raises:
            TypeError: inputs is no mapping; and as a call.
        """
        if not isinstance(inputs, Mapping):
            raise TypeError(
                f"[onnx] inputs are {type(inputs).__name__}; want a dict of arrays by name, or call the model"
            )
        made = self(**inputs)
        return dict(zip([p.name for p in self.outputs], made if isinstance(made, tuple) else (made,)))

    def explain(self) -> str:
        """What was compiled last: its steps, memory, and what the CPU runs for the GPU. Empty before the first call."""
        return self._program.text(plan=True)

    def describe(self) -> dict[str, Any]:
        """What the file says: producer_name, producer_version, domain, model_version, description, graph_name, graph_description;
        metadata, the texts that the exporter has added; opsets; inputs and outputs with the names of their sizes."""
        import json

        found: dict[str, Any] = json.loads(_tracing.text_of(library.pmps_program_describe, self._program._handle))
        return found

    def __repr__(self) -> str:
        def text(ports: Sequence[Port]) -> str:
            return ", ".join(f"{p.name}: {p.type}" for p in ports)

        return f"Model({self._name!r}, ({text(self.inputs)}) -> ({text(self.outputs)}), {self.place})"

    def _arguments(self, args: tuple[Given, ...], kwargs: Mapping[str, Given]) -> list[Any]:
        """The arguments in the order of the inputs."""
        names = [p.name for p in self.inputs]
        if len(args) > len(names):
            raise TypeError(f"[onnx] got {len(args)} inputs; want {len(names)}: {names}")
        given = dict(zip(names, args))
        for name, x in kwargs.items():
            if name not in names or name in given:
                wrong = "is given twice" if name in given else "is no input"
                raise TypeError(f"[onnx] {name!r} {wrong}; want {names}")
            given[name] = x
        missing = [name for name in names if name not in given]
        if missing:
            raise TypeError(f"[onnx] inputs {missing} are missing; want {names}")
        return [given[name] for name in names]

    def _tensor(self, x: Array, port: Port) -> Tensor:
        """An argument as a tensor of the model's place."""
        name = _lacking(port)
        if name == _elements.STRING:
            return _strings.tensor_of(x, self.place, f"input {port.name!r}")
        if name:
            return to_tensor(_elements.carried(x, name, f"input {port.name!r}"), place=self.place)
        if isinstance(x, Tensor):
            if self._halved and port.dtype is not None and meta(x).dtype.name == "float32":
                x = x.cast(port.dtype)
            return x if meta(x).place == self.place else x.to(self.place)
        array = x if isinstance(x, np.ndarray) else np.asarray(x)
        if port.dtype is not None and array.dtype != port.dtype.numpy:
            if not np.can_cast(array.dtype, port.dtype.numpy, "same_kind"):
                raise TypeError(f"[onnx] input {port.name!r} is {array.dtype}; want {port.dtype.name}")
            array = array.astype(port.dtype.numpy)
        return to_tensor(array, dtype=port.dtype, place=self.place)


def _widened(made: Any) -> Any:
    """A result in half precision as one of float32: a tensor, a list of them, or nothing."""
    if isinstance(made, list):
        return [_widened(x) for x in made]
    return made.cast("float32") if isinstance(made, Tensor) and meta(made).dtype.name == "float16" else made


def _kind(port: Port) -> tuple[bool, bool]:
    """Whether a port may be nothing, and whether it is a sequence, as its type says."""
    optional = port.type.startswith("optional ")
    return optional, port.type[len("optional ") if optional else 0 :].startswith("a sequence of ")


def _lacking(port: Port) -> str | None:
    """The element type of a port, or of the tensors of a sequence, if tensors lack it."""
    return _elements.lacking(port.type.replace("optional ", "").replace("a sequence of ", ""))


def _result(x: Tensor, port: Port) -> Any:
    """A tensor that a model has made as what a caller gets."""
    name = _lacking(port)
    if name == _elements.STRING:
        return _strings.array_of(x)
    return x if name is None else _elements.uncarried(x.numpy(), name)


def _values(x: Given, port: Port) -> Sequence[Array] | None:
    """The tensors of an argument; None for nothing.

    Raises:
        TypeError: it is not what the port takes.
    """
    optional, sequence = _kind(port)
    if x is None and optional:
        return None
    if x is None or (sequence and not isinstance(x, (list, tuple))):
        raise TypeError(f"[onnx] input {port.name!r} is {type(x).__name__}; want {port.type}")
    return x if sequence else [x]  # type: ignore[return-value]  # a list, as was checked


def _port(program: int, output: bool, index: int) -> Port:
    """A port of a program."""
    info = ValueInfo(ctypes.sizeof(ValueInfo))
    name, kind = ctypes.c_void_p(), ctypes.c_void_p()
    check(quick.pmps_program_get_port(program, output, index, byref(info), byref(name), byref(kind)))
    texts = []
    for text in (name, kind):
        assert text.value
        texts.append(ctypes.string_at(text).decode("utf-8", "replace"))
        quick.pmps_text_free(text)
    dims = None if info.rank < 0 else tuple(None if n < 0 else n for n in info.dims[: info.rank])
    dtype = None if _elements.lacking(texts[1]) else BY_NUMBER.get(info.dtype)
    if not texts[1] and dtype is not None:  # of a program in a file of our own, whose ports have no names
        texts = [f"{'output' if output else 'input'}{index}", f"{dtype.name}{list(dims or ())}"]
    return Port(texts[0], dtype, dims, texts[1])


def load(
    model: str | os.PathLike[str] | bytes,
    place: str | Place | None = None,
    check: bool = False,
    dtype: str | _dtype.DType | None = None,
) -> Model:
    """Loads a model.

    The file is mapped, and must not change as long as the model is in use. Weights in other files are found in its folder.

    Args:
        model: the path of an ONNX file, or its bytes; or of a program that `paddle-mps convert` or `jit.save` has written, whose
            inputs and outputs are `input0`, `output0` and so on.
        place: where the model runs, such as "mps" or `CPUPlace()`; None: the current place.
        check: whether each call also runs on the CPU without fused kernels, in a process of its own, and fails if a result differs
            by more than roundings do. It takes a multiple of the time, and the memory of a second copy. Models that draw random
            numbers always differ.
        dtype: "float16": weights and what is computed are in half precision, and take half the memory. Inputs and results are
            those of the file, such as float32. The first call also runs in float32, in a process of its own, and prints by how
            much each result differs; see `Model.accuracy`. None: as the file says.

    Raises:
        UnsupportedError: the model has operators that are not supported. The message names all of them.
        ValueError: there is no such file, or it is no ONNX file.

    Examples:
        >>> model = paddle_mps.onnx.load("model.onnx")
        >>> model.inputs[0].type
        'float[N, 3, 224, 224]'
        >>> y = model(np.zeros((1, 3, 224, 224), "float32"))
    """
    where = current_place() if place is None else place_of(place)
    if dtype is not None and str(dtype).rpartition(".")[2] not in ("float16", "float32"):
        raise ValueError(f"[onnx] dtype is {dtype}; want 'float16', or None for that of the file")
    half = dtype is not None and str(dtype).endswith("float16")
    if isinstance(model, (bytes, bytearray, memoryview)):
        data = bytes(model)
        return Model(None, data, where, check, (_halves.model(data), _halves.wide(data)) if half else None)
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(f"[onnx] model is {type(model).__name__}; want the path of an ONNX file, or its bytes")
    path = os.fspath(model)
    if not half:
        return Model(path, None, where, check)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise ValueError(f"[onnx] {error}") from error
    return Model(path, None, where, check, (_halves.model(data), _halves.wide(data)))


def array_of(path: str) -> np.ndarray[Any, Any]:
    """The array of a file of `numpy.save`, for the commands.

    Raises:
        OSError: it cannot be read.
        ValueError: it is another file.
    """
    with open(path, "rb") as file:
        try:
            array: np.ndarray[Any, Any] = np.lib.format.read_array(file, allow_pickle=False)
        except (ValueError, EOFError) as error:
            raise ValueError(f"[input] {path} is no array; want a .npy file, which numpy.save writes") from error
    return array


def main(arguments: Sequence[str]) -> int:
    """The command `paddle-mps run`: runs a model on arrays in .npy files and prints what it returns."""
    import argparse

    parser = argparse.ArgumentParser(prog="paddle-mps run", description="Runs an ONNX model.")
    parser.add_argument("model", help="the .onnx file")
    parser.add_argument(
        "--input",
        action="append",
        default=[],
        metavar="[NAME=]X.npy",
        help="an array for the next input of the model, or for the one called NAME; may be repeated",
    )
    parser.add_argument("--output", metavar="DIR", help="the folder for the results, which are written as NAME.npy")
    parser.add_argument("--place", metavar="PLACE", help="cpu or mps:0; the current place by default")
    parser.add_argument(
        "--check", action="store_true", help="fail if a result differs from that of unfused kernels on the CPU"
    )
    parser.add_argument("--dtype", choices=["float16"], help="compute in half precision, and print the accuracy")
    given = parser.parse_args(arguments)
    try:
        _run(given)
    except (OSError, ValueError, TypeError, RuntimeError) as error:
        print(f"paddle-mps run: {error}", file=sys.stderr)
        return 1
    return 0


def _run(given: argparse.Namespace) -> None:
    """The command, after its arguments are parsed."""
    start = time.perf_counter()
    if given.output and os.path.exists(given.output) and not os.path.isdir(given.output):
        raise ValueError(f"[output] {given.output} is a file; want a folder")
    with Progress("loading"):
        model = load(given.model, None if given.place is None else place_of(given.place), given.check, given.dtype)
    print(f"loaded {given.model} in {time.perf_counter() - start:.3f} s")
    args: list[np.ndarray[Any, Any]] = []
    named: dict[str, np.ndarray[Any, Any]] = {}
    for text in given.input:
        name, _, path = text.rpartition("=")
        array = array_of(path)
        if name in named:
            raise ValueError(f"[input] got two arrays for {name!r}; want one")
        if name:
            named[name] = array
        else:
            args.append(array)
    left_out = [p.name for p in model.inputs[len(args) :] if p.name not in named]
    if left_out:
        raise ValueError(f"[input] got no array for {left_out}; want --input {left_out[0]}=FILE.npy")
    start = time.perf_counter()
    with Progress("compiling and running"):
        made = model(*args, **named)
    arrays = [(name, _array(x)) for name, x in _named(model, made if isinstance(made, tuple) else (made,))]
    print(f"compiled and ran in {time.perf_counter() - start:.3f} s")
    for name, array in arrays:
        print(f"{name}: {array.dtype}{list(array.shape)}")
        if given.output:
            os.makedirs(given.output, exist_ok=True)
            plain = array if array.dtype.isbuiltin == 1 else array.view(np.uint8)  # files have no dtypes of ml_dtypes
            if array.dtype.hasobject:
                plain = array.astype(str)  # files without pickles have no objects
            np.save(os.path.join(given.output, re.sub(r"[^\w.-]", "_", name) + ".npy"), plain)


def _array(x: Tensor | np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A result as an array."""
    return x.numpy() if isinstance(x, Tensor) else x


def _named(model: Model, results: Sequence[Any]) -> list[tuple[str, Any]]:
    """The tensors of results by names. Those of a sequence have a number behind the name, and nothing has no tensor."""
    found: list[tuple[str, Any]] = []
    for port, x in zip(model.outputs, results):
        if isinstance(x, list):
            found += [(f"{port.name}.{i}", one) for i, one in enumerate(x)]
        elif x is not None:
            found.append((port.name, x))
    return found


_missing.explain(_missing.PACKAGE)  # the package did so for the modules that were there before this one

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
