"""What users and testers met, apart from what tests/peers/expressions/mended.py compares with Paddle."""

from __future__ import annotations

import _ctypes
import os
import pathlib
import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import mps
from paddle_mps._core import _library
from paddle_mps._devices import _memory

T = paddle.to_tensor


def child(source: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs a program in a process of its own."""
    return subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=120, env={**os.environ, **environment}
    )


MIXED = [
    "paddle.linalg.cholesky_solve(c.T, x)",
    "paddle.linalg.triangular_solve(x, c.T)",
    "paddle.linalg.solve(x, c.T)",
    "paddle.linalg.lstsq(x, c.T)",
    "paddle.linalg.lu_solve(c.T, *paddle.linalg.lu(x))",
    "paddle.linalg.lu_unpack(x, i)",
    "paddle.linalg.householder_product(x, c[0])",
    "paddle.histogram(x, weight=x.cpu())",
    "paddle.histogramdd(x, weights=c[0])",
    "paddle.histogramdd(x, bins=[c[0], c[0]])",
    "paddle.bincount(i.to('mps'), c[0])",
    "paddle.repeat_interleave(x, i, 0)",
    "paddle.quantile(x, c[0] / 2)",
    "paddle.nanquantile(x, c[0] / 2)",
    "paddle.isin(x, c)",
    "paddle.matmul(x, c.T)",
]


@pytest.mark.parametrize("source", MIXED)
def test_tensors_of_two_places_are_refused_by_what_numpy_computes(source: str) -> None:
    """As by operators; with all tensors on one place the result is there."""
    x = T([[3.0, 1.0], [1.0, 2.0]], place="mps")
    c, i = T([[1.0, 2.0]], place="cpu"), T([1, 2], "int32", place="cpu")
    with pytest.raises(ValueError, match=r"got tensors on (cpu and on mps:0|mps:0 and on cpu); want one place"):
        eval(source, {"paddle": paddle, "x": x, "c": c, "i": i})
    found = eval(source.replace(".cpu()", ""), {"paddle": paddle, "x": x, "c": c.to("mps"), "i": i.to("mps")})
    for one in paddle_tensors(found):
        assert one.device == "mps:0"


def paddle_tensors(found: Any) -> list[paddle.Tensor]:
    """A tensor, or those in nested tuples and lists."""
    if isinstance(found, paddle.Tensor):
        return [found]
    return [one for part in found for one in paddle_tensors(part)]


def test_a_number_on_the_cpu_may_be_beside_tensors_of_any_place() -> None:
    x = T([[3.0, 1.0], [1.0, 2.0]], place="mps")
    assert paddle.quantile(x, T(0.5, place="cpu")).device == "mps:0"
    assert paddle.nan_to_num(x, T(0.5, place="cpu")).device == "mps:0"


@pytest.mark.parametrize("place", ["cpu", "mps"])
def test_integers_beyond_64_bits_are_errors(place: str) -> None:
    x = paddle.ones([2, 3], place=place)
    for index in (2**63, 2**64 + 1, -(2**64)):
        with pytest.raises(IndexError, match=str(index)):
            x[index]
        with pytest.raises(IndexError, match=str(index)):
            x[index] = 1.0
    assert x[: 2**64].shape == [2, 3]
    for call in (
        lambda: paddle.zeros([2**64 + 2]),
        lambda: paddle.sum(x, axis=2**64),
        lambda: paddle.reshape(x, [2**64 + 3, 2]),
        lambda: paddle.tile(x, [2**64 + 1]),
        lambda: paddle.split(x, 2**64 + 1),
        lambda: paddle.randperm(2**64 + 2),
        lambda: paddle.arange(0, 1, 1e-300),
        lambda: paddle.arange(0, 1, 1e-30),
        lambda: x[[2**64]],
    ):
        with pytest.raises(ValueError, match=r"^\[.*want"):
            call()


def test_arrays_are_cast_when_they_are_written() -> None:
    x = paddle.zeros([2, 3], place="mps")
    x[:] = np.ones(3)
    x[0] = np.array([1.5, 2.5, 1e300])
    assert x.tolist() == [[1.5, 2.5, float("inf")], [1.0, 1.0, 1.0]]
    x[T([1], place="mps")] = np.arange(3.0)
    assert x[1].tolist() == [0.0, 1.0, 2.0]


def test_numbers_are_assigned_in_the_widest_dtype_of_the_place() -> None:
    assert paddle.assign(3.0).dtype == paddle.assign([1, 2.0]).dtype == paddle.float64
    before = paddle.get_device()
    paddle.set_device("mps")
    try:
        assert paddle.assign(3.0).dtype == paddle.assign([1, 2.0]).dtype == paddle.float32
    finally:
        paddle.set_device(before)


def test_the_dlpack_device_is_that_of_the_capsule() -> None:
    x = paddle.arange(3.0, place="mps")
    assert x.__dlpack_device__() == (1, 0)
    array = np.from_dlpack(x)
    assert array.tolist() == [0.0, 1.0, 2.0]


def test_read_only_memory_can_be_copied() -> None:
    array = np.arange(3.0)
    array.flags.writeable = False
    copy = paddle.from_dlpack(array, copy=True)
    copy[0] = 9.0
    assert copy.tolist() == [9.0, 1.0, 2.0]
    assert array[0] == 0.0


def test_read_only_memory_of_a_library_before_dlpack_1_0() -> None:
    class Old:
        """As an array of NumPy 2.0."""

        def __init__(self, array: Any) -> None:
            self.array, self.flags = array, array.flags

        def __dlpack__(self, stream: Any = None) -> Any:
            if not self.flags.writeable:
                raise BufferError("Cannot export readonly array since signalling readonly is unsupported by DLPack.")
            return self.array.__dlpack__()

        def copy(self) -> Any:
            return self.array.copy()

    array = np.arange(3.0)
    shared = paddle.from_dlpack(Old(array))
    array[1] = 5.0
    assert shared.tolist() == [0.0, 5.0, 2.0]
    array.flags.writeable = False
    with pytest.raises(paddle.UnsupportedError, match="read-only; want one that may be written, or a copy"):
        paddle.from_dlpack(Old(array))
    copy = paddle.from_dlpack(Old(array), copy=True)
    copy[0] = 9.0
    assert copy.tolist() == [9.0, 5.0, 2.0]
    assert array[0] == 0.0


def test_a_capsule_of_bfloat16_that_numpy_refuses_is_freed() -> None:
    x = paddle.ones([1 << 16], dtype="bfloat16")
    before = _library.library.pmps_live_handles()
    for _ in range(3):
        with pytest.raises((BufferError, RuntimeError, TypeError)):
            np.from_dlpack(x)
    assert _library.library.pmps_live_handles() == before


def test_the_import_leaves_pythonapi_alone() -> None:
    source = """
import ctypes
names = ["PyCapsule_New", "PyCapsule_GetPointer", "PyCapsule_IsValid", "PyCapsule_SetName", "Py_IncRef"]
before = {n: (getattr(ctypes.pythonapi, n).argtypes, getattr(ctypes.pythonapi, n).restype) for n in names}
import paddle_mps
after = {n: (getattr(ctypes.pythonapi, n).argtypes, getattr(ctypes.pythonapi, n).restype) for n in names}
print(before == after)
"""
    assert child(source).stdout.strip() == "True"


def test_a_stream_of_a_stream_is_the_same() -> None:
    first = mps.Stream(priority=2)
    second = paddle.device.Stream(stream_base=first)
    assert (second, second.stream_id) == (first, first.stream_id)
    del first
    second.synchronize()
    with pytest.raises(TypeError, match="stream_base is int"):
        paddle.device.Stream(stream_base=3)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="stream is int"), paddle.device.stream_guard(3):  # type: ignore[arg-type]
        pass


def test_a_tensor_can_be_marked() -> None:
    x, y = paddle.ones([2]), paddle.ones([2])
    assert x.name.startswith("generated_tensor_")
    assert x.name == x.name != y.name
    x.name = "weights"
    x.add_(y)
    assert (x.name, x.clone().name == x.name) == ("weights", False)
    assert (x.persistable, x.layout) == (False, "NCHW")
    x.persistable = True
    assert x.persistable
    for name, value in (("name", 3), ("persistable", 3)):
        with pytest.raises(TypeError, match=name):
            setattr(x, name, value)


def test_silu_in_place() -> None:
    functional: Any = paddle.nn.functional
    x = paddle.arange(3.0)
    want = functional.silu(x).tolist()
    assert functional.silu(x, False).tolist() == want
    assert functional.silu(x, True) is x
    assert x.tolist() == want


def test_printing_refuses_what_it_cannot_do() -> None:
    for option in ("precision", "edgeitems"):
        with pytest.raises(ValueError, match=option):
            paddle.set_printoptions(**{option: -1})  # type: ignore[arg-type]
    assert "0.5" in repr(paddle.full([1], 0.5))


def test_zeros_in_paths_are_errors(tmp_path: pathlib.Path) -> None:
    with pytest.raises(ValueError, match="zeros"):
        mps.load_metallib(f"{tmp_path}/a\0b")
    with pytest.raises(ValueError, match="zeros"), mps.profiler.metal_capture(f"{tmp_path}/a\0b"):
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="starts a thread through the C library of Linux")
def test_a_stack_of_another_languages_thread_is_empty() -> None:
    source = """
import ctypes
from paddle_mps._devices import _memory
stacks = _memory.Stacks()
thread, found = ctypes.c_void_p(), ctypes.c_void_p()
libc = ctypes.CDLL(None)
assert libc.pthread_create(ctypes.byref(thread), None, stacks.callback, None) == 0
assert libc.pthread_join(thread, ctypes.byref(found)) == 0
print(found.value, stacks.frames())
"""
    done = child(source)
    assert (done.stdout.strip(), done.stderr) == ("None []", "")
    stacks = _memory.Stacks()
    assert stacks.take(None) == 1


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS counts addresses on Linux only")
@pytest.mark.parametrize("megabytes", [500, 700, 1000])
def test_too_few_addresses_are_an_import_error(megabytes: int) -> None:
    source = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({megabytes << 20},) * 2); import paddle_mps"
    done = child(source)
    assert done.returncode == 1
    assert "ImportError: [paddle_mps] the process may not use" in done.stderr


def test_a_library_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(_library, "ABI_VERSION", 0x00630000)
        with pytest.raises(ImportError, match=r"another version.*99"):
            _library.load()
    with monkeypatch.context() as patch:
        patch.setitem(_library.SIGNATURES, "pmps_of_the_future", (None, ()))
        with pytest.raises(ImportError, match="no function pmps_of_the_future"):
            _library.load()


@pytest.mark.parametrize("path, message", [(__file__, "cannot be loaded"), (_ctypes.__file__, "another library")])
def test_another_file_is_no_library(monkeypatch: pytest.MonkeyPatch, path: str, message: str) -> None:
    monkeypatch.setenv("PADDLE_MPS_LIBRARY", path)
    with pytest.raises(ImportError, match=message):
        _library.load()


TEXT: Any = "a"  # where the type does not allow it
MESSAGES = [
    (lambda x: T([2**70]), ValueError, "[to_tensor] the data has the int 1180591620717411303424; want"),
    (lambda x: T([1.0, None]), ValueError, "[to_tensor] the data has a NoneType; want"),
    (lambda x: T([1, [2]]), ValueError, "[to_tensor] the lists differ in length; want"),
    (lambda x: x.__setitem__(0, T([1, 2])), ValueError, "[setitem] the value has shape [2] and the part [3]; want"),
    (lambda x: x + "a", TypeError, "[add] got a Tensor and 'a'; want"),
    (lambda x: x & 1.5, ValueError, "[bitwise_and] argument y is float; want a Tensor"),
    (lambda x: x.sum(axis="a"), TypeError, "[sum] axis is 'a'; want an int"),
    (lambda x: x.expand(T([1.5, 2.0])), TypeError, "[expand] shape is 1.5; want an int"),
    (lambda x: x.sum(axis=[0, 0]), ValueError, "[sum] axis [0, 0] names axis 0 twice; want"),
    (lambda x: x.cast("int32") & x.cast("int64"), ValueError, "[bitwise_and] got tensors of int32 and int64; want"),
    (lambda x: paddle.sqrt(x > 1), paddle.UnsupportedError, "want one of [float16, bfloat16, float32, float64]"),
    (lambda x: x[0].sum(axis=4), ValueError, "[sum] axis 4 is out of range for a tensor of 1 dimension; want -1 to 0"),
    (lambda x: paddle.empty([2**62, 2**62]), ValueError, "[empty] [4611686018427387904, 4611686018427387904] with"),
    (lambda x: paddle.exp([1.0]), ValueError, "[exp] argument x is list; want a Tensor"),  # type: ignore[arg-type]
    (lambda x: x.numpy() @ x.mT.mT[0].mT, ValueError, "[mT] the number of dimensions is 1; want at least 2"),
    (lambda x: paddle.from_dlpack(np.array([1], "uint16")), TypeError, "the numbers are unsigned integers with 16"),
    (lambda x: x.view("float64"), ValueError, "[view] shape [2, 3], strides [3, 1] and offset 0 do not divide"),
    (lambda x: paddle.full([2], "a"), ValueError, "[full] fill_value is 'a'; want a number"),
    (lambda x: paddle.full([2], x), ValueError, "[full] fill_value has 6 elements; want one"),
    (lambda x: x.clip("a"), TypeError, "[clip] min is str; want a Tensor, a bool, an int or a float"),
    (lambda x: x.clip_(0, "a"), TypeError, "[clip_] max is str; want a number or a Tensor"),
    (lambda x: x.cast("int32").clip_("a"), TypeError, "[clip_] min is str; want a number or a Tensor"),
    (lambda x: x.clip(max=x), ValueError, "[clip] max has 6 elements; want one"),
    (lambda x: paddle.where(x > 1, TEXT, x), TypeError, "[where] x is str; want a Tensor, a bool, an int or a float"),
    (lambda x: x.scale(1.0, "a"), TypeError, "[scale] bias is 'a'; want a number"),
    (lambda x: paddle.dist(x, x, TEXT), TypeError, "[dist] p is 'a'; want a number"),
    (lambda x: paddle.trapezoid(x, dx=TEXT), TypeError, "[trapezoid] dx is 'a'; want a number"),
    (lambda x: x.uniform_("a"), TypeError, "[uniform_] min is 'a'; want a number"),
    (lambda x: paddle.nn.functional.pad(x, [1, 1], value=TEXT), TypeError, "[pad] value is 'a'; want a number"),
    (lambda x: paddle.nn.functional.elu(x, TEXT), TypeError, "[elu] alpha is 'a'; want a number"),
    (lambda x: paddle.nn.functional.one_hot(T([5]), 3), IndexError, "[one_hot] index 5 is out of range"),
    (lambda x: paddle.scatter(x, T([5]), x[:1]), IndexError, "[scatter] index 5 is out of range for axis 0 of 2"),
    (lambda x: paddle.scatter(x, T([5]), x[:1], False), IndexError, "[scatter] index 5 is out of range"),
    (lambda x: x.scatter_(T([-3]), x[:1]), IndexError, "[scatter_] index -3 is out of range"),
    (lambda x: x.scatter_add(0, T([[5]]), x), IndexError, "[scatter_add] index 5 is out of range"),
    (lambda x: x.scatter_reduce(0, T([[5]]), x, "mean"), IndexError, "[scatter_reduce] index 5 is out of range"),
    (lambda x: x.put_along_axis(T([[5]]), 1.0, 0), IndexError, "[put_along_axis] index 5 is out of range"),
    (lambda x: x.index_add(T([5]), 0, x[:1]), IndexError, "[index_add] index 5 is out of range"),
    (lambda x: x.index_fill_(T([5]), 0, 1), IndexError, "[index_fill_] index 5 is out of range"),
    (lambda x: x.index_put((T([5]),), x[0], True), IndexError, "[index_put] index 5 is out of range"),
    (lambda x: paddle.scatter_nd(T([[5]]), x[0, :1], [2]), IndexError, "[scatter_nd] index 5 is out of range"),
    (lambda x: x.gather(T([5])), IndexError, "[gather] index 5 is out of range"),
    (lambda x: x.index_select(T([5])), IndexError, "[index_select] index 5 is out of range"),
    (lambda x: x.take_along_axis(T([[5]]), 0), IndexError, "[take_along_axis] index 5 is out of range"),
    (lambda x: x.cast("int32").quantile(0.5), paddle.UnsupportedError, "[quantile] x is int32; want"),
    (lambda x: paddle.bincount(x), TypeError, "[bincount] x is float32; want int32 or int64"),
    (lambda x: x.kthvalue(9), ValueError, "[kthvalue] k is 9; want"),
    (lambda x: x.std(axis=5), ValueError, "[std] axis 5 is out of range"),
    (lambda x: x.var(axis=5), ValueError, "[var] axis 5 is out of range"),
    (lambda x: x.logsumexp(axis=5), ValueError, "[logsumexp] axis 5 is out of range"),
    (lambda x: x.chunk(0), ValueError, "[chunk] axis 0 of 2 elements cannot be split into 0"),
    (lambda x: x.split([1, 2]), ValueError, "[split] sections [1, 2] do not add up to the 2 elements of axis 0"),
    (lambda x: x.mm(x), ValueError, "[mm] shapes [2, 3] and [2, 3] do not fit"),
    (lambda x: x.view([5]), ValueError, "[view] shape [2, 3] cannot become [5]"),
    (lambda x: paddle.linalg.matrix_exp(T([[1j]])), paddle.UnsupportedError, "[matrix_exp] x is complex64; want"),
    (lambda x: paddle.linalg.cov(T([[1j]])), paddle.UnsupportedError, "[cov] x is complex64; want a floating-point"),
    (lambda x: paddle.linalg.corrcoef(T([[1j]])), paddle.UnsupportedError, "[corrcoef] x is complex64; want"),
    (lambda x: x.T.view([6]), ValueError, "[view] shape [3, 2] with strides [1, 3] is no view of shape [6]; want"),
]


@pytest.mark.parametrize("call, kind, message", MESSAGES, ids=[m for _, _, m in MESSAGES])
def test_messages_are_plain(call: Any, kind: type[Exception], message: str) -> None:
    with pytest.raises(kind) as failure:
        call(paddle.arange(6.0).reshape([2, 3]))
    assert message in str(failure.value)


def test_the_results_of_topk_have_names() -> None:
    found = T([3.0, 1.0, 2.0]).topk(2)
    assert found.values.tolist() == [3, 2] and found.indices.tolist() == [0, 2]
    traced = paddle.jit.to_static(lambda x: paddle.topk(x, 1))(T([3.0, 1.0]))
    assert type(traced) is type(found) and traced.indices.tolist() == [0]


def test_views_that_overlap_themselves_are_not_written_through() -> None:
    """Which of two writes to one element wins would depend on the threads."""
    x = paddle.zeros([2001])
    windows = x.unfold(0, 1000, 1)
    for write in (lambda: windows.fill_(1.0), lambda: windows.__setitem__(..., 2.0)):
        with pytest.raises(ValueError, match="elements of the output may overlap"):
            write()
    x.unfold(0, 3, 3)[...] = 4.0  # windows that only touch
    assert x.sum().item() == 4 * 2001


def test_a_view_as_larger_elements_begins_where_such_an_element_may() -> None:
    memory = np.zeros(17, np.uint8)
    begins = memory.ctypes.data % 4
    with pytest.raises(ValueError, match="want a multiple of 4"):
        paddle.from_dlpack(memory[5 - begins : 13 - begins]).view("float32")
    assert paddle.from_dlpack(memory[4 - begins : 12 - begins]).view("float32").shape == [2]


# Sorts what is longer than the memory that is left, of which Go's own would end the process.
TIGHT = """
import resource
import numpy as np
import paddle_mps as paddle
x = paddle.to_tensor(np.random.default_rng(1).random(6 << 20))
paddle.topk(x[:1000], 3)
with open("/proc/self/statm") as statm:
    used = int(statm.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (90 << 20),) * 2)
try:
    paddle.topk(x, 1)
except paddle.OutOfMemoryError:
    print(paddle.topk(paddle.to_tensor([3.0, 1.0]), 1)[0].item())
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of addresses is Linux's")
def test_a_sort_without_memory_is_an_error() -> None:
    done = subprocess.run([sys.executable, "-c", TIGHT], capture_output=True, text=True, timeout=300)
    assert done.stdout == "3.0\n", done.stdout + done.stderr
