"""The exceptions of onnxruntime, and which of them an error of this package is.

Each has a code and a name, which begin its message as onnxruntime's do: programs look for both. None of them is a
RuntimeError or a ValueError there, so none is here.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from .._core._errors import OutOfMemoryError, UnsupportedError


class Failure(Exception):
    """What the exceptions of this module have in common: the code and the word in their messages."""

    code, word = 0, ""

    @classmethod
    def of(cls, message: str) -> Failure:
        """The exception with a message in the form of onnxruntime."""
        return cls(f"[ONNXRuntimeError] : {cls.code} : {cls.word} : {message}")


class Fail(Failure):
    """A model failed while it ran."""

    code, word = 1, "FAIL"


class InvalidArgument(Failure):
    """An input or a name is none that the model takes."""

    code, word = 2, "INVALID_ARGUMENT"


class NoSuchFile(Failure):
    """There is no file of that name."""

    code, word = 3, "NO_SUCHFILE"


class NoModel(Failure):
    """Not raised by this package."""

    code, word = 4, "NO_MODEL"


class EngineError(Failure):
    """Not raised by this package."""

    code, word = 5, "ENGINE_ERROR"


class RuntimeException(Failure):
    """There is no memory left."""

    code, word = 6, "RUNTIME_EXCEPTION"


class InvalidProtobuf(Failure):
    """The bytes are no ONNX file."""

    code, word = 7, "INVALID_PROTOBUF"


class ModelLoaded(Failure):
    """Not raised by this package."""

    code, word = 8, "MODEL_LOADED"


class NotImplemented(Failure):
    """The model needs an operator, a dtype or an option that is not supported."""

    code, word = 9, "NOT_IMPLEMENTED"


class InvalidGraph(Failure):
    """The model is wrong."""

    code, word = 10, "INVALID_GRAPH"


class EPFail(Failure):
    """Not raised by this package."""

    code, word = 11, "EP_FAIL"


class ModelLoadCanceled(Failure):
    """Not raised by this package."""

    code, word = 12, "MODEL_LOAD_CANCELED"


class ModelRequiresCompilation(Failure):
    """Not raised by this package."""

    code, word = 13, "MODEL_REQUIRES_COMPILATION"


class NotFound(Failure):
    """Not raised by this package."""

    code, word = 14, "NOT_FOUND"


class DeviceReset(Failure):
    """Not raised by this package."""

    code, word = 15, "DEVICE_RESET"


# What this package says of files that onnxruntime cannot parse either.
UNREADABLE = ("is damaged", "nests more than", "is no regular file", "is a folder", "want an ONNX model: ")


@contextlib.contextmanager
def loading(path: str | None) -> Iterator[None]:
    """Turns errors of loading a model, from a file or from bytes, into those of onnxruntime."""
    where = "Failed to load model because " if path is None else f"Load model from {path} failed:"
    try:
        yield
    except UnsupportedError as error:
        raise NotImplemented.of(str(error)) from error
    except MemoryError as error:
        raise RuntimeException.of(str(error)) from error
    except (ValueError, TypeError) as error:
        text = str(error)
        if any(sign in text for sign in UNREADABLE):
            raise InvalidProtobuf.of(where + "protobuf parsing failed.") from error
        if "the file has 0 graphs" in text or "the file is empty" in text:
            raise InvalidArgument.of("No graph was found in the protobuf.") from error
        raise InvalidGraph.of(where + text) from error


@contextlib.contextmanager
def running() -> Iterator[None]:
    """Turns errors of a run into those of onnxruntime."""
    try:
        yield
    except UnsupportedError as error:
        raise NotImplemented.of(str(error)) from error
    except OutOfMemoryError as error:
        raise RuntimeException.of(str(error)) from error
    except (ValueError, TypeError, ArithmeticError, LookupError, RuntimeError) as error:
        raise Fail.of(str(error)) from error
