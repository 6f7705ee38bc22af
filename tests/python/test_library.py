"""The ctypes tables are the C header, and the header is what the library exports."""

from __future__ import annotations

import ctypes
import math
import os
import pathlib
import re
import struct
import subprocess
import sys

import pytest

import paddle_mps as paddle
from paddle_mps._calls import _call
from paddle_mps._core import _convert, _dtype, _errors, _ids, _library, _objects, _structs
from paddle_mps._maths import _ops

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = re.sub(r"/\*.*?\*/", "", (ROOT / "include" / "paddlemps.h").read_text(), flags=re.DOTALL)

POINTERS = {"pmps_stream": "P", "pmps_event": "P", "pmps_error": "P", "pmps_tensor": "Q"}
# How each C type travels, as a struct format character: pointers are P, handles 64-bit integers.
TYPES = {
    "uint32_t": "I", "int32_t": "i", "int64_t": "q", "uint64_t": "Q", "size_t": "L", "bool": "?", "pmps_op": "I", "pmps_value": "q",
    "pmps_code": "i", "pmps_log_callback": "P", "pmps_deleter": "P", "pmps_reclaim_callback": "P", "pmps_stack_callback": "P",
    "pmps_grad_hook": "P",
}  # fmt: skip


def declared() -> dict[str, tuple[str, list[str]]]:
    """Each function of the header with its result and its parameters."""
    found = re.findall(r"^([a-z][\w ]*?[ *]+)(pmps_\w+)\(([^)]*)\);", HEADER, re.MULTILINE)
    return {
        name: (result.strip(), [] if parameters.strip() == "void" else [p.strip() for p in parameters.split(",")])
        for result, name, parameters in found
    }


def travels(c_type: str, fast: bool) -> str:
    """The format character for a C parameter."""
    base = re.sub(r"\b(const|struct)\b|\w+$", "", c_type).strip() if not c_type.endswith("*") else c_type
    if base.endswith("*"):
        name = base.rstrip("*").strip()
        return POINTERS.get(name, "P") if base.count("*") == 1 else "P"
    return "Q" if fast else TYPES[base]


def format_of(ctype: object) -> str:
    kind = getattr(ctype, "_type_", None)
    if isinstance(kind, str):
        return {"L": "Q", "l": "q", "P": "P", "z": "P"}.get(kind, kind)
    return "P"


def test_every_function_of_the_header_is_declared() -> None:
    assert set(declared()) == set(_library.SIGNATURES)
    assert len(declared()) > 60


@pytest.mark.parametrize("name", sorted(_library.SIGNATURES))
def test_parameters_are_those_of_the_header(name: str) -> None:
    _, parameters = declared()[name]
    fast = name.startswith("pmps_fast_")
    want = [travels(p, fast).replace("L", "Q") for p in parameters]
    assert [format_of(t) for t in _library.SIGNATURES[name][1]] == want


@pytest.mark.skipif(sys.platform != "linux", reason="reads the symbols of an ELF library")
def test_exports_are_the_header() -> None:
    symbols = subprocess.run(
        ["nm", "-D", "--defined-only", _library.find()], capture_output=True, text=True, check=True
    )
    exported = {line.split()[-1] for line in symbols.stdout.splitlines()}
    entries = {name for name in exported if name.startswith("TRITONBACKEND_")}  # tests/c/triton_backend.c has them
    assert exported - entries == set(_library.SIGNATURES)


def test_numbers_are_the_headers() -> None:
    ops = (ROOT / "include" / "paddlemps_ops.h").read_text()
    numbers = {name: int(value) for name, value in re.findall(r"#define PMPS_OP_(\w+) (\d+)u", ops)}
    assert numbers == {name: n for name, n in vars(_ids).items() if isinstance(n, int)}
    codes = dict(re.findall(r"PMPS_([A-Z_]+) = (\d+)", HEADER.partition("pmps_code {")[2].partition("}")[0]))
    assert {int(v) for k, v in codes.items() if k != "OK"} == set(_errors.EXCEPTIONS)
    for d in _dtype.ALL:
        assert re.search(rf"PMPS_{d.name.upper()} = {d.number}\b", HEADER)
        assert _library.library.pmps_dtype_name(d.number).decode() == d.name
        assert _library.library.pmps_dtype_size(d.number) == d.itemsize


def test_packed_operands_and_attributes_have_the_headers_layout() -> None:
    number = _structs.Operand.from_buffer_copy(_convert.operand(1.5))
    assert (number.kind, number.reserved) == (_convert.FLOAT, 0)
    assert struct.unpack("d", struct.pack("Q", number.value)) == (1.5,)
    given = (
        _convert.integers("axis", [0, -1]), None, _convert.flag("keepdim", True), _convert.text("mode", "ü"),
        _convert.numbers("scales", [1.5, 2]), _convert.texts("names", ["a", ""]),
    )  # fmt: skip
    data, count, _ = _call.packed(given)
    assert (count, len(data)) == (5, 5 * ctypes.sizeof(_structs.Attr))
    first, second, text, floats, texts = (_structs.Attr * 5).from_buffer_copy(data)
    assert (text.name, text.kind, text.count) == (b"mode", _convert.A_STRING, 2)
    assert ctypes.string_at(text.value, 2).decode() == "ü"
    assert (floats.kind, floats.count) == (_convert.A_FLOATS, 2)
    assert list((ctypes.c_double * 2).from_address(floats.value)) == [1.5, 2.0]
    assert (texts.kind, texts.count) == (_convert.A_STRINGS, 2)
    assert list((ctypes.c_char_p * 2).from_address(texts.value)) == [b"a", b""]
    assert (first.name, first.kind, first.count) == (b"axis", _convert.A_INTS, 2)
    assert list((ctypes.c_int64 * 2).from_address(first.value)) == [0, -1]
    assert (second.name, second.kind, second.value) == (b"keepdim", _convert.A_BOOL, 1)


def test_zeros_of_either_sign_are_two_attributes() -> None:
    for value in (0.0, -0.0, 0.0):
        assert math.copysign(1, paddle.full([1], value).item()) == math.copysign(1, value)


def test_a_missing_library_says_how_to_build_it() -> None:
    env = {**os.environ, "PADDLE_MPS_LIBRARY": "missing.so"}
    done = subprocess.run([sys.executable, "-c", "import paddle_mps"], env=env, capture_output=True, text=True)
    assert done.returncode != 0
    assert "./build.sh lib" in done.stderr


def test_every_generated_function_is_public() -> None:
    """In paddle or in paddle.nn.functional; in-place forms at least as methods."""
    for name, value in vars(_ops).items():
        if getattr(value, "__module__", "") == _ops.__name__ and not isinstance(value, type):
            homes = (paddle, paddle.nn.functional, paddle.Tensor)
            assert any(hasattr(home, name) for home in homes), name
            assert name.endswith("_") or name in paddle.__all__ or name in paddle.nn.functional.__all__, name


def test_every_public_name_is_documented() -> None:
    modules = (paddle, paddle.mps, paddle.device, paddle.nn.functional)
    bare = [
        f"{module.__name__}.{name}"
        for module in modules
        for name in module.__all__
        if callable(getattr(module, name)) and not getattr(module, name).__doc__
    ]
    bare += [n for n in dir(paddle.Tensor) if not n.startswith("_") and not getattr(paddle.Tensor, n).__doc__]
    assert not bare


def test_the_structure_of_a_tensor_is_read_as_it_is_declared() -> None:
    x = paddle.zeros([2, 3, 4]).transpose([2, 0, 1])[1:]
    info = _structs.TensorInfo(ctypes.sizeof(_structs.TensorInfo))
    _errors.check(_library.library.pmps_tensor_get_info(x._handle, ctypes.byref(info)))
    m = _objects.ask(x._handle)
    assert (m.dtype.number, m.place.kind, m.place.index) == (info.dtype, info.place.kind, info.place.index)
    assert (list(m.shape), list(m.strides)) == (info.dims[: info.rank], info.strides[: info.rank])
    assert (m.numel, x.offset) == (info.numel, info.offset)
    assert m is _objects.meta(x[:])  # one object for all tensors of which it is true
