"""Operators as built-in functions answer what the way through ctypes answers, and keep nothing."""

from __future__ import annotations

import ctypes
import os
import pathlib
import random
import re
import subprocess
import sys
import threading
from typing import Any, Callable

import numpy as np
import pytest
from oracles import ORACLES, as_arguments, drawn, row_of, tensors

import paddle_mps as paddle
from paddle_mps._arrays import _indexing
from paddle_mps._calls import _call, _operators
from paddle_mps._core import _builtin, _convert, _objects, _structs
from paddle_mps._core._library import library

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = pathlib.Path(paddle.__file__).parent

builtins_only = pytest.mark.skipif(not _builtin.available(), reason="this interpreter has no built-in functions")


def rows() -> list[tuple[str, Callable[..., Any], _call.Operator]]:
    """Every operator as (name, function, row)."""
    return [(n, f, _call._operators[f]) for n, f in vars(_operators).items() if callable(f) and f in _call._operators]


def handles() -> int:
    _objects.collect()
    return int(library.pmps_live_handles())


def test_the_structures_are_the_headers() -> None:
    header = (ROOT / "include" / "paddlemps.h").read_text()
    for name, structure in (("api", _structs.PythonApi), ("entries", _structs.PythonEntries)):
        body = header.partition(f"typedef struct pmps_python_{name} {{")[2].partition("}")[0]
        body = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
        fields = [
            field
            for line in re.findall(r"[^;]+(?=;)", body)
            for field in re.findall(r"\(\*(\w+)\)", line) or re.findall(r"(\w+)\s*(?:,|$)", line)
        ]
        assert fields == [f for f, *_ in structure._fields_], name


class Index:
    """What operator.index takes, and no int."""

    def __index__(self) -> int:
        return 1


class Derived(paddle.Tensor):
    """A tensor of a class of the program's own."""


def derived() -> Any:
    made = object.__new__(Derived)
    other = paddle.ones([2, 3])
    made._handle, made._shape, made._meta = other._handle, None, _objects.meta(other)
    other._handle = 0  # it has been given away
    return made


OPERANDS: list[Callable[[], Any]] = [
    lambda: paddle.arange(6, dtype="float32").reshape([2, 3]),
    lambda: paddle.arange(6, dtype="int64").reshape([2, 3]),
    lambda: paddle.ones([3], "bool"),
    lambda: paddle.ones([5000]),
    lambda: paddle.zeros([0, 3]),
    lambda: paddle.to_tensor(2.0),
    lambda: paddle.to_tensor([0, 1]),
    derived,
    lambda: 2, lambda: 1.5, lambda: True, lambda: None, lambda: 2**63, lambda: -(2**63), lambda: 2**70, lambda: "x",
    lambda: np.float32(2), lambda: np.int64(1), lambda: np.ones(3), lambda: 1j, list, lambda: Index(),
]  # fmt: skip
LISTS: list[Callable[[], Any]] = [
    lambda: [paddle.ones([2, 3]), paddle.ones([2, 3])],
    lambda: (paddle.ones([3]),),
    lambda: [paddle.ones([1]) for _ in range(40)],
    lambda: [paddle.to_tensor([0, 1]), paddle.to_tensor([1, 0])],
    lambda: [paddle.ones([2]), 3],
    list,
    lambda: None,
    lambda: paddle.ones([2, 2]),
]
VALUES: list[Any] = [
    None, 0, 1, -1, 7, True, False, 1.5, float("nan"), 2**63, -(2**63), 2**64 + 1, "float32", "int64", "nothing", "",
    paddle.float32, float, np.dtype("int32"), np.int32(1), [0], [1, 0], (2, -1), [3, 2], [], [1.5], ["a"], list(range(100)),
    np.array([1, 0]), Index(), 1j, object(),
]  # fmt: skip


LIKELY: dict[str, list[Any]] = {
    "bool": [True, False], "int": [0, 1, -1, 3], "float": [1.5, 2, 0.0], "floats": [[1.5, 2], (0.5,), 2.0], "ints": [[0], (1, 0), [3, 2], [2, 3], 0, [1, 1]],
    "dtype": ["float32", paddle.float32, "int64", paddle.int32], "scalar": [1, 1.5, True],
    "string": ["add", "minimum", "nothing", "mean", "mean", "sum"],
}  # fmt: skip


def likely(row: _call.Operator, generator: random.Random) -> list[Any]:
    """Arguments that may well do: operands of one dtype and shape."""
    dtype = generator.choice(["float32", "int32", "bool"])
    x = paddle.to_tensor([[0, 1, 1], [1, 0, 1]]).cast(dtype)
    indices = [paddle.to_tensor([0, 1]), paddle.to_tensor([1, 0])]
    given: list[Any] = [0] if row.lead == _builtin.PLACE else []
    for name, kind in row.operands:
        first = indices if name == "indices" else [x, x]
        alone = {"index": indices[0], "boxes": paddle.ones([1, 3, 4]), "scores": paddle.ones([1, 2, 3])}
        given.append(first if kind & _builtin.VARIADIC else alone.get(name, x))
    return given + [generator.choice(LIKELY[kind]) for _, kind in row.attributes]


def arguments(row: _call.Operator, generator: random.Random) -> list[Any]:
    """Arguments, likely and unlikely ones."""
    if generator.random() < 0.4:
        return likely(row, generator)
    given: list[Any] = []
    if row.lead == _builtin.PLACE:
        given.append(generator.choice([0, 0, 0, 2**40, -1, None, "cpu"]))
    for _, kind in row.operands:
        given.append(generator.choice(LISTS if kind & _builtin.VARIADIC else OPERANDS)())
    given += [generator.choice(VALUES) for _ in row.attributes]
    if generator.random() < 0.2 and given:
        del given[-1]
    return given


def outcome(call: Callable[[], Any]) -> tuple[Any, ...]:
    """The results of a call as values, or its exception."""
    try:
        made = call()
    except Exception as error:
        return type(error), str(error)
    each = made if isinstance(made, list) else [made]
    return isinstance(made, list), [(t.shape, t.dtype.name, t.strides, str(t.place), t.numpy().tobytes()) for t in each]


def image(*shape: int) -> paddle.Tensor:
    return paddle.arange(int(np.prod(shape)), dtype="float32").reshape(shape)


def octets(*shape: int) -> paddle.Tensor:
    return image(*shape).astype("int8")


# Arguments of rows whose operands and attributes depend on each other, so that none that are drawn fit.
FITTING: dict[str, Callable[[], list[Any]]] = {
    "attention": lambda: [image(1, 2, 3), image(1, 4, 3), image(1, 4, 3), None, 0.5, False, -1.0],
    "lstm": lambda: [image(2, 1, 8), image(2, 8), image(1, 2), image(1, 2), False],
    "gru": lambda: [image(2, 1, 6), image(2, 6), image(1, 2), None, False, False],
    "pad": lambda: [image(2, 3), [1, 0, 2, -1], "reflect", 1.5],
    "unfold": lambda: [image(1, 2, 3, 3), [2, 2], None, [1, 0, 0, 1], None],
    "unstack": lambda: [image(2, 3), 1, 3],
    "diagonal_scatter": lambda: [image(2, 3), image(2), 1, 0, -1],
    "slice_scatter": lambda: [image(4, 3), image(2, 1), [0], [-2], [9], None],
    "select_scatter": lambda: [image(4, 3), image(3), 0, -1],
    "block_diag": lambda: [[image(2, 3), image(2)]],
    "spread": lambda: [image(2, 3), [4, 3], [0], [1], [3], None],
    "conv": lambda: [image(1, 1, 3, 3), image(2, 1, 2, 2), None, None, [1, 1], 1, False],
    "conv_integer": lambda: [octets(1, 1, 3, 3), octets(2, 1, 2, 2), None, None, [1, 1, 0, 0], None, 1, False],
    "matmul_integer": lambda: [octets(2, 3), octets(3, 2), None, False, False],
    "conv_transpose": lambda: [image(1, 2, 3, 3), image(2, 1, 2, 2), None, None, None, None, 1, False],
    "conv_weight": lambda: [image(1, 1, 3, 3), image(1, 2, 2, 2), [2, 2], None, None, None, 1, False],
    "max_pool": lambda: [image(1, 1, 3, 3), [2, 2], None, None, True, False, False, "int64"],
    "max_unpool": lambda: [image(1, 1, 1, 2), paddle.to_tensor([[[[0, 3]]]]), [2, 2], False, False],
    "avg_pool": lambda: [image(1, 1, 3, 3), [2, 2], None, None, False, False, True, False],
    "avg_unpool": lambda: [image(1, 1, 1, 1), [2, 2], [2, 2], None, None, False, False, True, False],
    "number_line": lambda: [0, [1.5, -0.0], "float32"],
}


def of_formula(name: str, generator: random.Random) -> list[Any]:
    """Arguments of a row that is a formula: those of its oracle."""
    oracle = ORACLES[name]
    row = row_of(name)
    setting = generator.choice(oracle.settings)
    defaults = [a["default"] for a in row["attrs"]][len(setting) :]
    return [*as_arguments(name, tensors(drawn(name, setting), "float32", "cpu", False)), *setting, *defaults]


RANDOM = {"uniform", "normal", "randint", "randperm"}


@builtins_only
@pytest.mark.parametrize("name", [n for n, _, _ in rows()])
def test_both_ways_answer_alike(name: str) -> None:
    function, row = next((f, r) for n, f, r in rows() if n == name)
    generator = random.Random(name)
    before = handles()
    ran = 0
    for _ in range(300):
        if name in FITTING and generator.random() < 0.2:
            given = FITTING[name]()
        elif name in ORACLES and generator.random() < 0.2:
            given = of_formula(name, generator)
        else:
            given = arguments(row, generator)
        paddle.seed(7)
        short = outcome(lambda given=given: function(*given))  # type: ignore[misc]
        paddle.seed(7)
        long = outcome(lambda given=given: row.otherwise(tuple(given), _builtin.UNUSUAL))  # type: ignore[misc]
        assert short == long, given
        ran += not isinstance(short[0], type)
        del given
    # Those only write into tensors, or want a value without axes.
    assert ran or name in ("index_put", "index_reduce", "index_fill"), "no call was possible"
    assert handles() <= before


OFFSETS = ("type_offset", "handle_offset", "shape_offset", "meta_offset")


@builtins_only
def test_slots_are_found() -> None:
    found = [getattr(_builtin._tensor, name) for name in OFFSETS]
    if "t" in sys.abiflags:
        assert found == [0] * 4
        return
    assert 0 not in found and len(set(found)) == 4
    x = paddle.ones([2])
    for name, offset in zip(("_handle", "_shape", "_meta"), found[1:]):
        assert ctypes.c_void_p.from_address(id(x) + offset).value == id(getattr(x, name))


@builtins_only
def test_slots_are_attributes_where_their_offsets_are_not_known(monkeypatch: pytest.MonkeyPatch) -> None:
    before = handles()

    def results() -> list[Any]:
        x = paddle.arange(6, dtype="float32").reshape([2, 3])
        made = [
            paddle.exp(x),
            x + x,
            x[1],
            x * 2,
            paddle.concat([x, x]),
            *paddle.split(x, 3, axis=1),
            _operators.neg(derived()),
        ]
        return [(y.shape, y.dtype, y.numpy().tolist()) for y in made]

    fast = results()
    for name in OFFSETS:
        monkeypatch.setattr(_builtin._tensor, name, 0)
    assert results() == fast
    assert handles() == before


@builtins_only
def test_arguments_beyond_the_rooms_go_the_long_way() -> None:
    x = paddle.ones([1])
    assert _operators.concat([x] * 100, 0).shape == [100]
    assert len(_operators.split(paddle.ones([40]), [1] * 40, 0)) == 40
    assert _operators.reshape(x, [1] * 9).shape == [1] * 9
    with pytest.raises(ValueError):
        _operators.reshape(x, [1] * 70)


INTEGERS = (0, -1, 3, 7, -9, 2**62, 2**70, -(2**63))
BOUNDS = (None, 0, 1, -1, 2, 9, -9, 2**70, -(2**70))


def key(generator: random.Random) -> Any:
    """An index expression of what makes a view, fitting or not, and now and then of what the library does not read."""

    def item() -> Any:
        kind = generator.randrange(12)
        if kind < 4:
            return generator.choice(INTEGERS[: generator.choice((2, 8))])
        if kind < 8:
            return slice(*[generator.choice(BOUNDS) for _ in range(3)])
        return generator.choice((None, Ellipsis, np.int64(1), slice(np.int64(1), None), slice(0, 1.5)))

    return item() if generator.random() < 0.3 else tuple(item() for _ in range(generator.randrange(5)))


@builtins_only
@pytest.mark.parametrize("shape", [[4, 3, 5], [8], [], [0, 2]], ids=str)
def test_both_ways_make_the_same_views(shape: list[int]) -> None:
    x, generator, before, ran = (
        paddle.arange(int(np.prod(shape))).reshape(shape),
        random.Random(str(shape)),
        handles(),
        0,
    )
    for _ in range(2000):
        given = key(generator)

        def long(given: Any = given) -> Any:
            items, indices = _indexing.translate(x, given)
            assert not indices
            return _indexing.by_items(x, items)

        wanted = outcome(long)
        assert outcome(lambda given=given: x[given]) == wanted, given  # type: ignore[misc]
        if not isinstance(wanted[0], type) and (view := _indexing.viewed(x, given)) is not None:
            assert outcome(lambda view=view: view) == wanted, given  # type: ignore[misc]
            ran += 1
        view = None
    assert ran > 20
    assert handles() <= before


@builtins_only
def test_keys_that_the_library_does_not_read_are_none() -> None:
    x = paddle.ones([2, 3])
    for unread in (x > 0, [0], np.int64(0), True, 1.0, "a", (0, [1]), (None,) * 17, slice(0, 1.0), 2**63):
        assert _indexing.viewed(x, unread) is None
    assert x[(None,) * 6].shape == [1] * 6 + [2, 3]


def test_answers_are_kept_for_arguments_that_mean_the_same() -> None:
    asked: list[Any] = []

    @_convert.settled
    def sort(*given: Any) -> Any:
        asked.append(given)
        if given[0] == 7:
            raise ValueError("seven")
        return [type(v).__name__ for v in given]

    for given, wanted in (((1, "a"), 1), ((1, "a"), 1), ((True, "a"), 2), ((1.0, "a"), 3), ((1.0, "a"), 4)):
        assert sort(*given) == [type(v).__name__ for v in given]
        assert len(asked) == wanted, given  # floats, which are equal to ints, are not kept
    asked.clear()
    for value in ([1, 1], [1, 1], (1, 1), (1, 1), (True, 1), [1, np.int64(1)]):
        sort(_convert.sizes(value))
    assert list(map(repr, asked)) == ["([1, 1],)", "((1, 1),)", "((True, 1),)", f"({[1, np.int64(1)]!r},)"]
    asked.clear()
    for _ in range(2):
        with pytest.raises(ValueError, match="seven"):
            sort(7)
        sort(paddle.ones([1]))  # it may change
    assert len(asked) == 4


@builtins_only
def test_results_are_described() -> None:
    x = paddle.arange(6, dtype="int32").reshape([2, 3])
    y = _operators.transpose(x, [1, 0])
    assert (y._meta.shape, y._meta.strides, y._shape) == ((3, 2), (1, 3), None)
    z = _operators.cast(y, "float16")
    assert (z._meta.dtype, z._shape) == (paddle.float16, (3, 2))
    assert z._shape is _operators.cast(y, paddle.int8)._shape  # one tuple for a shape


@builtins_only
def test_a_tensor_is_freed_once_and_without_python() -> None:
    """Small ones late, large ones and views at once; __del__ by hand is harmless."""
    before = handles()
    x = paddle.ones([5000])
    y = x[10:]
    z = x + x
    x.__del__()
    x.__del__()
    with pytest.raises(ValueError):
        y + x
    del x, y, z
    assert handles() == before
    assert not hasattr(paddle.Tensor.__del__, "__code__")


def test_a_tensor_that_was_never_made_is_dropped_in_silence(capfd: pytest.CaptureFixture[str]) -> None:
    object.__new__(paddle.Tensor)
    assert not capfd.readouterr().err


@builtins_only
def test_long_work_lets_other_threads_run() -> None:
    """A call that takes milliseconds, but not long enough for a worker, releases the interpreter's lock."""
    x = paddle.ones([6_000_000])
    count, ended = [0], threading.Event()

    def spin() -> None:
        while not ended.is_set():
            count[0] += 1

    progress = 0
    other = threading.Thread(target=spin)
    switching = sys.getswitchinterval()
    sys.setswitchinterval(1)  # the lock is only given away
    try:
        other.start()
        for _ in range(20):
            start = count[0]
            _operators.tanh(x)
            progress += count[0] - start
            if progress > 1000:
                break
    finally:
        ended.set()
        sys.setswitchinterval(switching)
        other.join()
    assert progress > 1000


HAMMER = """
import sys, threading
import paddle_mps as paddle
from paddle_mps._core import _objects
from paddle_mps._core._library import library

sys.setswitchinterval(1e-6)
x, y = paddle.arange(8, dtype="float32"), paddle.ones([8])
shared = paddle.ones([1, 8])
want = (x + y).tolist()
failures = []

def work(number):
    try:
        for i in range(3000):
            z = x + y
            assert (z * 2.0).shape == [8] and paddle.sum(z, axis=0).shape == []
            if i % 50 == 0:
                assert z.tolist() == want and paddle.concat([z, y]).tolist() == want + [1.0] * 8
                _objects.flush()
            if i % 10 == number:
                shared.squeeze_(0) if i % 20 < 10 else shared.unsqueeze_(0)
                assert shared.dtype == paddle.float32 and shared.size == 8
    except Exception as error:
        if not ("freed" in str(error) or "squeeze" in str(error)):  # the shared one is replaced under our hands
            failures.append(repr(error))

for _ in range(2):
    threads = [threading.Thread(target=work, args=(n,)) for n in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    _objects.collect()
    print(library.pmps_live_handles())
assert not failures, failures
assert shared._meta.shape == tuple(_objects.ask(shared._handle).shape), "what is known of it is of another handle"
"""


def run(program: str, **env: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=300, env={**os.environ, **env}
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not done.stderr, done.stderr
    return done.stdout


OUTLIVING = """
import sys, types
early = sys.modules["early"] = types.ModuleType("early")  # modules are cleared in reverse order
import numpy as np
import paddle_mps as paddle
from paddle_mps._calls import _operators

class Late:
    def __init__(self):
        self.x, self.f = paddle.ones([3]), _operators.add
        self.array = np.from_dlpack(paddle.ones([4]))
        self.capsule = paddle.ones([5]).__dlpack__()

    def __del__(self):
        f, x = self.f, self.x
        for call in (lambda: x + x, lambda: x * 2.0, lambda: f(x, x), lambda: f(x, "no"), lambda: f(x), lambda: -x):
            try:
                call()
            except Exception:
                pass  # the package may be gone, but nothing that was freed is used
        if self.array.flags.writeable:  # not with NumPy 2.0
            self.array += 1
        self.array.tolist()
        f.__doc__

paddle.mps.record_memory_history()
early.late, early.own = Late(), [paddle.ones([n]) for n in range(9)]
early.own.append(early.own)
sys.late = [Late(), paddle.ones([2])]
"""


@pytest.mark.parametrize("malloc", ["pymalloc", "debug"])
def test_what_outlives_the_package_uses_nothing_freed(malloc: str) -> None:
    """When the interpreter ends, modules are cleared one after the other, this package perhaps before others."""
    assert not run(OUTLIVING, PYTHONMALLOC=malloc)


@pytest.mark.parametrize("place", ["cpu", "mps"])
def test_threads_leak_nothing(place: str) -> None:
    """Eight threads of small work, without a lock where the interpreter has none."""
    program = (
        HAMMER
        if place == "cpu"
        else HAMMER.replace(
            "from paddle_mps._core import _objects",
            "paddle.set_device('mps')\nfrom paddle_mps._core import _objects",
            1,
        )
    )
    first, second = run(program, PADDLE_MPS_DEVICE="host").split()
    assert first == second == "3"


INTERRUPTED = """
import os, signal, sys, threading, time
import paddle_mps as paddle
from paddle_mps._core import _objects
from paddle_mps._core._library import library

x, caught, wanted = paddle.ones([8]), 0, 200
_objects.collect()
before = library.pmps_live_handles()
answered = threading.Semaphore(0)

def interrupt():
    for _ in range(wanted):
        answered.acquire()
        time.sleep(0.0005)
        os.kill(os.getpid(), signal.SIGINT)

thread = threading.Thread(target=interrupt)
thread.start()
while caught < wanted:
    try:
        answered.release()
        while True:
            x + 1.0
            x + x
            paddle.maximum(x, x)
    except KeyboardInterrupt:
        caught += 1
thread.join()
_objects.collect()
print(library.pmps_live_handles() - before)
"""


@builtins_only
def test_ctrl_c_is_never_swallowed() -> None:
    """Each of 200 interrupts arrives, none of them in __del__, and no handle is lost."""
    assert run(INTERRUPTED, PADDLE_MPS_DEVICE="host").strip() == "0"


OTHER_INTERPRETER = """
import sys
import numpy, pytest
sys.implementation.name = "other"
import paddle_mps
from paddle_mps._core import _builtin
assert not _builtin.available()
sys.implementation.name = "cpython"
sys.exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *sys.argv[1:]]))
"""


@builtins_only
def test_another_interpreter_goes_through_ctypes() -> None:
    files = ["test_tensor.py", "test_indexing.py", "test_repr.py", "test_differences.py"]
    here = pathlib.Path(__file__).parent
    done = subprocess.run(
        [sys.executable, "-c", OTHER_INTERPRETER, *(str(here / f) for f in files)], capture_output=True, text=True, timeout=500
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-2000:]


def test_an_interpreter_that_lacks_a_function_goes_through_ctypes() -> None:
    program = """
import ctypes, ctypes.util
if hasattr(ctypes, "pythonapi"):
    ctypes.pythonapi = ctypes.PyDLL(ctypes.util.find_library("m"))
from paddle_mps._core import _builtin
import paddle_mps as paddle
assert not _builtin.available()
x = paddle.ones([2])
print((paddle.maximum(x, paddle.zeros([2])) + 1.0).tolist())
try:
    x.__dlpack__()
except NotImplementedError as error:
    print(error)
"""
    assert run(program).splitlines() == ["[2.0, 2.0]", "[dlpack] this interpreter has no capsules; want CPython"]


@builtins_only
def test_the_interpreters_own_table_is_left_alone() -> None:
    program = """
import ctypes
def state():
    return {n: (f.argtypes, f.restype) for n, f in vars(ctypes.pythonapi).items() if not n.startswith("_")}
before = state()
import paddle_mps
assert state() == before
import numpy
x = numpy.from_dlpack(paddle_mps.ones([2]))
assert state() == before
"""
    run(program)


def test_public_names_follow_the_table() -> None:
    from paddle_mps._functional import _generated
    from paddle_mps._maths import _ops
    from paddle_mps.nn import functional

    assert set(_ops.__all__) <= set(paddle.__all__)
    assert set(_generated.__all__) <= set(functional.__all__)
    assert len(set(paddle.__all__)) == len(paddle.__all__)
    for name in paddle.__all__:
        assert hasattr(paddle, name)


def test_a_parameter_has_one_name_at_a_time() -> None:
    x = paddle.to_tensor([[1.0, 2.0]])
    assert paddle.sum(input=x, dim=1).tolist() == paddle.sum(x, axis=1).tolist() == [3.0]
    assert x.max(dim=1).tolist() == [2.0]
    for call in (
        lambda: paddle.sum(x, input=x),
        lambda: paddle.sum(x, 0, dim=1),
        lambda: paddle.maximum(x, x, other=x),
        lambda: paddle.maximum(x),
        lambda: paddle.exp(),
        lambda: paddle.concat(),
        lambda: paddle.nn.functional.softmax(x, axis=0, dim=1),
    ):
        with pytest.raises(TypeError):
            call()


def test_integers_beyond_64_bits_are_refused() -> None:
    x = paddle.ones([2, 2])
    for call in (
        lambda: paddle.sum(x, axis=2**64),
        lambda: paddle.reshape(x, [2**64 + 4]),
        lambda: paddle.tile(x, [2**64 + 1]),
        lambda: paddle.zeros([2**64 + 2]),
        lambda: paddle.randperm(2**64 + 3),
        lambda: paddle.split(x, [2**64 + 1, 1]),
    ):
        with pytest.raises(ValueError):
            call()
