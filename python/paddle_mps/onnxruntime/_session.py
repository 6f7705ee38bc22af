"""InferenceSession: a model that is loaded once and run many times."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Callable

import numpy as np

from .. import onnx
from .._arrays._creation import to_tensor
from .._core._errors import DeviceError, UnsupportedError
from .._core._objects import Tensor, meta
from .._core._place import Place
from .._models import _elements
from ._binding import IOBinding
from ._failures import Fail, Failure, InvalidArgument, loading, running
from ._failures import NoSuchFile as Missing
from ._failures import NotImplemented as NotSupported
from ._model import ModelMetadata, NodeArg, ports
from ._options import RunOptions, SessionOptions
from ._providers import CPU, MPS, chosen
from ._types import BY_NAME, elem_of, tensor_type
from ._values import Array, Held, OrtValue, array_of, place_of


class Session:
    """What sessions have in common in onnxruntime, for programs that ask whether something is one."""


class InferenceSession(Session):
    """A model, and how it runs.

    Args:
        path_or_bytes: the path of an ONNX file, or its bytes.
        sess_options: see `SessionOptions`.
        providers: where it may run, the best first: `MPSExecutionProvider`, `CPUExecutionProvider`. What this machine has not
            is left out with a warning. None: the best that there is.
        provider_options: accepted; providers here have no options.
        kwargs: accepted, as onnxruntime does.

    Raises:
        NoSuchFile: there is no such file.
        InvalidProtobuf, InvalidGraph, InvalidArgument: it is no ONNX file, or a wrong one.
        NotImplemented: the model has operators that are not supported; the message names all of them.
        TypeError: an argument is of another type.
    """

    def __init__(
        self,
        path_or_bytes: str | bytes | os.PathLike[str],
        sess_options: SessionOptions | None = None,
        providers: Sequence[str | tuple[str, dict[Any, Any]]] | None = None,
        provider_options: Sequence[dict[Any, Any]] | None = None,
        **kwargs: Any,
    ) -> None:
        if not isinstance(path_or_bytes, (str, bytes, os.PathLike)):
            raise TypeError(f"Unable to load from type '{type(path_or_bytes)}'")
        if sess_options is not None and not isinstance(sess_options, SessionOptions):
            raise TypeError(f"InferenceSession: sess_options is {sess_options!r}; want SessionOptions")
        self._options = sess_options or SessionOptions()
        self._options._check()
        self._source = path_or_bytes
        self._fallback = bool(kwargs.get("enable_fallback", True))
        wanted = providers or self._options._providers
        self._start(chosen(wanted, provider_options))

    def _start(self, providers: list[str]) -> None:
        """Loads the model for the first of the providers."""
        self._providers = providers
        self._place: Place = place_of("mps" if providers[0] == MPS else "cpu", 0)
        self._model = _load(self._source, self._place)
        said = self._model.describe()
        sizes = self._options._sizes
        self._meta = ModelMetadata(said)
        self._inputs, self._outputs = ports(said["inputs"], sizes), ports(said["outputs"], sizes)
        self._replaceable = ports(said["replaceable"], sizes)
        self._input_names = [p.name for p in self._inputs]
        self._output_names = [p.name for p in self._outputs]
        # The types of results for which NumPy has none: arrays of uint8 have their bits.
        self._small = {p.name: name for p in self._outputs if (name := p.type[len("tensor(") : -1]) in _elements.SMALL}

    # Names of onnxruntime's own class that programs read although they are private.

    @property
    def _model_path(self) -> str | os.PathLike[str] | None:
        """The path of the model; None if it was given as bytes."""
        return None if isinstance(self._source, bytes) else self._source

    @property
    def _model_bytes(self) -> bytes | None:
        """The bytes of the model; None if it was given as a path."""
        return self._source if isinstance(self._source, bytes) else None

    @property
    def _sess_options(self) -> SessionOptions:
        """The options of the session."""
        return self._options

    def __getstate__(self) -> Any:
        """Raises TypeError: a session is of one process and is neither pickled nor copied deeply, as in onnxruntime. Classes that
        keep the path and load the model again define this and `__setstate__`."""
        raise TypeError(f"cannot pickle {type(self).__name__!r} object")

    def __copy__(self) -> InferenceSession:
        """Another session with the same model, which is not loaded again."""
        made = object.__new__(type(self))
        made.__dict__.update(self.__dict__)
        return made

    def get_inputs(self) -> list[NodeArg]:
        """What a run takes."""
        return list(self._inputs)

    def get_outputs(self) -> list[NodeArg]:
        """What a run returns."""
        return list(self._outputs)

    def get_overridable_initializers(self) -> list[NodeArg]:
        """The initializers that the file lists among its inputs. Here they keep their values: to give one is an error."""
        return list(self._replaceable)

    def get_modelmeta(self) -> ModelMetadata:
        """What the file says of its model."""
        return self._meta

    def get_session_options(self) -> SessionOptions:
        """The options of the session."""
        return self._options

    def get_providers(self) -> list[str]:
        """Where the session runs: the first of these; what that lacks, on the next."""
        return list(self._providers)

    def get_provider_options(self) -> dict[str, dict[str, str]]:
        """The options of each provider: none."""
        return {name: {} for name in self._providers}

    def set_providers(
        self,
        providers: Sequence[str | tuple[str, dict[Any, Any]]] | None = None,
        provider_options: Sequence[dict[Any, Any]] | None = None,
    ) -> None:
        """Loads the model again, for other providers."""
        self._start(chosen(providers, provider_options))

    def disable_fallback(self) -> None:
        """Lets a run fail that the GPU cannot make. Single operators that it lacks run on the CPU nevertheless:
        `PADDLE_MPS_FALLBACK` is about these."""
        self._fallback = False

    def enable_fallback(self) -> None:
        """Makes the session one of the CPU where the GPU cannot run the model; the default."""
        self._fallback = True

    def end_profiling(self) -> str:
        """An empty text: there is no profile in onnxruntime's format."""
        return ""

    def get_profiling_start_time_ns(self) -> int:
        """0: there is no profile."""
        return 0

    def io_binding(self) -> IOBinding:
        """A binding of the session's inputs and outputs to memory."""
        return IOBinding(self)

    def run(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        run_options: RunOptions | None = None,
    ) -> list[Any]:
        """Runs the model. Any number of threads may call it at the same time.

        Args:
            output_names: which results, in this order; None or empty: all.
            input_feed: an array for each input, by its name. Lists are converted; arrays have to be of the right dtype. A sequence
                is a list of arrays. An optional is None or left out where it has no value.
            run_options: see `RunOptions`.

        Returns:
            The results, as arrays that nothing else refers to, lists of them for sequences, and None for optionals without a
            value.

        Raises:
            ValueError: an input is missing.
            InvalidArgument: a name is wrong, or a dtype or a shape.
            RuntimeError: an input is no array.
            NotImplemented: the model cannot run with these shapes.
            Fail: the model failed.
        """
        names = self._checked(output_names, input_feed, run_options)
        made = self._results(input_feed)
        return [_plain(made[name]) for name in names]

    def run_with_ort_values(
        self,
        output_names: Sequence[str] | None,
        input_dict_ort_values: Mapping[str, OrtValue],
        run_options: RunOptions | None = None,
    ) -> list[OrtValue]:
        """As `run`, with values instead of arrays."""
        made = self.run(output_names, input_dict_ort_values, run_options)
        wanted = output_names or self._output_names
        _check_arrays(made, wanted)
        return [OrtValue(x, self._small.get(name)) for name, x in zip(wanted, made)]

    def run_with_iobinding(self, iobinding: IOBinding, run_options: RunOptions | None = None) -> None:
        """Runs the model on what a binding binds.

        Raises:
            RuntimeError: nothing is bound, or something that the model does not take.
        """
        names = list(iobinding._outputs)
        if not names:
            raise RuntimeError("Error in execution: At least one output should be requested.")
        try:
            self._checked(names, iobinding._inputs, run_options)
            made = self._results(iobinding._inputs)
            _check_arrays([made[name] for name in names], names)
        except Failure as error:
            raise RuntimeError("Error in execution: " + str(error).split(" : ", 3)[-1]) from error
        iobinding._keep(made)

    def run_async(
        self,
        output_names: Sequence[str] | None,
        input_feed: Mapping[str, Any],
        callback: Callable[[list[Array], Any, str], None],
        user_data: Any,
        run_options: RunOptions | None = None,
    ) -> None:
        """Runs the model in another thread, which then calls `callback(results, user_data, error)`. The error is a text, and
        empty if there is none.

        Raises:
            ValueError: an input is missing.
        """
        self._complete(input_feed)

        def work() -> None:
            results, error = [], ""
            try:
                results = self.run(output_names, input_feed, run_options)
            except Failure as failure:
                error = str(failure).split(" : ", 3)[-1]
            except Exception as failure:  # whatever it is, the caller is told
                error = str(failure)
            callback(results, user_data, error)

        threading.Thread(target=work, name="paddle_mps run_async", daemon=True).start()

    def _complete(self, feed: Mapping[str, Any]) -> None:
        """Raises a ValueError where an input is missing."""
        given = list(feed.keys())
        missing = [p.name for p in self._inputs if p.name not in given and not p.type.startswith("optional(")]
        if missing:
            raise ValueError(f"Required inputs ({missing}) are missing from input feed ({given}).")

    def _checked(
        self, output_names: Sequence[str] | None, feed: Mapping[str, Any], options: RunOptions | None
    ) -> list[str]:
        """The names of the results that are wanted, after everything but the elements has been checked."""
        self._complete(feed)
        if isinstance(output_names, str) or not all(isinstance(name, str) for name in output_names or ()):
            raise TypeError(f"run(): output_names is {output_names!r}; want a list of str")
        if options is not None and not isinstance(options, RunOptions):
            raise TypeError(f"run(): run_options is {options!r}; want RunOptions")
        for name in feed:
            if name not in self._input_names:
                self._refuse(name)
        wanted = list(output_names or self._output_names)
        for name in wanted:
            if name not in self._output_names:
                raise InvalidArgument.of(f"Invalid output name:{name}")
        if options is not None and options.terminate:
            raise Fail.of("Exiting due to terminate flag being set to true.")
        return wanted

    def _refuse(self, name: str) -> None:
        """Raises the error for a name that is none of an input."""
        if any(p.name == name for p in self._replaceable):
            raise NotSupported.of(f"[onnxruntime] {name!r} has a value in the file, which a run cannot replace")
        raise InvalidArgument.of(f"Invalid input name: {name}")

    def _results(self, feed: Mapping[str, Any]) -> dict[str, Any]:
        """Runs the model: the results by their names."""
        arrays = [argument(feed.get(port.name), port) for port in self._inputs]
        try:
            with running():
                return self._made(arrays)
        except (NotSupported, Fail) as error:
            cause = error.__cause__
            if not (self._fallback and self._providers[0] == MPS and _of_device(cause)):
                raise
            warnings.warn(f"[onnxruntime] {cause} The session runs on {CPU} from here on.", stacklevel=4)
        self._start([CPU])
        with running():
            return self._made(arrays)

    def _made(self, arrays: list[Any]) -> dict[str, Any]:
        """The results of the model, by their names: tensors, or arrays where tensors lack the type, lists of them, or None."""
        made = self._model(*[self._given(x, p) for x, p in zip(arrays, self._model.inputs)])
        results = dict(zip(self._output_names, made if isinstance(made, tuple) else (made,)))
        return {name: x.view(np.uint8) if name in self._small else x for name, x in results.items()}

    def _given(self, x: Any, port: onnx.Port) -> Any:
        """An input as the model takes it: a tensor, or an array where tensors lack the type, a list of them, or None."""
        if isinstance(x, list):
            return [self._given(one, port) for one in x]
        if x is None or (isinstance(x, Tensor) and meta(x).place == self._place) or onnx._lacking(port):
            return x
        return to_tensor(x, place=self._place)


def _plain(made: Any) -> Any:
    """A result as an array, a list of arrays, or None."""
    if made is None:
        return None
    return [array_of(one) for one in made] if isinstance(made, list) else array_of(made)


def _check_arrays(made: Sequence[Any], names: Sequence[str]) -> None:
    """Raises NotImplemented for sequences and nothing, which a value does not hold."""
    for x, name in zip(made, names):
        if x is None or isinstance(x, list):
            raise NotSupported.of(
                f"[onnxruntime] {name!r} is a sequence or nothing; want run(), which returns lists and None"
            )


def _load(source: str | bytes | os.PathLike[str], place: Place) -> onnx.Model:
    """A model of a file or of bytes."""
    if isinstance(source, bytes):
        with loading(None):
            return onnx.load(source, place)
    path = os.fspath(source)
    if not os.path.exists(path):
        raise Missing.of(f"Load model from {path} failed:Load model {path} failed. File doesn't exist")
    with loading(path):
        return onnx.load(path, place)


def _of_device(error: BaseException | None) -> bool:
    """Whether a run failed because of what the GPU lacks: an operator, or a dtype, which is a TypeError."""
    return isinstance(error, (UnsupportedError, DeviceError, TypeError))


def argument(given: Any, port: NodeArg) -> Any:
    """An input as an array, a list of arrays for a sequence, or None for an optional without a value.

    Raises:
        RuntimeError: it is nothing of which onnxruntime makes an input.
        InvalidArgument: the dtype or the shape is wrong.
    """
    kind = port.type
    if kind.startswith("optional("):
        if given is None:
            return None
        kind = kind[len("optional(") : -1]
    if kind.startswith("seq("):
        return _sequence(given, port.name, kind[len("seq(") : -1])
    return _array(given, port if kind == port.type else NodeArg(port.name, kind, port.shape, port._ranked))


def _sequence(given: Any, name: str, kind: str) -> list[Any]:
    """A sequence as a list of arrays of a type. Their shapes may be any."""
    if given is None:
        raise Fail.of(f"Missing Input: {name}")
    if isinstance(given, (np.ndarray, Tensor, OrtValue)):
        raise InvalidArgument.of(f"input with name: '{name}' expected to be a list of {kind} but received a tensor")
    if not isinstance(given, list):
        raise RuntimeError(f"Iterable of {type(given)} should be given as array for input '{name}'.")
    if not all(isinstance(x, (np.ndarray, Tensor)) for x in given):
        raise RuntimeError("CreateSequenceOfTensors: Input is not a tensor")
    try:
        return [_array(x, NodeArg(name, kind, [], False)) for x in given]
    except InvalidArgument as error:
        raise RuntimeError(str(error)) from error


def _array(given: Any, port: NodeArg) -> Held:
    """A tensor as an array in the machine's byte order, after its dtype and shape have been checked. A tensor stays one.

    Raises:
        RuntimeError: it is nothing of which onnxruntime makes an input.
        InvalidArgument: the dtype or the shape is wrong.
    """
    value: Any = given._held if isinstance(given, OrtValue) else given
    if isinstance(value, list):
        value = _of_list(value, port)
    elif value is None:
        raise Fail.of(f"Missing Input: {port.name}")
    elif isinstance(value, (str, bytes, tuple, dict, range)):
        raise RuntimeError(f"Input must be a list of dictionaries or a single numpy array for input '{port.name}'.")
    elif not isinstance(value, (np.ndarray, Tensor)):
        raise RuntimeError(f"Unable to handle object of type {type(value)}")
    if isinstance(value, Tensor):
        dtype, shape = np.dtype(meta(value).dtype.numpy), tuple(meta(value).shape)
    else:
        dtype, shape = value.dtype, value.shape
    actual = tensor_type(given._elem() if isinstance(given, OrtValue) else elem_of(dtype))
    if actual != port.type:
        raise InvalidArgument.of(f"Unexpected input data type. Actual: ({actual}) , expected: ({port.type})")
    if port._ranked and not port.shape and shape and dtype.itemsize and np.prod(shape) == 1:
        scalar: Held = value.reshape(())  # onnxruntime takes any shape for a scalar
        return scalar
    _check_shape(shape, port)
    made: Held = value
    return made if isinstance(made, Tensor) else made.astype(dtype.newbyteorder("="), copy=False)


def _of_list(value: list[Any], port: NodeArg) -> Array:
    """A list as an array of the dtype of an input."""
    elem = port.type[len("tensor(") : -1]
    try:
        return np.array(value, BY_NAME.get(elem))
    except (ValueError, TypeError, OverflowError):
        raise RuntimeError("Could not create tensor from given input list") from None


def _check_shape(shape: tuple[int, ...], port: NodeArg) -> None:
    """Raises onnxruntime's error for a shape that the file rules out."""
    if not port._ranked:
        return
    if len(shape) != len(port.shape):
        raise InvalidArgument.of(
            f"Invalid rank for input: {port.name} Got: {len(shape)} Expected: {len(port.shape)} "
            "Please fix either the inputs/outputs or the model."
        )
    wrong = [(i, n, d) for i, (n, d) in enumerate(zip(shape, port.shape)) if isinstance(d, int) and d != n]
    if wrong:
        lines = "".join(f" index: {i} Got: {n} Expected: {d}\n" for i, n, d in wrong)
        raise InvalidArgument.of(
            f"Got invalid dimensions for input: {port.name} for the following indices\n{lines}"
            " Please fix either the inputs/outputs or the model."
        )
