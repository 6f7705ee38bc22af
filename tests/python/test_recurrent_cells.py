"""Recurrent cells that are composed of operators, as docs/guide.md shows, against the layers of PaddlePaddle 3.3.1."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import paddle_mps as paddle
import paddle_mps.nn.functional as F

PLACES = ["cpu"] + ["mps:0"] * (paddle.mps.device_count() > 0)


def simple(x: Any, h: Any, c: Any, wi: Any, wh: Any, bi: Any, bh: Any) -> Any:
    h = paddle.tanh(x @ wi.T + bi + h @ wh.T + bh)
    return h, h


def lstm(x: Any, h: Any, c: Any, wi: Any, wh: Any, bi: Any, bh: Any) -> Any:
    i, f, g, o = paddle.split(x @ wi.T + bi + h @ wh.T + bh, 4, axis=-1)
    c = F.sigmoid(f) * c + F.sigmoid(i) * paddle.tanh(g)
    return F.sigmoid(o) * paddle.tanh(c), c


def gru(x: Any, h: Any, c: Any, wi: Any, wh: Any, bi: Any, bh: Any) -> Any:
    (xr, xz, xc), (hr, hz, hc) = paddle.split(x @ wi.T + bi, 3, axis=-1), paddle.split(h @ wh.T + bh, 3, axis=-1)
    c = paddle.tanh(xc + F.sigmoid(xr + hr) * hc)
    h = (h - c) * F.sigmoid(xz + hz) + c
    return h, h


# The result, the last state, and the gradients of sum(result**2) by x and by the weight of the state, as SimpleRNNCell(3, 2),
# LSTMCell(3, 2) and GRUCell(3, 2) of PaddlePaddle 3.3.1 give them for the arguments of `fill`.
PADDLE: dict[Any, tuple[list[Any], list[Any], list[Any], list[Any]]] = {
    simple: (
        [[-0.687790215, -0.0312398281], [-0.644378245, -0.139705285]],
        [[-0.687790215, -0.0312398281], [-0.644378245, -0.139705285]],
        [[0.401439041, -0.28742519, 0.106211506], [0.548040569, -0.351102293, 0.16269362]],
        [[-0.467424184, 0.271820515], [-0.144780919, 0.0234070048]],
    ),
    lstm: (
        [[0.121736437, 0.153981671], [0.22618714, 0.169334039]],
        [[0.32086134, 0.210240096], [0.584372759, 0.233885378]],
        [[-2.56788917e-06, -0.0208132528, 0.0433073491], [0.0273173787, -0.0372868888, 0.0563950017]],
        [
            [0.0120889898, -0.00406002859],
            [0.0167282932, -0.0116062798],
            [0.0113971578, -0.00198800769],
            [0.00137903751, 0.00406654645],
            [0.0133640785, -0.00627320539],
            [0.0536324158, -0.0275081377],
            [0.0314053707, -0.0067540668],
            [0.00905912463, -0.00456718262],
        ],
    ),
    gru: (
        [[0.248899192, 0.233141601], [0.495020479, 0.266189128]],
        [[0.248899192, 0.233141601], [0.495020479, 0.266189128]],
        [[0.0553083643, -0.0838998407, 0.100176588], [0.164352298, -0.110404417, 0.0287154764]],
        [
            [0.0189541914, -0.00509093562],
            [0.0105582019, -0.00705138501],
            [-0.00294027245, 0.0130913332],
            [-0.0270080268, 0.0289263651],
            [0.0573180728, -0.0202588402],
            [0.0982639268, -0.0493718088],
        ],
    ),
}


def fill(shape: list[int], k: int) -> Any:
    numbers = ((np.arange(np.prod(shape)) * 7 + k) % 11 - 5).reshape(shape).astype(np.float32) / 8
    return paddle.to_tensor(numbers, stop_gradient=False)


def arguments(gates: int) -> list[Any]:
    shapes = [[2, 3], [2, 2], [2, 2], [2 * gates, 3], [2 * gates, 2], [2 * gates], [2 * gates]]
    return [fill(shape, k) for shape, k in zip(shapes, (5, 6, 7, 1, 2, 3, 4))]


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("cell", PADDLE, ids=lambda cell: cell.__name__)
@pytest.mark.parametrize("traced", [False, True])
def test_cells(cell: Any, traced: bool, place: str) -> None:
    """Values and gradients are Paddle's, operator by operator and as a program."""
    before = paddle.get_device()
    paddle.set_device(place)
    try:
        given = arguments({simple: 1, lstm: 4, gru: 3}[cell])
        y, state = (paddle.jit.to_static(cell) if traced else cell)(*given)
        (y * y).sum().backward()
        found = [y, state, given[0].grad, given[4].grad]
    finally:
        paddle.set_device(before)
    for x, want in zip(found, PADDLE[cell]):
        # Both round in float32: about 20 roundings of terms below 1 follow each other, in another order.
        np.testing.assert_allclose(x.numpy(), want, rtol=0, atol=20 * 2.0**-24)


def test_slopes() -> None:
    """The gradient of an LSTM over three steps by its weights is the slope of the result, in float64."""
    given = [x.astype("float64").detach() for x in arguments(4)]

    def result(wh: Any) -> Any:
        h, c = given[1], given[2]
        for _ in range(3):
            h, c = lstm(given[0], h, c, given[3], wh, *given[5:])
        return h.sum()

    made = paddle.func.grad(paddle.jit.to_static(result))(given[4]).numpy()
    step = 2.0**-17  # the cube root of eps, which balances the error of the difference with that of rounding
    for at in np.ndindex(made.shape):
        ends = []
        for sign in (1, -1):
            w = given[4].numpy().copy()
            w[at] += sign * step
            ends.append(float(result(paddle.to_tensor(w))))
        assert abs(made[at] - (ends[0] - ends[1]) / (2 * step)) <= 64 * step**2
