"""Tensors: memory and its sharing, conversions, errors, in-place operators, threads."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
from typing import Any, Callable

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps._calls import _call
from paddle_mps._core import _library

PLACES = ("cpu", "mps")
# Older versions take every array from DLPack as read-only.
NUMPY_WRITES = tuple(int(n) for n in np.__version__.split(".")[:2]) >= (2, 1)

VIEWS: list[Callable[[paddle.Tensor], paddle.Tensor]] = [
    lambda x: x.reshape([4, 3]), lambda x: x.T, lambda x: x.transpose([1, 0]), lambda x: x.t(), lambda x: x.mT,
    lambda x: x.unsqueeze(0).squeeze(0), lambda x: x[1], lambda x: x[0:2], lambda x: x[:, ::-1], lambda x: x[None],
    lambda x: x[...], lambda x: x[0, 0], lambda x: paddle.slice(x, [1], [1], [3]), lambda x: x.unbind()[1],
    lambda x: next(iter(x)), lambda x: x.flatten(), lambda x: x.detach(), lambda x: x.contiguous(), lambda x: +x,
    lambda x: x.astype("float32"), lambda x: x.to(x.device), lambda x: x.view([12]), lambda x: x.permute(1, 0),
    lambda x: x[:, 1:3].reshape([3, 2]),
]  # fmt: skip
COPIES: list[Callable[[paddle.Tensor], paddle.Tensor]] = [
    lambda x: x.T.reshape([12]), lambda x: x[:, 1:3].reshape([6]), lambda x: x[[0, 1]], lambda x: x[x > 3],
    lambda x: paddle.split(x, 3)[0], lambda x: x.chunk(2, 1)[1], lambda x: x.expand([2, 3, 4]), lambda x: x.flip(0),
    lambda x: x.clone(), lambda x: x.cast("float32"), lambda x: x.to("float32"), lambda x: -x, lambda x: x.T.flatten(),
    lambda x: paddle.to_tensor(x), lambda x: paddle.tile(x, [1, 1]), lambda x: paddle.concat([x]),
    lambda x: copy.deepcopy(x), lambda x: x.gather(paddle.to_tensor([0], place=x.place)),
]  # fmt: skip


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("shared", [True, False])
def test_what_shares_memory(place: str, shared: bool) -> None:
    for number, make in enumerate(VIEWS if shared else COPIES):
        x = paddle.arange(12.0, place=place).reshape([3, 4])
        made = make(x)
        made.fill_(-1.0)
        assert bool((x == -1.0).any()) is shared, number
        made = make(x)
        x.fill_(-2.0)
        assert bool((made == -2.0).all()) is shared, number


@pytest.mark.parametrize("place", PLACES)
def test_memory_falls_when_tensors_go(place: str) -> None:
    def allocated() -> int:
        gc.collect()
        _call.flush()
        return int(_library.library.pmps_live_handles()) if place == "cpu" else paddle.mps.memory_allocated()

    before = allocated()
    small = [paddle.ones([8], place=place) for _ in range(500)]
    large = paddle.ones([1 << 20], place=place)
    view = large[1:2]
    assert allocated() > before
    del small, large
    if place == "mps":
        assert allocated() - before >= 4 << 20, "the view holds the memory"
    del view
    assert allocated() == before


def test_large_tensors_are_freed_at_once() -> None:
    _call.flush()
    before = _library.library.pmps_live_handles()
    x = paddle.ones([1 << 20])
    assert _library.library.pmps_live_handles() == before + 1
    del x
    assert _library.library.pmps_live_handles() == before


def test_deferred_handles_do_not_pile_up() -> None:
    tensors = [paddle.ones([1]) for _ in range(1000)]
    del tensors
    paddle.zeros([1])
    assert _call.flush() <= 64


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "float32"])
def test_numpy_and_back(place: str, dtype: str) -> None:
    for array in (np.arange(6).reshape(2, 3), np.array(1), np.zeros((0, 3)), np.arange(8)[::-2]):
        given = array.astype(dtype)
        x = paddle.to_tensor(given, place=place)
        assert x.dtype == dtype
        assert x.place == (paddle.CPUPlace() if place == "cpu" else paddle.MPSPlace(0))
        np.testing.assert_array_equal(x.numpy(), given)
        assert x.tolist() == given.tolist()


def test_bfloat16() -> None:
    x = paddle.to_tensor([1.0, 0.1], dtype="bfloat16")
    assert x.numpy().dtype == np.uint16
    assert x.numpy().tolist() == [0x3F80, 0x3DCD]
    assert x[1].item() == 0.10009765625
    np.testing.assert_array_equal(paddle.to_tensor(x.numpy()).tolist(), x.tolist())


def test_dlpack_shares_both_ways() -> None:
    array = np.arange(6.0).reshape(2, 3)
    x = paddle.from_dlpack(array)
    assert x.shape == [2, 3]
    array[0, 1] = 9.0
    x[1, 2] = 8.0
    assert (x[0, 1].item(), array[1, 2]) == (9.0, 8.0)
    back = np.from_dlpack(x.T)
    array[1, 2] = 7.0
    assert back[2, 1] == 7.0
    if NUMPY_WRITES:
        back[2, 1] = 6.0
        assert array[1, 2] == 6.0


@pytest.mark.parametrize("layout", ["contiguous", "transposed", "reversed", "empty", "0-d"])
def test_dlpack_layouts(layout: str) -> None:
    source = np.arange(12, dtype=np.int32).reshape(3, 4)
    array = {
        "contiguous": source, "transposed": source.T, "reversed": source[::-1, ::2], "empty": source[:0],
        "0-d": np.array(1.5),
    }[layout]  # fmt: skip
    x = paddle.from_dlpack(array)
    np.testing.assert_array_equal(x.numpy(), array)
    np.testing.assert_array_equal(np.from_dlpack(x), array)


def test_dlpack_keeps_memory_alive_and_lets_it_go() -> None:
    _call.collect()
    before = _library.library.pmps_live_handles()
    array = np.from_dlpack(paddle.arange(1000.0))
    gc.collect()
    assert array[999] == 999.0
    capsule = paddle.ones([3]).__dlpack__()
    del capsule, array
    gc.collect()
    _call.flush()
    assert _library.library.pmps_live_handles() == before


def test_a_capsule_is_taken_once() -> None:
    capsule = paddle.ones([3]).__dlpack__()
    assert paddle.from_dlpack(capsule).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="capsule"):
        paddle.from_dlpack(capsule)
    with pytest.raises(ValueError, match="capsule"):
        paddle.from_dlpack(1)
    with pytest.raises(BufferError):
        paddle.ones([3]).__dlpack__(dl_device=(2, 0))


def test_zero_copy() -> None:
    array = np.arange(3.0)
    x = paddle.to_tensor(array, zero_copy=True)
    array[0] = 5.0
    assert x.tolist() == [5.0, 1.0, 2.0]
    with pytest.raises(paddle.UnsupportedError):
        paddle.to_tensor([1.0], zero_copy=True)
    assert np.shares_memory(np.array(x, copy=False), array)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("dtype", ["bfloat16", "int8", "float32"])
def test_pickle_and_copy(place: str, dtype: str) -> None:
    x = paddle.to_tensor([[1, 2], [3, 4]], dtype=dtype, place=place).T
    for y in (pickle.loads(pickle.dumps(x)), copy.deepcopy(x), copy.copy(x)):
        assert (y.dtype, y.place, y.tolist()) == (x.dtype, x.place, x.tolist())
        y.zero_()
        assert x.tolist() != y.tolist()
    for value in (paddle.float32, paddle.MPSPlace(1)):
        assert pickle.loads(pickle.dumps(value)) == value


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "twin_of", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy, copy.copy], ids=["pickle", "deepcopy", "copy"]
)
def test_copies_are_leaves_with_gradients_of_their_own(place: str, twin_of: Any) -> None:
    x = paddle.to_tensor([1.0, 2.0], place=place, stop_gradient=False)
    x.name = "weights"
    for original in (x, x * 2.0):
        with paddle.no_grad():
            twin = twin_of(original)
        assert not twin.stop_gradient and twin.is_leaf and twin.name != original.name
        (twin * twin).sum().backward()
        assert twin.grad.tolist() == [2 * v for v in original.tolist()] and x.grad is None
    assert twin_of(x.detach()).stop_gradient


def test_the_class_has_its_public_name() -> None:
    assert repr(type(paddle.ones([1]))) == "<class 'paddle_mps.Tensor'>"
    assert pickle.loads(pickle.dumps(paddle.Tensor)) is paddle.Tensor


def test_a_deep_copy_is_as_persistable_as_the_tensor() -> None:
    x = paddle.ones([2])
    assert not copy.deepcopy(x).persistable
    x.persistable = True
    assert copy.deepcopy(x).persistable


@pytest.mark.parametrize("place", PLACES)
def test_in_place(place: str) -> None:
    x = paddle.arange(6.0, place=place).reshape([2, 3])
    assert x.add_(paddle.ones([3], place=place)) is x
    x[0].multiply_(paddle.to_tensor([2.0], place=place))
    x.T[2].exp_()
    want = np.arange(6, dtype=np.float32).reshape(2, 3) + 1
    want[0] *= 2
    want.T[2] = np.exp(want.T[2])
    np.testing.assert_allclose(x.numpy(), want, rtol=1e-6)
    with pytest.raises(ValueError, match="want them equal"):
        x.add_(paddle.ones([2, 2, 3], place=place))


def test_in_place_with_another_dtype() -> None:
    x = paddle.to_tensor([1, 4])
    assert x.sqrt_().dtype == "float32"
    assert x.tolist() == [1.0, 2.0]
    assert (x + x).tolist() == [2.0, 4.0]


def test_out() -> None:
    x, out = paddle.to_tensor([1.0, 4.0]), paddle.zeros([2])
    view = out[:1]
    assert paddle.sqrt(x, out=out) is out
    assert (out.tolist(), view.tolist()) == ([1.0, 2.0], [1.0])
    paddle.sum(x, out=out)
    assert (out.shape, out.item()) == ([], 5.0)


loose: Any = paddle  # for calls that a type checker would refuse
ERRORS: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: paddle.ones([2]) + paddle.ones([3]), ValueError, r"\[add\]"),
    (lambda: paddle.ones([2]) + paddle.ones([2], "int64"), TypeError, r"\[add\]"),
    (lambda: paddle.ones([2]) + "a", TypeError, "Tensor"),
    (lambda: paddle.ones([2]) + None, TypeError, "unsupported operand"),
    (lambda: loose.add(paddle.ones([2]), 1), ValueError, r"\[add\] argument y is int; want a Tensor"),
    (lambda: loose.exp([1.0]), ValueError, "want a Tensor"),
    (lambda: loose.exp(x=paddle.ones([1]), input=paddle.ones([1])), TypeError, "want one of them"),
    (lambda: loose.sum(paddle.ones([2]), axis=0, dim=0), TypeError, "want one of them"),
    (lambda: paddle.sum(paddle.ones([2]), axis=2), ValueError, r"\[sum\] axis 2"),
    (lambda: loose.sum(paddle.ones([2]), axis=1.5), TypeError, r"\[sum\] axis"),
    (lambda: paddle.zeros([2], place="cpu", device="cpu"), TypeError, "place= and device="),
    (lambda: paddle.zeros([2], place="gpu"), ValueError, "'gpu'"),
    (lambda: paddle.zeros([2], "float31"), TypeError, "float31"),
    (lambda: paddle.zeros([-1]), ValueError, "dimensions"),
    (lambda: paddle.zeros([2], "int64", requires_grad=True), TypeError, "has no gradient"),
    (lambda: paddle.zeros([2], pin_memory=True), NotImplementedError, "pin_memory"),
    (lambda: paddle.to_tensor([1], stop_gradient=False), TypeError, "floating-point"),
    (lambda: paddle.ones([2], "float64", place="mps"), TypeError, "float32"),
    (lambda: paddle.to_tensor(np.ones(2), place="mps"), TypeError, "float32"),
    (lambda: paddle.ones([2], place="mps") + paddle.ones([2]), ValueError, "mps:0.*cpu"),
    (lambda: paddle.ones([2], place="mps:7"), paddle.DeviceError, "mps:7"),
    (lambda: paddle.ones([1 << 40, 1 << 40]), (ValueError, MemoryError), r"\[ones\]"),  # type: ignore[list-item]
    (lambda: paddle.to_tensor([1]) // 0, paddle.IntegerDivisionError, "divided by zero"),
    (lambda: paddle.to_tensor([1.0]).item(1), ValueError, r"\[item\]"),
    (lambda: paddle.ones([2]).reshape([3]), ValueError, r"\[reshape\]"),
    (lambda: paddle.to_tensor([1.0]) + 2**64, ValueError, "64 bits"),
    (lambda: np.sin(paddle.ones([1])), TypeError, "ufunc"),
    (lambda: paddle.to_tensor([[1], [2, 3]]), ValueError, "differ in length"),
    (lambda: paddle.to_tensor({}), TypeError, "dict"),
    (lambda: len(paddle.to_tensor(1)), AssertionError, "dimensions"),
    (lambda: bool(paddle.ones([2])), AssertionError, "2 elements"),
]


@pytest.mark.parametrize("number", range(len(ERRORS)))
def test_errors(number: int) -> None:
    call, error, message = ERRORS[number]
    with pytest.raises(error, match=message):
        call()


def test_zero_d_cpu_tensors_stand_beside_others() -> None:
    x = paddle.ones([2], place="mps")
    assert (x * paddle.to_tensor(3.0)).tolist() == [3.0, 3.0]
    assert (paddle.to_tensor(3.0) - x).place == x.place


def test_numpy_arrays_as_operands() -> None:
    x = paddle.to_tensor([1.0, 2.0])
    for got in (np.ones(2) + x, x + np.ones(2)):
        assert (type(got), got.dtype, got.tolist()) == (paddle.Tensor, "float64", [2.0, 3.0])
    assert (np.float32(2) - x).tolist() == [1.0, 0.0]
    assert (np.ones(2, "float32") - x).tolist() == [0.0, -1.0]


def test_shapes_of_one_object_and_of_several() -> None:
    """The fast path needs one shape object; the answer does not."""
    x = paddle.ones([2, 3])
    for y in (paddle.ones([2, 3]), paddle.ones([3, 2]).T, paddle.ones([2, 3, 1])[..., 0], paddle.ones([3])):
        assert (x + y).tolist() == [[2.0] * 3] * 2
        assert (x + y).shape == [2, 3]
    row, column = paddle.ones([1, 3]), paddle.ones([2, 1])
    assert (row * column).shape == [2, 3]


def test_threads() -> None:
    failures: list[BaseException] = []

    def work(seed: int) -> None:
        try:
            x = paddle.full([8], float(seed))
            for i in range(300):
                y = x + x
                y = (y * 2.0).exp() if i % 50 == 0 else y - x
                assert y.shape == [8]
                if i % 50:
                    assert y.tolist() == [float(seed)] * 8
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failures


def test_dtypes_equal_their_names() -> None:
    assert paddle.float32 == "float32" != paddle.float64
    assert {paddle.int8: 1}["int8"] == 1  # type: ignore[index]
    assert str(paddle.bool) == "paddle.bool"
