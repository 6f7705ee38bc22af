"""LBFGS: steps along directions that the last gradients give, each with several evaluations of the loss."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from .._arrays._array import concat
from .._calls import _operators
from .._calls._grad import enable_grad, no_grad
from ._optimizer import Optimizer, decayed

if TYPE_CHECKING:
    from .._core._objects import Tensor
    from .._layers._clipping import ClipGradBase
    from ..regularizer import WeightDecayRegularizer

ENOUGH_DECREASE, ENOUGH_CURVATURE, MOST_SEARCHED = (
    1e-4,
    0.9,
    25,
)  # of the strong Wolfe conditions (Nocedal and Wright, 3.5)


def product_of(x: Tensor, y: Tensor) -> float:
    """The sum of products, read back."""
    return float((x * y).sum())


def largest(x: Tensor) -> float:
    """The largest magnitude, read back."""
    return float(_operators.abs(x).max()) if x.size else 0.0


def cubic_minimum(
    x1: float, f1: float, g1: float, x2: float, f2: float, g2: float, bounds: tuple[float, float] | None = None
) -> float:
    """Where the cubic polynomial through two points with slopes is smallest, within bounds, by default both points."""
    low, high = bounds or ((x1, x2) if x1 <= x2 else (x2, x1))
    middle = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = middle**2 - g1 * g2
    if square < 0:
        return (low + high) / 2
    root = math.sqrt(square)
    if x1 <= x2:
        found = x2 - (x2 - x1) * ((g2 + root - middle) / (g2 - g1 + 2 * root))
    else:
        found = x1 - (x1 - x2) * ((g1 + root - middle) / (g1 - g2 + 2 * root))
    return min(max(found, low), high)


def strong_wolfe(
    evaluate: Callable[[float], tuple[float, Tensor]],
    t: float,
    direction: Tensor,
    start: float,
    gradient: Tensor,
    slope: float,
    tolerance: float,
) -> tuple[float, Tensor, float, int]:
    """A step length that meets the strong Wolfe conditions: (loss, gradient, length, evaluations).

    Args:
        evaluate: the loss and its gradient at a length.
        t: the first length that is tried.
        start, gradient, slope: the loss, its gradient, and its slope along the direction at length 0.
        tolerance: below which changes of lengths end the search.
    """
    width = largest(direction)
    loss, g = evaluate(t)
    evaluations, new_slope = 1, product_of(g, direction)
    before = (0.0, start, gradient, slope)
    bracket: list[tuple[float, float, Any, float]] = []
    done, rounds = False, 0
    while rounds < MOST_SEARCHED:
        here = (t, loss, g, new_slope)
        if loss > start + ENOUGH_DECREASE * t * slope or (rounds > 1 and loss >= before[1]):
            bracket = [before, here]
            break
        if abs(new_slope) <= -ENOUGH_CURVATURE * slope:
            bracket, done = [here], True
            break
        if new_slope >= 0:
            bracket = [before, here]
            break
        bounds = t + 0.01 * (t - before[0]), t * 10
        further = cubic_minimum(before[0], before[1], before[3], t, loss, new_slope, bounds)
        before, t = here, further
        loss, g = evaluate(t)
        evaluations, new_slope = evaluations + 1, product_of(g, direction)
        rounds += 1
    if rounds == MOST_SEARCHED:
        bracket = [(0.0, start, gradient, slope), (t, loss, g, new_slope)]
    stalled = False
    low, high = (0, -1) if bracket[0][1] <= bracket[-1][1] else (1, 0)
    while not done and rounds < MOST_SEARCHED:
        ends = sorted(b[0] for b in bracket)
        if (ends[-1] - ends[0]) * width < tolerance:
            break
        t = cubic_minimum(bracket[0][0], bracket[0][1], bracket[0][3], bracket[1][0], bracket[1][1], bracket[1][3])
        margin = 0.1 * (ends[-1] - ends[0])
        if min(ends[-1] - t, t - ends[0]) < margin:
            if stalled or t >= ends[-1] or t <= ends[0]:
                t = ends[-1] - margin if abs(t - ends[-1]) < abs(t - ends[0]) else ends[0] + margin
                stalled = False
            else:
                stalled = True
        else:
            stalled = False
        loss, g = evaluate(t)
        evaluations, new_slope = evaluations + 1, product_of(g, direction)
        rounds += 1
        here = (t, loss, g, new_slope)
        if loss > start + ENOUGH_DECREASE * t * slope or loss >= bracket[low][1]:
            bracket[high] = here
            low, high = (0, 1) if bracket[0][1] <= bracket[1][1] else (1, 0)
        else:
            if abs(new_slope) <= -ENOUGH_CURVATURE * slope:
                done = True
            elif new_slope * (bracket[high][0] - bracket[low][0]) >= 0:
                bracket[high] = bracket[low]
            bracket[low] = here
    t, loss, g, _ = bracket[low]
    return loss, g, t, evaluations


def put(vector: Tensor, parameters: list[Any]) -> None:
    """Writes elements into parameters, one after the other. Frozen ones stay: they may be statistics that forward passes change."""
    start = 0
    for p in parameters:
        if not p.stop_gradient:
            p.set_value(vector[start : start + p.size].reshape(p.shape).astype(p.dtype))
        start += p.size


class LBFGS(Optimizer):
    """Quasi-Newton steps with the last history_size changes of gradients (Liu and Nocedal, 1989).

    `step` calls a function that clears gradients, computes the loss, calls `backward` and returns the loss; losses are read back.

    Args:
        max_iter: directions at each step.
        max_eval: evaluations of the loss at each step, by default max_iter * 1.25.
        tolerance_grad: the largest element of a gradient that counts as 0.
        tolerance_change: changes of parameters or of the loss below which a step ends.
        line_search_fn: None for the learning rate as length, or "strong_wolfe".
    """

    def __init__(
        self,
        learning_rate: float = 1.0,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-07,
        tolerance_change: float = 1e-09,
        history_size: int = 100,
        line_search_fn: str | None = None,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(learning_rate, parameters, weight_decay, grad_clip, name)
        if line_search_fn not in (None, "strong_wolfe"):
            raise RuntimeError(f"[LBFGS] line_search_fn is {line_search_fn!r}; want None or 'strong_wolfe'")
        self.max_iter, self.history_size = max_iter, history_size
        self.max_eval = max_iter * 5 // 4 if max_eval is None else max_eval
        self.tolerance_grad, self.tolerance_change, self.line_search_fn = (
            tolerance_grad,
            tolerance_change,
            line_search_fn,
        )
        self._lbfgs: dict[str, Any] = {"func_evals": 0, "n_iter": 0}

    def _parameters(self) -> list[Any]:
        return [p for group in self._groups for p in group["params"]]

    def _gradient(self) -> Tensor:
        """The gradients of all parameters as one vector, after clipping and decay; zeros for frozen ones, so that files are Paddle's."""
        parts = []
        for group in self._groups:
            pairs = [(p, None if p.stop_gradient else p.grad) for p in group["params"]]
            clipped = pairs if group["grad_clip"] is None else group["grad_clip"](pairs)
            for p, g in clipped:
                zeros = _operators.full(p.place.word, (p.size,), 0.0, p.dtype)
                decay = getattr(p, "regularizer", None) or group["decay"]
                parts.append(zeros if g is None else decayed(p, g, decay).reshape([-1]))
        made: Tensor = concat(parts, axis=0)
        return made

    def _direction(self, state: dict[str, Any], g: Tensor) -> Tensor:
        """The product of the approximate inverse of the Hessian matrix with the negative gradient."""
        if state["n_iter"] == 1:
            state.update(old_yk=[], old_sk=[], ro=[], H_diag=1.0)
            return -g
        change, moved = g - state["prev_flat_grad"], state["d"] * state["alpha"]
        product = product_of(change, moved)
        if product > 1e-10:
            for name, value in (("old_yk", change), ("old_sk", moved), ("ro", 1.0 / product)):
                if len(state[name]) == self.history_size:
                    state[name].pop(0)
                state[name].append(value)
            state["H_diag"] = product / product_of(change, change)
        q, factors = -g, []
        history = list(zip(state["old_sk"], state["old_yk"], state["ro"]))
        for s, y, ro in reversed(history):
            factors.append(product_of(s, q) * ro)
            q = q - y * factors[-1]
        r = q * state["H_diag"]
        for (s, y, ro), factor in zip(history, reversed(factors)):
            r = r + s * (factor - product_of(y, r) * ro)
        made: Tensor = r
        return made

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Up to max_iter directions; returns what closure returned at first."""
        if not callable(closure):
            raise TypeError(f"[LBFGS] step got {type(closure).__name__}; want a function that computes the loss")
        with no_grad():
            return self._step(closure)

    def _step(self, closure: Callable[[], Any]) -> Any:
        state = self._lbfgs
        parameters = self._parameters()

        def evaluated() -> tuple[Any, float, Tensor]:
            with enable_grad():
                found = closure()
            state["func_evals"] += 1
            return found, float(found), self._gradient()

        first, loss, g = evaluated()
        evaluations = 1
        if largest(g) <= self.tolerance_grad:
            return first
        for i in range(1, self.max_iter + 1):
            state["n_iter"] += 1
            d = state["d"] = self._direction(state, g)
            state["prev_flat_grad"], before = g, loss
            rate = self.get_lr()
            t = min(1.0, 1.0 / float(_operators.abs(g).sum())) * rate if state["n_iter"] == 1 else rate
            slope = product_of(g, d)
            state["alpha"] = t
            if slope > -self.tolerance_change:
                break
            origin: Tensor = concat([p.detach().reshape([-1]) for p in parameters], axis=0)
            made = 0
            if self.line_search_fn is not None:

                def at(length: float, origin: Tensor = origin, d: Tensor = d) -> tuple[float, Tensor]:
                    put(origin + d * length, parameters)
                    return evaluated()[1:]

                loss, g, t, made = strong_wolfe(at, t, d, loss, g, slope, self.tolerance_change)
                put(origin + d * t, parameters)
            else:
                put(origin + d * t, parameters)
                if i != self.max_iter:
                    _, loss, g = evaluated()
                    made = 1
            state["alpha"], state["prev_loss"] = t, before
            evaluations += made
            if evaluations >= self.max_eval or largest(g) <= self.tolerance_grad:
                break
            if largest(d * t) <= self.tolerance_change or abs(loss - before) < self.tolerance_change:
                break
        return first

    def state_dict(self) -> dict[str, Any]:
        """{"state": what is kept between steps}."""
        return {"state": dict(self._lbfgs)}

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Takes over what `state_dict` has said."""
        self._lbfgs = dict(state_dict["state"])


__all__ = ["LBFGS"]
