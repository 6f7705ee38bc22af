"""Training at its edges: groups with numbers of their own, states under other names, empty batches, wrong states of recurrent layers.

The numbers are answers of PaddlePaddle 3.3.1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
from paddle_mps import nn, optimizer


def grouped(make: str, **own: Any) -> list[float]:
    """Two parameters of one group each, after three steps of the gradients 1, -2 and 0.5."""
    p, q = (nn.Parameter(paddle.to_tensor([1.0])) for _ in range(2))
    kind: Any = getattr(optimizer, make)
    rule = kind(learning_rate=0.1, parameters=[{"params": [p], **own}, {"params": [q]}])
    for g in (1.0, -2.0, 0.5):
        ((p + q) * g).sum().backward()
        rule.step()
        rule.clear_grad()
    return [p.item(), q.item()]


GROUPS: list[tuple[str, dict[str, Any], list[float]]] = [
    ("Momentum", {"momentum": 0.5}, [1.075, 1.059]),
    ("Momentum", {"use_nesterov": True}, [1.1031, 1.059]),
    ("Adagrad", {"epsilon": 0.1, "initial_accumulator_value": 0.3}, [0.9822646, 0.967621]),
    ("Adam", {"beta1": 0.5, "beta2": 0.7, "epsilon": 0.1}, [0.9762377, 0.9502792]),
    ("AdamW", {"beta1": 0.5, "weight_decay": 0.3}, [0.8907215, 0.9474455]),
    ("Adamax", {"beta1": 0.5, "epsilon": 0.1}, [0.9568092, 0.937997]),
    ("Adadelta", {"rho": 0.5, "epsilon": 0.1}, [0.9915577, 0.9999316]),
    ("RMSProp", {"rho": 0.5, "epsilon": 0.1, "momentum": 0.3}, [0.9471239, 0.854327]),
    ("RMSProp", {"centered": True}, [0.8448411, 0.854327]),
    ("Lamb", {"beta1": 0.1, "lamb_weight_decay": 0.3}, [0.891, 1.089]),
    ("NAdam", {"beta1": 0.1, "momentum_decay": 0.1}, [0.9843642, 0.9638829]),
    ("RAdam", {"beta1": 0.1, "beta2": 0.5}, [1.044799, 0.9759759]),
]


@pytest.mark.parametrize(("make", "own", "want"), GROUPS)
def test_a_group_has_numbers_of_its_own(make: str, own: dict[str, Any], want: list[float]) -> None:
    np.testing.assert_allclose(grouped(make, **own), want, rtol=2e-5)


def test_a_state_of_other_names_is_refused() -> None:
    """It would be lost without a word: a second optimizer of the same parameters counts its names on."""
    p = nn.Parameter(paddle.to_tensor([1.0]))
    first = optimizer.Adam(0.1, parameters=[p])
    (p * 2).sum().backward()
    first.step()
    second = optimizer.Adam(0.1, parameters=[p])
    second.set_state_dict(first.state_dict())
    with pytest.raises(AssertionError, match="moment1_1"):
        second.step()


@pytest.mark.parametrize("make", ["Adam", "AdamW", "Momentum", "Lamb", "Rprop", "ASGD"])
def test_what_is_kept_of_a_wide_copy_is_named_after_it(make: str) -> None:
    with paddle.utils.unique_name.guard():
        p = paddle.create_parameter([2], "bfloat16", name="w")
        kind: Any = getattr(optimizer, make)
        rule = kind(learning_rate=0.1, parameters=[p], multi_precision=True)
        p.astype("float32").sum().backward()
        rule.step()
        state = rule.state_dict()
    wide = state.pop("master_weights")
    assert wide["w"].name == "w_fp32_master_0"
    assert state and all(key.startswith("w_fp32_master_0_") for key in state)


def test_lbfgs_counts_frozen_parameters_but_leaves_them() -> None:
    """What it keeps has the elements of all parameters, as in Paddle, so that each reads the other's files."""
    p, q = nn.Parameter(paddle.to_tensor([1.0, 2.0])), nn.Parameter(paddle.to_tensor([5.0]), requires_grad=False)
    rule = optimizer.LBFGS(0.5, max_iter=2, parameters=[p, q])

    def closure() -> Any:
        rule.clear_grad()
        loss = (p * p).sum()
        loss.backward()
        q.set_value(q + 1)
        return loss

    rule.step(closure)
    assert rule.state_dict()["state"]["d"].shape == [3]
    assert q.item() == 7.0
    assert p[0].item() < 1


@pytest.mark.parametrize("shape", [[0, 3], [0, 3, 2, 2], [2, 3, 0, 2]])
def test_an_empty_batch_leaves_running_statistics(shape: list[int]) -> None:
    layer = nn.BatchNorm1D(3) if len(shape) == 2 else nn.BatchNorm2D(3)
    assert layer(paddle.zeros(shape)).shape == shape
    assert layer._mean.tolist() == [0.0] * 3
    assert layer._variance.tolist() == [1.0] * 3


def test_a_bound_of_gradients_is_not_below_0() -> None:
    layer = nn.Linear(1, 1)
    layer(paddle.ones([1, 1])).sum().backward()
    with pytest.raises(ValueError, match="clip_value is -1"):
        nn.utils.clip_grad_value_(layer.parameters(), -1.0)


def test_recurrent_layers_check_their_states() -> None:
    x, state = paddle.ones([2, 5, 3]), paddle.ones([1, 2, 4])
    lstm, gru = nn.LSTM(3, 4), nn.GRU(3, 4)
    for wrong in ([2, 2, 4], [1, 3, 4], [1, 1, 4], [1, 2, 1]):
        with pytest.raises(ValueError, match="initial_states have shapes"):
            gru(x, paddle.ones(wrong))
        with pytest.raises(ValueError, match="initial_states have shapes"):
            lstm(x, (state, paddle.ones(wrong)))
    with pytest.raises(ValueError, match="initial_states have shapes"):
        gru(x, (state, state))
    for lengths in (paddle.ones([2]), [2, 3], np.array([2, 3])):
        with pytest.raises(ValueError, match="want a tensor of int32 or int64"):
            gru(x, None, lengths)
    with pytest.raises(ValueError, match="initial_states have shapes NoneType, NoneType"):
        lstm(x, (None, None))
    assert gru(x, (state,))[0].tolist() == gru(x, state)[0].tolist()


def test_minimize_steps_each_group_by_its_own_numbers() -> None:
    p, q = (nn.Parameter(paddle.to_tensor([1.0])) for _ in range(2))
    rule = optimizer.SGD(0.1, parameters=[{"params": [p], "weight_decay": 1.0}, {"params": [q]}])
    loss = (p + q).sum()
    loss.backward()
    rule.minimize(loss)
    np.testing.assert_allclose([p.item(), q.item()], [0.8, 0.9], rtol=1e-6)


def test_two_parameters_of_one_name_do_not_share_state() -> None:
    made = []
    for _ in range(2):
        with paddle.utils.unique_name.guard():
            made.append(paddle.create_parameter([2], "float32", name="same"))
    with pytest.raises(ValueError, match="the name 'same'"):
        optimizer.Adam(0.1, parameters=made)


def test_the_state_of_a_scheduler_is_not_left_out() -> None:
    p = nn.Parameter(paddle.to_tensor([1.0]))
    with pytest.raises(AssertionError, match="'LR_Scheduler' is missing"):
        optimizer.SGD(optimizer.lr.StepDecay(0.1, 2), parameters=[p]).set_state_dict({})
    optimizer.SGD(optimizer.lr.LambdaDecay(0.1, lambda epoch: 1.0), parameters=[p]).set_state_dict({})
