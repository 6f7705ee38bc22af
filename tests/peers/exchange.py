"""Files exchanged with PaddlePaddle: each library reads what the other has written.

    exchange.py                 exits with 1 if a value comes out of a file otherwise than Paddle reads its own
    exchange.py --record FOLDER writes Paddle's files and what Paddle reads from them, for tests/python/test_save.py

Both libraries run in this process. A value is compared as `described` shows it: every type, name of a key, shape,
dtype and bit.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import pathlib
import sys
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np

# What is saved, by the name of the file; with T (to_tensor), paddle, np and OrderedDict. Names with the end .tensor are
# saved with use_binary_format.
VALUES = {
    "tensor": "T([[1.5, -2.0], [float('nan'), float('inf')]])",
    "dtypes": "[T([0, 1, 3]).astype(d) for d in 'bool uint8 int8 int16 int32 int64 float16 bfloat16 float32 float64'.split()]",
    "shapes": "[T(1.5), paddle.zeros([0]), paddle.ones([2, 0, 3]), paddle.ones([1, 1]), paddle.arange(24).reshape([2, 3, 4])]",
    "view": "[paddle.arange(12).reshape([3, 4]).t(), paddle.arange(12)[3:7], paddle.arange(6).expand([2, 6])]",
    "large": "T(np.arange(3000, dtype='float32'))",
    "plain": "[None, True, False, 0, 255, 256, 65535, 65536, -1, 2**31, -2**63, 2**64, 7**99, 2.5, 1j, '', 'é ☃ \\ud800', 'x' * 300]",
    "nested": "{'a': [T([1.0]), (T([2]), [3, 'b'])], 'n': np.arange(3), 5: {'c': {1, 2}}, (1, 'd'): ()}",
    "ordered": "OrderedDict([('z', [T([1])]), ('a', OrderedDict())])",
    "arrays": "{'n': np.arange(6.0).reshape(2, 3).T, 'o': [np.float32(2.5), np.int64(3), np.bool_(True), np.array(4)]}",
    "pair": "('name', np.ones(2, 'float32'))",
    "twice": "(lambda x: [x, [x, x], (x,)])(T([1.0, 2.0]))",
    "state.pdparams": "{'w': T([[1.0, 2.0]]), 'b': T([3.0]).astype('bfloat16'), 'step': T(7)}",
    "optimizer.pdopt": "{'w_0_moment1_0': T([[0.1]]), 'beta1_pow_acc_0': T([0.9]), 'LR_Scheduler': {'last_epoch': 3, 'last_lr': 0.1, 'past': np.ones(2)}}",
    "checkpoint": "{'model': OrderedDict(w=T([1.0])), 'opt': {'m': T([2.0]), 'LR_Scheduler': {'last_lr': 0.5}}, 'epoch': 3}",
    "empty.pdparams": "{}",
    "f32.tensor": "T([[1.0, 2.0, 3.0]])",
    "bf16.tensor": "T([1.0, -2.0]).astype('bfloat16')",
    "bool.tensor": "T([True, False])",
    "scalar.tensor": "T(5)",
    "none.tensor": "paddle.zeros([2, 0])",
    "long.tensor": "paddle.arange(300)",
}  # fmt: skip
PROTOCOLS = (2, 3, 4)
# Paddle reads an empty tensor of such a file as a float64 array of shape [0] if return_numpy=True.
NUMPY_DEFECTS = ("none.tensor",)
# What only Paddle can save here, and its file.
THEIRS = {
    "layer.pdparams": "paddle.nn.Sequential(paddle.nn.Linear(2, 3), paddle.nn.BatchNorm1D(3)).state_dict()",
    "adam.pdopt": "adam(paddle)",
    "static": "[static_tensor(paddle)]",
}


def adam(paddle: ModuleType) -> Any:
    """The state of an optimizer after a step."""
    layer = paddle.nn.Linear(2, 2)
    schedule = paddle.optimizer.lr.StepDecay(0.1, 5)
    optimizer = paddle.optimizer.Adam(schedule, parameters=layer.parameters())
    layer(paddle.ones([1, 2])).sum().backward()
    optimizer.step()
    return optimizer.state_dict()


def static_tensor(paddle: ModuleType) -> Any:
    """A tensor of a static graph, which Paddle writes as a call of eval."""
    x = paddle.base.core.DenseTensor()
    x.set(np.arange(3, dtype="float32"), paddle.CPUPlace())
    return x


def made(paddle: ModuleType, source: str) -> Any:
    names = {"T": paddle.to_tensor, "paddle": paddle, "np": np, "OrderedDict": OrderedDict}
    return eval(source, {**names, "adam": adam, "static_tensor": static_tensor})


def described(value: Any) -> Any:
    """A value as JSON: tensors and arrays by dtype, shape and bits; all others by type."""
    if hasattr(value, "numpy") and not isinstance(value, np.ndarray):
        return {"tensor": str(value.dtype), **described(value.numpy())}
    if isinstance(value, (np.ndarray, np.generic)):
        data = value.tobytes()
        bits = data.hex() if len(data) <= 100 else hashlib.sha256(data).hexdigest()
        return {type(value).__name__: str(value.dtype), "shape": list(value.shape), "bits": bits}
    if isinstance(value, dict):
        return {type(value).__name__: [[described(k), described(v)] for k, v in value.items()]}
    if isinstance(value, (list, tuple)):
        return {type(value).__name__: [described(item) for item in value]}
    return {type(value).__name__: ascii(value)}


def saved(paddle: ModuleType, name: str, value: Any, protocol: int = 4) -> bytes:
    buffer = io.BytesIO()
    if name.endswith(".tensor"):
        paddle.save(value, buffer, use_binary_format=True)
    else:
        paddle.save(value, buffer, protocol=protocol)
    return buffer.getvalue()


def loaded(paddle: ModuleType, data: bytes, numpy: bool = False) -> Any:
    return described(paddle.load(io.BytesIO(data), return_numpy=numpy))


def record(folder: pathlib.Path) -> None:
    import paddle

    answers: dict[str, Any] = {}
    for name, source in {**VALUES, **THEIRS}.items():
        for protocol in PROTOCOLS if name in ("nested", "state.pdparams", "dtypes") else (4,):
            file = name if protocol == 4 else f"protocol{protocol}.{name}"
            data = saved(paddle, name, made(paddle, source), protocol)
            (folder / file).write_bytes(data)
            answers[file] = {"tensors": loaded(paddle, data)}
            if name not in NUMPY_DEFECTS:
                answers[file]["numpy"] = loaded(paddle, data, numpy=True)
    rows = [f"{json.dumps(file)}: {json.dumps(answer)}" for file, answer in answers.items()]
    (folder / "answers.json").write_text("{\n" + ",\n".join(rows) + "\n}\n")


def differences() -> Iterator[str]:
    """What one library makes of the other's files, where it is not what Paddle makes of its own."""
    import paddle

    import paddle_mps

    for name, source in {**VALUES, **THEIRS}.items():
        for protocol in PROTOCOLS if not name.endswith(".tensor") else (4,):
            theirs = saved(paddle, name, made(paddle, source), protocol)
            files = {"Paddle's": theirs}
            if name in VALUES:
                files["this library's"] = saved(paddle_mps, name, made(paddle_mps, source), protocol)
            for numpy in (False, True) if name not in NUMPY_DEFECTS else (False,):
                want = loaded(paddle, theirs, numpy)
                for whose, data in files.items():
                    for reader in (paddle, paddle_mps):
                        got = loaded(reader, data, numpy)
                        label = f"{name}, protocol {protocol}, {whose} file read by {reader.__name__}, {numpy=}"
                        yield f"ok   {label}" if got == want else f"FAIL {label}: {got} is not {want}"


def cut_arrays() -> Iterator[str]:
    """Paddle puts arrays together that were cut for protocols 2 and 3. No array here is of a gigabyte."""
    import paddle

    import paddle_mps
    from paddle_mps._files import _save

    source = "{'w': paddle.arange(100).reshape([10, 10]), 'b': paddle.ones([3])}"
    whole, _save.MAX_PIECE = _save.MAX_PIECE, 64
    try:
        data = saved(paddle_mps, "cut", made(paddle_mps, source), 2)
    finally:
        _save.MAX_PIECE = whole
    want = sorted(described(made(paddle, source))["dict"], key=json.dumps)
    for reader in (paddle, paddle_mps):
        same = sorted(loaded(reader, data)["dict"], key=json.dumps) == want
        yield f"{'ok  ' if same else 'FAIL'} arrays that were cut, read by {reader.__name__}"


def main() -> int:
    warnings.filterwarnings("ignore")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--record", metavar="FOLDER", type=pathlib.Path)
    options = parser.parse_args()
    if options.record:
        record(options.record)
        return 0
    lines = [*differences(), *cut_arrays()]
    failed = [line for line in lines if line.startswith("FAIL")]
    print("\n".join(line[:1000] for line in failed))
    print(f"files: {len(lines) - len(failed)} passed, {len(failed)} failed")
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main())
