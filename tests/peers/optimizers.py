"""What each optimizer does: parameters after each of a few steps, and what it keeps of them, with its names.

    optimizers.py --record FILE    asks the real PaddlePaddle, which this Python has, and writes FILE

tests/python/test_optimizers.py asks paddle_mps for the same and compares.
"""

from __future__ import annotations

import argparse
import json
import pathlib
from typing import Any

from layers import drawn, listed

GOLDEN = pathlib.Path(__file__).with_name("optimizers_3_3_1.json")

CASES = """
SGD(0.1, parameters=P)
SGD(0.1, parameters=P, weight_decay=0.01)
SGD(0.1, parameters=P, weight_decay=R.L1Decay(0.01))
SGD(0.1, parameters=P, grad_clip=nn.ClipGradByGlobalNorm(0.5))
SGD(0.1, parameters=P, grad_clip=nn.ClipGradByValue(0.2))
SGD(lr.StepDecay(0.1, 2), parameters=P)
SGD(0.1, parameters=[{'params': P[:1], 'learning_rate': 0.5, 'weight_decay': 0.1}, {'params': P[1:]}])
Momentum(0.1, parameters=P)
Momentum(0.1, 0.8, parameters=P, use_nesterov=True)
Momentum(0.1, parameters=P, weight_decay=R.L2Decay(0.02))
Adagrad(0.1, parameters=P)
Adagrad(0.1, 1e-3, parameters=P, initial_accumulator_value=0.2, weight_decay=0.01)
Adam(0.1, parameters=P)
Adam(0.1, 0.8, 0.95, 1e-3, parameters=P, weight_decay=0.01)
Adam(0.1, parameters=P, amsgrad=True)
Adam(lr.CosineAnnealingDecay(0.1, 4), parameters=P, grad_clip=nn.ClipGradByGlobalNorm(0.3))
AdamW(0.1, parameters=P)
AdamW(0.1, parameters=P, weight_decay=0.2, apply_decay_param_fun=lambda name: 'w_0' in name)
AdamW(0.1, parameters=P, amsgrad=True)
AdamW(0.1, parameters=[{'params': P[:1], 'weight_decay': 0.3}, {'params': P[1:], 'learning_rate': 0.1}])
Adamax(0.1, parameters=P)
Adamax(0.1, 0.8, 0.9, 1e-3, parameters=P, weight_decay=0.1)
Adadelta(0.5, parameters=P)
Adadelta(1.0, 1e-3, 0.8, parameters=P, weight_decay=0.1)
RMSProp(0.05, parameters=P)
RMSProp(0.05, 0.9, 1e-3, 0.5, parameters=P)
RMSProp(0.05, centered=True, momentum=0.9, parameters=P, weight_decay=0.01)
Lamb(0.05, parameters=P)
Lamb(0.05, 0.1, parameters=P, exclude_from_weight_decay_fn=lambda p: 'b_0' in p.name)
Lamb(0.05, 0.1, parameters=P, exclude_from_weight_decay_fn=lambda p: 'b_0' in p.name, always_adapt=True)
NAdam(0.05, parameters=P)
NAdam(0.05, 0.8, 0.9, 1e-4, 0.01, parameters=P, weight_decay=0.01)
RAdam(0.05, parameters=P)
RAdam(0.05, 0.8, 0.9, 1e-4, parameters=P, weight_decay=0.01)
Rprop(0.05, parameters=P)
Rprop(0.05, (1e-2, 0.06), parameters=P, etas=(0.4, 1.5))
ASGD(0.05, parameters=P)
ASGD(0.05, 3, parameters=P, weight_decay=0.01)
LBFGS(0.5, max_iter=4, parameters=P)
LBFGS(line_search_fn='strong_wolfe', max_iter=5, parameters=P)
LBFGS(max_iter=3, history_size=2, parameters=P)
"""
STEPS = 8


def cases() -> list[str]:
    """The rows of CASES."""
    return [line for line in CASES.strip().splitlines() if line]


def network(paddle: Any) -> Any:
    """A layer whose parameters follow from their names."""
    layer = paddle.nn.Linear(3, 2)
    for path, p in layer.named_parameters():
        p.set_value(paddle.to_tensor(drawn(path, list(p.shape))).astype(p.dtype))
    return layer


def build(paddle: Any, case: str, layer: Any) -> Any:
    """The optimizer of a case for the parameters of a layer."""
    names = {"nn": paddle.nn, "lr": paddle.optimizer.lr, "R": paddle.regularizer, "P": layer.parameters()}
    return eval(case, {**{name: getattr(paddle.optimizer, name) for name in paddle.optimizer.__all__}, **names})


def loss_of(paddle: Any, layer: Any, i: int) -> Any:
    x, y = (
        paddle.to_tensor(drawn(f"{n} {i}", [4, size])).astype(layer.weight.dtype) for n, size in (("x", 3), ("y", 2))
    )
    return ((layer(x) - y) ** 2).mean()


def advance(paddle: Any, optimizer: Any, layer: Any, i: int) -> None:
    """One step of training."""

    def closure() -> Any:
        optimizer.clear_grad()
        loss = loss_of(paddle, layer, 0 if type(optimizer).__name__ == "LBFGS" else i)
        loss.backward()
        return loss

    if type(optimizer).__name__ == "LBFGS":
        optimizer.step(closure)
    else:
        closure()
        optimizer.step()
        if not isinstance(optimizer._learning_rate, float):
            optimizer._learning_rate.step()


def answer(paddle: Any, case: str, dtype: str = "float64") -> dict[str, Any]:
    """What a library does in a case. In float32 a division by a small root would make roundings large."""
    paddle.set_default_dtype(dtype)
    try:
        return _answer(paddle, case)
    finally:
        paddle.set_default_dtype("float32")


def _answer(paddle: Any, case: str) -> dict[str, Any]:
    with paddle.utils.unique_name.guard():
        layer = network(paddle)
        optimizer = build(paddle, case, layer)
        steps = []
        for i in range(STEPS):
            advance(paddle, optimizer, layer, i)
            steps.append([listed(p) for p in layer.parameters()])
        state = {k: listed(v) for k, v in optimizer.state_dict().items() if hasattr(v, "numpy")}
    return {"steps": steps, "state": state, "lr": optimizer.get_lr()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", metavar="FILE", type=pathlib.Path, required=True)
    options = parser.parse_args()
    import paddle

    lines = []
    for case in cases():
        try:
            found = answer(paddle, case)
        except Exception as error:
            found = {"raises": type(error).__name__}
            print(f"raises {case}: {type(error).__name__} {error}"[:300])
        lines.append(f"{json.dumps(case)}: {json.dumps(found)}")
    options.record.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    print(f"wrote {len(lines)} optimizers to {options.record}")


if __name__ == "__main__":
    main()
