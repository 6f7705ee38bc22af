"""save and load: files that PaddlePaddle 3.3.1 wrote (golden/saved), round trips, and files that are wrong.

tests/peers/exchange.py records these files, and reads what each library writes with the other one.
"""

from __future__ import annotations

import io
import json
import math
import pathlib
import pickle
import subprocess
import sys
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps._files import _save

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
from exchange import VALUES, described, made, saved

HERE = pathlib.Path(__file__).parent
FOLDER = HERE / "golden" / "saved"
ANSWERS = json.loads((FOLDER / "answers.json").read_text())
T = paddle.to_tensor


def loaded(data: bytes, **options: Any) -> Any:
    return paddle.load(io.BytesIO(data), **options)


def rebuilt(value: Any, **options: Any) -> Any:
    """A value out of the file that it was saved in."""
    buffer = io.BytesIO()
    paddle.save(value, buffer, **options)
    return loaded(buffer.getvalue())


@pytest.mark.parametrize("file", ANSWERS)
def test_a_file_of_paddle_is_read_as_paddle_reads_it(file: str) -> None:
    assert described(paddle.load(str(FOLDER / file))) == ANSWERS[file]["tensors"]
    arrays = paddle.load(str(FOLDER / file), return_numpy=True)
    if "numpy" in ANSWERS[file]:
        assert described(arrays) == ANSWERS[file]["numpy"]


@pytest.mark.filterwarnings("ignore:.*the state dict is empty")
@pytest.mark.parametrize("protocol", [2, 3, 4])
@pytest.mark.parametrize("name", VALUES)
def test_what_is_saved_here_is_read_as_if_paddle_had_saved_it(name: str, protocol: int) -> None:
    data = saved(paddle, name, made(paddle, VALUES[name]), protocol)
    assert described(loaded(data)) == ANSWERS[name]["tensors"]


@pytest.mark.parametrize("name", [name for name in VALUES if name.endswith(".tensor")])
def test_the_file_of_one_tensor_is_that_of_paddle_byte_by_byte(name: str) -> None:
    assert saved(paddle, name, made(paddle, VALUES[name])) == (FOLDER / name).read_bytes()


def test_tensors_of_mps_are_saved_and_loaded_there(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "x")
    x = paddle.arange(20000, dtype="float32").to("mps").reshape([100, 200]).t()
    paddle.save({"x": x}, path)
    paddle.set_device("mps")
    try:
        y = paddle.load(path)["x"]
    finally:
        paddle.set_device("cpu")
    assert str(y.place) == "Place(mps:0)"
    assert y.shape == [200, 100]
    assert (y.numpy() == x.numpy()).all()
    assert str(paddle.load(path)["x"].place) == "Place(cpu)"


def test_folders_are_made(tmp_path: pathlib.Path) -> None:
    path = str(tmp_path / "a" / "b" / "c.pdtensor")
    paddle.save(T([1, 2]), path)
    assert paddle.load(path).tolist() == [1, 2]


def test_a_buffer_holds_several_values() -> None:
    buffer = io.BytesIO(b"head")
    buffer.seek(4)
    paddle.save({"w": T([1.0])}, buffer)
    paddle.save(3, buffer)
    buffer.seek(4)
    assert paddle.load(buffer)["w"].tolist() == [1.0]
    assert paddle.load(buffer) == 3
    assert buffer.read() == b""


def test_a_buffer_stays_where_it_was_after_an_error() -> None:
    buffer = io.BytesIO(b"ab\x80\x04zz")
    buffer.seek(2)
    with pytest.raises(ValueError, match="BytesIO, byte 4: got 0x7a"):
        paddle.load(buffer)
    assert buffer.tell() == 2


def test_the_table_of_names_is_kept_on_request() -> None:
    data = (FOLDER / "state.pdparams").read_bytes()
    table = loaded(data, keep_name_table=True)["StructuredToParameterName@@"]
    assert list(table) == ["w", "b", "step"]
    assert all(isinstance(name, str) for name in table.values())


def test_what_stood_twice_stands_twice() -> None:
    x, row = T([1.0]), [3]
    value = rebuilt([x, (x,), row, row])
    assert value[0] is value[1][0]
    assert value[2] is value[3]


def test_arrays_may_be_written_to() -> None:
    for size in (2, 100_000):
        array = loaded(pickle.dumps([np.zeros(size)], 4), return_numpy=True)[0]
        array[0] = 1
        assert array[0] == 1
    flags = loaded(pickle.dumps(np.array([True, False, True]), 4), return_numpy=True)
    flags[1] = True
    assert flags.all()


@pytest.mark.parametrize("protocol", [2, 3, 4, 5])
def test_pickles_of_numpy_are_read(protocol: int) -> None:
    arrays: list[Any] = [
        np.arange(6, dtype=">i4"),
        np.ones((2, 3), order="F"),
        np.float32(2),
        np.zeros((0, 2)),
        np.arange(5000),
    ]
    found = loaded(pickle.dumps(arrays, protocol), return_numpy=True)
    for got, want in zip(found, arrays):
        assert got.dtype == want.dtype.newbyteorder("=")
        assert got.shape == want.shape
        assert (got == want).all()


def test_a_pickle_of_python_2_is_read() -> None:
    """As cPickle of Python 2.7 wrote a state dict: strings without an encoding, and a memo from 1 on."""
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\nq\x02cnumpy\nndarray\nq\x03K\x00\x85U\x01b\x87Rq\x04(K\x01K\x02\x85"
        b"cnumpy\ndtype\nq\x05U\x02f4K\x00K\x01\x87Rq\x06(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        b"\x89U\x08\x00\x00\x80?\x00\x00\x00\xc0tb"
    )
    assert loaded(b"\x80\x02}q\x01U\x01w" + array + b"s.")["w"].tolist() == [1.0, -2.0]


def test_arrays_that_protocol_2_cannot_hold_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_save, "MAX_PIECE", 64)
    buffer = io.BytesIO()
    paddle.save({"w": paddle.arange(100).reshape([10, 10]), "b": paddle.ones([3])}, buffer, protocol=2)
    plain = pickle.loads(buffer.getvalue())
    assert plain["UnpackBigParamInfor@@"]["w"]["OriginShape"] == (10, 10)
    assert plain["w@@.0"].tolist() == list(range(8))
    state = loaded(buffer.getvalue())
    assert sorted(state) == ["b", "w"]
    assert state["w"].tolist() == np.arange(100).reshape(10, 10).tolist()


@pytest.mark.parametrize(
    "value, error",
    [
        (b"ab", NotImplementedError), (frozenset([1]), NotImplementedError), (range(3), NotImplementedError),
        (paddle.ones([2]).shape, NotImplementedError), (iter([]), NotImplementedError), (print, TypeError),
        (paddle.CPUPlace(), TypeError), (np.array([None]), TypeError), (np.array(["a"]), TypeError), ({T([1]): 1}, TypeError),
        ({T([1])}, TypeError), (slice(3), TypeError), ({"a": [object()]}, TypeError),
    ],
)  # fmt: skip
def test_what_is_no_data_is_refused_before_the_file_is_opened(
    value: Any, error: type[Exception], tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "kept"
    path.write_bytes(b"old")
    with pytest.raises(error, match=r"^\[save\]"):
        paddle.save(value, str(path))
    assert path.read_bytes() == b"old"


def test_what_holds_itself_is_refused() -> None:
    value: list[Any] = []
    value.append((value,))
    with pytest.raises(RecursionError, match="holds itself"):
        paddle.save(value, io.BytesIO())


@pytest.mark.parametrize(
    "wrap", [lambda x: [x], lambda x: (x,), lambda x: {"a": x, "b": 1}, lambda x: OrderedDict(a=x)]
)
def test_depth(wrap: Any) -> None:
    """Paddle itself saves about as many levels as are taken here."""
    value: Any = T([1.0])
    for _ in range(319):
        value = wrap(value)
    found = rebuilt([value])
    while isinstance(found, (list, tuple, dict)):
        found = found["a"] if isinstance(found, dict) else found[0]
    assert found.tolist() == [1.0]
    with pytest.raises(RecursionError, match="320 levels"):
        paddle.save([[value]], io.BytesIO())


@pytest.mark.parametrize("protocol", [1, 5, 0, -1, True, "4", None, 4.0, np.int64(4)])
def test_protocols(protocol: Any) -> None:
    for value in ({"w": T([1])}, [T([1])]):
        with pytest.raises(ValueError, match="want 2, 3 or 4"):
            paddle.save(value, io.BytesIO(), protocol=protocol)


def test_options() -> None:
    x, buffer = T([1.0]), io.BytesIO()
    with pytest.raises(ValueError, match="option foo"):
        paddle.save(x, buffer, foo=1)
    with pytest.raises(ValueError, match="option foo"):
        paddle.load(buffer, foo=1)
    with pytest.raises(TypeError, match="want a bool"):
        paddle.save(x, buffer, use_binary_format=1)
    with pytest.raises(NotImplementedError, match="want a Tensor"):
        paddle.save([x], buffer, use_binary_format=True)
    with pytest.raises(paddle.UnsupportedError, match="safetensors"):
        paddle.save({"x": x}, buffer, safetensors=True)
    with pytest.warns(UserWarning, match="deprecated"):
        paddle.save([x], buffer, pickle_protocol=2)
    assert buffer.getvalue()[:2] == b"\x80\x02"
    with pytest.warns(UserWarning, match="empty"):
        paddle.save({}, io.BytesIO())


def test_paths(tmp_path: pathlib.Path) -> None:
    x, path = T([1.0]), str(tmp_path / "model.pdparams")
    paddle.save({"x": x}, path)
    for wrong in ("", "folder/", tmp_path / "x", 3, None):
        with pytest.raises(ValueError, match=r"^\[save\]"):
            paddle.save(x, wrong)  # type: ignore[arg-type]
    with pytest.raises(IsADirectoryError):
        paddle.save(x, str(tmp_path))
    for no_path in (3, None, tmp_path / "model.pdparams"):
        with pytest.raises(TypeError, match="want a str or a BytesIO"):
            paddle.load(no_path)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"want the whole name, '.*model.pdparams'"):
        paddle.load(path[: -len(".pdparams")])
    with pytest.raises(ValueError, match="there is no"):
        paddle.load(str(tmp_path / "absent"))
    with pytest.raises(paddle.UnsupportedError, match="models cannot be loaded yet"):
        paddle.load(str(tmp_path))


def test_an_empty_file(tmp_path: pathlib.Path) -> None:
    (tmp_path / "empty").touch()
    with pytest.raises(EOFError, match="byte 0"):
        paddle.load(str(tmp_path / "empty"))


def test_an_error_names_the_file_and_the_byte(tmp_path: pathlib.Path) -> None:
    data = (FOLDER / "state.pdparams").read_bytes()
    path = tmp_path / "cut.pdparams"
    path.write_bytes(data[:100])
    with pytest.raises(ValueError, match=r"cut\.pdparams, byte 2: got a frame of 402 bytes; want at most 89"):
        paddle.load(str(path))
    path.write_bytes(data.replace(b"_reconstruct", b"_whatever_it"))
    with pytest.raises(ValueError, match=r"byte \d+: got 'numpy\._core\.multiarray\._whatever_it'; want a function"):
        paddle.load(str(path))


@pytest.mark.parametrize("array", [np.ones(2, "uint32"), np.ones(2, "uint64"), np.ones([1] * 20)])
def test_arrays_that_no_tensor_can_hold(array: np.ndarray[Any, Any]) -> None:
    data = pickle.dumps([array], 4)
    try:
        assert loaded(data)[0].numpy().shape == array.shape  # what tensors may hold changes
    except ValueError as error:
        assert ", byte " in str(error)
    assert loaded(data, return_numpy=True)[0].dtype == array.dtype


def test_special_values() -> None:
    values = [math.nan, -math.inf, -0.0, 5e-324, 2**63, -(2**127), "\0", "\ud800", True, None, 1 + 2j, ()]
    found = rebuilt(values)
    assert repr(found) == repr(values)
    assert rebuilt(OrderedDict(a=1)) == OrderedDict(a=1)


def test_memory_of_large_tensors(tmp_path: pathlib.Path) -> None:
    """Saving takes no copy of a tensor; loading takes the tensors and, beside them, one array at a time."""
    program = """
import resource, sys
import paddle_mps as paddle
unit = 1 if sys.platform == "darwin" else 1024
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit >> 20
state = {f"w{i}": paddle.full([4 << 20], i, "float32") for i in range(8)}
before = peak()
paddle.save(state, sys.argv[1])
print(peak() - before)
del state
paddle.empty_cache()
state = paddle.load(sys.argv[1])
print(peak() - before, [int(state[f"w{i}"][-1]) for i in range(8)])
"""
    command = [sys.executable, "-c", program, str(tmp_path / "x")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    saving, loading = done.stdout.splitlines()
    assert int(saving) < 8  # MiB, of 128
    assert loading.endswith("[0, 1, 2, 3, 4, 5, 6, 7]")
    assert int(loading.split()[0]) < 128 + 48


@pytest.mark.sampled(5, 1)
@pytest.mark.parametrize("code", [b"]", b"}", b"\x8f", b"(", b"(\x91"])
@pytest.mark.parametrize("head", [b"", b"](", b"]\x94("])
def test_many_objects_of_few_bytes_are_refused(code: bytes, head: bytes) -> None:
    """An empty list takes 88 bytes and an empty set 248, of one in the file: the error comes before the memory is used."""
    data = b"\x80\x04" + head + code * (1_000_000 // len(code)) + b"e."
    with pytest.raises(
        ValueError, match=r"byte \d+: got more than 57 MiB of objects; want no more in a file of 100000\d"
    ):
        paddle.load(io.BytesIO(data))


@pytest.mark.parametrize(
    "value",
    [
        [[i & 127] for i in range(60_000)],
        [(i & 127,) for i in range(100_000)],
        [{"a": i & 127} for i in range(60_000)],
        [f"{i % 1000}" for i in range(200_000)],
        list(range(256, 65536)) * 4,
        {i: i & 127 for i in range(200_000)},
        set(range(65536)),
        [[] for _ in range(150_000)],
    ],
    ids=["lists", "tuples", "dicts", "strings", "ints", "entries", "set", "empty"],
)
def test_data_as_dense_as_pickles_are_is_read(value: Any) -> None:
    for protocol in (2, 4, 5):
        assert paddle.load(io.BytesIO(pickle.dumps(value, protocol))) == value


def test_an_object_that_occurs_again_is_one_object() -> None:
    x = [1]
    pair = (x, 2)
    value = [x, pair, {"a": pair}, x, [], pair]
    for protocol in (2, 4, 5):
        data = pickle.dumps(value, protocol)
        made = paddle.load(io.BytesIO(data))
        assert made == value
        assert made[0] is made[1][0] is made[3]
        assert made[1] is made[2]["a"] is made[5]
    with pytest.raises(ValueError, match="DUP"):  # which no writer of pickles uses, and of which a few bytes make much
        paddle.load(io.BytesIO(b"\x80\x04](]2e."))
    with pytest.raises(ValueError, match="holds itself"):
        paddle.load(io.BytesIO(b"\x80\x04]q\x00h\x00a."))


def test_a_buffer_is_left_behind_what_was_read() -> None:
    buffer = io.BytesIO(b"before" + pickle.dumps([1, "a" * 100_000], 4) + b"after")
    buffer.seek(6)
    assert paddle.load(buffer) == [1, "a" * 100_000]
    assert buffer.read() == b"after"


def test_the_functions_of_a_pickle_are_the_reviewed_ones() -> None:
    """A name is added after its function was read: it imports nothing, makes data alone, and charges what it copies."""
    from paddle_mps._files import _unpickle

    calls = "tuple set frozenset complex bytes eval".split()
    reviewed = {("numpy", "ndarray"), ("numpy", "dtype"), ("_codecs", "encode"), ("collections", "OrderedDict")}
    reviewed |= {(module, name) for module in ("builtins", "__builtin__") for name in calls}
    for core in ("numpy.core", "numpy._core"):
        reviewed |= {
            (f"{core}.multiarray", "_reconstruct"),
            (f"{core}.multiarray", "scalar"),
            (f"{core}.numeric", "_frombuffer"),
        }
    assert _unpickle.FUNCTIONS.keys() == reviewed
    made_here = {function.call.__module__ for function in _unpickle.FUNCTIONS.values()}
    assert made_here == {_unpickle.__name__}


def test_damaged_and_hostile_files() -> None:
    program = [sys.executable, str(HERE / "hostile_files.py"), str(FOLDER)]
    done = subprocess.run(program, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.stdout[-3000:], done.stderr[-3000:])
    assert "a file was run" not in done.stdout
