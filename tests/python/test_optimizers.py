"""Optimizers change parameters as those of PaddlePaddle 3.3.1, and keep the same under the same names."""

from __future__ import annotations

import json
import pathlib
import sys
from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "peers"))
import optimizers

KNOWN: dict[str, Any] = json.loads(optimizers.GOLDEN.read_text(encoding="utf-8"))


def test_every_case_is_recorded() -> None:
    assert list(KNOWN) == optimizers.cases()


def near(case: str, got: list[Any], want: list[Any], tolerance: float) -> None:
    """Beside the largest element."""
    assert got[0] == want[0], case
    a, b = np.array(got[1]), np.array(want[1])
    np.testing.assert_allclose(a, b, rtol=0, atol=tolerance * max(1.0, np.abs(b).max(initial=0.0)), err_msg=case)


def compare(case: str, found: dict[str, Any], want: dict[str, Any], tolerance: float) -> None:
    for i, (got, known) in enumerate(zip(found["steps"], want["steps"])):
        for mine, theirs in zip(got, known):
            near(f"{case}: step {i}", mine, theirs, tolerance)
    assert list(found["state"]) == list(want["state"]), case
    for name, mine in found["state"].items():
        near(f"{case}: {name}", mine, want["state"][name], 20 * tolerance)
    if not case.startswith("LBFGS"):  # whose get_lr is 1 in Paddle, whatever its learning rate
        assert found["lr"] == pytest.approx(want["lr"], rel=1e-12)


@pytest.mark.parametrize("case", optimizers.cases())
def test_steps_are_those_of_paddle(case: str) -> None:
    """In float64. Paddle's attributes are float32: 1 - 0.999 differs by 1.3e-5 of itself."""
    compare(case, optimizers.answer(paddle, case), KNOWN[case], 1e-6)


def test_gradients_are_scaled_before_decay() -> None:
    """Paddle's kernel for the CPU leaves rescale_grad out; its documentation and its other kernels do not."""
    p = paddle.nn.Parameter(paddle.to_tensor([1.0, -2.0]))
    optimizer = paddle.optimizer.Momentum(0.1, 0.9, parameters=[p], weight_decay=0.5, rescale_grad=0.25)
    (p * paddle.to_tensor([4.0, 8.0])).sum().backward()
    optimizer.step()
    np.testing.assert_allclose(p.numpy(), [1 - 0.1 * (1 + 0.5), -2 - 0.1 * (2 - 1)], rtol=1e-6)


def test_each_gradient_is_clipped_by_its_norm() -> None:
    p, q, r = (paddle.nn.Parameter(paddle.zeros([2])) for _ in range(3))
    r.need_clip = False
    optimizer = paddle.optimizer.SGD(1.0, parameters=[p, q, r], grad_clip=paddle.nn.ClipGradByNorm(1.0))
    loss = (p * paddle.to_tensor([3.0, 4.0])).sum() + (q * paddle.to_tensor([0.3, 0.4])).sum()
    (loss + (r * paddle.to_tensor([3.0, 4.0])).sum()).backward()
    optimizer.step()
    np.testing.assert_allclose(p.numpy(), [-0.6, -0.8], rtol=1e-6)
    np.testing.assert_allclose(q.numpy(), [-0.3, -0.4], rtol=1e-6)
    np.testing.assert_allclose(r.numpy(), [-3.0, -4.0], rtol=1e-6)


@pytest.mark.parametrize("case", optimizers.cases())
def test_steps_on_a_device(case: str) -> None:
    """In float32, as on the CPU. LBFGS divides by differences of gradients, which makes roundings of another device large."""
    want = optimizers.answer(paddle, case, "float32")
    before = paddle.get_device()
    paddle.set_device("mps")
    try:
        compare(case, optimizers.answer(paddle, case, "float32"), want, 2e-3 if case.startswith("LBFGS") else 1e-6)
    finally:
        paddle.set_device(before)


SCALARS = {  # what PaddlePaddle's make of 2 in three steps of x ** 2 * 4; Rprop has no answer there
    "SGD()": 1.95248,
    "Momentum()": 1.911,
    "Adagrad(learning_rate=0.1)": 1.78009,
    "Adam()": 1.997,
    "Adam(amsgrad=True)": 1.997,
    "AdamW()": 1.99694,
    "Adamax()": 1.997,
    "Adadelta()": 1.99999,
    "RMSProp(learning_rate=0.1)": 1.1556,
    "Lamb()": 1.99401,
    "NAdam()": 1.99486,
    "RAdam()": 1.95225,
    "ASGD()": 1.95248,
}


@pytest.mark.parametrize("case", SCALARS)
def test_parameters_without_axes(case: str) -> None:
    """As for a temperature that is learned. Powers of beta have one axis."""
    p = paddle.nn.Parameter(paddle.to_tensor(2.0))
    q = paddle.nn.Parameter(paddle.to_tensor([2.0, 2.0]))
    optimizer = eval(
        f"paddle.optimizer.{case.replace('(', '(parameters=[p, q], ')}", {"paddle": paddle, "p": p, "q": q}
    )
    for _ in range(3):
        optimizer.clear_grad()
        (p**2 * q).sum().backward()
        optimizer.step()
    assert p.shape == []
    assert float(p) == pytest.approx(SCALARS[case], abs=1e-5)
    kept = {name: x.shape for name, x in optimizer.state_dict().items() if name.startswith(p.name)}
    assert all(
        shape == ([1] if "_pow_acc" in name or name.endswith(("_y_0", "_m_0")) else []) for name, shape in kept.items()
    )
