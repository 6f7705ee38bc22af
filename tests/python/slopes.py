"""Gradients against finite differences in float64."""

from __future__ import annotations

import numpy as np

import paddle_mps as paddle


def value(function, arrays):
    with paddle.no_grad():
        return function(*[paddle.to_tensor(a) for a in arrays]).numpy()


def differences(function, arrays, weights):
    """The gradient of sum(weights * function) by central differences of four points: an error of h**4."""
    found = []
    for k, a in enumerate(arrays):
        grad = np.zeros_like(a)
        for i in np.ndindex(a.shape):
            total = 0.0
            for factor, steps in [(8, 1), (-8, -1), (-1, 2), (1, -2)]:
                moved = [b.copy() for b in arrays]
                moved[k][i] += steps * 1e-3
                total += factor * np.sum(weights * value(function, moved))
            grad[i] = total / 12e-3
        found.append(grad)
    return found


def first_derivatives(function, arrays, rng, rtol=2e-7, atol=2e-8):
    """The gradients of a sum of results, each with a weight."""
    arrays = [np.array(a, np.float64) for a in arrays]
    weights = rng.standard_normal(value(function, arrays).shape)
    leaves = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
    function(*leaves).backward(paddle.to_tensor(weights))
    for leaf, want in zip(leaves, differences(function, arrays, weights)):
        assert leaf.grad.shape == leaf.shape
        assert leaf.grad.dtype == leaf.dtype
        np.testing.assert_allclose(leaf.grad.numpy(), want, rtol=rtol, atol=atol)


def second_derivatives(function, arrays, rng, rtol=1e-6, atol=1e-6):
    """The gradients of those gradients, of squares so that no function is linear."""
    arrays = [np.array(a, np.float64) for a in arrays]
    weights = paddle.to_tensor(rng.standard_normal(value(function, arrays).shape))

    def gradient(*leaves):
        with paddle.enable_grad():
            own = [x.detach() if x.stop_gradient else x for x in leaves]
            for x in own:
                x.stop_gradient = False
            made = function(*own)
            first = paddle.grad((made * made * weights).sum(), own, create_graph=True)
        return paddle.concat([paddle.flatten(g) for g in first])

    second = rng.standard_normal(gradient(*[paddle.to_tensor(a) for a in arrays]).shape)
    leaves = [paddle.to_tensor(a, stop_gradient=False) for a in arrays]
    found = paddle.grad((gradient(*leaves) * paddle.to_tensor(second)).sum(), leaves, allow_unused=True)

    def first(*tensors):
        return gradient(*tensors).detach()

    for leaf, got, want in zip(leaves, found, differences(first, arrays, second)):
        values = np.zeros(leaf.shape) if got is None else got.numpy()
        np.testing.assert_allclose(values, want, rtol=rtol, atol=atol)
