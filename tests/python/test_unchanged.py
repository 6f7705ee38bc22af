"""Programs for PaddlePaddle that run unchanged: what traces cannot say runs operator by operator, as in PaddlePaddle."""

from __future__ import annotations

import json
import re
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import unchanged_programs

import paddle_mps as paddle
from paddle_mps.jit import InputSpec, not_to_static, to_static

ANSWERS = json.loads(unchanged_programs.ANSWERS.read_text())
PLACES = ["cpu", *["mps:0"] * (paddle.mps.device_count() > 0)]
EAGER = r"\[to_static\] .* runs operator by operator"


@pytest.fixture(params=PLACES)
def place(request: pytest.FixtureRequest) -> Iterator[str]:
    """A current place."""
    before = paddle.get_device()
    paddle.set_device(request.param)
    yield request.param
    paddle.set_device(before)


def test_programs_answer_as_in_paddle(place: str) -> None:
    """All programs, at least 39 of which have to answer as PaddlePaddle does, the others being those that call backward()."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", EAGER)
        found = {name: unchanged_programs.outcome(function) for name, function in unchanged_programs.PROGRAMS.items()}
    assert set(found) == set(ANSWERS)
    others = [name for name in found if json.loads(json.dumps(found[name])) != ANSWERS[name]]
    print(f"{len(found) - len(others)} of {len(found)} programs under to_static answer as in PaddlePaddle on {place}")
    assert not others, {name: (found[name], ANSWERS[name]) for name in others}


REFUSED: dict[str, Any] = {
    "if": lambda x: x if x.sum() > 0 else -x,
    "float": lambda x: x * float(x.sum()),
    "int": lambda x: x * int(x.sum()),
    "range": lambda x: x * len(range(x[0].astype("int32"))),
    "numpy": lambda x: x * float(x.numpy()[0]),
    "item": lambda x: x * x[0].item(),
    "mask": lambda x: x[x > 0],
    "nonzero": lambda x: paddle.nonzero(x),
    "marked": lambda x: marked(x),
    "complex": lambda x: paddle.real(paddle.fft.fft(x)),
}
marked: Any = not_to_static(lambda x: x * 2)


@pytest.mark.parametrize("name", REFUSED)
def test_what_cannot_be_traced_runs_as_it_was_written(name: str, place: str) -> None:
    """With one warning, which names the line, and with the reason in explain. full_graph makes it an error."""
    function = REFUSED[name]
    x = paddle.to_tensor([1.0, 2.0], place="cpu" if name == "complex" else place)
    f = to_static(function)
    want = function(x).tolist()
    with pytest.warns(UserWarning, match=EAGER) as said:
        assert f(x).tolist() == want
    assert len(said) == 1 and said[0].filename == __file__
    assert "test_unchanged.py" in str(said[0].message) and function.__code__.co_name in str(said[0].message)
    assert (
        f(x).tolist() == want and f(x * 2).tolist() == function(x * 2).tolist()
    )  # a second warning would be an error here
    assert "operator by operator" in f.explain(x) and f.program_cache == 0
    if name == "marked":  # traced through, as in PaddlePaddle
        assert to_static(function, full_graph=True)(x).tolist() == want
    else:
        with pytest.raises((paddle.TracingError, paddle.UnsupportedError)):
            to_static(function, full_graph=True)(x)


def test_a_function_that_is_marked_itself_says_nothing() -> None:
    assert to_static(marked)(paddle.ones([2])).tolist() == [2, 2]
    assert to_static(not_to_static()(lambda x: x + 1))(paddle.ones([2])).tolist() == [2, 2]


def test_a_method_warns_once_for_all_instances() -> None:
    class Net:
        @to_static
        def forward(self, x: Any) -> Any:
            return x * float(x.sum())

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        assert [Net().forward(paddle.ones([n])).tolist() for n in (1, 2)] == [[1], [2, 2]]
    assert len(said) == 1


def test_results_on_the_cpu_of_a_program_for_another_place(place: str) -> None:
    """Each call has its own: a change of one changes no other."""

    def f(x: Any) -> Any:
        table = paddle.to_tensor(np.arange(100, dtype="float32"), place="cpu")
        return x * 2, paddle.shape(x), table

    g = to_static(f, full_graph=True)
    for _ in range(2):
        y, sizes, table = g(paddle.ones([2, 3]))
        assert y.shape == sizes.tolist() == [2, 3] and table.tolist() == list(range(100))
        assert sizes.place == table.place == paddle.CPUPlace() and y.place == paddle.ones([1]).place
        sizes.add_(paddle.ones([2], "int64", place="cpu"))
        table.zero_()


def test_a_failed_trace_leaves_tensors_and_generators_alone(place: str) -> None:
    total, log = paddle.zeros([2]), []

    def f(x: Any) -> Any:
        log.append(x.shape)
        paddle.seed(paddle.get_rng_state()[0].seed + 1)
        total.add_(x)
        total[0] = total[0] * 2
        noise = paddle.rand([2]) + paddle.randn([2]).sum() + paddle.randperm(4).sum()
        return noise if total.sum() > 0 else x

    paddle.seed(5)
    want = [f(paddle.ones([2])).tolist() for _ in range(3)]
    expected, count = total.tolist(), len(log)
    paddle.seed(5)
    total.zero_()
    g = to_static(f)
    with pytest.warns(UserWarning, match=EAGER):
        assert [g(paddle.ones([2])).tolist() for _ in range(3)] == want
    assert total.tolist() == expected
    assert len(log) == 2 * count + 1  # Python's own state is not taken back: docs/differences.md says so


def test_an_error_of_the_trace_is_not_swallowed(place: str) -> None:
    def f(x: Any) -> Any:
        try:
            return x * float(x.sum())
        except RuntimeError:
            return x * 0

    g = to_static(f)
    with pytest.warns(UserWarning, match="has caught an error of its trace"):
        assert g(paddle.ones([2])).tolist() == [2, 2]
    with pytest.raises(paddle.TracingError, match="has caught an error"):
        to_static(f, full_graph=True)(paddle.ones([2]))


def test_elements_are_printed_in_each_call(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    def f(x: Any) -> Any:
        print(x + 1)
        return x * 2

    g = to_static(f)
    with pytest.warns(UserWarning, match=EAGER):
        for n in (1.0, 2.0):
            g(paddle.full([2], n))
    assert re.findall(r"\[.\., .\.\]", capsys.readouterr().out) == ["[2., 2.]", "[3., 3.]"]
    whole = to_static(f, full_graph=True)
    for n in (1.0, 2.0):
        whole(paddle.full([2], n))
    assert capsys.readouterr().out.count("traced)") == 1


def test_errors_of_a_function_are_its_own(place: str) -> None:
    calls = []

    def f(x: Any) -> Any:
        calls.append(1)
        raise ValueError("its own")

    with pytest.raises(ValueError, match="its own"):
        to_static(f)(paddle.ones([2]))
    assert calls == [1]


def test_arrays_become_tensors_beside_the_others(place: str) -> None:
    kinds = []

    @to_static
    def f(x: Any, y: Any) -> Any:
        kinds.append(type(x))
        return x + y

    for _ in range(2):
        got = f(np.ones([2], np.float32), paddle.ones([2]))
        assert got.tolist() == [2, 2] and got.place == paddle.ones([1]).place
    assert kinds == [paddle.Tensor] and f.program_cache == 1
    # What a tensor cannot do: the function gets the array, as in PaddlePaddle.
    g = to_static(lambda x, y: y * float(x.view("int32").copy().sum()))
    with pytest.warns(UserWarning, match=EAGER):
        assert g(np.zeros([2], np.float32), paddle.ones([2])).tolist() == [0, 0]


SIZES: dict[str, Any] = {
    "reshape": lambda x: paddle.reshape(x, [paddle.shape(x)[0], -1]),
    "product": lambda x: paddle.shape(x)[0] * 2,
    "vector": lambda x: paddle.shape(x),
    "slice": lambda x: x[: paddle.shape(x)[0] // 2],
    "last": lambda x: x[paddle.shape(x)[0] - 1],
    "loop": lambda x: sum([x + i for i in range(paddle.shape(x)[0])], x),
    "written": lambda x: x.reshape(written(paddle.shape(x))),
    "joined": lambda x: x.reshape(paddle.concat([paddle.shape(x)[:1], paddle.to_tensor([-1], place="cpu")])),
    "expanded": lambda x: paddle.expand(paddle.ones([1, 1]), [paddle.shape(x)[0], 3]),
    "zeros": lambda x: paddle.zeros(paddle.shape(x)) + x,
    "arange": lambda x: paddle.arange(paddle.shape(x)[1]),
    "mean": lambda x: x.sum() / paddle.shape(x)[0].astype("float32"),
    "area": lambda x: x / paddle.prod(paddle.shape(x)[2:]),
    "numel": lambda x: x.reshape([int(paddle.numel(x)), 1]) * int(paddle.rank(x)),
    "condition": lambda x: x * 2 if paddle.shape(x)[0] > 2 else x,
    "tile": lambda x: paddle.tile(x, [paddle.shape(x)[0], 1, 1]),
    "cut": lambda x: paddle.slice(x, [0, 1], [0, 0], [paddle.shape(x)[0], paddle.shape(x)[1] - 1]),
}


def written(s: Any) -> Any:
    s[0] = -1
    s[1] = s[1] * s[2]
    s[1:2] += 0
    return s[:2]


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("name", SIZES)
def test_sizes_are_known_in_a_trace(name: str, dynamic: bool, place: str) -> None:
    """paddle.shape is a tensor on the CPU, and what is computed of it is known: no program, no wait, no eager run."""
    function = SIZES[name]
    f = to_static(function, full_graph=True, dynamic=dynamic)
    x = paddle.arange(24, dtype="float32").reshape([2, 3, 4])
    for given in (x, x * 2, x[:, :2], paddle.concat([x, x]), x[:, :, :3]):
        want, got = function(given), f(given)
        assert got.tolist() == want.tolist() and got.dtype is want.dtype and got.place == want.place


def test_sizes_that_a_program_has_written_are_not_read(place: str) -> None:
    """A number that depends on elements is not known any more."""

    def f(x: Any) -> Any:
        n = paddle.shape(x)
        n[0] = x.sum().astype("int64").cpu()
        return x * int(n[0])

    with pytest.warns(UserWarning, match=EAGER):
        assert to_static(f)(paddle.ones([2])).tolist() == [2, 2]


def test_draws_with_known_numbers_are_new_ones() -> None:
    f = to_static(lambda: paddle.randint_like(paddle.to_tensor([0] * 32, place="cpu"), 0, 1000), full_graph=True)
    with paddle.device_guard("cpu"):
        assert len({tuple(f().tolist()) for _ in range(3)}) == 3


def test_open_sizes_serve_what_paddle_shape_tells(place: str) -> None:
    f = to_static(lambda x: paddle.reshape(x, [paddle.shape(x)[0], -1]) * 2, full_graph=True, dynamic=True)
    for n in range(3, 12):
        assert f(paddle.ones([n, 2, n + 1])).shape == [n, 2 * n + 2]
    assert f.program_cache <= 2


def test_input_spec_is_where_programs_import_it_from() -> None:
    from paddle_mps.static import InputSpec as same

    assert same is InputSpec is paddle.static.InputSpec
    with pytest.raises(AttributeError, match=r"\[paddle\.static\] Executor is out of scope: .*static graph"):
        getattr(paddle.static, "Executor")  # noqa: B009
