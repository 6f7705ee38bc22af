"""What programs for PaddlePaddle ask about the machine and the installation, and attributes that they set on tensors."""

from __future__ import annotations

import copy
import gc
import importlib
import io
import warnings
import weakref
from typing import Any

import pytest

import paddle_mps as paddle


def test_there_is_no_cuda_device(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in a build of PaddlePaddle without CUDA: guards answer, and what asks a device raises the errors that programs catch."""
    assert paddle.device.cuda.device_count() == paddle.cuda.device_count() == 0
    assert not paddle.cuda.is_available() and not paddle.cuda.is_initialized()
    paddle.device.cuda.empty_cache()
    paddle.cuda.empty_cache()
    asks = set(paddle.device.cuda.__all__) - {"device_count", "empty_cache"}
    assert len(asks) == 10
    for name in asks:
        for kind in (ValueError, RuntimeError):
            with pytest.raises(kind, match=rf"\[device\.cuda\] {name}: there is no CUDA device"):
                getattr(paddle.device.cuda, name)()
    for kind in (ValueError, RuntimeError):
        with pytest.raises(kind, match=r"want x\.mps\(\)"):
            paddle.ones([1]).cuda()


@pytest.mark.parametrize("place", ["cpu", *["mps"] * (paddle.mps.device_count() > 0)])
def test_run_check(place: str, capsys: pytest.CaptureFixture[str]) -> None:
    before = paddle.get_device()
    paddle.set_device(place)
    paddle.utils.run_check()
    paddle.set_device(before)
    lines = capsys.readouterr().out.splitlines()
    assert (
        lines[1] == f"PaddlePaddle works well on 1 {'CPU' if place == 'cpu' else 'MPS device'}." and "3.3.1" in lines[2]
    )


def test_modules_that_may_be_missing() -> None:
    assert paddle.utils.try_import("json").loads("1") == 1
    with pytest.raises(ImportError, match="pip install no_such_module"):
        paddle.utils.try_import("no_such_module")
    with pytest.raises(ImportError, match=r"^mine$"):
        paddle.utils.try_import("no_such_module", "mine")


def test_the_version_of_the_api() -> None:
    paddle.utils.require_version("3.3")
    paddle.utils.require_version("0.1.0", "3.3.1")
    for bounds in (("3.3.2",), ("1.0", "3.3.0.0")):
        with pytest.raises(Exception, match=r"is 3\.3\.1; want at least"):
            paddle.utils.require_version(*bounds)
    for wrong, kind in ((3, TypeError), ("a.b", ValueError)):
        with pytest.raises(kind):
            paddle.utils.require_version(wrong)  # type: ignore[arg-type]


def test_deprecated_functions() -> None:
    @paddle.utils.deprecated(update_to="paddle.new", since="2.0.0", reason="old")
    def f(x: int) -> int:
        return x + 1

    with pytest.warns(DeprecationWarning, match="since 2.0.0.*paddle.new"):
        assert f(1) == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert paddle.utils.deprecated(since="9.0.0")(lambda: 3)() == 3
    with pytest.raises(RuntimeError, match="deprecated"):
        paddle.utils.deprecated(level=2)(lambda: 3)()


def test_tensors_take_attributes() -> None:
    """One tensor has it and no other, results neither, as in PaddlePaddle."""
    t: Any = paddle.ones([2])
    t.is_distributed, t._private, t.name = True, [1], "weight"
    others = (paddle.ones([2]), t + 1, t[0], t.clone(), t.detach(), copy.deepcopy(t))
    assert t.is_distributed and t._private == [1] and t.name == "weight" and "is_distributed" in dir(t)
    assert not any(hasattr(x, "is_distributed") or "is_distributed" in dir(x) for x in (*others, paddle.Tensor))
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute 'is_distributed'"):
        _ = others[0].is_distributed  # type: ignore[attr-defined]
    t.add_(paddle.ones([2]))
    t.is_distributed = 3
    assert t.is_distributed == 3
    del t.is_distributed
    assert not hasattr(t, "is_distributed")
    with pytest.raises(AttributeError):
        del t.is_distributed
    for name in ("shape", "dtype", "place", "T", "is_leaf"):
        with pytest.raises(AttributeError):
            setattr(t, name, 1)


def test_attributes_are_freed_with_their_tensor() -> None:
    class Owner:
        pass

    owner, t = Owner(), paddle.ones([2])
    t.owner, owner.tensor = owner, t  # type: ignore[attr-defined]  # the collector sees the cycle
    dead = weakref.ref(owner)
    del owner, t
    gc.collect()
    assert dead() is None


def leaf() -> Any:
    x = paddle.to_tensor([1.0, 2.0])
    x.stop_gradient = False
    return x


def changed_in_place() -> None:
    y = leaf() * 1
    z = y * y
    y.add_(paddle.ones([2]))
    z.sum().backward()


def twice() -> None:
    z = (leaf() ** 2).sum()
    z.backward()
    z.backward()


# What PaddlePaddle 3.3.1 raises, and what this package raised before, which programs for either catch.
CAUGHT: dict[str, tuple[Any, tuple[type[Exception], ...]]] = {
    "a hook on a tensor without a gradient": (
        lambda: paddle.ones([1]).register_hook(print),
        (RuntimeError, ValueError),
    ),
    "a change in place": (changed_in_place, (RuntimeError, ValueError)),
    "a second pass": (twice, (RuntimeError, ValueError)),
    "outputs that are no tensors": (lambda: paddle.grad(3, leaf()), (AssertionError, ValueError)),
    "inputs that are no tensors": (lambda: paddle.grad(leaf() * 2, [3]), (AssertionError, ValueError)),
    "gradients that are no tensors": (lambda: paddle.grad(leaf() * 2, leaf(), 3), (AssertionError, ValueError)),
    "a gradient of another shape": (lambda: (leaf() * 2).backward(paddle.ones([3])), (AssertionError, ValueError)),
    "rand": (lambda: paddle.rand([-2]), (RuntimeError, ValueError)),
    "randint": (lambda: paddle.randint(0, 2, [-2]), (RuntimeError, ValueError)),
    "randperm": (lambda: paddle.randperm(-1), (RuntimeError, ValueError)),
    "cuda": (lambda: leaf().cuda(), (ValueError, RuntimeError)),
}


@pytest.mark.parametrize("what", CAUGHT)
def test_errors_are_of_the_types_that_programs_catch(what: str) -> None:
    function, kinds = CAUGHT[what]
    for kind in kinds:
        with pytest.raises(kind, match=r"^\[\w+\] .*want"):
            function()


def test_errors_of_hooks_stay_what_they_are() -> None:
    def hook(gradient: Any) -> None:
        raise ValueError("its own")

    x = leaf()
    x.register_hook(hook)
    with pytest.raises(ValueError, match="its own") as found:
        (x * 2).sum().backward()
    assert type(found.value) is ValueError


def test_functions_are_in_the_modules_of_paddle() -> None:
    creation = importlib.import_module("paddle_mps.tensor.creation")
    module: Any = paddle.tensor
    assert creation.ones is paddle.ones and module.math.add is paddle.add
    assert importlib.import_module("paddle_mps.tensor.linalg").matmul is paddle.matmul
    assert module.linalg is paddle.linalg
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = creation.nothing


@pytest.mark.parametrize("causal", [False, True])
def test_flash_attention(causal: bool) -> None:
    F: Any = paddle.nn.functional
    module = importlib.import_module("paddle_mps.nn.functional.flash_attention")
    assert module is F.flash_attention
    paddle.seed(1)
    q, k, v = (paddle.randn([2, 5, 4, 8]) for _ in range(3))
    want = F.scaled_dot_product_attention(q, k, v, is_causal=causal)
    found, none = module.flash_attention(q, k, v, causal=causal)
    assert none is None and found.tolist() == want.tolist()
    found, weights = module.flash_attention(q, k, v, causal=causal, return_softmax=True)
    assert found.tolist() == want.tolist() and weights.shape == [2, 4, 5, 5]
    product = paddle.matmul(weights, v.transpose([0, 2, 1, 3])).transpose([0, 2, 1, 3])
    # Sums of 5 products, rounded in two orders: at most 2 * 5 * 2**-24 of the sum of their sizes, which is below 5.
    assert float((product - want).abs().max()) < 50 * 2**-24 * float(v.abs().max())
    _, dropped = module.flash_attention(q, k, v, 0.5, causal, True)
    assert int((dropped == 0).sum()) > int((weights == 0).sum())
    with pytest.raises(AssertionError):
        module.flash_attention(q, k[:, :, :3], v)


def test_async_save() -> None:
    file, x = io.BytesIO(), paddle.ones([2])
    paddle.async_save({"x": x}, file, sync_other_task=True)
    x.add_(paddle.ones([2]))
    paddle.clear_async_save_task_queue()
    file.seek(0)
    assert paddle.load(file)["x"].tolist() == [1, 1]
    with pytest.raises(TypeError, match="got the class Tensor; want"):
        paddle.save({"f": paddle.Tensor}, io.BytesIO())


def test_settings_of_the_translation_are_accepted() -> None:
    paddle.jit.set_verbosity(3, also_to_stdout=True)
    paddle.jit.set_code_level(100)

    @paddle.jit.to_static
    def f(x: Any) -> Any:
        return x + 1

    assert "return x + 1" in f.code
